//! Copies with attributes, batches of them and of prefetches, waiting for words by the names of before CUDA
//! 12, and questions that need no more than their arguments. The answers are the manual's.

use crate::by_name::status::{INVALID_DEVICE, INVALID_HANDLE, INVALID_VALUE, NOT_SUPPORTED, OK};
use crate::by_name::{Library, at, isolated};

/// `CUmemcpy3DOperand`: an address, the length of rows, the height of layers and a location, or an array and
/// three offsets.
#[repr(C)]
#[derive(Clone, Copy)]
struct Operand(u32, [u64; 4]);

/// `CUDA_MEMCPY3D_BATCH_OP`.
#[repr(C)]
#[derive(Clone, Copy)]
struct VolumeCopy(Operand, Operand, [usize; 3], u32, u32);

const POINTER: u32 = 1;
const ARRAY: u32 = 2;

#[test]
fn volumes_are_copied_in_batches() {
    isolated("batches::volumes_are_copied_in_batches", &[], || {
        let cuda = Library::start();
        assert_eq!(size_of::<VolumeCopy>(), 112);
        let stream = cuda.made("cuStreamCreate", &[1]);
        let words: Vec<u32> = (0..256).collect();
        let (memory, other) = (cuda.made("cuMemAlloc_v2", &[1024]), cuda.made("cuMemAlloc_v2", &[1024]));
        cuda.write(memory, &words);
        // 8 by 4 by 2 elements of two 32-bit channels.
        let mut shape: [u64; 5] = [8, 4, 2, 0x2_0000_0003, 0];
        let array = cuda.made("cuArray3DCreate_v2", &[at(&mut shape)]);
        let pointer = |address: u64, row: u64, height: u64| Operand(POINTER, [address, row, height, 0]);
        let good = [
            // The whole array, then a part of it: elements of 8 bytes.
            VolumeCopy(pointer(memory, 8, 4), Operand(ARRAY, [array, 0, 0, 0]), [8, 4, 2], 1, 0),
            VolumeCopy(Operand(ARRAY, [array, 2, 1, 1]), pointer(other, 4, 3), [3, 2, 1], 3, 1),
            // Between pointers, elements are bytes, and rows of length 0 are tight.
            VolumeCopy(pointer(memory, 64, 2), pointer(other + 512, 0, 0), [16, 2, 2], 2, 0),
        ];
        for (name, failed) in
            [("cuMemcpy3DBatchAsync", true), ("cuMemcpy3DBatchAsync_v2", false), ("each", false)]
        {
            cuda.ok("cuMemsetD8_v2", &[other, 0xff, 1024]);
            let (mut list, mut index) = (good, 0u64);
            let wrong = |cuda: Library, list: &mut [VolumeCopy; 3], count: u64, flags: u64, stream: u64| {
                let mut index = 0u64;
                let list = list.as_mut_ptr() as u64;
                match name {
                    "each" => (cuda.call("cuMemcpy3DWithAttributesAsync", &[list, flags, stream]), 0),
                    _ if failed => (cuda.call(name, &[count, list, at(&mut index), flags, stream]), index),
                    _ => (cuda.call(name, &[count, list, flags, stream]), 0),
                }
            };
            let first = list.as_mut_ptr() as u64;
            match name {
                "each" => (0..3).for_each(|i| {
                    cuda.ok("cuMemcpy3DWithAttributesAsync", &[first + 112 * i, 0, stream]);
                }),
                _ if failed => cuda.ok(name, &[3, first, at(&mut index), 0, stream]),
                _ => cuda.ok(name, &[3, first, 0, stream]),
            }
            cuda.ok("cuStreamSynchronize", &[stream]);
            // Element (x, y, z) of the array holds the words 2 (x + 8 y + 32 z) and the next.
            let got = cuda.read::<u32, 14>(other);
            let row = |y: u32| (0..6).map(move |i| 2 * (2 + 8 * y + 32) + i).collect::<Vec<u32>>();
            assert_eq!((&got[..6], &got[8..14]), (&row(1)[..], &row(2)[..]), "{name}");
            assert_eq!((got[6], got[7]), (u32::MAX, u32::MAX), "{name}");
            let tight: Vec<u32> = [0u32, 16, 32, 48].iter().flat_map(|n| *n..n + 4).collect();
            assert_eq!(cuda.read::<u32, 16>(other + 512)[..], tight[..], "{name}");

            let changed = |change: &dyn Fn(&mut VolumeCopy)| {
                let mut list = good;
                let i = if name == "each" { 0 } else { 1 };
                list[i] = good[1];
                change(&mut list[i]);
                list
            };
            let changes: [&dyn Fn(&mut VolumeCopy); 9] = [
                &|c| c.0.0 = 3,
                &|c| c.0.1[0] = 0x1234,
                &|c| c.0.1[1] = 6,
                &|c| c.1.1[1] = 2,
                &|c| c.1.1[2] = 1,
                &|c| c.2[1] = 0,
                &|c| c.3 = 0,
                &|c| c.3 = 4,
                &|c| c.4 = 2,
            ];
            for (i, change) in changes.iter().enumerate() {
                let answer = wrong(cuda, &mut changed(change), 3, 0, stream);
                assert_eq!(answer, (INVALID_VALUE, u64::from(failed)), "{name}: change {i}");
            }
            assert_eq!(wrong(cuda, &mut list, 3, 1, stream).0, INVALID_VALUE, "{name}: flags");
            if name != "each" {
                assert_eq!(wrong(cuda, &mut list, 0, 0, stream).0, INVALID_VALUE, "{name}: none");
                assert_eq!(wrong(cuda, &mut list, 3, 0, 0).0, INVALID_VALUE, "{name}: the default stream");
            }
            let dead = cuda.made("cuStreamCreate", &[1]);
            cuda.ok("cuStreamDestroy_v2", &[dead]);
            assert_eq!(wrong(cuda, &mut list, 3, 0, dead).0, INVALID_HANDLE, "{name}: a dead stream");
        }
    });
}

