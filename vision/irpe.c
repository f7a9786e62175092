/* SPDX-License-Identifier: BSD-2-Clause
 * Image relative position encoding: offsets in buckets that widen with the distance, and for each bucket a
 * bias or a vector. Wu et al., "Rethinking and improving relative position encoding for vision transformer",
 * ICCV 2021, and its code. */
#include <math.h>

#include "scores.h"
#include "window_table.h"

enum method { EUCLIDEAN, QUANT, PRODUCT, CROSS };
enum mode { CONTEXTUAL, BIAS };
enum quantize { RANK, SQUARED };

#define RUN 64
#define RANKED 4096 /* squared distances from here on are in the last bucket whatever their rank is */

struct state {
	struct pe_window_table window; /* offsets; no values */
	enum mode mode;
	int parts; /* 2: rows and columns */
	int64_t head_dim, tables;
	int64_t buckets;     /* of offsets; one more, the last, for pairs with a prefix token */
	bool skips;          /* whether there are such */
	int32_t *bucket[2];  /* of each part: of each offset */
	double *table[3][2]; /* by side and part, NULL: none. Vectors (tables, buckets, head_dim); biases
						  * (tables, buckets), owned by the encoding */
};

/* ---- buckets ---------------------------------------------------------------------------- */

/* Equation 18: offsets up to alpha = ratio have buckets of their own, from gamma = 8 ratio on all share
 * beta = 2 ratio. */
static int32_t piecewise(double x, double ratio)
{
	double far = fabs(x);
	if (far <= ratio)
		return (int32_t)rint(x);
	double index = fmin(2 * ratio, rint(ratio + log(far / ratio) / log(8) * ratio));
	return (int32_t)copysign(index, x);
}

/* rank[d] ← how many sums of two squares are below d. */
static void fill_ranks(int32_t *rank)
{
	for (int32_t d = 0; d < RANKED; d++)
		rank[d] = 0;
	for (int32_t y = 0; y * y < RANKED; y++)
		for (int32_t x = 0; y * y + x * x < RANKED; x++)
			rank[y * y + x * x] = 1;
	for (int32_t d = 0, count = 0; d < RANKED; d++) {
		int32_t is_sum = rank[d];
		rank[d] = count;
		count += is_sum;
	}
}

static int32_t bucket_of(const pe_encoding *e, int part, int64_t dy, int64_t dx, const int32_t *rank)
{
	double ratio = pe_params_real(e->params, "ratio");
	int64_t squared = dy * dy + dx * dx;
	int32_t most = (int32_t)(2 * ratio);
	switch ((enum method)pe_params_choice(e->params, "method")) {
	case EUCLIDEAN:
		return piecewise(rint(sqrt((double)squared)), ratio) + most;
	case QUANT:
		if (pe_params_choice(e->params, "quantize") == RANK && squared < RANKED)
			squared = rank[squared];
		return piecewise((double)squared, ratio) + most;
	case PRODUCT:
		return (piecewise((double)dy, ratio) + most) * (2 * most + 1) + piecewise((double)dx, ratio) + most;
	default:
		return piecewise((double)(part == 0 ? dy : dx), ratio) + most;
	}
}

static pe_status make_buckets(pe_encoding *e)
{
	struct state *s = e->state;
	int32_t side = 2 * (int32_t)(2 * pe_params_real(e->params, "ratio")) + 1;
	enum method method = (enum method)pe_params_choice(e->params, "method");
	s->parts = method == CROSS ? 2 : 1;
	s->buckets = method == PRODUCT ? side * side : side;
	s->skips = e->domain->prefix > 0 || e->queries->prefix > 0;
	int32_t *rank = pe_alloc(e->ctx, RANKED, sizeof *rank);
	if (!rank)
		return PE_ERR_NOMEM;
	fill_ranks(rank);
	for (int part = 0; part < s->parts; part++) {
		s->bucket[part] = pe_alloc(e->ctx, s->window.rows, sizeof **s->bucket);
		for (int64_t row = 0; s->bucket[part] && row < s->window.rows; row++) {
			int64_t dy, dx;
			pe_window_offset(&s->window, row, &dy, &dx);
			s->bucket[part][row] = bucket_of(e, part, dy, dx, rank);
		}
	}
	pe_free(e->ctx, rank);
	return s->bucket[0] && (s->parts == 1 || s->bucket[1]) ? PE_OK : PE_ERR_NOMEM;
}

