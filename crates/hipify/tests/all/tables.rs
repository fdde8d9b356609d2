//! Checks the consistency of the tables in `data/`, and the counts in `docs/hipify.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use hipify::table::{Entry, Flags, Kind, Presence, Table, all};
use hipify::{Options, Rocm, Target, translate};

/// For each table: names with a counterpart in HIP, experimental ones among these, names with one in later
/// releases only, and names without.
fn counts() -> BTreeMap<Table, [usize; 4]> {
    let mut counts: BTreeMap<Table, [usize; 4]> = BTreeMap::new();
    for entry in all() {
        let [mapped, experimental, later, unsupported] = counts.entry(entry.table).or_default();
        match entry.presence(Target::Hip, Rocm::NEWEST) {
            Presence::Here => {
                *mapped += 1;
                *experimental += usize::from(entry.flags.has(Flags::EXPERIMENTAL));
            }
            Presence::Since(_) => *later += 1,
            Presence::Never => *unsupported += 1,
        }
    }
    counts
}

fn documented() -> String {
    let mut out = format!(
        "| | names | with a counterpart in HIP {} | of these experimental | in later releases | without |\n\
         |---|---:|---:|---:|---:|---:|\n",
        Rocm::NEWEST
    );
    let mut sum = [0; 4];
    let counts = counts();
    let mut row = |title: &str, [mapped, experimental, later, unsupported]: [usize; 4]| {
        let names = mapped + later + unsupported;
        out += &format!("| {title} | {names} | {mapped} | {experimental} | {later} | {unsupported} |\n");
    };
    for table in Table::ALL {
        let counted = counts.get(&table).copied().unwrap_or_default();
        row(table.title(), counted);
        sum = std::array::from_fn(|at| sum[at] + counted[at]);
    }
    row("**All**", sum);
    out
}

#[test]
fn the_guide_counts_what_is_in_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/hipify.md");
    let text = fs::read_to_string(&path).expect("docs/hipify.md");
    let (before, rest) = text.split_once("<!-- counts -->\n").expect("the start of the table");
    let (_, after) = rest.split_once("<!-- /counts -->").expect("the end of the table");
    let current = format!("{before}<!-- counts -->\n{}<!-- /counts -->{after}", documented());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return fs::write(&path, &current).expect("docs/hipify.md can be written");
    }
    assert!(
        text == current,
        "docs/hipify.md is out of date: UPDATE_EXPECT=1 cargo test -p hipify --test all tables::"
    );
}

#[test]
fn every_supported_name_has_a_counterpart() {
    for entry in all().filter(|entry| !entry.unsupported(Target::Hip, Rocm::NEWEST)) {
        let goes = entry.kind == Kind::Include && entry.hip.is_empty();
        assert!(goes || !entry.hip.is_empty(), "{} has no counterpart", entry.cuda);
    }
}

#[test]
fn a_counterpart_is_no_cuda_name_itself() {
    // Otherwise a second run would change the name again.
    for target in [Target::Hip, Target::Roc, Target::Miopen] {
        for entry in
            all().filter(|entry| !entry.unsupported(target, Rocm::LAST) && entry.kind != Kind::DeviceFunction)
        {
            let new = entry.replacement(target, Rocm::LAST);
            let text =
                translate(new.as_bytes(), &Options { target, ..Options::default() }).expect("short").text;
            let text = String::from_utf8(text).expect("text");
            assert!(text.ends_with(new), "{} becomes {new}, which becomes {text}", entry.cuda);
        }
    }
}

/// What our `libamdhip64.so` exports, with its version nodes.
const EXPORTS: &str = include_str!("../../../hip/data/exports.tsv");

fn exports() -> BTreeMap<&'static str, &'static str> {
    let rows = EXPORTS.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| line.split_once('\t')).collect()
}

/// The words of our headers that look like HIP's.
fn declared() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/hip");
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("include/hip") {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("a header");
        let words = text.split(|byte: char| !byte.is_ascii_alphanumeric() && byte != '_');
        names.extend(words.filter(|word| word.starts_with(['h', 'H'])).map(String::from));
    }
    names
}

/// The names that HIP could have for one of the driver's or the runtime's.
fn candidates(entry: &Entry) -> Vec<String> {
    let mut names = vec![entry.hip.to_owned()];
    let start = ["cuda", "cu", "CUDA_", "CU_", "CU"].iter().find(|start| entry.cuda.starts_with(**start));
    let Some(rest) = start.and_then(|start| entry.cuda.strip_prefix(start)) else { return names };
    names.extend(["hip", "hipDrv", "hipModule", "HIP_"].map(|start| format!("{start}{rest}")));
    names.push(format!("hip{rest}_t"));
    names
}

