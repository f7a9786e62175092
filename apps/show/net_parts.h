/* SPDX-License-Identifier: BSD-2-Clause
 * The connected components of a graph that is drawn. */
#ifndef NET_PARTS_H
#define NET_PARTS_H

#include "figure.h"

struct components {
	int64_t count;
	int64_t *ptr;   /* count + 1 */
	int64_t *order; /* nodes, those of a component together, the largest component first */
	int64_t *rank;  /* the place of a node in order */
};

/* Of nodes and edges alone. */
struct components find_components(const struct net *net);
void free_components(struct components *components);

#endif
