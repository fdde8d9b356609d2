//! The result for a module or a kernel, as a line of tab-separated values.

/// The outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// A module that loads.
    Loaded,
    /// A kernel with machine code.
    Compiled,
    /// A kernel with machine code in per-lane mode.
    PerLane,
    /// A kernel that is interpreted.
    Interpreted,
    /// A kernel that was not selected.
    Skipped,
    /// A module that does not load.
    Refused,
    /// The time limit was reached.
    Late,
    /// The process died.
    Crashed,
}

impl Outcome {
    const ALL: [(Outcome, &str); 8] = [
        (Outcome::Loaded, "loaded"),
        (Outcome::Compiled, "compiled"),
        (Outcome::PerLane, "per lane"),
        (Outcome::Interpreted, "interpreted"),
        (Outcome::Skipped, "skipped"),
        (Outcome::Refused, "refused"),
        (Outcome::Late, "late"),
        (Outcome::Crashed, "crashed"),
    ];

    /// Its name in a row.
    pub fn name(self) -> &'static str {
        Outcome::ALL.iter().find(|(o, _)| *o == self).map_or("", |(_, name)| name)
    }

    fn named(name: &str) -> Option<Outcome> {
        Outcome::ALL.iter().find(|(_, n)| *n == name).map(|(o, _)| *o)
    }
}

/// The columns.
pub const HEADINGS: [&str; 8] =
    ["module", "kernel", "outcome", "effort", "size", "seconds", "processor seconds", "reason"];

/// The result for a module, or for one of its kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The file.
    pub module: String,
    /// The kernel's name; empty in the row of a module.
    pub kernel: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The compiler's effort; empty without code.
    pub effort: String,
    /// Number of PTX statements of a module, or of wave operations of a kernel (without its callees).
    pub size: u64,
    /// Duration of loading or compiling in seconds.
    pub seconds: f64,
    /// Processor time in seconds: of all threads for a module, of one thread for a kernel.
    pub processor: f64,
    /// Why it failed.
    pub reason: String,
}

impl Row {
    /// The row as a line.
    pub fn line(&self) -> String {
        let plain = |text: &str| text.replace(['\t', '\n', '\r'], " ");
        format!(
            "{}\t{}\t{}\t{}\t{}\t{:.4}\t{:.4}\t{}",
            plain(&self.module),
            plain(&self.kernel),
            self.outcome.name(),
            self.effort,
            self.size,
            self.seconds,
            self.processor,
            plain(&self.reason)
        )
    }

    /// Parses a line.
    pub fn read(line: &str) -> Option<Row> {
        let mut cells = line.split('\t');
        let mut next = || cells.next();
        Some(Row {
            module: next()?.into(),
            kernel: next()?.into(),
            outcome: Outcome::named(next()?)?,
            effort: next()?.into(),
            size: next()?.parse().ok()?,
            seconds: next()?.parse().ok()?,
            processor: next()?.parse().ok()?,
            reason: next()?.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_a_row_knows() {
        for (outcome, _) in Outcome::ALL {
            let row = Row {
                module: "a b.ptx".into(),
                kernel: "k".into(),
                outcome,
                effort: "least".into(),
                size: 7,
                seconds: 0.25,
                processor: 0.5,
                reason: "two\tlines\nof it".into(),
            };
            let read = Row { reason: "two lines of it".into(), ..row.clone() };
            assert_eq!(Row::read(&row.line()), Some(read));
        }
    }
}
