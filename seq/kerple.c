/* SPDX-License-Identifier: BSD-2-Clause
 * Biases from conditionally positive definite kernels of the distance d = |i - j|: -p ln(1 + a d), or
 * -a d^p; and, with weight=1, scores multiplied by exp(-a d^p). Chi et al., "KERPLE: kernelized relative
 * positional embedding for length extrapolation", NeurIPS 2022; names and clamps as in its code. */
#include <math.h>

#include "encoder.h"
#include "scores.h"

enum form { LOG, POWER };
enum direction { BIDIRECTIONAL, CAUSAL };

#define LEAST 0.01 /* what the authors clamp parameters to, and exponents also to MOST_EXPONENT */
#define MOST_EXPONENT 2

struct state {
	enum form form;
	bool causal, weight;
	const double *bias_p, *bias_a, *wei_p, *wei_a; /* heads */
};

static double exponent(double p)
{
	return fmin(fmax(p, LEAST), MOST_EXPONENT);
}

static void scores(const pe_encoding *e, const struct pe_cells *cells, double *bias)
{
	const struct state *s = e->state;
	double p = s->bias_p[cells->head], a = fmax(s->bias_a[cells->head], LEAST);
	p = s->form == LOG ? fmax(p, LEAST) : exponent(p);
	for (int64_t c = 0; c < cells->count; c++) {
		double distance = pe_cell_distance(e, cells, c, s->causal);
		bias[c] -= s->form == LOG ? p * log1p(a * distance) : a * pow(distance, p);
	}
}

static void gains(const pe_encoding *e, const struct pe_cells *cells, double *gain)
{
	const struct state *s = e->state;
	double p = exponent(s->wei_p[cells->head]), a = fmax(s->wei_a[cells->head], LEAST);
	for (int64_t c = 0; c < cells->count; c++)
		gain[c] *= exp(-a * pow(pe_cell_distance(e, cells, c, s->causal), p));
}

static pe_status take(pe_encoding *e, const char *name, double most, const double **out)
{
	double *values;
	const int64_t shape[] = {e->heads, 1, 1};
	PE_TRY(pe_encoding_weight(e, name, 3, shape, pe_initial_uniform(0, most), &values));
	*out = values;
	return PE_OK;
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	e->heads = pe_params_int(e->params, "heads");
	e->relative = true;
	s->form = (enum form)pe_params_choice(e->params, "form");
	s->weight = pe_params_bool(e->params, "weight");
	s->causal = pe_params_choice(e->params, "direction") == CAUSAL;
	e->leaves_gains = !s->weight;
	PE_TRY(take(e, "bias_p", 2, &s->bias_p));
	PE_TRY(take(e, "bias_a", 1, &s->bias_a));
	PE_TRY(pe_scores_declare(e));
	if (!s->weight)
		return PE_OK;
	PE_TRY(take(e, "wei_p", 2, &s->wei_p));
	PE_TRY(take(e, "wei_a", 1, &s->wei_a));
	return pe_gains_declare(e);
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	const struct state *s = e->state;
	PE_TRY(pe_scores_compute(e, scores, outs));
	return s->weight ? pe_gains_compute(e, gains, outs + e->array_count / 2) : PE_OK;
}

static const pe_option_info options[] = {
	PE_INT("heads", "8", 1, 4096, "attention heads"),
	PE_CHOICE("form", "log", "log|power", "the bias: -p ln(1 + a d), or -a d^p"),
	PE_BOOLEAN("weight", "0", "1: scores are multiplied by exp(-a d^p) too, before the bias is added"),
	PE_CHOICE("direction", "bidirectional", "bidirectional|causal",
		"causal gives keys after the query distance 0: they are masked there"),
};

static const pe_weight_info weights[] = {
	{"bias_p", "(heads, 1, 1)", "U(0, 2)", "p of the bias; taken as at least 0.01, form=power: at most 2"},
	{"bias_a", "(heads, 1, 1)", "U(0, 1)", "a of the bias; taken as at least 0.01"},
	{"wei_p", "(heads, 1, 1)", "U(0, 2)", "weight=1: p of the weight; taken as 0.01 to 2"},
	{"wei_a", "(heads, 1, 1)", "U(0, 1)", "weight=1: a of the weight; taken as at least 0.01"},
};

const struct pe_encoder pe_encoder_kerple = {
	.table = PE_TABLE_NO_PRESETS("kerple", options),
	.family = PE_SEQ,
	.summary = "biases that fall with the logarithm or a power of the distance",
	.help = "With d = |i - j| and two learned parameters a head,\n"
			"  form=log    b(i, j) = -p ln(1 + a d),\n"
			"  form=power  b(i, j) = -a d^p,\n"
			"added to the scaled scores. weight=1 also multiplies them, before that, by\n"
			"w(i, j) = exp(-a d^p) with parameters of its own; arrays gain and gain_table\n"
			"hold w. The authors' code has the weight with form=power only. As there,\n"
			"parameters below 0.01 count as 0.01 and exponents above 2 as 2; the paper\n"
			"calls p and a r1 and r2 in the logarithm, r2 and r1 in the power. alibi is\n"
			"form=power with p = 1. Distances may be any real numbers; the authors round\n"
			"them to the type of the scores, so that in f16 those above 2048 are not exact.",
	.source = "Chi et al. 2022, \"KERPLE\", and its code",
	.example = "seq:128 --with kerple:heads=12,form=log -o kerple.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.compute = compute,
	.scores = scores,
	.gains = gains,
};
