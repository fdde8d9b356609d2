"""A pytest plugin for numba-cuda's own tests: it supplies what their wheel lacks and skips the tests in
numba_suite.txt."""

from pathlib import Path

import pytest


def _left_out():
    for line in Path(__file__).with_name("numba_suite.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, reason = line.split(maxsplit=1)
            module, _, test = name.partition("::")
            yield f"numba/cuda/tests/{module.replace('.', '/')}.py", test, reason


LEFT_OUT = list(_left_out())


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request):
    # An option of the repository's configuration: whether a failed check of generated code prints the code.
    request.cls._dump_failed_filechecks = False


def pytest_ignore_collect(collection_path):
    if any(not test and str(collection_path).endswith(module) for module, test, _ in LEFT_OUT):
        return True
    return None


def pytest_collection_modifyitems(config, items):
    out = [i for i in items if any(t == i.originalname and str(i.path).endswith(m) for m, t, _ in LEFT_OUT if t)]
    config.hook.pytest_deselected(items=out)
    items[:] = [i for i in items if i not in out]
