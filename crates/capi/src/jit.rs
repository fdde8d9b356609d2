//! JIT options: their inputs, and the results written back to them.

use std::cell::Cell;

use driver::backend::LoadOptions;
use driver::device::Device;
use driver::module::Report;
use driver::{Error, Result};

use crate::{In, Out, Text};

/// `CUjit_option`.
#[allow(missing_docs)]
pub mod option {
    pub const MAX_REGISTERS: u32 = 0;
    pub const THREADS_PER_BLOCK: u32 = 1;
    pub const WALL_TIME: u32 = 2;
    pub const INFO_LOG_BUFFER: u32 = 3;
    pub const INFO_LOG_BUFFER_SIZE_BYTES: u32 = 4;
    pub const ERROR_LOG_BUFFER: u32 = 5;
    pub const ERROR_LOG_BUFFER_SIZE_BYTES: u32 = 6;
    pub const OPTIMIZATION_LEVEL: u32 = 7;
    pub const TARGET_FROM_CUCONTEXT: u32 = 8;
    pub const TARGET: u32 = 9;
    pub const FALLBACK_STRATEGY: u32 = 10;
    pub const GENERATE_DEBUG_INFO: u32 = 11;
    pub const LOG_VERBOSE: u32 = 12;
    pub const GENERATE_LINE_INFO: u32 = 13;
    pub const CACHE_MODE: u32 = 14;
    pub const NEW_SM3X_OPT: u32 = 15;
    pub const FAST_COMPILE: u32 = 16;
    pub const GLOBAL_SYMBOL_NAMES: u32 = 17;
    pub const GLOBAL_SYMBOL_ADDRESSES: u32 = 18;
    pub const GLOBAL_SYMBOL_COUNT: u32 = 19;
    pub const LTO: u32 = 20;
    pub const REFERENCED_KERNEL_NAMES: u32 = 25;
    pub const REFERENCED_VARIABLE_NAMES: u32 = 27;
    pub const POSITION_INDEPENDENT_CODE: u32 = 30;
    pub const MIN_CTA_PER_SM: u32 = 31;
    pub const MAX_THREADS_PER_BLOCK: u32 = 32;
    pub const OVERRIDE_DIRECTIVE_VALUES: u32 = 33;
    pub const SPLIT_COMPILE: u32 = 34;
    /// Newer than CUDA 13.0; the programming guide's sample uses it.
    pub const BINARY_LOADER_THREAD_COUNT: u32 = 35;
}

/// `CUjit_target` without the bits for architecture- and family-specific targets.
const TARGETS: &[u32] =
    &[30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 110, 120, 121];
/// Targets for which a linker accepts no PTX (driver 580 on an H100).
const WITHOUT_CODE: [u32; 6] = [30, 32, 35, 37, 53, 62];
/// Bits for architecture- and family-specific targets.
const TARGET_MARKS: [u64; 3] = [0, 0x10000, 0x20000];

/// `CU_JIT_CACHE_CG`, the highest cache mode.
const MAX_CACHE_MODE: u64 = 2;

/// The value of an option that receives a result.
///
/// By the manual, the values of a link's options live as long as the link. cuda-core frees them after
/// `cuLinkCreate`; something else may be there when a later call has a result. So a value is written only
/// while it is what the program or the driver has put there.
#[derive(Clone, Debug)]
struct Slot {
    address: u64,
    known: Cell<u64>,
}

impl Slot {
    fn write(&self, value: u64) {
        let place = place::<u64>(self.address);
        if place.read() == Ok(self.known.get()) && self.known.replace(value) != value {
            place.set(value);
        }
    }
}

/// A log buffer of the program: the buffer, its size, and the option's value, which receives the length.
#[derive(Clone, Debug, Default)]
struct Log {
    buffer: Option<u64>,
    size: Option<(u32, Slot)>,
}

impl Log {
    fn check(&self) -> Result<()> {
        match (self.buffer, &self.size) {
            (None, None) => Ok(()),
            (Some(0), Some((size, _))) if *size > 0 => Err(Error::InvalidValue),
            (Some(_), Some(_)) => Ok(()),
            _ => Err(Error::InvalidValue),
        }
    }

    /// Writes as the hardware's driver does: the text, cut to the buffer, and a NUL. The length is that of
    /// the text without the NUL, or the buffer's size if the text was cut.
    fn write(&self, text: &str) {
        let Some((_, slot)) = &self.size else { return };
        if let Some(length) = self.write_text(text) {
            slot.write(length);
        }
    }

    /// Writes the text without its length, and returns that. `None`: there is no buffer.
    fn write_text(&self, text: &str) -> Option<u64> {
        let buffer = self.buffer.filter(|at| *at != 0)?;
        let (bytes, size) = (text.as_bytes(), self.size.as_ref()?.0 as usize);
        let length = match bytes.len() {
            _ if size <= 1 => 0,
            n if n < size => n,
            _ => size,
        };
        let shown = bytes.get(..length.min(size.saturating_sub(1))).unwrap_or(&[]);
        place(buffer).set_all(shown);
        place::<u8>(buffer.wrapping_add(shown.len() as u64)).set(0);
        Some(length as u64)
    }
}

