/* SPDX-License-Identifier: BSD-2-Clause
 * Disentangled attention: s_ij = (q_i·k_j + q_i·Kr[δ] + k_j·Qr[δ]) / sqrt(3d), δ from i - j. He et al.,
 * "DeBERTa: decoding-enhanced BERT with disentangled attention", ICLR 2021; disentangled_attention.py of its
 * code, and the logarithmic buckets of versions 2 and 3. */
#include <math.h>

#include "encoder.h"
#include "pool.h"
#include "relation.h"
#include "scores.h"

enum normalization { NONE, LAYER_NORM };

struct state {
	int64_t heads, head_dim, dim;
	int64_t span;    /* the table has 2 span rows */
	int64_t reach;   /* whole distances beyond this are in no other row than this one */
	int32_t *bucket; /* of distances 0 … reach; NULL: each is its own */
	int64_t first;   /* the rows of the table that occur: first … first + rows - 1 */
	int64_t rows;
	double *keys, *queries; /* (heads, rows, head_dim), projected; NULL: no such term */
};

/* A projection of the table's rows to keys or queries, its bias NULL if there is none. */
struct projection {
	const double *weight, *bias, *table;
	double *out;
};

/* ---- which row of the table --------------------------------------------------------- */

/* Up to half the buckets each distance has its own; from there they grow geometrically, to the last at
 * max_distance - 1. */
static int32_t bucket_of(int64_t distance, int64_t buckets, int64_t max_distance)
{
	int64_t half = buckets / 2;
	if (distance <= half)
		return (int32_t)distance;
	double far = log((double)distance / (double)half) / log((double)(max_distance - 1) / (double)half);
	return (int32_t)(ceil(far * (double)(half - 1)) + (double)half);
}

static int64_t row_of(const struct state *s, double query_minus_key)
{
	int64_t distance = pe_whole_distance(query_minus_key, s->reach);
	if (s->bucket)
		distance = distance < 0 ? -s->bucket[-distance] : s->bucket[distance];
	return pe_max(0, pe_min(distance + s->span, 2 * s->span - 1));
}

static void index_of(const pe_encoding *e, const struct pe_cells *cells, int32_t *rows)
{
	const struct state *s = e->state;
	double query = pe_domain_position(e->queries, cells->batch, cells->query);
	for (int64_t c = 0; c < cells->count; c++)
		rows[c] = (int32_t)(row_of(s, query - pe_domain_position(e->domain, cells->batch, cells->key + c)) -
			s->first);
}

static int content(const pe_encoding *e, struct pe_term *terms)
{
	const struct state *s = e->state;
	int count = 0;
	if (s->keys)
		terms[count++] =
			(struct pe_term){PE_QUERIES, s->keys, s->rows, s->head_dim, true, NULL, index_of, false};
	if (s->queries)
		terms[count++] =
			(struct pe_term){PE_KEYS, s->queries, s->rows, s->head_dim, true, NULL, index_of, false};
	return count;
}

static double scale(const pe_encoding *e, const struct pe_place *query, int64_t width)
{
	const struct state *s = e->state;
	int terms = 1 + (s->keys != NULL) + (s->queries != NULL);
	(void)query;
	return 1 / sqrt((double)terms * (double)width);
}

/* ---- the tables of keys and queries ------------------------------------------------- */

struct work {
	const struct state *s;
	struct projection projection;
};

static pe_status project_row(pe_context *worker, void *arg, int64_t row)
{
	const struct work *w = arg;
	const struct state *s = w->s;
	const struct projection *p = &w->projection;
	const double *from = p->table + (s->first + row) * s->dim;
	(void)worker;
	for (int64_t h = 0; h < s->heads; h++)
		pe_linear(p->weight + h * s->head_dim * s->dim, p->bias ? p->bias + h * s->head_dim : NULL, s->dim,
			s->head_dim, from, p->out + (h * s->rows + row) * s->head_dim);
	return PE_OK;
}

struct names {
	const char *weight, *bias;
};

