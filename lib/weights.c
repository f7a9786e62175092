/* SPDX-License-Identifier: BSD-2-Clause
 * The learned parameters of an encoding: given by name, or begun from the seed. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "encoder.h"
#include "rng.h"

#define MAX_NAME 600

static const pe_weight_info *listed(const struct pe_encoder *encoder, const char *name)
{
	for (int64_t i = 0; i < encoder->weight_count; i++)
		if (strcmp(encoder->weights[i].name, name) == 0)
			return &encoder->weights[i];
	return NULL;
}

/* "prefix.name" or, as Flax's files have it, "prefix/name", else "name"; each also with the ".weight" that
 * PyTorch's modules put behind. */
static bool find_given_as(const pe_encoding *e, const char *name, char *full, size_t size, pe_tensor *out)
{
	static const char *const endings[] = {"", ".weight"}, *const joints[] = {".", "/", ""};
	const char *prefix = e->weights_prefix ? e->weights_prefix : e->encoder->table.name;
	for (int i = 0; e->given_weights && i < 6; i++) {
		const char *joint = joints[i / 2];
		snprintf(full, size, "%s%s%s%s", *joint ? prefix : "", joint, name, endings[i % 2]);
		if (pe_bundle_find(e->given_weights, full, out))
			return true;
	}
	return false;
}

static bool find_given(const pe_encoding *e, const char *name, pe_tensor *out)
{
	char full[MAX_NAME];
	return find_given_as(e, name, full, sizeof full, out);
}

bool pe_encoding_weight_is_given(const pe_encoding *e, const char *name)
{
	pe_tensor ignored;
	return find_given(e, name, &ignored);
}

bool pe_encoding_given_shape(const pe_encoding *e, const char *name, int32_t *ndim, int64_t *shape)
{
	pe_tensor given;
	if (!find_given(e, name, &given))
		return false;
	*ndim = given.ndim;
	memcpy(shape, given.shape, sizeof given.shape);
	return true;
}

/* Where in an array's name "NAME" or "NAME.weight" begins, behind a '.' or '/', or NULL. */
static const char *find_end(const char *array, const char *name)
{
	for (const char *at = strpbrk(array, "./"); at; at = strpbrk(at + 1, "./")) {
		size_t size = strlen(name);
		if (strncmp(at + 1, name, size) == 0 && (!at[1 + size] || strcmp(at + 1 + size, ".weight") == 0))
			return at + 1;
	}
	return NULL;
}

/* The first array whose name ends in one of these, and where in it that begins; *other: another one, or NULL.
 */
static const char *find_below(
	const pe_encoding *e, const char *const *names, int count, const char **end, const char **other)
{
	const char *found = NULL, *array;
	*other = NULL;
	for (int64_t i = 0; i < pe_bundle_count(e->given_weights); i++)
		for (int k = 0; k < count && pe_bundle_at(e->given_weights, i, &array, NULL) == PE_OK; k++) {
			const char *at = find_end(array, names[k]);
			if (at && found)
				*other = array;
			if (at && !found) {
				found = array;
				*end = at;
			}
		}
	return found;
}

pe_status pe_encoding_look_below(pe_encoding *e, const char *const *names, int count, char **prefix)
{
	const char *end, *other;
	if (!e->given_weights || e->weights_prefix)
		return PE_OK;
	for (int k = 0; k < count; k++)
		if (pe_encoding_weight_is_given(e, names[k]))
			return PE_OK;
	const char *found = find_below(e, names, count, &end, &other);
	if (!found)
		return PE_OK;
	if (other)
		return pe_encoding_fail(e, PE_ERR_ARGUMENT,
			"the weights hold both %s and %s: a prefix (as=%.*s) must say which", found, other,
			(int)(end - found - 1), found);
	*prefix = pe_strdup(e->ctx, found);
	if (!*prefix)
		return PE_ERR_NOMEM;
	(*prefix)[end - found - 1] = '\0';
	e->weights_prefix = *prefix;
	return PE_OK;
}

static pe_status check_shape(pe_encoding *e, const struct pe_weight *w, const pe_tensor *given)
{
	char is[160], must[160];
	if (given->ndim == w->ndim && memcmp(given->shape, w->shape, (size_t)w->ndim * sizeof *w->shape) == 0)
		return pe_dtype_is_float(given->dtype)
			? PE_OK
			: pe_encoding_fail(e, PE_ERR_SHAPE, "the weight %s is of type %s, not of a float type", w->name,
				  pe_dtype_name(given->dtype));
	pe_shape_text(is, sizeof is, given->ndim, given->shape);
	pe_shape_text(must, sizeof must, w->ndim, w->shape);
	return pe_encoding_fail(e, PE_ERR_SHAPE, "the weight %s must be %s, and is %s: its shape is %s", w->name,
		must, is, listed(e->encoder, w->name)->shape);
}

