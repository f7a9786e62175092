/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xt.h"

#include "graph.h"
#include "reader.h"
#include "tensor.h"
#include "walk.h"

/* ---- graphs and what their encodings must be ---------------------------------------- */

/* A graph as a matrix of weights, to be freed by free(). */
struct dense {
	int n;
	bool directed, weighted;
	double *a; /* n × n */
};

static struct dense empty(int n, bool directed, bool weighted)
{
	return (struct dense){n, directed, weighted, calloc((size_t)n * (size_t)n + 1, sizeof(double))};
}

static void join(struct dense *d, int i, int j, double weight)
{
	d->a[i * d->n + j] = weight;
	if (!d->directed)
		d->a[j * d->n + i] = weight;
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Each node draws up to `degree` edges, a few of them loops; some nodes are leaves, some have nothing.
 * Weights span `orders` orders of magnitude; 0: no weights. */
static struct dense random_graph(uint64_t seed, int n, bool directed, int degree, double orders)
{
	struct dense d = empty(n, directed, orders > 0);
	uint64_t r = seed * 977 + 5;
	for (int i = 0; i < n; i++) {
		int edges = (int)(next_random(&r) % (uint64_t)(degree + 1));
		for (int e = 0; e < edges; e++) {
			int j = (int)(next_random(&r) % (uint64_t)n);
			double exponent = orders * ((double)(next_random(&r) % 1000) / 1000 - 0.5);
			if (j != i || next_random(&r) % 4 == 0)
				join(&d, i, j, pow(10, exponent));
		}
	}
	return d;
}

static pe_graph *graph_of(pe_context *ctx, const struct dense *parts, int count)
{
	pe_graph *g = pe_alloc_zero(ctx, 1, sizeof *g);
	int64_t nodes = 0, entries = 0;
	for (int p = 0; p < count; p++) {
		nodes += parts[p].n;
		for (int k = 0; k < parts[p].n * parts[p].n; k++)
			entries += parts[p].a[k] > 0;
	}
	g->allocator = ctx->allocator;
	g->ctx = ctx;
	g->count = count;
	g->nodes = g->report.nodes = nodes;
	g->directed = parts[0].directed;
	g->ptr = pe_alloc_zero(ctx, count + 1, sizeof *g->ptr);
	g->row = pe_alloc_zero(ctx, nodes + 1, sizeof *g->row);
	g->col = pe_alloc(ctx, entries, sizeof *g->col);
	g->weight = parts[0].weighted ? pe_alloc(ctx, entries, sizeof *g->weight) : NULL;
	int64_t row = 0, e = 0;
	for (int p = 0; p < count; p++) {
		int n = parts[p].n;
		for (int i = 0; i < n; i++) {
			for (int j = 0; j < n; j++)
				if (parts[p].a[i * n + j] > 0) {
					if (g->weight)
						g->weight[e] = parts[p].a[i * n + j];
					g->col[e++] = j;
				}
			g->row[++row] = e;
		}
		g->ptr[p + 1] = row;
	}
	return g;
}

enum policy { LOSE, LOOP, TELEPORT };

/* P of the definition, isolated and dangling rows by the policies. */
static double *transition(const struct dense *d, bool isolated, enum policy dangling)
{
	int n = d->n;
	double *p = calloc((size_t)(n * n) + 1, sizeof *p);
	for (int i = 0; i < n; i++) {
		double out = 0, in = 0;
		for (int j = 0; j < n; j++) {
			out += d->a[i * n + j];
			in += d->a[j * n + i];
		}
		for (int j = 0; j < n; j++)
			p[i * n + j] = out > 0 ? d->a[i * n + j] / out : 0;
		if (out > 0)
			continue;
		if (in > 0 && dangling == TELEPORT)
			for (int j = 0; j < n; j++)
				p[i * n + j] = 1.0 / n;
		p[i * n + i] += in > 0 ? dangling == LOOP : isolated;
	}
	return p;
}

/* (n, steps): diagonals of powers by plain products. */
static double *oracle(const struct dense *d, int steps, bool isolated, enum policy dangling)
{
	int n = d->n;
	size_t size = ((size_t)(n * n) + 1) * sizeof(double);
	double *p = transition(d, isolated, dangling), *power = malloc(size), *next = malloc(size);
	double *out = calloc((size_t)(n * steps) + 1, sizeof *out);
	memcpy(power, p, size);
	for (int k = 0; k < steps; k++) {
		for (int i = 0; i < n; i++)
			out[i * steps + k] = power[i * n + i];
		memset(next, 0, size);
		for (int i = 0; i < n; i++)
			for (int l = 0; l < n; l++)
				if (power[i * n + l] > 0)
					for (int j = 0; j < n; j++)
						next[i * n + j] += power[i * n + l] * p[l * n + j];
		memcpy(power, next, size);
	}
	free(p);
	free(power);
	free(next);
	return out;
}

/* The encoding in double precision, to be freed by free(). */
static double *encode(pe_context *ctx, const struct dense *parts, int count, const char *settings)
{
	pe_graph *g = graph_of(ctx, parts, count);
	pe_domain *domain;
	assert_int_equal(pe_domain_graph(ctx, g, &domain), PE_OK);
	double *out = xt_first_array(ctx, "rwse", settings, domain, NULL);
	pe_domain_destroy(&domain);
	pe_graph_destroy(&g);
	return out;
}

static void compare(const double *got, const double *want, int64_t count, double rtol)
{
	for (int64_t i = 0; i < count; i++)
		xt_close_f64(got[i], want[i], rtol, 1e-300);
}

/* Encodes d and compares with the oracle. */
static void check(pe_context *ctx, struct dense d, int steps, bool isolated, enum policy dangling)
{
	static const char *const words[] = {"lose", "loop", "teleport"};
	char settings[80];
	snprintf(settings, sizeof settings, "steps=%d,isolated=%d,dangling=%s", steps, isolated, words[dangling]);
	double *got = encode(ctx, &d, 1, settings), *want = oracle(&d, steps, isolated, dangling);
	compare(got, want, (int64_t)d.n * steps, 1e-12);
	free(got);
	free(want);
}

static void check_all(pe_context *ctx, struct dense d, int steps)
{
	for (int isolated = 0; isolated < 2; isolated++)
		for (int dangling = 0; dangling < 3; dangling++)
			check(ctx, d, steps, isolated, (enum policy)dangling);
	free(d.a);
}

/* ---- closed forms ------------------------------------------------------------------- */

static void complete_graphs(void **state)
{
	for (int n = 2; n <= 90; n += 11) {
		struct dense d = empty(n, false, false);
		for (int i = 0; i < n; i++)
			for (int j = 0; j < i; j++)
				join(&d, i, j, 1);
		double *got = encode(*state, &d, 1, "steps=12");
		for (int i = 0; i < n; i++)
			for (int k = 1; k <= 12; k++)
				xt_close_f64(got[i * 12 + k - 1], (1 + (n - 1) * pow(-1.0 / (n - 1), k)) / n, 0, 1e-15);
		free(got);
		free(d.a);
	}
}

/* (P^k)_ii of a cycle is the mean of cos^k over its angles; of an even one odd steps are 0. */
static void cycles(void **state)
{
	for (int n = 3; n <= 100; n += n < 20 ? 1 : 9) {
		struct dense d = empty(n, false, false);
		for (int i = 0; i < n; i++)
			join(&d, i, (i + 1) % n, 1);
		double *got = encode(*state, &d, 1, "steps=25");
		for (int k = 1; k <= 25; k++) {
			double want = 0;
			for (int j = 0; j < n; j++)
				want += pow(cos(2 * PE_PI * j / n), k) / n;
			for (int i = 0; i < n; i++)
				xt_close_f64(got[i * 25 + k - 1], want, 0, 1e-14);
			if (n % 2 == 0 && k % 2 == 1)
				assert_true(got[k - 1] == 0);
		}
		free(got);
		free(d.a);
	}
}

/* A star: every even step returns the hub for sure, a leaf with 1/m; odd steps return nobody. */
static void stars(void **state)
{
	static const int arms[] = {1, 2, 3, 7, 8, 9, 30, 63, 64, 200};
	for (int a = 0; a < (int)PE_COUNT(arms); a++) {
		int m = arms[a];
		struct dense d = empty(m + 1, false, false);
		for (int i = 0; i < m; i++)
			join(&d, i, m, 1);
		double *got = encode(*state, &d, 1, "steps=9");
		for (int i = 0; i <= m; i++)
			for (int k = 1; k <= 9; k++)
				xt_close_f64(got[i * 9 + k - 1], k % 2 ? 0 : i == m ? 1 : 1.0 / m, 1e-15, 0);
		free(got);
		free(d.a);
	}
}

/* On a path of two edges with weights 2 and 1/2 the second step returns with 0.8, 1 and 0.2. */
static void weights_are_probabilities(void **state)
{
	struct dense d = empty(3, false, true);
	join(&d, 0, 1, 2);
	join(&d, 1, 2, 0.5);
	double *got = encode(*state, &d, 1, "steps=2");
	double want[] = {0, 0.8, 0, 1, 0, 0.2};
	compare(got, want, 6, 1e-15);
	free(got);
	free(d.a);
}

/* ---- against dense powers ----------------------------------------------------------- */

static void undirected_like_dense_powers(void **state)
{
	static const int steps[] = {1, 2, 3, 7, 20, 21};
	for (int n = 0; n <= 96; n += n < 30 ? 1 : 7)
		for (int degree = 1; degree <= 4; degree += n % 2 + 1)
			check_all(*state, random_graph((uint64_t)n, n, false, degree, 0), steps[(n + degree) % 6]);
	check_all(*state, random_graph(1, 60, false, 30, 0), 20);
	check_all(*state, random_graph(2, 150, false, 2, 0), 20);
}

static void weighted_like_dense_powers(void **state)
{
	for (int n = 1; n <= 96; n += n < 30 ? 1 : 7)
		for (int degree = 1; degree <= 3; degree++) {
			check_all(*state, random_graph((uint64_t)n, n, false, degree, 2), 9 + n % 2);
			check_all(*state, random_graph((uint64_t)n, n, false, degree, 12), 20 + n % 2);
		}
}

static void directed_like_dense_powers(void **state)
{
	for (int n = 1; n <= 80; n += n < 24 ? 1 : 7)
		for (int degree = 1; degree <= 3; degree++) {
			check_all(*state, random_graph((uint64_t)n, n, true, degree, 0), 19 + n % 2);
			check_all(*state, random_graph((uint64_t)n, n, true, degree, 12), 7 + n % 3);
		}
}

/* Sums of these weights overflow, or their squares vanish; their ratios are what counts. */
static void weights_of_any_size(void **state)
{
	for (int directed = 0; directed < 2; directed++) {
		struct dense d = random_graph(3, 40, directed, 4, 1);
		double *want = oracle(&d, 10, false, LOSE);
		static const double scales[] = {0x1p1022, 0x1p-1015};
		for (int s = 0; s < 2; s++) {
			struct dense scaled = empty(d.n, directed, true);
			for (int k = 0; k < d.n * d.n; k++)
				scaled.a[k] = d.a[k] * scales[s];
			double *got = encode(*state, &scaled, 1, "steps=10");
			compare(got, want, d.n * 10, 1e-12);
			free(got);
			free(scaled.a);
		}
		free(want);
		free(d.a);
	}
}

/* Edges of weight 0 are no edges, but they are stored. */
static void edges_without_weight(void **state)
{
	pe_context *ctx = *state;
	for (int t = 0; t < 40; t++) {
		int n = t % 2 ? 30 : 100;
		bool directed = t % 5 == 0;
		struct dense d = random_graph((uint64_t)t, n, directed, 1, 1);
		struct dense more = random_graph((uint64_t)t + 100, n, directed, 1, 1);
		double *want = oracle(&d, 12, true, LOSE);
		for (int k = 0; k < n * n; k++)
			more.a[k] += d.a[k];
		pe_graph *g = graph_of(ctx, &more, 1);
		for (int i = 0; i < n; i++)
			for (int64_t e = g->row[i]; e < g->row[i + 1]; e++)
				g->weight[e] = d.a[i * n + g->col[e]];
		pe_domain *domain;
		assert_int_equal(pe_domain_graph(ctx, g, &domain), PE_OK);
		double *got = xt_first_array(ctx, "rwse", "steps=12,isolated=1", domain, NULL);
		compare(got, want, n * 12, 1e-12);
		pe_domain_destroy(&domain);
		pe_graph_destroy(&g);
		free(got);
		free(want);
		free(d.a);
		free(more.a);
	}
}

/* The engine for large graphs, on small ones too. */
static void engines_agree(void **state)
{
	pe_context *ctx = *state;
	enum { STEPS = 20 };
	for (int n = 2; n <= 64; n += 3) {
		struct dense d = random_graph((uint64_t)n + 50, n, false, 2, n % 2 ? 3 : 0);
		pe_graph *g = graph_of(ctx, &d, 1);
		struct pe_csr view = pe_graph_view(g, 0);
		struct pe_walk walk;
		struct pe_walk_plan plan;
		struct pe_walk_scratch *scratch;
		struct pe_walk_small *small;
		double *rows = calloc(65 * STEPS, sizeof *rows), *some = calloc(64 * STEPS, sizeof *some);
		assert_int_equal(pe_walk_create(ctx, &view, false, &walk), PE_OK);
		assert_int_equal(pe_walk_small_create(ctx, STEPS, &small), PE_OK);
		pe_walk_small(ctx, small, &walk, rows);
		assert_int_equal(pe_walk_plan_create(ctx, &walk, STEPS, &plan), PE_OK);
		assert_int_equal(pe_walk_scratch_create(ctx, &plan, &scratch), PE_OK);
		int64_t seen = 0;
		for (int64_t b = 0, count; b < plan.blocks; b++, seen += count) {
			assert_int_equal(pe_walk_block_rows(ctx, scratch, b, some, &count), PE_OK);
			for (int64_t k = 0; k < count; k++)
				compare(some + k * STEPS, rows + plan.start[b * plan.per_block + k] * STEPS, STEPS, 1e-13);
		}
		assert_int_equal(seen, plan.starts);
		for (int32_t i = 0; i < n; i++)
			seen += pe_walk_leaf(&walk, i) >= 0 || pe_walk_end(&walk, i) != PE_WALK_GOES_ON;
		assert_int_equal(seen, n);
		pe_walk_scratch_destroy(ctx, &scratch);
		pe_walk_plan_free(ctx, &plan);
		pe_walk_small_destroy(ctx, &small);
		pe_walk_free(ctx, &walk);
		pe_graph_destroy(&g);
		free(rows);
		free(some);
		free(d.a);
	}
}

/* ---- against other programs --------------------------------------------------------- */

static pe_tensor array_of(const pe_bundle *bundle, const char *name)
{
	pe_tensor t;
	assert_true(pe_bundle_find(bundle, name, &t));
	return t;
}

static pe_graph *graph_from(pe_context *ctx, const pe_bundle *bundle, bool directed)
{
	pe_params *params;
	pe_graph *g;
	pe_tensor index = array_of(bundle, "edge_index"), nodes = array_of(bundle, "num_nodes"), weight;
	bool weighted = pe_bundle_find(bundle, "edge_weight", &weight);
	assert_int_equal(pe_params_create(ctx, "graph", &params), PE_OK);
	xt_set(params, directed ? "edges=directed" : "edges=undirected");
	assert_int_equal(pe_graph_from_arrays(ctx, &index, weighted ? &weight : NULL, NULL,
						 *(const int64_t *)nodes.data, params, &g),
		PE_OK);
	pe_params_destroy(&params);
	return g;
}

/* tests/golden/make_rwse.py: networkx, extended precision, and what PyTorch Geometric computes. */
static void like_golden_values(void **state)
{
	pe_context *ctx = *state;
	static const struct {
		const char *name, *settings;
		bool directed;
	} cases[] = {
		{"karate", "steps=20", false},
		{"karate_weighted", "steps=20", false},
		{"miserables", "steps=20", false},
		{"tree", "steps=20", false},
		{"small_world", "steps=20", false},
		{"pieces", "steps=20", false},
		{"twelve_orders", "steps=20", false},
		{"directed_lose", "steps=20", true},
		{"directed_loop", "steps=20,dangling=loop", true},
		{"directed_teleport", "steps=20,dangling=teleport", true},
		{"directed_weighted", "steps=20,dangling=teleport", true},
	};
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		char path[100];
		pe_bundle *bundle;
		pe_domain *domain;
		pe_tensor pyg;
		snprintf(path, sizeof path, "tests/golden/rwse/%s.npz", cases[c].name);
		assert_int_equal(pe_bundle_from_file(ctx, xt_source(path), NULL, &bundle), PE_OK);
		pe_graph *g = graph_from(ctx, bundle, cases[c].directed);
		assert_int_equal(pe_domain_graph(ctx, g, &domain), PE_OK);
		double *got = xt_first_array(ctx, "rwse", cases[c].settings, domain, NULL);
		pe_tensor want = array_of(bundle, "random_walk_pe");
		compare(got, want.data, pe_tensor_count(&want), 2e-14);
		if (pe_bundle_find(bundle, "pyg", &pyg)) {
			free(got);
			got = xt_first_array(ctx, "rwse", "preset=pyg", domain, NULL);
			for (int64_t i = 0; i < pe_tensor_count(&pyg); i++)
				xt_close_f64(got[i], (double)((const float *)pyg.data)[i], 1e-5, 1e-7);
		}
		free(got);
		pe_domain_destroy(&domain);
		pe_graph_destroy(&g);
		pe_bundle_destroy(&bundle);
	}
}

