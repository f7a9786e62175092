# SPDX-License-Identifier: BSD-2-Clause
# Golden values for resampling, by torch.nn.functional.interpolate in double (torch 2.13.0):
#   python3 make_resample.py resample/resample.npz    (any Python with torch and numpy)
# cases has a row a case: H, W, H2, W2, channels, bicubic (else bilinear), antialias, align_corners, scale of y,
# scale of x (0: by size). The input is the first H·W·channels numbers of pool; out has all outputs in a row.
import sys

import numpy as np
import torch
import torch.nn.functional as F

rng = np.random.default_rng(7)
cases = []
for old in [(4, 6), (14, 14), (7, 3), (1, 5)]:
    for new in [(7, 7), (3, 2), (12, 9), (1, 1), (14, 14)]:
        for mode in ["bicubic", "bilinear"]:
            for antialias in [False, True]:
                for corners in [False, True]:
                    if corners and antialias:
                        continue  # not wanted by anyone, and torch takes the centres of neither
                    cases.append((old, dict(size=new, mode=mode, antialias=antialias, align_corners=corners)))
for n in [16, 20]:  # DINO's (n + 0.1)/M
    for mode in ["bicubic", "bilinear"]:
        for antialias in [False, True]:
            scale = ((n + 0.1) / 14, (n + 2 + 0.1) / 14)
            cases.append(((14, 14), dict(scale_factor=scale, mode=mode, antialias=antialias)))

pool = rng.standard_normal(14 * 14 * 2).astype(np.float32)
rows, outs = [], []
for old, how in cases:
    new = how.get("size") or tuple(int(np.floor(o * s)) for o, s in zip(old, how["scale_factor"]))
    channels = 2 if new[0] * new[1] < 80 else 1
    x = torch.from_numpy(pool[: old[0] * old[1] * channels].reshape(1, *old, channels).astype(np.float64))
    y = F.interpolate(x.permute(0, 3, 1, 2), **how)[0].permute(1, 2, 0).numpy()
    assert y.shape == (*new, channels)
    scale = how.get("scale_factor", (np.inf, np.inf))
    rows.append([*old, *new, channels, how["mode"] == "bicubic", how["antialias"],
                 how.get("align_corners", False), 1 / scale[0], 1 / scale[1]])
    outs.append(y.ravel())
np.savez_compressed(sys.argv[1], pool=pool, cases=np.array(rows, np.float64),
                    out=np.concatenate(outs).astype(np.float32))
print(len(cases), "cases")
