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
    /// Waiting threads spin.
    pub const SCHEDULE_SPIN: u32 = 1;
    /// Waiting threads yield.
    pub const SCHEDULE_YIELD: u32 = 2;
    /// Waiting threads sleep.
    pub const SCHEDULE_BLOCKING: u32 = 4;
    /// Always set.
    pub const MAP_HOST: u32 = 8;
    /// All flags.
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
    /// The version of the interface it was made with, of [`API_VERSIONS`].
    pub api_version: u32,
    me: Weak<Context>,
    life: Mutex<Life>,
    id: AtomicU64,
    alive: AtomicBool,
    flags: AtomicU32,
    attached: AtomicU32,
    cache_config: AtomicU32,
    limits: [AtomicU64; limit::COUNT],
}

/// What a context has from its creation or reset to its end.
struct Life {
    shared: Arc<Shared>,
    legacy: Arc<Stream>,
    streams: Vec<Arc<Stream>>,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// The limits of a context by number, and the bounds that the hardware's driver sets them.
pub mod limit {
    /// Bytes of stack of a thread.
    pub const STACK_SIZE: u32 = 0;
    /// Bytes of the buffer of device `printf`.
    pub const PRINTF_FIFO_SIZE: u32 = 1;
    /// Bytes of the heap of device `malloc`.
    pub const MALLOC_HEAP_SIZE: u32 = 2;
    /// How deep grids of a kernel's own may wait for one another.
    pub const DEV_RUNTIME_SYNC_DEPTH: u32 = 3;
    /// How many launches of kernels may be pending.
    pub const DEV_RUNTIME_PENDING_LAUNCH_COUNT: u32 = 4;
    /// Bytes that the L2 cache fetches at once, a hint.
    pub const MAX_L2_FETCH_GRANULARITY: u32 = 5;
    /// Bytes of the L2 cache for persisting lines.
    pub const PERSISTING_L2_CACHE_SIZE: u32 = 6;
    /// Bytes of shared memory of a block.
    pub const SHARED_MEMORY_SIZE: u32 = 7;
    /// Whether the context shares the device with graphics.
    pub const CIG_ENABLED: u32 = 8;
    /// Whether such a context may use less shared memory.
    pub const CIG_SHARED_MEMORY_FALLBACK: u32 = 9;

    /// How many of them have a value of the context's own.
    pub(super) const COUNT: usize = 9;
    /// The values of a new context.
    pub(super) const DEFAULTS: [u64; COUNT] = [1024, 8_650_752, 8 << 20, 0, 2048, 64, 0, 0, 0];

