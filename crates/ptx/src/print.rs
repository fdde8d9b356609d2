//! Prints a tree as PTX text that parses to the same tree.

mod body;
mod instruction;

use crate::ast::{
    CodeBlock, Directive, File, Function, FunctionDirective, InitValue, LANGUAGES, Linkage, Module,
    Parameter, Register, Symbol, SymbolRef, Variable,
};
use std::fmt::{self, Display, Formatter, Write as _};

/// Names for ids: the module's, and inside a function also the function's.
#[derive(Clone, Copy)]
struct Names<'a> {
    module: &'a Module,
    function: Option<&'a Function>,
}

impl<'a> Names<'a> {
    fn symbol(self, symbol: Symbol) -> &'a str {
        let found = match symbol {
            Symbol::Global(id) => self.module.globals.get(id.index()).map(|v| &v.name),
            Symbol::Func(id) => self.module.functions.get(id.index()).map(|f| &f.name),
            Symbol::Var(id) => self.function.and_then(|f| f.vars().get(id.index())).map(|v| &v.name),
            Symbol::Label(id) => {
                let body = self.function.and_then(|f| f.body.as_ref());
                body.and_then(|b| b.labels.get(id.index())).map(|l| &l.name)
            }
        };
        found.map_or("_", String::as_str)
    }
}

/// Adapts a value that needs names to `Display`.
struct Shown<'a, T: ?Sized>(&'a T, Names<'a>);

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, ".version {}", self.version)?;
        write!(f, ".target ")?;
        separated(f, ", ", &self.target)?;
        writeln!(f)?;
        if self.address_size_written {
            writeln!(f, ".address_size {}", self.address_size)?;
        }
        let names = Names { module: self, function: None };
        let mut written = vec![0_u32; self.globals.len()];
        let mut all = written.clone();
        for directive in &self.directives {
            if let Directive::Variable(id) = directive
                && let Some(n) = all.get_mut(id.index())
            {
                *n += 1;
            }
        }
        for directive in &self.directives {
            match directive {
                Directive::Variable(id) => {
                    let (Some(variable), Some(seen), Some(total)) =
                        (self.globals.get(id.index()), written.get_mut(id.index()), all.get(id.index()))
                    else {
                        continue;
                    };
                    *seen += 1;
                    if *seen < *total {
                        // Only declared here; the definition follows.
                        let declared = Variable { linkage: Linkage::Extern, init: None, ..variable.clone() };
                        writeln!(f, "{};", Shown(&declared, names))?;
                    } else {
                        writeln!(f, "{};", Shown(variable, names))?;
                    }
                }
                Directive::Declaration(id) | Directive::Definition(id) => {
                    if let Some(function) = self.functions.get(id.index()) {
                        let names = Names { module: self, function: Some(function) };
                        let with_body = matches!(directive, Directive::Definition(_));
                        print_function(f, function, names, with_body)?;
                    }
                }
                Directive::Alias { alias, aliasee, .. } => {
                    let name = |id| names.symbol(Symbol::Func(id));
                    writeln!(f, ".alias {}, {};", name(*alias), name(*aliasee))?;
                }
                Directive::File(File { index, name, stamp }) => {
                    write!(f, ".file {index} \"{name}\"")?;
                    if let Some((time, size)) = stamp {
                        write!(f, ", {time}, {size}")?;
                    }
                    writeln!(f)?;
                }
                Directive::Section { name, text, .. } => writeln!(f, ".section {name} {{\n{text}\n}}")?,
                Directive::Pragma(texts) => writeln!(f, "{}", Pragma(texts))?,
                Directive::IntermediateSources(blocks) => {
                    writeln!(f, ".nv_intermediate_source_section {{")?;
                    for CodeBlock { language, file, text } in blocks {
                        writeln!(f, ".code_block {{\n.ir_name: \"{language}\"\n.sourceFileName: {file}")?;
                        writeln!(f, ".source_begin\n{text}\n.source_end\n}}")?;
                    }
                    writeln!(f, "}}")?;
                }
                Directive::Loc(loc) => writeln!(f, "{loc}")?,
                Directive::Dwarf(text) => writeln!(f, "@@DWARF {text}")?,
            }
        }
        Ok(())
    }
}

fn separated<T: Display>(f: &mut Formatter<'_>, by: &str, items: impl IntoIterator<Item = T>) -> fmt::Result {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            f.write_str(by)?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

struct Pragma<'a>(&'a [String]);

impl Display for Pragma<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(".pragma ")?;
        separated(f, ", ", self.0.iter().map(|t| format!("\"{t}\"")))?;
        f.write_char(';')
    }
}

fn linkage(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Internal => "",
        Linkage::Extern => ".extern ",
        Linkage::Visible => ".visible ",
        Linkage::Weak => ".weak ",
        Linkage::Common => ".common ",
    }
}

