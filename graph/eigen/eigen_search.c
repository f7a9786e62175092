/* SPDX-License-Identifier: BSD-2-Clause */
#include "eigen_search.h"

#include <math.h>
#include <string.h>

#define ATTEMPTS 6 /* searches, each for what those before have missed */
#define TRIED 8    /* pairs of a last group that are searched for before they are counted */
#define NEAR 128e-9 /* of ‖M‖₁, to an incomplete group: what lies within is not told from it by a count */
#define LOOKS 24    /* at converged pairs, for residuals that tell close values apart */

void pe_eigen_search_free(struct pe_eigen_search *s)
{
	pe_krylov_free(&s->krylov);
	pe_free(s->ctx, s->values);
	pe_free(s->ctx, s->found_values);
	pe_free(s->ctx, s->vectors);
	s->values = s->found_values = s->vectors = NULL;
}

/* A fresh basis for a search for k pairs, with what was found kept out of it. */
static pe_status prepare(struct pe_eigen_search *s, int32_t k)
{
	uint64_t drawn = s->krylov.drawn;
	int64_t capacity = 2 * (int64_t)k + s->spare + s->found;
	pe_krylov_free(&s->krylov);
	pe_free(s->ctx, s->values);
	s->values = NULL;
	PE_TRY(pe_krylov_create(s->ctx, s->problem->n, (int32_t)pe_min(capacity, s->problem->n), s->block,
		s->problem->null, s->request->stream, &s->krylov));
	s->krylov.drawn = drawn;
	s->krylov.apply = s->apply;
	s->krylov.arg = s->arg;
	s->values = pe_alloc(s->ctx, s->krylov.capacity, 3 * sizeof *s->values);
	if (!s->values)
		return PE_ERR_NOMEM;
	s->residuals = s->values + s->krylov.capacity;
	s->errors = s->residuals + s->krylov.capacity;
	if (s->found > 0)
		pe_krylov_fix(&s->krylov, s->found, s->vectors);
	pe_krylov_start(&s->krylov);
	return PE_OK;
}

static pe_status look(struct pe_eigen_search *s, struct pe_eigen_estimate *out)
{
	struct pe_krylov *k = &s->krylov;
	PE_TRY(pe_krylov_ritz(k));
	int32_t count = 0;
	while (count < k->active &&
		s->transform->map(k->arg, k->theta[count], k->error[count], &s->values[count], &s->residuals[count],
			&s->errors[count]))
		count++;
	*out = (struct pe_eigen_estimate){.count = count,
		.values = s->values,
		.residuals = s->residuals,
		.errors = s->errors,
		.all = k->pending == 0};
	return PE_OK;
}

static double worst(const double *residuals, int64_t count)
{
	double most = 0;
	for (int64_t j = 0; j < count; j++)
		most = residuals[j] <= most ? most : residuals[j];
	return most;
}

/* Adds the first `count` Ritz vectors to what was found; but if their residuals are too large, only if
 * `anyway`. */
static pe_status take(struct pe_eigen_search *s, int32_t count, bool anyway)
{
	int64_t n = s->problem->n, total = s->found + count;
	if (count == 0)
		return PE_OK;
	double *vectors = pe_alloc(s->ctx, total, (size_t)n * sizeof *vectors);
	double *values = pe_alloc(s->ctx, total, 2 * sizeof *values);
	pe_status status = PE_ERR_NOMEM;
	if (!vectors || !values)
		goto done;
	if (s->found > 0)
		memcpy(vectors, s->vectors, (size_t)s->found * (size_t)n * sizeof *vectors);
	pe_krylov_vectors(&s->krylov, count, vectors + s->found * n);
	status = pe_eigen_refine(s->ctx, s->problem, (int32_t)total, vectors, values, values + total);
	if (status != PE_OK)
		goto done;
	s->converged = worst(values + total, total) <= s->request->tolerance;
	if (s->converged || anyway) {
		double *old_vectors = s->vectors, *old_values = s->found_values;
		s->vectors = vectors;
		s->found_values = values;
		s->found_residuals = values + total;
		s->found = (int32_t)total;
		vectors = old_vectors;
		values = old_values;
	}
done:
	pe_free(s->ctx, vectors);
	pe_free(s->ctx, values);
	return status;
}

/* Columns to take for `count` pairs. Of an exhausted space all: it is the whole space, in which M tells its
 * pairs better than the operator, whose values of the far end are lost in rounding. */
