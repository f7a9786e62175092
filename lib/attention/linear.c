/* SPDX-License-Identifier: BSD-2-Clause
 * Linear attention: a key weighs φ(q)·φ(k), φ(x) = elu(x) + 1, so that two running sums stand for all keys
 * seen so far: out = φ(q) Σ φ(k) vᵀ / φ(q)·Σ φ(k). Katharopoulos et al., "Transformers are RNNs: fast
 * autoregressive transformers with linear attention", ICML 2020. Encoders that turn pairs of channels turn
 * φ(q) and φ(k) in the numerator alone, so that it depends on differences of positions and the normaliser
 * stays positive: Su et al., "RoFormer", equation 19. What else acts at the site rotate comes before φ, as
 * stochastic positional encoding has it. Sums are in double. */
#include <math.h>
#include <string.h>

#include "plan.h"
#include "pool.h"
#include "rotation.h"

/* ---- what it cannot do ----------------------------------------------------------------- */

static pe_status refuse_encodings(const struct pe_acting *acting, const char *site)
{
	if (acting->count == 0)
		return PE_OK;
	return pe_encoding_fail(acting->list[0], PE_ERR_UNSUPPORTED,
		"it acts at the site %s, on each pair of a query and a key; linear attention never looks at pairs: "
		"use the core tiled",
		site);
}

static pe_status check_encodings(const struct pe_plan *p)
{
	PE_TRY(refuse_encodings(&p->content, "content"));
	PE_TRY(refuse_encodings(&p->content_row, "content"));
	PE_TRY(refuse_encodings(&p->scores, "scores"));
	PE_TRY(refuse_encodings(&p->gains, "scores"));
	PE_TRY(refuse_encodings(&p->weights_after, "weights"));
	PE_TRY(refuse_encodings(&p->values, "values"));
	struct pe_acting heads = {{p->map_heads}, p->map_heads != NULL};
	return refuse_encodings(&heads, "heads");
}

static pe_status check(const struct pe_plan *p)
{
	const char *what = p->windowed ? "a window"
		: p->softcap > 0           ? "a softcap"
		: p->scale != 0            ? "a scale, which its normaliser would take out again"
		: p->sinks                 ? "sinks"
								   : NULL;
	PE_TRY(check_encodings(p));
	if (what)
		return pe_fail(p->ctx, PE_ERR_UNSUPPORTED, "linear attention cannot have %s", what);
	if (p->mask.data && p->queries > 1 && p->mask.strides[2] != 0)
		return pe_fail(p->ctx, PE_ERR_UNSUPPORTED,
			"linear attention takes a mask of keys, (…, 1, Lk), not one of queries and keys");
	return PE_OK;
}

/* ---- order ----------------------------------------------------------------------------- */

/* Tokens by position, ties by number. The positions are finite. */
struct placed {
	double position;
	int64_t token;
};

static void merge(const struct placed *from, int64_t middle, int64_t end, struct placed *to)
{
	int64_t a = 0, b = middle;
	for (int64_t i = 0; i < end; i++)
		to[i] = b >= end || (a < middle && from[a].position <= from[b].position) ? from[a++] : from[b++];
}

static void sort(struct placed *list, struct placed *scratch, int64_t n)
{
	for (int64_t run = 1; run < n; run *= 2) {
		for (int64_t first = 0; first < n; first += 2 * run) {
			int64_t end = pe_min(2 * run, n - first);
			merge(list + first, pe_min(run, end), end, scratch + first);
		}
		memcpy(list, scratch, (size_t)n * sizeof *list);
	}
}

static void put_in_order(
	const pe_domain *domain, int64_t batch, int64_t n, struct placed *list, struct placed *scratch)
{
	for (int64_t i = 0; i < n; i++)
		list[i] = (struct placed){pe_domain_position(domain, batch, i), i};
	if (domain->positions)
		sort(list, scratch, n);
}

/* ---- one head of one batch ------------------------------------------------------------- */

/* The encodings at the site rotate that act before φ, in a plan of their own, and those after it. */
struct linear {
	const struct pe_plan *plan;
	struct pe_plan before;
	struct pe_acting turns; /* they leave the width as it is */
};

static pe_status divide_rotations(struct linear *l)
{
	const struct pe_acting *all = &l->plan->rotate;
	l->before.rotate.count = 0;
	for (int i = 0; i < all->count; i++) {
		bool turns = pe_rotation_of(all->list[i]) != NULL;
		struct pe_acting *to = turns ? &l->turns : &l->before.rotate;
		if (!turns && l->turns.count > 0)
			return pe_encoding_fail(all->list[i], PE_ERR_UNSUPPORTED,
				"in linear attention it acts before, and %s after, elu + 1: name it first",
				l->turns.list[0]->encoder->table.name);
		to->list[to->count++] = all->list[i];
		for (int side = PE_QUERIES; side <= PE_VALUES; side++)
			l->before.rotated[side][l->before.rotate.count] = l->plan->rotated[side][i + 1];
	}
	return PE_OK;
}

