//! `anywarp bundle`: what it writes is listed by `extract`, and HIP's library chooses from it by device.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{ANYWARP, Folder, root, succeed};

const PTX: &str = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry of_ptx() { ret; }\n";

/// For each device: its name, and which of two kernels the bundle has for it.
const PROGRAM: &str = r#"
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *hip = dlopen("libamdhip64.so.6", RTLD_NOW);
    int (*count)(int *) = (int (*)(int *))dlsym(hip, "hipGetDeviceCount");
    int (*set)(int) = (int (*)(int))dlsym(hip, "hipSetDevice");
    int (*load)(void **, const char *) = (int (*)(void **, const char *))dlsym(hip, "hipModuleLoad");
    int (*get)(void **, void *, const char *) =
        (int (*)(void **, void *, const char *))dlsym(hip, "hipModuleGetFunction");
    int devices = 0;
    if (argc != 2 || count(&devices)) return 1;
    for (int i = 0; i < devices; i++) {
        void *module, *of_amd, *of_ptx;
        if (set(i) || load(&module, argv[1])) return 2;
        int amd = !get(&of_amd, module, "saxpy"), ptx = !get(&of_ptx, module, "of_ptx");
        printf("%s%s\n", amd ? "amd" : "", ptx ? "ptx" : "");
    }
    return 0;
}
"#;

fn object(target: &str) -> std::path::PathBuf {
    root().join(format!("crates/gcn/tests/data/saxpy.{target}.hsaco"))
}

/// Bundles files; returns the bundle's path.
fn bundled(folder: &Folder, name: &str, arguments: &[&str], files: &[&Path]) -> String {
    let bundle = folder.0.join(name).to_string_lossy().into_owned();
    succeed(Command::new(ANYWARP).args(["bundle", "-o", &bundle]).args(arguments).args(files));
    bundle
}

#[test]
fn a_bundle_has_the_files_and_each_device_takes_its_own() {
    let folder = Folder::new("bundle");
    let (text, program) = (folder.0.join("k.ptx"), folder.0.join("program"));
    fs::write(&text, PTX).expect("a folder");
    fs::write(folder.0.join("program.c"), PROGRAM).expect("a folder");
    succeed(Command::new("cc").arg("-o").arg(&program).arg(folder.0.join("program.c")).arg("-ldl"));
    for (name, arguments) in [("plain", &[][..]), ("packed", &["--compress"])] {
        let first = bundled(&folder, "first", arguments, &[&object("gfx90a")]);
        // A bundle's objects are taken over.
        let bundle = bundled(&folder, name, arguments, &[&text, &object("gfx906"), Path::new(&first)]);
        let listed = succeed(Command::new(ANYWARP).args(["extract", &bundle]));
        let targets: Vec<&str> = listed.lines().skip(2).filter_map(|l| l.split_whitespace().nth(1)).collect();
        assert_eq!(targets, ["sm_70", "gfx906", "gfx90a:xnack-"], "{listed}");
        let out = folder.0.join(format!("{name}.out"));
        succeed(Command::new(ANYWARP).args(["extract", &bundle, "-o"]).arg(&out));
        let read = |ending: &str| fs::read(out.join(format!("{name}.{ending}"))).expect(ending);
        assert_eq!(read("1.sm_70.ptx"), PTX.as_bytes(), "{name}");
        assert_eq!(read("2.gfx906.hsaco"), fs::read(object("gfx906")).expect("an object"));
        assert_eq!(read("3.gfx90a_xnack-.hsaco"), fs::read(object("gfx90a")).expect("an object"));
        // A device for which there is no AMD code takes the PTX.
        let mut run = Command::new(ANYWARP);
        run.args(["run", "--"]).arg(&program).arg(&bundle).env("ANYWARP_HIP_ARCH", "gfx906,gfx1100");
        assert_eq!(succeed(&mut run), "amd\nptx\nptx\n", "{name}");
    }
}

/// The code in bundles and in programs that contain them is compiled and checked without being extracted
/// first.
#[test]
fn code_in_bundles_and_programs_is_compiled_and_checked() {
    let folder = Folder::new("bundle-compile");
    let text = folder.0.join("k.ptx");
    fs::write(&text, PTX).expect("a folder");
    for (name, arguments) in [("plain", &[][..]), ("packed", &["--compress"])] {
        let bundle = bundled(&folder, name, arguments, &[&text, &object("gfx906")]);
        // A program holds a bundle in a section of its own.
        let (source, program) = (folder.0.join("p.s"), folder.0.join(format!("{name}.program")));
        let held = format!(
            ".section .hip_fatbin,\"a\"\n.p2align 12\n.incbin \"{bundle}\"\n.text\n.globl main\nmain: ret\n\
             .section .note.GNU-stack\n"
        );
        fs::write(&source, held).expect("a folder");
        succeed(Command::new("cc").arg("-o").arg(&program).arg(&source));
        for file in [Path::new(&bundle), &program] {
            let run = |arguments: &[&str]| {
                let output = Command::new(ANYWARP).arg(arguments[0]).arg(file).args(&arguments[1..]).output();
                let output = output.expect("the command starts");
                let both = [output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
                (output.status.success(), both.concat())
            };
            let (good, table) = run(&["compile"]);
            let heads: Vec<&str> = table.lines().filter(|line| line.starts_with(';')).collect();
            assert_eq!((good, heads), (true, vec!["; part 1: sm_70", "; part 2: gfx906"]), "{table}");
            for kernel in ["of_ptx ", "saxpy ", "reverse "] {
                assert!(table.lines().any(|line| line.starts_with(kernel)), "{table}");
            }
            let (good, one) = run(&["compile", "--part", "1", "--emit", "wave"]);
            assert!(good && one.contains("of_ptx") && !one.contains("saxpy"), "{one}");
            // A kernel is looked for in all parts.
            let (good, one) = run(&["compile", "--kernel", "reverse"]);
            assert!(good && one.contains("reverse") && !one.contains("of_ptx"), "{one}");
            let (good, none) = run(&["compile", "--kernel", "none"]);
            assert!(!good && none.contains("has no kernel none in any of its parts"), "{none}");
            let (good, none) = run(&["compile", "--part", "3"]);
            assert!(!good && none.contains("has no part 3; it has 2 pieces of code"), "{none}");
            let (good, checked) = run(&["check", "--jobs", "1"]);
            assert!(good && checked.contains("modules: 2 loaded"), "{checked}");
            assert!(
                checked.contains("kernels: 3 compiled") && checked.contains(", part 2: gfx906"),
                "{checked}"
            );
        }
    }
    let output =
        Command::new(ANYWARP).args(["check", "--jobs", "1", "/bin/true"]).output().expect("it starts");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && told.contains("there is neither PTX nor AMD code in it"), "{told}");
}

#[test]
fn what_cannot_be_bundled_is_told() {
    let folder = Folder::new("bundle-refused");
    let (text, other) = (folder.0.join("k.ptx"), folder.0.join("other"));
    fs::write(&text, PTX).expect("a folder");
    fs::write(&other, "text").expect("a folder");
    for (files, told) in [
        (vec![&other], "neither"),
        (vec![&text, &text], "already has code for hipv4-nvptx64-nvidia-cuda--sm_70"),
    ] {
        let output = Command::new(ANYWARP)
            .args(["bundle", "-o"])
            .arg(folder.0.join("out"))
            .args(&files)
            .output()
            .expect("the command starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(told), "{errors}");
        assert!(!folder.0.join("out").exists());
    }
}
