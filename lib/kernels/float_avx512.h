/* SPDX-License-Identifier: BSD-2-Clause
 * What float_lanes.h asks for, in vectors of 16 floats. */
#include <immintrin.h>
#include <stdint.h>

typedef float vec __attribute__((vector_size(64), may_alias));
typedef int32_t vec_bits __attribute__((vector_size(64), may_alias));

#define VEC_LANES 16
#define ROWS 12

static inline vec vec_all(float a)
{
	return (vec)_mm512_set1_ps(a);
}

static inline vec vec_fused(vec a, vec b, vec c)
{
	return (vec)_mm512_fmadd_ps(a, b, c);
}

static inline vec vec_max(vec a, vec b)
{
	return (vec)_mm512_max_ps(a, b);
}

static inline vec vec_gather(const float *from, vec_bits index, int32_t count, int32_t step)
{
	const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	__mmask16 some = _mm512_cmplt_epu32_mask((__m512i)index, _mm512_set1_epi32(count));
	if (step != 0)
		index = (vec_bits)_mm512_add_epi32((__m512i)(index * step), lane);
	return (vec)_mm512_mask_i32gather_ps(_mm512_setzero_ps(), some, (__m512i)index, from, 4);
}

/* 2^x = 2^floor(n) · 2^(j/16) · 2^r, where n = x - r is the nearest sixteenth, j/16 its fraction: a table
 * of 16 and a cubic in r, |r| ≤ 1/32. n is rounded by a sum whose lowest bits are j. Scaling saturates by
 * itself, and gives 0 for n = -inf, whatever r. */
static inline vec vec_exp2(vec x)
{
	const __m512 table = _mm512_setr_ps(0x1.0p+0f, 0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
		0x1.306fe0p+0f, 0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f, 0x1.6a09e6p+0f, 0x1.7a1148p+0f,
		0x1.8ace54p+0f, 0x1.9c4918p+0f, 0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f);
	const vec last_bit_sixteenth = vec_all(0x1.8p+19f);
	vec shifted = x + last_bit_sixteenth, n = shifted - last_bit_sixteenth, r = x - n;
	vec power = (vec)_mm512_permutexvar_ps((__m512i)shifted, table);
	vec p = vec_fused(vec_all(0x1.c6ac6ap-5f), r, vec_all(0x1.ebfff4p-3f));
	p = vec_fused(p, r, vec_all(0x1.62e430p-1f));
	p = vec_fused(p, r * power, power);
	return (vec)_mm512_scalef_ps((__m512)p, (__m512)n);
}
