# SPDX-License-Identifier: BSD-2-Clause
"""What the scripts make_*.py of attention's encoders share: attention by its definition in float64 numpy, and
writing small .npz files whose bytes depend on nothing but the arrays."""
import io
import os
import zipfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def save(name, **arrays):
    """tests/golden/NAME.npz"""
    path = os.path.join(HERE, name + ".npz")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for key, array in arrays.items():
            data = io.BytesIO()
            np.save(data, np.ascontiguousarray(array))
            z.writestr(zipfile.ZipInfo(key + ".npy", (1980, 1, 1, 0, 0, 0)), data.getvalue(), zipfile.ZIP_DEFLATED)


def qkv(rng, batch, heads, queries, keys, width, value_width=None, key_heads=None):
    """Values that f32 holds exactly, so that a test may read them in any type."""
    key_heads = key_heads or heads
    shapes = ((batch, heads, queries, width), (batch, key_heads, keys, width),
              (batch, key_heads, keys, value_width or width))
    return [rng.standard_normal(shape).astype(np.float32).astype(np.float64) for shape in shapes]


def repeat(x, heads):
    """Consecutive query heads share a key head."""
    return np.repeat(x, heads // x.shape[1], axis=1)


def causal(queries, keys):
    """The last query sees the last key."""
    return np.arange(keys)[None, :] <= np.arange(queries)[:, None] + keys - queries


def softmax(scores, seen=None):
    """Weights, and the log of the sum, over the last axis; a row that sees nothing has weights of 0."""
    if seen is not None:
        scores = np.where(seen, scores, -np.inf)
    most = scores.max(-1, keepdims=True)
    safe = np.where(np.isfinite(most), most, 0)
    weights = np.exp(scores - safe)
    total = weights.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (safe + np.log(total))[..., 0]
    return weights / np.where(total > 0, total, 1), lse
