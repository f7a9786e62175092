/* SPDX-License-Identifier: BSD-2-Clause
 * The options of reading pictures and cutting them into patches: table "image". */
#ifndef PE_PICTURE_OPTIONS_H
#define PE_PICTURE_OPTIONS_H

#include "context.h"

#define PE_DEFAULT_MAX_PIXELS 268435456

/* In the order of the words of each option. */
enum pe_picture_fit { PE_FIT_CROP, PE_FIT_PAD, PE_FIT_RESIZE };
enum pe_picture_anchor { PE_ANCHOR_CORNER, PE_ANCHOR_CENTRE };
enum pe_picture_alpha { PE_ALPHA_REFUSE, PE_ALPHA_DROP, PE_ALPHA_WHITE, PE_ALPHA_BLACK };
enum pe_picture_normalize {
	PE_NORMALIZE_NONE,
	PE_NORMALIZE_IMAGENET,
	PE_NORMALIZE_INCEPTION,
	PE_NORMALIZE_CLIP
};
enum pe_patch_order { PE_ORDER_C_PH_PW, PE_ORDER_PH_PW_C };

/* Refuses parameters of another table. */
pe_status pe_picture_check_params(pe_context *ctx, const pe_params *params) PE_NODISCARD;

#endif
