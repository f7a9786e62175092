/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <string.h>

#include "xt.h"

#include "laplacian.h"
#include "xt_lap.h"

struct built {
	pe_graph *graph;
	char *memory;
	struct pe_laplacian laplacian;
	pe_status status;
};

static struct built build(pe_context *ctx, const struct xt_edges *edges, struct pe_laplacian_rules rules)
{
	struct built b = {.graph = xt_graph(ctx, edges, 1, NULL)};
	struct pe_csr view = pe_graph_view(b.graph, 0);
	int64_t bytes = pe_laplacian_bytes(view.n, view.row[view.n]);
	b.memory = malloc((size_t)bytes);
	char *next = b.memory;
	b.status = pe_laplacian_build(ctx, &view, &rules, &next, &b.laplacian);
	assert_true(next - b.memory <= bytes);
	return b;
}

static void dispose(struct built *b)
{
	pe_graph_destroy(&b->graph);
	free(b->memory);
}

/* Blocks of the components, put where their nodes are, must be the matrix of the definition; norms and
 * bounds must be its, and M null = 0. */
static void is_the_definition(pe_context *ctx, const struct xt_edges *edges, struct pe_laplacian_rules rules)
{
	struct built b = build(ctx, edges, rules);
	const struct pe_laplacian *l = &b.laplacian;
	int n = edges->n;
	assert_int_equal(b.status, PE_OK);
	double *expected = xt_laplacian(edges, rules.normalized, rules.loops, rules.isolated, NULL);
	double *a = calloc((size_t)(n * n) + 1, sizeof *a), norm = 0;
	for (int32_t c = 0; c < l->components; c++) {
		struct pe_eigen_problem m = pe_laplacian_problem(l, c);
		const int32_t *nodes = l->order + l->start[c];
		double component_norm = 0;
		for (int32_t i = 0; i < m.n; i++) {
			double sum = fabs(m.diag[i]), product = m.diag[i] * m.null[i];
			assert_true(i == 0 || nodes[i] > nodes[i - 1]);
			a[nodes[i] * n + nodes[i]] = m.diag[i];
			for (int64_t e = m.row[i]; e < m.row[i + 1]; e++) {
				assert_true(e == m.row[i] || m.col[e] > m.col[e - 1]);
				a[nodes[i] * n + nodes[m.col[e]]] = m.val[e];
				sum += fabs(m.val[e]);
				product += m.val[e] * m.null[m.col[e]];
			}
			component_norm = fmax(component_norm, sum);
			if (l->zero[c])
				xt_close_f64(product, 0, 0, 4e-15 * l->norm1[c]);
		}
		assert_int_equal(m.row[0], 0);
		xt_close_f64(m.norm1, component_norm, 4e-15, 0);
		norm = fmax(norm, component_norm);
	}
	for (int i = 0; i < n * n; i++)
		xt_close_f64(a[i], expected[i], 4e-15, 0);
	xt_close_f64(l->norm, norm, 4e-15, 0);
	free(a);
	free(expected);
	dispose(&b);
}

static void matrices(void **state)
{
	for (int seed = 0; seed < 24; seed++) {
		struct xt_edges a = xt_random_graph((uint64_t)seed, 1 + seed, seed, seed % 3 * 4);
		struct xt_edges b = xt_random_graph((uint64_t)seed + 9, 7, 3, 0), both = xt_union(&a, &b);
		int *to = xt_permutation((uint64_t)seed, both.n);
		struct xt_edges mixed = xt_relabelled(&both, to);
		mixed.n += 2; /* isolated */
		xt_join(&mixed, 0, 0, 3);
		for (int rules = 0; rules < 8; rules++)
			is_the_definition(*state, &mixed,
				(struct pe_laplacian_rules){
					.normalized = rules & 1, .loops = rules >> 1 & 1, .isolated = rules >> 2 & 1});
		free(to);
		xt_edges_free(&a);
		xt_edges_free(&b);
		xt_edges_free(&both);
		xt_edges_free(&mixed);
	}
}

static void symmetric_to_the_bit(void **state)
{
	struct xt_edges e = xt_random_graph(1, 50, 60, 9);
	struct built b = build(*state, &e, (struct pe_laplacian_rules){.normalized = true});
	double a[50][50] = {{0}};
	struct pe_eigen_problem m = pe_laplacian_problem(&b.laplacian, 0);
	for (int32_t i = 0; i < m.n; i++)
		for (int64_t e2 = m.row[i]; e2 < m.row[i + 1]; e2++)
			a[i][m.col[e2]] = m.val[e2];
	for (int i = 0; i < 50; i++)
		for (int j = 0; j < 50; j++)
			assert_memory_equal(&a[i][j], &a[j][i], sizeof(double));
	dispose(&b);
	xt_edges_free(&e);
}

