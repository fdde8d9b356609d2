//! What tools ask for: the profiler's switch, names of functions, the build, conversions of half-precision numbers.

use std::ffi::c_char;

use crate::abi::tell;
use crate::api;

/// `hipApiName`: the name of a number of AMD's tracer. Its numbers differ from one release to the next, and no tracer is called here.
pub extern "C" fn hipApiName(id: u32) -> *const c_char {
    tell("hipApiName", &[("id", &id)], || 0);
    c"unknown".as_ptr()
}

/// `hipGetCmdName` of HIP 5: the name of a number of its tracer's commands, as [`hipApiName`].
pub extern "C" fn hipGetCmdName(id: u32) -> *const c_char {
    tell("hipGetCmdName", &[("id", &id)], || 0);
    c"unknown".as_ptr()
}

/// `hipRegisterTracerCallback`: the function would be told of every call by AMD's tracer numbers. It is never called;
/// `ANYWARP_LOG=trace` tells the calls instead.
pub extern "C" fn hipRegisterTracerCallback(function: u64) {
    tell("hipRegisterTracerCallback", &[("function", &function)], || 0);
}

/// `amd_dbgapi_get_build_name`: for AMD's debugger, which cannot debug these kernels.
pub extern "C" fn amd_dbgapi_get_build_name() -> *const c_char {
    concat!("anywarp ", env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// `amd_dbgapi_get_git_hash`: nothing is told of the source.
pub extern "C" fn amd_dbgapi_get_git_hash() -> *const c_char {
    c"".as_ptr()
}

/// `amd_dbgapi_get_build_id`: there are no numbered builds.
pub extern "C" fn amd_dbgapi_get_build_id() -> usize {
    0
}

/// `__gnu_h2f_ieee`: a number of half precision in single precision, which holds every one.
pub extern "C" fn __gnu_h2f_ieee(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let (exponent, fraction) = (u32::from(half >> 10 & 0x1f), u32::from(half & 0x3ff));
    let magnitude = match exponent {
        // 2^-24 for each step, exactly.
        0 => (fraction as f32 * f32::from_bits(0x3380_0000)).to_bits(),
        31 => 0x7f80_0000 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | magnitude)
}

/// `__gnu_f2h_ieee`: the nearest number of half precision, the even one of two.
pub extern "C" fn __gnu_f2h_ieee(single: f32) -> u16 {
    let bits = single.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    let rounded = match magnitude {
        // Infinity and what rounds to it; a NaN stays one.
        0x7f80_0001.. => 0x7e00 | (magnitude >> 13 & 0x3ff) as u16,
        0x477f_f000.. => 0x7c00,
        // Normal: the exponent is another, and a carry goes from the fraction into it.
        0x3880_0000.. => {
            let rebased = magnitude - (112 << 23);
            ((rebased + 0xfff + (rebased >> 13 & 1)) >> 13) as u16
        }
        // Steps of 2^-24; adding 2^-1 leaves them in the low bits of the fraction, rounded.
        _ => (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000) as u16,
    };
    sign | rounded
}

api! {
    /// There is no profiler to switch.
    Device Legal fn hipProfilerStart() {
        Ok(())
    }

    Device Legal fn hipProfilerStop() {
        Ok(())
    }
}
