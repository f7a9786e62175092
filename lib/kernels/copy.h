/* SPDX-License-Identifier: BSD-2-Clause
 * Copying of short runs, such as the rows of a large table from the few runs that they are made of. */
#ifndef PE_COPY_H
#define PE_COPY_H

#include <stdbool.h>
#include <stdint.h>

/* to ← from, apart from each other. stream: past the caches, for outputs that would not stay in them; `to`
 * and bytes are multiples of 64 then, and other threads see what was written after a call of the fence. */
typedef void pe_copy_fn(void *to, const void *from, int64_t bytes, bool stream);
typedef void pe_fence_fn(void);

#endif
