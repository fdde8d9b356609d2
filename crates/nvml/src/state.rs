//! Whether the library is initialised, and the devices that it then knows.

use std::sync::{Arc, Mutex, PoisonError};

use driver::inventory::Inventory;

use crate::code::{Failure, Result};

/// How often the library was initialised, less how often it was shut down; and the devices if that is not 0.
static STATE: Mutex<(u64, Option<Arc<Inventory>>)> = Mutex::new((0, None));

/// Initialises the library once more.
pub fn init() {
    let (count, inventory) = &mut *STATE.lock().unwrap_or_else(PoisonError::into_inner);
    *count += 1;
    inventory.get_or_insert_with(|| Arc::new(Inventory::new(cpu::devices)));
}

/// Shuts the library down once; the last time drops the devices.
pub fn shutdown() -> Result<()> {
    let (count, inventory) = &mut *STATE.lock().unwrap_or_else(PoisonError::into_inner);
    *count = count.checked_sub(1).ok_or(Failure::Uninitialized)?;
    if *count == 0 {
        *inventory = None;
    }
    Ok(())
}

/// The devices, if the library is initialised.
pub fn inventory() -> Result<Arc<Inventory>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner).1.clone().ok_or(Failure::Uninitialized)
}
