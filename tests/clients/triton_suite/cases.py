"""The cases of the Triton suite, with models in numpy and the error that the arithmetic allows.

A case is a function of the device's capability that yields (what, got, want, bound): `bound` is the
largest allowed difference, which is a number or an array; 0 means identical bits."""
import itertools
import math
import pathlib
import sys

import ml_dtypes
import numpy as np
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "corpus/generators/programs"))
import triton_kernels as shared  # noqa: E402

import kernels  # noqa: E402
from device import Tensor, empty, zeros  # noqa: E402

F16, F32, F64, BF16 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64), np.dtype(ml_dtypes.bfloat16)
E4M3, E5M2 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)
I8, I32, I64, U32 = np.dtype(np.int8), np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.uint32)
# Half a unit in the last place of a number near 1: the error of rounding to a type.
HALF_ULP = {F64: 2.0**-53, F32: 2.0**-24, F16: 2.0**-11, BF16: 2.0**-8, E4M3: 2.0**-4, E5M2: 2.0**-3}
SHORT = {F16: "f16", F32: "f32", F64: "f64", BF16: "bf16", E4M3: "e4m3", E5M2: "e5m2", I8: "i8", I32: "i32", I64: "i64", U32: "u32"}
CASES = {}
# PTX in the source.
NVIDIA_ONLY = {"assembly"}


def case(name, least=80, most=129, **parameters):
    """Registers a case for devices of capabilities from `least` to `most`."""
    def register(function):
        assert name not in CASES, name
        CASES[name] = (least, most, lambda capability: function(capability, **parameters))
        return function
    return register


def draw(name, shape, kind):
    """Reproducible pseudo-random numbers; `name` selects the sequence."""
    source = np.random.default_rng(list(name.encode()))
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return source.integers(max(info.min, -100), min(info.max, 100), shape, kind)
    return source.standard_normal(shape).astype(np.float32).astype(kind)


def wide(array):
    return array.astype(np.int64 if array.dtype.kind in "iu" else np.float64)


def rounding(want, kind):
    """The error of rounding exact values to `kind`."""
    if kind.kind in "iu":
        return 0
    return np.abs(wide(want)) * HALF_ULP[kind] * 1.01 + float(ml_dtypes.finfo(kind).smallest_subnormal)


# Elementwise operations.

def add(_capability, kind):
    n = 5000
    a, b = draw("a", n, kind), draw("b", n, kind)
    to = empty(n, kind)
    shared.add[triton.cdiv(n, 1024),](Tensor(a), Tensor(b), to, n, BLOCK=1024)
    exact = wide(a) + wide(b)
    yield "sum", to.numpy(), exact.astype(kind) if kind.kind in "iu" else exact, rounding(exact, kind)


for kind in (F32, F16, BF16, F64, I8, I32, I64):
    case(f"add_{SHORT[kind]}", kind=kind)(add)
case("add_clusters", 90, 90)(lambda _: add_clusters())


def add_clusters():
    n = 5000
    a, b = draw("a", n, F32), draw("b", n, F32)
    to = empty(n, F32)
    shared.add[triton.cdiv(n, 1024),](Tensor(a), Tensor(b), to, n, BLOCK=1024, num_ctas=2)
    yield "sum", to.numpy(), a + b, 0


