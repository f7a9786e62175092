/* SPDX-License-Identifier: BSD-2-Clause
 * The cursor over text, and edges of unknown number. */
#include "xt.h"

#include <stdio.h>
#include <string.h>

#include "scan.h"

/* The text in a block of exactly its size, so that a read past its end is found. */
struct text {
	char *copy;
	struct pe_scan scan;
};

static struct text start(pe_context *ctx, const char *text, size_t size)
{
	struct text t = {.copy = malloc(size ? size : 1)};
	memcpy(t.copy, text, size);
	t.scan = pe_scan_start(ctx, &(struct pe_source){.data = t.copy, .size = size, .name = "x"});
	return t;
}

#define START(text) start(*state, text, sizeof(text) - 1)

static void lines_of_any_kind(void **state)
{
	struct text t = START("\xEF\xBB\xBF"
						  "a b\r\n\n\tc,d \r\nlast");
	const char *word;
	size_t size;
	pe_scan_line(&t.scan, &word, &size);
	assert_int_equal(size, 3);
	pe_scan_word(&t.scan, "", &word, &size);
	assert_memory_equal(word, "a", 1);
	pe_scan_word(&t.scan, "", &word, &size);
	assert_true(size == 1 && *word == 'b');
	assert_true(pe_scan_at_line_end(&t.scan));
	pe_scan_word(&t.scan, "", &word, &size);
	assert_int_equal(size, 0);
	assert_true(pe_scan_next_line(&t.scan));
	assert_true(pe_scan_at_line_end(&t.scan));
	assert_true(pe_scan_next_line(&t.scan));
	pe_scan_word(&t.scan, ",", &word, &size);
	assert_true(size == 1 && *word == 'c' && *t.scan.at == ',');
	t.scan.at++;
	pe_scan_word(&t.scan, ",", &word, &size);
	pe_scan_blanks(&t.scan);
	assert_true(pe_scan_at_line_end(&t.scan));
	assert_true(pe_scan_next_line(&t.scan));
	assert_int_equal(t.scan.line, 4);
	pe_scan_line(&t.scan, &word, &size);
	assert_int_equal(size, 4);
	assert_false(pe_scan_next_line(&t.scan));
	assert_true(pe_scan_at_end(&t.scan));
	free(t.copy);
}

static void integers(void **state)
{
	struct text t = START("0 7\t12345678 123456789012345678,-5;9223372036854775807 -9223372036854775808 +3 "
						  "007\r\n99999999\r");
	const int64_t expected[] = {0, 7, 12345678, 123456789012345678, -5, INT64_MAX, INT64_MIN, 3, 7, 99999999};
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		int64_t value = -1;
		if (pe_scan_at_line_end(&t.scan))
			assert_true(pe_scan_next_line(&t.scan));
		assert_int_equal(pe_scan_i64(&t.scan, "a number", INT64_MIN, INT64_MAX, &value), PE_OK);
		assert_true(value == expected[i]);
		if (*t.scan.at == ',' || *t.scan.at == ';')
			t.scan.at++;
	}
	assert_true(pe_scan_at_line_end(&t.scan));
	free(t.copy);
}

/* All lengths of numbers, at all distances from the end of the text. */
static void digits_near_the_end(void **state)
{
	int64_t number = 0;
	for (int length = 1; length <= 18; length++) {
		number = number * 10 + length % 10;
		for (int behind = 0; behind < 10; behind++) {
			char text[40];
			int size = snprintf(text, sizeof text, "%lld%*s", (long long)number, behind, "");
			struct text t = start(*state, text, (size_t)size);
			int64_t value;
			assert_int_equal(pe_scan_i64(&t.scan, "a number", 0, INT64_MAX, &value), PE_OK);
			assert_true(value == number);
			assert_int_equal(t.scan.at - t.copy, length);
			free(t.copy);
		}
	}
}

static void bad_number(void **state, const char *text, const char *message)
{
	struct text t = start(*state, text, strlen(text));
	int64_t value = 42;
	xt_fails(*state, pe_scan_i64(&t.scan, "a node id", 1, 9, &value), PE_ERR_FORMAT, message);
	assert_int_equal(value, 42);
	free(t.copy);
}

static void bad_integers(void **state)
{
	bad_number(state, "", "x:1: the text ends where a node id should be");
	bad_number(state, "  \r\n1", "x:1: the line ends where a node id should be");
	bad_number(state, ",3", "x:1: there is a ',' where a node id should be");
	bad_number(state, "1a", "\"1a\" is not a node id, which must be an integer");
	bad_number(state, "1.5 2 3 4 5 6", "\"1.5\" is not a node id");
	bad_number(state, "-", "\"-\" is not a node id");
	bad_number(state, "10", "x:1: a node id cannot be 10: it must be from 1 to 9");
	bad_number(state, "0           ", "a node id cannot be 0: it must be from 1 to 9");
	bad_number(state, "10 2 3 4 5 6", "a node id cannot be 10");
	bad_number(state, "-1", "a node id cannot be -1");
	bad_number(state, "99999999999999999999", "a node id cannot be 99999999999999999999");
}

static void bad_real(void **state, const char *text, const char *message)
{
	struct text t = start(*state, text, strlen(text));
	double value = 42;
	xt_fails(*state, pe_scan_f64(&t.scan, "a weight", &value), PE_ERR_FORMAT, message);
	free(t.copy);
}

