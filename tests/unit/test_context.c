/* SPDX-License-Identifier: BSD-2-Clause */
#include "context.h"
#include "xt.h"

#include <string.h>

static void refuses_wrong_options(void **state)
{
	(void)state;
	pe_context *ctx = (pe_context *)1;
	pe_context_options options = {.size = 1};
	assert_int_equal(pe_context_create(&options, &ctx), PE_ERR_ARGUMENT);
	assert_null(ctx);
	options = (pe_context_options){.size = sizeof options + 8};
	assert_int_equal(pe_context_create(&options, &ctx), PE_ERR_ARGUMENT);
	options = (pe_context_options){.size = sizeof options, .threads = 2000};
	assert_int_equal(pe_context_create(&options, &ctx), PE_ERR_ARGUMENT);
	options = (pe_context_options){.size = sizeof options, .cpu = "z80"};
	assert_int_equal(pe_context_create(&options, &ctx), PE_ERR_UNSUPPORTED);
	assert_int_equal(pe_context_create(NULL, NULL), PE_ERR_ARGUMENT);
}

/* A caller compiled against an older, shorter struct. */
static void takes_a_shorter_struct(void **state)
{
	(void)state;
	pe_context *ctx;
	pe_context_options options = {.size = offsetof(pe_context_options, threads), .threads = 77};
	assert_int_equal(pe_context_create(&options, &ctx), PE_OK);
	assert_int_equal(ctx->threads, 1);
	pe_context_destroy(&ctx);
	assert_null(ctx);
	pe_context_destroy(&ctx);
	pe_context_destroy(NULL);
}

static void runs_on_every_kernel_set(void **state)
{
	char names[64];
	strcpy(names, pe_context_cpus(*state));
	char *rest = names;
	int count = 0;
	for (char *name; (name = strtok_r(rest, " ", &rest)); count++) {
		pe_context *ctx = xt_context(1, name);
		pe_context_destroy(&ctx);
	}
	assert_true(count >= 1);
	assert_non_null(strstr(pe_context_cpus(*state), "scalar"));
}

static void survives_lack_of_memory(void **state)
{
	pe_context *parent = *state;
	struct xt_shortage s = {0};
	while (xt_shortage_next(&s)) {
		pe_context_options options = {.size = sizeof options, .allocator = parent->allocator, .threads = 3};
		pe_context *ctx;
		xt_shortage_begin(&s);
		xt_shortage_end(&s, pe_context_create(&options, &ctx));
		pe_context_destroy(&ctx);
	}
}

static void refuses_sizes_that_overflow(void **state)
{
	pe_context *ctx = *state;
	int64_t product;
	assert_null(pe_alloc(ctx, INT64_MAX / 4, 8));
	assert_null(pe_alloc(ctx, -1, 8));
	assert_true(strlen(pe_context_message(ctx)) > 0);
	assert_false(pe_mul(INT64_MAX, 2, &product));
	assert_false(pe_mul(-1, 2, &product));
	assert_true(pe_mul(INT64_MAX, 1, &product) && product == INT64_MAX);
	assert_false(pe_add(INT64_MAX, 1, &product));
	void *nothing = pe_alloc(ctx, 0, 8);
	assert_non_null(nothing);
	pe_free(ctx, nothing);
}

static void grows_and_keeps(void **state)
{
	pe_context *ctx = *state;
	int64_t *numbers = NULL, capacity = 0;
	for (int64_t i = 0; i < 1000; i++) {
		assert_int_equal(pe_grow(ctx, &numbers, &capacity, i, i + 1, sizeof *numbers), PE_OK);
		numbers[i] = i;
	}
	for (int64_t i = 0; i < 1000; i++)
		assert_int_equal(numbers[i], i);
	assert_int_equal((uintptr_t)numbers % 64, 0);
	xt_fail_allocation(0, true);
	assert_int_equal(pe_grow(ctx, &numbers, &capacity, 1000, capacity + 1, sizeof *numbers), PE_ERR_NOMEM);
	xt_fail_allocation(-1, false);
	assert_int_equal(numbers[999], 999);
	pe_free(ctx, numbers);
}

static void names_every_status(void **state)
{
	(void)state;
	for (int s = 0; s >= PE_ERR_INTERNAL; s--)
		assert_string_not_equal(pe_status_string((pe_status)s), "unknown status");
	assert_string_equal(pe_status_string((pe_status)1), "unknown status");
	assert_string_equal(pe_status_string((pe_status)-99), "unknown status");
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_wrong_options),
		cmocka_unit_test(takes_a_shorter_struct),
		cmocka_unit_test(runs_on_every_kernel_set),
		cmocka_unit_test(survives_lack_of_memory),
		cmocka_unit_test(refuses_sizes_that_overflow),
		cmocka_unit_test(grows_and_keeps),
		cmocka_unit_test(names_every_status),
	};
	return xt_run(argc, argv, tests);
}
