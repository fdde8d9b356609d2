//! Copies and fills compared with independent models, and their order.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cuda::abi::CUresult;
use cuda::types::{AccessDesc, AllocationProp, ArrayDescriptor, MemLocation, Memcpy3D};

unsafe extern "C" {
    fn cuInit(flags: u32) -> CUresult;
    fn cuDevicePrimaryCtxRetain(context: *mut u64, device: i32) -> CUresult;
    fn cuCtxSetCurrent(context: u64) -> CUresult;
    fn cuMemAlloc_v2(address: *mut u64, size: usize) -> CUresult;
    fn cuMemFree_v2(address: u64) -> CUresult;
    fn cuMemHostAlloc(address: *mut u64, size: usize, flags: u32) -> CUresult;
    fn cuMemFreeAsync(address: u64, stream: u64) -> CUresult;
    fn cuMemsetD8Async(to: u64, value: u8, count: usize, stream: u64) -> CUresult;
    fn cuMemcpyHtoD_v2(to: u64, from: *const u8, size: usize) -> CUresult;
    fn cuMemcpyDtoH_v2(to: *mut u8, from: u64, size: usize) -> CUresult;
    fn cuMemcpyAsync(to: u64, from: u64, size: usize, stream: u64) -> CUresult;
    fn cuMemcpy3D_v2(copy: *const Memcpy3D) -> CUresult;
    fn cuArrayCreate_v2(array: *mut u64, description: *const ArrayDescriptor) -> CUresult;
    fn cuArrayDestroy(array: u64) -> CUresult;
    fn cuStreamCreate(stream: *mut u64, flags: u32) -> CUresult;
    fn cuStreamSynchronize(stream: u64) -> CUresult;
    fn cuStreamQuery(stream: u64) -> CUresult;
    fn cuLaunchHostFunc(stream: u64, function: extern "C" fn(*mut c_void), data: *mut c_void) -> CUresult;
    fn cuMemAddressReserve(out: *mut u64, size: usize, alignment: usize, hint: u64, flags: u64) -> CUresult;
    fn cuMemCreate(out: *mut u64, size: usize, prop: *const AllocationProp, flags: u64) -> CUresult;
    fn cuMemMap(at: u64, size: usize, offset: usize, handle: u64, flags: u64) -> CUresult;
    fn cuMemSetAccess(at: u64, size: usize, access: *const AccessDesc, count: usize) -> CUresult;
    fn cuMemUnmap(at: u64, size: usize) -> CUresult;
    fn cuMemRelease(handle: u64) -> CUresult;
    fn cuMemAddressFree(at: u64, size: usize) -> CUresult;
}

/// Calls a driver function, which must succeed.
macro_rules! ok {
    ($name:ident($($arg:expr),* $(,)?)) => {
        // SAFETY: the arguments are those that the interface requires: pointers to live variables, or
        // handles.
        assert_eq!(unsafe { $name($($arg),*) }, 0, stringify!($name))
    };
}

const NOT_READY: CUresult = 600;

/// Serialises a test: otherwise another test's allocation may reuse an address that was freed here, and this
/// test frees it twice on purpose.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    start();
    guard
}

/// Makes the primary context current for the calling thread.
fn start() {
    let mut context = 0;
    ok!(cuInit(0));
    ok!(cuDevicePrimaryCtxRetain(&raw mut context, 0));
    ok!(cuCtxSetCurrent(context));
}

fn device(size: usize) -> u64 {
    let mut address = 0;
    ok!(cuMemAlloc_v2(&raw mut address, size));
    address
}

fn stream(flags: u32) -> u64 {
    let mut stream = 0;
    ok!(cuStreamCreate(&raw mut stream, flags));
    stream
}

/// Pseudo-random numbers from a linear congruential generator (Knuth's MMIX).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// One side of a copy in the test's model: the positions of its bytes in a flat image of the memory.
#[derive(Clone, Copy, Debug)]
struct Side {
    /// 1 host, 2 device, 3 array, 4 either.
    kind: u32,
    offset: [usize; 3],
    pitch: usize,
    height: usize,
}

