#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/dape/: DAPE (Linear) and DAPE V2 (Conv2d, zero padding, tril of the input) by torch's own
layers in float64, put together as in positional_embeddings.py of the authors' code, over ALiBi's bias.

Made with torch 2.13.0: python3 tests/golden/make_dape.py
"""
import torch

from attention import save

assert torch.__version__.startswith("2.13.0")
torch.set_default_dtype(torch.float64)
HEADS, WIDTH = 2, 5


def alibi(length):
    """slopes of 2 heads: 2^-4, 2^-8; the code's tril leaves zeros after the query"""
    distance = torch.arange(length)[:, None] - torch.arange(length)[None, :]
    return -distance.clamp(min=0) * torch.tensor([2.0 ** -4, 2.0 ** -8]).view(2, 1, 1)


def bidirectional_alibi(length):
    distance = torch.arange(length)[:, None] - torch.arange(length)[None, :]
    return -distance.abs() * torch.tensor([2.0 ** -4, 2.0 ** -8]).view(2, 1, 1)


def layers(version, kernel, inputs):
    if version == 1:
        return torch.nn.Sequential(torch.nn.Linear(inputs, WIDTH), torch.nn.LeakyReLU(),
                                   torch.nn.Linear(WIDTH, HEADS))
    conv = lambda i, o: torch.nn.Conv2d(i, o, (1, kernel), (1, 1), (0, kernel // 2), (1, 1))
    return torch.nn.Sequential(conv(inputs, WIDTH), torch.nn.LeakyReLU(), conv(WIDTH, HEADS))


def case(name, version, kernel=1, length=9, causal=True, logits_only=False, later=0, keep=None):
    """later: keys that come after, so that the convolutions see masked keys there; their rows are dropped."""
    torch.manual_seed(7 + version + kernel)
    mlp2 = layers(version, kernel, HEADS if logits_only else 2 * HEADS)
    q, k, v = (torch.randn(2, HEADS, length + later, 4) for _ in range(3))
    bias = alibi(length + later) if causal else bidirectional_alibi(length + later)
    x = q @ k.transpose(-1, -2) * 0.5
    both = x if logits_only else torch.cat((x, torch.tile(bias, (x.shape[0], 1, 1, 1))), dim=1)
    if version == 1:
        mapped = mlp2(both.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
    else:
        mapped = mlp2(torch.tril(both) if causal else both)
    scores = x + (0 if logits_only else bias) + mapped
    if causal:
        scores = scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril(), -torch.inf)
    out, lse = torch.softmax(scores, -1) @ v, torch.logsumexp(scores, -1)
    rows = slice(length - keep if keep else 0, length)
    arrays = dict(q=q[:, :, rows], k=k[:, :, :length], v=v[:, :, :length], out=out[:, :, rows], lse=lse[:, :, rows])
    arrays |= {"mlp2." + key: value for key, value in mlp2.state_dict().items()}
    save("dape/" + name, **{key: value.detach().numpy() for key, value in arrays.items()})


case("v1", 1)
case("v1_bidirectional", 1, causal=False)
case("v1_logits", 1, logits_only=True)
case("v1_decode", 1, keep=1)
case("v2_published", 2, 3)
case("v2_wide", 2, 5)
case("v2_bidirectional", 2, 3, causal=False)
case("v2_causal", 2, 3, later=4)
case("v2_decode", 2, 3, later=4, keep=1)
case("v2_wide_decode", 2, 5, later=4, keep=2)
