/* SPDX-License-Identifier: BSD-2-Clause
 * Position by recurrence: h_i = RNN(x_i, h_{i-1}) over the features, or p_i = RNN(0, p_{i-1}) by itself. The
 * cells are Elman's and the gated recurrent unit, with PyTorch's weights. Neishi and Yoshinaga, "On the
 * relation between position information and sentence length in neural machine translation", CoNLL 2019. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "encoder.h"
#include "pool.h"
#include "tensor.h"
#include "token_table.h"

enum kind { RECURSION, GRU };
enum target { FEATURES, POSITIONS };
enum { REPLACE = PE_MERGE_CONCAT + 1 }; /* one more word of merge than pe_merge has */

struct state {
	struct pe_token_table table;
	enum kind kind;
	int64_t dim, gates;
	const double *input, *hidden; /* transposed, (dim, gates dim), so that columns run along memory */
	double *transposed;
	const double *input_bias, *hidden_bias, *start;
	double *rows; /* target=positions: (positions up to the largest, dim) */
};

/* ---- a cell ------------------------------------------------------------------------- */

/* out[gates dim] ← bias + W x; x NULL: zeros. */
static void affine(const struct state *s, const double *w, const double *bias, const double *x, double *out)
{
	int64_t n = s->gates * s->dim;
	memcpy(out, bias, (size_t)n * sizeof *out);
	for (int64_t c = 0; x && c < s->dim; c++)
		for (int64_t o = 0; o < n; o++)
			out[o] += w[c * n + o] * x[c];
}

static double logistic(double x)
{
	return 1 / (1 + exp(-x));
}

/* h ← the next state. work holds 2 gates dim numbers; x may be NULL. */
static void step(const struct state *s, const double *x, double *h, double *work)
{
	int64_t d = s->dim;
	double *in = work, *own = work + s->gates * d;
	affine(s, s->input, s->input_bias, x, in);
	affine(s, s->hidden, s->hidden_bias, h, own);
	for (int64_t c = 0; c < d; c++) {
		if (s->kind == RECURSION) {
			h[c] = tanh(in[c] + own[c]);
			continue;
		}
		double reset = logistic(in[c] + own[c]), update = logistic(in[d + c] + own[d + c]);
		double fresh = tanh(in[2 * d + c] + reset * own[2 * d + c]);
		h[c] = (1 - update) * fresh + update * h[c];
	}
}

/* ---- target=features ---------------------------------------------------------------- */

struct work {
	const pe_encoding *e;
	const pe_tensor *x, *y;
	int merge;
};

/* y ← x and h merged; x is a row of features, which may be changed. */
static void put(const struct work *w, int64_t batch, int64_t token, double *x, const double *h)
{
	const struct state *s = w->e->state;
	char *out = pe_tensor_at(w->y, batch, token, 0);
	int64_t step = w->y->strides[2];
	if (w->merge == PE_MERGE_CONCAT || w->merge == REPLACE) {
		if (w->merge == PE_MERGE_CONCAT)
			pe_store_f64(out, w->y->dtype, step, x, 1, s->dim);
		out += w->merge == PE_MERGE_CONCAT ? s->dim * step * (int64_t)pe_dtype_size(w->y->dtype) : 0;
		pe_store_f64(out, w->y->dtype, step, h, 1, s->dim);
		return;
	}
	for (int64_t c = 0; c < s->dim; c++)
		x[c] = w->merge == PE_MERGE_ADD     ? x[c] + h[c]
			: w->merge == PE_MERGE_MULTIPLY ? x[c] * h[c]
											: x[c] * (1 + h[c]);
	pe_store_f64(out, w->y->dtype, step, x, 1, s->dim);
}

static pe_status do_batch(pe_context *worker, void *arg, int64_t batch)
{
	const struct work *w = arg;
	const struct state *s = w->e->state;
	double *x = pe_alloc(worker, (2 + 2 * s->gates) * s->dim, sizeof *x);
	if (!x)
		return PE_ERR_NOMEM;
	double *h = x + s->dim;
	memcpy(h, s->start, (size_t)s->dim * sizeof *h);
	for (int64_t i = 0; i < w->x->shape[1]; i++) {
		pe_load_f64(x, pe_tensor_at(w->x, batch, i, 0), w->x->dtype, w->x->strides[2], s->dim);
		step(s, x, h, h + s->dim);
		put(w, batch, i, x, h);
	}
	pe_free(worker, x);
	return PE_OK;
}

