//! The instructions of a kernel that can be reached, and its basic blocks.

use std::collections::{BTreeMap, BTreeSet};

use gcn::isa::{Decoder, Inst, Role, Special, Value};
use gcn::object::{Field, Kernel};
use gcn::{CodeObject, Target};

use crate::error::Error;
use crate::scalar::Bitwise;

/// Most instructions of a kernel.
const MOST: usize = 1 << 20;

/// Bytes of the part before.
const PRELOADED: u64 = 256;

/// The code of a kernel.
pub(crate) struct Code {
    /// Its instructions, by address.
    pub instructions: BTreeMap<u64, Inst>,
    /// Addresses where blocks begin, the entry among them.
    pub leaders: BTreeSet<u64>,
    /// The first instruction.
    pub entry: u64,
    /// What it was compiled for.
    pub target: Target,
    /// Lanes of a wave.
    pub lanes: u32,
}

/// What a conditional branch looks at, and whether it is taken if that is not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    /// The scalar condition code.
    Scc(bool),
    /// The vector condition code.
    Vcc(bool),
    /// The active lanes.
    Exec(bool),
}

/// How a block can go on after an instruction.
pub(crate) enum Next {
    /// With the next instruction.
    Falls,
    /// At an address.
    Jumps(u64),
    /// At an address if the test says so, otherwise with the next instruction.
    Branches(Test, u64),
    /// In a function, at this address or at one in registers; the function returns after the instruction.
    Calls(Option<u64>),
    /// At an address in registers.
    Leaves,
    /// Not at all: the wave ends.
    Ends,
    /// Not at all: the wave traps.
    Traps,
}

/// Where control goes after an instruction.
///
/// # Errors
/// It goes to an address that is not known.
pub(crate) fn next(inst: &Inst) -> Result<Next, String> {
    let target = || {
        let words = match inst.operand(Role::Simm16).map(|o| o.value) {
            Some(Value::Imm(words)) => words as u16 as i16,
            _ => return Err("a branch without a distance".to_owned()),
        };
        Ok(inst.address.wrapping_add(4).wrapping_add_signed(i64::from(words) * 4))
    };
    Ok(match inst.op.name() {
        "s_branch" => Next::Jumps(target()?),
        // The third trap is a breakpoint.
        "s_trap" if matches!(inst.operand(Role::Simm16).map(|o| o.value), Some(Value::Imm(3))) => Next::Falls,
        "s_trap" => Next::Traps,
        "s_endpgm" | "s_endpgm_saved" => Next::Ends,
        "s_cbranch_scc0" => Next::Branches(Test::Scc(false), target()?),
        "s_cbranch_scc1" => Next::Branches(Test::Scc(true), target()?),
        "s_cbranch_vccz" => Next::Branches(Test::Vcc(false), target()?),
        "s_cbranch_vccnz" => Next::Branches(Test::Vcc(true), target()?),
        "s_cbranch_execz" => Next::Branches(Test::Exec(false), target()?),
        "s_cbranch_execnz" => Next::Branches(Test::Exec(true), target()?),
        "s_cbranch_cdbgsys"
        | "s_cbranch_cdbguser"
        | "s_cbranch_cdbgsys_or_user"
        | "s_cbranch_cdbgsys_and_user"
        | "s_cbranch_g_fork"
        | "s_cbranch_i_fork"
        | "s_cbranch_join" => return Err("this branch is not supported".to_owned()),
        "s_call_b64" => Next::Calls(Some(target()?)),
        "s_swappc_b64" => Next::Calls(None),
        "s_setpc_b64" => Next::Leaves,
        "s_rfe_b64" | "s_rfe_restore_b64" => {
            return Err("only trap handlers and forks return so, which are not supported".to_owned());
        }
        _ => Next::Falls,
    })
}

impl Code {
    /// Decodes what can be reached from the kernel's entry without calls.
    pub fn read(object: &CodeObject<'_>, kernel: &Kernel, target: Target) -> Result<Code, Vec<Error>> {
        let lanes = kernel.descriptor.wave_size();
        // Code that finds arguments in registers begins after the part that loads them on older firmware.
        let preloads = kernel.descriptor.get(Field::PreloadLength) > 0;
        let entry = kernel.entry.wrapping_add(if preloads { PRELOADED } else { 0 });
        let mut code = Code { instructions: BTreeMap::new(), leaders: BTreeSet::new(), entry, target, lanes };
        code.read_from(object, entry)?;
        Ok(code)
    }

