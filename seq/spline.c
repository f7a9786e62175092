/* SPDX-License-Identifier: BSD-2-Clause
 * Splines in place of positions: learned control tokens are prepended, an encoder without positions turns
 * them into control points, and the sequence is sampled from the uniform B-spline of those. "Spline-based
 * transformers", ECCV 2024; lucidrains/spline-based-transformer. */
#include <math.h>
#include <string.h>

#include "encoder.h"
#include "pool.h"
#include "tensor.h"

enum stage { PREPEND, SAMPLE };
enum { MAX_DEGREE = 7, BLOCK = 64 };

struct state {
	int64_t dim, points; /* points: control points */
	int degree;
	enum stage stage;
	const double *control; /* (points, dim) */
	int64_t samples;       /* of the spline: tokens without the control tokens */
};

/* ---- the spline --------------------------------------------------------------------- */

/* Weights of the degree + 1 control points of a segment at u in [0, 1], uniform knots; de Boor's recursion.
 */
static void basis(int degree, double u, double *weights)
{
	weights[0] = 1;
	for (int d = 1; d <= degree; d++) {
		double carried = 0;
		for (int r = 0; r < d; r++) {
			double after = r + 1 - u, before = u + d - 1 - r; /* to the knots on both sides; d apart */
			double share = weights[r] / (after + before);
			weights[r] = carried + after * share;
			carried = before * share;
		}
		weights[d] = carried;
	}
}

/* Where sample i is: segment and weights. Positions run from the first, t = 0, to the last, t = 1. */
static int64_t locate(const struct state *s, double t, double *weights)
{
	int64_t segments = s->points - s->degree;
	int64_t segment = pe_min((int64_t)(t * (double)segments), segments - 1);
	basis(s->degree, t * (double)segments - (double)segment, weights);
	return segment;
}

struct range {
	double first, last;
};

/* Of the positions of one batch, from token `begin` on. */
static struct range range_of(const pe_encoding *e, int64_t batch, int64_t begin)
{
	struct range r = {INFINITY, -INFINITY};
	for (int64_t i = begin; i < e->domain->tokens; i++) {
		double p = pe_domain_position(e->domain, batch, i);
		r = (struct range){fmin(r.first, p), fmax(r.last, p)};
	}
	return r;
}

/* 0 … 1; 0 if there is but one position. */
static double time_of(const pe_encoding *e, struct range r, int64_t batch, int64_t token)
{
	double t = (pe_domain_position(e->domain, batch, token) - r.first) / (r.last - r.first);
	return r.last > r.first ? fmin(fmax(t, 0), 1) : 0;
}

/* ---- tokens ------------------------------------------------------------------------- */

struct work {
	const pe_encoding *e;
	const pe_tensor *x, *y;
};

/* y ← the control tokens, then x. row: dim numbers. */
static void prepend(const struct work *w, int64_t batch, double *row)
{
	const struct state *s = w->e->state;
	for (int64_t i = 0; i < w->y->shape[1]; i++) {
		if (i >= s->points)
			pe_load_f64(
				row, pe_tensor_at(w->x, batch, i - s->points, 0), w->x->dtype, w->x->strides[2], s->dim);
		pe_store_f64(pe_tensor_at(w->y, batch, i, 0), w->y->dtype, w->y->strides[2],
			i < s->points ? s->control + i * s->dim : row, 1, s->dim);
	}
}

/* y ← samples of the spline of the first rows of x. numbers: (points + 1) dim. */
static void sample(const struct work *w, int64_t batch, double *numbers)
{
	const struct state *s = w->e->state;
	double *points = numbers + s->dim, weights[MAX_DEGREE + 1];
	struct range r = range_of(w->e, batch, s->points);
	for (int64_t i = 0; i < s->points; i++)
		pe_load_f64(
			points + i * s->dim, pe_tensor_at(w->x, batch, i, 0), w->x->dtype, w->x->strides[2], s->dim);
	for (int64_t i = 0; i < s->samples; i++) {
		int64_t segment = locate(s, time_of(w->e, r, batch, s->points + i), weights);
		memset(numbers, 0, (size_t)s->dim * sizeof *numbers);
		for (int k = 0; k <= s->degree; k++)
			for (int64_t c = 0; c < s->dim; c++)
				numbers[c] += weights[k] * points[(segment + k) * s->dim + c];
		pe_store_f64(pe_tensor_at(w->y, batch, i, 0), w->y->dtype, w->y->strides[2], numbers, 1, s->dim);
	}
}

static pe_status do_batch(pe_context *worker, void *arg, int64_t batch)
{
	const struct work *w = arg;
	const struct state *s = w->e->state;
	double *numbers = pe_alloc(worker, s->points + 1, (size_t)s->dim * sizeof *numbers);
	if (!numbers)
		return PE_ERR_NOMEM;
	if (s->stage == PREPEND)
		prepend(w, batch, numbers);
	else
		sample(w, batch, numbers);
	pe_free(worker, numbers);
	return PE_OK;
}

static pe_status tokens(pe_encoding *e, const pe_tensor *x, const pe_tensor *y)
{
	const struct state *s = e->state;
	if (s->stage == SAMPLE && e->domain->batch > 1 && x->shape[0] != e->domain->batch)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "features have %lld batches, and positions %lld",
			(long long)x->shape[0], (long long)e->domain->batch);
	return pe_parallel(e->ctx, x->shape[0], do_batch, &(struct work){e, x, y}, e->encoder->table.name);
}

