//! Prints LLVM IR as text, with the `Display` of types and metadata. Nothing outside `ir` writes it.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use super::constants::{Constants, Long};
use super::metadata::{FIRST, NOTHING, SECOND, UNROLLED};
use super::operand::Is;
use super::{
    Access, Argument, Bin, Block, Callee, Cast, Cmp, Elem, Fcmp, Function, Global, Initialiser, Inst, Likely,
    LlvmModule, Name, Note, Op, Operand, Order, Processor, Rmw, Signature, Target, Type,
};

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Some(number) => write!(f, "{}.{number}", self.word),
            None => f.write_str(self.word),
        }
    }
}

impl LlvmModule {
    /// The module's text for a processor.
    pub fn print(&self, processor: &Processor<'_>) -> String {
        let mut out = String::new();
        for global in &self.globals {
            let _ = writeln!(out, "{}", Shown(global));
        }
        let mut declared = BTreeSet::new();
        for function in &self.functions {
            self.function(function, &mut out, &mut declared);
        }
        for declaration in declared {
            let _ = writeln!(out, "declare {declaration}");
        }
        let _ = writeln!(out, "attributes #0 = {{ {processor} }}");
        self.metadata(&mut out);
        out
    }

    /// Functions as text to append to the module's. They call no intrinsics but those that the module's
    /// functions call.
    pub fn print_more(&self, functions: &[Function]) -> String {
        let mut out = String::new();
        for function in functions {
            self.function(function, &mut out, &mut BTreeSet::new());
        }
        out
    }

    /// A function as [`LlvmModule::print`] writes it. Adds the declarations of the intrinsics that it calls
    /// to `declared`.
    pub(super) fn function(&self, function: &Function, out: &mut String, declared: &mut BTreeSet<String>) {
        let a = function.attributes;
        let linkage = if a.internal { "internal " } else { "" };
        let list: Vec<String> = function
            .parameters
            .iter()
            .map(|p| format!("{}{} %{}", p.ty, if p.no_alias { " noalias" } else { "" }, p.name))
            .collect();
        let _ = write!(out, "define {linkage}{} @{}({})", function.returns, function.name, list.join(", "));
        for (set, word) in [
            (a.always_inline, " alwaysinline"),
            (a.cold, " cold"),
            (a.no_inline, " noinline"),
            (a.will_return, " willreturn"),
            (a.no_memory, " memory(none)"),
        ] {
            out.push_str(if set { word } else { "" });
        }
        out.push_str(" #0");
        if let Some(scope) = function.scope {
            let _ = write!(out, " !dbg {}", scope.function());
        }
        out.push_str(" {\n");
        self.blocks(&function.blocks, out);
        for inst in function.blocks.iter().flat_map(|b| &b.insts) {
            if let Op::Call { callee: callee @ Callee::Intrinsic(..), returns, arguments, .. } = &inst.op {
                let types: Vec<String> = arguments.iter().map(|a| a.value.ty.to_string()).collect();
                declared.insert(format!("{returns} {}({})", In(&self.constants, callee), types.join(", ")));
            }
        }
        out.push_str("}\n");
    }

    /// The text of a list of blocks.
    pub(super) fn blocks(&self, blocks: &[Block], out: &mut String) {
        for block in blocks {
            let _ = writeln!(out, "{}:", block.label);
            for inst in &block.insts {
                let _ = writeln!(out, "  {}", In(&self.constants, inst));
            }
        }
    }
}

/// Displays an item without operands.
struct Shown<'a, T>(&'a T);

impl fmt::Display for Shown<'_, Global> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Global { name, value, align } = self.0;
        write!(f, "@{name} = internal constant ")?;
        match value {
            Initialiser::Zeros(ty, count) => write!(f, "[{count} x {ty}] zeroinitializer")?,
            Initialiser::Int(ty, value) => write!(f, "{ty} {value}")?,
            Initialiser::Ints(ty, values) => {
                let list: Vec<String> = values.iter().map(|v| format!("{ty} {v}")).collect();
                write!(f, "[{} x {ty}] [{}]", values.len(), list.join(", "))?;
            }
            Initialiser::Floats(ty, values) => {
                let list: Vec<String> = values.iter().map(|v| format!("{ty} {v:#018x}")).collect();
                write!(f, "[{} x {ty}] [{}]", values.len(), list.join(", "))?;
            }
        }
        if *align > 0 { write!(f, ", align {align}") } else { Ok(()) }
    }
}

