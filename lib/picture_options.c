/* SPDX-License-Identifier: BSD-2-Clause */
#include "picture_options.h"

#include "options.h"

static const pe_option_info options[] = {
	PE_BOOLEAN("lenient", "0",
		"1: take what there is of a damaged picture, with a warning; what is missing is 0; "
		"of no more pixels than 16777216, or 8256 a byte of the file if that is more"),
	PE_INT("max_pixels", "268435456", 1, 1099511627776.0,
		"larger pictures are refused before any memory is asked for"),
	PE_INT("patch", "16", 1, 65536, "side of a patch in pixels; a patch is a token"),
	PE_STRING("size", "",
		"HEIGHTxWIDTH to bring the picture to, multiples of patch; empty: its own, brought to multiples of "
		"patch "
		"(crop: down, pad: up, resize: to the nearest)"),
	PE_CHOICE("fit", "crop", "crop|pad|resize",
		"how: cut pixels off; add pixels that are 0 after normalisation, the mean colour; or resample, which "
		"may "
		"change the proportions"),
	PE_CHOICE("anchor", "corner", "corner|centre",
		"where crop and pad leave the picture: corner: at the top left, as a strided convolution does; "
		"centre: in "
		"the middle, an odd pixel going to the bottom or right"),
	PE_CHOICE("interpolation", "bicubic", "bicubic|bilinear",
		"of fit=resize; bicubic with a = -0.5 with antialias, -0.75 without, as PyTorch has it; nothing is "
		"clipped to 0...1"),
	PE_BOOLEAN("antialias", "1", "of fit=resize; 1: average over as many pixels as become one"),
	PE_CHOICE("channels", "rgb", "rgb|gray",
		"rgb: grey is repeated; gray: 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601), not rounded"),
	PE_CHOICE("alpha", "refuse", "refuse|drop|white|black",
		"of a picture that is transparent somewhere; drop: the colours as stored, also under transparent "
		"pixels; "
		"white, black: laid over that"),
	PE_CHOICE("normalize", "none", "none|imagenet|inception|clip",
		"none: values 0...1; else less a mean, over a deviation, per channel: imagenet .485/.456/.406 over "
		".229/.224/.225, inception .5 over .5, clip .48145466/.4578275/.40821073 over "
		".26862954/.26130258/.27577711"),
	PE_CHOICE("patch_order", "c,ph,pw", "c,ph,pw|ph,pw,c",
		"order of a patch's numbers: channel by channel, as a convolution's weights are; or pixel by pixel"),
};

extern const struct pe_option_table pe_input_image;
const struct pe_option_table pe_input_image = PE_TABLE_NO_PRESETS("image", options);

pe_status pe_picture_check_params(pe_context *ctx, const pe_params *params)
{
	if (pe_params_table(params) == &pe_input_image)
		return PE_OK;
	return pe_fail(
		ctx, PE_ERR_ARGUMENT, "these are options of %s, not of an image", pe_params_table(params)->name);
}
