#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/rope/:
  tables.npz  for each case: NAME.f32_cos, NAME.f32_sin of transformers' rotary modules at NAME.positions, and
              NAME.cos, NAME.sin at the last two of these by the formulas of the papers in 50 digits;
              ntk at 4097 and 131071; far, the same as plain, at 131072, 16777217, -16777217, 1000.1875
  turned.npz  vectors x turned by transformers' GPT-NeoX, GPT-J and Llama, rotary-embedding-torch, x-transformers
              and attention-smithy, and scores of transformers' DeepSeek-V3, in f32

Made with torch 2.13.0, transformers 5.24.0, rotary-embedding-torch 0.9.1, x-transformers 2.31.10, attention-smithy
1.3.0, numpy 2.4.6, mpmath 1.3.0. Run: python3 tests/golden/make_rope.py
"""
import importlib.metadata
import math

import mpmath
import numpy as np
import torch
import x_transformers.x_transformers as xt
from attention_smithy.numeric_embeddings import RotaryPositionEmbedding
from mpmath import mpf
from rotary_embedding_torch import RotaryEmbedding
from transformers import DeepseekV3Config, GPTNeoXConfig, LlamaConfig
from transformers.models.deepseek_v3 import modeling_deepseek_v3
from transformers.models.gpt_neox import modeling_gpt_neox
from transformers.models.gptj import modeling_gptj
from transformers.models.llama import modeling_llama

from attention import save

for package, version in (("torch", "2.13.0"), ("transformers", "5.24.0"), ("rotary-embedding-torch", "0.9.1"),
                         ("x-transformers", "2.31.10"), ("attention-smithy", "1.3.0"), ("numpy", "2.4.6"),
                         ("mpmath", "1.3.0")):
    assert importlib.metadata.version(package).split("+")[0] == version, package
mpmath.mp.dps = 50

# ---- tables ------------------------------------------------------------------------------


def base_of(p, r):
    """The base that ntk and dynamic stretch."""
    base, f = mpf(p["base"]), mpf(p.get("factor", 1))
    if p["scaling"] == "ntk":
        return base * f ** (mpf(r) / (r - 2))
    if p["scaling"] == "dynamic":
        longest = max(p["length"], p["original_length"])
        return base * (f * longest / p["original_length"] - (f - 1)) ** (mpf(r) / (r - 2))
    return base


def frequency(p, t):
    """By the papers."""
    kind, r, f, original = p["scaling"], p["rotary_dim"], mpf(p.get("factor", 1)), p.get("original_length")
    dim = p["head_dim"] if kind == "proportional" else r
    w = base_of(p, r) ** (-mpf(2 * t) / dim)
    if kind in ("linear", "proportional"):
        return w / f
    if kind == "longrope":
        return w / mpf(float(p["extension"][t]))
    if kind == "llama3":
        cycles = original * w / (2 * mpmath.pi)
        mean = (cycles - p["low"]) / (p["high"] - p["low"])
        mean = min(max(mean, 0), 1)
        return (1 - mean) * w / f + mean * w
    if kind == "yarn":
        def pair(turns):
            return r * mpmath.log(original / (turns * 2 * mpmath.pi)) / (2 * mpmath.log(p["base"]))
        low, high = pair(32), pair(1)
        if p.get("truncate", True):
            low, high = mpmath.floor(low), mpmath.ceil(high)
        low, high = max(low, 0), min(high, r - 1)  # as in the authors' code
        ramp = min(max((t - low) / (high - low), 0), 1)
        return w / f * ramp + w * (1 - ramp)
    return w


def amplitude(p):
    if p.get("attention_factor"):
        return mpf(p["attention_factor"])
    f = mpf(p.get("factor", 1))
    if p["scaling"] == "longrope":
        return mpmath.sqrt(1 + mpmath.log(f) / mpmath.log(p["original_length"]))
    if p["scaling"] != "yarn":
        return mpf(1)
    if p.get("mscale") and p.get("mscale_all_dim"):
        return (mpmath.log(f) * p["mscale"] / 10 + 1) / (mpmath.log(f) * p["mscale_all_dim"] / 10 + 1)
    return mpmath.log(f) / 10 + 1


def exact(p, positions):
    angles = [[x * frequency(p, t) for t in range(p["rotary_dim"] // 2)] for x in positions]
    a = amplitude(p)
    return [np.array([[float(a * g(x)) for x in row] for row in angles]) for g in (mpmath.cos, mpmath.sin)]


def module(p):
    """transformers' Llama with the same numbers; GPT-NeoX where only part of a head is turned."""
    rope = {"rope_type": "default" if p["scaling"] == "none" else p["scaling"], "rope_theta": p["base"]}
    names = {"original_length": "original_max_position_embeddings", "low": "low_freq_factor",
             "high": "high_freq_factor"}
    for key in ("factor", "attention_factor", "mscale", "mscale_all_dim", "truncate", "short_factor", "long_factor",
                "original_length", "low", "high"):
        if key in p and not (key == "original_length" and p["scaling"] == "dynamic"):
            rope[names.get(key, key)] = p[key]
    if p["scaling"] != "none" or p["rotary_dim"] < p["head_dim"]:
        rope["partial_rotary_factor"] = p["rotary_dim"] / p["head_dim"]
    longest = p["original_length"] if p["scaling"] == "dynamic" else 1 << 17
    kind, make = (LlamaConfig, modeling_llama.LlamaRotaryEmbedding)
    if p["scaling"] == "none" and p["rotary_dim"] < p["head_dim"]:
        kind, make = (GPTNeoXConfig, modeling_gpt_neox.GPTNeoXRotaryEmbedding)
    config = kind(hidden_size=4 * p["head_dim"], num_attention_heads=4, max_position_embeddings=longest,
                  rope_parameters=rope)
    return make(config)


