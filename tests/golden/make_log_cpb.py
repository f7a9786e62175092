#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/log_cpb/: biases of timm's RelPosMlp, modes swin and cr, and whole attention of
transformers' Swinv2SelfAttention, in float64. timm computes log coordinates in float32, transformers too; here
they are made again in float64 by the same formulas.

Made with timm 1.0.31, transformers 5.24.0, torch 2.13.0, numpy 2.4.6: python3 tests/golden/make_log_cpb.py
"""
import numpy as np
import torch
import transformers
from transformers import Swinv2Config
from transformers.models.swinv2.modeling_swinv2 import Swinv2SelfAttention

from attention import save
from timm_layers import layer

assert transformers.__version__ == "5.24.0" and torch.__version__.startswith("2.13.0")
timm = layer("pos_embed_rel")
torch.manual_seed(5)
arrays = {}


def log_coords(window, pretrained, mode):
    """In float64; timm's, in float32, must be near."""
    y, x = [np.arange(-(n - 1), n, dtype=np.float64) for n in window]
    c = np.stack(np.meshgrid(y, x, indexing="ij"), -1)
    if mode == "cr":
        return np.sign(c) * np.log(1 + np.abs(c))
    c = c / np.maximum(np.array(pretrained if pretrained[0] else window) - 1, 1) * 8
    return np.sign(c) * np.log2(1 + np.abs(c)) / 3


def case(name, window, heads, mode, hidden, names, pretrained=(0, 0)):
    module = timm.RelPosMlp(window, heads, hidden, mode=mode, pretrained_window_size=pretrained).double().eval()
    coords = log_coords(window, pretrained, mode)
    theirs = module.rel_coords_log.numpy()
    assert np.isnan(theirs).any() or np.abs(theirs - coords).max() < 1e-6
    module.rel_coords_log = torch.from_numpy(coords)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    arrays[name + ".grid"] = np.array([*window, 0], np.int64)
    state = {key: value.numpy() for key, value in module.state_dict().items()}
    for key, their in zip(names, ("mlp.fc1.weight", "mlp.fc1.bias", "mlp.fc2.weight", "mlp.fc2.bias")):
        arrays[f"{name}.{key}"] = state[their]
    arrays[name + ".logit_scale"] = np.zeros((heads, 1, 1) if mode == "swin" else heads)
    bias = module.get_bias()[0].detach().numpy()
    if max(window) < 7:
        arrays[name + ".out.bias"] = bias
        return
    # Of a large window the table it is gathered from, which is all that differs.
    height, width = window
    table = np.zeros((2 * height - 1, 2 * width - 1))
    y, x = np.divmod(np.arange(height * width), width)
    table[y[:, None] - y + height - 1, x[:, None] - x + width - 1] = bias[0]
    arrays[name + ".table"] = table


SWIN = ("cpb_mlp.0.weight", "cpb_mlp.0.bias", "cpb_mlp.2.weight")
RMLP = ("mlp.fc1.weight", "mlp.fc1.bias", "mlp.fc2.weight", "mlp.fc2.bias")
CR = ("meta_mlp.fc1.weight", "meta_mlp.fc1.bias", "meta_mlp.fc2.weight", "meta_mlp.fc2.bias")
case("square", (4, 4), 2, "swin", 12, SWIN)
case("rectangle", (3, 5), 3, "swin", 8, SWIN)
case("pretrained", (5, 4), 2, "swin", 8, SWIN, (3, 2))
case("row", (1, 5), 2, "swin", 8, SWIN)
case("one", (1, 1), 2, "swin", 8, SWIN)
case("cr", (4, 3), 2, "cr", 8, CR)
case("rmlp", (3, 4), 2, "cr", 8, RMLP)
case("window_7", (7, 7), 1, "swin", 4, SWIN)
case("window_8", (8, 8), 1, "swin", 4, SWIN)
case("window_16_on_8", (16, 16), 1, "swin", 4, SWIN, (8, 8))
case("window_24_on_12", (24, 24), 1, "swin", 4, SWIN, (12, 12))
save("log_cpb/log_cpb", **arrays)

WINDOW, HEADS, WIDTH = 3, 2, 4
module = Swinv2SelfAttention(Swinv2Config(attn_implementation="eager"), HEADS * WIDTH, HEADS, WINDOW,
                             [0, 0]).double().eval()
coords = log_coords((WINDOW, WINDOW), (0, 0), "swin")
assert np.abs(module.relative_coords_table.numpy()[0] - coords).max() < 1e-6
module.relative_coords_table = torch.from_numpy(coords[None])
for name, parameter in module.named_parameters():
    torch.nn.init.normal_(parameter, std=0.5)
module.logit_scale.data = torch.tensor([np.log(7.0), 5.0], dtype=torch.float64).reshape(HEADS, 1, 1)  # 5 > ln 100
x = torch.randn(2, WINDOW * WINDOW, HEADS * WIDTH, dtype=torch.float64)
q, k, v = [layer_of(x).view(2, -1, HEADS, WIDTH).transpose(1, 2).detach().numpy()
           for layer_of in (module.query, module.key, module.value)]
with torch.no_grad():
    out = module(x)[0].view(2, -1, HEADS, WIDTH).transpose(1, 2).numpy()
state = {key: value.numpy() for key, value in module.state_dict().items()}
save("log_cpb/swinv2", q=q, k=k, v=v, out=out, grid=np.array([WINDOW, WINDOW, 0], np.int64),
     **{key: state[key] for key in state if key.startswith("continuous_position_bias_mlp") or key == "logit_scale"})
