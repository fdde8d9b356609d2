//! Arrays whose memory the program maps, compared with a model: which texels have memory, and what was
//! written.

use crate::by_name::status::{INVALID_HANDLE, INVALID_VALUE, OK};
use crate::by_name::{Library, at, isolated};

const SPARSE: u64 = 0x40;
const DEFERRED: u64 = 0x80;
const LAYERED: u64 = 1;
const SURFACE: u64 = 2;
const VIDEO: u64 = 0x100;
const FLOAT: u64 = 0x20;
const TILE: u64 = 64 << 10;
/// `CU_MEMORYTYPE_HOST`, `CU_MEMORYTYPE_ARRAY`.
const HOST: u64 = 1;
const ARRAY: u64 = 3;

/// The ways to run kernels.
const ENGINES: [&[(&str, &str)]; 2] =
    [&[("ANYWARP_ENGINE", "interpreter")], &[("ANYWARP_ENGINE", "compiled"), ("ANYWARP_WORKERS", "2")]];

const KERNELS: &str = "
.version 7.0
.target sm_52
.address_size 64
.visible .entry read(.param .u64 t, .param .u64 out, .param .u32 width, .param .u32 layer,
    .param .u32 level) {
    .reg .pred %p; .reg .b32 %r<12>; .reg .b64 %d<5>; .reg .f32 %f<3>;
    ld.param.u64 %d0, [t]; ld.param.u64 %d1, [out]; ld.param.u32 %r0, [width];
    ld.param.u32 %r1, [layer]; ld.param.u32 %r2, [level];
    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r3, %r3, 64, %r4; mov.u32 %r5, %ctaid.y;
    setp.ge.u32 %p, %r3, %r0; @%p ret;
    mad.lo.u32 %r6, %r5, %r0, %r3; mul.wide.u32 %d2, %r6, 4; add.u64 %d2, %d1, %d2;
    setp.eq.u32 %p, %r2, 99; @%p bra FLAT;
    cvt.rn.f32.u32 %f0, %r3; cvt.rn.f32.u32 %f1, %r5; cvt.rn.f32.u32 %f2, %r0;
    add.f32 %f0, %f0, 0f3f000000; add.f32 %f1, %f1, 0f3f000000;
    div.rn.f32 %f0, %f0, %f2; div.rn.f32 %f1, %f1, %f2; cvt.rn.f32.u32 %f2, %r2;
    tex.level.a2d.v4.u32.f32 {%r7, %r8, %r9, %r10}, [%d0, {%r1, %f0, %f1, %f1}], %f2;
    bra STORE;
FLAT: tex.2d.v4.u32.s32 {%r7, %r8, %r9, %r10}, [%d0, {%r3, %r5}];
STORE: st.global.u32 [%d2], %r7;
}
.visible .entry surface(.param .u64 s, .param .u64 out, .param .u32 width, .param .u32 add,
    .param .u32 unused) {
    .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<3>;
    ld.param.u64 %d0, [s]; ld.param.u64 %d1, [out]; ld.param.u32 %r0, [width]; ld.param.u32 %r1, [add];
    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r3, %r3, 64, %r4; mov.u32 %r5, %ctaid.y;
    setp.ge.u32 %p, %r3, %r0; @%p ret;
    mad.lo.u32 %r6, %r5, %r0, %r3; mul.wide.u32 %d2, %r6, 4; add.u64 %d2, %d1, %d2;
    shl.b32 %r4, %r3, 2;
    suld.b.2d.b32.trap {%r7}, [%d0, {%r4, %r5}]; st.global.u32 [%d2], %r7;
    add.u32 %r8, %r6, %r1;
    sust.b.2d.b32.trap [%d0, {%r4, %r5}], {%r8};
}
";

/// A description of an array of single 32-bit integers.
fn shape(width: u64, height: u64, depth: u64, flags: u64) -> [u64; 5] {
    // Unsigned integers of 32 bits, one channel; the flags.
    [width, height, depth, 0x03 | 1 << 32, flags]
}

/// Memory for tiles.
fn pool(cuda: Library, size: u64) -> u64 {
    // `CUmemAllocationProp`: type, handle types, location (type, id), meta data, flags with the usage at 2.
    let mut words = [1u32, 0, 1, 0, 0, 0, 0x1_0000, 0];
    cuda.made("cuMemCreate", &[size, at(&mut words), 0])
}

/// A part to map: a level's tiles, or bytes of a mip tail.
#[derive(Clone, Copy)]
enum Part {
    Level { level: u32, layer: u32, offset: [u32; 3], extent: [u32; 3] },
    Tail { layer: u32, offset: u64, size: u64 },
}

/// `CUarrayMapInfo`: kind 0 of an array, 1 of a mipmap; memory and offset, or `None` to unmap.
fn mapping(kind: u64, array: u64, part: Part, memory: Option<(u64, u64)>) -> [u64; 12] {
    let pair = |a: u32, b: u32| u64::from(a) | u64::from(b) << 32;
    let (part_kind, words) = match part {
        Part::Level { level, layer, offset: [x, y, z], extent: [width, height, depth] } => {
            (0, [pair(level, layer), pair(x, y), pair(z, width), pair(height, depth)])
        }
        Part::Tail { layer, offset, size } => (1, [u64::from(layer), offset, size, 0]),
    };
    let (handle, offset) = memory.unwrap_or_default();
    let operation = if memory.is_some() { 1 } else { 2 };
    let [a, b, c, d] = words;
    [kind, array, part_kind, a, b, c, d, operation, handle, offset, 1, 0]
}

