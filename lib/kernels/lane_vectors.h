/* SPDX-License-Identifier: BSD-2-Clause
 * Eigenvectors of one tridiagonal matrix a lane. Each wanted eigenvalue in turn is the shift of a QR
 * sweep, which decouples it from the rest (now and then a second sweep is needed); the product of
 * all rotations, applied to a unit vector, is the eigenvector. So the vectors are orthogonal
 * whatever the gaps are. Then the reflectors of the tridiagonalisation. Included by lane_eigen_body.h. */

/* By the number of sweeps already made for an eigenvalue: e² below which it is decoupled, and
 * pivot² + e² below which the matrix is taken to split, with the eigenvalue above: a rotation by a
 * right angle then carries the pivot, which is 0, on to the end. The matrix has norm 1 at most. */
static const double negligible[] = {1e-29, 1e-28, 1e-27, 1e-26, 1e-25};
#define SWEEP_TRIES ((int32_t)(sizeof negligible / sizeof *negligible))
/* How far the decoupled eigenvalue may be from the one that was looked for. */
#define SAME_VALUE 1e-12

/* Where a lane is in its list of eigenvalues. */
struct progress {
	int32_t end, found, tries;
};

struct sweep {
	vec shift[PACKS];
	vec ends[PACKS]; /* last rows, as doubles */
	vec tiny[PACKS];
};

/* One QR sweep over rows 0 … last of the first packs, the rotations recorded. */
INLINE void rotate_packs(vec *d, vec *e, const struct sweep *sweep, int32_t last, vec *rotation,
	int64_t pack_step, const int packs)
{
	const vec *shift = sweep->shift, *ends = sweep->ends, *tiny = sweep->tiny;
	vec g[PACKS], x[PACKS], c[PACKS], s[PACKS];
	const vec one = vec_all(1.0), zero = vec_all(0.0);
	UNROLL for (int u = 0; u < packs; u++)
	{
		g[u] = x[u] = d[u] - shift[u];
		c[u] = one;
		s[u] = zero;
	}
	for (int32_t i = 0; i < last; i++, d += PACKS, e += PACKS, rotation += 2) {
		vec at = vec_all((double)i);
		UNROLL for (int u = 0; u < packs; u++)
		{
			vec b = e[u], square = vec_fma(x[u], x[u], b * b);
			mask inside = vec_less(at, ends[u]), splits = vec_less(square, tiny[u]);
			vec inverse = one / vec_sqrt(vec_max(square, tiny[u]));
			vec cosine = vec_select(inside, vec_select(splits, zero, x[u] * inverse), one);
			vec sine = vec_select(inside, vec_select(splits, one, b * inverse), zero);
			e[u - PACKS] = s[u] * vec_fma(sine, b, cosine * x[u]);
			vec next = d[PACKS + u] - shift[u];
			x[u] = vec_fnma(sine, c[u] * b, cosine * next);
			vec turned = cosine * x[u];
			d[u] = shift[u] + g[u] + (next - turned);
			g[u] = turned;
			c[u] = cosine;
			s[u] = sine;
			rotation[u * pack_step] = cosine;
			rotation[u * pack_step + 1] = sine;
		}
	}
	UNROLL for (int u = 0; u < packs; u++)
	{
		e[u - PACKS] = s[u] * x[u];
		d[u] = shift[u] + g[u];
	}
}

/* After a sweep: lanes whose last row is decoupled go on to their next eigenvalue. True if some lane still
 * has to find one that it was asked for. */
static inline bool deflate_vectors(struct pe_lane_batch *batch, struct progress *lanes, int32_t t)
{
	double *d = batch->d + LANES, *e = batch->e + LANES;
	bool more = false;
	for (int l = 0; l < LANES; l++) {
		struct progress *lane = &lanes[l];
		if (lane->end < 0)
			continue;
		double value = d[lane->end * LANES + l], *beside = &e[(lane->end - 1) * LANES + l];
		double off = value - batch->values[(2 + lane->found) * LANES + l];
		if (*beside * *beside > negligible[lane->tries] || off * off > SAME_VALUE * SAME_VALUE) {
			if (++lane->tries < SWEEP_TRIES) {
				more = true;
				continue;
			}
			batch->failed[l] = true;
		}
		batch->final[l][lane->found] = value;
		batch->until[l / WIDTH * batch->count + lane->found] = t;
		*beside = 0.0;
		lane->found++;
		lane->end = lane->found < batch->counts[l] ? lane->end - 1 : -1;
		lane->tries = 0;
		more |= lane->end >= 0;
	}
	return more;
}

/* Records the sweeps, their lengths, and for each pack `until`: the last sweep that found a vector
 * number j. Returns how many sweeps. */
