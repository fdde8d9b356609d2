//! The functions of before CUDA 3.2, whose addresses and sizes have 32 bits, as CUDA 3.1 declared them.

use crate::by_name::status::{INVALID_HANDLE, INVALID_VALUE, NOT_FOUND, OK, OUT_OF_MEMORY};
use crate::by_name::{Library, at, isolated};

/// Allocates memory with an address of 32 bits.
fn narrow(cuda: Library, size: u32) -> u64 {
    let mut address = [0u32, 0xdead_beef];
    cuda.ok("cuMemAlloc", &[at(&mut address), u64::from(size)]);
    assert!(address[0] != 0 && address[1] == 0xdead_beef, "only 32 bits are written");
    u64::from(address[0])
}

#[test]
fn memory_has_addresses_of_32_bits() {
    isolated("narrow::memory_has_addresses_of_32_bits", &[("ANYWARP_MEMORY", "8G")], || {
        let cuda = Library::start();
        let (a, b) = (narrow(cuda, 4096), narrow(cuda, 3 << 20));
        let words: Vec<u32> = (0..1024).collect();
        let mut back = vec![0u32; 1024];
        let stream = cuda.made("cuStreamCreate", &[1]);
        let (from, to) = (words.as_ptr() as u64, back.as_mut_ptr() as u64);
        cuda.rows(&[
            ("cuMemcpyHtoD", &[a, from, 4096], OK),
            ("cuMemcpyDtoD", &[b, a, 4096], OK),
            ("cuMemcpyDtoH", &[to, b, 4096], OK),
            ("cuMemcpyHtoD", &[a, from, 4097], INVALID_VALUE),
            ("cuMemcpyDtoD", &[b, 16, 4], INVALID_VALUE),
        ]);
        assert_eq!(back, words);
        cuda.rows(&[
            ("cuMemsetD32", &[a, 7, 1024], OK),
            ("cuMemsetD16", &[a, 8, 2], OK),
            ("cuMemsetD8", &[a + 4, 9, 4], OK),
            ("cuMemsetD2D32", &[a + 64, 32, 1, 2, 2], OK),
            ("cuMemsetD2D16", &[a + 128, 32, 2, 2, 2], OK),
            ("cuMemsetD2D8", &[a + 192, 32, 3, 4, 2], OK),
            ("cuMemsetD32", &[a, 7, 1025], INVALID_VALUE),
            ("cuMemcpyDtoDAsync", &[b, a, 4096, stream], OK),
            ("cuMemcpyDtoHAsync", &[to, b, 4096, stream], OK),
            ("cuMemcpyHtoDAsync", &[a, from, 4, stream], OK),
            ("cuStreamSynchronize", &[stream], OK),
        ]);
        assert_eq!((back[0], back[1], back[2]), (0x0008_0008, 0x0909_0909, 7));
        assert_eq!((back[16], back[17], back[24], back[25], back[26]), (1, 1, 1, 1, 7));
        assert_eq!((back[32], back[40], back[48], back[56]), (0x2_0002, 0x2_0002, 0x303_0303, 0x303_0303));

        let (mut base, mut size) = (0u32, 0u32);
        cuda.ok("cuMemGetAddressRange", &[at(&mut base), at(&mut size), b + 100]);
        assert_eq!((u64::from(base), size), (b, 3 << 20));
        // Sizes that do not fit are the largest number, as programs of before CUDA 3.2 saw them.
        let (mut free, mut total) = (0u32, 0u32);
        cuda.ok("cuMemGetInfo", &[at(&mut free), at(&mut total)]);
        cuda.ok("cuDeviceTotalMem", &[at(&mut size), 0]);
        assert_eq!((free, total, size), (u32::MAX, u32::MAX, u32::MAX));
        let (mut pitched, mut pitch) = (0u32, 0u32);
        cuda.ok("cuMemAllocPitch", &[at(&mut pitched), at(&mut pitch), 100, 3, 4]);
        assert_eq!(pitch, 512);
        cuda.rows(&[
            ("cuMemFree", &[u64::from(pitched)], OK),
            ("cuMemFree", &[a], OK),
            ("cuMemFree", &[a], INVALID_VALUE),
            ("cuMemFree", &[b + 4], INVALID_VALUE),
            ("cuMemFree", &[0], OK),
            ("cuMemGetAddressRange", &[at(&mut base), at(&mut size), a], NOT_FOUND),
            ("cuMemAlloc", &[0, 16], INVALID_VALUE),
            ("cuMemAlloc", &[at(&mut base), 0], INVALID_VALUE),
            ("cuMemAllocPitch", &[at(&mut base), 0, 100, 3, 4], INVALID_VALUE),
            ("cuMemAllocPitch", &[at(&mut base), at(&mut pitch), 100, 3, 5], INVALID_VALUE),
        ]);
        // More than the addresses of 32 bits; what was taken before is given back.
        for _ in 0..2 {
            let mut taken = Vec::new();
            let last = loop {
                let mut address = 0u32;
                match cuda.call("cuMemAlloc", &[at(&mut address), 256 << 20]) {
                    OK => taken.push(u64::from(address)),
                    status => break status,
                }
            };
            assert_eq!(last, OUT_OF_MEMORY);
            assert!(taken.len() >= 4, "{} times 256 MiB", taken.len());
            taken.into_iter().for_each(|address| cuda.ok("cuMemFree", &[address]));
        }
    });
}

