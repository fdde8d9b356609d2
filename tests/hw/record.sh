#!/bin/sh
# Records what instructions give on a device: record.sh LIBRARY INCLUDE OUTPUT-DIRECTORY [GROUP…]
# LIBRARY: libcuda.so.1 or a path; INCLUDE: the folder of cuda.h; all groups where none is named. Writes GROUP.hw, compressed to GROUP.hw.zst where zstd is installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
library=${1:?library} include=${2:?include folder} out=${3:?output folder}
shift 3
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -I "$include" -o "$work/record" "$here/record.c" -ldl
device=$( (nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo "$library") | head -n 1)
for group in ${*:-$(grep -v '^#' "$here/forms.tsv" | cut -f1 | uniq | sort -u)}; do
    "$work/record" "$library" "$here/forms.tsv" "$group" "$device" "$(date -u +%Y-%m-%d)" >"$out/$group.hw"
    if command -v zstd >/dev/null; then
        zstd -q -19 -f --rm "$out/$group.hw"
    fi
done
