//! Texture references, of modules and registered, and texture and surface objects.

use std::ptr::{null, null_mut};

use crate::support::*;
use crate::{INVALID_HANDLE, INVALID_VALUE, NOT_FOUND};

/// `sample` reads texel x + 0.5 of row 0 for each thread x through a reference, `object` through an object;
/// `write` writes 90 to (1, 0).
const TEXTURES: &str = r#"
.version 7.0
.target sm_70
.address_size 64
.visible .global .texref picture;
.visible .global .f32 texels[8];
.visible .entry sample()
{
    .reg .u32 %r<2>;
    .reg .f32 %f<7>;
    .reg .u64 %d<3>;
    mov.u32 %r1, %tid.x;
    cvt.rn.f32.u32 %f1, %r1;
    add.f32 %f1, %f1, 0f3F000000;
    mov.f32 %f2, 0f3F000000;
    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [picture, {%f1, %f2}];
    mul.wide.u32 %d1, %r1, 4;
    mov.u64 %d2, texels;
    add.u64 %d2, %d2, %d1;
    st.global.f32 [%d2], %f3;
    ret;
}
.visible .entry object(.param .u64 t)
{
    .reg .u32 %r<2>;
    .reg .f32 %f<7>;
    .reg .u64 %d<4>;
    ld.param.u64 %d3, [t];
    mov.u32 %r1, %tid.x;
    cvt.rn.f32.u32 %f1, %r1;
    add.f32 %f1, %f1, 0f3F000000;
    mov.f32 %f2, 0f3F000000;
    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d3, {%f1, %f2}];
    mul.wide.u32 %d1, %r1, 4;
    mov.u64 %d2, texels;
    add.u64 %d2, %d2, %d1;
    st.global.f32 [%d2], %f3;
    ret;
}
.visible .entry write(.param .u64 s)
{
    .reg .b32 %r<3>;
    .reg .u64 %d1;
    ld.param.u64 %d1, [s];
    mov.b32 %r1, 0f42B40000;
    mov.b32 %r2, 0;
    sust.b.2d.b32.trap [%d1, {4, %r2}], {%r1};
    ret;
}
"#;

/// An array of one row: 0, 1, 2, 3.
fn row(hip: &Hip) -> P {
    const SURFACE: u32 = 2;
    let (mut array, floats) = (0, [0.0f32, 1.0, 2.0, 3.0]);
    assert_eq!((hip.hipMallocArray)(&mut array, &Channels([32, 0, 0, 0], 2), 4, 1, SURFACE), 0);
    assert_eq!((hip.hipMemcpy2DToArray)(array, 0, 0, floats.as_ptr().cast(), 16, 16, 1, 1), 0);
    array
}

fn texels(hip: &Hip, cuda: &Cuda, module: P, count: usize) -> Vec<f32> {
    assert_eq!((hip.hipCtxSynchronize)(), 0);
    words(hip, cuda, module, "texels", count).into_iter().map(f32::from_bits).collect()
}

#[test]
fn a_modules_texture_reference_is_set_and_read() {
    let (hip, cuda) = (hip(), cuda());
    let module = module(&hip, TEXTURES);
    let (mut picture, mut p, mut n, mut channels) = (0, 0, 0u32, 0i32);
    let (name, none, array) = (c("picture"), c("none"), row(&hip));
    let rows: &[(&str, u32, u32)] = &[
        ("to null", (hip.hipModuleGetTexRef)(null_mut(), module, name.as_ptr()), INVALID_VALUE),
        ("null name", (hip.hipModuleGetTexRef)(&mut picture, module, null()), INVALID_VALUE),
        ("empty name", (hip.hipModuleGetTexRef)(&mut picture, module, c("").as_ptr()), INVALID_VALUE),
        ("null module", (hip.hipModuleGetTexRef)(&mut picture, 0, name.as_ptr()), INVALID_HANDLE),
        ("missing", (hip.hipModuleGetTexRef)(&mut picture, module, none.as_ptr()), NOT_FOUND),
        ("found", (hip.hipModuleGetTexRef)(&mut picture, module, name.as_ptr()), 0),
        ("no reference", (hip.hipTexRefSetArray)(0, array, 1), INVALID_VALUE),
        ("no array", (hip.hipTexRefSetArray)(picture, 0, 1), INVALID_VALUE),
        ("no override", (hip.hipTexRefSetArray)(picture, array, 0), INVALID_VALUE),
        ("not bound yet", (hip.hipTexRefGetArray)(&mut p, picture), INVALID_VALUE),
        ("format", (hip.hipTexRefGetFormat)(&mut n, &mut channels, picture), 0),
        ("array", (hip.hipTexRefSetArray)(picture, array, 1), 0),
        ("a third axis to ask for", (hip.hipTexRefGetAddressMode)(&mut n, picture, 2), INVALID_VALUE),
        ("a fourth axis to set", (hip.hipTexRefSetAddressMode)(picture, 3, 1), INVALID_VALUE),
        ("point", (hip.hipTexRefSetFilterMode)(picture, 0), 0),
        ("clamp", (hip.hipTexRefSetAddressMode)(picture, 0, 1), 0),
        ("flags", (hip.hipTexRefSetFlags)(picture, 0), 0),
        ("flags to ask for", (hip.hipTexRefGetFlags)(&mut n, picture), 0),
        ("bound", (hip.hipTexRefGetArray)(&mut p, picture), 0),
    ];
    for (what, code, wanted) in rows {
        assert_eq!(code, wanted, "{what}");
    }
    assert_eq!((p, n, channels), (array, 0, 1));
    let sample = function(&hip, module, "sample");
    assert_eq!((hip.hipModuleLaunchKernel)(sample, 1, 1, 1, 6, 1, 1, 0, 0, NONE, NONE), 0);
    assert_eq!(texels(&hip, &cuda, module, 6), [0.0, 1.0, 2.0, 3.0, 3.0, 3.0]);
    assert_eq!((hip.hipFreeArray)(array), 0);
}