const SIZE: usize = 4096;
/// The arrays have 16 by 8 by 32 bytes.
const ARRAY: [usize; 3] = [16, 8, 32];

impl Side {
    fn new(r: &mut Random, extent: [usize; 3]) -> Side {
        let kind = [1, 2, 3, 4][r.below(4)];
        let room = if kind == 3 { ARRAY } else { [16, 8, 8] };
        let offset = [0, 1, 2].map(|i| r.below(room[i] - extent[i] + 1));
        let (pitch, height) =
            if kind == 3 { (ARRAY[0], ARRAY[1]) } else { (16 + r.below(8), 8 + r.below(3)) };
        Side { kind, offset, pitch, height }
    }

    fn index(&self, x: usize, y: usize, z: usize) -> usize {
        let [dx, dy, dz] = self.offset;
        ((z + dz) * self.height + y + dy) * self.pitch + x + dx
    }
}

#[test]
fn blocks_are_copied_as_a_loop_over_bytes_would() {
    let _alone = alone();
    let (from, to) = (device(SIZE), device(SIZE));
    let description = ArrayDescriptor { width: 16, height: 8, format: 1, channels: 1 };
    let mut arrays = [0u64; 2];
    for array in &mut arrays {
        ok!(cuArrayCreate_v2(&raw mut *array, &raw const description));
    }
    let mut r = Random(1);
    let mut copied = 0;
    for round in 0..2000 {
        let mut extent = [1 + r.below(16), 1 + r.below(8), 1 + r.below(8)];
        let (mut a, mut b) = (Side::new(&mut r, extent), Side::new(&mut r, extent));
        if a.kind == 3 || b.kind == 3 {
            // The arrays have one slice.
            extent[2] = 1;
            for side in [&mut a, &mut b] {
                side.offset[2] = if side.kind == 3 { 0 } else { side.offset[2].min(3) };
            }
        }
        let source: Vec<u8> = (0..SIZE).map(|i| (i * 7 + round) as u8).collect();
        let mut target = vec![0xee; SIZE];
        // Fills the memory of both sides with plain copies.
        if a.kind == 2 {
            ok!(cuMemcpyHtoD_v2(from, source.as_ptr(), SIZE));
        }
        if b.kind == 2 {
            ok!(cuMemcpyHtoD_v2(to, target.as_ptr(), SIZE));
        }
        let whole = |array: u64, host: *const u8, in_array: bool| Memcpy3D {
            src_type: if in_array { 3 } else { 1 },
            src_host: host as u64,
            src_array: array,
            src_pitch: 16,
            dst_type: if in_array { 1 } else { 3 },
            dst_host: host as u64,
            dst_array: array,
            dst_pitch: 16,
            width: 16,
            height: 8,
            depth: 1,
            ..empty()
        };
        if a.kind == 3 {
            copy3d(&whole(arrays[0], source.as_ptr(), false));
        }
        if b.kind == 3 {
            copy3d(&whole(arrays[1], target.as_ptr(), false));
        }
        let mut expected = target.clone();
        for z in 0..extent[2] {
            for y in 0..extent[1] {
                for x in 0..extent[0] {
                    expected[b.index(x, y, z)] = source[a.index(x, y, z)];
                }
            }
        }
        let copy = Memcpy3D {
            src_x: a.offset[0],
            src_y: a.offset[1],
            src_z: a.offset[2],
            src_type: a.kind,
            src_host: source.as_ptr() as u64,
            src_device: if a.kind == 4 { source.as_ptr() as u64 } else { from },
            src_array: arrays[0],
            src_pitch: a.pitch,
            src_height: a.height,
            dst_x: b.offset[0],
            dst_y: b.offset[1],
            dst_z: b.offset[2],
            dst_type: b.kind,
            dst_host: target.as_mut_ptr() as u64,
            dst_device: if b.kind == 4 { target.as_mut_ptr() as u64 } else { to },
            dst_array: arrays[1],
            dst_pitch: b.pitch,
            dst_height: b.height,
            width: extent[0],
            height: extent[1],
            depth: extent[2],
            ..empty()
        };
        copy3d(&copy);
        if b.kind == 2 {
            ok!(cuMemcpyDtoH_v2(target.as_mut_ptr(), to, SIZE));
        }
        if b.kind == 3 {
            copy3d(&whole(arrays[1], target.as_ptr(), true));
        }
        assert!(target == expected, "round {round}: {a:?} to {b:?}, {extent:?}");
        copied += 1;
    }
    assert_eq!(copied, 2000);
    for array in arrays {
        ok!(cuArrayDestroy(array));
    }
    ok!(cuMemFree_v2(from));
    ok!(cuMemFree_v2(to));
}

