//! Kernels that can be lowered later: nothing in them depends on what stands around it.
//!
//! An object of many kernels is loaded without lowering them. So that everything that cannot run is still
//! found then, one instruction of each kind is lowered by itself; a kernel with one that needs its
//! surroundings (calls, changes of MODE, what is refused by itself) is lowered at once.

use std::sync::{Mutex, PoisonError};

use gcn::CodeObject;
use gcn::isa::{Encoding, Inst, Mod, Op, Part, Role, Special, Value};
use gcn::object::{Field, Kernel};
use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::code::{self, Code, Next};
use crate::entry;
use crate::error::Error;
use crate::group::{Group, Named};
use crate::launch;
use crate::mode::Mode;

/// The kinds of instructions of an object that were lowered by themselves, and whether they could be.
#[derive(Debug, Default)]
pub struct Kinds(Mutex<HashMap<Kind, bool>>);

/// What counts of an instruction: not which registers and constants it names.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Kind {
    lanes: u32,
    mode: Mode,
    op: Op,
    encoding: Encoding,
    operands: SmallVec<[Form; 6]>,
    controls: SmallVec<[(Mod, u32); 6]>,
}

/// An operand: its role, what it is, its bits, and whether it is negated, absolute or extended.
type Form = (Role, Class, u16, [bool; 3]);

/// What an operand is.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Class {
    Scalar,
    Trap,
    Vector,
    Accumulator,
    Special(Special, Part),
    Constant,
    /// An immediate that may say what the instruction does.
    Number(i64),
    Off,
}

/// Instructions that change MODE, or the mode of indexing.
pub(crate) const CHANGES_MODE: &[&str] =
    &["s_setreg_b32", "s_setreg_imm32_b32", "s_round_mode", "s_denorm_mode", "s_set_gpr_idx_mode"];

impl Kind {
    fn of(inst: &Inst, lanes: u32, mode: Mode) -> Kind {
        let class = |role, value| match value {
            Value::Sgpr(_) => Class::Scalar,
            Value::Ttmp(_) => Class::Trap,
            Value::Vgpr(_) => Class::Vector,
            Value::Agpr(_) => Class::Accumulator,
            Value::Special(special, part) => Class::Special(special, part),
            Value::Int(_) | Value::Float(_) | Value::Literal(_) => Class::Constant,
            Value::Imm(_) if role == Role::Offset => Class::Constant,
            Value::Imm(number) => Class::Number(number),
            Value::Off => Class::Off,
        };
        let operands = inst.operands.iter();
        let operands =
            operands.map(|o| (o.role, class(o.role, o.value), o.bits, [o.neg, o.abs, o.sext])).collect();
        let is_distance = |(m, _): &&(Mod, u32)| matches!(m, Mod::Offset | Mod::Offset0 | Mod::Offset1);
        let controls = inst.mods.iter().filter(|m| !is_distance(m)).copied().collect();
        Kind { lanes, mode, op: inst.op, encoding: inst.encoding, operands, controls }
    }
}

/// Whether a kernel can be lowered later, as far as its instructions say.
///
/// # Errors
/// The places where it goes to what is no instruction; or what is wrong with the kernel.
pub fn is_plain(object: &CodeObject<'_>, kernel: &Kernel, kinds: &Kinds) -> Result<bool, Vec<Error>> {
    launch::bounded(object, kernel)?;
    let code = Code::read(object, kernel, object.target.target)?;
    let info = launch::info(object, kernel).0;
    let fits =
        info.params.iter().all(|p| p.offset.checked_add(p.size).is_some_and(|end| end <= info.param_size));
    if !fits || kernel.descriptor.get(Field::PreloadLength) > 0 {
        return Ok(false);
    }
    let mode = Mode::of_kernel(&kernel.descriptor);
    let alone = |inst: &Inst| {
        let name = inst.op.name();
        if CHANGES_MODE.contains(&name) {
            return false;
        }
        match code::next(inst) {
            Ok(Next::Falls) => {}
            Ok(Next::Jumps(_) | Next::Branches(..) | Next::Ends | Next::Traps) => return true,
            Ok(Next::Calls(_) | Next::Leaves) | Err(_) => return false,
        }
        // Each of the many values of a wait would be a kind.
        if Named::of(inst.op).group == Group::Nothing {
            return true;
        }
        let kind = Kind::of(inst, code.lanes, mode);
        let mut known = kinds.0.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(kind).or_insert_with(|| entry::lowers(inst, code.target, code.lanes, mode).is_ok())
    };
    Ok(code.instructions.values().all(|inst| alone(inst) && inst.second.as_deref().is_none_or(alone)))
}