def table(p):
    # Its tables follow the largest position: the length less one is asked for too.
    positions = p["positions"] + ([p["length"] - 1] if "length" in p else [])
    cos, sin = module(p)(torch.zeros(1), torch.tensor([positions]))
    n, pairs = len(p["positions"]), p["rotary_dim"] // 2
    return [x[0, :n, :pairs].numpy() for x in (cos, sin)]


rng = np.random.default_rng(7)
short = [round(float(x), 3) for x in rng.uniform(1, 1.5, 16)]
long = [round(float(x), 3) for x in np.sort(rng.uniform(1, 60, 16))]
longrope = {"scaling": "longrope", "head_dim": 32, "base": 10000.0, "factor": 32.0, "original_length": 4096,
            "short_factor": short, "long_factor": long}
yarn = {"scaling": "yarn", "head_dim": 128, "base": 10000.0, "factor": 16.0, "original_length": 4096}
cases = {
    "plain": {"scaling": "none", "head_dim": 128, "base": 10000.0, "positions": [1, 131072, 16777216]},
    "neox": {"scaling": "none", "head_dim": 64, "rotary_dim": 16, "base": 10000.0},
    "linear": {"scaling": "linear", "head_dim": 64, "base": 10000.0, "factor": 3.0},
    "dynamic_short": {"scaling": "dynamic", "head_dim": 128, "base": 10000.0, "factor": 2.0, "original_length": 2048,
                      "length": 2048, "positions": [1, 77, 2047]},
    "dynamic_long": {"scaling": "dynamic", "head_dim": 128, "base": 10000.0, "factor": 2.0, "original_length": 2048,
                     "length": 8192, "positions": [1, 77, 8191]},
    "yarn": yarn,
    "yarn_given": {**yarn, "attention_factor": 1.25, "head_dim": 64, "rotary_dim": 32},
    "yarn_mscale": {**yarn, "factor": 40.0, "mscale": 0.707, "mscale_all_dim": 1.0, "head_dim": 64},
    "yarn_beyond": {**yarn, "head_dim": 16, "original_length": 20000},
    "yarn_clamped": {**yarn, "head_dim": 16, "base": 4.0, "original_length": 300},
    "gpt_oss": {**yarn, "base": 150000.0, "factor": 32.0, "truncate": False, "head_dim": 64},
    "longrope_short": {**longrope, "length": 4096, "extension": short, "positions": [1, 77, 4095]},
    "longrope_long": {**longrope, "length": 4097, "extension": long, "positions": [1, 77, 4096]},
    "llama3": {"scaling": "llama3", "head_dim": 128, "base": 500000.0, "factor": 8.0, "original_length": 8192,
               "low": 1.0, "high": 4.0},
    "proportional": {"scaling": "proportional", "head_dim": 64, "rotary_dim": 16, "base": 1e6, "factor": 8.0},
}
arrays = {}
for name, p in cases.items():
    p.setdefault("rotary_dim", p["head_dim"])
    p.setdefault("positions", [1, 4097, 131071])
    arrays[name + ".positions"] = np.array(p["positions"], np.int64)
    arrays[name + ".f32_cos"], arrays[name + ".f32_sin"] = table(p)
    arrays[name + ".cos"], arrays[name + ".sin"] = exact(p, p["positions"][-2:])
