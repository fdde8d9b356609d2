//! Matrix instructions, their inputs, and the results recorded on a device (`tests/hw/matrix/README.md`
//! describes the formats).

mod fragment;

pub use fragment::FragmentType;

use crate::recording::{Header, load};
use crate::{Error, rows};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Number of warps of a form's kernel.
pub const WARPS: usize = 1024;
/// Number of threads of a form's kernel.
pub const THREADS: usize = WARPS * 32;
/// Threads per block.
pub const BLOCK: usize = 128;
/// Bytes of shared memory per block.
const TILE: usize = 36864;

/// The registers of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// The letter of its registers: `%a0`, `%a1`…
    pub name: char,
    /// Their contents.
    pub ty: FragmentType,
    /// Their number.
    pub count: usize,
}

/// One form: a kernel's body with its inputs and its result.
#[derive(Clone, Debug)]
pub struct Form {
    /// The group, which is a recording's file name.
    pub group: String,
    /// The name, unique among all groups; usually the instruction itself.
    pub name: String,
    /// The inputs.
    pub inputs: Vec<Input>,
    /// Bits per register of the result: 32 or 64.
    pub bits: usize,
    /// Number of registers of the result.
    pub count: usize,
    /// PTX statements.
    pub body: String,
}

impl Form {
    /// The buffer for the kernel's parameter `in`: for each register of each input, an array over all
    /// threads. If only the first `threads` run, the elements of the others are zero.
    pub fn input_bytes(&self, threads: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (operand, input) in self.inputs.iter().enumerate() {
            let size = input.ty.bytes();
            for register in 0..input.count {
                let end = bytes.len() + THREADS * size;
                for thread in 0..threads.min(THREADS) {
                    let v = input.ty.register(operand as u64, register as u64, thread as u64);
                    bytes.extend_from_slice(&v.to_le_bytes()[..size]);
                }
                bytes.resize(end, 0);
            }
        }
        bytes
    }

    /// The registers of an input in the lanes of a warp, as `[register][lane]` in 32-bit words.
    pub fn fragment(&self, operand: usize, warp: usize) -> Vec<u32> {
        let Some(input) = self.inputs.get(operand) else { return Vec::new() };
        let mut words = Vec::new();
        for register in 0..input.count {
            for lane in 0..32 {
                let v = input.ty.register(operand as u64, register as u64, (warp * 32 + lane) as u64);
                words.push(v as u32);
                words.extend((input.ty.bytes() == 8).then_some((v >> 32) as u32));
            }
        }
        words
    }

    /// Size in bytes of the buffer for the kernel's parameter `out`: for each register of the result, an
    /// array over all threads.
    pub fn output_size(&self) -> usize {
        self.count * THREADS * self.bits / 8
    }

    /// The kernel's name in [`module`].
    pub fn kernel_name(&self) -> String {
        format!("t_{}", self.name.replace('.', "_"))
    }

    /// A warp's words of the result, ordered by register and lane, from the kernel's output.
    pub fn result(&self, out: &[u8], warp: usize) -> Vec<u32> {
        let per = self.bits / 32;
        let word = |at: usize| {
            let bytes = out.get(at * 4..at * 4 + 4).and_then(|b| b.try_into().ok()).unwrap_or_default();
            u32::from_le_bytes(bytes)
        };
        (0..self.count)
            .flat_map(|r| (0..32 * per).map(move |i| (r * THREADS + warp * 32) * per + i))
            .map(word)
            .collect()
    }
}

/// The PTX module with the kernels of some forms of one group. Each takes `(.param .u64 in, .param .u64
/// out)`.
pub fn module<'a>(forms: impl IntoIterator<Item = &'a Form>) -> String {
    let mut forms = forms.into_iter().peekable();
    // Forms removed in PTX 6.5 or sm_70 are a group of their own.
    let (version, target) =
        if forms.peek().is_some_and(|f| f.group == "wmma6") { ("6.4", "sm_70") } else { ("8.7", "sm_90a") };
    let mut text = format!(".version {version}\n.target {target}\n.address_size 64\n");
    for form in forms {
        // Writing to a string cannot fail.
        let _ = write_kernel(&mut text, form);
    }
    text
}

fn write_kernel(o: &mut String, f: &Form) -> std::fmt::Result {
    let shared = f.body.contains("%s") || f.body.contains("%w");
    writeln!(o, ".visible .entry {}(.param .u64 in, .param .u64 out)\n{{", f.kernel_name())?;
    writeln!(o, "    .reg .b16 %h<8>; .reg .b32 %t<16>; .reg .b64 %q<8>; .reg .pred %p<4>;")?;
    writeln!(o, "    .reg .b32 %i, %l, %s, %w, %u<3>; .reg .b64 %v<4>;")?;
    if shared {
        writeln!(o, "    .shared .align 1024 .b8 tile[{TILE}];")?;
    }
    for i in &f.inputs {
        writeln!(o, "    .reg .b{} %{}<{}>;", i.ty.bytes() * 8, i.name, i.count)?;
    }
    writeln!(o, "    .reg .b{} %d<{}>;", f.bits, f.count)?;
    writeln!(
        o,
        "    mov.u32 %u0, %ctaid.x; mov.u32 %u1, %ntid.x; mov.u32 %u2, %tid.x; mad.lo.u32 %i, %u0, %u1, %u2;"
    )?;
    writeln!(o, "    mov.u32 %l, %laneid;")?;
    if shared {
        let part = TILE / 4;
        writeln!(
            o,
            "    mov.u32 %w, tile; mov.u32 %s, %w; shr.u32 %t0, %u2, 5; mad.lo.u32 %w, %t0, {part}, %w;"
        )?;
    }
    writeln!(o, "    ld.param.u64 %v0, [in]; cvta.to.global.u64 %v0, %v0;")?;
    writeln!(o, "    mad.wide.u32 %v1, %i, 8, %v0; mad.wide.u32 %v0, %i, 4, %v0;")?;
    let mut offset = 0;
    for i in &f.inputs {
        let bytes = i.ty.bytes();
        for r in 0..i.count {
            let from = usize::from(bytes == 8);
            writeln!(o, "    ld.global.b{} %{}{r}, [%v{from}+{offset}];", bytes * 8, i.name)?;
            offset += THREADS * bytes;
        }
    }
    writeln!(o, "    {}", f.body)?;
    let bytes = f.bits / 8;
    writeln!(
        o,
        "    ld.param.u64 %v2, [out]; cvta.to.global.u64 %v2, %v2; mad.wide.u32 %v2, %i, {bytes}, %v2;"
    )?;
    for r in 0..f.count {
        writeln!(o, "    st.global.b{} [%v2+{}], %d{r};", f.bits, r * THREADS * bytes)?;
    }
    writeln!(o, "    ret;\n}}")
}

