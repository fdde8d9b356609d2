//! The command as people call it: `cmd/*.trycmd` hold invocations with what they must print. `TRYCMD=overwrite cargo test -p cli` accepts
//! new output; read the diff before you commit it.

/// Runs cases with a cache folder of their own, or none.
fn cases(cache: &str, names: &[&str]) {
    let cases = trycmd::TestCases::new();
    cases.env("ANYWARP_CACHE_DIR", cache).env("ANYWARP_COMPUTE_CAPABILITY", "8.6");
    for name in names {
        cases.case(format!("tests/cmd/{name}.trycmd"));
    }
}

#[test]
fn invocations() {
    cases("off", &["compile", "help", "hipify"]);
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
