//! `anywarp run`: the environment of the program, and the status that its caller sees.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

/// Runs a shell script under `anywarp run`.
fn shell(script: &str) -> Output {
    run(&["sh", "-c", script])
}

fn run(program: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_anywarp"))
        .args(["run", "--"])
        .args(program)
        .output()
        .expect("the command starts")
}

#[test]
fn exit_statuses_pass_through() {
    for status in [0, 1, 2, 77, 125, 255] {
        assert_eq!(shell(&format!("exit {status}")).status.code(), Some(status));
    }
}

#[test]
fn signals_pass_through() {
    for signal in [libc::SIGTERM, libc::SIGKILL, libc::SIGSEGV] {
        assert_eq!(shell(&format!("kill -{signal} $$")).status.signal(), Some(signal));
    }
}

#[test]
fn streams_and_arguments_pass_through() {
    let output = run(&["sh", "-c", "printf '[%s]' \"$@\"; printf err >&2", "sh", "-x", "a b", "--help", ""]);
    assert_eq!(output.stdout, b"[-x][a b][--help][]");
    assert_eq!(output.stderr, b"err");
}

#[test]
fn a_program_that_is_not_there_is_127_and_one_that_cannot_run_126() {
    let missing = run(&["./no-such-program"]);
    assert_eq!(missing.status.code(), Some(127));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("./no-such-program"), "{missing:?}");
    assert_eq!(run(&["/"]).status.code(), Some(126));
}

/// Another driver than the one that was named would be tested unnoticed.
#[test]
fn a_named_folder_without_the_driver_is_an_error() {
    for command in ["run", "prof"] {
        let mut anywarp = Command::new(env!("CARGO_BIN_EXE_anywarp"));
        let output = anywarp.args([command, "--", "true"]).env("ANYWARP_LIB", "/no-such-folder").output();
        let output = output.expect("the command starts");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("no libcuda.so.1 in /no-such-folder, which ANYWARP_LIB names"), "{told}");
        assert_eq!(output.status.code(), Some(125));
    }
}

#[test]
fn misspelt_options_are_not_programs() {
    for [command, option] in [["run", "--bogus"], ["prof", "--counter"]] {
        let mut anywarp = Command::new(env!("CARGO_BIN_EXE_anywarp"));
        let output = anywarp.args([command, option, "--", "true"]).output().expect("the command starts");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(&format!("unexpected argument '{option}'")), "{told}");
        assert_eq!(output.status.code(), Some(2));
    }
}

/// Programs of all kinds run, and those that cannot are named with the reason.
#[test]
fn programs_of_all_kinds() {
    use std::fs;
    let folder = std::env::temp_dir().join(format!("anywarp-kinds-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let at = |name: &str| folder.join(name);
    let text = |name: &str| at(name).to_str().expect("a plain name").to_owned();
    fs::write(at("a.c"), "#include <stdio.h>\nint main(void) { puts(\"runs\"); return 3; }\n")
        .expect("a file");
    let builds: [(&str, &[&str]); 5] = [
        ("pie", &[]),
        ("fixed", &["-no-pie"]),
        ("bare", &["-s"]),
        ("static", &["-static"]),
        ("free", &["-static-pie"]),
    ];
    for (name, options) in builds {
        let built = Command::new("cc").arg(at("a.c")).args(options).arg("-o").arg(at(name)).status();
        assert!(built.expect("a C compiler").success());
        let output = run(&[&text(name)]);
        assert_eq!(
            (output.status.code(), &*output.stdout, &*output.stderr),
            (Some(3), &b"runs\n"[..], &b""[..])
        );
    }
    let put = |name: &str, bytes: &[u8]| hwtruth::program::write(&at(name), bytes);
    // Without section headers, whose offset and number the header has.
    let mut sections = fs::read(at("pie")).expect("built");
    sections[40..48].fill(0);
    sections[58..64].fill(0);
    put("sections", &sections);
    assert_eq!(run(&[&text("sections")]).status.code(), Some(3));
    put("script", b"#!/bin/sh\nexit 4\n");
    assert_eq!(run(&[&text("script")]).status.code(), Some(4));
    put("plain", b"exit 6\n");
    assert_eq!(run(&[&text("plain")]).status.code(), Some(6));
    let profiled = Command::new(env!("CARGO_BIN_EXE_anywarp")).args(["prof", "--", &text("plain")]).status();
    assert_eq!(profiled.expect("the command starts").code(), Some(6));
    let refused = |name: &str, bytes: &[u8], status: i32, reason: &str| {
        put(name, bytes);
        let output = run(&[&text(name)]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{told}");
        assert!(told.lines().count() == 1 && told.contains(reason), "{told}");
    };
    refused("cut", &sections[..100], 126, "not a program: it ends before its program headers");
    refused("nowhere", b"#!/nonexistent/sh\n", 127, "its interpreter");
    fs::remove_dir_all(&folder).expect("the folder can go");
}

#[test]
fn the_driver_is_found_by_name_and_before_other_folders() {
    let output = Command::new(env!("CARGO_BIN_EXE_anywarp"))
        .args(["run", "--", "sh", "-c", "echo \"$LD_LIBRARY_PATH\"; grep -c libcuda /proc/self/maps"])
        .env("LD_LIBRARY_PATH", "/elsewhere")
        .output()
        .expect("the command starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines();
    let (first, rest) = lines.next().and_then(|path| path.split_once(':')).expect("two folders");
    assert!(std::path::Path::new(first).join("libcuda.so.1").is_file(), "{first}");
    assert_eq!(rest, "/elsewhere");
    assert!(lines.next().and_then(|count| count.parse().ok()).is_some_and(|count: u32| count > 0), "{text}");
}

#[test]
fn the_stand_in_for_the_assembler_hands_ptx_on() {
    let folder = std::env::temp_dir().join(format!("anywarp-ptxas-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("a.ptx"), ".version 8.0\n").expect("a file");
    let told = Command::new(env!("CARGO_BIN_EXE_anywarp"))
        .args(["run", "--", "sh", "-c"])
        .arg(
            "set -e; test \"$TRITON_PTXAS_PATH\" = \"$TRITON_PTXAS_BLACKWELL_PATH\"; \"$TRITON_PTXAS_PATH\" --version; \
             \"$TRITON_PTXAS_PATH\" -lineinfo -v --gpu-name=sm_90a a.ptx -o a.cubin; cmp a.ptx a.cubin; \
             \"$TRITON_PTXAS_PATH\" none.ptx -o b.cubin && exit 1; echo done",
        )
        .current_dir(&folder)
        .env_remove("TRITON_PTXAS_PATH")
        .env_remove("TRITON_PTXAS_BLACKWELL_PATH")
        .output()
        .expect("the command starts");
    let text = String::from_utf8_lossy(&told.stdout);
    assert!(text.contains("release 13.0") && text.ends_with("done\n"), "{told:?}");
    let other = Command::new(env!("CARGO_BIN_EXE_anywarp"))
        .args(["run", "--", "sh", "-c", "echo $TRITON_PTXAS_PATH"])
        .env("TRITON_PTXAS_PATH", "/other")
        .output()
        .expect("the command starts");
    assert_eq!(other.stdout, b"/other\n");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}
