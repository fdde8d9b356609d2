//! Trust: where the library takes code from, what the environment of a program with more rights than its user
//! must not do, and which files a program may have closed.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::call;
use crate::support::Argument::U64;
use crate::support::{AllocationProp, Cuda, HEAD, everywhere, isolated};

/// Stores 1 to its argument; the text differs for each number.
fn store(number: u32) -> String {
    format!(
        "{HEAD}.visible .entry store{number}(.param .u64 to) {{ .reg .b64 %d; ld.param.u64 %d, [to]; \
         st.global.u32 [%d], {}; ret; }}",
        number + 1
    )
}

/// Loads a module and runs its kernel.
fn run(cuda: &Cuda, number: u32) {
    let function = cuda.function(cuda.module(&store(number)), &format!("store{number}"));
    let to = cuda.upload(&[0u32]);
    assert_eq!(cuda.launch(function, 1, 1, 0, &[U64(to)]), 0);
    call!(cuda.cuCtxSynchronize());
    assert_eq!(cuda.download::<u32>(to, 1), [number + 1]);
}

/// Whether this process has opened a working LLVM.
fn has_llvm() -> bool {
    let maps = fs::read_to_string("/proc/self/maps").expect("Linux tells");
    maps.lines().any(|line| line.contains("libLLVM") && !line.contains("anywarp-trust"))
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
}

/// A folder with traps in it: anything that must not run leaves a mark.
struct Traps(tempfile::TempDir);

impl Traps {
    fn new() -> Traps {
        // The build's own folder: /tmp may be mounted without support for setuid programs.
        let folder =
            tempfile::Builder::new().prefix("anywarp-trust-").tempdir_in(env!("CARGO_TARGET_TMPDIR"));
        Traps(folder.expect("a folder"))
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.at(name).to_str().expect("a plain name").into()
    }

    /// A folder that only the user can write.
    fn folder(&self, name: &str) -> PathBuf {
        fs::DirBuilder::new().recursive(true).mode(0o755).create(self.at(name)).expect("a folder");
        self.at(name)
    }

    /// A library named like LLVM that leaves a mark when it is opened.
    fn library(&self, folder: &str) -> PathBuf {
        let source = self.at("trap.c");
        let mark = self.text("opened");
        let text = format!(
            "#include <fcntl.h>\n__attribute__((constructor)) static void run(void) {{ creat(\"{mark}\", 0600); }}\n"
        );
        fs::write(&source, text).expect("written");
        let library = self.folder(folder).join("libLLVM.so.22.1");
        let status = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
        assert!(status.expect("a C compiler").success());
        mode(&library, 0o755);
        library
    }

    /// A folder for `PATH` whose `rustc` leaves a mark when it is run.
    fn path(&self) -> String {
        let rustc = self.folder("bin").join("rustc");
        fs::write(&rustc, format!("#!/bin/sh\n: > '{}'\necho '{}'\n", self.text("ran"), self.text("")))
            .expect("written");
        mode(&rustc, 0o755);
        format!("{}:/usr/bin:/bin", self.text("bin"))
    }

    /// A copy of the running test as a program in another folder.
    fn program(&self) -> PathBuf {
        let program = self.at("program");
        // Copied by another process: if this one had the file open for writing, a test running beside this
        // one might pass the descriptor on to its child, and the program would be busy.
        let own = std::env::current_exe().expect("the test's own path");
        assert!(Command::new("cp").args([&own, &program]).status().expect("cp").success());
        mode(&program, 0o755);
        program
    }

    fn opened(&self) -> bool {
        self.at("opened").exists()
    }

    fn ran(&self) -> bool {
        self.at("ran").exists()
    }
}

/// The names in a folder; empty if it does not exist.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect()
}

const CHILD: &str = "ANYWARP_TEST_TRUST";

/// Whether this process is the child that runs the test's body.
fn is_child(test: &str) -> bool {
    std::env::var(CHILD).as_deref() == Ok(test)
}