#[test]
fn texture_and_surface_objects_are_the_runtimes() {
    let (hip, cuda) = (hip(), cuda());
    let module = module(&hip, TEXTURES);
    let array = row(&hip);
    let memory = Resource { kind: 0, handle: array, rest: [0; 6] };
    // Border mode, element coordinates.
    let how = Texture { address: [3; 3], border: [9.0; 4], ..Texture::default() };
    let (mut texture, mut surface, mut back) = (0, 0, Texture::default());
    assert_eq!((hip.hipCreateTextureObject)(null_mut(), &memory, &how, 0), INVALID_VALUE);
    assert_eq!((hip.hipCreateTextureObject)(&mut texture, null(), &how, 0), INVALID_VALUE);
    assert_eq!((hip.hipCreateTextureObject)(&mut texture, &memory, null(), 0), INVALID_VALUE);
    let nothing = Resource { handle: 0, ..memory };
    assert_eq!((hip.hipCreateTextureObject)(&mut texture, &nothing, &how, 0), INVALID_VALUE);
    assert_eq!((hip.hipCreateSurfaceObject)(&mut surface, &nothing), INVALID_VALUE);
    assert_eq!((hip.hipCreateTextureObject)(&mut texture, &memory, &how, 0), 0);
    assert_eq!((hip.hipGetTextureObjectTextureDesc)(&mut back, texture), 0);
    assert_eq!(back, how);
    assert_eq!((hip.hipCreateSurfaceObject)(&mut surface, &memory), 0);
    let (write, object) = (function(&hip, module, "write"), function(&hip, module, "object"));
    for (kernel, argument, threads) in [(write, surface, 1), (object, texture, 6)] {
        let params = [&raw const argument as P];
        assert_eq!(
            (hip.hipModuleLaunchKernel)(kernel, 1, 1, 1, threads, 1, 1, 0, 0, params.as_ptr(), NONE),
            0
        );
    }
    assert_eq!(texels(&hip, &cuda, module, 6), [0.0, 90.0, 2.0, 3.0, 9.0, 9.0]);
    assert_eq!((hip.hipDestroyTextureObject)(texture), 0);
    assert_eq!((hip.hipDestroySurfaceObject)(surface), 0);
    assert_eq!((hip.hipGetTextureObjectTextureDesc)(&mut back, texture), INVALID_VALUE);
    assert_eq!((hip.hipFreeArray)(array), 0);
}

