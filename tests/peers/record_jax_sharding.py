#!/usr/bin/env python3
"""Asks JAX for shardings over random meshes, in the schema of jax_sharding.json.

Most questions go to pretend devices of this machine (as many as XLA_FLAGS asks for). What a process
sees of a mesh that spans many is asked with made-up devices: JAX takes any object that has an id, a
process and a client.
"""
import argparse
import json
import math
import random
import types

import jax
import numpy as np
from jax._src import sharding_impls
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

NAMES = (("data", "fsdp", "tensor", "expert"), ("x", "y", "z", "w"), ("dp", "tp", "pp", "sp"),
         ("replica", "data", "model", "seq"))

# What JAX says, and our word for it; the first match counts.
ERRORS = (("cannot contain a nested tuple", "nested_tuple"),
          ("`unreduced` and `reduced` argument", "unreduced_overlaps_reduced"),
          ("cannot overlap with unreduced", "partition_overlaps_unreduced"),
          ("cannot overlap with reduced", "partition_overlaps_reduced"),
          ("Unreduced axes can only refer", "unreduced_needs_explicit_axis"),
          ("Reduced axes can only refer", "reduced_needs_explicit_axis"),
          ("has duplicate entries", "duplicate_mesh_axis"),
          ("is not found in mesh", "unknown_mesh_axis"),
          ("cannot contain `P.UNCONSTRAINED`", "unconstrained_needs_auto_axis"),
          ("is only valid for values of rank", "rank_too_small"))


def word_for(error):
    text = str(error)
    if type(error).__name__ == "IndivisibleError":
        return "indivisible"
    if isinstance(error, NotImplementedError):
        return "unreduced_has_no_index_map"
    for part, word in ERRORS:
        if part in text:
            return word
    return None


# ---- how values are written down ----

def read_entry(entry):
    if isinstance(entry, dict):
        return PartitionSpec.UNCONSTRAINED
    return tuple(read_entry(e) for e in entry) if isinstance(entry, list) else entry


def write_entry(entry):
    if entry is PartitionSpec.UNCONSTRAINED:
        return {"unconstrained": True}
    return list(entry) if isinstance(entry, tuple) else entry


def read_spec(entries, given):
    return PartitionSpec(*(read_entry(e) for e in entries), unreduced=set(given.get("unreduced", ())),
                         reduced=set(given.get("reduced", ())))


def write_spec(spec):
    return [write_entry(e) for e in spec.partitions]


def write_ranges(index, shape):
    return [[s.start or 0, size if s.stop is None else s.stop] for s, size in zip(index, shape)]


def write_shards(sharding, shape):
    indices = sharding.devices_indices_map(shape)
    replicas = sharding_impls.device_replica_id_map(sharding, shape)
    return [(d, [d.id, write_ranges(index, shape), replicas[d]]) for d, index in indices.items()]


# ---- meshes ----

def make_mesh(given, devices):
    ids = given.get("ids") or range(math.prod(given["sizes"]))
    array = np.empty(len(ids), dtype=object)
    array[:] = [devices[i] for i in ids]
    kinds = given.get("types")
    kinds = kinds and tuple(getattr(AxisType, kind) for kind in kinds)
    return Mesh(array.reshape(given["sizes"]), tuple(given["names"]), axis_types=kinds)


class Device:
    """A made-up device that can be a key."""

    def __init__(self, number, process, client):
        self.id, self.process_index, self.client = number, process, client
        self.platform = self.device_kind = "cpu"

    def __repr__(self):
        return f"device {self.id}"


# ---- questions ----

def ask_sharding(given, devices):
    mesh = make_mesh(given["mesh"], devices)
    spec = read_spec(given["spec"], given)
    shape = tuple(given["shape"])
    sharding = NamedSharding(mesh, spec)
    sharding.check_compatible_aval(shape)
    shard_shape = sharding.shard_shape(shape)
    return {"spec": write_spec(sharding.spec), "shard_shape": list(shard_shape),
            "is_fully_replicated": sharding.is_fully_replicated,
            "replicated_axes": sorted(sharding.replicated_axes),
            "devices": [row for _, row in write_shards(sharding, shape)],
            "hlo": str(sharding._to_xla_hlo_sharding(len(shape))),
            "sdy": str(sharding._to_sdy_sharding(len(shape)))}


