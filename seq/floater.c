/* SPDX-License-Identifier: BSD-2-Clause
 * Positions that follow a learned differential equation: dp/dt = f(t, p), p(0) learned, position k at time
 * k step, f(t, p) = W2 [relu(W1 [p, t] + b1), t] + b2. Liu et al., "Learning to encode position for
 * transformer with continuous dynamical model", ICML 2020 (FLOATER); flow_func_linear of its code. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder.h"
#include "pool.h"
#include "tensor.h"
#include "token_table.h"

enum solver { EULER, MIDPOINT, RK4 };
enum target { INPUT, QKV };
enum { VECTORS = 3 }; /* target=qkv: of queries, keys, values */

/* A position and where its vectors are. */
struct place {
	double position;
	int64_t index; /* side, batch and token in one number */
};

struct state {
	struct pe_token_table table;
	enum solver solver;
	enum target target;
	int64_t dim, vectors, substeps, width; /* width: dim / heads */
	double step;
	const double *start;                    /* (vectors, dim) */
	const double *first_bias, *second_bias; /* dim */
	double *first, *second;                 /* transposed, (dim + 1, dim) */
	double *at[2];                          /* queries, keys: (batch, tokens, vectors, dim) */
};

/* ---- the equation ------------------------------------------------------------------- */

/* out ← bias + W [x, t]; w is transposed. */
static void affine(int64_t d, const double *w, const double *bias, const double *x, double t, double *out)
{
	for (int64_t o = 0; o < d; o++)
		out[o] = bias[o] + w[d * d + o] * t;
	for (int64_t c = 0; c < d; c++)
		for (int64_t o = 0; o < d; o++)
			out[o] += w[c * d + o] * x[c];
}

/* slope ← f(t, y + h k); k NULL: f(t, y). */
static void find_slope(
	const struct state *s, double t, const double *y, double h, const double *k, double *slope, double *work)
{
	int64_t d = s->dim;
	double *hidden = work + d;
	for (int64_t c = 0; c < d; c++)
		work[c] = k ? y[c] + h * k[c] : y[c];
	affine(d, s->first, s->first_bias, work, t, hidden);
	for (int64_t c = 0; c < d; c++)
		hidden[c] = fmax(hidden[c], 0);
	affine(d, s->second, s->second_bias, hidden, t, slope);
}

/* y(t) → y(t + h). work holds 6 dim numbers. */
static void advance(const struct state *s, double t, double h, double *y, double *work)
{
	int64_t d = s->dim;
	double *k = work + 2 * d;
	find_slope(s, t, y, 0, NULL, k, work);
	if (s->solver == MIDPOINT)
		find_slope(s, t + h / 2, y, h / 2, k, k, work);
	if (s->solver == RK4) {
		find_slope(s, t + h / 2, y, h / 2, k, k + d, work);
		find_slope(s, t + h / 2, y, h / 2, k + d, k + 2 * d, work);
		find_slope(s, t + h, y, h, k + 2 * d, k + 3 * d, work);
		for (int64_t c = 0; c < d; c++)
			k[c] = (k[c] + 2 * k[d + c] + 2 * k[2 * d + c] + k[3 * d + c]) / 6;
	}
	for (int64_t c = 0; c < d; c++)
		y[c] += h * k[c];
}

/* y at `from`, a whole number of positions, to `to`, at most one position away: `substeps` steps, of the
 * length that ends there. Times are counted from 0, not summed up. */
static void advance_to(const struct state *s, double from, double to, double *y, double *work)
{
	double h = (to - from) * s->step / (double)s->substeps;
	for (int64_t i = 0; i < s->substeps; i++)
		advance(s, from * s->step + (double)i * h, h, y, work);
}

/* ---- rows of all positions ---------------------------------------------------------- */