fn place<T: Copy>(address: u64) -> Out<T> {
    Out::at(address)
}

/// The options of one call or of a link. A link writes its logs at each of its calls.
#[derive(Clone, Debug, Default)]
pub struct Jit {
    /// The compiler options.
    pub options: LoadOptions,
    info: Log,
    error: Log,
    /// The option's value, whose lower half receives the milliseconds.
    wall_time: Option<Slot>,
    target: Option<u64>,
    sm3x: bool,
}

/// Symbols whose addresses the host provides.
#[derive(Default)]
struct Symbols {
    names: Option<u64>,
    addresses: Option<u64>,
    count: Option<u64>,
}

impl Symbols {
    fn list(&self) -> Result<Vec<(String, u64)>> {
        let (names, addresses, count) = match (self.names, self.addresses, self.count) {
            (None, None, None) => return Ok(Vec::new()),
            (Some(names), Some(addresses), Some(count)) => {
                (In::<Text>::at_address(names), addresses, count as u32)
            }
            _ => return Err(Error::InvalidValue),
        };
        let addresses = In::<u64>::at_address(addresses);
        names
            .each(count as usize)
            .zip(addresses.each(count as usize))
            .map(|(name, address)| Ok((String::from_utf8_lossy(name?.name()?).into_owned(), address?)))
            .collect()
    }
}

/// `hipJitOption`s (HIP 7.2, `hip/linker_types.h`) that are numbered differently from `CUjit_option`, with
/// their `CUjit_option`; `None`: an option of AMD's compiler, which has no effect. HIP leaves out the options
/// of link-time optimisation, after number 24.
#[rustfmt::skip]
const HIP_OPTIONS: &[(u32, Option<u32>)] = &[
    (/* hipJitOptionPositionIndependentCode */ 25, Some(option::POSITION_INDEPENDENT_CODE)),
    (/* hipJitOptionMinCTAPerSM */ 26, Some(option::MIN_CTA_PER_SM)),
    (/* hipJitOptionMaxThreadsPerBlock */ 27, Some(option::MAX_THREADS_PER_BLOCK)),
    (/* hipJitOptionOverrideDirectiveValues */ 28, Some(option::OVERRIDE_DIRECTIVE_VALUES)),
    (/* hipJitOptionIRtoISAOptExt */ 10_000, None),
    (/* hipJitOptionIRtoISAOptCountExt */ 10_001, None),
];

/// The `CUjit_option` for a number of `hipJitOption`.
fn of_hip(number: u32) -> Option<u32> {
    HIP_OPTIONS.iter().find(|(hip, _)| *hip == number).map_or(Some(number), |(_, cuda)| *cuda)
}

impl Jit {
    /// Reads `count` CUDA options and their values.
    pub fn read(count: u32, options: In<u32>, values: Out<u64>) -> Result<Jit> {
        Jit::read_by(Some, count, options, values)
    }

    /// Reads `count` HIP options and their values.
    pub fn read_hip(count: u32, options: In<u32>, values: Out<u64>) -> Result<Jit> {
        Jit::read_by(of_hip, count, options, values)
    }

    fn read_by(
        meaning: impl Fn(u32) -> Option<u32>,
        count: u32,
        options: In<u32>,
        values: Out<u64>,
    ) -> Result<Jit> {
        let mut jit = Jit::default();
        let mut symbols = Symbols::default();
        if count > 0 && (options.is_null() || values.is_null()) {
            return Err(Error::InvalidValue);
        }
        for i in 0..count as usize {
            let slot = values.after(i);
            if let Some(option) = meaning(options.at(i)?) {
                let value = slot.read()?;
                let slot = Slot { address: slot.address(), known: Cell::new(value) };
                jit.take(option, value, slot, &mut symbols)?;
            }
        }
        jit.options.symbols = symbols.list()?;
        jit.info.check()?;
        jit.error.check()?;
        Ok(jit)
    }

