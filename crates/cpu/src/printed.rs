//! The buffer in which AMD kernels leave the output of `printf`: always in OpenCL, in HIP if it is compiled
//! with `-mprintf-kind=buffered`. The launch gives it to the kernel and prints its records at the end.
//!
//! A record is the number of a call and its arguments (OpenCL: LLVM's `AMDGPUPrintfRuntimeBinding.cpp`), or a
//! control word, the hash of a format, and arguments (HIP: `AMDGPUEmitPrintf.cpp`). The formats are in the
//! code object's metadata. The buffer's head and size are those of AMD's runtime (clr,
//! `rocclr/device/rocm/rocprintf.cpp`).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use driver::log::{self, Level};

use crate::message::{self, Call};

/// Bytes of its head: how many bytes of records there are, and how many may be.
const HEAD: usize = 8;
/// Output is written in pieces of about this many bytes.
const PIECE: usize = 1 << 16;

/// Flags of a record's control word: the output goes to standard error; the format is a hash. Above them is
/// the record's size.
const ERROR: u32 = 1;
const HASHED: u32 = 2;
const SIZE_SHIFT: u32 = 2;

/// The buffer of a launch.
pub struct Buffer {
    words: *mut u32,
    _memory: Vec<u32>,
}

impl Default for Buffer {
    fn default() -> Self {
        let mut memory = vec![0u32; Buffer::SIZE / size_of::<u32>()];
        if let Some(room) = memory.get_mut(1) {
            *room = (Buffer::SIZE - HEAD) as u32;
        }
        Buffer { words: memory.as_mut_ptr(), _memory: memory }
    }
}

impl Buffer {
    /// Its bytes: 4096 for each work-item of the largest workgroup.
    pub const SIZE: usize = 4096 * 1024;

    /// The address for the kernel.
    pub fn address(&self) -> u64 {
        self.words.addr() as u64
    }

    /// Prints the records of a grid that has ended; `print` takes text, and whether it goes to standard
    /// error.
    pub fn print(&self, formats: &Formats, print: &dyn Fn(&[u8], bool)) {
        // SAFETY: the memory is the buffer's, and its kernel has ended.
        let bytes = unsafe { std::slice::from_raw_parts(self.words.cast::<u8>(), Buffer::SIZE) };
        let (head, records) = bytes.split_at(HEAD);
        let used = usize::try_from(word(head, 0)).unwrap_or(usize::MAX);
        let known = formats.print(records.get(..used).unwrap_or(records), print);
        // The kernel knows that output did not fit, the host only that another such record would not.
        let full = used.saturating_add(known.largest).saturating_add(HEAD) > Buffer::SIZE - HEAD;
        if known.lost > 0 {
            static TOLD: AtomicBool = AtomicBool::new(false);
            once(&TOLD, || {
                let lost = known.lost;
                format!("{lost} bytes of a kernel's printf are no calls that its code object describes")
            });
        } else if full && used > 0 {
            static TOLD: AtomicBool = AtomicBool::new(false);
            once(&TOLD, || {
                format!("a kernel's printf has filled its buffer of {} bytes; the rest is lost", Buffer::SIZE)
            });
        }
    }
}

/// Warns the first time.
fn once(told: &AtomicBool, what: impl FnOnce() -> String) {
    if !told.swap(true, Ordering::Relaxed) {
        log::say(Level::Warn, what);
    }
}

/// The word at a place; 0 beyond the end.
fn word(bytes: &[u8], at: usize) -> u32 {
    number(bytes, at, 4) as u32
}

/// The number of so many bytes, at most 8, at a place; 0 beyond the end.
fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    let part = bytes.get(at..).and_then(|rest| rest.get(..size)).unwrap_or_default();
    part.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// What printing found.
#[derive(Default)]
struct Found {
    /// Bytes of the largest record.
    largest: usize,
    /// Bytes that are no records, at the end.
    lost: usize,
}

/// The calls of `printf` in a code object.
#[derive(Clone, Debug, Default)]
pub struct Formats {
    /// HIP's, by their hash.
    hashed: HashMap<u64, Vec<u8>>,
    /// OpenCL's, by their number.
    numbered: HashMap<u32, Numbered>,
}

