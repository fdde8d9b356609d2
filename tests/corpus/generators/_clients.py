"""Runs programs through `anywarp run`, which keeps the PTX that they load.

ANYWARP names the command; default: the release build's."""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def anywarp():
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[2] / "target"))
    command = pathlib.Path(os.environ.get("ANYWARP", target / "release" / "anywarp"))
    if not command.is_file():
        sys.exit(f"{command} does not exist: build it with cargo build --release, or set ANYWARP")
    return command


def keep(folder, program, arguments, capabilities, cache=None):
    """Runs a program in programs/ on devices of each capability. Texts are named by the first kernel, a
    digest and the capability; identical texts are kept once. `cache` is the variable with the folder of
    the package's own cache, which would hide texts."""
    kept = set()
    for capability in capabilities[:1] if "--sample" in sys.argv else capabilities:
        with tempfile.TemporaryDirectory() as texts, tempfile.TemporaryDirectory() as empty:
            own = {"ANYWARP_KEEP_PTX": texts, "ANYWARP_COMPUTE_CAPABILITY": capability, "PYTHONDONTWRITEBYTECODE": "1"}
            if cache:
                own[cache] = empty
            command = [anywarp(), "run", "--", sys.executable, HERE / "programs" / program, *arguments]
            subprocess.run(command, env=os.environ | own, check=True)
            for text in sorted(pathlib.Path(texts).glob("*.ptx")):
                if text.name not in kept:
                    kept.add(text.name)
                    (folder / f"{text.stem}.sm_{capability.replace('.', '')}.ptx").write_bytes(text.read_bytes())
