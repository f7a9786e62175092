/* SPDX-License-Identifier: BSD-2-Clause
 * Stochastic positional encoding: queries and keys times random codes of their positions, whose covariance
 * is a learned kernel of the distance. Liutkus, Cífka et al., "Relative positional encoding for
 * transformers with linear complexity", ICML 2021; names and beginnings as in its code (SineSPE, ConvSPE,
 * SPEFilter). */
#include <math.h>

#include "spe_codes.h"

#define FARTHEST 0x1p40 /* of conv's positions, so that each noise has a number of its own */

/* Numbers of noise that are kept rather than drawn for each block of tokens: 16 MB. */
#define MOST_KEPT ((int64_t)1 << 21)

static void rotate(
	const pe_encoding *e, const struct pe_place *at, const double *in, int64_t width, double *out)
{
	pe_spe_rotate_rows(e, at, 1, in, width, out);
}

static pe_status rotate_width(pe_encoding *e, pe_side side, int64_t width, int64_t *out)
{
	const struct pe_spe *s = e->state;
	(void)side;
	if (width != s->dim)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "heads are %lld wide, and head_dim is %lld",
			(long long)width, (long long)s->dim);
	*out = s->realizations;
	return PE_OK;
}

static double scale(const pe_encoding *e, const struct pe_place *query, int64_t width)
{
	const struct pe_spe *s = e->state;
	(void)query, (void)width;
	return 1 / sqrt((double)s->realizations);
}

/* ---- bind ------------------------------------------------------------------------------ */

