/* SPDX-License-Identifier: BSD-2-Clause */
#include "number.h"
#include "xt.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reads_integers(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t value;
	} good[] = {{"0", 0}, {"-0", 0}, {"+7", 7}, {"9223372036854775807", INT64_MAX},
		{"-9223372036854775808", INT64_MIN}, {"007", 7}};
	static const char *const bad[] = {
		"", "-", "+", "1.0", "9223372036854775808", "-9223372036854775809", " 1", "1 ", "1e3", "0x1", "--1"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		int64_t x = 42;
		assert_true(pe_parse_i64(good[i].text, strlen(good[i].text), &x));
		assert_true(x == good[i].value);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		int64_t x;
		assert_false(pe_parse_i64(bad[i], strlen(bad[i]), &x));
	}
}

/* To the bit, against the compiler's own reading of the same digits. */
static void reads_reals(void **state)
{
	(void)state;
#define CASE(x) \
	{ \
#x, x \
	}
	static const struct {
		const char *text;
		double value;
	} good[] = {CASE(0.1), CASE(123456789012345.), CASE(.5), CASE(1e22), CASE(1e23), CASE(5e-324),
		CASE(-2.5e-8), CASE(1.7976931348623157e308), CASE(0.30000000000000004), CASE(9007199254740993.0),
		CASE(3), CASE(1e-5), CASE(6.62607015e-34), CASE(0.000000000000000000001234)};
#undef CASE
	static const char *const bad[] = {
		"", ".", "-", "1e", "1.2.3", "0x1p3", " 1", "1 ", "\n1", "1,5", "e5", "1\0002"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		double x = 0;
		assert_true(pe_parse_f64(good[i].text, strlen(good[i].text), &x));
		assert_true(x == good[i].value);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		double x;
		assert_false(pe_parse_f64(bad[i], i + 1 == sizeof bad / sizeof *bad ? 3 : strlen(bad[i]), &x));
	}
	double x;
	assert_true(pe_parse_f64("inf", 3, &x) && isinf(x));
	assert_true(pe_parse_f64("NaN", 3, &x) && isnan(x));
	assert_true(pe_parse_f64("-0.0", 4, &x) && x == 0 && signbit(x));
	assert_true(pe_parse_f64("12345", 2, &x) && x == 12);
}

static void writes_what_it_reads(void **state)
{
	(void)state;
	char text[32];
	double values[] = {0.1, 1e300, -5e-324, 1.0 / 3, 123456.75}, back;
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		size_t size = pe_format_f64(text, values[i], 17);
		assert_int_equal(size, strlen(text));
		assert_true(pe_parse_f64(text, size, &back) && back == values[i]);
	}
	pe_format_f64(text, 0.1f, 9);
	assert_string_equal(text, "0.100000001");
}

static void reads_what_text_begins_with(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t length;
		double value;
	} cases[] = {{"1.5,2", 3, 1.5}, {"-2.50 ", 5, -2.5}, {"1.2.3", 3, 1.2}, {"7", 1, 7}, {"3e5", 1, 3},
		{"00000000000000000000001x", 23, 1}, {".5\n", 2, .5}, {"5.\n", 2, 5}, {"", 0, 0}, {"-", 0, 0},
		{".", 0, 0}, {"inf", 0, 0}, {",1", 0, 0}, {"12345678901234567890123", 0, 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double x = 0;
		assert_int_equal(pe_parse_decimal(cases[i].text, strlen(cases[i].text), &x), cases[i].length);
		assert_true(x == cases[i].value);
	}
}

/* Numbers of 1 to 21 digits, many of them half way between two doubles, against the C library. */
static void reads_like_strtod(void **state)
{
	(void)state;
	uint64_t random = 1;
	for (int i = 0; i < 300000; i++) {
		char text[80];
		random = random * 6364136223846793005u + 1442695040888963407u;
		uint64_t digits = random >> (i % 60);
		if (i % 3 == 1) /* an odd multiple of half a unit in the last place */
			digits = random >> 11 | (uint64_t)1 << 53 | 1;
		double value = (double)(random >> 11) * 0x1p-53;
		int size = i % 3 == 2
			? snprintf(text, sizeof text, "%.17g", value)
			: snprintf(text, sizeof text, "%s%llu", i & 8 ? "-" : "", (unsigned long long)digits);
		int point = (int)(random >> 40) % (size + 1);
		if (i % 3 < 2 && i % 4 && point > 1) {
			memmove(text + point + 1, text + point, (size_t)(size - point) + 1);
			text[point] = '.';
			size++;
		}
		double x = 0;
		assert_true(pe_parse_f64(text, (size_t)size, &x));
		if (x != strtod(text, NULL))
			fail_msg("%s is read as %.17g", text, x);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_integers),
		cmocka_unit_test(reads_reals),
		cmocka_unit_test(reads_what_text_begins_with),
		cmocka_unit_test(reads_like_strtod),
		cmocka_unit_test(writes_what_it_reads),
	};
	setlocale(LC_ALL, ""); /* nothing here may depend on it */
	return xt_run(argc, argv, tests);
}
