/* SPDX-License-Identifier: BSD-2-Clause
 * All eigenvalues of one tridiagonal matrix a lane by root-free QR (Pal, Walker and Kahan; Parlett,
 * The Symmetric Eigenvalue Problem, 8.15), with one division a step: 1/r and r/p both come from
 * 1/(p r). Every lane works on its own leading block 0 … end of one common sweep; what is behind its
 * end is decoupled, and of no more use. Included by lane_eigen_body.h. */

#define LANES (PACKS * WIDTH)

/* Stands for a pivot (times the last cosine) of 0: no 0/0 where a block splits, and a pivot that
 * vanishes in exact arithmetic still hands on what comes after it. */
#define TINY_PIVOT 1e-60
/* e² below which an eigenvalue is done; the matrix has norm 1 at most. */
#define VALUE_DEFLATES 1e-31

static inline vec not_zero(vec a)
{
	return vec_select(vec_less(vec_abs(a), vec_all(TINY_PIVOT * 1e-10)), vec_all(TINY_PIVOT), a);
}

/* One sweep over rows 0 … last of the first packs. d, q: the diagonal and the squares beside it. */
INLINE void sweep_packs(vec *d, vec *q, const vec *shift, int32_t last, const int packs)
{
	vec g[PACKS], p[PACKS], s[PACKS];
	const vec one = vec_all(1.0), zero = vec_all(0.0);
	UNROLL for (int u = 0; u < packs; u++)
	{
		g[u] = not_zero(d[u] - shift[u]);
		p[u] = g[u] * g[u];
		s[u] = zero;
	}
	for (int32_t i = 0; i < last; i++, d += PACKS, q += PACKS)
		UNROLL for (int u = 0; u < packs; u++)
		{
			vec b = q[u], r = p[u] + b;
			vec t = one / (p[u] * r), inverse = p[u] * t;
			vec c = vec_select(vec_less(zero, b), p[u] * inverse, one);
			q[u - PACKS] = s[u] * r;
			s[u] = b * inverse;
			vec next = d[PACKS + u] - shift[u];
			vec turned = vec_fnma(s[u], g[u], c * next);
			d[u] = shift[u] + g[u] + (next - turned);
			g[u] = not_zero(turned);
			p[u] = g[u] * g[u] * (r * (r * t));
		}
	UNROLL for (int u = 0; u < packs; u++)
	{
		q[u - PACKS] = s[u] * p[u];
		d[u] = shift[u] + g[u];
	}
}

static void sweep_values(vec *d, vec *q, const vec *shift, int32_t last, int32_t packs)
{
	if (packs == 1)
		sweep_packs(d, q, shift, last, 1);
	else
		sweep_packs(d, q, shift, last, PACKS);
}

/* Writes down the last diagonal of each lane's block, and shortens the block where it is done.
 * Returns the largest end, -1 when all are done. Row -1 of q is 0, so row 0 is done at once. When a lane
 * is done cannot be foreseen: no branch depends on it. */
static inline int32_t deflate_values(double *d, double *q, double *values, int32_t *ends)
{
	vec beside[PACKS];
	int32_t last = -1;
	for (int l = 0; l < LANES; l++) {
		int64_t at = (int64_t)ends[l] * LANES + l;
		values[at] = d[at];
		((double *)beside)[l] = q[at - LANES];
	}
	for (int u = 0; u < PACKS; u++)
		beside[u] = vec_select(vec_less(vec_all(VALUE_DEFLATES), beside[u]), beside[u], vec_all(0.0));
	for (int l = 0; l < LANES; l++) {
		double left = ((double *)beside)[l];
		q[(int64_t)(ends[l] - 1) * LANES + l] = left;
		int32_t end = ends[l] - !(left > 0.0);
		ends[l] = end < -1 ? -1 : end;
		last = end > last ? end : last;
	}
	return last;
}

/* Wilkinson's: the eigenvalue of the last 2 × 2 block that is nearer to its last entry. */
static inline void choose_shifts(const double *d, const double *q, const int32_t *ends, vec *shift)
{
	vec low[PACKS], high[PACKS], beside[PACKS];
	for (int l = 0; l < LANES; l++) {
		int32_t end = ends[l] < 1 ? 1 : ends[l];
		((double *)low)[l] = d[(end - 1) * LANES + l];
		((double *)high)[l] = d[end * LANES + l];
		((double *)beside)[l] = q[(end - 1) * LANES + l];
	}
	for (int u = 0; u < PACKS; u++) {
		vec half = (low[u] - high[u]) * vec_all(0.5);
		vec root = vec_abs(half) + vec_sqrt(vec_fma(half, half, beside[u]));
		vec step = beside[u] / vec_max(root, vec_all(TINY_PIVOT));
		shift[u] = high[u] - vec_copysign(step, half);
	}
}

/* Σλ and Σλ², and what is behind each lane's order made infinite, for sorting. */
static void sum_values(struct pe_lane_batch *batch)
{
	const double *values = batch->values + 2 * LANES;
	for (int l = 0; l < LANES; l++) {
		double sum = 0.0, square = 0.0;
		for (int32_t i = 0; i < batch->orders[l]; i++) {
			double value = values[i * LANES + l];
			sum += value;
			square += value * value;
		}
		batch->sum[l] = sum;
		batch->sum_squares[l] = square;
		for (int32_t i = batch->orders[l]; i < batch->order; i++)
			batch->values[(2 + i) * LANES + l] = 1e300;
	}
}

/* The smallest first, as bubbles. */
static void sort_values(vec *values, int32_t order, int32_t sorted)
{
	for (int32_t j = 0; j < sorted; j++)
		for (int u = 0; u < PACKS; u++) {
			vec light = values[(order - 1) * PACKS + u];
			for (int32_t i = order - 2; i >= j; i--) {
				vec other = values[i * PACKS + u];
				values[(i + 1) * PACKS + u] = vec_max(light, other);
				light = vec_min(light, other);
			}
			values[j * PACKS + u] = light;
		}
}

static void find_values(struct pe_lane_batch *batch)
{
	int32_t order = batch->order, ends[LANES], last = 0;
	vec *d = (vec *)batch->shifted + 2 * PACKS, *q = (vec *)batch->squares + 2 * PACKS;
	vec shift[PACKS];
	for (int32_t i = 0; i < order * PACKS; i++) {
		d[i] = ((const vec *)batch->d)[PACKS + i];
		vec e = ((const vec *)batch->e)[PACKS + i];
		q[i] = e * e;
	}
	for (int32_t i = -2 * PACKS; i < 0; i++)
		d[i] = q[i] = vec_all(0.0);
	for (int l = 0; l < LANES; l++)
		ends[l] = batch->orders[l] - 1;
	for (int32_t sweep = 0; sweep < 3 * order + 40; sweep++) {
		last = deflate_values((double *)d, (double *)q, batch->values + 2 * LANES, ends);
		if (last < 0)
			break;
		choose_shifts((const double *)d, (const double *)q, ends, shift);
		sweep_values(d, q, shift, last, batch->packs);
	}
	for (int l = 0; l < LANES; l++)
		batch->failed[l] = ends[l] >= 0;
	sum_values(batch);
	sort_values((vec *)batch->values + 2 * PACKS, order, batch->sorted);
}
