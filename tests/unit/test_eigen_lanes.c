/* SPDX-License-Identifier: BSD-2-Clause
 * The engine for many small problems, with every instruction set of this machine: against LAPACK, closed
 * forms, and itself in other company. */
#include "xt.h"

#include <math.h>
#include <string.h>

#include <lapacke.h>

#include "canonical.h"
#include "context.h"
#include "eigen_lanes.h"
#include "kernels/kernels.h"
#include "small_graphs.h"

#define MAX_N PE_LANES_MAX_N

static const struct pe_eigen_request usual = {.k = 8, .tolerance = 1e-13, .max_group = 32};

/* Calls fn with a context for each set of kernels. */
static void for_each_set(void (*fn)(pe_context *ctx))
{
	char names[64];
	strcpy(names, pe_kernels_available());
	for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
		pe_context *ctx = xt_context(1, name);
		assert_string_equal(ctx->kernels->name, name);
		fn(ctx);
		pe_context_destroy(&ctx);
	}
}

struct solved {
	struct pe_lanes *lanes;
	struct pe_lanes_result *results;
};

static struct solved solve(pe_context *ctx, const struct pe_eigen_problem *problems, int64_t count,
	const struct pe_eigen_request *request)
{
	struct solved s = {NULL, calloc((size_t)count, sizeof *s.results)};
	assert_non_null(s.results);
	assert_int_equal(pe_lanes_create(ctx, &s.lanes), PE_OK);
	assert_int_equal(pe_eigen_lanes(ctx, s.lanes, problems, count, request, s.results), PE_OK);
	return s;
}

static void release(pe_context *ctx, struct solved *s)
{
	pe_lanes_destroy(ctx, &s->lanes);
	assert_null(s->lanes);
	free(s->results);
}

/* Residual and orthogonality by straight loops over the dense matrix, the null vector included. */
static void judge(const struct pe_eigen_problem *p, const struct pe_lanes_result *r, const double *a)
{
	int32_t n = p->n;
	double residual = 0.0, orthogonality = 0.0;
	for (int32_t j = 0; j < r->count; j++) {
		double square = 0.0;
		for (int32_t i = 0; i < n; i++) {
			double sum = -r->values[j] * r->vectors[i * r->stride + j];
			for (int32_t m = 0; m < n; m++)
				sum += a[i * n + m] * r->vectors[m * r->stride + j];
			square += sum / p->norm1 * (sum / p->norm1);
		}
		residual = fmax(residual, sqrt(square));
		for (int32_t m = -1; m <= j; m++) {
			double dot = m == j ? -1.0 : 0.0;
			for (int32_t i = 0; i < n; i++)
				dot += r->vectors[i * r->stride + j] * (m < 0 ? p->null[i] : r->vectors[i * r->stride + m]);
			orthogonality = fmax(orthogonality, fabs(dot));
		}
	}
	if (!(residual <= 3e-14) || !(orthogonality <= 3e-14))
		fail_msg("n %d: residual %g, orthogonality %g", n, residual, orthogonality);
	assert_true(fabs(residual - r->residual) <= 3e-15);
	assert_true(r->orthogonality <= orthogonality + 3e-15);
}

/* To make the signs canonical changes no bit. */
static void look_at_signs(const struct pe_lanes_result *r, int32_t n)
{
	size_t size = (size_t)n * (size_t)r->stride * sizeof(double);
	double *copy = malloc(size);
	memcpy(copy, r->vectors, size);
	pe_canonical_sign(copy, n, r->stride, r->count);
	assert_memory_equal(copy, r->vectors, size);
	free(copy);
}

