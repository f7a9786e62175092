/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_scores.h"

#include <stdio.h>
#include <string.h>

static pe_status try_encode(pe_context *ctx, const char *encoder, const char *settings, const pe_domain *keys,
	const pe_encoding_options *options, pe_encoding **e)
{
	pe_params *params;
	assert_int_equal(pe_params_create(ctx, encoder, &params), PE_OK);
	xt_set(params, settings);
	pe_status status = pe_encoding_create(ctx, pe_encoder_find(encoder), params, keys, options, e);
	pe_params_destroy(&params);
	return status;
}

pe_encoding *xt_encode(pe_context *ctx, const char *encoder, const char *settings, const pe_domain *keys,
	const pe_domain *queries, const pe_bundle *weights, const char *prefix)
{
	pe_encoding *e;
	pe_encoding_options options = {sizeof options, .queries = queries, .weights = weights, .prefix = prefix};
	if (try_encode(ctx, encoder, settings, keys, &options, &e) != PE_OK)
		fail_msg("%s:%s: %s", encoder, settings, pe_context_message(ctx));
	return e;
}

void xt_weights_refused(pe_context *ctx, const char *encoder, const char *settings, const pe_domain *keys,
	const pe_bundle *weights, pe_status status, const char *text)
{
	pe_encoding *e;
	pe_encoding_options options = {sizeof options, .weights = weights};
	xt_fails(ctx, try_encode(ctx, encoder, settings, keys, &options, &e), status, text);
	assert_null(e);
}

void xt_encode_refused(pe_context *ctx, const char *encoder, const char *settings, const pe_domain *keys,
	pe_status status, const char *text)
{
	xt_weights_refused(ctx, encoder, settings, keys, NULL, status, text);
}

static int64_t find_array(const pe_encoding *e, const char *name, pe_array_info *info)
{
	for (int64_t i = 0; i < pe_encoding_array_count(e); i++) {
		assert_int_equal(pe_encoding_array(e, i, info), PE_OK);
		if (strcmp(info->name, name) == 0)
			return i;
	}
	return -1;
}

bool xt_has_array(const pe_encoding *e, const char *name)
{
	pe_array_info info;
	return find_array(e, name, &info) >= 0;
}

pe_tensor xt_computed(pe_encoding *e, const char *name)
{
	pe_array_info info;
	pe_tensor outs[PE_MAX_ARRAYS] = {0};
	int64_t at = find_array(e, name, &info);
	if (at < 0)
		fail_msg("there is no array %s", name);
	outs[at] = pe_tensor_dense(NULL, info.dtype == PE_F64 ? PE_F64 : PE_I64, info.ndim, info.shape);
	int64_t count = pe_tensor_count(&outs[at]), *integers = malloc((size_t)(count + 1) * sizeof *integers);
	outs[at].data = integers;
	assert_int_equal(pe_encoding_compute(e, outs, pe_encoding_array_count(e)), PE_OK);
	if (info.dtype == PE_F64)
		return outs[at];
	double *numbers = malloc((size_t)(count + 1) * sizeof *numbers);
	for (int64_t i = 0; i < count; i++)
		numbers[i] = (double)integers[i];
	free(integers);
	return pe_tensor_dense(numbers, PE_F64, info.ndim, info.shape);
}

pe_domain *xt_positions(pe_context *ctx, const double *positions, int64_t count)
{
	pe_domain *domain;
	double copy[256];
	assert_true(count <= 256);
	memcpy(copy, positions, (size_t)count * sizeof *copy);
	pe_tensor tensor = pe_tensor_dense(copy, PE_F64, 1, &count);
	assert_int_equal(pe_domain_positions(ctx, &tensor, 0, &domain), PE_OK);
	return domain;
}

/* ---- golden values ------------------------------------------------------------------ */

