/* SPDX-License-Identifier: BSD-2-Clause
 * TUPE: scores of positions apart from those of tokens, b_h(i, j) = (P_i W_q)·(P_j W_k) / sqrt(2 n) with
 * P = LayerNorm(E), n the width of a head; and tokens' scores over sqrt(2 n) too. The class token, at
 * position 0, has two numbers a head instead. Ke, He and Liu, "Rethinking positional encoding in language
 * pre-training", ICLR 2021; names and the order of assignments as in its code. */
#include <math.h>

#include "distance_buckets.h"
#include "encoder.h"
#include "pool.h"
#include "relation.h"
#include "scores.h"

#define LAYER_NORM_EPSILON 1e-5

struct state {
	bool cls, relative;
	int64_t dim, width;       /* of a row, and of a head of it */
	int64_t max_length, rows; /* rows: the first of the table, as many as positions need */
	const double *table, *gamma, *beta;
	const double *weight[2], *bias[2]; /* of queries and keys */
	double *projected;                 /* (rows, 2 dim): queries, scaled, then keys */
	struct pe_buckets buckets;
	const double *bucket_table; /* (buckets + 1, heads) */
};

/* ---- scores ------------------------------------------------------------------------- */

/* Of two rows of the table in one head. */
static double product(const struct state *s, int64_t head, int64_t query, int64_t key)
{
	const double *q = s->projected + query * 2 * s->dim + head * s->width;
	return pe_dot(q, s->projected + key * 2 * s->dim + s->dim + head * s->width, s->width);
}

/* Position p has row p + 1. The class token's products are the diagonal's first two: as a key that of row 1,
 * and as a query, which is assigned last, that of row 0. */
static double absolute(const struct state *s, int64_t head, int64_t query, int64_t key)
{
	if (s->cls && query == 0)
		return product(s, head, 0, 0);
	if (s->cls && key == 0)
		return product(s, head, 1, 1);
	return product(s, head, query + 1, key + 1);
}

/* Two buckets are the class token's: one that both directions leave unused, and one more. */
static int64_t bucket(const struct state *s, int64_t query, int64_t key)
{
	if (s->cls && query == 0)
		return s->buckets.after;
	if (s->cls && key == 0)
		return 2 * s->buckets.after;
	return pe_bucket(&s->buckets, (double)(key - query));
}

static void scores(const pe_encoding *e, const struct pe_cells *cells, double *bias)
{
	const struct state *s = e->state;
	int64_t query = (int64_t)pe_domain_position(e->queries, cells->batch, cells->query);
	for (int64_t c = 0; c < cells->count; c++) {
		int64_t key = (int64_t)pe_domain_position(e->domain, cells->batch, cells->key + c);
		bias[c] += absolute(s, cells->head, query, key);
		if (s->relative)
			bias[c] += s->bucket_table[bucket(s, query, key) * e->heads + cells->head];
	}
}

static double scale(const pe_encoding *e, const struct pe_place *query, int64_t width)
{
	(void)e, (void)query;
	return 1 / sqrt(2 * (double)width);
}

/* ---- binding ------------------------------------------------------------------------ */

/* Raises s->rows to what the positions of a domain need. */
static pe_status take_positions(pe_encoding *e, const pe_domain *domain)
{
	struct state *s = e->state;
	for (int64_t b = 0; b < domain->batch; b++)
		for (int64_t i = 0; i < domain->tokens; i++) {
			double position = pe_domain_position(domain, b, i);
			if (!(position >= 0 && position < (double)s->max_length) || position > floor(position))
				return pe_encoding_fail(e, PE_ERR_RANGE,
					"position %g has no row: positions must be whole numbers from 0 to max_length-1 = %lld",
					position, (long long)s->max_length - 1);
			s->rows = pe_max(s->rows, (int64_t)position + 2);
		}
	return PE_OK;
}

/* As BERT begins: N(0, 0.02), biases 0. */
static pe_status take(
	pe_encoding *e, const char *name, int32_t ndim, const int64_t *shape, double sd, const double **out)
{
	double *values;
	PE_TRY(pe_encoding_weight(e, name, ndim, shape, pe_initial_normal(0, sd), &values));
	*out = values;
	return PE_OK;
}