#[test]
fn copies_have_attributes() {
    isolated("batches::copies_have_attributes", &[], || {
        let cuda = Library::start();
        let (a, b) = (cuda.made("cuMemAlloc_v2", &[64]), cuda.made("cuMemAlloc_v2", &[64]));
        cuda.write(a, &[5u32; 16]);
        let (mut good, mut order, mut flags) =
            ([1u32, 0, 0, 0, 0, 1], [4u32, 0, 0, 0, 0, 0], [1u32, 0, 0, 0, 0, 2]);
        let name = "cuMemcpyWithAttributesAsync";
        cuda.rows(&[
            (name, &[b, a, 64, at(&mut good), 0], OK),
            (name, &[b, a, 64, 0, 0], INVALID_VALUE),
            (name, &[b, a, 64, at(&mut order), 0], INVALID_VALUE),
            (name, &[b, a, 64, at(&mut flags), 0], INVALID_VALUE),
            (name, &[b, a, 65, at(&mut good), 0], INVALID_VALUE),
            (name, &[b, a, 64, at(&mut good), 0x1234_5678], INVALID_HANDLE),
            ("cuMemcpyWithAttributesAsync_ptsz", &[b, a, 64, at(&mut good), 0], OK),
        ]);
        assert_eq!(cuda.read::<u32, 16>(b), [5; 16]);
    });
}

