/* SPDX-License-Identifier: BSD-2-Clause
 * The loop of sparse_product.h, once an instruction set. Before this is included are defined:
 *   vec           a vector of VEC_LANES doubles
 *   vec_all       vec_all(a): a in every lane
 *   vec_fused     vec_fused(a, b, c) = a b + c */
#include "sparse_product.h"

#define VECS (PE_PRODUCT_LANES / VEC_LANES)
#define EACH_VEC(v) _Pragma("GCC unroll 4") for (int v = 0; v < VECS; v++)

/* Two sums of even and odd entries: one alone would wait for each addition. */
static void sparse_product(const struct pe_product_matrix *m, double centre, double scale,
	const double *restrict x, double *restrict out)
{
	const vec *from = (const vec *)x;
	vec *to = (vec *)out, factor = vec_all(scale);
	for (int64_t i = 0; i < m->n; i++) {
		vec even[VECS], odd[VECS], own = vec_all(m->diag[i] - centre);
		EACH_VEC(v)
		{
			even[v] = own * from[i * VECS + v];
			odd[v] = vec_all(0);
		}
		int64_t e = m->row[i], end = m->row[i + 1];
		for (; e + 1 < end; e += 2) {
			const vec *a = from + (int64_t)m->col[e] * VECS, *b = from + (int64_t)m->col[e + 1] * VECS;
			EACH_VEC(v)
			{
				even[v] = vec_fused(vec_all(m->val[e]), a[v], even[v]);
				odd[v] = vec_fused(vec_all(m->val[e + 1]), b[v], odd[v]);
			}
		}
		if (e < end)
			EACH_VEC(v)
		even[v] = vec_fused(vec_all(m->val[e]), from[(int64_t)m->col[e] * VECS + v], even[v]);
		EACH_VEC(v) to[i * VECS + v] = -factor * (even[v] + odd[v]) - to[i * VECS + v];
	}
}
