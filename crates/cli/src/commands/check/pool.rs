//! The parent process, which distributes the work and replaces children that die or take too long.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::child::{BEGIN, DONE, Share, Work};
use super::row::{Outcome, Row};

/// A child and its pipes; killed when it is dropped.
struct Worker {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Worker {
    fn new(work: Work) -> Result<Worker> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["check", "--child", "--sample", &work.sample.to_string()]);
        if !work.compile {
            command.arg("--load");
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().context("the child's input is a pipe")?;
        let output = child.stdout.take().context("the child's output is a pipe")?;
        let (send, lines) = mpsc::channel();
        // Ends when the child closes its end of the pipe.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(|line| line.ok()) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Worker { child, input, lines })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a child's answers about one module ended.
enum End {
    Done,
    /// Without an end: the child failed at the kernel that was begun last, or at the module.
    Broken(Outcome),
}

/// A module, or a share of its kernels, that is being checked.
struct Progress {
    path: String,
    share: Share,
    /// The kernel that was begun last.
    begun: Option<String>,
}

impl Progress {
    fn follow(&mut self, worker: &mut Worker, limit: Duration, rows: &Sender<Row>) -> Result<End> {
        self.begun = None;
        if writeln!(worker.input, "{}\t{}", self.share.line(), self.path).is_err() {
            return Ok(End::Broken(Outcome::Crashed));
        }
        loop {
            let line = match worker.lines.recv_timeout(limit) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => return Ok(End::Broken(Outcome::Late)),
                Err(RecvTimeoutError::Disconnected) => return Ok(End::Broken(Outcome::Crashed)),
            };
            if line == DONE {
                return Ok(End::Done);
            }
            if let Some(kernel) = line.strip_prefix(BEGIN) {
                self.begun = Some(kernel.into());
                continue;
            }
            let row = Row::read(&line).with_context(|| format!("a child said `{line}`"))?;
            self.share.known += usize::from(!row.kernel.is_empty());
            self.begun = None;
            // The receiver is gone if the whole check has failed.
            let _ = rows.send(row);
        }
    }
}

/// Size in bytes from which a module's kernels are shared out: loading the module again costs little compared
/// with compiling them.
const SHARED_FROM: u64 = 1 << 20;

fn module(
    (path, share): (PathBuf, Share),
    work: Work,
    limit: Duration,
    slot: &mut Option<Worker>,
    rows: &Sender<Row>,
) -> Result<()> {
    let mut progress = Progress { path: path.display().to_string(), share, begun: None };
    loop {
        let worker = match slot {
            Some(worker) => worker,
            None => slot.insert(Worker::new(work)?),
        };
        let End::Broken(outcome) = progress.follow(worker, limit, rows)? else { return Ok(()) };
        *slot = None;
        let kernel = progress.begun.take();
        let whole_module = kernel.is_none();
        // The first share reports it.
        if whole_module && share.part > 0 {
            return Ok(());
        }
        let reason = match outcome {
            Outcome::Late => format!("took more than {} s", limit.as_secs()),
            _ => "the child process died".into(),
        };
        let _ = rows.send(Row {
            module: progress.path.clone(),
            kernel: kernel.unwrap_or_default(),
            outcome,
            effort: String::new(),
            size: 0,
            seconds: if outcome == Outcome::Late { limit.as_secs_f64() } else { 0.0 },
            processor: 0.0,
            reason,
        });
        if whole_module {
            return Ok(());
        }
        progress.share.known += 1;
    }
}

/// Checks files, the largest first, `jobs` at a time, and passes each row to `take` as it arrives.
pub fn check(
    files: Vec<PathBuf>,
    work: Work,
    limit: Duration,
    jobs: usize,
    take: &mut dyn FnMut(Row) -> Result<()>,
) -> Result<()> {
    let mut sized: Vec<(u64, PathBuf)> =
        files.into_iter().map(|f| (f.metadata().map_or(0, |m| m.len()), f)).collect();
    sized.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    let shares = |(bytes, path): (u64, PathBuf)| {
        let of = if work.compile && bytes >= SHARED_FROM { jobs } else { 1 };
        (0..of).map(move |part| (path.clone(), Share { part, of, known: 0 }))
    };
    let queue: Mutex<VecDeque<_>> = Mutex::new(sized.into_iter().flat_map(shares).collect());
    let (send, rows) = mpsc::channel();
    let job = |send: Sender<Row>| {
        let mut slot = None;
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(next) = next else { return Ok(()) };
            module(next, work, limit, &mut slot, &send)?;
        }
    };
    std::thread::scope(|scope| {
        let start = |send: Sender<Row>| scope.spawn(|| job(send));
        let threads: Vec<_> = (0..jobs).map(|_| start(send.clone())).collect();
        drop(send);
        for row in rows {
            take(row)?;
        }
        let ended = |t: std::thread::ScopedJoinHandle<Result<()>>| {
            t.join().unwrap_or_else(|_| bail!("a thread has panicked"))
        };
        threads.into_iter().try_for_each(ended)
    })
}
