/* SPDX-License-Identifier: BSD-2-Clause
 * PNG: PngSuite against image-png's checksums at 8 bits and an independent decoder's at their own depth;
 * files damaged in every byte, cut at every byte, too large, too long. */
#include "xt.h"

#include <stdio.h>
#include <string.h>

#include <libdeflate.h>

#include "context.h"
#include "xt_png.h"

static pe_status read_png(pe_context *ctx, const struct xt_png *png, const pe_params *params, pe_image **out)
{
	return pe_image_from_bytes(ctx, png->bytes, png->size, "x.png", params, out);
}

static void refuses(pe_context *ctx, struct xt_png *png, pe_status status, const char *text)
{
	pe_image *image;
	xt_fails(ctx, read_png(ctx, png, NULL, &image), status, text);
	assert_null(image);
	free(png->bytes);
}

static pe_params *lenient(pe_context *ctx)
{
	pe_params *params;
	assert_int_equal(pe_params_create(ctx, "image", &params), PE_OK);
	xt_set(params, "lenient=1");
	return params;
}

/* All samples as stored, to be freed by free(). */
static int32_t *samples_of(const pe_image *image, int64_t *count)
{
	const pe_image_info *info = pe_image_get_info(image);
	const int64_t shape[] = {info->height, info->width, info->channels};
	*count = shape[0] * shape[1] * shape[2];
	int32_t *samples = malloc((size_t)*count * sizeof *samples);
	assert_non_null(samples);
	pe_tensor out = pe_tensor_dense(samples, PE_I32, 3, shape);
	assert_int_equal(pe_image_read(image, &out), PE_OK);
	return samples;
}

/* ---- PngSuite ----------------------------------------------------------------------- */

/* The checksum of the samples, in `size` bytes each, the higher first, shifted down. */
static uint32_t checksum(const int32_t *samples, int64_t count, int size, int shift)
{
	uint8_t *bytes = malloc((size_t)count * (size_t)size);
	assert_non_null(bytes);
	for (int64_t i = 0; i < count; i++)
		for (int b = 0; b < size; b++)
			bytes[i * size + b] = (uint8_t)(samples[i] >> shift >> 8 * (size - 1 - b));
	uint32_t sum = libdeflate_crc32(0, bytes, (size_t)(count * size));
	free(bytes);
	return sum;
}

