//! The `anywarp` command: a thin shell around the libraries. Each subcommand is one file in [`commands`].

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use driver::log;
use host::options::Reading;

mod amd;
mod commands;
mod files;
mod install;
mod parts;
mod scratch;
mod table;

/// A GPU driver for machines without the GPU.
///
/// Unmodified programs that use the CUDA driver API, the CUDA runtime or HIP run on it; their kernels (PTX or
/// AMD code) are compiled to SIMD code for this machine's CPU.
#[derive(Parser)]
#[command(name = "anywarp", version, max_term_width = 100, after_long_help = variables())]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(commands::run::Args),
    Prof(commands::prof::Args),
    Info(commands::info::Args),
    Smi(Box<commands::smi::Args>),
    Compile(commands::compile::Args),
    Check(commands::check::Args),
    Extract(commands::extract::Args),
    Bundle(commands::bundle::Args),
    Cache(commands::cache::Args),
    Demo(commands::demo::Args),
    Cc(Box<commands::cc::Args>),
    Hipify(Box<commands::hipify::Args>),
    /// Print a shell's completion script
    #[command(
        after_help = "Example: anywarp completions bash > ~/.local/share/bash-completion/completions/anywarp"
    )]
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
}

impl Command {
    /// Whether the command itself uses the options. The program that `run`, `prof` and `demo` start reports
    /// problems with them; the other commands do not read them.
    fn obeys_options(&self) -> bool {
        match self {
            Command::Info(_) | Command::Smi(_) | Command::Compile(_) | Command::Cache(_) => true,
            Command::Check(args) => !args.is_child(),
            _ => false,
        }
    }
}

/// The variables with their descriptions, for `--help`.
fn variables() -> String {
    let rows = host::options::ROWS.iter().map(|row| {
        let meaning = table::wrapped(&row.plain_meaning(), "          ", 100);
        format!("  {}\n{meaning}\n", row.name)
    });
    format!("Environment (`anywarp info` shows the values in force):\n{}", rows.collect::<String>())
}

fn main() -> ExitCode {
    files::report_limit();
    let arguments = commands::hipify::with_two_dashes(std::env::args_os());
    let command = Cli::parse_from(commands::smi::with_long_names(arguments)).command;
    let reading = Reading::of_process();
    let options = &reading.options;
    log::set_level(options.log);
    cpu::tell_through_log();
    if command.obeys_options() {
        reading.complaints().for_each(|complaint| log::say(log::Level::Error, || complaint));
    }
    // 125 distinguishes our own failure from the program's status, as with `env` and `nohup`.
    let failure = if matches!(command, Command::Run(_) | Command::Prof(_)) { 125 } else { 1 };
    let result = match command {
        Command::Run(args) => commands::run::run(args, options),
        Command::Prof(args) => commands::prof::run(args, options),
        Command::Info(args) => commands::info::run(args, &reading),
        Command::Smi(args) => commands::smi::run(&args, options),
        Command::Compile(args) => commands::compile::run(args, options),
        Command::Check(args) => commands::check::run(&args, options),
        Command::Extract(args) => commands::extract::run(&args),
        Command::Bundle(args) => commands::bundle::run(&args),
        Command::Cache(args) => commands::cache::run(args, options),
        Command::Demo(args) => commands::demo::run(args, options),
        Command::Cc(args) => commands::cc::run(*args, options),
        Command::Hipify(args) => commands::hipify::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "anywarp", &mut script);
            io::stdout().write_all(&script).map(|()| ExitCode::SUCCESS).map_err(Into::into)
        }
    };
    result.unwrap_or_else(|error| {
        if files::is_closed_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        eprintln!("anywarp: {error:#}");
        ExitCode::from(failure)
    })
}
