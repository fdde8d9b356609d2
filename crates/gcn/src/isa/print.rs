//! Instructions as LLVM's assembler writes them.

use std::fmt::{self, Write};

use crate::target::Generation;

use super::image;
use super::imm;
use super::inst::{Inst, Mod, Operand, Part, Role, Special, Type, Value};
use super::names;
use super::operand::{Imm, Kind};
use super::table::Token;

impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        Printer { inst: self, out: &mut text }.inst()?;
        if let Some(second) = &self.second {
            text.push_str(" :: ");
            Printer { inst: second, out: &mut text }.inst()?;
        }
        f.write_str(&text)
    }
}

/// The name of a special register.
fn special(register: Special, part: Part) -> &'static str {
    use Part::{High, Low, Whole};
    match (register, part) {
        (Special::FlatScratch, Whole) => "flat_scratch",
        (Special::FlatScratch, Low) => "flat_scratch_lo",
        (Special::FlatScratch, High) => "flat_scratch_hi",
        (Special::XnackMask, Whole) => "xnack_mask",
        (Special::XnackMask, Low) => "xnack_mask_lo",
        (Special::XnackMask, High) => "xnack_mask_hi",
        (Special::Vcc, Whole) => "vcc",
        (Special::Vcc, Low) => "vcc_lo",
        (Special::Vcc, High) => "vcc_hi",
        (Special::Exec, Whole) => "exec",
        (Special::Exec, Low) => "exec_lo",
        (Special::Exec, High) => "exec_hi",
        (Special::Null, _) => "null",
        (Special::M0, _) => "m0",
        (Special::SharedBase, _) => "src_shared_base",
        (Special::SharedLimit, _) => "src_shared_limit",
        (Special::PrivateBase, _) => "src_private_base",
        (Special::PrivateLimit, _) => "src_private_limit",
        (Special::PopsExitingWaveId, _) => "src_pops_exiting_wave_id",
        (Special::Vccz, _) => "src_vccz",
        (Special::Execz, _) => "src_execz",
        (Special::Scc, _) => "src_scc",
        (Special::LdsDirect, _) => "src_lds_direct",
    }
}

const SELECTIONS: [&str; 8] = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", "7"];
const UNUSED: [&str; 4] = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "3"];

struct Printer<'a> {
    inst: &'a Inst,
    out: &'a mut String,
}

