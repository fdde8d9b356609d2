//! The text form of modules and functions, for people.
//!
//! ```text
//! kernel @scale {
//!     param 0: offset 0, size 8, align 8
//! block0:                                  ; line 9
//!     v0 = const.i64 0
//!     v1 = load.param.weak.i64 v0
//!     v2 = special.tid.x
//!     v3 = const.i32 100
//!     v4 = icmp.lt_u.i32 v2, v3
//!     br v4, block1(v2), block2
//! block1(v5: i32):
//!     …
//! ```
//!
//! An operation is its mnemonic with the selectors of the variant after dots, the symbol that it names, then
//! its operands; an address operand includes its offset (`v3+16`). [`spell`] is the only table of spellings.
//! Source positions are comments, written where the line changes. [`crate::read::read`] parses this text.

use std::fmt::{self, Display, Formatter};

use crate::func::{Block, BlockCall, Function, Inst, Loc, Terminator, Value};
use crate::module::{
    FuncId, Global, GlobalId, KernelInfo, Module, Reference, Reloc, RelocTarget, SharedId, SharedVar,
};
use crate::op::{FloatMode, Guard, MemMode, Op, Order, Scope};
use crate::types::{Ty, Width};

/// Column at which comments start.
const COMMENT: usize = 48;

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl Display for Block {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "block{}", self.0)
    }
}

impl Display for BlockCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.block)?;
        if self.args.is_empty() { Ok(()) } else { write!(f, "({})", Commas(&self.args)) }
    }
}

impl Display for Terminator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Terminator::Jump(to) => write!(f, "jump {to}"),
            Terminator::Branch { cond, then, els } => write!(f, "br {cond}, {then}, {els}"),
            Terminator::Switch { index, targets } => write!(f, "switch {index}, [{}]", Commas(targets)),
            Terminator::Return(values) if values.is_empty() => f.write_str("return"),
            Terminator::Return(values) => write!(f, "return {}", Commas(values)),
            Terminator::Exit => f.write_str("exit"),
            Terminator::Trap => f.write_str("trap"),
        }
    }
}

/// A comma-separated list.
struct Commas<'a, T>(&'a [T]);

impl<T: Display> Display for Commas<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, item) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{item}")?;
        }
        Ok(())
    }
}

/// The symbol that an operation names.
#[derive(Clone, Copy)]
enum Symbol {
    Global(GlobalId),
    Shared(SharedId),
    Func(FuncId),
    Slot(u32),
}

/// Names for symbols: the module's, or numbers without a module.
#[derive(Clone, Copy)]
struct Names<'a>(Option<&'a Module>);

impl Names<'_> {
    fn of(self, symbol: Symbol) -> String {
        let (name, kind, id) = match symbol {
            Symbol::Global(id) => {
                (self.0.and_then(|m| m.globals.get(id.index())).map(|g| &g.name), "global", id.0)
            }
            Symbol::Shared(id) => {
                (self.0.and_then(|m| m.shared.get(id.index())).map(|s| &s.name), "shared", id.0)
            }
            Symbol::Func(id) => {
                (self.0.and_then(|m| m.functions.get(id.index())).map(|f| &f.name), "func", id.0)
            }
            Symbol::Slot(id) => return format!("slot{id}"),
        };
        name.map_or_else(|| format!("@{kind}{id}"), |n| format!("@{n}"))
    }
}

/// The spelling of an operation.
pub(crate) struct Spelling {
    /// The mnemonic with the selectors of the variant.
    pub name: String,
    /// The symbol that it names.
    symbol: Option<Symbol>,
    /// Constant added to the symbol's address, or to the first operand.
    offset: i64,
}