static pe_image *open_suite(pe_context *ctx, const char *name)
{
	char path[200];
	pe_image *image;
	snprintf(path, sizeof path, "png-suite/%s", name);
	if (pe_image_from_file(ctx, xt_data(path), NULL, &image) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	return image;
}

static void test_suite_own_depth(void **state)
{
	char name[64];
	int height, width, channels, bits, files = 0;
	unsigned wanted;
	(void)xt_data("png-suite/basn0g16.png");
	FILE *list = fopen(xt_source("tests/golden/png/suite.txt"), "r");
	assert_non_null(list);
	for (; fscanf(list, "%63s %d %d %d %d %u", name, &height, &width, &channels, &bits, &wanted) == 6;
		 files++) {
		int64_t count;
		pe_image *image = open_suite(*state, name);
		const pe_image_info *info = pe_image_get_info(image);
		if (info->height != height || info->width != width || info->channels != channels ||
			info->bits != bits)
			fail_msg("%s: %d x %d, %d channels, %d bits expected", name, height, width, channels, bits);
		assert_int_equal(info->maximum, bits == 16 ? 65535 : 255);
		int32_t *samples = samples_of(image, &count);
		if (checksum(samples, count, bits == 16 ? 2 : 1, 0) != wanted)
			fail_msg("%s: the samples differ from the independent decoder's", name);
		free(samples);
		pe_image_destroy(&image);
	}
	fclose(list);
	assert_int_equal(files, 156);
}

/* Whether the suite's list has it: image-png's results are of more files. */
static bool is_listed(const char *name)
{
	char line[200];
	bool found = false;
	size_t size = strlen(name);
	FILE *list = fopen(xt_source("tests/golden/png/suite.txt"), "r");
	assert_non_null(list);
	while (!found && fgets(line, sizeof line, list))
		found = strncmp(line, name, size) == 0 && line[size] == ' ';
	fclose(list);
	return found;
}

static void test_suite_8_bits(void **state)
{
	char line[200], name[64];
	unsigned wanted;
	int files = 0;
	FILE *list = fopen(xt_data("png-suite/results.txt"), "r");
	assert_non_null(list);
	while (fgets(line, sizeof line, list)) {
		if (sscanf(line, "tests/pngsuite/%63[^:]: %u", name, &wanted) != 2)
			continue; /* of other folders, or to be refused */
		if (!is_listed(name))
			continue;
		int64_t count;
		pe_image *image = open_suite(*state, name);
		int32_t *samples = samples_of(image, &count);
		if (checksum(samples, count, 1, pe_image_get_info(image)->bits == 16 ? 8 : 0) != wanted)
			fail_msg("%s: the samples of 8 bits differ from image-png's", name);
		free(samples);
		pe_image_destroy(&image);
		files++;
	}
	fclose(list);
	assert_int_equal(files, 156);
}

static void test_photos(void **state)
{
	static const char *const names[] = {
		"photos/astronaut.png", "photos/camera.png", "photos/palette_color.png", "photos/bw_text.png"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		pe_image *image;
		assert_int_equal(pe_image_from_file(*state, xt_data(names[i]), NULL, &image), PE_OK);
		pe_image_destroy(&image);
	}
}

/* ---- files of our own --------------------------------------------------------------- */

/* 3 × 2 pixels of 16 bits. */
static const uint8_t wide_rows[] = {
	0, 0x00, 0x80, 0x7f, 0xff, 0x80, 0x7f, 0, 0xff, 0x7f, 0x00, 0x00, 0xff, 0xff};

static struct xt_png small(void)
{
	struct xt_png png;
	xt_png_start(&png, 3, 2, 16, 0, 0);
	xt_png_chunk(&png, "gAMA", "\0\0\xb1\x8f", 4);
	xt_png_rows(&png, wide_rows, sizeof wide_rows);
	xt_png_end(&png);
	return png;
}

static struct xt_png small_palette(int colours, int interlaced)
{
	static const uint8_t entries[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	static const uint8_t rows[] = {0, 0x1b, 0, 0xe4};                     /* 0 1 2 3, 3 2 1 0 */
	static const uint8_t passes[] = {0, 0x00, 0, 0x80, 0, 0x70, 0, 0xe4}; /* 0; 2; 1 3; the second row */
	struct xt_png png;
	xt_png_start(&png, 4, 2, 2, 3, interlaced);
	xt_png_chunk(&png, "PLTE", entries, 3 * (size_t)colours);
	xt_png_chunk(&png, "tRNS", "\x80", 1);
	if (interlaced)
		xt_png_rows(&png, passes, sizeof passes);
	else
		xt_png_rows(&png, rows, sizeof rows);
	xt_png_end(&png);
	return png;
}

static void test_16_bits(void **state)
{
	static const double wanted[] = {0x0080, 0x7fff, 0x807f, 0xff7f, 0x0000, 0xffff};
	const int64_t shape[] = {2, 3, 1};
	struct xt_png png = small();
	pe_image *image;
	double values[6];
	float singles[6];
	uint8_t bytes[6];
	assert_int_equal(read_png(*state, &png, NULL, &image), PE_OK);
	assert_string_equal(pe_image_get_info(image)->colour, "gAMA");
	pe_tensor out = pe_tensor_dense(values, PE_F64, 3, shape);
	assert_int_equal(pe_image_read(image, &out), PE_OK);
	pe_tensor out32 = pe_tensor_dense(singles, PE_F32, 3, shape);
	assert_int_equal(pe_image_read(image, &out32), PE_OK);
	for (int i = 0; i < 6; i++) {
		xt_close_f64(values[i], wanted[i] / 65535, 0, 0);
		assert_true(singles[i] == (float)(wanted[i] / 65535));
	}
	pe_tensor out8 = pe_tensor_dense(bytes, PE_U8, 3, shape);
	xt_fails(*state, pe_image_read(image, &out8), PE_ERR_SHAPE, "16 bits do not fit u8");
	pe_image_destroy(&image);
	free(png.bytes);
}

static void test_palette(void **state)
{
	static const uint8_t wanted[] = {1, 2, 3, 128, 4, 5, 6, 255, 7, 8, 9, 255, 10, 11, 12, 255, 10, 11, 12,
		255, 7, 8, 9, 255, 4, 5, 6, 255, 1, 2, 3, 128};
	for (int interlaced = 0; interlaced < 2; interlaced++) {
		struct xt_png png = small_palette(4, interlaced);
		pe_image *image;
		uint8_t values[32];
		assert_int_equal(read_png(*state, &png, NULL, &image), PE_OK);
		assert_true(pe_image_get_info(image)->palette && pe_image_get_info(image)->alpha);
		assert_int_equal(pe_image_get_info(image)->bits, 2);
		pe_tensor out = pe_tensor_dense(values, PE_U8, 3, (int64_t[]){2, 4, 4});
		assert_int_equal(pe_image_read(image, &out), PE_OK);
		assert_memory_equal(values, wanted, sizeof wanted);
		pe_image_destroy(&image);
		free(png.bytes);
	}
}

static void test_palette_overrun(void **state)
{
	for (int interlaced = 0; interlaced < 2; interlaced++) {
		struct xt_png png = small_palette(3, interlaced);
		pe_params *params = lenient(*state);
		pe_image *image;
		int64_t count;
		assert_int_equal(read_png(*state, &png, params, &image), PE_OK);
		int32_t *samples = samples_of(image, &count);
		assert_int_equal(samples[12] + samples[13] + samples[14], 0);
		free(samples);
		pe_image_destroy(&image);
		pe_params_destroy(&params);
		refuses(*state, &png, PE_ERR_FORMAT, "2 pixels have colours beyond the 3 of the palette");
	}
}

/* Rows of as many bytes as a stored block of deflate holds, or nearly so. */
static void test_blocks(void **state)
{
	static const uint32_t sizes[][2] = {{65533, 1}, {65534, 1}, {65535, 1}, {65534, 2}, {43689, 3}};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		size_t width = sizes[i][0], height = sizes[i][1], at = 0;
		uint8_t *rows = calloc(height, width + 1);
		struct xt_png png;
		pe_image *image;
		int64_t count;
		assert_non_null(rows);
		for (size_t y = 0; y < height; y++)
			for (size_t x = 0; x < width; x++)
				rows[y * (width + 1) + 1 + x] = (uint8_t)(x / 7 + y);
		xt_png_start(&png, sizes[i][0], sizes[i][1], 8, 0, 0);
		xt_png_rows(&png, rows, height * (width + 1));
		xt_png_end(&png);
		if (read_png(*state, &png, NULL, &image) != PE_OK)
			fail_msg("%s", pe_context_message(*state));
		int32_t *samples = samples_of(image, &count);
		for (size_t y = 0; y < height; y++)
			for (size_t x = 0; x < width; x++)
				assert_int_equal(samples[at++], (x / 7 + y) & 255);
		free(samples);
		pe_image_destroy(&image);
		free(png.bytes);
		free(rows);
	}
}

/* Samples take 32 times the room of the rows that they are made of, in the same memory. */
static void test_growing(void **state)
{
	enum { WIDTH = 1001, HEIGHT = 401, ROW = 1 + (WIDTH + 7) / 8 };
	static uint8_t rows[HEIGHT * ROW];
	static const uint8_t colours[2][4] = {{10, 20, 30, 40}, {50, 60, 70, 80}};
	struct xt_png png;
	pe_image *image;
	int64_t count;
	for (size_t i = 0; i < sizeof rows; i++)
		rows[i] = (uint8_t)(i % ROW ? i * 2654435761u >> 9 : 0);
	xt_png_start(&png, WIDTH, HEIGHT, 1, 3, 0);
	xt_png_chunk(&png, "PLTE", "\12\24\36\62\74\106", 6);
	xt_png_chunk(&png, "tRNS", "\50\120", 2);
	xt_png_rows(&png, rows, sizeof rows);
	xt_png_end(&png);
	assert_int_equal(read_png(*state, &png, NULL, &image), PE_OK);
	int32_t *samples = samples_of(image, &count);
	for (int i = 0; i < WIDTH * HEIGHT; i++) {
		int bit = rows[i / WIDTH * ROW + 1 + i % WIDTH / 8] >> (7 - i % WIDTH % 8) & 1;
		for (int c = 0; c < 4; c++)
			assert_int_equal(samples[4 * i + c], colours[bit][c]);
	}
	free(samples);
	pe_image_destroy(&image);
	free(png.bytes);
}

/* ---- damage ------------------------------------------------------------------------- */

/* Whatever is wrong, a refusal says it, and leaves nothing. */
static void refuses_quietly(pe_context *ctx, const uint8_t *bytes, size_t size)
{
	pe_image *image;
	uint8_t *exact = malloc(size + (size == 0));
	assert_non_null(exact);
	memcpy(exact, bytes, size);
	int64_t blocks = xt_live_blocks();
	pe_status status = pe_image_from_bytes(ctx, exact, size, "x.png", NULL, &image);
	assert_true(status == PE_ERR_FORMAT || status == PE_ERR_UNSUPPORTED);
	assert_null(image);
	assert_true(pe_context_message(ctx)[0] != '\0');
	assert_int_equal(xt_live_blocks(), blocks);
	free(exact);
}

/* Every byte belongs to something that is checked. */
static void test_every_byte(void **state)
{
	struct xt_png files[] = {small(), small_palette(4, 0), small_palette(4, 1)};
	for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
		for (size_t i = 0; i < files[f].size; i++)
			for (int bit = 0; bit < 8; bit++) {
				files[f].bytes[i] ^= (uint8_t)(1 << bit);
				refuses_quietly(*state, files[f].bytes, files[f].size);
				files[f].bytes[i] ^= (uint8_t)(1 << bit);
			}
		for (size_t size = 0; size < files[f].size; size++)
			refuses_quietly(*state, files[f].bytes, size);
		pe_image *image;
		assert_int_equal(read_png(*state, &files[f], NULL, &image), PE_OK);
		pe_image_destroy(&image);
		free(files[f].bytes);
	}
}