static int32_t columns_for(const struct pe_eigen_search *s, const struct pe_eigen_estimate *e, int32_t count)
{
	return e->all ? s->krylov.active : count;
}

/* The wanted pairs and those that are equal to the last of them, as the estimates show it. */
static int32_t count_group(const struct pe_eigen_search *s, const struct pe_eigen_request *request,
	const struct pe_eigen_estimate *e)
{
	int32_t count = (int32_t)pe_min(request->k, e->count);
	int64_t limit = pe_min(e->count, (int64_t)request->k + request->max_group + 1);
	while (count > 0 && count < limit && pe_eigen_one_group(s->problem, e, count))
		count++;
	return count;
}

/* Takes what is converged by the estimates. If the true residuals contradict, the estimates must become
 * smaller, until they are below all rounding. */
static pe_status try_to_finish(struct pe_eigen_search *s, const struct pe_eigen_request *request,
	const struct pe_eigen_estimate *e, bool *finished)
{
	bool complete;
	int32_t count = pe_eigen_settle(s->problem, request, e, s->bound, &complete);
	if (count == 0)
		return PE_OK;
	/* An invariant subspace shows one vector of each of its eigenvalues. The random columns that continue the
	 * basis may show more: they are waited for until they do not. */
	int32_t group = count_group(s, request, e);
	bool growing = s->krylov.replaced > 0 && group != s->last_group;
	s->last_group = group;
	if (growing && !e->all)
		return PE_OK;
	if (!e->all && s->looks > 0 && pe_eigen_is_blurred(s->problem, e, complete ? count : request->k)) {
		s->looks--;
		return PE_OK;
	}
	bool last = s->bound < 1e-17 * s->problem->norm1 || e->all;
	PE_TRY(take(s, columns_for(s, e, count), last));
	s->above = count < e->count && !e->all ? e->values[count] - e->errors[count] : INFINITY;
	*finished = s->converged || last;
	s->bound *= 0.1;
	return PE_OK;
}

/* Steps until the basis is full, the space exhausted, the search finished, or the operator changed; looks at
 * the estimates now and then. */
static pe_status fill_basis(struct pe_eigen_search *s, const struct pe_eigen_request *request,
	struct pe_eigen_estimate *e, bool *finished, bool *changed)
{
	struct pe_krylov *k = &s->krylov;
	int32_t next = (int32_t)pe_max(s->first_look, request->k + 1);
	while (pe_krylov_can_step(k) && !*finished && !*changed) {
		PE_TRY(pe_krylov_step(k));
		if (k->active < next && pe_krylov_can_step(k))
			continue;
		next = k->active + k->active / 16 + 1;
		PE_TRY(look(s, e));
		PE_TRY(try_to_finish(s, request, e, finished));
		if (!*finished && s->transform->adapt && k->pending > 0)
			PE_TRY(s->transform->adapt(s, e, changed));
	}
	return PE_OK;
}

/* Between two fillings of the basis: keeps what is best, in a larger basis if the last group needs it. */
static pe_status restart(struct pe_eigen_search *s, const struct pe_eigen_request *request,
	const struct pe_eigen_estimate *e, bool changed)
{
	struct pe_krylov *k = &s->krylov;
	if (changed)
		return pe_krylov_reseed(k);
	int64_t group = count_group(s, request, e), room = (int64_t)k->capacity - k->fixed - 3 * k->block;
	if (group + k->block > room && !s->enlarged) {
		s->enlarged = true;
		s->applied += k->applied;
		return prepare(s, request->k + request->max_group + 1);
	}
	int64_t keep = pe_min(pe_min(group + group / 2 + k->block, room), e->count);
	return pe_krylov_restart(k, (int32_t)pe_max(keep, 1));
}

/* One search for request->k pairs besides those found. */
static pe_status search(struct pe_eigen_search *s, const struct pe_eigen_request *request)
{
	struct pe_eigen_estimate e = {0};
	bool finished = false;
	s->bound = 0.5 * request->tolerance * s->problem->norm1;
	s->converged = s->enlarged = false;
	s->last_group = 0;
	s->looks = LOOKS;
	PE_TRY(prepare(s, request->k));
	for (s->restarted = 0;; s->restarted++) {
		bool changed = false;
		PE_TRY(fill_basis(s, request, &e, &finished, &changed));
		if (finished || s->krylov.pending == 0 || s->restarted == s->restarts)
			break;
		PE_TRY(restart(s, request, &e, changed));
	}
	if (!finished)
		PE_TRY(take(s, columns_for(s, &e, (int32_t)pe_min(request->k, e.count)), true));
	s->applied += s->krylov.applied;
	return PE_OK;
}

