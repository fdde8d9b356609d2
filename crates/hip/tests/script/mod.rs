//! Scripts of calls and expected results, one call per line, run through a real front.
//!
//! ```text
//! fronts 5 6                         the fronts that run the script
//! hipMalloc(&p, 64) = Success        a call, and its code without `hipError`
//! hipFree(p + 8) = InvalidValue      `p`: the word that the previous call wrote to `&p`
//! is p:u32 7                         the value at `&p`: a number, a variable's value, or a "text"
//! is p+16:i32 -1                     the same, 16 bytes further on
//! put h:u32 7                        writes a value there
//! ```
//!
//! A variable is 4 KiB of the program's memory, zero at first; its value is its first word. `null` is 0.

use std::collections::BTreeMap;

use libloading::Library;

use crate::open;

/// Every argument of these functions is an integer or a pointer; a function ignores arguments that it does
/// not have.
type Function = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u32;

/// One front's run of a script.
struct Run<'a> {
    front: &'a Library,
    variables: BTreeMap<String, Box<[u64; 512]>>,
    texts: Vec<Vec<u8>>,
}

impl Run<'_> {
    fn variable(&mut self, name: &str) -> &mut [u64; 512] {
        self.variables.entry(name.to_string()).or_insert_with(|| Box::new([0; 512]))
    }

    fn term(&mut self, text: &str) -> Result<u64, String> {
        let text = text.trim();
        if let Some(inner) = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
            let bytes = [inner.as_bytes(), b"\0"].concat();
            let address = bytes.as_ptr() as u64;
            self.texts.push(bytes);
            return Ok(address);
        }
        if let Some(name) = text.strip_prefix('&') {
            return Ok(self.variable(name).as_ptr() as u64);
        }
        if text == "null" {
            return Ok(0);
        }
        if let Some(number) = number(text) {
            return Ok(number);
        }
        match self.variables.get(text) {
            Some(variable) => Ok(variable[0]),
            None => Err(format!("`{text}` is neither a number nor a variable that was written")),
        }
    }

    fn value(&mut self, text: &str) -> Result<u64, String> {
        if text.trim().starts_with('"') {
            return self.term(text);
        }
        text.split(" + ").try_fold(0u64, |sum, term| Ok(sum.wrapping_add(self.term(term)?)))
    }

    fn name_of(&self, code: u32) -> String {
        type Name = unsafe extern "C" fn(u32) -> *const std::ffi::c_char;
        // SAFETY: the function has this signature in HIP's header, and returns static texts.
        let name = unsafe {
            std::ffi::CStr::from_ptr(self.front.get::<Name>(b"hipGetErrorName\0").expect("a name")(code))
        };
        let name = name.to_string_lossy();
        name.trim_start_matches("hipError").trim_start_matches("hip").to_string()
    }

    fn call(&mut self, line: &str) -> Result<(), String> {
        let (name, rest) = line.split_once('(').ok_or("no call")?;
        let (arguments, wanted) = rest.rsplit_once(") = ").ok_or("no `) = CODE`")?;
        let mut values = [0; 12];
        let list = arguments.split(',').filter(|a| !a.trim().is_empty());
        for (slot, argument) in values.iter_mut().zip(list) {
            *slot = self.value(argument)?;
        }
        let symbol = [name.as_bytes(), b"\0"].concat();
        // SAFETY: the function takes at most twelve integers and pointers; it ignores additional arguments.
        let function = unsafe { self.front.get::<Function>(&symbol) }.map_err(|e| e.to_string())?;
        let [a, b, c, d, e, f, g, h, i, j, k, l] = values;
        // SAFETY: the script passes variables where the function expects pointers to memory.
        let code = unsafe { function(a, b, c, d, e, f, g, h, i, j, k, l) };
        let got = self.name_of(code);
        if got == wanted.trim() { Ok(()) } else { Err(format!("is {got}, not {}", wanted.trim())) }
    }

    /// The bytes at `NAME+OFFSET`, and the type after the colon.
    fn place<'b>(&mut self, text: &'b str) -> Result<(*mut u8, &'b str), String> {
        let (place, kind) = text.split_once(':').ok_or("no type")?;
        let (name, offset) = place.split_once('+').unwrap_or((place, "0"));
        let offset = number(offset).filter(|o| *o <= 4088).ok_or("no offset")?;
        Ok((self.variable(name).as_mut_ptr().cast::<u8>().wrapping_add(offset as usize), kind))
    }

    fn is(&mut self, line: &str) -> Result<(), String> {
        let (place, wanted) = line.split_once(' ').ok_or("no value")?;
        let (at, kind) = self.place(place)?;
        if kind == "text" {
            let wanted = wanted.trim().trim_matches('"');
            // SAFETY: inside the variable, which ends with zeros or is bounded by the functions that write
            // texts.
            let got = unsafe { std::ffi::CStr::from_ptr(at.cast()) }.to_string_lossy().into_owned();
            return if got == wanted { Ok(()) } else { Err(format!("is \"{got}\", not \"{wanted}\"")) };
        }
        // SAFETY: the offset leaves eight bytes in the variable.
        let word = unsafe { at.cast::<u64>().read_unaligned() };
        let wanted = self.value(wanted)?;
        let mask = mask(kind)?;
        let (got, wanted) = (word & mask, wanted & mask);
        if got == wanted { Ok(()) } else { Err(format!("is {got:#x}, not {wanted:#x}")) }
    }

    fn put(&mut self, line: &str) -> Result<(), String> {
        let (place, value) = line.split_once(' ').ok_or("no value")?;
        let (at, kind) = self.place(place)?;
        let value = self.value(value)?.to_ne_bytes();
        let bytes = mask(kind)?.count_ones() as usize / 8;
        // SAFETY: the offset leaves eight bytes in the variable.
        unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), at, bytes) };
        Ok(())
    }
}

fn mask(kind: &str) -> Result<u64, String> {
    match kind {
        "u8" => Ok(0xff),
        "i32" | "u32" => Ok(0xffff_ffff),
        "u64" => Ok(u64::MAX),
        other => Err(format!("{other} is no type")),
    }
}

fn number(text: &str) -> Option<u64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |t| (true, t));
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

/// Runs a script through each front that it names. Returns the failures, one per line.
pub fn run(name: &str, script: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let fronts = script.lines().find_map(|l| l.strip_prefix("fronts ")).unwrap_or("6");
    for number in fronts.split_whitespace() {
        let front = open(number.parse().expect("a front's number"));
        let mut run = Run { front: &front, variables: BTreeMap::new(), texts: Vec::new() };
        for (at, line) in script.lines().enumerate() {
            let line = line.split(" #").next().unwrap_or_default().trim();
            let done = match line.split_once(' ') {
                _ if line.is_empty() || line.starts_with('#') || line.starts_with("fronts ") => Ok(()),
                Some(("is", rest)) => run.is(rest),
                Some(("put", rest)) => run.put(rest),
                _ => run.call(line),
            };
            if let Err(why) = done {
                wrong.push(format!("{name}:{} (front {number}): {line}: {why}", at + 1));
            }
        }
    }
    wrong
}
