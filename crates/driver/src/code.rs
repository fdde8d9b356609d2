//! The code in a container that suits a device.
//!
//! CUDA's functions take NVIDIA's containers ([`module::texts`]). HIP's take clang's bundles and AMD's code
//! objects as well. An AMD device runs the code objects of its instruction set, and prefers them to PTX. The
//! other devices prefer PTX, and run the code objects of any instruction set.

use std::borrow::Cow;

use image::{BUNDLE_MAGIC, COMPRESSED_MAGIC};

use crate::backend::{Code, LoadOptions};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::module::{self, Report};
use crate::{driver, log};

/// The machine number of AMD's GPUs in an ELF header, and its offset.
const AMD_MACHINE: [u8; 2] = [224, 0];
const MACHINE: usize = 18;
/// Bytes of that header.
const HEADER: usize = 64;

/// Entries of a bundle that a message names.
const NAMED: usize = 16;

/// Whether the bytes begin as an ELF file for AMD's GPUs: little-endian, of 64 bits.
pub fn is_amd_object(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF\x02\x01") && bytes.get(MACHINE..MACHINE + 2) == Some(&AMD_MACHINE)
}

/// A part of a module for the backend.
pub(crate) fn code_of(bytes: &[u8]) -> Code<'_> {
    if is_amd_object(bytes) { Code::AmdObject(bytes) } else { Code::Ptx(bytes) }
}

/// Why bytes cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The status.
    pub error: Error,
    /// The reason; none if the log has it.
    pub reason: Option<String>,
}

impl Refused {
    /// A status whose reason is not in the log yet.
    pub fn new(error: Error, reason: impl Into<String>) -> Refused {
        Refused { error, reason: Some(reason.into()) }
    }

    /// Puts the reason into the log and the report, and returns the status.
    pub fn tell(self, report: &mut Report) -> Error {
        if let Some(reason) = self.reason {
            report.errors = format!("error   : {reason}\n");
            log::say(log::Level::Warn, || format!("an image failed to load: {reason}"));
        }
        self.error
    }
}

/// A status that was logged where it arose.
impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Refused { error, reason: None }
    }
}

impl From<image::Error> for Refused {
    fn from(error: image::Error) -> Self {
        let reason = match error {
            image::Error::Broken(reason) => reason,
            image::Error::Invalid => UNKNOWN.into(),
            image::Error::NoBinary(contents) => {
                return Refused::new(Error::NoBinaryForGpu, format!("it contains {contents}"));
            }
        };
        Refused::new(Error::InvalidImage, reason)
    }
}

/// What the log says of bytes that are nothing that HIP loads.
const UNKNOWN: &str = "unknown format: expected PTX, a fatbin, an AMD code object or an offload bundle";

/// A bundle, decompressed if it was not; other bytes as they are.
///
/// # Errors
/// [`Error::InvalidImage`]: it is broken.
pub fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, Refused> {
    if bytes.starts_with(COMPRESSED_MAGIC) {
        return Ok(image::decompress(bytes)?.into());
    }
    Ok(bytes.into())
}

