//! `anywarp bundle`: what it writes is listed by `extract`, and HIP's library chooses from it by device.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::{ANYWARP, Folder, root, succeed};

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
