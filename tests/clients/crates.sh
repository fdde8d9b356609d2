#!/usr/bin/env bash
# Runs the own tests of two Rust crates: cust, and cudarc without NVIDIA's closed libraries. Run it by hand:
# it takes some ten processor minutes.
#     crates.sh [cust] [cudarc]  default: both
#     ANYWARP_NVIDIA             folder of NVIDIA's wheels (include/cuda.h, lib/libnvrtc.so.13), for example
#                                .venv/lib/python3.11/site-packages/nvidia/cu13
#     ANYWARP                    the command; default: the release build's
set -euo pipefail
cust=0.3.2
cudarc=0.19.10
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-$PWD/target}
anywarp=$(realpath "${ANYWARP:-$target/release/anywarp}")
nvidia=$(realpath "${ANYWARP_NVIDIA:?the folder of the NVIDIA wheels}")
work=$target/clients/crates
mkdir -p "$work"
test $# -gt 0 || set -- cust cudarc

# The sources come through cargo, as dependencies of an empty package.
mkdir -p "$work/fetch/src"
printf 'fn main() {}\n' > "$work/fetch/src/main.rs"
cat > "$work/fetch/Cargo.toml" <<END
[package]
name = "fetch"
version = "0.1.0"
edition = "2021"
[workspace]
[dependencies]
cust = { version = "=$cust", default-features = false }
cudarc = { version = "=$cudarc", default-features = false }
END
cargo vendor -q --manifest-path "$work/fetch/Cargo.toml" "$work/vendor" > "$work/fetch/config"
for name in cust cudarc; do
    rm -rf "${work:?}/$name"
    cp -r "$work/vendor/$name" "$work/$name"
    rm -f "$work/$name/.cargo-checksum.json"
    printf '\n[workspace]\n' >> "$work/$name/Cargo.toml"
done

# cust links the driver, and looks for it in a toolkit.
mkdir -p "$work/cuda/lib64" "$work/lib"
ln -sfn "$nvidia/include" "$work/cuda/include"
ln -sf "$(dirname "$anywarp")/lib-anywarp/libcuda.so.1" "$work/cuda/lib64/libcuda.so"
# cudarc loads NVRTC by its plain name.
ln -sf "$nvidia"/lib/libnvrtc* "$work/lib"
ln -sf "$nvidia/lib/libnvrtc.so.13" "$work/lib/libnvrtc.so"
export CUDA_PATH=$work/cuda CUDA_LIBRARY_PATH=$work/cuda CARGO_TARGET_DIR=$work/target LD_LIBRARY_PATH=$work/lib

status=0
for name in "$@"; do
    options=()
    parts=(--lib --doc)
    if test "$name" = cudarc; then
        options=(--no-default-features
            --features std,driver,nvrtc,f16,fallback-dynamic-loading,cuda-13000)
        parts=(--lib)
    fi
    for part in "${parts[@]}"; do
        printf '%s\n' "-- $name $part"
        log=$work/$name$part.log
        (cd "$work/$name" && "$anywarp" run -- cargo test -q "$part" "${options[@]}") > "$log" 2>&1 || status=1
        grep -E '^test result|^    [a-z].*::|^    .*\.rs - ' "$log" | sort -u || true
    done
done
exit $status
