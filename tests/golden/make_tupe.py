#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/tupe/tupe.npz: the biases of TUPE's encoder (fairseq/modules/transformer_sentence_encoder.py)
with torch modules of its names, f64, its steps and assignments in their order. Positions may leave some out, as
after packing: rows of the full matrix are then picked.

Made with torch 2.13.0, numpy. Run from the source root with a Python that has them.
"""
import math
import os

import numpy as np
import torch
from torch import nn

assert torch.__version__.startswith("2.13.0")
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tupe", "tupe.npz")
arrays = {}


def relative_position_bucket(relative_position, num_buckets, max_distance):
    n = -relative_position
    num_buckets //= 2
    ret = (n < 0).to(torch.long) * num_buckets
    n = torch.abs(n)
    max_exact = num_buckets // 2
    large = max_exact + (torch.log(n.float() / max_exact) / math.log(max_distance / max_exact)
                         * (num_buckets - max_exact)).to(torch.long)
    large = torch.min(large, torch.full_like(large, num_buckets - 1))
    return ret + torch.where(n < max_exact, n, large)


class Positions(nn.Module):
    def __init__(self, dim, heads, max_seq_len, bins, max_rel_pos):
        super().__init__()
        self.heads, self.bins, self.max_rel_pos = heads, bins, max_rel_pos
        self.pos = nn.Embedding(max_seq_len + 1, dim)
        self.pos_proj = nn.Linear(dim, dim * 2)
        self.pos_scaling = float(dim / heads * 2) ** -0.5
        self.pos_ln = nn.LayerNorm(dim)
        if bins:
            self.relative_attention_bias = nn.Embedding(bins + 1, heads)

    def forward(self, seq_len, cls):
        weight = self.pos_ln(self.pos.weight[:seq_len + 1, :])
        pos_q, pos_k = self.pos_proj(weight).reshape(seq_len + 1, 2, self.heads, -1).permute(1, 2, 0, 3)
        bias = torch.bmm(pos_q * self.pos_scaling, pos_k.transpose(1, 2))
        cls_2_other, other_2_cls = bias[:, 0, 0].clone(), bias[:, 1, 1].clone()
        bias = bias[:, 1:, 1:]
        if cls:
            bias[:, :, 0] = other_2_cls.view(-1, 1)
            bias[:, 0, :] = cls_2_other.view(-1, 1)
        if self.bins:
            index = torch.arange(seq_len)
            bucket = relative_position_bucket(index[None, :] - index[:, None], self.bins, self.max_rel_pos)
            if cls:
                bucket[:, 0] = self.bins
                bucket[0, :] = self.bins // 2
            bias = bias + self.relative_attention_bias(bucket).permute(2, 0, 1)
        return bias


def case(name, dim, heads, max_seq_len, keys, queries, bins=0, max_rel_pos=20, cls=True):
    torch.manual_seed(len(arrays))
    module = Positions(dim, heads, max_seq_len, bins, max_rel_pos).double()
    with torch.no_grad():
        module.pos_ln.weight.normal_(1, 0.3)
        module.pos_ln.bias.normal_(0, 0.3)
        full = module(max_seq_len, cls).numpy()
    arrays.update({name + "." + k: v.detach().numpy() for k, v in module.named_parameters()})
    arrays.update({name + ".keys": np.array(keys, np.int32), name + ".queries": np.array(queries, np.int32),
                   name + ".out.bias": full[:, queries][:, :, keys].copy()})


case("absolute", 12, 3, 30, range(30), range(30))
case("relative", 8, 2, 30, range(30), range(30), bins=8)
case("whole", 8, 2, 20, range(20), [17, 0, 5], bins=16, cls=False)
case("packed", 8, 2, 40, [0, 1, 2, 3, 0, 1, 2, 39, 7], [0, 2, 38], bins=8)
np.savez_compressed(OUT, **arrays)
print(os.path.getsize(OUT))
