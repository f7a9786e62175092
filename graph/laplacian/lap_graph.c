/* SPDX-License-Identifier: BSD-2-Clause */
#include "lap_graph.h"

#include <math.h>

#include "canonical.h"
#include "eigen_merge.h"
#include "lap_quality.h"
#include "rng.h"

/* Streams of random signs: "lap" in the upper bytes, the graph's number below. */
#define SIGN_STREAM 0x6c61700000000000u

double pe_lap_fill(const struct pe_lap_options *options)
{
	return options->pad == PE_LAP_PAD_ZERO ? 0 : NAN;
}

bool pe_lap_is_local(pe_status status)
{
	return status == PE_ERR_NOT_CONVERGED || status == PE_ERR_NOT_CERTIFIED || status == PE_ERR_RANGE ||
		status == PE_ERR_UNSUPPORTED;
}

/* ---- memory ------------------------------------------------------------------------- */

void pe_lap_work_free(pe_context *ctx, struct pe_lap_work *work)
{
	pe_free(ctx, work->pairs);
	pe_free(ctx, work->result.rows);
	pe_free(ctx, work->result.values);
	pe_free(ctx, work->result.group);
	pe_free(ctx, work->scratch);
	*work = (struct pe_lap_work){0};
}

static pe_status reserve_result(pe_context *ctx, int64_t n, int32_t k, struct pe_lap_work *work)
{
	struct pe_lap_result *r = &work->result;
	if (!r->values && !(r->values = pe_alloc(ctx, k, sizeof *r->values)))
		return PE_ERR_NOMEM;
	if (!r->group && !(r->group = pe_alloc(ctx, k, sizeof *r->group)))
		return PE_ERR_NOMEM;
	if (!work->scratch && !(work->scratch = pe_alloc(ctx, k, sizeof *work->scratch)))
		return PE_ERR_NOMEM;
	int64_t need;
	if (!pe_mul(n, k, &need))
		return pe_fail(ctx, PE_ERR_NOMEM, "the eigenvectors do not fit in memory");
	PE_TRY(pe_grow(ctx, &r->rows, &work->row_capacity, 0, need, sizeof *r->rows));
	r->vectors = r->rows;
	return PE_OK;
}

pe_status pe_lap_pad_all(
	pe_context *ctx, const struct pe_lap_options *options, int64_t n, struct pe_lap_work *work)
{
	PE_TRY(reserve_result(ctx, n, options->k, work));
	struct pe_lap_result *r = &work->result;
	double fill = pe_lap_fill(options);
	for (int64_t i = 0; i < n * options->k; i++)
		r->rows[i] = fill;
	for (int32_t j = 0; j < options->k; j++) {
		r->values[j] = fill;
		r->group[j] = -1;
	}
	r->columns = 0;
	r->residual = r->orthogonality = 0;
	r->certified = r->split = false;
	return PE_OK;
}

/* ---- from solutions to the result --------------------------------------------------- */

/* Pairs that stand for a class of twins: as many as columns may be; none where the component has enough
 * others of smaller values. */
static int64_t count_class(
	const struct pe_lap_options *options, const struct pe_lap_task *task, int32_t c, int32_t class)
{
	const struct pe_laplacian *l = &task->laplacian;
	const struct pe_lap_solution *s = &task->solutions[c];
	double value = l->diag[l->start[c] + s->twins.member[s->twins.start[class]]];
	if (s->count > options->k && value > s->values[s->count - 1] + PE_GROUP_GAP * l->norm1[c])
		return 0;
	return pe_min(pe_twins_size(&s->twins, class) - 1, (int64_t)options->k + 1);
}

static int64_t count_twins(const struct pe_lap_options *options, const struct pe_lap_task *task, int32_t c)
{
	const struct pe_twins *twins = &task->solutions[c].twins;
	int64_t count = 0;
	for (int32_t t = 0; t < twins->classes; t++)
		count += pe_twins_size(twins, t) > 1 ? count_class(options, task, c, t) : 0;
	return count;
}

static int64_t gather_twins(
	const struct pe_lap_options *options, const struct pe_lap_task *task, int32_t c, struct pe_pair *out)
{
	const struct pe_laplacian *l = &task->laplacian;
	const struct pe_twins *twins = &task->solutions[c].twins;
	int64_t count = 0;
	for (int32_t t = 0; t < twins->classes; t++) {
		const int32_t *members = twins->member + twins->start[t];
		int32_t size = pe_twins_size(twins, t);
		int64_t pairs = size > 1 ? count_class(options, task, c, t) : 0;
		for (int64_t j = 0; j < pairs; j++)
			out[count++] = (struct pe_pair){.value = l->diag[l->start[c] + members[0]],
				.norm1 = l->norm1[c],
				.component = c,
				.twins = {members, size},
				.open = pairs < size - 1};
	}
	return count;
}

