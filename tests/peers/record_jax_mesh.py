#!/usr/bin/env python3
"""Asks JAX for meshes over made-up machines, in the schema of jax_mesh.json.

The golden answers follow a JAX newer than the release. Where the two differ, the release is not asked
to judge us: each question is put again with the release's known faults mended (prime factors, and the
kinds "TPU v5e" and "TPU v5", which it knows only in part), and when the answer changes, the case goes
to the list `known_differences` with the faults that change it. Our own answer plays no part in that.
"""
import argparse
import collections
import contextlib
import itertools
import json
import math
import random

import numpy as np
from jax._src import mesh as jax_mesh
from jax._src import mesh_utils
from jax._src import sharding_impls

# Kind, usual cores per chip, whether slices are flat.
TPU_KINDS = (("TPU v2", 2, True), ("TPU v3", 2, True), ("TPU v4", 1, False), ("TPU v4 lite", 1, True),
             ("TPU v5 lite", 1, True), ("TPU v5e", 1, True), ("TPU v5p", 1, False), ("TPU v5", 1, False),
             ("TPU v6 lite", 1, True), ("TPU7x", 2, False), ("TPU7", 2, False), ("TPU8i", 1, True),
             ("TPU of the future", 1, False))
# The newer JAX treats the first like the second everywhere.
SAME_KIND = {"TPU v5e": "TPU v5 lite", "TPU v5": "TPU v5p"}

# What JAX says, and our word for it; the first match counts.
ERRORS = (("must be >=", "too_few_devices"),
          ("Number of slices", "granule_count_mismatch"),
          ("Number of devices", "device_count_mismatch"),
          ("does not have attribute", "missing_granule_attribute"),
          ("Failed to find assignment", "no_axis_assignment"),
          ("one device per chip", "needs_one_device_per_chip"),
          ("contiguous submeshes for physical", "contiguous_topology_unsupported"),
          ("contiguous submeshes for mesh_shape", "contiguous_shape_unsupported"),
          ("multi-slice", "several_slices"))


class Device:
    """What JAX reads of a device; an attribute that is None does not exist."""

    def __init__(self, platform, kind, row):
        number, process, slice_index, x, y, z, core = row
        self.id, self.process_index = number, process
        self.platform, self.device_kind = platform, kind
        if slice_index is not None:
            self.slice_index = slice_index
        if x is not None:
            self.coords, self.core_on_chip = (x, y, z), core


def devices_of(topology, mend_kinds):
    kind = topology["kind"]
    kind = SAME_KIND.get(kind, kind) if mend_kinds else kind
    return [Device(topology["platform"], kind, row) for row in topology["devices"]]


# ---- the release, with and without its faults ----

def prime_factors(n):
    factors = []
    for p in itertools.chain((2,), itertools.count(3, 2)):
        if p * p > n:
            return factors + [n] if n > 1 else factors
        while n % p == 0:
            factors.append(p)
            n //= p


@contextlib.contextmanager
def patched(**functions):
    """Puts functions in the place of those of mesh_utils."""
    old = {name: getattr(mesh_utils, name) for name in functions}
    for name, function in functions.items():
        setattr(mesh_utils, name, function)
    try:
        yield
    finally:
        for name, function in old.items():
            setattr(mesh_utils, name, function)


@contextlib.contextmanager
def reasons(record):
    """Writes to `record` how create_device_mesh finds its answer."""
    assign = mesh_utils._create_device_mesh_for_nd_torus

    def watched_assign(physical_mesh, *args, **kwargs):
        mesh, assignment = assign(physical_mesh, *args, **kwargs)
        record.update(path="nd_torus", physical_shape=list(physical_mesh.shape),
                      assignment=assignment.tolist())
        return mesh, assignment

    def watched(handler):
        def handle(*args, **kwargs):
            mesh = handler(*args, **kwargs)
            if mesh is not None:
                record.update(path="device_kind_table")
            return mesh
        return handle

    handlers = {kind: watched(handler)
                for kind, handler in mesh_utils.device_kind_handler_dict.items()}
    with patched(_create_device_mesh_for_nd_torus=watched_assign, device_kind_handler_dict=handlers):
        yield