fn copy3d(copy: &Memcpy3D) {
    ok!(cuMemcpy3D_v2(copy));
}

fn empty() -> Memcpy3D {
    // SAFETY: all fields are numbers.
    unsafe { std::mem::zeroed() }
}

extern "C" fn wait_for_gate(gate: *mut c_void) {
    // SAFETY: the tests pass a static.
    let gate = unsafe { &*gate.cast::<AtomicBool>() };
    while !gate.load(Ordering::Acquire) {
        std::thread::sleep(Duration::from_micros(50));
    }
}

#[test]
fn asynchronous_work_returns_at_once_and_keeps_its_order() {
    static GATE: AtomicBool = AtomicBool::new(false);
    const LARGE: usize = 1 << 20;
    let _alone = alone();
    let (a, b, s) = (device(LARGE), device(LARGE), stream(1));
    let mut pinned = 0;
    ok!(cuMemHostAlloc(&raw mut pinned, LARGE, 0));
    let mut small = [1u8, 2, 3, 4];
    ok!(cuLaunchHostFunc(s, wait_for_gate, (&raw const GATE).cast_mut().cast()));
    ok!(cuMemsetD8Async(a, 7, LARGE, s));
    // Small pageable memory is read before the call returns.
    ok!(cuMemcpyAsync(a + 8, small.as_ptr() as u64, small.len(), s));
    small = [9; 4];
    ok!(cuMemcpyAsync(b, a, LARGE, s));
    ok!(cuMemcpyAsync(pinned, b, LARGE, s));
    ok!(cuMemsetD8Async(b, 5, LARGE, s));
    // SAFETY: `s` is a handle.
    assert_eq!(unsafe { cuStreamQuery(s) }, NOT_READY);
    GATE.store(true, Ordering::Release);
    ok!(cuStreamSynchronize(s));
    // SAFETY: memory of that size, which nothing writes any more.
    let got = unsafe { std::slice::from_raw_parts(pinned as *const u8, LARGE) };
    assert_eq!(got[..14], [7, 7, 7, 7, 7, 7, 7, 7, 1, 2, 3, 4, 7, 7]);
    assert!(got[12..].iter().all(|v| *v == 7));
    let mut last = [0u8; 2];
    ok!(cuMemcpyDtoH_v2(last.as_mut_ptr(), b + LARGE as u64 - 2, 2));
    assert_eq!((last, small), ([5, 5], [9; 4]));
}

#[test]
fn memory_freed_under_a_waiting_copy_stays_until_it_has_ended() {
    static GATE: AtomicBool = AtomicBool::new(false);
    const LARGE: usize = 8 << 20;
    let _alone = alone();
    let (a, b, waiting, other) = (device(LARGE), device(LARGE), stream(1), stream(1));
    ok!(cuLaunchHostFunc(waiting, wait_for_gate, (&raw const GATE).cast_mut().cast()));
    ok!(cuMemcpyAsync(b, a, LARGE, waiting));
    ok!(cuMemFreeAsync(a, other));
    ok!(cuMemFreeAsync(b, other));
    ok!(cuStreamSynchronize(other));
    GATE.store(true, Ordering::Release);
    ok!(cuStreamSynchronize(waiting));
    // SAFETY: the number is no longer an allocation.
    assert_eq!(unsafe { cuMemFree_v2(b) }, 1);
}

