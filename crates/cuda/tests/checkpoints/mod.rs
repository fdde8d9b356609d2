//! Checkpoints of other processes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::by_name::status::{INVALID_VALUE, NOT_INITIALIZED, OK};
use crate::by_name::{Library, at, isolated};

const OPERATING_SYSTEM: u32 = 304;
const ILLEGAL_STATE: u32 = 401;
const NOT_READY: u32 = 600;

/// Set in a process that another one checkpoints.
const ROLE: &str = "ANYWARP_TEST_ROLE";
/// What such a process does with a line on its standard input.
const READ: &str = "read";
const BLOCK: &str = "block";
const RELEASE: &str = "release";
const FORK: &str = "fork";

/// A process with a context and a word of memory, which obeys its standard input.
fn obey() -> ! {
    let cuda = Library::start();
    let memory = cuda.made("cuMemAlloc_v2", &[64]);
    let (stream, other) = (cuda.made("cuStreamCreate", &[1]), cuda.made("cuStreamCreate", &[1]));
    cuda.write(memory, &[7u32; 16]);
    let mut awaited = 7;
    println!("answer ready");
    for line in std::io::stdin().lines() {
        match line.expect("a line").as_str() {
            READ => println!("answer {}", cuda.read::<u32, 1>(memory)[0]),
            BLOCK => {
                awaited += 1;
                cuda.ok("cuStreamWaitValue32_v2", &[stream, memory, awaited, 1]);
                println!("answer blocked");
            }
            RELEASE => {
                cuda.ok("cuMemsetD32Async", &[memory, awaited, 1, other]);
                cuda.ok("cuStreamSynchronize", &[stream]);
                println!("answer released");
            }
            FORK => {
                // SAFETY: the child only waits to be killed.
                let child = unsafe { libc::fork() };
                if child == 0 {
                    loop {
                        // SAFETY: no arguments.
                        unsafe { libc::pause() };
                    }
                }
                println!("answer {child}");
            }
            other => panic!("{other}"),
        }
    }
    std::process::exit(0);
}

struct Other {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Other {
    fn start(test: &str) -> Other {
        let mut child = Command::new(std::env::current_exe().expect("the test's own path"))
            .args([test, "--exact", "--nocapture", "--test-threads=1"])
            .env(ROLE, "other")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("another process");
        let to = child.stdin.take().expect("a pipe");
        let from = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut other = Other { child, to, from };
        assert_eq!(other.heard(), "ready");
        other
    }

    fn id(&self) -> u64 {
        u64::from(self.child.id())
    }

    fn tell(&mut self, line: &str) {
        writeln!(self.to, "{line}").expect("it listens");
    }

