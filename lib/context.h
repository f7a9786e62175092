/* SPDX-License-Identifier: BSD-2-Clause
 * The context: where memory, messages, threads, the seed and the kernels come from. */
#ifndef PE_CONTEXT_H
#define PE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "posenc.h"

struct pe_digest;
struct pe_pool;
struct pe_kernels;

struct pe_context {
	pe_allocator allocator;
	void (*log)(void *opaque, pe_log_level level, const char *text);
	int (*progress)(void *opaque, const char *stage, int64_t done, int64_t total);
	void *opaque;
	int32_t threads;
	uint64_t seed;
	const struct pe_kernels *kernels;
	struct pe_pool *pool;     /* NULL: everything runs in the calling thread */
	struct pe_digest *digest; /* what pe_file_read reads goes in here too, unless NULL */
	char message[1024];
};

/* Memory for count elements of size bytes, 64-byte aligned, uninitialised. count 0 gives a
 * pointer that may only be freed. NULL on overflow, negative count or no memory, with the message set. */
void *pe_alloc(pe_context *ctx, int64_t count, size_t size) PE_NODISCARD;
/* Likewise, zeroed. */
void *pe_alloc_zero(pe_context *ctx, int64_t count, size_t size) PE_NODISCARD;
/* Makes room for need elements in *array of *capacity: doubles, copies the first used ones.
 * On failure *array is as it was. */
pe_status pe_grow(pe_context *ctx, void *array_address, int64_t *capacity, int64_t used, int64_t need,
	size_t size) PE_NODISCARD;
/* A copy of count elements of size bytes. */
void *pe_alloc_copy(pe_context *ctx, const void *source, int64_t count, size_t size) PE_NODISCARD;
/* A copy of a string. */
char *pe_strdup(pe_context *ctx, const char *text) PE_NODISCARD;
void pe_free(pe_context *ctx, void *pointer);

/* false if a * b does not fit; a, b ≥ 0. */
bool pe_mul(int64_t a, int64_t b, int64_t *out);
bool pe_add(int64_t a, int64_t b, int64_t *out);

/* Copies a caller's struct of options, which begins with its size, over defaults of `size` bytes; NULL
 * leaves them. name is the struct's, for the message. */
pe_status pe_take_options(
	pe_context *ctx, void *to, size_t size, const void *options, const char *name) PE_NODISCARD;

/* Sets the context's message, and gives status back: return pe_fail(ctx, PE_ERR_RANGE, "k is %d", k). */
pe_status pe_fail(pe_context *ctx, pe_status status, const char *format, ...) PE_PRINTF(3, 4);
/* Calls the log callback, if there is one. Silent in worker threads. */
void pe_log(pe_context *ctx, pe_log_level level, const char *format, ...) PE_PRINTF(3, 4);

/* For functions that have nothing to clean up. */
#define PE_TRY(call) \
	do { \
		pe_status try_status_ = (call); \
		if (try_status_ != PE_OK) \
			return try_status_; \
	} while (0)

#define PE_COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))
#define PE_PI 3.14159265358979323846

static inline int64_t pe_min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t pe_max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

#endif