static int merge_of(const pe_encoding *e)
{
	return pe_params_choice(e->params, "merge");
}

static bool over_features(const pe_encoding *e)
{
	return pe_params_choice(e->params, "target") == FEATURES;
}

static pe_status tokens(pe_encoding *e, const pe_tensor *x, const pe_tensor *y)
{
	if (!over_features(e))
		return pe_token_table_tokens(e, x, y);
	return pe_parallel(
		e->ctx, x->shape[0], do_batch, &(struct work){e, x, y, merge_of(e)}, e->encoder->table.name);
}

static pe_status tokens_shape(pe_encoding *e, int64_t *tokens, int64_t *width)
{
	const struct state *s = e->state;
	if (!over_features(e))
		return pe_token_table_shape(e, tokens, width);
	if (*width != s->dim)
		return pe_encoding_fail(
			e, PE_ERR_SHAPE, "features are %lld wide, and dim is %lld", (long long)*width, (long long)s->dim);
	*width *= merge_of(e) == PE_MERGE_CONCAT ? 2 : 1;
	return PE_OK;
}

/* ---- target=positions --------------------------------------------------------------- */

static void row(const pe_encoding *e, int64_t batch, int64_t token, double *out)
{
	const struct state *s = e->state;
	int64_t position = (int64_t)pe_domain_position(e->domain, batch, token);
	memcpy(out, s->rows + position * s->dim, (size_t)s->dim * sizeof *out);
}

static int64_t last_position(const pe_domain *domain)
{
	double last = -1;
	if (!domain->positions && domain->tokens > 0)
		return (int64_t)pe_domain_position(domain, 0, domain->tokens - 1);
	for (int64_t i = 0; i < domain->batch * domain->tokens; i++)
		last = fmax(last, domain->positions[i]);
	return (int64_t)last;
}

/* p_0 is `start` itself. */
static pe_status make_rows(pe_encoding *e)
{
	struct state *s = e->state;
	char what[80];
	int64_t limit = pe_params_int(e->params, "max_length");
	snprintf(what, sizeof what, "max_length is %lld", (long long)limit);
	PE_TRY(pe_encoding_check_positions(e, limit, what));
	int64_t last = last_position(e->domain), d = s->dim;
	double *work = pe_alloc(e->ctx, 2 * s->gates * d, sizeof *work);
	s->rows = pe_alloc(e->ctx, last + 1, (size_t)d * sizeof *s->rows);
	for (int64_t p = 0; work && s->rows && p <= last; p++) {
		memcpy(s->rows + p * d, p ? s->rows + (p - 1) * d : s->start, (size_t)d * sizeof *s->rows);
		if (p > 0)
			step(s, NULL, s->rows + p * d, work);
	}
	pe_free(e->ctx, work);
	return work && s->rows ? PE_OK : PE_ERR_NOMEM;
}

/* ---- bind --------------------------------------------------------------------------- */

static const double *transpose(const double *w, int64_t rows, int64_t columns, double *out)
{
	for (int64_t r = 0; r < rows; r++)
		for (int64_t c = 0; c < columns; c++)
			out[c * rows + r] = w[r * columns + c];
	return out;
}