def ask_partition_spec(given, devices):
    del devices
    spec = read_spec(given["entries"], given)
    answer = {"spec": write_spec(spec)}
    if "unreduced" in given:
        answer.update(unreduced=sorted(spec.unreduced), reduced=sorted(spec.reduced))
    return answer


def ask_equivalent(given, devices):
    a, b = (NamedSharding(make_mesh(given["mesh" + n], devices), read_spec(given["spec" + n], {}))
            for n in "12")
    return {"equivalent": a.is_equivalent_to(b, given["ndim"]), "equal": a == b}


def sharding_seen_by(process, given):
    mesh = given["mesh"]
    client = types.SimpleNamespace(process_index=lambda: process)
    devices = [Device(i, i // mesh["devices_per_process"], client)
               for i in range(math.prod(mesh["sizes"]))]
    return NamedSharding(make_mesh(mesh, devices), read_spec(given["spec"], {}))


def count_distinct(sharding, dim, rank):
    try:
        return sharding_impls.get_process_index_and_count(sharding, dim, rank)[1]
    except sharding_impls.NonUniformShardingError:
        return None


def ask_processes(given, devices):
    del devices
    shape, mesh = tuple(given["shape"]), given["mesh"]
    rank = len(shape)
    count = -(-math.prod(mesh["sizes"]) // mesh["devices_per_process"])
    answer = {"processes": {}}
    for process in range(count):
        sharding = sharding_seen_by(process, given)
        local = [sharding_impls.num_addressable_indices(sharding, d, shape) for d in range(rank)]
        shards = [row for device, row in write_shards(sharding, shape)
                  if device.process_index == process]
        answer["processes"][str(process)] = {"shards": sorted(shards),
                                             "num_addressable_indices": local}
        if process == 0:
            answer["global_shape_from_process0"] = list(
                sharding_impls.local_to_global_shape(sharding, tuple(local)))
            answer["distinct_process_shards"] = [count_distinct(sharding, d, rank)
                                                 for d in range(rank)]
    return answer


ASK = {"sharding": ask_sharding, "partition_spec": ask_partition_spec, "equivalent": ask_equivalent,
       "processes": ask_processes}


def ask(fn, given, devices):
    try:
        return {"output": ASK[fn](given, devices)}
    except Exception as error:  # every failure is an answer
        return {"error": {"type": type(error).__name__, "kind": word_for(error), "text": str(error)}}


# ---- random inputs ----

def random_mesh(rng, most, kinds=None):
    names = rng.choice(NAMES)
    sizes = []
    for _ in range(rng.randint(1, 4)):
        sizes.append(rng.choice([s for s in (1, 2, 2, 3, 4, 4, 5, 6, 8)
                                 if s * math.prod(sizes) <= most]))
    mesh = {"names": list(names[:len(sizes)]), "sizes": sizes}
    if rng.random() < 0.3:
        below = math.prod(sizes) if rng.random() < 0.5 else most
        mesh["ids"] = rng.sample(range(below), math.prod(sizes))
    if kinds or rng.random() < 0.3:
        kinds = kinds or rng.choice((("Auto",), ("Explicit",), ("Auto", "Explicit")))
        mesh["types"] = [rng.choice(kinds) for _ in sizes]
    return mesh


def random_entries(rng, names, rank, unconstrained=True):
    left = rng.sample(names, len(names))
    entries = []
    for _ in range(rank):
        used = [left.pop() for _ in range(min(len(left), rng.choice((0, 0, 1, 1, 1, 2, 3))))]
        open_entry = unconstrained and not used and rng.random() < 0.15
        if open_entry:
            entries.append({"unconstrained": True})
        elif len(used) == 1 and rng.random() < 0.8:
            entries.append(used[0])
        else:
            entries.append(used or None)
    while entries and entries[-1] is None and rng.random() < 0.7:
        entries.pop()
    return entries, left


def random_shape(rng, mesh, entries, rank, spoil=0.08):
    sizes = dict(zip(mesh["names"], mesh["sizes"]))
    shape = []
    for d in range(rank):
        entry = entries[d] if d < len(entries) else None
        axes = [entry] if isinstance(entry, str) else entry if isinstance(entry, list) else []
        size = math.prod(sizes.get(a, 1) for a in axes) * rng.choice((0, 1, 1, 2, 3, 5))
        shape.append(size + (rng.random() < spoil))
    return shape


def spoil_entries(rng, mesh, entries):
    """One of the mistakes that JAX has a word for."""
    axes = [e for e in entries if isinstance(e, str)]
    kind = rng.choice(("twice", "unknown"))
    if kind == "twice" and axes:
        return entries + [rng.choice(axes)]
    return entries + ["nowhere"]


def sharding_question(rng, most):
    mesh = random_mesh(rng, most)
    rank = rng.randint(0, 4)
    entries, left = random_entries(rng, mesh["names"], rank)
    given = {"mesh": mesh, "spec": entries}
    if rng.random() < 0.05:
        given["spec"] = entries = spoil_entries(rng, mesh, entries)
        rank = max(rank, len(entries))
    elif rng.random() < 0.2:
        for name in rng.choice((("unreduced",), ("reduced",), ("unreduced", "reduced"))):
            given[name] = rng.sample(left, min(len(left), 1)) or mesh["names"][:1]
    if rng.random() < 0.04 and entries:
        rank = len(entries) - 1
    return dict(given, shape=random_shape(rng, mesh, entries, rank))


def partition_spec_question(rng, most):
    del most
    names = list(rng.choice(NAMES))
    entries, left = random_entries(rng, names, rng.randint(0, 4))
    if rng.random() < 0.2 and entries:
        entries[rng.randrange(len(entries))] = rng.choice((
            [names[0], [names[1]]], [{"unconstrained": True}], [None], [], [names[2], None], ""))
    given = {"entries": entries}
    if rng.random() < 0.4:
        for name in ("unreduced", "reduced"):
            some = left if left and rng.random() < 0.8 else names
            given[name] = rng.sample(some, rng.randint(0, min(2, len(some))))
    return given


def equivalent_question(rng, most):
    mesh = random_mesh(rng, most, kinds=("Auto",))
    del mesh["types"]
    other = random_mesh(rng, most, kinds=("Auto",)) if rng.random() < 0.2 else dict(mesh)
    other.pop("types", None)
    if rng.random() < 0.2:
        order = rng.sample(range(len(other["names"])), len(other["names"]))
        other = {"names": [other["names"][i] for i in order],
                 "sizes": [other["sizes"][i] for i in order]}
    rank = rng.randint(1, 3)
    first, _ = random_entries(rng, mesh["names"], rank, unconstrained=False)
    second, _ = random_entries(rng, other["names"], rank, unconstrained=False)
    if rng.random() < 0.4 and set(other["names"]) == set(mesh["names"]):
        second = first + [None] * (rank - len(first))
    return {"mesh1": mesh, "spec1": first, "mesh2": other, "spec2": second, "ndim": rank}


def processes_question(rng, most):
    mesh = random_mesh(rng, most, kinds=("Auto",))
    del mesh["types"]
    count = math.prod(mesh["sizes"])
    if "ids" in mesh:
        mesh["ids"] = rng.sample(range(count), count)
    even = rng.random() < 0.7  # else the last process has fewer
    mesh["devices_per_process"] = rng.choice([n for n in range(1, count + 1)
                                              if not even or count % n == 0])
    rank = rng.randint(1, 3)
    entries, _ = random_entries(rng, mesh["names"], rank, unconstrained=False)
    return {"mesh": mesh, "spec": entries, "shape": random_shape(rng, mesh, entries, rank, spoil=0)}


QUESTIONS = {"sharding": sharding_question, "partition_spec": partition_spec_question,
             "equivalent": equivalent_question, "processes": processes_question}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    devices = {device.id: device for device in jax.devices("cpu")}
    cases = []
    for fn, question in QUESTIONS.items():
        for number in range(options.count):
            given = question(rng, len(devices))
            answer = ask(fn, given, devices)
            case = dict(id=f"{fn}/{number}", fn=fn, input=given, **answer)
            if "error" in answer and answer["error"]["kind"] is None:
                raise SystemExit(f"no word for the failure of {json.dumps(case)}")
            cases.append(case)
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump({"meta": {"oracle": f"jax {jax.__version__}", "seed": options.seed},
                   "cases": cases}, out)


if __name__ == "__main__":
    main()
