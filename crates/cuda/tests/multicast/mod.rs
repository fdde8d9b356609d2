//! Multicast objects over two virtual devices, and their instructions, with the results that the PTX manual
//! defines.

#[path = "../../../cpu/tests/support/formats.rs"]
mod formats;

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::null_mut;

use hwtruth::sample;

use crate::call;
use crate::support::Argument::U64;
use crate::support::status::INVALID_VALUE;
use crate::support::{AccessDesc, AllocationProp, Cuda, MulticastProp, P, everywhere};

const SIZE: usize = 4 << 20;
const HALF: usize = SIZE / 2;
const INVALID_DEVICE: u32 = 101;

/// Words that the kernel writes: the values that it read, reduced over the devices.
const KERNEL: &str = r#"
.version 8.6
.target sm_90
.address_size 64
.visible .entry all(.param .u64 many, .param .u64 out) {
    .reg .b32 %r<12>; .reg .b64 %d<6>; .reg .f32 %f<6>; .reg .b16 %h<4>;
    ld.param.u64 %d0, [many]; ld.param.u64 %d1, [out];
    multimem.ld_reduce.relaxed.sys.global.add.u32 %r0, [%d0];
    multimem.ld_reduce.weak.global.min.s32 %r1, [%d0+4];
    multimem.ld_reduce.acquire.gpu.global.or.b32 %r2, [%d0+8];
    multimem.ld_reduce.relaxed.gpu.global.add.u64 %d2, [%d0+16];
    multimem.ld_reduce.weak.global.add.v4.f32 {%f0, %f1, %f2, %f3}, [%d0+32];
    multimem.ld_reduce.weak.global.add.acc::f32.v2.f16x2 {%r3, %r4}, [%d0+48];
    multimem.ld_reduce.weak.global.max.bf16x2 %r5, [%d0+56];
    st.global.v4.u32 [%d1], {%r0, %r1, %r2, %r3};
    st.global.v2.u32 [%d1+16], {%r4, %r5};
    st.global.u64 [%d1+24], %d2;
    st.global.v4.f32 [%d1+32], {%f0, %f1, %f2, %f3};
    mov.u32 %r6, 7;
    multimem.red.release.sys.global.add.u32 [%d0+64], %r6;
    multimem.red.relaxed.gpu.global.max.s32 [%d0+68], %r6;
    mov.f32 %f4, 0f3FC00000;
    multimem.red.relaxed.gpu.global.add.v2.f32 [%d0+72], {%f4, %f4};
    mov.u32 %r7, 0x1234;
    multimem.st.weak.global.u32 [%d0+80], %r7;
    multimem.st.release.sys.global.v4.f32 [%d0+96], {%f4, %f4, %f4, %f4};
    ret;
}
.visible .entry plain(.param .u64 many) {
    .reg .b32 %r<2>; .reg .b64 %d<2>;
    ld.param.u64 %d0, [many]; multimem.st.weak.global.u32 [%d0], 1; ret;
}
"#;

fn memory(cuda: &Cuda, device: u32) -> P {
    let mut handle = 0;
    let location = [1, device];
    let properties = AllocationProp { kind: 1, handle_types: 0, location, meta_data: 0, flags: [0; 8] };
    call!(cuda.cuMemCreate(&raw mut handle, SIZE, &raw const properties, 0));
    handle
}

/// Maps a handle at any address, for reading and writing.
fn map(cuda: &Cuda, handle: P) -> P {
    let mut at = 0;
    call!(cuda.cuMemAddressReserve(&raw mut at, SIZE, 0, 0, 0));
    call!(cuda.cuMemMap(at, SIZE, 0, handle, 0));
    let access = AccessDesc { location: [1, 0], flags: 3 };
    call!(cuda.cuMemSetAccess(at, SIZE, &raw const access, 1));
    at
}

fn write(cuda: &Cuda, at: P, words: &[u32]) {
    call!(cuda.cuMemcpyHtoD_v2(at, words.as_ptr().cast(), words.len() * 4));
}

fn read<const N: usize>(cuda: &Cuda, at: P) -> [u32; N] {
    let mut words = [0u32; N];
    call!(cuda.cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), at, N * 4));
    words
}

