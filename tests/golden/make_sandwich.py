#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/sandwich/sandwich.npz: forward of NeMo's SandwichRelativePositionEmbedding written down in
numpy, f64, with distances from positions.

Made with numpy 1.24.2. Run from the source root: /usr/bin/python3 tests/golden/make_sandwich.py
"""
import os

import numpy as np

assert np.__version__ == "1.24.2"
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sandwich", "sandwich.npz")
arrays = {}


def case(name, heads, width, keys, queries, causal):
    relative = queries[:, None] - keys[None, :]
    relative = np.maximum(relative, 0) if causal else relative
    inv_freq = 1.0 / (10000 ** (2 * np.arange(1, width / 2 + 1) / width))
    bias = np.cos(relative[:, :, None] * inv_freq).sum(2)
    scales = np.arange(1, heads + 1)[:, None, None] * 8 / heads
    arrays.update({name + ".keys": keys, name + ".queries": queries,
                   name + ".out.bias": (bias - width / 2)[None] / scales})


index = np.arange(24, dtype=np.float64)
case("causal", 3, 64, index, index, True)
case("both", 5, 16, index, index[::9].copy(), False)
real = np.random.default_rng(1).normal(0, 400, 24)
case("real", 2, 32, real, real[:4].copy(), False)
np.savez_compressed(OUT, **arrays)
print(os.path.getsize(OUT))
