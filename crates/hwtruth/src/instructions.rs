//! Instruction forms, their inputs, and the results recorded on a device (`tests/hw/README.md` describes the
//! formats).

mod close;
mod input;
mod kernel;

pub use input::InputType;

use crate::recording::{Header, load};
use crate::{Error, rows};
use std::collections::HashMap;

/// Number of inputs of a form, and of threads of its kernel.
pub const INPUTS: usize = 2048;
/// Threads per block of a form's kernel; a grid has [`INPUTS`] / [`BLOCK`] blocks.
pub const BLOCK: usize = 128;
/// Bytes of `%m`, `%s` and `%l` per thread.
pub const SLOT: usize = 32;

/// How a result is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Bit for bit.
    Exact,
    /// Within the error that the PTX manual states; special values exactly.
    Approx,
}

/// One instruction form: a kernel's body with its inputs and outputs.
#[derive(Clone, Debug)]
pub struct Form {
    /// The group, which is a recording's file name: `integer`, `f32`, …
    pub group: String,
    /// The name, unique among all groups; usually the instruction itself.
    pub name: String,
    /// The minimum compute capability, times ten.
    pub capability: u32,
    /// How results are compared.
    pub check: Check,
    /// Types of the inputs `%a %b %c %e`.
    pub inputs: Vec<InputType>,
    /// Sizes in bits of the outputs `%d %x %y`.
    pub outputs: Vec<u32>,
    /// PTX statements.
    pub body: String,
    /// Text outside the kernel: functions that it calls.
    pub outside: String,
}

/// The PTX version and target of a group's kernels: those of the recording device, except for forms that were
/// removed.
pub fn home(group: &str) -> (&'static str, &'static str) {
    match group {
        "ptx1" => ("1.3", "sm_13"),
        "ptx6" => ("6.3", "sm_60"),
        _ => ("8.6", "sm_90"),
    }
}

impl Form {
    /// Input `index` of operand `operand`, as stored in its 64-bit slot.
    pub fn input(&self, operand: usize, index: usize) -> u64 {
        match self.inputs.get(operand) {
            Some(&t) => input::value(&self.inputs, t, operand as u64, index as u64),
            None => 0,
        }
    }

    /// The buffer for the kernel's parameter `in`: [`INPUTS`] slots of 8 bytes for each operand.
    pub fn input_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.inputs.len() * INPUTS * 8);
        for operand in 0..self.inputs.len() {
            for index in 0..INPUTS {
                bytes.extend_from_slice(&self.input(operand, index).to_le_bytes());
            }
        }
        bytes
    }

    /// Size in bytes of the buffer for the kernel's parameter `out`.
    pub fn output_size(&self) -> usize {
        self.outputs.iter().map(|&bits| bits as usize / 8 * INPUTS).sum()
    }

    /// The name without a leading group name: usually the instruction itself.
    pub fn instruction(&self) -> &str {
        self.name.strip_prefix(&self.group).and_then(|n| n.strip_prefix('.')).unwrap_or(&self.name)
    }

    /// The kernel's name in [`module`].
    pub fn kernel_name(&self) -> String {
        format!("t_{}", self.name.replace('.', "_"))
    }
}

/// The PTX module with the kernels of some forms, for a version (`8.6`) and a target (`sm_90`).
///
/// Each kernel takes `(.param .u64 in, .param .u64 out, .param .u64 mem)`: the [`Form::input_bytes`], a
/// zeroed buffer of [`Form::output_size`], and [`INPUTS`] × [`SLOT`] zeroed bytes.
pub fn module<'a>(forms: impl IntoIterator<Item = &'a Form>, version: &str, target: &str) -> String {
    // Before PTX 1.4, kernels have no parameter lists and `.address_size` does not exist.
    let old = version.starts_with("1.");
    let size = if old { "" } else { ".address_size 64\n" };
    let mut text = format!(".version {version}\n.target {target}\n{size}");
    for form in forms {
        kernel::write(&mut text, form, old);
    }
    text
}

