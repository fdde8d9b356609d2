//! Environment variables that users can set.
//!
//! Each variable is a row of one table. The row gives a field of [`Options`], its default, its parser, and
//! the text that describes it in the field's documentation, in docs/commands.md and in `anywarp --help`. The
//! options are read once, when the driver is initialised or the command starts, and passed on from there.
//!
//! A user runs a setuid program with more rights than their own, but controls its environment. In such a
//! process (the kernel sets `AT_SECURE`) variables that name a file, a folder or a library are ignored.

mod value;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use crate::processor::Processor;
pub use value::{CacheDir, Engine, HipContext, Level, ModuleLoading};
use value::{Shown, choice, number, path, switch, text};

/// The maximum number of worker threads.
pub const MAX_WORKERS: u32 = 512;

/// The maximum number of devices.
pub const MAX_DEVICES: u32 = 64;

/// The kind of a variable's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number, a switch or a list of devices: harmless whoever sets it.
    Setting,
    /// A setting for which an empty value is valid.
    List,
    /// A path that code is loaded from or files are written to.
    Path,
    /// A path for which an empty value is valid and means none.
    PathOrNone,
}

impl Kind {
    /// Whether programs with more rights than their user ignore it.
    pub fn is_path(self) -> bool {
        matches!(self, Kind::Path | Kind::PathOrNone)
    }

    /// Whether an empty value is valid. Otherwise an empty variable counts as not set.
    fn takes_empty(self) -> bool {
        matches!(self, Kind::List | Kind::PathOrNone)
    }
}

/// A variable.
pub struct Row {
    /// The name.
    pub name: &'static str,
    /// The kind of value.
    pub kind: Kind,
    /// The description, in Markdown.
    meaning: &'static str,
    /// Parses a value into the options; the error says what would be valid.
    take: fn(&mut Options, &OsStr) -> Result<(), String>,
    /// The current value as text; `None` if there is none.
    shown: fn(&Options) -> Option<String>,
}

