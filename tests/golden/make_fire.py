#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/fire/fire.npz: the listing of the paper (and class FIRE of the DAPE repository) as a torch
module in f64, with the position of the row for the longest distance so that queries may begin anywhere.

Made with torch 2.13.0, numpy. Run from the source root with a Python that has them.
"""
import os

import numpy as np
import torch
from torch import nn

assert torch.__version__.startswith("2.13.0")
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fire", "fire.npz")
arrays = {}


class FIRE(nn.Module):
    def __init__(self, num_heads, mlp_width, init_c=0.1, init_L=512.0, eps=1e-6):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(1, mlp_width), nn.ReLU(), nn.Linear(mlp_width, num_heads))
        self.c = nn.Parameter(torch.tensor(init_c))
        self.init_L = nn.Parameter(torch.tensor(init_L), requires_grad=False)
        self.L_multiplier = nn.Parameter(torch.tensor(1.0))
        self.eps = eps

    def forward(self, queries, keys, causal):
        distance = queries[:, None] - keys[None, :]
        distance = distance.clamp(min=0) if causal else distance.abs()
        threshold = torch.abs(self.L_multiplier * self.init_L)
        normalizer = torch.maximum(queries, threshold)[:, None]
        distance = torch.log(torch.abs(self.c * distance) + 1)
        normalizer = torch.log(torch.abs(self.c * normalizer) + 1) + self.eps
        return self.mlp((distance / normalizer).unsqueeze(-1)).permute(2, 0, 1)


def case(name, heads, hidden, keys, queries, causal=True, multiplier=1.0, spread=1.0, **options):
    torch.manual_seed(len(arrays))
    module = FIRE(heads, hidden, **options).double()
    with torch.no_grad():
        module.L_multiplier.fill_(multiplier)
        for parameter in module.mlp.parameters():
            parameter.mul_(spread)
        out = module(torch.tensor(queries), torch.tensor(keys), causal)
    arrays.update({name + "." + k: v.detach().numpy() for k, v in module.named_parameters()})
    arrays.update({name + ".keys": keys, name + ".queries": queries, name + ".out.bias": out.numpy()})


index = np.arange(40, dtype=np.float64)
rng = np.random.default_rng(5)
case("short", 3, 32, index, index)
case("beyond", 3, 32, index, index, init_L=8.0)
case("last", 2, 16, index, index[-2:], multiplier=-0.25, init_L=64.0, init_c=-1.5)
case("far", 2, 32, 3000 + index, 3000 + index[20:23], spread=3.0)
case("both", 2, 32, index, index[::7].copy(), causal=False, init_L=8.0)
case("real", 2, 64, rng.normal(0, 300, 30), rng.normal(0, 300, 4), causal=False)
np.savez_compressed(OUT, **arrays)
print(os.path.getsize(OUT))