/// A call in OpenCL: bytes of each argument in the record, and the format.
#[derive(Clone, Debug)]
struct Numbered {
    sizes: Vec<usize>,
    format: Vec<u8>,
}

impl Formats {
    /// Reads the descriptions in a code object's metadata: `NUMBER:COUNT:SIZE:…:FORMAT` or
    /// `0:0:HASH,FORMAT`. Others are left out.
    pub fn read(list: &[Vec<u8>]) -> Formats {
        let mut formats = Formats::default();
        for text in list {
            let mut parts = text.splitn(3, |byte| *byte == b':');
            let (id, count) = (parts.next().and_then(decimal), parts.next().and_then(decimal));
            let (Some(id), Some(count), Some(rest)) = (id, count, parts.next()) else { continue };
            match u32::try_from(id) {
                Ok(0) => {
                    let mut parts = rest.splitn(2, |byte| *byte == b',');
                    let hash = parts.next().and_then(|hash| std::str::from_utf8(hash).ok());
                    let hash = hash.and_then(|hash| u64::from_str_radix(hash, 16).ok());
                    if let (Some(hash), Some(format)) = (hash, parts.next()) {
                        formats.hashed.insert(hash, format.to_vec());
                    }
                }
                Ok(id) => {
                    formats.numbered.insert(id, Numbered::read(count, rest));
                }
                Err(_) => {}
            }
        }
        formats
    }

    /// Prints records.
    fn print(&self, records: &[u8], print: &dyn Fn(&[u8], bool)) -> Found {
        let (mut found, mut rest) = (Found::default(), records);
        let (mut text, mut to) = (Vec::new(), false);
        while !rest.is_empty() {
            // No compiler makes objects with calls of both kinds.
            let record = if self.hashed.is_empty() { self.numbered(rest) } else { self.hashed(rest) };
            let Some((size, output, error)) = record else {
                found.lost = rest.len();
                break;
            };
            if !text.is_empty() && (error != to || text.len() >= PIECE) {
                print(&text, to);
                text.clear();
            }
            to = error;
            text.extend(output);
            found.largest = found.largest.max(size);
            rest = rest.get(size..).unwrap_or_default();
        }
        if !text.is_empty() {
            print(&text, to);
        }
        found
    }

    /// The first of OpenCL's records: its size, its output, and whether that goes to standard error.
    fn numbered(&self, records: &[u8]) -> Option<(usize, Vec<u8>, bool)> {
        let call = self.numbered.get(&word(records, 0))?;
        let size = call.sizes.iter().fold(size_of::<u32>(), |sum, size| sum.saturating_add(*size));
        let arguments = records.get(size_of::<u32>()..size)?;
        Some((size, call.output(arguments), false))
    }

    /// The first of HIP's records, in the same way.
    fn hashed(&self, records: &[u8]) -> Option<(usize, Vec<u8>, bool)> {
        let control = word(records, 0);
        let size = (control >> SIZE_SHIFT) as usize;
        let body = records.get(size_of::<u32>()..size)?;
        let words: Vec<u64> = (0..body.len()).step_by(8).map(|at| number(body, at, 8)).collect();
        let output = if control & HASHED != 0 {
            let (hash, arguments) = words.split_first()?;
            message::with_arguments(self.hashed.get(hash)?, arguments)
        } else {
            message::formatted(&words)
        };
        Some((size, output, control & ERROR != 0))
    }
}

/// A decimal number.
fn decimal(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// A conversion of OpenCL C: `%[flags][width][.precision][vN][length]letter`.
struct Conversion<'a> {
    /// Flags, width and precision.
    front: &'a [u8],
    /// Elements of a vector.
    lanes: Option<usize>,
    /// `hh` or `h`; other lengths follow from the element's size.
    short: &'a [u8],
    letter: u8,
}

