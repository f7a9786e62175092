#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/levit/levit.npz: biases of transformers' LevitAttention on squares, and on rectangles after
the same enumeration (LeViT's code numbers each pair of distances when it first meets it).

Made with transformers 5.24.0, torch 2.13.0, numpy 2.4.6: python3 tests/golden/make_levit.py
"""
import itertools

import numpy as np
import torch
import transformers
from transformers.models.levit.modeling_levit import LevitAttention

from attention import save

assert transformers.__version__ == "5.24.0"
arrays = {}
rng = np.random.default_rng(3)


def enumerate_offsets(height, width):
    points = list(itertools.product(range(height), range(width)))
    offsets, index = {}, []
    for p1 in points:
        for p2 in points:
            offset = (abs(p1[0] - p2[0]), abs(p1[1] - p2[1]))
            index.append(offsets.setdefault(offset, len(offsets)))
    return np.array(index, np.int32).reshape(len(points), len(points)), len(offsets)


def case(name, height, width, heads):
    index, count = enumerate_offsets(height, width)
    table = rng.standard_normal((heads, count))
    if height == width:
        module = LevitAttention(8 * heads, 8, heads, 2, height).double()
        module.attention_biases.data = torch.from_numpy(table)
        assert (module.attention_bias_idxs.numpy() == index).all()
        bias = module.get_attention_biases(torch.device("cpu")) if hasattr(module, "get_attention_biases") \
            else module.attention_biases[:, module.attention_bias_idxs]
        bias = bias.detach().numpy()
        assert (bias == table[:, index]).all()
    arrays[name + ".grid"] = np.array([height, width, 0], np.int64)
    arrays[name + ".attention_biases"] = table
    arrays[name + ".out.bias"] = table[:, index]
    arrays[name + ".out.relative_position_index"] = index


case("square", 4, 4, 2)
case("rectangle", 3, 5, 3)
case("row", 1, 6, 2)
case("one", 1, 1, 2)
save("levit/levit", **arrays)