def slug_of(error):
    text = str(error)
    for part, slug in ERRORS:
        if part in text:
            return slug
    return "not_a_cuboid" if isinstance(error, AssertionError) else None


def array_of(mesh):
    return {"shape": list(mesh.shape), "ids": [device.id for device in mesh.flat]}


def call(fn, given, devices):
    """The answer of one function, and how it was found."""
    if fn == "prime_factors":
        return mesh_utils._get_prime_factors(given["n"]), {}
    if fn == "create_device_mesh":
        record = {}
        with reasons(record):
            mesh = mesh_utils.create_device_mesh(
                given["mesh_shape"], devices, contiguous_submeshes=given["contiguous_submeshes"],
                allow_split_physical_axes=given["allow_split_physical_axes"])
        return array_of(mesh), record
    if fn == "create_hybrid_device_mesh":
        flags = ("process_is_granule", "should_sort_granules_by_key", "allow_split_physical_axes")
        mesh = mesh_utils.create_hybrid_device_mesh(given["mesh_shape"], given["dcn_mesh_shape"],
                                                    devices, **{flag: given[flag] for flag in flags})
        return array_of(mesh), {}
    if fn == "make_mesh":
        mesh = sharding_impls.make_mesh(given["axis_sizes"], given["axis_names"], devices=devices)
        types = [axis_type.name for axis_type in mesh.axis_types]
        return dict(array_of(mesh.devices), axis_names=list(mesh.axis_names), axis_types=types), {}
    return local_meshes(given, devices), {}


def local_meshes(given, devices):
    by_id = {device.id: device for device in devices}
    flat = np.empty(len(devices), dtype=object)
    flat[:] = [by_id[number] for number in given["ids"]]
    mesh = jax_mesh.Mesh(flat.reshape(given["mesh_shape"]), ("a", "b"))
    answer = {}
    for process in sorted({device.process_index for device in devices}):
        try:
            answer[str(process)] = array_of(mesh._local_mesh(process).devices)
        except ValueError:
            answer[str(process)] = None
    return answer


def ask(fn, given, topologies, mend_primes=False, mend_kinds=False):
    """The part of a case that is the answer."""
    topology = topologies.get(given.get("topology"))
    devices = devices_of(topology, mend_kinds) if topology else []
    mended = {"_get_prime_factors": lambda n: prime_factors(int(n))} if mend_primes else {}
    with patched(**mended):
        try:
            output, record = call(fn, given, devices)
        except (ValueError, AssertionError, NotImplementedError, TypeError) as error:
            return {"error": {"type": type(error).__name__, "kind": slug_of(error)}}
    return dict(output=output, **record)


# ---- questions ----

def spread(rng, total, rank):
    """`rank` sizes whose product is `total`."""
    sizes = [1] * rank
    for factor in prime_factors(total):
        sizes[rng.randrange(rank)] *= factor
    return sizes


def machine_without_places(rng):
    platform, kind = rng.choice((("cpu", "cpu"), ("gpu", "NVIDIA H100"), ("gpu", "AMD MI300X")))
    processes, each = rng.choice((1, 2, 3, 4, 6, 8)), rng.choice((1, 2, 4, 8))
    slices = rng.choice([0, 0] + [n for n in (1, 2, 4) if processes % n == 0])
    rows = [[number, number // each, number // each * slices // processes if slices else None,
             None, None, None, None] for number in range(processes * each)]
    return {"platform": platform, "kind": kind, "devices": rows}


