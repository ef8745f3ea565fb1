#!/usr/bin/env python3
"""Asks eformer about meshes, their axes and hashes, in the schema of eformer.json.

Machines of several processes are made up: eformer sees their devices in place of the real ones.
Questions that eformer answers wrongly (docs/compatibility.md) are not asked: repeated axis names,
dimensions below -1, outer dimensions that one process ignores or that change the mesh's shape, and
process counts that only floor division can spread.
"""
import argparse
import contextlib
import hashlib
import json
import math
import os
import random
import types
import warnings

import jax
import numpy as np
from eformer.escale.mesh import creation
from eformer.escale.partition import constraints, manager
from jax.sharding import Mesh, PartitionSpec

NAMES = ("dp", "fsdp", "ep", "tp", "sp", "pp")

# What Python, numpy, JAX or eformer says, and our word for it; the first match counts.
ERRORS = (
    ("can only specify one unknown dimension", "more_than_one_unknown_dim"),
    ("cannot reshape array", "dims_do_not_match_device_count"),
    ("requires the ndim", "dims_and_names_differ_in_length"),
    ("Number of dimensions and names must match", "dims_and_names_differ_in_length"),
    ("same length", "dims_and_names_differ_in_length"),
    ("axis_types must be one of", "unknown_axis_type"),
    ("axis_types length", "axis_types_length"),
    ("axis_types entries", "axis_type_wrong_kind"),
    ("Only one -1", "dcn_more_than_one_unknown"),
    ("entries must be > 0", "dcn_entry_not_positive"),
    ("does not divide target", "dcn_does_not_divide"),
    ("dcn_mesh_dims product", "dcn_product_wrong"),
    ("is divisible by num_slices", "no_axis_divisible_by_slices"),
    ("does not have attribute", "devices_have_no_slice_index"),
    ("doesn't match available devices", "mesh_size_does_not_match_devices"),
    ("Host mesh shape", "processes_do_not_factor_mesh"),
    ("invalid literal for int", "not_an_integer"),
    ("not found in provided names", "name_not_allowed"),
    ("Not all axis names", "name_missing"),
    ("values to unpack", "malformed_text"),
    ("axis_names must be str", "axis_names_wrong_kind"),
    ("must be a string or sequence", "axis_names_wrong_kind"),
    ("Unsupported hash algorithm", "unknown_hash_algorithm"),
    ("Error generating hash", "hash_failed"),
)
# Where the class of the exception tells more than its words.
CLASSES = {"NameError": "axis_not_bound", "KeyError": "unknown_axis",
           "AssertionError": "no_mesh_active"}


def attempt(ask):
    """{"result": ...} or {"error": ...} of a question."""
    try:
        return {"result": ask()}
    except Exception as error:  # pylint: disable=broad-except
        kind = type(error).__name__
        slug = next((word for text, word in ERRORS if text in str(error)), CLASSES.get(kind))
        if slug is None:
            raise
        return {"error": {"type": kind, "gist": slug}}


class Device:
    def __init__(self, number, process):
        self.id, self.process_index = number, process
        self.platform = self.device_kind = "cpu"