static pe_domain *golden_domain(pe_context *ctx, const pe_bundle *bundle, const char *name, const char *which)
{
	char full[128];
	pe_tensor positions;
	pe_domain *domain;
	snprintf(full, sizeof full, "%s.grid", name);
	if (pe_bundle_find(bundle, full, &positions)) {
		const int64_t *grid = positions.data;
		int64_t frames = positions.shape[0] > 3 ? grid[3] : 1;
		assert_int_equal(pe_domain_grid(ctx, frames, grid[0], grid[1], grid[2], &domain), PE_OK);
		return domain;
	}
	snprintf(full, sizeof full, "%s.%s", name, which);
	if (!pe_bundle_find(bundle, full, &positions))
		fail_msg("there is no %s", full);
	assert_int_equal(pe_domain_positions(ctx, &positions, 0, &domain), PE_OK);
	return domain;
}

static void check_golden(pe_encoding *e, const char *name, const pe_tensor *golden, double rtol, double atol)
{
	pe_tensor got = xt_computed(e, name);
	assert_int_equal(got.ndim, golden->ndim);
	assert_memory_equal(got.shape, golden->shape, (size_t)got.ndim * sizeof *got.shape);
	assert_true(golden->dtype == PE_F64 || golden->dtype == PE_I32);
	const double *numbers = golden->data, *values = got.data;
	const int32_t *integers = golden->data;
	for (int64_t i = 0; i < pe_tensor_count(golden); i++)
		xt_close_f64(values[i], golden->dtype == PE_F64 ? numbers[i] : integers[i], rtol, atol);
	free(got.data);
}

void xt_golden_case(pe_context *ctx, const char *encoder, const char *file, const char *name,
	const char *settings, double rtol, double atol)
{
	char path[256], prefix[128];
	pe_bundle *bundle;
	snprintf(path, sizeof path, "tests/golden/%s", file);
	snprintf(prefix, sizeof prefix, "%s.out.", name);
	if (pe_bundle_from_file(ctx, xt_source(path), NULL, &bundle) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	pe_domain *keys = golden_domain(ctx, bundle, name, "keys");
	pe_domain *queries = golden_domain(ctx, bundle, name, "queries");
	pe_encoding *e = xt_encode(ctx, encoder, settings, keys, queries, bundle, name);
	int compared = 0;
	for (int64_t i = 0; i < pe_bundle_count(bundle); i++) {
		const char *array;
		pe_tensor golden;
		assert_int_equal(pe_bundle_at(bundle, i, &array, &golden), PE_OK);
		if (strncmp(array, prefix, strlen(prefix)) != 0)
			continue;
		check_golden(e, array + strlen(prefix), &golden, rtol, atol);
		compared++;
	}
	assert_true(compared > 0);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&queries);
	pe_domain_destroy(&keys);
	pe_bundle_destroy(&bundle);
}

/* ---- properties --------------------------------------------------------------------- */

enum { LENGTH = 300 };

static void same_array(pe_tensor *a, pe_tensor *b, double atol)
{
	const double *x = a->data, *y = b->data;
	assert_int_equal(pe_tensor_count(a), pe_tensor_count(b));
	for (int64_t i = 0; i < pe_tensor_count(a); i++)
		xt_close_f64(x[i], y[i], 0, atol);
	free(a->data);
	free(b->data);
}

static pe_tensor array_on(
	pe_context *ctx, const char *encoder, const char *settings, const char *array, pe_domain *domain)
{
	pe_encoding *e = xt_encode(ctx, encoder, settings, domain, NULL, NULL, NULL);
	pe_tensor out = xt_computed(e, array);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	return out;
}

void xt_stays_when_moved(
	pe_context *ctx, const char *encoder, const char *settings, const char *array, double atol)
{
	static const double offsets[] = {-17, 4096.5, 1e6};
	double positions[60];
	for (int k = 0; k < 60; k++)
		positions[k] = k + 0.25;
	for (int k = 0; k <= 3; k++) {
		pe_domain *still, *moved;
		assert_int_equal(pe_domain_sequence(ctx, 60, 0, &still), PE_OK);
		if (k < 3)
			assert_int_equal(pe_domain_sequence(ctx, 60, offsets[k], &moved), PE_OK);
		else
			moved = xt_positions(ctx, positions, 60);
		pe_tensor a = array_on(ctx, encoder, settings, array, still);
		pe_tensor b = array_on(ctx, encoder, settings, array, moved);
		same_array(&a, &b, atol);
	}
}

