/* SPDX-License-Identifier: BSD-2-Clause */
#include "domain.h"

#include <math.h>
#include <string.h>

#include "tensor.h"

#define MAX_TOKENS ((int64_t)1 << 53) /* so that a token's number is exact as a double */

const char *pe_domain_kind_name(enum pe_domain_kind kind)
{
	return kind == PE_DOMAIN_SEQUENCE ? "a sequence" : kind == PE_DOMAIN_GRID ? "a grid" : "graphs";
}

static pe_status create(pe_context *ctx, enum pe_domain_kind kind, int64_t tokens, pe_domain **out)
{
	if (tokens < 0 || tokens > MAX_TOKENS)
		return pe_fail(ctx, PE_ERR_SHAPE, "%lld tokens are not possible", (long long)tokens);
	pe_domain *domain = pe_alloc_zero(ctx, 1, sizeof *domain);
	if (!domain)
		return PE_ERR_NOMEM;
	domain->ctx = ctx;
	domain->kind = kind;
	domain->tokens = tokens;
	domain->batch = 1;
	domain->axes = kind == PE_DOMAIN_GRID ? 3 : 1;
	*out = domain;
	return PE_OK;
}

pe_status pe_domain_sequence(pe_context *context, int64_t length, double offset, pe_domain **out)
{
	if (!context || !out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	if (!isfinite(offset))
		return pe_fail(context, PE_ERR_SHAPE, "the offset of a sequence must be finite");
	PE_TRY(create(context, PE_DOMAIN_SEQUENCE, length, out));
	(*out)->offset = offset;
	return PE_OK;
}

static bool all_finite(const double *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

/* Dense copy of (batch, tokens, axes). */
static void load_positions(const pe_tensor *from, int64_t axes, const pe_domain *domain)
{
	int32_t at = from->ndim - 1;
	int64_t step = axes > 0 ? from->strides[at--] : 0;
	int64_t row = from->strides[at--], batch = at >= 0 ? from->strides[at] : 0;
	int64_t size = (int64_t)pe_dtype_size(from->dtype);
	double *out = domain->positions;
	for (int64_t b = 0; b < domain->batch; b++)
		for (int64_t i = 0; i < domain->tokens; i++, out += domain->axes)
			pe_load_f64(out, (const char *)from->data + (b * batch + i * row) * size, from->dtype, step,
				domain->axes);
}

pe_status pe_domain_positions(pe_context *context, const pe_tensor *positions, int64_t axes, pe_domain **out)
{
	if (!context || !out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	int32_t own = axes > 0;
	if (axes < 0 || axes > PE_MAX_AXES)
		return pe_fail(context, PE_ERR_ARGUMENT, "positions cannot have %lld axes", (long long)axes);
	if (!positions || pe_tensor_count(positions) < 0 || positions->ndim < 1 + own ||
		positions->ndim > 2 + own || (own && positions->shape[positions->ndim - 1] != axes))
		return pe_fail(context, PE_ERR_SHAPE,
			own ? "positions of several axes must be (length, axes) or (batch, length, axes)"
				: "positions must be (length) or (batch, length)");
	PE_TRY(pe_tensor_check_input(context, positions, "positions"));
	bool batched = positions->ndim == 2 + own;
	if (batched && positions->shape[0] == 0)
		return pe_fail(context, PE_ERR_SHAPE, "positions of 0 batches say nothing");
	pe_domain *domain;
	PE_TRY(create(context, PE_DOMAIN_SEQUENCE, positions->shape[batched], &domain));
	domain->batch = batched && domain->tokens > 0 ? positions->shape[0] : 1;
	domain->axes = pe_max(axes, 1);
	int64_t count = pe_tensor_count(positions);
	domain->positions = pe_alloc(context, count, sizeof *domain->positions);
	if (!domain->positions) {
		pe_domain_destroy(&domain);
		return PE_ERR_NOMEM;
	}
	load_positions(positions, axes, domain);
	if (!all_finite(domain->positions, count)) {
		pe_domain_destroy(&domain);
		return pe_fail(context, PE_ERR_SHAPE, "positions must be finite");
	}
	*out = domain;
	return PE_OK;
}

pe_status pe_domain_grid(
	pe_context *context, int64_t frames, int64_t height, int64_t width, int64_t prefix, pe_domain **out)
{
	if (!context || !out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	int64_t tokens;
	if (frames < 1 || height < 1 || width < 1 || prefix < 0 || !pe_mul(frames, height, &tokens) ||
		!pe_mul(tokens, width, &tokens) || !pe_add(tokens, prefix, &tokens))
		return pe_fail(context, PE_ERR_SHAPE,
			"a grid of %lld x %lld x %lld after %lld tokens is not possible", (long long)frames,
			(long long)height, (long long)width, (long long)prefix);
	PE_TRY(create(context, PE_DOMAIN_GRID, tokens, out));
	(*out)->frames = frames;
	(*out)->height = height;
	(*out)->width = width;
	(*out)->prefix = prefix;
	return PE_OK;
}

/* ---- padding ------------------------------------------------------------------------ */

static int64_t places_of(const pe_domain *grid)
{
	return grid->frames * grid->height * grid->width;
}

/* (height, width), with frames before it if there are several, and batches before those. */
static bool fits_grid(const pe_domain *grid, const pe_tensor *padding)
{
	const int64_t sides[] = {grid->frames, grid->height, grid->width};
	int32_t own = grid->frames > 1 ? 3 : 2, first = padding->ndim - own;
	const int64_t *shape = padding->shape + pe_max(first, 0);
	return (first == 0 || (first == 1 && padding->shape[0] > 0)) &&
		memcmp(shape, sides + 3 - own, (size_t)own * sizeof *shape) == 0;
}

static pe_status check_padding(pe_context *ctx, const pe_domain *grid, const pe_tensor *padding)
{
	char is[160] = "nothing";
	if (!grid || grid->kind != PE_DOMAIN_GRID || grid->padding || grid->first > 0)
		return pe_fail(ctx, PE_ERR_ARGUMENT, "only a whole grid without padding can be padded");
	if (!padding || !pe_dtype_is_integer(padding->dtype))
		return pe_fail(ctx, PE_ERR_SHAPE, "a padding mask is bool or of an integer type");
	PE_TRY(pe_tensor_check_input(ctx, padding, "the padding mask"));
	if (fits_grid(grid, padding))
		return PE_OK;
	pe_shape_text(is, sizeof is, padding->ndim, padding->shape);
	if (grid->frames > 1)
		return pe_fail(ctx, PE_ERR_SHAPE,
			"the padding mask is %s, but must be (%lld, %lld, %lld) as the grid, or that of each batch", is,
			(long long)grid->frames, (long long)grid->height, (long long)grid->width);
	return pe_fail(ctx, PE_ERR_SHAPE,
		"the padding mask is %s, but must be (%lld, %lld) as the grid, or that of each batch", is,
		(long long)grid->height, (long long)grid->width);
}

/* Dense, row by row. */
static pe_status load_padding(pe_context *ctx, const pe_tensor *from, int64_t width, uint8_t *out)
{
	int64_t rows = pe_tensor_count(from) / width;
	int32_t last = from->ndim - 1;
	int64_t *row = pe_alloc(ctx, width, sizeof *row);
	if (!row)
		return PE_ERR_NOMEM;
	for (int64_t r = 0; r < rows; r++, out += width) {
		pe_load_i64(row, pe_tensor_place(from, last, r), from->dtype, from->strides[last], width);
		for (int64_t x = 0; x < width; x++)
			out[x] = row[x] != 0;
	}
	pe_free(ctx, row);
	return PE_OK;
}

pe_status pe_domain_padded(
	pe_context *context, const pe_domain *grid, const pe_tensor *padding, pe_domain **out)
{
	if (!context || !out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	PE_TRY(check_padding(context, grid, padding));
	PE_TRY(pe_domain_grid(context, grid->frames, grid->height, grid->width, grid->prefix, out));
	pe_domain *domain = *out;
	int64_t count = pe_tensor_count(padding);
	domain->batch = count / places_of(grid);
	domain->padding = pe_alloc(context, count, sizeof *domain->padding);
	pe_status status =
		domain->padding ? load_padding(context, padding, grid->width, domain->padding) : PE_ERR_NOMEM;
	if (status != PE_OK)
		pe_domain_destroy(out);
	return status;
}

/* ---- tails -------------------------------------------------------------------------- */

static pe_status copy_padding(const pe_domain *from, pe_domain *to)
{
	int64_t count = from->batch * places_of(from);
	to->batch = from->batch;
	to->padding = pe_alloc(to->ctx, count, sizeof *to->padding);
	if (!to->padding)
		return PE_ERR_NOMEM;
	memcpy(to->padding, from->padding, (size_t)count);
	return PE_OK;
}

/* The last rows of every batch. */
static pe_status copy_tail(const pe_domain *from, pe_domain *to)
{
	int64_t row = from->axes, rows = to->tokens;
	to->batch = from->batch;
	to->axes = from->axes;
	to->positions = pe_alloc(to->ctx, to->batch, (size_t)(rows * row) * sizeof *to->positions);
	if (!to->positions)
		return PE_ERR_NOMEM;
	for (int64_t b = 0; b < from->batch; b++)
		memcpy(to->positions + b * rows * row, from->positions + ((b + 1) * from->tokens - rows) * row,
			(size_t)(rows * row) * sizeof *to->positions);
	return PE_OK;
}

pe_status pe_domain_tail(pe_context *context, const pe_domain *domain, int64_t tokens, pe_domain **out)
{
	if (!context || !out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	if (!domain || domain->kind == PE_DOMAIN_GRAPH)
		return pe_fail(context, PE_ERR_ARGUMENT, "only sequences and grids have last tokens");
	if (tokens < 0 || tokens > domain->tokens)
		return pe_fail(context, PE_ERR_SHAPE, "%lld queries are not the last of %lld tokens",
			(long long)tokens, (long long)domain->tokens);
	PE_TRY(create(context, domain->kind, tokens, out));
	int64_t left_out = domain->tokens - tokens;
	(*out)->offset = domain->offset;
	(*out)->frames = domain->frames;
	(*out)->height = domain->height;
	(*out)->width = domain->width;
	(*out)->prefix = domain->prefix;
	(*out)->first = domain->first + left_out;
	pe_status status = PE_OK;
	if (domain->positions)
		status = copy_tail(domain, *out);
	else if (domain->padding)
		status = copy_padding(domain, *out);
	if (status != PE_OK)
		pe_domain_destroy(out);
	return status;
}

/* ---- places ------------------------------------------------------------------------- */

double pe_domain_coordinate(const struct pe_domain *domain, int64_t batch, int64_t i, int64_t axis)
{
	if (domain->positions) {
		int64_t row = (domain->batch > 1 ? batch : 0) * domain->tokens + i;
		return domain->positions[row * domain->axes + axis];
	}
	if (domain->kind == PE_DOMAIN_SEQUENCE)
		return domain->offset + (double)(domain->first + i);
	int64_t place = domain->first + i - domain->prefix;
	if (place < 0)
		return 0;
	int64_t x = place % domain->width, row = place / domain->width;
	return (double)(axis == 2 ? x : axis == 1 ? row % domain->height : row / domain->height);
}

/* Positions offset + i, no two of which a double takes for one. */
static bool is_counted(const struct pe_domain *domain)
{
	return domain->kind == PE_DOMAIN_SEQUENCE && !domain->positions &&
		fabs(domain->offset) <= (double)(MAX_TOKENS - domain->first - domain->tokens);
}

bool pe_domain_is_regular(const struct pe_domain *queries, const struct pe_domain *keys)
{
	return is_counted(queries) && is_counted(keys);
}

pe_status pe_domain_graph(pe_context *context, const pe_graph *graph, pe_domain **out)
{
	if (!context || !out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	if (!graph)
		return pe_fail(context, PE_ERR_ARGUMENT, "there is no graph");
	PE_TRY(create(context, PE_DOMAIN_GRAPH, pe_graph_get_report(graph)->nodes, out));
	(*out)->graph = graph;
	return PE_OK;
}

void pe_domain_destroy(pe_domain **domain)
{
	if (!domain || !*domain)
		return;
	pe_context *ctx = (*domain)->ctx;
	pe_free(ctx, (*domain)->positions);
	pe_free(ctx, (*domain)->padding);
	pe_free(ctx, *domain);
	*domain = NULL;
}

int64_t pe_domain_tokens(const pe_domain *domain)
{
	return domain ? domain->tokens : 0;
}
