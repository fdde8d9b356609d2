"""Compiles typical kernels with Triton for several capabilities and PTX versions, without a GPU and
without the last step, NVIDIA's assembler."""
import os
import pathlib
import sys
import tempfile

# Capabilities with the PTX version to request: the minimum for Triton's code, or a later one. Triton's LLVM
# knows versions up to 9.0; later ones differ only in the first line.
TARGETS = [(75, 78), (80, 80), (86, 81), (89, 84), (90, 86), (100, 86), (103, 88), (110, 90), (120, 87), (121, 95)]


def main():
    with tempfile.TemporaryDirectory() as cache:
        # Read when Triton is imported. The version replaces that of the missing assembler.
        os.environ |= {"TRITON_CACHE_DIR": cache, "TRITON_MOCK_PTX_VERSION": "9.0", "TRITON_DEFAULT_FP_FUSION": "1"}
        make(pathlib.Path(sys.argv[1]), TARGETS[1:5:3] if "--sample" in sys.argv else TARGETS)


def make(folder, targets):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    sys.path.append(str(pathlib.Path(__file__).resolve().parent / "programs"))
    from triton_kernels import VARIANTS

    def stages(*arguments):
        """Triton calls this function first for a cache key, and then to modify its compilation steps."""
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
    # This file has the same name as the package.
    sys.path.remove(str(pathlib.Path(__file__).resolve().parent))
    main()
