//! Statistics: how much of a text was CUDA, and how much of that was translated, in hipify-clang's format.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;

use crate::table::{Api, Kind};

/// Numbers of references.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counter {
    /// By kind.
    pub by_type: BTreeMap<Kind, usize>,
    /// By interface.
    pub by_api: BTreeMap<Api, usize>,
    /// By CUDA name.
    pub by_name: BTreeMap<String, usize>,
}

impl Counter {
    /// Counts one reference.
    pub fn add(&mut self, kind: Kind, api: Api, name: &str) {
        *self.by_type.entry(kind).or_default() += 1;
        *self.by_api.entry(api).or_default() += 1;
        match self.by_name.get_mut(name) {
            Some(count) => *count += 1,
            None => {
                self.by_name.insert(name.to_owned(), 1);
            }
        }
    }

    /// All references.
    pub fn total(&self) -> usize {
        self.by_type.values().sum()
    }

    fn merge(&mut self, other: &Counter) {
        for (kind, count) in &other.by_type {
            *self.by_type.entry(*kind).or_default() += count;
        }
        for (api, count) in &other.by_api {
            *self.by_api.entry(*api).or_default() += count;
        }
        for (name, count) in &other.by_name {
            *self.by_name.entry(name.clone()).or_default() += count;
        }
    }
}

/// The statistics of one text, or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Statistics {
    /// References with a counterpart.
    pub converted: Counter,
    /// References without a counterpart.
    pub unconverted: Counter,
    /// Number of replaced bytes.
    pub replaced_bytes: usize,
    /// Number of bytes.
    pub total_bytes: usize,
    /// Number of changed lines.
    pub changed_lines: usize,
    /// Number of line ends.
    pub total_lines: usize,
}

/// Output formats of statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Readable text.
    Text,
    /// `name;value` lines.
    Csv,
}

fn percent(part: usize, whole: usize) -> String {
    format!("{:.1}", if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 })
}

impl Statistics {
    /// Adds the statistics of another text.
    pub fn merge(&mut self, other: &Statistics) {
        self.converted.merge(&other.converted);
        self.unconverted.merge(&other.unconverted);
        self.replaced_bytes += other.replaced_bytes;
        self.total_bytes += other.total_bytes;
        self.changed_lines += other.changed_lines;
        self.total_lines += other.total_lines;
    }

    /// The statistics as text; `title` is the file's name, or GLOBAL for several files.
    pub fn print(&self, title: &str, elapsed: Duration, format: Format) -> String {
        let mut out = heading(&format!("file '{title}' statistics:"), format);
        let (converted, unconverted) = (self.converted.total(), self.unconverted.total());
        let mut line = |name: &str, value: String| out += &row(name, &value, format);
        line("CONVERTED refs count", converted.to_string());
        line("UNCONVERTED refs count", unconverted.to_string());
        line("CONVERSION %", percent(converted, converted + unconverted));
        line("REPLACED bytes", self.replaced_bytes.to_string());
        line("TOTAL bytes", self.total_bytes.to_string());
        line("CHANGED lines of code", self.changed_lines.to_string());
        line("TOTAL lines of code", self.total_lines.to_string());
        line("CODE CHANGED (in bytes) %", percent(self.replaced_bytes, self.total_bytes));
        line("CODE CHANGED (in lines) %", percent(self.changed_lines, self.total_lines));
        line("TIME ELAPSED s", format!("{:.2}", elapsed.as_secs_f64()));
        out += &counter(&self.converted, "CONVERTED", format);
        out += &counter(&self.unconverted, "UNCONVERTED", format);
        out
    }
}

/// The final lines for several files.
pub fn print_totals(converted: usize, processed: usize, format: Format) -> String {
    heading("TOTAL statistics:", format)
        + &row("CONVERTED files", &converted.to_string(), format)
        + &row("PROCESSED files", &processed.to_string(), format)
}

fn heading(text: &str, format: Format) -> String {
    match format {
        Format::Text => format!("\n[HIPIFY] info: {text}\n"),
        Format::Csv => format!("\n{text}\n"),
    }
}

fn row(name: &str, value: &str, format: Format) -> String {
    match format {
        Format::Text => format!("  {name}: {value}\n"),
        Format::Csv => format!("{name};{value}\n"),
    }
}

fn counter(counter: &Counter, prefix: &str, format: Format) -> String {
    let mut out = String::new();
    let mut part = |by: &str, column: &str, rows: Vec<(&str, usize)>| {
        if rows.is_empty() {
            return;
        }
        let _ = match format {
            Format::Text => writeln!(out, "[HIPIFY] info: {prefix} refs by {by}:"),
            Format::Csv => writeln!(out, "\n{column};Count"),
        };
        for (name, count) in rows {
            out += &row(name, &count.to_string(), format);
        }
    };
    part(
        "type",
        "CUDA ref type",
        counter.by_type.iter().map(|(kind, count)| (kind.name(), *count)).collect(),
    );
    part("API", "CUDA API", counter.by_api.iter().map(|(api, count)| (api.name(), *count)).collect());
    part(
        "names",
        "CUDA ref name",
        counter.by_name.iter().map(|(name, count)| (name.as_str(), *count)).collect(),
    );
    out
}
