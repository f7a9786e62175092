/* SPDX-License-Identifier: BSD-2-Clause */
#define _DEFAULT_SOURCE /* madvise */
#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 64
#define HUGE_PAGE ((size_t)2 << 20)

bool pe_mul(int64_t a, int64_t b, int64_t *out)
{
	return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, out);
}

bool pe_add(int64_t a, int64_t b, int64_t *out)
{
	return a >= 0 && b >= 0 && !__builtin_add_overflow(a, b, out);
}

static void *allocate(void *opaque, size_t size, size_t alignment)
{
	(void)opaque;
	bool huge = size >= 2 * HUGE_PAGE && size <= SIZE_MAX - HUGE_PAGE;
	void *pointer = NULL;
	/* A fresh block of many megabytes costs more in page faults than in filling it, its end too. */
	if (huge)
		size = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	if (posix_memalign(&pointer, huge ? HUGE_PAGE : alignment, size) != 0)
		return NULL;
#ifdef MADV_HUGEPAGE
	if (huge)
		(void)madvise(pointer, size, MADV_HUGEPAGE);
#endif
	return pointer;
}

static void release(void *opaque, void *pointer)
{
	(void)opaque;
	free(pointer);
}

pe_allocator pe_default_allocator(void)
{
	return (pe_allocator){.allocate = allocate, .release = release};
}

void *pe_alloc(pe_context *ctx, int64_t count, size_t size)
{
	int64_t bytes;
	if (!pe_mul(count, (int64_t)size, &bytes) || (uint64_t)bytes > SIZE_MAX - ALIGNMENT) {
		(void)pe_fail(ctx, PE_ERR_NOMEM, "%lld elements of %zu bytes are more than memory can hold",
			(long long)count, size);
		return NULL;
	}
	void *pointer = ctx->allocator.allocate(ctx->allocator.opaque, bytes ? (size_t)bytes : 1, ALIGNMENT);
	if (!pointer)
		(void)pe_fail(ctx, PE_ERR_NOMEM, "out of memory: %lld bytes could not be had", (long long)bytes);
	return pointer;
}

void *pe_alloc_zero(pe_context *ctx, int64_t count, size_t size)
{
	void *pointer = pe_alloc(ctx, count, size);
	if (pointer)
		memset(pointer, 0, (size_t)count * size);
	return pointer;
}

void *pe_alloc_copy(pe_context *ctx, const void *source, int64_t count, size_t size)
{
	void *pointer = pe_alloc(ctx, count, size);
	if (pointer && count > 0)
		memcpy(pointer, source, (size_t)count * size);
	return pointer;
}

pe_status pe_grow(
	pe_context *ctx, void *array_address, int64_t *capacity, int64_t used, int64_t need, size_t size)
{
	if (need <= *capacity)
		return PE_OK;
	int64_t larger = pe_max(need, *capacity < INT64_MAX / 2 ? 2 * *capacity : need);
	larger = pe_max(larger, 16);
	void *grown = pe_alloc(ctx, larger, size);
	if (!grown)
		return PE_ERR_NOMEM;
	void *old;
	memcpy(&old, array_address, sizeof old);
	if (used > 0)
		memcpy(grown, old, (size_t)used * size);
	pe_free(ctx, old);
	memcpy(array_address, &grown, sizeof grown);
	*capacity = larger;
	return PE_OK;
}

char *pe_strdup(pe_context *ctx, const char *text)
{
	return pe_alloc_copy(ctx, text, (int64_t)strlen(text) + 1, 1);
}

void pe_free(pe_context *ctx, void *pointer)
{
	if (pointer)
		ctx->allocator.release(ctx->allocator.opaque, pointer);
}
