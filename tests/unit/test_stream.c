/* SPDX-License-Identifier: BSD-2-Clause
 * Encodings that are handed over in parts, and files that are written in parts. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "xt.h"

#include "bundles.h"
#include "context.h"
#include "pool.h"
#include "tensor.h"
#include "xt_graph.h"

#define GRAPHS 300

/* ---- encodings ---------------------------------------------------------------------- */

/* What takes rows: whole arrays, and how often each row came. */
struct collector {
	pthread_mutex_t lock;
	pe_tensor arrays[PE_MAX_ARRAYS];
	int *times[PE_MAX_ARRAYS];
	int calls, fail_at;
};

static pe_status collect(
	pe_context *worker, void *opaque, int64_t array, int64_t first, const pe_tensor *rows)
{
	struct collector *c = opaque;
	pthread_mutex_lock(&c->lock);
	pe_status status = ++c->calls == c->fail_at ? pe_fail(worker, PE_ERR_IO, "the collector is full") : PE_OK;
	if (status == PE_OK) {
		assert_true(pe_tensor_is_dense(rows));
		assert_int_equal(rows->dtype, c->arrays[array].dtype);
		memcpy(pe_tensor_row(&c->arrays[array], first), rows->data, (size_t)pe_tensor_bytes(rows));
		for (int64_t i = 0; i < rows->shape[0]; i++)
			c->times[array][first + i]++;
	}
	pthread_mutex_unlock(&c->lock);
	return status;
}

static void make_room(const pe_encoding *e, const int32_t *dtypes, pe_tensor *arrays)
{
	for (int64_t i = 0; i < pe_encoding_array_count(e); i++) {
		pe_array_info info;
		assert_int_equal(pe_encoding_array(e, i, &info), PE_OK);
		if (dtypes[i] < 0)
			continue;
		arrays[i] = pe_tensor_dense(NULL, (pe_dtype)dtypes[i], info.ndim, info.shape);
		arrays[i].data = calloc((size_t)pe_tensor_bytes(&arrays[i]) + 1, 1);
	}
}

static struct collector collector(const pe_encoding *e, const int32_t *dtypes)
{
	struct collector c = {.lock = PTHREAD_MUTEX_INITIALIZER};
	make_room(e, dtypes, c.arrays);
	for (int64_t i = 0; i < pe_encoding_array_count(e); i++)
		if (dtypes[i] >= 0)
			c.times[i] = calloc((size_t)c.arrays[i].shape[0] + 1, sizeof *c.times[i]);
	return c;
}

static void empty(struct collector *c)
{
	for (int i = 0; i < PE_MAX_ARRAYS; i++) {
		free(c->arrays[i].data);
		free(c->times[i]);
	}
}

/* Paths of 0 to 40 nodes; one that rwse cuts, one that lap's engines solve by themselves, and with bad, one
 * of a weight below 0, which lap cannot take. */
static pe_graph *make_graphs(pe_context *ctx, bool bad)
{
	struct xt_edges graphs[GRAPHS];
	for (int g = 0; g < GRAPHS; g++)
		graphs[g] = g == 70 ? xt_path_graph(4500)
			: g == 200      ? xt_cycle(700)
							: xt_random_graph((uint64_t)g, 1 + g * 7 % 90, g % 9, 0);
	if (bad)
		graphs[100].w[0] = -1;
	pe_graph *graph = xt_graph(ctx, graphs, GRAPHS, NULL);
	for (int g = 0; g < GRAPHS; g++)
		xt_edges_free(&graphs[g]);
	return graph;
}

static pe_encoding *bind(pe_context *ctx, const char *name, const char *settings, const pe_domain *domain)
{
	pe_params *params;
	pe_encoding *e;
	assert_int_equal(pe_params_create(ctx, name, &params), PE_OK);
	xt_set(params, settings);
	assert_int_equal(pe_encoding_create(ctx, pe_encoder_find(name), params, domain, NULL, &e), PE_OK);
	pe_params_destroy(&params);
	return e;
}

