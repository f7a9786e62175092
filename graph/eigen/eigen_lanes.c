/* SPDX-License-Identifier: BSD-2-Clause
 * Many small eigenproblems: cut into batches for lib/kernels/lane_eigen.h, loaded, and judged. */
#include "eigen_lanes.h"

#include <math.h>
#include <string.h>

#include "lane_load.h"

/* How far VᵀV may be from I, and, per row, the sums of λ and λ² from the trace and the Frobenius norm. */
#define ORTHOGONALITY_LIMIT 1e-12
#define SPECTRUM_LIMIT 1e-13

struct block {
	double *data;
	int64_t capacity;
};

struct pe_lanes {
	struct block batch;     /* arrays for the eigenvalues of a batch */
	struct block rotations; /* arrays for its vectors */
	struct block store;     /* results */
	int64_t stored;
	int64_t *sorted; /* problems in the order of n */
	int64_t *offset; /* of each problem's result in store */
	int64_t problems;
};

struct lane {
	int64_t problem;
	struct pe_lane_matrix matrix;
	bool complete;
};

struct job {
	const struct pe_kernels *kernels;
	const struct pe_eigen_problem *problems;
	const struct pe_eigen_request *request;
	struct pe_lanes_result *results;
	struct pe_lanes *lanes;
	int64_t taken; /* problems in lanes->sorted */
	struct pe_lane_batch batch;
	struct lane lane[PE_LANE_MAX];
	_Alignas(64) double h_last[PE_LANE_MAX];
	_Alignas(64) double h_beta[PE_LANE_MAX];
	_Alignas(64) double orthogonality[PE_LANE_MAX];
	_Alignas(64) double gaps[PE_LANE_MAX];
	double sum[PE_LANE_MAX], sum_squares[PE_LANE_MAX];
	double *out[PE_LANE_MAX], *final[PE_LANE_MAX];
	int32_t orders[PE_LANE_MAX], counts[PE_LANE_MAX], strides[PE_LANE_MAX];
	bool failed[PE_LANE_MAX];
};

static int64_t lane_count(const struct job *job)
{
	return (int64_t)job->kernels->lane_width * job->kernels->lane_packs;
}

pe_status pe_lanes_create(pe_context *ctx, struct pe_lanes **out)
{
	struct pe_lanes *lanes = pe_alloc_zero(ctx, 1, sizeof *lanes);
	if (!lanes)
		return PE_ERR_NOMEM;
	*out = lanes;
	return PE_OK;
}

void pe_lanes_destroy(pe_context *ctx, struct pe_lanes **lanes)
{
	if (!*lanes)
		return;
	pe_free(ctx, (*lanes)->batch.data);
	pe_free(ctx, (*lanes)->rotations.data);
	pe_free(ctx, (*lanes)->store.data);
	pe_free(ctx, (*lanes)->sorted);
	pe_free(ctx, (*lanes)->offset);
	pe_free(ctx, *lanes);
	*lanes = NULL;
}

/* Room for need doubles; what was there is lost. */
static pe_status reserve(pe_context *ctx, struct block *block, int64_t need)
{
	if (need <= block->capacity)
		return PE_OK;
	pe_free(ctx, block->data);
	block->capacity = 0;
	block->data = pe_alloc(ctx, need, sizeof *block->data);
	if (!block->data)
		return PE_ERR_NOMEM;
	block->capacity = need;
	return PE_OK;
}

static pe_status reserve_problems(pe_context *ctx, struct pe_lanes *lanes, int64_t count)
{
	if (count <= lanes->problems)
		return PE_OK;
	lanes->problems = 0;
	pe_free(ctx, lanes->sorted);
	pe_free(ctx, lanes->offset);
	lanes->offset = NULL;
	lanes->sorted = pe_alloc(ctx, count, sizeof *lanes->sorted);
	if (lanes->sorted)
		lanes->offset = pe_alloc(ctx, count, sizeof *lanes->offset);
	if (!lanes->offset)
		return PE_ERR_NOMEM;
	lanes->problems = count;
	return PE_OK;
}

/* Hands out consecutive pieces of a block. */
static double *take(double **at, int64_t count)
{
	double *piece = *at;
	*at += count;
	return piece;
}