fn flag(on: bool, word: &'static str) -> &'static str {
    if on { word } else { "" }
}

fn sign(signed: bool) -> char {
    if signed { 's' } else { 'u' }
}

/// `.rn.ftz.sat.f32`
fn mode(m: &FloatMode) -> String {
    format!(".{}{}{}.{}", m.round.name(), flag(m.ftz, ".ftz"), flag(m.sat, ".sat"), m.fmt.name())
}

/// `.relaxed.gpu`; weak and volatile accesses have no scope.
fn ordering(order: Order, scope: Scope) -> String {
    match order {
        Order::Weak | Order::Volatile => format!(".{}", order.name()),
        _ => format!(".{}.{}", order.name(), scope.name()),
    }
}

/// `.global.relaxed.gpu`
fn memory(m: &MemMode) -> String {
    format!(".{}{}", m.space.name(), ordering(m.order, m.scope))
}

/// `.i32`, `.i32x4`
fn guarded(guard: Guard) -> String {
    if guard == Guard::Always { String::new() } else { format!(".{}", guard.name()) }
}

fn elements(ty: Ty, count: u8) -> String {
    if count == 1 { format!(".{ty}") } else { format!(".{ty}x{count}") }
}

/// Small numbers in decimal, with a sign according to the width; others in hexadecimal.
fn constant(ty: Ty, bits: u128) -> String {
    let unused = 128 - ty.bits();
    let signed = (bits << unused) as i128 >> unused;
    match signed {
        _ if ty == Ty::I1 => (bits & 1).to_string(),
        -0xffff..=0xffff => signed.to_string(),
        _ => format!("{bits:#x}"),
    }
}

/// The table of spellings.
pub(crate) fn spell(op: &Op) -> Spelling {
    let mut symbol = None;
    let mut at = 0;
    let name = match op {
        Op::Const { ty, bits } => format!("const.{ty} {}", constant(*ty, *bits)),
        Op::Int(op, ty) => format!("{}.{ty}", op.name()),
        Op::Shift(op, ty) => format!("{}.{ty}", op.name()),
        Op::IntUn(op, ty) => format!("{}.{ty}", op.name()),
        Op::Count(op, ty) => format!("{}.{ty}", op.name()),
        Op::AddCarry(ty) => format!("add_carry.{ty}"),
        Op::SubBorrow(ty) => format!("sub_borrow.{ty}"),
        Op::IntCmp(cmp, ty) => format!("icmp.{}.{ty}", cmp.name()),
        Op::Bfe { signed, ty } => format!("bfe_{}.{ty}", sign(*signed)),
        Op::Bfi(ty) => format!("bfi.{ty}"),
        Op::Funnel { left, clamp } => {
            format!(
                "funnel.{}.{}",
                if *left { "left" } else { "right" },
                if *clamp { "clamp" } else { "wrap" }
            )
        }
        Op::Lop3(table) => format!("lop3.{table:#04x}"),
        Op::Prmt(mode) => format!("prmt.{}", mode.name()),
        Op::Dp4a { a_signed, b_signed } => format!("dp4a.{}.{}", sign(*a_signed), sign(*b_signed)),
        Op::Dp2a { a_signed, b_signed, hi } => {
            format!("dp2a.{}.{}.{}", if *hi { "hi" } else { "lo" }, sign(*a_signed), sign(*b_signed))
        }
        Op::Fns => "fns".into(),
        Op::Float(op, m) => format!("{}{}", op.name(), mode(m)),
        Op::Fma(m) => format!("fma{}", mode(m)),
        Op::FloatUn(op, m) => format!("{}{}", op.name(), mode(m)),
        Op::Approx { op, fmt, ftz } => format!("{}{}.{}", op.name(), flag(*ftz, ".ftz"), fmt.name()),
        Op::Sfu(op) => op.name().into(),
        Op::FloatCmp { cmp, fmt, ftz } => format!("fcmp.{}{}.{}", cmp.name(), flag(*ftz, ".ftz"), fmt.name()),
        Op::CopySign(fmt) => format!("copysign.{}", fmt.name()),
        Op::Sext { from, to } => format!("sext.{to}.{from}"),
        Op::Zext { from, to } => format!("zext.{to}.{from}"),
        Op::IntSat { from, from_signed, to, to_signed } => {
            format!("int_sat.{}.{to}.{}.{from}", sign(*to_signed), sign(*from_signed))
        }
        Op::FloatToInt { from, to, signed, round, ftz } => {
            let ftz = flag(*ftz, ".ftz");
            format!("float_to_int_{}.{}{ftz}.{to}.{}", sign(*signed), round.name(), from.name())
        }
        Op::IntToFloat { from, signed, mode: m } => {
            format!("int_{}_to_float{}.{from}", sign(*signed), mode(m))
        }
        Op::FloatToFloat { from, mode: m, relu } => {
            format!("float_to_float{}{}.{}", flag(*relu, ".relu"), mode(m), from.name())
        }
        Op::Select(ty) => format!("select.{ty}"),
        Op::Pack { part, whole } => format!("pack.{whole}.{part}"),
        Op::Unpack { part, whole } => format!("unpack.{part}.{whole}"),
        Op::Load { mem, ty, count, offset, guard } => {
            at = i64::from(*offset);
            format!("load{}{}{}", memory(mem), elements(*ty, *count), guarded(*guard))
        }
        Op::Store { mem, ty, count, offset, guard } => {
            at = i64::from(*offset);
            format!("store{}{}{}", memory(mem), elements(*ty, *count), guarded(*guard))
        }
        Op::Atom { op, ty, mem, offset, guard } => {
            at = i64::from(*offset);
            format!("atom.{}{}.{}{}", op.name(), memory(mem), ty.name(), guarded(*guard))
        }
        Op::Fence { order, scope } => format!("fence{}", ordering(*order, *scope)),
        Op::GlobalAddr(id, offset) => {
            (symbol, at) = (Some(Symbol::Global(*id)), *offset);
            "global_addr".into()
        }
        Op::SharedAddr(id, offset) => {
            (symbol, at) = (Some(Symbol::Shared(*id)), *offset);
            "shared_addr".into()
        }
        Op::LocalAddr(slot) => {
            symbol = Some(Symbol::Slot(*slot));
            "local_addr".into()
        }
        Op::FuncAddr(id) => {
            symbol = Some(Symbol::Func(*id));
            "func_addr".into()
        }
        Op::ToGeneric(space) => format!("to_generic.{}", space.name()),
        Op::FromGeneric(space) => format!("from_generic.{}", space.name()),
        Op::IsSpace(space) => format!("is_space.{}", space.name()),
        Op::Prefetch(space, level) => format!("prefetch.{}.{}", space.name(), level.name()),
        Op::Special(register) => format!("special.{}", register.name()),
        Op::Shfl { mode, sync } => format!("shfl{}.{}", flag(*sync, ".sync"), mode.name()),
        Op::Vote { mode, sync } => format!("vote{}.{}", flag(*sync, ".sync"), mode.name()),
        Op::Match(mode, ty) => format!("match.{}.{ty}", mode.name()),
        Op::Redux(op) => format!("redux.{}", op.name()),
        Op::Elect => "elect".into(),
        Op::Agree(ty) => format!("agree.{ty}"),
        Op::ActiveMask => "active_mask".into(),
        Op::WarpSync => "warp_sync".into(),
        Op::Bar { mode } => format!("bar.{}", mode.name()),
        Op::Call(id) => {
            symbol = Some(Symbol::Func(*id));
            "call".into()
        }
        Op::CallIndirect { params, results } => {
            format!("call_indirect ({}) -> ({})", Commas(params), Commas(results))
        }
        Op::Builtin(builtin) => format!("builtin.{}", builtin.name()),
        Op::Bulk(bulk) => format!("bulk.{bulk}"),
        Op::Texture(access) => format!("texture.{}", access.name()),
        Op::Matrix(matrix) => format!("matrix.{}", matrix.name()),
        Op::Yield => "yield".into(),
        Op::Nop => "nop".into(),
    };
    Spelling { name, symbol, offset: at }
}

/// An instruction, with names for its symbols.
fn instruction(inst: &Inst, names: Names<'_>) -> String {
    use fmt::Write as _;
    let Spelling { name, symbol, offset } = spell(&inst.op);
    let mut text = String::new();
    let mut put = |piece: fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = text.write_fmt(piece);
    };
    if !inst.results.is_empty() {
        put(format_args!("{} = ", Commas(&inst.results)));
    }
    put(format_args!("{name}"));
    let mut operands: Vec<String> = symbol.into_iter().map(|s| names.of(s)).collect();
    operands.extend(inst.args.iter().map(Value::to_string));
    if offset != 0
        && let Some(first) = operands.first_mut()
    {
        first.push_str(&format!("{offset:+}"));
    }
    if !operands.is_empty() {
        put(format_args!(" {}", Commas(&operands)));
    }
    text
}

