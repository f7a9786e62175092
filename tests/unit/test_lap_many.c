/* SPDX-License-Identifier: BSD-2-Clause
 * Encoder lap on many graphs at once. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xt.h"

#include "context.h"
#include "tensor.h"
#include "xt_lap.h"

/* All sorts: 0 to 90 nodes, connected or not, symmetric or not, now and then isolated nodes. */
static struct xt_edges variety(int i)
{
	struct xt_edges a, b, e;
	switch (i % 10) {
	case 0:
		return xt_empty(i / 10 % 4);
	case 1:
		return xt_cycle(3 + i % 30);
	case 2:
		return xt_complete(1 + i % 13);
	case 3:
		a = xt_random_graph((uint64_t)i, 1 + i % 20, 4, 0);
		b = xt_random_graph((uint64_t)i + 1, 1 + i % 9, 2, 0);
		e = xt_union(&a, &b);
		xt_edges_free(&a);
		xt_edges_free(&b);
		e.n += i % 3;
		return e;
	case 4:
		return xt_random_graph((uint64_t)i, 90, 40, 0);
	default:
		return xt_random_graph((uint64_t)i, 2 + i % 37, i % 37 / 3, 0);
	}
}

struct dataset {
	int count;
	struct xt_edges *graphs;
	int64_t *ptr;
};

static struct dataset make(int count)
{
	struct dataset d = {.count = count};
	d.graphs = calloc((size_t)count, sizeof *d.graphs);
	d.ptr = calloc((size_t)count + 1, sizeof *d.ptr);
	for (int i = 0; i < count; i++) {
		d.graphs[i] = variety(i);
		d.ptr[i + 1] = d.ptr[i] + d.graphs[i].n;
	}
	return d;
}

static void dispose(struct dataset *d)
{
	for (int i = 0; i < d->count; i++)
		xt_edges_free(&d->graphs[i]);
	free(d->graphs);
	free(d->ptr);
}

/* The rows of one graph as a result of its own, owned by `all`. */
static struct xt_lap part(const struct xt_lap *all, const struct dataset *d, int g)
{
	struct xt_lap lap = *all;
	lap.nodes = d->graphs[g].n;
	lap.graphs = 1;
	lap.vectors += d->ptr[g] * all->k;
	lap.values += g * all->k;
	lap.groups += g * all->k;
	return lap;
}

static bool same_bits(const void *a, const void *b, size_t size)
{
	return size == 0 || memcmp(a, b, size) == 0;
}

static void same_results(const struct xt_lap *a, const struct xt_lap *b)
{
	assert_int_equal(a->nodes, b->nodes);
	assert_true(same_bits(a->vectors, b->vectors, (size_t)(a->nodes * a->k) * sizeof(double)));
	assert_true(same_bits(a->values, b->values, (size_t)(a->graphs * a->k) * sizeof(double)));
	assert_true(same_bits(a->groups, b->groups, (size_t)(a->graphs * a->k) * sizeof(int32_t)));
}

static void each_graph_has_its_pairs(void **state)
{
	static const char *const settings[] = {
		"", "normalization=none,k=5,zero=keep", "zero=drop_first,isolated=1"};
	struct dataset d = make(300);
	for (int s = 0; s < 3; s++) {
		pe_graph *graph = xt_graph(*state, d.graphs, d.count, NULL);
		struct xt_lap all = xt_lap(*state, graph, settings[s]);
		assert_int_equal(all.status, PE_OK);
		assert_true(all.quality.max_residual <= 1e-12 && all.quality.max_orthogonality_error <= 1e-12);
		assert_int_equal(all.quality.certified, d.count);
		for (int g = 0; g < d.count; g++) {
			struct xt_lap one = part(&all, &d, g);
			int columns = 0, n = d.graphs[g].n;
			while (columns < one.k && one.groups[columns] >= 0)
				columns++;
			double *l = xt_laplacian(&d.graphs[g], s != 1, false, s == 2, NULL);
			xt_check_pairs(l, n, &one, columns, 1e-12);
			double *values = calloc((size_t)n + 1, sizeof *values);
			xt_eigen(l, n, values);
			int zeros = 0;
			while (s == 0 && zeros < n && values[zeros] < 1e-10)
				zeros++;
			if (s == 2)
				zeros = 1;
			assert_int_equal(columns, n <= zeros ? 0 : n - zeros < one.k ? n - zeros : one.k);
			for (int j = 0; j < columns; j++)
				xt_close_f64(one.values[j], values[zeros + j], 1e-12, 1e-13);
			free(values);
			free(l);
		}
		xt_lap_free(&all);
		pe_graph_destroy(&graph);
	}
	dispose(&d);
}

