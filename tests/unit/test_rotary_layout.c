/* SPDX-License-Identifier: BSD-2-Clause
 * Query and key projections from one rotary layout to the other. */
#include "xt.h"

#include "xt_scores.h"

#include <math.h>
#include <string.h>

enum { HEADS = 3, DIM = 8, INPUTS = 5, ROWS = HEADS * DIM };

static pe_tensor weights_of(float *data)
{
	return pe_tensor_dense(data, PE_F32, 2, (int64_t[]){ROWS, INPUTS});
}

static void fill(float *data, int n, float start)
{
	for (int i = 0; i < n; i++)
		data[i] = sinf(start + (float)i);
}

static void convert(pe_context *ctx, pe_rotary_layout from, int64_t rotary, const pe_tensor *x, pe_tensor *y)
{
	pe_rotary_layout to = from == PE_ROTARY_HALVES ? PE_ROTARY_INTERLEAVED : PE_ROTARY_HALVES;
	assert_int_equal(pe_rotary_convert(ctx, from, to, DIM, rotary, x, y), PE_OK);
}

static void orders_the_rows_of_each_head(void **state)
{
	static const uint8_t interleaved[] = {0, 10, 1, 11, 2, 12, 3, 13, 50, 60, 51, 61, 52, 62, 53, 63};
	static const uint8_t halves[] = {0, 1, 2, 3, 10, 11, 12, 13, 50, 51, 52, 53, 60, 61, 62, 63};
	static const uint8_t partial[] = {0, 1, 10, 11, 2, 12, 3, 13, 50, 51, 60, 61, 52, 62, 53, 63};
	uint8_t in[16], out[16];
	pe_tensor x = pe_tensor_dense(in, PE_U8, 1, (int64_t[]){16}), y = x;
	y.data = out;
	memcpy(in, interleaved, 16);
	convert(*state, PE_ROTARY_INTERLEAVED, 0, &x, &y);
	assert_memory_equal(out, halves, 16);
	convert(*state, PE_ROTARY_INTERLEAVED, 4, &x, &y);
	assert_memory_equal(out, partial, 16);
	memcpy(in, halves, 16);
	convert(*state, PE_ROTARY_HALVES, 8, &x, &y);
	assert_memory_equal(out, interleaved, 16);
	assert_int_equal(pe_rotary_convert(*state, PE_ROTARY_HALVES, PE_ROTARY_HALVES, DIM, 0, &x, &y), PE_OK);
	assert_memory_equal(out, halves, 16);
}

/* There and back, for elements of every size, odd bit patterns too, whole and partial. */
static void comes_back_bit_for_bit(void **state)
{
	static const pe_dtype types[] = {PE_F64, PE_F32, PE_F16, PE_BF16, PE_I64, PE_U8};
	static unsigned char in[ROWS * INPUTS * 8], there[sizeof in], back[sizeof in];
	for (size_t i = 0; i < sizeof in; i++)
		in[i] = (unsigned char)(i * 37 + i / 251);
	for (size_t k = 0; k < 2 * sizeof types / sizeof *types; k++)
		for (int from = PE_ROTARY_HALVES; from <= PE_ROTARY_INTERLEAVED; from++) {
			pe_tensor x = weights_of(NULL), y, z;
			x.dtype = types[k / 2];
			y = z = x;
			x.data = in;
			y.data = there;
			z.data = back;
			size_t size = (size_t)pe_tensor_bytes(&x);
			convert(*state, (pe_rotary_layout)from, k % 2 ? 6 : 0, &x, &y);
			assert_memory_not_equal(in, there, size);
			convert(*state, (pe_rotary_layout)(1 - from), k % 2 ? 6 : 0, &y, &z);
			assert_memory_equal(in, back, size);
		}
}

