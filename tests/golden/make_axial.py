#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/axial/tables.npz: for each case and grid, CASE.HxW or CASE.TxHxW, the table (tokens, dim)
in the type in which it was computed; of those of more than 12 tokens only every 5th, of more than 30 every 29th,
and the last. padding.HxW are masks (batch, H, W), 1 is padding, for CASE_padded.HxW (batch, tokens, dim).

The authors' own code runs for DETR and Deformable DETR (in f64), RT-DETR and ViTMAE in transformers (f64), VideoMAE
(f64, rounded to f32), timm, XCiT in timm, positional-encodings, SimpleViT in vit-pytorch (f32), and diffusers
(f64; its coordinates in f32). What is in no package is written down here again in f64, after
  MAE       facebookresearch/mae       util/pos_embed.py                  a9f5c701
  MoCo v3   facebookresearch/moco-v3   vits.py                            1c6b717e
  V-JEPA    facebookresearch/jepa      src/models/utils/pos_embs.py       b258fca4
Made with torch 2.13.0, transformers 5.24.0, timm 1.0.31, diffusers 0.42.1, positional-encodings 6.0.3, vit-pytorch
1.26.14, numpy 2.4.6; the last four but numpy need no more than pip install --no-deps. Run with:
python3 tests/golden/make_axial.py
"""
import importlib.metadata
import math

import numpy as np
import torch
from positional_encodings.torch_encodings import PositionalEncoding2D, PositionalEncoding3D
from transformers.models.deformable_detr.modeling_deformable_detr import DeformableDetrSinePositionEmbedding
from transformers.models.detr.modeling_detr import DetrSinePositionEmbedding
from transformers.models.rt_detr.modeling_rt_detr import build_2d_sinusoidal_position_embedding
from transformers.models.videomae.modeling_videomae import get_sinusoid_encoding_table

from alone import definitions, module
from attention import save
from timm_layers import layer

for package, version in (("torch", "2.13.0"), ("transformers", "5.24.0"), ("numpy", "2.4.6"), ("diffusers", "0.42.1"),
                         ("positional-encodings", "6.0.3"), ("vit-pytorch", "1.26.14")):
    assert importlib.metadata.version(package).split("+")[0] == version, package

timm = layer("pos_embed_sincos")
(xcit_class,) = definitions("timm", "models/xcit.py", ["PositionalEncodingFourier"],
                            torch=torch, nn=torch.nn, math=math, register_notrace_module=lambda module: module)
diffusers_2d, diffusers_3d, _, _ = definitions(
    "diffusers", "models/embeddings.py",
    ["get_2d_sincos_pos_embed", "get_3d_sincos_pos_embed", "get_2d_sincos_pos_embed_from_grid",
     "get_1d_sincos_pos_embed_from_grid"],
    torch=torch, maybe_adjust_dtype_for_device=lambda dtype, device: dtype)
simple_vit = module("vit_pytorch.simple_vit").posemb_sincos_2d
simple_vit_3d = module("vit_pytorch.simple_vit_3d").posemb_sincos_3d

# ---- written down again ---------------------------------------------------------------------------


def waves(coordinates, dim):
    """Sines, then cosines, of one axis."""
    frequencies = 10000.0 ** -(np.arange(dim // 2) / (dim / 2))
    angles = np.asarray(coordinates, float).reshape(-1, 1) * frequencies
    return np.concatenate([np.sin(angles), np.cos(angles)], 1)


def mae(h, w, dim=16):
    columns, rows = np.meshgrid(np.arange(w), np.arange(h))  # the first is called emb_h, and holds x
    return np.concatenate([waves(columns, dim // 2), waves(rows, dim // 2)], 1)


def moco(h, w, dim=16):
    columns, rows = torch.meshgrid(torch.arange(w), torch.arange(h), indexing="ij")  # torch's default then
    return np.concatenate([waves(columns.flatten(), dim // 2), waves(rows.flatten(), dim // 2)], 1)


def vjepa(t, h, w, dim=16, uniform_power=False):
    rows, frames, columns = np.meshgrid(np.arange(h), np.arange(t), np.arange(w))
    share = int(np.ceil(dim / 6) * 2)
    widths = (share, share, share) if uniform_power else (dim // 2, dim // 4, dim // 4)
    return np.concatenate([waves(c, d) for c, d in zip((frames, rows, columns), widths)], 1)[:, :dim]


# ---- the authors' code ----------------------------------------------------------------------------


def flat(y):
    """(1, channels, H, W) or (batch, ...) to (batch, tokens, channels)."""
    return y.flatten(2).transpose(1, 2)


def sine(module, padding=None, normalize=True):
    def table(h, w):
        mask = None if padding is None else ~padding[h, w]
        batch = 1 if mask is None else len(mask)
        y = flat(module(8, normalize=normalize)(torch.Size((batch, 3, h, w)), "cpu", torch.float64, mask))
        return y[0] if padding is None else y
    return table


def xcit(h, w):
    model = xcit_class(hidden_dim=8, dim=16)
    model.token_projection.weight.data = torch.eye(16)[:, :, None, None]
    model.token_projection.bias.data.zero_()
    return flat(model(1, h, w))[0].detach()


def package_2d(dim):
    return lambda h, w: PositionalEncoding2D(dim)(torch.zeros(1, h, w, dim)).reshape(h * w, dim)


def package_3d(dim):
    return lambda t, h, w: PositionalEncoding3D(dim)(torch.zeros(1, t, h, w, dim)).reshape(t * h * w, dim)


def timm_table(**settings):
    return lambda h, w: timm.build_sincos2d_pos_embed([h, w], dim=16, **settings)


def sincos_3d_diffusers(spatial=1.0, temporal=1.0):
    return lambda t, h, w: diffusers_3d(32, (w, h), t, spatial, temporal).reshape(t * h * w, 32)


grids = [(4, 6), (5, 5), (1, 7), (14, 14), (16, 24)]
videos = [(3, 4, 6), (2, 5, 5), (4, 1, 7), (4, 7, 5)]


def some_padding(h, w):
    """An image that fills part of the grid, one that fills it, and holes with a row and a column of padding."""
    rng = np.random.default_rng(h * 100 + w)
    padding = np.zeros((3, h, w), bool)
    padding[0, max(h - 2, 1):] = padding[0, :, w - 2:] = True
    padding[2] = rng.random((h, w)) < 0.3
    padding[2, h // 2] = padding[2, :, w // 3] = True
    return torch.from_numpy(padding)


padded = {grid: some_padding(*grid) for grid in grids[:3]}
cases = {
    "mae": (mae, grids),
    "moco": (moco, grids),
    "jepa": (lambda h, w: build_2d_sinusoidal_position_embedding(h, w, 16, dtype=torch.float64), grids),
    "vjepa": (vjepa, videos),
    "vjepa_uniform": (lambda t, h, w: vjepa(t, h, w, 20, True), videos),
    "detr": (sine(DetrSinePositionEmbedding), grids),
    "detr_plain": (sine(DetrSinePositionEmbedding, normalize=False), grids[:1]),
    "deformable_detr": (sine(DeformableDetrSinePositionEmbedding), grids),
    "detr_padded": (sine(DetrSinePositionEmbedding, padded), list(padded)),
    "deformable_detr_padded": (sine(DeformableDetrSinePositionEmbedding, padded), list(padded)),
    "detr_plain_padded": (sine(DetrSinePositionEmbedding, padded, False), grids[:1]),
    "timm": (timm_table(), grids),
    "timm_interleave": (timm_table(interleave_sin_cos=True, temperature=100.0), grids[:1]),
    "timm_reverse": (timm_table(reverse_coord=True), grids[:2]),
    "simple_vit": (lambda h, w: simple_vit(h, w, 16), grids),
    "simple_vit_3d": (lambda t, h, w: simple_vit_3d(torch.zeros(1, t, h, w, 20)), videos),
    "diffusers": (lambda h, w: diffusers_2d(16, (h, w)), grids),
    "diffusers_scaled": (lambda h, w: diffusers_2d(16, (h, w), interpolation_scale=2.0, base_size=8), grids[:2]),
    "diffusers_3d": (sincos_3d_diffusers(), videos),
    "diffusers_3d_scaled": (sincos_3d_diffusers(1.875, 0.5), videos[:1]),
    "xcit": (xcit, grids),
    "videomae": (lambda t, h, w: get_sinusoid_encoding_table(t * h * w, 16)[0], videos),
    "positional_encodings": (package_2d(16), grids),
    "positional_encodings_10": (package_2d(10), grids[:1]),
    "positional_encodings_15": (package_2d(15), grids[:1]),
    "positional_encodings_3d": (package_3d(18), videos),
    "positional_encodings_3d_20": (package_3d(20), videos[:1]),
}
arrays = {}
for name, (table, on) in cases.items():
    for grid in on:
        y = np.asarray(table(*grid))
        count = math.prod(grid)
        assert y.shape[-2] == count
        if count > 12:
            y = y[..., sorted({*range(0, count, 5 if count <= 30 else 29), count - 1}), :]
        arrays[f"{name}.{'x'.join(map(str, grid))}"] = y
for (h, w), mask in padded.items():
    arrays[f"padding.{h}x{w}"] = mask.numpy()
save("axial/tables", **arrays)