#[test]
fn managed_memory_is_prefetched_in_batches() {
    isolated("batches::managed_memory_is_prefetched_in_batches", &[], || {
        let cuda = Library::start();
        let stream = cuda.made("cuStreamCreate", &[1]);
        let managed: Vec<u64> = (0..3).map(|_| cuda.made("cuMemAllocManaged", &[4096, 1])).collect();
        let device = cuda.made("cuMemAlloc_v2", &[4096]);
        let (mut list, mut sizes) = ([managed[0], managed[1], managed[2]], [4096u64; 3]);
        // The host, then the device.
        let (mut places, mut first) = ([2u64 | 0xffff_ffff << 32, 1], [0u64, 2]);
        let location = |address: u64| {
            let mut got = 0i32;
            cuda.ok("cuMemRangeGetAttribute", &[at(&mut got), 4, 4, address, 4096]);
            got
        };
        for name in ["cuMemPrefetchBatchAsync", "cuMemDiscardAndPrefetchBatchAsync"] {
            let call = |count: u64, kinds: u64, flags: u64, stream: u64| {
                let (list, sizes) = (list.as_ptr() as u64, sizes.as_ptr() as u64);
                let (places, first) = (places.as_ptr() as u64, first.as_ptr() as u64);
                cuda.call(name, &[list, sizes, count, places, first, kinds, flags, stream])
            };
            assert_eq!(call(3, 2, 0, stream), OK, "{name}");
            assert_eq!(list.map(location), [-1, -1, 0], "{name}");
            assert_eq!(call(3, 1, 0, stream), OK, "{name}");
            assert_eq!(list.map(location), [-1, -1, -1], "{name}");
            for (count, kinds, flags, on) in [
                (0, 1, 0, stream),
                (3, 0, 0, stream),
                (1, 2, 0, stream),
                (3, 2, 1, stream),
                (3, 2, 0, 0),
                (2, 2, 0, stream),
            ] {
                assert_eq!(
                    call(count, kinds, flags, on),
                    INVALID_VALUE,
                    "{name} {count} {kinds} {flags} {on}"
                );
            }
            assert_eq!(call(3, 2, 0, 0x1234_5678), INVALID_HANDLE, "{name}");
            let (list, sizes, places, first) =
                (at(&mut list), at(&mut sizes), at(&mut places), at(&mut first));
            cuda.rows(&[
                (name, &[0, sizes, 3, places, first, 2, 0, stream], INVALID_VALUE),
                (name, &[list, 0, 3, places, first, 2, 0, stream], INVALID_VALUE),
                (name, &[list, sizes, 3, 0, first, 2, 0, stream], INVALID_VALUE),
                (name, &[list, sizes, 3, places, 0, 2, 0, stream], INVALID_VALUE),
            ]);
        }
        let (mut unordered, mut nowhere, mut bad) =
            ([0u64, 0], [1u64 | 99 << 32, 1], [managed[0], device, managed[1]]);
        let (list, sizes, places) = (at(&mut list), at(&mut sizes), at(&mut places));
        let name = "cuMemPrefetchBatchAsync";
        cuda.rows(&[
            (name, &[list, sizes, 3, places, at(&mut unordered), 2, 0, stream], INVALID_VALUE),
            (name, &[list, sizes, 3, at(&mut nowhere), at(&mut first), 2, 0, stream], INVALID_VALUE),
            (name, &[at(&mut bad), sizes, 3, places, at(&mut first), 2, 0, stream], INVALID_VALUE),
            ("cuMemDiscardBatchAsync", &[list, sizes, 3, 0, stream], OK),
            ("cuMemDiscardBatchAsync", &[at(&mut bad), sizes, 3, 0, stream], INVALID_VALUE),
            ("cuMemDiscardBatchAsync", &[list, sizes, 3, 1, stream], INVALID_VALUE),
            ("cuMemDiscardBatchAsync", &[list, sizes, 0, 0, stream], INVALID_VALUE),
            ("cuMemDiscardBatchAsync", &[list, sizes, 3, 0, 1], INVALID_VALUE),
            ("cuMemDiscardBatchAsync_ptsz", &[list, sizes, 3, 0, 0], OK),
        ]);
    });
}

/// `CUmemPoolProps`.
fn properties(kind: u64, location: u64, id: u64) -> [u64; 11] {
    [kind, location | id << 32, 0, 0, 0, 0, 0, 0, 0, 0, 0]
}