/// Names of ours that look like counterparts and are none.
const NO_COUNTERPARTS: &[(&str, &str)] = &[
    ("CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS", "a type; HIP's name is an attribute's"),
    ("CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS_enum", "a type; HIP's name is an attribute's"),
    ("CUDA_POINTER_ATTRIBUTE_P2P_TOKENS", "a type; HIP's name is an attribute's"),
    ("CUDA_POINTER_ATTRIBUTE_P2P_TOKENS_st", "a type; HIP's name is an attribute's"),
    ("CUDA_POINTER_ATTRIBUTE_P2P_TOKENS_v1", "a type; HIP's name is an attribute's"),
    ("CUstreamMemoryBarrier_flags", "other flags"),
    ("CUstreamMemoryBarrier_flags_enum", "other flags"),
    ("cuFuncSetAttribute", "HIP takes a kernel of the program, not a hipFunction_t"),
    ("cuFuncSetCacheConfig", "HIP takes a kernel of the program, not a hipFunction_t"),
    ("cuFuncSetSharedMemConfig", "HIP takes a kernel of the program, not a hipFunction_t"),
    ("cuMemcpy3DPeer", "HIP's structure has devices, not contexts"),
    ("cuMemcpy3DPeerAsync", "HIP's structure has devices, not contexts"),
    ("cuMemcpyPeer", "HIP takes devices, not contexts"),
    ("cuMemcpyPeerAsync", "HIP takes devices, not contexts"),
    ("cuOccupancyAvailableDynamicSMemPerBlock", "HIP takes a kernel of the program, not a hipFunction_t"),
    ("cuOccupancyMaxActiveClusters", "HIP takes a kernel of the program, not a hipFunction_t"),
    ("cuOccupancyMaxPotentialClusterSize", "HIP takes a kernel of the program, not a hipFunction_t"),
];

#[test]
fn what_we_have_ourselves_is_not_said_to_be_missing() {
    let (exports, declared) = (exports(), declared());
    let ours = |name: &String| exports.contains_key(name.as_str()) || declared.contains(name);
    let found: Vec<&str> = all()
        .filter(|entry| matches!(entry.table, Table::Driver | Table::Runtime))
        .filter(|entry| entry.flags.has(Flags::NO_HIP) && candidates(entry).iter().any(ours))
        .map(|entry| entry.cuda)
        .collect();
    let expected: Vec<&str> = NO_COUNTERPARTS.iter().map(|(name, _)| *name).collect();
    assert_eq!(found, expected);
}

/// A version node of AMD's library is no later than the release that brought its functions: releases after
/// 7.2 added to the node of 7.2. HIP 6.5 was released as 7.0.
#[test]
fn functions_are_no_older_than_the_nodes_that_export_them() {
    let exports = exports();
    let number = |version: &str| {
        let mut parts = version.split('.').map(|part| part.parse::<u8>().unwrap_or(0));
        (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
    };
    // The older nodes were introduced after their functions.
    let first = (5, 3);
    for entry in all().filter(|entry| !entry.flags.has(Flags::NO_HIP)) {
        let node = exports.get(entry.hip).and_then(|node| node.strip_prefix("hip_"));
        let node = match node.map(number) {
            Some((6, 5)) => (7, 0),
            Some(node) if node >= first => node,
            _ => continue,
        };
        assert!(number(entry.hip_in) >= node, "{} in {} before {node:?}", entry.hip, entry.hip_in);
    }
}

#[test]
fn versions_are_versions() {
    for entry in all() {
        for version in
            [entry.cuda_in, entry.cuda_deprecated, entry.cuda_out, entry.hip_in, entry.hip_out, entry.roc_in]
        {
            let number = version.strip_prefix("cudnn ").unwrap_or(version);
            let right = number.is_empty() || number.split('.').all(|part| part.parse::<u16>().is_ok());
            assert!(right, "{}: {version}", entry.cuda);
        }
    }
}

#[test]
fn hints_are_for_names_without_a_counterpart() {
    let text = include_str!("../../data/hints.tsv");
    for pattern in
        text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split('\t').next())
    {
        let fits = |name: &str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == pattern,
        };
        // Libraries without a table have hints too.
        let known = all().any(|entry| fits(entry.cuda));
        let lacking = all().any(|entry| entry.unsupported(Target::Hip, Rocm::NEWEST) && fits(entry.cuda));
        assert!(lacking || !known, "{pattern} matches nothing");
    }
}

#[test]
fn names_are_found_and_others_not() {
    use hipify::table::{header, name, namespace};
    assert_eq!(name("cudaMalloc").map(|entry| entry.hip), Some("hipMalloc"));
    assert_eq!(name("cuMemAlloc_v2").map(|entry| entry.hip), Some("hipMalloc"));
    assert_eq!(name("CUDA_ERROR_INVALID_VALUE").map(|entry| entry.hip), Some("hipErrorInvalidValue"));
    assert_eq!(header("cublas_v2.h").map(|entry| entry.roc), Some("rocblas.h"));
    assert_eq!(namespace("thrust::cuda").map(|entry| entry.hip), Some("thrust::hip"));
    assert!(name("cudaMallo").is_none() && name("").is_none() && header("stdio.h").is_none());
    assert_eq!(name("cudaMalloc").and_then(|entry| entry.section_title()), Some("Memory Management"));
}
