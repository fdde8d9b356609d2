"""Compiles the kernels of triton.py with Triton for AMD's targets, without a GPU. Writes code objects."""
import os
import pathlib
import sys
import tempfile

TARGETS = [("gfx90a", 64), ("gfx942", 64), ("gfx1030", 32), ("gfx1100", 32), ("gfx1201", 32)]


def main():
    with tempfile.TemporaryDirectory() as cache:
        # Read when Triton is imported.
        os.environ |= {"TRITON_CACHE_DIR": cache, "TRITON_DEFAULT_FP_FUSION": "1"}
        make(pathlib.Path(sys.argv[1]), TARGETS[1:4:2] if "--sample" in sys.argv else TARGETS)


def make(folder, targets):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    sys.path.append(str(pathlib.Path(__file__).resolve().parent / "programs"))
    from triton_kernels import VARIANTS

    left_out = []
    for target, lanes in targets:
        for variant in VARIANTS:
            source = ASTSource(variant.kernel, variant.signature, variant.constants, variant.attributes)
            options = {name: value for name, value in variant.options.items() if name in ("num_warps", "num_stages")}
            try:
                compiled = triton.compile(source, target=GPUTarget("hip", target, lanes), options=options)
            except Exception as error:  # What Triton cannot compile for a target is not the corpus's matter.
                left_out.append(f"{variant.name} for {target}: {str(error).strip().splitlines()[:1]}")
                continue
            (folder / f"{variant.name}.{target}.hsaco").write_bytes(compiled.asm["hsaco"])
    print(f"left out: {len(left_out)}", *left_out, sep="\n  ")


if __name__ == "__main__":
    # A file beside this one has the same name as the package.
    sys.path.remove(str(pathlib.Path(__file__).resolve().parent))
    main()
