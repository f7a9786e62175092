/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "io/picture.h"
#include "number.h"
#include "options.h"
#include "patches.h"

#define LARGEST_SIDE 1000000

/* ---- the size to be brought to ------------------------------------------------------ */

static bool read_side(const char *text, size_t size, int64_t *out)
{
	return pe_parse_i64(text, size, out) && *out >= 1 && *out <= LARGEST_SIDE;
}

/* "HEIGHTxWIDTH". */
static pe_status read_size(pe_context *ctx, const char *text, int64_t patch, int64_t *height, int64_t *width)
{
	size_t first = strcspn(text, "x");
	if (text[first] != 'x' || !read_side(text, first, height) ||
		!read_side(text + first + 1, strlen(text + first + 1), width))
		return pe_fail(
			ctx, PE_ERR_RANGE, "size=%s is not HEIGHTxWIDTH in pixels, each 1 to %d", text, LARGEST_SIDE);
	if (*height % patch == 0 && *width % patch == 0)
		return PE_OK;
	return pe_fail(ctx, PE_ERR_RANGE, "size=%s is no multiple of patch=%lld: %lldx%lld is near", text,
		(long long)patch, (long long)(pe_max(*height / patch, 1) * patch),
		(long long)(pe_max(*width / patch, 1) * patch));
}

/* A side of the picture as a multiple of patch. */
static int64_t whole_patches(enum pe_picture_fit fit, int64_t side, int64_t patch)
{
	if (fit == PE_FIT_CROP)
		return side / patch * patch;
	if (fit == PE_FIT_PAD)
		return (side + patch - 1) / patch * patch;
	return pe_max((side + patch / 2) / patch, 1) * patch;
}

/* ---- cropping and padding ----------------------------------------------------------- */

/* Shares `pixels` out to both ends of a side. */
static void share(enum pe_picture_anchor anchor, int64_t pixels, int64_t *before, int64_t *after)
{
	*before = anchor == PE_ANCHOR_CENTRE ? pixels / 2 : 0;
	*after = pixels - *before;
}

static pe_status cannot(const pe_image *image, const char *what, int64_t height, int64_t width)
{
	return pe_fail(image->ctx, PE_ERR_RANGE,
		"a picture of %lld rows and %lld columns cannot be %s to %lldx%lld: "
		"choose fit=%s or fit=resize",
		(long long)image->info.height, (long long)image->info.width, what, (long long)height,
		(long long)width, what[0] == 'c' ? "pad" : "crop");
}

/* Brings the picture to height × width. */
static pe_status fit(const pe_image *image, enum pe_picture_fit fit, enum pe_picture_anchor anchor,
	int64_t height, int64_t width, struct pe_patch_plan *plan)
{
	const pe_image_info *info = &image->info;
	pe_image_layout *l = &plan->layout;
	plan->height = info->height;
	plan->width = info->width;
	if (fit == PE_FIT_CROP) {
		if (height > info->height || width > info->width || height == 0 || width == 0)
			return cannot(image, "cropped", pe_max(height, l->patch), pe_max(width, l->patch));
		share(anchor, info->height - height, &l->crop_top, &l->crop_bottom);
		share(anchor, info->width - width, &l->crop_left, &l->crop_right);
	} else if (fit == PE_FIT_PAD) {
		if (height < info->height || width < info->width)
			return cannot(image, "padded", height, width);
		share(anchor, height - info->height, &l->pad_top, &l->pad_bottom);
		share(anchor, width - info->width, &l->pad_left, &l->pad_right);
	} else if (height != info->height || width != info->width) {
		plan->height = l->resized_height = height;
		plan->width = l->resized_width = width;
	}
	l->rows = height / l->patch;
	l->columns = width / l->patch;
	return PE_OK;
}

/* ---- values ------------------------------------------------------------------------- */