/// The code in a container that suits a device: names and bytes of PTX texts, or one AMD code object.
///
/// # Errors
/// [`Error::InvalidImage`] if the bytes are no container, [`Error::NoBinaryForGpu`] if it has no code for the
/// device. The log and the report say why.
pub fn parts(
    device: &Device,
    bytes: &[u8],
    options: &LoadOptions,
    report: &mut Report,
) -> Result<Vec<(String, Vec<u8>)>> {
    if !options.bundles {
        return module::texts(device, bytes, report);
    }
    let bytes = unpacked(bytes).map_err(|refused| refused.tell(report))?;
    if bytes.starts_with(BUNDLE_MAGIC) {
        let entries = image::bundled(&bytes).map_err(|error| Refused::from(error).tell(report))?;
        let object = best_object(device, entries.iter().map(|e| e.bytes))?;
        let ours = |code: &[u8]| matches!(image::detect(code), Some(k) if k != image::Kind::Elf);
        let text = entries.iter().find(|e| ours(e.bytes)).map(|e| e.bytes);
        let chosen = if device.info.amd_target.is_some() { object.or(text) } else { text.or(object) };
        return match chosen {
            Some(code) if is_amd_object(code) => Ok(vec![(String::new(), code.to_vec())]),
            Some(code) => module::texts(device, code, report),
            None => {
                let mut named = entries.iter().take(NAMED).map(described).collect::<Result<Vec<_>>>()?;
                if entries.len() > NAMED {
                    named.push(format!("{} more entries", entries.len() - NAMED));
                }
                let entries = if named.is_empty() { "nothing".into() } else { named.join(", ") };
                Err(nothing(device, &format!("the bundle contains {entries}"), report))
            }
        };
    }
    if is_amd_object(&bytes) {
        if bytes.len() < HEADER {
            let reason = format!("an AMD code object of {} bytes ends in its header", bytes.len());
            return Err(Refused::new(Error::InvalidImage, reason).tell(report));
        }
        return match best_object(device, [&*bytes].into_iter())? {
            Some(code) => Ok(vec![(String::new(), code.to_vec())]),
            None => {
                let what = match driver()?.backend.amd_target(&bytes) {
                    Ok(target) => format!("it is an AMD code object for {target}"),
                    Err(reason) => format!("it is an ELF file for AMD's GPUs, but {reason}"),
                };
                Err(nothing(device, &what, report))
            }
        };
    }
    if image::detect(&bytes).is_none() {
        return Err(Refused::from(image::Error::Invalid).tell(report));
    }
    module::texts(device, &bytes, report)
}

/// A bundle's entry as the log names it: its target, and what is wrong with code that does not run on any
/// device.
fn described(entry: &image::Bundled<'_>) -> Result<String> {
    let target = entry.target.escape_debug();
    Ok(match entry.bytes {
        [] => format!("nothing for {target}"),
        code if is_amd_object(code) => match driver()?.backend.amd_target(code) {
            Ok(real) if names(entry.target, &real) => format!("code for {target}"),
            Ok(real) => format!("code for {real} under the name {target}"),
            Err(reason) => format!("code for {target} that cannot be loaded ({reason})"),
        },
        _ => format!("something for {target} that is neither an AMD code object nor PTX"),
    })
}

/// Whether an entry's target names a processor, whatever features either has.
fn names(target: &str, real: &str) -> bool {
    real.split(':').next().is_some_and(|processor| target.contains(processor))
}

/// Of several codes the AMD code object that suits a device best.
fn best_object<'a>(device: &Device, codes: impl Iterator<Item = &'a [u8]>) -> Result<Option<&'a [u8]>> {
    let backend = &driver()?.backend;
    let objects = codes.filter(|code| is_amd_object(code));
    Ok(match &device.info.amd_target {
        Some(target) => {
            let ranked = objects.filter_map(|code| Some((backend.suits(target, code)?, code)));
            // Of equal ones the first.
            ranked.reduce(|best, one| if one.0 > best.0 { one } else { best }).map(|(_, code)| code)
        }
        None => objects.into_iter().find(|code| backend.amd_target(code).is_ok()),
    })
}

/// Logs that a container has no code for a device.
fn nothing(device: &Device, contents: &str, report: &mut Report) -> Error {
    let wanted = match &device.info.amd_target {
        Some(target) => {
            format!("this device is {target}; compile with --offload-arch={target}, or set ANYWARP_HIP_ARCH")
        }
        None => "compile for one of the targets in docs/gcn.md, or provide PTX".to_owned(),
    };
    let told = format!("the image has no code that runs here: {contents}; {wanted}");
    report.errors = format!("error   : {told}\n");
    log::say(log::Level::Error, || told);
    Error::NoBinaryForGpu
}
