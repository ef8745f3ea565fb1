"""The rival of bench/program_ops.c: jaxlib parses, verifies and prints the same text."""

import pathlib
import subprocess

from jaxlib.mlir import ir

import jaxlib_rounds

PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "build" / "bench" / "program_ops"


def main():
    text = subprocess.run([PROGRAM, "text"], check=True, stdout=subprocess.PIPE).stdout
    jaxlib_rounds.serve(lambda: str(ir.Module.parse(text)))


if __name__ == "__main__":
    main()
