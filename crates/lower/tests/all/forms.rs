//! Every form of the grammar is lowered, or belongs to a family that is listed here as unsupported.

use crate::support::grammar::{self, Form, Line};
use ptx::ScalarType;
use ptx::ast::SpecialReg;

/// Families that are not lowered yet: a description, and the words that identify them: an opcode, or an
/// opcode with modifiers.
const LATER: &[(&str, &[&str])] = &[
    ("fifth-generation tensor core", &["tcgen05"]),
    ("multisampled textures", &["tex.2dms", "tex.a2dms"]),
    ("separate samplers", &["txq.force_unnormalized_coords"]),
    ("memory of other machines", &["fabric"]),
];

fn later(form: &Form, modifiers: &[String]) -> Option<&'static str> {
    let told = |words: &str| {
        let mut words = words.split('.');
        words.next() == Some(&form.opcode) && words.all(|w| modifiers.iter().any(|m| m == w))
    };
    LATER.iter().find(|(_, list)| list.iter().any(|w| told(w))).map(|(name, _)| *name)
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Lowered,
    Refused(String),
    /// The parser refuses this spelling.
    Illegal(String),
}

fn lower(form: &Form, instruction: &str) -> Outcome {
    let text = grammar::module(form, instruction);
    let tree = match ptx::parse(&text) {
        Ok(tree) => tree,
        Err(found) => return Outcome::Illegal(ptx::log(&found, "form", &text)),
    };
    match lower::lower(&[lower::Unit { name: "form", module: &tree, source: &text }]) {
        Ok(_) => Outcome::Lowered,
        Err(errors) => {
            Outcome::Refused(errors.iter().map(|e| e.message.clone()).collect::<Vec<_>>().join("; "))
        }
    }
}

#[test]
fn every_form_is_lowered_or_named_as_a_later_one() {
    let mut wrong = Vec::new();
    let (mut section, mut sets) = (String::new(), String::new());
    let mut forms = Vec::new();
    for line in grammar::lines() {
        match line {
            Line::Title(title) => (section, sets) = (title, String::new()),
            Line::Set(set) => sets += &format!("{set}; "),
            Line::Instruction(text, of_line) => {
                forms.extend(of_line.into_iter().map(|f| (f, format!("{text} ({section}; {sets})"))));
            }
        }
    }
    for (form, place) in forms {
        let mut legal = 0;
        let mut illegal = String::new();
        for modifiers in form.spellings() {
            for optional in [false, true] {
                let Some(instruction) = form.instruction(&modifiers, optional) else { continue };
                let outcome = lower(&form, &instruction);
                match (outcome, later(&form, &modifiers)) {
                    (Outcome::Lowered, None) | (Outcome::Refused(_), Some(_)) => legal += 1,
                    (Outcome::Lowered, Some(family)) => {
                        wrong.push(format!("{instruction} is lowered although it is listed under {family}"))
                    }
                    (Outcome::Refused(why), None) => {
                        legal += 1;
                        wrong.push(format!("{instruction} {why}"))
                    }
                    (Outcome::Illegal(why), _) => illegal = format!("{instruction} {why}"),
                }
            }
        }
        if legal == 0 && form.spellings().iter().all(|m| later(&form, m).is_none()) {
            wrong.push(format!("no legal spelling of {} in {place}: {illegal}", form.text));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_special_register_is_lowered() {
    let numbered = [SpecialReg::Envreg(31), SpecialReg::Pm(7), SpecialReg::Pm64(7)];
    for reg in SpecialReg::PLAIN.iter().chain(&numbered) {
        let elements: &[&str] = if reg.is_vector() { &[".x", ".y", ".z", ".w"] } else { &[""] };
        for element in elements {
            let t = reg.ty();
            let to = if t == ScalarType::Pred { "%p0".to_owned() } else { format!("%r{}_0", t.bits()) };
            let form = Form {
                opcode: "mov".into(),
                slots: vec![],
                operands: vec![],
                text: String::new(),
                gone: None,
                suffix: None,
            };
            let instruction = format!("mov{t} {to}, {reg}{element};");
            assert_eq!(lower(&form, &instruction), Outcome::Lowered, "{instruction}");
        }
    }
}

#[test]
fn tensor_memory_is_refused_with_its_place() {
    let form = grammar::lines().into_iter().find_map(|line| match line {
        Line::Instruction(_, forms) => forms.into_iter().find(|f| f.opcode == "tcgen05"),
        _ => None,
    });
    let text = grammar::module(&form.expect("a form"), "tcgen05.wait::ld.sync.aligned;");
    let tree = ptx::parse(&text).expect("a text");
    let unit = lower::Unit { name: "form", module: &tree, source: &text };
    let errors = lower::lower(&[unit]).expect_err("no tensor memory");
    assert_eq!(errors.len(), 1);
    let place = &text[errors[0].span.start as usize..errors[0].span.end as usize];
    assert_eq!(place, "tcgen05.wait::ld.sync.aligned");
    assert_eq!(
        errors[0].message,
        "instruction 'tcgen05.wait::ld.sync.aligned' is not supported yet: there is no tensor memory; \
         compile for sm_90a or sm_120, which do not use it"
    );
}
