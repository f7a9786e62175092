#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/learned_grid/*.npz: learned tables of a grid resized by the loaders of vision transformers.

loaders.npz: a case a loader, by the authors' code where it is a package (timm, transformers, scipy), else by
their lines over torch.nn.functional in float64. CASE.grid is height, width, prefix (, frames).
flax.npz: the table of the case flax_vit alone, by the names of Google's checkpoints.
resize.npz: what every implementation of PyTorch's rule must give, in float64: tables of 14 x 14 and 37 x 37 to
other grids, with and without antialiasing, with and without DINO's offset; of each at most 64 tokens, spread
over the grid and its corners, and the sum over all. rows has a case a line: stored side, height, width,
antialias, offset, tokens that follow in `tokens` and `out`.

Made with torch 2.13.0, timm 1.0.31, transformers 5.24.0, scipy 1.17.1, numpy 2.4.6:
python3 tests/golden/make_learned_grid.py
"""
import types

import numpy as np
import scipy.ndimage
import torch
import torch.nn.functional as F
import transformers
from transformers.models.dinov2_with_registers import modeling_dinov2_with_registers as dinov2_reg
from transformers.models.sam2 import modeling_sam2 as sam2
from transformers.models.siglip2 import modeling_siglip2 as siglip2
from transformers.models.vit import modeling_vit as vit
from transformers.vision_utils import get_vision_interpolation_indices_and_weights as qwen3_vl

from attention import save
from timm_layers import layer

assert torch.__version__.startswith("2.13.0") and transformers.__version__.startswith("5.24.")
pos_embed = layer("pos_embed")
rng = np.random.default_rng(5)
arrays = {}


def table(*shape):
    """Values that f32 holds exactly."""
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float32).astype(np.float64))


def case(name, grid, weight, stored, out, **more):
    arrays[f"{name}.grid"] = np.array(grid, np.int64)
    arrays[f"{name}.{weight}"] = stored.numpy().astype(np.float32)
    for key, value in more.items():
        arrays[f"{name}.{key}"] = value.numpy().astype(np.float32)
    arrays[f"{name}.out.position_encoding"] = np.asarray(out, np.float64).reshape(-1, out.shape[-1])


def embeddings(module, config, stored, height, width):
    """Hugging Face's interpolate_pos_encoding, without the rest of the model."""
    embed = module(config).double()
    embed.position_embeddings.data = stored
    tokens = torch.zeros(1, 1 + height * width, stored.shape[-1], dtype=torch.float64)
    return embed.interpolate_pos_encoding(tokens, height * 16, width * 16).detach()


def dino(stored, side, height, width, offset):
    """facebookresearch/dino and dinov2: interpolate_pos_encoding."""
    scale = ((height + offset) / side, (width + offset) / side)
    grid = stored[:, 1:].reshape(1, side, side, -1).permute(0, 3, 1, 2)
    grid = F.interpolate(grid, scale_factor=scale, mode="bicubic")
    assert grid.shape[-2:] == (height, width)
    return torch.cat((stored[:, :1], grid.permute(0, 2, 3, 1).flatten(1, 2)), dim=1)


def bare(rows, prefix):
    """Registers behind the class token have no row."""
    return torch.cat((rows[:, :1], torch.zeros(1, prefix - 1, rows.shape[-1], dtype=rows.dtype), rows[:, 1:]), 1)


small = dict(hidden_size=4, image_size=80, patch_size=16, num_attention_heads=1)
t = table(1, 26, 4)
case("deit", (4, 9, 1), "pos_embed", t,
     embeddings(vit.ViTEmbeddings, transformers.ViTConfig(**small), t, 4, 9))
t = table(1, 26, 4)
case("dino", (7, 6, 1), "pos_embed", t, dino(t, 5, 7, 6, 0.1))
t = table(1, 26, 4)
case("dinov2", (3, 8, 1), "position_embeddings", t, dino(t, 5, 3, 8, 0.1))
t = table(1, 26, 4)
rows = embeddings(dinov2_reg.Dinov2WithRegistersEmbeddings, transformers.Dinov2WithRegistersConfig(**small), t, 3, 8)
case("dinov2_reg", (3, 8, 5), "position_embeddings", t, bare(rows, 5))
t = table(1, 26, 4)
case("timm", (3, 7, 1), "pos_embed", t, pos_embed.resample_abs_pos_embed(t.float(), [3, 7], [5, 5], 1))
t = table(1, 3 * 6, 2)  # as many tokens on another grid, and no prefix
case("timm_turned", (6, 3, 0), "pos_embed", t, pos_embed.resample_abs_pos_embed(t.float(), [6, 3], [3, 6], 0))
t = table(1, 4, 7, 3)
case("timm_axes", (6, 5, 0), "pos_embed", t, pos_embed.resample_abs_pos_embed_nhwc(t.float(), [6, 5]))
t = table(36, 4)
flat = siglip2.Siglip2VisionEmbeddings.resize_positional_embeddings(
    t.reshape(6, 6, 4), torch.tensor([[4, 9]]), 4 * 9)