    fn take(&mut self, option: u32, value: u64, slot: Slot, symbols: &mut Symbols) -> Result<()> {
        let number = value as u32;
        match option {
            // The hardware's driver fails with a division by zero here.
            option::MAX_REGISTERS | option::THREADS_PER_BLOCK if number == 0 => {
                return Err(Error::InvalidValue);
            }
            option::MAX_REGISTERS => self.options.max_registers = number,
            // Input: the minimum block size to plan for. Output: the block size planned for.
            option::THREADS_PER_BLOCK => {}
            option::WALL_TIME => self.wall_time = Some(slot),
            option::INFO_LOG_BUFFER => self.info.buffer = Some(value),
            option::INFO_LOG_BUFFER_SIZE_BYTES => self.info.size = Some((number, slot)),
            option::ERROR_LOG_BUFFER => self.error.buffer = Some(value),
            option::ERROR_LOG_BUFFER_SIZE_BYTES => self.error.size = Some((number, slot)),
            option::OPTIMIZATION_LEVEL => self.options.optimization_level = number.min(4),
            option::TARGET_FROM_CUCONTEXT | option::FALLBACK_STRATEGY | option::FAST_COMPILE => {}
            option::TARGET => self.target = Some(value & 0xffff_ffff),
            option::GENERATE_DEBUG_INFO => self.options.debug = number != 0,
            option::LOG_VERBOSE => self.options.verbose = number != 0,
            option::GENERATE_LINE_INFO => self.options.line_info = number != 0,
            option::CACHE_MODE if value > MAX_CACHE_MODE => return Err(Error::InvalidValue),
            option::CACHE_MODE => {}
            option::NEW_SM3X_OPT => self.sm3x = true,
            option::GLOBAL_SYMBOL_NAMES => symbols.names = Some(value),
            option::GLOBAL_SYMBOL_ADDRESSES => symbols.addresses = Some(value),
            option::GLOBAL_SYMBOL_COUNT => symbols.count = Some(value),
            option::REFERENCED_KERNEL_NAMES | option::REFERENCED_VARIABLE_NAMES if value == 0 => {
                return Err(Error::InvalidValue);
            }
            // For link-time optimisation, which does not apply to PTX.
            option::LTO..option::POSITION_INDEPENDENT_CODE => {}
            option::POSITION_INDEPENDENT_CODE | option::MIN_CTA_PER_SM => {}
            option::MAX_THREADS_PER_BLOCK => self.options.max_threads = number,
            option::OVERRIDE_DIRECTIVE_VALUES | option::SPLIT_COMPILE => {}
            option::BINARY_LOADER_THREAD_COUNT => {}
            _ => return Err(Error::InvalidValue),
        }
        Ok(())
    }

    /// The requested compute capability, if any. An error if there is none with this number.
    pub fn asked_target(&self) -> Result<Option<u32>> {
        if self.sm3x {
            return Err(Error::InvalidPtx);
        }
        let Some(target) = self.target else { return Ok(None) };
        if target == 0 {
            return Err(Error::InvalidImage);
        }
        let known = TARGETS.iter().find(|t| u64::from(**t) == target & 0xffff);
        match known.filter(|_| TARGET_MARKS.contains(&(target & !0xffff))) {
            Some(&number) => Ok(Some(number)),
            None => Err(Error::InvalidValue),
        }
    }

    /// Checks that the device has the requested capability. Call it before compiling.
    pub fn check_target(&self, device: &Device) -> Result<()> {
        let (major, minor) = device.info.compute_capability;
        match self.asked_target()? {
            Some(number) if number != major * 10 + minor => Err(Error::InvalidSource),
            _ => Ok(()),
        }
    }

    /// Whether a linker can produce code from PTX for the requested capability.
    pub fn has_code(&self) -> bool {
        !matches!(self.asked_target(), Ok(Some(number)) if WITHOUT_CODE.contains(&number))
    }

    /// Writes the results of a call.
    pub fn finish(&self, report: &Report) {
        self.info.write(&report.info);
        // As recorded, the last line has no end.
        self.error.write(report.errors.trim_end_matches('\n'));
        if let Some(slot) = &self.wall_time {
            let upper = slot.known.get() & !u64::from(u32::MAX);
            slot.write(upper | u64::from(report.wall_time.to_bits()));
        }
    }

    /// Empties the logs of a link that begins. The lengths are left as they are until there is a call with a
    /// result, so that the program's values are still recognised.
    pub fn begin(&self) {
        self.info.write_text("");
        self.error.write_text("");
    }
}

/// `CUlibraryOption`, `hipLibraryOption`: host universal function table, and binary is preserved.
const MAX_LIBRARY_OPTION: u32 = 1;

/// Checks the options of a library. They have no effect.
pub fn check_library_options(count: u32, options: In<u32>, values: Out<u64>) -> Result<()> {
    if count > 0 && values.is_null() {
        return Err(Error::InvalidValue);
    }
    options.each(count as usize).try_for_each(|option| match option? {
        0..=MAX_LIBRARY_OPTION => Ok(()),
        _ => Err(Error::InvalidValue),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hardware's driver's results for buffers of these sizes (tests/probe, group jit: shortlog).
    #[test]
    fn logs_are_cut() {
        let text = "ptxas application ptx input, line 5";
        for (size, length, first) in [(100, text.len(), b'p'), (16, 16, b'p'), (1, 0, 0), (0, 0, 0)] {
            let (mut buffer, mut slot) = ([b'x'; 100], 7u64);
            let at = &raw mut slot as u64;
            let log = Log {
                buffer: Some(&raw mut buffer as u64),
                size: Some((size, Slot { address: at, known: Cell::new(7) })),
            };
            log.write(text);
            assert_eq!((place(at).read(), buffer[0]), (Ok(length as u64), first), "{size}");
            // The program has freed the value, and something else is there.
            place(at).set(77u64);
            log.write("other");
            assert_eq!(place(at).read(), Ok(77u64), "{size}");
            log.write(text);
            if size == 16 {
                assert_eq!((buffer[15], buffer[16]), (0, b'x'));
                assert_eq!(buffer[..15], text.as_bytes()[..15]);
            }
        }
    }
}