static const char *name_packed(int level, const void *bytes, size_t size, size_t cut)
{
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);
	size_t room = libdeflate_gzip_compress_bound(c, size);
	uint8_t *packed = malloc(room);
	assert_non_null(packed);
	size_t made = libdeflate_gzip_compress(c, bytes, size, packed, room);
	assert_true(made > cut);
	const char *name = pe_image_recognise(packed, made - cut);
	libdeflate_free_compressor(c);
	free(packed);
	return name;
}

/* Inside gzip, whose blocks of incompressible data are stored; 4 KB of it are enough. */
static void test_recognise_packed(void **state)
{
	enum { SIZE = 300000 };
	static uint8_t noise[SIZE];
	uint32_t random = 1;
	struct xt_png png = small();
	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		noise[i] = (uint8_t)((random = random * 1664525 + 1013904223) >> 24);
	memcpy(noise, png.bytes, png.size);
	for (int level = 0; level < 10; level += 3) {
		const char *const names[] = {name_packed(level, png.bytes, png.size, 9),
			name_packed(level, png.bytes, png.size, 0), name_packed(level, noise, SIZE, 0),
			name_packed(level, noise, SIZE, 100000), name_packed(level, noise, SIZE, SIZE - (4 << 10))};
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			assert_true(names[i] && strcmp(names[i], "PNG") == 0);
		assert_null(name_packed(level, "0 1\n1 2\n", 8, 0));
	}
	free(png.bytes);
}

