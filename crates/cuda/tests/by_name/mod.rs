//! The library's functions, called by name with arguments as machine words.

use std::process::{Command, Output};

/// The status codes that rows expect.
pub mod status {
    pub const OK: u32 = 0;
    pub const INVALID_VALUE: u32 = 1;
    pub const OUT_OF_MEMORY: u32 = 2;
    pub const NOT_INITIALIZED: u32 = 3;
    pub const INVALID_DEVICE: u32 = 101;
    pub const INVALID_CONTEXT: u32 = 201;
    pub const INVALID_HANDLE: u32 = 400;
    pub const NOT_FOUND: u32 = 500;
    pub const NOT_SUPPORTED: u32 = 801;
}

/// A call: the function, its arguments and the status.
pub type Row<'a> = (&'a str, &'a [u64], u32);

/// No function of the interface has more arguments.
const MOST: usize = 12;

/// The library.
#[derive(Clone, Copy)]
pub struct Library(&'static libloading::Library);

impl Library {
    /// Opens the library without initialising it.
    pub fn open() -> Self {
        // SAFETY: the library's initialisers do nothing.
        let library = unsafe { libloading::Library::new(crate::library::built()) }.expect("the library");
        Library(Box::leak(Box::new(library)))
    }

    /// Opens the library, initialises it and makes the primary context of device 0 current.
    pub fn start() -> Self {
        let library = Library::open();
        library.ok("cuInit", &[0]);
        library.primary();
        library
    }

    /// Makes the primary context of device 0 current; returns it.
    pub fn primary(self) -> u64 {
        let context = self.made("cuDevicePrimaryCtxRetain", &[0]);
        self.ok("cuCtxSetCurrent", &[context]);
        context
    }

    /// Calls a function. Pointers among the arguments must be what the function requires, or null.
    pub fn call(self, name: &str, arguments: &[u64]) -> u32 {
        type All = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u32;
        let mut a = [0; MOST];
        a[..arguments.len()].copy_from_slice(arguments);
        let [a, b, c, d, e, f, g, h, i, j, k, l] = a;
        // SAFETY: integers and pointers are passed alike, in registers and then on the stack, and a function
        // ignores what it does not take.
        unsafe {
            let function = self.0.get::<All>(name.as_bytes()).unwrap_or_else(|_| panic!("no {name}"));
            function(a, b, c, d, e, f, g, h, i, j, k, l)
        }
    }

    /// Calls a function, which must succeed.
    pub fn ok(self, name: &str, arguments: &[u64]) {
        assert_eq!(self.call(name, arguments), status::OK, "{name}{arguments:x?}");
    }

    /// Calls a function, which must succeed and writes a handle or an address to its first argument.
    pub fn made(self, name: &str, arguments: &[u64]) -> u64 {
        let mut made = 0u64;
        self.ok(name, &[&[at(&mut made)], arguments].concat());
        made
    }

    /// Makes the calls of rows, in order.
    pub fn rows(self, rows: &[Row<'_>]) {
        for (name, arguments, status) in rows {
            assert_eq!(self.call(name, arguments), *status, "{name}{arguments:x?}");
        }
    }

    /// Reads device memory.
    pub fn read<T: Copy + Default, const N: usize>(self, address: u64) -> [T; N] {
        let mut values = [T::default(); N];
        self.ok("cuMemcpyDtoH_v2", &[at(&mut values), address, size_of::<[T; N]>() as u64]);
        values
    }

    /// Writes device memory.
    pub fn write<T: Copy>(self, address: u64, values: &[T]) {
        self.ok("cuMemcpyHtoD_v2", &[address, values.as_ptr() as u64, size_of_val(values) as u64]);
    }
}

/// The address of a variable, as an argument.
pub fn at<T>(variable: &mut T) -> u64 {
    std::ptr::from_mut(variable) as u64
}

const CHILD: &str = "ANYWARP_TEST_CHILD";

/// Runs `body` in a process of its own with these variables set; returns its output.
pub fn isolated(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Output {
    if std::env::var(CHILD).as_deref() == Ok(test) {
        body();
        std::process::exit(0);
    }
    let output = Command::new(std::env::current_exe().expect("the test's own path"))
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, test)
        .env("ANYWARP_CACHE_DIR", "off")
        .envs(variables.iter().copied())
        .output()
        .expect("the test's own process");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (status, told) = (output.status, (text(&output.stdout), text(&output.stderr)));
    assert!(status.success(), "{test}: {status}\n{}\n{}", told.0, told.1);
    output
}
