//! The summary of a check.

use std::collections::BTreeMap;
use std::fmt;

use cpu::Effort;

use super::row::{Outcome, Row};
use crate::table;

/// Number of rows in the lists of slow ones.
const SLOWEST: usize = 5;

/// The summary that is printed at the end.
pub struct Summary<'a> {
    rows: &'a [Row],
}

fn is_failure(row: &Row) -> bool {
    !matches!(row.outcome, Outcome::Loaded | Outcome::Compiled | Outcome::PerLane | Outcome::Skipped)
}

/// A reason without its case-specific parts: numbers, and quoted names other than those of instructions.
fn kind(reason: &str) -> String {
    let mut out = String::new();
    for (n, part) in reason.split('\'').enumerate() {
        if n > 0 {
            out.push('\'');
        }
        let instruction =
            part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_.:".contains(&b));
        match n % 2 {
            1 if instruction => out.push_str(part),
            1 => out.push('…'),
            _ => part.chars().for_each(|c| match c {
                '0'..='9' if out.ends_with('#') => {}
                '0'..='9' => out.push('#'),
                c => out.push(c),
            }),
        }
    }
    out
}

impl<'a> Summary<'a> {
    /// Summarises these rows.
    pub fn new(rows: &'a [Row]) -> Summary<'a> {
        Summary { rows }
    }

    fn modules(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|r| r.kernel.is_empty())
    }

    fn kernels(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|r| !r.kernel.is_empty())
    }

    /// Whether nothing failed.
    pub fn is_clean(&self) -> bool {
        !self.rows.iter().any(is_failure)
    }

    /// The longest duration of loading, in seconds.
    pub fn slowest_load(&self) -> f64 {
        self.modules().map(|r| r.seconds).fold(0.0, f64::max)
    }

    /// The longest compilation, in processor seconds.
    pub fn slowest_compile(&self) -> f64 {
        self.kernels().map(|r| r.processor).fold(0.0, f64::max)
    }

    /// The failures by reason, the most frequent first: reason, count, and an example. A reason that is the
    /// same each time is complete.
    fn failures(&self) -> Vec<(String, usize, &'a Row)> {
        let mut by: BTreeMap<(Outcome, String), Vec<&Row>> = BTreeMap::new();
        for row in self.rows.iter().filter(|r| is_failure(r)) {
            by.entry((row.outcome, kind(&row.reason))).or_default().push(row);
        }
        let one = |((outcome, kind), rows): ((Outcome, String), Vec<&'a Row>)| {
            let first = rows.first().copied()?;
            let same = rows.iter().all(|row| row.reason == first.reason);
            let why = if same { first.reason.clone() } else { kind };
            Some((format!("{}: {why}", outcome.name()), rows.len(), first))
        };
        let mut list: Vec<_> = by.into_iter().filter_map(one).collect();
        list.sort_by_key(|(_, n, _)| std::cmp::Reverse(*n));
        list
    }
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |rows: &mut dyn Iterator<Item = &Row>| {
            let mut by: BTreeMap<Outcome, usize> = BTreeMap::new();
            rows.for_each(|r| *by.entry(r.outcome).or_default() += 1);
            match by.is_empty() {
                true => "none".to_owned(),
                false => by.iter().map(|(o, n)| format!("{n} {}", o.name())).collect::<Vec<_>>().join(", "),
            }
        };
        let statements: u64 = self.modules().map(|r| r.size).sum();
        // The sum of no numbers is -0.0, which would be printed with its sign.
        let load = self.modules().fold(0.0, |all, r| all + r.processor);
        let compile = self.kernels().fold(0.0, |all, r| all + r.processor);
        writeln!(
            f,
            "modules: {}; {statements} statements, loaded in {load:.1} processor seconds",
            count(&mut self.modules())
        )?;
        writeln!(f, "kernels: {}; compiled in {compile:.1} processor seconds", count(&mut self.kernels()))?;
        let mut efforts: BTreeMap<&str, usize> = BTreeMap::new();
        self.kernels()
            .filter(|r| !r.effort.is_empty())
            .for_each(|r| *efforts.entry(&r.effort).or_default() += 1);
        if efforts.keys().any(|name| *name != Effort::Full.name()) {
            let list: Vec<String> = efforts.iter().map(|(name, n)| format!("{n} {name}")).collect();
            writeln!(f, "efforts: {}", list.join(", "))?;
        }
        let failures = self.failures();
        if !failures.is_empty() {
            let row = |(why, n, row): &(String, usize, &Row)| {
                vec![why.clone(), n.to_string(), format!("{} {}", row.module, row.kernel)]
            };
            let rows: Vec<_> = failures.iter().map(row).collect();
            write!(f, "\n{}", table::columns(&["what failed", "times", "for example"], &rows))?;
        }
        let slowest = |rows: &mut dyn Iterator<Item = &Row>, of: fn(&Row) -> f64| {
            let mut rows: Vec<&Row> = rows.filter(|r| of(r) > 0.0).collect();
            rows.sort_by(|a, b| of(b).total_cmp(&of(a)));
            rows.truncate(SLOWEST);
            rows.iter()
                .map(|r| {
                    vec![format!("{} {}", r.module, r.kernel), format!("{:.3}", of(r)), r.size.to_string()]
                })
                .collect::<Vec<_>>()
        };
        let lists = [
            ("slowest to load", "seconds", "statements", slowest(&mut self.modules(), |r| r.seconds)),
            (
                "slowest to compile",
                "processor seconds",
                "operations",
                slowest(&mut self.kernels(), |r| r.processor),
            ),
        ];
        for (what, time, size, rows) in lists.into_iter().filter(|l| !l.3.is_empty()) {
            write!(f, "\n{}", table::columns(&[what, time, size], &rows))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_that_differ_in_names_are_one() {
        assert_eq!(kind("Unresolved extern function '_ZN3abc' at 12"), "Unresolved extern function '…' at #");
        assert_eq!(kind("no 'cp.async.bulk', 'dp4a'"), "no 'cp.async.bulk', 'dp4a'");
    }
}
