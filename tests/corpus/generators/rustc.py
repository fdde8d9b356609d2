"""Compiles the kernels in rust/ with rustc's target nvptx64-nvidia-cuda, for several targets, PTX versions
and levels.

rustup ships no `core` for the target, so rust/language.rs replaces it. The features are unstable; the
pinned compiler is told to accept them."""
import itertools
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
KERNELS = sorted(p for p in (pathlib.Path(__file__).parent / "rust").glob("*.rs") if p.stem != "language")
TARGETS = [
    ("sm_75", "71"), ("sm_80", "74"), ("sm_86", "75"), ("sm_87", "76"), ("sm_89", "78"), ("sm_90", "80"), ("sm_90a", "83"), ("sm_100", "86"),
    ("sm_100a", "87"), ("sm_103", "88"), ("sm_110", "90"), ("sm_120", "87"), ("sm_121", "90"),
]
LEVELS = {
    "O0": ["-Copt-level=0"],
    "O3": ["-Copt-level=3"],
    "Oz": ["-Copt-level=z"],
    # LLVM puts a label for the address range table at the end of the text, which ptxas does not accept.
    "debug": ["-Copt-level=1", "-g", "-Coverflow-checks=yes", "-Cllvm-args=-generate-arange-section=false"],
}
FEATURES = [
    "no_core", "lang_items", "intrinsics", "rustc_attrs", "auto_traits", "link_llvm_intrinsics", "abi_ptx", "decl_macro", "adt_const_params",
    "unsized_const_params", "asm_experimental_arch", "f16",
]


def main():
    folder = pathlib.Path(sys.argv[1])
    targets = TARGETS[::6] if "--sample" in sys.argv else TARGETS
    environment = os.environ | {"RUSTC_BOOTSTRAP": "1"}
    for kernel, (arch, version), (level, options) in itertools.product(KERNELS, targets, LEVELS.items()):
        output = folder / f"{kernel.stem}.{arch}.ptx{version}.{level}.ptx"
        subprocess.run(
            ["rustc", "--edition=2024", "--crate-type=lib", "--target=nvptx64-nvidia-cuda", "-Awarnings", f"-Zcrate-attr=feature({','.join(FEATURES)})",
             "-Zcrate-attr=no_core", f"-Ctarget-cpu={arch}", f"-Ctarget-feature=+ptx{version}", "--emit=asm", *options, "-o", output, kernel.name],
            # rust-toolchain.toml selects the compiler by folder; the texts contain the kernels' file names as
            # given.
            cwd=kernel.parent, env=environment, check=True,
        )


if __name__ == "__main__":
    main()
