#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/irpe/: attention with image relative position encoding, by the equations of Wu et al. 2021
in float64 numpy, with the conventions of microsoft/Cream's irpe.py: query minus key, an extra bucket for pairs
with a prefix token, tables of keys and queries as (heads, head_dim, buckets).

Made with numpy 2.4.6: python3 tests/golden/make_irpe.py
"""
import numpy as np

from attention import qkv, save, softmax

rng = np.random.default_rng(7)
WIDTH = 4


def piecewise(x, ratio):
    """Equation 18: alpha, beta, gamma = ratio times 1, 2, 8."""
    alpha, beta, gamma = ratio, 2 * ratio, 8 * ratio
    x = np.asarray(x, np.float64)
    far = np.where(np.abs(x) > alpha, np.abs(x), gamma)
    beyond = np.sign(x) * np.minimum(beta, np.round(alpha + np.log(far / alpha) / np.log(gamma / alpha)
                                                    * (beta - alpha)))
    return np.where(np.abs(x) <= alpha, np.round(x), beyond).astype(np.int64)


def ranks(d, quantize):
    if quantize == "squared":
        return d
    sums = np.unique([y * y + x * x for y in range(64) for x in range(64)])
    return np.searchsorted(sums, d)


def buckets(height, width, prefix, method, ratio, quantize):
    """A list of (ids, count), of rows and columns if they are apart."""
    y, x = [c.flatten() for c in np.meshgrid(np.arange(height), np.arange(width), indexing="ij")]
    dy, dx = y[:, None] - y, x[:, None] - x
    m = int(2 * ratio)
    if method == "euclidean":
        parts = [piecewise(np.round(np.sqrt(dy * dy + dx * dx)), ratio) + m]
    elif method == "quant":
        parts = [piecewise(ranks(dy * dy + dx * dx, quantize), ratio) + m]
    elif method == "product":
        parts = [(piecewise(dy, ratio) + m) * (2 * m + 1) + piecewise(dx, ratio) + m]
    else:
        parts = [piecewise(dy, ratio) + m, piecewise(dx, ratio) + m]
    count = (2 * m + 1) ** 2 if method == "product" else 2 * m + 1
    n = height * width + prefix
    whole = []
    for part in parts:
        ids = np.full((n, n), count)
        ids[prefix:, prefix:] = part
        whole.append(ids)
    return whole, count + (prefix > 0)


def case(name, grid, method, on, mode="contextual", heads=1, ratio=1.9, prefix=0, quantize="rank"):
    ids, count = buckets(*grid, prefix, method, ratio, quantize)
    n = grid[0] * grid[1] + prefix
    q, k, v = qkv(rng, 1, 2, n, n, WIDTH)
    scores = WIDTH ** -0.5 * q @ k.transpose(0, 1, 3, 2)
    out = np.zeros_like(v)
    arrays = {}
    value_rows = np.zeros((2, n, n, WIDTH))
    for part, index in enumerate(ids):
        where = "" if len(ids) == 1 else ("rp_rows.", "rp_cols.")[part]
        for side in on:
            kind = "bias" if mode == "bias" else "weight"
            shape = (heads, count) if mode == "bias" else (heads, count, WIDTH) if side == "v" else (heads, WIDTH, count)
            table = rng.standard_normal(shape)
            arrays[f"rpe_{side}.{where}lookup_table_{kind}"] = table
            table = np.broadcast_to(table, (2,) + shape[1:])
            if side == "v":
                value_rows += table[:, index]
            elif mode == "bias":
                scores += table[:, index if side == "k" else index.T]
            elif side == "k":
                # [b, h, i, bucket] at the bucket of each j
                met = WIDTH ** -0.5 * q @ table
                scores += np.take_along_axis(met, np.broadcast_to(index, met.shape[:2] + index.shape), -1)
            else:
                met = WIDTH ** -0.5 * k @ table
                scores += np.take_along_axis(met, np.broadcast_to(index, met.shape[:2] + index.shape), -1).swapaxes(-1, -2)
    weights, lse = softmax(scores)
    out = weights @ v + np.einsum("bhij,hijd->bhid", weights, value_rows)
    names = ["buckets"] if len(ids) == 1 else ["buckets_rows", "buckets_columns"]
    save("irpe/" + name, q=q, k=k, v=v, out=out, lse=lse, grid=np.array([*grid, prefix], np.int64), **arrays,
         **{"ids." + key: index.astype(np.int32) for key, index in zip(names, ids)})


case("product_keys", (3, 7), "product", "k")
case("product_all_heads", (4, 3), "product", "qkv", heads=2, prefix=1)
case("cross_all", (3, 6), "cross", "qkv", heads=2)
case("cross_prefix", (3, 4), "cross", "kv", prefix=2)
case("euclidean", (5, 6), "euclidean", "qk")
case("quant", (4, 5), "quant", "k")
case("quant_squared", (4, 5), "quant", "k", quantize="squared")
case("bias_product", (3, 7), "product", "qk", "bias", heads=2, prefix=1)
case("bias_cross", (3, 5), "cross", "qk", "bias")
case("ratio", (2, 12), "product", "k", ratio=1)
case("row", (1, 20), "product", "qk", ratio=2.5)
case("ratio_20", (1, 60), "cross", "k", ratio=20)