/* In place; the columns of a transposed weight; elements two apart: all the same rows. */
static void takes_any_view(void **state)
{
	float in[ROWS * INPUTS], want[ROWS * INPUTS], turned[ROWS * INPUTS], apart[2 * ROWS * INPUTS];
	fill(in, ROWS * INPUTS, 0);
	pe_tensor x = weights_of(in), y = weights_of(want);
	convert(*state, PE_ROTARY_INTERLEAVED, 6, &x, &y);
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < INPUTS; c++)
			turned[c * ROWS + r] = in[r * INPUTS + c];
	pe_tensor t = weights_of(turned), a = weights_of(apart);
	t.strides[0] = 1;
	t.strides[1] = ROWS;
	a.strides[0] *= 2;
	a.strides[1] *= 2;
	memset(apart, 0, sizeof apart);
	convert(*state, PE_ROTARY_INTERLEAVED, 6, &t, &a);
	convert(*state, PE_ROTARY_INTERLEAVED, 6, &t, &t);
	convert(*state, PE_ROTARY_INTERLEAVED, 6, &x, &x);
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < INPUTS; c++) {
			float w = want[r * INPUTS + c];
			xt_close_f64(turned[c * ROWS + r], w, 0, 0);
			xt_close_f64(in[r * INPUTS + c], w, 0, 0);
			xt_close_f64(apart[2 * (r * INPUTS + c)], w, 0, 0);
			xt_close_f64(apart[2 * (r * INPUTS + c) + 1], 0, 0, 0);
		}
}

static void apply(const float *weight, const float *bias, const float *input, double *out)
{
	for (int r = 0; r < ROWS; r++) {
		out[r] = bias[r];
		for (int c = 0; c < INPUTS; c++)
			out[r] += (double)weight[r * INPUTS + c] * input[c];
	}
}

/* Rotates every head at a position by the definition. */
static void rotate(double *x, double position, int rotary, pe_rotary_layout layout)
{
	for (int h = 0; h < HEADS; h++)
		for (int t = 0; t < rotary / 2; t++) {
			double *a = x + h * DIM + (layout == PE_ROTARY_HALVES ? t : 2 * t);
			double *b = layout == PE_ROTARY_HALVES ? a + rotary / 2 : a + 1;
			double angle = position * pow(10000, -2.0 * t / rotary), u = *a, v = *b;
			*a = u * cos(angle) - v * sin(angle);
			*b = u * sin(angle) + v * cos(angle);
		}
}

/* What the model is: projections, rotated. Converted projections under the other layout give the same
 * channels in the other order, and so the same scores. */
static void gives_the_same_scores_under_the_other_layout(void **state)
{
	float weight[2][ROWS * INPUTS], bias[2][ROWS], input[2][INPUTS];
	double before[2][ROWS], after[2][ROWS];
	for (int rotary = 4; rotary <= DIM; rotary += 2)
		for (int from = 0; from < 2; from++) {
			for (int s = 0; s < 2; s++) {
				fill(weight[s], ROWS * INPUTS, (float)s);
				fill(bias[s], ROWS, 2 + (float)s);
				fill(input[s], INPUTS, 4 + (float)s);
				apply(weight[s], bias[s], input[s], before[s]);
				rotate(before[s], 3 + 5 * s, rotary, (pe_rotary_layout)from);
				pe_tensor w = weights_of(weight[s]),
						  b = pe_tensor_dense(bias[s], PE_F32, 1, (int64_t[]){ROWS});
				convert(*state, (pe_rotary_layout)from, rotary, &w, &w);
				convert(*state, (pe_rotary_layout)from, rotary, &b, &b);
				apply(weight[s], bias[s], input[s], after[s]);
				rotate(after[s], 3 + 5 * s, rotary, (pe_rotary_layout)(1 - from));
			}
			for (int h = 0; h < HEADS; h++) {
				double x = 0, y = 0;
				for (int i = h * DIM; i < (h + 1) * DIM; i++) {
					x += before[0][i] * before[1][i];
					y += after[0][i] * after[1][i];
				}
				xt_close_f64(y, x, 1e-14, 1e-14);
			}
			pe_tensor all = pe_tensor_dense(before[0], PE_F64, 1, (int64_t[]){ROWS});
			convert(*state, (pe_rotary_layout)from, rotary, &all, &all);
			for (int i = 0; i < ROWS; i++)
				xt_close_f64(after[0][i], before[0][i], 0, 1e-15);
		}
}

/* The same of the encoder rope: vectors in the other order, turned in the other layout, are the turned
 * vectors in the other order. */
