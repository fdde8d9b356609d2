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
            || matches!(byte, b'_' | b':' | b'.' | b'/' | b'-' | b'=')
            || self == BuildFile::Make && byte == b'+'
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
    // The command that CMake arguments belong to, and whether one of them is CUDA's compiler.
    let (mut command, mut of_compiler) = (String::new(), false);
    let mut before = "";
    let for_cuda = [&b"nvcc"[..], b"cuda"].iter().any(|word| contains(text, word));
    for word in words(text, kind) {
        // A definition on a command line: `-DCMAKE_CUDA_STANDARD=17`.
        let word = definition(text, &word).unwrap_or(word);
        let Some(name) = text.get(word.clone()).and_then(|bytes| std::str::from_utf8(bytes).ok()) else {
            continue;
        };
        let follows = text.get(word.end..).unwrap_or(&[]);
        if kind == BuildFile::CMake && follows.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'(') {
            (command, of_compiler) = (name.to_ascii_lowercase(), false);
        }
        of_compiler |= matches!(name, "CMAKE_CUDA_COMPILER_ID" | "CMAKE_HIP_COMPILER_ID");
        let own = match (kind, name) {
            // Other programs have such an option.
            (_, "-G") if !for_cuda || is_cmake(before) => Some(("", "")),
            (_, "cu") if matches!(before, "-x" | "--x") => Some(("hip", "")),
            (BuildFile::CMake, "NVIDIA") if of_compiler => {
                Some(("", "AMD's compiler is Clang here, and takes other options"))
            }
            (BuildFile::CMake, _) => cmake(&command, name, first_argument(text, word.start), follows),
            (BuildFile::Make, _) => None,
        };
        before = name;
        let (to, advice) = own
            .or_else(|| compiler_path(kind, text, &word, name))
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
            // `CC=nvcc` and `-DCC=nvcc` are two words, `-rdc=true` is one.
            let option = byte == b'-' && !rest.starts_with(b"-D");
            let ends = |b: &u8| !kind.is_word(*b) || *b == b'=' && !option;
            let length = rest.iter().position(ends).unwrap_or(rest.len()).max(1);
            words.push(at..at + length);
            at += length;
        } else {
            at += 1;
        }
    }
    words
}

/// Whether a text contains a word, in capitals or not.
fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}

/// Whether a word of a command line is CMake.
fn is_cmake(word: &str) -> bool {
    word.rsplit('/').next() == Some("cmake") || word == "CMAKE_COMMAND"
}

/// The name in a definition on a command line.
fn definition(text: &[u8], word: &Range<usize>) -> Option<Range<usize>> {
    let name = text.get(word.clone())?.strip_prefix(b"-D")?;
    // Its type may follow: `-DCMAKE_CUDA_COMPILER:PATH=nvcc`.
    let length = name.iter().position(|byte| *byte == b':').unwrap_or(name.len());
    Some(word.start + 2..word.start + 2 + length)
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

/// `nvcc` at the end of a path is the compiler.
fn compiler_path(
    kind: BuildFile,
    text: &[u8],
    word: &Range<usize>,
    name: &str,
) -> Option<(&'static str, &'static str)> {
    if !name.ends_with("/nvcc") {
        return None;
    }
    let part = word.start.checked_sub(1).and_then(|before| text.get(before)) == Some(&b')');
    match (kind, part) {
        (BuildFile::CMake, _) => table::build_word(kind.key(), "nvcc"),
        // `$(CUDA)/bin/nvcc`
        (BuildFile::Make, true) => Some(("", "write $(ROCM_PATH)/bin/hipcc, or hipcc")),
        (BuildFile::Make, false) => {
            Some(("hipcc", "ROCm is installed in /opt/rocm: its bin folder must be in PATH"))
        }
    }
}
