#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/swin/swin.npz: biases and indices of timm's RelPosBias for windows of several shapes, and
of a table of another window, resampled by timm's resize_rel_pos_bias_table_simple (the Swin authors' rule), in
float64; tables in, biases out.

Made with timm 1.0.31, torch 2.13.0, numpy 2.4.6: python3 tests/golden/make_swin.py
"""
import numpy as np
import torch

from attention import save
from timm_layers import layer

assert torch.__version__.startswith("2.13.0")
timm = layer("pos_embed_rel")
torch.manual_seed(1)
arrays = {}


def bias(window, table):
    module = timm.RelPosBias(window, table.shape[1]).double()
    module.relative_position_bias_table.data = table
    return module.get_bias()[0].detach().numpy(), module.relative_position_index.numpy()


def case(name, window, heads, source=None, resize=timm.resize_rel_pos_bias_table_simple):
    source = source or window
    table = torch.randn((2 * source[0] - 1) * (2 * source[1] - 1), heads, dtype=torch.float64)
    count = (2 * window[0] - 1) * (2 * window[1] - 1)
    own = table if source == window else resize(table, window, (count, heads))
    out, index = bias(window, own)
    tokens = window[0] * window[1]
    arrays[name + ".grid"] = np.array([*window, 0], np.int64)
    arrays[name + ".relative_position_bias_table"] = table.numpy()
    arrays[name + ".out.bias"] = out
    arrays[name + ".out.relative_position_index"] = index.reshape(tokens, tokens).astype(np.int32)


case("square", (4, 4), 2)
case("rectangle", (3, 5), 3)
case("row", (1, 6), 2)
case("column", (5, 1), 1)
case("one", (1, 1), 2)
case("grown", (5, 5), 2, (3, 3))
case("shrunk", (3, 4), 2, (6, 6))
for name, window, source in (("grown", (5, 6), (3, 3)), ("shrunk", (3, 4), (5, 5)), ("from_one", (2, 3), (1, 1))):
    case("geometric_" + name, window, 2, source, timm.resize_rel_pos_bias_table)
# A part of a window: a map that is smaller than its window, without clamping it.
table = torch.randn(7 * 9, 2, dtype=torch.float64)
whole, index = bias((4, 5), table)
keep = [5 * y + x for y in range(2) for x in range(3)]
arrays["part.grid"] = np.array([2, 3, 0], np.int64)
arrays["part.relative_position_bias_table"] = table.numpy()
arrays["part.out.bias"] = whole[:, keep][:, :, keep]
arrays["part.out.relative_position_index"] = index.reshape(20, 20)[np.ix_(keep, keep)].astype(np.int32)
save("swin/swin", **arrays)
