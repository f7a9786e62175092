/* SPDX-License-Identifier: BSD-2-Clause */
#include "pool.h"
#include "xt.h"

#include <string.h>

enum { CHUNKS = 1000 };

struct work {
	int done[CHUNKS];
	int64_t bad[3]; /* chunks that fail */
};

static pe_status mark(pe_context *worker, void *arg, int64_t chunk)
{
	struct work *work = arg;
	work->done[chunk]++;
	for (int i = 0; i < 3; i++)
		if (work->bad[i] == chunk)
			return pe_fail(worker, PE_ERR_RANGE, "chunk %lld", (long long)chunk);
	return PE_OK;
}

static void runs_every_chunk_once(void **state)
{
	(void)state;
	for (int32_t threads = 1; threads <= 4; threads++) {
		pe_context *ctx = xt_context(threads, NULL);
		for (int round = 0; round < 50; round++) {
			struct work work = {.bad = {-1, -1, -1}};
			assert_int_equal(pe_parallel(ctx, CHUNKS, mark, &work, NULL), PE_OK);
			for (int i = 0; i < CHUNKS; i++)
				assert_int_equal(work.done[i], 1);
		}
		pe_context_destroy(&ctx);
	}
}

/* Whatever the threads do, it is the lowest failure that is told. */
static void tells_the_lowest_failure(void **state)
{
	(void)state;
	for (int32_t threads = 1; threads <= 4; threads++) {
		pe_context *ctx = xt_context(threads, NULL);
		for (int round = 0; round < 50; round++) {
			struct work work = {.bad = {700, 300, 301}};
			assert_int_equal(pe_parallel(ctx, CHUNKS, mark, &work, NULL), PE_ERR_RANGE);
			assert_string_equal(pe_context_message(ctx), "chunk 300");
			for (int i = 0; i <= 300; i++)
				assert_int_equal(work.done[i], 1);
		}
		pe_context_destroy(&ctx);
	}
}

static pe_status nest(pe_context *worker, void *arg, int64_t chunk)
{
	struct work *all = arg;
	struct work inner = {.bad = {-1, -1, -1}};
	all->done[chunk] = 1;
	return pe_parallel(worker, CHUNKS, mark, &inner, NULL);
}

static void nests_in_place(void **state)
{
	(void)state;
	pe_context *ctx = xt_context(3, NULL);
	struct work work = {.bad = {-1, -1, -1}};
	assert_int_equal(pe_parallel(ctx, 20, nest, &work, NULL), PE_OK);
	assert_int_equal(pe_parallel(ctx, 0, nest, &work, NULL), PE_OK);
	pe_context_destroy(&ctx);
}

static pe_status allocate_some(pe_context *worker, void *arg, int64_t chunk)
{
	(void)arg;
	void *memory = pe_alloc(worker, chunk + 1, 8);
	if (!memory)
		return PE_ERR_NOMEM;
	memset(memory, 1, (size_t)(chunk + 1) * 8);
	pe_free(worker, memory);
	return PE_OK;
}

static void workers_allocate(void **state)
{
	(void)state;
	pe_context *ctx = xt_context(4, NULL);
	assert_int_equal(pe_parallel(ctx, CHUNKS, allocate_some, NULL, NULL), PE_OK);
	assert_true(xt_allocations() >= CHUNKS);
	pe_context_destroy(&ctx);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_every_chunk_once),
		cmocka_unit_test(tells_the_lowest_failure),
		cmocka_unit_test(nests_in_place),
		cmocka_unit_test(workers_allocate),
	};
	return xt_run(argc, argv, tests);
}
