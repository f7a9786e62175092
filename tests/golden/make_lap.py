#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/lap/cases.txt: Laplacian eigenvectors by numpy and scipy, with the canonical basis and
sign of posenc's documentation (posenc help lap) written once more in Python, from projectors.

Made with networkx 2.8.8 (graphs), numpy 1.24.2, scipy 1.10.1. Run from the source root:
/usr/bin/python3 tests/golden/make_lap.py

A case: a line "case NAME | GRAPH SETTINGS | SETTINGS", then "n m k columns", m lines "u v w", a line of
`columns` values, a line of `columns` group numbers, n lines of `columns` entries.
"""
import os

import networkx as nx
import numpy as np
import scipy
import scipy.linalg

assert nx.__version__ == "2.8.8" and scipy.__version__ == "1.10.1" and np.__version__ == "1.24.2"
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lap")
TIE = 1e-6


def laplacian(a, normalization, isolated):
    d = a.sum(axis=1)
    if normalization == "none":
        return np.diag(d) - a
    root = np.where(d > 0, 1 / np.sqrt(np.where(d > 0, d, 1)), 0)
    return np.diag(((d > 0) | isolated).astype(float)) - root[:, None] * a * root[None, :]


def components(a):
    seen, out = set(), []
    for i in range(len(a)):
        if i in seen:
            continue
        todo, found = [i], {i}
        while todo:
            for j in np.flatnonzero(a[todo.pop()]):
                if j not in found:
                    found.add(j)
                    todo.append(j)
        seen |= found
        out.append(sorted(found))
    return out


def canonical(projector, dimension):
    """The pivot with the largest norm, the first among nearly equal ones, again and again."""
    rest, basis = projector.copy(), []
    for _ in range(dimension):
        norms = np.diag(rest)
        pivot = int(np.flatnonzero(norms >= (1 - TIE) * norms.max())[0])
        b = rest[:, pivot] / np.sqrt(norms[pivot])
        basis.append(b)
        rest = rest - np.outer(b, b)
    return basis


def signed(v):
    large = np.abs(v) >= (1 - TIE) * np.abs(v).max()
    return v * np.sign(v[np.flatnonzero(large)[0]])


def null_vectors(a, normalization, isolated):
    d, out = a.sum(axis=1), []
    for nodes in components(a):
        if len(nodes) == 1 and isolated and normalization != "none":
            continue
        v = np.zeros(len(a))
        v[nodes] = np.sqrt(d[nodes]) if normalization != "none" and len(nodes) > 1 else 1
        out.append(v / np.linalg.norm(v))
    return out


def pairs(a, normalization, isolated):
    """(value, vector, group) of all columns, null vectors first."""
    l = laplacian(a, normalization, isolated)
    nulls = null_vectors(a, normalization, isolated)
    n, norm = len(a), np.abs(l).sum(axis=0).max()
    shifted = l + 10 * norm * sum((np.outer(v, v) for v in nulls), np.zeros((n, n)))
    values, vectors = np.linalg.eigh(shifted)
    count = n - len(nulls)
    out = [(0.0, v, 0) for v in nulls]
    group, j = 1 if nulls else 0, 0
    while j < count:
        end = j + 1
        while end < count and values[end] - values[end - 1] <= 1e-9 * norm:
            end += 1
        v = vectors[:, j:end]
        for t, b in enumerate(canonical(v @ v.T, end - j)):
            out.append((values[j + t], b, group))
        group, j = group + 1, end
    return out


def random_walk(a, columns):
    d = a.sum(axis=1)
    scale = np.where(d > 0, 1 / np.sqrt(np.where(d > 0, d, 1)), 1)
    return [(w, scale * v / np.linalg.norm(scale * v), g) for w, v, g in columns]


def check_random_walk(a, columns):
    """Against the generalised problem (D - A) v = w D v, where there are no isolated nodes."""
    d = a.sum(axis=1)
    if (d > 0).all():
        values = scipy.linalg.eigh(np.diag(d) - a, np.diag(d), eigvals_only=True)
        assert np.allclose(sorted(w for w, _, _ in columns), values, atol=1e-12)
        for w, v, _ in columns:
            assert np.linalg.norm(v - a @ v / d - w * v) < 1e-12


def write(out, name, graph, settings, normalization="sym", zero="drop", isolated=False, k=8, loops=False):
    graph = nx.convert_node_labels_to_integers(graph)
    a = nx.to_numpy_array(graph, weight="weight")
    if not loops:
        np.fill_diagonal(a, 0)
    columns = pairs(a, "sym" if normalization == "rw" else normalization, isolated)
    if normalization == "rw":
        columns = random_walk(a, columns)
        check_random_walk(a, columns)
    if zero == "drop":
        columns = columns[len(null_vectors(a, normalization, isolated)):]
    elif zero == "drop_first":
        columns = columns[1:]
    columns = columns[:k]
    edges = [(u, v, w.get("weight", 1)) for u, v, w in graph.edges(data=True)]
    print(f"case {name} | {'loops=keep' if loops else 'loops=auto'} | {settings}", file=out)
    print(len(a), len(edges), k, len(columns), file=out)
    for u, v, w in edges:
        print(u, v, "%.17g" % w, file=out)
    print(*("%.17g" % w for w, _, _ in columns), file=out)
    print(*(g - columns[0][2] for _, _, g in columns), file=out)
    for i in range(len(a)):
        print(*("%.17g" % (signed(v)[i] + 0.0) for _, v, _ in columns), file=out)


def main():
    os.makedirs(OUT, exist_ok=True)
    karate = nx.karate_club_graph()
    plain = nx.Graph()
    plain.add_nodes_from(range(34))
    plain.add_edges_from(karate.edges())
    parts = nx.disjoint_union_all([nx.cycle_graph(5), nx.path_graph(4), nx.cycle_graph(5), nx.empty_graph(2)])
    looped = nx.cycle_graph(7)
    looped.add_edge(2, 2, weight=3)
    looped.add_edge(0, 3, weight=0.5)
    with open(os.path.join(OUT, "cases.txt"), "w") as out:
        write(out, "karate", plain, "k=8")
        write(out, "karate-weights", karate, "k=5,normalization=none", "none", k=5)
        write(out, "karate-rw", karate, "k=6,normalization=rw", "rw", k=6)
        write(out, "petersen", nx.petersen_graph(), "k=9,normalization=none", "none", k=9)
        write(out, "cube-cut", nx.hypercube_graph(4), "k=7", k=7)
        write(out, "grid", nx.grid_2d_graph(4, 4), "k=10,normalization=none", "none", k=10)
        write(out, "frucht", nx.frucht_graph(), "k=6", k=6)
        write(out, "parts-drop", parts, "k=9", k=9)
        write(out, "parts-keep", parts, "k=9,zero=keep", zero="keep", k=9)
        write(out, "parts-isolated", parts, "k=14,isolated=1", isolated=True, k=14)
        write(out, "loops-kept", looped, "k=6", k=6, loops=True)
        write(out, "loops-dropped", looped, "k=6", k=6)
        write(out, "pyg", parts, "preset=pyg,sign=canonical,k=12", zero="drop_first", isolated=True, k=12)
        write(out, "dgl", parts, "preset=dgl,sign=canonical,k=12", zero="drop_first", isolated=True, k=12)


main()
