//! The frame of every function: its arguments are checked by their kinds, then its answer is called.
//!
//! The order is that of the manual's lists: not initialised, an invalid argument, a wrong version, and only
//! then what the function itself finds.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use capi::{In, Out, Text};
use driver::device::DeviceInfo;
use driver::inventory::Inventory;

use crate::answers::{self, Answer};
use crate::code::{self, Failure, Result, SUCCESS};
use crate::handle::{self, Handle};
use crate::state;

include!(concat!(env!("OUT_DIR"), "/table.rs"));

/// A function.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Its arguments.
    pub arguments: &'static [Argument],
}

/// An argument.
#[derive(Debug)]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// What may be passed.
    pub kind: Kind,
}

/// What may be passed as an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A handle that exists.
    Handle(Handle),
    /// Any number.
    Number,
    /// A pointer to something of this size that the function reads.
    In(usize),
    /// A pointer to something of this size that the function writes.
    Out(usize),
    /// An array of elements of this size, or null; the argument before it points to the number of elements.
    List(usize),
    /// A pointer to a structure that begins with one of these versions.
    Versioned(&'static [u32]),
}

/// Functions that may be called before `nvmlInit`; the manual lists no such error for them, and cuda.core
/// asks for the version first.
pub const BEFORE_INIT: &[&str] = &[
    "nvmlErrorString",
    "nvmlSystemGetCudaDriverVersion",
    "nvmlSystemGetCudaDriverVersion_v2",
    "nvmlSystemGetNVMLVersion",
];

/// Functions that initialise the library or the opposite.
pub const LIFE: &[&str] = &["nvmlInit", "nvmlInitWithFlags", "nvmlInit_v2", "nvmlShutdown"];

/// Runs the function with this index in [`ROWS`].
pub fn call(index: usize, values: &[u64]) -> u32 {
    let Some(row) = ROWS.get(index) else { return Failure::Unknown as u32 };
    let values_shown: Vec<(&str, &dyn Debug)> = row
        .arguments
        .iter()
        .zip(values)
        .map(|(argument, value)| (argument.name, value as &dyn Debug))
        .collect();
    capi::run(row.name, &values_shown, Failure::Unknown as u32, code::name, || {
        enter(row, values).err().map_or(SUCCESS, |failure| failure as u32)
    })
}

/// The answers by row; `None` for functions that are not supported.
fn answer_of(row: &Row) -> Option<Answer> {
    static SORTED: OnceLock<Vec<(&str, Answer)>> = OnceLock::new();
    let sorted = SORTED.get_or_init(|| {
        let mut all: Vec<_> = answers::all().collect();
        all.sort_by_key(|answer| answer.0);
        all
    });
    let at = sorted.binary_search_by_key(&row.name, |answer| answer.0).ok()?;
    sorted.get(at).map(|answer| answer.1)
}

fn enter(row: &'static Row, values: &[u64]) -> Result<()> {
    if LIFE.contains(&row.name) {
        if row.name == "nvmlShutdown" {
            return state::shutdown();
        }
        state::init();
        return Ok(());
    }
    let inventory = match state::inventory() {
        Err(failure) if !BEFORE_INIT.contains(&row.name) => return Err(failure),
        inventory => inventory.ok(),
    };
    let call = Call { row, values, inventory };
    for (index, argument) in row.arguments.iter().enumerate() {
        call.check(index, argument.kind)?;
    }
    answer_of(row).ok_or(Failure::NotSupported)?(&call)
}

/// A call whose arguments have been checked.
pub struct Call<'a> {
    row: &'static Row,
    values: &'a [u64],
    inventory: Option<Arc<Inventory>>,
}