static int by_position(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	double p = fabs(x->position), q = fabs(y->position);
	if (p < q || p > q)
		return p < q ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

struct work {
	const struct state *s;
	const struct place *places;
	int64_t count, keys; /* keys: places of keys come first */
};

static double *vectors_of(const struct work *w, const struct place *place, int64_t vector)
{
	bool key = place->index < w->keys;
	int64_t row = (key ? place->index : place->index - w->keys) * w->s->vectors + vector;
	return w->s->at[key ? PE_KEYS : PE_QUERIES] + row * w->s->dim;
}

/* Walks one vector from 0 outwards on one side, over whole positions, and stops at each that is asked for. */
static void walk(const struct work *w, int64_t vector, double sign, double *y, double *work)
{
	const struct state *s = w->s;
	double *there = work + 6 * s->dim, whole = 0;
	size_t bytes = (size_t)s->dim * sizeof *y;
	memcpy(y, s->start + vector * s->dim, bytes);
	for (int64_t i = 0; i < w->count; i++) {
		double p = fabs(w->places[i].position);
		if (w->places[i].position * sign < 0 || (sign < 0 && !(p > 0)))
			continue;
		for (; whole + 1 <= p; whole++)
			advance_to(s, sign * whole, sign * (whole + 1), y, work);
		memcpy(there, y, bytes);
		if (p > whole)
			advance_to(s, sign * whole, sign * p, there, work);
		memcpy(vectors_of(w, &w->places[i], vector), there, bytes);
	}
}

static pe_status do_vector(pe_context *worker, void *arg, int64_t chunk)
{
	const struct work *w = arg;
	double *y = pe_alloc(worker, 8 * w->s->dim, sizeof *y);
	if (!y)
		return PE_ERR_NOMEM;
	walk(w, chunk / 2, chunk % 2 ? -1 : 1, y, y + w->s->dim);
	pe_free(worker, y);
	return PE_OK;
}

static pe_status check_positions(pe_encoding *e, const struct place *places, int64_t count)
{
	int64_t limit = pe_params_int(e->params, "max_length");
	if (count > 0 && fabs(places[count - 1].position) > (double)limit)
		return pe_encoding_fail(e, PE_ERR_RANGE,
			"position %g is further from 0 than max_length %lld: the equation is solved all the way there",
			places[count - 1].position, (long long)limit);
	return PE_OK;
}

static void list_places(const pe_domain *domain, struct place *out, int64_t first)
{
	for (int64_t i = 0; i < domain->batch * domain->tokens; i++)
		out[i] =
			(struct place){pe_domain_position(domain, i / domain->tokens, i % domain->tokens), first + i};
}

static pe_status allocate(pe_encoding *e, pe_side side, const pe_domain *domain)
{
	struct state *s = e->state;
	int64_t rows;
	if (!pe_mul(domain->batch, domain->tokens, &rows) || !pe_mul(rows, s->vectors * s->dim, &rows))
		return pe_encoding_fail(e, PE_ERR_NOMEM, "its rows are larger than memory can hold");
	s->at[side] = pe_alloc(e->ctx, rows, sizeof *s->at[side]);
	return s->at[side] ? PE_OK : PE_ERR_NOMEM;
}

/* Queries have rows of their own where they have positions of their own. */
static pe_status solve(pe_encoding *e)
{
	struct state *s = e->state;
	bool apart = s->target == QKV && e->queries != e->domain;
	int64_t keys = e->domain->batch * e->domain->tokens;
	int64_t queries = apart ? e->queries->batch * e->queries->tokens : 0;
	PE_TRY(allocate(e, PE_KEYS, e->domain));
	if (apart)
		PE_TRY(allocate(e, PE_QUERIES, e->queries));
	struct place *places = pe_alloc(e->ctx, keys + queries, sizeof *places);
	if (!places)
		return PE_ERR_NOMEM;
	list_places(e->domain, places, 0);
	if (apart)
		list_places(e->queries, places + keys, keys);
	qsort(places, (size_t)(keys + queries), sizeof *places, by_position);
	struct work w = {s, places, keys + queries, keys};
	pe_status status = check_positions(e, places, w.count);
	if (status == PE_OK)
		status = pe_parallel(e->ctx, 2 * s->vectors, do_vector, &w, "floater");
	pe_free(e->ctx, places);
	return status;
}

/* ---- sites -------------------------------------------------------------------------- */

static const double *row_of(const pe_encoding *e, pe_side side, int64_t batch, int64_t token)
{
	const struct state *s = e->state;
	bool apart = side == PE_QUERIES && s->at[PE_QUERIES];
	const pe_domain *domain = apart ? e->queries : e->domain;
	int64_t place = (domain->batch > 1 ? batch : 0) * domain->tokens + token;
	return s->at[apart ? PE_QUERIES : PE_KEYS] + (place * s->vectors + (s->vectors > 1 ? side : 0)) * s->dim;
}

static void row(const pe_encoding *e, int64_t batch, int64_t token, double *out)
{
	const struct state *s = e->state;
	memcpy(out, row_of(e, PE_KEYS, batch, token), (size_t)s->dim * sizeof *out);
}

static void rotate(
	const pe_encoding *e, const struct pe_place *at, const double *in, int64_t width, double *out)
{
	const struct state *s = e->state;
	const double *add = row_of(e, at->side, at->batch, at->token) + at->head * s->width;
	for (int64_t c = 0; c < width; c++)
		out[c] = in[c] + add[c];
}

static pe_status rotate_width(pe_encoding *e, pe_side side, int64_t width, int64_t *out)
{
	const struct state *s = e->state;
	(void)side;
	*out = width;
	if (width != s->width)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "a head is %lld wide, and dim / heads is %lld",
			(long long)width, (long long)s->width);
	return PE_OK;
}

