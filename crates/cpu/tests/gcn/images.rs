//! Image instructions on more than 1,000 inputs each, interpreted and compiled, against `model::images`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

use cpu::{Engine, Program, Target};
use hwtruth::sample::{self, Turn, long};
use texture::descriptor::{Address, Channel, Descriptor, Format, Plane, Sampler};
use texture::table;

use crate::model::images::{self as model, Detail, Image, Lane, Operation, Shape};
use crate::{ENGINES, values};

const BLOCKS: usize = 17;
const LANES: usize = BLOCKS * 64;
/// Words of a lane's inputs, and of the descriptors before them.
const IN: usize = 20;
const HEAD: usize = 16;
/// Forms in a kernel.
const EACH: usize = 24;
/// Active lanes; the forms alternate between these.
const EXEC: [u64; 2] = [u64::MAX, 0xaaaa_5555_f0f0_0ff1];
/// What the result's registers hold before.
const OLD: u32 = 0x40e0_0000;

/// Targets with their tables.
const TARGETS: [(&str, &str); 4] = [
    ("gfx906", include_str!("../../../gcn/tables/gfx9.tsv")),
    ("gfx1030", include_str!("../../../gcn/tables/gfx10.tsv")),
    ("gfx1100", include_str!("../../../gcn/tables/gfx11.tsv")),
    ("gfx1201", include_str!("../../../gcn/tables/gfx12.tsv")),
];

/// The names of a target's instructions that read images.
fn names(target: &str, table: &str) -> BTreeSet<String> {
    let rows = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let known = rows.filter(|columns| columns.first().is_some_and(|e| *e != "encoding"));
    let here = known.filter(|columns| columns.get(4).is_none_or(|only| only.split(' ').any(|t| t == target)));
    let names = here.filter_map(|columns| columns.get(2).copied());
    let read = |name: &&str| {
        name.starts_with("image_sample")
            || name.starts_with("image_gather4") && !name.starts_with("image_gather4h")
            || ["image_load", "image_load_mip", "image_get_lod", "image_load_pck"].contains(name)
    };
    names.filter(read).map(str::to_owned).collect()
}

/// A form: an instruction with 32-bit addresses, or with those of 16 bits.
struct Form {
    operation: Operation,
    exec: u64,
    short: bool,
}

impl Form {
    fn is_load(&self) -> bool {
        self.operation.name.starts_with("image_load")
    }

    fn is_level(&self) -> bool {
        self.operation.name == "image_get_lod"
    }

    fn mask(&self) -> u32 {
        match () {
            () if self.operation.gathers => 1,
            () if self.is_level() => 3,
            () => 15,
        }
    }

    /// The input words that the instruction takes, in its order (gfx10's manual, "Image address VGPRs").
    fn addresses(&self, shape: Shape) -> Vec<usize> {
        let (axes, all) = shape.counts();
        let o = &self.operation;
        if self.is_load() {
            let level = o.name.ends_with("mip").then_some(18);
            return (15..15 + all).chain(level).collect();
        }
        let mut words = Vec::new();
        words.extend(o.offset.then_some(0));
        words.extend(o.biased.then_some(1));
        words.extend(o.compares.then_some(2));
        if o.detail == Detail::Derivatives {
            words.extend(3..3 + axes);
            words.extend(6..6 + axes);
        }
        words.extend(9..9 + all);
        words.extend((o.detail == Detail::Given).then_some(12));
        words.extend(o.bounded.then_some(13));
        words
    }
}

/// Registers for addresses: a run, or a list of them.
fn run(target: &str, count: usize) -> String {
    let last = |count: usize| if count == 1 { "v4".to_owned() } else { format!("v[4:{}]", 3 + count) };
    match target {
        "gfx1201" => {
            let mut list: Vec<String> = (0..count.min(3)).map(|k| format!("v{}", 4 + k)).collect();
            match count {
                ..=3 => {}
                4 => list.push("v7".to_owned()),
                _ => list.push(format!("v[7:{}]", 3 + count)),
            }
            if list.len() == 1 { list.remove(0) } else { format!("[{}]", list.join(", ")) }
        }
        _ => last(if count > 12 { 16 } else { count }),
    }
}