struct work {
	const struct linear *linear;
	const struct pe_plan *plan;
	int64_t batch, head;
	double *q, *k, *v; /* φ(q), φ(k); v after the site rotate */
	double *turned_q, *turned_k;
	double *mask; /* added to the log of a key's weight; -inf hides */
	struct placed *queries, *keys, *scratch;
	double *sum, *norm; /* Σ φ(k) vᵀ (dot_width, sum_width) and Σ φ(k), each times exp(-peak) */
	double peak;        /* the greatest mask so far */
	double *row;        /* of the output */
	double *vector;     /* one of q or k, on its way */
};

static double feature(double x)
{
	return x > 0 ? x + 1 : exp(x);
}

static double key_weight(struct work *w, double mask)
{
	int64_t width = w->plan->dot_width;
	if (mask > w->peak) {
		double by = exp(w->peak - mask);
		for (int64_t i = 0; i < width * w->plan->sum_width; i++)
			w->sum[i] *= by;
		for (int64_t i = 0; i < width; i++)
			w->norm[i] *= by;
		w->peak = mask;
	}
	return exp(mask - w->peak);
}

static void take_key(struct work *w, int64_t j)
{
	int64_t width = w->plan->dot_width, sum_width = w->plan->sum_width;
	if (isinf(w->mask[j]) && w->mask[j] < 0)
		return;
	double weight = key_weight(w, w->mask[j]);
	const double *key = w->k + j * width, *turned = w->turned_k + j * width, *value = w->v + j * sum_width;
	for (int64_t d = 0; d < width; d++) {
		double *sum = w->sum + d * sum_width, f = weight * turned[d];
		w->norm[d] += weight * key[d];
		for (int64_t c = 0; c < sum_width; c++)
			sum[c] += f * value[c];
	}
}

/* Into w->row, 0 where no key is seen; returns the log of the normaliser. */
static double sum_up(const struct work *w, int64_t i)
{
	const struct pe_plan *p = w->plan;
	double norm = 0;
	memset(w->row, 0, (size_t)p->sum_width * sizeof *w->row);
	for (int64_t d = 0; d < p->dot_width; d++) {
		const double *sum = w->sum + d * p->sum_width;
		double f = w->turned_q[i * p->dot_width + d];
		norm += w->q[i * p->dot_width + d] * w->norm[d];
		for (int64_t c = 0; c < p->sum_width; c++)
			w->row[c] += f * sum[c];
	}
	bool any = norm > 0 || isnan(norm);
	for (int64_t c = 0; c < p->sum_width; c++)
		w->row[c] = any ? w->row[c] / norm : 0;
	return any ? log(norm) + w->peak : -INFINITY;
}

static void give_query(const struct work *w, int64_t i)
{
	const struct pe_plan *p = w->plan;
	double lse = sum_up(w, i);
	pe_store_f64(pe_tensor_at(&p->out, w->batch, w->head, i), p->out.dtype, p->out.strides[3], w->row, 1,
		p->sum_width);
	if (p->lse.data)
		pe_store_f64(pe_tensor_at(&p->lse, w->batch, w->head, i), p->lse.dtype, 1, &lse, 1, 1);
}

/* Queries in the order of their positions, each after the keys that it sees. */
static void sweep(struct work *w)
{
	const struct pe_plan *p = w->plan;
	int64_t taken = 0;
	w->peak = -INFINITY;
	memset(w->norm, 0, (size_t)p->dot_width * sizeof *w->norm);
	memset(w->sum, 0, (size_t)(p->dot_width * p->sum_width) * sizeof *w->sum);
	for (int64_t i = 0; i < p->queries; i++) {
		for (; taken < p->keys && (!p->causal || w->keys[taken].position <= w->queries[i].position); taken++)
			take_key(w, w->keys[taken].token);
		give_query(w, w->queries[i].token);
	}
}

/* φ of vectors that are there, and these turned. */
static void make_features(
	struct work *w, pe_side side, int64_t head, int64_t count, double *x, double *turned)
{
	int64_t width = w->plan->dot_width;
	for (int64_t i = 0; i < count * width; i++)
		turned[i] = x[i] = feature(x[i]);
	for (int64_t i = 0; i < count; i++) {
		struct pe_place at = {side, w->batch, head, i};
		for (int t = 0; t < w->linear->turns.count; t++) {
			const pe_encoding *e = w->linear->turns.list[t];
			memcpy(w->vector, turned + i * width, (size_t)width * sizeof *turned);
			e->encoder->rotate(e, &at, w->vector, width, turned + i * width);
		}
	}
}

