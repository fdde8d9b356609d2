#!/bin/sh
# Compiles vecadd.cu to vecadd.ptx with clang 19's NVPTX back end; no SDK is needed.
set -eu
cd "$(dirname "$0")"
clang++-19 -x cuda -nocudainc -nocudalib --cuda-device-only --cuda-gpu-arch=sm_70 -Xclang -target-feature \
    -Xclang +ptx70 -O3 -S -o vecadd.ptx vecadd.cu
