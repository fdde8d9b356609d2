//! The typed tree of a module.
//!
//! Names are resolved while parsing: operands hold ids ([`RegId`], [`VarId`], [`GlobalId`], [`FuncId`],
//! [`LabelId`]) that index the tables of [`Module`] and [`Body`], so nobody who reads the tree looks a name up.

mod instruction;
mod operand;
mod special;
mod variable;

pub use instruction::{CallParts, Guard, Instruction};
pub use operand::{
    Address, AddressBase, Component, ElementRef, Integer, Operand, OperandKind, Symbol, SymbolRef,
    VariableRef,
};
pub use special::SpecialReg;
pub use variable::{Image, InitValue, Linkage, PtrAttribute, Relocation, Variable};

use crate::span::Span;
use crate::types::{ScalarType, Target, Version};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name(pub u32);

            impl $name {
                /// The index into the table.
                pub fn index(self) -> usize {
                    self.0 as usize
                }
            }
        )*
    };
}

ids! {
    /// Index into [`Module::globals`].
    GlobalId;
    /// Index into [`Module::functions`].
    FuncId;
    /// Index into [`Body::regs`].
    RegId;
    /// Index into [`Body::vars`].
    VarId;
    /// Index into [`Body::labels`].
    LabelId;
}

/// A whole PTX text.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// `.version`
    pub version: Version,
    /// `.target`, in written order.
    pub target: Vec<Target>,
    /// Size of an address in bits: 64. The manual says 32 where `.address_size` is not written; drivers of 64-bit
    /// programs compile such modules for 64 bits, and refuse modules that ask for 32.
    pub address_size: u8,
    /// Whether `.address_size` was written.
    pub address_size_written: bool,
    /// Everything else, in written order.
    pub directives: Vec<Directive>,
    /// Variables of module scope. A variable declared `.extern` and defined later has one entry.
    pub globals: Vec<Variable>,
    /// Functions and kernels. A function that is declared and defined has one entry.
    pub functions: Vec<Function>,
}

/// A directive of module scope.
#[derive(Clone, Debug, PartialEq)]
pub enum Directive {
    /// A variable's declaration or definition.
    Variable(GlobalId),
    /// A function's declaration, which ends with a semicolon.
    Declaration(FuncId),
    /// A function's definition, with its body.
    Definition(FuncId),
    /// `.alias name, aliasee;`
    Alias {
        /// The declared function that gets a body so.
        alias: FuncId,
        /// The function whose body it gets.
        aliasee: FuncId,
        /// Where it stands.
        span: Span,
    },
    /// `.file index "name"{, timestamp, size}`
    File(File),
    /// `.section name { … }`: DWARF data, kept as written.
    Section {
        /// Name with its leading dot.
        name: String,
        /// What stands between the braces, as written.
        text: String,
        /// Where it stands.
        span: Span,
    },
    /// `.nv_intermediate_source_section { … }`: sources in an intermediate language (PTX ISA 11.5.6).
    IntermediateSources(Vec<CodeBlock>),
    /// `.pragma "…";`
    Pragma(Vec<String>),
    /// `.loc` outside of functions, as old compilers wrote it.
    Loc(Loc),
    /// `@@DWARF …`: DWARF data of old compilers, kept as written, without the prefix.
    Dwarf(String),
}

/// `.code_block`: a source in an intermediate language, of which a compiler made the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBlock {
    /// The language.
    pub language: String,
    /// Number of a [`File`].
    pub file: u32,
    /// The lines between `.source_begin` and `.source_end`.
    pub text: String,
}

/// `.file`: a source file that `.loc` names by number.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// The number.
    pub index: u32,
    /// The path.
    pub name: String,
    /// Time of last change and size in bytes, if written.
    pub stamp: Option<(u64, u64)>,
}

/// A kernel (`.entry`) or a device function (`.func`).
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name, as written (usually mangled).
    pub name: String,
    /// `.entry`
    pub is_entry: bool,
    /// `.extern`, `.visible`, `.weak`; local to the module if none.
    pub linkage: Linkage,
    /// What a `.func` returns.
    pub returns: Vec<Parameter>,
    /// What it takes.
    pub params: Vec<Parameter>,
    /// Performance and other directives between the head and the body.
    pub directives: Vec<FunctionDirective>,
    /// The instructions; none if the function is declared only.
    pub body: Option<Body>,
    /// Registers and variables of the head. With a body, those of the body hold these at the same ids.
    pub head: Head,
    /// The name's place.
    pub span: Span,
}

/// What a function's head declares, where there is no body to hold it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    /// Parameters in `.reg`.
    pub regs: Vec<Register>,
    /// Parameters in `.param`.
    pub vars: Vec<Variable>,
}

/// A formal parameter or a return parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// `.param`: index into the function's variables.
    Var(VarId),
    /// `.reg`: index into the function's registers.
    Reg(RegId),
}