static int64_t batch_doubles(int64_t lanes, int64_t order)
{
	return lanes * (order * (order + 1) / 2 + 3 * order + 2 * (order + 1) + 3 * (order + 4));
}

static void lay_out_batch(struct job *job, int64_t order)
{
	struct pe_lane_batch *batch = &job->batch;
	int64_t lanes = lane_count(job);
	double *at = job->lanes->batch.data;
	*batch = (struct pe_lane_batch){
		.order = (int32_t)order,
		.orders = job->orders,
		.a = take(&at, lanes * (order * (order + 1) / 2)),
		.h_last = job->h_last,
		.h_beta = job->h_beta,
		.wanted = job->request->k,
		.gaps = job->gaps,
		.sum = job->sum,
		.sum_squares = job->sum_squares,
		.failed = job->failed,
		.orthogonality = job->orthogonality,
		.counts = job->counts,
		.strides = job->strides,
		.out = job->out,
		.final = job->final,
		.sorted = (int32_t)pe_min(order, (int64_t)job->request->k + 1),
	};
	double **arrays[] = {&batch->h, &batch->w, &batch->beta};
	for (size_t i = 0; i < 3; i++)
		*arrays[i] = take(&at, lanes * order);
	batch->d = take(&at, lanes * (order + 1));
	batch->e = take(&at, lanes * (order + 1));
	batch->shifted = take(&at, lanes * (order + 4));
	batch->squares = take(&at, lanes * (order + 4));
	batch->values = take(&at, lanes * (order + 4));
}

/* Inlined always: a function that only prefetches may be taken for one without effect. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE void prefetch(const void *from, int64_t bytes)
{
	for (int64_t i = 0; i < bytes; i += 64)
		__builtin_prefetch((const char *)from + i);
}

/* Neighbours in the order of n are far apart in memory. They are called for ahead of their use: the
 * structure three batches, then what it points to, then what that points to. at: of this lane. */
ALWAYS_INLINE void prefetch_ahead(const struct job *job, int64_t at, int64_t step)
{
	const int64_t *sorted = job->lanes->sorted, end = job->taken;
	if (at + 3 * step < end)
		prefetch(&job->problems[sorted[at + 3 * step]], sizeof *job->problems);
	if (at + 2 * step < end) {
		const struct pe_eigen_problem *p = &job->problems[sorted[at + 2 * step]];
		prefetch(p->row, (p->n + 1) * (int64_t)sizeof *p->row);
		prefetch(p->diag, p->n * (int64_t)sizeof *p->diag);
		prefetch(p->null, p->n * (int64_t)sizeof *p->null);
	}
	if (at + step < end) {
		const struct pe_eigen_problem *p = &job->problems[sorted[at + step]];
		int64_t first = p->row[0], entries = p->row[p->n] - first;
		prefetch(p->col + first, entries * (int64_t)sizeof *p->col);
		prefetch(p->val + first, entries * (int64_t)sizeof *p->val);
	}
}

static void load_lane(struct job *job, int64_t l, int64_t index)
{
	const struct pe_eigen_problem *problem = &job->problems[index];
	struct lane *lane = &job->lane[l];
	lane->problem = index;
	lane->matrix = pe_lane_load(job->kernels, &job->batch, l, problem);
	job->orders[l] = problem->n - 1;
	job->h_last[l] = lane->matrix.h_last;
	job->h_beta[l] = lane->matrix.h_beta;
	job->gaps[l] = PE_GROUP_GAP * problem->norm1 * lane->matrix.scale;
}

/* The rest of a lane's eigenvalues, in order. */
static void sort_rest(struct job *job, int64_t l)
{
	int64_t lanes = lane_count(job);
	double *values = job->batch.values + 2 * lanes + l;
	for (int64_t i = job->batch.sorted + 1; i < job->orders[l]; i++) {
		double value = values[i * lanes];
		int64_t at = i;
		for (; at > job->batch.sorted && values[(at - 1) * lanes] > value; at--)
			values[at * lanes] = values[(at - 1) * lanes];
		values[at * lanes] = value;
	}
}