static pe_status tokens_shape(pe_encoding *e, int64_t *tokens, int64_t *width)
{
	const struct state *s = e->state;
	if (s->target == QKV)
		return pe_encoding_fail(
			e, PE_ERR_UNSUPPORTED, "with target=qkv it acts on queries, keys and values, not on tokens");
	return pe_token_table_shape(e, tokens, width);
}

/* ---- bind --------------------------------------------------------------------------- */

static double *transpose(pe_context *ctx, const double *w, int64_t rows, int64_t columns)
{
	double *out = pe_alloc(ctx, rows, (size_t)columns * sizeof *out);
	for (int64_t r = 0; out && r < rows; r++)
		for (int64_t c = 0; c < columns; c++)
			out[c * rows + r] = w[r * columns + c];
	return out;
}

static pe_status take_layer(
	pe_encoding *e, const char *weight_name, const char *bias_name, double **weight, const double **bias)
{
	const struct state *s = e->state;
	double xavier = sqrt(2 / (double)(2 * s->dim + 1)), *w, *b;
	PE_TRY(pe_encoding_weight(
		e, weight_name, 2, (int64_t[]){s->dim, s->dim + 1}, pe_initial_normal(0, xavier), &w));
	PE_TRY(pe_encoding_weight(e, bias_name, 1, &s->dim, pe_initial_constant(0), &b));
	*bias = b;
	*weight = transpose(e->ctx, w, s->dim, s->dim + 1);
	return *weight ? PE_OK : PE_ERR_NOMEM;
}

static pe_status take_weights(pe_encoding *e)
{
	struct state *s = e->state;
	double *start;
	const int64_t shape[] = {s->vectors, s->dim};
	PE_TRY(pe_encoding_weight(e, "proj_bias", 2, shape, pe_initial_normal(0, 1), &start));
	s->start = start;
	PE_TRY(take_layer(e, "layers.0.linear.weight", "layers.0.linear.bias", &s->first, &s->first_bias));
	return take_layer(e, "layers.2.linear.weight", "layers.2.linear.bias", &s->second, &s->second_bias);
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	int64_t heads = pe_params_int(e->params, "heads");
	s->solver = (enum solver)pe_params_choice(e->params, "solver");
	s->target = (enum target)pe_params_choice(e->params, "target");
	s->dim = pe_params_int(e->params, "dim");
	s->step = pe_params_real(e->params, "step");
	s->substeps = pe_params_int(e->params, "substeps");
	s->vectors = s->target == QKV ? VECTORS : 1;
	s->width = s->dim / heads;
	if (s->target == QKV && s->dim % heads != 0)
		return pe_encoding_fail(
			e, PE_ERR_RANGE, "dim %lld is not a multiple of heads %lld", (long long)s->dim, (long long)heads);
	if (s->target == QKV)
		e->heads = e->key_heads = heads;
	s->table = (struct pe_token_table){.dim = s->dim, .row = row};
	PE_TRY(take_weights(e));
	PE_TRY(solve(e));
	if (s->target == INPUT)
		return pe_token_table_declare(e);
	const int64_t shape[] = {e->domain->batch, e->domain->tokens, VECTORS, s->dim};
	int32_t shared = e->domain->batch == 1;
	return pe_declare(e, "projection_bias", PE_F64, 4 - shared, shape + shared, shared);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_free(e->ctx, s->first);
	pe_free(e->ctx, s->second);
	pe_free(e->ctx, s->at[PE_QUERIES]);
	pe_free(e->ctx, s->at[PE_KEYS]);
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	const struct state *s = e->state;
	if (s->target == INPUT)
		return pe_token_table_compute(e, outs);
	const pe_tensor *out = &outs[0];
	int32_t last = out->ndim - 1, batched = out->ndim == 4;
	int64_t rows = e->domain->batch * e->domain->tokens * VECTORS;
	for (int64_t i = 0; out->data && i < rows; i++) {
		int64_t token = i / VECTORS;
		int64_t at =
			i % VECTORS * out->strides[last - 1] + token % e->domain->tokens * out->strides[last - 2];
		at += batched ? token / e->domain->tokens * out->strides[0] : 0;
		pe_store_f64((char *)out->data + at * (int64_t)pe_dtype_size(out->dtype), out->dtype,
			out->strides[last], s->at[PE_KEYS] + i * s->dim, 1, s->dim);
	}
	return PE_OK;
}

