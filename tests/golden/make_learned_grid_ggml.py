#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/learned_grid/ggml.npz: tables of a grid resized by ggml's own
ggml_compute_forward_upscale_f32 (ggml_interpolate), which llama.cpp takes for learned positions. Cuts that function
out of src/ggml-cpu/ops.cpp and compiles it. CASE.grid is height, width, prefix.

Made with ggml d99724f2b141 (2026-08-21), g++ 12.2.0, numpy 2.4.6.
Run: python3 tests/golden/make_learned_grid_ggml.py PATH-OF-GGML
"""
import ctypes
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

from attention import save

BILINEAR, BICUBIC, CORNERS, ANTIALIAS = 1, 2, 1 << 8, 1 << 9
AROUND = """
#include <algorithm>
#include <cmath>
#include <cstring>
#include "ggml.h"
#include "ggml-impl.h"
struct ggml_compute_params { int ith, nth; };
%s
static ggml_tensor dense(float * data, int64_t width, int64_t height, int64_t channels)
{
	ggml_tensor t = {};
	t.type = GGML_TYPE_F32;
	t.data = data;
	t.ne[0] = width, t.ne[1] = height, t.ne[2] = channels, t.ne[3] = 1;
	t.nb[0] = 4;
	for (int i = 1; i < 4; i++)
		t.nb[i] = t.nb[i - 1] * t.ne[i - 1];
	return t;
}
extern "C" void ggml_abort(const char *, int, const char *, ...) { __builtin_abort(); }
extern "C" void resize(int mode, float * in, int64_t high, int64_t wide, int64_t channels, float * out, int64_t height,
	int64_t width)
{
	ggml_tensor from = dense(in, wide, high, channels), to = dense(out, width, height, channels);
	ggml_compute_params one = {0, 1};
	to.src[0] = &from;
	memcpy(to.op_params, &mode, sizeof mode);
	ggml_compute_forward_upscale_f32(&one, &to);
}
"""


def library(ggml):
    with open(os.path.join(ggml, "src/ggml-cpu/ops.cpp")) as f:
        ops = f.read()
    upscale = re.search(r"^static void ggml_compute_forward_upscale_f32\(.*?^\}", ops, re.S | re.M).group(0)
    folder = tempfile.mkdtemp()
    with open(os.path.join(folder, "upscale.cpp"), "w") as f:
        f.write(AROUND % upscale)
    subprocess.run(["c++", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-I" + ggml + "/include",
                    "-I" + ggml + "/src", "-o", folder + "/upscale.so", folder + "/upscale.cpp"], check=True)
    return ctypes.CDLL(folder + "/upscale.so")


def resized(lib, mode, table, height, width):
    """table (height, width, channels), by channels as ggml has it."""
    planes = np.ascontiguousarray(table.transpose(2, 0, 1))
    out = np.empty((table.shape[2], height, width), np.float32)
    pointer, number = (lambda a: a.ctypes.data_as(ctypes.c_void_p)), ctypes.c_int64
    lib.resize(mode, pointer(planes), number(table.shape[0]), number(table.shape[1]), number(table.shape[2]),
               pointer(out), number(height), number(width))
    return out.transpose(1, 2, 0)


lib = library(sys.argv[1])
rng = np.random.default_rng(7)
arrays = {}
for name, mode in {"bilinear": BILINEAR, "antialias": BILINEAR | ANTIALIAS, "corners": BILINEAR | CORNERS,
                   "bicubic": BICUBIC, "bicubic_corners": BICUBIC | CORNERS}.items():
    for case, stored, grid in (("larger", (5, 6), (8, 11)), ("smaller", (9, 12), (4, 5)), ("mixed", (7, 3), (3, 7)),
                               ("one", (4, 5), (1, 9))):
        table = rng.standard_normal((*stored, 3)).astype(np.float32)
        arrays[f"{name}.{case}.grid"] = np.array((*grid, 0), np.int64)
        arrays[f"{name}.{case}.pos_embed"] = table[None]
        arrays[f"{name}.{case}.out.position_encoding"] = resized(lib, mode, table, *grid).reshape(-1, 3).astype(
            np.float64)
save("learned_grid/ggml", **arrays)
