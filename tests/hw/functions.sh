#!/bin/sh
# The approximate functions on every operand.
# functions.sh record LIBRARY INCLUDE OUTPUT-DIRECTORY: writes functions.hw, compressed to functions.hw.zst where zstd is installed.
# functions.sh check LIBRARY INCLUDE [NAME...]: says which functions of a driver library do not give what is recorded.
# LIBRARY: libcuda.so.1 or a path; INCLUDE: the folder of cuda.h.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
verb=${1:?record or check} library=${2:?library} include=${3:?include folder}
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -I "$include" -o "$work/functions" "$here/functions.c" -ldl
if [ "$verb" = check ]; then
    zstd -q -d -o "$work/functions.hw" "$here/functions.hw.zst"
    "$work/functions" check "$library" "$here" "$work/functions.hw" "$@"
    exit
fi
out=${1:?output folder}
device=$( (nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo "$library") | head -n 1)
mkdir -p "$out"
"$work/functions" record "$library" "$here" "$device" "$(date -u +%Y-%m-%d)" >"$out/functions.hw"
if command -v zstd >/dev/null; then
    zstd -q -19 -f --rm "$out/functions.hw"
fi
