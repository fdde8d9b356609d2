//! How the commands treat files: only regular files are replaced, completely or not at all, and input sizes
//! are bounded.

use std::ffi::{CStr, CString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::{ANYWARP, Folder, succeed};

const SOURCE: &str = "#include <cuda.h>\nint a = cuInit(0);\n";
const TRANSLATED: &str = "#include <hip/hip_runtime.h>\nint a = hipInit(0);\n";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.0.join("a.cu"), SOURCE).expect("a source");
    folder
}

fn hipify(folder: &Folder) -> Command {
    let mut command = Command::new(ANYWARP);
    command.arg("hipify").current_dir(&folder.0);
    command
}

fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).expect("a text")
}

/// Creates a node of a kind and device number. Returns whether that is allowed here.
fn node(path: &Path, kind: libc::mode_t, device: libc::dev_t) -> bool {
    let name = CString::new(path.as_os_str().as_bytes()).expect("a name");
    // SAFETY: the name ends with a NUL.
    unsafe { libc::mknod(name.as_ptr(), kind | 0o666, device) == 0 }
}

fn names(folder: &Folder) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(&folder.0)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_pipe_with_a_name_is_written_to() {
    let folder = folder("files-fifo");
    let fifo = folder.0.join("out");
    assert!(node(&fifo, libc::S_IFIFO, 0));
    let reader = Command::new("cat").arg(&fifo).stdout(Stdio::piped()).spawn().expect("cat");
    succeed(hipify(&folder).args(["a.cu", "-o", "out"]));
    assert!(fs::metadata(&fifo).expect("it stays").file_type().is_fifo());
    assert_eq!(String::from_utf8_lossy(&reader.wait_with_output().expect("cat").stdout), TRANSLATED);
}

