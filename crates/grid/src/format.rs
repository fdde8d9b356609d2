//! `printf` of kernels.
//!
//! The rules are C's; the argument buffer is CUDA's (CUDA C++ Programming Guide, "Formatted Output"): each
//! argument at the next multiple of its size, `float` as `double`, small integers as `int`, pointers and
//! `long` as 8 bytes. The length modifiers are `h`, `hh`, `l` and `ll`; others of C (`z`, `j`) and `%n` are
//! printed literally, as the hardware's driver does. Numbers are formatted here rather than by the host's
//! `printf`, so that the program's locale does not matter.

/// Reads memory that a kernel points to.
pub trait Reader {
    /// Fills `to` with the bytes at `address`; false if the memory is not accessible.
    fn read(&self, address: u64, to: &mut [u8]) -> bool;
}

/// Maximum length of strings, widths and precisions: the size of the hardware's printf buffer, which limits
/// output there too.
const LIMIT: usize = 1 << 20;
/// Digits after the point beyond which those of any double are zeros. The standard library accepts at most
/// 65535.
const MAX_DIGITS: usize = 1100;
/// Fraction bits of a double.
const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
/// The exponent's bias in a double.
const BIAS: i32 = 1023;
/// Hexadecimal digits of a double's fraction.
const HEX_DIGITS: usize = 13;

/// A conversion: `%[flags][width][.precision][length]conversion`.
#[derive(Clone, Copy, Debug, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Size of an integer argument: 1, 2, 4 or 8 bytes.
    bytes: u32,
    conversion: u8,
}

struct Arguments<'a> {
    reader: &'a dyn Reader,
    at: u64,
    count: i32,
}

impl Arguments<'_> {
    fn next(&mut self, size: u64) -> Result<u64, u64> {
        let at = self.at.wrapping_add(size - 1) & !(size - 1);
        let mut bytes = [0u8; 8];
        let (part, _) = bytes.split_at_mut(size as usize);
        if !self.reader.read(at, part) {
            return Err(at);
        }
        self.at = at.wrapping_add(size);
        self.count = self.count.wrapping_add(1);
        Ok(u64::from_le_bytes(bytes))
    }

    fn int(&mut self) -> Result<i32, u64> {
        Ok(self.next(4)? as i32)
    }
}

/// The bytes at `address` up to a zero byte, at most `limit`.
fn string(reader: &dyn Reader, mut address: u64, limit: usize) -> Result<Vec<u8>, u64> {
    let mut text = Vec::new();
    let mut chunk = [0u8; 64];
    while text.len() < limit {
        // Chunks end at multiples of 64, so that none reaches a page that the string does not.
        let room = 64 - (address % 64) as usize;
        let (part, _) = chunk.split_at_mut(room.min(limit - text.len()));
        if !reader.read(address, part) {
            return Err(address);
        }
        match part.iter().position(|&b| b == 0) {
            Some(end) => {
                text.extend(part.iter().take(end));
                return Ok(text);
            }
            None => text.extend_from_slice(part),
        }
        address = address.wrapping_add(part.len() as u64);
    }
    Ok(text)
}

/// Appends the output of `printf(format, arguments…)` to `out`. Returns the number of arguments, or -1 for a
/// null format, like the device function.
///
/// # Errors
/// The address that could not be read.
pub fn format(reader: &dyn Reader, format: u64, arguments: u64, out: &mut Vec<u8>) -> Result<i32, u64> {
    if format == 0 {
        return Ok(-1);
    }
    let text = string(reader, format, LIMIT)?;
    let mut arguments = Arguments { reader, at: arguments, count: 0 };
    let mut rest = text.as_slice();
    while let Some(percent) = rest.iter().position(|&b| b == b'%') {
        let (before, from) = rest.split_at(percent);
        out.extend_from_slice(before);
        let mut parser = Parser { bytes: from.get(1..).unwrap_or_default() };
        match parser.spec(&mut arguments)? {
            Some(spec) => convert(spec, &mut arguments, out)?,
            // Conversions that C leaves undefined are printed literally.
            None => out.extend_from_slice(from.get(..from.len() - parser.bytes.len()).unwrap_or(from)),
        }
        rest = parser.bytes;
    }
    out.extend_from_slice(rest);
    Ok(arguments.count)
}

struct Parser<'a> {
    bytes: &'a [u8],
}

