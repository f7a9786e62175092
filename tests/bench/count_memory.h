/* SPDX-License-Identifier: BSD-2-Clause
 * An allocator that counts: bytes in use, and the most there were. */
#ifndef COUNT_MEMORY_H
#define COUNT_MEMORY_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define HEADER 64 /* bytes in front of a block, which hold its size */

static atomic_llong used, peak;

static inline void *count_allocate(void *opaque, size_t size, size_t alignment)
{
	(void)opaque;
	(void)alignment;
	void *memory;
	if (posix_memalign(&memory, HEADER, size + HEADER) != 0)
		return NULL;
	memcpy(memory, &size, sizeof size);
	long long total = atomic_fetch_add(&used, (long long)size) + (long long)size;
	if (total > atomic_load(&peak))
		atomic_store(&peak, total);
	return (char *)memory + HEADER;
}

static inline void count_release(void *opaque, void *pointer)
{
	(void)opaque;
	size_t size;
	if (!pointer)
		return;
	memcpy(&size, (char *)pointer - HEADER, sizeof size);
	atomic_fetch_sub(&used, (long long)size);
	free((char *)pointer - HEADER);
}

#endif
