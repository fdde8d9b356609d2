//! NVIDIA's assembler as the reference.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::case::{Case, Setting, Version, module};

/// The assembler, and a folder for its input.
pub struct Ptxas {
    program: PathBuf,
    folder: PathBuf,
    /// The newest PTX version that it knows.
    pub newest: Version,
    /// Whether to generate machine code rather than only check.
    assemble: bool,
}

/// The assembler's answer to a text.
struct Said {
    success: bool,
    /// Messages with the line number that they refer to; after the last one it may have stopped reading.
    messages: Vec<(usize, String)>,
    /// Whether it stopped reading at the last message's line.
    stopped: bool,
    /// The complete output.
    text: String,
}

impl Ptxas {
    /// Asks the program for the versions that it knows.
    pub fn new(program: &Path, folder: PathBuf, assemble: bool) -> Result<Ptxas, String> {
        let run = Command::new(program).arg("--list-version").output();
        let run = run.map_err(|e| format!("{}: {e}", program.display()))?;
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        let version = |word: &str| {
            let (major, minor) = word.split_once('.')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        };
        let newest = text.split_whitespace().filter_map(version).max();
        let newest = newest.ok_or_else(|| format!("{} lists no versions", program.display()))?;
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(Ptxas { program: program.to_owned(), folder, newest, assemble })
    }

    /// The reason why each case is refused, if it is. All cases have the same setting. `worker` distinguishes
    /// concurrent calls.
    pub fn judge(&self, worker: usize, setting: &Setting, cases: &[&Case]) -> Vec<Option<String>> {
        let mut found: Vec<Option<String>> = vec![None; cases.len()];
        // It stops reading after a syntax error: the rest is judged as another text.
        let mut from = 0;
        while from < cases.len() {
            let open: Vec<usize> = (from..cases.len()).collect();
            let said = self.run(worker, setting, cases, &open);
            let stop = said.messages.last().map(|(line, _)| *line).filter(|_| said.stopped);
            self.note(&said, &open, &mut found);
            match stop.and_then(|line| open.get(line)) {
                Some(at) => from = at + 1,
                None => break,
            }
        }
        // Some errors are found only at the end of a function, in a text without other errors.
        let rest: Vec<usize> = (0..cases.len()).filter(|n| found[*n].is_none()).collect();
        self.settle(worker, setting, cases, rest, &mut found);
        found
    }

    /// Judges cases until those left are accepted together.
    fn settle(
        &self,
        worker: usize,
        setting: &Setting,
        cases: &[&Case],
        mut rest: Vec<usize>,
        found: &mut [Option<String>],
    ) {
        while !rest.is_empty() {
            let said = self.run(worker, setting, cases, &rest);
            if said.success {
                return;
            }
            self.note(&said, &rest, found);
            let left: Vec<usize> = rest.iter().copied().filter(|n| found[*n].is_none()).collect();
            if left.len() < rest.len() {
                rest = left;
                continue;
            }
            // A message without a position: bisect to find its instruction.
            if let [only] = rest.as_slice() {
                found[*only] = Some(said.text.lines().next().unwrap_or("no message").to_owned());
                return;
            }
            for half in rest.chunks(rest.len().div_ceil(2)) {
                self.settle(worker, setting, cases, half.to_vec(), found);
            }
            return;
        }
    }

    fn note(&self, said: &Said, open: &[usize], found: &mut [Option<String>]) {
        for (line, message) in &said.messages {
            if let Some(&n) = open.get(*line) {
                found[n].get_or_insert_with(|| message.clone());
            }
        }
    }

    /// Runs the assembler once. Lines are counted from the first case, from 0.
    fn run(&self, worker: usize, setting: &Setting, cases: &[&Case], open: &[usize]) -> Said {
        let (text, first) = module(setting, open.iter().map(|&n| cases[n].instruction.as_str()));
        let file = self.folder.join(format!("{worker}.ptx"));
        std::fs::write(&file, text).expect("the folder can be written");
        // 75 is the oldest target that it generates code for; older modules are compiled for that.
        let kind = if self.assemble { "sm" } else { "compute" };
        let name = if setting.arch() < 75 { "75" } else { setting.target.trim_start_matches("sm_") };
        let arch = format!("-arch={kind}_{name}");
        let mut command = Command::new(&self.program);
        let run = command.args([&arch, "-O0", "-o", "/dev/null"]).arg(&file).output().expect("ptxas runs");
        let text = String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout);
        let (mut messages, mut stopped) = (Vec::new(), false);
        for line in text.lines() {
            let Some((place, message)) =
                line.split_once(", line ").and_then(|(_, rest)| rest.split_once(';'))
            else {
                continue;
            };
            let message = message.trim();
            let fatal = message.starts_with("fatal");
            if !fatal && !message.starts_with("error") {
                continue;
            }
            if let Some(n) = place.trim().parse::<usize>().ok().and_then(|n| n.checked_sub(first)) {
                let message = message.split_once(':').map_or(message, |(_, m)| m.trim());
                messages.push((n, message.to_owned()));
                stopped = fatal;
            }
        }
        Said { success: run.status.success(), messages, stopped, text }
    }
}