/// Every form, in the table's order.
///
/// # Errors
/// The table is missing or does not have the format in its README.
pub fn forms() -> Result<Vec<Form>, Error> {
    rows("hw/forms.tsv", |[group, name, capability, check, inputs, outputs, body]| {
        let inputs: Option<Vec<_>> = inputs.split(',').map(InputType::from_name).collect();
        let outputs: Result<Vec<u32>, _> =
            outputs.split(',').map(|o| o.trim_start_matches('b').parse()).collect();
        let (outside, body) = body.split_once(" ## ").unwrap_or(("", body));
        Ok(Form {
            group: group.to_owned(),
            name: name.to_owned(),
            capability: capability.parse().map_err(|_| "the capability is not a number")?,
            check: match check {
                "exact" => Check::Exact,
                "approx" => Check::Approx,
                _ => return Err("a check must be `exact` or `approx`".to_owned()),
            },
            inputs: inputs.ok_or("unknown input type")?,
            outputs: outputs.map_err(|_| "an output must be b16, b32 or b64")?,
            body: body.to_owned(),
            outside: outside.to_owned(),
        })
    })
}

/// The results of one group on a device.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The device's name and its driver's version.
    pub device: String,
    /// The date of the recording, as YYYY-MM-DD.
    pub date: String,
    results: HashMap<String, Vec<Vec<u64>>>,
}

/// A result that differs from the hardware's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The output: 0 is `%d`.
    pub output: usize,
    /// The thread.
    pub index: usize,
    /// Its inputs.
    pub inputs: Vec<u64>,
    /// The hardware's result.
    pub expected: u64,
    /// Our result.
    pub got: u64,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "thread {}:", self.index)?;
        for input in &self.inputs {
            write!(f, " {input:#x}")?;
        }
        write!(f, " gave {:#x} as output {}, the hardware {:#x}", self.got, self.output, self.expected)
    }
}

impl Recording {
    /// Reads a group's recording.
    ///
    /// # Errors
    /// The file is missing or damaged, or does not have the format in its README.
    pub fn of_group(group: &str) -> Result<Recording, Error> {
        load(&format!("hw/{group}.hw.zst"), Recording::read)
    }

    fn read(bytes: &[u8]) -> Result<Recording, String> {
        let mut header = Header::read("anywarp-hw 1", bytes)?;
        if header.lines.next() != Some(&format!("inputs {INPUTS}")) {
            return Err(format!("not a recording of {INPUTS} inputs"));
        }
        let mut results = HashMap::new();
        for line in header.lines.clone() {
            let mut words = line.split(' ');
            let name = words.next().unwrap_or_default();
            let mut outputs = Vec::new();
            for bits in words {
                let size = bits.parse::<usize>().map_err(|e| format!("{name}: {e}"))? / 8;
                outputs.push(elements(header.take(name, size * INPUTS)?, size));
            }
            results.insert(name.to_owned(), outputs);
        }
        Ok(Recording { device: header.device.to_owned(), date: header.date.to_owned(), results })
    }

    /// The results of a form: for each output, one value per thread. `None` if the form was not recorded.
    pub fn results(&self, form: &str) -> Option<&[Vec<u64>]> {
        self.results.get(form).map(Vec::as_slice)
    }

    /// The differences between `out`, as written by the first `threads` threads of the form's kernel, and the
    /// hardware's results. `None` if the form was not recorded.
    pub fn compare(&self, form: &Form, out: &[u8], threads: usize) -> Option<Vec<Mismatch>> {
        let expected = self.results(&form.name)?;
        let mut mismatches = Vec::new();
        let mut rest = out;
        for (output, (wanted, &bits)) in expected.iter().zip(&form.outputs).enumerate() {
            let size = bits as usize / 8;
            let (array, tail) = rest.split_at_checked(size * INPUTS)?;
            rest = tail;
            for (index, (got, &expected)) in
                elements(array, size).into_iter().zip(wanted).take(threads).enumerate()
            {
                let inputs = || (0..form.inputs.len()).map(|k| form.input(k, index)).collect::<Vec<_>>();
                let same = got == expected
                    || form.check == Check::Approx && close::close(form, &inputs(), expected, got);
                if !same {
                    mismatches.push(Mismatch { output, index, inputs: inputs(), expected, got });
                }
            }
        }
        Some(mismatches)
    }
}

/// Little-endian elements of `size` bytes (at most 8).
fn elements(bytes: &[u8], size: usize) -> Vec<u64> {
    bytes
        .chunks_exact(size.max(1))
        .map(|chunk| chunk.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
        .collect()
}
