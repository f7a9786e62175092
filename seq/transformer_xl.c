/* SPDX-License-Identifier: BSD-2-Clause
 * Relative positions of Transformer-XL: s_ij = ((q_i + u)·k_j + (q_i + v)·(W_r R_{i-j})) / sqrt(d), R a
 * sinusoid of the distance. Dai et al., "Transformer-XL: attentive language models beyond a fixed-length
 * context", ACL 2019; mem_transformer.py of its code. XLNet's is the same, with distances below 0 too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder.h"
#include "pool.h"
#include "relation.h"
#include "scores.h"

enum layout { TRANSFORMER_XL, XLNET };

struct state {
	int64_t heads, head_dim, dim;
	double clamp;       /* of distances; 0: none */
	double *u, *v;      /* (heads, head_dim); owned by the encoding */
	double *distance;   /* ascending, all that occur */
	int64_t rows;       /* of distance */
	double *frequency;  /* dim / 2 */
	double *table;      /* (heads, rows, head_dim): W_r R of each distance */
	double *projection; /* (heads, head_dim, dim) */
};

/* ---- the distances that occur ------------------------------------------------------- */

static double clamped(const struct state *s, double distance)
{
	return s->clamp > 0 ? fmax(-s->clamp, fmin(s->clamp, distance)) : distance;
}

/* Query minus key. On evenly spaced positions it depends on the difference of the numbers alone, rounding
 * and all. */
static double distance_of(const pe_encoding *e, int64_t batch, int64_t query, int64_t key)
{
	if (pe_domain_is_regular(e->queries, e->domain))
		return (e->queries->offset - e->domain->offset) +
			(double)(e->queries->first - e->domain->first + query - key);
	return pe_domain_position(e->queries, batch, query) - pe_domain_position(e->domain, batch, key);
}

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Sorts, and drops what is there twice. */
static int64_t sort_unique(double *x, int64_t n)
{
	int64_t kept = 0;
	qsort(x, (size_t)n, sizeof *x, ascending);
	for (int64_t i = 0; i < n; i++)
		if (kept == 0 || x[i] > x[kept - 1])
			x[kept++] = x[i];
	return kept;
}

/* Evenly spaced positions: Lq + Lk - 1 distances. */
static pe_status find_regular(pe_encoding *e)
{
	struct state *s = e->state;
	int64_t n = pe_relative_count(e), keys = e->domain->tokens;
	s->distance = pe_alloc(e->ctx, n, sizeof *s->distance);
	if (!s->distance)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < n; i++)
		s->distance[i] = clamped(s, distance_of(e, 0, i, keys - 1));
	s->rows = sort_unique(s->distance, n);
	return PE_OK;
}

/* Any positions: one for each cell, then without doubles. */
static pe_status find_all(pe_encoding *e)
{
	struct state *s = e->state;
	int64_t queries = e->queries->tokens, keys = e->domain->tokens, n, at = 0;
	int64_t batches = pe_max(e->queries->batch, e->domain->batch);
	if (!pe_mul(queries, keys, &n) || !pe_mul(n, batches, &n))
		return pe_encoding_fail(e, PE_ERR_NOMEM, "there are more distances than memory can hold");
	s->distance = pe_alloc(e->ctx, n, sizeof *s->distance);
	if (!s->distance)
		return PE_ERR_NOMEM;
	for (int64_t b = 0; b < batches; b++)
		for (int64_t i = 0; i < queries; i++)
			for (int64_t j = 0; j < keys; j++)
				s->distance[at++] = clamped(s, distance_of(e, b, i, j));
	s->rows = sort_unique(s->distance, n);
	return PE_OK;
}

/* The row whose distance is nearest. There is one if there is a cell. */
static int64_t row_of(const struct state *s, double distance)
{
	int64_t low = 0, high = s->rows - 1;
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (s->distance[middle] < distance)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && distance - s->distance[low - 1] < s->distance[low] - distance ? low - 1 : low;
}

/* ---- terms -------------------------------------------------------------------------- */