/// Which pools there are as recorded on an H100; the rest as the manual says.
#[test]
fn pools_have_managed_memory() {
    isolated("batches::pools_have_managed_memory", &[("ANYWARP_DEVICES", "2")], || {
        let cuda = Library::start();
        let mut pool = 0u64;
        for (kind, location, status) in [
            (1u64, 0u64, INVALID_VALUE),
            (2, 0, OK),
            (1, 1, OK),
            (2, 1, OK),
            (1, 2, OK),
            (2, 2, OK),
            (3, 1, INVALID_VALUE),
        ] {
            let mut place = location;
            let mut asked = properties(kind, location, 0);
            for name in ["cuMemGetMemPool", "cuMemGetDefaultMemPool"] {
                let arguments = [at(&mut pool), at(&mut place), kind];
                assert_eq!(cuda.call(name, &arguments), status, "{name} {kind} {location}");
            }
            assert_eq!(
                cuda.call("cuMemPoolCreate", &[at(&mut pool), at(&mut asked)]),
                status,
                "{kind} {location}"
            );
        }
        let (mut managed, mut nowhere, mut first, mut second) =
            (properties(2, 0, 0), 0u64, 1u64, 1u64 | 1 << 32);
        let made = cuda.made("cuMemPoolCreate", &[at(&mut managed)]);
        let memory = cuda.made("cuMemAllocFromPoolAsync", &[4096, made, 0]);
        let mut is_managed = 9u8;
        cuda.rows(&[
            ("cuPointerGetAttribute", &[at(&mut is_managed), 8, memory], OK),
            ("cuMemSetMemPool", &[at(&mut nowhere), 2, made], OK),
            ("cuMemGetMemPool", &[at(&mut pool), at(&mut nowhere), 2], OK),
            ("cuDeviceSetMemPool", &[0, made], INVALID_VALUE),
        ]);
        assert_eq!((is_managed, pool), (1, made));
        // The host reads and writes it.
        cuda.rows(&[("cuMemsetD32_v2", &[memory, 5, 4], OK), ("cuCtxSynchronize", &[], OK)]);
        // SAFETY: managed memory is the program's to read.
        assert_eq!(unsafe { *(memory as *const u32) }, 5);
        cuda.rows(&[("cuMemFreeAsync", &[memory, 0], OK), ("cuMemPoolDestroy", &[made], OK)]);
        cuda.ok("cuMemGetMemPool", &[at(&mut pool), at(&mut nowhere), 2]);
        assert_ne!(pool, made);
        // Peers have no access at first.
        let mut pinned = properties(1, 1, 0);
        let own = cuda.made("cuMemPoolCreate", &[at(&mut pinned)]);
        let access = |place: &mut u64| {
            let mut flags = 9u32;
            cuda.ok("cuMemPoolGetAccess", &[at(&mut flags), own, at(place)]);
            flags
        };
        assert_eq!((access(&mut first), access(&mut second)), (3, 0));
        for flags in [3u32, 0] {
            let mut description = [1u32, 1, flags];
            cuda.ok("cuMemPoolSetAccess", &[own, at(&mut description), 1]);
            assert_eq!(access(&mut second), flags);
        }
    });
}

#[test]
fn words_are_waited_for_by_their_old_names() {
    isolated("batches::words_are_waited_for_by_their_old_names", &[], || {
        let cuda = Library::start();
        let word = cuda.made("cuMemAlloc_v2", &[64]);
        let (waits, writes) = (cuda.made("cuStreamCreate", &[1]), cuda.made("cuStreamCreate", &[1]));
        cuda.rows(&[
            ("cuMemsetD8_v2", &[word, 0, 64], OK),
            ("cuStreamWaitValue32", &[waits, word, 7, 1], OK),
            ("cuStreamWaitValue64", &[waits, word + 8, 1 << 40, 0], OK),
            ("cuStreamWriteValue32", &[waits, word + 16, 1, 0], OK),
            ("cuStreamQuery", &[waits], 600),
            ("cuStreamWriteValue64", &[writes, word + 8, 1 << 40, 0], OK),
            ("cuStreamWriteValue32", &[writes, word, 7, 0], OK),
            ("cuStreamSynchronize", &[waits], OK),
            ("cuStreamWaitValue32", &[waits, word + 2, 7, 1], INVALID_VALUE),
            ("cuStreamWaitValue32", &[waits, word, 7, 4], INVALID_VALUE),
            ("cuStreamWriteValue64", &[writes, word + 4, 7, 0], INVALID_VALUE),
            ("cuStreamWriteValue32", &[writes, word, 7, 1], INVALID_VALUE),
            ("cuStreamWriteValue32", &[writes, 64, 7, 0], INVALID_VALUE),
            ("cuStreamWriteValue32", &[writes + 1, word, 7, 0], INVALID_HANDLE),
        ]);
        assert_eq!(cuda.read::<u32, 1>(word + 16), [1]);
        let mut list = [[2u64, word, 9, 0, 0, 0], [5, word + 8, 10, 0, 0, 0]];
        cuda.rows(&[
            ("cuStreamBatchMemOp", &[writes, 2, at(&mut list), 0], OK),
            ("cuStreamBatchMemOp", &[writes, 2, 0, 0], INVALID_VALUE),
            ("cuStreamBatchMemOp", &[writes, 2, at(&mut list), 1], INVALID_VALUE),
            ("cuStreamBatchMemOp_ptsz", &[0, 2, at(&mut list), 0], OK),
            ("cuCtxSynchronize", &[], OK),
        ]);
        assert_eq!((cuda.read::<u32, 1>(word), cuda.read::<u64, 1>(word + 8)), ([9], [10]));
        let mut supported = [0u32; 3];
        for (value, number) in supported.iter_mut().zip(92u64..) {
            cuda.ok("cuDeviceGetAttribute", &[at(value), number, 0]);
        }
        assert_eq!(supported, [1; 3]);
    });
}

