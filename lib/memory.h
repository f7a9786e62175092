/* SPDX-License-Identifier: BSD-2-Clause
 * The allocator behind pe_alloc, which context.h declares. */
#ifndef PE_MEMORY_H
#define PE_MEMORY_H

#include "context.h"

/* The C library's, with huge pages asked for where a block is large enough to gain by them. */
pe_allocator pe_default_allocator(void);

#endif
