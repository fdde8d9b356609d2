//! The driver's recorded answers (`tests/probe/README.md` describes the formats).

use crate::{Error, read_text, recorder, rows, tests_folder};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

/// The answer on a line of the probe's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The name of a status, or `MISSING` if the library has no such symbol.
    Status(String),
    /// The signal that killed the process, also after a hang.
    Signal(i32),
    /// A value that every correct driver gives.
    Value(String),
    /// A value that depends on the machine.
    Machine(String),
}

/// One line of the probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// `group.probe`.
    pub name: String,
    /// Its answer.
    pub answer: Answer,
}

/// The lines of a probe's output. Comments are skipped; lines of another format (a group that could not
/// begin) are kept as statuses of the group.
pub fn lines(text: &str) -> Vec<Line> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let (name, rest) = line.split_once(' ')?;
            let (name, answer) = match (name.strip_suffix(':'), rest.split_once(' ')) {
                (Some(name), Some(("signal", number))) => {
                    (name, Answer::Signal(number.trim().parse().unwrap_or_default()))
                }
                (Some(name), _) => (name, Answer::Status(rest.to_owned())),
                (None, Some(("=", value))) => (name, Answer::Value(value.to_owned())),
                (None, Some(("~", value))) => (name, Answer::Machine(value.to_owned())),
                (None, _) if rest == "=" => (name, Answer::Value(String::new())),
                (None, _) => return None,
            };
            Some(Line { name: name.to_owned(), answer })
        })
        .collect()
}

/// Files with the answers.
const RECORDINGS: &[&str] = &[
    "probe/h200-580.txt",
    "probe/h200-580-texture.txt",
    "probe/h200-580-cluster.txt",
    "probe/h200-580-formats.txt",
    "probe/h200-580-graph.txt",
    "probe/h200-580-rest.txt",
    "probe/h200-580-peers.txt",
    "probe/h200-580-planes.txt",
];

/// Groups that are run on a device with the capability of the recorded one.
const NEWER: &[&str] = &[
    "attr",
    "cluster",
    "clusterattr",
    "clusterlaunch",
    "clusterocc",
    "launchattr",
    "limit",
    "occupancy",
    "ptxload",
];

/// Groups that are run on a device with as many multiprocessors as the recorded one, and its capability.
const WHOLE: &[&str] = &["greensplit", "greendesc", "green", "greenrun"];

/// Groups that are run with two devices.
const PEERS: &[&str] = &["peervmm", "peerpool", "peeralloc"];

/// The hardware's answers.
///
/// # Errors
/// The recording is absent.
pub fn recorded() -> Result<Vec<Line>, Error> {
    let mut all = Vec::new();
    for file in RECORDINGS {
        all.extend(lines(&read_text(file)?));
    }
    Ok(all)
}

/// Whether a name is as a pattern says, in which `*` stands for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| matches(after, &rest[at..]))
        }),
    }
}

/// A difference between our answer and the hardware's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// `group.probe`.
    pub name: String,
    /// The hardware's answer.
    pub expected: Answer,
    /// Our answer; `None` if the probe did not get that far with our library.
    pub got: Option<Answer>,
}

