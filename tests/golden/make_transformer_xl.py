#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/transformer_xl/: XLNetRelativeAttention of transformers (its rel_attn_core and
relative_positional_encoding) in float64, and RelPartialLearnableMultiHeadAttn of kimiyoung/transformer-xl
(pytorch/mem_transformer.py) transcribed in numpy, with its _rel_shift, under the causal mask it needs.

Made with torch 2.13.0, transformers 5.24.0, numpy 2.x: python3 tests/golden/make_transformer_xl.py
"""
import numpy as np
import torch
import transformers
from transformers import XLNetConfig
from transformers.models.xlnet import modeling_xlnet

from attention import causal, save, softmax

assert transformers.__version__ == "5.24.0" and torch.__version__.startswith("2.13.0")
HEADS, WIDTH = 2, 4
DIM = HEADS * WIDTH


def sinusoid(positions):
    angles = np.outer(positions, 10000 ** (-np.arange(0, DIM, 2) / DIM))
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)


def rel_shift(x):
    """(qlen, klen, …): pad a column, read it as (klen + 1, qlen), drop the first row."""
    padded = np.concatenate([np.zeros((x.shape[0], 1) + x.shape[2:]), x], axis=1)
    return padded.reshape((x.shape[1] + 1, x.shape[0]) + x.shape[2:])[1:].reshape(x.shape)


def transformer_xl(name, queries, keys, seed, clamp_len=0):
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((queries, 2, HEADS, WIDTH))
    k, v = rng.standard_normal((2, keys, 2, HEADS, WIDTH))
    r_net, r_w_bias, r_r_bias = rng.standard_normal((DIM, DIM)), *rng.standard_normal((2, HEADS, WIDTH))
    positions = np.arange(keys - 1, -1, -1.0)
    if clamp_len > 0:
        positions = np.minimum(positions, clamp_len)
    r = (sinusoid(positions) @ r_net.T).reshape(keys, HEADS, WIDTH)
    ac = np.einsum("ibnd,jbnd->ijbn", q + r_w_bias, k)
    bd = rel_shift(np.einsum("ibnd,jnd->ijbn", q + r_r_bias, r))
    scores = ((ac + bd) / WIDTH ** 0.5).transpose(2, 3, 0, 1)
    weights, lse = softmax(scores, causal(queries, keys))
    q, k, v = (x.transpose(1, 2, 0, 3) for x in (q, k, v))
    save("transformer_xl/" + name, **{"q": q, "k": k, "v": v, "out": weights @ v, "lse": lse,
                                      "r_net.weight": r_net, "r_w_bias": r_w_bias, "r_r_bias": r_r_bias})


def xlnet(name, queries, keys, seed, clamp_len=-1):
    config = XLNetConfig(d_model=DIM, n_head=HEADS, d_inner=4, n_layer=1, vocab_size=5, clamp_len=clamp_len)
    torch.manual_seed(seed)
    model = modeling_xlnet.XLNetModel(config)
    module = modeling_xlnet.XLNetRelativeAttention(config).double().eval()
    for p in module.parameters():
        torch.nn.init.normal_(p)
    q = torch.randn(queries, 1, HEADS, WIDTH).double()
    k, v = torch.randn(2, keys, 1, HEADS, WIDTH).double()
    with torch.no_grad():
        r = torch.from_numpy(sinusoid(np.clip(np.arange(keys, -queries, -1.0), *((-clamp_len, clamp_len)
                             if clamp_len > 0 else (-np.inf, np.inf)))))[:, None]
        theirs = model.relative_positional_encoding(queries, keys, bsz=1)
        assert theirs.shape == r.shape and (theirs - r).abs().max() < 1e-6
        out = module.rel_attn_core(q, k, v, torch.einsum("ibh,hnd->ibnd", r, module.r))
    save("transformer_xl/" + name, **{key: value.detach().numpy() for key, value in {
        "q": q.permute(1, 2, 0, 3), "k": k.permute(1, 2, 0, 3), "v": v.permute(1, 2, 0, 3),
        "out": out.permute(1, 2, 0, 3), "r": module.r, "r_w_bias": module.r_w_bias,
        "r_r_bias": module.r_r_bias}.items()})


transformer_xl("square", 6, 6, 1)
transformer_xl("memory", 4, 9, 2)
transformer_xl("clamped", 4, 9, 3, clamp_len=3)
xlnet("xlnet", 7, 7, 4)
xlnet("xlnet_memory", 3, 8, 5)
xlnet("xlnet_clamped", 7, 7, 6, clamp_len=2)