/* The same bits, status, message and quality as all at once, every row once. */
static void streams_as_computed(pe_encoding *e, pe_context *ctx, const int32_t *dtypes)
{
	char message[1024];
	int64_t count = pe_encoding_array_count(e);
	pe_tensor whole[PE_MAX_ARRAYS] = {{0}};
	struct collector c = collector(e, dtypes);
	make_room(e, dtypes, whole);
	pe_status status = pe_encoding_compute(e, whole, count);
	pe_quality quality = *pe_encoding_get_quality(e);
	snprintf(message, sizeof message, "%s", pe_context_message(ctx));
	assert_int_equal(pe_encoding_stream(e, dtypes, count, collect, &c), status);
	if (status != PE_OK)
		assert_string_equal(pe_context_message(ctx), message);
	assert_memory_equal(&quality, pe_encoding_get_quality(e), sizeof quality);
	for (int64_t i = 0; i < count; i++) {
		if (dtypes[i] < 0)
			continue;
		assert_memory_equal(whole[i].data, c.arrays[i].data, pe_tensor_bytes(&whole[i]));
		for (int64_t r = 0; r < whole[i].shape[0]; r++)
			assert_int_equal(c.times[i][r], 1);
		free(whole[i].data);
	}
	empty(&c);
}

static void on_graphs(
	pe_context *ctx, const char *encoder, const char *settings, const int32_t *dtypes, bool bad)
{
	pe_graph *graph = make_graphs(ctx, bad);
	pe_domain *domain;
	assert_int_equal(pe_domain_graph(ctx, graph, &domain), PE_OK);
	pe_encoding *e = bind(ctx, encoder, settings, domain);
	streams_as_computed(e, ctx, dtypes);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_graph_destroy(&graph);
}

static void test_graphs(void **state)
{
	(void)state;
	for (int32_t threads = 1; threads <= 5; threads += 2) {
		pe_context *ctx = xt_context(threads, NULL);
		on_graphs(ctx, "lap", "k=4,certify=off", (int32_t[]){PE_F32, PE_F64, PE_I32}, false);
		on_graphs(ctx, "lap", "k=3,preset=graphgps", (int32_t[]){-1, PE_F16, -1}, false);
		on_graphs(ctx, "lap", "k=3,certify=off", (int32_t[]){PE_F64, -1, PE_I64}, true);
		on_graphs(ctx, "rwse", "steps=5", (int32_t[]){PE_BF16}, false);
		on_graphs(ctx, "rwse", "steps=5", (int32_t[]){-1}, false);
		pe_context_destroy(&ctx);
	}
}

/* Encoders that know no parts hand over whole arrays. */
static void test_whole(void **state)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_sequence(*state, 9, 0, &domain), PE_OK);
	pe_encoding *e = bind(*state, "sinusoidal", "dim=6", domain);
	streams_as_computed(e, *state, (int32_t[]){PE_F32});
	pe_encoding_destroy(&e);
	e = bind(*state, "t5", "heads=2", domain);
	int32_t dtypes[PE_MAX_ARRAYS];
	for (int64_t i = 0; i < pe_encoding_array_count(e); i++) {
		pe_array_info info;
		assert_int_equal(pe_encoding_array(e, i, &info), PE_OK);
		dtypes[i] = i == 0 ? (int32_t)info.dtype : -1;
	}
	streams_as_computed(e, *state, dtypes);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

static void test_refused(void **state)
{
	pe_graph *graph = make_graphs(*state, false);
	pe_domain *domain;
	assert_int_equal(pe_domain_graph(*state, graph, &domain), PE_OK);
	pe_encoding *e = bind(*state, "rwse", "steps=2", domain);
	struct collector c = collector(e, (int32_t[]){PE_F32});
	xt_fails(
		*state, pe_encoding_stream(e, (int32_t[]){PE_I32}, 1, collect, &c), PE_ERR_SHAPE, "cannot be stored");
	xt_fails(
		*state, pe_encoding_stream(e, (int32_t[]){-2}, 1, collect, &c), PE_ERR_SHAPE, "cannot be stored");
	xt_fails(
		*state, pe_encoding_stream(e, (int32_t[]){99}, 1, collect, &c), PE_ERR_SHAPE, "cannot be stored");
	xt_fails(
		*state, pe_encoding_stream(e, (int32_t[]){PE_F32, -1}, 2, collect, &c), PE_ERR_ARGUMENT, "1 arrays");
	assert_int_equal(pe_encoding_stream(e, (int32_t[]){PE_F32}, 1, NULL, &c), PE_ERR_ARGUMENT);
	assert_int_equal(c.calls, 0);
	c.fail_at = 2;
	xt_fails(
		*state, pe_encoding_stream(e, (int32_t[]){PE_F32}, 1, collect, &c), PE_ERR_IO, "collector is full");
	empty(&c);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_graph_destroy(&graph);
}

