/* SPDX-License-Identifier: BSD-2-Clause
 * Whether the values that were found are the smallest ones. By Sylvester's law of inertia as many eigenvalues
 * of a tridiagonal matrix are below σ as there are negative pivots in L D Lᵀ = T - σ (Parlett, The Symmetric
 * Eigenvalue Problem, 3.3). Included by lane_values.h. */

static inline vec orders_of(const struct pe_lane_batch *batch, int u)
{
	vec orders = vec_all(0.0);
	for (int k = 0; k < WIDTH; k++)
		orders[k] = batch->orders[u * WIDTH + k];
	return orders;
}

/* to ← the values found, from row 0 of all; infinite where a row has none. */
static void gather_values(
	const struct pe_lane_batch *batch, const vec *values, const struct blocks *blocks, vec *to)
{
	vec orders[PACKS];
	for (int u = 0; u < PACKS; u++)
		orders[u] = orders_of(batch, u);
	for (int32_t i = 0; i < batch->order; i++)
		UNROLL for (int u = 0; u < PACKS; u++)
		{
			vec row = vec_all((double)i);
			vec value = vec_select(vec_less(row, orders[u]), values[i * PACKS + u], vec_all(1e300));
			to[i * PACKS + u] = vec_select(vec_less(blocks->ends[u], row), value, vec_all(1e300));
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

/* How many eigenvalues of each tridiagonal matrix are below σ. */
static void count_below(const struct pe_lane_batch *batch, const vec *sigma, vec *count)
{
	const vec *d = (const vec *)batch->d + PACKS, *e = (const vec *)batch->e + PACKS;
	vec pivot[PACKS], beside[PACKS], orders[PACKS];
	for (int u = 0; u < PACKS; u++) {
		count[u] = beside[u] = vec_all(0.0);
		pivot[u] = vec_all(1.0);
		orders[u] = orders_of(batch, u);
	}
	for (int32_t i = 0; i < batch->order; i++)
		UNROLL for (int u = 0; u < PACKS; u++)
		{
			pivot[u] = not_zero(d[i * PACKS + u] - sigma[u] - beside[u] / pivot[u]);
			vec one = vec_select(vec_less(pivot[u], vec_all(0.0)), vec_all(1.0), vec_all(0.0));
			count[u] += vec_select(vec_less(vec_all((double)i), orders[u]), one, vec_all(0.0));
			beside[u] = e[i * PACKS + u] * e[i * PACKS + u];
		}
}

/* True if every lane has found all its values, or the `wanted` smallest ones and a gap follows these. Else
 * says in blocks->enough how many more to find: as many as are missing, or all where there is no gap. */
static bool prove_values(const struct pe_lane_batch *batch, const vec *values, struct blocks *blocks)
{
	vec *found = (vec *)batch->w, sigma[PACKS], count[PACKS];
	int32_t k = batch->wanted;
	if (blocks->last < 0)
		return true;
	gather_values(batch, values, blocks, found);
	sort_values(found, batch->order, batch->sorted);
	for (int u = 0; u < PACKS; u++)
		sigma[u] = found[(k - 1) * PACKS + u] + ((const vec *)batch->gaps)[u];
	count_below(batch, sigma, count);
	vec short_of = vec_all(-1.0);
	for (int u = 0; u < PACKS; u++) {
		vec end = blocks->ends[u], missing = count[u] - vec_all((double)k);
		vec next = vec_select(vec_less(missing, vec_all(-0.5)), sigma[u], found[k * PACKS + u]);
		missing = vec_select(vec_less(sigma[u], next), missing, end + vec_all(1.0));
		missing = vec_select(vec_less(end, vec_all(-0.5)), vec_all(0.0), missing);
		blocks->enough[u] = vec_max(end - missing, vec_all(-1.0));
		short_of = vec_max(short_of, missing);
	}
	bool all = true;
	for (int i = 0; i < WIDTH; i++)
		all = all && short_of[i] < 0.5;
	return all;
}
