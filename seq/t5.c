/* SPDX-License-Identifier: BSD-2-Clause
 * The relative bias of T5: b_h(i, j) = table[bucket(j - i)][h]. Raffel et al., "Exploring the limits of
 * transfer learning with a unified text-to-text transformer", JMLR 2020, section 2.1, and its code. */
#include <math.h>

#include "distance_buckets.h"
#include "encoder.h"
#include "scores.h"

enum direction { BIDIRECTIONAL, CAUSAL };

struct state {
	struct pe_buckets buckets;
	const double *table; /* (buckets, heads) */
};

static void index_cells(const pe_encoding *e, const struct pe_cells *cells, int32_t *rows)
{
	const struct state *s = e->state;
	double query = pe_domain_position(e->queries, cells->batch, cells->query);
	for (int64_t c = 0; c < cells->count; c++)
		rows[c] = pe_bucket(&s->buckets, pe_domain_position(e->domain, cells->batch, cells->key + c) - query);
}

static void scores(const pe_encoding *e, const struct pe_cells *cells, double *bias)
{
	const struct state *s = e->state;
	double query = pe_domain_position(e->queries, cells->batch, cells->query);
	for (int64_t c = 0; c < cells->count; c++) {
		double distance = pe_domain_position(e->domain, cells->batch, cells->key + c) - query;
		bias[c] += s->table[pe_bucket(&s->buckets, distance) * e->heads + cells->head];
	}
}

/* T5 never divides by sqrt(width): that is in how its queries begin. */
static double scale(const pe_encoding *e, const struct pe_place *query, int64_t width)
{
	(void)e, (void)query, (void)width;
	return 1;
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	int64_t buckets;
	PE_TRY(pe_encoding_size(e, "buckets", "relative_attention_bias", 2, 0, &buckets));
	double *table;
	e->heads = pe_params_int(e->params, "heads");
	e->relative = true;
	PE_TRY(pe_buckets_make(e, buckets, pe_params_int(e->params, "max_distance"),
		pe_params_choice(e->params, "direction") == CAUSAL, &s->buckets));
	struct pe_initial initial = pe_initial_normal(0, 1 / sqrt(64 * (double)e->heads));
	PE_TRY(
		pe_encoding_weight(e, "relative_attention_bias", 2, (int64_t[]){buckets, e->heads}, initial, &table));
	s->table = table;
	PE_TRY(pe_scores_declare(e));
	return pe_pairs_declare(e, "buckets");
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_free(e->ctx, s->buckets.of);
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	PE_TRY(pe_scores_compute(e, scores, outs));
	return pe_pairs_compute(e, index_cells, &outs[e->array_count - 1]);
}

static const pe_option_info options[] = {
	PE_INT("heads", "8", 1, 4096, "attention heads"),
	PE_INT("buckets", "32", 2, 4096,
		"rows of the table, if not set as the given one has; bidirectional: even, half for each direction"),
	PE_INT("max_distance", "128", 2, 1 << 20, "from here on all distances share the last bucket"),
	PE_CHOICE("direction", "bidirectional", "bidirectional|causal",
		"causal gives all buckets to keys before the query; keys after it, which are masked, have bucket 0"),
};

static const pe_weight_info weights[] = {
	{"relative_attention_bias", "(buckets, heads)", "N(0, 1/sqrt(64 heads))",
		"the embedding SelfAttention.relative_attention_bias of the first layer, which all layers use"},
};

const struct pe_encoder pe_encoder_t5 = {
	.table = PE_TABLE_NO_PRESETS("t5", options),
	.family = PE_SEQ,
	.summary = "a learned bias for each bucket of distances, and no 1/sqrt(head_dim)",
	.help = "b_h(i, j) = relative_attention_bias[bucket(j - i)][h]. With n buckets for a\n"
			"direction and e = n/2, distances 0 ... e-1 have a bucket each; a longer one d\n"
			"is in bucket e + floor(ln(d/e) / ln(max_distance/e) (n-e)), at most n-1.\n"
			"bidirectional: n = buckets/2, and keys after the query have n added (bucket n\n"
			"itself stays unused). causal (decoders): n = buckets. The distances at which\n"
			"buckets begin are whole numbers found once, so that none falls into the wrong\n"
			"bucket by the rounding of a logarithm.\n"
			"Real positions: the distance is rounded to the nearest whole number first,\n"
			"halves away from 0; with whole positions this changes nothing.\n"
			"Scores are q.k with scale 1, not 1/sqrt(head_dim). T5 uses one table in all\n"
			"layers of a stack, and none in cross attention. It is a parameter: with no\n"
			"--weights it begins as transformers does it, with N(0, 1/sqrt(d_model)) and\n"
			"d_model = 64 heads.",
	.source = "Raffel et al. 2020, \"Exploring the limits of transfer learning\", and its code",
	.example = "seq:128 --with t5:heads=12,direction=causal -o t5.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = compute,
	.scores = scores,
	.scale = scale,
};
