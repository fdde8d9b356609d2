//! Resolves symbols across texts, and places variables in memory.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ptx::ast::{self, Linkage, Symbol};
use wave::layout::{self, CallGraph};
use wave::module::{Global, Reference, Reloc, RelocTarget, SharedVar};
use wave::op::DeviceFn;
use wave::{FuncId, GlobalId, SharedId, Ty};

use crate::error::{Error, ErrorClass};
use crate::function::parameter_ty;
use crate::{Options, Unit, uses};

/// The location of a module-scope variable in the linked module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the image.
    Global(GlobalId),
    /// In shared memory.
    Shared(SharedId),
    /// Without memory (texture references and the like).
    Nowhere,
    /// In global memory but undefined: at an address that the host chose, or null.
    Address(u64),
}

/// The symbols of all units.
#[derive(Debug, Default)]
pub struct Linked {
    module: wave::Module,
    /// For each unit, the location of each of its variables.
    places: Vec<Vec<Place>>,
    /// For each unit, the linked function of each of its functions.
    functions: Vec<Vec<FuncId>>,
    /// The unit and function that give each linked function its body.
    owners: Vec<Option<(usize, usize)>>,
    /// Variables declared inside functions, by unit and position of the name.
    of_functions: HashMap<(usize, u32), Place>,
    /// For each unit, the module's index of each `.file` number.
    files: Vec<HashMap<u32, u32>>,
    /// See [`Options::exact`].
    pub exact: bool,
}

impl Linked {
    /// Whether the function `id` of unit `unit` is the definition that is used.
    pub fn owns(&self, unit: usize, id: usize) -> bool {
        self.owners[self.functions[unit][id].index()] == Some((unit, id))
    }

    /// Stores a lowered body, keeping the attributes that linking determined.
    pub fn set_body(&mut self, unit: usize, id: usize, body: wave::Function) {
        let f = self.functions[unit][id];
        self.module.functions[f.index()] = Arc::new(body);
    }

    /// The index in [`wave::Loc::file`] of a unit's `.file` number; 0 if no directive defines it.
    pub fn file(&self, unit: usize, number: u32) -> u32 {
        self.files.get(unit).and_then(|files| files.get(&number)).copied().unwrap_or(0)
    }

    /// The linked function for a function of unit `unit`.
    pub fn function(&self, unit: usize, id: ast::FuncId) -> FuncId {
        self.functions[unit][id.index()]
    }

    /// The location of a variable of unit `unit`.
    pub fn place(&self, unit: usize, id: ast::GlobalId) -> Place {
        self.places[unit][id.index()]
    }

    /// The module so far.
    pub fn module(&self) -> &wave::Module {
        &self.module
    }

    /// The unit and function that give a function its body.
    pub fn owner(&self, function: FuncId) -> Option<(usize, usize)> {
        self.owners.get(function.index()).copied().flatten()
    }

    /// Assigns every kernel its shared variables, given what its functions name.
    pub fn assign_shared(&mut self, graph: &CallGraph, named: &[BTreeSet<SharedId>]) {
        layout::assign_shared_by(&mut self.module, graph, named);
    }

    /// The module.
    pub fn finish(self) -> wave::Module {
        self.module
    }
}

/// Functions that the driver provides.
const BUILTINS: &[&str] = &["vprintf", "__assertfail", "malloc", "free", "cudaGraphSetConditional"];

/// Whether the driver provides the function.
pub fn is_provided(name: &str) -> bool {
    BUILTINS.contains(&name) || DeviceFn::of_symbol(name).is_some()
}

fn rank(linkage: Linkage, defined: bool) -> u8 {
    match (defined, linkage) {
        (false, _) | (_, Linkage::Extern) => 0,
        (_, Linkage::Common) => 1,
        (_, Linkage::Weak) => 2,
        _ => 3,
    }
}

