"""Programs as XLA runs them on one CPU device, for the rivals of programs."""

import json
import math
import pathlib
import struct
import sys
import time

import jax
import ml_dtypes
import numpy as np
from jax._src.interpreters import mlir
from jaxlib import xla_client
from jaxlib.mlir import ir

jax.config.update("jax_enable_x64", True)


def walk(operation):
    for region in operation.regions:
        for block in region.blocks:
            for op in list(block.operations):
                yield from walk(op.operation)
                yield op.operation


def plain(attributes):
    """The attributes of arguments or results, without their shardings."""
    rows = [{item.name: item.attr for item in row if item.name != "sdy.sharding"} for row in attributes]
    return ir.ArrayAttr.get([ir.DictAttr.get(row) for row in rows])


def single_device(text):
    """The module for one device, without partitions, meshes and shardings; and for each donated argument of
    @main the result that takes its memory."""
    aliases = {}
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        for op in walk(module.operation):
            if op.name in ("sdy.sharding_constraint", "sdy.reshard"):
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()
            elif op.name == "sdy.mesh":
                op.erase()
            elif op.name == "func.func":
                for name in ("arg_attrs", "res_attrs"):
                    if name in op.attributes:
                        op.attributes[name] = plain(op.attributes[name])
                if op.attributes["sym_name"].value == "main" and "arg_attrs" in op.attributes:
                    aliases = {i: row["tf.aliasing_output"].value for i, row in enumerate(op.attributes["arg_attrs"])
                               if "tf.aliasing_output" in row}
            elif "sdy.sharding" in op.attributes:
                del op.attributes["sdy.sharding"]
        one = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 1)
        if "mhlo.num_partitions" in module.operation.attributes:
            module.operation.attributes["mhlo.num_partitions"] = one
        return str(module), aliases


def runs_alone(text):
    """Whether it is one program for one device: manual computations are for as many as their mesh has."""
    return "manual_computation" not in text


def compile_text(text):
    device = jax.devices("cpu")[0]
    return device.client.compile_and_load(text.encode(), xla_client.DeviceList((device,)), xla_client.CompileOptions())


def put(array):
    return jax.device_put(array, jax.devices("cpu")[0])


def peak_bytes(compiled):
    """What XLA counts: arguments, results and temporary memory, shared memory once."""
    stats = compiled.get_compiled_memory_stats()
    return (stats.argument_size_in_bytes + stats.output_size_in_bytes - stats.alias_size_in_bytes +
            stats.temp_size_in_bytes)


def generate(inputs):
    """Arguments by the formula of case.json."""
    arrays = []
    for number, entry in enumerate(inputs):
        count = int(np.prod(entry["shape"], dtype=np.int64))
        h = (((np.arange(count, dtype=np.uint64) + 1000003 * number) * 2654435761) & 0xFFFFFFFF) >> 8
        if entry["dtype"].startswith("float"):
            values = ((h / 2.0**24 - 0.5) * entry["scale"] + entry["offset"]).astype(np.float32)
        else:
            values = h % entry["high"]
        arrays.append(values.astype(entry["dtype"]).reshape(entry["shape"]))
    return arrays


NUMPY = {"BOOL": np.bool_, "BF16": ml_dtypes.bfloat16, "F8_E4M3": ml_dtypes.float8_e4m3fn,
         "F8_E5M2": ml_dtypes.float8_e5m2, "C64": np.complex64}


def load(path):
    """The tensors of a safetensors file, also of types that safetensors' own reader refuses."""
    raw = path.read_bytes()
    begin = 8 + struct.unpack("<Q", raw[:8])[0]
    arrays = {}
    for name, entry in json.loads(raw[8:begin]).items():
        kind = entry["dtype"]
        dtype = NUMPY.get(kind) or np.dtype({"F": "f", "I": "i", "U": "u"}[kind[0]] + str(int(kind[1:]) // 8))
        first, last = entry["data_offsets"]
        arrays[name] = np.frombuffer(raw[begin + first:begin + last], dtype).reshape(entry["shape"])
    return arrays


def serve(work, costs="", prepare=None):
    """Answers every line of input with the wall and CPU seconds of work(), after prepare(), which is not counted."""
    for _ in sys.stdin:
        if prepare:
            prepare()
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        print(f"{time.perf_counter() - wall:.9f} {time.process_time() - cpu:.9f}{costs}", flush=True)


def recorded():
    """The recorded programs that one device runs: folder and text for one device."""
    root = pathlib.Path(__file__).resolve().parent.parent / "tests" / "programs"
    for path in sorted(root.glob("*/program.mlir")):
        text = path.read_text()
        if runs_alone(text):
            yield path.parent, single_device(text)[0]


def serve_mean(jobs):
    """Answers every line of input with geometric means of the seconds of each job; a job is what it does
    before the clock starts (may be None), and what is timed."""
    for _ in sys.stdin:
        logs = []
        for prepare, job in jobs:
            if prepare:
                prepare()
            wall, cpu = time.perf_counter(), time.process_time()
            job()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            logs.append((math.log(wall), math.log(max(cpu, 1e-7))))
        print(*("%.9f" % math.exp(sum(column) / len(logs)) for column in zip(*logs)), flush=True)
