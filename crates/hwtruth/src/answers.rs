//! The driver's recorded answers (`tests/probe/README.md` has the formats).

use crate::{Error, read_text, tests_folder, text_error};
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

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
const NEWER: &[&str] = &["cluster", "clusterattr", "clusterlaunch", "clusterocc", "launchattr"];

/// The hardware's answers.
///
/// # Errors
/// The recording is absent.
pub fn recorded() -> Result<Vec<Line>, Error> {
    let mut all = Vec::new();
    for file in RECORDINGS {
        all.extend(lines(&read_text(&tests_folder(file))?));
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
/// Values of the machine are not compared, nor what `exceptions.tsv` lists. Where the hardware's driver died, ours must
/// live. Groups of which `ours` has no line at all are left out, so that one group can be asked alone.
///
/// # Errors
/// A recording is absent or not as its README says.
pub fn differences(ours: &str) -> Result<Vec<Difference>, Error> {
    let path = tests_folder("probe/exceptions.tsv");
    let text = read_text(&path)?;
    let mut exceptions = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let (pattern, _reason) = line
            .split_once('\t')
            .ok_or_else(|| text_error(&path, number + 1, "a name, a tab and a reason expected"))?;
        exceptions.push(pattern.to_owned());
    }
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
            (Answer::Machine(_), _) => true,
            (Answer::Signal(_), got) => !matches!(got, None | Some(Answer::Signal(_))),
            (expected, got) => Some(expected) == got.as_ref(),
        };
        if !same {
            differences.push(Difference { name, expected, got });
        }
    }
    Ok(differences)
}

/// The probe, built; its file goes with it.
pub struct Probe {
    program: std::path::PathBuf,
}

fn fail(what: &str, reason: String) -> Error {
    Error::Probe(format!("{what}: {reason}"))
}

impl Probe {
    /// Builds the probe with `cc` against the `cuda.h` of `include`.
    ///
    /// # Errors
    /// The compiler cannot be run, or says no.
    pub fn build(include: &Path) -> Result<Probe, Error> {
        static BUILT: AtomicUsize = AtomicUsize::new(0);
        let folder = tests_folder("probe");
        let number = BUILT.fetch_add(1, Ordering::Relaxed);
        let program = std::env::temp_dir().join(format!("anywarp-probe-{}-{number}", std::process::id()));
        let sources = std::fs::read_dir(&folder)
            .map_err(|source| Error::Read { path: folder.clone(), source })?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                path.extension().is_some_and(|e| e == "c") && path.file_stem().is_some_and(|s| s != "table")
            });
        let output = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
            .args(["-std=gnu11", "-O1", "-w", "-o"])
            .arg(&program)
            .arg("-I")
            .arg(include)
            .arg(format!("-Wa,-I,{}", folder.display()))
            .args(sources)
            .args(["-ldl", "-lpthread"])
            .output()
            .map_err(|e| fail("cc", e.to_string()))?;
        if output.status.success() {
            Ok(Probe { program })
        } else {
            Err(fail("the probe does not build", String::from_utf8_lossy(&output.stderr).into_owned()))
        }
    }

    /// The groups it can ask.
    ///
    /// # Errors
    /// The probe cannot be run.
    pub fn groups(&self) -> Result<Vec<String>, Error> {
        let output = Command::new(&self.program).arg("--list").output();
        let output = output.map_err(|e| fail("probe", e.to_string()))?;
        Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
    }

    /// Asks `library`; `group`: one group alone. Where a group ends early its lines are missing.
    ///
    /// # Errors
    /// The probe cannot be run.
    pub fn ask(&self, library: &Path, group: Option<&str>) -> Result<String, Error> {
        let mut probe = Command::new(&self.program);
        probe.env("ANYWARP_CACHE_DIR", "off");
        probe.arg(library);
        if let Some(group) = group {
            probe.args(["--group", group]);
            if NEWER.contains(&group) {
                probe.env("ANYWARP_COMPUTE_CAPABILITY", "9.0");
            }
        }
        let output = probe.output().map_err(|e| fail("probe", e.to_string()))?;
        if output.status.code().is_some_and(|code| code < 2) {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(fail("probe", String::from_utf8_lossy(&output.stderr).into_owned()))
        }
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        // A leftover in the temporary folder does no harm.
        let _ = std::fs::remove_file(&self.program);
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
    let path = tests_folder("probe/h200-580-procaddr.tsv");
    let text = read_text(&path)?;
    let mut rows = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let fail = || {
            text_error(&path, number + 1, "name, flags, version, status, query result and symbols expected")
        };
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, flags, version, _status, query, symbols] = columns.as_slice() else { return Err(fail()) };
        rows.push(ProcAddress {
            name: (*name).to_owned(),
            flags: flags.parse().map_err(|_| fail())?,
            version: version.parse().map_err(|_| fail())?,
            query: query.parse().map_err(|_| fail())?,
            symbols: symbols.split(',').filter(|s| *s != "-").map(str::to_owned).collect(),
        });
    }
    Ok(rows)
}
