/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "bundles.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "tensor.h"

static void add(
	pe_bundle *b, const char *name, void *data, pe_dtype dtype, int32_t ndim, const int64_t *shape)
{
	pe_tensor t = pe_tensor_dense(data, dtype, ndim, shape);
	assert_int_equal(pe_bundle_add(b, name, &t), PE_OK);
}

pe_bundle *xt_bundle(pe_context *ctx)
{
	static double f64[12], scalar = 0.1;
	static float f32[24];
	static uint16_t f16[5] = {0x3c00, 0xc000, 0x0001, 0x7c00, 0x8000};
	static int64_t i64[6] = {INT64_MIN, -1, 0, 1, INT64_MAX, 7};
	static int32_t i32[3] = {INT32_MIN, -5, INT32_MAX};
	static uint8_t u8[7] = {0, 1, 2, 127, 128, 254, 255}, flags[3] = {1, 0, 1};
	for (int i = 0; i < 12; i++)
		f64[i] = 1.0 / (i + 1) - 0.3;
	for (int i = 0; i < 24; i++)
		f32[i] = (float)(i * i) * -0.7f;
	pe_bundle *b;
	assert_int_equal(pe_bundle_create(ctx, &b), PE_OK);
	add(b, "u8", u8, PE_U8, 1, (int64_t[]){7});
	add(b, "f64", f64, PE_F64, 2, (int64_t[]){3, 4});
	add(b, "f32", f32, PE_F32, 4, (int64_t[]){2, 1, 3, 4});
	add(b, "f16", f16, PE_F16, 1, (int64_t[]){5});
	add(b, "i64", i64, PE_I64, 3, (int64_t[]){1, 2, 3});
	add(b, "i32", i32, PE_I32, 1, (int64_t[]){3});
	add(b, "bool", flags, PE_BOOL, 2, (int64_t[]){3, 1});
	add(b, "scalar", &scalar, PE_F64, 0, NULL);
	add(b, "empty", NULL, PE_F32, 2, (int64_t[]){0, 8});
	assert_int_equal(pe_bundle_set_metadata(b, "encoder", "lap"), PE_OK);
	assert_int_equal(pe_bundle_set_metadata(b, "options", "k=\"8\"\n\tpath=C:\\x"), PE_OK);
	assert_int_equal(pe_bundle_set_metadata(b, "\xc3\xa9tat", "\x01\x7f \xe2\x88\x9e"), PE_OK);
	return b;
}

void xt_add_bf16(pe_bundle *bundle)
{
	static uint16_t bf16[4] = {0x3f80, 0xbf80, 0x0001, 0x7f80};
	add(bundle, "bf16", bf16, PE_BF16, 2, (int64_t[]){2, 2});
}

static int64_t offset_of(const pe_tensor *t, int64_t index)
{
	int64_t offset = 0;
	for (int32_t d = t->ndim - 1; d >= 0; d--) {
		offset += index % t->shape[d] * t->strides[d];
		index /= t->shape[d];
	}
	return offset * (int64_t)pe_dtype_size(t->dtype);
}

static void same_tensors(const char *name, const pe_tensor *a, const pe_tensor *b)
{
	if (a->dtype != b->dtype || a->ndim != b->ndim ||
		memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof a->shape[0]) != 0)
		fail_msg("%s differs in type or shape", name);
	for (int64_t i = 0; i < pe_tensor_count(a); i++)
		if (memcmp((char *)a->data + offset_of(a, i), (char *)b->data + offset_of(b, i),
				pe_dtype_size(a->dtype)) != 0)
			fail_msg("%s differs at %lld", name, (long long)i);
}

void xt_same_bundles(const pe_bundle *a, const pe_bundle *b)
{
	assert_int_equal(pe_bundle_count(a), pe_bundle_count(b));
	for (int64_t i = 0; i < pe_bundle_count(a); i++) {
		const char *name;
		pe_tensor x, y;
		assert_int_equal(pe_bundle_at(a, i, &name, &x), PE_OK);
		if (!pe_bundle_find(b, name, &y))
			fail_msg("there is no %s", name);
		same_tensors(name, &x, &y);
	}
	assert_int_equal(pe_bundle_metadata_count(a), pe_bundle_metadata_count(b));
	for (int64_t i = 0; i < pe_bundle_metadata_count(a); i++) {
		const char *name = pe_bundle_metadata_name(a, i);
		assert_non_null(pe_bundle_metadata(b, name));
		assert_string_equal(pe_bundle_metadata(a, name), pe_bundle_metadata(b, name));
	}
}

static const char *golden_path(const char *name)
{
	static char path[256];
	snprintf(path, sizeof path, "tests/golden/arrays/%s", name);
	return xt_source(path);
}

pe_bundle *xt_golden(pe_context *ctx, const char *name)
{
	pe_bundle *b;
	if (pe_bundle_from_file(ctx, golden_path(name), NULL, &b) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	return b;
}

void xt_golden_refused(pe_context *ctx, const char *name, pe_status status, const char *text)
{
	pe_bundle *b = (pe_bundle *)1;
	int64_t live = xt_live_blocks();
	xt_fails(ctx, pe_bundle_from_file(ctx, golden_path(name), NULL, &b), status, text);
	assert_non_null(strstr(pe_context_message(ctx), name));
	assert_null(b);
	assert_int_equal(xt_live_blocks(), live);
}

void xt_golden_array(const pe_bundle *bundle, const char *name, char file_type, pe_dtype dtype, int32_t ndim,
	const int64_t *shape)
{
	pe_tensor t, expected = pe_tensor_dense(NULL, dtype, ndim, shape);
	if (!pe_bundle_find(bundle, name, &t))
		fail_msg("there is no %s", name);
	assert_int_equal(t.dtype, dtype);
	assert_int_equal(t.ndim, ndim);
	assert_memory_equal(t.shape, expected.shape, sizeof t.shape);
	assert_int_equal((uintptr_t)t.data % pe_dtype_size(dtype), 0);
	for (int64_t i = 0; i < pe_tensor_count(&t); i++) {
		double value, formula = (double)(i * 37 % 101 - 50);
		pe_load_f64(&value, (char *)t.data + offset_of(&t, i), dtype, 1, 1);
		formula = file_type == 'f' ? formula / 4
			: file_type == 'u'     ? formula + 50
			: file_type == 'b'     ? i % 3 == 0
								   : formula;
		if (!(value == formula))
			fail_msg("%s: element %lld is %g, not %g", name, (long long)i, value, formula);
	}
}

const char *xt_path(const char *name)
{
	static char paths[4][512];
	static int next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof paths[0], "%s/%s", xt_temporary(), name);
	return path;
}

void xt_write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

char *xt_read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	*size = (size_t)ftell(file);
	rewind(file);
	char *bytes = malloc(*size + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	bytes[*size] = '\0';
	fclose(file);
	return bytes;
}

int xt_entries(const char *path)
{
	DIR *folder = opendir(path);
	int count = -2;
	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}
