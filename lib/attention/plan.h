/* SPDX-License-Identifier: BSD-2-Clause
 * One call of pe_attend, checked: sizes, views of four dimensions, and which encodings act at which
 * site. The cores read it and never name an encoder. */
#ifndef PE_PLAN_H
#define PE_PLAN_H

#include "encoder.h"

#define PE_MAX_ENCODINGS 16

struct pe_acting {
	pe_encoding *list[PE_MAX_ENCODINGS];
	int count;
};

struct pe_plan {
	pe_context *ctx;
	int64_t batch, heads, key_heads; /* heads is a multiple of key_heads */
	int64_t queries, keys;           /* Lq, Lk */
	int64_t width, value_width;      /* of q and k, and of v, as given */
	int64_t dot_width, sum_width;    /* of q and k, and of v, after the site rotate */
	int64_t widest;                  /* of all widths on the way */

	pe_tensor q, k, v, out; /* (batch, heads or key_heads, length, width) */
	pe_tensor lse;          /* (batch, heads, Lq); data NULL: not wanted */
	pe_tensor mask;         /* (batch, heads, Lq, Lk) by strides of 0; data NULL: none */
	int64_t *key_lengths;   /* batch; NULL: all keys */
	double *sinks;          /* heads; NULL: none */

	const pe_domain *query_domain, *key_domain;
	struct pe_domain implied[2]; /* what they point to if nobody gave any */
	bool causal, windowed;
	double left, right; /* of the window; negative: without limit */
	double scale;       /* 0: by the scale encoder, else 1/sqrt(width) */
	double softcap;     /* 0: none */
	bool keep_far_tiles;

	/* In the order given. */
	struct pe_acting rotate, content, content_row, scores, gains, weights_after, values;
	pe_encoding *map_heads, *scaler;          /* or NULL */
	int64_t rotated[3][PE_MAX_ENCODINGS + 1]; /* width of a side's vectors before rotate.list[i] */
	bool turns[3];                            /* whether one of them turns that side */
};

/* Checks everything and fills the plan; pe_plan_free takes what there is, also after a failure. */
pe_status pe_plan_make(pe_context *ctx, pe_encoding *const *encodings, int64_t count,
	const pe_attention_options *options, const pe_attention_tensors *tensors,
	struct pe_plan *plan) PE_NODISCARD;
void pe_plan_free(struct pe_plan *plan);

/* q, k or v. */
static inline const pe_tensor *pe_plan_tensor(const struct pe_plan *plan, pe_side side)
{
	return side == PE_QUERIES ? &plan->q : side == PE_KEYS ? &plan->k : &plan->v;
}

/* What q·k is multiplied with. */
double pe_plan_scale(const struct pe_plan *plan, int64_t batch, int64_t head, int64_t query);

/* The keys first … end - 1 outside which none of the queries first_query … end_query - 1 sees any, by
 * lengths, causality and window (not by the mask). Empty: first = end. */
void pe_plan_key_range(const struct pe_plan *plan, int64_t batch, int64_t first_query, int64_t end_query,
	int64_t *first, int64_t *end);
/* Whether that range is all that causality and window say: there are none, or positions are regular. */
bool pe_plan_sees_range(const struct pe_plan *plan);
/* seen[c] ← whether a query sees key cells->key + c. Returns how many. A float mask of -inf hides. */
int64_t pe_plan_visible(const struct pe_plan *plan, const struct pe_cells *cells, unsigned char *seen);
/* added[c] += the float mask; a bool mask adds nothing. */
void pe_plan_add_mask(const struct pe_plan *plan, const struct pe_cells *cells, double *added);

/* Vectors number first->token … of one head of q, k or v through the site, dense (count, width after it);
 * count at most PE_ROTATED_ROWS. rows and scratch have room for count × plan->widest each. */
void pe_plan_rotate_rows(
	const struct pe_plan *plan, const struct pe_place *first, int64_t count, double *rows, double *scratch);
/* All of that head: out is (length, width after it). */
pe_status pe_plan_rotate_head(pe_context *worker, const struct pe_plan *plan, pe_side side, int64_t batch,
	int64_t head, double *out) PE_NODISCARD;

/* The cores. */
pe_status pe_attend_reference(struct pe_plan *plan) PE_NODISCARD;
pe_status pe_attend_tiled(struct pe_plan *plan) PE_NODISCARD;
pe_status pe_attend_linear(struct pe_plan *plan) PE_NODISCARD;

#endif
