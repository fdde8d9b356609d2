//! Our headers, embedded so that they also exist where only the command is installed.

use std::path::Path;

use crate::Result;

/// The folder of the headers in the scratch folder.
pub const FOLDER: &str = "include";

/// A table of files of `include/` with their texts.
macro_rules! embedded {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../include/", $name)))),*]
    };
}

/// Every file of `include/`.
const FILES: &[(&str, &str)] = embedded! {
    "anywarp/atomics.h"
    "anywarp/attributes.h"
    "anywarp/device.h"
    "anywarp/hip_functions.h"
    "anywarp/hostcall.h"
    "anywarp/intrinsics.h"
    "anywarp/math_double.h"
    "anywarp/math_float.h"
    "anywarp/math_names.h"
    "anywarp/math_special.h"
    "anywarp/math_tables.h"
    "anywarp/narrow.h"
    "anywarp/packed.h"
    "anywarp/rounding.h"
    "anywarp/small_float.h"
    "anywarp/surface.h"
    "anywarp/target.h"
    "anywarp/texture.h"
    "anywarp/vectors.h"
    "anywarp/warp.h"
    "cooperative_groups.h"
    "cooperative_groups/reduce.h"
    "cuComplex.h"
    "cuda.h"
    "cuda/anywarp_std.h"
    "cuda/atomic"
    "cuda/barrier"
    "cuda/pipeline"
    "cuda_bf16.h"
    "cuda_fp16.h"
    "cuda_fp8.h"
    "cuda_pipeline.h"
    "cuda_runtime.h"
    "cuda_runtime_api.h"
    "cuda_runtime_since_13_1.h"
    "driver_types.h"
    "hip/channel_descriptor.h"
    "hip/driver_types.h"
    "hip/hip_api_since_6_4.h"
    "hip/hip_bf16.h"
    "hip/hip_bfloat16.h"
    "hip/hip_common.h"
    "hip/hip_complex.h"
    "hip/hip_cooperative_groups.h"
    "hip/hip_deprecated.h"
    "hip/hip_ext.h"
    "hip/hip_external_api.h"
    "hip/hip_fp16.h"
    "hip/hip_fp8.h"
    "hip/hip_gl_interop.h"
    "hip/hip_graph_api.h"
    "hip/hip_math_constants.h"
    "hip/hip_prof_str.h"
    "hip/hip_profile.h"
    "hip/hip_runtime.h"
    "hip/hip_runtime_api.h"
    "hip/hip_vector_types.h"
    "hip/hip_version.h"
    "hip/hiprtc.h"
    "hip/library_types.h"
    "hip/surface_types.h"
    "hip/texture_types.h"
    "math_constants.h"
    "nvtx3/nvToolsExt.h"
    "surface_types.h"
    "texture_types.h"
    "vector_types.h"
};

