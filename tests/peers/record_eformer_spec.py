#!/usr/bin/env python3
"""Asks eformer to correct specs and to collect their axis names, in the schema of eformer.json."""
import argparse
import json
import random
import warnings

import jax
import numpy as np
from eformer.escale.partition import constraints
from jax.sharding import Mesh, PartitionSpec

AXES = ("dp", "fsdp", "ep", "tp", "sp")

# The exception, and our word for it.
ERRORS = {"AssertionError": "no_mesh_active", "DuplicateSpecError": "axis_used_twice",
          "TypeError": "not_iterable"}


def to_jax(spec):
    return PartitionSpec(*(PartitionSpec.UNCONSTRAINED if isinstance(entry, dict)
                           else tuple(entry) if isinstance(entry, list) else entry
                           for entry in spec))


def to_json(spec):
    return [list(entry) if isinstance(entry, tuple) else entry for entry in spec]


def answer_of(function):
    try:
        return {"result": function()}
    except Exception as error:  # every failure of the peer is an answer, if we have a word for it
        kind = type(error).__name__
        if kind not in ERRORS:
            raise
        return {"error": {"type": kind, "gist": ERRORS[kind]}}


# ---- correction ----

def random_mesh(rng):
    names = rng.sample(AXES, rng.randint(1, 4))
    axes, left = [], len(jax.devices())
    for name in names:
        size = rng.choice([n for n in (1, 2, 2, 3, 4, 8) if n <= left])
        left //= size
        axes.append([name, size])
    return {"axes": axes}


def random_entry(rng):
    draw = rng.random()
    if draw < 0.2:
        return None
    if draw < 0.27:
        return {"unconstrained": True}
    if draw < 0.65:
        return rng.choice(AXES)
    # An axis twice in a group is rare, but it happens.
    return rng.choices(AXES, k=2) if rng.random() < 0.2 else rng.sample(AXES, rng.randint(2, 3))


def ask_correction(rng):
    mesh = random_mesh(rng) if rng.random() < 0.95 else None
    args = {"shape": [rng.choice((0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 100, 4096))
                      for _ in range(rng.randint(0, 4))],
            "spec": [random_entry(rng) for _ in range(rng.randint(0, 5))]}
    if rng.random() < 0.2 or (mesh is None and rng.random() < 0.5):
        args["raise_mesh_error"] = rng.random() < 0.5

    def correct():
        keywords = {k: v for k, v in args.items() if k == "raise_mesh_error"}
        sharding = constraints.get_corrected_named_sharding(tuple(args["shape"]),
                                                            to_jax(args["spec"]), **keywords)
        return to_json(sharding.spec)

    case = {"mesh": mesh, "mesh_via": "context" if mesh else "none", "args": args}
    if mesh is None:
        return dict(case, **answer_of(correct))
    sizes = [size for _, size in mesh["axes"]]
    devices = np.array(jax.devices()[:int(np.prod(sizes))]).reshape(sizes)
    with Mesh(devices, [name for name, _ in mesh["axes"]]):
        return dict(case, **answer_of(correct))


# ---- names ----

def random_tree(rng, depth):
    draw = rng.random()
    if depth == 0 or draw < 0.3:
        # UNCONSTRAINED has no names, but the peer stumbles over it.
        entries = (random_entry(rng) for _ in range(rng.randint(0, 3)))
        return {"$": "spec", "spec": [None if isinstance(e, dict) else e for e in entries]}
    children = [random_tree(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    if draw < 0.35:
        children.append({"$": "int", "value": rng.randint(0, 9)})
    if draw < 0.6:
        return {f"key{i}": child for i, child in enumerate(children)}
    return children if draw < 0.8 else {"$": "tuple", "items": children}


def tree_to_python(tree):
    if isinstance(tree, list):
        return [tree_to_python(child) for child in tree]
    if tree.get("$") == "spec":
        return to_jax(tree["spec"])
    if tree.get("$") == "int":
        return tree["value"]
    if tree.get("$") == "tuple":
        return tuple(tree_to_python(child) for child in tree["items"])
    return {key: tree_to_python(child) for key, child in tree.items()}


def ask_names(rng):
    tree = random_tree(rng, rng.randint(0, 3))
    answer = answer_of(
        lambda: sorted(constraints.get_names_from_partition_spec(tree_to_python(tree))))
    return dict(mesh=None, args={"specs": tree}, **answer)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = random.Random(options.seed)
    cases = []
    for fn, ask in (("get_corrected_named_sharding", ask_correction),
                    ("get_names_from_partition_spec", ask_names)):
        for number in range(options.count):
            cases.append(dict(id=f"{fn}/{number}", fn=fn, **ask(rng)))
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump(cases, out)


if __name__ == "__main__":
    main()
