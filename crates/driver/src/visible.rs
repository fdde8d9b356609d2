//! The devices that a process sees, by `CUDA_VISIBLE_DEVICES` and HIP's variables.
//!
//! The first entry of a list that names no device ends the list. An entry is a device number, or `GPU-` and
//! enough digits of the UUID to identify one device.

use std::sync::OnceLock;

use host::options::Options;

use crate::error::{Error, Result};

/// Which interface's variables apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// CUDA's only.
    Cuda,
    /// HIP's, then CUDA's.
    Hip,
}

static INTERFACE: OnceLock<Interface> = OnceLock::new();

/// Sets whose variables apply in this process. Only the first call counts, and only before initialisation.
pub fn set_interface(interface: Interface) {
    // The interface may be loaded twice; both copies set the same.
    let _ = INTERFACE.set(interface);
}

/// The interface whose variables apply in this process.
pub(crate) fn interface() -> Interface {
    *INTERFACE.get_or_init(|| Interface::Cuda)
}

/// How a variable is parsed.
#[derive(Clone, Copy, Debug)]
struct Rule {
    list: fn(&Options) -> Option<&str>,
    /// An empty string means no list rather than a list without devices.
    empty_is_unset: bool,
    /// Characters after a number end the list; otherwise they are ignored.
    exact: bool,
    twice: Twice,
}

/// The effect of naming a device twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Twice {
    /// Initialisation fails.
    Fails,
    /// The list ends.
    Ends,
    /// The second entry is ignored.
    Once,
}

/// As recorded on an H200's driver (tests/probe, group `visible`).
const CUDA: Rule = Rule {
    list: |options| options.cuda_visible_devices.as_deref(),
    empty_is_unset: false,
    exact: false,
    twice: Twice::Fails,
};
/// As in clr 6.3.
const HIP: Rule = Rule {
    list: |options| options.hip_visible_devices.as_deref(),
    empty_is_unset: true,
    exact: true,
    twice: Twice::Once,
};
/// As in ROCr, the runtime below clr.
const ROCR: Rule = Rule {
    list: |options| options.rocr_visible_devices.as_deref(),
    empty_is_unset: false,
    exact: true,
    twice: Twice::Ends,
};

/// The filters of an interface in order. Each has a list of variables, of which the first one set applies.
/// The devices that one filter leaves are renumbered for the next.
fn filters(interface: Interface) -> &'static [&'static [Rule]] {
    match interface {
        Interface::Cuda => &[&[CUDA]],
        Interface::Hip => &[&[ROCR], &[HIP, CUDA]],
    }
}

/// The devices that the user's variables select, in their order, or all of them. `uuid` returns a device's
/// UUID.
///
/// # Errors
/// [`Error::InvalidDevice`]: `CUDA_VISIBLE_DEVICES` names a device twice.
pub(crate) fn visible<T: Clone>(
    devices: Vec<T>,
    uuid: impl Fn(&T) -> [u8; 16],
    options: &Options,
) -> Result<Vec<T>> {
    filtered(devices, interface(), uuid, options)
}

