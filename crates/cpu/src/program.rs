//! A loaded module.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use wave::abi::Code;
use wave::interp::Interpreter;
use wave::module::RelocTarget;
use wave::{FuncId, Module};

/// One PTX text.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// What to call it in messages.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
}

/// What runs kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Machine code; a kernel that cannot be compiled is interpreted, with a warning.
    #[default]
    Compiled,
    /// The oracle.
    Interpreter,
}

impl Engine {
    /// By `ANYWARP_ENGINE`: `compiled` (the default) or `interpreter`.
    pub fn from_environment() -> Self {
        match std::env::var("ANYWARP_ENGINE").as_deref() {
            Ok("interpreter") => Engine::Interpreter,
            Ok("compiled") | Err(_) => Engine::Compiled,
            Ok(other) => {
                tracing::warn!("ANYWARP_ENGINE={other} is not known; `compiled` and `interpreter` are");
                Engine::Compiled
            }
        }
    }
}

/// Why a module cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// What a driver's answer depends on.
    pub kind: ptx::ErrorKind,
    /// Something legal that is not supported.
    pub unsupported: bool,
    /// One line a finding, as the JIT's log has it.
    pub log: String,
    /// The findings with their lines, as rustc prints them.
    pub rendered: String,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.log)
    }
}

impl std::error::Error for LoadError {}

/// Code of one kernel, by block size.
#[derive(Default)]
struct Codes {
    last: RwLock<Option<([u32; 3], Arc<dyn Code>)>>,
    all: Mutex<HashMap<[u32; 3], Arc<dyn Code>>>,
}

/// A module, lowered and ready to make code.
pub struct Program {
    module: Arc<Module>,
    engine: Engine,
    codes: HashMap<FuncId, Codes>,
}

fn failure(sources: &[Source], unit: usize, diagnostics: &[ptx::Diagnostic], unsupported: bool) -> LoadError {
    let (name, text) = sources.get(unit).map_or(("", ""), |s| (s.name, s.text));
    LoadError {
        kind: diagnostics.first().map_or(ptx::ErrorKind::Semantic, |d| d.kind),
        unsupported,
        log: ptx::log(diagnostics, name, text),
        rendered: diagnostics.iter().map(|d| d.render(name, text, false)).collect(),
    }
}

impl Program {
    /// Loads and links PTX texts.
    pub fn load(sources: &[Source], engine: Engine) -> Result<Program, LoadError> {
        let mut trees = Vec::new();
        for (unit, source) in sources.iter().enumerate() {
            trees.push(ptx::parse(source.text).map_err(|d| failure(sources, unit, &d, false))?);
        }
        let units: Vec<lower::Unit> = sources
            .iter()
            .zip(&trees)
            .map(|(s, module)| lower::Unit { name: s.name, module, source: s.text })
            .collect();
        let module = lower::lower(&units).map_err(|errors| {
            let unit = errors.first().map_or(0, |e| e.unit);
            let of_unit: Vec<ptx::Diagnostic> =
                errors.iter().filter(|e| e.unit == unit).map(|e| e.diagnostic()).collect();
            let unsupported = errors.iter().any(|e| e.class == lower::ErrorClass::Unsupported);
            failure(sources, unit, &of_unit, unsupported)
        })?;
        let codes = module.kernels().map(|(id, _)| (id, Codes::default())).collect();
        Ok(Program { module: Arc::new(module), engine, codes })
    }

    /// The lowered module.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// The image's first contents when it lies at `base`.
    pub fn image(&self, base: u64) -> Vec<u8> {
        let mut bytes = vec![0u8; self.module.image_size as usize];
        for g in &self.module.globals {
            let start = g.offset as usize;
            if let Some(to) = bytes.get_mut(start..start + g.init.len()) {
                to.copy_from_slice(&g.init);
            }
            for r in &g.relocs {
                let address = match r.target {
                    RelocTarget::Global(t) => base.wrapping_add(self.module.globals[t.index()].offset),
                    RelocTarget::Func(f) => Module::func_handle(f),
                    RelocTarget::Shared(_) => 0,
                };
                let value = address.wrapping_add(r.addend as u64) >> r.shift;
                let at = start + r.at as usize;
                let size = usize::from(r.size);
                if let Some(to) = bytes.get_mut(at..at + size) {
                    to.copy_from_slice(&value.to_le_bytes()[..size]);
                }
            }
        }
        bytes
    }

    /// The code of `kernel` for blocks of these dimensions; made now if it is not there. `None` if `kernel` is none.
    pub fn code(&self, kernel: FuncId, block: [u32; 3]) -> Option<Arc<dyn Code>> {
        let codes = self.codes.get(&kernel)?;
        if let Some((b, code)) = &*codes.last.read().unwrap_or_else(PoisonError::into_inner)
            && *b == block
        {
            return Some(code.clone());
        }
        let mut all = codes.all.lock().unwrap_or_else(PoisonError::into_inner);
        let code = match all.get(&block) {
            Some(code) => code.clone(),
            None => {
                let code = self.make(kernel, block)?;
                all.insert(block, code.clone());
                code
            }
        };
        *codes.last.write().unwrap_or_else(PoisonError::into_inner) = Some((block, code.clone()));
        Some(code)
    }

    fn make(&self, kernel: FuncId, block: [u32; 3]) -> Option<Arc<dyn Code>> {
        let _ = (self.engine, block);
        match Interpreter::new(self.module.clone(), kernel) {
            Ok(code) => Some(Arc::new(code)),
            Err(error) => {
                tracing::error!(%error, "a kernel cannot be interpreted");
                None
            }
        }
    }
}
