//! Compiled code that takes all warps of a block from barrier to barrier.
//!
//! In most kernels with barriers, all warps of a block arrive at the same one. A loop over the warps then
//! runs, for each stop, a copy of the code that follows it, without a call for each warp. If a warp stops in
//! another way, the loop returns its number and the scheduler goes on from there.

use std::fmt::Write as _;

use wave::abi::WarpCtx;
use wave::op::BarMode;

use super::{Kernel, RESUME, SWEEP, offset};

/// Bytes of all copies together, at most, before LLVM removes what each cannot reach.
const MOST: usize = 1 << 20;

/// The kernel's code, which both entry points inline.
pub const BODY: &str = "body";

impl Kernel<'_> {
    /// Whether the kernel gets such a loop: it stops, and a copy of its code for each stop is not too much.
    pub fn sweeps(&self) -> bool {
        self.suspends
            && !self.in_frame
            && !self.per_lane
            && self.resumes > 0
            && self.text.out.len() * (self.resumes + 2) <= MOST
    }

    /// The loop, as a function with four arguments: the warps, how many there are, where to store the number
    /// of the running warp, and the flag that says that the launch has failed. The lower half of its answer
    /// is the warp that stopped in another way and the upper half how it stopped; or, after a failure
    /// elsewhere, the number of warps.
    pub fn sweep(&self) -> String {
        let sync = BarMode::ALL.iter().position(|&m| m == BarMode::Sync).unwrap_or(0);
        let mut s = String::new();
        let _ = writeln!(
            s,
            "define i64 @{SWEEP}(ptr %warps, i64 %count, ptr %current, ptr %failed) #0 !dbg !11 {{\nentry:\n  \
             %at.p = getelementptr i8, ptr %warps, i64 {}\n  %first.p = getelementptr i8, ptr %warps, i64 {}\n  \
             br label %round\nround:\n  %at = load i32, ptr %at.p",
            offset::W_RESUME,
            offset::W_BAR_ID
        );
        let cases: String = (0..=self.resumes).map(|k| format!(" i32 {k}, label %from{k}")).collect();
        let _ = writeln!(s, "  switch i32 %at, label %strange [{cases} ]\nstrange:\n  unreachable");
        for k in 0..=self.resumes {
            let _ = writeln!(
                s,
                "from{k}:\n  br label %warp{k}\nwarp{k}:\n  %w{k} = phi i64 [ 0, %from{k} ], [ %w{k}.next, %next{k} ]\n  \
                 %w{k}.n = trunc i64 %w{k} to i32\n  store volatile i32 %w{k}.n, ptr %current\n  \
                 %w{k}.at = mul i64 %w{k}, {size}\n  %c{k} = getelementptr i8, ptr %warps, i64 %w{k}.at\n  \
                 %f{k}.p = getelementptr i8, ptr %c{k}, i64 {frame}\n  %f{k} = load ptr, ptr %f{k}.p\n  \
                 %at{k}.p = getelementptr i8, ptr %c{k}, i64 {resume}\n  %at{k} = load i32, ptr %at{k}.p\n  \
                 %same{k} = icmp eq i32 %at{k}, {k}\n  br i1 %same{k}, label %own{k}, label %other{k}\n\
                 own{k}:\n  %own{k}.r = call i32 @{BODY}(ptr %c{k}, ptr %f{k}, i32 {k}), !dbg !12\n  br label %ran{k}\n\
                 other{k}:\n  %other{k}.r = call i32 @{RESUME}(ptr %c{k}, ptr %f{k}) noinline, !dbg !12\n  br label %ran{k}\n\
                 ran{k}:\n  %r{k} = phi i32 [ %own{k}.r, %own{k} ], [ %other{k}.r, %other{k} ]\n  \
                 %yes{k} = call i1 @arrived(ptr %c{k}, ptr %first.p, i32 %r{k}), !dbg !12\n  \
                 br i1 %yes{k}, label %next{k}, label %out\n\
                 next{k}:\n  %w{k}.next = add i64 %w{k}, 1\n  %more{k} = icmp ult i64 %w{k}.next, %count\n  \
                 br i1 %more{k}, label %warp{k}, label %swept",
                size = size_of::<WarpCtx>(),
                frame = offset::W_FRAME,
                resume = offset::W_RESUME,
            );
        }
        let phi = |what: &dyn Fn(usize) -> String| -> String {
            (0..=self.resumes).map(|k| format!("[ {}, %ran{k} ]", what(k))).collect::<Vec<_>>().join(", ")
        };
        let _ = writeln!(
            s,
            "swept:\n  %stop = load atomic i8, ptr %failed monotonic, align 1\n  %ends = icmp ne i8 %stop, 0\n  \
             br i1 %ends, label %all, label %round\nall:\n  ret i64 %count\nout:\n  %w = phi i64 {}\n  %r = phi i32 {}\n  \
             %r.wide = zext i32 %r to i64\n  %r.high = shl i64 %r.wide, 32\n  %answer = or i64 %w, %r.high\n  ret i64 %answer\n}}",
            phi(&|k| format!("%w{k}")),
            phi(&|k| format!("%r{k}")),
        );
        // All live lanes of the warp are at the first warp's barrier, and it waits for the whole block.
        s += "define internal i1 @arrived(ptr %warp, ptr %first.p, i32 %code) alwaysinline #0 {\n";
        let fields = [
            ("live", offset::W_LIVE),
            ("lanes", offset::W_BAR_LANES),
            ("threads", offset::W_BAR_THREADS),
            ("mode", offset::W_BAR_MODE),
            ("id", offset::W_BAR_ID),
        ];
        for (name, at) in fields {
            let _ = writeln!(
                s,
                "  %{name}.p = getelementptr i8, ptr %warp, i64 {at}\n  %{name} = load i32, ptr %{name}.p"
            );
        }
        let _ = writeln!(
            s,
            "  %first = load i32, ptr %first.p\n  %a = icmp eq i32 %code, 1\n  %b = icmp eq i32 %lanes, %live\n  \
             %c = icmp ne i32 %live, 0\n  %d = icmp eq i32 %threads, 0\n  %e = icmp eq i32 %mode, {sync}\n  \
             %f = icmp eq i32 %id, %first\n  %g = icmp ult i32 %id, 16\n  %ab = and i1 %a, %b\n  %cd = and i1 %c, %d\n  \
             %ef = and i1 %e, %f\n  %abcd = and i1 %ab, %cd\n  %efg = and i1 %ef, %g\n  %yes = and i1 %abcd, %efg\n  ret i1 %yes\n}}"
        );
        s
    }
}
