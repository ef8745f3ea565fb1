#!/usr/bin/env python3
"""Asks eformer to resolve semantic axes, in the schema of eformer.json.

Where eformer itself is at fault the case says so (`defect`, with the cause), and is not counted."""
import argparse
import dataclasses
import json
import math
import random
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from eformer import common_types
from eformer.escale.partition.manager import PartitionAxis, PartitionManager
from jax.sharding import Mesh, NamedSharding

FIELDS = tuple(field.name for field in dataclasses.fields(PartitionAxis))
TOKENS = tuple(token for token in PartitionAxis._SEMANTIC_MAP if token != "_")
MODES = ("__train__", "__prefill__", "__autoregressive__", "__insert__")
CUSTOM = ("STAGE", "RING", "TILE")
CLASSES = tuple(name for name, value in vars(common_types).items()
                if isinstance(value, type) and issubclass(value, common_types.DynamicShardingAxes)
                and value is not common_types.DynamicShardingAxes)

# What an error's message says, and our word for it; the first that fits.
KINDS = (("unexpected keyword argument", "unknown_field"),
         ("Unknown semantic axis name", "unknown_semantic_axis"),
         ("must be a non-empty string", "empty_semantic_axis"),
         ("already exists", "semantic_axis_already_exists"),
         ("is not registered", "semantic_axis_not_registered"),
         ("Cyclic semantic axis", "cyclic_registration"),
         ("you should provide dynamic axes", "axes_or_mode_missing"),
         ("shape should be provided", "shape_missing_for_dynamic_mode"),
         ("index out of range", "index_out_of_range"),
         ("cannot contain a nested tuple", "nested_axis_group"),
         ("duplicate entries", "axis_used_twice"))


def gist_of(error):
    if isinstance(error, AssertionError):
        return "no_mesh_active"
    if type(error).__name__ == "DuplicateSpecError":
        return "axis_used_twice"
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

def to_python(value):
    if isinstance(value, dict):
        return tuple(to_python(item) for item in value["tuple"])
    return [to_python(item) for item in value] if isinstance(value, list) else value


def to_json(value):
    return [to_json(item) for item in value] if isinstance(value, (list, tuple)) else value


# Fields are tuples in eformer, so that they can be hashed.
def make_axes(fields):
    return PartitionAxis(**{name: tuple(value) if isinstance(value, list) else value
                            for name, value in (fields or {}).items()})


def fault_of(entries):
    """Groups in groups, and nothings in groups, which should have been resolved away."""
    for entry in entries:
        members = entry if isinstance(entry, list) else []
        if any(isinstance(member, list) for member in members):
            return "group_inside_group_not_flattened"
        if entry == "_" or any(member is None or member == "_" for member in members):
            return "nothing_token_kept_in_group"
    return None


def with_fault(case):
    """Adds `defect` where the answer is a list of entries that shows one."""
    result = case.get("result")
    fault = fault_of(result) if isinstance(result, list) else None
    if case.get("error", {}).get("gist") == "nested_axis_group":
        fault = "group_inside_group_not_flattened"
    return dict(case, defect=fault) if fault else case


# ---- random ones ----

def random_value(rng):
    draw = rng.random()
    if draw < 0.2:
        return None
    if draw < 0.6:
        return rng.choice(("dp", "fsdp", "tp", "sp", "ep", "x", "y"))
    return rng.sample(("dp", "fsdp", "tp", "sp", "ep", "x"), rng.randint(1, 3))


def random_fields(rng):
    if rng.random() < 0.2:
        return None
    fields = {name: random_value(rng) for name in rng.sample(FIELDS, rng.randint(1, 5))}
    # The five that name mesh axes hold one name each.
    for name in fields:
        if name.endswith("parallel_axis") and not isinstance(fields[name], str):
            fields[name] = "m" + name[0]
    if rng.random() < 0.03:
        fields["no_such_axis"] = "x"
    return fields


def random_member(rng):
    draw = rng.random()
    if draw < 0.6:
        return rng.choice(TOKENS)
    if draw < 0.75:
        return rng.choice(FIELDS)
    if draw < 0.85:
        return rng.choice(CUSTOM)
    return rng.choice(("pp", "tp", None, "_"))


def random_axes(rng):
    axes = []
    for _ in range(rng.randint(0, 5)):
        draw = rng.random()
        if draw < 0.65:
            axes.append(rng.choice(TOKENS))
        elif draw < 0.75:
            axes.append(rng.choice(CUSTOM + (None, "_")))
        elif draw < 0.78:
            axes.append(rng.choice(("tp", "head_axis", "nobody")))
        else:
            group = [random_member(rng) for _ in range(rng.randint(0, 3))]
            axes.append(group if rng.random() < 0.7 else {"tuple": group})
    return axes


