//! The devices at one moment. What takes time to find out is found out once, if it is asked for.

use std::cell::OnceCell;
use std::ffi::CStr;
use std::time::{Duration, SystemTime};

use driver::device::{DeviceInfo, parse_pci};
use driver::inventory::{Client, Inventory, Memory, process_name};

/// The devices that were chosen, at one moment.
pub struct Look<'a> {
    /// The devices, in the order of their numbers.
    pub gpus: Vec<Gpu<'a>>,
    /// The time since 1970.
    time: Duration,
}

/// A device.
pub struct Gpu<'a> {
    /// Its number.
    pub index: usize,
    /// What it is.
    pub info: &'a DeviceInfo,
    inventory: &'a Inventory,
    memory: OnceCell<Memory>,
    clients: OnceCell<Vec<Client>>,
    utilisation: OnceCell<Option<u32>>,
}

impl<'a> Look<'a> {
    /// Looks at the devices with these numbers.
    pub fn new(inventory: &'a Inventory, chosen: &[usize]) -> Look<'a> {
        let gpu = |index: &usize| {
            Some(Gpu {
                index: *index,
                info: inventory.devices.get(*index)?,
                inventory,
                memory: OnceCell::new(),
                clients: OnceCell::new(),
                utilisation: OnceCell::new(),
            })
        };
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Look { gpus: chosen.iter().filter_map(gpu).collect(), time }
    }

    /// The local time as `strftime` formats it.
    pub fn time(&self, format: &CStr) -> String {
        let seconds = self.time.as_secs() as libc::time_t;
        let mut text = [0u8; 64];
        // SAFETY: all zeros are a valid `tm`.
        let mut parts: libc::tm = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are valid for the call, which has no other thread beside it.
        unsafe { libc::localtime_r(&raw const seconds, &raw mut parts) };
        // SAFETY: a buffer with its size, a NUL-terminated format, and a valid `tm`.
        let length = unsafe {
            libc::strftime(text.as_mut_ptr().cast(), text.len(), format.as_ptr(), &raw const parts)
        };
        String::from_utf8_lossy(text.get(..length).unwrap_or_default()).into_owned()
    }

    /// The milliseconds of the time.
    pub fn milliseconds(&self) -> u32 {
        self.time.subsec_millis()
    }
}

impl Gpu<'_> {
    /// The number of devices that there are, chosen or not.
    pub fn count(&self) -> usize {
        self.inventory.devices.len()
    }

    /// The memory, with what all processes use.
    pub fn memory(&self) -> Memory {
        *self.memory.get_or_init(|| self.inventory.memory(self.info))
    }

    /// The processes with a context.
    pub fn clients(&self) -> &[Client] {
        self.clients.get_or_init(|| self.inventory.clients(self.info))
    }

    /// How busy the machine's CPU is, in percent.
    pub fn utilisation(&self) -> Option<u32> {
        *self.utilisation.get_or_init(|| self.inventory.utilisation())
    }
}

/// The program that a process runs; nothing if it has ended. Control characters could change what a terminal
/// or XML shows.
pub fn program(client: &Client) -> String {
    process_name(client.process).unwrap_or_default().replace(|c: char| c.is_control(), "?")
}

/// Bytes as full MiB, in which all formats count.
pub fn mib(bytes: u64) -> u64 {
    bytes >> 20
}

/// The numbers of the devices that `ids` name (number, UUID or PCI address), or of all if it is empty; `None`
/// if one is not there.
pub fn choose(inventory: &Inventory, ids: &[String]) -> Option<Vec<usize>> {
    let devices = &inventory.devices;
    if ids.is_empty() {
        return Some((0..devices.len()).collect());
    }
    let find = |id: &String| {
        let id = id.trim();
        match id.parse::<usize>() {
            Ok(number) => devices.get(number).map(|_| number),
            Err(_) => devices.iter().position(|device| {
                device.uuid_text().eq_ignore_ascii_case(id) || parse_pci(id) == Some(device.pci)
            }),
        }
    };
    let mut chosen = ids.iter().map(find).collect::<Option<Vec<usize>>>()?;
    chosen.sort_unstable();
    chosen.dedup();
    Some(chosen)
}
