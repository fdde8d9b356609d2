#!/bin/sh
# Compiles the code objects of the tests: needs clang 19 (apt-get install clang-19 lld-19), and clang 15, the last
# one that writes version 2 (apt-get install clang-15 lld-15).
set -eu
cd "$(dirname "$0")"
for target in gfx906 gfx90a:xnack- gfx1100 gfx1201; do
    clang-19 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu="$target" -nogpulib \
        -O2 saxpy.cl -o "saxpy.${target%%:*}.hsaco"
done
clang-15 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx906:xnack- -nogpulib -mcode-object-version=2 \
    -O2 saxpy.cl -o saxpy.v2.gfx906.hsaco
