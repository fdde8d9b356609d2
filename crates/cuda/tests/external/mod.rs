//! Memory and semaphores by file descriptor, and what is refused.

use std::os::fd::RawFd;

use crate::by_name::status::{INVALID_HANDLE, INVALID_VALUE, NOT_SUPPORTED, OK};

const UNKNOWN: u32 = 999;
const ILLEGAL_ADDRESS: u32 = 700;
use crate::by_name::{at, isolated};

/// A memory file of this size.
fn file(size: i64) -> RawFd {
    // SAFETY: a NUL-terminated name; the descriptor is new.
    unsafe {
        let fd = libc::memfd_create(c"test".as_ptr(), 0);
        assert!(fd >= 0 && libc::ftruncate(fd, size) == 0);
        fd
    }
}

fn again(fd: RawFd) -> RawFd {
    // SAFETY: an open descriptor.
    unsafe { libc::dup(fd) }
}

fn is_open(fd: RawFd) -> bool {
    // SAFETY: any number is allowed.
    unsafe { libc::fcntl(fd, libc::F_GETFD) >= 0 }
}

/// `CUDA_EXTERNAL_MEMORY_HANDLE_DESC`.
fn memory_of(kind: u64, fd: RawFd, size: u64) -> [u64; 13] {
    [kind, fd as u32 as u64, 0, size, 0, 0, 0, 0, 0, 0, 0, 0, 0]
}

