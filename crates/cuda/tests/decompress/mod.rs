//! Decompression in streams: data that other programs compressed, and wrong requests.

use crate::by_name::status::{INVALID_HANDLE, INVALID_VALUE, NOT_SUPPORTED, OK};
use crate::by_name::{Library, at, isolated};

const DEFLATE: u64 = 1;
const SNAPPY: u64 = 2;
const LZ4: u64 = 4;
/// A device that decompresses.
const NEW: (&str, &str) = ("ANYWARP_COMPUTE_CAPABILITY", "10.0");

/// Sixty lines of text.
fn text() -> Vec<u8> {
    (0..60).flat_map(|i| format!("row {i} of {}\n", i * i).into_bytes()).collect()
}

/// [`text`], compressed by zlib 1.2 at level 9 without a header.
const PACKED: &[u8] = &[
    53, 146, 187, 145, 3, 49, 12, 67, 115, 87, 177, 37, 136, 95, 73, 13, 57, 245, 140, 147, 107, 255, 44, 0,
    202, 96, 115, 73, 62, 1, 252, 126, 254, 158, 241, 124, 222, 207, 120, 125, 127, 210, 142, 52, 72, 63, 50,
    33, 227, 200, 13, 153, 248, 160, 161, 235, 104, 47, 232, 62, 58, 248, 255, 68, 39, 191, 95, 71, 55, 199,
    236, 163, 23, 167, 27, 150, 218, 208, 90, 238, 117, 213, 176, 218, 146, 93, 22, 92, 201, 121, 70, 128,
    205, 77, 70, 4, 49, 88, 19, 72, 53, 96, 248, 82, 31, 64, 194, 53, 115, 19, 87, 47, 5, 75, 138, 197, 193,
    146, 169, 26, 109, 88, 236, 115, 176, 148, 115, 166, 131, 165, 38, 247, 57, 88, 90, 44, 14, 150, 190, 53,
    176, 204, 219, 7, 150, 121, 103, 210, 22, 237, 11, 176, 108, 177, 4, 88, 182, 56, 131, 190, 12, 61, 34,
    104, 204, 208, 11, 131, 206, 152, 158, 31, 69, 75, 197, 19, 205, 159, 50, 46, 0, 100, 33, 87, 99, 201,
    113, 77, 6, 146, 149, 242, 72, 102, 213, 130, 74, 134, 213, 74, 50, 73, 53, 21, 114, 146, 106, 41, 255,
    84, 94, 58, 141, 100, 96, 67, 84, 201, 196, 76, 7, 149, 140, 204, 135, 122, 65, 229, 49, 52, 25, 84, 158,
    131, 123, 107, 48, 109, 81, 21, 168, 188, 111, 21, 84, 62, 213, 91, 193, 99, 208, 228, 2, 149, 239, 123,
    200, 160, 138, 75, 85, 60, 102, 19, 115, 77, 157, 142, 122, 121, 73, 161, 247, 22, 79, 41, 127, 110, 252,
    3,
];

/// "abcabcabcabcabc!" in Snappy's and in LZ4's block format, written by hand.
const ABC: &[u8] = b"abcabcabcabcabc!";
const ABC_SNAPPY: &[u8] = &[16, 2 << 2, b'a', b'b', b'c', 11 << 2 | 2, 3, 0, 0, b'!'];
const ABC_LZ4: &[u8] = &[0x34, b'a', b'b', b'c', 3, 0, 0x50, b'c', b'a', b'b', b'c', b'!'];

/// `CUmemDecompressParams`.
fn request(algorithm: u64, from: (u64, usize), to: (u64, u64), count: u64) -> [u64; 8] {
    [from.1 as u64, to.1, count, from.0, to.0, algorithm, 0, 0]
}

