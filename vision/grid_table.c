/* SPDX-License-Identifier: BSD-2-Clause */
#include "grid_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "window_table.h"

static const char *const names[] = {"pos_embed", "pos_embedding", "position_embedding", "position_embeddings",
	"positional_embedding", "pos_embed_spatial"};
#define CLASS "pos_embed_class" /* rows before the grid's that are a weight of their own */

static bool is_planes(const pe_encoding *e)
{
	return pe_params_choice(e->params, "order") == 1;
}

/* ---- weights of four axes --------------------------------------------------------------- */

static void shape_of(const pe_encoding *e, int64_t height, int64_t width, int64_t dim, int64_t shape[4])
{
	const int64_t last[] = {1, height, width, dim}, planes[] = {1, dim, height, width};
	memcpy(shape, is_planes(e) ? planes : last, sizeof last);
}

/* values ← weight with its channels last: itself, or a copy. */
static pe_status put_last(
	pe_encoding *e, const double *weight, int64_t places, int64_t dim, const double **values, double **owned)
{
	*values = weight;
	if (!is_planes(e))
		return PE_OK;
	double *copy = pe_alloc(e->ctx, places, (size_t)dim * sizeof *copy);
	if (!copy)
		return PE_ERR_NOMEM;
	for (int64_t c = 0; c < dim; c++)
		for (int64_t i = 0; i < places; i++)
			copy[i * dim + c] = weight[c * places + i];
	*values = *owned = copy;
	return PE_OK;
}

static pe_status take_axes(pe_encoding *e, const char *name, double sd, int64_t height, int64_t width,
	int64_t dim, const double **values, double **owned)
{
	int64_t shape[4];
	double *weight;
	shape_of(e, height, width, dim, shape);
	PE_TRY(pe_encoding_weight(e, name, 4, shape, pe_initial_normal(0, sd), &weight));
	return put_last(e, weight, height * width, dim, values, owned);
}

/* The sides of a grid: as the option says, else as the weight has them that is given, of four axes. */
static pe_status take_sides(
	pe_encoding *e, const char *name, const char *option, int64_t *height, int64_t *width)
{
	int32_t ndim = 0, y = is_planes(e) ? 2 : 1;
	int64_t given[PE_MAX_DIMS] = {0};
	if (pe_encoding_given_shape(e, name, &ndim, given) && ndim == 4 && (given[y] < 1 || given[y + 1] < 1))
		return pe_encoding_fail(e, PE_ERR_SHAPE, "the weight %s has no places", name);
	bool told = ndim == 4;
	return pe_follow_sides(e, option, told ? given[y] : 0, told ? given[y + 1] : 0, height, width);
}

pe_status pe_grid_table_planes(pe_encoding *e, const char *name, const char *option, double sd, int64_t dim,
	int64_t *height, int64_t *width, const double **values, double **owned)
{
	PE_TRY(take_sides(e, name, option, height, width));
	*values = NULL;
	return *height > 0 ? take_axes(e, name, sd, *height, *width, dim, values, owned) : PE_OK;
}

/* ---- the table -------------------------------------------------------------------------- */

static const char *name_of(const pe_encoding *e)
{
	for (size_t i = 0; i < PE_COUNT(names); i++)
		if (pe_encoding_weight_is_given(e, names[i]))
			return names[i];
	return names[0];
}

/* ": grid=24/24,prefix_rows=1 would fit": only a hint, which grid it is remains to be said. */
static void suggest(int64_t rows, int64_t prefix_rows, char *out, size_t size)
{
	const int64_t usual[] = {prefix_rows, 1, 0, 2, 5};
	out[0] = '\0';
	for (size_t i = 0; i < PE_COUNT(usual); i++) {
		int64_t side = (int64_t)sqrt((double)pe_max(rows - usual[i], 0));
		if (side < 1 || side * side + usual[i] != rows)
			continue;
		snprintf(out, size, ": grid=%lld/%lld,prefix_rows=%lld would fit", (long long)side, (long long)side,
			(long long)usual[i]);
		return;
	}
}

/* A weight of `rows` rows without axes of its own. */
static pe_status check_rows(pe_encoding *e, const char *name, int64_t rows, const struct pe_grid_table *t)
{
	char hint[120];
	suggest(rows, t->prefix_rows, hint, sizeof hint);
	if (t->height == 0)
		return pe_encoding_fail(e, PE_ERR_SHAPE,
			"the weight %s has %lld rows and no axes: which grid they are, and how many stand before it, "
			"must be said%s",
			name, (long long)rows, hint);
	if (rows != t->prefix_rows + t->height * t->width)
		return pe_encoding_fail(e, PE_ERR_SHAPE,
			"the weight %s has %lld rows, not those of prefix_rows=%lld and grid=%lld/%lld%s", name,
			(long long)rows, (long long)t->prefix_rows, (long long)t->height, (long long)t->width, hint);
	return PE_OK;
}

