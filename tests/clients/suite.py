"""Shared by the suites in this folder: comparison of results with models, and the report for each case."""
import fnmatch
import os
import time
import traceback

import numpy as np


def difference(what, got, want, bound):
    """Returns a description of what is wrong with a result, or None."""
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
    return f"{what}: {int(wrong.sum())} of {wrong.size} wrong, first at {at}: {got[at]}, expected {want[at]} (within {allowed})"


def run(cases, patterns, label):
    """Runs the cases that match the patterns, or all without patterns. A case is a function that yields
    (what, got, want, bound).

    Prints a line for each case, with its duration in seconds, and errors below it; TRACE=1 adds
    tracebacks. Returns the exit status."""
    chosen = [name for name in cases if any(fnmatch.fnmatch(name, pattern) for pattern in patterns or ["*"])]
    failed = []
    for name in chosen:
        start = time.monotonic()
        try:
            problems = [p for p in (difference(*answer) for answer in cases[name]()) if p]
        except Exception as error:
            if os.environ.get("TRACE"):
                traceback.print_exc()
            problems = [f"{type(error).__name__}: {error}"]
        print(f"{label} {name}: {'wrong' if problems else 'right'} {time.monotonic() - start:.1f} s", flush=True)
        for problem in problems:
            print(f"    {problem[:600]}", flush=True)
        if problems:
            failed.append(name)
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed", flush=True)
    return 1 if failed or not chosen else 0
