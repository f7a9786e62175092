/* SPDX-License-Identifier: BSD-2-Clause
 * Cuts the start vertices of a graph into blocks. Walks of a block share the rows that they reach, so
 * its vertices should lie close together: each block is grown, breadth first, from a vertex next to
 * earlier ones. */
#include <string.h>

#include "walk.h"

#define PER_BLOCK 24

/* The nodes met so far, in order; the next seed is the first that is not yet taken. */
struct growth {
	const struct pe_walk_plan *plan;
	int32_t *met;   /* n */
	int32_t *fresh; /* per_block and all their neighbours: n */
	uint8_t *seen;  /* n: bit 0 in met, bit 1 taken, bit 2 in fresh */
	int64_t met_count, next;
};

enum { MET = 1, TAKEN = 2, FRESH = 4 };

static void count_core(const struct pe_walk *w, int32_t *core)
{
	for (int32_t i = 0; i < w->n; i++)
		core[i] = pe_walk_leaf(w, i) >= 0 ? -1 : (int32_t)pe_walk_degree(w, i);
	for (int32_t i = 0; i < w->n; i++)
		if (core[i] < 0)
			core[pe_walk_leaf(w, i)]--;
}

static void meet(struct growth *g, int32_t i)
{
	if (!(g->seen[i] & MET))
		g->met[g->met_count++] = i;
	g->seen[i] |= MET;
}

/* Takes up to `room` nodes from seed on, breadth first; returns how many start vertices they are. */
static int64_t grow(struct growth *g, int32_t seed, int64_t room, int32_t *start)
{
	const struct pe_walk *w = g->plan->walk;
	int64_t count = 0, fresh = 0, taken = 0;
	g->fresh[fresh++] = seed;
	g->seen[seed] |= FRESH;
	for (; taken < fresh && count < room; taken++) {
		int32_t i = g->fresh[taken];
		g->seen[i] |= TAKEN;
		if (pe_walk_end(w, i) == PE_WALK_GOES_ON)
			start[count++] = i;
		for (int64_t e = pe_walk_begin(w, i); e < pe_walk_begin(w, i + 1); e++) {
			int32_t j = w->col[e];
			if (g->plan->core[j] < 0 || g->seen[j] & (TAKEN | FRESH))
				continue;
			g->seen[j] |= FRESH;
			g->fresh[fresh++] = j;
			meet(g, j);
		}
	}
	for (int64_t k = 0; k < fresh; k++)
		g->seen[g->fresh[k]] &= (uint8_t)~FRESH;
	return count;
}

/* The next node to grow from, or -1: one next to those taken, else the first of another component. */
static int32_t next_seed(struct growth *g, int32_t *first)
{
	while (g->next < g->met_count)
		if (!(g->seen[g->met[g->next]] & TAKEN))
			return g->met[g->next];
		else
			g->next++;
	for (; *first < g->plan->walk->n; ++*first)
		if (g->plan->core[*first] >= 0 && !(g->seen[*first] & TAKEN))
			return *first;
	return -1;
}

static void order_starts(struct growth *g, struct pe_walk_plan *plan)
{
	int32_t first = 0;
	for (int32_t seed; (seed = next_seed(g, &first)) >= 0;) {
		int64_t room = plan->per_block - plan->starts % plan->per_block;
		plan->starts += grow(g, seed, room, plan->start + plan->starts);
	}
}

pe_status pe_walk_plan_create(
	pe_context *ctx, const struct pe_walk *walk, int64_t steps, struct pe_walk_plan *out)
{
	*out = (struct pe_walk_plan){.walk = walk, .steps = steps, .per_block = PER_BLOCK};
	struct growth g = {.plan = out};
	pe_status status = PE_ERR_NOMEM;
	out->start = pe_alloc(ctx, walk->n, sizeof *out->start);
	out->core = pe_alloc(ctx, walk->n, sizeof *out->core);
	g.met = pe_alloc(ctx, walk->n, sizeof *g.met);
	g.fresh = pe_alloc(ctx, walk->n, sizeof *g.fresh);
	g.seen = pe_alloc_zero(ctx, walk->n, sizeof *g.seen);
	if (!out->start || !out->core || !g.met || !g.fresh || !g.seen)
		goto done;
	count_core(walk, out->core);
	order_starts(&g, out);
	out->blocks = (out->starts + out->per_block - 1) / out->per_block;
	status = PE_OK;
done:
	pe_free(ctx, g.met);
	pe_free(ctx, g.fresh);
	pe_free(ctx, g.seen);
	if (status != PE_OK)
		pe_walk_plan_free(ctx, out);
	return status;
}

void pe_walk_plan_free(pe_context *ctx, struct pe_walk_plan *plan)
{
	pe_free(ctx, plan->start);
	pe_free(ctx, plan->core);
	memset(plan, 0, sizeof *plan);
}