impl Parser<'_> {
    fn eat(&mut self, byte: u8) -> bool {
        match self.bytes {
            [b, rest @ ..] if *b == byte => {
                self.bytes = rest;
                true
            }
            _ => false,
        }
    }

    fn number(&mut self) -> usize {
        let mut n = 0usize;
        while let [digit @ b'0'..=b'9', rest @ ..] = self.bytes {
            n = n.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
            self.bytes = rest;
        }
        n.min(LIMIT)
    }

    /// Parses the text after `%`. `None` if it is not a conversion.
    fn spec(&mut self, arguments: &mut Arguments) -> Result<Option<Spec>, u64> {
        let mut s = Spec { bytes: 4, ..Spec::default() };
        while let [flag @ (b'-' | b'+' | b' ' | b'#' | b'0' | b'\''), rest @ ..] = self.bytes {
            match flag {
                b'-' => s.left = true,
                b'+' => s.plus = true,
                b' ' => s.space = true,
                b'#' => s.alternate = true,
                b'0' => s.zero = true,
                _ => {}
            }
            self.bytes = rest;
        }
        if self.eat(b'*') {
            let width = arguments.int()?;
            s.left |= width < 0;
            s.width = (width.unsigned_abs() as usize).min(LIMIT);
        } else {
            s.width = self.number();
        }
        if self.eat(b'.') {
            s.precision = if self.eat(b'*') {
                usize::try_from(arguments.int()?).ok().map(|p| p.min(LIMIT))
            } else {
                Some(self.number())
            };
        }
        s.bytes = match self.bytes {
            [b'h', b'h', rest @ ..] => self.skip(rest, 1),
            [b'h', rest @ ..] => self.skip(rest, 2),
            [b'l', b'l', rest @ ..] | [b'l', rest @ ..] => self.skip(rest, 8),
            [b'L', rest @ ..] => self.skip(rest, 4),
            _ => 4,
        };
        let [conversion, rest @ ..] = self.bytes else { return Ok(None) };
        self.bytes = rest;
        s.conversion = *conversion;
        Ok(b"diouxXcspfFeEgGaA%".contains(conversion).then_some(s))
    }
}

impl<'a> Parser<'a> {
    fn skip(&mut self, rest: &'a [u8], bytes: u32) -> u32 {
        self.bytes = rest;
        bytes
    }
}

fn convert(s: Spec, arguments: &mut Arguments, out: &mut Vec<u8>) -> Result<(), u64> {
    match s.conversion {
        b'%' => out.push(b'%'),
        b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => {
            let raw = arguments.next(if s.bytes == 8 { 8 } else { 4 })?;
            integer(s, raw, out);
        }
        b'c' => {
            let byte = arguments.int()? as u8;
            pad(Spec { zero: false, ..s }, b"", &[byte], out);
        }
        b's' => {
            let address = arguments.next(8)?;
            let limit = s.precision.unwrap_or(LIMIT);
            let text = match address {
                0 if limit < 6 => Vec::new(),
                0 => b"(null)".to_vec(),
                _ => string(arguments.reader, address, limit)?,
            };
            pad(Spec { zero: false, ..s }, b"", &text, out);
        }
        b'p' => {
            let address = arguments.next(8)?;
            let text = if address == 0 { "(nil)".to_owned() } else { format!("{address:#x}") };
            pad(Spec { zero: false, ..s }, b"", text.as_bytes(), out);
        }
        _ => {
            let value = f64::from_bits(arguments.next(8)?);
            float(s, value, out);
        }
    }
    Ok(())
}

/// Writes `prefix` and `body` with a minimum width of `width`: padded with spaces before or after, or with
/// zeros between.
fn pad(s: Spec, prefix: &[u8], body: &[u8], out: &mut Vec<u8>) {
    let fill = s.width.saturating_sub(prefix.len() + body.len());
    let (before, zeros, after) = match (s.left, s.zero) {
        (true, _) => (0, 0, fill),
        (false, true) => (0, fill, 0),
        (false, false) => (fill, 0, 0),
    };
    out.extend(std::iter::repeat_n(b' ', before));
    out.extend_from_slice(prefix);
    out.extend(std::iter::repeat_n(b'0', zeros));
    out.extend_from_slice(body);
    out.extend(std::iter::repeat_n(b' ', after));
}

fn sign(s: Spec, negative: bool) -> &'static str {
    match (negative, s.plus, s.space) {
        (true, _, _) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    }
}

fn integer(s: Spec, raw: u64, out: &mut Vec<u8>) {
    let unused = 64 - 8 * s.bytes;
    let unsigned = raw << unused >> unused;
    let signed = (raw << unused) as i64 >> unused;
    let (mut prefix, mut digits) = match s.conversion {
        b'd' | b'i' => (sign(s, signed < 0), signed.unsigned_abs().to_string()),
        b'o' => ("", format!("{unsigned:o}")),
        b'x' => ("0x", format!("{unsigned:x}")),
        b'X' => ("0X", format!("{unsigned:X}")),
        _ => ("", unsigned.to_string()),
    };
    if matches!(s.conversion, b'x' | b'X') && (!s.alternate || unsigned == 0) {
        prefix = "";
    }
    if s.precision == Some(0) && unsigned == 0 {
        digits.clear();
    }
    if let Some(missing) = s.precision.and_then(|p| p.checked_sub(digits.len())) {
        digits.insert_str(0, &"0".repeat(missing));
    }
    if s.conversion == b'o' && s.alternate && !digits.starts_with('0') {
        digits.insert(0, '0');
    }
    pad(Spec { zero: s.zero && s.precision.is_none(), ..s }, prefix.as_bytes(), digits.as_bytes(), out);
}