/// Places all variables, including those declared inside functions, and resolves names. `is_named` tells for
/// each function of a unit whether an instruction names it.
pub fn link(
    units: &[Unit],
    is_named: &dyn Fn(usize, usize) -> bool,
    options: Options,
) -> (Linked, Vec<Error>) {
    let mut linked = Linked { exact: options.exact, ..Linked::default() };
    let mut errors = Vec::new();
    linked.module.name = units.first().map(|u| u.name.to_string()).unwrap_or_default();
    link_files(units, &mut linked);
    define_functions(units, &mut linked, &mut errors);
    check_functions(units, is_named, options.complete, &linked, &mut errors);
    link_variables(units, options, &mut linked, &mut errors);
    check_initialisers(units, &linked, &mut errors);
    linked.place_function_variables(units);
    linked.module.image_align =
        linked.module.globals.iter().map(|g| u64::from(g.align)).max().unwrap_or(1).max(MOST_ALIGNED);
    (linked, errors)
}

/// Collects the source files; a file that several units name is listed once.
fn link_files(units: &[Unit], linked: &mut Linked) {
    let mut known: HashMap<&str, u32> = HashMap::new();
    for unit in units {
        let mut numbers = HashMap::new();
        for directive in &unit.module.directives {
            let ast::Directive::File(file) = directive else { continue };
            let here = *known.entry(&file.name).or_insert_with(|| {
                Arc::make_mut(&mut linked.module.files).push(file.name.clone());
                linked.module.files.len() as u32
            });
            numbers.insert(file.index, here);
        }
        linked.files.push(numbers);
    }
}

/// The message about a symbol that no unit defines: the linker's if every symbol must be defined, otherwise
/// the loader's.
fn undefined(complete: bool, unit: &Unit, what: &str, name: &str) -> String {
    if DeviceFn::is_of_first_generation(name) {
        return format!(
            "'{name}' in '{}': kernels cannot launch kernels by the first generation of CUDA's dynamic \
             parallelism; compile without CUDA_FORCE_CDP1_IF_SUPPORTED, by nvcc 12 or later",
            unit.name
        );
    }
    if complete {
        format!("Undefined reference to '{name}' in '{}'", unit.name)
    } else {
        format!("Unresolved extern {what} '{name}'")
    }
}

/// The message about a symbol that two units define.
fn defined_twice(name: &str, again: &Unit, first: &Unit) -> String {
    format!("Multiple definition of '{name}' in '{}', first defined in '{}'", again.name, first.name)
}

/// Resolves the names of functions alone, for [`Linked::owns`].
pub fn definitions(units: &[Unit]) -> Linked {
    let mut linked = Linked::default();
    define_functions(units, &mut linked, &mut Vec::new());
    linked
}

/// Numbers the functions, and finds the definition of each.
fn define_functions(units: &[Unit], linked: &mut Linked, errors: &mut Vec<Error>) {
    let mut by_name: HashMap<&str, (FuncId, u8)> = HashMap::new();
    for (u, unit) in units.iter().enumerate() {
        let mut ids = Vec::new();
        for (i, f) in unit.module.functions.iter().enumerate() {
            let defined = f.body.is_some();
            let strength = rank(f.linkage, defined);
            let private = defined && f.linkage == Linkage::Internal && !f.is_entry;
            let known = if private { None } else { by_name.get(f.name.as_str()).copied() };
            let id = match known {
                Some((id, old)) => {
                    if old == 3 && strength == 3 {
                        let first = linked.owners[id.index()].map_or(unit, |owner| &units[owner.0]);
                        errors.push(Error {
                            unit: u,
                            class: ErrorClass::Duplicate,
                            span: f.span,
                            message: defined_twice(&f.name, unit, first),
                        });
                    }
                    if strength > old {
                        by_name.insert(&f.name, (id, strength));
                        linked.owners[id.index()] = Some((u, i));
                    }
                    id
                }
                None => {
                    let id = FuncId(linked.module.functions.len() as u32);
                    linked.module.functions.push(Arc::new(wave::Function {
                        name: f.name.clone(),
                        external: true,
                        ..wave::Function::default()
                    }));
                    linked.owners.push(defined.then_some((u, i)));
                    if !private {
                        by_name.insert(&f.name, (id, strength));
                    }
                    id
                }
            };
            ids.push(id);
        }
        linked.functions.push(ids);
    }
    alias_functions(units, linked);
}

