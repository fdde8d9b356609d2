"""Triton on kernels of the usual kinds, for several capabilities and PTX versions. It needs no GPU, and of its steps the last, NVIDIA's assembler, is left out."""
import os
import pathlib
import sys
import tempfile

# Capabilities with the PTX version to ask for: the least that what Triton makes for them needs, or a later one. Its LLVM knows versions up to 9.0;
# later ones differ in the first line.
TARGETS = [(75, 78), (80, 80), (86, 81), (89, 84), (90, 86), (100, 86), (103, 88), (110, 90), (120, 87), (121, 95)]


def main():
    with tempfile.TemporaryDirectory() as cache:
        # Read when Triton is imported. The version is of the assembler that is not there.
        os.environ |= {"TRITON_CACHE_DIR": cache, "TRITON_MOCK_PTX_VERSION": "9.0", "TRITON_DEFAULT_FP_FUSION": "1"}
        make(pathlib.Path(sys.argv[1]), TARGETS[1:5:3] if "--sample" in sys.argv else TARGETS)


def make(folder, targets):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    sys.path.append(str(pathlib.Path(__file__).resolve().parent / "programs"))
    from triton_kernels import VARIANTS

    def stages(*arguments):
        """Triton asks this function for a key of the cache, then for changes of its steps."""
        if not arguments:
            return "ptx", "ptx"
        arguments[1]["cubin"] = lambda text, metadata: text.encode()

    triton.knobs.runtime.add_stages_inspection_hook = stages
    for capability, version in targets:
        for variant in VARIANTS:
            if not variant.least <= capability <= variant.most:
                continue
            source = ASTSource(variant.kernel, variant.signature, variant.constants, variant.attributes)
            options = {"ptx_version": version} | variant.options
            compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
            (folder / f"{variant.name}.sm_{capability}.ptx{version}.ptx").write_text(compiled.asm["ptx"])


if __name__ == "__main__":
    # This file has the package's name.
    sys.path.remove(str(pathlib.Path(__file__).resolve().parent))
    main()
