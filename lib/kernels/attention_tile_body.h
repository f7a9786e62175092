/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of attention_tile.h, once an instruction set; float_SET.h comes before. */
#include "attention_cells_body.h"

static void tile_queries(
	float *out, int vecs, const float *q, int64_t n, int64_t stride, int64_t step, int64_t width, float scale)
{
	int64_t lanes = vecs * VEC_LANES;
	for (int64_t c = 0; n < lanes && c < width; c++)
		for (int64_t lane = n / VEC_LANES * VEC_LANES; lane < lanes; lane += VEC_LANES)
			put(out + c * lanes + lane, vec_all(0.0f));
	transpose(out, lanes, q, stride, step, n, width, scale);
}

static void tile_pack_keys(float *out, const float *k, int64_t n, int64_t stride, int64_t step, int64_t width)
{
	for (int64_t first = 0; first < n; first += ROWS) {
		int64_t rows = n - first < ROWS ? n - first : ROWS;
		transpose(out + first * width, rows, k + first * stride, stride, step, rows, width, 1.0f);
	}
}

/* x - x is 0 unless x is infinite or NaN. */
INLINE float pack_row(float *out, const float *v, int64_t step, int64_t width)
{
	vec odd = vec_all(0.0f);
	float rest = 0.0f;
	int64_t c = 0, whole = step == 1 ? width / VEC_LANES * VEC_LANES : 0;
	for (; c < whole; c += VEC_LANES) {
		vec x = at_loose(v + c);
		*(loose_vec *)(out + c) = x;
		odd += x - x;
	}
	for (; c < width; c++) {
		float x = v[c * step];
		out[c] = x;
		rest += x - x;
	}
	for (int i = 0; i < VEC_LANES; i++)
		rest += odd[i];
	return rest;
}

static bool tile_pack_values(
	float *out, const float *v, int64_t n, int64_t stride, int64_t step, int64_t width)
{
	float odd = 0.0f;
	for (int64_t j = 0; j < n; j++)
		odd += pack_row(out + j * width, v + j * stride, step, width);
	return odd == 0.0f;
}

static void tile_round(float *out, const double *x, double factor, double base, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		double size = __builtin_fabs(x[i]);
		bool beyond = (size > PE_TILE_MOST) & (size <= __DBL_MAX__);
		out[i] = (float)(factor * (beyond ? __builtin_copysign(PE_TILE_MOST, x[i]) : x[i]) - base);
	}
}

static double tile_most(const double *x, int64_t n)
{
	double most[16], all = -__builtin_inf();
	int64_t i = 0;
	for (int u = 0; u < 16; u++)
		most[u] = all;
	for (; i + 16 <= n; i += 16)
		for (int u = 0; u < 16; u++)
			most[u] = x[i + u] > most[u] ? x[i + u] : most[u];
	for (; i < n; i++)
		all = x[i] > all ? x[i] : all;
	for (int u = 0; u < 16; u++)
		all = most[u] > all ? most[u] : all;
	return all;
}

/* One panel of keys, from `key` on. */
INLINE void score_rows(const struct pe_tile_scores *t, int64_t key, const int rows, const int vecs, vec *max)
{
	vec acc[ROWS][2];
	EACH_ROW(r) EACH(v) acc[r][v] = vec_all(0.0f);
	if (t->k_stride > 0)
		tile_multiply(
			acc, rows, vecs, t->width, t->k + key * t->k_stride, 1, t->k_stride, t->q, vecs * VEC_LANES);
	else
		tile_multiply(acc, rows, vecs, t->width, t->k + key * t->width, rows, 1, t->q, vecs * VEC_LANES);
	if (t->bias) {
		const float *bias = t->bias + key * t->bias_step;
		EACH_ROW(r) EACH(v) acc[r][v] += at_loose(bias + r * t->bias_step + v * VEC_LANES);
	}
	int64_t stride = t->stride > 0 ? t->stride : vecs * VEC_LANES;
	float *out = t->scores + key * stride;
	EACH_ROW(r) EACH(v)
	{
		put(out + r * stride + v * VEC_LANES, acc[r][v]);
		max[v] = vec_max(acc[r][v], max[v]);
	}
}

