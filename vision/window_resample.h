/* SPDX-License-Identifier: BSD-2-Clause
 * A window's table of offsets made from another window's. */
#ifndef PE_WINDOW_RESAMPLE_H
#define PE_WINDOW_RESAMPLE_H

#include "context.h"

enum pe_window_resize { PE_RESIZE_BICUBIC, PE_RESIZE_GEOMETRIC };

/* The option that encoders with such tables share, its words in that order, and what to say in presets. */
#define PE_OPTION_RESIZE \
	PE_CHOICE("resize", "bicubic", "bicubic|geometric", \
		"how a table of another window is resampled: PyTorch's bicubic rule without antialiasing, as " \
		"Swin's " \
		"authors do; or linearly between its offsets put in geometric progression, as timm does after BEiT")
#define PE_PRESET_TIMM_RESIZE \
	{ \
		"timm", "resize=geometric", "as timm's loaders resample tables of another window" \
	}

/* (height, width, channels) to (new_height, new_width, channels), all sides odd; dense. */
pe_status pe_window_resample(pe_context *ctx, enum pe_window_resize how, const double *in, int64_t height,
	int64_t width, int64_t channels, int64_t new_height, int64_t new_width, double *out) PE_NODISCARD;

#endif
