//! Modules and their functions.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::backend::{
    GlobalInfo, Input, KernelInfo, LoadError, LoadErrorKind, LoadOptions, LoadRequest, Program,
    ReferenceInfo, Usage,
};
use crate::context::Context;
use crate::device::{self, Device};
use crate::error::{Error, Result};
use crate::handle::{self, Handle, Table, lock};
use crate::refused::Told;
use crate::texture::reference::Reference;
use crate::{code, driver, log, memory, texture};

/// The modules that have handles.
pub static MODULES: Table<Module> = Table::new(handle::Kind::Module);
/// The functions that have handles.
pub static FUNCTIONS: Table<Function> = Table::new(handle::Kind::Function);

/// A module loaded into a context.
pub struct Module {
    /// The handle.
    pub handle: Handle,
    /// The context.
    pub context: Arc<Context>,
    /// The context's id when the module was loaded.
    pub context_id: u64,
    /// Whether it belongs to a library and so cannot be unloaded alone.
    pub of_library: bool,
    pub(crate) program: Arc<dyn Program>,
    pub(crate) image_base: u64,
    image_size: u64,
    /// Whether its code has texture or surface references.
    has_references: bool,
    functions: Mutex<HashMap<usize, Arc<Function>>>,
    references: Mutex<HashMap<usize, (Handle, Arc<Reference>)>>,
}

/// What loading a module reports.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The info log.
    pub info: String,
    /// The error log.
    pub errors: String,
    /// Compilation time in milliseconds.
    pub wall_time: f32,
}

/// The log text for an image of unknown format. It is as long as the hardware driver's, because programs see
/// the length (`jit.garbage.log` in `tests/probe`).
pub const NO_IMAGE: &str = "error   : unknown format: expected PTX, fatbin, or linked image";

/// The texts in a container that suit a device. Errors go to the report. A container without a text for the
/// device is also logged by default, since few programs show the report.
pub fn texts(device: &Device, bytes: &[u8], report: &mut Report) -> Result<Vec<(String, Vec<u8>)>> {
    let (major, minor) = device.info.compute_capability;
    image::texts(bytes, major * 10 + minor).map_err(|error| refused(device, error, report))
}

/// Logs that a container has no text for the device, and returns the error for it.
pub(crate) fn refused(device: &Device, error: image::Error, report: &mut Report) -> Error {
    match error {
        image::Error::Invalid => {
            report.errors = NO_IMAGE.into();
            let what = NO_IMAGE.trim_start_matches("error   : ");
            log::say(log::Level::Warn, || format!("an image failed to load: {what}"));
            Error::InvalidImage
        }
        image::Error::Broken(reason) => {
            report.errors = format!("error   : the image is broken: {reason}\n");
            log::say(log::Level::Warn, || format!("an image failed to load: {reason}"));
            Error::InvalidImage
        }
        image::Error::NoBinary(contents) => {
            report.errors = no_text(device, &contents) + "\n";
            tell(device, &contents);
            Error::NoBinaryForGpu
        }
    }
}

/// Logs that a container has no text for the device.
pub(crate) fn tell(device: &Device, contents: &image::Contents) {
    log::say(log::Level::Error, || no_text(device, contents));
}

/// Why a container with code for other devices cannot run, and what to do about it.
fn no_text(device: &Device, contents: &image::Contents) -> String {
    let (major, minor) = device.info.compute_capability;
    let missing = format!(
        "the image contains no PTX for a device of capability {major}.{minor} (it contains {contents})"
    );
    // The device can stand for a later one, but machine code cannot run on any.
    match contents.ptx.iter().find(|&&arch| arch > major * 10 + minor) {
        Some(later) => format!(
            "{missing}; set ANYWARP_COMPUTE_CAPABILITY={}.{}, or compile for compute_{major}{minor} or earlier",
            later / 10,
            later % 10
        ),
        None => format!(
            "{missing}; machine code cannot run here, so compile with PTX included (nvcc -gencode \
             arch=compute_{major}{minor},code=compute_{major}{minor})"
        ),
    }
}

