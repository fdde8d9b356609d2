"""The kernels of ../triton.py, with the types, constants and options to compile them with."""
import dataclasses

import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait, globaltimer, smid


@dataclasses.dataclass
class Variant:
    """A kernel with the types of its arguments. Capabilities outside `least` to `most` do not support it,
    or Triton does not."""

    name: str
    kernel: object
    types: str
    constants: dict = dataclasses.field(default_factory=dict)
    options: dict = dataclasses.field(default_factory=dict)
    least: int = 75
    most: int = 121

    @property
    def signature(self):
        free = [name for name in self.kernel.arg_names if name not in self.constants]
        types = dict(zip(free, self.types.split(), strict=True))
        return {name: types.get(name, "constexpr") for name in self.kernel.arg_names}

    @property
    def attributes(self):
        """Pointers, and sizes that end in `!`, are multiples of 16."""
        return {
            (i,): [["tt.divisibility", 16]] for i, name in enumerate(self.kernel.arg_names) if self.signature[name].startswith("*")
        }


@triton.jit
def add(a, b, to, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(to + i, tl.load(a + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)


@triton.jit
def softmax(x, to, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + i, mask=i < n, other=-float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(to + row * stride + i, (powers / tl.sum(powers, axis=0)).to(to.dtype.element_ty), mask=i < n)


@triton.jit
def layer_norm(x, weight, bias, to, n, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x + row + i, mask=i < n, other=0.0, eviction_policy="evict_last").to(tl.float32)
    mean = tl.sum(total) / n
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        d = tl.where(i < n, tl.load(x + row + i, mask=i < n, other=0.0).to(tl.float32) - mean, 0.0)
        total += d * d
    scale = 1 / tl.sqrt(tl.sum(total) / n + epsilon)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = (tl.load(x + row + i, mask=i < n, eviction_policy="evict_first").to(tl.float32) - mean) * scale
        v = v * tl.load(weight + i, mask=i < n) + tl.load(bias + i, mask=i < n)
        tl.store(to + row + i, v.to(to.dtype.element_ty), mask=i < n)


@triton.jit
def weight_gradient(x, gradient, to, lock, count, groups, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    part = tl.load(x + row * n + i, mask=i < n, other=0.0) * tl.load(gradient + row * n + i, mask=i < n, other=0.0)
    group = row % groups
    lock += group
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count + group) == 0:
        tl.atomic_xchg(count + group, 1)
    else:
        part += tl.load(to + group * n + i, mask=i < n, other=0.0)
    tl.store(to + group * n + i, part, mask=i < n)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def matmul(a, b, c, m, n, k, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SUM: tl.constexpr, PRECISION: tl.constexpr):
    row, column = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    step = tl.arange(0, BK)
    left, right = a + row[:, None] * lda + step[None, :], b + step[:, None] * ldb + column[None, :]
    total = tl.zeros([BM, BN], SUM)
    for start in range(0, k, BK):
        x = tl.load(left, mask=(row[:, None] < m) & (step[None, :] < k - start), other=0.0)
        y = tl.load(right, mask=(step[:, None] < k - start) & (column[None, :] < n), other=0.0)
        total = tl.dot(x, y, total, out_dtype=SUM, input_precision=PRECISION)
        left += BK
        right += BK * ldb
    tl.store(c + row[:, None] * ldc + column[None, :], total.to(c.dtype.element_ty), mask=(row[:, None] < m) & (column[None, :] < n))


@triton.jit
def matmul_unmasked(a, b, c, k, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SUM: tl.constexpr):
    row, column = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    step = tl.arange(0, BK)
    lda, ldb, ldc = tl.multiple_of(lda, 16), tl.multiple_of(ldb, 16), tl.multiple_of(ldc, 16)
    left, right = a + row[:, None] * lda + step[None, :], b + step[:, None] * ldb + column[None, :]
    total = tl.zeros([BM, BN], SUM)
    for _ in range(0, k, BK):
        total = tl.dot(tl.load(left), tl.load(right), total, out_dtype=SUM)
        left += BK
        right += BK * ldb
    tl.store(c + row[:, None] * ldc + column[None, :], total.to(c.dtype.element_ty))


@triton.jit
def matmul_described(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Persistent programs loop over the tiles; `a`, `b` and `c` are tensor maps created on the host."""
    across = tl.cdiv(n, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, BM) * across, tl.num_programs(0), flatten=True):
        row, column = tile // across * BM, tile % across * BN
        total = tl.zeros([BM, BN], tl.float32)
        for start in range(0, k, BK):
            total = tl.dot(a.load([row, start]), b.load([column, start]).T, total)
        c.store([row, column], total.to(tl.float16))


@triton.jit
def add_described(a, to, m, n, BM: tl.constexpr, BN: tl.constexpr):
    """Tensor maps created by the kernel."""
    x = tl.make_tensor_descriptor(a, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    y = tl.make_tensor_descriptor(to, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    y.atomic_add(at, x.load(at) * 2)


@triton.jit
def attention(q, k, v, to, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    row, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    head = tl.program_id(1).to(tl.int64) * n * D
    queries = tl.load(q + head + row[:, None] * D + d[None, :], mask=row[:, None] < n, other=0.0)
    largest, weight = tl.full([BM], -float("inf"), tl.float32), tl.zeros([BM], tl.float32)
    total = tl.zeros([BM, D], tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * BM, n) if CAUSAL else n
    for start in range(0, end, BN):
        column = start + tl.arange(0, BN)
        keys = tl.load(k + head + column[None, :] * D + d[:, None], mask=column[None, :] < n, other=0.0)
        scores = tl.dot(queries, keys) * (scale * 1.4426950408889634)
        keep = column[None, :] < n
        if CAUSAL:
            keep &= row[:, None] >= column[None, :]
        scores = tl.where(keep, scores, -1.0e9)
        now = tl.maximum(largest, tl.max(scores, 1))
        powers, fade = tl.exp2(scores - now[:, None]), tl.exp2(largest - now)
        weight = weight * fade + tl.sum(powers, 1)
        values = tl.load(v + head + column[:, None] * D + d[None, :], mask=column[:, None] < n, other=0.0)
        total = tl.dot(powers.to(values.dtype), values, total * fade[:, None])
        largest = now
    tl.store(to + head + row[:, None] * D + d[None, :], (total / weight[:, None]).to(to.dtype.element_ty), mask=row[:, None] < n)


@triton.jit
def scaled(a, b, sa, sb, to, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, FORMAT: tl.constexpr, PACK: tl.constexpr):
    """A product of 8-bit or 4-bit numbers with a scale factor for each 32."""
    row, column, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // PACK)
    s = tl.arange(0, K // 32)
    x = tl.load(a + row[:, None] * (K // PACK) + k[None, :])
    y = tl.load(b + k[:, None] * N + column[None, :])
    u, w = tl.load(sa + row[:, None] * (K // 32) + s[None, :]), tl.load(sb + column[:, None] * (K // 32) + s[None, :])
    tl.store(to + row[:, None] * N + column[None, :], tl.dot_scaled(x, u, FORMAT, y, w, FORMAT))


@triton.jit
def both(a, b):
    return a ^ b


@triton.jit
def affine(a, b, c, d):
    """The composition of two affine functions."""
    return a * c, b * c + d


@triton.jit
def reductions(x, to, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + row[:, None] * N + column[None, :])
    tl.store(to + row, tl.sum(v, 1) + tl.min(v, 1) + tl.argmax(v, 1).to(v.dtype))
    tl.store(to + M + column, tl.max(v, 0) + tl.argmin(v, 0).to(v.dtype))
    bits = v.to(tl.int32)
    tl.store(to + M + N + row, (tl.reduce(bits, 1, both) + tl.xor_sum(bits, 1)).to(v.dtype))
    tl.store(to + 2 * M + N, tl.sum(tl.sum(v, 1), 0))


@triton.jit
def scans(x, to, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.arange(0, M), tl.arange(0, N)
    at = row[:, None] * N + column[None, :]
    v = tl.load(x + at)
    slope, offset = tl.associative_scan((v * 0.5, v + 1.0), 1, affine)
    tl.store(to + at, tl.cumsum(v, 1) + tl.cumprod(v, 0, reverse=True) + slope + offset)


@triton.jit
def sorts(x, to, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.arange(0, M), tl.arange(0, N)
    at = row[:, None] * N + column[None, :]
    v = tl.load(x + at)
    tl.store(to + at, tl.sort(v, descending=True) + tl.flip(v, 1))
    tl.store(to + M * N + row[:, None] * 8 + tl.arange(0, 8)[None, :], tl.topk(v, 8))


@triton.jit
def histogram(x, to, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(to + tl.arange(0, BINS), tl.histogram(v, BINS, mask=i < n))


@triton.jit
def gathers(x, index, to, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.arange(0, M), tl.arange(0, N)
    at = row[:, None] * N + column[None, :]
    v, i = tl.load(x + at), tl.load(index + at)
    tl.store(to + at, tl.gather(v, i % M, 0) + tl.gather(v, i % N, 1))
    # Data-dependent addresses.
    tl.store(to + M * N + at, tl.load(x + i, mask=i >= 0, other=0))


@triton.jit
def atomics(cells, values, to, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(values + i)
    old = tl.atomic_add(cells + i % 16, v)
    old += tl.atomic_max(cells + 16 + i % 4, v, sem="relaxed")
    old += tl.atomic_min(cells + 20 + i * 0, v, sem="acquire", scope="cta")
    old += tl.atomic_and(cells + 21 + i % 2, v, sem="release", scope="sys")
    old += tl.atomic_or(cells + 23 + i * 0, v)
    old += tl.atomic_xor(cells + 24 + i % 8, v, mask=v > 3)
    old += tl.atomic_xchg(cells + 32 + i, v)
    old += tl.atomic_cas(cells + 32 + BLOCK + i, v, v + 1)
    tl.store(to + i, old)


@triton.jit
def atomics_floating(cells, values, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(values + i)
    tl.atomic_add(cells + i, v, sem="relaxed")
    tl.atomic_add(cells + (i % 7), v, mask=v > 0)


@triton.jit
def extremes_floating(cells, values, BLOCK: tl.constexpr):
    v = tl.load(values + tl.arange(0, BLOCK))
    tl.atomic_max(cells, tl.max(v))
    tl.atomic_min(cells + 1, tl.min(v))


@triton.jit
def random(to, seed, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, i)
    tl.store(to + i, tl.rand(seed, i) + tl.randn(seed, i + n) + (a ^ b ^ c ^ d).to(tl.float32), mask=i < n)


@triton.jit
def functions(x, to, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    r = tl.exp(v) + tl.log(v) + tl.sin(v) * tl.cos(v) + tl.sqrt(v) + tl.rsqrt(v) + tl.erf(v) + tl.abs(v) + tl.floor(v) - tl.ceil(v)
    r += libdevice.tanh(v) + libdevice.pow(v, v) + libdevice.atan2(v, v) + libdevice.log1p(v) + libdevice.expm1(v) + libdevice.cbrt(v)
    r += libdevice.tgamma(v) * libdevice.j0(v) + libdevice.fmod(v, v + v) + libdevice.nearbyint(v) + libdevice.ldexp(v, 3) + libdevice.asinh(v)
    tl.store(to + i, r)


@triton.jit
def roundings(x, y, to, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    r = tl.div_rn(a, b) + tl.sqrt_rn(a) + tl.fma(a, b, a) + tl.fdiv(a, b) + tl.clamp(a, -1.0, 1.0)
    r += tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL) + tl.minimum(a, b)
    tl.store(to + i, r + libdevice.add_rz(a, b) + libdevice.rint(b))


@triton.jit
def integers(x, y, to, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    r = a // b + a % b + (a << 3) + (a >> 2) + (a & b) - (a | b) + (a ^ 5) + (~a) + tl.maximum(a, b) * tl.minimum(a, b)
    r += tl.where((a < b) & (b != 3), a, -b) + tl.cdiv(a, b) + a.to(tl.int8).to(a.dtype) + (a > 0).to(a.dtype)
    tl.store(to + i, r)


@triton.jit
def bits(x, to, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    r = libdevice.popc(v) + libdevice.clz(v) + libdevice.ffs(v) + libdevice.brev(v) + libdevice.mulhi(v, i) + libdevice.byte_perm(v, i, 0x3210)
    r += tl.umulhi(v.to(tl.uint32), i.to(tl.uint32)).to(tl.int32) + v.to(tl.float32, bitcast=True).to(tl.int32) + libdevice.sad(v, i, i.to(tl.uint32)).to(tl.int32)
    tl.store(to + i, r)


@triton.jit
def shapes(x, to, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.arange(0, M), tl.arange(0, N)
    at = row[:, None] * N + column[None, :]
    v = tl.load(x + at)
    first, second = tl.split(tl.reshape(v, [M, N // 2, 2]))
    again = tl.reshape(tl.join(second, first), [M, N]) + tl.interleave(first, second)
    turned = tl.trans(v + again)
    tl.store(to + column[:, None] * M + row[None, :], turned)
    tl.store(to + M * N + tl.arange(0, 2 * M), tl.cat(tl.sum(v, 1), tl.max(v, 1), can_reorder=True))
    four = tl.permute(tl.reshape(v, [M // 4, 4, N // 4, 4]), (2, 1, 0, 3))
    tl.store(to + 2 * M * N + tl.arange(0, M * N), tl.ravel(four))


@triton.jit
def conversions(x, to, BLOCK: tl.constexpr, MIDDLE: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(to + i, v.to(MIDDLE).to(to.dtype.element_ty) + v.to(tl.bfloat16).to(tl.float16).to(to.dtype.element_ty))


@triton.jit(noinline=True)
def step(x, k):
    if k % 2 == 0:
        return x * 0.5
    return x * 3.0 + 1.0


@triton.jit
def control(x, to, limit, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i)
    k = 0
    factor = limit
    while (tl.max(v) < limit) & (k < 100):
        factor = step(factor, k)
        v *= factor
        k += 1
    if limit > 10:
        for j in tl.static_range(3):
            v += j
    elif limit > 5:
        v = -v
    else:
        for j in range(k):
            v *= j
    tl.store(to + i, v, cache_modifier=".cs")


@triton.jit
def tells(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, volatile=True) + tl.load(x + i + 1, cache_modifier=".cg")
    tl.device_assert(i < n, "past the end")
    tl.device_print("value", v, i)


@triton.jit
def assembly(x, to, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    packed = tl.inline_asm_elementwise("prmt.b32 $0, $1, $2, 0x5410;", "=r,r,r", [v, i], dtype=tl.int32, is_pure=True, pack=1)
    sum, high = tl.inline_asm_elementwise(
        "{ .reg .pred p; setp.lt.s32 p, $2, $3; selp.b32 $0, $2, $3, p; mul.hi.s32 $1, $2, $3; }",
        "=r,=r,r,r", [packed, v], dtype=(tl.int32, tl.int32), is_pure=True, pack=1,
    )
    tl.store(to + i, sum + high)


@triton.jit
def places(to, BLOCK: tl.constexpr):
    at = tl.program_id(0) + tl.num_programs(0) * (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))
    tl.store(to + at.to(tl.int64) * BLOCK + tl.arange(0, BLOCK), globaltimer() + smid().to(tl.int64))


@triton.jit
def dependent(x, to, BLOCK: tl.constexpr):
    """The second of two launches, which begins before the first ends."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_wait()
    v = tl.load(x + i)
    gdc_launch_dependents()
    tl.store(to + i, v + 1)


def products():
    """Matrix products of all types."""
    sizes = "i32 i32 i32 i32 i32 i32"
    kinds = [
        ("f16", "*fp16 *fp16 *fp16", tl.float32, "tf32", 75), ("f16_f16", "*fp16 *fp16 *fp16", tl.float16, "tf32", 75),
        ("bf16", "*bf16 *bf16 *bf16", tl.float32, "tf32", 80), ("tf32", "*fp32 *fp32 *fp32", tl.float32, "tf32", 80),
        ("tf32x3", "*fp32 *fp32 *fp32", tl.float32, "tf32x3", 80), ("f32", "*fp32 *fp32 *fp32", tl.float32, "ieee", 75),
        ("i8", "*i8 *i8 *i32", tl.int32, "tf32", 80), ("e5m2", "*fp8e5 *fp8e5 *fp16", tl.float32, "tf32", 89), ("e4m3", "*fp8e4nv *fp8e4nv *fp32", tl.float32, "tf32", 89),
    ]
    for name, pointers, total, precision, least in kinds:
        constants = {"BM": 64, "BN": 64, "BK": 32, "SUM": total, "PRECISION": precision}
        yield Variant(f"matmul_{name}", matmul, f"{pointers} {sizes}", constants, {"num_warps": 4, "num_stages": 3}, least)
    for name, warps, stages, tiles in [("small", 1, 2, (16, 16, 32)), ("deep", 4, 4, (64, 64, 32)), ("wide", 8, 3, (128, 128, 64))]:
        constants = dict(zip(("BM", "BN", "BK"), tiles)) | {"SUM": tl.float32}
        yield Variant(f"matmul_{name}", matmul_unmasked, "*fp16 *fp16 *fp16 i32 i32 i32 i32", constants, {"num_warps": warps, "num_stages": stages})
    for least, name, tile in [(90, "described", (128, 64, 64)), (90, "described_wide", (128, 128, 64))]:
        m, n, k = tile
        types = f"tensordesc<fp16[{m},{k}]> tensordesc<fp16[{n},{k}]> tensordesc<fp16[{m},{n}]> i32 i32 i32"
        yield Variant(f"matmul_{name}", matmul_described, types, {"BM": m, "BN": n, "BK": k}, {"num_warps": 4, "num_stages": 3}, least)
    for name, kind, causal in [("f16", "fp16", False), ("bf16_causal", "bf16", True)]:
        constants = {"BM": 64, "BN": 32, "D": 64, "CAUSAL": causal}
        yield Variant(f"attention_{name}", attention, f"*{kind} *{kind} *{kind} *{kind} i32 fp32", constants, {"num_warps": 4}, 75 if kind == "fp16" else 80)
    for name, kind, pack in [("e4m3", "fp8e4nv", 1), ("e2m1", "u8", 2)]:
        constants = {"M": 128, "N": 64, "K": 128, "FORMAT": name, "PACK": pack}
        yield Variant(f"scaled_{name}", scaled, f"*{kind} *{kind} *u8 *u8 *fp32", constants, {"num_warps": 4}, 89)


VARIANTS = [
    Variant("add_f32", add, "*fp32 *fp32 *fp32 i32", {"BLOCK": 1024}),
    Variant("add_bf16", add, "*bf16 *bf16 *bf16 i64", {"BLOCK": 512}, {"num_warps": 2}),
    Variant("add_i8", add, "*i8 *i8 *i8 i32", {"BLOCK": 2048}, {"num_warps": 8}),
    Variant("add_f64", add, "*fp64 *fp64 *fp64 i32", {"BLOCK": 128}, {"num_warps": 1}),
    Variant("add_clusters", add, "*fp32 *fp32 *fp32 i32", {"BLOCK": 1024}, {"num_ctas": 2}, 90),
    Variant("softmax_f32", softmax, "*fp32 *fp32 i32 i32", {"BLOCK": 1024}),
    Variant("softmax_f16", softmax, "*fp16 *fp16 i32 i32", {"BLOCK": 4096}, {"num_warps": 8}),
    Variant("layer_norm", layer_norm, "*fp16 *fp32 *fp32 *fp16 i32 fp32", {"BLOCK": 1024}),
    Variant("weight_gradient", weight_gradient, "*fp32 *fp32 *fp32 *i32 *i32 i32 i32", {"BLOCK": 512}),
    *products(),
    Variant("add_described", add_described, "*fp32 *fp32 i32 i32", {"BM": 32, "BN": 32}, {}, 90),
    Variant("reductions", reductions, "*fp32 *fp32", {"M": 32, "N": 64}),
    Variant("reductions_f16", reductions, "*fp16 *fp16", {"M": 128, "N": 16}, {"num_warps": 8}),
    Variant("scans", scans, "*fp32 *fp32", {"M": 16, "N": 128}),
    Variant("sorts", sorts, "*i32 *i32", {"M": 8, "N": 64}),
    Variant("sorts_f32", sorts, "*fp32 *fp32", {"M": 4, "N": 128}, {"num_warps": 1}),
    Variant("histogram", histogram, "*i32 *i32 i32", {"BLOCK": 1024, "BINS": 256}),
    Variant("gathers", gathers, "*fp32 *i32 *fp32", {"M": 32, "N": 32}),
    Variant("atomics_i32", atomics, "*i32 *i32 *i32", {"BLOCK": 256}),
    Variant("atomics_u64", atomics, "*u64 *u64 *u64", {"BLOCK": 128}),
    Variant("atomics_f32", atomics_floating, "*fp32 *fp32", {"BLOCK": 512}),
    Variant("atomics_f16", atomics_floating, "*fp16 *fp16", {"BLOCK": 512}),
    Variant("atomics_bf16", atomics_floating, "*bf16 *bf16", {"BLOCK": 512}, {}, 90),
    Variant("extremes_f32", extremes_floating, "*fp32 *fp32", {"BLOCK": 512}),
    Variant("random", random, "*fp32 i32 i32", {"BLOCK": 512}),
    Variant("functions_f32", functions, "*fp32 *fp32", {"BLOCK": 128}),
    Variant("functions_f64", functions, "*fp64 *fp64", {"BLOCK": 64}, {"num_warps": 2}),
    Variant("roundings", roundings, "*fp32 *fp32 *fp32", {"BLOCK": 128}),
    Variant("integers_i32", integers, "*i32 *i32 *i32", {"BLOCK": 256}),
    Variant("integers_i64", integers, "*i64 *i64 *i64", {"BLOCK": 128}),
    Variant("integers_u16", integers, "*u16 *u16 *u16", {"BLOCK": 128}),
    Variant("bits", bits, "*i32 *i32", {"BLOCK": 128}),
    Variant("shapes", shapes, "*fp32 *fp32", {"M": 16, "N": 64}),
    Variant("conversions_e5m2", conversions, "*fp32 *fp32", {"BLOCK": 512, "MIDDLE": tl.float8e5}, {}, 80),
    Variant("conversions_e4m3", conversions, "*fp32 *fp32", {"BLOCK": 512, "MIDDLE": tl.float8e4nv}, {}, 89),
    Variant("conversions_i64", conversions, "*fp16 *fp64", {"BLOCK": 512, "MIDDLE": tl.int64}, {}, 80),
    Variant("control", control, "*fp32 *fp32 fp32", {"BLOCK": 256}),
    Variant("tells", tells, "*i32 i32", {"BLOCK": 64}, {"debug": True}),
    Variant("assembly", assembly, "*i32 *i32", {"BLOCK": 256}),
    Variant("places", places, "*i64", {"BLOCK": 32}, {"num_warps": 1}),
    Variant("dependent", dependent, "*fp32 *fp32", {"BLOCK": 256}, {"launch_pdl": True}, 90),
]