/// Checks that the functions that instructions name are defined, and as their callers declare them.
fn check_functions(
    units: &[Unit],
    is_named: &dyn Fn(usize, usize) -> bool,
    complete: bool,
    linked: &Linked,
    errors: &mut Vec<Error>,
) {
    compare_prototypes(units, is_named, linked, errors);
    for (u, unit) in units.iter().enumerate() {
        for (i, f) in unit.module.functions.iter().enumerate() {
            let id = linked.functions[u][i];
            if linked.owners[id.index()].is_none() && !is_provided(&f.name) && is_named(u, i) {
                errors.push(Error {
                    unit: u,
                    class: ErrorClass::Unresolved,
                    span: f.span,
                    message: undefined(complete, unit, "function", &f.name),
                });
            }
        }
    }
}

/// Checks that a called function is defined with the parameters and results that the caller declares, as far
/// as their sizes go.
fn compare_prototypes(
    units: &[Unit],
    is_named: &dyn Fn(usize, usize) -> bool,
    linked: &Linked,
    errors: &mut Vec<Error>,
) {
    let formals = |f: &ast::Function| {
        let of = |list: &[ast::Parameter]| list.iter().map(|p| parameter_ty(f, *p)).collect::<Vec<_>>();
        (of(&f.params), of(&f.returns))
    };
    for (u, unit) in units.iter().enumerate() {
        for (i, f) in unit.module.functions.iter().enumerate().filter(|(_, f)| f.body.is_none()) {
            let owner = linked.owners[linked.functions[u][i].index()].filter(|(owner, _)| *owner != u);
            let Some((unit_of, index)) = owner else { continue };
            let definition = &units[unit_of].module.functions[index];
            if formals(f) != formals(definition) && is_named(u, i) {
                errors.push(Error {
                    unit: unit_of,
                    class: ErrorClass::Duplicate,
                    span: definition.span,
                    message: format!("Prototype doesn't match for '{}' in '{}'", f.name, units[unit_of].name),
                });
            }
        }
    }
}

/// `.alias a, b;`: every reference to `a` becomes one to `b`.
fn alias_functions(units: &[Unit], linked: &mut Linked) {
    for (u, unit) in units.iter().enumerate() {
        for directive in &unit.module.directives {
            if let ast::Directive::Alias { alias, aliasee, .. } = directive {
                let (from, to) = (linked.functions[u][alias.index()], linked.functions[u][aliasee.index()]);
                for ids in &mut linked.functions {
                    ids.iter_mut().filter(|id| **id == from).for_each(|id| *id = to);
                }
            }
        }
    }
}

/// For each function of a unit, whether an instruction names it: one that is only declared needs no
/// definition.
pub fn named(unit: &Unit) -> Vec<bool> {
    let mut named = vec![false; unit.module.functions.len()];
    let bodies = unit.module.functions.iter().filter_map(|f| f.body.as_ref());
    for statement in bodies.flat_map(|b| &b.statements) {
        if let ast::StatementKind::Instruction(instruction) = &statement.kind {
            uses::functions(instruction, &mut |f| {
                if let Some(named) = named.get_mut(f.index()) {
                    *named = true;
                }
            });
        }
    }
    named
}

fn link_variables(units: &[Unit], options: Options, linked: &mut Linked, errors: &mut Vec<Error>) {
    let mut by_name: HashMap<&str, (Place, u8, usize, usize)> = HashMap::new();
    for (u, unit) in units.iter().enumerate() {
        let mut places = Vec::new();
        for (i, v) in unit.module.globals.iter().enumerate() {
            let defined = v.linkage != Linkage::Extern || v.space_is_shared();
            let strength = rank(v.linkage, defined);
            let private = v.linkage == Linkage::Internal;
            let known = if private { None } else { by_name.get(v.name.as_str()).copied() };
            let place = match known {
                Some((place, old, first, _)) => {
                    if old == 3 && strength == 3 {
                        errors.push(Error {
                            unit: u,
                            class: ErrorClass::Duplicate,
                            span: v.span,
                            message: defined_twice(&v.name, unit, &units[first]),
                        });
                    }
                    if strength > old {
                        by_name.insert(&v.name, (place, strength, u, i));
                    }
                    place
                }
                None => {
                    let place = linked.new_place(v);
                    if !private {
                        by_name.insert(&v.name, (place, strength, u, i));
                    }
                    place
                }
            };
            places.push(place);
        }
        linked.places.push(places);
    }
    for (u, unit) in units.iter().enumerate() {
        for (i, v) in unit.module.globals.iter().enumerate() {
            let winner = by_name.get(v.name.as_str()).copied();
            let private = v.linkage == Linkage::Internal;
            if let (Some((_, 0, _, _)), false) = (winner, private)
                && !v.space_is_shared()
            {
                let given = options.symbols.iter().find(|s| s.0 == v.name).map(|s| s.1);
                if let Some(address) = given.or((!options.complete).then_some(0)) {
                    linked.undefine(u, i, address);
                    continue;
                }
                errors.push(Error {
                    unit: u,
                    class: ErrorClass::Unresolved,
                    span: v.span,
                    message: undefined(options.complete, unit, "variable", &v.name),
                });
            }
            if private || winner.is_some_and(|w| (w.2, w.3) == (u, i)) {
                linked.define(u, v, linked.places[u][i]);
            }
        }
    }
    linked.lay_out();
}

