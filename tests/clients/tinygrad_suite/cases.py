"""The cases of the tinygrad suite, with models in numpy and the error that the arithmetic allows.

A case is a function that yields (what, got, want, bound): `got` is a tensor or an array, `bound` the
largest allowed difference, which is a number or an array; 0 means equality."""
import functools
import math

import numpy as np
from tinygrad import Tensor, TinyJit, UOp, Variable, dtypes, nn
from tinygrad.helpers import Context

F16, F32, F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
INTEGERS = [np.dtype(f"{sign}int{bits}") for bits in (8, 16, 32, 64) for sign in ("", "u")]
# Half a unit in the last place of a number near 1: the error of rounding to a type.
HALF_ULP = {F64: 2.0**-53, F32: 2.0**-24, F16: 2.0**-11}
CASES = {}


def case(name, *arguments):
    """Registers a case that calls the function with these arguments."""
    def register(function):
        assert name not in CASES, name
        CASES[name] = functools.partial(function, *arguments)
        return function
    return register


def draw(name, shape, kind=F32):
    """Reproducible pseudo-random numbers; `name` selects the sequence."""
    source = np.random.default_rng(list(name.encode()))
    if kind.kind == "b":
        return source.integers(0, 2, shape).astype(bool)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return source.integers(info.min, info.max, shape, kind, endpoint=True)
    return source.standard_normal(shape).astype(kind)


def single(array):
    return array.astype(np.float64)


def rounding(want, kind=F32, steps=1):
    """The error of rounding exact values to `kind` this many times, without cancellation."""
    return np.abs(want) * HALF_ULP[kind] * 1.01 * steps + float(np.finfo(kind).smallest_subnormal)


def of_sum(terms, axis, kind=F32):
    """The error of a sum of rounded `terms`, in any order."""
    count = np.prod([terms.shape[i] for i in np.atleast_1d(axis)])
    return np.abs(terms).sum(axis) * HALF_ULP[kind] * (count + 1) + float(np.finfo(kind).smallest_subnormal)


# Elementwise operations.

BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
}


def arithmetic(kind):
    a, b = draw("left", (33, 70), kind), draw("right", (33, 70), kind)
    for name, model in BINARY.items():
        # One operation each, so that the result is correctly rounded.
        yield name, getattr(Tensor(a), name)(Tensor(b)), model(a, b), 0
    yield "negated", -Tensor(a), np.negative(a), 0
    for name, model in {"<": np.less, "==": np.equal}.items():
        yield name, Tensor(a) < Tensor(b) if name == "<" else Tensor(a) == Tensor(b), model(a, b), 0
    yield "where", (Tensor(a) < Tensor(b)).where(Tensor(a), Tensor(b)), np.minimum(a, b), 0


for kind in (F16, F32, F64, *INTEGERS):
    case(f"arithmetic_{kind}", kind)(arithmetic)