fn assembly(target: &str, shape: Shape, forms: &[Form]) -> String {
    let mut out = String::new();
    let mut line = |text: &str| writeln!(out, "{text}").expect("a text");
    let late = target == "gfx1201";
    let wait = if late { "s_wait_kmcnt 0x0\ns_wait_loadcnt 0x0" } else { "s_waitcnt vmcnt(0) lgkmcnt(0)" };
    let new = matches!(target, "gfx1100" | "gfx1201");
    let (two, four, eight) = match new {
        true => ("b64", "b128", "b256"),
        false => ("dwordx2", "dwordx4", "dwordx8"),
    };
    let add = if target == "gfx906" { "v_add_u32" } else { "v_add_nc_u32" };
    line(".text\n.globl k\n.p2align 8\n.type k,@function\nk:");
    line(&format!("s_load_{two} s[8:9], s[0:1], 0x0\ns_load_{two} s[10:11], s[0:1], 0x8"));
    line(&format!("s_lshl_b32 s3, {}, 6", if late { "ttmp9" } else { "s2" }));
    line(&format!("{add} v1, s3, v0\nv_mul_u32_u24 v2, {}, v1\nv_lshlrev_b32 v3, 4, v1\n{wait}", IN * 4));
    line(&format!("s_load_{eight} s[12:19], s[8:9], 0x0\ns_load_{four} s[20:23], s[8:9], 0x20\n{wait}"));
    for group in 0..IN / 4 {
        let (first, at) = (32 + 4 * group, HEAD * 4 + 16 * group);
        line(&format!("global_load_{four} v[{first}:{}], v2, s[8:9] offset:{at}", first + 3));
    }
    line(wait);
    for form in forms {
        let mut addresses: Vec<String> =
            form.addresses(shape).iter().map(|word| format!("v{}", 32 + word)).collect();
        if form.short {
            let (_, all) = shape.counts();
            let at = addresses.iter().position(|a| a == "v41").expect("coordinates");
            let (whole, parts) = addresses.split_at(at);
            let mut packed = whole.to_vec();
            for (k, pair) in parts.chunks(2).enumerate() {
                // From gfx10 on the upper half stays as it was.
                line(&format!("v_mov_b32 v{}, 0\nv_cvt_f16_f32 v{}, {}", 24 + k, 24 + k, pair[0]));
                if let [_, upper] = pair {
                    line(&format!("v_cvt_f16_f32 v28, {upper}\nv_lshlrev_b32 v28, 16, v28"));
                    line(&format!("v_or_b32 v{}, v{}, v28", 24 + k, 24 + k));
                }
                packed.push(format!("v{}", 24 + k));
            }
            assert!(parts.len() >= all);
            if form.operation.biased {
                let at = usize::from(form.operation.offset);
                line("v_cvt_f16_f32 v29, v33");
                packed[at] = "v29".to_owned();
            }
            addresses = packed;
        }
        for (k, from) in addresses.iter().enumerate() {
            line(&format!("v_mov_b32 v{}, {from}", 4 + k));
        }
        (0..4).for_each(|k| line(&format!("v_mov_b32 v{}, {OLD:#x}", 20 + k)));
        line(&format!("s_mov_b32 exec_lo, {:#x}", form.exec as u32));
        line(&format!("s_mov_b32 exec_hi, {:#x}\ns_nop 4", form.exec >> 32));
        let words = if form.is_level() { "v[20:21]" } else { "v[20:23]" };
        let sampler = if form.is_load() { "" } else { ", s[20:23]" };
        let address = run(target, addresses.len());
        let dim = match target {
            "gfx906" => if shape == Shape::A2 { " da" } else { "" }.to_owned(),
            _ => format!(" dim:{}", shape.dim()),
        };
        let short = if form.short { " a16" } else { "" };
        let (name, mask) = (&form.operation.name, form.mask());
        line(&format!("{name} {words}, {address}, s[12:19]{sampler} dmask:{mask:#x}{dim}{short}"));
        line(if late { "s_wait_samplecnt 0x0\ns_wait_loadcnt 0x0" } else { wait });
        line("s_mov_b64 exec, -1\ns_nop 4");
        line(&format!("global_store_{four} v3, v[20:23], s[10:11]\n{add} v3, {:#x}, v3", LANES * 16));
    }
    line("s_endpgm\n.Lend:\n.size k, .Lend-k");
    line(".rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_user_sgpr_kernarg_segment_ptr 1");
    line(".amdhsa_system_sgpr_workgroup_id_x 1\n.amdhsa_kernarg_size 16\n.amdhsa_next_free_vgpr 64");
    line(".amdhsa_next_free_sgpr 32\n.amdhsa_float_denorm_mode_32 3");
    if target != "gfx906" {
        line(".amdhsa_wavefront_size32 0");
    }
    line(".end_amdhsa_kernel");
    out
}