/* How many pairs a lane gives: k, and more until a gap follows. */
static void choose_count(struct job *job, int64_t l)
{
	struct lane *lane = &job->lane[l];
	int64_t lanes = lane_count(job), order = job->orders[l];
	const double *values = job->batch.values + 2 * lanes + l;
	double gap = job->gaps[l];
	int64_t count = pe_min(job->request->k, order);
	int64_t limit = pe_min(order, count + job->request->max_group);
	bool ordered = false;
	while (count < order && !(values[count * lanes] - values[(count - 1) * lanes] > gap)) {
		if (count == limit)
			break;
		count++;
		if (!ordered && count >= job->batch.sorted) {
			sort_rest(job, l);
			ordered = true;
		}
	}
	lane->complete = count == order || values[count * lanes] - values[(count - 1) * lanes] > gap;
	job->counts[l] = (int32_t)count;
	job->strides[l] = (int32_t)((count + 7) / 8 * 8);
}

/* Places in the store: values first, then vectors. */
static pe_status place_results(pe_context *ctx, struct job *job)
{
	struct pe_lanes *lanes = job->lanes;
	int64_t need = lanes->stored, count = lane_count(job);
	for (int64_t l = 0; l < count; l++)
		if (job->orders[l] > 0) {
			lanes->offset[job->lane[l].problem] = need;
			need += (int64_t)job->strides[l] * (job->orders[l] + 2);
		}
	PE_TRY(pe_grow(ctx, &lanes->store.data, &lanes->store.capacity, lanes->stored, need, sizeof(double)));
	lanes->stored = need;
	for (int64_t l = 0; l < count; l++)
		if (job->orders[l] > 0) {
			job->final[l] = lanes->store.data + lanes->offset[job->lane[l].problem];
			job->out[l] = job->final[l] + job->strides[l];
		}
	return PE_OK;
}

static pe_status reserve_vectors(pe_context *ctx, struct job *job)
{
	struct pe_lane_batch *batch = &job->batch;
	int64_t lanes = lane_count(job), width = job->kernels->lane_width, order = batch->order, count = 0;
	for (int64_t l = 0; l < lanes; l++)
		count = pe_max(count, job->counts[l]);
	int64_t sweeps = 2 * count + 4, padded = (count + 7) / 8 * 8;
	int64_t ints = sweeps + count * job->kernels->lane_packs;
	PE_TRY(reserve(
		ctx, &job->lanes->rotations, lanes * sweeps * order * 2 + width * padded * (order + 1) + ints));
	double *at = job->lanes->rotations.data;
	batch->count = (int32_t)count;
	batch->sweeps = (int32_t)sweeps;
	batch->rotations = take(&at, lanes * sweeps * order * 2);
	batch->vectors = take(&at, width * padded * order);
	batch->last = take(&at, width * padded);
	batch->lengths = (int32_t *)(void *)at;
	batch->until = batch->lengths + sweeps;
	return PE_OK;
}

/* Puts pairs in ascending order: inside a cluster the sweeps may end in another. */
static void sort_pairs(double *values, double *vectors, int32_t count, int32_t stride, int32_t n)
{
	for (int32_t j = 1; j < count; j++)
		for (int32_t k = j; k > 0 && values[k - 1] > values[k]; k--)
			for (int32_t i = -1; i < n; i++) {
				double *row = i < 0 ? values : vectors + (int64_t)i * stride;
				double swap = row[k];
				row[k] = row[k - 1];
				row[k - 1] = swap;
			}
}

static void judge_lane(const struct job *job, int64_t l)
{
	const struct lane *lane = &job->lane[l];
	const struct pe_eigen_problem *problem = &job->problems[lane->problem];
	struct pe_lanes_result *result = &job->results[lane->problem];
	int32_t n = problem->n, count = job->counts[l], stride = job->strides[l];
	double *values = job->final[l], *vectors = job->out[l];
	for (int32_t j = 0; j < stride; j++)
		values[j] = j < count ? values[j] * lane->matrix.unscale : 0.0;
	sort_pairs(values, vectors, count, stride, n);
	*result = (struct pe_lanes_result){.count = count, .stride = stride, .complete = lane->complete};
	struct pe_lane_pairs pairs = {n, count, stride, lane->matrix.scale, problem->row, problem->col,
		problem->val, problem->diag, values, vectors};
	result->residual = job->kernels->lane_check(&pairs) / (problem->norm1 * lane->matrix.scale);
	result->orthogonality = job->orthogonality[l];
	double limit = SPECTRUM_LIMIT * n;
	result->ok = !job->failed[l] && result->residual <= job->request->tolerance &&
		result->orthogonality <= ORTHOGONALITY_LIMIT && fabs(job->sum[l] - lane->matrix.trace) <= limit &&
		fabs(job->sum_squares[l] - lane->matrix.square) <= limit;
}