/// Maps or unmaps in the default stream.
fn remap(cuda: Library, mut mapping: [u64; 12]) -> u32 {
    let status = cuda.call("cuMemMapArrayAsync", &[at(&mut mapping), 1, 0]);
    cuda.ok("cuCtxSynchronize", &[]);
    status
}

/// A copy of a box between host memory without gaps and an array, from an element on.
fn copy(cuda: Library, host: &mut [u32], array: u64, offset: [u64; 3], extent: [u64; 3], to_array: bool) {
    let [x, y, z] = offset;
    let [width, height, depth] = extent;
    assert_eq!(host.len() as u64, width * height * depth);
    let memory = [0, 0, 0, 0, HOST, host.as_mut_ptr() as u64, 0, 0, 0, width * 4, height];
    let image = [x * 4, y, z, 0, ARRAY, 0, 0, array, 0, 0, 0];
    let (from, to) = if to_array { (memory, image) } else { (image, memory) };
    let mut words = [&from[..], &to, &[width * 4, height, depth]].concat();
    cuda.ok("cuMemcpy3D_v2", &[words.as_mut_ptr() as u64]);
}

/// A texture of an array (kind 0) that reads integers at integer coordinates, or of a mipmap (1) at
/// coordinates from 0 to 1.
fn texture(cuda: Library, kind: u64, array: u64) -> u64 {
    // Integers; normalised coordinates.
    try_texture(cuda, kind, array, if kind == 1 { 3 } else { 1 }).expect("a texture")
}

/// A texture with these flags, or the status.
fn try_texture(cuda: Library, kind: u64, array: u64, flags: u32) -> Result<u64, u32> {
    let mut resource = [0u64; 20];
    (resource[0], resource[1]) = (kind, array);
    // Three address modes, filter, flags.
    let mut sampling = [0u32; 32];
    sampling[4] = flags;
    sampling[..3].copy_from_slice(&[1; 3]);
    // The largest level.
    sampling[9] = 99f32.to_bits();
    let mut object = 0u64;
    match cuda.call("cuTexObjectCreate", &[at(&mut object), at(&mut resource), at(&mut sampling), 0]) {
        OK => Ok(object),
        status => Err(status),
    }
}

struct Kernels(Library, u64);

impl Kernels {
    fn load(cuda: Library) -> Kernels {
        let text = std::ffi::CString::new(KERNELS).expect("no NUL");
        Kernels(cuda, cuda.made("cuModuleLoadData", &[text.as_ptr() as u64]))
    }

    /// Runs a kernel with a thread for each element of an image; returns what it writes.
    fn run(&self, name: &std::ffi::CStr, object: u64, [width, height]: [u32; 2], rest: [u32; 2]) -> Vec<u32> {
        let Kernels(cuda, module) = *self;
        let function = cuda.made("cuModuleGetFunction", &[module, name.as_ptr() as u64]);
        let size = u64::from(width * height * 4);
        let out = cuda.made("cuMemAlloc_v2", &[size]);
        let (mut object, mut address, [mut a, mut b], mut across) = (object, out, rest, width);
        let mut list = [at(&mut object), at(&mut address), at(&mut across), at(&mut a), at(&mut b)];
        let grid = [u64::from(width.div_ceil(64)), u64::from(height), 1, 64, 1, 1];
        cuda.ok("cuLaunchKernel", &[&[function][..], &grid, &[0, 0, at(&mut list), 0]].concat());
        let mut values = vec![0u32; (width * height) as usize];
        cuda.ok("cuMemcpyDtoH_v2", &[values.as_mut_ptr() as u64, out, size]);
        cuda.ok("cuMemFree_v2", &[out]);
        values
    }

    /// All texels of an image of one level.
    fn read(&self, texture: u64, size: [u32; 2]) -> Vec<u32> {
        self.run(c"read", texture, size, [0, 99])
    }

    /// All texels of a level of a layer.
    fn read_level(&self, texture: u64, size: [u32; 2], layer: u32, level: u32) -> Vec<u32> {
        self.run(c"read", texture, size, [layer, level])
    }
}

/// A part of one level, of two dimensions.
fn tiles(x: u32, y: u32, width: u32, height: u32) -> Part {
    Part::Level { level: 0, layer: 0, offset: [x, y, 0], extent: [width, height, 1] }
}