/* Real molecules, a thousand of them, against dense powers. */
static void molecules(void **state)
{
	pe_context *ctx = *state;
	enum { COUNT = 1000, STEPS = 20 };
	FILE *file = fopen(xt_data("molecules-zinc24k/zinc24k.g6"), "r");
	assert_non_null(file);
	char *text = malloc(1 << 20);
	size_t size = 0;
	for (int i = 0; i < COUNT && fgets(text + size, 1000, file); i++)
		size += strlen(text + size);
	fclose(file);
	struct pe_source source = {.data = text, .size = size, .name = "zinc24k.g6"};
	struct pe_graph_policy policy = {.weight_column = -1};
	struct pe_raw_graphs raw = {0};
	pe_graph *g;
	pe_domain *domain;
	assert_int_equal(pe_reader_graph6.read(ctx, &source, &policy, &raw), PE_OK);
	assert_int_equal(pe_graph_build(ctx, &raw, &policy, &g), PE_OK);
	pe_raw_graphs_free(ctx, &raw);
	assert_int_equal(g->count, COUNT);
	assert_int_equal(pe_domain_graph(ctx, g, &domain), PE_OK);
	double *got = xt_first_array(ctx, "rwse", "", domain, NULL);
	for (int64_t p = 0; p < COUNT; p++) {
		struct pe_csr view = pe_graph_view(g, p);
		struct dense d = empty(view.n, false, false);
		for (int i = 0; i < view.n; i++)
			for (int64_t e = view.row[i]; e < view.row[i + 1]; e++)
				d.a[i * view.n + view.col[e]] = 1;
		double *want = oracle(&d, STEPS, false, LOSE);
		compare(got + g->ptr[p] * STEPS, want, view.n * STEPS, 1e-14);
		free(want);
		free(d.a);
	}
	free(got);
	free(text);
	pe_domain_destroy(&domain);
	pe_graph_destroy(&g);
}