/// `CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC`.
fn semaphore_of(kind: u64, fd: RawFd) -> [u64; 12] {
    [kind, fd as u32 as u64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
}

#[test]
fn memory_files_are_mapped() {
    isolated("external::memory_files_are_mapped", &[], || {
        let cuda = crate::by_name::Library::start();
        let fd = file(1 << 20);
        let kept = again(fd);
        let mut good = memory_of(1, fd, 1 << 20);
        let memory = cuda.made("cuImportExternalMemory", &[at(&mut good)]);
        assert!(!is_open(fd), "the driver has taken the descriptor over");
        // `CUDA_EXTERNAL_MEMORY_BUFFER_DESC`: offset, size, flags.
        let buffer_of = |offset: u64, size: u64, flags: u64| [offset, size, flags, 0, 0, 0, 0, 0, 0, 0, 0];
        let (mut p, mut b) = (buffer_of(100, 4096, 0), buffer_of((1 << 20) - 8, 16, 0));
        let (mut e, mut f) = (buffer_of(0, 0, 0), buffer_of(100, 4096, 1));
        let buffer = cuda.made("cuExternalMemoryGetMappedBuffer", &[memory, at(&mut p)]);
        cuda.rows(&[
            ("cuMemsetD8_v2", &[buffer, 7, 4096], OK),
            ("cuMemsetD8_v2", &[buffer, 7, 4097], INVALID_VALUE),
            ("cuCtxSynchronize", &[], OK),
        ]);
        let mut seen = [0u8; 3];
        // SAFETY: a buffer of three bytes.
        assert_eq!(unsafe { libc::pread(kept, seen.as_mut_ptr().cast(), 3, 99) }, 3);
        assert_eq!(seen, [0, 7, 7]);
        let mut out = 0u64;
        let mut short = memory_of(1, again(kept), 1 << 21);
        let mut nothing = memory_of(1, -1, 4096);
        let mut window = memory_of(2, kept, 4096);
        let mut unknown = memory_of(99, kept, 4096);
        let name = "cuExternalMemoryGetMappedBuffer";
        // More than there is can be imported, but not mapped.
        let larger = cuda.made("cuImportExternalMemory", &[at(&mut short)]);
        let mut whole = buffer_of(0, 1 << 21, 0);
        cuda.rows(&[
            (name, &[at(&mut out), larger, at(&mut whole)], INVALID_VALUE),
            (name, &[at(&mut out), larger, at(&mut p)], OK),
            ("cuDestroyExternalMemory", &[larger], OK),
        ]);
        cuda.rows(&[
            (name, &[at(&mut out), memory, at(&mut b)], INVALID_VALUE),
            (name, &[at(&mut out), memory, at(&mut e)], INVALID_VALUE),
            (name, &[at(&mut out), memory, at(&mut f)], INVALID_VALUE),
            (name, &[at(&mut out), memory, 0], INVALID_VALUE),
            (name, &[0, memory, at(&mut p)], INVALID_VALUE),
            (name, &[at(&mut out), memory + 8, at(&mut p)], INVALID_HANDLE),
            ("cuImportExternalMemory", &[at(&mut out), at(&mut nothing)], UNKNOWN),
            ("cuImportExternalMemory", &[at(&mut out), at(&mut window)], NOT_SUPPORTED),
            ("cuImportExternalMemory", &[at(&mut out), at(&mut unknown)], INVALID_VALUE),
            ("cuImportExternalMemory", &[at(&mut out), 0], INVALID_VALUE),
            ("cuDestroyExternalMemory", &[memory], OK),
            ("cuDestroyExternalMemory", &[memory], INVALID_HANDLE),
            // A buffer outlives the handle.
            ("cuMemsetD8_v2", &[buffer, 8, 16], OK),
            ("cuMemFree_v2", &[buffer], OK),
            ("cuMemFree_v2", &[buffer], INVALID_VALUE),
        ]);
    });
}

#[test]
fn images_in_memory_files_are_mapped() {
    isolated("external::images_in_memory_files_are_mapped", &[("ANYWARP_ENGINE", "interpreter")], || {
        let cuda = crate::by_name::Library::start();
        let fd = file(1 << 20);
        let kept = again(fd);
        let memory = cuda.made("cuImportExternalMemory", &[at(&mut memory_of(1, fd, 1 << 20))]);
        // `CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC`: offset, extent, format and channels, flags, levels.
        let image = |offset: u64, [width, height, depth]: [u64; 3], flags: u64, levels: u64| {
            [offset, width, height, depth, 0x03 | 1 << 32, flags, levels, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        };
        let name = "cuExternalMemoryGetMappedMipmappedArray";
        const OFFSET: u64 = 4100;
        let mut good = image(OFFSET, [60, 30, 2], 1, 3);
        let mipmap = cuda.made(name, &[memory, at(&mut good)]);
        let mut out = 0u64;
        for (what, mut wrong) in [
            ("no levels", image(0, [60, 30, 2], 1, 0)),
            ("too many levels", image(0, [60, 30, 2], 1, 7)),
            ("a shape without width", image(0, [0, 30, 2], 1, 1)),
            ("more than the memory", image(0, [1024, 257, 0], 0, 1)),
            ("beyond the end", image((1 << 20) - 64 * 4 + 4, [64, 1, 0], 0, 1)),
            ("an offset that wraps", image(u64::MAX - 3, [64, 1, 0], 0, 1)),
            ("a sparse image", image(0, [256, 256, 0], 0x40, 1)),
            ("a deferred image", image(0, [256, 256, 0], 0x80, 1)),
            ("an unknown flag", image(0, [64, 64, 0], 0x400, 1)),
        ] {
            assert_eq!(cuda.call(name, &[at(&mut out), memory, at(&mut wrong)]), INVALID_VALUE, "{what}");
        }
        let mut reserved = good;
        reserved[12] = 1;
        cuda.rows(&[
            (name, &[at(&mut out), memory, at(&mut reserved)], INVALID_VALUE),
            (name, &[at(&mut out), memory, 0], INVALID_VALUE),
            (name, &[0, memory, at(&mut good)], INVALID_VALUE),
            (name, &[at(&mut out), 0, at(&mut good)], INVALID_VALUE),
            (name, &[at(&mut out), memory + 8, at(&mut good)], INVALID_HANDLE),
            ("cuDestroyExternalMemory", &[memory], OK),
            (name, &[at(&mut out), memory, at(&mut good)], INVALID_HANDLE),
        ]);
        // The levels follow one another in the file, rows and layers without gaps.
        let mut start = OFFSET;
        for (level, [width, height]) in [[60u64, 30], [30, 15], [15, 7]].into_iter().enumerate() {
            let array = cuda.made("cuMipmappedArrayGetLevel", &[mipmap, level as u64]);
            let size = width * height * 2 * 4;
            let mut values: Vec<u32> = (0..(size / 4) as u32).map(|i| i + (level as u32) * 10_000).collect();
            let bytes = values.iter().flat_map(|v| v.to_ne_bytes()).collect::<Vec<u8>>();
            if level == 1 {
                // Written by another, read through the array.
                // SAFETY: a buffer of that many bytes.
                let written = unsafe { libc::pwrite(kept, bytes.as_ptr().cast(), bytes.len(), start as i64) };
                assert_eq!(written as u64, size);
                values.fill(0);
            }
            let host = [0, 0, 0, 0, 1, values.as_mut_ptr() as u64, 0, 0, 0, width * 4, height];
            let side = [0, 0, 0, 0, 3, 0, 0, array, 0, 0, 0];
            let (from, to) = if level == 1 { (side, host) } else { (host, side) };
            let mut copy = [&from[..], &to, &[width * 4, height, 2]].concat();
            cuda.ok("cuMemcpy3D_v2", &[copy.as_mut_ptr() as u64]);
            let mut seen = vec![0u8; size as usize];
            // SAFETY: as above.
            let read = unsafe { libc::pread(kept, seen.as_mut_ptr().cast(), seen.len(), start as i64) };
            assert_eq!(read as u64, size);
            assert!(seen == bytes, "level {level}");
            let back: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
            assert!(back == bytes, "level {level}");
            start += size;
        }
        // A file that another truncates: the copy fails, the process goes on.
        let array = cuda.made("cuMipmappedArrayGetLevel", &[mipmap, 0]);
        // SAFETY: an open descriptor.
        assert_eq!(unsafe { libc::ftruncate(kept, 0) }, 0);
        let mut values = vec![0u32; 60];
        let host = [0, 0, 0, 0, 1, values.as_mut_ptr() as u64, 0, 0, 0, 240, 1];
        let mut copy = [&[0, 0, 0, 0, 3, 0, 0, array, 0, 0, 0][..], &host, &[240, 1, 1]].concat();
        assert_eq!(cuda.call("cuMemcpy3D_v2", &[copy.as_mut_ptr() as u64]), ILLEGAL_ADDRESS);
    });
}

/// What the runtime reads or writes for a kernel is lost as what the kernel accesses itself.
#[test]
fn kernels_fault_on_images_in_truncated_files() {
    const NAME: &str = "external::kernels_fault_on_images_in_truncated_files";
    const KERNEL: &str = "ANYWARP_TEST_KERNEL";
    const PTX: &str = ".version 7.8\n.target sm_80\n.address_size 64
.visible .entry read(.param .u64 object, .param .u64 out) {
    .reg .b32 %r<6>; .reg .b64 %d<3>;
    ld.param.u64 %d1, [object]; ld.param.u64 %d2, [out]; mov.u32 %r1, %tid.x;
    tex.2d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%d1, {%r1, %r1}]; st.global.u32 [%d2], %r2; ret;
}
.visible .entry write(.param .u64 object, .param .u64 out) {
    .reg .b32 %r<3>; .reg .b64 %d<3>;
    ld.param.u64 %d1, [object]; mov.u32 %r1, %tid.x;
    sust.b.2d.b32.trap [%d1, {0, %r1}], {%r1}; ret;
}";
    for engine in ["compiled", "interpreter"] {
        for kernel in ["read", "write"] {
            isolated(NAME, &[("ANYWARP_ENGINE", engine), (KERNEL, kernel)], || {
                let kernel = std::env::var(KERNEL).expect("a kernel");
                let cuda = crate::by_name::Library::start();
                let fd = file(1 << 20);
                let kept = again(fd);
                let memory = cuda.made("cuImportExternalMemory", &[at(&mut memory_of(1, fd, 1 << 20))]);
                // 64 x 64 32-bit integers, also for surfaces.
                let mut image = [0u64, 64, 64, 0, 0x03 | 1 << 32, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
                let name = "cuExternalMemoryGetMappedMipmappedArray";
                let mipmap = cuda.made(name, &[memory, at(&mut image)]);
                let array = cuda.made("cuMipmappedArrayGetLevel", &[mipmap, 0]);
                let out = cuda.made("cuMemAlloc_v2", &[64]);
                // `CUDA_RESOURCE_DESC`: an array; `CUDA_TEXTURE_DESC`: read as integers.
                let (mut resource, mut texture) = ([0u64; 18], [0u64; 13]);
                (resource[1], texture[2]) = (array, 1);
                let mut object = match &*kernel {
                    "read" => cuda.made("cuTexObjectCreate", &[at(&mut resource), at(&mut texture), 0]),
                    _ => cuda.made("cuSurfObjectCreate", &[at(&mut resource)]),
                };
                let text = std::ffi::CString::new(PTX).expect("no NUL");
                let name = std::ffi::CString::new(kernel).expect("no NUL");
                let module = cuda.made("cuModuleLoadData", &[text.as_ptr() as u64]);
                let function = cuda.made("cuModuleGetFunction", &[module, name.as_ptr() as u64]);
                let mut out = out;
                let mut values = [at(&mut object), at(&mut out)];
                let mut launch = || {
                    cuda.ok("cuLaunchKernel", &[function, 1, 1, 1, 64, 1, 1, 0, 0, at(&mut values), 0]);
                    cuda.call("cuCtxSynchronize", &[])
                };
                assert_eq!(launch(), OK);
                // SAFETY: an open descriptor.
                assert_eq!(unsafe { libc::ftruncate(kept, 0) }, 0);
                assert_eq!(launch(), ILLEGAL_ADDRESS);
                cuda.rows(&[("cuCtxSynchronize", &[], ILLEGAL_ADDRESS)]);
            });
        }
    }
}

#[test]
fn semaphores_order_streams() {
    isolated("external::semaphores_order_streams", &[], || {
        let cuda = crate::by_name::Library::start();
        // SAFETY: the descriptor is new.
        let event = unsafe { libc::eventfd(0, 0) };
        let timeline = file(4096);
        let (mut binary, mut counter) = (semaphore_of(1, again(event)), semaphore_of(9, again(timeline)));
        let first = cuda.made("cuImportExternalSemaphore", &[at(&mut binary)]);
        let second = cuda.made("cuImportExternalSemaphore", &[at(&mut counter)]);
        let (waits, signals) = (cuda.made("cuStreamCreate", &[1]), cuda.made("cuStreamCreate", &[1]));
        let (mut both, mut uses) = ([first, second], [[0u64; 18]; 2]);
        uses[1][0] = 5;
        let (list, asked) = (at(&mut both), at(&mut uses));
        let (wait, signal) = ("cuWaitExternalSemaphoresAsync", "cuSignalExternalSemaphoresAsync");
        cuda.rows(&[
            (wait, &[list, asked, 2, waits], OK),
            (signal, &[list, asked, 1, signals], OK),
            ("cuStreamSynchronize", &[signals], OK),
            ("cuStreamQuery", &[waits], 600),
            (signal, &[list + 8, asked + 144, 1, signals], OK),
            ("cuStreamSynchronize", &[waits], OK),
        ]);
        // The other side's signals: the eventfd, and the value in the file.
        cuda.ok(wait, &[list, asked, 1, waits]);
        // SAFETY: eight bytes.
        assert_eq!(unsafe { libc::write(event, (&raw const uses[1][0]).cast(), 8) }, 8);
        cuda.ok("cuStreamSynchronize", &[waits]);
        let mut value = 0u64;
        // SAFETY: eight bytes.
        assert_eq!(unsafe { libc::pread(timeline, (&raw mut value).cast(), 8, 0) }, 8);
        assert_eq!(value, 5);
        let (mut out, mut dead, mut flagged) = (0u64, [second], [[0u64; 18]; 1]);
        flagged[0][9] = 1;
        let (mut no_event, mut d3d) = (semaphore_of(1, timeline), semaphore_of(4, event));
        cuda.rows(&[
            (wait, &[0, asked, 1, waits], INVALID_VALUE),
            (wait, &[list, 0, 1, waits], INVALID_VALUE),
            (wait, &[list, asked, 0, waits], INVALID_VALUE),
            (wait, &[list, at(&mut flagged), 1, waits], INVALID_VALUE),
            (signal, &[list, asked, 1, 0x1234_5678], INVALID_HANDLE),
            ("cuImportExternalSemaphore", &[at(&mut out), at(&mut no_event)], UNKNOWN),
            ("cuImportExternalSemaphore", &[at(&mut out), at(&mut d3d)], NOT_SUPPORTED),
            ("cuImportExternalSemaphore", &[0, at(&mut d3d)], INVALID_VALUE),
            ("cuDestroyExternalSemaphore", &[second], OK),
            ("cuDestroyExternalSemaphore", &[second], INVALID_HANDLE),
            (signal, &[at(&mut dead), asked, 1, signals], INVALID_HANDLE),
        ]);
    });
}

/// What is done with the memory or the semaphore after their files are truncated.
/// A stream that waits without a thread is told as well: of memory that is gone when it begins to wait, and
/// of memory that goes while it waits.
#[test]
fn streams_that_are_parked_lose_truncated_files() {
    isolated("external::streams_that_are_parked_lose_truncated_files", &[], || {
        let cuda = crate::by_name::Library::start();
        for first in [true, false] {
            let fd = file(1 << 20);
            let kept = again(fd);
            let mut of = memory_of(1, fd, 1 << 20);
            let memory = cuda.made("cuImportExternalMemory", &[at(&mut of)]);
            let mut whole = [0u64, 1 << 20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            let buffer = cuda.made("cuExternalMemoryGetMappedBuffer", &[memory, at(&mut whole)]);
            let word = cuda.made("cuMemAlloc_v2", &[64]);
            cuda.ok("cuMemsetD32_v2", &[word, 0, 1]);
            let wait = |word: u64| {
                let stream = cuda.made("cuStreamCreate", &[1]);
                cuda.ok("cuStreamWaitValue32_v2", &[stream, word, 1, 0]);
                stream
            };
            // More than hold a thread.
            let crowd: Vec<u64> = (0..80).map(|_| wait(word)).collect();
            std::thread::sleep(std::time::Duration::from_millis(50));
            // SAFETY: an open descriptor.
            let truncate = || assert_eq!(unsafe { libc::ftruncate(kept, 0) }, 0);
            if first {
                truncate();
            }
            let waiting = wait(buffer);
            if !first {
                std::thread::sleep(std::time::Duration::from_millis(50));
                truncate();
            }
            const NOT_READY: u32 = 600;
            let answer = (0..10_000).map(|_| {
                std::thread::sleep(std::time::Duration::from_millis(1));
                cuda.call("cuStreamQuery", &[waiting])
            });
            assert_eq!(answer.into_iter().find(|answer| *answer != NOT_READY), Some(ILLEGAL_ADDRESS));
            assert_eq!(cuda.call("cuStreamSynchronize", &[crowd[0]]), ILLEGAL_ADDRESS);
            cuda.ok("cuDevicePrimaryCtxReset_v2", &[0]);
            cuda.primary();
        }
    });
}

type Use = fn(&crate::by_name::Library, memory: u64, semaphore: u64, stream: u64);

#[test]
fn truncated_files_are_faults_of_the_context() {
    const NAME: &str = "external::truncated_files_are_faults_of_the_context";
    const LOST: u32 = 700;
    // The number of a case, for the child that runs it.
    const CASE: &str = "ANYWARP_TEST_CASE";
    let cases: &[Use] = &[
        |cuda, memory, _, _| {
            let mut to = [0u64; 8];
            assert_eq!(cuda.call("cuMemcpyDtoH_v2", &[at(&mut to), memory, 64]), LOST);
        },
        |cuda, memory, _, stream| cuda.ok("cuMemsetD8Async", &[memory, 1, 1 << 19, stream]),
        |cuda, memory, _, stream| cuda.ok("cuStreamWriteValue32_v2", &[stream, memory, 1, 0]),
        |cuda, memory, _, stream| cuda.ok("cuStreamWaitValue32_v2", &[stream, memory, 1, 0]),
        |cuda, _, mut semaphore, stream| {
            let mut value = [1u64; 18];
            value[9] = 0;
            cuda.ok("cuSignalExternalSemaphoresAsync", &[at(&mut semaphore), at(&mut value), 1, stream]);
        },
        |cuda, _, mut semaphore, stream| {
            let mut value = [1u64; 18];
            value[9] = 0;
            cuda.ok("cuWaitExternalSemaphoresAsync", &[at(&mut semaphore), at(&mut value), 1, stream]);
        },
        |cuda, memory, _, stream| {
            let graph = cuda.made("cuGraphCreate", &[0]);
            let mut fill = [memory, 0, 1 | 1 << 32, 4096, 1];
            let (mut node, context) = (0u64, cuda.made("cuCtxGetCurrent", &[]));
            cuda.ok("cuGraphAddMemsetNode", &[at(&mut node), graph, 0, 0, at(&mut fill), context]);
            let exec = cuda.made("cuGraphInstantiateWithFlags", &[graph, 0]);
            cuda.ok("cuGraphLaunch", &[exec, stream]);
        },
    ];
    let own = std::env::var(CASE).ok().and_then(|number| number.parse::<usize>().ok());
    for (number, case) in cases.iter().enumerate() {
        isolated(NAME, &[(CASE, &number.to_string())], || {
            let case = own.and_then(|number| cases.get(number)).unwrap_or(case);
            let cuda = crate::by_name::Library::start();
            let (fd, other) = (file(1 << 20), file(4096));
            let kept = [again(fd), again(other)];
            let mut of = memory_of(1, fd, 1 << 20);
            let memory = cuda.made("cuImportExternalMemory", &[at(&mut of)]);
            let mut whole = [0u64, 1 << 20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            let buffer = cuda.made("cuExternalMemoryGetMappedBuffer", &[memory, at(&mut whole)]);
            let mut of = semaphore_of(9, other);
            let semaphore = cuda.made("cuImportExternalSemaphore", &[at(&mut of)]);
            let stream = cuda.made("cuStreamCreate", &[1]);
            for fd in kept {
                // SAFETY: an open descriptor.
                assert_eq!(unsafe { libc::ftruncate(fd, 0) }, 0);
            }
            case(&cuda, buffer, semaphore, stream);
            cuda.rows(&[
                ("cuStreamSynchronize", &[stream], LOST),
                ("cuCtxSynchronize", &[], LOST),
                ("cuDevicePrimaryCtxReset_v2", &[0], OK),
            ]);
            // Another context works.
            cuda.primary();
            let memory = cuda.made("cuMemAlloc_v2", &[64]);
            cuda.rows(&[("cuMemsetD8_v2", &[memory, 1, 64], OK), ("cuCtxSynchronize", &[], OK)]);
        });
    }
}
