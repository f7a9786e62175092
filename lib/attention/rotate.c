/* SPDX-License-Identifier: BSD-2-Clause
 * The sites rotate and scale. */
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

void pe_plan_rotate_rows(
	const struct pe_plan *p, const struct pe_place *first, int64_t count, double *rows, double *scratch)
{
	const pe_tensor *t = pe_plan_tensor(p, first->side);
	int64_t width = t->shape[3];
	bool turned = false;
	for (int64_t i = 0; i < count; i++)
		pe_load_f64(scratch + i * width, pe_tensor_at(t, first->batch, first->head, first->token + i),
			t->dtype, t->strides[3], width);
	for (int i = 0; i < p->rotate.count; i++) {
		const int64_t *widths = p->rotated[first->side] + i;
		if (!pe_encoding_turns(p->rotate.list[i], first->side))
			continue;
		if (turned)
			memcpy(scratch, rows, (size_t)(count * widths[0]) * sizeof *rows);
		pe_encoding_rotate_rows(p->rotate.list[i], first, count, scratch, widths[0], rows, widths[1]);
		turned = true;
	}
	if (!turned)
		memcpy(rows, scratch, (size_t)(count * width) * sizeof *rows);
}

pe_status pe_plan_rotate_head(
	pe_context *worker, const struct pe_plan *p, pe_side side, int64_t batch, int64_t head, double *out)
{
	int64_t length = pe_plan_tensor(p, side)->shape[2], width = p->rotated[side][p->rotate.count];
	int64_t most = pe_min(length, PE_ROTATED_ROWS);
	double *rows = pe_alloc(worker, most, (size_t)(2 * p->widest) * sizeof *rows);
	if (!rows)
		return PE_ERR_NOMEM;
	for (int64_t first = 0; first < length; first += most) {
		int64_t count = pe_min(most, length - first);
		struct pe_place at = {side, batch, head, first};
		pe_plan_rotate_rows(p, &at, count, rows, rows + most * p->widest);
		memcpy(out + first * width, rows, (size_t)(count * width) * sizeof *out);
	}
	pe_free(worker, rows);
	return PE_OK;
}
