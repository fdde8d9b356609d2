//! Formatting for people: columns, and sizes in bytes.

/// Formats rows under their headings: the first and the last column are left-aligned, the others are numbers
/// and right-aligned.
pub fn columns(headings: &[&str], rows: &[Vec<String>]) -> String {
    let headings: Vec<String> = headings.iter().map(|h| h.to_string()).collect();
    let all = || std::iter::once(&headings).chain(rows);
    let wide = |column: usize| {
        all().filter_map(|r| r.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(wide).collect();
    let mut out = String::new();
    for row in all() {
        let last = row.len().saturating_sub(1);
        let cells = row.iter().zip(&widths).enumerate().map(|(i, (cell, &width))| match i {
            0 => format!("{cell:<width$}"),
            i if i == last => cell.clone(),
            _ => format!("{cell:>width$}"),
        });
        out.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        out.push('\n');
    }
    out
}

/// Wraps words into lines of at most `width` characters, each with this indent.
pub fn wrapped(text: &str, indent: &str, width: usize) -> String {
    let mut out = String::new();
    let mut column = usize::MAX;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column.saturating_add(1 + length) > width {
            out.push_str(if out.is_empty() { "" } else { "\n" });
            out.push_str(indent);
            column = indent.len();
        } else {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
    out
}

/// `12.3 KiB`: bytes in the unit that needs the fewest digits.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = count as f64;
    let mut unit = "B";
    for next in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    if unit == "B" { format!("{count} B") } else { format!("{value:.1} {unit}") }
}

/// A number with its noun, in the plural unless it is 1.
pub fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (count, text) in
            [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (3 << 30, "3.0 GiB")]
        {
            assert_eq!(bytes(count), text);
        }
    }

    #[test]
    fn words_fill_lines() {
        assert_eq!(wrapped("a bb  ccc dddd eeeeeeeeeee", "  ", 8), "  a bb\n  ccc\n  dddd\n  eeeeeeeeeee\n");
        assert_eq!(wrapped("", "  ", 8), "\n");
    }

    #[test]
    fn numbers_stand_to_the_right() {
        let rows = [vec!["long name".into(), "7".into(), "x".into()]];
        assert_eq!(
            columns(&["name", "count", "what"], &rows),
            "name       count  what\nlong name      7  x\n"
        );
    }
}
