//! Work that meets memory whose rights were withdrawn while it waited.

use crate::by_name::status::{INVALID_VALUE, OK};
use crate::by_name::{Library, at, isolated};

const ILLEGAL_ADDRESS: u32 = 700;
/// The number of a case, for the child that runs it.
const CASE: &str = "ANYWARP_TEST_CASE";
const SIZE: u64 = 2 << 20;

/// Access rights of `CUmemAccessDesc`.
const NONE: u64 = 0;
const READ: u64 = 1;
const READ_WRITE: u64 = 3;

/// Memory as a program reserves and maps it.
struct Memory {
    address: u64,
}

impl Memory {
    fn new(cuda: Library) -> Memory {
        // `CUmemAllocationProp`: pinned memory, of device 0, that can be decompressed to.
        let mut properties = [1u64, 1, 0, 2 << 16];
        let handle = cuda.made("cuMemCreate", &[SIZE, at(&mut properties), 0]);
        let address = cuda.made("cuMemAddressReserve", &[SIZE, 0, 0, 0]);
        cuda.ok("cuMemMap", &[address, SIZE, 0, handle, 0]);
        let memory = Memory { address };
        memory.allow(cuda, READ_WRITE);
        memory
    }

    fn allow(&self, cuda: Library, rights: u64) {
        self.allow_device(cuda, 0, rights);
    }

    fn allow_device(&self, cuda: Library, device: u32, rights: u64) {
        // `CUmemAccessDesc`: the kind and the number of the location, the rights.
        let mut access = [1u32, device, rights as u32];
        cuda.ok("cuMemSetAccess", &[self.address, SIZE, at(&mut access), 1]);
    }
}

/// What is submitted: it uses `closed`, of [`SIZE`] bytes, and `open`.
struct Use {
    what: &'static str,
    /// The rights that are left when it runs.
    left: u64,
    submit: fn(Library, closed: u64, open: u64, stream: u64),
}

const PTX: &str = ".version 7.8
.target sm_80
.address_size 64
.visible .entry load(.param .u64 from, .param .u64 to) {
    .reg .b32 %r; .reg .b64 %d<3>;
    ld.param.u64 %d1, [from]; ld.param.u64 %d2, [to];
    ld.global.u32 %r, [%d1]; st.global.u32 [%d2], %r; ret;
}
.visible .entry fetch(.param .u64 texture, .param .u64 to) {
    .reg .b32 %r<6>; .reg .b64 %d<3>;
    ld.param.u64 %d1, [texture]; ld.param.u64 %d2, [to]; mov.u32 %r5, %tid.x;
    tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%d1, {%r5}]; st.global.u32 [%d2], %r1; ret;
}";

fn launch(cuda: Library, kernel: &std::ffi::CStr, mut first: u64, mut second: u64, stream: u64) {
    let text = std::ffi::CString::new(PTX).expect("no NUL");
    let module = cuda.made("cuModuleLoadData", &[text.as_ptr() as u64]);
    let function = cuda.made("cuModuleGetFunction", &[module, kernel.as_ptr() as u64]);
    let mut values = [at(&mut first), at(&mut second)];
    cuda.ok("cuLaunchKernel", &[function, 1, 1, 1, 32, 1, 1, 0, stream, at(&mut values), 0]);
}

/// A texture object of 32-bit integers in linear memory.
fn texture(cuda: Library, memory: u64) -> u64 {
    // `CUDA_RESOURCE_DESC`: linear memory, the format and one channel; `CUDA_TEXTURE_DESC`: read as integers.
    let (mut resource, mut texture) = ([0u64; 18], [0u64; 13]);
    resource[..4].copy_from_slice(&[2, memory, 3 | 1 << 32, 4096]);
    texture[2] = 1;
    cuda.made("cuTexObjectCreate", &[at(&mut resource), at(&mut texture), 0])
}