/* Problems number `first` and on of those that are sorted. */
static void load_batch(struct job *job, int64_t first, int64_t count)
{
	const int64_t *problems = job->lanes->sorted + first;
	int64_t lanes = lane_count(job), width = job->kernels->lane_width;
	job->batch.packs = (int32_t)((count + width - 1) / width);
	for (int64_t u = 0; u < job->batch.packs; u++) {
		int64_t largest = problems[pe_min((u + 1) * width, count) - 1];
		pe_lane_clear(job->kernels, &job->batch, u, job->problems[largest].n - 1);
	}
	for (int64_t l = 0; l < lanes; l++) {
		job->orders[l] = job->counts[l] = job->strides[l] = 0;
		job->h_last[l] = job->h_beta[l] = job->gaps[l] = 0.0;
		if (l < count) {
			load_lane(job, l, problems[l]);
			prefetch_ahead(job, first + l, lanes);
		}
	}
}

static pe_status solve_batch(pe_context *ctx, struct job *job, int64_t first, int64_t count)
{
	int64_t order = job->problems[job->lanes->sorted[first + count - 1]].n - 1;
	PE_TRY(reserve(ctx, &job->lanes->batch, batch_doubles(lane_count(job), order)));
	lay_out_batch(job, order);
	load_batch(job, first, count);
	job->kernels->lane_values(&job->batch);
	for (int64_t l = 0; l < count; l++)
		choose_count(job, l);
	PE_TRY(reserve_vectors(ctx, job));
	PE_TRY(place_results(ctx, job));
	job->kernels->lane_vectors(&job->batch);
	for (int64_t l = 0; l < count; l++)
		judge_lane(job, l);
	return PE_OK;
}

/* Problems that fit into lanes, in the order of n; the others get their result at once. */
static int64_t sort_problems(const struct job *job, int64_t count)
{
	int64_t start[PE_LANES_MAX_N + 2] = {0};
	for (int64_t i = 0; i < count; i++) {
		int32_t n = job->problems[i].n;
		if (n >= 2 && n <= PE_LANES_MAX_N)
			start[n + 1]++;
		else
			job->results[i] = (struct pe_lanes_result){.complete = n == 1, .ok = n == 1};
	}
	for (int32_t n = 1; n <= PE_LANES_MAX_N; n++)
		start[n + 1] += start[n];
	for (int64_t i = 0; i < count; i++) {
		int32_t n = job->problems[i].n;
		if (n >= 2 && n <= PE_LANES_MAX_N)
			job->lanes->sorted[start[n]++] = i;
	}
	return start[PE_LANES_MAX_N];
}

/* How many of the next problems go together. What takes n³ takes the time of the largest in each pack, what
 * takes n² that of the largest in the batch. */
static int64_t batch_size(const struct job *job, const int64_t *sorted, int64_t count)
{
	int64_t size = 1, lanes = lane_count(job), n = job->problems[sorted[0]].n;
	while (size < count && size < lanes && job->problems[sorted[size]].n <= n + n / 2 + 2)
		size++;
	return size;
}

pe_status pe_eigen_lanes(pe_context *ctx, struct pe_lanes *lanes, const struct pe_eigen_problem *problems,
	int64_t count, const struct pe_eigen_request *request, struct pe_lanes_result *results)
{
	struct job job = {.kernels = ctx->kernels,
		.problems = problems,
		.request = request,
		.results = results,
		.lanes = lanes};
	lanes->stored = 0;
	PE_TRY(reserve_problems(ctx, lanes, count));
	job.taken = sort_problems(&job, count);
	for (int64_t i = 0, step; i < job.taken; i += step) {
		step = batch_size(&job, lanes->sorted + i, job.taken - i);
		PE_TRY(solve_batch(ctx, &job, i, step));
	}
	for (int64_t i = 0; i < job.taken; i++) {
		struct pe_lanes_result *result = &results[lanes->sorted[i]];
		result->values = lanes->store.data + lanes->offset[lanes->sorted[i]];
		result->vectors = result->values + result->stride;
	}
	return PE_OK;
}