/* Compares one result with dsyevd, and its count with the rule for groups. */
static void compare(
	const struct pe_eigen_problem *p, const struct pe_lanes_result *r, const struct pe_eigen_request *request)
{
	static double a[MAX_N * MAX_N], w[MAX_N];
	int32_t n = p->n;
	if (!r->ok)
		fail_msg("n %d: not ok, residual %g, orthogonality %g", n, r->residual, r->orthogonality);
	small_dense(p, a);
	judge(p, r, a);
	look_at_signs(r, n);
	assert_int_equal(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'N', 'L', n, a, n, w), 0);
	int32_t k = request->k < n - 1 ? request->k : n - 1, count = k;
	while (count < n - 1 && w[count + 1] - w[count] <= PE_GROUP_GAP * p->norm1)
		count++;
	bool complete = count <= k + request->max_group;
	assert_int_equal(r->count, complete ? count : k + request->max_group);
	assert_int_equal(r->complete, complete);
	assert_true(r->stride >= r->count);
	for (int32_t j = 0; j < r->count; j++) {
		if (!(fabs(r->values[j] - w[j + 1]) <= 1e-14 * p->norm1))
			fail_msg("n %d: value %d is %.17g, not %.17g", n, j, r->values[j], w[j + 1]);
		assert_true(j == 0 || r->values[j] >= r->values[j - 1]);
	}
}

static void compare_set(pe_context *ctx, struct small_set *set, const struct pe_eigen_request *request)
{
	struct solved s = solve(ctx, set->problems, set->count, request);
	for (int64_t i = 0; i < set->count; i++)
		compare(&set->problems[i], &s.results[i], request);
	release(ctx, &s);
	small_free(set);
}

static void molecules(pe_context *ctx)
{
	struct small_set set;
	small_molecules(&set, 1500, 7);
	compare_set(ctx, &set, &usual);
	small_molecules(&set, 300, 8);
	compare_set(ctx, &set, &(struct pe_eigen_request){.k = 37, .tolerance = 1e-13});
}

static void weighted(pe_context *ctx)
{
	struct small_set set;
	small_weighted(&set, 60, 9);
	compare_set(ctx, &set, &usual);
	small_weighted(&set, 30, 10);
	compare_set(ctx, &set, &(struct pe_eigen_request){.k = 50, .tolerance = 1e-13});
}

/* Every labelled connected graph of up to 6 nodes, and many of 7 and 8. */
static bool from_bits(struct small_set *set, int32_t n, uint64_t bits, enum small_matrix matrix)
{
	struct small_edge edges[28];
	int32_t reached = 1, part[8] = {1}, count = 0;
	for (int32_t i = 1, bit = 0; i < n; i++)
		for (int32_t j = 0; j < i; j++, bit++)
			if (bits >> bit & 1)
				edges[count++] = (struct small_edge){i, j, 1.0};
	for (int32_t round = 0; round < n; round++)
		for (int32_t e = 0; e < count; e++)
			if (part[edges[e].a] != part[edges[e].b]) {
				part[edges[e].a] = part[edges[e].b] = 1;
				reached++;
			}
	if (reached < n)
		return false;
	small_add(set, n, edges, count, matrix);
	return true;
}

static void all_small(pe_context *ctx)
{
	struct small_set set = {0};
	const struct pe_eigen_request all = {.k = 7, .tolerance = 1e-13};
	for (int32_t n = 2; n <= 6; n++)
		for (uint64_t bits = 0; bits < 1u << (n * (n - 1) / 2); bits++)
			from_bits(&set, n, bits, SMALL_PLAIN);
	assert_int_equal(set.count, 1 + 4 + 38 + 728 + 26704);
	compare_set(ctx, &set, &all);
	uint64_t state = 3;
	for (int i = 0; i < 8000; i++) {
		uint64_t bits = small_random(&state);
		bits &= i % 3 ? small_random(&state) : ~UINT64_C(0);
		from_bits(&set, 7 + i % 2, bits, i % 4 < 2 ? SMALL_PLAIN : SMALL_NORMALISED);
	}
	assert_true(set.count > 3000);
	compare_set(ctx, &set, &all);
}

/* Graphs given by a rule for two nodes. */
typedef bool adjacent_fn(int32_t i, int32_t j, int32_t n);

static void by_rule(struct small_set *set, int32_t n, adjacent_fn *adjacent, enum small_matrix matrix)
{
	static struct small_edge edges[MAX_N * MAX_N / 2];
	int64_t count = 0;
	for (int32_t i = 0; i < n; i++)
		for (int32_t j = i + 1; j < n; j++)
			if (adjacent(i, j, n))
				edges[count++] = (struct small_edge){i, j, 1.0};
	small_add(set, n, edges, count, matrix);
}

