"""Programs for Dr.Jit, which traces array operations and compiles them to kernels; results are compared
with numpy."""
import numpy as np

import drjit as dr
import drjit.cuda as cuda
import drjit.cuda.ad as ad
from drjit.cuda import Array3f, Bool, Complex2f, Float, Float16, Float64, Int, Int64, Matrix3f, PCG32, TensorXf, Texture2f, UInt, UInt64

N = 1000


def close(found, expected, tolerance=1e-4):
    np.testing.assert_allclose(np.array(found), expected, rtol=tolerance, atol=tolerance)


def line():
    x = dr.arange(Float, N)
    close(dr.fma(x, 2.5, 1) / (x + 3), (np.arange(N) * 2.5 + 1) / (np.arange(N) + 3))


def functions():
    # Reciprocals and roots of doubles are the hardware's approximations, with twenty bits.
    for kind, tolerance in [(Float, 1e-3), (Float64, 1e-5)]:
        x = dr.linspace(kind, 0.1, 5, N)
        v = np.linspace(0.1, 5, N)
        y = dr.sin(x) * dr.cos(x) + dr.exp(-x) + dr.log(x) + dr.sqrt(x) + dr.tanh(x) + dr.power(x, 1.5) + dr.atan2(x, x + 1) + dr.cbrt(x)
        close(y, np.sin(v) * np.cos(v) + np.exp(-v) + np.log(v) + np.sqrt(v) + np.tanh(v) + v**1.5 + np.arctan2(v, v + 1) + np.cbrt(v), tolerance)
        z = dr.floor(x) - dr.ceil(x) + dr.round(x) + dr.trunc(x) + dr.rsqrt(x) + dr.rcp(x) + dr.minimum(x, 2) + dr.exp2(x) + dr.log2(x)
        close(z, np.floor(v) - np.ceil(v) + np.round(v) + np.trunc(v) + v**-0.5 + 1 / v + np.minimum(v, 2) + 2**v + np.log2(v), tolerance)
        dr.eval(dr.erf(x) + dr.lgamma(x) + dr.asin(x / 6) + dr.sinh(x) + dr.tan(x / 9))


def halves():
    x = dr.linspace(Float16, 0, 3, 500)
    v = np.linspace(0, 3, 500)
    close(Float(x * x + Float16(0.5) + dr.sqrt(x)), v * v + 0.5 + np.sqrt(v), 2e-2)
    close(Float(dr.maximum(x, Float16(1)) + dr.exp2(x) * dr.abs(x)), np.maximum(v, 1) + 2**v * v, 5e-2)


def integers():
    for kind, like in [(Int, np.int32), (UInt, np.uint32), (Int64, np.int64), (UInt64, np.uint64)]:
        x = dr.arange(kind, N) + 1
        v = np.arange(1, N + 1).astype(like)
        y = x // kind(7) + x % kind(13) + ((x << 3) ^ (x >> 1)) - (x & kind(12)) * (x | kind(3))
        expected = v // like(7) + v % like(13) + ((v << like(3)) ^ (v >> like(1))) - (v & like(12)) * (v | like(3))
        assert (np.array(y) == expected).all()
        dr.eval(dr.popcnt(x) + dr.lzcnt(x) + dr.tzcnt(x) + dr.brev(x))
        if like in (np.int32, np.uint32):
            assert (np.array(dr.mul_hi(x * kind(99999), x)) == (v * like(99999)).astype(np.int64) * v >> 32).all()


def conversions():
    x = (dr.arange(Float, N) - 500) * 0.625
    v = (np.arange(N, dtype=np.float32) - 500) * np.float32(0.625)
    assert (np.array(Int(x)) == v.astype(np.int32)).all()
    assert (np.array(Int64(Float64(x))) == v.astype(np.int64)).all()
    assert (np.array(dr.reinterpret_array(UInt, x)) == v.view(np.uint32)).all()
    close(Float(Float16(x)), v.astype(np.float16))
    dr.eval(cuda.Int8(Int(x)), cuda.UInt8(UInt(dr.abs(x))), UInt64(dr.abs(x)), Bool(x > 0))


