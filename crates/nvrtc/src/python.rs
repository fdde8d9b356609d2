//! NVIDIA's CUDA runtime in Python (cuda-bindings, which cuda-core is built on).
//!
//! `cuda.bindings.cyruntime` calls functions of an inner module, which has NVIDIA's static runtime in it,
//! without a symbol table. Cython modules hand their functions to one another as capsules, by name. Before
//! `cyruntime` takes them, the capsules get the functions of our `libcudart`; what the inner module has is
//! not called.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::lookup::real;

/// The function with which Python initialises the module that calls the runtime.
pub const INITIALISES: &[u8] = b"PyInit_cyruntime";
/// Where the module lies. The inner module of older releases has the same function.
const OUTER: &str = "cuda/bindings/cyruntime.";
/// The inner module, of cuda-bindings 13.4 and later, and of 12 to 13.3.
const INNER: [&CStr; 2] = [c"cuda.bindings._internal.runtime", c"cuda.bindings._bindings.cyruntime"];
/// The variable with which a program asks for default streams of its threads.
const PER_THREAD: &CStr = c"CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM";
/// How the runtime's functions for such streams end.
const PER_THREAD_ENDS: [&str; 2] = ["_ptsz", "_ptds"];
/// Our library for each version of cuda-bindings, with the functions that the version's header gives the name
/// of another.
const RUNTIMES: [(&str, &str, &[&str]); 2] = [
    (
        "12.",
        "libcudart.so.12",
        &[
            "cudaGetDeviceProperties",
            "cudaSignalExternalSemaphoresAsync",
            "cudaStreamGetCaptureInfo",
            "cudaWaitExternalSemaphoresAsync",
        ],
    ),
    ("13.", "libcudart.so.13", &[]),
];
/// `cudaErrorCallRequiresNewerDriver`.
const NEWER: c_int = 36;

type Object = *mut c_void;
type Initialise = unsafe extern "C" fn() -> Object;

/// The module's own function.
static INITIALISE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// The function of ours for the module that a handle finds; null if it is another module.
pub fn replacement(handle: *mut c_void, name: &CStr) -> *const c_void {
    let own = real(handle, name);
    if own.is_null() || !path_of(own).is_some_and(|path| path.contains(OUTER)) {
        return ptr::null();
    }
    INITIALISE.store(own, Ordering::Release);
    initialise as Initialise as *const c_void
}

/// The path of the library in which an address lies.
fn path_of(address: *const c_void) -> Option<String> {
    // SAFETY: the structure is plain data.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is this function's.
    if unsafe { libc::dladdr(address, &raw mut info) } == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's names end in zero.
    Some(unsafe { CStr::from_ptr(info.dli_fname) }.to_str().ok()?.to_string())
}

/// What Python calls in place of the module's own function.
unsafe extern "C" fn initialise() -> Object {
    if let Some(python) = Python::find() {
        replace(&python);
    }
    // SAFETY: `replacement` stored a function of this type.
    let own: Initialise = unsafe { std::mem::transmute(INITIALISE.load(Ordering::Acquire)) };
    // SAFETY: Python calls this function in its place.
    unsafe { own() }
}

/// What a function of a later runtime than ours returns.
extern "C" fn newer() -> c_int {
    NEWER
}

/// Gives the inner module's capsules our functions.
fn replace(python: &Python) {
    let version =
        python.import(c"cuda.bindings").and_then(|module| python.attribute(&module, c"__version__"));
    let Some(version) = version.and_then(|version| python.text(version.0)) else { return };
    let Some((_, library, renamed)) = RUNTIMES.iter().find(|(begin, ..)| version.starts_with(begin)) else {
        return;
    };
    let Some(library) = open(library) else { return };
    let Some(inner) = INNER.into_iter().find_map(|name| python.import(name)) else { return };
    let Some(functions) = python.attribute(&inner, c"__pyx_capi__") else { return };
    let per_thread = python.is_set(PER_THREAD);
    python.each(&functions, |name, capsule| {
        let Some(name) = name.strip_prefix('_').filter(|name| name.starts_with("cuda")) else { return };
        let second = if renamed.contains(&name) { "_v2" } else { "" };
        let ends = PER_THREAD_ENDS.into_iter().filter(|_| per_thread).chain([""]);
        let found = ends
            .filter_map(|end| CString::new(format!("{name}{second}{end}")).ok())
            .map(|name| real(library, &name).cast_const())
            .find(|function| !function.is_null());
        // SAFETY: the dictionary has capsules, whose names are the types of their functions.
        unsafe {
            let signature = (python.capsule_name)(capsule);
            let gives_status =
                !signature.is_null() && CStr::from_ptr(signature).to_bytes().starts_with(b"cudaError_t ");
            let function =
                found.or(gives_status.then_some(newer as extern "C" fn() -> c_int as *const c_void));
            if let Some(function) = function {
                (python.capsule_set)(capsule, function.cast_mut());
            }
        }
    });
}