/// All pairs of 8-bit floats, four at a time: reduced, and stored again.
const BYTES: &str = r#"
.version 8.6
.target sm_100a
.address_size 64
.visible .entry all(.param .u64 many, .param .u64 out) {
    .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .b16 %h<2>; .reg .b8 %b<4>;
    ld.param.u64 %d0, [many]; ld.param.u64 %d1, [out];
    mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r0, %r0, %r1, %r2;
    mad.wide.u32 %d0, %r0, 4, %d0; mad.wide.u32 %d1, %r0, 4, %d1;
    multimem.ld_reduce.weak.global.add.TYPEx4 %r1, [%d0];
    st.global.b32 [%d1], %r1;
    multimem.ld_reduce.relaxed.sys.global.add.acc::f16.TYPEx4 %r2, [%d0];
    st.global.b32 [%d1+65536], %r2;
    multimem.ld_reduce.acquire.gpu.global.min.v2.TYPEx2 {%h0, %h1}, [%d0];
    st.global.v2.b16 [%d1+131072], {%h0, %h1};
    multimem.ld_reduce.weak.global.max.v4.TYPE {%b0, %b1, %b2, %b3}, [%d0];
    st.global.v4.b8 [%d1+196608], {%b0, %b1, %b2, %b3};
    multimem.st.weak.global.v4.TYPE [%d0+65536], {%b0, %b1, %b2, %b3};
    ret;
}
"#;

#[test]
fn floats_of_eight_bits() {
    let devices = [("ANYWARP_DEVICES", "2"), ("ANYWARP_COMPUTE_CAPABILITY", "10.0")];
    everywhere("multicast::floats_of_eight_bits", &devices, || {
        let cuda = &Cuda::start();
        let [many, a, b] = two_places(cuda);
        let pairs = || (0..1u32 << 16).map(|n| (n as u8, (n >> 8) as u8));
        let words = |bytes: Vec<u8>| -> Vec<u32> {
            bytes.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect()
        };
        write(cuda, a, &words(pairs().map(|p| p.0).collect()));
        write(cuda, b, &words(pairs().map(|p| p.1).collect()));
        let out = cuda.upload(&vec![0u32; 4 << 14]);
        let all = [("e4m3", formats::E4M3), ("e5m2", formats::E5M2)];
        for (name, format) in all.into_iter().take(sample::of(2, 1)) {
            let function = cuda.function(cuda.module(&BYTES.replace("TYPE", name)), "all");
            assert_eq!(cuda.launch(function, 64, 256, 0, &[U64(many), U64(out)]), 0);
            call!(cuda.cuCtxSynchronize());
            let got: Vec<u8> = cuda.download(out, 4 << 16);
            let stored: [Vec<u8>; 2] = [a, b].map(|at| cuda.download(at + 65536, 1 << 16));
            let decoded: Vec<f64> = (0..256).map(|code| format.decode(code)).collect();
            // There are few distinct sums.
            let mut encoded = HashMap::new();
            for (n, (x, y)) in pairs().enumerate() {
                let [x, y] = [x, y].map(|code| decoded[usize::from(code)]);
                // The smaller one of a number and a NaN is the number; -0 is smaller than +0.
                let least = |x: f64, y: f64| match () {
                    () if x.is_nan() || y < x => y,
                    () if x == y && y.is_sign_negative() => y,
                    () => x,
                };
                let wanted = [x + y, x + y, least(x, y), -least(-x, -y)];
                for (op, x) in wanted.into_iter().enumerate() {
                    // e4m3 has no infinity: results that are too large stay finite.
                    let encode = || format.encode(x, formats::Rounding::Nearest, false, name == "e4m3") as u8;
                    let wanted = *encoded.entry(x.to_bits()).or_insert_with(encode);
                    assert_eq!(got[op << 16 | n], wanted, "{name}, operation {op}, pair {n:#x}");
                }
                assert_eq!(stored.each_ref().map(|s| s[n]), [got[3 << 16 | n]; 2], "{name}, stored {n:#x}");
            }
        }
    });
}

/// Bulk copies and reductions of 16 words in shared memory, and stores that complete by themselves, to every
/// device's memory.
const COPIES: &str = r#"
.version 9.5
.target sm_100a
.address_size 64
.visible .entry all(.param .u64 many, .param .u64 in) {
    .shared .align 16 .b8 words[64];
    .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .b16 %h<2>; .reg .pred %p;
    ld.param.u64 %d0, [many]; ld.param.u64 %d1, [in];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, words;
    mad.lo.u32 %r2, %r0, 4, %r1;
    mad.wide.u32 %d1, %r0, 4, %d1;
    ld.global.b32 %r3, [%d1];
    st.shared.b32 [%r2], %r3;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.ne.u32 %p, %r0, 0;
    @%p bra end;
    multimem.cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1], 64;
    mov.u32 %r4, 32;
    multimem.cp.async.bulk.relaxed.sys.global.shared::cta.bulk_group.b128 [%d0+64], [%r1+16], %r4;
    mov.b16 %h0, 0x8421;
    multimem.cp.async.bulk.weak.global.shared::cta.bulk_group.cp_mask [%d0+128], [%r1], 64, %h0;
    multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0+192], [%r1], 64;
    multimem.cp.reduce.async.bulk.relaxed.gpu.global.shared::cta.bulk_group.min.s32 [%d0+256], [%r1], 64;
    multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b64 [%d0+320], [%r1], 64;
    multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f32 [%d0+384], [%r1], 64;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.sync_restrict::proxy::async 0;
    mov.u32 %r5, 0xabcd1234;
    multimem.st.async.release.sys.global.u32 [%d0+448], %r5;
    multimem.st.async.release.gpu.b16 [%d0+452], %r5;
    mov.u64 %d2, 0x100000002;
    multimem.red.async.release.sys.global.add.u64 [%d0+456], %d2;
    multimem.red.async.release.gpu.add.s32 [%d0+464], -5;
