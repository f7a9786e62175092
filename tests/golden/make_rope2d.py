#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/rope2d/:
  turned.npz  x (2 heads, 16 channels) and x64 (64 channels), vectors that stand on every place of a grid; for
              each case and grid, CASE.HxW: those vectors turned by timm or transformers in f32, (tokens, width),
              of mixed (heads, tokens, width). Of the larger grids only every 29th place is kept, and the last;
              mixed.freqs are the learned frequencies, those of layer 1 of 2
Made with torch 2.13.0, transformers 5.24.0, timm 1.0.31, numpy 2.4.6. Run: python3 tests/golden/make_rope2d.py
"""
import importlib.metadata
import math

import numpy as np
import torch
from transformers import DINOv3ViTConfig, PixtralVisionConfig
from transformers.models.dinov3_vit import modeling_dinov3_vit as dinov3
from transformers.models.gemma4 import modeling_gemma4 as gemma4
from transformers.models.gemma4.configuration_gemma4 import Gemma4VisionConfig
from transformers.models.llama4 import modeling_llama4 as llama4
from transformers.models.llama4.configuration_llama4 import Llama4VisionConfig
from transformers.models.pixtral import modeling_pixtral as pixtral
from transformers.models.qwen2_vl import modeling_qwen2_vl as qwen2_vl
from transformers.models.qwen2_vl.configuration_qwen2_vl import Qwen2VLVisionConfig
from transformers.vision_utils import get_vision_position_ids

from attention import save
from timm_layers import layer

for package, version in (("torch", "2.13.0"), ("transformers", "5.24.0"), ("numpy", "2.4.6")):
    assert importlib.metadata.version(package).split("+")[0] == version, package

timm = layer("pos_embed_sincos")
rng = np.random.default_rng(11)
x = torch.from_numpy(rng.uniform(-2, 2, (2, 16)).astype(np.float32))
x64 = torch.from_numpy(rng.uniform(-2, 2, 64).astype(np.float32))
torch.manual_seed(5)


def everywhere(vector, h, w):
    return vector.expand(h * w, -1)


def by_timm(module, half, vector):
    return lambda h, w: timm.apply_rot_embed_cat(everywhere(vector, h, w), module.get_embed([h, w]), half)


def axial(vector=x[0], **settings):
    """EVA-02, RoPE-ViT axial and Perception Encoder are one class of timm's."""
    return by_timm(timm.RotaryEmbeddingCat(len(vector), in_pixels=False, **settings), False, vector)


def dinov3_timm(vector, **settings):
    return by_timm(timm.RotaryEmbeddingDinoV3(len(vector), **settings), True, vector)


mixed_module = timm.RotaryEmbeddingMixed(32, depth=2, num_heads=2)


def mixed(h, w):
    table = mixed_module.get_embed([h, w])[1]  # (heads, tokens, 2 width)
    return timm.apply_rot_embed_cat(x[:, None].expand(2, h * w, 16), table)


def heads_of(tokens):
    """As transformers has it: (batch, heads, tokens, width)."""
    return tokens[None, None]


def dinov3_hf(h, w):
    config = DINOv3ViTConfig(hidden_size=64, num_attention_heads=1, patch_size=16, rope_theta=100.0)
    cos, sin = dinov3.DINOv3ViTRopePositionEmbedding(config).eval()(torch.zeros(1, 3, 16 * h, 16 * w))
    return dinov3.apply_rotary_pos_emb(heads_of(everywhere(x64, h, w)), heads_of(everywhere(x64, h, w)), cos, sin)[0]