/// Checks the function addresses in initial values: only functions with code have an address, and those that
/// the driver provides have none.
fn check_initialisers(units: &[Unit], linked: &Linked, errors: &mut Vec<Error>) {
    for (u, unit) in units.iter().enumerate() {
        for v in unit.module.globals.iter().filter(|v| v.init.is_some()) {
            let mut reported = BTreeSet::new();
            let mut check = |f: ast::FuncId| {
                let id = linked.functions[u][f.index()];
                if linked.owners[id.index()].is_some() || !reported.insert(id) {
                    return;
                }
                let function = &unit.module.functions[f.index()];
                let name = &function.name;
                errors.push(Error {
                    unit: u,
                    class: ErrorClass::Unresolved,
                    span: v.span,
                    message: match function.linkage {
                        Linkage::Weak => format!("Unresolved extern function '{name}'"),
                        _ => format!("Cannot take address of function '{name}'"),
                    },
                });
            };
            v.init.iter().for_each(|value| value.functions(&mut check));
        }
    }
}

/// Properties of a PTX variable that this crate needs.
trait VariableExt {
    fn space_is_shared(&self) -> bool;
}

impl VariableExt for ast::Variable {
    fn space_is_shared(&self) -> bool {
        matches!(self.space, ptx::Space::Shared | ptx::Space::SharedCta)
    }
}

/// The largest alignment that a variable gets without asking for it: that of an allocation.
const MOST_ALIGNED: u64 = 256;

impl Linked {
    fn new_place(&mut self, v: &ast::Variable) -> Place {
        if v.space_is_shared() {
            Arc::make_mut(&mut self.module.shared).push(SharedVar {
                name: v.name.clone(),
                size: v.size_bytes(),
                align: v.alignment(),
            });
            return Place::Shared(SharedId(self.module.shared.len() as u32 - 1));
        }
        if !matches!(v.space, ptx::Space::Global | ptx::Space::Const | ptx::Space::Tex) {
            return Place::Nowhere;
        }
        // `.tex .u32 t` is an older spelling of `.global .texref t` (PTX ISA 5.1.8).
        let (size, align) = if v.space == ptx::Space::Tex { (8, 8) } else { (v.size_bytes(), v.alignment()) };
        Arc::make_mut(&mut self.module.globals).push(Global {
            name: v.name.clone(),
            offset: 0,
            size,
            align,
            constant: v.space == ptx::Space::Const,
            managed: v.managed,
            exported: true,
            reference: reference(v),
            init: Vec::new(),
            relocs: Vec::new(),
        });
        Place::Global(GlobalId(self.module.globals.len() as u32 - 1))
    }

    /// A shared variable declared inside a function.
    pub fn shared_of_function(&self, unit: usize, v: &ast::Variable) -> Option<SharedId> {
        match self.of_functions.get(&(unit, v.span.start))? {
            Place::Shared(id) => Some(*id),
            _ => None,
        }
    }

    /// A global or constant variable declared inside a function.
    pub fn global_of_function(&self, unit: usize, v: &ast::Variable) -> Option<GlobalId> {
        match self.of_functions.get(&(unit, v.span.start))? {
            Place::Global(id) => Some(*id),
            _ => None,
        }
    }

    /// Marks a variable as undefined; it needs no memory.
    fn undefine(&mut self, unit: usize, variable: usize, address: u64) {
        let Some(place) = self.places.get_mut(unit).and_then(|p| p.get_mut(variable)) else { return };
        if let Place::Global(id) = *place {
            let g = &mut Arc::make_mut(&mut self.module.globals)[id.index()];
            (g.size, g.exported) = (0, false);
        }
        *place = Place::Address(address);
    }

