/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <string.h>

#include "xt.h"

#include "canonical.h"

static double next_normal(uint64_t *state)
{
	double sum = 0;
	for (int i = 0; i < 12; i++) {
		*state = *state * 6364136223846793005u + 1442695040888963407u;
		sum += (double)(*state >> 33) / 2147483648.0;
	}
	return sum - 6;
}

/* m orthonormal vectors of n entries, vector j at v + j * n. */
static void orthonormalise(double *v, int n, int m)
{
	for (int j = 0; j < m; j++) {
		for (int pass = 0; pass < 2; pass++)
			for (int l = 0; l < j; l++) {
				double s = 0;
				for (int i = 0; i < n; i++)
					s += v[j * n + i] * v[l * n + i];
				for (int i = 0; i < n; i++)
					v[j * n + i] -= s * v[l * n + i];
			}
		double s = 0;
		for (int i = 0; i < n; i++)
			s += v[j * n + i] * v[j * n + i];
		for (int i = 0; i < n; i++)
			v[j * n + i] /= sqrt(s);
	}
}

static void random_vectors(uint64_t *state, double *v, int n, int m)
{
	for (int i = 0; i < n * m; i++)
		v[i] = next_normal(state);
	orthonormalise(v, n, m);
}

/* The same space in another basis. */
static void rotate(uint64_t *state, const double *v, double *out, int n, int m)
{
	double q[64];
	random_vectors(state, q, m, m);
	memset(out, 0, (size_t)(n * m) * sizeof *out);
	for (int j = 0; j < m; j++)
		for (int l = 0; l < m; l++)
			for (int i = 0; i < n; i++)
				out[j * n + i] += q[j * m + l] * v[l * n + i];
}

static void basis_of(pe_context *ctx, const double *v, int n, int m, int skip, int end, double *rows)
{
	const double *vectors[8];
	int32_t nodes[64];
	for (int j = 0; j < m; j++)
		vectors[j] = v + j * n;
	for (int i = 0; i < n; i++)
		nodes[i] = i;
	struct pe_canonical_part part = {.nodes = nodes, .n = n, .dimension = m, .vectors = vectors, .step = 1};
	assert_int_equal(pe_canonical_basis(ctx, &part, 1, skip, end, rows, end - skip), PE_OK);
}

static void same(const double *a, const double *b, int count, double tolerance)
{
	for (int i = 0; i < count; i++)
		xt_close_f64(a[i], b[i], 0, tolerance);
}

static void basis_depends_on_the_space_alone(void **state)
{
	uint64_t r = 1;
	double v[64 * 8], turned[64 * 8], a[64 * 8], b[64 * 8];
	for (int round = 0; round < 200; round++) {
		int n = 2 + round % 40, m = 1 + round % (n < 8 ? n : 8);
		random_vectors(&r, v, n, m);
		rotate(&r, v, turned, n, m);
		basis_of(*state, v, n, m, 0, m, a);
		basis_of(*state, turned, n, m, 0, m, b);
		same(a, b, n * m, 1e-12);
	}
}

/* The space of vectors on K_n that sum to 0: every axis is as good as any other, and rounding must
 * not choose among them. By hand: e_0 - mean first, then e_1 - mean of the rest, … */
static void ties_go_to_the_first_row(void **state)
{
	uint64_t r = 2;
	enum { N = 6, M = N - 1 };
	double v[N * N], turned[N * N], a[N * M];
	for (int round = 0; round < 50; round++) {
		random_vectors(&r, v, N, N);
		for (int i = 0; i < N; i++)
			v[i] = 1;
		orthonormalise(v, N, N);
		rotate(&r, v + N, turned, N, M);
		basis_of(*state, turned, N, M, 0, M, a);
		for (int j = 0; j < M; j++)
			for (int i = 0; i < N; i++) {
				double rest = N - j, length = sqrt(1 - 1 / rest);
				double expected = i < j ? 0 : i == j ? length : -1 / rest / length;
				xt_close_f64(a[i * M + j], expected, 0, 1e-13);
			}
	}
}

static void basis_is_orthonormal_and_of_the_space(void **state)
{
	uint64_t r = 3;
	enum { N = 30, M = 7 };
	double v[N * M], a[N * M];
	random_vectors(&r, v, N, M);
	basis_of(*state, v, N, M, 0, M, a);
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double p = 0, q = 0;
			for (int l = 0; l < M; l++) {
				p += v[l * N + i] * v[l * N + j];
				q += a[i * M + l] * a[j * M + l];
			}
			xt_close_f64(q, p, 0, 1e-14);
		}
	for (int j = 0; j < M; j++)
		for (int l = 0; l < M; l++) {
			double s = 0;
			for (int i = 0; i < N; i++)
				s += a[i * M + j] * a[i * M + l];
			xt_close_f64(s, j == l, 0, 1e-14);
		}
}

