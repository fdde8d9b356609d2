//! Turns the tables in `data/` into Rust: arrays of rows and perfect hashes over their names. A row that
//! breaks a rule of its table stops the build with its file and line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Tables of names. If a name is in two of them, the first one counts.
const NAMES: &[&str] = &[
    "driver", "runtime", "complex", "blas", "rand", "dnn", "fft", "sparse", "caffe2", "cub", "rtc", "solver",
    "nccl", "thrust", "device",
];

/// Number of columns of a table of names.
const COLUMNS: usize = 14;

struct Row {
    place: String,
    cells: Vec<String>,
}

impl Row {
    fn fail(&self, why: &str) -> ! {
        panic!("{}: {why}", self.place)
    }

    fn cell(&self, column: usize) -> &str {
        self.cells.get(column).map_or("", String::as_str)
    }

    fn number(&self, column: usize) -> u8 {
        match self.cell(column) {
            "" => 0,
            text => text.parse().unwrap_or_else(|_| self.fail("not a number")),
        }
    }
}

/// The rows of a table, which must be sorted by their first `keys` cells, without duplicates.
fn rows(folder: &Path, name: &str, columns: usize, keys: usize) -> Vec<Row> {
    let path = folder.join(format!("{name}.tsv"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut rows: Vec<Row> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let row = Row {
            place: format!("data/{name}.tsv:{}", number + 1),
            cells: line.split('\t').map(String::from).collect(),
        };
        if row.cells.len() > columns {
            row.fail("too many columns");
        }
        if let Some(last) = rows.last() {
            let key = |row: &Row| (0..keys).map(|k| row.cell(k).to_owned()).collect::<Vec<_>>();
            if keys > 0 && key(last) >= key(&row) {
                row.fail("the rows are not sorted");
            }
        }
        rows.push(row);
    }
    rows
}

/// `CamelCase` of a word in the tables.
fn variant(row: &Row, word: &str) -> String {
    if word.is_empty() {
        row.fail("an empty word");
    }
    word.split(['_', '-'])
        .map(|part| {
            let mut letters = part.chars();
            letters
                .next()
                .map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
        })
        .collect()
}

/// Legal words in the column of flags; `Flags` has a constant for each.
const FLAGS: &[&str] = &[
    "no-hip",
    "no-roc",
    "cuda-deprecated",
    "hip-deprecated",
    "roc-deprecated",
    "cuda-removed",
    "hip-removed",
    "roc-removed",
    "experimental",
    "v2-only",
    "miopen-only",
    "overloaded",
    "no-tag",
    "template",
];

/// A release of ROCm as a constant expression; `None` for an empty cell.
fn release(row: &Row, cell: &str) -> String {
    if cell.is_empty() {
        return "None".into();
    }
    let mut parts = cell.split('.').map(|part| part.parse::<u8>());
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => format!("Some(Rocm::new({major}, {minor}))"),
        _ => row.fail("not a release of ROCm"),
    }
}

/// The names that HIP had before the ones in the other tables, members, and the macros that declare names.
fn release_tables(out: &mut String, folder: &Path) {
    let renamed = rows(folder, "renamed", 4, 1);
    let array: String = renamed
        .iter()
        .map(|row| {
            let (from, until) = (release(row, row.cell(2)), release(row, row.cell(3)));
            format!(
                "Renamed {{ cuda: {:?}, hip: {:?}, from: {from}, until: {until} }},\n",
                row.cell(0),
                row.cell(1)
            )
        })
        .collect();
    let _ = writeln!(out, "pub(crate) static RENAMED: [Renamed; {}] = [\n{array}];", renamed.len());
    let members = rows(folder, "members", 4, 2);
    let array: String = members
        .iter()
        .map(|row| {
            let (of, member, hip, advice) = (row.cell(0), row.cell(1), row.cell(2), row.cell(3));
            if hip.is_empty() == advice.is_empty() {
                row.fail("a member is renamed or has an advice");
            }
            format!("Member {{ of: {of:?}, member: {member:?}, hip: {hip:?}, advice: {advice:?} }},\n")
        })
        .collect();
    let _ = writeln!(out, "pub(crate) static MEMBERS: [Member; {}] = [\n{array}];", members.len());
    let guards = rows(folder, "guards", 3, 1);
    let array: String = guards
        .iter()
        .map(|row| {
            let until = release(row, row.cell(2));
            format!("Guard {{ name: {:?}, define: {:?}, until: {until} }},\n", row.cell(0), row.cell(1))
        })
        .collect();
    let _ = writeln!(out, "pub(crate) static GUARDS: [Guard; {}] = [\n{array}];", guards.len());
}

