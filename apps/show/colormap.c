/* SPDX-License-Identifier: BSD-2-Clause
 * viridis is by Stéfan van der Walt and Nathaniel Smith, who gave it away (CC0): here every fifth of its
 * 256 colours, which gives the others to within 1/255. The diverging map is made in Oklab (Björn
 * Ottosson, 2020): lightness and chroma run in straight lines from a light middle to two ends that are
 * equally dark, so that equal steps look equal and the two signs weigh the same. The colours of lines are
 * Masataka Okabe's and Kei Ito's (2008), which people with any colour vision tell apart. */
#include "colormap.h"

#include <math.h>
#include <stddef.h>

const struct rgb color_ink = {0x22, 0x22, 0x22}, color_grey = {0xb4, 0xb4, 0xb4},
				 color_pale = {0xe4, 0xe4, 0xe4};

static const unsigned viridis[] = {0x440154, 0x46085c, 0x471063, 0x481769, 0x481d6f, 0x482475, 0x472a7a,
	0x46307e, 0x453781, 0x433d84, 0x414287, 0x3f4889, 0x3d4e8a, 0x3a538b, 0x38598c, 0x355e8d, 0x33638d,
	0x31688e, 0x2e6d8e, 0x2c718e, 0x2a768e, 0x297b8e, 0x27808e, 0x25848e, 0x23898e, 0x218e8d, 0x20928c,
	0x1f978b, 0x1e9c89, 0x1fa188, 0x21a585, 0x24aa83, 0x28ae80, 0x2eb37c, 0x35b779, 0x3dbc74, 0x46c06f,
	0x50c46a, 0x5ac864, 0x65cb5e, 0x70cf57, 0x7cd250, 0x89d548, 0x95d840, 0xa2da37, 0xb0dd2f, 0xbddf26,
	0xcae11f, 0xd8e219, 0xe5e419, 0xf1e51d, 0xfde725};
#define LAST (sizeof viridis / sizeof *viridis - 1)

static const unsigned lines[] = {
	0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x222222, 0xb8a800};
#define LINES ((int)(sizeof lines / sizeof *lines))

static struct rgb unpack(unsigned color)
{
	return (struct rgb){
		(unsigned char)(color >> 16), (unsigned char)(color >> 8 & 0xff), (unsigned char)(color & 0xff)};
}

static unsigned char mix(unsigned char a, unsigned char b, double t)
{
	return (unsigned char)floor(a + (b - a) * t + 0.5);
}

/* 0 ≤ t ≤ 1 */
static struct rgb sequential(double t)
{
	size_t i = (size_t)(t * LAST);
	i = i < LAST ? i : LAST - 1;
	struct rgb a = unpack(viridis[i]), b = unpack(viridis[i + 1]);
	t = t * LAST - (double)i;
	return (struct rgb){mix(a.r, b.r, t), mix(a.g, b.g, t), mix(a.b, b.b, t)};
}

static unsigned char encode(double linear)
{
	double c = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
	return (unsigned char)floor(255 * fmin(fmax(c, 0), 1) + 0.5);
}

static double cube(double x)
{
	return x * x * x;
}

/* Oklab to sRGB. */
static struct rgb from_oklab(double lightness, double a, double b)
{
	double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
	double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
	double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
	return (struct rgb){encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
		encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
		encode(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

/* -1 ≤ t ≤ 1 */
static struct rgb diverging(double t)
{
	const double middle = 0.97, end = 0.40, chroma = 0.14, blue = 258, red = 28,
				 degree = 3.14159265358979 / 180;
	double far = fabs(t), hue = (t < 0 ? blue : red) * degree, lightness = middle + (end - middle) * far;
	/* Saturated quickly and then only darker: colours near white can hold little chroma. */
	double colour = chroma * fmin(1, 1.6 * far);
	return from_oklab(lightness, colour * cos(hue), colour * sin(hue));
}

struct rgb color_of(const struct scale *scale, double value)
{
	if (isnan(value) || value == -INFINITY)
		return color_grey;
	double t = (value - scale->low) / (scale->high - scale->low);
	t = fmin(fmax(t, 0), 1);
	return scale->map == COLORMAP_DIVERGING ? diverging(2 * t - 1) : sequential(t);
}

struct rgb color_of_line(int index, int count)
{
	return count <= LINES ? unpack(lines[index]) : sequential(0.95 * index / (count - 1));
}

bool are_equal(double low, double high)
{
	return !(high - low > 1e-6 * fmax(fabs(low), fabs(high)));
}

struct scale scale_for(double low, double high)
{
	struct scale out = {COLORMAP_SEQUENTIAL, low, high};
	if (low < 0 && high > 0) {
		double far = fmax(-low, high);
		return (struct scale){COLORMAP_DIVERGING, -far, far};
	}
	if (are_equal(low, high)) {
		double step = low > 0 || low < 0 ? fabs(low) / 2 : 1;
		out.low = low > 0 || low < 0 ? low - step : 0;
		out.high = high + step;
	} else if (low >= 0 && low < 0.25 * high) {
		out.low = 0;
	}
	return out;
}
