#!/bin/sh
# Builds the probe and records what a CUDA driver library answers.
#   record.sh LIBRARY INCLUDE OUTPUT-DIRECTORY [NAME [PART...]]
# LIBRARY: libcuda.so.1 or a path; INCLUDE: the folder of cuda.h; writes NAME.txt and NAME-PART (NAME: h200-580; parts: main, texture,
# cluster, formats, procaddr; all of them where none is named).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
library=${1:?library} include=${2:?include folder} out=${3:?output folder} name=${4:-h200-580}
parts='main texture cluster formats procaddr'
if [ $# -gt 4 ]; then
    shift 4
    parts=$*
fi
cc=${CC:-cc}
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sources=$(ls "$here"/*.c | grep -v '/table\.c$')
# shellcheck disable=SC2086
$cc -std=gnu11 -O1 -g -Wall -Wextra -Wno-cast-function-type -Wno-deprecated-declarations -Wa,-I,"$here" -I "$include" -o "$work/probe" $sources -ldl -lpthread
$cc -std=gnu11 -O1 -Wall -Wextra -I "$include" -o "$work/table" "$here/table.c" -ldl
driver=$( (nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo "$library") | head -n 1)
header="# What a CUDA driver answers: $driver; recorded $(date -u +%Y-%m-%d) by tests/probe/record.sh. Never edited by hand."
texture='texobject texdesc surfobject texref texrefget texrefrun surfref mipmap texformats surftrap surfmisaligned texbadhandle'
cluster='clusterattr clusterlaunch clusterocc launchattr'
formats='blocks blockcopy blockview planar sampler'
of() { for group in $1; do "$work/probe" "$library" --group "$group"; done; }
others=$("$work/probe" --list | grep -vxF "$(printf '%s\n' $texture $cluster $formats)")
for part in $parts; do
    case $part in
    main) { echo "$header"; of "$others"; } >"$out/$name.txt" ;;
    texture) { echo "$header"; of "$texture"; } >"$out/$name-texture.txt" ;;
    cluster) { echo "$header"; of "$cluster"; } >"$out/$name-cluster.txt" ;;
    formats) { echo "$header"; of "$formats"; } >"$out/$name-formats.txt" ;;
    procaddr)
        { echo "$header"
          printf '# name\tflags\tfirst version\tstatus\tquery result\texported symbols\n'
          "$work/table" "$library" "$here/exports.txt"; } >"$out/$name-procaddr.tsv" ;;
    esac
done
