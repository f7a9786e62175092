/* SPDX-License-Identifier: BSD-2-Clause
 * Rotary positions: pair t of channels is turned by position × base^(-2t/rotary_dim). Su et al., "RoFormer:
 * enhanced transformer with rotary position embedding", 2021. Frequencies: rope_scaling.c. */
#include <math.h>

#include "encoder.h"
#include "frequency.h"
#include "kernels/kernels.h"
#include "rope_scaling.h"
#include "rotation.h"

enum layout { INTERLEAVED, HALVES };
enum angle { EXACT, SINGLE, GGML };

struct state {
	struct pe_rotation rotation;
	struct pe_rope_scaling scaling;
	struct pe_frequencies exact;
	float *single; /* angle=f32: the frequencies */
	struct pe_rope_iterated iterated;
	double turned, scores; /* what multiplies cosines and sines, and the scale of the scores */
};

/* ---- the rotation ------------------------------------------------------------------- */

static void turn(const pe_encoding *e, const struct pe_place *at, int64_t first, int64_t count,
	double *cosine, double *sine)
{
	const struct state *s = e->state;
	double position = pe_domain_position(pe_side_domain(e, at->side), at->batch, at->token);
	pe_frequencies_turn(e->ctx, &s->exact, position, first, count, cosine, sine);
	for (int64_t t = 0; t < count; t++) {
		cosine[t] *= s->turned;
		sine[t] *= s->turned;
	}
}

/* From angles that are f32, every step rounded to it. */
static void finish_single(const pe_encoding *e, int64_t count, double *cosine, double *sine)
{
	const struct state *s = e->state;
	float turned = (float)s->turned;
	e->ctx->kernels->sincos(sine, count, sine, cosine);
	for (int64_t t = 0; t < count; t++) {
		cosine[t] = (double)((float)cosine[t] * turned);
		sine[t] = (double)((float)sine[t] * turned);
	}
}

static void turn_single(const pe_encoding *e, const struct pe_place *at, int64_t first, int64_t count,
	double *cosine, double *sine)
{
	const struct state *s = e->state;
	float position = (float)pe_domain_position(pe_side_domain(e, at->side), at->batch, at->token);
	for (int64_t t = 0; t < count; t++)
		sine[t] = (double)(position * s->single[first + t]);
	finish_single(e, count, cosine, sine);
}

static void turn_iterated(const pe_encoding *e, const struct pe_place *at, int64_t first, int64_t count,
	double *cosine, double *sine)
{
	const struct pe_rope_iterated *i = &((const struct state *)e->state)->iterated;
	float theta = (float)pe_domain_position(pe_side_domain(e, at->side), at->batch, at->token);
	for (int64_t t = 0; t < first; t++)
		theta *= i->ratio;
	for (int64_t t = 0; t < count; t++) {
		float plain = theta / i->divisor[first + t], stretched = i->stretch * plain,
			  keep = i->keep[first + t];
		sine[t] = (double)(i->blended ? stretched * (1 - keep) + plain * keep : stretched);
		theta *= i->ratio;
	}
	finish_single(e, count, cosine, sine);
}

static double scale(const pe_encoding *e, const struct pe_place *query, int64_t width)
{
	(void)query;
	const struct state *s = e->state;
	return s->scores / sqrt((double)width);
}

/* ---- bind --------------------------------------------------------------------------- */

/* One more than the last position of queries and keys; 0 without tokens. */
static double length_of(const pe_encoding *e)
{
	double length = 0;
	const pe_domain *domains[] = {e->domain, e->queries};
	for (int d = 0; d < 2; d++)
		for (int64_t b = 0; b < domains[d]->batch; b++)
			for (int64_t i = domains[d]->positions ? 0 : pe_max(0, domains[d]->tokens - 1);
				 i < domains[d]->tokens; i++)
				length = fmax(length, pe_domain_position(domains[d], b, i) + 1);
	return length;
}

/* 0: all. A fraction that is set is meant before a preset's rotary_dim. */
static int64_t take_rotary_dim(const pe_encoding *e, int64_t head_dim)
{
	int64_t rotary_dim = pe_params_int(e->params, "rotary_dim");
	double fraction = pe_params_real(e->params, "rotary_fraction");
	bool by_fraction =
		pe_params_is_set(e->params, "rotary_fraction") && !pe_params_is_set(e->params, "rotary_dim");
	if (fraction >= 1 || (rotary_dim > 0 && !by_fraction))
		return rotary_dim;
	return (int64_t)(fraction * (double)head_dim * (1 + 1e-12));
}