static void index_of(const pe_encoding *e, const struct pe_cells *cells, int32_t *rows)
{
	const struct state *s = e->state;
	for (int64_t c = 0; c < cells->count; c++)
		rows[c] = (int32_t)row_of(s, clamped(s, distance_of(e, cells->batch, cells->query, cells->key + c)));
}

static void first_row(const pe_encoding *e, const struct pe_cells *cells, int32_t *rows)
{
	(void)e;
	memset(rows, 0, (size_t)cells->count * sizeof *rows);
}

static int content(const pe_encoding *e, struct pe_term *terms)
{
	const struct state *s = e->state;
	terms[0] = (struct pe_term){PE_KEYS, s->u, 1, s->head_dim, true, NULL, first_row, false};
	terms[1] = (struct pe_term){PE_QUERIES, s->table, s->rows, s->head_dim, true, s->v, index_of, false};
	return 2;
}

/* ---- bind --------------------------------------------------------------------------- */

/* R of one distance, sines before cosines, through the projection of every head. */
static pe_status fill_row(pe_context *worker, void *arg, int64_t row)
{
	const struct state *s = arg;
	int64_t half = s->dim / 2;
	double *sinusoid = pe_alloc(worker, s->dim, sizeof *sinusoid);
	if (!sinusoid)
		return PE_ERR_NOMEM;
	for (int64_t t = 0; t < half; t++) {
		double angle = s->distance[row] * s->frequency[t];
		sinusoid[t] = sin(angle);
		sinusoid[half + t] = cos(angle);
	}
	for (int64_t h = 0; h < s->heads; h++)
		pe_linear(s->projection + h * s->head_dim * s->dim, NULL, s->dim, s->head_dim, sinusoid,
			s->table + (h * s->rows + row) * s->head_dim);
	pe_free(worker, sinusoid);
	return PE_OK;
}

/* projection ← r (dim, heads, head_dim) of XLNet, turned around. */
static pe_status turn_around(pe_encoding *e, const double *r)
{
	struct state *s = e->state;
	int64_t outputs = s->heads * s->head_dim;
	s->projection = pe_alloc(e->ctx, outputs, (size_t)s->dim * sizeof *s->projection);
	if (!s->projection)
		return PE_ERR_NOMEM;
	for (int64_t o = 0; o < outputs; o++)
		for (int64_t i = 0; i < s->dim; i++)
			s->projection[o * s->dim + i] = r[i * outputs + o];
	return PE_OK;
}

static pe_status take_weights(pe_encoding *e)
{
	struct state *s = e->state;
	const struct pe_initial initial = pe_initial_normal(0, 0.02);
	bool xlnet = pe_params_choice(e->params, "weights") == XLNET;
	int64_t outputs = s->heads * s->head_dim, biases[] = {s->heads, s->head_dim};
	double *r;
	PE_TRY(pe_encoding_weight(e, "r_w_bias", 2, biases, initial, &s->u));
	PE_TRY(pe_encoding_weight(e, "r_r_bias", 2, biases, initial, &s->v));
	if (xlnet)
		PE_TRY(pe_encoding_weight(e, "r", 3, (int64_t[]){s->dim, s->heads, s->head_dim}, initial, &r));
	else
		PE_TRY(pe_encoding_weight(e, "r_net.weight", 2, (int64_t[]){outputs, s->dim}, initial, &r));
	if (xlnet)
		return turn_around(e, r);
	s->projection = r;
	return PE_OK;
}

