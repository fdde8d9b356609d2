//! Initialisation, versions, errors and entry points.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Once, OnceLock};

use driver::error::ERRORS;
use driver::{Error, log};

use crate::abi::{In, Out, Text};
use crate::api;
use crate::exports::address;

/// The CUDA version of this interface.
pub const VERSION: i32 = driver::VERSION;

/// `CU_GET_PROC_ADDRESS_LEGACY_STREAM`: functions whose null stream is the legacy one.
const LEGACY_STREAM: u64 = 1;
/// `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`: those whose null stream is the thread's own.
const PER_THREAD_STREAM: u64 = 2;

/// Results of `cuGetProcAddress` by name, flags and version, as recorded on the hardware.
static PROC_ADDRESSES: &str = include_str!("../../data/procaddr.tsv");

/// The result from a version on: the symbol, or `None` and the query's status.
struct Row {
    version: i32,
    result: u32,
    symbol: Option<&'static str>,
}

type Rows = HashMap<(&'static str, u32), Vec<Row>>;

fn rows() -> &'static Rows {
    static ROWS: OnceLock<Rows> = OnceLock::new();
    ROWS.get_or_init(|| {
        let mut rows = Rows::new();
        for line in PROC_ADDRESSES.lines().filter(|l| !l.starts_with('#')) {
            let f: Vec<&'static str> = line.split('\t').collect();
            let &[name, flags, version, _, result, symbols] = f.as_slice() else { continue };
            let (Ok(flags), Ok(version), Ok(result)) = (flags.parse(), version.parse(), result.parse())
            else {
                continue;
            };
            let symbol = symbols.split(',').next().filter(|s| *s != "-");
            rows.entry((name, flags)).or_default().push(Row { version, result, symbol });
        }
        rows
    })
}

/// What came after that driver, which the library exports as well: name, first version, symbol.
static LATER: &str = include_str!("../../data/later.tsv");

/// The address of a function of a later release than the recorded driver's, for a program that asks for it at
/// such a release.
fn later(name: &[u8], version: i32, flags: u64) -> Option<*mut std::ffi::c_void> {
    if version <= VERSION || flags > LEGACY_STREAM | PER_THREAD_STREAM {
        return None;
    }
    let rows = LATER.lines().filter(|line| !line.starts_with('#'));
    let mut fields = rows.map(|line| line.split('\t').collect::<Vec<_>>());
    let symbol = fields.find_map(|row| match row.as_slice() {
        &[known, first, symbol] if known.as_bytes() == name => {
            first.parse().is_ok_and(|first: i32| first <= version).then_some(symbol)
        }
        _ => None,
    })?;
    let per_thread = if flags & PER_THREAD_STREAM == 0 { None } else { address(&format!("{symbol}_ptsz")) };
    per_thread.or_else(|| address(symbol))
}

/// The address that `cuGetProcAddress` finds, or the reason there is none (1: no such function, 2: not in
/// that version).
fn find(name: &str, version: i32, flags: u64) -> Result<*mut std::ffi::c_void, u32> {
    // With both flags set, the per-thread default stream takes precedence.
    let flags =
        (if flags & PER_THREAD_STREAM != 0 { PER_THREAD_STREAM } else { flags & LEGACY_STREAM }) as u32;
    let version = if version < 0 { VERSION } else { version };
    let rows = rows().get(&(name, flags)).ok_or(1u32)?;
    let row = rows.iter().rev().find(|r| r.version <= version).ok_or(2u32)?;
    match row.symbol {
        Some("hidden") | None if row.result == 0 => address(name).ok_or(1),
        None => Err(row.result),
        Some(symbol) => address(symbol).ok_or(1),
    }
}

/// Private tables that NVIDIA's runtime, in versions 12 and 13, does not work without. Through the second one
/// the driver would have to authenticate itself as NVIDIA's, which is not imitated.
const OF_THE_RUNTIME: [[u8; 16]; 2] = [
    0x6bd5_fb6c_5bf4_e74a_8987_d939_12fd_9df9_u128.to_be_bytes(),
    0xd408_2055_bde6_704b_8d34_ba12_3c66_e1f2_u128.to_be_bytes(),
];

/// Warns once that a program asks for a table of the runtime, so that its failure can be explained. Others do
/// without the tables that they ask for, such as NVRTC.
fn tell_private_table(id: &[u8; 16]) {
    static TOLD: Once = Once::new();
    if !OF_THE_RUNTIME.contains(id) {
        return;
    }
    TOLD.call_once(|| {
        log::say(log::Level::Error, || {
            "the program asks for private tables of NVIDIA's driver, as NVIDIA's closed CUDA runtime does (libcudart, \
             which nvcc links statically by default); that runtime cannot run on Anywarp, and its calls will fail; \
             link with -cudart shared, or keep the program's symbol table and start it with `anywarp run`"
                .into()
        });
    });
}

