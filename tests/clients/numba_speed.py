"""Compares three of numba's CUDA kernels on our driver with numba's CPU back end, `njit(parallel=True,
fastmath=True)`.

Run it as `anywarp run -- python3 numba_speed.py`. It prints a Markdown table of minimum times and median
ratios, and exits with 1 if a result is wrong. The arrays are on the device before the clock starts.
"""

import statistics
import sys
import time
import warnings

import numpy as np
from numba import cuda, float32, njit, prange

from numba_kernels import TILE, matmul, saxpy

ROUNDS = 12
TURNS = 7


@cuda.jit
def grid_stride_sum(x, out):
    total = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    cuda.atomic.add(out, 0, total)


@njit(parallel=True, fastmath=True)
def cpu_saxpy(a, x, y):
    for i in prange(x.size):
        y[i] = a * x[i] + y[i]


@njit(parallel=True, fastmath=True)
def cpu_product(a, b, c):
    for i in prange(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0
        for k in range(a.shape[1]):
            v = a[i, k]
            for j in range(b.shape[1]):
                c[i, j] += v * b[k, j]


@njit(parallel=True, fastmath=True)
def cpu_sum(x):
    total = np.float32(0)
    for i in prange(x.size):
        total += x[i]
    return total


def in_turns(ours, cpu):
    """The minimum times of both in milliseconds, and the median ratio of alternating runs, so that other
    load affects both."""
    turns = []
    for _ in range(TURNS):
        pair = []
        for run in ours, cpu:
            # The other engine's threads may still be spinning.
            time.sleep(0.3)
            run()
            times = []
            for _ in range(ROUNDS):
                start = time.perf_counter()
                run()
                times.append(time.perf_counter() - start)
            pair.append(min(times) * 1e3)
        turns.append(pair)
    mine, other = (min(t) for t in zip(*turns))
    return mine, other, statistics.median(c / o for o, c in turns)


def waited(launch):
    def run():
        launch()
        cuda.synchronize()

    return run


def main():
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(1)
    wrong = []
    print("| kernel | Anywarp | numba on the CPU | CPU ÷ Anywarp |\n|---|---|---|---|")

    def row(name, ours, cpu, right):
        mine, other, ratio = in_turns(waited(ours), cpu)
        print(f"| {name} | {mine:.2f} | {other:.2f} | {ratio:.2f} |", flush=True)
        if not right:
            wrong.append(name)

    n = 16 << 20
    x, y = (rng.random(n, dtype=np.float32) for _ in range(2))
    dx, dy = cuda.to_device(x), cuda.to_device(y)
    a = np.float32(0.5)
    saxpy[(n + 255) // 256, 256](a, dx, dy)
    right = np.allclose(dy.copy_to_host(), a * x + y)
    row("saxpy, 16 M", lambda: saxpy[(n + 255) // 256, 256](a, dx, dy), lambda: cpu_saxpy(a, x, y), right)

    m = 1024
    p, q = (rng.random((m, m), dtype=np.float32) for _ in range(2))
    r = np.zeros((m, m), np.float32)
    dp, dq, dr = (cuda.to_device(v) for v in (p, q, r))
    grid, block = (m // TILE, m // TILE), (TILE, TILE)
    matmul[grid, block](dp, dq, dr)
    cpu_product(p, q, r)
    right = np.allclose(dr.copy_to_host(), r, rtol=1e-3)
    row("product of 1024², 16×16 tiles", lambda: matmul[grid, block](dp, dq, dr), lambda: cpu_product(p, q, r), right)

    out = cuda.to_device(np.zeros(1, np.float32))
    grid_stride_sum[64, 256](dx, out)
    right = np.isclose(out.copy_to_host()[0], x.sum(dtype=np.float64), rtol=1e-3)
    row("grid-stride sum, 16 M", lambda: grid_stride_sum[64, 256](dx, out), lambda: cpu_sum(x), right)
    for name in wrong:
        print(f"wrong: {name}", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
