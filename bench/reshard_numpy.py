"""The rival of reshard_numpy.c: the same reshard by numpy and the safetensors library."""
import os
import pathlib
import shutil
import sys
import tempfile
import time

import numpy
from safetensors import safe_open
from safetensors.numpy import save_file

TENSORS, ROWS, COLUMNS, BEFORE, AFTER = 100, 640, 4096, 4, 8
NAME = "model-rank-{}-part-0.safetensors"


def values(tensor, first, count):
    """The elements that sharded_model.h writes: no compression makes them shorter, as with weights."""
    words = (numpy.uint64(tensor << 40) + numpy.arange(first, first + count, dtype=numpy.uint64))
    words *= numpy.uint64(0x9E3779B97F4A7C15)
    return (words >> numpy.uint64(32)).astype(numpy.uint32) & numpy.uint32(0xBFFFFFFF)


def write_model(folder):
    count = ROWS // BEFORE * COLUMNS
    for rank in range(BEFORE):
        save_file({f"t.{i:03}": values(i, rank * count, count).view(numpy.float32).reshape(-1, COLUMNS)
                   for i in range(TENSORS)}, folder / NAME.format(rank))


def reshard(source, target):
    parts = [{} for _ in range(AFTER)]
    files = [safe_open(source / NAME.format(rank), "numpy") for rank in range(BEFORE)]
    for name in files[0].keys():
        whole = numpy.concatenate([file.get_tensor(name) for file in files])
        for part, columns in zip(parts, numpy.split(whole, AFTER, axis=1)):
            part[name] = numpy.ascontiguousarray(columns)
    for rank, part in enumerate(parts):
        save_file(part, target / NAME.format(rank))


def serve_rounds(folder):
    source, target = folder / "in", folder / "out"
    source.mkdir()
    write_model(source)
    for _ in sys.stdin:
        shutil.rmtree(target, ignore_errors=True)
        os.sync()
        wall, cpu = time.perf_counter(), time.process_time()
        target.mkdir()
        reshard(source, target)
        print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="tessera-bench-") as temporary:
        serve_rounds(pathlib.Path(temporary))
