/* SPDX-License-Identifier: BSD-2-Clause
 * Pictures as grids of patches: against torch, by table and in double, and what is refused. */
#include "xt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "context.h"

static pe_params *options(pe_context *ctx, char *settings)
{
	pe_params *params;
	assert_int_equal(pe_params_create(ctx, "image", &params), PE_OK);
	for (char *word = strtok(settings, " \n"); word; word = strtok(NULL, " \n")) {
		char *value = strchr(word, '=');
		assert_non_null(value);
		*value++ = '\0';
		if (pe_params_set(params, word, value) != PE_OK)
			fail_msg("%s", pe_context_message(ctx));
	}
	return params;
}

static pe_params *option(pe_context *ctx, const char *settings)
{
	char copy[200];
	snprintf(copy, sizeof copy, "%s", settings);
	return options(ctx, copy);
}

static pe_image *picture(pe_context *ctx, const char *name)
{
	char path[100];
	pe_image *image;
	snprintf(path, sizeof path, "tests/golden/patches/%s", name);
	assert_int_equal(pe_image_from_file(ctx, xt_source(path), NULL, &image), PE_OK);
	return image;
}

/* Tokens of a type, to be freed by free(). */
static void *tokens_of(
	pe_context *ctx, const pe_image *image, const pe_params *params, pe_dtype dtype, pe_image_layout *l)
{
	if (pe_image_get_layout(image, params, l) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	pe_tensor out = pe_tensor_dense(NULL, dtype, 2, (int64_t[]){l->rows * l->columns, l->width});
	out.data = malloc((size_t)pe_tensor_bytes(&out));
	assert_non_null(out.data);
	if (pe_image_tokens(image, params, &out) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	return out.data;
}

/* f32 takes the table where it can, f64 never. */
static void check_case(pe_context *ctx, const char *name, const pe_image *image, const pe_params *params,
	const pe_tensor *wanted, int rows, int columns)
{
	pe_image_layout l;
	float *singles = tokens_of(ctx, image, params, PE_F32, &l);
	double *doubles = tokens_of(ctx, image, params, PE_F64, &l);
	assert_int_equal(l.rows, rows);
	assert_int_equal(l.columns, columns);
	assert_int_equal(wanted->shape[0], rows * columns);
	assert_int_equal(wanted->shape[1], l.width);
	for (int64_t i = 0; i < wanted->shape[0] * l.width; i++) {
		double value = ((const float *)wanted->data)[i];
		if (!(fabs(doubles[i] - value) <= 5e-7 * fmax(1, fabs(value))))
			fail_msg("%s: number %d is %.9g, not %.9g", name, (int)i, doubles[i], value);
		assert_true(singles[i] == (float)doubles[i]);
	}
	free(doubles);
	free(singles);
}

static void test_golden(void **state)
{
	pe_bundle *b;
	char line[300], name[32], file[32], settings[200];
	int rows, columns, cases = 0;
	assert_int_equal(
		pe_bundle_from_file(*state, xt_source("tests/golden/patches/patches.npz"), NULL, &b), PE_OK);
	FILE *list = fopen(xt_source("tests/golden/patches/settings.txt"), "r");
	assert_non_null(list);
	for (; fgets(line, sizeof line, list); cases++) {
		pe_tensor wanted;
		assert_int_equal(sscanf(line, "%31s %31s %d %d %199[^\n]", name, file, &rows, &columns, settings), 5);
		assert_true(pe_bundle_find(b, name, &wanted));
		pe_image *image = picture(*state, file);
		pe_params *params = options(*state, settings);
		check_case(*state, name, image, params, &wanted, rows, columns);
		pe_params_destroy(&params);
		pe_image_destroy(&image);
	}
	assert_int_equal(cases, pe_bundle_count(b));
	fclose(list);
	pe_bundle_destroy(&b);
}

static void test_layout(void **state)
{
	pe_image *image = picture(*state, "picture.ppm"); /* 13 rows, 18 columns */
	pe_image_layout l;
	pe_params *params = option(*state, "patch=4 fit=crop anchor=centre");
	assert_int_equal(pe_image_get_layout(image, params, &l), PE_OK);
	assert_true(l.crop_top == 0 && l.crop_bottom == 1 && l.crop_left == 1 && l.crop_right == 1);
	assert_true(l.rows == 3 && l.columns == 4 && l.width == 48 && l.patch == 4 && l.channels == 3);
	assert_true(l.pad_top + l.pad_bottom + l.pad_left + l.pad_right + l.resized_height == 0);
	pe_params_destroy(&params);
	params = option(*state, "patch=4 fit=pad");
	assert_int_equal(pe_image_get_layout(image, params, &l), PE_OK);
	assert_true(l.pad_top == 0 && l.pad_bottom == 3 && l.pad_left == 0 && l.pad_right == 2);
	pe_params_destroy(&params);
	params = option(*state, "patch=4 fit=resize");
	assert_int_equal(pe_image_get_layout(image, params, &l), PE_OK);
	assert_true(l.resized_height == 12 && l.resized_width == 20); /* 18 is halfway: up */
	pe_params_destroy(&params);
	params = option(*state, "patch=13 size=13x13");
	assert_int_equal(pe_image_get_layout(image, params, &l), PE_OK);
	assert_true(l.crop_right == 5 && l.crop_bottom == 0);
	pe_params_destroy(&params);
	pe_image_destroy(&image);
}

static void test_refused(void **state)
{
	static const struct {
		const char *file, *settings, *text;
		pe_status status;
	} all[] = {
		{"picture.ppm", "", "cannot be cropped to 16x16: choose fit=pad or fit=resize", PE_ERR_RANGE},
		{"picture.ppm", "patch=4 size=16x16", "cannot be cropped to 16x16", PE_ERR_RANGE},
		{"picture.ppm", "patch=4 fit=pad size=12x20", "cannot be padded to 12x20: choose fit=crop",
			PE_ERR_RANGE},
		{"picture.ppm", "patch=4 size=10x12", "size=10x12 is no multiple of patch=4: 8x12 is near",
			PE_ERR_RANGE},
		{"picture.ppm", "patch=4 size=12", "is not HEIGHTxWIDTH", PE_ERR_RANGE},
		{"picture.ppm", "patch=4 size=0x4", "is not HEIGHTxWIDTH", PE_ERR_RANGE},
		{"picture.ppm", "patch=4 size=12x12x3", "is not HEIGHTxWIDTH", PE_ERR_RANGE},
		{"picture.ppm", "patch=4 channels=gray normalize=imagenet", "normalize=imagenet is of three",
			PE_ERR_RANGE},
		{"picture16.pam", "patch=4", "transparent in places: choose alpha=white", PE_ERR_UNSUPPORTED},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		pe_image_layout l;
		float number = 0;
		pe_image *image = picture(*state, all[i].file);
		pe_params *params = option(*state, all[i].settings);
		pe_tensor out = pe_tensor_dense(&number, PE_F32, 2, (int64_t[]){1, 1});
		if (all[i].status == PE_ERR_RANGE) /* a grid does not ask for values */
			xt_fails(*state, pe_image_get_layout(image, params, &l), all[i].status, all[i].text);
		xt_fails(*state, pe_image_tokens(image, params, &out), all[i].status, all[i].text);
		pe_params_destroy(&params);
		pe_image_destroy(&image);
	}
}

/* One pixel a patch, 2 × 2 pixels of grey and alpha that is nowhere transparent. */
static void test_opaque(void **state)
{
	static const char bytes[] =
		"P7\nWIDTH 2\nHEIGHT 2\nDEPTH 2\nMAXVAL 255\nENDHDR\n\x00\xff\x33\xff\x66\xff\xff\xff";
	pe_image *image;
	pe_image_layout l;
	assert_int_equal(pe_image_from_bytes(*state, bytes, sizeof bytes - 1, NULL, NULL, &image), PE_OK);
	pe_params *params = option(*state, "patch=1");
	float *values = tokens_of(*state, image, params, PE_F32, &l);
	static const float wanted[] = {0, 0.2f, 0.4f, 1};
	for (int i = 0; i < 12; i++)
		assert_true(values[i] == wanted[i / 3]);
	free(values);
	pe_params_destroy(&params);
	pe_image_destroy(&image);
}

/* The same bits at any number of threads, through a table and through resampling; strides are kept. */
static void test_threads(void **state)
{
	static const char *const settings[] = {"patch=2 fit=pad", "patch=2 fit=resize size=30x44"};
	(void)state;
	for (int s = 0; s < 2; s++) {
		float *values[3];
		int64_t count = 0;
		for (int t = 0; t < 3; t++) {
			pe_context *ctx = xt_context(1 + 2 * t, NULL);
			pe_image *image = picture(ctx, "picture.ppm");
			pe_params *params = option(ctx, settings[s]);
			pe_image_layout l;
			values[t] = tokens_of(ctx, image, params, PE_F32, &l);
			count = l.rows * l.columns * l.width;
			pe_params_destroy(&params);
			pe_image_destroy(&image);
			pe_context_destroy(&ctx);
		}
		for (int t = 1; t < 3; t++)
			assert_memory_equal(values[0], values[t], (size_t)count * sizeof *values[0]);
		for (int t = 0; t < 3; t++)
			free(values[t]);
	}
}

static void test_strides(void **state)
{
	pe_image *image = picture(*state, "picture.ppm");
	pe_params *params = option(*state, "patch=6");
	pe_image_layout l;
	float *dense = tokens_of(*state, image, params, PE_F32, &l), *wide = calloc(6 * 108 * 3, sizeof *wide);
	assert_non_null(wide);
	assert_true(l.rows * l.columns == 6 && l.width == 108);
	pe_tensor out = {wide, PE_F32, 2, {6, 108}, {2, 9}};
	assert_int_equal(pe_image_tokens(image, params, &out), PE_ERR_SHAPE); /* elements overlap */
	out.strides[1] = 12;
	assert_int_equal(pe_image_tokens(image, params, &out), PE_OK);
	for (int t = 0; t < 6; t++)
		for (int i = 0; i < 108; i++)
			assert_true(wide[2 * t + 12 * i] == dense[108 * t + i] && wide[2 * t + 12 * i + 1] >= 0);
	free(wide);
	free(dense);
	pe_params_destroy(&params);
	pe_image_destroy(&image);
}

/* An output that is written past the caches: patches that are no whole lines of them, and padding. */
static void test_large(void **state)
{
	enum { SIDE = 1700, PATCH = 14, GRID = (SIDE + PATCH - 1) / PATCH, WIDTH = 3 * PATCH * PATCH };
	static const char head[] = "P6 1700 1700 255\n";
	size_t start = sizeof head - 1, size = start + 3 * SIDE * SIDE, count = (size_t)GRID * GRID * WIDTH,
		   at = 1;
	uint8_t *bytes = malloc(size);
	float *values = malloc((count + 2) * sizeof *values);
	pe_image *image;
	assert_true(bytes && values);
	assert_true(count * sizeof *values >= (size_t)1 << 25);
	memcpy(bytes, head, start);
	for (size_t i = start; i < size; i++)
		bytes[i] = (uint8_t)((i * 2654435761u) >> 13);
	assert_int_equal(pe_image_from_bytes(*state, bytes, size, NULL, NULL, &image), PE_OK);
	pe_params *params = option(*state, "patch=14 fit=pad");
	values[0] = values[count + 1] = 7;
	pe_tensor out = pe_tensor_dense(values + 1, PE_F32, 2, (int64_t[]){GRID * GRID, WIDTH});
	assert_int_equal(pe_image_tokens(image, params, &out), PE_OK);
	for (int token = 0; token < GRID * GRID; token++)
		for (int i = 0; i < WIDTH; i++, at++) {
			int y = token / GRID * PATCH + i / PATCH % PATCH, x = token % GRID * PATCH + i % PATCH;
			size_t from = start + 3 * ((size_t)y * SIDE + (size_t)x) + (size_t)(i / (PATCH * PATCH));
			float wanted = y < SIDE && x < SIDE ? (float)(bytes[from] / 255.0) : 0;
			if (values[at] != wanted)
				fail_msg("token %d, number %d: %.9g", token, i, (double)values[at]);
		}
	assert_true(values[0] == 7 && values[count + 1] == 7);
	pe_params_destroy(&params);
	pe_image_destroy(&image);
	free(values);
	free(bytes);
}

static void test_no_memory(void **state)
{
	static const char *const settings[] = {"patch=6", "patch=2 fit=resize size=6x6", "patch=6 channels=gray"};
	float values[1000];
	pe_image *image = picture(*state, "picture.ppm");
	for (int s = 0; s < 3; s++) {
		pe_params *params = option(*state, settings[s]);
		pe_image_layout l;
		struct xt_shortage shortage = {0};
		assert_int_equal(pe_image_get_layout(image, params, &l), PE_OK);
		pe_tensor out = pe_tensor_dense(values, PE_F32, 2, (int64_t[]){l.rows * l.columns, l.width});
		while (xt_shortage_next(&shortage)) {
			xt_shortage_begin(&shortage);
			xt_shortage_end(&shortage, pe_image_tokens(image, params, &out));
		}
		assert_true(shortage.failed > 0);
		pe_params_destroy(&params);
	}
	pe_image_destroy(&image);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_opaque),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_strides),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_no_memory),
	};
	return xt_run(argc, argv, tests);
}
