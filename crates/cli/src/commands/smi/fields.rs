//! The fields of `--query-gpu` and `--query-compute-apps`.

use driver::inventory::{Client, NVIDIA_DRIVER, architecture};

use super::look::{Gpu, Look, mib, program};

/// What stands for a value that a CPU does not have.
pub const NONE: &str = "N/A";

/// What the fields of a line are about.
pub struct Entry<'a> {
    /// All devices, with the time.
    pub look: &'a Look<'a>,
    /// The device.
    pub gpu: &'a Gpu<'a>,
    /// The process, in a table of processes.
    pub client: Option<Client>,
}

/// A field.
pub struct Field {
    /// Its names; the first one is printed.
    names: &'static [&'static str],
    /// The unit that follows values.
    pub unit: &'static str,
    /// What it means, for help.
    meaning: &'static str,
    /// Its value; `None` if there is none.
    pub value: for<'a> fn(&Entry<'a>) -> Option<String>,
}

impl Field {
    /// The name as the first line of a table has it.
    pub fn heading(&self) -> String {
        let name = self.names.first().unwrap_or(&"");
        if self.unit.is_empty() { name.to_string() } else { format!("{name} [{}]", self.unit) }
    }
}

/// A table of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// A line for each device.
    Gpus,
    /// A line for each process on a device.
    Apps,
}

impl Table {
    fn fields(self) -> (&'static [Field], &'static [Field]) {
        match self {
            Table::Gpus => (GPU, WITHOUT_A_VALUE),
            Table::Apps => (APP, &[]),
        }
    }

    /// The fields of these names, or the sentence that names the first that does not exist.
    pub fn find(self, names: &[String]) -> Result<Vec<&'static Field>, String> {
        let (with, without) = self.fields();
        let find = |name: &String| {
            let name = name.trim();
            let found = with.iter().chain(without).find(|field| field.names.contains(&name));
            found.ok_or_else(|| format!("Field \"{name}\" is not a valid field to query."))
        };
        names.iter().map(find).collect()
    }

    /// The list of all fields.
    pub fn help(self) -> String {
        let (with, without) = self.fields();
        let names = |field: &Field| {
            field.names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(" or ")
        };
        let mut out: String =
            with.iter().map(|field| format!("{}\n    {}\n\n", names(field), field.meaning)).collect();
        if !without.is_empty() {
            out.push_str("A CPU has no value ([N/A]) for:\n\n");
            out.extend(without.iter().map(|field| format!("{}\n", names(field))));
        }
        out
    }
}

/// A field with a value: names, unit, meaning, value.
const fn field(
    names: &'static [&'static str],
    unit: &'static str,
    meaning: &'static str,
    value: for<'a> fn(&Entry<'a>) -> Option<String>,
) -> Field {
    Field { names, unit, meaning, value }
}

