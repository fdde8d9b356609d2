"""Compiles the benchmark kernels and the C++ beside this file with clang's NVPTX back end, for several
targets, PTX versions and levels."""
import itertools
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOURCES = sorted((ROOT / "bench" / "kernels").glob("*.cu")) + sorted(pathlib.Path(__file__).parent.glob("*.cu"))
TARGETS = [("sm_60", "71"), ("sm_75", "74"), ("sm_80", "76"), ("sm_90", "80"), ("sm_90a", "85")]
LEVELS = ["-O0", "-O1", "-O3"]


def main():
    folder = pathlib.Path(sys.argv[1])
    targets = TARGETS[::2] if "--sample" in sys.argv else TARGETS
    for source, (arch, version), level in itertools.product(SOURCES, targets, LEVELS):
        output = folder / f"{source.stem}.{arch}.ptx{version}.{level[1:]}.ptx"
        subprocess.run(
            ["clang++-19", "-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-device-only", f"--cuda-gpu-arch={arch}", "-Xclang",
             "-target-feature", "-Xclang", f"+ptx{version}", level, "-std=c++20", "-Wno-unknown-cuda-version", "-S", "-o", output, source],
            check=True,
        )


if __name__ == "__main__":
    main()
