//! AMD's device library, which clang links HIP and OpenCL programs with: `libm`, `printf`, `malloc`, barriers
//! of grids. Debian has that of ROCm 5.2.3 (`rocm-device-libs`), which is older than gfx942, gfx11 and gfx12.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::sample::long;

const CLANG: &str = "clang-19";

/// Where packages install it.
const PLACES: [&str; 2] = ["/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", "/opt/rocm/amdgcn/bitcode"];

/// Targets that it may lack: names of files and numbers.
const TARGETS: [(&str, u32); 4] = [("942", 9402), ("1100", 11000), ("1200", 12000), ("1201", 12001)];

/// What bitcode for AMD's targets begins with.
const HEAD: &str = "target datalayout = \"e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-\
                    i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-\
                    v2048:2048-n32:64-S32-A5-G1-ni:7\"\ntarget triple = \"amdgcn-amd-amdhsa\"\n";

/// The library, completed for all targets, in a folder that is deleted at the end.
#[derive(Debug)]
pub struct DeviceLibrary {
    installed: PathBuf,
    folder: tempfile::TempDir,
    all: OnceLock<PathBuf>,
    newer: OnceLock<PathBuf>,
}

impl DeviceLibrary {
    /// The installed one, or that of the folder that `ANYWARP_DEVICE_LIBS` names.
    ///
    /// # Panics
    /// If there is none in a long run.
    #[must_use]
    pub fn find() -> Option<DeviceLibrary> {
        let named = std::env::var_os("ANYWARP_DEVICE_LIBS").map(PathBuf::from);
        let places = named.into_iter().chain(PLACES.map(PathBuf::from));
        let found = places.into_iter().find(|place| place.join("ockl.bc").exists());
        if found.is_none() {
            let missing = "AMD's device library is missing: apt-get install rocm-device-libs, or set \
                           ANYWARP_DEVICE_LIBS to its folder amdgcn/bitcode";
            assert!(!long(), "{missing}");
            eprintln!("not run: {missing}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        Some(DeviceLibrary { installed: found?, folder, all: OnceLock::new(), newer: OnceLock::new() })
    }

    /// The option of clang that names its folder, for a target.
    ///
    /// # Panics
    /// If clang cannot complete the library.
    #[must_use]
    pub fn option(&self, target: &str) -> String {
        let newer = ["gfx11", "gfx12"].iter().any(|family| target.starts_with(family));
        let folder = if newer { self.newer.get_or_init(|| self.newer()) } else { self.all() };
        format!("--rocm-device-lib-path={}", folder.display())
    }

    /// The library with a file for each target.
    fn all(&self) -> &Path {
        self.all.get_or_init(|| {
            let folder = self.linked_to(&self.installed, "all");
            for (name, number) in TARGETS {
                let file = folder.join(format!("oclc_isa_version_{name}.bc"));
                if !file.exists() {
                    let value = "linkonce_odr hidden local_unnamed_addr addrspace(4) constant i32";
                    bitcode(&format!("{HEAD}@__oclc_ISA_version = {value} {number}, align 4\n"), &file);
                }
            }
            folder
        })
    }

    /// gfx11 and gfx12 read the clock in another way than targets before them. LLVM drops the functions that
    /// read it in the old way, so that memory for `malloc`, which waits for some time to pass, never comes.
    /// Libraries since ROCm 5.5 have a case for that; in older ones the compiler chooses the instruction.
    fn newer(&self) -> PathBuf {
        let folder = self.linked_to(self.all(), "newer");
        let (file, library) = (self.folder.path().join("ockl.ll"), folder.join("ockl.bc"));
        clang(&["-S"], &library, &file);
        let text = std::fs::read_to_string(&file).expect("a text");
        if !text.contains("llvm.amdgcn.s.sendmsg.rtn") {
            let text = text.replace("llvm.amdgcn.s.memrealtime", "llvm.readsteadycounter");
            std::fs::remove_file(&library).expect("a link");
            bitcode(&text.replace("\"target-features\"=\"+s-memrealtime\"", ""), &library);
        }
        folder
    }

    /// A folder of this name with links to the files of another.
    fn linked_to(&self, from: &Path, name: &str) -> PathBuf {
        let folder = self.folder.path().join(name);
        std::fs::create_dir(&folder).expect("a folder");
        for entry in std::fs::read_dir(from).expect("the library's folder can be read") {
            let entry = entry.expect("an entry");
            std::os::unix::fs::symlink(entry.path(), folder.join(entry.file_name())).expect("a link");
        }
        folder
    }
}

/// Writes bitcode of a text.
fn bitcode(text: &str, into: &Path) {
    let source = into.with_extension("ll");
    std::fs::write(&source, text).expect("a file");
    clang(&["-c"], &source, into);
}

/// Translates between bitcode and text.
fn clang(options: &[&str], from: &Path, into: &Path) {
    let output = Command::new(CLANG)
        .args(["-x", "ir", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-emit-llvm", "-Wno-override-module"])
        .args(["-Xclang", "-disable-llvm-passes"])
        .args(options)
        .arg(from)
        .arg("-o")
        .arg(into)
        .output()
        .expect("clang starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