static const pe_option_info options[] = {
	PE_INT("dim", "64", 1, 1 << 12, "width of a vector: of the features, or of all heads together"),
	PE_REAL("step", "0.01", 1e-9, 1e9, "time from one position to the next"),
	PE_INT("substeps", "5", 1, 1 << 12, "steps of the solver from one position to the next"),
	PE_CHOICE(
		"solver", "midpoint", "euler|midpoint|rk4", "1, 2 or 4 evaluations a step; rk4 is the classical one"),
	PE_CHOICE("target", "input", "input|qkv",
		"one vector a position for the features; or three, which are added to queries, keys and values"),
	PE_INT("heads", "8", 1, 4096, "target=qkv: heads, each with dim/heads channels"),
	PE_INT("max_length", "4096", 1, 1 << 20, "positions further from 0 are refused"),
	PE_OPTION_MERGE,
};

static const pe_preset_info presets[] = {
	{"floater", "target=qkv", "the authors' code: step 0.01, five midpoint steps a position, on q, k and v"},
	{"recursion", "solver=euler,step=1,substeps=1", "p_{k+1} = p_k + f(k, p_k)"},
};

static const pe_weight_info weights[] = {
	{"proj_bias", "(1 or 3, dim)", "N(0, 1)", "the vector at position 0; target=qkv: of q, k and v"},
	{"layers.0.linear.weight", "(dim, dim+1)", "N(0, 2/(2 dim + 1))", "W1; its last column is for the time"},
	{"layers.0.linear.bias", "(dim)", "0", "b1"},
	{"layers.2.linear.weight", "(dim, dim+1)", "N(0, 2/(2 dim + 1))", "W2; its last column is for the time"},
	{"layers.2.linear.bias", "(dim)", "0", "b2"},
};

const struct pe_encoder pe_encoder_floater = {
	.table = PE_TABLE("floater", options, presets),
	.family = PE_SEQ,
	.summary = "position vectors that follow a learned differential equation",
	.help = "dp/dt = f(t, p) with f(t, p) = W2 [relu(W1 [p, t] + b1), t] + b2; p(0) is\n"
			"learned, position k has p(k step). Position 0 is proj_bias itself.\n"
			"  target=input  p_k is merged into the features (the paper's simplest form)\n"
			"  target=qkv    three vectors, added to q, k and v after the projection: a\n"
			"                bias of the projection that depends on position, as the\n"
			"                authors' code has it; array projection_bias (tokens, 3, dim)\n"
			"The solver takes `substeps` equal steps from each whole position to the next,\n"
			"times counted from 0 and not summed up. Positions may be real, reached from\n"
			"the whole one before, or negative: the equation is solved backwards.\n"
			"In the authors' code proj_bias is (3, layers, dim), one f for all: give the\n"
			"slice of the layer. torchdiffeq's rk4 is another rule of order 4 (3/8).",
	.source = "Liu et al. 2020, \"FLOATER\", and its code",
	.example = "seq:128 --with floater:dim=64",
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = compute,
	.tokens = pe_token_table_tokens,
	.tokens_shape = tokens_shape,
	.rotate = rotate,
	.rotate_width = rotate_width,
	.turns_values = true,
};