impl Row {
    /// The description, in Markdown.
    pub fn meaning(&self) -> &'static str {
        self.meaning.trim()
    }

    /// The description without link markup.
    pub fn plain_meaning(&self) -> String {
        let mut text = String::new();
        let mut rest = self.meaning();
        while let Some((before, after)) = rest.split_once('[') {
            let (name, after) = after.split_once("](").unwrap_or((after, ")"));
            text.extend([before, name]);
            rest = after.split_once(')').map_or("", |(_, rest)| rest);
        }
        text + rest
    }

    /// The current value as text; `None` if there is none.
    pub fn shown(&self, options: &Options) -> Option<String> {
        (self.shown)(options)
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Row").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// The table. A row holds a field with its documentation, type and default, the variable with its kind and
/// parser, and optionally how to show the current value.
macro_rules! options {
    ($(
        $(#[doc = $doc:literal])+
        $field:ident: $type:ty = $default:expr, $name:literal, $kind:ident, $parse:expr $(, $shown:expr)?;
    )+) => {
        /// All options that a user can set.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Options {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        impl Default for Options {
            fn default() -> Options {
                Options { $($field: $default,)+ }
            }
        }

        /// All variables.
        pub const ROWS: &[Row] = &[$(
            Row {
                name: $name,
                kind: Kind::$kind,
                meaning: concat!($($doc),+),
                take: |options, value| {
                    let parse: fn(&OsStr) -> Result<$type, String> = $parse;
                    options.$field = parse(value)?;
                    Ok(())
                },
                shown: options!(@shown $field $($shown)?),
            },
        )+];
    };
    (@shown $field:ident) => { |options| options.$field.shown() };
    (@shown $field:ident $shown:expr) => { $shown };
}

options! {
    /// what is logged to standard error: `off`, `error` (the default), `warn`, `info`, `debug` or `trace`
    log: Level = Level::Error, "ANYWARP_LOG", Setting, |value| choice(value, Level::CHOICES);

    /// the processor to compile for: `native` (the default), `x86-64-v4` (AVX-512) or `x86-64-v3` (AVX2)
    cpu: Processor = Processor::Native, "ANYWARP_CPU", Setting, value::processor;

    /// `compiled` (the default), or `interpreter`: slow and simple, the reference for compiled code
    engine: Engine = Engine::Compiled, "ANYWARP_ENGINE", Setting, |value| choice(value, Engine::CHOICES);

    /// `1`: `rcp`, `sqrt`, `rsqrt`, `sin`, `cos`, `lg2`, `ex2`, `tanh` and `div` with `.approx` or `.full`
    /// and products of matrices return the bits of an H200, more slowly
    /// ([docs/accuracy.md](accuracy.md))
    exact: bool = false, "ANYWARP_EXACT", Setting, switch;

    /// the folder for compiled code, which must be yours and which nobody else may write; its mode becomes
    /// 700; empty or `off` disables the cache
    cache_dir: CacheDir = CacheDir::Usual, "ANYWARP_CACHE_DIR", PathOrNone, value::cache_dir,
        |options| Some(options.cache_folder().map_or("off".into(), |folder| folder.display().to_string()));

    /// the LLVM 22 library to use, or a folder that contains it; no other is tried then
    llvm: Option<PathBuf> = None, "ANYWARP_LLVM", Path, path;

    /// the number of threads that run blocks, which is also the number of multiprocessors; all of the
    /// machine's by default
    workers: u32 = value::processors(), "ANYWARP_WORKERS", Setting, |value| number(value, 1..=MAX_WORKERS);

    /// the number of devices, 1 to 64
    devices: u32 = 1, "ANYWARP_DEVICES", Setting, |value| number(value, 1..=MAX_DEVICES);

    /// their compute capability, `8.6` by default; the shared memory per block follows from it
    compute_capability: (u32, u32) = (8, 6), "ANYWARP_COMPUTE_CAPABILITY", Setting, value::capability;

    /// the memory of each device, such as `8G`; never more than the process's limits (`ulimit -v`, `ulimit
    /// -d`) allow
    memory: Option<u64> = None, "ANYWARP_MEMORY", Setting, value::size,
        |options| Some(options.memory.map_or("the machine's".into(), value::size_text));

    /// the AMD devices of a HIP process, listed first, such as `gfx906,gfx90a:xnack+`; by default one that
    /// runs the AMD code that the program was built with, if it was built without PTX
    hip_arch: Option<String> = None, "ANYWARP_HIP_ARCH", Setting, text;

    /// `amd` (the default): a HIP call that finds an empty context stack pushes the primary context;
    /// `nvidia`: the stack stays empty, as with HIP on NVIDIA
    hip_context: HipContext = HipContext::Amd, "ANYWARP_HIP_CONTEXT", Setting,
        |value| choice(value, HipContext::CHOICES);

    /// `1`: context functions that AMD's runtime does not implement (`hipCtxSynchronize`,
    /// `hipCtxGetApiVersion`, `hipCtxGetFlags`, `hipCtxGetCacheConfig`, `hipCtxSetCacheConfig`,
    /// `hipCtxSetSharedMemConfig`) return hipErrorNotSupported as they do there; otherwise they work
    hip_strict: bool = false, "ANYWARP_HIP_STRICT", Setting, switch;

    /// `1`: one worker runs the blocks in order
    deterministic: bool = false, "ANYWARP_DETERMINISTIC", Setting, switch;

    /// seconds after which a running kernel is terminated
    watchdog: Option<Duration> = None, "ANYWARP_WATCHDOG", Setting, value::seconds;

    /// a folder to which the PTX of every loaded module is written
    keep_ptx: Option<PathBuf> = None, "ANYWARP_KEEP_PTX", Path, path;

    /// a private folder in which each process records the time of its kernels and copies; `anywarp prof`
    /// sets it and reads what is there ([docs/prof.md](prof.md))
    profile: Option<PathBuf> = None, "ANYWARP_PROFILE", Path, path;

    /// `1`: with `ANYWARP_PROFILE`, each launch and copy is recorded by itself too, as `anywarp prof --trace`
    /// needs
    profile_events: bool = false, "ANYWARP_PROFILE_EVENTS", Setting, switch;

    /// `1`: with `ANYWARP_PROFILE`, operations and bytes of kernels are counted, as `anywarp prof --counters`
    /// needs; the launches that are counted take several times as long
    profile_counters: bool = false, "ANYWARP_PROFILE_COUNTERS", Setting, switch;

    /// the folder of the driver library that `anywarp run` uses
    lib: Option<PathBuf> = None, "ANYWARP_LIB", Path, path;

    /// the clang that `anywarp cc` and hiprtc run, as a path or a name in `PATH`; by default the newest in
    /// `PATH`
    clang: Option<PathBuf> = None, "ANYWARP_CLANG", Path, path;

    /// as in the hardware's driver: device numbers or UUIDs (`GPU-…`)
    cuda_visible_devices: Option<String> = None, "CUDA_VISIBLE_DEVICES", List, text;

    /// as in the hardware's driver: with `EAGER`, the code that a program was built with is loaded when the
    /// CUDA runtime gets a context, otherwise (`LAZY`, `DEFAULT`) on first use
    module_loading: ModuleLoading = ModuleLoading::Default, "CUDA_MODULE_LOADING", Setting,
        |value| choice(value, ModuleLoading::CHOICES);

    /// in a process that loads `libamdhip64`: filters the devices first
    rocr_visible_devices: Option<String> = None, "ROCR_VISIBLE_DEVICES", List, text;

    /// in a process that loads `libamdhip64`: selects from the devices that `ROCR_VISIBLE_DEVICES` leaves; if
    /// it is unset or empty, `CUDA_VISIBLE_DEVICES` selects. `GPU_DEVICE_ORDINAL` is for OpenCL and ignored
    hip_visible_devices: Option<String> = None, "HIP_VISIBLE_DEVICES", List, text;

    /// contains `anywarp`, the default of `ANYWARP_CACHE_DIR`; `~/.cache` by default
    xdg_cache_home: Option<PathBuf> = None, "XDG_CACHE_HOME", Path, path;

    /// the folder of rustup's toolchains, which bring LLVM; `~/.rustup` by default
    rustup_home: Option<PathBuf> = None, "RUSTUP_HOME", Path, path;

    /// the home folder, in which these defaults are
    home: Option<PathBuf> = None, "HOME", Path, path;
}

impl Options {
    /// The folder of the cache of compiled code; `None` if it is disabled.
    pub fn cache_folder(&self) -> Option<PathBuf> {
        match &self.cache_dir {
            CacheDir::Nowhere => None,
            CacheDir::At(folder) => Some(folder.clone()),
            CacheDir::Usual => {
                let home = || self.home.as_ref().map(|home| home.join(".cache"));
                Some(self.xdg_cache_home.clone().or_else(home)?.join("anywarp"))
            }
        }
    }

    /// The folder of rustup's toolchains.
    pub fn rustup_folder(&self) -> Option<PathBuf> {
        self.rustup_home.clone().or_else(|| Some(self.home.as_ref()?.join(".rustup")))
    }
}

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The variable is not set.
    Default,
    /// The variable.
    Environment,
    /// The default, because the variable's value is invalid.
    Refused {
        /// The invalid value.
        value: String,
        /// What would be valid.
        wanted: String,
    },
    /// The default, because the program has more rights than its user, who may not set paths.
    Ignored,
}

