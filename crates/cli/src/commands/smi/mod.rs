//! `anywarp smi`: the driver's devices in the formats of `nvidia-smi`, which scripts read. The script
//! `nvidia-smi` in the driver's folder runs it.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use driver::inventory::{Inventory, NVIDIA_DRIVER};
use host::options::Options;

mod details;
mod fields;
mod format;
mod look;
mod summary;

use details::Section;
use fields::Table;
use format::Format;
use look::Look;

/// What cannot be asked for with -q or its options.
const OTHERS: [&str; 3] = ["list_gpus", "query_gpu", "query_compute_apps"];

/// Show the devices and the processes on them, with the options and formats of nvidia-smi
///
/// This is Anywarp's independent implementation. Programs under `anywarp run` find it as `nvidia-smi`.
/// Without an option it prints a table. What a CPU lacks, such as fans, is N/A.
#[derive(clap::Args)]
#[command(
    after_help = "Exit status: 0, 2 for an invalid option, field or format, 6 if no device was found.\n\
    Example: anywarp smi --query-gpu=index,name,memory.used --format=csv,noheader"
)]
pub struct Args {
    /// List the devices with their UUIDs
    #[arg(short = 'L', long, group = "what")]
    list_gpus: bool,

    /// Show everything that is known of each device
    #[arg(short, long, group = "what")]
    query: bool,

    /// Only these sections, with -q
    #[arg(
        short,
        long,
        requires = "query",
        conflicts_with_all = OTHERS,
        value_delimiter = ',',
        value_enum,
        ignore_case = true,
        value_name = "SECTION"
    )]
    display: Vec<Section>,

    /// Print XML, with -q
    #[arg(short, long, requires = "query", conflicts_with_all = OTHERS)]
    xml_format: bool,

    /// Print these fields of each device (--help-query-gpu lists them)
    #[arg(long, groups = ["what", "fields"], requires = "format", value_delimiter = ',', value_name = "FIELD")]
    query_gpu: Vec<String>,

    /// Print these fields of each process on a device (--help-query-compute-apps lists them)
    #[arg(long, groups = ["what", "fields"], requires = "format", value_delimiter = ',', value_name = "FIELD")]
    query_compute_apps: Vec<String>,

    /// csv, with noheader and nounits if wanted
    #[arg(long, requires = "fields", value_delimiter = ',', value_name = "WORD")]
    format: Vec<String>,

    /// List the fields of --query-gpu
    #[arg(long, group = "what")]
    help_query_gpu: bool,

    /// List the fields of --query-compute-apps
    #[arg(long, group = "what")]
    help_query_compute_apps: bool,

    /// Only these devices: number, UUID or PCI address
    #[arg(short, long, value_delimiter = ',', value_name = "DEVICE")]
    id: Vec<String>,

    /// Repeat at this interval in seconds, 5 by default, until interrupted
    #[arg(short, long, num_args = 0..=1, default_missing_value = "5", value_name = "SECONDS",
        value_parser = clap::value_parser!(u32).range(1..))]
    r#loop: Option<u32>,

    /// Repeat at this interval in milliseconds (also `-lms`)
    #[arg(long, conflicts_with = "loop", value_name = "MILLISECONDS",
        value_parser = clap::value_parser!(u32).range(1..))]
    loop_ms: Option<u32>,

    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    filename: Option<PathBuf>,

    /// Print versions
    #[arg(long, group = "what")]
    version: bool,
}

/// The status for an invalid field or format, as nvidia-smi has it.
const INVALID: u8 = 2;
/// The status if a device is not there.
const NOT_FOUND: u8 = 6;