/* In one, or apart, as the authors have them. */
static pe_status take_projections(pe_encoding *e)
{
	struct state *s = e->state;
	int64_t twice = 2 * s->dim;
	if (pe_encoding_weight_is_given(e, "pos_q_linear.weight")) {
		const int64_t shape[] = {s->dim, s->dim};
		PE_TRY(take(e, "pos_q_linear.weight", 2, shape, 0.02, &s->weight[0]));
		PE_TRY(take(e, "pos_q_linear.bias", 1, shape, 0, &s->bias[0]));
		PE_TRY(take(e, "pos_k_linear.weight", 2, shape, 0.02, &s->weight[1]));
		return take(e, "pos_k_linear.bias", 1, shape, 0, &s->bias[1]);
	}
	PE_TRY(take(e, "pos_proj.weight", 2, (int64_t[]){twice, s->dim}, 0.02, &s->weight[0]));
	PE_TRY(take(e, "pos_proj.bias", 1, &twice, 0, &s->bias[0]));
	s->weight[1] = s->weight[0] + s->dim * s->dim;
	s->bias[1] = s->bias[0] + s->dim;
	return PE_OK;
}

static pe_status take_weights(pe_encoding *e)
{
	struct state *s = e->state;
	double *gamma;
	PE_TRY(take(e, "pos.weight", 2, (int64_t[]){s->max_length + 1, s->dim}, 0.02, &s->table));
	PE_TRY(pe_encoding_weight(e, "pos_ln.weight", 1, &s->dim, pe_initial_constant(1), &gamma));
	s->gamma = gamma;
	PE_TRY(take(e, "pos_ln.bias", 1, &s->dim, 0, &s->beta));
	PE_TRY(take_projections(e));
	if (!s->relative)
		return PE_OK;
	int64_t buckets, rows = pe_encoding_given_size(e, "relative_attention_bias.weight", 2, 0);
	PE_TRY(pe_encoding_follow(e, "buckets", rows - 1, &buckets));
	PE_TRY(pe_buckets_make(e, buckets, pe_params_int(e->params, "max_distance"), false, &s->buckets));
	return take(
		e, "relative_attention_bias.weight", 2, (int64_t[]){buckets + 1, e->heads}, 0.02, &s->bucket_table);
}

static void normalize(const struct state *s, int64_t row, double *out)
{
	const double *x = s->table + row * s->dim;
	double mean = 0, variance = 0;
	for (int64_t d = 0; d < s->dim; d++)
		mean += x[d];
	mean /= (double)s->dim;
	for (int64_t d = 0; d < s->dim; d++)
		variance += (x[d] - mean) * (x[d] - mean);
	double inverse = 1 / sqrt(variance / (double)s->dim + LAYER_NORM_EPSILON);
	for (int64_t d = 0; d < s->dim; d++)
		out[d] = (x[d] - mean) * inverse * s->gamma[d] + s->beta[d];
}