    fn heard(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.from.read_line(&mut line).expect("text"), 0, "the other process ended");
            // The first answer follows the name of the test.
            if let Some((_, answer)) = line.trim().split_once("answer ") {
                return answer.to_owned();
            }
        }
    }

    /// Whether it says something within a moment.
    fn speaks(&mut self) -> bool {
        use std::os::fd::AsRawFd;
        let fd = self.from.get_ref().as_raw_fd();
        let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one open descriptor.
        !self.from.buffer().is_empty() || unsafe { libc::poll(&raw mut poll, 1, 200) } > 0
    }

    /// Returns when its calls wait for a lock that another thread or process has asked for; a question is
    /// left.
    fn waits_for_lock(&mut self) {
        loop {
            self.tell(READ);
            if !self.speaks() {
                return;
            }
            self.heard();
        }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn state(cuda: Library, process: u64) -> u32 {
    let mut state = 9;
    cuda.ok("cuCheckpointProcessGetState", &[process, at(&mut state)]);
    state
}

/// Runs a test in a process of its own, which may start others that obey.
fn with_others(test: &str, body: impl FnOnce()) {
    if std::env::var(ROLE).is_ok() {
        obey();
    }
    isolated(test, &[], body);
}

#[test]
fn another_process_is_locked_checkpointed_and_restored() {
    let test = "checkpoints::another_process_is_locked_checkpointed_and_restored";
    with_others(test, || {
        // This process only asks: it does not initialise its own driver.
        let cuda = Library::open();
        let mut other = Other::start(test);
        let id = other.id();
        let (mut thread, mut limit) = (0i32, [100u64, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(state(cuda, id), 0);
        cuda.ok("cuCheckpointProcessGetRestoreThreadId", &[id, at(&mut thread)]);
        assert_ne!(thread as u64, id);
        assert!(std::path::Path::new(&format!("/proc/{id}/task/{thread}")).exists(), "a thread of it");
        let mut bad = [0u64, 0, 0, 0, 0, 0, 0, 1];
        let mut long = [1u64 << 32, 0, 0, 0, 0, 0, 0, 0];
        // Work that does not end in time: it runs on.
        other.tell(BLOCK);
        assert_eq!(other.heard(), "blocked");
        cuda.rows(&[
            ("cuCheckpointProcessLock", &[id, at(&mut limit)], NOT_READY),
            ("cuCheckpointProcessLock", &[id, at(&mut bad)], INVALID_VALUE),
            ("cuCheckpointProcessLock", &[id, at(&mut long)], INVALID_VALUE),
        ]);
        assert_eq!(state(cuda, id), 0);
        other.tell(RELEASE);
        assert_eq!(other.heard(), "released");
        cuda.ok("cuCheckpointProcessLock", &[id, at(&mut limit)]);
        // Its calls wait, also while it is checkpointed.
        other.tell(READ);
        assert!(!other.speaks());
        cuda.rows(&[
            ("cuCheckpointProcessLock", &[id, 0], ILLEGAL_STATE),
            ("cuCheckpointProcessRestore", &[id, 0], ILLEGAL_STATE),
            ("cuCheckpointProcessCheckpoint", &[id, at(&mut bad)], INVALID_VALUE),
            ("cuCheckpointProcessCheckpoint", &[id, 0], OK),
            ("cuCheckpointProcessUnlock", &[id, 0], ILLEGAL_STATE),
        ]);
        assert_eq!(state(cuda, id), 2);
        assert!(!other.speaks());
        cuda.rows(&[
            ("cuCheckpointProcessRestore", &[id, 0], OK),
            ("cuCheckpointProcessUnlock", &[id, at(&mut bad)], INVALID_VALUE),
        ]);
        assert_eq!(state(cuda, id), 1);
        assert!(!other.speaks());
        cuda.ok("cuCheckpointProcessUnlock", &[id, 0]);
        assert_eq!(other.heard(), "8");
        assert_eq!(state(cuda, id), 0);
        // A child of a fork has its parent's page, but no driver.
        other.tell(FORK);
        let child: u64 = other.heard().parse().expect("a number");
        let mut number = 9u32;
        cuda.rows(&[("cuCheckpointProcessGetState", &[child, at(&mut number)], NOT_INITIALIZED)]);
        // SAFETY: a process that the test has made.
        unsafe { libc::kill(child as i32, libc::SIGKILL) };
        // It ends while it is asked.
        other.tell(BLOCK);
        assert_eq!(other.heard(), "blocked");
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| cuda.call("cuCheckpointProcessLock", &[id, 0]));
            // While it waits for the work, it is not locked, but calls wait already.
            other.waits_for_lock();
            assert_eq!(state(cuda, id), 0);
            other.child.kill().expect("it runs");
            assert_eq!(asked.join().expect("no panic"), OPERATING_SYSTEM);
        });
        other.child.wait().expect("it has ended");
        cuda.rows(&[("cuCheckpointProcessLock", &[id, 0], OPERATING_SYSTEM)]);
    });
}

#[test]
fn of_several_that_ask_one_locks() {
    let test = "checkpoints::of_several_that_ask_one_locks";
    with_others(test, || {
        let cuda = Library::open();
        let mut other = Other::start(test);
        let id = other.id();
        for _ in 0..20 {
            let codes: Vec<u32> = std::thread::scope(|scope| {
                let asked: Vec<_> =
                    (0..4).map(|_| scope.spawn(|| cuda.call("cuCheckpointProcessLock", &[id, 0]))).collect();
                asked.into_iter().map(|one| one.join().expect("no panic")).collect()
            });
            let count = |code: u32| codes.iter().filter(|c| **c == code).count();
            assert_eq!((count(OK), count(ILLEGAL_STATE)), (1, 3), "{codes:?}");
            cuda.ok("cuCheckpointProcessUnlock", &[id, 0]);
        }
        other.tell(READ);
        assert_eq!(other.heard(), "7");
        // One that asks and dies while it waits does not keep the others from asking.
        other.tell(BLOCK);
        assert_eq!(other.heard(), "blocked");
        // SAFETY: the child calls the library, and is killed.
        let child = unsafe { libc::fork() };
        if child == 0 {
            cuda.call("cuCheckpointProcessLock", &[id, 0]);
            std::process::exit(0);
        }
        other.waits_for_lock();
        let (start, mut limit) = (Instant::now(), [100u64, 0, 0, 0, 0, 0, 0, 0]);
        cuda.rows(&[("cuCheckpointProcessLock", &[id, at(&mut limit)], NOT_READY)]);
        assert!(start.elapsed() < Duration::from_secs(60), "it does not wait for the other one");
        // SAFETY: a process of this test; the status is not needed.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
        // The next request takes the place of its own, and the process runs on.
        cuda.rows(&[("cuCheckpointProcessUnlock", &[id, 0], ILLEGAL_STATE)]);
        assert_eq!(other.heard(), "7");
    });
}

