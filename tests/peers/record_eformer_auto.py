#!/usr/bin/env python3
"""Asks eformer for automatic specs: auto_spec, MeshPartitionHelper and the rules by memory and shape.

Equal sizes are sorted by numpy's default argsort, whose order depends on the processor; here it is
made stable, which is what we promise. Answers that no mesh can place, that exceed the limit they were
given, or that use an axis twice are marked as defects, which the golden runner leaves out.
"""
import argparse
import json
import random
import warnings

import jax
import numpy as np
from eformer.escale.helpers import base as helpers
from eformer.escale.mesh.mesh_helpers import MeshPartitionHelper
from eformer.escale.partition import auto_spec
from jax.sharding import Mesh, PartitionSpec

AXES = ("dp", "fsdp", "ep", "tp", "sp")
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64, 96, 100, 128, 512, 1000, 1024, 4096)
DTYPES = ("float32", "bfloat16", "int8")
ERRORS = {"AssertionError": "no_mesh_active", "KeyError": "unknown_axis", "TypeError": "not_an_array"}

default_argsort = np.argsort


def stable_argsort(values, *args, **keywords):
    keywords.setdefault("kind", "stable")
    return default_argsort(values, *args, **keywords)


def to_json(spec):
    return [list(entry) if isinstance(entry, tuple) else entry for entry in spec]


def to_jax(spec):
    return PartitionSpec(*(tuple(e) if isinstance(e, list) else e for e in spec))


def answer_of(function):
    try:
        return {"result": function()}
    except Exception as error:  # every failure of the peer is an answer, if we have a word for it
        kind = type(error).__name__
        if kind not in ERRORS:
            raise
        return {"error": {"type": kind, "gist": ERRORS[kind]}}


# ---- questions ----

def random_mesh(rng):
    axes, left = [], len(jax.devices())
    for name in rng.sample(AXES, rng.randint(1, 4)):
        size = rng.choice([n for n in (1, 2, 2, 3, 4, 8) if n <= left])
        left //= size
        axes.append([name, size])
    return {"axes": axes}


def make_mesh(mesh):
    sizes = [size for _, size in mesh["axes"]]
    devices = np.array(jax.devices()[:int(np.prod(sizes))]).reshape(sizes)
    return Mesh(devices, [name for name, _ in mesh["axes"]])


def random_array(rng):
    shape = [rng.choice(SIZES) for _ in range(rng.randint(0, 4))]
    while np.prod(shape) > 1 << 22:
        shape[shape.index(max(shape))] = 2
    if rng.random() < 0.03 and shape:
        shape[0] = 0
    return {"$": "array", "shape": shape, "dtype": rng.choice(DTYPES)}


def make_array(array):
    return np.zeros(array["shape"], dtype=jax.numpy.dtype(array["dtype"]))


def random_names(rng, mesh):
    names = [name for name, _ in mesh["axes"]]
    chosen = []
    for _ in range(rng.randint(1, 3)):
        if rng.random() < 0.3 and len(names) > 1:
            chosen.append(rng.sample(names, 2))
        else:
            chosen.append(rng.choice(names) if rng.random() < 0.97 else "ghost")
    return chosen


# ---- faults of the peer ----

def axes_of(spec):
    return [a for e in spec if e is not None for a in (e if isinstance(e, list) else [e])]


def shards_of(spec, mesh):
    sizes = dict(map(tuple, mesh["axes"]))
    return [int(np.prod([sizes[a] for a in axes_of([entry])])) for entry in spec]


def fault_of(spec, shape, mesh):
    if len(set(axes_of(spec))) != len(axes_of(spec)):
        return "axis_used_twice"
    if any(size % shards for size, shards in zip(shape, shards_of(spec, mesh))):
        return "spec_cannot_be_placed"
    return None


def shard_bytes(spec, array, mesh):
    elements = int(np.prod(array["shape"])) // int(np.prod(shards_of(spec, mesh)))
    return elements * make_array(dict(array, shape=[])).itemsize


# ---- asking ----

def ask_auto(rng, function):
    mesh, array = random_mesh(rng), random_array(rng)
    args = {"array": array}
    if rng.random() < 0.5:
        args["names"] = random_names(rng, mesh)
    if rng.random() < 0.4:
        args["min_sharding_size"] = rng.choice((0, 1, 16, 100, 1024, 16384, -1))
    if rng.random() < 0.4:
        args["reverse"] = rng.random() < 0.7
    via = rng.choice(("argument", "context"))
    names = [tuple(n) if isinstance(n, list) else n for n in args.get("names", [])] or None
    keywords = {k: v for k, v in args.items() if k not in ("array", "names")}

    def ask():
        given = make_mesh(mesh)
        if via == "argument":
            return to_json(function(make_array(array), mesh=given, names=names, **keywords))
        with given:
            return to_json(function(make_array(array), names=names, **keywords))

    case = dict(mesh=mesh, mesh_via=via, args=args, **answer_of(ask))
    fault = fault_of(case["result"], array["shape"], mesh) if "result" in case else None
    if "result" in case and "ghost" in str(args.get("names")):
        fault = "unknown_axis_unnoticed"
    return dict(case, defect=fault) if fault else case