# Past 2^24, where f32 has no odd numbers; and what transformers has no code for.
ntk = {"scaling": "ntk", "head_dim": 64, "rotary_dim": 64, "base": 10000.0, "factor": 4.0}
arrays["ntk.cos"], arrays["ntk.sin"] = exact(ntk, [4097, 131071])
arrays["far.cos"], arrays["far.sin"] = exact(cases["plain"], [131072, 16777217, -16777217, mpf("1000.1875")])
arrays["longrope.short_factor"], arrays["longrope.long_factor"] = np.array(short), np.array(long)
save("rope/tables", **arrays)

# ---- turned vectors ----------------------------------------------------------------------

TOKENS = 9
x = {dim: torch.from_numpy(rng.standard_normal((1, 2, TOKENS, dim)).astype(np.float32)) for dim in (16, 24)}
ids = torch.arange(TOKENS)[None]
turned = {}
with torch.no_grad():
    config = LlamaConfig(hidden_size=32, num_attention_heads=2)
    turned["llama"] = modeling_llama.apply_rotary_pos_emb(
        x[16], x[16], *modeling_llama.LlamaRotaryEmbedding(config)(x[16], ids))[0]
    config = GPTNeoXConfig(hidden_size=48, num_attention_heads=2,
                           rope_parameters={"rope_type": "default", "rope_theta": 10000.0,
                                            "partial_rotary_factor": 1 / 3})
    turned["neox"] = modeling_gpt_neox.apply_rotary_pos_emb(
        x[24], x[24], *modeling_gpt_neox.GPTNeoXRotaryEmbedding(config)(x[24], ids))[0]
    table_j = modeling_gptj.create_sinusoidal_positions(TOKENS, 8)[None]
    sin, cos = torch.split(table_j, 4, dim=-1)
    first = modeling_gptj.apply_rotary_pos_emb(x[24][..., :8].transpose(1, 2), sin, cos).transpose(1, 2)
    turned["gptj"] = torch.cat((first, x[24][..., 8:]), -1)
    turned["rotary_embedding_torch"] = RotaryEmbedding(16).rotate_queries_or_keys(x[16], offset=5)
    turned["rescaled"] = RotaryEmbedding(16, theta_rescale_factor=4.0).rotate_queries_or_keys(x[16])
    freqs, _ = xt.RotaryEmbedding(8, interpolation_factor=2.0)(torch.arange(TOKENS))
    turned["x_transformers"] = xt.apply_rotary_pos_emb(x[24], freqs)
    turned["attention_smithy"] = RotaryPositionEmbedding(16).modify_matrix(x[16])
    # Scores of DeepSeek-V3, 128 channels without a position and 64 with one: queries at 90, keys at 2.
    q, k = (torch.from_numpy(rng.standard_normal((1, 2, 1, 192)).astype(np.float32)) for _ in range(2))
    turned["deepseek_q"], turned["deepseek_k"] = q, k
    for name, mscale in (("deepseek", 1.0), ("deepseek_v2", 0.707)):
        config = DeepseekV3Config(max_position_embeddings=163840, rope_parameters={
            "rope_type": "yarn", "rope_theta": 10000.0, "factor": 40.0, "original_max_position_embeddings": 4096,
            "mscale": mscale, "mscale_all_dim": 1.0, "beta_fast": 32, "beta_slow": 1})
        rotary = modeling_deepseek_v3.DeepseekV3RotaryEmbedding(config)
        parts = []
        for x_, at in ((q, 90), (k, 2)):
            cos, sin = rotary(x_, torch.tensor([[at]]))
            end = modeling_deepseek_v3.apply_rotary_pos_emb_interleave(x_[..., 128:], x_[..., 128:], cos, sin)[0]
            parts.append(torch.cat((x_[..., :128], end), -1))
        scale = modeling_deepseek_v3.yarn_apply_mscale(config.rope_parameters, 192 ** -0.5)
        turned[name + "_scores"] = (parts[0] * parts[1]).sum(-1).reshape(2) * scale
save("rope/turned", x16=x[16].numpy(), x24=x[24].numpy(), **{k: v.numpy() for k, v in turned.items()})
