/* SPDX-License-Identifier: BSD-2-Clause
 * posenc convert --patch-kernel: patch embeddings for patches of another size. */
#include <stdio.h>
#include <string.h>

#include "conversion.h"

static const char *const usual[] = {"patch_embed.proj.weight", "patch_embeddings.projection.weight",
	"patch_embedding.weight", "embeds.proj.weight", "conv_proj.weight", "visual.conv1.weight",
	"embedding/kernel", NULL};
static const char *const own[] = {"resize", "no-antialias", "patch-order", NULL};

/* ---- options ------------------------------------------------------------------------ */

/* "16" or "16x14". */
static bool take_sides(const char *text, size_t size, int64_t sides[2])
{
	char copy[32], rest;
	int height, width;
	if (size >= sizeof copy)
		return false;
	memcpy(copy, text, size);
	copy[size] = '\0';
	int count = sscanf(copy, "%4dx%4d%c", &height, &width, &rest);
	if (count != 2 && sscanf(copy, "%4d%c", &height, &rest) != 1)
		return false;
	sides[0] = height;
	sides[1] = count == 2 ? width : height;
	return sides[0] >= 1 && sides[1] >= 1 && sides[0] <= 512 && sides[1] <= 512;
}

static int take_options(struct cli *cli, struct conversion_choice *choice)
{
	const char *text = cli_get(cli, "patch-kernel"), *colon = strchr(text, ':');
	int method = PE_BICUBIC, order = 0; /* the words are in the order of pe_interpolation */
	if (!colon || !take_sides(text, (size_t)(colon - text), choice->old_patch) ||
		!take_sides(colon + 1, strlen(colon + 1), choice->new_patch))
		return usage_error(
			cli, "--patch-kernel: \"%s\" is not of the form 16:32 or 16x16:32x24, sides from 1 to 512", text);
	choice->patch =
		(pe_patch_kernel_options){.size = sizeof choice->patch, .no_antialias = cli_has(cli, "no-antialias")};
	if (!cli_choice(cli, "resize", &method) || !cli_choice(cli, "patch-order", &order))
		return EXIT_USAGE;
	choice->patch.interpolation = (pe_interpolation)method;
	choice->flat = cli_has(cli, "patch-order");
	choice->channels_last = order == 1;
	return EXIT_DONE;
}

/* ---- tensors ------------------------------------------------------------------------ */

/* Channels of a flat embedding, (dim, channels · old height · old width), or 0. */
static int64_t flat_channels(const struct conversion_choice *choice, const pe_tensor *x)
{
	int64_t pixels = choice->old_patch[0] * choice->old_patch[1];
	return x->shape[1] % pixels == 0 ? x->shape[1] / pixels : 0;
}

/* Flax's convolutions: (height, width, channels, dim). */
static bool is_flax(const char *name)
{
	const char *slash = strrchr(name, '/');
	return strcmp(slash ? slash + 1 : name, "kernel") == 0;
}

static bool shape_flax(
	const struct conversion_choice *choice, const pe_tensor *x, int64_t *out, char *why, size_t why_size)
{
	const int64_t *old = choice->old_patch;
	memcpy(out, choice->new_patch, sizeof choice->new_patch);
	snprintf(why, why_size,
		"it is no embedding of patches of %lld x %lld as Flax has it, (%lld, %lld, channels, dim)",
		(long long)old[0], (long long)old[1], (long long)old[0], (long long)old[1]);
	return x->ndim == 4 && x->shape[0] == old[0] && x->shape[1] == old[1];
}

static bool shape(const struct conversion_choice *choice, const char *name, const pe_tensor *x, int64_t *out,
	char *why, size_t why_size)
{
	const int64_t *old = choice->old_patch, *new = choice->new_patch;
	memcpy(out, x->shape, sizeof x->shape);
	if (is_flax(name))
		return shape_flax(choice, x, out, why, why_size);
	if (x->ndim == 2) {
		int64_t channels = flat_channels(choice, x);
		if (!choice->flat)
			snprintf(why, why_size,
				"it is flat: --patch-order ph,pw,c (NaFlex, SigLIP 2) or c,ph,pw must say "
				"how");
		else if (channels == 0)
			snprintf(why, why_size, "its rows of %lld are not made of patches of %lld x %lld",
				(long long)x->shape[1], (long long)old[0], (long long)old[1]);
		out[1] = channels * new[0] * new[1];
		return choice->flat && channels > 0;
	}
	if (x->ndim < 4 || x->shape[x->ndim - 2] != old[0] || x->shape[x->ndim - 1] != old[1]) {
		snprintf(why, why_size, "it is no embedding of patches of %lld x %lld, (dim, channels, %lld, %lld)",
			(long long)old[0], (long long)old[1], (long long)old[0], (long long)old[1]);
		return false;
	}
	memcpy(out + x->ndim - 2, new, 2 * sizeof *new);
	return true;
}

/* (dim, channels, height, width) of a flat embedding. */
static pe_tensor unfold(
	const struct conversion_choice *choice, const pe_tensor *flat, int64_t channels, const int64_t sides[2])
{
	pe_tensor view = {.data = flat->data,
		.dtype = flat->dtype,
		.ndim = 4,
		.shape = {flat->shape[0], channels, sides[0], sides[1]}};
	int64_t step = flat->strides[1], pixel = choice->channels_last ? channels * step : step;
	view.strides[0] = flat->strides[0];
	view.strides[1] = choice->channels_last ? step : sides[0] * sides[1] * step;
	view.strides[2] = sides[1] * pixel;
	view.strides[3] = pixel;
	return view;
}

/* (dim, channels, height, width) of (height, width, channels, dim). */
static pe_tensor turn_flax(const pe_tensor *x)
{
	static const int from[] = {3, 2, 0, 1};
	pe_tensor view = *x;
	for (int d = 0; d < 4; d++) {
		view.shape[d] = x->shape[from[d]];
		view.strides[d] = x->strides[from[d]];
	}
	return view;
}

static pe_status apply(pe_context *ctx, const struct conversion_choice *choice, const char *name,
	const pe_tensor *x, const pe_tensor *y)
{
	if (is_flax(name)) {
		pe_tensor kernels = turn_flax(x), out = turn_flax(y);
		return pe_patch_kernel_resize(ctx, &choice->patch, &kernels, &out);
	}
	if (x->ndim != 2)
		return pe_patch_kernel_resize(ctx, &choice->patch, x, y);
	int64_t channels = flat_channels(choice, x);
	pe_tensor from = unfold(choice, x, channels, choice->old_patch);
	pe_tensor to = unfold(choice, y, channels, choice->new_patch);
	return pe_patch_kernel_resize(ctx, &choice->patch, &from, &to);
}

const struct conversion conversion_patch_kernel = {
	.option = "patch-kernel",
	.key = "patch_kernel",
	.usual = usual,
	.usual_text =
		"a patch embedding's weight (patch_embed.proj, patch_embeddings.projection, patch_embedding, "
		"embeds.proj, conv_proj, visual.conv1, embedding/kernel)",
	.own = own,
	.take_options = take_options,
	.shape = shape,
	.apply = apply,
};
