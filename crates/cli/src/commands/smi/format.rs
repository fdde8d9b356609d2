//! `--format=csv`: fields as comma-separated values.

use super::fields::{Entry, Field, Table};
use super::look::Look;

/// How fields are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Format {
    csv: bool,
    no_header: bool,
    no_units: bool,
}

impl Format {
    /// The format that these words describe, or the sentence that says what is wrong with them.
    pub fn of(words: &[String]) -> Result<Format, String> {
        let mut format = Format::default();
        for word in words {
            match word.trim() {
                "csv" => format.csv = true,
                "noheader" => format.no_header = true,
                "nounits" => format.no_units = true,
                other => return Err(format!("\"{other}\" is not a format: csv, noheader or nounits.")),
            }
        }
        if format.csv { Ok(format) } else { Err("The format must contain csv: --format=csv".into()) }
    }

    /// The fields of every device or of every process, under their names.
    pub fn print(self, look: &Look<'_>, table: Table, fields: &[&Field], first: bool) -> String {
        let mut out = String::new();
        if first && !self.no_header {
            let names: Vec<String> = fields.iter().map(|field| field.heading()).collect();
            out.push_str(&line(&names));
        }
        for gpu in &look.gpus {
            let entry = |client| Entry { look, gpu, client };
            let entries: Vec<Entry<'_>> = match table {
                Table::Gpus => vec![entry(None)],
                Table::Apps => gpu.clients().iter().map(|client| entry(Some(*client))).collect(),
            };
            for entry in &entries {
                let cell = |field: &&Field| self.cell(field, (field.value)(entry));
                out.push_str(&line(&fields.iter().map(cell).collect::<Vec<_>>()));
            }
        }
        out
    }

    fn cell(self, field: &Field, value: Option<String>) -> String {
        match value {
            None => "[N/A]".into(),
            Some(value) if self.no_units || field.unit.is_empty() => value,
            Some(value) => format!("{value} {}", field.unit),
        }
    }
}

fn line(cells: &[String]) -> String {
    cells.join(", ") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_format() {
        let of = |words: &[&str]| Format::of(&words.iter().map(|word| word.to_string()).collect::<Vec<_>>());
        let all = Format { csv: true, no_header: true, no_units: true };
        assert_eq!(of(&["csv", "noheader", " nounits"]), Ok(all));
        assert_eq!(of(&["csv"]), Ok(Format { csv: true, ..Format::default() }));
        assert!(of(&["noheader"]).is_err() && of(&[]).is_err());
        assert!(of(&["csv", "xml"]).is_err_and(|sentence| sentence.contains("\"xml\"")));
    }
}
