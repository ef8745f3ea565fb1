#!/usr/bin/env python3
"""Asks eformer to place arrays and to tell how they lie, in the schema of eformer.json.

Where eformer itself is at fault the case says so (`defect`), and is not counted: arrays in host memory
that shard functions and auto_shard_array return uncut, and the empty spec, which leaves what a shard
function is given on its one device."""
import argparse
import json
import random
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from eformer.escale.partition import auto_spec, constraints
from jax.sharding import Mesh, NamedSharding, PartitionSpec

AXES = ("dp", "fsdp", "ep", "tp", "sp")
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32)
DTYPES = ("float32", "int32", "bfloat16", "int8", "bool")
ERRORS = {"AssertionError": "no_mesh_active", "DuplicateSpecError": "axis_used_twice",
          "KeyError": "unknown_axis", "AttributeError": "leaf_has_no_spec"}
# What the message of a ValueError says, and our word for it.
KINDS = (("Unsupported leaf type", "unsupported_leaf"), ("not found in mesh", "axis_not_in_mesh"))

default_argsort = np.argsort


def stable_argsort(values, *args, **keywords):
    keywords.setdefault("kind", "stable")
    return default_argsort(values, *args, **keywords)


def gist_of(error):
    kind = type(error).__name__
    if kind in ERRORS:
        return ERRORS[kind]
    for words, gist in KINDS:
        if words in str(error):
            return gist
    raise error


def answer_of(function):
    try:
        return {"result": function()}
    except Exception as error:  # every failure of the peer is an answer, if we have a word for it
        return {"error": {"type": type(error).__name__, "gist": gist_of(error)}}


# ---- values, in Python and in JSON ----

def to_json(spec):
    return [list(entry) if isinstance(entry, tuple) else entry for entry in spec]


def to_spec(entries):
    return PartitionSpec(*(PartitionSpec.UNCONSTRAINED if isinstance(e, dict) else
                           tuple(e) if isinstance(e, list) else e for e in entries))


def make_mesh(mesh):
    sizes = [size for _, size in mesh["axes"]]
    ids = mesh.get("devices", range(int(np.prod(sizes))))
    devices = np.array([jax.devices()[i] for i in ids]).reshape(sizes)
    return Mesh(devices, [name for name, _ in mesh["axes"]])


def make_leaf(leaf, mesh):
    """The Python value of a leaf, or of a whole tree."""
    if leaf is None or isinstance(leaf, list):
        return leaf and [make_leaf(item, mesh) for item in leaf]
    kind = leaf.get("$")
    if kind is None:
        return {key: make_leaf(item, mesh) for key, item in leaf.items()}
    if kind in ("int", "float", "bool", "str"):
        return {"int": int, "float": float, "bool": bool, "str": str}[kind](leaf["value"])
    dtype = jnp.dtype(leaf["dtype"])
    if kind == "numpy_scalar":
        return dtype.type(leaf["value"])
    sharding = NamedSharding(mesh, to_spec(leaf["spec"])) if "spec" in leaf else None
    if kind == "abstract":
        return jax.ShapeDtypeStruct(tuple(leaf["shape"]), dtype, sharding=sharding)
    values = np.arange(int(np.prod(leaf["shape"]))).reshape(leaf["shape"]).astype(dtype)
    if kind == "array":
        return values
    # Without a sharding it is on the first device, but free to go elsewhere.
    return jax.device_put(values, sharding) if sharding else jnp.asarray(values)


def describe(value, shards=True):
    if not isinstance(value, jax.Array):
        return {"kind": "not_a_jax_array"}
    sharding = value.sharding
    if not isinstance(sharding, NamedSharding):
        return {"kind": "single_device"}
    answer = {"kind": "named", "spec": to_json(sharding.spec)}
    if shards:
        answer["shards"] = [
            [shard.device.id,
             [list(part.indices(size)[:2]) for part, size in zip(shard.index, value.shape)]]
            for shard in sorted(value.addressable_shards, key=lambda s: s.device.id)]
    return answer


