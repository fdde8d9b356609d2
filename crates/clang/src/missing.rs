//! What to say about headers that are not here.

/// The beginnings of headers' names, and what they belong to.
const KNOWN: &[(&str, &str)] = &[
    ("cublas", "cuBLAS is a closed library of NVIDIA's"),
    ("cudnn", "cuDNN is a closed library of NVIDIA's"),
    ("cufft", "cuFFT is a closed library of NVIDIA's"),
    ("curand", "cuRAND is a closed library of NVIDIA's"),
    ("cusolver", "cuSOLVER is a closed library of NVIDIA's"),
    ("cusparse", "cuSPARSE is a closed library of NVIDIA's"),
    ("npp", "NPP is a closed library of NVIDIA's"),
    ("nvjpeg", "nvJPEG is a closed library of NVIDIA's"),
    ("cuda_gl_interop", "there is no OpenGL on Anywarp's devices"),
    ("mma.h", "matrix instructions are not among our headers"),
    ("cub/", "CUB is a part of NVIDIA's CCCL; name its folder with -I (clang may not compile it)"),
    ("thrust/", "Thrust is a part of NVIDIA's CCCL; name its folder with -I (clang may not compile it)"),
    ("cutlass/", "CUTLASS is a library of its own; name its folder with -I"),
    ("nccl.h", "NCCL is a library of its own; name its folder with -I"),
    ("helper_cuda.h", "it belongs to NVIDIA's samples; name their folder Common with -I"),
    ("hipblas", "hipBLAS is a library of ROCm's; name its folder with -I"),
    ("rocblas", "rocBLAS is a library of ROCm's; name its folder with -I"),
    ("hiprand", "hipRAND is a library of ROCm's; name its folder with -I"),
    ("rocrand", "rocRAND is a library of ROCm's; name its folder with -I"),
    ("hipcub", "hipCUB is a library of ROCm's; name its folder with -I"),
    ("rocprim", "rocPRIM is a library of ROCm's; name its folder with -I"),
    ("omp.h", "it belongs to clang's OpenMP (`apt-get install libomp-19-dev`)"),
];

/// What to say of a message of clang's.
pub fn note(message: &str) -> Option<String> {
    let header = message.split_once("' file not found")?.0.rsplit_once('\'')?.1;
    let name = header.rsplit_once('/').map_or(header, |(_, name)| name);
    let known = |start: &str| header.starts_with(start) || name.starts_with(start);
    let (_, what) = KNOWN.iter().find(|(start, _)| known(start))?;
    Some(format!("{header}: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_libraries_are_named() {
        let of = |header: &str| note(&format!("a.cu:1:10: fatal error: '{header}' file not found"));
        assert_eq!(of("cublas_v2.h").as_deref(), Some("cublas_v2.h: cuBLAS is a closed library of NVIDIA's"));
        assert!(of("thrust/sort.h").is_some_and(|note| note.contains("CCCL")));
        assert!(of("hip/hipblas.h").is_some_and(|note| note.contains("ROCm")));
        assert_eq!(of("mine.h"), None);
        assert_eq!(note("a.cu:1:1: error: expected ';'"), None);
    }
}
