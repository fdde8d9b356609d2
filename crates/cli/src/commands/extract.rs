//! `anywarp extract`: finds the device code in programs, libraries and archives.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use image::EntryKind;

use crate::{amd, files, table};

/// List the device code in any file, and extract its PTX and AMD code
///
/// Programs, shared libraries, objects, archives and bare containers are searched completely for fatbins and
/// PTX texts; compressed ones (LZ4, zstd) are decompressed. So are AMD's code objects, alone or in clang's
/// bundles. NVIDIA's machine code is listed but not extracted.
#[derive(clap::Args)]
#[command(after_help = "Example: anywarp extract libnccl.so.2 -o ptx")]
pub struct Args {
    /// Files to search
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write each distinct PTX text to this folder as NAME.NUMBER.sm_ARCH.ptx, and each code object as
    /// NAME.NUMBER.TARGET.hsaco
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// A piece of device code.
struct Item {
    /// Offset in the file of the code, or of its container.
    offset: usize,
    kind: EntryKind,
    /// 90 for sm_90; `None` if only the text tells.
    arch: Option<u32>,
    /// Size in bytes in the file.
    packed: usize,
    /// The PTX text; `None` for machine code, and for PTX that cannot be decompressed.
    text: Option<Vec<u8>>,
    /// Why PTX cannot be decompressed.
    refused: Option<image::Unpack>,
}

/// The number in `.target sm_…`.
pub fn target(text: &[u8]) -> Option<u32> {
    let head = String::from_utf8_lossy(text.get(..4096).unwrap_or(text)).into_owned();
    let after = head.split_once(".target")?.1.trim_start().strip_prefix("sm_")?.to_owned();
    after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Fatbins' entries and PTX texts.
fn plain_items(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    let fatbins = image::search_fatbins(bytes);
    for piece in &fatbins {
        for entry in image::entries(piece.bytes) {
            let unpacked = (entry.kind == EntryKind::Ptx).then(|| entry.unpack());
            let refused = unpacked.as_ref().and_then(|u| u.as_ref().err().copied());
            let text =
                unpacked.and_then(Result::ok).map(|t| image::until_nul(&t).trim_ascii_start().to_vec());
            let (kind, arch) = (entry.kind, Some(entry.arch));
            items.push(Item { offset: piece.offset, kind, arch, packed: entry.payload.len(), text, refused });
        }
    }
    for piece in image::search_texts(bytes) {
        let inside = |f: &image::Piece| (f.offset..f.offset + f.bytes.len()).contains(&piece.offset);
        if !fatbins.iter().any(inside) {
            let (text, packed) = (Some(piece.bytes.to_vec()), piece.bytes.len());
            items.push(Item {
                offset: piece.offset,
                kind: EntryKind::Ptx,
                arch: None,
                packed,
                text,
                refused: None,
            });
        }
    }
    items
}

/// The same, and what compressed bundles hold, which has the offset of its bundle.
fn items(bytes: &[u8]) -> Vec<Item> {
    let mut items = plain_items(bytes);
    for piece in image::search_bundles(bytes) {
        if let Ok(plain) = image::decompress(piece.bytes) {
            items.extend(plain_items(&plain).into_iter().map(|item| Item { offset: piece.offset, ..item }));
        }
    }
    items.sort_by_key(|i| i.offset);
    items
}

/// The PTX texts of a file with the architectures that they are for, in the order in which they are listed.
pub fn texts(bytes: &[u8]) -> Vec<(Option<u32>, Vec<u8>)> {
    let text = |item: Item| item.text.map(|text| (item.arch.or_else(|| target(&text)), text));
    items(bytes).into_iter().filter_map(text).collect()
}

/// AMD's code objects, from bundles or alone.
fn amd_row(entry: &amd::Entry) -> Vec<String> {
    let what = match entry.read() {
        Ok(object) => {
            let kernels = table::counted(object.kernels.len(), "kernel");
            format!("AMD code object, version {}, {kernels}", object.version)
        }
        Err(error) => format!("AMD code object: {error}"),
    };
    vec![format!("{:#x}", entry.offset), entry.target(), table::bytes(entry.bytes.len() as u64), what]
}

fn row(item: &Item) -> Vec<String> {
    let arch = item.arch.or_else(|| item.text.as_deref().and_then(target));
    let what = match (item.kind, &item.text) {
        (EntryKind::Ptx, Some(text)) => format!("PTX, {}", table::bytes(text.len() as u64)),
        (EntryKind::Ptx, None) => match item.refused {
            Some(reason) => format!("PTX that cannot be decompressed: it {reason}"),
            None => "PTX that cannot be decompressed".into(),
        },
        (EntryKind::Elf, _) => "machine code".into(),
        (EntryKind::Other(kind), _) => format!("unknown, kind {kind}"),
    };
    vec![
        format!("{:#x}", item.offset),
        arch.map_or("-".into(), |a| format!("sm_{a}")),
        table::bytes(item.packed as u64),
        what,
    ]
}

/// Writes the texts and code objects that have not been written before.
fn write(
    file: &Path,
    items: &[Item],
    objects: &[amd::Entry],
    folder: &Path,
    written: &mut BTreeMap<Vec<u8>, PathBuf>,
) -> Result<()> {
    let stem = file.file_name().map_or("stdin".into(), |n| n.to_string_lossy().into_owned());
    let texts = items.iter().filter_map(|item| {
        let text = item.text.as_deref()?;
        Some((text, format!("sm_{}.ptx", item.arch.or_else(|| target(text)).unwrap_or(0))))
    });
    let objects =
        objects.iter().map(|one| (&*one.bytes, format!("{}.hsaco", one.target().replace(':', "_"))));
    let mut number = 0;
    for (bytes, ending) in texts.chain(objects) {
        if written.contains_key(bytes) {
            continue;
        }
        number += 1;
        let path = folder.join(format!("{stem}.{number}.{ending}"));
        files::write(&path, bytes)?;
        written.insert(bytes.to_vec(), path);
    }
    Ok(())
}

/// How much there is.
fn counted(items: &[Item], objects: &[amd::Entry]) -> String {
    let texts = items.iter().filter(|i| i.text.is_some()).count();
    let others = items.len() - texts + objects.len();
    match (texts, others) {
        (0, 0) => "no device code".to_owned(),
        (texts, 0) => table::counted(texts, "PTX text"),
        (0, others) => format!("no PTX, {}", table::counted(others, "other image")),
        (texts, others) => {
            format!("{}, {}", table::counted(texts, "PTX text"), table::counted(others, "other image"))
        }
    }
}

/// Why a file has nothing that can be compiled.
pub fn nothing(bytes: &[u8]) -> String {
    let items = items(bytes);
    let mut machine: Vec<u32> =
        items.iter().filter(|i| i.kind == EntryKind::Elf).filter_map(|i| i.arch).collect();
    machine.sort_unstable();
    machine.dedup();
    let list: Vec<String> = machine.iter().map(|arch| format!("sm_{arch}")).collect();
    match list.as_slice() {
        [] => "there is neither PTX nor AMD code in it".into(),
        list => format!(
            "it has NVIDIA's machine code alone ({}), which Anywarp cannot run; build it with PTX as well, as by \
             `-gencode arch=compute_80,code=compute_80`",
            list.join(", ")
        ),
    }
}

/// Runs the subcommand; status 1 if no file has device code.
pub fn run(args: &Args) -> Result<ExitCode> {
    if let Some(folder) = &args.output {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let (mut found, mut written) = (0, BTreeMap::new());
    let mut out = std::io::stdout().lock();
    for file in &args.files {
        let bytes = files::read(file, files::MOST_LIBRARY)?;
        let items = items(&bytes);
        let objects = amd::entries(&bytes);
        found += items.len() + objects.len();
        let what = counted(&items, &objects);
        let mut report = format!("{}: {what}\n", file.display());
        match &args.output {
            Some(folder) => write(file, &items, &objects, folder, &mut written)?,
            None if items.is_empty() && objects.is_empty() => {}
            None => {
                let rows: Vec<_> = items.iter().map(row).chain(objects.iter().map(amd_row)).collect();
                report += &table::columns(&["offset", "target", "size in file", "content"], &rows);
            }
        }
        match out.write_all(report.as_bytes()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
            done => done?,
        }
    }
    if let Some(folder) = &args.output {
        writeln!(out, "{}: {}", folder.display(), table::counted(written.len(), "distinct file"))?;
    }
    Ok(if found == 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
