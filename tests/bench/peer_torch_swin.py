# SPDX-License-Identifier: BSD-2-Clause
# Swin's bias in attention against torch's scaled_dot_product_attention on one thread, in turns in one run:
#   peer_torch_swin.py BUILD/tests/bench_attention_grid [TURNS]
# 64 windows of 7 x 7, 8 heads of 32. torch is given the bias tensor (1, 8, 49, 49), gathered from the table by
# index in each call as Swin's code does, or ready; pe_attend takes a bound encoding, whose table it reads in
# each call, or binds it in each call too. Shifted: the windows of a picture moved by 3, with Swin's mask of 0 and
# -100, (64, 1, 49, 49), which pe_attend takes beside the encoding and torch is given added to the bias, in each
# call or ready. Each line is the least time of torch over the least time of pe_attend, and the limit it must
# keep.
import subprocess
import sys
import time

import torch
from torch.nn.functional import scaled_dot_product_attention

WINDOWS, SIDE, HEADS, WIDTH, SHIFT = 64, 7, 8, 32, 3
LENGTH = SIDE * SIDE


def index_of_window():
    y, x = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
    y, x = y.flatten(), x.flatten()
    return (y[:, None] - y[None, :] + SIDE - 1) * (2 * SIDE - 1) + x[:, None] - x[None, :] + SIDE - 1


def gathered():
    bias = TABLE[INDEX.view(-1)].view(LENGTH, LENGTH, HEADS)
    return bias.permute(2, 0, 1).contiguous().unsqueeze(0)


def mask_of_shift():
    side = round(WINDOWS ** 0.5)
    band = torch.zeros(side * SIDE, dtype=torch.int64)
    band[-SIDE:] = 1
    band[-SHIFT:] = 2
    region = (3 * band[:, None] + band[None, :]).view(side, SIDE, side, SIDE).transpose(1, 2)
    region = region.reshape(WINDOWS, 1, LENGTH)
    return torch.where(region == region.transpose(1, 2), 0.0, -100.0).unsqueeze(1)


def torch_seconds(q, k, v, bias):
    start = time.process_time()
    for _ in range(CALLS):
        scaled_dot_product_attention(q, k, v, attn_mask=bias())
    return (time.process_time() - start) / CALLS


def our_seconds(program):
    total = 0
    for _ in range(CALLS):
        program.stdin.write(b"\n")
        total += float(program.stdout.readline())
    return total / CALLS


def start(fresh, shift):
    command = [sys.argv[1], "time", "swin", *map(str, (WINDOWS, SIDE, SIDE, WIDTH, fresh, shift))]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)


CALLS = 10
torch.set_num_threads(1)
torch.manual_seed(0)
TABLE = torch.randn((2 * SIDE - 1) ** 2, HEADS)
INDEX = index_of_window()
turns = int(sys.argv[2]) if len(sys.argv) > 2 else 10
q, k, v = torch.rand(3, WINDOWS, HEADS, LENGTH, WIDTH).unbind(0)
ready, mask = gathered(), mask_of_shift()
shifted = ready + mask
biases = {"gathered": gathered, "ready": lambda: ready, "shifted": lambda: gathered() + mask,
          "ready, shifted": lambda: shifted}
programs = {"bound": start(0, 0), "binding": start(1, 0), "bound, shifted": start(0, SHIFT)}
least = {name: 1e9 for name in (*biases, *programs)}
with torch.inference_mode():
    for turn in range(turns):
        for name in biases:
            least[name] = min(least[name], torch_seconds(q, k, v, biases[name]))
        for name in programs:
            least[name] = min(least[name], our_seconds(programs[name]))
for program in programs.values():
    program.stdin.close()
    program.wait()
print(f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}, one thread each; "
      f"{WINDOWS} windows of {SIDE} x {SIDE}, {HEADS} heads of {WIDTH}")
for theirs, ours in (("gathered", "bound"), ("ready", "bound"), ("gathered", "binding"),
                     ("shifted", "bound, shifted"), ("ready, shifted", "bound, shifted")):
    ratio = least[theirs] / least[ours]
    print(f"bias {theirs:14}  torch {least[theirs] * 1e3:.3f} ms  pe_attend, {ours:14} "
          f"{least[ours] * 1e3:.3f} ms  {ratio:.2f} times as fast, at least 1.5  "
          f"{'' if ratio >= 1.5 else 'MISSED'}")