    /// Sets a definition's size and initial value.
    fn define(&mut self, unit: usize, v: &ast::Variable, place: Place) {
        match place {
            Place::Shared(id) => {
                let s = &mut Arc::make_mut(&mut self.module.shared)[id.index()];
                s.size = s.size.max(v.size_bytes());
                s.align = s.align.max(v.alignment());
            }
            Place::Global(id) => {
                let image = if v.init.is_some() { v.image() } else { ast::Image::default() };
                let relocs = image.relocations.iter().filter_map(|r| self.reloc(unit, r)).collect();
                let g = &mut Arc::make_mut(&mut self.module.globals)[id.index()];
                g.size = if v.space == ptx::Space::Tex { 8 } else { v.size_bytes() };
                g.align = g.align.max(v.alignment());
                g.constant = v.space == ptx::Space::Const;
                g.managed |= v.managed;
                g.init = image.bytes;
                g.relocs = relocs;
            }
            Place::Nowhere | Place::Address(_) => {}
        }
    }

    fn reloc(&self, unit: usize, r: &ast::Relocation) -> Option<Reloc> {
        let target = match r.symbol {
            Symbol::Global(g) => match self.places[unit][g.index()] {
                Place::Global(id) => RelocTarget::Global(id),
                Place::Shared(id) => RelocTarget::Shared(id),
                Place::Nowhere | Place::Address(_) => return None,
            },
            Symbol::Func(f) => RelocTarget::Func(self.functions[unit][f.index()]),
            _ => return None,
        };
        let shift = r.mask.map_or(0, |m| m.trailing_zeros().min(63) as u8);
        Some(Reloc { at: r.offset, size: r.size.min(8) as u8, shift, target, addend: r.addend })
    }

    /// Assigns offsets in the image and keeps the largest alignment.
    fn lay_out(&mut self) {
        let mut at = 0u64;
        for g in Arc::make_mut(&mut self.module.globals) {
            // Variables begin at multiples of 4 bytes, as the hardware's loader places them; this also keeps
            // narrow ones apart. Large ones are aligned as allocations are: programs read arrays as vectors
            // and make tensor maps of them, which works on the hardware if `ptxas` places the array first.
            let size = g.size.clamp(4, MOST_ALIGNED);
            let align = u64::from(g.align).max(1 << size.ilog2());
            at = at.checked_next_multiple_of(align).unwrap_or(u64::MAX);
            g.offset = at;
            at = at.saturating_add(g.size);
        }
        self.module.image_size = at;
    }

    /// Places the variables that a unit's functions declare in their bodies.
    pub fn place_function_variables(&mut self, units: &[Unit]) {
        for (u, unit) in units.iter().enumerate() {
            for f in &unit.module.functions {
                let Some(body) = &f.body else { continue };
                for v in &body.vars {
                    if v.space_is_shared() || matches!(v.space, ptx::Space::Global | ptx::Space::Const) {
                        let mut v = v.clone();
                        v.name = local_name(u, &f.name, &v.name, v.span.start);
                        let place = self.new_place(&v);
                        self.define(u, &v, place);
                        self.of_functions.insert((u, v.span.start), place);
                        if let Place::Global(id) = place {
                            Arc::make_mut(&mut self.module.globals)[id.index()].exported = false;
                        }
                    }
                }
            }
        }
        self.lay_out();
    }
}

/// The kind of reference that a variable is.
fn reference(v: &ast::Variable) -> Option<Reference> {
    match v.ty {
        ptx::ScalarType::Texref => Some(Reference::Texture),
        ptx::ScalarType::Surfref => Some(Reference::Surface),
        _ => (v.space == ptx::Space::Tex).then_some(Reference::Texture),
    }
}

fn local_name(unit: usize, function: &str, variable: &str, at: u32) -> String {
    format!("{unit}:{function}:{variable}:{at}")
}

/// The value type of a scalar.
pub fn ty_of(t: ptx::ScalarType) -> Ty {
    match t.bits() {
        1 if t == ptx::ScalarType::Pred => Ty::I1,
        0..=8 => Ty::I8,
        9..=16 => Ty::I16,
        17..=32 => Ty::I32,
        33..=64 => Ty::I64,
        _ => Ty::I128,
    }
}