/* (rows, dim) or (1, rows, dim). */
static pe_status take_rows(pe_encoding *e, const char *name, double sd, int32_t ndim, struct pe_grid_table *t)
{
	const int64_t rows = t->prefix_rows + t->height * t->width, shape[] = {1, rows, t->dim};
	double *weight;
	PE_TRY(pe_encoding_weight(e, name, ndim, shape + 3 - ndim, pe_initial_normal(0, sd), &weight));
	t->first = weight;
	t->grid = weight + t->prefix_rows * t->dim;
	return PE_OK;
}

/* (1, height, width, dim) or (1, dim, height, width). The sides that a preset says are those of a table that
 * begins; the weight knows its own. */
static pe_status take_given_axes(pe_encoding *e, const char *name, double sd, struct pe_grid_table *t)
{
	if (pe_params_is_set(e->params, "prefix_rows") && t->prefix_rows > 0)
		return pe_encoding_fail(e, PE_ERR_RANGE,
			"prefix_rows=%lld, but the weight %s has the axes of a grid, and no rows before it",
			(long long)t->prefix_rows, name);
	t->prefix_rows = 0;
	PE_TRY(pe_params_fill(e->params, "prefix_rows", 0));
	PE_TRY(take_sides(e, name, "grid", &t->height, &t->width));
	return take_axes(e, name, sd, t->height, t->width, t->dim, &t->grid, &t->owned);
}

/* Without weights, on the grid that options say, else on that at hand. */
static pe_status begin(pe_encoding *e, double sd, struct pe_grid_table *t)
{
	if (t->height == 0) {
		t->height = e->domain->height;
		t->width = e->domain->width;
	}
	int64_t rows;
	if (!pe_mul(t->height, t->width, &rows) || !pe_add(rows, t->prefix_rows, &rows))
		return pe_encoding_fail(e, PE_ERR_NOMEM, "a grid of %lld x %lld is larger than memory can hold",
			(long long)t->height, (long long)t->width);
	if (is_planes(e) || t->prefix_rows == 0)
		return take_axes(e, names[0], sd, t->height, t->width, t->dim, &t->grid, &t->owned);
	return take_rows(e, names[0], sd, 3, t);
}

static pe_status take_table(pe_encoding *e, double sd, struct pe_grid_table *t)
{
	int32_t ndim = 0;
	int64_t given[PE_MAX_DIMS];
	PE_TRY(pe_encoding_look_below(e, names, (int)PE_COUNT(names), &t->prefix));
	const char *name = name_of(e);
	t->prefix_rows = pe_encoding_weight_is_given(e, CLASS) ? 0 : pe_params_int(e->params, "prefix_rows");
	t->dim = pe_params_int(e->params, "dim");
	PE_TRY(pe_take_sides(e, "grid", &t->height, &t->width));
	if (is_planes(e) && pe_params_is_set(e->params, "prefix_rows") && t->prefix_rows > 0)
		return pe_encoding_fail(e, PE_ERR_RANGE, "a table of order=chw has no rows before its grid");
	if (!pe_encoding_given_shape(e, name, &ndim, given))
		return begin(e, sd, t);
	if (ndim < 2 || ndim > 4 || (ndim > 2 && given[0] != 1))
		return pe_encoding_fail(e, PE_ERR_SHAPE,
			"the weight %s is none of (rows, dim), (1, rows, dim) and (1, height, width, dim)", name);
	PE_TRY(pe_encoding_size(e, "dim", name, ndim, is_planes(e) && ndim == 4 ? 1 : ndim - 1, &t->dim));
	if (ndim == 4)
		return take_given_axes(e, name, sd, t);
	PE_TRY(check_rows(e, name, given[ndim - 2], t));
	return take_rows(e, name, sd, ndim, t);
}

pe_status pe_grid_table_take(pe_encoding *e, double sd, struct pe_grid_table *t)
{
	double *first;
	PE_TRY(take_table(e, sd, t));
	if (!pe_encoding_weight_is_given(e, CLASS))
		return PE_OK;
	PE_TRY(pe_encoding_size(e, "prefix_rows", CLASS, 3, 1, &t->prefix_rows));
	const int64_t shape[] = {1, t->prefix_rows, t->dim};
	PE_TRY(pe_encoding_weight(e, CLASS, 3, shape, pe_initial_normal(0, sd), &first));
	t->first = first;
	return PE_OK;
}

void pe_grid_table_free(pe_context *ctx, struct pe_grid_table *table)
{
	pe_free(ctx, table->owned);
	pe_free(ctx, table->prefix);
}
