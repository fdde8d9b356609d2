//! Textures and surfaces in AMD code: samples are compared with those of PTX on the PTX device, everything
//! else with the texels.

use hwtruth::sample::{Turn, long};

use crate::support::*;
use crate::{Object, at, launch, ready};

/// Targets, and whether they have instructions that name a level.
const TARGETS: [(&str, bool); 5] =
    [("gfx906", true), ("gfx90a", false), ("gfx1030", true), ("gfx1100", true), ("gfx1201", true)];

const PTX: &str = r"
.version 7.0
.target sm_70
.address_size 64
.visible .entry sample(.param .u64 t, .param .u64 at, .param .u64 out)
{
    .reg .u32 %r1;
    .reg .f32 %f<7>;
    .reg .u64 %d<6>;
    ld.param.u64 %d1, [t];
    ld.param.u64 %d2, [at];
    ld.param.u64 %d3, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d4, %r1, 8;
    add.u64 %d4, %d2, %d4;
    ld.v2.f32 {%f1, %f2}, [%d4];
    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f1, %f2}];
    mul.wide.u32 %d5, %r1, 16;
    add.u64 %d5, %d3, %d5;
    st.v4.f32 [%d5], {%f3, %f4, %f5, %f6};
    ret;
}
.visible .entry gather(.param .u64 t, .param .u64 at, .param .u64 out)
{
    .reg .u32 %r1;
    .reg .f32 %f<7>;
    .reg .u64 %d<6>;
    ld.param.u64 %d1, [t];
    ld.param.u64 %d2, [at];
    ld.param.u64 %d3, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d4, %r1, 8;
    add.u64 %d4, %d2, %d4;
    ld.v2.f32 {%f1, %f2}, [%d4];
    tld4.g.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f1, %f2}];
    mul.wide.u32 %d5, %r1, 16;
    add.u64 %d5, %d3, %d5;
    st.v4.f32 [%d5], {%f3, %f4, %f5, %f6};
    ret;
}
";

const WIDTH: usize = 8;
const HEIGHT: usize = 4;
/// Lanes: all texels, and one more at each side.
const LANES: usize = (WIDTH + 2) * (HEIGHT + 2);

/// `hipChannelFormatKind`.
const SIGNED: u32 = 0;
const UNSIGNED: u32 = 1;
const FLOAT: u32 = 2;

/// Bytes of channels that differ from each other.
fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i * 37 + i / 5) as u8).collect()
}

fn array(hip: &Hip, bits: [i32; 4], kind: u32, data: &[u8]) -> P {
    const SURFACE: u32 = 2;
    let row = WIDTH * bits.iter().sum::<i32>() as usize / 8;
    let mut array = 0;
    assert_eq!((hip.hipMallocArray)(&mut array, &Channels(bits, kind), WIDTH, HEIGHT, SURFACE), 0);
    assert_eq!((hip.hipMemcpy2DToArray)(array, 0, 0, data.as_ptr().cast(), row, row, HEIGHT, 1), 0);
    array
}

fn texture(hip: &Hip, array: P, how: &Texture) -> P {
    let mut texture = 0;
    let memory = Resource { kind: 0, handle: array, rest: [0; 6] };
    assert_eq!((hip.hipCreateTextureObject)(&mut texture, &memory, how, 0), 0);
    texture
}

fn surface(hip: &Hip, array: P) -> P {
    let mut surface = 0;
    let memory = Resource { kind: 0, handle: array, rest: [0; 6] };
    assert_eq!((hip.hipCreateSurfaceObject)(&mut surface, &memory), 0);
    surface
}

/// What a kernel writes for each lane at these coordinates.
fn results(hip: &Hip, kernel: P, object: P, places: &[[f32; 2]]) -> Vec<[u32; 4]> {
    let out = vec![[7u32; 4]; places.len()];
    let (from, to) = (places.as_ptr() as P, out.as_ptr() as P);
    let lanes = places.len() as u32;
    launch(hip, kernel, [1, 1, 1], [lanes, 1, 1], 0, &[at(&object), at(&from), at(&to)]);
    out
}