static void residuals(void **state)
{
	enum { N = 19 };
	struct xt_edges a = xt_random_graph(2, 12, 6, 2), b = xt_cycle(7), e = xt_union(&a, &b);
	struct built built = build(*state, &e, (struct pe_laplacian_rules){.normalized = true});
	double *l = xt_laplacian(&e, true, false, false, NULL);
	for (int columns = 1; columns <= 21; columns += 4) {
		double rows[N * 21], values[21], found[21];
		uint64_t r = (uint64_t)columns;
		for (int i = 0; i < N * columns; i++)
			rows[i] = (double)(xt_next(&r) % 1000) / 1000 - 0.5;
		for (int j = 0; j < columns; j++)
			values[j] = 0.1 * j;
		pe_laplacian_residuals(&built.laplacian, rows, columns, values, columns, found);
		for (int j = 0; j < columns; j++) {
			double sum = 0;
			for (int i = 0; i < N; i++) {
				double y = -values[j] * rows[i * columns + j];
				for (int t = 0; t < N; t++)
					y += l[i * N + t] * rows[t * columns + j];
				sum += y * y;
			}
			xt_close_f64(found[j], sqrt(sum), 1e-13, 0);
		}
	}
	free(l);
	dispose(&built);
	xt_edges_free(&a);
	xt_edges_free(&b);
	xt_edges_free(&e);
}

static void what_is_refused(void **state)
{
	static const struct pe_laplacian_rules sym = {.normalized = true}, none = {.normalized = false};
	struct xt_edges e = xt_path_graph(4);
	e.w[1] = -1;
	struct built b = build(*state, &e, sym);
	xt_fails(*state, b.status, PE_ERR_UNSUPPORTED, "below 0");
	dispose(&b);
	b = build(*state, &e, none);
	assert_int_equal(b.status, PE_OK);
	assert_true(b.laplacian.negative && !pe_laplacian_problem(&b.laplacian, 0).semidefinite);
	dispose(&b);
	e.w[1] = 1e200;
	b = build(*state, &e, none);
	xt_fails(*state, b.status, PE_ERR_RANGE, "degree of node 1 is 1e+200");
	dispose(&b);
	e.w[0] = 1e-200;
	e.w[1] = 1;
	b = build(*state, &e, sym);
	xt_fails(*state, b.status, PE_ERR_RANGE, "degree of node 0 is 1e-200");
	dispose(&b);
	xt_edges_free(&e);
}

/* A loop cancels in D - A, however heavy it is, and leaves the ratio of the rest to D in the other form. */
static void heavy_loops(void **state)
{
	struct xt_edges e = xt_path_graph(5), looped = xt_path_graph(5);
	for (int i = 0; i < 4; i++)
		e.w[i] = looped.w[i] = 0.1 * (i + 1);
	xt_join(&looped, 2, 2, 1e17);
	struct pe_laplacian_rules rules = {.loops = true};
	struct built plain = build(*state, &e, rules), b = build(*state, &looped, rules);
	assert_int_equal(b.status, PE_OK);
	assert_memory_equal(b.laplacian.diag, plain.laplacian.diag, 5 * sizeof(double));
	assert_memory_equal(b.laplacian.val, plain.laplacian.val, 8 * sizeof(double));
	dispose(&b);
	dispose(&plain);
	rules.normalized = true;
	b = build(*state, &looped, rules);
	xt_close_f64(b.laplacian.diag[2], 0.5 / 1e17, 0, 1e-14 * 0.5 / 1e17);
	dispose(&b);
	xt_edges_free(&e);
	xt_edges_free(&looped);
}

/* Squares of numbers below 1e-154 vanish, and with them every residual. One light edge among others does no
 * harm. */
static void weights_near_nothing(void **state)
{
	static const struct pe_laplacian_rules none = {.normalized = false};
	struct xt_edges e = xt_path_graph(4);
	e.w[2] = 1e-200;
	struct built b = build(*state, &e, none);
	assert_int_equal(b.status, PE_OK);
	dispose(&b);
	e.w[0] = e.w[1] = 2e-200;
	b = build(*state, &e, none);
	xt_fails(*state, b.status, PE_ERR_RANGE, "scale the weights");
	dispose(&b);
	xt_edges_free(&e);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matrices),
		cmocka_unit_test(symmetric_to_the_bit),
		cmocka_unit_test(residuals),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(heavy_loops),
		cmocka_unit_test(weights_near_nothing),
	};
	return xt_run(argc, argv, tests);
}
