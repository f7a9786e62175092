#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/beit/beit.npz: biases and indices of timm's RelPosBias with a class token, in float64, and
of a table of another window resampled by timm's resize_rel_pos_bias_table_simple.

Made with timm 1.0.31, torch 2.13.0, numpy 2.4.6: python3 tests/golden/make_beit.py
"""
import numpy as np
import torch

from attention import save
from timm_layers import layer

assert torch.__version__.startswith("2.13.0")
timm = layer("pos_embed_rel")
torch.manual_seed(2)
arrays = {}


def case(name, window, heads, source=None, resize=timm.resize_rel_pos_bias_table_simple, prefix=1):
    source = source or window
    table = torch.randn((2 * source[0] - 1) * (2 * source[1] - 1) + 3, heads, dtype=torch.float64)
    count = (2 * window[0] - 1) * (2 * window[1] - 1) + 3
    own = table if source == window else resize(table, window, (count, heads))
    module = timm.RelPosBias(window, heads, prefix_tokens=1).double()
    module.relative_position_bias_table.data = own
    tokens = window[0] * window[1] + 1
    bias = module.get_bias()[0].detach().numpy()
    index = module.relative_position_index.numpy().reshape(tokens, tokens).astype(np.int32)
    arrays[name + ".grid"] = np.array([*window, prefix], np.int64)
    arrays[name + ".relative_position_bias_table"] = table.numpy()
    arrays[name + ".out.bias"] = bias if prefix else bias[:, 1:, 1:]
    arrays[name + ".out.relative_position_index"] = index if prefix else index[1:, 1:]


case("square", (4, 4), 2)
case("rectangle", (3, 5), 3)
case("row", (1, 6), 2)
case("one", (1, 1), 2)
case("no_class", (3, 2), 2, prefix=0)
case("grown", (5, 4), 2, (3, 3))
for name, window, source in (("grown", (5, 6), (3, 3)), ("shrunk", (3, 4), (5, 5)), ("from_one", (2, 3), (1, 1))):
    case("geometric_" + name, window, 2, source, timm.resize_rel_pos_bias_table)
save("beit/beit", **arrays)
