#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Inputs and results for posenc attend and posenc convert, by plain numpy, in f64.

Made with numpy 1.24.2: attention written out as a softmax over a table of scores, the rotary layouts as
the reshape and transpose of the conversion scripts of Hugging Face's transformers. Run in tests/golden.
"""
import json
import os
import struct

import numpy as np

rng = np.random.default_rng(7)
os.makedirs("attend", exist_ok=True)
os.makedirs("convert", exist_ok=True)


def save_safetensors(path, arrays, metadata=None):
    names = {"float32": "F32", "float64": "F64", "float16": "F16", "int64": "I64", "bool": "BOOL", "int16": "I16"}
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": names[str(array.dtype)], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def attend(q, k, v, q_positions, k_positions, causal=False, window=None, scale=None, softcap=None, bias=0.0,
           slopes=None, mask=None, key_lengths=None, sinks=None):
    batch, heads, _, width = q.shape
    group = heads // k.shape[1]
    out = np.zeros(q.shape[:3] + v.shape[3:])
    lse = np.zeros(q.shape[:3])
    q_positions = np.broadcast_to(q_positions, (batch, q.shape[2]))
    k_positions = np.broadcast_to(k_positions, (batch, k.shape[2]))
    for b in range(batch):
        distance = q_positions[b][:, None] - k_positions[b][None, :]
        seen = np.ones(distance.shape, bool)
        if causal:
            seen &= distance >= 0
        if window:
            seen &= (distance <= window[0]) & (-distance <= window[1])
        if key_lengths is not None:
            seen &= np.arange(k.shape[2])[None, :] < key_lengths[b]
        for h in range(heads):
            s = q[b, h] @ k[b, h // group].T * (scale if scale else 1 / np.sqrt(width))
            if softcap:
                s = softcap * np.tanh(s / softcap)
            if slopes is not None:
                s = s - slopes[h] * np.abs(distance)
            see = seen.copy()
            if mask is not None:
                m = np.broadcast_to(mask, (batch, heads) + distance.shape)[b, h]
                if m.dtype == bool:
                    see &= m
                else:
                    s = s + m
            s = np.where(see, s, -np.inf)
            total = np.exp(s).sum(1) + (np.exp(sinks[h]) if sinks is not None else 0)
            with np.errstate(divide="ignore", invalid="ignore"):
                lse[b, h] = np.log(total)
                out[b, h] = np.where(total[:, None] > 0, np.exp(s) @ v[b, h // group] / total[:, None], 0)
    return {"out": out, "lse": lse}


def normal(*shape):
    return rng.normal(size=shape).astype(np.float32)


q, k, v = normal(2, 4, 5, 8), normal(2, 2, 7, 8), normal(2, 2, 7, 6)
plain = {"q": q, "k": k, "v": v}
np.savez("attend/plain.npz", **plain)
save_safetensors("attend/plain.safetensors", plain)
last, all_keys, slopes4 = np.arange(2, 7), np.arange(7), 2.0 ** -(2.0 * np.arange(1, 5))
wide = {name: array.astype(np.float64) for name, array in plain.items()}
results = {
    "none": attend(**wide, q_positions=last, k_positions=all_keys),
    "causal": attend(**wide, q_positions=last, k_positions=all_keys, causal=True),
    "offset": attend(**wide, q_positions=np.arange(-1, 4), k_positions=all_keys, causal=True),
    "window": attend(**wide, q_positions=last, k_positions=all_keys, window=(2, 1)),
    "left": attend(**wide, q_positions=last, k_positions=all_keys, window=(1, np.inf)),
    "numbers": attend(**wide, q_positions=last, k_positions=all_keys, scale=0.7, softcap=1.5),
    "alibi": attend(**wide, q_positions=last, k_positions=all_keys, causal=True, slopes=slopes4),
}
more = {
    "mask": rng.random((2, 1, 5, 7)) < 0.7, "key_lengths": np.array([7, 4]), "sinks": normal(4),
    "slopes": np.array([1, 0.5, 0.25, 3], np.float32),
    "k_positions": rng.integers(-3, 9, (2, 7)).astype(np.float64),
    "q_positions": rng.integers(-3, 9, (2, 5)).astype(np.float64),
}
np.savez("attend/full.npz", **plain, **more)
results["full"] = attend(**wide, causal=True, **{**more, "sinks": more["sinks"].astype(np.float64)})
added = np.where(rng.random((5, 7)) < 0.3, -np.inf, rng.normal(size=(5, 7)))
one = {"q": q[0].astype(np.float64), "k": k[0].astype(np.float64), "v": v[0].astype(np.float64)}
np.savez("attend/one.npz", **one, mask=added)
results["one"] = attend(q=wide["q"][:1], k=wide["k"][:1], v=wide["v"][:1], q_positions=last, k_positions=all_keys,
                        mask=added)
for name, result in results.items():
    np.savez(f"attend/{name}_is.npz", **result)

# Self-attention of four batches of four tokens: positions (4, 4) may be read two ways. Sixteen tokens on a
# grid, and their coordinates, (length, axes).
square = {"q": normal(4, 1, 4, 4), "k": normal(4, 1, 4, 4), "v": normal(4, 1, 4, 4)}
np.savez("attend/square.npz", **square, k_positions=np.tile(np.arange(4.0), (4, 1)))
grid = {"q": normal(1, 2, 17, 8), "k": normal(1, 2, 17, 8), "v": normal(1, 2, 17, 8)}
np.savez("attend/grid.npz", **grid)
np.savez("attend/axes.npz", **grid, k_positions=np.array([(0, 0)] + [(i // 4, i % 4) for i in range(16)]))
np.savez("attend/wrong.npz", q=q, k=k[:, :, :, :4], v=v)
np.savez("attend/lacks.npz", q=q, k=k)

# ---- convert
heads, key_heads, dim, width = 4, 2, 6, 5


def to_halves(w, heads, rotary):
    w = w.reshape((heads, dim) + w.shape[1:])
    turned = w[:, :rotary].reshape((heads, rotary // 2, 2) + w.shape[2:]).swapaxes(1, 2)
    w = np.concatenate([turned.reshape((heads, rotary) + w.shape[2:]), w[:, rotary:]], 1)
    return w.reshape((heads * dim,) + w.shape[2:])


weights = {
    "embed.weight": normal(3, width),
    "layers.0.self_attn.q_proj.weight": normal(heads * dim, width),
    "layers.0.self_attn.k_proj.weight": normal(key_heads * dim, width).astype(np.float16),
    "layers.0.self_attn.v_proj.weight": normal(key_heads * dim, width),
    "layers.0.self_attn.q_proj.bias": normal(heads * dim),
    "layers.0.self_attn.q_norm.weight": normal(dim),
    "layers.0.seq_proj.weight": normal(dim, 2),
    "steps": np.array(7),
}
for name, rotary in ("halves", dim), ("partial", 4):
    converted = dict(weights)
    for key in weights:
        if ".q_proj" in key or ".k_proj" in key or "q_norm" in key:
            count = len(weights[key]) // dim
            converted[key] = to_halves(weights[key], count, rotary)
    save_safetensors(f"convert/{name}.safetensors", converted, {"format": "pt"})
save_safetensors("convert/interleaved.safetensors", weights, {"format": "pt"})
save_safetensors("convert/narrow.safetensors", {"a.q_proj.weight": np.zeros((12, 2), np.int16)})
save_safetensors("convert/fused.safetensors", {"a.wq": weights["layers.0.self_attn.q_proj.weight"]})