fn filtered<T: Clone>(
    mut devices: Vec<T>,
    interface: Interface,
    uuid: impl Fn(&T) -> [u8; 16],
    options: &Options,
) -> Result<Vec<T>> {
    for filter in filters(interface) {
        let set = filter.iter().find_map(|rule| {
            let list = (rule.list)(options)?;
            (!(rule.empty_is_unset && list.is_empty())).then_some((rule, list))
        });
        let Some((rule, list)) = set else { continue };
        let uuids: Vec<String> = devices.iter().map(|d| hex(&uuid(d))).collect();
        let chosen = rule.chosen(list, &uuids)?;
        devices = chosen.iter().filter_map(|&i| devices.get(i).cloned()).collect();
    }
    Ok(devices)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

impl Rule {
    /// The numbers of the devices in a list.
    fn chosen(self, list: &str, uuids: &[String]) -> Result<Vec<usize>> {
        let mut chosen = Vec::new();
        for entry in list.split(',') {
            let Some(index) = self.index(entry, uuids) else { break };
            if !chosen.contains(&index) {
                chosen.push(index);
                continue;
            }
            match self.twice {
                Twice::Fails => return Err(Error::InvalidDevice),
                Twice::Ends => break,
                Twice::Once => {}
            }
        }
        Ok(chosen)
    }

    fn index(self, entry: &str, uuids: &[String]) -> Option<usize> {
        if let Some(digits) = entry.trim().strip_prefix("GPU-") {
            let digits = digits.replace('-', "").to_ascii_lowercase();
            let mut fitting = uuids.iter().enumerate().filter(|(_, uuid)| uuid.starts_with(&digits));
            let (index, _) = fitting.next().filter(|_| !digits.is_empty())?;
            return fitting.next().is_none().then_some(index);
        }
        let entry = if self.exact { entry } else { entry.trim_start() };
        let digits = entry.len() - entry.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if self.exact && digits != entry.len() {
            return None;
        }
        entry.get(..digits)?.parse().ok().filter(|index| *index < uuids.len())
    }
}

#[cfg(test)]
mod tests {
    use host::options::Reading;

    use super::*;

    /// The visible ones of `count` devices, whose UUIDs share their first fifteen bytes, by number.
    fn seen(count: u8, interface: Interface, set: &[(&str, &str)]) -> Result<Vec<u8>> {
        let uuid = |device: &u8| {
            let mut bytes = [0xab; 16];
            bytes[15] = *device;
            bytes
        };
        let value = |name: &str| set.iter().find(|s| s.0 == name).map(|s| s.1.into());
        filtered((0..count).collect(), interface, uuid, &Reading::of(value, false).options)
    }

    #[test]
    fn cudas_list_is_read_as_an_h200s_driver_reads_it() {
        // Recorded with one device (tests/probe, group visible).
        let one = |list| seen(1, Interface::Cuda, &[("CUDA_VISIBLE_DEVICES", list)]);
        assert_eq!(seen(1, Interface::Cuda, &[]), Ok(vec![0]));
        for list in ["0", "0,99", "0,-1", "0junk"] {
            assert_eq!(one(list), Ok(vec![0]), "{list}");
        }
        for list in ["", "-1", "99", "99,0", "junk", "GPU-junk", "NoDevFiles"] {
            assert_eq!(one(list), Ok(vec![]), "{list}");
        }
        assert_eq!(one("0,0"), Err(Error::InvalidDevice));
        assert_eq!(seen(3, Interface::Cuda, &[("CUDA_VISIBLE_DEVICES", "2,0")]), Ok(vec![2, 0]));
    }

    #[test]
    fn hips_lists_are_read_as_its_runtimes_read_them() {
        const ROCR: &str = "ROCR_VISIBLE_DEVICES";
        const HIP: &str = "HIP_VISIBLE_DEVICES";
        const CUDA: &str = "CUDA_VISIBLE_DEVICES";
        type Row = (&'static [(&'static str, &'static str)], &'static [u8]);
        let rows: &[Row] = &[
            (&[], &[0, 1, 2, 3]),
            (&[(HIP, "2,0")], &[2, 0]),
            (&[(HIP, "")], &[0, 1, 2, 3]),
            (&[(HIP, "-1")], &[]),
            (&[(HIP, "1,1,3")], &[1, 3]),
            (&[(HIP, "1,x,3")], &[1]),
            (&[(HIP, "1x")], &[]),
            (&[(HIP, "1, 2")], &[1]),
            (&[(HIP, "1,9,2")], &[1]),
            (&[(CUDA, "1,2")], &[1, 2]),
            (&[(HIP, "3"), (CUDA, "1,2")], &[3]),
            (&[(HIP, ""), (CUDA, "1,2")], &[1, 2]),
            (&[(ROCR, "1,2,3"), (HIP, "0")], &[1]),
            (&[(ROCR, "1,2,3"), (HIP, "2,1")], &[3, 2]),
            (&[(ROCR, "3,1"), (HIP, "3")], &[]),
            (&[(ROCR, "3,1"), (CUDA, "1")], &[1]),
            (&[(ROCR, "3,1,3,2")], &[3, 1]),
            (&[(ROCR, "")], &[]),
        ];
        for (set, wanted) in rows {
            assert_eq!(seen(4, Interface::Hip, set).as_deref(), Ok(*wanted), "{set:?}");
        }
        assert_eq!(seen(4, Interface::Cuda, &[(HIP, "2"), (ROCR, "1")]), Ok(vec![0, 1, 2, 3]));
    }

    #[test]
    fn uuids_name_devices_by_as_many_digits_as_tell_them_apart() {
        let rows: &[(&str, &[u8])] = &[
            ("GPU-abababab-abab-abab-abab-ababababab02", &[2]),
            ("GPU-ABABABABABABABABABABABABABABAB01,0", &[1, 0]),
            ("GPU-abab", &[]),
            ("GPU-", &[]),
            ("GPU-cd", &[]),
        ];
        for (list, wanted) in rows {
            for (interface, name) in [
                (Interface::Cuda, "CUDA_VISIBLE_DEVICES"),
                (Interface::Hip, "HIP_VISIBLE_DEVICES"),
                (Interface::Hip, "ROCR_VISIBLE_DEVICES"),
            ] {
                assert_eq!(seen(3, interface, &[(name, list)]).as_deref(), Ok(*wanted), "{name}={list}");
            }
        }
        assert_eq!(seen(1, Interface::Cuda, &[("CUDA_VISIBLE_DEVICES", "GPU-ab")]), Ok(vec![0]));
    }
}
