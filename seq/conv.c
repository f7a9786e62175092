/* SPDX-License-Identifier: BSD-2-Clause
 * Position from a convolution's padding: y = x + gelu(conv(x)), a grouped convolution along the sequence
 * whose weight is g v / |v|, the norm taken over each tap. Baevski et al., "wav2vec 2.0", NeurIPS 2020; Islam
 * et al., "How much position information do convolutional neural networks encode?", ICLR 2020. */
#include <math.h>
#include <string.h>

#include "encoder.h"
#include "pool.h"
#include "tensor.h"

enum padding { ZERO, NONE, REFLECT, CIRCULAR };
enum activation { GELU, IDENTITY };
enum { BLOCK = 32 }; /* tokens a piece of work */

struct state {
	int64_t dim, kernel, groups, width; /* width: dim / groups */
	enum padding padding;
	enum activation activation;
	double *taps;       /* (groups, kernel, width in, width out) */
	const double *bias; /* dim */
};

/* ---- the weight --------------------------------------------------------------------- */

/* |v| of each tap, over all channels. */
static void find_norms(const struct state *s, const double *v, double *norm)
{
	memset(norm, 0, (size_t)s->kernel * sizeof *norm);
	for (int64_t i = 0; i < s->dim * s->width; i++)
		for (int64_t t = 0; t < s->kernel; t++)
			norm[t] += v[i * s->kernel + t] * v[i * s->kernel + t];
	for (int64_t t = 0; t < s->kernel; t++)
		norm[t] = sqrt(norm[t]);
}

/* taps ← weight (dim, width, kernel), each tap times its factor. */
static void arrange(const struct state *s, const double *weight, const double *factor)
{
	for (int64_t o = 0; o < s->dim; o++)
		for (int64_t c = 0; c < s->width; c++)
			for (int64_t t = 0; t < s->kernel; t++)
				s->taps[((o / s->width * s->kernel + t) * s->width + c) * s->width + o % s->width] =
					weight[(o * s->width + c) * s->kernel + t] * factor[t];
}

/* Of g and v as they are called in a checkpoint. */
static pe_status take_normed(pe_encoding *e, const char *g_name, const char *v_name, double *factor)
{
	const struct state *s = e->state;
	double *g, *v, sd = sqrt(4 / (double)(s->kernel * s->dim));
	PE_TRY(pe_encoding_weight(
		e, v_name, 3, (int64_t[]){s->dim, s->width, s->kernel}, pe_initial_normal(0, sd), &v));
	PE_TRY(pe_encoding_weight(e, g_name, 3, (int64_t[]){1, 1, s->kernel}, pe_initial_constant(0), &g));
	find_norms(s, v, factor);
	if (!pe_encoding_weight_is_given(e, g_name))
		memcpy(g, factor, (size_t)s->kernel * sizeof *g);
	for (int64_t t = 0; t < s->kernel; t++)
		factor[t] = factor[t] > 0 ? g[t] / factor[t] : 0;
	arrange(s, v, factor);
	return PE_OK;
}

static pe_status take_plain(pe_encoding *e, double *factor)
{
	const struct state *s = e->state;
	double *weight;
	const int64_t shape[] = {s->dim, s->width, s->kernel};
	PE_TRY(pe_encoding_weight(e, "weight", 3, shape, pe_initial_constant(0), &weight));
	for (int64_t t = 0; t < s->kernel; t++)
		factor[t] = 1;
	arrange(s, weight, factor);
	return PE_OK;
}

#define PYTORCH_G "parametrizations.weight.original0"
#define PYTORCH_V "parametrizations.weight.original1"

static pe_status take_weights(pe_encoding *e)
{
	struct state *s = e->state;
	double *bias, *factor = pe_alloc(e->ctx, s->kernel, sizeof *factor);
	int64_t count;
	if (!factor)
		return PE_ERR_NOMEM;
	s->taps = pe_mul(s->dim * s->width, s->kernel, &count) ? pe_alloc(e->ctx, count, sizeof *s->taps) : NULL;
	pe_status status = PE_ERR_NOMEM;
	if (s->taps)
		status = pe_encoding_weight_is_given(e, PYTORCH_V) ? take_normed(e, PYTORCH_G, PYTORCH_V, factor)
			: pe_encoding_weight_is_given(e, "weight")     ? take_plain(e, factor)
														   : take_normed(e, "weight_g", "weight_v", factor);
	pe_free(e->ctx, factor);
	PE_TRY(status);
	PE_TRY(pe_encoding_weight(e, "bias", 1, &s->dim, pe_initial_constant(0), &bias));
	s->bias = bias;
	return PE_OK;
}