static void agrees_with_rope(void **state)
{
	enum { TOKENS = 4, N = HEADS * TOKENS * DIM };
	static const char *const settings[] = {
		"head_dim=8,rotary_dim=6,layout=halves", "head_dim=8,rotary_dim=6,layout=interleaved"};
	double in[N], moved[N], out[2][N];
	pe_domain *domain;
	for (int i = 0; i < N; i++)
		in[i] = moved[i] = sin(i);
	pe_tensor columns = pe_tensor_dense(moved, PE_F64, 2, (int64_t[]){DIM, HEADS * TOKENS});
	columns.strides[0] = 1;
	columns.strides[1] = DIM;
	convert(*state, PE_ROTARY_HALVES, 6, &columns, &columns);
	assert_int_equal(pe_domain_sequence(*state, TOKENS, 17, &domain), PE_OK);
	for (int layout = 0; layout < 2; layout++) {
		pe_encoding *e = xt_encode(*state, "rope", settings[layout], domain, NULL, NULL, NULL);
		int64_t shape[] = {1, HEADS, TOKENS, DIM};
		pe_tensor x = pe_tensor_dense(layout ? moved : in, PE_F64, 4, shape);
		pe_tensor y = pe_tensor_dense(out[layout], PE_F64, 4, shape);
		assert_int_equal(pe_encoding_rotate(e, PE_KEYS, &x, &y), PE_OK);
		pe_encoding_destroy(&e);
	}
	columns.data = out[0];
	convert(*state, PE_ROTARY_HALVES, 6, &columns, &columns);
	for (int i = 0; i < N; i++)
		xt_close_f64(out[1][i], out[0][i], 1e-14, 1e-15);
	assert_true(fabs(out[0][DIM * TOKENS - DIM] - in[DIM * TOKENS - DIM]) > 1e-3);
	pe_domain_destroy(&domain);
}

static void refuses_what_does_not_fit(void **state)
{
	pe_context *ctx = *state;
	float data[2 * ROWS * INPUTS] = {0};
	pe_tensor x = weights_of(data), y = weights_of(data + ROWS * INPUTS);
	const pe_rotary_layout h = PE_ROTARY_HALVES, i = PE_ROTARY_INTERLEAVED;
	xt_fails(ctx, pe_rotary_convert(ctx, h, i, 7, 0, &x, &y), PE_ERR_RANGE,
		"7 rotated channels do not make pairs");
	xt_fails(ctx, pe_rotary_convert(ctx, h, i, 10, 0, &x, &y), PE_ERR_SHAPE, "24 rows are not heads of 10");
	xt_fails(ctx, pe_rotary_convert(ctx, h, i, DIM, 10, &x, &y), PE_ERR_RANGE, "head of 8 channels, 10");
	xt_fails(ctx, pe_rotary_convert(ctx, h, i, DIM, 3, &x, &y), PE_ERR_RANGE, "3 rotated");
	xt_fails(ctx, pe_rotary_convert(ctx, h, i, 0, 0, &x, &y), PE_ERR_RANGE, "head of 0");
	xt_fails(ctx, pe_rotary_convert(ctx, (pe_rotary_layout)2, i, DIM, 0, &x, &y), PE_ERR_ARGUMENT, "layout");
	y.data = data + INPUTS;
	xt_fails(ctx, pe_rotary_convert(ctx, h, i, DIM, 0, &x, &y), PE_ERR_ARGUMENT, "overlap");
	y.data = data + ROWS * INPUTS;
	y.shape[1]--;
	xt_fails(ctx, pe_rotary_convert(ctx, h, i, DIM, 0, &x, &y), PE_ERR_SHAPE, "the output has shape");
	y.shape[1]++;
	y.dtype = PE_F16;
	xt_fails(ctx, pe_rotary_convert(ctx, h, i, DIM, 0, &x, &y), PE_ERR_SHAPE, "same type");
	x.ndim = y.ndim = 0;
	y.dtype = PE_F32;
	xt_fails(ctx, pe_rotary_convert(ctx, h, i, DIM, 0, &x, &y), PE_ERR_SHAPE, "1 rows");
	x = y = pe_tensor_dense(NULL, PE_F32, 2, (int64_t[]){0, INPUTS});
	assert_int_equal(pe_rotary_convert(ctx, h, i, DIM, 0, &x, &y), PE_OK);
	x = weights_of(data);
	xt_fail_allocation(0, true);
	assert_int_equal(pe_rotary_convert(ctx, h, i, DIM, 0, &x, &x), PE_ERR_NOMEM);
	xt_fail_allocation(-1, false);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_the_rows_of_each_head),
		cmocka_unit_test(comes_back_bit_for_bit),
		cmocka_unit_test(takes_any_view),
		cmocka_unit_test(gives_the_same_scores_under_the_other_layout),
		cmocka_unit_test(agrees_with_rope),
		cmocka_unit_test(refuses_what_does_not_fit),
	};
	return xt_run(argc, argv, tests);
}
