/* SPDX-License-Identifier: BSD-2-Clause
 * A learned row for each position, p_k = E[k + offset]; and Su's decomposition of positions beyond the
 * table: with n trained rows and u_i = (p_i - α p_0) / (1 - α), position i n + r has α u_i + (1 - α) u_r.
 * Devlin et al., "BERT", NAACL 2019; Su Jianlin, "Hierarchical position encoding", 2020, as in bert4keras. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "encoder.h"
#include "token_table.h"

struct state {
	struct pe_token_table table;
	const double *rows; /* from position 0 on: (trained, dim) */
	int64_t trained;
	double alpha, factor; /* of hierarchical, or 0; of every row */
};

static void row(const pe_encoding *e, int64_t batch, int64_t token, double *out)
{
	const struct state *s = e->state;
	int64_t dim = s->table.dim, k = (int64_t)pe_domain_position(e->domain, batch, token);
	const double *first = s->rows, *low = s->rows + k % s->trained * dim;
	const double *high = s->rows + k / s->trained * dim;
	double a = s->alpha;
	for (int64_t c = 0; c < dim; c++) {
		/* The trained rows as they are, bit by bit; the formula gives them too, up to rounding. */
		double value = k < s->trained
			? low[c]
			: (a * (high[c] - a * first[c]) + (1 - a) * (low[c] - a * first[c])) / (1 - a);
		out[c] = s->factor * value;
	}
}

/* Positions with a row, and their width. */
static pe_status take_sizes(pe_encoding *e, int64_t offset, int64_t *trained, int64_t *dim)
{
	int64_t rows = pe_encoding_given_size(e, "weight", 2, 0);
	if (rows > 0 && rows <= offset)
		return pe_encoding_fail(
			e, PE_ERR_SHAPE, "the table has no row after the first %lld", (long long)offset);
	PE_TRY(pe_encoding_size(e, "dim", "weight", 2, 1, dim));
	return pe_encoding_follow(e, "max_length", rows - offset, trained);
}

static pe_status check_positions(pe_encoding *e)
{
	const struct state *s = e->state;
	char what[160];
	if (fabs(s->alpha - 0.5) < 1e-6)
		return pe_encoding_fail(e, PE_ERR_RANGE,
			"hierarchical=0.5 gives positions i n + r and r n + i the same row; take 0.4, say");
	if (s->alpha > 0) {
		snprintf(what, sizeof what, "%lld trained rows reach no further", (long long)s->trained);
		return pe_encoding_check_positions(e, s->trained * s->trained, what);
	}
	snprintf(what, sizeof what,
		"the table has rows for %lld positions (max_length; hierarchical=0.4 reaches further)",
		(long long)s->trained);
	return pe_encoding_check_positions(e, s->trained, what);
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	struct pe_initial normal = pe_initial_normal(0, pe_params_real(e->params, "std"));
	int64_t offset = pe_params_int(e->params, "offset"), dim;
	double *weight;
	PE_TRY(take_sizes(e, offset, &s->trained, &dim));
	PE_TRY(pe_encoding_weight(e, "weight", 2, (int64_t[]){s->trained + offset, dim}, normal, &weight));
	s->table = (struct pe_token_table){.dim = dim, .row = row};
	s->rows = weight + offset * dim;
	s->alpha = pe_params_real(e->params, "hierarchical");
	s->factor = pe_params_bool(e->params, "scaled") ? 1 / sqrt((double)dim) : 1;
	PE_TRY(check_positions(e));
	return pe_token_table_declare(e);
}

static const pe_option_info options[] = {
	PE_INT("dim", "64", 1, 1 << 16, "width of a row; if not said, that of the given weight"),
	PE_INT("max_length", "512", 1, 1 << 20, "positions in the table; if not said, as the given weight has"),
	PE_INT("offset", "0", 0, 1 << 16, "rows of the table before that of position 0"),
	PE_REAL("hierarchical", "0", 0, 0.99,
		"alpha of the decomposition, which reaches max_length^2 positions; 0: none, 0.4: its author's"),
	PE_BOOLEAN("scaled", "0", "1: rows are divided by sqrt(dim)"),
	PE_REAL("std", "0.02", 0, 1e3, "standard deviation that the table begins with"),
	PE_OPTION_MERGE,
};

static const pe_preset_info presets[] = {
	{"bart", "offset=2,max_length=1024",
		"BART: two rows before that of position 0, 1026 in all; OPT likewise with max_length=2048, 2050 "
		"rows"},
	{"bert", "", "BERT: 512 rows, N(0, 0.02)"},
	{"gpt2", "max_length=1024", "GPT-2: 1024 rows, N(0, 0.02)"},
	{"roberta", "offset=2",
		"RoBERTa, XLM-R: positions begin at padding_idx + 1 = 2; 514 rows, 512 usable; Longformer likewise "
		"with max_length=4096, 4098 rows"},
	{"x_transformers", "scaled=1,std=1",
		"AbsolutePositionalEmbedding of x-transformers: rows N(0, 1), divided by sqrt(dim) when used"},
};

static const pe_weight_info weights[] = {
	{"weight", "(max_length + offset, dim)", "N(0, std)", "one row a position"},
};

const struct pe_encoder pe_encoder_learned = {
	.table = PE_TABLE("learned", options, presets),
	.family = PE_SEQ,
	.summary = "a learned row for each position, and Su's decomposition for more positions",
	.help = "p_k = weight[k + offset], merged into the features. The weight's own shape\n"
			"sets dim and max_length where they are not said. Positions are whole numbers\n"
			"in 0 ... max_length-1; others are refused.\n"
			"hierarchical=a (Su) reaches max_length^2 positions: with n = max_length and\n"
			"u_i = (p_i - a p_0)/(1 - a), position i n + r has a u_i + (1 - a) u_r. The\n"
			"first n rows stay as they are, bit by bit. a = 0.5 is refused: it gives\n"
			"positions (i, r) and (r, i) the same row; so is 1, which divides by zero.\n"
			"bert4keras computes the first n rows too, and checks no bound.\n"
			"With left padding, number positions from the first real token. BERT adds rows\n"
			"before its LayerNorm; that is left to the caller.",
	.source = "Devlin et al. 2019, \"BERT\"; Su 2020, as in bert4keras",
	.example = "seq:128 --with learned:dim=64",
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.compute = pe_token_table_compute,
	.tokens = pe_token_table_tokens,
	.tokens_shape = pe_token_table_shape,
};