#[test]
fn tiles_without_memory_read_as_zero_and_drop_writes() {
    for engine in ENGINES {
        isolated("sparse::tiles_without_memory_read_as_zero_and_drop_writes", engine, || {
            let cuda = Library::start();
            let kernels = Kernels::load(cuda);
            // Tiles of 128 by 128: three by two, of which the last are cut off.
            const SIZE: [u32; 2] = [300, 200];
            let [width, height] = SIZE.map(u64::from);
            let array = cuda.made("cuArray3DCreate_v2", &[at(&mut shape(width, height, 0, SPARSE))]);
            let memory = pool(cuda, 2 << 20);
            let image = texture(cuda, 0, array);
            let pattern = |x: usize, y: usize| (y * 1000 + x + 1) as u32;
            let whole =
                || -> Vec<u32> { (0..200).flat_map(|y| (0..300).map(move |x| pattern(x, y))).collect() };
            let write = || copy(cuda, &mut whole(), array, [0; 3], [width, height, 1], true);
            // The image by what its tiles, `(x, y)`, hold.
            let expect = |what: &str, of: &dyn Fn(usize, usize) -> u32| {
                let model: Vec<u32> = (0..200).flat_map(|y| (0..300).map(move |x| of(x, y))).collect();
                assert!(kernels.read(image, SIZE) == model, "{what}: the texture");
                let mut copied = vec![7u32; model.len()];
                copy(cuda, &mut copied, array, [0; 3], [width, height, 1], false);
                assert!(copied == model, "{what}: the copy");
                // A part that begins and ends inside tiles.
                let mut part = vec![7u32; 100 * 30];
                copy(cuda, &mut part, array, [101, 115, 0], [100, 30, 1], false);
                let wanted: Vec<u32> =
                    (0..30).flat_map(|y| (0..100).map(move |x| of(x + 101, y + 115))).collect();
                assert!(part == wanted, "{what}: a part");
            };
            write();
            expect("nothing is mapped", &|_, _| 0);

            // The second tile; then the last column, whose two tiles are not whole.
            assert_eq!(remap(cuda, mapping(0, array, tiles(128, 0, 128, 128), Some((memory, 5 * TILE)))), OK);
            assert_eq!(remap(cuda, mapping(0, array, tiles(256, 0, 44, 200), Some((memory, 0)))), OK);
            write();
            let mapped = |x: usize, y: usize| (128..256).contains(&x) && y < 128 || x >= 256;
            expect("three tiles", &|x, y| if mapped(x, y) { pattern(x, y) } else { 0 });

            // Another tile with the same memory; the first is then taken away.
            assert_eq!(remap(cuda, mapping(0, array, tiles(0, 0, 128, 128), Some((memory, 5 * TILE)))), OK);
            assert_eq!(remap(cuda, mapping(0, array, tiles(128, 0, 128, 128), None)), OK);
            let moved = |x: usize, y: usize| match (x, y) {
                (..128, ..128) => pattern(x + 128, y),
                (256.., _) => pattern(x, y),
                _ => 0,
            };
            expect("a tile elsewhere", &moved);

            // What is written in part of a row, across a tile without memory.
            copy(cuda, &mut [9; 250], array, [20, 3, 0], [250, 1, 1], true);
            let written = move |x: usize, y: usize| match (x, y) {
                (20..128 | 256..270, 3) => 9,
                _ => moved(x, y),
            };
            expect("a row", &written);

            // Through a plain array and back, into the first rows.
            let plain = cuda.made("cuArray3DCreate_v2", &[at(&mut shape(width, height, 0, 0))]);
            let between = |from: u64, to: u64, y: u64| {
                let side = |array: u64, y: u64| [0, y, 0, 0, ARRAY, 0, 0, array, 0, 0, 0];
                let mut words = [&side(from, 0)[..], &side(to, y), &[width * 4, 10, 1]].concat();
                cuda.ok("cuMemcpy3D_v2", &[words.as_mut_ptr() as u64]);
            };
            between(array, plain, 0);
            between(plain, array, 120);
            let again = move |x: usize, y: usize| match (x, y) {
                (..128, 120..128) | (256.., 120..130) => written(x, y - 120),
                _ => written(x, y),
            };
            expect("copied rows", &again);

            // Surfaces read and write the same texels.
            let mut resource = [0u64; 20];
            resource[1] = array;
            let surface = cuda.made("cuSurfObjectCreate", &[at(&mut resource)]);
            let before: Vec<u32> = (0..200).flat_map(|y| (0..300).map(move |x| again(x, y))).collect();
            assert!(kernels.run(c"surface", surface, SIZE, [500, 0]) == before, "read by a surface");
            let after = move |x: usize, y: usize| match (x, y) {
                (..128, ..128) | (256.., _) => (y * 300 + x + 500) as u32,
                _ => 0,
            };
            expect("written by a surface", &after);

            // The memory stays while it is mapped, and is gone afterwards.
            let free = || {
                let (mut free, mut total) = (0u64, 0u64);
                cuda.ok("cuMemGetInfo_v2", &[at(&mut free), at(&mut total)]);
                free
            };
            let used = free();
            cuda.ok("cuMemRelease", &[memory]);
            expect("the handle has ended", &after);
            assert_eq!(free(), used);
            assert_eq!(remap(cuda, mapping(0, array, tiles(0, 0, 300, 200), None)), OK);
            assert_eq!(free(), used + (2 << 20));
            expect("all is unmapped", &|_, _| 0);
            cuda.rows(&[
                ("cuTexObjectDestroy", &[image], OK),
                ("cuSurfObjectDestroy", &[surface], OK),
                ("cuArrayDestroy", &[array], OK),
                ("cuArrayDestroy", &[plain], OK),
            ]);
        });
    }
}

#[test]
fn levels_and_tails_of_layers_are_mapped_apart() {
    for engine in ENGINES {
        isolated("sparse::levels_and_tails_of_layers_are_mapped_apart", engine, || {
            let cuda = Library::start();
            let kernels = Kernels::load(cuda);
            let mut description = shape(256, 256, 3, SPARSE | LAYERED);
            let mipmap = cuda.made("cuMipmappedArrayCreate", &[at(&mut description), 8]);
            let memory = pool(cuda, 2 << 20);
            let image = texture(cuda, 1, mipmap);
            // Level 1 of layer 2 is one tile; the tails begin at level 2.
            let whole = Part::Level { level: 1, layer: 2, offset: [0; 3], extent: [128, 128, 1] };
            let tail = Part::Tail { layer: 1, offset: 0, size: TILE };
            assert_eq!(remap(cuda, mapping(1, mipmap, whole, Some((memory, 3 * TILE)))), OK);
            assert_eq!(remap(cuda, mapping(1, mipmap, tail, Some((memory, TILE)))), OK);
            let side = |level: u32| 256u32 >> level;
            let texel = |level: u32, layer: u32, index: usize| (level + 1) << 24 | layer << 20 | index as u32;
            let mut made = 0;
            for level in 0..8 {
                let array = cuda.made("cuMipmappedArrayGetLevel", &[mipmap, u64::from(level)]);
                let elements = (side(level) * side(level)) as usize;
                let values = (0..3).flat_map(|layer| (0..elements).map(move |i| texel(level, layer, i)));
                let mut values: Vec<u32> = values.collect();
                let size = u64::from(side(level));
                copy(cuda, &mut values, array, [0; 3], [size, size, 3], true);
            }
            for (level, layer) in (0..8).flat_map(|level| (0..3).map(move |layer| (level, layer))) {
                let present = (level, layer) == (1, 2) || (level >= 2 && layer == 1);
                let read = kernels.read_level(image, [side(level); 2], layer, level);
                let right = read
                    .iter()
                    .enumerate()
                    .all(|(i, value)| *value == if present { texel(level, layer, i) } else { 0 });
                assert!(right, "level {level}, layer {layer}: {:x?}", &read[..1]);
                made += u32::from(present);
            }
            assert_eq!(made, 7);
            // A tail is unmapped; the level stays.
            assert_eq!(remap(cuda, mapping(1, mipmap, tail, None)), OK);
            assert!(kernels.read_level(image, [64; 2], 1, 2) == [0; 64 * 64]);
            assert_eq!(kernels.read_level(image, [128; 2], 2, 1)[5], texel(1, 2, 5));
            cuda.rows(&[("cuTexObjectDestroy", &[image], OK), ("cuMipmappedArrayDestroy", &[mipmap], OK)]);
        });
    }
}