/// A texture object of an image; its handle.
fn object(image: &Image) -> u64 {
    let mut levels = Vec::new();
    let mut memory = Vec::new();
    for level in 0..image.levels {
        let [w, h, d] = image.size_of(level);
        let places = (0..d).flat_map(|z| (0..h).flat_map(move |y| (0..w).map(move |x| [x, y, z])));
        let texels: Vec<f32> = places.map(|at| image.texel(level, at)).collect();
        let deep = image.shape == Shape::D3;
        levels.push(Plane {
            base: texels.as_ptr() as u64,
            width: w,
            height: h,
            depth: if deep { d } else { 1 },
            pitch: u64::from(w) * 4,
            slice: u64::from(w * h) * 4,
            tile: None,
        });
        memory.push(texels);
    }
    let [w, h, d] = image.size;
    let layered = image.shape == Shape::A2;
    let address = if image.wraps { Address::Wrap } else { Address::Clamp };
    let descriptor = Descriptor {
        surface: false,
        format: Format::plain(Channel::Float, 4, 1),
        sampler: Sampler {
            address: [address; 3],
            linear: image.linear,
            linear_levels: image.mixes,
            normalized: true,
            bias: image.bias,
            least: image.least,
            most: image.most,
            rounds: true,
            ..Sampler::default()
        },
        levels,
        extent: [
            w,
            if image.shape == Shape::D1 { 0 } else { h },
            if image.shape == Shape::D3 { d } else { 0 },
        ],
        layers: if layered { d } else { 1 },
        layered,
        cube: false,
        borrowed: false,
        mapped: None,
        keep: vec![Arc::new(memory)],
    };
    table::insert(descriptor).expect("a handle")
}

/// Inputs of all lanes: coordinates are 16ths of a texel of the first level, derivatives and the differences
/// between a quad's lanes have one axis.
fn inputs(image: &Image, random: &mut impl FnMut(u32) -> u32) -> Vec<Lane> {
    let mut all = Vec::new();
    let (axes, _) = image.shape.counts();
    let steps = [0.5f32, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0];
    for _ in 0..LANES / 4 {
        let scale = image.size.map(|n| 1.0 / n as f32);
        let mut start = [0f32; 3];
        for k in 0..3 {
            let span = image.size[k] * 16;
            start[k] = (random(span * 2) as f32 - (span / 2) as f32) / 16.0 * scale[k];
        }
        if image.shape == Shape::A2 {
            start[2] = random(image.size[2] + 2) as f32 - 1.0;
        }
        let step = [0, 1].map(|k| steps[random(8) as usize] * scale[k]);
        for lane in 0..4 {
            let mut at = start;
            if lane & 1 == 1 {
                at[0] += step[0];
            }
            if lane & 2 == 2 && axes > 1 {
                at[1] += step[1];
            }
            let mut across = [0.0; 3];
            let mut down = [0.0; 3];
            across[0] = steps[random(8) as usize] * scale[0];
            let last = (axes - 1).min(1 + random(2) as usize);
            down[last] = steps[random(8) as usize] * scale[last];
            all.push(Lane {
                offsets: std::array::from_fn(|_| random(7) as i32 - 3),
                bias: random(17) as f32 / 4.0 - 2.0,
                reference: random(97) as f32,
                across,
                down,
                at,
                level: random(160) as f32 / 32.0 - 0.5,
                least: random(24) as f32 / 8.0,
                place: [
                    random(image.size[0] + 1),
                    random(image.size[1] + 1),
                    random(image.size[2] + 1),
                    random(image.levels + 1),
                ],
            });
        }
    }
    all
}

