/* SPDX-License-Identifier: BSD-2-Clause
 * A learned bias for each distance, added to the weights after the softmax: out = (softmax(q k^T s) + B) v,
 * B_ij = w[i - j + L - 1]. Foumani et al., "Improving position encoding of transformers for multivariate time
 * series classification", 2023 (ConvTran), eRPE; class Attention_Rel_Scl of its code. */
#include <math.h>

#include "encoder.h"
#include "relation.h"
#include "scores.h"

struct state {
	double *table;  /* (2 length - 1, heads); owned by the encoding */
	int64_t length; /* distances are below it */
	int64_t dim;
};

static void weights_after(const pe_encoding *e, const struct pe_cells *cells, double *added)
{
	const struct state *s = e->state;
	double query = pe_domain_position(e->queries, cells->batch, cells->query);
	for (int64_t c = 0; c < cells->count; c++) {
		double key = pe_domain_position(e->domain, cells->batch, cells->key + c);
		int64_t row = pe_whole_distance(query - key, s->length - 1) + s->length - 1;
		added[c] += s->table[row * e->heads + cells->head];
	}
}

/* ConvTran divides by the square root of the model's width, not of a head's. */
static double scale(const pe_encoding *e, const struct pe_place *query, int64_t width)
{
	const struct state *s = e->state;
	(void)query;
	return 1 / sqrt((double)(s->dim > 0 ? s->dim : e->heads * width));
}

static pe_status take_sizes(pe_encoding *e)
{
	struct state *s = e->state;
	int64_t rows = pe_encoding_given_size(e, "relative_bias_table", 2, 0);
	PE_TRY(pe_encoding_size(e, "heads", "relative_bias_table", 2, 1, &e->heads));
	PE_TRY(pe_encoding_follow(e, "max_length", (rows + 1) / 2, &s->length));
	if (s->length == 0)
		s->length = pe_max(1, pe_max(e->domain->tokens, e->queries->tokens));
	return PE_OK;
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	e->relative = true;
	s->dim = pe_params_int(e->params, "dim");
	PE_TRY(take_sizes(e));
	struct pe_range range = pe_distance_range(e);
	double most = fmax(fabs(range.low), fabs(range.high));
	if (range.low <= range.high && round(most) > (double)(s->length - 1))
		return pe_encoding_fail(e, PE_ERR_RANGE,
			"a query and a key are %g apart, and the table ends at %lld: it was made for max_length %lld",
			most, (long long)(s->length - 1), (long long)s->length);
	PE_TRY(pe_encoding_weight(e, "relative_bias_table", 2, (int64_t[]){2 * s->length - 1, e->heads},
		pe_initial_constant(0), &s->table));
	PE_TRY(pe_scores_declare(e));
	return pe_declare_weights(e);
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	pe_compute_weights(e, outs, e->array_count - e->weight_count);
	return pe_scores_compute(e, weights_after, outs);
}

static const pe_option_info options[] = {
	PE_INT("heads", "8", 1, 4096, "attention heads; if not said, as given weights have it"),
	PE_INT("max_length", "0", 0, 1 << 24,
		"the length L that the table is made for; if not said, as given weights have it; 0: the number of "
		"tokens"),
	PE_INT("dim", "0", 0, 1 << 20,
		"the model's width, whose square root divides the scores; 0: heads * head width"),
};

static const pe_weight_info weights[] = {
	{"relative_bias_table", "(2 max_length - 1, heads)", "zeros",
		"row i - j + max_length - 1; the code's relative_bias_table"},
};

const struct pe_encoder pe_encoder_erpe = {
	.table = PE_TABLE_NO_PRESETS("erpe", options),
	.family = PE_SEQ,
	.summary = "a learned bias for each distance, added after the softmax",
	.help = "out_i = sum_j (softmax_j(s_ij) + w[i - j + L - 1, head]) v_j, L = max_length:\n"
			"query minus key. Rows no longer sum to 1, and nothing is normalised again.\n"
			"Scores are divided by the square root of the model's width, dim, not of a\n"
			"head's: ConvTran's emb_size^-0.5. Give attention a scale to undo that.\n"
			"A table belongs to one length: distances of L and more are refused. What is\n"
			"masked gets no bias; the code knows no masks.\n"
			"Distances that are not whole are rounded. bias is what is added to weights.",
	.source = "Foumani et al. 2023, \"Improving position encoding of transformers for multivariate time "
			  "series classification\", and its code",
	.example = "seq:96 --with erpe:heads=8 -o erpe.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.compute = compute,
	.weights_after = weights_after,
	.scale = scale,
};
