/* SPDX-License-Identifier: BSD-2-Clause
 * All eigenvalues of one tridiagonal matrix a lane by root-free QR (Pal, Walker and Kahan; Parlett,
 * The Symmetric Eigenvalue Problem, 8.15), with one division a step: 1/r and r/p both come from
 * 1/(p r). Every lane works on its own leading block 0 … end of one common sweep; what is behind its
 * end is decoupled, and of no more use.
 *
 * Where few values are wanted of a large matrix, the sweeps are led to the smallest first, and end once these
 * are proved to be all below the gap that follows them (lane_prove.h). Included by lane_eigen_body.h. */

#define LANES (PACKS * WIDTH)

/* Stands for a pivot (times the last cosine) of 0: no 0/0 where a block splits, and a pivot that
 * vanishes in exact arithmetic still hands on what comes after it. */
#define TINY_PIVOT 1e-60
/* e² below which an eigenvalue is done; the matrix has norm 1 at most. */
#define VALUE_DEFLATES 1e-31

static inline vec not_zero(vec a)
{
	return vec_copysign(vec_max(vec_abs(a), vec_all(TINY_PIVOT)), a);
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
			vec b = q[u], r = p[u] + b, next = d[PACKS + u] - shift[u];
			vec t = one / (p[u] * r), inverse = p[u] * t;
			/* c next - s g; next itself at the end of a lane's block, whatever follows there */
			vec turned = inverse * vec_fnma(b, g[u], p[u] * next);
			turned = vec_select(vec_less(zero, b), turned, next);
			q[u - PACKS] = s[u] * r;
			s[u] = b * inverse;
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
	vec enough[PACKS];    /* a lane that ends here, or before, may have its values */
	vec ascending[PACKS]; /* the end of a lane that is to find its smallest value next; -2: not one */
	int32_t first, last;  /* the least and the largest of the ends that are not -1; last -1 if all are */
	bool some;            /* every lane may have its values */
};

/* Few are wanted if these many times more are there. */
#define FEW 4

static void begin_blocks(const struct pe_lane_batch *batch, struct blocks *blocks)
{
	for (int l = 0; l < LANES; l++) {
		int32_t order = batch->orders[l];
		bool few = order > FEW * batch->wanted;
		((double *)blocks->ends)[l] = order - 1;
		((double *)blocks->enough)[l] = few ? order - 1 - batch->wanted : -1;
		((double *)blocks->ascending)[l] = few ? order - 1 : -2;
	}
}

static inline void find_rows(struct blocks *blocks)
{
	vec most = vec_all(-1.0), least = vec_all(1e300), over = most;
	for (int u = 0; u < PACKS; u++) {
		vec end = blocks->ends[u];
		most = vec_max(most, end);
		least = vec_min(least, vec_select(vec_less(end, vec_all(-0.5)), least, end));
		over = vec_max(over, end - blocks->enough[u]);
	}
	double first = least[0], last = most[0], furthest = over[0];
	for (int k = 1; k < WIDTH; k++) {
		first = least[k] < first ? least[k] : first;
		last = most[k] > last ? most[k] : last;
		furthest = over[k] > furthest ? over[k] : furthest;
	}
	blocks->last = (int32_t)last;
	blocks->first = last < 0.0 ? 0 : (int32_t)first;
	blocks->some = furthest < 0.5;
}

static inline mask is_row(vec ends, vec i)
{
	return vec_less(vec_abs(ends - i), vec_all(0.5));
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
			mask here = is_row(blocks->ends[u], vec_all((double)i));
			vec beside = q[(i - 1) * PACKS + u];
			vec left = vec_select(vec_less(vec_all(VALUE_DEFLATES), beside), beside, zero);
			q[(i - 1) * PACKS + u] = vec_select(here, left, beside);
			values[i * PACKS + u] = vec_select(here, d[i * PACKS + u], values[i * PACKS + u]);
			done[u] = vec_select(here, vec_select(vec_less(zero, left), zero, one), done[u]);
		}
	for (int u = 0; u < PACKS; u++)
		blocks->ends[u] -= done[u];
}

/* Sweeps without a shift bring the smallest value of a positive matrix to the end, until e² there is below so
 * many times d². The next ones then follow almost in order. */
