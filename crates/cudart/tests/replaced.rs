//! `libanywarp-cudart.so`: programs with a static runtime. The programs here have functions with the names of
//! NVIDIA's in their symbol tables, as local symbols, which answer what no runtime answers.

mod library;

use std::path::Path;
use std::process::Command;

/// The local functions. Each is longer than the jump that replaces it.
const RUNTIME: &str = r#"
#include <stdio.h>
#define OWN __attribute__((noipa, used)) static
static volatile int zero;
OWN void **__cudaRegisterFatBinary(void *w) { zero = w != 0; return (void **)1; }
OWN int cudaGetExportTable(const void **t, const void *id) { zero = t != id; return 77; }
OWN int cudaMalloc(void **p, unsigned long n) { zero = n != 0; *p = 0; return 77; }
OWN int cudaRuntimeGetVersion(int *v) { zero = v != 0; *v = 77; return 77; }
OWN int cudaGetDeviceCount(int *n) { zero = n != 0; *n = 77; return 77; }
OWN int cudaOther(int *v) { zero = v != 0; *v = 77; return 77; }
"#;

/// A constructor calls the functions, then `main` does.
const PROGRAM: &str = r#"
static int first, status;
__attribute__((constructor)) static void before(void) { status = cudaRuntimeGetVersion(&first); }
int main(void)
{
    int version = 0, other = 0;
    void *memory = 0;
    printf("%d %d ", status, first);
    printf("%d ", cudaRuntimeGetVersion(&version));
    printf("%d ", version);
    printf("%d ", cudaMalloc(&memory, 64));
    printf("%d ", memory != 0);
    cudaOther(&other);
    printf("%d\n", other);
    return 0;
}
"#;

fn compile(folder: &Path, name: &str, source: &str, arguments: &[&str]) {
    let file = folder.join(format!("{name}.c"));
    std::fs::write(&file, source).expect("a file");
    let cc = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut cc = Command::new(cc);
    let done = cc.current_dir(folder).arg("-O1").arg("-falign-functions=16").arg(&file).args(["-o", name]);
    let done = done.args(arguments).output().expect("a C compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn command(folder: &Path, name: &str) -> Command {
    let libraries = library::folder();
    let preload = ["libcuda.so.1", "libanywarp-cudart.so"].map(|l| libraries.join(l).display().to_string());
    let mut command = Command::new(folder.join(name));
    command.current_dir(folder).env("LD_PRELOAD", preload.join(":"));
    command
}

fn printed(folder: &Path, name: &str) -> String {
    let output = command(folder, name).output().expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_static_runtime_is_replaced_before_constructors_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    compile(folder, "own", &format!("{RUNTIME}{PROGRAM}"), &[]);
    assert_eq!(printed(folder, "own"), "0 13000 0 13000 0 1 77\n", "cudaOther is no function of the runtime");
    // Functions that went with 12 and 13 tell which version a program has.
    for (name, more, version) in [
        ("of_12", "OWN int cudaThreadExit(void) { zero = 1; return 77; }", 12090),
        (
            "of_11",
            "OWN int cudaThreadExit(void) { zero = 1; return 77; } OWN int cudaBindTexture(void) { zero = 2; return 77; }",
            11080,
        ),
    ] {
        compile(folder, name, &format!("{RUNTIME}{more}{PROGRAM}"), &[]);
        assert_eq!(printed(folder, name), format!("0 {version} 0 {version} 0 1 77\n"));
    }
}

#[test]
fn a_library_with_a_static_runtime_is_served_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let library = "int first; __attribute__((constructor)) static void before(void) { cudaRuntimeGetVersion(&first); }
        int version(void) { void *memory; int found; cudaMalloc(&memory, 4); return cudaRuntimeGetVersion(&found) + found; }";
    compile(folder, "libown.so", &format!("{RUNTIME}{library}"), &["-shared", "-fPIC"]);
    let program = "#include <stdio.h>\nextern int first; int version(void); int main(void) { printf(\"%d %d\\n\", first, version()); }";
    compile(folder, "uses", program, &["-L.", "-lown", "-Wl,-rpath,$ORIGIN"]);
    assert_eq!(printed(folder, "uses"), "13000 13000\n");
}

/// The driver reads its options when the first function is replaced, or later: the environment is there then.
#[test]
fn the_environment_is_obeyed() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let count = "#include <stdio.h>\nint main(void) { int n = 0; int code = cudaGetDeviceCount(&n); printf(\"%d %d\", code, n); }";
    compile(folder, "counts", &format!("{RUNTIME}{count}"), &[]);
    compile(
        folder,
        "libcounts.so",
        &format!("{RUNTIME}int count(void) {{ int n = 0; cudaGetDeviceCount(&n); return n; }}"),
        &["-shared", "-fPIC"],
    );
    let uses = "#include <stdio.h>\nint count(void); int main(void) { printf(\"0 %d\", count()); }";
    compile(folder, "uses", uses, &["-L.", "-lcounts", "-Wl,-rpath,$ORIGIN"]);
    for name in ["counts", "uses"] {
        let output = command(folder, name).env("ANYWARP_DEVICES", "3").output().expect("the program starts");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "0 3", "{output:?}");
    }
}