/// Displays an item whose operands may be long constants.
struct In<'a, T>(&'a Constants, &'a T);

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Signature::One(ty) => ty.fmt(f),
            Signature::Several(types) => Shown(&types[..].to_vec()).fmt(f),
        }
    }
}

impl fmt::Display for Shown<'_, Vec<Type>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{ ")?;
        list(f, self.0.iter())?;
        f.write_str(" }")
    }
}

/// Writes items separated by commas.
fn list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: impl Iterator<Item = T>) -> fmt::Result {
    for (i, item) in items.enumerate() {
        write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
    }
    Ok(())
}

/// An integer as LLVM writes it.
fn integer(f: &mut fmt::Formatter<'_>, elem: Elem, value: i64) -> fmt::Result {
    match elem {
        Elem::Int(1) => f.write_str(if value == 0 { "false" } else { "true" }),
        _ => write!(f, "{value}"),
    }
}

/// The value without its type.
impl fmt::Display for In<'_, Operand> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let In(constants, operand) = self;
        let elem = operand.ty.elem();
        match operand.is {
            Is::Int(0) if operand.ty.is_vector() || !matches!(elem, Elem::Int(_)) => {
                f.write_str("zeroinitializer")
            }
            Is::Int(value) if operand.ty.is_vector() => {
                write!(f, "splat ({elem} ")?;
                integer(f, elem, value)?;
                f.write_str(")")
            }
            Is::Int(value) => integer(f, elem, value),
            Is::Long(kept) => match constants.get(kept) {
                Long::Int(value) if operand.ty.is_vector() => write!(f, "splat ({elem} {value})"),
                Long::Int(value) => write!(f, "{value}"),
                Long::Elements(values) => {
                    for (i, value) in values.iter().enumerate() {
                        write!(f, "{}{elem} ", if i == 0 { "<" } else { ", " })?;
                        integer(f, elem, *value)?;
                    }
                    f.write_str(">")
                }
            },
            Is::Poison => f.write_str("poison"),
            Is::Undef => f.write_str("undef"),
            Is::Register(number) => write!(f, "%t{number}"),
            Is::Local(name) => write!(f, "%{name}"),
            Is::Global(name) => write!(f, "@{name}"),
            // The builder has replaced it by a vector.
            Is::Mask(number) => write!(f, "%mask.{number}"),
        }
    }
}

/// Displays an operand with its type.
struct Typed<'a>(&'a Constants, &'a Operand);

impl fmt::Display for Typed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.1.ty, In(self.0, self.1))
    }
}

impl fmt::Display for In<'_, Argument> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let In(constants, Argument { value, note }) = self;
        write!(f, "{} ", value.ty)?;
        match note {
            Note::None => {}
            Note::Align(bytes) => write!(f, "align {bytes} ")?,
            Note::ZeroExt => f.write_str("zeroext ")?,
            Note::Element(ty) => write!(f, "elementtype({ty}) ")?,
        }
        In(constants, value).fmt(f)
    }
}

impl fmt::Display for In<'_, Callee> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Callee::Function(name) => write!(f, "@{name}"),
            Callee::Pointer(at) => In(self.0, at).fmt(f),
            Callee::Intrinsic(name, overloads, _) => {
                write!(f, "@{name}")?;
                overloads.iter().flatten().try_for_each(|ty| write!(f, ".{}", ty.suffix()))
            }
            Callee::Assembly { text, constraints, side_effect } => {
                let effect = if *side_effect { "sideeffect " } else { "" };
                write!(f, "asm {effect}\"{text}\", \"{constraints}\"")
            }
        }
    }
}

/// Writes what follows the operands of a load or store.
fn after(f: &mut fmt::Formatter<'_>, access: &Access) -> fmt::Result {
    if access.order != Order::Plain {
        write!(f, " {}", order(access.order))?;
    }
    if access.align > 0 {
        write!(f, ", align {}", access.align)?;
    }
    if access.invariant {
        write!(f, ", !invariant.load {NOTHING}")?;
    }
    Ok(())
}

