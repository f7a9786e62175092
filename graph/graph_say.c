/* SPDX-License-Identifier: BSD-2-Clause
 * What reading did to the input, in sentences. */
#include <inttypes.h>

#include "graph_build.h"

static const char *plural(int64_t count)
{
	return count == 1 ? "" : "s";
}

static const char *were(int64_t count)
{
	return count == 1 ? "was" : "were";
}

static const char *const symmetrise_names[] = {"max", "sum", "mean"};

static void say_duplicates(pe_context *ctx, const pe_graph *graph, const struct pe_graph_changes *changes)
{
	int64_t n = graph->report.duplicates;
	if (n == 0)
		return;
	static const char *const done[] = {"", "dropped (duplicates=first)", "summed (duplicates=sum)",
		"dropped or kept, whichever was larger (duplicates=max)"};
	pe_log(ctx, PE_LOG_WARNING, "%" PRId64 " duplicate row%s %s %s", n, plural(n), were(n),
		done[changes->duplicates]);
}

static void say_loops(pe_context *ctx, const pe_graph *graph, const struct pe_graph_changes *changes)
{
	int64_t n = graph->report.self_loops;
	if (n > 0 && changes->policy->loops == PE_LOOPS_DROP)
		pe_log(ctx, PE_LOG_WARNING, "%" PRId64 " self loop%s %s dropped (loops=drop)", n, plural(n), were(n));
}

static void say_direction(pe_context *ctx, const pe_graph *graph, const struct pe_graph_changes *changes)
{
	int64_t n = graph->report.one_way;
	const char *how = symmetrise_names[changes->policy->symmetrise];
	if (changes->mirrored || graph->directed)
		return;
	if (n > 0 && n == changes->distinct && changes->policy->symmetrise == PE_SYMMETRISE_MAX)
		pe_log(ctx, changes->listed == PE_UNDIRECTED ? PE_LOG_INFO : PE_LOG_WARNING,
			"every edge is listed in one direction only and was read as undirected");
	else if (n > 0)
		pe_log(ctx, PE_LOG_WARNING, "%" PRId64 " one-way edge%s %s made undirected (symmetrise=%s)", n,
			plural(n), were(n), how);
	else if (changes->distinct > 0)
		pe_log(ctx, PE_LOG_INFO, "every edge is listed in both directions");
	if (changes->unequal > 0)
		pe_log(ctx, PE_LOG_WARNING,
			"%" PRId64 " edge%s had different weights in the two directions (symmetrise=%s)",
			changes->unequal, plural(changes->unequal), how);
}

static void say_nodes(pe_context *ctx, const pe_graph *graph, const struct pe_graph_changes *changes)
{
	int64_t phantom = graph->report.phantom;
	if (phantom > 0)
		pe_log(ctx, PE_LOG_WARNING, "%" PRId64 " node%s %s named by a count only and %s isolated", phantom,
			plural(phantom), phantom == 1 ? "is" : "are", phantom == 1 ? "is" : "are");
	if (changes->dropped_nodes > 0)
		pe_log(ctx, PE_LOG_WARNING,
			"%" PRId64 " node%s outside of the largest component %s dropped, %" PRId64
			" stay (component=largest)",
			changes->dropped_nodes, plural(changes->dropped_nodes), were(changes->dropped_nodes),
			graph->nodes);
}

static void say_report(pe_context *ctx, const pe_graph *graph)
{
	const pe_graph_report *r = &graph->report;
	pe_log(ctx, PE_LOG_INFO,
		"%s: %" PRId64 " graph%s, %" PRId64 " nodes, %" PRId64 " edges from %" PRId64
		" rows, %s, %s; %" PRId64 " self loops, %" PRId64 " duplicates, %" PRId64 " one-way, %" PRId64
		" isolated, %" PRId64 " components",
		r->format, r->graphs, plural(r->graphs), r->nodes, r->edges, r->rows,
		r->directed ? "directed" : "undirected", r->weighted ? "weighted" : "unweighted", r->self_loops,
		r->duplicates, r->one_way, r->isolated, r->components);
}

void pe_graph_say(pe_context *ctx, const pe_graph *graph, const struct pe_graph_changes *changes)
{
	if (!ctx->log)
		return;
	say_duplicates(ctx, graph, changes);
	say_loops(ctx, graph, changes);
	if (changes->zeros > 0)
		pe_log(ctx, PE_LOG_WARNING, "%" PRId64 " edge%s of weight 0 %s dropped", changes->zeros,
			plural(changes->zeros), were(changes->zeros));
	say_direction(ctx, graph, changes);
	say_nodes(ctx, graph, changes);
	say_report(ctx, graph);
}
