/* SPDX-License-Identifier: BSD-2-Clause
 * 2^x by a polynomial of degree 6 on [-1/2, 1/2], for sets that cannot scale by a power of two in one
 * instruction. Below -126 it is 0; above 127 it stays what it is there, so that no exponent wraps; NaN
 * stays NaN, since the power is multiplied, not added to the bits. */

static inline vec vec_exp2(vec x)
{
	const vec last_bit_one = vec_all(0x1.8p+23f), least = vec_all(-126.0f), most = vec_all(127.0f);
	vec bounded = -vec_max(-most, -vec_max(least, x));
	vec shifted = bounded + last_bit_one, r = bounded - (shifted - last_bit_one);
	vec power = (vec)(((vec_bits)shifted + 127) << 23);
	vec p = vec_fused(vec_all(0x1.41fbbcp-13f), r, vec_all(0x1.5f3e52p-10f));
	p = vec_fused(p, r, vec_all(0x1.3b2d4cp-7f));
	p = vec_fused(p, r, vec_all(0x1.c6aee8p-5f));
	p = vec_fused(p, r, vec_all(0x1.ebfbdcp-3f));
	p = vec_fused(p, r, vec_all(0x1.62e430p-1f));
	p = vec_fused(p, r, vec_all(1.0f)) * power;
	return (vec)((vec_bits)p & ~(vec_bits)(x < least));
}
