"""Compares what crates/nvml knows of NVML with NVIDIA's header: functions and the kinds of their arguments
(data/functions.tsv), layouts (src/layout.rs) and codes (src/code.rs).

    python3 tests/header/nvml.py FOLDER     # the folder of nvml.h, such as nvidia-nvml-dev's include

The header must have the same functions: one that is missing here would not be exported.
"""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NVML = os.path.join(HERE, "..", "..", "crates", "nvml")
HANDLES = {
    "nvmlDevice_t": "device",
    "nvmlUnit_t": "unit",
    "nvmlGpuInstance_t": "gpu-instance",
    "nvmlComputeInstance_t": "compute-instance",
    "nvmlEventSet_t": "event-set",
    "nvmlGpmSample_t": "sample",
}
NUMBERS = {"int": "i32", "unsigned int": "u32", "unsigned long long": "u64"}
# Structures whose versions the header gives as plain numbers.
PLAIN_VERSIONS = {"nvmlGpmMetricsGet_t": "1", "nvmlGpmSupport_t": "1"}
# Structures that begin with a version which the library writes.
WRITTEN_VERSIONS = {"nvmlVgpuMetadata_t", "nvmlVgpuPgpuMetadata_t"}
# C types of the fields in layout.rs.
FIELDS = {"u32": "unsigned int", "u64": "unsigned long long", "i64": "long long"}


def read(*path):
    with open(os.path.join(*path)) as file:
        return file.read()


def structs(text):
    """The structures with the names of their own fields, without those inside inner braces."""
    for start in re.finditer(r"typedef\s+struct\s*\w*\s*\{", text):
        depth, end, flat = 1, start.end(), ""
        while depth > 0:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            flat += text[end] if depth == 1 else ""
            end += 1
        fields = re.findall(r"(\w+)\s*(?:\[[^\]]*\]\s*)*;", flat)
        for name in re.findall(r"\w+", text[end : text.index(";", end)]):
            yield name, fields


class Header:
    def __init__(self, folder):
        self.folder = folder
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", read(folder, "nvml.h"), flags=re.S)
        prototype = r"(?:nvmlReturn_t\s+DECLDIR\s+|const\s+DECLDIR\s+char\s*\*\s*)(nvml\w+)\s*\(([^)]*)\)\s*;"
        self.functions = {
            name: [" ".join(one.split()) for one in arguments.split(",") if one.strip() not in ("", "void")]
            for name, arguments in re.findall(prototype, text)
        }
        self.aliases = {new: old for old, new in re.findall(r"typedef\s+(nvml\w+_t)\s+(nvml\w+_t)\s*;", text)}
        self.structs = dict(structs(text))
        self.macros = {}
        macro = r"#define\s+(nvml\w+_v\d+)\s+\\?\s*NVML_STRUCT_VERSION\((\w+),\s*\d+\)"
        for macro, data in re.findall(macro, text):
            self.macros.setdefault("nvml" + data, []).append(macro)
        self.codes = re.findall(r"^\s*NVML_(SUCCESS|ERROR_\w+)\s*=", text, flags=re.M)

    def base(self, name):
        while name in self.aliases:
            name = self.aliases[name]
        return name

    def evaluate(self, expressions):
        """The values of C expressions."""
        lines = "\n".join(f'printf("%llu\\n", (unsigned long long)({e}));' for e in expressions)
        source = "#include <nvml.h>\n#include <stdio.h>\n#include <stddef.h>\n"
        source += f"int main(void) {{\n{lines}\n}}\n"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "values")
            with open(path + ".c", "w") as file:
                file.write(source)
            command = [os.environ.get("CC", "cc"), "-std=gnu11", "-w", "-I", self.folder]
            subprocess.run(command + ["-o", path, path + ".c"], check=True)
            out = subprocess.run([path], check=True, capture_output=True, text=True).stdout
        return dict(zip(expressions, out.split(), strict=True))

    def kind(self, argument, counted):
        """The kind of an argument as a format string and the C expressions in it. `counted`: the argument
        before points to a number of elements."""
        declared, array = re.fullmatch(r"(.*?)\w+\s*(\[[^\]]*\])?", argument).groups()
        pointers = declared.count("*") + (array is not None)
        const = "const" in declared.split()
        name = declared.replace("const", " ").replace("*", " ").strip()
        if pointers == 0:
            # What is neither a handle nor a plain number is an enumeration or a number with a name.
            kind = HANDLES.get(name) or NUMBERS.get(name, "u32")
            return kind, [] if name in NUMBERS else [f"sizeof({name})"]
        base = self.base(name)
        if pointers == 1 and self.structs.get(base, [None])[0] == "version" and base not in WRITTEN_VERSIONS:
            if base in PLAIN_VERSIONS:
                return "versioned=" + PLAIN_VERSIONS[base], []
            macros = self.macros.get(re.sub(r"(_v\d+)?_t$", "", base), [])
            return "versioned=" + "|".join(["{}"] * len(macros)), macros
        word = "in" if const else "list" if counted else "out"
        size = "1" if name == "void" and pointers == 1 else f"sizeof({name}{'*' * (pointers - 1)})"
        return word + "={}", [size]


