//! Operands of matrix instructions: fragments of as many registers as shape and types ask for.

use tensor::{Format, Mma, shape};

fn fragment(registers: usize, bits: u32) -> String {
    let one = format!("%r{}_1", bits.max(32));
    format!("{{{}}}", vec![one; registers].join(", "))
}

fn has(modifiers: &[String], word: &str) -> bool {
    modifiers.iter().any(|m| m == word)
}

/// The operands of an instruction with these modifiers; an empty text where no such instruction is legal. None: no matrix instruction.
pub fn operands(opcode: &str, modifiers: &[String]) -> Option<String> {
    let text = match opcode {
        "mma" => mma(modifiers),
        _ => return None,
    };
    Some(text.unwrap_or_default())
}

fn mma(modifiers: &[String]) -> Option<String> {
    let sparse = modifiers.iter().any(|m| m.starts_with("sp"));
    let formats: Vec<Format> = modifiers.iter().filter_map(|m| Format::of_name(m)).collect();
    let &[d, a, b, c] = formats.as_slice() else { return Some("%r32_1, %r32_1, %r32_1, %r32_1".into()) };
    let (m, n, k) = modifiers.iter().find_map(|m| shape(m))?;
    let x = Mma { m, n, k, a, b, c, d, sparse, ..Mma::default() };
    if modifiers.iter().any(|m| m.starts_with("kind")) {
        return Some("%r32_1, %r32_1, %r32_1, %r32_1".into());
    }
    if !x.is_legal() {
        return None;
    }
    let [ra, rb, rc, rd] = x.counts();
    let metadata = if sparse { ", %r32_2, 0" } else { "" };
    let all = [(rd, d), (ra, a), (rb, b), (rc, c)].map(|(n, f)| fragment(n, f.bits())).join(", ");
    Some(all + metadata)
}

#[test]
fn operands_fill_the_registers() {
    let modifiers =
        ["sync", "aligned", "m16n8k16", "row", "col", "f32", "f16", "f16", "f32"].map(String::from);
    assert_eq!(
        operands("mma", &modifiers).as_deref(),
        Some(
            "{%r32_1, %r32_1, %r32_1, %r32_1}, {%r32_1, %r32_1, %r32_1, %r32_1}, {%r32_1, %r32_1}, {%r32_1, %r32_1, %r32_1, %r32_1}"
        )
    );
    assert!(!has(&modifiers, "col.row"));
}
