//! A test file: PTX, or wave IR, with launches and expected results in comments (which begin with `;` in wave
//! IR).
//!
//! ```text
//! // run kernel grid=2 block=64 cluster=2 shared=0
//! // a: f32[128] = i * 0.5          an argument: a buffer with its initial contents
//! // n: u32 = 100                   an argument: a scalar
//! // expect a[i] = i < 100 ? a[i] + 1 : a[i]      `a` on the right means the initial contents
//! // fault IllegalAddress           the launch must fail with this fault
//! // source scale.cu:7              … and the fault must name this source line
//! // prints hello 3                 a line of the launch's output, in any order
//! // counts flops 64                a counter's sum, if the kernel counts what it does
//! // within 4                       floats may differ by so many units in the last place from another run's
//! ```
//!
//! `run` begins a launch; a file may have several, each with its own buffers.

use std::sync::OnceLock;

use wave::count::Counter;

use super::expr::{Expr, Val};

/// Element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elem {
    /// Unsigned integers of this many bytes.
    U(usize),
    /// Signed integers of this many bytes.
    S(usize),
    /// f32.
    F32,
    /// f64.
    F64,
}

impl Elem {
    fn parse(s: &str) -> Option<Elem> {
        Some(match s {
            "u8" => Elem::U(1),
            "u16" => Elem::U(2),
            "u32" => Elem::U(4),
            "u64" => Elem::U(8),
            "s8" => Elem::S(1),
            "s16" => Elem::S(2),
            "s32" => Elem::S(4),
            "s64" => Elem::S(8),
            "f32" => Elem::F32,
            "f64" => Elem::F64,
            _ => return None,
        })
    }

    /// Size in bytes.
    pub fn size(self) -> usize {
        match self {
            Elem::U(n) | Elem::S(n) => n,
            Elem::F32 => 4,
            Elem::F64 => 8,
        }
    }

    /// Encodes a value: integers wrap, floats round.
    pub fn encode(self, v: Val) -> Vec<u8> {
        match self {
            Elem::U(n) | Elem::S(n) => v.int().to_le_bytes()[..n].to_vec(),
            Elem::F32 => (v.float() as f32).to_le_bytes().to_vec(),
            Elem::F64 => v.float().to_le_bytes().to_vec(),
        }
    }

    /// Whether two encoded values are equal, or floats that differ by at most this many units in the
    /// last place. All NaNs are equal then, and zeros.
    fn near(self, a: &[u8], b: &[u8], units: Option<u64>) -> bool {
        let Some(units) = units.filter(|_| a != b && matches!(self, Elem::F32 | Elem::F64)) else {
            return a == b;
        };
        let [a, b] = [a, b].map(|bytes| self.decode(bytes).float());
        if a.is_nan() || b.is_nan() {
            return a.is_nan() && b.is_nan();
        }
        // Numbers in the order of the floats.
        let position = |x: f64| {
            let (negative, size) = match self {
                Elem::F32 => (x.is_sign_negative(), u64::from((x.abs() as f32).to_bits())),
                _ => (x.is_sign_negative(), x.abs().to_bits()),
            };
            if negative { -i128::from(size) } else { i128::from(size) }
        };
        (position(a) - position(b)).unsigned_abs() <= u128::from(units)
    }

    /// Decodes a value.
    pub fn decode(self, b: &[u8]) -> Val {
        let mut raw = [0u8; 16];
        raw[..b.len()].copy_from_slice(b);
        let bits = u128::from_le_bytes(raw);
        match self {
            Elem::U(_) => Val::I(bits as i128),
            Elem::S(n) => Val::I(((bits << (128 - 8 * n)) as i128) >> (128 - 8 * n)),
            Elem::F32 => Val::F(f64::from(f32::from_bits(bits as u32))),
            Elem::F64 => Val::F(f64::from_bits(bits as u64)),
        }
    }
}

/// A kernel argument.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its name in the file.
    pub name: String,
    /// Its element type.
    pub elem: Elem,
    /// Number of elements; `None` for a scalar.
    pub count: Option<usize>,
    /// Initial contents.
    pub bytes: Vec<u8>,
}