static void load_mask(struct work *w)
{
	const struct pe_plan *p = w->plan;
	const int64_t *s = p->mask.strides;
	int64_t seen = p->key_lengths ? p->key_lengths[w->batch] : p->keys;
	memset(w->mask, 0, (size_t)p->keys * sizeof *w->mask);
	if (p->mask.data)
		pe_load_f64(w->mask, pe_tensor_at(&p->mask, w->batch, w->head, 0), p->mask.dtype, s[3], p->keys);
	bool added = p->mask.data && pe_dtype_is_float(p->mask.dtype);
	for (int64_t j = 0; j < p->keys; j++)
		if (j >= seen || (p->mask.data && !added && !(w->mask[j] > 0)))
			w->mask[j] = -INFINITY;
		else if (!added)
			w->mask[j] = 0;
}

static pe_status make_work(pe_context *ctx, struct work *w)
{
	const struct pe_plan *p = w->plan;
	int64_t longest = pe_max(p->queries, p->keys);
	w->q = pe_alloc(ctx, p->queries, (size_t)p->dot_width * sizeof *w->q);
	w->k = pe_alloc(ctx, p->keys, (size_t)p->dot_width * sizeof *w->k);
	w->turned_q = pe_alloc(ctx, p->queries, (size_t)p->dot_width * sizeof *w->q);
	w->turned_k = pe_alloc(ctx, p->keys, (size_t)p->dot_width * sizeof *w->k);
	w->vector = pe_alloc(ctx, p->dot_width, sizeof *w->vector);
	w->v = pe_alloc(ctx, p->keys, (size_t)p->sum_width * sizeof *w->v);
	w->mask = pe_alloc(ctx, p->keys, sizeof *w->mask);
	w->queries = pe_alloc(ctx, p->queries, sizeof *w->queries);
	w->keys = pe_alloc(ctx, p->keys, sizeof *w->keys);
	w->scratch = pe_alloc(ctx, longest, sizeof *w->scratch);
	w->sum = pe_alloc(ctx, p->dot_width, (size_t)p->sum_width * sizeof *w->sum);
	w->norm = pe_alloc(ctx, p->dot_width, sizeof *w->norm);
	w->row = pe_alloc(ctx, p->sum_width, sizeof *w->row);
	bool there = w->q && w->k && w->turned_q && w->turned_k && w->vector && w->v && w->mask && w->queries &&
		w->keys && w->scratch && w->sum && w->norm && w->row;
	return there ? PE_OK : PE_ERR_NOMEM;
}

static void free_work(pe_context *ctx, struct work *w)
{
	void *all[] = {w->q, w->k, w->turned_q, w->turned_k, w->vector, w->v, w->mask, w->queries, w->keys,
		w->scratch, w->sum, w->norm, w->row};
	for (int64_t i = 0; i < PE_COUNT(all); i++)
		pe_free(ctx, all[i]);
}

static pe_status attend_head(pe_context *worker, void *arg, int64_t index)
{
	const struct linear *l = arg;
	const struct pe_plan *p = l->plan;
	struct work w = {.linear = l, .plan = p, .batch = index / p->heads, .head = index % p->heads};
	int64_t key_head = w.head / (p->heads / p->key_heads);
	pe_status status = make_work(worker, &w);
	if (status == PE_OK)
		status = pe_plan_rotate_head(worker, &l->before, PE_QUERIES, w.batch, w.head, w.q);
	if (status == PE_OK)
		status = pe_plan_rotate_head(worker, &l->before, PE_KEYS, w.batch, key_head, w.k);
	if (status == PE_OK)
		status = pe_plan_rotate_head(worker, &l->before, PE_VALUES, w.batch, key_head, w.v);
	if (status == PE_OK) {
		make_features(&w, PE_QUERIES, w.head, p->queries, w.q, w.turned_q);
		make_features(&w, PE_KEYS, key_head, p->keys, w.k, w.turned_k);
		load_mask(&w);
		put_in_order(p->query_domain, w.batch, p->queries, w.queries, w.scratch);
		put_in_order(p->key_domain, w.batch, p->keys, w.keys, w.scratch);
		sweep(&w);
	}
	free_work(worker, &w);
	return status;
}

pe_status pe_attend_linear(struct pe_plan *plan)
{
	PE_TRY(check(plan));
	struct linear l = {.plan = plan, .before = *plan};
	PE_TRY(divide_rotations(&l));
	return pe_parallel(plan->ctx, plan->batch * plan->heads, attend_head, &l, "attention");
}