impl<'a> Conversion<'a> {
    /// That at the beginning of what follows a `%`, and the rest.
    fn read(text: &'a [u8]) -> Option<(Conversion<'a>, &'a [u8])> {
        let is_front = |byte: &u8| b"-+ #.".contains(byte) || byte.is_ascii_digit();
        let (front, mut rest) = text.split_at(text.iter().take_while(|byte| is_front(byte)).count());
        let mut lanes = None;
        if let [b'v', vector @ ..] = rest {
            let digits = vector.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (count, after) = vector.split_at(digits);
            lanes = Some(decimal(count).filter(|count| [2, 3, 4, 8, 16].contains(count))?);
            rest = after;
        }
        let short = match rest {
            [b'h', b'h', ..] => 2,
            [b'h', b'l', ..] => 0,
            [b'h', ..] => 1,
            _ => 0,
        };
        let short = rest.get(..short).unwrap_or_default();
        let lengths = rest.iter().take_while(|byte| matches!(byte, b'h' | b'l')).count();
        let (&letter, rest) = rest.get(lengths..)?.split_first()?;
        let known = b"diouxXfFeEgGaAcsp".contains(&letter);
        known.then_some((Conversion { front, lanes, short, letter }, rest))
    }

    /// Adds an argument to a call.
    fn add(&self, call: &mut Call, argument: &[u8]) {
        let lanes = self.lanes.unwrap_or(1);
        // A vector of three takes as much room as one of four.
        let size = argument.len() / if lanes == 3 { 4 } else { lanes };
        for lane in 0..lanes {
            if lane > 0 {
                call.format.push(b',');
            }
            call.format.push(b'%');
            call.format.extend(self.front);
            let value = number(argument, lane * size, size.min(8));
            match self.letter {
                b'c' => call.word(value as u32),
                b'p' => call.long(value),
                b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                    call.long(double(value, size).to_bits());
                }
                _ if size >= 8 => {
                    call.format.extend(b"ll");
                    call.long(value);
                }
                b'd' | b'i' => {
                    call.format.extend(self.short);
                    let unused = 64 - 8 * size.clamp(1, 8) as u32;
                    call.word(((value << unused) as i64 >> unused) as u32);
                }
                _ => {
                    call.format.extend(self.short);
                    call.word(value as u32);
                }
            }
            call.format.push(self.letter);
        }
    }
}

/// The float of this many bytes.
fn double(bits: u64, size: usize) -> f64 {
    match size {
        8 => f64::from_bits(bits),
        4 => f64::from(f32::from_bits(bits as u32)),
        _ => {
            let (exponent, fraction) = ((bits >> 10 & 31) as i32, (bits & 0x3ff) as f64);
            let magnitude = match exponent {
                0 => fraction * 2f64.powi(-24),
                31 if fraction == 0.0 => f64::INFINITY,
                31 => f64::NAN,
                _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
            };
            if bits >> 15 & 1 == 1 { -magnitude } else { magnitude }
        }
    }
}

