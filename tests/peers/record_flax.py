#!/usr/bin/env python3
"""Asks flax to map logical names by random rules, in the schema of flax.json."""
import argparse
import json
import math
import random

import flax.core.spmd as core
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax.core import meta
from flax.linen import spmd as linen
from jax.sharding import AxisType, Mesh, PartitionSpec

NAMES = ("batch", "length", "embed", "heads", "kv", "mlp", "vocab", "layers", "")
AXES = ("data", "model", "fsdp", "tensor")
MESHES = (("data", "model"), ("data", "fsdp", "tensor"), ("model",))

# What an error's message says, and our word for it; the first that fits.
KINDS = (("occur more than once in array names", "duplicate_logical_name"),
         ("Inconsistent logical axis annotations", "conflicting_rules"),
         ("did not match a rule", "unmatched_axis"),
         ("is required if creating a variable", "mesh_required"),
         ("all axes as Explicit or all axes as Auto", "mixed_axis_types"),
         ("is not found in mesh", "unknown_mesh_axis"),
         ("Resource axis", "unknown_mesh_axis"),
         ("has duplicate entries", "duplicate_mesh_axis"),
         ("pop index out of range", "index_out_of_range"),
         ("pop from empty list", "index_out_of_range"),
         ("UNCONSTRAINED", "unconstrained_needs_auto_axis"),
         ("is only valid for values of rank at least", "rank_too_small"),
         (", P(", "rank_too_small"),  # an assertion that shows rank and spec
         ("can only refer to Auto axes", "constraint_needs_auto_axis"),
         ("should be divisible by", "indivisible"),
         ("does not evenly divide", "indivisible"),
         ("evenly divide", "indivisible"))


class NoWord(Exception):
    pass


def kind_of(error):
    if isinstance(error, AssertionError) and not str(error):
        return "axis_name_mismatch"
    for words, kind in KINDS:
        if words in str(error):
            return kind
    raise NoWord(f"{type(error).__name__}: {error}") from error


def answer_of(function):
    try:
        return {"output": function()}
    except Exception as error:  # every failure of the peer is an answer, if we have a word for it
        return {"error": {"type": type(error).__name__, "kind": kind_of(error)}}


# ---- values, in Python and in JSON ----

def to_python(entry):
    if isinstance(entry, dict):
        return PartitionSpec.UNCONSTRAINED
    return tuple(entry) if isinstance(entry, list) else entry


def to_json(entry):
    if entry is PartitionSpec.UNCONSTRAINED:
        return {"unconstrained": True}
    return list(entry) if isinstance(entry, tuple) else entry


def names_to_python(names):
    return None if names is None else tuple(to_python(entry) for entry in names)


def rules_to_python(rules):
    return None if rules is None else tuple((name, to_python(entry)) for name, entry in rules)


def list_to_json(entries):
    return None if entries is None else [to_json(entry) for entry in entries]


def rules_to_json(rules):
    return [[name, to_json(entry)] for name, entry in rules]


# ---- random ones ----

def random_target(rng, axes=AXES):
    draw = rng.random()
    if draw < 0.2:
        return None
    if draw < 0.25:
        return {"unconstrained": True}
    if draw < 0.7:
        return rng.choice(axes)
    return rng.sample(axes, rng.randint(0, min(3, len(axes))))


def random_rules(rng, most=7, axes=AXES):
    return [[rng.choice(NAMES[:-1]), random_target(rng, axes)] for _ in range(rng.randint(0, most))]


def random_names(rng, most=5, groups=True):
    names = []
    for _ in range(rng.randint(0, most)):
        draw = rng.random()
        if draw < 0.15:
            names.append(None)
        elif draw < 0.2:
            names.append({"unconstrained": True})
        elif draw < 0.3 and groups:
            names.append(rng.sample(AXES, rng.randint(0, 2)))
        else:
            names.append(rng.choice(NAMES[:-1] if draw < 0.97 else NAMES))
    return names


def constrained(names):
    return [name for name in names if not isinstance(name, dict)]


