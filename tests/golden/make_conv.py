#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/conv/*.npz: features before and after x + Wav2Vec2PositionalConvEmbedding(x)
(transformers), f64, and the same convolution of torch with other paddings.

Made with torch 2.13.0, transformers 5.24.0, numpy 2.4.6. Run from the source root:
python3 tests/golden/make_conv.py
"""
import os
from importlib.metadata import version

import numpy as np
import torch
from transformers import Wav2Vec2Config
from transformers.models.wav2vec2.modeling_wav2vec2 import Wav2Vec2PositionalConvEmbedding

assert version("torch").startswith("2.13.0") and version("transformers") == "5.24.0"
assert np.__version__ == "2.4.6"
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "conv")
torch.manual_seed(0)
torch.set_default_dtype(torch.float64)


def save(name, **arrays):
    np.savez_compressed(os.path.join(OUT, name + ".npz"), **{k: v.detach().numpy() for k, v in arrays.items()})


for name, dim, kernel, groups, length in (("even", 8, 6, 2, 11), ("odd", 6, 5, 3, 9), ("longer", 4, 16, 1, 5)):
    conv = Wav2Vec2PositionalConvEmbedding(Wav2Vec2Config(
        hidden_size=dim, num_conv_pos_embeddings=kernel, num_conv_pos_embedding_groups=groups))
    g, v = conv.conv.parametrizations.weight.original0, conv.conv.parametrizations.weight.original1
    torch.nn.init.uniform_(g, 0.5, 2)
    torch.nn.init.normal_(conv.conv.bias)
    x = torch.randn(2, length, dim)
    names = {"parametrizations.weight.original0": g, "parametrizations.weight.original1": v}
    if name == "odd":
        names = {"weight_g": g, "weight_v": v}
    if name == "longer":
        names = {"weight": conv.conv.weight}
    save(name, x=x, bias=conv.conv.bias, y=x + conv(x), **names)

for mode in ("reflect", "circular", "none"):
    kernel, length = 6, 10
    conv = torch.nn.Conv1d(4, 4, kernel, groups=2, padding=0 if mode == "none" else kernel // 2,
                           padding_mode="zeros" if mode == "none" else mode)
    x = torch.randn(1, length, 4)
    z = conv(x.transpose(1, 2)).transpose(1, 2)
    if mode == "none":
        y = x[:, kernel // 2:kernel // 2 + z.shape[1]] + torch.nn.functional.gelu(z)
    else:
        y = x + torch.nn.functional.gelu(z[:, :-1])
    save(mode, x=x, weight=conv.weight, bias=conv.bias, y=y)