/* Real graphs too large for dense powers: some nodes, by moving their probability step by step. */
static void large_graphs(void **state)
{
	pe_context *ctx = *state;
	static const char *const names[] = {"4elt", "power", "polblogs"};
	for (int t = 0; t < 3; t++) {
		char name[60];
		pe_graph *g;
		pe_domain *domain;
		snprintf(name, sizeof name, "graphs-metis/%s.graph", names[t]);
		assert_int_equal(pe_graph_from_file(ctx, xt_data(name), NULL, &g), PE_OK);
		assert_int_equal(pe_domain_graph(ctx, g, &domain), PE_OK);
		double *got = xt_first_array(ctx, "rwse", "steps=20", domain, NULL);
		double *now = malloc((size_t)g->nodes * sizeof *now), *next = malloc((size_t)g->nodes * sizeof *next);
		for (int64_t i = 5; i < g->nodes; i += g->nodes / 40) {
			memset(now, 0, (size_t)g->nodes * sizeof *now);
			now[i] = 1;
			for (int k = 0; k < 20; k++) {
				memset(next, 0, (size_t)g->nodes * sizeof *next);
				for (int64_t j = 0; j < g->nodes; j++)
					for (int64_t e = g->row[j]; e < g->row[j + 1]; e++)
						next[g->col[e]] += now[j] / (double)(g->row[j + 1] - g->row[j]);
				memcpy(now, next, (size_t)g->nodes * sizeof *now);
				xt_close_f64(got[i * 20 + k], now[i], 1e-13, 0);
			}
		}
		free(now);
		free(next);
		free(got);
		pe_domain_destroy(&domain);
		pe_graph_destroy(&g);
	}
}