fn flags(row: &Row, cell: &str) -> String {
    let flags: Vec<String> = cell
        .split_whitespace()
        .map(|flag| {
            if !FLAGS.contains(&flag) {
                row.fail("no such flag");
            }
            format!("Flags::{}.bits()", flag.replace('-', "_").to_uppercase())
        })
        .collect();
    format!("Flags::new({})", if flags.is_empty() { "0".into() } else { flags.join(" | ") })
}

fn entry(row: &Row, table: &str) -> String {
    format!(
        "Entry {{ cuda: {:?}, hip: {:?}, roc: {:?}, kind: Kind::{}, api: Api::{}, table: Table::{}, section: {}, flags: {}, \
         cuda_in: {:?}, cuda_deprecated: {:?}, cuda_out: {:?}, hip_in: {:?}, hip_deprecated: {:?}, hip_out: {:?}, roc_in: {:?} }},\n",
        row.cell(0),
        row.cell(1),
        row.cell(2),
        variant(row, row.cell(3)),
        variant(row, row.cell(4)),
        variant(row, table),
        row.number(5),
        flags(row, row.cell(6)),
        row.cell(7),
        row.cell(8),
        row.cell(9),
        row.cell(10),
        row.cell(11),
        row.cell(12),
        row.cell(13),
    )
}

/// An array of entries, and a perfect hash from each name to its index.
fn name_tables(out: &mut String, folder: &Path) {
    let mut array = String::new();
    let mut places: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    let mut count = 0;
    for table in NAMES {
        for row in rows(folder, table, COLUMNS, 1) {
            let qualified = row.cell(3) == "namespace";
            places.entry(row.cell(0).into()).or_insert((count, qualified));
            array += &entry(&row, table);
            count += 1;
        }
    }
    let _ = writeln!(out, "pub(crate) static ENTRIES: [Entry; {count}] = [\n{array}];");
    for (name, qualified) in [("NAMES", false), ("NAMESPACES", true)] {
        let mut map = phf_codegen::Map::new();
        for (key, (place, _)) in places.iter().filter(|(_, place)| place.1 == qualified) {
            map.entry(key.as_str(), place.to_string());
        }
        let _ = writeln!(out, "pub(crate) static {name}: phf::Map<&'static str, u16> = {};", map.build());
    }
    let headers = rows(folder, "headers", COLUMNS, 1);
    let array: String = headers.iter().map(|row| entry(row, "headers")).collect();
    let _ = writeln!(out, "pub(crate) static HEADERS: [Entry; {}] = [\n{array}];", headers.len());
}

/// The calls that a rule is for: numbers of arguments, and shapes such as `null@3`, `!null@3` and
/// `cudaMemLocation@2`, which all must hold.
fn when<'a>(row: &Row, cell: &'a str, types: &mut BTreeSet<&'a str>) -> String {
    let (mut counts, mut shapes) = (Vec::new(), Vec::new());
    for word in cell.split_whitespace() {
        let Some((shape, argument)) = word.split_once('@') else {
            counts.push(word.parse::<u8>().unwrap_or_else(|_| row.fail("not a number of arguments")));
            continue;
        };
        let argument: u8 = argument.parse().unwrap_or_else(|_| row.fail("not an argument"));
        let name = shape.trim_start_matches('!');
        let variant = match name {
            "null" => "Null".into(),
            "nullptr" => "NullPointer".into(),
            "undeclared" => "Undeclared".into(),
            "pointers" => "VoidPointers".into(),
            "lanes" => "Lanes".into(),
            _ => {
                types.insert(name);
                format!("Typed({name:?})")
            }
        };
        shapes.push(format!("(Shape::{variant}, {}, {argument})", name == shape));
    }
    format!("When {{ counts: &{counts:?}, shapes: &[{}] }}", shapes.join(", "))
}

