//! The cache of compiled kernels as the command reports it: what cannot be removed, kept or trusted.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{ANYWARP, Folder};

/// Two kernels, each cached as its own object.
const PTX: &str = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry a() { ret; }\n\
                   .visible .entry b() { bar.sync 0; ret; }\n";

fn anywarp(cache: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(ANYWARP);
    command.args(arguments).env("ANYWARP_CACHE_DIR", cache).env_remove("ANYWARP_LOG");
    command
}

/// The exit status, standard output and standard error.
fn told(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().expect("the command starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (status.code(), text(&stdout), text(&stderr))
}

/// A folder with a text to compile, and the path of a cache in it.
fn folder(name: &str) -> (Folder, std::path::PathBuf, String) {
    let folder = Folder::new(name);
    let (cache, text) = (folder.0.join("cache"), folder.0.join("two.ptx"));
    fs::write(&text, PTX).expect("a text");
    (folder, cache, text.to_str().expect("a plain name").into())
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
}

#[test]
fn what_cannot_be_removed_is_told_and_the_rest_goes() {
    let (_folder, cache, text) = folder("cache-clear");
    assert_eq!(told(&mut anywarp(&cache, &["compile", &text])).0, Some(0));
    // These sort before and after all objects, and there is the record of known texts.
    let stuck = [format!("{}.o", "0".repeat(64)), format!("{}.o", "f".repeat(64)), "seen".into()];
    let _ = fs::remove_file(cache.join("seen"));
    for name in &stuck {
        fs::create_dir(cache.join(name)).expect("a folder");
    }
    let (_, list, _) = told(&mut anywarp(&cache, &["cache"]));
    assert!(list.contains(": 2 kernels, "), "folders are no kernels: {list}");
    let (status, out, err) = told(&mut anywarp(&cache, &["cache", "clear"]));
    assert_eq!(status, Some(1), "{err}");
    assert!(out.starts_with(&format!("{}: 2 kernels removed, ", cache.display())), "{out}");
    let mut lines: Vec<&str> = err.lines().collect();
    lines.sort_unstable();
    let wanted = stuck.each_ref().map(|name| {
        format!("anywarp: cannot remove {}: Is a directory (os error 21)", cache.join(name).display())
    });
    assert_eq!(lines, wanted);
    assert_eq!(fs::read_dir(&cache).expect("a folder").count(), stuck.len());
    for name in &stuck {
        fs::remove_dir(cache.join(name)).expect("removed");
    }
    let (status, out, err) = told(&mut anywarp(&cache, &["cache", "clear"]));
    assert_eq!((status, err.as_str()), (Some(0), ""), "{out}");
    assert!(out.ends_with(": 0 kernels removed, 0 B\n"), "{out}");
}

/// A file in place of the folder, and a file size limit of zero: both also stop the superuser.
#[test]
fn a_cache_that_cannot_be_written_is_told_once() {
    for limited in [false, true] {
        let (_folder, cache, text) = folder(&format!("cache-unwritten-{limited}"));
        if !limited {
            fs::write(&cache, "").expect("a file");
        }
        let compile = |level: &str| {
            let mut command = anywarp(&cache, &["compile", &text]);
            command.env("ANYWARP_LOG", level);
            if limited {
                // SAFETY: setrlimit may be called between fork and exec.
                unsafe {
                    command.pre_exec(|| {
                        let limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                        match libc::setrlimit(libc::RLIMIT_FSIZE, &limit) {
                            0 => Ok(()),
                            _ => Err(std::io::Error::last_os_error()),
                        }
                    })
                };
            }
            told(&mut command)
        };
        let reason = if limited { "File too large (os error 27)" } else { "Not a directory (os error 20)" };
        let line = format!(
            "anywarp: compiled kernels cannot be kept in {}, so that every process compiles them: {reason}. \
             ANYWARP_CACHE_DIR names another folder\n",
            cache.display()
        );
        for (level, wanted) in [("warn", line.as_str()), ("error", "")] {
            let (status, out, err) = compile(level);
            assert_eq!((status, err.as_str()), (Some(0), wanted), "{out}");
            assert_eq!(out.matches("compiled in ").count(), 2, "{out}");
        }
    }
}

/// A cache that already contains everything needs no write access.
#[test]
fn a_closed_cache_that_has_everything_is_used_in_silence() {
    let (_folder, cache, text) = folder("cache-closed");
    assert_eq!(told(&mut anywarp(&cache, &["compile", &text])).0, Some(0));
    mode(&cache, 0o500);
    let (status, out, err) = told(anywarp(&cache, &["compile", &text]).env("ANYWARP_LOG", "warn"));
    mode(&cache, 0o700);
    assert_eq!((status, err.as_str()), (Some(0), ""), "{out}");
    assert_eq!(out.matches("from the cache").count(), 2, "{out}");
}

#[test]
fn a_cache_that_others_can_write_is_told_once() {
    let (_folder, cache, text) = folder("cache-untrusted");
    fs::create_dir(&cache).expect("a folder");
    mode(&cache, 0o777);
    let (status, out, err) = told(&mut anywarp(&cache, &["compile", &text]));
    assert_eq!(status, Some(0), "{out}{err}");
    assert_eq!(err.matches("the cache of compiled kernels is not used: ").count(), 1, "{err}");
    assert!(err.contains(cache.to_str().expect("a plain name")), "{err}");
    assert_eq!(out.matches("compiled in ").count(), 2, "{out}");
    assert_eq!(fs::read_dir(&cache).expect("a folder").count(), 0);
}