#[test]
fn memory_mapped_side_by_side_is_one_range_and_mapped_twice_is_the_same() {
    const PAGE: usize = 2 << 20;
    let _alone = alone();
    let location = MemLocation { kind: 1, id: 0 };
    let prop = AllocationProp { kind: 1, handle_types: 0, location, meta_data: 0, flags: [0; 8] };
    let access = AccessDesc { location, flags: 3 };
    let (mut at, mut alias) = (0, 0);
    ok!(cuMemAddressReserve(&raw mut at, 2 * PAGE, 0, 0, 0));
    ok!(cuMemAddressReserve(&raw mut alias, PAGE, 8 * PAGE, 0, 0));
    assert_eq!(alias % (8 * PAGE as u64), 0);
    let mut handles = [0u64; 2];
    for (i, handle) in handles.iter_mut().enumerate() {
        ok!(cuMemCreate(&raw mut *handle, PAGE, &raw const prop, 0));
        ok!(cuMemMap(at + (i * PAGE) as u64, PAGE, 0, *handle, 0));
    }
    ok!(cuMemMap(alias, PAGE, 0, handles[1], 0));
    ok!(cuMemSetAccess(at, 2 * PAGE, &raw const access, 1));
    ok!(cuMemSetAccess(alias, PAGE, &raw const access, 1));
    let data: Vec<u8> = (0..200u8).collect();
    ok!(cuMemcpyHtoD_v2(at + PAGE as u64 - 100, data.as_ptr(), 200));
    // SAFETY: see `ok!`; one byte too many.
    assert_eq!(unsafe { cuMemcpyHtoD_v2(at + 2 * PAGE as u64 - 100, data.as_ptr(), 101) }, 1);
    let mut back = [0u8; 100];
    ok!(cuMemcpyDtoH_v2(back.as_mut_ptr(), alias, 100));
    assert_eq!(back[..], data[100..]);
    for handle in handles {
        ok!(cuMemRelease(handle));
    }
    ok!(cuMemUnmap(at, 2 * PAGE));
    ok!(cuMemcpyDtoH_v2(back.as_mut_ptr(), alias, 100));
    assert_eq!(back[..], data[100..]);
    ok!(cuMemUnmap(alias, PAGE));
    // SAFETY: see `ok!`; nothing is mapped there any more.
    assert_eq!(unsafe { cuMemcpyDtoH_v2(back.as_mut_ptr(), alias, 100) }, 1);
    ok!(cuMemAddressFree(at, 2 * PAGE));
    ok!(cuMemAddressFree(alias, PAGE));
    let none = null_mut::<u8>();
    // SAFETY: nothing is copied.
    assert_eq!(unsafe { cuMemcpyDtoH_v2(none, alias, 0) }, 0);
}

/// One thread's work: fills its own blocks, copies them in a stream and reads them back, and frees them
/// either immediately or in stream order.
fn work(seed: u64) {
    start();
    let streams = [0, 1, 2, stream(0), stream(1)];
    let mut r = Random(seed);
    for round in 0..300 {
        // Small blocks, which share pages with other threads', and large ones, which do not.
        let size = if round % 10 == 0 { (1 << 20) + r.below(4096) } else { 1 + r.below(20_000) };
        let (a, b, s) = (device(size), device(size), streams[r.below(streams.len())]);
        let value = r.below(256) as u8;
        let mut host = vec![!value; size];
        ok!(cuMemsetD8Async(a, value, size, s));
        ok!(cuMemcpyAsync(b, a, size, s));
        ok!(cuMemsetD8Async(a, !value, size, s));
        ok!(cuMemcpyAsync(host.as_mut_ptr() as u64, b, size, s));
        ok!(cuStreamSynchronize(s));
        assert!(
            host.iter().all(|v| *v == value),
            "thread {seed}, round {round}, {size} bytes in stream {s:#x}"
        );
        if r.below(2) == 0 {
            ok!(cuMemFreeAsync(a, s));
            ok!(cuMemFreeAsync(b, s));
        } else {
            ok!(cuMemFree_v2(a));
            ok!(cuMemFree_v2(b));
        }
    }
}

#[test]
fn threads_do_not_disturb_one_another() {
    let _alone = alone();
    let threads: Vec<_> = (1..=4).map(|seed| std::thread::spawn(move || work(seed))).collect();
    for thread in threads {
        thread.join().expect("a thread");
    }
}
