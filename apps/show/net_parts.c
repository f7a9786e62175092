/* SPDX-License-Identifier: BSD-2-Clause */
#include "net_parts.h"

#include <stdlib.h>

#include "cli.h"

static int64_t root_of(int64_t *parent, int64_t node)
{
	while (parent[node] != node)
		node = parent[node] = parent[parent[node]];
	return node;
}

struct member {
	int64_t size, root, node;
};

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static struct member *members_of(const struct net *net)
{
	int64_t *parent = get_memory((size_t)net->nodes, 2 * sizeof *parent), *size = parent + net->nodes;
	struct member *out = get_memory((size_t)net->nodes, sizeof *out);
	for (int64_t i = 0; i < net->nodes; i++)
		parent[i] = i;
	for (int64_t e = 0; e < net->edges; e++) {
		int64_t a = root_of(parent, net->from[e]), b = root_of(parent, net->to[e]);
		parent[a > b ? a : b] = a > b ? b : a; /* the smallest node is the root */
	}
	for (int64_t i = 0; i < net->nodes; i++)
		size[root_of(parent, i)]++;
	for (int64_t i = 0; i < net->nodes; i++) {
		int64_t root = root_of(parent, i);
		out[i] = (struct member){size[root], root, i};
	}
	free(parent);
	qsort(out, (size_t)net->nodes, sizeof *out, compare_members);
	return out;
}

struct components find_components(const struct net *net)
{
	struct member *members = members_of(net);
	struct components out = {.ptr = get_memory((size_t)net->nodes + 1, sizeof *out.ptr),
		.order = get_memory((size_t)net->nodes, sizeof *out.order),
		.rank = get_memory((size_t)net->nodes, sizeof *out.rank)};
	for (int64_t i = 0; i < net->nodes; i++) {
		if (i == 0 || members[i].root != members[i - 1].root)
			out.ptr[out.count++] = i;
		out.order[i] = members[i].node;
		out.rank[members[i].node] = i;
	}
	out.ptr[out.count] = net->nodes;
	free(members);
	return out;
}

void free_components(struct components *c)
{
	free(c->ptr);
	free(c->order);
	free(c->rank);
}
