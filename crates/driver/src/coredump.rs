//! Settings of core dumps, for the process and for single contexts. They are kept, but no dumps are written.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::error::{Error, Result};
use crate::handle::lock;
use crate::log;

/// The settings by number.
pub mod setting {
    /// A fault of a kernel writes a dump.
    pub const ENABLE_ON_EXCEPTION: u32 = 1;
    /// The host writes one too.
    pub const TRIGGER_HOST: u32 = 2;
    /// Dumps lack memory.
    pub const LIGHTWEIGHT: u32 = 3;
    /// Writing to the pipe writes a dump.
    pub const ENABLE_USER_TRIGGER: u32 = 4;
    /// The name of the file.
    pub const FILE: u32 = 5;
    /// The name of the pipe.
    pub const PIPE: u32 = 6;
    /// What dumps lack.
    pub const FLAGS: u32 = 7;
}

/// All flags of [`setting::FLAGS`].
const ALL_FLAGS: u32 = 0x7f;
/// The size of a name with its NUL.
pub const NAME: usize = 1024;

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A truth value.
    Truth(bool),
    /// A name.
    Name(Vec<u8>),
    /// Flags.
    Flags(u32),
}

impl Value {
    /// Bytes that a program needs for it.
    pub fn size(&self) -> usize {
        match self {
            Value::Truth(_) => 1,
            Value::Name(_) => NAME,
            Value::Flags(_) => 4,
        }
    }
}

/// What was set, by the context's id (0 for the process) and the setting's number.
static SET: Mutex<BTreeMap<(u64, u32), Value>> = Mutex::new(BTreeMap::new());

/// The value before anything is set. [`Error::InvalidValue`]: no such setting.
fn default(number: u32) -> Result<Value> {
    let name = |prefix: &str| {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Value::Name(format!("{prefix}.cuda.{}.{}", host.trim(), std::process::id()).into_bytes())
    };
    Ok(match number {
        setting::ENABLE_ON_EXCEPTION | setting::LIGHTWEIGHT | setting::ENABLE_USER_TRIGGER => {
            Value::Truth(false)
        }
        setting::TRIGGER_HOST => Value::Truth(true),
        setting::FILE => name("core"),
        setting::PIPE => name("corepipe"),
        setting::FLAGS => Value::Flags(0),
        _ => return Err(Error::InvalidValue),
    })
}

/// The value of a setting, for a context or (`None`) for the process.
///
/// # Errors
/// [`Error::InvalidValue`]: no such setting; contexts do not have those of the pipe.
pub fn get(context: Option<u64>, number: u32) -> Result<Value> {
    let first = default(number)?;
    let process_only = matches!(number, setting::ENABLE_USER_TRIGGER | setting::PIPE);
    if process_only && context.is_some() {
        return Err(Error::InvalidValue);
    }
    let set = lock(&SET);
    let own = context.and_then(|id| set.get(&(id, number)));
    Ok(own.or_else(|| set.get(&(0, number))).cloned().unwrap_or(first))
}

/// Sets a setting, for a context or (`None`) for the process.
///
/// # Errors
/// [`Error::NotPermitted`]: the pipe is in use. [`Error::InvalidValue`]: the value is none of the setting's,
/// or the setting is the process's alone.
pub fn set(context: Option<u64>, number: u32, value: Value) -> Result<()> {
    let alike = std::mem::discriminant(&get(context, number)?) == std::mem::discriminant(&value);
    let fits = match &value {
        Value::Truth(_) => true,
        Value::Name(name) => name.len() < NAME,
        Value::Flags(flags) => flags & !ALL_FLAGS == 0,
    };
    if !alike || !fits {
        return Err(Error::InvalidValue);
    }
    let in_use = get(None, setting::ENABLE_USER_TRIGGER)? == Value::Truth(true);
    if number == setting::PIPE && in_use {
        return Err(Error::NotPermitted);
    }
    lock(&SET).insert((context.unwrap_or(0), number), value);
    Ok(())
}

/// For a context that has just faulted: says that no dump is written, if one was asked for.
pub(crate) fn faulted(context: u64) {
    if get(Some(context), setting::ENABLE_ON_EXCEPTION) == Ok(Value::Truth(true)) {
        log::say(log::Level::Warn, || {
            "a core dump was asked for (CU_COREDUMP_ENABLE_ON_EXCEPTION), but this driver writes none".into()
        });
    }
}

/// Forgets a destroyed context.
pub(crate) fn context_ended(id: u64) {
    lock(&SET).retain(|(context, _), _| *context != id || id == 0);
}