/// Runs a test's child with this program, which finds the library in another place than the test.
fn child(program: &Path, test: &str, library: &Path, variables: &[(&str, &str)]) -> Output {
    let output = Command::new(program)
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, test)
        .env("ANYWARP_TEST_LIBRARY", library)
        .env("ANYWARP_CACHE_DIR", "off")
        .envs(variables.iter().copied())
        .output()
        .expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr));
    output
}

#[test]
fn llvm_is_not_taken_from_beside_the_program_nor_from_the_path() {
    let test = "trust::llvm_is_not_taken_from_beside_the_program_nor_from_the_path";
    if is_child(test) {
        run(&Cuda::start(), 0);
        assert_eq!(has_llvm(), std::env::var_os("ANYWARP_LLVM").is_none());
        return;
    }
    let traps = Traps::new();
    traps.library("lib");
    let (program, library, path) = (traps.program(), crate::library::built(), traps.path());
    // The second time, the two traps offer the only LLVM.
    let nothing = traps.folder("nothing");
    let nothing = ("ANYWARP_LLVM", nothing.to_str().expect("a plain name"));
    let search = traps.text("lib");
    for more in [&[][..], &[nothing, ("LD_LIBRARY_PATH", &search)]] {
        child(&program, test, &library, &[&[("PATH", path.as_str())], more].concat());
        assert!(!traps.opened() && !traps.ran());
    }
}

#[test]
fn llvm_is_found_beside_the_driver_unless_others_can_write_there() {
    let test = "trust::llvm_is_found_beside_the_driver_unless_others_can_write_there";
    if is_child(test) {
        run(&Cuda::start(), 0);
        // The file there is not LLVM: the next one is used, that of the toolchain that built the library.
        assert!(has_llvm());
        return;
    }
    let traps = Traps::new();
    let copy = traps.library("lib/anywarp");
    let library = traps.at("lib/anywarp/libcuda.so.1");
    fs::copy(crate::library::built(), &library).expect("copied");
    let program = std::env::current_exe().expect("the test's own path");
    let opened = |folder: u32, file: u32| {
        mode(&traps.at("lib/anywarp"), folder);
        mode(&copy, file);
        child(&program, test, &library, &[]);
        let opened = traps.opened();
        if opened {
            fs::remove_file(traps.at("opened")).expect("removed");
        }
        opened
    };
    assert!(opened(0o755, 0o755), "an installation's own copy comes first");
    assert!(!opened(0o777, 0o755), "others can put files there");
    assert!(!opened(0o755, 0o757), "others can write it");
}

/// Gives a program more rights than its user has: another group. `false` if this user cannot.
fn give_rights(program: &Path) -> bool {
    let mut groups = [0; 64];
    // SAFETY: at most as many numbers are written as the buffer holds.
    let count = unsafe { libc::getgroups(groups.len() as i32, groups.as_mut_ptr()) };
    // SAFETY: only queries.
    let (user, own) = unsafe { (libc::geteuid(), libc::getegid()) };
    let mine = groups.iter().copied().take(usize::try_from(count).unwrap_or(0));
    // Root can use any group.
    let Some(group) = mine.chain((user == 0).then_some(65534)).find(|group| *group != own) else {
        return false;
    };
    chown(program, None, Some(group)).expect("a group of the user's");
    mode(program, 0o2755);
    true
}

