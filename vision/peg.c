/* SPDX-License-Identifier: BSD-2-Clause
 * Conditional position: y = x + conv(x), a depthwise convolution over the grid, whose zero padding tells
 * where a token is. Chu et al., "Conditional Positional Encodings for Vision Transformers", ICLR 2023. */
#include <math.h>
#include <string.h>

#include "depthwise_grid.h"

static void copy_prefix(const pe_encoding *e, const pe_tensor *x, const pe_tensor *y)
{
	size_t size = pe_dtype_size(x->dtype);
	for (int64_t b = 0; x->data != y->data && b < x->shape[0]; b++)
		for (int64_t i = 0; i < e->domain->prefix; i++)
			for (int64_t c = 0; c < x->shape[2]; c++)
				memcpy(pe_tensor_at(y, b, i, c), pe_tensor_at(x, b, i, c), size);
}

static pe_status tokens(pe_encoding *e, const pe_tensor *x, const pe_tensor *y)
{
	const struct pe_depthwise *s = e->state;
	copy_prefix(e, x, y);
	if (s->strip_taps && x->dtype == PE_F32)
		return pe_depthwise_strips(e, s, x, y);
	return pe_depthwise_windows(e, s, x, y);
}

/* Whether windows find tokens on an axis of n that are there to be reflected or repeated. */
static bool reaches(enum pe_padding padding, int64_t reach, int64_t n)
{
	return padding == PE_PAD_REFLECT ? reach < n : padding == PE_PAD_CIRCULAR ? reach <= n : true;
}

static pe_status tokens_shape(pe_encoding *e, int64_t *tokens, int64_t *width)
{
	const struct pe_depthwise *s = e->state;
	const pe_domain *d = e->domain;
	if (*width != s->dim)
		return pe_encoding_fail(
			e, PE_ERR_SHAPE, "features are %lld wide, and dim is %lld", (long long)*width, (long long)s->dim);
	if (*tokens != d->prefix + d->frames * d->height * d->width)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "it takes the whole grid, not its last tokens");
	*tokens = d->prefix + d->frames * pe_depthwise_strided(s, d->height) * pe_depthwise_strided(s, d->width);
	return PE_OK;
}

static pe_status take_weights(pe_encoding *e)
{
	struct pe_depthwise *s = e->state;
	const int64_t still[] = {s->dim, 1, s->kernel, s->kernel};
	const int64_t moving[] = {s->dim, 1, s->frames, s->kernel, s->kernel};
	int64_t taps = s->frames * s->kernel * s->kernel;
	int32_t given = 0;
	int64_t shape[PE_MAX_DIMS];
	bool frames = s->frames > 1 || (pe_encoding_given_shape(e, "weight", &given, shape) && given == 5);
	double *weight, *bias;
	PE_TRY(pe_encoding_weight(e, "weight", frames ? 5 : 4, frames ? moving : still,
		pe_initial_normal(0, sqrt(2 / (double)taps)), &weight));
	struct pe_initial zero = pe_initial_constant(0);
	zero.optional = true;
	PE_TRY(pe_encoding_weight(e, "bias", 1, &s->dim, zero, &bias));
	return pe_depthwise_pack(e->ctx, s, weight, bias);
}

static pe_status check_sizes(pe_encoding *e, bool causal)
{
	const struct pe_depthwise *s = e->state;
	const pe_domain *d = e->domain;
	if (s->kernel % 2 == 0)
		return pe_encoding_fail(
			e, PE_ERR_RANGE, "kernel %lld is even, and has no middle", (long long)s->kernel);
	if (s->frames % 2 == 0 && !causal)
		return pe_encoding_fail(e, PE_ERR_RANGE, "frames %lld is even, and has no middle; or is it causal?",
			(long long)s->frames);
	if (s->stride > 1 && pe_params_is_set(e->params, "residual") && pe_params_bool(e->params, "residual"))
		return pe_encoding_fail(e, PE_ERR_RANGE, "with a stride there is nothing that residual could add to");
	if (!reaches(s->padding, s->reach, pe_min(d->height, d->width)) ||
		!reaches(s->padding, s->back, d->frames))
		return pe_encoding_fail(e, PE_ERR_SHAPE,
			"a grid of %lld x %lld x %lld is too small for this padding of kernel %lld", (long long)d->frames,
			(long long)d->height, (long long)d->width, (long long)s->kernel);
	return PE_OK;
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct pe_depthwise)));
	struct pe_depthwise *s = e->state;
	bool causal = pe_params_bool(e->params, "causal");
	PE_TRY(pe_encoding_size(e, "dim", "weight", 4, 0, &s->dim));
	PE_TRY(pe_encoding_size(e, "kernel", "weight", 4, 2, &s->kernel));
	int32_t ndim;
	int64_t shape[PE_MAX_DIMS];
	if (pe_encoding_given_shape(e, "weight", &ndim, shape) && ndim == 5) {
		PE_TRY(pe_encoding_size(e, "dim", "weight", 5, 0, &s->dim));
		PE_TRY(pe_encoding_size(e, "kernel", "weight", 5, 3, &s->kernel));
	}
	PE_TRY(pe_encoding_size(e, "frames", "weight", 5, 2, &s->frames));
	s->stride = pe_params_int(e->params, "stride");
	s->padding = (enum pe_padding)pe_params_choice(e->params, "padding");
	s->activation = (enum pe_activation)pe_params_choice(e->params, "activation");
	s->relu_first = pe_params_bool(e->params, "relu_first");
	s->residual = s->stride == 1 && pe_params_bool(e->params, "residual");
	s->reach = s->kernel / 2;
	s->back = causal ? s->frames - 1 : s->frames / 2;
	PE_TRY(check_sizes(e, causal));
	PE_TRY(take_weights(e));
	return pe_declare_weights(e);
}

