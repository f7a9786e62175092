/* SPDX-License-Identifier: BSD-2-Clause */
#include "number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT 512 /* a longer number is not one that a person or a program writes */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool pe_parse_i64(const char *text, size_t size, int64_t *out)
{
	bool negative = size > 0 && text[0] == '-';
	size_t at = size > 0 && (text[0] == '-' || text[0] == '+');
	if (at == size)
		return false;
	int64_t value = 0; /* counted downwards: the negative range is the larger one */
	for (; at < size; at++)
		if (!is_digit(text[at]) || __builtin_mul_overflow(value, 10, &value) ||
			__builtin_sub_overflow(value, text[at] - '0', &value))
			return false;
	if (!negative && value == INT64_MIN)
		return false;
	*out = negative ? value : -value;
	return true;
}

#define MAX_DIGITS 19 /* always fit into 64 bits */

/* ±mantissa / 10^fraction */
struct decimal {
	uint64_t mantissa;
	int fraction;
	bool negative;
};

/* Digits and at most one point, as long as they go on. Returns their length; 0: there is no digit, or
 * there are too many. */
static size_t read_decimal(const char *text, size_t size, struct decimal *out)
{
	size_t at = size > 0 && (text[0] == '-' || text[0] == '+');
	bool point = false, some = false;
	int digits = 0;
	*out = (struct decimal){.negative = size > 0 && text[0] == '-'};
	for (; at < size; at++) {
		if (text[at] == '.' && !point) {
			point = true;
			continue;
		}
		if (!is_digit(text[at]))
			break;
		digits += out->mantissa > 0;
		if (digits >= MAX_DIGITS)
			return 0;
		some = true;
		out->mantissa = 10 * out->mantissa + (uint64_t)(text[at] - '0');
		out->fraction += point;
	}
	return some ? at : 0;
}

__extension__ typedef unsigned __int128 wide;

/* a / b rounded once, both above 0: the quotient of 63 bits or more of both moved up to 64, its last
 * bit set where there is a remainder. */
static double divide(uint64_t a, uint64_t b)
{
	int up_a = __builtin_clzll(a), up_b = __builtin_clzll(b);
	wide dividend = (wide)(a << up_a) << 63;
	uint64_t divisor = b << up_b, quotient = (uint64_t)(dividend / divisor);
	quotient |= (wide)quotient * divisor != dividend;
	uint64_t power = (uint64_t)(1023 - 63 + up_b - up_a) << 52;
	double scale;
	memcpy(&scale, &power, sizeof scale);
	return (double)quotient * scale;
}

/* Up to 53 bits and a power of ten up to 22 are exact doubles, so that one division rounds once
 * (Clinger, PLDI 1990); others are divided as integers. */
size_t pe_parse_decimal(const char *text, size_t size, double *out)
{
	static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
		1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
		1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000, 10000000000000000000u};
	struct decimal d;
	size_t length = read_decimal(text, size, &d);
	if (length == 0 || d.fraction >= (int)(sizeof powers / sizeof *powers))
		return 0;
	bool exact = d.mantissa <= (uint64_t)1 << 53;
	double value =
		exact ? (double)d.mantissa / (double)powers[d.fraction] : divide(d.mantissa, powers[d.fraction]);
	*out = d.negative ? -value : value;
	return length;
}

static locale_t c_locale(void)
{
	return newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
}

bool pe_parse_f64(const char *text, size_t size, double *out)
{
	double value;
	if (size > 0 && pe_parse_decimal(text, size, &value) == size) {
		*out = value;
		return true;
	}
	if (size == 0 || size >= MAX_TEXT || text[0] == ' ' || memchr(text, 'x', size) ||
		memchr(text, 'X', size) || memchr(text, '\0', size) || (text[0] >= '\t' && text[0] <= '\r'))
		return false;
	char copy[MAX_TEXT];
	memcpy(copy, text, size);
	copy[size] = '\0';
	locale_t c = c_locale();
	if (c == (locale_t)0)
		return false;
	locale_t before = uselocale(c);
	char *end;
	*out = strtod(copy, &end);
	uselocale(before);
	freelocale(c);
	return end == copy + size;
}

size_t pe_format_f64(char *out, double value, int digits)
{
	size_t common = pe_format_common(out, value, digits);
	if (common > 0)
		return common;
	locale_t c = c_locale();
	locale_t before = c == (locale_t)0 ? c : uselocale(c);
	int length = snprintf(out, 32, "%.*g", digits, value);
	if (c != (locale_t)0) {
		uselocale(before);
		freelocale(c);
	}
	return length < 0 ? 0 : (size_t)length;
}
