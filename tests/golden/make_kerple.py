#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/kerple/kerple.npz: the forward functions of ParallelKerpleLog and ParallelKerplePower
(KERPLE, megatron/mpu/layers.py) written down in numpy, f64: a matrix of distances by tril, clamped parameters,
and for one query the last row. Some parameters are beyond the clamps.

Made with numpy 1.24.2. Run from the source root: /usr/bin/python3 tests/golden/make_kerple.py
"""
import os

import numpy as np

assert np.__version__ == "1.24.2"
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kerple", "kerple.npz")
HEADS, LENGTH, EPS = 5, 24, 1e-2
rng = np.random.default_rng(3)
arrays = {}


def parameter(most, odd):
    values = rng.uniform(0, most, (HEADS, 1, 1))
    values[:len(odd), 0, 0] = odd
    return values


def case(name, form, weight, diff, keys, queries):
    p, a = parameter(2, [-0.3, 2.7]), parameter(1, [0.4, 1e-4])
    arrays.update({name + ".bias_p": p, name + ".bias_a": a, name + ".keys": keys, name + ".queries": queries})
    a = a.clip(min=EPS)
    if form == "log":
        bias = -p.clip(min=EPS) * np.log(1 + a * diff)
    else:
        bias = -(diff ** p.clip(EPS, 2)) * a
    arrays[name + ".out.bias"] = bias
    if weight:
        wp, wa = parameter(2, [2.5, -1]), parameter(1, [0.001])
        arrays.update({name + ".wei_p": wp, name + ".wei_a": wa})
        arrays[name + ".out.gain"] = np.exp(-(diff ** wp.clip(EPS, 2)) * wa.clip(min=EPS))


index = np.arange(LENGTH, dtype=np.float64)
tril = np.tril(index[:, None] - index[None, :])
for form in ("log", "power"):
    case(form, form, False, tril, index, index)
    case(form + "_last", form, True, tril[-1:], index, index[-1:])
    real = rng.normal(0, 50, LENGTH)
    case(form + "_real", form, form == "power", np.abs(real[:3, None] - real[None, :]), real, real[:3])
np.savez_compressed(OUT, **arrays)
print(os.path.getsize(OUT))
