/* SPDX-License-Identifier: BSD-2-Clause
 * Contextual positions: a key's position is counted from the query back, by gates that the content opens:
 * p_ij = Σ_{t ≥ j} σ(s_it), and the score gets q_i·E[p_ij], linear between whole positions. Golovneva et al.,
 * "Contextual position encoding: learning to count what's important", 2024, appendix B. */
#include <math.h>

#include "relation.h"

struct state {
	double *table; /* (max_position, head_dim); owned by the encoding */
	int64_t head_dim, positions;
	bool scaled;
};

static double gate(double logit)
{
	return 1 / (1 + exp(-logit));
}

/* Products of the query with the rows at and after a position. Positions only grow from one key to the one
 * before it, so that each row is met once. */
struct between {
	int64_t at;
	double low, high;
};

static void move_to(const struct state *s, const double *q, int64_t at, struct between *between)
{
	if (at == between->at)
		return;
	between->low =
		at == between->at + 1 ? between->high : pe_dot(q, s->table + at * s->head_dim, s->head_dim);
	between->high =
		at + 1 < s->positions ? pe_dot(q, s->table + (at + 1) * s->head_dim, s->head_dim) : between->low;
	between->at = at;
}

static void content_row(
	const pe_encoding *e, const struct pe_cells *cells, const double *q, int64_t width, double *logits)
{
	const struct state *s = e->state;
	struct between between = {-2, 0, 0};
	double position = 0, factor = s->scaled ? 1 / sqrt((double)width) : 1;
	for (int64_t c = cells->count - 1; c >= 0; c--) {
		position = fmin(position + gate(logits[c]), (double)(s->positions - 1));
		move_to(s, q, (int64_t)position, &between);
		double part = position - (double)between.at;
		logits[c] += factor * (between.low * (1 - part) + between.high * part);
	}
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	s->head_dim = e->row_width = pe_params_int(e->params, "head_dim");
	PE_TRY(pe_encoding_size(e, "max_position", "pos_emb", 2, 0, &s->positions));
	s->scaled = pe_params_bool(e->params, "scaled");
	PE_TRY(pe_encoding_weight(
		e, "pos_emb", 2, (int64_t[]){s->positions, s->head_dim}, pe_initial_constant(0), &s->table));
	return pe_declare_weights(e);
}

static const pe_option_info options[] = {
	PE_INT("head_dim", "64", 1, 1 << 16, "width of a head's queries"),
	PE_INT("max_position", "16", 1, 1 << 20,
		"rows of the table, if not set as the given one has; positions end at the last"),
	PE_BOOLEAN("scaled", "0", "whether the query is divided by sqrt(head_dim) before it meets the table"),
};

static const pe_preset_info presets[] = {
	{"ram", "scaled=1",
		"facebookresearch/RAM as it is run by default (cope_nodiv=False): q is divided first"},
};

static const pe_weight_info weights[] = {
	{"pos_emb", "(max_position, head_dim)", "zeros",
		"one row a position, for all heads; the paper's pos_emb (1, head_dim, npos_max) has it turned "
		"around"},
};

const struct pe_encoder pe_encoder_cope = {
	.table = PE_TABLE("cope", options, presets),
	.family = PE_SEQ,
	.summary = "positions that count what the content says is worth counting",
	.help = "Gates g_ij = sigmoid(s_ij) of the logits, scaled and masked; position\n"
			"p_ij = g_ij + g_i,j+1 + ... over the keys from j to the last one that the\n"
			"query sees, at most max_position - 1; s_ij gets q_i . E[p_ij], linear between\n"
			"whole positions. A masked key has gate 0.\n"
			"q is not divided by sqrt(head_dim) before it meets the table, as in the\n"
			"paper's listing and x-transformers. The authors' released code divides it\n"
			"before everything, unless it is run with cope_nodiv: that is scaled=1.\n"
			"Tokens count in their order; where they stand does not matter. Attention\n"
			"needs whole rows of scores for this.",
	.source = "Golovneva et al. 2024, \"Contextual position encoding: learning to count what's important\"",
	.example = "seq:64 --with cope:head_dim=32 -o cope.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.compute = pe_compute_own_weights,
	.content_row = content_row,
};
