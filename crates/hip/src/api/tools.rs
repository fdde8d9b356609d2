//! Functions for tools: profiler control, function names, the build, half-precision conversions.

use std::ffi::c_char;

use crate::abi::tell;
use crate::api;

/// `hipApiName`: the name for a number of AMD's tracer. The numbers differ between releases, and no tracer is
/// called here.
pub extern "C" fn hipApiName(id: u32) -> *const c_char {
    tell("hipApiName", &[("id", &id)], || 0);
    c"unknown".as_ptr()
}

/// `hipGetCmdName` of HIP 5: the name for a command number of its tracer; see [`hipApiName`].
pub extern "C" fn hipGetCmdName(id: u32) -> *const c_char {
    tell("hipGetCmdName", &[("id", &id)], || 0);
    c"unknown".as_ptr()
}

/// `hipRegisterTracerCallback`: registers a function to be called with AMD's tracer number of every call. It
/// is never called; `ANYWARP_LOG=trace` logs the calls instead.
pub extern "C" fn hipRegisterTracerCallback(function: u64) {
    tell("hipRegisterTracerCallback", &[("function", &function)], || 0);
}

/// `amd_dbgapi_get_build_name`: for AMD's debugger, which cannot debug these kernels.
pub extern "C" fn amd_dbgapi_get_build_name() -> *const c_char {
    concat!("anywarp ", env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// `amd_dbgapi_get_git_hash`: empty.
pub extern "C" fn amd_dbgapi_get_git_hash() -> *const c_char {
    c"".as_ptr()
}

/// `amd_dbgapi_get_build_id`: builds are not numbered.
pub extern "C" fn amd_dbgapi_get_build_id() -> usize {
    0
}

/// `__gnu_h2f_ieee`: converts half to single precision, always exactly.
pub extern "C" fn __gnu_h2f_ieee(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let (exponent, fraction) = (u32::from(half >> 10 & 0x1f), u32::from(half & 0x3ff));
    let magnitude = match exponent {
        // A subnormal: the fraction times 2^-24, exactly.
        0 => (fraction as f32 * f32::from_bits(0x3380_0000)).to_bits(),
        31 => 0x7f80_0000 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | magnitude)
}

/// `__gnu_f2h_ieee`: converts single to half precision, to nearest even.
pub extern "C" fn __gnu_f2h_ieee(single: f32) -> u16 {
    let bits = single.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    let rounded = match magnitude {
        // NaN stays NaN; infinity and what rounds to it become infinity.
        0x7f80_0001.. => 0x7e00 | (magnitude >> 13 & 0x3ff) as u16,
        0x477f_f000.. => 0x7c00,
        // Normal: change the exponent's bias; rounding may carry from the fraction into the exponent.
        0x3880_0000.. => {
            let rebased = magnitude - (112 << 23);
            ((rebased + 0xfff + (rebased >> 13 & 1)) >> 13) as u16
        }
        // Subnormal: adding 0.5 rounds to multiples of 2^-24 and leaves the result in the low bits of the
        // fraction.
        _ => (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000) as u16,
    };
    sign | rounded
}

api! {
    /// There is no profiler to control.
    Device Legal fn hipProfilerStart() {
        Ok(())
    }

    Device Legal fn hipProfilerStop() {
        Ok(())
    }

    /// AMD's log does not exist here; `ANYWARP_LOG` sets what is logged.
    Device Legal fn hipExtEnableLogging() {
        Ok(())
    }

    Device Legal fn hipExtDisableLogging() {
        Ok(())
    }

    Device Legal fn hipExtSetLoggingParams(_level: usize, _size: usize, _mask: usize) {
        Ok(())
    }
}
