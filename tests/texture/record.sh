#!/bin/sh
# Records the results of textures and surfaces on a device.
#     record.sh LIBRARY INCLUDE OUTPUT-DIRECTORY [NAME]
# LIBRARY: libcuda.so.1 or a path; INCLUDE: the folder of cuda.h. Writes NAME.tex (default: h200), compressed
# to NAME.tex.zst if zstd is installed.
set -eu
record=$(dirname "$0")/../record
. "$record/common.sh"
build record -ffp-contract=off "$here"/*.c
into "${3:-}"
result=$out/${4:-h200}.tex
"$work/record" "$library" "$device" "$today" >"$result"
compress "$result"
