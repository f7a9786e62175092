/* SPDX-License-Identifier: BSD-2-Clause
 * The inner loops of the engine for many small problems, in every set of this machine: Laplacians of complete
 * weighted graphs of every small order, in batches of any number of lanes, against what eigenpairs are, the
 * scalar set, and what lies around the outputs. */
#include "xt.h"

#include <math.h>
#include <string.h>

#include "rng.h"
#include "xt_kernels.h"

enum { MOST_ORDER = 9, MOST_N = MOST_ORDER + 1 };

/* The matrix of a lane, of n rows; of norm 1 at most. */
struct matrix {
	int32_t n;
	double entry[MOST_N][MOST_N];
};

static void make_matrix(struct matrix *m, int32_t n, uint64_t seed)
{
	*m = (struct matrix){.n = n};
	for (int32_t i = 0; i < n; i++)
		for (int32_t j = 0; j < i; j++) {
			double weight = (0.5 + pe_rng_uniform(12, seed, (uint64_t)(i * MOST_N + j))) / (3 * n);
			m->entry[i][j] = m->entry[j][i] = -weight;
			m->entry[i][i] += weight;
			m->entry[j][j] += weight;
		}
}

/* A batch and the sizes of its arrays, which are guarded. */
struct work {
	int64_t width, lanes, order;
	struct pe_lane_batch batch;
	struct matrix matrix[PE_LANE_MAX];
	int32_t orders[PE_LANE_MAX], counts[PE_LANE_MAX], strides[PE_LANE_MAX];
	int32_t lengths[2 * MOST_ORDER + 4], until[PE_LANE_MAX * MOST_ORDER];
	bool failed[PE_LANE_MAX];
	_Alignas(64) double gaps[PE_LANE_MAX];
	double *out[PE_LANE_MAX], *final[PE_LANE_MAX];
	double **array[16];
	int64_t size[16];
	int arrays;
};

static void take(struct work *w, double **array, int64_t n)
{
	*array = xt_guarded(n);
	memset(*array, 0, (size_t)n * sizeof **array);
	w->array[w->arrays] = array;
	w->size[w->arrays++] = n;
}

static void allocate(struct work *w)
{
	struct pe_lane_batch *b = &w->batch;
	int64_t lanes = w->lanes, order = w->order, padded = 16;
	b->count = (int32_t)order;
	b->sweeps = 2 * b->count + 4;
	take(w, &b->a, lanes * (order * (order + 1) / 2));
	take(w, &b->h, lanes * order);
	take(w, &b->w, lanes * order);
	take(w, &b->beta, lanes * order);
	take(w, &b->d, lanes * (order + 1));
	take(w, &b->e, lanes * (order + 1));
	take(w, &b->shifted, lanes * (order + 4));
	take(w, &b->squares, lanes * (order + 4));
	take(w, &b->values, lanes * (order + 4));
	take(w, &b->sum, lanes);
	take(w, &b->sum_squares, lanes);
	take(w, &b->rotations, lanes * b->sweeps * order * 2);
	take(w, &b->vectors, w->width * padded * order);
	take(w, &b->last, w->width * padded);
	take(w, &b->orthogonality, lanes);
	b->lengths = w->lengths;
	b->until = w->until;
	b->failed = w->failed;
	b->orders = w->orders;
	b->counts = w->counts;
	b->strides = w->strides;
	b->out = w->out;
	b->final = w->final;
	b->order = b->sorted = b->wanted = (int32_t)order;
	b->gaps = w->gaps;
}

/* Element `at` of an array of so many in each lane. */
static double *packed(const struct work *w, double *array, int64_t l, int64_t extent, int64_t at)
{
	return array + ((l / w->width) * extent + at) * w->width + l % w->width;
}

/* The reflector that sends the null vector, all entries alike, to the last unit vector, and the update that
 * deflates the matrix (lane_eigen.h). */
