/* SPDX-License-Identifier: BSD-2-Clause
 * JPEG and WebP against Pillow's decoders; cut at every byte, damaged at every byte, too large; refused by
 * name where the build has not their libraries. */
#include "xt.h"

#include <stdio.h>
#include <string.h>

#include <libdeflate.h>

#include "context.h"

#define LARGEST 4096 /* bytes of a file here */

struct file {
	char name[64];
	uint8_t bytes[LARGEST];
	size_t size;
};

static void load(const char *name, struct file *out)
{
	char path[128];
	snprintf(path, sizeof path, "tests/golden/photos/%s", name);
	FILE *file = fopen(xt_source(path), "rb");
	assert_non_null(file);
	snprintf(out->name, sizeof out->name, "%s", name);
	out->size = fread(out->bytes, 1, LARGEST, file);
	assert_true(out->size > 0 && out->size < LARGEST);
	fclose(file);
}

static bool is_readable(const char *name)
{
	bool jpeg = false, webp = false;
#ifdef PE_WITH_JPEG
	jpeg = true;
#endif
#ifdef PE_WITH_WEBP
	webp = true;
#endif
	return strstr(name, ".jpg") ? jpeg : webp;
}

/* Of a copy of just that size, so that a sanitizer sees reading beyond it. */
static pe_status read_part(
	pe_context *ctx, const struct file *file, size_t size, const char *settings, pe_image **out)
{
	pe_params *params;
	uint8_t *exact = malloc(size + (size == 0));
	assert_non_null(exact);
	memcpy(exact, file->bytes, size);
	assert_int_equal(pe_params_create(ctx, "image", &params), PE_OK);
	xt_set(params, settings);
	pe_status status = pe_image_from_bytes(ctx, exact, size, file->name, params, out);
	pe_params_destroy(&params);
	free(exact);
	return status;
}

static uint32_t checksum(const pe_image *image)
{
	const pe_image_info *info = pe_image_get_info(image);
	const int64_t shape[] = {info->height, info->width, info->channels};
	size_t count = (size_t)(shape[0] * shape[1] * shape[2]);
	uint8_t *samples = malloc(count);
	assert_non_null(samples);
	pe_tensor out = pe_tensor_dense(samples, PE_U8, 3, shape);
	assert_int_equal(pe_image_read(image, &out), PE_OK);
	uint32_t sum = libdeflate_crc32(0, samples, count);
	free(samples);
	return sum;
}

/* ---- whole files -------------------------------------------------------------------- */

static void compare(
	pe_context *ctx, const struct file *file, int height, int width, int channels, uint32_t sum)
{
	pe_image *image;
	if (!is_readable(file->name)) {
		xt_fails(ctx, read_part(ctx, file, file->size, "", &image), PE_ERR_UNSUPPORTED, "this build reads");
		return;
	}
	if (read_part(ctx, file, file->size, "", &image) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	const pe_image_info *info = pe_image_get_info(image);
	assert_int_equal(info->height, height);
	assert_int_equal(info->width, width);
	assert_int_equal(info->channels, channels);
	assert_int_equal(info->alpha, channels == 4);
	assert_int_equal(info->maximum, 255);
	assert_string_equal(info->format, strstr(file->name, ".jpg") ? "jpeg" : "webp");
	assert_int_equal(info->interlaced, strcmp(file->name, "progressive.jpg") == 0);
	if (checksum(image) != sum)
		fail_msg("%s: the samples are not Pillow's", file->name);
	pe_image_destroy(&image);
}

/* Calls `test` on every file of the suite. */
static int for_each(pe_context *ctx, void (*test)(pe_context *, const struct file *, int, int, int, uint32_t))
{
	struct file file;
	char name[64];
	int height, width, channels, files = 0;
	unsigned sum;
	FILE *list = fopen(xt_source("tests/golden/photos/suite.txt"), "r");
	assert_non_null(list);
	for (; fscanf(list, "%63s %d %d %d %x", name, &height, &width, &channels, &sum) == 5; files++) {
		load(name, &file);
		test(ctx, &file, height, width, channels, sum);
	}
	fclose(list);
	return files;
}

static void test_samples(void **state)
{
	assert_int_equal(for_each(*state, compare), 9);
}

static void test_profiles(void **state)
{
	static const char *const names[][2] = {{"halved.jpg", "Exif"}, {"full.jpg", ""}, {"exact.webp", "ICC"}};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct file file;
		pe_image *image;
		load(names[i][0], &file);
		if (!is_readable(file.name))
			continue;
		assert_int_equal(read_part(*state, &file, file.size, "", &image), PE_OK);
		assert_string_equal(pe_image_get_info(image)->colour, names[i][1]);
		pe_image_destroy(&image);
	}
}

/* ---- damaged files ------------------------------------------------------------------ */