#[test]
fn page_locked_memory_may_have_no_address_of_32_bits() {
    isolated("narrow::page_locked_memory_may_have_no_address_of_32_bits", &[], || {
        let cuda = Library::start();
        let host = cuda.made("cuMemHostAlloc", &[4096, 0]);
        assert!(host > u64::from(u32::MAX));
        let mut out = 0u32;
        cuda.rows(&[
            ("cuMemHostGetDevicePointer", &[at(&mut out), host, 0], INVALID_VALUE),
            ("cuMemHostGetDevicePointer", &[0, host, 0], INVALID_VALUE),
            ("cuMemHostGetDevicePointer", &[at(&mut out), 64, 0], INVALID_VALUE),
        ]);
    });
}

/// `CUDA_ARRAY3D_DESCRIPTOR_v1`: width, height, depth, format, channels, flags.
const IMAGE: [u32; 6] = [16, 4, 0, 0x20, 1, 0];

#[test]
fn arrays_have_sizes_of_32_bits() {
    isolated("narrow::arrays_have_sizes_of_32_bits", &[], || {
        let cuda = Library::start();
        let [width, height, _, format, channels, _] = IMAGE;
        let mut flat = [width, height, format, channels];
        let mut image = IMAGE;
        let (mut a, mut b) = (0u64, 0u64);
        cuda.ok("cuArrayCreate", &[at(&mut a), at(&mut flat)]);
        cuda.ok("cuArray3DCreate", &[at(&mut b), at(&mut image)]);
        let (mut told, mut told_3d) = ([0u32; 4], [0u32; 6]);
        cuda.ok("cuArrayGetDescriptor", &[at(&mut told), b]);
        cuda.ok("cuArray3DGetDescriptor", &[at(&mut told_3d), a]);
        assert_eq!((told, told_3d), (flat, image));
        let words: Vec<f32> = (0..64).map(|n| n as f32).collect();
        let (mut back, memory) = (vec![0f32; 64], narrow(cuda, 256));
        let (from, to) = (words.as_ptr() as u64, back.as_mut_ptr() as u64);
        cuda.rows(&[
            ("cuMemcpyHtoA", &[a, 0, from, 64], OK),
            ("cuMemcpyAtoA", &[b, 8, a, 4, 16], OK),
            ("cuMemcpyAtoD", &[memory, b, 8, 16], OK),
            ("cuMemcpyDtoA", &[a, 32, memory, 16], OK),
            ("cuMemcpyAtoH", &[to, a, 0, 64], OK),
            ("cuMemcpyAtoH", &[to, a, 60, 8], INVALID_VALUE),
            ("cuMemcpyHtoA", &[b + 8, 0, from, 4], INVALID_VALUE),
            ("cuMemcpyHtoAAsync", &[b, 0, from + 64, 64, 0], OK),
            ("cuMemcpyAtoHAsync", &[to + 64, b, 0, 64, 0], OK),
            ("cuArrayCreate", &[0, at(&mut flat)], INVALID_VALUE),
            ("cuArrayCreate", &[at(&mut a), 0], INVALID_VALUE),
            ("cuArray3DCreate", &[at(&mut a), 0], INVALID_VALUE),
            ("cuArrayGetDescriptor", &[0, b], INVALID_VALUE),
            ("cuArrayGetDescriptor", &[at(&mut told), b + 16], INVALID_HANDLE),
            ("cuArray3DGetDescriptor", &[at(&mut told), 0], INVALID_HANDLE),
        ]);
        let expected: Vec<f32> =
            [0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 12, 13, 14, 15].map(|n| n as f32).into();
        assert_eq!((&back[..16], &back[16..32]), (&expected[..], &words[16..32]));
    });
}