def flatten(tree, path=""):
    """The leaves in the order of their visits, as eformer.json lists them."""
    if tree is None:
        return
    if isinstance(tree, dict) and "$" in tree:
        leaf = {key: value for key, value in tree.items() if key != "$"}
        yield dict(path=path, kind=tree["$"], **leaf)
        return
    items = sorted(tree.items()) if isinstance(tree, dict) else enumerate(tree)
    for key, item in items:
        yield from flatten(item, f"{path}/{key}" if path else str(key))


# ---- random ones ----

def random_mesh(rng):
    axes, left = [], 16
    for name in rng.sample(AXES, rng.randint(1, 4)):
        size = rng.choice([n for n in (1, 2, 2, 3, 4, 8) if n <= left])
        left //= size
        axes.append([name, size])
    mesh = {"axes": axes}
    if rng.random() < 0.3:
        mesh["devices"] = rng.sample(range(16), int(np.prod([size for _, size in axes])))
    return mesh


def random_entry(rng, names):
    draw = rng.random()
    if draw < 0.25:
        return None
    if draw < 0.75 or len(names) < 2:
        return rng.choice(names)
    return rng.sample(names, 2)


def random_spec(rng, mesh, rank, wild=True):
    """Any spec, or if not `wild` one that the mesh can take for sizes that divide."""
    names = [name for name, _ in mesh["axes"]]
    if wild:
        pool = names + ["ghost"] * (rng.random() < 0.3)
        spec = [random_entry(rng, pool) for _ in range(max(0, rank + rng.choice((-1, 0, 0, 0, 1))))]
        # Repetitions are rare, so that most answers are no errors.
        if rng.random() < 0.9:
            return without_repeats(spec)
        return [{"unconstrained": True} if rng.random() < 0.2 else entry for entry in spec]
    return without_repeats([random_entry(rng, names) for _ in range(rank)])


def without_repeats(spec):
    used, kept = set(), []
    for entry in spec:
        members = entry if isinstance(entry, list) else [entry]
        again = any(member in used for member in members if member is not None)
        used.update(members)
        kept.append(None if again else entry)
    return kept


def random_shape(rng, most=4):
    shape = [rng.choice(SIZES) for _ in range(rng.randint(0, most))]
    if shape and rng.random() < 0.04:
        shape[rng.randrange(len(shape))] = 0
    return shape


def random_array(rng, mesh, kinds=("jax", "jax", "jax_sharded")):
    kind = rng.choice(kinds)
    leaf = {"$": kind, "shape": random_shape(rng), "dtype": rng.choice(DTYPES)}
    if kind in ("jax_sharded", "abstract"):
        sizes = dict(map(tuple, mesh["axes"]))
        spec = random_spec(rng, mesh, len(leaf["shape"]), wild=False)
        # An array must be there to be moved: only what divides is cut.
        leaf["spec"] = [entry if size % int(np.prod(
            [sizes[a] for a in (entry if isinstance(entry, list) else [entry]) if a])) == 0
            else None for entry, size in zip(spec, leaf["shape"])]
        if rng.random() < 0.3:
            leaf["spec"] = leaf["spec"][:-1]
    return leaf


def random_tree(rng, mesh, depth, kinds, others):
    draw = rng.random()
    if depth == 0 or draw < 0.4:
        return rng.choice(others)() if others and rng.random() < 0.3 else \
            random_array(rng, mesh, kinds)
    if draw < 0.5:
        return None
    if draw < 0.7:
        return [random_tree(rng, mesh, depth - 1, kinds, others) for _ in range(rng.randint(0, 3))]
    return {rng.choice("abcdwxyz") + str(i): random_tree(rng, mesh, depth - 1, kinds, others)
            for i in range(rng.randint(0, 3))}


# ---- asking ----

def with_mesh(mesh, via, function):
    """Calls it with the mesh as an argument, or with None inside the mesh's scope."""
    if via == "context":
        with make_mesh(mesh):
            return function(None)
    return function(make_mesh(mesh) if via == "argument" else None)


