//! Checks calls against the callee's signature.

use crate::ast::{
    Instruction, LabelKind, Operand, OperandKind, Parameter, PrototypeParameter, Symbol, VariableRef,
};
use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::parser::Parser;
use crate::span::Span;
use crate::types::{ScalarType, Space};

/// Size in bytes and type of a formal parameter; only registers have a type.
type Formal = (u64, Option<ScalarType>);

impl Parser<'_> {
    /// Reports a call whose arguments do not match the signature.
    pub(super) fn check_call(&mut self, instruction: &Instruction) {
        let Some(call) = instruction.call() else { return };
        let span = call.target.span;
        let signature = match &call.target.kind {
            OperandKind::Symbol(s) => match s.symbol {
                Symbol::Func(id) => self.module.functions.get(id.index()).map(|f| {
                    let all =
                        |params: &[Parameter]| params.iter().map(|p| self.formal(f, *p)).collect::<Vec<_>>();
                    (all(&f.returns), all(&f.params))
                }),
                _ => {
                    self.error(
                        ErrorKind::Semantic,
                        span,
                        "Call target is not a function",
                        "must be a function",
                    );
                    return;
                }
            },
            OperandKind::Reg(reg) if matches!(self.reg(*reg).0.bits(), 32 | 64) => {
                let Some(label) = call.prototype else {
                    let message = "Indirect call requires a prototype or a list of targets";
                    let diagnostic =
                        Diagnostic::error(ErrorKind::Semantic, span, message).label("a register");
                    self.report(diagnostic.help("name the label of a `.callprototype` or `.calltargets`"));
                    return;
                };
                let kind = self.current.body.labels.get(label.index()).map(|l| &l.kind);
                match kind {
                    Some(LabelKind::CallPrototype(prototype)) => {
                        let all =
                            |params: &[PrototypeParameter]| params.iter().map(formal_of).collect::<Vec<_>>();
                        Some((all(&prototype.returns), all(&prototype.params)))
                    }
                    _ => None,
                }
            }
            _ => {
                let label = "must be a function, or a register that holds a function's address";
                self.error(ErrorKind::Semantic, span, "Call target is not a function", label);
                return;
            }
        };
        if let Some((returns, params)) = signature {
            self.check_arguments(call.returns, &returns, "return", span);
            self.check_arguments(call.params, &params, "", span);
        }
    }

    fn formal(&self, function: &crate::ast::Function, parameter: Parameter) -> Formal {
        match parameter {
            Parameter::Var(id) => {
                let var = function.vars().get(id.index()).or_else(|| function.head.vars.get(id.index()));
                (var.map_or(0, |v| v.size_bytes()), None)
            }
            Parameter::Reg(id) => {
                let reg = function.regs().get(id.index()).or_else(|| function.head.regs.get(id.index()));
                reg.map_or((0, None), |r| (u64::from(r.ty.size_bytes()), Some(r.ty)))
            }
        }
    }

    fn check_arguments(&mut self, given: &[Operand], formals: &[Formal], what: &str, span: Span) {
        let name = if what.is_empty() { "arguments" } else { "return values" };
        if given.len() != formals.len() {
            let message = "Call has wrong number of parameters".to_owned();
            let label = format!("{} {name}, expected {}", given.len(), formals.len());
            self.error(ErrorKind::Semantic, span, message, &label);
            return;
        }
        for (argument, (size, ty)) in given.iter().zip(formals) {
            let found = match &argument.kind {
                OperandKind::Reg(reg) => {
                    let (reg, n) = self.reg(*reg);
                    if ty.is_some_and(|ty| !super::operand::register_fits(reg, ty, false)) {
                        let label = format!("a `{reg}` register, expected `{}`", ty.unwrap_or(reg));
                        self.mismatch(argument.span, &label);
                        continue;
                    }
                    u64::from(reg.size_bytes()) * u64::from(n)
                }
                OperandKind::Symbol(s) => {
                    let variable = match s.symbol {
                        Symbol::Var(id) => self.variable(VariableRef::Var(id)),
                        _ => None,
                    };
                    match variable {
                        Some(v) if v.space == Space::Param && ty.is_none() => v.size_bytes(),
                        _ => {
                            self.mismatch(argument.span, "must be a `.param` variable or a register");
                            continue;
                        }
                    }
                }
                OperandKind::Int(_) | OperandKind::F32(_) | OperandKind::F64(_) if what.is_empty() => *size,
                OperandKind::Sink => *size,
                _ => {
                    self.mismatch(argument.span, "must be a `.param` variable or a register");
                    continue;
                }
            };
            if found != *size {
                self.mismatch(argument.span, &format!("{found} bytes, expected {size}"));
            }
        }
    }

    fn mismatch(&mut self, span: Span, label: &str) {
        self.error(
            ErrorKind::Semantic,
            span,
            "Type or alignment of argument does not match formal parameter",
            label,
        );
    }
}

fn formal_of(parameter: &PrototypeParameter) -> Formal {
    match parameter {
        PrototypeParameter::Var(v) => (v.size_bytes(), None),
        PrototypeParameter::Reg(r) => (u64::from(r.ty.size_bytes()), Some(r.ty)),
    }
}