static void reals(void **state)
{
	struct text t = START("1.5 -2e-3,.25 1e300");
	const double expected[] = {1.5, -2e-3, .25, 1e300};
	for (int i = 0; i < 4; i++) {
		double value;
		t.scan.at += *t.scan.at == ',';
		assert_int_equal(pe_scan_f64(&t.scan, "a weight", &value), PE_OK);
		assert_true(value == expected[i]);
	}
	free(t.copy);
	bad_real(state, "nan", "x:1: a weight is \"nan\": it must be a finite number");
	bad_real(state, "-inf", "which is infinite or too large");
	bad_real(state, "1e999", "a weight is 1e999, which is infinite or too large");
	bad_real(state, "{}", "\"{}\" is not a weight, which must be a number");
	bad_real(state, "", "the text ends where a weight should be");
}

/* ---- edges -------------------------------------------------------------------------- */

static void weights_begin_late(void **state)
{
	struct pe_edge_buffer edges = {0};
	for (int64_t i = 0; i < 20; i++)
		assert_int_equal(pe_edge_push(*state, &edges, i, i + 1), PE_OK);
	assert_int_equal(pe_edge_push_weighted(*state, &edges, 0, 5, 2.5), PE_OK);
	assert_int_equal(pe_edge_push(*state, &edges, 0, 6), PE_OK);
	struct pe_raw_graphs raw;
	assert_int_equal(pe_raw_from_edges(*state, &edges, 0, 30, &raw), PE_OK);
	assert_true(raw.nodes == 30 && raw.rows == 22 && raw.base == 0 && raw.graphs == 1 && !raw.node_ids);
	assert_true(raw.w[0] == 1 && raw.w[19] == 1 && raw.w[20] == 2.5 && raw.w[21] == 1);
	assert_true(raw.u[19] == 19 && raw.v[20] == 5);
	pe_edge_buffer_free(*state, &edges);
	pe_raw_graphs_free(*state, &raw);
}

static void expect_rows(void **state, const int64_t *ids, int64_t count, const int32_t *rows, int64_t nodes,
	const int64_t *node_ids)
{
	struct pe_edge_buffer edges = {0};
	for (int64_t i = 0; i < count; i += 2)
		assert_int_equal(pe_edge_push(*state, &edges, ids[i], ids[i + 1]), PE_OK);
	struct pe_raw_graphs raw;
	assert_int_equal(pe_raw_from_edges(*state, &edges, 0, -1, &raw), PE_OK);
	assert_int_equal(raw.nodes, nodes);
	for (int64_t i = 0; i < count; i += 2)
		assert_true(raw.u[i / 2] == rows[i] && raw.v[i / 2] == rows[i + 1]);
	assert_int_equal(raw.node_ids != NULL, node_ids != NULL);
	for (int64_t i = 0; node_ids && i < nodes; i++)
		assert_true(raw.node_ids[i] == node_ids[i]);
	pe_edge_buffer_free(*state, &edges);
	pe_raw_graphs_free(*state, &raw);
}

static void gaps_are_closed(void **state)
{
	expect_rows(state, (int64_t[]){7, 5, 5, 6}, 4, (int32_t[]){2, 0, 0, 1}, 3, NULL);
	expect_rows(state, (int64_t[]){-3, 40, 40, 8}, 4, (int32_t[]){0, 2, 2, 1}, 3, (int64_t[]){-3, 8, 40});
	expect_rows(state, (int64_t[]){INT64_MAX, INT64_MIN, 0, -1}, 4, (int32_t[]){3, 0, 2, 1}, 4,
		(int64_t[]){INT64_MIN, -1, 0, INT64_MAX});
	expect_rows(state, (int64_t[]){1000000007, 31, 31, 99999999999}, 4, (int32_t[]){1, 0, 0, 2}, 3,
		(int64_t[]){31, 1000000007, 99999999999});
	expect_rows(state, NULL, 0, NULL, 0, NULL);
}

/* Spread ids in number, through both ways of finding rows, against their known order. */
static void many_ids(void **state)
{
	for (int64_t step = 3; step < 10000000000; step *= 1000) {
		enum { NODES = 3000 };
		struct pe_edge_buffer edges = {0};
		for (int64_t i = 0; i < NODES; i++)
			assert_int_equal(pe_edge_push(*state, &edges, (i * 7919 % NODES) * step - 50, -50), PE_OK);
		struct pe_raw_graphs raw;
		assert_int_equal(pe_raw_from_edges(*state, &edges, 0, -1, &raw), PE_OK);
		assert_true(raw.nodes == NODES && raw.base == -50);
		for (int64_t i = 0; i < NODES; i++)
			assert_true(raw.u[i] == i * 7919 % NODES && raw.v[i] == 0 && raw.node_ids[i] == i * step - 50);
		pe_edge_buffer_free(*state, &edges);
		pe_raw_graphs_free(*state, &raw);
	}
}

static void out_of_memory(void **state)
{
	struct xt_shortage s = {.forever = true};
	while (xt_shortage_next(&s)) {
		struct pe_edge_buffer edges = {0};
		struct pe_raw_graphs raw = {0};
		xt_shortage_begin(&s);
		pe_status status = PE_OK;
		for (int64_t i = 0; i < 40 && status == PE_OK; i++)
			status = pe_edge_push_weighted(*state, &edges, i * 1000000000000, i, 1);
		if (status == PE_OK)
			status = pe_raw_from_edges(*state, &edges, 0, -1, &raw);
		xt_shortage_end(&s, status);
		pe_edge_buffer_free(*state, &edges);
		pe_raw_graphs_free(*state, &raw);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_any_kind),
		cmocka_unit_test(integers),
		cmocka_unit_test(digits_near_the_end),
		cmocka_unit_test(bad_integers),
		cmocka_unit_test(reals),
		cmocka_unit_test(weights_begin_late),
		cmocka_unit_test(gaps_are_closed),
		cmocka_unit_test(many_ids),
		cmocka_unit_test(out_of_memory),
	};
	return xt_run(argc, argv, tests) != 0;
}
