//! `anywarp bundle`: one file of code for several devices.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use image::Kind;

use super::cc::container;
use super::extract;
use crate::{amd, files, table};

/// Put PTX and AMD code objects into one bundle, as clang makes for HIP
///
/// A program loads the bundle with hipModuleLoad or hipModuleLoadData, which choose the code for the current
/// device: of AMD code objects the one that suits it best, on other devices the PTX. An entry for the host,
/// which is empty, comes first, as readers expect.
#[derive(clap::Args)]
#[command(after_help = "Example: anywarp bundle -o kernels.hipfb kernels.ptx kernels.gfx906.hsaco")]
pub struct Args {
    /// PTX texts, AMD code objects, and files whose AMD code objects are taken (bundles, programs)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The bundle; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Compress the bundle (clang's compressed form, version 2, with zlib)
    #[arg(long)]
    compress: bool,
}

/// Bytes of the header of a compressed bundle of version 2.
const COMPRESSED_HEADER: usize = 24;

/// The first entry's name.
const HOST: &str = "host-x86_64-unknown-linux-gnu-";

/// The entries that a file becomes: names and code.
fn entries(file: &Path, bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>> {
    let mut found = Vec::new();
    for one in amd::entries(bytes) {
        if let Err(error) = one.read() {
            bail!("{}: {error}", file.display());
        }
        found.push((format!("hipv4-amdgcn-amd-amdhsa--{}", one.target()), one.bytes.into_owned()));
    }
    if image::detect(bytes) == Some(Kind::Ptx) {
        let Some(arch) = extract::target(bytes) else {
            bail!("{}: the PTX has no .target sm_NUMBER", file.display());
        };
        found.push((format!("hipv4-nvptx64-nvidia-cuda--sm_{arch}"), bytes.to_vec()));
    }
    if found.is_empty() {
        bail!(
            "{}: a bundle is made of PTX texts and AMD code objects; this file has neither",
            file.display()
        );
    }
    Ok(found)
}

/// A bundle in clang's compressed form of version 2, with zlib. The header's hash, which readers need not
/// check, is 0. `None` if a size does not fit into the header.
fn compressed(bundle: &[u8]) -> Option<Vec<u8>> {
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(bundle, 6);
    let mut out = image::COMPRESSED_MAGIC.to_vec();
    // The version, and zlib.
    out.extend([2, 0, 0, 0]);
    for size in [COMPRESSED_HEADER + packed.len(), bundle.len()] {
        out.extend(u32::try_from(size).ok()?.to_le_bytes());
    }
    out.extend([0; 8]);
    out.extend(packed);
    Some(out)
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<ExitCode> {
    let mut all: Vec<(String, Vec<u8>)> = vec![(HOST.to_owned(), Vec::new())];
    for file in &args.files {
        for (name, code) in entries(file, &files::read_or_stdin(file, files::MOST_LIBRARY)?)? {
            if all.iter().any(|(other, _)| *other == name) {
                bail!("{}: the bundle already has code for {name}", file.display());
            }
            all.push((name, code));
        }
    }
    let parts: Vec<(String, &[u8])> = all.iter().map(|(name, code)| (name.clone(), &code[..])).collect();
    let mut bundle = container::joined(&parts);
    if bundle.len() > image::MAX_TEXT {
        let most = table::bytes(image::MAX_TEXT as u64);
        bail!("the bundle would have {}; drivers read at most {most}", table::bytes(bundle.len() as u64));
    }
    if args.compress {
        let Some(packed) = compressed(&bundle) else { bail!("the bundle is too large to be compressed") };
        bundle = packed;
    }
    files::write(&args.output, &bundle)?;
    Ok(ExitCode::SUCCESS)
}
