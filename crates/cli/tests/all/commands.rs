//! Runs the command as people do: `cmd/*.trycmd` contain invocations with their expected output.
//! `TRYCMD=overwrite cargo test -p cli --test all commands::` accepts new output; read the diff before you
//! commit it.

/// Runs cases with the given cache folder.
fn cases(cache: &str, names: &[&str]) {
    let cases = trycmd::TestCases::new();
    cases.env("ANYWARP_CACHE_DIR", cache).env("ANYWARP_COMPUTE_CAPABILITY", "8.6");
    for name in names {
        cases.case(format!("tests/cmd/{name}.trycmd"));
    }
}

#[test]
fn invocations() {
    cases("off", &["check", "compile", "extract", "help", "hipify", "hipify_project", "smi"]);
}

#[test]
fn invocations_with_an_empty_cache() {
    let nowhere = std::env::temp_dir().join(format!("anywarp-no-cache-{}", std::process::id()));
    cases(&nowhere.to_string_lossy(), &["cache", "info"]);
}

#[test]
fn info_as_json() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_anywarp"))
        .args(["info", "--json"])
        .envs([("ANYWARP_DEVICES", "2"), ("ANYWARP_MEMORY", "3G"), ("ANYWARP_COMPUTE_CAPABILITY", "7.5")])
        .envs([("ANYWARP_CACHE_DIR", "off"), ("ANYWARP_CPU", "x86-64-v3"), ("ANYWARP_ENGINE", "interpreter")])
        .output()
        .expect("the command starts");
    let info: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let devices = info["devices"].as_array().expect("a list of devices");
    assert_eq!(devices.len(), 2);
    for (ordinal, device) in devices.iter().enumerate() {
        assert_eq!(device["ordinal"], ordinal);
        assert_eq!(device["memory_bytes"], 3u64 << 30);
        assert_eq!(device["compute_capability"], "7.5");
    }
    assert_eq!(info["cpu"]["target"], "x86-64-v3");
    assert_eq!(info["engine"], "interpreter");
    assert!(info["cache"].is_null());
    let option = |name: &str| {
        let options = info["options"].as_array().expect("a list of options");
        options.iter().find(|option| option["name"] == name).expect(name).clone()
    };
    for (name, value) in [("ANYWARP_MEMORY", "3G"), ("ANYWARP_CACHE_DIR", "off"), ("ANYWARP_DEVICES", "2")] {
        let option = option(name);
        assert_eq!((&option["value"], &option["origin"]), (&value.into(), &"environment".into()), "{name}");
        assert!(option["meaning"].as_str().is_some_and(|meaning| !meaning.is_empty()), "{name}");
    }
    assert_eq!(
        (&option("ANYWARP_EXACT")["value"], &option("ANYWARP_EXACT")["origin"]),
        (&"0".into(), &"default".into())
    );
}

/// An invalid value is reported once, at the default level, with the values that are accepted.
#[test]
fn options_that_cannot_be_used_are_told() {
    let run = |arguments: &[&str], level: &str| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_anywarp"))
            .args(arguments)
            .envs([("ANYWARP_DEVICES", "many"), ("ANYWARP_CACHE_DIR", "off"), ("ANYWARP_LOG", level)])
            .output()
            .expect("the command starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{arguments:?}");
        (text(&output.stdout), text(&output.stderr))
    };
    let told = "anywarp: ANYWARP_DEVICES=many is ignored: expected a number from 1 to 64\n";
    let (out, err) = run(&["info", "--json"], "");
    assert_eq!(err, told);
    let info: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(info["devices"].as_array().map(Vec::len), Some(1));
    let options = info["options"].as_array().expect("a list of options");
    let devices = options.iter().find(|option| option["name"] == "ANYWARP_DEVICES").expect("it is there");
    assert_eq!((&devices["value"], &devices["origin"]), (&"1".into(), &"refused".into()));
    assert_eq!(devices["wanted"], "a number from 1 to 64");
    assert_eq!(run(&["info"], "off").1, "");
    // Its children do not report it again; commands that do not read options say nothing.
    assert_eq!(run(&["check", "tests/cmd/compile.in/add.ptx"], "").1, told);
    assert_eq!(run(&["completions", "bash"], "").1, "");
}

