/* SPDX-License-Identifier: BSD-2-Clause */
#include "plan.h"

static pe_status run(struct pe_plan *plan, pe_core core)
{
	switch (core) {
	case PE_CORE_TILED:
		return pe_attend_tiled(plan);
	case PE_CORE_REFERENCE:
		return pe_attend_reference(plan);
	case PE_CORE_LINEAR:
		return pe_attend_linear(plan);
	default:
		return pe_fail(plan->ctx, PE_ERR_ARGUMENT, "there is no attention core %d", (int)core);
	}
}

/* Vectors of width 0 may be more than anybody could count to. */
static bool is_empty(const struct pe_plan *plan)
{
	return pe_tensor_count(&plan->out) == 0 && (!plan->lse.data || pe_tensor_count(&plan->lse) == 0);
}

pe_status pe_attend(pe_context *context, pe_encoding *const *encodings, int64_t count,
	const pe_attention_options *options, const pe_attention_tensors *tensors)
{
	pe_attention_options o = {0};
	pe_attention_tensors t = {0};
	struct pe_plan plan;
	if (!context)
		return PE_ERR_ARGUMENT;
	if (!tensors || (count > 0 && !encodings))
		return pe_fail(context, PE_ERR_ARGUMENT, "attention needs tensors, and encodings if it counts some");
	PE_TRY(pe_take_options(context, &o, sizeof o, options, "pe_attention_options"));
	PE_TRY(pe_take_options(context, &t, sizeof t, tensors, "pe_attention_tensors"));
	pe_status status = pe_plan_make(context, encodings, count, &o, &t, &plan);
	if (status == PE_OK && !is_empty(&plan))
		status = run(&plan, o.core);
	pe_plan_free(&plan);
	return status;
}