def counts(argument):
    return re.search(r"^unsigned int \*\s*\w*(count|size|num)\w*$", argument, flags=re.I) is not None


def main():
    header = Header(sys.argv[1])
    wrong = []

    # Functions.
    lines = [line for line in read(NVML, "data", "functions.tsv").splitlines() if line and line[0] != "#"]
    ours = {}
    for line in lines:
        name, _, arguments = line.partition("\t")
        ours[name] = arguments
    wrong += [f"{name}: not in functions.tsv" for name in header.functions if name not in ours]
    wrong += [f"{name}: not in nvml.h" for name in ours if name not in header.functions]
    kinds = {}
    for name in sorted(ours.keys() & header.functions.keys()):
        arguments = header.functions[name]
        counted = [False] + [counts(argument) for argument in arguments]
        kinds[name] = [header.kind(*pair) + (pair[0],) for pair in zip(arguments, counted)]
    expressions = sorted({e for row in kinds.values() for _, all_of_it, _ in row for e in all_of_it})
    values = header.evaluate(expressions)
    for name, row in kinds.items():
        texts = []
        for kind, expressions, argument in row:
            if kind in ("u32", *HANDLES.values()):
                size = values.get(*expressions, "4") if expressions else "4"
                if size != ("4" if kind == "u32" else "8"):
                    wrong.append(f"{name}: {argument} has {size} bytes")
            else:
                kind = kind.format(*(values[e] for e in expressions))
            texts.append(kind + " " + re.search(r"(\w+)\s*(\[[^]]*\])?$", argument).group(1))
        theirs = ", ".join(texts)
        if ours[name] != theirs:
            wrong.append(f"{name}: functions.tsv has `{ours[name]}`, nvml.h `{theirs}`")

    # Layouts: a field's name is another in Rust, so fields are compared in their order.
    source = read(NVML, "src", "layout.rs")
    layouts = re.findall(r'pub struct \w+ = "(\w+)" \{(.*?)\n    \}', source, flags=re.S)
    for name, body in layouts:
        fields = re.findall(r"pub (\w+): ([^,]+),", body)
        theirs = header.structs[header.base(name)]
        if len(fields) != len(theirs):
            wrong.append(f"{name}: {len(fields)} fields, nvml.h has {len(theirs)}")
            continue
        declared = ""
        for field, kind in fields:
            size = re.fullmatch(r"\[u8; (\d+)\]", kind)
            declared += f"char {field}[{size.group(1)}]; " if size else f"{FIELDS[kind]} {field}; "
        mirror = f"struct {{ {declared}}}"
        pairs = [(f"sizeof({mirror})", f"sizeof({name})")]
        pairs += [
            (text.format(mirror, own), text.format(name, other))
            for (own, _), other in zip(fields, theirs)
            for text in ("offsetof({}, {})", "sizeof((({} *)0)->{})")
        ]
        values = header.evaluate([e for pair in pairs for e in pair])
        wrong += [f"{b}: {values[b]}, layout.rs {values[a]}" for a, b in pairs if values[a] != values[b]]

    # Codes.
    codes = dict(re.findall(r'\((\d+), "(\w+)", "', read(NVML, "src", "code.rs")))
    values = header.evaluate(["NVML_" + name for name in header.codes])
    theirs = {value: name.removeprefix("NVML_") for name, value in values.items()}
    for number in sorted(codes.keys() | theirs.keys(), key=int):
        if codes.get(number) != theirs.get(number):
            wrong.append(f"code {number}: code.rs has {codes.get(number)}, nvml.h {theirs.get(number)}")

    for sentence in wrong:
        print(sentence)
    print(f"{len(kinds)} functions, {len(layouts)} structures and {len(codes)} codes compared")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