const USES: &[Use] = &[
    Use {
        what: "a copy from it",
        left: NONE,
        submit: |cuda, closed, open, stream| cuda.ok("cuMemcpyDtoDAsync_v2", &[open, closed, SIZE, stream]),
    },
    Use {
        what: "a copy to it",
        left: READ,
        submit: |cuda, closed, open, stream| cuda.ok("cuMemcpyDtoDAsync_v2", &[closed, open, SIZE, stream]),
    },
    Use {
        what: "a copy of rows",
        left: NONE,
        submit: |cuda, closed, open, stream| {
            // `CUDA_MEMCPY2D`: offsets, kind, host, device, array and pitch of both sides; the extent.
            let mut copy = [0, 0, 2, 0, closed, 0, 4096, 0, 0, 2, 0, open, 0, 4096, 100, 30];
            cuda.ok("cuMemcpy2DAsync_v2", &[at(&mut copy), stream]);
        },
    },
    Use {
        what: "a fill of bytes",
        left: NONE,
        submit: |cuda, closed, _, stream| cuda.ok("cuMemsetD8Async", &[closed, 1, SIZE, stream]),
    },
    Use {
        what: "a fill of words",
        left: READ,
        submit: |cuda, closed, _, stream| cuda.ok("cuMemsetD32Async", &[closed, 0x1234, SIZE / 4, stream]),
    },
    Use {
        what: "decompression",
        left: NONE,
        submit: |cuda, closed, open, stream| {
            let packed = [16u8, 2 << 2, b'a', b'b', b'c', 11 << 2 | 2, 3, 0, 0, b'!'];
            cuda.write(open + 64, &packed);
            let mut one = [10u64, 16, open + 128, open + 64, closed, 2, 0, 0];
            cuda.ok("cuMemBatchDecompressAsync", &[at(&mut one), 1, 0, 0, stream]);
        },
    },
    Use {
        what: "a write of a word",
        left: NONE,
        submit: |cuda, closed, _, stream| {
            cuda.ok("cuStreamWriteValue64_v2", &[stream, closed + 4096, 1, 0]);
        },
    },
    Use {
        what: "a wait for a word",
        left: NONE,
        submit: |cuda, closed, _, stream| {
            cuda.ok("cuStreamWaitValue32_v2", &[stream, closed, 12345, 1]);
        },
    },
    Use {
        what: "a node of a graph",
        left: NONE,
        submit: |cuda, closed, _, stream| {
            let graph = cuda.made("cuGraphCreate", &[0]);
            let mut fill = [closed, 0, 1 | 1 << 32, 4096, 1];
            let (mut node, context) = (0u64, cuda.made("cuCtxGetCurrent", &[]));
            cuda.ok("cuGraphAddMemsetNode", &[at(&mut node), graph, 0, 0, at(&mut fill), context]);
            let exec = cuda.made("cuGraphInstantiateWithFlags", &[graph, 0]);
            cuda.ok("cuGraphLaunch", &[exec, stream]);
        },
    },
    Use {
        what: "a kernel",
        left: NONE,
        submit: |cuda, closed, open, stream| launch(cuda, c"load", closed, open + 4096, stream),
    },
    Use {
        what: "a texture",
        left: NONE,
        submit: |cuda, closed, open, stream| {
            launch(cuda, c"fetch", texture(cuda, closed), open + 4096, stream);
        },
    },
];

