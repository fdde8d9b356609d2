//! A loaded module.

use std::collections::HashMap;
use std::sync::Arc;

pub use host::options::Engine;
use simd::{Forced, Request, Rest, Specialisation, Target};
use wave::module::RelocTarget;
use wave::{FuncId, Module};

use crate::beside;
use crate::code::{self, Codes, Kernel, Maker, Ready};
use crate::counting;
use crate::front::{Checked, Frontend, Kept, LoadError, Lowered, Source, Texts, Variable};
use crate::modules::Modules;
use crate::printed::Formats;
use crate::rules::{Checks, Limits, Rules};
use crate::settings::Making;
use crate::share;

/// Bytes of stack that loading code or compiling a kernel needs; a program's thread may have less.
pub(crate) const STACK: usize = 256 << 10;

/// A loaded module, ready to compile kernels.
pub struct Program {
    modules: Modules,
    /// By function number; only kernels have an entry.
    codes: Vec<Option<Codes>>,
    targets: HashMap<FuncId, u32>,
    refused: HashMap<FuncId, String>,
    variables: Vec<Variable>,
    formats: Formats,
    /// The code object, if the lines of the IR are addresses in one.
    object: Option<Arc<Kept>>,
    maker: Maker,
}

/// Rejects kernels that declare more shared memory than the device has.
fn check_shared(module: &Module, limits: &Limits) -> Result<(), LoadError> {
    for (_, kernel) in module.kernels() {
        let shared = kernel.kernel.as_ref().map_or(0, |k| k.shared_size);
        if shared > limits.max_shared {
            let (name, most) = (&kernel.name, limits.max_shared);
            return Err(LoadError::of_device(
                format!(
                    "error   : Entry function '{name}' uses too much shared data ({shared:#x} bytes, {most:#x} max)"
                ),
                format!(
                    "kernel {name} declares {shared} bytes of static shared memory; the device allows {most} per \
                     block. Declare an array as `.extern .shared` and give its size to the launch"
                ),
            ));
        }
    }
    Ok(())
}

impl Program {
    /// Loads and links PTX texts.
    pub fn load(sources: &[Source], engine: Engine) -> Result<Program, LoadError> {
        Program::load_by(sources, &Rules { engine, ..Rules::default() })
    }

    /// Loads and links PTX texts under the rules of a device.
    pub fn load_by(sources: &[Source], rules: &Rules) -> Result<Program, LoadError> {
        Program::of_code(&Texts::from(sources), rules)
    }

    /// Loads a module's code under the rules of a device.
    pub fn of_code(code: &dyn Frontend, rules: &Rules) -> Result<Program, LoadError> {
        let checks = rules.checks();
        let Checks { meaning, limits } = &checks;
        let unit = simd::digest(&(code.digest(), meaning));
        let maker = Maker::new(rules.engine, rules.making.clone(), unit);
        let threads = share::threads(code.size());
        let launches = rules.launches && code.may_have_kernels() && maker.expects_work();
        // Threads that start while LLVM is being opened wait for the loader's lock. If this load uses several
        // threads, LLVM is opened afterwards.
        if launches && threads <= 1 {
            beside::open_llvm(maker.making());
        }
        let checked = code.check(&checks, threads)?;
        let Checked { lowered, targets, refused, variables, formats, object } = checked;
        check_shared(lowered.heads(), limits)?;
        let lowered = if meaning.counting.is_some() { counting::counting(lowered) } else { lowered };
        let modules = match lowered {
            Lowered::Whole(module) => Modules::Whole(Arc::new(module)),
            Lowered::Later(later) => Modules::later(later, threads),
        };
        let program = Program::new(modules, targets, maker);
        let program = Program { refused, variables, formats, object, ..program };
        if launches && threads > 1 {
            beside::open_llvm(program.maker.making());
        }
        Ok(program)
    }

    /// A program from a module of wave IR that did not come from PTX, for tests and tools.
    ///
    /// # Errors
    /// The IR rules that the module breaks.
    pub fn of_module(module: Module, engine: Engine) -> Result<Program, Vec<wave::verify::Problem>> {
        wave::verify::verify(&module)?;
        let unit = *blake3::hash(module.to_string().as_bytes()).as_bytes();
        let maker = Maker::new(engine, Making::default(), unit);
        Ok(Program::new(Modules::Whole(Arc::new(module)), HashMap::new(), maker))
    }

    fn new(modules: Modules, targets: HashMap<FuncId, u32>, maker: Maker) -> Program {
        let functions = modules.heads().functions.iter();
        let codes = functions.map(|f| f.kernel.is_some().then(Codes::default)).collect();
        let (refused, variables, formats) = Default::default();
        Program { modules, codes, targets, refused, variables, formats, object: None, maker }
    }

