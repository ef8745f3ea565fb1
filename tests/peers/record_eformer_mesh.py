#!/usr/bin/env python3
"""Asks eformer for meshes, mesh texts, host shapes and mesh queries, in the schema of eformer.json.

One process with as many pretend devices as the environment gives; questions about fewer devices are
asked with jax.devices cut short. Where eformer's answer is a known fault, the case carries `defect` and
is not counted:

  any_negative_is_unknown       a size below -1 is taken as the open one
  repeated_axis_name_accepted   a mesh with two axes of one name
  dcn_ignored_without_check     dcn_mesh_dims are not looked at on one process
  feasible_or_not_is_decided_by_floor_division   host shapes that exist and are not found
"""
import argparse
import json
import math
import random

import jax
import numpy as np
from eformer.escale.mesh import creation
from eformer.escale.partition import constraints
from jax.sharding import Mesh, PartitionSpec

NAMES = ("dp", "fsdp", "ep", "tp", "sp", "data", "model", "x", "y")

# What eformer, numpy and jax say, and our word for it; the first match counts.
ERRORS = (("can only specify one unknown", "more_than_one_unknown_dim"),
          ("cannot reshape array", "dims_do_not_match_device_count"),
          ("Mesh requires the ndim", "dims_and_names_differ_in_length"),
          ("axis_shapes and axis_names", "dims_and_names_differ_in_length"),
          ("same length", "dims_and_names_differ_in_length"),
          ("Number of dimensions and names", "dims_and_names_differ_in_length"),
          ("must be one of {'auto'", "unknown_axis_type"),
          ("axis_types length", "axis_types_length"),
          ("not found in provided names", "name_not_allowed"),
          ("Not all axis names", "name_missing"),
          ("values to unpack", "malformed_text"),
          ("invalid literal for int", "not_an_integer"),
          ("doesn't match available devices", "mesh_size_does_not_match_devices"),
          ("Ensure that num_processes", "processes_do_not_factor_mesh"),
          ("unbound axis name", "axis_not_bound"))


def gist(error):
    text = str(error)
    for part, slug in ERRORS:
        if part in text:
            return slug
    if isinstance(error, KeyError):
        return "unknown_axis"
    if isinstance(error, AssertionError):
        return "no_mesh_active"
    raise error


def answer(case, ask):
    try:
        case["result"] = ask()
    except (ValueError, KeyError, TypeError, AssertionError, NameError) as error:
        case["error"] = {"type": type(error).__name__, "gist": gist(error)}
    return case


# ---- creating ----

def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def random_dims(rng, devices):
    """Sizes that mostly fit: a factorisation, one size left open, sometimes one spoiled."""
    dims, rest = [], devices
    for _ in range(rng.randint(0, 4)):
        dims.append(rng.choice(divisors(rest)))
        rest //= dims[-1]
    dims.append(rest)
    rng.shuffle(dims)
    if rng.random() < 0.5:
        dims[rng.randrange(len(dims))] = -1
    if rng.random() < 0.2:
        dims[rng.randrange(len(dims))] = rng.choice((-2, -1, 0, 1, 2, 3, 5, 7, 2**40))
    return dims


def random_names(rng, count):
    names = rng.sample(NAMES, count)
    if count > 1 and rng.random() < 0.05:
        names[0] = names[-1]
    return names


def random_types(rng, count):
    kinds = ("auto", "explicit", "manual", " Auto", "EXPLICIT ", "manual\n", "best")
    weights = (4, 4, 4, 1, 1, 1, 1)
    if rng.random() < 0.3:
        return rng.choices(kinds, weights)[0]
    length = rng.choice((count, count, count, 1, count + 1))
    return rng.choices(kinds, weights, k=length)


def describe(mesh):
    return {"axes": [[str(name), int(size)] for name, size in zip(mesh.axis_names, mesh.devices.shape)],
            "devices": [int(device.id) for device in mesh.devices.flat],
            "axis_types": [str(kind).split(".")[-1].lower() for kind in mesh.axis_types]}


class FewerDevices:
    """While entered, jax has the first few of its devices only."""

    def __init__(self, count):
        self.devices = jax.devices()[:count]
        self.old = {}

    def __enter__(self):
        replaced = {"devices": lambda *_: self.devices, "device_count": lambda *_: len(self.devices),
                    "local_device_count": lambda *_: len(self.devices)}
        self.old = {name: getattr(jax, name) for name in replaced}
        for name, function in replaced.items():
            setattr(jax, name, function)
        creation._cached_mesh_impl.cache_clear()

    def __exit__(self, *_):
        for name, function in self.old.items():
            setattr(jax, name, function)


def create_mesh(rng):
    devices = rng.choice([n for n in (1, 2, 4, 6, 8, 12, 16, 24, 32, 60, 64) if n <= jax.device_count()])
    dims = random_dims(rng, devices)
    count = len(dims) + (rng.choice((-1, 1)) if rng.random() < 0.05 else 0)
    args = {"axis_dims": dims, "axis_names": random_names(rng, max(count, 1))}
    if rng.random() < 0.3:
        args["axis_types"] = random_types(rng, len(args["axis_names"]))
    if rng.random() < 0.2:
        args["use_jax"] = True
    if rng.random() < 0.1:
        args["dcn_mesh_dims"] = [rng.choice((1, 1, -1, 2)) for _ in dims]
    case = {"fn": "create_mesh", "mesh": None, "devices": devices, "args": args}
    names = args["axis_names"]
    if any(size < -1 for size in dims):
        case["defect"] = "any_negative_is_unknown"
    elif len(set(names)) < len(names):
        case["defect"] = "repeated_axis_name_accepted"
    elif "dcn_mesh_dims" in args:
        case["defect"] = "dcn_ignored_without_check"
    with FewerDevices(devices):
        return answer(case, lambda: describe(creation.create_mesh(**args)))


