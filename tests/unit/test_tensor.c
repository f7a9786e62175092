/* SPDX-License-Identifier: BSD-2-Clause
 * Views and conversions. The 16-bit types are tested at every value, every midpoint between two
 * values, and the doubles next to each midpoint: that leaves no room for a second rounding. */
#include "xt.h"

#include <math.h>
#include <string.h>

#include "tensor.h"

static double value_of(uint32_t code, int mantissa, int bias)
{
	int exponent = (int)(code >> mantissa), fraction = (int)(code & ((1u << mantissa) - 1));
	if (exponent == 0)
		return ldexp(fraction, 1 - bias - mantissa);
	return ldexp(fraction + (1 << mantissa), exponent - bias - mantissa);
}

static void every_value(uint16_t (*narrow)(double), int mantissa, int bias)
{
	uint32_t infinity = (2u * (unsigned)bias + 1) << mantissa;
	for (uint32_t code = 0; code < infinity; code++) {
		double value = value_of(code, mantissa, bias);
		/* Beyond the largest value, what would come next counts for rounding. */
		double next = value_of(code + 1, mantissa, bias), middle = value / 2 + next / 2;
		uint32_t even = code & 1 ? code + 1 : code;
		assert_int_equal(narrow(value), code);
		assert_int_equal(narrow(-value), 0x8000 | code);
		assert_int_equal(narrow(middle), even);
		assert_int_equal(narrow(-middle), 0x8000 | even);
		assert_int_equal(narrow(nextafter(middle, 0)), code);
		assert_int_equal(narrow(nextafter(middle, INFINITY)), code + 1);
	}
	assert_int_equal(narrow(INFINITY), infinity);
	assert_int_equal(narrow(-INFINITY), 0x8000 | infinity);
	assert_int_equal(narrow(1e300), infinity);
	assert_int_equal(narrow(1e-300), 0);
	assert_int_equal(narrow(-5e-324), 0x8000);
	assert_true((narrow(NAN) & 0x7fff) > infinity);
	uint64_t bits = 0x7ff0000000000001; /* a NaN whose upper mantissa bits are all 0 */
	double nan;
	memcpy(&nan, &bits, sizeof nan);
	assert_true((narrow(nan) & 0x7fff) > infinity);
}

static void test_f16(void **state)
{
	(void)state;
	every_value(pe_f64_to_f16, 10, 15);
	for (uint32_t code = 0; code < 0x7c00; code++) {
		assert_true((double)pe_f16_to_f32((uint16_t)code) == value_of(code, 10, 15));
		assert_true((double)pe_f16_to_f32((uint16_t)(0x8000 | code)) == -value_of(code, 10, 15));
	}
	assert_true(signbit(pe_f16_to_f32(0x8000)));
	assert_true(isinf(pe_f16_to_f32(0x7c00)) && pe_f16_to_f32(0xfc00) < 0);
	assert_true(isnan(pe_f16_to_f32(0x7e00)) && isnan(pe_f16_to_f32(0x7c01)));
}

static void test_bf16(void **state)
{
	(void)state;
	every_value(pe_f64_to_bf16, 7, 127);
}

static void test_store_and_load(void **state)
{
	(void)state;
	enum { N = 37 };
	double src[2 * N], back[N];
	for (int i = 0; i < 2 * N; i++)
		src[i] = (i - 20) * 0.37;
	static const pe_dtype types[] = {PE_F64, PE_F32, PE_F16, PE_BF16};
	static const double epsilon[] = {0, 0x1p-24, 0x1p-11, 0x1p-8};
	for (int t = 0; t < 4; t++)
		for (int step = 1; step <= 3; step++)
			for (int stride = 1; stride <= 2; stride++) {
				_Alignas(8) char out[3 * N * 8];
				memset(out, 0x55, sizeof out);
				pe_store_f64(out, types[t], step, src, stride, N);
				pe_load_f64(back, out, types[t], step, N);
				for (int i = 0; i < N; i++)
					xt_close_f64(back[i], src[i * stride], epsilon[t], 0);
				size_t end = ((size_t)(N - 1) * (size_t)step + 1) * pe_dtype_size(types[t]);
				for (size_t i = end; i < sizeof out; i++)
					assert_int_equal(out[i], 0x55);
			}
}

static void test_integers(void **state)
{
	(void)state;
	int64_t src[4] = {0, 1, 200, 7}, back[4];
	double real[4];
	static const pe_dtype types[] = {PE_I64, PE_I32, PE_U8};
	for (int t = 0; t < 3; t++) {
		_Alignas(8) char out[64];
		pe_store_i64(out, types[t], 2, src, 4);
		pe_load_i64(back, out, types[t], 2, 4);
		assert_memory_equal(back, src, sizeof src);
		pe_load_f64(real, out, types[t], 2, 4);
		for (int i = 0; i < 4; i++)
			assert_true(real[i] == (double)src[i]);
	}
	uint8_t flags[4];
	pe_store_i64(flags, PE_BOOL, 1, src, 4);
	assert_memory_equal(flags, ((uint8_t[]){0, 1, 1, 1}), 4);
	int64_t wide[2] = {INT64_MIN, INT64_MAX};
	pe_load_i64(back, wide, PE_I64, 1, 2);
	assert_memory_equal(back, wide, sizeof wide);
	int32_t low = INT32_MIN;
	pe_load_i64(back, &low, PE_I32, 1, 1);
	assert_int_equal(back[0], INT32_MIN);
}

