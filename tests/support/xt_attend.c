/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xt_attend.h"

pe_bundle *xt_golden_bundle(pe_context *ctx, const char *name)
{
	char path[256];
	pe_bundle *bundle;
	snprintf(path, sizeof path, "tests/golden/%s", name);
	if (pe_bundle_from_file(ctx, xt_source(path), NULL, &bundle) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	return bundle;
}

pe_tensor xt_array(const pe_bundle *bundle, const char *name)
{
	pe_tensor tensor;
	if (!pe_bundle_find(bundle, name, &tensor))
		fail_msg("there is no array %s", name);
	return tensor;
}

/* ---- encodings ---------------------------------------------------------------------- */

static void make_domain(pe_context *ctx, const pe_bundle *bundle, const char *name, int64_t tokens,
	double offset, pe_domain **out)
{
	pe_tensor positions;
	pe_status status = bundle && pe_bundle_find(bundle, name, &positions)
		? pe_domain_positions(ctx, &positions, 0, out)
		: pe_domain_sequence(ctx, tokens, offset, out);
	if (status != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
}

static bool has_weights(const pe_encoder *encoder, const pe_bundle *bundle)
{
	pe_tensor ignored;
	for (int64_t i = 0; bundle && i < pe_encoder_weight_count(encoder); i++)
		if (pe_bundle_find(bundle, pe_encoder_weight(encoder, i).name, &ignored))
			return true;
	return false;
}

static void add_encoding(pe_context *ctx, const char *with, const pe_bundle *bundle, struct xt_layer *layer)
{
	char name[64] = {0};
	size_t size = strcspn(with, ":");
	assert_true(size < sizeof name && layer->count < XT_MAX_ENCODINGS);
	memcpy(name, with, size);
	pe_params *params;
	assert_int_equal(pe_params_create(ctx, name, &params), PE_OK);
	if (with[size])
		xt_set(params, with + size + 1);
	const pe_encoder *encoder = pe_encoder_find(name);
	pe_encoding_options options = {.size = sizeof options,
		.queries = layer->queries,
		.weights = has_weights(encoder, bundle) ? bundle : NULL};
	if (pe_encoding_create(ctx, encoder, params, layer->keys, &options, &layer->list[layer->count]) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	layer->count++;
	pe_params_destroy(&params);
}

static pe_domain *make_grid(pe_context *ctx, const pe_tensor *sides)
{
	const int64_t *side = sides->data;
	pe_domain *grid;
	assert_int_equal(pe_domain_grid(ctx, 1, side[0], side[1], side[2], &grid), PE_OK);
	return grid;
}

void xt_layer_make(pe_context *ctx, const char *const *with, const pe_bundle *bundle, int64_t queries,
	int64_t keys, struct xt_layer *layer)
{
	pe_tensor grid;
	*layer = (struct xt_layer){0};
	if (bundle && pe_bundle_find(bundle, "grid", &grid)) {
		layer->keys = make_grid(ctx, &grid);
		if (pe_bundle_find(bundle, "q_grid", &grid))
			layer->queries = make_grid(ctx, &grid);
		else
			assert_int_equal(pe_domain_tail(ctx, layer->keys, queries, &layer->queries), PE_OK);
	} else {
		make_domain(ctx, bundle, "k_positions", keys, 0, &layer->keys);
		make_domain(ctx, bundle, "q_positions", queries, (double)(keys - queries), &layer->queries);
	}
	for (; with && *with; with++)
		add_encoding(ctx, *with, bundle, layer);
}

void xt_layer_free(struct xt_layer *layer)
{
	for (int64_t i = 0; i < layer->count; i++)
		pe_encoding_destroy(&layer->list[i]);
	pe_domain_destroy(&layer->queries);
	pe_domain_destroy(&layer->keys);
}

/* ---- golden values ------------------------------------------------------------------ */

static const pe_tensor *find(const pe_bundle *bundle, const char *name, pe_tensor *out)
{
	return pe_bundle_find(bundle, name, out) ? out : NULL;
}

static double golden_at(const pe_tensor *golden, int64_t i)
{
	return golden->dtype == PE_F32 ? (double)((const float *)golden->data)[i]
								   : ((const double *)golden->data)[i];
}

static void compare(const char *name, const double *got, const pe_tensor *golden, double tolerance)
{
	assert_true(golden->dtype == PE_F64 || golden->dtype == PE_F32);
	for (int64_t i = 0; i < pe_tensor_count(golden); i++) {
		double want = golden_at(golden, i);
		if (got[i] == want || fabs(got[i] - want) <= tolerance * fmax(1, fabs(want)))
			continue;
		fail_msg("%s: entry %lld is %.17g and must be %.17g", name, (long long)i, got[i], want);
	}
}

/* The tiled core takes no f64. */
static float *round_to_f32(pe_tensor *t)
{
	int64_t count = pe_tensor_count(t);
	float *x = malloc((size_t)(count + 1) * sizeof *x);
	assert_int_equal(t->dtype, PE_F64);
	for (int64_t i = 0; i < count; i++)
		x[i] = (float)((const double *)t->data)[i];
	*t = pe_tensor_dense(x, PE_F32, t->ndim, t->shape);
	return x;
}

void xt_attend_golden(pe_context *ctx, const pe_bundle *bundle, const char *const *with,
	const pe_attention_options *options, double tolerance)
{
	pe_tensor q = xt_array(bundle, "q"), k = xt_array(bundle, "k"), v = xt_array(bundle, "v");
	pe_tensor golden = xt_array(bundle, "out"), golden_lse, mask, lengths, sinks;
	struct xt_layer layer;
	xt_layer_make(ctx, with, bundle, q.shape[2], k.shape[2], &layer);
	pe_attention_options plain = {.size = sizeof plain, .core = PE_CORE_REFERENCE};
	pe_attention_options o = options ? *options : plain;
	if (!o.keys) {
		o.keys = layer.keys;
		o.queries = layer.queries;
	}
	float *rounded[3] = {NULL};
	if (o.core == PE_CORE_TILED) {
		rounded[0] = round_to_f32(&q);
		rounded[1] = round_to_f32(&k);
		rounded[2] = round_to_f32(&v);
	}
	pe_tensor out = pe_tensor_dense(NULL, PE_F64, 4, golden.shape);
	double *data = malloc((size_t)pe_tensor_bytes(&out) + 1), *lse_data = NULL;
	out.data = data;
	pe_attention_tensors t = {.size = sizeof t, .q = &q, .k = &k, .v = &v, .out = &out};
	t.mask = find(bundle, "mask", &mask);
	t.key_lengths = find(bundle, "key_lengths", &lengths);
	t.sinks = find(bundle, "sinks", &sinks);
	pe_tensor lse = {0};
	if (find(bundle, "lse", &golden_lse)) {
		lse = pe_tensor_dense(NULL, PE_F64, 3, golden_lse.shape);
		lse.data = lse_data = malloc((size_t)pe_tensor_bytes(&lse) + 1);
		t.lse = &lse;
	}
	if (pe_attend(ctx, layer.list, layer.count, &o, &t) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	compare("out", data, &golden, tolerance);
	if (t.lse)
		compare("lse", lse_data, &golden_lse, tolerance);
	for (int i = 0; i < 3; i++)
		free(rounded[i]);
	free(data);
	free(lse_data);
	xt_layer_free(&layer);
}

void xt_attend_file(pe_context *ctx, const char *name, const char *with, bool causal, double tolerance)
{
	pe_bundle *bundle = xt_golden_bundle(ctx, name);
	pe_attention_options options = {.size = sizeof options, .core = PE_CORE_REFERENCE, .causal = causal};
	xt_attend_golden(ctx, bundle, (const char *const[]){with, NULL}, &options, tolerance);
	pe_bundle_destroy(&bundle);
}

void xt_attend_file_tiled(pe_context *ctx, const char *name, const char *with, double tolerance)
{
	pe_bundle *bundle = xt_golden_bundle(ctx, name);
	pe_attention_options options = {.size = sizeof options, .core = PE_CORE_TILED};
	xt_attend_golden(ctx, bundle, (const char *const[]){with, NULL}, &options, tolerance);
	pe_bundle_destroy(&bundle);
}

/* Of lse, f32 holds numbers beyond `most` only up to a bound: they are left out. */
static void compare_cores(
	const char *name, const double *got, const double *want, int64_t n, double tolerance, double most)
{
	for (int64_t i = 0; i < n; i++) {
		bool same = got[i] == want[i] || (isnan(got[i]) && isnan(want[i]));
		bool beyond = isfinite(want[i]) && fabs(want[i]) > most;
		if (!same && !beyond && !(fabs(got[i] - want[i]) <= tolerance * fmax(1, fabs(want[i]))))
			fail_msg("%s: entry %lld is %.9g, not %.9g", name, (long long)i, got[i], want[i]);
	}
}

/* n floats into doubles, in place. */
static void widen(double *x, int64_t n)
{
	for (int64_t i = n - 1; i >= 0; i--) {
		float value;
		memcpy(&value, (char *)x + 4 * i, sizeof value);
		x[i] = (double)value;
	}
}

void xt_cores_agree(pe_context *ctx, const struct xt_layer *layer, const pe_attention_options *options,
	const pe_attention_tensors *tensors, double tolerance, double **out)
{
	const int64_t *q = tensors->q->shape, shape[] = {q[0], q[1], q[2], tensors->v->shape[3]};
	int64_t rows = q[0] * q[1] * q[2], count = rows * shape[3];
	double *got[2], *lse[2];
	for (int core = PE_CORE_TILED; core <= PE_CORE_REFERENCE; core++) {
		pe_attention_options o = options ? *options : (pe_attention_options){.size = sizeof o};
		pe_attention_tensors t = *tensors;
		got[core] = malloc((size_t)(count + 1) * sizeof(double));
		lse[core] = malloc((size_t)(rows + 1) * sizeof(double));
		pe_dtype dtype = core == PE_CORE_TILED ? PE_F32 : PE_F64;
		pe_tensor out_tensor = pe_tensor_dense(got[core], dtype, 4, shape);
		pe_tensor lse_tensor = pe_tensor_dense(lse[core], PE_F64, 3, shape);
		t.out = &out_tensor;
		t.lse = &lse_tensor;
		o.core = (pe_core)core;
		if (pe_attend(ctx, layer->list, layer->count, &o, &t) != PE_OK)
			fail_msg("%s", pe_context_message(ctx));
	}
	widen(got[PE_CORE_TILED], count);
	compare_cores("out", got[PE_CORE_TILED], got[PE_CORE_REFERENCE], count, tolerance, INFINITY);
	compare_cores("lse", lse[PE_CORE_TILED], lse[PE_CORE_REFERENCE], rows, tolerance, 1e37);
	free(got[PE_CORE_REFERENCE]);
	free(lse[0]);
	free(lse[1]);
	if (out)
		*out = got[PE_CORE_TILED];
	else
		free(got[PE_CORE_TILED]);
}
