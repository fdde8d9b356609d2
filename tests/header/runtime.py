"""Compares include/cuda_runtime_api.h and the types that it includes with another header of the CUDA runtime 13:
values, sizes, offsets and prototypes.

    python3 tests/header/runtime.py FOLDER     # the folder of the other cuda_runtime_api.h

Everything that our header declares must be in the other one with the same meaning. What came with 13.1 and 13.2
is compared if the other header is of 13.2 or later.
"""

import os
import re
import subprocess
import sys
import tempfile

from compare import OURS, compile_c, fields

FILES = ["driver_types.h", "texture_types.h", "surface_types.h", "cuda_runtime_api.h"]
# What clang's code calls, which no header declares, and what another header of that package declares.
ELSEWHERE = {"__cudaPushCallConfiguration", "__cudaPopCallConfiguration", "cudaProfilerStart", "cudaProfilerStop"}
# What grew after 13.0.
GROWN = {"cudaGraphNodeTypeCount", "struct cudaConditionalNodeParams", "struct cudaKernelNodeParamsV2"}
# A name of earlier releases, and constants that are pointers.
NOT_COMPARED = {"cudaDevAttrCooperativeMultiDeviceLaunch", "cudaStreamLegacy", "cudaStreamPerThread"}


def main():
    other = sys.argv[1]
    version = re.search(r"#define CUDART_VERSION\s+(\d+)", open(os.path.join(other, "cuda_runtime_api.h")).read())
    later = int(version.group(1)) >= 13020
    files = FILES + ["cuda_runtime_since_13_1.h"] * later
    text = "".join(open(os.path.join(OURS, name)).read() for name in files)
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    code = code.replace("typedef enum ", "enum ").replace("typedef struct ", "struct ")
    enumerators = []
    for body in re.findall(r"^enum \w+ \{\n(.*?)^\}", code, flags=re.M | re.S):
        enumerators += re.findall(r"^    (cuda\w+)", body, flags=re.M)
    enumerators += re.findall(r"^#define (cuda\w+) [0-9(]", code, flags=re.M)
    passed = NOT_COMPARED | (GROWN if later else set())
    enumerators = [name for name in enumerators if name not in passed]
    structs = re.findall(r"^struct (\w+) \{\n(.*?)^\}(?: (\w+))?", code, flags=re.M | re.S)
    prototypes = re.findall(r"^(?:cudaError_t|const char \*|unsigned int|struct \w+) ?\w+\([^;]*\);", code, flags=re.M)
    prototypes = [re.sub(r"\s*ANYWARP_DEFAULT\([^)]*\)", "", p) for p in prototypes]
    name = lambda p: re.search(r"(\w+)\(", p).group(1)
    declared = [p for p in prototypes if name(p) not in ELSEWHERE]

    lines = [f'printf("{n} %lld\\n", (long long)({n}));' for n in enumerators]
    for tag, body, alias in structs:
        of = alias or f"struct {tag}"
        if of not in passed:
            lines.append(f'printf("sizeof {of} %zu, aligned %zu\\n", sizeof({of}), _Alignof({of}));')
        names = [f for f in fields(body) if "reserved" not in f and f not in ("pad", "bytes")]
        lines += [f'printf("{of}.{f} %zu\\n", offsetof({of}, {f}));' for f in names]
    program = "#include <cuda_runtime_api.h>\n#include <stdio.h>\n#include <stddef.h>\n"
    program += "int main(void) {\n" + "\n".join(lines) + "\n}\n"
    again = "#include <cuda_runtime_api.h>\nvoid *table[] = {\n" + ",\n".join(f"(void *){name(p)}" for p in declared)
    again += "};\n" + "\n".join(declared)

    with tempfile.TemporaryDirectory() as folder:
        compile_c(again, other, ["-c"], os.path.join(folder, "again.o"))
        answers = []
        for which, include in (("ours", OURS), ("other", other)):
            path = os.path.join(folder, which)
            compile_c(program, include, [], path)
            answers.append(subprocess.run([path], check=True, capture_output=True, text=True).stdout.splitlines())
    wrong = [pair for pair in zip(*answers, strict=True) if pair[0] != pair[1]]
    for ours, theirs in wrong:
        print(f"ours has {ours}, the other header {theirs}")
    print(f"{len(declared)} prototypes, {len(answers[0])} values, sizes and offsets compared")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
