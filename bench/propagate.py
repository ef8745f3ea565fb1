"""The rival of bench/propagate.c: Shardy's pipeline on a copy of the same program."""

import pathlib

from jaxlib.mlir import ir, passmanager

import jaxlib_rounds

PROGRAM = pathlib.Path("build/bench/transformer_100.mlir")
PIPELINE = "builtin.module(sdy-propagation-pipeline)"


def work(text=PROGRAM.read_text()):
    module = ir.Module.parse(text)

    def propagate():
        copy = module.operation.clone()
        passmanager.PassManager.parse(PIPELINE).run(copy.operation)
    return propagate


if __name__ == "__main__":
    jaxlib_rounds.serve_prepared(work)