/// What `texture<float, 2> picture` compiles to: a host structure that is registered and describes how the
/// texture is read.
#[test]
fn a_registered_texture_is_read_as_its_structure_says() {
    let (hip, cuda) = (hip(), cuda());
    let code = bundle(&[("hip-ptx", c(TEXTURES).as_bytes_with_nul())]);
    let wrapper = Wrapper { magic: 0x4849_5046, version: 1, binary: code.as_ptr().cast(), unused: 0 };
    let handle = (hip.__hipRegisterFatBinary)(&wrapper);
    let channels = Channels([32, 0, 0, 0], 2);
    // Mirror mode, point filter.
    let picture =
        Reference { normalized: 0, read_mode: 0, filter: 0, address: [1; 3], channels, rest: [0; 6] };
    let (host, stub, shadow) = (&raw const picture as P, 0u8, [0f32; 8]);
    let (stub, shadow) = (&raw const stub as P, shadow.as_ptr() as P);
    (hip.__hipRegisterTexture)(handle, host, c("picture").as_ptr(), c("picture").as_ptr(), 2, 0, 0);
    (hip.__hipRegisterVar)(handle, shadow, c("texels").as_ptr(), c("texels").as_ptr(), 0, 32, 0, 0);
    (hip.__hipRegisterFunction)(handle, stub, c("sample").as_ptr(), c("sample").as_ptr(), 0, 0, 0, 0, 0, 0);
    let array = row(&hip);
    assert_eq!((hip.hipBindTextureToArray)(host, array, &channels), 0);
    assert_eq!((hip.hipLaunchKernel)(stub, d(1), d(6), NONE, 0, 0), 0);
    let mut out = [0f32; 6];
    assert_eq!((hip.hipMemcpyFromSymbol)(out.as_mut_ptr().cast(), shadow, 24, 0, 2), 0);
    assert_eq!(out, [0.0, 1.0, 2.0, 3.0, 3.0, 3.0]);
    assert_eq!((hip.hipUnbindTexture)(host), 0);
    assert_eq!((hip.hipUnbindTexture)(0), INVALID_VALUE);
    assert_eq!((hip.hipFreeArray)(array), 0);
    let _ = cuda;
    (hip.__hipUnregisterFatBinary)(handle);
}

/// The fields of `hipArray` and `hipMipmappedArray`: memory, channels, flags or type, sizes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Picture {
    data: u64,
    channels: Channels,
    kind: u32,
    size: [u32; 3],
    last: [u32; 4],
}

#[test]
fn handles_point_to_the_structures_of_hips_headers() {
    let (hip, cuda) = (hip(), cuda());
    // SAFETY: a live handle points to its structure.
    let look = |handle: P| unsafe { *(handle as *const Picture) };
    let (mut array, mut mipmap) = (0, 0);
    assert_eq!((hip.hipMallocArray)(&mut array, &Channels([16, 16, 0, 0], 0), 5, 3, 0), 0);
    let seen = look(array);
    assert_eq!((seen.channels, seen.size), (Channels([16, 16, 0, 0], 0), [5, 3, 0]));
    // The format's number, channels, not created by driver calls, hipTextureType2D.
    let [format, count, driver, texture] = seen.last;
    assert_eq!((seen.kind, format, count, driver as u8, texture), (0, 9, 2, 0, 2));
    assert_eq!((hip.hipFreeArray)(array), 0);
    // An array created by CUDA is also HIP's: width, height, format, channels.
    assert_eq!((cuda.cuArrayCreate_v2)(&mut array, &[7, 0, 0x20 | 4 << 32]), 0);
    let seen = look(array);
    assert_eq!((seen.channels, seen.size), (Channels([32; 4], 2), [7, 0, 0]));
    assert_eq!((hip.hipFreeArray)(array), 0);
    assert_eq!(
        (hip.hipMallocMipmappedArray)(&mut mipmap, &Channels([8, 0, 0, 0], 1), Extent(8, 4, 0), 3, 0),
        0
    );
    let seen = look(mipmap);
    assert_eq!((seen.channels, seen.size), (Channels([8, 0, 0, 0], 1), [8, 4, 0]));
    // The first and the last level, flags, the format's number.
    assert_eq!(seen.last, [0, 2, 0, 1]);
    let mut level = 0;
    assert_eq!((hip.hipGetMipmappedArrayLevel)(&mut level, mipmap, 2), 0);
    assert_eq!(look(level).size, [2, 1, 0]);
    assert_eq!((hip.hipFreeMipmappedArray)(mipmap), 0);
}

