//! The functions of LLVM's C interface that are used, under their names in `llvm-c`.

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

type Ptr = *mut c_void;
type Str = *const c_char;

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
            pub fn open(path: &Path) -> Result<Functions, libloading::Error> {
                // SAFETY: loading LLVM runs its static initialisers, which affect nothing outside it; its
                // symbols stay local.
                let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }?;
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
