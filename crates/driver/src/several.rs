//! Cooperative launches on several devices: what each grid knows of the others.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::backend::{Fault, FaultKind};
use crate::error::Result;
use crate::launch::{self, Config, Params, Prepared};
use crate::module::Function;
use crate::stream::Stream;

/// A grid among those of a launch on several devices. Barriers of all grids are the kernels' own work: they
/// meet at a word that all of them can write. If one fails, or is dropped without having run, the others end
/// too: they would wait for it forever.
#[derive(Debug)]
pub struct Among {
    /// The number of this grid, in the order of the launch's list.
    pub number: u32,
    /// The number of grids.
    pub grids: u32,
    /// The threads of the grids before this one.
    pub before: u64,
    /// The threads of all grids.
    pub threads: u64,
    meeting: Arc<Meeting>,
    ended: AtomicBool,
}

/// What the grids of a launch share.
#[derive(Debug, Default)]
struct Meeting {
    word: AtomicU64,
    /// Whether one of them has failed, and how the first did.
    broken: AtomicBool,
    why: OnceLock<FaultKind>,
}

impl Among {
    /// The address of the word at which the grids meet, zero at first. It exists as long as one of them.
    pub fn meeting(&self) -> u64 {
        self.meeting.word.as_ptr().addr() as u64
    }

    /// Becomes true when a grid has failed.
    pub fn broken(&self) -> &AtomicBool {
        &self.meeting.broken
    }

    /// The fault of the first grid that has failed.
    pub fn why(&self) -> Option<FaultKind> {
        self.meeting.why.get().copied()
    }

    /// Notes how this grid has ended.
    pub(crate) fn end(&self, result: &std::result::Result<(), Fault>) {
        self.ended.store(true, Ordering::Relaxed);
        if let Err(fault) = result {
            self.fail(fault.kind);
        }
    }

    fn fail(&self, kind: FaultKind) {
        // Only the first fault counts.
        let _ = self.meeting.why.set(kind);
        self.meeting.broken.store(true, Ordering::Release);
    }
}

impl Drop for Among {
    fn drop(&mut self) {
        if !self.ended.load(Ordering::Relaxed) {
            self.fail(FaultKind::Trap);
        }
    }
}

/// A launch that was checked, and its stream.
pub type Checked = (Arc<Function>, Config, Params, Arc<Stream>);

/// Submits checked launches, each to a stream of another device. Grids of cooperative launches know each
/// other, and run at the same time.
///
/// # Errors
/// A context or its device is in error: then no launch is submitted.
pub fn enqueue(list: Vec<Checked>) -> Result<()> {
    for (function, config, _, stream) in &list {
        stream.context()?.check()?;
        launch::check_share(function, config, stream)?;
    }
    let threads = |config: &Config| {
        config.grid.iter().chain(&config.block).fold(1u64, |n, &size| n.saturating_mul(size.into()))
    };
    let all = list.iter().fold(0u64, |sum, (_, config, ..)| sum.saturating_add(threads(config)));
    let (grids, meeting) = (list.len() as u32, Arc::<Meeting>::default());
    let mut before = 0;
    for (number, (function, config, params, stream)) in (0..).zip(list) {
        let meeting = Arc::clone(&meeting);
        let among = Among { number, grids, before, threads: all, meeting, ended: AtomicBool::new(false) };
        before = before.saturating_add(threads(&config));
        let prepared = Prepared::new(function, &config, params);
        let prepared = if config.cooperative { prepared.among(Arc::new(among)) } else { prepared };
        launch::submit(prepared, &stream)?;
    }
    Ok(())
}
