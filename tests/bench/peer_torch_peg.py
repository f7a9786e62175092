#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""x + conv(x) on tokens (1, H W, C) by PyTorch on one thread, as Twins and CPVT write it (transposed, NCHW,
transposed back) and in its channels-last format, beside bench_peg, alternately.

    peer_torch_peg.py build/tests/bench_peg
"""
import subprocess
import sys

import torch

from peer import least

torch.set_num_threads(1)


def published(x, conv, height, width):
    feature = x.transpose(1, 2).view(1, -1, height, width)
    return (conv(feature) + feature).flatten(2).transpose(1, 2).contiguous()


def channels_last(x, conv, height, width):
    feature = x.view(1, height, width, -1).permute(0, 3, 1, 2)
    return (conv(feature) + feature).permute(0, 2, 3, 1).reshape(x.shape)


with torch.inference_mode():
    for height, width, channels in (14, 14, 768), (56, 56, 64), (64, 64, 1024):
        x = torch.randn(1, height * width, channels)
        conv = torch.nn.Conv2d(channels, channels, 3, padding=1, groups=channels)
        last = torch.nn.Conv2d(channels, channels, 3, padding=1, groups=channels).to(memory_format=torch.channels_last)
        ours, theirs, best = [], [], []
        for turn in range(3):
            out = subprocess.run([sys.argv[1], "time", str(height), str(width), str(channels)],
                                 capture_output=True, check=True).stdout
            ours.append(float(out.split()[0]))
            theirs.append(least(12, published, x, conv, height, width))
            best.append(least(12, channels_last, x, last, height, width))
        print(f"{height} x {width} x {channels}: torch {torch.__version__} {min(theirs) * 1e3:.3f} ms, "
              f"channels last {min(best) * 1e3:.3f} ms, ours {min(ours) * 1e3:.3f} ms: "
              f"{min(theirs) / min(ours):.1f} and {min(best) / min(ours):.1f} times")