/* ---- relations ---------------------------------------------------------------------- */

/* Σ_i (P^k)_ii is the sum of k-th powers of the eigenvalues of P: of a grid of paths, products. Here
 * of the path, whose eigenvalues are cos(π j / (n - 1)). */
static void traces_are_sums_of_powers_of_eigenvalues(void **state)
{
	for (int n = 2; n <= 70; n += 4) {
		struct dense d = empty(n, false, false);
		for (int i = 0; i + 1 < n; i++)
			join(&d, i, i + 1, 1);
		double *got = encode(*state, &d, 1, "steps=20");
		for (int k = 1; k <= 20; k++) {
			double trace = 0, powers = 0;
			for (int i = 0; i < n; i++) {
				trace += got[i * 20 + k - 1];
				powers += pow(cos(PE_PI * i / (n - 1)), k);
			}
			xt_close_f64(trace, powers, 1e-12, 1e-12);
		}
		free(got);
		free(d.a);
	}
}

static void rows_follow_a_permutation(void **state)
{
	static const int sizes[] = {23, 64, 77};
	for (int t = 0; t < 6; t++) {
		int n = sizes[t % 3], *at = malloc((size_t)n * sizeof *at);
		bool directed = t >= 3;
		struct dense d = random_graph(7, n, directed, 3, 1), moved = empty(n, directed, true);
		for (int i = 0; i < n; i++)
			at[i] = (i * 5 + 2) % n;
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				moved.a[at[i] * n + at[j]] = d.a[i * n + j];
		double *a = encode(*state, &d, 1, "steps=20"), *b = encode(*state, &moved, 1, "steps=20");
		for (int i = 0; i < n; i++)
			compare(b + at[i] * 20, a + i * 20, 20, 1e-13);
		free(a);
		free(b);
		free(at);
		free(d.a);
		free(moved.a);
	}
}

