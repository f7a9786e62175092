#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/peg/*.npz: tokens before and after depthwise convolutions of torch, f64, and one of
14 x 14 x 768 whose features the test makes by itself: some tokens of y and, of each, the sum.

Made with torch 2.13.0, numpy 2.4.6. Run from the source root: python3 tests/golden/make_peg.py
"""
import numpy as np
import torch

from attention import save

assert torch.__version__.startswith("2.13.0") and np.__version__ == "2.4.6"
torch.manual_seed(0)
torch.set_default_dtype(torch.float64)


def case(name, grid, channels, kernel, prefix=0, batch=2, mode="zeros", stride=1, bias=True, residual=True):
    conv = torch.nn.Conv2d(channels, channels, kernel, stride=stride, padding=kernel // 2, groups=channels,
                           padding_mode=mode, bias=bias)
    x = torch.randn(batch, prefix + grid[0] * grid[1], channels)
    feature = x[:, prefix:].transpose(1, 2).reshape(batch, channels, *grid)
    y = conv(feature) + (feature if residual else 0)
    y = torch.cat([x[:, :prefix], y.flatten(2).transpose(1, 2)], 1)
    arrays = {"bias": conv.bias} if bias else {}
    save("peg/" + name, **{k: v.detach().numpy() for k, v in
                           dict(x=x, y=y, weight=conv.weight, **arrays).items()})


def video(name, grid, channels, frames, kernel, causal):
    """Causal: as many frames of zeros before as there are taps less one, and none after."""
    conv = torch.nn.Conv3d(channels, channels, (frames, kernel, kernel), groups=channels)
    x = torch.randn(1, grid[0] * grid[1] * grid[2], channels)
    feature = x.transpose(1, 2).reshape(1, channels, *grid)
    back, reach = frames - 1 if causal else frames // 2, kernel // 2
    padded = torch.nn.functional.pad(feature, (reach, reach, reach, reach, back, frames - 1 - back))
    y = (conv(padded) + feature).flatten(2).transpose(1, 2)
    save("peg/" + name, **{k: v.detach().numpy() for k, v in
                           dict(x=x, y=y, weight=conv.weight, bias=conv.bias).items()})


def large():
    """Dyadic numbers that a test can make again, exact in f32."""
    token, channel = np.arange(14 * 14)[:, None], np.arange(768)[None, :]
    x = ((token * 37 + channel * 101) % 257 - 128) / 64
    tap = np.arange(9)[None, :]
    weight = ((np.arange(768)[:, None] * 13 + tap * 29) % 61 - 30) / 64
    conv = torch.nn.Conv2d(768, 768, 3, padding=1, groups=768)
    conv.weight.data = torch.from_numpy(weight).reshape(768, 1, 3, 3)
    conv.bias.data = torch.from_numpy((np.arange(768) % 17 - 8) / 64)
    feature = torch.from_numpy(x).T.reshape(1, 768, 14, 14)
    y = (conv(feature) + feature).flatten(2)[0].T.detach().numpy()
    save("peg/large", sums=y.sum(1), tokens=np.array([0, 13, 100]), y=y[[0, 13, 100]])


case("edges", (3, 5), 4, 3)
case("five", (3, 5), 4, 5, prefix=1)
case("wide", (4, 6), 70, 3, batch=1)
case("stride", (5, 4), 4, 3, prefix=2, stride=2, residual=False)
case("hop", (9, 7), 3, 3, stride=4, residual=False)
case("plain", (3, 5), 4, 7, residual=False, bias=False)
for mode in ("reflect", "circular", "replicate"):
    case(mode, (4, 5), 4, 5, mode=mode, prefix=1)
video("video", (4, 3, 2), 3, 3, 3, False)
video("causal", (4, 3, 2), 3, 3, 3, True)
large()
