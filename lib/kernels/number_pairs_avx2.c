/* SPDX-License-Identifier: BSD-2-Clause
 * The loop of number_pairs_body.h in vectors of 32 bytes. */
#include <immintrin.h>
#include <stdbool.h>

#include "kernels.h"

#define PICKED 16

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

static inline uint64_t find_digits(const char *at)
{
	return bits_of(is_digit(load(at)), is_digit(load(at + 32)));
}

static inline vec ten_times(vec x)
{
	vec two = x + x, four = two + two;
	return four + four + two;
}

struct values {
	unsigned char low[64], high[64]; /* the last two digits, and the two before these */
	bool are_long;                   /* there are some */
};

static inline void evaluate_half(const char *at, bool are_long, unsigned char *low, unsigned char *high)
{
	vec t1 = load(at - 1), t2 = load(at - 2), m2 = is_digit(t2);
	vec lows = t1 - '0' + ten_times(m2 & (t2 - '0'));
	memcpy(low, &lows, sizeof lows);
	if (!are_long)
		return;
	vec t3 = load(at - 3), t4 = load(at - 4), m3 = m2 & is_digit(t3), m4 = m3 & is_digit(t4);
	vec highs = (m3 & (t3 - '0')) + ten_times(m4 & (t4 - '0'));
	memcpy(high, &highs, sizeof highs);
}

static inline void evaluate(const char *at, const uint64_t runs[6], bool are_long, struct values *out)
{
	(void)runs;
	out->are_long = are_long;
	evaluate_half(at, are_long, out->low, out->high);
	evaluate_half(at + 32, are_long, out->low + 32, out->high + 32);
}

/* Two at a time, so that the loop's length is guessed more often. */
static inline void pick(const struct values *values, uint64_t places, int64_t count, int32_t *out)
{
	for (int64_t i = 0; i < count; i += 2)
		for (int64_t k = i; k < i + 2; k++) {
			int place = __builtin_ctzll(places | (uint64_t)1 << 63);
			out[k] = values->low[place] + (values->are_long ? 100 * values->high[place] : 0);
			places &= places - 1;
		}
}

#include "number_pairs_body.h"

void pe_number_pairs_avx2(struct pe_kernels *kernels)
{
	kernels->number_pairs = number_pairs;
}