def dinov3_bf16(h, w, width=64):
    """Periods as the authors' class makes and stores them in bf16; all else in f32."""
    quarter = torch.arange(width // 4, dtype=torch.bfloat16)
    periods = (100.0 ** (2 * quarter / (width // 2))).float()
    rows, columns = torch.meshgrid((torch.arange(h) + 0.5) / h, (torch.arange(w) + 0.5) / w, indexing="ij")
    coordinates = 2 * torch.stack([rows, columns], -1).flatten(0, 1) - 1
    angles = (2 * math.pi * coordinates[:, :, None] / periods).flatten(1).tile(2)
    return timm.apply_rot_embed(everywhere(x64[:width], h, w), angles.sin(), angles.cos(), half=True)


def pixtral_hf(h, w):
    config = PixtralVisionConfig(hidden_size=16, num_attention_heads=1, head_dim=16)
    assert config.rope_parameters["rope_theta"] == 10000.0
    rows, columns = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
    tokens = heads_of(everywhere(x[0], h, w))
    cos, sin = pixtral.PixtralVisionRotaryEmbedding(config)(
        tokens, torch.stack([rows.flatten(), columns.flatten()], -1))
    return pixtral.apply_rotary_pos_emb(tokens, tokens, cos, sin, unsqueeze_dim=0)[0]


def qwen2_vl_hf(h, w, frames=1):
    config = Qwen2VLVisionConfig(embed_dim=16, num_heads=1)
    assert config.rope_parameters["rope_theta"] == 10000.0 and config.spatial_merge_size == 2
    places = get_vision_position_ids(torch.tensor([[frames, h, w]]), 2)
    tokens = everywhere(x[0], frames * h, w)[:, None]
    cos, sin = qwen2_vl.Qwen2VLVisionRotaryEmbedding(config)(tokens, places)
    return qwen2_vl.apply_rotary_pos_emb_vision(tokens, tokens, cos, sin)[0]


def gemma4_hf(h, w):
    config = Gemma4VisionConfig(hidden_size=16, num_attention_heads=1, head_dim=16)
    assert config.rope_parameters["rope_theta"] == 100.0
    columns, rows = torch.meshgrid(torch.arange(w), torch.arange(h), indexing="xy")  # as its image processor
    places = torch.stack([columns.flatten(), rows.flatten()], -1)[None]
    tokens = everywhere(x[0], h, w)[None, :, None]
    cos, sin = gemma4.Gemma4VisionRotaryEmbedding(config)(tokens, places)
    return gemma4.apply_multidimensional_rope(tokens, cos, sin, places)


def llama4_hf(h, w):
    assert h == w
    config = Llama4VisionConfig(hidden_size=16, num_attention_heads=1, image_size=14 * h, patch_size=14)
    assert config.rope_parameters["rope_theta"] == 10000.0
    tokens = torch.cat([everywhere(x[0], h, w), x[:1]])[None, :, None]  # its class token stands last
    y = llama4.vision_apply_rotary_emb(tokens, tokens, llama4.Llama4VisionRotaryEmbedding(config)(tokens))[0]
    assert torch.equal(y[0, -1], tokens[0, -1])
    return y[:, :-1]


grids = [(4, 6), (5, 5), (1, 7), (14, 14), (16, 24)]
cases = {
    "eva02": (axial(ref_feat_shape=[16, 16]), grids),
    "rope_vit_axial": (axial(temperature=100.0, grid_indexing="xy"), grids),
    "rope_vit_mixed": (mixed, grids),
    "perception": (axial(ref_feat_shape=[24, 24], grid_offset=1.0, grid_indexing="xy"), grids),
    "dinov3": (dinov3_timm(x[0]), grids),
    "dinov3_max": (dinov3_timm(x[0], normalize_coords="max"), grids[:1]),
    "dinov3_min": (dinov3_timm(x[0], normalize_coords="min", grid_offset=0.25), grids[:1]),
    "dinov3_hf": (dinov3_hf, [(2, 3), (14, 14)]),
    "dinov3_bf16": (dinov3_bf16, [(2, 3), (14, 14)]),
    "dinov3_bf16_48": (lambda h, w: dinov3_bf16(h, w, 48), [(2, 3)]),  # exponents that bf16 does not hold
    "pixtral": (pixtral_hf, grids),
    "qwen2_vl": (qwen2_vl_hf, [g for g in grids if g[0] % 2 == g[1] % 2 == 0]),
    "llama4": (llama4_hf, [(5, 5), (14, 14)]),
    "gemma4": (gemma4_hf, grids),
}
arrays = {"x": x.numpy(), "x64": x64.numpy(), "rope_vit_mixed.freqs": mixed_module.freqs[:, 1].detach().numpy()}
with torch.no_grad():
    for name, (turned, on) in cases.items():
        for h, w in on:
            y = turned(h, w).numpy()
            y = y.reshape(2, h * w, 16) if name == "rope_vit_mixed" else y.reshape(h * w, -1)
            if h * w > 30:
                y = y[..., sorted({*range(0, h * w, 29), h * w - 1}), :]
            arrays[f"{name}.{h}x{w}"] = y
    arrays["qwen2_vl.3x2x4"] = qwen2_vl_hf(2, 4, frames=3).numpy().reshape(24, 16)
save("rope2d/turned", **arrays)