struct score_panel {
	const struct pe_tile_scores *tile;
	int64_t key;
	vec *max;
};

INLINE void score_panel(const struct score_panel *p, const int rows, const int vecs)
{
	score_rows(p->tile, p->key, rows, vecs, p->max);
}

static void tile_scores(const struct pe_tile_scores *t)
{
	int64_t key = 0;
	vec max[2] = {vec_all(-__builtin_inff()), vec_all(-__builtin_inff())};
	if (t->vecs == 2)
		for (; key + ROWS <= t->keys; key += ROWS)
			score_rows(t, key, ROWS, 2, max);
	for (; key < t->keys; key += ROWS) {
		struct score_panel panel = {t, key, max};
		int rows = (int)(t->keys - key < ROWS ? t->keys - key : ROWS);
		WITH_TILE(score_panel, &panel, rows, t->vecs);
	}
	for (int v = 0; v < t->vecs; v++)
		put(t->max + v * VEC_LANES, max[v]);
}

static void tile_max(const float *scores, int64_t keys, int vecs, float *max)
{
	for (int v = 0; v < vecs; v++) {
		vec greatest = vec_all(-__builtin_inff());
		for (int64_t j = 0; j < keys; j++)
			greatest = vec_max(at(scores + (j * vecs + v) * VEC_LANES), greatest);
		put(max + v * VEC_LANES, greatest);
	}
}

