/* SPDX-License-Identifier: BSD-2-Clause
 * .npy as numpy writes it, as others have written it, and as it must not be. */
#include "xt.h"

#include <stdio.h>
#include <string.h>

#include "bundles.h"
#include "io/npy.h"

static void test_types(void **state)
{
	static const struct {
		const char *name;
		char kind;
		pe_dtype dtype;
	} types[] = {{"f8", 'f', PE_F64}, {"f4", 'f', PE_F32}, {"f2", 'f', PE_F16}, {"i8", 'i', PE_I64},
		{"i4", 'i', PE_I32}, {"i2", 'i', PE_I32}, {"i1", 'i', PE_I32}, {"u8", 'u', PE_I64},
		{"u4", 'u', PE_I64}, {"u2", 'u', PE_I32}, {"u1", 'u', PE_U8}, {"b1", 'b', PE_BOOL}};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		for (int big = 0; big < 2; big++) {
			char file[64];
			snprintf(file, sizeof file, "%s_%s.npy", big ? "big" : "little", types[i].name);
			pe_bundle *b = xt_golden(*state, file);
			assert_int_equal(pe_bundle_count(b), 1);
			xt_golden_array(b, "array", types[i].kind, types[i].dtype, 2, (int64_t[]){3, 5});
			assert_int_equal(pe_bundle_is_widened(b, 0), strstr("i2 i1 u8 u4 u2", types[i].name) != NULL);
			pe_bundle_destroy(&b);
		}
}

static void test_layouts(void **state)
{
	static const struct {
		const char *file;
		char kind;
		pe_dtype dtype;
		int32_t ndim;
		int64_t shape[6];
	} files[] = {{"version2.npy", 'f', PE_F64, 1, {7}}, {"version3.npy", 'f', PE_F32, 3, {2, 3, 4}},
		{"fortran.npy", 'f', PE_F64, 2, {3, 5}}, {"fortran_big_i2.npy", 'i', PE_I32, 3, {2, 3, 4}},
		{"scalar.npy", 'f', PE_F64, 0, {0}}, {"empty.npy", 'f', PE_F32, 2, {0, 5}},
		{"six.npy", 'i', PE_I32, 6, {1, 2, 1, 3, 1, 2}}, {"long_shape.npy", 'f', PE_F64, 2, {2, 3}},
		{"other_order.npy", 'f', PE_F64, 2, {2, 3}}};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		pe_bundle *b = xt_golden(*state, files[i].file);
		xt_golden_array(b, "array", files[i].kind, files[i].dtype, files[i].ndim, files[i].shape);
		pe_bundle_destroy(&b);
	}
}

static void has_text(pe_context *ctx, const char *file, int32_t ndim, const int64_t *shape, const char *bytes)
{
	pe_tensor t;
	pe_bundle *b = xt_golden(ctx, file);
	assert_true(pe_bundle_find(b, "array", &t));
	assert_int_equal(t.dtype, PE_U8);
	assert_true(pe_bundle_is_widened(b, 0) && !pe_bundle_is_widened(b, 1));
	assert_int_equal(t.ndim, ndim);
	for (int32_t d = 0; d < ndim; d++)
		assert_int_equal(t.shape[d], shape[d]);
	for (int64_t i = 0; i < pe_tensor_count(&t); i++) {
		int64_t offset = 0, rest = i;
		for (int32_t d = ndim - 1; d >= 0; d--) {
			offset += rest % t.shape[d] * t.strides[d];
			rest /= t.shape[d];
		}
		assert_int_equal(((char *)t.data)[offset], bytes[i]);
	}
	pe_bundle_destroy(&b);
}

static void test_strings(void **state)
{
	has_text(*state, "bytes0.npy", 1, (int64_t[]){3}, "csr");
	has_text(*state, "bytes2.npy", 3, (int64_t[]){2, 2, 4}, "ab\0\0c\0\0\0\0\0\0\0defg");
	has_text(*state, "unicode.npy", 2, (int64_t[]){2, 3}, "ab\0cde");
	has_text(*state, "fortran_bytes.npy", 3, (int64_t[]){2, 2, 2}, "abc\0\0\0de");
}

static void test_refused_types(void **state)
{
	pe_context *ctx = *state;
	xt_golden_refused(ctx, "no_objects.npy", PE_ERR_UNSUPPORTED, "holds Python objects");
	xt_golden_refused(ctx, "no_complex.npy", PE_ERR_UNSUPPORTED, "holds complex numbers");
	xt_golden_refused(ctx, "no_date.npy", PE_ERR_UNSUPPORTED, "holds dates");
	xt_golden_refused(ctx, "no_fields.npy", PE_ERR_UNSUPPORTED, "several fields");
	xt_golden_refused(ctx, "no_long_double.npy", PE_ERR_UNSUPPORTED, "elements of 16 bytes");
	xt_golden_refused(ctx, "no_seven.npy", PE_ERR_UNSUPPORTED, "more than 6 dimensions");
	xt_golden_refused(ctx, "no_u8_large.npy", PE_ERR_UNSUPPORTED, "above 2^63 - 1");
	xt_golden_refused(ctx, "no_unicode.npy", PE_ERR_UNSUPPORTED, "not ASCII");
}

/* A .npy file of version 1 with this header and data. */
static pe_status read(pe_context *ctx, const char *header, size_t data, pe_bundle **out)
{
	char bytes[512] = "\x93NUMPY\x01";
	size_t length = strlen(header);
	bytes[8] = (char)length;
	memcpy(bytes + 10, header, length);
	*out = NULL;
	return pe_bundle_from_bytes(ctx, bytes, 10 + length + data, "x.npy", NULL, out);
}