/// Compiles texts for a device. If `complete`, every symbol must be defined.
pub fn compile(
    device: &Device,
    texts: &[(String, Vec<u8>)],
    options: &LoadOptions,
    complete: bool,
    report: &mut Report,
) -> Result<Arc<dyn Program>, LoadErrorKind> {
    let start = Instant::now();
    let inputs: Vec<Input<'_>> = texts
        .iter()
        .map(|(name, text)| Input {
            name: match name.as_str() {
                "" if code::is_amd_object(text) => "the code object",
                "" => "application ptx input",
                name => name,
            },
            code: code::code_of(text),
        })
        .collect();
    let backend = driver().map_err(|_| LoadErrorKind::NoCompiler)?;
    let request = LoadRequest { inputs: &inputs, device: &device.info, options: options.clone(), complete };
    let loaded = backend.backend.load(&request);
    report.wall_time += start.elapsed().as_secs_f32() * 1e3;
    match loaded {
        Ok(loaded) => {
            report.info.push_str(&loaded.info);
            log::say(log::Level::Info, || {
                format!("module of {} kernels in {:.2} ms", loaded.program.kernels().len(), report.wall_time)
            });
            Ok(loaded.program)
        }
        Err(LoadError { kind, log, rendered }) => {
            let level = match kind {
                LoadErrorKind::Unsupported | LoadErrorKind::BeyondDevice => log::Level::Error,
                _ => log::Level::Warn,
            };
            let told = if rendered.is_empty() { &log } else { &rendered };
            log::say(level, || format!("a module failed to load:\n{}", told.trim_end()));
            report.errors.push_str(&log);
            Err(kind)
        }
    }
}

/// The options that apply to a container: those of the caller, and what the linker was told when it made the
/// image.
pub fn options_for(bytes: &[u8], options: &LoadOptions) -> LoadOptions {
    let mut options = options.clone();
    if let most @ 1.. = image::linked_registers(bytes) {
        options.max_registers = most;
    }
    options
}

/// Loads a container into a context.
pub fn load(
    context: &Arc<Context>,
    bytes: &[u8],
    options: &LoadOptions,
    report: &mut Report,
) -> Result<Arc<Module>> {
    let parts = code::parts(&context.device, bytes, options, report)?;
    let program = compile(&context.device, &parts, &options_for(bytes, options), false, report)?;
    place(context, program, false, report)
}