#[test]
fn what_devices_lack_is_refused() {
    isolated("batches::what_devices_lack_is_refused", &[("ANYWARP_DEVICES", "2")], || {
        let cuda = Library::start();
        let (mut shape, mut out) = ([8u64, 8, 0, 0x1_0000_0020, 0], [0u64; 16]);
        let array = cuda.made("cuArray3DCreate_v2", &[at(&mut shape)]);
        let mipmap = cuda.made("cuMipmappedArrayCreate", &[at(&mut shape), 2]);
        let out = at(&mut out);
        let mut mapping = [0u64, array, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0];
        let mut garbage = [7u64, array, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0];
        let mut dead = [1u64, 0x1234, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0];
        let mut unpack = [64u64, 64, 0, 0, 0, 1, 0, 0];
        cuda.rows(&[
            ("cuArrayGetSparseProperties", &[out, array], INVALID_VALUE),
            ("cuArrayGetSparseProperties", &[0, array], INVALID_VALUE),
            ("cuArrayGetSparseProperties", &[out, 0], INVALID_VALUE),
            ("cuMipmappedArrayGetSparseProperties", &[out, mipmap], INVALID_VALUE),
            ("cuMipmappedArrayGetSparseProperties", &[out, array], INVALID_HANDLE),
            ("cuMipmappedArrayGetMemoryRequirements", &[out, mipmap, 0], INVALID_VALUE),
            ("cuMipmappedArrayGetMemoryRequirements", &[out, mipmap, 9], INVALID_VALUE),
            ("cuMipmappedArrayGetMemoryRequirements", &[out, 0, 0], INVALID_VALUE),
            ("cuMemMapArrayAsync", &[at(&mut mapping), 1, 0], INVALID_VALUE),
            ("cuMemMapArrayAsync", &[at(&mut garbage), 1, 0], INVALID_VALUE),
            ("cuMemMapArrayAsync", &[at(&mut dead), 1, 0], INVALID_HANDLE),
            ("cuMemMapArrayAsync", &[0, 1, 0], INVALID_VALUE),
            ("cuMemMapArrayAsync", &[0, 0, 0], INVALID_VALUE),
            ("cuMemBatchDecompressAsync", &[at(&mut unpack), 1, 0, 0, 0], NOT_SUPPORTED),
            ("cuMemBatchDecompressAsync", &[0, 1, 0, 0, 0], NOT_SUPPORTED),
            ("cuMemBatchDecompressAsync", &[at(&mut unpack), 0, 0, 0, 0], NOT_SUPPORTED),
            ("cuMemBatchDecompressAsync", &[at(&mut unpack), 1, 1, 0, 0], NOT_SUPPORTED),
            ("cuProfilerInitialize", &[0, 0, 0], NOT_SUPPORTED),
        ]);
        let (mut operations, mut bits) = ([0u32, 4, 9, 12], [u32::MAX; 5]);
        let (list, capabilities) = (at(&mut operations), at(&mut bits));
        let mut unknown = 13u32;
        for (name, devices) in [
            ("cuDeviceGetP2PAtomicCapabilities", &[0u64, 1][..]),
            ("cuDeviceGetHostAtomicCapabilities", &[0]),
        ] {
            let call = |given: [u64; 3], status: u32| {
                assert_eq!(cuda.call(name, &[&given[..], devices].concat()), status, "{name}{given:x?}");
            };
            call([capabilities, list, 4], OK);
            call([0, list, 4], INVALID_VALUE);
            call([capabilities, 0, 4], INVALID_VALUE);
            call([capabilities, list, 0], INVALID_VALUE);
            call([capabilities, at(&mut unknown), 1], INVALID_VALUE);
        }
        assert_eq!(bits, [0b1_1111, 0b1110, 0b11_1010, 0, u32::MAX]);
        let name = "cuDeviceGetP2PAtomicCapabilities";
        cuda.rows(&[
            (name, &[capabilities, list, 4, 0, 0], INVALID_DEVICE),
            (name, &[capabilities, list, 4, 0, 2], INVALID_DEVICE),
        ]);
    });
}

