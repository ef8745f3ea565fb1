#!/usr/bin/env python3
"""Asks eformer which specs rules give to trees, and what its mini-language makes of names, in the
schema of eformer.json.

Questions that eformer answers wrongly (docs/compatibility.md) are not asked: blanks, brackets and
pieces without an arrow in the mini-language, and broken patterns behind a rule that takes everything.
"""
import argparse
import json
import os
import random
import re

import jax
import numpy as np
from eformer.escale.partition import constraints
from jax.sharding import Mesh, PartitionSpec

AXES = ("dp", "fsdp", "ep", "tp", "sp", "model", "a/b")
KEYS = ("params", "layers", "0", "1", "10", "2", "attn", "mlp", "q_proj", "o_proj", "kernel", "bias",
        "scale", "embedding", "norm_1", "Norm", "a.b", "é")
PATTERNS = ("kernel$", "^params", "attn|mlp", "(q|o)_proj/kernel", ".*bias", "", ".*", "scale\\Z",
            "(?i)norm", "layers/\\d+/", "[^/]+$", "(?<=attn/)\\w+", "(?!.*bias)", "embedding", "zzz", "é",
            "^$", "\\bkernel\\b", "(\\d)\\1?/", "a\\.b")
BROKEN = ("(", "*a", "a**", "[z", "(?P<n>a)(?P<n>b)", "\\q", "(?<=a+)b")


def some_spec(rng, most=4):
    entries = []
    for _ in range(rng.randint(0, most)):
        pick = rng.random()
        if pick < 0.25:
            entries.append(None)
        elif pick < 0.8:
            entries.append(rng.choice(AXES))
        else:
            entries.append(rng.sample(AXES, 2))
    return entries


def as_spec(entries):
    return PartitionSpec(*(tuple(e) if isinstance(e, list) else e for e in entries))


def spec_json(spec):
    return [list(e) if isinstance(e, tuple) else e for e in spec]


def some_leaf(rng):
    pick = rng.random()
    if pick < 0.1:
        return {"$": "int", "value": rng.randint(0, 9)}
    shape = [rng.choice((0, 1, 2, 7, 64, 300)) for _ in range(rng.randint(0, 3))]
    return {"$": rng.choice(("array", "abstract")), "shape": shape, "dtype": "float32"}


def some_tree(rng, depth):
    if depth == 0 or rng.random() < 0.2:
        return some_leaf(rng)
    keys = rng.sample(KEYS, rng.randint(1, 4))
    return {key: some_tree(rng, depth - 1) for key in keys}


def as_tree(node):
    kind = node.get("$")
    if kind == "int":
        return node["value"]
    if kind == "array":
        return np.zeros(node["shape"], np.float32)
    if kind == "abstract":
        return jax.ShapeDtypeStruct(tuple(node["shape"]), np.float32)
    return {key: as_tree(value) for key, value in node.items()}


def leaves_of(node, path=""):
    kind = node.get("$")
    if kind:
        yield {"path": path, "kind": kind, **{k: v for k, v in node.items() if k != "$"}}
        return
    for key in sorted(node):
        yield from leaves_of(node[key], path + "/" + key if path else key)


def specs_of(tree, path=""):
    if isinstance(tree, PartitionSpec):
        yield [path, spec_json(tree)]
        return
    for key in sorted(tree):
        yield from specs_of(tree[key], path + "/" + key if path else key)


def match_partition_rules(rng):
    rules = [[rng.choice(PATTERNS), some_spec(rng)] for _ in range(rng.randint(0, 6))]
    if rng.random() < 0.05:
        rules.insert(0, [rng.choice(BROKEN), ["x"]])
    tree = some_tree(rng, 4)
    args = {"rules": rules, "tree": tree}
    if rng.random() < 0.5:
        args["min_size"] = rng.choice((0, 1, 64, 5000, None))
    if rng.random() < 0.5:
        args["strict"] = rng.random() < 0.6
    case = {"fn": "match_partition_rules", "mesh": None, "args": args, "leaves": list(leaves_of(tree))}
    options = {key: args[key] for key in ("min_size", "strict") if key in args}
    given = [(pattern, as_spec(spec)) for pattern, spec in rules]
    looked_at = [leaf for leaf in case["leaves"]
                 if leaf.get("shape") or not args.get("strict", True)]
    if rules and rules[0][0] in BROKEN and not looked_at:
        return None  # it never gets to see the pattern
    try:
        case["result"] = list(specs_of(constraints.match_partition_rules(given, as_tree(tree), **options)))
    except re.error:
        case["error"] = {"type": "re.error", "gist": "bad_regex"}
    except ValueError as problem:
        missing = [leaf["path"] for leaf in looked_at
                   if not any(re.search(pattern, leaf["path"]) for pattern, _ in rules)]
        assert missing[0] in str(problem), problem
        case["error"] = {"type": "ValueError", "gist": "no_rule_for:" + missing[0]}
    return case


def create_pattern_based_partition_spec(rng):
    words = ("attn", "mlp", "^q$", "kernel", "b\\d+", "[qk]_proj", "", "w$", "a.c")
    pieces = []
    for _ in range(rng.randint(1, 4)):
        left = "|".join(rng.sample(words, rng.randint(1, 3)))
        right = ".".join(rng.choice(("dp", "tp", "", "None", "a+b", "_")) for _ in range(rng.randint(1, 3)))
        pieces.append(left + "->" + right)
    pattern = ",".join(pieces)
    if rng.random() < 0.05:
        pattern += "->x"
    names = ["attn", "x/mlp/q", "q", "kernel", "b12", "k_proj", "w", "wa", "", "abc", "é"]
    args = {"pattern": pattern, "names": rng.sample(names, 5)}
    default = None
    if rng.random() < 0.5:
        args["default_spec"] = some_spec(rng)
        default = as_spec(args["default_spec"])
    case = {"fn": "create_pattern_based_partition_spec", "mesh": {"axes": [["dp", 1]]},
            "mesh_via": "argument", "args": args}
    mesh = Mesh(np.array(jax.devices()[:1]), ("dp",))
    try:
        choose = constraints.create_pattern_based_partition_spec(pattern, mesh, default)
        case["result"] = [[name, {"spec": spec_json(choose(name, None))}] for name in args["names"]]
    except ValueError:
        case["error"] = {"type": "ValueError", "gist": "malformed_text"}
    return case


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    assert "MIN_SHARDING_SIZE" not in os.environ
    rng = random.Random(options.seed)
    cases = []
    for ask, count in ((match_partition_rules, options.count * 3),
                       (create_pattern_based_partition_spec, options.count)):
        asked = 0
        while asked < count:
            case = ask(rng)
            if case:
                cases.append({"id": "rules-%d" % len(cases), **case})
                asked += 1
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump(cases, out, ensure_ascii=False)


if __name__ == "__main__":
    main()
