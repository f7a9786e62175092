/* SPDX-License-Identifier: BSD-2-Clause
 * What posenc convert can do to the tensors of a file of weights: one table of functions each. */
#ifndef CONVERSION_H
#define CONVERSION_H

#include "cli.h"

/* What the options say. */
struct conversion_choice {
	pe_rotary_layout from, to; /* rope */
	int64_t head_dim, rotary_dim;
	int64_t old_patch[2], new_patch[2]; /* patch-kernel: height, width */
	pe_patch_kernel_options patch;
	bool flat, channels_last; /* --patch-order is given; it is ph,pw,c */
};

struct conversion {
	const char *option;       /* its value says from what to what */
	const char *key;          /* the same in the report of --json */
	const char *const *usual; /* ends of the names of what is converted without --tensors; NULL behind */
	const char *usual_text;   /* the same in words */
	const char *const *own;   /* options without effect on others; NULL behind */
	/* Reads the options. EXIT_DONE, or an exit code with the message already written. */
	int (*take_options)(struct cli *cli, struct conversion_choice *choice);
	/* The shape of x after; false: x is none that can be converted, why says what is wrong. name is its name
	 * in the file. */
	bool (*shape)(const struct conversion_choice *choice, const char *name, const pe_tensor *x,
		int64_t *shape, char *why, size_t why_size);
	pe_status (*apply)(pe_context *ctx, const struct conversion_choice *choice, const char *name,
		const pe_tensor *x, const pe_tensor *y);
};

extern const struct conversion conversion_rope, conversion_patch_kernel;

#endif