#[test]
fn volumes_have_tiles_in_three_dimensions() {
    isolated("sparse::volumes_have_tiles_in_three_dimensions", &[], || {
        let cuda = Library::start();
        // Tiles of 32 by 32 by 16: three by two by two.
        let [width, height, depth] = [70usize, 40, 20];
        let extent = [70, 40, 20];
        let array = cuda.made("cuArray3DCreate_v2", &[at(&mut shape(70, 40, 20, SPARSE))]);
        let memory = pool(cuda, 2 << 20);
        let box_of = |offset: [u32; 3], extent: [u32; 3]| Part::Level { level: 0, layer: 0, offset, extent };
        let some = box_of([32, 0, 0], [32, 40, 20]);
        assert_eq!(remap(cuda, mapping(0, array, some, Some((memory, 0)))), OK);
        let elements = width * height * depth;
        let mut values: Vec<u32> = (1..=elements as u32).collect();
        copy(cuda, &mut values, array, [0; 3], extent, true);
        let mut back = vec![7u32; elements];
        copy(cuda, &mut back, array, [0; 3], extent, false);
        let kept = |i: usize| if (32..64).contains(&(i % width)) { i as u32 + 1 } else { 0 };
        assert!(back.iter().enumerate().all(|(i, value)| *value == kept(i)));
        // The order of tiles in memory: across, down, deep. The last one alone, mapped at the place of the
        // first.
        assert_eq!(remap(cuda, mapping(0, array, some, None)), OK);
        let first = box_of([0; 3], [32, 32, 16]);
        assert_eq!(remap(cuda, mapping(0, array, first, Some((memory, 3 * TILE)))), OK);
        copy(cuda, &mut back, array, [0; 3], extent, false);
        let element = |x: usize, y: usize, z: usize| (z * height + y) * width + x;
        assert_eq!(back[element(0, 0, 0)], element(32, 32, 16) as u32 + 1);
        assert_eq!(back[element(31, 7, 3)], element(63, 39, 19) as u32 + 1);
        assert_eq!(back[element(32, 0, 0)], 0);
    });
}

#[test]
fn deferred_arrays_are_mapped_as_a_whole() {
    for engine in ENGINES {
        isolated("sparse::deferred_arrays_are_mapped_as_a_whole", engine, || {
            let cuda = Library::start();
            let kernels = Kernels::load(cuda);
            const SIZE: [u32; 2] = [200, 100];
            let mut description = shape(200, 100, 0, DEFERRED | SURFACE);
            let array = cuda.made("cuArray3DCreate_v2", &[at(&mut description)]);
            let mut need = [0u64; 4];
            cuda.ok("cuArrayGetMemoryRequirements", &[at(&mut need), array, 0]);
            // 832 bytes by 128 rows.
            assert_eq!(need[..2], [2 * TILE, TILE]);
            let (first, second) = (pool(cuda, 2 << 20), pool(cuda, 2 << 20));
            let image = texture(cuda, 0, array);
            let mut resource = [0u64; 20];
            resource[1] = array;
            let surface = cuda.made("cuSurfObjectCreate", &[at(&mut resource)]);
            let count = |start: u32| (0..20_000).map(|i| start + i).collect::<Vec<u32>>();
            let nothing = vec![0u32; 20_000];
            assert!(kernels.run(c"surface", surface, SIZE, [1, 0]) == nothing, "no memory");
            assert!(kernels.run(c"surface", surface, SIZE, [1, 0]) == nothing, "what was written is dropped");
            // The part is ignored, whatever its kind.
            let garbage = Part::Tail { layer: 77, offset: 3, size: 5 };
            let map = |memory, offset| remap(cuda, mapping(0, array, garbage, Some((memory, offset))));
            assert_eq!(map(first, TILE), OK);
            assert!(kernels.run(c"surface", surface, SIZE, [1, 0]) == nothing, "new memory");
            assert!(kernels.read(image, SIZE) == count(1));
            assert_eq!(map(second, 0), OK);
            assert!(kernels.read(image, SIZE) == nothing, "other memory");
            copy(cuda, &mut count(50), array, [0; 3], [200, 100, 1], true);
            assert!(kernels.read(image, SIZE) == count(50));
            // What is too near the end of the memory, or not at a tile.
            assert_eq!(map(second, (2 << 20) - TILE), INVALID_VALUE);
            assert_eq!(map(second, 100), INVALID_VALUE);
            assert_eq!(map(first, TILE), OK);
            assert!(kernels.read(image, SIZE) == count(1), "the memory kept its contents");
            assert_eq!(remap(cuda, mapping(0, array, garbage, None)), OK);
            assert!(kernels.read(image, SIZE) == nothing, "unmapped");

            // A mipmap: all levels at once.
            let mut description = shape(64, 64, 2, DEFERRED | LAYERED);
            let mipmap = cuda.made("cuMipmappedArrayCreate", &[at(&mut description), 3]);
            assert_eq!(remap(cuda, mapping(1, mipmap, garbage, Some((second, 0)))), OK);
            let image = texture(cuda, 1, mipmap);
            for level in 0..3u32 {
                let side = 64 >> level;
                let array = cuda.made("cuMipmappedArrayGetLevel", &[mipmap, u64::from(level)]);
                let elements = 2 * side * side;
                let mut values: Vec<u32> = (0..elements).map(|i| (level + 1) << 16 | i).collect();
                let size = u64::from(side);
                copy(cuda, &mut values, array, [0; 3], [size, size, 2], true);
            }
            for (level, layer) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
                let side = 64u32 >> level;
                let start = ((level + 1) << 16) + layer * side * side;
                let expected: Vec<u32> = (0..side * side).map(|i| start + i).collect();
                assert!(kernels.read_level(image, [side; 2], layer, level) == expected, "{level} {layer}");
            }
        });
    }
}

