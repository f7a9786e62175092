/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include <math.h>
#include <string.h>

#include "xt_attend.h"

static void is_what_x_transformers_computes(void **state)
{
	xt_attend_file(*state, "cope/causal.npz", "cope:head_dim=5,max_position=4", true, 1e-13);
	xt_attend_file(*state, "cope/many_rows.npz", "cope:head_dim=5", true, 1e-13);
	xt_attend_file(*state, "cope/whole_gates.npz", "cope:head_dim=5,max_position=16", true, 1e-12);
	xt_attend_file(*state, "cope/last_queries.npz", "cope:head_dim=5", true, 1e-13);
	xt_attend_file(*state, "cope/scaled.npz", "cope:head_dim=5,preset=ram", true, 1e-13);
	xt_attend_file(*state, "cope/one_row.npz", "cope:head_dim=5", true, 1e-13);
}

static void counts_what_the_query_sees(void **state)
{
	xt_attend_file(*state, "cope/bidirectional.npz", "cope:head_dim=5,max_position=6", false, 1e-13);
	xt_attend_file(*state, "cope/lengths.npz", "cope:head_dim=5,max_position=6", false, 1e-13);
}

/* A table of zeros changes nothing. */
static void begins_without_effect(void **state)
{
	pe_bundle *bundle = xt_golden_bundle(*state, "cope/causal.npz");
	pe_tensor q = xt_array(bundle, "q"), k = xt_array(bundle, "k"), v = xt_array(bundle, "v");
	double with[2 * 2 * 9 * 5], without[2 * 2 * 9 * 5];
	pe_tensor a = pe_tensor_dense(with, PE_F64, 4, q.shape), b = pe_tensor_dense(without, PE_F64, 4, q.shape);
	pe_attention_options causal = {.size = sizeof causal, .core = PE_CORE_REFERENCE, .causal = 1};
	pe_attention_tensors t = {.size = sizeof t, .q = &q, .k = &k, .v = &v, .out = &a};
	struct xt_layer layer;
	xt_layer_make(*state, (const char *const[]){"cope:head_dim=5", NULL}, NULL, 9, 9, &layer);
	assert_int_equal(pe_attend(*state, layer.list, 1, &causal, &t), PE_OK);
	t.out = &b;
	assert_int_equal(pe_attend(*state, NULL, 0, &causal, &t), PE_OK);
	assert_memory_equal(with, without, sizeof with);
	xt_layer_free(&layer);
	pe_bundle_destroy(&bundle);
}

static void refuses_heads_of_another_width(void **state)
{
	pe_bundle *bundle = xt_golden_bundle(*state, "cope/causal.npz");
	pe_tensor q = xt_array(bundle, "q"), k = xt_array(bundle, "k"), v = xt_array(bundle, "v");
	pe_tensor out = xt_array(bundle, "out");
	pe_attention_tensors t = {.size = sizeof t, .q = &q, .k = &k, .v = &v, .out = &out};
	struct xt_layer layer;
	xt_layer_make(*state, (const char *const[]){"cope:head_dim=6", NULL}, NULL, 9, 9, &layer);
	xt_fails(*state, pe_attend(*state, layer.list, 1, NULL, &t), PE_ERR_SHAPE, "its rows are 6 wide");
	xt_layer_free(&layer);
	pe_bundle_destroy(&bundle);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_x_transformers_computes),
		cmocka_unit_test(counts_what_the_query_sees),
		cmocka_unit_test(begins_without_effect),
		cmocka_unit_test(refuses_heads_of_another_width),
	};
	return xt_run(argc, argv, tests);
}