end:
    ret;
}
"#;

#[test]
fn copies_of_bytes() {
    let devices = [("ANYWARP_DEVICES", "2"), ("ANYWARP_COMPUTE_CAPABILITY", "10.0")];
    everywhere("multicast::copies_of_bytes", &devices, || {
        let cuda = &Cuda::start();
        let [many, a, b] = two_places(cuda);
        // Integers as floats, with subnormals among them as sums of their bits.
        let from: Vec<u32> =
            (0..16).map(|n| if n % 5 == 0 { n + 1 } else { (n as f32 - 4.0).to_bits() }).collect();
        let before: [Vec<u32>; 2] = [3u32, 11].map(|f| (0..120).map(|n| n * f).collect());
        write(cuda, a, &before[0]);
        write(cuda, b, &before[1]);
        let input = cuda.upload(&from);
        let function = cuda.function(cuda.module(COPIES), "all");
        assert_eq!(cuda.launch(function, 1, 16, 0, &[U64(many), U64(input)]), 0);
        call!(cuda.cuCtxSynchronize());
        for (at, old) in [a, b].into_iter().zip(&before) {
            let mut wanted = old.clone();
            wanted[..16].copy_from_slice(&from);
            wanted[16..24].copy_from_slice(&from[4..12]);
            for byte in (0..64).filter(|n| 0x8421 >> (n % 16) & 1 != 0) {
                let (word, shift) = (32 + byte / 4, byte % 4 * 8);
                wanted[word] = wanted[word] & !(0xff << shift) | from[byte / 4] & 0xff << shift;
            }
            for (n, &x) in from.iter().enumerate() {
                wanted[48 + n] = old[48 + n].wrapping_add(x);
                wanted[64 + n] = (old[64 + n] as i32).min(x as i32) as u32;
                wanted[80 + n] = old[80 + n] ^ x;
                wanted[96 + n] = (f32::from_bits(old[96 + n]) + f32::from_bits(x)).to_bits();
            }
            wanted[112] = 0xabcd_1234;
            wanted[113] = old[113] & 0xffff_0000 | 0x1234;
            wanted[114] = old[114].wrapping_add(2);
            wanted[115] = old[115].wrapping_add(1);
            wanted[116] = old[116].wrapping_sub(5);
            assert_eq!(cuda.download::<u32>(at, 120), wanted);
        }
    });
}

/// An object of two devices, and the address of each device's memory.
fn two_places(cuda: &Cuda) -> [P; 3] {
    let properties = MulticastProp { devices: 2, size: SIZE, handle_types: 0, flags: 0 };
    let mut object = 0;
    call!(cuda.cuMulticastCreate(&raw mut object, &raw const properties));
    call!(cuda.cuMulticastAddDevice(object, 0));
    call!(cuda.cuMulticastAddDevice(object, 1));
    let both = [0, 1].map(|device| memory(cuda, device));
    for handle in both {
        call!(cuda.cuMulticastBindMem(object, 0, handle, 0, SIZE, 0));
    }
    [object, both[0], both[1]].map(|handle| map(cuda, handle))
}

#[test]
fn two_devices_behind_one_address() {
    let devices = [("ANYWARP_DEVICES", "2"), ("ANYWARP_COMPUTE_CAPABILITY", "9.0")];
    everywhere("multicast::two_devices_behind_one_address", &devices, two_devices);
}

