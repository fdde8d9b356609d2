//! Contexts, each thread's context stack, and primary contexts.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use smallvec::SmallVec;

use crate::backend::Limits;
use crate::device::{Device, attribute};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::green::{self, Green};
use crate::handle::{self, Handle, Owner, Table, lock};
use crate::stream::{self, Kind, Point, STREAMS, Shared, Stream, capture};
use crate::{checkpoint, coredump, driver, event, memory, module, peer, usage};

/// The contexts that have handles. A destroyed context may still be on a thread's stack, which keeps it
/// alive.
pub static CONTEXTS: Table<Context> = Table::new(handle::Kind::Context);

/// Flags of contexts.
pub mod flag {
    /// The bits that choose how threads wait.
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
    /// The handle.
    pub handle: Handle,
    /// The device.
    pub device: Arc<Device>,
    /// Whether it is the device's primary context.
    pub primary: bool,
    /// The API version it was created with, one of [`API_VERSIONS`].
    pub api_version: u32,
    me: Weak<Context>,
    life: Mutex<Life>,
    id: AtomicU64,
    alive: AtomicBool,
    flags: AtomicU32,
    attached: AtomicU32,
    cache_config: AtomicU32,
    limits: [AtomicU64; limit::COUNT],
    /// Its events.
    pub(crate) events: Owner,
}

/// State of a context from its creation or reset until it is destroyed or reset.
struct Life {
    shared: Arc<Shared>,
    legacy: Arc<Stream>,
    streams: Vec<Arc<Stream>>,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A number that no context has, nor a green one.
pub(crate) fn new_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

/// The numbers of context limits, and the bounds that the hardware's driver applies to them.
pub mod limit {
    /// Stack size of a thread in bytes.
    pub const STACK_SIZE: u32 = 0;
    /// Size of the device `printf` buffer in bytes.
    pub const PRINTF_FIFO_SIZE: u32 = 1;
    /// Size of the device `malloc` heap in bytes.
    pub const MALLOC_HEAP_SIZE: u32 = 2;
    /// Nesting depth to which a kernel may synchronise with grids it launched. Devices have this limit before
    /// capability 9.0. It is kept and has no effect, because kernels cannot wait for grids.
    pub const DEV_RUNTIME_SYNC_DEPTH: u32 = 3;
    /// Maximum number of pending launches from kernels.
    pub const DEV_RUNTIME_PENDING_LAUNCH_COUNT: u32 = 4;
    /// L2 fetch granularity in bytes; a hint.
    pub const MAX_L2_FETCH_GRANULARITY: u32 = 5;
    /// Bytes of L2 cache set aside for persisting accesses.
    pub const PERSISTING_L2_CACHE_SIZE: u32 = 6;
    /// Bytes of shared memory of a block.
    pub const SHARED_MEMORY_SIZE: u32 = 7;
    /// Whether the context shares the device with a graphics API (CUDA in graphics).
    pub const CIG_ENABLED: u32 = 8;
    /// Whether such a context may fall back to less shared memory.
    pub const CIG_SHARED_MEMORY_FALLBACK: u32 = 9;

    /// The number of limits that each context stores; the others are fixed.
    pub(super) const COUNT: usize = 9;
    /// The limits of a new context.
    pub(super) const DEFAULTS: [u64; COUNT] = [1024, 8_650_752, 8 << 20, 2, 2048, 64, 0, 0, 0];

