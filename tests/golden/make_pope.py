#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/pope/: queries and keys by x-transformers' PolarEmbedding in f32, with a delta that is partly
outside of [-2 pi, 0]; and attention of them in float64, of the last 5 of 9 tokens, causal, and with key heads that
two query heads share.

Made with torch 2.13.0, x-transformers 2.31.10, numpy 2.4.6. Run: python3 tests/golden/make_pope.py
"""
import importlib.metadata

import numpy as np
import torch
import x_transformers.x_transformers as xt

from attention import causal, qkv, repeat, save, softmax

for package, version in (("torch", "2.13.0"), ("x-transformers", "2.31.10"), ("numpy", "2.4.6")):
    assert importlib.metadata.version(package).split("+")[0] == version, package

KEYS, QUERIES, DIM = 9, 5, 7
rng = np.random.default_rng(12)


def case(name, heads, key_heads):
    q, k, v = qkv(rng, 2, heads, QUERIES, KEYS, DIM, 3, key_heads)
    q, k = 3 * q, 3 * k
    polar = xt.PolarEmbedding(DIM, key_heads)
    delta = rng.uniform(-8, 1, (key_heads, DIM)).astype(np.float32)
    with torch.no_grad():
        polar.learned_bias.copy_(torch.from_numpy(delta)[:, None])
        freqs, bias = polar(torch.arange(KEYS))
        pq = xt.apply_polar_pos_emb(torch.from_numpy(q), freqs).numpy()
        pk = xt.apply_polar_pos_emb(torch.from_numpy(k), freqs + bias).numpy()
    scores = np.einsum("bhid,bhjd->bhij", pq.astype(float), repeat(pk.astype(float), heads)) / DIM ** 0.5
    weights, lse = softmax(scores, causal(QUERIES, KEYS))
    save("pope/" + name, q=q, k=k, v=v, delta=delta, polar_q=pq.astype(np.float32), polar_k=pk.astype(np.float32),
         out=weights @ repeat(v, heads), lse=lse)


case("heads", 2, 2)
case("shared", 4, 2)