def integers(kind):
    a, b = draw("left", 2000, kind), draw("right", 2000, kind)
    b[b == 0] = 7
    if kind.kind == "i":
        # The quotient of the smallest number and -1 does not fit the type.
        a[(a == np.iinfo(kind).min) & (b == -1)] = 5
    x, y = Tensor(a), Tensor(b)
    yield "floored quotients", x // y, a // b, 0
    yield "remainders", x % y, a % b, 0
    yield "and", x & y, a & b, 0
    yield "or", x | y, a | b, 0
    yield "exclusive or", x ^ y, a ^ b, 0
    yield "complement", ~x, ~a, 0
    yield "by constants", (x // 10) * 3 + x % 10, a // kind.type(10) * kind.type(3) + a % kind.type(10), 0
    if kind.kind == "u":
        yield "shifts", (x << 3) ^ (x >> 2), (a << kind.type(3)) ^ (a >> kind.type(2)), 0


for kind in INTEGERS:
    case(f"integers_{kind}", kind)(integers)


@case("truth")
def truth():
    a, b = draw("left", (40, 50), np.dtype(bool)), draw("right", (40, 50), np.dtype(bool))
    x, y = Tensor(a), Tensor(b)
    yield "and", x & y, a & b, 0
    yield "or", x | y, a | b, 0
    yield "exclusive or", x ^ y, a ^ b, 0
    yield "not", x.logical_not(), ~a, 0
    yield "count", x.sum(axis=1), a.sum(axis=1, dtype=np.int32), 0
    yield "any", x.any(axis=0), a.any(axis=0), 0
    yield "all", (x | y).all(axis=0), (a | b).all(axis=0), 0


FLOATS = [(F16, dtypes.float16), (F32, dtypes.float32), (F64, dtypes.float64)]
WHOLE = [(np.dtype(kind), getattr(dtypes, kind)) for kind in ("int8", "uint8", "int16", "int32", "uint32", "int64")]


@case("conversions")
def conversions():
    x = draw("numbers", 1500) * np.float32(50)
    inside = np.clip(x, -120, 120)
    for kind, to in [*FLOATS, *WHOLE, (np.dtype(bool), dtypes.bool)]:
        source = np.abs(inside) if kind.kind == "u" else inside
        yield f"f32 to {to}", Tensor(source).cast(to), source.astype(kind), 0
    for kind, to in WHOLE:
        source = draw("whole", 1500, kind)
        for other, last in (FLOATS[1], FLOATS[2], WHOLE[2], WHOLE[4]):
            yield f"{to} to {last}", Tensor(source).cast(last), source.astype(other), 0
    # In a single kernel it would not round.
    yield "f32 to bf16 and back", Tensor(x).cast(dtypes.bfloat16).contiguous().realize().cast(dtypes.float32), to_bf16(x), 0
    yield "bits", Tensor(x).bitcast(dtypes.uint32), x.view(np.uint32), 0


def to_bf16(x):
    """Rounds to the nearest 8-bit float, ties to even."""
    bits = x.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


# The allowed relative error of each function: tinygrad implements sine, exponentials and logarithms as
# polynomials or with the approximate instructions, and derives hyperbolic tangent and sigmoid from them.
FUNCTIONS = {
    "sqrt": (np.sqrt, 2e-7), "rsqrt": (lambda x: 1 / np.sqrt(x), 6e-7), "reciprocal": (np.reciprocal, 2e-7), "exp2": (np.exp2, 2e-6), "exp": (np.exp, 3e-6),
    "log2": (np.log2, 2e-6), "log": (np.log, 2e-6), "sin": (np.sin, 2e-6), "cos": (np.cos, 2e-6), "tanh": (np.tanh, 2e-6), "square": (np.square, 2e-7),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), 2e-6), "abs": (np.abs, 0), "floor": (np.floor, 0), "ceil": (np.ceil, 0), "round": (np.round, 0),
    "trunc": (np.trunc, 0), "sign": (np.sign, 0), "relu": (lambda x: np.maximum(x, 0), 0),
    "gelu": (lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))), 2e-6),
    "silu": (lambda x: x / (1 + np.exp(-x)), 2e-6), "erf": (lambda x: np.vectorize(math.erf)(x), 2e-6),
}
POSITIVE = {"sqrt", "rsqrt", "log", "log2"}


@case("functions")
def functions():
    x = draw("numbers", 3000) * np.float32(4)
    for name, (model, part) in FUNCTIONS.items():
        source = np.abs(x) + np.float32(1e-3) if name in POSITIVE else x
        want = model(single(source))
        # Around its zeros, a function's error is relative to the size of its argument.
        yield name, getattr(Tensor(source), name)(), want, part * np.maximum(np.abs(want), 1)
    big = draw("angles", 500) * np.float32(1e5)
    yield "sines of large angles", Tensor(big).sin(), np.sin(single(big)), 2e-6
    half = draw("halves", 1000, F16)
    yield "exp of halves", Tensor(half).exp(), np.exp(single(half)), rounding(np.exp(single(half)), F16, 4)


@case("powers")
def powers():
    x, y = np.abs(draw("bases", 800)) + np.float32(0.1), draw("exponents", 800)
    want = single(x) ** single(y)
    yield "power", Tensor(x) ** Tensor(y), want, 2e-5 * want
    yield "cube", Tensor(x) ** 3, single(x) ** 3, rounding(single(x) ** 3, steps=3)


@case("infinities")
def infinities():
    x = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-45, 3e38], np.float32)
    yield "is not a number", Tensor(x).isnan(), np.isnan(x), 0
    yield "is infinite", Tensor(x).isinf(), np.isinf(x), 0
    yield "product", (Tensor(x) * 10).isinf(), np.isinf(x) | (np.arange(7) == 6), 0
    yield "reciprocal", Tensor(x[[0, 1, 6]]).reciprocal(), 1 / x[[0, 1, 6]], 1e-44


