#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/patch_kernel/patch_kernel.npz: kernels of a patch embedding resized by timm's functions
behind resample_patch_embed, with its intermediate type set to float64; and CASE.timm by resample_patch_embed
itself, in float32. CASE.how is bicubic (else bilinear), antialias.
patch_kernel/vit.safetensors and large.safetensors: a small model's tensors before and after, for the program; its
patches are 4 x 4, then 6 x 6; flat ones in the order (ph, pw, c).

Made with timm 1.0.31, torch 2.13.0, safetensors 0.8, numpy 2.4.6: python3 tests/golden/make_patch_kernel.py
"""
import os

import numpy as np
import torch
from safetensors.torch import save_file

from attention import HERE, save
from timm_layers import layer

assert torch.__version__.startswith("2.13.0")
timm = layer("patch_embed")
rng = np.random.default_rng(11)
arrays = {}


def resize(kernel, new, interpolation="bicubic", antialias=True):
    matrix = timm._compute_resize_matrix(tuple(kernel.shape[-2:]), new, interpolation, antialias, kernel.device,
                                         torch.float64)
    return timm._apply_resampling(kernel, torch.linalg.pinv(matrix), new, torch.float64, torch.float64)


def kernels(*shape):
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float32).astype(np.float64))


for old, new, interpolation, antialias in (
        ((4, 4), (6, 6), "bicubic", True), ((6, 6), (4, 4), "bicubic", True), ((4, 6), (7, 3), "bicubic", True),
        ((6, 5), (3, 10), "bicubic", False), ((4, 4), (8, 8), "bilinear", True), ((8, 8), (3, 3), "bilinear", False),
        ((16, 16), (14, 14), "bicubic", True), ((16, 16), (32, 32), "bicubic", True), ((5, 1), (1, 4), "bicubic", True)):
    x = kernels(*((2, 2) if max(old) < 16 else (1, 1)), *old)
    name = f"{old[0]}x{old[1]}_{new[0]}x{new[1]}_{interpolation}{antialias:d}"
    arrays[name + ".how"] = np.array([interpolation == "bicubic", antialias], np.int64)
    arrays[name + ".x"] = x.numpy().astype(np.float32)
    arrays[name + ".y"] = resize(x, new, interpolation, antialias).numpy()
    arrays[name + ".timm"] = timm.resample_patch_embed(x.float(), list(new), interpolation, antialias).numpy()
save("patch_kernel/patch_kernel", **arrays)

conv, video, flat = kernels(5, 3, 4, 4), kernels(2, 3, 2, 4, 4), kernels(5, 4 * 4 * 3)
turned = flat.reshape(5, 4, 4, 3).permute(0, 3, 1, 2)
before = {"patch_embed.proj.weight": conv, "visual.patch_embed.proj.weight": video,
          "vision_model.embeddings.patch_embedding.weight": flat, "patch_embed.proj.bias": kernels(5),
          "blocks.0.attn.proj.weight": kernels(4, 4)}
after = dict(before)
after["patch_embed.proj.weight"] = resize(conv, (6, 6))
after["visual.patch_embed.proj.weight"] = torch.stack([resize(video[:, :, t], (6, 6)) for t in range(2)], 2)
after["vision_model.embeddings.patch_embedding.weight"] = resize(turned, (6, 6)).permute(0, 2, 3, 1).reshape(5, -1)
for name, tensors in (("vit", before), ("large", after)):
    tensors = {key: value.float().contiguous() for key, value in tensors.items()}
    path = os.path.join(HERE, "patch_kernel", name + ".safetensors")
    save_file(tensors, path, {"format": "pt"})
    os.chmod(path, 0o644)

for name, kernel in (("flax", before), ("flax_large", after)):
    kernel = kernel["patch_embed.proj.weight"].permute(2, 3, 1, 0).float().numpy()
    save("patch_kernel/" + name, **{"params/embedding/kernel": kernel, "params/head/kernel": np.eye(4, 3)})