/* Many graphs: each has the bits that it has alone. */
static void graphs_do_not_see_each_other(void **state)
{
	enum { COUNT = 40 };
	struct dense parts[COUNT];
	for (int directed = 0; directed < 2; directed++) {
		for (int p = 0; p < COUNT; p++)
			parts[p] = random_graph((uint64_t)p + 100, p * 37 % 90, directed, 1 + p % 3, 0);
		double *all = encode(*state, parts, COUNT, "steps=17,dangling=teleport"), *at = all;
		for (int p = 0; p < COUNT; p++) {
			double *alone = encode(*state, &parts[p], 1, "steps=17,dangling=teleport");
			assert_memory_equal(at, alone, (size_t)parts[p].n * 17 * sizeof *at);
			at += parts[p].n * 17;
			free(alone);
			free(parts[p].a);
		}
		free(all);
	}
}

/* Two graphs as one: the blocks keep their rows. */
static void unions_are_their_parts(void **state)
{
	static const int sizes[][2] = {{10, 20}, {40, 60}};
	for (int t = 0; t < 2; t++) {
		int n = sizes[t][0], m = sizes[t][1];
		struct dense a = random_graph(1, n, false, 2, 2), b = random_graph(2, m, false, 2, 2);
		struct dense both = empty(n + m, false, true);
		for (int i = 0; i < n * n; i++)
			both.a[i / n * (n + m) + i % n] = a.a[i];
		for (int i = 0; i < m * m; i++)
			both.a[(n + i / m) * (n + m) + n + i % m] = b.a[i];
		double *pa = encode(*state, &a, 1, "steps=15"), *pb = encode(*state, &b, 1, "steps=15");
		double *got = encode(*state, &both, 1, "steps=15");
		compare(got, pa, n * 15, 1e-13);
		compare(got + n * 15, pb, m * 15, 1e-13);
		free(pa);
		free(pb);
		free(got);
		free(a.a);
		free(b.a);
		free(both.a);
	}
}