def tpu_slices(rng):
    kind, cores, flat = rng.choice(TPU_KINDS)
    cores = rng.choice((cores, cores, cores, 1, 2))
    sides = (1, 1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 8)
    while True:
        dims = [rng.choice(sides), rng.choice(sides), 1 if flat else rng.choice(sides)]
        if math.prod(dims) * cores <= 512:
            break
    low = [0, 0, 0] if rng.random() < 0.8 else [rng.randrange(5), rng.randrange(5), 0]
    slices = rng.choice((1, 1, 1, 2, 3))
    hosts_x = (dims[0] + 1) // 2
    hosts = hosts_x * ((dims[1] + 1) // 2) * dims[2]
    rows = []
    for s, z, y, x, core in itertools.product(range(slices), range(dims[2]), range(dims[1]),
                                              range(dims[0]), range(cores)):
        host = s * hosts + (z * ((dims[1] + 1) // 2) + y // 2) * hosts_x + x // 2
        rows.append([len(rows), host, s, low[0] + x, low[1] + y, low[2] + z, core])
    return {"platform": "tpu", "kind": kind, "devices": rows}


def machine(rng):
    topology = tpu_slices(rng) if rng.random() < 0.8 else machine_without_places(rng)
    rows = topology["devices"]
    order = rng.random()
    if order < 0.15:
        rng.shuffle(rows)
    elif order < 0.3:
        rows.reverse()
    elif order < 0.6:
        rows.sort(key=lambda row: row[1])
    if rng.random() < 0.05 and len(rows) > 1:
        del rows[rng.randrange(len(rows))]
    return topology


def question(rng, fn, name, topology):
    rows = topology["devices"]
    count, rank = len(rows), rng.randint(1, 4)
    if fn == "create_device_mesh":
        total = count if rng.random() < 0.95 else count + rng.choice((-1, 1))
        return {"topology": name, "mesh_shape": spread(rng, max(total, 1), rank),
                "contiguous_submeshes": rng.random() < 0.15,
                "allow_split_physical_axes": rng.random() < 0.6}
    if fn == "create_hybrid_device_mesh":
        by_process = rng.random() < 0.4 or rows[0][2] is None and rng.random() < 0.8
        granules = len({row[1 if by_process else 2] for row in rows})
        inner = count // granules if rng.random() < 0.95 else count
        outer = granules if rng.random() < 0.95 else granules + 1
        return {"topology": name, "mesh_shape": spread(rng, max(inner, 1), rank),
                "dcn_mesh_shape": spread(rng, outer, rank), "process_is_granule": by_process,
                "should_sort_granules_by_key": rng.random() < 0.7,
                "allow_split_physical_axes": rng.random() < 0.6}
    if fn == "make_mesh":
        total = rng.choice((count, count, count // 2 or 1, count // 4 or 1, count + 1))
        return {"topology": name, "axis_sizes": spread(rng, total, rank),
                "axis_names": list("abcd"[:rank])}
    ids = [row[0] for row in rows]
    if rng.random() < 0.3:
        rng.shuffle(ids)
    return {"topology": name, "mesh_shape": spread(rng, count, 2), "ids": ids}


def fault_names(fn, given, topologies, answer):
    """The faults of the release that change this answer."""
    kind = topologies.get(given.get("topology"), {}).get("kind")
    names = []
    if ask(fn, given, topologies, mend_primes=True) != answer:
        names.append("prime factors")
    if ask(fn, given, topologies, mend_kinds=True) != answer:
        names.append(f"kind {kind}")
    if not names and ask(fn, given, topologies, mend_primes=True, mend_kinds=True) != answer:
        names.append(f"prime factors with kind {kind}")
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    topologies, cases, differences = {}, [], []
    for fn in ("create_device_mesh", "create_hybrid_device_mesh", "make_mesh", "local_mesh",
               "prime_factors"):
        for number in range(options.count):
            if fn == "prime_factors":
                given = {"n": rng.choice((rng.randint(1, 200), rng.randint(1, 10**6)))}
            else:
                name = f"machine {len(topologies)}"
                topologies[name] = machine(rng)
                given = question(rng, fn, name, topologies[name])
            answer = ask(fn, given, topologies)
            case = dict(id=f"{fn}/{number}", fn=fn, input=given, **answer)
            faults = fault_names(fn, given, topologies, answer)
            if faults:
                differences.append(dict(case, faults=faults))
                continue
            if "error" in answer and answer["error"]["kind"] is None:
                raise SystemExit(f"no word for the failure of {json.dumps(case)}")
            cases.append(case)
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump({"meta": {"oracle": "jax 0.10.2", "seed": options.seed}, "topologies": topologies,
                   "cases": cases, "known_differences": differences}, out)
    counts = collections.Counter(fault for case in differences for fault in case["faults"])
    detail = ", ".join(f"{fault}: {count}" for fault, count in sorted(counts.items()))
    print(f"known differences of release 0.10.2: {len(differences)} ({detail or 'none'})")


if __name__ == "__main__":
    main()
