//! `-q`: all that is known of each device, as text or as XML.

use std::fmt::Write as _;

use clap::ValueEnum;
use driver::inventory::NVIDIA_DRIVER;

use super::cuda_version;
use super::fields::{NONE, architecture_name};
use super::look::{Gpu, Look, mib, program};

/// The sections of `-d`. Those of which a CPU has nothing show N/A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Section {
    /// The device's memory
    Memory,
    /// How busy the device is
    Utilization,
    /// Error correction
    Ecc,
    /// Temperatures
    Temperature,
    /// Power
    Power,
    /// Clock rates
    Clock,
    /// The compute mode
    Compute,
    /// The processes on the device
    Pids,
    /// The performance state
    Performance,
    /// Clock rates that can be set
    SupportedClocks,
    /// Memory pages that are no longer used
    PageRetirement,
    /// Accounting of processes that have ended
    Accounting,
}

/// A row of the output. The rows after a heading that are indented further belong to it.
struct Row {
    depth: usize,
    label: &'static str,
    tag: &'static str,
    /// The section that it belongs to, if it is in one.
    section: Option<Section>,
    value: Value,
}

enum Value {
    /// The row is a heading.
    Heading,
    /// The value, or `None`.
    Of(for<'a> fn(&Gpu<'a>) -> Option<String>),
    /// A list of the processes.
    Processes,
}

const fn row(
    depth: usize,
    label: &'static str,
    tag: &'static str,
    section: Option<Section>,
    value: Value,
) -> Row {
    Row { depth, label, tag, section, value }
}

const fn some(label: &'static str, tag: &'static str, value: for<'a> fn(&Gpu<'a>) -> Option<String>) -> Row {
    row(0, label, tag, None, Value::Of(value))
}

const fn in_section(
    section: Section,
    label: &'static str,
    tag: &'static str,
    value: for<'a> fn(&Gpu<'a>) -> Option<String>,
) -> Row {
    row(1, label, tag, Some(section), Value::Of(value))
}

fn none(_: &Gpu<'_>) -> Option<String> {
    None
}

fn disabled(_: &Gpu<'_>) -> Option<String> {
    Some("Disabled".into())
}

fn in_mib(bytes: u64) -> Option<String> {
    Some(format!("{} MiB", mib(bytes)))
}

use Section::{
    Accounting, Clock, Compute, Ecc, Memory, PageRetirement, Performance, Pids, Power, SupportedClocks,
    Temperature, Utilization,
};

