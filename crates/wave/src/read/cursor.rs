//! Reads a line from left to right.

use crate::func::{Block, BlockCall, Value};

/// The unread rest of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a>(pub &'a str);

/// The error says what was expected.
pub(super) type Found<T> = Result<T, String>;

impl<'a> Cursor<'a> {
    /// Skips `text` if it is next. Returns whether it was.
    pub fn eat(&mut self, text: &str) -> bool {
        match self.0.strip_prefix(text) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    /// Skips `text`, which must be next.
    pub fn expect(&mut self, text: &str) -> Found<()> {
        if self.eat(text) { Ok(()) } else { Err(format!("`{text}` expected at `{}`", self.0)) }
    }

    /// Checks that nothing is left.
    pub fn end(&self) -> Found<()> {
        if self.0.is_empty() { Ok(()) } else { Err(format!("nothing expected at `{}`", self.0)) }
    }

    /// Everything up to the first of `ends`, or the line's end.
    pub fn until(&mut self, ends: &[char]) -> &'a str {
        let at = self.0.find(ends).unwrap_or(self.0.len());
        let (head, rest) = self.0.split_at(at);
        self.0 = rest;
        head
    }

    /// A name followed by a colon and a space; the name may contain colons. Skips the colon.
    pub fn head(&mut self) -> &'a str {
        let word = self.until(&[' ']);
        word.strip_suffix(':').unwrap_or(word)
    }

    /// A number.
    pub fn number<T: std::str::FromStr>(&mut self) -> Found<T> {
        let sign = usize::from(self.0.starts_with(['-', '+']));
        let digits = self.0.get(sign..).unwrap_or_default();
        let at = sign + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let (head, rest) = self.0.split_at(at);
        let number = head.parse().map_err(|_| format!("a number expected at `{}`", self.0))?;
        self.0 = rest;
        Ok(number)
    }

    /// `word N`
    pub fn field<T: std::str::FromStr>(&mut self, word: &str) -> Found<T> {
        self.expect(word)?;
        self.expect(" ")?;
        self.number()
    }

    /// `v3`
    pub fn value(&mut self) -> Found<Value> {
        self.expect("v")?;
        Ok(Value(self.number()?))
    }

    /// Comma-separated members up to `end`, which is skipped. An empty `end` means the end of the line.
    pub fn list<T>(&mut self, end: &str, mut member: impl FnMut(&mut Self) -> Found<T>) -> Found<Vec<T>> {
        let mut list = Vec::new();
        let ended = |c: &mut Self| if end.is_empty() { c.0.is_empty() } else { c.eat(end) };
        while !ended(self) {
            if !list.is_empty() {
                self.expect(", ")?;
            }
            list.push(member(self)?);
        }
        Ok(list)
    }

    /// `block2`
    pub fn block(&mut self) -> Found<Block> {
        self.expect("block")?;
        Ok(Block(self.number()?))
    }

    /// `block2(v1, v3)`
    pub fn block_call(&mut self) -> Found<BlockCall> {
        let block = self.block()?;
        let args = if self.eat("(") { self.list(")", Cursor::value)? } else { Vec::new() };
        Ok(BlockCall { block, args })
    }
}
