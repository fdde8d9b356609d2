//! The runtime functions that running code calls.
//!
//! These functions run on a kernel's stack. Meanwhile, the gate records that no kernel code is running: they
//! may hold locks, so they must not be left midway.

mod bulk;
mod cancel;
mod matrix;
mod mbarrier;
mod tensor_map;
pub(crate) mod waits;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use texture::access::Operation;
use texture::{Access, Descriptor, LANES, Lanes, table};
use wave::Width;
use wave::abi::{BULK, BlockCtx, Runtime, TEXTURE, WarpCtx};
use wave::op::{Builtin, DeviceFn};

use crate::block::Resident;
use crate::enter::Gate;
use crate::fault::{Fault, FaultKind, thread_index};
use crate::format::{self, Reader};
use crate::job::Job;
use crate::launch::DeviceCall;
use crate::memory::copy_guarded;
use crate::multiprocessor::Link;

/// The functions.
pub(crate) static TABLE: Runtime = Runtime { builtin, trap, bad_access, accessible, matrix: matrix::matrix };

/// Bytes of stack that a runtime function may need.
const ROOM: usize = 64 << 10;

/// Bytes of a text that are read at once, aligned to this size: they are in one page.
const PART: usize = 64;

/// Bytes of an assertion's message that are printed at most.
const MESSAGE: usize = 4096;

/// A call from a warp.
struct Caller<'a> {
    warp: &'a mut WarpCtx,
    block: &'a BlockCtx,
    link: &'a Link,
    gate: &'a Gate,
    job: &'a Job<'static>,
    /// Whether the kernel's code was running.
    was_in_code: bool,
}

impl<'a> Caller<'a> {
    /// # Safety
    /// `warp` is a context passed to running code, with a valid block.
    unsafe fn new(warp: *mut WarpCtx) -> Caller<'a> {
        // SAFETY: guaranteed by the caller; contexts of running code lead to a link whose gate and job are
        // alive.
        let (warp, block, link, gate, job) = unsafe {
            let warp = &mut *warp;
            let block = &*warp.block;
            let link = &*block.launch.cast::<Link>();
            (warp, block, link, &*link.gate, &*link.job)
        };
        let was_in_code = gate.in_code.swap(false, Ordering::Relaxed);
        Caller { warp, block, link, gate, job, was_in_code }
    }

    fn fault(&self, kind: FaultKind, lanes: Option<u64>, address: Option<u64>, detail: impl Into<String>) {
        let mut fault = Fault::new(kind, self.job.launch.name, detail);
        fault.block = Some(self.block.ctaid);
        fault.warp = Some(self.warp.index);
        fault.lanes = lanes;
        fault.address = address;
        fault.line = Some(self.warp.line).filter(|&l| l != 0);
        fault.thread = lanes.filter(|&l| l != 0).map(|l| self.thread(l.trailing_zeros()));
        // The first report is the cause.
        self.link.pending.borrow_mut().get_or_insert(fault);
    }

    /// The explanation of a stack overflow by calls.
    fn too_deep(&self) -> String {
        format!(
            "calls nest too deeply for the {} bytes of a thread's stack; CU_LIMIT_STACK_SIZE \
             (cudaLimitStackSize, hipLimitStackSize) sets its size",
            self.block.local_stride
        )
    }

    fn thread(&self, lane: u32) -> [u32; 3] {
        thread_index(self.warp.index.wrapping_mul(self.block.width).wrapping_add(lane), self.block.ntid)
    }

    /// Runs `f` unless the stack is almost full; a panic or a full stack becomes a fault.
    fn guard(mut self, mask: u64, f: impl FnOnce(&mut Self) -> bool) -> u32 {
        let here = 0u8;
        let ok = if self.gate.room_below(&here) < ROOM {
            self.fault(FaultKind::StackOverflow, Some(mask), None, "in a call of the runtime");
            false
        } else {
            let result = catch_unwind(AssertUnwindSafe(|| f(&mut self)));
            result.unwrap_or_else(|_| {
                self.fault(FaultKind::Internal, Some(mask), None, "the runtime panicked");
                false
            })
        };
        self.gate.in_code.store(self.was_in_code, Ordering::Relaxed);
        u32::from(!ok)
    }
}

