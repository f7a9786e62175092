/* SPDX-License-Identifier: BSD-2-Clause
 * safetensors: files of the reference implementation, of another author, damaged ones, and our own. */
#include "xt.h"

#include <stdio.h>
#include <string.h>

#include "bundles.h"

static void test_reference(void **state)
{
	pe_bundle *b = xt_golden(*state, "all.safetensors");
	static const struct {
		const char *name;
		char kind;
		pe_dtype dtype;
	} types[] = {{"f8", 'f', PE_F64}, {"f4", 'f', PE_F32}, {"f2", 'f', PE_F16}, {"i8", 'i', PE_I64},
		{"i4", 'i', PE_I32}, {"i2", 'i', PE_I32}, {"i1", 'i', PE_I32}, {"u8", 'u', PE_I64},
		{"u4", 'u', PE_I64}, {"u2", 'u', PE_I32}, {"u1", 'u', PE_U8}, {"b1", 'b', PE_BOOL}};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		xt_golden_array(b, types[i].name, types[i].kind, types[i].dtype, 2, (int64_t[]){3, 5});
	xt_golden_array(b, "scalar", 'f', PE_F64, 0, (int64_t[]){0});
	xt_golden_array(b, "empty", 'f', PE_F32, 2, (int64_t[]){0, 5});
	assert_int_equal(pe_bundle_count(b), 14);
	assert_string_equal(pe_bundle_metadata(b, "format"), "np");
	assert_string_equal(pe_bundle_metadata(b, "note"), "\xc3\xa9 \"x\"\n");
	pe_bundle_destroy(&b);
	b = xt_golden(*state, "bf16.safetensors");
	xt_golden_array(b, "x", 'f', PE_BF16, 2, (int64_t[]){3, 5});
	pe_bundle_destroy(&b);
}

/* Files by another author; what is in them is in the notes that come with them. */
static void test_samples(void **state)
{
	static const struct {
		const char *name;
		pe_dtype dtype;
	} files[] = {{"d", PE_F64}, {"f", PE_F32}, {"e", PE_F16}, {"i", PE_I32}, {"h", PE_I32}, {"b", PE_I32},
		{"I", PE_I64}, {"H", PE_I32}, {"B", PE_U8}};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char file[64];
		pe_bundle *b;
		pe_tensor t;
		snprintf(file, sizeof file, "safetensors/%s.safetensors", files[i].name);
		assert_int_equal(pe_bundle_from_file(*state, xt_data(file), NULL, &b), PE_OK);
		assert_true(pe_bundle_find(b, files[i].name, &t));
		assert_int_equal(t.dtype, files[i].dtype);
		assert_int_equal(t.ndim, 1);
		pe_bundle_destroy(&b);
	}
	pe_bundle *b;
	pe_tensor t;
	assert_int_equal(pe_bundle_from_file(*state, xt_data("safetensors/d.safetensors"), NULL, &b), PE_OK);
	assert_true(pe_bundle_find(b, "d", &t));
	const double expected[] = {-3, -2, -1, 0, 1, 2};
	assert_int_equal(t.shape[0], 6);
	assert_memory_equal(t.data, expected, sizeof expected);
	assert_string_equal(pe_bundle_metadata(b, "test"), "a");
	pe_bundle_destroy(&b);
}

