#!/usr/bin/env python3
"""Asks Shardy's sdy-reshard-to-collectives for the collectives of random reshards, in the schema of
jax_sharding.json.

The answer is the list of its ops, each with the sharding after it. A permute that changes nothing is left
out, as its own canonicaliser does; so are reshards that go over shards of unequal size, and those (on axes
that do not divide one another) for which it makes a permute that its own verifier refuses, or ends at another
sharding than it was asked for."""
import argparse
import json
import random
import re

import jax
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir, passmanager

KINDS = {"all_slice": "slice", "all_gather": "all-gather", "all_to_all": "all-to-all",
         "collective_permute": "permute"}
MESHES = ((2, 2), (2, 3), (2, 4), (4, 4), (2, 2, 2), (2, 2, 3), (8, 2, 4), (4, 6), (2, 2, 2, 2), (16, 2), (3, 5))


# ---- questions ----

def random_spec(rng, sizes, rank, cuts):
    """A list of parts for each dimension; an axis is cut where `cuts` says, so that sides fit together."""
    parts = []
    for axis, size in zip("xyzw", sizes):
        if cuts[axis] and rng.random() < 0.5:
            parts += [(axis, 1, cuts[axis]), (axis, cuts[axis], size // cuts[axis])]
        else:
            parts.append((axis, 1, size))
    rng.shuffle(parts)
    dims = [[] for _ in range(rank)]
    for part in parts:
        place = rng.randint(0, rank)
        if place < rank:
            dims[place].append(part)
    return dims


def random_question(rng):
    sizes = rng.choice(MESHES)
    rank = rng.randint(1, 3)
    cuts = {axis: rng.choice([0] + [n for n in range(2, size) if size % n == 0])
            for axis, size in zip("xyzw", sizes)}
    devices = 1
    for size in sizes:
        devices *= size
    shape = [rng.choice((devices, devices, 2 * devices, devices // sizes[-1])) for _ in range(rank)]
    whole = dict(zip("xyzw", sizes))
    sides = [random_spec(rng, sizes, rank, cuts) for _ in range(2)]
    if any(size % shards(dim) for side in sides for size, dim in zip(shape, side)):
        return random_question(rng)
    return whole, shape, sides


def shards(dim):
    count = 1
    for _, _, size in dim:
        count *= size
    return count


# ---- texts ----

def part_text(whole, part, quote):
    axis, pre, size = part
    name = f'"{axis}"' if quote else axis
    return name if size == whole[axis] else f"{name}:({pre}){size}"


def shardy_text(whole, dims):
    return "[" + ", ".join("{" + ", ".join(part_text(whole, p, True) for p in dim) + "}"
                           for dim in dims) + "]"


def short_text(whole, dims):
    return ", ".join("+".join(part_text(whole, p, False) for p in dim) or "_" for dim in dims)


def shards_of(whole, text):
    """How many shards each dimension has, from Shardy's text."""
    counts = []
    for dim in re.findall(r"\{([^}]*)\}", text):
        counts.append(1)
        for axis, part in re.findall(r'"(\w+)"(?::\(\d+\)(\d+))?', dim):
            counts[-1] *= int(part) if part else whole[axis]
    return counts


# ---- asking ----

def ask(whole, shape, sides):
    mesh = ", ".join(f'"{axis}"={size}' for axis, size in whole.items())
    kind = "tensor<" + "x".join(map(str, shape)) + "xf32>"
    before, after = (shardy_text(whole, side) for side in sides)
    text = f"""sdy.mesh @mesh = <[{mesh}]>
      func.func @f(%a: {kind} {{sdy.sharding = #sdy.sharding<@mesh, {before}>}}) -> {kind} {{
        %0 = sdy.reshard %a <@mesh, {after}> : {kind}
        return %0 : {kind}
      }}"""
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        try:
            passmanager.PassManager.parse(
                "builtin.module(func.func(sdy-reshard-to-collectives))").run(module.operation)
        except ir.MLIRError as error:
            if "sharded size of result doesn't match operand" in str(error):
                return None
            raise
        answer = str(module)
    return [(KINDS[op], sharding) for op, sharding in
            re.findall(r"sdy\.(\w+) .*out_sharding=<@mesh, (\[.*\])> :", answer)]


def record(rng):
    while True:
        whole, shape, sides = random_question(rng)
        sides = [[join_dim(dim) for dim in side] for side in sides]
        answer = ask(whole, shape, sides)
        steps, last, sound = [], shardy_text(whole, sides[0]), answer is not None
        for op, sharding in answer or []:
            counts = shards_of(whole, sharding)
            sound &= all(size % count == 0 for size, count in zip(shape, counts))
            if op != "permute" or sharding != last:
                steps.append([op, sharding])
            last = sharding
        if sound and last == shardy_text(whole, sides[1]):
            break
    return {"input": {"mesh": {"names": list(whole), "sizes": list(whole.values())}, "shape": shape,
                      "from": short_text(whole, sides[0]), "to": short_text(whole, sides[1])},
            "output": steps}


def join_dim(dim):
    """Shardy refuses parts that continue one another and are not joined."""
    made = []
    for axis, pre, size in dim:
        if made and made[-1][0] == axis and made[-1][1] * made[-1][2] == pre:
            made[-1] = (axis, made[-1][1], made[-1][2] * size)
        else:
            made.append((axis, pre, size))
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    cases = [dict(id=f"reshard_to_collectives/{number}", fn="reshard_to_collectives", **record(rng))
             for number in range(options.count)]
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump({"meta": {"oracle": f"jaxlib of jax {jax.__version__}", "seed": options.seed},
                   "cases": cases}, out)


if __name__ == "__main__":
    main()
