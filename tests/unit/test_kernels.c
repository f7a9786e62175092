/* SPDX-License-Identifier: BSD-2-Clause
 * Which sets of kernels this machine has, and that each is whole. */
#include "xt.h"

#include "xt_kernels.h"

/* But for a flag a table is pointers and pairs of sizes: none of its words may be zero. */
static void every_set_fills_every_slot(void **state)
{
	(void)state;
	for (int i = 0; xt_kernels(i); i++) {
		const struct pe_kernels *k = xt_kernels(i);
		static const char zero[sizeof(void *)];
		struct pe_kernels table = *k;
		table.depthwise_streams = true;
		for (size_t at = 0; at < sizeof table; at += sizeof zero)
			assert_memory_not_equal((const char *)&table + at, zero, sizeof zero);
		assert_true(k->tile_vec > 0 && 2 * k->tile_vec <= PE_TILE_MAX_LANES);
		assert_true(k->tile_rows > 0 && PE_TILE_KEYS % k->tile_rows == 0);
		assert_true(k->lane_width > 0 && k->lane_width * k->lane_packs <= PE_LANE_MAX);
	}
}

static void sets_by_name(void **state)
{
	(void)state;
	const struct pe_kernels *best = pe_kernels_select(NULL);
	int count = 0;
	for (; xt_kernels(count); count++)
		assert_ptr_equal(pe_kernels_select(xt_kernels(count)->name), xt_kernels(count));
	assert_string_equal(xt_kernels(0)->name, "scalar");
	assert_ptr_equal(xt_kernels(count - 1), best);
	assert_null(pe_kernels_select("mmx"));
	assert_null(pe_kernels_select(""));
}

/* What every machine of a kind has is there: its set, and that set's own loops. */
static void neon_on_aarch64(void **state)
{
	(void)state;
#ifdef __aarch64__
	const struct pe_kernels *neon = pe_kernels_select("neon"), *scalar = pe_kernels_select("scalar");
	assert_non_null(neon);
	assert_string_equal(pe_kernels_available(), "neon scalar");
	assert_true(neon->tile_scores != scalar->tile_scores && neon->tile_slant != scalar->tile_slant);
	assert_true(neon->half_walk_unit != scalar->half_walk_unit && neon->rotate != scalar->rotate);
	assert_true(neon->lane_values != scalar->lane_values && neon->sincos != scalar->sincos);
	assert_true(neon->sparse_product != scalar->sparse_product);
#else
	assert_null(pe_kernels_select("neon"));
#endif
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_set_fills_every_slot),
		cmocka_unit_test(sets_by_name),
		cmocka_unit_test(neon_on_aarch64),
	};
	return xt_run(argc, argv, tests);
}