static double sigmoid(double x)
{
	return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

static double softplus(double x)
{
	return log1p(exp(-fabs(x))) + fmax(x, 0);
}

/* The gain without weights: normal, of a norm over the sines of 2 √norm. */
static void begin_gains(double *gains, int64_t features, int64_t sines)
{
	for (int64_t f = 0; f < features; f++, gains += sines) {
		double sum = 0;
		for (int64_t k = 0; k < sines; k++)
			sum += gains[k] * gains[k];
		for (int64_t k = 0; sum > 0 && k < sines; k++)
			gains[k] *= 2 / sqrt(sqrt(sum));
	}
}

/* What follows from the gate: g = σ(gate), codes times √(1-g), the gate's noise times √g, and all over
 * (R dim)^(1/4). */
static pe_status take_gate(pe_encoding *e, struct pe_spe *s)
{
	const int64_t shape[] = {e->heads, s->dim}, features = e->heads * s->dim;
	double *gate = NULL, by = pow((double)s->realizations * (double)s->dim, -0.25);
	bool gated = pe_params_bool(e->params, "gated");
	if (gated)
		PE_TRY(pe_encoding_weight(e, "gate", 2, shape, pe_initial_normal(0, 1), &gate));
	s->pass = pe_alloc(e->ctx, features, sizeof *s->pass);
	s->dry = gated ? pe_alloc(e->ctx, features, sizeof *s->dry) : NULL;
	if (!s->pass || (gated && !s->dry))
		return PE_ERR_NOMEM;
	for (int64_t f = 0; f < features; f++) {
		s->pass[f] = by * (gated ? sqrt(sigmoid(-gate[f])) : 1);
		if (gated)
			s->dry[f] = by * sqrt(sigmoid(gate[f]));
	}
	return PE_OK;
}

static pe_status take_sines(pe_encoding *e, struct pe_spe *s)
{
	const int64_t shape[] = {e->heads, s->dim, s->sines}, count = shape[0] * shape[1] * shape[2];
	double *frequencies, *offsets, *gains;
	PE_TRY(pe_encoding_weight(e, "freqs", 3, shape, pe_initial_normal(-4, 1), &frequencies));
	PE_TRY(pe_encoding_weight(e, "offsets", 3, shape, pe_initial_normal(0, 1), &offsets));
	PE_TRY(pe_encoding_weight(e, "gains", 3, shape, pe_initial_normal(0, 1), &gains));
	if (!pe_encoding_weight_is_given(e, "gains"))
		begin_gains(gains, shape[0] * shape[1], s->sines);
	PE_TRY(take_gate(e, s));
	s->frequency = pe_alloc(e->ctx, count, sizeof *s->frequency);
	s->amplitude = pe_alloc(e->ctx, count, sizeof *s->amplitude);
	if (!s->frequency || !s->amplitude)
		return PE_ERR_NOMEM;
	s->offset = offsets;
	for (int64_t i = 0; i < count; i++) {
		s->frequency[i] = sigmoid(frequencies[i]) / 2;
		s->amplitude[i] = softplus(gains[i]) / sqrt(2.0 * (double)s->sines) * s->pass[i / s->sines];
	}
	return PE_OK;
}

static pe_status take_filters(pe_encoding *e, struct pe_spe *s)
{
	const int64_t shape[] = {e->heads, s->dim, s->kernel};
	struct pe_initial initial = pe_initial_uniform(0, 1 / sqrt((double)s->kernel / 2));
	bool swapped = pe_params_bool(e->params, "swapped");
	double *queries, *keys;
	PE_TRY(pe_encoding_weight(e, "conv_q", 3, shape, initial, &queries));
	PE_TRY(pe_encoding_weight(e, "conv_k", 3, shape, initial, &keys));
	s->filter[PE_QUERIES] = swapped ? keys : queries;
	s->filter[PE_KEYS] = swapped ? queries : keys;
	return take_gate(e, s);
}

/* Conv needs whole numbers, and, of noise that is given, rows that are there. */
static pe_status check_positions(pe_encoding *e, const struct pe_spe *s, const pe_domain *domain)
{
	int64_t batches = domain->positions ? domain->batch : 1;
	for (int64_t n = 0; n < batches * domain->tokens; n++) {
		double p = pe_domain_position(domain, n / domain->tokens, n % domain->tokens);
		if (fabs(p) > FARTHEST || p - floor(p) > 0)
			return pe_encoding_fail(e, PE_ERR_RANGE,
				"kind=conv takes whole numbers as positions, up to 2^40, and one is %g; kind=sine takes any",
				p);
		if (s->noise.numbers && (p < 0 || p > (double)(s->noise.rows - s->kernel)))
			return pe_encoding_fail(e, PE_ERR_RANGE,
				"with %lld rows of noise and a kernel of %lld, positions are 0 to %lld, and one is %g",
				(long long)s->noise.rows, (long long)s->kernel, (long long)(s->noise.rows - s->kernel), p);
	}
	return PE_OK;
}

/* Noise by name, for those who have it from elsewhere. */
static pe_status take_noise(pe_encoding *e, struct pe_spe *s)
{
	int64_t given = pe_encoding_given_size(e, "noise", 4, 2);
	double *values;
	s->noise.rows = s->kind == PE_SPE_CONV ? given : 2 * s->sines;
	s->gate_noise = (struct pe_spe_noise){.rows = 1, .gate = true};
	if (pe_encoding_weight_is_given(e, "noise")) {
		const int64_t shape[] = {e->heads, s->dim, s->noise.rows, s->realizations};
		PE_TRY(pe_encoding_weight(e, "noise", 4, shape, pe_initial_constant(0), &values));
		s->noise.numbers = values;
	}
	if (s->dry && pe_encoding_weight_is_given(e, "gate_noise")) {
		const int64_t shape[] = {e->heads, s->dim, s->realizations};
		PE_TRY(pe_encoding_weight(e, "gate_noise", 3, shape, pe_initial_constant(0), &values));
		s->gate_noise.numbers = values;
	}
	return PE_OK;
}

/* Draws all rows of all features now, if they are few. */
static pe_status keep(pe_encoding *e, struct pe_spe_noise *noise)
{
	const struct pe_spe *s = e->state;
	int64_t rows = e->heads * s->dim * noise->rows;
	if (noise->numbers || rows * s->realizations > MOST_KEPT)
		return PE_OK;
	double *kept = noise->kept = pe_alloc(e->ctx, rows, (size_t)s->realizations * sizeof *kept);
	if (!kept)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < rows; i++)
		pe_spe_noise_row(
			e, noise, i / noise->rows, i % noise->rows, 0, s->realizations, kept + i * s->realizations);
	noise->numbers = kept;
	return PE_OK;
}