impl Caller<'_> {
    /// The address of a lane's `size` bytes at an offset in shared memory, aligned to `align`; otherwise
    /// reports a fault.
    fn shared(&self, lane: u32, offset: u64, size: u64, align: u64, what: &str) -> Option<*mut u8> {
        if !offset.is_multiple_of(align) {
            let detail = format!("{what}: the address is not a multiple of {align}");
            self.fault(FaultKind::MisalignedAddress, Some(1 << lane), Some(offset), detail);
            return None;
        }
        if !self.block.in_shared(offset, size) {
            let detail = format!("{what}: outside shared memory");
            self.fault(FaultKind::IllegalAddress, Some(1 << lane), Some(offset), detail);
            return None;
        }
        Some(self.block.shared.wrapping_add(offset as usize))
    }
}

fn lanes(mask: u64) -> impl Iterator<Item = u32> {
    (0..Width::MOST as u32).filter(move |l| mask >> l & 1 != 0)
}

/// Device memory for `printf`: read if it is accessible, otherwise refused.
struct Device;

impl Reader for Device {
    fn read(&self, address: u64, to: &mut [u8]) -> bool {
        // SAFETY: writes to the slice; the guarded copy may read from any address.
        unsafe { copy_guarded(to.as_mut_ptr(), address as *const u8, to.len()) }.is_ok()
    }
}

/// `[operand][lane]`.
struct Operands {
    base: *const u64,
    /// Lanes in the warp.
    lanes: usize,
}

impl Operands {
    fn get(&self, operand: usize, lane: u32) -> u64 {
        // SAFETY: `BuiltinFn` guarantees all lanes of each operand in the builtin's signature.
        unsafe { self.base.add(operand * self.lanes + lane as usize).read() }
    }

    /// A lane's operands, or its first ones.
    fn of<const N: usize>(&self, lane: u32) -> [u64; N] {
        std::array::from_fn(|operand| self.get(operand, lane))
    }
}

unsafe extern "C" fn builtin(
    warp: *mut WarpCtx,
    which: u32,
    mask: u64,
    args: *const u64,
    results: *mut u64,
) -> u32 {
    // SAFETY: the contract of `BuiltinFn`.
    let caller = unsafe { Caller::new(warp) };
    if which & TEXTURE != 0 {
        return caller.guard(mask, |c| {
            // SAFETY: the contract of `BuiltinFn`, passed on.
            unsafe { texture(c, which & !TEXTURE, mask, args, results) }
        });
    }
    let operands = Operands { base: args, lanes: caller.block.width as usize };
    if which & BULK != 0 {
        return caller.guard(mask, |c| bulk::run(c, which & !BULK, mask, &operands));
    }
    // SAFETY: `BuiltinFn` guarantees all lanes of each result in the builtin's signature.
    let give = |lane: u32, value: u64| unsafe { results.add(lane as usize).write(value) };
    caller.guard(mask, |c| match Builtin::ALL.get(which as usize) {
        Some(Builtin::Vprintf) => vprintf(c, mask, &operands, give),
        Some(Builtin::AssertFail) => assert_fail(c, mask, &operands),
        Some(Builtin::Malloc) => {
            let heap = c.job.launch.host.heap();
            lanes(mask).for_each(|l| {
                let [size] = operands.of(l);
                give(l, heap.allocate(size));
            });
            true
        }
        Some(Builtin::Free) => free(c, mask, &operands),
        Some(Builtin::NanoSleep) => {
            let asked = lanes(mask).map(|l| {
                let [nanoseconds] = operands.of(l);
                nanoseconds as u32
            });
            c.warp.sleep = asked.max().unwrap_or(0);
            true
        }
        Some(which @ (Builtin::MulticastCount | Builtin::MulticastPlace)) => {
            multicast(c, mask, &operands, *which == Builtin::MulticastCount, give)
        }
        Some(Builtin::ClusterCancel) => cancel::run(c, mask, &operands),
        Some(Builtin::Mbarrier) => mbarrier::update(c, mask, &operands, give),
        Some(Builtin::MbarrierWait) => mbarrier::wait(c, mask, &operands, give),
        Some(Builtin::TensormapReplace) => tensor_map::replace(c, mask, &operands),
        Some(Builtin::GraphSetConditional) => {
            let wrong = lanes(mask).find_map(|l| {
                let [handle, value] = operands.of(l);
                (!c.job.launch.host.set_conditional(handle, value as u32)).then_some((l, handle))
            });
            if let Some((lane, handle)) = wrong {
                let detail = "cudaGraphSetConditional: no graph has this conditional handle";
                c.fault(FaultKind::IllegalAddress, Some(1 << lane), Some(handle), detail);
            }
            wrong.is_none()
        }
        Some(Builtin::DeviceCall) => device_call(c, mask, &operands, give),
        Some(Builtin::StackOverflow) => {
            c.fault(FaultKind::StackOverflow, Some(mask), None, c.too_deep());
            false
        }
        None => {
            c.fault(FaultKind::Internal, Some(mask), None, format!("unknown builtin {which}"));
            false
        }
    })
}

