#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/peg/*.npz: tokens before and after depthwise convolutions of torch, f64, and one of
14 x 14 x 768 whose features the test makes by itself: some tokens of y and, of each, the sum.

Presets come from the modules as timm 1.0.31 and transformers 5.24 have them, cut out of their files, since
timm.models as a whole imports torchvision; UniFormer's is written here.

Made with torch 2.13.0, numpy 2.4.6. Run from the source root: python3 tests/golden/make_peg.py
"""
import ast
import importlib.util
import os
import typing

import numpy as np
import torch

from attention import save
import timm_layers  # checks timm's version

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


def published(package, path, name):
    """A class of a module, without its module."""
    root = os.path.dirname(importlib.util.find_spec(package).origin)
    with open(os.path.join(root, path)) as file:
        tree = ast.parse(file.read())
    tree.body = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    space = dict(vars(typing), torch=torch, nn=torch.nn, Tensor=torch.Tensor, _assert=torch._assert,
                 Size_=typing.Tuple[int, int], PvtV2Config=None)
    exec(compile(tree, path, "exec"), space)
    return space[name]


def preset(name, conv, apply, prefix=0, channels=5, grid=(4, 3), batch=2):
    """apply takes tokens, conv is the convolution in it; grid is of (frames,) height, width."""
    x = torch.randn(batch, prefix + int(np.prod(grid)), channels)
    save("peg/" + name, **{k: v.detach().numpy() for k, v in
                           dict(x=x, y=apply(x), weight=conv.weight, bias=conv.bias).items()})


def presets(size=(4, 3), channels=5):
    def images(module):
        return lambda x: module(x.transpose(1, 2).reshape(-1, channels, *size)).flatten(2).transpose(1, 2)

    twins = published("timm", "models/twins.py", "PosConv")(channels, channels)
    preset("twins", twins.proj[0], lambda x: twins(x, size))
    coat = published("timm", "models/coat.py", "ConvPosEnc")(channels)
    preset("coat", coat.proj, lambda x: coat(x, size), prefix=1)
    davit = published("timm", "models/davit.py", "ConvPosEnc")
    for name, act in ("davit", False), ("davit_act", True):
        module = davit(channels, act=act)
        preset(name, module.proj, images(module))
    pvt = published("transformers", "models/pvt_v2/modeling_pvt_v2.py", "PvtV2DepthWiseConv")(None, channels)
    preset("pvt_v2", pvt.dwconv, lambda x: pvt(x, *size))
    linear = published("timm", "models/pvt_v2.py", "MlpWithDepthwiseConv")(channels, act_layer=torch.nn.Identity,
                                                                          extra_relu=True)
    linear.fc1 = linear.fc2 = torch.nn.Identity()
    preset("pvt_v2_linear", linear.dwconv, lambda x: linear(x, list(size)))
    xcit = published("timm", "models/xcit.py", "LPI")(channels)
    xcit.bn, xcit.conv2 = torch.nn.Identity(), torch.nn.Identity()
    preset("xcit", xcit.conv1, lambda x: xcit(x, *size))
    moving = torch.nn.Conv3d(channels, channels, 3, padding=1, groups=channels)  # UniFormer: pos_embed(x) + x
    preset("uniformer", moving, lambda x: (x.transpose(1, 2) + moving(
        x.transpose(1, 2).reshape(-1, channels, 3, *size)).flatten(2)).transpose(1, 2), grid=(3,) + size)


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
presets()