fn two_devices() {
    let cuda = &Cuda::open();
    let (mut context, mut module) = (0, 0);
    call!(cuda.cuInit(0));
    call!(cuda.cuDevicePrimaryCtxRetain(&raw mut context, 0));
    call!(cuda.cuCtxSetCurrent(context));

    let right = MulticastProp { devices: 2, size: SIZE, handle_types: 0, flags: 0 };
    let (mut granularity, mut object) = (0, 0);
    call!(cuda.cuMulticastGetGranularity(&raw mut granularity, &raw const right, 0));
    assert_eq!(granularity, 2 << 20);
    for wrong in [
        MulticastProp { devices: 0, ..right },
        MulticastProp { devices: 3, ..right },
        MulticastProp { size: 0, ..right },
        MulticastProp { size: 4096, ..right },
        MulticastProp { flags: 1, ..right },
    ] {
        call!(cuda.cuMulticastCreate(&raw mut object, &raw const wrong) => INVALID_VALUE);
    }
    call!(cuda.cuMulticastCreate(&raw mut object, &raw const right));
    let (first, second) = (memory(cuda, 0), memory(cuda, 1));
    call!(cuda.cuMulticastAddDevice(object, 0));
    call!(cuda.cuMulticastAddDevice(object, 0) => INVALID_VALUE);
    call!(cuda.cuMulticastAddDevice(object, 2) => INVALID_DEVICE);
    call!(cuda.cuMulticastBindMem(object, 0, second, 0, SIZE, 0) => INVALID_DEVICE);
    call!(cuda.cuMulticastBindMem(object, 0, first, 0, SIZE, 0) => INVALID_VALUE);
    call!(cuda.cuMulticastAddDevice(object, 1));
    let (a, b) = (map(cuda, first), map(cuda, second));
    // Binds the first device's memory by handle, and the second one's by address, with its halves swapped.
    call!(cuda.cuMulticastBindMem(object, 0, first, 0, SIZE, 0));
    call!(cuda.cuMulticastBindMem(object, HALF, first, 0, HALF, 0) => INVALID_VALUE);
    call!(cuda.cuMulticastBindMem(object, 0, second, 4096, HALF, 0) => INVALID_VALUE);
    call!(cuda.cuMulticastBindAddr(object, 0, b + HALF as u64, HALF, 0));
    call!(cuda.cuMulticastBindAddr(object, HALF, b, HALF, 0));
    call!(cuda.cuMulticastBindAddr(object, 0, b, HALF, 1) => INVALID_VALUE);
    let b = b + HALF as u64;
    let many = map(cuda, object);

    let float = |v: f32| v.to_bits();
    // Halves: 1, 2, 3 and 4; in bf16, 1 and -2 with 3 and -4.
    write(cuda, a, &[5, -3i32 as u32, 0xf0, 0, 1, 1, 0, 0, float(1.0), float(2.0), float(-3.0), float(0.5)]);
    write(
        cuda,
        a + 48,
        &[0x4000_3c00, 0x4400_4200, 0xc000_3f80, 0, 100, 9, float(1.0), float(2.0), 1, 0, 0, 0],
    );
    write(cuda, b, &[6, 4, 0x0f, 0, 0xffff_ffff, 2, 0, 0, float(10.0), float(20.0), float(3.0), float(0.25)]);
    write(
        cuda,
        b + 48,
        &[0x4000_3c00, 0x4400_4200, 0xc080_4040, 0, 200, 3, float(-1.0), float(0.0), 2, 0, 0, 0],
    );
    let mut out = 0;
    call!(cuda.cuMemAlloc_v2(&raw mut out, 256));
    call!(cuda.cuModuleLoadData(&raw mut module, format!("{KERNEL}\0").as_ptr().cast::<c_void>()));
    let mut function = 0;
    call!(cuda.cuModuleGetFunction(&raw mut function, module, c"all".as_ptr()));
    let mut values = [many, out];
    let mut params: Vec<*mut c_void> = values.iter_mut().map(|v| (&raw mut *v).cast()).collect();
    call!(cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, params.as_mut_ptr(), null_mut()));
    call!(cuda.cuCtxSynchronize());
    // 2 + 2 and so on, as halves; the larger one of each pair.
    assert_eq!(
        read(cuda, out),
        [
            11,
            -3i32 as u32,
            0xff,
            0x4400_4000,
            0x4800_4600,
            0xc000_4040,
            0,
            4,
            float(11.0),
            float(22.0),
            0,
            float(0.75)
        ]
    );
    assert_eq!(read(cuda, a + 64), [107, 9, float(2.5), float(3.5), 0x1234]);
    assert_eq!(read(cuda, b + 64), [207, 7, float(0.5), float(1.5), 0x1234]);
    assert_eq!(read(cuda, a + 96), [float(1.5); 4]);
    assert_eq!(read(cuda, b + 96), [float(1.5); 4]);

    // Bound memory needs no mapping of its own.
    call!(cuda.cuMemUnmap(a, SIZE));
    // Without one device's memory, the operation fails.
    call!(cuda.cuMulticastUnbind(object, 1, 0, SIZE) => INVALID_VALUE);
    call!(cuda.cuMulticastUnbind(object, 1, 0, HALF));
    call!(cuda.cuMemRelease(object));
    call!(cuda.cuMulticastAddDevice(object, 0) => INVALID_VALUE);
    call!(cuda.cuModuleGetFunction(&raw mut function, module, c"plain".as_ptr()));
    call!(cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, params.as_mut_ptr(), null_mut()));
    call!(cuda.cuCtxSynchronize() => 700);
}