static int64_t gather_component(
	const struct pe_lap_options *options, const struct pe_lap_task *task, int32_t c, struct pe_pair *out)
{
	const struct pe_laplacian *l = &task->laplacian;
	const struct pe_lap_solution *s = &task->solutions[c];
	struct pe_pair pair = {.component = c, .norm1 = l->norm1[c], .vector = l->null + l->start[c], .step = 1};
	int64_t count = 0;
	if (!l->zero[c] || options->zero != PE_LAP_DROP) {
		pair.zero = l->zero[c];
		pair.value = pair.zero ? 0 : 1;
		out[count++] = pair;
	}
	pair.zero = false;
	pair.step = s->entry_step;
	for (int32_t j = 0; j < s->count; j++) {
		pair.vector = s->vectors + j * s->vector_step;
		/* A rounded value below 0 of a matrix that has none is 0. */
		pair.value = l->negative ? s->values[j] : fmax(s->values[j], 0);
		pair.residual = s->residuals ? s->residuals[j] : s->residual;
		pair.open = j == s->count - 1 && !s->complete;
		out[count++] = pair;
	}
	return count + gather_twins(options, task, c, out + count);
}

static pe_status gather(pe_context *ctx, const struct pe_lap_options *options, const struct pe_lap_task *task,
	struct pe_lap_work *work, int64_t *count)
{
	int32_t components = task->laplacian.components;
	int64_t most = 0;
	for (int32_t c = 0; c < components; c++)
		most += 1 + task->solutions[c].count + count_twins(options, task, c);
	PE_TRY(pe_grow(ctx, &work->pairs, &work->pair_capacity, 0, most, sizeof *work->pairs));
	*count = 0;
	for (int32_t c = 0; c < components; c++)
		*count += gather_component(options, task, c, work->pairs + *count);
	pe_pairs_sort(work->pairs, *count);
	return PE_OK;
}

/* Orders, groups and chooses among the pairs of all components. */
static pe_status merge(pe_context *ctx, const struct pe_lap_options *options, const struct pe_lap_task *task,
	struct pe_lap_work *work)
{
	const struct pe_laplacian *l = &task->laplacian;
	struct pe_lap_result *r = &work->result;
	int64_t count, skip = options->zero == PE_LAP_DROP_FIRST;
	PE_TRY(gather(ctx, options, task, work, &count));
	const struct pe_pair *pairs = work->pairs;
	struct pe_pair_range range = pe_pairs_choose(pairs, count, skip, options->k, options->whole_groups);
	r->columns = (int32_t)(range.end - range.first);
	r->split = range.split;
	for (int32_t j = 0; j < r->columns; j++) {
		r->values[j] = pairs[range.first + j].value;
		r->group[j] = pairs[range.first + j].group - pairs[range.first].group;
	}
	PE_TRY(pe_pairs_write(ctx, l, pairs, count, range, r->rows, options->k));
	r->residual = pe_lap_residual(l, r->rows, options->k, r->values, r->columns, work->scratch);
	r->orthogonality = pe_lap_orthogonality(r->rows, l->n, options->k, r->columns);
	return PE_OK;
}

/* A connected graph solved in lanes, no two values equal, nothing to merge: most molecules. */
static bool is_plain(const struct pe_lap_options *options, const struct pe_lap_task *task)
{
	const struct pe_lap_solution *s = task->solutions;
	if (task->laplacian.components != 1 || task->laplacian.negative || options->zero != PE_LAP_DROP ||
		!s->complete || !s->in_lanes || s->count > options->k)
		return false;
	double gap = PE_GROUP_GAP * task->laplacian.norm;
	for (int32_t j = 1; j < s->count; j++)
		if (s->values[j] - s->values[j - 1] <= gap)
			return false;
	return true;
}

static void copy_plain(
	const struct pe_lap_options *options, const struct pe_lap_task *task, struct pe_lap_result *r)
{
	const struct pe_lap_solution *s = task->solutions;
	r->columns = s->count;
	r->split = false;
	r->residual = s->residual;
	r->orthogonality = s->orthogonality;
	for (int32_t j = 0; j < s->count; j++) {
		r->values[j] = s->values[j] > 0 ? s->values[j] : 0;
		r->group[j] = j;
	}
	bool as_they_are = s->count == options->k && s->entry_step == options->k &&
		options->normalization != PE_LAP_RW && options->sign != PE_LAP_RANDOM;
	if (as_they_are)
		r->vectors = s->vectors;
	for (int64_t i = 0; !as_they_are && i < task->laplacian.n; i++)
		for (int32_t j = 0; j < s->count; j++)
			r->rows[i * options->k + j] = s->vectors[i * s->entry_step + j];
}

