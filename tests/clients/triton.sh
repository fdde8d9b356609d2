#!/usr/bin/env bash
# Runs Triton's own tests, with PyTorch's tensors on the host (triton_tests/host_tensors.py). Run it by hand:
# test_core.py has more than 9,000 tests, some ten a second.
#     triton.sh CHECKOUT ARGUMENT...   CHECKOUT: Triton's repository, of the version below; the arguments are
#                                      pytest's, relative to its folder `python`, for example
#                                      test/unit/language/test_core.py -k test_dot
#     triton.sh CHECKOUT FILE.py       a tutorial, for example tutorials/01-vector-add.py
#     ANYWARP_VENV_TORCH               folder of the Python packages; default: target/clients/triton/venv
#     ANYWARP                          the command; default: the release build's
#     ANYWARP_COMPUTE_CAPABILITY       default: 9.0
set -euo pipefail
torch=2.15.0
triton=3.8.0
test -d "${1:?the checkout of Triton $triton}/python/test" || {
    echo "$1 has no folder python/test" >&2
    exit 2
}
checkout=$(realpath "$1")
shift
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-$PWD/target}
anywarp=$(realpath "${ANYWARP:-$target/release/anywarp}")
work=$target/clients/triton
venv=${ANYWARP_VENV_TORCH:-$work/venv}
mkdir -p "$work/stubs"
test -x "$venv/bin/pip" || python3 -m venv "$venv"
pip=("$venv/bin/pip" -q --disable-pip-version-check)
"$venv/bin/pip" show -q torch triton 2> "$work/missing" || {
    # Without what PyTorch depends on: NVIDIA's closed libraries, which nothing here calls.
    "${pip[@]}" install --no-deps "torch==$torch" "triton==$triton"
    "${pip[@]}" install filelock fsspec jinja2 networkx numpy pytest pytest-timeout scipy sympy \
        tabulate typing_extensions
}

# PyTorch is linked with those libraries. Empty ones stand for them, and one library has their functions, none
# of which is ever called.
libraries=$(dirname "$anywarp")/lib-anywarp
lib=$(echo "$venv"/lib/python3*/site-packages/torch/lib)
if ! test -e "$work/stubs/functions.so"; then
    names='cu[A-Z]|cublas|cudnn|cufft|cupti|curand|cusolver|cusparse|nccl|nvrtc|nvshmem|nvtx'
    files=("$lib"/*.so* "$libraries/libcuda.so.1" "$libraries/libcudart.so.13")
    symbols() { for file in "${files[@]}"; do nm -D "$1" "$file"; done | sed 's/@.*//; s/.* //' | sort -u; }
    needed() { for file in "$lib"/*.so*; do readelf -d "$file"; done | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p'; }
    empty() { cc -shared -x c -o "$work/stubs/$1" "-Wl,-soname,$1" /dev/null; }
    for name in $(needed | sort -u); do
        case $name in libcuda.* | libcudart.*) ;; libcu* | libnv* | libnccl*) empty "$name" ;; esac
    done
    comm -23 <(symbols --undefined-only | grep -E "^($names)") <(symbols --defined-only) |
        sed 's/.*/void &(void) { __builtin_trap(); }/' | cc -shared -fPIC -x c -o "$work/stubs/functions.so" -
fi
cc -O2 -shared -fPIC -o "$work/memory.so" tests/clients/triton_tests/memory.c -ldl

export LD_LIBRARY_PATH=$work/stubs LD_PRELOAD=$work/stubs/functions.so:$work/memory.so
export PYTHONPATH=$PWD/tests/clients/triton_tests TRITON_CACHE_DIR=$work/cache
export ANYWARP_COMPUTE_CAPABILITY=${ANYWARP_COMPUTE_CAPABILITY:-9.0}
cd "$checkout/python"
case $1 in
    tutorials/06-*) set -- -m pytest -q -p host_tensors "$@" ;;
    tutorials/*) set -- -m host_tensors "$@" ;;
    *)
        set -- -m pytest -q -p host_tensors -p no:cacheprovider -W ignore --timeout 300 --tb=short -rfE "$@"
        ;;
esac
exec "$anywarp" run -- "$venv/bin/python3" "$@"
