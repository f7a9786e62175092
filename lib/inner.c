/* SPDX-License-Identifier: BSD-2-Clause */
#include "inner.h"

#include <stdio.h>
#include <string.h>

/* ---- over=NAME:key=value:… ---------------------------------------------------------- */

static pe_status set_options(pe_params *params, char *text)
{
	char *rest = text;
	while (rest && *rest) {
		char *setting = rest, *end = strchr(setting, ':');
		rest = end ? end + 1 : NULL;
		if (end)
			*end = '\0';
		char *value = strchr(setting, '=');
		if (value)
			*value++ = '\0';
		PE_TRY(pe_params_set(params, setting, value ? value : ""));
	}
	return PE_OK;
}

static pe_status parse(pe_encoding *e, char *text, const struct pe_encoder **encoder, pe_params **params)
{
	char *options = strchr(text, ':');
	if (options)
		*options++ = '\0';
	*encoder = pe_encoder_find(text);
	if (!*encoder)
		return pe_encoding_fail(e, PE_ERR_ARGUMENT, "there is no encoder \"%s\" (over)", text);
	if ((*encoder)->over_another)
		return pe_encoding_fail(e, PE_ERR_ARGUMENT, "%s is itself over another encoder", text);
	PE_TRY(pe_params_from_table(e->ctx, &(*encoder)->table, params));
	pe_status status = set_options(*params, options);
	if (status != PE_OK)
		pe_params_destroy(params);
	return status;
}

pe_status pe_inner_parse(
	pe_encoding *e, const char *text, const struct pe_encoder **encoder, pe_params **params)
{
	*params = NULL;
	char *copy = pe_strdup(e->ctx, text);
	if (!copy)
		return PE_ERR_NOMEM;
	pe_status status = parse(e, copy, encoder, params);
	pe_free(e->ctx, copy);
	return status;
}

/* ---- weights ------------------------------------------------------------------------ */

/* "OUTER.NAME" if the given weights have such names, else "NAME". */
static void find_prefix(const pe_encoding *e, const char *inner, char *out, size_t size)
{
	const char *name, *own = e->weights_prefix ? e->weights_prefix : e->encoder->table.name;
	pe_tensor ignored;
	snprintf(out, size, "%s.%s.", own, inner);
	for (int64_t i = 0; e->given_weights && i < pe_bundle_count(e->given_weights); i++)
		if (pe_bundle_at(e->given_weights, i, &name, &ignored) == PE_OK &&
			strncmp(name, out, strlen(out)) == 0) {
			out[strlen(out) - 1] = '\0';
			return;
		}
	snprintf(out, size, "%s", inner);
}

static pe_status list_weight(pe_encoding *e, const char *inner, const struct pe_weight *from)
{
	char name[300];
	snprintf(name, sizeof name, "%s.%s", inner, from->name);
	PE_TRY(pe_grow(
		e->ctx, &e->weights, &e->weight_capacity, e->weight_count, e->weight_count + 1, sizeof *e->weights));
	struct pe_weight *to = &e->weights[e->weight_count];
	pe_tensor dense = pe_tensor_dense(NULL, PE_F64, from->ndim, from->shape);
	int64_t count = pe_tensor_count(&dense);
	*to = *from;
	to->own_name = pe_strdup(e->ctx, name);
	to->source = from->source ? pe_strdup(e->ctx, from->source) : NULL;
	to->values = pe_alloc(e->ctx, count, sizeof *to->values);
	if (!to->own_name || !to->values || (from->source && !to->source)) {
		pe_free(e->ctx, to->own_name);
		pe_free(e->ctx, to->source);
		pe_free(e->ctx, to->values);
		return PE_ERR_NOMEM;
	}
	to->name = to->own_name;
	memcpy(to->values, from->values, (size_t)count * sizeof *to->values);
	e->weight_count++;
	return PE_OK;
}

/* ---- binding ------------------------------------------------------------------------ */

pe_status pe_inner_create(pe_encoding *e, const struct pe_encoder *encoder, const pe_params *params,
	const pe_domain *keys, const pe_domain *queries, pe_encoding **out)
{
	char prefix[300];
	find_prefix(e, encoder->table.name, prefix, sizeof prefix);
	pe_encoding_options options = {.size = sizeof options,
		.queries = queries,
		.weights = e->given_weights,
		.prefix = prefix,
		.weights_shared = e->weights_shared,
		.sizes = e->sizes};
	PE_TRY(pe_encoding_create(e->ctx, encoder, params, keys, &options, out));
	for (int64_t i = 0; i < (*out)->weight_count; i++)
		PE_TRY(list_weight(e, encoder->table.name, &(*out)->weights[i]));
	return PE_OK;
}

pe_status pe_inner_stand_in(pe_encoding *e, const struct pe_encoder *encoder, const pe_params *params,
	const pe_domain *keys, const pe_domain *queries)
{
	PE_TRY(pe_inner_create(e, encoder, params, keys, queries, &e->inner));
	const pe_encoding *inner = e->inner;
	e->heads = inner->heads;
	e->key_heads = inner->key_heads;
	memcpy(e->arrays, inner->arrays, sizeof e->arrays);
	e->array_count = inner->array_count;
	return PE_OK;
}
