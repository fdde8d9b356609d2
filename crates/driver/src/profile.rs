//! Recording where a program's time goes (`ANYWARP_PROFILE`), for `anywarp prof`.
//!
//! Streams report each piece of work with its times (`recorder`). The recorder keeps totals by kernel and
//! by kind in a file of the process, which it updates after each piece of work with one write: a process that
//! is killed, or ends without running its exit handlers, loses nothing. Without the option, each operation of
//! a stream looks at one flag.

mod file;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use host::folder::Folder;
use host::options::Options;
use host::threads::Turn;

#[cfg(doc)]
use crate::backend::LaunchRequest;
use crate::error::Result;
use crate::handle::lock;
use crate::launch::Prepared;
use crate::log;
use crate::stream::{Operation, Stream};

pub use file::{Counts, Entry, Event, Figures, Kind, Process, parse};

/// Suffix of the files' names.
pub const TOTALS: &str = ".totals";
/// As [`TOTALS`], for events.
pub const EVENTS: &str = ".events";

/// Maximum number of distinct names, separately for ranges, marks and threads.
const MOST_NAMES: usize = 10_000;
/// The name of those that come after.
const OTHERS: &str = "(others)";

static ON: AtomicBool = AtomicBool::new(false);
static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// Nanoseconds of the system's clock since its start, the same in all processes.
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the structure. It cannot fail for this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Starts recording if the options ask for it. If the files cannot be created, this is logged.
///
/// A program has one recorder for each library of ours that records: the driver, and the one for NVTX.
pub fn start(options: &Options) {
    let Some(folder) = &options.profile else { return };
    match Recorder::create(folder, options.profile_events, options.profile_counters) {
        Ok(recorder) => {
            let _ = RECORDER.set(recorder);
            ON.store(true, Ordering::Release);
        }
        Err(reason) => log::say(log::Level::Error, || {
            format!("ANYWARP_PROFILE: nothing is recorded: {}: {reason}", folder.display())
        }),
    }
}

/// Stops recording: in the child of a fork, which shares the files with its parent, and after an error.
pub fn stop() {
    ON.store(false, Ordering::Relaxed);
}

/// Whether this process records.
pub fn is_on() -> bool {
    ON.load(Ordering::Acquire)
}

/// Records a range of the program's that ends now. `thread`: the system's number of the thread.
pub fn range(name: &str, thread: u64, from: u64) {
    told(Kind::Range, name, thread, from);
}

/// Records a moment that the program marks.
pub fn mark(name: &str, thread: u64) {
    told(Kind::Mark, name, thread, now());
}

/// Records a thread's name.
pub fn name_thread(name: &str, thread: u64) {
    told(Kind::Thread, name, thread, now());
}

/// Records what the program tells.
fn told(kind: Kind, name: &str, thread: u64, from: u64) {
    if let Some(recorder) = recorder() {
        let event = Event { stream: thread, from, begun: from, to: now(), ..Event::default() };
        recorder.record(kind, name, event, None);
    }
}

/// The recorder, if this process records.
#[inline]
pub(crate) fn recorder() -> Option<&'static Recorder> {
    if ON.load(Ordering::Relaxed) { RECORDER.get() } else { None }
}

/// Records work.
pub(crate) struct Recorder {
    totals: File,
    events: Option<File>,
    /// Whether what launches do is counted.
    counting: bool,
    known: Mutex<Known>,
}

/// What a launch tells a profile.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured<'a> {
    /// See [`LaunchRequest::begun`].
    pub begun: Option<&'a AtomicU64>,
    /// See [`LaunchRequest::counts`].
    pub counts: Option<&'a Mutex<Counts>>,
}

/// What launches of one kernel have in common that do the same: the sizes of the grid and of a block.
type Shape = ([u32; 3], [u32; 3], u32);

/// The entries so far.
#[derive(Default)]
struct Known {
    /// By kind and name.
    indices: HashMap<Kind, HashMap<Box<str>, usize>>,
    entries: Vec<Place>,
    /// What a launch of each entry's kernel did, by its shape.
    counts: HashMap<(usize, Shape), Counts>,
    /// The size of the file.
    end: u64,
}

/// An entry: where it is in the file, and its figures.
struct Place {
    at: u64,
    figures: Figures,
}

impl Known {
    fn index(&self, kind: Kind, name: &str) -> Option<usize> {
        self.indices.get(&kind)?.get(name).copied()
    }

    /// The name under which something is recorded: programs may number their ranges.
    fn within_bounds<'a>(&self, kind: Kind, name: &'a str) -> &'a str {
        let is_full =
            |names: &HashMap<Box<str>, usize>| names.len() >= MOST_NAMES && !names.contains_key(name);
        match kind.is_of_program() && self.indices.get(&kind).is_some_and(is_full) {
            true => OTHERS,
            false => name,
        }
    }

    fn insert(&mut self, kind: Kind, name: &str, size: u64) -> usize {
        let index = self.entries.len();
        self.entries.push(Place { at: self.end, figures: Figures::default() });
        self.end += size;
        self.indices.entry(kind).or_default().insert(name.into(), index);
        index
    }
}