/// Allocates a program's memory in a context. If memory runs out, the report says so.
pub fn place(
    context: &Arc<Context>,
    program: Arc<dyn Program>,
    of_library: bool,
    report: &mut Report,
) -> Result<Arc<Module>> {
    let layout = program.image();
    let base = if layout.size == 0 {
        0
    } else {
        let base = memory::alloc_image(context, layout.size).inspect_err(|_| {
            let (free, total) = memory::info(&context.device);
            let told = format!(
                "the variables of the module need {} bytes; the device has {free} of {total} bytes free",
                layout.size
            );
            report.errors = format!("error   : {told}\n");
            log::say(log::Level::Warn, || format!("a module failed to load: {told}"));
        })?;
        for (offset, bytes) in program.initial_image(base) {
            if offset.checked_add(bytes.len() as u64).is_none_or(|end| end > layout.size) {
                continue;
            }
            let to = base.wrapping_add(offset) as *mut u8;
            // SAFETY: the piece lies in the block of `layout.size` bytes, which was just allocated for this
            // module; nothing else refers to it.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        }
        base
    };
    for global in program.globals() {
        if global.size > 0 {
            memory::insert_variable(context, base.wrapping_add(global.offset), global.size, global.managed);
        }
    }
    let made = MODULES.insert_with(|handle| {
        Arc::new(Module {
            handle,
            context: Arc::clone(context),
            context_id: context.id(),
            of_library,
            has_references: !program.references().is_empty(),
            program,
            image_base: base,
            image_size: layout.size,
            functions: Mutex::default(),
            references: Mutex::default(),
        })
    });
    let module = made.map(|m| m.1).ok_or(Error::OutOfMemory)?;
    lock(&LOADED).push(Arc::clone(&module));
    Ok(module)
}

/// Every loaded module, so that destroying a context finds its modules.
static LOADED: Mutex<Vec<Arc<Module>>> = Mutex::new(Vec::new());

/// The module of a handle.
pub fn get(handle: Handle) -> Result<Arc<Module>> {
    MODULES.get(handle).ok_or(Error::InvalidHandle)
}

/// Unloads a module that does not belong to a library.
pub fn unload(handle: Handle) -> Result<()> {
    let module = get(handle)?;
    if module.of_library {
        return Err(Error::NotPermitted);
    }
    module.context.settled()?;
    unload_any(&module);
    Ok(())
}

/// Unloads a module.
pub(crate) fn unload_any(module: &Arc<Module>) {
    module.context.settle();
    lock(&LOADED).retain(|m| !Arc::ptr_eq(m, module));
    module.end();
}

pub(crate) fn context_ended(id: u64) {
    let gone: Vec<Arc<Module>> = {
        let mut loaded = lock(&LOADED);
        let gone = loaded.iter().filter(|m| m.context_id == id).cloned().collect();
        loaded.retain(|m| m.context_id != id);
        gone
    };
    for module in gone {
        module.end();
    }
}

impl Module {
    fn end(&self) {
        MODULES.remove(self.handle);
        for (_, function) in lock(&self.functions).drain() {
            FUNCTIONS.remove(function.handle);
        }
        for (_, (handle, reference)) in lock(&self.references).drain() {
            texture::reference::forget(handle);
            reference.end();
        }
        for global in self.program.globals() {
            memory::remove_variable(self.image_base.wrapping_add(global.offset));
        }
    }

    /// The kernels.
    pub fn kernels(&self) -> &[KernelInfo] {
        self.program.kernels()
    }

    /// The resources that a kernel uses, by its index in [`Module::kernels`].
    pub fn usage(&self, kernel: usize) -> Usage {
        self.program.usage(kernel)
    }

    /// The function of a kernel, by name.
    pub fn function(self: &Arc<Self>, name: &[u8]) -> Result<Arc<Function>> {
        let index = self.kernels().iter().position(|k| k.name.as_bytes() == name).ok_or(Error::NotFound)?;
        self.function_at(index)
    }

    /// The function of a kernel, by its index in the module.
    pub fn function_at(self: &Arc<Self>, index: usize) -> Result<Arc<Function>> {
        let info = self.kernels().get(index).ok_or(Error::NotFound)?;
        let mut functions = lock(&self.functions);
        if let Some(function) = functions.get(&index) {
            return Ok(Arc::clone(function));
        }
        if let Some(reason) = self.program.refused(index) {
            log::say(log::Level::Error, || format!("kernel {} cannot run: {reason}", info.name));
            return Err(Error::NotSupported);
        }
        let dynamic = initial_dynamic_shared(&self.context.device, info);
        let name = std::ffi::CString::new(info.name.as_str()).unwrap_or_default();
        let made = FUNCTIONS.insert_with(|handle| {
            Arc::new(Function {
                handle,
                module: Arc::clone(self),
                index,
                name,
                max_dynamic_shared: AtomicU32::new(dynamic),
                carveout: AtomicI32::new(-1),
                cluster: info.required_cluster.unwrap_or_default().map(AtomicU32::new),
                large_clusters: AtomicBool::new(false),
                cluster_policy: AtomicI32::new(0),
                legacy: Mutex::default(),
                launched: AtomicBool::new(false),
                told: Told::default(),
            })
        });
        let function = made.map(|f| f.1).ok_or(Error::OutOfMemory)?;
        functions.insert(index, Arc::clone(&function));
        Ok(function)
    }

    /// A variable's description and address, by name. A kernel's name gives [`Error::InvalidValue`].
    pub fn global(&self, name: &[u8]) -> Result<(&GlobalInfo, u64)> {
        match self.program.globals().iter().find(|g| g.name.as_bytes() == name) {
            Some(global) => Ok((global, self.image_base.wrapping_add(global.offset))),
            None if self.kernels().iter().any(|k| k.name.as_bytes() == name) => Err(Error::InvalidValue),
            None if self.program.references().iter().any(|r| r.name.as_bytes() == name) => {
                Err(Error::InvalidValue)
            }
            None => Err(Error::NotFound),
        }
    }

    /// The handle of a texture or surface reference, by name.
    ///
    /// # Errors
    /// [`Error::NotFound`]: no reference has that name and kind.
    pub fn reference(&self, name: &[u8], surface: bool) -> Result<Handle> {
        let named = |r: &ReferenceInfo| r.name.as_bytes() == name && r.surface == surface;
        let all = self.program.references();
        let index = all.iter().position(named).ok_or(Error::NotFound)?;
        let info = all.get(index).ok_or(Error::NotFound)?;
        let mut known = lock(&self.references);
        if let Some((handle, _)) = known.get(&index) {
            return Ok(*handle);
        }
        let slot = self.image_base.wrapping_add(info.offset);
        let made = texture::reference::make(&self.context, Some(slot), surface)?;
        known.insert(index, (made.0, Arc::clone(&made.1)));
        Ok(made.0)
    }

    /// Whether it has texture references.
    pub(crate) fn has_references(&self) -> bool {
        self.has_references
    }

    /// Updates the variables of the module's references to their current bindings, for work that is about to
    /// be submitted. If a binding has changed, it first waits for the context's work, which must still see
    /// the old one. So work that already runs cannot do this.
    ///
    /// # Errors
    /// A reference is bound to something that no longer exists or that it cannot read as its settings say.
    #[inline]
    pub fn bind_references(&self) -> Result<()> {
        if self.has_references { self.bind_all() } else { Ok(()) }
    }

    fn bind_all(&self) -> Result<()> {
        let known: Vec<_> = lock(&self.references).values().map(|(_, r)| Arc::clone(r)).collect();
        if known.iter().any(|r| r.stale()) {
            self.context.settle();
            known.iter().try_for_each(|r| r.bind())?;
        }
        Ok(())
    }
}

impl Drop for Module {
    /// Pending launches hold the module, so its variables are freed after the last of them.
    fn drop(&mut self) {
        if self.image_size > 0 {
            memory::free_image(self.context.device.ordinal, self.image_base, self.image_size);
        }
    }
}

/// State of the old launch API (`cuLaunch`): block shape and parameter buffer.
#[derive(Clone, Debug, Default)]
pub struct Legacy {
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// The parameter buffer.
    pub params: Vec<u8>,
    /// Bytes of the parameter buffer in use.
    pub size: usize,
}

/// Size of the old parameter buffer in bytes.
pub const LEGACY_PARAMS: usize = 4096;

/// Function attribute numbers, the same in every interface.
pub mod attribute {
    /// The maximum number of threads per block.
    pub const MAX_THREADS_PER_BLOCK: i32 = 0;
    /// Bytes of static shared memory per block.
    pub const SHARED_SIZE: i32 = 1;
    /// Bytes of constant memory that the kernel reads.
    pub const CONST_SIZE: i32 = 2;
    /// Bytes of local memory per thread.
    pub const LOCAL_SIZE: i32 = 3;
    /// Registers per thread.
    pub const REGISTERS: i32 = 4;
    /// The virtual architecture that the code was compiled for, as 10 × major + minor.
    pub const PTX_VERSION: i32 = 5;
    /// The architecture that the code runs on, as 10 × major + minor.
    pub const BINARY_VERSION: i32 = 6;
    /// Whether global loads were compiled to use the L1 cache.
    pub const CACHE_MODE_CA: i32 = 7;
    /// The maximum dynamic shared memory per block in bytes; settable.
    pub const MAX_DYNAMIC_SHARED_SIZE: i32 = 8;
    /// The preferred share of the L1 cache for shared memory in percent, -1 for the default; settable.
    pub const PREFERRED_CARVEOUT: i32 = 9;
    /// Whether a launch must give a cluster size.
    pub const CLUSTER_SIZE_MUST_BE_SET: i32 = 10;
    /// The required cluster size in x, 0 for any; settable.
    pub const REQUIRED_CLUSTER_WIDTH: i32 = 11;
    /// The required cluster size in z.
    pub const REQUIRED_CLUSTER_DEPTH: i32 = 13;
    /// Whether clusters may exceed the portable size; settable.
    pub const NON_PORTABLE_CLUSTERS: i32 = 14;
    /// The cluster scheduling policy; settable.
    pub const CLUSTER_POLICY: i32 = 15;

    /// The highest valid policy.
    pub(super) const LAST_CLUSTER_POLICY: i32 = 2;
}

/// A kernel of a loaded module.
pub struct Function {
    /// The handle.
    pub handle: Handle,
    /// The module.
    pub module: Arc<Module>,
    /// The index among the module's kernels.
    pub index: usize,
    /// The name.
    pub name: std::ffi::CString,
    max_dynamic_shared: AtomicU32,
    carveout: AtomicI32,
    /// The required cluster size, attributes 11 to 13; 0 for any.
    cluster: [AtomicU32; 3],
    /// Clusters may exceed the portable size: attribute 14.
    large_clusters: AtomicBool,
    /// The cluster scheduling policy: attribute 15. It has no effect here.
    cluster_policy: AtomicI32,
    /// State of the old launch API.
    pub legacy: Mutex<Legacy>,
    /// Whether the function has been launched.
    pub(crate) launched: AtomicBool,
    /// What the log has said of refused launches.
    pub(crate) told: Told,
}

/// The function of a handle.
pub fn function(handle: Handle) -> Result<Arc<Function>> {
    FUNCTIONS.get(handle).ok_or(Error::InvalidHandle)
}

static NO_KERNEL: KernelInfo = KernelInfo {
    name: String::new(),
    params: Vec::new(),
    param_size: 0,
    static_shared: 0,
    max_threads: 0,
    required_block: None,
    required_cluster: None,
    max_cluster: 0,
    explicit_cluster: false,
    blocks_are_clusters: false,
    target: 0,
};

/// The dynamic shared memory that a launch may have before an attribute allows more.
fn initial_dynamic_shared(device: &Device, kernel: &KernelInfo) -> u32 {
    let limit = device.known(device::attribute::MAX_SHARED_MEMORY_PER_BLOCK) as u32;
    limit.saturating_sub(kernel.static_shared)
}

impl Function {
    /// The kernel's description.
    pub fn info(&self) -> &KernelInfo {
        self.module.kernels().get(self.index).unwrap_or(&NO_KERNEL)
    }

    /// The resources that the kernel's code uses.
    pub fn usage(&self) -> Usage {
        self.module.usage(self.index)
    }

    /// The device it runs on.
    pub fn device(&self) -> &Arc<Device> {
        &self.module.context.device
    }

    /// The maximum number of threads per block.
    pub fn max_threads(&self) -> u32 {
        let device = self.device().known(device::attribute::MAX_THREADS_PER_BLOCK) as u32;
        match self.info().max_threads {
            0 => device,
            n => n.min(device),
        }
    }

    /// The maximum dynamic shared memory per block in bytes.
    pub fn max_dynamic_shared(&self) -> u32 {
        self.max_dynamic_shared.load(Ordering::Relaxed)
    }

    /// The required cluster size, if there is one; 0 in a dimension stands for any.
    pub fn required_cluster(&self) -> Option<[u32; 3]> {
        let size = self.cluster.each_ref().map(|side| side.load(Ordering::Relaxed));
        (size != [0; 3]).then_some(size)
    }

    /// Whether a launch must give a cluster size.
    pub fn needs_cluster(&self) -> bool {
        self.info().explicit_cluster
    }

    /// Whether a launch that gives no cluster size may have clusters, or may be refused because it gives
    /// none.
    pub fn may_have_clusters(&self) -> bool {
        self.cluster.iter().any(|side| side.load(Ordering::Relaxed) != 0) || self.needs_cluster()
    }

    /// Whether clusters may exceed the portable size.
    pub fn allows_large_clusters(&self) -> bool {
        self.large_clusters.load(Ordering::Relaxed)
    }

    /// The value of an attribute.
    pub fn attribute(&self, number: i32) -> Result<i32> {
        let info = self.info();
        let value = match number {
            attribute::MAX_THREADS_PER_BLOCK => self.max_threads(),
            attribute::SHARED_SIZE => info.static_shared,
            attribute::CONST_SIZE => self.usage().const_bytes,
            // The module of a kernel that needs more loads, too.
            attribute::LOCAL_SIZE => self.usage().local_bytes.min(i32::MAX as u32),
            attribute::REGISTERS => self.usage().registers,
            attribute::PTX_VERSION => info.target,
            attribute::BINARY_VERSION if self.device().info.amd_target.is_some() => info.target,
            attribute::BINARY_VERSION => {
                let (major, minor) = self.device().info.compute_capability;
                major * 10 + minor
            }
            attribute::CACHE_MODE_CA => 0,
            attribute::MAX_DYNAMIC_SHARED_SIZE => self.max_dynamic_shared(),
            attribute::PREFERRED_CARVEOUT => return Ok(self.carveout.load(Ordering::Relaxed)),
            attribute::CLUSTER_SIZE_MUST_BE_SET => u32::from(info.explicit_cluster),
            attribute::REQUIRED_CLUSTER_WIDTH..=attribute::REQUIRED_CLUSTER_DEPTH => {
                let [x, y, z] = &self.cluster;
                let axis = (number - attribute::REQUIRED_CLUSTER_WIDTH).clamp(0, 2) as usize;
                [x, y, z][axis].load(Ordering::Relaxed)
            }
            attribute::NON_PORTABLE_CLUSTERS => u32::from(self.large_clusters.load(Ordering::Relaxed)),
            attribute::CLUSTER_POLICY => return Ok(self.cluster_policy.load(Ordering::Relaxed)),
            _ => return Err(Error::InvalidValue),
        };
        i32::try_from(value).map_err(|_| Error::InvalidValue)
    }

    /// The value of an attribute that nothing has set.
    ///
    /// # Errors
    /// As for [`Function::attribute`].
    pub fn initial_attribute(&self, number: i32) -> Result<i32> {
        let info = self.info();
        let value = match number {
            attribute::MAX_DYNAMIC_SHARED_SIZE => initial_dynamic_shared(self.device(), info),
            attribute::PREFERRED_CARVEOUT => return Ok(-1),
            attribute::REQUIRED_CLUSTER_WIDTH..=attribute::REQUIRED_CLUSTER_DEPTH => {
                let [x, y, z] = info.required_cluster.unwrap_or_default();
                let axis = (number - attribute::REQUIRED_CLUSTER_WIDTH).clamp(0, 2) as usize;
                [x, y, z][axis]
            }
            attribute::NON_PORTABLE_CLUSTERS => 0,
            attribute::CLUSTER_POLICY => return Ok(0),
            _ => return self.attribute(number),
        };
        i32::try_from(value).map_err(|_| Error::InvalidValue)
    }

    /// Sets an attribute.
    pub fn set_attribute(&self, number: i32, value: i32) -> Result<()> {
        match number {
            attribute::MAX_DYNAMIC_SHARED_SIZE => {
                let most = self.device().known(device::attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) as u32;
                let most = most.saturating_sub(self.info().static_shared);
                let value = u32::try_from(value).ok().filter(|v| *v <= most).ok_or(Error::InvalidValue)?;
                self.max_dynamic_shared.store(value, Ordering::Relaxed);
            }
            attribute::PREFERRED_CARVEOUT if (-1..=100).contains(&value) => {
                self.carveout.store(value, Ordering::Relaxed);
            }
            attribute::REQUIRED_CLUSTER_WIDTH..=attribute::REQUIRED_CLUSTER_DEPTH => {
                let value = u32::try_from(value).map_err(|_| Error::InvalidValue)?;
                let axis = (number - attribute::REQUIRED_CLUSTER_WIDTH).clamp(0, 2) as usize;
                let info = self.info();
                // A size that the kernel's text fixes cannot be changed.
                let fixed = info.required_cluster.is_some_and(|size| size.get(axis) != Some(&value));
                if fixed || info.max_cluster != 0 && value > info.max_cluster {
                    return Err(Error::InvalidValue);
                }
                let [x, y, z] = &self.cluster;
                [x, y, z][axis].store(value, Ordering::Relaxed);
            }
            attribute::NON_PORTABLE_CLUSTERS => self.large_clusters.store(value != 0, Ordering::Relaxed),
            attribute::CLUSTER_POLICY if (0..=attribute::LAST_CLUSTER_POLICY).contains(&value) => {
                self.cluster_policy.store(value, Ordering::Relaxed);
            }
            _ => return Err(Error::InvalidValue),
        }
        Ok(())
    }

    /// Compiles the kernel now.
    pub fn prepare(&self) {
        self.module.program.prepare(self.index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_for_other_devices_is_told_with_what_to_do() {
        let device = Device::new(0, device::DeviceInfo::for_tests());
        let told = |machine_code: &[u32], ptx: &[u32]| {
            no_text(&device, &image::Contents { machine_code: machine_code.into(), ptx: ptx.into() })
        };
        let setting = "; set ANYWARP_COMPUTE_CAPABILITY=9.0, or compile for compute_86 or earlier";
        assert!(told(&[], &[90, 120]).ends_with(setting));
        assert!(told(&[90], &[90]).ends_with(setting));
        assert!(told(&[90], &[]).contains("machine code cannot run here, so compile with PTX included"));
    }
}