static void test_memory(void **state)
{
	struct xt_edges graphs[] = {xt_cycle(5), xt_path_graph(3)};
	pe_graph *graph = xt_graph(*state, graphs, 2, NULL);
	pe_domain *domain;
	assert_int_equal(pe_domain_graph(*state, graph, &domain), PE_OK);
	pe_encoding *e = bind(*state, "lap", "k=2", domain);
	int32_t dtypes[] = {PE_F32, PE_F32, PE_I32};
	struct collector c = collector(e, dtypes);
	struct xt_shortage s = {0};
	while (xt_shortage_next(&s)) {
		xt_shortage_begin(&s);
		xt_shortage_end(&s, pe_encoding_stream(e, dtypes, 3, collect, &c));
	}
	assert_true(s.failed > 4);
	empty(&c);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_graph_destroy(&graph);
	xt_edges_free(&graphs[0]);
	xt_edges_free(&graphs[1]);
}

/* ---- files -------------------------------------------------------------------------- */

#define ROWS 1000

static float numbers[ROWS][3];
static int64_t counts[ROWS];

static void fill_numbers(void)
{
	for (int i = 0; i < ROWS; i++) {
		counts[i] = i * i;
		for (int j = 0; j < 3; j++)
			numbers[i][j] = (float)(i - j) / 7;
	}
}

static pe_tensor number_rows(int64_t first, int64_t rows)
{
	return pe_tensor_dense(numbers[first], PE_F32, 2, (int64_t[]){rows, 3});
}

static pe_tensor count_rows(int64_t first, int64_t rows)
{
	return pe_tensor_dense(counts + first, PE_I64, 1, &rows);
}

/* With arrays that are there, or awaited. */
static pe_bundle *make_bundle(pe_context *ctx, bool awaited)
{
	pe_bundle *b;
	pe_tensor x = number_rows(0, ROWS), n = count_rows(0, ROWS);
	assert_int_equal(pe_bundle_create(ctx, &b), PE_OK);
	if (awaited) {
		assert_int_equal(pe_bundle_await(b, "x", PE_F32, 2, x.shape), PE_OK);
		assert_int_equal(pe_bundle_await(b, "n", PE_I64, 1, n.shape), PE_OK);
		assert_int_equal(pe_bundle_await(b, "none", PE_F64, 2, (int64_t[]){0, 4}), PE_OK);
	} else {
		pe_tensor none = pe_tensor_dense(NULL, PE_F64, 2, (int64_t[]){0, 4});
		assert_int_equal(pe_bundle_add(b, "x", &x), PE_OK);
		assert_int_equal(pe_bundle_add(b, "n", &n), PE_OK);
		assert_int_equal(pe_bundle_add(b, "none", &none), PE_OK);
	}
	return b;
}

static void add_rest(pe_bundle *b)
{
	pe_tensor rest = count_rows(5, 20);
	assert_int_equal(pe_bundle_add(b, "rest", &rest), PE_OK);
	assert_int_equal(pe_bundle_set_metadata(b, "said", "late"), PE_OK);
}

static pe_status write_rows(pe_bundle *b, pe_context *worker, int64_t first, int64_t rows)
{
	pe_tensor x = number_rows(first, rows), n = count_rows(first, rows);
	PE_TRY(pe_bundle_rows(b, worker, "n", first, &n));
	return pe_bundle_rows(b, worker, "x", first, &x);
}

static void same_file(const char *a, const char *b)
{
	size_t sizes[2];
	char *bytes[] = {xt_read_file(a, &sizes[0]), xt_read_file(b, &sizes[1])};
	assert_int_equal(sizes[0], sizes[1]);
	assert_memory_equal(bytes[0], bytes[1], sizes[0]);
	free(bytes[0]);
	free(bytes[1]);
}

static pe_status write_piece(pe_context *worker, void *arg, int64_t piece)
{
	return write_rows(arg, worker, ROWS / 10 * (9 - piece), ROWS / 10);
}

/* Row by row in any order, by threads: the bytes of the file are those of all at once. */
static void test_file(void **state)
{
	pe_context *ctx = xt_context(3, NULL);
	pe_bundle *whole = make_bundle(*state, false), *b = make_bundle(ctx, true);
	add_rest(whole);
	assert_int_equal(pe_bundle_write(whole, xt_path("whole.npz"), NULL), PE_OK);
	assert_int_equal(pe_bundle_begin(b, xt_path("parts.npz"), NULL), PE_OK);
	assert_int_equal(pe_parallel(ctx, 10, write_piece, b, NULL), PE_OK);
	add_rest(b);
	assert_int_equal(pe_bundle_end(b), PE_OK);
	same_file(xt_path("whole.npz"), xt_path("parts.npz"));
	pe_bundle_destroy(&whole);
	pe_bundle_destroy(&b);
	pe_context_destroy(&ctx);
}