static pe_status take_weights(pe_encoding *e)
{
	struct state *s = e->state;
	int64_t n = s->gates * s->dim, d = s->dim;
	double bound = 1 / sqrt((double)d), *input = NULL, *hidden, *input_bias, *hidden_bias, *start;
	struct pe_initial uniform = pe_initial_uniform(-bound, bound), from = pe_initial_constant(0);
	bool features = over_features(e);
	if (features)
		PE_TRY(pe_encoding_weight(e, "weight_ih_l0", 2, (int64_t[]){n, d}, uniform, &input));
	PE_TRY(pe_encoding_weight(e, "weight_hh_l0", 2, (int64_t[]){n, d}, uniform, &hidden));
	PE_TRY(pe_encoding_weight(e, "bias_ih_l0", 1, &n, uniform, &input_bias));
	PE_TRY(pe_encoding_weight(e, "bias_hh_l0", 1, &n, uniform, &hidden_bias));
	from = features ? from : pe_initial_normal(0, 1);
	from.optional = features;
	PE_TRY(pe_encoding_weight(e, "start", 1, &d, from, &start));
	s->transposed = pe_alloc(e->ctx, 2 * d, (size_t)n * sizeof *s->transposed);
	if (!s->transposed)
		return PE_ERR_NOMEM;
	s->input = input ? transpose(input, n, d, s->transposed) : NULL;
	s->hidden = transpose(hidden, n, d, s->transposed + n * d);
	s->input_bias = input_bias;
	s->hidden_bias = hidden_bias;
	s->start = start;
	return PE_OK;
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	s->kind = (enum kind)pe_params_choice(e->params, "kind");
	s->dim = pe_params_int(e->params, "dim");
	s->gates = s->kind == GRU ? 3 : 1;
	s->table = (struct pe_token_table){.dim = s->dim, .row = row};
	PE_TRY(take_weights(e));
	if (over_features(e))
		return pe_declare_weights(e);
	if (merge_of(e) == REPLACE)
		return pe_encoding_fail(e, PE_ERR_RANGE, "merge=replace would lose the features: take merge=add");
	PE_TRY(make_rows(e));
	return pe_token_table_declare(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_free(e->ctx, s->transposed);
	pe_free(e->ctx, s->rows);
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	if (!over_features(e))
		return pe_token_table_compute(e, outs);
	return pe_compute_own_weights(e, outs);
}

static const pe_option_info options[] = {
	PE_INT("dim", "64", 1, 1 << 12, "width of the features and of the state"),
	PE_CHOICE("kind", "gru", "recursion|gru", "the cell: tanh of a sum, or a gated recurrent unit"),
	PE_CHOICE("target", "features", "features|positions",
		"what the recurrence runs over: the features, or nothing, which makes a row for each position"),
	PE_INT("max_length", "4096", 1, 1 << 20, "target=positions: positions are below this"),
	PE_CHOICE("merge", "add", "add|multiply|one_plus|concat|replace",
		"how the states h enter the features x: x + h, x * h, x * (1 + h), [x, h], or h alone"),
};

static const pe_preset_info presets[] = {
	{"neishi", "kind=gru,target=features,merge=replace",
		"Neishi and Yoshinaga's RR-Transformer: the states of a GRU replace the embeddings"},
};

static const pe_weight_info weights[] = {
	{"weight_ih_l0", "(gates dim, dim)", "U(+-1/sqrt(dim))",
		"of the features; gates in the order reset, update, new (gru: 3, recursion: 1)"},
	{"weight_hh_l0", "(gates dim, dim)", "U(+-1/sqrt(dim))", "of the state"},
	{"bias_ih_l0", "(gates dim)", "U(+-1/sqrt(dim))", "of the features"},
	{"bias_hh_l0", "(gates dim)", "U(+-1/sqrt(dim))", "of the state; gru: inside of the reset gate"},
	{"start", "(dim)", "0; target=positions: N(0, 1)", "the first state; optional with target=features"},
};

const struct pe_encoder pe_encoder_recurrent = {
	.table = PE_TABLE("recurrent", options, presets),
	.family = PE_SEQ,
	.summary = "the states of a recurrent network, over the features or by position alone",
	.help = "target=features: h_i = cell(x_i, h_{i-1}) along the tokens, h_{-1} = start,\n"
			"merged into x. Order counts, positions do not.\n"
			"target=positions: p_0 = start, p_i = cell(0, p_{i-1}), rows for whole\n"
			"positions, merged into x.\n"
			"  kind=recursion  h' = tanh(W_ih x + b_ih + W_hh h + b_hh), as torch.nn.RNN\n"
			"  kind=gru        r, z = sigmoid(W x + b + U h + c), two of each,\n"
			"                  n = tanh(W_in x + b_in + r (W_hn h + b_hn)),\n"
			"                  h' = (1 - z) n + z h, as torch.nn.GRU\n"
			"Weights are PyTorch's, of one layer and one direction. Rows that follow a\n"
			"differential equation instead are floater's. With target=features and without\n"
			"features it yields its weights.",
	.source = "Neishi and Yoshinaga 2019; PyTorch's GRU and RNN",
	.example = "seq:128 --with recurrent:dim=64,target=positions",
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = compute,
	.tokens = tokens,
	.tokens_shape = tokens_shape,
};
