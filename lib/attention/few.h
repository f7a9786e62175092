/* SPDX-License-Identifier: BSD-2-Clause
 * Attention of few queries to many keys, as in decoding: part of the tiled core. */
#ifndef PE_FEW_H
#define PE_FEW_H

#include "plan.h"

/* Whether a plan is for pe_attend_few: at most 8 queries, and no site that wants tiles. */
bool pe_plan_is_few(const struct pe_plan *plan);
/* In f32; q, k and v are not f64. */
pe_status pe_attend_few(struct pe_plan *plan) PE_NODISCARD;

#endif