/// A line of a function's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// A block's head.
    Head(Block),
    /// An instruction, by its index in the block.
    Inst(Block, usize),
    /// A block's terminator.
    End(Block),
}

/// A tool's note on a line; empty if there is none.
pub type Notes<'a> = &'a dyn Fn(Line) -> String;

/// A function, with names for the symbols it uses; with notes instead of positions, if there are any.
struct Shown<'a>(&'a Function, Names<'a>, Option<Notes<'a>>);

impl Shown<'_> {
    /// Writes `text`, and as a comment the note on it, or its position if that is known and differs from
    /// `last`.
    fn line(&self, f: &mut Formatter<'_>, text: &str, at: Line, loc: Loc, last: &mut Loc) -> fmt::Result {
        if let Some(notes) = self.2 {
            return match notes(at) {
                note if note.is_empty() => writeln!(f, "{text}"),
                note => writeln!(f, "{text:<COMMENT$} ; {note}"),
            };
        }
        if loc == *last {
            return writeln!(f, "{text}");
        }
        *last = loc;
        if loc == Loc::default() {
            return writeln!(f, "{text:<COMMENT$} ; no line");
        }
        write!(f, "{text:<COMMENT$} ; line {}", loc.line)?;
        if loc.file != 0 {
            let files = self.1.0.map_or(&[][..], |m| &m.files);
            match files.get(loc.file as usize - 1) {
                Some(name) => write!(f, ", {name}:{}", loc.source_line)?,
                None => write!(f, ", file {}:{}", loc.file, loc.source_line)?,
            }
        }
        writeln!(f)
    }

    fn head(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let function = self.0;
        let kind = if function.kernel.is_some() { "kernel" } else { "function" };
        write!(f, "{kind} @{}", function.name)?;
        if function.kernel.is_none() {
            write!(f, "({})", Commas(&function.params()))?;
            if !function.results.is_empty() {
                write!(f, " -> {}", Commas(&function.results))?;
            }
        }
        match function.width {
            Width::W32 => Ok(()),
            Width::W64 => write!(f, " lanes=64"),
        }
    }

    fn kernel(&self, f: &mut Formatter<'_>, info: &KernelInfo) -> fmt::Result {
        if info.param_size != 0 {
            writeln!(f, "    param_size {}", info.param_size)?;
        }
        for (i, p) in info.params.iter().enumerate() {
            writeln!(f, "    param {i}: offset {}, size {}, align {}", p.offset, p.size, p.align)?;
        }
        for fill in &info.fills {
            let (word, number) = fill.what.written();
            writeln!(f, "    fill {word}: {number}, offset {}, size {}", fill.offset, fill.size)?;
        }
        if info.shared_size != 0 {
            writeln!(f, "    shared_size {}", info.shared_size)?;
        }
        for (id, offset) in &info.shared {
            writeln!(f, "    shared {}: offset {offset}", self.1.of(Symbol::Shared(*id)))?;
        }
        if info.required_block != [0; 3] {
            writeln!(f, "    required_block {}", Commas(&info.required_block))?;
        }
        if info.required_cluster != [0; 3] {
            writeln!(f, "    required_cluster {}", Commas(&info.required_cluster))?;
        }
        let limits = [
            ("max_threads", info.max_threads),
            ("min_blocks", info.min_blocks),
            ("max_registers", info.max_registers),
            ("max_cluster", info.max_cluster),
            ("explicit_cluster", info.explicit_cluster.into()),
            ("blocks_are_clusters", info.blocks_are_clusters.into()),
            ("loose_words", info.loose_words.into()),
            ("whole_warps", info.whole_warps.into()),
        ];
        limits.iter().filter(|(_, n)| *n != 0).try_for_each(|(name, n)| writeln!(f, "    {name} {n}"))
    }
}

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Shown(function, names, _) = *self;
        self.head(f)?;
        if function.external {
            return writeln!(f, " external");
        }
        writeln!(f, " {{")?;
        if let Some(info) = &function.kernel {
            self.kernel(f, info)?;
        }
        for (i, slot) in function.slots.iter().enumerate() {
            writeln!(f, "    slot{i}: size {}, align {} ; {}", slot.size, slot.align, slot.name)?;
        }
        let mut last = Loc::default();
        for (id, block) in function.block_ids().zip(&function.blocks) {
            let typed = |v: &Value| match function.values.get(v.index()) {
                Some(ty) => format!("{v}: {ty}"),
                None => format!("{v}: ?"),
            };
            let params: Vec<String> = block.params.iter().map(typed).collect();
            let head = match params.is_empty() {
                true => format!("{id}:"),
                false => format!("{id}({}):", Commas(&params)),
            };
            // A head has no position.
            self.line(f, &head, Line::Head(id), last, &mut last.clone())?;
            for (n, inst) in block.insts.iter().enumerate() {
                let text = format!("    {}", instruction(inst, names));
                self.line(f, &text, Line::Inst(id, n), inst.loc, &mut last)?;
            }
            self.line(f, &format!("    {}", block.term), Line::End(id), block.term_loc, &mut last)?;
        }
        writeln!(f, "}}")
    }
}