static void test_suite_cut(void **state)
{
	static const char *const names[] = {
		"png-suite/s05i3p02.png", "png-suite/tbbn0g04.png", "png-suite/oi9n0g16.png"};
	for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
		static uint8_t bytes[65536];
		FILE *file = fopen(xt_data(names[f]), "rb");
		assert_non_null(file);
		size_t size = fread(bytes, 1, sizeof bytes, file);
		fclose(file);
		assert_true(size > 0 && size < sizeof bytes);
		for (size_t cut = 0; cut < size; cut += cut < 2000 ? 1 : 37)
			refuses_quietly(*state, bytes, cut);
	}
}

static void test_named_faults(void **state)
{
	struct xt_png png = small();
	png.bytes[8 + 25 + 16 + 8 + 3] ^= 1; /* in IDAT */
	refuses(*state, &png, PE_ERR_FORMAT, "the checksum of chunk IDAT does not fit its data, at byte 49");
	png = small();
	png.size -= 12;
	refuses(*state, &png, PE_ERR_FORMAT, "ends without the chunk IEND");
	png = small();
	xt_png_bytes(&png, "x", 1);
	refuses(*state, &png, PE_ERR_FORMAT, "more data behind the end");
	png = small();
	memmove(png.bytes + 4, png.bytes + 5, png.size - 5); /* \r\n became \n */
	refuses(*state, &png, PE_ERR_FORMAT, "signature of PNG is damaged");
	xt_png_start(&png, 3, 2, 16, 0, 0);
	xt_png_chunk(&png, "CgBI", "\0\0\0\0", 4);
	refuses(*state, &png, PE_ERR_UNSUPPORTED, "Apple's variant");
	xt_png_start(&png, 3, 2, 16, 0, 0);
	xt_png_chunk(&png, "IdAT", "", 0);
	refuses(*state, &png, PE_ERR_FORMAT, "chunk IdAT is critical");
	xt_png_start(&png, 3, 2, 16, 0, 0);
	xt_png_end(&png);
	refuses(*state, &png, PE_ERR_FORMAT, "PNG:");
	xt_png_start(&png, 3, 2, 7, 0, 0);
	xt_png_rows(&png, wide_rows, sizeof wide_rows);
	xt_png_end(&png);
	refuses(*state, &png, PE_ERR_FORMAT, "PNG: ");
	xt_png_start(&png, 3, 2, 8, 3, 0); /* no palette */
	xt_png_rows(&png, wide_rows, 8);
	xt_png_end(&png);
	refuses(*state, &png, PE_ERR_FORMAT, "PLTE");
}