def random_number(rng, size):
    text = str(size)
    spoil = rng.random()
    if spoil < 0.1:
        text = rng.choice((" {} ", "+{}", "0_{}", "{}\t", "00{}")).format(text)
    elif spoil < 0.16:
        text = rng.choice(("{}.0", "_{}", "{}_", "0x{}", "", "two", "1 {}", "{}:1", "1__{}")).format(text)
    return text


def parse_mesh_from_string(rng):
    devices = rng.choice([n for n in (2, 4, 8, 12) if n <= jax.device_count()])
    dims = [size if size > -2 else 1 for size in random_dims(rng, devices)]
    names = rng.sample(NAMES, len(dims))
    allowed = list(names)
    change = rng.random()
    if change < 0.08:
        allowed.append("extra")
    elif change < 0.16 and len(allowed) > 1:
        allowed.pop()
    if rng.random() < 0.6:
        pairs = list(zip(names, dims))
        rng.shuffle(pairs)
        text = ",".join(f"{name}:{random_number(rng, size)}" for name, size in pairs)
    else:
        text = ",".join(random_number(rng, size) for size in dims)
    case = {"fn": "parse_mesh_from_string", "mesh": None, "devices": devices,
            "args": {"axis_dims": text, "names": allowed}}
    with FewerDevices(devices):
        return answer(case, lambda: describe(creation.parse_mesh_from_string(text, allowed)))


def calculate_host_mesh_shape(rng):
    shape = [rng.choice((1, 2, 2, 3, 4, 5, 6, 8)) for _ in range(rng.randint(1, 4))]
    total = math.prod(shape)
    processes = rng.choice(divisors(total))
    devices = total // processes
    if rng.random() < 0.15:
        devices += rng.choice((-1, 1)) if devices > 1 else 1
    args = {"global_mesh_shape": shape, "total_devices": devices, "num_processes": processes}
    case = answer({"fn": "calculate_host_mesh_shape", "mesh": None, "args": args},
                  lambda: [int(n) for n in creation.calculate_host_mesh_shape(shape, devices, processes)])
    if case.get("error", {}).get("gist") == "processes_do_not_factor_mesh":
        case["defect"] = "feasible_or_not_is_decided_by_floor_division"
    return case


# ---- asking ----

def random_mesh(rng):
    """A mesh over the first devices, as JAX has it and as a case tells it."""
    count = rng.randint(1, 4)
    sizes = [rng.choice((1, 2, 2, 3, 4)) for _ in range(count)]
    while math.prod(sizes) > min(jax.device_count(), 32):
        sizes[sizes.index(max(sizes))] = 1
    names = rng.sample(NAMES, count)
    devices = np.array(jax.devices()[:math.prod(sizes)]).reshape(sizes)
    return Mesh(devices, names), {"axes": [list(pair) for pair in zip(names, sizes)]}


def random_query(rng, mesh, unknown=True):
    names = [rng.choice(mesh.axis_names) for _ in range(rng.randint(0, 3))]
    if unknown and rng.random() < 0.15:
        names.append("ghost")
    return rng.choice(mesh.axis_names) if rng.random() < 0.2 else names


def query(rng):
    mesh, described = random_mesh(rng)
    fn = rng.choice(("names_in_current_mesh", "get_axes_size_in_mesh", "get_mesh_axis_names"))
    asked = random_query(rng, mesh)
    case = {"fn": fn, "mesh": described, "mesh_via": "context", "args": {}}
    if fn == "names_in_current_mesh":
        names = [asked] if isinstance(asked, str) else asked
        case["args"] = {"names": names}
        ask = lambda: bool(constraints.names_in_current_mesh(*names))
    elif fn == "get_axes_size_in_mesh":
        case["args"] = {"axis_names": asked}
        ask = lambda: int(constraints.get_axes_size_in_mesh(asked))
    else:
        ask = lambda: [str(name) for name in constraints.get_mesh_axis_names()]
    with mesh:
        return answer(case, ask)


def bound_query(rng):
    mesh, described = random_mesh(rng)
    fn = rng.choice(("get_mesh_axis_size", "get_submesh_device_index"))
    asked = random_query(rng, mesh, unknown=False)
    function = getattr(constraints, fn)

    def ask():
        one = jax.shard_map(lambda x: x * 0 + function(asked), mesh=mesh, check_vma=False,
                            in_specs=PartitionSpec(mesh.axis_names), out_specs=PartitionSpec(mesh.axis_names))
        return [int(n) for n in one(np.zeros(mesh.devices.size, np.int32))]

    return answer({"fn": fn, "mesh": described, "mesh_via": "bound", "args": {"axis_names": asked}}, ask)


# How often each kind of question is asked; those inside shard_map are slow to compile.
QUESTIONS = ((create_mesh, 1.0), (parse_mesh_from_string, 1.0), (calculate_host_mesh_shape, 1.0),
             (query, 1.0), (bound_query, 0.1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    cases = []
    for question, share in QUESTIONS:
        for _ in range(max(1, int(args.count * share))):
            cases.append({"id": f"e{len(cases):05d}", **question(rng)})
    with open(args.out, "w", encoding="utf-8") as file:
        json.dump(cases, file, indent=1)
    print(len(cases), "cases,", sum("error" in case for case in cases), "errors,",
          sum("defect" in case for case in cases), "with a defect of eformer")


if __name__ == "__main__":
    main()
