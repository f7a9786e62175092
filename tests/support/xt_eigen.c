/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rng.h"
#include "xt_eigen.h"

struct edges {
	int64_t count, capacity;
	int32_t *u, *v;
	double *w;
};

static void *must(void *pointer)
{
	assert_non_null(pointer);
	return pointer;
}

static void add(struct edges *e, int32_t u, int32_t v, double w)
{
	if (e->count == e->capacity) {
		e->capacity = 2 * e->capacity + 64;
		e->u = must(realloc(e->u, (size_t)e->capacity * sizeof *e->u));
		e->v = must(realloc(e->v, (size_t)e->capacity * sizeof *e->v));
		e->w = must(realloc(e->w, (size_t)e->capacity * sizeof *e->w));
	}
	e->u[e->count] = u;
	e->v[e->count] = v;
	e->w[e->count++] = w;
}

static void sort_row(int32_t *col, double *val, int64_t count)
{
	for (int64_t i = 1; i < count; i++)
		for (int64_t j = i; j > 0 && col[j - 1] > col[j]; j--) {
			int32_t c = col[j];
			double x = val[j];
			col[j] = col[j - 1];
			val[j] = val[j - 1];
			col[j - 1] = c;
			val[j - 1] = x;
		}
}

struct xt_problem xt_problem(
	int32_t n, int64_t edges, const int32_t *u, const int32_t *v, const double *w, bool sym)
{
	struct xt_problem out = {.row = must(calloc((size_t)n + 2, sizeof *out.row)),
		.col = must(calloc((size_t)edges, 2 * sizeof *out.col)),
		.val = must(calloc((size_t)edges, 2 * sizeof *out.val)),
		.diag = must(calloc((size_t)n, sizeof *out.diag)),
		.null = must(calloc((size_t)n, sizeof *out.null))};
	double *degree = must(calloc((size_t)n, sizeof *degree));
	for (int64_t e = 0; e < edges; e++) {
		out.row[u[e] + 2]++;
		out.row[v[e] + 2]++;
		degree[u[e]] += w ? w[e] : 1;
		degree[v[e]] += w ? w[e] : 1;
	}
	for (int32_t i = 0; i <= n; i++)
		out.row[i + 1] += out.row[i];
	for (int64_t e = 0; e < edges; e++) {
		double x = -(w ? w[e] : 1) / (sym ? sqrt(degree[u[e]] * degree[v[e]]) : 1);
		int64_t a = out.row[u[e] + 1]++, b = out.row[v[e] + 1]++;
		out.col[a] = v[e];
		out.col[b] = u[e];
		out.val[a] = out.val[b] = x;
	}
	double norm = 0, norm1 = 0;
	bool negative = false;
	for (int64_t e = 0; e < edges; e++)
		negative |= w && w[e] < 0;
	for (int32_t i = 0; i < n; i++) {
		sort_row(out.col + out.row[i], out.val + out.row[i], out.row[i + 1] - out.row[i]);
		out.diag[i] = sym ? 1 : degree[i];
		out.null[i] = sym ? sqrt(degree[i]) : 1;
		norm += out.null[i] * out.null[i];
		double sum = fabs(out.diag[i]);
		for (int64_t e = out.row[i]; e < out.row[i + 1]; e++)
			sum += fabs(out.val[e]);
		norm1 = fmax(norm1, sum);
	}
	for (int32_t i = 0; i < n; i++)
		out.null[i] /= sqrt(norm);
	free(degree);
	out.p = (struct pe_eigen_problem){.n = n,
		.row = out.row,
		.col = out.col,
		.val = out.val,
		.diag = out.diag,
		.null = out.null,
		.norm1 = norm1,
		.upper = sym && !negative ? 2 : norm1,
		.semidefinite = !negative};
	return out;
}

void xt_problem_free(struct xt_problem *problem)
{
	free(problem->row);
	free(problem->col);
	free(problem->val);
	free(problem->diag);
	free(problem->null);
	memset(problem, 0, sizeof *problem);
}

static struct xt_problem finish(int32_t n, struct edges *e, bool sym)
{
	struct xt_problem out = xt_problem(n, e->count, e->u, e->v, e->w, sym);
	free(e->u);
	free(e->v);
	free(e->w);
	return out;
}

struct xt_problem xt_eigen_grid(int32_t rows, int32_t columns, bool sym)
{
	struct edges e = {0};
	for (int32_t y = 0; y < rows; y++)
		for (int32_t x = 0; x < columns; x++) {
			if (x + 1 < columns)
				add(&e, y * columns + x, y * columns + x + 1, 1);
			if (y + 1 < rows)
				add(&e, y * columns + x, (y + 1) * columns + x, 1);
		}
	return finish(rows * columns, &e, sym);
}

struct xt_problem xt_eigen_cycle(int32_t n, bool sym)
{
	struct edges e = {0};
	for (int32_t i = 0; i < n; i++)
		add(&e, i, (i + 1) % n, 1);
	return finish(n, &e, sym);
}

