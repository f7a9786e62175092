#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/deberta/: DisentangledSelfAttention of transformers, in float64 with random weights, and the
row of each distance by the rule of its code.

q, k and v are what the module's own projections make of random states, biases in them.
Made with torch 2.13.0, transformers 5.24.0: python3 tests/golden/make_deberta.py
"""
import numpy as np
import torch
import transformers
from transformers import DebertaConfig, DebertaV2Config
from transformers.models.deberta import modeling_deberta as v1
from transformers.models.deberta_v2 import modeling_deberta_v2 as v2

from attention import save

assert transformers.__version__ == "5.24.0" and torch.__version__.startswith("2.13.0")
HEADS, WIDTH = 2, 6
DIM = HEADS * WIDTH


def heads(x):
    return x.view(x.shape[0], x.shape[1], HEADS, -1).permute(0, 2, 1, 3)


def randomize(module, seed):
    torch.manual_seed(seed)
    module.double().eval()
    for p in module.parameters():
        torch.nn.init.normal_(p, std=0.5)
    return module


def run(name, module, q, k, v, states, mask, table, extra, **options):
    with torch.no_grad():
        out = module(states, mask, rel_embeddings=table, **options)[0]
    save("deberta/" + name, q=q.numpy(), k=k.numpy(), v=v.numpy(), out=heads(out).numpy(),
         mask=mask[:, 0, 0].numpy()[:, None, None, :], **{key: value.detach().numpy() for key, value in extra.items()})


def first(name, length, max_distance, seed, types=("c2p", "p2c")):
    config = DebertaConfig(hidden_size=DIM, num_attention_heads=HEADS, relative_attention=True,
                           max_relative_positions=max_distance, pos_att_type=list(types))
    module = randomize(v1.DisentangledSelfAttention(config), seed)
    states, table = torch.randn(2, length, DIM).double(), torch.randn(2 * max_distance, DIM).double()
    mask = torch.ones(2, 1, length, length, dtype=torch.bool)
    mask[1, :, :, length - 2:] = False
    with torch.no_grad():
        q, k, v = module.transpose_for_scores(module.in_proj(states)).chunk(3, dim=-1)
        q = q + module.transpose_for_scores(module.q_bias[None, None, :])
        v = v + module.transpose_for_scores(module.v_bias[None, None, :])
    relative = v1.build_relative_position(q, k)
    extra = {"rel_embeddings.weight": table}
    if "c2p" in types:
        extra["pos_proj.weight"] = module.pos_proj.weight
    if "p2c" in types:
        extra |= {"pos_q_proj.weight": module.pos_q_proj.weight, "pos_q_proj.bias": module.pos_q_proj.bias}
    run(name, module, q, k, v, states, mask, table, extra, relative_pos=relative)


def second(name, length, buckets, max_distance, seed, share, norm=False):
    config = DebertaV2Config(hidden_size=DIM, num_attention_heads=HEADS, relative_attention=True,
                             position_buckets=buckets, max_relative_positions=max_distance, share_att_key=share,
                             pos_att_type=["c2p", "p2c"], norm_rel_ebd="layer_norm" if norm else "none",
                             num_hidden_layers=1, intermediate_size=4, vocab_size=5)
    module = randomize(v2.DisentangledSelfAttention(config), seed)
    rows = 2 * (buckets if buckets > 0 else max_distance)
    states, table = torch.randn(1, length, DIM).double(), torch.randn(rows, DIM).double()
    extra = {"rel_embeddings.weight": table}
    if norm:
        encoder = randomize(v2.DebertaV2Encoder(config), seed + 1)
        encoder.rel_embeddings.weight.data = table
        extra |= {"LayerNorm.weight": encoder.LayerNorm.weight, "LayerNorm.bias": encoder.LayerNorm.bias}
        table = encoder.get_rel_embedding().detach()
    mask = torch.ones(1, 1, length, length, dtype=torch.bool)
    with torch.no_grad():
        q, k, v = (heads(p(states)) for p in (module.query_proj, module.key_proj, module.value_proj))
    names = ("query_proj", "key_proj") if share else ("pos_query_proj", "pos_key_proj")
    for n in names:
        extra |= {n + ".weight": getattr(module, n).weight, n + ".bias": getattr(module, n).bias}
    relative = v2.build_relative_position(q, k, bucket_size=buckets, max_position=max_distance)
    run(name, module, q, k, v, states, mask, table, extra, relative_pos=relative)


first("v1_short", 7, 16, 1)                 # all distances have rows of their own
first("v1_long", 13, 5, 2)                  # clamped at both ends
first("v1_c2p", 7, 5, 3, ("c2p",))
first("v1_p2c", 7, 5, 4, ("p2c",))
second("v2_share", 17, 6, 12, 5, True)
second("v2_norm", 17, 6, 12, 6, True, True)
second("v2_own", 17, 6, 12, 7, False)
second("v2_no_buckets", 9, -1, 5, 8, False)

# Rows of distances 0 … 600, buckets 256 and max_distance 512: the rule of make_log_bucket_position, whose own
# single precision gives the same rows here but where it is noted.
distance = np.arange(601)
mid, most = 128, 512
with np.errstate(divide="ignore"):
    log = np.ceil(np.log(distance / mid) / np.log((most - 1) / mid) * (mid - 1)) + mid
bucket = np.where(distance <= mid, distance, log)
rows = np.clip(bucket + 256, 0, 511).astype(np.int32)
torch_rows = torch.clamp(v2.make_log_bucket_position(torch.from_numpy(distance), 256, 512).long() + 256, 0, 511)
print("distances that torch puts elsewhere:", distance[rows != torch_rows.numpy()])
save("deberta/rows", rows=rows, other_side=np.clip(256 - bucket, 0, 511).astype(np.int32))