/// What is opened while the program runs, is served before its constructors run, and again after it was
/// closed.
#[test]
fn a_library_that_the_program_opens_is_served_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let library = "int first; __attribute__((constructor)) static void before(void) { cudaRuntimeGetVersion(&first); }
        int version(void) { void *memory; int found; cudaMalloc(&memory, 4); return cudaRuntimeGetVersion(&found) + found; }";
    compile(folder, "libopened.so", &format!("{RUNTIME}{library}"), &["-shared", "-fPIC"]);
    let program = r#"
        #include <dlfcn.h>
        #include <stdio.h>
        int main(void)
        {
            for (int i = 0; i < 3; i++) {
                void *library = dlopen("./libopened.so", i == 2 ? RTLD_NOW | RTLD_DEEPBIND : RTLD_LAZY);
                int (*version)(void) = (int (*)(void))dlsym(library, "version");
                printf("%d %d ", *(int *)dlsym(library, "first"), version());
                dlclose(library);
            }
            return 0;
        }"#;
    compile(folder, "opens", program, &["-ldl"]);
    assert_eq!(printed(folder, "opens"), "13000 13000 13000 13000 13000 13000 ");
}

/// A program that only has some of the names is not NVIDIA's runtime, and neither are exported functions.
#[test]
fn other_programs_stay_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let without = RUNTIME.replace("OWN int cudaGetExportTable", "OWN int someGetExportTable");
    compile(folder, "some", &format!("{without}{PROGRAM}"), &[]);
    assert_eq!(printed(folder, "some"), "77 77 77 77 77 0 77\n");
    let exported = RUNTIME.replace(")) static", "))");
    compile(folder, "exported", &format!("{exported}{PROGRAM}"), &[]);
    assert_eq!(printed(folder, "exported"), "77 77 77 77 77 0 77\n");
    compile(folder, "stripped", &format!("{RUNTIME}{PROGRAM}"), &["-s"]);
    assert_eq!(printed(folder, "stripped"), "77 77 77 77 77 0 77\n");
}

/// A handler that `main` registers, and a destructor, which runs after the driver's own handler.
const LATE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
struct dim3 { unsigned x, y, z; };
unsigned __cudaPushCallConfiguration(struct dim3, struct dim3, unsigned long, void *);
unsigned __cudaPopCallConfiguration(struct dim3 *, struct dim3 *, unsigned long *, void **);
unsigned cudaGetLastError(void), cudaMalloc(void **, unsigned long), cudaMemset(void *, int, unsigned long);
unsigned cudaStreamCreate(void **), cudaStreamSynchronize(void *);
static struct dim3 one = {1, 1, 1}, grid, block;
static unsigned long shared;
static void *stream, *memory;
static void use(void)
{
    unsigned pushed = __cudaPushCallConfiguration(one, one, 0, 0);
    printf("%u ", pushed);
    printf("%u ", __cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    printf("%u ", cudaMalloc(&memory, 64));
    printf("%u ", cudaMemset(memory, 1, 64));
    printf("%u ", cudaStreamSynchronize((void *)2));
    printf("%u\n", cudaGetLastError());
}
__attribute__((destructor)) static void after(void) { use(); }
int main(void)
{
    use();
    atexit(use);
    return 0;
}
"#;

/// Handlers of `atexit` run after the destructors of the first thread's own variables: the driver still
/// works. After its own handler, calls fail with cudaErrorCudartUnloading and no panic.
#[test]
fn the_runtime_works_in_exit_handlers() {
    let folder = tempfile::tempdir().expect("a folder");
    let front = library::front(13).display().to_string();
    let libraries = library::folder().display().to_string();
    compile(folder.path(), "late", LATE, &[&front, &format!("-Wl,-rpath,{libraries}")]);
    let output = command(folder.path(), "late").output().expect("the program starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0 0 0 0 0 0\n0 0 0 0 0 0\n0 0 4 4 4 4\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// A broken symbol table may name places outside of the code: what lies there stays as it is, and is not
/// read.
#[test]
fn symbols_outside_of_the_code_are_not_followed() {
    const SYMBOL: usize = 24;
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    compile(folder, "broken", &format!("{RUNTIME}{PROGRAM}"), &[]);
    let file = folder.join("broken");
    let whole = std::fs::read(&file).expect("the program");
    let word = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().expect("eight bytes")) as usize;
    let sections = word(40);
    let count = usize::from(u16::from_le_bytes([whole[60], whole[61]]));
    let table = (0..count).map(|i| sections + 64 * i).find(|at| whole[at + 4] == 2).expect("a symbol table");
    let texts = word(sections + 64 * whole[table + 40] as usize + 24);
    let (begin, size) = (word(table + 24), word(table + 32));
    let named = |at: usize, name: &[u8]| {
        let name_at = texts + u32::from_le_bytes(whole[at..at + 4].try_into().expect("four bytes")) as usize;
        whole[name_at..].starts_with(name) && whole[name_at + name.len()] == 0
    };
    let symbol = (begin..begin + size).step_by(SYMBOL).find(|at| named(*at, b"cudaRuntimeGetVersion"));
    let symbol = symbol.expect("the symbol");
    for address in [0, 16, 0x2000_0000, 0x7fff_ffff_fff0, u64::MAX - 15] {
        let mut bytes = whole.clone();
        bytes[symbol + 8..symbol + 16].copy_from_slice(&address.to_le_bytes());
        hwtruth::program::write(&file, bytes);
        let output = command(folder, "broken").output().expect("the program starts");
        assert!(output.status.success(), "{address:#x}: {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "77 77 77 77 0 1 77\n", "{address:#x}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("outside of its code"), "{address:#x}: {told}");
    }
}
