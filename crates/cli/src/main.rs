//! The `anywarp` command: a thin shell over the libraries. Each subcommand is one file in [`commands`].

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

mod commands;
mod install;

/// A GPU driver for machines without the GPU.
///
/// Unmodified programs that use the CUDA Driver API run on it; their kernels (PTX) are compiled to SIMD code for
/// this machine's CPU.
#[derive(Parser)]
#[command(name = "anywarp", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(commands::run::Args),
    Demo(commands::demo::Args),
    /// Print a shell's completion script
    #[command(
        after_help = "Example: anywarp completions bash > ~/.local/share/bash-completion/completions/anywarp"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => commands::run::run(args),
        Command::Demo(args) => commands::demo::run(args),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "anywarp", &mut std::io::stdout());
            Ok(ExitCode::SUCCESS)
        }
    };
    result.unwrap_or_else(|error| {
        eprintln!("anywarp: {error:#}");
        ExitCode::from(125)
    })
}
