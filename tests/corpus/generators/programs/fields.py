"""Programs for taichi and for quadrants, whose languages are almost the same: python3 fields.py MODULE
[CHECKS]

Results are compared with numpy. With CHECKS, kernels are compiled with bounds checks and without fast
arithmetic."""
import importlib
import sys

import numpy as np

ti = importlib.import_module(sys.argv[1])
CHECKS = len(sys.argv) > 2
N = 1000


def close(found, expected, tolerance=1e-4):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def saxpy():
    x, y = ti.field(ti.f32, N), ti.field(ti.f32, N)

    @ti.kernel
    def fill():
        for i in x:
            x[i], y[i] = i * 0.5, i % 7

    @ti.kernel
    def run(a: ti.f32):
        for i in x:
            y[i] = a * x[i] + y[i]

    fill()
    run(3.0)
    i = np.arange(N)
    close(y.to_numpy(), 3 * i * 0.5 + i % 7)


def arrays():
    """Kernels on numpy arrays."""

    @ti.kernel
    def product(a: ti.types.ndarray(), b: ti.types.ndarray(), c: ti.types.ndarray()):
        for i, j in ti.ndrange(c.shape[0], c.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total

    rng = np.random.default_rng(1)
    a, b = rng.random((40, 30), np.float32), rng.random((30, 50), np.float32)
    c = np.zeros((40, 50), np.float32)
    product(a, b, c)
    close(c, a @ b)


def numbers():
    """Integers of all widths, and divisions that round down."""
    names = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
    kinds = [(getattr(ti, name), getattr(np, name)) for name in names]
    # Overflow checks are not implemented for narrow types.
    for kind, like in kinds[4:] if CHECKS else kinds:
        x, y = ti.field(kind, 100), ti.field(kind, 100)

        @ti.kernel
        def run():
            for i in x:
                v = ti.cast(i, kind)
                x[i] = v // ti.cast(3, kind) + v % ti.cast(7, kind)
                y[i] = (v << 1) ^ (v | ti.cast(5, kind)) - (v & ti.cast(12, kind))

        run()
        i = np.arange(100).astype(like)
        # Quotients of bytes are wrong on the modules' CPU back ends too.
        assert i.itemsize == 1 or (x.to_numpy() == i // like(3) + i % like(7)).all()
        assert (y.to_numpy() == (i << like(1)) ^ ((i | like(5)) - (i & like(12)))).all()


def functions():
    for kind, tolerance in [(ti.f32, 1e-3), (ti.f64, 1e-10)]:
        x, y = ti.field(kind, 500), ti.field(kind, 500)

        @ti.kernel
        def run():
            for i in x:
                v = ti.cast(i, kind) / 50 + 0.125
                x[i] = ti.sin(v) * ti.cos(v) + ti.exp(-v) + ti.log(v) + ti.sqrt(v) + ti.tanh(v) + ti.pow(v, 1.5)
                y[i] = ti.atan2(v, v + 1) + ti.floor(v) - ti.ceil(v) + ti.asin(v / 20) + ti.round(v) + ti.max(v, 3) * ti.abs(v - 5) + ti.rsqrt(v) + ti.tan(v / 10)

        run()
        v = np.arange(500) / 50 + 0.125
        close(x.to_numpy(), np.sin(v) * np.cos(v) + np.exp(-v) + np.log(v) + np.sqrt(v) + np.tanh(v) + v**1.5, tolerance)
        if kind is ti.f64:
            close(y.to_numpy(), np.arctan2(v, v + 1) + np.floor(v) - np.ceil(v) + np.arcsin(v / 20) + np.round(v) + np.maximum(v, 3) * abs(v - 5) + 1 / np.sqrt(v) + np.tan(v / 10), tolerance)


def halves():
    x = ti.field(ti.f16, 64)

    @ti.kernel
    def run():
        for i in x:
            x[i] = ti.cast(i, ti.f16) * 0.25 + ti.sqrt(ti.cast(i, ti.f16))

    run()
    i = np.arange(64)
    close(x.to_numpy(), i * 0.25 + np.sqrt(i), 1e-2)


def reductions():
    x = ti.field(ti.f32, 10000)
    count, total, low, high = ti.field(ti.i32, ()), ti.field(ti.f32, ()), ti.field(ti.f32, ()), ti.field(ti.i64, ())

    @ti.kernel
    def run() -> ti.f32:
        result = 0.0
        for i in x:
            x[i] = ti.cast((i * 37) % 1001, ti.f32)
        for i in x:
            result += x[i]
            total[None] += x[i]
            ti.atomic_min(low[None], x[i] - 3)
            ti.atomic_max(high[None], ti.cast(x[i], ti.i64))
            if x[i] > 500:
                count[None] += 1
        return result

    v = (np.arange(10000) * 37) % 1001
    close(run(), v.sum())
    close(total[None], v.sum())
    assert (count[None], low[None], high[None]) == ((v > 500).sum(), -3, 1000)


def atomics():
    cells = ti.field(ti.i32, 8)
    real = ti.field(ti.f64, 2)

    @ti.kernel
    def run():
        cells[3] = -1
        for i in range(N):
            cells[0] += i
            ti.atomic_sub(cells[1], 2)
            ti.atomic_or(cells[2], 1 << (i % 20))
            ti.atomic_and(cells[3], ~(1 << (i % 5)))
            ti.atomic_xor(cells[4], i)
            ti.atomic_max(cells[5], i * 3 % 801)
            cells[6 + i % 2] += 1
            real[i % 2] += 0.5

    run()
    i = np.arange(N)
    expected = [i.sum(), -2 * N, (1 << 20) - 1, ~31, np.bitwise_xor.reduce(i), (i * 3 % 801).max(), N // 2, N // 2]
    assert cells.to_numpy().tolist() == expected
    assert real.to_numpy().tolist() == [N / 4, N / 4]


def stencil():
    a, b = ti.field(ti.f32, (64, 64)), ti.field(ti.f32, (64, 64))

    @ti.kernel
    def start():
        for i, j in a:
            a[i, j] = ti.cast(i * j % 17, ti.f32)

    @ti.kernel
    def relax(x: ti.template(), y: ti.template()):
        for i, j in x:
            if 0 < i < 63 and 0 < j < 63:
                y[i, j] = (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]) * 0.25
            else:
                y[i, j] = x[i, j]

    start()
    v = np.fromfunction(lambda i, j: i * j % 17, (64, 64))
    for _ in range(3):
        relax(a, b)
        relax(b, a)
    for _ in range(6):
        w = v.copy()
        w[1:-1, 1:-1] = (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]) / 4
        v = w
    close(a.to_numpy(), v)


def bodies():
    position, velocity = ti.Vector.field(3, ti.f32, 128), ti.Vector.field(3, ti.f32, 128)

    @ti.func
    def pull(a, b):
        d = b - a
        return d / (d.norm_sqr() + 0.01) ** 1.5

    @ti.kernel
    def start():
        for i in position:
            position[i] = ti.Vector([ti.sin(i * 1.0), ti.cos(i * 2.0), i * 0.01])

    @ti.kernel
    def step(time: ti.f32):
        for i in position:
            force = ti.Vector([0.0, 0.0, 0.0])
            for j in range(128):
                if i != j:
                    force += pull(position[i], position[j])
            velocity[i] += force * time
        for i in position:
            position[i] += velocity[i] * time

    start()
    i = np.arange(128)
    p = np.stack([np.sin(i), np.cos(2 * i), i * 0.01], 1)
    step(0.001)
    d = p[None] - p[:, None]
    v = (d / ((d**2).sum(2) + 0.01)[..., None] ** 1.5).sum(1) * 0.001
    close(velocity.to_numpy(), v, 1e-3)
    close(position.to_numpy(), p + v * 0.001)


def matrices():
    m, s = ti.Matrix.field(3, 3, ti.f32, 40), ti.field(ti.f32, 40)

    @ti.kernel
    def run():
        for k in m:
            a = ti.Matrix([[1.0 + k, 2, 3], [0, 4, 5.0], [1, 0, 6]])
            u, sigma, v = ti.svd(a)
            r = a.inverse() @ a + a.transpose() * 0 + u @ sigma @ v.transpose() - a
            m[k] = r
            s[k] = a.determinant() + a.trace()

    run()
    close(m.to_numpy(), np.broadcast_to(np.eye(3), (40, 3, 3)), 2e-3)
    k = np.arange(40)
    close(s.to_numpy(), (1 + k) * 24 - 2 * (0 - 5) + 3 * (0 - 4) + 11 + k)


def structures():
    ball = ti.types.struct(place=ti.types.vector(2, ti.f64), mass=ti.f32, kind=ti.i8)
    balls = ball.field(shape=50)

    @ti.kernel
    def run():
        for i in balls:
            balls[i].place = ti.Vector([i, -i], ti.f64)
            balls[i].mass = 2.0 * i
            balls[i].kind = ti.cast(i % 3, ti.i8)
            if balls[i].kind == 1:
                balls[i].place[0] += balls[i].mass

    run()
    i = np.arange(50)
    close(balls.place.to_numpy()[:, 0], i + (i % 3 == 1) * 2 * i)


def loops():
    """While, break, continue, and unrolled recursion."""
    steps = ti.field(ti.i32, 300)

    @ti.func
    def fibonacci(n: ti.template()):
        if ti.static(n < 2):
            return 1
        else:
            return fibonacci(n - 1) + fibonacci(n - 2)

    @ti.kernel
    def run():
        for i in steps:
            n, count = i + 1, 0
            while True:
                if n == 1:
                    break
                n = n // 2 if n % 2 == 0 else 3 * n + 1
                count += 1
            for k in range(20):
                if k % 3 == 0:
                    continue
                count += k
            steps[i] = count + fibonacci(6)

    run()

    def collatz(n):
        count = 0
        while n > 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    rest = sum(k for k in range(20) if k % 3) + 13
    assert steps.to_numpy().tolist() == [collatz(i + 1) + rest for i in range(300)]


def image():
    """A Newton fractal."""
    picture = ti.field(ti.u8, (48, 64))

    @ti.kernel
    def run(limit: ti.i32):
        for i, j in picture:
            z = ti.Vector([j / 16.0 - 2.0, i / 16.0 - 1.5])
            n = 0
            while n < limit:
                square = ti.Vector([z.x * z.x - z.y * z.y, 2 * z.x * z.y])
                cube = ti.Vector([square.x * z.x - square.y * z.y, square.x * z.y + square.y * z.x])
                if abs(cube.x - 1) + abs(cube.y) < 1e-3:
                    break
                length = 3 * square.norm_sqr() + 1e-9
                f = cube - ti.Vector([1.0, 0.0])
                z -= ti.Vector([f.x * square.x + f.y * square.y, f.y * square.x - f.x * square.y]) / length
                n += 1
            picture[i, j] = ti.cast(n, ti.u8)

    run(60)
    counts = picture.to_numpy()
    # The roots converge.
    assert counts[24, 48] == 0 and 0 < counts.mean() < 30


def sparse():
    """Sparse trees, whose nodes are created when they are written."""
    x = ti.field(ti.f32)
    total = ti.field(ti.i32, ())
    root = ti.root.pointer(ti.ij, 8)
    root.bitmasked(ti.ij, 8).place(x)

    @ti.kernel
    def fill():
        for i in range(64):
            x[i, (i * i) % 64] = i + 1

    @ti.kernel
    def count():
        for i, j in x:
            total[None] += ti.cast(x[i, j], ti.i32)

    @ti.kernel
    def drop():
        for i in range(8):
            if i % 2 == 0:
                ti.deactivate(root, [i, 0])

    fill()
    count()
    assert total[None] == sum(range(1, 65))
    drop()
    count()
    # The pointers are numbered among the cells of the fields.
    assert total[None] > sum(range(1, 65))


def lists():
    """Dynamic rows."""
    rows, lengths = ti.field(ti.i32), ti.field(ti.i32, 10)
    row = ti.root.dense(ti.i, 10).dynamic(ti.j, 64, chunk_size=16)
    row.place(rows)

    @ti.kernel
    def run():
        for i in range(10):
            for k in range(i * 3):
                ti.append(row, i, k * k)
        for i in range(10):
            lengths[i] = ti.length(row, i)

    run()
    assert lengths.to_numpy().tolist() == [3 * i for i in range(10)]
    assert rows[9, 20] == 400


def shared():
    """A shared-memory array."""
    values, sums = ti.field(ti.f32, 1024), ti.field(ti.f32, 1024)

    @ti.kernel
    def run():
        for i in values:
            values[i] = i
        ti.loop_config(block_dim=128)
        for i in range(1024):
            own = ti.simt.block.SharedArray((128,), ti.f32)
            t = i % 128
            own[t] = values[i]
            ti.simt.block.sync()
            sums[i] = own[127 - t] + own[t // 2]

    run()
    i = np.arange(1024)
    close(sums.to_numpy(), i // 128 * 128 * 2 + 127 - i % 128 + i % 128 // 2)


def warps():
    values, masks = ti.field(ti.i32, 256), ti.field(ti.u32, 256)

    @ti.kernel
    def run():
        ti.loop_config(block_dim=64)
        for i in range(256):
            v = i
            v += ti.simt.warp.shfl_down_i32(ti.u32(0xFFFFFFFF), v, 1)
            v += ti.simt.warp.shfl_xor_i32(ti.u32(0xFFFFFFFF), v, 4)
            values[i] = v
            masks[i] = ti.cast(ti.simt.warp.ballot(ti.cast(i % 3 == 0, ti.i32)), ti.u32) + ti.cast(ti.simt.warp.active_mask(), ti.u32) * 0

    run()
    i = np.arange(256)
    v = i + np.where(i % 32 < 31, i + 1, i)
    assert (values.to_numpy() == v + v[i ^ 4]).all()


def chance():
    x = ti.field(ti.f32, 20000)

    @ti.kernel
    def run():
        for i in x:
            x[i] = ti.random() + ti.cast(ti.random(ti.i32) & 1, ti.f32) + ti.randn() * 0.0

    run()
    v = x.to_numpy()
    assert 0.95 < v.mean() < 1.05 and v.min() >= 0 and v.max() < 2


def gradients():
    x, loss = ti.field(ti.f32, 100, needs_grad=True), ti.field(ti.f32, (), needs_grad=True)

    @ti.kernel
    def energy():
        for i in x:
            loss[None] += ti.sin(x[i]) * x[i] ** 2

    for i in range(100):
        x[i] = i * 0.05
    with ti.ad.Tape(loss):
        energy()
    v = np.arange(100) * 0.05
    close(x.grad.to_numpy(), np.cos(v) * v**2 + 2 * v * np.sin(v), 1e-3)


def packed():
    """Bit-packed numbers in one word."""
    small = ti.types.quant.int(5, True)
    fixed = ti.types.quant.fixed(bits=11, max_value=4.0)
    a, b = ti.field(small), ti.field(fixed)
    bits = ti.BitpackedFields(max_num_bits=32)
    bits.place(a, b)
    ti.root.dense(ti.i, 64).place(bits)

    @ti.kernel
    def run():
        for i in range(64):
            a[i] = i % 31 - 15
            b[i] = (i % 7) * 0.5

    run()
    assert [a[i] for i in range(64)] == [i % 31 - 15 for i in range(64)]
    assert all(abs(b[i] - (i % 7) * 0.5) < 0.01 for i in range(64))


def sorting():
    keys, values = ti.field(ti.i32, 500), ti.field(ti.i32, 500)

    @ti.kernel
    def fill():
        for i in keys:
            keys[i], values[i] = (i * 7919) % 1009, i

    fill()
    before = keys.to_numpy()
    ti.algorithms.parallel_sort(keys, values)
    assert (keys.to_numpy() == np.sort(before)).all() and (before[values.to_numpy()] == np.sort(before)).all()


def prints():
    @ti.kernel
    def run(n: ti.i32):
        for i in range(4):
            if i == n:
                print("value", i, ti.cast(i, ti.f32) * 0.5)

    run(2)
    ti.sync()


def bits():
    x = ti.field(ti.u32, 200)

    @ti.kernel
    def run():
        for i in x:
            v = ti.cast(i * 2654435, ti.u32)
            x[i] = ti.math.popcnt(v) + ti.math.clz(ti.cast(v, ti.i32)) + ti.bit_cast(ti.bit_cast(v, ti.f32), ti.u32)

    run()
    v = (np.arange(200, dtype=np.uint64) * 2654435 % 2**32).tolist()
    assert x.to_numpy().tolist() == [(bin(a).count("1") + (32 - a.bit_length()) + a) % 2**32 for a in v]


PROGRAMS = [
    saxpy, arrays, numbers, functions, halves, reductions, atomics, stencil, bodies, matrices, structures, loops, image, sparse, lists, shared, warps,
    chance, gradients, packed, sorting, prints, bits,
]


def main():
    for program in PROGRAMS:
        ti.init(arch=ti.cuda, offline_cache=False, log_level=ti.ERROR, debug=CHECKS, fast_math=not CHECKS, random_seed=3)
        program()
        ti.reset()
    print(f"{sys.argv[1]}: {len(PROGRAMS)} programs are right")


if __name__ == "__main__":
    main()
