#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""RWSE-20 of one large graph, ours beside what PyTorch Geometric's AddRandomWalkPE does above 2,000 nodes: powers
of a sparse matrix by sparse products, and their diagonals (transforms/add_positional_encoding.py, with scipy in
the place of torch_sparse; single precision as there).

  peer_sparse_powers.py BENCH_RWSE DATA GRAPH      BENCH_RWSE: the program built from bench_rwse.c
  peer_sparse_powers.py build/tests/bench_rwse ../shared/data graphs-metis/power.graph
"""
import resource
import subprocess
import sys
import time

import numpy as np
import scipy.sparse as sp

from peer import read_metis

STEPS = 20


def random_walk_pe(a):
    degree = np.asarray(a.sum(1)).ravel()
    p = sp.diags((1 / np.maximum(degree, 1)).astype(np.float32)) @ a
    power, rows = p, [p.diagonal()]
    for _ in range(STEPS - 1):
        power = power @ p
        rows.append(power.diagonal())
    return np.stack(rows, 1)


def main():
    program, data, name = sys.argv[1:]
    def ours():
        out = subprocess.run([program, data, name], capture_output=True, text=True, check=True).stdout.split()
        return float(out[0]), int(out[1])
    first, memory = ours()
    a = read_metis(data + "/" + name).astype(np.float32)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    random_walk_pe(a)
    theirs = time.perf_counter() - start
    theirs_memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    second, _ = ours()
    mine = min(first, second)
    print(f"{name}: ours {mine:.4f} s, {memory / 1e6:.1f} MB; sparse powers {theirs:.2f} s, "
          f"{theirs_memory / 1e6:.0f} MB; ratio {theirs / mine:.0f}x in time, {theirs_memory / memory:.0f}x in memory")


main()
