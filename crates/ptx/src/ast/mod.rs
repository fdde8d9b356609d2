//! The typed tree of a module.
//!
//! Names are resolved while parsing: operands hold ids ([`RegId`], [`VarId`], [`GlobalId`], [`FuncId`],
//! [`LabelId`]) that index the tables of [`Module`] and [`Body`], so users of the tree never look up a name.

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
    /// Size of an address in bits: 64. The manual's default without `.address_size` is 32, but drivers of
    /// 64-bit programs compile such modules for 64 bits and refuse modules that ask for 32.
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
        /// The declared function that gets a body this way.
        alias: FuncId,
        /// The function whose body it gets.
        aliasee: FuncId,
        /// Its position in the text.
        span: Span,
    },
    /// `.file index "name"{, timestamp, size}`
    File(File),
    /// `.section name { … }`: DWARF data, kept as written.
    Section {
        /// Name with its leading dot.
        name: String,
        /// The text between the braces, as written.
        text: String,
        /// Its position in the text.
        span: Span,
    },
    /// `.nv_intermediate_source_section { … }`: sources in an intermediate language (PTX ISA 11.5.6).
    IntermediateSources(Vec<CodeBlock>),
    /// `.pragma "…";`
    Pragma(Vec<String>),
    /// `.loc` outside a function, as old compilers wrote it.
    Loc(Loc),
    /// `@@DWARF …`: DWARF data from old compilers, kept as written, without the prefix.
    Dwarf(String),
}

/// `.code_block`: source in an intermediate language that the module was compiled from.
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
    /// The return parameters of a `.func`.
    pub returns: Vec<Parameter>,
    /// The parameters.
    pub params: Vec<Parameter>,
    /// Performance and other directives between the head and the body.
    pub directives: Vec<FunctionDirective>,
    /// The instructions; none if the function is only declared.
    pub body: Option<Body>,
    /// Registers and variables of the head. If there is a body, its tables hold the same entries at the same
    /// ids.
    pub head: Head,
    /// Position of the name.
    pub span: Span,
}

/// The declarations in a function's head, for functions without a body to hold them.
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
    /// `.maxntid nx{, ny{, nz}}`, with 1 for omitted dimensions.
    MaxNtid([u32; 3]),
    /// `.reqntid nx{, ny{, nz}}`, with 1 for omitted dimensions.
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
    /// `.minperctamemory n`: bytes of private global memory that each block of the kernel gets (PTX ISA
    /// 11.4.10).
    MinPerCtaMemory(u32),
    /// `.language "a", "b"`: the languages that the function was compiled from, as indices into [`LANGUAGES`]
    /// (PTX ISA 11.8.2).
    Language(Vec<u8>),
}

/// The names of `.language`'s numbers; numbers without a name are reserved.
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
    /// Every register that is declared by itself or used: `%r<1000>` adds only the members that the body
    /// names.
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
    /// Position of the declaration.
    pub span: Span,
}

/// A label of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The name.
    pub name: String,
    /// Index into [`Body::statements`] of the statement `name:`.
    pub statement: u32,
    /// What the label marks.
    pub kind: LabelKind,
}

/// What a label marks.
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
    /// Its position in the text.
    pub span: Span,
}

/// What a statement is.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// An instruction.
    Instruction(Instruction),
    /// `name:`. It also precedes `.branchtargets` and the like, which the label's entry holds.
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
    /// `.loc_intermediate`: the position of the next instruction in intermediate-language source (PTX ISA
    /// 11.5.5). Never inlined.
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
    /// The call site if this code was inlined.
    pub inlined: Option<InlinedAt>,
}

/// The tail of a `.loc` for inlined code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinedAt {
    /// The label in `.debug_str`, or the symbol, that names the inlined function.
    pub function: String,
    /// Bytes added to that label.
    pub offset: u64,
    /// Number of a [`File`].
    pub file: u32,
    /// Line from 1.
    pub line: u32,
    /// Column from 1; 0 if unknown.
    pub column: u32,
}

impl Module {
    /// The architecture that the module targets: 90 for `sm_90a`.
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

    /// The path of the `.file` with this number.
    pub fn file(&self, index: u32) -> Option<&str> {
        self.directives.iter().find_map(|d| match d {
            Directive::File(f) if f.index == index => Some(f.name.as_str()),
            _ => None,
        })
    }
}

impl Function {
    /// Registers that parameters and instructions refer to.
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

    /// `.minperctamemory`, if written; the largest value if it is written more than once.
    pub fn min_block_memory(&self) -> Option<u32> {
        let written = self.directives.iter().filter_map(|d| match d {
            FunctionDirective::MinPerCtaMemory(n) => Some(*n),
            _ => None,
        });
        written.max()
    }

    /// Whether the function is declared `.noreturn`.
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