#[test]
fn a_modules_reference_is_a_structure_that_both_sides_write() {
    let (hip, cuda) = (hip(), cuda());
    let module = module(&hip, TEXTURES);
    let (mut picture, mut n, array) = (0, 0, row(&hip));
    assert_eq!((hip.hipModuleGetTexRef)(&mut picture, module, c("picture").as_ptr()), 0);
    let place = picture as *mut Reference;
    // SAFETY: the handle points to the structure while the module is loaded.
    let look = || unsafe { place.read() };
    // Normalised floats, clamped.
    let seen = look();
    assert_eq!((seen.normalized, seen.read_mode, seen.filter, seen.address), (0, 1, 0, [1; 3]));
    assert_eq!(seen.channels, Channels([32, 0, 0, 0], 2));
    // Settings made by either interface are visible.
    assert_eq!((hip.hipTexRefSetAddressMode)(picture, 1, 3), 0);
    assert_eq!((cuda.cuTexRefSetFilterMode)(picture, 1), 0);
    assert_eq!((hip.hipTexRefSetFlags)(picture, 2), 0);
    let seen = look();
    assert_eq!((seen.normalized, seen.filter, seen.address), (1, 1, [1, 3, 1]));
    // The program's own writes take effect at the next call, since HIP 5 programs set a reference before they
    // bind it.
    for (mode, filter, wanted) in [
        // Border and clamp, point filter; clamp, linear filter.
        (3, 0, [0.0, 1.0, 2.0, 3.0, 0.0, 0.0]),
        (1, 0, [0.0, 1.0, 2.0, 3.0, 3.0, 3.0]),
        (1, 1, [0.0, 1.0, 2.0, 3.0, 3.0, 3.0]),
    ] {
        let told = Reference { normalized: 0, read_mode: 0, filter, address: [mode, 1, 1], ..look() };
        // SAFETY: see above.
        unsafe { place.write(told) };
        assert_eq!((hip.hipTexRefSetArray)(picture, array, 1), 0);
        assert_eq!((hip.hipTexRefGetAddressMode)(&mut n, picture, 0), 0);
        assert_eq!(n, mode);
        assert_eq!((cuda.cuTexRefGetFilterMode)(&mut n, picture), 0);
        assert_eq!(n, filter);
        let sample = function(&hip, module, "sample");
        assert_eq!((hip.hipModuleLaunchKernel)(sample, 1, 1, 1, 6, 1, 1, 0, 0, NONE, NONE), 0);
        assert_eq!(texels(&hip, &cuda, module, 6), wanted, "mode {mode}, filter {filter}");
    }
    // One field written by the program and another one through CUDA before the same call: both are kept.
    // SAFETY: see above.
    unsafe { place.write(Reference { address: [2; 3], ..look() }) };
    assert_eq!((cuda.cuTexRefSetFilterMode)(picture, 0), 0);
    assert_eq!((hip.hipTexRefGetAddressMode)(&mut n, picture, 0), 0);
    assert_eq!((n, look().address), (2, [2; 3]));
    assert_eq!((cuda.cuTexRefGetFilterMode)(&mut n, picture), 0);
    assert_eq!((n, look().filter), (0, 0));
    assert_eq!((hip.hipModuleUnload)(module), 0);
    assert_ne!((hip.hipTexRefSetFilterMode)(picture, 1), 0, "the reference went with its module");
    assert_eq!((hip.hipFreeArray)(array), 0);
}

#[test]
fn a_registered_textures_structure_follows_the_calls() {
    let hip = hip();
    let code = bundle(&[("hip-ptx", c(TEXTURES).as_bytes_with_nul())]);
    let wrapper = Wrapper { magic: 0x4849_5046, version: 1, binary: code.as_ptr().cast(), unused: 0 };
    let handle = (hip.__hipRegisterFatBinary)(&wrapper);
    let channels = Channels([32, 0, 0, 0], 2);
    let picture = std::cell::UnsafeCell::new(Reference {
        normalized: 0,
        read_mode: 0,
        filter: 0,
        address: [1; 3],
        channels,
        rest: [7; 6],
    });
    let host = picture.get() as P;
    // SAFETY: only this thread reads, and the calls have returned.
    let look = || unsafe { picture.get().read() };
    (hip.__hipRegisterTexture)(handle, host, c("picture").as_ptr(), c("picture").as_ptr(), 2, 0, 0);
    assert_eq!((hip.hipTexRefSetFilterMode)(host, 1), 0);
    assert_eq!((hip.hipTexRefSetAddressMode)(host, 0, 3), 0);
    let mut mode = 9;
    assert_eq!((hip.hipTexRefGetAddressMode)(&mut mode, host, 0), 0);
    assert_eq!(mode, 3, "the next call did not take back what the last one set");
    let seen = look();
    assert_eq!((seen.filter, seen.address, seen.channels), (1, [3, 1, 1], channels));
    assert_eq!(seen.rest[3..5], [7; 2], "the object, the format: the program's");
    (hip.__hipUnregisterFatBinary)(handle);
}