static void load(struct work *w, int64_t l, double *h_last, double *h_beta)
{
	const struct matrix *m = &w->matrix[l];
	int64_t order = w->order;
	int32_t last = m->n - 1;
	double z = 1 / sqrt(m->n), beta = 1 / (1 + z), half = 0.5 * beta * beta * m->entry[last][last];
	for (int32_t i = 0; i < last; i++) {
		for (int32_t j = 0; j <= i; j++)
			*packed(w, w->batch.a, l, order * (order + 1) / 2, i * (i + 1) / 2 + j) = m->entry[i][j];
		*packed(w, w->batch.h, l, order, i) = z;
		*packed(w, w->batch.w, l, order, i) = beta * m->entry[last][i] - half * z;
	}
	h_last[l] = z + 1;
	h_beta[l] = beta;
}

/* Eigenvalues agree with the trace, and with those that the scalar set found. */
static void check_values(
	const struct work *w, int64_t l, double expected[PE_LANE_MAX][MOST_ORDER], bool first)
{
	const struct matrix *m = &w->matrix[l];
	const double *values = w->batch.values + 2 * w->lanes + l;
	double trace = 0, sum = 0;
	assert_false(w->failed[l]);
	for (int32_t i = 0; i < m->n; i++)
		trace += m->entry[i][i];
	for (int32_t i = 0; i < m->n - 1; i++) {
		double value = values[i * w->lanes];
		assert_true(i == 0 || value >= values[(i - 1) * w->lanes]);
		sum += value;
		if (first)
			expected[l][i] = value;
		xt_close_f64(value, expected[l][i], 0, 1e-14);
	}
	xt_close_f64(sum, trace, 0, 1e-14);
	xt_close_f64(w->batch.sum[l], trace, 0, 1e-14);
}

/* Σ over nodes of vector j times: M of vector k, or, if `plain`, vector k itself. */
static double product(const struct work *w, int64_t l, int32_t j, int32_t k, bool plain)
{
	const struct matrix *m = &w->matrix[l];
	const double *x = w->out[l];
	double sum = 0;
	for (int32_t a = 0; a < m->n; a++)
		for (int32_t b = 0; b < m->n; b++)
			sum += (plain ? a == b : m->entry[a][b]) * x[a * w->strides[l] + j] * x[b * w->strides[l] + k];
	return sum;
}

static double residual(const struct work *w, int64_t l, int32_t j)
{
	const struct matrix *m = &w->matrix[l];
	const double *x = w->out[l] + j;
	double square = 0;
	for (int32_t a = 0; a < m->n; a++) {
		double sum = -w->final[l][j] * x[a * w->strides[l]];
		for (int32_t b = 0; b < m->n; b++)
			sum += m->entry[a][b] * x[b * w->strides[l]];
		square += sum * sum;
	}
	return sqrt(square);
}

static void check_vectors(const struct work *w, int64_t l)
{
	for (int32_t j = 0; j < w->counts[l]; j++) {
		double ones = 0;
		assert_true(residual(w, l, j) < 1e-14);
		xt_close_f64(product(w, l, j, j, false), w->final[l][j], 0, 1e-14);
		for (int32_t k = 0; k <= j; k++)
			xt_close_f64(product(w, l, j, k, true), j == k, 0, 1e-14);
		for (int32_t i = 0; i < w->matrix[l].n; i++)
			ones += w->out[l][i * w->strides[l] + j];
		xt_close_f64(ones, 0, 0, 1e-14);
	}
	for (int32_t i = 0; i < w->matrix[l].n; i++)
		for (int32_t j = w->counts[l]; j < w->strides[l]; j++)
			assert_true(w->out[l][i * w->strides[l] + j] == 0);
	assert_true(w->batch.orthogonality[l] < 1e-14);
}

