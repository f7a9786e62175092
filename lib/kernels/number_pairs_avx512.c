/* SPDX-License-Identifier: BSD-2-Clause
 * The loop of number_pairs_body.h in vectors of 64 bytes; numbers are picked by compressing. */
#include <immintrin.h>
#include <stdbool.h>

#include "kernels.h"

#define PICKED 32 /* 16 of the last 16 bytes, and those before */

static inline __m512i load(const char *at)
{
	return _mm512_loadu_si512(at);
}

static inline uint64_t find(const char *at, char c)
{
	return _mm512_cmpeq_epi8_mask(load(at), _mm512_set1_epi8(c));
}

static inline __m512i digits_at(const char *at)
{
	return _mm512_sub_epi8(load(at), _mm512_set1_epi8('0'));
}

static inline uint64_t find_digits(const char *at)
{
	return _mm512_cmple_epu8_mask(digits_at(at), _mm512_set1_epi8(9));
}

static inline __m512i ten_times(__m512i x)
{
	__m512i two = _mm512_add_epi8(x, x), four = _mm512_add_epi8(two, two);
	return _mm512_add_epi8(_mm512_add_epi8(four, four), two);
}

struct values {
	__m512i low, high; /* the last two digits, and the two before these */
	bool are_long;     /* there are some */
};

static inline void evaluate(const char *at, const uint64_t runs[6], bool are_long, struct values *out)
{
	__m512i d1 = digits_at(at - 1), d2 = _mm512_maskz_mov_epi8(runs[2], digits_at(at - 2));
	out->low = _mm512_add_epi8(d1, ten_times(d2));
	out->are_long = are_long;
	if (!are_long)
		return;
	__m512i d3 = _mm512_maskz_mov_epi8(runs[3], digits_at(at - 3));
	__m512i d4 = _mm512_maskz_mov_epi8(runs[4], digits_at(at - 4));
	out->high = _mm512_add_epi8(d3, ten_times(d4));
}

/* The numbers of 16 bytes. */
static inline int32_t *pick_some(__m128i low, __m128i high, bool are_long, uint64_t places, int32_t *out)
{
	__m512i all = _mm512_cvtepu8_epi32(low);
	if (are_long)
		all = _mm512_add_epi32(all, _mm512_mullo_epi32(_mm512_cvtepu8_epi32(high), _mm512_set1_epi32(100)));
	_mm512_storeu_si512(out, _mm512_maskz_compress_epi32((__mmask16)places, all));
	return out + __builtin_popcountll(places & 0xFFFF);
}

static inline void pick(const struct values *values, uint64_t places, int64_t count, int32_t *out)
{
	(void)count;
	__m512i low = values->low, high = values->are_long ? values->high : low;
	bool are_long = values->are_long;
	out = pick_some(
		_mm512_extracti32x4_epi32(low, 0), _mm512_extracti32x4_epi32(high, 0), are_long, places, out);
	places >>= 16;
	out = pick_some(
		_mm512_extracti32x4_epi32(low, 1), _mm512_extracti32x4_epi32(high, 1), are_long, places, out);
	places >>= 16;
	out = pick_some(
		_mm512_extracti32x4_epi32(low, 2), _mm512_extracti32x4_epi32(high, 2), are_long, places, out);
	places >>= 16;
	(void)pick_some(
		_mm512_extracti32x4_epi32(low, 3), _mm512_extracti32x4_epi32(high, 3), are_long, places, out);
}

#include "number_pairs_body.h"

void pe_number_pairs_avx512(struct pe_kernels *kernels)
{
	kernels->number_pairs = number_pairs;
}