/// One launch.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The line number of its `run`.
    pub line: usize,
    /// Name of the kernel.
    pub kernel: String,
    /// Blocks per grid.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Blocks per cluster.
    pub cluster: Option<[u32; 3]>,
    /// Dynamic shared memory in bytes.
    pub shared: u32,
    /// Whether it is a cooperative launch.
    pub cooperative: bool,
    /// Arguments in order.
    pub args: Vec<Argument>,
    /// `(buffer, expression)`.
    pub expect: Vec<(String, String)>,
    /// The expected fault.
    pub fault: Option<String>,
    /// The source line that the fault must name.
    pub source: Option<String>,
    /// Lines that must be printed.
    pub prints: Vec<String>,
    /// What a kernel must count that counts what it does.
    pub counts: Vec<(Counter, u64)>,
    /// The bytes that `expect` says, in its order. They are computed when first asked for, since a launch is
    /// checked on each engine and in each mode.
    wanted: OnceLock<Result<Vec<Vec<u8>>, String>>,
    /// What the buffers must hold after the launch, if another run of the same source says so.
    pub same: Option<Vec<Option<Vec<u8>>>>,
    /// By how many units in the last place floats may differ from those. Without it, bits count.
    pub within: Option<u64>,
}

fn dims(s: &str) -> Result<[u32; 3], String> {
    let mut d = [1; 3];
    for (i, part) in s.split('x').enumerate() {
        let slot = d.get_mut(i).ok_or_else(|| format!("too many dimensions in `{s}`"))?;
        *slot = part.parse().map_err(|_| format!("`{part}` is not a size"))?;
    }
    Ok(d)
}

fn head(line: usize, text: &str) -> Result<Run, String> {
    let mut run = Run { line, grid: [1; 3], block: [32, 1, 1], ..Run::default() };
    for (i, word) in text.split_whitespace().enumerate() {
        match word.split_once('=') {
            None if i == 0 => run.kernel = word.to_string(),
            None if word == "cooperative" => run.cooperative = true,
            Some(("grid", v)) => run.grid = dims(v)?,
            Some(("block", v)) => run.block = dims(v)?,
            Some(("cluster", v)) => run.cluster = Some(dims(v)?),
            Some(("shared", v)) => run.shared = v.parse().map_err(|_| format!("`{v}` is not a size"))?,
            _ => return Err(format!("`{word}` is not an option of `run`")),
        }
    }
    Ok(run)
}

fn argument(name: &str, rest: &str) -> Result<Argument, String> {
    let (ty, first) = rest.split_once('=').unwrap_or((rest, "0"));
    let ty = ty.trim();
    let (elem, count) = match ty.split_once('[') {
        None => (ty, None),
        Some((elem, n)) => {
            let n = n.trim_end_matches(']').parse().map_err(|_| format!("`{ty}` has no size"))?;
            (elem, Some(n))
        }
    };
    let elem = Elem::parse(elem).ok_or_else(|| format!("unknown type `{elem}`"))?;
    let first = Expr::parse(first.trim())?;
    let mut bytes = Vec::new();
    for i in 0..count.unwrap_or(1) {
        let names = |n: &str, _: Option<i128>| (n == "i").then_some(Val::I(i as i128));
        bytes.extend(elem.encode(first.eval(&names)?));
    }
    Ok(Argument { name: name.to_string(), elem, count, bytes })
}