/// The keywords before the operands of a load or store.
fn before(access: &Access) -> &'static str {
    match (access.order != Order::Plain, access.volatile) {
        (false, false) => "",
        (false, true) => "volatile ",
        (true, false) => "atomic ",
        (true, true) => "atomic volatile ",
    }
}

impl fmt::Display for In<'_, Inst> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let In(constants, inst) = self;
        match inst.result {
            Some(Target::Register(number)) => write!(f, "%t{number} = ")?,
            Some(Target::Name(name)) => write!(f, "%{name} = ")?,
            None => {}
        }
        In(constants, &inst.op).fmt(f)?;
        inst.place.location().map_or(Ok(()), |at| write!(f, ", !dbg {at}"))
    }
}

impl fmt::Display for In<'_, Op> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let c = self.0;
        let v = |operand| In(c, operand);
        let t = |operand| Typed(c, operand);
        match self.1 {
            Op::Bin(op, a, b) => write!(f, "{} {}, {}", bin(*op), t(a), v(b)),
            Op::Icmp(cmp, a, b) => write!(f, "icmp {} {}, {}", cmp_word(*cmp), t(a), v(b)),
            Op::Fcmp(cmp, a, b) => write!(f, "fcmp {} {}, {}", float_cmp(*cmp), t(a), v(b)),
            Op::FNeg(a) => write!(f, "fneg {}", t(a)),
            Op::Select(condition, a, b) => write!(f, "select {}, {}, {}", t(condition), t(a), t(b)),
            Op::Cast(how, a, to) => write!(f, "{} {} to {to}", cast(*how), t(a)),
            Op::Freeze(a) => write!(f, "freeze {}", t(a)),
            Op::ExtractElement(vector, index) => write!(f, "extractelement {}, {}", t(vector), t(index)),
            Op::InsertElement(vector, one, index) => {
                write!(f, "insertelement {}, {}, {}", t(vector), t(one), t(index))
            }
            Op::ShuffleVector(a, b, picks) => {
                write!(f, "shufflevector {}, {}, <{} x i32> ", t(a), t(b), picks.len())?;
                if picks.iter().all(|p| *p == 0) {
                    return f.write_str("zeroinitializer");
                }
                f.write_str("<")?;
                list(f, picks.iter().map(|p| format!("i32 {p}")))?;
                f.write_str(">")
            }
            Op::ExtractValue(of, types, index) => {
                write!(f, "extractvalue {} %t{of}, {index}", Shown(&types.to_vec()))
            }
            Op::InsertValue(into, types, value, index) => {
                let into = into.map_or_else(|| "poison".to_string(), |r| format!("%t{r}"));
                write!(f, "insertvalue {} {into}, {}, {index}", Shown(&types.to_vec()), t(value))
            }
            Op::Load(ty, at, access) => {
                write!(f, "load {}{ty}, {}", before(access), t(at))?;
                after(f, access)
            }
            Op::Store(value, at, access) => {
                write!(f, "store {}{}, {}", before(access), t(value), t(at))?;
                after(f, access)
            }
            Op::GetElementPtr(ty, base, index) => write!(f, "getelementptr {ty}, {}, {}", t(base), t(index)),
            Op::CmpXchg { at, old, new, align } => {
                write!(f, "cmpxchg {}, {}, {} seq_cst seq_cst, align {align}", t(at), t(old), t(new))
            }
            Op::AtomicRmw { op, at, value, align } => {
                write!(f, "atomicrmw {} {}, {} seq_cst, align {align}", rmw(*op), t(at), t(value))
            }
            Op::Fence { order: o, one_thread } => {
                let scope = if *one_thread { "syncscope(\"singlethread\") " } else { "" };
                write!(f, "fence {scope}{}", order(*o))
            }
            Op::Call { callee, returns, arguments, no_inline } => {
                write!(f, "call {returns} {}(", In(c, callee))?;
                list(f, arguments.iter().map(|a| In(c, a)))?;
                write!(f, "){}", if *no_inline { " noinline" } else { "" })
            }
            Op::Phi(ty, values) => {
                write!(f, "phi {ty} ")?;
                list(f, values.iter().map(|(value, from)| format!("[ {}, %{from} ]", v(value))))
            }
            Op::Alloca { name, ty, count, align } => {
                if *count == 1 {
                    write!(f, "%{name} = alloca {ty}, align {align}")
                } else {
                    write!(f, "%{name} = alloca [{count} x {ty}], align {align}")
                }
            }
            Op::Br(to) => write!(f, "br label %{to}"),
            Op::CondBr(condition, then, els, likely) => {
                write!(f, "br {}, label %{then}, label %{els}", t(condition))?;
                match likely {
                    Likely::Unknown => Ok(()),
                    Likely::First => write!(f, ", !prof {FIRST}"),
                    Likely::Second => write!(f, ", !prof {SECOND}"),
                    Likely::Unrolled => write!(f, ", !llvm.loop {UNROLLED}"),
                }
            }
            Op::Switch(index, other, cases) => {
                write!(f, "switch {}, label %{other} [", t(index))?;
                for (value, to) in cases {
                    write!(f, " {} {value}, label %{to}", index.ty)?;
                }
                f.write_str(" ]")
            }
            Op::Ret(Some(value)) => write!(f, "ret {}", t(value)),
            Op::Ret(None) => f.write_str("ret void"),
            Op::RetSeveral(register, types) => write!(f, "ret {} %t{register}", Shown(&types.to_vec())),
            Op::Unreachable => f.write_str("unreachable"),
        }
    }
}