    /// Names a line in messages: with the source that it was compiled from, if that is known. In AMD's code a
    /// line is an address, and its instruction is named.
    pub fn place(&self, line: u32) -> String {
        if let Some(object) = &self.object {
            let instruction = object.instruction(line.into()).map_or(String::new(), |i| format!(" ({i})"));
            return format!("{line:#x} of the code object{instruction}");
        }
        match self.source_of(line) {
            Some(source) => format!("{source} (PTX line {line})"),
            None => format!("PTX line {line}"),
        }
    }

    /// Whether only the PTX tells what is at a line.
    pub fn lacks_source(&self, line: u32) -> bool {
        self.object.is_none() && self.source_of(line).is_none()
    }

    /// Why a kernel cannot run, if its module has loaded without it.
    pub fn refused(&self, kernel: FuncId) -> Option<&str> {
        self.refused.get(&kernel).map(String::as_str)
    }

    /// Whether a kernel turns out to be one that cannot run when it is lowered, which happens now if the
    /// module is one of which that is not known at load. The log has the reason.
    pub fn refused_on_demand(&self, kernel: FuncId) -> bool {
        self.object.is_some()
            && self.module_of(kernel).functions.get(kernel.index()).is_some_and(|f| f.external)
    }

    /// Variables that the host can look up by name, beside those of the IR.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The calls of `printf` whose output its kernels leave in a buffer.
    pub fn formats(&self) -> &Formats {
        &self.formats
    }

    /// The `.target` of a kernel's text as a number: 52 for `sm_52`.
    pub fn target(&self, kernel: FuncId) -> u32 {
        self.targets.get(&kernel).copied().unwrap_or(0)
    }

    /// The module's declarations: variables, and functions with the information on kernels. For a large text,
    /// functions have code only in [`Program::module_of`] and [`Program::whole`].
    pub fn module(&self) -> &Arc<Module> {
        self.modules.heads()
    }

    /// The module that contains the code of a kernel and of all functions it can reach.
    pub fn module_of(&self, kernel: FuncId) -> &Arc<Module> {
        self.modules.of(kernel)
    }

    /// The module that contains the code of all functions.
    pub fn whole(&self) -> &Arc<Module> {
        self.modules.whole()
    }

    /// Whether a kernel has not been lowered yet.
    pub(crate) fn is_deferred(&self, kernel: FuncId) -> bool {
        self.modules.is_deferred(kernel)
    }

    /// Bytes of text of a kernel that has not been lowered yet.
    pub(crate) fn text_size(&self, kernel: FuncId) -> Option<usize> {
        self.modules.text_size(kernel)
    }

    /// The source file and line from which a line of the module's text was compiled (`.loc`). `None` if the
    /// module does not say, or if more than one of the linked texts has such a line.
    pub fn source_of(&self, line: u32) -> Option<String> {
        let module = self.modules.at(line);
        let blocks = module.functions.iter().flat_map(|f| &f.blocks);
        let places = blocks.flat_map(|b| b.insts.iter().map(|i| i.loc).chain([b.term_loc]));
        let mut found = places.filter(|l| l.line == line && l.file != 0).map(|l| (l.file, l.source_line));
        let (file, source_line) = found.next()?;
        if found.any(|other| other != (file, source_line)) {
            return None;
        }
        let file = module.files.get(file as usize - 1)?;
        Some(format!("{file}:{source_line}"))
    }

    /// The initial contents of the image at address `base`.
    pub fn image(&self, base: u64) -> Vec<u8> {
        let mut bytes = vec![0u8; self.module().image_size as usize];
        for (offset, piece) in self.image_pieces(base) {
            if let Some(to) = bytes.get_mut(offset as usize..).and_then(|rest| rest.get_mut(..piece.len())) {
                to.copy_from_slice(&piece);
            }
        }
        bytes
    }

    /// The non-zero parts of the image at address `base`: variables with initial values, by offset.
    pub fn image_pieces(&self, base: u64) -> Vec<(u64, Vec<u8>)> {
        let module = self.module();
        let of = |g: &wave::module::Global| {
            let mut bytes = g.init.clone();
            for r in &g.relocs {
                let address = match r.target {
                    RelocTarget::Global(t) => base.wrapping_add(module.globals[t.index()].offset),
                    RelocTarget::Func(f) => Module::func_handle(f),
                    RelocTarget::Shared(_) => 0,
                };
                let value = address.wrapping_add(r.addend as u64) >> r.shift;
                let (at, size) = (r.at as usize, usize::from(r.size));
                if let Some(to) = bytes.get_mut(at..).and_then(|rest| rest.get_mut(..size)) {
                    to.copy_from_slice(&value.to_le_bytes()[..size]);
                }
            }
            (g.offset, bytes)
        };
        module.globals.iter().filter(|g| !g.init.is_empty()).map(of).collect()
    }

    /// Compiles for this processor, without a cache: for tests and tools.
    #[must_use]
    pub fn for_target(mut self, target: Target) -> Program {
        self.maker = self.maker.with(|making| *making = Making { target, cache: None, ..making.clone() });
        self
    }