#[test]
fn compressed_formats_have_tiles_of_whole_blocks() {
    isolated("sparse::compressed_formats_have_tiles_of_whole_blocks", &[], || {
        let cuda = Library::start();
        // Blocks of 8 bytes in tiles of 128 by 64, and of 16 bytes in tiles of 64 by 64, as in Vulkan.
        for (format, channels, tile) in [(0x91u64, 4u64, [512u32, 256, 1]), (0x95, 4, [256, 256, 1])] {
            let mut description = [1024u64, 1024, 0, format | channels << 32, SPARSE];
            let array = cuda.made("cuArray3DCreate_v2", &[at(&mut description)]);
            let mut properties = [9u32; 12];
            cuda.ok("cuArrayGetSparseProperties", &[at(&mut properties), array]);
            assert_eq!(properties[..3], tile, "{format:x}");
            let memory = pool(cuda, 2 << 20);
            let [width, height, _] = tile;
            assert_eq!(remap(cuda, mapping(0, array, tiles(width, 0, width, height), Some((memory, 0)))), OK);
            // A row of blocks, of 32-bit words, from the first block of the second tile on.
            let words = width / 4 * if format == 0x91 { 2 } else { 4 };
            let mut row: Vec<u32> = (1..=2 * words).collect();
            copy(cuda, &mut row, array, [0; 3], [u64::from(2 * words), 1, 1], true);
            let mut back = vec![7u32; 2 * words as usize];
            copy(cuda, &mut back, array, [0; 3], [u64::from(2 * words), 1, 1], false);
            let kept = |i: usize| if i < words as usize { 0 } else { i as u32 + 1 };
            assert!(back.iter().enumerate().all(|(i, value)| *value == kept(i)), "{format:x}");
        }
    });
}

/// An array of a format of several planes, and its first two.
fn planar(cuda: Library, format: u64, [width, height]: [u64; 2], flags: u64) -> (u64, [u64; 2]) {
    let mut description = [width, height, 0, format | 3 << 32, VIDEO | flags];
    let whole = cuda.made("cuArray3DCreate_v2", &[at(&mut description)]);
    (whole, [0, 1].map(|plane| cuda.made("cuArrayGetPlane", &[whole, plane])))
}

/// Writes consecutive numbers to an image, a row of so many words each, and reads them back.
fn written(cuda: Library, array: u64, [words, rows]: [u64; 2]) -> Vec<u32> {
    let mut values: Vec<u32> = (1..=(words * rows) as u32).collect();
    copy(cuda, &mut values, array, [0; 3], [words, rows, 1], true);
    values.fill(7);
    copy(cuda, &mut values, array, [0; 3], [words, rows, 1], false);
    values
}

/// The planes of an image of 1024 by 512: words of a row, rows, and a tile of each.
const NV12: [([u64; 2], [u32; 2]); 2] = [([256, 512], [256, 256]), ([256, 256], [256, 128])];
const P010: [([u64; 2], [u32; 2]); 2] = [([512, 512], [256, 128]), ([512, 256], [128, 128])];