def random_rule(rng):
    draw = rng.random()
    if draw < 0.15:
        return None
    if draw < 0.7:
        return rng.choice((rng.choice(FIELDS), rng.choice(TOKENS), rng.choice(CUSTOM), "pp"))
    group = [random_member(rng) for _ in range(rng.randint(1, 3))]
    return group if rng.random() < 0.5 else {"tuple": group}


def random_registry(rng):
    ops = []
    for _ in range(rng.randint(1, 4)):
        draw = rng.random()
        name = rng.choice(CUSTOM) if rng.random() < 0.9 else rng.choice(TOKENS)
        if draw < 0.05:
            ops.append({"op": "clear"})
        elif draw < 0.15:
            ops.append({"op": "unregister", "semantic_axis": name,
                        "missing_ok": rng.random() < 0.7})
        else:
            op = {"op": "register", "semantic_axis": f" {name} " if draw < 0.2 else name,
                  "axis_rule": random_rule(rng)}
            if rng.random() < 0.3:
                op["generation_axis_rule"] = random_rule(rng)
            if rng.random() < 0.7:
                op["override"] = True
            ops.append(op)
    return ops


def run_registry(ops):
    for op in ops:
        if op["op"] == "clear":
            PartitionAxis.clear_registered_axes()
        elif op["op"] == "unregister":
            PartitionAxis.unregister(op["semantic_axis"], missing_ok=op["missing_ok"])
        else:
            keywords = {key: to_python(op[key]) for key in ("generation_axis_rule", "override")
                        if key in op}
            PartitionAxis.register(op["semantic_axis"], to_python(op["axis_rule"]), **keywords)


def with_registry(ops, function):
    PartitionAxis.clear_registered_axes()
    try:
        run_registry(ops)
        return function()
    finally:
        PartitionAxis.clear_registered_axes()


# ---- PartitionAxis ----

def all_fields(axes):
    return {name: to_json(getattr(axes, name)) for name in FIELDS}


def ask_fields(rng):
    fields = random_fields(rng)
    if rng.random() < 0.7:
        return {"args": {"paxis": fields}, **answer_of(lambda: all_fields(make_axes(fields)))}
    change = random_fields(rng) or {}
    change.pop("no_such_axis", None)
    args = {"paxis": fields, "replace": change}

    def replace():
        return all_fields(make_axes(fields).replace(
            **{name: tuple(value) if isinstance(value, list) else value
               for name, value in change.items()}))
    case = {"args": args, **answer_of(replace)}
    # Had the changes been given at once, derived fields would follow them.
    if "result" in case and case["result"] != all_fields(make_axes({**(fields or {}), **change})):
        case["defect"] = "derived_fields_stay_stale"
    return case


def ask_resolve(rng, method):
    fields, axes = random_fields(rng), random_axes(rng)
    fields = {k: v for k, v in (fields or {}).items() if k != "no_such_axis"}
    mode = rng.choice(MODES) if rng.random() < 0.97 else rng.choice((None, "__trian__", 3))
    args = {"paxis": fields, "axes": axes, "mode": mode}
    ops = random_registry(rng) if rng.random() < 0.6 else []
    if ops:
        args["registry"] = ops
    case = {"args": args, **answer_of(lambda: to_json(with_registry(
        ops, lambda: tuple(getattr(make_axes(fields), method)(to_python(axes), mode)))))}
    if mode not in MODES:
        case["defect"] = "unknown_mode_accepted"
    return with_fault(case)


def ask_resolve_axis(rng):
    return ask_resolve(rng, "resolve_axis")


def ask_resolve_spec(rng):
    return ask_resolve(rng, "resolve_spec")


def ask_hash_equal(rng):
    left = random_fields(rng) or {}
    left.pop("no_such_axis", None)
    right = dict(left)
    if rng.random() < 0.7 and right:
        name = rng.choice(list(right))
        right[name] = "q" if rng.random() < 0.5 else right.pop(name)
    a, b = make_axes(left), make_axes(right)
    return {"args": {"left": left, "right": right},
            "result": {"equal": all_fields(a) == all_fields(b), "hash_equal": hash(a) == hash(b)}}


# ---- PartitionManager ----

def ask_class(rng):
    name = rng.choice(CLASSES)
    value = getattr(common_types, name)
    return {"args": {"class": name}, "result": {"axes": to_json(value.axes), "mode": value.mode}}


