"""The rival of reshard_orbax.c: orbax restores the same arrays in the other sharding and saves them."""
import os
import pathlib
import shutil
import sys
import tempfile
import time

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import numpy
import orbax.checkpoint
from jax.sharding import Mesh, NamedSharding, PartitionSpec

TENSORS, ROWS, COLUMNS, BEFORE, AFTER = 100, 640, 4096, 4, 8


def sharding(devices, *spec):
    return NamedSharding(Mesh(numpy.array(jax.devices()[:devices]), ("x",)), PartitionSpec(*spec))


def write_model(checkpointer, folder):
    values = numpy.arange(ROWS * COLUMNS, dtype=numpy.float32).reshape(ROWS, COLUMNS)
    rows = sharding(BEFORE, "x", None)
    checkpointer.save(folder, {f"t{i:03}": jax.device_put(values + i, rows) for i in range(TENSORS)})
    checkpointer.wait_until_finished()


def reshard(checkpointer, source, target):
    columns = sharding(AFTER, None, "x")
    wanted = {f"t{i:03}": jax.ShapeDtypeStruct((ROWS, COLUMNS), numpy.float32, sharding=columns)
              for i in range(TENSORS)}
    checkpointer.save(target, checkpointer.restore(source, wanted))
    checkpointer.wait_until_finished()


def serve_rounds(folder):
    source, target = folder / "in", folder / "out"
    checkpointer = orbax.checkpoint.StandardCheckpointer()
    write_model(checkpointer, source)
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        shutil.rmtree(target, ignore_errors=True)
        reshard(checkpointer, source, target)
        print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="tessera-bench-") as temporary:
        serve_rounds(pathlib.Path(temporary))