static pe_status take_dims(pe_encoding *e, struct pe_rope_scaling *s)
{
	int64_t head_dim = s->head_dim = pe_params_int(e->params, "head_dim");
	int64_t rotary_dim = take_rotary_dim(e, head_dim);
	s->rotary_dim = rotary_dim > 0 ? rotary_dim : head_dim;
	int64_t start = pe_params_int(e->params, "rotary_start");
	int64_t end =
		start + (s->kind == PE_ROPE_PROPORTIONAL && rotary_dim <= head_dim ? head_dim : s->rotary_dim);
	if (end > head_dim)
		return pe_encoding_fail(e, PE_ERR_RANGE,
			"%lld channels from number %lld on are to be turned, but heads are %lld wide",
			(long long)(end - start), (long long)start, (long long)head_dim);
	bool all = s->rotary_dim == head_dim || s->kind == PE_ROPE_PROPORTIONAL;
	if ((all ? head_dim : rotary_dim) % 2 != 0 || s->rotary_dim % 2 != 0)
		return pe_encoding_fail(e, PE_ERR_RANGE, "%s %lld is odd; rope needs an even one",
			all && head_dim % 2 != 0 ? "head dimension" : "rotary_dim",
			(long long)(all && head_dim % 2 != 0 ? head_dim : rotary_dim));
	if ((s->kind == PE_ROPE_NTK || s->kind == PE_ROPE_DYNAMIC) && s->rotary_dim == 2)
		return pe_encoding_fail(e, PE_ERR_RANGE,
			"scaling=%s stretches the base to the power of r/(r-2), and rotary_dim r is 2",
			pe_params_text(e->params, "scaling"));
	return PE_OK;
}

#define OF(kind) (1 << PE_ROPE_##kind)

/* Options that other scalings than this one have. */
static pe_status refuse_others(pe_encoding *e, enum pe_rope_kind kind)
{
	static const struct {
		const char *name;
		int kinds;
	} uses[] = {
		{"factor", ~OF(NONE)},
		{"original_length", OF(DYNAMIC) | OF(YARN) | OF(LONGROPE) | OF(LLAMA3)},
		{"length", OF(DYNAMIC) | OF(LONGROPE)},
		{"beta_fast", OF(YARN)},
		{"beta_slow", OF(YARN)},
		{"low_factor", OF(LLAMA3)},
		{"high_factor", OF(LLAMA3)},
		{"short_factor", OF(LONGROPE)},
		{"long_factor", OF(LONGROPE)},
		{"mscale", OF(YARN)},
		{"mscale_all_dim", OF(YARN)},
		{"truncate", OF(YARN)},
	};
	for (size_t i = 0; i < PE_COUNT(uses); i++)
		if (!(uses[i].kinds & 1 << kind))
			PE_TRY(pe_encoding_refuse_option(
				e, uses[i].name, "with scaling=%s", pe_params_text(e->params, "scaling")));
	return PE_OK;
}

/* factor and original_length, which have no default but for llama3 and proportional. */
static pe_status take_lengths(pe_encoding *e, struct pe_rope_scaling *s)
{
	const char *word = pe_params_text(e->params, "scaling");
	s->factor = pe_params_real(e->params, "factor");
	s->original_length = (double)pe_params_int(e->params, "original_length");
	s->length = pe_params_real(e->params, "length");
	if (s->length <= 0)
		s->length = length_of(e);
	if (s->factor > 0 && s->factor < 1)
		return pe_encoding_fail(e, PE_ERR_RANGE, "factor must be 1 or more");
	bool needs_factor = s->kind >= PE_ROPE_LINEAR && s->kind <= PE_ROPE_LONGROPE &&
		!(s->kind == PE_ROPE_LONGROPE && s->attention_factor > 0);
	if (s->factor <= 0 && needs_factor)
		return pe_encoding_fail(e, PE_ERR_RANGE, "scaling=%s needs factor, 1 or more", word);
	if (s->factor <= 0)
		s->factor = s->kind == PE_ROPE_LLAMA3 ? 8 : 1;
	if (s->original_length <= 0 && s->kind == PE_ROPE_LLAMA3)
		s->original_length = 8192;
	bool needs_length = s->kind >= PE_ROPE_DYNAMIC && s->kind <= PE_ROPE_LLAMA3;
	if (needs_length && s->original_length < 2)
		return pe_encoding_fail(
			e, PE_ERR_RANGE, "scaling=%s needs original_length, the length of training, 2 or more", word);
	return PE_OK;
}

