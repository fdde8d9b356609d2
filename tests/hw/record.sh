#!/bin/sh
# Records the results of instructions on a device.
#     record.sh LIBRARY INCLUDE OUTPUT-DIRECTORY [GROUP...]
# LIBRARY: libcuda.so.1 or a path; INCLUDE: the folder of cuda.h; default: all groups. Writes GROUP.hw,
# compressed to GROUP.hw.zst if zstd is installed.
set -eu
record=$(dirname "$0")/../record
. "$record/forms.sh"
