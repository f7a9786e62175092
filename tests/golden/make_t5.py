#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/t5/t5.npz: buckets and biases by T5Attention of transformers (_relative_position_bucket and
compute_bias), with random tables; and the buckets of all distances up to 2 max_distance for many settings.

Made with transformers 5.24.0, torch 2.13.0, numpy. Run from the source root with a Python that has them.
"""
import os

import numpy as np
import torch
import transformers
from transformers.models.t5.modeling_t5 import T5Attention, T5Config

assert transformers.__version__ == "5.24.0" and torch.__version__.startswith("2.13.0")
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "t5", "t5.npz")
arrays = {}


def bias(name, heads, buckets, max_distance, decoder, queries, keys):
    torch.manual_seed(len(arrays))
    config = T5Config(num_heads=heads, d_model=heads * 64, relative_attention_num_buckets=buckets,
                      relative_attention_max_distance=max_distance, is_decoder=decoder)
    attention = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    values = attention.compute_bias(queries, keys, past_seen_tokens=keys - queries)[0]
    arrays[name + ".relative_attention_bias"] = attention.relative_attention_bias.weight.detach().numpy()
    arrays[name + ".keys"] = np.arange(keys, dtype=np.float64)
    arrays[name + ".queries"] = np.arange(keys - queries, keys, dtype=np.float64)
    arrays[name + ".out.bias"] = values.detach().numpy().astype(np.float64)


def buckets(name, count, max_distance, decoder):
    """Keys at -2 max_distance … 2 max_distance against one query at 0."""
    keys = torch.arange(-2 * max_distance, 2 * max_distance + 1)
    found = T5Attention._relative_position_bucket(keys[None, :], bidirectional=not decoder, num_buckets=count,
                                                  max_distance=max_distance)
    arrays[name + ".relative_attention_bias"] = np.zeros((count, 1))
    arrays[name + ".keys"] = keys.numpy().astype(np.int32)
    arrays[name + ".queries"] = np.zeros(1, np.int32)
    arrays[name + ".out.buckets"] = found.numpy().astype(np.int32)


bias("encoder", 3, 32, 128, False, 40, 40)
bias("decoder", 2, 32, 128, True, 40, 40)
bias("last", 2, 16, 20, True, 2, 50)
bias("wide", 1, 8, 20, False, 3, 45)
for n, d in [(32, 128), (16, 128), (32, 256), (16, 64), (8, 20), (64, 2048), (32, 20), (12, 128), (6, 9)]:
    for decoder in (False, True):
        if d > (n if decoder else n // 2) // 2:
            buckets("%d_%d_%s" % (n, d, "causal" if decoder else "bidirectional"), n, d, decoder)
np.savez_compressed(OUT, **arrays)
print(os.path.getsize(OUT))
