#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/crossformer/crossformer.npz: CrossFormer's dynamic position bias in float64, by torch's
own layers put together as models/crossformer.py of cheerss/CrossFormer does (DynamicPosBias without residual,
width (dim // 4) // 4, whole offsets).

Made with torch 2.13.0, numpy 2.4.6: python3 tests/golden/make_crossformer.py
"""
import numpy as np
import torch
from torch import nn

from attention import save

assert torch.__version__.startswith("2.13.0")
torch.manual_seed(4)
arrays = {}


def case(name, height, width, dim, heads):
    p = dim // 4 // 4
    stages = {"pos_proj": nn.Linear(2, p)}
    for stage, out in (("pos1", p), ("pos2", p), ("pos3", heads)):
        stages[stage] = nn.Sequential(nn.LayerNorm(p), nn.ReLU(), nn.Linear(p, out))
        nn.init.normal_(stages[stage][0].weight)
        nn.init.normal_(stages[stage][0].bias)
    network = nn.ModuleDict(stages).double()
    y, x = [c.flatten() for c in np.meshgrid(np.arange(height), np.arange(width), indexing="ij")]
    offsets = np.stack([y[:, None] - y, x[:, None] - x], -1).astype(np.float64)
    z = torch.from_numpy(offsets)
    for stage in network.values():
        z = stage(z)
    arrays[name + ".grid"] = np.array([height, width, 0], np.int64)
    for key, value in network.state_dict().items():
        arrays[f"{name}.pos.{key}"] = value.numpy()
    arrays[name + ".out.bias"] = z.permute(2, 0, 1).detach().numpy()


case("square", 4, 4, 96, 3)
case("rectangle", 3, 5, 64, 2)
case("uneven", 2, 3, 90, 8)  # 90 // 4 // 4 = 5
case("one", 1, 1, 16, 1)
save("crossformer/crossformer", **arrays)
