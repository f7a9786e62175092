#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/xpos/: q and k turned and scaled in f32 by x-transformers' RotaryEmbedding(use_xpos) and by
rotary-embedding-torch, both about the middle of 13 positions; and the causal attention of the first, in float64.

Made with torch 2.13.0, rotary-embedding-torch 0.9.1, x-transformers 2.31.10, numpy 2.4.6.
Run: python3 tests/golden/make_xpos.py
"""
import importlib.metadata

import numpy as np
import torch
import x_transformers.x_transformers as xt
from rotary_embedding_torch import RotaryEmbedding

from attention import causal, qkv, save, softmax

for package, version in (("torch", "2.13.0"), ("rotary-embedding-torch", "0.9.1"), ("x-transformers", "2.31.10"),
                         ("numpy", "2.4.6")):
    assert importlib.metadata.version(package).split("+")[0] == version, package

TOKENS, DIM, SCALE_BASE = 13, 8, 4
rng = np.random.default_rng(11)
q, k, v = qkv(rng, 1, 2, TOKENS, TOKENS, DIM)
tq, tk = (torch.from_numpy(x.astype(np.float32)) for x in (q, k))
freqs, scale = xt.RotaryEmbedding(DIM, use_xpos=True, scale_base=SCALE_BASE)(torch.arange(TOKENS))
xq, xk = xt.apply_rotary_pos_emb(tq, freqs, scale), xt.apply_rotary_pos_emb(tk, freqs, scale ** -1)
with torch.no_grad():
    rq, rk = RotaryEmbedding(DIM, use_xpos=True, xpos_scale_base=SCALE_BASE).rotate_queries_and_keys(tq, tk)
save("xpos/turned", q=q, k=k, x_transformers_q=xq.numpy(), x_transformers_k=xk.numpy(),
     rotary_embedding_torch_q=rq.numpy(), rotary_embedding_torch_k=rk.numpy(),
     scale=scale[0, :, ::2].numpy())
weights, lse = softmax(np.einsum("bhid,bhjd->bhij", xq.numpy().astype(float), xk.numpy().astype(float)) / DIM ** 0.5,
                       causal(TOKENS, TOKENS))
save("xpos/causal", q=q, k=k, v=v, out=weights @ v, lse=lse)
