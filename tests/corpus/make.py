#!/usr/bin/env python3
"""Makes PTX with the compilers that programs bring along: python3 make.py DIR [GENERATOR ...] [--sample]

Each generator is a file of `generators/`: a program that writes PTX files into the folder that it is given, for fewer targets where `--sample` follows.
It runs in the Python of this script, which needs the packages of requirements.txt; nothing needs a GPU. A generator whose compiler is missing
says so and fails."""
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
        print(f"{name}: {len(list(folder.glob('*.ptx')))} texts", flush=True)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
