/* SPDX-License-Identifier: BSD-2-Clause
 * libFuzzer target of pe_bundle_from_bytes: every format on the same bytes. What is read is touched
 * to its last element, written again and compared; what is refused says why. Blocks above 64 MiB are
 * refused, so that what is found is found by the readers. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "context.h"
#include "tensor.h"

#define LARGEST ((size_t)64 << 20)
#define ELEMENTS 4096 /* as many of each array are looked at */

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

/* Both ends of the view, and some of what is between. */
static double touch(const pe_tensor *t)
{
	double sum = 0, value;
	int64_t count = pe_tensor_count(t), step = count / ELEMENTS + 1;
	for (int64_t i = count - 1; i >= 0; i -= step) {
		int64_t offset = 0, rest = i;
		for (int32_t d = t->ndim - 1; d >= 0; d--) {
			offset += rest % t->shape[d] * t->strides[d];
			rest /= t->shape[d];
		}
		pe_load_f64(&value, (char *)t->data + offset * (int64_t)pe_dtype_size(t->dtype), t->dtype, 1, 1);
		sum += value;
	}
	return sum;
}

static void write_again(pe_context *ctx, pe_bundle *b)
{
	int fd = open("/dev/null", O_WRONLY);
	pe_status status = pe_bundle_write_fd(b, fd, "safetensors");
	require(status != PE_ERR_INTERNAL && status != PE_ERR_IO, "writing failed", ctx);
	(void)!pe_bundle_write_fd(b, fd, "npz");
	close(fd);
}

static void compare_with_itself(pe_context *ctx, const pe_bundle *b)
{
	pe_compare_report *report;
	if (pe_compare(ctx, b, b, NULL, &report) != PE_OK)
		return;
	require(pe_compare_alike(report), "it is not like itself", ctx);
	pe_compare_destroy(&report);
}

/* The sum is returned so that the reading is not optimised away. */
static double check(pe_context *ctx, pe_bundle *b)
{
	int64_t total = 0;
	double sum = 0;
	for (int64_t i = 0; i < pe_bundle_count(b); i++) {
		pe_tensor t;
		require(
			pe_bundle_at(b, i, NULL, &t) == PE_OK && pe_tensor_bytes(&t) >= 0, "a tensor is not valid", ctx);
		sum += touch(&t);
		total += pe_tensor_count(&t);
	}
	if (total <= 1 << 16) {
		write_again(ctx, b);
		compare_with_itself(ctx, b);
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const formats[] = {NULL, "npy", "npz", "safetensors"};
	pe_context_options options = {.size = sizeof options, .allocator = {allocate, release, NULL}};
	pe_context *ctx;
	if (pe_context_create(&options, &ctx) != PE_OK)
		return 0;
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		pe_bundle *b;
		pe_status status = pe_bundle_from_bytes(ctx, data, size, "fuzz", formats[i], &b);
		if (status == PE_OK)
			(void)check(ctx, b);
		else
			require(!b && status != PE_ERR_INTERNAL && status != PE_ERR_ARGUMENT, "a refusal is wrong", ctx);
		pe_bundle_destroy(&b);
	}
	pe_context_destroy(&ctx);
	return 0;
}