#[test]
fn each_algorithm_decompresses_in_stream_order() {
    isolated("decompress::each_algorithm_decompresses_in_stream_order", &[NEW], || {
        let cuda = Library::start();
        let mut values = [0i32; 2];
        for (value, number) in values.iter_mut().zip(136u64..) {
            cuda.ok("cuDeviceGetAttribute", &[at(value), number, 0]);
        }
        assert_eq!(values, [7, 4 << 20]);
        let memory = cuda.made("cuMemAlloc_v2", &[1 << 16]);
        cuda.ok("cuMemsetD8_v2", &[memory, 0xee, 1 << 16]);
        let mut capable = 9u8;
        cuda.ok("cuPointerGetAttribute", &[at(&mut capable), 21, memory]);
        assert_eq!(capable, 1);
        let host = cuda.made("cuMemHostAlloc", &[4096, 0]);
        cuda.ok("cuPointerGetAttribute", &[at(&mut capable), 21, host]);
        assert_eq!(capable, 0);
        // What is compressed at 0, 1024 and so on; results at 16384 and so on; counts at 32768 and so on.
        let data = [
            (DEFLATE, PACKED),
            (SNAPPY, ABC_SNAPPY),
            (LZ4, ABC_LZ4),
            (LZ4, &ABC_LZ4[..6]),
            (SNAPPY, &[0xff; 9]),
        ];
        let mut list = Vec::new();
        for (i, (algorithm, bytes)) in (0u64..).zip(data) {
            cuda.write(memory + i * 1024, bytes);
            // The first two are told how large the result is.
            let room = [844, 16, 0, 11, 100][i as usize];
            let place = (memory + 16384 + i * 1024, room);
            list.push(request(algorithm, (memory + i * 1024, bytes.len()), place, memory + 32768 + i * 4));
        }
        let stream = cuda.made("cuStreamCreate", &[1]);
        let mut failed = 5u64;
        let list = list.as_mut_ptr() as u64;
        // The stream has to wait for the first word of the compressed data.
        let first = u32::from_ne_bytes([PACKED[0], PACKED[1], PACKED[2], PACKED[3]]);
        cuda.ok("cuMemsetD32_v2", &[memory, 0, 1]);
        cuda.rows(&[
            ("cuStreamWaitValue32_v2", &[stream, memory, u64::from(first), 1], OK),
            ("cuMemBatchDecompressAsync", &[list, 5, 0, at(&mut failed), stream], OK),
        ]);
        cuda.write(memory, &[first]);
        cuda.ok("cuStreamSynchronize", &[stream]);
        let counts = cuda.read::<u32, 6>(memory + 32768);
        assert_eq!(counts[..3], [844, 16, 16]);
        assert_eq!(counts[4..], [0, 0xeeee_eeee], "what is not in the format counts as nothing");
        let whole = cuda.read::<u8, 1024>(memory + 16384);
        assert!(whole[..844] == text());
        assert!(whole[844..].iter().all(|b| *b == 0xee), "nothing else is written");
        assert_eq!(&cuda.read::<u8, 16>(memory + 16384 + 1024), ABC);
        assert_eq!(cuda.read::<u8, 17>(memory + 16384 + 2048)[..], [ABC, &[0xee]].concat());
        assert_eq!(cuda.read::<u8, 12>(memory + 16384 + 4096), [0xee; 12]);
        // Results that do not fit are nothing.
        let (short, at_count) = (memory + 20480 + 1024, memory + 40960);
        for (algorithm, from, size, room) in [
            (DEFLATE, 0, PACKED.len(), 843),
            (SNAPPY, 1024, ABC_SNAPPY.len(), 15),
            (LZ4, 2048, ABC_LZ4.len(), 15),
        ] {
            let mut one = request(algorithm, (memory + from, size), (short, room), at_count);
            cuda.ok("cuMemBatchDecompressAsync_ptsz", &[at(&mut one), 1, 0, 0, 0]);
            cuda.ok("cuCtxSynchronize", &[]);
            assert_eq!(cuda.read::<u32, 1>(at_count), [0], "{algorithm}");
            assert_eq!(cuda.read::<u8, 16>(short), [0xee; 16], "{algorithm}");
        }
    });
}