static pe_encoding *with_last_queries(
	pe_context *ctx, const char *encoder, const char *settings, int64_t queries, pe_domain **keys)
{
	pe_domain *last;
	assert_int_equal(pe_domain_sequence(ctx, LENGTH, 2, keys), PE_OK);
	assert_int_equal(pe_domain_tail(ctx, *keys, queries, &last), PE_OK);
	pe_encoding *e = xt_encode(ctx, encoder, settings, *keys, last, NULL, NULL);
	/* Queries must live as long as e: handed over as the second domain. */
	keys[1] = last;
	return e;
}

static void leave(pe_encoding **e, pe_domain **domains)
{
	pe_encoding_destroy(e);
	pe_domain_destroy(&domains[0]);
	pe_domain_destroy(&domains[1]);
}

void xt_table_holds(pe_context *ctx, const char *encoder, const char *settings, const char *array)
{
	static const int64_t queries[] = {1, 7, LENGTH};
	for (int k = 0; k < 3; k++) {
		char name[64];
		pe_domain *domains[2];
		pe_encoding *e = with_last_queries(ctx, encoder, settings, queries[k], domains);
		snprintf(name, sizeof name, "%s_table", array);
		pe_tensor cells = xt_computed(e, array), table = xt_computed(e, name);
		const double *x = cells.data, *t = table.data;
		int64_t heads = cells.shape[0], lq = cells.shape[1], lk = cells.shape[2];
		assert_int_equal(table.shape[0], heads);
		assert_int_equal(table.shape[1], lq + lk - 1);
		for (int64_t n = 0; n < heads * lq * lk; n++) {
			int64_t h = n / lq / lk, i = n / lk % lq, j = n % lk;
			xt_close_f64(t[h * (lq + lk - 1) + j - i + lq - 1], x[n], 0, 0);
		}
		free(cells.data);
		free(table.data);
		leave(&e, domains);
	}
}

void xt_last_queries_give_last_rows(
	pe_context *ctx, const char *encoder, const char *settings, const char *array)
{
	pe_domain *all[2], *last[2];
	pe_encoding *e = with_last_queries(ctx, encoder, settings, LENGTH, all);
	pe_tensor whole = xt_computed(e, array);
	for (int64_t queries = 1; queries < 5; queries += 3) {
		pe_encoding *few = with_last_queries(ctx, encoder, settings, queries, last);
		pe_tensor rows = xt_computed(few, array);
		const double *x = rows.data, *y = whole.data;
		int64_t heads = pe_tensor_count(&rows) / queries / LENGTH;
		for (int64_t n = 0; n < heads * queries * LENGTH; n++) {
			int64_t h = n / queries / LENGTH, i = n / LENGTH % queries, j = n % LENGTH;
			xt_close_f64(x[n], y[(h * LENGTH + LENGTH - queries + i) * LENGTH + j], 0, 0);
		}
		free(rows.data);
		leave(&few, last);
	}
	free(whole.data);
	leave(&e, all);
}

void xt_attend_plain(pe_context *ctx, pe_encoding *e, bool causal, int64_t heads, int64_t queries,
	int64_t keys, int64_t width, double *q, double *k, double *v, double *out)
{
	pe_tensor tq = pe_tensor_dense(q, PE_F64, 4, (int64_t[]){1, heads, queries, width});
	pe_tensor tk = pe_tensor_dense(k, PE_F64, 4, (int64_t[]){1, heads, keys, width});
	pe_tensor tv = tk, to = tq;
	tv.data = v;
	to.data = out;
	pe_attention_options options = {sizeof options, .core = PE_CORE_REFERENCE, .causal = causal};
	pe_attention_tensors tensors = {sizeof tensors, .q = &tq, .k = &tk, .v = &tv, .out = &to};
	if (pe_attend(ctx, &e, e != NULL, &options, &tensors) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
}