struct xt_problem xt_eigen_hypercube(int32_t dimensions, bool sym)
{
	struct edges e = {0};
	int32_t n = 1 << dimensions;
	for (int32_t i = 0; i < n; i++)
		for (int32_t d = 0; d < dimensions; d++)
			if (!(i >> d & 1))
				add(&e, i, i | 1 << d, 1);
	return finish(n, &e, sym);
}

struct xt_problem xt_eigen_bipartite(int32_t a, int32_t b, bool sym)
{
	struct edges e = {0};
	for (int32_t i = 0; i < a; i++)
		for (int32_t j = 0; j < b; j++)
			add(&e, i, a + j, 1);
	return finish(a + b, &e, sym);
}

struct xt_problem xt_eigen_barbell(int32_t clique, int32_t path, bool sym)
{
	struct edges e = {0};
	int32_t n = 2 * clique + path;
	for (int32_t i = 0; i < clique; i++)
		for (int32_t j = 0; j < i; j++) {
			add(&e, i, j, 1);
			add(&e, n - 1 - i, n - 1 - j, 1);
		}
	for (int32_t i = clique - 1; i < clique + path; i++)
		add(&e, i, i + 1, 1);
	return finish(n, &e, sym);
}

static int32_t pick(int32_t number, int32_t below)
{
	return (int32_t)(pe_rng_uniform(5, 1, (uint64_t)number) * below);
}

struct xt_problem xt_eigen_random(int32_t n, double decades, bool sym)
{
	struct edges e = {0};
	for (int32_t i = 1; i < 2 * n; i++) {
		int32_t to = i % n, from = pick(i, to);
		if (to > 0 && (i < n || from != pick(to, to)))
			add(&e, from, to, pow(10, decades * (2 * pe_rng_uniform(5, 2, (uint64_t)i) - 1)));
	}
	return finish(n, &e, sym);
}

double *xt_eigen_spectrum(pe_context *ctx, const struct xt_problem *problem)
{
	struct pe_eigen_request request = {.k = problem->p.n - 1, .tolerance = 1e-12};
	struct pe_eigen_result result;
	assert_int_equal(pe_eigen_dense(ctx, &problem->p, &request, &result), PE_OK);
	double *values = must(malloc((size_t)result.count * sizeof *values));
	memcpy(values, result.values, (size_t)result.count * sizeof *values);
	pe_eigen_result_free(ctx, &result);
	return values;
}

static double dot(int32_t n, const double *a, const double *b)
{
	double sum = 0;
	for (int32_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

void xt_eigen_check_pairs(const struct xt_problem *problem, const struct pe_eigen_result *r, double tolerance)
{
	int32_t n = problem->p.n;
	double *scratch = must(malloc((size_t)n * sizeof *scratch));
	for (int32_t j = 0; j < r->count; j++) {
		const double *x = r->vectors + (int64_t)j * n;
		if (j > 0)
			assert_true(r->values[j - 1] <= r->values[j]);
		xt_close_f64(pe_eigen_residual(&problem->p, r->values[j], x, scratch), 0, 0, tolerance);
		xt_close_f64(dot(n, x, problem->null), 0, 0, 1e-12);
		for (int32_t i = 0; i <= j; i++)
			xt_close_f64(dot(n, x, r->vectors + (int64_t)i * n), i == j, 0, 1e-12);
	}
	free(scratch);
}

void xt_eigen_check_values(const struct pe_eigen_result *result, const double *spectrum, double atol)
{
	for (int32_t j = 0; j < result->count; j++)
		xt_close_f64(result->values[j], spectrum[j], 0, atol);
}

/* ---- an engine at work --------------------------------------------------------------- */

struct pe_eigen_request xt_eigen_ask(int32_t k, double tolerance)
{
	return (struct pe_eigen_request){.k = k, .tolerance = tolerance, .max_group = 64, .certify = true};
}

bool xt_eigen_solve(pe_context *ctx,
	pe_status (*engine)(pe_context *ctx, const struct pe_eigen_problem *problem,
		const struct pe_eigen_request *request, struct pe_eigen_result *out),
	struct xt_problem problem, int32_t k, int32_t count, double tolerance)
{
	struct pe_eigen_request request = xt_eigen_ask(k, tolerance);
	struct pe_eigen_result result;
	assert_int_equal(engine(ctx, &problem.p, &request, &result), PE_OK);
	assert_true(result.converged && result.complete);
	assert_int_equal(result.count, count);
	xt_eigen_check_pairs(&problem, &result, tolerance);
	double *spectrum = xt_eigen_spectrum(ctx, &problem);
	xt_eigen_check_values(&result, spectrum, 1e-11 * problem.p.norm1);
	bool certified = result.certified;
	free(spectrum);
	pe_eigen_result_free(ctx, &result);
	xt_problem_free(&problem);
	return certified;
}
