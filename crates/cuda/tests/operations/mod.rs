//! Operations of a stream: they hold what they touch, and can be kept and submitted again.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use driver::backend::LoadOptions;
use driver::context::{self, Context};
use driver::graph::exec;
use driver::launch::{self, Config, Params, Prepared};
use driver::memory;
use driver::memory::address::{self, Purpose};
use driver::memory::array::{self, Descriptor};
use driver::memory::copy::Fill;
use driver::memory::decompress::{Algorithm, Request, Unpack};
use driver::memory::managed::{DEVICE, Location};
use driver::memory::sparse::{Part, Remap};
use driver::memory::transfer::{Place, Transfer};
use driver::memory::value::{Comparison, Condition, Word, WordOperation};
use driver::module::{self, Function, Module, Report};
use driver::stream::capture::{self, Mode};
use driver::stream::{HostCall, Kind, Operation, Policy, STREAMS, Stream};
use driver::texture::reference::{self, Reference};
use driver::{Error, event};

use crate::call;
use crate::support::status::INVALID_VALUE;
use crate::support::{Cuda, P, everywhere, isolated};

const NOT_READY: u32 = 600;
/// Pages of its own, which are gone once the memory is released.
const LARGE: usize = 4 << 20;
/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: u32 = 1;
/// Long enough for a dispatcher to have begun to poll.
const A_WHILE: Duration = Duration::from_millis(100);

fn stream(cuda: &Cuda) -> P {
    let mut stream = 0;
    call!(cuda.cuStreamCreate(&mut stream, NON_BLOCKING));
    stream
}

fn free_memory(cuda: &Cuda) -> usize {
    let (mut free, mut total) = (0, 0);
    call!(cuda.cuMemGetInfo_v2(&mut free, &mut total));
    free
}

/// A stream waits for a word; the program releases its memory by `release`, which gets the address and
/// another stream.
fn wait_for_a_released_word(cuda: &Cuda, release: impl FnOnce(&Cuda, P, P)) {
    let (waiting, other) = (stream(cuda), stream(cuda));
    let before = free_memory(cuda);
    let mut word = 0;
    call!(cuda.cuMemAlloc_v2(&mut word, LARGE));
    call!(cuda.cuMemsetD32_v2(word, 0, 1));
    call!(cuda.cuStreamWaitValue32_v2(waiting, word, 1, 0));
    std::thread::sleep(A_WHILE);
    release(cuda, word, other);
    std::thread::sleep(A_WHILE);
    call!(cuda.cuStreamQuery(waiting) => NOT_READY);
    call!(cuda.cuMemsetD32_v2(word, 0, 1) => INVALID_VALUE);
    // SAFETY: device memory is memory of the process, and the stream holds it.
    unsafe { (word as *mut u32).write_volatile(1) };
    call!(cuda.cuStreamSynchronize(waiting));
    assert_eq!(free_memory(cuda), before, "released when the stream is done with it");
}

#[test]
fn a_word_that_a_stream_waits_for_outlives_its_release_in_another_stream() {
    isolated(
        "operations::a_word_that_a_stream_waits_for_outlives_its_release_in_another_stream",
        &[],
        || {
            wait_for_a_released_word(&Cuda::start(), |cuda, word, other| {
                call!(cuda.cuMemFreeAsync(word, other));
                call!(cuda.cuStreamSynchronize(other));
            });
        },
    );
}

#[test]
fn a_word_that_a_batch_waits_for_outlives_its_release() {
    isolated("operations::a_word_that_a_batch_waits_for_outlives_its_release", &[], || {
        const WAIT_32: u64 = 1;
        const WRITE_32: u64 = 2;
        const BARRIER: u64 = 6;
        let cuda = Cuda::start();
        let (waiting, other) = (stream(&cuda), stream(&cuda));
        let (mut word, answer) = (0, cuda.upload(&[0u32; 2]));
        call!(cuda.cuMemAlloc_v2(&mut word, LARGE));
        call!(cuda.cuMemsetD32_v2(word, 0, 1));
        let mut batch = [
            [WRITE_32, answer, 5, 0, 0, 0],
            [BARRIER, 0, 0, 0, 0, 0],
            [WAIT_32, word, 1, 0, 0, 0],
            [WRITE_32, answer + 4, 6, 0, 0, 0],
        ];
        call!(cuda.cuStreamBatchMemOp_v2(waiting, 4, batch.as_mut_ptr(), 0));
        std::thread::sleep(A_WHILE);
        call!(cuda.cuMemFreeAsync(word, other));
        std::thread::sleep(A_WHILE);
        assert_eq!(cuda.download::<u32>(answer, 2), [5, 0], "the second write waits");
        // SAFETY: device memory is memory of the process, and the stream holds it.
        unsafe { (word as *mut u32).write_volatile(1) };
        call!(cuda.cuStreamSynchronize(waiting));
        assert_eq!(cuda.download::<u32>(answer, 2), [5, 6]);
        // Nothing of a batch is done if one of its operations is wrong.
        batch = [[WRITE_32, answer, 7, 0, 0, 0], [WAIT_32, answer, 0, 4, 0, 0], [0; 6], [0; 6]];
        call!(cuda.cuStreamBatchMemOp_v2(waiting, 2, batch.as_mut_ptr(), 0) => INVALID_VALUE);
        call!(cuda.cuStreamSynchronize(waiting));
        assert_eq!(cuda.download::<u32>(answer, 2), [5, 6]);
    });
}

