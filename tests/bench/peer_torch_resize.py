#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A learned table resized bicubically by PyTorch on one thread: from and to rows of tokens, as timm's
resample_abs_pos_embed does, and the interpolation alone, of a table that lies channel by channel already; beside
bench_resample, alternately.

    peer_torch_resize.py build/tests/bench_resample
"""
import subprocess
import sys

import torch
import torch.nn.functional as F

from peer import least

torch.set_num_threads(1)


def published(table, stored, side, antialias):
    grid = table.reshape(1, stored, stored, -1).permute(0, 3, 1, 2)
    grid = F.interpolate(grid, size=(side, side), mode="bicubic", antialias=antialias)
    return grid.permute(0, 2, 3, 1).reshape(1, side * side, -1)


def alone(planes, side, antialias):
    return F.interpolate(planes, size=(side, side), mode="bicubic", antialias=antialias)


with torch.inference_mode():
    for stored, side, channels, antialias in ((37, 64, 1024, True), (37, 64, 1024, False), (37, 16, 1024, True),
                                              (14, 24, 768, True), (14, 24, 768, False)):
        table = torch.randn(1, stored * stored, channels)
        planes = table.reshape(1, stored, stored, channels).permute(0, 3, 1, 2).contiguous()
        ours, whole, theirs, best = [], [], [], []
        for turn in range(4):
            command = [sys.argv[1], "time"] + [str(int(n)) for n in (stored, side, channels, antialias)]
            out = subprocess.run(command, capture_output=True, check=True).stdout.split()
            ours.append(float(out[0]))
            whole.append(float(out[1]))
            theirs.append(least(8, published, table, stored, side, antialias))
            best.append(least(8, alone, planes, side, antialias))
        print(f"{stored} to {side}, {channels} channels{', antialiased' if antialias else ''}: "
              f"torch {torch.__version__} {min(theirs) * 1e3:.2f} ms, the interpolation alone {min(best) * 1e3:.2f} ms, "
              f"ours {min(ours) * 1e3:.2f} ms (with the creation {min(whole) * 1e3:.2f}): "
              f"{min(theirs) / min(ours):.1f} and {min(best) / min(ours):.1f} times")
