#!/usr/bin/env python3
"""Writes forms.tsv: one line per instruction form, from which the recorder and the tests generate one kernel
each (README.md).

Names in a body: inputs %a %b %c %e, outputs %d %x %y, the thread's 32 bytes of global memory %m, of shared
memory %s and of local memory %l, the thread's number %i, and scratch registers %h<8> %t<16> %q<16> %p<4>.
"""
import sys

FORMS = []
SEEN = set()
SIZE = {"i16": 16, "i32": 32, "i64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "f16x2": 32, "bf16x2": 32, "sh": 32, "p": 32,
        "b16": 16, "b32": 32, "b64": 64}


def form(group, name, inputs, outputs, body, sm=50, check="exact"):
    assert name not in SEEN, name
    SEEN.add(name)
    assert "\t" not in body and "\n" not in body
    FORMS.append((group, name, str(sm), check, ",".join(inputs), ",".join(outputs), body))


def simple(group, op, ins, out, sm=50, check="exact", name=None):
    """An instruction with only register operands: %d, %a, %b, %c."""
    regs = ", ".join(["%d"] + ["%a", "%b", "%c", "%e"][:len(ins)])
    form(group, name or op, ins, [out], f"{op} {regs};", sm, check)


def in_of(t):
    """The input type for a PTX type."""
    return {"u8": "i16", "s8": "i16", "b8": "i16", "u16": "i16", "s16": "i16", "b16": "i16", "u32": "i32", "s32": "i32", "b32": "i32",
            "u64": "i64", "s64": "i64", "b64": "i64", "u16x2": "i32", "s16x2": "i32"}.get(t, t)


def out_of(t):
    return {16: "b16", 32: "b32", 64: "b64"}[SIZE[in_of(t)]]


def regsize(t):
    return SIZE[in_of(t)]


ROUND = ["rn", "rz", "rm", "rp"]
IROUND = ["rni", "rzi", "rmi", "rpi"]
INTS = ["u16", "s16", "u32", "s32", "u64", "s64"]


def integer():
    g = "integer"
    for t in INTS:
        i, o = in_of(t), out_of(t)
        for op in ["add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"]:
            simple(g, f"{op}.{t}", [i, i], o)
        for op in ["mad.lo", "mad.hi"]:
            simple(g, f"{op}.{t}", [i, i, i], o)
        if t[1:] != "64":
            wide = {"16": "b32", "32": "b64"}[t[1:]]
            simple(g, f"mul.wide.{t}", [i, i], wide)
            simple(g, f"mad.wide.{t}", [i, i, {"b32": "i32", "b64": "i64"}[wide]], wide)
        simple(g, f"sad.{t}", [i, i, i], o)
        if t[0] == "s":
            simple(g, f"abs.{t}", [i], o)
            simple(g, f"neg.{t}", [i], o)
    for op in ["add.sat.s32", "sub.sat.s32"]:
        simple(g, op, ["i32", "i32"], "b32")
    simple(g, "mad.hi.sat.s32", ["i32"] * 3, "b32")
    for t in ["u32", "s32"]:
        for h in ["lo", "hi"]:
            simple(g, f"mul24.{h}.{t}", ["i32", "i32"], "b32")
            simple(g, f"mad24.{h}.{t}", ["i32"] * 3, "b32")
    simple(g, "mad24.hi.sat.s32", ["i32"] * 3, "b32")
    for t in ["u16x2", "s16x2"]:
        for op in ["add", "min", "max"]:
            simple(g, f"{op}.{t}", ["i32", "i32"], "b32", 90)
    for t in ["s32", "s16x2"]:
        for op in ["min.relu", "max.relu"]:
            simple(g, f"{op}.{t}", ["i32", "i32"], "b32", 90)
    # Carries: each step of an extended chain, signed and unsigned, 32 and 64 bits.
    for b in ["32", "64"]:
        for t in ["u" + b, "s" + b]:
            i, o = "i" + b, "b" + b
            form(g, f"add.cc.{t}", [i, i], [o, o], f"add.cc.{t} %d, %a, %b; addc.{t} %x, 0, 0;")
            form(g, f"sub.cc.{t}", [i, i], [o, o], f"sub.cc.{t} %d, %a, %b; subc.{t} %x, 0, 0;")
            form(g, f"addc.cc.{t}", [i, i, i], [o, o, o], f"add.cc.{t} %d, %a, %b; addc.cc.{t} %x, %b, %c; addc.{t} %y, 0, 0;")
            form(g, f"subc.cc.{t}", [i, i, i], [o, o, o], f"sub.cc.{t} %d, %a, %b; subc.cc.{t} %x, %b, %c; subc.{t} %y, 0, 0;")
            for h in ["lo", "hi"]:
                form(g, f"mad.{h}.cc.{t}", [i, i, i], [o, o], f"mad.{h}.cc.{t} %d, %a, %b, %c; addc.{t} %x, 0, 0;")
                form(g, f"madc.{h}.{t}", [i, i, i], [o, o], f"add.cc.{t} %x, %a, %b; madc.{h}.{t} %d, %a, %b, %c;")
                form(g, f"madc.{h}.cc.{t}", [i, i, i], [o, o, o],
                     f"sub.cc.{t} %x, %a, %c; madc.{h}.cc.{t} %d, %a, %b, %c; addc.{t} %y, 0, 0;")
    form(g, "chain.mul64x32", ["i64", "i32"], ["b32", "b32", "b32"],
         "mov.b64 {%t0, %t1}, %a; mul.lo.u32 %d, %t0, %b; mul.hi.u32 %t2, %t0, %b; mad.lo.cc.u32 %x, %t1, %b, %t2; madc.hi.u32 %y, %t1, %b, 0;")
    form(g, "chain.add128", ["i64", "i64", "i64"], ["b64", "b64", "b64"],
         "add.cc.u64 %d, %a, %b; addc.cc.u64 %x, %b, %c; addc.u64 %y, %a, %c;")
    for t in ["b32", "b64"]:
        simple(g, f"popc.{t}", [in_of(t)], "b32")
        simple(g, f"clz.{t}", [in_of(t)], "b32")
        simple(g, f"brev.{t}", [in_of(t)], t)
    for t in ["u32", "s32", "u64", "s64"]:
        simple(g, f"bfind.{t}", [in_of(t)], "b32")
        simple(g, f"bfind.shiftamt.{t}", [in_of(t)], "b32")
        simple(g, f"bfe.{t}", [in_of(t), "sh", "sh"], out_of(t))
        simple(g, f"bfe.{t}", [in_of(t), "i32", "i32"], out_of(t), name=f"bfe.{t}.any")
    for t in ["b32", "b64"]:
        form(g, f"bfi.{t}", [in_of(t), in_of(t), "sh", "sh"], [t], f"bfi.{t} %d, %a, %b, %c, %e;")
        form(g, f"bfi.{t}.any", [in_of(t), in_of(t), "i32", "i32"], [t], f"bfi.{t} %d, %a, %b, %c, %e;")
    form(g, "fns.b32", ["i32", "sh", "sh"], ["b32"], "and.b32 %t0, %b, 31; and.b32 %t1, %c, 63; sub.s32 %t1, %t1, 32; fns.b32 %d, %a, %t0, %t1;")
    for m in ["wrap", "clamp"]:
        simple(g, f"bmsk.{m}.b32", ["sh", "sh"], "b32", 70)
        for t in ["u32", "s32"]:
            simple(g, f"szext.{m}.{t}", ["i32", "sh"], "b32", 70)
    for a in ["u32", "s32"]:
        for b in ["u32", "s32"]:
            simple(g, f"dp4a.{a}.{b}", ["i32"] * 3, "b32", 61)
            for h in ["lo", "hi"]:
                simple(g, f"dp2a.{h}.{a}.{b}", ["i32"] * 3, "b32", 61)


