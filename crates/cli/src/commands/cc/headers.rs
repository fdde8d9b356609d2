//! Our headers, embedded so that they also exist where only the command is installed.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The folder of the headers in the scratch folder.
pub const FOLDER: &str = "include";

/// A table of files of `include/` with their texts.
macro_rules! embedded {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../../../include/", $name)))),*]
    };
}

/// Every file of `include/`.
const FILES: &[(&str, &str)] = embedded! {
    "anywarp/atomics.h"
    "anywarp/attributes.h"
    "anywarp/intrinsics.h"
    "anywarp/device.h"
    "anywarp/math_double.h"
    "anywarp/math_float.h"
    "anywarp/math_names.h"
    "anywarp/math_special.h"
    "anywarp/math_tables.h"
    "anywarp/target.h"
    "anywarp/warp.h"
    "cooperative_groups.h"
    "cooperative_groups/reduce.h"
    "cuda.h"
    "cuda_fp16.h"
    "cuda_runtime.h"
    "cuda_runtime_api.h"
    "hip/driver_types.h"
    "hip/hip_api_since_6_4.h"
    "hip/hip_cooperative_groups.h"
    "hip/hip_ext.h"
    "hip/hip_fp16.h"
    "hip/hip_graph_api.h"
    "hip/hip_runtime.h"
    "hip/hip_runtime_api.h"
    "hip/hip_vector_types.h"
    "hip/hiprtc.h"
    "hip/texture_types.h"
    "vector_types.h"
};

/// Writes all headers below `folder`.
pub fn write(folder: &Path) -> Result<()> {
    for (name, text) in FILES {
        let path = folder.join(FOLDER).join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
        made.with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
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
    fn every_header_is_embedded() {
        let mut there = BTreeSet::new();
        files(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include"), "", &mut there);
        assert_eq!(FILES.iter().map(|file| file.0.to_owned()).collect::<BTreeSet<_>>(), there);
    }
}
