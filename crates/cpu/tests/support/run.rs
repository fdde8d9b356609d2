//! Runs the kernel of an instruction form (`tests/hw`) on its inputs.

use cpu::Program;
use grid::Workers;
use hwtruth::instructions::{BLOCK, Form, INPUTS, SLOT};

use super::launch::{Shape, launch};
use super::memory::Aligned;

/// The contents of `out` after the first blocks of the form's kernel.
///
/// # Errors
/// The kernel faults, or is not compiled although it must be.
pub fn run(
    program: &Program,
    workers: &Workers,
    form: &Form,
    compiled: bool,
    threads: usize,
) -> Result<Vec<u8>, String> {
    let kernel = form.kernel_name();
    let (input, memory) = (Aligned::new(&form.input_bytes()), Aligned::zeroed(INPUTS * SLOT));
    let mut out = Aligned::zeroed(form.output_size());
    let shape = Shape { kernel: &kernel, blocks: (threads / BLOCK) as u32, threads: BLOCK as u32, compiled };
    launch(program, workers, &shape, &[&input, &out, &memory], &[])?;
    Ok(out.bytes().to_vec())
}
