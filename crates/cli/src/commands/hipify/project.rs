//! Whole projects: the sources and build files in folders, or those that a compilation database reaches.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use hipify::build_files::BuildFile;
use hipify::{Diagnostic, Reason};

use crate::files;

/// Extensions of sources and headers.
const SOURCES: &[&str] =
    &["cu", "cuh", "h", "hh", "hpp", "hxx", "inl", "inc", "ipp", "c", "cc", "cpp", "cxx"];

/// The files of a project, and what became of them.
#[derive(Default)]
pub struct Project {
    /// Each file, with its place below the project's folder.
    files: BTreeMap<PathBuf, PathBuf>,
    /// Files that are read for what they declare, and not translated as a project's: sources that are given
    /// one by one, and the headers that they include.
    beside: BTreeSet<PathBuf>,
    /// What the files declare.
    names: Arc<hipify::Project>,
    counts: RefCell<Counts>,
}

#[derive(Default)]
struct Counts {
    read: usize,
    changed: usize,
    findings: BTreeMap<Reason, usize>,
}

fn is_source(path: &Path) -> bool {
    path.extension().and_then(|extension| extension.to_str()).is_some_and(|name| SOURCES.contains(&name))
}

fn is_build_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| BuildFile::of(&name.to_string_lossy()).is_some())
}

/// Adds the wanted files below a folder. Hidden folders and links are not followed.
fn collect(folder: &Path, root: &Path, wanted: &dyn Fn(&Path) -> bool, to: &mut Project) -> Result<()> {
    let context = || format!("cannot read {}", folder.display());
    // The folder of a relative path may have no name.
    let named = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    for entry in fs::read_dir(named).with_context(context)? {
        let entry = entry.with_context(context)?;
        let (path, kind) = (folder.join(entry.file_name()), entry.file_type().with_context(context)?);
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if kind.is_dir() && !hidden {
            collect(&path, root, wanted, to)?;
        } else if kind.is_file() && wanted(&path) {
            let place = path.strip_prefix(root).unwrap_or(&path).to_owned();
            to.files.insert(path, place);
        }
    }
    Ok(())
}

/// A path without `.` and `..`, as far as the text tells.
fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

impl Project {
    /// The files in the folders among `files`, which are taken out of them.
    pub fn of_folders(files: &mut Vec<PathBuf>) -> Result<Self> {
        let mut project = Project::default();
        let (folders, others): (Vec<PathBuf>, Vec<PathBuf>) =
            std::mem::take(files).into_iter().partition(|file| file.is_dir());
        *files = others;
        for folder in folders {
            collect(&folder, &folder, &|path| is_source(path) || is_build_file(path), &mut project)?;
        }
        Ok(project)
    }

    /// The sources of a compilation database, the headers that they reach below the database's folder, and
    /// the build files there.
    pub fn of_commands(database: &Path) -> Result<Self> {
        #[derive(serde::Deserialize)]
        struct Command {
            directory: PathBuf,
            file: PathBuf,
            #[serde(default)]
            arguments: Vec<String>,
            #[serde(default)]
            command: String,
        }
        let commands: Vec<Command> = serde_json::from_slice(&files::read(database, files::MOST_SOURCE)?)
            .with_context(|| format!("{} is not a compilation database", database.display()))?;
        let mut root: Option<PathBuf> = None;
        let mut folders = BTreeSet::new();
        let mut open = Vec::new();
        let here = database.parent().map(Path::to_owned).unwrap_or_default();
        for command in commands {
            let directory = here.join(command.directory);
            let words: Vec<&str> = match command.arguments.is_empty() {
                true => command.command.split_whitespace().collect(),
                false => command.arguments.iter().map(String::as_str).collect(),
            };
            for (at, word) in words.iter().enumerate() {
                let folder = match *word {
                    "-I" | "-isystem" | "-iquote" => words.get(at + 1).copied(),
                    word => word.strip_prefix("-I").or_else(|| word.strip_prefix("-isystem")),
                };
                folders.extend(folder.map(|folder| tidy(&directory.join(folder.trim_matches('"')))));
            }
            let file = tidy(&directory.join(command.file));
            let folder = file.parent().map(Path::to_owned).unwrap_or_default();
            root = Some(
                match root {
                    Some(root) => {
                        root.ancestors().find(|outer| folder.starts_with(outer)).map(Path::to_owned)
                    }
                    None => Some(folder),
                }
                .unwrap_or_default(),
            );
            open.push(file);
        }
        // The project's folder contains every source, and the database unless that is in a build folder of
        // its own elsewhere.
        let Some(sources) = root else { return Ok(Project::default()) };
        let here = tidy(&here);
        let root = match sources.starts_with(&here) {
            true => here,
            false => sources.clone(),
        };
        let mut project = Project::default();
        while let Some(file) = open.pop() {
            let place = file.strip_prefix(&root).unwrap_or(&file).to_owned();
            if !place.components().all(|part| matches!(part, Component::Normal(_))) {
                bail!("{} is outside the project's folder, {}", file.display(), root.display());
            }
            if project.files.insert(file.clone(), place).is_some() {
                continue;
            }
            if !file.is_file() {
                continue;
            }
            let Ok(text) = files::read(&file, files::MOST_SOURCE) else { continue };
            for name in includes(&text) {
                let beside = file.parent().map(|folder| folder.join(&name));
                let found = beside
                    .into_iter()
                    .chain(folders.iter().map(|folder| folder.join(&name)))
                    .map(|path| tidy(&path))
                    .find(|path| path.is_file());
                open.extend(
                    found.filter(|path| path.starts_with(&root) && !project.files.contains_key(path)),
                );
            }
        }
        collect(&root, &root, &is_build_file, &mut project)?;
        Ok(project)
    }