/// The differences between `ours`, the probe's output on our library, and the hardware's answers.
///
/// Machine-dependent values are compared if `capability.tsv` lists them; answers listed in `exceptions.tsv`
/// are not compared. Where the hardware's driver died, ours must survive. Groups without any line in `ours`
/// are skipped, so that a single group can be run.
///
/// # Errors
/// A recording is missing or does not have the format in its README.
pub fn differences(ours: &str) -> Result<Vec<Difference>, Error> {
    let exceptions: Vec<String> = rows("probe/exceptions.tsv", |[pattern, _reason]| Ok(pattern.to_owned()))?;
    let of_capability: std::collections::HashSet<String> =
        rows("probe/capability.tsv", |[name, _what]| Ok(name.to_owned()))?.into_iter().collect();
    let excepted = |name: &str| exceptions.iter().any(|pattern| matches(pattern, name));
    let group = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let ours: HashMap<String, Answer> =
        lines(ours).into_iter().map(|line| (line.name, line.answer)).collect();
    let groups: std::collections::HashSet<String> = ours.keys().map(|name| group(name)).collect();
    let mut differences = Vec::new();
    for Line { name, answer: expected } in recorded()? {
        if excepted(&name) || !groups.contains(&group(&name)) {
            continue;
        }
        let got = ours.get(&name).cloned();
        let same = match (&expected, &got) {
            (Answer::Machine(_), _) if !of_capability.contains(&name) => true,
            (Answer::Signal(_), got) => !matches!(got, None | Some(Answer::Signal(_))),
            (expected, got) => Some(expected) == got.as_ref(),
        };
        if !same {
            differences.push(Difference { name, expected, got });
        }
    }
    Ok(differences)
}

/// The probe, built.
pub struct Probe(recorder::Recorder);

impl Probe {
    /// Builds the probe against the `cuda.h` in `include`.
    ///
    /// # Errors
    /// There is no compiler, or compilation fails.
    pub fn build(include: &Path) -> Result<Probe, Error> {
        // The assembler includes the kernels' texts from that folder.
        let texts = format!("-Wa,-I,{}", tests_folder("probe").display());
        recorder::Recorder::build(include, "probe", &[&texts, "-w"]).map(Probe)
    }

    /// The probe's groups.
    ///
    /// # Errors
    /// The probe cannot be run.
    pub fn groups(&self) -> Result<Vec<String>, Error> {
        Ok(self.text(&[], &[&"--list"])?.lines().map(str::to_owned).collect())
    }

    /// Runs the probe on `library`: all groups, or only `group`.
    ///
    /// # Errors
    /// The probe cannot be run, or does not have the group.
    pub fn ask(&self, library: &Path, group: Option<&str>) -> Result<String, Error> {
        match &group {
            Some(group) => {
                let variables: &[_] = if WHOLE.contains(group) {
                    &[recorder::CAPABILITY, recorder::WORKERS]
                } else if NEWER.contains(group) {
                    &[recorder::CAPABILITY]
                } else if PEERS.contains(group) {
                    &[recorder::DEVICES]
                } else {
                    &[]
                };
                self.text(variables, &[&library, &"--group", group])
            }
            None => self.text(&[], &[&library]),
        }
    }

    fn text(&self, variables: &[(&str, &str)], arguments: &[&dyn AsRef<OsStr>]) -> Result<String, Error> {
        self.0.run(variables, arguments, |bytes| Ok(String::from_utf8_lossy(bytes).into_owned()))
    }
}

/// A row of the table of `cuGetProcAddress`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcAddress {
    /// The base name that is requested.
    pub name: String,
    /// The flags: 0 is the default, 1 the legacy, 2 the per-thread default stream.
    pub flags: u64,
    /// The first requested version for which this row holds, as 12080 for 12.8; the next row of the same name
    /// and flags ends its range.
    pub version: u32,
    /// The query's result: 0 found, 1 no such symbol, 2 the version is too low.
    pub query: u32,
    /// The exported symbols at the returned address; empty if there was none.
    pub symbols: Vec<String>,
}

/// The answers of `cuGetProcAddress` for every exported name.
///
/// # Errors
/// The recording is missing or does not have the format in its README.
pub fn proc_addresses() -> Result<Vec<ProcAddress>, Error> {
    rows("probe/h200-580-procaddr.tsv", |[name, flags, version, _status, query, symbols]| {
        Ok(ProcAddress {
            name: name.to_owned(),
            flags: flags.parse().map_err(|_| "the flags are not a number")?,
            version: version.parse().map_err(|_| "the version is not a number")?,
            query: query.parse().map_err(|_| "the query's result is not a number")?,
            symbols: symbols.split(',').filter(|s| *s != "-").map(str::to_owned).collect(),
        })
    })
}