/* Buckets of query - key or, for the encoding on queries, of key - query. */
static void index_of(const pe_encoding *e, const struct pe_cells *cells, int part, bool turned, int32_t *rows)
{
	const struct state *s = e->state;
	pe_window_index(e, cells, rows);
	for (int64_t c = 0; c < cells->count; c++)
		rows[c] = rows[c] < 0 ? (int32_t)s->buckets
							  : s->bucket[part][turned ? s->window.rows - 1 - rows[c] : rows[c]];
}

static void index_first(const pe_encoding *e, const struct pe_cells *cells, int32_t *rows)
{
	index_of(e, cells, 0, false, rows);
}

static void index_second(const pe_encoding *e, const struct pe_cells *cells, int32_t *rows)
{
	index_of(e, cells, 1, false, rows);
}

static void turned_first(const pe_encoding *e, const struct pe_cells *cells, int32_t *rows)
{
	index_of(e, cells, 0, true, rows);
}

static void turned_second(const pe_encoding *e, const struct pe_cells *cells, int32_t *rows)
{
	index_of(e, cells, 1, true, rows);
}

/* ---- sites ------------------------------------------------------------------------------ */

static int64_t rows_of(const struct state *s)
{
	return s->buckets + s->skips;
}

/* On keys the query meets the table; on queries the key does, and the offset is turned. */
static int put_terms(const pe_encoding *e, pe_side on, struct pe_term *terms)
{
	static pe_index_fn *const plain[] = {index_first, index_second},
							  *const turned[] = {turned_first, turned_second};
	const struct state *s = e->state;
	int count = 0;
	for (int part = 0; part < s->parts && s->mode == CONTEXTUAL && s->table[on][part]; part++)
		terms[count++] = (struct pe_term){.side = on == PE_QUERIES ? PE_KEYS : PE_QUERIES,
			.table = s->table[on][part],
			.rows = rows_of(s),
			.width = s->head_dim,
			.per_head = s->tables > 1,
			.index = (on == PE_QUERIES ? turned : plain)[part]};
	return count;
}

static int content(const pe_encoding *e, struct pe_term *terms)
{
	int count = put_terms(e, PE_QUERIES, terms);
	return count + put_terms(e, PE_KEYS, terms + count);
}

static int values(const pe_encoding *e, struct pe_term *terms)
{
	return put_terms(e, PE_VALUES, terms);
}

static void add_biases(const pe_encoding *e, const struct pe_cells *cells, pe_side on, int part, double *bias)
{
	const struct state *s = e->state;
	const double *table = s->table[on][part] + (s->tables > 1 ? cells->head * rows_of(s) : 0);
	struct pe_cells run = *cells;
	for (int64_t done = 0; done < cells->count; done += run.count) {
		int32_t rows[RUN];
		run.key = cells->key + done;
		run.count = pe_min(RUN, cells->count - done);
		index_of(e, &run, part, on == PE_QUERIES, rows);
		for (int64_t c = 0; c < run.count; c++)
			bias[done + c] += table[rows[c]];
	}
}

static void scores(const pe_encoding *e, const struct pe_cells *cells, double *bias)
{
	const struct state *s = e->state;
	for (int on = PE_QUERIES; on <= PE_KEYS && s->mode == BIAS; on++)
		for (int part = 0; part < s->parts && s->table[on][part]; part++)
			add_biases(e, cells, (pe_side)on, part, bias);
}

/* ---- parameters ------------------------------------------------------------------------- */

/* By side: of biases, of vectors; each whole, of rows and of columns. */
static const char *const names[3][2][3] = {
	{{"rpe_q.lookup_table_bias", "rpe_q.rp_rows.lookup_table_bias", "rpe_q.rp_cols.lookup_table_bias"},
		{"rpe_q.lookup_table_weight", "rpe_q.rp_rows.lookup_table_weight",
			"rpe_q.rp_cols.lookup_table_weight"}},
	{{"rpe_k.lookup_table_bias", "rpe_k.rp_rows.lookup_table_bias", "rpe_k.rp_cols.lookup_table_bias"},
		{"rpe_k.lookup_table_weight", "rpe_k.rp_rows.lookup_table_weight",
			"rpe_k.rp_cols.lookup_table_weight"}},
	{{NULL, NULL, NULL},
		{"rpe_v.lookup_table_weight", "rpe_v.rp_rows.lookup_table_weight",
			"rpe_v.rp_cols.lookup_table_weight"}},
};

