#!/usr/bin/env bash
# Runs PyCUDA's own tests, each file in a separate process. Run it by hand: building PyCUDA takes some ten
# processor minutes, the tests about twenty.
#     pycuda.sh [FILE...]        FILE: only these files, for example test_driver.py
#     ANYWARP_VENV_PYCUDA        folder of the Python packages; default: target/clients/pycuda/venv
#     ANYWARP                    the command; default: the release build's
#
# PyCUDA has nvcc compile for the device. The toolkit here is that of NVIDIA's wheels, with Anywarp's stand-in
# in the place of NVIDIA's assembler, so that the results have PTX.
set -euo pipefail
version=2026.1
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-$PWD/target}
anywarp=$(realpath "${ANYWARP:-$target/release/anywarp}")
work=$target/clients/pycuda
venv=${ANYWARP_VENV_PYCUDA:-$work/venv}
mkdir -p "$work/logs"
test -x "$venv/bin/pip" || python3 -m venv "$venv"
pip=("$venv/bin/pip" -q --disable-pip-version-check)
"${pip[@]}" install numpy mako pytest pytest-timeout pytools platformdirs setuptools wheel nvidia-curand \
    nvidia-cuda-{cccl,crt,nvcc,nvrtc,profiler-api,runtime}==13.0.* nvidia-nvvm==13.0.*

# The toolkit: nvcc looks for its tools beside itself.
wheels=$(echo "$venv"/lib/python3*/site-packages/nvidia/cu13)
root=$work/cuda
libraries=$(dirname "$anywarp")/lib-anywarp
mkdir -p "$root/lib/stubs" "$root/bin"
cp -ru "$wheels/bin/." "$root/bin"
cp --remove-destination "$libraries/ptxas" "$root/bin/ptxas"
ln -sfn "$wheels/include" "$root/include"
ln -sfn "$wheels/nvvm" "$root/nvvm"
ln -sfn lib "$root/lib64"
ln -sf "$wheels"/lib/*.so* "$wheels"/lib/*.a "$root/lib"
for name in cudart curand; do ln -sf "$wheels/lib/lib$name".so.* "$root/lib/lib$name.so"; done
ln -sf "$libraries/libcuda.so.1" "$root/lib/stubs/libcuda.so"
export PATH=$root/bin:$PATH CUDA_ROOT=$root LD_LIBRARY_PATH=$root/lib
# Tests with larger arrays skip themselves: they take too long on a processor, or all its memory.
export ANYWARP_MEMORY=${ANYWARP_MEMORY:-4G}

# The source distribution has the tests.
source=$work/pycuda-$version
if ! test -d "$source"; then
    "${pip[@]}" download --no-deps --no-binary pycuda --no-build-isolation -d "$work" "pycuda==$version"
    tar -xzf "$source.tar.gz" -C "$work"
fi
if ! "$venv/bin/pip" show -q pycuda 2> "$work/logs/installed"; then
    cd "$source"
    "$venv/bin/python3" configure.py --cuda-root="$root"
    "${pip[@]}" install --no-build-isolation --no-deps .
fi

cd "$source/test"
test $# -gt 0 || set -- test_*.py
status=0
for file in "$@"; do
    result=0
    "$anywarp" run -- "$venv/bin/python3" -m pytest -q -p no:cacheprovider --timeout 300 --tb=line "$file" \
        > "$work/logs/$file.log" 2>&1 || result=$?
    test $result = 0 || status=1
    printf '%-24s %3d  %s\n' "$file" "$result" "$(tail -n 1 "$work/logs/$file.log")"
done
exit $status