fn float(s: Spec, value: f64, out: &mut Vec<u8>) {
    let magnitude = value.abs();
    let sign = sign(s, value.is_sign_negative());
    let upper = s.conversion.is_ascii_uppercase();
    let case = |text: String| if upper { text.to_ascii_uppercase() } else { text };
    if !value.is_finite() {
        let text = case(if value.is_nan() { "nan" } else { "inf" }.to_owned());
        pad(Spec { zero: false, ..s }, sign.as_bytes(), text.as_bytes(), out);
        return;
    }
    let precision = s.precision.unwrap_or(6);
    let (prefix, body) = match s.conversion.to_ascii_lowercase() {
        b'f' => (sign.to_owned(), fixed(magnitude, precision, s.alternate)),
        b'e' => (sign.to_owned(), exponential(magnitude, precision, s.alternate)),
        b'g' => (sign.to_owned(), general(magnitude, precision.max(1), s.alternate)),
        _ => (format!("{sign}0x"), hexadecimal(magnitude, s.precision, s.alternate)),
    };
    pad(s, case(prefix).as_bytes(), case(body).as_bytes(), out);
}

fn fixed(value: f64, precision: usize, point: bool) -> String {
    let exact = precision.min(MAX_DIGITS);
    let mut text = format!("{value:.exact$}");
    if point && precision == 0 {
        text.push('.');
    }
    text.push_str(&"0".repeat(precision - exact));
    text
}

/// The digits `d.ddd` and the decimal exponent.
fn scientific(value: f64, precision: usize) -> (String, i32) {
    let exact = precision.min(MAX_DIGITS);
    let text = format!("{value:.exact$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_owned() + &"0".repeat(precision - exact), exponent.parse().unwrap_or(0))
}

fn with_exponent(mut digits: String, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    digits.push_str(&format!("e{sign}{:02}", exponent.unsigned_abs()));
    digits
}

fn exponential(value: f64, precision: usize, point: bool) -> String {
    let (mut digits, exponent) = scientific(value, precision);
    if point && precision == 0 {
        digits.push('.');
    }
    with_exponent(digits, exponent)
}

fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let (digits, exponent) = scientific(value, precision - 1);
    let places = precision as i64 - 1 - i64::from(exponent);
    let small = exponent >= -4 && i64::from(exponent) < precision as i64;
    let text = if small { fixed(value, places.max(0) as usize, keep_zeros) } else { digits };
    let text = match keep_zeros {
        false if text.contains('.') => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        true if !text.contains('.') => text + ".",
        _ => text,
    };
    if small { text } else { with_exponent(text, exponent) }
}

/// `%a` without its `0x`, in the GNU C library's form: one digit before the point, normalised.
fn hexadecimal(value: f64, precision: Option<usize>, point: bool) -> String {
    let bits = value.to_bits();
    let (mut mantissa, stored) = (bits & ((1 << FRACTION) - 1), (bits >> FRACTION & 0x7ff) as i32);
    let exponent = match (stored, mantissa) {
        (0, 0) => 0,
        (0, _) => f64::MIN_EXP - 1,
        _ => stored - BIAS,
    };
    if stored != 0 {
        mantissa |= 1 << FRACTION;
    }
    let mut digits = HEX_DIGITS;
    if let Some(wanted) = precision.filter(|&p| p < HEX_DIGITS) {
        let drop = FRACTION - 4 * wanted as u32;
        let (kept, lost, half) = (mantissa >> drop, mantissa & ((1 << drop) - 1), 1u64 << (drop - 1));
        let up = lost > half || lost == half && kept & 1 == 1;
        mantissa = (kept + u64::from(up)) << drop;
        digits = wanted;
    }
    let fraction = format!("{:0HEX_DIGITS$x}", mantissa & ((1 << FRACTION) - 1));
    let fraction = fraction.get(..digits).unwrap_or_default();
    let fraction = match precision {
        None => fraction.trim_end_matches('0').to_owned(),
        Some(p) => format!("{fraction}{}", "0".repeat(p.saturating_sub(HEX_DIGITS))),
    };
    let dot = if point || !fraction.is_empty() { "." } else { "" };
    format!("{}{dot}{fraction}p{exponent:+}", mantissa >> FRACTION)
}
