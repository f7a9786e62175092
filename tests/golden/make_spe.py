#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/spe/: codes of sine and conv written out with whole arrays in float64, for parameters and noise
given; queries and keys times them; and attention of those, causal, of the last tokens. The layouts of the authors'
code (aliutkus/spe, commit 1fb474a) are kept on the way: z (1, heads, dim, 2 K, R) for sine, (R, heads dim, length) for
conv, whose first `kernel` places are dropped. Its ConvSPE makes keys by conv_q: conv_swapped is that.

Made with numpy 2.4.6. Run: python3 tests/golden/make_spe.py
"""
import numpy as np

from attention import causal, qkv, save, softmax

assert np.__version__ == "2.4.6", np.__version__
HEADS, QUERIES, KEYS = 2, 6, 9
rng = np.random.default_rng(20)


def draw(*shape):
    return rng.standard_normal(shape).astype(np.float32).astype(np.float64)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def sine_codes(positions, freqs, offsets, gains, z):
    """(length, heads, dim, R) of queries and keys, by matrix products over all cosines and sines."""
    heads, dim, sines = freqs.shape
    phase = 2 * np.pi * (sigmoid(freqs) / 2)[:, :, None, :] * positions[None, None, :, None]
    codes = []
    for shift in (offsets[:, :, None, :], 0):
        omega = np.stack([np.cos(phase + shift), np.sin(phase + shift)], -1).reshape(heads, dim, len(positions), 2 * sines)
        gain = np.repeat(np.log1p(np.exp(gains)), 2, -1) / np.sqrt(2 * sines)
        codes.append(np.einsum("hdls,hdsr->lhdr", omega, z * gain[..., None]))
    return codes


def conv_codes(length, weight_q, weight_k, z):
    """z (R, heads, dim, 4 kernel + length): correlation, as torch's convolution, then places kernel ... of it."""
    kernel = weight_q.shape[-1]
    codes = []
    for weight in (weight_q, weight_k):
        full = np.stack([[[np.correlate(z[r, h, d], weight[h, d], "valid") for d in range(z.shape[2])]
                          for h in range(z.shape[1])] for r in range(z.shape[0])])
        codes.append(np.moveaxis(full[..., kernel:kernel + length], (3, 1, 2, 0), (0, 1, 2, 3)))
    return codes


def finish(name, qbar, kbar, gate=None, w=None, query_places=slice(KEYS - QUERIES, KEYS), **arrays):
    dim, realizations = qbar.shape[2:]
    scale = (realizations * dim) ** 0.25
    qbar, kbar = qbar / scale, kbar / scale
    if gate is not None:
        g = sigmoid(gate)[..., None]
        qbar = np.sqrt(1 - g) * qbar + np.sqrt(g) * w / scale
        kbar = np.sqrt(1 - g) * kbar + np.sqrt(g) * w / scale
        arrays.update(gate=gate, gate_noise=w)
    q, k, v = qkv(rng, 2, HEADS, QUERIES, KEYS, dim, 3)
    features_q = np.einsum("bhid,ihdr->bhir", q, qbar[query_places])
    features_k = np.einsum("bhjd,jhdr->bhjr", k, kbar)
    weights, lse = softmax(features_q @ features_k.swapaxes(-1, -2) / np.sqrt(realizations), causal(QUERIES, KEYS))
    phi = [np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))) for x in (features_q, features_k)]
    linear = np.where(causal(QUERIES, KEYS), phi[0] @ phi[1].swapaxes(-1, -2), 0)
    norm = linear.sum(-1, keepdims=True)
    save("spe/" + name, q=q, k=k, v=v, features_q=features_q, features_k=features_k, out=weights @ v, lse=lse, **arrays)
    if not name.endswith("swapped"):
        save("spe/" + name + "_linear", q=q, k=k, v=v, out=linear / norm @ v, lse=np.log(norm[..., 0]), **arrays)


freqs, offsets, gains = draw(HEADS, 5, 3) - 1, draw(HEADS, 5, 3), draw(HEADS, 5, 3)
z = draw(HEADS, 5, 6, 7)
finish("sine", *sine_codes(np.arange(KEYS), freqs, offsets, gains, z), gate=draw(HEADS, 5), w=draw(HEADS, 5, 7),
       freqs=freqs, offsets=offsets, gains=gains, noise=z)

KERNEL, R = 4, 6
conv_q, conv_k = draw(HEADS, 3, KERNEL), draw(HEADS, 3, KERNEL)
z = draw(R, HEADS, 3, 4 * KERNEL + KEYS)
# Of the places, those that position 0 ... KEYS - 1 use.
noise = np.moveaxis(z[..., KERNEL:2 * KERNEL + KEYS - 1], 0, -1)
codes = conv_codes(KEYS, conv_q, conv_k, z)
finish("conv", *codes, conv_q=conv_q, conv_k=conv_k, noise=noise)
finish("conv_swapped", *codes, conv_q=conv_k, conv_k=conv_q, noise=noise)
