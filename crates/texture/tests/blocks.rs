//! Compressed blocks, worked out by hand from the specification of the formats (Khronos Data Format
//! Specification 1.3, sections 18 to 20) and, where it leaves the rounding open, from formulas derived from
//! the hardware.

use texture::block::Block;

/// A block written field by field, the lowest bit first.
#[derive(Default)]
struct Writer {
    bits: u128,
    at: u32,
}

impl Writer {
    fn put(mut self, value: u128, count: u32) -> Self {
        assert!(value < 1 << count, "{value} has {count} bits");
        self.bits |= value << self.at;
        self.at += count;
        self
    }

    fn words(self) -> [u64; 2] {
        [self.bits as u64, (self.bits >> 64) as u64]
    }
}

/// The texels of a block's first row.
fn row(block: Block, words: [u64; 2]) -> [[u32; 4]; 4] {
    [0, 1, 2, 3].map(|x| block.texel(words, x, 0))
}

/// Index 0, 1, 2, 3 in each row.
const EACH: u128 = 0xe4e4_e4e4;

#[test]
fn bc1_has_two_colours_between_or_one_and_a_hole() {
    let (red, blue) = (0xf800, 0x001f);
    let four = Writer::default().put(red, 16).put(blue, 16).put(EACH, 32).words();
    assert_eq!(
        row(Block::Bc1, four),
        [[255, 0, 0, 255], [0, 0, 255, 255], [170, 0, 85, 255], [85, 0, 170, 255]]
    );
    let three = Writer::default().put(blue, 16).put(red, 16).put(EACH, 32).words();
    assert_eq!(
        row(Block::Bc1, three),
        [[0, 0, 255, 255], [255, 0, 0, 255], [127, 0, 127, 255], [0, 0, 0, 0]]
    );
    // Green is converted from 6 bits to 8 first: thirds of 255 are 80 and 175.
    let green = Writer::default().put(63 << 5, 16).put(0, 16).put(EACH, 32).words();
    assert_eq!(row(Block::Bc1, green).map(|t| t[1]), [255, 0, 175, 80]);
}

#[test]
fn bc2_gives_alpha_in_sixteen_steps() {
    let words = [0xfedc_ba98_7654_3210, (EACH << 32 | 0xffff << 16) as u64];
    for y in 0..4 {
        for x in 0..4 {
            // The first colour is not the larger one, but there are four colours all the same.
            let grey = [0, 255, 85, 170][x as usize];
            let [r, _, b, a] = Block::Bc2.texel(words, x, y);
            assert_eq!((r, b, a), (grey, grey, (4 * y + x) * 17), "{x} {y}");
        }
    }
}

#[test]
fn bc3_has_six_alphas_between_or_four() {
    let alpha = |first, second| {
        let selected = (0..8).fold(Writer::default().put(first, 8).put(second, 8), |w, i| w.put(i, 3));
        let words = selected.words();
        (0..8).map(|i| Block::Bc3.texel(words, i % 4, i / 4)[3]).collect::<Vec<_>>()
    };
    assert_eq!(alpha(255, 0), [255, 0, 219, 183, 144, 111, 72, 36]);
    assert_eq!(alpha(0, 255), [0, 255, 48, 96, 159, 207, 0, 255]);
}

#[test]
fn bc4_and_bc5_have_sixteen_bits() {
    let half = |first: u128, second: u128| {
        (0..8).fold(Writer::default().put(first, 8).put(second, 8), |w, i| w.put(i, 3)).words()[0]
    };
    let all = |block: Block, words| (0..8).map(|i| block.texel(words, i % 4, i / 4)).collect::<Vec<_>>();
    let reds = |texels: Vec<[u32; 4]>| texels.iter().map(|t| t[0] as i32).collect::<Vec<_>>();
    let unsigned = Block::Bc4 { signed: false };
    assert_eq!(reds(all(unsigned, [half(255, 0), 0])), [65535, 0, 56355, 47175, 36720, 28815, 18360, 9180]);
    let signed = Block::Bc4 { signed: true };
    assert_eq!(
        reds(all(signed, [half(0x7f, 0x81), 0])),
        [32767, -32767, 23623, 14479, 3809, -3809, -14479, -23623]
    );
    // The minimum of both is -127 too; nothing is between.
    assert_eq!(
        reds(all(signed, [half(0x80, 0x80), 0])),
        [-32767, -32767, -32767, -32767, -32767, -32767, -32767, 32767]
    );
    let both = all(Block::Bc5 { signed: false }, [half(255, 0), half(0, 255)]);
    assert_eq!(both[1], [0, 65535, 0, 0]);
    assert_eq!(both[7], [9180, 65535, 0, 0]);
}

