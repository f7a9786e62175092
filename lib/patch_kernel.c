/* SPDX-License-Identifier: BSD-2-Clause
 * Kernels of patch embeddings for patches of another size: k pinv(R), R what resamples patches. R works on
 * rows and columns apart, and so does its pseudo-inverse. Beyer et al., "FlexiViT: one model for all patch
 * sizes", CVPR 2023. */
#include <string.h>

#include "kernels/kernels.h"
#include "pool.h"
#include "pseudo_inverse.h"
#include "resample.h"
#include "tensor.h"

#define CHUNK 64 /* kernels a piece of work */
#define MOST_SIDE 512

struct work {
	const pe_tensor *x, *y;
	int64_t count;                     /* kernels */
	int64_t old[2], new[2];            /* height, width */
	double *inverse_down, *transposed; /* of rows: (old, new), and (new, old) */
	double *inverse_across;            /* of columns: (old, new) */
};

/* Where kernel number `index` begins. */
static void *kernel_at(const pe_tensor *t, int64_t index)
{
	return pe_tensor_place(t, t->ndim - 2, index);
}

/* Row i of a kernel. */
static void *row_of(const pe_tensor *t, void *kernel, int64_t i)
{
	return (char *)kernel + i * t->strides[t->ndim - 2] * (int64_t)pe_dtype_size(t->dtype);
}

/* buffer holds the old kernel, a row of old width and one of new. */
static void resize(const struct work *w, const struct pe_kernels *kernels, int64_t index, double *buffer)
{
	const pe_tensor *x = w->x, *y = w->y;
	double *row = buffer + w->old[0] * w->old[1], *out = row + w->old[1];
	void *from = kernel_at(x, index), *to = kernel_at(y, index);
	for (int64_t i = 0; i < w->old[0]; i++)
		pe_load_f64(buffer + i * w->old[1], row_of(x, from, i), x->dtype, x->strides[x->ndim - 1], w->old[1]);
	for (int64_t i = 0; i < w->new[0]; i++) {
		struct pe_weighted_sum sum = {.in = buffer,
			.weights = w->transposed + i * w->old[0],
			.step = w->old[1],
			.count = w->old[0],
			.n = w->old[1]};
		kernels->weighted_sum(&sum, row);
		sum = (struct pe_weighted_sum){
			.in = w->inverse_across, .weights = row, .step = w->new[1], .count = w->old[1], .n = w->new[1]};
		kernels->weighted_sum(&sum, out);
		pe_store_f64(row_of(y, to, i), y->dtype, y->strides[y->ndim - 1], out, 1, w->new[1]);
	}
}

static pe_status do_chunk(pe_context *worker, void *arg, int64_t chunk)
{
	const struct work *w = arg;
	double *buffer = pe_alloc(worker, (w->old[0] + 1) * w->old[1] + w->new[1], sizeof *buffer);
	if (!buffer)
		return PE_ERR_NOMEM;
	int64_t end = pe_min((chunk + 1) * CHUNK, w->count);
	for (int64_t i = chunk * CHUNK; i < end; i++)
		resize(w, worker->kernels, i, buffer);
	pe_free(worker, buffer);
	return PE_OK;
}

/* *out ← the pseudo-inverse, (old, new), of what resamples an axis. */
static pe_status invert_axis(
	pe_context *ctx, const struct pe_resample_rule *rule, int64_t old, int64_t new, double **out)
{
	struct pe_resample r = {0};
	double *matrix = NULL;
	pe_status status = pe_resample_make(ctx, rule, old, new, &r);
	if (status != PE_OK)
		goto done;
	status = PE_ERR_NOMEM;
	matrix = pe_alloc_zero(ctx, old * new, sizeof *matrix);
	*out = pe_alloc(ctx, old * new, sizeof **out);
	if (!matrix || !*out)
		goto done;
	for (int64_t i = 0; i < new; i++)
		memcpy(matrix + i * old + r.first[i], r.weights + i * r.taps, (size_t)r.count[i] * sizeof *matrix);
	status = pe_pseudo_inverse(ctx, new, old, matrix, *out);
done:
	pe_free(ctx, matrix);
	pe_resample_free(ctx, &r);
	return status;
}