impl Display for Shown<'_, Variable> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Shown(v, names) = self;
        write!(f, "{}{}", linkage(v.linkage), v.space)?;
        match (v.managed, v.unified) {
            (true, Some((a, b))) => write!(f, " .attribute(.managed, .unified({a}, {b}))")?,
            (true, None) => f.write_str(" .attribute(.managed)")?,
            (false, Some((a, b))) => write!(f, " .attribute(.unified({a}, {b}))")?,
            (false, None) => {}
        }
        if let Some(align) = v.align {
            write!(f, " .align {align}")?;
        }
        if v.vector > 1 {
            write!(f, " .v{}", v.vector)?;
        }
        write!(f, " {}", v.ty)?;
        if let Some(ptr) = &v.ptr {
            f.write_str(" .ptr")?;
            if let Some(space) = ptr.space {
                write!(f, " {space}")?;
            }
            if let Some(align) = ptr.align {
                write!(f, " .align {align}")?;
            }
        }
        write!(f, " {}", v.name)?;
        for dim in &v.dims {
            match dim {
                Some(n) => write!(f, "[{n}]")?,
                None => f.write_str("[]")?,
            }
        }
        match &v.init {
            Some(init) => write!(f, " = {}", Shown(init, *names)),
            None => Ok(()),
        }
    }
}

impl Display for Shown<'_, InitValue> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Shown(value, names) = self;
        match value {
            InitValue::Int(i) => write!(f, "{i}"),
            InitValue::F32(b) => write!(f, "0f{b:08X}"),
            InitValue::F64(b) => write!(f, "0d{b:016X}"),
            InitValue::Address { target: SymbolRef { symbol, offset }, generic, mask } => {
                if let Some(mask) = mask {
                    write!(f, "{mask:#x}(")?;
                }
                let name = names.symbol(*symbol);
                if *generic {
                    write!(f, "generic({name})")?;
                } else {
                    f.write_str(name)?;
                }
                write!(f, "{}", Offset(*offset))?;
                if mask.is_some() { f.write_char(')') } else { Ok(()) }
            }
            InitValue::List(values) => {
                f.write_char('{')?;
                separated(f, ", ", values.iter().map(|v| Shown(v, *names)))?;
                f.write_char('}')
            }
        }
    }
}

/// `+8`, `+-8`, or nothing for 0.
struct Offset(i64);

impl Display for Offset {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { Ok(()) } else { write!(f, "+{}", self.0) }
    }
}

fn print_function(
    f: &mut Formatter<'_>,
    function: &Function,
    names: Names<'_>,
    with_body: bool,
) -> fmt::Result {
    let kind = if function.is_entry { ".entry" } else { ".func" };
    write!(f, "{}{kind} ", linkage(function.linkage))?;
    let show = |p: &Parameter| parameter(function, *p, names);
    if !function.returns.is_empty() {
        f.write_char('(')?;
        separated(f, ", ", function.returns.iter().map(show))?;
        f.write_str(") ")?;
    }
    write!(f, "{}(", function.name)?;
    separated(f, ", ", function.params.iter().map(show))?;
    f.write_char(')')?;
    for directive in &function.directives {
        write!(f, "\n{directive}")?;
    }
    match &function.body {
        Some(body) if with_body => {
            writeln!(f, "\n{{")?;
            body::print(f, body, names)?;
            writeln!(f, "}}")
        }
        _ => writeln!(f, ";"),
    }
}

fn parameter(function: &Function, parameter: Parameter, names: Names<'_>) -> String {
    match parameter {
        Parameter::Var(id) => {
            function.vars().get(id.index()).map_or(String::new(), |v| Shown(v, names).to_string())
        }
        Parameter::Reg(id) => function.regs().get(id.index()).map_or(String::new(), register),
    }
}

/// `.reg .b32 name`
fn register(register: &Register) -> String {
    format!(".reg {}{} {}", vector(register.vector), register.ty, register.name)
}

fn vector(n: u8) -> String {
    if n > 1 { format!(".v{n} ") } else { String::new() }
}

impl Display for FunctionDirective {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        use FunctionDirective as D;
        match self {
            D::MaxNtid([x, y, z]) => write!(f, ".maxntid {x}, {y}, {z}"),
            D::ReqNtid([x, y, z]) => write!(f, ".reqntid {x}, {y}, {z}"),
            D::ReqNctaPerCluster([x, y, z]) => write!(f, ".reqnctapercluster {x}, {y}, {z}"),
            D::MinNctaPerSm(n) => write!(f, ".minnctapersm {n}"),
            D::MaxNctaPerSm(n) => write!(f, ".maxnctapersm {n}"),
            D::MaxNreg(n) => write!(f, ".maxnreg {n}"),
            D::MaxClusterRank(n) => write!(f, ".maxclusterrank {n}"),
            D::AbiPreserve(n) => write!(f, ".abi_preserve {n}"),
            D::AbiPreserveControl(n) => write!(f, ".abi_preserve_control {n}"),
            D::LocalMaxNreg(n) => write!(f, ".local_maxnreg {n}"),
            D::NoReturn => f.write_str(".noreturn"),
            D::Pragma(texts) => write!(f, "{}", Pragma(texts)),
            D::ExplicitCluster => f.write_str(".explicitcluster"),
            D::BlocksAreClusters => f.write_str(".blocksareclusters"),
            D::Unified(a, b) => write!(f, ".attribute(.unified({a}, {b}))"),
            D::MinPerCtaMemory(n) => write!(f, ".minperctamemory {n}"),
            D::Language(codes) => {
                let one = |code: &u8| match LANGUAGES.get(usize::from(*code)).copied().flatten() {
                    Some(name) => format!("\"{name}\""),
                    None => code.to_string(),
                };
                write!(f, ".language {}", codes.iter().map(one).collect::<Vec<_>>().join(", "))
            }
        }
    }
}
