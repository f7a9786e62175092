#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/mrope/:
  turned.npz  x, 24 channels that stand on every place; CASE.HxW and CASE.TxHxW: x on a grid, turned by transformers
              or timm in f32, (tokens, width), of the larger grids every 29th place and the last; CASE.prompt: on
              positions (2 batches, tokens, 3), text, an image and text, (2, tokens, width)
Made with torch 2.13.0, transformers 5.24.0, timm 1.0.31, numpy 2.4.6. Run: python3 tests/golden/make_mrope.py
"""
import importlib.metadata

import numpy as np
import torch
from transformers.models.glm4v import modeling_glm4v
from transformers.models.glm4v.configuration_glm4v import Glm4vTextConfig
from transformers.models.qwen2_vl import modeling_qwen2_vl
from transformers.models.qwen2_vl.configuration_qwen2_vl import Qwen2VLTextConfig
from transformers.models.qwen3_5 import modeling_qwen3_5
from transformers.models.qwen3_5.configuration_qwen3_5 import Qwen3_5TextConfig
from transformers.models.qwen3_vl import modeling_qwen3_vl
from transformers.models.qwen3_vl.configuration_qwen3_vl import Qwen3VLTextConfig

from attention import save
from timm_layers import layer

for package, version in (("torch", "2.13.0"), ("transformers", "5.24.0"), ("numpy", "2.4.6")):
    assert importlib.metadata.version(package).split("+")[0] == version, package

x = torch.from_numpy(np.random.default_rng(13).uniform(-2, 2, 24).astype(np.float32))


def places(frames, h, w):
    """(tokens, 3): t, h, w."""
    return torch.cartesian_prod(torch.arange(frames), torch.arange(h), torch.arange(w)).reshape(-1, 3)


def prompt():
    """Qwen2-VL's rule: an image starts after the text before it, text goes on after its largest coordinate."""
    def one(before, h, w, after):
        text = torch.arange(before)[:, None].expand(-1, 3)
        image = places(1, h, w) + before
        start = int(image.max()) + 1
        return torch.cat([text, image, start + torch.arange(after)[:, None].expand(-1, 3)])
    return torch.stack([one(5, 2, 4, 3), one(1, 4, 2, 7)])


def turned(model, kind, config, width, at):
    """at (batch, tokens, 3) → (batch, tokens, width)"""
    rotary = next(getattr(model, name) for name in (f"{kind}TextRotaryEmbedding", f"{kind}RotaryEmbedding")
                  if hasattr(model, name))(config)
    vectors = x[:width].expand(*at.shape[:2], width)[:, None]
    cos, sin = rotary(vectors, at.permute(2, 0, 1))
    return model.apply_rotary_pos_emb(vectors, vectors, cos, sin)[0][:, 0]


def settings(kind, width, base, sections, rotary=None, **more):
    rope = {"rope_type": "default", "rope_theta": base, "mrope_section": sections, **more}
    if rotary:
        rope["partial_rotary_factor"] = rotary / width
    return kind(hidden_size=width, num_attention_heads=1, num_key_value_heads=1, head_dim=width, rope_parameters=rope)


models = {
    "qwen2_vl": (modeling_qwen2_vl, "Qwen2VL", settings(Qwen2VLTextConfig, 16, 1e6, [2, 3, 3]), 16),
    "qwen3_vl": (modeling_qwen3_vl, "Qwen3VL", settings(Qwen3VLTextConfig, 24, 5e6, [5, 4, 3]), 24),
    "qwen3_5": (modeling_qwen3_5, "Qwen3_5", settings(Qwen3_5TextConfig, 24, 1e7, [3, 3, 2], 16), 24),
    "glm4v": (modeling_glm4v, "Glm4v", settings(Glm4vTextConfig, 16, 1e4, [1, 1, 2], 8), 16),
}
grids = [(1, 4, 6), (1, 5, 5), (1, 1, 7), (1, 14, 14), (1, 16, 24), (3, 2, 4)]
arrays = {"x": x.numpy(), "prompt": prompt().numpy()}


def keep(name, grid, y):
    y = y.reshape(-1, y.shape[-1]).numpy()
    if len(y) > 30:
        y = y[sorted({*range(0, len(y), 29), len(y) - 1})]
    arrays[name + "." + "x".join(str(n) for n in grid[grid[0] == 1:])] = y


with torch.no_grad():
    for name, (model, kind, config, width) in models.items():
        for grid in grids:
            keep(name, grid, turned(model, kind, config, width, places(*grid)[None]))
        arrays[name + ".prompt"] = turned(model, kind, config, width, prompt()).numpy()
    # timm's for images, as GenLIP has it: sections that do not tile the pairs.
    timm = layer("pos_embed_sincos")
    module = timm.RotaryEmbeddingMRope(24, mrope_section=(2, 5, 3))
    for grid in grids[:5]:
        tokens = x.expand(grid[1] * grid[2], 24)
        keep("timm", grid, timm.apply_rot_embed_cat(tokens, module.get_embed(grid[1:]), half=True))
save("mrope/turned", **arrays)
