/* SPDX-License-Identifier: BSD-2-Clause */
#include "window_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "scores.h"
#include "window_resample.h"

/* ---- sizes ------------------------------------------------------------------------------ */

pe_status pe_check_one_frame(pe_encoding *e)
{
	int64_t frames = pe_max(e->domain->frames, e->queries->frames);
	if (frames > 1)
		return pe_encoding_fail(
			e, PE_ERR_UNSUPPORTED, "it knows two axes, and the grid has %lld frames", (long long)frames);
	return PE_OK;
}

pe_status pe_take_sides(pe_encoding *e, const char *option, int64_t *height, int64_t *width)
{
	int64_t count;
	const double *sides = pe_params_list(e->params, option, &count);
	if (count > 2)
		return pe_encoding_fail(
			e, PE_ERR_RANGE, "%s has %lld numbers, and takes a height and a width", option, (long long)count);
	for (int64_t i = 0; i < count; i++)
		if (sides[i] != floor(sides[i]))
			return pe_encoding_fail(
				e, PE_ERR_RANGE, "%s has a side of %g, not a whole number", option, sides[i]);
	if (count > 0) {
		*height = (int64_t)sides[0];
		*width = (int64_t)sides[count - 1];
	}
	return PE_OK;
}

pe_status pe_follow_sides(pe_encoding *e, const char *option, int64_t given_height, int64_t given_width,
	int64_t *height, int64_t *width)
{
	char text[48];
	if (given_height < 1 || given_width < 1 ||
		(pe_params_is_set(e->params, option) && *pe_params_text(e->params, option)))
		return pe_take_sides(e, option, height, width);
	*height = given_height;
	*width = given_width;
	snprintf(text, sizeof text, "%lld/%lld", (long long)given_height, (long long)given_width);
	return pe_params_fill_text(e->params, option, text);
}

static int64_t rows_of(const struct pe_window_table *t, int64_t height, int64_t width)
{
	return (t->mirrored ? height * width : (2 * height - 1) * (2 * width - 1)) + t->extra;
}

/* The least window that holds both grids. */
static void sides_of_grids(const pe_encoding *e, int64_t *height, int64_t *width)
{
	*height = pe_max(e->domain->height, e->queries->height);
	*width = pe_max(e->domain->width, e->queries->width);
}

static pe_status count_rows(pe_encoding *e)
{
	struct pe_window_table *t = e->state;
	int64_t entries;
	if (t->height > INT32_MAX / 8 || t->width > INT32_MAX / 8 ||
		!pe_mul(2 * t->height, 2 * t->width, &entries) || entries > INT32_MAX / 2)
		return pe_encoding_fail(e, PE_ERR_RANGE, "a window of %lld x %lld has too many offsets",
			(long long)t->height, (long long)t->width);
	t->rows = rows_of(t, t->height, t->width);
	return PE_OK;
}

pe_status pe_window_of_grid(pe_encoding *e)
{
	struct pe_window_table *t = e->state;
	PE_TRY(pe_check_one_frame(e));
	sides_of_grids(e, &t->height, &t->width);
	return count_rows(e);
}

pe_status pe_window_take(pe_encoding *e)
{
	struct pe_window_table *t = e->state;
	int64_t height, width;
	PE_TRY(pe_check_one_frame(e));
	sides_of_grids(e, &height, &width);
	t->height = height;
	t->width = width;
	PE_TRY(pe_take_sides(e, "window", &t->height, &t->width));
	if (height > t->height || width > t->width)
		return pe_encoding_fail(e, PE_ERR_RANGE,
			"a grid of %lld x %lld is larger than the window of %lld x %lld: attention runs inside one "
			"window, so give each window as a batch of its own",
			(long long)height, (long long)width, (long long)t->height, (long long)t->width);
	return count_rows(e);
}

pe_status pe_window_take_pretrained(pe_encoding *e, int64_t *height, int64_t *width)
{
	*height = *width = 0;
	return pe_take_sides(e, "pretrained_window", height, width);
}

/* ---- tables ----------------------------------------------------------------------------- */

pe_status pe_window_make(pe_encoding *e)
{
	struct pe_window_table *t = e->state;
	t->values = pe_alloc(e->ctx, e->heads, (size_t)t->rows * sizeof *t->values);
	return t->values ? PE_OK : PE_ERR_NOMEM;
}

void pe_window_release(pe_encoding *e)
{
	struct pe_window_table *t = e->state;
	pe_free(e->ctx, t->values);
}

/* The side s of the square window with (2s - 1)² offsets; 0: there is none. */
static int64_t side_of(int64_t offsets)
{
	int64_t root = (int64_t)llround(sqrt((double)pe_max(offsets, 0)));
	return root % 2 == 1 && root * root == offsets ? (root + 1) / 2 : 0;
}

/* The window that the table is of. */
static pe_status find_source(pe_encoding *e, const char *name, int64_t *height, int64_t *width)
{
	const struct pe_window_table *t = e->state;
	int32_t ndim;
	int64_t shape[PE_MAX_DIMS];
	PE_TRY(pe_window_take_pretrained(e, height, width));
	if (*height > 0)
		return PE_OK;
	*height = t->height;
	*width = t->width;
	if (!pe_encoding_given_shape(e, name, &ndim, shape) || ndim != 2)
		return PE_OK;
	int64_t rows = shape[0], side = side_of(rows - t->extra);
	if (rows == t->rows)
		return PE_OK;
	if (side == 0)
		return pe_encoding_fail(e, PE_ERR_SHAPE,
			"the weight %s has %lld rows, which no square window has: pretrained_window must say of which it "
			"is",
			name, (long long)rows);
	return pe_follow_sides(e, "pretrained_window", side, side, height, width);
}