/// A directive between a function's head and its body (PTX ISA 11.4 and others).
#[derive(Clone, Debug, PartialEq)]
pub enum FunctionDirective {
    /// `.maxntid nx{, ny{, nz}}`, with 1 for what is not written.
    MaxNtid([u32; 3]),
    /// `.reqntid nx{, ny{, nz}}`, with 1 for what is not written.
    ReqNtid([u32; 3]),
    /// `.minnctapersm n`
    MinNctaPerSm(u32),
    /// `.maxnctapersm n`
    MaxNctaPerSm(u32),
    /// `.maxnreg n`
    MaxNreg(u32),
    /// `.noreturn`
    NoReturn,
    /// `.pragma "…";`
    Pragma(Vec<String>),
    /// `.explicitcluster`
    ExplicitCluster,
    /// `.reqnctapercluster nx{, ny{, nz}}`
    ReqNctaPerCluster([u32; 3]),
    /// `.maxclusterrank n`
    MaxClusterRank(u32),
    /// `.blocksareclusters`
    BlocksAreClusters,
    /// `.abi_preserve n`
    AbiPreserve(u32),
    /// `.abi_preserve_control n`
    AbiPreserveControl(u32),
    /// `.local_maxnreg n`
    LocalMaxNreg(u32),
    /// `.attribute(.unified(a, b))` on a function.
    Unified(u64, u64),
    /// `.minperctamemory n`: bytes of global memory that each block of the kernel is to have for itself (PTX ISA 11.4.10).
    MinPerCtaMemory(u32),
    /// `.language "a", "b"`: the languages that the function was made of, as numbers that index [`LANGUAGES`] (PTX ISA 11.8.2).
    Language(Vec<u8>),
}

/// The names that `.language` gives to its numbers; those without a name are kept for later.
pub const LANGUAGES: [Option<&str>; 11] = [
    Some("unknown"),
    None,
    None,
    Some("ptx"),
    Some("nvvm"),
    Some("cuda c++"),
    Some("cuda c++ tile"),
    Some("tile ir"),
    Some("python-cutile"),
    Some("fortran"),
    Some("optix"),
];

/// A function's body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// Everything between the braces, in order; nested scopes are bracketed by
    /// [`StatementKind::ScopeOpen`] and [`StatementKind::ScopeClose`].
    pub statements: Vec<Statement>,
    /// Every register that is declared singly or used; `%r<1000>` brings in those of its thousand that the body names.
    pub regs: Vec<Register>,
    /// Parameters first, then variables declared in the body.
    pub vars: Vec<Variable>,
    /// Labels, of code and of tables.
    pub labels: Vec<Label>,
}

/// A register.
#[derive(Clone, Debug, PartialEq)]
pub struct Register {
    /// The name as instructions write it.
    pub name: String,
    /// The type of one element.
    pub ty: ScalarType,
    /// Elements: 1, 2, 4 or 8.
    pub vector: u8,
    /// Where it was declared.
    pub span: Span,
}

/// A label of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The name.
    pub name: String,
    /// Index into [`Body::statements`] of the statement `name:`.
    pub statement: u32,
    /// What stands at the label.
    pub kind: LabelKind,
}

/// What stands at a label.
#[derive(Clone, Debug, PartialEq)]
pub enum LabelKind {
    /// An instruction follows.
    Code,
    /// `.branchtargets L1, L2, …;`
    BranchTargets(Vec<LabelId>),
    /// `.calltargets f1, f2, …;`
    CallTargets(Vec<FuncId>),
    /// `.callprototype …;`
    CallPrototype(Box<Prototype>),
}

/// `.callprototype (returns) _ (params) {.noreturn} …;`
#[derive(Clone, Debug, PartialEq)]
pub struct Prototype {
    /// Return parameters; their names are mostly `_`.
    pub returns: Vec<PrototypeParameter>,
    /// Parameters; their names are mostly `_`.
    pub params: Vec<PrototypeParameter>,
    /// `.noreturn`, `.abi_preserve` and the like.
    pub directives: Vec<FunctionDirective>,
}

/// A parameter of a prototype.
#[derive(Clone, Debug, PartialEq)]
pub enum PrototypeParameter {
    /// `.param`
    Var(Variable),
    /// `.reg`
    Reg(Register),
}

/// One statement of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// Where it stands.
    pub span: Span,
}

/// What a statement is.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// An instruction.
    Instruction(Instruction),
    /// `name:`, also in front of `.branchtargets` and the like, which the label's entry holds.
    Label(LabelId),
    /// `{`
    ScopeOpen,
    /// `}`
    ScopeClose,
    /// `.reg …;`
    Registers(RegisterDeclaration),
    /// `.shared …;`, `.local …;`, `.param …;` and so on: one variable.
    Variable(VarId),
    /// `.loc`
    Loc(Loc),
    /// `.loc_intermediate`: where the instruction that follows stands in a source in an intermediate language (PTX ISA 11.5.5); never inlined.
    IntermediateLoc(Loc),
    /// `.pragma "…";`
    Pragma(Vec<String>),
}

