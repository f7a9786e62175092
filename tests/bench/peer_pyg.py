# SPDX-License-Identifier: BSD-2-Clause
"""PyTorch Geometric's transforms on a graph6 file or on single graphs, for the comparison with posenc.

  peer_pyg.py molecules FILE.g6 [COUNT]   LapPE-8 and RWSE-20 of COUNT graphs (all), seconds and µs a graph
  peer_pyg.py rwse FILE.graph             RWSE-20 of one METIS graph, seconds and peak memory

Measured with torch 2.13.0 and torch-geometric 2.8.1, one thread.
"""
import resource
import sys
import time

import networkx
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import AddLaplacianEigenvectorPE, AddRandomWalkPE

torch.set_num_threads(1)


def from_networkx(graph):
    edges = torch.tensor(list(graph.edges()), dtype=torch.long).t().reshape(2, -1)
    return Data(edge_index=torch.cat([edges, edges.flip(0)], dim=1), num_nodes=graph.number_of_nodes())


def molecules(path, count):
    with open(path, "rb") as file:
        lines = file.read().split()[:count]
    data = [from_networkx(networkx.from_graph6_bytes(line)) for line in lines]
    for name, transform in (("lap", AddLaplacianEigenvectorPE(8, is_undirected=True)), ("rwse", AddRandomWalkPE(20))):
        failed, start = 0, time.perf_counter()
        for graph in data:
            try:
                transform(graph)
            except Exception:  # noqa: BLE001 any failure counts
                failed += 1
        seconds = time.perf_counter() - start
        print(f"PyG {name}: {seconds:.3f} s, {1e6 * seconds / len(data):.1f} us a graph, {failed} of {len(data)} failed")


def rwse(path):
    with open(path) as file:
        lines = [line for line in file if not line.startswith("%")]
    edges = [(i, int(j) - 1) for i, line in enumerate(lines[1:]) for j in line.split()]
    index = torch.tensor(edges, dtype=torch.long).t()
    start = time.perf_counter()
    AddRandomWalkPE(20)(Data(edge_index=index, num_nodes=len(lines) - 1))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"PyG rwse {path}: {seconds:.2f} s, peak {peak:.0f} MB")


if __name__ == "__main__":
    if sys.argv[1] == "molecules":
        molecules(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None)
    else:
        rwse(sys.argv[2])