@case("broadcasts")
def broadcasts():
    a, b, c = draw("a", (5, 1, 40)), draw("b", (1, 30, 1)), draw("c", (40,))
    exact = single(a) * single(b) + single(c)
    yield "three axes", Tensor(a) * Tensor(b) + Tensor(c), exact, rounding(np.abs(single(a) * single(b)) + np.abs(single(c)), steps=2)
    yield "expanded", Tensor(c).reshape(1, 40).expand(6, 40).contiguous(), np.broadcast_to(c, (6, 40)), 0


# Movement and indexing, without arithmetic.

@case("movement")
def movement():
    a = draw("a", (12, 34, 56))
    x = Tensor(a)
    yield "permuted", x.permute(2, 0, 1).contiguous(), a.transpose(2, 0, 1), 0
    yield "flipped", x.flip((0, 2)).contiguous(), a[::-1, :, ::-1], 0
    yield "cut", x[2:9, ::3, -20:].contiguous(), a[2:9, ::3, -20:], 0
    yield "padded", x.pad((None, (1, 2), (0, 3)), value=2.5).contiguous(), np.pad(a, ((0, 0), (1, 2), (0, 3)), constant_values=2.5), 0
    yield "joined", Tensor.cat(x, x + 0, dim=1), np.concatenate([a, a], 1), 0
    yield "stacked", Tensor.stack(x, -x, dim=0), np.stack([a, -a]), 0
    yield "repeated", x[:2, :3].repeat(2, 1, 3), np.tile(a[:2, :3], (2, 1, 3)), 0
    yield "rolled", x.roll(5, 2), np.roll(a, 5, 2), 0
    yield "triangle", x[0].tril(), np.tril(a[0]), 0
    # A tensor of constants alone would be created on the host.
    zeros = np.zeros((143, 1), np.int32)
    yield "range", Tensor.arange(3, 1000, 7) + Tensor(zeros[:, 0]), np.arange(3, 1000, 7, dtype=np.int32), 0
    yield "identity", Tensor.eye(30, dtype=dtypes.int32) + Tensor(zeros[:30]), np.eye(30, dtype=np.int32), 0


@case("indices")
def indices():
    a = draw("a", (100, 40))
    rows, columns = draw("rows", 37, np.dtype(np.uint8)).astype(np.int32) % 100, draw("columns", 37, np.dtype(np.uint8)).astype(np.int32) % 40
    x = Tensor(a)
    yield "rows", x[Tensor(rows)], a[rows], 0
    yield "places", x[Tensor(rows), Tensor(columns)], a[rows, columns], 0
    picked = np.stack([rows % 40, columns], 1)
    yield "gathered", x[:37].gather(1, Tensor(picked)), np.take_along_axis(a[:37], picked, 1), 0
    scattered = np.zeros((37, 40), np.float32)
    np.put_along_axis(scattered, np.stack([columns], 1), 3.5, 1)
    yield "scattered", Tensor.zeros(37, 40).scatter(1, Tensor(columns.reshape(37, 1)), 3.5), scattered, 0
    yield "one of each", Tensor(columns).one_hot(40), np.eye(40, dtype=np.int32)[columns], 0
    yield "masked", x.masked_fill(x < 0, -1.5), np.where(a < 0, np.float32(-1.5), a), 0
    embedding = nn.Embedding(100, 40)
    embedding.weight = Tensor(a)
    yield "embedded", embedding(Tensor(rows)), a[rows], 0


@case("assignments")
def assignments():
    a = draw("a", (16, 8))
    x = Tensor(a).contiguous().realize()
    x[2:5] = Tensor(np.ones((3, 8), np.float32))
    x.realize()
    a[2:5] = 1
    yield "rows", x, a, 0
    x.assign(x * 2 + 1).realize()
    yield "in place", x, a * 2 + 1, rounding(a * 2 + 1, steps=2)


# Reductions, scans, sorting.

