#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The table of bench_sincos (131072 positions times 64 frequencies, float32) by NumPy in float32, as the
common frameworks compute it, beside ours, alternately.

    peer_numpy_sincos.py build/tests/bench_sincos
"""
import subprocess
import sys
import time

import numpy

POSITIONS, FREQUENCIES = 131072, 64


def table():
    start = time.process_time()
    frequency = (10000.0 ** -(numpy.arange(FREQUENCIES) / FREQUENCIES)).astype(numpy.float32)
    angle = numpy.arange(POSITIONS, dtype=numpy.float32)[:, None] * frequency
    sine, cosine = numpy.sin(angle), numpy.cos(angle)
    return time.process_time() - start, sine, cosine


ours, theirs = [], []
for turn in range(3):
    ours.append(float(subprocess.run([sys.argv[1], "table"], capture_output=True, check=True).stdout))
    for repeat in range(3):
        seconds, sine, cosine = table()
        theirs.append(seconds)
exact = numpy.cos(numpy.arange(POSITIONS)[:, None] * 10000.0 ** -(numpy.arange(FREQUENCIES) / FREQUENCIES))
print(f"NumPy {numpy.__version__} float32 {min(theirs) * 1e3:.1f} ms, ours {min(ours) * 1e3:.1f} ms: "
      f"{min(theirs) / min(ours):.2f}x; its largest error {numpy.abs(cosine - exact).max():.1e}")
