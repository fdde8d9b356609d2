#!/usr/bin/env python3
"""Generates PTX with the compilers of various projects: python3 make.py DIR [GENERATOR ...] [--sample]

Each file in `generators/` is a program that writes PTX files to the given folder, for fewer targets with
`--sample`. It runs in this script's Python, which needs the packages in requirements.txt; nothing needs a
GPU. A generator whose compiler is missing reports it and fails."""
import argparse
import pathlib
import subprocess
import sys

GENERATORS = pathlib.Path(__file__).resolve().parent / "generators"


def main():
    names = sorted(p.stem for p in GENERATORS.glob("*.py") if not p.stem.startswith("_"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("generator", nargs="*", help=f"of {', '.join(names)}; all")
    parser.add_argument("--sample", action="store_true", help="for fewer targets")
    arguments = parser.parse_args()
    failed = []
    for name in arguments.generator or names:
        folder = (arguments.folder / name).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, GENERATORS / f"{name}.py", folder, *["--sample"] * arguments.sample]
        if subprocess.run(command).returncode != 0:
            failed.append(name)
        texts, objects = (len(list(folder.glob(f"*.{kind}"))) for kind in ("ptx", "hsaco"))
        print(f"{name}: {texts} texts, {objects} code objects", flush=True)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