static void test_refused(void **state)
{
	pe_context *ctx = *state;
	xt_golden_refused(ctx, "no_f8.safetensors", PE_ERR_UNSUPPORTED, "\"x\" is of type F8_E4M3");
	xt_golden_refused(ctx, "no_overlap.safetensors", PE_ERR_FORMAT, "\"b\" overlaps another");
	xt_golden_refused(ctx, "no_hole.safetensors", PE_ERR_FORMAT, "\"b\" leaves a hole");
	xt_golden_refused(ctx, "no_rest.safetensors", PE_ERR_FORMAT, "1 bytes follow the last tensor");
	xt_golden_refused(ctx, "no_outside.safetensors", PE_ERR_FORMAT, "outside of the file");
	xt_golden_refused(ctx, "no_size.safetensors", PE_ERR_FORMAT, "its shape asks for 5");
	xt_golden_refused(ctx, "no_negative.safetensors", PE_ERR_FORMAT, "whole numbers from 0");
	xt_golden_refused(ctx, "no_overflow.safetensors", PE_ERR_UNSUPPORTED, "too many");
	xt_golden_refused(ctx, "no_fraction.safetensors", PE_ERR_FORMAT, "whole numbers from 0");
	xt_golden_refused(ctx, "no_bignum.safetensors", PE_ERR_FORMAT, "too big integer");
	xt_golden_refused(ctx, "no_twice.safetensors", PE_ERR_FORMAT, "duplicate");
	xt_golden_refused(ctx, "no_object.safetensors", PE_ERR_FORMAT, "not a JSON object");
	xt_golden_refused(ctx, "no_metadata.safetensors", PE_ERR_FORMAT, "__metadata__");
}

static void test_cut(void **state)
{
	size_t size;
	pe_bundle *b;
	char *bytes = xt_read_file(xt_source("tests/golden/arrays/all.safetensors"), &size);
	for (size_t cut = 0; cut < size; cut++) {
		assert_int_not_equal(pe_bundle_from_bytes(*state, bytes, cut, "x", "safetensors", &b), PE_OK);
		assert_null(b);
	}
	memset(bytes, 0xff, 8);
	xt_fails(*state, pe_bundle_from_bytes(*state, bytes, size, "x", "safetensors", &b), PE_ERR_FORMAT,
		"cut short");
	free(bytes);
}

static void test_round_trip(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *b = xt_bundle(ctx), *back;
	xt_add_bf16(b);
	assert_int_equal(pe_bundle_write(b, xt_path("a.safetensors"), NULL), PE_OK);
	assert_int_equal(pe_bundle_from_file(ctx, xt_path("a.safetensors"), NULL, &back), PE_OK);
	xt_same_bundles(b, back);
	for (int64_t i = 0; i < pe_bundle_count(back); i++) { /* wide types first, so that all are aligned */
		pe_tensor t;
		assert_int_equal(pe_bundle_at(back, i, NULL, &t), PE_OK);
		assert_int_equal((uintptr_t)t.data % pe_dtype_size(t.dtype), 0);
	}
	assert_int_equal(pe_bundle_write(back, xt_path("b.safetensors"), NULL), PE_OK);
	size_t first, second;
	char *x = xt_read_file(xt_path("a.safetensors"), &first),
		 *y = xt_read_file(xt_path("b.safetensors"), &second);
	assert_int_equal(first, second);
	assert_memory_equal(x, y, first);
	assert_int_equal(
		((unsigned char)x[0] + 8 + 256 * (unsigned char)x[1]) % 64, 0); /* where the data begin */
	free(x);
	free(y);
	pe_bundle_destroy(&back);
	pe_bundle_destroy(&b);
}

static void test_small(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *b, *back;
	assert_int_equal(pe_bundle_create(ctx, &b), PE_OK);
	assert_int_equal(pe_bundle_write(b, xt_path("none.safetensors"), NULL), PE_OK);
	assert_int_equal(pe_bundle_from_file(ctx, xt_path("none.safetensors"), NULL, &back), PE_OK);
	assert_int_equal(pe_bundle_count(back), 0);
	pe_bundle_destroy(&back);
	float x = 1;
	pe_tensor t = pe_tensor_dense(&x, PE_F32, 0, NULL);
	assert_int_equal(pe_bundle_add(b, "__metadata__", &t), PE_OK);
	xt_fails(ctx, pe_bundle_write(b, xt_path("no.safetensors"), NULL), PE_ERR_ARGUMENT, "__metadata__");
	pe_bundle_destroy(&b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reference),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_small),
	};
	return xt_run(argc, argv, tests);
}
