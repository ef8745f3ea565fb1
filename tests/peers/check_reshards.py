"""Reshards of random programs beside those of the real Shardy, which jaxlib holds.

usage: check_reshards.py --tessera COMMAND [--seed N] [--count N]

Random modules get random shardings on all arguments and results: those of random_ops.py, one op each, and
programs of a few ops. So do the recorded programs of tests/programs, after propagation. All go through the pass
sdy-insert-explicit-reshards of both, the full version and the other; the text must be the same. What we refuse
is not asked, and what Shardy refuses, or ends its process at, is not compared. At most one of a thousand may differ,
but for the known differences: jaxlib holds an older Shardy than the one that we follow.
"""
import argparse
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from jax._src.interpreters import mlir
from jaxlib.mlir import ir, passmanager

import random_ops

MARK = "// -----\n"
PASS = "sdy-insert-explicit-reshards"
OPTIONS = ["enable-full-version=true", "enable-full-version=false"]
# Shardy makes no rules for these.
WITHOUT_RULES = ["?", "tensor<*", "tuple<", "!quant", "!stablehlo.future", "sdy.mesh"]
MESHES = [[("x", 2), ("y", 2), ("z", 2)], [("a", 4), ("b", 2), ("c", 3)], [("y", 6), ("x", 4)], [("q", 8)],
          [("x", 2), ("y", 2), ("z", 2), ("t", 2)], [("one", 1), ("x", 4), ("b", 2)]]
ROOT = pathlib.Path(__file__).resolve().parent.parent


# ---- known differences ----

# Named, with what tells them from the text: the program that jaxlib was given.
KNOWN = {
    "ops on a single device, which jaxlib leaves alone": lambda text: "@one" in text,
}


# ---- shardings ----

