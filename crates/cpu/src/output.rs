//! The output of kernels.

unsafe extern "C" {
    /// C's standard output.
    static mut stdout: *mut libc::FILE;
}

/// Writes through C's standard output, so that output of kernels and of the program keeps its order.
pub(crate) fn print(text: &[u8]) {
    let written = host::write::limited(|| {
        // SAFETY: the C library's stream exists for the program's whole life; the calls lock it.
        let whole = unsafe {
            let out = stdout;
            libc::fwrite(text.as_ptr().cast(), 1, text.len(), out) == text.len() && libc::fflush(out) == 0
        };
        if whole { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    });
    if let Err(error) = written {
        // A closed standard output is the program's choice; other failures are reported.
        driver::log::tell(&format!("output of a kernel's printf was lost: {error}"));
    }
}

/// Writes to standard output, or to standard error.
pub(crate) fn print_to(text: &[u8], error: bool) {
    if !error {
        return print(text);
    }
    // Failures are ignored: standard error is the program's.
    let _ = host::write::limited(|| std::io::Write::write_all(&mut std::io::stderr(), text));
}