/* v = D^-½ u, unit again. A node without degree stands alone in its vector, as it is. */
static void to_random_walk(
	const struct pe_laplacian *l, int32_t k, int32_t columns, double *rows, double *sum)
{
	for (int32_t j = 0; j < columns; j++)
		sum[j] = 0;
	for (int32_t p = 0; p < l->n; p++) {
		double *row = rows + (int64_t)l->order[p] * k;
		double factor = l->degree[p] > 0 ? 1 / sqrt(l->degree[p]) : 1;
		for (int32_t j = 0; j < columns; j++) {
			row[j] *= factor;
			sum[j] += row[j] * row[j];
		}
	}
	for (int32_t j = 0; j < columns; j++)
		sum[j] = 1 / sqrt(sum[j]);
	for (int64_t i = 0; i < l->n; i++)
		for (int32_t j = 0; j < columns; j++)
			rows[i * k + j] *= sum[j];
}

static void set_sign(pe_context *ctx, const struct pe_lap_options *options, const struct pe_lap_task *task,
	const struct pe_lap_result *r)
{
	int64_t n = task->laplacian.n;
	if (options->sign == PE_LAP_AS_SOLVED || r->vectors != r->rows)
		return;
	pe_canonical_sign(r->rows, n, options->k, r->columns);
	if (options->sign == PE_LAP_CANONICAL)
		return;
	for (int32_t j = 0; j < r->columns; j++)
		if (pe_rng_u64(ctx->seed, SIGN_STREAM + (uint64_t)(options->number + task->graph), (uint64_t)j) & 1)
			for (int64_t i = 0; i < n; i++)
				r->rows[i * options->k + j] = 0.0 - r->rows[i * options->k + j];
}

static void fill_columns(const struct pe_lap_options *options, int64_t n, const struct pe_lap_result *r)
{
	double fill = pe_lap_fill(options);
	int32_t k = options->k;
	for (int32_t j = r->columns; j < k; j++) {
		r->values[j] = fill;
		r->group[j] = -1;
	}
	for (int64_t i = 0; r->columns < k && i < n; i++)
		for (int32_t j = r->columns; j < k; j++)
			r->rows[i * k + j] = fill;
}

/* What is wrong with the result, if something is. */
static pe_status judge(pe_context *ctx, const struct pe_lap_options *options, const struct pe_lap_task *task,
	const struct pe_lap_result *r)
{
	const struct pe_laplacian *l = &task->laplacian;
	for (int32_t c = 0; c < l->components; c++)
		if (task->solutions[c].values && !task->solutions[c].converged)
			return pe_fail(ctx, PE_ERR_NOT_CONVERGED,
				"the eigenvectors of a component of %d nodes did not reach the tolerance, %.2g of its norm; "
				"the largest residual is %.2g of the whole graph's",
				(int)pe_laplacian_size(l, c), options->tolerance, r->residual);
	if (!(r->residual <= options->max_residual))
		return pe_fail(ctx, PE_ERR_NOT_CONVERGED, "the largest residual, %.2g, is above max_residual=%.2g",
			r->residual, options->max_residual);
	if (options->certify == PE_LAP_CERTIFY_REQUIRE && !r->certified)
		return pe_fail(ctx, PE_ERR_NOT_CERTIFIED,
			"there is no proof that no eigenvalue was skipped, and certify=require asks for one");
	if (options->pad == PE_LAP_PAD_ERROR && r->columns < options->k)
		return pe_fail(ctx, PE_ERR_RANGE,
			"k=%d eigenvectors are wanted and there are %d (%d nodes, %d components); pad=zero or "
			"pad=nan fills the rest",
			(int)options->k, (int)r->columns, (int)l->n, (int)l->components);
	return PE_OK;
}

pe_status pe_lap_finish(pe_context *ctx, const struct pe_lap_options *options, const struct pe_lap_task *task,
	struct pe_lap_work *work)
{
	const struct pe_laplacian *l = &task->laplacian;
	struct pe_lap_result *r = &work->result;
	PE_TRY(reserve_result(ctx, l->n, options->k, work));
	if (is_plain(options, task))
		copy_plain(options, task, r);
	else
		PE_TRY(merge(ctx, options, task, work));
	r->certified = true;
	for (int32_t c = 0; c < l->components; c++)
		r->certified &= !task->solutions[c].values || task->solutions[c].certified;
	if (options->normalization == PE_LAP_RW)
		to_random_walk(l, options->k, r->columns, r->rows, work->scratch);
	set_sign(ctx, options, task, r);
	fill_columns(options, l->n, r);
	return judge(ctx, options, task, r);
}
