#!/bin/sh
# Compiles the code objects of the tests: needs clang 19 (apt-get install clang-19 lld-19).
set -eu
cd "$(dirname "$0")"
for target in gfx906 gfx90a:xnack- gfx1100 gfx1201; do
    clang-19 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu="$target" -nogpulib \
        -O2 saxpy.cl -o "saxpy.${target%%:*}.hsaco"
done