/// The options as read from an environment.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The options.
    pub options: Options,
    /// The source of each value, in the order of [`ROWS`].
    pub origins: Vec<Origin>,
}

impl Reading {
    /// Reads the environment of this process.
    pub fn of_process() -> Reading {
        Reading::of(|name| std::env::var_os(name), secure())
    }

    /// Reads an environment. `secure`: the program has more rights than its user.
    pub fn of(variable: impl Fn(&str) -> Option<OsString>, secure: bool) -> Reading {
        let mut options = Options::default();
        let origins = ROWS.iter().map(|row| origin(row, variable(row.name), secure, &mut options)).collect();
        Reading { options, origins }
    }

    /// All variables, with the source of each value.
    pub fn rows(&self) -> impl Iterator<Item = (&'static Row, &Origin)> {
        ROWS.iter().zip(&self.origins)
    }

    /// Messages about invalid values.
    pub fn complaints(&self) -> impl Iterator<Item = String> {
        self.rows().filter_map(|(row, origin)| match origin {
            Origin::Refused { value, wanted } => {
                Some(format!("{}={value} is ignored: expected {wanted}", row.name))
            }
            _ => None,
        })
    }
}

/// Parses a variable's value into the options and returns the source of the resulting value.
fn origin(row: &Row, value: Option<OsString>, secure: bool, options: &mut Options) -> Origin {
    let Some(value) = value.filter(|value| row.kind.takes_empty() || !value.is_empty()) else {
        return Origin::Default;
    };
    if secure && row.kind.is_path() {
        return Origin::Ignored;
    }
    match (row.take)(options, &value) {
        Ok(()) => Origin::Environment,
        Err(wanted) => {
            let value = value.to_string_lossy().escape_debug().to_string();
            Origin::Refused { value, wanted }
        }
    }
}