/* *out ← the rows that occur, projected; its memory belongs to the state. */
static pe_status project(pe_encoding *e, struct names names, const double *table, double **out)
{
	struct state *s = e->state;
	struct projection p = {.table = table};
	double *weight, *bias = NULL;
	int64_t shape[] = {s->heads * s->head_dim, s->dim};
	PE_TRY(pe_encoding_weight(e, names.weight, 2, shape, pe_initial_normal(0, 0.02), &weight));
	if (names.bias)
		PE_TRY(pe_encoding_weight(e, names.bias, 1, shape, pe_initial_constant(0), &bias));
	*out = pe_alloc(e->ctx, s->rows, (size_t)(s->heads * s->head_dim) * sizeof **out);
	if (!*out)
		return PE_ERR_NOMEM;
	p.weight = weight;
	p.bias = bias;
	p.out = *out;
	return pe_parallel(e->ctx, s->rows, project_row, &(struct work){s, p}, NULL);
}

/* In place, over the last dimension; eps as in the code. */
static void normalize(double *table, int64_t rows, int64_t dim, const double *gain, const double *shift)
{
	for (int64_t r = 0; r < rows; r++) {
		double *row = table + r * dim, mean = 0, variance = 0;
		for (int64_t c = 0; c < dim; c++)
			mean += row[c] / (double)dim;
		for (int64_t c = 0; c < dim; c++)
			variance += (row[c] - mean) * (row[c] - mean) / (double)dim;
		for (int64_t c = 0; c < dim; c++)
			row[c] = (row[c] - mean) / sqrt(variance + 1e-7) * gain[c] + shift[c];
	}
}

/* A copy of the table, normalised. */
static pe_status make_normal(pe_encoding *e, const double *table, double **out)
{
	const struct state *s = e->state;
	double *gain, *shift;
	PE_TRY(pe_encoding_weight(e, "LayerNorm.weight", 1, &s->dim, pe_initial_constant(1), &gain));
	PE_TRY(pe_encoding_weight(e, "LayerNorm.bias", 1, &s->dim, pe_initial_constant(0), &shift));
	*out = pe_alloc(e->ctx, 2 * s->span, (size_t)s->dim * sizeof **out);
	if (!*out)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < 2 * s->span * s->dim; i++)
		(*out)[i] = table[i];
	normalize(*out, 2 * s->span, s->dim, gain, shift);
	return PE_OK;
}

static pe_status take_tables(pe_encoding *e)
{
	struct state *s = e->state;
	static const struct names names[3][2] = {
		{{"pos_proj.weight", NULL}, {"pos_q_proj.weight", "pos_q_proj.bias"}},
		{{"key_proj.weight", "key_proj.bias"}, {"query_proj.weight", "query_proj.bias"}},
		{{"pos_key_proj.weight", "pos_key_proj.bias"}, {"pos_query_proj.weight", "pos_query_proj.bias"}},
	};
	int kind = pe_params_int(e->params, "version") == 1 ? 0 : pe_params_bool(e->params, "share") ? 1 : 2;
	bool keys = pe_params_bool(e->params, "c2p"), queries = pe_params_bool(e->params, "p2c");
	double *table, *normal = NULL;
	PE_TRY(pe_encoding_weight(
		e, "rel_embeddings.weight", 2, (int64_t[]){2 * s->span, s->dim}, pe_initial_normal(0, 0.02), &table));
	if (pe_params_choice(e->params, "norm") == LAYER_NORM)
		PE_TRY(make_normal(e, table, &normal));
	pe_status status = PE_OK;
	if (keys)
		status = project(e, names[kind][0], normal ? normal : table, &s->keys);
	if (status == PE_OK && queries)
		status = project(e, names[kind][1], normal ? normal : table, &s->queries);
	pe_free(e->ctx, normal);
	return status;
}

/* Rows as they come out of the projection, given by hand. */
static pe_status take_given(pe_encoding *e, const char *name, double **out)
{
	struct state *s = e->state;
	double *given;
	int64_t shape[] = {s->heads, 2 * s->span, s->head_dim};
	PE_TRY(pe_encoding_weight(e, name, 3, shape, pe_initial_constant(0), &given));
	*out = pe_alloc(e->ctx, s->rows, (size_t)(s->heads * s->head_dim) * sizeof **out);
	if (!*out)
		return PE_ERR_NOMEM;
	for (int64_t h = 0; h < s->heads; h++)
		for (int64_t i = 0; i < s->rows * s->head_dim; i++)
			(*out)[h * s->rows * s->head_dim + i] = given[(h * 2 * s->span + s->first) * s->head_dim + i];
	return PE_OK;
}

