//! The output of a call of `printf` whose format and arguments an AMD kernel has handed to the host.

/// Memory as [`grid::format_printf`] reads it: format, strings and arguments.
#[derive(Default)]
struct Text(Vec<u8>);

/// The address of its first byte.
const BASE: u64 = 0x1_0000;
/// Bytes that may be read after its end.
const SLACK: usize = 64;

impl grid::Reader for Text {
    fn read(&self, address: u64, to: &mut [u8]) -> bool {
        let from = address.checked_sub(BASE).and_then(|at| usize::try_from(at).ok());
        let bytes = from.and_then(|at| self.0.get(at..at.checked_add(to.len())?));
        bytes.is_some_and(|bytes| {
            to.copy_from_slice(bytes);
            true
        })
    }
}

impl Text {
    /// Adds bytes at a multiple of an alignment; their address.
    fn add(&mut self, bytes: &[u8], align: usize) -> u64 {
        self.0.resize(self.0.len().next_multiple_of(align), 0);
        let at = BASE + self.0.len() as u64;
        self.0.extend_from_slice(bytes);
        at
    }
}

/// An argument: its bytes, at a multiple of their number.
enum Argument {
    Word(u32),
    Long(u64),
}

/// A call with a format of C's first standard, whose only length for 8 bytes is `ll`.
#[derive(Default)]
pub(crate) struct Call {
    pub format: Vec<u8>,
    arguments: Vec<Argument>,
    text: Text,
}

impl Call {
    /// Adds an argument of 4 bytes.
    pub fn word(&mut self, word: u32) {
        self.arguments.push(Argument::Word(word));
    }

    /// Adds an argument of 8 bytes.
    pub fn long(&mut self, long: u64) {
        self.arguments.push(Argument::Long(long));
    }

    /// Adds a pointer to a string.
    pub fn string(&mut self, bytes: &[u8]) {
        let at = self.text.add(&[bytes, &[0]].concat(), 1);
        self.long(at);
    }

    /// What it prints.
    pub fn output(mut self) -> Vec<u8> {
        self.format.push(0);
        let at = self.text.add(&self.format, 1);
        let list = self.text.add(&[], 8);
        for argument in self.arguments {
            match argument {
                Argument::Word(word) => self.text.add(&word.to_le_bytes(), 4),
                Argument::Long(long) => self.text.add(&long.to_le_bytes(), 8),
            };
        }
        self.text.add(&[0; SLACK], 1);
        let mut out = Vec::new();
        // Everything that is read lies in the text.
        let _ = grid::format_printf(&self.text, at, list, &mut out);
        out
    }
}

/// The bytes of words up to a zero byte.
fn string(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0).collect()
}

/// The words that a string takes with its zero.
fn words_of(text: &[u8]) -> usize {
    (text.len() + 1).div_ceil(8)
}

/// The output of a message: the format, then the arguments as in [`with_arguments`].
pub(crate) fn formatted(words: &[u64]) -> Vec<u8> {
    let format = string(words);
    with_arguments(&format, words.get(words_of(&format)..).unwrap_or_default())
}

/// The output of a format with arguments of 8 bytes each, or strings padded to a multiple of 8.
pub(crate) fn with_arguments(layout: &[u8], words: &[u64]) -> Vec<u8> {
    let mut call = Call::default();
    let mut next = 0;
    let mut rest = layout.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        call.format.push(byte);
        if byte != b'%' {
            continue;
        }
        if rest.next_if_eq(&b'%').is_some() {
            call.format.push(b'%');
            continue;
        }
        let begin = call.format.len() - 1;
        let mut long = false;
        for byte in rest.by_ref() {
            let word = words.get(next).copied().unwrap_or(0);
            match byte {
                b'*' => {
                    call.word(word as u32);
                    next += 1;
                }
                b'l' | b'z' | b'j' | b't' | b'q' | b'L' => {
                    long = true;
                    continue;
                }
                b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' => {
                    next += 1;
                    if long && byte != b'c' {
                        call.format.extend(b"ll");
                        call.long(word);
                    } else {
                        call.word(word as u32);
                    }
                }
                b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' | b'p' => {
                    next += 1;
                    call.long(word);
                }
                b's' => {
                    let bytes = string(words.get(next..).unwrap_or_default());
                    next += words_of(&bytes);
                    call.string(&bytes);
                }
                // Nothing is stored.
                b'n' => {
                    next += 1;
                    call.format.truncate(begin);
                    break;
                }
                _ => {
                    call.format.push(byte);
                    continue;
                }
            }
            call.format.push(byte);
            if byte != b'*' {
                break;
            }
        }
    }
    call.output()
}

/// Words of a text with its zero.
#[cfg(test)]
pub(crate) fn padded(text: &str) -> Vec<u64> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().expect("eight"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_formatted_as_by_c() {
        let of = |format: &str, arguments: &[&[u64]]| {
            let words = [padded(format), arguments.concat()].concat();
            String::from_utf8(formatted(&words)).expect("text")
        };
        assert_eq!(of("no conversion: 100%%", &[]), "no conversion: 100%");
        assert_eq!(of("%d|%5u|%-4x|", &[&[u64::MAX], &[42], &[255]]), "-1|   42|ff  |");
        assert_eq!(of("%ld %zu %llx", &[&[1 << 40], &[7], &[u64::MAX]]), "1099511627776 7 ffffffffffffffff");
        assert_eq!(
            of("%s is %.2f%c", &[&padded("the value"), &[2.5f64.to_bits()], &[b'!'.into()]]),
            "the value is 2.50!"
        );
        assert_eq!(of("%*d|%n%d", &[&[6], &[12], &[0], &[3]]), "    12|3");
        assert_eq!(of("%d %d", &[&[1]]), "1 0");
        assert_eq!(of("%", &[]), "%");
        assert_eq!(of("%s", &[]), "");
    }
}