static int32_t decouple(struct pe_lane_batch *batch)
{
	struct progress lanes[LANES];
	const double *values = batch->values + 2 * LANES;
	struct sweep sweep;
	vec *d = (vec *)batch->d + PACKS, *e = (vec *)batch->e + PACKS;
	for (int l = 0; l < LANES; l++)
		lanes[l] = (struct progress){batch->counts[l] > 0 ? batch->orders[l] - 1 : -1, 0, 0};
	for (int32_t j = 0; j < PACKS * batch->count; j++)
		batch->until[j] = -1;
	int64_t pack_step = (int64_t)batch->sweeps * batch->order * 2;
	for (int32_t t = 0; t < batch->sweeps; t++) {
		int32_t last = 0;
		for (int l = 0; l < LANES; l++) {
			int32_t end = lanes[l].end < 0 ? 0 : lanes[l].end;
			((double *)sweep.ends)[l] = end;
			((double *)sweep.shift)[l] = lanes[l].end < 0 ? 0.0 : values[lanes[l].found * LANES + l];
			((double *)sweep.tiny)[l] = negligible[lanes[l].tries];
			last = end > last ? end : last;
		}
		batch->lengths[t] = last;
		vec *rotation = (vec *)batch->rotations + (int64_t)t * batch->order * 2;
		if (batch->packs == 1)
			rotate_packs(d, e, &sweep, last, rotation, pack_step, 1);
		else
			rotate_packs(d, e, &sweep, last, rotation, pack_step, PACKS);
		if (!deflate_vectors(batch, lanes, t))
			return t + 1;
	}
	for (int l = 0; l < LANES; l++)
		batch->failed[l] |= lanes[l].found < batch->counts[l];
	return batch->sweeps;
}

/* x_j ← G₀ᵀ … G_{m-1}ᵀ x_j for `group` vectors, `step` apart. */
INLINE void rotate_group(vec *x, int64_t step, const int group, const vec *rotation, int32_t m)
{
	vec carry[8];
	UNROLL for (int k = 0; k < group; k++) carry[k] = x[k * step + m];
	for (int32_t i = m - 1; i >= 0; i--) {
		vec c = rotation[2 * i], s = rotation[2 * i + 1];
		UNROLL for (int k = 0; k < group; k++)
		{
			vec xi = x[k * step + i];
			x[k * step + i + 1] = vec_fma(s, xi, c * carry[k]);
			carry[k] = vec_fnma(s, carry[k], c * xi);
		}
	}
	UNROLL for (int k = 0; k < group; k++) x[k * step] = carry[k];
}

static void rotate_vectors(vec *x, int64_t step, int32_t count, const vec *rotation, int32_t m)
{
	for (; count >= GROUP; count -= GROUP, x += GROUP * step)
		rotate_group(x, step, GROUP, rotation, m);
	if (GROUP > 4 && count >= 4) {
		rotate_group(x, step, 4, rotation, m);
		x += 4 * step;
		count -= 4;
	}
	if (count >= 2) {
		rotate_group(x, step, 2, rotation, m);
		x += 2 * step;
		count -= 2;
	}
	if (count > 0)
		rotate_group(x, step, 1, rotation, m);
}

/* Vectors that are reflected at once. */
#define REFLECTED (GROUP / 2)

/* Reflectors of rows m and m + 1; with h in the place of those behind the last. */
struct reflectors {
	const vec *v, *w;
	vec v_beta, w_beta; /* 0: not one of the rows */
};

static inline struct reflectors reflectors_of(
	const struct pe_lane_batch *batch, int32_t u, int32_t order, int32_t m)
{
	int64_t extent = batch->order;
	const vec *a = (const vec *)batch->a + u * (extent * (extent + 1) / 2);
	const vec *beta = (const vec *)batch->beta + u * extent;
	const vec *h = (const vec *)batch->h + u * extent, *row = a + m * (m + 1) / 2;
	return (struct reflectors){m < order ? row : h, m + 1 < order ? row + m + 1 : h,
		m < order ? beta[m] : vec_all(0.0), m + 1 < order ? beta[m + 1] : vec_all(0.0)};
}

/* Inner products with vectors: of v, of w, and of v with w. */
struct products {
	vec v[REFLECTED], w[REFLECTED], both;
};

INLINE void add_products(struct products *p, const struct reflectors *r, int32_t i, const vec *x, bool in_v)
{
	vec v = in_v ? r->v[i] : vec_all(0.0), w = r->w[i];
	p->both = vec_fma(v, w, p->both);
	UNROLL for (int k = 0; k < REFLECTED; k++)
	{
		p->v[k] = vec_fma(v, x[k], p->v[k]);
		p->w[k] = vec_fma(w, x[k], p->w[k]);
	}
}

