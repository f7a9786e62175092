/* SPDX-License-Identifier: BSD-2-Clause
 * The taps of a depthwise convolution in the orders in which its loops read them. */
#include "depthwise_grid.h"

static bool can_strip(const struct pe_depthwise *s)
{
	return s->kernel == 3 && s->frames == 1 && s->stride == 1 && s->padding == PE_PAD_ZERO &&
		s->activation == PE_ACT_NONE && !s->relu_first;
}

pe_status pe_depthwise_pack(pe_context *ctx, struct pe_depthwise *s, const double *weight, const double *bias)
{
	int64_t taps = s->frames * s->kernel * s->kernel, lanes = PE_DEPTHWISE_LANES;
	s->step = pe_depthwise_filled_up(s->dim);
	s->taps = pe_alloc(ctx, taps + 1, (size_t)s->dim * sizeof *s->taps);
	s->rows_taps = pe_alloc_zero(ctx, taps + 1, (size_t)s->step * sizeof *s->rows_taps);
	if (can_strip(s))
		s->strip_taps = pe_alloc_zero(ctx, s->step / lanes, PE_STRIP_WEIGHTS * sizeof *s->strip_taps);
	if (!s->taps || !s->rows_taps || (can_strip(s) && !s->strip_taps))
		return PE_ERR_NOMEM;
	for (int64_t t = 0; t <= taps; t++)
		for (int64_t c = 0; c < s->dim; c++) {
			double value = t < taps ? weight[c * taps + t] : bias[c];
			s->taps[t * s->dim + c] = value;
			s->rows_taps[t * s->step + c] = (float)value;
			if (s->strip_taps)
				s->strip_taps[c / lanes * PE_STRIP_WEIGHTS + t * lanes + c % lanes] = (float)value;
		}
	return PE_OK;
}

void pe_depthwise_free(pe_context *ctx, struct pe_depthwise *s)
{
	pe_free(ctx, s->taps);
	pe_free(ctx, s->rows_taps);
	pe_free(ctx, s->strip_taps);
}
