#!/bin/sh
# Records the behaviour of clusters on a device.
#     record.sh LIBRARY INCLUDE OUTPUT-DIRECTORY [NAME]
# LIBRARY: libcuda.so.1 or a path; INCLUDE: the folder of cuda.h. Writes NAME.txt (default: h200).
set -eu
record=$(dirname "$0")/../record
. "$record/common.sh"
build record "$here"/*.c
into "${3:-}"
"$work/record" "$library" "$here/cases.txt" "$device" "$today" >"$out/${4:-h200}.txt"
