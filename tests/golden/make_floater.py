#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/floater/*.npz: FLOATER's dynamics (flow_func_linear: two Linear layers that take the time
as one more input) solved by torchdiffeq's fixed-step solvers in f64, and attention with the solution added to
q, k and v.

Made with torch 2.13.0, torchdiffeq 0.2.5, numpy 2.4.6. Run from the source root:
python3 tests/golden/make_floater.py
"""
import os
from importlib.metadata import version

import numpy as np
import torch
from torchdiffeq import odeint

assert version("torch").startswith("2.13.0") and version("torchdiffeq") == "0.2.5"
assert np.__version__ == "2.4.6"
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "floater")
torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
DIM, LENGTH = 6, 8
first, second = torch.nn.Linear(DIM + 1, DIM), torch.nn.Linear(DIM + 1, DIM)
for layer in (first, second):
    torch.nn.init.xavier_normal_(layer.weight)
    torch.nn.init.normal_(layer.bias)


def f(t, x):
    time = torch.ones(x.shape[:-1] + (1,)) * t
    return second(torch.cat([torch.relu(first(torch.cat([x, time], -1))), time], -1))


def classical(t0, t1, y):
    h = t1 - t0
    a = f(t0, y)
    b = f(t0 + h / 2, y + h / 2 * a)
    c = f(t0 + h / 2, y + h / 2 * b)
    d = f(t1, y + h * c)
    return y + h / 6 * (a + 2 * b + 2 * c + d)


weights = {"layers.0.linear.weight": first.weight, "layers.0.linear.bias": first.bias,
           "layers.2.linear.weight": second.weight, "layers.2.linear.bias": second.bias}
weights = {k: v.detach().numpy() for k, v in weights.items()}


def save(name, **arrays):
    np.savez_compressed(os.path.join(OUT, name + ".npz"), **weights, **arrays)


with torch.no_grad():
    start = torch.randn(3, DIM)
    for name, step, sub in (("euler", 0.3, 1), ("midpoint", 0.1, 5)):
        grid = torch.arange(LENGTH) * step
        rows = odeint(f, start[:1], grid, method=name, options={"step_size": step / sub})
        save(name, proj_bias=start[:1].numpy(), out=rows[:, 0].numpy())
    rows = [start[:1]]
    for k in range(2 * (LENGTH - 1)):
        rows.append(classical(torch.tensor(k * 0.1), torch.tensor((k + 1) * 0.1), rows[-1]))
    save("rk4", proj_bias=start[:1].numpy(), out=torch.stack(rows[::2])[:, 0].numpy())
    # Backwards and in between, to the truth.
    exact = odeint(f, start[:1], torch.tensor([0, 0.1 * 3.5]), method="dopri8", rtol=1e-12, atol=1e-13)[1]
    back = odeint(f, start[:1], torch.tensor([0, -0.1 * 2.25]), method="dopri8", rtol=1e-12, atol=1e-13)[1]
    save("real", proj_bias=start[:1].numpy(), out=torch.cat([exact, back]).numpy())
    # The authors' layer: two heads of 3, added after the projection.
    grid = torch.arange(LENGTH) * 0.01
    bias = odeint(f, start, grid, method="midpoint", options={"step_size": 0.002})
    q, k, v = torch.randn(3, 1, 2, LENGTH, 3)
    q = q[:, :, -5:]
    add = bias.view(LENGTH, 3, 2, 3).permute(1, 2, 0, 3)[:, None]
    s = (q + add[0][:, :, -5:]) @ (k + add[1]).transpose(-1, -2) / 3 ** 0.5
    out = s.softmax(-1) @ (v + add[2])
    save("attention", proj_bias=start.numpy(), q=q.numpy(), k=k.numpy(), v=v.numpy(), out=out.numpy(),
         lse=s.logsumexp(-1).numpy(), bias=bias.numpy())