@contextlib.contextmanager
def machine(devices, processes, environment=()):
    """Lets eformer see this many devices in each of this many processes."""
    listed = (jax.devices()[:devices] if processes == 1 else
              [Device(i, i // devices) for i in range(devices * processes)])
    seen = types.SimpleNamespace(
        devices=lambda backend=None: listed, device_count=lambda backend=None: len(listed),
        local_device_count=lambda backend=None: devices, process_count=lambda: processes,
        default_backend=lambda: "cpu", make_mesh=jax.make_mesh)
    before = dict(os.environ)
    creation.jax = seen
    creation._cached_mesh_impl.cache_clear()
    os.environ.update(environment)
    try:
        yield
    finally:
        creation.jax = jax
        os.environ.clear()
        os.environ.update(before)


def spread(rng, total, rank):
    """`total` as a product of `rank` numbers."""
    sizes = [1] * rank
    factor = 2
    while total > 1:
        while total % factor:
            factor += 1
        sizes[rng.randrange(rank)] *= factor
        total //= factor
    return sizes


def is_floored(shape, processes):
    """Whether eformer divides with a remainder on the way to the part of one host."""
    for size in shape:
        if processes <= 1:
            return False
        if size >= processes:
            return size % processes != 0
        if size == 0 or processes % size:
            return True
        processes //= size
    return processes > 1


def some_dims(rng, total, rank):
    dims = spread(rng, total, rank)
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        dims[rng.randrange(rank)] = rng.choice((-1, -1, -1, 0, 3))
    return dims


def complete(dims, total):
    """What the dimensions mean, or None when they mean nothing."""
    try:
        return np.arange(total).reshape(dims).shape
    except ValueError:
        return None


def mesh_answer(mesh, devices, processes):
    if processes == 1:
        listed = [d.id for d in mesh.devices.flat]
    else:
        listed = [[d.process_index, d.id % devices] for d in mesh.devices.flat]
    return {"axes": [[n, int(s)] for n, s in zip(mesh.axis_names, mesh.devices.shape)],
            "devices": listed,
            "axis_types": [str(t).rsplit(".", maxsplit=1)[-1].lower() for t in mesh.axis_types]}


def create_mesh(rng):
    processes = rng.choice((1, 1, 2, 3, 4, 6))
    devices = rng.choice((1, 2, 4, 6, 8, 12, 16))
    total, rank = devices * processes, rng.randint(1, 5)
    names = rng.sample(NAMES, rank if rng.random() < 0.93 else rng.randint(1, 5))
    args = {"axis_dims": some_dims(rng, total, rank), "axis_names": names}
    environment = {}
    if rng.random() < 0.05:
        args = {}
        names = ["dp", "fsdp", "ep", "tp", "sp"]
    elif rng.random() < 0.15:
        environment = {"MEGASCALE_NUM_SLICES": str(rng.choice((1, 2, 3, 4)))}
    slices = int(environment.get("MEGASCALE_NUM_SLICES", 1))
    granules = slices if slices > 1 else processes
    if args and granules > 1 and rng.random() < 0.4:
        args["dcn_mesh_dims"] = spread(rng, granules, rank)
        if rng.random() < 0.4:
            args["dcn_mesh_dims"][rng.randrange(rank)] = rng.choice((-1, -1, -1, 0, 2, 5))
    if rng.random() < 0.3:
        words = ["auto", "explicit", "manual", " Auto", "EXPLICIT"] + ["none"] * (rng.random() < 0.1)
        args["axis_types"] = rng.choice((rng.choice(words), [rng.choice(words)],
                                         [rng.choice(words) for _ in names],
                                         [rng.choice(words) for _ in names] + ["auto"], [3] * len(names)))
    if processes == 1 and slices == 1 and rng.random() < 0.2:
        args["use_jax"] = True
    shape = complete(args.get("axis_dims", (1, -1, 1, 1, 1)), total)
    if processes > 1 and slices == 1 and shape is not None and is_floored(shape, processes):
        return None
    outer = complete(args.get("dcn_mesh_dims", ()), granules)
    if outer and slices == 1 and shape is not None and any(s % o for s, o in zip(shape, outer)):
        return None
    if args.get("use_jax") and len(names) != rank:
        return None  # the release asks for equal lengths by an assertion without words
    case = {"mesh": None, "devices": devices, "args": args}
    if processes > 1:
        case["processes"] = processes
    if environment:
        case["env"] = environment
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in args.items()}
    with machine(devices, processes, environment):
        answer = attempt(lambda: mesh_answer(creation.create_mesh(**given), devices, processes))
    if "result" in answer and [s for _, s in answer["result"]["axes"]] != list(shape):
        return None  # the outer dimensions changed the shape
    return dict(case, **answer)


def parse_mesh_from_string(rng):
    devices, rank = rng.choice((1, 2, 4, 6, 8, 12, 16)), rng.randint(1, 4)
    names = rng.sample(NAMES, rank)
    dims = [str(d) for d in some_dims(rng, devices, rank)]
    dims = [rng.choice((d, d, d, d, d, d, d, f" {d}", f"{d} ", f"0{d}", "x", "")) for d in dims]
    pieces = list(dims)
    if rng.random() < 0.6:
        order = rng.sample(names, rank)
        if rng.random() < 0.1:
            order[rng.randrange(rank)] = rng.choice(("zz", order[0] + " "))
        pieces = [f"{n}:{d}" for n, d in zip(order, dims)]
    if rng.random() < 0.1:
        pieces.append(rng.choice(("1", "", "dp:1", "dp:1:2")))
    if rng.random() < 0.05:
        pieces.pop()
    text = ",".join(pieces)
    named = [p.split(":")[0] for p in pieces if ":" in p]
    if len(set(named)) != len(named):
        return None
    case = {"mesh": None, "devices": devices, "args": {"axis_dims": text, "names": names}}
    with machine(devices, 1):
        return dict(case, **attempt(
            lambda: mesh_answer(creation.parse_mesh_from_string(text, names), devices, 1)))


def calculate_host_mesh_shape(rng):
    processes, devices = rng.choice((1, 2, 3, 4, 6, 8)), rng.choice((1, 2, 3, 4, 6, 8))
    total = processes * devices if rng.random() < 0.9 else processes * devices + 1
    shape = spread(rng, total, rng.randint(1, 4))
    if is_floored(shape, processes):
        return None
    args = {"global_mesh_shape": shape, "total_devices": devices, "num_processes": processes}
    return dict(mesh=None, args=args, **attempt(
        lambda: [int(n) for n in creation.calculate_host_mesh_shape(shape, devices, processes)]))


def some_mesh(rng):
    rank = rng.randint(1, 4)
    sizes = spread(rng, rng.choice((1, 2, 4, 6, 8, 12)), rank)
    return {"axes": [list(pair) for pair in zip(rng.sample(NAMES, rank), sizes)]}


def as_mesh(mesh):
    sizes = [s for _, s in mesh["axes"]]
    return Mesh(np.array(jax.devices()[:math.prod(sizes)]).reshape(sizes),
                [n for n, _ in mesh["axes"]])


def some_names(rng, mesh, unknown=0.15):
    known = [n for n, _ in mesh["axes"]] if mesh else ["dp"]
    return [rng.choice(known) if rng.random() > unknown / 2 else "ghost"
            for _ in range(rng.randint(0, 3))]


def some_axis_names(rng, mesh):
    """As recorded, and as eformer is given them."""
    names = some_names(rng, mesh)
    shape = rng.random()
    if shape < 0.4 and names:
        return names[0], names[0]
    if shape < 0.6:
        return {"tuple": names}, tuple(names)
    if shape < 0.65:
        return 3, 3
    return names, names


def names_in_current_mesh(rng):
    mesh = some_mesh(rng) if rng.random() < 0.9 else None
    names = some_names(rng, mesh)
    with as_mesh(mesh) if mesh else contextlib.nullcontext():
        answer = attempt(lambda: constraints.names_in_current_mesh(*names))
    return dict(mesh=mesh, mesh_via="context" if mesh else "none", args={"names": names}, **answer)


def get_axes_size_in_mesh(rng):
    mesh = some_mesh(rng) if rng.random() < 0.9 else None
    written, names = some_axis_names(rng, mesh)
    way = rng.choice(("context", "argument")) if mesh else "none"
    with as_mesh(mesh) if way == "context" else contextlib.nullcontext():
        passed = as_mesh(mesh) if way == "argument" else None
        answer = attempt(lambda: constraints.get_axes_size_in_mesh(names, passed))
    return dict(mesh=mesh, mesh_via=way, args={"axis_names": written}, **answer)


def get_mesh_axis_names(rng):
    mesh = some_mesh(rng) if rng.random() < 0.9 else None
    with as_mesh(mesh) if mesh else contextlib.nullcontext():
        answer = attempt(constraints.get_mesh_axis_names)
    return dict(mesh=mesh, mesh_via="context" if mesh else "none", args={}, **answer)


def per_device(rng, function):
    """A function of the axes that are bound while every device runs its own copy."""
    mesh = some_mesh(rng)
    written, names = some_axis_names(rng, mesh)

    def ask():
        device_mesh = as_mesh(mesh)
        spec = PartitionSpec(device_mesh.axis_names)
        run = jax.shard_map(lambda x: x * 0 + function(names), mesh=device_mesh, in_specs=spec,
                            out_specs=spec)
        return [int(v) for v in run(np.zeros(device_mesh.size, np.int32))]

    return dict(mesh=mesh, mesh_via="bound", args={"axis_names": written}, **attempt(ask))


def get_mesh_axis_size(rng):
    return per_device(rng, constraints.get_mesh_axis_size)


def get_submesh_device_index(rng):
    return per_device(rng, constraints.get_submesh_device_index)


def get_safe_hash_int(rng):
    text = rng.choice((rng.randint(-10**9, 10**20), rng.random(), None, True, [1, ["it's", 2.5, None]],
                       "".join(chr(rng.choice((97, 39, 34, 0xe9, 0x4e2d, 10))) for _ in range(rng.randint(0, 99)))))
    args = {"text": text}
    if rng.random() < 0.9:
        args["algorithm"] = rng.choice(sorted(hashlib.algorithms_guaranteed) + ["nope", "SHA1"])
    return dict(mesh=None, args=args, **attempt(lambda: str(manager.get_safe_hash_int(**args))))


FUNCTIONS = (create_mesh, parse_mesh_from_string, calculate_host_mesh_shape, names_in_current_mesh,
             get_axes_size_in_mesh, get_mesh_axis_names, get_mesh_axis_size, get_submesh_device_index,
             get_safe_hash_int)
# Each question to these compiles a program.
SLOW = (get_mesh_axis_size, get_submesh_device_index)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    warnings.simplefilter("ignore")  # entering a mesh is how eformer finds it, deprecated or not
    cases = []
    for function in FUNCTIONS:
        wanted = max(options.count // 10, 1) if function in SLOW else options.count
        number = 0
        while number < wanted:
            case = function(rng)
            if case is None:
                continue
            cases.append(dict(id=f"{function.__name__}/{number}", fn=function.__name__, **case))
            number += 1
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump(cases, out)


if __name__ == "__main__":
    main()
