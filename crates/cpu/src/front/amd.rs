//! AMD code objects.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use gcn::isa::Decoder;
use gcn::object::{Kernel, Metadata};
use gcn::{CodeObject, Error};
use wave::func::Terminator;
use wave::verify::{Each, verify_functions};
use wave::{FuncId, Function, Module};

use super::{Checked, ErrorKind, Finding, Frontend, Later, LoadError, Lowered, Place, Variable};
use crate::printed::Formats;
use crate::rules::Checks;
use crate::share;

/// An AMD code object: a bare ELF file.
#[derive(Clone, Copy, Debug)]
pub struct AmdObject<'a> {
    /// Its name in messages.
    pub name: &'a str,
    /// The file.
    pub bytes: &'a [u8],
}

/// The findings of a kernel that a message shows.
const SHOWN: usize = 3;

/// `ET_REL`, the type of files that are not linked, and its place in the header.
const RELOCATABLE: u8 = 1;
const FILE_TYPE: usize = 16;

impl AmdObject<'_> {
    fn finding(&self, place: Place, message: String) -> Finding {
        let rendered = match place {
            Place::Address(address) => {
                format!("error: {message}\n --> {}, address {address:#x}\n", self.name)
            }
            _ => format!("error: {message}\n --> {}\n", self.name),
        };
        Finding { message, place, colored: rendered.clone(), rendered }
    }

    fn error(&self, kind: ErrorKind, findings: Vec<Finding>) -> LoadError {
        let line = |f: &Finding| match f.place {
            Place::Address(address) => {
                format!("{}, address {address:#x}; error   : {}\n", self.name, f.message)
            }
            _ => format!("{}; error   : {}\n", self.name, f.message),
        };
        let log = findings.iter().map(line).collect();
        let rendered = findings.iter().map(|f| f.rendered.as_str()).collect();
        LoadError { kind, log, findings, rendered }
    }

    fn read(&self) -> Result<CodeObject<'_>, LoadError> {
        let object = CodeObject::read(self.bytes).map_err(|error| {
            let kind = match error {
                Error::Foreign(_) | Error::Malformed { .. } => ErrorKind::Syntax,
                Error::Unsupported(_) => ErrorKind::Unsupported,
            };
            self.error(kind, vec![self.finding(Place::Module, error.to_string())])
        })?;
        if self.bytes.get(FILE_TYPE) == Some(&RELOCATABLE) {
            let message = "the file is not linked (its type is ET_REL); link it with lld -shared".to_owned();
            return Err(self.error(ErrorKind::Unsupported, vec![self.finding(Place::Module, message)]));
        }
        if object.sections.is_empty() {
            let message = "the file has no sections".to_owned();
            return Err(self.error(ErrorKind::Syntax, vec![self.finding(Place::Module, message)]));
        }
        Ok(object)
    }

    /// The module with its image; its kernels are declared.
    fn heads(&self, object: &CodeObject<'_>) -> Result<(Module, Vec<Variable>), LoadError> {
        let image = gcn_lower::image(object)
            .map_err(|message| self.error(ErrorKind::Semantic, vec![self.finding(Place::Module, message)]))?;
        let variable = |v: gcn_lower::Variable| Variable {
            name: v.name,
            offset: v.offset,
            size: v.size,
            constant: v.constant,
        };
        let declared = |kernel: &Kernel| {
            Arc::new(Function {
                name: kernel.name.clone(),
                width: gcn_lower::width(kernel),
                kernel: Some(gcn_lower::kernel_info(object, kernel)),
                external: true,
                ..Function::default()
            })
        };
        let module = Module {
            name: self.name.to_owned(),
            functions: object.kernels.iter().map(declared).collect(),
            image_size: image.global.size,
            image_align: u64::from(image.global.align),
            globals: Arc::new(vec![image.global]),
            ..Module::default()
        };
        Ok((module, image.variables.into_iter().map(variable).collect()))
    }
}

/// A function in place of a kernel that cannot run: it would trap.
fn placeholder(declared: &Function) -> Function {
    let mut function = Function { external: false, ..declared.clone() };
    let block = function.new_block();
    function.block_mut(block).term = Terminator::Trap;
    function
}