@case("reductions")
def reductions():
    a = draw("a", (60, 700))
    x, exact = Tensor(a), single(a)
    for axis in (0, 1, (0, 1)):
        yield f"sum over {axis}", x.sum(axis=axis), exact.sum(axis), of_sum(exact, axis)
        yield f"largest over {axis}", x.max(axis=axis), a.max(axis), 0
        yield f"least over {axis}", x.min(axis=axis), a.min(axis), 0
    yield "mean", x.mean(axis=1), exact.mean(1), of_sum(exact, 1) / 700
    deviation = exact.std(1, ddof=1)
    yield "deviation", x.std(axis=1), deviation, 1e-5 * deviation
    near = 1 + exact[:, :20] / 50
    yield "product", Tensor(near.astype(np.float32)).prod(axis=1), single(near.astype(np.float32)).prod(1), 3e-6
    yield "sum of halves", Tensor(a.astype(np.float16)).sum(axis=1), single(a.astype(np.float16)).sum(1), \
        of_sum(exact, 1) + rounding(exact.sum(1), F16, 2) + 1e-3
    long = draw("long", 1 << 18, np.dtype(np.int32)) >> 12
    yield "sum of many", Tensor(long).sum(), long.sum(dtype=np.int32), 0
    small = draw("bytes", (50, 333), np.dtype(np.uint8))
    yield "sum of bytes", Tensor(small).sum(axis=1), small.sum(1, dtype=np.uint32), 0
    logarithms = np.log(np.exp(exact).sum(1))
    yield "logarithm of a sum of powers", x.logsumexp(axis=1), logarithms, 5e-6


@case("places_of_extremes")
def places_of_extremes():
    a = draw("a", (64, 200))
    a[3, 5] = a[3, 7] = 100
    yield "largest", Tensor(a).argmax(axis=1), a.argmax(1).astype(np.int32), 0
    yield "least", Tensor(a).argmin(axis=0), a.argmin(0).astype(np.int32), 0


@case("scans")
def scans():
    a = draw("a", (20, 600))
    bound = np.add.accumulate(np.abs(single(a)), 1) * HALF_ULP[F32] * 600
    yield "running sums", Tensor(a).cumsum(axis=1), np.cumsum(single(a), 1), bound
    yield "running maxima", Tensor(a).cummax(axis=1)[0], np.maximum.accumulate(a, 1), 0
    whole = draw("whole", 3000, np.dtype(np.int32)) >> 12
    yield "running sums of integers", Tensor(whole).cumsum(), np.cumsum(whole, dtype=np.int32), 0


@case("orders")
def orders():
    a = draw("a", (6, 29))
    values, places = Tensor(a).sort(dim=1)
    yield "sorted", values, np.sort(a, 1), 0
    yield "places", places, np.argsort(a, 1).astype(np.int32), 0
    values, places = Tensor(a).topk(5, dim=1)
    yield "the five largest", values, -np.sort(-a, 1)[:, :5], 0
    whole = draw("whole", 20, np.dtype(np.int32))
    yield "sorted integers, falling", Tensor(whole).sort(descending=True)[0], -np.sort(-whole.astype(np.int64)), 0


# Matrix products.

def product(kind, shape, accumulate=None):
    m, k, n = shape
    a, b = draw("left", (m, k), kind), draw("right", (k, n), kind)
    exact = single(a) @ single(b)
    inner = F32 if kind == F16 else kind
    bound = (np.abs(single(a)) @ np.abs(single(b))) * HALF_ULP[inner] * (2 * k)
    got = Tensor(a).matmul(Tensor(b), dtype=accumulate) if accumulate else Tensor(a) @ Tensor(b)
    if kind == F16:
        # Without the tensor core, each product is rounded to f16.
        bound = bound + np.abs(single(a)) @ np.abs(single(b)) * HALF_ULP[F16] + (0 if accumulate else rounding(exact, F16, 2))
    yield "product", got, exact, bound


for name, arguments in {
    "f32": (F32, (128, 96, 64)), "f32_odd": (F32, (37, 53, 41)), "f64": (F64, (40, 64, 24)), "f16": (F16, (128, 64, 96)), "f16_odd": (F16, (33, 50, 21)),
    "f16_to_f32": (F16, (64, 128, 32), dtypes.float32), "row": (F32, (1, 512, 100)), "column": (F32, (300, 256, 1)),
}.items():
    case(f"product_{name}", *arguments)(product)


@case("product_i32")
def product_of_integers():
    a, b = (draw(name, shape, np.dtype(np.int32)) >> 20 for name, shape in (("left", (50, 64)), ("right", (64, 30))))
    yield "product", Tensor(a) @ Tensor(b), a @ b, 0


@case("product_u8")
def product_of_bytes():
    # Whether products of bytes are bytes depends on the renderer; these are below 256.
    a, b = draw("left", (48, 64), np.dtype(np.uint8)) & 15, draw("right", (64, 32), np.dtype(np.uint8)) & 15
    yield "product", Tensor(a).matmul(Tensor(b), dtype=dtypes.int32), a.astype(np.int32) @ b.astype(np.int32), 0


