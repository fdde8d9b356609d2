#!/bin/sh
# Compiles the CUDA C++ beside this file to PTX, or to AMD code objects.
#     make.sh clang [DIR]   with clang 19's NVPTX back end (the package clang-19, no vendor SDK needed).
#                           Without DIR, it writes the files that the repository ships: run it after each
#                           change of a kernel.
#     make.sh nvcc DIR      with NVIDIA's compiler, $NVCC or the one in PATH. Not for the repository, only for
#                           comparisons with `cargo bench -p bench --bench kernels -- --ptx DIR`.
#     make.sh amd DIR       with clang 19's AMDGPU back end and lld 19, for the targets that
#                           `cargo bench -p bench --bench kernels -- --amd` compares: a folder in DIR for each.
set -eu
compiler=${1:-clang}
case $compiler in
clang) into=${2:-} ;;
nvcc | amd) into=${2:?a folder for the files} ;;
*) echo "make.sh clang [DIR] | make.sh nvcc DIR | make.sh amd DIR" >&2; exit 2 ;;
esac
if [ -n "$into" ]; then
    mkdir -p "$into"
    into=$(cd "$into" && pwd)
fi
cd "$(dirname "$0")"
for source in *.cu; do
    ptx=${into:-.}/${source%.cu}.ptx
    case $compiler in
    amd)
        for target in gfx906 gfx1100; do
            mkdir -p "$into/$target"
            clang++-19 -x hip -nogpuinc -nogpulib --offload-device-only --offload-arch=$target -O3 \
                --no-gpu-bundle-output -o "$into/$target/${source%.cu}.hsaco" "$source"
        done
        ;;
    clang)
        clang++-19 -x cuda -nocudainc -nocudalib --cuda-device-only --cuda-gpu-arch=sm_70 -Xclang -target-feature \
            -Xclang +ptx70 -O3 -ffp-contract=fast -S -o "$ptx" "$source"
        ;;
    nvcc) "${NVCC:-nvcc}" -ptx -arch=sm_75 -o "$ptx" "$source" ;;
    esac
done