def ask_named(rng):
    def function(array, mesh=None, **keywords):
        try:
            return auto_spec.auto_namedsharding(mesh=mesh, **keywords)(array).spec
        except KeyError:
            raise
        except Exception:  # an axis twice, which only jax finds: see the fault of the spec itself
            return auto_spec.auto_partition_spec(array, mesh=mesh, **keywords)
    case = ask_auto(rng, function)
    return dict(case, defect="mesh_is_none") if case["mesh_via"] == "context" else case


def ask_methods(rng):
    mesh, shape = random_mesh(rng), random_array(rng)["shape"]
    methods = MeshPartitionHelper(make_mesh(mesh))._suggest_methods(tuple(shape))
    return dict(mesh=mesh, mesh_via="argument", args={"shape": shape},
                result=[list(m) for m in methods])


def ask_helper(rng):
    mesh, shape = random_mesh(rng), random_array(rng)["shape"]
    args = {"shape": shape}
    if rng.random() < 0.7:
        args["min_shard_size"] = rng.choice((1, 4, 128, 1024))
    helper = MeshPartitionHelper(make_mesh(mesh))
    spec = to_json(helper.create_partition_spec(tuple(shape), helper._suggest_methods(tuple(shape)),
                                                **{k: v for k, v in args.items() if k != "shape"}))
    case = dict(mesh=mesh, mesh_via="argument", args=args, result=spec)
    fault = fault_of(spec, shape, mesh)
    return dict(case, defect=fault) if fault else case


def ask_memory_rule(rng):
    mesh = random_mesh(rng)
    args = {"max_memory_per_device": rng.choice((16, 1000, 4096, 100000)),
            "arrays": [[f"p{i}", random_array(rng)] for i in range(rng.randint(1, 3))]}
    rule = helpers.MemoryConstrainedShardingRule(args["max_memory_per_device"], make_mesh(mesh))
    return dict(mesh=mesh, mesh_via="argument", args=args,
                result=[[name, to_json(rule._calculate_partition_spec(make_array(array)))]
                        for name, array in args["arrays"]])


def random_leaves(rng):
    return {key: random_array(rng) for key in sorted(rng.sample("abcdef", rng.randint(1, 4)))}


def as_leaves(arrays):
    return [{"path": key, "kind": "array", "shape": a["shape"], "dtype": a["dtype"]}
            for key, a in arrays.items()]


def ask_shape_rule(rng):
    arrays = random_leaves(rng)
    patterns = []
    for array in rng.choices(list(arrays.values()), k=rng.randint(0, 3)):
        dims = [None if rng.random() < 0.5 else size for size in array["shape"]]
        if dims not in [p[0] for p in patterns]:
            patterns.append([dims, [rng.choice(AXES + (None,)) for _ in dims]])
    rule = helpers.ShapeBasedShardingRule({tuple(d): to_jax(s) for d, s in patterns})
    result = rule.apply({key: make_array(array) for key, array in arrays.items()})
    return dict(mesh=None, args={"patterns": patterns, "tree": arrays}, leaves=as_leaves(arrays),
                result=[[key, to_json(spec)] for key, spec in result.items()])


def ask_limit(rng):
    mesh, arrays = random_mesh(rng), random_leaves(rng)
    args = {"tree": arrays}
    if rng.random() < 0.95:
        args["max_memory_per_device"] = rng.choice((1, 256, 4096, 65536, 1000000))
    if rng.random() < 0.4:
        args["names"] = [n for n in random_names(rng, mesh) if isinstance(n, str)]
    keywords = {k: v for k, v in args.items() if k != "tree"}

    def ask():
        tree = {key: make_array(array) for key, array in arrays.items()}
        specs = auto_spec.optimize_sharding_for_memory(tree, mesh=make_mesh(mesh), **keywords)
        return [[key, to_json(specs[key])] for key in arrays]

    case = dict(mesh=mesh, mesh_via="argument", args=args, leaves=as_leaves(arrays),
                **answer_of(ask))
    if "result" not in case:
        return case
    limit = args.get("max_memory_per_device")
    if limit is None:
        return dict(case, defect="limit_absent_replicates")
    if any(shard_bytes(spec, arrays[key], mesh) > limit for key, spec in case["result"]):
        return dict(case, defect="limit_exceeded_silently")
    if "ghost" in str(args.get("names")):
        return dict(case, defect="unknown_axis_unnoticed")
    return case


QUESTIONS = {
    "auto_partition_spec": lambda rng: ask_auto(rng, auto_spec.auto_partition_spec),
    "vrn_auto_partition_spec": lambda rng: ask_auto(rng, auto_spec.vrn_auto_partition_spec),
    "auto_namedsharding": ask_named,
    "MeshPartitionHelper.suggest_methods": ask_methods,
    "MeshPartitionHelper.create_partition_spec": ask_helper,
    "MemoryConstrainedShardingRule": ask_memory_rule,
    "ShapeBasedShardingRule": ask_shape_rule,
    "optimize_sharding_for_memory": ask_limit,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    np.argsort = stable_argsort
    rng = random.Random(options.seed)
    cases = [dict(id=f"{fn}/{number}", fn=fn, **ask(rng))
             for fn, ask in QUESTIONS.items() for number in range(options.count)]
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump(cases, out)


if __name__ == "__main__":
    main()
