/* SPDX-License-Identifier: BSD-2-Clause
 * Attention by its definition: double, straight loops over whole rows. Every other core is tested
 * against this one, so nothing here is clever. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "plan.h"
#include "pool.h"
#include "relation.h"

/* q, k and v after the site rotate, dense. */
struct reference {
	struct pe_plan *plan;
	double *q, *k, *v;
};

/* What one query of all heads needs; rows are of heads × keys. */
struct row {
	double *logits, *bias, *padded_a, *padded_b;
	double *out; /* a row of the output */
	unsigned char *seen;
	int32_t *index;
};

/* ---- rotate ------------------------------------------------------------------------- */

static int64_t length_of(const struct pe_plan *p, pe_side side)
{
	return side == PE_QUERIES ? p->queries : p->keys;
}

static int64_t heads_of(const struct pe_plan *p, pe_side side)
{
	return side == PE_QUERIES ? p->heads : p->key_heads;
}

struct side {
	const struct pe_plan *plan;
	pe_side side;
	double *to;
};

/* All vectors of one head. */
static pe_status rotate_head(pe_context *worker, void *arg, int64_t index)
{
	const struct side *s = arg;
	const struct pe_plan *p = s->plan;
	int64_t heads = heads_of(p, s->side);
	int64_t size = length_of(p, s->side) * p->rotated[s->side][p->rotate.count];
	return pe_plan_rotate_head(worker, p, s->side, index / heads, index % heads, s->to + index * size);
}

static pe_status rotate_side(struct pe_plan *p, pe_side side, double **to)
{
	int64_t count = p->batch * heads_of(p, side) * length_of(p, side);
	*to = pe_alloc(p->ctx, count, (size_t)p->rotated[side][p->rotate.count] * sizeof **to);
	if (!*to)
		return PE_ERR_NOMEM;
	return pe_parallel(p->ctx, p->batch * heads_of(p, side), rotate_head, &(struct side){p, side, *to}, NULL);
}

/* ---- logits ------------------------------------------------------------------------- */

static const double *query_of(const struct reference *r, const struct pe_cells *c)
{
	const struct pe_plan *p = r->plan;
	return r->q + ((c->batch * p->heads + c->head) * p->queries + c->query) * p->dot_width;
}

static int64_t key_head(const struct pe_plan *p, const struct pe_cells *c)
{
	return c->batch * p->key_heads + c->head / (p->heads / p->key_heads);
}

static const double *key_of(const struct reference *r, const struct pe_cells *c, int64_t j)
{
	return r->k + (key_head(r->plan, c) * r->plan->keys + j) * r->plan->dot_width;
}

static const double *term_row(const struct pe_term *term, int64_t head, int64_t row)
{
	return term->table + ((term->per_head ? head * term->rows : 0) + row) * term->width;
}

static void add_term(const struct reference *r, const pe_encoding *e, const struct pe_term *term,
	const struct pe_cells *c, double scale, struct row *row)
{
	double *logits = row->logits + c->head * c->count;
	term->index(e, c, row->index);
	for (int64_t j = 0; j < c->count; j++) {
		if (!row->seen[c->head * c->count + j] || row->index[j] < 0)
			continue;
		const double *x = term->side == PE_KEYS ? key_of(r, c, j) : query_of(r, c);
		const double *t = term_row(term, c->head, row->index[j]);
		double sum = pe_dot(x, t, term->width);
		if (term->offset)
			sum += pe_dot(term->offset + c->head * term->width, t, term->width);
		logits[j] += (term->unscaled ? 1 : scale) * sum;
	}
}

static void add_content(const struct reference *r, const struct pe_cells *c, double scale, struct row *row)
{
	const struct pe_plan *p = r->plan;
	double *logits = row->logits + c->head * c->count;
	const unsigned char *seen = row->seen + c->head * c->count;
	for (int i = 0; i < p->content.count; i++) {
		struct pe_term terms[PE_MAX_TERMS];
		int count = p->content.list[i]->encoder->content(p->content.list[i], terms);
		for (int t = 0; t < count; t++)
			add_term(r, p->content.list[i], &terms[t], c, scale, row);
	}
	for (int i = 0; i < p->content_row.count; i++) {
		const pe_encoding *e = p->content_row.list[i];
		for (int64_t j = 0; j < c->count; j++)
			logits[j] = seen[j] ? logits[j] : -INFINITY;
		e->encoder->content_row(e, c, query_of(r, c), p->dot_width, logits);
	}
	for (int64_t j = 0; j < c->count; j++)
		logits[j] = !seen[j] ? 0 : p->softcap > 0 ? p->softcap * tanh(logits[j] / p->softcap) : logits[j];
}