def places():
    x = dr.arange(Float, N)
    i = (dr.arange(UInt, N) * 37) % N
    v, w = np.arange(N, dtype=np.float32), np.arange(N) * 37 % N
    close(dr.gather(Float, x, i, active=i > 10), np.where(w > 10, v[w], 0))
    target = dr.zeros(Float, N)
    dr.scatter(target, x * 2, i)
    expected = np.zeros(N)
    expected[w] = v * 2
    close(target, expected)
    packet = dr.gather(Array3f, dr.arange(Float, 3 * N), i)
    close(packet, np.stack([w * 3, w * 3 + 1, w * 3 + 2]))
    four = dr.gather(cuda.Array4f, dr.arange(Float, 4 * N), i)
    dr.scatter(target := dr.zeros(Float, 4 * N), four, i)
    close(target, np.arange(4 * N))


def sums():
    """Scattered reductions to shared locations, in all modes."""
    i = dr.arange(UInt, N) % 7
    count = np.bincount(np.arange(N) % 7).astype(np.float64)
    for kind in (Float, Float64, Int, UInt, Int64):
        for mode in (dr.ReduceMode.Direct, dr.ReduceMode.Local, dr.ReduceMode.Expand):
            target = dr.zeros(kind, 7)
            dr.scatter_reduce(dr.ReduceOp.Add, target, kind(2), i, mode=mode)
            close(target, 2 * count)
    for operation, expected in [(dr.ReduceOp.Max, max), (dr.ReduceOp.Or, lambda v: np.bitwise_or.reduce(list(v)))]:
        target = dr.zeros(UInt, 7)
        dr.scatter_reduce(operation, target, dr.arange(UInt, N), i)
        assert np.array(target).tolist() == [expected(range(k, N, 7)) for k in range(7)]
    slot = dr.scatter_inc(counter := UInt(0), UInt(0), dr.arange(UInt, N) % 3 == 0)
    dr.eval(slot)
    assert counter[0] == len(range(0, N, 3))


def reductions():
    x = dr.arange(Float, N) + 1
    v = np.arange(1, N + 1, dtype=np.float64)
    close(dr.sum(x), v.sum())
    close(dr.max(x) + dr.min(x) + dr.mean(x), v.max() + v.min() + v.mean())
    close(dr.cumsum(x), v.cumsum())
    close(dr.prefix_sum(dr.arange(UInt, N)), np.concatenate([[0], np.arange(N)[:-1].cumsum()]))
    close(dr.block_sum(x, 10), v.reshape(-1, 10).sum(1))
    close(dr.block_prefix_sum(x, 100, exclusive=False), v.reshape(-1, 100).cumsum(1).ravel())
    close(dr.dot(x, x), (v * v).sum())
    assert dr.all(x > 0) and not dr.any(x < 0) and dr.count(x > 500) == 500
    chosen = dr.compress(x > 900)
    assert np.array(chosen).tolist() == list(range(900, 1000))
    for kind in (Float64, Int, UInt64, Float16):
        close(dr.sum(kind(dr.arange(UInt, 60))), 1770)
        close(dr.prod(kind(dr.arange(UInt, 4) + 1)), 24)


