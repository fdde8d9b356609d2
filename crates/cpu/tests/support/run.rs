//! Runs the kernel of an instruction form (`tests/hw`) on its inputs.

use cpu::Program;
use grid::{Heap, Host, Launch, Workers};
use hwtruth::instructions::{BLOCK, Form, INPUTS, SLOT};

struct Memory {
    ranges: [(u64, u64); 3],
    heap: Heap,
}

impl Host for Memory {
    fn accessible(&self, address: u64, size: u32, _write: bool) -> bool {
        let end = address.saturating_add(u64::from(size));
        self.ranges.iter().any(|&(start, len)| address >= start && end <= start + len)
    }

    fn print(&self, text: &[u8]) {
        panic!("no form prints, but got {:?}", String::from_utf8_lossy(text));
    }

    fn heap(&self) -> &Heap {
        &self.heap
    }
}

/// Zeroed memory of `bytes`, aligned to 16.
fn buffer(bytes: usize) -> Vec<u128> {
    vec![0; bytes.div_ceil(16) + 1]
}

fn bytes(words: &[u128]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// What the form's kernel leaves in `out`.
///
/// # Errors
/// The kernel faults, or is not compiled though it has to be.
pub fn run(program: &Program, workers: &Workers, form: &Form, compiled: bool) -> Result<Vec<u8>, String> {
    let name = form.kernel_name();
    let kernel = program.module().function(&name).ok_or("no kernel")?;
    let info = program.module().functions[kernel.index()].kernel.as_ref().ok_or("no kernel")?;
    let mut input = form.input_bytes();
    input.resize(input.len().next_multiple_of(16), 0);
    let input: Vec<u128> =
        input.chunks_exact(16).map(|c| u128::from_le_bytes(c.try_into().expect("16 bytes"))).collect();
    let (out, mem) = (buffer(form.output_size()), buffer(INPUTS * SLOT));
    let ranges = [&input, &out, &mem].map(|b| (b.as_ptr() as u64, b.len() as u64 * 16));
    let params: Vec<u8> = ranges.iter().flat_map(|(address, _)| address.to_le_bytes()).collect();
    let memory = Memory { ranges, heap: Heap::new(1 << 16) };
    let (grid, block) = ([(INPUTS / BLOCK) as u32, 1, 1], [BLOCK as u32, 1, 1]);
    let kernel = program.kernel(kernel, grid, block).ok_or("no code")?;
    if compiled && kernel.report.is_none() {
        return Err(format!("not compiled: {}", kernel.refused.as_deref().unwrap_or("no reason")));
    }
    workers
        .run(&Launch {
            name: &name,
            code: &*kernel.code,
            grid,
            block,
            params: &params,
            image: 0,
            shared: [info.shared_size as u32, 0],
            stack: 0,
            cluster: None,
            cooperative: false,
            id: 1,
            host: &memory,
        })
        .map_err(|fault| format!("fault: {fault}"))?;
    let mut out = bytes(&out);
    out.truncate(form.output_size());
    Ok(out)
}