    /// Decodes what can be reached from an address without calls.
    pub fn read_from(&mut self, object: &CodeObject<'_>, entry: u64) -> Result<(), Vec<Error>> {
        let (target, lanes) = (self.target, self.lanes);
        let code = self;
        let refuse = |address, message: String| vec![Error { address, message }];
        let decoder = Decoder::new(target, lanes)
            .ok_or_else(|| refuse(entry, format!("the instructions of {} are not known", target.name)))?;
        let mut errors = Vec::new();
        let mut open = vec![entry];
        while let Some(leader) = open.pop() {
            if !code.leaders.insert(leader) {
                continue;
            }
            let mut address = leader;
            while !code.instructions.contains_key(&address) {
                if code.instructions.len() >= MOST {
                    return Err(refuse(address, format!("the kernel has more than {MOST} instructions")));
                }
                let Some(bytes) = object.bytes_at(address).filter(|bytes| !bytes.is_empty()) else {
                    let message = "control reaches this address, which is outside of the code".to_owned();
                    errors.push(Error { address, message });
                    break;
                };
                let inst = match decoder.decode(bytes, address) {
                    Ok(inst) => inst,
                    Err(refusal) => {
                        let shown: Vec<String> = bytes.iter().take(8).map(|b| format!("{b:02x}")).collect();
                        let message = format!("{refusal} (bytes {})", shown.join(" "));
                        errors.push(Error { address, message });
                        break;
                    }
                };
                let after = address + u64::from(inst.size);
                let next = next(&inst);
                if let Err(reason) = &next {
                    errors.push(Error { address, message: format!("{inst}: {reason}") });
                }
                code.instructions.insert(address, inst);
                match next {
                    Ok(Next::Falls) => address = after,
                    Ok(Next::Jumps(to)) => {
                        open.push(to);
                        break;
                    }
                    Ok(Next::Branches(_, to)) => {
                        open.extend([to, after]);
                        break;
                    }
                    Ok(Next::Calls(_)) => {
                        open.push(after);
                        break;
                    }
                    Ok(Next::Leaves | Next::Ends | Next::Traps) | Err(_) => break,
                }
            }
        }
        // A jump into the middle of an instruction would make two instructions overlap.
        let mut end = 0;
        for (address, inst) in &code.instructions {
            if *address < end {
                errors.push(Error { address: *address, message: "instructions overlap here".to_owned() });
            }
            end = address + u64::from(inst.size);
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Whether registers of lanes without a thread hold data: scalars are kept in a VGPR's lanes, or EXEC is
    /// set to all ones.
    pub fn keeps_data_in_lanes(&self) -> bool {
        let all = |inst: &Inst| inst.operand(Role::Src0).is_some_and(|o| o.value == Value::Int(-1));
        let to_exec = |inst: &Inst| {
            let result = inst.operand(Role::Sdst).map(|o| o.value);
            matches!(result, Some(Value::Special(Special::Exec, _)))
        };
        self.instructions.values().any(|inst| match inst.op.name() {
            "v_writelane_b32" => true,
            "s_mov_b32" | "s_mov_b64" => all(inst) && to_exec(inst),
            "s_not_b32" | "s_not_b64" => to_exec(inst),
            _ => Bitwise::of(inst.op).is_some_and(|bitwise| bitwise.exec.is_some()) && all(inst),
        })
    }

    /// The instructions of the block that begins at an address.
    pub fn block(&self, leader: u64) -> impl Iterator<Item = &Inst> {
        let until = self.leaders.range(leader + 1..).next().copied().unwrap_or(u64::MAX);
        let mut expected = leader;
        self.instructions.range(leader..until).map(|(_, inst)| inst).take_while(move |inst| {
            let connected = inst.address == expected;
            expected = inst.address + u64::from(inst.size);
            connected
        })
    }
}