@case("product_batched")
def product_batched():
    a, b = draw("left", (3, 2, 20, 40)), draw("right", (3, 1, 40, 24))
    yield "product", Tensor(a) @ Tensor(b), single(a) @ single(b), (np.abs(single(a)) @ np.abs(single(b))) * HALF_ULP[F32] * 80
    yield "by name", Tensor.einsum("bhij,bojk->bhki", Tensor(a), Tensor(b)), np.swapaxes(single(a) @ single(b), 2, 3), \
        np.swapaxes(np.abs(single(a)) @ np.abs(single(b)), 2, 3) * HALF_ULP[F32] * 80


# Layers.

def windows(x, size, stride=1):
    """All windows of the last two axes."""
    view = np.lib.stride_tricks.sliding_window_view(x, (size, size), (-2, -1))
    return view[..., ::stride, ::stride, :, :]


@case("convolutions")
def convolutions():
    x, w, bias = draw("image", (2, 6, 17, 17)), draw("weights", (10, 6, 3, 3)), draw("bias", 10)
    padded = np.pad(single(x), ((0, 0), (0, 0), (1, 1), (1, 1)))
    def model(image, weights):
        return np.einsum("bcyxij,ocij->boyx", windows(image, 3), weights)
    exact = model(padded, single(w)) + bias.reshape(10, 1, 1)
    bound = (model(np.abs(padded), np.abs(single(w))) + np.abs(bias).reshape(10, 1, 1)) * HALF_ULP[F32] * 120
    yield "3 by 3", Tensor(x).conv2d(Tensor(w), Tensor(bias), padding=1), exact, bound
    deep = draw("deep", (6, 1, 5, 5))
    by_channel = np.einsum("bcyxij,cij->bcyx", windows(single(x), 5, 2), single(deep[:, 0]))
    yield "by channel", Tensor(x).conv2d(Tensor(deep), groups=6, stride=2), by_channel, 1e-5 * 5
    back = draw("back", (6, 4, 2, 2))
    spread = np.zeros((2, 4, 34, 34))
    for i in range(2):
        for j in range(2):
            spread[:, :, i::2, j::2] = np.einsum("bcyx,co->boyx", single(x), single(back[:, :, i, j]))
    yield "transposed", Tensor(x).conv_transpose2d(Tensor(back), stride=2), spread, 1e-5 * 5
    half = x.astype(np.float16), w.astype(np.float16)
    exact = model(single(half[0]), single(half[1]))
    bound = model(np.abs(single(half[0])), np.abs(single(half[1]))) * HALF_ULP[F16] + rounding(exact, F16, 2)
    yield "of halves", Tensor(half[0]).conv2d(Tensor(half[1])), exact, bound


@case("pools")
def pools():
    x = draw("image", (2, 4, 20, 20))
    yield "largest", Tensor(x).max_pool2d(2), windows(x, 2, 2).max((-2, -1)), 0
    yield "largest, overlapping", Tensor(x).max_pool2d(3, stride=2), windows(x, 3, 2).max((-2, -1)), 0
    mean = windows(single(x), 2, 2).mean((-2, -1))
    yield "mean", Tensor(x).avg_pool2d(2), mean, 1e-6


@case("normalised")
def normalised():
    x = draw("x", (24, 130))
    exact = single(x)
    powers = np.exp(exact - exact.max(1, keepdims=True))
    soft = powers / powers.sum(1, keepdims=True)
    yield "softmax", Tensor(x).softmax(), soft, 5e-6 * soft + 1e-9
    yield "its logarithm", Tensor(x).log_softmax(), np.log(soft), 1e-5
    half = single(x.astype(np.float16))
    powers = np.exp(half - half.max(1, keepdims=True))
    soft = powers / powers.sum(1, keepdims=True)
    yield "softmax of halves", Tensor(x.astype(np.float16)).softmax(), soft, rounding(soft, F16, 6)
    layer = (exact - exact.mean(1, keepdims=True)) / np.sqrt(exact.var(1, keepdims=True) + 1e-5)
    yield "layer", Tensor(x).layernorm(), layer, 1e-5
    root = exact / np.sqrt((exact**2).mean(1, keepdims=True) + 1e-6)
    yield "root mean square", nn.RMSNorm(130, 1e-6)(Tensor(x)), root, 1e-5
    images = single(x).reshape(4, 6, 130)
    batch = (images - images.mean((0, 2), keepdims=True)) / np.sqrt(images.var((0, 2), keepdims=True) + 1e-5)
    with Context(TRAINING=1):
        yield "batch", nn.BatchNorm(6)(Tensor(x.reshape(4, 6, 130, 1))).reshape(4, 6, 130), batch, 1e-5