static void test_rows(void **state)
{
	uint8_t rows[28] = {0};
	struct xt_png png;
	xt_png_start(&png, 3, 2, 16, 0, 0);
	xt_png_rows(&png, wide_rows, 7); /* one row is missing */
	xt_png_end(&png);
	refuses(*state, &png, PE_ERR_FORMAT, "Not enough");
	xt_png_start(&png, 3, 2, 16, 0, 0);
	xt_png_rows(&png, rows, 28); /* two too many */
	xt_png_end(&png);
	refuses(*state, &png, PE_ERR_FORMAT, "Too much");
	xt_png_start(&png, 3, 2, 16, 0, 0);
	xt_png_rows(&png, wide_rows, 14);
	xt_png_rows(&png, wide_rows, 14); /* a second stream behind the first */
	xt_png_end(&png);
	refuses(*state, &png, PE_ERR_FORMAT, "Extra compressed data");
	xt_png_start(&png, 3, 2, 16, 0, 0);
	rows[0] = 5; /* no such filter */
	xt_png_rows(&png, rows, 14);
	xt_png_end(&png);
	refuses(*state, &png, PE_ERR_FORMAT, "filter");
}

/* The pixels' own checksum, and what follows it, wherever the chunks are cut. */
static void test_split(void **state)
{
	uint8_t *packed;
	size_t size = xt_png_pack(wide_rows, sizeof wide_rows, &packed);
	for (size_t piece = 1; piece <= size; piece++)
		for (int fault = 0; fault < 3; fault++) {
			struct xt_png png;
			pe_image *image;
			packed[size - 1] ^= fault == 1;
			xt_png_start(&png, 3, 2, 16, 0, 0);
			for (size_t at = 0; at < size; at += piece) {
				xt_png_chunk(&png, "IDAT", packed + at, at + piece < size ? piece : size - at);
				xt_png_chunk(&png, "IDAT", "", 0);
			}
			if (fault == 2)
				xt_png_chunk(&png, "IDAT", "x", 1);
			xt_png_end(&png);
			packed[size - 1] ^= fault == 1;
			if (fault > 0) {
				refuses(*state, &png, PE_ERR_FORMAT,
					fault == 1 ? "incorrect data check" : "Extra compressed data");
				continue;
			}
			assert_int_equal(read_png(*state, &png, NULL, &image), PE_OK);
			pe_image_destroy(&image);
			free(png.bytes);
		}
	free(packed);
}

