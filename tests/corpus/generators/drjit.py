"""The kernels that Dr.Jit traces, from programs run by `anywarp run` on devices of several capabilities."""
import pathlib
import sys

from _clients import keep


def main():
    keep(pathlib.Path(sys.argv[1]), "arrays.py", [], ["7.5", "8.6", "9.0", "12.1"], "DRJIT_CACHE_DIR")


if __name__ == "__main__":
    main()
