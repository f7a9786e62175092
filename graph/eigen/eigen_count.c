/* SPDX-License-Identifier: BSD-2-Clause
 * Searches until nothing is missed: by a count of the eigenvalues below a point, which the inertia of a
 * factorisation gives, or without one by searching again. */
#include <math.h>
#include <string.h>

#include "eigen_search.h"

#define ATTEMPTS 6 /* searches, each for what those before have missed */
#define TRIED 8    /* pairs of a last group that are searched for before they are counted */
#define NEAR 128e-9 /* of ‖M‖₁, to an incomplete group: what lies within is not told from it by a count */

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
		PE_TRY(pe_eigen_search_once(s, &request));
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
		PE_TRY(pe_eigen_search_once(s, &request));
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
	if (missing < 0) {
		if (counts && s->converged && refactor)
			PE_TRY(refactor(s));
		PE_TRY(probe(s, &count, &out->complete));
	}
	out->converged = s->converged;
	out->certified = s->converged && missing == 0;
	if (!s->converged)
		out->complete = false;
	return hand_out(s, count, out);
}