/* Vectors as the sites want them, (tables, rows, head_dim); those of queries and keys come with the last two
 * turned. */
static pe_status copy_vectors(pe_encoding *e, pe_side on, const double *from, double **out)
{
	const struct state *s = e->state;
	int64_t rows = rows_of(s), width = s->head_dim;
	double *to = *out = pe_alloc(e->ctx, s->tables * rows, (size_t)width * sizeof *to);
	if (!to)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < s->tables * rows * width; i++) {
		int64_t table = i / width / rows, row = i / width % rows, c = i % width;
		to[i] = from[on == PE_VALUES ? i : (table * width + c) * rows + row];
	}
	return PE_OK;
}

static pe_status take_table(pe_encoding *e, pe_side on, int part)
{
	struct state *s = e->state;
	const char *name = names[on][s->mode == CONTEXTUAL][s->parts == 1 ? 0 : 1 + part];
	int64_t rows = rows_of(s), shape[] = {s->tables, on == PE_VALUES ? rows : s->head_dim, rows};
	double *given;
	if (s->mode == BIAS)
		return pe_encoding_weight(
			e, name, 2, (int64_t[]){s->tables, rows}, pe_initial_constant(0), &s->table[on][part]);
	if (on == PE_VALUES)
		shape[2] = s->head_dim;
	PE_TRY(pe_encoding_weight(e, name, 3, shape, pe_initial_constant(0), &given));
	return copy_vectors(e, on, given, &s->table[on][part]);
}

static pe_status take_tables(pe_encoding *e)
{
	static const char *const sides[] = {"queries", "keys", "values"};
	const struct state *s = e->state;
	for (int on = PE_QUERIES; on <= PE_VALUES; on++)
		for (int part = 0; part < s->parts && pe_params_bool(e->params, sides[on]); part++)
			PE_TRY(take_table(e, (pe_side)on, part));
	return PE_OK;
}

