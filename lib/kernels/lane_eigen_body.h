/* SPDX-License-Identifier: BSD-2-Clause
 * Eigenpairs of small matrices, written once for every instruction set. The file that includes it has
 * defined vec, mask, WIDTH, PACKS and the vec_… functions. No operation mixes lanes, so a lane's
 * bits do not depend on its neighbours. */
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

/* The largest order of the lanes of pack u. */
static int32_t order_of_pack(const struct pe_lane_batch *batch, int32_t u)
{
	int32_t order = 0;
	for (int l = u * WIDTH; l < (u + 1) * WIDTH; l++)
		order = batch->orders[l] > order ? batch->orders[l] : order;
	return order;
}

#include "lane_tridiagonal.h"

#include "lane_values.h"

#include "lane_check.h"

#include "lane_sign.h"

#include "lane_write.h"

#include "lane_vectors.h"

static void lane_values(struct pe_lane_batch *batch)
{
	for (int32_t u = 0; u < batch->packs; u++)
		tridiagonalise(batch, u);
	for (int32_t i = 0; i <= batch->order; i++)
		for (int32_t u = batch->packs; u < PACKS; u++)
			((vec *)batch->d)[i * PACKS + u] = ((vec *)batch->e)[i * PACKS + u] = vec_all(0.0);
	find_values(batch);
}

static void lane_vectors(struct pe_lane_batch *batch)
{
	int32_t sweeps = decouple(batch);
	for (int32_t u = 0; u < batch->packs; u++)
		make_vectors(batch, u, sweeps);
}

static void fill_lane_eigen(struct pe_kernels *kernels)
{
	kernels->lane_width = WIDTH;
	kernels->lane_packs = PACKS;
	kernels->lane_values = lane_values;
	kernels->lane_vectors = lane_vectors;
	kernels->lane_check = check_pairs;
}
