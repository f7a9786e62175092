#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/shaw/: relative keys and values after Shaw et al., transcribed in float64 from
tensor2tensor's common_attention.py (_generate_relative_positions_matrix, _relative_attention_inner,
dot_product_attention_relative), and the scores of transformers' Wav2Vec2-BERT with
position_embeddings_type="relative_key".

Made with numpy 2.x, torch 2.13.0, transformers 5.24.0: python3 tests/golden/make_shaw.py
"""
import types

import numpy as np
import torch
import transformers
from transformers.models.wav2vec2_bert import modeling_wav2vec2_bert as w2v

from attention import causal, qkv, repeat, save, softmax

assert transformers.__version__ == "5.24.0"


def relative_positions(queries, keys, limit):
    """The queries are the last of the keys."""
    range_k = np.arange(keys)
    range_q = range_k[-queries:]
    return np.clip(range_k[None, :] - range_q[:, None], -limit, limit) + limit


def inner(x, y, z, transpose):
    """_relative_attention_inner: x (b, h, l, ·), y (b, h, ·, ·), z (l, l', d) or (h, l, l', d)."""
    xy = x @ (y.swapaxes(-1, -2) if transpose else y)
    if z.ndim == 3:
        z = np.broadcast_to(z, (x.shape[1],) + z.shape)
    return xy + np.einsum("bhqd,hqkd->bhqk" if transpose else "bhqk,hqkd->bhqd", x, z)


def attend(q, k, v, table_k, table_v, limit, seen=None, index=None):
    k, v = repeat(k, q.shape[1]), repeat(v, q.shape[1])
    index = relative_positions(q.shape[2], k.shape[2], limit) if index is None else index
    zeros = np.zeros(index.shape + (1,))
    logits = inner(q * q.shape[-1] ** -0.5, k, zeros if table_k is None else table_k[..., index, :], True)
    weights, lse = softmax(logits, seen)
    return inner(weights, v, zeros if table_v is None else table_v[..., index, :], False), lse


rng = np.random.default_rng(1)
LIMIT = 3

q, k, v = qkv(rng, 2, 2, 9, 9, 6, 5)
table_k, table_v = rng.standard_normal((7, 6)), rng.standard_normal((7, 5))
out, lse = attend(q, k, v, table_k, table_v, LIMIT)
save("shaw/shared", q=q, k=k, v=v, out=out, lse=lse, relative_positions_keys=table_k,
     relative_positions_values=table_v)

q, k, v = qkv(rng, 1, 4, 4, 9, 6, key_heads=2)
table_k, table_v = rng.standard_normal((4, 7, 6)), rng.standard_normal((4, 7, 6))
out, lse = attend(q, k, v, table_k, table_v, LIMIT, causal(4, 9))
save("shaw/per_head_causal_last_queries", q=q, k=k, v=v, out=out, lse=lse, relative_positions_keys=table_k,
     relative_positions_values=table_v)

q, k, v = qkv(rng, 1, 2, 4, 4, 6)
table_v = rng.standard_normal((7, 6))
out, lse = attend(q, k, v, None, table_v, LIMIT)
save("shaw/values_only", q=q, k=k, v=v, out=out, lse=lse, relative_positions_values=table_v)

# Positions that are real, negative, and different in each batch: distances are rounded, halves away from 0.
q, k, v = qkv(rng, 2, 1, 3, 4, 6)
k_positions = np.array([[-7.25, -5, 0, 0.5], [100, 101, 103, 1e9]])
q_positions = np.array([[-6, 0, 3], [100, 102, 102.5]])
distance = k_positions[:, None, :] - q_positions[:, :, None]
index = np.clip(np.sign(distance) * np.floor(np.abs(distance) + 0.5), -LIMIT, LIMIT).astype(int) + LIMIT
table_k, table_v = rng.standard_normal((7, 6)), rng.standard_normal((7, 6))
parts = [attend(q[b:b + 1], k[b:b + 1], v[b:b + 1], table_k, table_v, LIMIT, index=index[b]) for b in range(2)]
save("shaw/real_positions", q=q, k=k, v=v, out=np.concatenate([p[0] for p in parts]),
     lse=np.concatenate([p[1] for p in parts]), k_positions=k_positions, q_positions=q_positions,
     relative_positions_keys=table_k, relative_positions_values=table_v)

# transformers: scores by its own function.
q, k, v = qkv(rng, 2, 3, 11, 11, 8)
embedding = torch.nn.Embedding(2 * LIMIT + 1, 8, dtype=torch.float64)
torch.manual_seed(2)
torch.nn.init.normal_(embedding.weight)
module = types.SimpleNamespace(left_max_position_embeddings=LIMIT, right_max_position_embeddings=LIMIT,
                               distance_embedding=embedding, scaling=8 ** -0.5)
with torch.no_grad():
    _, bias = w2v._apply_relative_key_position_encoding(module, torch.from_numpy(q), torch.from_numpy(k))
    scores = torch.from_numpy(q) @ torch.from_numpy(k).transpose(-1, -2) * module.scaling + bias
    out = torch.softmax(scores, -1) @ torch.from_numpy(v)
save("shaw/wav2vec2_bert", q=q, k=k, v=v, out=out.numpy(), lse=torch.logsumexp(scores, -1).numpy(),
     relative_positions_keys=embedding.weight.detach().numpy())