static pe_status take_numbers(pe_encoding *e, struct pe_rope_scaling *s)
{
	s->base = pe_params_real(e->params, "base");
	s->beta_fast = pe_params_real(e->params, "beta_fast");
	s->beta_slow = pe_params_real(e->params, "beta_slow");
	s->low_factor = pe_params_real(e->params, "low_factor");
	s->high_factor = pe_params_real(e->params, "high_factor");
	s->attention_factor = pe_params_real(e->params, "attention_factor");
	s->mscale = pe_params_real(e->params, "mscale");
	s->mscale_all_dim = pe_params_real(e->params, "mscale_all_dim");
	s->truncate = pe_params_bool(e->params, "truncate");
	s->in_scale = pe_params_choice(e->params, "mscale_in") == 1;
	s->single = pe_params_choice(e->params, "angle") != EXACT;
	if (s->kind == PE_ROPE_YARN && (s->base <= 1 || s->beta_fast < s->beta_slow))
		return pe_encoding_fail(
			e, PE_ERR_RANGE, "scaling=yarn needs a base above 1, and beta_fast not below beta_slow");
	if (s->kind == PE_ROPE_LLAMA3 && s->high_factor <= s->low_factor)
		return pe_encoding_fail(e, PE_ERR_RANGE, "scaling=llama3 needs a high_factor above low_factor");
	return PE_OK;
}

/* longrope: the list that this length calls for, as an option or else as a weight. */
static pe_status take_extension(pe_encoding *e, struct pe_rope_scaling *s)
{
	if (s->kind != PE_ROPE_LONGROPE)
		return PE_OK;
	const char *name = s->length > s->original_length ? "long_factor" : "short_factor";
	int64_t count, pairs = s->rotary_dim / 2;
	const double *list = pe_params_list(e->params, name, &count);
	if (count == 0 && pe_encoding_weight_is_given(e, name)) {
		double *weight;
		PE_TRY(pe_encoding_weight(e, name, 1, &pairs, pe_initial_constant(1), &weight));
		list = weight;
		count = pairs;
	}
	if (count == 0)
		return pe_encoding_fail(e, PE_ERR_RANGE,
			"scaling=longrope needs %s for this length, as an option or in the weights", name);
	if (count != pairs)
		return pe_encoding_fail(e, PE_ERR_RANGE, "%s has %lld numbers, and there are %lld pairs", name,
			(long long)count, (long long)pairs);
	for (int64_t t = 0; t < pairs; t++)
		if (!(list[t] >= 1e-9 && list[t] <= 1e9))
			return pe_encoding_fail(
				e, PE_ERR_RANGE, "%s: number %lld is not from 1e-9 to 1e9", name, (long long)t);
	s->extension = list;
	return PE_OK;
}

