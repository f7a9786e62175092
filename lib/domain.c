/* SPDX-License-Identifier: BSD-2-Clause */
#include "domain.h"

#include <math.h>

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

pe_status pe_domain_positions(pe_context *context, const pe_tensor *positions, pe_domain **out)
{
	if (!context || !out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	if (!positions || positions->ndim != 1 || pe_tensor_count(positions) < 0)
		return pe_fail(context, PE_ERR_SHAPE, "positions must be an array of one dimension");
	PE_TRY(pe_tensor_check_input(context, positions, "positions"));
	int64_t n = positions->shape[0];
	pe_domain *domain;
	PE_TRY(create(context, PE_DOMAIN_SEQUENCE, n, &domain));
	domain->positions = pe_alloc(context, n, sizeof *domain->positions);
	if (!domain->positions) {
		pe_domain_destroy(&domain);
		return PE_ERR_NOMEM;
	}
	pe_load_f64(domain->positions, positions->data, positions->dtype, positions->strides[0], n);
	if (!all_finite(domain->positions, n)) {
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
	pe_free(ctx, *domain);
	*domain = NULL;
}

int64_t pe_domain_tokens(const pe_domain *domain)
{
	return domain ? domain->tokens : 0;
}