/* Are the found pairs j - 1 and j of one group? */
static bool found_one_group(const struct pe_eigen_search *s, int32_t j)
{
	double residual = fmax(s->found_residuals[j - 1], s->found_residuals[j]);
	return s->found_values[j] - s->found_values[j - 1] <= s->problem->norm1 * pe_eigen_group_gap(residual);
}

/* The interval between neighbouring values, in which a count tells whether something was missed: after the
 * pairs to hand out, or close before an incomplete group. */
static void interval(
	const struct pe_eigen_search *s, int32_t count, bool complete, double *below, double *above)
{
	const double *values = s->found_values;
	if (complete) {
		*below = values[count - 1];
		*above = count < s->found ? values[count] : s->above;
		if (!(*above < INFINITY))
			*above = *below + 0.01 * s->problem->norm1;
		return;
	}
	int32_t first = count - 1;
	while (first > 0 && found_one_group(s, first))
		first--;
	*above = values[first];
	*below = first > 0 ? values[first - 1] : *above - 0.01 * s->problem->norm1;
	*below = fmax(*below, *above - NEAR * s->problem->norm1);
	if (*below < 0 && *above > 0 && first == 0)
		*below = 0;
}

/* Pairs that were found, and the 0 that is known, below a point. */
static int64_t count_known(const struct pe_eigen_search *s, double point)
{
	int64_t count = point > 0;
	for (int32_t j = 0; j < s->found; j++)
		count += s->found_values[j] < point;
	return count;
}

/* How many of those found to hand out. */
static pe_status choose(const struct pe_eigen_search *s, int32_t *count, bool *complete)
{
	int64_t all = s->problem->n - 1;
	int64_t size = (int64_t)s->found + 1;
	double *values = pe_alloc_zero(s->ctx, size, 3 * sizeof *values);
	if (!values)
		return PE_ERR_NOMEM;
	double *residuals = values + size, *zeros = residuals + size;
	memcpy(values, s->found_values, (size_t)s->found * sizeof *values);
	values[s->found] = s->above;
	for (int32_t j = 0; j < s->found; j++)
		residuals[j] = s->found_residuals[j] * s->problem->norm1;
	struct pe_eigen_estimate e = {.count = s->found + (s->found < all && s->above < INFINITY),
		.values = values,
		.residuals = residuals,
		.errors = zeros,
		.all = s->found == all};
	*count = pe_eigen_settle(s->problem, s->request, &e, INFINITY, complete);
	if (*count == 0) {
		*count = (int32_t)pe_min(s->found, s->request->k);
		*complete = false;
	}
	pe_free(s->ctx, values);
	return PE_OK;
}

/* Counts; *missing is how many pairs there are more than were found, or -1 if the count does not tell. */
static pe_status certify(struct pe_eigen_search *s, struct pe_sparse_factor *factor, int32_t count,
	bool complete, int64_t *missing)
{
	double below, above, point;
	int64_t counted;
	bool valid = false;
	*missing = -1;
	if (s->found == s->problem->n - 1) {
		*missing = 0;
		return PE_OK;
	}
	interval(s, count, complete, &below, &above);
	PE_TRY(pe_eigen_count_below(s->ctx, factor, below, above, &point, &counted, &valid));
	if (valid && counted >= count_known(s, point))
		*missing = counted - count_known(s, point);
	return PE_OK;
}

static pe_status hand_out(struct pe_eigen_search *s, int32_t count, struct pe_eigen_result *out)
{
	out->count = count;
	out->products = s->applied;
	out->values = pe_alloc(s->ctx, count, 2 * sizeof *out->values);
	if (!out->values)
		return PE_ERR_NOMEM;
	out->residuals = out->values + count;
	memcpy(out->values, s->found_values, (size_t)count * sizeof *out->values);
	memcpy(out->residuals, s->found_residuals, (size_t)count * sizeof *out->residuals);
	out->vectors = s->vectors;
	s->vectors = NULL;
	return PE_OK;
}

/* Found values that are at most `last`, or in its group. */
static int32_t count_up_to(const struct pe_eigen_search *s, double last)
{
	int32_t count = 0;
	while (count < s->found && s->found_values[count] <= last + PE_GROUP_GAP * s->problem->norm1)
		count++;
	return count;
}

