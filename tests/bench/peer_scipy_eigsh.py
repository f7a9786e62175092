#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The 8 smallest non-trivial eigenpairs of one large graph's Laplacian, ours beside scipy's eigsh, in turns.

  peer_scipy_eigsh.py BENCH_EIGEN_LARGE GRAPH [sym|none [ROUNDS [shift|lanczos]]]   (shift or lanczos: only that)
  peer_scipy_eigsh.py build/tests/bench_eigen_large ../shared/data/graphs-metis/4elt.graph
  peer_scipy_eigsh.py build/tests/bench_eigen_large grid:300x301

scipy is asked for 9 pairs, the null vector among them, by shift-invert at several shifts and (sym) by Lanczos on
I - L, each at its default tolerance and at the loosest of a few that still gives residuals within 1e-10 of the norm.
Seconds of CPU time, the least of all rounds, so that other programs disturb little. Set OPENBLAS_NUM_THREADS=1.
"""
import subprocess
import sys
import time

import numpy as np
import scipy
import scipy.sparse as sp
import scipy.sparse.csgraph as csgraph
import scipy.sparse.linalg as spl

from peer import read_metis

K = 8
BOUND = 1e-10


def largest_component(a):
    _, label = csgraph.connected_components(a)
    keep = np.flatnonzero(label == np.argmax(np.bincount(label)))
    a = a[keep][:, keep].maximum(a[keep][:, keep].T)
    return (a - sp.diags(a.diagonal())).tocsr()


def grid(rows, columns):
    def path(n):
        return sp.diags([np.ones(n - 1), np.ones(n - 1)], [-1, 1])
    return (sp.kron(path(rows), sp.eye(columns)) + sp.kron(sp.eye(rows), path(columns))).tocsr()


def laplacian(a, sym):
    degree = np.asarray(a.sum(1)).ravel()
    if not sym:
        return (sp.diags(degree) - a).tocsr()
    scale = sp.diags(1 / np.sqrt(degree))
    return (sp.eye(a.shape[0]) - scale @ a @ scale).tocsr()


def main():
    program, name = sys.argv[1:3]
    sym = len(sys.argv) < 4 or sys.argv[3] != "none"
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 2
    a = grid(*map(int, name[5:].split("x"))) if name.startswith("grid:") else largest_component(read_metis(name))
    lap = laplacian(a, sym)
    n, norm = lap.shape[0], abs(lap).sum(0).max()
    start = np.random.default_rng(0).standard_normal(n)
    flipped, columns = sp.eye(n, format="csr") - lap, lap.tocsc()

    def theirs(shift, tolerance):
        begin = time.process_time()
        if shift is None:
            values, vectors = spl.eigsh(flipped, K + 1, which="LA", tol=tolerance, v0=start)
            values = 1 - values
        else:
            values, vectors = spl.eigsh(columns, K + 1, sigma=shift, tol=tolerance, v0=start)
        seconds = time.process_time() - begin
        return seconds, np.linalg.norm(lap @ vectors - vectors * values, axis=0).max() / norm

    def ours():
        words = subprocess.run([program, name, "sym" if sym else "none", "auto", str(K), "3"], capture_output=True,
                               text=True, check=True).stdout.splitlines()
        best = min(words, key=lambda line: float(line.split()[1]))
        return float(best.split()[1]), best

    only = sys.argv[5] if len(sys.argv) > 5 else ""
    ways = []
    if only != "lanczos":
        ways += [(shift, tolerance) for shift in [-1e-2, -1e-5] for tolerance in [0, 1e-8, 1e-6]]
    if sym and only != "shift":
        ways += [(None, tolerance) for tolerance in [0, 1e-10, 3e-10]]
    best = {}
    mine = (np.inf, "")
    for _ in range(rounds):
        for way in ways:
            if best.get(way, (0, 0))[1] > BOUND:
                continue
            mine = min(mine, ours())
            best[way] = min(best.get(way, (np.inf, 0)), theirs(*way))
    mine = min(mine, ours())
    print(f"{name} {'sym' if sym else 'none'}, {n} nodes; scipy {scipy.__version__}")
    print(f"  ours {mine[0]:.3f} s: {mine[1].split(' ', 2)[2]}")
    for (shift, tolerance), (seconds, residual) in best.items():
        what = "eigsh(I - L, 'LA')" if shift is None else f"eigsh(sigma={shift:g})"
        note = "" if residual <= BOUND else ", misses 1e-10"
        print(f"  {what} tol={tolerance:g}: {seconds:.3f} s, residual {residual:.1e}{note}: "
              f"{seconds / mine[0]:.1f} times ours")


main()