static pe_status take_sizes(pe_encoding *e, struct pe_spe *s)
{
	const char *codes = s->kind == PE_SPE_SINE ? "freqs" : "conv_q";
	PE_TRY(pe_encoding_size(e, "heads", codes, 3, 0, &e->heads));
	PE_TRY(pe_encoding_size(e, "head_dim", codes, 3, 1, &s->dim));
	PE_TRY(pe_encoding_size(e, "sines", "freqs", 3, 2, &s->sines));
	PE_TRY(pe_encoding_size(e, "kernel", "conv_q", 3, 2, &s->kernel));
	e->key_heads = e->heads;
	return pe_encoding_size(e, "realizations", "noise", 4, 3, &s->realizations);
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct pe_spe)));
	struct pe_spe *s = e->state;
	s->kind = (enum pe_spe_kind)pe_params_choice(e->params, "kind");
	PE_TRY(take_sizes(e, s));
	s->draw = (uint64_t)pe_params_int(e->params, "seed");
	PE_TRY(s->kind == PE_SPE_SINE ? take_sines(e, s) : take_filters(e, s));
	PE_TRY(take_noise(e, s));
	PE_TRY(pe_declare_weights(e));
	if (s->kind == PE_SPE_CONV) {
		PE_TRY(check_positions(e, s, e->domain));
		PE_TRY(check_positions(e, s, e->queries));
	}
	if (s->kind == PE_SPE_SINE)
		PE_TRY(keep(e, &s->noise));
	return s->dry ? keep(e, &s->gate_noise) : PE_OK;
}

static void release(pe_encoding *e)
{
	struct pe_spe *s = e->state;
	pe_free(e->ctx, s->frequency);
	pe_free(e->ctx, s->amplitude);
	pe_free(e->ctx, s->pass);
	pe_free(e->ctx, s->dry);
	pe_free(e->ctx, s->noise.kept);
	pe_free(e->ctx, s->gate_noise.kept);
}

static const pe_option_info options[] = {
	PE_CHOICE("kind", "sine", "sine|conv", "codes that are sums of sines, or filtered noise"),
	PE_INT(
		"heads", "8", 1, 4096, "heads, as many of keys as of queries; if not said, as given weights have it"),
	PE_INT("head_dim", "64", 1, 1 << 16, "width of a head before; if not said, as given weights have it"),
	PE_INT("realizations", "256", 1, 1 << 16,
		"R: width of a head after; the error falls as 1/sqrt(R); if not said, as given noise has it"),
	PE_INT("sines", "1", 1, 1024, "sine: sines a feature; if not said, as given weights have it"),
	PE_INT("kernel", "200", 1, 1 << 16, "conv: length of a filter; if not said, as given weights have it"),
	PE_BOOLEAN("gated", "1", "let a learned part of each feature through without position"),
	PE_BOOLEAN("swapped", "0", "conv: conv_q filters for keys and conv_k for queries"),
	PE_INT("seed", "0", 0, (1 << 30) - 1,
		"number of the draw: of noise from the same seed, each has its own; give layers different ones"),
};

static const pe_preset_info presets[] = {
	{"spe", "swapped=1",
		"conv as the authors' ConvSPE, which makes keys by conv_q and queries by conv_k: for its weights"},
};