static bool is_transparent(const pe_image *image)
{
	int64_t channels = image->info.channels, pixels = image->info.height * image->info.width;
	for (int64_t i = channels - 1; i < pixels * channels; i += channels)
		if ((image->wide ? ((const uint16_t *)image->samples)[i] : ((const uint8_t *)image->samples)[i]) !=
			image->info.maximum)
			return true;
	return false;
}

pe_status pe_patch_plan_take_alpha(const pe_image *image, struct pe_patch_plan *plan)
{
	if (!image->info.alpha || plan->alpha == PE_ALPHA_DROP)
		return PE_OK;
	if (!is_transparent(image)) {
		plan->alpha = PE_ALPHA_DROP;
		return PE_OK;
	}
	if (plan->alpha != PE_ALPHA_REFUSE)
		return PE_OK;
	return pe_fail(image->ctx, PE_ERR_UNSUPPORTED,
		"the picture is transparent in places: choose alpha=white or black (laid over that), or drop (the "
		"colours as stored)");
}

static pe_status take_normalisation(pe_context *ctx, int kind, struct pe_patch_plan *plan)
{
	static const struct {
		double mean[3], deviation[3];
	} known[] = {[PE_NORMALIZE_NONE] = {{0, 0, 0}, {1, 1, 1}},
		[PE_NORMALIZE_IMAGENET] = {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}},
		[PE_NORMALIZE_INCEPTION] = {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}},
		[PE_NORMALIZE_CLIP] = {{0.48145466, 0.4578275, 0.40821073}, {0.26862954, 0.26130258, 0.27577711}}};
	if (plan->layout.channels == 1 && (kind == PE_NORMALIZE_IMAGENET || kind == PE_NORMALIZE_CLIP))
		return pe_fail(ctx, PE_ERR_RANGE,
			"normalize=%s is of three channels, and channels=gray: choose none or inception, or channels=rgb",
			kind == PE_NORMALIZE_IMAGENET ? "imagenet" : "clip");
	memcpy(plan->mean, known[kind].mean, sizeof plan->mean);
	memcpy(plan->deviation, known[kind].deviation, sizeof plan->deviation);
	return PE_OK;
}

static pe_status resolve(const pe_image *image, const pe_params *params, struct pe_patch_plan *plan)
{
	pe_image_layout *l = &plan->layout;
	enum pe_picture_fit how = (enum pe_picture_fit)pe_params_choice(params, "fit");
	const char *size = pe_params_text(params, "size");
	l->patch = pe_params_int(params, "patch");
	l->channels = pe_params_choice(params, "channels") == 0 ? 3 : 1;
	l->width = l->patch * l->patch * l->channels;
	plan->alpha = (enum pe_picture_alpha)pe_params_choice(params, "alpha");
	plan->order = (enum pe_patch_order)pe_params_choice(params, "patch_order");
	plan->rule.interpolation = (enum pe_interpolation)pe_params_choice(params, "interpolation");
	plan->rule.antialias = pe_params_bool(params, "antialias");
	int64_t height = whole_patches(how, image->info.height, l->patch);
	int64_t width = whole_patches(how, image->info.width, l->patch);
	if (*size)
		PE_TRY(read_size(image->ctx, size, l->patch, &height, &width));
	PE_TRY(fit(image, how, (enum pe_picture_anchor)pe_params_choice(params, "anchor"), height, width, plan));
	return take_normalisation(image->ctx, pe_params_choice(params, "normalize"), plan);
}

pe_status pe_patch_plan_make(const pe_image *image, const pe_params *params, struct pe_patch_plan *out)
{
	pe_params *defaults = NULL;
	*out = (struct pe_patch_plan){0};
	if (params)
		PE_TRY(pe_picture_check_params(image->ctx, params));
	else
		PE_TRY(pe_params_create(image->ctx, "image", &defaults));
	pe_status status = resolve(image, params ? params : defaults, out);
	pe_params_destroy(&defaults);
	return status;
}
