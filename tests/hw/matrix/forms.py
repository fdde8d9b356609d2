#!/usr/bin/env python3
"""Writes forms.tsv: one line per matrix instruction, from which the recorder and the tests generate one
kernel each (README.md).

Names in a body: registers of the inputs %a0 %b0 %c0 %e0 …, of the result %d0 …, the block's shared memory
%s, the warp's part of it %w, the lane %l, the thread %u2, and scratch registers %h<8> %t<16> %q<8> %p<4>.
"""
import sys

FORMS = []
SEEN = set()
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1,
        "s32": 32}


def form(group, name, inputs, output, body):
    assert name not in SEEN, name
    SEEN.add(name)
    assert "\t" not in body and "\n" not in body
    FORMS.append((group, name, ",".join(inputs), output, body))


def registers(elements, t):
    """Registers per lane for a matrix with this many elements."""
    return elements * BITS[t] // 32 // max(32, BITS[t])


def vector(name, count):
    return "{" + ", ".join(f"%{name}{i}" for i in range(count)) + "}"


def kind(t):
    return "int" if t in ("s8", "u8", "s4", "u4", "b1") else t


def width(t):
    return "b64" if t == "f64" else "b32"


def mma(shape, types, extra="", tail="", group="mma", layout="row.col", sparse=None, quads=1):
    m, n, k = shape
    d, a, b, c = types
    stored = k // 2 if sparse else k
    ra, rb, rc, rd = (registers(quads * e, t) for e, t in ((m * stored, a), (n * k, b), (m * n, c), (m * n, d)))
    inputs = [f"a:{kind(a)}*{ra}", f"b:{kind(b)}*{rb}", f"c:{kind(c)}*{rc}"]
    operands = [vector("d", rd), vector("a", ra), vector("b", rb), vector("c", rc)]
    op = "mma"
    if sparse:
        op = f"mma.{sparse[0]}"
        inputs.append(f"e:{'one2' if a == 'tf32' else 'two4'}*1")
        operands += ["%e0", str(sparse[1])]
    s = f"m{m}n{n}k{k}"
    if (m, k, a) == (8, 4, "f16"):
        text = f"{op}.sync.aligned.{s}.{layout}.{d}.{a}.{b}.{c}"
    else:
        text = f"{op}.sync.aligned.{s}.{layout}{extra}.{d}.{a}.{b}.{c}{tail}"
    name = text.replace(".sync.aligned", "").replace("::", "_") + (f".{sparse[1]}" if sparse else "")
    form(group, name, inputs, f"{width(d)}*{rd}", f"{text} {', '.join(operands)};")


