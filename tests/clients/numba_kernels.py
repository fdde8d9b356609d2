"""Numba's CUDA target on our driver: saxpy, a tiled matrix product, two reductions, and a kernel that prints.

Run it as `anywarp run -- python3 numba_kernels.py`. It prints a line for each kernel, and exits with 0 if
all are right.
"""

import sys

import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def matmul(a, b, c):
    ta = cuda.shared.array((TILE, TILE), float32)
    tb = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for t in range((a.shape[1] + TILE - 1) // TILE):
        ta[ty, tx] = a[y, t * TILE + tx] if y < a.shape[0] and t * TILE + tx < a.shape[1] else 0
        tb[ty, tx] = b[t * TILE + ty, x] if t * TILE + ty < b.shape[0] and x < b.shape[1] else 0
        cuda.syncthreads()
        for k in range(TILE):
            total += ta[ty, k] * tb[k, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


@cuda.jit
def reduce_atomic(x, total):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(total, 0, x[i])


@cuda.jit
def reduce_shuffle(x, out):
    i = cuda.grid(1)
    v = x[i] if i < x.size else 0
    d = 16
    while d > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, d)
        d //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, v)


@cuda.jit
def hello(n):
    i = cuda.grid(1)
    if i < n:
        print("hello from", i)


def check(name, ok):
    print(f"{name}: {'ok' if ok else 'WRONG'}", flush=True)
    return ok


def main():
    r = np.random.default_rng(1)
    x = r.random(100_003, dtype=np.float32)
    y = r.random(100_003, dtype=np.float32)
    dy = cuda.to_device(y)
    saxpy[(x.size + 255) // 256, 256](np.float32(2.5), cuda.to_device(x), dy)
    ok = check("saxpy", np.allclose(dy.copy_to_host(), np.float32(2.5) * x + y, rtol=1e-6))

    a = r.random((70, 50), dtype=np.float32)
    b = r.random((50, 90), dtype=np.float32)
    c = cuda.device_array((70, 90), dtype=np.float32)
    matmul[((90 + TILE - 1) // TILE, (70 + TILE - 1) // TILE), (TILE, TILE)](a, b, c)
    ok &= check("matmul", np.allclose(c.copy_to_host(), a @ b, rtol=1e-5))

    ints = r.integers(0, 1000, 50_000, dtype=np.int32)
    total = cuda.to_device(np.zeros(1, dtype=np.int32))
    reduce_atomic[(ints.size + 127) // 128, 128](ints, total)
    ok &= check("reduction with atomics", total.copy_to_host()[0] == ints.sum())

    out = cuda.to_device(np.zeros(1, dtype=np.int32))
    reduce_shuffle[(ints.size + 127) // 128, 128](ints, out)
    ok &= check("reduction with shuffles", out.copy_to_host()[0] == ints.sum())

    hello[1, 4](3)
    cuda.synchronize()
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