/// Headers of CUDA and HIP whose names are declared in another one: they are written as one line that
/// includes it.
const FORWARDED: &[(&str, &str)] = &[
    ("builtin_types.h", "cuda_runtime_api.h"),
    ("channel_descriptor.h", "cuda_runtime.h"),
    ("common_functions.h", "cuda_runtime.h"),
    ("crt/common_functions.h", "cuda_runtime.h"),
    ("crt/device_double_functions.h", "cuda_runtime.h"),
    ("crt/device_functions.h", "cuda_runtime.h"),
    ("crt/host_config.h", "vector_types.h"),
    ("crt/host_defines.h", "vector_types.h"),
    ("crt/math_functions.h", "cuda_runtime.h"),
    ("crt/sm_70_rt.h", "cuda_runtime.h"),
    ("crt/sm_80_rt.h", "cuda_runtime.h"),
    ("crt/sm_90_rt.h", "cuda_runtime.h"),
    ("cooperative_groups/details/partitioning.h", "cooperative_groups.h"),
    ("cooperative_groups/memcpy_async.h", "cooperative_groups.h"),
    ("cooperative_groups/scan.h", "cooperative_groups.h"),
    ("cuda_device_runtime_api.h", "cuda_runtime.h"),
    ("cuda_pipeline_primitives.h", "cuda_pipeline.h"),
    ("cuda_profiler_api.h", "cuda_runtime_api.h"),
    ("cudaProfiler.h", "cuda.h"),
    ("cuda_surface_types.h", "cuda_runtime.h"),
    ("cuda_texture_types.h", "cuda_runtime.h"),
    ("cuda/std/atomic", "cuda/atomic"),
    ("cuda/std/barrier", "cuda/barrier"),
    ("device_atomic_functions.h", "cuda_runtime.h"),
    ("device_double_functions.h", "cuda_runtime.h"),
    ("device_functions.h", "cuda_runtime.h"),
    ("device_launch_parameters.h", "cuda_runtime.h"),
    ("device_types.h", "cuda_runtime_api.h"),
    ("driver_functions.h", "cuda_runtime_api.h"),
    ("hip/device_functions.h", "hip/hip_runtime.h"),
    ("hip/hip_hcc.h", "hip/hip_ext.h"),
    ("hip/hip_texture_types.h", "hip/texture_types.h"),
    ("hip/math_functions.h", "hip/hip_runtime.h"),
    ("host_config.h", "vector_types.h"),
    ("host_defines.h", "vector_types.h"),
    ("math_functions.h", "cuda_runtime.h"),
    ("nvToolsExt.h", "nvtx3/nvToolsExt.h"),
    ("sm_20_atomic_functions.h", "cuda_runtime.h"),
    ("sm_20_intrinsics.h", "cuda_runtime.h"),
    ("sm_30_intrinsics.h", "cuda_runtime.h"),
    ("sm_32_atomic_functions.h", "cuda_runtime.h"),
    ("sm_32_intrinsics.h", "cuda_runtime.h"),
    ("sm_35_atomic_functions.h", "cuda_runtime.h"),
    ("sm_35_intrinsics.h", "cuda_runtime.h"),
    ("sm_60_atomic_functions.h", "cuda_runtime.h"),
    ("sm_61_intrinsics.h", "cuda_runtime.h"),
    ("surface_functions.h", "cuda_runtime.h"),
    ("surface_indirect_functions.h", "cuda_runtime.h"),
    ("texture_fetch_functions.h", "cuda_runtime.h"),
    ("texture_indirect_functions.h", "cuda_runtime.h"),
    ("vector_functions.h", "vector_types.h"),
    ("vector_functions.hpp", "vector_types.h"),
];

/// Headers of the standard library that `cuda/std/` offers as well: of these, what is constexpr can be used
/// on the device.
const OF_STD: &[&str] = &[
    "algorithm",
    "array",
    "bit",
    "bitset",
    "cassert",
    "cfloat",
    "climits",
    "cmath",
    "complex",
    "concepts",
    "cstddef",
    "cstdint",
    "cstdlib",
    "cstring",
    "functional",
    "initializer_list",
    "iterator",
    "limits",
    "numeric",
    "optional",
    "ratio",
    "span",
    "tuple",
    "type_traits",
    "utility",
    "variant",
    "version",
];

/// Writes all headers below `folder`.
///
/// # Errors
/// A file that cannot be written.
pub fn write(folder: &Path) -> Result<()> {
    let folder = folder.join(FOLDER);
    for (name, text) in FILES {
        put(&folder, name, text)?;
    }
    for (name, other) in FORWARDED {
        put(&folder, name, &format!("#include <{other}>\n"))?;
    }
    for name in OF_STD {
        let text = format!(
            "#if __has_include(<{name}>)\n#include <{name}>\n#endif\n#include <cuda/anywarp_std.h>\n"
        );
        put(&folder, &format!("cuda/std/{name}"), &text)?;
    }
    Ok(())
}

fn put(folder: &Path, name: &str, text: &str) -> Result<()> {
    crate::write(&folder.join(name), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    fn files(folder: PathBuf, prefix: &str, all: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                files(entry.path(), &format!("{name}/"), all);
            } else {
                all.insert(name);
            }
        }
    }

    #[test]
    fn no_header_stands_twice() {
        let mut seen = BTreeSet::new();
        let of_std = OF_STD.iter().map(|name| format!("cuda/std/{name}"));
        let names = FILES.iter().chain(FORWARDED).map(|(name, _)| (*name).to_owned());
        for name in names.chain(of_std) {
            assert!(seen.insert(name.clone()), "{name}");
        }
        for (name, other) in FORWARDED {
            assert!(seen.contains(*other), "{name} includes {other}");
        }
    }

    #[test]
    fn every_header_is_embedded() {
        let mut there = BTreeSet::new();
        files(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include"), "", &mut there);
        assert_eq!(FILES.iter().map(|file| file.0.to_owned()).collect::<BTreeSet<_>>(), there);
    }
}