#[test]
fn a_word_of_another_context_outlives_its_release() {
    isolated("operations::a_word_of_another_context_outlives_its_release", &[], || {
        let cuda = Cuda::start();
        let mut second = 0;
        call!(cuda.cuCtxCreate_v2(&mut second, 0, 0));
        let (mut word, mut waiting) = (0, 0);
        call!(cuda.cuMemAlloc_v2(&mut word, LARGE));
        call!(cuda.cuMemsetD32_v2(word, 0, 1));
        cuda.primary();
        call!(cuda.cuStreamCreate(&mut waiting, NON_BLOCKING));
        call!(cuda.cuStreamWaitValue32_v2(waiting, word, 1, 0));
        std::thread::sleep(A_WHILE);
        // Waits for the work of the memory's context alone.
        call!(cuda.cuMemFree_v2(word));
        std::thread::sleep(A_WHILE);
        // SAFETY: device memory is memory of the process, and the stream holds it.
        unsafe { (word as *mut u32).write_volatile(1) };
        call!(cuda.cuStreamSynchronize(waiting));
    });
}

extern "C" fn take_a_while(_: *mut c_void) {
    std::thread::sleep(A_WHILE);
}

#[test]
fn a_registration_ends_when_no_context_uses_the_memory() {
    isolated("operations::a_registration_ends_when_no_context_uses_the_memory", &[], || {
        let cuda = Cuda::start();
        let mut second = 0;
        call!(cuda.cuCtxCreate_v2(&mut second, 0, 0));
        let stream = stream(&cuda);
        let mut memory = vec![0u8; LARGE];
        let at = memory.as_mut_ptr();
        call!(cuda.cuMemHostRegister_v2(at.cast(), LARGE, 0));
        call!(cuda.cuLaunchHostFunc(stream, Some(take_a_while), null_mut()));
        call!(cuda.cuMemsetD8Async(at as u64, 7, LARGE, stream));
        cuda.primary();
        call!(cuda.cuMemHostUnregister(at.cast()));
        // SAFETY: the last byte of the vector.
        assert_eq!(unsafe { at.add(LARGE - 1).read_volatile() }, 7, "the fill was waited for");
    });
}

const KERNELS: &str = ".version 7.0\n.target sm_52\n.address_size 64\n
.global .texref t;
// Adds what the texture holds at 0 to a counter.
.visible .entry k(.param .u64 counter) {
    .reg .b64 %c; .reg .f32 %f<4>; .reg .b32 %r<3>;
    ld.param.u64 %c, [counter];
    mov.u32 %r0, 0;
    tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [t, {%r0}];
    cvt.rzi.u32.f32 %r1, %f0;
    red.global.add.u32 [%c], %r1;
    ret;
}
// Adds a variable of the module to a counter.
.global .u32 step = 3;
.visible .entry plain(.param .u64 counter) {
    .reg .b64 %c; .reg .b32 %r;
    ld.param.u64 %c, [counter];
    ld.global.u32 %r, [step];
    red.global.add.u32 [%c], %r;
    ret;
}
";

/// Device 0's primary context of a driver in this very test, and a module in it.
fn started() -> (Arc<Context>, Arc<Module>) {
    driver::initialize(cuda::backend::backend).expect("a driver");
    let device = driver::driver().and_then(|d| d.device(0)).expect("a device");
    let context = context::get(context::retain_primary(device).expect("a context")).expect("a context");
    let options = LoadOptions::default();
    let module = module::load(&context, KERNELS.as_bytes(), &options, &mut Report::default());
    (context, module.expect("a module"))
}

fn new_stream(context: &Context) -> Arc<Stream> {
    let handle = context.create_stream(Kind::NonBlocking, 0).expect("a stream");
    STREAMS.get(handle).expect("a stream")
}

