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

/* Last rows of the lanes' blocks, as doubles; -1 where a lane is done. The lanes are never far apart: what
 * is done at their ends is done row by row from `first` to `last`, in the lanes that end there. */
struct blocks {
	vec ends[PACKS];
	int32_t first, last; /* the least and the largest of the ends that are not -1; last -1 if all are */
};

static inline void find_rows(struct blocks *blocks)
{
	vec most = vec_all(-1.0), least = vec_all(1e300);
	for (int u = 0; u < PACKS; u++) {
		vec end = blocks->ends[u];
		most = vec_max(most, end);
		least = vec_min(least, vec_select(vec_less(end, vec_all(-0.5)), least, end));
	}
	double first = least[0], last = most[0];
	for (int k = 1; k < WIDTH; k++) {
		first = least[k] < first ? least[k] : first;
		last = most[k] > last ? most[k] : last;
	}
	blocks->last = (int32_t)last;
	blocks->first = last < 0.0 ? 0 : (int32_t)first;
}

static inline mask is_row(vec ends, int32_t i)
{
	return vec_less(vec_abs(ends - vec_all((double)i)), vec_all(0.5));
}

/* Writes down the last diagonal of each lane's block, and shortens the block where it is done. Row -1 of q
 * is 0, so row 0 is done at once. When a lane is done cannot be foreseen: no branch depends on it. */
static inline void deflate_values(const vec *d, vec *q, vec *values, struct blocks *blocks)
{
	const vec zero = vec_all(0.0), one = vec_all(1.0);
	vec done[PACKS];
	for (int u = 0; u < PACKS; u++)
		done[u] = zero;
	for (int32_t i = blocks->first; i <= blocks->last; i++)
		UNROLL for (int u = 0; u < PACKS; u++)
		{
			mask here = is_row(blocks->ends[u], i);
			vec beside = q[(i - 1) * PACKS + u];
			vec left = vec_select(vec_less(vec_all(VALUE_DEFLATES), beside), beside, zero);
			q[(i - 1) * PACKS + u] = vec_select(here, left, beside);
			values[i * PACKS + u] = vec_select(here, d[i * PACKS + u], values[i * PACKS + u]);
			done[u] = vec_select(here, vec_select(vec_less(zero, left), zero, one), done[u]);
		}
	for (int u = 0; u < PACKS; u++)
		blocks->ends[u] -= done[u];
}

/* Wilkinson's: the eigenvalue of the last 2 × 2 block that is nearer to its last entry. */
static inline void choose_shifts(const vec *d, const vec *q, const struct blocks *blocks, vec *shift)
{
	int32_t first = blocks->first < 1 ? 1 : blocks->first, last = blocks->last < 1 ? 1 : blocks->last;
	vec ends[PACKS], low[PACKS], high[PACKS], beside[PACKS];
	for (int u = 0; u < PACKS; u++) {
		ends[u] = vec_max(blocks->ends[u], vec_all(1.0));
		low[u] = high[u] = beside[u] = vec_all(0.0);
	}
	for (int32_t i = first; i <= last; i++)
		UNROLL for (int u = 0; u < PACKS; u++)
		{
			mask here = is_row(ends[u], i);
			low[u] = vec_select(here, d[(i - 1) * PACKS + u], low[u]);
			high[u] = vec_select(here, d[i * PACKS + u], high[u]);
			beside[u] = vec_select(here, q[(i - 1) * PACKS + u], beside[u]);
		}
	for (int u = 0; u < PACKS; u++) {
		vec half = (low[u] - high[u]) * vec_all(0.5);
		vec root = vec_abs(half) + vec_sqrt(vec_fma(half, half, beside[u]));
		vec step = beside[u] / vec_max(root, vec_all(TINY_PIVOT));
		shift[u] = high[u] - vec_copysign(step, half);
	}
}

/* Σλ and Σλ², and what is behind each lane's order made infinite, for sorting. */
static void sum_values(struct pe_lane_batch *batch, vec *values)
{
	vec orders[PACKS], sum[PACKS], squares[PACKS];
	for (int l = 0; l < LANES; l++)
		((double *)orders)[l] = batch->orders[l];
	for (int u = 0; u < PACKS; u++)
		sum[u] = squares[u] = vec_all(0.0);
	for (int32_t i = 0; i < batch->order; i++)
		UNROLL for (int u = 0; u < PACKS; u++)
		{
			mask inside = vec_less(vec_all((double)i), orders[u]);
			vec value = vec_select(inside, values[i * PACKS + u], vec_all(0.0));
			sum[u] += value;
			squares[u] += value * value;
			values[i * PACKS + u] = vec_select(inside, value, vec_all(1e300));
		}
	memcpy(batch->sum, sum, sizeof sum);
	memcpy(batch->sum_squares, squares, sizeof squares);
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
	int32_t order = batch->order;
	vec *d = (vec *)batch->shifted + 2 * PACKS, *q = (vec *)batch->squares + 2 * PACKS;
	vec *values = (vec *)batch->values + 2 * PACKS, shift[PACKS];
	struct blocks blocks;
	for (int32_t i = 0; i < order * PACKS; i++) {
		d[i] = ((const vec *)batch->d)[PACKS + i];
		vec e = ((const vec *)batch->e)[PACKS + i];
		q[i] = e * e;
	}
	for (int32_t i = -2 * PACKS; i < 0; i++)
		d[i] = q[i] = vec_all(0.0);
	for (int l = 0; l < LANES; l++)
		((double *)blocks.ends)[l] = batch->orders[l] - 1;
	find_rows(&blocks);
	for (int32_t sweep = 0; sweep < 3 * order + 40; sweep++) {
		deflate_values(d, q, values, &blocks);
		find_rows(&blocks);
		if (blocks.last < 0)
			break;
		choose_shifts(d, q, &blocks, shift);
		sweep_values(d, q, shift, blocks.last, batch->packs);
	}
	for (int l = 0; l < LANES; l++)
		batch->failed[l] = ((const double *)blocks.ends)[l] >= 0.0;
	sum_values(batch, values);
	sort_values(values, order, batch->sorted);
}
