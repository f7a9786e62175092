# SPDX-License-Identifier: BSD-2-Clause
# Swin's bias in attention against torch's scaled_dot_product_attention on one thread, in turns in one run:
#   peer_torch_swin.py BUILD/tests/bench_attention_grid [TURNS]
# 64 windows of 7 x 7, 8 heads of 32. torch is given the bias tensor (1, 8, 49, 49), gathered from the table by
# index in each call as Swin's code does, or ready; pe_attend takes a bound encoding, whose table it reads in
# each call, or binds it in each call too. Each line is the least time of torch over the least time of
# pe_attend, and the limit it must keep.
import subprocess
import sys
import time

import torch
from torch.nn.functional import scaled_dot_product_attention

WINDOWS, SIDE, HEADS, WIDTH = 64, 7, 8, 32
LENGTH = SIDE * SIDE


def index_of_window():
    y, x = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
    y, x = y.flatten(), x.flatten()
    return (y[:, None] - y[None, :] + SIDE - 1) * (2 * SIDE - 1) + x[:, None] - x[None, :] + SIDE - 1


def gathered():
    bias = TABLE[INDEX.view(-1)].view(LENGTH, LENGTH, HEADS)
    return bias.permute(2, 0, 1).contiguous().unsqueeze(0)


def torch_seconds(q, k, v, bias):
    start = time.process_time()
    for _ in range(CALLS):
        scaled_dot_product_attention(q, k, v, attn_mask=gathered() if bias is None else bias)
    return (time.process_time() - start) / CALLS


def our_seconds(program):
    total = 0
    for _ in range(CALLS):
        program.stdin.write(b"\n")
        total += float(program.stdout.readline())
    return total / CALLS


def start(fresh):
    command = [sys.argv[1], "time", "swin", str(WINDOWS), str(SIDE), str(SIDE), str(WIDTH), str(fresh)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)


CALLS = 10
torch.set_num_threads(1)
torch.manual_seed(0)
TABLE = torch.randn((2 * SIDE - 1) ** 2, HEADS)
INDEX = index_of_window()
turns = int(sys.argv[2]) if len(sys.argv) > 2 else 10
q, k, v = torch.rand(3, WINDOWS, HEADS, LENGTH, WIDTH).unbind(0)
bound, binding = start(0), start(1)
ready = gathered()
least = {name: 1e9 for name in ("gathered", "ready", "bound", "binding")}
with torch.inference_mode():
    for turn in range(turns):
        for name, seconds in (("gathered", lambda: torch_seconds(q, k, v, None)),
                              ("bound", lambda: our_seconds(bound)),
                              ("ready", lambda: torch_seconds(q, k, v, ready)),
                              ("binding", lambda: our_seconds(binding))):
            least[name] = min(least[name], seconds())
for program in bound, binding:
    program.stdin.close()
    program.wait()
print(f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}, one thread each; "
      f"{WINDOWS} windows of {SIDE} x {SIDE}, {HEADS} heads of {WIDTH}")
for theirs, ours in ("gathered", "bound"), ("ready", "bound"), ("gathered", "binding"):
    ratio = least[theirs] / least[ours]
    print(f"bias {theirs:8}  torch {least[theirs] * 1e3:.3f} ms  pe_attend, {ours:7} {least[ours] * 1e3:.3f} ms"
          f"  {ratio:.2f} times as fast, at least 1.5  {'' if ratio >= 1.5 else 'MISSED'}")