#[test]
fn a_program_with_more_rights_than_its_user_obeys_no_path() {
    let test = "trust::a_program_with_more_rights_than_its_user_obeys_no_path";
    if is_child(test) {
        // SAFETY: reads a word that the kernel gave the process.
        let secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
        println!("secure: {secure}");
        run(&Cuda::start(), 0);
        return;
    }
    for secure in [false, true] {
        let traps = Traps::new();
        let (program, path) = (traps.program(), traps.path());
        if secure && !give_rights(&program) {
            eprintln!("not tried: this user has one group only");
            return;
        }
        traps.library("llvm");
        traps.library("rustup/toolchains/any/lib");
        let names_of_folders = ["cache", "ptx", "profile", "home", "xdg", "rustup", "llvm"];
        let folders = names_of_folders.map(|name| traps.text(name));
        let [cache, ptx, profile, home, xdg, rustup, llvm] = folders.each_ref().map(String::as_str);
        traps.folder("profile");
        // Without ANYWARP_CACHE_DIR, the cache would be in the home folder.
        for cache in [Some(cache), None] {
            let mut variables = vec![
                ("ANYWARP_KEEP_PTX", ptx),
                ("ANYWARP_PROFILE", profile),
                ("ANYWARP_LLVM", llvm),
                ("HOME", home),
                ("XDG_CACHE_HOME", xdg),
                ("RUSTUP_HOME", rustup),
                ("PATH", &path),
            ];
            let mut command = Command::new(&program);
            command.env_remove("ANYWARP_CACHE_DIR");
            variables.extend(cache.map(|cache| ("ANYWARP_CACHE_DIR", cache)));
            let output = command
                .args([test, "--exact", "--nocapture", "--test-threads=1"])
                .env(CHILD, test)
                .env("ANYWARP_TEST_LIBRARY", crate::library::built())
                .envs(variables)
                .output()
                .expect("the program starts");
            let told = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
            if secure && told.contains("secure: false") {
                eprintln!("not tried: programs have no rights of their own on this file system");
                return;
            }
        }
        let obeyed =
            ["cache", "ptx", "profile", "xdg/anywarp"].map(|name| !names(&traps.at(name)).is_empty());
        assert_eq!(obeyed, [!secure; 4], "secure: {secure}");
        assert_eq!(traps.opened(), !secure, "ANYWARP_LLVM");
        assert!(names(&traps.at("home")).is_empty() && !traps.ran());
    }
}

#[test]
fn a_missing_llvm_is_told_once() {
    let output = isolated(
        "trust::a_missing_llvm_is_told_once",
        &[("ANYWARP_LLVM", "/nonexistent/libLLVM.so.22.1"), ("ANYWARP_ENGINE", "compiled")],
        || {
            let cuda = Cuda::start();
            for number in 0..3 {
                run(&cuda, number);
            }
        },
    );
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(told.matches("no LLVM 22 was found").count(), 1, "{told}");
    for word in ["interpreter", "rustup toolchain install", "ANYWARP_LLVM", "/nonexistent/libLLVM.so.22.1"] {
        assert!(told.contains(word), "{word}: {told}");
    }
}

#[test]
fn a_cache_that_others_can_write_is_not_used_and_told_once() {
    let test = "trust::a_cache_that_others_can_write_is_not_used_and_told_once";
    if is_child(test) {
        let cuda = Cuda::start();
        return (0..3).for_each(|number| run(&cuda, number));
    }
    let traps = Traps::new();
    let cache = traps.folder("cache");
    let own = std::env::current_exe().expect("the test's own path");
    let told = |folder: u32| {
        mode(&cache, folder);
        let variables = [("ANYWARP_CACHE_DIR", traps.text("cache"))];
        let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
        let output = child(&own, test, &crate::library::built(), &variables);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        told.matches("the cache of compiled kernels is not used").count()
    };
    assert_eq!(told(0o777), 1);
    assert_eq!(names(&cache), [""; 0]);
    assert_eq!(told(0o700), 0);
    assert!(names(&cache).iter().any(|name| name.ends_with(".o")));
}

/// More than the test harness prints, and less than everything else that is written.
const LIMIT: u64 = 120;

/// From now on, no file may be larger than this.
fn limit(bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: sets a limit of this process.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) }, 0);
}

/// Prints 64 lines of text.
const PRINT: &str = "
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 format[17] = {98, 108, 111, 99, 107, 32, 98, 108, 111, 99, 107, 32, 98, 108, 111, 10, 0};
.visible .entry print() {
    .reg .b64 %d; .param .b64 f; .param .b64 a; .param .b32 r;
    mov.u64 %d, format; cvta.global.u64 %d, %d;
    st.param.b64 [f], %d; st.param.b64 [a], 0; call (r), vprintf, (f, a);
    ret;
}
";