def random_mesh(rng, types=("Auto", "Explicit", "Manual")):
    names = list(rng.choice(MESHES))
    sizes, left = [], len(jax.devices())
    for _ in names:
        sizes.append(rng.choice([n for n in (1, 2, 2, 4) if n <= left]))
        left //= sizes[-1]
    kind = rng.choice(types)
    kinds = [kind if rng.random() < 0.9 else rng.choice(types) for _ in names]
    return {"names": names, "sizes": sizes, "types": kinds}


def to_mesh(mesh):
    if mesh is None:
        return None
    devices = np.array(jax.devices()[:math.prod(mesh["sizes"])]).reshape(mesh["sizes"])
    return Mesh(devices, mesh["names"], axis_types=tuple(AxisType[t] for t in mesh["types"]))


# ---- questions: each gives the input and the answer ----

def ask_logical_to_mesh_axes(rng):
    names = random_names(rng) if rng.random() < 0.98 else None
    rules = random_rules(rng)
    key = "context_rules" if rng.random() < 0.3 else "rules"

    def ask():
        python = rules_to_python(rules)
        if key == "rules":
            return list_to_json(linen.logical_to_mesh_axes(names_to_python(names), python))
        with nn.logical_axis_rules(python):
            return list_to_json(linen.logical_to_mesh_axes(names_to_python(names)))
    return {"names": names, key: rules}, answer_of(ask)


def ask_logical_to_mesh(rng):
    specs = [random_names(rng) for _ in range(rng.randint(1, 4))]
    rules = random_rules(rng)

    def ask():
        tree = [PartitionSpec(*names_to_python(spec)) for spec in specs]
        return [list_to_json(spec) for spec in linen.logical_to_mesh(tree, rules_to_python(rules))]
    return {"specs": specs, "rules": rules}, answer_of(ask)


def ask_from_sharding_rules(rng):
    sharding, rules = random_names(rng), random_rules(rng)
    return {"sharding": sharding, "rules": rules}, answer_of(
        lambda: list_to_json(core.from_sharding_rules(names_to_python(sharding),
                                                      rules_to_python(rules))))


def ask_composite_rules(rng):
    rules = [random_rules(rng, 4) if rng.random() < 0.9 else None for _ in range(2)]
    if all(rules) and rng.random() < 0.5:  # some that agree
        rules[1] += rng.sample(rules[0], rng.randint(1, len(rules[0])))
    return {"rule1": rules[0], "rule2": rules[1]}, answer_of(
        lambda: rules_to_json(core.composite_rules(*map(rules_to_python, rules))))


def ask_get_pspec(rng):
    sharding, context = random_names(rng), random_rules(rng, 3)
    rules = random_rules(rng, 3) if rng.random() < 0.8 else None

    def ask():
        with core.logical_axis_rules(rules_to_python(context)):
            return list_to_json(core.get_pspec(names_to_python(sharding), rules_to_python(rules)))
    return {"sharding": sharding, "context_rules": context, "sharding_rules": rules}, answer_of(ask)


def leave(scope, by_error):
    if not by_error:
        scope.__exit__(None, None, None)
        return
    try:
        error = KeyError("on purpose")
        scope.__exit__(KeyError, error, None)
    except KeyError:
        pass  # the scope lets it through


def ask_scopes(rng):
    steps, open_scopes = [], 0
    for _ in range(rng.randint(1, 10)):
        step = rng.choice(("enter", "exit", "exit_by_error", "set"))
        if step in ("enter", "set"):
            steps.append([step, random_rules(rng, 2)])
            open_scopes += step == "enter"
        elif open_scopes:
            steps.append([step])
            open_scopes -= 1

    def ask():
        core.set_logical_axis_rules(())
        scopes, seen = [], []
        for step, *rules in steps:
            if step == "enter":
                scopes.append(core.logical_axis_rules(rules_to_python(rules[0])))
                scopes[-1].__enter__()
            elif step == "set":
                core.set_logical_axis_rules(rules_to_python(rules[0]))
            else:
                leave(scopes.pop(), by_error=step == "exit_by_error")
            seen.append(rules_to_json(core.get_logical_axis_rules()))
        while scopes:
            leave(scopes.pop(), by_error=False)
        after = rules_to_json(core.get_logical_axis_rules())
        core.set_logical_axis_rules(())
        return {"seen": seen, "after_unwinding": after}

    return {"steps": steps}, answer_of(ask)


