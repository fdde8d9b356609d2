//! The child process, which does the work: reads one file per line and writes one line per kernel.
//!
//! An input line is a [`Share`] and the file, separated by tabs. The output is the module's row, written only
//! by the child with the first share; then for each kernel `begin` with its name, and its row; then `done`.

use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use cpu::{Engine, Making, Program, Rules, Specialisation};
use host::options::Options;
use simd::Compiled;
use wave::{FuncId, Function};

use crate::commands::extract;
use crate::files;
use crate::parts::{self, Part};

use super::row::{Outcome, Row};

/// Written before each kernel.
pub const BEGIN: &str = "begin\t";
/// Written after each module.
pub const DONE: &str = "done";

/// What to do with a module.
#[derive(Clone, Copy)]
pub struct Work {
    /// Whether to compile its kernels.
    pub compile: bool,
    /// The percentage of kernels to compile.
    pub sample: u32,
}

/// A share of a module's kernels: every `of`th one from number `part` on, without the first `known` of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    pub part: usize,
    pub of: usize,
    pub known: usize,
}

impl Share {
    /// The share as the beginning of an input line.
    pub fn line(self) -> String {
        format!("{}\t{}\t{}", self.part, self.of, self.known)
    }

    /// Parses an input line: the share, and the file.
    fn read(line: &str) -> Option<(Share, &str)> {
        let mut words = line.splitn(4, '\t');
        let mut number = || words.next()?.parse().ok();
        let (part, of, known) = (number()?, number()?, number()?);
        (of > 0).then_some((Share { part, of, known }, words.next()?))
    }
}

/// Processor time in seconds, of the process or of the current thread.
fn processor(clock: libc::clockid_t) -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every Linux, and `time` is valid for writing.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Whether a sample contains a kernel; depends only on its name (FNV-1a).
fn sampled(name: &str, percent: u32) -> bool {
    let step = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step) % 100 < u64::from(percent)
}

/// The launch that a kernel is compiled for: the block that it requires, otherwise 256 threads, or fewer if
/// it allows fewer.
fn specialisation(function: &Function) -> Specialisation {
    let info = function.kernel.as_ref();
    let required = info.map(|k| k.required_block).filter(|b| b.iter().all(|&n| n != 0));
    let most = info.map(|k| k.max_threads).filter(|&n| n != 0).unwrap_or(256);
    Specialisation::of_launch([1, 1, 1], required.unwrap_or([most.min(256), 1, 1]))
}

fn compile(program: &Program, id: FuncId, function: &Function, mut row: Row) -> Row {
    let request = program.request(id, specialisation(function));
    let (start, before) = (Instant::now(), processor(libc::CLOCK_THREAD_CPUTIME_ID));
    match Compiled::new(&request, None, &|| ()) {
        Ok(made) => {
            row.outcome = if made.report.per_lane { Outcome::PerLane } else { Outcome::Compiled };
            row.effort = made.report.effort.name().into();
        }
        Err(error) => (row.outcome, row.reason) = (Outcome::Interpreted, error.to_string()),
    }
    (row.seconds, row.processor) =
        (start.elapsed().as_secs_f64(), processor(libc::CLOCK_THREAD_CPUTIME_ID) - before);
    row
}