/* x ← (I - β_h h hᵀ) H_{N-1} … H_2 x for a few vectors, two reflectors at a time, which are used together
 * with the inner products of the next two. Pairs begin with even rows whatever the order is. last: the
 * additional entry of each vector. */
static void reflect_few(const struct pe_lane_batch *batch, int32_t u, int32_t order, vec *x, vec *last)
{
	struct products p = {0}, next;
	vec f[REFLECTED], g[REFLECTED], at[REFLECTED];
	struct reflectors now = reflectors_of(batch, u, order, 2), then;
	for (int32_t i = 0; i < 3 && i < order; i++) {
		UNROLL for (int k = 0; k < REFLECTED; k++) at[k] = x[k * order + i];
		add_products(&p, &now, i, at, i < 2);
	}
	for (int32_t m = 2; m < order; m += 2, now = then, p = next) {
		then = reflectors_of(batch, u, order, m + 2);
		UNROLL for (int k = 0; k < REFLECTED; k++)
		{
			f[k] = now.v_beta * p.v[k];
			g[k] = now.w_beta * vec_fnma(f[k], p.both, p.w[k]);
		}
		next = (struct products){0};
		for (int32_t i = 0; i < m; i++) {
			vec v = now.v[i], w = now.w[i];
			UNROLL for (int k = 0; k < REFLECTED; k++)
			{
				at[k] = vec_fnma(g[k], w, vec_fnma(f[k], v, x[k * order + i]));
				x[k * order + i] = at[k];
			}
			add_products(&next, &then, i, at, true);
		}
		for (int32_t i = m; i < m + 3 && i < order; i++) {
			vec w = i == m ? now.w[i] : vec_all(0.0);
			UNROLL for (int k = 0; k < REFLECTED; k++)
			{
				at[k] = vec_fnma(g[k], w, x[k * order + i]);
				x[k * order + i] = at[k];
			}
			add_products(&next, &then, i, at, i < m + 2);
		}
	}
	vec h_last = ((const vec *)batch->h_last)[u], h_beta = ((const vec *)batch->h_beta)[u];
	UNROLL for (int k = 0; k < REFLECTED; k++)
	{
		f[k] = h_beta * p.v[k];
		last[k] = -(f[k] * h_last);
		for (int32_t i = 0; i < order; i++)
			x[k * order + i] = vec_fnma(f[k], now.v[i], x[k * order + i]);
	}
}

/* All vectors of one pack. */
static void make_vectors(const struct pe_lane_batch *batch, int32_t u, int32_t sweeps)
{
	int32_t order = order_of_pack(batch, u), count = 0;
	int64_t sweep = (int64_t)batch->order * 2;
	vec *x = (vec *)batch->vectors;
	for (int l = u * WIDTH; l < (u + 1) * WIDTH; l++)
		count = batch->counts[l] > count ? batch->counts[l] : count;
	int32_t padded = (count + 3) / 4 * 4;
	for (int32_t i = 0; i < padded * order; i++)
		x[i] = vec_all(0.0);
	for (int l = 0; l < WIDTH; l++) {
		int32_t end = batch->orders[u * WIDTH + l] - 1;
		for (int32_t j = 0; j < count && j <= end; j++)
			batch->vectors[(j * order + end - j) * WIDTH + l] = 1.0;
	}
	const vec *rotations = (const vec *)batch->rotations + (int64_t)u * batch->sweeps * sweep;
	const int32_t *until = batch->until + u * batch->count;
	int32_t first = count;
	for (int32_t t = sweeps - 1; t >= 0; t--) {
		/* not in order where a lane wants fewer than another */
		for (int32_t j = 0; j < first; j++)
			if (until[j] >= t)
				first = j;
		int32_t length = batch->lengths[t] < order ? batch->lengths[t] : order - 1;
		rotate_vectors(x + (int64_t)first * order, order, count - first, rotations + t * sweep, length);
	}
	vec *last = (vec *)batch->last, counts;
	for (int32_t j = 0; j < padded; j += REFLECTED)
		reflect_few(batch, u, order, x + (int64_t)j * order, last + j);
	for (int32_t j = 0; j < count; j++)
		set_sign(x + (int64_t)j * order, &last[j], order);
	for (int l = 0; l < WIDTH; l++)
		((double *)&counts)[l] = batch->counts[u * WIDTH + l];
	((vec *)batch->orthogonality)[u] = check_orthogonality(x, last, order, padded, counts);
	write_pack(batch, u);
}