static pe_status project(pe_context *worker, void *arg, int64_t row)
{
	const struct state *s = arg;
	double *normal = pe_alloc(worker, s->dim, sizeof *normal), *out = s->projected + row * 2 * s->dim;
	if (!normal)
		return PE_ERR_NOMEM;
	normalize(s, row, normal);
	for (int side = 0; side < 2; side++)
		for (int64_t d = 0; d < s->dim; d++)
			out[side * s->dim + d] = pe_dot(s->weight[side] + d * s->dim, normal, s->dim) + s->bias[side][d];
	double factor = 1 / sqrt(2 * (double)s->width);
	for (int64_t d = 0; d < s->dim; d++)
		out[d] *= factor;
	pe_free(worker, normal);
	return PE_OK;
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	e->heads = pe_params_int(e->params, "heads");
	s->dim = pe_params_int(e->params, "dim");
	int64_t rows = pe_encoding_given_size(e, "pos.weight", 2, 0);
	PE_TRY(pe_encoding_follow(e, "max_length", rows - 1, &s->max_length));
	s->cls = pe_params_bool(e->params, "cls");
	s->relative = pe_params_bool(e->params, "relative");
	s->width = s->dim / e->heads;
	if (!s->relative) {
		PE_TRY(pe_encoding_refuse_option(e, "buckets", "with relative=0"));
		PE_TRY(pe_encoding_refuse_option(e, "max_distance", "with relative=0"));
	}
	s->rows = 2;
	if (s->dim % e->heads != 0)
		return pe_encoding_fail(e, PE_ERR_RANGE, "dim %lld cannot be split between %lld heads",
			(long long)s->dim, (long long)e->heads);
	PE_TRY(take_positions(e, e->domain));
	PE_TRY(take_positions(e, e->queries));
	PE_TRY(take_weights(e));
	s->projected = pe_alloc(e->ctx, s->rows, (size_t)(2 * s->dim) * sizeof *s->projected);
	if (!s->projected)
		return PE_ERR_NOMEM;
	PE_TRY(pe_parallel(e->ctx, s->rows, project, s, NULL));
	return pe_scores_declare(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_free(e->ctx, s->projected);
	pe_free(e->ctx, s->buckets.of);
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	return pe_scores_compute(e, scores, outs);
}

static const pe_option_info options[] = {
	PE_INT("heads", "8", 1, 4096, "attention heads"),
	PE_INT("dim", "64", 1, 1 << 16, "width of a position's row, a multiple of heads"),
	PE_INT("max_length", "512", 1, 1 << 20, "positions 0 ... max_length-1 have a row"),
	PE_BOOLEAN("cls", "1", "1: position 0 is the class token, and is treated apart"),
	PE_BOOLEAN("relative", "0", "1: TUPE-R, with a bias by T5's buckets of distances too"),
	PE_INT("buckets", "32", 4, 4096, "relative=1: even; the table has one more, for the class token"),
	PE_INT("max_distance", "128", 2, 1 << 20, "relative=1: from here on distances share the last bucket"),
};

static const pe_weight_info weights[] = {
	{"pos.weight", "(max_length + 1, dim)", "N(0, 0.02)", "row 0 is no position's; position p has row p + 1"},
	{"pos_ln.weight", "(dim)", "ones", "layer normalization of the rows"},
	{"pos_ln.bias", "(dim)", "zeros", "layer normalization of the rows"},
	{"pos_proj.weight", "(2 dim, dim)", "N(0, 0.02)", "projection to queries, then to keys"},
	{"pos_proj.bias", "(2 dim)", "zeros", "projection to queries, then to keys"},
	{"pos_q_linear.weight", "(dim, dim)", "not asked for",
		"the authors': instead of pos_proj, with the three that follow"},
	{"pos_q_linear.bias", "(dim)", "not asked for", "likewise"},
	{"pos_k_linear.weight", "(dim, dim)", "not asked for", "likewise"},
	{"pos_k_linear.bias", "(dim)", "not asked for", "likewise"},
	{"relative_attention_bias.weight", "(buckets + 1, heads)", "N(0, 0.02)", "relative=1: a bias a bucket"},
};

const struct pe_encoder pe_encoder_tupe = {
	.table = PE_TABLE_NO_PRESETS("tupe", options),
	.family = PE_SEQ,
	.summary = "products of projected positions as a bias, apart from tokens",
	.help = "With P_p = LayerNorm(E[p+1]), n = dim/heads and projections Q and K of P for\n"
			"each head, b_h(i, j) = Q_i . K_j / sqrt(2 n), for bidirectional attention.\n"
			"Scores of tokens are divided by sqrt(2 head_dim) likewise. Nothing is added\n"
			"to the tokens. All layers share the biases.\n"
			"cls=1: the class token is at position 0. As a key it has one number a head,\n"
			"the product of row 1 with itself; as a query another, that of row 0 with\n"
			"itself, which also holds for its score of itself.\n"
			"relative=1 (TUPE-R) adds a bias by T5's buckets of j - i (see t5); bucket\n"
			"buckets/2, which is unused there, is the class token's as a query, bucket\n"
			"number `buckets` its as a key.\n"
			"Positions must be whole numbers from 0 to max_length-1.",
	.source = "Ke et al. 2021, \"Rethinking positional encoding in language pre-training\", its code",
	.example = "seq:64 --with tupe:heads=4,dim=64,relative=1 -o tupe.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = compute,
	.scores = scores,
	.scale = scale,
};
