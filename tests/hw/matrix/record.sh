#!/bin/sh
# Records what matrix instructions give on a device: record.sh LIBRARY INCLUDE OUTPUT-DIRECTORY [GROUP...]
# LIBRARY: libcuda.so.1 or a path; INCLUDE: the folder of cuda.h; all groups where none is named. Writes GROUP.hw, compressed to GROUP.hw.zst where zstd is installed.
set -eu
record=$(dirname "$0")/../../record
. "$record/forms.sh"
