//! Contexts, the stack of contexts of each thread, and primary contexts.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use smallvec::SmallVec;

use crate::backend::Limits;
use crate::device::{Device, attribute};
use crate::error::{Error, Result};
use crate::handle::{Handle, Table, lock};
use crate::stream::{Kind, Point, STREAMS, Shared, Stream};
use crate::{driver, event, memory, module, peer};

/// The contexts with handles. A destroyed one may still be on a thread's stack, which keeps it.
pub static CONTEXTS: Table<Context> = Table::new(1);

/// Flags of contexts.
pub mod flag {
    /// Which of the ways to wait.
    pub const SCHEDULE_MASK: u32 = 7;
    /// Always set.
    pub const MAP_HOST: u32 = 8;
    /// Every flag there is.
    pub const MASK: u32 = 0xff;
}

/// A device's primary context.
#[derive(Default)]
pub(crate) struct Primary {
    context: Option<Arc<Context>>,
    users: u64,
    flags: u32,
}

/// A context.
pub struct Context {
    /// Its handle.
    pub handle: Handle,
    /// Its device.
    pub device: Arc<Device>,
    /// It is the device's primary context.
    pub primary: bool,
    /// The version of the interface it was made with: 3010 or 3020.
    pub api_version: u32,
    me: Weak<Context>,
    life: Mutex<Life>,
    id: AtomicU64,
    alive: AtomicBool,
    flags: AtomicU32,
    attached: AtomicU32,
    cache_config: AtomicU32,
    limits: [AtomicU64; 9],
}

/// What a context has between its making and its end.
struct Life {
    shared: Arc<Shared>,
    legacy: Arc<Stream>,
    streams: Vec<Arc<Stream>>,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

const DEFAULT_LIMITS: [u64; 9] = [1024, 8_650_752, 8 << 20, 0, 2048, 64, 0, 0, 0];

/// Checks the flags of a context.
pub fn check_flags(flags: u32) -> Result<()> {
    let schedule = flags & flag::SCHEDULE_MASK;
    if flags & !flag::MASK != 0 || !matches!(schedule, 0 | 1 | 2 | 4) {
        Err(Error::InvalidValue)
    } else {
        Ok(())
    }
}

impl Context {
    fn make(device: &Arc<Device>, primary: bool, flags: u32, api_version: u32) -> Result<Arc<Context>> {
        let made =
            CONTEXTS.insert_with(|handle| Context::with_handle(handle, device, primary, flags, api_version));
        made.map(|m| m.1).ok_or(Error::OutOfMemory)
    }

    fn with_handle(
        handle: Handle,
        device: &Arc<Device>,
        primary: bool,
        flags: u32,
        api_version: u32,
    ) -> Arc<Context> {
        Arc::new_cyclic(|me: &Weak<Context>| {
            let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
            Context {
                handle,
                device: Arc::clone(device),
                primary,
                api_version,
                me: me.clone(),
                life: Mutex::new(Life::new(me, id, device)),
                id: AtomicU64::new(id),
                alive: AtomicBool::new(true),
                flags: AtomicU32::new(flags),
                attached: AtomicU32::new(1),
                cache_config: AtomicU32::new(0),
                limits: DEFAULT_LIMITS.map(AtomicU64::new),
            }
        })
    }

    /// What stands for a destroyed context that nobody holds any more.
    fn ended(handle: Handle) -> Result<Arc<Context>> {
        let context = Context::with_handle(handle, driver()?.device(0)?, false, 0, 3020);
        context.alive.store(false, Ordering::Release);
        Ok(context)
    }

    /// Itself.
    pub(crate) fn weak(&self) -> Weak<Context> {
        Weak::clone(&self.me)
    }

    /// Its number, unique in the process; a primary context has another after every reset.
    pub fn id(&self) -> u64 {
        self.id.load(Ordering::Acquire)
    }

    /// Whether it can be used.
    pub fn alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Fails for a destroyed context and after a fault.
    pub fn check(&self) -> Result<()> {
        if !self.alive() {
            return Err(Error::ContextIsDestroyed);
        }
        self.device.check()
    }

