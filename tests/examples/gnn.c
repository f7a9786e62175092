/* SPDX-License-Identifier: BSD-2-Clause
 * What a GNN does before training: two molecules-like graphs as arrays in memory, positional
 * encodings for each node, printed.
 *
 *   cc gnn.c $(pkg-config --cflags --libs posenc) -o gnn */
#include <posenc.h>
#include <stdio.h>
#include <stdlib.h>

static void check(pe_context *ctx, pe_status status)
{
	if (status == PE_OK)
		return;
	fprintf(stderr, "%s: %s\n", pe_status_string(status), pe_context_message(ctx));
	exit(1);
}

/* Encodes the graphs with an encoder, its first array as floats (nodes, *columns); free it. */
static float *encode(pe_context *ctx, const pe_domain *nodes, const char *encoder, const char *option,
	const char *value, int64_t *columns)
{
	pe_params *params;
	pe_encoding *encoding;
	pe_array_info info;
	pe_tensor outs[PE_MAX_ARRAYS] = {0};
	check(ctx, pe_params_create(ctx, encoder, &params));
	check(ctx, pe_params_set(params, option, value));
	check(ctx, pe_encoding_create(ctx, pe_encoder_find(encoder), params, nodes, NULL, &encoding));
	check(ctx, pe_encoding_array(encoding, 0, &info));
	outs[0] = pe_tensor_dense(NULL, PE_F32, info.ndim, info.shape);
	outs[0].data = malloc((size_t)pe_tensor_bytes(&outs[0]));
	check(ctx, pe_encoding_compute(encoding, outs, pe_encoding_array_count(encoding)));
	const pe_quality *quality = pe_encoding_get_quality(encoding);
	printf("%s: largest residual below 1e-10: %s\n", encoder, quality->max_residual < 1e-10 ? "yes" : "no");
	*columns = info.shape[1];
	pe_encoding_destroy(&encoding);
	pe_params_destroy(&params);
	return outs[0].data;
}

int main(void)
{
	/* A ring of six with a tail, and a path of three, as a batch with global node numbers. */
	int64_t edges[2][9] = {{0, 1, 2, 3, 4, 5, 0, 7, 8}, {1, 2, 3, 4, 5, 0, 6, 8, 9}};
	int64_t ptr[] = {0, 7, 10};
	pe_tensor edge_index = pe_tensor_dense(edges, PE_I64, 2, (int64_t[]){2, 9});
	pe_tensor offsets = pe_tensor_dense(ptr, PE_I64, 1, (int64_t[]){3});

	pe_context *ctx;
	pe_graph *graph;
	pe_domain *nodes;
	if (pe_context_create(NULL, &ctx) != PE_OK)
		return 1;
	check(ctx, pe_graph_from_arrays(ctx, &edge_index, NULL, &offsets, 10, NULL, &graph));
	check(ctx, pe_domain_graph(ctx, graph, &nodes));

	int64_t k, steps;
	float *lap = encode(ctx, nodes, "lap", "k", "2", &k);
	float *walks = encode(ctx, nodes, "rwse", "steps", "4", &steps);
	for (int64_t i = 0; i < 10; i++) {
		printf("node %d:", (int)i);
		for (int64_t j = 0; j < k; j++)
			printf(" %7.4f", lap[i * k + j]);
		printf("  |");
		for (int64_t j = 0; j < steps; j++)
			printf(" %.4f", walks[i * steps + j]);
		printf("\n");
	}
	free(lap);
	free(walks);
	pe_domain_destroy(&nodes);
	pe_graph_destroy(&graph);
	pe_context_destroy(&ctx);
	return 0;
}
