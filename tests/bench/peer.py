# SPDX-License-Identifier: BSD-2-Clause
"""What the comparisons with other programs share."""
import time

import numpy as np
import scipy.sparse as sp


def read_metis(path):
    """The pattern of an unweighted METIS file, as a sparse matrix of ones."""
    with open(path) as lines:
        rows = [line.split() for line in lines if not line.startswith("%")]
    n = int(rows[0][0])
    degree = [len(row) for row in rows[1:n + 1]]
    columns = np.fromiter((int(x) - 1 for row in rows[1:n + 1] for x in row), np.int32)
    starts = np.concatenate([[0], np.cumsum(degree)])
    return sp.csr_matrix((np.ones(len(columns)), columns, starts), (n, n))


def least(turns, function, *arguments):
    """Seconds of this thread's CPU time, the least of so many turns."""
    times = []
    for _ in range(turns):
        start = time.thread_time()
        function(*arguments)
        times.append(time.thread_time() - start)
    return min(times)