/* Strides are gathered. */
static void test_strides(void **state)
{
	pe_bundle *whole = make_bundle(*state, false), *b = make_bundle(*state, true);
	static float turned[3][ROWS];
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < 3; j++)
			turned[j][i] = numbers[i][j];
	pe_tensor x = number_rows(0, ROWS), n = count_rows(0, ROWS);
	x.data = turned;
	x.strides[0] = 1;
	x.strides[1] = ROWS;
	assert_int_equal(pe_bundle_begin(b, xt_path("parts.npz"), "npz"), PE_OK);
	assert_int_equal(pe_bundle_rows(b, *state, "x", 0, &x), PE_OK);
	assert_int_equal(pe_bundle_rows(b, *state, "n", 0, &n), PE_OK);
	assert_int_equal(pe_bundle_end(b), PE_OK);
	assert_int_equal(pe_bundle_write(whole, xt_path("whole.npz"), NULL), PE_OK);
	same_file(xt_path("whole.npz"), xt_path("parts.npz"));
	pe_bundle_destroy(&whole);
	pe_bundle_destroy(&b);
}

static void test_missing(void **state)
{
	pe_context *ctx = *state;
	int before = xt_entries(xt_temporary());
	pe_bundle *b = make_bundle(ctx, true);
	assert_int_equal(pe_bundle_begin(b, xt_path("never.npz"), NULL), PE_OK);
	assert_int_equal(write_rows(b, ctx, 0, 10), PE_OK);
	assert_int_equal(write_rows(b, ctx, 20, ROWS - 20), PE_OK);
	xt_fails(ctx, pe_bundle_end(b), PE_ERR_ARGUMENT, "x: row 10 was not written");
	xt_fails(ctx, pe_bundle_end(b), PE_ERR_ARGUMENT, "no file has begun");
	assert_int_equal(pe_bundle_begin(b, xt_path("never.npz"), NULL), PE_OK);
	assert_int_equal(write_rows(b, ctx, 0, ROWS), PE_OK);
	assert_int_equal(write_rows(b, ctx, 99, 1), PE_OK);
	xt_fails(ctx, pe_bundle_end(b), PE_ERR_ARGUMENT, "x: row 99 was written twice");
	assert_int_equal(pe_bundle_begin(b, xt_path("never.npz"), NULL), PE_OK);
	assert_int_equal(write_rows(b, ctx, 0, ROWS), PE_OK);
	pe_bundle_destroy(&b);
	assert_int_equal(xt_entries(xt_temporary()), before);
}

static void test_misuse(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *b = make_bundle(ctx, true);
	pe_tensor x = number_rows(0, 10), n = count_rows(0, 10), three = number_rows(0, 10);
	xt_fails(ctx, pe_bundle_write(b, xt_path("a.npz"), NULL), PE_ERR_ARGUMENT, "the rows of x are not there");
	xt_fails(ctx, pe_bundle_write_fd(b, 1, "npz"), PE_ERR_ARGUMENT, "the rows of x are not there");
	xt_fails(ctx, pe_bundle_rows(b, ctx, "x", 0, &x), PE_ERR_ARGUMENT, "no file has begun");
	xt_fails(ctx, pe_bundle_begin(b, xt_path("a.safetensors"), NULL), PE_ERR_UNSUPPORTED, "only .npz");
	xt_fails(ctx, pe_bundle_begin(b, "/dev/null", "npz"), PE_ERR_UNSUPPORTED, "only a file");
	xt_fails(ctx, pe_bundle_await(b, "scalar", PE_F32, 0, x.shape), PE_ERR_ARGUMENT, "0 dimensions");
	xt_fails(ctx, pe_bundle_await(b, "x", PE_F32, 2, x.shape), PE_ERR_ARGUMENT, "is there twice");
	xt_fails(ctx, pe_bundle_await(b, "../x", PE_F32, 2, x.shape), PE_ERR_ARGUMENT, "..");
	assert_int_equal(pe_bundle_begin(b, xt_path("a.npz"), NULL), PE_OK);
	xt_fails(ctx, pe_bundle_begin(b, xt_path("b.npz"), NULL), PE_ERR_ARGUMENT, "has begun already");
	xt_fails(ctx, pe_bundle_await(b, "late", PE_F32, 2, x.shape), PE_ERR_ARGUMENT, "too late");
	xt_fails(ctx, pe_bundle_rows(b, ctx, "y", 0, &x), PE_ERR_ARGUMENT, "awaits an array y");
	xt_fails(ctx, pe_bundle_rows(b, ctx, "x", -1, &x), PE_ERR_SHAPE, "no place");
	xt_fails(ctx, pe_bundle_rows(b, ctx, "x", ROWS - 9, &x), PE_ERR_SHAPE, "no place");
	xt_fails(ctx, pe_bundle_rows(b, ctx, "x", 0, &n), PE_ERR_SHAPE, "no place");
	three.shape[1] = 2;
	xt_fails(ctx, pe_bundle_rows(b, ctx, "x", 0, &three), PE_ERR_SHAPE, "no place");
	three = number_rows(0, 10);
	three.dtype = PE_I32;
	xt_fails(ctx, pe_bundle_rows(b, ctx, "x", 0, &three), PE_ERR_SHAPE, "no place");
	pe_bundle_destroy(&b);
}