def ask_constraint(rng):
    mesh, via = random_mesh(rng), rng.choice(("context", "named", "context", "none"))
    array = random_array(rng, mesh)
    spec = random_spec(rng, mesh, len(array["shape"]))
    sharding = to_spec(spec)
    if via == "named":  # checked when it is made, which is JAX's affair
        known = {name for name, _ in mesh["axes"]}
        spec = without_repeats([e for e in spec if not isinstance(e, dict)])
        spec = [e if all(a in known for a in (e if isinstance(e, list) else [e]) if a) else None
                for e in spec]
        sharding = NamedSharding(make_mesh(mesh), to_spec(spec))
    value = make_leaf(array, make_mesh(mesh))
    case = {"mesh": mesh, "mesh_via": via, "args": {"array": array, "spec": spec}}
    return case | answer_of(lambda: with_mesh(mesh, via, lambda _: describe(
        constraints.with_sharding_constraint(value, sharding))))


OTHERS = (lambda: {"$": "int", "value": 3}, lambda: {"$": "float", "value": 2.5},
          lambda: {"$": "bool", "value": 1})


def host_array():
    return {"$": "array", "shape": [4], "dtype": "float32"}


def ask_constraint_tree(rng):
    mesh, via = random_mesh(rng), "context" if rng.random() < 0.9 else "none"
    tree = {"t": random_tree(rng, mesh, 3, ("jax", "jax_sharded"), OTHERS + (host_array,))}
    spec = random_spec(rng, mesh, rng.randint(0, 3))
    value = make_leaf(tree, make_mesh(mesh))
    leaves = list(flatten(tree))
    case = {"mesh": mesh, "mesh_via": via, "args": {"tree": tree, "spec": spec}, "leaves": leaves}

    def ask(_):
        placed = constraints.with_sharding_constraint(value, to_spec(spec))
        return [[leaf["path"], describe(part, shards=False)]
                for leaf, part in zip(leaves, jax.tree_util.tree_leaves(placed))]
    return case | answer_of(lambda: with_mesh(mesh, via, ask))


def ask_shard_and_gather(rng):
    mesh = random_mesh(rng)
    via = rng.choice(("argument", "argument", "context", "none"))
    names = [f"w{i}" for i in range(rng.randint(0, 3))]
    arrays = [[name, random_array(rng, mesh, ("jax", "jax", "jax_sharded", "array"))]
              for name in names]
    specs = [[name, random_spec(rng, mesh, len(array["shape"]), wild=rng.random() < 0.3)]
             for name, array in arrays]
    values = {name: make_leaf(array, make_mesh(mesh)) for name, array in arrays}

    def ask(given):
        shard, gather = constraints.make_shard_and_gather_fns(
            {name: to_spec(spec) for name, spec in specs}, given)
        answer = []
        for name in names:
            placed = shard[name](values[name])
            back = gather[name](placed)
            answer.append([name, {
                "placed": describe(placed),
                "gathered_equal": bool(np.array_equal(np.asarray(values[name]), back)),
                "gathered_is_host": isinstance(back, np.ndarray)}])
        return answer
    case = {"mesh": mesh, "mesh_via": via, "args": {"specs": specs, "arrays": arrays}}
    case |= answer_of(lambda: with_mesh(mesh, via, ask))
    if "result" in case and any(array["$"] == "array" for _, array in arrays):
        case["defect"] = "host_array_not_sharded"
    elif "result" in case and any(not spec for _, spec in specs):
        case["defect"] = "empty_spec_left_alone"
    return case


