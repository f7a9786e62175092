/* SPDX-License-Identifier: BSD-2-Clause
 * The sign of eigenvectors: of the entries that are nearly the largest, the first in row order becomes
 * positive. Included by lane_eigen_body.h. */

/* One vector of each lane, whose additional entry is *last. From the last row up, so that the first of
 * the large entries stays; zeros behind a smaller matrix are none. */
static inline void set_sign(vec *x, vec *last, int32_t order)
{
	vec most = vec_abs(*last), first = *last;
	for (int32_t i = 0; i < order; i++)
		most = vec_max(most, vec_abs(x[i]));
	most *= vec_all(1.0 - PE_LANE_SIGN_TIE);
	for (int32_t i = order - 1; i >= 0; i--)
		first = vec_select(vec_less(vec_abs(x[i]), most), first, x[i]);
	vec sign = vec_copysign(vec_all(1.0), first);
	for (int32_t i = 0; i < order; i++)
		x[i] *= sign;
	*last *= sign;
}
