/* SPDX-License-Identifier: BSD-2-Clause
 * Sandwich: the products of sinusoidal rows at a distance d as a bias, less for each later head:
 * b_h(d) = (sum over t = 1 … n/2 of cos(d base^(-2t/n)) - n/2) / (8 (h+1) / heads), n = head_dim. Chi et al.,
 * "Dissecting transformer length extrapolation via the lens of receptive field analysis", ACL 2023. */
#include <math.h>

#include "encoder.h"
#include "scores.h"

enum direction { BIDIRECTIONAL, CAUSAL };

struct state {
	bool causal;
	int64_t count;     /* head_dim / 2 */
	double *frequency; /* count */
};

static void scores(const pe_encoding *e, const struct pe_cells *cells, double *bias)
{
	const struct state *s = e->state;
	double divisor = 8 * (double)(cells->head + 1) / (double)e->heads;
	for (int64_t c = 0; c < cells->count; c++) {
		double distance = pe_cell_distance(e, cells, c, s->causal), sum = 0;
		for (int64_t t = 0; t < s->count; t++)
			sum += cos(distance * s->frequency[t]);
		bias[c] += (sum - (double)s->count) / divisor;
	}
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	int64_t width = pe_params_int(e->params, "head_dim");
	double base = pe_params_real(e->params, "base");
	if (width % 2 != 0)
		return pe_encoding_fail(
			e, PE_ERR_RANGE, "head dimension %lld is odd; it needs an even one", (long long)width);
	e->heads = pe_params_int(e->params, "heads");
	e->relative = true;
	s->causal = pe_params_choice(e->params, "direction") == CAUSAL;
	s->count = width / 2;
	s->frequency = pe_alloc(e->ctx, s->count, sizeof *s->frequency);
	if (!s->frequency)
		return PE_ERR_NOMEM;
	for (int64_t t = 0; t < s->count; t++)
		s->frequency[t] = pow(base, -2 * (double)(t + 1) / (double)width);
	return pe_scores_declare(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_free(e->ctx, s->frequency);
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	return pe_scores_compute(e, scores, outs);
}

static const pe_option_info options[] = {
	PE_INT("heads", "8", 1, 4096, "attention heads"),
	PE_INT("head_dim", "64", 2, 1 << 16, "width of a head, even"),
	PE_REAL("base", "10000", 1e-6, 1e18, "base of the frequencies"),
	PE_CHOICE("direction", "bidirectional", "bidirectional|causal",
		"causal gives keys after the query no bias: they are masked there"),
};

const struct pe_encoder pe_encoder_sandwich = {
	.table = PE_TABLE_NO_PRESETS("sandwich", options),
	.family = PE_SEQ,
	.summary = "the inner products of sinusoidal rows as a bias",
	.help = "b_h(i, j) = (sum over t = 1 ... n/2 of cos((i - j) base^(-2t/n)) - n/2)\n"
			"            / (8 (h+1) / heads),   n = head_dim, h = 0 ... heads-1,\n"
			"added to the scaled scores. The sum is what remains of the product of two\n"
			"sinusoidal rows; it is 0 at distance 0 once n/2 is taken off. t begins at 1,\n"
			"as in NeMo's code, not at 0 as in sinusoidal rows. n, the paper's d', is a\n"
			"hyperparameter of its own; attend takes the width of a head unless head_dim\n"
			"says another. Nothing is learned. Positions may be any real numbers.",
	.source = "Chi et al. 2023, \"Dissecting transformer length extrapolation\"; NeMo's code",
	.example = "seq:128 --with sandwich:heads=12,head_dim=64 -o sandwich.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	.bind = bind,
	.release = release,
	.compute = compute,
	.scores = scores,
};
