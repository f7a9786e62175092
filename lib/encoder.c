/* SPDX-License-Identifier: BSD-2-Clause
 * What encoders call in bind and compute; learned parameters are in weights.c. */
#include "encoder.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

pe_status pe_encoding_state(pe_encoding *e, size_t size)
{
	e->state = pe_alloc_zero(e->ctx, 1, size);
	return e->state ? PE_OK : PE_ERR_NOMEM;
}

pe_status pe_declare(
	pe_encoding *e, const char *name, pe_dtype dtype, int32_t ndim, const int64_t *shape, bool per_token)
{
	assert(e->array_count < PE_MAX_ARRAYS && ndim >= 0 && ndim <= PE_MAX_DIMS);
	pe_tensor dense = pe_tensor_dense(NULL, dtype, ndim, shape);
	if (pe_tensor_bytes(&dense) < 0)
		return pe_encoding_fail(e, PE_ERR_NOMEM, "the array %s is larger than memory can hold", name);
	pe_array_info *info = &e->arrays[e->array_count++];
	*info = (pe_array_info){.name = name, .dtype = dtype, .ndim = ndim, .per_token = per_token};
	memcpy(info->shape, shape, (size_t)ndim * sizeof *shape);
	return PE_OK;
}

pe_status pe_encoding_fail(pe_encoding *e, pe_status status, const char *text, ...)
{
	char message[900];
	va_list args;
	va_start(args, text);
	vsnprintf(message, sizeof message, text, args);
	va_end(args);
	return pe_fail(e->ctx, status, "%s: %s", e->encoder->table.name, message);
}

pe_status pe_encoding_refuse_option(pe_encoding *e, const char *name, const char *text, ...)
{
	char why[300];
	va_list args;
	if (!pe_params_is_set(e->params, name) ||
		strcmp(pe_params_text(e->params, name), pe_params_info(e->params, name).fallback) == 0)
		return PE_OK;
	va_start(args, text);
	vsnprintf(why, sizeof why, text, args);
	va_end(args);
	return pe_encoding_fail(e, PE_ERR_RANGE, "%s has no effect %s", name, why);
}

static pe_status check_positions_of(pe_encoding *e, const pe_domain *domain, int64_t limit, const char *what)
{
	int64_t count = domain->tokens * domain->batch, step = domain->positions ? 1 : pe_max(count - 1, 1);
	for (int64_t i = 0; i < count; i += step) {
		double p = pe_domain_position(domain, i / domain->tokens, i % domain->tokens);
		if (!(p >= 0 && p < (double)limit && p == floor(p)))
			return pe_encoding_fail(e, PE_ERR_RANGE, "position %g is not a whole number from 0 to %lld: %s",
				p, (long long)limit - 1, what);
	}
	return PE_OK;
}

pe_status pe_encoding_check_positions(pe_encoding *e, int64_t limit, const char *what)
{
	PE_TRY(check_positions_of(e, e->domain, limit, what));
	return check_positions_of(e, e->queries, limit, what);
}

pe_status pe_encoding_note_failure(pe_encoding *e, int64_t graph, const char *why)
{
	int64_t used = e->quality.failed, capacity = e->failure_capacity;
	PE_TRY(pe_grow(e->ctx, &e->failures, &capacity, used, used + 1, sizeof *e->failures));
	PE_TRY(pe_grow(e->ctx, &e->failed, &e->failure_capacity, used, used + 1, sizeof *e->failed));
	e->failures[used] = pe_strdup(e->ctx, why);
	if (!e->failures[used])
		return PE_ERR_NOMEM;
	e->failed[used] = graph;
	e->quality.failed++;
	return PE_OK;
}