#[test]
fn bc6_endpoints_are_spread_over_the_halves() {
    // Mode 3: ten bits per endpoint, no differences; the first index has three bits.
    let mode3 = |r: [u128; 2], g: [u128; 2]| {
        let w = Writer::default().put(3, 5).put(r[0], 10).put(g[0], 10).put(0, 10);
        let w = w.put(r[1], 10).put(g[1], 10).put(0, 10);
        (0..3).fold(w.put(0, 3), |w, _| w.put(15, 4)).words()
    };
    let unsigned = Block::Bc6 { signed: false };
    let words = mode3([0, 1023], [512, 0]);
    assert_eq!(row(unsigned, words)[..2], [[0, 0x3e0f, 0, 0], [0x7bff, 0, 0, 0]]);
    let signed = Block::Bc6 { signed: true };
    assert_eq!(row(signed, mode3([512, 511], [0, 0]))[..2], [[0xfbff, 0, 0, 0], [0x7bff, 0, 0, 0]]);
    // Mode 15: sixteen bits, the upper six in reverse order, and a difference of four.
    let w = Writer::default().put(15, 5).put(0, 10).put(0, 10).put(0, 10);
    let w = w.put(8, 4).put(0b00_0011, 6).put(0, 4 + 6 + 4 + 6);
    let words = (0..3).fold(w.put(0, 3), |w, _| w.put(15, 4)).words();
    assert_eq!(
        row(unsigned, words)[..2].iter().map(|t| t[0]).collect::<Vec<_>>(),
        [(0xc000 * 31) >> 6, (0xbff8 * 31) >> 6]
    );
    // An unused mode number.
    assert_eq!(unsigned.texel([19, 0], 0, 0), [0; 4]);
}

#[test]
fn bc7_mixes_in_64ths() {
    // Mode 6: one pair, seven bits plus a lowest one each, indices of four bits.
    let w = Writer::default().put(1 << 6, 7);
    let w = [127, 0, 0, 127, 64, 64, 127, 127].into_iter().fold(w, |w, v| w.put(v, 7));
    let words = w.put(0b01, 2).put(0, 3).put(15, 4).put(8, 4).words();
    assert_eq!(row(Block::Bc7, words)[..3], [[255, 1, 129, 255], [0, 254, 128, 254], [120, 135, 128, 254]]);
    // Mode 5: alpha has its own indices, and is swapped with red.
    let w = Writer::default().put(1 << 5, 6).put(1, 2);
    let w = [127, 0, 0, 0, 0, 0].into_iter().fold(w, |w, v| w.put(v, 7)).put(10, 8).put(200, 8);
    let words = w.put(0, 31).put(1, 1).put(0, 30).words();
    assert_eq!(Block::Bc7.texel(words, 0, 0), [72, 0, 0, 255]);
    // Mode 1, shape 13: an upper and a lower half; a lowest bit shared by both endpoints of a pair.
    let w = Writer::default().put(1 << 1, 2).put(13, 6);
    let w = [63, 63, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0].into_iter().fold(w, |w, v| w.put(v, 6));
    let words = w.put(0b01, 2).words();
    assert_eq!([0, 1, 2, 3].map(|y| Block::Bc7.texel(words, 3, y)[0]), [255, 255, 0, 0]);
    assert_eq!((Block::Bc7.texel(words, 0, 0)[1], Block::Bc7.texel(words, 0, 3)), (2, [0, 0, 0, 255]));
    // A block without a valid mode.
    assert_eq!(Block::Bc7.texel([0xff00, u64::MAX], 1, 1), [0; 4]);
}
