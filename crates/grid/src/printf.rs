//! `printf` in kernels: C's conversions over the argument buffer that compilers build (CUDA programming guide, "Formatted output";
//! each argument aligned to its size, floats as doubles).

use std::fmt::Write as _;

/// Reads arguments one after another.
pub struct Reader<F8, F4> {
    at: u64,
    read8: F8,
    read4: F4,
}

impl<F8: Fn(u64) -> Option<[u8; 8]>, F4: Fn(u64) -> Option<[u8; 4]>> Reader<F8, F4> {
    /// From an argument buffer.
    pub fn new(at: u64, read8: F8, read4: F4) -> Self {
        Reader { at, read8, read4 }
    }

    fn eight(&mut self) -> Option<u64> {
        let at = self.at.checked_next_multiple_of(8)?;
        self.at = at.checked_add(8)?;
        (self.read8)(at).map(u64::from_le_bytes)
    }

    fn four(&mut self) -> Option<u32> {
        let at = self.at.checked_next_multiple_of(4)?;
        self.at = at.checked_add(4)?;
        (self.read4)(at).map(u32::from_le_bytes)
    }
}

/// A conversion's flags, width and precision.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    wide: bool,
}

/// Widths beyond this are cut: a kernel must not make the host allocate without bound.
const MAX_WIDTH: usize = 4096;

/// The text, and how many arguments were used.
pub fn format<F8, F4>(
    format: &[u8],
    args: &mut Reader<F8, F4>,
    string: &dyn Fn(u64) -> Vec<u8>,
) -> (Vec<u8>, usize)
where
    F8: Fn(u64) -> Option<[u8; 8]>,
    F4: Fn(u64) -> Option<[u8; 4]>,
{
    let mut out = Vec::new();
    let mut count = 0;
    let mut i = 0;
    while i < format.len() {
        let c = format[i];
        i += 1;
        if c != b'%' {
            out.push(c);
            continue;
        }
        if format.get(i) == Some(&b'%') {
            out.push(b'%');
            i += 1;
            continue;
        }
        let start = i;
        let mut spec = Spec::default();
        while let Some(f) = format.get(i) {
            match f {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            i += 1;
        }
        spec.width = number(format, &mut i, args);
        if format.get(i) == Some(&b'.') {
            i += 1;
            spec.precision = Some(number(format, &mut i, args));
        }
        while let Some(b'h' | b'l' | b'j' | b'z' | b't' | b'L') = format.get(i) {
            spec.wide |= matches!(format[i], b'l' | b'j' | b'z' | b't');
            i += 1;
        }
        let Some(&conversion) = format.get(i) else {
            out.push(b'%');
            out.extend(&format[start..]);
            break;
        };
        i += 1;
        match convert(conversion, &spec, args, string) {
            Some(text) => {
                count += 1;
                out.extend(pad(text, &spec));
            }
            None => {
                // Not a conversion: as it stands.
                out.push(b'%');
                out.extend(&format[start..i]);
            }
        }
    }
    (out, count)
}

fn number<F8, F4>(format: &[u8], i: &mut usize, args: &mut Reader<F8, F4>) -> usize
where
    F8: Fn(u64) -> Option<[u8; 8]>,
    F4: Fn(u64) -> Option<[u8; 4]>,
{
    if format.get(*i) == Some(&b'*') {
        *i += 1;
        return (args.four().unwrap_or(0) as i32).unsigned_abs().min(MAX_WIDTH as u32) as usize;
    }
    let mut n = 0usize;
    while let Some(d @ b'0'..=b'9') = format.get(*i) {
        n = (n * 10 + usize::from(d - b'0')).min(MAX_WIDTH);
        *i += 1;
    }
    n
}

/// Sign, digits: what zero padding goes between.
struct Text {
    prefix: String,
    body: Vec<u8>,
    numeric: bool,
}

fn convert<F8, F4>(
    c: u8,
    spec: &Spec,
    args: &mut Reader<F8, F4>,
    string: &dyn Fn(u64) -> Vec<u8>,
) -> Option<Text>
where
    F8: Fn(u64) -> Option<[u8; 8]>,
    F4: Fn(u64) -> Option<[u8; 4]>,
{
    let integer = |digits: String| {
        let least = spec.precision.unwrap_or(1);
        format!("{}{digits}", "0".repeat(least.saturating_sub(digits.len())))
    };
    let sign = |negative: bool| match (negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (.., true) => " ",
        _ => "",
    };
    Some(match c {
        b'd' | b'i' => {
            let v = if spec.wide { args.eight()? as i64 } else { i64::from(args.four()? as i32) };
            Text {
                prefix: sign(v < 0).into(),
                body: integer(v.unsigned_abs().to_string()).into(),
                numeric: true,
            }
        }
        b'u' | b'x' | b'X' | b'o' => {
            let v = if spec.wide { args.eight()? } else { u64::from(args.four()?) };
            let (digits, prefix) = match c {
                b'x' => (format!("{v:x}"), "0x"),
                b'X' => (format!("{v:X}"), "0X"),
                b'o' => (format!("{v:o}"), "0"),
                _ => (v.to_string(), ""),
            };
            let prefix = if spec.alternate && v != 0 { prefix } else { "" };
            Text { prefix: prefix.into(), body: integer(digits).into(), numeric: true }
        }
        b'c' => Text { prefix: String::new(), body: vec![args.four()? as u8], numeric: false },
        b's' => {
            let mut body = string(args.eight()?);
            body.truncate(spec.precision.unwrap_or(usize::MAX));
            Text { prefix: String::new(), body, numeric: false }
        }
        b'p' => Text { prefix: String::new(), body: format!("{:#x}", args.eight()?).into(), numeric: false },
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let v = f64::from_bits(args.eight()?);
            let mut body = if v.is_finite() { float(c, v.abs(), spec) } else { special(v) };
            if c.is_ascii_uppercase() {
                body.make_ascii_uppercase();
            }
            Text {
                prefix: sign(v.is_sign_negative() && !v.is_nan()).into(),
                body: body.into(),
                numeric: v.is_finite(),
            }
        }
        _ => return None,
    })
}

