#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/cope/: class CoPE of x-transformers in float64, inside attention as that library has it: after
scale and causal mask, before the softmax.

Made with torch 2.13.0, x-transformers 2.31.10: python3 tests/golden/make_cope.py
"""
from importlib.metadata import version

import torch
from x_transformers.x_transformers import CoPE

from attention import save

assert version("x-transformers") == "2.31.10"
torch.set_default_dtype(torch.float64)


def case(name, queries, keys, positions, seed, causal=True, spread=1.0, scaled=False, lengths=None):
    torch.manual_seed(seed)
    cope = CoPE(dim=5, heads=2, max_pos=positions)
    torch.nn.init.normal_(cope.pos_emb)
    q, k, v = (torch.randn(2, 2, n, 5) for n in (queries, keys, keys))
    logits = q @ k.transpose(-1, -2) * 5 ** -0.5 * spread
    seen = torch.ones(2, 1, queries, keys, dtype=torch.bool)
    if causal:
        seen = seen.tril(keys - queries)
    arrays = {}
    if lengths:
        seen &= (torch.arange(keys)[None, :] < torch.tensor(lengths)[:, None])[:, None, None, :]
        arrays["key_lengths"] = torch.tensor(lengths)
    most = -torch.finfo(logits.dtype).max
    logits = logits.masked_fill(~seen, most)
    with torch.no_grad():
        logits = (logits + cope(q * 5 ** -0.5 if scaled else q, logits)).masked_fill(~seen, -torch.inf)
    arrays |= dict(q=q, k=k * spread, v=v, out=torch.softmax(logits, -1) @ v, lse=torch.logsumexp(logits, -1),
                   pos_emb=cope.pos_emb.detach())
    save("cope/" + name, **{key: value.numpy() for key, value in arrays.items()})


case("causal", 9, 9, 4, 1)              # positions reach the last row
case("many_rows", 9, 9, 16, 2)
case("whole_gates", 9, 9, 16, 3, spread=400.0)  # gates of 0 and 1
case("last_queries", 3, 9, 6, 4)
case("bidirectional", 6, 6, 6, 5, causal=False)
case("lengths", 6, 6, 6, 6, causal=False, lengths=[4, 6])
case("scaled", 6, 6, 6, 7, scaled=True)
case("one_row", 4, 4, 1, 8)
