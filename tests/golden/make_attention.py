#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/attention/: outputs of torch's scaled_dot_product_attention in float64 (masks, grouped heads,
causality by causal_lower_right and is_causal), and what it lacks (softcap, sinks, windows, log-sum-exp) by torch's
own softmax over a column more, tanh and logsumexp.

Made with torch 2.13.0: python3 tests/golden/make_attention.py
"""
import torch
import torch.nn.functional as F

from attention import save

assert torch.__version__.startswith("2.13.0")
torch.set_default_dtype(torch.float64)


def qkv(seed, queries, keys, heads=4, key_heads=4, width=6, value_width=5):
    torch.manual_seed(seed)
    return (torch.randn(2, heads, queries, width), torch.randn(2, key_heads, keys, width),
            torch.randn(2, key_heads, keys, value_width))


def write(name, q, k, v, out, **others):
    save("attention/" + name, **{key: x.numpy() for key, x in dict(q=q, k=k, v=v, out=out, **others).items()})


def scores(q, k):
    k = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
    return q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5


q, k, v = qkv(1, 5, 7)
write("plain", q, k, v, F.scaled_dot_product_attention(q, k, v), lse=torch.logsumexp(scores(q, k), -1))
write("scale", q, k, v, F.scaled_dot_product_attention(q, k, v, scale=0.75))
mask = torch.rand(2, 1, 5, 7) > 0.4
mask[..., 0] = True
write("bool_mask", q, k, v, F.scaled_dot_product_attention(q, k, v, attn_mask=mask), mask=mask)
added = torch.randn(4, 5, 7).masked_fill(torch.rand(4, 5, 7) > 0.8, -torch.inf)
write("float_mask", q, k, v, F.scaled_dot_product_attention(q, k, v, attn_mask=added), mask=added,
      lse=torch.logsumexp(scores(q, k) + added, -1))
last = torch.ones(5, 7, dtype=torch.bool).tril(2)
write("causal_last", q, k, v, F.scaled_dot_product_attention(q, k, v, attn_mask=last),
      lse=torch.logsumexp(scores(q, k).masked_fill(~last, -torch.inf), -1))
write("causal_first", q, k, v, F.scaled_dot_product_attention(q, k, v, is_causal=True),
      q_positions=torch.arange(5), k_positions=torch.arange(7))
i, j = torch.arange(5)[:, None] + 2, torch.arange(7)[None, :]
window = (j >= i - 2) & (j <= i + 1)
write("window", q, k, v, F.scaled_dot_product_attention(q, k, v, attn_mask=window))
capped = 1.5 * torch.tanh(scores(q, k) / 1.5) + added
write("softcap", q, k, v, torch.softmax(capped, -1) @ v, mask=added, lse=torch.logsumexp(capped, -1))
sinks = torch.randn(4)
wider = torch.cat((scores(q, k), sinks.view(1, 4, 1, 1).expand(2, 4, 5, 1)), -1)
write("sinks", q, k, v, torch.softmax(wider, -1)[..., :7] @ v, sinks=sinks, lse=torch.logsumexp(wider, -1))

q, k, v = qkv(2, 7, 4, 6, 2)
write("grouped", q, k, v, F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
      lse=torch.logsumexp(scores(q, k), -1))
lengths = torch.tensor([4, 1])
seen = (torch.arange(4)[None, :] < lengths[:, None])[:, None, None, :]
write("lengths", q, k, v, F.scaled_dot_product_attention(q, k, v, attn_mask=seen, enable_gqa=True),
      key_lengths=lengths)
# More queries than keys: the first three see none.
last = torch.ones(7, 4, dtype=torch.bool).tril(-3)
out = F.scaled_dot_product_attention(q[:, :, 3:], k, v, attn_mask=last[3:], enable_gqa=True)
write("causal_long", q, k, v, torch.cat((torch.zeros(2, 6, 3, 5), out), 2),
      lse=torch.logsumexp(scores(q, k).masked_fill(~last, -torch.inf), -1))
