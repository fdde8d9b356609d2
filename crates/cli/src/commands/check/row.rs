//! What is known of a module or a kernel, as a line of tab-separated values.

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// A module that loads.
    Loaded,
    /// A kernel with machine code.
    Compiled,
    /// A kernel with machine code in which each lane goes on for itself.
    PerLane,
    /// A kernel that is interpreted.
    Interpreted,
    /// A kernel that was not asked for.
    Skipped,
    /// A module that does not load.
    Refused,
    /// The limit was reached.
    Late,
    /// The process ended.
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

    /// Its name in a line.
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

/// A module, or one of its kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The file.
    pub module: String,
    /// The kernel's name; empty: the row is about the module.
    pub kernel: String,
    /// What came of it.
    pub outcome: Outcome,
    /// How hard the compiler tried; empty where it made nothing.
    pub effort: String,
    /// A module's PTX statements, a kernel's wave operations (without what it calls).
    pub size: u64,
    /// How long loading or compiling took, by the clock.
    pub seconds: f64,
    /// How long the processor worked on it, on all threads for a module, on one for a kernel.
    pub processor: f64,
    /// Why it failed.
    pub reason: String,
}

impl Row {
    /// As a line.
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

    /// What a line says.
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
