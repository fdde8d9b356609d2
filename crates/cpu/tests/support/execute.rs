//! Runs a launch of a test file.

use cpu::printed::Buffer;
use cpu::{Engine, Program, Specialisation};
use grid::{Launch, Workers};
use wave::abi::Code;
use wave::count::{Counter, ROW, ROWS};
use wave::launch::{Filled, Shape};

use super::case::Run;
use super::memory::{Aligned, Memory};

/// The engine that runs a kernel.
#[derive(Clone, Copy)]
pub enum By<'a> {
    /// The program's code for the kernel, which must be of this engine.
    Engine(Engine),
    /// Code that was compiled separately.
    This(&'a dyn Code),
}

/// Runs a case and compares the results with the expected ones.
///
/// # Errors
/// The results differ, or the case does not run as expected.
pub fn execute(program: &Program, workers: &Workers, run: &Run, by: By) -> Result<(), String> {
    execute_and_count(program, workers, run, by).map(drop)
}

/// As [`execute`]; returns what a kernel that counts has counted, by [`Counter`].
///
/// # Errors
/// As above.
pub fn execute_and_count(
    program: &Program,
    workers: &Workers,
    run: &Run,
    by: By,
) -> Result<Vec<u64>, String> {
    let id = program.module().function(&run.kernel).ok_or_else(|| format!("no kernel `{}`", run.kernel))?;
    let info = program.module().functions[id.index()].kernel.as_ref().ok_or("not a kernel")?;
    let mut image = Aligned::new(&vec![0; program.module().image_size as usize]);
    let base = image.address();
    image.bytes().copy_from_slice(&program.image(base));
    let mut buffers: Vec<Option<Aligned>> =
        run.args.iter().map(|a| a.count.map(|_| Aligned::new(&a.bytes))).collect();
    let mut params = vec![0u8; info.param_size as usize];
    if info.params.len() != run.args.len() {
        return Err(format!(
            "{} takes {} arguments, the file gives {}",
            run.kernel,
            info.params.len(),
            run.args.len()
        ));
    }
    for ((place, arg), buffer) in info.params.iter().zip(&run.args).zip(&buffers) {
        let bytes = buffer.as_ref().map_or(arg.bytes.clone(), |b| b.address().to_le_bytes().to_vec());
        let at = place.offset as usize;
        params[at..at + bytes.len()].copy_from_slice(&bytes);
    }
    let shared = [info.shared_size as u32, run.shared];
    let asks = |what: Filled| info.fills.iter().any(|fill| fill.what == what);
    let printed = asks(Filled::Printf).then(Buffer::default);
    let mut counters = Aligned::new(&[0; ROWS * ROW * 8]);
    let shape = Shape {
        grid: run.grid,
        block: run.block,
        shared,
        image: base,
        printf: printed.as_ref().map_or(0, Buffer::address),
        counters: counters.address(),
        ..Shape::default()
    };
    info.fill(&mut params, &shape);
    let mut ranges: Vec<(u64, u64)> = buffers.iter().flatten().map(|b| b.range()).collect();
    ranges.extend([image.range(), counters.range()]);
    ranges.extend(printed.iter().map(|buffer| (buffer.address(), Buffer::SIZE as u64)));
    let memory = Memory::new(ranges);
    let spec = Specialisation::of_launch(run.grid, run.block).in_clusters(run.cluster.is_some());
    let made;
    let code = match by {
        By::This(code) => code,
        By::Engine(engine) => {
            made = program.kernel_for(id, spec).ok_or("no code")?;
            if engine == Engine::Compiled && made.report.is_none() {
                return Err(format!("not compiled: {}", made.refused.as_deref().unwrap_or("no reason")));
            }
            &*made.code
        }
    };
    let result = workers.run(&Launch {
        name: &run.kernel,
        code,
        grid: run.grid,
        block: run.block,
        params: &params,
        image: base,
        shared: [info.shared_size as u32, run.shared],
        stack: 0,
        cluster: run.cluster,
        cooperative: run.cooperative,
        most_workers: None,
        busy: None,
        spent: std::time::Duration::ZERO,
        id: 1,
        host: &memory,
    });
    if let Some(buffer) = printed {
        buffer.print(program.formats(), &|text, _| grid::Host::print(&memory, text));
    }
    match (&run.fault, result) {
        (None, Err(fault)) => return Err(format!("fault {:?}: {fault}", fault.kind)),
        (Some(want), Ok(())) => return Err(format!("no fault, {want} expected")),
        (Some(want), Err(fault)) if &format!("{:?}", fault.kind) != want => {
            return Err(format!("{:?} instead of {want}: {fault}", fault.kind));
        }
        (Some(_), Err(fault)) if run.source.is_some() => {
            let source = fault.line.and_then(|line| program.source_of(line));
            if source != run.source {
                return Err(format!("{fault} at {source:?} instead of {:?}", run.source));
            }
        }
        _ => {}
    }
    let mut printed: Vec<String> = memory.printed().lines().map(String::from).collect();
    let mut wanted = run.prints.clone();
    printed.sort();
    wanted.sort();
    if printed != wanted {
        return Err(format!("printed {printed:?}, expected {wanted:?}"));
    }
    let after: Vec<Option<Vec<u8>>> =
        buffers.iter_mut().map(|b| b.as_mut().map(|b| b.bytes().to_vec())).collect();
    run.check(&after)?;
    let words: Vec<u64> =
        counters.bytes().as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let sum = |counter: &Counter| words.iter().skip(*counter as usize).step_by(ROW).sum();
    let counts: Vec<u64> = Counter::ALL.iter().map(sum).collect();
    if asks(Filled::Counters) {
        run.check_counts(&counts)?;
    }
    Ok(counts)
}