/// Runs a test for each target by both engines, in processes of their own.
fn each(name: &str, test: fn(&str, bool)) {
    if !ready() {
        return;
    }
    let path = format!("images::{name}");
    for (way, (target, levels)) in TARGETS.into_iter().enumerate() {
        // The interpreter runs all, in the sample one; compiling the kernels takes longer than everything
        // else.
        let compiled = Turn::way(way, TARGETS.len()).takes(name);
        if !compiled && !long() {
            continue;
        }
        for engine in ["interpreter", "compiled"].into_iter().take(1 + usize::from(compiled)) {
            let settings = [
                ("ANYWARP_HIP_ARCH", target),
                ("OBJECT", target),
                ("ANYWARP_ENGINE", engine),
                ("ANYWARP_CACHE_DIR", ""),
            ];
            if in_process(&path, &settings) {
                let target = std::env::var("OBJECT").expect("a setting");
                let levels = TARGETS.iter().find(|t| t.0 == target).map_or(levels, |t| t.1);
                return test(&target, levels);
            }
        }
    }
}

fn kernels(hip: &Hip, target: &str) -> P {
    let bytes = Object::of("images.hip", target, &["--no-gpu-bundle-output"]).bytes();
    let mut module = 0;
    assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), 0);
    module
}

#[test]
fn samples_are_those_of_ptx() {
    each("samples_are_those_of_ptx", |target, levels| {
        let hip = hip();
        let amd = kernels(&hip, target);
        assert_eq!((hip.hipSetDevice)(1), 0);
        let ptx = module(&hip, PTX);
        let data = bytes(WIDTH * HEIGHT * 16);
        // Floats that are numbers.
        let numbers: Vec<u8> =
            (0..WIDTH * HEIGHT * 4).flat_map(|i| ((i as f32 - 50.0) * 0.75).to_le_bytes()).collect();
        let formats =
            [([8; 4], UNSIGNED, &data, 1), ([16, 16, 0, 0], SIGNED, &data, 1), ([32; 4], FLOAT, &numbers, 0)];
        // In 64ths of a texel, from before the first to after the last.
        let places = |scale: [f32; 2]| -> Vec<[f32; 2]> {
            (0..256)
                .map(|i| [(i * 5 - 100) as f32 / 64.0 / scale[0], (i * 3 - 90) as f32 / 64.0 / scale[1]])
                .collect()
        };
        for (bits, kind, data, read_mode) in formats {
            let arrays = [0, 1].map(|device| {
                assert_eq!((hip.hipSetDevice)(device), 0);
                array(&hip, bits, kind, data)
            });
            for (normalized, mode, filter) in
                [(0, 1, 0), (0, 1, 1), (0, 3, 1), (1, 0, 0), (1, 0, 1), (1, 2, 1), (1, 3, 0)]
            {
                let border = [0.25; 4];
                let how = Texture {
                    address: [mode; 3],
                    filter,
                    read_mode,
                    normalized,
                    border,
                    ..Texture::default()
                };
                let places = places(if normalized == 1 { [WIDTH as f32, HEIGHT as f32] } else { [1.0; 2] });
                let mut both = Vec::new();
                for (device, module) in [(0, amd), (1, ptx)] {
                    assert_eq!((hip.hipSetDevice)(device), 0);
                    let object = texture(&hip, arrays[device as usize], &how);
                    assert_eq!(object >> 32 != 0, device == 0, "AMD's objects are addresses");
                    let run = |name| results(&hip, function(&hip, module, name), object, &places);
                    let mut all = vec![run("sample")];
                    if levels {
                        all.push(run("gather"));
                    }
                    if levels && device == 0 {
                        assert_eq!(all[0], run("levels"));
                        assert_eq!(all[0], run("gradients"));
                        assert_eq!(all[0], run("short_gradients"));
                        let halves = run("sampled_halves");
                        for (half, whole) in halves.iter().flatten().zip(all[0].iter().flatten()) {
                            let (half, whole) = (f32::from_bits(*half), f32::from_bits(*whole));
                            assert!((half - whole).abs() <= whole.abs() / 2048.0 + 1e-7, "{half} {whole}");
                        }
                        let moved: Vec<[f32; 2]> = match normalized {
                            0 => places.iter().map(|[x, y]| [x + 1.0, y - 2.0]).collect(),
                            _ => places.iter().map(|[x, y]| [x + 0.125, y - 0.5]).collect(),
                        };
                        let displaced = run("displaced");
                        let wanted = results(&hip, function(&hip, module, "sample"), object, &moved);
                        assert_eq!(displaced, wanted, "{mode} {filter}");
                    }
                    // A channel that is missing is opaque on AMD devices.
                    if bits[3] == 0 {
                        all[0].iter_mut().for_each(|texel| texel[3] = 0);
                    }
                    both.push(all);
                    assert_eq!((hip.hipDestroyTextureObject)(object), 0);
                }
                let what = format!("{bits:?} normalized {normalized} mode {mode} filter {filter}");
                assert_eq!(both[0], both[1], "{what}");
            }
        }
    });
}