/// The argument edits of each function, indexed by the function's name.
fn rule_table(out: &mut String, folder: &Path) {
    let rules = rows(folder, "rules", 11, 5);
    let mut ranges: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut array = String::new();
    let mut types = BTreeSet::new();
    for (place, row) in rules.iter().enumerate() {
        ranges.entry(row.cell(0)).or_insert((place, place)).1 = place + 1;
        let action = match row.cell(3) {
            "wrap" => format!("Action::Wrap({:?})", row.cell(4)),
            "replace" => format!("Action::Replace({:?})", row.cell(4)),
            "add" => format!("Action::Add({:?})", row.cell(4)),
            "default" => format!("Action::Default({:?})", row.cell(4)),
            "remove" => "Action::Remove".into(),
            "copy" => format!("Action::Copy {{ to: {} }}", row.number(5)),
            "move" => format!("Action::Move {{ to: {}, count: {} }}", row.number(5), row.number(6).max(1)),
            "rename" => format!("Action::Rename({:?})", row.cell(4)),
            "call" => format!("Action::Call({:?})", row.cell(4)),
            "mask" => "Action::Mask".into(),
            "as" => format!("Action::As({:?})", row.cell(4)),
            "refuse" => format!("Action::Refuse({:?})", row.cell(4)),
            "doubt" => format!("Action::Doubt({:?})", row.cell(4)),
            _ => row.fail("no such action"),
        };
        let _ = writeln!(
            array,
            "Rule {{ target: Target::{}, argument: {}, action: {action}, data_loss: {}, until: {}, from: {}, when: {} }},",
            variant(row, row.cell(1)),
            row.number(2),
            row.cell(7) == "data-loss",
            release(row, row.cell(8)),
            release(row, row.cell(9)),
            when(row, row.cell(10), &mut types),
        );
    }
    let _ = writeln!(
        out,
        "pub(crate) static SIGNATURE_TYPES: [&str; {}] = {:?};",
        types.len(),
        types.iter().collect::<Vec<_>>()
    );
    let mut map = phf_codegen::Map::new();
    for (name, (first, last)) in &ranges {
        map.entry(*name, format!("({first}, {last})"));
    }
    let _ = writeln!(out, "pub(crate) static RULES: [Rule; {}] = [\n{array}];", rules.len());
    let _ =
        writeln!(out, "pub(crate) static RULE_PLACES: phf::Map<&'static str, (u16, u16)> = {};", map.build());
}

/// Plain tables of text cells.
fn text_table(out: &mut String, folder: &Path, file: &str, columns: usize, keys: usize) {
    let rows = rows(folder, file, columns, keys);
    let array: String = rows
        .iter()
        .map(|row| format!("{:?},\n", (0..columns).map(|column| row.cell(column)).collect::<Vec<_>>()))
        .collect();
    let name = file.to_uppercase();
    let _ = writeln!(out, "pub(crate) static {name}: [[&str; {columns}]; {}] = [\n{array}];", rows.len());
}

fn main() {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("data");
    println!("cargo::rerun-if-changed=data");
    println!("cargo::rerun-if-changed=build.rs");
    let mut out = String::new();
    name_tables(&mut out, &folder);
    rule_table(&mut out, &folder);
    release_tables(&mut out, &folder);
    text_table(&mut out, &folder, "sections", 3, 0);
    text_table(&mut out, &folder, "hints", 2, 1);
    text_table(&mut out, &folder, "predefined", 2, 1);
    text_table(&mut out, &folder, "foreign", 2, 1);
    text_table(&mut out, &folder, "prefixes", 2, 1);
    text_table(&mut out, &folder, "build", 4, 2);
    text_table(&mut out, &folder, "qualified", 5, 1);
    text_table(&mut out, &folder, "ptx", 2, 1);
    text_table(&mut out, &folder, "packed", 5, 1);
    let target = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("tables.rs");
    fs::write(&target, out).unwrap_or_else(|error| panic!("{}: {error}", target.display()));
}
