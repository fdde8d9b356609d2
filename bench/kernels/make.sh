#!/bin/sh
# Makes the PTX files that the repository ships from the CUDA C++ beside them, with clang 19's own NVPTX back end.
# Run it after a change of a kernel; it needs the package clang-19 and nothing of any vendor's SDK.
set -eu
cd "$(dirname "$0")"
for source in *.cu; do
    clang++-19 -x cuda -nocudainc -nocudalib --cuda-device-only --cuda-gpu-arch=sm_70 -Xclang -target-feature \
        -Xclang +ptx70 -O3 -ffp-contract=fast -S -o "${source%.cu}.ptx" "$source"
done