static void test_order(void **state)
{
	uint8_t *packed;
	size_t size = xt_png_pack(wide_rows, sizeof wide_rows, &packed);
	struct xt_png png;
	xt_png_start(&png, 3, 2, 16, 0, 0);
	xt_png_chunk(&png, "IDAT", packed, 5);
	xt_png_chunk(&png, "tEXt", "a\0b", 3);
	xt_png_chunk(&png, "IDAT", packed + 5, size - 5);
	xt_png_end(&png);
	refuses(*state, &png, PE_ERR_FORMAT, "other chunks between chunks IDAT");
	xt_png_start(&png, 3, 2, 16, 0, 0);
	xt_png_chunk(&png, "IDAT", packed, size);
	xt_png_chunk(&png, "tRNS", "\0\0", 2);
	xt_png_end(&png);
	refuses(*state, &png, PE_ERR_FORMAT, "a chunk of colours comes after the pixels");
	free(packed);
}

/* A palette of colours to be shown cancels what was transparent before it. */
static void test_cancelled(void **state)
{
	pe_params *params = lenient(*state);
	struct xt_png png;
	pe_image *image;
	int64_t count;
	xt_png_start(&png, 2, 1, 8, 2, 0);
	xt_png_chunk(&png, "tRNS", "\0\1\0\2\0\3", 6);
	xt_png_chunk(&png, "PLTE", "\1\2\3", 3);
	xt_png_rows(&png, "\0\1\2\3\4\5\6", 7);
	xt_png_end(&png);
	assert_int_equal(read_png(*state, &png, params, &image), PE_OK);
	assert_int_equal(pe_image_get_info(image)->channels, 3);
	int32_t *samples = samples_of(image, &count);
	for (int i = 0; i < 6; i++)
		assert_int_equal(samples[i], i + 1);
	free(samples);
	pe_image_destroy(&image);
	pe_params_destroy(&params);
	refuses(*state, &png, PE_ERR_FORMAT, "tRNS must be after");
}

static void test_lenient(void **state)
{
	pe_params *params = lenient(*state);
	pe_image *image;
	int64_t count;
	struct xt_png png;
	xt_png_start(&png, 3, 2, 16, 0, 0);
	xt_png_rows(&png, wide_rows, 7); /* one row is missing, and the end */
	assert_int_equal(read_png(*state, &png, params, &image), PE_OK);
	int32_t *samples = samples_of(image, &count);
	assert_int_equal(samples[0], 0x0080);
	assert_int_equal(samples[2], 0x807f);
	assert_int_equal(samples[3] + samples[4] + samples[5], 0);
	free(samples);
	pe_image_destroy(&image);
	for (size_t size = 0; size < png.size; size++) { /* whatever comes of it, it ends well */
		pe_status status = pe_image_from_bytes(*state, png.bytes, size, NULL, params, &image);
		assert_true(status == PE_OK || status == PE_ERR_FORMAT);
		assert_true((status == PE_OK) == (image != NULL));
		pe_image_destroy(&image);
	}
	free(png.bytes);
	png = small();
	png.bytes[png.size - 1] ^= 1;
	xt_png_bytes(&png, "tail", 4);
	assert_int_equal(read_png(*state, &png, params, &image), PE_OK);
	pe_image_destroy(&image);
	free(png.bytes);
	pe_params_destroy(&params);
}

/* ---- size --------------------------------------------------------------------------- */

static void bomb(pe_context *ctx, uint32_t width, uint32_t height, const char *text)
{
	struct xt_png png;
	xt_png_start(&png, width, height, 16, 6, 0);
	xt_png_rows(&png, wide_rows, sizeof wide_rows);
	xt_png_end(&png);
	xt_fail_allocation(-1, false);
	refuses(ctx, &png, PE_ERR_FORMAT, text);
}

static void test_bombs(void **state)
{
	bomb(*state, 1000000, 1000000, "1000000 x 1000000 pixels are more than the limit of 268435456");
	assert_int_equal(xt_allocations(), 1); /* of the handle: none for what the file says */
	bomb(*state, 0x7fffffff, 0x7fffffff, "more than the limit");
	assert_int_equal(xt_allocations(), 1);
	bomb(*state, 0xffffffff, 1, "more than the limit");
	bomb(*state, 0, 4, "is empty");
	bomb(*state, 16000, 16000, "too few for 16000 x 16000 pixels"); /* within the limit, 2 GB */
}