#[test]
fn parts_of_planes_are_counted_from_the_beginning_of_the_array() {
    let name = "sparse::parts_of_planes_are_counted_from_the_beginning_of_the_array";
    for engine in ENGINES {
        isolated(name, engine, || {
            let cuda = Library::start();
            let kernels = Kernels::load(cuda);
            // The tiles of a row are four of the first plane, and two or four of the second.
            for (format, [luma, chroma], across) in [(0xb0u64, NV12, 2), (0x9f, P010, 4)] {
                let (whole, planes) = planar(cuda, format, [1024, 512], SPARSE);
                let memory = pool(cuda, 4 << 20);
                for (plane, (_, [width, height])) in planes.into_iter().zip([luma, chroma]) {
                    let mut properties = [9u32; 12];
                    cuda.ok("cuArrayGetSparseProperties", &[at(&mut properties), plane]);
                    assert_eq!(properties[..7], [width, height, 1, 0, 0, 0, 0], "{format:x}");
                }
                // Of the first plane the tile 5; of the second the tiles 1 and `across`.
                let ([words, rows], [width, height]) = luma;
                let [w, h] = chroma.1;
                for (plane, part, place) in [
                    (planes[0], tiles(width, height, width, height), 3),
                    (planes[1], tiles(w, 0, w, h), 4),
                    (planes[1], tiles(0, h, w, h), 5),
                ] {
                    assert_eq!(remap(cuda, mapping(0, plane, part, Some((memory, place * TILE)))), OK);
                }
                let present = |i: u32| {
                    let [x, y] = [i % words as u32, i / words as u32];
                    [5, 1, across].contains(&(y / height * 4 + x / (words as u32 / 4)))
                };
                let model: Vec<u32> =
                    (0..(words * rows) as u32).map(|i| if present(i) { i + 1 } else { 0 }).collect();
                assert!(written(cuda, planes[0], [words, rows]) == model, "{format:x}");
                let second = written(cuda, planes[1], chroma.0);
                assert!(second.iter().all(|word| *word == 0), "{format:x}: the second plane has no memory");
                // Planes of NV12 have no textures.
                if format == 0xb0 {
                    for (plane, flags) in planes.into_iter().flat_map(|plane| [(plane, 0), (plane, 1)]) {
                        assert_eq!(try_texture(cuda, 0, plane, flags), Err(INVALID_VALUE));
                    }
                } else {
                    let image = texture(cuda, 0, planes[0]);
                    let read = kernels.read(image, [1024, rows as u32]);
                    let texel = |i: usize| model[i / 2] >> (16 * (i % 2)) & 0xffff;
                    assert!(read.iter().enumerate().all(|(i, value)| *value == texel(i)), "texture");
                    cuda.ok("cuTexObjectDestroy", &[image]);
                }
                let end: [(_, &[u64], _); 2] =
                    [("cuArrayDestroy", &[whole], OK), ("cuMemRelease", &[memory], OK)];
                cuda.rows(&end);
            }
        });
    }
}

#[test]
fn planes_are_mapped_together_in_tails_and_deferred_arrays() {
    isolated("sparse::planes_are_mapped_together_in_tails_and_deferred_arrays", &[], || {
        let cuda = Library::start();
        let memory = pool(cuda, 4 << 20);
        let numbers = |[words, rows]: [u64; 2]| (1..=(words * rows) as u32).collect::<Vec<u32>>();
        // Both planes are smaller than a tile: the tail has one tile for each.
        let (whole, planes) = planar(cuda, 0xb0, [64, 32], SPARSE);
        let mut properties = [9u32; 12];
        cuda.ok("cuArrayGetSparseProperties", &[at(&mut properties), whole]);
        assert_eq!(properties[..7], [256, 256, 1, 0, 2 * TILE as u32, 0, 1]);
        let tail = Part::Tail { layer: 0, offset: 0, size: 2 * TILE };
        assert_eq!(remap(cuda, mapping(0, whole, tail, Some((memory, 0)))), OK);
        for (plane, size) in planes.into_iter().zip([[16, 32], [16, 16]]) {
            assert_eq!(written(cuda, plane, size), numbers(size));
        }
        // The planes follow one another; then other memory for the second, which the first one gets.
        let (whole, planes) = planar(cuda, 0xb0, [1024, 512], DEFERRED);
        let sizes = NV12.map(|(size, _)| size);
        let part = tiles(0, 0, 1, 1);
        let map = |array, offset| remap(cuda, mapping(0, array, part, Some((memory, offset))));
        assert_eq!(map(whole, TILE), OK);
        for (plane, size) in planes.into_iter().zip(sizes) {
            assert!(written(cuda, plane, size) == numbers(size));
        }
        assert_eq!(map(planes[1], 32 * TILE), OK);
        for (plane, [words, rows], gone) in [(planes[0], sizes[0], 4 * TILE / 4), (planes[1], sizes[1], 0)] {
            let mut values = vec![7u32; (words * rows) as usize];
            copy(cuda, &mut values, plane, [0; 3], [words, rows, 1], false);
            let kept = |i: u64| if i < gone { 0 } else { i as u32 + 1 };
            assert!((0..).zip(&values).all(|(i, value)| *value == kept(i)));
        }
        assert_eq!(
            (map(whole, (4 << 20) - 12 * TILE), map(whole, (4 << 20) - 11 * TILE)),
            (OK, INVALID_VALUE)
        );
        // A mipmap needs what its first plane needs, and its planes can be mapped apart.
        let mut description = [1024u64, 512, 0, 0xb0 | 3 << 32, VIDEO | DEFERRED];
        let mipmap = cuda.made("cuMipmappedArrayCreate", &[at(&mut description), 1]);
        let level = cuda.made("cuMipmappedArrayGetLevel", &[mipmap, 0]);
        let plane = cuda.made("cuArrayGetPlane", &[level, 0]);
        let mut need = [0u64; 4];
        cuda.ok("cuMipmappedArrayGetMemoryRequirements", &[at(&mut need), mipmap, 0]);
        assert_eq!(need[..2], [8 * TILE, TILE]);
        assert_eq!((map(level, 0), map(plane, 0)), (INVALID_VALUE, OK));
        assert_eq!(
            cuda.call("cuMipmappedArrayCreate", &[at(&mut need), at(&mut description), 2]),
            INVALID_VALUE
        );
    });
}

