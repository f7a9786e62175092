#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/fourier/tables.npz: for each case and grid, CASE.HxW or CASE.TxHxW, the table (tokens, width)
that timm and transformers compute in f32; of those of more than 30 tokens only every 29th, and the last.
Made with torch 2.13.0, transformers 5.24.0, timm 1.0.31, numpy 2.4.6. Run: python3 tests/golden/make_fourier.py
"""
import importlib.metadata
import math

import numpy as np
import torch
from transformers.models.perceiver.modeling_perceiver import PerceiverFourierPositionEncoding

from attention import save
from timm_layers import layer

for package, version in (("torch", "2.13.0"), ("transformers", "5.24.0"), ("numpy", "2.4.6")):
    assert importlib.metadata.version(package).split("+")[0] == version, package

timm = layer("pos_embed_sincos")


def embed(**settings):
    """What FourierEmbed puts behind features of one channel."""
    def table(*grid):
        assert len(grid) == 2  # it has a FIXME for others
        return timm.FourierEmbed(**settings)(torch.zeros(1, 1, *grid))[0, :, 1:]
    return table


def build(**settings):
    """Coordinates if asked for, then sines, then cosines, each (tokens, axes × bands)."""
    return lambda *grid: torch.cat([part.flatten(0, len(grid) - 1).flatten(1)
                                    for part in timm.build_fourier_pos_embed(list(grid), **settings)], 1)


def perceiver(*grid, bands=4, max_resolution=(224, 128)):
    model = PerceiverFourierPositionEncoding(bands, max_resolution[:len(grid)])
    return model(list(grid), 1, "cpu", torch.float32)[0]


def sines(*grid, bands=4, max_resolution=(224, 128)):
    model = PerceiverFourierPositionEncoding(bands, max_resolution, sine_only=True)
    return model(list(grid), 1, "cpu", torch.float32)[0]


grids = [(4, 6), (5, 5), (1, 7), (14, 14), (16, 24)]
cases = {
    "timm": (embed(num_bands=4), grids),
    "timm_32": (embed(num_bands=3, max_res=32, concat_grid=False), grids[:1]),
    "timm_build": (build(num_bands=4), grids + [(3, 4, 6)]),
    "log_grid": (build(num_bands=3, max_res=64, include_grid=True), grids[:1]),
    "linear": (build(num_bands=4, linear_bands=True, ref_feat_shape=[7, 9]), grids[:1]),
    "index": (build(num_bands=4, in_pixels=False, include_grid=True, grid_offset=1.0), grids[:3]),
    "reference": (build(num_bands=4, in_pixels=False, ref_feat_shape=[16, 12], grid_indexing="xy", temperature=100.0),
                  grids),
    "centred": (build(num_bands=4, grid_type="centered", normalize_coords="max", grid_offset=0.25), grids[:1]),
    "centred_min": (build(num_bands=4, grid_type="centered", normalize_coords="min", include_grid=True), grids[:1]),
    "one_band": (build(num_bands=1, include_grid=True), grids[:1]),
    "perceiver": (perceiver, grids),
    "sines": (sines, grids[:1]),
}
arrays = {}
for name, (table, on) in cases.items():
    for grid in on:
        y = np.asarray(table(*grid))
        count = math.prod(grid)
        assert y.shape[0] == count
        if count > 30:
            y = y[sorted({*range(0, count, 29), count - 1})]
        arrays[f"{name}.{'x'.join(map(str, grid))}"] = y
save("fourier/tables", **arrays)