static pe_status declare(pe_encoding *e)
{
	const struct state *s = e->state;
	if (s->mode == BIAS)
		PE_TRY(pe_scores_declare(e));
	PE_TRY(pe_pairs_declare(e, s->parts == 1 ? "buckets" : "buckets_rows"));
	if (s->parts == 2)
		PE_TRY(pe_pairs_declare(e, "buckets_columns"));
	return pe_declare_weights(e);
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	bool shared = pe_params_bool(e->params, "shared");
	s->mode = (enum mode)pe_params_choice(e->params, "mode");
	s->head_dim = pe_params_int(e->params, "head_dim");
	s->tables = shared ? 1 : pe_params_int(e->params, "heads");
	e->heads = shared ? 0 : s->tables;
	e->leaves_scores = s->mode == CONTEXTUAL;
	if (s->mode == BIAS && pe_params_bool(e->params, "values"))
		return pe_encoding_fail(e, PE_ERR_RANGE, "values take vectors: there is no mode=bias on them");
	PE_TRY(pe_window_of_grid(e));
	PE_TRY(make_buckets(e));
	PE_TRY(take_tables(e));
	return declare(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	for (int part = 0; part < 2; part++) {
		pe_free(e->ctx, s->bucket[part]);
		for (int on = PE_QUERIES; on <= PE_VALUES && s->mode == CONTEXTUAL; on++)
			pe_free(e->ctx, s->table[on][part]);
	}
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	const struct state *s = e->state;
	int64_t at = 0;
	if (s->mode == BIAS)
		PE_TRY(pe_scores_compute(e, scores, &outs[at++]));
	PE_TRY(pe_pairs_compute(e, index_first, &outs[at++]));
	if (s->parts == 2)
		PE_TRY(pe_pairs_compute(e, index_second, &outs[at++]));
	pe_compute_weights(e, outs, at);
	return PE_OK;
}

/* ---- what it is ------------------------------------------------------------------------- */

static const pe_option_info options[] = {
	PE_INT("heads", "8", 1, 4096, "attention heads, with shared=0"),
	PE_INT("head_dim", "64", 1, 1 << 16, "width of a head"),
	PE_CHOICE(
		"method", "product", "euclidean|quant|product|cross", "how two offsets become one bucket, or two"),
	PE_CHOICE("mode", "contextual", "contextual|bias", "a vector for each bucket, or a number"),
	PE_BOOLEAN("queries", "0", "on queries: keys meet the vectors"),
	PE_BOOLEAN("keys", "1", "on keys: queries meet the vectors"),
	PE_BOOLEAN("values", "0", "on values: vectors are added to them"),
	PE_BOOLEAN("shared", "1", "all heads share one table"),
	PE_REAL("ratio", "1.9", 0.5, 32, "alpha of the buckets; beta is twice, gamma eight times that"),
	PE_CHOICE("quantize", "rank", "rank|squared",
		"method quant: the distance's rank among all distances, or the squared distance as it is"),
};

static const pe_preset_info presets[] = {
	{"cream", "quantize=squared", "as the released code, whose quantiser is never called"},
};

static const pe_weight_info weights[] = {
	{"rpe_q.lookup_table_weight", "(1 or heads, head_dim, buckets)", "zeros", "contextual, with queries=1"},
	{"rpe_q.rp_rows.lookup_table_weight", "(1 or heads, head_dim, buckets)", "zeros", "method cross"},
	{"rpe_q.rp_cols.lookup_table_weight", "(1 or heads, head_dim, buckets)", "zeros", "method cross"},
	{"rpe_k.lookup_table_weight", "(1 or heads, head_dim, buckets)", "zeros", "contextual, with keys=1"},
	{"rpe_k.rp_rows.lookup_table_weight", "(1 or heads, head_dim, buckets)", "zeros", "method cross"},
	{"rpe_k.rp_cols.lookup_table_weight", "(1 or heads, head_dim, buckets)", "zeros", "method cross"},
	{"rpe_v.lookup_table_weight", "(1 or heads, buckets, head_dim)", "zeros", "contextual, with values=1"},
	{"rpe_v.rp_rows.lookup_table_weight", "(1 or heads, buckets, head_dim)", "zeros", "method cross"},
	{"rpe_v.rp_cols.lookup_table_weight", "(1 or heads, buckets, head_dim)", "zeros", "method cross"},
	{"rpe_q.lookup_table_bias", "(1 or heads, buckets)", "zeros", "bias, with queries=1"},
	{"rpe_q.rp_rows.lookup_table_bias", "(1 or heads, buckets)", "zeros", "method cross"},
	{"rpe_q.rp_cols.lookup_table_bias", "(1 or heads, buckets)", "zeros", "method cross"},
	{"rpe_k.lookup_table_bias", "(1 or heads, buckets)", "zeros", "bias, with keys=1"},
	{"rpe_k.rp_rows.lookup_table_bias", "(1 or heads, buckets)", "zeros", "method cross"},
	{"rpe_k.rp_cols.lookup_table_bias", "(1 or heads, buckets)", "zeros", "method cross"},
};

const struct pe_encoder pe_encoder_irpe = {
	.table = PE_TABLE("irpe", options, presets),
	.family = PE_VISION,
	.summary = "buckets of offsets on a grid, with a vector or a bias each, on keys, queries, values",
	.help = "On keys: s(q, k) += scale q . W[bucket(q - k)]; on queries: += scale k .\n"
			"W[bucket(k - q)]; on values: v + W[bucket(q - k)] inside the sum. mode=bias: s\n"
			"+= W[bucket], on keys and queries. With a = ratio, index(x) = x rounded if |x|\n"
			"<= a, else sign(x) min(2a, round(a + a ln(|x|/a) / ln 8)) without its\n"
			"fraction; m = 2a without its fraction is added to it. Halves round to even.\n"
			"euclidean: of sqrt(dy^2 + dx^2) rounded (half of the buckets stay unused);\n"
			"quant: of the rank of that distance among all that whole numbers give (0, 1,\n"
			"1.41, 2 ... are 0, 1, 2, 3 ...); product: (index(dy) + m)(2m + 1) + index(dx)\n"
			"+ m; cross: a table of rows and one of columns, added.\n"
			"With prefix tokens there is one bucket more, the last, for every pair with\n"
			"one; without, the tables are one row shorter. Tables begin with zeros. Arrays:\n"
			"buckets (cross: buckets_rows and buckets_columns), the parameters, and with\n"
			"mode=bias the bias.",
	.source =
		"Wu et al. 2021, \"Rethinking and improving relative position encoding for vision transformer\", "
		"and its code",
	.example = "grid:14x14 --prefix 1 --with irpe:head_dim=64 -o irpe.npz",
	.domains = PE_DOMAIN_GRID,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = compute,
	.scores = scores,
	.content = content,
	.values = values,
};
