//! Parsing and printing of the variables' values. The error of a parser says what would be valid.

use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use super::MAX_WORKERS;
use crate::processor::{self, Processor};

/// Where compiled code is cached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CacheDir {
    /// In the user's cache folder.
    #[default]
    Usual,
    /// Not at all.
    Nowhere,
    /// In this folder.
    At(PathBuf),
}

/// Values by spelling.
pub(super) type Choices<T> = &'static [(&'static str, T)];

/// Defines an enumeration whose variants have spellings, the first of which is the name.
macro_rules! choices {
    ($(#[$meta:meta])* $type:ident { $($(#[$member_meta:meta])* $member:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $($(#[$member_meta])* $member,)+
        }

        impl $type {
            pub(super) const CHOICES: Choices<$type> = &[$(($name, $type::$member)),+];

            /// The spelling.
            pub const fn name(self) -> &'static str {
                match self { $($type::$member => $name,)+ }
            }
        }

        impl Shown for $type {
            fn shown(&self) -> Option<String> {
                Some(self.name().into())
            }
        }
    };
}

choices! {
    /// What is logged to standard error.
    Level {
        /// Nothing.
        Off = "off",
        /// Kernel faults, and failures of the driver.
        #[default]
        Error = "error",
        /// Unsupported requests, and what was done instead.
        Warn = "warn",
        /// Loaded modules.
        Info = "info",
        /// How kernels are compiled.
        Debug = "debug",
        /// Every API call.
        Trace = "trace",
    }
}

choices! {
    /// What executes kernels.
    Engine {
        /// Machine code. A kernel that cannot be compiled is interpreted, with a warning.
        #[default]
        Compiled = "compiled",
        /// The interpreter, the reference for compiled code.
        Interpreter = "interpreter",
    }
}

choices! {
    /// What an empty context stack means to HIP functions that mirror the CUDA driver's.
    HipContext {
        /// HIP's own rule: the primary context is pushed.
        #[default]
        Amd = "amd",
        /// The rule of HIP on NVIDIA: the stack stays empty, and the call fails with hipErrorInvalidContext.
        Nvidia = "nvidia",
    }
}

choices! {
    /// When the code that a program was built with is loaded.
    ModuleLoading {
        /// As the driver likes: lazily.
        #[default]
        Default = "DEFAULT",
        /// On first use.
        Lazy = "LAZY",
        /// When the CUDA runtime gets a context.
        Eager = "EAGER",
    }
}

/// The text without surrounding white space.
fn trimmed(value: &OsStr) -> Option<&str> {
    value.to_str().map(str::trim)
}

/// One of several words.
pub(super) fn choice<T: Copy>(value: &OsStr, choices: Choices<T>) -> Result<T, String> {
    let found = trimmed(value).and_then(|word| choices.iter().find(|(name, _)| *name == word));
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let (last, before) = names.split_last().unwrap_or((&"", &[]));
        format!("{} or {last}", before.join(", "))
    })
}

/// A boolean.
pub(super) fn switch(value: &OsStr) -> Result<bool, String> {
    choice(value, &[("0", false), ("1", true)])
}

/// A number within bounds.
pub(super) fn number(value: &OsStr, bounds: RangeInclusive<u32>) -> Result<u32, String> {
    let number = trimmed(value).and_then(|text| text.parse().ok()).filter(|number| bounds.contains(number));
    number.ok_or_else(|| format!("a number from {} to {}", bounds.start(), bounds.end()))
}

/// Any text. Invalid UTF-8 becomes a character that no list contains.
pub(super) fn text(value: &OsStr) -> Result<Option<String>, String> {
    Ok(Some(value.to_string_lossy().into_owned()))
}

/// A path.
pub(super) fn path(value: &OsStr) -> Result<Option<PathBuf>, String> {
    Ok(Some(value.into()))
}

/// A folder, or none.
pub(super) fn cache_dir(value: &OsStr) -> Result<CacheDir, String> {
    Ok(if value.is_empty() || value == "off" { CacheDir::Nowhere } else { CacheDir::At(value.into()) })
}

/// A processor whose code this machine can run.
pub(super) fn processor(value: &OsStr) -> Result<Processor, String> {
    let found = trimmed(value).and_then(Processor::from_name).filter(|processor| processor.runs_here());
    found.ok_or_else(|| format!("{} on this machine", processor::runnable()))
}

