/* SPDX-License-Identifier: BSD-2-Clause
 * A photograph-like picture of 12 megapixels to patches, beside libpng's own decoding of the same bytes to
 * memory that it is given.
 *
 *   bench_png [FILE.png]     or of a file
 *
 * Both start from bytes in memory, on one thread. Times are of the processor,
 * the least of several turns, taken alternately. */
#define _DEFAULT_SOURCE /* madvise */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <png.h>

#include "measure.h"
#include "posenc.h"

enum { WIDTH = 4000, HEIGHT = 3000, TURNS = 5 };

struct bytes {
	unsigned char *data;
	size_t size, capacity, at;
};

static void require(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "bench_png: %s\n", what);
	exit(1);
}

/* In huge pages, as the program and the library ask for. */
static void *huge_memory(size_t size)
{
	void *memory;
	require(posix_memalign(&memory, (size_t)2 << 20, size) == 0, "out of memory");
	(void)madvise(memory, size, MADV_HUGEPAGE);
	return memory;
}

/* ---- the picture -------------------------------------------------------------------- */

static void append(png_structp png, png_bytep data, size_t size)
{
	struct bytes *b = png_get_io_ptr(png);
	if (b->capacity < b->size + size) {
		b->capacity = 2 * (b->size + size);
		b->data = realloc(b->data, b->capacity);
		require(b->data != NULL, "out of memory");
	}
	memcpy(b->data + b->size, data, size);
	b->size += size;
}

static void flush(png_structp png)
{
	(void)png;
}

/* Smooth shapes and some noise, as a camera gives. */
static void fill_row(unsigned char *row, int y, unsigned *noise)
{
	for (int x = 0; x < WIDTH; x++)
		for (int c = 0; c < 3; c++) {
			double smooth = 110 + 60 * sin(x * 0.004 + c) + 50 * cos(y * 0.006 - c);
			*noise = *noise * 1664525u + 1013904223u;
			row[3 * x + c] = (unsigned char)(smooth + (double)(*noise >> 29));
		}
}

static void make_picture(struct bytes *out)
{
	static unsigned char row[3 * WIDTH];
	static unsigned noise = 1;
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);
	require(png && info && setjmp(png_jmpbuf(png)) == 0, "libpng cannot write");
	png_set_write_fn(png, out, append, flush);
	png_set_IHDR(png, info, WIDTH, HEIGHT, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
		PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_set_compression_level(png, 4);
	png_write_info(png, info);
	for (int y = 0; y < HEIGHT; y++) {
		fill_row(row, y, &noise);
		png_write_row(png, row);
	}
	png_write_end(png, NULL);
	png_destroy_write_struct(&png, &info);
}

static void read_file(const char *path, struct bytes *out)
{
	FILE *file = fopen(path, "rb");
	require(file && fseek(file, 0, SEEK_END) == 0, "the file cannot be read");
	out->size = (size_t)ftell(file);
	out->data = malloc(out->size);
	rewind(file);
	require(out->data && fread(out->data, 1, out->size, file) == out->size, "the file cannot be read");
	fclose(file);
}

/* ---- the peer ----------------------------------------------------------------------- */

static void take(png_structp png, png_bytep out, size_t size)
{
	struct bytes *b = png_get_io_ptr(png);
	if (b->size - b->at < size)
		png_error(png, "too short");
	memcpy(out, b->data + b->at, size);
	b->at += size;
}

static double libpng_decode(struct bytes *in, unsigned char *pixels)
{
	double start = now(CLOCK_PROCESS_CPUTIME_ID);
	in->at = 0;
	png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);
	require(png && info && setjmp(png_jmpbuf(png)) == 0, "libpng cannot read");
	png_set_read_fn(png, in, take);
	png_read_info(png, info);
	int passes = png_set_interlace_handling(png);
	png_read_update_info(png, info);
	size_t row = png_get_rowbytes(png, info), height = png_get_image_height(png, info);
	for (int pass = 0; pass < passes; pass++)
		for (size_t y = 0; y < height; y++)
			png_read_row(png, pixels + y * row, NULL);
	png_read_end(png, NULL);
	png_destroy_read_struct(&png, &info, NULL);
	return now(CLOCK_PROCESS_CPUTIME_ID) - start;
}

/* ---- ours --------------------------------------------------------------------------- */

static pe_image *decode(pe_context *ctx, const struct bytes *in)
{
	pe_image *image;
	require(pe_image_from_bytes(ctx, in->data, in->size, "bench", NULL, &image) == PE_OK,
		pe_context_message(ctx));
	return image;
}

static double to_patches(pe_context *ctx, const struct bytes *in, const pe_tensor *out, double *decoded)
{
	double start = now(CLOCK_PROCESS_CPUTIME_ID);
	pe_image *image = decode(ctx, in);
	*decoded = now(CLOCK_PROCESS_CPUTIME_ID) - start;
	require(pe_image_tokens(image, NULL, out) == PE_OK, pe_context_message(ctx));
	pe_image_destroy(&image);
	return now(CLOCK_PROCESS_CPUTIME_ID) - start;
}

int main(int argc, char **argv)
{
	struct bytes in = {0};
	pe_context *ctx;
	pe_image_layout l;
	double least = 1e9, least_decoded = 1e9, peer = 1e9;
	if (argc > 1)
		read_file(argv[1], &in);
	else
		make_picture(&in);
	require(pe_context_create(NULL, &ctx) == PE_OK, "no context");
	pe_image *image = decode(ctx, &in);
	const pe_image_info *info = pe_image_get_info(image);
	require(pe_image_get_layout(image, NULL, &l) == PE_OK, pe_context_message(ctx));
	size_t samples = (size_t)(info->height * info->width * info->channels);
	printf("%lld x %lld pixels, %.1f MB packed, %lld patches\n", (long long)info->width,
		(long long)info->height, 1e-6 * (double)in.size, (long long)(l.rows * l.columns));
	pe_tensor out = pe_tensor_dense(NULL, PE_F32, 2, (int64_t[]){l.rows * l.columns, l.width});
	out.data = huge_memory((size_t)pe_tensor_bytes(&out));
	unsigned char *pixels = huge_memory(2 * samples);
	memset(out.data, 0, (size_t)pe_tensor_bytes(&out));
	memset(pixels, 0, 2 * samples);
	pe_image_destroy(&image);
	for (int turn = 0; turn < TURNS; turn++) {
		double decoded;
		peer = fmin(peer, libpng_decode(&in, pixels));
		least = fmin(least, to_patches(ctx, &in, &out, &decoded));
		least_decoded = fmin(least_decoded, decoded);
	}
	printf("libpng alone %.3f s; ours: decoding %.3f s (%.2f), with patches %.3f s (%.2f)\n", peer,
		least_decoded, least_decoded / peer, least, least / peer);
	free(out.data);
	free(pixels);
	free(in.data);
	pe_context_destroy(&ctx);
	return 0;
}
