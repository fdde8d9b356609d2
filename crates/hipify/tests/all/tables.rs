//! Checks the consistency of the tables in `data/`, and the counts in `docs/hipify.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hipify::table::{Flags, Kind, Table, all};
use hipify::{Options, Rocm, Target, translate};

/// For each table: names, names with a counterpart in HIP, experimental ones among these, and names without a
/// counterpart.
fn counts() -> BTreeMap<Table, [usize; 3]> {
    let mut counts: BTreeMap<Table, [usize; 3]> = BTreeMap::new();
    for entry in all() {
        let [mapped, unsupported, experimental] = counts.entry(entry.table).or_default();
        if entry.unsupported(Target::Hip, Rocm::NEWEST) {
            *unsupported += 1;
        } else {
            *mapped += 1;
            *experimental += usize::from(entry.flags.has(Flags::EXPERIMENTAL));
        }
    }
    counts
}

fn documented() -> String {
    let mut out = String::from(
        "| | names | with a counterpart in HIP | of these experimental | without |\n|---|---:|---:|---:|---:|\n",
    );
    let mut sum = [0; 3];
    let counts = counts();
    let mut row = |title: &str, [mapped, unsupported, experimental]: [usize; 3]| {
        out +=
            &format!("| {title} | {} | {mapped} | {experimental} | {unsupported} |\n", mapped + unsupported);
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
        for entry in all()
            .filter(|entry| !entry.unsupported(target, Rocm::NEWEST) && entry.kind != Kind::DeviceFunction)
        {
            let new = entry.replacement(target, Rocm::NEWEST);
            let text =
                translate(new.as_bytes(), &Options { target, ..Options::default() }).expect("short").text;
            let text = String::from_utf8(text).expect("text");
            assert!(text.ends_with(new), "{} becomes {new}, which becomes {text}", entry.cuda);
        }
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