case("siglip2", (4, 9, 0), "position_embedding.weight", t, flat)
t = table(36, 4)
index, weight = qwen3_vl(torch.tensor([[1, 4, 10]]), 6, "bilinear", True, 2)
case("qwen3_vl", (4, 10, 0), "pos_embed.weight", t, (t[index] * weight.double()[:, :, None]).sum(1))
t = table(1, 26, 4)
zoomed = scipy.ndimage.zoom(t[0, 1:].reshape(5, 5, 4).numpy(), (8 / 5, 8 / 5, 1), order=1)  # vision_transformer
case("flax_vit", (8, 8, 1), "pos_embedding", t, np.concatenate((t[0, :1].numpy(), zoomed.reshape(-1, 4))))
save("learned_grid/flax", **{"Transformer/posembed_input/pos_embedding": t.numpy().astype(np.float32),
                             "Transformer/encoder_norm/bias": np.zeros(4, np.float32)})  # as checkpoints name it
t, window = table(1, 3, 5, 4), table(1, 3, 4, 2)
model = types.SimpleNamespace(pos_embed=t, pos_embed_window=window)
case("sam2", (8, 6, 0), "pos_embed", t, sam2.Sam2HieraDetModel._get_pos_embed(model, (8, 6)), pos_embed_window=window)
t = table(1, 4, 5, 3)
square = F.interpolate(t.permute(0, 3, 1, 2), size=(9, 9), mode="bicubic", antialias=True)  # timm's naflexvit.py
case("aspect", (6, 9, 0), "pos_embed", t, square[:, :, :6, :9].permute(0, 2, 3, 1))
t = table(1, 5, 6, 3)
at = torch.stack(torch.meshgrid((2 * torch.arange(7) + 1) / 7 - 1, (2 * torch.arange(4) + 1) / 4 - 1, indexing="ij"), -1)
sampled = F.grid_sample(t.permute(0, 3, 1, 2), at.flip(-1)[None].double(), mode="bicubic", align_corners=False,
                        padding_mode="border")
case("grid_sample", (7, 4, 0), "pos_embed", t, sampled.permute(0, 2, 3, 1))


def separable(name, frames, height, width, prefix):
    """facebookresearch/mae_st models_vit.py with sep_pos_embed, as Hiera too; prefix 1: with cls_embed."""
    own = np.random.default_rng(8)
    spatial, temporal, first = [
        torch.from_numpy(own.standard_normal((1, n, 4)).astype(np.float32).astype(np.float64))
        for n in (height * width, frames, 1)]
    table = spatial.repeat(1, frames, 1) + torch.repeat_interleave(temporal, height * width, dim=1)
    ahead = dict(pos_embed_class=first) if prefix else {}
    case(name, (height, width, prefix, frames), "pos_embed_spatial", spatial,
         torch.cat((first, table), 1) if prefix else table, pos_embed_temporal=temporal, **ahead)


separable("mae_st", 3, 2, 4, 1)
separable("hiera", 2, 3, 3, 0)
save("learned_grid/loaders", **arrays)

stored = {side: table(1, side * side, 2) for side in (14, 37)}
rows, tokens, outs, sums = [], [], [], []
sizes = [(14, s) for s in ((7, 7), (10, 20), (16, 16), (24, 37))] + [(37, (n, n)) for n in (16, 32, 64)]
for side, (height, width) in sizes:
    for antialias in False, True:
        for offset in 0, 0.1:
            how = dict(size=(height, width)) if offset == 0 else dict(
                scale_factor=((height + offset) / side, (width + offset) / side))
            grid = stored[side].reshape(1, side, side, 2).permute(0, 3, 1, 2)
            grid = F.interpolate(grid, mode="bicubic", antialias=antialias, **how)
            assert grid.shape[-2:] == (height, width)
            out = grid.permute(0, 2, 3, 1).reshape(-1, 2).numpy()
            count = min(64, height * width)
            some = np.linspace(0, height * width - 1, count).round().astype(np.int64)
            some[1:3] = width - 1, (height - 1) * width  # the other corners
            rows.append([side, height, width, antialias, offset, count])
            tokens.append(some)
            outs.append(out[some])
            sums.append(out.sum(0))
save("learned_grid/resize", rows=np.array(rows, np.float64), tokens=np.concatenate(tokens).astype(np.int32),
     out=np.concatenate(outs).astype(np.float32), sums=np.array(sums),
     **{f"table{side}": t.numpy().astype(np.float32) for side, t in stored.items()})
