//! Launches a kernel by name.

use cpu::Program;
use grid::{Launch, Workers};

use super::memory::{Aligned, Memory};

/// A launch: blocks and threads in one dimension, and whether compiled code must run.
pub struct Shape<'a> {
    pub kernel: &'a str,
    pub blocks: u32,
    pub threads: u32,
    pub compiled: bool,
}

/// Runs a kernel whose parameters are the addresses of `buffers`, which are all the memory that it may
/// access, followed by `scalars`.
///
/// # Errors
/// The kernel is missing, faults, prints, or is not compiled although it must be.
pub fn launch(
    program: &Program,
    workers: &Workers,
    shape: &Shape,
    buffers: &[&Aligned],
    scalars: &[u8],
) -> Result<(), String> {
    let id = program.module().function(shape.kernel).ok_or("no such kernel")?;
    let info = program.module().functions[id.index()].kernel.as_ref().ok_or("not a kernel")?;
    let mut params: Vec<u8> = buffers.iter().flat_map(|b| b.address().to_le_bytes()).collect();
    params.extend(scalars);
    params.resize(info.param_size as usize, 0);
    // The module's own variables.
    let mut image = Aligned::zeroed(program.module().image_size as usize);
    let base = image.address();
    image.bytes().copy_from_slice(&program.image(base));
    let memory = Memory::new(buffers.iter().map(|b| b.range()).chain([image.range()]).collect());
    let (grid, block) = ([shape.blocks, 1, 1], [shape.threads, 1, 1]);
    let kernel = program.kernel(id, grid, block).ok_or("no code")?;
    if shape.compiled && kernel.report.is_none() {
        return Err(format!("not compiled: {}", kernel.refused.as_deref().unwrap_or("no reason")));
    }
    workers
        .run(&Launch {
            name: shape.kernel,
            code: &*kernel.code,
            grid,
            block,
            params: &params,
            image: base,
            shared: [info.shared_size as u32, 0],
            stack: 1024,
            cluster: None,
            cooperative: false,
            most_workers: None,
            busy: None,
            spent: std::time::Duration::ZERO,
            id: 1,
            host: &memory,
        })
        .map_err(|fault| format!("fault: {fault}"))?;
    match memory.printed().as_str() {
        "" => Ok(()),
        text => Err(format!("printed {text:?}")),
    }
}
