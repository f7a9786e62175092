/* SPDX-License-Identifier: BSD-2-Clause
 * Sinusoidal positions: PE[p, 2t] = sin(p ω_t), PE[p, 2t+1] = cos(p ω_t), ω_t = base^(-2t/dim).
 * Vaswani et al., "Attention is all you need", 2017, section 3.5; the tensor2tensor time scale is
 * get_timing_signal_1d of that library. */
#include <math.h>

#include "encoder.h"
#include "kernels/kernels.h"
#include "token_table.h"

enum layout { INTERLEAVED, HALVES };
enum timescale { PAPER, TENSOR2TENSOR };

struct state {
	struct pe_token_table table;
	enum layout layout;
	int64_t sines, cosines; /* columns of each; the rest are 0 */
	double *frequency;      /* sines */
};

/* Of a pair t of n: base^(-2t/dim), or base^(-t/(n-1)), which ends at 1/base exactly. */
static double frequency(enum timescale timescale, double base, int64_t t, int64_t n, int64_t dim)
{
	double exponent = timescale == PAPER ? 2 * (double)t / (double)dim
		: n > 1                          ? (double)t / (double)(n - 1)
										 : 0;
	return pow(base, -exponent);
}

enum { BLOCK = 64 }; /* frequencies at once */

static void row(const pe_encoding *e, int64_t batch, int64_t token, double *out)
{
	const struct state *s = e->state;
	double position = pe_domain_position(e->domain, batch, token), angle[BLOCK], sine[BLOCK], cosine[BLOCK];
	bool interleaved = s->layout == INTERLEAVED;
	int64_t step = interleaved ? 2 : 1;
	double *sines = out, *cosines = interleaved ? out + 1 : out + s->sines;
	if (s->sines + s->cosines < s->table.dim)
		out[s->table.dim - 1] = 0;
	for (int64_t first = 0; first < s->sines; first += BLOCK) {
		int64_t count = pe_min(BLOCK, s->sines - first);
		for (int64_t t = 0; t < count; t++)
			angle[t] = position * s->frequency[first + t];
		e->ctx->kernels->sincos(angle, count, sine, cosine);
		for (int64_t t = 0; t < count; t++)
			sines[(first + t) * step] = sine[t];
		for (int64_t t = 0; t < pe_min(count, s->cosines - first); t++)
			cosines[(first + t) * step] = cosine[t];
	}
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	enum timescale timescale = (enum timescale)pe_params_choice(e->params, "timescale");
	double base = pe_params_real(e->params, "base");
	int64_t dim = pe_params_int(e->params, "dim");
	s->table = (struct pe_token_table){.dim = dim, .row = row};
	s->layout = (enum layout)pe_params_choice(e->params, "layout");
	/* An odd width keeps its last sine; tensor2tensor pads with a column of zeros instead. */
	s->sines = timescale == PAPER ? (dim + 1) / 2 : dim / 2;
	s->cosines = dim / 2;
	s->frequency = pe_alloc(e->ctx, s->sines, sizeof *s->frequency);
	if (!s->frequency)
		return PE_ERR_NOMEM;
	for (int64_t t = 0; t < s->sines; t++)
		s->frequency[t] = frequency(timescale, base, t, s->sines, dim);
	return pe_token_table_declare(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_free(e->ctx, s->frequency);
}

static const pe_option_info options[] = {
	PE_INT("dim", "64", 1, 1 << 20, "width of a row"),
	PE_REAL("base", "10000", 1e-6, 1e18, "the longest wavelength is 2 pi times this, nearly"),
	PE_CHOICE("layout", "interleaved", "interleaved|halves",
		"sine and cosine of a frequency side by side, or all sines before all cosines"),
	PE_CHOICE("timescale", "paper", "paper|tensor2tensor",
		"frequencies base^(-2t/dim), or base^(-t/(dim/2-1)) as in tensor2tensor"),
	PE_OPTION_MERGE,
};

static const pe_preset_info presets[] = {
	{"tensor2tensor", "layout=halves,timescale=tensor2tensor",
		"get_timing_signal_1d of tensor2tensor: halves, and exponents t/(n-1) instead of t/n, so that the "
		"last frequency is 1/base exactly; an odd dim ends in a column of zeros"},
	{"transformer_xl", "layout=halves", "Transformer-XL and XLNet: halves, frequencies of the paper"},
};

const struct pe_encoder pe_encoder_sinusoidal = {
	.table = PE_TABLE("sinusoidal", options, presets),
	.family = PE_SEQ,
	.summary = "sines and cosines of the position at geometric frequencies",
	.help = "PE[p, 2t] = sin(p w_t), PE[p, 2t+1] = cos(p w_t), w_t = base^(-2t/dim).\n"
			"Positions may be any real numbers, negative ones too. An odd dim ends in a\n"
			"sine. Angles are computed in double precision and rounded once.\n"
			"Both layouts hold the same columns; a model trained with one cannot read\n"
			"the other. Some models multiply the token embedding by sqrt(dim) first;\n"
			"that is left to the caller.",
	.source = "Vaswani et al. 2017, \"Attention is all you need\", section 3.5",
	.example = "seq:128 --with sinusoidal:dim=64",
	.domains = PE_DOMAIN_SEQUENCE,
	.bind = bind,
	.release = release,
	.compute = pe_token_table_compute,
	.tokens = pe_token_table_tokens,
	.tokens_shape = pe_token_table_shape,
};