/// Tiles and sizes are an H200's (`tests/probe/README.md`).
#[test]
fn packed_video_formats_have_tiles() {
    isolated("sparse::packed_video_formats_have_tiles", &[], || {
        let cuda = Library::start();
        // Format, channels, words of an element, rows of a tile, bytes of a deferred array.
        for (format, channels, words, rows, size) in [
            (0xa5u64, 4u64, 1, 128u32, 2u64 << 20),
            (0xa6, 2, 1, 128, 4 << 20),
            (0xa7, 2, 1, 128, 4 << 20),
            (0xa8, 4, 1, 128, 4 << 20),
            (0xa9, 1, 1, 128, 4 << 20),
            (0xb1, 4, 2, 64, 8 << 20),
        ] {
            let made = |flags: u64| {
                let mut description = [1024u64, 1024, 0, format | channels << 32, VIDEO | flags];
                cuda.made("cuArray3DCreate_v2", &[at(&mut description)])
            };
            let (sparse, deferred) = (made(SPARSE), made(DEFERRED));
            let mut properties = [9u32; 12];
            cuda.ok("cuArrayGetSparseProperties", &[at(&mut properties), sparse]);
            assert_eq!(properties[..7], [128, rows, 1, 0, 0, 0, 0], "{format:x}");
            let mut need = [0u64; 4];
            cuda.ok("cuArrayGetMemoryRequirements", &[at(&mut need), deferred, 0]);
            assert_eq!(need[..2], [size, TILE], "{format:x}");
            // The second tile of the first row, and all of the deferred array.
            let memory = pool(cuda, 16 << 20);
            assert_eq!(remap(cuda, mapping(0, sparse, tiles(128, 0, 128, rows), Some((memory, 0)))), OK);
            assert_eq!(remap(cuda, mapping(0, deferred, tiles(0, 0, 1, 1), Some((memory, 2 << 20)))), OK);
            let count = 256 * words as usize;
            for (array, first) in [(sparse, count / 2), (deferred, 0)] {
                let extent = [count as u64, 1, 1];
                let mut row: Vec<u32> = (1..=count as u32).collect();
                copy(cuda, &mut row, array, [0; 3], extent, true);
                let mut back = vec![7u32; count];
                copy(cuda, &mut back, array, [0; 3], extent, false);
                let kept = |i: usize| if i < first { 0 } else { i as u32 + 1 };
                assert!(back.iter().enumerate().all(|(i, value)| *value == kept(i)), "{format:x}");
            }
            // Rows of four bytes for each pixel of YUY2: the deferred array has memory for half of its rows.
            let all = written(cuda, deferred, [1024 * words, 1024]);
            let kept = |i: u64| i * 4 < size;
            assert!((0..).zip(&all).all(|(i, value)| *value == if kept(i) { i as u32 + 1 } else { 0 }));
        }
        // A sparse array of YUY2 has half of the memory that its tiles need. What is mapped at once has no
        // effect if it does not fit: of all layers the second, of one layer everything.
        for (layers, kept) in [(0u64, 0), (2, 512 * 512)] {
            let flags = VIDEO | SPARSE | if layers > 0 { LAYERED } else { 0 };
            let mut description = [512u64, 256, layers, 0xa5 | 4 << 32, flags];
            let array = cuda.made("cuArray3DCreate_v2", &[at(&mut description)]);
            let memory = pool(cuda, 2 << 20);
            for layer in 0..layers.max(1) as u32 {
                let part = Part::Level { level: 0, layer, offset: [0; 3], extent: [512, 256, 1] };
                assert_eq!(remap(cuda, mapping(0, array, part, Some((memory, 0)))), OK);
            }
            let all = written(cuda, array, [256, 256]);
            assert!((0..).zip(&all).all(|(i, value)| *value == if i * 4 < kept { i as u32 + 1 } else { 0 }));
            cuda.ok("cuArrayDestroy", &[array]);
            // The first tile of each row apart: only that of the first row is one of the array's tiles.
            let mut description = [512u64, 256, 0, 0xa5 | 4 << 32, VIDEO | SPARSE];
            let array = cuda.made("cuArray3DCreate_v2", &[at(&mut description)]);
            assert_eq!(remap(cuda, mapping(0, array, tiles(0, 0, 128, 256), Some((memory, 0)))), OK);
            let all = written(cuda, array, [256, 256]);
            let first = |i: u64| i % 256 < 128 && i / 256 < 128;
            assert!((0..).zip(&all).all(|(i, value)| *value == if first(i) { i as u32 + 1 } else { 0 }));
        }
    });
}