/* ---- the convolution ---------------------------------------------------------------- */

struct work {
	const pe_encoding *e;
	const pe_tensor *y;
	const double *x; /* (batch, groups, tokens, width), dense */
	int64_t tokens, out_tokens, blocks;
};

/* The token that a window finds at place i, or -1: zeros. */
static int64_t source(enum padding padding, int64_t i, int64_t tokens)
{
	if (i >= 0 && i < tokens)
		return i;
	if (padding == CIRCULAR)
		return ((i % tokens) + tokens) % tokens;
	if (padding == REFLECT)
		return i < 0 ? -i : 2 * (tokens - 1) - i;
	return -1;
}

static double activated(const struct state *s, double z)
{
	return s->activation == GELU ? 0.5 * z * (1 + erf(z / sqrt(2))) : z;
}

/* sum[width] ← the convolution whose window begins at `first`. */
static void convolve(const struct work *w, const double *x, int64_t group, int64_t first, double *sum)
{
	const struct state *s = w->e->state;
	memcpy(sum, s->bias + group * s->width, (size_t)s->width * sizeof *sum);
	for (int64_t t = 0; t < s->kernel; t++) {
		int64_t at = source(s->padding, first + t, w->tokens);
		const double *tap = s->taps + (group * s->kernel + t) * s->width * s->width;
		for (int64_t c = 0; at >= 0 && c < s->width; c++) {
			double value = x[at * s->width + c];
			for (int64_t o = 0; o < s->width; o++)
				sum[o] += tap[c * s->width + o] * value;
		}
	}
}

static pe_status do_block(pe_context *worker, void *arg, int64_t chunk)
{
	const struct work *w = arg;
	const struct state *s = w->e->state;
	int64_t group = chunk / w->blocks % s->groups, batch = chunk / w->blocks / s->groups;
	int64_t begin = chunk % w->blocks * BLOCK, end = pe_min(begin + BLOCK, w->out_tokens);
	const double *x = w->x + (batch * s->groups + group) * w->tokens * s->width;
	int64_t reach = s->kernel / 2, skipped = s->padding == NONE ? reach : 0;
	double *sum = pe_alloc(worker, s->width, sizeof *sum);
	if (!sum)
		return PE_ERR_NOMEM;
	for (int64_t i = begin; i < end; i++) {
		convolve(w, x, group, i + skipped - reach, sum);
		for (int64_t o = 0; o < s->width; o++)
			sum[o] = x[(i + skipped) * s->width + o] + activated(s, sum[o]);
		pe_store_f64(
			pe_tensor_at(w->y, batch, i, group * s->width), w->y->dtype, w->y->strides[2], sum, 1, s->width);
	}
	pe_free(worker, sum);
	return PE_OK;
}

/* x by groups, so that a window is one run of memory. */
static void gather(const struct state *s, const pe_tensor *x, double *out)
{
	int64_t tokens = x->shape[1];
	for (int64_t b = 0; b < x->shape[0]; b++)
		for (int64_t g = 0; g < s->groups; g++)
			for (int64_t i = 0; i < tokens; i++)
				pe_load_f64(out + ((b * s->groups + g) * tokens + i) * s->width,
					pe_tensor_at(x, b, i, g * s->width), x->dtype, x->strides[2], s->width);
}

static pe_status tokens(pe_encoding *e, const pe_tensor *x, const pe_tensor *y)
{
	const struct state *s = e->state;
	struct work w = {.e = e, .y = y, .tokens = x->shape[1], .out_tokens = y->shape[1]};
	w.blocks = (w.out_tokens + BLOCK - 1) / BLOCK;
	double *copy = pe_alloc(e->ctx, pe_tensor_count(x), sizeof *copy);
	if (!copy)
		return PE_ERR_NOMEM;
	gather(s, x, copy);
	w.x = copy;
	pe_status status = pe_parallel(e->ctx, x->shape[0] * s->groups * w.blocks, do_block, &w, "conv");
	pe_free(e->ctx, copy);
	return status;
}

static pe_status tokens_shape(pe_encoding *e, int64_t *tokens, int64_t *width)
{
	const struct state *s = e->state;
	if (*width != s->dim)
		return pe_encoding_fail(
			e, PE_ERR_SHAPE, "features are %lld wide, and dim is %lld", (long long)*width, (long long)s->dim);
	if (s->padding == REFLECT && *tokens > 0 && s->kernel / 2 >= *tokens)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "%lld tokens are too few to reflect half of kernel %lld",
			(long long)*tokens, (long long)s->kernel);
	if (s->padding == NONE && *tokens < s->kernel)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "without padding, %lld tokens are too few for kernel %lld",
			(long long)*tokens, (long long)s->kernel);
	if (s->padding == NONE)
		*tokens -= s->kernel - 1;
	return PE_OK;
}