fn bin(op: Bin) -> &'static str {
    match op {
        Bin::Add => "add",
        Bin::Sub => "sub",
        Bin::SubNsw => "sub nsw",
        Bin::Mul => "mul",
        Bin::UDiv => "udiv",
        Bin::SDiv => "sdiv",
        Bin::URem => "urem",
        Bin::SRem => "srem",
        Bin::And => "and",
        Bin::Or => "or",
        Bin::Xor => "xor",
        Bin::Shl => "shl",
        Bin::LShr => "lshr",
        Bin::AShr => "ashr",
        Bin::FAdd => "fadd",
        Bin::FSub => "fsub",
        Bin::FMul => "fmul",
        Bin::FDiv => "fdiv",
    }
}

fn cmp_word(cmp: Cmp) -> &'static str {
    match cmp {
        Cmp::Eq => "eq",
        Cmp::Ne => "ne",
        Cmp::Slt => "slt",
        Cmp::Sle => "sle",
        Cmp::Sgt => "sgt",
        Cmp::Sge => "sge",
        Cmp::Ult => "ult",
        Cmp::Ule => "ule",
        Cmp::Ugt => "ugt",
        Cmp::Uge => "uge",
    }
}

fn float_cmp(cmp: Fcmp) -> &'static str {
    match cmp {
        Fcmp::Oeq => "oeq",
        Fcmp::One => "one",
        Fcmp::Olt => "olt",
        Fcmp::Ole => "ole",
        Fcmp::Ogt => "ogt",
        Fcmp::Oge => "oge",
        Fcmp::Ueq => "ueq",
        Fcmp::Une => "une",
        Fcmp::Ult => "ult",
        Fcmp::Ule => "ule",
        Fcmp::Ugt => "ugt",
        Fcmp::Uge => "uge",
        Fcmp::Ord => "ord",
        Fcmp::Uno => "uno",
    }
}

fn cast(how: Cast) -> &'static str {
    match how {
        Cast::Trunc => "trunc",
        Cast::ZExt => "zext",
        Cast::SExt => "sext",
        Cast::FpTrunc => "fptrunc",
        Cast::FpExt => "fpext",
        Cast::SiToFp => "sitofp",
        Cast::UiToFp => "uitofp",
        Cast::FpToSi => "fptosi",
        Cast::FpToUi => "fptoui",
        Cast::Bitcast => "bitcast",
        Cast::IntToPtr => "inttoptr",
        Cast::PtrToInt => "ptrtoint",
    }
}

fn order(order: Order) -> &'static str {
    match order {
        Order::Plain => "",
        Order::Monotonic => "monotonic",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq_rel",
        Order::SeqCst => "seq_cst",
    }
}

fn rmw(op: Rmw) -> &'static str {
    match op {
        Rmw::Xchg => "xchg",
        Rmw::Add => "add",
        Rmw::And => "and",
        Rmw::Or => "or",
        Rmw::Xor => "xor",
        Rmw::Max => "max",
        Rmw::Min => "min",
        Rmw::UMax => "umax",
        Rmw::UMin => "umin",
        Rmw::UIncWrap => "uinc_wrap",
        Rmw::UDecWrap => "udec_wrap",
    }
}
