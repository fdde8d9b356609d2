"""Runs Triton kernels on the CUDA driver that the loader finds, without PyTorch: python3
tests/clients/triton_suite [CASE...]

Results are compared with models in numpy; see suite.py in the parent folder for the output."""
import functools
import os
import pathlib
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import suite  # noqa: E402


def main():
    import triton

    from cases import CASES
    from device import begin, scratch

    capability = begin()
    triton.set_allocator(scratch)
    cases = {
        name: functools.partial(function, capability)
        for name, (least, most, function) in CASES.items() if least <= capability <= most
    }
    return suite.run(cases, sys.argv[1:], f"sm_{capability}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        os.environ.setdefault("TRITON_CACHE_DIR", cache)
        # Otherwise Triton warns that a later version will choose a different default.
        os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
        status = main()
    sys.exit(status)