/// A misspelt variable would otherwise have no effect without a word.
#[test]
fn info_names_variables_that_it_does_not_know() {
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_anywarp"));
        command.args(arguments).envs([("ANYWARP_WORKER", "1"), ("ANYWARP_CACHE_DIR", "off")]);
        let output = command.output().expect("the command starts");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("text")
    };
    let out = run(&["info"]);
    let line = out.lines().find(|line| line.starts_with("ANYWARP_WORKER ")).expect("a line");
    assert!(line.ends_with("  unknown: no part of the driver reads it"), "{line}");
    assert!(!out.lines().any(|line| line.starts_with("ANYWARP_WORKERS ") && line.contains("unknown")));
    let info: serde_json::Value = serde_json::from_str(&run(&["info", "--json"])).expect("JSON");
    assert!(info["unknown"].as_array().is_some_and(|all| all.contains(&"ANYWARP_WORKER".into())));
}

/// The memory of devices is that of a program under the same limits, and the reason is reported.
#[test]
fn info_follows_the_limits_of_the_process() {
    for (limit, what) in [("-v 4000000", "(ulimit -v)"), ("-d 1000000", "(ulimit -d)")] {
        let mut command = std::process::Command::new("sh");
        command.args([
            "-c",
            &format!("ulimit {limit}; exec \"$0\" info --json"),
            env!("CARGO_BIN_EXE_anywarp"),
        ]);
        let output = command.envs([("ANYWARP_MEMORY", "64G"), ("ANYWARP_CACHE_DIR", "off")]).output();
        let info: serde_json::Value =
            serde_json::from_slice(&output.expect("the command starts").stdout).expect("JSON");
        let bytes = info["devices"][0]["memory_bytes"].as_u64().expect("a number");
        assert!((1..4_000_000 << 10).contains(&bytes), "{bytes}");
        assert!(info["memory_limit"].as_str().is_some_and(|told| told.contains(what)), "{info}");
    }
}

/// The reason for per-lane mode is logged at level debug, and not at info.
#[test]
fn each_level_tells_what_it_is_for() {
    let ptx = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/ptx/progress.ptx");
    let reason = |level: &str| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_anywarp"))
            .args(["compile", ptx, "--kernel", "lock"])
            .envs([("ANYWARP_LOG", level), ("ANYWARP_CACHE_DIR", "off")])
            .output()
            .expect("the command starts");
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).contains("compiled in the per-lane mode")
    };
    assert_eq!(["info", "debug", "trace"].map(reason), [false, true, true]);
}

