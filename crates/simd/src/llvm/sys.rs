//! The functions of LLVM's C interface that are used, under their names in `llvm-c`.

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

type Ptr = *mut c_void;
type Str = *const c_char;

/// The version whose functions, and whose text form of modules, are used.
const MAJOR: u32 = 22;

/// Why a library cannot be used.
#[derive(Debug)]
pub enum Unusable {
    /// It cannot be opened, or lacks a function.
    Library(libloading::Error),
    /// It is another version. Those take other modules, and end the process on modules that they do not take.
    Version(u32),
}

impl From<libloading::Error> for Unusable {
    fn from(error: libloading::Error) -> Unusable {
        Unusable::Library(error)
    }
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unusable::Library(error) => error.fmt(f),
            Unusable::Version(major) => write!(f, "it is LLVM {major}, not LLVM {MAJOR}"),
        }
    }
}

/// Fails if a library is another version of LLVM.
fn check_version(library: &Library) -> Result<(), Unusable> {
    // SAFETY: the signature has not changed since LLVM 16, the first version with this function.
    let version: libloading::os::unix::Symbol<unsafe extern "C" fn(*mut u32, *mut u32, *mut u32)> =
        unsafe { library.get(b"LLVMGetVersion\0") }?;
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: the pointers are to variables; the function may be called at any time.
    unsafe { version(&raw mut major, &raw mut minor, &raw mut patch) };
    if major == MAJOR { Ok(()) } else { Err(Unusable::Version(major)) }
}

macro_rules! functions {
    ($($name:ident: fn($($ty:ty),*) $(-> $ret:ty)?;)*) => {
        /// Pointers to functions of the opened library.
        #[allow(non_snake_case)]
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($ty),*) $(-> $ret)?,)*
            /// Keeps the library open; LLVM must not be unloaded once its targets are registered.
            _library: std::mem::ManuallyDrop<Library>,
        }

        impl Functions {
            /// Opens a library and finds every function in it.
            pub fn open(path: &Path) -> Result<Functions, Unusable> {
                // SAFETY: loading LLVM runs its static initialisers, which affect nothing outside it; its
                // symbols stay local.
                let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }?;
                check_version(&library)?;
                Ok(Functions {
                    // SAFETY: the signatures are those of LLVM 22's headers.
                    $($name: unsafe { *library.get(concat!(stringify!($name), "\0").as_bytes())? },)*
                    _library: std::mem::ManuallyDrop::new(library),
                })
            }
        }
    };
}

functions! {
    LLVMInitializeX86TargetInfo: fn();
    LLVMInitializeX86Target: fn();
    LLVMInitializeX86TargetMC: fn();
    LLVMInitializeX86AsmPrinter: fn();
    LLVMInitializeX86AsmParser: fn();
    LLVMParseCommandLineOptions: fn(c_int, *const Str, Str);
    LLVMContextCreate: fn() -> Ptr;
    LLVMContextDispose: fn(Ptr);
    LLVMCreateMemoryBufferWithMemoryRangeCopy: fn(Str, usize, Str) -> Ptr;
    LLVMDisposeMemoryBuffer: fn(Ptr);
    LLVMGetBufferStart: fn(Ptr) -> Str;
    LLVMGetBufferSize: fn(Ptr) -> usize;
    LLVMParseIRInContext: fn(Ptr, Ptr, *mut Ptr, *mut *mut c_char) -> c_int;
    LLVMDisposeModule: fn(Ptr);
    LLVMDisposeMessage: fn(*mut c_char);
    LLVMGetTargetFromTriple: fn(Str, *mut Ptr, *mut *mut c_char) -> c_int;
    LLVMCreateTargetMachine: fn(Ptr, Str, Str, Str, c_int, c_int, c_int) -> Ptr;
    LLVMDisposeTargetMachine: fn(Ptr);
    LLVMCreatePassBuilderOptions: fn() -> Ptr;
    LLVMDisposePassBuilderOptions: fn(Ptr);
    LLVMRunPasses: fn(Ptr, Str, Ptr, Ptr) -> Ptr;
    LLVMGetErrorMessage: fn(Ptr) -> *mut c_char;
    LLVMDisposeErrorMessage: fn(*mut c_char);
    LLVMTargetMachineEmitToMemoryBuffer: fn(Ptr, Ptr, c_int, *mut *mut c_char, *mut Ptr) -> c_int;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a library whose `LLVMGetVersion` says `major`; without it, if `None`.
    fn told(major: Option<u32>) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let (source, library) = (folder.path().join("a.c"), folder.path().join("liba.so"));
        let text = major.map(|major| {
            format!(
                "void LLVMGetVersion(unsigned *a, unsigned *b, unsigned *c) {{ *a = {major}; *b = *c = 1; }}"
            )
        });
        std::fs::write(&source, text.unwrap_or_default()).expect("a file");
        let mut command = std::process::Command::new("cc");
        let done = command.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
        assert!(done.expect("a C compiler").success());
        match Functions::open(&library) {
            Ok(_) => panic!("it lacks nearly all functions"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn another_version_is_refused_by_name() {
        assert_eq!(told(Some(19)), "it is LLVM 19, not LLVM 22");
        assert_eq!(told(Some(23)), "it is LLVM 23, not LLVM 22");
        assert!(told(Some(22)).contains("LLVMInitializeX86TargetInfo"));
        assert!(told(None).contains("LLVMGetVersion"));
    }
}