/// The table of HIP functions for the HIP library that asks for it under this id.
fn hip_table(id: &[u8; 16]) -> Option<&'static hip::table::Table> {
    let (name, soname) = id.split_at(hip::table::NAME.len());
    if name != hip::table::NAME {
        return None;
    }
    hip::table(*soname.first()?, crate::backend::backend)
}

/// The table of the CUDA runtime's functions for the runtime library that asks for it under this id.
fn cudart_table(id: &[u8; 16]) -> Option<&'static cudart::table::Table> {
    let (name, version) = id.split_at(cudart::table::NAME.len());
    if name == cudart::table::NAME { cudart::table(*version.first()?) } else { None }
}

fn texts() -> &'static HashMap<u32, (CString, CString)> {
    static TEXTS: OnceLock<HashMap<u32, (CString, CString)>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let c = |s: String| CString::new(s).unwrap_or_default();
        let mut texts: HashMap<u32, (CString, CString)> = ERRORS
            .iter()
            .map(|(error, name, text)| {
                (error.code(), (c(format!("CUDA_ERROR_{name}")), c((*text).to_string())))
            })
            .collect();
        texts.insert(0, (c("CUDA_SUCCESS".into()), c("no error".into())));
        texts
    })
}

api! {
    Process Legal fn cuInit(flags: u32) {
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        driver::initialize(crate::backend::backend)
    }

    Process Legal fn cuDriverGetVersion(version: Out<i32>) {
        version.required()?.set(VERSION);
        Ok(())
    }

    Nothing Legal fn cuGetErrorName(error: u32, name: Out<u64>) {
        let text = texts().get(&error);
        name.required()?.set(text.map_or(0, |t| t.0.as_ptr() as u64));
        text.map(|_| ()).ok_or(Error::InvalidValue)
    }

    Nothing Legal fn cuGetErrorString(error: u32, string: Out<u64>) {
        let text = texts().get(&error);
        string.required()?.set(text.map_or(0, |t| t.1.as_ptr() as u64));
        text.map(|_| ()).ok_or(Error::InvalidValue)
    }

    Nothing Legal fn cuGetProcAddress_v2(
        symbol: Text, function: Out<u64>, version: i32, flags: u64, result: Out<u32>,
    ) {
        let name = symbol.bytes()?;
        function.required()?;
        if let Some(found) = later(name, version, flags) {
            function.set(found as u64);
            result.set(0);
            return Ok(());
        }
        if version > VERSION || flags > LEGACY_STREAM | PER_THREAD_STREAM {
            return Err(Error::InvalidValue);
        }
        let found = std::str::from_utf8(name).map_err(|_| 1).and_then(|n| find(n, version, flags));
        function.set(found.map_or(0, |f| f as u64));
        result.set(found.err().unwrap_or(0));
        Ok(())
    }

    Nothing Legal fn cuGetProcAddress(symbol: Text, function: Out<u64>, version: i32, flags: u64) {
        let name = symbol.bytes()?;
        function.required()?;
        if let Some(found) = later(name, version, flags) {
            function.set(found as u64);
            return Ok(());
        }
        if version > VERSION || flags > LEGACY_STREAM | PER_THREAD_STREAM {
            return Err(Error::InvalidValue);
        }
        let found = std::str::from_utf8(name).map_err(|_| 1).and_then(|n| find(n, version, flags));
        function.set(found.map_err(|_| Error::NotFound)? as u64);
        Ok(())
    }

    /// The only export tables are those that make this library serve HIP and the CUDA runtime.
    Nothing Legal fn cuGetExportTable(table: Out<u64>, id: In<[u8; 16]>) {
        table.required()?.set(0);
        let id = id.get()?;
        if let Some(found) = hip_table(&id) {
            table.set(std::ptr::from_ref(found) as u64);
            return Ok(());
        }
        if let Some(found) = cudart_table(&id) {
            table.set(std::ptr::from_ref(found) as u64);
            return Ok(());
        }
        tell_private_table(&id);
        Err(Error::InvalidValue)
    }

    /// Refused since CUDA 12.0, as the manual says.
    Process Legal fn cuProfilerInitialize(_settings: Text, _output: Text, _mode: u32) {
        Err(Error::NotSupported)
    }

    Context Legal fn cuProfilerStart() {
        Ok(())
    }

    Context Legal fn cuProfilerStop() {
        Ok(())
    }
}