static void release(pe_encoding *e)
{
	pe_depthwise_free(e->ctx, e->state);
}

static const pe_option_info options[] = {
	PE_INT("dim", "64", 1, 1 << 16, "width of the features; if not said, that of the given weight"),
	PE_INT("kernel", "3", 1, 255, "taps a side, odd; if not said, as the given weight has"),
	PE_INT("frames", "1", 1, 255, "taps over frames; if not said, as the given weight has"),
	PE_BOOLEAN("causal", "0", "a window sees its own frame and those before, not those after"),
	PE_CHOICE("padding", "zero", "zero|reflect|circular|replicate",
		"beyond the edges: zeros, which alone tell where a token is; the grid mirrored, repeated, or its "
		"edge"),
	PE_INT("stride", "1", 1, 255, "rows and columns from one window to the next"),
	PE_BOOLEAN("residual", "1", "add x; not with a stride, where y is the convolution alone"),
	PE_CHOICE("activation", "none", "none|relu|gelu", "of the convolution, before x is added; gelu by erf"),
	PE_BOOLEAN("relu_first", "0", "negative features are 0 before anything else"),
};

static const pe_preset_info presets[] = {
	{"cpvt", "kernel=3,residual=1", "CPVT: once, after the first block; its class token is a prefix"},
	{"twins", "kernel=3,residual=1", "Twins' PosConv: once, after the first block of each stage"},
	{"coat", "kernel=3,residual=1",
		"CoaT's ConvPosEnc: before each block, one for all of a stage; one prefix"},
	{"davit", "kernel=3,residual=1", "DaViT's and Florence-2's, twice a block"},
	{"davit_act", "kernel=3,residual=1,activation=gelu",
		"DaViT's with its option act: GELU of the convolution"},
	{"uniformer", "kernel=3,residual=1,frames=3", "UniFormer's DPE of videos; that of pictures is twins"},
	{"pvt_v2", "kernel=3,residual=0", "PVTv2's and SegFormer's DWConv, inside the MLP, before its GELU"},
	{"pvt_v2_linear", "kernel=3,residual=0,relu_first=1", "PVTv2-li's, with the ReLU before it"},
	{"xcit", "kernel=3,residual=0,activation=gelu", "XCiT's LPI up to its batch normalisation; then pvt_v2"},
};

static const pe_weight_info weights[] = {
	{"weight", "(dim, 1, kernel, kernel), or (dim, 1, frames, kernel, kernel)",
		"N(0, sqrt(2/taps)), taps a channel", "the convolution, as PyTorch has it"},
	{"bias", "(dim)", "0", "added to it; none in weights: 0"},
};

const struct pe_encoder pe_encoder_peg = {
	.table = PE_TABLE("peg", options, presets),
	.family = PE_VISION,
	.summary = "conditional position: a depthwise convolution, which learns from its zero padding",
	.help = "y(r, c) = x(r, c) + (b + sum_ij w_ij x(r+i-k/2, c+j-k/2)), channel by channel,\n"
			"a cross-correlation: the kernel is not flipped. The sum is rounded before x is\n"
			"added, so y is x + conv(x) and not a convolution with 1 in its middle.\n"
			"With an activation, y = x + act(conv(x)). Presets say where models have it.\n"
			"With stride s, y has (H-1)/s+1 rows, (W-1)/s+1 columns, and x is not added,\n"
			"as in Twins.\n"
			"Tokens before the grid are copied. Frames are convolved one by one unless\n"
			"frames > 1; the padding is then that of frames, too.\n"
			"Position comes from the zeros alone: with circular padding it is gone, and\n"
			"with reflect and replicate equal tokens stay equal. Tokens that are padding\n"
			"must be zeroed before, and windows or merged blocks put into order.\n"
			"Without features it yields its weights.",
	.source = "Chu et al. 2023, \"Conditional Positional Encodings\", and Twins' PosConv",
	.example = "grid:14x14 --with peg:dim=64,kernel=3 -o peg.npz",
	.domains = PE_DOMAIN_GRID,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = pe_compute_own_weights,
	.tokens = tokens,
	.tokens_shape = tokens_shape,
};
