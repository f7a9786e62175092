/* SPDX-License-Identifier: BSD-2-Clause
 * Worker threads. Work is cut by the problem, never by the number of threads, so that results
 * do not depend on it. */
#ifndef PE_POOL_H
#define PE_POOL_H

#include "context.h"

/* Does one chunk. worker is a context of this thread alone: it has the caller's allocator, seed
 * and kernels, a message of its own, no log and no pool. */
typedef pe_status (*pe_chunk_fn)(pe_context *worker, void *arg, int64_t chunk);

/* Calls fn for chunks 0 … chunks-1, in any order and on any thread. Returns the status and takes
 * the message of the lowest chunk that failed; chunks above it may not have run. stage, if not
 * NULL, names the work to the progress callback. Inside a worker it runs in place. */
pe_status pe_parallel(
	pe_context *ctx, int64_t chunks, pe_chunk_fn fn, void *arg, const char *stage) PE_NODISCARD;

pe_status pe_pool_create(pe_context *ctx, int32_t threads, struct pe_pool **out) PE_NODISCARD;
void pe_pool_destroy(pe_context *ctx, struct pe_pool **pool);

#endif
