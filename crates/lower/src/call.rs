//! Calls: direct, indirect, and into the runtime.
//!
//! Scalars are passed as values. An array (a struct by value) is in a stack slot of the caller and is passed
//! as its generic address; for a returned array, the caller passes the destination's address as the last
//! argument.

use ptx::ScalarType;
use ptx::ast::{
    self, Instruction, LabelKind, Operand, OperandKind, Parameter, PrototypeParameter, Symbol, VarId,
};
use wave::op::{Builtin, DeviceFn, Guard, Op, Space};
use wave::{Ty, Value};

use crate::error::ErrorClass;
use crate::function::{Lower, Result, VarPlace, parameter_ty, scalar_ty};
use crate::link::ty_of;
use crate::operand::bits_type;
use crate::var::Var;

/// A callee's parameter: a scalar of this type, or an array.
type Formal = Option<Ty>;

fn prototype_formal(p: &PrototypeParameter) -> Formal {
    match p {
        PrototypeParameter::Var(v) => scalar_ty(v),
        PrototypeParameter::Reg(r) => Some(ty_of(r.ty)),
    }
}

pub fn call(l: &mut Lower, i: &Instruction) -> Result<()> {
    let Some(parts) = i.call() else { return l.fail(ErrorClass::Invalid, i.span, "a call needs a function") };
    let direct = match parts.target.kind {
        OperandKind::Symbol(s) => match s.symbol {
            Symbol::Func(f) => Some(f),
            _ => None,
        },
        _ => None,
    };
    if let Some(f) = direct {
        let callee = &l.module.functions[f.index()];
        let formal = |p: &Parameter| parameter_ty(callee, *p);
        let params: Vec<Formal> = callee.params.iter().map(formal).collect();
        let returns: Vec<Formal> = callee.returns.iter().map(formal).collect();
        let id = l.linked.function(l.unit, f);
        if l.linked.module().functions[id.index()].external && callee.body.is_none() {
            if let Some(builtin) = builtin(&callee.name) {
                return call_builtin(l, i, builtin, parts);
            }
            if let Some(function) = DeviceFn::of_symbol(&callee.name) {
                return call_device_runtime(l, i, function, parts, &params, &returns);
            }
        }
        let (args, results) = arguments(l, i, parts, &params, &returns)?;
        let values = l.op_typed(Op::Call(id), &args, &results);
        return store_results(l, i, parts.returns, &returns, values);
    }
    let label = parts.prototype.and_then(|p| l.function.body.as_ref().map(|b| &b.labels[p.index()].kind));
    let (params, returns): (Vec<Formal>, Vec<Formal>) = match label {
        Some(LabelKind::CallPrototype(p)) => (
            p.params.iter().map(prototype_formal).collect(),
            p.returns.iter().map(prototype_formal).collect(),
        ),
        Some(LabelKind::CallTargets(targets)) if !targets.is_empty() => {
            let callee = &l.module.functions[targets[0].index()];
            let formal = |p: &Parameter| parameter_ty(callee, *p);
            (callee.params.iter().map(formal).collect(), callee.returns.iter().map(formal).collect())
        }
        _ => {
            return l.fail(
                ErrorClass::Invalid,
                i.span,
                "an indirect call needs a .callprototype or .calltargets",
            );
        }
    };
    let handle = l.value(parts.target, ScalarType::B64)?;
    let (args, results) = arguments(l, i, parts, &params, &returns)?;
    let mut all = vec![handle];
    all.extend(&args);
    let types = args.iter().map(|&a| l.ty(a)).collect();
    let op = Op::CallIndirect { params: types, results: results.clone().into_boxed_slice() };
    let values = l.op_typed(op, &all, &results);
    store_results(l, i, parts.returns, &returns, values)
}

/// The caller's `.param` variable that an operand names.
fn named(operand: &Operand) -> Option<VarId> {
    match operand.kind {
        OperandKind::Symbol(s) => match s.symbol {
            Symbol::Var(v) => Some(v),
            _ => None,
        },
        _ => None,
    }
}

/// The generic address of an array operand.
fn array_address(l: &mut Lower, operand: &Operand) -> Result<Value> {
    let Some(v) = named(operand) else {
        return l.fail(ErrorClass::Invalid, operand.span, "expected a .param array");
    };
    let (address, space) = l.symbol_address(Symbol::Var(v), 0, operand)?;
    Ok(match space {
        Space::Generic | Space::Global | Space::Const => address,
        space => l.op1(Op::ToGeneric(space), &[address]),
    })
}

fn arguments(
    l: &mut Lower,
    i: &Instruction,
    parts: ast::CallParts,
    params: &[Formal],
    returns: &[Formal],
) -> Result<(Vec<Value>, Vec<Ty>)> {
    if params.len() != parts.params.len() || returns.len() != parts.returns.len() {
        return l.fail(
            ErrorClass::Invalid,
            i.span,
            format!(
                "the call has {} arguments and {} results, the function {} and {}",
                parts.params.len(),
                parts.returns.len(),
                params.len(),
                returns.len()
            ),
        );
    }
    let mut args = Vec::new();
    for (formal, operand) in params.iter().zip(parts.params) {
        args.push(match formal {
            Some(ty) => argument(l, operand, *ty)?,
            None => array_address(l, operand)?,
        });
    }
    let mut results = Vec::new();
    for (formal, operand) in returns.iter().zip(parts.returns) {
        match formal {
            Some(ty) => results.push(*ty),
            None => args.push(array_address(l, operand)?),
        }
    }
    Ok((args, results))
}