fn words(lane: &Lane) -> [u32; IN] {
    let packed = lane.offsets.iter().enumerate().fold(0, |all, (k, o)| all | (*o as u32 & 63) << (8 * k));
    let float = |v: f32| v.to_bits();
    let mut words = [0; IN];
    words[0] = packed;
    words[1] = float(lane.bias);
    words[2] = float(lane.reference);
    for k in 0..3 {
        words[3 + k] = float(lane.across[k]);
        words[6 + k] = float(lane.down[k]);
        words[9 + k] = float(lane.at[k]);
    }
    words[12] = float(lane.level);
    words[13] = float(lane.least);
    words[15..19].copy_from_slice(&lane.place);
    words
}

/// What may differ in a level: an approximated logarithm, in 256ths.
const LEVEL: f64 = 2.5 / 256.0;

/// Whether a result is right.
fn agrees(image: &Image, form: &Form, function: u32, lane: &Lane, quad: &[Lane], got: [u32; 4]) -> bool {
    let floats = got.map(|w| f64::from(f32::from_bits(w)));
    let o = &form.operation;
    if form.is_load() {
        let texel = model::load(image, lane, o.name.ends_with("mip"));
        let raw = o.name.ends_with("pck");
        // Channels that the format does not have; all of them are 0 outside, and without conversion.
        let last = if texel.is_some() && !raw { 1f32.to_bits() } else { 0 };
        return got == [texel.unwrap_or(0.0).to_bits(), 0, 0, last];
    }
    let detail = model::detail(image, o, lane, quad);
    let near = [-LEVEL, 0.0, LEVEL];
    let within =
        near.map(|d| model::within(image, o, lane, if o.detail == Detail::Zero { 0.0 } else { detail + d }));
    if form.is_level() {
        let level = |want: f64| match image.mixes {
            true => (floats[0] - want).abs() <= LEVEL,
            false => floats[0] == (want + 0.5).floor(),
        };
        return within.iter().any(|w| level(*w))
            && (floats[1] - detail).abs() <= LEVEL
            && got[2..] == [OLD; 2];
    }
    if o.gathers {
        return within.iter().any(|w| model::gather(image, o, lane, function, *w) == floats);
    }
    let wants = within.map(|w| model::sample(image, o, lane, function, w));
    // Weights are rounded to 256ths: of a level, and of each of its axes.
    let steps = if image.linear { 4.0 } else { 0.0 } + if image.mixes { 2.0 } else { 0.0 };
    let slack = steps / 256.0 * if o.compares { 1.0 } else { 97.0 };
    let holds = match image.mixes {
        true => {
            let low = wants.iter().copied().fold(f64::MAX, f64::min);
            let high = wants.iter().copied().fold(f64::MIN, f64::max);
            (low - slack..=high + slack).contains(&floats[0])
        }
        false => wants.iter().any(|w| (w - floats[0]).abs() <= slack),
    };
    holds && got[1..] == [0, 0, 1f32.to_bits()]
}

