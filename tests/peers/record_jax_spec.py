#!/usr/bin/env python3
"""Asks JAX for canonical specs and for the equivalence of shardings, in the schema of
jax_sharding.json."""
import argparse
import json
import random

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

AXES = ("x", "y", "z", "data")

# What JAX says, and our word for it; the first match counts.
ERRORS = (("nested tuple", "nested_tuple"),
          ("`unreduced` and `reduced`", "unreduced_overlaps_reduced"),
          ("overlap with unreduced", "partition_overlaps_unreduced"),
          ("overlap with reduced", "partition_overlaps_reduced"))


# ---- between JSON and JAX ----

def entry_to_jax(entry):
    if isinstance(entry, dict):
        return PartitionSpec.UNCONSTRAINED
    if isinstance(entry, list):
        return tuple(entry_to_jax(member) for member in entry)
    return entry


def entry_to_json(entry):
    if entry is PartitionSpec.UNCONSTRAINED:
        return {"unconstrained": True}
    return list(entry) if isinstance(entry, tuple) else entry


def error_of(error):
    kind = next((word for text, word in ERRORS if text in str(error)), None)
    if kind is None:
        raise SystemExit(f"no word for {error!r}")
    return {"error": {"type": type(error).__name__, "kind": kind}}


# ---- partition_spec ----

def random_entry(rng, axes):
    draw = rng.random()
    if draw < 0.2:
        return None
    if draw < 0.3:
        return {"unconstrained": True}
    if draw < 0.35:
        return ""
    if draw < 0.6:
        return rng.choice(axes)
    group = rng.sample(axes, rng.randint(0, len(axes)))
    if rng.random() < 0.1:
        group.append(None)
    if rng.random() < 0.1:
        group.append([rng.choice(axes)])
    return group


def ask_spec(rng):
    given = {"entries": [random_entry(rng, AXES) for _ in range(rng.randint(0, 4))]}
    if rng.random() < 0.5:
        given["unreduced"] = rng.sample(AXES, rng.choice((0, 0, 1, 2)))
        given["reduced"] = rng.sample(AXES, rng.choice((0, 0, 1, 2)))
    sets = {name: set(given[name]) for name in ("unreduced", "reduced") if name in given}
    try:
        spec = PartitionSpec(*map(entry_to_jax, given["entries"]), **sets)
    except ValueError as error:
        return dict(input=given, **error_of(error))
    output = {"spec": [entry_to_json(entry) for entry in spec.partitions]}
    for name in sets:
        output[name] = sorted(getattr(spec, name))
    return {"input": given, "output": output}


# ---- equivalent ----

def spread(rng, total, count):
    """`count` sizes whose product is `total`."""
    sizes = []
    for _ in range(count - 1):
        sizes.append(rng.choice([n for n in range(1, total + 1) if total % n == 0]))
        total //= sizes[-1]
    return sizes + [total]


def random_mesh(rng, total):
    count = rng.randint(1, 4)
    names = list(AXES[:count])
    rng.shuffle(names)
    mesh = {"names": names, "sizes": spread(rng, total, count)}
    if rng.random() < 0.15:
        mesh["ids"] = rng.sample(range(total), total)
    return mesh


def random_spec(rng, mesh, ndim):
    left = list(mesh["names"])
    rng.shuffle(left)
    spec = []
    for _ in range(rng.randint(0, ndim)):
        take = min(rng.choice((0, 1, 1, 2, 3)), len(left))
        group, left = left[:take], left[take:]
        if not group:
            spec.append(rng.choice((None, None, {"unconstrained": True})))
        else:
            spec.append(group[0] if take == 1 and rng.random() < 0.5 else group)
    return spec


def sharding_of(mesh, spec):
    total = int(np.prod(mesh["sizes"]))
    ids = mesh.get("ids", range(total))
    devices = np.array([jax.devices()[i] for i in ids]).reshape(mesh["sizes"])
    return NamedSharding(Mesh(devices, mesh["names"]), PartitionSpec(*map(entry_to_jax, spec)))


def ask_equivalent(rng):
    total = rng.choice((1, 2, 4, 6, 8, 12, 16))
    ndim = rng.randint(1, 2)
    first = random_mesh(rng, total)
    second = first if rng.random() < 0.4 else random_mesh(rng, total)
    given = {"mesh1": first, "spec1": random_spec(rng, first, ndim), "mesh2": second,
             "spec2": random_spec(rng, second, ndim), "ndim": ndim}
    a, b = sharding_of(first, given["spec1"]), sharding_of(second, given["spec2"])
    return {"input": given, "output": {"equivalent": a.is_equivalent_to(b, ndim), "equal": a == b}}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    cases = []
    for fn, ask in (("partition_spec", ask_spec), ("equivalent", ask_equivalent)):
        for number in range(options.count):
            cases.append(dict(id=f"{fn}/{number}", fn=fn, **ask(rng)))
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump({"meta": {"oracle": f"jax {jax.__version__}", "seed": options.seed},
                   "cases": cases}, out)


if __name__ == "__main__":
    main()