/// The recorded driver knows no release after 13.0; functions of those are found at their own releases alone.
#[test]
fn later_functions_are_found_at_their_releases() {
    isolated("batches::later_functions_are_found_at_their_releases", &[], || {
        let cuda = Library::start();
        let find = |name: &str, version: u64, flags: u64| {
            let name = std::ffi::CString::new(name).expect("no NUL");
            let (mut found, mut result, mut old) = (0u64, 9u32, 0u64);
            let arguments = [name.as_ptr() as u64, at(&mut found), version, flags, at(&mut result)];
            let status = cuda.call("cuGetProcAddress_v2", &arguments);
            let arguments = [name.as_ptr() as u64, at(&mut old), version, flags];
            assert_eq!(cuda.call("cuGetProcAddress", &arguments) == OK, status == OK && result == 0);
            assert_eq!(old, found);
            (status, result, found)
        };
        let table = include_str!("../../data/later.tsv").lines().filter(|line| !line.starts_with('#'));
        let mut count = 0;
        for row in table.map(|line| line.split('\t').collect::<Vec<_>>()) {
            let (name, version) = (row[0], row[1].parse::<u64>().expect("a number"));
            let (status, result, found) = find(name, version, 0);
            assert!(status == OK && result == 0 && found != 0, "{name}");
            assert_eq!(find(name, 13_020, 1), (OK, 0, found), "{name}");
            assert_ne!(find(name, version - 10, 0).2, found, "{name}");
            count += 1;
        }
        assert_eq!(count, 21);
        let [own, legacy] = [2, 0].map(|flags| find("cuMemcpyWithAttributesAsync", 13_020, flags).2);
        assert!(own != legacy && own != 0);
        assert_eq!(find("cuMemAlloc", 13_020, 0), (INVALID_VALUE, 9, 0));
        assert_eq!(find("cuGraphGetId", 13_000, 0), (OK, 1, 0));
        assert_eq!(find("cuGraphGetId", 13_010, 8), (INVALID_VALUE, 9, 0));
    });
}

#[test]
fn kernels_tell_how_many_parameters_they_have() {
    isolated("batches::kernels_tell_how_many_parameters_they_have", &[], || {
        let cuda = Library::start();
        let text = c".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u32 b) { ret; }\n";
        let module = cuda.made("cuModuleLoadData", &[text.as_ptr() as u64]);
        let function = cuda.made("cuModuleGetFunction", &[module, c"k".as_ptr() as u64]);
        let library = cuda.made("cuLibraryLoadData", &[text.as_ptr() as u64, 0, 0, 0, 0, 0, 0]);
        let kernel = cuda.made("cuLibraryGetKernel", &[library, c"k".as_ptr() as u64]);
        for (name, handle) in [("cuFuncGetParamCount", function), ("cuKernelGetParamCount", kernel)] {
            let mut count = 0u64;
            cuda.rows(&[(name, &[handle, at(&mut count)], OK), (name, &[handle, 0], INVALID_VALUE)]);
            assert_eq!(count, 2);
        }
        let mut count = 0u64;
        cuda.rows(&[
            ("cuFuncGetParamCount", &[0, at(&mut count)], INVALID_VALUE),
            ("cuKernelGetParamCount", &[0, at(&mut count)], INVALID_VALUE),
        ]);
    });
}