/* A block of b random vectors shows b vectors of an eigenvalue at the most: is some group as large as that,
 * so that there may be more of it? */
static bool is_crowded(const struct pe_eigen_search *s)
{
	int32_t run = 1;
	for (int32_t j = 1; j < s->found && run < s->block; j++)
		run = found_one_group(s, j) ? run + 1 : 1;
	return s->found > 0 && run >= s->block;
}

/* Without a count: searches from fresh random vectors in what is left of the space, until that shows nothing
 * more among the pairs to hand out. */
static pe_status probe(struct pe_eigen_search *s, int32_t *count, bool *complete)
{
	struct pe_eigen_request request = *s->request;
	int64_t all = s->problem->n - 1, most = (int64_t)s->request->k + s->request->max_group;
	request.max_group = 0;
	while (s->converged && is_crowded(s) && s->found + s->block < all) {
		double last = s->found_values[*count - 1];
		int32_t before = count_up_to(s, last);
		if (before > most)
			break;
		request.k = (int32_t)pe_min(s->block, all - s->found);
		PE_TRY(search(s, &request));
		PE_TRY(choose(s, count, complete));
		if (count_up_to(s, last) == before)
			break;
	}
	return PE_OK;
}

/* How many pairs there are besides those found that may be of the last group: all up to what is surely beyond
 * it, which must be far enough for a factor; or as many as could be handed out, where no count tells. */
static pe_status count_rest(
	struct pe_eigen_search *s, struct pe_sparse_factor *factor, int32_t count, int64_t room, int64_t *rest)
{
	double last = s->found_values[count - 1], width = NEAR / 32 * s->problem->norm1, point;
	int64_t counted;
	bool valid = false;
	*rest = room;
	for (int32_t tries = 0; tries < 2 && !valid; tries++, width *= 32)
		PE_TRY(pe_eigen_count_below(s->ctx, factor, last, last + width, &point, &counted, &valid));
	if (valid)
		*rest = counted - count_known(s, point);
	return PE_OK;
}

/* Counts what the last search has missed, and, of a last group that is not complete, what there is more.
 * *more is how many pairs to search for, 0 if that is all. Of more than could be handed out no more is needed
 * than to know that they are in the last group or above: it is then cut at what is wanted, and not complete.
 */
static pe_status look_for_more(struct pe_eigen_search *s, struct pe_sparse_factor *factor, int32_t *count,
	bool *complete, int64_t *missing, int64_t *more)
{
	int64_t limit = pe_min((int64_t)s->request->k + s->request->max_group + 1, s->problem->n - 1);
	int64_t room = pe_max(limit - s->found, 0);
	*more = 0;
	PE_TRY(certify(s, factor, *count, *complete, missing));
	if (*missing > room && *complete) {
		*complete = false;
		*count = s->request->k;
		PE_TRY(certify(s, factor, *count, false, missing));
	}
	if (*missing > 0)
		*more = pe_min(*missing, room);
	if (*missing != 0 || *complete || room == 0)
		return PE_OK;
	PE_TRY(count_rest(s, factor, *count, room, more));
	if (*more > room)
		*more = 0;
	return PE_OK;
}

/* With a count a last group is tried for a few pairs more than are wanted, and then its size is known. */
pe_status pe_eigen_search_run(struct pe_eigen_search *s, struct pe_sparse_factor *factor,
	pe_status (*refactor)(struct pe_eigen_search *), struct pe_eigen_result *out)
{
	struct pe_eigen_request request = *s->request;
	int32_t count;
	int64_t missing = -1, more = 0;
	bool counts = factor && s->request->certify;
	if (counts)
		request.max_group = (int32_t)pe_min(request.max_group, TRIED);
	for (int32_t attempt = 0;; attempt++) {
		PE_TRY(search(s, &request));
		PE_TRY(choose(s, &count, &out->complete));
		if (!s->converged || !counts)
			break;
		PE_TRY(look_for_more(s, factor, &count, &out->complete, &missing, &more));
		if (more <= 0 || attempt == ATTEMPTS - 1)
			break;
		request.k = (int32_t)more;
		request.max_group = 0;
		if (refactor)
			PE_TRY(refactor(s));
	}
	if (missing < 0)
		PE_TRY(probe(s, &count, &out->complete));
	out->converged = s->converged;
	out->certified = s->converged && missing == 0;
	if (!s->converged)
		out->complete = false;
	return hand_out(s, count, out);
}
