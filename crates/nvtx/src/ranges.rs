//! The ranges that are open, and the texts that programs register.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use driver::profile;
use host::options::Options;

/// A domain: the number of its name, from 1. The program holds it as a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Domain(usize);

impl Domain {
    /// The one that functions without a domain use.
    pub const NONE: Domain = Domain(0);
}

/// A range that has begun.
struct Open {
    name: String,
    from: u64,
}

thread_local! {
    /// This thread's ranges by domain, the innermost last.
    static PUSHED: RefCell<HashMap<Domain, Vec<Open>>> = RefCell::default();
}

/// The ranges that end by number, in whichever thread.
static STARTED: LazyLock<Mutex<HashMap<u64, Open>>> = LazyLock::new(Mutex::default);
static NEXT: AtomicU64 = AtomicU64::new(1);
/// The names of domains.
static DOMAINS: LazyLock<Mutex<Texts>> = LazyLock::new(Mutex::default);
/// The registered texts.
static TEXTS: LazyLock<Mutex<Texts>> = LazyLock::new(Mutex::default);

/// Texts with numbers from 1, each once.
#[derive(Default)]
struct Texts {
    all: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, usize>,
}

impl Texts {
    fn number(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let text: Arc<str> = text.into();
        self.all.push(text.clone());
        self.numbers.insert(text, self.all.len());
        self.all.len()
    }

    fn get(&self, number: usize) -> Option<Arc<str>> {
        self.all.get(number.checked_sub(1)?).cloned()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

extern "C" fn forked() {
    profile::stop();
}

/// Starts recording if the options ask for it. Each copy of NVTX in a process asks once. The child of a fork
/// records nothing.
pub fn start(options: &Options) -> bool {
    static DONE: AtomicBool = AtomicBool::new(false);
    if !DONE.swap(true, Ordering::SeqCst) {
        profile::start(options);
        // SAFETY: the function lives as long as the library, which NVTX does not close.
        unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    }
    profile::is_on()
}

/// A domain of this name.
pub fn domain(name: &str) -> Domain {
    Domain(lock(&DOMAINS).number(name))
}

/// The handle of a text, by which attributes may name it.
pub fn register(text: &str) -> *mut c_void {
    std::ptr::without_provenance_mut(lock(&TEXTS).number(text))
}

/// The text of a handle; empty if there is no such handle.
pub fn registered(handle: *const c_void) -> String {
    lock(&TEXTS).get(handle.addr()).map_or_else(String::new, |text| (*text).to_owned())
}

/// `domain: name`, as it is recorded.
fn full(domain: Domain, name: &str) -> String {
    let name = if name.is_empty() { "(no name)" } else { name };
    let known = lock(&DOMAINS).get(domain.0);
    match known {
        Some(domain) => format!("{domain}: {name}"),
        None => name.to_owned(),
    }
}

fn open(domain: Domain, name: &str) -> Open {
    Open { name: full(domain, name), from: profile::now() }
}

fn close(range: &Open) {
    profile::range(&range.name, thread(), range.from);
}

fn thread() -> u64 {
    // SAFETY: the call has no conditions.
    unsafe { libc::gettid() as u64 }
}

/// Records a moment.
pub fn mark(domain: Domain, name: &str) {
    profile::mark(&full(domain, name), thread());
}

/// Begins a range within the thread's last; its level, from 0. `None`: the thread is ending.
pub fn push(domain: Domain, name: &str) -> Option<i32> {
    let range = open(domain, name);
    let level = PUSHED.try_with(|pushed| {
        let mut pushed = pushed.borrow_mut();
        let stack = pushed.entry(domain).or_default();
        stack.push(range);
        stack.len() - 1
    });
    level.ok()?.try_into().ok()
}

/// Ends the thread's last range; its level. `None`: there is none.
pub fn pop(domain: Domain) -> Option<i32> {
    let popped = PUSHED.try_with(|pushed| {
        let mut pushed = pushed.borrow_mut();
        let stack = pushed.get_mut(&domain)?;
        Some((stack.pop()?, stack.len()))
    });
    let (range, level) = popped.ok()??;
    close(&range);
    level.try_into().ok()
}

/// Begins a range that any thread may end; its number.
pub fn start_range(domain: Domain, name: &str) -> u64 {
    let range = open(domain, name);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    lock(&STARTED).insert(number, range);
    number
}

/// Ends the range with this number, if there is one.
pub fn end_range(number: u64) {
    let range = lock(&STARTED).remove(&number);
    if let Some(range) = range {
        close(&range);
    }
}

/// Records a thread's name.
pub fn name_thread(thread: u32, name: &str) {
    profile::name_thread(name, thread.into());
}