static void cut(pe_context *ctx, const struct file *file, int height, int width, int channels, uint32_t sum)
{
	(void)channels, (void)sum;
	int64_t live = xt_live_blocks();
	int begun = 0;
	for (size_t size = 16; size < file->size && is_readable(file->name); size++) {
		pe_image *image;
		pe_status status = read_part(ctx, file, size, "", &image);
		if (status != PE_ERR_FORMAT)
			fail_msg("%s cut to %zu bytes: %s", file->name, size, pe_status_string(status));
		if (read_part(ctx, file, size, "lenient=1", &image) != PE_OK)
			continue;
		assert_int_equal(pe_image_get_info(image)->height, height);
		assert_int_equal(pe_image_get_info(image)->width, width);
		pe_image_destroy(&image);
		begun++;
	}
	assert_true(begun > 0 || !is_readable(file->name));
	assert_int_equal(xt_live_blocks(), live);
}

static void test_cut(void **state)
{
	for_each(*state, cut);
}

/* A byte turned around may be another picture; nothing else may come of it but a sentence. */
static void damage(
	pe_context *ctx, const struct file *whole, int height, int width, int channels, uint32_t sum)
{
	(void)height, (void)width, (void)channels, (void)sum;
	struct file file = *whole;
	for (size_t at = 0; at < file.size && is_readable(file.name); at++) {
		for (int l = 0; l < 2; l++) {
			pe_image *image;
			file.bytes[at] ^= 0xff;
			pe_status status = read_part(
				ctx, &file, file.size, l ? "lenient=1,max_pixels=100000" : "max_pixels=100000", &image);
			file.bytes[at] ^= 0xff;
			if (status != PE_OK && status != PE_ERR_FORMAT && status != PE_ERR_UNSUPPORTED)
				fail_msg("%s damaged at %zu: %s", file.name, at, pe_status_string(status));
			pe_image_destroy(&image);
		}
	}
}

static void test_damaged(void **state)
{
	int64_t live = xt_live_blocks();
	for_each(*state, damage);
	assert_int_equal(xt_live_blocks(), live);
}

static void test_limit(void **state)
{
	static const char *const names[] = {"full.jpg", "lossy.webp"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct file file;
		pe_image *image;
		load(names[i], &file);
		if (!is_readable(file.name))
			continue;
		xt_fails(*state, read_part(*state, &file, file.size, "max_pixels=1072", &image), PE_ERR_FORMAT,
			"37 x 29 pixels are more than the limit of 1072");
		assert_int_equal(read_part(*state, &file, file.size, "max_pixels=1073", &image), PE_OK);
		pe_image_destroy(&image);
	}
}

static void test_kinds(void **state)
{
	static const char *const names[][2] = {{"inks.jpg", "CMYK"}, {"moving.webp", "animation"}};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct file file;
		pe_image *image;
		load(names[i][0], &file);
		if (is_readable(file.name))
			xt_fails(
				*state, read_part(*state, &file, file.size, "", &image), PE_ERR_UNSUPPORTED, names[i][1]);
	}
}

/* A progressive file may hold any number of scans, each a pass over the picture: end marker and scans. */
static void test_scans(void **state)
{
	struct file file;
	pe_image *image;
	load("progressive.jpg", &file);
	if (!is_readable(file.name))
		return;
	size_t last = file.size - 2;
	while (last > 0 && !(file.bytes[last] == 0xff && file.bytes[last + 1] == 0xda))
		last--;
	size_t scan = file.size - 2 - last, size = file.size + 600 * scan;
	uint8_t *bytes = malloc(size);
	assert_non_null(bytes);
	memcpy(bytes, file.bytes, file.size - 2);
	for (int i = 0; i < 600; i++)
		memcpy(bytes + file.size - 2 + (size_t)i * scan, file.bytes + last, scan);
	memcpy(bytes + size - 2, "\xff\xd9", 2);
	pe_params *params;
	assert_int_equal(pe_params_create(*state, "image", &params), PE_OK);
	xt_set(params, "lenient=1");
	pe_status status = pe_image_from_bytes(*state, bytes, size, "scans.jpg", params, &image);
	pe_params_destroy(&params);
	free(bytes);
	xt_fails(*state, status, PE_ERR_FORMAT, "too many scans");
}

/* libjpeg's bound of its memory comes from the environment, which is nothing to us: a picture said to be
 * higher than its data, so that it is larger than the bound. */
static void test_environment(void **state)
{
	struct file file;
	pe_image *image;
	load("progressive.jpg", &file);
	if (!is_readable(file.name))
		return;
	size_t at = 0;
	while (at + 5 < file.size && memcmp(file.bytes + at, "\xff\xc2", 2) != 0)
		at++;
	assert_true(at + 5 < file.size);
	memcpy(file.bytes + at + 5, "\x02\x58", 2); /* 600 rows */
	setenv("JPEGMEM", "1", 1);
	pe_status status = read_part(*state, &file, file.size, "lenient=1", &image);
	unsetenv("JPEGMEM");
	assert_int_equal(status, PE_OK);
	assert_int_equal(pe_image_get_info(image)->height, 600);
	pe_image_destroy(&image);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_profiles),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_scans),
		cmocka_unit_test(test_environment),
	};
	return xt_run(argc, argv, tests);
}
