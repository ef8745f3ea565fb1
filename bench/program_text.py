"""The rival of bench/program_text.c: jaxlib's parser and verifier on a text of the same size."""

from jaxlib.mlir import ir

import jaxlib_rounds
import large_program

if __name__ == "__main__":
    program = large_program.text()
    jaxlib_rounds.serve(lambda: ir.Module.parse(program))
