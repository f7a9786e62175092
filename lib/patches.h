/* SPDX-License-Identifier: BSD-2-Clause
 * How a picture is cut into patches: what params say, resolved for one picture. */
#ifndef PE_PATCHES_H
#define PE_PATCHES_H

#include "picture_options.h"
#include "resample.h"

struct pe_patch_plan {
	pe_image_layout layout;
	int64_t height, width; /* of the picture after resampling, before cropping and padding */
	enum pe_picture_alpha alpha;
	enum pe_patch_order order;
	struct pe_resample_rule rule;
	double mean[3], deviation[3];
};

/* Everything that can be refused is refused here, but for transparency. */
pe_status pe_patch_plan_make(
	const pe_image *image, const pe_params *params, struct pe_patch_plan *out) PE_NODISCARD;
/* What alpha comes to in this picture: PE_ALPHA_DROP if it is nowhere transparent. */
pe_status pe_patch_plan_take_alpha(const pe_image *image, struct pe_patch_plan *plan) PE_NODISCARD;

#endif
