/* SPDX-License-Identifier: BSD-2-Clause
 * Time absolute positions: sinusoids whose frequencies fit the series' length L,
 * PE[p, 2t] = a sin(p ω_t d/L), PE[p, 2t+1] = a cos(p ω_t d/L), ω_t = base^(-2t/d). Foumani et al.,
 * "Improving position encoding of transformers for multivariate time series classification", 2023 (ConvTran),
 * tAPE. */
#include <math.h>

#include "encoder.h"
#include "token_table.h"

struct state {
	struct pe_token_table table;
	double *frequency; /* (dim + 1) / 2, times d/L */
	double scale;
};

static void row(const pe_encoding *e, int64_t batch, int64_t token, double *out)
{
	const struct state *s = e->state;
	double position = pe_domain_position(e->domain, batch, token);
	for (int64_t c = 0; c < s->table.dim; c++) {
		double angle = position * s->frequency[c / 2];
		out[c] = s->scale * (c % 2 ? cos(angle) : sin(angle));
	}
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	double base = pe_params_real(e->params, "base");
	int64_t dim = pe_params_int(e->params, "dim"), length = pe_params_int(e->params, "length");
	if (length == 0)
		length = pe_max(e->domain->tokens, 1);
	s->table = (struct pe_token_table){.dim = dim, .row = row};
	s->scale = pe_params_real(e->params, "scale");
	s->frequency = pe_alloc(e->ctx, (dim + 1) / 2, sizeof *s->frequency);
	if (!s->frequency)
		return PE_ERR_NOMEM;
	for (int64_t t = 0; t < (dim + 1) / 2; t++)
		s->frequency[t] = pow(base, -2 * (double)t / (double)dim) * (double)dim / (double)length;
	return pe_token_table_declare(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_free(e->ctx, s->frequency);
}

static const pe_option_info options[] = {
	PE_INT("dim", "64", 1, 1 << 20, "width of a row"),
	PE_INT("length", "0", 0, 1 << 30, "the length L that the series has; 0: the number of tokens"),
	PE_REAL("base", "10000", 1e-6, 1e18, "of the frequencies"),
	PE_REAL("scale", "1", 1e-6, 1e6, "what the rows are multiplied with; the code's scale_factor"),
	PE_OPTION_MERGE,
};

const struct pe_encoder pe_encoder_tape = {
	.table = PE_TABLE_NO_PRESETS("tape", options),
	.family = PE_SEQ,
	.summary = "sinusoids whose frequencies fit the length of the series",
	.help = "PE[p, 2t] = scale sin(p w_t dim/L), PE[p, 2t+1] = scale cos(p w_t dim/L),\n"
			"w_t = base^(-2t/dim), L = length. With L = dim this is sinusoidal.\n"
			"L is the fixed length that the model is made for: give it if the series is\n"
			"shorter; the code fails there. Positions may be any real numbers. An odd dim\n"
			"ends in a sine.",
	.source = "Foumani et al. 2023, \"Improving position encoding of transformers for multivariate time "
			  "series classification\", and its code",
	.example = "seq:96 --with tape:dim=16",
	.domains = PE_DOMAIN_SEQUENCE,
	.bind = bind,
	.release = release,
	.compute = pe_token_table_compute,
	.tokens = pe_token_table_tokens,
	.tokens_shape = pe_token_table_shape,
};
