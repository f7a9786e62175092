/* SPDX-License-Identifier: BSD-2-Clause
 * PBM, PGM, PPM and PAM; and which files are pictures at all. */
#include "xt.h"

#include <stdio.h>
#include <string.h>

#include "context.h"

static pe_status read_bytes(
	pe_context *ctx, const char *bytes, size_t size, const pe_params *params, pe_image **out)
{
	*out = NULL;
	uint8_t *exact = malloc(size + (size == 0));
	assert_non_null(exact);
	memcpy(exact, bytes, size);
	pe_status status = pe_image_from_bytes(ctx, exact, size, "x.pnm", params, out);
	free(exact);
	return status;
}

struct good {
	const char *bytes;
	size_t size;
	const char *format;
	int height, width, channels, maximum, bits;
	int32_t samples[12];
};

#define BYTES(text) text, sizeof(text) - 1

static const struct good good[] = {
	{BYTES("P1\n# a bitmap\n3 2\n010\n1 1 1"), "pbm", 2, 3, 1, 255, 1, {255, 0, 255, 0, 0, 0}},
	{BYTES("P2 2 1 # wide\n100\n0 7\n"), "pgm", 1, 2, 1, 100, 7, {0, 7}},
	{BYTES("P3\n1 2\n255\n1 2 3\n4 5 6"), "ppm", 2, 1, 3, 255, 8, {1, 2, 3, 4, 5, 6}},
	{BYTES("P4\n10 2\n\x80\x40\x7f\xbf"), "pbm", 2, 10, 1, 255, 1,
		{0, 255, 255, 255, 255, 255, 255, 255, 255, 0, 255, 0}},
	{BYTES("P5 2 2 255\n\x00\x01\xfe\xff"), "pgm", 2, 2, 1, 255, 8, {0, 1, 254, 255}},
	{BYTES("P5 2 1 65535\n\x00\x80\x7f\xff"), "pgm", 1, 2, 1, 65535, 16, {0x80, 0x7fff}},
	{BYTES("P5 2 1 1\n\x00\x01"), "pgm", 1, 2, 1, 255, 1, {0, 255}},
	{BYTES("P6 1 1 1000\n\x00\x01\x03\xe8\x02\x00"), "ppm", 1, 1, 3, 1000, 10, {1, 1000, 512}},
	{BYTES("P7\nWIDTH 1\n# no\nHEIGHT 2\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n12345678"), "pam",
		2, 1, 4, 255, 8, {'1', '2', '3', '4', '5', '6', '7', '8'}},
	{BYTES("P7\nWIDTH 2\nHEIGHT 1\nDEPTH 1\nMAXVAL 1\nENDHDR\n\x01\x00"), "pam", 1, 2, 1, 255, 1, {255, 0}},
};

static void test_good(void **state)
{
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		const struct good *g = &good[i];
		pe_image *image;
		int32_t samples[64];
		if (read_bytes(*state, g->bytes, g->size, NULL, &image) != PE_OK)
			fail_msg("%s: %s", g->bytes, pe_context_message(*state));
		const pe_image_info *info = pe_image_get_info(image);
		assert_string_equal(info->format, g->format);
		assert_int_equal(info->height, g->height);
		assert_int_equal(info->width, g->width);
		assert_int_equal(info->channels, g->channels);
		assert_int_equal(info->alpha, g->channels == 4);
		assert_int_equal(info->maximum, g->maximum);
		assert_int_equal(info->bits, g->bits);
		pe_tensor out = pe_tensor_dense(samples, PE_I32, 3, (int64_t[]){g->height, g->width, g->channels});
		assert_int_equal(pe_image_read(image, &out), PE_OK);
		int count = g->height * g->width * g->channels;
		assert_memory_equal(samples, g->samples, 4 * (size_t)(count < 12 ? count : 12));
		pe_image_destroy(&image);
	}
}

/* Cut anywhere, none of them is a picture but those whose last number is still one. */
static void test_cut(void **state)
{
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		for (size_t size = 0; size < good[i].size; size++) {
			pe_image *image;
			pe_status status = read_bytes(*state, good[i].bytes, size, NULL, &image);
			bool text = good[i].bytes[1] < '4';
			bool whole = text && size + 1 == good[i].size && strchr(" \n", good[i].bytes[size]);
			if (whole)
				assert_int_equal(status, PE_OK);
			else
				assert_int_equal(status, PE_ERR_FORMAT);
			pe_image_destroy(&image);
		}
}

static void test_bad(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *text;
	} bad[] = {
		{BYTES("P5 2 2 255\n\x00\x01\xfe\xff!"), "more data behind the picture, at byte 15"},
		{BYTES("P5 2 2 254\n\x00\x01\xfe\xff"), "beyond the largest that the header allows, at byte 14"},
		{BYTES("P2 2 1 9\n3 10\n"), "beyond the largest"},
		{BYTES("P2 2 1 9\n3 x1\n"), "a number is expected"},
		{BYTES("P1 2 1\n02\n"), "beyond the largest"},
		{BYTES("P5 2 2 0\n1234"), "not 1 to 65535"},
		{BYTES("P5 2 2 65536\n12345678"), "not 1 to 65535"},
		{BYTES("P5 0 2 255\n"), "is empty"},
		{BYTES("P5 99999999 99999999 255\n"), "more than the limit"},
		{BYTES("P5 9999999999999999999999 1 255\n"), "picture"},
		{BYTES("P5 10000 10000 255\n1234"), "ends too early"},
		{BYTES("P2 10000 10000 255\n1 2 3 4"), "ends too early"},
		{BYTES("P5 2 2 255"), "a blank is expected"},
		{BYTES("P7\nWIDTH 2\nHEIGHT 1\nDEPTH 5\nMAXVAL 1\nENDHDR\n"), "DEPTH from 1 to 4"},
		{BYTES("P7\nWIDTH 2\nHEIGHT x\n"), "a number is expected, at byte 11"},
		{BYTES("P7\nWIDTH 2\n# ENDHDR\n"), "ENDHDR is expected"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		pe_image *image;
		xt_fails(
			*state, read_bytes(*state, bad[i].bytes, bad[i].size, NULL, &image), PE_ERR_FORMAT, bad[i].text);
		assert_null(image);
	}
}

