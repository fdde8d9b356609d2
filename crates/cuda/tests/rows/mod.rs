//! im2col::w and im2col::w::128 copies, which need devices of capability 10 and have no recordings, compared
//! with a model of the PTX manual's text (5.5.5). The model finds the pixel at each position by division
//! rather than by walking.

use crate::call;
use crate::support::Argument::{U32, U64};
use crate::support::status::INVALID_VALUE;
use crate::support::{Cuda, P, everywhere};

/// 16-bit channels of the tensor and of a copy. A row of a box has 64 bytes.
const CHANNELS: usize = 48;
const COPIED: usize = 32;
const ROOM: usize = 24576;

/// A tensor of W × H × D × images, the fields of a map, and a copy.
#[derive(Clone, Copy)]
struct Case {
    rank: usize,
    size: [usize; 3],
    lower: i32,
    upper: i32,
    /// Along W, and over images.
    steps: [u32; 2],
    pixels: u32,
    /// The first channel, W, H, D, the image.
    at: [i32; 5],
    halo: u32,
    offset: u32,
    quarters: bool,
    nan: bool,
}

const IMAGES: usize = 9;

const CASES: &[Case] = {
    let first = Case {
        rank: 4,
        size: [9, 7, 1],
        lower: 0,
        upper: 0,
        steps: [1, 1],
        pixels: 40,
        at: [0, 2, 3, 0, 0],
        halo: 2,
        offset: 0,
        quarters: false,
        nan: false,
    };
    &[
        first,
        Case { quarters: true, ..first },
        // The manual's examples: two buffers of a box with a step of two, and three with a step of three.
        Case { lower: -1, steps: [2, 1], at: [0, -1, 2, 0, 0], halo: 1, ..first },
        Case { lower: -1, steps: [2, 1], at: [0, -1, 2, 0, 0], halo: 0, offset: 1, ..first },
        Case { lower: -1, upper: -1, steps: [3, 1], at: [0, -1, 2, 0, 0], halo: 0, ..first },
        Case { lower: -1, upper: -1, steps: [3, 1], at: [0, -1, 2, 0, 0], halo: 0, offset: 2, ..first },
        // The first pixel before the box, an image after the last, a row outside, other channels, other
        // ranks.
        Case { lower: 2, at: [16, -3, 6, 0, 3], halo: 5, ..first },
        Case { at: [32, 8, 0, 0, 8], nan: true, ..first },
        Case { at: [0, 0, 7, 0, 0], ..first },
        Case { rank: 3, steps: [1, 2], halo: 3, ..first },
        Case { rank: 5, size: [6, 3, 2], at: [8, 1, 1, 1, 1], halo: 1, ..first },
        Case {
            rank: 3,
            lower: -2,
            upper: 1,
            at: [0, -2, 0, 0, 0],
            halo: 3,
            offset: 1,
            quarters: true,
            ..first
        },
        Case { steps: [2, 3], at: [0, 4, 1, 0, 1], halo: 7, quarters: true, nan: true, ..first },
    ]
};

impl Case {
    /// The tensor's sizes in the map's order.
    fn dims(&self) -> Vec<u64> {
        let spatial = self.size.iter().take(self.rank - 2).map(|&n| n as u64);
        [CHANNELS as u64].into_iter().chain(spatial).chain([IMAGES as u64]).collect()
    }

    fn place(&self) -> Vec<i32> {
        let mut all = self.at[..self.rank - 1].to_vec();
        all.push(self.at[4]);
        all
    }

    /// The pixel at position `n` of the walk: W and the image.
    fn pixel(&self, n: i64) -> (i64, i64) {
        let [step, step_image] = self.steps.map(i64::from);
        let (lower, upper) = (i64::from(self.lower), self.size[0] as i64 + i64::from(self.upper));
        let count = |from: i64| (upper - from + step - 1) / step;
        let first = count(i64::from(self.at[1]));
        let offset = i64::from(self.offset);
        if n < first {
            return (i64::from(self.at[1]) + n * step + offset, i64::from(self.at[4]));
        }
        let each = count(lower);
        let (row, column) = ((n - first) / each, (n - first) % each);
        (lower + column * step + offset, i64::from(self.at[4]) + (row + 1) * step_image)
    }

    /// The element at a position in the tensor, or its fill value.
    fn element(&self, channel: usize, w: i64, image: i64) -> u16 {
        let [_, _, h, d, _] = self.at.map(i64::from);
        let (h, d) = (if self.rank > 3 { h } else { 0 }, if self.rank > 4 { d } else { 0 });
        let [sw, sh, sd] = std::array::from_fn(|n| if n < self.rank - 2 { self.size[n] } else { 1 });
        let inside = |v: i64, size: usize| (0..size as i64).contains(&v);
        let channel = self.at[0] as usize + channel;
        if channel >= CHANNELS || !inside(w, sw) || !inside(h, sh) || !inside(d, sd) || !inside(image, IMAGES)
        {
            return if self.nan { 0x7ff7 } else { 0 };
        }
        content(
            channel + CHANNELS * (w as usize + sw * (h as usize + sh * (d as usize + sd * image as usize))),
        )
    }

    /// The rows of the box in sequence.
    fn rows(&self) -> Vec<(i64, i64)> {
        let halo = i64::from(self.halo);
        if !self.quarters {
            return (0..i64::from(self.pixels) + halo).map(|n| self.pixel(n)).collect();
        }
        let halos = (0..halo).flat_map(|h| (1..5).map(move |q| 32 * q + h));
        (0..128).chain(halos).map(|n| self.pixel(n)).collect()
    }