/* A lenient reader takes no size at its word that the data cannot come to, but for small pictures. */
static void test_lenient_bomb(void **state)
{
	static const struct {
		uint32_t width, height;
		size_t tail; /* bytes behind the end */
		bool taken;
	} all[] = {{4096, 4096, 0, true}, {4096, 4097, 0, false}, {16384, 16384, 30000, false},
		{4096, 4097, 2100, true}};
	pe_params *params = lenient(*state);
	void *tail = calloc(30000, 1);
	assert_non_null(tail);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct xt_png png;
		pe_image *image;
		xt_png_start(&png, all[i].width, all[i].height, 1, 0, 0);
		xt_png_rows(&png, wide_rows, sizeof wide_rows);
		xt_png_end(&png);
		xt_png_bytes(&png, tail, all[i].tail);
		xt_fail_allocation(-1, false);
		pe_status status = read_png(*state, &png, params, &image);
		assert_int_equal(status, all[i].taken ? PE_OK : PE_ERR_FORMAT);
		if (!all[i].taken) {
			assert_int_equal(xt_allocations(), 1);
			assert_non_null(strstr(pe_context_message(*state), "more than a lenient reader takes from "));
		}
		pe_image_destroy(&image);
		free(png.bytes);
	}
	free(tail);
	pe_params_destroy(&params);
}

static void test_max_pixels(void **state)
{
	struct xt_png png = small();
	pe_params *params;
	pe_image *image;
	assert_int_equal(pe_params_create(*state, "image", &params), PE_OK);
	xt_set(params, "max_pixels=6");
	assert_int_equal(read_png(*state, &png, params, &image), PE_OK);
	pe_image_destroy(&image);
	xt_set(params, "max_pixels=5");
	xt_fails(*state, read_png(*state, &png, params, &image), PE_ERR_FORMAT, "raise max_pixels");
	pe_params_destroy(&params);
	free(png.bytes);
}

/* A text chunk of 40 MB, and one that unpacks to 400: no chunk of no use costs memory. */
static void test_huge_chunks(void **state)
{
	size_t size = (size_t)40 << 20;
	uint8_t *body = calloc(size, 1);
	struct xt_png png;
	pe_image *image;
	assert_non_null(body);
	memcpy(body, "Comment", 7);
	xt_png_start(&png, 3, 2, 16, 0, 0);
	xt_png_chunk(&png, "tEXt", body, size);
	for (int i = 0; i < 2000; i++) /* more than libpng keeps */
		xt_png_chunk(&png, "tEXt", "Comment\0x", 9);
	xt_png_chunk(&png, "iCCP", "nonsense", 8);
	xt_png_rows(&png, wide_rows, sizeof wide_rows);
	xt_png_chunk(&png, "zTXt", body, 1000);
	xt_png_end(&png);
	assert_int_equal(read_png(*state, &png, NULL, &image), PE_OK);
	assert_string_equal(pe_image_get_info(image)->colour, "iCCP");
	pe_image_destroy(&image);
	free(png.bytes);
	free(body);
}

static void test_no_memory(void **state)
{
	struct xt_png png = small_palette(4, 1);
	struct xt_shortage s = {0};
	while (xt_shortage_next(&s)) {
		pe_image *image;
		xt_shortage_begin(&s);
		xt_shortage_end(&s, read_png(*state, &png, NULL, &image));
		assert_int_equal(image != NULL, s.over);
		pe_image_destroy(&image);
	}
	assert_true(s.failed > 3);
	free(png.bytes);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suite_own_depth),
		cmocka_unit_test(test_suite_8_bits),
		cmocka_unit_test(test_recognise_packed),
		cmocka_unit_test(test_suite_cut),
		cmocka_unit_test(test_photos),
		cmocka_unit_test(test_16_bits),
		cmocka_unit_test(test_palette),
		cmocka_unit_test(test_palette_overrun),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_growing),
		cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_named_faults),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_cancelled),
		cmocka_unit_test(test_lenient),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_lenient_bomb),
		cmocka_unit_test(test_max_pixels),
		cmocka_unit_test(test_huge_chunks),
		cmocka_unit_test(test_no_memory),
	};
	return xt_run(argc, argv, tests);
}
