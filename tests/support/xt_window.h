/* SPDX-License-Identifier: BSD-2-Clause
 * What the tests of biases inside a window share. Include xt.h first. */
#ifndef XT_WINDOW_H
#define XT_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "posenc.h"

pe_domain *xt_frames(pe_context *ctx, int64_t frames, int64_t height, int64_t width, int64_t prefix);
/* A grid of one frame. */
pe_domain *xt_grid(pe_context *ctx, int64_t height, int64_t width, int64_t prefix);

/* The golden array WHAT.HxW, of frames WHAT.TxHxW, of a grid (frames, height, width); false if there is none.
 */
bool xt_find_on_grid(const pe_bundle *golden, const char *what, const int64_t grid[3], pe_tensor *out);

/* Grids with frames, and grids beyond the window, are refused. */
void xt_window_refuses(pe_context *ctx, const char *encoder);
/* Prefix tokens have no bias and index -1; the others have what they have without them; the last queries have
 * the last rows. settings must say heads=2. */
void xt_window_leaves_prefix_alone(pe_context *ctx, const char *encoder, const char *settings);

#endif