/// A compute capability.
pub(super) fn capability(value: &OsStr) -> Result<(u32, u32), String> {
    let read = || {
        let (major, minor) = trimmed(value)?.split_once('.')?;
        let value: (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
        ((5..=20).contains(&value.0) && value.1 < 10).then_some(value)
    };
    read().ok_or_else(|| "a capability such as 8.6".into())
}

/// The units of sizes, with their exponents.
const UNITS: [(char, u32); 4] = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];

/// A size in bytes, 1 MiB to 64 TiB.
pub(super) fn size(value: &OsStr) -> Result<Option<u64>, String> {
    let read = || {
        let text = trimmed(value)?;
        let last = text.chars().last()?.to_ascii_uppercase();
        let (digits, shift) = match UNITS.iter().find(|(unit, _)| *unit == last) {
            Some((_, shift)) => (text.get(..text.len() - 1)?, *shift),
            None => (text, 0),
        };
        let value: u64 = digits.parse().ok()?;
        value.checked_shl(shift).filter(|v| v >> shift == value && (1 << 20..=1 << 46).contains(v))
    };
    read().map(Some).ok_or_else(|| "a size such as 8G, from 1M to 64T".into())
}

/// A size in the largest unit that expresses it exactly.
pub(super) fn size_text(bytes: u64) -> String {
    let unit = UNITS.iter().rev().find(|(_, shift)| bytes != 0 && bytes.is_multiple_of(1 << shift));
    unit.map_or_else(|| bytes.to_string(), |(unit, shift)| format!("{}{unit}", bytes >> shift))
}

/// A duration; `None` for 0.
pub(super) fn seconds(value: &OsStr) -> Result<Option<Duration>, String> {
    let time = trimmed(value)
        .and_then(|text| text.parse().ok())
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let time = time.ok_or_else(|| "a number of seconds".to_string())?;
    Ok(Some(time).filter(|time| !time.is_zero()))
}

/// The number of the machine's processors, up to the maximum number of workers.
pub(super) fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32).min(MAX_WORKERS)
}

/// A value as text that the variable accepts; `None` if there is none.
pub(super) trait Shown {
    fn shown(&self) -> Option<String>;
}

impl Shown for bool {
    fn shown(&self) -> Option<String> {
        Some(u8::from(*self).to_string())
    }
}

impl Shown for u32 {
    fn shown(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Shown for (u32, u32) {
    fn shown(&self) -> Option<String> {
        Some(format!("{}.{}", self.0, self.1))
    }
}

impl Shown for Processor {
    fn shown(&self) -> Option<String> {
        Some(self.name().into())
    }
}

impl Shown for String {
    fn shown(&self) -> Option<String> {
        Some(self.clone())
    }
}

impl Shown for PathBuf {
    fn shown(&self) -> Option<String> {
        Some(self.display().to_string())
    }
}

impl Shown for Duration {
    fn shown(&self) -> Option<String> {
        Some(self.as_secs_f64().to_string())
    }
}

impl<T: Shown> Shown for Option<T> {
    fn shown(&self) -> Option<String> {
        self.as_ref().and_then(Shown::shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_and_sizes() {
        let capability = |text: &str| capability(OsStr::new(text)).ok();
        assert_eq!(capability("9.0"), Some((9, 0)));
        assert_eq!((capability("90"), capability("4.0"), capability("8.10")), (None, None, None));
        let size = |text: &str| size(OsStr::new(text)).ok().flatten();
        assert_eq!((size("8G"), size("8g"), size("1048576")), (Some(8 << 30), Some(8 << 30), Some(1 << 20)));
        for bad in ["12", "", "x", "G", "-1G", "100T", "18446744073709551615K", "8Ä"] {
            assert_eq!(size(bad), None, "{bad:?}");
        }
        for (bytes, text) in
            [(3 << 30, "3G"), (1 << 20, "1M"), ((1 << 20) + 1, "1048577"), (1536 << 20, "1536M")]
        {
            assert_eq!(size_text(bytes), text);
            assert_eq!(size(text), Some(bytes));
        }
    }

    #[test]
    fn times() {
        let seconds = |text: &str| seconds(OsStr::new(text));
        assert_eq!(seconds("0.5"), Ok(Some(Duration::from_millis(500))));
        assert_eq!(seconds("0"), Ok(None));
        assert!(["-1", "soon", "nan", "inf"].iter().all(|bad| seconds(bad).is_err()));
    }
}