/// The launches of a file.
pub fn parse(text: &str) -> Result<Vec<Run>, String> {
    let mut runs: Vec<Run> = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let Some(comment) = line.strip_prefix("// ").or_else(|| line.strip_prefix("; ")) else { continue };
        let at = |e: String| format!("line {}: {e}", n + 1);
        if let Some(rest) = comment.strip_prefix("run ") {
            runs.push(head(n + 1, rest).map_err(at)?);
            continue;
        }
        let Some(run) = runs.last_mut() else { continue };
        if let Some(rest) = comment.strip_prefix("expect ") {
            let (left, right) = rest.split_once('=').ok_or_else(|| at("no `=`".into()))?;
            let name = left.trim().strip_suffix("[i]").ok_or_else(|| at("`name[i] = …` expected".into()))?;
            run.expect.push((name.to_string(), right.trim().to_string()));
        } else if let Some(rest) = comment.strip_prefix("fault ") {
            run.fault = Some(rest.trim().to_string());
        } else if let Some(rest) = comment.strip_prefix("source ") {
            run.source = Some(rest.trim().to_string());
        } else if let Some(rest) = comment.strip_prefix("within ") {
            let units = rest.trim().parse().map_err(|_| at(format!("`{rest}` is not a number")))?;
            run.within = Some(units);
        } else if let Some(rest) = comment.strip_prefix("prints ") {
            run.prints.push(rest.to_string());
        } else if let Some(rest) = comment.strip_prefix("counts ") {
            let (name, number) = rest.trim().split_once(' ').unwrap_or((rest, ""));
            let counter = Counter::from_name(name).ok_or_else(|| at(format!("no counter `{name}`")))?;
            let number = number.parse().map_err(|_| at(format!("`{number}` is not a number")))?;
            run.counts.push((counter, number));
        } else if let Some((name, rest)) = comment.split_once(": ")
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        {
            run.args.push(argument(name, rest).map_err(at)?);
        }
    }
    if runs.is_empty() {
        return Err("no `// run` line".into());
    }
    Ok(runs)
}

impl Run {
    /// Compares the buffers after the launch (in argument order; `None` for scalars) with the expected ones.
    pub fn check(&self, after: &[Option<Vec<u8>>]) -> Result<(), String> {
        let others = self.same.iter().flatten();
        for ((arg, got), want) in self.args.iter().zip(after).zip(others) {
            let (Some(got), Some(want)) = (got, want) else { continue };
            let size = arg.elem.size();
            let differs = |(a, b): (&[u8], &[u8])| !arg.elem.near(a, b, self.within);
            if let Some(i) = got.chunks(size).zip(want.chunks(size)).position(differs) {
                let [have, want] = [got, want].map(|all| arg.elem.decode(&all[i * size..(i + 1) * size]));
                return Err(format!("{}[{i}] is {have:?}, should be {want:?}", arg.name));
            }
        }
        let wanted = self.wanted.get_or_init(|| self.expect.iter().map(|e| self.bytes(e)).collect());
        for ((name, expression), want) in self.expect.iter().zip(wanted.as_ref().map_err(String::clone)?) {
            let position = self.position(name)?;
            let elem = self.args[position].elem;
            let got = after[position].as_ref().ok_or_else(|| format!("`{name}` is a scalar"))?;
            let elements = got.chunks(elem.size()).zip(want.chunks(elem.size()));
            if let Some((i, (have, want))) = elements.enumerate().find(|(_, (have, want))| have != want) {
                let [have, want] = [have, want].map(|bytes| elem.decode(bytes));
                return Err(format!("{name}[{i}] is {have:?}, should be {want:?} ({expression})"));
            }
        }
        Ok(())
    }

    /// Compares the sums of counters, by [`Counter`], with the expected ones.
    pub fn check_counts(&self, sums: &[u64]) -> Result<(), String> {
        for (counter, want) in &self.counts {
            let have = sums.get(*counter as usize).copied().unwrap_or(0);
            if have != *want {
                return Err(format!("{} are {have}, should be {want}", counter.name()));
            }
        }
        Ok(())
    }

    fn position(&self, name: &str) -> Result<usize, String> {
        self.args.iter().position(|a| a.name == name).ok_or_else(|| format!("no buffer `{name}`"))
    }

    /// The bytes of a buffer according to an `expect`.
    fn bytes(&self, (name, expression): &(String, String)) -> Result<Vec<u8>, String> {
        let arg = &self.args[self.position(name)?];
        let expression = Expr::parse(expression)?;
        let mut bytes = Vec::new();
        for i in 0..arg.count.unwrap_or(1) {
            let names = |n: &str, index: Option<i128>| {
                if n == "i" {
                    return Some(Val::I(i as i128));
                }
                let a = self.args.iter().find(|a| a.name == n)?;
                let at = usize::try_from(index.unwrap_or(0)).ok()? * a.elem.size();
                Some(a.elem.decode(a.bytes.get(at..at + a.elem.size())?))
            };
            bytes.extend(arg.elem.encode(expression.eval(&names)?));
        }
        Ok(bytes)
    }
}