/* A dense copy; from may have any strides. */
static void copy_dense(const pe_tensor *from, double *out)
{
	int32_t last = from->ndim > 0 ? from->ndim - 1 : 0;
	int64_t run = from->ndim > 0 ? from->shape[last] : 1, count = pe_tensor_count(from);
	for (int64_t done = 0; done < count; done += run)
		pe_load_f64(out + done, pe_tensor_place(from, last, done / run), from->dtype,
			from->ndim > 0 ? from->strides[last] : 1, run);
}

/* Numbers of the context's seed; parameters of each name, with the prefix that was given, are a stream of
 * their own, so that layers differ. */
static void begin(const pe_encoding *e, struct pe_initial initial, double *out, int64_t count)
{
	uint64_t seed = e->ctx->seed, stream = 0x77656967u; /* FNV-1a over the names, so that none depends on
														 * what was asked for before */
	const char *names[] = {
		e->weights_prefix ? e->weights_prefix : e->encoder->table.name, e->weights[e->weight_count - 1].name};
	for (int i = 0; i < 2; i++)
		for (const char *c = names[i]; *c; c++)
			stream = (stream ^ (unsigned char)*c) * 0x100000001B3u;
	if (initial.kind == PE_INITIAL_NORMAL)
		pe_rng_normals(seed, stream, count, out);
	for (int64_t i = 0; i < count; i++)
		switch (initial.kind) {
		case PE_INITIAL_CONSTANT:
			out[i] = initial.a;
			break;
		case PE_INITIAL_NORMAL:
			out[i] = initial.a + initial.b * out[i];
			break;
		case PE_INITIAL_UNIFORM:
			out[i] = initial.a + (initial.b - initial.a) * pe_rng_uniform(seed, stream, (uint64_t)i);
			break;
		}
}

/* Whether the given weights must hold what is not optional: all of them are this encoder's, or one is. */
static bool must_be_given(const pe_encoding *e)
{
	if (!e->given_weights || !e->weights_shared)
		return e->given_weights;
	for (int64_t i = 0; i < e->encoder->weight_count; i++)
		if (pe_encoding_weight_is_given(e, e->encoder->weights[i].name))
			return true;
	return false;
}

/* An array whose name ends in w's, of its shape, or at least of as many dimensions; where the name ends. */
static const char *find_alike(const pe_encoding *e, const struct pe_weight *w, bool exactly, const char **end)
{
	for (int64_t i = 0; i < pe_bundle_count(e->given_weights); i++) {
		const char *array;
		pe_tensor t;
		if (pe_bundle_at(e->given_weights, i, &array, &t) != PE_OK || t.ndim != w->ndim)
			continue;
		*end = find_end(array, w->name);
		if (*end && (!exactly || memcmp(t.shape, w->shape, (size_t)w->ndim * sizeof *w->shape) == 0))
			return array;
	}
	return NULL;
}

/* A checkpoint has a layer's parameters behind the layer's name: tells what would find them there. */
static pe_status fail_lacking(pe_encoding *e, const struct pe_weight *w)
{
	const char *end, *found = find_alike(e, w, true, &end);
	bool exactly = found;
	if (!found)
		found = find_alike(e, w, false, &end);
	if (!found)
		return pe_encoding_fail(e, PE_ERR_ARGUMENT,
			"the weights lack %s (posenc help %s lists names and shapes)", w->name, e->encoder->table.name);
	return pe_encoding_fail(e, PE_ERR_ARGUMENT,
		"the weights lack %s, but hold %s%s: the prefix as=%.*s %s it", w->name, found,
		exactly ? "" : ", of another shape", (int)(end - found - 1), found, exactly ? "would take" : "means");
}

static pe_status fill(pe_encoding *e, struct pe_weight *w, struct pe_initial initial, int64_t count)
{
	pe_tensor given;
	char full[MAX_NAME];
	if (find_given_as(e, w->name, full, sizeof full, &given)) {
		PE_TRY(check_shape(e, w, &given));
		copy_dense(&given, w->values);
		w->source = pe_strdup(e->ctx, full);
		return w->source ? PE_OK : PE_ERR_NOMEM;
	}
	if (!initial.optional && must_be_given(e))
		return fail_lacking(e, w);
	begin(e, initial, w->values, count);
	w->random = (initial.kind == PE_INITIAL_NORMAL && initial.b > 0) ||
		(initial.kind == PE_INITIAL_UNIFORM && initial.b > initial.a);
	return PE_OK;
}