#[test]
fn texels_are_loaded_stored_and_updated() {
    each("texels_are_loaded_stored_and_updated", |target, _| {
        let hip = hip();
        let module = kernels(&hip, target);
        let data = bytes(WIDTH * HEIGHT * 4);
        let memory = array(&hip, [8; 4], UNSIGNED, &data);
        let object = surface(&hip, memory);
        let (width, out, green) = (WIDTH as i32, vec![[9u32; 4]; LANES], vec![9u32; LANES]);
        let inside = |i: usize| {
            let (x, y) = ((i % (WIDTH + 2)).wrapping_sub(1), (i / (WIDTH + 2)).wrapping_sub(1));
            (x < WIDTH && y < HEIGHT).then(|| y * WIDTH + x)
        };
        let load = |object: P| {
            let (a, b) = (out.as_ptr() as P, green.as_ptr() as P);
            let arguments = [at(&object), at(&a), at(&b), at(&width)];
            launch(&hip, function(&hip, module, "loads"), [1, 1, 1], [LANES as u32, 1, 1], 0, &arguments);
        };
        let texel =
            |bytes: &[u8], t: usize| -> [u32; 4] { std::array::from_fn(|c| u32::from(bytes[t * 4 + c])) };
        load(object);
        for i in 0..LANES {
            let wanted = inside(i).map_or([0; 4], |t| texel(&data, t));
            assert_eq!(read(&green, i), wanted[1], "{i}");
            assert_eq!(read(&out, i), if i % 2 == 0 { wanted } else { [(-1f32).to_bits(); 4] }, "{i}");
        }
        // Values that are too large become the largest.
        let from: Vec<[u32; 4]> = (0..LANES as u32).map(|i| [i, 255 - i, 300 + i, i * 7 % 256]).collect();
        let pointer = from.as_ptr() as P;
        let arguments = [at(&object), at(&pointer), at(&width)];
        launch(&hip, function(&hip, module, "stores"), [1, 1, 1], [LANES as u32, 1, 1], 0, &arguments);
        load(object);
        for i in (0..LANES).step_by(2) {
            let wanted = match inside(i) {
                None => [0; 4],
                Some(t) if i % 3 == 0 => texel(&data, t),
                Some(_) => from[i].map(|v| v.min(255)),
            };
            assert_eq!(read(&out, i), wanted, "{i}");
        }
        let short = vec![[9u32; 4]; LANES];
        let pointer = short.as_ptr() as P;
        let arguments = [at(&object), at(&pointer), at(&width)];
        launch(&hip, function(&hip, module, "short_loads"), [1, 1, 1], [LANES as u32, 1, 1], 0, &arguments);
        for i in (0..LANES).step_by(2) {
            assert_eq!(read(&short, i), read(&out, i), "{i}");
        }
        // A texture of the same texels, as fractions.
        let how = Texture { read_mode: 1, normalized: 1, ..Texture::default() };
        let fractions = texture(&hip, memory, &how);
        load(fractions);
        for i in (0..LANES).step_by(6) {
            let wanted = inside(i).map_or([0.0; 4], |t| texel(&data, t).map(|v| v as f32 / 255.0));
            assert_eq!(read(&out, i).map(f32::from_bits), wanted, "{i}");
        }
        // Sums of lanes, and swaps that one lane of each column succeeds with.
        let words: Vec<u8> = (0..WIDTH * HEIGHT).flat_map(|i| (i as u32).to_le_bytes()).collect();
        let counters = array(&hip, [32, 0, 0, 0], SIGNED, &words);
        let counters = surface(&hip, counters);
        let old = vec![-1i32; 64];
        let pointer = old.as_ptr() as P;
        let arguments = [at(&counters), at(&pointer), at(&width)];
        launch(&hip, function(&hip, module, "atomics"), [1, 1, 1], [64, 1, 1], 0, &arguments);
        let reds = vec![9u32; LANES];
        let pointer = reds.as_ptr() as P;
        let arguments = [at(&counters), at(&pointer), at(&width)];
        launch(&hip, function(&hip, module, "reds"), [1, 1, 1], [LANES as u32, 1, 1], 0, &arguments);
        for x in 0..WIDTH {
            let sum = x + (0..64).filter(|i| i % WIDTH == x).sum::<usize>();
            let below = |row: usize| read(&reds, (WIDTH + 2) * (row + 1) + x + 1) as usize;
            assert_eq!((below(0), below(1)), (sum, 100 + x), "{x}");
            let found: Vec<i32> = (x..64).step_by(WIDTH).map(|i| read(&old, i)).collect();
            let swapped = found.iter().filter(|old| **old == (WIDTH + x) as i32).count();
            let late = found.iter().filter(|old| **old == (100 + x) as i32).count();
            assert_eq!((swapped, late), (1, found.len() - 1), "{x}");
        }
        let sizes = vec![[9u32; 4]; 1];
        let pointer = sizes.as_ptr() as P;
        launch(&hip, function(&hip, module, "sizes"), [1, 1, 1], [1, 1, 1], 0, &[at(&object), at(&pointer)]);
        assert_eq!(read(&sizes, 0), [WIDTH as u32, HEIGHT as u32, 1, 1]);
        // The fields that AMD's device library reads: types and orders by HSA's numbers.
        for (object, wanted) in
            [(object, [11, 8, 8, 4, 1, 0]), (fractions, [2, 8, 8, 4, 0, 0]), (counters, [10, 1, 8, 4, 1, 0])]
        {
            let fields = vec![0i32; 6];
            let pointer = fields.as_ptr() as P;
            launch(
                &hip,
                function(&hip, module, "fields"),
                [1, 1, 1],
                [1, 1, 1],
                0,
                &[at(&object), at(&pointer)],
            );
            let fields: Vec<i32> = (0..6).map(|i| read(&fields, i)).collect();
            assert_eq!(fields, wanted);
        }
    });
}

