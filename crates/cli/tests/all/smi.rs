//! Monitors beside a program: `nvidia-smi` and `libnvidia-ml.so.1` as programs under `anywarp run` find them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{ANYWARP, Folder, root, succeed};

/// Compiles a C program and runs it in a shell line under `anywarp run`, in which `$PROGRAM` is its path.
fn run(name: &str, source: &str, line: &str, variables: &[(&str, &str)]) -> String {
    let folder = Folder::new(name);
    let (text, program) = (folder.0.join("main.c"), folder.0.join(name));
    fs::write(&text, format!("{PRELUDE}{source}")).expect("written");
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Werror", "-I"]).arg(root().join("include"));
    succeed(cc.arg("-o").arg(&program).arg(&text));
    let mut run = Command::new(ANYWARP);
    run.args(["run", "--", "sh", "-c", line]).env("PROGRAM", &program).envs(variables.iter().copied());
    succeed(&mut run)
}

/// What the programs have in common: the driver's and NVML's functions by name, and a check of each call.
const PRELUDE: &str = r#"
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *find(const char *library, const char *name) {
    void *handle = dlopen(library, RTLD_NOW);
    void *function = handle ? dlsym(handle, name) : NULL;
    if (!function) {
        printf("%s\n", dlerror());
        exit(1);
    }
    return function;
}
#define CUDA(name) ((int (*)())find("libcuda.so.1", #name))
#define NVML(name) ((int (*)())find("libnvidia-ml.so.1", #name))
#define CHECK(call) \
    do { int code = (call); if (code) { printf("%s: %d\n", #call, code); exit(1); } } while (0)

struct memory { unsigned long long total, free, used; };

__attribute__((unused)) static struct memory memory(void) {
    void *device;
    struct memory memory;
    CHECK(NVML(nvmlDeviceGetHandleByIndex_v2)(0, &device));
    CHECK(NVML(nvmlDeviceGetMemoryInfo)(device, &memory));
    return memory;
}

/* Whether NVML lists a process on the first device. */
__attribute__((unused)) static int listed(pid_t process) {
    struct { unsigned pid; unsigned long long used; unsigned gpu, compute; } list[256];
    unsigned count = 256;
    void *device;
    CHECK(NVML(nvmlDeviceGetHandleByIndex_v2)(0, &device));
    CHECK(NVML(nvmlDeviceGetComputeRunningProcesses_v3)(device, &count, list));
    for (unsigned i = 0; i < count; i++)
        if (list[i].pid == (unsigned)process)
            return 1;
    return 0;
}
"#;

/// A program that allocates 48 MiB, is one of the processes that `nvidia-smi` shows, in each of its formats.
#[test]
fn nvidia_smi_tells_of_a_program_that_runs() {
    let told = run(
        "smi-process",
        r#"
int main(void) {
    void *context, *memory;
    setvbuf(stdout, NULL, _IONBF, 0);
    CHECK(CUDA(cuInit)(0));
    CHECK(CUDA(cuCtxCreate_v2)(&context, 0, 0));
    CHECK(CUDA(cuMemAlloc_v2)(&memory, (size_t)48 << 20));
    printf("own %d\n", getpid());
    return system("nvidia-smi --query-compute-apps=pid,used_memory,process_name"
                  " --format=csv,noheader,nounits &&"
                  "nvidia-smi && nvidia-smi -q -d PIDS && nvidia-smi -q -x -d PIDS && nvidia-smi -i 1 &&"
                  "nvidia-smi --query-compute-apps=pid --format=csv -i 1") != 0;
}
"#,
        "exec \"$PROGRAM\"",
        &[("ANYWARP_DEVICES", "2")],
    );
    let own = told.lines().find_map(|line| line.strip_prefix("own ")).expect("its number");
    let row = told.lines().find(|line| line.starts_with(&format!("{own}, 48, "))).expect(&told);
    assert!(row.ends_with("smi-process"), "{row}");
    let in_table = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.starts_with(&["|", "0", "N/A", "N/A", own, "C"]) && words.ends_with(&["48MiB", "|"])
    };
    assert_eq!(told.lines().filter(|line| in_table(line)).count(), 1, "{told}");
    let detail = told.split_once(&format!(": {own}\n")).expect(&told).1;
    let values: Vec<&str> =
        detail.lines().take(3).filter_map(|line| Some(line.split_once(": ")?.1)).collect();
    assert_eq!(values.first(), Some(&"C"));
    assert!(values[1].ends_with("smi-process"), "{values:?}");
    assert_eq!(values.last(), Some(&"48 MiB"));
    let element = told.split_once(&format!("<pid>{own}</pid>")).expect(&told).1;
    assert!(element.split("</process_info>").next().is_some_and(|e| e.contains("48 MiB")), "{told}");
    // It has no context on the second device.
    let second = told.rsplit_once("\npid\n").expect(&told).1;
    assert!(second.lines().all(|line| line != own), "{told}");
}

/// A library of another name is not ours: the one that is found lies beside the driver, and so does
/// nvidia-smi.
#[test]
fn nvml_and_nvidia_smi_are_found_by_name() {
    let told = run(
        "smi-found",
        r#"
int main(void) {
    unsigned count = 0;
    Dl_info info;
    CHECK(NVML(nvmlInit_v2)());
    CHECK(NVML(nvmlDeviceGetCount_v2)(&count));
    if (!dladdr((void *)NVML(nvmlInit_v2), &info))
        return 1;
    char *path = realpath(info.dli_fname, NULL);
    printf("%u\n%s\n", count, path);
    CHECK(NVML(nvmlShutdown)());
    return 0;
}
"#,
        "\"$PROGRAM\" && command -v nvidia-smi && nvidia-smi -L",
        &[("ANYWARP_DEVICES", "3")],
    );
    let lines: Vec<&str> = told.lines().collect();
    let [count, library, script, devices @ ..] = lines.as_slice() else { panic!("{told}") };
    assert_eq!((*count, devices.len()), ("3", 3));
    assert!(library.ends_with("libnvml.so"), "{library}");
    assert!(Path::new(script).ends_with("lib-anywarp/bin/nvidia-smi"), "{script}");
}

/// An installation has the command in `bin`, and the script in `lib/anywarp/bin`, to which other folders may
/// link.
#[test]
fn the_script_finds_an_installed_command() {
    let folder = Folder::new("smi-installed");
    let at = |name: &str| folder.0.join(name);
    let script = at("lib/anywarp/bin/nvidia-smi");
    for folder in [&at("lib/anywarp/bin"), &at("bin"), &at("elsewhere")] {
        fs::create_dir_all(folder).expect("a folder");
    }
    let source = root().join("crates/nvml/data/nvidia-smi");
    // Copied by another process: if this one had the file open for writing, a test running beside it might
    // pass the descriptor on to its child, and the program would be busy.
    succeed(Command::new("cp").args([&source, &script]));
    std::os::unix::fs::symlink(&script, at("elsewhere/nvidia-smi")).expect("a link");
    let run = |path: &Path| Command::new(path).arg("-L").output().expect("the script starts");
    let missing = run(&script);
    let told = String::from_utf8_lossy(&missing.stderr);
    assert!(missing.status.code() == Some(9) && told.contains("anywarp"), "{missing:?}");
    succeed(Command::new("cp").arg(ANYWARP).arg(at("bin/anywarp")));
    for path in [&script, &at("elsewhere/nvidia-smi")] {
        let output = run(path);
        assert!(output.stdout.starts_with(b"GPU 0: Anywarp CPU (UUID: GPU-"), "{output:?}");
    }
}

/// A path that is not set stays unset, for the system has a default.
#[test]
fn an_empty_path_stays_as_it_is() {
    let told = |path: Option<&str>| {
        let mut run = Command::new(ANYWARP);
        run.args(["run", "--", "/bin/sh", "-c", "/usr/bin/env | /bin/grep ^PATH= || echo none"]);
        match path {
            Some(path) => run.env("PATH", path),
            None => run.env_remove("PATH"),
        };
        succeed(&mut run)
    };
    assert!(told(Some("/elsewhere")).trim_end().ends_with("lib-anywarp/bin:/elsewhere"));
    assert_eq!(told(Some("")), "PATH=\n");
    let unset = told(None);
    assert!(!unset.contains("lib-anywarp"), "{unset}");
}

/// The child of a fork has its parent's published page open, but neither counts in it nor is listed. NVML
/// works in it, also if the parent initialised it.
#[test]
fn a_forked_child_does_not_count() {
    let told = run(
        "smi-fork",
        r#"
int main(void) {
    void *context, *memory_of_it;
    CHECK(NVML(nvmlInit_v2)());
    CHECK(CUDA(cuInit)(0));
    CHECK(CUDA(cuCtxCreate_v2)(&context, 0, 0));
    CHECK(CUDA(cuMemAlloc_v2)(&memory_of_it, (size_t)16 << 20));
    int both[2][2];
    if (pipe(both[0]) || pipe(both[1]))
        return 1;
    char byte = 0;
    pid_t child = fork();
    if (child == 0) {
        void *more;
        int refused = CUDA(cuMemAlloc_v2)(&more, (size_t)8 << 20);
        printf("child: refused %d, parent listed %d, itself %d\n", refused != 0, listed(getppid()),
               listed(getpid()));
        fflush(stdout);
        if (write(both[0][1], &byte, 1) != 1 || read(both[1][0], &byte, 1) != 1)
            _exit(1);
        _exit(0);
    }
    if (read(both[0][0], &byte, 1) != 1)
        return 1;
    printf("parent: itself %d, child %d\n", listed(getpid()), listed(child));
    fflush(stdout);
    char line[200];
    snprintf(line, sizeof line,
             "nvidia-smi --query-compute-apps=pid,used_memory --format=csv,noheader,nounits |"
             " grep -E '^(%d|%d),' | cut -d' ' -f2",
             getpid(), child);
    int status = system(line);
    if (write(both[1][1], &byte, 1) != 1)
        return 1;
    int ended;
    waitpid(child, &ended, 0);
    return status || ended;
}
"#,
        "exec \"$PROGRAM\"",
        &[],
    );
    assert_eq!(
        told, "child: refused 1, parent listed 1, itself 0\nparent: itself 1, child 0\n16\n",
        "one process, with the parent's memory"
    );
}

/// With a limit on the address space, NVML tells of as much memory as the driver does.
#[test]
fn a_limit_on_the_address_space_bounds_the_memory() {
    let source = r#"
int main(void) {
    CHECK(NVML(nvmlInit_v2)());
    unsigned long long before = memory().total, driver = 0;
    CHECK(CUDA(cuInit)(0));
    CHECK(CUDA(cuDeviceTotalMem_v2)(&driver, 0));
    CHECK(NVML(nvmlShutdown)());
    CHECK(NVML(nvmlInit_v2)());
    struct memory after = memory();
    printf("%llu %llu %llu %llu\n", before >> 20, after.total >> 20, driver >> 20,
           (after.free + after.used) >> 20);
    return 0;
}
"#;
    let numbers = |line: &str| -> Vec<u64> {
        let told = run("smi-limit", source, line, &[("ANYWARP_MEMORY", "64G")]);
        told.split_whitespace().map(|word| word.parse().expect("a number")).collect()
    };
    let whole = numbers("exec \"$PROGRAM\"");
    assert!(whole.iter().all(|number| *number == 64 << 10), "{whole:?}");
    let bounded = numbers("ulimit -v 4000000; exec \"$PROGRAM\"");
    let [before, after, driver, sum] = bounded[..] else { panic!("{bounded:?}") };
    assert_eq!((after, sum), (driver, driver));
    assert!(before < 4000 && after < 4000 && after > 0, "{bounded:?}");
}
