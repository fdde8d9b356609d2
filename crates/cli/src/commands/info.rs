//! `anywarp info`: describes the environment that programs will find.

use std::fmt::Write;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use cpu::{Cpu, Making, Settings};
use driver::backend::Backend;
use driver::inventory::Inventory;
use host::options::{Origin, Reading, Row};
use serde::Serialize;
use simd::llvm::Llvm;

use crate::{install, table};

/// Show what programs will find: devices, CPU features in use, LLVM, the cache
#[derive(clap::Args)]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Info {
    version: &'static str,
    /// The path of `libcuda.so.1`; null if it is not found.
    driver: Option<PathBuf>,
    devices: Vec<Device>,
    /// Why the devices have less memory than the machine or `ANYWARP_MEMORY` would give them.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_limit: Option<&'static str>,
    cpu: Processor,
    /// `compiled` or `interpreter`.
    engine: &'static str,
    /// The path of LLVM; null if it is not found, in which case kernels are interpreted.
    llvm: Option<PathBuf>,
    /// Null if the cache is disabled.
    cache: Option<Kept>,
    /// Why LLVM is missing or the cache cannot be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<String>,
    /// An option that the user can set.
    options: Vec<Choice>,
    /// Variables of the environment that are named like options but are none: perhaps misspelt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<String>,
}

/// The environment variable.
#[derive(Serialize)]
struct Choice {
    name: &'static str,
    /// The value in effect; null if there is none.
    value: Option<String>,
    /// `default`; `environment`; `refused`: the variable's value is invalid; `ignored`: it names a path, and
    /// this program has more rights than its user.
    origin: &'static str,
    /// What the variable accepts, if its value was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    wanted: Option<String>,
    meaning: String,
}

#[derive(Serialize)]
struct Device {
    ordinal: usize,
    name: String,
    compute_capability: String,
    multiprocessors: u32,
    memory_bytes: u64,
    pci_bus_id: String,
}

#[derive(Serialize)]
struct Processor {
    model: String,
    threads: usize,
    /// The processor that code is generated for, by LLVM's name, and additional features.
    target: &'static str,
    features: Vec<String>,
}

#[derive(Serialize)]
struct Kept {
    folder: PathBuf,
    kernels: usize,
    bytes: u64,
}

fn model() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    line.map_or_else(|| std::env::consts::ARCH.into(), |(_, name)| name.trim().into())
}

fn choices(reading: &Reading) -> Vec<Choice> {
    let choice = |(row, origin): (&'static Row, &Origin)| Choice {
        name: row.name,
        value: row.shown(&reading.options),
        origin: match origin {
            Origin::Default => "default",
            Origin::Environment => "environment",
            Origin::Refused { .. } => "refused",
            Origin::Ignored => "ignored",
        },
        wanted: match origin {
            Origin::Refused { wanted, .. } => Some(wanted.clone()),
            _ => None,
        },
        meaning: row.plain_meaning(),
    };
    reading.rows().map(choice).collect()
}

/// The variables `ANYWARP_...` of the environment that no option has, in order.
fn unknown() -> Vec<String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let is_ours = |name: &String| host::options::ROWS.iter().any(|row| row.name == name);
    let mut names: Vec<String> = names.filter(|n| n.starts_with("ANYWARP_") && !is_ours(n)).collect();
    names.sort();
    names
}

