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

/* Up to 15 digits and a power of ten up to 22 are exact doubles, so that one multiplication or
 * division rounds once (Clinger, PLDI 1990). false: not of that kind. */
static bool parse_short(const char *text, size_t size, double *out)
{
	static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13,
		1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	size_t at = size > 0 && (text[0] == '-' || text[0] == '+');
	int64_t mantissa = 0;
	int digits = 0, fraction = 0;
	bool point = false;
	for (; at < size; at++) {
		if (text[at] == '.' && !point) {
			point = true;
			continue;
		}
		if (!is_digit(text[at]) || ++digits > 15)
			return false;
		mantissa = 10 * mantissa + (text[at] - '0');
		fraction += point;
	}
	if (digits == 0)
		return false;
	double value = (double)mantissa / powers[fraction];
	*out = text[0] == '-' ? -value : value;
	return true;
}

static locale_t c_locale(void)
{
	return newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
}

bool pe_parse_f64(const char *text, size_t size, double *out)
{
	if (parse_short(text, size, out))
		return true;
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