/// Lowers a kernel and checks the result.
fn lowered(heads: &Module, object: &CodeObject<'_>, kernel: &Kernel) -> Result<Function, Vec<(u64, String)>> {
    let function = gcn_lower::lower(object, kernel)
        .map_err(|errors| errors.into_iter().map(|e| (e.address, e.message)).collect::<Vec<_>>())?;
    verify_functions(heads, [&function]).map_err(|problems| {
        problems.into_iter().map(|p| (kernel.entry, format!("bug in the lowering: {p}"))).collect::<Vec<_>>()
    })?;
    Ok(function)
}

/// One line saying why a kernel cannot run.
fn reason(errors: &[(u64, String)]) -> String {
    let mut shown: Vec<String> =
        errors.iter().take(SHOWN).map(|(address, message)| format!("{address:#x}: {message}")).collect();
    if errors.len() > SHOWN {
        shown.push(format!("{} more", errors.len() - SHOWN));
    }
    shown.join("; ")
}

/// The results of work on each kernel, which may be shared out over threads.
fn for_each<T: Send + Sync>(
    threads: usize,
    kernels: &[Kernel],
    work: impl Fn(&Kernel) -> T + Sync,
) -> Vec<T> {
    let slots: Vec<OnceLock<T>> = kernels.iter().map(|_| OnceLock::new()).collect();
    share::each(threads, kernels.len(), &|n| {
        if let (Some(kernel), Some(slot)) = (kernels.get(n), slots.get(n)) {
            // Never set before: each number is passed once.
            let _ = slot.set(work(kernel));
        }
    });
    slots.into_iter().filter_map(OnceLock::into_inner).collect()
}

/// Objects with at least this many kernels are lowered on demand: most programs use few of them.
const MANY: usize = 32;

/// A code object that is kept after its load.
pub struct Kept {
    bytes: Vec<u8>,
    metadata: Arc<Metadata>,
}

