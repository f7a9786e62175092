/* SPDX-License-Identifier: BSD-2-Clause
 * Polar positions: a channel x of a query or key becomes the vector of length softplus(x) at the angle of
 * its position. Gopalakrishnan et al., "Decoupling the what and where with polar coordinate positional
 * embedding", 2025, arXiv:2509.10534; as in x-transformers' PolarEmbedding. */
#include <math.h>
#include <string.h>

#include "encoder.h"
#include "frequency.h"
#include "kernels/kernels.h"
#include "rotation.h"

struct state {
	struct pe_rotation rotation; /* only what makes the arrays cos and sin */
	struct pe_frequencies frequencies;
	double *cosine, *sine; /* of delta, (heads, head_dim) */
};

static double softplus(double x)
{
	return log1p(exp(-fabs(x))) + fmax(x, 0);
}

static void turn(const pe_encoding *e, const struct pe_place *at, int64_t first, int64_t count,
	double *cosine, double *sine)
{
	const struct state *s = e->state;
	double position = pe_domain_position(pe_side_domain(e, at->side), at->batch, at->token);
	pe_frequencies_turn(e->ctx, &s->frequencies, position, first, count, cosine, sine);
	if (at->side != PE_KEYS)
		return;
	int64_t row = at->head * s->rotation.pairs + first;
	for (int64_t t = 0; t < count; t++) {
		double c = cosine[t], by_cosine = s->cosine[row + t], by_sine = s->sine[row + t];
		cosine[t] = c * by_cosine - sine[t] * by_sine;
		sine[t] = c * by_sine + sine[t] * by_cosine;
	}
}

/* out is (2, width): all cosines, then all sines. */
static void rotate(
	const pe_encoding *e, const struct pe_place *at, const double *in, int64_t width, double *out)
{
	turn(e, at, 0, width, out, out + width);
	for (int64_t t = 0; t < width; t++) {
		double length = softplus(in[t]);
		out[t] *= length;
		out[width + t] *= length;
	}
}

static pe_status rotate_width(pe_encoding *e, pe_side side, int64_t width, int64_t *out)
{
	PE_TRY(pe_rotation_width(e, side, width, out));
	*out = 2 * width;
	return PE_OK;
}

/* ---- bind --------------------------------------------------------------------------- */

static pe_status take_delta(pe_encoding *e, struct state *s)
{
	const int64_t shape[] = {e->key_heads, s->rotation.pairs};
	bool uniform = pe_params_choice(e->params, "initial") == 1;
	double *delta;
	PE_TRY(pe_encoding_weight(
		e, "delta", 2, shape, uniform ? pe_initial_uniform(-2 * PE_PI, 0) : pe_initial_constant(0), &delta));
	int64_t count = shape[0] * shape[1];
	s->cosine = pe_alloc(e->ctx, count, sizeof *s->cosine);
	s->sine = pe_alloc(e->ctx, count, sizeof *s->sine);
	if (!s->cosine || !s->sine)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < count; i++)
		s->sine[i] = fmin(fmax(delta[i], -2 * PE_PI), 0);
	e->ctx->kernels->sincos(s->sine, count, s->sine, s->cosine);
	return PE_OK;
}

static pe_status fill_frequencies(pe_encoding *e, struct state *s)
{
	int64_t dim = s->rotation.pairs;
	double base = pe_params_real(e->params, "base");
	long double *frequency = pe_alloc(e->ctx, dim, sizeof *frequency);
	if (!frequency)
		return PE_ERR_NOMEM;
	for (int64_t t = 0; t < dim; t++)
		frequency[t] = powl(base, -(long double)t / (long double)dim);
	pe_status status = pe_frequencies_make(e->ctx, frequency, dim, &s->frequencies);
	pe_free(e->ctx, frequency);
	return status;
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	int64_t dim = pe_params_int(e->params, "head_dim");
	e->key_heads = pe_params_int(e->params, "heads");
	s->rotation = (struct pe_rotation){.pairs = dim, .width = dim, .per_side = true, .turn = turn};
	PE_TRY(take_delta(e, s));
	PE_TRY(fill_frequencies(e, s));
	PE_TRY(pe_rotation_declare(e));
	return pe_declare_weights(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_frequencies_free(e->ctx, &s->frequencies);
	pe_free(e->ctx, s->cosine);
	pe_free(e->ctx, s->sine);
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	PE_TRY(pe_rotation_compute(e, outs));
	pe_compute_weights(e, outs, 2);
	return PE_OK;
}

static const pe_option_info options[] = {
	PE_INT("heads", "8", 1, 4096, "heads of keys"),
	PE_INT("head_dim", "64", 1, 1 << 16, "width of a head"),
	PE_REAL("base", "10000", 1e-6, 1e18, "base of the frequencies"),
	PE_CHOICE("initial", "zeros", "zeros|uniform", "delta without weights: 0, or uniform in [-2 pi, 0)"),
};

static const pe_weight_info weights[] = {
	{"delta", "(heads, head_dim)", "zeros, or uniform in [-2 pi, 0)",
		"phase of keys; learned_bias of x-transformers, without its dimension of 1"},
};

const struct pe_encoder pe_encoder_pope = {
	.table = PE_TABLE_NO_PRESETS("pope", options),
	.family = PE_SEQ,
	.summary = "channels as lengths, positions as angles: what and where kept apart",
	.help = "Channel t of a query q at p becomes m (cos pw, sin pw), m = softplus(q_t),\n"
			"w_t = base^(-t/head_dim), one frequency a channel; of a key k likewise at the\n"
			"angle pw + delta. Queries and keys are twice as wide then, all cosines before\n"
			"all sines, and the score is the sum over t of\n"
			"softplus(q_t) softplus(k_t) cos((p_q - p_k) w_t - delta_t),\n"
			"times 1/sqrt(head_dim) with the width before. delta is learned, (heads,\n"
			"head_dim), and clamped to [-2 pi, 0]; heads are those of the keys, which a\n"
			"group of query heads may share. Values stay as they are. softplus(x) =\n"
			"ln(1 + e^x); PyTorch's is x above 20, the same to 3e-9.\n"
			"Arrays cos and sin are (tokens, head_dim), without delta.",
	.source = "Gopalakrishnan et al. 2025, arXiv:2509.10534; x-transformers",
	.example = "seq:128 --with pope:head_dim=64 -o pope.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	.heads_option = PE_HEADS_OF_KEYS,
	.weights = weights,
	.weight_count = PE_COUNT(weights),
	.bind = bind,
	.release = release,
	.compute = compute,
	.rotate = rotate,
	.rotate_width = rotate_width,
};