impl Display for Function {
    /// Prints the function by itself; the module's symbols are written as numbers.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Shown(self, Names(None), None).fmt(f)
    }
}

impl Module {
    /// Adapts a function of this module for printing, with symbols written by name.
    pub fn shown<'a>(&'a self, function: &'a Function) -> impl Display + 'a {
        Shown(function, Names(Some(self)), None)
    }

    /// The same with notes on its lines.
    pub fn annotated<'a>(&'a self, function: &'a Function, notes: Notes<'a>) -> impl Display + 'a {
        Shown(function, Names(Some(self)), Some(notes))
    }
}

impl Display for SharedVar {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "shared @{}: size {}, align {}", self.name, self.size, self.align)
    }
}

impl Display for Global {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let space = if self.constant { "const" } else { "global" };
        write!(
            f,
            "{space} @{}: offset {}, size {}, align {}",
            self.name, self.offset, self.size, self.align
        )?;
        let reference = match self.reference {
            None => "",
            Some(Reference::Texture) => ", texture",
            Some(Reference::Surface) => ", surface",
        };
        write!(f, "{}{}{reference}", flag(self.exported, ", exported"), flag(self.managed, ", managed"))
    }
}

/// Bytes of an initial value per line.
const BYTES: usize = 32;

fn initial_value(f: &mut Formatter<'_>, global: &Global, names: Names<'_>) -> fmt::Result {
    if global.init.iter().any(|&b| b != 0) {
        for line in global.init.chunks(BYTES) {
            write!(f, "    bytes")?;
            line.iter().try_for_each(|b| write!(f, " {b:02x}"))?;
            writeln!(f)?;
        }
    }
    for Reloc { at, size, shift, target, addend } in &global.relocs {
        let name = names.of(match *target {
            RelocTarget::Global(id) => Symbol::Global(id),
            RelocTarget::Func(id) => Symbol::Func(id),
            RelocTarget::Shared(id) => Symbol::Shared(id),
        });
        write!(f, "    address at {at}: {name}{addend:+}, {size} bytes")?;
        if *shift != 0 {
            write!(f, ", shifted right by {shift}")?;
        }
        writeln!(f)?;
    }
    Ok(())
}