    fn kernel(&self) -> String {
        let registers =
            |from: usize| (from..from + self.rank).map(|n| format!("%c{n}")).collect::<Vec<_>>().join(", ");
        let values: String =
            self.place().iter().enumerate().map(|(n, v)| format!("mov.s32 %c{n}, {v}; ")).collect();
        let mode = if self.quarters { "im2col::w::128" } else { "im2col::w" };
        format!(
            ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 pm, .param .u64 po, .param .u32 pb) {{\n\
             .shared .align 1024 .b8 room[{ROOM}]; .shared .align 8 .b64 bar;\n\
             .reg .b64 %m, %o, %x, %w; .reg .b32 %r, %b, %t, %n, %s, %c<5>; .reg .b16 %h<2>; .reg .pred %p, %q;\n\
             ld.param.u64 %m, [pm]; ld.param.u64 %o, [po]; ld.param.u32 %n, [pb]; mov.u32 %r, room; mov.u32 %b, bar; mov.u32 %t, %tid.x;\n\
             setp.ne.u32 %q, %t, 0; @%q bra ready;\n\
             mbarrier.init.shared.b64 [%b], 1; mbarrier.arrive.expect_tx.shared.b64 %x, [%b], %n; {values}\n\
             mov.u16 %h0, {}; mov.u16 %h1, {};\n\
             cp.async.bulk.tensor.{}d.shared::cta.global.{mode}.mbarrier::complete_tx::bytes [%r], [%m, {{{}}}], [%b], {{%h0, %h1}};\n\
             wait: mbarrier.test_wait.parity.shared.b64 %p, [%b], 0; @!%p bra wait;\n\
             ready: bar.sync 0; mul.lo.u32 %s, %t, 4;\n\
             give: add.u32 %n, %r, %s; ld.shared.b32 %c0, [%n]; cvt.u64.u32 %w, %s; add.u64 %w, %o, %w; st.global.b32 [%w], %c0;\n\
             add.u32 %s, %s, 512; setp.lt.u32 %p, %s, {ROOM}; @%p bra give; ret;\n}}\n",
            self.halo,
            self.offset,
            self.rank,
            registers(0),
        )
    }

    /// The map's words, or the status that refuses it.
    fn map(&self, cuda: &Cuda, address: P, swizzle: i32) -> Result<Map, u32> {
        let dims = self.dims();
        let mut stride = 2;
        let strides: Vec<u64> = dims.iter().map(|n| (stride *= n, stride).1).collect();
        let mut steps = vec![1u32; self.rank];
        steps[1] = self.steps[0];
        steps[self.rank - 1] = self.steps[1];
        let mut map = Map([0; 16]);
        let (fill, mode) = (i32::from(self.nan), i32::from(self.quarters));
        let (lower, upper) = (self.lower, self.upper);
        // SAFETY: there are as many sizes, strides and steps as the rank requires.
        let status = unsafe {
            (cuda.cuTensorMapEncodeIm2colWide)(
                (&raw mut map).cast(),
                6,
                self.rank as u32,
                address,
                dims.as_ptr(),
                strides.as_ptr(),
                lower,
                upper,
                COPIED as u32,
                self.pixels,
                steps.as_ptr(),
                0,
                mode,
                swizzle,
                0,
                fill,
            )
        };
        if status == 0 { Ok(map) } else { Err(status) }
    }
}

/// A tensor map.
#[repr(C, align(64))]
#[derive(Clone, Copy, Default)]
struct Map([u64; 16]);

/// The tensor's value at an index.
fn content(n: usize) -> u16 {
    (n as u16).wrapping_mul(40503) ^ 0x2b
}

#[test]
fn pixels_of_rows() {
    everywhere("rows::pixels_of_rows", &[("ANYWARP_COMPUTE_CAPABILITY", "10.0")], || {
        let cuda = &Cuda::start();
        let most = CHANNELS * 9 * 7 * 2 * IMAGES;
        let tensor = cuda.upload(&(0..most).map(content).collect::<Vec<u16>>());
        let out = cuda.upload(&vec![0u16; ROOM / 2]);
        for (n, case) in CASES.iter().enumerate() {
            let map = case.map(cuda, tensor, 2).expect("a map");
            let rows = case.rows();
            let function = cuda.function(cuda.module(&case.kernel()), "k");
            let map = cuda.upload(&[map]);
            let bytes = (rows.len() * COPIED * 2) as u32;
            assert_eq!(cuda.launch(function, 1, 128, 0, &[U64(map), U64(out), U32(bytes)]), 0);
            call!(cuda.cuCtxSynchronize());
            let got: Vec<u16> = cuda.download(out, ROOM / 2);
            for (row, &(w, image)) in rows.iter().enumerate() {
                for channel in 0..COPIED {
                    // Bits 4 and 5 of the address are combined with bits 7 and 8.
                    let byte = row * 64 + channel * 2;
                    let at = (byte ^ (byte >> 7 & 3) << 4) / 2;
                    let wanted = case.element(channel, w, image);
                    assert_eq!(
                        got[at], wanted,
                        "case {n}, row {row} (W {w} of image {image}), channel {channel}"
                    );
                }
            }
        }
        let wide = Case { lower: -32768, upper: 32767, ..CASES[0] };
        assert!(wide.map(cuda, tensor, 3).is_ok());
        // Maps without swizzling are refused.
        assert_eq!(CASES[0].map(cuda, tensor, 0).err(), Some(INVALID_VALUE));
    });
}
