#!/bin/sh
# Records or checks the approximate functions on every operand.
#     functions.sh record LIBRARY INCLUDE OUTPUT-DIRECTORY
#         writes functions.hw, compressed to functions.hw.zst if zstd is installed
#     functions.sh check LIBRARY INCLUDE [NAME...]
#         lists the functions of a driver library whose results differ from the recorded ones
# LIBRARY: libcuda.so.1 or a path; INCLUDE: the folder of cuda.h.
set -eu
verb=${1:?record or check}
shift
record=$(dirname "$0")/../record
. "$record/common.sh"
shift 2
build functions "$here/functions.c"
if [ "$verb" = check ]; then
    zstd -q -d -o "$work/functions.hw" "$here/functions.hw.zst"
    "$work/functions" check "$library" "$here" "$work/functions.hw" "$@"
    exit
fi
into "${1:-}"
"$work/functions" record "$library" "$here" "$device" "$today" >"$out/functions.hw"
compress "$out/functions.hw"