def placed(before, after):
    if after is before:
        return None
    sharding = after.sharding
    return {"spec": list_to_json(sharding.spec),
            "shard_shape": list(sharding.shard_shape(after.shape)),
            "num_devices": len(sharding.device_set)}


def random_sharding(rng, mesh):
    axes = list(mesh["names"]) if mesh else list(AXES)
    words = axes + list(NAMES[:4])
    return [None if rng.random() < 0.3 else rng.choice(words) for _ in range(rng.randint(0, 3))]


def ask_shard_value(rng):
    mesh = random_mesh(rng) if rng.random() < 0.93 else None
    axes = mesh["names"] if mesh else AXES
    sharding = random_sharding(rng, mesh)
    shape = [rng.choice((8, 16, 32, 6)) for _ in sharding] + [4] * rng.randint(0, 1)
    if rng.random() < 0.05:
        shape = shape[1:]

    def some_rules(most):
        return [[name, entry] for name, entry in random_rules(rng, most, axes)
                if not isinstance(entry, dict)]
    context = some_rules(3) if rng.random() < 0.6 else []
    rules = some_rules(2) if rng.random() < 0.6 else None

    def ask():
        value = jnp.zeros(shape)
        with core.logical_axis_rules(rules_to_python(context)):
            result = core.shard_value(value, names_to_python(sharding), rules_to_python(rules),
                                      to_mesh(mesh))
        return placed(value, result) or {"unchanged": True}
    return {"shape": shape, "sharding": sharding, "context_rules": context,
            "sharding_rules": rules, "mesh": mesh}, answer_of(ask)


def ask_with_logical_constraint(rng):
    # No Manual axes, on which JAX itself stumbles; and nothing unconstrained, where XLA decides.
    mesh = random_mesh(rng, ("Auto", "Auto", "Explicit")) if rng.random() < 0.9 else None
    axes = mesh["names"] if mesh else AXES
    names = constrained(random_names(rng, 3, groups=False))
    shape = [rng.choice((8, 16, 32, 6)) for _ in names]
    rules = [[name, entry] for name, entry in random_rules(rng, 6, axes)
             if not isinstance(entry, dict)]
    fallback = rng.choice(("axis_is_unsharded", "raise_error", "no_constraint"))

    def ask():
        value = jnp.zeros(shape)
        result = linen.with_logical_constraint(value, names_to_python(names),
                                               rules_to_python(rules), to_mesh(mesh),
                                               linen.RulesFallback(fallback))
        answer = placed(value, result)
        if answer is None:
            return {"unchanged": True}
        return {key: answer[key] for key in ("spec", "shard_shape")}
    return {"shape": shape, "names": names, "rules": rules, "fallback": fallback,
            "mesh": mesh}, answer_of(ask)


def ask_axis(rng, change):
    names = [rng.choice(NAMES[:4] + (None,)) for _ in range(rng.randint(0, 4))]
    index = rng.randint(-5, 5)
    name = rng.choice(("layers", "stack", None))
    if change == "remove_axis" and names and -len(names) <= index < len(names) and rng.random() < 0.7:
        name = names[index]

    def ask():
        box = meta.Partitioned(jnp.zeros(()), tuple(names))
        changed = getattr(box, change)(index, {meta.PARTITION_NAME: name})
        return list_to_json(changed.names)
    return {"names": names, "index": index, "name": name}, answer_of(ask)


def ask_add_axis(rng):
    return ask_axis(rng, "add_axis")


def ask_remove_axis(rng):
    return ask_axis(rng, "remove_axis")


QUESTIONS = {name[4:]: function for name, function in list(globals().items())
             if name.startswith("ask_") and name != "ask_axis"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    cases = []
    for fn, question in QUESTIONS.items():
        for number in range(options.count):
            asked, answer = question(rng)
            cases.append(dict(id=f"{fn}/{number}", fn=fn, input=asked, **answer))
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump({"meta": {"oracle": "flax, live"}, "cases": cases}, out)


if __name__ == "__main__":
    main()
