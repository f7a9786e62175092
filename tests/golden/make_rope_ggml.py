#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/rope/ggml.npz: NAME.cos, NAME.sin of ggml's own ggml_rope_cache_init at NAME.positions. Cuts
that function and what it calls out of src/ggml-cpu/ops.cpp and src/ggml.c, and compiles them.

Made with ggml d99724f2b141 (2026-08-21), gcc 12.2.0, glibc 2.36, numpy 2.4.6.
Run: python3 tests/golden/make_rope_ggml.py PATH-OF-GGML
"""
import ctypes
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

from attention import save


def function(text, name):
    """From its first line to the brace at the beginning of a line."""
    return re.search(r"^[a-z ]+ " + name + r"\([^;{]*\{.*?^\}", text, re.S | re.M).group(0)


def library(ggml):
    with open(os.path.join(ggml, "src/ggml-cpu/ops.cpp")) as f, open(os.path.join(ggml, "src/ggml.c")) as g:
        ops, base = f.read(), g.read()
    parts = ["#include <math.h>", "#include <stdint.h>", "#define MAX(a, b) ((a) > (b) ? (a) : (b))",
             "#define MIN(a, b) ((a) < (b) ? (a) : (b))", function(ops, "rope_yarn_ramp"), function(ops, "rope_yarn"),
             function(ops, "ggml_rope_cache_init").replace("static ", ""), function(base, "ggml_rope_yarn_corr_dim"),
             function(base, "ggml_rope_yarn_corr_dims")]
    folder = tempfile.mkdtemp()
    with open(os.path.join(folder, "rope.c"), "w") as f:
        f.write("\n".join(parts))
    subprocess.run(["cc", "-O2", "-ffp-contract=off", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", folder + "/rope.so",
                    folder + "/rope.c", "-lm"], check=True)
    return ctypes.CDLL(folder + "/rope.so")


def cache(lib, positions, dims, base, scale=1.0, factors=None, trained=4096, ext=0.0, attention=1.0):
    real = ctypes.c_float
    pair = (real * 2)()
    lib.ggml_rope_yarn_corr_dims(dims, trained, real(base), real(32), real(1), pair)
    libm = ctypes.CDLL("libm.so.6")
    libm.powf.restype, libm.powf.argtypes = real, [real, real]
    ratio = libm.powf(base, float(np.float32(-2.0) / np.float32(dims)))
    table = (real * len(factors))(*factors) if factors is not None else None
    rows = []
    for p in positions:
        row = (real * dims)()
        lib.ggml_rope_cache_init(real(p), real(scale), table, pair, ctypes.c_int64(dims), real(ext), real(attention),
                                 row, real(1), real(ratio))
        rows.append(np.array(row, np.float32))
    return np.array(rows)[:, ::2], np.array(rows)[:, 1::2]


lib = library(sys.argv[1])
arrays = {}
positions = [1, 77, 4097, 131072]
arrays["positions"] = np.array(positions, np.int64)
factors = [1 + 0.5 * t for t in range(16)]
arrays["factors"] = np.array(factors)
for name, given in {"plain": dict(dims=128, base=10000.0), "linear": dict(dims=64, base=10000.0, scale=1 / 3),
                    "yarn": dict(dims=128, base=1e6, scale=0.25, ext=1.0, trained=32768),
                    "longrope": dict(dims=32, base=10000.0, factors=factors, attention=1.190238)}.items():
    arrays[name + ".cos"], arrays[name + ".sin"] = cache(lib, positions, **given)
save("rope/ggml", **arrays)