static void test_counts(void **state)
{
	(void)state;
	float data[24];
	pe_tensor t = pe_tensor_dense(data, PE_F32, 3, (int64_t[]){2, 3, 4});
	assert_int_equal(pe_tensor_count(&t), 24);
	assert_int_equal(pe_tensor_bytes(&t), 96);
	assert_int_equal(t.strides[0], 12);
	assert_int_equal(t.strides[2], 1);
	assert_true(pe_tensor_is_dense(&t));
	assert_ptr_equal(pe_tensor_row(&t, 1), data + 12);
	t.strides[0] = 13;
	assert_false(pe_tensor_is_dense(&t));
	t.shape[0] = 1; /* the stride of a dimension of one is never taken */
	assert_true(pe_tensor_is_dense(&t));
	t = pe_tensor_dense(data, PE_F32, 0, NULL);
	assert_int_equal(pe_tensor_count(&t), 1);
	t = pe_tensor_dense(data, PE_F32, 2, (int64_t[]){INT64_MAX, 2});
	assert_int_equal(pe_tensor_count(&t), -1);
	t = pe_tensor_dense(data, PE_F32, 3, (int64_t[]){INT64_MAX, 2, 0});
	assert_int_equal(pe_tensor_count(&t), 0);
	t = pe_tensor_dense(data, PE_F32, 1, (int64_t[]){INT64_MAX / 2});
	assert_int_equal(pe_tensor_count(&t), INT64_MAX / 2);
	assert_int_equal(pe_tensor_bytes(&t), -1);
	t.shape[0] = -1;
	assert_int_equal(pe_tensor_count(&t), -1);
	t.ndim = PE_MAX_DIMS + 1;
	assert_int_equal(pe_tensor_count(&t), -1);
	assert_int_equal(pe_dtype_size((pe_dtype)99), 0);
	assert_string_equal(pe_dtype_name((pe_dtype)99), "?");
	assert_string_equal(pe_dtype_name(PE_BF16), "bf16");
}

static void test_extent(void **state)
{
	(void)state;
	double data[12];
	const char *first, *last;
	pe_tensor t = {.data = data + 3, .dtype = PE_F64, .ndim = 2, .shape = {2, 4}, .strides = {5, -1}};
	pe_tensor_extent(&t, &first, &last);
	assert_ptr_equal(first, data);
	assert_ptr_equal(last, data + 9);
	t.shape[0] = 0;
	pe_tensor_extent(&t, &first, &last);
	assert_ptr_equal(first, last);
}

static void refuse(pe_context *ctx, pe_tensor t, pe_status status, const char *text)
{
	xt_fails(ctx, pe_tensor_check_output(ctx, &t, "pe", PE_F64, 2, (int64_t[]){2, 3}), status, text);
}

static void test_outputs(void **state)
{
	pe_context *ctx = *state;
	double data[64];
	pe_tensor t = pe_tensor_dense(data, PE_F64, 2, (int64_t[]){2, 3});
	assert_int_equal(pe_tensor_check_output(ctx, &t, "pe", PE_F64, 2, t.shape), PE_OK);
	t.strides[0] = 1, t.strides[1] = 2; /* the transposed order */
	assert_int_equal(pe_tensor_check_output(ctx, &t, "pe", PE_F64, 2, t.shape), PE_OK);
	t.strides[0] = 2;
	refuse(ctx, t, PE_ERR_SHAPE, "overlap");
	t.strides[0] = 0;
	refuse(ctx, t, PE_ERR_SHAPE, "overlap");
	t.strides[0] = -3;
	refuse(ctx, t, PE_ERR_SHAPE, "overlap");
	t.strides[0] = INT64_MAX;
	refuse(ctx, t, PE_ERR_SHAPE, "overlap");
	t = pe_tensor_dense(data, PE_F64, 2, (int64_t[]){3, 2});
	refuse(ctx, t, PE_ERR_SHAPE, "pe has shape (2, 3), not (3, 2)");
	t = pe_tensor_dense(data, PE_I64, 2, (int64_t[]){2, 3});
	refuse(ctx, t, PE_ERR_SHAPE, "cannot be stored as i64");
	t = pe_tensor_dense(NULL, PE_F16, 2, (int64_t[]){2, 3});
	refuse(ctx, t, PE_ERR_ARGUMENT, "no memory");
	t = pe_tensor_dense((char *)data + 1, PE_F16, 2, (int64_t[]){2, 3});
	refuse(ctx, t, PE_ERR_ARGUMENT, "aligned");
	t = pe_tensor_dense(data, PE_F32, 2, (int64_t[]){2, 3});
	xt_fails(ctx, pe_tensor_check_output(ctx, &t, "groups", PE_I32, 2, t.shape), PE_ERR_SHAPE, "groups");
	t.dtype = PE_U8;
	xt_fails(ctx, pe_tensor_check_output(ctx, &t, "groups", PE_I32, 2, t.shape), PE_ERR_SHAPE, "u8");
	t.dtype = PE_I64;
	assert_int_equal(pe_tensor_check_output(ctx, &t, "groups", PE_I32, 2, t.shape), PE_OK);
	t = pe_tensor_dense(NULL, PE_F64, 2, (int64_t[]){0, 3});
	assert_int_equal(pe_tensor_check_output(ctx, &t, "pe", PE_F64, 2, t.shape), PE_OK);
}