/// A reference gives a kernel what a texture object of the same array and settings gives it.
#[test]
fn references_are_found_by_name() {
    each("references_are_found_by_name", |target, _| {
        const OVERRIDE_FORMAT: u32 = 1;
        const NOT_FOUND: u32 = 500;
        let hip = hip();
        let module = kernels(&hip, target);
        let data: Vec<u8> = (0..WIDTH * HEIGHT * 4).flat_map(|i| (i as f32 * 0.5).to_ne_bytes()).collect();
        let array = array(&hip, [32; 4], FLOAT, &data);
        // Edges are clamped, the nearest texel is taken, coordinates are not normalised.
        let how = Texture { address: [1; 3], ..Texture::default() };
        let object = texture(&hip, array, &how);
        let places: Vec<[f32; 2]> = (0..LANES).map(|i| [i as f32 * 0.3 - 1.0, i as f32 * 0.1]).collect();
        let wanted = results(&hip, function(&hip, module, "sample"), object, &places);
        let mut reference = 0;
        let get = |out: &mut P, name: &str| (hip.hipModuleGetTexRef)(out, module, c(name).as_ptr());
        assert_eq!(get(&mut reference, "sample"), NOT_FOUND);
        assert_eq!(get(&mut reference, "colours"), 0);
        for axis in 0..2 {
            assert_eq!((hip.hipTexRefSetAddressMode)(reference, axis, 1), 0);
        }
        assert_eq!((hip.hipTexRefSetFilterMode)(reference, 0), 0);
        assert_eq!((hip.hipTexRefSetFlags)(reference, 0), 0);
        assert_eq!((hip.hipTexRefSetArray)(reference, array, OVERRIDE_FORMAT), 0);
        let kernel = function(&hip, module, "sample_reference");
        assert_eq!(results(&hip, kernel, 0, &places), wanted);
        assert!(wanted.iter().any(|texel| *texel != wanted[0]), "the texels differ");
        assert_eq!((hip.hipDestroyTextureObject)(object), 0);
        assert_eq!((hip.hipModuleUnload)(module), 0);
    });
}

