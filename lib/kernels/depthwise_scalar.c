/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of depthwise_body.h and depthwise_strip_body.h in vectors of 4 floats. */
#include "kernels.h"

typedef float vec __attribute__((vector_size(16), may_alias));

#define VEC_LANES 4
#define VEC_COLUMNS 4

static inline void vec_stream(float *p, vec a)
{
	*(vec *)p = a;
}

static inline vec vec_sum(vec a, vec b)
{
	return a + b;
}

static inline void vec_keep(vec *a, vec *b)
{
	(void)a, (void)b;
}

static inline void vec_fence(void)
{
}

#include "depthwise_body.h"
#include "depthwise_strip_body.h"

void pe_depthwise_scalar(struct pe_kernels *kernels)
{
	kernels->depthwise = depthwise_row;
	kernels->depthwise_strip = depthwise_strip;
	kernels->depthwise_streams = VEC_LANES == PE_DEPTHWISE_LANES;
}