static void test_malformed_headers(void **state)
{
	static const char *const headers[] = {"", "{", "{}", "[]", "{'descr': '<f8', 'fortran_order': False}",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1,)",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1)}",
		"{'descr': '<f8', 'fortran_order': False, 'shape': 1}",
		"{'descr': '<f8', 'fortran_order': False, 'shape': [1]}",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1.0,)}",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1,,)}",
		"{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}",
		"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x",
		"{'descr': '<f8, 'fortran_order': False, 'shape': (1,)}",
		"{'descr': '<f8888888888888888888', 'fortran_order': False, 'shape': (1,)}",
		"{'descr': <f8, 'fortran_order': False, 'shape': (1,)}"};
	pe_bundle *b;
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
		xt_fails(*state, read(*state, headers[i], 8, &b), PE_ERR_FORMAT, "malformed");
		assert_null(b);
	}
	xt_fails(*state,
		read(*state, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1)}", 8, &b),
		PE_ERR_UNSUPPORTED, "more than 6 dimensions");
	static const char *const types[] = {"<f3", "<i0", "<f", "f8x", "?", "<", "", "<S-1", "|S9999999999"};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		char header[128];
		snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (1,)}", types[i]);
		xt_fails(*state, read(*state, header, 8, &b), PE_ERR_UNSUPPORTED, "x.npy");
	}
}

static void test_sizes(void **state)
{
	pe_bundle *b;
	const char *one = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}";
	assert_int_equal(read(*state, one, 8, &b), PE_OK);
	pe_bundle_destroy(&b);
	xt_fails(*state, read(*state, one, 7, &b), PE_ERR_FORMAT, "has 7 bytes of data; its shape asks for 8");
	xt_fails(*state, read(*state, one, 9, &b), PE_ERR_FORMAT, "has 9 bytes");
	const char *huge = "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4)}";
	xt_fails(*state, read(*state, huge, 8, &b), PE_ERR_UNSUPPORTED, "too many");
	const char *hidden = "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4, 0)}";
	xt_fails(*state, read(*state, hidden, 0, &b), PE_ERR_UNSUPPORTED, "too many");
	xt_fails(*state, pe_bundle_from_bytes(*state, "\x93NUMPY\x01\x00\xff\x00{", 11, NULL, NULL, &b),
		PE_ERR_FORMAT, "cut short");
	xt_fails(*state, pe_bundle_from_bytes(*state, "\x93NUMPY\x09\x00\xff\x00{", 11, NULL, NULL, &b),
		PE_ERR_UNSUPPORTED, "version 9.0");
	xt_fails(*state, pe_bundle_from_bytes(*state, "\x93NUMPY\x02\x00", 8, NULL, NULL, &b), PE_ERR_FORMAT,
		"cut short");
	xt_fails(
		*state, pe_bundle_from_bytes(*state, "hello", 5, "x.npy", NULL, &b), PE_ERR_FORMAT, "not .npy data");
}

/* Bytes of a header that numpy.save wrote for a (3, 5) array of '<f8', and one of our own. */
static void test_header(void **state)
{
	char header[PE_NPY_HEADER];
	size_t size;
	(void)state;
	char *numpy = xt_read_file(xt_source("tests/golden/arrays/little_f8.npy"), &size);
	assert_int_equal(pe_npy_header(header, PE_F64, 2, (int64_t[]){3, 5}), 128);
	assert_memory_equal(header, numpy, 128);
	free(numpy);
	numpy = xt_read_file(xt_source("tests/golden/arrays/little_b1.npy"), &size);
	assert_int_equal(pe_npy_header(header, PE_BOOL, 2, (int64_t[]){3, 5}), 128);
	assert_memory_equal(header, numpy, 128);
	free(numpy);
	int64_t large[6];
	for (int i = 0; i < 6; i++)
		large[i] = INT64_MAX;
	assert_int_equal(pe_npy_header(header, PE_F64, 6, large), 192);
	assert_int_equal(header[191], '\n');
}

static void test_written_files(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *all = xt_bundle(ctx);
	xt_add_bf16(all);
	for (int64_t i = 0; i < pe_bundle_count(all); i++) {
		pe_bundle *b, *back;
		pe_tensor t, got;
		assert_int_equal(pe_bundle_at(all, i, NULL, &t), PE_OK);
		assert_int_equal(pe_bundle_create(ctx, &b), PE_OK);
		assert_int_equal(pe_bundle_add(b, "array", &t), PE_OK);
		pe_status status = pe_bundle_write(b, xt_path("one.npy"), NULL);
		if (t.dtype == PE_BF16) {
			xt_fails(ctx, status, PE_ERR_UNSUPPORTED, "array is bf16");
		} else {
			assert_int_equal(status, PE_OK);
			assert_int_equal(pe_bundle_from_file(ctx, xt_path("one.npy"), NULL, &back), PE_OK);
			xt_same_bundles(b, back);
			assert_true(pe_bundle_find(back, "array", &got));
			assert_int_equal((uintptr_t)got.data % 64, 0);
			pe_bundle_destroy(&back);
		}
		pe_bundle_destroy(&b);
	}
	xt_fails(ctx, pe_bundle_write(all, xt_path("all.npy"), NULL), PE_ERR_ARGUMENT, "holds one array, not 10");
	pe_bundle_destroy(&all);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_refused_types),
		cmocka_unit_test(test_malformed_headers),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_written_files),
	};
	return xt_run(argc, argv, tests);
}
