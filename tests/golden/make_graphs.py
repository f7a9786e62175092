#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/graphs/: graphs in every format, by the packages that define or popularised it, and
expected.txt, what a reader must find in each file (see xt_raw_text in tests/support/xt_reader.h).

Made with networkx 2.8.8, scipy 1.10.1, numpy 1.24.2; digraph6 and sparse6 checked with nauty 2.8.6 where its
tools are installed. Run from the source root: /usr/bin/python3 tests/golden/make_graphs.py
"""
import io
import json
import os
import random
import shutil
import struct
import subprocess
import zipfile

import networkx as nx
import numpy as np
import scipy
import scipy.io
import scipy.sparse as sp

assert nx.__version__ == "2.8.8" and scipy.__version__ == "1.10.1" and np.__version__ == "1.24.2"
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "graphs")
expected = {}


def path(name):
    return os.path.join(OUT, name)


def number(x):
    return "%.17g" % x


def text(n, edges):
    """edges: (u, v) or (u, v, w)"""
    return f"{n}:" + "".join(f" {e[0]}-{e[1]}" + (f"={number(e[2])}" if len(e) > 2 else "") for e in edges)


def expect(name, direction, *graphs):
    expected[name] = direction + " " + " | ".join(text(n, e) for n, e in graphs)


# ---- graph6, sparse6, digraph6


def by_column(g):
    return sorted(((min(e), max(e)) for e in g.edges()), key=lambda e: (e[1], e[0]))


def nauty_edges(data):
    """Nodes, and edges without their multiplicity, that nauty reads from one graph; None without nauty."""
    if not shutil.which("nauty-showg"):
        return None
    out = subprocess.run(["nauty-showg", "-e"], input=data, capture_output=True, check=True).stdout
    values = [int(x) for line in out.split(b"\n") if not line.startswith(b"Graph") for x in line.split()]
    return values[0], sorted(zip(values[2::2], values[3::2]))


def make_graph6():
    rng = random.Random(1)
    graphs = nx.graph_atlas_g()[:60]
    for n in (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 61, 62, 63, 64, 65):
        graphs.append(nx.gnp_random_graph(n, 0.2, seed=rng.randrange(10**9)))
    graphs += [nx.complete_graph(63), nx.empty_graph(70), nx.path_graph(4)]
    with open(path("graph6.g6"), "wb") as f:
        for g in graphs:
            f.write(nx.to_graph6_bytes(g, header=False))
    expect("graph6.g6", "undirected", *((len(g), by_column(g)) for g in graphs))
    nx.write_graph6(nx.petersen_graph(), path("header.g6"))
    expect("header.g6", "undirected", (10, by_column(nx.petersen_graph())))


def random_multigraph(n, m, rng, highest):
    g = nx.MultiGraph()
    g.add_nodes_from(range(n))
    for _ in range(m):
        g.add_edge(rng.randrange(highest), rng.randrange(highest))
    return g


def make_sparse6():
    rng = random.Random(2)
    graphs = [nx.MultiGraph(nx.empty_graph(n)) for n in (0, 1, 2, 3, 5)]
    for n in (2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 30, 62, 63, 64, 100, 300):
        for m in (1, 2, 3, 4, 5, n, 2 * n):
            graphs.append(random_multigraph(n, m, rng, n))
            graphs.append(random_multigraph(n, m, rng, n - 1))  # the last node alone: the padding rule
    for n in (2, 4, 8, 16):
        g = nx.MultiGraph(nx.empty_graph(n))
        g.add_edge(n - 2, n - 2)
        graphs.append(g)
    with open(path("sparse6.s6"), "wb") as f:
        for g in graphs:
            data = nx.to_sparse6_bytes(g, header=False)
            found = nauty_edges(data)
            if found and len(g):
                assert found == (len(g), sorted(set(by_column(g)))), (data, found, by_column(g))
            f.write(data)
    expect("sparse6.s6", "undirected", *((len(g), by_column(g)) for g in graphs))
    large = []
    with open(path("large.s6"), "wb") as f:
        for n in (258047, 258048, 300000):
            g = nx.empty_graph(n)
            g.add_edges_from([(0, 1), (5, n - 2), (n - 2, n - 1)])
            f.write(nx.to_sparse6_bytes(g, header=False))
            large.append((n, by_column(g)))
    expect("large.s6", "undirected", *large)


def digraph6(n, edges):
    bits = [0] * (n * n)
    for u, v in edges:
        bits[u * n + v] = 1
    bits += [0] * (-len(bits) % 6)
    body = bytes(63 + int("".join(map(str, bits[i : i + 6])), 2) for i in range(0, len(bits), 6))
    head = bytes([n + 63]) if n <= 62 else b"~" + bytes(63 + (n >> s & 63) for s in (12, 6, 0))
    return b"&" + head + body + b"\n"


def make_digraph6():
    rng = random.Random(3)
    graphs = []
    with open(path("digraph6.d6"), "wb") as f:
        for n in (0, 1, 2, 3, 5, 6, 12, 62, 63):
            edges = [(u, v) for u in range(n) for v in range(n) if rng.random() < 0.15]
            data = digraph6(n, edges)
            found = nauty_edges(data)
            assert not found or n == 0 or found == (n, edges), (n, edges, found)
            f.write(data)
            graphs.append((n, edges))
    expect("digraph6.d6", "directed", *graphs)


# ---- formats that list nodes


def weighted(kind, nodes, m, seed):
    rng = random.Random(seed)
    g = kind()
    g.add_nodes_from(nodes)
    for _ in range(m):
        g.add_edge(rng.choice(nodes), rng.choice(nodes), weight=rng.choice([0.1, 1 / 3, 2.5e-7, 12345.678, -2.0]))
    return g


def rows(g):
    place = {node: i for i, node in enumerate(g)}
    return [(place[u], place[v], w) for u, v, w in g.edges(data="weight")]


def make_listed():
    kinds = {"graph": nx.Graph, "digraph": nx.DiGraph, "multidigraph": nx.MultiDiGraph}
    for name, kind in kinds.items():
        direction = "undirected" if kind is nx.Graph else "directed"
        g = weighted(kind, [f"n{i}" for i in (5, 3, 8, 1, 0, 7)], 9, name)
        nx.write_graphml(g, path(name + ".graphml"))
        expect(name + ".graphml", direction, (len(g), rows(g)))
        with open(path(name + ".json"), "w") as f:
            json.dump(nx.node_link_data(g), f, indent=1)
        expect(name + ".json", direction, (len(g), rows(g)))
        nx.write_gml(g, path(name + ".gml"))
        expect(name + ".gml", direction, (len(g), rows(g)))
        nx.write_pajek(g, path(name + ".net"))
        expect(name + ".net", direction, (len(g), rows(g)))
    g = nx.les_miserables_graph()
    nx.write_gml(g, path("lesmis.gml"))
    expect("lesmis.gml", "undirected", (len(g), rows(g)))


# ---- arrays


def safetensors(name, arrays):
    types = {"uint8": "U8", "int64": "I64", "int32": "I32", "float32": "F32", "float64": "F64"}
    header, body = {}, b""
    for key, a in arrays.items():
        header[key] = {"dtype": types[a.dtype.name], "shape": list(a.shape), "data_offsets": [len(body), len(body) + a.nbytes]}
        body += a.tobytes()
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    with open(path(name), "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head + body)


def save_npz(name, compressed=False, **arrays):
    """numpy.savez with fixed time stamps."""
    mode = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(path(name), "w", mode) as z:
        for key, a in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asanyarray(a))
            z.writestr(zipfile.ZipInfo(key + ".npy"), buffer.getvalue(), mode)


def save_sparse(name, m, compressed=True):
    """scipy.sparse.save_npz with fixed time stamps: its members, as it made them."""
    buffer = io.BytesIO()
    sp.save_npz(buffer, m, compressed)
    buffer.seek(0)
    with np.load(buffer) as z:
        save_npz(name, compressed, **{key: z[key] for key in z.files})


def make_arrays():
    rng = np.random.default_rng(4)
    e = rng.integers(0, 9, (2, 14))
    pairs = list(map(tuple, e.T.tolist()))
    n = int(e.max()) + 1
    w = rng.standard_normal(14).astype(np.float32)
    np.save(path("edge_index.npy"), e)
    expect("edge_index.npy", "unknown", (n, pairs))
    np.save(path("edge_index_rows.npy"), e.T.astype(np.int32))
    expect("edge_index_rows.npy", "unknown", (n, pairs))
    np.save(path("edge_index_fortran.npy"), np.asfortranarray(e))
    expect("edge_index_fortran.npy", "unknown", (n, pairs))
    weighted_pairs = [(u, v, float(x)) for (u, v), x in zip(pairs, w)]
    save_npz("edge_index.npz", edge_index=e, edge_weight=w, num_nodes=np.int64(12))
    expect("edge_index.npz", "unknown", (12, weighted_pairs))
    safetensors("edge_index.safetensors", {"edge_index": e, "edge_weight": w, "num_nodes": np.array([12])})
    expect("edge_index.safetensors", "unknown", (12, weighted_pairs))

    # Three graphs and an empty one, edges in any order, ids global.
    ptr = np.array([0, 4, 4, 7, 12])
    local = [(0, 1, 1), (0, 3, 2), (2, 0, 1), (3, 2, 0), (3, 4, 4), (2, 1, 2), (0, 0, 3), (3, 0, 1)]
    e = np.array([[ptr[g] + u, ptr[g] + v] for g, u, v in local]).T
    w = np.arange(8) / 4
    graphs = [(int(ptr[g + 1] - ptr[g]), [(u, v, x) for (h, u, v), x in zip(local, w) if h == g]) for g in range(4)]
    save_npz("many.npz", True, edge_index=e, edge_weight=w, ptr=ptr)
    expect("many.npz", "unknown", *graphs)
    batch = np.repeat(np.arange(4), np.diff(ptr))
    safetensors("many.safetensors", {"edge_index": e, "edge_weight": w, "batch": batch})
    expect("many.safetensors", "unknown", *graphs)


def make_scipy():
    rng = np.random.default_rng(5)
    m = sp.random(7, 7, 0.3, random_state=5, format="csr")
    symmetric = (m + m.T).tocsr()
    order = lambda c: [(int(u), int(v), float(x)) for u, v, x in zip(c.row, c.col, c.data)]
    save_sparse("csr.npz", m)
    expect("csr.npz", "directed if one-way", (7, order(m.tocoo())))
    save_sparse("csr_stored.npz", symmetric, False)
    expect("csr_stored.npz", "directed if one-way", (7, order(symmetric.tocoo())))
    save_sparse("csc.npz", m.tocsc())
    expect("csc.npz", "directed if one-way", (7, order(m.tocsc().tocoo())))
    c = sp.coo_matrix(([1, 2, 3, 4], ([0, 2, 0, 1], [1, 0, 1, 1])), (3, 3))
    save_sparse("coo.npz", c)
    expect("coo.npz", "directed if one-way", (3, order(c)))
    save_sparse("ones.npz", sp.csr_matrix(np.array([[0.0, 1.0], [1.0, 1.0]])))
    expect("ones.npz", "directed if one-way", (2, [(0, 1), (1, 0), (1, 1)]))
    b = sp.csr_matrix(np.array([[False, True], [True, False]]))
    save_sparse("bool.npz", b)
    expect("bool.npz", "directed if one-way", (2, [(0, 1), (1, 0)]))
    safetensors("csr.safetensors", {"format": np.frombuffer(b"csr", np.uint8), "shape": np.array(m.shape),
                                    "data": m.data, "indptr": m.indptr, "indices": m.indices})
    expect("csr.safetensors", "directed if one-way", (7, order(m.tocoo())))
    save_sparse("bsr.npz", sp.bsr_matrix(np.eye(4), blocksize=(2, 2)))
    save_sparse("dia.npz", sp.eye(4, format="dia"))
    save_sparse("rectangular.npz", sp.csr_matrix(np.ones((2, 3))))


# ---- one graph in every format


def make_same():
    """Node ids 0 … 5 as they come; weights are integers, which METIS asks for."""
    edges = [(0, 1, 5), (0, 2, 2), (1, 2, 7), (2, 3, 3), (3, 4, 1), (3, 5, 4), (4, 5, 6)]
    n = 6
    g = nx.Graph()
    g.add_nodes_from(range(n))
    g.add_weighted_edges_from(edges)
    both = edges + [(v, u, w) for u, v, w in edges]
    adjacency = nx.to_scipy_sparse_array(g, format="csr", dtype=np.float64)
    for tag, plain in (("weighted", False), ("plain", True)):
        h = nx.Graph(g)
        if plain:
            for _, _, d in h.edges(data=True):
                d.clear()
        a = sp.csr_matrix(adjacency) if not plain else sp.csr_matrix(adjacency != 0)
        nx.write_graphml(h, path(f"{tag}.graphml"))
        nx.write_gml(h, path(f"{tag}.gml"))
        nx.write_pajek(nx.relabel_nodes(h, str), path(f"{tag}.net"))
        with open(path(f"{tag}.json"), "w") as f:
            json.dump(nx.node_link_data(h), f)
        with open(path(f"{tag}_edges.json"), "w") as f:
            json.dump(nx.node_link_data(h, link="edges"), f)
        for kind in ("csr", "csc", "coo"):
            save_sparse(f"{tag}_{kind}.npz", a.asformat(kind))
        scipy.io.mmwrite(path(f"{tag}_general.mtx"), sp.coo_matrix(a, dtype=np.int64), symmetry="general",
                         field="pattern" if plain else None)
        scipy.io.mmwrite(path(f"{tag}_symmetric.mtx"), sp.coo_matrix(a, dtype=np.int64), symmetry="symmetric",
                         field="pattern" if plain else None)
        nx.write_edgelist(h, path(f"{tag}.edges"), data=[] if plain else ["weight"])
        last = lambda w: "" if plain else f" {w}"
        with open(path(f"{tag}.col"), "w") as f:
            f.write(f"c one graph in every format\np edge {n} {len(edges)}\n")
            f.writelines(f"e {u + 1} {v + 1}{last(w)}\n" for u, v, w in edges)
        with open(path(f"{tag}_twice.col"), "w") as f:
            f.write(f"p col {n} {len(both)}\n")
            f.writelines(f"e {u + 1} {v + 1}{last(w)}\n" for u, v, w in both)
        with open(path(f"{tag}.metis"), "w") as f:
            f.write(f"{n} {len(edges)}" + ("" if plain else " 001") + "\n")
            for u in h:
                f.write(" ".join(f"{v + 1}{last(g[u][v]['weight'])}" for v in h[u]) + "\n")
        e = np.array([[u, v] for u, v, _ in both]).T
        w = {} if plain else {"edge_weight": np.array([w for _, _, w in both], np.float64)}
        save_npz(f"{tag}.npz", edge_index=e, **w)
        safetensors(f"{tag}.safetensors", {"edge_index": e, **w})
        with open(path(f"{tag}.matrix.net"), "w") as f:
            f.write(f"*Vertices {n}\n*Matrix\n")
            f.writelines(" ".join("%g" % x for x in row) + "\n" for row in a.toarray().astype(float))
        if plain:
            np.save(path("plain.npy"), e)
            nx.write_graph6(h, path("plain.g6"), header=False)
            nx.write_sparse6(h, path("plain.s6"), header=False)
        d = h.to_directed()
        nx.write_graphml(d, path(f"{tag}_directed.graphml"))
        if not plain:
            with open(path("weighted.gr"), "w") as f:
                f.write(f"p sp {n} {len(both)}\n")
                f.writelines(f"a {u + 1} {v + 1} {w}\n" for u, v, w in both)
        else:
            with open(path("plain.d6"), "wb") as f:
                f.write(digraph6(n, [(u, v) for u, v, _ in both]))


def main():
    os.makedirs(OUT, exist_ok=True)
    make_graph6()
    make_sparse6()
    make_digraph6()
    make_listed()
    make_arrays()
    make_scipy()
    make_same()
    with open(path("expected.txt"), "w") as f:
        for name in sorted(expected):
            f.write(f"{name}: {expected[name]}\n")


main()
