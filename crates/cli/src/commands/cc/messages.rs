//! clang's messages: what is added to them about headers that are not here, and what a full disk looks like.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

/// The beginnings of headers' names, and what they belong to.
const KNOWN: &[(&str, &str)] = &[
    ("cublas", "cuBLAS is a closed library of NVIDIA's"),
    ("cudnn", "cuDNN is a closed library of NVIDIA's"),
    ("cufft", "cuFFT is a closed library of NVIDIA's"),
    ("curand", "cuRAND is a closed library of NVIDIA's"),
    ("cusolver", "cuSOLVER is a closed library of NVIDIA's"),
    ("cusparse", "cuSPARSE is a closed library of NVIDIA's"),
    ("npp", "NPP is a closed library of NVIDIA's"),
    ("nvjpeg", "nvJPEG is a closed library of NVIDIA's"),
    ("cuda_gl_interop", "there is no OpenGL on Anywarp's devices"),
    ("mma.h", "matrix instructions are not among our headers"),
    ("cub/", "CUB is a part of NVIDIA's CCCL; name its folder with -I (clang may not compile it)"),
    ("thrust/", "Thrust is a part of NVIDIA's CCCL; name its folder with -I (clang may not compile it)"),
    ("cutlass/", "CUTLASS is a library of its own; name its folder with -I"),
    ("nccl.h", "NCCL is a library of its own; name its folder with -I"),
    ("helper_cuda.h", "it belongs to NVIDIA's samples; name their folder Common with -I"),
    ("hipblas", "hipBLAS is a library of ROCm's; name its folder with -I"),
    ("rocblas", "rocBLAS is a library of ROCm's; name its folder with -I"),
    ("hiprand", "hipRAND is a library of ROCm's; name its folder with -I"),
    ("rocrand", "rocRAND is a library of ROCm's; name its folder with -I"),
    ("hipcub", "hipCUB is a library of ROCm's; name its folder with -I"),
    ("rocprim", "rocPRIM is a library of ROCm's; name its folder with -I"),
    ("omp.h", "it belongs to clang's OpenMP (`apt-get install libomp-19-dev`)"),
];

/// Lets a command's messages be read; clang keeps their colours.
pub fn listen(command: &mut Command) {
    if io::stderr().is_terminal() {
        command.arg("-fcolor-diagnostics");
    }
    command.stderr(Stdio::piped());
}

/// Passes messages on, and adds what is known of a header that was not found. If clang could not write its output,
/// which it reports as a crash of its own, returns the reason instead of the dump.
pub fn pass_on(messages: impl io::Read) -> io::Result<Option<String>> {
    let (mut notes, mut unwritten) = (Vec::new(), None);
    for line in io::BufReader::new(messages).split(b'\n') {
        let mut line = line?;
        unwritten = unwritten.or_else(|| not_written(&String::from_utf8_lossy(&line)));
        if unwritten.is_some() {
            continue;
        }
        if let Some(note) = note(&String::from_utf8_lossy(&line))
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

/// What to say of a message of clang's.
fn note(message: &str) -> Option<String> {
    let header = message.split_once("' file not found")?.0.rsplit_once('\'')?.1;
    let name = header.rsplit_once('/').map_or(header, |(_, name)| name);
    let known = |start: &str| header.starts_with(start) || name.starts_with(start);
    let (_, what) = KNOWN.iter().find(|(start, _)| known(start))?;
    Some(format!("{header}: {what}"))
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

    #[test]
    fn headers_of_libraries_are_named() {
        let of = |header: &str| note(&format!("a.cu:1:10: fatal error: '{header}' file not found"));
        assert_eq!(of("cublas_v2.h").as_deref(), Some("cublas_v2.h: cuBLAS is a closed library of NVIDIA's"));
        assert!(of("thrust/sort.h").is_some_and(|note| note.contains("CCCL")));
        assert!(of("hip/hipblas.h").is_some_and(|note| note.contains("ROCm")));
        assert_eq!(of("mine.h"), None);
        assert_eq!(note("a.cu:1:1: error: expected ';'"), None);
    }
}