/// A texture or surface access of a warp, whose lanes may use different objects. The unit takes 32 lanes at a
/// time.
///
/// # Safety
/// `args` and `results` have all lanes of each operand and result of the access.
unsafe fn texture(c: &mut Caller, number: u32, mask: u64, args: *const u64, results: *mut u64) -> bool {
    let Some(access) = Access::of_number(number) else {
        c.fault(FaultKind::Internal, Some(mask), None, format!("unknown access {number:#x}"));
        return false;
    };
    let (operands, answers) = (access.operands().len(), access.results().len());
    if access.operation == Operation::ImageAddress {
        TEXELS.with_borrow_mut(Vec::clear);
    }
    if c.block.width as usize == LANES {
        // SAFETY: guaranteed by the caller; a `Lanes` is 32 consecutive values.
        let (args, results) = unsafe {
            (
                std::slice::from_raw_parts(args.cast::<Lanes>(), operands),
                std::slice::from_raw_parts_mut(results.cast::<Lanes>(), answers),
            )
        };
        return part(c, access, mask as u32, 0, args, results);
    }
    let lanes = c.block.width as usize;
    // SAFETY: guaranteed by the caller.
    let (args, results) = unsafe {
        (
            std::slice::from_raw_parts(args, operands * lanes),
            std::slice::from_raw_parts_mut(results, answers * lanes),
        )
    };
    (0..lanes / LANES).all(|step| {
        let first = step * LANES;
        let own = (mask >> first) as u32;
        let of = |k: usize| -> Lanes { std::array::from_fn(|lane| args[k * lanes + first + lane]) };
        let args: Vec<Lanes> = (0..operands).map(of).collect();
        let mut own_results = vec![[0; LANES]; answers];
        let done = own == 0 || part(c, access, own, first as u32, &args, &mut own_results);
        for (all, own) in results.chunks_mut(lanes).zip(&own_results) {
            all[first..first + LANES].copy_from_slice(own);
        }
        done
    })
}