extern "C" fn count(data: *mut u32) {
    // SAFETY: the data is the test's variable, which it reads after it has synchronised.
    unsafe { *data += 1 };
}

#[test]
fn host_functions_may_say_how_they_are_waited_for() {
    isolated("batches::host_functions_may_say_how_they_are_waited_for", &[], || {
        let cuda = Library::start();
        let (function, mut calls) = (count as extern "C" fn(*mut u32) as usize as u64, 0u32);
        let data = at(&mut calls);
        cuda.rows(&[
            ("cuLaunchHostFunc_v2", &[0, function, data, 0], OK),
            ("cuLaunchHostFunc_v2", &[0, function, data, 1], OK),
            ("cuLaunchHostFunc_v2", &[0, function, data, 2], INVALID_VALUE),
            ("cuLaunchHostFunc_v2", &[0, 0, data, 0], INVALID_VALUE),
            ("cuLaunchHostFunc_v2_ptsz", &[0, function, data, 0], OK),
            ("cuCtxSynchronize", &[], OK),
        ]);
        assert_eq!(calls, 3);
    });
}

/// Dr.Jit takes 5 channels apart this way: 4 of each texel to the front of a buffer, the other behind them,
/// with a pitch that is shorter than what is skipped.
#[test]
fn whole_rows_of_device_memory_are_skipped_as_bytes() {
    isolated("batches::whole_rows_of_device_memory_are_skipped_as_bytes", &[], || {
        const TEXELS: u64 = 6;
        const DEVICE: u64 = 2;
        const HOST: u64 = 1;
        let cuda = Library::start();
        let mut bytes: Vec<u8> = (0..TEXELS as u8 * 5).collect();
        let packed = cuda.made("cuMemAlloc_v2", &[TEXELS * 5]);
        let staged = cuda.made("cuMemAlloc_v2", &[TEXELS * 5]);
        cuda.ok("cuMemcpyHtoD_v2", &[packed, at(&mut bytes[0]), TEXELS * 5]);
        // `CUDA_MEMCPY2D`: bytes and rows to skip, kind, host, device, array, pitch of either side; the
        // extent.
        let copy = |x: u64, pitch: u64, width: u64| {
            [0, 0, DEVICE, 0, packed, 0, 5, x, 0, DEVICE, 0, staged, 0, pitch, width, TEXELS]
        };
        let (mut first, mut second) = (copy(0, 4, 4), copy(TEXELS * 4, 1, 1));
        second[0] = 4;
        cuda.rows(&[
            ("cuMemcpy2DAsync_v2", &[at(&mut first), 0], OK),
            ("cuMemcpy2DAsync_v2", &[at(&mut second), 0], OK),
            ("cuCtxSynchronize", &[], OK),
        ]);
        let mut back = vec![0u8; bytes.len()];
        cuda.ok("cuMemcpyDtoH_v2", &[at(&mut back[0]), staged, TEXELS * 5]);
        let (texels, others) = back.split_at(TEXELS as usize * 4);
        for (n, texel) in bytes.chunks(5).enumerate() {
            assert_eq!((&texels[n * 4..][..4], others[n]), (&texel[..4], texel[4]), "texel {n}");
        }
        // A part of a row is not skipped into the next one, nothing is written behind the memory, and the
        // rows of the host's memory are not skipped in this way.
        let (mut part, mut behind, mut host) = (copy(2, 4, 3), copy(TEXELS * 4 + 1, 1, 1), copy(0, 4, 4));
        (host[0], host[2], host[3], host[6], host[15]) = (10, HOST, at(&mut bytes[0]), 5, 2);
        for (wrong, told) in [(&mut part, "part"), (&mut behind, "behind"), (&mut host, "host")] {
            println!("{told}");
            cuda.rows(&[("cuMemcpy2D_v2", &[at(wrong)], INVALID_VALUE)]);
        }
    });
}
