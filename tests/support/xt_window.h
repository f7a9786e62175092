/* SPDX-License-Identifier: BSD-2-Clause
 * What the tests of biases inside a window share. Include xt.h first. */
#ifndef XT_WINDOW_H
#define XT_WINDOW_H

#include "posenc.h"

/* A grid of one frame. */
pe_domain *xt_grid(pe_context *ctx, int64_t height, int64_t width, int64_t prefix);

/* Grids with frames, and grids beyond the window, are refused. */
void xt_window_refuses(pe_context *ctx, const char *encoder);
/* Prefix tokens have no bias and index -1; the others have what they have without them; the last queries have
 * the last rows. settings must say heads=2. */
void xt_window_leaves_prefix_alone(pe_context *ctx, const char *encoder, const char *settings);

#endif