static void refuse_input(pe_context *ctx, pe_tensor t, pe_status status, const char *text)
{
	xt_fails(ctx, pe_tensor_check_input(ctx, &t, "x"), status, text);
}

static void test_inputs(void **state)
{
	pe_context *ctx = *state;
	double data[64];
	pe_tensor t = pe_tensor_dense(data, PE_F64, 2, (int64_t[]){2, 3});
	assert_int_equal(pe_tensor_check_input(ctx, &t, "x"), PE_OK);
	t.strides[0] = 0, t.strides[1] = -1;
	assert_int_equal(pe_tensor_check_input(ctx, &t, "x"), PE_OK);
	t.strides[0] = INT64_MIN;
	refuse_input(ctx, t, PE_ERR_SHAPE, "strides");
	t.strides[0] = INT64_MAX / 8;
	refuse_input(ctx, t, PE_ERR_SHAPE, "strides");
	t = pe_tensor_dense(NULL, PE_F64, 1, (int64_t[]){2});
	refuse_input(ctx, t, PE_ERR_ARGUMENT, "no memory");
	t = pe_tensor_dense((char *)data + 2, PE_F32, 1, (int64_t[]){2});
	refuse_input(ctx, t, PE_ERR_ARGUMENT, "aligned");
	t = pe_tensor_dense(data, PE_F32, 2, (int64_t[]){2, -1});
	refuse_input(ctx, t, PE_ERR_SHAPE, "not possible");
	t = pe_tensor_dense(data, (pe_dtype)99, 1, (int64_t[]){2});
	refuse_input(ctx, t, PE_ERR_SHAPE, "no type 99");
	t = pe_tensor_dense(NULL, PE_F64, 2, (int64_t[]){0, 3});
	assert_int_equal(pe_tensor_check_input(ctx, &t, "x"), PE_OK);
}

/* What has no memory is refused wherever it comes in. */
static void test_doors(void **state)
{
	pe_context *ctx = *state;
	pe_domain *domain;
	pe_graph *graph;
	pe_tensor none = pe_tensor_dense(NULL, PE_F64, 1, (int64_t[]){4});
	xt_fails(ctx, pe_domain_positions(ctx, &none, 0, &domain), PE_ERR_ARGUMENT, "positions");
	none = pe_tensor_dense(NULL, PE_I64, 2, (int64_t[]){2, 4});
	xt_fails(
		ctx, pe_graph_from_arrays(ctx, &none, NULL, NULL, 4, NULL, &graph), PE_ERR_ARGUMENT, "edge_index");
	none = pe_tensor_dense(NULL, PE_F64, 2, (int64_t[]){4, 64});
	pe_encoding *e;
	assert_int_equal(pe_domain_sequence(ctx, 4, 0, &domain), PE_OK);
	assert_int_equal(pe_encoding_create(ctx, pe_encoder_find("sinusoidal"), NULL, domain, NULL, &e), PE_OK);
	double y[4 * 64];
	pe_tensor out = pe_tensor_dense(y, PE_F64, 2, none.shape);
	xt_fails(ctx, pe_encoding_apply(e, &none, &out), PE_ERR_ARGUMENT, "features");
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

static void a_shape_that_overflows_is_not_dense(void **state)
{
	(void)state;
	char byte;
	pe_tensor t = pe_tensor_dense(&byte, PE_U8, 3, (int64_t[]){2, INT64_MAX, 3});
	assert_false(pe_tensor_is_dense(&t));
	t = pe_tensor_dense(&byte, PE_U8, 2, (int64_t[]){-1, 3});
	assert_false(pe_tensor_is_dense(&t));
	t = pe_tensor_dense(&byte, PE_U8, 3, (int64_t[]){2, INT64_MAX, 0});
	assert_true(pe_tensor_is_dense(&t));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_f16),
		cmocka_unit_test(test_bf16),
		cmocka_unit_test(test_store_and_load),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_extent),
		cmocka_unit_test(test_outputs),
		cmocka_unit_test(test_inputs),
		cmocka_unit_test(test_doors),
		cmocka_unit_test(a_shape_that_overflows_is_not_dense),
	};
	return xt_run(argc, argv, tests);
}
