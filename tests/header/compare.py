"""Compares include/cuda.h with another header of the same interface: values, sizes, offsets, names and
prototypes.

    python3 tests/header/compare.py FOLDER     # the folder of the other cuda.h, such as nvidia-cuda-runtime's include

Everything that our header declares must be in the other one with the same meaning. Our header must have every
name that the other one declares, if both are of the same version.
"""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = os.path.join(HERE, "..", "..", "include")
# Declared in another file of that package.
ELSEWHERE = {"cuProfilerStart", "cuProfilerStop"}
# Not in the headers of every version from 13.0 on; compared where they are declared.
SOME = {
    "CU_JIT_BINARY_LOADER_THREAD_COUNT",
    "CUdevSmResourceSplit_flags",
    "CUdevSmResourceGroup_flags",
    "CU_DEV_SM_RESOURCE_GROUP_DEFAULT",
    "CU_DEV_SM_RESOURCE_GROUP_BACKFILL",
    "CU_DEV_SM_RESOURCE_GROUP_PARAMS",
    "CUcoredumpCallbackHandle",
    "cuCoredumpDeregisterCompleteCallback",
    "cuCoredumpDeregisterStartCallback",
    "cuCoredumpRegisterCompleteCallback",
    "cuCoredumpRegisterStartCallback",
    "cuDevSmResourceSplit",
    "cuFuncGetParamCount",
    "cuGraphExecGetId",
    "cuGraphGetId",
    "cuGraphNodeGetContainingGraph",
    "cuGraphNodeGetLocalId",
    "cuGraphNodeGetParams",
    "cuGraphNodeGetToolsId",
    "cuKernelGetParamCount",
    "cuLaunchHostFunc_v2",
    "cuMemcpy3DWithAttributesAsync",
    "cuMemcpyWithAttributesAsync",
    "cuMulticastBindAddr_v2",
    "cuMulticastBindMem_v2",
    "CUstreamCigCaptureParams",
    "CUstreamCigDataType",
    "CUstreamCigParam",
    "cuStreamBeginCaptureToCig",
    "cuStreamEndCaptureToCig",
    "cuStreamGetDevResource",
}
# Macros of the other header that programs do not use: they make its names of functions for each thread's own
# stream.
NOT_OURS = {"__CUDA_API_PER_THREAD_DEFAULT_STREAM", "__CUDA_API_PTDS", "__CUDA_API_PTSZ"}
MODES = {"legacy": [], "per-thread": ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"]}


def compile_c(text, include, flags, output):
    source = output + ".c"
    with open(source, "w") as file:
        file.write(text)
    command = [os.environ.get("CC", "cc"), "-std=gnu11", "-w", "-I", include, *flags, source]
    subprocess.run(command + (["-o", output]), check=True)


def fields(body):
    """The names of a struct's own fields: those before a semicolon outside inner braces."""
    depth, flat = 0, ""
    for character in body:
        depth -= character == "}"
        if depth == 0:
            flat += character
        depth += character == "{"
    names = (re.search(r"(\w+)(\[[^\]]*\])?\s*$", part) for part in flat.split(";"))
    return [name.group(1) for name in names if name]


def declared(include, flags):
    """The names that the preprocessed header has itself, and the macros that it leaves defined."""
    path = os.path.join(include, "cuda.h")
    command = [os.environ.get("CC", "cc"), "-E", "-xc", "-I", include, *flags]
    run = lambda *more: subprocess.check_output(command + [*more, path], text=True)
    names, own = set(), False
    for line in run().splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            own = os.path.basename(marker.group(1)) == "cuda.h"
        elif own:
            names.update(re.findall(r"\b(?:CU|cu)\w+", line))
    written = set(re.findall(r"^\s*#\s*define\s+(\w+)", open(path).read(), flags=re.M))
    return names, written & set(re.findall(r"^#define (\w+)", run("-dM"), flags=re.M))


def main():
    other = sys.argv[1]
    header = open(os.path.join(OURS, "cuda.h")).read()
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    text = open(os.path.join(other, "cuda.h")).read()
    others = set(re.findall(r"\w+", text))
    version = lambda text: re.search(r"#define CUDA_VERSION (\d+)", text).group(1)
    same_version = version(text) == version(header)
    known = lambda name: name not in SOME or name in others
    enumerators = [name for name in re.findall(r"^    (C[UI]\w+)(?: =|,|$)", code, flags=re.M) if known(name)]
    constants = re.findall(r"^#define (CU\w+) [^\n]+$", code, flags=re.M)
    constants = [name for name in constants if name not in {"CUDAAPI", "CUDA_CB"} and known(name)]
    types = sorted(set(re.findall(r"^typedef [^;{]*?\b(\w+);", code, flags=re.M)) | set(re.findall(r"^} (\w+);", code, flags=re.M)))
    types = [name for name in types if known(name)]
    structs = re.findall(r"^typedef (?:struct|union) \w+ \{\n(.*?)^\} (\w+);", code, flags=re.M | re.S)
    mapped = [name for name in re.findall(r"^#define (cu\w+) ", code, flags=re.M) if known(name)]
    prototypes = [p for p in re.findall(r"^CUresult CUDAAPI \w+\([^;]*\);", code, flags=re.M)]

    lines = [f'printf("{n} %lld\\n", (long long)({n}));' for n in enumerators + constants]
    lines += [f'printf("sizeof {n} %zu, aligned %zu\\n", sizeof({n}), _Alignof({n}));' for n in types]
    for body, name in (struct for struct in structs if known(struct[1])):
        lines += [f'printf("{name}.{f} %zu\\n", offsetof({name}, {f}));' for f in fields(body) if f != "opaque"]
    lines += [f'printf("{n} %s\\n", NAME({n}));' for n in mapped]
    program = "#include <cuda.h>\n#include <stdio.h>\n#include <stddef.h>\n#define NAME(x) TEXT(x)\n#define TEXT(x) #x\n"
    program += "int main(void) {\n" + "\n".join(lines) + "\n}\n"
    name_of = lambda prototype: re.match(r"CUresult CUDAAPI (\w+)", prototype).group(1)
    prototyped = [p for p in prototypes if name_of(p) not in ELSEWHERE and known(name_of(p))]
    # Declaring a function again with another type is an error, but a function that does not exist gives only
    # a warning with -W, so take the address of each before declaring it again.
    names = [name_of(p) for p in prototyped]
    again = "#include <cuda.h>\nvoid *table[] = {\n" + ",\n".join(f"(void *){n}" for n in names) + "};\n" + "\n".join(prototyped)

    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for mode, flags in MODES.items():
            compile_c(again, other, flags + ["-c"], os.path.join(folder, "again.o"))
            answers = []
            for which, include in (("ours", OURS), ("other", other)):
                path = os.path.join(folder, which)
                compile_c(program, include, flags, path)
                answers.append(subprocess.run([path], check=True, capture_output=True, text=True).stdout.splitlines())
            for here, there in zip(*answers, strict=True):
                if here != there:
                    wrong += 1
                    print(f"{mode}: ours has {here}, the other header {there}")
            if same_version:
                (names, macros), (theirs, their_macros) = declared(OURS, flags), declared(other, flags)
                missing = (theirs - names) | (their_macros - macros)
                for name in sorted(missing - NOT_OURS):
                    wrong += 1
                    print(f"{mode}: ours lacks {name}")
                print(f"{mode}: {len(theirs | their_macros)} names of the other header looked up")
            print(f"{mode}: {len(prototyped)} prototypes, {len(answers[0])} values, sizes, offsets and names compared")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
