/* SPDX-License-Identifier: BSD-2-Clause
 * libFuzzer target of pe_image_from_bytes, strict and lenient. What is read is asked for as values and as
 * patches; what is refused says why. The checksums of a PNG are set right first, so that changes get past
 * them: the seeds hold both. Pictures above 2^16 pixels and blocks above 64 MiB are refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>

#include "context.h"

#define LARGEST ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *allocate(void *opaque, size_t size, size_t alignment)
{
	(void)opaque;
	void *pointer;
	return size <= LARGEST && posix_memalign(&pointer, alignment, size) == 0 ? pointer : NULL;
}

static void release(void *opaque, void *pointer)
{
	(void)opaque;
	free(pointer);
}

static void require(bool holds, const char *what, const pe_context *ctx)
{
	if (holds)
		return;
	fprintf(stderr, "%s; message \"%s\"\n", what, pe_context_message(ctx));
	abort();
}

static bool is_png(const uint8_t *data, size_t size)
{
	return size > 8 && memcmp(data + 1, "PNG", 3) == 0;
}

static uint32_t number_at(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Sets the checksum of every chunk right. */
static void mend(uint8_t *data, size_t size)
{
	for (size_t at = 8; size - at >= 12;) {
		size_t length = number_at(data + at);
		if (length > size - at - 12)
			return;
		uint32_t sum = libdeflate_crc32(0, data + at + 4, length + 4);
		for (int i = 0; i < 4; i++)
			data[at + 8 + length + (size_t)i] = (uint8_t)(sum >> (24 - 8 * i));
		at += length + 12;
	}
}

/* In a type that the samples fit; every value is within 0 … maximum. */
static void look_at_values(pe_context *ctx, const pe_image *image)
{
	const pe_image_info *info = pe_image_get_info(image);
	pe_tensor out = pe_tensor_dense(NULL, PE_I32, 3, (int64_t[]){info->height, info->width, info->channels});
	int64_t count = pe_tensor_count(&out);
	int32_t *values = malloc((size_t)count * sizeof *values);
	require(values != NULL, "no memory", ctx);
	out.data = values;
	require(pe_image_read(image, &out) == PE_OK, "its values cannot be had", ctx);
	for (int64_t i = 0; i < count; i++)
		require(values[i] >= 0 && values[i] <= info->maximum, "a value is beyond the largest", ctx);
	free(values);
}

static void look_at_patches(pe_context *ctx, const pe_image *image, const char *fit)
{
	pe_params *params;
	pe_image_layout l;
	require(pe_params_create(ctx, "image", &params) == PE_OK && pe_params_set(params, "fit", fit) == PE_OK &&
			pe_params_set(params, "patch", "3") == PE_OK && pe_params_set(params, "alpha", "white") == PE_OK,
		"no options", ctx);
	if (pe_image_get_layout(image, params, &l) == PE_OK) {
		pe_tensor out = pe_tensor_dense(NULL, PE_F32, 2, (int64_t[]){l.rows * l.columns, l.width});
		out.data = malloc((size_t)pe_tensor_bytes(&out));
		require(out.data != NULL, "no memory", ctx);
		pe_status status = pe_image_tokens(image, params, &out);
		require(status == PE_OK || status == PE_ERR_NOMEM, "its patches cannot be had", ctx);
		free(out.data);
	}
	pe_params_destroy(&params);
}

static void read_one(pe_context *ctx, const uint8_t *data, size_t size, const char *lenient)
{
	pe_params *params;
	pe_image *image;
	require(pe_params_create(ctx, "image", &params) == PE_OK &&
			pe_params_set(params, "lenient", lenient) == PE_OK &&
			pe_params_set(params, "max_pixels", "65536") == PE_OK,
		"no options", ctx);
	pe_status status = pe_image_from_bytes(ctx, data, size, "fuzz", params, &image);
	pe_params_destroy(&params);
	if (status != PE_OK) {
		require(
			!image && status != PE_ERR_INTERNAL && status != PE_ERR_ARGUMENT && pe_context_message(ctx)[0],
			"a refusal is wrong", ctx);
		return;
	}
	look_at_values(ctx, image);
	if (pe_image_get_info(image)->height * pe_image_get_info(image)->width <= 1 << 10) {
		look_at_patches(ctx, image, "pad");
		look_at_patches(ctx, image, "resize");
	}
	pe_image_destroy(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	pe_context_options options = {.size = sizeof options, .allocator = {allocate, release, NULL}};
	pe_context *ctx;
	if (pe_context_create(&options, &ctx) != PE_OK)
		return 0;
	read_one(ctx, data, size, "0");
	read_one(ctx, data, size, "1");
	uint8_t *copy = is_png(data, size) ? malloc(size) : NULL;
	if (copy) {
		memcpy(copy, data, size);
		mend(copy, size);
		read_one(ctx, copy, size, "0");
		read_one(ctx, copy, size, "1");
	}
	free(copy);
	pe_context_destroy(&ctx);
	return 0;
}
