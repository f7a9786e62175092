/* SPDX-License-Identifier: BSD-2-Clause
 * Text of two short numbers a row, "12,3\n", as most writers of edges write it. */
#ifndef PE_NUMBER_PAIRS_H
#define PE_NUMBER_PAIRS_H

#include <stdint.h>
#include <string.h>

/* Takes rows "12,3\n" of two numbers of one to four digits from *at on, at most `rows`, and puts *at behind
 * them; u and v have room for so many. Stops early, with *at at the beginning of a row, before a row that is
 * longer, anything else, or wrong, and may stop before one that is not, near the end or longer than 8 bytes.
 * Returns how many rows it took. */
typedef int64_t pe_number_pairs_fn(const char **at, const char *end, int64_t rows, int32_t *u, int32_t *v);

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* The high bit of every byte that is no digit; above the first that is not ASCII, also of others. */
static inline uint64_t pe_not_digits8(uint64_t bytes)
{
	uint64_t digits = bytes ^ 0x3030303030303030u; /* 0 … 9 where there is a digit */
	return (digits | (digits + 0x7676767676767676u)) & 0x8080808080808080u;
}
#endif

/* A whole row "12,3\n", if it fits into the eight bytes at `at`: its length. 0: it does not, or is anything
 * else. */
static inline int pe_number_pair8(const char *at, int32_t *u, int32_t *v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t bytes;
	memcpy(&bytes, at, 8);
	uint64_t other = pe_not_digits8(bytes), behind = other & (other - 1);
	if (behind == 0)
		return 0;
	unsigned comma = (unsigned)__builtin_ctzll(other) & ~7u,
			 feed = (unsigned)__builtin_ctzll(behind) & ~7u; /* places in bits */
	if (comma - 8 > 24 || feed - comma - 16 > 24 || (bytes >> comma & 255) != ',' ||
		(bytes >> feed & 255) != '\n')
		return 0;
	/* Each number to the top of its half, so that zeros stand before it, and both at once: pairs of digits,
	 * then pairs of these. */
	uint64_t digits = bytes ^ 0x3030303030303030u;
	uint64_t both = (uint32_t)digits << (32 - comma) | digits >> (comma + 8) << (72 - (feed - comma));
	both = (both * 10 + (both >> 8)) & 0x00FF00FF00FF00FFu;
	both = both * 100 + (both >> 16);
	*u = both & 0xFFFF;
	*v = both >> 32 & 0xFFFF;
	return (int)(feed >> 3) + 1;
#else
	(void)at, (void)u, (void)v;
	return 0;
#endif
}

/* Row after row. */
static inline int64_t pe_number_pairs8(
	const char **from, const char *end, int64_t rows, int32_t *u, int32_t *v)
{
	const char *at = *from;
	int64_t row = 0;
	for (; row < rows && end - at >= 8; row++) {
		int length = pe_number_pair8(at, &u[row], &v[row]);
		if (length == 0)
			break;
		at += length;
	}
	*from = at;
	return row;
}

#endif