    /// Its flags.
    pub fn flags(&self) -> u32 {
        self.flags.load(Ordering::Relaxed) | flag::MAP_HOST
    }

    /// Changes its flags.
    pub fn set_flags(&self, flags: u32) -> Result<()> {
        check_flags(flags)?;
        self.flags.store(flags, Ordering::Relaxed);
        Ok(())
    }

    /// The preferred split of cache and shared memory: 0 to 3.
    pub fn cache_config(&self) -> u32 {
        self.cache_config.load(Ordering::Relaxed)
    }

    /// Sets it.
    pub fn set_cache_config(&self, config: u32) -> Result<()> {
        if config > 3 {
            return Err(Error::InvalidValue);
        }
        self.cache_config.store(config, Ordering::Relaxed);
        Ok(())
    }

    /// A limit by its number.
    pub fn limit(&self, number: u32) -> Result<u64> {
        match number {
            3 | 9 => Err(Error::UnsupportedLimit),
            7 => Ok(self.device.known(attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)),
            _ => {
                self.limits.get(number as usize).map(|l| l.load(Ordering::Relaxed)).ok_or(Error::InvalidValue)
            }
        }
    }

    /// Sets a limit; it is rounded and bounded as the hardware's driver does.
    pub fn set_limit(&self, number: u32, value: u64) -> Result<()> {
        let value = match number {
            0 if value > 0x7_fff0 => return Err(Error::InvalidValue),
            // Small odd sizes are kept as they are.
            0 if value < 16 && value != 1 => value,
            0 => value.next_multiple_of(16),
            1 => value.clamp(512 << 10, 2 << 30),
            2 if value > self.device.info.total_memory => return Err(Error::OutOfMemory),
            2 => value.max(4 << 20),
            3 | 9 => return Err(Error::UnsupportedLimit),
            4 => value.clamp(32, 599_186),
            5 if value > 128 => return Err(Error::InvalidValue),
            5 | 6 => value,
            7 | 8 => return Err(Error::NotPermitted),
            _ => return Err(Error::InvalidValue),
        };
        if let Some(limit) = self.limits.get(number as usize) {
            limit.store(value, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The limits that kernels run under.
    pub fn kernel_limits(&self) -> Limits {
        let [stack, printf, heap] = [0, 1, 2].map(|i: usize| self.limits[i].load(Ordering::Relaxed));
        Limits { stack, heap, printf }
    }

    /// The legacy default stream.
    pub fn legacy(&self) -> Arc<Stream> {
        Arc::clone(&lock(&self.life).legacy)
    }

    pub(crate) fn new_stream(&self, handle: Handle, kind: Kind, priority: i32) -> Arc<Stream> {
        let mut life = lock(&self.life);
        let stream = Stream::new(handle, kind, priority, &self.me, self.id(), &self.device, &life.shared);
        stream.place.store(life.streams.len(), Ordering::Relaxed);
        life.streams.push(Arc::clone(&stream));
        life.shared.many_streams.store(true, Ordering::Release);
        stream
    }

    /// Forgets a stream that nobody can name any more and that has nothing left to do.
    pub(crate) fn forget_stream(&self, stream: &Arc<Stream>) {
        let mut life = lock(&self.life);
        let place = stream.place.load(Ordering::Relaxed);
        // A reset may have forgotten them all.
        if life.streams.get(place).is_some_and(|s| Arc::ptr_eq(s, stream)) {
            life.streams.swap_remove(place);
            if let Some(moved) = life.streams.get(place) {
                moved.place.store(place, Ordering::Relaxed);
            }
        }
    }

    /// Makes a stream.
    pub fn create_stream(&self, kind: Kind, priority: i32) -> Result<Handle> {
        STREAMS
            .insert_with(|handle| self.new_stream(handle, kind, priority))
            .map(|s| s.0)
            .ok_or(Error::OutOfMemory)
    }

    /// Adds the points that new work in `stream` waits for by the rules of the legacy stream.
    pub(crate) fn default_stream_waits(&self, stream: &Arc<Stream>, after: &mut SmallVec<[Point; 1]>) {
        let life = lock(&self.life);
        if stream.kind == Kind::Legacy {
            after.extend(
                life.streams.iter().filter(|s| s.kind == Kind::Blocking && !s.idle()).map(Stream::point),
            );
        } else if !life.legacy.idle() {
            after.push(life.legacy.point());
        }
    }

    /// Waits for everything in the context, then tells whether it is well.
    pub fn synchronize(&self) -> Result<()> {
        self.settle();
        self.check()
    }

    /// Waits for everything in the context.
    pub(crate) fn settle(&self) {
        let streams = {
            let life = lock(&self.life);
            if life.streams.is_empty() && life.legacy.idle() {
                return;
            }
            let mut all = life.streams.clone();
            all.push(Arc::clone(&life.legacy));
            all
        };
        for stream in streams {
            stream.synchronize();
        }
    }

    fn end(&self) {
        if !self.alive.swap(false, Ordering::AcqRel) {
            return;
        }
        self.settle();
        let life = lock(&self.life);
        let id = self.id();
        let faulted = life.shared.faulted.load(Ordering::Acquire);
        for stream in &life.streams {
            STREAMS.remove(stream.handle);
        }
        drop(life);
        event::context_ended(id);
        module::context_ended(id);
        memory::context_ended(id);
        peer::context_ended(id);
        if let Ok(driver) = driver() {
            driver.backend.context_destroyed(id);
        }
        if faulted {
            self.device.clear_fault();
        }
        if !self.primary {
            CONTEXTS.remove(self.handle);
        }
    }

    /// A primary context lives again.
    fn revive(&self, flags: u32) {
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        *lock(&self.life) = Life::new(&self.me, id, &self.device);
        for (limit, value) in self.limits.iter().zip(DEFAULT_LIMITS) {
            limit.store(value, Ordering::Relaxed);
        }
        self.id.store(id, Ordering::Release);
        self.cache_config.store(0, Ordering::Relaxed);
        self.flags.store(flags, Ordering::Relaxed);
        self.alive.store(true, Ordering::Release);
    }
}

impl Life {
    fn new(context: &Weak<Context>, id: u64, device: &Arc<Device>) -> Self {
        let shared = Arc::new(Shared::default());
        let legacy = Stream::new(0, Kind::Legacy, 0, context, id, device, &shared);
        Life { shared, legacy, streams: Vec::new() }
    }
}

thread_local! {
    static STACK: RefCell<Vec<Arc<Context>>> = const { RefCell::new(Vec::new()) };
}

fn with_stack<T>(f: impl FnOnce(&mut Vec<Arc<Context>>) -> T) -> Result<T> {
    STACK.try_with(|s| f(&mut s.borrow_mut())).map_err(|_| Error::Deinitialized)
}

/// Waits for everything in every context.
pub(crate) fn settle_all() {
    for context in CONTEXTS.all() {
        if context.alive() {
            context.settle();
        }
    }
}

/// The calling thread's context, alive or not.
pub fn current() -> Option<Arc<Context>> {
    with_stack(|s| s.last().cloned()).ok().flatten()
}

/// The calling thread's context, which must be well.
pub fn usable() -> Result<Arc<Context>> {
    let context = current().ok_or(Error::InvalidContext)?;
    context.check()?;
    Ok(context)
}

/// Fails where the calling thread has a context that is not well.
pub fn check_current() -> Result<()> {
    with_stack(|s| s.last().map_or(Ok(()), |context| context.check()))?
}

/// Something of the calling thread's context, which must be well.
pub fn with_usable<T>(f: impl FnOnce(&Arc<Context>) -> T) -> Result<T> {
    with_stack(|s| {
        let context = s.last().ok_or(Error::InvalidContext)?;
        context.check()?;
        Ok(f(context))
    })?
}

/// The context of a handle, destroyed or not.
pub fn get(handle: Handle) -> Result<Arc<Context>> {
    match CONTEXTS.get(handle) {
        Some(context) => Ok(context),
        None if CONTEXTS.has_ended(handle) => Context::ended(handle),
        None => Err(Error::InvalidContext),
    }
}

/// Puts a context on top of the calling thread's stack.
pub fn push(context: Arc<Context>) -> Result<()> {
    with_stack(|s| s.push(context))
}

/// Takes the top of the stack away.
pub fn pop() -> Result<Arc<Context>> {
    with_stack(Vec::pop)?.ok_or(Error::InvalidContext)
}

/// Replaces the top of the stack; `None` takes it away.
pub fn set_current(context: Option<Arc<Context>>) -> Result<()> {
    with_stack(|s| {
        s.pop();
        s.extend(context);
    })
}

/// Makes a context and puts it on the stack.
pub fn create(device: &Arc<Device>, flags: u32, api_version: u32) -> Result<Handle> {
    check_flags(flags)?;
    device.check()?;
    let context = Context::make(device, false, flags, api_version)?;
    let handle = context.handle;
    push(context)?;
    Ok(handle)
}

/// Ends a context made by [`create`]; it leaves the calling thread's stack where it is on top.
pub fn destroy(context: &Arc<Context>) -> Result<()> {
    if context.primary || !context.alive() {
        return Err(Error::InvalidContext);
    }
    context.end();
    with_stack(|s| {
        if s.last().is_some_and(|top| Arc::ptr_eq(top, context)) {
            s.pop();
        }
    })
}

/// Another user of the calling thread's context.
pub fn attach() -> Result<Handle> {
    let context = usable()?;
    context.attached.fetch_add(1, Ordering::AcqRel);
    Ok(context.handle)
}

/// One user less; the last one ends it.
pub fn detach(context: &Arc<Context>) -> Result<()> {
    if !context.alive() {
        return Err(Error::InvalidContext);
    }
    if context.attached.fetch_sub(1, Ordering::AcqRel) > 1 || context.primary {
        Ok(())
    } else {
        destroy(context)
    }
}

/// A user more of the device's primary context, which is made where there is none.
pub fn retain_primary(device: &Arc<Device>) -> Result<Handle> {
    device.check()?;
    let mut primary = lock(&device.primary);
    let context = match &primary.context {
        Some(context) => {
            if !context.alive() {
                context.revive(primary.flags);
            }
            Arc::clone(context)
        }
        None => Context::make(device, true, primary.flags, 3020)?,
    };
    primary.users += 1;
    primary.context = Some(Arc::clone(&context));
    Ok(context.handle)
}

/// A user less; the last one ends it.
pub fn release_primary(device: &Arc<Device>) -> Result<()> {
    let ended = {
        let mut primary = lock(&device.primary);
        primary.users = primary.users.checked_sub(1).ok_or(Error::InvalidContext)?;
        if primary.users > 0 {
            return Ok(());
        }
        primary.flags = 0;
        primary.context.clone()
    };
    if let Some(context) = ended {
        context.end();
    }
    Ok(())
}

/// Ends the primary context whatever its users; their number stays.
pub fn reset_primary(device: &Arc<Device>) {
    let context = {
        let mut primary = lock(&device.primary);
        primary.flags = 0;
        primary.context.clone()
    };
    if let Some(context) = context {
        context.end();
    }
    device.clear_fault();
}

/// The primary context, if it is alive.
pub fn primary(device: &Device) -> Option<Arc<Context>> {
    lock(&device.primary).context.clone().filter(|c| c.alive())
}

/// The flags, and whether the primary context is alive.
pub fn primary_state(device: &Device) -> (u32, bool) {
    let primary = lock(&device.primary);
    (primary.flags, primary.context.as_ref().is_some_and(|c| c.alive()))
}

/// Sets the flags of the primary context, now and for its next life.
pub fn set_primary_flags(device: &Device, flags: u32) -> Result<()> {
    check_flags(flags)?;
    let mut primary = lock(&device.primary);
    primary.flags = flags;
    if let Some(context) = &primary.context {
        context.flags.store(flags, Ordering::Relaxed);
    }
    Ok(())
}
