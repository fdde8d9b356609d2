"""Runs Triton's kernels on the CUDA driver that the loader finds, without PyTorch: python3 tests/clients/triton_suite [CASE...]

Each case is held against a model in numpy. One line a case, with the seconds that it took, and below it what was wrong; TRACE=1 tells where."""
import fnmatch
import os
import sys
import tempfile
import time
import traceback

import numpy as np


def difference(what, got, want, bound):
    """What is wrong with an answer, or nothing."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return f"{what}: shape {got.shape}, not {want.shape}"
    exact = got.dtype.kind in "iu" and want.dtype.kind in "iu"
    g, w = (got.astype(object), want.astype(object)) if exact else (got.astype(np.float64), want.astype(np.float64))
    wrong = np.asarray(~(np.abs(g - w) <= bound), bool) if not (np.isscalar(bound) and bound == 0) else np.asarray(g != w, bool)
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    allowed = np.broadcast_to(np.asarray(bound), want.shape)[at]
    return f"{what}: {int(wrong.sum())} of {wrong.size} wrong, first at {at}: {got[at]}, not {want[at]} (within {allowed})"


def main():
    import triton

    from cases import CASES
    from device import begin, scratch

    capability = begin()
    triton.set_allocator(scratch)
    wanted = sys.argv[1:] or ["*"]
    chosen = [name for name in CASES if any(fnmatch.fnmatch(name, pattern) for pattern in wanted)]
    failed = []
    count = 0
    for name in chosen:
        least, most, function = CASES[name]
        if not least <= capability <= most:
            continue
        start = time.monotonic()
        count += 1
        try:
            problems = [p for p in (difference(*answer) for answer in function(capability)) if p]
        except Exception as error:
            if os.environ.get("TRACE"):
                traceback.print_exc()
            problems = [f"{type(error).__name__}: {error}"]
        print(f"sm_{capability} {name}: {'wrong' if problems else 'right'} {time.monotonic() - start:.1f} s", flush=True)
        for problem in problems:
            print(f"    {problem[:600]}", flush=True)
        if problems:
            failed.append(name)
    print(f"{count - len(failed)} passed, {len(failed)} failed", flush=True)
    return 1 if failed or not count else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        os.environ.setdefault("TRITON_CACHE_DIR", cache)
        # Otherwise it tells that a later version will choose otherwise.
        os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
        status = main()
    sys.exit(status)
