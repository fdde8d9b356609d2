//! Arrays of packed video formats hold what is copied to them, and have neither planes nor textures.

use crate::by_name::status::{INVALID_VALUE, OK};
use crate::by_name::{Library, at, isolated};

/// `CUDA_ARRAY3D_VIDEO_ENCODE_DECODE`.
const VIDEO: u64 = 0x100;
const WIDTH: u64 = 6;
const HEIGHT: u64 = 4;

#[test]
fn packed_formats_are_stored() {
    isolated("video::packed_formats_are_stored", &[], || {
        let cuda = Library::start();
        // Y210, Y216, AYUV, Y410 and Y416: a format's number, channels, and bytes of an element.
        for (format, channels, bytes) in
            [(0xa6, 2, 4), (0xa7, 2, 4), (0xa8, 4, 4), (0xa9, 1, 4), (0xb1, 4, 8)]
        {
            let shape = |height: u64, depth: u64, channels: u64, flags: u64| {
                [WIDTH, height, depth, format | channels << 32, flags]
            };
            let mut right = shape(HEIGHT, 0, channels, VIDEO);
            let array = cuda.made("cuArray3DCreate_v2", &[at(&mut right)]);
            let row = WIDTH * bytes;
            let mut written: Vec<u8> = (0..row * HEIGHT).map(|i| (i * 7 + format) as u8).collect();
            let mut back = vec![0u8; written.len()];
            // `CUDA_MEMCPY2D`: offsets, kind, host, device, array and pitch of both sides; the extent.
            let (from, to) = (written.as_mut_ptr() as u64, back.as_mut_ptr() as u64);
            let mut copy = [0, 0, 1, from, 0, 0, row, 0, 0, 3, 0, 0, array, 0, row, HEIGHT];
            cuda.ok("cuMemcpy2D_v2", &[at(&mut copy)]);
            let mut copy = [0, 0, 3, 0, 0, array, 0, 0, 0, 1, to, 0, 0, row, row, HEIGHT];
            cuda.ok("cuMemcpy2D_v2", &[at(&mut copy)]);
            assert_eq!(back, written, "{format:#x}");
            let mut wide = [0, 0, 3, 0, 0, array, 0, 0, 0, 1, to, 0, 0, row + 1, row + 1, HEIGHT];
            // `CUDA_RESOURCE_DESC` of an array.
            let (mut resource, mut texture) = ([0u64; 18], [0u64; 13]);
            resource[1] = array;
            let mut out = 0u64;
            cuda.rows(&[
                ("cuMemcpy2D_v2", &[at(&mut wide)], INVALID_VALUE),
                ("cuArrayGetPlane", &[at(&mut out), array, 0], INVALID_VALUE),
                ("cuTexObjectCreate", &[at(&mut out), at(&mut resource), at(&mut texture), 0], INVALID_VALUE),
                ("cuArrayDestroy", &[array], OK),
            ]);
            let wrong = [
                shape(HEIGHT, 0, channels, 0),
                shape(HEIGHT, 0, 3, VIDEO),
                shape(0, 0, channels, VIDEO),
                shape(HEIGHT, 2, channels, VIDEO),
                shape(HEIGHT - 1, 0, channels, VIDEO),
            ];
            for mut wrong in wrong {
                let row = ("cuArray3DCreate_v2", &[at(&mut out), at(&mut wrong)][..], INVALID_VALUE);
                cuda.rows(&[row]);
            }
            let mipmap = [at(&mut out), at(&mut right), 2];
            cuda.rows(&[("cuMipmappedArrayCreate", &mipmap, INVALID_VALUE)]);
        }
    });
}