static void alone_as_among_others(void **state)
{
	struct dataset d = make(120);
	pe_graph *graph = xt_graph(*state, d.graphs, d.count, NULL);
	struct xt_lap all = xt_lap(*state, graph, "k=6,zero=drop_first");
	for (int g = 0; g < d.count; g++) {
		struct xt_lap among = part(&all, &d, g),
					  alone = xt_lap_of(*state, &d.graphs[g], NULL, "k=6,zero=drop_first");
		same_results(&among, &alone);
		xt_lap_free(&alone);
	}
	/* And in any other company. */
	pe_graph *others = xt_graph(*state, d.graphs + 1, d.count - 1, NULL);
	struct xt_lap fewer = xt_lap(*state, others, "k=6,zero=drop_first");
	assert_true(
		same_bits(fewer.vectors, all.vectors + d.ptr[1] * 6, (size_t)(fewer.nodes * 6) * sizeof(double)));
	xt_lap_free(&fewer);
	xt_lap_free(&all);
	pe_graph_destroy(&others);
	pe_graph_destroy(&graph);
	dispose(&d);
}

static void any_number_of_threads(void **state)
{
	struct dataset d = make(9000); /* several chunks */
	struct xt_lap results[3];
	(void)state;
	for (int t = 0; t < 3; t++) {
		pe_context *ctx = xt_context(1 << t, NULL);
		pe_graph *graph = xt_graph(ctx, d.graphs, d.count, NULL);
		results[t] = xt_lap(ctx, graph, "sign=random");
		pe_graph_destroy(&graph);
		pe_context_destroy(&ctx);
		assert_int_equal(results[t].status, PE_OK);
		same_results(&results[t], &results[0]);
		assert_memory_equal(&results[t].quality, &results[0].quality, sizeof results[0].quality);
	}
	for (int t = 0; t < 3; t++)
		xt_lap_free(&results[t]);
	dispose(&d);
}

/* ---- failures ----------------------------------------------------------------------- */

static void some_fail(void **state)
{
	struct dataset d = make(40);
	for (int e = 0; e < d.graphs[11].count; e++)
		d.graphs[11].w[e] = -1;
	d.graphs[26].w[0] = -0.5;
	pe_graph *graph = xt_graph(*state, d.graphs, d.count, NULL);
	for (int nan = 0; nan < 2; nan++) {
		struct xt_lap all = xt_lap(*state, graph, nan ? "pad=nan" : "pad=zero");
		assert_int_equal(all.status, PE_ERR_PARTIAL);
		assert_non_null(
			strstr(all.message, "2 of 40 graphs failed; the first is graph 11: there are edge weights"));
		assert_int_equal(all.quality.failed, 2);
		assert_int_equal(all.failed[0], 11);
		assert_int_equal(all.failed[1], 26);
		assert_int_equal(all.quality.certified, 38);
		struct xt_lap bad = part(&all, &d, 26), good = part(&all, &d, 25);
		double *l = xt_laplacian(&d.graphs[25], true, false, false, NULL);
		xt_check_pairs(l, d.graphs[25].n, &good, (int)pe_min(8, d.graphs[25].n - 1), 1e-12);
		free(l);
		for (int i = 0; i < bad.nodes * 8; i++)
			xt_close_f64(bad.vectors[i], nan ? NAN : 0, 0, 0);
		for (int j = 0; j < 8; j++) {
			xt_close_f64(bad.values[j], nan ? NAN : 0, 0, 0);
			assert_int_equal(bad.groups[j], -1);
		}
		xt_lap_free(&all);
	}
	pe_graph_destroy(&graph);
	dispose(&d);
}

static void padding_as_failure(void **state)
{
	struct xt_edges graphs[] = {xt_cycle(9), xt_path_graph(4), xt_cycle(10), xt_empty(0)};
	pe_graph *graph = xt_graph(*state, graphs, 4, NULL);
	struct xt_lap all = xt_lap(*state, graph, "pad=error,k=5");
	assert_int_equal(all.status, PE_ERR_PARTIAL);
	assert_int_equal(all.quality.failed, 2);
	assert_int_equal(all.failed[0], 1);
	assert_int_equal(all.failed[1], 3);
	assert_true(isnan(all.vectors[9 * 5]) && !isnan(all.vectors[13 * 5]));
	xt_lap_free(&all);
	pe_graph_destroy(&graph);
	for (int g = 0; g < 4; g++)
		xt_edges_free(&graphs[g]);
}

/* ---- outputs ------------------------------------------------------------------------ */