#[test]
fn a_stopped_process_is_not_waited_for_longer_than_asked() {
    let test = "checkpoints::a_stopped_process_is_not_waited_for_longer_than_asked";
    with_others(test, || {
        let cuda = Library::open();
        let mut other = Other::start(test);
        let (id, mut limit) = (other.id(), [100u64, 0, 0, 0, 0, 0, 0, 0]);
        let signal = |number| {
            // SAFETY: a process of this test.
            assert_eq!(unsafe { libc::kill(id as i32, number) }, 0);
        };
        // The signal returns before all threads have stopped: one may still answer.
        let stop = || {
            signal(libc::SIGSTOP);
            // SAFETY: plain data, and a child of this test, which is not reaped.
            unsafe {
                let mut how: libc::siginfo_t = std::mem::zeroed();
                assert_eq!(libc::waitid(libc::P_PID, id as u32, &raw mut how, libc::WSTOPPED), 0);
            }
        };
        // Its thread that answers is there.
        let mut thread = 0u64;
        cuda.ok("cuCheckpointProcessGetRestoreThreadId", &[id, at(&mut thread)]);
        stop();
        cuda.rows(&[
            ("cuCheckpointProcessLock", &[id, at(&mut limit)], NOT_READY),
            ("cuCheckpointProcessLock", &[id, at(&mut limit)], NOT_READY),
        ]);
        // What was withdrawn does not happen later.
        signal(libc::SIGCONT);
        other.tell(READ);
        assert_eq!(other.heard(), "7");
        assert_eq!(state(cuda, id), 0);
        // It is stopped while it waits for its work, and goes on when nobody asks any more.
        other.tell(BLOCK);
        assert_eq!(other.heard(), "blocked");
        std::thread::scope(|scope| {
            let mut longer = [3000u64, 0, 0, 0, 0, 0, 0, 0];
            let asked = scope.spawn(move || cuda.call("cuCheckpointProcessLock", &[id, at(&mut longer)]));
            other.waits_for_lock();
            stop();
            assert_eq!(asked.join().expect("no panic"), NOT_READY);
        });
        signal(libc::SIGCONT);
        assert_eq!(other.heard(), "7");
        assert_eq!(state(cuda, id), 0);
        other.tell(RELEASE);
        assert_eq!(other.heard(), "released");
        cuda.ok("cuCheckpointProcessLock", &[id, at(&mut limit)]);
        assert_eq!(state(cuda, id), 1);
        cuda.ok("cuCheckpointProcessUnlock", &[id, 0]);
    });
}

#[test]
fn processes_that_do_not_use_the_driver_are_refused() {
    isolated("checkpoints::processes_that_do_not_use_the_driver_are_refused", &[], || {
        let cuda = Library::open();
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("a process");
        let id = u64::from(child.id());
        let mut out = 0u32;
        for initialised in [false, true] {
            if initialised {
                cuda.ok("cuInit", &[0]);
            }
            cuda.rows(&[
                ("cuCheckpointProcessGetState", &[id, at(&mut out)], NOT_INITIALIZED),
                ("cuCheckpointProcessGetRestoreThreadId", &[id, at(&mut out)], NOT_INITIALIZED),
                ("cuCheckpointProcessLock", &[id, 0], NOT_INITIALIZED),
                ("cuCheckpointProcessCheckpoint", &[id, 0], NOT_INITIALIZED),
                ("cuCheckpointProcessRestore", &[id, 0], NOT_INITIALIZED),
                ("cuCheckpointProcessUnlock", &[id, 0], NOT_INITIALIZED),
                ("cuCheckpointProcessGetState", &[id, 0], INVALID_VALUE),
                ("cuCheckpointProcessGetState", &[0, at(&mut out)], OPERATING_SYSTEM),
                ("cuCheckpointProcessGetState", &[u64::from(u32::MAX), at(&mut out)], OPERATING_SYSTEM),
            ]);
        }
        drop(child.stdin.take());
        child.wait().expect("it ends");
    });
}
