#!/usr/bin/env python3
"""Compares the structures in crates/hip/data/layouts.tsv with a HIP header.

    hip_layouts.py INCLUDE VERSION           compares; VERSION is the table's column `header`
    hip_layouts.py INCLUDE VERSION --print   prints the rows that this header gives for the table's fields

INCLUDE holds hip/hip_runtime_api.h; CC names the C compiler. The library's own structures are compared
with the table by crates/hip/tests/layouts.rs.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

TABLE = Path(__file__).parents[2] / "crates/hip/data/layouts.tsv"


def rows(version):
    lines = [line for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    return [line.split("\t") for line in lines if line.split("\t")[0] == version]


def ask(include, wanted):
    """The offset and the size of each field in the header in a folder."""
    lines = [
        f'printf("%zu %zu\\n", offsetof({structure}, {field}), sizeof((({structure} *)0)->{field}));'
        for _, structure, field, *_ in wanted
    ]
    deprecated = '#if __has_include(<hip/hip_deprecated.h>)\n#include <hip/hip_deprecated.h>\n#endif\n'
    program = (
        "#include <stddef.h>\n#include <stdio.h>\n#include <hip/hip_runtime_api.h>\n"
        + deprecated
        + "int main(void) {\n"
        + "\n".join(lines)
        + "\nreturn 0; }\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "layouts.c"), Path(folder, "layouts")
        source.write_text(program)
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-w", "-D__HIP_PLATFORM_AMD__", "-I", include, "-o", binary, source], check=True)
        text = subprocess.run([binary], check=True, capture_output=True, text=True).stdout
    return [line.split() for line in text.splitlines()]


def main():
    include, version = sys.argv[1:3]
    wanted = rows(version)
    if not wanted:
        sys.exit(f"{TABLE} has no rows of header {version}")
    got = ask(include, wanted)
    different = 0
    for row, answer in zip(wanted, got, strict=True):
        if "--print" in sys.argv:
            print(*row[:3], *answer, sep="\t")
        elif row[3:] != answer:
            different += 1
            print(f"{row[1]}.{row[2]}: the header has offset {answer[0]} and size {answer[1]}, the table {row[3]} and {row[4]}")
    if different:
        sys.exit(1)
    if "--print" not in sys.argv:
        print(f"{len(wanted)} fields of HIP {version} are where the table has them")


main()