static void columns_are_cut_from_the_whole_basis(void **state)
{
	uint64_t r = 4;
	enum { N = 20, M = 6 };
	double v[N * M], whole[N * M], some[N * 3];
	random_vectors(&r, v, N, M);
	basis_of(*state, v, N, M, 0, M, whole);
	basis_of(*state, v, N, M, 2, 5, some);
	for (int i = 0; i < N; i++)
		assert_memory_equal(some + i * 3, whole + i * M + 2, 3 * sizeof(double));
}

/* Two components with one vector each: each basis vector lives on one, the larger entry first. */
static void parts_stay_apart(void **state)
{
	const double first[] = {0.6, 0.8, 0}, second[] = {-1.0, 0.0};
	const double *a[] = {first}, *b[] = {second};
	const int32_t nodes_a[] = {0, 2, 4}, nodes_b[] = {1, 3};
	const struct pe_canonical_part parts[] = {
		{.nodes = nodes_a, .n = 3, .dimension = 1, .vectors = a, .step = 1},
		{.nodes = nodes_b, .n = 2, .dimension = 1, .vectors = b, .step = 1},
	};
	double rows[10] = {0};
	const double expected[] = {0, 0.6, 1, 0, 0, 0.8, 0, 0, 0, 0};
	assert_int_equal(pe_canonical_basis(*state, parts, 2, 0, 2, rows, 2), PE_OK);
	same(rows, expected, 10, 1e-15);
}

static void sign_goes_by_the_first_largest(void **state)
{
	(void)state;
	/* Columns: largest alone and negative; a tie up to rounding, the first negative; a tie, the first
	 * positive; zeros; nearly a tie, but the first is too small. */
	double rows[] = {
		0.1, -0.5 * (1 - 1e-9), 0.5, 0, -0.5 * (1 - 1e-3), //
		-0.9, 0.5, -0.5, 0, 0.5,                           //
		0.3, -0.5, -0.5, 0, 0.1,                           //
	};
	const double expected[] = {
		-0.1, 0.5 * (1 - 1e-9), 0.5, 0, -0.5 * (1 - 1e-3), //
		0.9, -0.5, -0.5, 0, 0.5,                           //
		-0.3, 0.5, -0.5, 0, 0.1,                           //
	};
	pe_canonical_sign(rows, 3, 5, 5);
	same(rows, expected, 15, 0);
	for (int i = 0; i < 15; i++)
		assert_false(rows[i] == 0 && signbit(rows[i]));
}

static void wide_rows_are_signed_like_narrow_ones(void **state)
{
	uint64_t r = 5;
	enum { N = 9, WIDE = 21 };
	double wide[N * WIDE], column[N];
	(void)state;
	for (int i = 0; i < N * WIDE; i++)
		wide[i] = next_normal(&r);
	double copy[N * WIDE];
	memcpy(copy, wide, sizeof wide);
	pe_canonical_sign(wide, N, WIDE, WIDE);
	for (int j = 0; j < WIDE; j++) {
		for (int i = 0; i < N; i++)
			column[i] = copy[i * WIDE + j];
		pe_canonical_sign(column, N, 1, 1);
		for (int i = 0; i < N; i++)
			xt_close_f64(wide[i * WIDE + j], column[i], 0, 0);
	}
}

static void no_memory(void **state)
{
	enum { MANY = 600 }; /* fewer need no allocation */
	static double v[2 * MANY] = {[0] = 1, [MANY + 1] = 1}, rows[2 * MANY];
	static int32_t nodes[MANY];
	const double *vectors[] = {v, v + MANY};
	struct pe_canonical_part part = {
		.nodes = nodes, .n = MANY, .dimension = 2, .vectors = vectors, .step = 1};
	for (int32_t i = 0; i < MANY; i++)
		nodes[i] = i;
	xt_fail_allocation(0, false);
	assert_int_equal(pe_canonical_basis(*state, &part, 1, 0, 2, rows, 2), PE_ERR_NOMEM);
	xt_fail_allocation(-1, false);
	assert_int_equal(pe_canonical_basis(*state, &part, 1, 0, 2, rows, 2), PE_OK);
	assert_true(rows[0] == 1 && rows[1] == 0 && rows[2] == 0 && rows[3] == 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(basis_depends_on_the_space_alone),
		cmocka_unit_test(ties_go_to_the_first_row),
		cmocka_unit_test(basis_is_orthonormal_and_of_the_space),
		cmocka_unit_test(columns_are_cut_from_the_whole_basis),
		cmocka_unit_test(parts_stay_apart),
		cmocka_unit_test(sign_goes_by_the_first_largest),
		cmocka_unit_test(wide_rows_are_signed_like_narrow_ones),
		cmocka_unit_test(no_memory),
	};
	return xt_run(argc, argv, tests);
}
