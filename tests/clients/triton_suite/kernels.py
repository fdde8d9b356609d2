"""Kernels that the corpus generator (tests/corpus/generators/programs/triton_kernels.py) lacks, or has
only in combination."""
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait


@triton.jit
def reduce(x, to, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, WHAT: tl.constexpr):
    row, column = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + row[:, None] * N + column[None, :])
    if WHAT == "sum":
        r = tl.sum(v, AXIS)
    elif WHAT == "max":
        r = tl.max(v, AXIS)
    elif WHAT == "min":
        r = tl.min(v, AXIS)
    elif WHAT == "argmax":
        r = tl.argmax(v, AXIS)
    elif WHAT == "argmin":
        r = tl.argmin(v, AXIS)
    else:
        r = tl.xor_sum(v, AXIS)
    tl.store(to + (column if AXIS == 0 else row), r)


@triton.jit
def scan(x, to, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, WHAT: tl.constexpr, REVERSE: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + at)
    r = tl.cumsum(v, AXIS, reverse=REVERSE) if WHAT == "sum" else tl.cumprod(v, AXIS, reverse=REVERSE)
    tl.store(to + at, r)


@triton.jit
def sort(x, to, M: tl.constexpr, N: tl.constexpr, DESCENDING: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(to + at, tl.sort(tl.load(x + at), descending=DESCENDING))


@triton.jit
def topk(x, to, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row = tl.arange(0, M)
    v = tl.load(x + row[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(to + row[:, None] * K + tl.arange(0, K)[None, :], tl.topk(v, K))


@triton.jit
def flip(x, to, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(to + at, tl.flip(tl.load(x + at), 1))


@triton.jit
def gather(x, index, to, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(to + at, tl.gather(tl.load(x + at), tl.load(index + at), AXIS))


@triton.jit
def uniform(to, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(to + i, tl.rand(seed, i))


@triton.jit
def normal(to, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(to + i, tl.randn(seed, i))


@triton.jit
def words(to, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, i)
    tl.store(to + 4 * i, a)
    tl.store(to + 4 * i + 1, b)
    tl.store(to + 4 * i + 2, c)
    tl.store(to + 4 * i + 3, d)


@triton.jit
def atomic_sum(cells, values, CELLS: tl.constexpr, BLOCK: tl.constexpr):
    """Many lanes add to one cell, some of them in the same warp."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(cells + i % CELLS, tl.load(values + i), mask=i % 3 != 0)


@triton.jit
def atomic_extremes(cells, values, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(values + i)
    tl.atomic_max(cells + i % 8, v)
    tl.atomic_min(cells + 8 + i % 8, v)


@triton.jit
def atomic_bits(cells, values, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(values + i)
    tl.atomic_and(cells + i % 4, v)
    tl.atomic_or(cells + 4 + i % 4, v)
    tl.atomic_xor(cells + 8 + i % 4, v)


@triton.jit
def ticket(counter, to, BLOCK: tl.constexpr):
    """Every program takes a ticket, and so does every lane."""
    i = tl.arange(0, BLOCK)
    mine = tl.atomic_add(counter, 1)
    lane = tl.atomic_add(counter + 1 + i * 0, 1)
    tl.store(to + mine * BLOCK + i, lane)


@triton.jit
def spin(cell, lock):
    """Programs add in turn under a lock."""
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(cell, tl.load(cell, volatile=True) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def shapes(x, to, M: tl.constexpr, N: tl.constexpr):
    """Transposes, splits, joins, reshapes and permutes."""
    row, column = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + row[:, None] * N + column[None, :])
    tl.store(to + column[:, None] * M + row[None, :], tl.trans(v))
    to += M * N
    first, second = tl.split(tl.reshape(v, [M, N // 2, 2]))
    tl.store(to + row[:, None] * N + column[None, :], tl.reshape(tl.join(second, first), [M, N]))
    to += M * N
    tl.store(to + row[:, None] * N + column[None, :], tl.interleave(first, second))
    to += M * N
    four = tl.permute(tl.reshape(v, [M // 4, 4, N // 4, 4]), (2, 1, 0, 3))
    tl.store(to + tl.arange(0, M * N), tl.ravel(four))
    to += M * N
    tl.store(to + tl.arange(0, 2 * M), tl.reshape(tl.permute(tl.join(tl.sum(v, 1), tl.max(v, 1)), (1, 0)), [2 * M]))


@triton.jit
def convert(x, to, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(to + i, tl.load(x + i).to(to.dtype.element_ty))


@triton.jit
def double_described(a, to, m, n, BM: tl.constexpr, BN: tl.constexpr):
    """Tensor maps created by the kernel; tiles extend beyond the edge."""
    x = tl.make_tensor_descriptor(a, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    y = tl.make_tensor_descriptor(to, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    y.store(at, x.load(at) * 2)


@triton.jit
def rows_described(a, index, to, n, BM: tl.constexpr, BN: tl.constexpr):
    """Gathers rows by index through a tensor map created on the host."""
    i = tl.load(index + tl.arange(0, BM))
    tl.store(to + tl.arange(0, BM)[:, None] * n + tl.arange(0, BN)[None, :], a.gather(i, 0))


@triton.jit
def matmul_specialised(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """One tile per program; separate warps do the loads."""
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros([BM, BN], tl.float32)
    for start in tl.range(0, k, BK, warp_specialize=True):
        total = tl.dot(a.load([row, start]), b.load([column, start]).T, total)
    c.store([row, column], total.to(tl.float16))


@triton.jit
def attention_described(q, k, v, to, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, SPECIALISED: tl.constexpr):
    row = tl.program_id(0) * BM
    head = tl.program_id(1) * n
    queries = q.load([head + row, 0])
    largest, weight = tl.full([BM], -float("inf"), tl.float32), tl.zeros([BM], tl.float32)
    total = tl.zeros([BM, D], tl.float32)
    for start in tl.range(0, n, BN, warp_specialize=SPECIALISED):
        scores = tl.dot(queries, k.load([head + start, 0]).T) * (scale * 1.4426950408889634)
        now = tl.maximum(largest, tl.max(scores, 1))
        powers, fade = tl.exp2(scores - now[:, None]), tl.exp2(largest - now)
        weight = weight * fade + tl.sum(powers, 1)
        values = v.load([head + start, 0])
        total = tl.dot(powers.to(values.dtype), values, total * fade[:, None])
        largest = now
    to.store([head + row, 0], (total / weight[:, None]).to(queries.dtype))


@triton.jit
def accumulate(x, to, n, BLOCK: tl.constexpr):
    """A loop over masked tiles, as in reductions over long rows."""
    row = tl.program_id(0).to(tl.int64) * n
    total = tl.zeros([BLOCK], tl.float32)
    for start in tl.range(0, n, BLOCK, num_stages=3):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x + row + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(to + tl.program_id(0), tl.sum(total, 0))


@triton.jit
def function(x, y, to, WHICH: tl.constexpr, BLOCK: tl.constexpr):
    """One function of one or two numbers."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    if WHICH == "exp":
        r = tl.exp(a)
    elif WHICH == "log":
        r = tl.log(tl.abs(a))
    elif WHICH == "sin":
        r = tl.sin(a)
    elif WHICH == "cos":
        r = tl.cos(a)
    elif WHICH == "sqrt":
        r = tl.sqrt(tl.abs(a))
    elif WHICH == "erf":
        r = tl.erf(a)
    elif WHICH == "floor":
        r = tl.floor(a)
    elif WHICH == "divide":
        r = tl.div_rn(a, b)
    elif WHICH == "tanh":
        r = libdevice.tanh(a)
    elif WHICH == "pow":
        r = libdevice.pow(tl.abs(a), b)
    elif WHICH == "atan2":
        r = libdevice.atan2(a, b)
    elif WHICH == "log1p":
        r = libdevice.log1p(tl.abs(a))
    elif WHICH == "expm1":
        r = libdevice.expm1(a)
    elif WHICH == "cbrt":
        r = libdevice.cbrt(a)
    elif WHICH == "tgamma":
        r = libdevice.tgamma(a)
    elif WHICH == "fmod":
        r = libdevice.fmod(a, b)
    elif WHICH == "rint":
        r = libdevice.rint(a)
    elif WHICH == "ldexp":
        r = libdevice.ldexp(a, 3)
    elif WHICH == "fma":
        r = tl.fma(a, b, a)
    elif WHICH == "maximum":
        r = tl.maximum(a, b)
    else:
        r = tl.clamp(a, -1.0, 1.0)
    tl.store(to + i, r)


@triton.jit
def integer(x, y, to, WHICH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    if WHICH == "quotient":
        r = a // b
    elif WHICH == "remainder":
        r = a % b
    elif WHICH == "left":
        r = a << (b & 7)
    elif WHICH == "right":
        r = a >> (b & 7)
    elif WHICH == "mixed":
        r = (a & b) - (a | b) + (a ^ 5) + (~a)
    elif WHICH == "product":
        r = a * b
    elif WHICH == "choice":
        r = tl.where((a < b) & (b != 3), a, -b)
    elif WHICH == "popc":
        r = libdevice.popc(a)
    elif WHICH == "clz":
        r = libdevice.clz(a)
    elif WHICH == "ffs":
        r = libdevice.ffs(a)
    elif WHICH == "brev":
        r = libdevice.brev(a)
    else:
        r = libdevice.mulhi(a, b)
    tl.store(to + i, r)


@triton.jit
def turned(a, b, c, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SUM: tl.constexpr):
    """A product of two transposed matrices."""
    row, column, step = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros([BM, BN], SUM)
    for start in range(0, k, BK):
        x = tl.load(a + (start + step)[None, :] * BM + row[:, None])
        y = tl.load(b + column[None, :] * k + (start + step)[:, None])
        total = tl.dot(x, y, total, out_dtype=SUM)
    tl.store(c + row[:, None] * BN + column[None, :], total)


@triton.jit
def batched(a, b, c, G: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    g, row, column, step = tl.arange(0, G), tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + g[:, None, None] * M * K + row[None, :, None] * K + step[None, None, :])
    y = tl.load(b + g[:, None, None] * K * N + step[None, :, None] * N + column[None, None, :])
    tl.store(c + g[:, None, None] * M * N + row[None, :, None] * N + column[None, None, :], tl.dot(x, y))


@triton.jit
def widened(a, b, c, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The left matrix has a narrower type, which is widened in registers."""
    row, column, step = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros([BM, BN], tl.float32)
    for start in range(0, k, BK):
        x = tl.load(a + row[:, None] * k + (start + step)[None, :])
        y = tl.load(b + (start + step)[:, None] * BN + column[None, :])
        total = tl.dot(x.to(y.dtype), y, total)
    tl.store(c + row[:, None] * BN + column[None, :], total)


@triton.jit
def chain(a, b, c, to, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A product whose left factor is a product."""
    row, column, step = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + row[:, None] * K + step[None, :])
    y = tl.load(b + step[:, None] * N + column[None, :])
    z = tl.load(c + column[:, None] * K + step[None, :])
    tl.store(to + row[:, None] * K + step[None, :], tl.dot(tl.dot(x, y).to(x.dtype), z))


@triton.jit
def produce(x, BLOCK: tl.constexpr):
    """The first of two launches; the second may begin before it ends."""
    gdc_launch_dependents()
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, i * 3)


@triton.jit
def consume(x, to, n, BLOCK: tl.constexpr):
    gdc_wait()
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(to + i, tl.load(x + n - 1 - i) + 1)


@triton.jit
def assembly(x, to, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    low, high = tl.inline_asm_elementwise(
        "{ .reg .pred p; setp.lt.s32 p, $2, $3; selp.b32 $0, $2, $3, p; mul.hi.s32 $1, $2, $3; }",
        "=r,=r,r,r", [v, i], dtype=(tl.int32, tl.int32), is_pure=True, pack=1,
    )
    tl.store(to + i, low)
    tl.store(to + BLOCK + i, high)


@triton.jit(noinline=True)
def step(x, k):
    if k % 2 == 0:
        return x // 2
    return x * 3 + 1


@triton.jit
def collatz(x, to):
    """A loop with a data-dependent length that calls a function."""
    at = tl.program_id(0)
    v = tl.load(x + at)
    count = 0
    while v != 1:
        v = step(v, v)
        count += 1
    tl.store(to + at, count)