/* ---- machines, threads, outputs ----------------------------------------------------- */

/* A grid with diagonals, larger than any graph that is done by one thread. */
static pe_graph *large_grid(pe_context *ctx, bool directed)
{
	enum { W = 61, H = 41 };
	pe_graph *g = pe_alloc_zero(ctx, 1, sizeof *g);
	*g =
		(pe_graph){.allocator = ctx->allocator, .ctx = ctx, .count = 1, .nodes = W * H, .directed = directed};
	g->report.nodes = g->nodes;
	g->ptr = pe_alloc_zero(ctx, 2, sizeof *g->ptr);
	g->ptr[1] = g->nodes;
	g->row = pe_alloc_zero(ctx, g->nodes + 1, sizeof *g->row);
	g->col = pe_alloc(ctx, g->nodes * 9, sizeof *g->col);
	int64_t count = 0;
	for (int i = 0; i < W * H; i++) {
		for (int dy = -1; dy <= 1; dy++)
			for (int dx = -1; dx <= 1; dx++) {
				int x = i % W + dx, y = i / W + dy;
				bool inside = x >= 0 && x < W && y >= 0 && y < H;
				if (inside && dx != -dy && (!directed || dx > 0 || dy > 0 || i % 3 == 0))
					g->col[count++] = y * W + x;
			}
		g->row[i + 1] = count;
	}
	return g;
}

