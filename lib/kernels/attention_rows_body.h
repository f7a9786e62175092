/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of attention_rows.h, once an instruction set; float_SET.h comes before. */
#include "attention_rows.h"
#include "float_lanes.h"

/* Column vectors of a sum at a time: enough to hide the time of an addition. */
#define COLUMNS 8

/* In two sums, since one would wait for each addition. */
INLINE vec dot_lanes(const float *q, const float *k, int64_t width)
{
	vec even = vec_all(0.0f), odd = vec_all(0.0f);
	int64_t c = 0;
	for (; c + 2 * VEC_LANES <= width; c += 2 * VEC_LANES) {
		even = vec_fused(at_loose(q + c), at_loose(k + c), even);
		odd = vec_fused(at_loose(q + c + VEC_LANES), at_loose(k + c + VEC_LANES), odd);
	}
	if (c + VEC_LANES <= width)
		even = vec_fused(at_loose(q + c), at_loose(k + c), even);
	return even + odd;
}

/* A vector of keys at a time, whose lanes are added up together. */
INLINE void dot_vector(const float *q, const float *k, int64_t stride, int64_t width, float *scores)
{
	_Alignas(64) float sums[VEC_LANES * VEC_LANES], turned[VEC_LANES * VEC_LANES];
	vec all = vec_all(0.0f);
	for (int j = 0; j < VEC_LANES; j++)
		put(sums + j * VEC_LANES, dot_lanes(q, k + j * stride, width));
	transpose(turned, VEC_LANES, sums, VEC_LANES, 1, VEC_LANES, VEC_LANES, 1.0f);
	_Pragma("GCC unroll 16") for (int i = 0; i < VEC_LANES; i++) all += at(turned + i * VEC_LANES);
	for (int64_t c = width / VEC_LANES * VEC_LANES; c < width; c++)
		for (int j = 0; j < VEC_LANES; j++)
			all[j] += q[c] * k[j * stride + c];
	*(loose_vec *)scores = all;
}

static float dot(const float *q, const float *k, int64_t width)
{
	vec lanes = dot_lanes(q, k, width);
	float all = 0.0f;
	for (int i = 0; i < VEC_LANES; i++)
		all += lanes[i];
	for (int64_t c = width / VEC_LANES * VEC_LANES; c < width; c++)
		all += q[c] * k[c];
	return all;
}

static void row_dots(const struct pe_row_dots *t)
{
	int64_t j = 0;
	for (; j + VEC_LANES <= t->keys; j += VEC_LANES) {
		const float *k = t->k + j * t->stride;
		for (int64_t r = 0; r < t->rows; r++)
			dot_vector(t->q + r * t->width, k, t->stride, t->width, t->scores + r * t->scores_stride + j);
	}
	for (; j < t->keys; j++)
		for (int64_t r = 0; r < t->rows; r++)
			t->scores[r * t->scores_stride + j] = dot(t->q + r * t->width, t->k + j * t->stride, t->width);
}

/* x - x is 0 unless x is infinite or NaN. */
INLINE vec sum_columns(
	float *out, const float *weights, const float *v, int64_t stride, int64_t keys, const int columns)
{
	vec acc[COLUMNS], odd = vec_all(0.0f);
	_Pragma("GCC unroll 8") for (int u = 0; u < columns; u++) acc[u] = vec_all(0.0f);
	for (int64_t j = 0; j < keys; j++) {
		vec weight = vec_all(weights[j]);
		_Pragma("GCC unroll 8") for (int u = 0; u < columns; u++)
		{
			acc[u] = vec_fused(weight, at_loose(v + u * VEC_LANES), acc[u]);
		}
		v += stride;
	}
	_Pragma("GCC unroll 8") for (int u = 0; u < columns; u++)
	{
		*(loose_vec *)(out + u * VEC_LANES) = acc[u];
		odd += acc[u] - acc[u];
	}
	return odd;
}

static bool row_sum(
	float *out, const float *weights, const float *v, int64_t stride, int64_t keys, int64_t width)
{
	vec odd = vec_all(0.0f);
	float rest = 0.0f;
	int64_t c = 0;
	for (; c + COLUMNS * VEC_LANES <= width; c += COLUMNS * VEC_LANES)
		odd += sum_columns(out + c, weights, v + c, stride, keys, COLUMNS);
	for (; c + 4 * VEC_LANES <= width; c += 4 * VEC_LANES)
		odd += sum_columns(out + c, weights, v + c, stride, keys, 4);
	for (; c + VEC_LANES <= width; c += VEC_LANES)
		odd += sum_columns(out + c, weights, v + c, stride, keys, 1);
	for (; c < width; c++) {
		float sum = 0.0f;
		for (int64_t j = 0; j < keys; j++)
			sum += weights[j] * v[j * stride + c];
		out[c] = sum;
		rest += sum - sum;
	}
	for (int i = 0; i < VEC_LANES; i++)
		rest += odd[i];
	return rest == 0.0f;
}

static void fill_attention_rows(struct pe_kernels *kernels)
{
	kernels->row_dots = row_dots;
	kernels->row_sum = row_sum;
}