/// Runs forms on an image; says what does not hold.
fn differences(
    target: &str,
    image: &Image,
    forms: &[Form],
    engines: &[Engine],
    folder: &std::path::Path,
) -> Vec<String> {
    let mut bits = super::random(88_172_645_463_325_252);
    let mut random = move |below: u32| (bits() >> 24) as u32 % below;
    let lanes = inputs(image, &mut random);
    let function = 1 + random(6);
    let handle = object(image);
    let mut head = [0u32; HEAD];
    head[7] = handle as u32;
    head[8] = function << 12;
    let bytes: Vec<u8> =
        head.into_iter().chain(lanes.iter().flat_map(words)).flat_map(u32::to_le_bytes).collect();
    let source = folder.join("images.s");
    std::fs::write(&source, assembly(target, image.shape, forms)).expect("a file");
    let options: &[&str] = if target == "gfx906" { &[] } else { &["-mwavefrontsize64"] };
    let made = crate::assembled(&source, target, options, &folder.join("images.o"));
    let module = match made.and_then(|bytes| crate::lowered(&bytes)) {
        Ok(module) => module,
        Err(why) => return vec![format!("{target} {image:?}: {why}")],
    };
    let mut failures = Vec::new();
    for &engine in engines {
        let program =
            Program::of_module(module.clone(), engine).expect("a program").for_target(Target::native());
        let out = values::run(&program, &bytes, LANES * 16 * forms.len(), [BLOCKS as u32, 64]);
        for (number, form) in forms.iter().enumerate() {
            let wrong = (0..LANES).find_map(|index| {
                let at = (number * LANES + index) * 4;
                let got = [out[at], out[at + 1], out[at + 2], out[at + 3]];
                let quad = &lanes[index / 4 * 4..index / 4 * 4 + 4];
                let active = form.exec >> (index % 64) & 1 == 1;
                let holds = match active {
                    true => agrees(image, form, function, &lanes[index], quad, got),
                    false => got == [OLD; 4],
                };
                let shown = got.map(f32::from_bits);
                (!holds).then(|| {
                    let level = model::detail(image, &form.operation, &lanes[index], quad);
                    let level = model::within(image, &form.operation, &lanes[index], level);
                    let want = model::sample(image, &form.operation, &lanes[index], function, level);
                    format!(
                        "{target} {}{} ({engine:?}, lane {index}, comparison {function}): {shown:?}, sample \
                         {want} at level {level}, of {image:?} {:?}",
                        form.operation.name,
                        if form.short { " a16" } else { "" },
                        lanes[index]
                    )
                })
            });
            failures.extend(wrong);
        }
    }
    table::remove(handle);
    failures
}

/// The images of a shape: which texels and levels are mixed, and the sampler's bounds.
fn images(shape: Shape) -> [Image; 3] {
    let size = match shape {
        Shape::D1 => [32, 1, 1],
        Shape::D2 => [32, 16, 1],
        Shape::D3 => [16, 8, 4],
        Shape::A2 => [32, 16, 3],
    };
    let plain = Image {
        shape,
        size,
        levels: 5,
        linear: false,
        mixes: false,
        wraps: true,
        bias: 0.0,
        least: 0.0,
        most: 16.0,
    };
    [
        plain,
        Image { linear: true, wraps: false, most: 2.75, ..plain },
        Image { linear: true, mixes: true, most: 3.5, ..plain },
    ]
}

#[test]
fn images_are_read_as_the_documents_say() {
    if !crate::ready() {
        return;
    }
    let only = std::env::var("ONLY").unwrap_or_default();
    let folder = tempfile::tempdir().expect("a folder");
    let mut failures = Vec::new();
    let mut counts = BTreeMap::new();
    for (turn, (target, table)) in TARGETS.into_iter().enumerate() {
        let turn = Turn::way(turn, sample::of(1, 4) * TARGETS.len());
        let names = names(target, table);
        for shape in [Shape::D1, Shape::D2, Shape::D3, Shape::A2] {
            let flat = matches!(shape, Shape::D2 | Shape::A2);
            let suits = |name: &&String| {
                name.contains(&only)
                    && (flat || !name.contains("gather4"))
                    // Derivatives of 16 bits are those of 32 with other packing: `crates/hip/tests/amd`.
                    && !name.ends_with("_g16")
            };
            let mut forms = Vec::new();
            for (number, name) in names.iter().filter(suits).enumerate() {
                let operation = Operation::of_name(name);
                let exec = EXEC[number % 2];
                let short = target != "gfx906" && matches!(operation.detail, Detail::Zero | Detail::Quad);
                let float = !name.contains("load");
                forms.push(Form { operation: operation.clone(), exec, short: false });
                if short && float && number % 3 == 0 {
                    forms.push(Form { operation, exec, short: true });
                }
            }
            *counts.entry(target).or_insert(0) += forms.len();
            forms.retain(|form| turn.takes(&form.operation.name));
            for (number, image) in images(shape).iter().enumerate() {
                // Each form on all images; those of arrays and volumes on one of them in rotation.
                for (part, forms) in forms.chunks(EACH).enumerate() {
                    let engines = if long() || part % 3 == number { ENGINES } else { &ENGINES[..1] };
                    if shape == Shape::D2 || part % 3 == number {
                        failures.extend(differences(target, image, forms, engines, folder.path()));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} do not hold:\n{}", failures.len(), failures.join("\n"));
    let few = counts.iter().any(|(_, count)| *count < 100);
    assert!(!few || !only.is_empty(), "too few forms: {counts:?}");
}