impl Display for Module {
    /// Variables first, then the functions; symbols are written by name.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names = Names(Some(self));
        if self.image_size != 0 {
            writeln!(f, "image: size {}, align {}", self.image_size, self.image_align)?;
        }
        self.files.iter().try_for_each(|file| writeln!(f, "file {file}"))?;
        for global in self.globals.iter() {
            writeln!(f, "{global}")?;
            initial_value(f, global, names)?;
        }
        for shared in self.shared.iter() {
            writeln!(f, "{shared}")?;
        }
        if !self.taken.is_empty() {
            let taken: Vec<String> = self.taken.iter().map(|f| names.of(Symbol::Func(*f))).collect();
            writeln!(f, "taken: {}", taken.join(", "))?;
        }
        let mut apart = !(self.globals.is_empty() && self.shared.is_empty() && self.files.is_empty());
        for function in &self.functions {
            if apart {
                writeln!(f)?;
            }
            apart = true;
            write!(f, "{}", Shown(function, names, None))?;
        }
        Ok(())
    }
}

impl Module {
    /// The text of one function, with the module's names; `None` if there is no such function.
    pub fn function_text(&self, id: FuncId) -> Option<String> {
        self.functions.get(id.index()).map(|f| Shown(f, Names(Some(self)), None).to_string())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::{BTreeSet, HashSet};
    use std::sync::Arc;

    use super::*;
    use crate::func::{Builder, Slot};
    use crate::launch::{Fill, Filled};
    use crate::module::ParamInfo;
    use crate::op::*;
    use crate::types::Fmt;

    fn loc(line: u32) -> Loc {
        Loc { line, file: 1, source_line: line + 30 }
    }

    /// A kernel with one example of each form: constants, addresses with offsets, symbols, calls, block
    /// parameters.
    pub(crate) fn sample() -> Module {
        let mut f = Function {
            name: "scale".into(),
            kernel: Some(KernelInfo {
                params: vec![ParamInfo { offset: 0, size: 8, align: 8 }],
                param_size: 16,
                fills: vec![Fill { offset: 8, size: 4, what: Filled::Grid(1) }],
                max_threads: 256,
                shared: vec![(SharedId(0), 0)],
                shared_size: 64,
                ..KernelInfo::default()
            }),
            slots: vec![Slot { name: "depot".into(), size: 16, align: 8 }],
            ..Function::default()
        };
        let (entry, body, end) = (f.new_block(), f.new_block(), f.new_block());
        let index = f.new_param(body, Ty::I32);
        let mut b = Builder::new(&mut f, entry);
        b.loc = loc(9);
        let zero = b.iconst(Ty::I64, 0);
        let pointer = b.emit1(
            Op::Load {
                mem: MemMode::weak(Space::Param),
                ty: Ty::I64,
                count: 1,
                offset: 0,
                guard: Guard::Always,
            },
            &[zero],
        );
        let tid = b.emit1(Op::Special(SReg::TidX), &[]);
        b.loc = Loc::default();
        let limit = b.iconst(Ty::I32, 0xffff_fffe);
        let inside = b.emit1(Op::IntCmp(IntCmp::LtU, Ty::I32), &[tid, limit]);
        b.terminate(Terminator::Branch {
            cond: inside,
            then: BlockCall { block: body, args: vec![tid] },
            els: BlockCall::to(end),
        });
        let mut b = Builder::new(&mut f, body);
        b.loc = loc(12);
        let pair = b.emit(
            Op::Load {
                mem: MemMode::weak(Space::Global),
                ty: Ty::I32,
                count: 2,
                offset: 16,
                guard: Guard::Always,
            },
            &[pointer],
        );
        let sum = b.emit1(
            Op::Float(FloatOp::Add, FloatMode { ftz: true, ..FloatMode::rn(Fmt::F32) }),
            &[pair[0], pair[1]],
        );
        let table = b.emit1(Op::GlobalAddr(GlobalId(0), 8), &[]);
        let mem = MemMode { space: Space::Global, order: Order::Relaxed, scope: Scope::Gpu };
        let old = b.emit1(
            Op::Atom { op: AtomOp::Add, ty: AtomTy::F32, mem, offset: -4, guard: Guard::Always },
            &[table, sum],
        );
        let called = b.emit_typed(Op::Call(FuncId(1)), &[old, index], &[Ty::I32]);
        let tile = b.emit1(Op::SharedAddr(SharedId(0), 0), &[]);
        b.emit(
            Op::Store {
                mem: MemMode::weak(Space::Shared),
                ty: Ty::I32,
                count: 1,
                offset: 4,
                guard: Guard::Always,
            },
            &[tile, called[0]],
        );
        b.terminate(Terminator::Jump(BlockCall::to(end)));
        Builder::new(&mut f, end).terminate(Terminator::Exit);

        let mut callee = Function { name: "pick".into(), results: vec![Ty::I32], ..Function::default() };
        let entry = callee.new_block();
        let (a, index) = (callee.new_param(entry, Ty::I32), callee.new_param(entry, Ty::I32));
        let mut b = Builder::new(&mut callee, entry);
        let local = b.emit1(Op::LocalAddr(0), &[]);
        b.emit1(
            Op::CallIndirect { params: Box::new([Ty::I32]), results: Box::new([Ty::I32]) },
            &[local, index],
        );
        b.terminate(Terminator::Return(vec![a]));

        Module {
            name: "sample".into(),
            functions: vec![f.into(), callee.into()],
            globals: Arc::new(vec![Global {
                name: "table".into(),
                offset: 0,
                size: 16,
                align: 8,
                constant: false,
                managed: false,
                exported: true,
                reference: None,
                init: vec![1, 2],
                relocs: vec![Reloc {
                    at: 8,
                    size: 8,
                    shift: 0,
                    target: RelocTarget::Func(FuncId(1)),
                    addend: 0,
                }],
            }]),
            shared: Arc::new(vec![SharedVar { name: "tile".into(), size: 64, align: 4 }]),
            taken: Arc::new(BTreeSet::from([FuncId(1)])),
            files: Arc::new(vec!["scale.cu".into()]),
            image_size: 16,
            image_align: 8,
        }
    }

    #[test]
    fn a_module_reads_like_this() {
        let expected = "\
image: size 16, align 8
file scale.cu
global @table: offset 0, size 16, align 8, exported
    bytes 01 02
    address at 8: @pick+0, 8 bytes
shared @tile: size 64, align 4
taken: @pick

kernel @scale {
    param_size 16
    param 0: offset 0, size 8, align 8
    fill grid: 1, offset 8, size 4
    shared_size 64
    shared @tile: offset 0
    max_threads 256
    slot0: size 16, align 8 ; depot
block0:
    v1 = const.i64 0                             ; line 9, scale.cu:39
    v2 = load.param.weak.i64 v1
    v3 = special.tid.x
    v4 = const.i32 -2                            ; no line
    v5 = icmp.lt_u.i32 v3, v4
    br v5, block1(v3), block2
block1(v0: i32):
    v6, v7 = load.global.weak.i32x2 v2+16        ; line 12, scale.cu:42
    v8 = fadd.rn.ftz.f32 v6, v7
    v9 = global_addr @table+8
    v10 = atom.add.global.relaxed.gpu.f32 v9-4, v8
    v11 = call @pick, v10, v0
    v12 = shared_addr @tile
    store.shared.weak.i32 v12+4, v11
    jump block2
block2:
    exit                                         ; no line
}

function @pick(i32, i32) -> i32 {
block0(v0: i32, v1: i32):
    v2 = local_addr slot0
    v3 = call_indirect (i32) -> (i32) v2, v1
    return v0
}
";
        assert_eq!(sample().to_string(), expected);
    }

    #[test]
    fn a_function_alone_has_numbers_for_symbols() {
        let module = sample();
        let alone = module.functions[0].to_string();
        assert!(alone.contains("v9 = global_addr @global0+8\n"), "{alone}");
        assert!(alone.contains("v11 = call @func1, v10, v0\n"), "{alone}");
        assert!(alone.contains("; line 12, file 1:42\n"), "{alone}");
        assert_eq!(module.function_text(FuncId(2)), None);
    }

    /// Different operations have different spellings.
    #[test]
    fn no_two_operations_share_a_spelling() {
        let mut ops = crate::read::op::every();
        for &space in Space::ALL {
            for &order in Order::ALL {
                let mem = MemMode { space, order, scope: Scope::Gpu };
                for (count, &guard) in
                    [1, 2, 4, 8].into_iter().flat_map(|n| Guard::ALL.iter().map(move |g| (n, g)))
                {
                    ops.push(Op::Load { mem, ty: Ty::I16, count, offset: 0, guard });
                    ops.push(Op::Store { mem, ty: Ty::I16, count, offset: 0, guard });
                }
                for (&op, &guard) in AtomOp::ALL.iter().flat_map(|op| Guard::ALL.iter().map(move |g| (op, g)))
                {
                    ops.extend(AtomTy::ALL.iter().map(|&ty| Op::Atom { op, ty, mem, offset: 0, guard }));
                }
            }
        }
        let spellings: HashSet<String> = ops.iter().map(|op| spell(op).name).collect();
        assert_eq!(spellings.len(), ops.len());
    }

    #[test]
    fn constants_keep_their_bits() {
        let cases = [
            (Ty::I1, 1, "1"),
            (Ty::I8, 0x80, "-128"),
            (Ty::I32, 0x3f80_0000, "0x3f800000"),
            (Ty::I64, u128::from(u64::MAX), "-1"),
            (Ty::I128, 1 << 127, "0x80000000000000000000000000000000"),
            (Ty::I16, 65535, "-1"),
        ];
        for (ty, bits, expected) in cases {
            assert_eq!(constant(ty, bits), expected, "{ty} {bits:#x}");
        }
    }
}