static const pe_weight_info weights[] = {
	{"freqs", "(heads, head_dim, sines)", "N(-4, 1)", "sine: frequencies are sigmoid(freqs) / 2"},
	{"offsets", "(heads, head_dim, sines)", "N(0, 1)", "sine: phases of queries"},
	{"gains", "(heads, head_dim, sines)", "N(0, 1), times 2/sqrt(its norm over the sines)",
		"sine: amplitudes are softplus(gains)"},
	{"conv_q", "(heads, head_dim, kernel)", "uniform in [0, sqrt(2/kernel))",
		"conv: filters of queries; conv_q.weight of the code, (heads * head_dim, 1, kernel), reshaped"},
	{"conv_k", "(heads, head_dim, kernel)", "uniform in [0, sqrt(2/kernel))", "conv: filters of keys"},
	{"gate", "(heads, head_dim)", "N(0, 1)", "gated: g = sigmoid(gate)"},
	{"noise", "(heads, head_dim, 2 sines, R); conv (heads, head_dim, rows, R)", "drawn when needed",
		"optional: z, instead of what the seed gives; conv uses rows p to p + kernel - 1"},
	{"gate_noise", "(heads, head_dim, R)", "drawn when needed", "optional: w, likewise"},
};

const struct pe_encoder pe_encoder_spe = {
	.table = PE_TABLE("spe", options, presets),
	.family = PE_SEQ,
	.summary = "queries and keys as random features whose products know the distance",
	.help = "A query q and a key k, head_dim wide, become R features\n"
			"q^_r = sum over d of q_d Q_dr(p_q),  k^_r = sum over d of k_d K_dr(p_k),\n"
			"and the score is q^.k^ / sqrt(R), R = realizations. The codes Q and K are\n"
			"random, from the same noise z ~ N(0, 1), so that the mean of their product\n"
			"is a kernel P_d(p_q - p_k), and the mean of the score\n"
			"sum over d of q_d k_d P_d(p_q - p_k) / sqrt(head_dim).\n"
			"sine: with f = sigmoid(freqs)/2, g = softplus(gains) and K = sines,\n"
			"  Q = sum over k of g/sqrt(2K) (z cos(2 pi f p + offset) + z' sin(...)),\n"
			"  K likewise without the offset, and\n"
			"  P(x) = sum over k of g^2/(2K) cos(2 pi f x + offset), at any positions.\n"
			"conv: Q(p) = sum over j of conv_q[j] z[p + j], K with conv_k; positions are\n"
			"  whole numbers; P(x) = sum over j of conv_q[j] conv_k[j + x].\n"
			"gated, with g = sigmoid(gate): sqrt(1-g) Q + sqrt(g) w, and K with the same\n"
			"w: the kernel is (1-g) P + g.\n"
			"Both codes are divided by (R head_dim)^(1/4). The scale is R^-1/2 and not\n"
			"head_dim^-1/2, because that division leaves sqrt(R/head_dim) in q^.k^; in\n"
			"code this follows from heads that are R wide. Values stay.\n"
			"For linear attention (attend --core linear), which takes its feature map of\n"
			"q^ and k^ as the authors do and needs no scale; every other core works too.\n"
			"The noise is a function of the seed (--seed), the option seed, head, feature\n"
			"and, for conv, position: the same for q and k, for all batches and lengths,\n"
			"and for a token decoded alone. The authors draw anew at each pass: change\n"
			"seed for that. It is the seed's own generator, not PyTorch's.\n"
			"Cost: a token of a head takes 2 head_dim sines R multiply-adds, conv\n"
			"head_dim kernel R (3 million with the defaults). Codes are never kept. The\n"
			"noise of sine is drawn once if it is at most 16 MB (with the defaults 2 MB,\n"
			"and 1 of the gate's); beyond, and for conv, it is drawn again for each block\n"
			"of at most 256 tokens of a head: conv head_dim R (255 + kernel) numbers, and\n"
			"for a token alone head_dim R kernel.\n"
			"Grouped heads (fewer of keys) are refused: each head has its own noise.",
	.source = "Liutkus et al. 2021, arXiv:2105.08399, and its code (aliutkus/spe)",
	.example = "seq:128 --with spe:sines=5 -o spe.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = pe_compute_own_weights,
	.rotate = rotate,
	.rotate_rows = pe_spe_rotate_rows,
	.rotate_width = rotate_width,
	.scale = scale,
};
