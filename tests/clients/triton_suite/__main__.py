"""Runs Triton kernels on the CUDA driver that the loader finds, or with --amd on HIP's library, without PyTorch:
python3 tests/clients/triton_suite [--amd] [CASE...]

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

    from cases import CASES, NVIDIA_ONLY
    from device import AMD, begin, begin_amd, scratch

    label = begin_amd() if AMD else f"sm_{begin()}"
    # On AMD's devices, those run that need no capability.
    capability = 80 if AMD else int(label.removeprefix("sm_"))
    triton.set_allocator(scratch)
    cases = {
        name: functools.partial(function, capability)
        for name, (least, most, function) in CASES.items() if least <= capability <= most and not (AMD and name in NVIDIA_ONLY)
    }
    return suite.run(cases, sys.argv[1:], label)


if __name__ == "__main__":
    if "--amd" in sys.argv:
        sys.argv.remove("--amd")
        os.environ["TRITON_SUITE_AMD"] = "1"
    with tempfile.TemporaryDirectory() as cache:
        os.environ.setdefault("TRITON_CACHE_DIR", cache)
        # Otherwise Triton warns that a later version will choose a different default.
        os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
        status = main()
    sys.exit(status)