    /// Whether no project is translated.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Finds what sources that are given one by one share: themselves, and the headers that they include, in
    /// their own folder, in `folders`, or in a folder above their own in the working directory.
    pub fn reach(&mut self, sources: &[PathBuf], folders: &[PathBuf]) {
        /// The number of files that are read.
        const MOST: usize = 4096;
        let mut open: Vec<PathBuf> = sources.iter().map(|file| tidy(file)).collect();
        while let Some(file) = open.pop() {
            let regular = fs::metadata(&file).is_ok_and(|known| known.is_file());
            if !regular || self.beside.len() >= MOST || !self.beside.insert(file.clone()) {
                continue;
            }
            let Ok(text) = files::read(&file, files::MOST_SOURCE) else { continue };
            // The folders above an absolute path are not those of the project.
            let above = if file.is_absolute() { 1 } else { usize::MAX };
            for name in includes(&text) {
                let around = file.ancestors().skip(1).take(above).chain(folders.iter().map(PathBuf::as_path));
                let found = around.map(|folder| tidy(&folder.join(&name))).find(|path| path.is_file());
                open.extend(found.filter(|path| !self.beside.contains(path)));
            }
        }
    }

    /// Reads what the sources declare, for the translation of the others. What cannot be read is reported
    /// when it is translated.
    pub fn read_names(&mut self) {
        let mut names = hipify::Project::default();
        for (file, place) in &self.files {
            let regular = fs::metadata(file).is_ok_and(|known| known.is_file());
            let source = regular && !is_build_file(file);
            let text =
                if source { files::read(file, files::MOST_SOURCE).unwrap_or_default() } else { Vec::new() };
            names.add(&place.to_string_lossy(), &text);
        }
        for file in self.beside.iter().filter(|file| !self.files.contains_key(*file)) {
            names.add(&file.to_string_lossy(), &files::read(file, files::MOST_SOURCE).unwrap_or_default());
        }
        self.names = Arc::new(names);
    }

    /// What the files declare.
    pub fn names(&self) -> Arc<hipify::Project> {
        Arc::clone(&self.names)
    }

    /// The files, in order.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> + '_ {
        self.files.keys().cloned()
    }

    /// The place of a file below the project's folder; `None` if it is not in a project.
    pub fn place(&self, file: &Path) -> Option<&Path> {
        self.files.get(file).map(PathBuf::as_path)
    }

    /// Counts a translated file.
    pub fn count(&self, changed: bool, findings: &[Diagnostic]) {
        let mut counts = self.counts.borrow_mut();
        counts.read += 1;
        counts.changed += usize::from(changed);
        for finding in findings {
            *counts.findings.entry(finding.reason).or_default() += 1;
        }
    }

    /// A table of the results.
    pub fn summary(&self) -> String {
        let counts = self.counts.borrow();
        let mut out = format!("{:>6}  files\n{:>6}  of these change\n", counts.read, counts.changed);
        for (reason, count) in &counts.findings {
            let name = serde_json::to_value(reason).ok();
            let _ =
                writeln!(out, "{count:>6}  {}", name.as_ref().and_then(|name| name.as_str()).unwrap_or(""));
        }
        out
    }
}

/// The headers that a text includes.
fn includes(text: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(text)
        .lines()
        .filter_map(|line| {
            let rest =
                line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
            let close = match rest.chars().next()? {
                '"' => '"',
                '<' => '>',
                _ => return None,
            };
            rest.get(1..)?.split(close).next().map(String::from)
        })
        .collect()
}