static bool path(int32_t i, int32_t j, int32_t n)
{
	return n > 0 && j == i + 1;
}

static bool cycle(int32_t i, int32_t j, int32_t n)
{
	return j == i + 1 || (i == 0 && j == n - 1);
}

static bool complete(int32_t i, int32_t j, int32_t n)
{
	return i < j && j < n;
}

static bool star(int32_t i, int32_t j, int32_t n)
{
	return i == 0 && j < n;
}

/* The centre last: its row is the one that is deflated. */
static bool star_last(int32_t i, int32_t j, int32_t n)
{
	return i < j && j == n - 1;
}

static bool cube(int32_t i, int32_t j, int32_t n)
{
	int32_t bit = i ^ j;
	return n > 0 && (bit & (bit - 1)) == 0;
}

/* 0-4 outside, 5-9 the pentagram. */
static bool petersen(int32_t i, int32_t j, int32_t n)
{
	if (j < 5)
		return j == i + 1 || (i == 0 && j == 4);
	return n == 10 && (i < 5 ? j == i + 5 : j - i == 2 || j - i == 3);
}

static bool rook(int32_t i, int32_t j, int32_t n)
{
	return n == 16 && (i / 4 == j / 4 || i % 4 == j % 4);
}

/* Cayley graph of Z4 × Z4 with ±(1,0), ±(0,1), ±(1,1). */
static bool shrikhande(int32_t i, int32_t j, int32_t n)
{
	int32_t x = (j / 4 - i / 4 + 4) % 4, y = (j % 4 - i % 4 + 4) % 4;
	return n == 16 && ((x == 0 && y % 2 == 1) || (y == 0 && x % 2 == 1) || (x == y && x % 2 == 1));
}

static bool paley(int32_t i, int32_t j, int32_t n)
{
	for (int32_t x = 1; x < n; x++)
		if (x * x % n == j - i)
			return true;
	return false;
}

static bool bipartite(int32_t i, int32_t j, int32_t n)
{
	return i < n / 3 && j >= n / 3;
}

/* `same` eigenvalues of `value` from number `from` on. */
static void expect(const struct pe_lanes_result *r, int32_t from, int32_t same, double value)
{
	assert_true(r->ok);
	assert_true(r->count >= from + same);
	for (int32_t j = from; j < from + same; j++)
		xt_close_f64(r->values[j], value, 0.0, 1e-12);
}

static void closed_forms(pe_context *ctx)
{
	struct small_set set = {0};
	by_rule(&set, 31, path, SMALL_PLAIN);
	by_rule(&set, 24, cycle, SMALL_PLAIN);
	by_rule(&set, 40, complete, SMALL_PLAIN);
	by_rule(&set, 33, star, SMALL_PLAIN);
	by_rule(&set, 33, star_last, SMALL_PLAIN);
	by_rule(&set, 64, cube, SMALL_PLAIN);
	by_rule(&set, 10, petersen, SMALL_PLAIN);
	by_rule(&set, 16, rook, SMALL_PLAIN);
	by_rule(&set, 16, shrikhande, SMALL_PLAIN);
	by_rule(&set, 29, paley, SMALL_PLAIN);
	by_rule(&set, 128, cube, SMALL_NORMALISED);
	struct solved s =
		solve(ctx, set.problems, set.count, &(struct pe_eigen_request){.k = 127, .tolerance = 1e-13});
	const struct pe_lanes_result *r = s.results;
	for (int32_t j = 0; j < 30; j++)
		expect(&r[0], j, 1, 2 - 2 * cos(PE_PI * (j + 1) / 31));
	for (int32_t j = 0; j < 23; j++)
		expect(&r[1], j, 1, 2 - 2 * cos(2 * PE_PI * (double)(j / 2 + 1) / 24));
	expect(&r[2], 0, 39, 40.0);
	for (int i = 3; i < 5; i++) {
		expect(&r[i], 0, 31, 1.0);
		expect(&r[i], 31, 1, 33.0);
	}
	const int32_t binomial[] = {1, 7, 21, 35, 35, 21, 7, 1}, six[] = {1, 6, 15, 20, 15, 6, 1};
	for (int32_t j = 1, at = 0; j <= 6; at += six[j++])
		expect(&r[5], at, six[j], 2.0 * j);
	expect(&r[6], 0, 5, 2.0);
	expect(&r[6], 5, 4, 5.0);
	for (int i = 7; i < 9; i++) {
		expect(&r[i], 0, 6, 4.0);
		expect(&r[i], 6, 9, 8.0);
	}
	expect(&r[9], 0, 14, (29 - sqrt(29.0)) / 2);
	expect(&r[9], 14, 14, (29 + sqrt(29.0)) / 2);
	for (int32_t j = 1, at = 0; j <= 7; at += binomial[j++])
		expect(&r[10], at, binomial[j], 2.0 * j / 7);
	release(ctx, &s);
	compare_set(ctx, &set, &(struct pe_eigen_request){.k = 127, .tolerance = 1e-13});
}

