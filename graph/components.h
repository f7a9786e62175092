/* SPDX-License-Identifier: BSD-2-Clause
 * Connected components. */
#ifndef PE_COMPONENTS_H
#define PE_COMPONENTS_H

#include "graph.h"

/* Weakly connected components of one graph, numbered 0, 1, … in the order of their first nodes.
 * label (n) receives the number of each node's component, sizes (n, or NULL) the node counts of
 * the components, of which only the first *count are written. Direction and weights do not matter;
 * an edge of weight 0 would connect, but pe_graph_build has dropped such edges. */
void pe_components(const struct pe_csr *graph, int32_t *label, int32_t *sizes, int32_t *count);

#endif
