//! The machine's devices as a monitor sees them: all of them, whatever `CUDA_VISIBLE_DEVICES` says, with what
//! every process uses.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use host::load::Times;
use host::options::{Options, Reading};

use crate::device::DeviceInfo;
use crate::{log, memory, usage};

/// The version of NVIDIA's driver whose interface and rules the driver follows: the one that was recorded
/// (`tests/probe`). Programs compare it with the least version that their CUDA needs, so it is not Anywarp's.
pub const NVIDIA_DRIVER: &str = "580.159.04";

/// The devices.
pub struct Inventory {
    /// All devices, in the order of their numbers.
    pub devices: Vec<DeviceInfo>,
    /// Why the devices of a new process have less memory than they were made with.
    pub limit: Option<&'static str>,
    load: Mutex<Load>,
}

/// A device's memory in bytes. The parts add up to the total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The device's memory.
    pub total: u64,
    /// What no program can allocate.
    pub reserved: u64,
    /// What all processes have allocated; at most what can be allocated.
    pub used: u64,
    /// The rest.
    pub free: u64,
}

impl Memory {
    fn new(total: u64, used: u64) -> Memory {
        let reserved = memory::reserved_of(total);
        let used = used.min(total.saturating_sub(reserved));
        Memory { total, reserved, used, free: total.saturating_sub(reserved).saturating_sub(used) }
    }
}

/// A process that has a context on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its number.
    pub process: u32,
    /// The device memory that it has allocated, in bytes.
    pub used: u64,
}

impl Inventory {
    /// The devices that `devices` makes of the options in the environment.
    pub fn new(devices: impl FnOnce(&Options) -> Vec<DeviceInfo>) -> Inventory {
        let reading = Reading::of_process();
        log::set_level(reading.options.log);
        reading.complaints().for_each(|complaint| log::say(log::Level::Error, || complaint));
        Inventory::of(devices(&reading.options))
    }

    /// These devices.
    pub fn of(mut devices: Vec<DeviceInfo>) -> Inventory {
        // The driver of this process knows what its limits have left for devices. Before it is initialised,
        // this is an estimate.
        let own = usage::own();
        let bound = if own.is_none() { memory::bound_now() } else { None };
        let least = bound.map_or(u64::MAX, |bound| bound.bytes);
        let limit = bound.filter(|_| devices.iter().any(|device| device.total_memory > least));
        for device in &mut devices {
            let share = own.as_ref().and_then(|own| own.share(&device.uuid));
            device.total_memory = device.total_memory.min(share.map_or(least, |share| share.total));
        }
        let limit = limit.map(|bound| bound.what);
        Inventory { devices, limit, load: Mutex::new(Load::new(Times::now())) }
    }

    /// A device's memory, with what all processes use.
    pub fn memory(&self, device: &DeviceInfo) -> Memory {
        let processes = usage::processes();
        let shares = processes.iter().filter_map(|process| process.share(&device.uuid));
        Memory::new(device.total_memory, shares.fold(0, |sum, share| sum.saturating_add(share.used)))
    }

    /// The processes that have a context on a device, by number.
    pub fn clients(&self, device: &DeviceInfo) -> Vec<Client> {
        let processes = usage::processes();
        let client = |process: &usage::Process| {
            let share = process.share(&device.uuid).filter(|share| share.contexts > 0)?;
            Some(Client { process: process.id, used: share.used })
        };
        processes.iter().filter_map(client).collect()
    }

    /// The share of the machine's CPU time that was in use lately, in percent, by any program: the device is
    /// the CPU. `None` if the system does not tell.
    pub fn utilisation(&self) -> Option<u32> {
        let mut load = self.load.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(left) = load.left_until_first() {
            std::thread::sleep(left);
        }
        load.percent(Instant::now(), Times::now)
    }
}

/// The number and the name of the architecture that NVIDIA gave a compute capability; `None` if it is newer
/// than this table.
pub fn architecture(capability: (u32, u32)) -> Option<(u32, &'static str)> {
    Some(match capability {
        (3, _) => (2, "Kepler"),
        (5, _) => (3, "Maxwell"),
        (6, _) => (4, "Pascal"),
        (7, 5) => (6, "Turing"),
        (7, _) => (5, "Volta"),
        (8, 9) => (8, "Ada Lovelace"),
        (8, _) => (7, "Ampere"),
        (9, _) => (9, "Hopper"),
        (10..=12, _) => (10, "Blackwell"),
        _ => return None,
    })
}

/// The name of a process as it was started, without its arguments; `None` if there is no such process.
pub fn process_name(process: u32) -> Option<String> {
    let read = |file: &str| std::fs::read(format!("/proc/{process}/{file}")).ok();
    let line = read("cmdline").unwrap_or_default();
    // Threads of the kernel, and processes that are ending, have no command line.
    let name = match line.split(|byte| *byte == 0).next() {
        Some(first) if !first.is_empty() => first.to_vec(),
        _ => read("comm")?,
    };
    Some(String::from_utf8_lossy(&name).trim_end().to_owned())
}

/// The shortest time over which utilisation is measured: the system counts in units of 10 ms.
const WINDOW: Duration = Duration::from_millis(100);

/// Utilisation between two looks at the system's counters.
struct Load {
    times: Option<Times>,
    since: Instant,
    last: Option<u32>,
}

impl Load {
    fn new(times: Option<Times>) -> Load {
        Load { times, since: Instant::now(), last: None }
    }

    /// How long the first measurement still takes; `None` if there is one.
    fn left_until_first(&self) -> Option<Duration> {
        self.times.filter(|_| self.last.is_none()).map(|_| WINDOW.saturating_sub(self.since.elapsed()))
    }

    /// The percentage since the last look, or that of the last look if it was just now.
    fn percent(&mut self, now: Instant, times: impl FnOnce() -> Option<Times>) -> Option<u32> {
        if self.last.is_some() && now.duration_since(self.since) < WINDOW {
            return self.last;
        }
        let times = times();
        self.last = self.times.zip(times).map(|(before, after)| after.percent_since(&before));
        (self.times, self.since) = (times, now);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_memory_add_up() {
        for (total, used) in [(64 << 30, 5 << 30), (1 << 20, 0), (1 << 20, u64::MAX), (0, 9)] {
            let memory = Memory::new(total, used);
            assert_eq!(memory.reserved + memory.used + memory.free, total, "{memory:?}");
        }
        assert_eq!(Memory::new(64 << 30, 5 << 30).used, 5 << 30);
    }

    #[test]
    fn utilisation_is_that_of_the_time_between_two_looks() {
        let times = |busy, total| Some(Times { busy, total });
        let start = Instant::now();
        let mut load = Load { times: times(100, 1000), since: start, last: None };
        assert_eq!(load.percent(start + WINDOW, || times(150, 1100)), Some(50));
        // Too soon for another look.
        assert_eq!(load.percent(start + WINDOW * 3 / 2, || times(999, 1101)), Some(50));
        assert_eq!(load.percent(start + WINDOW * 2, || times(150, 1200)), Some(0));
        assert_eq!(load.percent(start + WINDOW * 3, || None), None);
    }
}