fn special(v: f64) -> String {
    if v.is_nan() { "nan".into() } else { "inf".into() }
}

/// `v` (not negative) as C writes it.
fn float(c: u8, v: f64, spec: &Spec) -> String {
    let precision = spec.precision.unwrap_or(6);
    match c.to_ascii_lowercase() {
        b'f' => format!("{v:.precision$}"),
        b'e' => exponent(v, precision),
        b'a' => hexadecimal(v),
        _ => {
            let significant = precision.max(1);
            let written = exponent(v, significant - 1);
            let power: i32 = written.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
            let text = if power < -4 || power >= significant as i32 {
                written
            } else {
                format!("{v:.*}", (significant as i32 - 1 - power).max(0) as usize)
            };
            if spec.alternate { text } else { strip_zeros(&text) }
        }
    }
}

/// `d.ddde±dd`.
fn exponent(v: f64, precision: usize) -> String {
    let rust = format!("{v:.precision$e}");
    let (mantissa, power) = rust.split_once('e').unwrap_or((&rust, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let sign = if power < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", power.abs())
}

fn strip_zeros(text: &str) -> String {
    let (mantissa, rest) = text.split_at(text.find('e').unwrap_or(text.len()));
    if !mantissa.contains('.') {
        return text.into();
    }
    format!("{}{rest}", mantissa.trim_end_matches('0').trim_end_matches('.'))
}

fn hexadecimal(v: f64) -> String {
    let bits = v.to_bits();
    let (power, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    let (lead, power) = match (power, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        _ => (1, power - 1023),
    };
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let mut out = format!("0x{lead}");
    if !digits.is_empty() {
        out.push('.');
        out.push_str(digits);
    }
    let _ = write!(out, "p{power:+}");
    out
}

fn pad(text: Text, spec: &Spec) -> Vec<u8> {
    let length = text.prefix.len() + text.body.len();
    let fill = spec.width.saturating_sub(length);
    let zeros =
        spec.zero && !spec.left && text.numeric && spec.precision.is_none_or(|_| text.body.contains(&b'.'));
    let mut out = Vec::with_capacity(length + fill);
    if !spec.left && !zeros {
        out.extend(std::iter::repeat_n(b' ', fill));
    }
    out.extend(text.prefix.bytes());
    if zeros {
        out.extend(std::iter::repeat_n(b'0', fill));
    }
    out.extend(text.body);
    if spec.left {
        out.extend(std::iter::repeat_n(b' ', fill));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arguments as a compiler lays them out.
    fn say(format_text: &str, words: &[u64]) -> String {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let get8 = |at: u64| bytes.get(at as usize..at as usize + 8)?.try_into().ok();
        let get4 = |at: u64| bytes.get(at as usize..at as usize + 4)?.try_into().ok();
        let mut reader = Reader::new(0, get8, get4);
        let (out, _) = format(format_text.as_bytes(), &mut reader, &|_| b"text".to_vec());
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn conversions_write_what_c_writes() {
        let f = |v: f64| v.to_bits();
        // Expected values from C's printf.
        for (text, words, want) in [
            ("%d|", vec![(-5i32) as u32 as u64], "-5|"),
            ("%5d|%-5d|", vec![42 | 7 << 32], "   42|7    |"),
            ("%05d %+d", vec![42 | 7 << 32], "00042 +7"),
            ("%u %x", vec![0xffff_ffff | 0xabcd << 32], "4294967295 abcd"),
            ("%lld", vec![(-1i64) as u64], "-1"),
            ("%#x %o", vec![255 | 8 << 32], "0xff 10"),
            ("%f %.2f", vec![f(1.5), f(2.345)], "1.500000 2.35"),
            ("%e", vec![f(12345.678)], "1.234568e+04"),
            ("%g %g %g", vec![f(0.5), f(1e10), f(100000.0)], "0.5 1e+10 100000"),
            ("%8.3f|%-8.1f|", vec![f(-1.5), f(2.0)], "  -1.500|2.0     |"),
            ("%s and %c%%", vec![0, 65], "text and A%"),
            ("%g %f", vec![f(f64::INFINITY), f(f64::NAN)], "inf nan"),
            ("%a", vec![f(1.0)], "0x1p+0"),
            ("%q", vec![], "%q"),
        ] {
            assert_eq!(say(text, &words), want, "{text}");
        }
    }
}