fn gather(reading: &Reading) -> Info {
    let settings = Settings::of(&reading.options);
    let Making { target, cache, llvm, .. } = settings.making.clone();
    let engine = settings.engine.name();
    let Inventory { devices, limit, .. } = Inventory::of(Cpu::new(settings).devices());
    let devices = devices.into_iter().enumerate().map(|(ordinal, device)| {
        let ((major, minor), (domain, bus, slot)) = (device.compute_capability, device.pci);
        Device {
            ordinal,
            name: device.name,
            compute_capability: format!("{major}.{minor}"),
            multiprocessors: device.multiprocessors,
            memory_bytes: device.total_memory,
            pci_bus_id: format!("{domain:04X}:{bus:02X}:{slot:02X}.0"),
        }
    });
    let mut refused = Vec::new();
    let llvm = Llvm::locate(&llvm).map_err(|error| refused.push(error.to_string())).ok();
    let cache = cache.and_then(|cache| match cache.items() {
        Ok(items) => Some(Kept {
            folder: cache.folder().into(),
            kernels: items.iter().filter(|item| !item.unfinished).count(),
            bytes: items.iter().map(|item| item.size).sum(),
        }),
        Err(error) => {
            refused.push(format!("the cache in {} is not used: {error}", cache.folder().display()));
            None
        }
    });
    Info {
        version: env!("CARGO_PKG_VERSION"),
        driver: install::library_folder(&reading.options).ok().map(|folder| folder.join(install::LIBCUDA)),
        devices: devices.collect(),
        memory_limit: limit,
        cpu: Processor {
            model: model(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            target: target.cpu,
            features: target
                .features
                .split(',')
                .filter_map(|f| f.strip_prefix('+'))
                .map(String::from)
                .collect(),
        },
        engine,
        llvm,
        cache,
        refused,
        options: choices(reading),
        unknown: unknown(),
    }
}

fn text(info: &Info) -> String {
    let path = |found: &Option<PathBuf>, missing: &str| {
        found.as_ref().map_or_else(|| missing.to_string(), |path| path.display().to_string())
    };
    let mut out = format!("anywarp   {}\n", info.version);
    let _ = writeln!(out, "driver    {}", path(&info.driver, "not found: build it, or set ANYWARP_LIB"));
    for d in &info.devices {
        let _ = writeln!(
            out,
            "device {:<2} {}, compute capability {}, {} multiprocessors, {}, PCI {}",
            d.ordinal,
            d.name,
            d.compute_capability,
            d.multiprocessors,
            table::bytes(d.memory_bytes),
            d.pci_bus_id
        );
    }
    if let Some(limit) = info.memory_limit {
        let _ = writeln!(out, "          {limit}, so devices have less memory");
    }
    let _ = writeln!(out, "cpu       {}, {} threads", info.cpu.model, info.cpu.threads);
    let extra = info.cpu.features.iter().map(|f| format!(", {f}")).collect::<String>();
    let _ = match &info.llvm {
        Some(_) => writeln!(out, "code      {}, for {}{extra}", info.engine, info.cpu.target),
        None => writeln!(out, "code      interpreted"),
    };
    let _ = writeln!(out, "llvm      {}", path(&info.llvm, "not found: kernels are interpreted"));
    let _ = match &info.cache {
        Some(c) => {
            writeln!(
                out,
                "cache     {}, {} kernels, {}",
                c.folder.display(),
                c.kernels,
                table::bytes(c.bytes)
            )
        }
        None => writeln!(out, "cache     none"),
    };
    for reason in &info.refused {
        let _ = writeln!(out, "{reason}");
    }
    out.push('\n');
    let names = info.options.iter().map(|choice| choice.name).chain(info.unknown.iter().map(String::as_str));
    let width = names.map(str::len).max().unwrap_or(0);
    for choice in &info.options {
        let value = choice.value.as_deref().unwrap_or("-");
        let _ = writeln!(out, "{:<width$}  {:<11}  {value}", choice.name, choice.origin);
    }
    for name in &info.unknown {
        let _ = writeln!(out, "{:<width$}  unknown: no part of the driver reads it", name.escape_debug());
    }
    out
}

/// Runs the subcommand.
pub fn run(args: Args, reading: &Reading) -> Result<ExitCode> {
    let info = gather(reading);
    if args.json {
        writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&info)?)?;
    } else {
        write!(io::stdout(), "{}", text(&info))?;
    }
    Ok(ExitCode::SUCCESS)
}