/// SIGXFSZ would kill the process wherever the library writes: the cache, the record of texts, kept PTX,
/// memory shared between processes, the output of kernels.
#[test]
fn a_limit_on_file_sizes_costs_the_files_only() {
    let test = "trust::a_limit_on_file_sizes_costs_the_files_only";
    if is_child(test) {
        limit(LIMIT);
        let cuda = Cuda::start();
        run(&cuda, 0);
        let properties =
            AllocationProp { kind: 1, handle_types: 0, location: [1, 0], meta_data: 0, flags: [0; 8] };
        let mut handle = 0;
        call!(cuda.cuMemCreate(&raw mut handle, 2 << 20, &raw const properties, 0) => 2);
        let print = cuda.function(cuda.module(&format!("{HEAD}{PRINT}")), "print");
        assert_eq!(cuda.launch(print, 2, 32, 0, &[]), 0);
        call!(cuda.cuCtxSynchronize());
        run(&cuda, 1);
        // The test harness can no longer write to the limited output.
        std::process::exit(7);
    }
    for engine in ["compiled", "interpreter"] {
        let traps = Traps::new();
        let (cache, ptx) = (traps.text("cache"), traps.text("ptx"));
        let printed = fs::File::create(traps.at("printed")).expect("a file");
        let output = Command::new(std::env::current_exe().expect("the test's own path"))
            .args([test, "--exact", "--nocapture", "--test-threads=1"])
            .envs([
                (CHILD, test),
                ("ANYWARP_ENGINE", engine),
                ("ANYWARP_WORKERS", "1"),
                ("ANYWARP_LOG", "warn"),
            ])
            .envs([("ANYWARP_CACHE_DIR", &cache), ("ANYWARP_KEEP_PTX", &ptx)])
            .stdout(printed)
            .output()
            .expect("it starts");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(7), "{engine}: {} {told}", output.status);
        let line = format!(
            "compiled kernels cannot be kept in {cache}, so that every process compiles them: File too"
        );
        assert_eq!(told.matches(&line).count(), usize::from(engine == "compiled"), "{engine}: {told}");
        let kept = names(Path::new(&cache));
        assert!(kept.iter().all(|name| name == "seen"), "{engine}: {kept:?}");
        assert_eq!(names(Path::new(&ptx)), [""; 0], "{engine}");
        assert_eq!(fs::metadata(traps.at("printed")).expect("there").len(), LIMIT, "{engine}");
    }
}

/// A daemon has closed its standard files. The system gives their numbers to the next files that are opened;
/// had device memory one of them, what the program prints would be written to it.
#[test]
fn closed_standard_files_stay_closed() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = [("ANYWARP_CACHE_DIR", folder.path().to_str().expect("a plain name"))];
    everywhere("trust::closed_standard_files_stay_closed", &cache, || {
        let closed = || {
            (0..3).all(|file| {
                // SAFETY: only asks.
                unsafe { libc::fcntl(file, libc::F_GETFD) == -1 }
            })
        };
        for file in 0..3 {
            // SAFETY: nothing is printed from here on; the exit status tells.
            unsafe { libc::close(file) };
        }
        let cuda = Cuda::start();
        let place = cuda.upload(&[5u32; 64]);
        let text = format!("{HEAD}.visible .entry nothing() {{ ret; }}");
        let nothing = cuda.function(cuda.module(&text), "nothing");
        if cuda.launch(nothing, 1, 32, 0, &[]) != 0 {
            std::process::exit(9);
        }
        call!(cuda.cuCtxSynchronize());
        // A file that is being opened has the lowest number for a moment, such as LLVM's.
        let stays = (0..500).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            closed()
        });
        if !stays {
            std::process::exit(10);
        }
        let kept = cuda.download::<u32>(place, 64) == [5; 64];
        std::process::exit(if kept { 0 } else { 11 });
    });
}