static pe_status tokens_shape(pe_encoding *e, int64_t *tokens, int64_t *width)
{
	const struct state *s = e->state;
	if (*width != s->dim)
		return pe_encoding_fail(
			e, PE_ERR_SHAPE, "features are %lld wide, and dim is %lld", (long long)*width, (long long)s->dim);
	*tokens = s->stage == SAMPLE ? s->samples : *tokens + s->points;
	return PE_OK;
}

/* ---- arrays ------------------------------------------------------------------------- */

/* Array 1: how much of each control point each sample is. */
static void store_weights(const pe_encoding *e, const pe_tensor *out, double *row)
{
	const struct state *s = e->state;
	double weights[MAX_DEGREE + 1];
	int64_t begin = e->domain->tokens - s->samples, size = (int64_t)pe_dtype_size(out->dtype);
	int32_t last = out->ndim - 1;
	for (int64_t b = 0; b < e->domain->batch; b++) {
		struct range r = range_of(e, b, begin);
		for (int64_t i = 0; i < s->samples; i++) {
			int64_t segment = locate(s, time_of(e, r, b, begin + i), weights);
			int64_t at = i * out->strides[last - 1] + (last == 2 ? b * out->strides[0] : 0);
			memset(row, 0, (size_t)s->points * sizeof *row);
			memcpy(row + segment, weights, (size_t)(s->degree + 1) * sizeof *row);
			pe_store_f64((char *)out->data + at * size, out->dtype, out->strides[last], row, 1, s->points);
		}
	}
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	const struct state *s = e->state;
	double *row = pe_alloc(e->ctx, s->points, sizeof *row);
	if (!row)
		return PE_ERR_NOMEM;
	pe_compute_weights(e, outs, 0);
	if (outs[1].data)
		store_weights(e, &outs[1], row);
	pe_free(e->ctx, row);
	return PE_OK;
}

/* ---- bind --------------------------------------------------------------------------- */

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	double *control;
	s->dim = pe_params_int(e->params, "dim");
	s->points = pe_params_int(e->params, "control_points");
	s->degree = (int)pe_params_int(e->params, "degree");
	s->stage = (enum stage)pe_params_choice(e->params, "stage");
	s->samples = e->domain->tokens - (s->stage == SAMPLE ? s->points : 0);
	if (s->points <= s->degree)
		return pe_encoding_fail(e, PE_ERR_RANGE, "a spline of degree %d needs %d control points, not %lld",
			s->degree, s->degree + 1, (long long)s->points);
	if (s->samples < 0)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "the %lld tokens are fewer than the %lld control points",
			(long long)e->domain->tokens, (long long)s->points);
	const int64_t shape[] = {s->points, s->dim}, table[] = {e->domain->batch, s->samples, s->points};
	struct pe_initial zero = pe_initial_constant(0);
	zero.optional = s->stage == SAMPLE;
	PE_TRY(pe_encoding_weight(e, "control_tokens", 2, shape, zero, &control));
	s->control = control;
	PE_TRY(pe_declare_weights(e));
	int32_t shared = e->domain->batch == 1;
	return pe_declare(e, "spline_weights", PE_F64, 3 - shared, table + shared, shared && s->stage == PREPEND);
}

static const pe_option_info options[] = {
	PE_INT("dim", "64", 1, 1 << 16, "width of the features"),
	PE_INT("control_points", "4", 1, 1 << 12, "control tokens, and points of the spline"),
	PE_INT("degree", "3", 0, MAX_DEGREE, "of the spline: 3 is cubic"),
	PE_CHOICE("stage", "prepend", "prepend|sample",
		"before the encoder: put control tokens in front; after it: take the first rows as control points, "
		"and "
		"sample their spline"),
};

static const pe_weight_info weights[] = {
	{"control_tokens", "(control_points, dim)", "0", "what is put in front; stage=sample needs none"},
};

const struct pe_encoder pe_encoder_spline = {
	.table = PE_TABLE_NO_PRESETS("spline", options),
	.family = PE_SEQ,
	.summary = "control tokens in front, and a sequence sampled from the B-spline they become",
	.help = "stage=prepend  (tokens, dim) -> (control_points + tokens, dim): learned\n"
			"               control tokens, then the features, which get no position.\n"
			"stage=sample   (control_points + tokens, dim) -> (tokens, dim): the first rows\n"
			"               are the control points c of a uniform B-spline, of which every\n"
			"               token is a sample. A domain of control_points + tokens is\n"
			"               asked for; the positions of the first control_points are moot.\n"
			"t = (p - first)/(last - first) of the positions p, 0 for a single one. With\n"
			"n = control_points - degree segments, s = min(floor(t n), n - 1), u = t n - s:\n"
			"y = sum_k B_k(u) c_{s+k}; cubic, B = (1-3u+3u^2-u^3, 4-6u^2+3u^3,\n"
			"1+3u+3u^2-3u^3, u^3)/6. The spline does not pass through its points. Array\n"
			"spline_weights (tokens, control_points) holds B. Between the stages the\n"
			"caller's encoder runs without positions, and a linear layer if there is one.",
	.source = "\"Spline-based transformers\", ECCV 2024; lucidrains/spline-based-transformer",
	.example = "seq:64 --with spline:dim=32,control_points=6 -o spline.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.compute = compute,
	.tokens = tokens,
	.tokens_shape = tokens_shape,
	.resamples = true,
};