#[test]
fn wrong_mappings_are_refused() {
    let two = [("ANYWARP_DEVICES", "2")];
    isolated("sparse::wrong_mappings_are_refused", &two, || {
        let cuda = Library::start();
        let memory = pool(cuda, 2 << 20);
        let mipmap = cuda.made("cuMipmappedArrayCreate", &[at(&mut shape(256, 256, 2, SPARSE | LAYERED)), 8]);
        let small = cuda.made("cuArray3DCreate_v2", &[at(&mut shape(16, 16, 3, SPARSE | LAYERED))]);
        let level = cuda.made("cuMipmappedArrayGetLevel", &[mipmap, 0]);
        let volume = cuda.made("cuArray3DCreate_v2", &[at(&mut shape(64, 64, 64, SPARSE))]);
        let of = |level, layer, offset, extent| Part::Level { level, layer, offset, extent };
        let tail = |layer, offset, size| Part::Tail { layer, offset, size };
        let tile = [128, 128, 1];
        let good = of(0, 1, [128, 0, 0], tile);
        for (kind, array, part, status) in [
            (1, mipmap, good, OK),
            (1, mipmap, of(1, 0, [0; 3], tile), OK),
            (1, mipmap, of(2, 0, [0; 3], [64, 64, 1]), INVALID_VALUE),
            (1, mipmap, of(9, 0, [0; 3], tile), INVALID_VALUE),
            (1, mipmap, of(u32::MAX, 0, [0; 3], tile), INVALID_VALUE),
            (1, mipmap, of(0, 2, [0; 3], tile), INVALID_VALUE),
            (1, mipmap, of(0, u32::MAX, [0; 3], tile), INVALID_VALUE),
            (1, mipmap, of(0, 0, [0, 0, 1], tile), INVALID_VALUE),
            (1, mipmap, of(0, 0, [0; 3], [128, 128, 2]), INVALID_VALUE),
            (1, mipmap, of(0, 0, [0; 3], [128, 128, 0]), INVALID_VALUE),
            (1, mipmap, of(0, 0, [0, 64, 0], tile), INVALID_VALUE),
            (1, mipmap, of(0, 0, [u32::MAX - 127, 0, 0], tile), INVALID_VALUE),
            (1, mipmap, of(0, 0, [0; 3], [u32::MAX, 128, 1]), INVALID_VALUE),
            (1, mipmap, tail(1, 0, TILE), OK),
            (1, mipmap, tail(2, 0, TILE), INVALID_VALUE),
            (1, mipmap, tail(0, TILE, TILE), INVALID_VALUE),
            (1, mipmap, tail(0, 0, 2 * TILE), INVALID_VALUE),
            (1, mipmap, tail(0, 0, 100), INVALID_VALUE),
            (1, mipmap, tail(0, 0, 0), INVALID_VALUE),
            (1, mipmap, tail(0, u64::MAX - TILE + 1, TILE), INVALID_VALUE),
            (0, mipmap, good, INVALID_HANDLE),
            (0, level, good, INVALID_VALUE),
            (1, level, good, INVALID_HANDLE),
            (0, mipmap + 8, good, INVALID_HANDLE),
            (0, 0, good, INVALID_VALUE),
            // All of a small array is one tail, which its layers have in common.
            (0, small, tail(0, 0, TILE), OK),
            (0, small, tail(1, 0, TILE), INVALID_VALUE),
            (0, small, of(0, 0, [0; 3], [16, 16, 1]), INVALID_VALUE),
            (0, volume, of(0, 0, [32, 0, 48], [32, 64, 16]), OK),
            (0, volume, of(0, 1, [0; 3], [32, 32, 16]), INVALID_VALUE),
            (0, volume, of(0, 0, [0, 0, 8], [32, 32, 16]), INVALID_VALUE),
        ] {
            for memory in [Some((memory, 0)), None] {
                assert_eq!(remap(cuda, mapping(kind, array, part, memory)), status, "{kind} {array:x}");
            }
        }
        // Memory of another device, memory that has ended, the mask of another device.
        let mut words = [1u32, 0, 1, 1, 0, 0, 0x1_0000, 0];
        let far = cuda.made("cuMemCreate", &[2 << 20, at(&mut words), 0]);
        let gone = pool(cuda, 2 << 20);
        cuda.ok("cuMemRelease", &[gone]);
        for wrong in [far, gone, memory + 1, u64::MAX] {
            assert_eq!(remap(cuda, mapping(1, mipmap, good, Some((wrong, 0)))), INVALID_VALUE);
        }
        let mut other = mapping(1, mipmap, good, Some((memory, 0)));
        for devices in [0, 2, 3, 1 << 31] {
            other[10] = devices;
            assert_eq!(remap(cuda, other), INVALID_VALUE, "devices {devices:x}");
        }
        assert_eq!(remap(cuda, mapping(1, mipmap, good, Some((memory, u64::MAX - TILE + 1)))), INVALID_VALUE);
        // Nothing of a list is done if one entry is wrong.
        let (one, bad) = (of(1, 1, [0; 3], tile), of(0, 9, [0; 3], tile));
        let lists = [one, bad].map(|part| mapping(1, mipmap, part, Some((memory, 0))));
        let mut list = [[0u64; 12]; 2];
        list.copy_from_slice(&lists);
        cuda.rows(&[
            ("cuMemMapArrayAsync", &[at(&mut list), 2, 0], INVALID_VALUE),
            ("cuMemMapArrayAsync", &[at(&mut list), u64::from(u32::MAX), 0], INVALID_VALUE),
            ("cuMemMapArrayAsync", &[0, 1, 0], INVALID_VALUE),
        ]);
        // The levels of a sparse mipmap are copied to without memory.
        let array = cuda.made("cuMipmappedArrayGetLevel", &[mipmap, 1]);
        copy(cuda, &mut [1; 128], array, [0, 0, 1], [128, 1, 1], true);
        let mut back = [7; 128];
        copy(cuda, &mut back, array, [0, 0, 1], [128, 1, 1], false);
        assert_eq!(back, [0; 128]);
        // Shapes that cannot be sparse, and those that are too large.
        let mut out = 0u64;
        let huge = shape(32768, 32768, 2048, SPARSE | LAYERED);
        let wide = [32768u64, 32768, 2048, FLOAT | 4 << 32, SPARSE | LAYERED];
        for (mut description, status) in
            [(shape(64, 0, 0, SPARSE), INVALID_VALUE), (shape(64, 64, 0, SPARSE | SURFACE), INVALID_VALUE)]
        {
            assert_eq!(cuda.call("cuArray3DCreate_v2", &[at(&mut out), at(&mut description)]), status);
        }
        // A range of 8 TiB may exist or not; the process survives either.
        for mut description in [huge, wide] {
            let status = cuda.call("cuArray3DCreate_v2", &[at(&mut out), at(&mut description)]);
            assert!(matches!(status, OK | 2), "{status}");
        }
        // A context that ends takes its arrays along.
        cuda.ok("cuDevicePrimaryCtxReset_v2", &[0]);
        cuda.primary();
        assert_eq!(remap(cuda, mapping(1, mipmap, good, Some((memory, 0)))), INVALID_HANDLE);
    });
}
