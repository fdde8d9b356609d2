#!/bin/sh
# Records the results of asynchronous copies on a device.
#     record.sh LIBRARY INCLUDE OUTPUT-DIRECTORY [NAME]
# LIBRARY: libcuda.so.1 or a path; INCLUDE: the folder of cuda.h. Writes NAME.async (default: h200),
# compressed to NAME.async.zst if zstd is installed.
set -eu
record=$(dirname "$0")/../record
. "$record/common.sh"
build record "$here"/*.c
into "${3:-}"
result=$out/${4:-h200}.async
"$work/record" "$library" "$device" "$today" >"$result"
compress "$result"
