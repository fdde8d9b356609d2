//! Decodes and lowers every kernel of AMD's code objects in files and folders, and counts what is refused:
//! `cargo run -p cpu --example amd_corpus -- [--every N] [--objects DIR] PATH...`
//!
//! Code objects are looked for anywhere in a file, and in compressed bundles. `--every` takes each Nth kernel
//! alone. `--objects` writes one code object for each target of each file, the smallest. The columns of the
//! result: kernels that have the refusal; kernels that would be lowered without it; the refusal.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gcn::CodeObject;
use gcn::isa::Decoder;
use gcn::object::Kernel;
use wave::Module;
use wave::verify::verify;

/// The beginning of an AMD code object: ELF, 64 bits, little-endian, AMD's HSA.
const OBJECT: &[u8] = b"\x7fELF\x02\x01\x01\x40";
const COMPRESSED: &[u8] = b"CCOB";

thread_local! {
    /// The message of the last panic.
    static PANIC: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}

#[derive(Default)]
struct Counts {
    objects: usize,
    kernels: usize,
    instructions: usize,
    undecoded: BTreeMap<String, usize>,
    lowered: usize,
    /// For each refusal, the kernels that have it, and those that have no other.
    refused: BTreeMap<String, (usize, usize)>,
    problems: BTreeMap<String, usize>,
}

impl Counts {
    fn kernel(&mut self, object: &CodeObject, kernel: &Kernel) {
        self.kernels += 1;
        self.decode(object, kernel);
        let lowered =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| gcn_lower::lower(object, kernel)));
        match lowered {
            Err(_) => {
                let place = PANIC.with(|place| place.borrow().clone());
                *self.problems.entry(format!("panic in {}: {place}", kernel.name)).or_default() += 1;
            }
            Ok(Ok(function)) => {
                let image = match gcn_lower::image(object) {
                    Ok(image) => image.global,
                    Err(reason) => {
                        *self.problems.entry(format!("{}: {reason}", kernel.name)).or_default() += 1;
                        return;
                    }
                };
                let module = Module {
                    name: "corpus".into(),
                    image_size: image.size,
                    image_align: u64::from(image.align),
                    globals: Arc::new(vec![image]),
                    functions: vec![Arc::new(function)],
                    ..Module::default()
                };
                match verify(&module) {
                    Ok(()) => self.lowered += 1,
                    Err(all) => {
                        let first = all.first().map(ToString::to_string).unwrap_or_default();
                        *self.problems.entry(format!("{}: {first}", kernel.name)).or_default() += 1;
                    }
                }
            }
            Ok(Err(errors)) => {
                let reasons: BTreeSet<String> = errors.iter().map(|e| reason(&e.message)).collect();
                for reason in &reasons {
                    let count = self.refused.entry(reason.clone()).or_default();
                    count.0 += 1;
                    count.1 += usize::from(reasons.len() == 1);
                }
            }
        }
    }

    fn decode(&mut self, object: &CodeObject, kernel: &Kernel) {
        let Some(decoder) = Decoder::new(object.target.target, kernel.descriptor.wave_size()) else {
            *self.undecoded.entry(format!("no table for {}", object.target.target.name)).or_default() += 1;
            return;
        };
        let code = object.code(kernel).unwrap_or_default();
        let mut at = 0;
        while let Some(rest) = code.get(at..).filter(|rest| !rest.is_empty()) {
            at += match decoder.decode(rest, kernel.entry + at as u64) {
                Ok(inst) => {
                    self.instructions += 1;
                    usize::from(inst.size)
                }
                Err(refusal) => {
                    let word = rest.get(..4).and_then(|w| w.try_into().ok()).map_or(0, u32::from_le_bytes);
                    *self.undecoded.entry(format!("{refusal} ({:#04x}...)", word >> 24)).or_default() += 1;
                    4
                }
            };
        }
    }

    fn print(&self, name: &str) {
        println!(
            "## {name}: {} objects, {} kernels, {} instructions, {} lowered",
            self.objects, self.kernels, self.instructions, self.lowered
        );
        for (what, count) in &self.undecoded {
            println!("undecoded\t{count}\t{what}");
        }
        for (what, count) in &self.problems {
            println!("PROBLEM\t{count}\t{what}");
        }
        let mut rows: Vec<_> = self.refused.iter().collect();
        rows.sort_by_key(|(_, (all, alone))| std::cmp::Reverse((*all, *alone)));
        for (what, (all, alone)) in rows {
            println!("{all}\t{alone}\t{what}");
        }
    }
}

