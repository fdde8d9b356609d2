//! What running code calls: builtins, traps, refused accesses.

use std::ffi::c_void;

use wave::LANES;
use wave::abi::{Runtime, WarpCtx};
use wave::op::Builtin;

use crate::fault::FaultKind;
use crate::launch::Running;
use crate::printf;

/// The table that every block context points to.
pub static TABLE: Runtime = Runtime { builtin, trap, bad_access, accessible };

/// The launch that a warp belongs to.
///
/// # Safety
/// The warp's context was made by [`crate::block::Slot`].
unsafe fn running<'a>(warp: *mut WarpCtx) -> (&'a mut WarpCtx, &'a Running<'a>) {
    // SAFETY: the caller vouches for the warp; its block and launch outlive it.
    unsafe {
        let launch: *mut c_void = (*(*warp).block).launch;
        (&mut *warp, &*launch.cast::<Running>())
    }
}

unsafe extern "C" fn trap(warp: *mut WarpCtx, mask: u32) {
    // SAFETY: running code passes its own warp.
    let (warp, running) = unsafe { running(warp) };
    let lane = mask.trailing_zeros();
    running.fail_at(warp, FaultKind::Trap, &format!("trap in lane {lane}"));
}

unsafe extern "C" fn bad_access(warp: *mut WarpCtx, address: u64, size: u32, write: bool, misaligned: bool) {
    // SAFETY: running code passes its own warp.
    let (warp, running) = unsafe { running(warp) };
    let (kind, what) = match (size, misaligned) {
        (0, _) => (FaultKind::StackOverflow, "the stack of a lane is full".to_string()),
        (_, true) => {
            (FaultKind::MisalignedAddress, format!("access of {size} bytes at {address:#x} is not aligned"))
        }
        (_, false) => {
            let how = if write { "write" } else { "read" };
            (FaultKind::IllegalAddress, format!("{how} of {size} bytes at {address:#x}, where no memory is"))
        }
    };
    running.fail_at(warp, kind, &what);
}

unsafe extern "C" fn accessible(warp: *mut WarpCtx, address: u64, size: u32, write: bool) -> bool {
    // SAFETY: running code passes its own warp.
    let (_, running) = unsafe { running(warp) };
    running.launch.host.accessible(address, size, write)
}

unsafe extern "C" fn builtin(
    warp: *mut WarpCtx,
    which: u32,
    mask: u32,
    args: *const u64,
    results: *mut u64,
) -> u32 {
    // SAFETY: running code passes its own warp.
    let (warp, running) = unsafe { running(warp) };
    let Some(&which) = Builtin::ALL.get(which as usize) else { return 1 };
    // SAFETY: running code gives 32 values an operand and a result.
    let arg = |operand: usize, lane: usize| unsafe { *args.add(operand * LANES + lane) };
    for lane in (0..LANES).filter(|l| mask >> l & 1 == 1) {
        let result = match which {
            Builtin::Vprintf => vprintf(warp, running, arg(0, lane), arg(1, lane)),
            Builtin::Malloc => running.launch.host.heap().allocate(arg(0, lane)),
            Builtin::Free => {
                if !running.launch.host.heap().free(arg(0, lane)) {
                    let what = format!("free of {:#x}, which malloc did not give", arg(0, lane));
                    running.fail_at(warp, FaultKind::Trap, &what);
                    return 1;
                }
                0
            }
            Builtin::AssertFail => {
                assert_fail(warp, running, lane, [arg(0, lane), arg(1, lane), arg(2, lane), arg(3, lane)]);
                continue;
            }
            Builtin::NanoSleep => 0,
        };
        if !which.signature().1.is_empty() {
            // SAFETY: as above.
            unsafe { *results.add(lane) = result };
        }
    }
    u32::from(which == Builtin::AssertFail)
}

/// A C string of the device's, up to 4 KiB; what cannot be read ends it.
pub fn text(warp: &WarpCtx, running: &Running, address: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while out.len() < 4096 {
        let Some(at) = address.checked_add(out.len() as u64) else { break };
        let Some(byte) = read::<1>(warp, running, at) else { break };
        if byte[0] == 0 {
            break;
        }
        out.push(byte[0]);
    }
    out
}

/// Bytes of the device's memory, shared and local memory of the block included.
pub fn read<const N: usize>(warp: &WarpCtx, running: &Running, address: u64) -> Option<[u8; N]> {
    // SAFETY: a warp's block outlives it.
    let block = unsafe { &*warp.block };
    let within = |start: *mut u8, size: u64| {
        let start = start as u64;
        address >= start && address - start + N as u64 <= size
    };
    let threads = u64::from(block.threads()).next_multiple_of(LANES as u64);
    let ok = within(block.shared, u64::from(block.shared_total))
        || within(block.local, block.local_stride * threads)
        || running.launch.host.accessible(address, N as u32, false);
    // SAFETY: the bytes were checked.
    ok.then(|| unsafe { (address as *const [u8; N]).read_unaligned() })
}

fn vprintf(warp: &WarpCtx, running: &Running, format: u64, args: u64) -> u64 {
    let format = text(warp, running, format);
    let mut reader =
        printf::Reader::new(args, |at| read::<8>(warp, running, at), |at| read::<4>(warp, running, at));
    let (out, count) = printf::format(&format, &mut reader, &|at| text(warp, running, at));
    running.launch.host.print(&String::from_utf8_lossy(&out));
    count as u64
}

/// What `assert` prints, in the words of CUDA's programming guide (section on assertions).
fn assert_fail(warp: &WarpCtx, running: &Running, lane: usize, [message, file, line, function]: [u64; 4]) {
    let string = |at| String::from_utf8_lossy(&text(warp, running, at)).into_owned();
    // SAFETY: a warp's block outlives it.
    let block = unsafe { &*warp.block };
    let thread = warp.index * LANES as u32 + lane as u32;
    let [x, y, _] = block.ntid.map(|n| n.max(1));
    let said = format!(
        "{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.",
        string(file),
        line as u32,
        string(function),
        block.ctaid[0],
        block.ctaid[1],
        block.ctaid[2],
        thread % x,
        thread / x % y,
        thread / x / y,
        string(message)
    );
    eprintln!("{said}");
    running.fail_at(warp, FaultKind::Assert, &said);
}