/// Opens a library in the folder of this one.
fn open(name: &str) -> Option<*mut c_void> {
    let own = path_of(open as fn(&str) -> Option<*mut c_void> as *const c_void)?;
    let (folder, _) = own.rsplit_once('/')?;
    let path = CString::new(format!("{folder}/{name}")).ok()?;
    // SAFETY: the path ends in zero.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    (!library.is_null()).then_some(library)
}

/// Functions of Python's interpreter. Those that return an object return a new reference.
struct Python {
    import: unsafe extern "C" fn(*const c_char) -> Object,
    attribute: unsafe extern "C" fn(Object, *const c_char) -> Object,
    item: unsafe extern "C" fn(Object, *const c_char) -> Object,
    text: unsafe extern "C" fn(Object) -> *const c_char,
    next: unsafe extern "C" fn(Object, *mut isize, *mut Object, *mut Object) -> c_int,
    capsule_name: unsafe extern "C" fn(Object) -> *const c_char,
    capsule_set: unsafe extern "C" fn(Object, *mut c_void) -> c_int,
    clear: unsafe extern "C" fn(),
    release: unsafe extern "C" fn(Object),
}

/// A function of the program.
///
/// # Safety
/// `F` is the type of the function.
unsafe fn function<F: Copy>(name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    let address = real(libc::RTLD_DEFAULT, name);
    // SAFETY: the caller's promise, and a function pointer is as large as a pointer.
    (!address.is_null()).then(|| unsafe { std::mem::transmute_copy(&address) })
}

/// A reference to an object.
struct Owned<'a>(Object, &'a Python);

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        // SAFETY: the reference is this value's.
        unsafe { (self.1.release)(self.0) }
    }
}

impl Python {
    /// The interpreter that calls. Its functions are those of the stable ABI of Python 3.
    fn find() -> Option<Python> {
        // SAFETY: the functions have these types, by Python's manual.
        unsafe {
            Some(Python {
                import: function(c"PyImport_ImportModule")?,
                attribute: function(c"PyObject_GetAttrString")?,
                item: function(c"PyMapping_GetItemString")?,
                text: function(c"PyUnicode_AsUTF8")?,
                next: function(c"PyDict_Next")?,
                capsule_name: function(c"PyCapsule_GetName")?,
                capsule_set: function(c"PyCapsule_SetPointer")?,
                clear: function(c"PyErr_Clear")?,
                release: function(c"Py_DecRef")?,
            })
        }
    }

    /// A new reference, or nothing after a failure, which is forgotten.
    fn owned(&self, object: Object) -> Option<Owned<'_>> {
        if object.is_null() {
            // SAFETY: Python calls `initialise`, so this thread holds its lock, here and below.
            unsafe { (self.clear)() };
            return None;
        }
        Some(Owned(object, self))
    }

    fn import(&self, name: &CStr) -> Option<Owned<'_>> {
        // SAFETY: as in `owned`.
        self.owned(unsafe { (self.import)(name.as_ptr()) })
    }

    fn attribute(&self, of: &Owned, name: &CStr) -> Option<Owned<'_>> {
        // SAFETY: as in `owned`; the object is alive.
        self.owned(unsafe { (self.attribute)(of.0, name.as_ptr()) })
    }

    /// The text of a living string.
    fn text(&self, object: Object) -> Option<String> {
        // SAFETY: as in `owned`; Python checks the type.
        let text = unsafe { (self.text)(object) };
        if text.is_null() {
            // SAFETY: as in `owned`.
            unsafe { (self.clear)() };
            return None;
        }
        // SAFETY: the text ends in zero and lives as long as the object.
        Some(unsafe { CStr::from_ptr(text) }.to_str().ok()?.to_string())
    }

    /// Whether a variable of Python's environment is a number other than 0.
    fn is_set(&self, variable: &CStr) -> bool {
        let Some(os) = self.import(c"os") else { return false };
        let Some(environment) = self.attribute(&os, c"environ") else { return false };
        // SAFETY: as in `owned`; the object is alive.
        let value = unsafe { (self.item)(environment.0, variable.as_ptr()) };
        let value = self.owned(value).and_then(|value| self.text(value.0));
        value.and_then(|value| value.trim().parse::<i64>().ok()).is_some_and(|number| number != 0)
    }

    /// Calls a function with each pair of a dictionary whose keys are strings.
    fn each(&self, dictionary: &Owned, mut with: impl FnMut(&str, Object)) {
        let (mut at, mut key, mut value) = (0, ptr::null_mut(), ptr::null_mut());
        // SAFETY: as in `owned`; nothing is added to the dictionary, whose pairs stay alive.
        while unsafe { (self.next)(dictionary.0, &raw mut at, &raw mut key, &raw mut value) } != 0 {
            if let Some(name) = self.text(key) {
                with(&name, value);
            }
        }
    }
}
