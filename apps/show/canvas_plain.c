/* SPDX-License-Identifier: BSD-2-Clause
 * The plain page: bytes of red, green and blue. A pixel takes as much of a colour as the shape covers of it,
 * told by its middle's distance from the shape's edge. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "canvas.h"
#include "png_bytes.h"

static void blend(struct canvas *c, int x, int y, struct rgb color, double part)
{
	if (x < 0 || y < 0 || x >= c->width || y >= c->height || part <= 0)
		return;
	unsigned char *p = (unsigned char *)c->own + 3 * ((size_t)y * (size_t)c->width + (size_t)x);
	const unsigned char to[3] = {color.r, color.g, color.b};
	for (int i = 0; i < 3; i++)
		p[i] = (unsigned char)floor(p[i] + (to[i] - p[i]) * fmin(part, 1) + 0.5);
}

static bool start(struct canvas *c)
{
	size_t size = 3 * (size_t)c->width * (size_t)c->height;
	c->own = malloc(size);
	if (c->own)
		memset(c->own, 0xff, size);
	return c->own != NULL;
}

static void fill(struct canvas *c, double x, double y, double width, double height, struct rgb color)
{
	for (int row = (int)floor(y + 0.5); row < (int)floor(y + height + 0.5); row++)
		for (int column = (int)floor(x + 0.5); column < (int)floor(x + width + 0.5); column++)
			blend(c, column, row, color, 1);
}

static void tiles(struct canvas *c, int x, int y, int width, int height, const unsigned char *rgb)
{
	for (int row = 0; row < height; row++)
		memcpy((unsigned char *)c->own + 3 * ((size_t)(y + row) * (size_t)c->width + (size_t)x),
			rgb + 3 * (size_t)row * (size_t)width, 3 * (size_t)width);
}

/* Distance of a point from the segment a b. */
static double distance(double x, double y, const double *a, const double *b)
{
	double dx = b[0] - a[0], dy = b[1] - a[1], square = dx * dx + dy * dy;
	double t = square > 0 ? ((x - a[0]) * dx + (y - a[1]) * dy) / square : 0;
	t = fmin(fmax(t, 0), 1);
	return hypot(x - a[0] - t * dx, y - a[1] - t * dy);
}

/* Column by column (or row by row where it is steep), the few pixels that it can touch. */
static void segment(
	struct canvas *c, const double *a, const double *b, double width, struct rgb color, double alpha)
{
	bool steep = fabs(b[1] - a[1]) > fabs(b[0] - a[0]);
	int along = steep ? 1 : 0, across = 1 - along;
	double reach = width / 2 + 1, length = b[along] - a[along];
	int first = (int)floor(fmin(a[along], b[along]) - reach),
		last = (int)ceil(fmax(a[along], b[along]) + reach);
	for (int i = first; i <= last; i++) {
		double t = length > 0 || length < 0 ? fmin(fmax((i + 0.5 - a[along]) / length, 0), 1) : 0;
		double middle = a[across] + t * (b[across] - a[across]), slack = 1.5 * reach + 1;
		for (int j = (int)floor(middle - slack); j <= (int)ceil(middle + slack); j++) {
			int x = steep ? j : i, y = steep ? i : j;
			double part = fmin(width, 1) *
				fmin(fmax(fmax(width, 1) / 2 + 0.5 - distance(x + 0.5, y + 0.5, a, b), 0), 1);
			blend(c, x, y, color, alpha * part);
		}
	}
}

static void line(struct canvas *c, const double *xy, int points, double width, struct rgb color, double alpha)
{
	for (int i = 0; i + 1 < points; i++)
		segment(c, xy + 2 * i, xy + 2 * i + 2, width, color, alpha);
}

static void disc(struct canvas *c, double x, double y, double radius, struct rgb color)
{
	for (int row = (int)floor(y - radius); row <= (int)ceil(y + radius); row++)
		for (int column = (int)floor(x - radius); column <= (int)ceil(x + radius); column++)
			blend(c, column, row, color, fmin(radius + 0.5 - hypot(column + 0.5 - x, row + 0.5 - y), 1));
}

static bool finish(struct canvas *c, unsigned char **bytes, size_t *size)
{
	return png_bytes(c->own, c->width, c->height, bytes, size);
}

static void close_page(struct canvas *c)
{
	free(c->own);
	c->own = NULL;
}

const struct canvas_kind canvas_kind_plain = {
	.start = start,
	.close = close_page,
	.fill = fill,
	.tiles = tiles,
	.line = line,
	.disc = disc,
	.finish = finish,
};