static pe_status make_table(pe_encoding *e)
{
	struct state *s = e->state;
	double base = pe_params_real(e->params, "base");
	s->frequency = pe_alloc(e->ctx, s->dim / 2, sizeof *s->frequency);
	s->table = pe_alloc(e->ctx, s->rows, (size_t)(s->heads * s->head_dim) * sizeof *s->table);
	if (!s->frequency || !s->table)
		return PE_ERR_NOMEM;
	for (int64_t t = 0; t < s->dim / 2; t++)
		s->frequency[t] = pow(base, -2 * (double)t / (double)s->dim);
	return pe_parallel(e->ctx, s->rows, fill_row, s, NULL);
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	s->heads = e->heads = pe_params_int(e->params, "heads");
	s->head_dim = pe_params_int(e->params, "head_dim");
	s->dim = pe_params_int(e->params, "dim");
	s->clamp = (double)pe_params_int(e->params, "clamp_len");
	e->relative = true;
	if (s->dim == 0)
		s->dim = s->heads * s->head_dim;
	if (s->dim % 2)
		return pe_encoding_fail(
			e, PE_ERR_RANGE, "dim %lld is odd: a sinusoid has as many cosines as sines", (long long)s->dim);
	PE_TRY(take_weights(e));
	PE_TRY(pe_domain_is_regular(e->queries, e->domain) ? find_regular(e) : find_all(e));
	if (s->rows > INT32_MAX)
		return pe_encoding_fail(e, PE_ERR_NOMEM, "there are %lld distances, too many", (long long)s->rows);
	PE_TRY(make_table(e));
	return pe_declare_weights(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	if (pe_params_choice(e->params, "weights") == XLNET)
		pe_free(e->ctx, s->projection);
	pe_free(e->ctx, s->distance);
	pe_free(e->ctx, s->frequency);
	pe_free(e->ctx, s->table);
}

/* ---- what it is --------------------------------------------------------------------- */

static const pe_option_info options[] = {
	PE_INT("heads", "8", 1, 4096, "attention heads"),
	PE_INT("head_dim", "32", 1, 1 << 16, "width of a head's queries and keys"),
	PE_INT("dim", "0", 0, 1 << 20, "width of the sinusoid, the model's; 0: heads * head_dim"),
	PE_REAL("base", "10000", 1e-6, 1e18, "of the sinusoid's frequencies"),
	PE_INT("clamp_len", "0", 0, 1 << 30, "distances are clamped to this; 0: they are not"),
	PE_CHOICE("weights", "transformer_xl", "transformer_xl|xlnet", "whose name and layout W_r has"),
};

static const pe_preset_info presets[] = {
	{"xlnet", "weights=xlnet",
		"XLNet and transformers' port: W_r is the array r (dim, heads, head_dim). Its segment term, and the "
		"reversed half batch of bi_data, are not part of this: give reversed positions for the latter"},
};

static const pe_weight_info weights[] = {
	{"r_w_bias", "(heads, head_dim)", "N(0, 0.02)", "u, which meets the keys"},
	{"r_r_bias", "(heads, head_dim)", "N(0, 0.02)", "v, which meets the positions"},
	{"r_net.weight", "(heads * head_dim, dim)", "N(0, 0.02)", "W_r; weights=transformer_xl"},
	{"r", "(dim, heads, head_dim)", "N(0, 0.02)", "W_r; weights=xlnet"},
};

const struct pe_encoder pe_encoder_transformer_xl = {
	.table = PE_TABLE("transformer_xl", options, presets),
	.family = PE_SEQ,
	.summary = "content and position meet a learned projection of the distance's sinusoid",
	.help = "s_ij = scale ((q_i + u) . k_j + (q_i + v) . (W_r R[i - j])): query minus key.\n"
			"R[m] = [sin(m w_t) | cos(m w_t)], w_t = base^(-2t/dim), computed in double.\n"
			"Each cell is found by its own distance: there is no shift of rows, whose\n"
			"cells after the query hold values of other rows. Distances below 0 are as\n"
			"good as others, so that it works without a causal mask, as XLNet uses it.\n"
			"Memory of earlier segments is keys before the queries: give more keys than\n"
			"queries, which are then the last ones. Positions may be any real numbers;\n"
			"the table has a row for each distance that occurs.",
	.source = "Dai et al. 2019, \"Transformer-XL: attentive language models beyond a fixed-length context\", "
			  "and its code; Yang et al. 2019, XLNet",
	.example = "seq:64 --with transformer_xl:heads=4,head_dim=16 -o xl.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = pe_compute_own_weights,
	.content = content,
};
