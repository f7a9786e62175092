#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/learned_axial/learned_axial.npz: learned rows and columns of a grid, by transformers' modules
of DETR, Gemma 4 and Reformer, and by the lines of lucidrains' axial-attention and timm's naflexvit.py over torch.
CASE.grid is height, width, prefix.

Made with torch 2.13.0, transformers 5.24.0, numpy 2.4.6: python3 tests/golden/make_learned_axial.py
"""
import types

import numpy as np
import torch
import torch.nn.functional as F
import transformers
from transformers.models.detr import modeling_detr as detr
from transformers.models.gemma4 import modeling_gemma4 as gemma4
from transformers.models.reformer import modeling_reformer as reformer

from attention import save

assert torch.__version__.startswith("2.13.0") and transformers.__version__.startswith("5.24.")
rng = np.random.default_rng(6)
arrays = {}


def table(*shape):
    """Values that f32 holds exactly."""
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float32).astype(np.float64))


def case(name, grid, out, **weights):
    arrays[f"{name}.grid"] = np.array(grid, np.int64)
    for key, value in weights.items():
        arrays[f"{name}.{key}"] = value.detach().numpy().astype(np.float32)
    rows = out.detach().numpy()
    prefix = np.zeros((grid[2], rows.shape[-1]))
    arrays[f"{name}.out.position_encoding"] = np.concatenate((prefix, rows.reshape(-1, rows.shape[-1])))


module = detr.DetrLearnedPositionEmbedding(3).double()
row, col = table(50, 3), table(50, 3)
module.row_embeddings.weight.data, module.column_embeddings.weight.data = row, col
out = module(torch.Size((1, 6, 4, 7)), "cpu", torch.float64)
if out.ndim == 4:
    out = out[0].permute(1, 2, 0)
case("detr", (4, 7, 1), out, **{"row_embed.weight": row, "col_embed.weight": col})

both = table(2, 9, 4)
xy = torch.stack(torch.meshgrid(torch.arange(3), torch.arange(6), indexing="ij"), -1).flip(-1).reshape(1, -1, 2)
out = gemma4.Gemma4VisionPatchEmbedder._position_embeddings(
    types.SimpleNamespace(position_embedding_table=both), xy, torch.zeros(1, 18, dtype=torch.bool))
case("gemma4", (3, 6, 0), out, position_embedding_table=both)

config = transformers.ReformerConfig(axial_pos_shape=(3, 5), axial_pos_embds_dim=(2, 4), hidden_size=6, hidden_dropout_prob=0)
module = reformer.AxialPositionEmbeddings(config).double()
tables = [table(3, 1, 2), table(1, 5, 4)]
for i in range(2):
    module.weights[i].data = tables[i]
module.train()  # in training the whole grid is made
out = module(torch.arange(15)[None])
case("reformer", (3, 5, 0), out, **{"weights.0": tables[0], "weights.1": tables[1]})

first, second = table(1, 4, 5, 1), table(1, 4, 1, 6)  # axial_attention.py: x + param_0 + param_1
case("axial_attention", (5, 6, 2), (first + second)[0].permute(1, 2, 0), param_0=first, param_1=second)


def interpolate(t, length):
    """timm's _interp1d"""
    return t if length == t.shape[1] else F.interpolate(
        t.permute(0, 2, 1), size=length, mode="linear", align_corners=False).permute(0, 2, 1)


for name, (height, width), (down, across) in (
        ("naflex", (9, 3), (9, 3)), ("naflex_aspect", (4, 8), (8, 8)), ("naflex_same", (5, 6), (5, 6))):
    y, x = table(1, 4 if name == "naflex_aspect" else 5, 4), table(1, 6, 4)
    out = interpolate(y, down)[:, :height].unsqueeze(2) + interpolate(x, across)[:, :width].unsqueeze(1)
    case(name, (height, width, 0), out, pos_embed_y=y, pos_embed_x=x)
save("learned_axial/learned_axial", **arrays)
