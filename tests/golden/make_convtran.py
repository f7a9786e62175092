#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/erpe/ and tests/golden/tape/: the formulas of ConvTran's AbsolutePositionalEncoding.py (tAPE)
and Attention.py (Attention_Rel_Scl) in torch float64; the bias by the index construction of that code: flattened
relative coordinates of a 1 x L grid, gathered from the table.

Made with torch 2.13.0, numpy 2.x: python3 tests/golden/make_convtran.py
"""
import math

import numpy as np
import torch

from attention import save

assert torch.__version__.startswith("2.13.0")
torch.set_default_dtype(torch.float64)


def tape(dim, length, scale):
    pe = torch.zeros(length, dim)
    position = torch.arange(0, length).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
    pe[:, 0::2] = torch.sin((position * div_term) * (dim / length))
    pe[:, 1::2] = torch.cos((position * div_term) * (dim / length))
    return scale * pe


save("tape/table", even=tape(8, 16, 1.0).numpy(), scaled=tape(6, 50, 0.5).numpy())


def relative_index(length):
    coords = torch.flatten(torch.stack(torch.meshgrid(torch.arange(1), torch.arange(length), indexing="ij")), 1)
    relative = coords[:, :, None] - coords[:, None, :]
    relative[1] += length - 1
    return relative.permute(1, 2, 0).sum(-1).flatten().unsqueeze(1)


def attend(q, k, v, table, seen=None):
    heads, length, dim = q.shape[1], q.shape[2], q.shape[1] * q.shape[3]
    weights = torch.matmul(q, k.transpose(-2, -1)) * dim ** -0.5
    if seen is not None:
        weights = weights.masked_fill(~seen, -torch.inf)
    weights = torch.softmax(weights, dim=-1)
    bias = table.gather(0, relative_index(length).repeat(1, heads)).view(length, length, heads).permute(2, 0, 1)
    bias = bias.unsqueeze(0)
    if seen is not None:
        bias = bias.masked_fill(~seen, 0)
    return torch.matmul(weights + bias, v), bias[0]


torch.manual_seed(3)
q, k, v = (torch.randn(2, 3, 7, 4) for _ in range(3))
table = torch.randn(13, 3)
out, bias = attend(q, k, v, table)
save("erpe/whole", q=q.numpy(), k=k.numpy(), v=v.numpy(), out=out.numpy(), relative_bias_table=table.numpy(),
     bias=bias.numpy())
# The last 3 queries, causal: rows of the whole.
out, _ = attend(q, k, v, table, torch.ones(7, 7, dtype=torch.bool).tril())
save("erpe/last_queries", q=q[:, :, 4:].numpy(), k=k.numpy(), v=v.numpy(), out=out[:, :, 4:].numpy(),
     relative_bias_table=table.numpy())
