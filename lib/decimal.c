/* SPDX-License-Identifier: BSD-2-Clause
 * Doubles as decimal text, the common ones without printf. A double is m·2^q with m < 2^53, and
 * m·5^p with p ≤ 27 is exact in 128 bits: so are value·10^p and its rounding, half to even as
 * printf rounds. */
#include <string.h>

#include "number.h"

#define MAX_DIGITS 17
#define MAX_POWER 27

__extension__ typedef unsigned __int128 wide;

static const uint64_t fives[MAX_POWER + 1] = {1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125,
	9765625, 48828125, 244140625, 1220703125, 6103515625, 30517578125, 152587890625, 762939453125,
	3814697265625, 19073486328125, 95367431640625, 476837158203125, 2384185791015625, 11920928955078125,
	59604644775390625, 298023223876953125, 1490116119384765625, 7450580596923828125};

static const uint64_t tens[MAX_DIGITS + 1] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
	1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000, 1000000000000000,
	10000000000000000, 100000000000000000};

/* value·10^power, cut to an integer, and whether the rest rounds it up. false: not in 128 bits. */
static bool scale(uint64_t mantissa, int exponent, int power, uint64_t *whole, bool *up)
{
	if (power < 0 || power > MAX_POWER)
		return false;
	wide product = (wide)mantissa * fives[power];
	int shift = -(exponent + power);
	if (shift < 1 || shift > 127)
		return false;
	wide quotient = product >> shift, rest = product - (quotient << shift), half = (wide)1 << (shift - 1);
	*whole = (uint64_t)quotient;
	*up = rest > half || (rest == half && (*whole & 1));
	return quotient >> 64 == 0;
}

/* value ≈ whole·10^(*exponent - digits + 1) with whole of that many digits. */
static bool decompose(double value, int digits, uint64_t *whole, int *exponent)
{
	uint64_t bits;
	bool up;
	memcpy(&bits, &value, sizeof bits);
	int binary = (int)(bits >> 52 & 0x7ff);
	if (binary == 0 || binary == 0x7ff)
		return false;
	uint64_t mantissa = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
	int guess = ((binary - 1023) * 78913) >> 18; /* times log10(2), rounded down */
	for (int attempt = 0; attempt < 3; attempt++) {
		if (!scale(mantissa, binary - 1075, digits - 1 - guess, whole, &up))
			return false;
		if (*whole >= tens[digits - 1] && *whole < tens[digits])
			break;
		guess += *whole < tens[digits - 1] ? -1 : 1;
	}
	*whole += up;
	*exponent = guess;
	if (*whole == tens[digits]) {
		*whole = tens[digits - 1];
		*exponent += 1;
	}
	return true;
}

/* Writes the digits after the first `point` of them, with a point before, if there are any. */
static char *fraction(char *out, const char *digit, int count, int point)
{
	if (count <= point)
		return out;
	*out++ = '.';
	memcpy(out, digit + point, (size_t)(count - point));
	return out + count - point;
}

static char *scientific(char *out, const char *digit, int count, int exponent)
{
	*out++ = digit[0];
	out = fraction(out, digit, count, 1);
	*out++ = 'e';
	*out++ = exponent < 0 ? '-' : '+';
	int magnitude = exponent < 0 ? -exponent : exponent;
	*out++ = (char)('0' + magnitude / 10);
	*out++ = (char)('0' + magnitude % 10);
	return out;
}

static char *plain(char *out, const char *digit, int count, int exponent)
{
	if (exponent < 0) {
		memcpy(out, "0.0000", 6);
		out += 1 - exponent;
		memcpy(out, digit, (size_t)count);
		return out + count;
	}
	for (int i = 0; i <= exponent; i++)
		*out++ = i < count ? digit[i] : '0';
	return fraction(out, digit, count, exponent + 1);
}

size_t pe_format_common(char *out, double value, int digits)
{
	uint64_t whole;
	int exponent, count = digits;
	char digit[MAX_DIGITS], *at = out;
	if (digits < 1 || digits > MAX_DIGITS || !decompose(value, digits, &whole, &exponent))
		return 0;
	for (int i = digits - 1; i >= 0; i--, whole /= 10)
		digit[i] = (char)('0' + whole % 10);
	while (count > 1 && digit[count - 1] == '0')
		count--;
	if (value < 0)
		*at++ = '-';
	at = exponent < -4 || exponent >= digits ? scientific(at, digit, count, exponent)
											 : plain(at, digit, count, exponent);
	*at = '\0';
	return (size_t)(at - out);
}

size_t pe_format_i64(char *out, int64_t value)
{
	char digit[20];
	size_t count = 0, at = 0;
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
	do
		digit[count++] = (char)('0' + rest % 10);
	while ((rest /= 10) > 0);
	if (value < 0)
		out[at++] = '-';
	while (count > 0)
		out[at++] = digit[--count];
	out[at] = '\0';
	return at;
}
