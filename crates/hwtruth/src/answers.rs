//! The driver's recorded answers (`tests/probe/README.md` has the formats).

use crate::{Error, read_text, recorder, rows, tests_folder};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

/// What a probe's line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A status by its name, or `MISSING` where the library has no such symbol.
    Status(String),
    /// The process died or hung there, by this signal.
    Signal(i32),
    /// A value that every right driver gives.
    Value(String),
    /// A value of that machine.
    Machine(String),
}

/// One line of the probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// `group.probe`.
    pub name: String,
    /// What it answered.
    pub answer: Answer,
}

/// The lines of a probe's output; comments and lines of another shape (a group that could not begin) are kept as
/// statuses of the group.
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

/// Where the answers lie.
const RECORDINGS: &[&str] = &[
    "probe/h200-580.txt",
    "probe/h200-580-texture.txt",
    "probe/h200-580-cluster.txt",
    "probe/h200-580-formats.txt",
];

/// Groups that are asked of a device of the recording one's capability.
const NEWER: &[&str] =
    &["attr", "cluster", "clusterattr", "clusterlaunch", "clusterocc", "launchattr", "limit", "occupancy"];

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

/// An answer of ours that is not the hardware's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// `group.probe`.
    pub name: String,
    /// The hardware's answer.
    pub expected: Answer,
    /// Ours; none: our library did not come to that probe.
    pub got: Option<Answer>,
}

/// Where `ours`, the probe's output on our library, is not what the hardware answered.
///
/// Values of the machine are compared where `capability.tsv` lists them; what `exceptions.tsv` lists is not. Where the hardware's driver died, ours must
/// live. Groups of which `ours` has no line at all are left out, so that one group can be asked alone.
///
/// # Errors
/// A recording is absent or not as its README says.
pub fn differences(ours: &str) -> Result<Vec<Difference>, Error> {
    let exceptions: Vec<String> = rows("probe/exceptions.tsv", |[pattern, _reason]| Ok(pattern.to_owned()))?;
    let of_capability: std::collections::HashSet<String> =
        rows("probe/capability.tsv", |[name, _what]| Ok(name.to_owned()))?.into_iter().collect();
    let excepted = |name: &str| {
        exceptions.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => name == pattern,
        })
    };
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
    /// Builds the probe against the `cuda.h` of `include`.
    ///
    /// # Errors
    /// There is no compiler, or it says no.
    pub fn build(include: &Path) -> Result<Probe, Error> {
        // The assembler takes the kernels' texts out of the folder.
        let texts = format!("-Wa,-I,{}", tests_folder("probe").display());
        recorder::Recorder::build(include, "probe", &[&texts, "-w"]).map(Probe)
    }

    /// The groups it can ask.
    ///
    /// # Errors
    /// The probe cannot be run.
    pub fn groups(&self) -> Result<Vec<String>, Error> {
        Ok(self.text(&[], &[&"--list"])?.lines().map(str::to_owned).collect())
    }

    /// Asks `library`; `group`: one group alone.
    ///
    /// # Errors
    /// The probe cannot be run, or it has not the group.
    pub fn ask(&self, library: &Path, group: Option<&str>) -> Result<String, Error> {
        match &group {
            Some(group) => {
                let newer = NEWER.contains(group).then_some(recorder::CAPABILITY);
                self.text(newer.as_slice(), &[&library, &"--group", group])
            }
            None => self.text(&[], &[&library]),
        }
    }

    fn text(&self, variables: &[(&str, &str)], arguments: &[&dyn AsRef<OsStr>]) -> Result<String, Error> {
        self.0.run(variables, arguments, |bytes| Ok(String::from_utf8_lossy(bytes).into_owned()))
    }
}

/// One row of the table of `cuGetProcAddress`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcAddress {
    /// The base name that is asked for.
    pub name: String,
    /// The flags: 0 the default, 1 the legacy, 2 the per-thread default stream.
    pub flags: u64,
    /// The first version asked for from which this row holds, as 12080 for 12.8; until the next row of the same name and flags.
    pub version: u32,
    /// The query's result: 0 found, 1 no such symbol, 2 the version is too low.
    pub query: u32,
    /// The exported symbols at the address given; empty if none was.
    pub symbols: Vec<String>,
}

/// What `cuGetProcAddress` gives for every exported name.
///
/// # Errors
/// The recording is absent or not as its README says.
pub fn proc_addresses() -> Result<Vec<ProcAddress>, Error> {
    rows("probe/h200-580-procaddr.tsv", |[name, flags, version, _status, query, symbols]| {
        Ok(ProcAddress {
            name: name.to_owned(),
            flags: flags.parse().map_err(|_| "the flags are no number")?,
            version: version.parse().map_err(|_| "the version is no number")?,
            query: query.parse().map_err(|_| "the query's result is no number")?,
            symbols: symbols.split(',').filter(|s| *s != "-").map(str::to_owned).collect(),
        })
    })
}