/* Graphs with large groups, at every size, asked for few pairs. */
static void symmetric_graphs(pe_context *ctx)
{
	adjacent_fn *rules[] = {path, cycle, complete, star, star_last, bipartite};
	for (int32_t k = 1; k < 12; k += 5) {
		struct small_set set = {0};
		for (size_t rule = 0; rule < sizeof rules / sizeof *rules; rule++)
			for (int32_t n = 3; n <= 60; n++)
				by_rule(&set, n, rules[rule], n % 2 ? SMALL_PLAIN : SMALL_NORMALISED);
		compare_set(ctx, &set, &(struct pe_eigen_request){.k = k, .tolerance = 1e-13, .max_group = 20});
	}
}

static void groups(pe_context *ctx)
{
	struct small_set set = {0};
	by_rule(&set, 20, complete, SMALL_PLAIN);
	by_rule(&set, 20, path, SMALL_PLAIN);
	struct pe_eigen_request request = {.k = 3, .tolerance = 1e-13, .max_group = 15};
	struct solved s = solve(ctx, set.problems, 2, &request);
	assert_int_equal(s.results[0].count, 18);
	assert_false(s.results[0].complete);
	assert_int_equal(s.results[1].count, 3);
	assert_true(s.results[1].complete);
	for (int32_t j = 3; j < s.results[1].stride; j++)
		assert_true(s.results[1].vectors[j] == 0.0);
	release(ctx, &s);
	request.max_group = INT32_MAX;
	s = solve(ctx, set.problems, 2, &request);
	assert_int_equal(s.results[0].count, 19);
	assert_true(s.results[0].complete);
	release(ctx, &s);
	small_free(&set);
}

static void tiny_and_large(pe_context *ctx)
{
	struct small_set set = {0};
	for (int32_t n = 1; n <= 4; n++)
		by_rule(&set, n, path, SMALL_PLAIN);
	by_rule(&set, MAX_N, cycle, SMALL_PLAIN);
	set.problems[0].norm1 = 1.0;
	set.problems[4].n++;
	struct solved s = solve(ctx, set.problems, set.count, &usual);
	assert_true(s.results[0].ok && s.results[0].complete);
	assert_int_equal(s.results[0].count, 0);
	assert_false(s.results[4].ok);
	expect(&s.results[1], 0, 1, 2.0);
	expect(&s.results[2], 0, 1, 1.0);
	expect(&s.results[2], 1, 1, 3.0);
	assert_int_equal(s.results[2].count, 2);
	release(ctx, &s);
	s = solve(ctx, set.problems, 0, &usual);
	release(ctx, &s);
	set.problems[4].n--;
	s = solve(ctx, set.problems + 4, 1, &usual);
	compare(&set.problems[4], &s.results[0], &usual);
	release(ctx, &s);
	small_free(&set);
}

static void scale_problem(struct pe_eigen_problem *p, double factor)
{
	double *val = (double *)(uintptr_t)p->val, *diag = (double *)(uintptr_t)p->diag;
	for (int64_t i = 0; i < p->row[p->n]; i++)
		val[i] *= factor;
	for (int32_t i = 0; i < p->n; i++)
		diag[i] *= factor;
	p->norm1 *= factor;
}