/// Mapped memory and pools have rights of their own for each device, which fills and copies obey. Those that
/// the recording in `tests/probe` lacks are tried here.
#[test]
fn devices_without_access_neither_fill_nor_copy() {
    isolated("closed::devices_without_access_neither_fill_nor_copy", &[("ANYWARP_DEVICES", "2")], || {
        let cuda = Library::start();
        let first = cuda.made("cuCtxGetCurrent", &[]);
        let second = cuda.made("cuDevicePrimaryCtxRetain", &[1]);
        let memory = Memory::new(cuda);
        // `CUmemPoolProps`: pinned memory of the first device.
        let mut pool = [0u64; 11];
        (pool[0], pool[1]) = (1, 1);
        let pool = cuda.made("cuMemPoolCreate", &[at(&mut pool)]);
        let pooled = cuda.made("cuMemAllocFromPoolAsync", &[SIZE, pool, 0]);
        let rights = |device: u64| {
            let (mut flags, mut location) = (9u64, 1 | device << 32);
            cuda.ok("cuMemGetAccess", &[at(&mut flags), at(&mut location), memory.address]);
            flags
        };
        assert_eq!((rights(0), rights(1)), (READ_WRITE, NONE));
        let batch = |to: u64, from: u64, stream: u64| {
            let (mut lists, mut first, mut failed) = ([to, from, SIZE], 0u64, 0u64);
            let [to, from, size] = &mut lists;
            // `CUmemcpyAttributes`: the order of the stream, no places, no flags.
            let mut attributes = [1u32, 0, 0, 0, 0, 0];
            let (attributes, first, failed) = (at(&mut attributes), at(&mut first), at(&mut failed));
            let arguments = [at(to), at(from), at(size), 1, attributes, first, 1, failed, stream];
            cuda.call("cuMemcpyBatchAsync", &arguments)
        };
        // Uses memory in a context, and by a copy between contexts that names another.
        let uses = |context: u64, address: u64, expected: u32, named: u64| {
            cuda.ok("cuCtxSetCurrent", &[context]);
            let own = cuda.made("cuMemAlloc_v2", &[SIZE]);
            let stream = cuda.made("cuStreamCreate", &[1]);
            cuda.rows(&[
                ("cuMemsetD8_v2", &[address, 1, SIZE], expected),
                ("cuMemsetD32Async", &[address, 1, SIZE / 4, stream], expected),
                ("cuMemsetD2D16_v2", &[address, 4096, 1, 16, 16], expected),
                ("cuMemcpyDtoD_v2", &[own, address, SIZE], expected),
                ("cuMemcpyDtoDAsync_v2", &[address, own, SIZE, stream], expected),
                ("cuMemcpyHtoD_v2", &[address, at(&mut [0u32; 4]), 16], expected),
                ("cuMemcpyDtoH_v2", &[at(&mut [0u32; 4]), address, 16], expected),
                ("cuMemcpyPeer", &[own, context, address, named, SIZE], OK),
            ]);
            assert_eq!([batch(address, own, stream), batch(own, address, stream)], [expected; 2]);
            cuda.ok("cuCtxSynchronize", &[]);
        };
        uses(first, memory.address, OK, first);
        uses(second, memory.address, INVALID_VALUE, first);
        uses(first, pooled, OK, first);
        uses(second, pooled, INVALID_VALUE, first);
        memory.allow_device(cuda, 1, READ_WRITE);
        let mut open = [1u32, 1, 3];
        cuda.ok("cuMemPoolSetAccess", &[pool, at(&mut open), 1]);
        assert_eq!((rights(0), rights(1)), (READ_WRITE, READ_WRITE));
        uses(second, memory.address, OK, first);
        uses(second, pooled, OK, first);
        memory.allow_device(cuda, 0, NONE);
        assert_eq!((rights(0), rights(1)), (NONE, READ_WRITE));
        uses(first, memory.address, INVALID_VALUE, second);
        uses(second, memory.address, OK, second);
    });
}

/// Memory that a process exports and imports again is used once, until its last handle is gone.
#[test]
fn imported_memory_counts_once() {
    isolated("closed::imported_memory_counts_once", &[], || {
        let cuda = Library::start();
        let used = || {
            let (mut free, mut total) = (0u64, 0u64);
            cuda.ok("cuMemGetInfo_v2", &[at(&mut free), at(&mut total)]);
            total - free
        };
        let before = used();
        // `CUmemAllocationProp`: pinned memory that a descriptor stands for, of device 0.
        let mut properties = [1u64 | 1 << 32, 1, 0, 0];
        let handle = cuda.made("cuMemCreate", &[SIZE, at(&mut properties), 0]);
        assert_eq!(used() - before, SIZE);
        let mut descriptor = -1i32;
        cuda.ok("cuMemExportToShareableHandle", &[at(&mut descriptor), handle, 1, 0]);
        let imported = cuda.made("cuMemImportFromShareableHandle", &[descriptor as u64, 1]);
        assert_eq!(used() - before, SIZE);
        cuda.ok("cuMemRelease", &[handle]);
        assert_eq!(used() - before, SIZE);
        cuda.ok("cuMemRelease", &[imported]);
        assert_eq!(used(), before);
    });
}