impl Call<'_> {
    fn check(&self, index: usize, kind: Kind) -> Result<()> {
        let value = self.value(index);
        let valid = match kind {
            Kind::Number | Kind::List(_) => true,
            Kind::In(_) | Kind::Out(_) => value != 0,
            Kind::Handle(Handle::Device) => self.index_of_device(index).is_ok(),
            Kind::Handle(Handle::EventSet) => handle::is_event_set(value, handle::Events::Devices),
            // There are no objects of these kinds.
            Kind::Handle(_) => false,
            Kind::Versioned(versions) => {
                let version = Out::<u32>::at(value).read().map_err(|_| Failure::InvalidArgument)?;
                return if versions.contains(&version) {
                    Ok(())
                } else {
                    Err(Failure::ArgumentVersionMismatch)
                };
            }
        };
        if valid { Ok(()) } else { Err(Failure::InvalidArgument) }
    }

    fn value(&self, index: usize) -> u64 {
        self.values.get(index).copied().unwrap_or(0)
    }

    /// The devices.
    pub fn inventory(&self) -> Result<&Inventory> {
        self.inventory.as_deref().ok_or(Failure::Uninitialized)
    }

    /// An argument that is a number.
    pub fn number(&self, index: usize) -> u32 {
        self.value(index) as u32
    }

    /// An argument that is a handle of any kind.
    pub fn handle(&self, index: usize) -> u64 {
        self.value(index)
    }

    /// The index of the device that an argument names.
    pub fn index_of_device(&self, index: usize) -> Result<usize> {
        let found = handle::device(self.value(index)).ok_or(Failure::InvalidArgument)?;
        if found < self.inventory()?.devices.len() { Ok(found) } else { Err(Failure::InvalidArgument) }
    }

    /// The device that an argument names.
    pub fn device(&self, index: usize) -> Result<&DeviceInfo> {
        let number = self.index_of_device(index)?;
        self.inventory()?.devices.get(number).ok_or(Failure::InvalidArgument)
    }

    /// The bytes of a string.
    pub fn bytes(&self, index: usize) -> Result<&[u8]> {
        Text::at(self.value(index)).bytes().map_err(|_| Failure::InvalidArgument)
    }

    /// What an argument points to.
    pub fn read<T: Copy>(&self, index: usize) -> Result<T> {
        self.sized::<T>(index)?;
        In::at_address(self.value(index)).get().map_err(|_| Failure::InvalidArgument)
    }

    /// Writes to where an argument points.
    pub fn set<T: Copy>(&self, index: usize, value: T) -> Result<()> {
        self.sized::<T>(index)?;
        Out::at(self.value(index)).set(value);
        Ok(())
    }

    /// Writes the beginning of the structure to which an argument points, for programs that know an older,
    /// shorter one.
    pub fn set_beginning(&self, index: usize, bytes: &[u8]) {
        Out::at(self.value(index)).set_all(bytes);
    }

    /// The element with an index of an array, which the program guarantees.
    pub fn read_at<T: Copy>(&self, index: usize, element: usize) -> Result<T> {
        self.sized::<T>(index)?;
        In::at_address(self.value(index)).at(element).map_err(|_| Failure::InvalidArgument)
    }

    /// Writes the element with an index of an array, which the program guarantees.
    pub fn set_at<T: Copy>(&self, index: usize, element: usize, value: T) -> Result<()> {
        self.sized::<T>(index)?;
        Out::at(self.value(index)).after(element).set(value);
        Ok(())
    }

    /// Writes several values to where an argument points; there must be space for them.
    pub fn set_all<T: Copy>(&self, index: usize, values: &[T]) -> Result<()> {
        self.sized::<T>(index)?;
        Out::at(self.value(index)).set_all(values);
        Ok(())
    }

    /// Writes a text with its NUL into a buffer whose size is the argument after it.
    pub fn set_text(&self, index: usize, text: &str) -> Result<()> {
        let room = self.number(index + 1) as usize;
        if room <= text.len() {
            return Err(Failure::InsufficientSize);
        }
        Out::at(self.value(index)).set_text(text, room).map_err(|_| Failure::InvalidArgument)
    }

    /// Writes a list, whose length stands where the argument before it points. If it is too short, it is set
    /// to what is needed.
    pub fn set_list<T: Copy>(&self, index: usize, values: &[T]) -> Result<()> {
        let count = Out::<u32>::at(self.value(index.wrapping_sub(1)));
        let room = count.read().map_err(|_| Failure::InvalidArgument)? as usize;
        if room > 0 && self.value(index) == 0 {
            return Err(Failure::InvalidArgument);
        }
        count.set(values.len() as u32);
        if room < values.len() {
            return Err(Failure::InsufficientSize);
        }
        if values.is_empty() { Ok(()) } else { self.set_all(index, values) }
    }

    /// Fails if the table says that the argument points to something of another size.
    fn sized<T>(&self, index: usize) -> Result<()> {
        let size = match self.row.arguments.get(index).map(|argument| argument.kind) {
            Some(Kind::In(size) | Kind::Out(size) | Kind::List(size)) => size,
            // The low three bytes of a version are the size; plain versions have none.
            Some(Kind::Versioned(&[version, ..])) if version > u32::from(u16::MAX) => {
                version as usize & 0xff_ffff
            }
            Some(Kind::Versioned(_)) => return Ok(()),
            _ => return Err(Failure::Unknown),
        };
        if size == size_of::<T>() { Ok(()) } else { Err(Failure::Unknown) }
    }
}
