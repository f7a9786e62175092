/* SPDX-License-Identifier: BSD-2-Clause */
#include "eigen_search.h"

#include <math.h>
#include <string.h>

#define LOOKS 24 /* at converged pairs, for residuals that tell close values apart */

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

pe_status pe_eigen_search_once(struct pe_eigen_search *s, const struct pe_eigen_request *request)
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