def logic():
    g = "logic"
    for t in ["b16", "b32", "b64"]:
        i = in_of(t)
        for op in ["and", "or", "xor"]:
            simple(g, f"{op}.{t}", [i, i], t)
        simple(g, f"not.{t}", [i], t)
        simple(g, f"cnot.{t}", [i], t)
        simple(g, f"shl.{t}", [i, "sh"], t)
        for k in ["b", "u", "s"]:
            simple(g, f"shr.{k}{t[1:]}", [i, "sh"], t)
    for op in ["and", "or", "xor"]:
        form(g, f"{op}.pred", ["p", "p"], ["b32"],
             f"setp.ne.u32 %p0, %a, 0; setp.ne.u32 %p1, %b, 0; {op}.pred %p2, %p0, %p1; selp.u32 %d, 1, 0, %p2;")
    form(g, "not.pred", ["p"], ["b32"], "setp.ne.u32 %p0, %a, 0; not.pred %p1, %p0; selp.u32 %d, 1, 0, %p1;")
    for d in ["l", "r"]:
        for m in ["wrap", "clamp"]:
            simple(g, f"shf.{d}.{m}.b32", ["i32", "i32", "sh"], "b32")
    form(g, "prmt.b32", ["i32", "i32", "i32"], ["b32"], "prmt.b32 %d, %a, %b, %c;")
    for m in ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]:
        form(g, f"prmt.b32.{m}", ["i32", "i32", "sh"], ["b32"], f"prmt.b32.{m} %d, %a, %b, %c;")
    for lut in range(256):
        form(g, f"lop3.b32.{lut:02x}", ["i32", "i32", "i32"], ["b32"], f"lop3.b32 %d, %a, %b, %c, {lut:#x};")
    for op in ["and", "or"]:
        form(g, f"lop3.{op}.b32", ["i32", "i32", "i32", "p"], ["b32", "b32"],
             f"setp.ne.u32 %p0, %e, 0; lop3.{op}.b32 %d|%p1, %a, %b, %c, 0x96, %p0; selp.u32 %x, 1, 0, %p1;", 70)
    form(g, "mov.pack.b32", ["i16", "i16"], ["b32"], "mov.b32 %d, {%a, %b};")
    form(g, "mov.unpack.b32", ["i32"], ["b16", "b16"], "mov.b32 {%d, %x}, %a;")
    form(g, "mov.pack.b64", ["i32", "i32"], ["b64"], "mov.b64 %d, {%a, %b};")
    form(g, "mov.unpack.b64", ["i64"], ["b32", "b32"], "mov.b64 {%d, %x}, %a;")
    form(g, "mov.pack.b64.4", ["i16", "i16", "i16", "i16"], ["b64"], "mov.b64 %d, {%a, %b, %c, %e};")
    form(g, "mov.unpack.b64.4", ["i64"], ["b16", "b16", "b16"], "mov.b64 {%d, %x, %y, %h0}, %a; xor.b16 %y, %y, %h0;")
    for t in ["b16", "b32", "b64", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"]:
        form(g, f"selp.{t}", [in_of(t), in_of(t), "p"], [out_of(t)], f"setp.ne.u32 %p0, %c, 0; selp.{t} %d, %a, %b, %p0;")
    for t in ["b16", "b32", "b64", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"]:
        simple(g, f"slct.{t}.s32", [in_of(t), in_of(t), "i32"], out_of(t))
        simple(g, f"slct.{t}.f32", [in_of(t), in_of(t), "f32"], out_of(t))
        simple(g, f"slct.ftz.{t}.f32", [in_of(t), in_of(t), "f32"], out_of(t))


ICMP = {"u": ["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"], "s": ["eq", "ne", "lt", "le", "gt", "ge"], "b": ["eq", "ne"]}
FCMP = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]


def compare():
    g = "compare"

    def cmps(t):
        return FCMP if t.startswith(("f", "bf")) else ICMP[t[0]]

    for t in ["b16", "b32", "b64"] + INTS + ["f32", "f64"]:
        i = in_of(t)
        for c in cmps(t):
            for ftz in ["", ".ftz"] if t == "f32" else [""]:
                form(g, f"setp.{c}{ftz}.{t}", [i, i], ["b32", "b32"],
                     f"setp.{c}{ftz}.{t} %p0|%p1, %a, %b; selp.u32 %d, 1, 0, %p0; selp.u32 %x, 1, 0, %p1;")
                form(g, f"set.{c}{ftz}.u32.{t}", [i, i], ["b32"], f"set.{c}{ftz}.u32.{t} %d, %a, %b;")
        c = cmps(t)[0]
        for bop in ["and", "or", "xor"]:
            form(g, f"setp.{c}.{bop}.{t}", [i, i, "p"], ["b32", "b32"],
                 f"setp.ne.u32 %p2, %c, 0; setp.{c}.{bop}.{t} %p0|%p1, %a, %b, %p2; selp.u32 %d, 1, 0, %p0; selp.u32 %x, 1, 0, %p1;")
            form(g, f"set.{c}.{bop}.u32.{t}.not", [i, i, "p"], ["b32"],
                 f"setp.ne.u32 %p2, %c, 0; set.{c}.{bop}.u32.{t} %d, %a, %b, !%p2;")
        for d in ["s32", "f32"]:
            form(g, f"set.{c}.{d}.{t}", [i, i], ["b32"], f"set.{c}.{d}.{t} %d, %a, %b;")
    for t, sm in [("f16", 53), ("bf16", 90)]:
        x2 = t + "x2"
        for c in FCMP:
            for ftz in ["", ".ftz"] if t == "f16" else [""]:
                form(g, f"setp.{c}{ftz}.{t}", [t, t], ["b32"], f"setp.{c}{ftz}.{t} %p0, %a, %b; selp.u32 %d, 1, 0, %p0;", sm)
                form(g, f"setp.{c}{ftz}.{x2}", [x2, x2], ["b32", "b32"],
                     f"setp.{c}{ftz}.{x2} %p0|%p1, %a, %b; selp.u32 %d, 1, 0, %p0; selp.u32 %x, 1, 0, %p1;", sm)
            form(g, f"set.{c}.{t}.{t}", [t, t], ["b16"], f"set.{c}.{t}.{t} %d, %a, %b;", sm)
            form(g, f"set.{c}.{x2}.{x2}", [x2, x2], ["b32"], f"set.{c}.{x2}.{x2} %d, %a, %b;", sm)
            form(g, f"set.{c}.u32.{x2}", [x2, x2], ["b32"], f"set.{c}.u32.{x2} %d, %a, %b;", sm)
        for d in ["u16", "s16", "u32", "s32"]:
            form(g, f"set.lt.{d}.{t}", [t, t], [out_of(d)], f"set.lt.{d}.{t} %d, %a, %b;", sm)
    for k in ["finite", "infinite", "number", "notanumber", "normal", "subnormal"]:
        for t in ["f32", "f64"]:
            form(g, f"testp.{k}.{t}", [t], ["b32"], f"testp.{k}.{t} %p0, %a; selp.u32 %d, 1, 0, %p0;")


def single():
    g = "f32"
    for op in ["add", "sub", "mul", "fma", "mad"]:
        n = 3 if op in ("fma", "mad") else 2
        for r in ROUND:
            for ftz in ["", ".ftz"]:
                for sat in ["", ".sat"]:
                    simple(g, f"{op}.{r}{ftz}{sat}.f32", ["f32"] * n, "b32")
    for op in ["add", "sub", "mul"]:
        simple(g, f"{op}.f32", ["f32"] * 2, "b32")
    for ftz in ["", ".ftz"]:
        for r in ROUND:
            simple(g, f"div.{r}{ftz}.f32", ["f32"] * 2, "b32")
            simple(g, f"rcp.{r}{ftz}.f32", ["f32"], "b32")
            simple(g, f"sqrt.{r}{ftz}.f32", ["f32"], "b32")
        simple(g, f"abs{ftz}.f32", ["f32"], "b32")
        simple(g, f"neg{ftz}.f32", ["f32"], "b32")
        for op in ["min", "max"]:
            simple(g, f"{op}{ftz}.f32", ["f32"] * 2, "b32")
            simple(g, f"{op}{ftz}.NaN.f32", ["f32"] * 2, "b32", 80)
            simple(g, f"{op}{ftz}.xorsign.abs.f32", ["f32"] * 2, "b32", 86)
            simple(g, f"{op}{ftz}.NaN.xorsign.abs.f32", ["f32"] * 2, "b32", 86)
    simple(g, "copysign.f32", ["f32"] * 2, "b32")
    g = "approx"
    for ftz in ["", ".ftz"]:
        for op in ["rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2"]:
            simple(g, f"{op}.approx{ftz}.f32", ["f32"], "b32", 50, "approx")
        simple(g, f"div.approx{ftz}.f32", ["f32"] * 2, "b32", 50, "approx")
        simple(g, f"div.full{ftz}.f32", ["f32"] * 2, "b32", 50, "approx")
    simple(g, "tanh.approx.f32", ["f32"], "b32", 75, "approx")
    simple(g, "rcp.approx.ftz.f64", ["f64"], "b64", 50, "approx")
    simple(g, "rsqrt.approx.ftz.f64", ["f64"], "b64", 50, "approx")
    simple(g, "rsqrt.approx.f64", ["f64"], "b64", 50, "exact")
    for t, sm in [("f16", 75), ("f16x2", 75), ("bf16", 90), ("bf16x2", 90)]:
        simple(g, f"tanh.approx.{t}", [t], out_of(t), sm, "approx")
        simple(g, f"ex2.approx{'.ftz' if t[0] == 'b' else ''}.{t}", [t], out_of(t), sm, "approx")


def double():
    g = "f64"
    for op in ["add", "sub", "mul", "fma", "mad", "div"]:
        n = 3 if op in ("fma", "mad") else 2
        for r in ROUND:
            simple(g, f"{op}.{r}.f64", ["f64"] * n, "b64")
    for op in ["rcp", "sqrt"]:
        for r in ROUND:
            simple(g, f"{op}.{r}.f64", ["f64"], "b64")
    for op in ["add", "sub", "mul", "min", "max", "copysign"]:
        simple(g, f"{op}.f64", ["f64"] * 2, "b64")
    for op in ["abs", "neg"]:
        simple(g, f"{op}.f64", ["f64"], "b64")


def half():
    g = "half"
    for t in ["f16", "f16x2"]:
        o = out_of(t)
        for ftz in ["", ".ftz"]:
            for op in ["add", "sub", "mul"]:
                for rn in ["", ".rn"]:
                    for sat in ["", ".sat"]:
                        simple(g, f"{op}{rn}{ftz}{sat}.{t}", [t, t], o, 53)
            for m, sm in [("", 53), (".sat", 53), (".relu", 80)]:
                simple(g, f"fma.rn{ftz}{m}.{t}", [t] * 3, o, sm)
            simple(g, f"neg{ftz}.{t}", [t], o, 53)
            simple(g, f"abs{ftz}.{t}", [t], o, 53)
            for op in ["min", "max"]:
                for m, sm in [("", 80), (".NaN", 80), (".xorsign.abs", 86), (".NaN.xorsign.abs", 86)]:
                    simple(g, f"{op}{ftz}{m}.{t}", [t, t], o, sm)
        simple(g, f"fma.rn.oob.{t}", [t] * 3, o, 90)
        simple(g, f"fma.rn.oob.relu.{t}", [t] * 3, o, 90)
    for t in ["bf16", "bf16x2"]:
        o = out_of(t)
        for op in ["add", "sub", "mul"]:
            for rn in ["", ".rn"]:
                simple(g, f"{op}{rn}.{t}", [t, t], o, 90)
        for m in ["", ".relu"]:
            simple(g, f"fma.rn{m}.{t}", [t] * 3, o, 80)
        simple(g, f"fma.rn.oob.{t}", [t] * 3, o, 90)
        simple(g, f"neg.{t}", [t], o, 80)
        simple(g, f"abs.{t}", [t], o, 80)
        for op in ["min", "max"]:
            for m, sm in [("", 80), (".NaN", 80), (".xorsign.abs", 86), (".NaN.xorsign.abs", 86)]:
                simple(g, f"{op}{m}.{t}", [t, t], o, sm)


def exceeds(s, d):
    """Whether some value of integer type s is out of range for type d."""
    def span(t):
        n = int(t[1:])
        return (-(1 << n - 1), (1 << n - 1) - 1) if t[0] == "s" else (0, (1 << n) - 1)
    return span(s)[0] < span(d)[0] or span(s)[1] > span(d)[1]


def convert():
    g = "convert"
    ints = ["u8", "s8"] + INTS
    for d in ints:
        for s in ints:
            o = out_of(d)
            # .sat only if the source's range exceeds the destination's.
            for sat in ["", ".sat"] if exceeds(s, d) else [""]:
                simple(g, f"cvt{sat}.{d}.{s}", [in_of(s)], o)
    floats = ["f16", "f32", "f64"]
    for d in floats:
        for s in ints:
            for r in ROUND if d != "f16" else ["rn", "rz", "rm", "rp"]:
                for sat in ["", ".sat"] if r == "rn" else [""]:
                    simple(g, f"cvt.{r}{sat}.{d}.{s}", [in_of(s)], out_of(d), 53 if d == "f16" else 50)
    for d in ints:
        for s in floats:
            for r in IROUND:
                for ftz in ["", ".ftz"] if s == "f32" else [""]:
                    simple(g, f"cvt.{r}{ftz}.{d}.{s}", [in_of(s)], out_of(d), 53 if s == "f16" else 50)
            simple(g, f"cvt.rzi.sat.{d}.{s}", [in_of(s)], out_of(d), 53 if s == "f16" else 50)
    for d, s in [("f16", "f32"), ("f32", "f64"), ("f16", "f64")]:
        for r in ROUND:
            for sat in ["", ".sat"]:
                simple(g, f"cvt.{r}{sat}.{d}.{s}", [s], out_of(d))
    simple(g, "cvt.rn.ftz.f16.f32", ["f32"], "b16")
    for r in ROUND:
        simple(g, f"cvt.{r}.ftz.f32.f64", ["f64"], "b32")
    for d, s in [("f32", "f16"), ("f64", "f32"), ("f64", "f16")]:
        for sat in ["", ".sat"]:
            simple(g, f"cvt{sat}.{d}.{s}", [s], out_of(d))
    simple(g, "cvt.ftz.f64.f32", ["f32"], "b64")
    simple(g, "cvt.ftz.f32.f16", ["f16"], "b32")
    for t in floats:
        for r in IROUND:
            for ftz in ["", ".ftz"] if t == "f32" else [""]:
                for sat in ["", ".sat"]:
                    simple(g, f"cvt.{r}{ftz}{sat}.{t}.{t}", [t], out_of(t))
    simple(g, "cvt.sat.f32.f32", ["f32"], "b32")
    simple(g, "cvt.ftz.sat.f32.f32", ["f32"], "b32")
    simple(g, "cvt.sat.f64.f64", ["f64"], "b64")
    for r in ["rn", "rz"]:
        for relu in ["", ".relu"]:
            simple(g, f"cvt.{r}{relu}.f16x2.f32", ["f32", "f32"], "b32", 80)
            simple(g, f"cvt.{r}{relu}.bf16x2.f32", ["f32", "f32"], "b32", 80)
            simple(g, f"cvt.{r}{relu}.bf16.f32", ["f32"], "b16", 80)
            simple(g, f"cvt.{r}{relu}.f16.f32", ["f32"], "b16", 80, name=f"cvt.{r}{relu}.f16.f32" + (".80" if not relu else ""))
            simple(g, f"cvt.{r}{relu}.tf32.f32", ["f32"], "b32", 90)
    simple(g, "cvt.rna.tf32.f32", ["f32"], "b32", 80)
    simple(g, "cvt.f32.bf16", ["bf16"], "b32", 90)
    simple(g, "cvt.f64.bf16", ["bf16"], "b64", 90)
    for s in ["f16", "f64"]:
        simple(g, f"cvt.rn.bf16.{s}", [s], "b16", 90)
    for t in INTS:
        simple(g, f"cvt.rn.bf16.{t}", [in_of(t)], "b16", 90)
        simple(g, f"cvt.rzi.{t}.bf16", ["bf16"], out_of(t), 90)
    for relu in ["", ".relu"]:
        for t in ["f16", "bf16"]:
            simple(g, f"cvt.rn.satfinite{relu}.{t}.f32", ["f32"], "b16", 80)
            simple(g, f"cvt.rn.satfinite{relu}.{t}x2.f32", ["f32", "f32"], "b32", 80)
    simple(g, "cvt.rna.satfinite.tf32.f32", ["f32"], "b32", 80)
    # Registers wider than the type: results are extended, sources truncated.
    for d in ["u8", "s8", "u16", "s16", "u32", "s32"]:
        for size in ["b32", "b64"]:
            if d[1:] == size[1:]:
                continue
            for s in ["s32", "u64", "s16"]:
                simple(g, f"cvt.{d}.{s}", [in_of(s)], size, name=f"cvt.{d}.{s}.to.{size}")
            simple(g, f"cvt.rzi.{d}.f32", ["f32"], size, name=f"cvt.rzi.{d}.f32.to.{size}")
    for s in ["u8", "s8", "u16", "s16"]:
        for d in ["u32", "s32", "u64", "s64"]:
            simple(g, f"cvt.{d}.{s}", ["i32"], out_of(d), name=f"cvt.{d}.{s}.from.b32")
        simple(g, f"cvt.rn.f32.{s}", ["i32"], "b32", name=f"cvt.rn.f32.{s}.from.b32")
    for f8 in ["e4m3x2", "e5m2x2"]:
        for relu in ["", ".relu"]:
            simple(g, f"cvt.rn.satfinite{relu}.{f8}.f32", ["f32", "f32"], "b16", 89)
            simple(g, f"cvt.rn.satfinite{relu}.{f8}.f16x2", ["f16x2"], "b16", 89)
            simple(g, f"cvt.rn{relu}.f16x2.{f8}", ["i16"], "b32", 89)
    for d in ["u16", "s16"]:
        simple(g, f"cvt.pack.sat.{d}.s32", ["i32", "i32"], "b32", 72)
    for d in ["u8", "s8", "u4", "s4", "u2", "s2"]:
        simple(g, f"cvt.pack.sat.{d}.s32.b32", ["i32", "i32", "i32"], "b32", 75 if d[1] != "8" else 72)


def warp():
    g = "warp"
    for m in ["up", "down", "bfly", "idx"]:
        for width in [32, 16, 8, 4, 2]:
            clamp = 0 if m == "up" else 31
            c = ((32 - width) << 8) | clamp
            form(g, f"shfl.sync.{m}.b32.w{width}", ["i32", "sh"], ["b32", "b32"],
                 f"and.b32 %t0, %b, 63; shfl.sync.{m}.b32 %d|%p0, %a, %t0, {c:#x}, 0xffffffff; selp.u32 %x, 1, 0, %p0;")
        form(g, f"shfl.sync.{m}.b32.same", ["i32"], ["b32", "b32"],
             f"shfl.sync.{m}.b32 %d|%p0, %a, 3, {0 if m == 'up' else 31}, 0xffffffff; selp.u32 %x, 1, 0, %p0;")
        form(g, f"shfl.sync.{m}.b32.anyclamp", ["i32", "sh", "i32"], ["b32", "b32"],
             f"shfl.sync.{m}.b32 %d|%p0, %a, %b, %c, 0xffffffff; selp.u32 %x, 1, 0, %p0;")
        form(g, f"shfl.{m}.half", ["i32", "sh"], ["b32"],
             f"mov.u32 %t0, %laneid; and.b32 %t1, %b, 15; mov.u32 %d, %a; setp.lt.u32 %p0, %t0, 16; "
             f"@%p0 shfl.sync.{m}.b32 %d, %a, %t1, {(16 << 8) | (0 if m == 'up' else 31):#x}, 0x0000ffff;")
    for t, body in [("all", "vote.sync.all.pred %p1, %p0, 0xffffffff; selp.u32 %d, 1, 0, %p1;"),
                    ("any", "vote.sync.any.pred %p1, %p0, 0xffffffff; selp.u32 %d, 1, 0, %p1;"),
                    ("uni", "vote.sync.uni.pred %p1, %p0, 0xffffffff; selp.u32 %d, 1, 0, %p1;"),
                    ("ballot", "vote.sync.ballot.b32 %d, %p0, 0xffffffff;")]:
        form(g, f"vote.sync.{t}", ["p"], ["b32"], f"setp.ne.u32 %p0, %a, 0; {body}")
        form(g, f"vote.sync.{t}.not", ["i32"], ["b32"],
             f"setp.eq.u32 %p0, %a, 0; {body.replace('%p1, %p0', '%p1, !%p0').replace('%d, %p0', '%d, !%p0')}")
        # By blocks of threads: all lanes of some warps agree.
        form(g, f"vote.sync.{t}.warpwise", ["i32"], ["b32"], f"shr.u32 %t0, %i, 5; and.b32 %t0, %t0, 1; setp.ne.u32 %p0, %t0, 0; {body}")
        form(g, f"vote.sync.{t}.split", ["p"], ["b32"],
             "mov.u32 %d, 77; mov.u32 %t0, %laneid; and.b32 %t1, %t0, 1; setp.ne.u32 %p2, %t1, 0; setp.ne.u32 %p0, %a, 0; @%p2 bra ODD; "
             + body.replace("0xffffffff", "0x55555555") + " bra END; ODD: " + body.replace("0xffffffff", "0xaaaaaaaa") + " END:")
    for b in ["b32", "b64"]:
        mask = "and.b32 %t0, %a, 3;" if b == "b32" else "and.b32 %t0, %a, 3; cvt.u64.u32 %q0, %t0; shl.b64 %q0, %q0, 33;"
        v = "%t0" if b == "b32" else "%q0"
        form(g, f"match.any.sync.{b}", ["i32"], ["b32"], f"{mask} match.any.sync.{b} %d, {v}, 0xffffffff;", 70)
        form(g, f"match.all.sync.{b}", ["i32"], ["b32", "b32"], f"{mask} match.all.sync.{b} %d|%p0, {v}, 0xffffffff; selp.u32 %x, 1, 0, %p0;", 70)
        form(g, f"match.all.sync.{b}.same", ["i32"], ["b32", "b32"],
             f"mov.u32 %t0, %ctaid.x; cvt.u64.u32 %q0, %t0; match.all.sync.{b} %d|%p0, {v}, 0xffffffff; selp.u32 %x, 1, 0, %p0;", 70)
    for op, t in [(o, t) for o in ["add", "min", "max"] for t in ["u32", "s32"]] + [(o, "b32") for o in ["and", "or", "xor"]]:
        form(g, f"redux.sync.{op}.{t}", ["i32"], ["b32"], f"redux.sync.{op}.{t} %d, %a, 0xffffffff;", 80)
        form(g, f"redux.sync.{op}.{t}.split", ["i32"], ["b32"],
             f"mov.u32 %t0, %laneid; setp.lt.u32 %p0, %t0, 7; @%p0 bra LOW; redux.sync.{op}.{t} %d, %a, 0xffffff80; bra END; "
             f"LOW: redux.sync.{op}.{t} %d, %a, 0x7f; END:", 80)
    form(g, "activemask", ["i32"], ["b32"], "activemask.b32 %d;")
    form(g, "activemask.split", ["i32"], ["b32"],
         "mov.u32 %d, 0; mov.u32 %t0, %laneid; setp.lt.u32 %p0, %t0, 5; @%p0 bra LOW; bra END; LOW: activemask.b32 %d; END:")
    form(g, "elect.sync", ["i32"], ["b32", "b32"], "elect.sync %d|%p0, 0xffffffff; selp.u32 %x, 1, 0, %p0;", 90)
    for r in ["laneid", "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt", "tid.x", "tid.y", "ntid.x", "ntid.z", "ctaid.x",
              "ctaid.y", "nctaid.x", "nctaid.z"]:
        form(g, f"mov.{r}", ["i32"], ["b32"], f"mov.u32 %d, %{r};")
    form(g, "bar.red.popc", ["p"], ["b32"], "setp.ne.u32 %p0, %a, 0; bar.red.popc.u32 %d, 0, %p0;")
    form(g, "bar.red.and", ["i32"], ["b32"], "setp.ne.u32 %p0, %a, 12345; bar.red.and.pred %p1, 0, %p0; selp.u32 %d, 1, 0, %p1;")
    form(g, "bar.red.or", ["i32"], ["b32"], "setp.eq.u32 %p0, %a, 12345; bar.red.or.pred %p1, 0, %p0; selp.u32 %d, 1, 0, %p1;")
    form(g, "barrier.red.popc.64", ["p"], ["b32"],
         "mov.u32 %d, 99; mov.u32 %t0, %tid.x; setp.ge.u32 %p1, %t0, 64; setp.ne.u32 %p0, %a, 0; @%p1 bra END; barrier.sync.aligned 1, 64; "
         "barrier.red.popc.u32 %d, 2, 64, %p0; END:", 70)
    form(g, "butterfly.sum", ["i32"], ["b32"], "mov.u32 %d, %a; " + " ".join(
        f"shfl.sync.bfly.b32 %t0, %d, {k}, 31, 0xffffffff; add.u32 %d, %d, %t0;" for k in [16, 8, 4, 2, 1]))
    form(g, "scan.up", ["i32"], ["b32"], "mov.u32 %d, %a; " + " ".join(
        f"shfl.sync.up.b32 %t0|%p0, %d, {k}, 0, 0xffffffff; @%p0 add.u32 %d, %d, %t0;" for k in [1, 2, 4, 8, 16]))


def memory():
    g = "memory"
    # Loads narrower than the register, signed and unsigned.
    for space, at in [("global", "%m"), ("shared", "%s"), ("local", "%l")]:
        for t in ["u8", "s8", "u16", "s16", "u32", "s32", "b8", "b16", "b32"]:
            form(g, f"ld.{space}.{t}.wide", ["i64"], ["b64"], f"st.{space}.u64 [{at}], %a; ld.{space}.{t} %d, [{at}+1];"
                 if t[1:] == "8" else f"st.{space}.u64 [{at}], %a; ld.{space}.{t} %d, [{at}+{int(t[1:]) // 8}];")
        for t in ["u8", "u16", "u32"]:
            form(g, f"st.{space}.{t}.narrow", ["i64", "i64"], ["b64"],
                 f"st.{space}.u64 [{at}], %a; st.{space}.{t} [{at}+4], %b; ld.{space}.u64 %d, [{at}];")
        form(g, f"ld.{space}.v2.u8", ["i64"], ["b16", "b16"], f"st.{space}.u64 [{at}], %a; ld.{space}.v2.u8 {{%d, %x}}, [{at}+2];")
        form(g, f"ld.{space}.v4.s8", ["i64"], ["b32", "b32", "b32"],
             f"st.{space}.u64 [{at}], %a; ld.{space}.v4.s8 {{%d, %x, %y, %t0}}, [{at}+4]; xor.b32 %y, %y, %t0;")
        form(g, f"ld.{space}.v2.s16", ["i64"], ["b32", "b32"], f"st.{space}.u64 [{at}], %a; ld.{space}.v2.s16 {{%d, %x}}, [{at}+4];")
        form(g, f"ld.{space}.v4.u16", ["i64"], ["b16", "b16", "b16"],
             f"st.{space}.u64 [{at}], %a; ld.{space}.v4.u16 {{%d, %x, %y, %h0}}, [{at}]; xor.b16 %y, %y, %h0;")
        form(g, f"st.{space}.v4.u32", ["i32", "i32", "i32", "i32"], ["b64", "b64"],
             f"st.{space}.v4.u32 [{at}], {{%a, %b, %c, %e}}; ld.{space}.v2.u64 {{%d, %x}}, [{at}];")
        form(g, f"st.{space}.v2.f64", ["f64", "f64"], ["b32", "b32", "b32"],
             f"st.{space}.v2.f64 [{at}], {{%a, %b}}; ld.{space}.v4.b32 {{%d, %x, %y, %t0}}, [{at}]; xor.b32 %y, %y, %t0;")
        form(g, f"st.{space}.v4.u8", ["i32", "i32", "i32", "i32"], ["b32"],
             f"st.{space}.v4.u8 [{at}], {{%a, %b, %c, %e}}; ld.{space}.u32 %d, [{at}];")
        if space != "local":
            form(g, f"st.{space}.volatile", ["i32"], ["b32"], f"st.volatile.{space}.u32 [{at}], %a; ld.volatile.{space}.u32 %d, [{at}];")
        q = "cvta" + ("." + space) + ".u64 %q0, "
        addr = {"global": "mov.b64 %q0, %m;", "shared": "cvt.u64.u32 %q1, %s; cvta.shared.u64 %q0, %q1;",
                "local": "cvta.local.u64 %q0, %l;"}[space]
        form(g, f"generic.{space}", ["i64"], ["b32", "b32"], f"{addr} st.u64 [%q0], %a; ld.u32 %d, [%q0+4]; ld.{space}.u32 %x, [{at}];")
        for other in ["global", "shared", "local", "const"]:
            form(g, f"isspacep.{other}.of.{space}", ["i32"], ["b32"], f"{addr} isspacep.{other} %p0, %q0; selp.u32 %d, 1, 0, %p0;")
        back = {"global": "cvta.to.global.u64 %q2, %q0; ld.global.u32 %d, [%q2];",
                "shared": "cvta.to.shared.u64 %q2, %q0; cvt.u32.u64 %t0, %q2; ld.shared.u32 %d, [%t0];",
                "local": "cvta.to.local.u64 %q2, %q0; ld.local.u32 %d, [%q2];"}[space]
        form(g, f"cvta.{space}", ["i32"], ["b32"], f"st.{space}.u32 [{at}], %a; {addr} {back}")
    for q in [".relaxed.gpu", ".acquire.gpu", ".relaxed.sys", ".relaxed.cta"]:
        st = q.replace("acquire", "release")
        form(g, f"ld{q}", ["i32"], ["b32"], f"st{st}.global.u32 [%m], %a; ld{q}.global.u32 %d, [%m];", 70)
    for scope in ["cta", "gpu", "sys"]:
        for sem in ["relaxed", "acquire", "release", "acq_rel"]:
            form("atom", f"atom.{sem}.{scope}.global.add.u32", ["i32", "i32"], ["b32", "b32"],
                 f"st.global.b32 [%m], %a; atom.{sem}.{scope}.global.add.u32 %d, [%m], %b; ld.global.b32 %x, [%m];", 70)
    for c in ["ca", "cg", "cs", "lu", "cv"]:
        form(g, f"ld.global.{c}", ["i32"], ["b32"], f"st.global.{'wt' if c == 'cv' else c if c in ('cg', 'cs') else 'wb'}.u32 [%m], %a; ld.global.{c}.u32 %d, [%m];")
    g = "atom"
    slots = [("global", "%m", ""), ("shared", "%s", "")]
    for space, at, _ in slots:
        def two(op, t, extra="", sm=50):
            i, o = in_of(t), out_of(t)
            st = {16: "b16", 32: "b32", 64: "b64"}[SIZE[i]]
            form(g, f"atom.{space}.{op}.{t}", [i, i], [o, o],
                 f"st.{space}.{st} [{at}], %a; atom.{space}.{op}.{t} %d, [{at}], %b; ld.{space}.{st} %x, [{at}];", sm)
        for t in ["u32", "s32", "u64", "f32", "f64"]:
            two("add", t, sm=60 if t == "f64" else 50)
        for t in ["u32", "s32", "u64", "s64"]:
            two("min", t)
            two("max", t)
        two("inc", "u32")
        two("dec", "u32")
        for op in ["and", "or", "xor", "exch"]:
            two(op, "b32")
            two(op, "b64")
        two("add.noftz", "f16", sm=70)
        two("add.noftz", "f16x2", sm=60)
        two("add.noftz", "bf16", sm=90)
        two("add.noftz", "bf16x2", sm=90)
        for t in ["b16", "b32", "b64"]:
            i = in_of(t)
            form(g, f"atom.{space}.cas.{t}", [i, i, i], [t, t],
                 f"st.{space}.{t} [{at}], %a; atom.{space}.cas.{t} %d, [{at}], %b, %c; ld.{space}.{t} %x, [{at}];", 70 if t == "b16" else 50)
            form(g, f"atom.{space}.cas.{t}.hit", [i, i], [t, t],
                 f"st.{space}.{t} [{at}], %a; atom.{space}.cas.{t} %d, [{at}], %a, %b; ld.{space}.{t} %x, [{at}];", 70 if t == "b16" else 50)
        for op, t in [("add", "u32"), ("add", "u64"), ("add", "f32"), ("min", "s32"), ("max", "u64"), ("inc", "u32"), ("dec", "u32"), ("and", "b32"),
                      ("or", "b64"), ("xor", "b32")]:
            st = out_of(t)
            form(g, f"red.{space}.{op}.{t}", [in_of(t), in_of(t)], [st],
                 f"st.{space}.{st} [{at}], %a; red.{space}.{op}.{t} [{at}], %b; ld.{space}.{st} %d, [{at}];")
    form(g, "atom.generic.add.u32", ["i32", "i32"], ["b32", "b32"],
         "cvt.u64.u32 %q1, %s; cvta.shared.u64 %q0, %q1; st.u32 [%q0], %a; atom.add.u32 %d, [%q0], %b; ld.u32 %x, [%q0];")
    form(g, "atom.generic.add.f32", ["f32", "f32"], ["b32", "b32"],
         "cvt.u64.u32 %q1, %s; cvta.shared.u64 %q0, %q1; st.b32 [%q0], %a; atom.add.f32 %d, [%q0], %b; ld.b32 %x, [%q0];")
    # One address per block for all threads: the final value does not depend on the order.
    for op, t, start in [("add", "u32", "0"), ("min", "s32", "0x7fffffff"), ("max", "u32", "0"), ("or", "b32", "0"), ("xor", "b32", "0"),
                         ("and", "b32", "-1"), ("inc", "u32", "0")]:
        form(g, f"atom.collide.{op}.{t}", ["i32"], ["b32"],
             f"mov.u32 %t0, %tid.x; shl.b32 %t1, %t0, 5; sub.u32 %t1, %s, %t1; setp.eq.u32 %p0, %t0, 0; @%p0 st.shared.b32 [%t1], {start}; bar.sync 0; "
             + (f"atom.shared.{op}.{t} %t2, [%t1], 1000; " if op == "inc" else f"atom.shared.{op}.{t} %t2, [%t1], %a; ")
             + "bar.sync 0; ld.shared.b32 %d, [%t1];")


def blocks():
    """Barriers and shared memory in a block of 128 threads; %s is 32 * %tid.x past the first slot."""
    g = "block"
    base = "mov.u32 %t0, %tid.x; shl.b32 %t1, %t0, 5; sub.u32 %t1, %s, %t1; "
    for bar in ["bar.sync 0;", "barrier.sync 0;", "barrier.sync.aligned 3;", "bar.sync 15, 128;", "barrier.cta.sync.aligned 2, 128;"]:
        form(g, "exchange." + bar.replace(" ", ".").replace(",", "").rstrip(";"), ["i32"], ["b32"],
             base + f"st.shared.u32 [%s], %a; {bar} sub.u32 %t2, 127, %t0; shl.b32 %t2, %t2, 5; add.u32 %t2, %t1, %t2; ld.shared.u32 %d, [%t2];",
             70 if bar.startswith("barrier") else 50)
    form(g, "exchange.bar.warp.sync", ["i32"], ["b32"],
         base + "st.shared.u32 [%s], %a; bar.warp.sync 0xffffffff; xor.b32 %t2, %t0, 1; shl.b32 %t2, %t2, 5; add.u32 %t2, %t1, %t2; ld.shared.u32 %d, [%t2];", 70)
    form(g, "scan.loop", ["i32"], ["b32"],
         base + "mov.u32 %d, %a; st.shared.u32 [%s], %d; bar.sync 0; mov.u32 %t3, 1; LOOP: setp.lt.u32 %p0, %t0, %t3; mov.u32 %t4, 0; @%p0 bra SKIP; "
         "sub.u32 %t2, %t0, %t3; shl.b32 %t2, %t2, 5; add.u32 %t2, %t1, %t2; ld.shared.u32 %t4, [%t2]; SKIP: bar.sync 0; add.u32 %d, %d, %t4; "
         "st.shared.u32 [%s], %d; bar.sync 0; shl.b32 %t3, %t3, 1; setp.lt.u32 %p1, %t3, 128; @%p1 bra LOOP;")
    form(g, "reduce.tree", ["i32"], ["b32"],
         base + "st.shared.u32 [%s], %a; bar.sync 0; mov.u32 %t3, 64; LOOP: setp.ge.u32 %p0, %t0, %t3; @%p0 bra SKIP; add.u32 %t2, %t0, %t3; shl.b32 %t2, %t2, 5; "
         "add.u32 %t2, %t1, %t2; ld.shared.u32 %t4, [%t2]; ld.shared.u32 %t5, [%s]; add.u32 %t5, %t5, %t4; st.shared.u32 [%s], %t5; SKIP: bar.sync 0; "
         "shr.u32 %t3, %t3, 1; setp.ne.u32 %p1, %t3, 0; @%p1 bra LOOP; ld.shared.u32 %d, [%t1];")
    form(g, "arrive.sync", ["i32"], ["b32"],
         base + "mov.u32 %d, %a; setp.ge.u32 %p0, %t0, 64; @%p0 bra TAKE; st.shared.u32 [%s], %a; membar.cta; bar.arrive 4, 128; bra END; "
         "TAKE: bar.sync 4, 128; sub.u32 %t2, %t0, 64; shl.b32 %t2, %t2, 5; add.u32 %t2, %t1, %t2; ld.shared.u32 %d, [%t2]; END:")
    form(g, "halves.two.barriers", ["i32"], ["b32"],
         base + "st.shared.u32 [%s], %a; setp.ge.u32 %p0, %t0, 64; xor.b32 %t2, %t0, 32; shl.b32 %t2, %t2, 5; add.u32 %t2, %t1, %t2; @%p0 bra HIGH; bar.sync 1, 64; "
         "ld.shared.u32 %d, [%t2]; bra END; HIGH: bar.sync 2, 64; ld.shared.u32 %d, [%t2]; add.u32 %d, %d, 1; END:")
    form(g, "exit.warps", ["i32"], ["b32"],
         base + "st.shared.u32 [%s], %a; setp.ge.u32 %p0, %t0, 64; @%p0 exit; bar.sync 0; xor.b32 %t2, %t0, 63; shl.b32 %t2, %t2, 5; add.u32 %t2, %t1, %t2; "
         "ld.shared.u32 %d, [%t2];")
    form(g, "exit.lanes", ["i32"], ["b32"],
         base + "st.shared.u32 [%s], %a; setp.eq.s32 %p0, %a, 0; @%p0 exit; bar.sync 0; mov.u32 %d, %t0;")
    form(g, "fences", ["i32"], ["b32"],
         "st.global.u32 [%m], %a; membar.cta; membar.gl; membar.sys; fence.sc.gpu; fence.acq_rel.cta; fence.acq_rel.sys; ld.global.u32 %d, [%m];", 70)
    form(g, "nanosleep", ["i32"], ["b32"], "nanosleep.u32 20; mov.u32 %d, %a;", 70)
    form(g, "trap.never", ["i32"], ["b32"], "mov.u32 %t0, %ntid.x; setp.eq.u32 %p0, %t0, 7; @%p0 trap; @%p0 brkpt; mov.u32 %d, %a;")


def control():
    g = "control"
    form(g, "brx.idx", ["sh"], ["b32"],
         "and.b32 %t0, %a, 3; TABLE: .branchtargets L0, L1, L2, L3; brx.idx %t0, TABLE; L0: mov.u32 %d, 100; bra END; L1: mov.u32 %d, 101; bra END; "
         "L2: mov.u32 %d, 102; bra END; L3: mov.u32 %d, 103; END:")
    form(g, "loop.collatz", ["i32"], ["b32", "b32"],
         "and.b32 %t0, %a, 1023; add.u32 %t0, %t0, 1; mov.u32 %d, 0; LOOP: setp.le.u32 %p0, %t0, 1; @%p0 bra END; setp.ge.u32 %p3, %d, 500; @%p3 bra END; "
         "and.b32 %t1, %t0, 1; setp.eq.u32 %p1, %t1, 0; @%p1 bra EVEN; mad.lo.u32 %t0, %t0, 3, 1; bra NEXT; EVEN: shr.u32 %t0, %t0, 1; "
         "NEXT: add.u32 %d, %d, 1; bra LOOP; END: mov.u32 %x, %t0;")
    form(g, "loop.gcd", ["i32", "i32"], ["b32"],
         "and.b32 %t0, %a, 0xffff; and.b32 %t1, %b, 0xffff; LOOP: setp.eq.u32 %p0, %t1, 0; @%p0 bra END; rem.u32 %t2, %t0, %t1; mov.u32 %t0, %t1; "
         "mov.u32 %t1, %t2; bra LOOP; END: mov.u32 %d, %t0;")
    form(g, "predicated.store", ["i32", "i32"], ["b32"],
         "st.global.u32 [%m], %a; setp.lt.s32 %p0, %a, %b; @%p0 st.global.u32 [%m], %b; @!%p0 st.global.u32 [%m+4], %b; ld.global.u32 %d, [%m];")
    form(g, "exit.some", ["i32"], ["b32", "b32"],
         "and.b32 %t0, %a, 1; setp.eq.u32 %p0, %t0, 0; mov.u32 %d, %a; mov.u32 %x, 0; @%p0 bra END; activemask.b32 %t1; mov.u32 %t2, %laneid; "
         "shr.u32 %t1, %t1, %t2; and.b32 %x, %t1, 1; END:")
    form(g, "nested.divergence", ["i32"], ["b32"],
         "mov.u32 %d, 0; and.b32 %t0, %a, 1; setp.ne.u32 %p0, %t0, 0; @!%p0 bra ELSE; and.b32 %t0, %a, 2; setp.ne.u32 %p1, %t0, 0; @!%p1 bra A; or.b32 %d, %d, 1; "
         "bra B; A: or.b32 %d, %d, 2; B: or.b32 %d, %d, 4; bra JOIN; ELSE: and.b32 %t0, %a, 4; setp.ne.u32 %p1, %t0, 0; @%p1 bra C; or.b32 %d, %d, 8; C: or.b32 %d, %d, 16; "
         "JOIN: or.b32 %d, %d, 32;")


def sample(seed, count, *words):
    """`count` combinations of words, reproducible, in which each word is about as frequent as the others
    in its position."""
    state, columns = seed, []
    for place in words:
        column = [place[i % len(place)] for i in range(count)]
        for i in range(count - 1, 0, -1):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
            j = (state >> 33) % (i + 1)
            column[i], column[j] = column[j], column[i]
        columns.append(column)
    return list(dict.fromkeys(zip(*columns)))


def video():
    """Parts of registers: types, selectors, saturation, and secondary operations."""
    g = "video"
    sign, parts = ["u32", "s32"], ["", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"]

    def scalar(op, words, d, a, b, third=""):
        name = f"{op}{words}" + "".join(k + sel[1:] for k, sel in [(".d", d), (".a", a), (".b", b)] if sel)
        ins = ["i32", "i32"] + (["i32"] if third else [])
        if d:
            # The other bits of the destination are the third source's; the register's previous contents do
            # not matter.
            form(g, name, ins, ["b32"], f"mov.b32 %d, 0x5a5a5a5a; {op}{words} %d{d}, %a{a}, %b{b}{third};")
        else:
            form(g, name, ins, ["b32"], f"{op}{words} %d, %a{a}, %b{b}{third};")

    for n, op in enumerate(["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset"]):
        shift, compare = op in ("vshl", "vshr"), op == "vset"
        last = ["u32"] if shift else sign
        mode = [".clamp", ".wrap"] if shift else ["." + c for c in ["eq", "ne", "lt", "le", "gt", "ge"]] if compare else [""]
        sat = [""] if compare else ["", ".sat"]

        def words(d, a, b, s, m):
            return f".{a}.{b}{m}" if compare else f".{d}.{a}.{b}{s}{m}"

        whole = [(d, a, b, s, m) for d in (["u32"] if compare else sign) for a in sign for b in last for s in sat for m in mode]
        for w in whole:
            scalar(op, words(*w), "", "", "")
        for d, a, b, s, m, sa, sb in sample(n + 1, 14, sign, sign, last, sat, mode, parts[1:], parts[1:]):
            scalar(op, words(d, a, b, s, m), "", sa, sb)
        for d, a, b, s, m, o in sample(n + 101, 12, sign, sign, last, sat, mode, [".add", ".min", ".max"]):
            scalar(op, words(d, a, b, s, m) + o, "", "", "", ", %c")
        for d, a, b, s, m, sd, sa, sb in sample(n + 201, 12, sign, sign, last, sat, mode, parts[1:], parts, parts):
            scalar(op, words(d, a, b, s, m), sd, sa, sb, ", %c")
    signs = [("", "", ""), ("-", "", ""), ("", "-", ""), ("", "", "-"), ("-", "-", ""), ("-", "-", "-")]
    for d, a, b, s, scale, (na, nb, nc), sa, sb in sample(301, 30, sign, sign, sign, ["", ".sat"], ["", ".shr7", ".shr15"], signs, parts, parts):
        name = f"vmad.{d}.{a}.{b}{s}{scale}" + "".join(f".n{k}" for k, x in [("a", na), ("b", nb), ("c", nc)] if x)
        name += "".join(k + sel[1:] for k, sel in [(".a", sa), (".b", sb)] if sel)
        form(g, name, ["i32", "i32", "i32"], ["b32"], f"vmad.{d}.{a}.{b}{s}{scale} %d, {na}%a{sa}, {nb}%b{sb}, {nc}%c;")
    for a, b, s, scale, (na, nb, nc) in [(a, b, s, c, n) for a in sign for b in sign for s in ["", ".sat"] for c in ["", ".shr7"] for n in signs[:4] if s or not c]:
        name = f"vmad.s32.{a}.{b}{s}{scale}" + "".join(f".n{k}" for k, x in [("a", na), ("b", nb), ("c", nc)] if x)
        if name not in SEEN:
            form(g, name, ["i32", "i32", "i32"], ["b32"], f"vmad.s32.{a}.{b}{s}{scale} %d, {na}%a, {nb}%b, {nc}%c;")
    for a, b, s, scale, sa, sb in sample(302, 14, sign, sign, ["", ".sat"], ["", ".shr7", ".shr15"], parts, parts):
        name = f"vmad.u32.{a}.{b}.po{s}{scale}" + "".join(k + sel[1:] for k, sel in [(".a", sa), (".b", sb)] if sel)
        form(g, name, ["i32", "i32", "i32"], ["b32"], f"vmad.u32.{a}.{b}.po{s}{scale} %d, %a{sa}, %b{sb}, %c;")
    for n, lanes in [(400, 2), (500, 4)]:
        picks = [".h10", ".h32", ".h00", ".h23", ".h13", ".h30"] if lanes == 2 else [".b3210", ".b7654", ".b0000", ".b0246", ".b7531", ".b1526"]
        masks = ["", ".h0", ".h1", ".h10"] if lanes == 2 else ["", ".b0", ".b3", ".b10", ".b32", ".b20", ".b31", ".b210", ".b310", ".b321", ".b3210"]
        for k, op in enumerate(["vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"]):
            for d, a, b in [(d, a, b) for d in sign for a in sign for b in sign]:
                for more in [[".sat"], [".sat", ".add"], [".add", ""]][(k + (d + a + b).count("s")) % 3]:
                    form(g, f"{op}{lanes}.{d}.{a}.{b}{more}", ["i32", "i32", "i32"], ["b32"], f"{op}{lanes}.{d}.{a}.{b}{more} %d, %a, %b, %c;")
            for d, a, b, more, sd, sa, sb in sample(n + k, 11, sign, sign, sign, ["", ".sat", ".add"], masks, picks, picks):
                form(g, f"{op}{lanes}.{d}.{a}.{b}{more}" + "".join(x + sel[1:] for x, sel in [(".d", sd), (".a", sa), (".b", sb)] if sel),
                     ["i32", "i32", "i32"], ["b32"], f"{op}{lanes}.{d}.{a}.{b}{more} %d{sd}, %a{sa}, %b{sb}, %c;")
        for a, b, cmp, more in sample(n + 10, 24, sign, sign, ["eq", "ne", "lt", "le", "gt", "ge"], ["", ".add"]):
            form(g, f"vset{lanes}.{a}.{b}.{cmp}{more}", ["i32", "i32", "i32"], ["b32"], f"vset{lanes}.{a}.{b}.{cmp}{more} %d, %a, %b, %c;")
        for a, b, cmp, more, sd, sa, sb in sample(n + 11, 11, sign, sign, ["eq", "ne", "lt", "ge"], ["", ".add"], masks, picks, picks):
            name = f"vset{lanes}.{a}.{b}.{cmp}{more}" + "".join(x + sel[1:] for x, sel in [(".d", sd), (".a", sa), (".b", sb)] if sel)
            form(g, name, ["i32", "i32", "i32"], ["b32"], f"vset{lanes}.{a}.{b}.{cmp}{more} %d{sd}, %a{sa}, %b{sb}, %c;")


def wide():
    """128-bit values: registers, memory, atomics."""
    g = "wide"
    in64, both, apart = ["i64", "i64"], "mov.b128 %w0, {%a, %b};", "mov.b128 {%d, %x}, "
    reg = "{ .reg .b128 %w<4>; "
    form(g, "mov.b128.pack", in64, ["b64", "b64"], f"{reg}{both} {apart}%w0; }}")
    form(g, "mov.b128.copy", in64, ["b64", "b64"], f"{reg}{both} mov.b128 %w1, %w0; {apart}%w1; }}")
    form(g, "mov.b128.words", ["i32", "i32", "i32", "i32"], ["b64", "b64"], f"{reg}mov.b128 %w0, {{%a, %b, %c, %e}}; {apart}%w0; }}")
    form(g, "mov.b128.swap", in64, ["b64", "b64"], f"{reg}mov.b128 %w0, {{%b, %a}}; {apart}%w0; }}")
    form(g, "mov.b128.predicated", in64, ["b64", "b64"],
         f"{reg}{both} mov.b128 %w1, {{%b, %b}}; setp.lt.s64 %p0, %a, %b; @%p0 mov.b128 %w1, %w0; {apart}%w1; }}")
    for space, at in [("global", "%m"), ("shared", "%s"), ("local", "%l")]:
        form(g, f"st.{space}.b128", in64, ["b64", "b64"], f"{reg}{both} st.{space}.b128 [{at}], %w0; ld.{space}.v2.b64 {{%d, %x}}, [{at}]; }}")
        form(g, f"ld.{space}.b128", in64, ["b64", "b64"], f"{reg}st.{space}.v2.b64 [{at}+16], {{%a, %b}}; ld.{space}.b128 %w0, [{at}+16]; {apart}%w0; }}")
        q = ".volatile" if space != "local" else ""
        if q:
            form(g, f"ld.volatile.{space}.b128", in64, ["b64", "b64"],
                 f"{reg}{both} st.volatile.{space}.b128 [{at}], %w0; ld.volatile.{space}.b128 %w1, [{at}]; {apart}%w1; }}")
    for scope in ["cta", "gpu", "sys"]:
        form(g, f"ld.acquire.{scope}.global.b128", in64, ["b64", "b64"],
             f"{reg}{both} st.release.{scope}.global.b128 [%m], %w0; ld.acquire.{scope}.global.b128 %w1, [%m]; {apart}%w1; }}", 70)
    start = "st.{0}.v2.b64 [{1}], {{%a, %b}}; "
    for space, at in [("global", "%m"), ("shared", "%s")]:
        begin = start.format(space, at)
        form(g, f"atom.{space}.exch.b128", ["i64", "i64", "i64"], ["b64", "b64", "b64"],
             f"{reg}{begin}mov.b128 %w1, {{%c, %a}}; atom.{space}.exch.b128 %w2, [{at}], %w1; {apart}%w2; ld.{space}.b64 %y, [{at}]; }}", 90)
        form(g, f"atom.{space}.cas.b128.hit", ["i64", "i64", "i64"], ["b64", "b64", "b64"],
             f"{reg}{begin}{both} mov.b128 %w1, {{%c, %b}}; atom.{space}.cas.b128 %w2, [{at}], %w0, %w1; {apart}%w2; ld.{space}.b64 %y, [{at}]; }}", 90)
        form(g, f"atom.{space}.cas.b128", ["i64", "i64", "i64", "i64"], ["b64", "b64", "b64"],
             f"{reg}{begin}mov.b128 %w0, {{%c, %b}}; mov.b128 %w1, {{%e, %a}}; atom.{space}.cas.b128 %w2, [{at}], %w0, %w1; {apart}%w2; "
             f"ld.{space}.b64 %y, [{at}]; }}", 90)
    form(g, "atom.generic.exch.b128", ["i64", "i64", "i64"], ["b64", "b64", "b64"],
         f"{reg}st.v2.b64 [%m], {{%a, %b}}; mov.b128 %w1, {{%c, %a}}; atom.acq_rel.gpu.exch.b128 %w2, [%m], %w1; {apart}%w2; ld.b64 %y, [%m]; }}", 90)


def masks():
    """Warp instructions on some lanes: in branches, under masks that differ between warps, in loops that
    lanes leave one by one."""
    g = "masks"
    # %t8: the lanes with an odd %a; %t9: the others; %t10: the lane.
    begin = ("and.b32 %t0, %a, 1; setp.ne.u32 %p0, %t0, 0; vote.sync.ballot.b32 %t8, %p0, -1; not.b32 %t9, %t8; mov.u32 %t10, %laneid; mov.u32 %d, 0; ")

    def parted(name, ins, outs, body, sm=50):
        """The same for the odd lanes and, separately, for the even ones; `MASK` stands for those lanes."""
        form(g, name, ins, outs, begin + "@%p0 bra ODD; " + body.replace("MASK", "%t9") + " bra END; ODD: " + body.replace("MASK", "%t8") + " END:", sm)

    def some(name, ins, outs, body, sm=50):
        """For the odd lanes only; the others leave the second result unwritten."""
        if len(outs) == 1:
            form(g, name, ins, outs, begin + "@!%p0 bra END; " + body.replace("MASK", "%t8") + " END:", sm)

    for wrap in [parted, some]:
        tail = "" if wrap is parted else ".some"
        for t, body in [("all", "vote.sync.all.pred %p2, %p1, MASK; selp.u32 %d, 1, 2, %p2;"), ("any", "vote.sync.any.pred %p2, %p1, MASK; selp.u32 %d, 1, 2, %p2;"),
                        ("uni", "vote.sync.uni.pred %p2, %p1, MASK; selp.u32 %d, 1, 2, %p2;"), ("ballot", "vote.sync.ballot.b32 %d, %p1, MASK;")]:
            wrap(f"vote.sync.{t}.varying{tail}", ["i32", "i32"], ["b32"], "and.b32 %t1, %b, 3; setp.ne.u32 %p1, %t1, 0; " + body)
        for b, v in [("b32", "%t1"), ("b64", "%q0")]:
            key = "and.b32 %t1, %b, 3; cvt.u64.u32 %q0, %t1; shl.b64 %q0, %q0, 40; "
            wrap(f"match.any.sync.{b}.varying{tail}", ["i32", "i32"], ["b32"], key + f"match.any.sync.{b} %d, {v}, MASK;", 70)
            wrap(f"match.all.sync.{b}.varying{tail}", ["i32", "i32"], ["b32", "b32"],
                 key + f"match.all.sync.{b} %d|%p1, {v}, MASK; selp.u32 %x, 1, 2, %p1;", 70)
        for op, t in [(o, t) for o in ["add", "min", "max"] for t in ["u32", "s32"]] + [(o, "b32") for o in ["and", "or", "xor"]]:
            wrap(f"redux.sync.{op}.{t}.varying{tail}", ["i32", "i32"], ["b32"], f"redux.sync.{op}.{t} %d, %b, MASK;", 80)
        # From lanes in the mask: the first, the last, and at a distance if the source is in the mask.
        wrap(f"shfl.sync.idx.varying{tail}", ["i32", "i32"], ["b32", "b32"],
             "bfind.u32 %t1, MASK; shfl.sync.idx.b32 %d|%p1, %b, %t1, 31, MASK; selp.u32 %x, 1, 2, %p1;")
        for m, c in [("up", 0), ("down", 31), ("bfly", 31)]:
            wrap(f"shfl.sync.{m}.varying{tail}", ["i32", "i32", "sh"], ["b32", "b32"],
                 f"and.b32 %t1, %c, 31; bfind.u32 %t2, MASK; shfl.sync.idx.b32 %t1, %t1, %t2, 31, MASK; shfl.sync.{m}.b32 %d|%p1, %b, %t1, {c}, MASK; "
                 + {"up": "sub.u32 %t3, %t10, %t1;", "down": "add.u32 %t3, %t10, %t1;", "bfly": "xor.b32 %t3, %t10, %t1;"}[m] +
                 " selp.u32 %t3, %t3, %t10, %p1; shr.u32 %t4, MASK, %t3; and.b32 %t4, %t4, 1; setp.ne.u32 %p2, %t4, 0; selp.b32 %d, %d, 0, %p2; selp.u32 %x, 1, 2, %p1;")
        wrap(f"elect.sync.varying{tail}", ["i32"], ["b32", "b32"], "elect.sync %d|%p1, MASK; selp.u32 %x, 1, 2, %p1;", 90)
        wrap(f"bar.warp.sync.varying{tail}", ["i32", "i32"], ["b32"],
             "st.shared.u32 [%s], %b; bar.warp.sync MASK; bfind.u32 %t1, MASK; sub.u32 %t1, %t1, %t10; shl.b32 %t1, %t1, 5; add.u32 %t1, %s, %t1; "
             "ld.shared.u32 %d, [%t1]; bar.warp.sync MASK;", 70)
    # Lanes leave a loop after 1 to 8 iterations; the remaining ones continue together.
    for name, body, sm in [("vote", "and.b32 %t3, %b, %t2; setp.ne.u32 %p1, %t3, 0; vote.sync.ballot.b32 %t4, %p1, %t1;", 50),
                           ("redux", "redux.sync.add.u32 %t4, %b, %t1;", 80), ("match", "and.b32 %t3, %b, %t2; match.any.sync.b32 %t4, %t3, %t1;", 70),
                           ("shfl", "bfind.u32 %t3, %t1; shfl.sync.idx.b32 %t4, %b, %t3, 31, %t1;", 50)]:
        form(g, f"loop.{name}", ["i32", "i32"], ["b32"],
             f"and.b32 %t0, %a, 7; mov.u32 %t1, -1; mov.u32 %t2, 0; mov.u32 %d, 0; LOOP: {body} shf.l.wrap.b32 %d, %d, %d, 3; xor.b32 %d, %d, %t4; "
             "setp.lt.u32 %p0, %t2, %t0; vote.sync.ballot.b32 %t1, %p0, %t1; add.u32 %t2, %t2, 1; @%p0 bra LOOP;", sm)
    # Three nested branches, with the lanes of each counted in advance.
    form(g, "nested.redux", ["i32", "i32"], ["b32"],
         begin + "and.b32 %t1, %a, 2; setp.ne.u32 %p1, %t1, 0; vote.sync.ballot.b32 %t2, %p1, -1; @!%p0 bra EVEN; @!%p1 bra B; and.b32 %t3, %t8, %t2; "
         "redux.sync.add.u32 %d, %b, %t3; bra JOIN; B: not.b32 %t4, %t2; and.b32 %t3, %t8, %t4; redux.sync.xor.b32 %d, %b, %t3; JOIN: redux.sync.max.u32 %d, %d, %t8; "
         "bra END; EVEN: redux.sync.min.s32 %d, %b, %t9; END: bar.warp.sync -1; redux.sync.or.b32 %t5, %d, -1; xor.b32 %d, %d, %t5;", 80)
    form(g, "exited.lanes", ["i32", "i32"], ["b32"],
         begin + "@%p0 bra GONE; redux.sync.add.u32 %d, %b, %t9; bra END; GONE: exit; END:", 80)
    form(g, "barrier.sync.parted", ["i32", "i32"], ["b32"],
         "and.b32 %t0, %a, 1; setp.ne.u32 %p0, %t0, 0; st.shared.u32 [%s], %b; @%p0 bra ODD; barrier.sync 1; bra END; ODD: barrier.sync 1; END: mov.u32 %t1, %tid.x; "
         "shl.b32 %t2, %t1, 5; sub.u32 %t2, %s, %t2; sub.u32 %t1, 127, %t1; shl.b32 %t1, %t1, 5; add.u32 %t2, %t2, %t1; ld.shared.u32 %d, [%t2];", 70)
    form(g, "guarded.vote", ["i32", "i32"], ["b32"], begin + "setp.lt.s32 %p1, %b, 0; @%p0 vote.sync.ballot.b32 %d, %p1, %t8;")
    form(g, "guarded.redux", ["i32", "i32"], ["b32"], begin + "@%p0 redux.sync.add.u32 %d, %b, %t8; @!%p0 redux.sync.max.s32 %d, %b, %t9;", 80)
    form(g, "guarded.match", ["i32", "i32"], ["b32"], begin + "and.b32 %t1, %b, 7; @%p0 match.any.sync.b32 %d, %t1, %t8;", 70)
    # Masks narrower than the warp, for one quarter after the other.
    form(g, "quarters.redux", ["i32"], ["b32"],
         "mov.u32 %t10, %laneid; and.b32 %t0, %t10, 24; shl.b32 %t1, 255, %t0; redux.sync.add.u32 %d, %a, %t1;".replace("shl.b32 %t1, 255, %t0", "mov.u32 %t2, 255; shl.b32 %t1, %t2, %t0"), 80)
    form(g, "quarters.match", ["i32"], ["b32"],
         "mov.u32 %t10, %laneid; and.b32 %t0, %t10, 24; mov.u32 %t2, 255; shl.b32 %t1, %t2, %t0; and.b32 %t3, %a, 3; match.any.sync.b32 %d, %t3, %t1;", 70)


def packed():
    """Further comparisons of halves and pairs."""
    g = "packed"
    cmps = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
    bools = ["and", "or", "xor"]
    first = lambda name: name not in SEEN  # Some are in the group `compare`.
    third = "and.b32 %t0, %c, 1; setp.ne.u32 %p0, %t0, 0; "
    kinds = [("f16", 90, False), ("bf16", 90, False), ("f16x2", 90, True), ("bf16x2", 90, True)]
    for n, (t, sm, pair) in enumerate(kinds):
        ftz = ["", ".ftz"] if t.startswith("f") else [""]
        to = [t, "u32", "s32"] + ([] if pair else ["u16", "s16"])
        for cmp, op, f, neg, d in sample(600 + n, 15, cmps, bools, ftz, ["", "!"], to):
            form(g, f"set.{cmp}.{op}{f}.{d}.{t}{'.not' if neg else ''}", [t, t, "p"], ["b16" if d in ("f16", "bf16", "u16", "s16") else "b32"],
                 third + f"set.{cmp}.{op}{f}.{d}.{t} %d, %a, %b, {neg}%p0;", sm)
        if not pair:
            for cmp, f, d in sample(620 + n, 14, cmps, ftz, ["u16", "s16", "s32"]):
                if first(f"set.{cmp}{f}.{d}.{t}"):
                    form(g, f"set.{cmp}{f}.{d}.{t}", [t, t], ["b32" if d == "s32" else "b16"], f"set.{cmp}{f}.{d}.{t} %d, %a, %b;", sm)
        for cmp, op, f, neg in sample(640 + n, 14, cmps, bools, ftz, ["", "!"]):
            second = "|%p2" if pair else ""
            tail = "selp.u32 %d, 1, 0, %p1; selp.u32 %x, 1, 0, %p2;" if pair else "selp.u32 %d, 1, 0, %p1;"
            form(g, f"setp.{cmp}.{op}{f}.{t}{'.not' if neg else ''}", [t, t, "p"], ["b32", "b32"] if pair else ["b32"],
                 third + f"setp.{cmp}.{op}{f}.{t} %p1{second}, %a, %b, {neg}%p0; {tail}", sm)
    # 16-bit results from wider operands.
    for n, d in enumerate(["f16", "bf16"]):
        for t in ["b16", "b32", "b64", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"]:
            of = ["eq", "ne"] if t[0] == "b" else cmps if t[0] == "f" else cmps[:6] + (["lo", "ls", "hi", "hs"] if t[0] == "u" else [])
            for cmp, op in sample(660 + n, 3, of, bools):
                if first(f"set.{cmp}.{d}.{t}"):
                    form(g, f"set.{cmp}.{d}.{t}", [in_of(t), in_of(t)], ["b16"], f"set.{cmp}.{d}.{t} %d, %a, %b;", 90)
                if first(f"set.{cmp}.{op}.{d}.{t}"):
                    form(g, f"set.{cmp}.{op}.{d}.{t}", [in_of(t), in_of(t), "p"], ["b16"], third + f"set.{cmp}.{op}.{d}.{t} %d, %a, %b, %p0;", 90)
    for r in IROUND:
        simple(g, f"cvt.{r}.bf16.bf16", ["bf16"], "b16", 90)
    for t, k in [("f16", "%h"), ("f32", "%t"), ("f64", "%q")]:
        # A number and the next one, in each lane: vector moves.
        form(g, f"mov.v2.{t}", [t, t], [out_of(t), out_of(t)], f"{{ .reg .v2 .b{SIZE[t]} %v; mov.v2.b{SIZE[t]} %v, {{%b, %a}}; mov.b{SIZE[t]} %d, %v.x; mov.b{SIZE[t]} %x, %v.y; }}")
    form(g, "mov.v4.b32", ["i32", "i32", "i32", "i32"], ["b32", "b32", "b32"],
         "{ .reg .v4 .b32 %v; mov.v4.b32 %v, {%d, %b, %a, %e}; mov.v4.b32 {%d, %d, %x, %y}, %v; }".replace("{%d, %b", "{%c, %b"))


def hints():
    """Cache hints and fences, which do not change values."""
    g = "hints"
    for t in ["b32", "u8", "s16", "f64"]:
        form(g, f"ldu.global.{t}", ["i64"], ["b64"], f"mov.b64 %d, 0; ld.global.u64 %d, [%m]; ldu.global.{t} %d, [%v0];".replace("ld.global.u64 %d, [%m]; ", "")
             if SIZE.get(t, 0) == 64 or t == "f64" else f"{{ .reg .b64 %w; ldu.global.{t} %w, [%v0]; mov.b64 %d, %w; }}")
    form(g, "ldu.global.v2.u32", ["i64"], ["b32", "b32"], "ldu.global.v2.u32 {%d, %x}, [%v0];")
    for words in ["nc", "ca.nc", "cg.nc", "cs.nc", "nc.L1::evict_last", "nc.L1::no_allocate", "nc.L2::128B", "nc.L1::evict_first.L2::256B"]:
        form(g, f"ld.global.{words}.u32".replace("::", ""), ["i64"], ["b32"], f"ld.global.{words}.u32 %d, [%v0];", 80)
    form(g, "ld.global.nc.v4.s16", ["i64"], ["b32", "b32", "b32"], "ld.global.nc.v4.s16 {%d, %x, %y, %t0}, [%v0]; xor.b32 %y, %y, %t0;", 80)
    policy = [("fractional.evict_last", "createpolicy.fractional.L2::evict_last.b64 %q0, 0f3F000000;"),
              ("fractional.two", "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %q0;"),
              ("range", "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %q0, [%m], 4096, 65536;"),
              ("cvt", "mov.b64 %q1, 0x10F0000000000000; createpolicy.cvt.L2.b64 %q0, %q1;")]
    for name, make in policy:
        form(g, f"createpolicy.{name}", ["i32", "i32"], ["b32", "b32"],
             make + " st.global.L2::cache_hint.b32 [%m], %a, %q0; ld.global.L2::cache_hint.b32 %d, [%m], %q0; atom.global.add.L2::cache_hint.u32 %x, [%m], %b, %q0; "
             "red.global.xor.L2::cache_hint.b32 [%m], %a, %q0; ld.global.b32 %t0, [%m]; xor.b32 %x, %x, %t0;", 80)
    for name, act in [("prefetch.global.L1", "prefetch.global.L1 [%m];"), ("prefetch.L2", "prefetch.L2 [%m];"), ("prefetchu.L1", "prefetchu.L1 [%m];"),
                      ("prefetch.global.L2evict_last", "prefetch.global.L2::evict_last [%m];"), ("prefetch.local.L1", "mov.b64 %q0, %l; prefetch.local.L1 [%l];"),
                      ("applypriority", "and.b64 %q0, %m, -128; applypriority.global.L2::evict_normal [%q0], 128;"),
                      ("membar.proxy.alias", "membar.proxy.alias;"), ("fence.proxy.alias", "fence.proxy.alias;"), ("fence.proxy.async", "fence.proxy.async;"),
                      ("fence.proxy.async.global", "fence.proxy.async.global;"), ("fence.proxy.async.shared", "fence.proxy.async.shared::cta;"),
                      ("fence.mbarrier_init", "fence.mbarrier_init.release.cluster;"), ("fence.proxy.tensormap.release", "fence.proxy.tensormap::generic.release.gpu;"),
                      ("fence.proxy.tensormap.acquire", "and.b64 %q0, %m, -128; fence.proxy.tensormap::generic.acquire.gpu [%q0], 128;"), ("pmevent", "pmevent 3;"),
                      ("pmevent.mask", "pmevent.mask 9;"), ("griddepcontrol.wait", "griddepcontrol.wait;"), ("griddepcontrol.launch", "griddepcontrol.launch_dependents;"),
                      ("fence.acquire.restrict", "fence.acquire.sync_restrict::shared::cluster.cluster;"), ("fence.release.restrict", "fence.release.sync_restrict::shared::cta.cluster;"),
                      ("fence.proxy.acquire.restrict", "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;"),
                      ("fence.proxy.release.restrict", "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;"),
                      ("brkpt.not", "setp.ne.u32 %p0, %a, %a; @%p0 brkpt;")]:
        form(g, name, ["i32"], ["b32"], f"st.global.b32 [%m], %a; {act} ld.global.b32 %d, [%m];", 90)
    for words in ["ld.mmio.relaxed.sys.global", "ld.relaxed.gpu.global.L1::evict_last", "ld.acquire.sys.global.L2::128B", "ld.weak.global.L1::evict_first",
                  "ld.volatile.global.L2::64B", "ld.weak.global.cg", "ld.global.L1::no_allocate.L2::256B"]:
        st = "st.mmio.relaxed.sys.global" if "mmio" in words else "st.weak.global.L1::evict_last" if "weak" in words else "st.release.gpu.global" if "acquire" in words else "st.global"
        form(g, f"{words}.u32".replace("::", ""), ["i32"], ["b32"], f"{st}.u32 [%m], %a; {words}.u32 %d, [%m];", 80)
    # Four threads have 128 bytes; data written after the discard must be there.
    for words in ["discard.global.L2", "discard.L2"]:
        form(g, words, ["i32"], ["b32"],
             f"and.b64 %q0, %m, -128; and.b32 %t0, %i, 3; setp.eq.u32 %p0, %t0, 0; bar.sync 0; @%p0 {words} [%q0], 128; bar.sync 0; st.global.b32 [%m], %a; ld.global.b32 %d, [%m];", 80)
    # Vector atomics.
    for op, t, n, k in [("add", "f32", 2, "b32"), ("add", "f32", 4, "b32"), ("add.noftz", "f16", 2, "b16"), ("add.noftz", "f16", 8, "b16"), ("min.noftz", "f16", 4, "b16"),
                        ("max.noftz", "bf16", 2, "b16"), ("add.noftz", "bf16", 4, "b16"), ("add.noftz", "f16x2", 2, "b32"), ("min.noftz", "bf16x2", 4, "b32"),
                        ("max.noftz", "f16x2", 2, "b32")]:
        ops = ", ".join(["%a", "%b", "%b", "%a", "%b", "%a", "%a", "%b"][:n])
        size = int(k[1:]) // 8
        fill = " ".join(f"st.global.{k} [%m+{i * size}], {'%b' if i % 2 else '%a'};" for i in range(n))
        out = ", ".join((["%d", "%x"] + [f"%{'h' if k == 'b16' else 't'}{i}" for i in range(8)])[:n])
        back = f"ld.global.{k} %y, [%m+{(n - 1) * size}];"
        form(g, f"atom.global.v{n}.{op}.{t}", [t, t], [k, k, k], f"{fill} atom.global.v{n}.{op}.{t} {{{out}}}, [%m], {{{ops}}}; {back}".replace(f".v{n}.{op}", f".{op}.v{n}"), 90)
        form(g, f"red.global.v{n}.{op}.{t}", [t, t], [k, k], f"{fill} red.global.{op}.v{n}.{t} [%m], {{{ops}}}; ld.global.{k} %d, [%m]; ld.global.{k} %x, [%m+{(n - 1) * size}];", 90)
    for t in ["f16", "f16x2", "bf16", "bf16x2"]:
        k = out_of(t)
        form(g, f"red.global.add.noftz.{t}", [t, t], [k], f"st.global.{k} [%m], %a; red.global.add.noftz.{t} [%m], %b; ld.global.{k} %d, [%m];", 90)
    form(g, "barrier.arrive", ["i32"], ["b32"],
         "mov.u32 %t0, %tid.x; shl.b32 %t1, %t0, 5; sub.u32 %t1, %s, %t1; mov.u32 %d, %a; setp.ge.u32 %p0, %t0, 64; @%p0 bra TAKE; st.shared.u32 [%s], %a; "
         "barrier.arrive 4, 128; bra END; TAKE: barrier.sync 4, 128; sub.u32 %t2, %t0, 64; shl.b32 %t2, %t2, 5; add.u32 %t2, %t1, %t2; ld.shared.u32 %d, [%t2]; END:", 70)
    for op in ["and", "or"]:
        form(g, f"barrier.red.{op}.pred", ["i32"], ["b32"],
             f"shr.u32 %t0, %i, 7; and.b32 %t0, %t0, 1; setp.ne.u32 %p0, %t0, 0; barrier.red.{op}.pred %p1, 2, %p0; selp.u32 %d, 1, 2, %p1;", 70)
    form(g, "mapa.own", ["i32"], ["b32"],
         "st.shared.u32 [%s], %a; mapa.shared::cluster.u32 %t0, %s, 0; ld.shared::cluster.u32 %d, [%t0]; cvt.u64.u32 %q0, %s; cvta.shared.u64 %q0, %q0; "
         "mapa.u64 %q1, %q0, 0; ld.u32 %t1, [%q1]; xor.b32 %t1, %t1, %d; add.u32 %d, %d, %t1;", 90)
    form(g, "getctarank.own", ["i32"], ["b32"], "getctarank.shared::cluster.u32 %d, %s; cvt.u64.u32 %q0, %s; cvta.shared.u64 %q0, %q0; getctarank.u64 %t0, %q0; add.u32 %d, %d, %t0;", 90)


def copies():
    """Asynchronous copies to shared memory: sizes, zero fill, ignored copies, and waits."""
    g = "copies"
    from_a = {4: "mov.b64 %q0, %v0;", 8: "mov.b64 %q0, %v0;", 16: "and.b64 %q0, %v0, -16;"}  # a thread of 8 bytes, or both of a pair
    filled = "mov.b64 %q3, 0x5a5a5a5a5a5a5a5a; st.shared.v2.b64 [%s], {%q3, %q3}; "
    policy = "createpolicy.fractional.L2::evict_first.b64 %q4; "
    waits = ["cp.async.wait_all;", "cp.async.commit_group; cp.async.wait_group 0;"]
    rest = " ld.shared.v2.b64 {%d, %x}, [%s];"
    guards = {"": "", "p": ", %p0", "np": ", !%p0"}
    n = 0
    for size in [4, 8, 16]:
        for cop in ["ca"] + (["cg"] if size == 16 else []):
            for ss, hint, far in sample(700 + size, 8, ["shared", "shared::cta"], ["", ".L2::cache_hint"], ["", ".L2::64B", ".L2::128B", ".L2::256B"]):
                for rule in ["", "size", "p", "np"]:
                    op = f"cp.async.{cop}.{ss}.global{hint}{far}"
                    last = {"": "", "size": ", %t0"}.get(rule, guards.get(rule)) + (", %q4" if hint else "")
                    form(g, f"{op}.{size}{'.' + rule if rule else ''}".replace("::", ""), ["i64", "sh"], ["b64", "b64"],
                         f"{filled}{policy if hint else ''}{from_a[size]} rem.u32 %t0, %b, {size + 1}; and.b32 %t1, %b, 1; setp.ne.u32 %p0, %t1, 0; "
                         f"{op} [%s], [%q0], {size}{last}; {waits[n % 2]}{rest}", 80)
                    n += 1
    # Some lanes skip their copy; parts of one line; waiting for the first groups only.
    form(g, "cp.async.some", ["i64", "i32"], ["b64", "b64"],
         f"{filled}and.b32 %t0, %b, 3; setp.lt.u32 %p0, %t0, 3; setp.eq.u32 %p1, %t0, 1; and.b64 %q0, %v0, -16; @%p0 cp.async.ca.shared.global [%s], [%q0], 16; "
         f"@%p1 cp.async.ca.shared.global [%s+20], [%v0], 4; cp.async.wait_all;{rest} ld.shared.b32 %t2, [%s+20]; cvt.u64.u32 %q1, %t2; @%p1 xor.b64 %d, %d, %q1;", 80)
    form(g, "cp.async.parted", ["i64", "i32"], ["b64", "b64"],
         f"{filled}and.b32 %t0, %b, 3; setp.eq.u32 %p0, %t0, 1; setp.eq.u32 %p1, %t0, 2; @%p0 bra A; @%p1 bra B; cp.async.ca.shared.global [%s+8], [%v0], 8; bra END; "
         "A: cp.async.ca.shared.global [%s], [%v0+4], 4, 2; bra END; B: cp.async.ca.shared.global [%s+4], [%v0], 4; cp.async.wait_all; END: cp.async.wait_all;" + rest, 80)
    form(g, "cp.async.pieces", ["i64", "i64"], ["b64", "b64"],
         filled + "cp.async.ca.shared.global [%s], [%v0+4], 4; cp.async.ca.shared.global [%s+4], [%v0], 4, 3; cp.async.ca.shared.global [%s+8], [%v0+16384], 8, 5; "
         "cp.async.commit_group; cp.async.wait_all;" + rest, 80)
    for left in range(4):
        read = " ".join(f"ld.shared.b32 %t{k}, [%s+{4 * k}]; xor.b32 %d, %d, %t{k}; shf.l.wrap.b32 %d, %d, %d, 5;" for k in range(4 - left))
        form(g, f"cp.async.wait_group.{left}", ["i64", "i64"], ["b32", "b64"],
             filled + "cp.async.ca.shared.global [%s], [%v0], 4; cp.async.commit_group; cp.async.ca.shared.global [%s+4], [%v0+4], 4; cp.async.commit_group; "
             "cp.async.ca.shared.global [%s+8], [%v0+16384], 4; cp.async.commit_group; cp.async.ca.shared.global [%s+12], [%v0+16388], 4; cp.async.commit_group; "
             f"cp.async.wait_group {left}; mov.b32 %d, 0; {read} cp.async.wait_group 0; ld.shared.b64 %x, [%s+8];", 80)
    # A barrier that is arrived at when the copies are complete: an expected arrival, or an additional one.
    for ss in ["", ".shared", ".shared::cta"]:
        for counted in ["", ".noinc"]:
            # Generic addresses if no state space is written.
            at = "%q5" if not ss else "%t4"
            after = "" if counted else f"mbarrier.arrive.shared.b64 %q6, [%t4]; "
            form(g, f"cp.async.mbarrier.arrive{counted}{ss}".replace("::", ""), ["i64", "i64"], ["b64", "b32"],
                 "add.u32 %t4, %s, 24; cvt.u64.u32 %q5, %t4; cvta.shared.u64 %q5, %q5; mbarrier.init.shared.b64 [%t4], 1; cp.async.ca.shared.global [%s], [%v0], 8; "
                 f"cp.async.mbarrier.arrive{counted}{ss}.b64 [{at}]; {after}mov.u32 %x, 1; LOOP: mbarrier.test_wait.parity.shared.b64 %p0, [%t4], 0; @!%p0 bra LOOP; "
                 "ld.shared.b64 %d, [%s]; mbarrier.arrive.shared.b64 %q6, [%t4]; mbarrier.pending_count.b64 %x, %q6;", 80)
    # A barrier of the block: every thread's copy counts as an arrival, and each thread reads its neighbour's
    # word.
    form(g, "cp.async.mbarrier.arrive.block", ["i64", "i64"], ["b64"],
         "mov.u32 %t0, %tid.x; shl.b32 %t1, %t0, 5; sub.u32 %t1, %s, %t1; setp.ne.u32 %p0, %t0, 0; @%p0 bra READY; mbarrier.init.shared.b64 [%t1+8], 128; READY: bar.sync 0; "
         "cp.async.ca.shared.global [%s], [%v0], 8; cp.async.mbarrier.arrive.noinc.shared.b64 [%t1+8]; LOOP: mbarrier.test_wait.parity.shared.b64 %p1, [%t1+8], 0; @!%p1 bra LOOP; "
         "xor.b32 %t2, %t0, 33; shl.b32 %t2, %t2, 5; add.u32 %t2, %t1, %t2; ld.shared.b64 %d, [%t2];", 80)


def stack():
    """Stack memory whose size is known only at run time."""
    g = "stack"
    for at, name in [("", ""), (", 4", ".4"), (", 16", ".16"), (", 64", ".64"), (", 256", ".256")]:
        form(g, f"alloca.u64{name}", ["i32", "i32"], ["b32", "b32"],
             f"and.b32 %t0, %b, 127; add.u32 %t0, %t0, 8; cvt.u64.u32 %q0, %t0; alloca.u64 %q1, %q0{at}; st.local.b32 [%q1], %a; alloca.u64 %q2, %q0{at}; st.local.b32 [%q2], %b; "
             f"st.local.b32 [%q2+4], %i; ld.local.b32 %d, [%q1]; ld.local.b32 %x, [%q2]; ld.local.b32 %t1, [%q2+4]; add.u32 %x, %x, %t1; and.b64 %q3, %q1, {max(1, int(at[2:] or 8)) - 1}; "
             "cvt.u32.u64 %t2, %q3; add.u32 %d, %d, %t2;", 70)
    form(g, "stacksave.u64", ["i32", "i32"], ["b32", "b32"],
         "and.b32 %t0, %a, 15; mov.u32 %t1, 0; mov.u32 %d, 0; LOOP: stacksave.u64 %q0; shl.b32 %t2, %t1, 4; add.u32 %t2, %t2, 16; cvt.u64.u32 %q1, %t2; alloca.u64 %q2, %q1; "
         "st.local.b32 [%q2+12], %b; st.local.b32 [%q2], %t1; ld.local.b32 %t3, [%q2+12]; xor.b32 %d, %d, %t3; shf.l.wrap.b32 %d, %d, %d, 3; stackrestore.u64 %q0; stacksave.u64 %q3; "
         "setp.eq.u64 %p0, %q0, %q3; selp.u32 %x, 1, 2, %p0; add.u32 %t1, %t1, 1; setp.lt.u32 %p1, %t1, %t0; @%p1 bra LOOP;", 70)
    form(g, "stack.parted", ["i32", "i32"], ["b32"],
         "and.b32 %t0, %a, 3; setp.eq.u32 %p0, %t0, 0; stacksave.u64 %q0; mov.u32 %d, %b; @%p0 bra END; mul.lo.u32 %t1, %t0, 20; cvt.u64.u32 %q1, %t1; alloca.u64 %q2, %q1, 4; "
         "st.local.b32 [%q2+4], %a; cvta.local.u64 %q3, %q2; ld.b32 %d, [%q3+4]; setp.eq.u32 %p1, %t0, 2; @%p1 stackrestore.u64 %q0; END: add.u32 %d, %d, 1;", 70)


def calls():
    """Calls and returns. Text before ` ## ` is outside the kernel."""
    g = "calls"
    twice = ".func (.reg .b32 %z) NAME(.reg .b32 %y) {{ .reg .pred %p; setp.lt.s32 %p, %y, 0; @%p bra LESS; add.u32 %z, %y, %y; {ret}; LESS: not.b32 %z, %y; {ret}; }}"
    param = (".func (.param .b64 z) NAME(.param .b32 y, .param .align 8 .b8 w[8]) {{ .reg .b32 %y; .reg .b64 %w, %z; ld.param.b32 %y, [y]; ld.param.b64 %w, [w]; "
             "mad.wide.u32 %z, %y, 3, %w; st.param.b64 [z], %z; {ret}; }}")
    gives = " {{ .param .b32 y; .param .align 8 .b8 w[8]; .param .b64 z; st.param.b32 [y], %a; st.param.b64 [w], %b; {call}; ld.param.b64 %d, [z]; }}"
    for uni in ["", ".uni"]:
        # Names are global in a module, so each form has its own.
        form(g, f"call{uni}.registers", ["i32"], ["b32"], f"{twice.format(ret='ret' + uni)} ## call{uni} (%d), NAME, (%a);".replace("NAME", "twice" + uni[1:]), 50)
        form(g, f"call{uni}.params", ["i32", "i64"], ["b64"], (param.format(ret="ret" + uni) + " ##" + gives.format(call=f"call{uni} (z), NAME, (y, w)")).replace("NAME", "thrice" + uni[1:]), 50)
        form(g, f"call{uni}.nothing", ["i32"], ["b32"],
             f".global .align 4 .b8 seen{uni[1:]}[4]; .func NAME {{ .reg .b32 %v; ld.global.b32 %v, [seen{uni[1:]}]; ret{uni}; }} ## call{uni} NAME; mov.b32 %d, %a;".replace("NAME", "nothing" + uni[1:]), 50)
        form(g, f"call{uni}.pointer", ["i32", "i64"], ["b64"],
             (param.format(ret="ret" + uni) + " ## mov.u64 %q0, NAME; SHAPE: .callprototype (.param .b64 _) _ (.param .b32 _, .param .align 8 .b8 _[8]);" +
              gives.format(call=f"call{uni} (z), %q0, (y, w), SHAPE")).replace("NAME", "pointed" + uni[1:]), 50)
    form(g, "call.some", ["i32", "i32"], ["b32"],
         f"{twice.format(ret='ret')} ## and.b32 %t0, %b, 1; setp.ne.u32 %p0, %t0, 0; mov.b32 %d, %b; @%p0 call (%d), NAME, (%a); @!%p0 call (%d), NAME, (%d);".replace("NAME", "some"), 50)
    form(g, "call.parted", ["i32", "i32"], ["b32"],
         f"{twice.format(ret='ret')} ## and.b32 %t0, %b, 3; setp.eq.u32 %p0, %t0, 1; setp.eq.u32 %p1, %t0, 2; mov.b32 %d, %b; @%p0 bra A; @%p1 bra END; call (%d), NAME, (%a); bra END; "
         "A: xor.b32 %d, %a, %b; call (%d), NAME, (%d); call (%d), NAME, (%d); END:".replace("NAME", "parted"), 50)
    form(g, "call.targets", ["i32", "i32"], ["b32"],
         ".func (.reg .b32 %z) one(.reg .b32 %y) { add.u32 %z, %y, 1; ret; } .func (.reg .b32 %z) two(.reg .b32 %y) { mul.lo.u32 %z, %y, %y; ret; } ## "
         "and.b32 %t0, %b, 1; setp.ne.u32 %p0, %t0, 0; mov.u64 %q0, one; mov.u64 %q1, two; selp.b64 %q0, %q0, %q1, %p0; ALL: .calltargets one, two; call (%d), %q0, (%a), ALL;", 50)
    form(g, "call.deep", ["i32"], ["b32"],
         ".func (.param .b32 z) gcd(.param .b32 y, .param .b32 x) { .reg .pred %p; .reg .b32 %x, %y; ld.param.b32 %y, [y]; ld.param.b32 %x, [x]; setp.eq.u32 %p, %x, 0; "
         "@%p st.param.b32 [z], %y; @%p ret; rem.u32 %y, %y, %x; { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %x; st.param.b32 [b], %y; call (c), gcd, (a, b); "
         "ld.param.b32 %x, [c]; } st.param.b32 [z], %x; ret; } ## { .param .b32 y; .param .b32 x; .param .b32 z; and.b32 %t0, %a, 0xffff; shr.u32 %t1, %a, 16; st.param.b32 [y], %t0; "
         "st.param.b32 [x], %t1; call (z), gcd, (y, x); ld.param.b32 %d, [z]; }", 50)
    form(g, "ret.some", ["i32"], ["b32"], "mov.b32 %d, %a; and.b32 %t0, %a, 3; setp.eq.u32 %p0, %t0, 2; @%p0 ret; setp.eq.u32 %p1, %t0, 1; @%p1 ret;")


def ptx1():
    """Forms before PTX 1.4: functions without a rounding mode. The group's kernels are PTX 1.3 for sm_13."""
    g = "ptx1"
    for op in ["mad", "mad.sat"]:
        simple(g, f"{op}.f32", ["f32"] * 3, "b32", 10, name=f"ptx1.{op}.f32")
    simple(g, "mad.f64", ["f64"] * 3, "b64", 13, name="ptx1.mad.f64")
    for t in ["f32", "f64"]:
        simple(g, f"div.{t}", [t, t], out_of(t), 13, "approx" if t == "f32" else "exact", name=f"ptx1.div.{t}")
        for op in ["rcp", "sqrt", "rsqrt"] if t == "f32" else ["sqrt", "rsqrt"]:
            check = "approx" if t == "f32" else "exact"
            simple(g, f"{op}.{t}", [t], out_of(t), 13, check, name=f"ptx1.{op}.{t}")
    for op in ["sin", "cos", "lg2", "ex2"]:
        simple(g, f"{op}.f32", ["f32"], "b32", 10, "approx", name=f"ptx1.{op}.f32")


def ptx6():
    """Votes and shuffles without a mask, removed in PTX 6.4 and sm_70. The group's kernels are PTX 6.3 for
    sm_60."""
    g = "ptx6"
    for mode in ["all", "any", "uni"]:
        for neg in ["", "!"]:
            for k, test in [("bits", "and.b32 %t0, %a, 1; setp.ne.u32 %p0, %t0, 0;"), ("rare", "setp.eq.u32 %p0, %a, 1;"), ("same", "shr.u32 %t0, %i, 5; and.b32 %t0, %t0, 1; setp.ne.u32 %p0, %t0, 0;")]:
                form(g, f"vote.{mode}.pred{'.not' if neg else ''}.{k}", ["i32"], ["b32"], f"{test} vote.{mode}.pred %p1, {neg}%p0; selp.u32 %d, 1, 2, %p1;", 60)
    for neg in ["", "!"]:
        form(g, f"vote.ballot.b32{'.not' if neg else ''}", ["i32"], ["b32"], f"and.b32 %t0, %a, 1; setp.ne.u32 %p0, %t0, 0; vote.ballot.b32 %d, {neg}%p0;", 60)
    for mode in ["up", "down", "bfly", "idx"]:
        form(g, f"shfl.{mode}.b32", ["i32", "sh", "sh"], ["b32"], f"shl.b32 %t0, %c, 4; shfl.{mode}.b32 %d, %a, %b, %c;".replace("shl.b32 %t0, %c, 4; ", ""), 60)
        form(g, f"shfl.{mode}.b32.pair", ["i32", "sh", "i32"], ["b32", "b32"], f"shfl.{mode}.b32 %d|%p0, %a, %b, %c; selp.u32 %x, 1, 2, %p0;", 60)


for make in [integer, logic, compare, single, double, half, convert, warp, memory, blocks, control, video, wide, masks, packed, hints, copies, stack, calls, ptx1, ptx6]:
    make()
out = open(sys.argv[1] if len(sys.argv) > 1 else "forms.tsv", "w")
out.write("# Written by forms.py. group, name, least capability, check, inputs, outputs, body\n")
for f in FORMS:
    out.write("\t".join(f) + "\n")
print(len(FORMS), "forms")