impl Numbered {
    /// Reads what follows the count of arguments.
    fn read(count: usize, text: &[u8]) -> Numbered {
        let (mut sizes, mut rest) = (Vec::new(), text);
        // There are fewer sizes than arguments if the format has fewer conversions.
        while sizes.len() < count
            && let Some(end) = rest.iter().position(|byte| *byte == b':')
            && let Some(size) = rest.get(..end).and_then(decimal)
        {
            sizes.push(size);
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        Numbered { sizes, format: unescaped(rest) }
    }

    fn output(&self, arguments: &[u8]) -> Vec<u8> {
        let (mut call, mut at) = (Call::default(), 0);
        let (mut sizes, mut rest) = (self.sizes.iter(), self.format.as_slice());
        while let Some(percent) = rest.iter().position(|byte| *byte == b'%') {
            let (before, from) = rest.split_at(percent);
            call.format.extend(before);
            let after = from.get(1..).unwrap_or_default();
            let conversion =
                Conversion::read(after).and_then(|(one, rest)| Some((one, rest, *sizes.next()?)));
            let Some((conversion, following, size)) = conversion else {
                // What is no conversion is printed as it is.
                call.format.extend(b"%%");
                rest = after.strip_prefix(b"%").unwrap_or(after);
                continue;
            };
            let argument = arguments.get(at..).and_then(|rest| rest.get(..size)).unwrap_or_default();
            at += if conversion.letter == b's' {
                let stored = stored(argument);
                let text = stored.split(|byte| *byte == 0).next().unwrap_or_default();
                call.format.push(b'%');
                call.format.extend(conversion.front);
                call.format.push(b's');
                call.string(text);
                stored.len()
            } else {
                conversion.add(&mut call, argument);
                size
            };
            rest = following;
        }
        call.format.extend(rest);
        call.output()
    }
}

/// The bytes of a string in a record: whole words, without a zero byte if the string fills them. For those,
/// LLVM 19 states a word more than it stores. That word then belongs to the next argument, or is zero.
fn stored(argument: &[u8]) -> &[u8] {
    let Some((before, last)) = argument.split_last_chunk::<4>().filter(|(before, _)| !before.is_empty())
    else {
        return argument;
    };
    let (text, zeros) = last.split_at(last.iter().position(|byte| *byte == 0).unwrap_or(last.len()));
    let is_text = |byte: &u8| *byte >= b' ' || byte.is_ascii_whitespace();
    let ends_here = !text.is_empty() && text.iter().all(is_text) && zeros.iter().all(|byte| *byte == 0);
    // A string in another encoding is not judged.
    let is_utf8 = |size: usize| argument.get(..size).is_some_and(|text| std::str::from_utf8(text).is_ok());
    if ends_here && (is_utf8(before.len() + text.len()) || !is_utf8(before.len())) {
        argument
    } else {
        before
    }
}

/// A format without the escapes that LLVM writes into metadata.
fn unescaped(mut text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some((&byte, rest)) = text.split_first() {
        let (byte, rest) = match (byte, rest) {
            (b'\\', [b'a', rest @ ..]) => (7, rest),
            (b'\\', [b'b', rest @ ..]) => (8, rest),
            (b'\\', [b'f', rest @ ..]) => (12, rest),
            (b'\\', [b'n', rest @ ..]) => (b'\n', rest),
            (b'\\', [b'r', rest @ ..]) => (b'\r', rest),
            (b'\\', [b'v', rest @ ..]) => (11, rest),
            (b'\\', [b'7', b'2', rest @ ..]) => (b':', rest),
            _ => (byte, rest),
        };
        out.push(byte);
        text = rest;
    }
    out
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::message::padded;

    fn formats(list: &[&str]) -> Formats {
        Formats::read(&list.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>())
    }

    /// What the records of one call each print, and the bytes that are none.
    fn printed(formats: &Formats, records: &[Vec<u8>]) -> (String, usize) {
        let out = RefCell::new(String::new());
        let found = formats.print(&records.concat(), &|text, error| {
            out.borrow_mut().push_str(if error { "error " } else { "" });
            out.borrow_mut().push_str(std::str::from_utf8(text).expect("text"));
        });
        (out.into_inner(), found.lost)
    }

    /// A record in which each part follows the one before.
    fn record(id: u32, parts: &[&[u8]]) -> Vec<u8> {
        [&id.to_le_bytes()[..], &parts.concat()].concat()
    }

    /// As LLVM 19 describes and stores `printf(format, …)`.
    #[test]
    fn records_of_opencl_are_formatted() {
        let of = |description: &str, parts: &[&[u8]]| printed(&formats(&[description]), &[record(7, parts)]);
        let right = |description: &str, parts: &[&[u8]], text: &str| {
            assert_eq!(of(description, parts), (text.to_owned(), 0), "{description}");
        };
        let (float, double) = (2.5f32.to_le_bytes(), 2.5f64.to_le_bytes());
        let (minus, long) = ((-3i32).to_le_bytes(), (1u64 << 40).to_le_bytes());
        right("7:0:none\\72 100%%\\n", &[], "none: 100%\n");
        right("7:3:4:4:8:%d|%5u|%ld", &[&minus, &[42, 0, 0, 0], &long], "-3|   42|1099511627776");
        right("7:2:4:8:%.2f|%e", &[&float, &double], "2.50|2.500000e+00");
        right("7:3:4:4:4:%hhd %hu %c", &[&minus, &minus, b"a\0\0\0"], "-3 65533 a");
        right("7:1:8:%p", &[&long], "0x10000000000");
        // Vectors; one of three has room for four.
        right("7:1:4:%v4hhd", &[&[1, 255, 3, 128]], "1,-1,3,-128");
        right("7:1:4:%v4hhx", &[&[1, 255, 3, 128]], "1,ff,3,80");
        right("7:1:4:%v3hhu", &[&[1, 255, 3, 9]], "1,255,3");
        right("7:1:4:%2v2hd", &[&[1, 0, 255, 255]], " 1,-1");
        right("7:1:8:%v2hld", &[&minus, &minus], "-3,-3");
        right("7:1:16:%v2ld", &[&long, &[5, 0, 0, 0, 0, 0, 0, 0]], "1099511627776,5");
        right("7:1:8:%.1v2hlf", &[&float, &float], "2.5,2.5");
        right("7:1:16:%.1v2f", &[&double, &double], "2.5,2.5");
        right("7:2:4:4:%v2hf|%d", &[&[0, 0x41, 0, 0xfc], &minus], "2.500000,-inf|-3");
        // Strings; an empty one has a word of its own.
        right("7:2:4:4:%s|%d", &[b"abc\0", &minus], "abc|-3");
        right("7:2:4:4:%s|%d", &[&[0, 255, 255, 255], &minus], "|-3");
        right("7:2:8:4:%6s|%d", &[b"abcde\0\0\0", &minus], " abcde|-3");
        right("7:2:4:4:%s|%d", &[b"abcd", &minus], "abcd|-3");
        right("7:2:8:4:%s|%d", &["abcdé\0\0".as_bytes(), &minus], "abcdé|-3");
        // LLVM 19 states a word too much.
        right("7:2:8:4:%s|%d", &[b"abcd", &minus, &[0; 4]], "abcd|-3");
        // More arguments than conversions, and more conversions than arguments.
        right("7:2:4:%d", &[&minus], "-3");
        right("7:1:4:%d %d %y %", &[&minus], "-3 %d %y %");
    }

    #[test]
    fn records_follow_each_other() {
        let formats = formats(&["1:1:4:one %d\\n", "no description", "2:0:two\\n", "3:1:400000000:much"]);
        let records = [record(2, &[]), record(1, &[&[5, 0, 0, 0]]), record(2, &[])];
        assert_eq!(printed(&formats, &records), ("two\none 5\ntwo\n".to_owned(), 0));
        // A fault leaves the rest of the buffer unwritten.
        assert_eq!(printed(&formats, &[record(2, &[]), vec![0; 12]]), ("two\n".to_owned(), 12));
        assert_eq!(printed(&formats, &[record(1, &[])]), (String::new(), 4));
        assert_eq!(printed(&formats, &[record(3, &[&[0; 8]])]), (String::new(), 12));
    }

    /// As LLVM 19 describes and stores them: a control word, a hash or a format, arguments.
    #[test]
    fn records_of_hip_are_formatted() {
        let formats = formats(&["0:0:deadbeefcafe,%s: %d, %.1f\n", "0:0:deadbeefcafe,%s: %d, %.1f\n"]);
        let record = |flags: u32, words: &[u64]| {
            let body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            record((4 + body.len() as u32) << 2 | flags, &[&body])
        };
        let arguments = [padded("a text of some length"), vec![7, 2.5f64.to_bits()]].concat();
        let constant = [&[0xdead_beef_cafe][..], &arguments].concat();
        let own = [padded("own %s: %d\n"), padded("x"), vec![9]].concat();
        let text = "a text of some length: 7, 2.5\n";
        assert_eq!(
            printed(&formats, &[record(2, &constant), record(0, &own), record(3, &constant)]),
            (format!("{text}own x: 9\nerror {text}"), 0)
        );
        for wrong in [record(2, &[1, 2]), record(2, &[]), vec![0; 8], record(0, &[1])[..8].to_vec()] {
            let size = wrong.len();
            assert_eq!(printed(&formats, &[record(2, &constant), wrong]), (text.to_owned(), size));
        }
    }

    /// The head of the buffer is what device code reads; records beyond its end are not there.
    #[test]
    fn a_buffer_has_a_head() {
        let formats = formats(&["1:0:x"]);
        for used in [8u32, u32::MAX] {
            let buffer = Buffer::default();
            // SAFETY: the words are the buffer's, and no kernel uses them.
            let words = unsafe { std::slice::from_raw_parts_mut(buffer.words, Buffer::SIZE / 4) };
            assert_eq!((words[0], words[1]), (0, (4 << 20) - 8));
            words.fill(1);
            words[0] = used;
            let out = RefCell::new(0);
            buffer.print(&formats, &|text, _| *out.borrow_mut() += text.len());
            assert_eq!(out.into_inner(), if used == 8 { 2 } else { Buffer::SIZE / 4 - 2 });
        }
    }
}