def dense():
    for la in ("row", "col"):
        for lb in ("row", "col"):
            for d, c in (("f16", "f16"), ("f32", "f16"), ("f32", "f32")):
                mma((8, 8, 4), (d, "f16", "f16", c), layout=f"{la}.{lb}", quads=4)
    for k in (8, 16):
        for c in ("f16", "f32"):
            mma((16, 8, k), (c, "f16", "f16", c))
        mma((16, 8, k), ("f32", "bf16", "bf16", "f32"))
        mma((16, 8, k // 2), ("f32", "tf32", "tf32", "f32"))
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            for k in (16, 32):
                for c in ("f16", "f32"):
                    mma((16, 8, k), (c, a, b, c))
    mma((8, 8, 4), ("f64",) * 4)
    for k in (4, 8, 16):
        mma((16, 8, k), ("f64",) * 4)
    for types, shapes in ((("s8", "u8"), ((8, 8, 16), (16, 8, 16), (16, 8, 32))), (("s4", "u4"), ((8, 8, 32), (16, 8, 32), (16, 8, 64)))):
        for shape in shapes:
            for a in types:
                for b in types:
                    for sat in ("", ".satfinite"):
                        mma(shape, ("s32", a, b, "s32"), extra=sat)
    for shape in ((8, 8, 128), (16, 8, 128), (16, 8, 256)):
        for op in ("and", "xor"):
            mma(shape, ("s32", "b1", "b1", "s32"), tail=f".{op}.popc")


def sparse():
    g = "mma_sparse"
    for sp in ("sp", "sp::ordered_metadata"):
        for k, selectors in ((16, 4), (32, 2)):
            for f in range(selectors):
                mma((16, 8, k), ("f16", "f16", "f16", "f16"), group=g, sparse=(sp, f))
                mma((16, 8, k), ("f32", "f16", "f16", "f32"), group=g, sparse=(sp, f))
                mma((16, 8, k), ("f32", "bf16", "bf16", "f32"), group=g, sparse=(sp, f))
                mma((16, 8, k // 2), ("f32", "tf32", "tf32", "f32"), group=g, sparse=(sp, f))
        for a in ("e4m3", "e5m2"):
            for b in ("e4m3", "e5m2"):
                mma((16, 8, 64), ("f32", a, b, "f32"), group=g, sparse=(sp, 0))
        for types, ks in ((("s8", "u8"), (32, 64)), (("s4", "u4"), (64, 128))):
            for k, selectors in zip(ks, (2, 1)):
                for f in range(selectors):
                    for a in types:
                        for b in types:
                            for sat in ("", ".satfinite") if f == 0 else ("",):
                                mma((16, 8, k), ("s32", a, b, "s32"), extra=sat, group=g, sparse=(sp, f))


# The number of elements of a wmma matrix in all lanes together, by its name.
def elements(shape, matrix):
    m, n, k = shape
    return {"a": m * k, "b": k * n, "c": m * n, "d": m * n}[matrix]


def wmma_registers(shape, matrix, t):
    if t == "f16" and matrix in "ab":
        return 8
    return registers(elements(shape, matrix), t)


def wmma_shapes():
    for shape in ((16, 16, 16), (8, 32, 16), (32, 8, 16)):
        for d in ("f16", "f32"):
            for c in ("f16", "f32"):
                yield shape, (d, "f16", "f16", c), ("",)
        yield shape, ("f32", "bf16", "bf16", "f32"), ("",)
        yield shape, ("s32", "s8", "s8", "s32"), ("", ".satfinite")
        yield shape, ("s32", "u8", "u8", "s32"), ("", ".satfinite")
    yield (16, 16, 8), ("f32", "tf32", "tf32", "f32"), ("",)
    yield (8, 8, 4), ("f64",) * 4, ("", ".rn", ".rz", ".rm", ".rp")
    yield (8, 8, 32), ("s32", "s4", "s4", "s32"), ("", ".satfinite")
    yield (8, 8, 32), ("s32", "u4", "u4", "s32"), ("", ".satfinite")
    yield (8, 8, 128), ("s32", "b1", "b1", "s32"), ("",)


def to_shared(name, count, stride=16):
    """Stores each lane's registers in sequence in the warp's shared memory."""
    text = f"mad.lo.u32 %t1, %l, {stride}, %w; "
    return text + " ".join(f"st.shared.b32 [%t1+{4 * i}], %{name}{i};" for i in range(count)) + " bar.warp.sync -1;"


def wmma():
    g = "wmma"
    seen = set()
    for shape, types, extras in wmma_shapes():
        s = "m{}n{}k{}".format(*shape)
        d, a, b, c = types
        fixed = a in ("s4", "u4", "b1")
        # Loads and stores: the registers show the layout of fragments.
        for matrix, t in (("a", a), ("b", b), ("c", c)):
            for layout in ("row", "col"):
                if fixed and matrix != "c" and layout != {"a": "row", "b": "col"}[matrix]:
                    continue
                for padded in (0, 1):
                    if (s, matrix, layout, t, padded) in seen:
                        continue
                    seen.add((s, matrix, layout, t, padded))
                    m, n, k = shape
                    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n)}[matrix]
                    minor = columns if layout == "row" else rows
                    stride = minor + padded * 128 // BITS[t] * (2 if t == "b1" else 1)
                    size = (columns if layout == "col" else rows) * stride * BITS[t] // 8
                    words = -(-size // 128)
                    count = wmma_registers(shape, matrix, t)
                    explicit = f", {stride}"
                    wide = t == "f64"
                    regs = vector("d", count)
                    form(g, f"wmma.load.{matrix}.{layout}.{s}.{t}.{stride}", [f"a:raw*{words}"], f"{'b64' if wide else 'b32'}*{count}",
                         f"{to_shared('a', words, 4 * words)} wmma.load.{matrix}.sync.aligned.{layout}.{s}.shared.{t} {regs}, [%w]{explicit};")
                    if matrix == "c":
                        body = f"mad.lo.u32 %t1, %l, {4 * words}, %w; "
                        body += "mov.b32 %t2, 0; " + " ".join(f"st.shared.b32 [%t1+{4 * i}], %t2;" for i in range(words)) + " bar.warp.sync -1; "
                        body += f"wmma.store.d.sync.aligned.{layout}.{s}.shared.{t} [%w], {vector('c', count)}{explicit}; bar.warp.sync -1; "
                        body += " ".join(f"ld.shared.b32 %d{i}, [%t1+{4 * i}];" for i in range(words))
                        form(g, f"wmma.store.{layout}.{s}.{t}.{stride}", [f"a:raw*1", "b:raw*1", f"c:{'f64' if wide else 'raw'}*{count}"], f"b32*{words}", body)
        for extra in extras:
            ra, rb, rc = wmma_registers(shape, "a", a), wmma_registers(shape, "b", b), wmma_registers(shape, "c", c)
            rd = wmma_registers(shape, "d", d)
            operands = ", ".join([vector("d", rd), vector("a", ra), vector("b", rb), vector("c", rc)])
            inputs = [f"a:{kind(a)}*{ra}", f"b:{kind(b)}*{rb}", f"c:{kind(c)}*{rc}"]
            layouts = ("row.col", "col.row") if a == "f16" and d == c else ("row.col",)
            ops = ("and", "xor") if a == "b1" else ("",)
            for layout in layouts:
                for op in ops:
                    if op:
                        text = f"wmma.mma.{op}.popc.sync.aligned.{layout}.{s}.{d}.{a}.{b}.{c}"
                    elif a == "f16":
                        text = f"wmma.mma.sync.aligned.{layout}.{s}.{d}.{c}{extra}"
                    elif a == "f64":
                        text = f"wmma.mma.sync.aligned.{layout}.{s}{extra}.{d}.{a}.{b}.{c}"
                    else:
                        text = f"wmma.mma.sync.aligned.{layout}.{s}.{d}.{a}.{b}.{c}{extra}"
                    form(g, text.replace(".sync.aligned", ""), inputs, f"{width(d)}*{rd}", f"{text} {operands};")


def wmma6():
    """Products of f16 with .satfinite, removed in PTX 6.5. The group's kernels are PTX 6.4 for sm_70."""
    for shape in ((16, 16, 16), (8, 32, 16), (32, 8, 16)):
        for d in ("f16", "f32"):
            for c in ("f16", "f32"):
                for layout in ("row.col", "col.row", "row.row", "col.col"):
                    rc, rd = wmma_registers(shape, "c", c), wmma_registers(shape, "d", d)
                    text = "wmma.mma.sync.aligned.{}.m{}n{}k{}.{}.{}.satfinite".format(layout, *shape, d, c)
                    form("wmma6", text.replace(".sync.aligned", ""), ["a:f16*8", "b:f16*8", f"c:{c}*{rc}"], f"b32*{rd}",
                         f"{text} {', '.join([vector('d', rd), vector('a', 8), vector('b', 8), vector('c', rc)])};")


def matrix():
    g = "matrix"
    for num in (1, 2, 4):
        for trans in ("", ".trans"):
            text = f"ldmatrix.sync.aligned.m8n8.x{num}{trans}.shared.b16"
            # The lane's own row, and rows in another order.
            form(g, f"ldmatrix.x{num}{trans}", ["a:raw*4"], f"b32*{num}",
                 f"{to_shared('a', 4)} {text} {vector('d', num)}, [%t1];")
            form(g, f"ldmatrix.x{num}{trans}.mixed", ["a:raw*4"], f"b32*{num}",
                 f"{to_shared('a', 4)} mul.lo.u32 %t2, %l, 11; and.b32 %t2, %t2, 31; mad.lo.u32 %t2, %t2, 16, %w; {text} {vector('d', num)}, [%t2];")
            text = f"stmatrix.sync.aligned.m8n8.x{num}{trans}.shared.b16"
            body = f"{to_shared('a', 4)} {text} [%t1], {vector('b', num)}; bar.warp.sync -1; ld.shared.v4.b32 {vector('d', 4)}, [%t1];"
            form(g, f"stmatrix.x{num}{trans}", ["a:raw*4", f"b:raw*{num}"], "b32*4", body)
    form(g, "movmatrix", ["a:raw*1"], "b32*1", "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %a0;")


# For a matrix in shared memory: swizzle, bytes between its blocks (leading and stride offset), and first
# byte.
def descriptor(at, base, swizzle, leading, stride):
    mode = {0: 0, 128: 1, 64: 2, 32: 3}[swizzle]
    constant = mode << 62 | (stride >> 4) << 32 | (leading >> 4) << 16
    return f"add.u32 %t2, %s, {base}; and.b32 %t2, %t2, 0x3ffff; shr.u32 %t2, %t2, 4; cvt.u64.u32 {at}, %t2; or.b64 {at}, {at}, {constant:#x};"


# Blocks in sequence, by swizzle and whether rows run along k.
STRIDES = {(0, True): (128, 256), (32, True): (16, 256), (64, True): (16, 512), (128, True): (16, 1024),
           (0, False): (128, 256), (32, False): (512, 256), (64, False): (1024, 512), (128, False): (2048, 1024)}
B_WORDS = 32  # for each of the 128 threads: 16 KiB


def wgmma(n, k, types, a_in, swizzle=(0, 0), trans=(0, 0), strides=(None, None), base=(8192, 0), scale_d=1, scales=(1, 1), sat="",
          sparse=None):
    d, a, b = types
    half = a in ("f16", "bf16")
    stored = k // 2 if sparse is not None else k
    ra, rd = 64 * stored * BITS[a] // 32 // 128, 64 * n * BITS[d] // 32 // 128
    at = [s or STRIDES[w, not t] for s, w, t in zip(strides, swizzle, trans)]
    if sparse is not None and k * BITS[a] == 512 and strides[1] is None and swizzle[1] == 0 and not trans[1]:
        at[1] = (128, 512)
    text = f"wgmma.mma_async{'.sp' if sparse is not None else ''}.sync.aligned.m64n{n}k{k}{sat}.{d}.{a}.{b}"
    if a == "b1":
        text += ".and.popc"
    body = f"mad.lo.u32 %t1, %u2, {4 * B_WORDS}, %s; "
    body += " ".join(f"st.shared.b32 [%t1+{4 * i}], %b{i};" for i in range(B_WORDS))
    body += " " + descriptor("%q1", base[1], swizzle[1], *at[1])
    operand = vector("a", ra)
    if not a_in:
        body += " " + descriptor("%q0", base[0], swizzle[0], *at[0])
        operand = "%q0"
    body += f" setp.ne.u32 %p1, {scale_d}, 0; " + " ".join(f"mov.b{32} %d{i}, %c{i};" for i in range(rd))
    body += " fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned; "
    operands = [vector("d", rd), operand, "%q1"]
    if sparse is not None:
        operands += ["%e0", str(sparse)]
    operands.append("%p1")
    if d not in ("s32",):
        operands += [str(x) for x in scales]
    if half:
        operands += [str(t) for t in (trans if not a_in else trans[1:])]
    body += f"{text} {', '.join(operands)}; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
    name = text.replace(".sync.aligned", "")
    if sparse is not None:
        name += f".{sparse}"
    name += ".ra" if a_in else f".sa{swizzle[0]}{'t' if trans[0] else ''}_{at[0][0]}_{at[0][1]}"
    name += f".sb{swizzle[1]}{'t' if trans[1] else ''}_{at[1][0]}_{at[1][1]}"
    name += "" if base == (8192, 0) else f".at{base[0]}_{base[1]}"
    name += "" if scale_d else ".zero"
    name += "".join("" if x > 0 else f".minus{i}" for i, x in enumerate(scales))
    inputs = [f"a:{kind(a)}*{ra}", f"b:{kind(b)}*{B_WORDS}", f"c:{d}*{rd}"]
    if sparse is not None:
        inputs.append(f"e:{'one2' if a == 'tf32' else 'two4'}*1")
    if name not in SEEN:
        form("wgmma", name, inputs, f"b32*{rd}", body)


def warpgroup():
    types = [(16, (d, "f16", "f16"), "") for d in ("f16", "f32")] + [(16, ("f32", "bf16", "bf16"), ""), (8, ("f32", "tf32", "tf32"), "")]
    types += [(32, (d, a, b), "") for d in ("f16", "f32") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]
    types += [(32, ("s32", a, b), sat) for a in ("s8", "u8") for b in ("s8", "u8") for sat in ("", ".satfinite")]
    for k, t, sat in types + [(256, ("s32", "b1", "b1"), "")]:
        for a_in in (True, False):
            wgmma(8, k, t, a_in, sat=sat)
        wgmma(32, k, t, True, sat=sat)
        if t[1] != "b1":
            for selector in (0, 1) if BITS[t[1]] > 8 else (0,):
                wgmma(8, 2 * k, t, True, sat=sat, sparse=selector)
            wgmma(16, 2 * k, t, False, sat=sat, sparse=0)
            wgmma(16, k, t, False, swizzle=(128, 64), sat=sat)
    half, f32 = ("f16", "f16", "f16"), ("f32", "f16", "f16")
    for t in (half, f32, ("f32", "bf16", "bf16"), ("f32", "tf32", "tf32"), ("f32", "e4m3", "e4m3")):
        k = 256 // BITS[t[1]]
        wgmma(8, k, t, True, scale_d=0)
        for scales in ((-1, 1), (1, -1), (-1, -1)):
            wgmma(8, k, t, True, scales=scales)
    wgmma(8, 32, ("s32", "s8", "s8"), True, scale_d=0)
    for n in (128, 256):
        wgmma(n, 16, f32, False)
        wgmma(n, 32, ("s32", "s8", "u8"), True)
    for swizzle in (0, 32, 64, 128):
        for trans in (0, 1):
            wgmma(64, 16, f32, True, swizzle=(0, swizzle), trans=(0, trans))
            wgmma(8, 16, f32, False, swizzle=(swizzle, 0), trans=(trans, 0))
            wgmma(8, 16, f32, False, swizzle=(swizzle, 0), trans=(trans, 1))
            # Other strides, and matrices that begin elsewhere in a swizzled block.
            other = {(0, 0): (1024, 128), (0, 1): (1024, 128)}.get((swizzle, trans), tuple(4 * x for x in STRIDES[swizzle, not trans]))
            wgmma(16, 16, f32, True, swizzle=(0, swizzle), trans=(0, trans), strides=(None, other))
            if not trans and swizzle > 32:
                wgmma(16, 16, f32, False, swizzle=(swizzle, swizzle), base=(8192 + 32, 32))
                wgmma(16, 8, ("f32", "tf32", "tf32"), False, swizzle=(swizzle, swizzle), base=(8192 + 32, 32))
    wgmma(16, 32, f32, False, swizzle=(64, 128), trans=(0, 1), sparse=0)
    wgmma(16, 32, f32, False, swizzle=(64, 128), trans=(1, 0), sparse=1)


def main():
    for add in (dense, sparse, wmma, wmma6, matrix, warpgroup):
        add()
    with open(sys.argv[1] if len(sys.argv) > 1 else "forms.tsv", "w") as out:
        out.write("# group\tname\tinputs\tresult\tbody\n")
        for f in FORMS:
            out.write("\t".join(f) + "\n")
    print(len(FORMS), "forms")


main()