#[test]
fn a_stage_is_made_for_the_processor_that_is_asked_for() {
    let compile = |cpu: &str, stage: &str| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_anywarp"))
            .args(["compile", "tests/cmd/compile.in/add.ptx", "--kernel", "add", "--emit", stage])
            .envs([("ANYWARP_CPU", cpu), ("ANYWARP_CACHE_DIR", "off")])
            .output()
            .expect("the command starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    assert!(compile("x86-64-v3", "llvm").contains("<32 x i32>"));
    let assembly = compile("x86-64-v3", "asm");
    assert!(assembly.contains("ymm") && !assembly.contains("zmm"));
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_anywarp"))
            .args(["completions", shell])
            .output()
            .expect("the command starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("anywarp") && text.contains("emit"), "{shell}");
    }
}

/// A folder for one test, with a CUDA source in it.
fn sources(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("anywarp-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("a.cu"), "#include <cuda.h>\n  int a = cuInit(0), b = cuLaunch(f);\n")
        .expect("a file");
    folder
}

#[test]
fn hipify_tells_tools_everything() {
    let folder = sources("hipify-json");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_anywarp"))
        .args(["hipify", "--json", "a.cu"])
        .current_dir(&folder)
        .output()
        .expect("the command starts");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = &told["files"][0];
    assert_eq!((&file["file"], &file["output"]), (&"a.cu".into(), &"a.cu.hip".into()));
    let finding = &file["diagnostics"][0];
    assert_eq!((&finding["reason"], &finding["name"]), (&"unsupported".into(), &"cuLaunch".into()));
    assert_eq!(
        (&finding["line"], &finding["column"], &finding["offset"]),
        (&2.into(), &26.into(), &43.into())
    );
    assert_eq!(finding["suggestion"], "use hipModuleLaunchKernel with the whole configuration");
    assert_eq!(file["statistics"]["converted"]["by_name"]["cuInit"], 1);
    assert_eq!(file["statistics"]["unconverted"]["by_type"]["execution"], 1);
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

#[test]
fn hipify_takes_the_files_of_a_compilation_database() {
    let folder = sources("hipify-database");
    let commands = serde_json::json!([{ "directory": folder, "file": "a.cu", "command": "nvcc -c a.cu" }]);
    std::fs::write(folder.join("compile_commands.json"), commands.to_string()).expect("a file");
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_anywarp"))
        .args(["hipify", "-inplace", "-p"])
        .arg(&folder)
        .stderr(std::process::Stdio::null())
        .status()
        .expect("the command starts");
    assert!(status.success());
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a file");
    assert!(read("a.cu").contains("hipInit(0)") && read("a.cu.prehip").contains("cuInit(0)"));
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

/// A project may contain pipes, links in circles and names of any bytes.
#[test]
fn hipify_survives_strange_projects() {
    use std::os::unix::ffi::OsStrExt;
    let folder = sources("hipify-strange");
    let strange = std::ffi::OsStr::from_bytes(b"\xff.cu");
    std::fs::write(folder.join(strange), "void f() { cuInit(0); }\n").expect("a file");
    std::os::unix::fs::symlink(".", folder.join("again")).expect("a link");
    std::os::unix::fs::symlink("two.cu", folder.join("one.cu")).expect("a link");
    std::os::unix::fs::symlink("one.cu", folder.join("two.cu")).expect("a link");
    assert!(
        std::process::Command::new("mkfifo").arg(folder.join("pipe.cu")).status().expect("mkfifo").success()
    );
    let commands = serde_json::json!([
        { "directory": ".", "file": "a.cu", "command": "nvcc -c a.cu -I" },
        { "directory": ".", "file": "pipe.cu", "command": "nvcc -c pipe.cu" },
        { "directory": ".", "file": "one.cu", "command": "nvcc -c one.cu" },
    ]);
    std::fs::write(folder.join("compile_commands.json"), commands.to_string()).expect("a file");
    let run = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_anywarp"))
            .args(arguments)
            .current_dir(&folder)
            .output()
            .expect("the command starts");
        (output.status.success(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (success, out, errors) = run(&["hipify", "--json", "--dry-run", "."]);
    assert!(success, "{errors}");
    let told: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    let files: Vec<&str> =
        told["files"].as_array().expect("files").iter().filter_map(|one| one["file"].as_str()).collect();
    assert_eq!(files, ["./a.cu", "./\u{fffd}.cu"]);
    let (success, _, errors) = run(&["hipify", "--dry-run", "--compile-commands", "compile_commands.json"]);
    assert!(!success && errors.contains("pipe.cu: it is not a regular file"), "{errors}");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

/// If the reader closes its end of the pipe, the command ends silently.
#[test]
fn a_closed_pipe_is_no_error() {
    let ptx = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/ptx/vecadd.ptx");
    for arguments in [
        &["info"] as &[&str],
        &["info", "--json"],
        &["smi"],
        &["check", "--load", ptx],
        &["compile", ptx],
        &["completions", "bash"],
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_anywarp"))
            .args(arguments)
            .env("ANYWARP_CACHE_DIR", "off")
            .stdout(writer)
            .output()
            .expect("the command starts");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && told.is_empty(), "{arguments:?}: {} {told}", output.status);
    }
}

/// The command's output with these variables, and whether it succeeded.
fn told(
    program: &std::path::Path,
    arguments: &[&str],
    variables: &[(&str, &std::path::Path)],
) -> (bool, String) {
    let output = std::process::Command::new(program)
        .args(arguments)
        .envs(variables.iter().copied())
        .output()
        .expect("the command starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout) + &text(&output.stderr))
}

fn mode(path: &std::path::Path, mode: u32) {
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).expect("ours");
}

/// Files that dead processes left unfinished are counted, listed, pruned when they are old, and cleared.
#[test]
fn the_cache_tells_of_unfinished_files() {
    let folder = tempfile::tempdir().expect("a folder");
    mode(folder.path(), 0o700);
    let key = "0123456789abcdef".repeat(4);
    let at = |name: String| folder.path().join(name);
    let left = at(format!(".17-0-{key}.o"));
    for file in [&at(format!("{key}.o")), &left, &at(format!(".17-1-{key}.o"))] {
        std::fs::write(file, [0; 100]).expect("written");
    }
    let run = |action: &str| {
        let (done, told) = told(
            env!("CARGO_BIN_EXE_anywarp").as_ref(),
            &["cache", action],
            &[("ANYWARP_CACHE_DIR", folder.path())],
        );
        assert!(done, "{told}");
        told
    };
    let listed = run("list");
    assert!(listed.contains(": 1 kernels, 2 unfinished files, 300 B"), "{listed}");
    assert_eq!(listed.matches(", unfinished\n").count(), 2, "{listed}");
    let hours = std::time::SystemTime::now() - std::time::Duration::from_secs(7200);
    std::fs::File::open(&left).and_then(|f| f.set_modified(hours)).expect("set time");
    let pruned = run("prune");
    assert!(pruned.contains(": 0 kernels, 1 unfinished file removed, 100 B"), "{pruned}");
    let cleared = run("clear");
    assert!(cleared.contains(": 1 kernels, 1 unfinished file removed, 200 B"), "{cleared}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0);
}

#[test]
fn a_cache_that_others_can_write_is_told_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    mode(folder.path(), 0o777);
    let program = env!("CARGO_BIN_EXE_anywarp").as_ref();
    let variables = [("ANYWARP_CACHE_DIR", folder.path())];
    for (arguments, works) in
        [(&["cache"] as &[&str], false), (&["cache", "clear"], false), (&["info"], true)]
    {
        let (done, told) = told(program, arguments, &variables);
        assert_eq!(done, works, "{arguments:?}: {told}");
        assert!(
            told.contains("other users can write it") && told.contains("chmod go-w"),
            "{arguments:?}: {told}"
        );
    }
}

/// An installation has the command in `bin`, and the driver library with a copy of LLVM in `lib/anywarp`.
#[test]
fn an_installed_command_finds_the_llvm_that_came_with_it() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let root = folder.path().canonicalize().expect("there");
    let (bin, lib) = (root.join("bin"), root.join("lib/anywarp"));
    for folder in [&bin, &lib, &bin.join("lib")] {
        std::fs::create_dir_all(folder).expect("a folder");
        mode(folder, 0o755);
    }
    let program = bin.join("anywarp");
    // Copied by another process: if this one had the file open for writing, a test running beside it might
    // pass the descriptor on to its child, and the program would be busy.
    let copied =
        std::process::Command::new("cp").args([env!("CARGO_BIN_EXE_anywarp").as_ref(), &*program]).status();
    assert!(copied.expect("cp").success());
    let copies = [bin.join("libLLVM.so.22.1"), bin.join("lib/libLLVM.so.22.1"), lib.join("libLLVM.so.22.1")];
    for copy in &copies {
        std::fs::write(copy, "").expect("written");
        mode(copy, 0o644);
    }
    let found = |variables: &[(&str, &std::path::Path)]| {
        let (done, told) = told(&program, &["info", "--json"], variables);
        assert!(done, "{told}");
        let info: serde_json::Value = serde_json::from_str(&told).expect("JSON");
        info["llvm"].as_str().map(std::path::PathBuf::from)
    };
    assert_eq!(found(&[]), Some(copies[2].clone()));
    // Without it, the command uses the LLVM of the toolchain that built it, wherever it is installed.
    std::fs::remove_file(&copies[2]).expect("removed");
    let built = found(&[]).expect("the toolchain's");
    assert!(!built.starts_with(&root), "{}", built.display());
    // Without any LLVM, the output says what to do.
    assert_eq!(found(&[("ANYWARP_LLVM", &lib)]), None);
    let (_, told) = told(&program, &["info"], &[("ANYWARP_LLVM", &lib)]);
    assert!(told.contains("rustup toolchain install") && told.contains("ANYWARP_LLVM"), "{told}");
}
