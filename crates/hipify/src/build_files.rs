//! CMake files and makefiles: words whose counterpart is certain are translated, others are reported with
//! what to write instead. `data/build.tsv` has the words.

use std::ops::Range;

use crate::diagnostic::{Diagnostic, Lines, Reason};
use crate::edit::Edits;
use crate::table;

/// The kind of a build file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildFile {
    /// `CMakeLists.txt` and `*.cmake`.
    CMake,
    /// Makefiles.
    Make,
}

impl BuildFile {
    /// The kind of a file, by its name.
    pub fn of(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        if lower == "cmakelists.txt" || lower.ends_with(".cmake") {
            return Some(BuildFile::CMake);
        }
        let make = matches!(&*lower, "makefile" | "gnumakefile") || lower.starts_with("makefile.");
        (make && !lower.ends_with(".prehip") || lower.ends_with(".mk")).then_some(BuildFile::Make)
    }

    fn key(self) -> &'static str {
        match self {
            BuildFile::CMake => "cmake",
            BuildFile::Make => "make",
        }
    }

    fn is_word(self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b':' | b'.' | b'/' | b'-')
            || self == BuildFile::Make && matches!(byte, b'=' | b'+')
    }
}

/// A translated build file.
#[derive(Clone, Debug)]
pub struct BuildTranslation {
    /// The translated text.
    pub text: Vec<u8>,
    /// Diagnostics in text order.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of words that were translated.
    pub translated: usize,
}

/// Translates a build file.
pub fn translate(text: &[u8], kind: BuildFile) -> BuildTranslation {
    let lines = Lines::new(text);
    let mut edits = Edits::default();
    let mut diagnostics = Vec::new();
    let mut translated = 0;
    // The command that CMake arguments belong to.
    let mut command = String::new();
    for word in words(text, kind) {
        let Some(name) = text.get(word.clone()).and_then(|bytes| std::str::from_utf8(bytes).ok()) else {
            continue;
        };
        let follows = text.get(word.end..).unwrap_or(&[]);
        if kind == BuildFile::CMake && follows.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'(') {
            command = name.to_ascii_lowercase();
        }
        let (to, advice) = match kind {
            BuildFile::CMake => cmake(&command, name, first_argument(text, word.start), follows),
            BuildFile::Make => None,
        }
        .or_else(|| make_variable(kind, text, &word, name))
        .or_else(|| table::build_word(kind.key(), name))
        .unwrap_or_default();
        if !to.is_empty() {
            edits.replace(word.clone(), to);
            translated += 1;
        }
        if !advice.is_empty() {
            let (line, column) = lines.position(word.start);
            let message = match to {
                "" => format!("'{name}' is CUDA's and left unchanged"),
                to => format!("'{name}' becomes '{to}'"),
            };
            diagnostics.push(Diagnostic {
                reason: Reason::Build,
                name: name.into(),
                message,
                line,
                column,
                offset: word.start,
                suggestion: Some(advice.into()),
            });
        }
    }
    BuildTranslation { text: edits.apply(text).0, diagnostics, translated }
}

/// The words outside comments.
fn words(text: &[u8], kind: BuildFile) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at).copied() {
        if byte == b'#' {
            at += text
                .get(at..)
                .and_then(|rest| rest.iter().position(|b| *b == b'\n'))
                .unwrap_or(text.len() - at);
        } else if kind.is_word(byte) {
            let rest = text.get(at..).unwrap_or(&[]);
            // `CC=nvcc` is two words, `-rdc=true` is one.
            let ends = |b: &u8| !kind.is_word(*b) || *b == b'=' && byte != b'-';
            let length = rest.iter().position(ends).unwrap_or(rest.len()).max(1);
            words.push(at..at + length);
            at += length;
        } else {
            at += 1;
        }
    }
    words
}

/// Whether a word comes right after a command's parenthesis.
fn first_argument(text: &[u8], start: usize) -> bool {
    text.get(..start).is_some_and(|before| before.trim_ascii_end().ends_with(b"("))
}

/// What takes the place of a word that has a meaning in a CMake command only.
fn cmake(command: &str, name: &str, first: bool, follows: &[u8]) -> Option<(&'static str, &'static str)> {
    let language = matches!(
        command,
        "project" | "enable_language" | "set_source_files_properties" | "set_property" | "check_language"
    );
    match (command, name) {
        // The first argument of `project` is a name.
        (_, "CUDA") if language && !(first && command == "project") => {
            Some(("HIP", "name AMD's architectures in CMAKE_HIP_ARCHITECTURES, such as gfx90a;gfx942"))
        }
        ("find_package", "CUDA" | "CUDAToolkit") => {
            let rest = follows.trim_ascii_start();
            if rest.first().is_some_and(u8::is_ascii_digit) {
                return Some(("", "write find_package(hip), with a version of ROCm if it needs one"));
            }
            Some(("hip", ""))
        }
        ("add_executable" | "add_library" | "target_sources", source) if source.ends_with(".cu") => {
            Some(("", "set its property LANGUAGE to HIP: CMake takes the extension for CUDA's"))
        }
        (_, "COMPILE_LANGUAGE:CUDA") => Some(("COMPILE_LANGUAGE:HIP", "its options must be those of clang")),
        (_, "COMPILE_LANG_AND_ID:CUDA") => Some(("", "write COMPILE_LANG_AND_ID:HIP,Clang")),
        _ => None,
    }
}

/// In makefiles, `nvcc` at the end of a path or a variable's value is the compiler.
fn make_variable(
    kind: BuildFile,
    text: &[u8],
    word: &Range<usize>,
    name: &str,
) -> Option<(&'static str, &'static str)> {
    let path = kind == BuildFile::Make && name.ends_with("/nvcc");
    let part = word.start.checked_sub(1).and_then(|before| text.get(before)) == Some(&b')');
    path.then_some(match part {
        // `$(CUDA)/bin/nvcc`
        true => ("", "write $(ROCM_PATH)/bin/hipcc, or hipcc"),
        false => ("hipcc", "ROCm is installed in /opt/rocm: its bin folder must be in PATH"),
    })
}