class Shards:
    """Random shardings on one mesh, or on one and a copy with other device ids."""

    def __init__(self, rng):
        self.rng, self.axes = rng, rng.choice(MESHES)
        self.missing = rng.choice([0, 0.2, 0.5])
        self.open = rng.choice([0, 0, 0.4])
        self.unreduced = rng.choice([0, 0, 0, 0.1])
        self.names = ["mesh"] if rng.random() < 0.9 else ["mesh", "mesh", "other"]
        self.single = rng.random() < 0.02
        self.cut = rng.random() < 0.3

    def meshes(self):
        text = ", ".join('"%s"=%d' % pair for pair in self.axes)
        count = 1
        for _, size in self.axes:
            count *= size
        lines = ["sdy.mesh @mesh = <[%s]>" % text]
        if "other" in self.names:
            ids = list(range(count))[::-1]
            lines.append("sdy.mesh @other = <[%s], device_ids=%s>" % (text, ids))
        return lines + (["sdy.mesh @one = <[], device_ids=[0]>"] if self.single else [])

    def parts(self):
        """All axes, some of them in two parts, in any order."""
        parts = []
        for name, size in self.axes:
            cuts = [n for n in range(2, size) if size % n == 0]
            if cuts and self.cut and self.rng.random() < 0.5:
                cut = self.rng.choice(cuts)
                parts += [(name, 1, cut), (name, cut, size // cut)]
            else:
                parts.append((name, 1, size))
        self.rng.shuffle(parts)
        return parts

    def sharding(self, rank):
        dims, left = [[] for _ in range(rank)], []
        for part in self.parts():
            place = self.rng.randrange(rank) if rank and self.rng.random() < 0.6 else None
            (left if place is None else dims[place]).append(part)
        text = ", ".join("{%s}" % ", ".join(self.texts(dim) + self.question()) for dim in dims)
        extra = ""
        if left and self.unreduced and self.rng.random() < self.unreduced * 3:
            extra = ", unreduced={%s}" % ", ".join(self.texts([left.pop()]))
        if left and self.rng.random() < 0.05:
            extra = ", replicated={%s}%s" % (", ".join(self.texts([left.pop()])), extra)
        return "<@%s, [%s]%s>" % (self.rng.choice(self.names), text, extra)

    def question(self):
        return ["?"] if self.rng.random() < self.open else []

    def texts(self, parts):
        """The axes of a dimension; two parts that follow each other are one."""
        sizes, joined = dict(self.axes), []
        for name, pre, size in parts:
            if joined and joined[-1][0] == name and joined[-1][1] * joined[-1][2] == pre:
                joined[-1] = (name, joined[-1][1], joined[-1][2] * size)
            else:
                joined.append((name, pre, size))
        return ['"%s"' % name if size == sizes[name] else '"%s":(%d)%d' % (name, pre, size)
                for name, pre, size in joined]

    def of_type(self, kind):
        """None, or the sharding of a value of this type."""
        if self.rng.random() < self.missing:
            return None
        return self.sharding(kind.rank if isinstance(kind, ir.RankedTensorType) else 0)


def dicts(shards, kinds):
    made = []
    for kind in kinds:
        text = shards.of_type(kind)
        made.append("{sdy.sharding = #sdy.sharding%s}" % text if text else "{}")
    return ir.Attribute.parse("[%s]" % ", ".join(made))


def shard_op(shards, op):
    for region in op.regions:
        for block in region:
            for inner in block:
                if op.name in ("func.func", "stablehlo.while", "stablehlo.case", "sdy.manual_computation"):
                    shard_op(shards, inner.operation)
    if op.name == "func.func":
        kind = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value)
        op.attributes["arg_attrs"] = dicts(shards, kind.inputs)
        op.attributes["res_attrs"] = dicts(shards, kind.results)
    elif op.name.split(".")[0] in ("stablehlo", "func", "chlo") and len(op.results):
        texts = [shards.of_type(result.type) for result in op.results]
        if shards.single and shards.rng.random() < 0.2:
            texts = ["<@one, []>"] * len(texts)
        if all(texts):
            op.attributes["sdy.sharding"] = ir.Attribute.parse("#sdy.sharding_per_value<[%s]>" % ", ".join(texts))


def sharded(rng, text):
    """A module with random shardings; None if jaxlib refuses it."""
    shards = Shards(rng)
    text = text.replace("SHARDING", "%s")
    while "%s" in text:
        text = text.replace("%s", shards.sharding(2), 1)
    try:
        module = ir.Module.parse(text.replace("module {\n", "module {\n  %s\n" % "\n  ".join(shards.meshes()), 1))
        for op in module.body.operations:
            shard_op(shards, op.operation)
        return str(module) if module.operation.verify() else None
    except ir.MLIRError:
        return None


# ---- programs of a few ops ----

class Program:
    """Tensors of rank 2 to 4 and ops between them."""

    def __init__(self, rng):
        self.rng, self.m = rng, random_ops.Module(rng)
        self.values = [self.m.arg(self.shape(), "f32") for _ in range(rng.randint(2, 4))]

    def shape(self, rank=None):
        return [self.rng.choice([2, 4, 6, 8, 12, 16]) for _ in range(rank or self.rng.randint(1, 3))]

    def pick(self, least=1):
        fit = [v for v in self.values if len(self.dims(v)) >= least]
        return self.rng.choice(fit) if fit else self.m.arg(self.shape(max(2, least)), "f32")

    @staticmethod
    def dims(value):
        return [int(n) for n in re.findall(r"(\d+)x", value[1])]

    def add(self, name, operands, shape, *rest):
        self.values += self.m.op(name, operands, [random_ops.tensor(shape, "f32")], *rest)

    # ops

    def same(self):
        a = self.pick()
        like = [v for v in self.values if v[1] == a[1]]
        b = self.rng.choice(like) if self.rng.random() < 0.7 else self.m.arg(self.dims(a), "f32")
        self.add(self.rng.choice(["stablehlo.add", "stablehlo.multiply"]), [a, b], self.dims(a))

    def negate(self):
        a = self.pick()
        self.add("stablehlo.negate", [a], self.dims(a))

    def reshard(self):
        a = self.pick(2)
        if len(self.dims(a)) == 2:
            name = self.rng.choice(["sharding_constraint", "reshard"])
            self.add("sdy." + name, [a], self.dims(a), "sharding = #sdy.shardingSHARDING")

    def barrier(self):
        a = self.pick()
        self.add("sdy.propagation_barrier", [a], self.dims(a), "allowed_direction = 0 : i32")

    def dot(self):
        a = self.pick(2)
        shape = self.dims(a)
        batch = self.rng.randint(0, len(shape) - 1)
        free = self.shape(self.rng.choice([1, 1, 2]))
        place = self.rng.randrange(batch, len(shape))
        b = self.m.arg(shape[:batch] + [shape[place]] + free, "f32")
        numbers = ", ".join(map(str, range(batch)))
        rest = [n for i, n in enumerate(shape) if i >= batch and i != place]
        self.add("stablehlo.dot_general", [a, b], shape[:batch] + rest + free,
                 "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [%s], rhs_batching_dimensions "
                 "= [%s], lhs_contracting_dimensions = [%d], rhs_contracting_dimensions = [%d]>" % (
                     numbers, numbers, place, batch))

    def transpose(self):
        a = self.pick()
        shape = self.dims(a)
        order = random_ops.permutation(self.rng, len(shape))
        self.add("stablehlo.transpose", [a], [shape[i] for i in order],
                 "permutation = %s" % random_ops.ints(order))

    def reshape(self):
        a = self.pick()
        size, shape = 1, []
        for n in self.dims(a):
            size *= n
        while size > 1 and len(shape) < 3:
            cut = self.rng.choice([n for n in (2, 3, 4, 6, 8, 12, 24, 48, size) if size % n == 0])
            shape.append(cut)
            size //= cut
        self.add("stablehlo.reshape", [a], shape + ([size] if size > 1 else []))

    def reduce(self):
        a = self.pick()
        shape = self.dims(a)
        dims = sorted(self.rng.sample(range(len(shape)), self.rng.randint(1, len(shape))))
        self.add("stablehlo.reduce", [a, self.m.arg([], "f32")],
                 [n for i, n in enumerate(shape) if i not in dims], "dimensions = %s" % random_ops.ints(dims),
                 random_ops.combiner(self.rng, ["f32"]))

    def broadcast(self):
        a = self.pick()
        shape = self.dims(a)
        wider = shape[:]
        place = self.rng.randint(0, len(shape))
        wider.insert(place, self.rng.choice([2, 4, 8]))
        self.add("stablehlo.broadcast_in_dim", [a], wider, "broadcast_dimensions = %s" % random_ops.ints(
            [i for i in range(len(wider)) if i != place]))

    def concatenate(self):
        a = self.pick()
        shape = self.dims(a)
        place = self.rng.randrange(len(shape))
        other = shape[:place] + [self.rng.choice([2, 4])] + shape[place + 1:]
        whole = shape[:place] + [shape[place] + other[place]] + shape[place + 1:]
        self.add("stablehlo.concatenate", [a, self.m.arg(other, "f32")], whole,
                 "dimension = %d : i64" % place)

    def optimization_barrier(self):
        a, b = self.pick(), self.pick()
        self.values += self.m.op("stablehlo.optimization_barrier", [a, b], [a[1], b[1]])

    def loop(self):
        a = self.pick()
        kind = a[1]
        cond = ('{^bb0(%%p: %s): %%c = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> '
                'tensor<i1> "stablehlo.return"(%%c) : (tensor<i1>) -> ()}' % kind)
        body = ('{^bb0(%%p: %s): %%r = "stablehlo.negate"(%%p) : (%s) -> %s "stablehlo.return"(%%r) : (%s) -> ()}' % (
            (kind,) * 4))
        self.values += self.m.op("stablehlo.while", [a], [kind], "", cond + ", " + body)

    def case(self):
        a, b = self.pick(), self.m.arg([], "i32")
        kind = a[1]
        branch = '{%%r = "stablehlo.negate"(%s) : (%s) -> %s "stablehlo.return"(%%r) : (%s) -> ()}' % (
            a[0], kind, kind, kind)
        self.values += self.m.op("stablehlo.case", [b], [kind], "", branch + ", " + branch)

    def manual(self):
        a = self.pick(2)
        if len(self.dims(a)) == 2:
            kind = a[1]
            self.values += self.m.op(
                "sdy.manual_computation", [a], [kind],
                "in_shardings = #sdy.sharding_per_value<[SHARDING]>, out_shardings = "
                "#sdy.sharding_per_value<[SHARDING]>, manual_axes = #sdy<manual_axes{}>",
                '{^bb0(%%p: %s): %%r = "stablehlo.negate"(%%p) : (%s) -> %s "sdy.return"(%%r) : (%s) -> ()}' % (
                    (kind,) * 4))

    def text(self):
        kinds = [self.same, self.same, self.negate, self.reshard, self.barrier, self.dot, self.dot, self.transpose,
                 self.reshape, self.reshape, self.reduce, self.broadcast, self.concatenate,
                 self.optimization_barrier, self.loop, self.case, self.manual]
        for _ in range(self.rng.randint(2, 7)):
            self.rng.choice(kinds)()
        return self.m.text()


# ---- asking ----

def ask_shardy(text, options):
    """The module with reshards; None where Shardy's own verifier refuses what it made."""
    module = ir.Module.parse(text)
    try:
        passmanager.PassManager.parse("builtin.module(func.func(%s{%s}))" % (PASS, options)).run(module.operation)
    except ir.MLIRError:
        return None
    return str(module)


def answer(path):
    """Answers the questions in a file, one line each: Shardy may end this process at any of them."""
    for text, options, found in json.loads(path.read_text()):
        print(json.dumps([ask_shardy(text, options), again(found)]), flush=True)


def ask_all(questions, folder):
    """What Shardy answers to each question, and our answer in its words; None where it ended the process."""
    answers, path = [], folder / "questions.json"
    while len(answers) < len(questions):
        path.write_text(json.dumps(questions[len(answers):]))
        done = subprocess.run([sys.executable, __file__, "--answer", path], capture_output=True, text=True)
        answers += [json.loads(line) for line in done.stdout.split("\n") if line.endswith("]")]
        if done.returncode:
            answers.append([None, None])
    return answers


def run_ours(tessera, flags, texts, folder):
    """What we make of each text; None where we refuse it."""
    path = folder / "programs.mlir"
    path.write_text(MARK.join(texts))
    done = subprocess.run([tessera, "opt", *flags, "--split-input-file", path], capture_output=True, text=True)
    answers = done.stdout.split(MARK)
    if done.returncode == 0 and len(answers) == len(texts):
        return answers
    if len(texts) == 1:
        return [None]
    half = len(texts) // 2
    return run_ours(tessera, flags, texts[:half], folder) + run_ours(tessera, flags, texts[half:], folder)


def again(text):
    """What jaxlib makes of our text: in its own words."""
    try:
        return str(ir.Module.parse(text))
    except Exception as refusal:
        return str(refusal)


def show(text, wanted, found):
    print(text)
    for a, b in zip(wanted.split("\n"), found.split("\n")):
        if a != b:
            print("  shardy: %s\n  ours:   %s" % (a, b))


def questions_of(tessera, texts, options, folder, counts):
    """What we make of texts, but of those that we refuse."""
    found = run_ours(tessera, ["--%s=%s" % (PASS, options)], texts, folder)
    counts["refused"] += found.count(None)
    return [[text, options, made] for text, made in zip(texts, found) if made is not None]


def compare(questions, folder, counts):
    """How many modules get other reshards than Shardy gives them."""
    failed = 0
    for (text, _, _), (wanted, found) in zip(questions, ask_all(questions, folder)):
        counts["refused" if wanted is None else "asked"] += 1
        if wanted is None or wanted == found:
            continue
        known = next((name for name, is_it in KNOWN.items() if is_it(text)), None)
        counts[known] += 1
        failed += known is None
        if known is None and failed <= 3:
            show(text, wanted, found)
    return failed


def recorded(tessera, folder):
    """The programs of tests/programs after propagation."""
    texts = [path.read_text() for path in sorted((ROOT / "programs").glob("*/program.mlir"))]
    made = run_ours(tessera, ["--sdy-propagation-pipeline"], texts, folder)
    return [again(text) for text in made if text is not None]


def texts_of(rng, count):
    made = [random_ops.module(rng, name) for name in random_ops.OPS for _ in range(max(4, count // 10))]
    made = [text for text in made if not any(word in text for word in WITHOUT_RULES)]
    made += [Program(rng).text() for _ in range(4 * count)]
    return [text for text in (sharded(rng, text) for text in made) if text is not None]


def run(arguments, folder):
    rng = random.Random(arguments.seed)
    rng.straight = True
    texts = texts_of(rng, arguments.count) + recorded(arguments.tessera, folder)
    counts = collections.Counter()
    questions = [q for options in OPTIONS for q in questions_of(arguments.tessera, texts, options, folder, counts)]
    failed = compare(questions, folder, counts)
    asked = counts["asked"]
    print("%d of %d modules get the reshards that Shardy gives them; %d were refused" % (
        asked - failed, asked, counts["refused"]))
    for name in KNOWN:
        print("known differences of %s: %d" % (name, counts[name]))
    if failed * 1000 > asked:
        raise SystemExit("%d modules differ (seed %d)" % (failed, arguments.seed))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tessera", default="tessera")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--answer", type=pathlib.Path, help=argparse.SUPPRESS)
    with tempfile.TemporaryDirectory() as folder, mlir.make_ir_context() as context:
        context.enable_multithreading(False)  # a thread of its own would wait for Python to take what it says
        context.attach_diagnostic_handler(lambda diagnostic: True)  # what it refuses is left out
        arguments = parser.parse_args()
        if arguments.answer:
            answer(arguments.answer)
        else:
            run(arguments, pathlib.Path(folder))


if __name__ == "__main__":
    main()
