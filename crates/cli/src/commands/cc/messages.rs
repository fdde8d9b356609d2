//! clang's messages: what is added to them about headers that are not here, and what a full disk looks like.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

/// Lets a command's messages be read; clang keeps their colours.
pub fn listen(command: &mut Command) {
    if io::stderr().is_terminal() {
        command.arg("-fcolor-diagnostics");
    }
    command.stderr(Stdio::piped());
}

/// Passes messages on, and adds what is known of a header that was not found. If clang could not write its
/// output, which it reports as a crash of its own, returns the reason instead of the dump.
pub fn pass_on(messages: impl io::Read) -> io::Result<Option<String>> {
    let (mut notes, mut unwritten) = (Vec::new(), None);
    for line in io::BufReader::new(messages).split(b'\n') {
        let mut line = line?;
        unwritten = unwritten.or_else(|| not_written(&String::from_utf8_lossy(&line)));
        if unwritten.is_some() {
            continue;
        }
        if let Some(note) = clang::note(&String::from_utf8_lossy(&line))
            && !notes.contains(&note)
        {
            notes.push(note);
        }
        line.push(b'\n');
        io::stderr().write_all(&line)?;
    }
    for note in notes {
        writeln!(io::stderr(), "anywarp cc: {note}")?;
    }
    Ok(unwritten)
}

/// Why clang could not write its output, from the first line of its report.
fn not_written(message: &str) -> Option<String> {
    let (_, reason) = message.split_once("IO failure on output stream: ")?;
    // What follows resets the colours.
    Some(reason.split('\u{1b}').next().unwrap_or(reason).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_no_crash() {
        let told = "\u{1b}[1mfatal error: \u{1b}[0merror in backend: IO failure on output stream: No space left on \
                    device\u{1b}[0m\nPLEASE submit a bug report\nStack dump:\n0.\tProgram arguments: clang++\n";
        let reason = pass_on(told.as_bytes()).expect("nothing fails");
        assert_eq!(reason.as_deref(), Some("No space left on device"));
        assert_eq!(pass_on("a.cu:1:1: warning: unused\n".as_bytes()).expect("nothing fails"), None);
    }
}
