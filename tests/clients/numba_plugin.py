"""What numba-cuda's own tests want of pytest and its wheel leaves out."""

import pytest


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request):
    # An option of its repository's configuration: whether to print what a failed check of generated code looked at.
    request.cls._dump_failed_filechecks = False
