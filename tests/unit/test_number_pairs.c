/* SPDX-License-Identifier: BSD-2-Clause
 * Every set takes the rows that are there, stops where one is anything else, and touches nothing beyond. */
#include "xt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "xt_kernels.h"

enum { ROWS = 200, CANARY = -77 };

/* The next row by sscanf, of at most `most` digits; its length, or 0. */
static int plain_row(const char *at, int most, int *u, int *v)
{
	int a = 0, b = 0, c = 0;
	char comma = 0, feed = 0;
	if (sscanf(at, "%*[0-9]%n%c%n%*[0-9]%n%c", &a, &comma, &b, &c, &feed) != 2 || comma != ',' ||
		feed != '\n' || b != a + 1 || a > most || c - b > most || a == 0 || c == b)
		return 0;
	*u = atoi(at);
	*v = atoi(at + b);
	return c + 1;
}

/* Takes rows by the kernel until there are `rows` or it stops; all that it takes must be right, and where it
 * stops it must have a reason to. */
static void check(const struct pe_kernels *kernels, const char *text, size_t size, int64_t rows)
{
	/* A copy of exactly this size, so that a read beyond its ends is seen. */
	char *copy = malloc(size ? size : 1);
	int32_t *u = malloc((size_t)(rows + 1) * sizeof *u), *v = malloc((size_t)(rows + 1) * sizeof *v);
	assert_true(copy && u && v);
	memcpy(copy, text, size);
	for (int64_t i = 0; i <= rows; i++)
		u[i] = v[i] = CANARY;
	const char *at = copy;
	int64_t taken = kernels->number_pairs(&at, copy + size, rows, u, v);
	assert_true(taken >= 0 && taken <= rows && u[rows] == CANARY && v[rows] == CANARY);
	const char *expected = text;
	int a = 0, b = 0;
	for (int64_t i = 0; i < taken; i++) {
		int length = plain_row(expected, 4, &a, &b);
		if (length == 0 || u[i] != a || v[i] != b)
			fail_msg(
				"%s: row %lld is %d,%d in \"%s\"", kernels->name, (long long)i, (int)u[i], (int)v[i], text);
		expected += length;
	}
	assert_true(at - copy == expected - text);
	int length = plain_row(expected, 4, &a, &b);
	bool must = taken < rows && text + size - expected >= 8 && length > 0 && length <= 8;
	if (must && strcmp(kernels->name, "neon") != 0 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		fail_msg("%s: stopped at \"%s\" in \"%s\"", kernels->name, expected, text);
	free(copy);
	free(u);
	free(v);
}

static void check_sets(const char *text)
{
	size_t size = strlen(text);
	for (int set = 0; xt_kernels(set); set++)
		for (int64_t rows = 0; rows <= ROWS; rows += rows < 20 ? 1 : 45)
			check(xt_kernels(set), text, size, rows);
}

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static size_t random_rows(uint32_t *seed, int digits, int rows, char *text)
{
	static const int limits[] = {10, 100, 1000, 10000};
	size_t size = 0;
	for (int i = 0; i < rows; i++)
		size += (size_t)sprintf(text + size, "%u,%u\n",
			next(seed) % (uint32_t)limits[next(seed) % (uint32_t)digits],
			next(seed) % (uint32_t)limits[next(seed) % (uint32_t)digits]);
	return size;
}

static void rows_of_any_lengths(void **state)
{
	(void)state;
	char text[ROWS * 12];
	uint32_t seed = 1;
	for (int round = 0; round < 400; round++) {
		random_rows(&seed, 1 + round % 4, 1 + round % 90, text);
		check_sets(text);
	}
}

/* Every row of two numbers, by what follows it too, alone and among others. */
static void all_short_rows(void **state)
{
	(void)state;
	char text[256];
	for (int set = 0; xt_kernels(set); set++)
		for (int i = 0; i < 20000; i += i < 120 ? 1 : 373)
			for (int j = 0; j < 20000; j += j < 120 ? 1 : 411) {
				int size = snprintf(text, sizeof text,
					"%d,%d\n9,9\n10,11\n%d,%d\n1,1\n12,13\n14,15\n16,17\n18,19\n20,21\n%d,%d\n22,23\n24,25\n"
					"26,27\n28,29\n30,31\n32,33\n34,35\n36,37\n38,39\n40,41\n42,43\n44,45\n46,47\n48,49\n",
					i, j, j, i, i, j);
				check(xt_kernels(set), text, (size_t)size, 40);
			}
}

/* Any byte in place of any other. */
static void changed_bytes(void **state)
{
	(void)state;
	static const char bytes[] = {
		',', '\n', '0', '9', ' ', '\r', '-', ';', ':', '/', '\t', 'x', '\x80', '\xb5', '\xff'};
	char text[ROWS * 12];
	uint32_t seed = 7;
	for (int digits = 1; digits <= 4; digits++) {
		size_t size = random_rows(&seed, digits, 40, text);
		for (size_t at = 0; at < size; at++) {
			char kept = text[at];
			for (int i = 0; i < (int)PE_COUNT(bytes); i++) {
				text[at] = bytes[i];
				for (int set = 0; xt_kernels(set); set++)
					check(xt_kernels(set), text, size, 40);
			}
			text[at] = kept;
		}
	}
}

/* What is no row, first and behind others. */
static void what_is_no_row(void **state)
{
	(void)state;
	static const char *const wrong[] = {",1\n2,34\n", "1,\n2,34\n", "1\n2,345\n", "1,2,34\n5", "1;2\n3,4\n",
		"1,2\r\n3,4", "1 ,2\n3,4", "-1,2\n3,4", "1,2:\n3,4", "12345678\n", "1,234567", "\n1,2\n3,4",
		"1\xc3\xa9,2\n3"};
	for (int i = 0; i < (int)PE_COUNT(wrong); i++)
		for (int before = 0; before < 60; before++) {
			char text[1024] = "";
			for (int k = 0; k < before; k++)
				strcat(text, k % 3 ? "12,3\n" : "4,567\n");
			strcat(text, wrong[i]);
			strcat(
				text, "\n1,2\n3,4\n5,6\n7,8\n9,10\n11,12\n13,14\n15,16\n17,18\n19,20\n21,22\n23,24\n25,26\n");
			for (int set = 0; xt_kernels(set); set++)
				check(xt_kernels(set), text, strlen(text), ROWS);
		}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_any_lengths),
		cmocka_unit_test(all_short_rows),
		cmocka_unit_test(changed_bytes),
		cmocka_unit_test(what_is_no_row),
	};
	return xt_run(argc, argv, tests);
}