static double *encode_grid(int32_t threads, const char *cpu, bool directed, int64_t *count)
{
	pe_context *ctx = xt_context(threads, cpu);
	pe_graph *g = large_grid(ctx, directed);
	pe_domain *domain;
	assert_int_equal(pe_domain_graph(ctx, g, &domain), PE_OK);
	double *out = xt_first_array(ctx, "rwse", "steps=20,dangling=teleport", domain, NULL);
	*count = g->nodes * 20;
	pe_domain_destroy(&domain);
	pe_graph_destroy(&g);
	pe_context_destroy(&ctx);
	return out;
}

static void same_bits_at_any_thread_count(void **state)
{
	(void)state;
	int64_t count;
	for (int directed = 0; directed < 2; directed++) {
		double *one = encode_grid(1, NULL, directed, &count);
		for (int32_t threads = 2; threads <= 4; threads += 2) {
			double *more = encode_grid(threads, NULL, directed, &count);
			assert_memory_equal(one, more, (size_t)count * sizeof *one);
			free(more);
		}
		free(one);
	}
}

static void every_kernel_set(void **state)
{
	char sets[64];
	strcpy(sets, pe_context_cpus(*state));
	for (char *rest = sets, *set; (set = strtok_r(rest, " ", &rest));) {
		pe_context *ctx = xt_context(1, set);
		for (int n = 5; n <= 90; n += 17)
			for (int orders = 0; orders <= 3; orders += 3) {
				check_all(ctx, random_graph((uint64_t)n, n, false, 3, orders), 20);
				check_all(ctx, random_graph((uint64_t)n, n, true, 3, orders), 20);
			}
		pe_context_destroy(&ctx);
	}
}

static void allocation_failures(void **state)
{
	pe_context *ctx = *state;
	for (int t = 0; t < 6; t++) {
		struct dense d = random_graph(4, t % 3 ? 70 : 30, t >= 3, 2, t % 2);
		pe_graph *g = graph_of(ctx, &d, 1);
		pe_domain *domain;
		pe_params *params;
		assert_int_equal(pe_domain_graph(ctx, g, &domain), PE_OK);
		assert_int_equal(pe_params_create(ctx, "rwse", &params), PE_OK);
		xt_set(params, "dangling=teleport");
		double *out = malloc((size_t)d.n * 20 * sizeof *out);
		int64_t shape[] = {d.n, 20};
		pe_tensor tensor = pe_tensor_dense(out, PE_F64, 2, shape);
		struct xt_shortage s = {0};
		while (xt_shortage_next(&s)) {
			pe_encoding *e;
			xt_shortage_begin(&s);
			pe_status status = pe_encoding_create(ctx, pe_encoder_find("rwse"), params, domain, NULL, &e);
			if (status == PE_OK)
				status = pe_encoding_compute(e, &tensor, 1);
			xt_shortage_end(&s, status);
			pe_encoding_destroy(&e);
		}
		free(out);
		pe_params_destroy(&params);
		pe_domain_destroy(&domain);
		pe_graph_destroy(&g);
		free(d.a);
	}
}

/* Columns reversed in memory order, rows apart, and narrower types. */
static void outputs_of_any_stride_and_type(void **state)
{
	pe_context *ctx = *state;
	static const int sizes[] = {21, 70};
	for (int t = 0; t < 2; t++) {
		struct dense d = random_graph(11, sizes[t], false, 3, 0);
		pe_graph *g = graph_of(ctx, &d, 1);
		pe_domain *domain;
		pe_encoding *e;
		assert_int_equal(pe_domain_graph(ctx, g, &domain), PE_OK);
		assert_int_equal(pe_encoding_create(ctx, pe_encoder_find("rwse"), NULL, domain, NULL, &e), PE_OK);
		double *want = encode(ctx, &d, 1, "steps=20"), *wide = malloc(70 * 64 * sizeof *wide);
		float *single = malloc(70 * 20 * sizeof *single);
		uint16_t *half = malloc(70 * 20 * sizeof *half);
		int64_t shape[] = {d.n, 20};
		pe_tensor strided = pe_tensor_dense(wide, PE_F64, 2, shape);
		strided.strides[0] = 1;
		strided.strides[1] = 71;
		wide = realloc(wide, 71 * 20 * sizeof *wide);
		strided.data = wide;
		pe_tensor f32 = pe_tensor_dense(single, PE_F32, 2, shape);
		pe_tensor f16 = pe_tensor_dense(half, PE_F16, 2, shape);
		assert_int_equal(pe_encoding_compute(e, &strided, 1), PE_OK);
		assert_int_equal(pe_encoding_compute(e, &f32, 1), PE_OK);
		assert_int_equal(pe_encoding_compute(e, &f16, 1), PE_OK);
		for (int i = 0; i < d.n; i++)
			for (int k = 0; k < 20; k++) {
				assert_true(wide[i + 71 * k] == want[i * 20 + k]);
				assert_true(single[i * 20 + k] == (float)want[i * 20 + k]);
				double back;
				pe_load_f64(&back, &half[i * 20 + k], PE_F16, 1, 1);
				xt_close_f64(back, want[i * 20 + k], 0x1p-11, 0x1p-25);
			}
		free(want);
		free(wide);
		free(single);
		free(half);
		pe_encoding_destroy(&e);
		pe_domain_destroy(&domain);
		pe_graph_destroy(&g);
		free(d.a);
	}
}