@dr.syntax
def loops():
    n = dr.arange(UInt, 300) + 1
    count = dr.zeros(UInt, 300)
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = n * 3 + 1
        count += 1

    def collatz(n):
        k = 0
        while n > 1:
            n, k = (n // 2 if n % 2 == 0 else 3 * n + 1), k + 1
        return k

    assert np.array(count).tolist() == [collatz(i + 1) for i in range(300)]


@dr.syntax
def local():
    """An array in each thread's local memory."""
    stack = dr.alloc_local(Float, 12, value=dr.zeros(Float, 200))
    x, i = dr.arange(Float, 200), UInt(0)
    while i < 12:
        stack[(i * 5) % 12] = x + i
        i += 1
    total, k = Float(0), UInt(0)
    while k < 12:
        total += stack[k] * k
        k += 1
    expected = sum((np.arange(200) + j) * ((j * 5) % 12) for j in range(12))
    close(total, expected)


def calls():
    """Functions selected by each thread."""
    x, i = dr.arange(Float, 400), dr.arange(UInt, 400) % 3
    y = dr.switch(i, [lambda v: v * 2, lambda v: dr.sin(v), lambda v: dr.sqrt(v) + dr.gather(Float, x, UInt(v) // 2)], x)
    v = np.arange(400)
    close(y, np.select([v % 3 == 0, v % 3 == 1], [v * 2, np.sin(v)], np.sqrt(v) + v // 2), 1e-3)


def geometry():
    n = 200
    a = Array3f(dr.arange(Float, n), 1, dr.linspace(Float, 0, 1, n))
    b = dr.cross(a, Array3f(1, 2, 3))
    v = np.stack([np.arange(n), np.ones(n), np.linspace(0, 1, n)])
    close(b, np.cross(v.T, [1, 2, 3]).T)
    close(dr.norm(dr.normalize(a)), np.ones(n))
    m = Matrix3f(1, 2, 3, 0, 1, 4, 5, 6, 0)
    close(dr.inverse(m) @ (m @ a), v, 1e-2)
    z = Complex2f(dr.linspace(Float, -1, 1, n), 0.5)
    w = np.linspace(-1, 1, n) + 0.5j
    close(dr.exp(z * z).real, np.exp(w * w).real)
    dr.eval(dr.rotate(cuda.Quaternion4f, Array3f(0, 1, 0), dr.arange(Float, n)))


def chance():
    generator = PCG32(size=20000)
    v = np.array(generator.next_float32() + generator.next_float64())
    assert 0.97 < v.mean() < 1.03 and v.min() >= 0 and v.max() < 2
    dr.eval(generator.next_uint32_bounded(17))
    w = np.array(dr.rng(seed=3).normal(Float, 10000))
    assert abs(w.mean()) < 0.1 and 0.9 < w.std() < 1.1


def textures():
    values = np.arange(64, dtype=np.float32).reshape(8, 8, 1)
    texture = Texture2f(TensorXf(values), filter_mode=dr.FilterMode.Linear, use_accel=True)
    u = dr.linspace(Float, 0.1, 0.9, 100)
    close(texture.eval(cuda.Array2f(u, 0.5))[0], (np.linspace(0.1, 0.9, 100) * 8 - 0.5) + 3.5 * 8, 5e-2)
    plain = Texture2f(TensorXf(values), use_accel=False)
    close(plain.eval_cubic(cuda.Array2f(u, 0.5))[0], (np.linspace(0.1, 0.9, 100) * 8 - 0.5) + 3.5 * 8, 5e-2)


def gradients():
    x = ad.Float(np.linspace(0, 2, 300))
    dr.enable_grad(x)
    y = dr.sum(dr.sin(x) * x * x + dr.gather(ad.Float, x, ad.UInt(dr.arange(UInt, 300) // 2)))
    dr.backward(y)
    v = np.linspace(0, 2, 300)
    used = np.bincount(np.arange(300) // 2, minlength=300)
    close(x.grad, np.cos(v) * v * v + 2 * v * np.sin(v) + used, 1e-3)


def tensors():
    t = TensorXf(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    v = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    close(dr.sum(t * 2 + t[:, 1:2, :], axis=1), (v * 2 + v[:, 1:2]).sum(1))
    close(dr.moveaxis(t, 0, 2) + 1, np.moveaxis(v, 0, 2) + 1)


def frames():
    """A Julia set: a loop that lanes leave at different times."""
    x, y = dr.meshgrid(dr.linspace(Float, -1.5, 1.5, 64), dr.linspace(Float, -1, 1, 48))
    z, count = Complex2f(x, y), dr.zeros(UInt, 64 * 48)
    _, count = dr.while_loop(
        (z, count), lambda z, count: (dr.squared_norm(z) < 4) & (count < 50), lambda z, count: (z * z + Complex2f(-0.4, 0.6), count + 1)
    )
    z = np.linspace(-1.5, 1.5, 64)[None] + 1j * np.linspace(-1, 1, 48)[:, None]
    expected = np.zeros(z.shape, int)
    for _ in range(50):
        inside = abs(z) < 2
        expected += inside
        z = np.where(inside, z * z + (-0.4 + 0.6j), 9)
    # Points on the set's border depend on rounding.
    assert (np.array(count).reshape(48, 64) == expected).mean() > 0.98


PROGRAMS = [
    line, functions, halves, integers, conversions, places, sums, reductions, loops, local, calls, geometry, chance, textures, gradients, tensors, frames,
]


def main():
    for program in PROGRAMS:
        program()
    print(f"drjit: {len(PROGRAMS)} programs are right")


if __name__ == "__main__":
    main()
