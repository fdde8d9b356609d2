"""Runs tinygrad programs on the CUDA driver that the loader finds: python3 tests/clients/tinygrad_suite
RENDERER [CASE...]

RENDERER is PTX, tinygrad's own, or CUDA, which compiles C++ with NVRTC. Results are compared with models
in numpy; see suite.py in the parent folder for the output."""
import ctypes
import os
import pathlib
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import suite  # noqa: E402

RENDERERS = ["PTX", "CUDA"]


def find_nvrtc():
    """Makes tinygrad find NVRTC and its headers among this Python's packages."""
    import nvidia

    (root,) = [p for base in nvidia.__path__ for p in pathlib.Path(base).glob("cu1*") if list(p.glob("lib/libnvrtc.so.*"))]
    os.environ.setdefault("NVRTC_PATH", str(next(root.glob("lib/libnvrtc.so.*"))))
    os.environ.setdefault("CUDA_PATH", str(root))
    # NVRTC opens this library by name, and then finds it already loaded.
    for path in root.glob("lib/libnvrtc-builtins.so.*"):
        ctypes.CDLL(str(path))


def answers(function):
    """Wraps a case to convert its tensors to numpy arrays."""
    from tinygrad import Tensor

    def case():
        for what, got, want, bound in function():
            yield what, got.numpy() if isinstance(got, Tensor) else got, want, bound
    return case


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in RENDERERS:
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(RENDERERS)} [CASE...]")
    renderer, patterns = sys.argv[1], sys.argv[2:]
    if renderer == "CUDA":
        find_nvrtc()
    # Kernels cached by an earlier run would not be compiled again.
    os.environ |= {"DEV": f"CUDA:{renderer}", "CACHELEVEL": "0", "CCACHE": "0", "PARALLEL": "0"}

    from cases import CASES
    from tinygrad import Device

    label = f"{renderer} {Device['CUDA'].renderer.target.arch}"
    return suite.run({name: answers(function) for name, function in CASES.items()}, patterns, label)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        os.environ.setdefault("CACHEDB", f"{cache}/cache.db")
        status = main()
    sys.exit(status)
