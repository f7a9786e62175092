#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/alibi/alibi.npz: the slopes of transformers' Bloom and MPT for many numbers of heads, one
after the other, and the biases of both on 12 tokens. Theirs are one row, to be added to every row of scores: of
MPT m (j - 11), which is the last row of -m |i - j|; of Bloom m j, which differs from each row by a constant.

Made with transformers 5.24.0, torch 2.13.0, numpy. Run from the source root with a Python that has them.
"""
import os

import numpy as np
import torch
import transformers
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

assert transformers.__version__ == "5.24.0" and torch.__version__.startswith("2.13.0")
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "alibi", "alibi.npz")
HEADS = list(range(1, 41)) + [48, 56, 64, 71, 96, 112, 128, 200]
LENGTH = 12


def bloom(heads):
    mask = torch.ones(1, LENGTH, dtype=torch.int64)
    return build_alibi_tensor(mask, heads, torch.float32).reshape(heads, LENGTH).numpy().astype(np.float64)


def mpt(heads, alibi_bias_max=8):
    row = build_mpt_alibi_tensor(heads, LENGTH, alibi_bias_max)
    return row.reshape(heads, LENGTH).numpy().astype(np.float64)


arrays = {"heads": np.array(HEADS, np.int64),
          "bloom": np.concatenate([bloom(h)[:, 1] for h in HEADS]),
          "mpt": np.concatenate([-mpt(h)[:, LENGTH - 2] for h in HEADS]),
          "mpt_16": np.concatenate([-mpt(h, 16)[:, LENGTH - 2] for h in HEADS]),
          "row_bloom_12": bloom(12), "row_mpt_12": mpt(12), "row_mpt_5_16": mpt(5, 16)}
np.savez_compressed(OUT, **arrays)
print(os.path.getsize(OUT))