const fn without(unit: &'static str, names: &'static [&'static str]) -> Field {
    Field { names, unit, meaning: "", value: |_| None }
}

fn disabled(_: &Entry<'_>) -> Option<String> {
    Some("Disabled".into())
}

fn timestamp(e: &Entry<'_>) -> Option<String> {
    Some(format!("{}.{:03}", e.look.time(c"%Y/%m/%d %H:%M:%S"), e.look.milliseconds()))
}

fn name(e: &Entry<'_>) -> Option<String> {
    Some(e.gpu.info.name.clone())
}

fn uuid(e: &Entry<'_>) -> Option<String> {
    Some(e.gpu.info.uuid_text())
}

fn bus_id(e: &Entry<'_>) -> Option<String> {
    Some(e.gpu.info.bus_id())
}

/// The fields of devices that have a value.
const GPU: &[Field] = &[
    field(&["timestamp"], "", "The local time: YYYY/MM/DD HH:MM:SS.mmm", timestamp),
    field(
        &["driver_version"],
        "",
        "The version of NVIDIA's driver whose interface Anywarp implements",
        |_| Some(NVIDIA_DRIVER.into()),
    ),
    field(&["count"], "", "The number of devices", |e| Some(e.gpu.count().to_string())),
    field(&["name", "gpu_name"], "", "The device's name", name),
    field(&["uuid", "gpu_uuid"], "", "The device's UUID", uuid),
    field(&["index"], "", "The device's number, from 0", |e| Some(e.gpu.index.to_string())),
    field(
        &["pci.bus_id", "gpu_bus_id"],
        "",
        "The PCI address under which programs find the device, domain:bus:device.function",
        bus_id,
    ),
    field(&["pci.domain"], "", "The domain of that address", |e| Some(format!("0x{:04X}", e.gpu.info.pci.0))),
    field(&["pci.bus"], "", "The bus of that address", |e| Some(format!("0x{:02X}", e.gpu.info.pci.1))),
    field(&["pci.device"], "", "The device of that address", |e| Some(format!("0x{:02X}", e.gpu.info.pci.2))),
    field(&["pci.device_id"], "", "Always 0: nothing of a vendor is on the bus there", |_| {
        Some("0x00000000".into())
    }),
    field(&["pci.sub_device_id"], "", "Always 0, for the same reason", |_| Some("0x00000000".into())),
    field(&["compute_cap"], "", "The compute capability (ANYWARP_COMPUTE_CAPABILITY)", |e| {
        let (major, minor) = e.gpu.info.compute_capability;
        Some(format!("{major}.{minor}"))
    }),
    field(&["compute_mode"], "", "Always Default: any number of processes may use the device", |_| {
        Some("Default".into())
    }),
    field(&["display_mode"], "", "Always Disabled: there is no display", disabled),
    field(&["display_attached"], "", "Always No: there is no display", |_| Some("No".into())),
    field(&["display_active"], "", "Always Disabled: there is no display", disabled),
    field(&["persistence_mode"], "", "Always Disabled: a process's driver ends with the process", disabled),
    field(&["memory.total"], "MiB", "The device's memory (ANYWARP_MEMORY)", |e| {
        Some(mib(e.gpu.memory().total).to_string())
    }),
    field(&["memory.reserved"], "MiB", "Memory that no program can allocate", |e| {
        Some(mib(e.gpu.memory().reserved).to_string())
    }),
    field(&["memory.used"], "MiB", "Memory that the processes have allocated which you may inspect", |e| {
        Some(mib(e.gpu.memory().used).to_string())
    }),
    field(&["memory.free"], "MiB", "The rest of the memory", |e| Some(mib(e.gpu.memory().free).to_string())),
    field(&["utilization.gpu"], "%", "How busy the machine's CPU is, with any program", |e| {
        e.gpu.utilisation().map(|percent| percent.to_string())
    }),
];

/// The fields of processes.
const APP: &[Field] = &[
    field(&["timestamp"], "", "The local time: YYYY/MM/DD HH:MM:SS.mmm", timestamp),
    field(&["gpu_name"], "", "The device's name", name),
    field(&["gpu_bus_id"], "", "The device's PCI address", bus_id),
    field(&["gpu_serial"], "", "Always [N/A]: no device has a serial number", |_| None),
    field(&["gpu_uuid"], "", "The device's UUID", uuid),
    field(&["pid"], "", "The process", |e| Some(e.client?.process.to_string())),
    field(&["process_name", "name"], "", "The program that the process runs", |e| {
        e.client.as_ref().map(program)
    }),
    field(
        &["used_gpu_memory", "used_memory"],
        "MiB",
        "The memory that it has allocated on the device",
        |e| Some(mib(e.client?.used).to_string()),
    ),
];

/// Fields of nvidia-smi for which a CPU has no value.
const WITHOUT_A_VALUE: &[Field] = &[
    without("", &["serial", "gpu_serial"]),
    without("", &["vgpu_driver_capability.heterogenous_multivGPU"]),
    without("", &["vgpu_device_capability.fractional_multiVgpu"]),
    without("", &["vgpu_device_capability.heterogeneous_timeSlice_profile"]),
    without("", &["vgpu_device_capability.heterogeneous_timeSlice_sizes"]),
    without("", &["pci.baseClass"]),
    without("", &["pci.subClass"]),
    without("", &["pcie.link.gen.gpucurrent", "pcie.link.gen.current"]),
    without("", &["pcie.link.gen.max"]),
    without("", &["pcie.link.gen.gpumax"]),
    without("", &["pcie.link.gen.hostmax"]),
    without("", &["pcie.link.width.current"]),
    without("", &["pcie.link.width.max"]),
    without("", &["addressing_mode"]),
    without("", &["accounting.mode"]),
    without("", &["accounting.buffer_size"]),
    without("", &["driver_model.current"]),
    without("", &["driver_model.pending"]),
    without("", &["vbios_version"]),
    without("", &["inforom.img", "inforom.image"]),
    without("", &["inforom.oem"]),
    without("", &["inforom.ecc"]),
    without("", &["inforom.pwr", "inforom.power"]),
    without("", &["gpu_recovery_action"]),
    without("", &["gom.current", "gpu_operation_mode.current"]),
    without("", &["gom.pending", "gpu_operation_mode.pending"]),
    without("%", &["fan.speed"]),
    without("", &["pstate"]),
    without("", &["clocks_event_reasons.supported", "clocks_throttle_reasons.supported"]),
    without("", &["clocks_event_reasons.active", "clocks_throttle_reasons.active"]),
    without("", &["clocks_event_reasons.gpu_idle", "clocks_throttle_reasons.gpu_idle"]),
    without(
        "",
        &[
            "clocks_event_reasons.applications_clocks_setting",
            "clocks_throttle_reasons.applications_clocks_setting",
        ],
    ),
    without("", &["clocks_event_reasons.sw_power_cap", "clocks_throttle_reasons.sw_power_cap"]),
    without("", &["clocks_event_reasons.hw_slowdown", "clocks_throttle_reasons.hw_slowdown"]),
    without("", &["clocks_event_reasons.hw_thermal_slowdown", "clocks_throttle_reasons.hw_thermal_slowdown"]),
    without(
        "",
        &["clocks_event_reasons.hw_power_brake_slowdown", "clocks_throttle_reasons.hw_power_brake_slowdown"],
    ),
    without("", &["clocks_event_reasons.sw_thermal_slowdown", "clocks_throttle_reasons.sw_thermal_slowdown"]),
    without("", &["clocks_event_reasons.sync_boost", "clocks_throttle_reasons.sync_boost"]),
    without("%", &["utilization.memory"]),
    without("%", &["utilization.encoder"]),
    without("%", &["utilization.decoder"]),
    without("%", &["utilization.jpeg"]),
    without("%", &["utilization.ofa"]),
    without("", &["encoder.stats.sessionCount"]),
    without("", &["encoder.stats.averageFps"]),
    without("", &["encoder.stats.averageLatency"]),
    without("", &["ecc.mode.current"]),
    without("", &["ecc.mode.pending"]),
    without("", &["ecc.errors.corrected.volatile.device_memory"]),
    without("", &["ecc.errors.corrected.volatile.dram"]),
    without("", &["ecc.errors.corrected.volatile.register_file"]),
    without("", &["ecc.errors.corrected.volatile.l1_cache"]),
    without("", &["ecc.errors.corrected.volatile.l2_cache"]),
    without("", &["ecc.errors.corrected.volatile.texture_memory"]),
    without("", &["ecc.errors.corrected.volatile.cbu"]),
    without("", &["ecc.errors.corrected.volatile.sram"]),
    without("", &["ecc.errors.corrected.volatile.total"]),
    without("", &["ecc.errors.corrected.aggregate.device_memory"]),
    without("", &["ecc.errors.corrected.aggregate.dram"]),
    without("", &["ecc.errors.corrected.aggregate.register_file"]),
    without("", &["ecc.errors.corrected.aggregate.l1_cache"]),
    without("", &["ecc.errors.corrected.aggregate.l2_cache"]),
    without("", &["ecc.errors.corrected.aggregate.texture_memory"]),
    without("", &["ecc.errors.corrected.aggregate.cbu"]),
    without("", &["ecc.errors.corrected.aggregate.sram"]),
    without("", &["ecc.errors.corrected.aggregate.total"]),
    without("", &["ecc.errors.uncorrected.volatile.device_memory"]),
    without("", &["ecc.errors.uncorrected.volatile.dram"]),
    without("", &["ecc.errors.uncorrected.volatile.register_file"]),
    without("", &["ecc.errors.uncorrected.volatile.l1_cache"]),
    without("", &["ecc.errors.uncorrected.volatile.l2_cache"]),
    without("", &["ecc.errors.uncorrected.volatile.texture_memory"]),
    without("", &["ecc.errors.uncorrected.volatile.cbu"]),
    without("", &["ecc.errors.uncorrected.volatile.sram"]),
    without("", &["ecc.errors.uncorrected.volatile.total"]),
    without("", &["ecc.errors.uncorrected.aggregate.device_memory"]),
    without("", &["ecc.errors.uncorrected.aggregate.dram"]),
    without("", &["ecc.errors.uncorrected.aggregate.register_file"]),
    without("", &["ecc.errors.uncorrected.aggregate.l1_cache"]),
    without("", &["ecc.errors.uncorrected.aggregate.l2_cache"]),
    without("", &["ecc.errors.uncorrected.aggregate.texture_memory"]),
    without("", &["ecc.errors.uncorrected.aggregate.cbu"]),
    without("", &["ecc.errors.uncorrected.aggregate.sram"]),
    without("", &["ecc.errors.uncorrected.aggregate.total"]),
    without("", &["retired_pages.single_bit_ecc.count", "retired_pages.sbe"]),
    without("", &["retired_pages.double_bit.count", "retired_pages.dbe"]),
    without("", &["retired_pages.pending"]),
    without("", &["temperature.gpu"]),
    without("", &["temperature.gpu.tlimit"]),
    without("", &["temperature.memory"]),
    without("", &["power.management"]),
    without("W", &["power.draw"]),
    without("W", &["power.draw.average"]),
    without("W", &["power.draw.instant"]),
    without("W", &["power.limit"]),
    without("W", &["enforced.power.limit"]),
    without("W", &["power.default_limit"]),
    without("W", &["power.min_limit"]),
    without("W", &["power.max_limit"]),
    without("MHz", &["clocks.current.graphics", "clocks.gr"]),
    without("MHz", &["clocks.current.sm", "clocks.sm"]),
    without("MHz", &["clocks.current.memory", "clocks.mem"]),
    without("MHz", &["clocks.current.video", "clocks.video"]),
    without("MHz", &["clocks.applications.graphics", "clocks.applications.gr"]),
    without("MHz", &["clocks.applications.memory", "clocks.applications.mem"]),
    without("MHz", &["clocks.default_applications.graphics", "clocks.default_applications.gr"]),
    without("MHz", &["clocks.default_applications.memory", "clocks.default_applications.mem"]),
    without("MHz", &["clocks.max.graphics", "clocks.max.gr"]),
    without("MHz", &["clocks.max.sm"]),
    without("MHz", &["clocks.max.memory", "clocks.max.mem"]),
    without("", &["mig.mode.current"]),
    without("", &["mig.mode.pending"]),
    without("", &["gsp.mode.current"]),
    without("", &["gsp.mode.default"]),
    without("", &["c2c.mode"]),
    without("MiB", &["protected_memory.total"]),
    without("MiB", &["protected_memory.used"]),
    without("MiB", &["protected_memory.free"]),
    without("", &["fabric.state"]),
    without("", &["fabric.status"]),
];

/// The name of the architecture that belongs to a device's compute capability.
pub fn architecture_name(gpu: &Gpu<'_>) -> Option<String> {
    architecture(gpu.info.compute_capability).map(|found| found.1.into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_name_stands_for_one_field() {
        for table in [Table::Gpus, Table::Apps] {
            let (with, without) = table.fields();
            let names: Vec<&str> =
                with.iter().chain(without).flat_map(|field| field.names).copied().collect();
            assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{table:?}");
            assert!(with.iter().all(|field| !field.meaning.is_empty()), "{table:?}");
        }
    }

    #[test]
    fn headings_have_the_first_name_and_the_unit() {
        let headings = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            Table::Gpus.find(&names).map(|fields| fields.iter().map(|f| f.heading()).collect::<Vec<_>>())
        };
        let found = headings(&["gpu_name", " clocks.gr", "memory.total"]).expect("known");
        assert_eq!(found, ["name", "clocks.current.graphics [MHz]", "memory.total [MiB]"]);
        assert_eq!(headings(&["name", "pid"]), Err("Field \"pid\" is not a valid field to query.".into()));
    }
}