/* Logits and summed biases of one head, 0 where masked. */
static void score(const struct reference *r, const struct pe_cells *c, struct row *row)
{
	const struct pe_plan *p = r->plan;
	double *logits = row->logits + c->head * c->count, *bias = row->bias + c->head * c->count;
	unsigned char *seen = row->seen + c->head * c->count;
	double scale = pe_plan_scale(p, c->batch, c->head, c->query);
	pe_plan_visible(p, c, seen);
	for (int64_t j = 0; j < c->count; j++) {
		logits[j] = seen[j] ? scale * pe_dot(query_of(r, c), key_of(r, c, j), p->dot_width) : 0;
		bias[j] = 0;
	}
	add_content(r, c, scale, row);
	for (int i = 0; i < p->gains.count; i++)
		p->gains.list[i]->encoder->gains(p->gains.list[i], c, logits);
	for (int i = 0; i < p->scores.count; i++)
		p->scores.list[i]->encoder->scores(p->scores.list[i], c, bias);
	for (int64_t j = 0; j < c->count; j++) {
		bias[j] = seen[j] ? bias[j] : 0;
		logits[j] = seen[j] ? logits[j] : 0;
	}
}

/* The site heads: all heads of one query at once. */
static void map_heads(const struct pe_plan *p, struct row *row, const struct pe_cells *c)
{
	const pe_encoding *e = p->map_heads;
	int64_t halo = e->halo, padded = c->count + 2 * halo;
	for (int64_t h = 0; h < p->heads; h++) {
		memset(row->padded_a + h * padded, 0, (size_t)padded * sizeof(double));
		memset(row->padded_b + h * padded, 0, (size_t)padded * sizeof(double));
		memcpy(
			row->padded_a + h * padded + halo, row->logits + h * c->count, (size_t)c->count * sizeof(double));
		memcpy(
			row->padded_b + h * padded + halo, row->bias + h * c->count, (size_t)c->count * sizeof(double));
	}
	e->encoder->map_heads(e, c, row->padded_a, row->padded_b, row->logits);
}

/* ---- softmax and sum ---------------------------------------------------------------- */

/* Above 0 unless the score is -inf. */
static double weight_of(double score, double most)
{
	double weight = exp(score - most);
	return score > -INFINITY && weight < DBL_MIN ? DBL_MIN : weight;
}

/* weights[j] ← softmax over what is seen; returns the log of the sum. */
static double softmax(
	const struct pe_plan *p, const struct pe_cells *c, const unsigned char *seen, double *weights)
{
	double most = p->sinks ? p->sinks[c->head] : -INFINITY, sum = 0;
	pe_plan_add_mask(p, c, weights);
	for (int64_t j = 0; j < c->count; j++)
		if (seen[j] && !(weights[j] <= most)) /* NaN stays */
			most = isnan(most) ? most : weights[j];
	if (isinf(most) && most < 0) {
		memset(weights, 0, (size_t)c->count * sizeof *weights);
		return -INFINITY;
	}
	for (int64_t j = 0; j < c->count; j++) {
		weights[j] = seen[j] ? weight_of(weights[j], most) : 0;
		sum += weights[j];
	}
	if (p->sinks)
		sum += exp(p->sinks[c->head] - most);
	for (int64_t j = 0; j < c->count; j++)
		weights[j] /= sum;
	return most + log(sum);
}

static void add_value_terms(const struct reference *r, const struct pe_cells *c, const double *weights,
	const unsigned char *seen, int32_t *index, double *out)
{
	const struct pe_plan *p = r->plan;
	for (int i = 0; i < p->values.count; i++) {
		struct pe_term terms[PE_MAX_TERMS];
		int count = p->values.list[i]->encoder->values(p->values.list[i], terms);
		for (int t = 0; t < count; t++) {
			terms[t].index(p->values.list[i], c, index);
			for (int64_t j = 0; j < c->count; j++)
				for (int64_t d = 0; seen[j] && index[j] >= 0 && d < p->sum_width; d++)
					out[d] += weights[j] * term_row(&terms[t], c->head, index[j])[d];
		}
	}
}

/* 0 takes nothing of infinity either. */
static double share(double weight, double value)
{
	return fabs(weight) > 0 || isnan(weight) || isfinite(value) ? weight * value : 0;
}

