"""The rival of bench/program_devices.c: XLA partitions the same program for 8 host devices and runs it."""

import json
import os
import pathlib
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxlib import xla_client

import xla_programs

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"


class Program:
    """The program and its arguments, cut as case.json says. A donated argument is what the result in its memory was."""

    def __init__(self, folder):
        case = json.loads((folder / "case.json").read_text())
        text = (folder / "program.mlir").read_text()
        axes = case["mesh"]["axes"]
        devices = np.array(jax.devices("cpu")).reshape([axis["size"] for axis in axes])
        self.mesh = Mesh(devices, [axis["name"] for axis in axes])
        self.compiled = compile_text(text, devices.size)
        arrays = xla_programs.generate(case["inputs"])
        self.inputs = [jax.device_put(array, self.sharding(entry)) for array, entry in zip(arrays, case["inputs"])]
        self.outputs = case["outputs"]
        self.aliases = xla_programs.single_device(text)[1]
        self.results = None

    def sharding(self, entry):
        return NamedSharding(self.mesh, PartitionSpec(*(tuple(axes) or None for axes in entry["spec"])))

    def take_results(self):
        """Before the clock starts: results become the arguments that they replaced, others are dropped."""
        if self.results is None:
            return
        for argument, result in self.aliases.items():
            entry = self.outputs[result]
            self.inputs[argument] = jax.make_array_from_single_device_arrays(
                tuple(entry["shape"]), self.sharding(entry), self.results[result])
        self.results = None

    def run(self):
        self.results = self.compiled.execute_sharded(self.inputs).disassemble_into_single_device_arrays()
        jax.block_until_ready(self.results)

    def check(self):
        """Sums of the results, so that both sides run the same program."""
        self.run()
        for entry, shards in zip(self.outputs, self.results):
            array = jax.make_array_from_single_device_arrays(tuple(entry["shape"]), self.sharding(entry), shards)
            total = np.asarray(array).astype(np.float64).sum()
            if abs(total - entry["sum"]) > 1e-3 * entry["abs_sum"]:
                raise SystemExit("%s sums to %r, wanted %r" % (entry["name"], total, entry["sum"]))
        self.take_results()


def compile_text(text, count):
    options = xla_client.CompileOptions()
    options.num_partitions = count
    build = options.executable_build_options
    build.num_partitions = count
    build.use_spmd_partitioning = build.use_shardy_partitioner = True
    build.device_assignment = xla_client.DeviceAssignment.create(np.arange(count).reshape(1, count))
    devices = jax.devices("cpu")
    return devices[0].client.compile_and_load(text.encode(), xla_client.DeviceList(tuple(devices)), options)


def main():
    program = Program(PROGRAMS / (sys.argv[1] if len(sys.argv) > 1 else "psum_chain_tiny"))
    program.check()
    counted = program.mesh.size * xla_programs.peak_bytes(program.compiled)
    xla_programs.serve(program.run, " 0 0 %d" % counted, program.take_results)


if __name__ == "__main__":
    main()
