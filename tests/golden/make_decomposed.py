#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/decomposed/: attention with SAM's decomposed relative positions, the added scores by
transformers' SamVisionAttention.get_decomposed_rel_pos in float64, which resamples tables too; with a class token
as MViTv2, whose pairs get nothing.

Made with transformers 5.24.0, torch 2.13.0, numpy 2.4.6: python3 tests/golden/make_decomposed.py
"""
import types

import numpy as np
import torch
import transformers
from transformers.models.sam.modeling_sam import SamVisionAttention

from attention import qkv, save, softmax

assert transformers.__version__ == "5.24.0" and torch.__version__.startswith("2.13.0")
rng = np.random.default_rng(6)
module = types.SimpleNamespace()
module.get_rel_pos = types.MethodType(SamVisionAttention.get_rel_pos, module)
WIDTH = 5


def case(name, keys, queries=None, rows=None, prefix=0, scale=None):
    queries = queries or keys
    lengths = rows or [2 * max(a, b) - 1 for a, b in zip(queries, keys)]
    table_h, table_w = [rng.standard_normal((n, WIDTH)) for n in lengths]
    nq, nk = queries[0] * queries[1] + prefix, keys[0] * keys[1] + prefix
    q, k, v = qkv(rng, 2, 2, nq, nk, WIDTH)
    places = torch.from_numpy(q[:, :, prefix:].reshape(4, nq - prefix, WIDTH))
    added = SamVisionAttention.get_decomposed_rel_pos(module, places, torch.from_numpy(table_h),
                                                      torch.from_numpy(table_w), queries, keys)
    scores = (scale or WIDTH ** -0.5) * q @ k.transpose(0, 1, 3, 2)
    scores[:, :, prefix:, prefix:] += added.numpy().reshape(2, 2, nq - prefix, nk - prefix)
    weights, lse = softmax(scores)
    extra = {} if queries == keys else {"q_grid": np.array([*queries, prefix], np.int64)}
    save("decomposed/" + name, q=q, k=k, v=v, out=weights @ v, lse=lse, rel_pos_h=table_h, rel_pos_w=table_w,
         grid=np.array([*keys, prefix], np.int64), **extra)


case("same", (3, 4))
case("row", (1, 5))
case("class_token", (2, 3), prefix=1)
case("pooled_keys", (2, 2), (4, 6))
case("pooled_queries", (4, 6), (2, 3))
case("resampled", (3, 4), rows=(9, 5))
case("scaled", (3, 2), scale=0.125)