def random_request(rng, args):
    """Puts axes, mode and dynamic_axes in `args`; gives eformer's keywords."""
    keywords = {}

    def any_mode():
        return rng.choice(MODES) if rng.random() < 0.5 else rng.randint(-3, 3)

    def any_list():
        if rng.random() < 0.5:
            name = rng.choice(CLASSES)
            return {"class": name}, getattr(common_types, name)
        axes, mode = random_axes(rng), any_mode()
        return ({"axes": axes, "mode": mode},
                common_types.DynamicShardingAxes(axes=to_python(axes), mode=mode))
    if rng.random() < 0.2:
        args["axes"], keywords["axes"] = any_list()
    elif rng.random() < 0.8:
        args["axes"] = random_axes(rng)
        keywords["axes"] = to_python(args["axes"])
    if rng.random() < 0.7:
        args["mode"] = keywords["mode"] = any_mode()
    # Together with a list as axes eformer takes neither.
    if rng.random() < 0.3 and not isinstance(args.get("axes"), dict):
        args["dynamic_axes"], keywords["dynamic_axes"] = any_list()
    return keywords


def ask_manager(rng):
    fields = random_fields(rng) or {}
    fields.pop("no_such_axis", None)
    args = {"paxis": fields}
    keywords = random_request(rng, args)
    if rng.random() < 0.8:
        args["shape"] = [rng.choice((1, 1, 2, 8)) for _ in range(rng.randint(0, 4))]
        keywords["shape"] = tuple(args["shape"])
    ops = random_registry(rng) if rng.random() < 0.2 else []
    if ops:
        args["registry"] = ops
    return with_fault({"args": args, **answer_of(lambda: to_json(with_registry(
        ops, lambda: tuple(PartitionManager(paxis=make_axes(fields)).resolve(**keywords)))))})


def describe(array):
    sharding = array.sharding
    if not isinstance(sharding, NamedSharding):
        return {"kind": "single_device"}
    ranges = {device.id: [list(part.indices(size)[:2]) for part, size in zip(index, array.shape)]
              for device, index in sharding.devices_indices_map(array.shape).items()}
    return {"kind": "named", "spec": to_json(tuple(sharding.spec)),
            "shards": [[device, ranges[device]] for device in sorted(ranges)]}


def random_mesh(rng):
    axes, left = [], 16
    for name in rng.sample(("dp", "fsdp", "ep", "tp", "sp"), rng.randint(1, 4)):
        axes.append([name, rng.choice([n for n in (1, 2, 2, 4) if n <= left])])
        left //= axes[-1][1]
    return {"axes": axes}


def ask_shard(rng):
    mesh = random_mesh(rng) if rng.random() < 0.95 else None
    shape = [rng.choice((1, 4, 6, 8, 16)) for _ in range(rng.randint(1, 4))]
    args = {"paxis": None, "array": {"$": "jax", "shape": shape, "dtype": "float32"}}
    keywords = random_request(rng, args)
    if rng.random() < 0.3:
        args["auto_correct"] = keywords["auto_correct"] = rng.random() < 0.5
    owner = PartitionManager(paxis=PartitionAxis())
    case = {"mesh": mesh, "mesh_via": "context" if mesh else "none", "args": args}

    def shard():
        return describe(owner.shard(jnp.zeros(shape), **keywords))

    def wanted():
        return to_json(tuple(owner.resolve(shape=tuple(shape), **{
            key: value for key, value in keywords.items() if key != "auto_correct"})))
    if mesh is None:
        case |= answer_of(shard)
    else:
        sizes = [size for _, size in mesh["axes"]]
        devices = np.array(jax.devices()[:math.prod(sizes)]).reshape(sizes)
        with Mesh(devices, [name for name, _ in mesh["axes"]]):
            case |= answer_of(shard)
    spec = answer_of(wanted)
    fault = with_fault(spec).get("defect")
    if fault is None and mesh and spec.get("result") and \
            case.get("result", {}).get("kind") == "single_device":
        fault = "corrected_to_nothing_is_left_alone"
    return dict(case, defect=fault) if fault else case


QUESTIONS = {"PartitionAxis": ask_fields, "PartitionAxis.resolve_axis": ask_resolve_axis,
             "PartitionAxis.resolve_spec": ask_resolve_spec,
             "PartitionAxis.hash_equal": ask_hash_equal, "DynamicShardingAxes": ask_class,
             "PartitionManager.resolve": ask_manager, "PartitionManager.shard": ask_shard}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = random.Random(options.seed)
    cases = []
    for fn, question in QUESTIONS.items():
        for number in range(options.count):
            case = question(rng)
            case.setdefault("mesh", None)
            cases.append(dict(id=f"{fn}/{number}", fn=fn, **case))
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump(cases, out)


if __name__ == "__main__":
    main()