#[test]
fn a_device_is_written_to() {
    let folder = folder("files-device");
    let (null, full) = (folder.0.join("null"), folder.0.join("full"));
    if !node(&null, libc::S_IFCHR, libc::makedev(1, 3)) || fs::write(&null, "x").is_err() {
        // Only the superuser creates devices, and not on every file system; other users cannot replace them
        // either.
        return;
    }
    assert!(node(&full, libc::S_IFCHR, libc::makedev(1, 7)));
    succeed(hipify(&folder).args(["a.cu", "-o", "null"]));
    let output = hipify(&folder).args(["a.cu", "-o", "full"]).output().expect("the command starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && told.contains("cannot write full: No space left"), "{told}");
    for device in [null, full] {
        assert!(fs::metadata(device).expect("it stays").file_type().is_char_device());
    }
    assert_eq!(names(&folder), ["a.cu", "full", "null"]);
}

#[test]
fn standard_output_by_its_path_is_standard_output() {
    let folder = folder("files-stdout");
    let log = folder.0.join("log");
    fs::write(&log, "before\n").expect("a file");
    let append = fs::OpenOptions::new().append(true).open(&log).expect("the file");
    let status = hipify(&folder).args(["a.cu", "-o", "/dev/stdout"]).stdout(append).status();
    assert!(status.expect("the command starts").success());
    assert_eq!(text(&log), format!("before\n{TRANSLATED}"));
    assert_eq!(succeed(hipify(&folder).args(["a.cu", "-o", "/dev/fd/1"])), TRANSLATED);
}

#[test]
fn names_modes_and_owners_stay() {
    let folder = folder("files-inplace");
    let at = |name: &str| folder.0.join(name);
    fs::hard_link(at("a.cu"), at("other.cu")).expect("a second name");
    fs::write(at("private.cu"), SOURCE).expect("a source");
    fs::set_permissions(at("private.cu"), fs::Permissions::from_mode(0o640)).expect("a mode");
    symlink("private.cu", at("link.cu")).expect("a link");
    // Only the superuser can change a file's owner.
    let given = std::os::unix::fs::chown(at("private.cu"), Some(1234), Some(1235)).is_ok();
    let before = fs::metadata(at("private.cu")).expect("it is there");
    assert!(!given || before.uid() == 1234);
    succeed(hipify(&folder).args(["--inplace", "a.cu", "link.cu"]));
    assert_eq!((text(at("a.cu")), text(at("other.cu"))), (TRANSLATED.into(), TRANSLATED.into()));
    assert_eq!(text(at("a.cu.prehip")), SOURCE);
    assert!(fs::symlink_metadata(at("link.cu")).expect("a link").file_type().is_symlink());
    assert_eq!(text(at("private.cu")), TRANSLATED);
    let known =
        |name: &str| fs::metadata(at(name)).map(|m| (m.uid(), m.gid(), m.mode())).expect("it is there");
    let wanted = (before.uid(), before.gid(), before.mode());
    assert_eq!((known("private.cu"), known("link.cu.prehip")), (wanted, wanted));
}

/// The command's output on standard error, and whether it succeeded.
fn told(command: &mut Command) -> (bool, String) {
    let output = command.output().expect("the command starts");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_copy_of_the_first_run_stays_and_one_that_is_not_made_is_told() {
    let folder = folder("files-edited");
    let at = |name: &str| folder.0.join(name);
    let run = || told(hipify(&folder).args(["--inplace", "a.cu"]));
    assert_eq!(run(), (true, String::new()));
    // Nothing to do.
    assert_eq!(run(), (true, String::new()));
    fs::write(at("a.cu"), format!("{TRANSLATED}int b = cuInit(1);\n")).expect("edited");
    let line = "anywarp: a.cu.prehip already exists and is left unchanged; the previous contents of a.cu are not kept\n";
    assert_eq!(run(), (true, line.into()));
    assert_eq!(text(at("a.cu")), format!("{TRANSLATED}int b = hipInit(1);\n"));
    assert_eq!(text(at("a.cu.prehip")), SOURCE);
    // Restored, it matches the copy again.
    fs::write(at("a.cu"), SOURCE).expect("put back");
    assert_eq!(run(), (true, String::new()));
    assert_eq!((text(at("a.cu")), text(at("a.cu.prehip"))), (TRANSLATED.into(), SOURCE.into()));
    // Another name of the source is not a copy of it.
    fs::write(at("a.cu"), SOURCE).expect("put back");
    fs::remove_file(at("a.cu.prehip")).expect("removed");
    fs::hard_link(at("a.cu"), at("a.cu.prehip")).expect("a second name");
    assert_eq!(run(), (true, line.into()));
    assert_eq!(names(&folder), ["a.cu", "a.cu.prehip"]);
}

#[test]
fn what_is_no_file_is_no_copy() {
    for kind in ["pipe", "folder", "link"] {
        let folder = folder(&format!("files-no-copy-{kind}"));
        let copy = folder.0.join("a.cu.prehip");
        match kind {
            "pipe" => assert!(node(&copy, libc::S_IFIFO, 0)),
            "folder" => fs::create_dir(&copy).expect("a folder"),
            _ => symlink("nowhere", &copy).expect("a link"),
        }
        let line = "anywarp: cannot keep a.cu as a.cu.prehip: it already exists and is not a regular file\n";
        assert_eq!(told(hipify(&folder).args(["--inplace", "a.cu"])), (false, line.into()), "{kind}");
        assert_eq!(text(folder.0.join("a.cu")), SOURCE);
        assert_eq!(names(&folder), ["a.cu", "a.cu.prehip"], "{kind}");
        let without = told(hipify(&folder).args(["--inplace", "--no-backup", "a.cu"]));
        assert_eq!((without, text(folder.0.join("a.cu"))), ((true, String::new()), TRANSLATED.into()));
    }
}

/// The copy fits within the file size limit, the translation does not.
#[test]
fn a_failed_run_leaves_things_as_they_were() {
    for second in [false, true] {
        let folder = folder(&format!("files-failed-{second}"));
        let at = |name: &str| folder.0.join(name);
        let source =
            format!("{SOURCE}{}", "// cuInit(0)\n".repeat(100) + &"int b = cuInit(0);\n".repeat(100));
        fs::write(at("a.cu"), &source).expect("a source");
        if second {
            // A file with several names is written in place.
            fs::hard_link(at("a.cu"), at("b.cu")).expect("a second name");
        }
        let before = names(&folder);
        let mut command = hipify(&folder);
        limit(command.args(["--inplace", "a.cu"]), source.len() as u64);
        let (succeeded, line) = told(&mut command);
        assert!(!succeeded && line.starts_with("anywarp: cannot write a.cu: File too large"), "{line}");
        assert_eq!((names(&folder), text(at("a.cu"))), (before, source));
    }
}

/// A source of another owner, in a folder that everybody may write.
#[test]
fn a_copy_of_another_owner_has_the_mode_too() {
    let folder = folder("files-others");
    let at = |name: &str| folder.0.join(name);
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
    let other = || {
        let mut command = hipify(&folder);
        command.uid(1234).gid(1235);
        command
    };
    if !other().arg("--versions").output().is_ok_and(|output| output.status.success()) {
        // Only the superuser can run programs as other users, and these may have no access to the command.
        return;
    }
    mode(&folder.0, 0o777);
    mode(&at("a.cu"), 0o644);
    let (succeeded, line) = told(other().args(["--inplace", "a.cu"]));
    assert!(!succeeded && line.starts_with("anywarp: cannot write a.cu: Permission denied"), "{line}");
    assert_eq!((names(&folder), text(at("a.cu"))), (vec!["a.cu".into()], SOURCE.into()));
    mode(&at("a.cu"), 0o666);
    assert_eq!(told(other().args(["--inplace", "a.cu"])), (true, String::new()));
    let copy = fs::metadata(at("a.cu.prehip")).expect("a copy");
    assert_eq!((copy.uid(), copy.mode() & 0o7777), (1234, 0o666));
    // The rights of the source's group do not apply to the copy's.
    mode(&at("a.cu"), 0o676);
    fs::write(at("a.cu"), SOURCE).expect("put back");
    fs::remove_file(at("a.cu.prehip")).expect("removed");
    assert_eq!(told(other().args(["--inplace", "a.cu"])), (true, String::new()));
    assert_eq!(fs::metadata(at("a.cu.prehip")).expect("a copy").mode() & 0o7777, 0o666);
}

#[test]
fn a_pipe_is_not_translated_in_place() {
    let folder = folder("files-inplace-fifo");
    assert!(node(&folder.0.join("pipe"), libc::S_IFIFO, 0));
    let output = hipify(&folder).args(["--inplace", "pipe", "a.cu"]).output().expect("the command starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && told.contains("pipe in place: it is not a regular file"), "{told}");
    assert_eq!(text(folder.0.join("a.cu")), TRANSLATED);
    assert_eq!(names(&folder), ["a.cu", "a.cu.prehip", "pipe"]);
}

#[test]
fn what_is_no_source_is_refused() {
    let folder = folder("files-no-source");
    fs::create_dir(folder.0.join("empty")).expect("a folder");
    let (success, errors) = told(hipify(&folder).arg("empty"));
    assert!(!success && errors.contains("no sources in empty: their names end in .cu, .cuh,"), "{errors}");
    let (success, errors) = told(hipify(&folder).arg("/dev/null"));
    let expected = "beside /dev/null: it is not a regular file; name the output with -o";
    assert!(!success && errors.contains(expected), "{errors}");
    succeed(hipify(&folder).args(["/dev/null", "-o", "b.hip"]));
    assert!(!Path::new("/dev/null.hip").exists());
}

/// Limits the size of files that the command may create.
fn limit(command: &mut Command, bytes: u64) {
    // SAFETY: setrlimit may be called between fork and exec.
    unsafe {
        command.pre_exec(move || {
            let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
            match libc::setrlimit(libc::RLIMIT_FSIZE, &limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        })
    };
}

/// `ulimit -f` ends the write with a signal, whose default action would kill the process and leave a partial
/// file.
#[test]
fn a_file_that_is_not_finished_is_removed() {
    let folder = folder("files-limit");
    fs::write(folder.0.join("a.cu"), SOURCE.repeat(1000)).expect("a source");
    fs::write(folder.0.join("out"), "old").expect("a file");
    let mut command = hipify(&folder);
    limit(command.args(["a.cu", "-o", "out"]), 4096);
    let Output { status, stderr, .. } = command.output().expect("the command starts");
    let told = String::from_utf8_lossy(&stderr);
    // The temporary file is not the user's business.
    let said = told.ends_with("cannot write out: File too large (os error 27)\n");
    assert!(status.code() == Some(1) && said, "{status} {told}");
    assert_eq!(
        (names(&folder), text(folder.0.join("out"))),
        (vec!["a.cu".into(), "out".into()], "old".into())
    );
}

/// The same for files that are written as they come, and for a folder of temporary files.
#[test]
fn a_limit_on_file_sizes_is_an_error_of_each_command() {
    let folder = folder("files-limits");
    let scratch = folder.0.join("scratch");
    fs::create_dir(&scratch).expect("a folder");
    fs::write(folder.0.join("k.ptx"), ".version 7.0\n.target sm_70\n.address_size 64\n").expect("a text");
    for arguments in [
        &["cc", "-c", "a.cu"] as &[&str],
        &["demo", "--elements", "8"],
        &["check", "k.ptx", "--rows", "rows"],
        &["smi", "-f", "table"],
    ] {
        let mut command = Command::new(ANYWARP);
        limit(command.args(arguments).current_dir(&folder.0).env("TMPDIR", &scratch), 0);
        let (succeeded, told) = told(&mut command);
        assert!(!succeeded && told.contains("File too large"), "{arguments:?}: {told}");
        assert_eq!(fs::read_dir(&scratch).expect("a folder").count(), 0, "{arguments:?}");
    }
}

/// A file's list of who may use it, as the system keeps it; empty if there is none.
fn list(path: &Path) -> Vec<u8> {
    let path = CString::new(path.as_os_str().as_bytes()).expect("a plain name");
    let mut list = vec![0; 256];
    // SAFETY: NUL-terminated strings, and a buffer of this size.
    let size = unsafe { libc::getxattr(path.as_ptr(), LIST.as_ptr(), list.as_mut_ptr().cast(), list.len()) };
    list.truncate(usize::try_from(size).unwrap_or(0));
    list
}

const LIST: &CStr = c"system.posix_acl_access";

/// As `sed -i` keeps it. Without it, the mode would give the group what the list gives others.
#[test]
fn the_list_of_who_may_use_a_file_stays() {
    let folder = folder("files-lists");
    let file = folder.0.join("a.cu");
    // The owner, user 1234 and nobody else may write it; the mode then shows rw for the group.
    let entries =
        [(1u16, 6u16, u32::MAX), (2, 6, 1234), (4, 4, u32::MAX), (16, 6, u32::MAX), (32, 4, u32::MAX)];
    let mut wanted = 2u32.to_le_bytes().to_vec();
    for (kind, rights, who) in entries {
        wanted.extend(kind.to_le_bytes().into_iter().chain(rights.to_le_bytes()).chain(who.to_le_bytes()));
    }
    let path = CString::new(file.as_os_str().as_bytes()).expect("a plain name");
    // SAFETY: NUL-terminated strings, and a list of this size.
    let set =
        unsafe { libc::setxattr(path.as_ptr(), LIST.as_ptr(), wanted.as_ptr().cast(), wanted.len(), 0) };
    if set != 0 {
        eprintln!("not tried: the file system has no access control lists");
        return;
    }
    succeed(hipify(&folder).args(["--inplace", "a.cu"]));
    assert_eq!(text(&file), TRANSLATED);
    assert_eq!((list(&file), list(&folder.0.join("a.cu.prehip"))), (wanted.clone(), wanted));
}

/// Wherever an interruption comes, there is either the old file or the new one, and no other.
#[test]
fn an_interruption_leaves_no_temporary_file() {
    let folder = folder("files-interrupted");
    let large = format!("{SOURCE}{}", "// a line of a comment\n".repeat(200_000));
    fs::write(folder.0.join("a.cu"), &large).expect("a source");
    let mut interrupted = 0;
    for round in 0..8 {
        fs::write(folder.0.join("out"), "old").expect("a file");
        let mut child = hipify(&folder).args(["a.cu", "-o", "out"]).spawn().expect("the command starts");
        // Waits until something is being written, or, if that is missed, for some moment.
        while names(&folder).len() == 2 && child.try_wait().expect("a state").is_none() {}
        let signal = if round % 2 == 0 { libc::SIGTERM } else { libc::SIGINT };
        // SAFETY: the child has not been waited for, so its process id is still its own.
        unsafe { libc::kill(child.id() as libc::pid_t, signal) };
        interrupted += usize::from(child.wait().expect("it ends").signal().is_some());
        assert_eq!(names(&folder), ["a.cu", "out"], "after {interrupted} interruptions");
        let out = text(folder.0.join("out"));
        assert!(out == "old" || out.len() > large.len(), "{} bytes", out.len());
    }
}

#[test]
fn what_never_ends_is_not_read_for_ever() {
    let folder = folder("files-endless");
    for arguments in [
        &["hipify", "/dev/zero", "-o", "-"] as &[&str],
        &["extract", "/dev/zero"],
        &["compile", "/dev/zero"],
        &["check", "--load", "/dev/zero"],
    ] {
        let mut command = Command::new(ANYWARP);
        command.args(arguments).current_dir(&folder.0).env("ANYWARP_CACHE_DIR", "off");
        let output = command.output().expect("the command starts");
        let told = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success() && told.contains("it is larger than"), "{arguments:?}: {told}");
    }
    // A file that tells its size is refused before it is read.
    let sparse = fs::File::create(folder.0.join("sparse.cu")).expect("a file");
    sparse.set_len(1 << 40).expect("a file with nothing in it");
    let output = hipify(&folder).args(["sparse.cu", "-o", "-"]).output().expect("the command starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("cannot read sparse.cu: it is larger than 256.0 MiB"), "{told}");
    // The same holds for standard input.
    let zero = fs::File::open("/dev/zero").expect("the device");
    let output = hipify(&folder).arg("-").stdin(zero).output().expect("the command starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("cannot read standard input: it is larger than"), "{told}");
}

/// A closed standard output ends a translation silently, like the other commands.
#[test]
fn a_closed_pipe_ends_a_translation_quietly() {
    let folder = folder("files-closed");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output =
        hipify(&folder).args(["a.cu", "-o", "-"]).stdout(writer).output().expect("the command starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.is_empty(), "{} {told}", output.status);
}

/// A signal that ends `anywarp cc` leaves no folder behind; a signal that it was started to ignore does not
/// end it.
#[test]
fn temporary_folders_go_with_the_command() {
    for (signal, ignored) in
        [(libc::SIGTERM, false), (libc::SIGINT, false), (libc::SIGXCPU, false), (libc::SIGHUP, true)]
    {
        let folder = folder("files-scratch");
        // It says that it is clang, and then takes its time.
        let clang = folder.0.join("clang");
        let script =
            "#!/bin/sh\n[ \"$1\" = --version ] && echo 'clang version 19.1.7' && exit\nexec sleep 20\n";
        hwtruth::program::write(&clang, script);
        let scratch = folder.0.join("scratch");
        fs::create_dir(&scratch).expect("a folder");
        let mut command = Command::new(ANYWARP);
        command.args(["cc", "--clang"]).arg(&clang).args(["-c", "a.cu"]).current_dir(&folder.0);
        command.env("TMPDIR", &scratch).stdin(Stdio::null()).process_group(0);
        // The test may itself have been started to ignore signals, as in a shell's background.
        // SAFETY: signal may be called between fork and exec.
        unsafe {
            command.pre_exec(move || {
                libc::signal(signal, if ignored { libc::SIG_IGN } else { libc::SIG_DFL });
                libc::signal(libc::SIGTERM, libc::SIG_DFL);
                Ok(())
            })
        };
        let mut child = command.spawn().expect("it starts");
        let entries = || fs::read_dir(&scratch).expect("a folder").count();
        while entries() == 0 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let send = |number| {
            // SAFETY: the process group of the child.
            assert_eq!(unsafe { libc::kill(-(child.id() as i32), number) }, 0);
        };
        send(signal);
        if ignored {
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert_eq!(entries(), 1);
            send(libc::SIGTERM);
        }
        let status = child.wait().expect("it ends");
        let ended_by = if ignored { libc::SIGTERM } else { signal };
        let left: Vec<_> =
            fs::read_dir(&scratch).expect("a folder").map(|e| e.expect("an entry").path()).collect();
        assert_eq!((status.signal(), left), (Some(ended_by), vec![]));
    }
}

#[test]
fn an_empty_name_of_clang_is_an_error_as_an_option_and_none_as_a_variable() {
    let folder = folder("files-no-clang");
    let told = |arguments: &[&str], clang: &str| {
        let mut command = Command::new(ANYWARP);
        command
            .args(arguments)
            .current_dir(&folder.0)
            .env("ANYWARP_CLANG", clang)
            .env("PATH", "/nonexistent");
        let output = command.output().expect("it starts");
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(told(&["cc", "--clang", "", "a.cu"], "").contains("--clang"));
    assert!(told(&["cc", "a.cu"], "").contains("there is no clang"));
    assert!(told(&["cc", "a.cu"], "no-such-clang").contains("cannot use no-such-clang"));
}
