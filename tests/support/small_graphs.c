/* SPDX-License-Identifier: BSD-2-Clause */
#include "small_graphs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64 */
uint64_t small_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void *room(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);
	if (!memory)
		abort();
	return memory;
}

/* Dense first: these graphs are small. */
static double *adjacency(int32_t n, const struct small_edge *edges, int64_t count)
{
	double *a = room((size_t)n * (size_t)n, sizeof *a);
	for (int64_t e = 0; e < count; e++) {
		a[edges[e].a * n + edges[e].b] = edges[e].weight;
		a[edges[e].b * n + edges[e].a] = edges[e].weight;
	}
	return a;
}

void small_move(struct small_set *set, const struct pe_eigen_problem *problem)
{
	if (set->count == set->capacity) {
		set->capacity = 2 * set->capacity + 16;
		set->problems = realloc(set->problems, (size_t)set->capacity * sizeof *set->problems);
		if (!set->problems)
			abort();
	}
	set->problems[set->count++] = *problem;
}

void small_add(
	struct small_set *set, int32_t n, const struct small_edge *edges, int64_t count, enum small_matrix matrix)
{
	double *a = adjacency(n, edges, count), total = 0.0;
	int64_t *row = room((size_t)n + 1, sizeof *row), at = 0;
	int32_t *col = room(2 * (size_t)count, sizeof *col);
	double *val = room(2 * (size_t)count, sizeof *val), *diag = room((size_t)n, sizeof *diag);
	double *null = room((size_t)n, sizeof *null), *degree = room((size_t)n, sizeof *degree), norm1 = 0.0;
	for (int32_t i = 0; i < n; i++) {
		for (int32_t j = 0; j < n; j++)
			degree[i] += a[i * n + j];
		total += degree[i];
	}
	for (int32_t i = 0; i < n; i++) {
		double sum = diag[i] = matrix == SMALL_PLAIN ? degree[i] : 1.0;
		for (int32_t j = 0; j < n; j++)
			if (a[i * n + j] != 0.0) {
				col[at] = j;
				val[at] = -a[i * n + j] / (matrix == SMALL_PLAIN ? 1.0 : sqrt(degree[i]) * sqrt(degree[j]));
				sum += fabs(val[at++]);
			}
		row[i + 1] = at;
		norm1 = fmax(norm1, sum);
		null[i] = matrix == SMALL_PLAIN ? sqrt(1.0 / n) : sqrt(degree[i] / total);
	}
	free(a);
	free(degree);
	struct pe_eigen_problem problem = {.n = n,
		.row = row,
		.col = col,
		.val = val,
		.diag = diag,
		.null = null,
		.norm1 = norm1,
		.upper = norm1,
		.semidefinite = true};
	small_move(set, &problem);
}

void small_free(struct small_set *set)
{
	for (int64_t i = 0; i < set->count; i++) {
		const struct pe_eigen_problem *p = &set->problems[i];
		const void *owned[] = {p->row, p->col, p->val, p->diag, p->null};
		for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
			free((void *)(uintptr_t)owned[k]);
	}
	free(set->problems);
	*set = (struct small_set){0};
}

static double uniform(uint64_t *state)
{
	return (double)((small_random(state) >> 11) + 1) * 0x1p-53;
}

static int32_t below(uint64_t *state, int32_t limit)
{
	return (int32_t)(small_random(state) % (uint64_t)limit);
}

void small_molecules(struct small_set *set, int64_t count, uint64_t seed)
{
	struct small_edge edges[64];
	*set = (struct small_set){0};
	while (set->count < count) {
		int32_t n = 6 + (below(&seed, 12) + below(&seed, 12) + below(&seed, 11)), degree[38] = {0}, e = 0;
		for (int32_t i = 1; i < n; e++, i++) {
			int32_t to;
			do
				to = i - 1 - below(&seed, i < 4 ? i : 4);
			while (degree[to] > 2);
			edges[e] = (struct small_edge){i, to, 1.0};
			degree[i]++;
			degree[to]++;
		}
		for (int32_t r = 0; r < n / 8; r++) {
			int32_t from = below(&seed, n - 5), to = from + 4 + below(&seed, 2);
			if (to < n && degree[from] < 4 && degree[to] < 4) {
				edges[e++] = (struct small_edge){from, to, 1.0};
				degree[from]++;
				degree[to]++;
			}
		}
		small_add(set, n, edges, e, SMALL_NORMALISED);
	}
}

void small_weighted(struct small_set *set, int64_t count, uint64_t seed)
{
	struct small_edge edges[120 * 3];
	*set = (struct small_set){0};
	while (set->count < count) {
		int32_t n = 40 + below(&seed, 81), e = 0;
		for (int32_t i = 1; i < n; i++)
			edges[e++] = (struct small_edge){i, below(&seed, i), uniform(&seed)};
		for (int32_t i = 0; i < 2 * n; i++) {
			int32_t from = below(&seed, n), to = below(&seed, n);
			if (from != to)
				edges[e++] = (struct small_edge){from, to, uniform(&seed)};
		}
		small_add(set, n, edges, e, SMALL_NORMALISED);
	}
}

void small_dense(const struct pe_eigen_problem *problem, double *a)
{
	int32_t n = problem->n;
	memset(a, 0, (size_t)n * (size_t)n * sizeof *a);
	for (int32_t i = 0; i < n; i++) {
		a[i * n + i] = problem->diag[i];
		for (int64_t p = problem->row[i]; p < problem->row[i + 1]; p++)
			a[i * n + problem->col[p]] = problem->val[p];
	}
}