const ROWS: &[Row] = &[
    some("Product Name", "product_name", |gpu| Some(gpu.info.name.clone())),
    some("Product Brand", "product_brand", none),
    some("Product Architecture", "product_architecture", architecture_name),
    some("Display Mode", "display_mode", disabled),
    some("Display Active", "display_active", disabled),
    some("Persistence Mode", "persistence_mode", disabled),
    row(0, "Accounting Mode", "accounting_mode", Some(Accounting), Value::Of(none)),
    row(0, "MIG Mode", "mig_mode", None, Value::Heading),
    row(1, "Current", "current_mig", None, Value::Of(none)),
    row(1, "Pending", "pending_mig", None, Value::Of(none)),
    some("Serial Number", "serial", none),
    some("GPU UUID", "uuid", |gpu| Some(gpu.info.uuid_text())),
    some("Minor Number", "minor_number", |gpu| Some(gpu.index.to_string())),
    some("VBIOS Version", "vbios_version", none),
    some("MultiGPU Board", "multigpu_board", |_| Some("No".into())),
    row(0, "PCI", "pci", None, Value::Heading),
    row(1, "Bus", "pci_bus", None, Value::Of(|gpu| Some(format!("0x{:02X}", gpu.info.pci.1)))),
    row(1, "Device", "pci_device", None, Value::Of(|gpu| Some(format!("0x{:02X}", gpu.info.pci.2)))),
    row(1, "Domain", "pci_domain", None, Value::Of(|gpu| Some(format!("0x{:04X}", gpu.info.pci.0)))),
    row(1, "Device Id", "pci_device_id", None, Value::Of(|_| Some("0x00000000".into()))),
    row(1, "Bus Id", "pci_bus_id", None, Value::Of(|gpu| Some(gpu.info.bus_id()))),
    some("Fan Speed", "fan_speed", none),
    row(0, "Performance State", "performance_state", Some(Performance), Value::Of(none)),
    row(0, "FB Memory Usage", "fb_memory_usage", Some(Memory), Value::Heading),
    in_section(Memory, "Total", "total", |gpu| in_mib(gpu.memory().total)),
    in_section(Memory, "Reserved", "reserved", |gpu| in_mib(gpu.memory().reserved)),
    in_section(Memory, "Used", "used", |gpu| in_mib(gpu.memory().used)),
    in_section(Memory, "Free", "free", |gpu| in_mib(gpu.memory().free)),
    row(0, "BAR1 Memory Usage", "bar1_memory_usage", Some(Memory), Value::Heading),
    in_section(Memory, "Total", "total", none),
    in_section(Memory, "Used", "used", none),
    in_section(Memory, "Free", "free", none),
    row(0, "Compute Mode", "compute_mode", Some(Compute), Value::Of(|_| Some("Default".into()))),
    row(0, "Utilization", "utilization", Some(Utilization), Value::Heading),
    in_section(Utilization, "GPU", "gpu_util", |gpu| gpu.utilisation().map(|percent| format!("{percent} %"))),
    in_section(Utilization, "Memory", "memory_util", none),
    in_section(Utilization, "Encoder", "encoder_util", none),
    in_section(Utilization, "Decoder", "decoder_util", none),
    row(0, "ECC Mode", "ecc_mode", Some(Ecc), Value::Heading),
    in_section(Ecc, "Current", "current_ecc", none),
    in_section(Ecc, "Pending", "pending_ecc", none),
    row(0, "Retired Pages", "retired_pages", Some(PageRetirement), Value::Heading),
    in_section(PageRetirement, "Pending", "pending_retirement", none),
    row(0, "Temperature", "temperature", Some(Temperature), Value::Heading),
    in_section(Temperature, "GPU Current Temp", "gpu_temp", none),
    row(0, "GPU Power Readings", "gpu_power_readings", Some(Power), Value::Heading),
    in_section(Power, "Instantaneous Power Draw", "instant_power_draw", none),
    in_section(Power, "Current Power Limit", "current_power_limit", none),
    row(0, "Clocks", "clocks", Some(Clock), Value::Heading),
    in_section(Clock, "Graphics", "graphics_clock", none),
    in_section(Clock, "SM", "sm_clock", none),
    in_section(Clock, "Memory", "mem_clock", none),
    row(0, "Max Clocks", "max_clocks", Some(Clock), Value::Heading),
    in_section(Clock, "Graphics", "graphics_clock", none),
    in_section(Clock, "SM", "sm_clock", none),
    in_section(Clock, "Memory", "mem_clock", none),
    row(0, "Supported Clocks", "supported_clocks", Some(SupportedClocks), Value::Of(none)),
    row(0, "Processes", "processes", Some(Pids), Value::Processes),
];

/// What is printed: a value or nodes under a heading.
struct Node {
    label: String,
    tag: &'static str,
    /// What XML has behind the tag.
    id: Option<String>,
    value: Option<String>,
    inner: Vec<Node>,
}

impl Node {
    fn leaf(label: &str, tag: &'static str, value: impl Into<String>) -> Node {
        Node { label: label.into(), tag, id: None, value: Some(value.into()), inner: Vec::new() }
    }

    fn heading(label: &str, tag: &'static str, inner: Vec<Node>) -> Node {
        Node { label: label.into(), tag, id: None, value: None, inner }
    }

    fn write_text(&self, depth: usize, out: &mut String) {
        /// The column of the colon.
        const COLON: usize = 42;
        let indent = " ".repeat(4 * depth);
        let Node { label, value, inner, .. } = self;
        let _ = match value {
            Some(value) => writeln!(out, "{indent}{label:<width$}: {value}", width = COLON - indent.len()),
            None => writeln!(out, "{indent}{label}"),
        };
        inner.iter().for_each(|node| node.write_text(depth + 1, out));
    }