    /// The largest stack that can be asked for.
    pub(super) const MOST_STACK: u64 = 0x7_fff0;
    /// What stack sizes are rounded up to.
    pub(super) const STACK_UNIT: u64 = 16;
    /// The least and the most bytes of the buffer of device `printf`.
    pub(super) const PRINTF_FIFO: [u64; 2] = [512 << 10, 2 << 30];
    /// The smallest heap of device `malloc`.
    pub(super) const LEAST_HEAP: u64 = 4 << 20;
    /// The least and the most pending launches.
    pub(super) const PENDING_LAUNCHES: [u64; 2] = [32, 599_186];
    /// The most that the L2 cache can fetch at once.
    pub(super) const MOST_L2_FETCH: u64 = 128;
}

/// The last of the preferred splits of cache and shared memory.
pub const LAST_CACHE_CONFIG: u32 = 3;
/// The versions of the interface that contexts are made with.
pub const API_VERSIONS: [u32; 2] = [3010, 3020];

/// Checks the flags of a context.
pub fn check_flags(flags: u32) -> Result<()> {
    use flag::{SCHEDULE_BLOCKING, SCHEDULE_SPIN, SCHEDULE_YIELD};
    let schedule = flags & flag::SCHEDULE_MASK;
    let known = matches!(schedule, 0 | SCHEDULE_SPIN | SCHEDULE_YIELD | SCHEDULE_BLOCKING);
    if flags & !flag::MASK != 0 || !known { Err(Error::InvalidValue) } else { Ok(()) }
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
                limits: limit::DEFAULTS.map(AtomicU64::new),
            }
        })
    }

    /// A stand-in for a destroyed context that nothing holds any more.
    fn ended(handle: Handle) -> Result<Arc<Context>> {
        let context = Context::with_handle(handle, driver()?.device(0)?, false, 0, API_VERSIONS[1]);
        context.alive.store(false, Ordering::Release);
        Ok(context)
    }

    /// A reference to itself.
    pub(crate) fn weak(&self) -> Weak<Context> {
        Weak::clone(&self.me)
    }

    /// Its number, unique in the process; a primary context has another after every reset.
    pub fn id(&self) -> u64 {
        self.id.load(Ordering::Acquire)
    }

    /// Whether it has not been destroyed.
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

    /// The preferred split of cache and shared memory: 0 to [`LAST_CACHE_CONFIG`].
    pub fn cache_config(&self) -> u32 {
        self.cache_config.load(Ordering::Relaxed)
    }

    /// Sets it.
    pub fn set_cache_config(&self, config: u32) -> Result<()> {
        if config > LAST_CACHE_CONFIG {
            return Err(Error::InvalidValue);
        }
        self.cache_config.store(config, Ordering::Relaxed);
        Ok(())
    }

    /// A limit by its number.
    pub fn limit(&self, number: u32) -> Result<u64> {
        match number {
            limit::DEV_RUNTIME_SYNC_DEPTH | limit::CIG_SHARED_MEMORY_FALLBACK => Err(Error::UnsupportedLimit),
            limit::SHARED_MEMORY_SIZE => Ok(self.device.known(attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)),
            _ => {
                self.limits.get(number as usize).map(|l| l.load(Ordering::Relaxed)).ok_or(Error::InvalidValue)
            }
        }
    }

    /// Sets a limit. It is rounded and bounded as the hardware's driver does it.
    pub fn set_limit(&self, number: u32, value: u64) -> Result<()> {
        let value = match number {
            limit::STACK_SIZE if value > limit::MOST_STACK => return Err(Error::InvalidValue),
            // Sizes below the unit are kept, except 1.
            limit::STACK_SIZE if value < limit::STACK_UNIT && value != 1 => value,
            limit::STACK_SIZE => value.next_multiple_of(limit::STACK_UNIT),
            limit::PRINTF_FIFO_SIZE => value.clamp(limit::PRINTF_FIFO[0], limit::PRINTF_FIFO[1]),
            limit::MALLOC_HEAP_SIZE if value > self.device.info.total_memory => {
                return Err(Error::OutOfMemory);
            }
            limit::MALLOC_HEAP_SIZE => value.max(limit::LEAST_HEAP),
            limit::DEV_RUNTIME_PENDING_LAUNCH_COUNT => {
                value.clamp(limit::PENDING_LAUNCHES[0], limit::PENDING_LAUNCHES[1])
            }
            limit::MAX_L2_FETCH_GRANULARITY if value > limit::MOST_L2_FETCH => {
                return Err(Error::InvalidValue);
            }
            limit::MAX_L2_FETCH_GRANULARITY | limit::PERSISTING_L2_CACHE_SIZE => value,
            limit::DEV_RUNTIME_SYNC_DEPTH | limit::CIG_SHARED_MEMORY_FALLBACK => {
                return Err(Error::UnsupportedLimit);
            }
            limit::SHARED_MEMORY_SIZE | limit::CIG_ENABLED => return Err(Error::NotPermitted),
            _ => return Err(Error::InvalidValue),
        };
        if let Some(limit) = self.limits.get(number as usize) {
            limit.store(value, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The limits that kernels run under.
    pub fn kernel_limits(&self) -> Limits {
        let [stack, printf, heap] = [limit::STACK_SIZE, limit::PRINTF_FIFO_SIZE, limit::MALLOC_HEAP_SIZE]
            .map(|number| self.limits[number as usize].load(Ordering::Relaxed));
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

    /// Forgets a stream that no handle names any more and that has nothing left to do.
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

    /// Adds the points that the rules of the legacy stream make new work in `stream` wait for.
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

    /// Waits for everything in the context. Fails after a fault.
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

    /// Begins a new life of a primary context after a reset.
    fn revive(&self, flags: u32) {
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        *lock(&self.life) = Life::new(&self.me, id, &self.device);
        for (limit, value) in self.limits.iter().zip(limit::DEFAULTS) {
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

/// The calling thread's context, which must be alive, on a device without a fault.
pub fn usable() -> Result<Arc<Context>> {
    let context = current().ok_or(Error::InvalidContext)?;
    context.check()?;
    Ok(context)
}

/// Fails if the calling thread has a context that is not alive or whose device has a fault.
pub fn check_current() -> Result<()> {
    with_stack(|s| s.last().map_or(Ok(()), |context| context.check()))?
}

/// Calls a function with the calling thread's context, which must be as for [`usable`].
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

/// Pushes a context on the calling thread's stack.
pub fn push(context: Arc<Context>) -> Result<()> {
    with_stack(|s| s.push(context))
}

/// Pops the top of the stack.
pub fn pop() -> Result<Arc<Context>> {
    with_stack(Vec::pop)?.ok_or(Error::InvalidContext)
}

/// Replaces the top of the stack; `None` pops it.
pub fn set_current(context: Option<Arc<Context>>) -> Result<()> {
    with_stack(|s| {
        s.pop();
        s.extend(context);
    })
}

/// Makes a context and pushes it on the calling thread's stack.
pub fn create(device: &Arc<Device>, flags: u32, api_version: u32) -> Result<Handle> {
    check_flags(flags)?;
    device.check()?;
    let context = Context::make(device, false, flags, api_version)?;
    let handle = context.handle;
    push(context)?;
    Ok(handle)
}

/// Destroys a context made by [`create`], and pops it from the calling thread's stack if it is on top.
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

/// Adds a user to the calling thread's context.
pub fn attach() -> Result<Handle> {
    let context = usable()?;
    context.attached.fetch_add(1, Ordering::AcqRel);
    Ok(context.handle)
}

/// Drops a user of a context; the last one destroys it.
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

/// Adds a user to the device's primary context, which is made if there is none.
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
        None => Context::make(device, true, primary.flags, API_VERSIONS[1])?,
    };
    primary.users += 1;
    primary.context = Some(Arc::clone(&context));
    Ok(context.handle)
}

/// Drops a user of the device's primary context; the last one ends it.
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

/// Ends the primary context whoever uses it; the number of users stays.
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