#define LEADING_SWEEPS 2
#define LEADS_ABOVE 0.03

/* Wilkinson's: the eigenvalue of the last 2 × 2 block that is nearer to its last entry. */
static inline void choose_shifts(
	const vec *d, const vec *q, const struct blocks *blocks, int32_t sweep, vec *shift)
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
			mask here = is_row(ends[u], vec_all((double)i));
			low[u] = vec_select(here, d[(i - 1) * PACKS + u], low[u]);
			high[u] = vec_select(here, d[i * PACKS + u], high[u]);
			beside[u] = vec_select(here, q[(i - 1) * PACKS + u], beside[u]);
		}
	for (int u = 0; u < PACKS; u++) {
		vec half = (low[u] - high[u]) * vec_all(0.5);
		vec root = vec_abs(half) + vec_sqrt(vec_fma(half, half, beside[u]));
		vec step = beside[u] / vec_max(root, vec_all(TINY_PIVOT));
		shift[u] = high[u] - vec_copysign(step, half);
		vec lead = high[u] * high[u] * vec_all(sweep < LEADING_SWEEPS ? 0.0 : LEADS_ABOVE);
		vec led = vec_select(vec_less(lead, beside[u]), vec_all(0.0), shift[u]);
		shift[u] = vec_select(is_row(blocks->ascending[u], blocks->ends[u]), led, shift[u]);
	}
}

#include "lane_prove.h"

/* Σλ and Σλ², of what was not found by way of the block that is left, and this made infinite for sorting,
 * with what is behind each lane's order. */
static void sum_values(
	struct pe_lane_batch *batch, const vec *d, const vec *q, const struct blocks *blocks, vec *values)
{
	vec sum[PACKS], squares[PACKS], orders[PACKS];
	for (int u = 0; u < PACKS; u++) {
		sum[u] = squares[u] = vec_all(0.0);
		orders[u] = orders_of(batch, u);
	}
	for (int32_t i = 0; i < batch->order; i++)
		UNROLL for (int u = 0; u < PACKS; u++)
		{
			vec row = vec_all((double)i), end = blocks->ends[u];
			mask left = vec_less(row, end + vec_all(0.5)), coupled = vec_less(row, end);
			vec value = vec_select(left, d[i * PACKS + u], values[i * PACKS + u]);
			value = vec_select(vec_less(row, orders[u]), value, vec_all(0.0));
			vec beside = vec_select(coupled, q[i * PACKS + u], vec_all(0.0));
			sum[u] += value;
			squares[u] += value * value + (beside + beside);
		}
	memcpy(batch->sum, sum, sizeof sum);
	memcpy(batch->sum_squares, squares, sizeof squares);
}

static void find_values(struct pe_lane_batch *batch)
{
	int32_t order = batch->order;
	vec *d = (vec *)batch->shifted + 2 * PACKS, *q = (vec *)batch->squares + 2 * PACKS;
	vec *values = (vec *)batch->values + 2 * PACKS, shift[PACKS];
	struct blocks blocks;
	bool proved = false;
	for (int32_t i = 0; i < order * PACKS; i++) {
		d[i] = ((const vec *)batch->d)[PACKS + i];
		vec e = ((const vec *)batch->e)[PACKS + i];
		q[i] = e * e;
	}
	for (int32_t i = -2 * PACKS; i < 0; i++)
		d[i] = q[i] = vec_all(0.0);
	begin_blocks(batch, &blocks);
	find_rows(&blocks);
	for (int32_t sweep = 0; sweep < 3 * order + 40; sweep++) {
		deflate_values(d, q, values, &blocks);
		find_rows(&blocks);
		proved = blocks.some && prove_values(batch, values, &blocks);
		if (proved)
			break;
		choose_shifts(d, q, &blocks, sweep, shift);
		sweep_values(d, q, shift, blocks.last, batch->packs);
	}
	for (int l = 0; l < LANES; l++)
		batch->failed[l] = !proved && ((const double *)blocks.ends)[l] >= 0.0;
	sum_values(batch, d, q, &blocks, values);
	gather_values(batch, values, &blocks, values);
	sort_values(values, order, batch->sorted);
}