/// `CUDA_MEMCPY2D_v1`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Plane {
    src: (u32, u32, u32),
    src_host: u64,
    src_device: u32,
    src_array: u64,
    src_pitch: u32,
    dst: (u32, u32, u32),
    dst_host: u64,
    dst_device: u32,
    dst_array: u64,
    dst_pitch: u32,
    extent: [u32; 2],
}

/// `CUDA_MEMCPY3D_v1`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Volume {
    src: [u32; 4],
    src_type: u32,
    src_host: u64,
    src_device: u32,
    src_array: u64,
    reserved_0: u64,
    src_pitch: [u32; 2],
    dst: [u32; 4],
    dst_type: u32,
    dst_host: u64,
    dst_device: u32,
    dst_array: u64,
    reserved_1: u64,
    dst_pitch: [u32; 2],
    extent: [u32; 3],
}

#[test]
fn copies_are_described_in_32_bits() {
    isolated("narrow::copies_are_described_in_32_bits", &[], || {
        let cuda = Library::start();
        // The sizes that a C compiler gives the structures of CUDA 3.1.
        assert_eq!((size_of::<Plane>(), size_of::<Volume>()), (96, 144));
        const HOST: u32 = 1;
        const DEVICE: u32 = 2;
        let bytes: Vec<u8> = (0..=255).collect();
        let memory = narrow(cuda, 4096);
        let mut back = [0u8; 256];
        for name in ["cuMemcpy2D", "cuMemcpy2DUnaligned", "cuMemcpy2DAsync"] {
            let mut to = Plane {
                src: (2, 1, HOST),
                src_host: bytes.as_ptr() as u64,
                src_pitch: 16,
                dst: (4, 2, DEVICE),
                dst_device: memory as u32,
                dst_pitch: 64,
                extent: [8, 3],
                ..Plane::default()
            };
            cuda.rows(&[("cuMemsetD8", &[memory, 0, 4096], OK), (name, &[at(&mut to), 0], OK)]);
            cuda.ok("cuCtxSynchronize", &[]);
            cuda.ok("cuMemcpyDtoH", &[at(&mut back), memory + 2 * 64 + 4, 256]);
            for row in 0..3 {
                let from = (row + 1) * 16 + 2;
                assert_eq!(back[row * 64..][..9], [&bytes[from..from + 8], &[0]].concat(), "{name}");
            }
            to.dst_pitch = 7;
            cuda.rows(&[(name, &[at(&mut to), 0], INVALID_VALUE), (name, &[0, 0], INVALID_VALUE)]);
        }
        for name in ["cuMemcpy3D", "cuMemcpy3DAsync"] {
            let mut to = Volume {
                src_type: HOST,
                src_host: bytes.as_ptr() as u64,
                src_pitch: [8, 4],
                dst: [1, 0, 0, 0],
                dst_type: DEVICE,
                dst_device: memory as u32,
                dst_pitch: [16, 2],
                extent: [4, 2, 2],
                ..Volume::default()
            };
            cuda.rows(&[("cuMemsetD8", &[memory, 0, 4096], OK), (name, &[at(&mut to), 0], OK)]);
            cuda.ok("cuCtxSynchronize", &[]);
            cuda.ok("cuMemcpyDtoH", &[at(&mut back), memory, 256]);
            assert_eq!((&back[1..5], &back[17..21]), (&bytes[0..4], &bytes[8..12]), "{name}");
            assert_eq!((&back[33..37], &back[49..53]), (&bytes[32..36], &bytes[40..44]), "{name}");
            cuda.rows(&[(name, &[0, 0], INVALID_VALUE)]);
        }
    });
}