/* Values scale exactly with a power of two; vectors do not change at all. */
static void scales(pe_context *ctx)
{
	struct small_set set, scaled;
	const int powers[] = {-990, -600, -30, 40, 700, 990};
	small_molecules(&set, 60, 11);
	small_molecules(&scaled, 60, 11);
	for (int i = 0; i < 60; i++)
		scale_problem(&scaled.problems[i], ldexp(1.0, powers[i % 6]));
	struct solved a = solve(ctx, set.problems, 60, &usual), b = solve(ctx, scaled.problems, 60, &usual);
	for (int i = 0; i < 60; i++) {
		const struct pe_lanes_result *r = &a.results[i], *q = &b.results[i];
		assert_true(q->ok);
		assert_int_equal(r->count, q->count);
		for (int32_t j = 0; j < r->count; j++)
			assert_true(ldexp(r->values[j], powers[i % 6]) == q->values[j]);
		assert_memory_equal(r->vectors, q->vectors, (size_t)(r->stride * set.problems[i].n) * sizeof(double));
	}
	release(ctx, &a);
	release(ctx, &b);
	small_free(&set);
	small_free(&scaled);
}

/* Weights from 1e-12 to 1. */
static void uneven_weights(pe_context *ctx)
{
	struct small_set set = {0};
	uint64_t state = 5;
	for (int g = 0; g < 400; g++) {
		struct small_edge edges[90];
		int32_t n = 4 + g % 40, e = 0;
		for (int32_t i = 1; i < n; i++)
			edges[e++] = (struct small_edge){i, (int32_t)(small_random(&state) % (uint64_t)i),
				pow(10.0, -(double)(small_random(&state) % 1200) / 100)};
		for (int32_t i = 3; i < n; i++)
			edges[e++] = (struct small_edge){i, i - 2, pow(10.0, -(double)(small_random(&state) % 12))};
		small_add(&set, n, edges, e, g % 2 ? SMALL_PLAIN : SMALL_NORMALISED);
	}
	compare_set(ctx, &set, &usual);
}

/* FNV-1a over everything a result says. */
static uint64_t digest(const struct pe_eigen_problem *p, const struct pe_lanes_result *r)
{
	uint64_t hash = 0xcbf29ce484222325u;
	const double numbers[] = {r->residual, r->orthogonality, r->count, r->stride, r->complete, r->ok};
	const void *parts[] = {r->values, r->vectors, numbers};
	size_t sizes[] = {
		(size_t)r->count * sizeof(double), (size_t)(r->stride * p->n) * sizeof(double), sizeof numbers};
	for (int part = 0; part < 3; part++)
		for (size_t i = 0; i < sizes[part]; i++)
			hash = (hash ^ ((const unsigned char *)parts[part])[i]) * 0x100000001b3u;
	return hash;
}

#define MIXED 700

/* Molecules, larger graphs, symmetric graphs, and problems that fail, in turn. */
static void mixed_set(struct small_set *set)
{
	struct small_set larger;
	adjacent_fn *rules[] = {path, cycle, complete, star, star_last, bipartite};
	small_molecules(set, MIXED - 140, 21);
	small_weighted(&larger, 20, 22);
	for (int32_t i = 0; i < 120; i++)
		by_rule(set, 3 + i % 30, rules[i % 6], i % 7 ? SMALL_PLAIN : SMALL_NORMALISED);
	for (int32_t i = 0; i < 20; i++) {
		struct pe_eigen_problem *p = &set->problems[i * 20];
		if (i % 4 == 0)
			((double *)(uintptr_t)p->diag)[p->n / 2] = NAN;
		struct pe_eigen_problem *q = &larger.problems[i];
		small_move(set, q);
	}
	free(larger.problems);
	assert_int_equal(set->count, MIXED);
}

static void digest_order(
	pe_context *ctx, const struct small_set *set, const int32_t *order, int64_t count, uint64_t *digests)
{
	static struct pe_eigen_problem problems[MIXED];
	for (int64_t i = 0; i < count; i++)
		problems[i] = set->problems[order[i]];
	struct solved s = solve(ctx, problems, count, &usual);
	for (int64_t i = 0; i < count; i++) {
		uint64_t d = digest(&problems[i], &s.results[i]);
		if (digests[order[i]] == 0)
			digests[order[i]] = d;
		assert_true(!s.results[i].ok || digests[order[i]] == d);
	}
	release(ctx, &s);
}

