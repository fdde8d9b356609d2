#!/bin/sh
# Records what asynchronous copies give on a device: record.sh LIBRARY INCLUDE OUTPUT-DIRECTORY [NAME]
# LIBRARY: libcuda.so.1 or a path; INCLUDE: the folder of cuda.h. Writes NAME.async (h200), compressed to NAME.async.zst where zstd is installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
library=${1:?library} include=${2:?include folder} out=${3:?output folder} name=${4:-h200}
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -I "$include" -o "$work/record" "$here"/*.c -ldl
device=$( (nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo "$library") | head -n 1)
"$work/record" "$library" "$device" "$(date -u +%Y-%m-%d)" >"$out/$name.async"
if command -v zstd >/dev/null; then
    zstd -q -19 -f --rm "$out/$name.async"
fi