#[test]
fn texture_references_have_addresses_of_32_bits() {
    isolated("narrow::texture_references_have_addresses_of_32_bits", &[], || {
        let cuda = Library::start();
        let reference = cuda.made("cuTexRefCreate", &[]);
        let memory = narrow(cuda, 8192);
        let (mut offset, mut bound, mut shape) = (9u32, 0u32, [32u32, 8, 0x20, 1]);
        cuda.rows(&[
            ("cuTexRefSetFormat", &[reference, 0x20, 1], OK),
            ("cuTexRefSetAddress", &[at(&mut offset), reference, memory, 4096], OK),
            ("cuTexRefGetAddress", &[at(&mut bound), reference], OK),
        ]);
        assert_eq!((offset, u64::from(bound)), (0, memory));
        cuda.rows(&[
            ("cuTexRefSetAddress", &[0, reference, memory + 4, 64], INVALID_VALUE),
            ("cuTexRefSetAddress2D", &[reference, at(&mut shape), memory + 4096, 128], OK),
            ("cuTexRefGetAddress", &[at(&mut bound), reference], OK),
            ("cuTexRefGetAddress", &[0, reference], INVALID_VALUE),
            ("cuTexRefSetAddress2D", &[reference, 0, memory, 128], INVALID_VALUE),
            ("cuTexRefGetAddress", &[at(&mut bound), reference + 8], INVALID_HANDLE),
        ]);
        assert_eq!(u64::from(bound), memory + 4096);
    });
}

/// A kernel uses such memory like any other, and faults outside of it.
#[test]
fn kernels_use_memory_with_addresses_of_32_bits() {
    const TEXT: &str = ".version 7.0\n.target sm_52\n.address_size 64\n
.visible .entry store(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; st.global.u32 [%d], 7; ret; }\n\0";
    for engine in ["interpreter", "compiled"] {
        isolated(
            "narrow::kernels_use_memory_with_addresses_of_32_bits",
            &[("ANYWARP_ENGINE", engine)],
            || {
                let cuda = Library::start();
                let memory = narrow(cuda, 4096);
                let module = cuda.made("cuModuleLoadData", &[TEXT.as_ptr() as u64]);
                let store = cuda.made("cuModuleGetFunction", &[module, c"store".as_ptr() as u64]);
                let launch = |mut to: u64| {
                    let mut arguments = [at(&mut to)];
                    cuda.ok("cuLaunchKernel", &[store, 1, 1, 1, 1, 1, 1, 0, 0, at(&mut arguments), 0]);
                    cuda.call("cuCtxSynchronize", &[])
                };
                assert_eq!(launch(memory + 8), OK);
                assert_eq!(cuda.read::<u32, 1>(memory + 8), [7]);
                assert_eq!(launch(memory + 4096), 700);
            },
        );
    }
}