@case("attention")
def attention():
    q, k, v = (draw(name, (2, 3, 40, 16)) for name in "qkv")
    scores = single(q) @ np.swapaxes(single(k), -1, -2) / 4
    scores = np.where(np.tril(np.ones((40, 40), bool)), scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    want = powers / powers.sum(-1, keepdims=True) @ single(v)
    yield "causal", Tensor(q).scaled_dot_product_attention(Tensor(k), Tensor(v), is_causal=True), want, 1e-5


@case("losses")
def losses():
    x, labels = draw("x", (32, 10)), draw("labels", 32, np.dtype(np.uint8)).astype(np.int32) % 10
    logarithms = single(x) - np.log(np.exp(single(x)).sum(1, keepdims=True))
    yield "cross entropy", Tensor(x).sparse_categorical_crossentropy(Tensor(labels)), -logarithms[np.arange(32), labels].mean(), 5e-6
    p = 1 / (1 + np.exp(-single(x)))
    target = (x > 0.3).astype(np.float32)
    want = -(target * np.log(p) + (1 - target) * np.log(1 - p)).mean()
    yield "binary cross entropy", Tensor(x).binary_crossentropy_logits(Tensor(target)), want, 5e-6


# Random numbers: a counter-based cipher on integers, which the model implements independently.

ROTATIONS = [[13, 15, 26, 6], [17, 29, 16, 24]]


def threefry(key, first, second):
    """Threefry 2x32 with 20 rounds (Salmon and others, Parallel random numbers: as easy as 1, 2, 3, 2011)."""
    keys = [np.uint32(key[0]), np.uint32(key[1]), np.uint32(key[0] ^ key[1] ^ 0x1BD11BDA)]
    x, y = first + keys[0], second + keys[1]
    for turn in range(5):
        for rotation in ROTATIONS[turn % 2]:
            x = x + y
            y = (y << np.uint32(rotation)) | (y >> np.uint32(32 - rotation))
            y = y ^ x
        x, y = x + keys[(turn + 1) % 3], y + keys[(turn + 2) % 3] + np.uint32(turn + 1)
    return x, y


@case("random")
def random():
    counter, key = draw("counter", 3000, np.dtype(np.uint64)), 0x0123456789ABCDEF
    x, y = threefry((key & 0xFFFFFFFF, key >> 32), (counter & np.uint64(0xFFFFFFFF)).astype(np.uint32), (counter >> np.uint64(32)).astype(np.uint32))
    got = Tensor(counter)._apply_uop(UOp.threefry, Tensor(np.full(3000, key, np.uint64)))
    yield "Threefry", got, y.astype(np.uint64) << np.uint64(32) | x, 0
    Tensor.manual_seed(1234)
    uniform, normal = Tensor.rand(20000).numpy(), Tensor.randn(20000).numpy()
    Tensor.manual_seed(1234)
    yield "the same again", Tensor.rand(20000), uniform, 0
    yield "between 0 and 1", np.array([(uniform >= 0).all(), (uniform < 1).all()]), np.array([True, True]), 0
    # Six standard errors.
    yield "mean and variance", np.array([uniform.mean(), uniform.var(), normal.mean(), normal.var()]), np.array([1 / 2, 1 / 12, 0, 1]), \
        6 * np.array([12**-0.5, 180**-0.5, 1, 2**0.5]) / 20000**0.5
    yield "shuffled", Tensor.randperm(16).sort()[0], np.arange(16, dtype=np.int32), 0


# Training, captured kernels, symbolic sizes.

@case("gradients")
def gradients():
    x, w = draw("x", (12, 20)), draw("w", (20, 7))
    weight = Tensor(w).realize()
    loss = (Tensor(x) @ weight).tanh().square().sum()
    (gradient,) = loss.gradient(weight)
    t = np.tanh(single(x) @ single(w))
    yield "loss", loss, (t**2).sum(), 1e-4
    yield "gradient", gradient, single(x).T @ (2 * t * (1 - t**2)), 2e-5


def descend(x, y, weights, rate, steps):
    """The same training in numpy: two layers, mean squared error, plain gradient descent."""
    first, last = (single(w) for w in weights)
    losses = []
    for _ in range(steps):
        hidden = np.maximum(single(x) @ first, 0)
        error = hidden @ last - single(y)
        losses.append((error**2).mean())
        slope = 2 * error / error.size
        back = slope @ last.T * (hidden > 0)
        first, last = first - rate * single(x).T @ back, last - rate * hidden.T @ slope
    return np.array(losses), first, last


@case("training")
def training():
    x, y = draw("x", (64, 12)), draw("y", (64, 3))
    weights = draw("first", (12, 24)) / np.float32(4), draw("last", (24, 3)) / np.float32(4)
    want = descend(x, y, weights, 0.05, 8)
    inputs, labels = Tensor(x).realize(), Tensor(y).realize()
    first, last = (Tensor(w).realize() for w in weights)
    optimiser = nn.optim.SGD([first, last], lr=0.05)

    @TinyJit
    def step():
        loss = ((inputs @ first).relu() @ last - labels).square().mean()
        optimiser.zero_grad()
        loss.backward()
        return loss.realize(*optimiser.schedule_step())

    with Context(TRAINING=1):
        # From the third step on, the kernels are launched without tinygrad's scheduler.
        got = np.array([step().item() for _ in range(8)])
    yield "losses", got, want[0], 1e-5
    yield "first weights", first, want[1], 1e-5
    yield "last weights", last, want[2], 1e-5


@case("adam")
def adam():
    a = draw("a", (9, 9))
    weight = Tensor(a).contiguous().realize()
    optimiser = nn.optim.Adam([weight], lr=0.01)
    w, m, v = single(a), np.zeros((9, 9)), np.zeros((9, 9))
    with Context(TRAINING=1):
        for step in range(1, 5):
            optimiser.zero_grad()
            weight.square().sum().backward()
            optimiser.step()
            gradient = 2 * w
            m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
            w = w - 0.01 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    yield "weights", weight, w, 5e-6


@case("captured")
def captured():
    @TinyJit
    def chain(x, y):
        z = (x @ y).relu().contiguous()
        z = (z - z.mean(axis=1, keepdim=True)).contiguous()
        return (z * 2 + x.sum()).realize()

    for turn in range(5):
        a, b = draw(f"a{turn}", (16, 16)), draw(f"b{turn}", (16, 16))
        # The inputs are new buffers each time, so the kernels get new arguments.
        got = chain(Tensor(a).realize(), Tensor(b).realize()).numpy()
        z = np.maximum(single(a) @ single(b), 0)
        yield f"turn {turn}", got, (z - z.mean(1, keepdims=True)) * 2 + single(a).sum(), 1e-4


@case("symbolic")
def symbolic():
    a = draw("a", (10, 64))
    rows = Variable("rows", 1, 10)

    @TinyJit
    def total(x):
        return (x + 1).sum(axis=0).realize()

    x = Tensor(a).realize()
    for count in (1, 4, 7, 10, 3):
        part = single(a[:count]) + 1
        yield f"{count} rows", total(x[:rows.bind(count)]), part.sum(0), of_sum(part, 0)
    size = Variable("size", 1, 100)
    whole = draw("whole", 100, np.dtype(np.int32)) >> 12
    for count in (2, 33, 100):
        got = Tensor(whole).realize()[:size.bind(count)].sum()
        yield f"sum of {count}", got, whole[:count].sum(dtype=np.int32), 0


@case("two_devices")
def two_devices():
    devices = ("CUDA:0", "CUDA:1")
    a, b = draw("a", (32, 48)), draw("b", (48, 20))
    bound = (np.abs(single(a)) @ np.abs(single(b))) * HALF_ULP[F32] * 96
    x, y = Tensor(a).realize(), Tensor(b).realize()
    yield "moved", x.to(devices[1]) * 2, a * 2, 0
    left, right = x.shard(devices, axis=0), y.shard(devices)
    # Data on two devices would be combined on the host.
    yield "by rows", (left @ right).to(devices[0]), single(a) @ single(b), bound
    left, right = x.shard(devices, axis=1), y.shard(devices, axis=0)
    yield "over the sum", (left @ right).to(devices[0]), single(a) @ single(b), bound
