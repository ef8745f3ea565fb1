#!/usr/bin/env python3
"""Asks JAX to put arrays on pretend devices and to move them, in the schema of jax_sharding.json.

Each case is a tensor 0, 1, 2, ... of some type, put on a mesh by `device_put` and then put again, by
another spec, often on another mesh of other devices. Written down: for every device its ranges, its
replica id and a hash of the bytes that it holds, after each of the two.
"""
import argparse
import json
import math
import random
import zlib

import jax
import ml_dtypes
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

MOST_DEVICES = 16
TYPES = {"bool": np.bool_, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32,
         "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "c64": np.complex64}


# ---- asking ----

def make_mesh(given, devices):
    ids = given.get("ids") or range(math.prod(given["sizes"]))
    array = np.empty(len(ids), dtype=object)
    array[:] = [devices[i] for i in ids]
    return Mesh(array.reshape(given["sizes"]), tuple(given["names"]))


def make_sharding(mesh, entries, devices):
    entries = [tuple(e) if isinstance(e, list) else e for e in entries]
    return NamedSharding(make_mesh(mesh, devices), PartitionSpec(*entries))


def write_array(array):
    rows = []
    for shard in array.addressable_shards:
        ranges = [[s.start or 0, size if s.stop is None else s.stop]
                  for s, size in zip(shard.index, array.shape)]
        held = np.ascontiguousarray(np.asarray(shard.data))
        rows.append([shard.device.id, ranges, shard.replica_id, zlib.crc32(held.tobytes())])
    return sorted(rows)


def ask(given, devices):
    shape = tuple(given["shape"])
    tensor = np.arange(math.prod(shape)).reshape(shape).astype(TYPES[given["dtype"]])
    array = jax.device_put(tensor, make_sharding(given["mesh"], given["spec"], devices))
    moved = jax.device_put(array, make_sharding(given["mesh2"], given["spec2"], devices))
    back = np.asarray(jax.device_get(moved))
    return {"put": write_array(array), "moved": write_array(moved),
            "whole": zlib.crc32(np.ascontiguousarray(back).tobytes())}


# ---- random questions ----

def random_mesh(rng):
    sizes = []
    for _ in range(rng.randint(1, 4)):
        sizes.append(rng.choice([s for s in (1, 2, 2, 3, 4, 4, 5, 8)
                                 if s * math.prod(sizes) <= MOST_DEVICES]))
    mesh = {"names": list("xyzw"[:len(sizes)]), "sizes": sizes}
    if rng.random() < 0.5:
        mesh["ids"] = rng.sample(range(MOST_DEVICES), math.prod(sizes))
    return mesh


def random_spec(rng, mesh, rank):
    left = rng.sample(mesh["names"], len(mesh["names"]))
    entries = []
    for _ in range(rank):
        used = [left.pop() for _ in range(min(len(left), rng.choice((0, 1, 1, 2))))]
        entries.append(used[0] if len(used) == 1 else used or None)
    return entries


def ways(mesh, entry):
    sizes = dict(zip(mesh["names"], mesh["sizes"]))
    axes = [entry] if isinstance(entry, str) else entry or []
    return math.prod(sizes[a] for a in axes)


def question(rng):
    mesh, mesh2 = random_mesh(rng), random_mesh(rng)
    if rng.random() < 0.5:
        mesh2 = mesh
    rank = rng.randint(0, 3)
    spec, spec2 = random_spec(rng, mesh, rank), random_spec(rng, mesh2, rank)
    shape = [math.lcm(ways(mesh, a), ways(mesh2, b)) * rng.choice((0, 1, 1, 2, 3))
             for a, b in zip(spec, spec2)]
    while math.prod(shape) > 1 << 16:
        return question(rng)
    return {"mesh": mesh, "spec": spec, "mesh2": mesh2, "spec2": spec2, "shape": shape,
            "dtype": rng.choice(sorted(TYPES))}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    devices = {device.id: device for device in jax.devices("cpu")}
    cases, faults = [], 0
    for number in range(options.count):
        given = question(rng)
        try:
            answer = ask(given, devices)
        except ValueError as error:
            # Of empty tensors JAX's second device_put gives shards of the wrong shape.
            if math.prod(given["shape"]) > 0 or "could not broadcast" not in str(error):
                raise
            faults += 1
            continue
        cases.append({"id": f"device_put/{number}", "fn": "device_put", "input": given,
                      "output": answer})
    print(f"known differences of jax: {faults} empty arrays that it cannot gather after moving them")
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump({"meta": {"oracle": f"jax {jax.__version__}", "seed": options.seed},
                   "cases": cases}, out)


if __name__ == "__main__":
    main()