thread_local! {
    /// The texels whose addresses the thread's last access of this kind gave, for the atomic update that
    /// follows it: the memory of arrays is not that of the program.
    static TEXELS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// An access of the 32 lanes from `first` on.
fn part(
    c: &mut Caller,
    access: Access,
    mask: u32,
    first: u32,
    args: &[Lanes],
    results: &mut [Lanes],
) -> bool {
    if access.operation.converts() {
        texture::typed::run(access, mask, args, results);
        return true;
    }
    let Some((handles, operands)) = args.split_first() else { return false };
    let mut left = mask;
    while left != 0 {
        let handle = handles[left.trailing_zeros() as usize];
        let same = lanes(left.into()).filter(|&l| handles[l as usize] == handle).fold(0, |m, l| m | 1 << l);
        left &= !same;
        // Lanes that do nothing have a whole handle of 0, so an object's number 0 is an error.
        let number = if access.operation.is_image() { handle & 0xffff_ffff } else { handle };
        let answer = table::with(number, |descriptor| match descriptor {
            Some(d) if !readable(c, d) => Err((texture::Fault::Outside(same), d.reach().0)),
            Some(d) => texture::run(access, d, same, operands, results).map_err(|fault| (fault, handle)),
            // Nothing is bound: returns zeros, as the hardware does.
            None if handle == 0 => {
                results.iter_mut().for_each(|r| lanes(same.into()).for_each(|l| r[l as usize] = 0));
                Ok(())
            }
            None => Err((texture::Fault::Handle(same), number)),
        });
        if let Err((fault, address)) = answer {
            let name = access.name();
            let (kind, lanes, detail) = match fault {
                texture::Fault::Handle(l) => (FaultKind::IllegalAddress, l, "no such texture or surface"),
                texture::Fault::Outside(l) => (FaultKind::IllegalAddress, l, "outside"),
                texture::Fault::Misaligned(l) => (
                    FaultKind::MisalignedAddress,
                    l,
                    "the byte offset is not a multiple of the access's size",
                ),
                texture::Fault::Malformed => (FaultKind::Internal, same, "operands are missing"),
            };
            let lanes = u64::from(lanes) << first;
            c.fault(kind, Some(lanes), Some(address), format!("{name}: {detail}"));
            return false;
        }
    }
    if let (Operation::ImageAddress, [addresses]) = (access.operation, &*results) {
        let given = lanes(mask.into()).map(|lane| addresses[lane as usize]).filter(|address| *address != 0);
        TEXELS.with_borrow_mut(|all| all.extend(given));
    }
    true
}

/// Whether all memory of a descriptor is readable; needed for borrowed memory, which nothing else checks.
fn readable(c: &Caller, descriptor: &Descriptor) -> bool {
    if !descriptor.borrowed {
        return true;
    }
    let (mut at, mut size) = descriptor.reach();
    while size > 0 {
        let part = size.min(1 << 31);
        if !c.job.launch.host.accessible(at, part as u32, false) {
            return false;
        }
        (at, size) = (at.wrapping_add(part), size - part);
    }
    true
}

/// Calls of the device runtime, thread by thread.
fn device_call(c: &mut Caller, mask: u64, operands: &Operands, give: impl Fn(u32, u64)) -> bool {
    for lane in lanes(mask) {
        let Some(&function) = DeviceFn::ALL.get(operands.get(0, lane) as usize) else {
            c.fault(FaultKind::Internal, Some(1 << lane), None, "an unknown function of the device runtime");
            return false;
        };
        let arguments = std::array::from_fn(|n| operands.get(n + 1, lane));
        let call = DeviceCall { function, arguments, block: c.block.ctaid, thread: c.thread(lane) };
        match c.job.launch.host.device_call(&call) {
            Ok(answer) => give(lane, answer),
            Err((address, detail)) => {
                c.fault(FaultKind::IllegalAddress, Some(1 << lane), Some(address), detail);
                return false;
            }
        }
    }
    true
}

/// Queries about multicast addresses: the number of devices, or the address of one device's memory.
fn multicast(c: &mut Caller, mask: u64, operands: &Operands, count: bool, give: impl Fn(u32, u64)) -> bool {
    let host = c.job.launch.host;
    for lane in lanes(mask) {
        let [address, bytes] = operands.of(lane);
        let answer = if count {
            host.multicast_count(address, bytes as u32).map(u64::from)
        } else {
            let [.., device] = operands.of::<3>(lane);
            host.multicast_place(address, bytes as u32, device as u32)
        };
        match answer {
            Some(value) => give(lane, value),
            None => {
                let detail = "multimem: no multicast object with memory of all its devices is mapped there";
                c.fault(FaultKind::IllegalAddress, Some(1 << lane), Some(address), detail);
                return false;
            }
        }
    }
    true
}

fn vprintf(c: &mut Caller, mask: u64, operands: &Operands, give: impl Fn(u32, u64)) -> bool {
    let mut text = Vec::new();
    let mut good = true;
    for lane in lanes(mask) {
        let [layout, arguments] = operands.of(lane);
        match format::format(&Device, layout, arguments, &mut text) {
            Ok(count) => give(lane, u64::from(count as u32)),
            Err(address) => {
                c.fault(FaultKind::IllegalAddress, Some(1 << lane), Some(address), "read by printf");
                good = false;
                break;
            }
        }
    }
    // Print the output up to the invalid address, which may explain the fault.
    if !text.is_empty() {
        c.job.launch.host.print(&text);
    }
    good
}

fn assert_fail(c: &mut Caller, mask: u64, operands: &Operands) -> bool {
    let text = |mut at: u64| {
        let mut bytes = [0u8; PART];
        let mut out = Vec::new();
        while out.len() < MESSAGE {
            let (part, _) = bytes.split_at_mut(PART - at as usize % PART);
            if !Device.read(at, part) {
                out.extend_from_slice(b"?");
                break;
            }
            let end = part.iter().position(|&b| b == 0);
            out.extend(part.iter().take(end.unwrap_or(part.len())));
            if end.is_some() {
                break;
            }
            at = at.wrapping_add(part.len() as u64);
        }
        String::from_utf8_lossy(&out).into_owned()
    };
    let [bx, by, bz] = c.block.ctaid;
    let mut all = String::new();
    let mut first = None;
    for lane in lanes(mask) {
        let [x, y, z] = c.thread(lane);
        let [message, file, line, function] = operands.of(lane);
        let (message, file, function) = (text(message), text(file), text(function));
        let line = line as u32;
        all.push_str(&format!(
            "{file}:{line}: {function}: block: [{bx},{by},{bz}], thread: [{x},{y},{z}] Assertion `{message}` failed.\n"
        ));
        first.get_or_insert_with(|| format!("`{message}` at {file}:{line}"));
    }
    c.job.launch.host.print_error(all.as_bytes());
    c.fault(FaultKind::Assert, Some(mask), None, first.unwrap_or_default());
    false
}

fn free(c: &mut Caller, mask: u64, operands: &Operands) -> bool {
    let heap = c.job.launch.host.heap();
    let address = |lane: u32| {
        let [address] = operands.of(lane);
        address
    };
    let bad = lanes(mask).find(|&l| !heap.free(address(l)));
    if let Some(lane) = bad {
        let detail = "not an address returned by malloc, or already freed";
        c.fault(FaultKind::InvalidFree, Some(1 << lane), Some(operands.get(0, lane)), detail);
    }
    bad.is_none()
}

unsafe extern "C" fn trap(warp: *mut WarpCtx, mask: u64) {
    // SAFETY: the contract of `Runtime::trap`.
    let caller = unsafe { Caller::new(warp) };
    caller.guard(mask, |c| {
        c.fault(FaultKind::Trap, Some(mask), None, "");
        true
    });
}

unsafe extern "C" fn bad_access(
    warp: *mut WarpCtx,
    address: u64,
    size: u32,
    write: bool,
    misaligned: bool,
    lanes: u64,
) {
    // SAFETY: the contract of `Runtime::bad_access`.
    let caller = unsafe { Caller::new(warp) };
    caller.guard(lanes, |c| {
        let lanes = Some(lanes).filter(|&lanes| lanes != 0);
        let verb = if write { "write" } else { "read" };
        let detail = format!("{verb} of {size} bytes");
        match (size, misaligned) {
            (0, _) => c.fault(FaultKind::StackOverflow, lanes, None, c.too_deep()),
            (_, true) => c.fault(FaultKind::MisalignedAddress, lanes, Some(address), detail),
            (_, false) => c.fault(FaultKind::IllegalAddress, lanes, Some(address), detail),
        }
        true
    });
}

unsafe extern "C" fn accessible(warp: *mut WarpCtx, address: u64, size: u32, write: bool) -> bool {
    // SAFETY: the contract of `Runtime::accessible`.
    let caller = unsafe { Caller::new(warp) };
    let answer = caller.guard(0, |c| {
        let launch = c.job.launch;
        let bytes = u64::from(size);
        Resident::owns(c.block, launch.params.len(), address, bytes, write)
            || launch.host.accessible(address, size, write)
            || launch.host.heap().contains(address, bytes)
            || TEXELS.with_borrow(|all| all.contains(&address))
    });
    answer == 0
}