/// The log level of this process, for messages before the options are read.
pub fn level_of_process() -> Level {
    let mut options = Options::default();
    if let Some(row) = ROWS.iter().find(|row| row.name == "ANYWARP_LOG") {
        origin(row, std::env::var_os(row.name), secure(), &mut options);
    }
    options.log
}

/// Whether the process has rights that the user who started it lacks: a setuid or setgid program, or one with
/// file capabilities.
pub fn secure() -> bool {
    static SECURE: OnceLock<bool> = OnceLock::new();
    // SAFETY: reads a word that the kernel passed to the process.
    *SECURE.get_or_init(|| unsafe { libc::getauxval(libc::AT_SECURE) } != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Reading {
        let value = |name: &str| variables.iter().find(|v| v.0 == name).map(|v| OsString::from(v.1));
        Reading::of(value, false)
    }

    #[test]
    fn every_variable_has_one_row() {
        for (number, row) in ROWS.iter().enumerate() {
            assert!(ROWS.iter().take(number).all(|before| before.name != row.name), "{}", row.name);
            assert!(!row.meaning().is_empty() && !row.meaning().contains('\n'), "{}", row.name);
            assert!(!row.plain_meaning().contains(['[', ']']), "{}", row.plain_meaning());
        }
    }

    #[test]
    fn links_are_told_by_their_name() {
        let exact = ROWS.iter().find(|row| row.name == "ANYWARP_EXACT").expect("it is there");
        assert!(exact.meaning().ends_with("more slowly ([docs/accuracy.md](accuracy.md))"));
        assert!(exact.plain_meaning().ends_with("more slowly (docs/accuracy.md)"));
    }

    #[test]
    fn nothing_is_set() {
        let reading = read(&[]);
        assert_eq!(reading.options, Options::default());
        assert!(reading.origins.iter().all(|origin| *origin == Origin::Default));
        assert_eq!(reading.complaints().count(), 0);
        assert_eq!(reading.options.cache_folder(), None);
        // Empty values count as not set unless they have a meaning.
        let empty = Reading::of(|_| Some(OsString::new()), false);
        for (row, origin) in empty.rows() {
            let means = row.name == "ANYWARP_CACHE_DIR" || row.name.ends_with("_VISIBLE_DEVICES");
            assert_eq!(*origin, if means { Origin::Environment } else { Origin::Default }, "{}", row.name);
        }
        assert_eq!(empty.options.cuda_visible_devices.as_deref(), Some(""));
    }

    #[test]
    fn everything_is_set() {
        let options = read(&[
            ("ANYWARP_LOG", "trace"),
            ("ANYWARP_CPU", "native"),
            ("ANYWARP_ENGINE", "interpreter"),
            ("ANYWARP_EXACT", "1"),
            ("ANYWARP_CACHE_DIR", "/c"),
            ("ANYWARP_LLVM", "/l"),
            ("ANYWARP_WORKERS", " 3 "),
            ("ANYWARP_DEVICES", "2"),
            ("ANYWARP_COMPUTE_CAPABILITY", "9.0"),
            ("ANYWARP_MEMORY", "3G"),
            ("ANYWARP_HIP_ARCH", "gfx906"),
            ("ANYWARP_HIP_CONTEXT", "nvidia"),
            ("ANYWARP_HIP_STRICT", "1"),
            ("ANYWARP_DETERMINISTIC", "1"),
            ("ANYWARP_WATCHDOG", "0.5"),
            ("ANYWARP_KEEP_PTX", "/k"),
            ("ANYWARP_PROFILE", "/p"),
            ("ANYWARP_PROFILE_EVENTS", "1"),
            ("ANYWARP_PROFILE_COUNTERS", "1"),
            ("ANYWARP_LIB", "/b"),
            ("ANYWARP_CLANG", "clang++-19"),
            ("CUDA_VISIBLE_DEVICES", "0"),
            ("CUDA_MODULE_LOADING", "EAGER"),
            ("ROCR_VISIBLE_DEVICES", "1"),
            ("HIP_VISIBLE_DEVICES", "2"),
            ("XDG_CACHE_HOME", "/x"),
            ("RUSTUP_HOME", "/r"),
            ("HOME", "/h"),
        ]);
        assert!(options.origins.iter().all(|origin| *origin == Origin::Environment), "{options:?}");
        let at = |path: &str| Some(PathBuf::from(path));
        let list = |text: &str| Some(text.to_string());
        let wanted = Options {
            log: Level::Trace,
            cpu: Processor::Native,
            engine: Engine::Interpreter,
            exact: true,
            cache_dir: CacheDir::At("/c".into()),
            llvm: at("/l"),
            workers: 3,
            devices: 2,
            compute_capability: (9, 0),
            memory: Some(3 << 30),
            hip_arch: list("gfx906"),
            hip_context: HipContext::Nvidia,
            hip_strict: true,
            deterministic: true,
            watchdog: Some(Duration::from_millis(500)),
            keep_ptx: at("/k"),
            profile: at("/p"),
            profile_events: true,
            profile_counters: true,
            lib: at("/b"),
            clang: at("clang++-19"),
            cuda_visible_devices: list("0"),
            module_loading: ModuleLoading::Eager,
            rocr_visible_devices: list("1"),
            hip_visible_devices: list("2"),
            xdg_cache_home: at("/x"),
            rustup_home: at("/r"),
            home: at("/h"),
        };
        assert_eq!(options.options, wanted);
        let shown = |name: &str| ROWS.iter().find(|row| row.name == name).and_then(|row| row.shown(&wanted));
        for (name, text) in [
            ("ANYWARP_LOG", "trace"),
            ("ANYWARP_EXACT", "1"),
            ("ANYWARP_CACHE_DIR", "/c"),
            ("ANYWARP_COMPUTE_CAPABILITY", "9.0"),
            ("ANYWARP_MEMORY", "3G"),
            ("ANYWARP_WATCHDOG", "0.5"),
        ] {
            assert_eq!(shown(name).as_deref(), Some(text), "{name}");
        }
    }

    #[test]
    fn values_that_cannot_be_used_are_told_and_count_as_not_set() {
        for (name, bad, right) in [
            ("ANYWARP_LOG", "loud", "off, error, warn, info, debug or trace"),
            ("ANYWARP_CPU", "pentium", "native"),
            ("ANYWARP_ENGINE", "steam", "compiled or interpreter"),
            ("ANYWARP_EXACT", "yes", "0 or 1"),
            ("ANYWARP_WORKERS", "0", "a number from 1 to 512"),
            ("ANYWARP_WORKERS", "many", "a number from 1 to 512"),
            ("ANYWARP_DEVICES", "65", "a number from 1 to 64"),
            ("ANYWARP_COMPUTE_CAPABILITY", "90", "a capability such as 8.6"),
            ("ANYWARP_MEMORY", "12", "a size such as 8G"),
            ("ANYWARP_HIP_CONTEXT", "intel", "amd or nvidia"),
            ("ANYWARP_DETERMINISTIC", "yes", "0 or 1"),
            ("ANYWARP_WATCHDOG", "-1", "a number of seconds"),
        ] {
            let reading = read(&[(name, bad)]);
            assert_eq!(reading.options, Options::default(), "{name}={bad}");
            let told: Vec<String> = reading.complaints().collect();
            let start = format!("{name}={bad} is ignored: expected {right}");
            assert!(told.len() == 1 && told.iter().all(|line| line.starts_with(&start)), "{told:?}");
        }
        // Control characters must not reach the terminal.
        assert!(read(&[("ANYWARP_EXACT", "\x1b[2J\n")]).complaints().all(|c| !c.contains(['\x1b', '\n'])));
    }

    #[test]
    fn the_cache_is_in_the_first_folder_that_is_named() {
        let folder = |variables: &[(&str, &str)]| read(variables).options.cache_folder();
        let (home, cache) = (("HOME", "/h"), ("XDG_CACHE_HOME", "/x"));
        assert_eq!(folder(&[home]), Some("/h/.cache/anywarp".into()));
        assert_eq!(folder(&[home, cache]), Some("/x/anywarp".into()));
        assert_eq!(folder(&[home, cache, ("ANYWARP_CACHE_DIR", "/c")]), Some("/c".into()));
        for off in ["", "off"] {
            assert_eq!(folder(&[home, cache, ("ANYWARP_CACHE_DIR", off)]), None);
        }
        assert_eq!(read(&[home]).options.rustup_folder(), Some("/h/.rustup".into()));
        assert_eq!(read(&[home, ("RUSTUP_HOME", "/r")]).options.rustup_folder(), Some("/r".into()));
    }

    #[test]
    fn a_program_with_more_rights_than_its_caller_obeys_no_path() {
        let paths = [
            "ANYWARP_CACHE_DIR",
            "ANYWARP_CLANG",
            "ANYWARP_KEEP_PTX",
            "ANYWARP_PROFILE",
            "ANYWARP_LIB",
            "ANYWARP_LLVM",
            "HOME",
            "RUSTUP_HOME",
            "XDG_CACHE_HOME",
        ];
        // A valid value for each variable.
        let value = |name: &str| {
            Some(OsString::from(match name {
                "ANYWARP_LOG" => "warn",
                "ANYWARP_CPU" => "native",
                "ANYWARP_ENGINE" => "interpreter",
                "ANYWARP_COMPUTE_CAPABILITY" => "9.0",
                "ANYWARP_MEMORY" => "1G",
                "ANYWARP_HIP_CONTEXT" => "nvidia",
                "CUDA_MODULE_LOADING" => "LAZY",
                _ => "1",
            }))
        };
        let (trusted, reading) = (Reading::of(value, false), Reading::of(value, true));
        for (row, origin) in trusted.rows() {
            assert_eq!(*origin, Origin::Environment, "{}", row.name);
        }
        for (row, origin) in reading.rows() {
            let wanted = if paths.contains(&row.name) { Origin::Ignored } else { Origin::Environment };
            assert_eq!(*origin, wanted, "{}", row.name);
        }
        assert_eq!(reading.options.cache_folder(), None);
        let Options { llvm, clang, keep_ptx, profile, lib, xdg_cache_home, rustup_home, home, .. } =
            reading.options;
        let paths = [llvm, clang, keep_ptx, profile, lib, xdg_cache_home, rustup_home, home];
        assert!(paths.iter().all(Option::is_none));
        assert!(!secure(), "tests are not run as setuid programs");
    }
}
