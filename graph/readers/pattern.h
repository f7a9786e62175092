/* SPDX-License-Identifier: BSD-2-Clause
 * Who is joined to whom in a list of edges. */
#ifndef PE_PATTERN_H
#define PE_PATTERN_H

#include "context.h"

/* Whether every edge u[e]→v[e], 0 ≤ u, v < n, stands in the other direction too. Repeated edges count
 * once, loops not at all, weights do not matter. O(n + count) time and memory. */
pe_status pe_pattern_symmetric(
	pe_context *ctx, int32_t n, int64_t count, const int32_t *u, const int32_t *v, bool *out) PE_NODISCARD;

#endif