static pe_status fill_frequencies(pe_encoding *e, struct state *s)
{
	int64_t pairs = s->rotation.pairs;
	long double *frequency = pe_alloc(e->ctx, pairs, sizeof *frequency);
	s->single = pe_alloc(e->ctx, pairs, 3 * sizeof *s->single);
	pe_status status = frequency && s->single ? PE_OK : PE_ERR_NOMEM;
	if (status == PE_OK) {
		s->iterated.divisor = s->single + pairs;
		s->iterated.keep = s->single + 2 * pairs;
		pe_rope_iterate(&s->scaling, &s->iterated);
		pe_rope_frequencies(&s->scaling, frequency);
		for (int64_t t = 0; t < pairs; t++)
			s->single[t] = (float)frequency[t];
		status = pe_frequencies_make(e->ctx, frequency, pairs, &s->exact);
	}
	pe_free(e->ctx, frequency);
	return status;
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	struct pe_rope_scaling *scaling = &s->scaling;
	scaling->kind = (enum pe_rope_kind)pe_params_choice(e->params, "scaling");
	PE_TRY(refuse_others(e, scaling->kind));
	PE_TRY(take_numbers(e, scaling));
	PE_TRY(take_dims(e, scaling));
	PE_TRY(take_lengths(e, scaling));
	PE_TRY(take_extension(e, scaling));
	s->rotation = (struct pe_rotation){.pairs = scaling->rotary_dim / 2, .width = scaling->head_dim};
	static void (*const turns[])(const pe_encoding *, const struct pe_place *, int64_t, int64_t, double *,
		double *) = {turn, turn_single, turn_iterated};
	s->rotation.start = pe_params_int(e->params, "rotary_start");
	s->rotation.turn = turns[pe_params_choice(e->params, "angle")];
	if (pe_params_choice(e->params, "layout") == HALVES)
		s->rotation.half =
			(scaling->kind == PE_ROPE_PROPORTIONAL ? scaling->head_dim : scaling->rotary_dim) / 2;
	PE_TRY(fill_frequencies(e, s));
	pe_rope_amplitudes(scaling, &s->turned, &s->scores);
	e->leaves_scale = !scaling->in_scale;
	return pe_rotation_declare(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_frequencies_free(e->ctx, &s->exact);
	pe_free(e->ctx, s->single);
}

/* ---- what it is --------------------------------------------------------------------- */

static const pe_option_info options[] = {
	PE_INT("head_dim", "64", 1, 1 << 16, "width of a head"),
	PE_INT("rotary_dim", "0", 0, 1 << 16, "channels that are turned; 0: rotary_fraction of the head"),
	PE_REAL("rotary_fraction", "1", 1e-3, 1, "part of the head that is turned (partial_rotary_factor)"),
	PE_INT("rotary_start", "0", 0, 1 << 16, "the first of the channels that are turned"),
	PE_REAL("base", "10000", 1e-6, 1e18, "base of the frequencies"),
	PE_CHOICE("layout", "interleaved", "interleaved|halves",
		"pair t is channels 2t and 2t+1 of those turned, or t and t + rotary_dim/2"),
	PE_CHOICE("scaling", "none", "none|linear|ntk|dynamic|yarn|longrope|llama3|proportional",
		"how frequencies change for sequences longer than those of training"),
	PE_REAL("factor", "0", 0, 1e9, "how much longer, 1 or more; 0: 8 for llama3, 1 for proportional"),
	PE_INT("original_length", "0", 0, 1e15, "length of training; 0: 8192 for llama3"),
	PE_REAL("length", "0", 0, 1e15, "length that dynamic and longrope go by; 0: the last position + 1"),
	PE_REAL("beta_fast", "32", 1e-6, 1e9, "yarn: pairs that turn so often in training, or more, stay"),
	PE_REAL("beta_slow", "1", 1e-6, 1e9, "yarn: pairs that turn so often in training, or less, are divided"),
	PE_REAL("low_factor", "1", 1e-6, 1e9, "llama3: wavelengths above original_length / this are divided"),
	PE_REAL("high_factor", "4", 1e-6, 1e9, "llama3: wavelengths below original_length / this stay"),
	PE_LIST("short_factor", "", 1e-9, 1e9, "longrope: divisor of each pair up to original_length"),
	PE_LIST("long_factor", "", 1e-9, 1e9, "longrope: divisor of each pair beyond original_length"),
	PE_REAL("attention_factor", "0", 0, 1e6, "multiplies cos and sin; 0: as the scaling says"),
	PE_REAL("mscale", "0", 0, 1e6, "yarn: with mscale_all_dim, makes the attention factor; 0: not set"),
	PE_REAL("mscale_all_dim", "0", 0, 1e6, "yarn: see mscale"),
	PE_CHOICE("mscale_in", "cos_sin", "cos_sin|scale",
		"what the attention factor multiplies: cos and sin, or by its square the scale of the scores"),
	PE_BOOLEAN("truncate", "1", "yarn: the ramp begins and ends at whole pairs"),
	PE_CHOICE("angle", "exact", "exact|f32|ggml",
		"angles in extended precision; frequency, position and product rounded to f32 as frameworks do; or "
		"ggml's, multiplied up from pair to pair in f32"),
};

static const pe_preset_info presets[] = {
	{"hf", "layout=halves,angle=f32",
		"transformers' Llama, Mistral, Qwen2 and their like: halves, with the query and key weights of the "
		"original models permuted to fit; angles in f32"},
	{"neox", "layout=halves,angle=f32,rotary_fraction=0.25",
		"GPT-NeoX and Pythia: the first quarter of a head is turned, in halves of its own; angles in f32"},
	{"gptj", "layout=interleaved,angle=f32,head_dim=256,rotary_dim=64",
		"GPT-J: the first 64 of 256 channels; angles in f32"},
	{"meta", "layout=interleaved,angle=f32,head_dim=128",
		"Meta's own Llama 1 and 2 code, before any weight was permuted; angles in f32"},
	{"lucidrains", "layout=interleaved,angle=f32",
		"rotary-embedding-torch and x-transformers; their theta_rescale_factor and base_rescale_factor are "
		"scaling=ntk with that factor; angles in f32"},
	{"llama3",
		"layout=halves,angle=f32,head_dim=128,base=500000,scaling=llama3,factor=8,original_length=8192",
		"Llama 3.1 as transformers has it; 3.2 has factor 32; angles in f32"},
	{"ggml", "layout=interleaved,angle=ggml",
		"ggml and llama.cpp on a CPU, mode NORMAL; NEOX is layout=halves. Angles are multiplied up from pair "
		"to "
		"pair in f32: three times as far off as angle=f32"},
	{"gpt_oss", "layout=halves,angle=f32,base=150000,scaling=yarn,factor=32,original_length=4096,truncate=0",
		"gpt-oss: YaRN whose ramp is not rounded to whole pairs; angles in f32"},
	{"deepseek",
		"head_dim=192,rotary_dim=64,rotary_start=128,layout=interleaved,angle=f32,scaling=yarn,factor=40,"
		"original_length=4096,mscale=1,mscale_all_dim=1,mscale_in=scale",
		"DeepSeek-V3, whose heads end in the rotary part: the scale of the scores, and not cos and sin, has "
		"the attention factor's square; angles in f32"},
	{"phi3", "layout=halves,angle=f32,head_dim=96,scaling=longrope,factor=32,original_length=4096",
		"Phi-3 with 128k; needs short_factor and long_factor from its configuration; angles in f32"},
	{"gemma4", "layout=halves,angle=f32,head_dim=512,rotary_dim=128,base=1000000,scaling=proportional",
		"global layers of Gemma 4: pairs reach over the whole head; angles in f32"},
};

static const pe_weight_info weights[] = {
	{"short_factor", "(rotary_dim/2)", "not needed", "longrope: the option of this name, as an array"},
	{"long_factor", "(rotary_dim/2)", "not needed", "longrope: the option of this name, as an array"},
};

const struct pe_encoder pe_encoder_rope = {
	.table = PE_TABLE("rope", options, presets),
	.family = PE_SEQ,
	.summary = "pairs of channels of queries and keys, turned by angles that grow with the position",
	.help = "Pair (a, b) number t of queries and keys at position p becomes\n"
			"(a cos pw - b sin pw, a sin pw + b cos pw), w_t = base^(-2t/rotary_dim): the\n"
			"product of a query and a key depends on the difference of their positions.\n"
			"Arrays cos and sin are (tokens, rotary_dim/2), the attention factor in them.\n"
			"The channels turned are rotary_start ... rotary_start + rotary_dim - 1; the\n"
			"others stay. Positions may be any real numbers.\n"
			"With L = original_length, f = factor, r = rotary_dim, scaling is\n"
			"  linear        w / f\n"
			"  ntk           base f^(r/(r-2)) as base\n"
			"  dynamic       base (f S/L - f + 1)^(r/(r-2)), S = max(length, L)\n"
			"  yarn          w/f ramp + w (1 - ramp); the ramp goes from 0 at the pair that\n"
			"                turns beta_fast times within L to 1 at that of beta_slow\n"
			"  longrope      w / short_factor, or w / long_factor if length > L\n"
			"  llama3        w where wavelength < L/high_factor, w/f where it is above\n"
			"                L/low_factor, and a mean of both between\n"
			"  proportional  w_t = base^(-2t/head_dim) / f for t < r/2; with halves, pair t\n"
			"                is channels t and t + head_dim/2\n"
			"The attention factor is 0.1 ln f + 1 for yarn, g(mscale) / g(mscale_all_dim)\n"
			"with g(m) = 0.1 m ln f + 1 if both are set; sqrt(1 + ln f / ln L) for\n"
			"longrope; else 1. It multiplies cos and sin, so that scores get its square,\n"
			"of the turned channels alone. mscale_in=scale: the scale of all scores gets\n"
			"the square instead; with mscale_all_dim, that of g(mscale_all_dim) alone.\n"
			"dynamic and longrope depend on the length: keys turned for another length\n"
			"must not be used again; give length, the longest to come, with a cache. All\n"
			"sequences of a batch take one length, that of the longest, as the code does.\n"
			"angle=f32 rounds frequency, position, product, cosine and sine to f32: 1e-3\n"
			"off at position 30000, and nothing near 2^24. It gives what transformers\n"
			"computes on a CPU, but for the last bit of a few frequencies.",
	.source = "Su et al. 2021, \"RoFormer\"; the scalings: Peng et al. 2023 (YaRN), Ding et al. 2024 "
			  "(LongRoPE), transformers' modeling_rope_utils.py",
	.example = "seq:128 --with rope:preset=llama3 -o rope.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	.weights = weights,
	.weight_count = PE_COUNT(weights),
	.bind = bind,
	.release = release,
	.compute = pe_rotation_compute,
	.rotate = pe_rotation_rotate,
	.rotate_width = pe_rotation_width,
	.scale = scale,
};
