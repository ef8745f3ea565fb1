#!/usr/bin/env python3
"""Asks t5x's partitioning about made-up machines, in the schema of t5x.json.

t5x is on no package index; fjformer 0.0.50 holds a copy of the module, of which only that file is
loaded. It runs on the JAX and flax of the recording, in an environment of its own (see
requirements-t5x.txt). With --replay FILE the questions of a recorded file are put again and the answers
compared with the recorded ones: that shows that our pretend devices are like those of the recording.

Left out, and counted as known differences: answers that only the older JAX gives (fixed orders of
device kinds came later), and those of docs/compatibility.md.
"""
import argparse
import collections
import contextlib
import importlib.util
import itertools
import json
import math
import os
import random
import sys
import traceback
from unittest import mock

import jax
import numpy as np
from jax._src import xla_bridge
from jax.sharding import Mesh


def load_t5x():
    package = importlib.util.find_spec("fjformer").submodule_search_locations[0]
    path = os.path.join(package, "partition_utils", "t5x_partitioning.py")
    spec = importlib.util.spec_from_file_location("t5x_partitioning", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


t5x = load_t5x()
t5x.logging.set_verbosity(t5x.logging.FATAL)

# What an error says, where it was raised if that matters, and our word for it; the first that fits.
KINDS = (("to tile the mesh by hosts", None, "submesh_host_tile_mismatch"),
         ("each dimension of the model parallel submesh", None, "submesh_not_a_factor"),
         ("values to unpack", "get_mesh", "submesh_rank_mismatch"),
         ("cannot reshape array", "get_mesh", "submesh_rank_mismatch"),
         ("axes don't match array", "get_mesh", "submesh_rank_mismatch"),
         ("can only specify one unknown dimension", "get_mesh", "submesh_not_a_factor"),
         ("can only specify one unknown dimension", "get_gpu_mesh", "gpu_partitions_mismatch"),
         ("number of partitions on GPU", None, "gpu_partitions_mismatch"),
         ("Number of slices", None, "granule_count_mismatch"),
         ("Number of devices", None, "device_count_mismatch"),
         ("Failed to find assignment", None, "no_axis_assignment"),
         ("one device per chip", None, "needs_one_device_per_chip"),
         ("No default mesh", None, "no_default_mesh"),
         ("At least one of `num_partitions`", None, "no_partition_count"),
         ("Explicit host_index", None, "host_index_unsupported"),
         ("must be divisible by corresponding data mesh", None, "batch_not_divisible_by_data_mesh"),
         ("must form a contiguous subcube", None, "local_devices_not_a_subcube"),
         ("is not supported", "standard_logical_axis_rules", "unsupported_dims"),
         ("Failed to map logical axes", None, "param_axes_failed"),
         ("occur more than once", None, "duplicate_logical_name"),
         ("TODO(jekbradbury)", None, "tuple_axis_unsupported"))

# The kinds for which JAX learnt a fixed order, or a core axis, after the version that we ask.
LATER_KINDS = ("TPU v4 lite", "TPU v5 lite", "TPU v5p")


class NoWord(Exception):
    """An outcome that the schema cannot tell."""


def kind_of(error):
    frames = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    for words, function, kind in KINDS:
        if words in str(error) and (function is None or function in frames):
            return kind
    if isinstance(error, ZeroDivisionError):
        return "division_by_zero"
    if isinstance(error, KeyError):
        return "unknown_mesh_axis"
    if isinstance(error, AssertionError) and frames[-1] == "get_mesh":
        # The one without a word compares the host with the machine, the other shows two core counts.
        return "zmajor_needs_all_cores" if str(error) else "submesh_host_tile_mismatch"
    if isinstance(error, AssertionError) and frames[-1] == "create_hybrid_device_mesh":
        return "missing_granule_attribute"
    if isinstance(error, AssertionError) and frames[-1] == "__new__":  # of Mesh
        return "mesh_rank_mismatch"
    raise NoWord(f"{type(error).__name__} in {frames[-1]}: {error}") from error


def error_of(error):
    return {"error": {"type": type(error).__name__, "kind": kind_of(error)}}


# ---- machines ----

class Device:
    """What t5x and JAX read of a device; an attribute that is None does not exist."""

    def __init__(self, platform, kind, row):
        number, process, slice_index, x, y, z, core = row
        self.id, self.process_index = number, process
        self.platform, self.device_kind = platform, kind
        if slice_index is not None:
            self.slice_index = slice_index
        if x is not None:
            self.coords, self.core_on_chip = (x, y, z), core


def devices_of(fleet):
    return [Device(fleet["platform"], fleet["kind"], row) for row in fleet["devices"]]


def processes_of(devices):
    return sorted({device.process_index for device in devices})


@contextlib.contextmanager
def runtime(devices, process=0, **counts):
    """Makes JAX believe that it runs as `process` of a machine with these devices."""
    def local(index):
        return [device for device in devices if device.process_index == index]

    functions = {
        "devices": lambda backend=None: list(devices),
        "local_devices": lambda process_index=None, backend=None, host_id=None: local(
            process if process_index is None else process_index),
        "process_count": lambda backend=None: counts.get("process_count",
                                                         len(processes_of(devices))),
        "process_index": lambda backend=None: process,
        "local_device_count": lambda backend=None: counts.get("local_device_count",
                                                              len(local(process)))}
    with contextlib.ExitStack() as stack:
        for module, (name, function) in itertools.product((jax, xla_bridge), functions.items()):
            stack.enter_context(mock.patch.object(module, name, function))
        yield


# ---- values, in Python and in JSON ----

def to_tuple(value):
    return tuple(to_tuple(item) for item in value) if isinstance(value, list) else value


def entry_to_json(entry):
    """A spec's entry in its canonical form, which JAX gave it only later."""
    if not isinstance(entry, tuple):
        return entry
    return list(entry) if len(entry) > 1 else entry[0] if entry else None


def spec_to_json(spec):
    return None if spec is None else [entry_to_json(entry) for entry in spec]


def rules_to_json(rules):
    return [[name, list(entry) if isinstance(entry, tuple) else entry] for name, entry in rules]


def mesh_to_json(mesh):
    if any(device is None for device in mesh.devices.flat):
        raise NoWord("a mesh with holes")
    return {"axis_names": list(mesh.axis_names), "shape": list(mesh.devices.shape),
            "ids": [device.id for device in mesh.devices.flat]}


# ---- answers ----

def answer_device(function, given):
    place = given.get("coords")
    row = [given.get("id", 0), given.get("process_index", 0), None] + (place or [None] * 3)
    device = Device("tpu" if place else "cpu", "any", row + [given.get("core_on_chip")])
    with runtime([device], **given):
        return list(function(device))


def answer_bounds_from_last_device(given, _):
    counts = {key: value for key, value in given.items() if key.endswith("_count")}
    place = {key: value for key, value in given.items() if key not in counts}
    return answer_device(t5x.bounds_from_last_device, dict(place, **counts))


def answer_get_coords(given, _):
    return answer_device(t5x.get_coords, given)


def build_mesh(given):
    return t5x.get_mesh(to_tuple(given["model_parallel_submesh"]),
                        tile_by_host_if_needed=given["tile_by_host_if_needed"])


def answer_get_mesh(given, devices):
    with runtime(devices):
        return mesh_to_json(build_mesh(given))


def answer_get_cpu_mesh(_, devices):
    with runtime(devices):
        return mesh_to_json(t5x.get_cpu_mesh())


def answer_get_gpu_mesh(given, devices):
    with runtime(devices):
        return mesh_to_json(t5x.get_gpu_mesh(given["num_partitions"]))


MESH_ARGUMENTS = ("num_partitions", "model_parallel_submesh", "ici_mesh_shape", "dcn_mesh_shape")


def answer_default_mesh(given, devices):
    arguments = {name: to_tuple(given[name]) for name in MESH_ARGUMENTS}
    with runtime(devices):
        return mesh_to_json(t5x.default_mesh(**arguments))


def standard_rules(given):
    names = ("activation_partitioning_dims", "parameter_partitioning_dims", "additional_rules")
    return t5x.standard_logical_axis_rules(*(to_tuple(given.get(name)) for name in names))


def answer_standard_logical_axis_rules(given, _):
    return rules_to_json(standard_rules(given))


def answer_logical_to_mesh_axes(given, _):
    rules = standard_rules(given)
    return spec_to_json(t5x.flax_partitioning.logical_to_mesh_axes(to_tuple(given["names"]), rules))


def partitioner_of(given):
    return t5x.PjitPartitioner(**{name: to_tuple(value) for name, value in given.items()})


class State:
    """A training state as get_mesh_axes sees it: parameters by path."""

    def __init__(self, tree):
        self.tree = tree

    def as_logical_axes(self):
        return self

    def state_dict(self):
        return self.tree

    def restore_state(self, tree):
        return State(tree)


def answer_get_mesh_axes(given, _):
    partitioner = t5x.PjitPartitioner(num_partitions=1, logical_axis_rules=standard_rules(given))
    leaves = {path: None if names is None else t5x.AxisNames(*names)
              for path, names in given["params"].items()}
    state = State(t5x.traverse_util.unflatten_dict(leaves, sep="/"))
    specs = t5x.traverse_util.flatten_dict(partitioner.get_mesh_axes(state).tree, sep="/")
    return {path: spec_to_json(spec) for path, spec in specs.items()}


def answer_partitioner_rules(given, _):
    partitioner = partitioner_of(given)
    return {"logical_axis_rules": rules_to_json(partitioner.logical_axis_rules),
            "data_axis": entry_to_json(partitioner._data_axis)}


def chunk_of(chunker, shape, axes):
    try:
        info = chunker.get_local_chunk_info(to_tuple(shape), to_tuple(axes))
    except (NotImplementedError, KeyError) as error:
        return error_of(error)
    cuts = [None if cut.start is None else [int(cut.start), int(cut.stop)] for cut in info.slice]
    return {"slice": cuts, "replica_id": int(info.replica_id)}


def chunks_of(given, mesh):
    chunker = t5x.LocalChunker(mesh)
    return {"num_chunks": {axis: int(n) for axis, n in chunker.num_chunks.items()},
            "chunk_ids": {axis: int(n) for axis, n in chunker.chunk_ids.items()},
            "chunks": [chunk_of(chunker, *request) for request in given["requests"]],
            "shard_ids": [int(chunker.get_shard_id(axes)) for axes in given["axis_sets"]],
            "replica_ids": [int(chunker.get_replica_id(axes)) for axes in given["axis_sets"]]}


def mesh_of(described):
    devices = [Device("cpu", "cpu", [number, number // described["devices_per_process"]] + [None] * 5)
               for number in range(math.prod(described["sizes"]))]
    array = np.array([devices[number] for number in described["ids"]], dtype=object)
    return devices, Mesh(array.reshape(described["sizes"]), described["names"])


def answer_local_chunker(given, devices):
    if "mesh" in given:
        devices, mesh = mesh_of(given["mesh"])
    else:
        with runtime(devices):
            mesh = build_mesh(given)
        mesh_to_json(mesh)
    answer = {}
    for process in processes_of(devices):
        with runtime(devices, process):
            answer[str(process)] = chunks_of(given, mesh)
    return {"processes": answer}


def answer_data_layout(given, devices):
    partitioner = partitioner_of(given["partitioner"])
    layouts = {}
    for process in processes_of(devices):
        with runtime(devices, process):
            layout = partitioner.get_data_layout(given["batch_size"], given.get("host_index"))
        layouts[str(process)] = [layout.batch_size, layout.shard_id, layout.num_shards,
                                 bool(layout.is_first_host_in_replica_set)]
    answer = {"processes": layouts, "data_partition_spec": spec_to_json(partitioner.data_partition_spec)}
    with runtime(devices):
        mesh_to_json(partitioner.mesh)
        answer["mesh_shape"] = {axis: int(size) for axis, size in partitioner.mesh.shape.items()}
        if partitioner._data_axis is not None:
            answer.update(data_mesh_size=int(partitioner.data_mesh_size),
                          data_shards=int(partitioner.data_shards))
    return answer


ANSWERS = {name[7:]: function for name, function in list(globals().items())
           if name.startswith("answer_") and name != "answer_device"}


def ask(fn, given, fleets):
    """The part of a case that is the answer."""
    fleet = fleets.get(given.get("fleet"))
    try:
        return {"output": ANSWERS[fn](given, devices_of(fleet) if fleet else [])}
    except NoWord:
        raise
    except Exception as error:  # every failure of the peer is an answer, if we have a word for it
        return error_of(error)


# ---- random machines ----

SIDES = (1, 1, 2, 2, 2, 3, 4, 4, 4, 6, 8, 12, 16)
LARGEST_FLEET = 512


def divisors(n):
    return [k for k in range(1, n + 1) if n % k == 0]


def spread(rng, total, rank):
    """`rank` sizes whose product is `total`."""
    sizes = [1] * rank
    for place in range(rank - 1):
        sizes[place] = rng.choice(divisors(total))
        total //= sizes[place]
    sizes[-1] = total
    rng.shuffle(sizes)
    return sizes


def order_rows(rng, rows):
    order = rng.random()
    if order < 0.2:
        rng.shuffle(rows)
    elif order < 0.3:
        rows.reverse()
    elif order < 0.5:
        rows.sort(key=lambda row: row[1])
    elif order < 0.7:
        rows.sort()


def fleet_of_hosts(rng, platform):
    kind = "cpu" if platform == "cpu" else rng.choice(("NVIDIA A100", "NVIDIA H100", "AMD MI300X"))
    processes, each = rng.randint(1, 8), rng.choice((1, 2, 3, 4, 4, 6, 8, 8))
    # Runtimes number devices one after the other, or leave gaps between processes.
    step = each if rng.random() < 0.8 else rng.choice((each + 1, 16, 100, 2048))
    sizes = [each] * processes
    if rng.random() < 0.05:
        sizes[rng.randrange(processes)] = rng.randint(1, 8)
        step = max(step, 8)
    # Some runtimes say which slice; GPUs of one slice share fast links.
    slices = rng.choice([None] * 8 + divisors(processes))
    rows = [[process * step + number, process, process * slices // processes if slices else None,
             None, None, None, None]
            for process, size in enumerate(sizes) for number in range(size)]
    order_rows(rng, rows)
    return {"platform": platform, "kind": kind, "devices": rows}


def fleet_of_chips(rng, slices):
    kind, cores, flat = rng.choice((("TPU v2", 2, True), ("TPU v3", 2, True), ("TPU v3", 2, True),
                                    ("TPU v4", 1, False), ("TPU v4", 1, False), ("TPU v4", 1, False),
                                    ("TPU v4 lite", 1, True), ("TPU v5 lite", 1, True),
                                    ("TPU v5p", 1, False), ("TPU of the future", 1, False)))
    cores = cores if rng.random() < 0.9 else 3 - cores
    while True:
        dims = [rng.choice(SIDES), rng.choice(SIDES), 1 if flat else rng.choice(SIDES)]
        if math.prod(dims) * cores * slices <= LARGEST_FLEET:
            break
    # A host usually drives a corner of 2x2 chips.
    tile = [min(2, dims[0]), min(2, dims[1]), 1]
    if rng.random() < 0.3 or any(size % part for size, part in zip(dims, tile)):
        tile = [rng.choice(divisors(size)) for size in dims]
    hosts = [size // part for size, part in zip(dims, tile)]
    names = list(range(math.prod(hosts)))
    if rng.random() < 0.1:
        rng.shuffle(names)
    axes = rng.choice(((2, 1, 0), (2, 1, 0), (0, 1, 2)))
    rows = []
    for s, *place in itertools.product(range(slices), *(range(dims[axis]) for axis in axes)):
        xyz = [place[axes.index(axis)] for axis in range(3)]
        host = 0
        for axis in (2, 1, 0):
            host = host * hosts[axis] + xyz[axis] // tile[axis]
        for core in range(cores):
            rows.append([len(rows), s * len(names) + names[host], s] + xyz + [core])
    if rng.random() < 0.1:
        for row, number in zip(rows, rng.sample(range(len(rows)), len(rows))):
            row[0] = number
    order_rows(rng, rows)
    return {"platform": "tpu", "kind": kind, "devices": rows}


def random_fleet(rng, platform=None, slices=None):
    platform = platform or rng.choice(("cpu", "gpu", "tpu", "tpu", "tpu", "tpu"))
    if platform == "tpu":
        return fleet_of_chips(rng, slices or rng.choice((1, 1, 1, 1, 1, 2, 3, 4)))
    return fleet_of_hosts(rng, platform)


def bounds_of(fleet):
    rows = fleet["devices"]
    if fleet["platform"] == "tpu":
        return [max(row[axis] for row in rows) + 1 for axis in (3, 4, 5, 6)]
    return [len({row[1] for row in rows}), sum(row[1] == 0 for row in rows)]


# ---- questions ----

NAMES = ("batch", "vocab", "embed", "mlp", "heads", "kv", "joined_kv", "relpos_buckets",
         "abspos_buckets", "length", "layers", "stack", "mlp_activations", "unknown", "expert", "seq")
AXES = ("data", "model", "replica", "expert")


def random_submesh(rng, fleet):
    bounds = bounds_of(fleet)
    submesh = [rng.choice(divisors(size)) for size in bounds]
    draw = rng.random()
    if draw < 0.25:  # a line or a plane
        for axis in range(len(submesh)):
            submesh[axis] = rng.choice((1, bounds[axis]))
    elif draw < 0.35:
        submesh[rng.randrange(len(submesh))] = rng.randint(0, 9)
    elif draw < 0.37:
        submesh[rng.randrange(len(submesh))] = -rng.randint(1, 4)
    elif draw < 0.42:
        submesh = (submesh + [rng.choice((1, 1, 2, 3)) for _ in range(3)])[:rng.randint(1, 5)]
    return submesh


def random_partitions(rng):
    return rng.choice((1, 2, 4, 8, 16, 1, 2, 4, 8, 16, 0, 3, 5, 6, 12, 24, 32, 64, 128, -1, -2,
                       rng.randint(1, 64)))


def random_shapes(rng, fleet):
    """Sizes within and between slices, for three axes."""
    granules = len({row[2] for row in fleet["devices"]})
    inner, outer = len(fleet["devices"]) // granules, granules
    draw = rng.random()
    if draw < 0.04:
        inner = rng.choice((1, inner * 2, len(fleet["devices"])))
    elif draw < 0.08:
        outer = rng.choice((1, outer * 2, outer + 1))
    rank = 3 if rng.random() < 0.97 else rng.choice((1, 2, 4))
    ici, dcn = spread(rng, inner, rank), spread(rng, outer, rank)
    if fleet["platform"] == "tpu" and rng.random() < 0.7:  # likely to fit the chips
        groups = [1] * rank
        bounds = bounds_of(fleet)
        for size in bounds if fleet["kind"] in ("TPU v2", "TPU v3") else bounds[:3]:
            groups[rng.randrange(rank)] *= size
        ici = groups
    if rng.random() < 0.01:
        ici[rng.randrange(rank)] = 0
    return ici, dcn


def random_rules(rng, most=3):
    def target():
        draw = rng.random()
        if draw < 0.2:
            return None
        return rng.choice(AXES) if draw < 0.8 else rng.sample(AXES, rng.randint(0, 3))
    return [[rng.choice(NAMES), target()] for _ in range(rng.randint(0, most))]


def random_names(rng):
    return [None if rng.random() < 0.1 else rng.choice(NAMES) for _ in range(rng.randint(0, 5))]


def random_dims(rng):
    return {name: rng.choice((1, 2)) if rng.random() < 0.93 else rng.choice((0, 3, -1, 100))
            for name in ("activation_partitioning_dims", "parameter_partitioning_dims")}


def maybe(rng, value, chance=0.5):
    return value if rng.random() < chance else None


def question_bounds_from_last_device(rng, _):
    if rng.random() < 0.5:
        return {"coords": [rng.randrange(64) for _ in range(3)], "core_on_chip": rng.randrange(4)}
    return {"process_count": rng.randint(1, 64), "local_device_count": rng.randint(1, 16)}


def question_get_coords(rng, _):
    if rng.random() < 0.5:
        return {"coords": [rng.randrange(64) for _ in range(3)], "core_on_chip": rng.randrange(4)}
    return {"id": rng.choice((rng.randrange(64), rng.randrange(5000))),
            "process_index": rng.randrange(32), "local_device_count": rng.randint(1, 16)}


def question_get_mesh(rng, add_fleet):
    name, fleet = add_fleet(random_fleet(rng))
    return {"fleet": name, "model_parallel_submesh": random_submesh(rng, fleet),
            "tile_by_host_if_needed": rng.random() < 0.6}


def question_get_cpu_mesh(rng, add_fleet):
    return {"fleet": add_fleet(random_fleet(rng, "cpu"))[0]}


def question_get_gpu_mesh(rng, add_fleet):
    return {"fleet": add_fleet(random_fleet(rng, "gpu"))[0], "num_partitions": random_partitions(rng)}


def question_default_mesh(rng, add_fleet):
    given = {"num_partitions": random_partitions(rng), "model_parallel_submesh": None,
             "ici_mesh_shape": None, "dcn_mesh_shape": None}
    draw = rng.random()
    slices = rng.choice((1, 2, 3, 4)) if draw < 0.35 else None
    name, fleet = add_fleet(random_fleet(rng, slices=slices))
    if draw < 0.35:
        ici, dcn = random_shapes(rng, fleet)
        given.update(ici_mesh_shape=maybe(rng, ici, 0.95), dcn_mesh_shape=maybe(rng, dcn, 0.95))
    if draw > 0.8 or draw < 0.05:
        given.update(model_parallel_submesh=random_submesh(rng, fleet) if rng.random() < 0.95 else [])
    return dict(fleet=name, **given)


def question_standard_logical_axis_rules(rng, _):
    return dict(random_dims(rng), additional_rules=maybe(rng, random_rules(rng)))


def question_logical_to_mesh_axes(rng, _):
    return dict(random_dims(rng), additional_rules=maybe(rng, random_rules(rng)),
                names=random_names(rng))


def question_get_mesh_axes(rng, _):
    params = {}
    for number in range(rng.randint(0, 6)):
        path = [rng.choice(("enc", "dec", "layer_0")) for _ in range(rng.randint(0, 2))]
        params["/".join(path + [f"p{number}"])] = maybe(rng, random_names(rng), 0.9)
    return dict(random_dims(rng), params=params)


def question_partitioner_rules(rng, _):
    rules = random_rules(rng, 4)
    for rule in rules:
        if rng.random() < 0.4:
            rule[0] = "batch"
    return {"num_partitions": rng.choice((1, 2, 4, 0)), "logical_axis_rules": maybe(rng, rules, 0.8),
            "model_parallel_submesh": maybe(rng, rng.choice(([1, 1, 1, 2], [1, 2], [])), 0.2),
            "ici_mesh_shape": maybe(rng, [1, 4, 1], 0.6), "dcn_mesh_shape": maybe(rng, [2, 1, 1], 0.6)}


def random_request(rng, axes):
    shape = [rng.choice((1, 5, 7, 8, 16, 24, 64, 100, 512)) for _ in range(rng.randint(0, 3))]
    words = list(axes) + [None]
    asked = [rng.choice(words) for _ in range(rng.choice((len(shape), len(shape), rng.randint(0, 4))))]
    if asked and rng.random() < 0.1:
        asked[rng.randrange(len(asked))] = rng.choice(("nowhere", "", list(axes)))
    return [shape, asked]


def random_chunks(rng, axes):
    sets = [rng.sample(axes, rng.randint(0, len(axes))) for _ in range(4)]
    return {"requests": [random_request(rng, axes) for _ in range(5)], "axis_sets": sets}


def question_local_chunker(rng, add_fleet):
    if rng.random() < 0.6:
        return dict(question_get_mesh(rng, add_fleet), **random_chunks(rng, ["data", "model"]))
    names = rng.choice((["data", "model"], ["replica", "data", "model"]))
    sizes = [rng.choice((1, 2, 3, 4)) for _ in names]
    ids = list(range(math.prod(sizes)))
    if rng.random() < 0.2:
        rng.shuffle(ids)
    mesh = {"names": names, "sizes": sizes, "ids": ids,
            "devices_per_process": rng.choice(divisors(len(ids)))}
    return dict(mesh=mesh, **random_chunks(rng, names))


def question_data_layout(rng, add_fleet):
    given = question_default_mesh(rng, add_fleet)
    partitioner = {name: value for name, value in given.items()
                   if name != "fleet" and value is not None and rng.random() < 0.97}
    if rng.random() < 0.2:
        partitioner["logical_axis_rules"] = [["batch", rng.choice(("data", "model", None,
                                                                   ["data", "model"]))]]
    asked = {"fleet": given["fleet"], "partitioner": partitioner,
             "batch_size": rng.choice((None, 0, 7, 8, 16, 33, 64, 96, 100, 128, 256, 512, 1024))}
    return dict(asked, host_index=0) if rng.random() < 0.02 else asked


QUESTIONS = {name[9:]: function for name, function in list(globals().items())
             if name.startswith("question_")}


# Said before the devices of a slice are arranged.
EARLY = ("granule_count_mismatch", "device_count_mismatch", "mesh_rank_mismatch", "no_partition_count")


# Said by a partitioner that has no need of its mesh yet, or does not look at it closely.
AFTER_MESH = ("host_index_unsupported", "batch_not_divisible_by_data_mesh")


def share_places(fleet):
    """Whether two devices of one slice have the same coordinates, so that t5x loses one."""
    rows, local = fleet["devices"], sum(row[1] == 0 for row in fleet["devices"])
    places = {tuple(row[2:]) if row[3] is not None else (row[1], row[0] % local) for row in rows}
    return len(places) < len(rows)


def known_difference(given, fleets, answer):
    """Why docs/compatibility.md says that our answer is another one, or None."""
    arguments = given.get("partitioner", given)
    fleet = fleets.get(given.get("fleet"))
    submesh = arguments.get("model_parallel_submesh") or []
    error = answer.get("error", {}).get("kind")
    if error in AFTER_MESH:
        fault = mesh_fault(arguments, fleets, given["fleet"])
        if fault:
            return fault
    if arguments.get("ici_mesh_shape") is not None and arguments.get("dcn_mesh_shape") is not None:
        later = fleet and fleet["kind"] in LATER_KINDS and error not in EARLY
        return "orders of later kinds" if later else None
    if any(size < 0 for size in submesh):
        return "sizes below 0"
    if len(submesh) > 4:
        return "more than 4 sizes"
    # A partitioner makes a mesh for each process, and may find a fault in a later one only.
    if fleet and (not error or "partitioner" in given) and share_places(fleet):
        return "devices lost"
    return None


def mesh_fault(arguments, fleets, fleet):
    """Our partitioner makes its mesh first, so that what is wrong with the mesh is told first."""
    asked = {name: arguments.get(name) for name in MESH_ARGUMENTS}
    try:
        return "mesh first" if "error" in ask("default_mesh", dict(asked, fleet=fleet), fleets) else None
    except NoWord:
        return "a mesh with holes"


def record(rng, names, count):
    fleets, cases, skipped = {}, [], collections.Counter()
    for fn in names:
        number = 0
        while number < count:
            added = {}

            def add_fleet(fleet):
                name = f"fleet {len(fleets)}"
                added[name] = fleet
                return name, fleet
            given = QUESTIONS[fn](rng, add_fleet)
            try:
                answer = ask(fn, given, added)
            except NoWord as reason:
                skipped[str(reason)] += 1
                continue
            reason = known_difference(given, added, answer)
            if reason:
                skipped[reason] += 1
                continue
            fleets.update(added)
            cases.append(dict(id=f"{fn}/{number}", fn=fn, input=given, **answer))
            number += 1
    return fleets, cases, skipped


def replay(path):
    """Puts recorded questions again; the number of answers that differ."""
    with open(path, encoding="utf-8") as file:
        recorded = json.load(file)
    different = 0
    for case in recorded["cases"]:
        answer = ask(case["fn"], case["input"], recorded["fleets"])
        expected = {key: case[key] for key in ("output", "error") if key in case}
        if json.loads(json.dumps(answer)) != expected:
            different += 1
            print(f"{case['id']} {case['fn']}: recorded {json.dumps(expected)[:300]}, "
                  f"now {json.dumps(answer)[:300]}")
    print(f"{len(recorded['cases'])} questions put again, {different} answers differ")
    return different


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out")
    parser.add_argument("--only", help="names of functions, with commas between")
    parser.add_argument("--replay", metavar="FILE")
    options = parser.parse_args()
    if options.replay:
        sys.exit(1 if replay(options.replay) else 0)
    if not options.out:
        parser.error("--out or --replay is needed")
    names = options.only.split(",") if options.only else list(QUESTIONS)
    fleets, cases, skipped = record(random.Random(options.seed), names, options.count)
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump({"meta": {"oracle": "t5x on jax 0.4.20, live", "seed": options.seed},
                   "fleets": fleets, "cases": cases}, out)
    detail = ", ".join(f"{reason}: {number}" for reason, number in sorted(skipped.items()))
    print(f"known differences of t5x: {sum(skipped.values())} ({detail or 'none'})")


if __name__ == "__main__":
    main()