/// A wait of another stream ends with the context, so that a reset does.
#[test]
fn waits_end_with_their_context() {
    isolated("closed::waits_end_with_their_context", &[], || {
        let cuda = Library::start();
        let (memory, word) = (Memory::new(cuda), cuda.made("cuMemAlloc_v2", &[64]));
        let (waits, fills) = (cuda.made("cuStreamCreate", &[1]), cuda.made("cuStreamCreate", &[1]));
        cuda.rows(&[
            ("cuMemsetD8_v2", &[word, 0, 64], OK),
            ("cuCtxSynchronize", &[], OK),
            ("cuStreamWaitValue32_v2", &[waits, word, 7, 1], OK),
            ("cuStreamWaitValue32_v2", &[fills, word, 1, 1], OK),
            ("cuMemsetD8Async", &[memory.address, 7, SIZE, fills], OK),
        ]);
        memory.allow(cuda, NONE);
        cuda.call("cuMemcpyHtoD_v2", &[word, at(&mut 1u32), 4]);
        cuda.rows(&[
            ("cuStreamSynchronize", &[fills], ILLEGAL_ADDRESS),
            ("cuStreamSynchronize", &[waits], ILLEGAL_ADDRESS),
            ("cuDevicePrimaryCtxReset_v2", &[0], OK),
        ]);
    });
}

/// A texture keeps no memory, so a kernel may read what was freed.
#[test]
fn textures_of_freed_memory_are_faults() {
    for engine in ["compiled", "interpreter"] {
        isolated("closed::textures_of_freed_memory_are_faults", &[("ANYWARP_ENGINE", engine)], || {
            let cuda = Library::start();
            let memory = cuda.made("cuMemAlloc_v2", &[16 << 20]);
            let open = cuda.made("cuMemAlloc_v2", &[4096]);
            let object = texture(cuda, memory);
            cuda.ok("cuMemFree_v2", &[memory]);
            launch(cuda, c"fetch", object, open, 0);
            cuda.rows(&[
                ("cuCtxSynchronize", &[], ILLEGAL_ADDRESS),
                ("cuDevicePrimaryCtxReset_v2", &[0], OK),
            ]);
            cuda.primary();
            let memory = cuda.made("cuMemAlloc_v2", &[16 << 20]);
            cuda.rows(&[("cuMemsetD8_v2", &[memory, 1, 16 << 20], OK), ("cuCtxSynchronize", &[], OK)]);
        });
    }
}

#[test]
fn closed_memory_is_a_fault_of_the_context() {
    const NAME: &str = "closed::closed_memory_is_a_fault_of_the_context";
    let own = std::env::var(CASE).ok().and_then(|number| number.parse::<usize>().ok());
    let runs = USES.iter().enumerate().flat_map(|(number, one)| {
        let kernels = matches!(one.what, "a kernel" | "a texture");
        let engines: &[&str] = if kernels { &["compiled", "interpreter"] } else { &["interpreter"] };
        engines.iter().map(move |engine| (number, *engine))
    });
    for (number, engine) in runs {
        let number_text = number.to_string();
        let variables =
            [(CASE, &*number_text), ("ANYWARP_ENGINE", engine), ("ANYWARP_COMPUTE_CAPABILITY", "10.0")];
        isolated(NAME, &variables, || {
            let one = &USES[own.unwrap_or(number)];
            let cuda = Library::start();
            let (memory, open) = (Memory::new(cuda), cuda.made("cuMemAlloc_v2", &[SIZE]));
            let stream = cuda.made("cuStreamCreate", &[1]);
            cuda.rows(&[
                ("cuMemsetD8_v2", &[memory.address, 7, SIZE], OK),
                ("cuMemsetD8_v2", &[open, 0, SIZE], OK),
                ("cuCtxSynchronize", &[], OK),
                ("cuStreamWaitValue32_v2", &[stream, open, 1, 0], OK),
            ]);
            (one.submit)(cuda, memory.address, open, stream);
            memory.allow(cuda, one.left);
            // The work may fault before this copy returns.
            let go = cuda.call("cuMemcpyHtoD_v2", &[open, at(&mut 1u32), 4]);
            assert!([OK, ILLEGAL_ADDRESS].contains(&go), "{go}");
            cuda.rows(&[
                ("cuStreamSynchronize", &[stream], ILLEGAL_ADDRESS),
                ("cuCtxSynchronize", &[], ILLEGAL_ADDRESS),
                ("cuDevicePrimaryCtxReset_v2", &[0], OK),
            ]);
            // Its contents are as they were, for another context.
            cuda.primary();
            memory.allow(cuda, READ_WRITE);
            assert_eq!(cuda.read::<u8, 8192>(memory.address), [7; 8192], "{}", one.what);
            memory.allow(cuda, NONE);
            let open = cuda.made("cuMemAlloc_v2", &[64]);
            cuda.rows(&[("cuMemsetD8_v2", &[open, 1, 64], OK), ("cuCtxSynchronize", &[], OK)]);
        });
    }
}
