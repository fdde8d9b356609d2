//! Kernels with more LLVM IR than the limit are interpreted: the result is right, and a warning names the
//! kernel, its size and the limit.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use crate::launch::{Shape, launch};
use crate::memory::Aligned;
use cpu::{Effort, Engine, Forced, Program, Source, Specialisation, Target};
use grid::Workers;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber, span};

/// Kernels that write `3 * thread + 1`: directly, and through shared memory with a barrier.
const TEXT: &str = ".version 7.0
.target sm_70
.address_size 64
.visible .entry straight(.param .u64 p) {
    .reg .b32 %r<3>;
    .reg .b64 %d<3>;
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %tid.x;
    mad.lo.u32 %r2, %r1, 3, 1;
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d1, %d1, %d2;
    st.global.u32 [%d1], %r2;
    ret;
}
.visible .entry stops(.param .u64 p) {
    .reg .b32 %r<7>;
    .reg .b64 %d<3>;
    .shared .align 4 .b32 tile[96];
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mad.lo.u32 %r3, %r1, 4, %r2;
    mad.lo.u32 %r4, %r1, 3, 1;
    st.shared.u32 [%r3], %r4;
    bar.sync 0;
    sub.u32 %r5, 95, %r1;
    mad.lo.u32 %r3, %r5, 4, %r2;
    ld.shared.u32 %r6, [%r3];
    mul.wide.u32 %d2, %r5, 4;
    add.u64 %d1, %d1, %d2;
    st.global.u32 [%d1], %r6;
    ret;
}
";
const THREADS: u32 = 96;

/// Records the warnings of a thread, one per line.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<String>>);

impl Visit for Warnings {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0.lock().expect("no panic"), "{field}={value:?} ");
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

fn program(target: &Target, forced: Forced) -> Program {
    let program = Program::load(&[Source { name: "bound", text: TEXT }], Engine::Compiled);
    program.expect("a legal text").for_target(target.clone()).forced(forced)
}

/// Bytes of LLVM IR of the kernel in the form that is tried first, or in the form for large kernels.
fn bytes(kernel: &str, target: &Target, effort: Option<Effort>) -> usize {
    let program = program(target, Forced { effort, ..Forced::default() });
    let id = program.module().function(kernel).expect("a kernel");
    let spec = Specialisation::of_launch([1; 3], [THREADS, 1, 1]);
    let ir = simd::ir(&program.request(id, spec)).expect("LLVM IR");
    // The loop over all warps exists only if there is room for it.
    ir.find("define i64 @anywarp_sweep").unwrap_or(ir.len())
}

#[test]
fn what_is_too_large_is_interpreted_and_named() {
    for (processor, vectors) in [("x86-64-v4", "AVX-512"), ("x86-64-v3", "AVX2")] {
        let Ok(target) = Target::named(processor) else {
            eprintln!("not run: this machine cannot run {processor}");
            continue;
        };
        for kernel in ["straight", "stops"] {
            let first = bytes(kernel, &target, None);
            let last = bytes(kernel, &target, Some(Effort::Least));
            // The limit, and whether some form of the kernel fits.
            let cases = [
                (Forced::default().most(&target), true),
                (first, true),
                (last, true),
                (first.min(last) - 1, false),
                (1024, false),
            ];
            for (most, compiled) in cases {
                let program = program(&target, Forced { most: Some(most), ..Forced::default() });
                let warnings = Warnings::default();
                let id = program.module().function(kernel).expect("a kernel");
                let made = tracing::subscriber::with_default(warnings.clone(), || {
                    program.kernel(id, [1; 3], [THREADS, 1, 1]).expect("code")
                });
                let what = format!("{kernel} for {processor} with at most {most} of {first} bytes");
                assert_eq!(made.report.is_some(), compiled, "{what}");
                assert_eq!(made.refused.is_some(), !compiled, "{what}");
                let warned = warnings.0.lock().expect("no panic").clone();
                if compiled {
                    assert_eq!(warned, "", "{what}");
                } else {
                    let most = format!("more than {} KiB", most / 1024);
                    let size = [first, last].map(|bytes| format!("{} KiB of LLVM IR", bytes.div_ceil(1024)));
                    for told in [&format!("kernel={kernel:?}"), vectors, &most] {
                        assert!(warned.contains(told), "{what}: {warned}");
                    }
                    assert!(size.iter().any(|s| warned.contains(s)), "{what}: {warned}");
                }
                let mut out = Aligned::new(&[0; 4 * THREADS as usize]);
                let shape = Shape { kernel, blocks: 1, threads: THREADS, compiled };
                assert_eq!(launch(&program, &Workers::new(1), &shape, &[&out], &[]), Ok(()), "{what}");
                let want: Vec<u8> = (0..THREADS).flat_map(|t| (3 * t + 1).to_le_bytes()).collect();
                assert_eq!(out.bytes(), want, "{what}");
            }
        }
    }
}