/// Checks each piece of code in a file. Kernels are counted over all of them.
fn check(path: &str, share: Share, work: Work, making: &Making, out: &mut impl Write) -> Result<()> {
    let mut row = Row {
        module: path.into(),
        kernel: String::new(),
        outcome: Outcome::Refused,
        effort: String::new(),
        size: 0,
        seconds: 0.0,
        processor: 0.0,
        reason: String::new(),
    };
    let first = share.part == 0 && share.known == 0;
    let bytes = files::read(Path::new(path), files::MOST_LIBRARY);
    let parts = bytes.as_ref().map_err(|error| anyhow!("{error:#}")).and_then(|bytes| parts::of(path, bytes));
    let parts = match parts {
        Ok(parts) => parts,
        Err(_) if !first => return Ok(()),
        Err(error) => {
            row.reason = format!("{error:#}");
            writeln!(out, "{}", row.line())?;
            return Ok(());
        }
    };
    if parts.is_empty() && first {
        row.reason = extract::nothing(bytes.as_deref().unwrap_or_default());
        writeln!(out, "{}", row.line())?;
    }
    let mut before = 0;
    for (number, part) in (1..).zip(&parts) {
        let module =
            if parts.len() > 1 { format!("{path}, part {number}: {}", part.target) } else { path.into() };
        before += check_part(part, Row { module, ..row.clone() }, before, share, work, making, out)?;
    }
    Ok(())
}

/// Checks one piece of code and returns the number of its kernels. `before` is the number of the share's
/// kernels before it.
fn check_part(
    part: &Part,
    mut row: Row,
    before: usize,
    share: Share,
    work: Work,
    making: &Making,
    out: &mut impl Write,
) -> Result<usize> {
    // A child that goes on after another one does not repeat the row of a module whose kernels were begun.
    let first = share.part == 0 && share.known <= before;
    let making = making.clone();
    let rules = Rules { engine: Engine::Compiled, making, complete: false, ..Rules::default() };
    let (start, processor_before) = (Instant::now(), processor(libc::CLOCK_PROCESS_CPUTIME_ID));
    let loaded = part.load(&row.module, &rules);
    row.size = part.text().bytes().filter(|&b| b == b';').count() as u64;
    row.seconds = start.elapsed().as_secs_f64();
    row.processor = processor(libc::CLOCK_PROCESS_CPUTIME_ID) - processor_before;
    let program = match loaded {
        Ok(program) => program,
        Err(_) if !first => return Ok(0),
        Err(error) => {
            row.reason = error.findings.first().map_or(error.log, |d| d.message.clone());
            writeln!(out, "{}", row.line())?;
            return Ok(0);
        }
    };
    row.outcome = Outcome::Loaded;
    if first {
        writeln!(out, "{}", row.line())?;
    }
    let kernels = program.module().kernels().skip(share.part).step_by(share.of);
    let count = program.module().kernels().skip(share.part).step_by(share.of).count();
    for (id, head) in kernels.skip(share.known.saturating_sub(before)) {
        let function = program.module_of(id).functions.get(id.index()).map_or(head, |f| &**f);
        let size = function.blocks.iter().map(|b| b.insts.len() as u64).sum();
        let (kernel, outcome) = (function.name.clone(), Outcome::Skipped);
        let row = Row { kernel, outcome, size, seconds: 0.0, processor: 0.0, ..row.clone() };
        writeln!(out, "{BEGIN}{}", row.kernel)?;
        out.flush()?;
        let row = if let Some(reason) = program.refused(id) {
            Row { outcome: Outcome::Refused, reason: reason.into(), ..row }
        } else if work.compile && sampled(&row.kernel, work.sample) {
            compile(&program, id, function, row)
        } else {
            row
        };
        writeln!(out, "{}", row.line())?;
    }
    Ok(count)
}

/// Processes input lines until the input ends.
pub fn run(work: Work, options: &Options) -> Result<()> {
    // The cache is neither read nor written.
    let making = Making { cache: None, ..Making::of(options) };
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (share, path) = Share::read(&line).context("a line has three numbers and a file")?;
        check(path, share, work, &making, &mut out)?;
        writeln!(out, "{DONE}")?;
        out.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_read_as_it_is_written() {
        let share = Share { part: 3, of: 16, known: 5 };
        assert_eq!(Share::read(&format!("{}\ta\tb.ptx", share.line())), Some((share, "a\tb.ptx")));
        for bad in ["", "1\t2", "1\t0\t0\tx.ptx", "1\t2\tx\tx.ptx"] {
            assert_eq!(Share::read(bad), None, "{bad:?}");
        }
    }
}
