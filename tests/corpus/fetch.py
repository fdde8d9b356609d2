#!/usr/bin/env python3
"""Fetches the PTX that the packages in wheels.tsv ship: python3 fetch.py DIR [--sample] [--anywarp COMMAND]

Each wheel is downloaded, its libraries are unpacked, and `anywarp extract` writes their PTX to
DIR/PACKAGE-VERSION/*.ptx. Folders that already exist are not fetched again."""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent


def packages(sample):
    lines = [line for line in (HERE / "wheels.tsv").read_text().splitlines() if line and not line.startswith("#")]
    for line in lines[1:]:
        package, version, kind, _ = line.split("\t")
        if kind == "sample" or not sample:
            yield package, version


def libraries(wheel, into):
    """Unpacks the shared libraries of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = [n for n in archive.namelist() if n.endswith(".so") or ".so." in n.rsplit("/", 1)[-1]]
        return [archive.extract(name, into) for name in names]


def fetch(package, version, folder, anywarp):
    done = folder / f"{package}-{version}"
    if done.is_dir():
        print(f"{done.name}: there already")
        return
    with tempfile.TemporaryDirectory(dir=folder) as work:
        work = pathlib.Path(work)
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:",
             "--platform", "manylinux_2_28_x86_64", "--platform", "manylinux_2_27_x86_64", "--platform", "manylinux2014_x86_64",
             "--python-version", "3.11", "-d", work / "wheel", f"{package}=={version}"],
            check=True,
        )
        (wheel,) = (work / "wheel").glob("*.whl")
        files = libraries(wheel, work / "files")
        wheel.unlink()
        subprocess.run([anywarp, "extract", "-o", work / "ptx", *files], check=True, stdout=subprocess.DEVNULL)
        (work / "ptx").rename(done)
    size = sum(f.stat().st_size for f in done.iterdir())
    print(f"{done.name}: {len(list(done.iterdir()))} texts, {size / 1e6:.1f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sample", action="store_true", help="only the packages of the sample")
    parser.add_argument("--anywarp", default="anywarp", help="the command")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for package, version in packages(arguments.sample):
        fetch(package, version, arguments.folder, arguments.anywarp)


if __name__ == "__main__":
    main()