def ask_structure(rng, function, with_argument):
    mesh = random_mesh(rng)
    via = rng.choice(("argument", "context", "none")) if with_argument else "none"
    tree = random_tree(rng, mesh, 3, ("jax", "jax_sharded", "array", "abstract"), OTHERS)
    value = make_leaf(tree, make_mesh(mesh))
    leaves = list(flatten(tree))

    def ask(given):
        found = function(value, given) if with_argument else function(value)
        parts = jax.tree_util.tree_leaves(found, is_leaf=lambda x: x is None)
        # What is None in the tree itself stays so, and is no leaf of it.
        parts = iter(parts)
        answer = []
        for path, leaf in jax.tree_util.tree_flatten_with_path(value, is_leaf=lambda x: x is None)[0]:
            part = next(parts)
            if leaf is not None:
                answer.append([len(answer), None if part is None else to_json(part.spec)])
        return [[leaves[i]["path"], spec] for i, spec in answer]
    case = {"mesh": mesh, "mesh_via": via, "args": {"tree": tree}, "leaves": leaves}
    return case | answer_of(lambda: with_mesh(mesh, via, ask))


def ask_extract_structure(rng):
    return ask_structure(rng, constraints.extract_sharding_structure, False)


def ask_get_structure(rng):
    return ask_structure(rng, constraints.get_shardings_with_structure, False)


def ask_extract(rng):
    return ask_structure(rng, constraints.extract_shardings, True)


def ask_partition_spec(rng):
    mesh = random_mesh(rng)
    odd = rng.random() < 0.3
    others = OTHERS + (lambda: {"$": "numpy_scalar", "dtype": "float64", "value": 1},)
    if odd:
        others += (lambda: {"$": "str", "value": "x"}, host_array,
                   lambda: {"$": "numpy_scalar", "dtype": "float32", "value": 1},
                   lambda: {"$": "abstract", "shape": [4], "dtype": "float32"})
    tree = random_tree(rng, mesh, 3, ("jax_sharded", "jax") if odd else ("jax_sharded",), others)
    value = make_leaf(tree, make_mesh(mesh))
    leaves = list(flatten(tree))

    def ask():
        specs = jax.tree_util.tree_leaves(constraints.get_partition_spec(value),
                                          is_leaf=lambda x: isinstance(x, PartitionSpec))
        return [[leaf["path"], to_json(spec)] for leaf, spec in zip(leaves, specs)]
    return {"mesh": mesh, "mesh_via": "none", "args": {"tree": tree},
            "leaves": leaves} | answer_of(ask)


def ask_auto_shard(rng):
    mesh, via = random_mesh(rng), rng.choice(("argument", "context"))
    array = random_array(rng, mesh, ("jax", "jax", "jax_sharded", "array"))
    args = {"array": array}
    keywords = {}
    if rng.random() < 0.4:
        args["names"] = keywords["names"] = rng.sample(
            [name for name, _ in mesh["axes"]], rng.randint(1, len(mesh["axes"])))
    if rng.random() < 0.4:
        args["min_sharding_size"] = keywords["min_sharding_size"] = rng.choice((1, 16, 100, 1024))
    if rng.random() < 0.4:
        args["reverse"] = keywords["reverse"] = rng.random() < 0.7
    value = make_leaf(array, make_mesh(mesh))
    case = {"mesh": mesh, "mesh_via": via, "args": args}
    case |= answer_of(lambda: with_mesh(mesh, via, lambda given: describe(
        auto_spec.auto_shard_array(value, mesh=given, **keywords))))
    if array["$"] == "array":
        case["defect"] = "host_array_not_sharded"
    return case


QUESTIONS = {"with_sharding_constraint": ask_constraint,
             "with_sharding_constraint_tree": ask_constraint_tree,
             "make_shard_and_gather_fns": ask_shard_and_gather,
             "extract_sharding_structure": ask_extract_structure,
             "get_shardings_with_structure": ask_get_structure,
             "extract_shardings": ask_extract, "get_partition_spec": ask_partition_spec,
             "auto_shard_array": ask_auto_shard}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    np.argsort = stable_argsort
    rng = random.Random(options.seed)
    cases = []
    for fn, question in QUESTIONS.items():
        for number in range(options.count):
            cases.append(dict(id=f"{fn}/{number}", fn=fn, **question(rng)))
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump(cases, out)


if __name__ == "__main__":
    main()