/* ---- bind --------------------------------------------------------------------------- */

static pe_status take_sizes(pe_encoding *e)
{
	struct state *s = e->state;
	int32_t ndim = 0;
	int64_t given[PE_MAX_DIMS];
	static const char *const names[] = {PYTORCH_V, "weight_v", "weight"};
	for (int i = 0; i < 3 && ndim != 3; i++)
		(void)pe_encoding_given_shape(e, names[i], &ndim, given);
	if (ndim != 3)
		memset(given, 0, sizeof given);
	int64_t groups = given[1] > 0 && given[0] % given[1] == 0 ? given[0] / given[1] : 0;
	PE_TRY(pe_encoding_follow(e, "dim", given[0], &s->dim));
	PE_TRY(pe_encoding_follow(e, "kernel", given[2], &s->kernel));
	return pe_encoding_follow(e, "groups", groups, &s->groups);
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	s->padding = (enum padding)pe_params_choice(e->params, "padding");
	s->activation = (enum activation)pe_params_choice(e->params, "activation");
	PE_TRY(take_sizes(e));
	if (s->dim % s->groups != 0)
		return pe_encoding_fail(e, PE_ERR_RANGE, "dim %lld is not a multiple of groups %lld",
			(long long)s->dim, (long long)s->groups);
	s->width = s->dim / s->groups;
	PE_TRY(take_weights(e));
	return pe_declare_weights(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_free(e->ctx, s->taps);
}

static const pe_option_info options[] = {
	PE_INT("dim", "64", 1, 1 << 16, "width of the features; if not said, that of the given weight"),
	PE_INT("kernel", "128", 1, 1 << 12, "taps; if not said, as the given weight has"),
	PE_INT("groups", "16", 1, 1 << 12, "groups of channels; if not said, as the given weight has"),
	PE_CHOICE("padding", "zero", "zero|none|reflect|circular",
		"beyond the ends: zeros, which alone tell where a token is; nothing, the tokens without a whole "
		"window are left out; the sequence mirrored, or repeated"),
	PE_CHOICE("activation", "gelu", "gelu|identity", "what follows the convolution"),
};

static const pe_weight_info weights[] = {
	{"weight_g", "(1, 1, kernel)", "the norms of weight_v", "length of each tap"},
	{"weight_v", "(dim, dim/groups, kernel)", "N(0, sqrt(4/(kernel dim)))", "direction of each tap"},
	{"weight", "(dim, dim/groups, kernel)", "", "instead of those two, if given: the weight itself"},
	{PYTORCH_G, "(1, 1, kernel)", "", "weight_g as newer checkpoints call it"},
	{PYTORCH_V, "(dim, dim/groups, kernel)", "", "weight_v as newer checkpoints call it"},
	{"bias", "(dim)", "0", "added to the convolution"},
};

const struct pe_encoder pe_encoder_conv = {
	.table = PE_TABLE_NO_PRESETS("conv", options),
	.family = PE_SEQ,
	.summary = "wav2vec 2.0's convolution, which learns position from its zero padding",
	.help = "y_i = x_i + gelu(b + sum_t w_t x_{i+t-kernel/2}), t < kernel, in groups\n"
			"of channels. The weight is w_t = g_t v_t / |v_t|, the norm over all channels\n"
			"of one tap, not of one output channel; or it is given as it is. An even kernel\n"
			"reaches one token further back than ahead: wav2vec2 pads kernel/2 on both\n"
			"sides and drops the last frame (its SamePad). The gelu is the exact one.\n"
			"Position comes from the zeros alone: with padding=none (y has kernel-1 tokens\n"
			"less), reflect or circular it is gone, or, for reflect, left near the ends.\n"
			"Order counts, positions do not: tokens are taken as they come. Frames of\n"
			"padding must be zeroed before. wav2vec2's LayerNorm is left to the caller.\n"
			"Without features it yields its weights.",
	.source = "Baevski et al. 2020, \"wav2vec 2.0\", and Hugging Face's Wav2Vec2",
	.example = "seq:128 --with conv:dim=64,kernel=32 -o conv.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = pe_compute_own_weights,
	.tokens = tokens,
	.tokens_shape = tokens_shape,
};
