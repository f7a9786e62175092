#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/recurrent/*.npz: states of torch.nn.GRU and torch.nn.RNN, f64, over features (with a
first state) and over zeros.

Made with torch 2.13.0, numpy 2.4.6. Run from the source root:
python3 tests/golden/make_recurrent.py
"""
import os
from importlib.metadata import version

import numpy as np
import torch

assert version("torch").startswith("2.13.0") and np.__version__ == "2.4.6"
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recurrent")
torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
DIM, LENGTH = 5, 12

for name, cell in (("gru", torch.nn.GRU), ("recursion", torch.nn.RNN)):
    rnn = cell(DIM, DIM, batch_first=True)
    x, start = torch.randn(2, LENGTH, DIM), torch.randn(DIM)
    with torch.no_grad():
        h = rnn(x, start.expand(1, 2, DIM).contiguous())[0]
        zero = rnn(torch.zeros(1, LENGTH - 1, DIM), start.view(1, 1, DIM))[0][0]
    arrays = {k: v.detach().numpy() for k, v in rnn.named_parameters()}
    np.savez_compressed(os.path.join(OUT, name + ".npz"), x=x, start=start, h=h,
                        rows=torch.cat([start[None], zero]), **arrays)