impl Kept {
    fn read(&self) -> Result<CodeObject<'_>, Error> {
        CodeObject::read_again(&self.bytes, Arc::clone(&self.metadata))
    }

    /// The instruction at an address, as LLVM's assembler writes it.
    pub fn instruction(&self, address: u64) -> Option<String> {
        let object = self.read().ok()?;
        // Code outside of kernels is called by some, whose waves are all of one size in practice.
        let holds = |k: &&Kernel| {
            let size = object.code(k).map_or(0, |code| code.len() as u64);
            (k.entry..k.entry.saturating_add(size)).contains(&address)
        };
        let kernel = object.kernels.iter().find(holds).or(object.kernels.first())?;
        let decoder = Decoder::new(object.target.target, kernel.descriptor.wave_size())?;
        let inst = decoder.decode(object.bytes_at(address)?, address).ok()?;
        Some(inst.to_string().split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// An object that is large or has many kernels, whose kernels are lowered on demand.
struct Deferred {
    kept: Arc<Kept>,
    heads: Module,
    sizes: Vec<usize>,
}

impl Deferred {
    /// The module with the code of some kernels.
    fn with(
        &self,
        wanted: impl Fn(usize, &Kernel) -> bool + Sync,
        each: Each,
    ) -> Result<Module, Vec<String>> {
        let object = self.kept.read().map_err(|error| vec![error.to_string()])?;
        let made: Vec<OnceLock<Result<Function, String>>> =
            object.kernels.iter().map(|_| OnceLock::new()).collect();
        each(made.len(), &|n| {
            let (Some(kernel), Some(slot)) = (object.kernels.get(n), made.get(n)) else { return };
            if wanted(n, kernel) {
                let one = lowered(&self.heads, &object, kernel);
                let told = |errors: Vec<(u64, String)>| {
                    format!("kernel `{}` cannot run: {}", kernel.name, reason(&errors))
                };
                // Never set before: each number is passed once.
                let _ = slot.set(one.map_err(told));
            }
        });
        let mut module = self.heads.clone();
        let mut errors = Vec::new();
        for (slot, function) in made.into_iter().zip(&mut module.functions) {
            match slot.into_inner() {
                Some(Ok(made)) => *function = Arc::new(made),
                Some(Err(error)) => errors.push(error),
                None => {}
            }
        }
        // With all kernels, those that cannot run are left out.
        let some = module.functions.iter().any(|f| !f.external);
        if errors.is_empty() || some { Ok(module) } else { Err(errors) }
    }
}

impl Later for Deferred {
    fn heads(&self) -> &Module {
        &self.heads
    }

    fn reached_from(&self, kernel: FuncId, each: Each) -> Result<Module, Vec<String>> {
        self.with(|n, _| n == kernel.index(), each)
    }

    fn whole(&self, each: Each) -> Result<Module, Vec<String>> {
        self.with(|_, _| true, each)
    }

    fn at(&self, line: u32) -> Result<Module, Vec<String>> {
        let address = u64::from(line);
        self.with(
            |n, kernel| {
                let size = self.sizes.get(n).copied().unwrap_or(0) as u64;
                (kernel.entry..kernel.entry.saturating_add(size)).contains(&address)
            },
            &|count, work| (0..count).for_each(work),
        )
    }

    fn size_of(&self, function: FuncId) -> usize {
        self.sizes.get(function.index()).copied().unwrap_or(0)
    }
}

impl Frontend for AmdObject<'_> {
    fn size(&self) -> usize {
        self.bytes.len()
    }

    fn may_have_kernels(&self) -> bool {
        true
    }

    fn digest(&self) -> [u8; 32] {
        *blake3::hash(self.bytes).as_bytes()
    }

    fn check(&self, _: &Checks<'_>, threads: usize) -> Result<Checked, LoadError> {
        let object = self.read()?;
        let (mut module, variables) = self.heads(&object)?;
        let (major, minor, _) = object.target.target.version();
        let targets = (0..object.kernels.len() as u32).map(|n| (FuncId(n), major * 10 + minor)).collect();
        let large = share::is_large(self.bytes.len());
        let deferred = large || object.kernels.len() >= MANY;
        let kinds = gcn_lower::Kinds::default();
        // Large objects are only decoded now; of many kernels those are lowered that may be refused.
        let made = for_each(threads, &object.kernels, |kernel| {
            let of = |e: gcn_lower::Error| (e.address, e.message);
            let told = |errors: Vec<gcn_lower::Error>| errors.into_iter().map(of).collect::<Vec<_>>();
            if large {
                return gcn_lower::decode(&object, kernel).map(|()| None).map_err(told);
            }
            if deferred && gcn_lower::is_plain(&object, kernel, &kinds).map_err(told)? {
                return Ok(None);
            }
            lowered(&module, &object, kernel).map(|function| (!deferred).then_some(function))
        });
        let (mut refused, mut findings) = (HashMap::new(), Vec::new());
        for (n, (kernel, made)) in object.kernels.iter().zip(made).enumerate() {
            let Some(function) = module.functions.get_mut(n) else { continue };
            match made {
                Ok(Some(made)) => *function = Arc::new(made),
                Ok(None) => {}
                Err(errors) => {
                    refused.insert(FuncId(n as u32), reason(&errors));
                    if !deferred {
                        *function = Arc::new(placeholder(function));
                    }
                    findings.extend(errors.into_iter().map(|(address, message)| {
                        self.finding(Place::Address(address), format!("kernel `{}`: {message}", kernel.name))
                    }));
                }
            }
        }
        // Kernels that can run stay usable beside others; if there are none, the object is.
        if !refused.is_empty() && refused.len() == object.kernels.len() {
            return Err(self.error(ErrorKind::Unsupported, findings));
        }
        let kept = Arc::new(Kept { bytes: self.bytes.to_owned(), metadata: Arc::clone(&object.metadata) });
        let lowered = if deferred {
            let sizes = object.kernels.iter().map(|k| object.code(k).map_or(0, <[u8]>::len)).collect();
            Lowered::Later(Box::new(Deferred { kept: Arc::clone(&kept), heads: module, sizes }))
        } else {
            Lowered::Whole(module)
        };
        let formats = Formats::read(&object.metadata.printf);
        Ok(Checked { lowered, targets, refused, variables, formats, object: Some(kept) })
    }
}