/// Linear memory: the record begins with the descriptor of a typed buffer.
#[test]
fn linear_memory_is_fetched() {
    each("linear_memory_is_fetched", |target, _| {
        let hip = hip();
        let module = kernels(&hip, target);
        let kernel = function(&hip, module, "fetches");
        for (bits, kind, read_mode) in
            [([16, 16, 0, 0], SIGNED, 0), ([8, 8, 8, 8], UNSIGNED, 1), ([32, 0, 0, 0], FLOAT, 0)]
        {
            let size = bits.iter().sum::<i32>() as usize / 8;
            // Aligned as the memory of textures is.
            let mut memory = vec![0u8; 1024 + 512];
            let start = memory.as_ptr().align_offset(512);
            let data = bytes(10 * size);
            memory[start..start + data.len()].copy_from_slice(&data);
            let pair = |a: i32, b: i32| a as u64 | (b as u64) << 32;
            let rest = [pair(bits[0], bits[1]), pair(bits[2], bits[3]), kind.into(), data.len() as u64, 0, 0];
            let resource = Resource { kind: 2, handle: memory[start..].as_ptr() as P, rest };
            let (how, mut object) = (Texture { read_mode, ..Texture::default() }, 0);
            assert_eq!((hip.hipCreateTextureObject)(&mut object, &resource, &how, 0), 0);
            let out = vec![[9u32; 4]; 14];
            let pointer = out.as_ptr() as P;
            launch(&hip, kernel, [1, 1, 1], [14, 1, 1], 0, &[at(&object), at(&pointer)]);
            for i in 0..14usize {
                let wanted = match i.checked_sub(2).filter(|e| *e < 10) {
                    None => [0; 4],
                    Some(e) => element(&data[e * size..], bits, kind, read_mode),
                };
                assert_eq!(read(&out, i), wanted, "{bits:?} {i}");
            }
            assert_eq!((hip.hipDestroyTextureObject)(object), 0);
        }
    });
}

/// An element of a buffer, as the registers have it; channels that are missing are those of opaque black.
fn element(data: &[u8], bits: [i32; 4], kind: u32, read_mode: u32) -> [u32; 4] {
    let one = if kind == FLOAT || read_mode == 1 { 1f32.to_bits() } else { 1 };
    let mut all = [0, 0, 0, one];
    for (c, value) in all.iter_mut().enumerate().filter(|(c, _)| bits[*c] > 0) {
        *value = match bits[c] {
            8 if read_mode == 1 => (f32::from(data[c]) / 255.0).to_bits(),
            16 => i16::from_le_bytes([data[2 * c], data[2 * c + 1]]) as u32,
            _ => u32::from_le_bytes([data[0], data[1], data[2], data[3]]),
        };
    }
    all
}

/// What a kernel may have written behind the compiler's back.
fn read<T: Copy>(data: &[T], index: usize) -> T {
    // SAFETY: the element exists; the kernel has ended.
    unsafe { std::ptr::read_volatile(&data[index]) }
}