/* No rows may be written anywhere, and are nothing. */
static void test_no_rows(void **state)
{
	pe_bundle *b = make_bundle(*state, true);
	assert_int_equal(pe_bundle_begin(b, xt_path("parts.npz"), NULL), PE_OK);
	assert_int_equal(write_rows(b, *state, 0, ROWS), PE_OK);
	assert_int_equal(write_rows(b, *state, 5, 0), PE_OK);
	assert_int_equal(pe_bundle_end(b), PE_OK);
	pe_bundle_destroy(&b);
}

/* What reads data refuses a bundle that awaits them. */
static void test_no_data(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *b;
	pe_domain *domain;
	pe_encoding *e;
	pe_compare_report *report;
	pe_encoding_options options = {.size = sizeof options};
	assert_int_equal(pe_bundle_create(ctx, &b), PE_OK);
	assert_int_equal(pe_bundle_await(b, "weight", PE_F32, 2, (int64_t[]){512, 64}), PE_OK);
	options.weights = b;
	assert_int_equal(pe_domain_sequence(ctx, 9, 0, &domain), PE_OK);
	xt_fails(ctx, pe_encoding_create(ctx, pe_encoder_find("learned"), NULL, domain, &options, &e),
		PE_ERR_ARGUMENT, "the rows of weight are not there");
	xt_fails(ctx, pe_compare(ctx, b, b, NULL, &report), PE_ERR_ARGUMENT, "the rows of weight are not there");
	pe_domain_destroy(&domain);
	pe_bundle_destroy(&b);
}

/* The file has a name meanwhile, by which it can be removed. */
static void test_temporary(void **state)
{
	pe_bundle *b = make_bundle(*state, true);
	int before = xt_entries(xt_temporary());
	assert_null(pe_bundle_temporary(NULL));
	assert_null(pe_bundle_temporary(b));
	assert_int_equal(pe_bundle_begin(b, xt_path("named.npz"), NULL), PE_OK);
	assert_int_equal(xt_entries(xt_temporary()), before + 1);
	assert_int_equal(remove(pe_bundle_temporary(b)), 0);
	assert_int_equal(xt_entries(xt_temporary()), before);
	assert_int_equal(write_rows(b, *state, 0, ROWS), PE_OK);
	xt_fails(*state, pe_bundle_end(b), PE_ERR_IO, "named.npz");
	assert_null(pe_bundle_temporary(b));
	pe_bundle_destroy(&b);
}

static pe_status write_in_parts(pe_context *ctx)
{
	pe_bundle *b;
	pe_tensor x = number_rows(0, ROWS);
	PE_TRY(pe_bundle_create(ctx, &b));
	pe_status status = pe_bundle_await(b, "x", PE_F32, 2, x.shape);
	if (status == PE_OK)
		status = pe_bundle_begin(b, xt_path("memory.npz"), NULL);
	if (status == PE_OK)
		status = pe_bundle_rows(b, ctx, "x", 0, &x);
	if (status == PE_OK)
		status = pe_bundle_end(b);
	pe_bundle_destroy(&b);
	return status;
}

static void test_file_memory(void **state)
{
	int before = xt_entries(xt_temporary());
	struct xt_shortage s = {.lenient = true}; /* syncing the folder may fail */
	while (xt_shortage_next(&s)) {
		xt_shortage_begin(&s);
		pe_status status = write_in_parts(*state);
		xt_shortage_end(&s, status);
		assert_int_equal(xt_entries(xt_temporary()), before + (status == PE_OK));
		(void)remove(xt_path("memory.npz"));
	}
	assert_true(s.failed > 7);
}

int main(int argc, char **argv)
{
	fill_numbers();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_graphs),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_strides),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_misuse),
		cmocka_unit_test(test_no_rows),
		cmocka_unit_test(test_no_data),
		cmocka_unit_test(test_temporary),
		cmocka_unit_test(test_file_memory),
	};
	return xt_run(argc, argv, tests);
}