static void test_lenient(void **state)
{
	pe_params *params;
	pe_image *image;
	uint8_t samples[4];
	assert_int_equal(pe_params_create(*state, "image", &params), PE_OK);
	xt_set(params, "lenient=1");
	static const char *const files[] = {
		"P5 2 2 10\n\x01\x0b", "P2 2 2 10\n1 11", "P5 2 2 10\n\x01\x0b\x00\x00tail"};
	static const size_t sizes[] = {12, 14, 18};
	for (int i = 0; i < 3; i++) {
		pe_tensor out = pe_tensor_dense(samples, PE_U8, 3, (int64_t[]){2, 2, 1});
		assert_int_equal(read_bytes(*state, files[i],
							 i == 2 ? sizeof "P5 2 2 10\n\x01\x0b__tail" - 1 : sizes[i], params, &image),
			PE_OK);
		assert_int_equal(pe_image_read(image, &out), PE_OK);
		assert_memory_equal(samples, "\x01\x0a\x00\x00", 4);
		pe_image_destroy(&image);
	}
	pe_params_destroy(&params);
}

static void test_recognise(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t size;
		const char *name;
	} all[] = {{BYTES("\x89PNG\r\n\x1a\n"), "PNG"}, {BYTES("P6 1 1 255\n"), "PNM"},
		{BYTES("P7\nWIDTH"), "PNM"}, {BYTES("P1 P2\nP2 P3\n"), NULL}, {BYTES("P5 7\nP6 8\n"), NULL},
		{BYTES("0 1\n"), NULL}, {BYTES(""), NULL}, {BYTES("\xff\xd8\xff\xe0"), "JPEG"},
		{BYTES("RIFF\x10\0\0\0WEBPVP8 "), "WebP"}, {BYTES("RIFF\x10\0\0\0WAVEfmt "), NULL},
		{BYTES("GIF89a"), "GIF"}, {BYTES("BM\x10\0\0\0\0\0\0\0"), "BMP"}, {BYTES("BMW 3\n"), NULL},
		{BYTES("\0\0\0\x1c"
			   "ftypavif"),
			"AVIF"},
		{BYTES("II*\0abc"), "TIFF"}};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const char *name = pe_image_recognise(all[i].bytes, all[i].size);
		if (all[i].name)
			assert_string_equal(name, all[i].name);
		else
			assert_null(name);
	}
}

static void test_others(void **state)
{
	pe_image *image;
	xt_fails(*state, read_bytes(*state, BYTES("II*\0abc"), NULL, &image), PE_ERR_UNSUPPORTED,
		"this is a TIFF file, and this build reads pictures from PNG, PNM");
	xt_fails(*state, read_bytes(*state, BYTES("hello"), NULL, &image), PE_ERR_FORMAT, "this is no picture");
	xt_fails(*state, pe_image_from_file(*state, "/no/such.png", NULL, &image), PE_ERR_IO, "/no/such.png");
	pe_params *params;
	assert_int_equal(pe_params_create(*state, "graph", &params), PE_OK);
	xt_fails(*state, read_bytes(*state, BYTES("P5 1 1 255\nx"), params, &image), PE_ERR_ARGUMENT,
		"options of graph");
	pe_params_destroy(&params);
}

/* Strided outputs of every type. */
static void test_strides(void **state)
{
	pe_image *image;
	double values[64];
	assert_int_equal(read_bytes(*state, BYTES("P6 2 2 10\n\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x00"),
						 NULL, &image),
		PE_OK);
	for (int i = 0; i < 64; i++)
		values[i] = -1;
	pe_tensor out = {values, PE_F64, 3, {2, 2, 3}, {3, 6, 20}}; /* channels first, width before height */
	assert_int_equal(pe_image_read(image, &out), PE_OK);
	for (int y = 0; y < 2; y++)
		for (int x = 0; x < 2; x++)
			for (int c = 0; c < 3; c++)
				xt_close_f64(values[3 * y + 6 * x + 20 * c], (6 * y + 3 * x + c) % 11 / 10.0, 0, 0);
	assert_true(values[1] < 0 && values[63] < 0);
	out.strides[2] = 3;
	xt_fails(*state, pe_image_read(image, &out), PE_ERR_SHAPE, "out");
	out = pe_tensor_dense(values, PE_F64, 3, (int64_t[]){2, 2, 1});
	xt_fails(*state, pe_image_read(image, &out), PE_ERR_SHAPE, "out");
	uint8_t bytes[24];
	pe_tensor narrow = {bytes, PE_U8, 3, {2, 2, 3}, {12, 6, 2}};
	assert_int_equal(pe_image_read(image, &narrow), PE_OK);
	for (int i = 0; i < 12; i++)
		assert_int_equal(bytes[2 * i], i % 11);
	pe_image_destroy(&image);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_lenient),
		cmocka_unit_test(test_recognise),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_strides),
	};
	return xt_run(argc, argv, tests);
}
