#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/rwse/: graphs of networkx with the return probabilities diag(P^k), k = 1 … 20, by plain
matrix products in extended precision (x86, 64-bit mantissa), and by the arithmetic of PyTorch Geometric's
AddRandomWalkPE (transforms/add_positional_encoding.py, the dense branch up to 2,000 nodes) in single precision.

Made with networkx 2.8.8, numpy 1.24.2. Run from the source root: /usr/bin/python3 tests/golden/make_rwse.py
"""
import io
import os
import random
import zipfile

import networkx as nx
import numpy as np

assert nx.__version__ == "2.8.8" and np.__version__ == "1.24.2" and np.finfo(np.longdouble).nmant == 63
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rwse")
STEPS = 20


def diagonals(a, dangling):
    """a: dense weights. Isolated nodes have rows of zeros."""
    n = len(a)
    a = a.astype(np.longdouble)
    out, into = a.sum(1), a.sum(0)
    p = np.zeros_like(a)
    for i in range(n):
        if out[i] > 0:
            p[i] = a[i] / out[i]
        elif into[i] > 0 and dangling == "loop":
            p[i, i] = 1
        elif into[i] > 0 and dangling == "teleport":
            p[i] = np.longdouble(1) / n
    power, rows = p, []
    for _ in range(STEPS):
        rows.append(power.diagonal().astype(np.float64))
        power = power @ p
    return np.stack(rows, 1)


def pyg(a):
    """value = 1 / max(1, sum of the row), on every edge."""
    a = (a != 0).astype(np.float32)
    p = a * (np.float32(1) / np.maximum(a.sum(1), 1))[:, None].astype(np.float32)
    power, rows = p, []
    for _ in range(STEPS):
        rows.append(power.diagonal().copy())
        power = power @ p
    return np.stack(rows, 1)


def save(name, graph, weight=None, dangling="lose"):
    a = nx.to_numpy_array(graph, nodelist=sorted(graph), weight=weight)
    u, v = np.nonzero(a)
    arrays = {"edge_index": np.stack([u, v]).astype(np.int64), "num_nodes": np.array(len(a), np.int64),
              "random_walk_pe": diagonals(a, dangling)}
    if weight:
        arrays["edge_weight"] = a[u, v]
    elif dangling == "lose":
        arrays["pyg"] = pyg(a)
    with zipfile.ZipFile(os.path.join(OUT, name + ".npz"), "w", zipfile.ZIP_DEFLATED) as z:
        for key, array in arrays.items():
            data = io.BytesIO()
            np.save(data, array)
            z.writestr(zipfile.ZipInfo(key + ".npy", (1980, 1, 1, 0, 0, 0)), data.getvalue(), zipfile.ZIP_DEFLATED)


def with_weights(graph, orders, seed):
    r = random.Random(seed)
    for _, _, data in graph.edges(data=True):
        data["weight"] = 10 ** (orders * (r.random() - 0.5))
    return graph


def with_loops(graph, nodes):
    graph.add_edges_from((i, i) for i in nodes)
    return graph


os.makedirs(OUT, exist_ok=True)
save("karate", nx.karate_club_graph())
save("karate_weighted", nx.karate_club_graph(), "weight")
save("miserables", nx.convert_node_labels_to_integers(nx.les_miserables_graph(), ordering="sorted"), "weight")
save("tree", nx.random_tree(61, seed=1))
save("small_world", nx.watts_strogatz_graph(110, 4, 0.1, seed=2))
save("pieces", with_loops(nx.gnm_random_graph(50, 40, seed=3), (0, 7, 31)))
save("twelve_orders", with_weights(nx.gnm_random_graph(70, 120, seed=4), 12, 4), "weight")
for policy in ("lose", "loop", "teleport"):
    save("directed_" + policy, nx.gnp_random_graph(45, 0.05, seed=5, directed=True), dangling=policy)
save("directed_weighted", with_weights(nx.gnp_random_graph(45, 0.05, seed=6, directed=True), 12, 6), "weight",
     dangling="teleport")