static pe_status encode(pe_context *ctx, const pe_graph *graph, const char *settings, pe_tensor *outs)
{
	pe_params *params;
	pe_domain *domain;
	pe_encoding *e;
	assert_int_equal(pe_params_create(ctx, "lap", &params), PE_OK);
	xt_set(params, settings);
	assert_int_equal(pe_domain_graph(ctx, graph, &domain), PE_OK);
	assert_int_equal(pe_encoding_create(ctx, pe_encoder_find("lap"), params, domain, NULL, &e), PE_OK);
	pe_status status = pe_encoding_compute(e, outs, 3);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_params_destroy(&params);
	return status;
}

static void types_and_strides(void **state)
{
	enum { K = 5 };
	struct dataset d = make(60);
	pe_graph *graph = xt_graph(*state, d.graphs, d.count, NULL);
	struct xt_lap all = xt_lap(*state, graph, "k=5");
	static const pe_dtype dtypes[] = {PE_F64, PE_F32, PE_F16, PE_BF16};
	int64_t nodes = d.ptr[d.count], rows = nodes > d.count ? nodes : d.count;
	for (int t = 0; t < 4; t++)
		for (int strided = 0; strided < 3; strided++) {
			/* Dense; column after column, with gaps; rows with gaps between them. */
			int64_t row = strided == 0 ? K
				: strided == 1         ? 2
									   : K + 2,
					column = strided == 1 ? 2 * rows + 3 : 1;
			size_t item = pe_dtype_size(dtypes[t]), size = (size_t)(rows * row + K * column) * 8;
			char *memory[3];
			pe_tensor outs[3];
			for (int o = 0; o < 3; o++) {
				memory[o] = malloc(size);
				memset(memory[o], 0x5A, size);
				outs[o] = (pe_tensor){.data = memory[o],
					.dtype = o < 2 ? dtypes[t]
						: strided  ? PE_I64
								   : PE_I32,
					.ndim = 2,
					.shape = {o ? d.count : nodes, K},
					.strides = {row, column}};
			}
			assert_int_equal(encode(*state, graph, "k=5", outs), PE_OK);
			for (int64_t i = 0; i < nodes; i++)
				for (int64_t j = 0; j < K; j++) {
					char expected[8];
					pe_store_f64(expected, dtypes[t], 1, &all.vectors[i * K + j], 1, 1);
					assert_memory_equal(memory[0] + (size_t)(i * row + j * column) * item, expected, item);
				}
			for (int64_t g = 0; g < d.count; g++)
				for (int64_t j = 0; j < K; j++) {
					int64_t group;
					char expected[8];
					size_t at = (size_t)(g * row + j * column);
					pe_store_f64(expected, dtypes[t], 1, &all.values[g * K + j], 1, 1);
					assert_memory_equal(memory[1] + at * item, expected, item);
					pe_load_i64(&group, memory[2] + at * (strided ? 8 : 4), outs[2].dtype, 1, 1);
					assert_int_equal(group, all.groups[g * K + j]);
				}
			if (strided) /* between the elements */
				assert_int_equal(memory[0][item * (size_t)(strided == 1 ? 1 : K)], 0x5A);
			for (int o = 0; o < 3; o++)
				free(memory[o]);
		}
	xt_lap_free(&all);
	pe_graph_destroy(&graph);
	dispose(&d);
}

static void arrays_may_be_left_out(void **state)
{
	struct dataset d = make(30);
	pe_graph *graph = xt_graph(*state, d.graphs, d.count, NULL);
	struct xt_lap all = xt_lap(*state, graph, "");
	double *values = malloc((size_t)d.count * 8 * sizeof *values);
	pe_tensor outs[3] = {{0}, pe_tensor_dense(values, PE_F64, 2, (int64_t[]){d.count, 8}), {0}};
	assert_int_equal(encode(*state, graph, "", outs), PE_OK);
	assert_memory_equal(values, all.values, (size_t)d.count * 8 * sizeof *values);
	free(values);
	xt_lap_free(&all);
	pe_graph_destroy(&graph);
	dispose(&d);
}

/* ---- presets ------------------------------------------------------------------------ */

/* PyG and DGL: L with 1 for isolated nodes, all pairs of the symmetric matrix, the first left out. */
static void pyg_and_dgl(void **state)
{
	struct xt_edges a = xt_cycle(7), b = xt_random_graph(3, 12, 6, 1), e = xt_union(&a, &b);
	e.n++;
	double values[20], *l = xt_laplacian(&e, true, false, true, NULL),
					   *copy = xt_laplacian(&e, true, false, true, NULL);
	xt_eigen(copy, 20, values);
	for (int p = 0; p < 2; p++) {
		struct xt_lap lap = xt_lap_of(*state, &e, NULL, p ? "preset=dgl,k=9" : "preset=pyg,k=9");
		assert_int_equal(lap.status, PE_OK);
		xt_check_pairs(l, 20, &lap, 9, 1e-13);
		for (int j = 0; j < 9; j++)
			xt_close_f64(lap.values[j], values[j + 1], 0, 1e-13);
		xt_lap_free(&lap);
		lap = xt_lap_of(*state, &e, NULL, p ? "preset=dgl,k=25" : "preset=pyg,k=25");
		assert_int_equal(lap.status, p ? PE_OK : PE_ERR_RANGE);
		if (p)
			xt_check_pairs(l, 20, &lap, 19, 1e-13);
		xt_lap_free(&lap);
	}
	free(l);
	free(copy);
	xt_edges_free(&a);
	xt_edges_free(&b);
	xt_edges_free(&e);
}

