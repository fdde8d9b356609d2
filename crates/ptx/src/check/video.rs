//! Selectors and negations of video instructions (PTX ISA 9.7.17), checked as ptxas checks them.

use crate::ast::{Component, Instruction, Operand, OperandKind};
use crate::diagnostic::ErrorKind;
use crate::parser::Parser;
use crate::words::{Modifier, Opcode};

/// The number of parts that the instruction computes at once; `None` for instructions that are not video.
fn parts(opcode: Opcode) -> Option<u8> {
    use Opcode as O;
    Some(match opcode {
        O::Vadd | O::Vsub | O::Vabsdiff | O::Vmin | O::Vmax | O::Vshl | O::Vshr | O::Vmad | O::Vset => 1,
        O::Vadd2 | O::Vsub2 | O::Vavrg2 | O::Vabsdiff2 | O::Vmin2 | O::Vmax2 | O::Vset2 => 2,
        O::Vadd4 | O::Vsub4 | O::Vavrg4 | O::Vabsdiff4 | O::Vmin4 | O::Vmax4 | O::Vset4 => 4,
        _ => return None,
    })
}

/// The selector of an operand.
fn selector(operand: &Operand) -> Option<Component> {
    match operand.kind {
        OperandKind::Component(_, part) => Some(part),
        OperandKind::Negated(_, part) => part,
        _ => None,
    }
}

fn negated(operand: &Operand) -> bool {
    matches!(operand.kind, OperandKind::Negated(..))
}

impl Parser<'_> {
    /// Reports what is wrong with a video instruction's selectors and negations.
    pub(super) fn check_video(&mut self, instruction: &Instruction) {
        let Some(parts) = parts(instruction.opcode) else { return };
        let found = problem(instruction, parts)
            .or_else(|| instruction.operands.iter().enumerate().find_map(|(n, o)| misfit(parts, n, o)));
        if let Some((n, message, label)) = found {
            let span = instruction.operands.get(n).map_or(instruction.span, |o| o.span);
            let message = format!("{message} for instruction '{}'", instruction.opcode);
            self.error(ErrorKind::Semantic, span, message, label);
        }
    }
}

/// The index of the wrong operand, the message, and what would be right.
type Problem = (usize, &'static str, &'static str);

/// Finds an illegal combination in the instruction.
fn problem(i: &Instruction, parts: u8) -> Option<Problem> {
    let multiply = i.opcode == Opcode::Vmad;
    let first_negated = i.operands.iter().position(negated);
    match first_negated {
        Some(n) if !multiply => return Some((n, "Operand negation not allowed", "only `vmad` negates")),
        Some(n) if i.has(Modifier::Po) => {
            return Some((n, "Conflicting use of '.po' modifier with operand negation", "remove the `-`"));
        }
        _ => {}
    }
    if let [_, a, b, c] = i.operands.as_slice()
        && negated(c)
        && negated(a) != negated(b)
    {
        let label = "negate one of the factors, or this";
        return Some((3, "Operand negation limited to either (source A xor source B) or source C", label));
    }
    if i.operands.get(3).is_some_and(|c| selector(c).is_some()) {
        return Some((3, "Video selector is not allowed on 'source C' operand", "a whole register"));
    }
    if parts > 1 || i.operands.first().and_then(selector).is_none() {
        return None;
    }
    if multiply || i.operands.len() < 4 {
        let label = "writing part of a register requires a third source";
        return Some((0, "Video selector is not allowed on destination", label));
    }
    let second = i.one_of(&[Modifier::Add, Modifier::Min, Modifier::Max]);
    second.map(|_| {
        let message = "Video instruction cannot have destination selector and secondary operation";
        (0, message, "remove one of them")
    })
}

/// The problem with operand `n` by itself.
fn misfit(parts: u8, n: usize, operand: &Operand) -> Option<Problem> {
    const MESSAGE: &str = "Incorrect video selector";
    let Some(part) = selector(operand) else {
        let constant = matches!(operand.kind, OperandKind::Int(_));
        return (constant && parts > 1).then_some((n, MESSAGE, "a register is expected"));
    };
    let descending = |digits: &[u8], limit| {
        digits.iter().all(|d| *d < limit) && digits.windows(2).all(|pair| pair[0] > pair[1])
    };
    let (fits, right) = match (parts, n) {
        (1, _) => {
            (matches!(part, Component::Byte(_) | Component::Half(_)), "expected .b0 to .b3, .h0 or .h1")
        }
        (_, 0) => {
            let right =
                if parts == 2 { "expected .h0, .h1 or .h10" } else { "expected .b3210 or a part of it" };
            let fits = match part {
                Component::Half(_) => parts == 2,
                Component::Byte(_) => parts == 4,
                Component::Lanes { halves, digits, count } => {
                    halves == (parts == 2) && descending(&digits[..usize::from(count).min(4)], parts)
                }
                Component::Element(_) => false,
            };
            (fits, right)
        }
        _ => {
            let right = if parts == 2 {
                "expected .h and two digits from 0 to 3"
            } else {
                "expected .b and four digits from 0 to 7"
            };
            let fits = matches!(part, Component::Lanes { halves, count, .. }
                if count == parts && halves == (parts == 2));
            (fits, right)
        }
    };
    (!fits).then_some((n, MESSAGE, right))
}
