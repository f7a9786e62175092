/* SPDX-License-Identifier: BSD-2-Clause
 * Connected components by disjoint sets: every set is a tree whose root is its smallest node, paths
 * are halved on the way up. Near linear, no memory of its own. */
#include "components.h"

#include <string.h>

static int32_t root_of(int32_t *parent, int32_t i)
{
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

static void join(int32_t *parent, int32_t i, int32_t j)
{
	i = root_of(parent, i);
	j = root_of(parent, j);
	if (i < j)
		parent[j] = i;
	else
		parent[i] = j;
}

/* The smallest neighbour of every node as its parent, if it is smaller than the node. Returns how many
 * have none: where that is one, the graph is connected. Most molecules are told by this alone. */
static int32_t begin(const struct pe_csr *graph, int32_t *label)
{
	int32_t roots = 0;
	for (int32_t i = 0; i < graph->n; i++) {
		int32_t least = graph->row[i] < graph->row[i + 1] ? graph->col[graph->row[i]] : i;
		label[i] = least < i ? least : i;
		roots += least >= i;
	}
	return roots;
}

void pe_components(const struct pe_csr *graph, int32_t *label, int32_t *sizes, int32_t *count)
{
	if (begin(graph, label) == 1) {
		memset(label, 0, (size_t)graph->n * sizeof *label);
		if (sizes)
			*sizes = graph->n;
		*count = 1;
		return;
	}
	for (int32_t i = 0; i < graph->n; i++)
		for (int64_t e = graph->row[i]; e < graph->row[i + 1]; e++)
			if (label[graph->col[e]] != label[i]) /* equal parents: joined already */
				join(label, i, graph->col[e]);
	int32_t components = 0;
	/* A parent is never above its child, so that it has its number already. */
	for (int32_t i = 0; i < graph->n; i++) {
		bool root = label[i] == i;
		label[i] = root ? components++ : label[label[i]];
		if (sizes)
			sizes[label[i]] = root ? 1 : sizes[label[i]] + 1;
	}
	*count = components;
}