/* ---- bind --------------------------------------------------------------------------- */

static pe_status make_buckets(pe_encoding *e, int64_t buckets, int64_t max_distance)
{
	struct state *s = e->state;
	if (buckets < 4 || max_distance - 1 <= buckets / 2)
		return pe_encoding_fail(e, PE_ERR_RANGE,
			"%lld buckets need at least 4 of them, and a max_distance above half of them plus 1, not %lld",
			(long long)buckets, (long long)max_distance);
	s->bucket = pe_alloc(e->ctx, max_distance + 1, sizeof *s->bucket);
	if (!s->bucket)
		return PE_ERR_NOMEM;
	for (int64_t d = 0; d <= max_distance; d++)
		s->bucket[d] = bucket_of(d, buckets, max_distance);
	return PE_OK;
}

static void find_rows(pe_encoding *e)
{
	struct state *s = e->state;
	struct pe_range range = pe_distance_range(e);
	if (range.low > range.high)
		return;
	s->first = row_of(s, -range.high);
	s->rows = row_of(s, -range.low) - s->first + 1;
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	int64_t version = pe_params_int(e->params, "version"), buckets = pe_params_int(e->params, "buckets");
	if (version == 1 && buckets > 0 && pe_params_is_set(e->params, "buckets"))
		return pe_encoding_fail(e, PE_ERR_RANGE, "version 1 has no buckets: version=2 does");
	if (version == 1)
		buckets = 0;
	s->heads = e->heads = pe_params_int(e->params, "heads");
	s->head_dim = pe_params_int(e->params, "head_dim");
	s->dim = pe_params_int(e->params, "dim");
	if (s->dim == 0)
		s->dim = s->heads * s->head_dim;
	s->reach = pe_params_int(e->params, "max_distance");
	s->span = buckets > 0 ? buckets : s->reach;
	e->relative = true;
	if (buckets > 0)
		PE_TRY(make_buckets(e, buckets, s->reach));
	find_rows(e);
	PE_TRY(pe_pairs_declare(e, "buckets"));
	bool keys = pe_encoding_weight_is_given(e, "position_keys");
	bool queries = pe_encoding_weight_is_given(e, "position_queries");
	if (keys)
		PE_TRY(take_given(e, "position_keys", &s->keys));
	if (queries)
		PE_TRY(take_given(e, "position_queries", &s->queries));
	if (!keys && !queries)
		PE_TRY(take_tables(e));
	return pe_declare_weights(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_free(e->ctx, s->bucket);
	pe_free(e->ctx, s->keys);
	pe_free(e->ctx, s->queries);
}

static void bucket_rows(const pe_encoding *e, const struct pe_cells *cells, int32_t *rows)
{
	const struct state *s = e->state;
	index_of(e, cells, rows);
	for (int64_t c = 0; c < cells->count; c++)
		rows[c] += (int32_t)s->first;
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	pe_compute_weights(e, outs, 1);
	return pe_pairs_compute(e, bucket_rows, &outs[0]);
}

/* ---- what it is --------------------------------------------------------------------- */

static const pe_option_info options[] = {
	PE_INT("version", "1", 1, 2, "1: DeBERTa; 2: also v3, whose layout of weights is the same"),
	PE_INT("heads", "8", 1, 4096, "attention heads"),
	PE_INT("head_dim", "32", 1, 1 << 16, "width of a head's queries and keys"),
	PE_INT("dim", "0", 0, 1 << 20, "width of the table of relative embeddings; 0: heads * head_dim"),
	PE_INT("max_distance", "512", 1, 1 << 20, "the code's max_relative_positions"),
	PE_INT("buckets", "256", 0, 1 << 20,
		"logarithmic buckets on each side (position_buckets); 0: a row for each distance, as version 1 has"),
	PE_BOOLEAN("c2p", "1", "whether the query meets the position's key"),
	PE_BOOLEAN("p2c", "1", "whether the key meets the position's query"),
	PE_BOOLEAN("share", "1", "version 2: positions go through the layer's own query and key projections"),
	PE_CHOICE("norm", "none", "none|layer_norm", "what is done to the table first (norm_rel_ebd)"),
};

static const pe_preset_info presets[] = {
	{"v1", "version=1,max_distance=512", "microsoft/deberta-base and -large"},
	{"v2", "version=2,buckets=256,max_distance=512,share=1,norm=layer_norm",
		"microsoft/deberta-v2-xlarge, deberta-v3 and mdeberta-v3"},
	{"v3", "version=2,buckets=256,max_distance=512,share=1,norm=layer_norm", "the same as v2"},
};

static const pe_weight_info weights[] = {
	{"rel_embeddings.weight", "(2 max_distance, dim), with buckets (2 buckets, dim)", "N(0, 0.02)",
		"one row a bucket of i - j, counted from -max_distance or -buckets; of the encoder, all layers share "
		"it"},
	{"LayerNorm.weight", "(dim)", "ones", "of norm=layer_norm: the encoder's LayerNorm"},
	{"LayerNorm.bias", "(dim)", "zeros", "likewise"},
	{"pos_proj.weight", "(heads * head_dim, dim)", "N(0, 0.02)", "version 1: to keys, without bias"},
	{"pos_q_proj.weight", "(heads * head_dim, dim)", "N(0, 0.02)", "version 1: to queries"},
	{"pos_q_proj.bias", "(heads * head_dim)", "zeros", "version 1: to queries"},
	{"key_proj.weight", "(heads * head_dim, dim)", "N(0, 0.02)", "version 2, share=1: the layer's own"},
	{"key_proj.bias", "(heads * head_dim)", "zeros", "version 2, share=1"},
	{"query_proj.weight", "(heads * head_dim, dim)", "N(0, 0.02)", "version 2, share=1: the layer's own"},
	{"query_proj.bias", "(heads * head_dim)", "zeros", "version 2, share=1"},
	{"pos_key_proj.weight", "(heads * head_dim, dim)", "N(0, 0.02)", "version 2, share=0"},
	{"pos_key_proj.bias", "(heads * head_dim)", "zeros", "version 2, share=0"},
	{"pos_query_proj.weight", "(heads * head_dim, dim)", "N(0, 0.02)", "version 2, share=0"},
	{"pos_query_proj.bias", "(heads * head_dim)", "zeros", "version 2, share=0"},
	{"position_keys", "(heads, rows of rel_embeddings, head_dim)", "not asked for",
		"instead of all others: the rows already projected to keys; without them no c2p"},
	{"position_queries", "(heads, rows of rel_embeddings, head_dim)", "not asked for",
		"likewise to queries; without them no p2c"},
};

const struct pe_encoder pe_encoder_deberta = {
	.table = PE_TABLE("deberta", options, presets),
	.family = PE_SEQ,
	.summary = "disentangled attention: content meets position both ways",
	.help = "s_ij = (q_i . k_j + q_i . Kr[d] + k_j . Qr[d]) / sqrt(3 head_dim). Kr and Qr\n"
			"are rows of a table of relative embeddings, projected for each head. The\n"
			"scale counts the terms there are: 2 with c2p=0 or p2c=0. q has its bias\n"
			"already.\n"
			"Version 1: d = clamp(i - j + m, 0, 2m - 1), m = max_distance.\n"
			"Version 2, b = buckets: d = clamp(bucket(i - j) + b, 0, 2b - 1), where up to\n"
			"b/2 each distance is a bucket and beyond it\n"
			"bucket = ceil(log(2r/b) / log(2(m-1)/b) (b/2 - 1)) + b/2, odd in i - j.\n"
			"The paper's Qr has d of j - i; the code, and every released model, has that\n"
			"of i - j in both terms, as here. The code finds buckets in single precision,\n"
			"here they are found in double: no difference for 256 up to distance 512.\n"
			"Distances that are not whole are rounded, halves away from 0.\n"
			"Only the rows that occur between the given positions are projected.\n"
			"Array buckets: (Lq, Lk), the row d of each cell.",
	.source = "He et al. 2021, \"DeBERTa: decoding-enhanced BERT with disentangled attention\", and its code",
	.example = "seq:64 --with deberta:heads=4,head_dim=16 -o deberta.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = compute,
	.content = content,
	.scale = scale,
};
