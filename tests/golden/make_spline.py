#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/spline/spline.npz: samples of uniform B-splines by scipy.interpolate.BSpline, f64, of degrees
1, 2, 3 and 5 and several numbers of control points.

Made with scipy and numpy of the versions below. Run from the source root:
python3 tests/golden/make_spline.py
"""
import os

import numpy as np
import scipy
from scipy.interpolate import BSpline

assert (scipy.__version__, np.__version__) == ("1.17.1", "2.4.6")
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spline", "spline.npz")
rng = np.random.default_rng(0)
DIM, LENGTH = 3, 11
arrays = {}
for degree, points in ((3, 4), (3, 7), (1, 5), (2, 3), (5, 8)):
    x = rng.normal(size=(2, points + LENGTH, DIM))
    t = np.linspace(0, 1, LENGTH) * (points - degree)
    knots = np.arange(points + degree + 1) - degree
    y = np.stack([BSpline(knots, x[b, :points], degree)(t) for b in range(2)])
    # At the very last knot scipy takes the segment to its right end, as we do.
    arrays.update({f"d{degree}p{points}.x": x, f"d{degree}p{points}.y": y})
np.savez_compressed(OUT, **arrays)
