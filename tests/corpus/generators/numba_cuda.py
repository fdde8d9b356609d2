"""Compiles Python kernels with numba's CUDA target (NVVM), for several capabilities, optimised and with
debug information."""
import itertools
import math
import pathlib
import sys

import numpy as np
from numba import cuda, float32, float64, int32, int64, types

CAPABILITIES = [(7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 0), (12, 1)]
TILE = 16


def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def matmul(a, b, c):
    left, right = cuda.shared.array((TILE, TILE), float32), cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for step in range(a.shape[1] // TILE):
        left[tx, ty], right[tx, ty] = a[x, ty + step * TILE], b[tx + step * TILE, y]
        cuda.syncthreads()
        for k in range(TILE):
            total += left[tx, k] * right[k, ty]
        cuda.syncthreads()
    if x < c.shape[0] and y < c.shape[1]:
        c[x, y] = total


def functions(x, y):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        y[i] = math.sin(v) * math.cos(v) + math.exp(v) - math.log(v) + math.sqrt(v) + math.atan2(v, v + 1) + math.pow(v, 3.5) + math.erf(v)


def histogram(values, bins):
    i = cuda.grid(1)
    while i < values.size:
        cuda.atomic.add(bins, values[i] % bins.size, 1)
        i += cuda.gridsize(1)


def reduction(values, result):
    shared = cuda.shared.array(256, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    shared[t] = values[i] if i < values.size else 0.0
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if t < step:
            shared[t] += shared[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(result, 0, shared[0])


def warp(values, result):
    i = cuda.grid(1)
    v = values[i]
    for step in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, step)
    if cuda.any_sync(0xFFFFFFFF, v > 3) and cuda.ballot_sync(0xFFFFFFFF, v > 5) & 1:
        result[i] = v + cuda.popc(v) + cuda.clz(v) + cuda.ffs(v) + cuda.brev(v)


def mandelbrot(image, limit):
    x, y = cuda.grid(2)
    if x < image.shape[1] and y < image.shape[0]:
        c, z, n = complex(x / 512.0 - 2.0, y / 512.0 - 1.0), 0j, 0
        while z.real * z.real + z.imag * z.imag < 4 and n < limit:
            z, n = z * z + c, n + 1
        image[y, x] = n


def local(values):
    space = cuda.local.array(64, int32)
    i = cuda.grid(1)
    for k in range(64):
        space[(k * 7 + i) % 64] = k
    total = 0
    for k in range(64):
        total += space[k] // (k + 1) + space[63 - k] % (i + 1)
    values[i] = total


def prints(values):
    i = cuda.grid(1)
    if values[i] > 2:
        print("value", i, values[i])


def checked(values, index):
    i = cuda.grid(1)
    assert i < 1000
    values[i] = values[index[i]] // index[i]


KERNELS = [
    (saxpy, (types.float32, float32[:], float32[:])),
    (saxpy, (types.float64, float64[::1], float64[::1])),
    (saxpy, (types.int16, types.Array(types.int16, 1, "A"), types.Array(types.int16, 1, "C"))),
    (matmul, (float32[:, ::1], float32[:, ::1], float32[:, ::1])),
    (functions, (float32[::1], float32[::1])),
    (functions, (float64[::1], float64[::1])),
    (histogram, (types.Array(types.uint8, 1, "C"), int32[::1])),
    (histogram, (int64[::1], int64[::1])),
    (reduction, (float64[::1], float64[::1])),
    (warp, (int32[::1], int32[::1])),
    (mandelbrot, (types.Array(types.uint16, 2, "C"), int64)),
    (local, (int32[::1],)),
    (prints, (float32[::1],)),
    (checked, (int32[::1], int64[::1])),
]


def main():
    folder = pathlib.Path(sys.argv[1])
    capabilities = CAPABILITIES[::4] if "--sample" in sys.argv else CAPABILITIES
    for capability, (number, (kernel, signature)) in itertools.product(capabilities, enumerate(KERNELS)):
        for kind in ("optimised", "fastmath", "debug"):
            options = {"fastmath": kind == "fastmath", "debug": kind == "debug", "opt": kind != "debug"}
            text, _ = cuda.compile_ptx(kernel, signature, cc=capability, **options)
            (folder / f"{kernel.__name__}.{number}.sm_{capability[0]}{capability[1]}.{kind}.ptx").write_text(text)


if __name__ == "__main__":
    main()