/// Every form, in the table's order.
///
/// # Errors
/// The table is missing or does not have the format in its README.
pub fn forms() -> Result<Vec<Form>, Error> {
    rows("hw/matrix/forms.tsv", |[group, name, inputs, result, body]| {
        let inputs: Option<Vec<Input>> = inputs.split(',').map(input).collect();
        let (bits, count) = result
            .strip_prefix('b')
            .and_then(|r| r.split_once('*'))
            .and_then(|(bits, count)| Some((bits.parse().ok()?, count.parse().ok()?)))
            .ok_or("a result must be b32*N or b64*N")?;
        Ok(Form {
            group: group.to_owned(),
            name: name.to_owned(),
            inputs: inputs.ok_or("an input must be LETTER:TYPE*N")?,
            bits,
            count,
            body: body.to_owned(),
        })
    })
}

fn input(text: &str) -> Option<Input> {
    let (name, rest) = text.split_once(':')?;
    let (ty, count) = rest.split_once('*')?;
    Some(Input { name: name.chars().next()?, ty: FragmentType::from_name(ty)?, count: count.parse().ok()? })
}

/// The hash that is recorded for a warp whose results are not kept.
pub fn hash(words: &[u32]) -> u32 {
    let mut h = 0u64;
    for &word in words {
        h = (h ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        h ^= h >> 29;
    }
    (h >> 32) as u32
}

/// The results of one form on a device.
#[derive(Clone, Debug)]
pub struct Results {
    /// The words of the first warps, ordered by register and lane.
    pub whole: Vec<Vec<u32>>,
    /// A [`hash`] of each warp's words.
    pub hashes: Vec<u32>,
}

impl Results {
    /// Compares the words that a warp returned. The error is the index of the first wrong word, if it is
    /// known.
    pub fn check(&self, warp: usize, words: &[u32]) -> Result<(), Option<usize>> {
        if let Some(whole) = self.whole.get(warp) {
            let first = (0..whole.len().max(words.len())).find(|&i| whole.get(i) != words.get(i));
            return first.map_or(Ok(()), |at| Err(Some(at)));
        }
        if self.hashes.get(warp) == Some(&hash(words)) { Ok(()) } else { Err(None) }
    }
}

/// The results of one group on a device.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The device's name and its driver's version.
    pub device: String,
    /// The date of the recording, as YYYY-MM-DD.
    pub date: String,
    results: HashMap<String, Results>,
}

impl Recording {
    /// Reads a group's recording.
    ///
    /// # Errors
    /// The file is missing or damaged, or does not have the format in its README.
    pub fn of_group(group: &str) -> Result<Recording, Error> {
        load(&format!("hw/matrix/{group}.hw.zst"), Recording::read)
    }

    /// Parses a recording as the recorder wrote it.
    ///
    /// # Errors
    /// The reason why it is malformed.
    pub fn read(bytes: &[u8]) -> Result<Recording, String> {
        let mut header = Header::read("anywarp-hw matrix 1", bytes)?;
        let warps = header.lines.next().unwrap_or_default();
        let whole: usize = warps
            .strip_prefix(&format!("warps {WARPS} whole "))
            .and_then(|n| n.parse().ok())
            .ok_or_else(|| format!("not a recording of {WARPS} warps"))?;
        let mut results = HashMap::new();
        for line in header.lines.clone() {
            let (name, shape) = line.split_once(" b").ok_or("a form has no result")?;
            let size: Option<(usize, usize)> =
                shape.split_once('*').and_then(|(b, n)| Some((b.parse().ok()?, n.parse().ok()?)));
            let (bits, count) = size.ok_or("a result has no size")?;
            let mut take = |words: usize| {
                let word = |c: &[u8]| c.iter().rev().fold(0, |v, &b| v << 8 | u32::from(b));
                Ok::<Vec<u32>, String>(header.take(name, words * 4)?.chunks_exact(4).map(word).collect())
            };
            let first: Result<Vec<_>, _> = (0..whole).map(|_| take(count * bits)).collect();
            results.insert(name.to_owned(), Results { whole: first?, hashes: take(WARPS)? });
        }
        Ok(Recording { device: header.device.to_owned(), date: header.date.to_owned(), results })
    }

    /// The results of a form; `None` if it was not recorded.
    pub fn results(&self, form: &str) -> Option<&Results> {
        self.results.get(form)
    }
}
