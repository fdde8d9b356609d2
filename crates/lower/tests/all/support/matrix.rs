//! Operands of matrix instructions: fragments with as many registers as shape and types require.

use tensor::{Format, Kind, Mma, Wgmma, shape};

fn fragment(registers: usize, bits: u32) -> String {
    let one = format!("%r{}_1", bits.max(32));
    format!("{{{}}}", vec![one; registers].join(", "))
}

fn has(modifiers: &[String], word: &str) -> bool {
    modifiers.iter().any(|m| m == word)
}

fn formats(modifiers: &[String]) -> Vec<Format> {
    modifiers.iter().filter_map(|m| Format::from_name(m)).collect()
}

/// The operands of an instruction with these modifiers; an empty text if the combination is illegal; `None`
/// if it is not a matrix instruction.
pub fn operands(opcode: &str, modifiers: &[String], optional: bool) -> Option<String> {
    let text = match opcode {
        "mma" => mma(modifiers),
        "wmma" if has(modifiers, "load") || has(modifiers, "store") => wmma_move(modifiers, optional),
        "wmma" => wmma(modifiers),
        "ldmatrix" => rows(modifiers).map(|r| format!("{}, [%r64_9]", fragment(r, 32))),
        "stmatrix" => rows(modifiers).map(|r| format!("[%r64_9], {}", fragment(r, 32))),
        "movmatrix" => Some("%r32_1, %r32_2".to_owned()),
        "wgmma" if has(modifiers, "mma_async") => wgmma(modifiers, optional),
        _ => return None,
    };
    Some(text.unwrap_or_default())
}

fn mma(modifiers: &[String]) -> Option<String> {
    let sparse = modifiers.iter().any(|m| m.starts_with("sp"));
    let &[d, a, b, c] = formats(modifiers).as_slice() else { return None };
    let (m, n, k) = modifiers.iter().find_map(|m| shape(m))?;
    let fine = has(modifiers, "scale_vec::4X");
    let kind = match modifiers.iter().find_map(|m| m.strip_prefix("kind::")) {
        None if sparse && d == Format::F16 && matches!(a, Format::E4M3 | Format::E5M2) => Kind::F8f6f4,
        None => Kind::Plain,
        Some("f8f6f4") => Kind::F8f6f4,
        Some("mxf8f6f4") => Kind::Mxf8f6f4,
        Some(_) if has(modifiers, "ue4m3") => Kind::Nvf4,
        Some(_) if fine => Kind::Mxf4Fine,
        Some(_) => Kind::Mxf4,
    };
    let x = Mma { m, n, k, a, b, c, d, sparse, kind, ..Mma::default() };
    if !x.is_legal() {
        return None;
    }
    let [ra, rb, rc, rd] = x.counts();
    let metadata = if sparse { ", %r32_2, 0" } else { "" };
    let all = [(rd, d), (ra, a), (rb, b), (rc, c)].map(|(n, f)| fragment(n, f.bits())).join(", ");
    let factors = if kind.factors() > 0 { ", %r32_1, {0, 1}, {%r32_2}, {%r16_1, %r16_2}" } else { "" };
    Some(all + metadata + factors)
}

/// The types of `a` and `b`, and of `c` and `d`, for a shape (PTX ISA 9.7.14.1).
fn wmma_types(shape: (u16, u16, u16)) -> (&'static [Format], &'static [Format]) {
    use Format::*;
    match shape {
        (16, 16, 16) | (8, 32, 16) | (32, 8, 16) => (&[F16, BF16, S8, U8], &[F16, F32, S32]),
        (16, 16, 8) => (&[TF32], &[F32]),
        (8, 8, 4) => (&[F64], &[F64]),
        (8, 8, 32) => (&[S4, U4], &[S32]),
        (8, 8, 128) => (&[B1], &[S32]),
        _ => (&[], &[]),
    }
}

/// A fragment of a matrix with this many elements.
fn wmma_fragment(elements: u16, format: Format, multiplied: bool) -> String {
    let bits = format.bits();
    let registers = match format {
        Format::F16 if multiplied => 8,
        _ => u32::from(elements) * bits / 32 / bits.max(32),
    };
    fragment(registers as usize, bits)
}

fn wmma_move(modifiers: &[String], optional: bool) -> Option<String> {
    let shape = modifiers.iter().find_map(|m| shape(m))?;
    let (m, n, k) = shape;
    let format = *formats(modifiers).first()?;
    let (inputs, sums) = wmma_types(shape);
    let (elements, types) = match () {
        () if has(modifiers, "a") => (m * k, inputs),
        () if has(modifiers, "b") => (k * n, inputs),
        () => (m * n, sums),
    };
    let fixed = format.bits() < 8 && has(modifiers, "row") != has(modifiers, "a");
    if !types.contains(&format) || fixed {
        return None;
    }
    let registers = wmma_fragment(elements, format, types == inputs && !has(modifiers, "c"));
    let stride = if optional { ", %r32_2" } else { "" };
    Some(match has(modifiers, "load") {
        true => format!("{registers}, [%r64_9]{stride}"),
        false => format!("[%r64_9], {registers}{stride}"),
    })
}

fn wmma(modifiers: &[String]) -> Option<String> {
    let (m, n, k) = modifiers.iter().find_map(|m| shape(m))?;
    let (d, a, b, c) = match *formats(modifiers).as_slice() {
        [d, c] => (d, Format::F16, Format::F16, c),
        [d, a, b, c] => (d, a, b, c),
        _ => return None,
    };
    let all = [
        wmma_fragment(m * n, d, false),
        wmma_fragment(m * k, a, true),
        wmma_fragment(k * n, b, true),
        wmma_fragment(m * n, c, false),
    ];
    (a.bits() == b.bits()).then(|| all.join(", "))
}

/// Registers of `ldmatrix` and `stmatrix`.
fn rows(modifiers: &[String]) -> Option<usize> {
    let count = ["x1", "x2", "x4"].iter().position(|x| has(modifiers, x))?;
    let (halves, transposed) = (has(modifiers, "b16"), has(modifiers, "trans"));
    let legal = match () {
        () if has(modifiers, "m8n8") => halves,
        () if has(modifiers, "m16n16") => !halves && transposed && count < 2,
        () if has(modifiers, "m16n8") => !halves && transposed,
        () => !halves,
    };
    legal.then(|| if has(modifiers, "m16n16") { 2 << count } else { 1 << count })
}

fn wgmma(modifiers: &[String], a_in_shared: bool) -> Option<String> {
    let &[d, a, b] = formats(modifiers).as_slice() else { return None };
    let (_, n, k) = modifiers.iter().find_map(|m| shape(m))?;
    let sparse = has(modifiers, "sp");
    let product = Mma { m: 16, n, k, a, b, c: d, d, sparse, ..Mma::default() };
    if !(Wgmma { product, a_in_shared, ..Wgmma::default() }).is_legal() {
        return None;
    }
    let [ra, _, _, rd] = product.counts();
    let mut all = vec![fragment(rd, 32)];
    all.push(if a_in_shared { "%r64_1".to_owned() } else { fragment(ra, 32) });
    all.push("%r64_2".to_owned());
    all.extend(sparse.then(|| "%r32_2, 0".to_owned()));
    all.push("%p1".to_owned());
    all.extend(a.layout().map(|_| "1, -1".to_owned()));
    let transposed = matches!(a, Format::F16 | Format::BF16);
    all.extend(transposed.then(|| if a_in_shared { "1, 0" } else { "1" }.to_owned()));
    Some(all.join(", "))
}
