#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/cape_augmented/cape.npz: CAPE1d of gcambara/cape (its formulas written down with torch, f64)
at inference, with and without normalising.

Made with torch 2.13.0, numpy 2.4.6. Run from the source root:
python3 tests/golden/make_cape_augmented.py
"""
import math
import os
from importlib.metadata import version

import numpy as np
import torch

assert version("torch").startswith("2.13.0") and np.__version__ == "2.4.6"
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cape_augmented", "cape.npz")
torch.set_default_dtype(torch.float64)
DIM, LENGTH = 10, 15
arrays = {}
for name, pos_scale, freq_scale, normalize in (("plain", 1, 1, False), ("audio", 0.03, 30, True)):
    freq = freq_scale * torch.exp(torch.arange(0, DIM, 2) * (-math.log(1e4) / DIM))
    positions = pos_scale * torch.arange(LENGTH).to(torch.float64)
    if normalize:
        positions = positions - positions.mean()
    product = positions[:, None] * freq
    rows = torch.zeros(LENGTH, DIM)
    rows[:, 0::2], rows[:, 1::2] = torch.sin(product), torch.cos(product)
    arrays.update({name + ".keys": np.arange(LENGTH, dtype=np.float64),
                   name + ".queries": np.arange(LENGTH, dtype=np.float64),
                   name + ".out.position_encoding": rows.numpy(), name + ".out.positions": positions.numpy()})
np.savez_compressed(OUT, **arrays)