static pe_status invert(pe_context *ctx, const struct pe_resample_rule *rule, struct work *w)
{
	PE_TRY(invert_axis(ctx, rule, w->old[0], w->new[0], &w->inverse_down));
	PE_TRY(invert_axis(ctx, rule, w->old[1], w->new[1], &w->inverse_across));
	w->transposed = pe_alloc(ctx, w->old[0] * w->new[0], sizeof *w->transposed);
	if (!w->transposed)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < w->old[0]; i++)
		for (int64_t j = 0; j < w->new[0]; j++)
			w->transposed[j * w->old[0] + i] = w->inverse_down[i * w->new[0] + j];
	return PE_OK;
}

static pe_status check(pe_context *ctx, const pe_tensor *x, const pe_tensor *y, struct work *w)
{
	if (pe_tensor_count(x) < 0 || pe_tensor_count(y) < 0 || x->ndim < 2 || y->ndim != x->ndim ||
		!pe_dtype_is_float(x->dtype) || x->dtype != y->dtype)
		return pe_fail(ctx, PE_ERR_SHAPE,
			"patch kernels are (…, height, width), of one float type and as many dimensions before and "
			"after");
	memcpy(w->old, x->shape + x->ndim - 2, sizeof w->old);
	memcpy(w->new, y->shape + y->ndim - 2, sizeof w->new);
	for (int i = 0; i < 2; i++)
		if (w->old[i] < 1 || w->new[i] < 1 || w->old[i] > MOST_SIDE || w->new[i] > MOST_SIDE)
			return pe_fail(ctx, PE_ERR_SHAPE,
				"patches of %lld x %lld cannot become %lld x %lld: sides are 1 to %d", (long long)w->old[0],
				(long long)w->old[1], (long long)w->new[0], (long long)w->new[1], MOST_SIDE);
	w->count = pe_tensor_count(x) / (w->old[0] * w->old[1]);
	int64_t shape[PE_MAX_DIMS];
	memcpy(shape, x->shape, sizeof shape);
	memcpy(shape + x->ndim - 2, w->new, sizeof w->new);
	PE_TRY(pe_tensor_check_input(ctx, x, "the kernels"));
	PE_TRY(pe_tensor_check_output(ctx, y, "the output", PE_F64, x->ndim, shape));
	if (pe_tensor_overlap(x, y))
		return pe_fail(ctx, PE_ERR_ARGUMENT, "kernels and output overlap");
	return PE_OK;
}

pe_status pe_patch_kernel_resize(
	pe_context *context, const pe_patch_kernel_options *options, const pe_tensor *x, const pe_tensor *y)
{
	pe_patch_kernel_options o = {0};
	struct work w = {.x = x, .y = y};
	if (!context || !x || !y)
		return PE_ERR_ARGUMENT;
	PE_TRY(pe_take_options(context, &o, sizeof o, options, "pe_patch_kernel_options"));
	if (o.interpolation != PE_BICUBIC && o.interpolation != PE_BILINEAR)
		return pe_fail(context, PE_ERR_RANGE, "there is no interpolation number %d", (int)o.interpolation);
	PE_TRY(check(context, x, y, &w));
	const struct pe_resample_rule rule = {.interpolation = o.interpolation, .antialias = !o.no_antialias};
	pe_status status = invert(context, &rule, &w);
	if (status == PE_OK)
		status = pe_parallel(context, (w.count + CHUNK - 1) / CHUNK, do_chunk, &w, "patch kernels");
	pe_free(context, w.inverse_down);
	pe_free(context, w.inverse_across);
	pe_free(context, w.transposed);
	return status;
}