/* The kernel's own judgement, and that it sees one entry that is wrong. */
static void check_judgement(const struct pe_kernels *k, const struct work *w, int64_t l)
{
	const struct matrix *m = &w->matrix[l];
	int64_t row[MOST_N + 1], e = 0;
	int32_t col[MOST_N * MOST_N];
	double val[MOST_N * MOST_N], diag[MOST_N], most = 0, *values = xt_guarded(w->strides[l]);
	for (int32_t i = 0; i < m->n; i++) {
		row[i] = e;
		diag[i] = m->entry[i][i];
		for (int32_t j = 0; j < m->n; j++)
			if (j != i) {
				col[e] = j;
				val[e++] = m->entry[i][j];
			}
	}
	row[m->n] = e;
	for (int32_t j = 0; j < w->strides[l]; j++)
		values[j] = j < w->counts[l] ? w->final[l][j] : 0;
	struct pe_lane_pairs pairs = {
		m->n, w->counts[l], w->strides[l], 0.5, row, col, val, diag, values, w->out[l]};
	assert_true(k->lane_check(&pairs) < 1e-14);
	w->out[l][(m->n - 1) * w->strides[l] + w->counts[l] - 1] += 0.25;
	for (int32_t j = 0; j < w->counts[l]; j++)
		most = fmax(most, residual(w, l, j));
	xt_close_f64(k->lane_check(&pairs), 0.5 * most, 1e-13, 0);
	xt_release_guarded(values, w->strides[l]);
}

/* `used` lanes of orders up to `order`, which the last of them has, and of all counts. */
static void check_batch(const struct pe_kernels *k, int32_t order, int64_t used, bool first,
	double expected[PE_LANE_MAX][MOST_ORDER])
{
	static struct work w;
	double *h_last, *h_beta;
	w = (struct work){.width = k->lane_width, .lanes = k->lane_width * k->lane_packs, .order = order};
	allocate(&w);
	w.batch.packs = (int32_t)((used + w.width - 1) / w.width);
	h_last = xt_guarded(w.lanes);
	h_beta = xt_guarded(w.lanes);
	memset(h_last, 0, (size_t)w.lanes * sizeof *h_last);
	memset(h_beta, 0, (size_t)w.lanes * sizeof *h_beta);
	w.batch.h_last = h_last;
	w.batch.h_beta = h_beta;
	for (int64_t l = 0; l < used; l++) {
		w.orders[l] = l == used - 1 ? order : 1 + (int32_t)(l * 5 % order);
		w.counts[l] = 1 + (int32_t)(l * 3 % w.orders[l]);
		w.strides[l] = (w.counts[l] + 7) / 8 * 8;
		make_matrix(&w.matrix[l], w.orders[l] + 1, (uint64_t)l);
		load(&w, l, h_last, h_beta);
		w.out[l] = xt_guarded((w.orders[l] + 1) * w.strides[l]);
		w.final[l] = xt_guarded(w.counts[l]);
	}
	k->lane_values(&w.batch);
	for (int64_t l = 0; l < used; l++)
		check_values(&w, l, expected, first);
	k->lane_vectors(&w.batch);
	for (int64_t l = 0; l < used; l++) {
		assert_false(w.failed[l]);
		check_vectors(&w, l);
		check_judgement(k, &w, l);
		xt_release_guarded(w.out[l], (w.orders[l] + 1) * w.strides[l]);
		xt_release_guarded(w.final[l], w.counts[l]);
	}
	xt_release_guarded(h_last, w.lanes);
	xt_release_guarded(h_beta, w.lanes);
	for (int i = 0; i < w.arrays; i++)
		xt_release_guarded(*w.array[i], w.size[i]);
}

static void eigenpairs_of_every_order(void **state)
{
	(void)state;
	for (int32_t order = 1; order <= MOST_ORDER; order++)
		for (int64_t used = 1; used <= 8; used++) {
			double expected[PE_LANE_MAX][MOST_ORDER];
			for (int k = 0; xt_kernels(k); k++)
				check_batch(xt_kernels(k), order, used, k == 0, expected);
		}
}

/* More lanes than the scalar set has: each set alone. */
static void batches_of_every_size(void **state)
{
	(void)state;
	for (int k = 0; xt_kernels(k); k++) {
		const struct pe_kernels *kernels = xt_kernels(k);
		for (int64_t used = 1; used <= kernels->lane_width * kernels->lane_packs; used++) {
			double expected[PE_LANE_MAX][MOST_ORDER];
			check_batch(kernels, 5, used, true, expected);
		}
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(eigenpairs_of_every_order),
		cmocka_unit_test(batches_of_every_size),
	};
	return xt_run(argc, argv, tests);
}