fn argument(l: &mut Lower, operand: &Operand, ty: Ty) -> Result<Value> {
    match named(operand).map(|v| (v, l.var_place(v))) {
        Some((v, VarPlace::Scalar(own) | VarPlace::Kept(_, own))) => {
            let value = l.scalar(v, own);
            Ok(l.resize(value, ty, false))
        }
        // A scalar that the caller declared as an array of bytes.
        Some((_, VarPlace::Slot(_))) => {
            let (address, space) =
                l.symbol_address(Symbol::Var(named(operand).unwrap_or(VarId(0))), 0, operand)?;
            let mem = wave::op::MemMode::weak(space);
            Ok(l.op1(Op::Load { mem, ty, count: 1, offset: 0, guard: Guard::Always }, &[address]))
        }
        _ => l.value(operand, bits_type(ty)),
    }
}

fn store_results(
    l: &mut Lower,
    i: &Instruction,
    operands: &[Operand],
    returns: &[Formal],
    values: Vec<Value>,
) -> Result<()> {
    let scalars = operands.iter().zip(returns).filter(|(_, formal)| formal.is_some()).map(|(o, _)| o);
    for (operand, value) in scalars.zip(values) {
        match named(operand).map(|v| (v, l.var_place(v))) {
            Some((v, VarPlace::Scalar(own))) => {
                let value = l.resize(value, own, false);
                l.write(Var::Param(v.0), value);
            }
            Some((v, VarPlace::Kept(..))) => {
                l.keep(v, value);
            }
            Some((v, VarPlace::Slot(_))) => {
                let (address, space) = l.symbol_address(Symbol::Var(v), 0, operand)?;
                let mem = wave::op::MemMode::weak(space);
                let ty = l.ty(value);
                l.op(Op::Store { mem, ty, count: 1, offset: 0, guard: Guard::Always }, &[address, value]);
            }
            Some(_) => return l.fail(ErrorClass::Invalid, i.span, "a result cannot be written here"),
            None => l.write_dest(operand, value, false)?,
        }
    }
    Ok(())
}

/// The runtime function of this name.
fn builtin(name: &str) -> Option<Builtin> {
    Some(match name {
        "vprintf" => Builtin::Vprintf,
        "__assertfail" => Builtin::AssertFail,
        "malloc" => Builtin::Malloc,
        "free" => Builtin::Free,
        "cudaGraphSetConditional" => Builtin::GraphSetConditional,
        _ => return None,
    })
}

fn call_builtin(l: &mut Lower, i: &Instruction, which: Builtin, parts: ast::CallParts) -> Result<()> {
    let (params, results) = which.signature();
    if params.len() != parts.params.len() {
        return l.fail(
            ErrorClass::Invalid,
            i.span,
            format!("'{}' takes {} arguments", which.name(), params.len()),
        );
    }
    let mut args = Vec::new();
    for (ty, operand) in params.iter().zip(parts.params) {
        args.push(argument(l, operand, *ty)?);
    }
    let values = l.op(Op::Builtin(which), &args);
    let formals: Vec<Formal> = results.iter().map(|t| Some(*t)).collect();
    store_results(l, i, parts.returns, &formals, values)
}

/// A call of the device runtime. Arguments are widened to 64 bits; structures are passed as their addresses.
fn call_device_runtime(
    l: &mut Lower,
    i: &Instruction,
    function: DeviceFn,
    parts: ast::CallParts,
    params: &[Formal],
    returns: &[Formal],
) -> Result<()> {
    let (count, name) = (function.arguments(), function.name());
    if params.len() != count || !matches!(returns, [Some(_)]) {
        let text = format!("'{name}' of the device runtime takes {count} arguments and has a scalar result");
        return l.fail(ErrorClass::Invalid, i.span, text);
    }
    let (given, results) = arguments(l, i, parts, params, returns)?;
    let args = device_call(l, function, &given);
    let answer = l.op1(Op::Builtin(Builtin::DeviceCall), &args);
    let values = results.iter().map(|&ty| l.resize(answer, ty, false)).collect();
    store_results(l, i, parts.returns, returns, values)
}

/// The operands of a call of the device runtime with these arguments.
pub fn device_call(l: &mut Lower, function: DeviceFn, given: &[Value]) -> Vec<Value> {
    let number = DeviceFn::ALL.iter().position(|&f| f == function).unwrap_or(0);
    let mut args = vec![l.constant(Ty::I32, number as u128)];
    for &value in given {
        args.push(l.resize(value, Ty::I64, false));
    }
    while args.len() <= DeviceFn::MOST {
        args.push(l.constant(Ty::I64, 0));
    }
    args
}
