//! The members of CUDA's structures, as our headers declare them, against those of HIP's: each that HIP does
//! not have is in `data/members.tsv`, and so is each structure whose members HIP has in another order.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use hipify::table::{self, Kind, Table};
use hipify::{Options, translate};

/// Structures with their members; those of a structure inside follow its own name and a dot.
type Structures = BTreeMap<String, Vec<String>>;

/// A text without comments, directives and strings.
fn bare(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        out += before;
        rest = after.split_once("*/").map_or("", |(_, rest)| rest);
    }
    out += rest;
    let mut continued = false;
    out.lines()
        .map(|line| line.split("//").next().unwrap_or(""))
        .filter(|line| {
            let directive = continued || line.trim_start().starts_with('#');
            continued = directive && line.ends_with('\\');
            !directive
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// The offset after the brace that closes the one before `text`.
fn closed(text: &str) -> usize {
    let mut depth = 1;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

fn last_word(text: &str) -> &str {
    let text = text.split(['[', ':', '=']).next().unwrap_or("").trim_end();
    text.rsplit(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').next().unwrap_or("")
}

fn members(body: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut rest, mut from) = (body, 0);
    while let Some(at) = rest[from..].find(['{', ';']).map(|at| at + from) {
        if rest[at..].starts_with('{') {
            let inner = &rest[at + 1..];
            let end = closed(inner);
            let within = members(&inner[..end - 1]);
            rest = &inner[end..];
            let stop = rest.find(';').unwrap_or(rest.len());
            let name = last_word(&rest[..stop]);
            found.extend(within.iter().map(|member| match name {
                "" => member.clone(),
                name => format!("{name}.{member}"),
            }));
            rest = rest.get(stop + 1..).unwrap_or("");
        } else {
            let declared = &rest[..at];
            match declared.split_once("(*") {
                Some((_, name)) => found.push(last_word(name.split(')').next().unwrap_or("")).to_owned()),
                None if declared.contains('(') => {}
                None => found.extend(declared.split(',').map(|one| last_word(one).to_owned())),
            }
            rest = &rest[at + 1..];
        }
        from = 0;
    }
    found
}

fn structures(folder: &str) -> Structures {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include").join(folder);
    let (mut found, mut same) = (Structures::new(), Vec::new());
    for entry in fs::read_dir(folder).expect("a folder of headers") {
        let path = entry.expect("an entry").path();
        let Some("h") = path.extension().and_then(|extension| extension.to_str()) else { continue };
        let raw = fs::read_to_string(&path).expect("a header");
        for line in raw.lines().filter_map(|line| line.strip_prefix("#define ")) {
            if let [new, old] = line.split_whitespace().collect::<Vec<_>>()[..] {
                same.push((new.to_owned(), old.to_owned()));
            }
        }
        let text = bare(&raw);
        for word in ["struct ", "union "] {
            for (at, _) in text.match_indices(word) {
                let rest = &text[at + word.len()..];
                let Some(open) =
                    rest.find(['{', ';', '(', ',', ')']).filter(|at| rest[*at..].starts_with('{'))
                else {
                    continue;
                };
                let body = &rest[open + 1..];
                let end = closed(body);
                let after = body[end..].split(';').next().unwrap_or("");
                for name in [last_word(&rest[..open]), last_word(after)] {
                    found.entry(name.to_owned()).or_insert_with(|| members(&body[..end - 1]));
                }
            }
        }
        for line in text.split(';').filter_map(|one| one.trim().strip_prefix("typedef ")) {
            if let [old, new] =
                line.split_whitespace().filter(|word| *word != "struct").collect::<Vec<_>>()[..]
            {
                same.push((new.to_owned(), old.to_owned()));
            }
        }
    }
    for _ in 0..4 {
        for (new, old) in &same {
            if let Some(members) = found.get(old).cloned() {
                found.entry(new.clone()).or_insert(members);
            }
        }
    }
    found
}

/// What becomes of an access to a member, and whether there is a finding about it.
fn access(of: &str, member: &str) -> (String, bool) {
    let text = format!("{of} v; int f() {{ return v.{member}; }}\n");
    let done = translate(text.as_bytes(), &Options::default()).expect("short enough");
    let out = String::from_utf8(done.text).expect("text");
    let shown = out.split("return v.").nth(1).and_then(|rest| rest.split(';').next()).expect("the access");
    (shown.to_owned(), done.diagnostics.iter().any(|finding| finding.reason == hipify::Reason::Member))
}

/// The pairs of structures that both sets of headers declare.
fn pairs() -> Vec<(&'static str, Vec<String>, Vec<String>)> {
    let (cuda, hip) = (structures(""), structures("hip"));
    table::all()
        .filter(|entry| matches!(entry.table, Table::Driver | Table::Runtime) && entry.kind == Kind::Type)
        .filter(|entry| !entry.flags.has(table::Flags::NO_HIP))
        .filter_map(|entry| Some((entry.cuda, cuda.get(entry.cuda)?.clone(), hip.get(entry.hip)?.clone())))
        .collect()
}

#[test]
fn members_that_hip_does_not_have_are_translated_or_reported() {
    let (mut wrong, mut seen) = (Vec::new(), BTreeSet::new());
    for (name, cuda, hip) in pairs() {
        let named = |member: &&String| !member.to_lowercase().contains("reserved") && *member != "pad";
        for member in cuda.iter().filter(named) {
            seen.insert(name);
            // HIP has a name for the type of some structures that are nameless in CUDA.
            let outer = member.split_once('.').is_some_and(|(head, _)| hip.iter().any(|other| other == head));
            if hip.contains(member)
                || outer
                || hip.iter().any(|other| other.starts_with(&format!("{member}.")))
            {
                continue;
            }
            let (shown, told) = access(name, member);
            let known = hip.contains(&shown)
                || shown
                    .split('.')
                    .next()
                    .is_some_and(|head| shown != *member && hip.iter().any(|m| m == head));
            if !told && !known {
                wrong.push(format!("{name}.{member}"));
            }
        }
    }
    assert!(seen.len() > 100, "{}", seen.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn lists_whose_order_differs_are_reported() {
    let mut wrong = Vec::new();
    for (name, cuda, hip) in pairs() {
        let common: Vec<&String> = cuda.iter().filter(|member| hip.contains(member)).collect();
        let theirs: Vec<&String> = hip.iter().filter(|member| cuda.contains(member)).collect();
        if common == theirs || NEVER_INITIALISED.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        let text = format!("{name} v = {{a, b}};\n");
        let done = translate(text.as_bytes(), &Options::default()).expect("short enough");
        if !done.diagnostics.iter().any(|finding| finding.reason == hipify::Reason::Member) {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Beginnings of structures whose lists name one member, or that only functions fill.
const NEVER_INITIALISED: &[&str] = &[
    "CUDA_ARRAY_MEMORY_REQUIREMENTS",
    "CUkernelNodeAttrValue",
    "CUlaunchAttributeValue",
    "CUstreamAttrValue",
    "cudaDeviceProp",
    "cudaFuncAttributes",
    "cudaKernelNodeAttrValue",
    "cudaLaunchAttributeValue",
    "cudaStreamAttrValue",
];
