"""Collectives of random reshards beside those of the real Shardy, which jaxlib holds.

usage: check_collectives.py --tessera COMMAND [--seed N] [--count N]

Random pairs of shardings, on meshes of axes of sizes that do not all divide each other, with parts of axes, go through
sdy-reshard-to-collectives of both; so do functions of many collectives and reshards through canonicalize, and the
recorded programs of tests/programs through both after jaxlib has inserted explicit reshards. The text must be the
same. Modules that jaxlib refuses, before or after the pass, are left out. Shardy stops after two rounds; where that is
before the sharding that was asked for, ours must end with it.
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from jax._src.interpreters import mlir
from jaxlib.mlir import ir, passmanager

MARK = "// -----\n"
SIZES = [1, 2, 2, 2, 3, 4, 4, 6, 8, 12]
NAMES = ["x", "y", "z", "w"]


# ---- random shardings ----

def parts_of(rng, name, size):
    """An axis, cut in parts that lie side by side: as (name, pre, size), or whole."""
    divisors = [d for d in range(2, size) if size % d == 0]
    if not divisors or rng.random() < 0.5:
        return [(name, 1, size, True)]
    first = rng.choice(divisors)
    rest = size // first
    inner = [d for d in range(2, rest) if rest % d == 0]
    if inner and rng.random() < 0.4:
        second = rng.choice(inner)
        return [(name, 1, first, False), (name, first, second, False), (name, first * second, rest // second, False)]
    return [(name, 1, first, False), (name, first, rest, False)]


def write(part):
    name, pre, size, whole = part
    return '"%s"' % name if whole else '"%s":(%d)%d' % (name, pre, size)


def joined(parts):
    """The parts of a list, neighbours of one axis put together."""
    made = []
    for part in parts:
        if made and made[-1][0] == part[0] and made[-1][1] * made[-1][2] == part[1] and not part[3]:
            made[-1] = (part[0], made[-1][1], made[-1][2] * part[2], False)
        else:
            made.append(part)
    return made


def whole_again(parts, sizes):
    return [(n, 1, s, True) if p == 1 and s == sizes[n] else (n, p, s, w) for n, p, s, w in parts]


def dims_of(rng, sizes, rank, left_out):
    parts = [p for name, size in sizes.items() if name not in left_out for p in parts_of(rng, name, size)]
    rng.shuffle(parts)
    kept = parts[:rng.randint(0, len(parts))]
    dims = [[] for _ in range(rank)]
    for part in kept:
        if rank:
            rng.choice(dims).append(part)
    return [whole_again(joined(dim), sizes) for dim in dims]


def text_of(dims, mesh, rest=""):
    return "<%s, [%s]%s>" % (mesh, ", ".join("{%s}" % ", ".join(write(p) for p in dim) for dim in dims), rest)


def mesh_of(rng):
    count = rng.randint(1, 3) if rng.random() < 0.8 else 4
    return {name: rng.choice(SIZES) for name in NAMES[:count]}


def mesh_text(sizes, ids=""):
    return "<[%s]%s>" % (", ".join('"%s"=%d' % item for item in sizes.items()), ids)


def reshard_module(rng):
    sizes = mesh_of(rng)
    devices = 1
    for size in sizes.values():
        devices *= size
    rank = rng.randint(1, 4)
    shape = "x".join(str(rng.choice([1, 2, 3, 4, 6, 8, 12, 16, 24, 48, 96])) for _ in range(rank))
    sharded = rng.random() < 0.95
    unreduced = [n for n in sizes if sharded and rng.random() < 0.1]  # what changes them is refused
    rest = ", unreduced={%s}" % ", ".join('"%s"' % n for n in unreduced) if unreduced else ""
    other = rng.random() < 0.1 and devices <= 1000
    lines = ["sdy.mesh @mesh = " + mesh_text(sizes)]
    if other:
        ids = list(range(devices))
        rng.shuffle(ids)
        if ids == sorted(ids):
            other = False
        else:
            lines.append("sdy.mesh @other = " + mesh_text(sizes, ", device_ids=[%s]" % ", ".join(map(str, ids))))
    source = text_of(dims_of(rng, sizes, rank, unreduced), "@mesh", rest)
    target = text_of(dims_of(rng, sizes, rank, unreduced), "@other" if other else "@mesh", rest)
    if sharded:
        argument = "%%arg0: tensor<%sxf32> {sdy.sharding = #sdy.sharding%s}" % (shape, source)
    else:
        argument = "%%arg0: tensor<%sxf32>" % shape
    lines.append("func.func @main(%s) -> tensor<%sxf32> {" % (argument, shape))
    lines.append("  %%0 = sdy.reshard %%arg0 %s : tensor<%sxf32>" % (target, shape))
    lines.append("  return %%0 : tensor<%sxf32>" % shape)
    lines.append("}")
    return "\n".join(lines) + "\n"


# ---- random functions of collectives ----

AXES = {"a": 2, "b": 2, "c": 2, "d": 4, "e": 1}
MESH = "sdy.mesh @mesh = " + mesh_text(AXES) + "\n"
SHAPES = {2: [(16, 8), (8, 16)], 3: [(8, 4, 4), (4, 8, 4)], 1: [(128,)]}


class Function:
    """Ops one after the other on values whose shardings are known."""

    def __init__(self, rng):
        self.rng = rng
        self.lines = []
        self.values = []  # (name, shape, dims, unreduced)
        self.count = 0

    def type_of(self, shape):
        return "tensor<%sxf32>" % "x".join(map(str, shape))

    def add(self, text, shape, dims, unreduced):
        name = "%%%d" % self.count
        self.count += 1
        self.lines.append("  %s = %s" % (name, text))
        self.values.append((name, shape, dims, unreduced))

    def sharding(self, dims, unreduced):
        rest = ", unreduced={%s}" % ", ".join('"%s"' % a for a in sorted(unreduced)) if unreduced else ""
        return "<@mesh, [%s]%s>" % (", ".join("{%s}" % ", ".join('"%s"' % a for a in d) for d in dims), rest)

    def attribute(self, dims, unreduced):
        return "{sdy.sharding = #sdy.sharding_per_value<[%s]>}" % self.sharding(dims, unreduced)

    def lists(self, dims):
        return "[%s]" % ", ".join("{%s}" % ", ".join('"%s"' % a for a in d) for d in dims)

    def free(self, dims, unreduced):
        used = [a for d in dims for a in d] + list(unreduced)
        return [a for a in AXES if a not in used]

    def random_dims(self, shape, unreduced):
        axes = self.free([], unreduced)
        self.rng.shuffle(axes)
        dims = [[] for _ in shape]
        for axis in axes[:self.rng.randint(0, 3)]:
            self.rng.choice(dims).append(axis)
        return dims

    def pick(self):
        return self.rng.choice(self.values[-4:] if self.rng.random() < 0.7 else self.values)

    def reshard(self):
        name, shape, _, unreduced = self.pick()
        dims = self.random_dims(shape, unreduced)
        same = [v for v in self.values if v[1] == shape and v[3] == unreduced]
        if self.rng.random() < 0.5:
            dims = self.rng.choice(same)[2]
        self.add("sdy.reshard %s %s : %s" % (name, self.sharding(dims, unreduced), self.type_of(shape)),
                 shape, dims, unreduced)

    def reshape(self):
        name, shape, _, unreduced = self.pick()
        target = self.rng.choice(SHAPES[self.rng.choice([1, 2, 3])])
        if target == shape:
            return
        dims = self.random_dims(target, unreduced) if self.rng.random() < 0.5 else [[] for _ in target]
        self.add("stablehlo.reshape %s %s : (%s) -> %s" % (name, self.attribute(dims, unreduced), self.type_of(shape),
                                                          self.type_of(target)), target, dims, unreduced)

    def transpose(self):
        name, shape, dims, unreduced = self.pick()
        order = list(range(len(shape)))
        self.rng.shuffle(order)
        target, moved = tuple(shape[i] for i in order), [dims[i] for i in order]
        if target not in SHAPES[len(shape)]:
            return
        self.add("stablehlo.transpose %s, dims = %s %s : (%s) -> %s" %
                 (name, order, self.attribute(moved, unreduced), self.type_of(shape), self.type_of(target)),
                 target, moved, unreduced)

    def constant(self):
        shape = self.rng.choice(SHAPES[2])
        dims = self.random_dims(shape, ())
        self.add("stablehlo.constant %s dense<%d.0> : %s" % (self.attribute(dims, ()), self.rng.randint(0, 2),
                                                            self.type_of(shape)), shape, dims, ())

    def negate(self):
        name, shape, dims, unreduced = self.pick()
        self.add("stablehlo.negate %s %s : %s" % (name, self.attribute(dims, unreduced), self.type_of(shape)),
                 shape, dims, unreduced)

    def all_reduce(self):
        name, shape, dims, unreduced = self.pick()
        axes = sorted(unreduced) if self.rng.random() < 0.8 else self.free(dims, unreduced)[:1]
        axes = [a for a in axes if self.rng.random() < 0.9]
        left = tuple(a for a in unreduced if a not in axes)
        self.add("sdy.all_reduce {%s} %s out_sharding=%s : %s" %
                 (", ".join('"%s"' % a for a in axes), name, self.sharding(dims, left), self.type_of(shape)),
                 shape, dims, left)

    def all_slice(self):
        name, shape, dims, unreduced = self.pick()
        axes = self.free(dims, unreduced)
        self.rng.shuffle(axes)
        added = [[] for _ in shape]
        for axis in axes[:self.rng.randint(0, 3)]:
            self.rng.choice(added).append(axis)
        total = [d + a for d, a in zip(dims, added)]
        text = "sdy.all_slice %s %s out_sharding=%s : %s" % (self.lists(added), name, self.sharding(total, unreduced),
                                                             self.type_of(shape))
        for _ in range(self.rng.choice([1, 1, 2])):
            self.add(text, shape, total, unreduced)

    def all_gather(self):
        name, shape, dims, unreduced = self.pick()
        kept = [self.rng.randint(0, len(d)) for d in dims]
        gone = [d[k:] for d, k in zip(dims, kept)]
        left = [d[:k] for d, k in zip(dims, kept)]
        self.add("sdy.all_gather %s %s out_sharding=%s : %s" % (self.lists(gone), name, self.sharding(left, unreduced),
                                                                self.type_of(shape)), shape, left, unreduced)
        if self.rng.random() < 0.4:
            gathered = self.values[-1][0]
            self.add("sdy.all_slice %s %s out_sharding=%s : %s" %
                     (self.lists(gone), gathered, self.sharding(dims, unreduced), self.type_of(shape)),
                     shape, dims, unreduced)

    def all_to_all(self):
        name, shape, dims, unreduced = self.pick()
        sources = [i for i, d in enumerate(dims) if d]
        if not sources or len(shape) < 2:
            return
        source = self.rng.choice(sources)
        target = self.rng.choice([i for i in range(len(shape)) if i != source])
        moved = dims[source][-1:]
        after = [list(d) for d in dims]
        after[source] = after[source][:-1]
        after[target] += moved
        self.add("sdy.all_to_all [{\"%s\"}: %d->%d] %s out_sharding=%s : %s" %
                 (moved[0], source, target, name, self.sharding(after, unreduced), self.type_of(shape)),
                 shape, after, unreduced)

    def permute(self):
        name, shape, dims, unreduced = self.pick()
        after = [list(d) for d in dims]
        for d in after:
            self.rng.shuffle(d)
        self.add("sdy.collective_permute %s out_sharding=%s : %s" % (name, self.sharding(after, unreduced),
                                                                     self.type_of(shape)), shape, after, unreduced)

    def spread(self):
        name, shape, dims, unreduced = self.pick()
        if self.rng.random() < 0.5:
            axes = self.free(dims, unreduced)[:1]
            if not axes:
                return
            self.add("sdy.replicated_to_unreduced {\"%s\"} %s out_sharding=%s : %s" %
                     (axes[0], name, self.sharding(dims, tuple(unreduced) + tuple(axes)), self.type_of(shape)),
                     shape, dims, tuple(unreduced) + tuple(axes))
            return
        gone = [d[-1:] for d in dims]
        left = [d[:-1] for d in dims]
        added = tuple(unreduced) + tuple(a for d in gone for a in d)
        self.add("sdy.sharded_to_unreduced %s %s out_sharding=%s : %s" % (self.lists(gone), name,
                                                                         self.sharding(left, added),
                                                                         self.type_of(shape)), shape, left, added)

    def manual(self):
        name, shape, dims, unreduced = self.pick()
        if unreduced:
            return
        axis = "a"  # jaxlib does not inline computations over axes of size 1: its context lacks the inliner
        local = list(shape)
        outer = [[], [axis]] + [[] for _ in shape[2:]]
        if len(shape) < 2:
            return
        local[1] //= AXES[axis]
        sharding, kind = self.sharding(outer, ()), self.type_of(local)
        extra = self.rng.random() < 0.5
        used = name + (", " + name if extra else "")
        self.add("sdy.manual_computation(%s) in_shardings=[%s] out_shardings=[%s] manual_axes={\"%s\"} (%%m%d: %s%s) {\n"
                 "    %%n%d = stablehlo.negate %%m%d : %s\n    sdy.return %%n%d : %s\n  } : (%s) -> %s" %
                 (used, ", ".join([sharding] * (2 if extra else 1)), sharding, axis, self.count, kind,
                  ", %%u%d: %s" % (self.count, kind) if extra else "", self.count, self.count, kind, self.count, kind,
                  ", ".join([self.type_of(shape)] * (2 if extra else 1)), self.type_of(shape)),
                 shape, outer, ())


STEPS = ["reshard"] * 4 + ["reshape"] * 2 + ["transpose", "constant", "negate", "all_reduce", "all_reduce", "all_slice",
                                             "all_slice", "all_gather", "all_to_all", "all_to_all", "permute",
                                             "spread", "manual"]


def collective_module(rng):
    f = Function(rng)
    arguments = []
    for i in range(2):
        shape = rng.choice(SHAPES[rng.choice([2, 3])])
        unreduced = tuple(a for a in "abc" if rng.random() < 0.3)
        dims = f.random_dims(shape, unreduced)
        arguments.append("%%arg%d: %s {sdy.sharding = #sdy.sharding%s}" % (i, f.type_of(shape),
                                                                         f.sharding(dims, unreduced)))
        f.values.append(("%%arg%d" % i, shape, dims, unreduced))
    for _ in range(rng.randint(3, 14)):
        getattr(f, rng.choice(STEPS))()
    results = rng.sample(f.values, min(len(f.values), rng.randint(1, 3)))
    types = ", ".join(f.type_of(shape) for _, shape, _, _ in results)
    return MESH + "func.func @main(%s) -> (%s) {\n%s\n  return %s : %s\n}\n" % (
        ", ".join(arguments), types, "\n".join(f.lines), ", ".join(name for name, _, _, _ in results), types)


# ---- asking ----

def ask_shardy(text, pipeline):
    """What jaxlib makes of a module; None if it refuses it or its own result."""
    try:
        module = ir.Module.parse(text)
        passmanager.PassManager.parse(pipeline).run(module.operation)
        return str(module)
    except Exception:
        return None


def answer_all(path):
    """What a process of its own does: a line for each text of a file, since Shardy may crash."""
    job = json.loads(pathlib.Path(path).read_text())
    for text in job["texts"]:
        print(json.dumps(ask_shardy(text, job["pipeline"])), flush=True)


def ask_shardy_apart(texts, pipeline, folder):
    """An answer for each text; None also for those on which Shardy crashes."""
    answers, path = [], folder / "asked.json"
    while len(answers) < len(texts):
        asked = texts[len(answers):]
        path.write_text(json.dumps({"texts": asked, "pipeline": pipeline}))
        done = subprocess.run([sys.executable, __file__, "--answer", path], capture_output=True, text=True)
        lines = [json.loads(line) for line in done.stdout.split("\n") if line]
        answers += lines
        if len(lines) < len(asked):
            answers.append(None)
    return answers


def ask_us(tessera, texts, flags, folder):
    path = folder / "programs.mlir"
    path.write_text(MARK.join(texts))
    done = subprocess.run([tessera, "opt"] + flags + ["--split-input-file", path], capture_output=True, text=True)
    answers = done.stdout.split(MARK)
    if len(answers) != len(texts):
        raise SystemExit("tessera opt gave %d programs for %d\n%s" % (len(answers), len(texts), done.stderr[-2000:]))
    return answers


def again(text):
    """What jaxlib makes of our text: the same in its own words."""
    try:
        return str(ir.Module.parse(text))
    except Exception as refusal:
        return str(refusal)


def reached(text):
    """The axes that a module of one reshard asked for and those that its last collective leads to, axes of size 1
    left aside: they may stay where they are."""
    ones = re.findall(r'"(\w+)"=1[,\]]', text)
    lists = re.findall(r"(?:out_sharding=|reshard %arg0 |sdy.sharding = #sdy.sharding)<@\w+, \[(.*?)\]", text)
    if not lists:
        return None
    dims = [dim.split(", ") for dim in lists[-1].strip("{}").split("}, {")]
    return [[axis for axis in dim if axis and axis.strip('"') not in ones] for dim in dims]


def show(text, wanted, found):
    print("\n".join(line[:300] for line in text.split("\n")))
    for a, b in zip(wanted.split("\n"), found.split("\n")):
        if a != b:
            print("  shardy: %s\n  ours:   %s" % (a, b))


def compare(tessera, texts, passes, folder, what):
    pipeline = "builtin.module(%s)" % ",".join("func.func(%s)" % p if p.startswith("sdy") else p for p in passes)
    asked = list(zip(texts, ask_shardy_apart(texts, pipeline, folder)))
    known = [(text, wanted) for text, wanted in asked if wanted is not None]
    found = ask_us(tessera, [text for text, _ in known], ["--" + p for p in passes], folder)
    failed = unfinished = 0
    for (text, wanted), answer in zip(known, found):
        if wanted == answer or wanted == again(answer):
            continue
        if what == "reshards" and reached(wanted) != reached(text) and reached(answer) == reached(text):
            unfinished += 1
            continue
        failed += 1
        if failed <= 10:
            show(text, wanted, answer)
    print("%s: %d of %d are as Shardy has them; %d that Shardy does not finish, %d that it refuses" %
          (what, len(known) - failed - unfinished, len(known), unfinished, len(asked) - len(known)))
    return failed


def program_texts(folder):
    """Recorded programs with the reshards that jaxlib inserts after propagation."""
    root = pathlib.Path(__file__).resolve().parent.parent / "programs"
    texts = [path.read_text() for path in sorted(root.glob("*/program.mlir"))]
    pipeline = ("builtin.module(sdy-propagation-pipeline,"
                "func.func(sdy-insert-explicit-reshards{enable-full-version=true}))")
    made = ask_shardy_apart([text for text in texts if "sdy." in text], pipeline, folder)
    return [text for text in made if text]


def run(arguments, folder):
    rng = random.Random(arguments.seed)
    texts = [reshard_module(rng) for _ in range(25 * arguments.count)]
    failed = compare(arguments.tessera, texts, ["sdy-reshard-to-collectives"], folder, "reshards")
    texts = [collective_module(rng) for _ in range(15 * arguments.count)]
    failed += compare(arguments.tessera, texts, ["canonicalize"], folder, "canonicalize")
    passes = ["canonicalize", "sdy-reshard-to-collectives", "canonicalize"]
    failed += compare(arguments.tessera, program_texts(folder), passes, folder, "programs")
    if failed:
        raise SystemExit("%d modules differ (seed %d)" % (failed, arguments.seed))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tessera", default="tessera")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--answer", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, mlir.make_ir_context() as context:
        context.enable_multithreading(False)  # a thread of its own would wait for Python to take what it says
        context.attach_diagnostic_handler(lambda diagnostic: True)  # what it refuses is left out
        if arguments.answer:
            answer_all(arguments.answer)
        else:
            run(arguments, pathlib.Path(folder))


if __name__ == "__main__":
    main()
