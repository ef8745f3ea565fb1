"""The rival of bench/program_run.c: XLA on one CPU device runs the same program on the same inputs."""

import json
import pathlib
import sys

import jax

import xla_programs

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"


class Program:
    def __init__(self, folder):
        text = (folder / "program.mlir").read_text()
        if not xla_programs.runs_alone(text):
            text = without_manual(folder.name)
        text, self.aliases = xla_programs.single_device(text)
        self.compiled = xla_programs.compile_text(text)
        arrays = xla_programs.generate(json.loads((folder / "case.json").read_text())["inputs"])
        self.inputs = [xla_programs.put(array) for array in arrays]

    def run(self):
        results = self.compiled.execute(self.inputs)
        jax.block_until_ready(results)
        for argument, result in self.aliases.items():
            self.inputs[argument] = results[result]


def without_manual(name):
    """What the manual computation of a case does on one device."""
    if name != "psum_64mb":
        raise SystemExit("%s: there is no form of it for one device" % name)
    return jax.jit(lambda x: x.sum(0)).lower(jax.ShapeDtypeStruct((8, 1 << 24), "float32")).as_text()


def main():
    program = Program(PROGRAMS / (sys.argv[1] if len(sys.argv) > 1 else "layer_scan_train"))
    xla_programs.serve(program.run, " 0 0 %d" % xla_programs.peak_bytes(program.compiled))


if __name__ == "__main__":
    main()