/// The instruction's name and the reason, without operands.
fn reason(message: &str) -> String {
    let (text, why) = message.rsplit_once(": ").unwrap_or(("", message));
    let name = text.split([' ', ':']).next().unwrap_or("");
    const FORMS: [&str; 6] = ["_e64_dpp", "_e32", "_e64", "_sdwa", "_dpp8", "_dpp"];
    let name = FORMS.iter().find_map(|form| name.strip_suffix(form)).unwrap_or(name);
    let why = why.split(" (bytes").next().unwrap_or(why);
    if name.is_empty() { why.to_owned() } else { format!("{name}: {why}") }
}

/// The code objects in a file.
fn objects(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(step) = bytes.get(at..).and_then(next_object) {
        at += step;
        let rest = &bytes[at..];
        if rest.starts_with(OBJECT) && rest.len() > 64 {
            let number = |i: usize, n: usize| {
                rest.get(i..i + n)
                    .map_or(0, |b| b.iter().rev().fold(0usize, |all, b| all << 8 | usize::from(*b)))
            };
            let size = number(40, 8).saturating_add(number(58, 2) * number(60, 2));
            found.push(rest[..size.min(rest.len())].to_vec());
            at += size.clamp(8, rest.len());
        } else {
            if rest.starts_with(COMPRESSED)
                && let Ok(bundle) = image::decompress(rest)
            {
                found.extend(objects(&bundle));
            }
            at += 4;
        }
    }
    found
}

/// The next place where an object or a compressed bundle may begin.
fn next_object(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(step) = bytes.get(at..)?.iter().position(|b| matches!(b, 0x7f | b'C')) {
        at += step;
        if bytes[at..].starts_with(OBJECT) || bytes[at..].starts_with(COMPRESSED) {
            return Some(at);
        }
        at += 1;
    }
    None
}

fn files(path: &Path, into: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let mut entries: Vec<_> =
            std::fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| files(entry, into));
    } else {
        into.push(path.to_owned());
    }
}

fn main() {
    let (mut every, mut keep, mut paths) = (1, None, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--every" => {
                every = arguments.next().and_then(|n| n.parse().ok()).filter(|n| *n > 0).expect("a number")
            }
            "--objects" => keep = arguments.next(),
            path => files(Path::new(path), &mut paths),
        }
    }
    std::panic::set_hook(Box::new(|info| PANIC.with(|place| *place.borrow_mut() = info.to_string())));
    let mut targets: BTreeMap<String, Counts> = BTreeMap::new();
    let mut seen = 0usize;
    let mut known = BTreeSet::new();
    for path in &paths {
        let bytes = std::fs::read(path).unwrap_or_default();
        let mut smallest: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for object in objects(&bytes) {
            if !known.insert(*blake3::hash(&object).as_bytes()) {
                continue;
            }
            match CodeObject::read(&object) {
                Err(error) => {
                    let counts = targets.entry("unread".into()).or_default();
                    counts.objects += 1;
                    *counts.problems.entry(error.to_string()).or_default() += 1;
                }
                Ok(read) => {
                    let name = read.target.target.name;
                    let counts = targets.entry(name.to_owned()).or_default();
                    counts.objects += 1;
                    for kernel in &read.kernels {
                        seen += 1;
                        if seen.is_multiple_of(every) {
                            counts.kernel(&read, kernel);
                        }
                    }
                    let best = smallest.entry(name.to_owned()).or_insert_with(|| object.clone());
                    if object.len() < best.len() {
                        best.clone_from(&object);
                    }
                }
            }
        }
        for (target, object) in smallest {
            if let Some(folder) = &keep {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                std::fs::write(Path::new(folder).join(format!("{name}.{target}.hsaco")), object)
                    .expect("written");
            }
        }
    }
    for (name, counts) in &targets {
        counts.print(name);
    }
}
