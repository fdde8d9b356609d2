#!/usr/bin/env bash
# Runs the tests of the CUDA target that numba 0.62 includes (numba-cuda, which `run` tests, is its successor)
# through NVIDIA's Python bindings. Run it by hand: 1,510 tests take some 10 processor minutes, in one
# process.
#     numba_builtin.sh [TEST...]   TEST: only these tests, for example numba.cuda.tests.cudadrv
#     ANYWARP_VENV_NUMBA           folder of the Python packages, without numba-cuda;
#                                  default: target/clients/numba/venv
#     ANYWARP                      the command; default: the release build's
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-$PWD/target}
anywarp=$(realpath "${ANYWARP:-$target/release/anywarp}")
work=$target/clients/numba
venv=${ANYWARP_VENV_NUMBA:-$work/venv}
mkdir -p "$work"
test -x "$venv/bin/pip" || python3 -m venv "$venv"
"$venv/bin/pip" -q install --disable-pip-version-check 'numba==0.62.*' 'cuda-python==12.9.*' 'nvidia-cuda-nvcc-cu12==12.4.*' \
    'nvidia-cuda-nvrtc-cu12==12.9.*' 'nvidia-cuda-runtime-cu12==12.9.*' cffi ml_dtypes scipy

# A toolkit folder as numba expects it, with links into the wheels.
wheels=$(echo "$venv"/lib/python3.*/site-packages/nvidia)
home=$work/cuda
mkdir -p "$home/nvvm/lib64" "$home/nvvm/libdevice" "$home/lib64" "$home/include"
ln -sf "$wheels/cuda_nvcc/nvvm/lib64/libnvvm.so" "$home/nvvm/lib64/libnvvm.so.4"
ln -sf "$wheels"/cuda_nvcc/nvvm/libdevice/* "$home/nvvm/libdevice"
ln -sf "$wheels"/cuda_runtime/lib/* "$wheels"/cuda_nvrtc/lib/* "$home/lib64"
ln -sf "$home/lib64/libcudart.so.12" "$home/lib64/libcudart.so"
ln -sf "$wheels"/cuda_runtime/include/* "$home/include"

# Some tests allocate half of the device's memory, and write to all of it.
export NUMBA_CUDA_USE_NVIDIA_BINDING=1 CUDA_HOME=$home ANYWARP_MEMORY=${ANYWARP_MEMORY:-2G}
exec "$anywarp" run -- "$venv/bin/python3" -m numba.runtests -v "${@:-numba.cuda.tests}"
