#!/usr/bin/env bash
# Runs Dr.Jit's own tests of its CUDA backend, each file in a separate process, and lists failures with their
# reasons. Run it by hand: all files take some 15 processor minutes.
#     drjit.sh TESTS [FILE...]   TESTS: the folder `tests` of Dr.Jit's source, in the version below;
#                                FILE: only these files, for example test_event.py
#     ANYWARP_VENV_DRJIT         folder of the Python packages; default: target/clients/drjit/venv
#     ANYWARP                    the command; default: the release build's
set -euo pipefail
version=1.5.0
test -d "${1:?the folder with the tests of Dr.Jit $version}" || { echo "$1 is not a folder" >&2; exit 2; }
tests=$(realpath "$1")
shift
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-$PWD/target}
anywarp=$(realpath "${ANYWARP:-$target/release/anywarp}")
work=$target/clients/drjit
venv=${ANYWARP_VENV_DRJIT:-$work/venv}
mkdir -p "$work/logs"
test -x "$venv/bin/pip" || python3 -m venv "$venv"
"$venv/bin/pip" -q install --disable-pip-version-check "drjit==$version" numpy pytest

cd "$tests"
test $# -gt 0 || set -- test_*.py
status=0
for file in "$@"; do
    result=0
    "$anywarp" run -- "$venv/bin/python3" -m pytest -q -p no:cacheprovider -k cuda --tb=line "$file" > "$work/logs/$file.log" 2>&1 || result=$?
    # Status 5: the file has no tests of this backend.
    case $result in 0 | 5) ;; *) status=1 ;; esac
    printf '%-32s %3d  %s\n' "$file" "$result" "$(tail -n 1 "$work/logs/$file.log")"
done
printf '%s\n' "-- errors"
# With --tb=line, pytest prints `FILE:LINE: ERROR`.
grep -hoE '^[^ ]+:[0-9]+: .*(Error|Exception).*' "$work"/logs/*.log | sed -E 's/^[^ ]+: //' | sort | uniq -c | sort -rn | head -n 20 || true
exit $status
