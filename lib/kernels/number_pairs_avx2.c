/* SPDX-License-Identifier: BSD-2-Clause
 * 64 bytes at a time, wherever rows begin in them: for every byte, the number that would end before it; then
 * those that do are picked out. */
#include <immintrin.h>
#include <stdbool.h>

#include "kernels.h"

#define BYTES 64
#define MOST 16 /* rows that end in so many bytes */

typedef unsigned char vec __attribute__((vector_size(32), may_alias));

static inline vec load(const char *at)
{
	vec a;
	memcpy(&a, at, sizeof a);
	return a;
}

static inline uint64_t bits_of(vec low, vec high)
{
	return (uint32_t)_mm256_movemask_epi8((__m256i)low) |
		(uint64_t)(uint32_t)_mm256_movemask_epi8((__m256i)high) << 32;
}

static inline uint64_t find(const char *at, char c)
{
	return bits_of((vec)(load(at) == (unsigned char)c), (vec)(load(at + 32) == (unsigned char)c));
}

static inline vec is_digit(vec text)
{
	return (vec)(text - '0' <= 9);
}

static inline vec ten_times(vec x)
{
	vec two = x + x, four = two + two;
	return four + four + two;
}

/* The last two digits of the number that ends before every byte, and the two before these, 0 where there are
 * none; anything where no number ends. */
static inline void evaluate(const char *at, unsigned char *low, unsigned char *high)
{
	vec t1 = load(at - 1), t2 = load(at - 2), t3 = load(at - 3), t4 = load(at - 4);
	vec m2 = is_digit(t2), m3 = m2 & is_digit(t3), m4 = m3 & is_digit(t4);
	vec lows = t1 - '0' + ten_times(m2 & (t2 - '0')), highs = (m3 & (t3 - '0')) + ten_times(m4 & (t4 - '0'));
	memcpy(low, &lows, sizeof lows);
	memcpy(high, &highs, sizeof highs);
}

/* The first, the third, … of the set bits. */
static inline uint64_t every_other(uint64_t x)
{
	uint64_t odd = x; /* is the number of bits from here down odd? */
	for (int shift = 1; shift < 64; shift *= 2)
		odd ^= odd << shift;
	return x & odd;
}

/* The values at the set bits of `places`, of which there are `count`; writes eight at a time. */
static inline void pick(
	uint64_t places, int64_t count, const unsigned char *low, const unsigned char *high, int32_t *out)
{
	for (int64_t i = 0; i < count; i += 8)
		for (int64_t k = i; k < i + 8; k++) {
			int place = __builtin_ctzll(places | (uint64_t)1 << 63);
			out[k] = low[place] + (high ? 100 * high[place] : 0);
			places &= places - 1;
		}
}

struct progress {
	uint64_t digits; /* of the bytes before */
	int64_t us, vs;  /* numbers taken; the last row may still lack its second */
};

/* Takes the numbers that end in the 64 bytes at `at`; false if there is anything but whole rows, or parts. */
static inline bool take(struct progress *p, const char *at, uint64_t feeds, int32_t *u, int32_t *v)
{
	unsigned char low[BYTES], high[BYTES];
	uint64_t commas = find(at, ','), ends = commas | feeds, runs[6] = {~(uint64_t)0};
	uint64_t digits = bits_of(is_digit(load(at)), is_digit(load(at + 32)));
	for (int n = 1; n < 6; n++) /* n digits stand before a byte */
		runs[n] = runs[n - 1] & (digits << n | p->digits >> (64 - n));
	uint64_t wrong = ~(digits | ends) | (ends & ~runs[1]) | (ends & runs[5]);
	if (wrong || every_other(ends) != (p->us == p->vs ? commas : feeds))
		return false;
	evaluate(at, low, high);
	evaluate(at + 32, low + 32, high + 32);
	int64_t new_us = __builtin_popcountll(commas), new_vs = __builtin_popcountll(feeds);
	if (ends & runs[3]) {
		pick(commas, new_us, low, high, u + p->us);
		pick(feeds, new_vs, low, high, v + p->vs);
	} else {
		pick(commas, new_us, low, NULL, u + p->us);
		pick(feeds, new_vs, low, NULL, v + p->vs);
	}
	*p = (struct progress){digits, p->us + new_us, p->vs + new_vs};
	return true;
}

static int64_t number_pairs(const char **from, const char *end, int64_t rows, int32_t *u, int32_t *v)
{
	/* One row first: behind it there are bytes to look back at. */
	int64_t first = pe_number_pairs8(from, end, rows < 1 ? rows : 1, u, v);
	struct progress p = {.us = first, .vs = first};
	const char *done = *from;
	for (const char *at = done; first == 1 && end - at >= BYTES && rows - p.us >= MOST; at += BYTES) {
		uint64_t feeds = find(at, '\n');
		if (!take(&p, at, feeds, u, v))
			break;
		done = feeds ? at + BYTES - __builtin_clzll(feeds) : done;
	}
	*from = done;
	return p.vs + pe_number_pairs8(from, end, rows - p.vs, u + p.vs, v + p.vs);
}

void pe_number_pairs_avx2(struct pe_kernels *kernels)
{
	kernels->number_pairs = number_pairs;
}
