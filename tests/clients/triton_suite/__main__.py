"""Runs Triton's kernels on the CUDA driver that the loader finds, without PyTorch: python3 tests/clients/triton_suite [CASE...]

Each case is held against a model in numpy; suite.py beside this folder tells what is printed."""
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
        # Otherwise it tells that a later version will choose otherwise.
        os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
        status = main()
    sys.exit(status)