@case("convert")
def convert(capability):
    n = 4096
    x = (draw("convert", n, F32) * 20).astype(np.float32)
    eights = [E5M2] + [E4M3] * (capability >= 89)
    for kind in [F16, BF16, F64, *eights]:
        to = empty(n, kind)
        kernels.convert[n // 512,](Tensor(x), to, BLOCK=512)
        yield f"f32 to {SHORT[kind]}", to.numpy(), x.astype(kind), 0
        back = empty(n, F32)
        kernels.convert[n // 512,](to, back, BLOCK=512)
        yield f"{SHORT[kind]} to f32", back.numpy(), x.astype(kind).astype(np.float32), 0
    for kind in (I8, I32, I64):
        small = np.clip(x, -100, 100)
        to = empty(n, kind)
        kernels.convert[n // 512,](Tensor(small), to, BLOCK=512)
        yield f"f32 to {SHORT[kind]}", to.numpy(), small.astype(kind), 0


def softmax(_capability, kind):
    rows, n = 16, 781
    x = draw("softmax", (rows, n), kind)
    to = empty((rows, n), kind)
    shared.softmax[rows,](Tensor(x), to, n, n, BLOCK=1024)
    powers = np.exp(wide(x) - wide(x).max(1, keepdims=True))
    want = powers / powers.sum(1, keepdims=True)
    yield "softmax", to.numpy(), want, rounding(want, kind) + want * 2e-6


case("softmax_f32", kind=F32)(softmax)
case("softmax_f16", kind=F16)(softmax)


@case("layer_norm")
def layer_norm(_capability):
    rows, n, kind = 8, 1500, F16
    x, weight, bias = draw("norm", (rows, n), kind), draw("weight", n, F32), draw("bias", n, F32)
    to = empty((rows, n), kind)
    shared.layer_norm[rows,](Tensor(x), Tensor(weight), Tensor(bias), to, n, 1e-5, BLOCK=1024)
    v = wide(x)
    want = (v - v.mean(1, keepdims=True)) / np.sqrt(v.var(1, keepdims=True) + 1e-5) * weight + bias
    yield "layer norm", to.numpy(), want, rounding(want, kind) + 1e-5


@case("accumulate")
def accumulate(_capability):
    rows, n = 8, 3000
    x = draw("long", (rows, n), F16)
    to = empty(rows, F32)
    kernels.accumulate[rows,](Tensor(x), to, n, BLOCK=512)
    yield "sum", to.numpy(), wide(x).sum(1), np.abs(wide(x)).sum(1) * 2.0**-22


@case("weight_gradient")
def weight_gradient(_capability):
    rows, n, groups = 12, 300, 4
    x, gradient = draw("x", (rows, n), F32), draw("g", (rows, n), F32)
    to, lock, count = zeros((groups, n), F32), zeros(groups, I32), zeros(groups, I32)
    shared.weight_gradient[rows,](Tensor(x), Tensor(gradient), to, lock, count, groups, n, BLOCK=512)
    product = wide(x) * wide(gradient)
    want = np.stack([product[g::groups].sum(0) for g in range(groups)])
    yield "sums", to.numpy(), want, np.stack([np.abs(product[g::groups]).sum(0) for g in range(groups)]) * 2.0**-22
    yield "locks", lock.numpy(), np.zeros(groups, np.int32), 0


# Matrix products.

SUMS = {F16: tl.float32, BF16: tl.float32, F32: tl.float32, F64: tl.float64, E4M3: tl.float32, E5M2: tl.float32, I8: tl.int32}
# The error that summing adds, relative to the sum of absolute products: the tensor core truncates bits below
# the largest term of a step, and capabilities 8.9 and 9.0 keep 14 bits in sums of 8-bit floats.
SUM_ERROR = {F16: 2.0**-18, BF16: 2.0**-18, F32: 2.0**-21, F64: 2.0**-48, E4M3: 2.0**-11, E5M2: 2.0**-11, I8: 0}


def product_bound(a, b, want, kind, of, precision="ieee"):
    error = {"tf32": 2.0**-9, "tf32x3": 2.0**-18}.get(precision if a.dtype == F32 else None, SUM_ERROR[a.dtype])
    if of == F16 and kind == F16:
        error += 2.0**-11 * 4
    magnitude = np.abs(wide(a)) @ np.abs(wide(b))
    return rounding(want, kind) + (magnitude * error if error else 0)


def matmul(_capability, kind, to_kind, precision="ieee", total=None, tile=(64, 64, 32), shape=(100, 90, 70), warps=4, stages=3):
    m, n, k = shape
    a, b = draw("left", (m, k), kind), draw("right", (k, n), kind)
    c = empty((m, n), to_kind)
    bm, bn, bk = tile
    shared.matmul[triton.cdiv(m, bm), triton.cdiv(n, bn)](
        Tensor(a), Tensor(b), c, m, n, k, k, n, n, BM=bm, BN=bn, BK=bk, SUM=total or SUMS[kind], PRECISION=precision,
        num_warps=warps, num_stages=stages,
    )
    want = wide(a) @ wide(b)
    got = c.numpy()
    if to_kind.kind in "iu":
        want = want.astype(to_kind)
    yield "product", got, want, product_bound(a, b, want, to_kind, F16 if total is tl.float16 else F32, precision)


for name, least, parameters in [
    ("f32", 80, dict(kind=F32, to_kind=F32)),
    ("tf32", 80, dict(kind=F32, to_kind=F32, precision="tf32")),
    ("tf32x3", 80, dict(kind=F32, to_kind=F32, precision="tf32x3")),
    ("f16", 80, dict(kind=F16, to_kind=F16)),
    ("f16_f16", 80, dict(kind=F16, to_kind=F16, total=tl.float16)),
    ("bf16", 80, dict(kind=BF16, to_kind=BF16)),
    ("f64", 80, dict(kind=F64, to_kind=F64)),
    ("i8", 80, dict(kind=I8, to_kind=I32)),
    ("e4m3", 89, dict(kind=E4M3, to_kind=F32)),
    ("e5m2", 89, dict(kind=E5M2, to_kind=F16)),
    ("f16_wide", 80, dict(kind=F16, to_kind=F16, tile=(128, 128, 64), shape=(256, 256, 192), warps=8)),
    ("f16_small", 80, dict(kind=F16, to_kind=F32, tile=(16, 16, 32), warps=1)),
]:
    case(f"matmul_{name}", least, **parameters)(matmul)


def matmul_described(_capability, tile, specialised=False, stages=3, warps=4, kind=F16):
    bm, bn, bk = tile
    m, n, k = 300, 200, 160
    a, b = draw("left", (m, k), kind), draw("right", (n, k), kind)
    c = empty((m, n), kind)
    maps = [TensorDescriptor.from_tensor(t, box) for t, box in ((Tensor(a), [bm, bk]), (Tensor(b), [bn, bk]), (c, [bm, bn]))]
    kernel, grid = shared.matmul_described, (2,)
    if specialised:
        kernel, grid = kernels.matmul_specialised, (triton.cdiv(m, bm), triton.cdiv(n, bn))
    kernel[grid](*maps, m, n, k, BM=bm, BN=bn, BK=bk, num_warps=warps, num_stages=stages)
    want = wide(a) @ wide(b.T)
    yield "product", c.numpy(), want, product_bound(a, b.T, want, kind, F32)


case("matmul_described", 90, 99, tile=(128, 64, 64))(matmul_described)
case("matmul_described_wide", 90, 99, tile=(128, 256, 64), warps=8)(matmul_described)
case("matmul_described_small", 120, tile=(64, 64, 32))(matmul_described)
case("matmul_specialised", 90, 99, tile=(64, 128, 64), specialised=True)(matmul_described)
case("matmul_specialised_small", 120, tile=(64, 64, 32), specialised=True)(matmul_described)


@case("scaled_e4m3", 89)
def scaled_e4m3(_capability):
    m, n, k = 128, 64, 128
    a, b = draw("a", (m, k), E4M3), draw("b", (k, n), E4M3)
    source = np.random.default_rng(7)
    sa, sb = source.integers(120, 134, (m, k // 32), np.uint8), source.integers(120, 134, (n, k // 32), np.uint8)
    to = empty((m, n), F32)
    shared.scaled[1,](Tensor(a), Tensor(b), Tensor(sa), Tensor(sb), to, M=m, N=n, K=k, FORMAT="e4m3", PACK=1)
    left = wide(a) * np.repeat(2.0 ** (sa.astype(np.float64) - 127), 32, 1)
    right = wide(b) * np.repeat(2.0 ** (sb.astype(np.float64) - 127), 32, 1).T
    yield "product", to.numpy(), left @ right, np.abs(left) @ np.abs(right) * 2.0**-11


@case("scaled_e2m1", 89)
def scaled_e2m1(_capability):
    m, n, k = 128, 64, 128
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
    source = np.random.default_rng(9)
    a, b = source.integers(0, 256, (m, k // 2), np.uint8), source.integers(0, 256, (k // 2, n), np.uint8)
    sa, sb = source.integers(120, 134, (m, k // 32), np.uint8), source.integers(120, 134, (n, k // 32), np.uint8)
    to = empty((m, n), F32)
    shared.scaled[1,](Tensor(a), Tensor(b), Tensor(sa), Tensor(sb), to, M=m, N=n, K=k, FORMAT="e2m1", PACK=2)
    left = np.stack([values[a & 15], values[a >> 4]], 2).reshape(m, k) * np.repeat(2.0 ** (sa.astype(np.float64) - 127), 32, 1)
    right = np.stack([values[b & 15], values[b >> 4]], 1).reshape(k, n) * np.repeat(2.0 ** (sb.astype(np.float64) - 127), 32, 1).T
    yield "product", to.numpy(), left @ right, np.abs(left) @ np.abs(right) * 2.0**-11


# Attention.

def attention_model(q, k, v, scale, causal):
    scores = np.einsum("hqd,hkd->hqk", wide(q), wide(k)) * scale
    if causal:
        scores = np.where(np.tri(q.shape[1], dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(2, keepdims=True))
    powers /= powers.sum(2, keepdims=True)
    return powers @ wide(v), powers @ np.abs(wide(v))


def attention(_capability, kind, causal, described=False, specialised=False, tile=(64, 32), stages=3):
    heads, n, d = 2, 128 if described else 150, 64
    bm, bn = tile
    q, k, v = (draw(name, (heads, n, d), kind) for name in "qkv")
    to = empty((heads, n, d), kind)
    scale = d**-0.5
    if described:
        flat = [Tensor(x.reshape(heads * n, d)) for x in (q, k, v)]
        to = empty((heads * n, d), kind)
        boxes = [[bm, d], [bn, d], [bn, d], [bm, d]]
        maps = [TensorDescriptor.from_tensor(t, box) for t, box in zip([*flat, to], boxes)]
        kernels.attention_described[n // bm, heads](*maps, n, scale, BM=bm, BN=bn, D=d, SPECIALISED=specialised, num_stages=stages)
    else:
        shared.attention[triton.cdiv(n, bm), heads](Tensor(q), Tensor(k), Tensor(v), to, n, scale, BM=bm, BN=bn, D=d, CAUSAL=causal, num_stages=stages)
    want, magnitude = attention_model(q, k, v, scale, causal)
    # Weights are rounded to the type before the second product.
    yield "attention", to.numpy().reshape(want.shape), want, rounding(want, kind) + magnitude * HALF_ULP[kind] * 2


case("attention_f16", kind=F16, causal=False)(attention)
case("attention_f16_causal", kind=F16, causal=True)(attention)
case("attention_bf16", kind=BF16, causal=False)(attention)
case("attention_bf16_causal", kind=BF16, causal=True)(attention)
case("attention_described", 90, kind=F16, causal=False, described=True)(attention)
case("attention_specialised", 90, kind=F16, causal=False, described=True, specialised=True, stages=2)(attention)


# Reductions, scans, sorting.

def reductions(_capability, kind, m=32, n=64):
    x = draw("reduce", (m, n), kind)
    v = wide(x)
    for axis, what in itertools.product((0, 1), ("sum", "max", "min", "argmax", "argmin", "xor")):
        if what == "xor" and kind.kind == "f":
            continue
        of = I32 if what.startswith("arg") else kind
        # Triton sums small integers as 32-bit ones.
        to = empty(n if axis == 0 else m, of)
        kernels.reduce[1,](Tensor(x), to, M=m, N=n, AXIS=axis, WHAT=what)
        want = np.bitwise_xor.reduce(x, axis) if what == "xor" else getattr(np, what)(v, axis)
        bound = np.abs(v).sum(axis) * HALF_ULP[kind] * 16 if what == "sum" and kind.kind != "i" else 0
        yield f"{what} along {axis}", to.numpy(), want, bound


for kind in (F32, F16, I32):
    case(f"reduce_{SHORT[kind]}", kind=kind)(reductions)


def scans(_capability, kind, m=16, n=128):
    x = draw("scan", (m, n), kind)
    if kind != I32:
        x = (1 + x.astype(np.float32) / 16).astype(kind)
    for axis, what, reverse in itertools.product((0, 1), ("sum", "product"), (False, True)):
        to = empty((m, n), kind)
        kernels.scan[1,](Tensor(x), to, M=m, N=n, AXIS=axis, WHAT=what, REVERSE=reverse)
        v = x if kind == I32 else wide(x)
        v = np.flip(v, axis) if reverse else v
        with np.errstate(over="ignore"):
            want = (np.cumsum if what == "sum" else np.cumprod)(v, axis, dtype=v.dtype)
        want = np.flip(want, axis) if reverse else want
        yield f"{what} along {axis}{' from the end' * reverse}", to.numpy(), want, 0 if kind == I32 else np.abs(want) * 2.0**-16


case("scan_f32", kind=F32)(scans)
case("scan_i32", kind=I32)(scans)


def orders(_capability, kind, m=8, n=64):
    x = draw("sort", (m, n), kind)
    for descending in (False, True):
        to = empty((m, n), kind)
        kernels.sort[1,](Tensor(x), to, M=m, N=n, DESCENDING=descending)
        want = np.sort(x, 1)
        yield f"sort{' descending' * descending}", to.numpy(), want[:, ::-1] if descending else want, 0
    to = empty((m, 8), kind)
    kernels.topk[1,](Tensor(x), to, M=m, N=n, K=8)
    yield "largest", to.numpy(), np.sort(x, 1)[:, :-9:-1], 0
    to = empty((m, n), kind)
    kernels.flip[1,](Tensor(x), to, M=m, N=n)
    yield "flip", to.numpy(), x[:, ::-1], 0


for kind in (F32, I32, F16):
    case(f"sort_{SHORT[kind]}", kind=kind)(orders)


@case("histogram")
def histogram(_capability):
    n, bins = 3000, 256
    x = np.random.default_rng(3).integers(0, bins, n, np.int32)
    to = zeros(bins, I32)
    shared.histogram[triton.cdiv(n, 1024),](Tensor(x), to, n, BLOCK=1024, BINS=bins)
    yield "counts", to.numpy(), np.bincount(x, minlength=bins), 0


@case("gather")
def gather(_capability):
    m, n = 32, 64
    x = draw("gather", (m, n), F32)
    for axis in (0, 1):
        index = np.random.default_rng(5).integers(0, (m, n)[axis], (m, n), np.int32)
        to = empty((m, n), F32)
        kernels.gather[1,](Tensor(x), Tensor(index), to, M=m, N=n, AXIS=axis)
        yield f"along {axis}", to.numpy(), np.take_along_axis(x, index, axis), 0


@case("shapes")
def shapes(_capability):
    m, n = 16, 64
    x = draw("shapes", (m, n), F32)
    to = empty(4 * m * n + 2 * m, F32)
    kernels.shapes[1,](Tensor(x), to, M=m, N=n)
    parts = np.split(to.numpy(), np.arange(1, 5) * m * n)
    first, second = x[:, 0::2], x[:, 1::2]
    yield "trans", parts[0], x.T.ravel(), 0
    yield "join", parts[1], np.stack([second, first], 2).ravel(), 0
    yield "interleave", parts[2], x.ravel(), 0
    yield "permute", parts[3], x.reshape(m // 4, 4, n // 4, 4).transpose(2, 1, 0, 3).ravel(), 0
    yield "sum", parts[4][:m], wide(x).sum(1), np.abs(wide(x)).sum(1) * 2.0**-21
    yield "max", parts[4][m:], x.max(1), 0


# Random numbers.

def philox(seed, at):
    """Philox 4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3)."""
    mask = np.uint64(0xFFFFFFFF)
    counter = [at.astype(np.uint64), *(np.zeros_like(at, np.uint64) for _ in range(3))]
    key = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        counter = [second >> np.uint64(32) ^ counter[1] ^ key[0], second & mask, first >> np.uint64(32) ^ counter[3] ^ key[1], first & mask]
        key = [key[0] + np.uint64(0x9E3779B9) & mask, key[1] + np.uint64(0xBB67AE85) & mask]
    return [c.astype(np.uint32) for c in counter]


def to_uniform(word):
    value = word.view(np.int32).astype(np.int64)
    return np.where(value < 0, -value - 1, value) * np.float64(np.float32(4.6566127342e-10))


@case("random")
def random(_capability):
    n, seed = 2048, 0x12345
    all_words = philox(seed, np.arange(n))
    to = empty(4 * n, U32)
    kernels.words[n // 512,](to, seed, BLOCK=512)
    yield "words", to.numpy(), np.stack(all_words, 1).ravel(), 0
    to = empty(n, F32)
    kernels.uniform[n // 512,](to, seed, BLOCK=512)
    yield "uniform", to.numpy(), to_uniform(all_words[0]), 2.0**-22
    to = empty(n, F32)
    kernels.normal[n // 512,](to, seed, BLOCK=512)
    first, second = np.maximum(1e-7, to_uniform(all_words[0])), to_uniform(all_words[1])
    # Limited by the approximate sine of large angles and the logarithm near 1.
    yield "normal", to.numpy(), np.sqrt(-2 * np.log(first)) * np.cos(2 * np.pi * second), 1e-4


# Atomics.

def atomic_sums(_capability, kind, cells=7):
    n = 2048
    values = draw("atomic", n, kind)
    if kind.kind != "i":
        # Values whose sum does not depend on the order.
        values = np.clip(np.round(values.astype(np.float32) * 2), -3, 3).astype(kind)
    to = zeros(cells, kind)
    kernels.atomic_sum[n // 512,](to, Tensor(values), CELLS=cells, BLOCK=512)
    want = np.zeros(cells, np.int64 if kind.kind == "i" else np.float64)
    at = np.arange(n)
    np.add.at(want, at[at % 3 != 0] % cells, wide(values)[at % 3 != 0])
    yield "sums", to.numpy(), want, 0


for kind, least in [(F32, 80), (F16, 80), (I32, 80), (I64, 80), (F64, 80), (BF16, 90)]:
    case(f"atomic_add_{SHORT[kind]}", least, kind=kind)(atomic_sums)


def atomic_extremes(_capability, kind):
    n = 1024
    values = draw("extremes", n, kind)
    start = np.zeros(16, kind)
    to = Tensor(start)
    kernels.atomic_extremes[n // 512,](to, Tensor(values), BLOCK=512)
    columns = values.reshape(-1, 8)
    yield "max", to.numpy()[:8], np.maximum(columns.max(0), 0), 0
    yield "min", to.numpy()[8:], np.minimum(columns.min(0), 0), 0


for kind in (I32, F32, I64):
    case(f"atomic_extremes_{SHORT[kind]}", kind=kind)(atomic_extremes)


@case("atomic_bits")
def atomic_bits(_capability):
    n = 512
    values = np.random.default_rng(11).integers(-(2**31), 2**31, n).astype(np.int32)
    values |= 1 << 5
    to = Tensor(np.array([-1] * 4 + [0] * 8, np.int32))
    kernels.atomic_bits[n // 256,](to, Tensor(values), BLOCK=256)
    columns = values.reshape(-1, 4)
    got = to.numpy()
    for i, (what, function) in enumerate([("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)]):
        yield what, got[4 * i:4 * i + 4], function.reduce(columns, 0), 0


@case("tickets")
def tickets(_capability):
    programs, block = 16, 64
    counter, to = zeros(2, I32), empty(programs * block, I32)
    kernels.ticket[programs,](counter, to, BLOCK=block)
    yield "counters", counter.numpy(), np.array([programs, programs * block]), 0
    yield "tickets", np.sort(to.numpy()), np.arange(programs * block), 0


@case("spin")
def spin(_capability):
    cell, lock = zeros(1, I32), zeros(1, I32)
    kernels.spin[64,](cell, lock)
    yield "count", cell.numpy(), np.array([64]), 0


# Tensor maps.

@case("described", 90)
def described(_capability):
    m, n = 100, 72
    x = draw("described", (m, n), F32)
    to = empty((m, n), F32)
    kernels.double_described[triton.cdiv(m, 32), triton.cdiv(n, 32)](Tensor(x), to, m, n, BM=32, BN=32)
    yield "copy", to.numpy(), 2 * x, 0
    to = zeros((m, n), F32)
    shared.add_described[triton.cdiv(m, 32), triton.cdiv(n, 32)](Tensor(x), to, m, n, BM=32, BN=32)
    yield "sum", to.numpy(), 2 * x, 0


@case("rows_described", 100)
def rows_described(_capability):
    m, n, rows = 64, 64, 32
    x = draw("rows", (m, n), F16)
    index = np.random.default_rng(13).integers(0, m, rows, np.int32)
    to = empty((rows, n), F16)
    kernels.rows_described[1,](TensorDescriptor.from_tensor(Tensor(x), [1, n]), Tensor(index), to, n, BM=rows, BN=n)
    yield "rows", to.numpy(), x[index], 0


# More products.

def turned(_capability, kind, tile, warps=4):
    m, n, bk = tile
    k = 3 * bk
    a, b = draw("left", (k, m), kind), draw("right", (n, k), kind)
    c = empty((m, n), I32 if kind == I8 else F32)
    kernels.turned[1,](Tensor(a), Tensor(b), c, k, BM=m, BN=n, BK=bk, SUM=SUMS[kind], num_warps=warps)
    want = wide(a.T) @ wide(b.T)
    precision = "tf32" if kind == F32 else "ieee"
    yield "product", c.numpy(), want, product_bound(a.T, b.T, want, F32, F32, precision) if kind != I8 else 0


for name, least, kind, tile, warps in [
    ("f16", 80, F16, (64, 64, 32), 4), ("f16_warps8", 80, F16, (128, 64, 64), 8), ("f16_warps16", 80, F16, (128, 128, 32), 16),
    ("bf16", 80, BF16, (64, 128, 64), 4), ("i8", 80, I8, (64, 64, 64), 4), ("e4m3", 89, E4M3, (64, 64, 64), 4), ("f32", 80, F32, (64, 64, 32), 4),
]:
    case(f"turned_{name}", least, kind=kind, tile=tile, warps=warps)(turned)


@case("batched")
def batched(_capability):
    g, m, n, k = 4, 32, 32, 32
    a, b = draw("left", (g, m, k), F16), draw("right", (g, k, n), F16)
    c = empty((g, m, n), F32)
    kernels.batched[1,](Tensor(a), Tensor(b), c, G=g, M=m, N=n, K=k)
    want = wide(a) @ wide(b)
    yield "products", c.numpy(), want, np.abs(wide(a)) @ np.abs(wide(b)) * SUM_ERROR[F16]


def widened(_capability, small, kind):
    m, n, bk = 64, 64, 64
    k = 2 * bk
    a, b = draw("left", (m, k), small), draw("right", (k, n), kind)
    c = empty((m, n), F32)
    kernels.widened[1,](Tensor(a), Tensor(b), c, k, BM=m, BN=n, BK=bk)
    want = wide(a) @ wide(b)
    yield "product", c.numpy(), want, np.abs(wide(a)) @ np.abs(wide(b)) * SUM_ERROR[kind]


case("widened_i8_f16", small=I8, kind=F16)(widened)
case("widened_i8_bf16", small=I8, kind=BF16)(widened)
case("widened_e5m2_f16", 89, small=E5M2, kind=F16)(widened)


@case("chain")
def chain(_capability):
    m, n, k = 64, 64, 64
    a, b, c = draw("a", (m, k), BF16), draw("b", (k, n), BF16), draw("c", (n, k), BF16)
    to = empty((m, k), F32)
    kernels.chain[1,](Tensor(a), Tensor(b), Tensor(c), to, M=m, N=n, K=k)
    want = wide(a) @ wide(b) @ wide(c)
    yield "product", to.numpy(), want, np.abs(wide(a) @ wide(b)) @ np.abs(wide(c)) * 2.0**-8 + 1e-3


@case("matmul_clusters", 90, 90)
def matmul_clusters(_capability):
    m, n, k, kind = 256, 128, 96, F16
    a, b = draw("left", (m, k), kind), draw("right", (k, n), kind)
    c = empty((m, n), kind)
    shared.matmul[2, 1](
        Tensor(a), Tensor(b), c, m, n, k, k, n, n, BM=128, BN=128, BK=32, SUM=tl.float32, PRECISION="ieee", num_warps=4, num_stages=3, num_ctas=2,
    )
    want = wide(a) @ wide(b)
    yield "product", c.numpy(), want, product_bound(a, b, want, kind, F32)


# Functions.

# The error that the function may have in float32, relative and absolute.
FUNCTIONS = {
    "exp": (np.exp, 2.0**-21, 0), "log": (lambda a, b: np.log(np.abs(a)), 2.0**-21, 2.0**-21), "sin": (np.sin, 2.0**-21, 2.0**-22),
    "cos": (np.cos, 2.0**-21, 2.0**-22), "sqrt": (lambda a, b: np.sqrt(np.abs(a)), 2.0**-22, 0), "erf": (None, 2.0**-21, 0),
    "floor": (np.floor, 0, 0), "divide": (np.divide, 2.0**-24 * 1.001, 0), "tanh": (np.tanh, 2.0**-21, 0),
    "pow": (lambda a, b: np.abs(a) ** b, 2.0**-20, 0), "atan2": (np.arctan2, 2.0**-21, 0), "log1p": (lambda a, b: np.log1p(np.abs(a)), 2.0**-21, 0),
    "expm1": (np.expm1, 2.0**-21, 0), "cbrt": (np.cbrt, 2.0**-22, 0), "tgamma": (None, 2.0**-19, 2.0**-40), "fmod": (np.fmod, 0, 0),
    "rint": (np.rint, 0, 0), "ldexp": (lambda a, b: a * 8, 0, 0), "fma": (lambda a, b: a * b + a, 2.0**-23, 2.0**-40),
    "maximum": (np.maximum, 0, 0), "clamp": (lambda a, b: np.clip(a, -1, 1), 0, 0),
}
ONE = {np.exp, np.sin, np.cos, np.floor, np.tanh, np.expm1, np.cbrt, np.rint}


def functions(_capability, kind):
    n = 1024
    x, y = draw("x", n, kind) * 3, draw("y", n, kind) * 3
    for which, (model, relative, absolute) in FUNCTIONS.items():
        if kind == F64 and which in ("divide", "clamp"):
            # Triton 3.9 has the first one only in single precision, and generates no code for the second from
            # capability 9.0 on.
            continue
        to = empty(n, kind)
        kernels.function[n // 256,](Tensor(x), Tensor(y), to, WHICH=which, BLOCK=256)
        a, b = wide(x), wide(y)
        if which in ("erf", "tgamma"):
            of = math.erf if which == "erf" else math.gamma
            want = np.array([of(v) for v in a])
        else:
            want = model(a) if model in ONE else model(a, b)
        yield which, to.numpy(), want, np.abs(want) * relative + absolute


case("functions_f32", kind=F32)(functions)
case("functions_f64", kind=F64)(functions)


def integers(_capability, kind):
    n = 512
    source = np.random.default_rng(17)
    info = np.iinfo(kind)
    x, y = (source.integers(info.min, info.max, n, kind) for _ in range(2))
    y[::3] %= 100
    y[y == 0] = 7
    def trunc(a, b):
        return (np.sign(a) * np.sign(b)) * (np.abs(a) // np.abs(b))
    wanted = {
        "quotient": trunc, "remainder": lambda a, b: a - trunc(a, b) * b, "left": lambda a, b: a << (b & 7), "right": lambda a, b: a >> (b & 7),
        "mixed": lambda a, b: (a & b) - (a | b) + (a ^ 5) + ~a, "product": lambda a, b: a * b,
        "choice": lambda a, b: a if a < b and b != 3 else -b,
    }
    if kind == I32:
        wanted |= {
            "popc": lambda a, b: (a & 0xFFFFFFFF).bit_count(), "clz": lambda a, b: 32 - (a & 0xFFFFFFFF).bit_length(),
            "ffs": lambda a, b: (a & -a).bit_length() if a else 0, "brev": lambda a, b: int(f"{a & 0xFFFFFFFF:032b}"[::-1], 2),
            "mulhi": lambda a, b: (a * b) >> 32,
        }
    bits = kind.itemsize * 8
    for which, model in wanted.items():
        to = empty(n, kind)
        kernels.integer[n // 128,](Tensor(x), Tensor(y), to, WHICH=which, BLOCK=128)
        values = [int(model(int(a), int(b))) & (1 << bits) - 1 for a, b in zip(x, y)]
        yield which, to.numpy(), np.array(values, np.uint64).astype(kind), 0


case("integers_i32", kind=I32)(integers)
case("integers_i64", kind=I64)(integers)


# Other features of kernels.

@case("assembly")
def assembly(_capability):
    n = 256
    x = np.random.default_rng(19).integers(-(2**31), 2**31, n).astype(np.int32)
    to = empty(2 * n, I32)
    kernels.assembly[1,](Tensor(x), to, BLOCK=n)
    i = np.arange(n)
    yield "smaller", to.numpy()[:n], np.minimum(x, i), 0
    yield "high", to.numpy()[n:], x.astype(np.int64) * i >> 32, 0


@case("collatz")
def collatz(_capability):
    x = np.arange(1, 40, dtype=np.int32)
    to = empty(x.size, I32)
    kernels.collatz[x.size,](Tensor(x), to)

    def count(v):
        steps = 0
        while v != 1:
            v, steps = (v // 2 if v % 2 == 0 else 3 * v + 1), steps + 1
        return steps
    yield "steps", to.numpy(), np.array([count(int(v)) for v in x]), 0


@case("dependent", 90)
def dependent(_capability):
    n = 1024
    x, to = empty(n, I32), empty(n, I32)
    kernels.produce[n // 256,](x, BLOCK=256, launch_pdl=True)
    kernels.consume[n // 256,](x, to, n, BLOCK=256, launch_pdl=True)
    yield "values", to.numpy(), 3 * np.arange(n)[::-1] + 1, 0
