# SPDX-License-Identifier: BSD-2-Clause
# Tiled attention against torch's scaled_dot_product_attention on one thread, in turns in one run:
#   peer_torch_attention.py BUILD/tests/bench_attention_encoders [LENGTH [TURNS]]
# 8 heads of 64. torch is given the encoding the way models give it, a bias tensor (1, 8, L, L) that is made
# in each call; pe_attend binds the encoding in each call likewise. Causal, the bias holds -inf. Each line is
# the least time of torch over the least time of pe_attend, and the limit it must keep.
import subprocess
import sys
import time

import torch
from torch.nn.functional import scaled_dot_product_attention

HEADS, WIDTH = 8, 64


def alibi(length, causal):
    slopes = torch.tensor([2.0 ** -(h + 1) for h in range(HEADS)])
    place = torch.arange(length)
    distance = (place[None, :] - place[:, None]).abs().float()
    bias = -slopes[:, None, None] * distance
    return hidden(bias, causal)[None]


def t5(length, causal):
    place = torch.arange(length)
    far = place[None, :] - place[:, None]
    bucket = torch.zeros_like(far)
    buckets, distance = 32, -far.clamp(max=0)
    if not causal:
        buckets = 16
        bucket = (far > 0).long() * buckets
        distance = far.abs()
    exact = buckets // 2
    log = torch.log(distance.clamp(min=1).float() / exact) / torch.log(torch.tensor(128 / exact))
    large = (exact + (log * (buckets - exact)).long()).clamp(max=buckets - 1)
    bucket = bucket + torch.where(distance < exact, distance, large)
    return hidden(T5_TABLE[bucket].permute(2, 0, 1).contiguous(), causal)[None]


def hidden(bias, causal):
    if causal:
        length = bias.shape[-1]
        above = torch.ones(length, length, dtype=torch.bool).triu(1)
        bias = bias.masked_fill(above, float("-inf"))
    return bias


def torch_seconds(make, causal, q, k, v):
    start = time.process_time()
    scaled_dot_product_attention(q, k, v, attn_mask=make(q.shape[2], causal))
    return time.process_time() - start


def measure(program, name, make, causal, length, turns, limit):
    command = [program, "time", name, str(length), str(int(causal))]
    ours = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    q, k, v = torch.rand(3, 1, HEADS, length, WIDTH).unbind(0)
    least = [1e9, 1e9]
    for _ in range(turns):
        least[0] = min(least[0], torch_seconds(make, causal, q, k, v))
        ours.stdin.write(b"\n")
        least[1] = min(least[1], float(ours.stdout.readline()))
    ours.stdin.close()
    ours.wait()
    ratio = least[0] / least[1]
    print(f"{length} {name} {'causal' if causal else '':6}  torch {least[0]:.3f} s  pe_attend {least[1]:.3f} s"
          f"  {ratio:.2f} times as fast, at least {limit}  {'' if ratio >= limit else 'MISSED'}", flush=True)


torch.set_num_threads(1)
torch.manual_seed(0)
T5_TABLE = torch.randn(32, HEADS)
length = int(sys.argv[2]) if len(sys.argv) > 2 else 4096
turns = int(sys.argv[3]) if len(sys.argv) > 3 else 4
print(f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}, one thread each")
for name, make, causal in (("alibi", alibi, False), ("t5", t5, False), ("alibi", alibi, True)):
    measure(sys.argv[1], name, make, causal, length, turns, 2.2)
