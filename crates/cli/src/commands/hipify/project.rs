//! Whole projects: the sources and build files in folders, or those that a compilation database reaches.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use hipify::build_files::BuildFile;
use hipify::{Diagnostic, Reason};

use super::tree::{self, Tree, tidy};
use crate::files;

/// Extensions of sources and headers.
pub const SOURCES: [&str; 13] =
    ["cu", "cuh", "h", "hh", "hpp", "hxx", "inl", "inc", "ipp", "c", "cc", "cpp", "cxx"];

/// The files of a project, and what became of them.
#[derive(Default)]
pub struct Project {
    /// Each file, with its place below the project's folder.
    files: BTreeMap<PathBuf, PathBuf>,
    /// Files that are read for what they declare, and not translated as a project's: sources that are given
    /// one by one, and the headers that they include.
    beside: BTreeSet<PathBuf>,
    /// Headers that sources of the project include and that are not translated with it.
    outside: Vec<(PathBuf, &'static str)>,
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
        && !tree::is_written(path)
}

/// Adds the wanted files below a folder. Hidden folders, those of builds, and links are not followed.
fn collect(folder: &Path, wanted: &dyn Fn(&Path) -> bool, to: &mut dyn FnMut(PathBuf)) -> Result<()> {
    let context = || format!("cannot read {}", folder.display());
    // The folder of a relative path may have no name.
    let named = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    for entry in fs::read_dir(named).with_context(context)? {
        let entry = entry.with_context(context)?;
        let (path, kind) = (folder.join(entry.file_name()), entry.file_type().with_context(context)?);
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if kind.is_dir() && !hidden && !tree::is_build_folder(&path) {
            collect(&path, wanted, to)?;
        } else if kind.is_file() && wanted(&path) {
            to(path);
        }
    }
    Ok(())
}

impl Project {
    /// The files in the folders among `files`, which are taken out of them.
    pub fn of_folders(files: &mut Vec<PathBuf>) -> Result<Self> {
        let mut project = Project::default();
        let (folders, others): (Vec<PathBuf>, Vec<PathBuf>) =
            std::mem::take(files).into_iter().partition(|file| file.is_dir());
        *files = others;
        for folder in folders {
            collect(&folder, &|path| is_source(path) || is_build_file(path), &mut |path| {
                let place = path.strip_prefix(&folder).unwrap_or(&path).to_owned();
                project.files.insert(path, place);
            })?;
        }
        Ok(project)
    }

    /// The sources of a compilation database, the headers of their project that they reach, and the build
    /// files there.
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
        let mut folders = BTreeSet::new();
        let mut open = Vec::new();
        let here = std::path::absolute(database)?.parent().map(tidy).unwrap_or_default();
        // Files are named as the database names them.
        let below =
            commands.iter().any(|command| command.directory.is_relative()).then(std::env::current_dir);
        let below = below.transpose()?;
        let named = |file: &Path| match &below {
            Some(folder) => file.strip_prefix(folder).unwrap_or(file).to_owned(),
            None => file.to_owned(),
        };
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
            open.push(tidy(&directory.join(command.file)));
        }
        let mut project = Project::default();
        let Some(mut tree) = Tree::of(&here, &open) else { return Ok(project) };
        let mut all = BTreeSet::new();
        while let Some(file) = open.pop() {
            if !all.insert(file.clone()) || !file.is_file() {
                continue;
            }
            let Ok(text) = files::read(&file, files::MOST_SOURCE) else { continue };
            for (name, quoted) in includes(&text) {
                let beside = file.parent().map(|folder| tidy(&folder.join(&name)));
                let is_beside = beside.as_ref().is_some_and(|path| path.is_file());
                let mut others = folders.iter().map(|folder| tidy(&folder.join(&name)));
                let found = beside.filter(|_| is_beside).or_else(|| others.find(|path| path.is_file()));
                let Some(found) = found.filter(|path| !all.contains(path)) else { continue };
                if tree.has(&found, is_beside && quoted) {
                    tree.extend(&found);
                    open.push(found);
                } else if quoted && !is_installed(&found, &name) && project.beside.insert(found.clone()) {
                    let why = match tree.is_generated(&found) {
                        true => "is a file of the build: what generates it must write HIP",
                        false => "is outside the project's folder and not translated",
                    };
                    project.outside.push((named(&found), why));
                }
            }
        }
        collect(&tree.home, &|path| is_build_file(path) && !tree.is_generated(path), &mut |path| {
            all.insert(path);
        })?;
        for file in all {
            let Ok(place) = file.strip_prefix(&tree.root) else {
                bail!("{} is outside the project's folder, {}", file.display(), tree.root.display());
            };
            project.files.insert(named(&file), place.to_owned());
        }
        Ok(project)
    }

    /// Headers that sources include in quotes and that are not the project's, with the reason.
    pub fn outside(&self) -> &[(PathBuf, &'static str)] {
        &self.outside
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
            for (name, _) in includes(&text) {
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

/// Whether a header belongs to CUDA or to the system.
fn is_installed(path: &Path, name: &str) -> bool {
    path.starts_with("/usr") || path.starts_with("/opt") || hipify::table::header(name).is_some()
}

/// The headers that a text includes, with whether they are in quotes.
fn includes(text: &[u8]) -> Vec<(String, bool)> {
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
            rest.get(1..)?.split(close).next().map(|name| (name.into(), close == '"'))
        })
        .collect()
}