/// `.reg {.v2} .type names;`
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterDeclaration {
    /// The type of an element.
    pub ty: ScalarType,
    /// Elements: 1, 2, 4 or 8.
    pub vector: u8,
    /// The names; `%r<10>` is `("%r", Some(10))`.
    pub names: Vec<(String, Option<u32>)>,
}

/// `.loc file line column {, function_name label {+ offset}, inlined_at file line column}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loc {
    /// Number of a [`File`].
    pub file: u32,
    /// Line from 1.
    pub line: u32,
    /// Column from 1; 0 if unknown.
    pub column: u32,
    /// Where this place was inlined, if it was.
    pub inlined: Option<InlinedAt>,
}

/// The tail of a `.loc` of inlined code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinedAt {
    /// A label in `.debug_str`, or a symbol, that names the inlined function.
    pub function: String,
    /// Added to that label.
    pub offset: u64,
    /// Number of a [`File`].
    pub file: u32,
    /// Line from 1.
    pub line: u32,
    /// Column from 1; 0 if unknown.
    pub column: u32,
}

impl Module {
    /// The architecture that the module asks for: 90 for `sm_90a`.
    pub fn arch(&self) -> Option<u16> {
        self.target.iter().find_map(|t| match t {
            Target::Arch { number, .. } => Some(*number),
            _ => None,
        })
    }

    /// The kernels, in written order.
    pub fn entries(&self) -> impl Iterator<Item = (FuncId, &Function)> {
        let all = self.functions.iter().enumerate();
        all.filter(|(_, f)| f.is_entry).map(|(i, f)| (FuncId(i as u32), f))
    }

    /// The function with this name.
    pub fn function(&self, name: &str) -> Option<(FuncId, &Function)> {
        let all = self.functions.iter().enumerate();
        all.map(|(i, f)| (FuncId(i as u32), f)).find(|(_, f)| f.name == name)
    }

    /// The variable of module scope with this name.
    pub fn global(&self, name: &str) -> Option<(GlobalId, &Variable)> {
        let all = self.globals.iter().enumerate();
        all.map(|(i, v)| (GlobalId(i as u32), v)).find(|(_, v)| v.name == name)
    }

    /// Size of a pointer in bytes.
    pub fn pointer_size(&self) -> u32 {
        u32::from(self.address_size / 8)
    }

    /// The path that `.loc` means by this number.
    pub fn file(&self, index: u32) -> Option<&str> {
        self.directives.iter().find_map(|d| match d {
            Directive::File(f) if f.index == index => Some(f.name.as_str()),
            _ => None,
        })
    }
}

impl Function {
    /// The registers that parameters and instructions name.
    pub fn regs(&self) -> &[Register] {
        self.body.as_ref().map_or(&self.head.regs, |b| &b.regs)
    }

    /// Parameters and variables.
    pub fn vars(&self) -> &[Variable] {
        self.body.as_ref().map_or(&self.head.vars, |b| &b.vars)
    }

    /// `.maxntid`, if written.
    pub fn max_ntid(&self) -> Option<[u32; 3]> {
        self.directives.iter().find_map(|d| match d {
            FunctionDirective::MaxNtid(n) => Some(*n),
            _ => None,
        })
    }

    /// `.reqntid`, if written.
    pub fn req_ntid(&self) -> Option<[u32; 3]> {
        self.directives.iter().find_map(|d| match d {
            FunctionDirective::ReqNtid(n) => Some(*n),
            _ => None,
        })
    }

    /// `.minperctamemory`, if written: the largest, where it is written more than once.
    pub fn min_block_memory(&self) -> Option<u32> {
        let written = self.directives.iter().filter_map(|d| match d {
            FunctionDirective::MinPerCtaMemory(n) => Some(*n),
            _ => None,
        });
        written.max()
    }

    /// Whether it is declared `.noreturn`.
    pub fn no_return(&self) -> bool {
        self.directives.contains(&FunctionDirective::NoReturn)
    }
}

impl std::ops::Index<RegId> for Body {
    type Output = Register;
    fn index(&self, id: RegId) -> &Register {
        &self.regs[id.index()]
    }
}

impl std::ops::Index<VarId> for Body {
    type Output = Variable;
    fn index(&self, id: VarId) -> &Variable {
        &self.vars[id.index()]
    }
}

impl std::ops::Index<LabelId> for Body {
    type Output = Label;
    fn index(&self, id: LabelId) -> &Label {
        &self.labels[id.index()]
    }
}

impl std::ops::Index<GlobalId> for Module {
    type Output = Variable;
    fn index(&self, id: GlobalId) -> &Variable {
        &self.globals[id.index()]
    }
}

impl std::ops::Index<FuncId> for Module {
    type Output = Function;
    fn index(&self, id: FuncId) -> &Function {
        &self.functions[id.index()]
    }
}