    /// The largest stack size that can be set.
    pub(super) const MOST_STACK: u64 = 0x7_fff0;
    /// Stack sizes are rounded up to multiples of this.
    pub(super) const STACK_UNIT: u64 = 16;
    /// The minimum and maximum size of the device `printf` buffer in bytes.
    pub(super) const PRINTF_FIFO: [u64; 2] = [512 << 10, 2 << 30];
    /// The minimum size of the device `malloc` heap.
    pub(super) const LEAST_HEAP: u64 = 4 << 20;
    /// The maximum depth of synchronisation.
    pub(super) const MOST_SYNC_DEPTH: u64 = 24;
    /// The minimum and maximum number of pending launches.
    pub(super) const PENDING_LAUNCHES: [u64; 2] = [32, 599_186];
    /// The maximum L2 fetch granularity.
    pub(super) const MOST_L2_FETCH: u64 = 128;
}

/// The highest valid cache configuration.
pub const LAST_CACHE_CONFIG: u32 = 3;
/// The API versions that a context can report.
pub const API_VERSIONS: [u32; 2] = [3010, 3020];

/// Checks context flags.
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
        let (_, context) = made.ok_or(Error::OutOfMemory)?;
        usage::contexts(device.ordinal, 1);
        checkpoint::other::serve();
        Ok(context)
    }

    fn with_handle(
        handle: Handle,
        device: &Arc<Device>,
        primary: bool,
        flags: u32,
        api_version: u32,
    ) -> Arc<Context> {
        Arc::new_cyclic(|me: &Weak<Context>| {
            let id = new_id();
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
                events: Owner::new(),
            }
        })
    }

    /// A stand-in for a destroyed context that nothing refers to any more.
    fn ended(handle: Handle) -> Result<Arc<Context>> {
        let context = Context::with_handle(handle, driver()?.device(0)?, false, 0, API_VERSIONS[1]);
        context.alive.store(false, Ordering::Release);
        Ok(context)
    }

    /// A weak reference to this context.
    pub(crate) fn weak(&self) -> Weak<Context> {
        Weak::clone(&self.me)
    }

    /// A number unique in the process; a primary context gets a new one after every reset.
    pub fn id(&self) -> u64 {
        self.id.load(Ordering::Acquire)
    }

    /// Whether the context has not been destroyed.
    pub fn alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Fails if the context is destroyed or a kernel has faulted.
    pub fn check(&self) -> Result<()> {
        if !self.alive() {
            return Err(Error::ContextIsDestroyed);
        }
        self.device.check()
    }

    /// The context flags.
    pub fn flags(&self) -> u32 {
        self.flags.load(Ordering::Relaxed) | flag::MAP_HOST
    }

    /// Sets the context flags.
    pub fn set_flags(&self, flags: u32) -> Result<()> {
        check_flags(flags)?;
        self.flags.store(flags, Ordering::Relaxed);
        Ok(())
    }

    /// The preferred split of L1 cache and shared memory: 0 to [`LAST_CACHE_CONFIG`].
    pub fn cache_config(&self) -> u32 {
        self.cache_config.load(Ordering::Relaxed)
    }

    /// Sets the preferred split of L1 cache and shared memory.
    pub fn set_cache_config(&self, config: u32) -> Result<()> {
        if config > LAST_CACHE_CONFIG {
            return Err(Error::InvalidValue);
        }
        self.cache_config.store(config, Ordering::Relaxed);
        Ok(())
    }

    /// The value of a limit.
    pub fn limit(&self, number: u32) -> Result<u64> {
        match number {
            limit::DEV_RUNTIME_SYNC_DEPTH if !self.has_sync_depth() => Err(Error::UnsupportedLimit),
            limit::CIG_SHARED_MEMORY_FALLBACK => Err(Error::UnsupportedLimit),
            limit::SHARED_MEMORY_SIZE => Ok(self.device.known(attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)),
            _ => {
                self.limits.get(number as usize).map(|l| l.load(Ordering::Relaxed)).ok_or(Error::InvalidValue)
            }
        }
    }

    /// Sets a limit, rounded and clamped as the hardware's driver does it.
    pub fn set_limit(&self, number: u32, value: u64) -> Result<()> {
        let value = match number {
            limit::STACK_SIZE if value > limit::MOST_STACK => return Err(Error::InvalidValue),
            // The hardware's driver keeps sizes below the unit unrounded, except 1.
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
            limit::DEV_RUNTIME_SYNC_DEPTH if self.has_sync_depth() => value.min(limit::MOST_SYNC_DEPTH),
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

    /// Whether [`limit::DEV_RUNTIME_SYNC_DEPTH`] applies.
    fn has_sync_depth(&self) -> bool {
        self.device.info.compute_capability < (9, 0)
    }

    /// The limits that kernels run under.
    pub fn kernel_limits(&self) -> Limits {
        let of = |number: u32| self.limits[number as usize].load(Ordering::Relaxed);
        Limits {
            stack: of(limit::STACK_SIZE),
            heap: of(limit::MALLOC_HEAP_SIZE),
            printf: of(limit::PRINTF_FIFO_SIZE),
            pending: of(limit::DEV_RUNTIME_PENDING_LAUNCH_COUNT),
        }
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

    /// Drops a stream whose handle is destroyed and that has no work left.
    pub(crate) fn forget_stream(&self, stream: &Arc<Stream>) {
        let mut life = lock(&self.life);
        let place = stream.place.load(Ordering::Relaxed);
        // A reset may already have dropped all streams.
        if life.streams.get(place).is_some_and(|s| Arc::ptr_eq(s, stream)) {
            life.streams.swap_remove(place);
            if let Some(moved) = life.streams.get(place) {
                moved.place.store(place, Ordering::Relaxed);
            }
        }
    }

    /// Creates a stream.
    pub fn create_stream(&self, kind: Kind, priority: i32) -> Result<Handle> {
        STREAMS
            .insert_with(|handle| self.new_stream(handle, kind, priority))
            .map(|s| s.0)
            .ok_or(Error::OutOfMemory)
    }

    /// Adds the points that new work in `stream` must wait for by the rules of the legacy stream.
    pub(crate) fn default_stream_waits(&self, stream: &Arc<Stream>, after: &mut SmallVec<[Point; 1]>) {
        let life = lock(&self.life);
        if stream.kind == Kind::Legacy {
            let busy = life.shared.busy.streams();
            after.extend(busy.iter().filter(|s| s.kind == Kind::Blocking).map(Stream::point));
        } else if !life.legacy.idle() {
            after.push(life.legacy.point());
        }
    }

    /// For calls that concern all streams of the context: fails if one is capturing, and invalidates the
    /// capture.
    ///
    /// # Errors
    /// [`Error::StreamCaptureUnsupported`]
    pub fn check_not_capturing(&self) -> Result<()> {
        capture::check_context(self)
    }

    /// Records everything that was submitted to its streams.
    ///
    /// # Errors
    /// As for [`Green::record`].
    pub fn record(&self, event: &Arc<Event>) -> Result<()> {
        self.check_not_capturing()?;
        // In a stream that is ordered with no other one.
        let handle = self.create_stream(Kind::NonBlocking, 0)?;
        let record = || {
            let gather = STREAMS.get(handle).ok_or(Error::ContextIsDestroyed)?;
            let others = self.all_streams();
            let mut others = others.iter().filter(|stream| !Arc::ptr_eq(stream, &gather));
            others.try_for_each(|stream| Event::order(self, stream, &gather))?;
            event.record(&gather)
        };
        let recorded = record();
        stream::destroy(handle);
        recorded
    }

    /// Makes everything that is submitted to its streams later wait for an event.
    ///
    /// # Errors
    /// As for [`Green::record`].
    pub fn wait(&self, event: &Arc<Event>) -> Result<()> {
        self.check_not_capturing()?;
        self.all_streams().iter().try_for_each(|stream| event.wait_in(stream))
    }

    /// Its streams, the legacy one last.
    fn all_streams(&self) -> Vec<Arc<Stream>> {
        let life = lock(&self.life);
        life.streams.iter().chain([&life.legacy]).cloned().collect()
    }

    /// Waits for all work in the context. Fails after a fault.
    pub fn synchronize(&self) -> Result<()> {
        self.check_not_capturing()?;
        self.settle();
        self.check()
    }

    /// The streams that have work.
    fn busy_streams(&self) -> SmallVec<[Arc<Stream>; 4]> {
        let life = lock(&self.life);
        let mut busy = life.shared.busy.streams();
        if !life.legacy.idle() {
            busy.push(Arc::clone(&life.legacy));
        }
        busy
    }

    /// Waits for all work in the context.
    pub(crate) fn settle(&self) {
        settle_streams(&self.busy_streams());
    }

    /// As [`Context::settle`], but fails if the wait was refused.
    ///
    /// # Errors
    /// [`Error::NotPermitted`]: the caller is a host function of one of the streams.
    pub(crate) fn settled(&self) -> Result<()> {
        self.settle();
        stream::permitted()
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
        capture::context_ended(id);
        event::context_ended(&self.events, id);
        module::context_ended(id);
        memory::context_ended(id);
        peer::context_ended(id);
        coredump::context_ended(id);
        if let Ok(driver) = driver() {
            driver.backend.context_destroyed(id);
        }
        usage::contexts(self.device.ordinal, -1);
        if faulted {
            self.device.clear_fault();
        }
        if !self.primary {
            CONTEXTS.remove(self.handle);
        }
    }

    /// Gives a primary context new state after a reset.
    fn revive(&self, flags: u32) {
        let id = new_id();
        *lock(&self.life) = Life::new(&self.me, id, &self.device);
        for (limit, value) in self.limits.iter().zip(limit::DEFAULTS) {
            limit.store(value, Ordering::Relaxed);
        }
        self.id.store(id, Ordering::Release);
        self.cache_config.store(0, Ordering::Relaxed);
        self.flags.store(flags, Ordering::Relaxed);
        self.alive.store(true, Ordering::Release);
        usage::contexts(self.device.ordinal, 1);
        checkpoint::other::serve();
    }
}

impl Life {
    fn new(context: &Weak<Context>, id: u64, device: &Arc<Device>) -> Self {
        let shared = Arc::new(Shared::default());
        let legacy = Stream::new(0, Kind::Legacy, 0, context, id, device, &shared);
        // The state is fresh, so nothing was there.
        let _ = shared.legacy.set(Arc::downgrade(&legacy));
        Life { shared, legacy, streams: Vec::new() }
    }
}

/// An entry of a thread's stack.
struct Entry {
    context: Arc<Context>,
    /// The green context, if the entry is one's view of the primary context.
    green: Option<Arc<Green>>,
    /// The context's legacy stream, which most calls need: found here without a lock.
    legacy: Option<Arc<Stream>>,
}

impl Entry {
    /// The entry for a handle of a context, or of a green context's view.
    fn of(handle: Handle) -> Result<Entry> {
        match green::viewed(handle) {
            Some(green) => {
                Ok(Entry { context: Arc::clone(&green.context), green: Some(green), legacy: None })
            }
            None => get(handle).map(Entry::from),
        }
    }

    fn handle(&self) -> Handle {
        self.green.as_ref().map_or(self.context.handle, |green| green.handle())
    }

    fn check(&self) -> Result<()> {
        self.green.as_ref().map_or(Ok(()), |green| green.check())?;
        self.context.check()
    }

    fn legacy(&mut self) -> &Arc<Stream> {
        let id = self.context.id();
        // A reset gives the context another one.
        if self.legacy.as_ref().is_some_and(|legacy| legacy.context_id() != id) {
            self.legacy = None;
        }
        self.legacy.get_or_insert_with(|| self.context.legacy())
    }
}

impl From<Arc<Context>> for Entry {
    fn from(context: Arc<Context>) -> Self {
        Entry { context, green: None, legacy: None }
    }
}

thread_local! {
    // Without a destructor: handlers of `atexit` call the driver after the first thread's have run.
    static STACK: RefCell<ManuallyDrop<Vec<Entry>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

fn with_stack<T>(f: impl FnOnce(&mut Vec<Entry>) -> T) -> Result<T> {
    STACK.try_with(|s| f(&mut s.borrow_mut())).map_err(|_| Error::Deinitialized)
}

/// The same for a function that adds an entry, which the thread's end removes.
fn add_to_stack<T>(f: impl FnOnce(&mut Vec<Entry>) -> T) -> Result<T> {
    if with_stack(|s| s.capacity() == 0)? {
        // The contexts are dropped when the stack is no longer borrowed.
        host::threads::at_end(|| drop(with_stack(std::mem::take)));
    }
    with_stack(f)
}

/// Waits for the work of streams, among which are those for which it waits.
fn settle_streams(busy: &[Arc<Stream>]) {
    // Before the wait for others, which may wait for the caller as well.
    if busy.iter().any(|stream| stream.waits_for_caller()) {
        stream::refuse();
        return;
    }
    busy.iter().for_each(Stream::synchronize);
}

/// Waits for all work in the calling thread's current context: [`Context::synchronize`] without a reference
/// to the context, which a brief wait would notice.
pub fn synchronize_current() -> Result<()> {
    /// The streams to wait for.
    enum Wait {
        None,
        Legacy(Arc<Stream>),
        Several(SmallVec<[Arc<Stream>; 4]>),
    }
    let wait: Result<Wait> = with_usable_entry(|entry| {
        entry.context.check_not_capturing()?;
        let legacy = entry.legacy();
        Ok(match legacy.has_many_streams() {
            false if legacy.idle() => Wait::None,
            false => Wait::Legacy(Arc::clone(legacy)),
            true => Wait::Several(entry.context.busy_streams()),
        })
    })?;
    match wait? {
        Wait::None => {}
        Wait::Legacy(stream) => stream.synchronize(),
        Wait::Several(streams) => settle_streams(&streams),
    }
    with_usable(|_| ())
}

/// The legacy stream of the calling thread's current context; fails where [`usable`] does.
pub fn usable_legacy() -> Result<Arc<Stream>> {
    with_usable_entry(|entry| Arc::clone(entry.legacy()))
}

/// Waits for all work in all contexts.
pub(crate) fn settle_all() {
    for context in CONTEXTS.all() {
        if context.alive() {
            context.settle();
        }
    }
}

/// As [`settle_all`], but fails if a wait was refused.
///
/// # Errors
/// [`Error::NotPermitted`]: the caller is a host function of a stream.
pub(crate) fn settled_all() -> Result<()> {
    CONTEXTS.all().iter().filter(|context| context.alive()).try_for_each(|context| context.settled())
}

/// Whether no work is pending or running in any context.
pub(crate) fn all_idle() -> bool {
    CONTEXTS.all().iter().filter(|context| context.alive()).all(|context| {
        let life = lock(&context.life);
        life.legacy.idle() && life.shared.busy.streams().is_empty()
    })
}

/// The calling thread's current context, even if it is destroyed.
pub fn current() -> Option<Arc<Context>> {
    with_current(Arc::clone)
}

/// Calls a function with the calling thread's current context, even if it is destroyed.
pub(crate) fn with_current<T>(f: impl FnOnce(&Arc<Context>) -> T) -> Option<T> {
    with_stack(|s| s.last().map(|entry| f(&entry.context))).ok().flatten()
}

/// The handle by which the calling thread's current context was made current; 0 if there is none.
pub fn current_handle() -> Handle {
    with_stack(|s| s.last().map_or(0, Entry::handle)).unwrap_or(0)
}

/// The green context whose view is the calling thread's current context.
pub fn current_green() -> Option<Arc<Green>> {
    with_stack(|s| s.last().and_then(|entry| entry.green.clone())).ok().flatten()
}

/// The calling thread's current context. Fails if it is destroyed or a kernel has faulted.
pub fn usable() -> Result<Arc<Context>> {
    with_usable(Arc::clone)
}

/// Fails if the calling thread has a current context that is destroyed or in which a kernel has faulted.
pub fn check_current() -> Result<()> {
    with_stack(|s| s.last().map_or(Ok(()), Entry::check))?
}

/// Calls a function with the calling thread's current context; fails where [`usable`] does.
pub fn with_usable<T>(f: impl FnOnce(&Arc<Context>) -> T) -> Result<T> {
    with_usable_entry(|entry| f(&entry.context))
}

fn with_usable_entry<T>(f: impl FnOnce(&mut Entry) -> T) -> Result<T> {
    with_stack(|s| {
        let entry = s.last_mut().ok_or(Error::InvalidContext)?;
        entry.check()?;
        Ok(f(entry))
    })?
}

/// The context of a handle, even if it is destroyed; for the view of a green context, the primary context.
pub fn get(handle: Handle) -> Result<Arc<Context>> {
    match CONTEXTS.get(handle) {
        Some(context) => Ok(context),
        None if CONTEXTS.has_ended(handle) => Context::ended(handle),
        None => match green::viewed(handle) {
            Some(green) => Ok(Arc::clone(&green.context)),
            None => Err(Error::InvalidContext),
        },
    }
}

/// Pushes the context of a handle, which may be a green context's view, onto the calling thread's stack.
pub fn push_by(handle: Handle) -> Result<()> {
    let entry = Entry::of(handle)?;
    add_to_stack(|s| s.push(entry))
}

/// Replaces the top of the stack by the context of a handle; 0 pops it.
pub fn set_current_by(handle: Handle) -> Result<()> {
    let entry = if handle == 0 { None } else { Some(Entry::of(handle)?) };
    add_to_stack(|s| {
        s.pop();
        s.extend(entry);
    })
}

/// Pops the top of the stack; returns the handle by which it was pushed.
pub fn pop_handle() -> Result<Handle> {
    with_stack(Vec::pop)?.map(|entry| entry.handle()).ok_or(Error::InvalidContext)
}

/// Pushes a context onto the calling thread's stack.
pub fn push(context: Arc<Context>) -> Result<()> {
    add_to_stack(|s| s.push(context.into()))
}

/// Pops the top of the stack.
pub fn pop() -> Result<Arc<Context>> {
    with_stack(Vec::pop)?.map(|entry| entry.context).ok_or(Error::InvalidContext)
}

/// Replaces the top of the stack; `None` pops it.
pub fn set_current(context: Option<Arc<Context>>) -> Result<()> {
    add_to_stack(|s| {
        s.pop();
        s.extend(context.map(Entry::from));
    })
}

/// Creates a context and pushes it onto the calling thread's stack.
pub fn create(device: &Arc<Device>, flags: u32, api_version: u32) -> Result<Handle> {
    check_flags(flags)?;
    device.check()?;
    let context = Context::make(device, false, flags, api_version)?;
    let handle = context.handle;
    push(context)?;
    Ok(handle)
}

/// Destroys a context created by [`create`]. Pops it once if it is on top of the calling thread's stack;
/// other entries, here and in other threads, stay and are refused as destroyed.
pub fn destroy(context: &Arc<Context>) -> Result<()> {
    if context.primary || !context.alive() {
        return Err(Error::InvalidContext);
    }
    context.settled()?;
    context.end();
    with_stack(|s| {
        if s.last().is_some_and(|top| Arc::ptr_eq(&top.context, context)) {
            s.pop();
        }
    })
}

/// Adds a reference to the calling thread's current context.
pub fn attach() -> Result<Handle> {
    let context = usable()?;
    context.attached.fetch_add(1, Ordering::AcqRel);
    Ok(context.handle)
}

/// Drops a reference to a context; the last one destroys it.
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

/// Adds a reference to the device's primary context, which is created if it is not active.
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

/// Drops a reference to the device's primary context; the last one destroys it.
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

/// Resets the primary context, even if it is in use; the reference count stays.
pub fn reset_primary(device: &Arc<Device>) {
    let context = {
        let mut primary = lock(&device.primary);
        primary.flags = 0;
        primary.context.clone()
    };
    if let Some(context) = context {
        if context.settled().is_err() {
            return;
        }
        context.end();
    }
    device.clear_fault();
}

/// The primary context, if it is active.
pub fn primary(device: &Device) -> Option<Arc<Context>> {
    lock(&device.primary).context.clone().filter(|c| c.alive())
}

/// The primary context's flags, and whether it is active.
pub fn primary_state(device: &Device) -> (u32, bool) {
    let primary = lock(&device.primary);
    (primary.flags, primary.context.as_ref().is_some_and(|c| c.alive()))
}

/// Sets the flags of the primary context, both now and when it is next created.
pub fn set_primary_flags(device: &Device, flags: u32) -> Result<()> {
    check_flags(flags)?;
    let mut primary = lock(&device.primary);
    primary.flags = flags;
    if let Some(context) = &primary.context {
        context.flags.store(flags, Ordering::Relaxed);
    }
    Ok(())
}