    fn write_xml(&self, depth: usize, out: &mut String) {
        let indent = "\t".repeat(depth);
        let Node { tag, id, value, inner, .. } = self;
        let id = id.as_ref().map(|id| format!(" id=\"{}\"", escaped(id))).unwrap_or_default();
        // A node of XML has either a value or others inside.
        if inner.is_empty() {
            let value = value.as_deref().map(escaped).unwrap_or_default();
            let _ = writeln!(out, "{indent}<{tag}{id}>{value}</{tag}>");
        } else {
            let _ = writeln!(out, "{indent}<{tag}{id}>");
            inner.iter().for_each(|node| node.write_xml(depth + 1, out));
            let _ = writeln!(out, "{indent}</{tag}>");
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The devices, or those of their sections that are asked for.
pub fn print(look: &Look<'_>, sections: &[Section], xml: bool) -> String {
    let mut top = vec![
        Node::leaf("Timestamp", "timestamp", look.time(c"%a %b %e %H:%M:%S %Y")),
        Node::leaf("Driver Version", "driver_version", NVIDIA_DRIVER),
        Node::leaf("CUDA Version", "cuda_version", cuda_version()),
        Node::leaf("Attached GPUs", "attached_gpus", look.gpus.len().to_string()),
    ];
    top.extend(look.gpus.iter().map(|gpu| device(gpu, sections, xml)));
    let mut out = String::new();
    if xml {
        out.push_str(
            "<?xml version=\"1.0\" ?>\n<!-- Written by Anywarp, an independent implementation -->\n",
        );
        Node::heading("", "nvidia_smi_log", top).write_xml(0, &mut out);
    } else {
        out.push_str("\n==============Anywarp SMI LOG==============\n\n");
        for node in &top {
            node.write_text(0, &mut out);
            if matches!(node.tag, "cuda_version" | "gpu") {
                out.push('\n');
            }
        }
    }
    out
}

fn device(gpu: &Gpu<'_>, sections: &[Section], xml: bool) -> Node {
    let mut inner: Vec<Node> = Vec::new();
    let wanted =
        |row: &&Row| sections.is_empty() || row.section.is_some_and(|section| sections.contains(&section));
    for row in ROWS.iter().filter(wanted) {
        let node = match row.value {
            Value::Heading => Node::heading(row.label, row.tag, Vec::new()),
            Value::Of(value) => Node::leaf(row.label, row.tag, value(gpu).unwrap_or_else(|| NONE.into())),
            Value::Processes => processes(gpu, xml),
        };
        match inner.last_mut().filter(|_| row.depth > 0) {
            Some(heading) => heading.inner.push(node),
            None => inner.push(node),
        }
    }
    let mut node = Node::heading(&format!("GPU {}", gpu.info.bus_id()), "gpu", inner);
    node.id = Some(gpu.info.bus_id());
    node
}

fn processes(gpu: &Gpu<'_>, xml: bool) -> Node {
    let clients = gpu.clients();
    if clients.is_empty() {
        return Node::leaf("Processes", "processes", if xml { "" } else { "None" });
    }
    let mut all = Vec::new();
    for client in clients {
        let mut rows = vec![
            Node::leaf("GPU instance ID", "gpu_instance_id", NONE),
            Node::leaf("Compute instance ID", "compute_instance_id", NONE),
            Node::leaf("Process ID", "pid", client.process.to_string()),
        ];
        let more = vec![
            Node::leaf("Type", "type", "C"),
            Node::leaf("Name", "process_name", program(client)),
            Node::leaf("Used GPU Memory", "used_memory", in_mib(client.used).unwrap_or_default()),
        ];
        if xml {
            rows.extend(more);
            all.push(Node::heading("", "process_info", rows));
        } else {
            // In text, a process's properties stand below its number.
            if let Some(process) = rows.last_mut() {
                process.inner = more;
            }
            all.extend(rows);
        }
    }
    Node::heading("Processes", "processes", all)
}