/// `arguments` with the long name of `-lms`, the only option of `anywarp smi` with several letters after one
/// dash.
pub fn with_long_names(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> Vec<std::ffi::OsString> {
    let mut arguments: Vec<_> = arguments.into_iter().collect();
    if arguments.get(1).is_some_and(|command| command == "smi") {
        for argument in arguments.iter_mut().filter(|argument| *argument == "-lms") {
            *argument = "--loop-ms".into();
        }
    }
    arguments
}

/// The version of CUDA, as `13.0`.
fn cuda_version() -> String {
    format!("{}.{}", driver::VERSION / 1000, driver::VERSION % 1000 / 10)
}

fn versions() -> String {
    let rows = [
        (
            "Anywarp SMI version",
            concat!(env!("CARGO_PKG_VERSION"), " (an independent implementation)").into(),
        ),
        ("NVML version", format!("{}.{NVIDIA_DRIVER}", driver::VERSION / 1000)),
        ("DRIVER version", NVIDIA_DRIVER.into()),
        ("CUDA Version", cuda_version()),
    ];
    rows.map(|(label, value)| format!("{label:<20}: {value}\n")).concat()
}

/// What the arguments ask for, once it is known to be valid.
enum View {
    Summary,
    List,
    Details { sections: Vec<Section>, xml: bool },
    Fields { table: Table, rows: Vec<&'static fields::Field>, format: Format },
}

impl View {
    /// The view, or the sentence that says what is wrong with the arguments.
    fn of(args: &Args) -> Result<View, String> {
        if args.list_gpus {
            return Ok(View::List);
        }
        if args.query {
            return Ok(View::Details { sections: args.display.clone(), xml: args.xml_format });
        }
        let asked = [(Table::Gpus, &args.query_gpu), (Table::Apps, &args.query_compute_apps)];
        match asked.into_iter().find(|(_, names)| !names.is_empty()) {
            Some((table, names)) => {
                let format = Format::of(&args.format)?;
                Ok(View::Fields { table, rows: table.find(names)?, format })
            }
            None => Ok(View::Summary),
        }
    }

    fn print(&self, look: &Look<'_>, first: bool) -> String {
        match self {
            View::Summary => summary::print(look),
            View::List => {
                let line = |gpu: &look::Gpu<'_>| {
                    format!("GPU {}: {} (UUID: {})\n", gpu.index, gpu.info.name, gpu.info.uuid_text())
                };
                look.gpus.iter().map(line).collect()
            }
            View::Details { sections, xml } => details::print(look, sections, *xml),
            View::Fields { table, rows, format } => format.print(look, *table, rows, first),
        }
    }
}

/// Runs the subcommand.
pub fn run(args: &Args, options: &Options) -> Result<ExitCode> {
    let texts = [
        (args.version, versions as fn() -> String),
        (args.help_query_gpu, || Table::Gpus.help()),
        (args.help_query_compute_apps, || Table::Apps.help()),
    ];
    if let Some((_, text)) = texts.iter().find(|(asked, _)| *asked) {
        write!(io::stdout(), "{}", text())?;
        return Ok(ExitCode::SUCCESS);
    }
    // Scripts look for these messages on standard output, where nvidia-smi prints them.
    let view = match View::of(args) {
        Ok(view) => view,
        Err(sentence) => {
            writeln!(io::stdout(), "{sentence}\n")?;
            return Ok(ExitCode::from(INVALID));
        }
    };
    let inventory = Inventory::of(cpu::devices(options));
    let Some(chosen) = look::choose(&inventory, &args.id) else {
        writeln!(io::stdout(), "No devices were found")?;
        return Ok(ExitCode::from(NOT_FOUND));
    };
    let pause = args.loop_ms.map(|ms| Duration::from_millis(ms.into()));
    let pause = pause.or(args.r#loop.map(|seconds| Duration::from_secs(seconds.into())));
    let mut file = match &args.filename {
        Some(path) => {
            Some(fs::File::create(path).with_context(|| format!("cannot write {}", path.display()))?)
        }
        None => None,
    };
    let mut first = true;
    loop {
        let text = view.print(&Look::new(&inventory, &chosen), first);
        match &mut file {
            Some(file) => file.write_all(text.as_bytes())?,
            None => io::stdout().write_all(text.as_bytes())?,
        }
        let Some(pause) = pause else { return Ok(ExitCode::SUCCESS) };
        first = false;
        io::stdout().flush()?;
        std::thread::sleep(pause);
    }
}