static void same_bits_in_any_company(pe_context *ctx)
{
	static uint64_t digests[MIXED];
	struct small_set set;
	int32_t order[MIXED];
	uint64_t state = 77;
	mixed_set(&set);
	memset(digests, 0, sizeof digests);
	for (int32_t i = 0; i < MIXED; i++)
		order[i] = i;
	digest_order(ctx, &set, order, MIXED, digests);
	for (int32_t i = 0; i < MIXED; i++)
		digest_order(ctx, &set, order + i, 1, digests);
	for (int round = 0; round < 6; round++) {
		for (int32_t i = MIXED - 1; i > 0; i--) {
			int32_t j = (int32_t)(small_random(&state) % (uint64_t)(i + 1)), swap = order[i];
			order[i] = order[j];
			order[j] = swap;
		}
		for (int32_t from = 0, step = 1 + 61 * round; from < MIXED; from += step)
			digest_order(ctx, &set, order + from, pe_min(step, MIXED - from), digests);
	}
	small_free(&set);
}

/* What is not an eigenproblem of the promised kind is not called ok, and does not hurt the others. */
static void bad_problems(pe_context *ctx)
{
	struct small_set set;
	small_molecules(&set, 64, 31);
	((double *)(uintptr_t)set.problems[3].diag)[1] = NAN;
	((double *)(uintptr_t)set.problems[4].val)[2] = INFINITY;
	((double *)(uintptr_t)set.problems[5].null)[0] += 0.01;
	((double *)(uintptr_t)set.problems[6].diag)[set.problems[6].n - 1] += 0.01;
	set.problems[7].norm1 = NAN;
	struct solved s = solve(ctx, set.problems, set.count, &usual);
	for (int64_t i = 0; i < set.count; i++)
		if (i >= 3 && i <= 7)
			assert_false(s.results[i].ok);
		else
			compare(&set.problems[i], &s.results[i], &usual);
	release(ctx, &s);
	struct pe_eigen_request strict = usual;
	strict.tolerance = 1e-17;
	s = solve(ctx, set.problems, 2, &strict);
	assert_false(s.results[0].ok);
	release(ctx, &s);
	small_free(&set);
}

static void memory_fails(pe_context *ctx)
{
	struct small_set set;
	struct pe_lanes_result results[40];
	small_molecules(&set, 40, 41);
	struct xt_shortage s = {0};
	while (xt_shortage_next(&s)) {
		struct pe_lanes *lanes = NULL;
		xt_shortage_begin(&s);
		pe_status status = pe_lanes_create(ctx, &lanes);
		if (status == PE_OK)
			status = pe_eigen_lanes(ctx, lanes, set.problems, set.count, &usual, results);
		xt_shortage_end(&s, status);
		if (!s.over && lanes) { /* and it can be used again */
			assert_int_equal(pe_eigen_lanes(ctx, lanes, set.problems, set.count, &usual, results), PE_OK);
			compare(&set.problems[9], &results[9], &usual);
		}
		pe_lanes_destroy(ctx, &lanes);
	}
	small_free(&set);
}

#define EACH_SET(name) \
	static void test_##name(void **state) \
	{ \
		(void)state; \
		for_each_set(name); \
	}

EACH_SET(molecules)
EACH_SET(weighted)
EACH_SET(all_small)
EACH_SET(closed_forms)
EACH_SET(symmetric_graphs)
EACH_SET(groups)
EACH_SET(tiny_and_large)
EACH_SET(scales)
EACH_SET(uneven_weights)
EACH_SET(same_bits_in_any_company)
EACH_SET(bad_problems)
EACH_SET(memory_fails)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_molecules),
		cmocka_unit_test(test_weighted),
		cmocka_unit_test(test_all_small),
		cmocka_unit_test(test_closed_forms),
		cmocka_unit_test(test_symmetric_graphs),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_tiny_and_large),
		cmocka_unit_test(test_scales),
		cmocka_unit_test(test_uneven_weights),
		cmocka_unit_test(test_same_bits_in_any_company),
		cmocka_unit_test(test_bad_problems),
		cmocka_unit_test(test_memory_fails),
	};
	return xt_run(argc, argv, tests) != 0;
}