impl Recorder {
    fn create(folder: &Path, events: bool, counting: bool) -> std::result::Result<Recorder, String> {
        let folder = Folder::open_private(folder).map_err(|distrust| distrust.to_string())?;
        let (mut totals, stem) = new_file(&folder).map_err(|error| error.to_string())?;
        let header = file::header(std::process::id());
        let events = host::write::limited(|| totals.write_all(&header))
            .and_then(|()| events.then(|| folder.create(&format!("{stem}{EVENTS}"))).transpose())
            .map_err(|error| error.to_string())?;
        let known = Known { end: file::HEADER as u64 * 8, ..Known::default() };
        let recorder = Recorder { totals, events, counting, known: Mutex::new(known) };
        let program = std::env::current_exe().unwrap_or_default();
        recorder
            .entry(&mut lock(&recorder.known), Kind::Process, &program.to_string_lossy())
            .map_err(|error| error.to_string())?;
        Ok(recorder)
    }

    /// Runs an operation of a stream and records it.
    #[cold]
    pub(crate) fn operation(
        &self,
        operation: &Operation,
        stream: &Arc<Stream>,
        turn: Option<&Turn>,
    ) -> Result<()> {
        let (kind, bytes) = match operation {
            Operation::Launch(launch) => return self.launch(launch, stream, |measured| launch.run(measured)),
            _ => match operation.kind() {
                Some(found) => found,
                None => return operation.perform(stream, turn),
            },
        };
        let from = now();
        let result = operation.perform(stream, turn);
        self.work(kind, stream, from, bytes);
        result
    }

    /// Runs a launch, which tells when its code was there, and records it. Of launches of one shape, the
    /// first is counted: counting takes time, and the times of the others stay right.
    #[cold]
    pub(crate) fn launch(
        &self,
        launch: &Prepared,
        stream: &Stream,
        run: impl FnOnce(Measured<'_>) -> Result<()>,
    ) -> Result<()> {
        let config = launch.config();
        let name = &*launch.function().info().name;
        let shape = (config.grid, config.block, config.dynamic_shared);
        let known = self.counting.then(|| self.counts(name, shape)).flatten();
        let counts = Mutex::new(Counts::default());
        let counted = self.counting && known.is_none();
        let begun = AtomicU64::new(0);
        let measured = Measured { begun: Some(&begun), counts: counted.then_some(&counts) };
        let from = now();
        let result = run(measured);
        let to = now();
        let event = Event {
            from,
            // A launch that failed before its kernel ran.
            begun: match begun.into_inner() {
                0 => to,
                begun => begun,
            },
            to,
            grid: config.grid.map(u64::from),
            block: config.block.map(u64::from),
            shared: config.dynamic_shared.into(),
            ..place(stream)
        };
        let counts = known.unwrap_or_else(|| *lock(&counts));
        self.record(Kind::Kernel, name, event, self.counting.then_some((shape, counts, counted)));
        result
    }

    /// What a launch of this shape did, if one was counted.
    fn counts(&self, name: &str, shape: Shape) -> Option<Counts> {
        let known = lock(&self.known);
        known.counts.get(&(known.index(Kind::Kernel, name)?, shape)).copied()
    }

    /// Records work that has just ended.
    #[cold]
    pub(crate) fn work(&self, kind: Kind, stream: &Stream, from: u64, bytes: u64) {
        self.record(kind, "", Event { from, begun: from, to: now(), bytes, ..place(stream) }, None);
    }

    /// `counts`: what a launch of this shape did, and whether it is this one that was counted.
    fn record(&self, kind: Kind, name: &str, event: Event, counts: Option<(Shape, Counts, bool)>) {
        let time = event.to.saturating_sub(event.begun);
        let making = event.begun.saturating_sub(event.from);
        let written = (|| {
            let mut known = lock(&self.known);
            let name = known.within_bounds(kind, name);
            let index = self.entry(&mut known, kind, name)?;
            if let Some((shape, counts, true)) = counts {
                known.counts.insert((index, shape), counts);
            }
            let Some(place) = known.entries.get_mut(index) else { return Ok(()) };
            place.figures.add(time, making, event.bytes);
            if let Some((_, counts, counted)) = counts {
                place.figures.add_counts(&counts, counted.then_some(time));
            }
            let (offset, bytes) = file::figures(&place.figures);
            host::write::limited(|| self.totals.write_all_at(&bytes, place.at + offset))?;
            match &self.events {
                Some(events) => {
                    let bytes = Event { entry: index as u64, ..event }.bytes();
                    host::write::limited(|| (&*events).write_all(&bytes))
                }
                None => Ok(()),
            }
        })();
        if let Err(error) = written
            && ON.swap(false, Ordering::Relaxed)
        {
            log::say(log::Level::Error, || {
                format!("ANYWARP_PROFILE: nothing is recorded from here on: {error}")
            });
        }
    }

    /// The index of an entry, which is written if it is new.
    fn entry(&self, known: &mut Known, kind: Kind, name: &str) -> io::Result<usize> {
        if let Some(index) = known.index(kind, name) {
            return Ok(index);
        }
        let bytes = file::entry(kind, name, &Figures::default());
        host::write::limited(|| self.totals.write_all_at(&bytes, known.end))?;
        Ok(known.insert(kind, name, bytes.len() as u64))
    }
}

/// An event's place alone.
fn place(stream: &Stream) -> Event {
    Event {
        context: stream.context_id(),
        stream: stream.id,
        device: stream.ordinal().into(),
        ..Event::default()
    }
}

/// Creates the file of totals. A program that `exec` replaced, or one in another container, may have the same
/// number, and a process may hold several drivers.
fn new_file(folder: &Folder) -> io::Result<(File, String)> {
    const TRIES: u32 = 4096;
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for number in 0..TRIES {
        let stem = format!("{}-{number}", std::process::id());
        match folder.create(&format!("{stem}{TOTALS}")) {
            Ok(file) => return Ok((file, stem)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}