/* From scores to one head's output. */
static void finish(const struct reference *r, const struct pe_cells *c, struct row *row, double *out)
{
	const struct pe_plan *p = r->plan;
	double *weights = row->logits + c->head * c->count;
	const unsigned char *seen = row->seen + c->head * c->count;
	double lse = softmax(p, c, seen, weights);
	double *added = row->bias + c->head * c->count;
	memset(added, 0, (size_t)c->count * sizeof *added);
	for (int i = 0; i < p->weights_after.count; i++)
		p->weights_after.list[i]->encoder->weights_after(p->weights_after.list[i], c, added);
	memset(out, 0, (size_t)p->sum_width * sizeof *out);
	for (int64_t j = 0; j < c->count; j++) {
		const double *v = r->v + (key_head(p, c) * p->keys + j) * p->sum_width;
		for (int64_t d = 0; seen[j] && d < p->sum_width; d++)
			out[d] += isfinite(v[d]) ? (weights[j] + added[j]) * v[d]
									 : share(weights[j], v[d]) + share(added[j], v[d]);
		weights[j] += added[j];
	}
	add_value_terms(r, c, weights, seen, row->index, out);
	pe_store_f64(pe_tensor_at(&p->out, c->batch, c->head, c->query), p->out.dtype, p->out.strides[3], out, 1,
		p->sum_width);
	if (p->lse.data)
		pe_store_f64(pe_tensor_at(&p->lse, c->batch, c->head, c->query), p->lse.dtype, 1, &lse, 1, 1);
}

/* ---- one query of all heads --------------------------------------------------------- */

static void free_row(pe_context *ctx, struct row *row)
{
	pe_free(ctx, row->logits);
	pe_free(ctx, row->bias);
	pe_free(ctx, row->padded_a);
	pe_free(ctx, row->padded_b);
	pe_free(ctx, row->out);
	pe_free(ctx, row->seen);
	pe_free(ctx, row->index);
}

static pe_status make_row(pe_context *ctx, const struct pe_plan *p, struct row *row)
{
	int64_t padded = p->keys + (p->map_heads ? 2 * p->map_heads->halo : 0), size = (int64_t)sizeof(double);
	*row = (struct row){
		.logits = pe_alloc(ctx, p->heads, (size_t)(p->keys * size)),
		.bias = pe_alloc(ctx, p->heads, (size_t)(p->keys * size)),
		.padded_a = pe_alloc(ctx, p->heads, (size_t)(padded * size)),
		.padded_b = pe_alloc(ctx, p->heads, (size_t)(padded * size)),
		.out = pe_alloc(ctx, p->sum_width, sizeof(double)),
		.seen = pe_alloc(ctx, p->heads, (size_t)p->keys),
		.index = pe_alloc(ctx, p->keys, sizeof(int32_t)),
	};
	bool there =
		row->logits && row->bias && row->padded_a && row->padded_b && row->out && row->seen && row->index;
	return there ? PE_OK : PE_ERR_NOMEM;
}

static pe_status attend_query(pe_context *worker, void *arg, int64_t index)
{
	const struct reference *r = arg;
	const struct pe_plan *p = r->plan;
	struct row row;
	pe_status status = make_row(worker, p, &row);
	if (status == PE_OK) {
		struct pe_cells c = {index / p->queries, 0, index % p->queries, 0, p->keys};
		for (c.head = 0; c.head < p->heads; c.head++)
			score(r, &c, &row);
		if (p->map_heads)
			map_heads(p, &row, &c);
		else
			for (int64_t n = 0; n < p->heads * p->keys; n++)
				row.logits[n] += row.bias[n];
		for (c.head = 0; c.head < p->heads; c.head++)
			finish(r, &c, &row, row.out);
	}
	free_row(worker, &row);
	return status;
}

pe_status pe_attend_reference(struct pe_plan *plan)
{
	struct reference r = {.plan = plan};
	pe_status status = rotate_side(plan, PE_QUERIES, &r.q);
	if (status == PE_OK)
		status = rotate_side(plan, PE_KEYS, &r.k);
	if (status == PE_OK)
		status = rotate_side(plan, PE_VALUES, &r.v);
	if (status == PE_OK)
		status = pe_parallel(plan->ctx, plan->batch * plan->queries, attend_query, &r, "attention");
	pe_free(plan->ctx, r.q);
	pe_free(plan->ctx, r.k);
	pe_free(plan->ctx, r.v);
	return status;
}
