/* SPDX-License-Identifier: BSD-2-Clause
 * The sites rotate and scale, vector by vector. */
#include <math.h>
#include <string.h>

#include "plan.h"

double pe_plan_scale(const struct pe_plan *p, int64_t batch, int64_t head, int64_t query)
{
	if (p->scale != 0)
		return p->scale;
	struct pe_place at = {PE_QUERIES, batch, head, query};
	if (p->scaler)
		return p->scaler->encoder->scale(p->scaler, &at, p->width);
	return p->width > 0 ? 1 / sqrt((double)p->width) : 1;
}

void pe_plan_rotate(const struct pe_plan *p, const struct pe_place *at, double *vector, double *scratch)
{
	for (int i = 0; i < p->rotate.count; i++) {
		const pe_encoding *e = p->rotate.list[i];
		int64_t width = p->rotated[at->side][i];
		memcpy(scratch, vector, (size_t)width * sizeof *vector);
		e->encoder->rotate(e, at, scratch, width, vector);
	}
}
