"""The kernels and the runtime of quadrants, from programs run by `anywarp run` on devices of several
capabilities."""
import pathlib
import sys

from _clients import keep


def main():
    folder = pathlib.Path(sys.argv[1])
    keep(folder, "fields.py", ["quadrants"], ["8.6", "12.1"])
    if "--sample" not in sys.argv:
        keep(folder, "fields.py", ["quadrants", "checks"], ["9.0"])


if __name__ == "__main__":
    main()