static void negative_weights_are_refused(void **state)
{
	pe_context *ctx = *state;
	struct dense d = random_graph(1, 5, false, 2, 1);
	pe_graph *g = graph_of(ctx, &d, 1);
	g->negative = true;
	pe_domain *domain;
	pe_encoding *e;
	assert_int_equal(pe_domain_graph(ctx, g, &domain), PE_OK);
	xt_fails(ctx, pe_encoding_create(ctx, pe_encoder_find("rwse"), NULL, domain, NULL, &e),
		PE_ERR_UNSUPPORTED, "rwse: a weight is negative");
	pe_domain_destroy(&domain);
	pe_graph_destroy(&g);
	free(d.a);
}

/* graphgps: the same numbers under the name that its loaders expect. */
static void presets_name_the_array(void **state)
{
	static const char *const presets[][2] = {
		{"", "random_walk_pe"}, {"preset=pyg", "random_walk_pe"}, {"preset=graphgps", "pestat_RWSE"}};
	pe_context *ctx = *state;
	struct dense d = random_graph(1, 9, false, 2, 0);
	pe_graph *g = graph_of(ctx, &d, 1);
	pe_domain *domain;
	assert_int_equal(pe_domain_graph(ctx, g, &domain), PE_OK);
	for (int t = 0; t < 3; t++) {
		pe_params *params;
		pe_encoding *e;
		pe_array_info info;
		assert_int_equal(pe_params_create(ctx, "rwse", &params), PE_OK);
		xt_set(params, presets[t][0]);
		assert_int_equal(pe_encoding_create(ctx, pe_encoder_find("rwse"), params, domain, NULL, &e), PE_OK);
		assert_int_equal(pe_encoding_array(e, 0, &info), PE_OK);
		assert_string_equal(info.name, presets[t][1]);
		assert_true(info.shape[0] == 9 && info.shape[1] == 20 && info.per_token);
		pe_encoding_destroy(&e);
		pe_params_destroy(&params);
	}
	pe_domain_destroy(&domain);
	pe_graph_destroy(&g);
	free(d.a);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(complete_graphs),
		cmocka_unit_test(cycles),
		cmocka_unit_test(stars),
		cmocka_unit_test(weights_are_probabilities),
		cmocka_unit_test(undirected_like_dense_powers),
		cmocka_unit_test(weighted_like_dense_powers),
		cmocka_unit_test(directed_like_dense_powers),
		cmocka_unit_test(weights_of_any_size),
		cmocka_unit_test(edges_without_weight),
		cmocka_unit_test(engines_agree),
		cmocka_unit_test(like_golden_values),
		cmocka_unit_test(molecules),
		cmocka_unit_test(large_graphs),
		cmocka_unit_test(traces_are_sums_of_powers_of_eigenvalues),
		cmocka_unit_test(rows_follow_a_permutation),
		cmocka_unit_test(graphs_do_not_see_each_other),
		cmocka_unit_test(unions_are_their_parts),
		cmocka_unit_test(same_bits_at_any_thread_count),
		cmocka_unit_test(every_kernel_set),
		cmocka_unit_test(allocation_failures),
		cmocka_unit_test(outputs_of_any_stride_and_type),
		cmocka_unit_test(negative_weights_are_refused),
		cmocka_unit_test(presets_name_the_array),
	};
	return xt_run(argc, argv, tests);
}