/* All keys of one vector of lanes; several sums, since one would wait for each addition. */
INLINE vec weigh(float *scores, int64_t keys, int64_t step, vec max)
{
	vec sum[4] = {vec_all(0.0f), vec_all(0.0f), vec_all(0.0f), vec_all(0.0f)};
	int64_t j = 0;
	for (; j + 4 <= keys; j += 4) {
		_Pragma("GCC unroll 4") for (int u = 0; u < 4; u++)
		{
			vec weight = vec_exp2(at(scores + (j + u) * step) - max);
			put(scores + (j + u) * step, weight);
			sum[u] += weight;
		}
	}
	for (; j < keys; j++) {
		vec weight = vec_exp2(at(scores + j * step) - max);
		put(scores + j * step, weight);
		sum[0] += weight;
	}
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* A maximum of -inf is taken as 0, so that -inf minus it stays -inf. */
INLINE vec finite_or_zero(vec max)
{
	return (vec)((vec_bits)max & ~(vec_bits)(max == vec_all(-__builtin_inff())));
}

static void tile_softmax(float *scores, int64_t keys, int vecs, const float *max, struct pe_tile_state *state)
{
	for (int v = 0; v < vecs; v++) {
		vec old = at(state->max + v * VEC_LANES), now = vec_max(at(max + v * VEC_LANES), old);
		vec base = finite_or_zero(now), rescale = vec_exp2(old - base);
		vec sum = weigh(scores + v * VEC_LANES, keys, vecs * VEC_LANES, base);
		put(state->max + v * VEC_LANES, now);
		put(state->rescale + v * VEC_LANES, rescale);
		put(state->sum + v * VEC_LANES, vec_fused(at(state->sum + v * VEC_LANES), rescale, sum));
	}
}

struct sum_panel {
	const struct pe_tile_sum *tile;
	int64_t column;
};

INLINE void sum_panel(const struct sum_panel *p, const int rows, const int vecs)
{
	const struct pe_tile_sum *t = p->tile;
	vec acc[ROWS][2], rescale[2];
	float *out = t->out + p->column * vecs * VEC_LANES;
	EACH(v) rescale[v] = t->rescale ? at(t->rescale + v * VEC_LANES) : vec_all(1.0f);
	EACH_ROW(r) EACH(v) acc[r][v] = rescale[v] * at(out + (r * vecs + v) * VEC_LANES);
	tile_multiply(
		acc, rows, vecs, t->keys, t->values + p->column, t->stride, 1, t->weights, vecs * VEC_LANES);
	EACH_ROW(r) EACH(v) put(out + (r * vecs + v) * VEC_LANES, acc[r][v]);
}

/* Panels of about equal height: a low one has too few sums to hide the time of an addition. */
static void tile_sum(const struct pe_tile_sum *t)
{
	int64_t panels = (t->width + ROWS - 1) / ROWS;
	struct sum_panel panel = {t, 0};
	for (; panels > 0; panels--) {
		int rows = (int)((t->width - panel.column + panels - 1) / panels);
		WITH_TILE(sum_panel, &panel, rows, t->vecs);
		panel.column += rows;
	}
}

struct apply_panel {
	const struct pe_tile_apply *tile;
	int64_t query, column;
	vec *odd;
};

/* x - x is 0 unless x is infinite or NaN. */
INLINE void apply_panel(const struct apply_panel *p, const int rows, const int vecs)
{
	const struct pe_tile_apply *t = p->tile;
	vec acc[ROWS][2];
	float *out = t->out + p->query * t->out_stride + p->column;
	EACH_ROW(r) EACH(v) acc[r][v] = vec_all(0.0f);
	tile_multiply(
		acc, rows, vecs, t->keys, t->weights + p->query, t->lanes, 1, t->values + p->column, t->stride);
	EACH_ROW(r) EACH(v)
	{
		vec x = vec_all(t->factor[p->query + r]) * acc[r][v];
		*(loose_vec *)(out + r * t->out_stride + v * VEC_LANES) = x;
		*p->odd += x - x;
	}
}

static bool tile_apply(const struct pe_tile_apply *t)
{
	vec odd = vec_all(0.0f);
	float rest = 0.0f;
	struct apply_panel panel = {t, 0, 0, &odd};
	for (int64_t panels = (t->queries + ROWS - 1) / ROWS; panels > 0; panels--) {
		int rows = (int)((t->queries - panel.query + panels - 1) / panels);
		for (panel.column = 0; panel.column < t->width; panel.column += 2 * VEC_LANES)
			WITH_TILE(apply_panel, &panel, rows, panel.column + VEC_LANES < t->width ? 2 : 1);
		panel.query += rows;
	}
	for (int i = 0; i < VEC_LANES; i++)
		rest += odd[i];
	return rest == 0.0f;
}

static void tile_finish(
	float *out, int64_t stride, const float *sums, int vecs, int64_t n, int64_t width, const float *factor)
{
	int64_t lanes = vecs * VEC_LANES;
	transpose_scaled(out, stride, sums, lanes, 1, width, n, 1.0f, factor);
}

/* The exponent is moved by a product, which makes subnormal halves normal; infinity and NaN are mended. */
static void tile_from_f16(float *out, const uint16_t *in, int64_t step, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		uint32_t half = in[i * step], bits = (half & 0x7fffu) << 13, infinite = 0u - (bits >= 0x7c00u << 13);
		float magnitude;
		memcpy(&magnitude, &bits, sizeof bits);
		magnitude *= 0x1p112f;
		memcpy(&bits, &magnitude, sizeof bits);
		bits |= (infinite & 0x7f800000u) | (half & 0x8000u) << 16;
		memcpy(out + i, &bits, sizeof bits);
	}
}

static void tile_from_bf16(float *out, const uint16_t *in, int64_t step, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		uint32_t bits = (uint32_t)in[i * step] << 16;
		memcpy(out + i, &bits, sizeof bits);
	}
}

static void fill_attention_tile(struct pe_kernels *kernels)
{
	kernels->tile_vec = VEC_LANES;
	kernels->tile_rows = ROWS;
	kernels->tile_queries = tile_queries;
	kernels->tile_pack_keys = tile_pack_keys;
	kernels->tile_pack_values = tile_pack_values;
	kernels->tile_round = tile_round;
	kernels->tile_most = tile_most;
	kernels->tile_scores = tile_scores;
	kernels->tile_adjust = tile_adjust;
	kernels->tile_gather = tile_gather;
	kernels->tile_slant = tile_slant;
	kernels->tile_shift = tile_shift;
	kernels->tile_copy = tile_copy;
	kernels->tile_mask = tile_mask;
	kernels->tile_hide = tile_hide;
	kernels->tile_max = tile_max;
	kernels->tile_softmax = tile_softmax;
	kernels->tile_sum = tile_sum;
	kernels->tile_apply = tile_apply;
	kernels->tile_finish = tile_finish;
	kernels->tile_from_f16 = tile_from_f16;
	kernels->tile_from_bf16 = tile_from_bf16;
}