/* (rows, heads) to (heads, rows). */
static void fill_rows(const pe_encoding *e, const double *from, int64_t first, int64_t count)
{
	const struct pe_window_table *t = e->state;
	for (int64_t r = 0; r < count; r++)
		for (int64_t h = 0; h < e->heads; h++)
			t->values[h * t->rows + first + r] = from[r * e->heads + h];
}

static pe_status resample(pe_encoding *e, const double *from, int64_t height, int64_t width)
{
	const struct pe_window_table *t = e->state;
	enum pe_window_resize how = (enum pe_window_resize)pe_params_choice(e->params, "resize");
	int64_t offsets = t->rows - t->extra;
	double *to = pe_alloc(e->ctx, offsets, (size_t)e->heads * sizeof *to);
	if (!to)
		return PE_ERR_NOMEM;
	pe_status status = pe_window_resample(
		e->ctx, how, from, 2 * height - 1, 2 * width - 1, e->heads, 2 * t->height - 1, 2 * t->width - 1, to);
	if (status == PE_OK) {
		fill_rows(e, to, 0, offsets);
		fill_rows(e, from + (2 * height - 1) * (2 * width - 1) * e->heads, offsets, t->extra);
	}
	pe_free(e->ctx, to);
	return status;
}

pe_status pe_window_weight(pe_encoding *e, const char *name, struct pe_initial initial)
{
	const struct pe_window_table *t = e->state;
	int64_t height, width;
	double *table;
	PE_TRY(find_source(e, name, &height, &width));
	PE_TRY(pe_encoding_weight(e, name, 2, (int64_t[]){rows_of(t, height, width), e->heads}, initial, &table));
	PE_TRY(pe_window_make(e));
	if (height != t->height || width != t->width)
		return resample(e, table, height, width);
	fill_rows(e, table, 0, t->rows);
	return PE_OK;
}

/* ---- rows ------------------------------------------------------------------------------- */

void pe_window_offset(const struct pe_window_table *t, int64_t row, int64_t *dy, int64_t *dx)
{
	int64_t line = t->mirrored ? t->width : 2 * t->width - 1;
	*dy = row / line - (t->mirrored ? 0 : t->height - 1);
	*dx = row % line - (t->mirrored ? 0 : t->width - 1);
}

struct pe_walk pe_walk_begin(const pe_domain *grid, int64_t token)
{
	int64_t place = grid->first + token - grid->prefix;
	if (place < 0)
		return (struct pe_walk){0, 0, grid->width, -place};
	return (struct pe_walk){place / grid->width, place % grid->width, grid->width, 0};
}

static int64_t row_of(const struct pe_window_table *t, const struct pe_walk *query, const struct pe_walk *key)
{
	int64_t dy = query->y - key->y, dx = query->x - key->x;
	if (query->ahead > 0 || key->ahead > 0)
		return t->extra == 0 ? -1 : t->rows - (key->ahead == 0 ? 3 : query->ahead == 0 ? 2 : 1);
	if (t->mirrored)
		return llabs(dy) * t->width + llabs(dx);
	return (dy + t->height - 1) * (2 * t->width - 1) + dx + t->width - 1;
}

void pe_window_index(const pe_encoding *e, const struct pe_cells *cells, int32_t *rows)
{
	const struct pe_window_table *t = e->state;
	struct pe_walk query = pe_walk_begin(e->queries, cells->query),
				   key = pe_walk_begin(e->domain, cells->key);
	for (int64_t c = 0; c < cells->count; c++, pe_walk_step(&key))
		rows[c] = (int32_t)row_of(t, &query, &key);
}

/* Of n keys side by side in a row of the grid, whose offsets follow each other. */
static void add_run(const struct pe_window_table *t, const double *values, const struct pe_walk *query,
	const struct pe_walk *key, int64_t n, double *bias)
{
	const double *from = values + row_of(t, query, key);
	int64_t dx = query->x - key->x;
	if (t->mirrored) {
		from -= llabs(dx);
		for (int64_t c = 0; c < n; c++)
			bias[c] += from[llabs(dx - c)];
	} else {
		for (int64_t c = 0; c < n; c++)
			bias[c] += from[-c];
	}
}

void pe_window_scores(const pe_encoding *e, const struct pe_cells *cells, double *bias)
{
	const struct pe_window_table *t = e->state;
	const double *values = t->values + cells->head * t->rows;
	struct pe_walk query = pe_walk_begin(e->queries, cells->query),
				   key = pe_walk_begin(e->domain, cells->key);
	for (int64_t c = 0, n; c < cells->count; c += n, pe_walk_step(&key)) {
		n = 1;
		if (query.ahead > 0 || key.ahead > 0) {
			int64_t row = row_of(t, &query, &key);
			bias[c] += row < 0 ? 0 : values[row];
			continue;
		}
		n = pe_min(cells->count - c, key.width - key.x);
		add_run(t, values, &query, &key, n, bias + c);
		key.x += n - 1;
	}
}

/* ---- arrays ----------------------------------------------------------------------------- */

pe_status pe_window_declare(pe_encoding *e)
{
	e->relative = true;
	PE_TRY(pe_scores_declare(e));
	return pe_pairs_declare(e, "relative_position_index");
}

pe_status pe_window_compute(pe_encoding *e, const pe_tensor *outs)
{
	PE_TRY(pe_scores_compute(e, pe_window_scores, outs));
	return pe_pairs_compute(e, pe_window_index, &outs[1]);
}