/// Four words of device memory.
fn words(context: &Context, value: u32) -> u64 {
    let address = memory::alloc(context, 16).expect("memory");
    // SAFETY: device memory is memory of the process, just allocated.
    unsafe { (address as *mut [u32; 4]).write([value; 4]) };
    address
}

fn word(address: u64, at: u64) -> u32 {
    // SAFETY: one of the words that `words` allocated; the streams are idle.
    unsafe { ((address + 4 * at) as *const u32).read_volatile() }
}

/// The kernel `k`, the texture reference it reads and a launch of two blocks of 32 threads.
fn adding(module: &Arc<Module>) -> (Arc<Function>, Arc<Reference>, Config) {
    let function = module.function(b"k").expect("a kernel");
    let texture = module.reference(b"t", false).and_then(|t| reference::get(t, false)).expect("a texture");
    let mut config = Config {
        grid: [2, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
        cooperative: false,
        cluster: None,
        preferred_cluster: None,
    };
    launch::check(&function, &mut config).expect("a launch");
    (function, texture, config)
}

static CALLS: AtomicU32 = AtomicU32::new(0);

extern "C" fn count(by: u64) {
    CALLS.fetch_add(by as u32, Ordering::Relaxed);
}

#[test]
fn an_operation_is_kept_and_submitted_again() {
    everywhere("operations::an_operation_is_kept_and_submitted_again", &[], || {
        let (context, module) = started();
        let (function, texture, config) = adding(&module);
        let (counter, other) = (words(&context, 0), words(&context, 0));
        let marked = event::get(event::create(&context, 0).expect("an event")).expect("an event");
        let small = [3u32, 4];
        let from = Place::Host(small.as_ptr() as u64);
        // SAFETY: `small` outlives the streams' work.
        let copy = unsafe { Transfer::line(Place::Device(counter + 8), from, 8).check() };
        let fill = Fill { to: other, pitch: 0, width: 2, height: 1, element: 4, value: 9 };
        let ready = Condition { comparison: Comparison::AtLeast, value: 1, mask: u64::MAX };
        let last = || Word::at(other + 12, false).expect("a word");
        let kept = [
            Operation::Launch(Prepared::new(function, &config, Params::of(&counter.to_ne_bytes()))),
            Operation::Copy(copy.expect("a copy").expect("something to copy")),
            fill.operation().expect("a fill").expect("something to fill"),
            Operation::Record(event::Record::of(&marked)),
            Operation::Wait(event::Wait::on(&marked)),
            Operation::Batch(
                [WordOperation::Write(last(), 1), WordOperation::Barrier, WordOperation::Wait(last(), ready)]
                    .into(),
            ),
            Operation::Host(HostCall::Function { function: count, data: 5 }),
        ];
        let mut total = 0;
        // Texels of 1 and of 7: what the reference is bound to belongs to the submission.
        for (round, texel) in [1.0f32, 7.0].into_iter().enumerate() {
            let bound = words(&context, texel.to_bits());
            texture.set_linear(bound, 16).expect("a binding");
            // SAFETY: as for `word`; what the operations write again.
            unsafe {
                (other as *mut [u32; 4]).write([0; 4]);
                ((counter + 8) as *mut [u32; 2]).write([0; 2]);
            }
            let stream = new_stream(&context);
            for operation in &kept {
                stream.submit(operation.clone(), Policy::Later).expect("submitted");
            }
            stream.synchronize();
            context.check().expect("no fault");
            total += 64 * texel as u32;
            assert_eq!(
                [word(counter, 0), word(counter, 2), word(counter, 3)],
                [total, 3, 4],
                "round {round}"
            );
            assert_eq!([word(other, 0), word(other, 1), word(other, 3)], [9, 9, 1], "round {round}");
            assert_eq!(CALLS.load(Ordering::Relaxed), 5 * (round as u32 + 1));
            assert!(marked.query().expect("not captured"));
        }
        // A launch belongs to its context.
        let second = context::create(&context.device, 0, 3020).and_then(context::get).expect("a context");
        let foreign = new_stream(&second);
        let [launch, ..] = &kept;
        assert_eq!(foreign.submit(launch.clone(), Policy::Later), Err(Error::InvalidHandle));
    });
}

/// Kernels of a graph read what their texture references are bound to when it is launched.
#[test]
fn a_graph_launch_settles_its_kernels() {
    everywhere("operations::a_graph_launch_settles_its_kernels", &[], || {
        let (context, module) = started();
        let (function, texture, config) = adding(&module);
        let counter = words(&context, 0);
        let bind = |texel: f32| texture.set_linear(words(&context, texel.to_bits()), 16).expect("a binding");
        bind(100.0);
        let stream = new_stream(&context);
        stream.begin_capture(Mode::Relaxed, None).expect("a capture");
        for _ in 0..2 {
            let launch = Prepared::new(Arc::clone(&function), &config, Params::of(&counter.to_ne_bytes()));
            stream.submit(Operation::Launch(launch), Policy::Later).expect("captured");
        }
        let graph = stream.end_capture().expect("a graph");
        let Ok(exec) = exec::instantiate(&graph, 0) else { panic!("not instantiated") };
        let exec = exec::get(exec).expect("an executable graph");
        let mut total = 0;
        for texel in [1.0f32, 7.0] {
            bind(texel);
            exec.launch(&stream).expect("launched");
            stream.synchronize();
            context.check().expect("no fault");
            total += 2 * 64 * texel as u32;
            assert_eq!(word(counter, 0), total, "{texel}");
        }
    });
}

/// A thread that has looked up a stream may use it when another one has destroyed it, or its context.
#[test]
fn destroyed_streams_take_part_in_no_capture() {
    isolated("operations::destroyed_streams_take_part_in_no_capture", &[], || {
        let (context, _) = started();
        let destroyed = new_stream(&context);
        driver::stream::destroy(destroyed.handle).expect("destroyed");
        assert_eq!(destroyed.begin_capture(Mode::Relaxed, None), Err(Error::InvalidHandle));
        context.synchronize().expect("no capture");
        // A stream that would join another one's capture.
        let (origin, joining) = (new_stream(&context), new_stream(&context));
        let event = event::create(&context, 2).and_then(event::get).expect("an event");
        origin.begin_capture(Mode::Relaxed, None).expect("a capture");
        origin.submit(Operation::Record(event::Record::of(&event)), Policy::Later).expect("captured");
        driver::stream::destroy(joining.handle).expect("destroyed");
        let wait = Operation::Wait(event::Wait::on(&event));
        assert_eq!(joining.submit(wait, Policy::Later), Err(Error::InvalidHandle));
        assert!(!joining.is_capturing());
        origin.end_capture().expect("a graph");
        // A context that ends.
        let second = context::create(&context.device, 0, 3020).and_then(context::get).expect("a context");
        let stream = new_stream(&second);
        context::destroy(&second).expect("destroyed");
        assert_eq!(stream.begin_capture(Mode::Global, None), Err(Error::ContextIsDestroyed));
        assert!(!stream.is_capturing());
        capture::check_unsafe().expect("no capture");
    });
}

/// Of two threads that end a capture, one gets its graph.
#[test]
fn a_capture_ends_once() {
    isolated("operations::a_capture_ends_once", &[], || {
        let (context, _) = started();
        let stream = new_stream(&context);
        for _ in 0..2000 {
            stream.begin_capture(Mode::Relaxed, None).expect("a capture");
            let end = || stream.end_capture().is_ok();
            let ends = std::thread::scope(|scope| {
                let other = scope.spawn(end);
                [end(), other.join().expect("no panic")]
            });
            assert_eq!(ends.iter().filter(|ended| **ended).count(), 1);
        }
        context.synchronize().expect("no capture");
    });
}

#[test]
fn kept_operations_hold_what_they_touch() {
    isolated("operations::kept_operations_hold_what_they_touch", &[], || {
        let (context, module) = started();
        let (used, _) = memory::info(&context.device);
        let (a, b) = (memory::alloc(&context, LARGE as u64), memory::alloc(&context, LARGE as u64));
        let (a, b) = (a.expect("memory"), b.expect("memory"));
        let fill = Fill { to: a, pitch: 0, width: LARGE as u64, height: 1, element: 1, value: 3 };
        let fill = fill.operation().expect("a fill").expect("something to fill");
        // SAFETY: both sides are device memory.
        let copy = unsafe { Transfer::line(Place::Device(b), Place::Device(a), LARGE as u64).check() };
        let copy = Operation::Copy(copy.expect("a copy").expect("something to copy"));
        let release = Operation::Free(memory::find(b).expect("an allocation"));
        let stream = new_stream(&context);
        memory::free(a).expect("released");
        stream.submit(release.clone(), Policy::Later).expect("released");
        assert_eq!(memory::free(b), Err(Error::InvalidValue));
        assert_eq!(stream.submit(release.clone(), Policy::Later), Err(Error::InvalidValue));
        for operation in [&fill, &copy] {
            stream.submit(operation.clone(), Policy::Later).expect("submitted");
        }
        stream.synchronize();
        // SAFETY: `copy` holds the memory.
        assert_eq!(unsafe { ((b + LARGE as u64 - 1) as *const u8).read_volatile() }, 3);
        drop((fill, copy, release));
        assert_eq!(memory::info(&context.device).0, used);
        // An event that was destroyed is still recorded, and a kernel of an unloaded module still runs.
        let marked = event::create(&context, 0).expect("an event");
        let record = Operation::Record(event::Record::of(&event::get(marked).expect("an event")));
        event::destroy(marked).expect("destroyed");
        stream.submit(record, Policy::Later).expect("submitted");
        let function = module.function(b"plain").expect("a kernel");
        let mut config = Config {
            grid: [1; 3],
            block: [1; 3],
            dynamic_shared: 0,
            cooperative: false,
            cluster: None,
            preferred_cluster: None,
        };
        launch::check(&function, &mut config).expect("a launch");
        let counter = words(&context, 0);
        let launch = Prepared::new(function, &config, Params::of(&counter.to_ne_bytes()));
        stream.submit(Operation::Launch(launch.clone()), Policy::Later).expect("submitted");
        stream.synchronize();
        assert_eq!(word(counter, 0), 3);
        module::unload(module.handle).expect("unloaded");
        drop(module);
        stream.submit(Operation::Launch(launch), Policy::Later).expect("submitted");
        stream.synchronize();
        context.check().expect("no fault");
        assert_eq!(word(counter, 0), 6, "the module's variables are still there");
    });
}

#[test]
fn kept_remaps_and_decompressions_hold_what_they_touch() {
    let new = [("ANYWARP_COMPUTE_CAPABILITY", "10.0")];
    isolated("operations::kept_remaps_and_decompressions_hold_what_they_touch", &new, || {
        let (context, _module) = started();
        let (free, _) = memory::info(&context.device);
        // A tile of a sparse array; array and memory are then released.
        let flags = array::flag::SPARSE;
        let shape = Descriptor { width: 256, height: 256, depth: 0, format: 3, channels: 1, flags };
        let image = array::create(&context, shape).expect("an array");
        let region = array::get(image).expect("an array").region().expect("a sparse one").clone();
        let (place, purpose) =
            (Location { kind: DEVICE, id: 0 }, Purpose { shareable: false, for_tiles: true });
        let tiles = address::create(&context.device, place, 2 << 20, purpose).expect("memory");
        let part = Part::Level { level: 0, layer: 0, offset: [128, 0, 0], extent: [128, 256, 1] };
        let memory_of_tiles = address::get(tiles).expect("memory");
        let map = Remap::new(&region, Some(part), Some((memory_of_tiles, 65536))).expect("a part");
        let unmap = Remap::new(&region, Some(part), None).expect("a part");
        let [map, unmap] = [map, unmap].map(|change| Operation::Remap([change].into()));
        address::release(tiles).expect("released");
        array::destroy(image).expect("destroyed");
        let stream = new_stream(&context);
        for operation in [&map, &map, &unmap, &map] {
            stream.submit(operation.clone(), Policy::Later).expect("submitted");
        }
        stream.synchronize();
        context.check().expect("no fault");
        assert_eq!(memory::info(&context.device).0, free - (2 << 20));
        drop((map, unmap, region));
        assert_eq!(memory::info(&context.device).0, free, "the array held the memory");

        // Literals in LZ4's block format, from and to memory that is then released.
        let at = memory::alloc(&context, LARGE as u64).expect("memory");
        let data = [0x30u8, b'a', b'b', b'c'];
        // SAFETY: device memory is memory of the process, just allocated.
        unsafe { (at as *mut [u8; 4]).write(data) };
        let (from, to, count) = ((at, 4), (at + 64, 0), at + 128);
        let request = Request { algorithm: Algorithm::Lz4, from, to, count };
        let unpack = Unpack::new(&context.device, request).expect("a request");
        let unpack = Operation::Decompress([unpack].into());
        memory::free(at).expect("released");
        for _ in 0..2 {
            // SAFETY: the operation holds the memory.
            unsafe { (count as *mut u32).write_volatile(9) };
            stream.submit(unpack.clone(), Policy::Later).expect("submitted");
            stream.synchronize();
            // SAFETY: as above.
            let made =
                unsafe { ((to.0 as *const [u8; 3]).read_volatile(), (count as *const u32).read_volatile()) };
            assert_eq!(made, (*b"abc", 3));
        }
        drop(unpack);
        assert_eq!(memory::info(&context.device).0, free);
        context.check().expect("no fault");
    });
}
