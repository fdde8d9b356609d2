//! What is reported of a kernel: sizes, and an estimate of what an assembler would report.

use std::collections::HashMap;
use std::fmt::Write;

use driver::backend::{GlobalInfo, KernelInfo, LoadOptions, ParamInfo, Usage};
use wave::op::Op;
use wave::{Function, Module, Value};

/// The kernel information that the driver needs, from the declaration alone.
pub fn kernel(function: &Function, target: u32, options: &LoadOptions) -> KernelInfo {
    let info = function.kernel.clone().unwrap_or_default();
    let required = Some(info.required_block).filter(|b| b.iter().any(|&n| n != 0));
    KernelInfo {
        name: function.name.clone(),
        params: info.params.iter().map(|p| ParamInfo { offset: p.offset, size: p.size }).collect(),
        param_size: info.params.last().map_or(0, |p| p.offset.saturating_add(p.size)),
        static_shared: u32::try_from(info.shared_size).unwrap_or(u32::MAX),
        // The hardware's driver does not count a required block shape as a bound.
        max_threads: least(if required.is_some() { 0 } else { info.max_threads }, options.max_threads),
        required_block: required,
        required_cluster: Some(info.required_cluster).filter(|c| c.iter().any(|&n| n != 0)),
        max_cluster: info.max_cluster,
        explicit_cluster: info.explicit_cluster,
        blocks_are_clusters: info.blocks_are_clusters,
        target,
    }
}

/// The resources that a kernel's code uses.
pub fn usage(module: &Module, function: &Function, options: &LoadOptions) -> Usage {
    let local = function.slots.iter().fold(0u32, |at, s| {
        at.checked_next_multiple_of(s.align.max(1)).unwrap_or(u32::MAX).saturating_add(s.size)
    });
    let most = function.kernel.as_ref().map_or(0, |k| k.max_registers);
    Usage {
        local_bytes: local,
        const_bytes: const_bytes(module, function),
        registers: registers(function, least(most, options.max_registers)),
    }
}

/// The smaller of two bounds; 0 means no bound.
fn least(a: u32, b: u32) -> u32 {
    if a == 0 || b == 0 { a.max(b) } else { a.min(b) }
}

/// Bytes of the constant variables that the function refers to.
fn const_bytes(module: &Module, function: &Function) -> u32 {
    let mut seen = HashMap::new();
    for inst in function.blocks.iter().flat_map(|b| &b.insts) {
        if let Op::GlobalAddr(id, _) = inst.op
            && let Some(global) = module.globals.get(id.index()).filter(|g| g.constant)
        {
            seen.insert(id, global.size);
        }
    }
    u32::try_from(seen.values().sum::<u64>()).unwrap_or(u32::MAX)
}

/// An estimate of the 32-bit registers per thread: the maximum number of live values when the blocks are read
/// in order.
fn registers(function: &Function, limit: u32) -> u32 {
    const MOST: u32 = 255;
    /// What an assembler reports for an empty kernel.
    const LEAST: u32 = 4;
    let mut last: HashMap<Value, usize> = HashMap::new();
    let mut at = 0usize;
    for block in &function.blocks {
        for inst in &block.insts {
            at += 1;
            last.extend(inst.args.iter().map(|v| (*v, at)));
        }
        at += 1;
        last.extend(block.term.uses().into_iter().map(|v| (v, at)));
    }
    let words = |v: &Value| {
        let bits = function.values.get(v.index()).map_or(32, |t| t.bits());
        // Predicates have registers of their own.
        if bits == 1 { 0 } else { u64::from(bits.div_ceil(32)) }
    };
    let mut ends: HashMap<usize, u64> = HashMap::new();
    let (mut alive, mut most, mut at) = (0u64, 0u64, 0usize);
    for block in &function.blocks {
        let mut begin = |values: &[Value], at: usize, alive: &mut u64, ends: &mut HashMap<usize, u64>| {
            for v in values {
                if let Some(end) = last.get(v).filter(|e| **e > at) {
                    *alive += words(v);
                    *ends.entry(*end).or_default() += words(v);
                }
            }
            most = most.max(*alive);
        };
        begin(&block.params, at, &mut alive, &mut ends);
        for inst in &block.insts {
            at += 1;
            alive = alive.saturating_sub(ends.remove(&at).unwrap_or(0));
            begin(&inst.results, at, &mut alive, &mut ends);
        }
        at += 1;
        alive = alive.saturating_sub(ends.remove(&at).unwrap_or(0));
    }
    let most = (u32::try_from(most).unwrap_or(MOST).saturating_add(LEAST)).min(MOST);
    if limit == 0 { most } else { most.min(limit) }
}

/// A module's report, as from a verbose assembler.
pub fn log(
    kernels: &[KernelInfo],
    usage: impl Fn(usize) -> Usage,
    globals: &[GlobalInfo],
    capability: u32,
) -> String {
    let bytes =
        |constant: bool| globals.iter().filter(|g| g.constant == constant).map(|g| g.size).sum::<u64>();
    let mut out = format!("ptxas info    : {} bytes gmem", bytes(false));
    if bytes(true) > 0 {
        let _ = write!(out, ", {} bytes cmem[3]", bytes(true));
    }
    out.push('\n');
    for (n, k) in kernels.iter().enumerate() {
        let usage = usage(n);
        let _ = writeln!(out, "ptxas info    : Compiling entry function '{}' for 'sm_{capability}'", k.name);
        let _ = writeln!(out, "ptxas info    : Function properties for {}", k.name);
        let _ = writeln!(
            out,
            "    {} bytes stack frame, 0 bytes spill stores, 0 bytes spill loads",
            usage.local_bytes
        );
        let _ = write!(out, "ptxas info    : Used {} registers", usage.registers);
        if k.static_shared > 0 {
            let _ = write!(out, ", {} bytes smem", k.static_shared);
        }
        let _ = writeln!(out, ", {} bytes cmem[0]", k.param_size);
    }
    out
}
