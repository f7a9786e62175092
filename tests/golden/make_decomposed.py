#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/decomposed/: attention with SAM's decomposed relative positions, the added scores by
transformers' SamVisionAttention.get_decomposed_rel_pos in float64, which resamples tables too; with a class token
as MViTv2, whose pairs get nothing. mvit_*: by timm's cal_rel_pos_type of mvitv2.py, with queries and keys pooled
to grids of their own and a class token in both.

Made with transformers 5.24.0, timm 1.0.31, torch 2.13.0, numpy 2.4.6: python3 tests/golden/make_decomposed.py
"""
import importlib.metadata
import importlib.util
import os
import re
import types
from typing import List

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


def cut(name):
    """A function of timm's mvitv2.py; the module as a whole imports torchvision."""
    assert importlib.metadata.version("timm") == "1.0.31"
    with open(os.path.join(os.path.dirname(importlib.util.find_spec("timm").origin), "models/mvitv2.py")) as f:
        found = re.search(r"^def " + name + r"\(.*?(?=^\S(?!:))", f.read().replace("\n):", "\n  ):"), re.S | re.M)
    scope = dict(torch=torch, List=List)
    exec(found.group(0), scope)
    return scope[name]


def mvit(name, queries, keys):
    own = np.random.default_rng(len(name))
    table_h, table_w = [own.standard_normal((2 * max(a, b) - 1, WIDTH)) for a, b in zip(queries, keys)]
    nq, nk = queries[0] * queries[1] + 1, keys[0] * keys[1] + 1
    q, k, v = qkv(own, 2, 2, nq, nk, WIDTH)
    scores = torch.from_numpy(WIDTH ** -0.5 * q @ k.transpose(0, 1, 3, 2))
    scores = cut("cal_rel_pos_type")(scores, torch.from_numpy(q), True, queries, keys, torch.from_numpy(table_h),
                                     torch.from_numpy(table_w)).numpy()
    weights, lse = softmax(scores)
    save("decomposed/" + name, q=q, k=k, v=v, out=weights @ v, lse=lse, rel_pos_h=table_h, rel_pos_w=table_w,
         grid=np.array([*keys, 1], np.int64), q_grid=np.array([*queries, 1], np.int64))


mvit("mvit_larger", (4, 6), (2, 3))
mvit("mvit_smaller", (2, 3), (4, 6))
mvit("mvit_mixed", (6, 2), (4, 5))