#[test]
fn wrong_requests_are_refused() {
    isolated("decompress::wrong_requests_are_refused", &[NEW, ("ANYWARP_DEVICES", "2")], || {
        let cuda = Library::start();
        let memory = cuda.made("cuMemAlloc_v2", &[4096]);
        let host = cuda.made("cuMemHostAlloc", &[4096, 0]);
        let managed = cuda.made("cuMemAllocManaged", &[4096, 1]);
        let plain = vec![0u8; 4096];
        cuda.write(memory, ABC_LZ4);
        let size = ABC_LZ4.len();
        let (from, to, count) = ((memory, size), (memory + 1024, 0), memory + 2048);
        let name = "cuMemBatchDecompressAsync";
        let mut failed: u64;
        let good = request(LZ4, from, to, count);
        let mut padded = good;
        padded[7] = 1;
        let mut high = good;
        high[5] |= 1 << 32;
        for (what, wrong) in [
            ("no algorithm", request(0, from, to, count)),
            ("two algorithms", request(3, from, to, count)),
            ("an unknown algorithm", request(8, from, to, count)),
            ("no data", request(LZ4, (memory, 0), to, count)),
            ("no source", request(LZ4, (0, size), to, count)),
            ("no destination", request(LZ4, from, (0, 0), count)),
            ("no count", request(LZ4, from, to, 0)),
            ("a count that is not aligned", request(LZ4, from, to, count + 2)),
            ("a count beyond the end", request(LZ4, from, to, memory + 4096)),
            ("more data than memory", request(LZ4, (memory, 4097), to, count)),
            ("more data than devices take", request(LZ4, (memory, 1 << 40), to, count)),
            ("a size that wraps", request(LZ4, (memory, usize::MAX), to, count)),
            ("more room than memory", request(LZ4, from, (memory + 1024, 3073), count)),
            ("memory of the host", request(LZ4, (host, size), to, count)),
            ("a destination on the host", request(LZ4, from, (host, 0), count)),
            ("a count on the host", request(LZ4, from, to, host)),
            ("managed memory", request(LZ4, from, (managed, 0), count)),
            ("memory of the program", request(LZ4, (plain.as_ptr() as u64, size), to, count)),
            ("padding", padded),
            ("more padding", high),
        ] {
            // The second of three.
            let mut list = [good, wrong, good];
            failed = 5;
            assert_eq!(cuda.call(name, &[at(&mut list), 3, 0, at(&mut failed), 0]), INVALID_VALUE, "{what}");
            assert_eq!(failed, 1, "{what}");
            assert_eq!(cuda.call(name, &[at(&mut list), 3, 0, 0, 0]), INVALID_VALUE, "{what}");
        }
        cuda.ok("cuCtxSynchronize", &[]);
        assert_ne!(cuda.read::<u32, 1>(count), [16], "nothing of a batch is done if a part is wrong");
        let mut list = [good];
        for wrong in [[at(&mut list), 0, 0], [at(&mut list), 1, 1], [0, 1, 0], [at(&mut list), u64::MAX, 0]] {
            failed = 5;
            let [list, count, flags] = wrong;
            assert_eq!(cuda.call(name, &[list, count, flags, at(&mut failed), 0]), INVALID_VALUE);
            assert_eq!(failed, u64::MAX, "a general error");
        }
        let stream = cuda.made("cuStreamCreate", &[1]);
        let mut graph = 0u64;
        cuda.rows(&[
            (name, &[at(&mut list), 1, 0, 0, stream + 1], INVALID_HANDLE),
            (name, &[at(&mut list), 1, 0, 0, 0], OK),
            // No node of a graph decompresses.
            ("cuStreamBeginCapture_v2", &[stream, 0], OK),
            (name, &[at(&mut list), 1, 0, 0, stream], 900),
            ("cuStreamEndCapture", &[stream, at(&mut graph)], 901),
        ]);
        assert_eq!(
            (cuda.read::<u32, 1>(count), &cuda.read::<u8, 16>(memory + 1024)),
            ([16], &ABC.try_into().unwrap())
        );
        // Memory of another device.
        let far = cuda.made("cuDevicePrimaryCtxRetain", &[1]);
        cuda.ok("cuCtxSetCurrent", &[far]);
        assert_eq!(cuda.call(name, &[at(&mut list), 1, 0, 0, 0]), INVALID_VALUE);
    });
}

#[test]
fn devices_without_it_refuse_everything() {
    isolated(
        "decompress::devices_without_it_refuse_everything",
        &[("ANYWARP_COMPUTE_CAPABILITY", "9.0")],
        || {
            let cuda = Library::start();
            let memory = cuda.made("cuMemAlloc_v2", &[4096]);
            let (mut mask, mut capable, mut failed) = (9i32, 9u8, 5u64);
            cuda.ok("cuDeviceGetAttribute", &[at(&mut mask), 136, 0]);
            cuda.ok("cuPointerGetAttribute", &[at(&mut capable), 21, memory]);
            assert_eq!((mask, capable), (0, 0));
            let mut good = request(LZ4, (memory, 8), (memory + 1024, 0), memory + 2048);
            let name = "cuMemBatchDecompressAsync";
            assert_eq!(cuda.call(name, &[at(&mut good), 1, 0, at(&mut failed), 0]), NOT_SUPPORTED);
            assert_eq!((cuda.call(name, &[0, 0, 7, 0, 0]), failed), (NOT_SUPPORTED, 5));
        },
    );
}
