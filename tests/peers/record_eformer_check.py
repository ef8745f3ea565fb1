#!/usr/bin/env python3
"""Asks eformer to validate specs of random trees, in the schema of eformer.json.

Left out is what its validator fails on instead of reporting it: groups of axes, axes that the mesh
lacks, specs longer than the rank.
"""
import argparse
import json
import random
import re
import warnings

import jax
import numpy as np
from eformer.escale.partition import auto_spec
from jax.sharding import Mesh, PartitionSpec

AXES = ("dp", "fsdp", "ep", "tp", "sp")
INDIVISIBLE = re.compile(r"^Array at (.*) with shape \(.*\) not divisible by mesh axis (\w+) size (\d+)$")
SMALL = re.compile(r"^Small array at (.*) might not benefit from sharding$")


def random_mesh(rng):
    axes, left = [], len(jax.devices())
    for name in rng.sample(AXES, rng.randint(1, 4)):
        size = rng.choice([n for n in (1, 2, 2, 3, 4, 8) if n <= left])
        left //= size
        axes.append([name, size])
    return {"axes": axes}


def random_leaf(rng, names):
    shape = [rng.choice((0, 1, 2, 3, 5, 6, 8, 16, 24, 31, 32, 100, 1024))
             for _ in range(rng.randint(0, 4))]
    # An axis may stand in two dimensions, which the peer does not notice.
    spec = [rng.choice([None, *names]) for _ in range(rng.randint(0, len(shape)))]
    return ({"$": "array", "shape": shape, "dtype": rng.choice(("float32", "bfloat16", "int8"))},
            {"$": "spec", "spec": spec})


def random_tree(rng, names, depth):
    """A tree of arrays and the tree of their specs."""
    if depth == 0 or rng.random() < 0.2:
        return random_leaf(rng, names)
    children = [random_tree(rng, names, depth - 1) for _ in range(rng.randint(0, 4))]
    if rng.random() < 0.4:
        return [array for array, _ in children], [spec for _, spec in children]
    keys = rng.sample(("w", "b", "kernel", "0", "Layer", "layer_1"), len(children))
    return ({key: array for key, (array, _) in zip(keys, children)},
            {key: spec for key, (_, spec) in zip(keys, children)})


def to_python(tree):
    if isinstance(tree, list):
        return [to_python(child) for child in tree]
    if tree.get("$") == "spec":
        return PartitionSpec(*tree["spec"])
    if tree.get("$") == "array":
        return np.broadcast_to(np.int8(0), tree["shape"])
    return {key: to_python(child) for key, child in tree.items()}


def key_of(entry):
    return str(entry.key if hasattr(entry, "key") else entry.idx)


def leaves_of(tree):
    """The arrays in the order in which JAX visits them, by the peer's name of each path."""
    is_leaf = lambda node: isinstance(node, dict) and node.get("$") == "array"
    found = {}
    for path, leaf in jax.tree_util.tree_flatten_with_path(tree, is_leaf=is_leaf)[0]:
        found[str(path)] = {"path": "/".join(map(key_of, path)), "kind": "array",
                            "shape": leaf["shape"], "dtype": leaf["dtype"]}
    return found


def issue_of(text, leaves):
    match = INDIVISIBLE.match(text)
    if match:
        return {"kind": "not_divisible", "path": leaves[match[1]]["path"], "axis": match[2],
                "axis_size": int(match[3])}
    return {"kind": "small", "path": leaves[SMALL.match(text)[1]]["path"]}


def ask(rng):
    mesh = random_mesh(rng)
    names = [name for name, _ in mesh["axes"]]
    sizes = [size for _, size in mesh["axes"]]
    tree, specs = random_tree(rng, names, rng.randint(0, 3))
    leaves = leaves_of(tree)
    devices = np.array(jax.devices()[:int(np.prod(sizes))]).reshape(sizes)
    issues = auto_spec.validate_sharding_config(to_python(tree), to_python(specs),
                                                Mesh(devices, names))
    return {"mesh": mesh, "mesh_via": "argument", "args": {"tree": tree, "specs": specs},
            "leaves": list(leaves.values()), "result": [issue_of(text, leaves) for text in issues]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = random.Random(options.seed)
    cases = [dict(id=f"validate_sharding_config/{number}", fn="validate_sharding_config", **ask(rng))
             for number in range(options.count)]
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump(cases, out)


if __name__ == "__main__":
    main()