static void graphgps(void **state)
{
	struct xt_edges graphs[] = {xt_random_graph(4, 14, 9, 0), xt_path_graph(6)};
	pe_graph *graph = xt_graph(*state, graphs, 2, NULL);
	pe_params *params;
	pe_domain *domain;
	pe_encoding *e;
	pe_array_info info;
	double vectors[20 * 10], by_node[20 * 10];
	assert_int_equal(pe_params_create(*state, "lap", &params), PE_OK);
	xt_set(params, "preset=graphgps");
	assert_int_equal(pe_domain_graph(*state, graph, &domain), PE_OK);
	assert_int_equal(pe_encoding_create(*state, pe_encoder_find("lap"), params, domain, NULL, &e), PE_OK);
	assert_int_equal(pe_encoding_array(e, 0, &info), PE_OK);
	assert_string_equal(info.name, "EigVecs");
	assert_int_equal(pe_encoding_array(e, 1, &info), PE_OK);
	assert_string_equal(info.name, "EigVals");
	assert_true(
		info.ndim == 3 && info.shape[0] == 20 && info.shape[1] == 10 && info.shape[2] == 1 && info.per_token);
	pe_tensor outs[3] = {pe_tensor_dense(vectors, PE_F64, 2, (int64_t[]){20, 10}),
		pe_tensor_dense(by_node, PE_F64, 3, (int64_t[]){20, 10, 1})};
	assert_int_equal(pe_encoding_compute(e, outs, 3), PE_OK);
	for (int g = 0; g < 2; g++) {
		double values[14], *l = xt_laplacian(&graphs[g], true, false, true, NULL);
		xt_eigen(l, graphs[g].n, values);
		for (int i = 0; i < graphs[g].n; i++)
			for (int j = 0; j < 10; j++)
				xt_close_f64(by_node[(i + 14 * g) * 10 + j], j < graphs[g].n ? values[j] : NAN, 0, 1e-13);
		free(l);
	}
	assert_true(isnan(vectors[14 * 10 + 6]) && !isnan(vectors[14 * 10 + 5]));
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_params_destroy(&params);
	pe_graph_destroy(&graph);
	xt_edges_free(&graphs[0]);
	xt_edges_free(&graphs[1]);
}

static void every_allocation_may_fail(void **state)
{
	struct dataset d = make(25);
	for (int e = 0; e < d.graphs[11].count; e++)
		d.graphs[11].w[e] = -1;
	pe_graph *graph = xt_graph(*state, d.graphs, d.count, NULL);
	pe_params *params;
	pe_domain *domain;
	double *out = malloc((size_t)d.ptr[d.count] * 8 * sizeof *out);
	assert_int_equal(pe_params_create(*state, "lap", &params), PE_OK);
	assert_int_equal(pe_domain_graph(*state, graph, &domain), PE_OK);
	struct xt_shortage s = {.success = PE_ERR_PARTIAL};
	while (xt_shortage_next(&s)) {
		pe_encoding *e = NULL;
		pe_tensor outs[3] = {pe_tensor_dense(out, PE_F64, 2, (int64_t[]){d.ptr[d.count], 8})};
		xt_shortage_begin(&s);
		pe_status status = pe_encoding_create(*state, pe_encoder_find("lap"), params, domain, NULL, &e);
		if (status == PE_OK)
			status = pe_encoding_compute(e, outs, 3);
		xt_shortage_end(&s, status);
		pe_encoding_destroy(&e);
	}
	assert_true(s.failed > 19);
	free(out);
	pe_domain_destroy(&domain);
	pe_params_destroy(&params);
	pe_graph_destroy(&graph);
	dispose(&d);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_graph_has_its_pairs),
		cmocka_unit_test(alone_as_among_others),
		cmocka_unit_test(any_number_of_threads),
		cmocka_unit_test(some_fail),
		cmocka_unit_test(padding_as_failure),
		cmocka_unit_test(types_and_strides),
		cmocka_unit_test(arrays_may_be_left_out),
		cmocka_unit_test(pyg_and_dgl),
		cmocka_unit_test(graphgps),
		cmocka_unit_test(every_allocation_may_fail),
	};
	return xt_run(argc, argv, tests);
}
