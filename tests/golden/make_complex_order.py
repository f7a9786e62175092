#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/complex_order/*.npz: complex embeddings by numpy's complex exponential in f64: a table of
amplitudes and one of frequencies by word, as in the authors' ComplexNN embedding, whose positions run
backwards; and one frequency row for all words with a phase.

Made with numpy 2.4.6. Run from the source root: python3 tests/golden/make_complex_order.py
"""
import os

import numpy as np

assert np.__version__ == "2.4.6"
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "complex_order")
rng = np.random.default_rng(0)
WORDS, DIM, LENGTH = 9, 6, 7

words = rng.integers(0, WORDS, (2, LENGTH))
words[1] = words[0]
amplitude, frequency = rng.normal(size=(WORDS, DIM)), rng.uniform(0, 1, (WORDS, DIM))
x = amplitude[words] * rng.uniform(0.5, 1, (2, 1, 1))
down = np.arange(LENGTH)[::-1]
y = x * np.exp(1j * down[:, None] * frequency[words[0]])
np.savez_compressed(os.path.join(OUT, "words.npz"), x=x, frequency=frequency[words[0]], real=y.real, imag=y.imag)

positions, phase = rng.normal(0, 40, (2, LENGTH)), rng.uniform(-3, 3, DIM)
x = rng.normal(size=(2, LENGTH, DIM))
w = np.array([10000 ** (-2 * (c // 2) / DIM) for c in range(DIM)])
y = x * np.exp(1j * (positions[..., None] * w + phase))
np.savez_compressed(os.path.join(OUT, "shared.npz"), x=x, positions=positions, phase=phase,
                    real=y.real, imag=y.imag)