impl Printer<'_> {
    fn registers(&mut self, name: &str, first: u16, bits: u16) -> fmt::Result {
        match bits.div_ceil(32) {
            0 | 1 => write!(self.out, "{name}{first}"),
            count => write!(self.out, "{name}[{first}:{}]", first + count - 1),
        }
    }

    fn value(&mut self, operand: &Operand) -> fmt::Result {
        match operand.value {
            Value::Sgpr(first) => self.registers("s", first, operand.bits),
            Value::Ttmp(first) => self.registers("ttmp", first, operand.bits),
            Value::Vgpr(first) => self.registers("v", first, operand.bits),
            Value::Agpr(first) => self.registers("a", first, operand.bits),
            Value::Special(register, part) => self.out.write_str(special(register, part)),
            Value::Int(number) => write!(self.out, "{number}"),
            Value::Float(index) => imm::inline(self.out, index, operand.ty),
            // LLVM shows the whole word here.
            Value::Literal(bits) if self.inst.encoding.name() == "SOP1" && operand.ty == Type::F16 => {
                imm::word(self.out, bits)
            }
            Value::Literal(bits) => imm::literal(self.out, bits, operand.ty),
            Value::Imm(number) => write!(self.out, "{number}"),
            Value::Off => self.out.write_str("off"),
        }
    }

    /// An operand with its modifiers.
    fn operand(&mut self, operand: &Operand) -> fmt::Result {
        let constant = matches!(operand.value, Value::Int(_) | Value::Float(_) | Value::Literal(_));
        let around = operand.neg && !operand.abs && constant;
        let before = match (operand.neg, operand.abs) {
            _ if operand.sext => "sext(",
            _ if around => "neg(",
            (true, true) => "-|",
            (true, false) => "-",
            (false, true) => "|",
            (false, false) => "",
        };
        self.out.write_str(before)?;
        self.value(operand)?;
        if self.is_upper(operand) {
            self.out.write_str(".h")?;
        }
        if operand.abs {
            self.out.write_str("|")?;
        }
        self.out.write_str(if around || operand.sext { ")" } else { "" })
    }

    /// Whether an operand is the upper half of its register by the register's number, not by `op_sel`.
    fn is_upper(&self, operand: &Operand) -> bool {
        let bit = match operand.role {
            Role::Src0 => 1,
            Role::Src1 => 2,
            Role::Src2 => 4,
            Role::Vdst => 8,
            _ => return false,
        };
        self.inst.modifier(Mod::OpSel) & bit != 0
            && !self.inst.row.tokens.iter().any(|t| matches!(t, Token::Each { .. }))
    }

    /// An immediate.
    fn immediate(&mut self, value: i64, how: Imm) -> fmt::Result {
        let (number, generation) = (value as u32, self.inst.generation);
        match how {
            Imm::Dec | Imm::Barrier => imm::word(self.out, number),
            Imm::Version => match names::version(number) {
                Some(text) => self.out.write_str(&text),
                None => write!(self.out, "{:#x}", number & 0xffff),
            },
            Imm::DepCtr => self.out.write_str(&names::dependencies(number)),
            Imm::Hex16 => write!(self.out, "{:#x}", number & 0xffff),
            Imm::K16 | Imm::K32 | Imm::Literal => write!(self.out, "{number:#x}"),
            Imm::Offset24 => self.hex((number << 8) as i32 >> 8),
            Imm::Branch => write!(self.out, "{number}"),
            Imm::Endpgm => write!(self.out, "{number}"),
            Imm::Waitcnt => self.waitcnt(number),
            Imm::Sendmsg => match names::message(number, generation) {
                Some(text) => self.out.write_str(&text),
                None => write!(self.out, "{number}"),
            },
            Imm::Hwreg => self.hwreg(number),
            Imm::GprIndex => self.gpr_index(number),
            Imm::Delay => self.out.write_str(&names::delay(number)),
            Imm::Slot => match number {
                0 => self.out.write_str("p10"),
                1 => self.out.write_str("p20"),
                2 => self.out.write_str("p0"),
                _ => write!(self.out, "invalid_param_{number}"),
            },
            Imm::Attr => write!(self.out, "attr{number}"),
            Imm::Channel => write!(self.out, ".{}", ["x", "y", "z", "w"][number as usize & 3]),
            Imm::Target => self.out.write_str(&names::export(number, generation)),
            Imm::Swizzle => self.swizzle(number),
        }
    }

    fn hex(&mut self, number: i32) -> fmt::Result {
        let sign = if number < 0 { "-" } else { "" };
        write!(self.out, "{sign}{:#x}", number.unsigned_abs())
    }

    fn waitcnt(&mut self, number: u32) -> fmt::Result {
        let g = self.inst.generation;
        let (vm, exp, lgkm, most) = match g {
            Generation::Gfx11 | Generation::Gfx12 => {
                (number >> 10 & 63, number & 7, number >> 4 & 63, [63, 7, 63])
            }
            Generation::Gfx10 => {
                (number & 15 | number >> 14 << 4 & 48, number >> 4 & 7, number >> 8 & 63, [63, 7, 63])
            }
            _ => (number & 15 | number >> 14 << 4 & 48, number >> 4 & 7, number >> 8 & 15, [63, 7, 15]),
        };
        let all = [vm, exp, lgkm] == most;
        let mut separator = "";
        for ((name, value), most) in [("vmcnt", vm), ("expcnt", exp), ("lgkmcnt", lgkm)].into_iter().zip(most)
        {
            if all || value != most {
                write!(self.out, "{separator}{name}({value})")?;
                separator = " ";
            }
        }
        Ok(())
    }

    fn hwreg(&mut self, number: u32) -> fmt::Result {
        let (id, offset, size) = (number & 63, number >> 6 & 31, (number >> 11 & 31) + 1);
        self.out.write_str("hwreg(")?;
        match names::register(id, self.inst.generation) {
            Some(name) => self.out.write_str(name)?,
            None => write!(self.out, "{id}")?,
        }
        if size != 32 || offset != 0 {
            write!(self.out, ", {offset}, {size}")?;
        }
        self.out.write_str(")")
    }

    fn gpr_index(&mut self, number: u32) -> fmt::Result {
        if number & !15 != 0 {
            return write!(self.out, "{number:#x}");
        }
        let names = ["SRC0", "SRC1", "SRC2", "DST"];
        let set: Vec<&str> =
            names.into_iter().enumerate().filter(|(i, _)| number >> i & 1 == 1).map(|(_, n)| n).collect();
        write!(self.out, "gpr_idx({})", set.join(","))
    }

    fn swizzle(&mut self, number: u32) -> fmt::Result {
        if number == 0 {
            return Ok(());
        }
        self.out.write_str(" offset:")?;
        if number & 0xff00 == 0x8000 {
            let lane = |i: u32| number >> (2 * i) & 3;
            return write!(self.out, "swizzle(QUAD_PERM,{},{},{},{})", lane(0), lane(1), lane(2), lane(3));
        }
        if number & 0x8000 != 0 {
            return write!(self.out, "{number}");
        }
        let (and, or, xor) = (number & 31, number >> 5 & 31, number >> 10 & 31);
        let whole = and == 31 && or == 0;
        let group = 32 - and;
        if whole && xor.count_ones() == 1 {
            return write!(self.out, "swizzle(SWAP,{xor})");
        }
        if whole && xor > 0 && (xor + 1).is_power_of_two() {
            return write!(self.out, "swizzle(REVERSE,{})", xor + 1);
        }
        if group > 1 && group.is_power_of_two() && or < group && xor == 0 {
            return write!(self.out, "swizzle(BROADCAST,{group},{or})");
        }
        let (zeros, ones) = (or ^ xor, (and | or) ^ xor);
        let letter = |bit: u32| match (zeros >> bit & 1, ones >> bit & 1) {
            (0, 0) => '0',
            (1, 1) => '1',
            (0, _) => 'p',
            _ => 'i',
        };
        let mask: String = (0..5).rev().map(letter).collect();
        write!(self.out, "swizzle(BITMASK_PERM,\"{mask}\")")
    }

    fn dpp_control(&mut self, value: u32) -> fmt::Result {
        let low = value & 15;
        let cdna = names::is_cdna2_or_later(self.inst.generation);
        match value {
            0..=0xff => {
                let lane = |i: u32| value >> (2 * i) & 3;
                write!(self.out, " quad_perm:[{},{},{},{}]", lane(0), lane(1), lane(2), lane(3))
            }
            0x101..=0x10f => write!(self.out, " row_shl:{low}"),
            0x111..=0x11f => write!(self.out, " row_shr:{low}"),
            0x121..=0x12f => write!(self.out, " row_ror:{low}"),
            0x130 => self.out.write_str(" wave_shl:1"),
            0x134 => self.out.write_str(" wave_rol:1"),
            0x138 => self.out.write_str(" wave_shr:1"),
            0x13c => self.out.write_str(" wave_ror:1"),
            0x140 => self.out.write_str(" row_mirror"),
            0x141 => self.out.write_str(" row_half_mirror"),
            0x142 => self.out.write_str(" row_bcast:15"),
            0x143 => self.out.write_str(" row_bcast:31"),
            0x150..=0x15f if cdna => write!(self.out, " row_newbcast:{low}"),
            0x150..=0x15f => write!(self.out, " row_share:{low}"),
            _ => write!(self.out, " row_xmask:{low}"),
        }
    }

    /// The offset of a memory instruction: signed where the encoding's is.
    fn offset(&mut self, value: u32) -> fmt::Result {
        if value == 0 {
            return Ok(());
        }
        let signed = |bits: u32| (value << (32 - bits)) as i32 >> (32 - bits);
        let offset = match (self.inst.encoding.name(), self.inst.generation) {
            ("GLOBAL" | "SCRATCH", Generation::Gfx10) => signed(12),
            ("GLOBAL" | "SCRATCH", _) => signed(13),
            ("FLAT" | "VFLAT" | "VGLOBAL" | "VSCRATCH" | "VBUFFER", Generation::Gfx12) => signed(24),
            _ => value as i32,
        };
        write!(self.out, " offset:{offset}")
    }

    /// A list with a bit for each source; not written if all have the default.
    fn each(&mut self, which: Mod, value: u32, token: &Token) -> fmt::Result {
        let Token::Each { bits, default, .. } = token else { return Ok(()) };
        let sources = token.sources(&self.inst.row.tokens);
        let mask = (1u32 << sources) - 1;
        let permutes = self.inst.op.name().starts_with("v_permlane");
        let result = which == Mod::OpSel && !permutes && bits.get(3).is_some_and(Option::is_some);
        let usual = if *default { mask } else { 0 };
        if value & mask == usual && !(result && value >> 3 & 1 == 1) {
            return Ok(());
        }
        let digit = |i: usize| if value >> i & 1 == 1 { "1" } else { "0" };
        let mut list: Vec<&str> = (0..sources).map(digit).collect();
        if result {
            list.push(digit(3));
        }
        write!(self.out, " {}:[{}]", which.name(), list.join(","))
    }

    fn control(&mut self, which: Mod, value: u32) -> fmt::Result {
        let names = |table: &[&'static str]| table.get(value as usize).copied().unwrap_or("");
        match which {
            Mod::Omod => self.out.write_str(names(&["", " mul:2", " mul:4", " div:2"])),
            Mod::DstSel => write!(self.out, " dst_sel:{}", names(&SELECTIONS)),
            Mod::Src0Sel => write!(self.out, " src0_sel:{}", names(&SELECTIONS)),
            Mod::Src1Sel => write!(self.out, " src1_sel:{}", names(&SELECTIONS)),
            Mod::DstUnused => write!(self.out, " dst_unused:{}", names(&UNUSED)),
            Mod::DppCtrl => self.dpp_control(value),
            Mod::RowMask => write!(self.out, " row_mask:{value:#x}"),
            Mod::BankMask => write!(self.out, " bank_mask:{value:#x}"),
            Mod::Fi if matches!(value, 1 | 234) => self.out.write_str(" fi:1"),
            Mod::WaitVdst if self.inst.generation >= Generation::Gfx12 => {
                write!(self.out, " wait_va_vdst:{value}")
            }
            Mod::WaitVmVsrc => write!(self.out, " wait_vm_vsrc:{value}"),
            Mod::IndexKey16 | Mod::IndexKey8 if value != 0 => write!(self.out, " index_key:{value}"),
            Mod::ByteSel | Mod::ByteDst if value != 0 => write!(self.out, " byte_sel:{value}"),
            Mod::Bitop3 if value > 9 => write!(self.out, " bitop3:{value:#x}"),
            Mod::Bitop3 if value != 0 => write!(self.out, " bitop3:{value}"),
            Mod::WaitVdst => write!(self.out, " wait_vdst:{value}"),
            Mod::WaitExp => write!(self.out, " wait_exp:{value}"),
            Mod::Dpp8 => {
                let lanes: Vec<String> = (0..8).map(|i| (value >> (3 * i) & 7).to_string()).collect();
                write!(self.out, " dpp8:[{}]", lanes.join(","))
            }
            Mod::BoundCtrl if value == 1 => self.out.write_str(" bound_ctrl:1"),
            Mod::Offset => self.offset(value),
            Mod::Dim => {
                let (name, ..) = image::DIMENSIONS[value as usize & 7];
                write!(self.out, " dim:SQ_RSRC_IMG_{name}")
            }
            Mod::Dmask if value != 0 => write!(self.out, " dmask:{value:#x}"),
            Mod::Blgp
                if value != 0
                    && self.inst.generation == Generation::Gfx940
                    && self.inst.op.name().starts_with("v_mfma_f64") =>
            {
                write!(self.out, " neg:[{},{},{}]", value & 1, value >> 1 & 1, value >> 2 & 1)
            }
            Mod::Offset0 | Mod::Offset1 | Mod::Cbsz | Mod::Abid | Mod::Blgp if value != 0 => {
                write!(self.out, " {}:{value}", which.name())
            }
            Mod::R128 if value == 1 && self.inst.generation < Generation::Gfx10 => self.out.write_str(" a16"),
            Mod::Clamp
            | Mod::High
            | Mod::Gds
            | Mod::Lds
            | Mod::Tfe
            | Mod::Unorm
            | Mod::R128
            | Mod::A16
            | Mod::Lwe
            | Mod::Da
            | Mod::D16
            | Mod::Done
            | Mod::RowEn
            | Mod::Compr
            | Mod::Vm
                if value == 1 =>
            {
                write!(self.out, " {}", which.name())
            }
            _ => Ok(()),
        }
    }

    fn cache_policy(&mut self) -> fmt::Result {
        if self.inst.generation >= Generation::Gfx12 {
            return self.out.write_str(&names::cache_policy(
                self.inst.op.name(),
                self.inst.modifier(Mod::Th),
                self.inst.modifier(Mod::Scope),
            ));
        }
        let gfx940 = self.inst.generation == Generation::Gfx940;
        let scalar = self.inst.encoding.name() == "SMEM";
        for (which, name) in [
            (Mod::Glc, if gfx940 && !scalar { " sc0" } else { " glc" }),
            (Mod::Slc, if gfx940 { " nt" } else { " slc" }),
            (Mod::Dlc, if self.inst.generation >= Generation::Gfx10 { " dlc" } else { "" }),
            (
                Mod::Scc,
                match self.inst.generation {
                    Generation::Gfx940 => " sc1",
                    Generation::Gfx90a => " scc",
                    _ => "",
                },
            ),
        ] {
            if self.inst.modifier(which) == 1 {
                self.out.write_str(name)?;
            }
        }
        Ok(())
    }

    fn inst(&mut self) -> fmt::Result {
        let inst = self.inst;
        self.out.write_str(inst.row.mnemonic)?;
        let mut operands = inst.operands.iter();
        let mut mods = inst.mods.iter().peekable();
        let mut separator = " ";
        let lds = inst.modifier(Mod::Lds) == 1;
        for token in &inst.row.tokens {
            match token {
                Token::Operand { role: Role::Vdata | Role::Vdst, .. } if lds => {}
                Token::Operand { returned: true, .. }
                    if inst.modifier(Mod::Glc) == 0 && inst.modifier(Mod::Th) & 1 == 0 => {}
                Token::Operand { kind: Kind::Imm(how), role, .. } => {
                    let Some(operand) = operands.next() else { continue };
                    let Value::Imm(value) = operand.value else { continue };
                    // These stand beside what is before them.
                    let beside =
                        matches!(how, Imm::Swizzle | Imm::Channel) || *how == Imm::Endpgm && value == 0;
                    if !beside {
                        self.out.write_str(separator)?;
                        separator = ", ";
                    }
                    if beside && *how == Imm::Endpgm {
                        continue;
                    }
                    self.immediate(value, *how)?;
                    if *role == Role::Tgt {
                        separator = " ";
                    }
                }
                Token::Operand { .. } | Token::Implied(_) | Token::VectorAddress | Token::ScalarAddress => {
                    let Some(operand) = operands.next() else { continue };
                    self.out.write_str(separator)?;
                    separator = ", ";
                    self.operand(operand)?;
                    if operand.role == Role::Soffset
                        && matches!(inst.encoding.name(), "MTBUF" | "MUBUF" | "VBUFFER")
                    {
                        self.buffer_address()?;
                    }
                }
                Token::ImageAddress => {
                    let count = inst.operands.iter().filter(|o| o.role == Role::Vaddr).count();
                    self.out.write_str(if count > 1 { ", [" } else { ", " })?;
                    for (i, operand) in operands.by_ref().take(count).enumerate() {
                        self.out.write_str(if i > 0 { ", " } else { "" })?;
                        self.value(operand)?;
                    }
                    self.out.write_str(if count > 1 { "]" } else { "" })?;
                }
                Token::ExportSources => {
                    for operand in operands.by_ref() {
                        self.out.write_str(separator)?;
                        separator = ", ";
                        self.operand(operand)?;
                    }
                }
                Token::ScalarOffset => self.scalar_offset(&mut operands)?,
                Token::CachePolicy => self.cache_policy()?,
                Token::Hidden(_) => drop(operands.next()),
                Token::Word(word) => write!(self.out, " {word}")?,
                Token::Mod(which, _) => {
                    if let Some((_, value)) = mods.find(|(m, _)| m == which)
                        && *which != Mod::Format
                    {
                        self.control(*which, *value)?;
                    }
                }
                Token::Each { which, .. } => {
                    if let Some((_, value)) = mods.find(|(m, _)| m == which) {
                        self.each(*which, *value, token)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Format and kind of address, after the offset of a buffer instruction.
    fn buffer_address(&mut self) -> fmt::Result {
        if self.inst.control(Mod::Format).is_some() {
            let number = self.inst.modifier(Mod::Format);
            let format = match self.inst.generation {
                Generation::Gfx10 => names::unified_format(number, false),
                Generation::Gfx11 | Generation::Gfx12 => names::unified_format(number, true),
                _ => names::format_before_gfx10(number),
            };
            self.out.write_str(&format)?;
        }
        for which in [Mod::Idxen, Mod::Offen] {
            if self.inst.modifier(which) == 1 {
                write!(self.out, " {}", which.name())?;
            }
        }
        Ok(())
    }

    fn scalar_offset<'a>(&mut self, operands: &mut impl Iterator<Item = &'a Operand>) -> fmt::Result {
        let mut register = false;
        for operand in operands.by_ref() {
            match (operand.role, operand.value) {
                (Role::Soffset, _) => {
                    register = true;
                    self.out.write_str(", ")?;
                    self.value(operand)?;
                }
                (_, Value::Imm(offset)) => {
                    self.out.write_str(if register { " offset:" } else { ", " })?;
                    self.hex(offset as i32)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}
