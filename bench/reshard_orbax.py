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


def values(tensor, first, count):
    """The elements that sharded_model.h writes: no compression makes them shorter, as with weights."""
    words = (numpy.uint64(tensor << 40) + numpy.arange(first, first + count, dtype=numpy.uint64))
    words *= numpy.uint64(0x9E3779B97F4A7C15)
    return (words >> numpy.uint64(32)).astype(numpy.uint32) & numpy.uint32(0xBFFFFFFF)


def write_model(checkpointer, folder):
    rows = sharding(BEFORE, "x", None)
    tensors = (values(i, 0, ROWS * COLUMNS).view(numpy.float32).reshape(ROWS, COLUMNS)
               for i in range(TENSORS))
    checkpointer.save(folder, {f"t{i:03}": jax.device_put(t, rows) for i, t in enumerate(tensors)})
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
        shutil.rmtree(target, ignore_errors=True)
        os.sync()
        wall, cpu = time.perf_counter(), time.process_time()
        reshard(checkpointer, source, target)
        print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="tessera-bench-") as temporary:
        serve_rounds(pathlib.Path(temporary))
