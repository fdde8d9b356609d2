//! A limit on file sizes, in separate processes: a signal that is not blocked kills the process.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};

use host::folder::Folder;
use host::write::limited;

const CHILD: &str = "ANYWARP_TEST_CHILD";

/// Runs a test in a separate process; returns `None` there, after `body`.
fn child(test: &str, folder: &Path, body: impl FnOnce(&Path)) -> Option<ExitStatus> {
    if let Some(folder) = std::env::var_os(CHILD) {
        body(Path::new(&folder));
        return None;
    }
    let own = std::env::current_exe().expect("the test's own path");
    let mut command = Command::new(own);
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, folder);
    // Its output must not go to a file, which would have the limit too.
    let output = command.output().expect("it starts");
    print!("{}", String::from_utf8_lossy(&output.stderr));
    Some(output.status)
}

/// From now on, no file may be larger than this.
fn limit(bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: sets a limit of this process.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) }, 0);
}

#[test]
fn without_the_guard_the_process_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let status = child("without_the_guard_the_process_ends", folder.path(), |folder| {
        limit(100);
        let _ =
            fs::write(folder.join("file"), [0; 200]).and_then(|()| fs::write(folder.join("file"), [0; 200]));
    });
    assert!(status.is_none_or(|s| s.signal() == Some(libc::SIGXFSZ)), "{status:?}");
}

#[test]
fn a_file_beyond_the_limit_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let status = child("a_file_beyond_the_limit_is_an_error", folder.path(), |folder| {
        limit(100);
        let inside = Folder::open_private(folder).expect("ours");
        for _ in 0..3 {
            let error = inside.write("file", &[0; 200], 0o600).expect_err("too large");
            assert_eq!(error.raw_os_error(), Some(libc::EFBIG));
        }
        inside.write("small", &[0; 50], 0o600).expect("small enough");
        let names: Vec<_> = fs::read_dir(folder).expect("there").flatten().map(|e| e.file_name()).collect();
        assert_eq!(names, ["small"]);
        let file = fs::File::create(folder.join("sized")).expect("a file");
        assert!(limited(|| file.set_len(200)).is_err());
    });
    assert!(status.is_none_or(|s| s.success()), "{status:?}");
}

static SIGNALS: AtomicU32 = AtomicU32::new(0);

extern "C" fn count(_: i32) {
    SIGNALS.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn the_programs_handler_and_mask_stay_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let status = child("the_programs_handler_and_mask_stay_its_own", folder.path(), |folder| {
        let raised = || SIGNALS.load(Ordering::SeqCst);
        // SAFETY: a handler that counts, raised only in this thread.
        unsafe { libc::signal(libc::SIGXFSZ, count as *const () as libc::sighandler_t) };
        limit(100);
        let inside = Folder::open_private(folder).expect("ours");
        assert!(inside.write("file", &[0; 200], 0o600).is_err());
        assert_eq!(raised(), 0, "our signal is not the program's");
        assert!(fs::write(folder.join("other"), [0; 200]).is_err());
        assert_eq!(raised(), 1, "the program's is");
        // A signal that is pending while the program blocks it is delivered when it is unblocked. SAFETY:
        // signal sets are plain data; only this thread's mask changes.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, libc::SIGXFSZ);
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
            libc::raise(libc::SIGXFSZ);
            assert!(inside.write("file", &[0; 200], 0o600).is_err());
            assert_eq!(raised(), 1);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
        }
        assert_eq!(raised(), 2);
    });
    assert!(status.is_none_or(|s| s.success()), "{status:?}");
}