    /// Says what the calls of `printf` are: for tests.
    #[must_use]
    pub fn printing(mut self, formats: Formats) -> Program {
        self.formats = formats;
        self
    }

    /// Compiles in these modes: for tests.
    #[must_use]
    pub fn forced(mut self, forced: Forced) -> Program {
        self.maker = self.maker.with(|making| making.forced = forced);
        self
    }

    /// The code of `kernel` for a launch of this shape, compiled now if missing. `None` if `kernel` is not a
    /// kernel.
    pub fn kernel(&self, kernel: FuncId, grid: [u32; 3], block: [u32; 3]) -> Option<Arc<Kernel>> {
        self.kernel_for(kernel, Specialisation::of_launch(grid, block))
    }

    /// As [`Program::kernel`], for a specialisation.
    pub fn kernel_for(&self, kernel: FuncId, spec: Specialisation) -> Option<Arc<Kernel>> {
        self.make(kernel, spec, false, None, &|| ()).map(|made| made.0)
    }

    /// As [`Program::kernel_for`], for a launch with that many threads. A brief launch runs on baseline code
    /// while the optimised code is compiled.
    pub fn kernel_soon(
        self: &Arc<Self>,
        kernel: FuncId,
        spec: Specialisation,
        threads: u64,
    ) -> Option<Arc<Kernel>> {
        Some(self.soon(kernel, spec, threads, |_| ())?.kept())
    }

    /// As [`Program::kernel_soon`]. If the kernel must be compiled, the kernels that follow it in the module
    /// are compiled in the background for the same launch shape, because a program that launches one kernel
    /// of a module soon launches the others.
    pub fn kernel_and_others(
        self: &Arc<Self>,
        kernel: FuncId,
        spec: Specialisation,
        threads: u64,
    ) -> Option<Ready<'_>> {
        self.soon(kernel, spec, threads, |brief| beside::compile(self, kernel, spec, brief))
    }

    /// The code of the kernel's last launch if that was of the same shape: nearly every launch finds it here.
    pub fn known(&self, kernel: FuncId, spec: &Specialisation) -> Option<Ready<'_>> {
        self.codes.get(kernel.index())?.as_ref()?.known(spec)
    }

    /// `missed` is called if the kernel must be compiled, with whether the launch is brief.
    fn soon(
        self: &Arc<Self>,
        kernel: FuncId,
        spec: Specialisation,
        threads: u64,
        missed: impl Fn(bool) + Sync,
    ) -> Option<Ready<'_>> {
        if let Some(code) = self.known(kernel, &spec) {
            return Some(code);
        }
        let brief = beside::brief(self, kernel, threads);
        let (code, rest) = self.make(kernel, spec, brief, None, &|| missed(brief))?;
        if let Some(rest) = rest {
            beside::finish(self, kernel, spec, rest);
        }
        Some(Ready::Other(code))
    }

    /// Whether the code of `kernel` for a launch of this shape exists or is being compiled.
    pub fn has(&self, kernel: FuncId, grid: [u32; 3], block: [u32; 3]) -> bool {
        self.has_code(kernel, Specialisation::of_launch(grid, block))
    }

    pub(crate) fn has_code(&self, kernel: FuncId, spec: Specialisation) -> bool {
        self.codes.get(kernel.index()).and_then(Option::as_ref).is_some_and(|codes| codes.has(spec))
    }

    /// The code of `kernel`, and the remaining work if it is baseline code. `counted`: the compilation is
    /// already counted.
    pub(crate) fn make(
        &self,
        kernel: FuncId,
        spec: Specialisation,
        brief: bool,
        counted: Option<beside::Counted>,
        missed: &(dyn Fn() + Sync),
    ) -> Option<(Arc<Kernel>, Option<Rest>)> {
        let codes = self.codes.get(kernel.index())?.as_ref()?;
        codes.get(spec, brief, || {
            let _counted = counted.unwrap_or_else(beside::Counted::new);
            let make = |_| self.maker.make(self, kernel, spec, brief, missed);
            host::stack::with(STACK, "anywarp-compile", make).unwrap_or_else(|error| {
                let name = self.module().functions.get(kernel.index()).map_or("", |f| f.name.as_str());
                tracing::error!(kernel = name, %error, "no thread with enough stack to compile");
                None
            })
        })
    }

    /// Compiles the optimised code that replaces a kernel's baseline code.
    pub(crate) fn finish(&self, kernel: FuncId, spec: Specialisation, rest: Rest) {
        let Some(codes) = self.codes.get(kernel.index()).and_then(Option::as_ref) else { return };
        let name = self.module().functions.get(kernel.index()).map_or("", |f| f.name.as_str());
        let mut done = code::Done { codes, spec, better: None };
        done.better = code::finish(name, rest);
    }

    /// The request for the compiler.
    pub fn request(&self, kernel: FuncId, spec: Specialisation) -> Request<'_> {
        self.maker.request(self.module_of(kernel), kernel, spec)
    }
}
