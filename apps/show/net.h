/* SPDX-License-Identifier: BSD-2-Clause
 * Where the nodes of a graph are drawn: at the entries of its Laplacian's first two eigenvectors that are not
 * constant (Hall, 1970; Koren, 2003), each component on its own; where those crowd, part of the way to their
 * ranks. */
#ifndef NET_H
#define NET_H

#include "cli.h"
#include "figure.h"

/* Positions and edges of a graph, which is one and no batch; no values. Long lists of edges are
 * thinned out evenly, kept of all tells. EXIT_DONE, or an exit code with the message already written. */
int net_make(struct cli *cli, const pe_graph *graph, struct net *out, int64_t *all_edges);

#endif
