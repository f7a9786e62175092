/* SPDX-License-Identifier: BSD-2-Clause
 * Attention with linear biases: b(i, j) = -m_h |i - j|. Press, Smith and Lewis, "Train short, test long:
 * attention with linear biases enables input length extrapolation", ICLR 2022; slopes as in its code. */
#include <math.h>

#include "encoder.h"
#include "scores.h"

enum direction { BIDIRECTIONAL, CAUSAL };

struct state {
	double *slopes; /* heads; a weight */
	enum direction direction;
};

/* For n heads, n a power of two: 2^(-max_bias (h+1)/n). Otherwise those of the power of two below, then
 * every second one of the power of two above. */
static void fill_slopes(double *slopes, int64_t heads, double max_bias)
{
	int64_t below = 1;
	while (2 * below <= heads)
		below *= 2;
	for (int64_t h = 0; h < heads; h++)
		slopes[h] = h < below ? exp2(-max_bias * (double)(h + 1) / (double)below)
							  : exp2(-max_bias * (double)(2 * (h - below) + 1) / (double)(2 * below));
}

static void scores(const pe_encoding *e, const struct pe_cells *cells, double *bias)
{
	const struct state *s = e->state;
	double slope = s->slopes[cells->head];
	for (int64_t c = 0; c < cells->count; c++)
		bias[c] -= slope * pe_cell_distance(e, cells, c, s->direction == CAUSAL);
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	e->heads = pe_params_int(e->params, "heads");
	e->relative = true;
	s->direction = (enum direction)pe_params_choice(e->params, "direction");
	struct pe_initial initial = pe_initial_constant(0);
	initial.optional = true;
	PE_TRY(pe_encoding_weight(e, "slopes", 1, &e->heads, initial, &s->slopes));
	if (!pe_encoding_weight_is_given(e, "slopes"))
		fill_slopes(s->slopes, e->heads, pe_params_real(e->params, "max_bias"));
	PE_TRY(pe_scores_declare(e));
	return pe_declare(e, "slopes", PE_F64, 1, &e->heads, false);
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	const struct state *s = e->state;
	const pe_tensor *slopes = &outs[e->array_count - 1];
	if (slopes->data)
		pe_store_f64(slopes->data, slopes->dtype, slopes->strides[0], s->slopes, 1, e->heads);
	return pe_scores_compute(e, scores, outs);
}

static const pe_option_info options[] = {
	PE_INT("heads", "8", 1, 4096, "attention heads"),
	PE_CHOICE("direction", "bidirectional", "bidirectional|causal",
		"causal gives keys after the query no bias: they are masked there"),
	PE_REAL("max_bias", "8", 1e-3, 1e3, "the last slope of a power of two of heads is 2^-max_bias"),
};

static const pe_weight_info weights[] = {
	{"slopes", "(heads)", "the series above",
		"optional: slopes that replace the series, for models with others"},
};

const struct pe_encoder pe_encoder_alibi = {
	.table = PE_TABLE_NO_PRESETS("alibi", options),
	.family = PE_SEQ,
	.summary = "a bias that falls linearly with the distance, at a slope for each head",
	.help = "b(i, j) = -m_h |i - j|, added to the scaled scores. With n heads, n a power of\n"
			"two, m_h = 2^(-max_bias (h+1)/n), h = 0 ... n-1. Otherwise the slopes are\n"
			"those of the power of two c below n, then every second one of 2c: 12 heads\n"
			"have the 8 of 8 heads, then the 1st, 3rd, 5th and 7th of 16. This is what\n"
			"the released models use; a plain geometric series for 12 heads is not.\n"
			"The authors' code adds +m_h j instead: the same under a causal mask, where a\n"
			"row's constant falls out of the softmax, though not out of its log-sum-exp.\n"
			"Falcon adds the bias before it divides by sqrt(head_dim): give it slopes that\n"
			"are divided by sqrt(head_dim).",
	.source = "Press et al. 2022, \"Train short, test long\", and its code",
	.example = "seq:128 --with alibi:heads=12 -o bias.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.compute = compute,
	.scores = scores,
};