pe_status pe_encoding_weight(pe_encoding *e, const char *name, int32_t ndim, const int64_t *shape,
	struct pe_initial initial, double **out)
{
	assert(listed(e->encoder, name));
	pe_tensor dense = pe_tensor_dense(NULL, PE_F64, ndim, shape);
	int64_t count = pe_tensor_count(&dense);
	if (pe_tensor_bytes(&dense) < 0)
		return pe_encoding_fail(e, PE_ERR_NOMEM, "the weight %s is larger than memory can hold", name);
	PE_TRY(pe_grow(
		e->ctx, &e->weights, &e->weight_capacity, e->weight_count, e->weight_count + 1, sizeof *e->weights));
	struct pe_weight *w = &e->weights[e->weight_count];
	*w = (struct pe_weight){.name = name, .ndim = ndim, .values = pe_alloc(e->ctx, count, sizeof *w->values)};
	if (!w->values)
		return PE_ERR_NOMEM;
	for (int32_t d = 0; d < ndim; d++)
		w->shape[d] = shape[d];
	e->weight_count++;
	*out = w->values;
	return fill(e, w, initial, count);
}

pe_status pe_declare_weights(pe_encoding *e)
{
	for (int64_t i = 0; i < e->weight_count; i++)
		PE_TRY(pe_declare(e, e->weights[i].name, PE_F64, e->weights[i].ndim, e->weights[i].shape, false));
	return PE_OK;
}

/* Into a view with any strides. */
static void store(const struct pe_weight *w, const pe_tensor *out)
{
	int32_t last = out->ndim > 0 ? out->ndim - 1 : 0;
	int64_t run = out->ndim > 0 ? out->shape[last] : 1, count = pe_tensor_count(out);
	for (int64_t done = 0; done < count; done += run)
		pe_store_f64(pe_tensor_place(out, last, done / run), out->dtype,
			out->ndim > 0 ? out->strides[last] : 1, w->values + done, 1, run);
}

void pe_compute_weights(const pe_encoding *e, const pe_tensor *outs, int64_t first)
{
	for (int64_t i = 0; i < e->weight_count; i++)
		if (outs[first + i].data)
			store(&e->weights[i], &outs[first + i]);
}

pe_status pe_compute_own_weights(pe_encoding *e, const pe_tensor *outs)
{
	pe_compute_weights(e, outs, 0);
	return PE_OK;
}

int64_t pe_encoding_given_size(const pe_encoding *e, const char *weight, int32_t ndim, int32_t axis)
{
	int32_t dims;
	int64_t shape[PE_MAX_DIMS];
	return pe_encoding_given_shape(e, weight, &dims, shape) && dims == ndim ? shape[axis] : 0;
}

pe_status pe_encoding_follow(pe_encoding *e, const char *option, int64_t given, int64_t *out)
{
	pe_option_info info = pe_params_info(e->params, option);
	*out = pe_params_int(e->params, option);
	if (pe_params_is_set(e->params, option) || given < 1 || (double)given < info.min ||
		(double)given > info.max)
		return PE_OK;
	*out = given;
	return pe_params_fill(e->params, option, given);
}

pe_status pe_encoding_size(
	pe_encoding *e, const char *option, const char *weight, int32_t ndim, int32_t axis, int64_t *out)
{
	return pe_encoding_follow(e, option, pe_encoding_given_size(e, weight, ndim, axis), out);
}

int64_t pe_encoding_weight_count(const pe_encoding *encoding)
{
	return encoding ? encoding->weight_count : 0;
}

pe_status pe_encoding_weight_at(const pe_encoding *encoding, int64_t index, const char **name, pe_tensor *out)
{
	if (!encoding || !name || !out)
		return PE_ERR_ARGUMENT;
	if (index < 0 || index >= encoding->weight_count)
		return pe_fail(encoding->ctx, PE_ERR_ARGUMENT, "%s has %lld weights, there is no number %lld",
			encoding->encoder->table.name, (long long)encoding->weight_count, (long long)index);
	const struct pe_weight *w = &encoding->weights[index];
	*name = w->name;
	*out = pe_tensor_dense(w->values, PE_F64, w->ndim, w->shape);
	return PE_OK;
}

const char *pe_encoding_weight_source(const pe_encoding *encoding, int64_t index)
{
	return encoding && index >= 0 && index < encoding->weight_count ? encoding->weights[index].source : NULL;
}

int pe_encoding_is_random(const pe_encoding *encoding)
{
	for (int64_t i = 0; encoding && i < encoding->weight_count; i++)
		if (encoding->weights[i].random)
			return 1;
	return 0;
}
