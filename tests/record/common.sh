# Sourced by the recorders' scripts, SCRIPT LIBRARY INCLUDE ..., which set `record` to this folder.
# shellcheck shell=sh disable=SC2034,SC2154
here=$(cd "$(dirname "$0")" && pwd)
library=${1:?library} include=${2:?include folder}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Device and driver, and the date, as stated in recordings.
device=$( (nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo "$library") | head -n 1)
today=$(date -u +%Y-%m-%d)

# build PROGRAM SOURCE-OR-FLAG...: builds $work/PROGRAM.
build() {
    program=$1
    shift
    ${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -Wno-deprecated-declarations -I "$record" -I "$include" -o "$work/$program" "$@" "$record/driver.c" -ldl -lm -lpthread
}

# into FOLDER: creates the folder for the recording.
into() {
    out=${1:?output folder}
    mkdir -p "$out"
}

# compress FILE: replaces FILE by FILE.zst if zstd is installed.
compress() {
    if command -v zstd >/dev/null; then
        zstd -q -19 -f --rm "$1"
    fi
}
