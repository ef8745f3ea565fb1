"""Random maps beside NumPy.

usage: check_maps.py --tessera COMMAND [--seed N] [--count N]

A random model is written by the safetensors library, stored in some way, and taken through a map of random
expressions: every function of docs/map.md in any nesting, captures, loops, parts and arithmetic. NumPy makes
of the same arrays what the map says; every element of what the command writes must be that, and `verify`
must find it the same from both sides, and different once a byte is.
"""
import itertools
import random

import ml_dtypes
import numpy
from safetensors.numpy import load_file, save_file

import cases

DTYPES = [numpy.float32, numpy.float16, ml_dtypes.bfloat16, numpy.float64, numpy.int8, numpy.uint16, numpy.int64,
          numpy.bool_]
SIBLINGS = 3  # tensors of one kind in a layer, of one type and shape
SMALL = [1, 1, 2, 3, 4, 6, 8, 12]


# ---- the source ----

class Kind:
    """Tensors that differ in layer and sibling only; `name` is how a map calls one of them."""

    def __init__(self, rng, number, layers):
        self.number = number
        self.dtype = rng.choice(DTYPES)
        self.shape = [rng.choice(SMALL + [0] * (rng.random() < 0.1)) for _ in range(rng.choice([0, 1, 2, 2, 2, 3, 3, 4]))]
        self.by_prefix = rng.random() < 0.4  # captured as {p:.*}, not as {n}
        self.layers = layers

    def path(self, layer, sibling):
        return "model.layers.%d.kind%d.%d.weight" % (layer, self.number, sibling)

    def name(self, sibling, first):
        tail = ".kind%d.%s.weight" % (self.number, sibling)
        if self.by_prefix:
            return ("{p:.*}" if first else "{p}") + tail
        return "model.layers.{n}" + tail


def random_source(rng):
    layers = rng.choice([1, 2, 3])
    kinds = [Kind(rng, number, layers) for number in range(rng.randint(1, 4))]
    tensors = {}
    for kind, layer, sibling in itertools.product(kinds, range(layers), range(SIBLINGS)):
        count = numpy.prod(kind.shape, dtype=int)
        if kind.dtype == numpy.bool_:
            array = numpy.frombuffer(bytes(rng.choices([0, 1], k=count)), kind.dtype)
        else:
            array = numpy.frombuffer(rng.randbytes(count * numpy.dtype(kind.dtype).itemsize), kind.dtype)
        tensors[kind.path(layer, sibling)] = array.reshape(kind.shape)
    return kinds, layers, tensors


# ---- numbers as people write them ----

class Numbers:
    def __init__(self, rng):
        self.rng, self.lets = rng, {}

    def text(self, value):
        way = self.rng.randrange(8)
        other = self.rng.randint(0, 9)
        if way == 0:
            return "%d+%d" % (value - other, other) if value >= other else "(%d-%d)" % (value + other, other)
        if way == 1 and value > 0:
            factor = self.rng.choice([f for f in range(1, value + 1) if value % f == 0])
            return "%d*%d" % (factor, value // factor)
        if way == 2:
            return "min(%d, %d)" % (value, value + other)
        if way == 3:
            word = "w%d" % value
            self.lets[word] = value
            return word
        return str(value)

    def dim(self, dim, rank):
        return str(dim - rank) if self.rng.random() < 0.3 else str(dim)

    def sizes(self, sizes):
        """With one left open, where the others tell it."""
        texts = [self.text(size) for size in sizes]
        if sizes and self.rng.random() < 0.4:
            texts[self.rng.randrange(len(sizes))] = "_"
        return texts


def factors(rng, product, most):
    """Sizes with this product, in any order."""
    sizes = []
    while len(sizes) < most - 1 and product > 1 and rng.random() < 0.7:
        sizes.append(rng.choice([f for f in range(1, product + 1) if product % f == 0]))
        product //= sizes[-1]
    sizes.append(product)
    rng.shuffle(sizes)
    return sizes


# ---- expressions: text and meaning grow together ----

class Expression:
    """`text(first)`, its words in a map, and `make(env)`, the array, for a layer and the variables of loops."""

    def __init__(self, shape, dtype, text, make):
        self.shape, self.dtype, self.text, self.make = shape, dtype, text, make


class Maker:
    def __init__(self, rng, numbers, tensors):
        self.rng, self.numbers, self.tensors = rng, numbers, tensors
        self.used, self.variables = set(), 0

    def leaf(self, kind, sibling):
        """`sibling` is a number, or the variable of a loop and what is added to it."""
        word = str(sibling) if isinstance(sibling, int) else "{%s}" % sibling[0] if not sibling[1] else "{%s+%d}" % sibling

        def make(env):
            number = sibling if isinstance(sibling, int) else env[sibling[0]] + sibling[1]
            path = kind.path(env["n"], number)
            self.used.add(path)
            return self.tensors[path]
        return Expression(list(kind.shape), kind.dtype, lambda first: kind.name(word, first), make)

    def grow(self, kind, depth, sibling):
        """An expression over one kind, and a function that says it again of another sibling."""
        if depth == 0:
            return self.leaf(kind, sibling), lambda other: self.leaf(kind, other)
        inner, again = self.grow(kind, depth - 1, sibling)
        ways = [self.reshape, self.pad, self.join, self.join]
        if inner.shape:
            ways += [self.transpose, self.permute, self.slice, self.slice, self.trim]
        return self.rng.choice(ways)(inner, again)

    def unary(self, inner, again, shape, word, tail, function):
        def build(x):
            return Expression(shape, x.dtype, lambda first: "%s(%s%s)" % (word, x.text(first), tail),
                              lambda env: function(x.make(env)))
        return build(inner), lambda other: build(again(other))

    def transpose(self, inner, again):
        order = self.rng.sample(range(len(inner.shape)), len(inner.shape))
        tail = "".join(", %s" % self.numbers.text(dim) for dim in order)
        if order == [1, 0] and self.rng.random() < 0.5:
            tail = ""
        return self.unary(inner, again, [inner.shape[d] for d in order], "transpose", tail,
                          lambda a: a.transpose(order))

    def reshape(self, inner, again):
        count = int(numpy.prod(inner.shape, dtype=int))
        shape = factors(self.rng, count, 4) if count != 1 or self.rng.random() < 0.5 else []
        texts = self.numbers.sizes(shape) if count else [str(size) for size in shape]
        return self.unary(inner, again, shape, "reshape", "".join(", " + text for text in texts),
                          lambda a: a.reshape(shape))

    def permute(self, inner, again):
        dim = self.rng.randrange(len(inner.shape))
        size = inner.shape[dim]
        sizes = factors(self.rng, size, 3) if size else [0, 2]
        order = self.rng.sample(range(len(sizes)), len(sizes))
        texts = self.numbers.sizes(sizes) if size else [str(s) for s in sizes]
        tail = ", %s, (%s), (%s)" % (self.numbers.dim(dim, len(inner.shape)), ", ".join(texts),
                                     ", ".join(map(str, order)))
        whole = inner.shape

        def function(a):
            parted = a.reshape(whole[:dim] + sizes + whole[dim + 1:])
            axes = list(range(dim)) + [dim + d for d in order] + list(range(dim + len(sizes), parted.ndim))
            return parted.transpose(axes).reshape(whole)
        return self.unary(inner, again, whole, "permute", tail, function)

    def slice(self, inner, again):
        dim = self.rng.randrange(len(inner.shape))
        size = inner.shape[dim]
        first, end = sorted(self.rng.choices(range(size + 1), k=2))
        texts = ["" if first == 0 and self.rng.random() < 0.5 else self.numbers.text(first),
                 "" if end == size and self.rng.random() < 0.5 else self.numbers.text(end)]
        shape = inner.shape[:dim] + [end - first] + inner.shape[dim + 1:]
        return self.unary(inner, again, shape, "slice", ", %s, %s:%s" % (self.numbers.dim(dim, len(inner.shape)), *texts),
                          lambda a: a[(slice(None),) * dim + (slice(first, end),)])

    def trim(self, inner, again):
        dim = self.rng.randrange(len(inner.shape))
        size = self.rng.randint(0, inner.shape[dim])
        shape = inner.shape[:dim] + [size] + inner.shape[dim + 1:]
        tail = ", %s, %s" % (self.numbers.dim(dim, len(inner.shape)), self.numbers.text(size))
        return self.unary(inner, again, shape, "trim", tail, lambda a: a[(slice(None),) * dim + (slice(0, size),)])

    def pad(self, inner, again):
        if not inner.shape:
            return self.join(inner, again)
        dim = self.rng.randrange(len(inner.shape))
        more = self.rng.randint(0, 5)
        value = self.rng.choice([None, 1, 0]) if inner.dtype == numpy.bool_ else self.rng.choice([None, 0, 1, 100])
        shape = inner.shape[:dim] + [inner.shape[dim] + more] + inner.shape[dim + 1:]
        tail = ", %s, %s%s" % (self.numbers.dim(dim, len(inner.shape)), self.numbers.text(shape[dim]),
                               "" if value is None else ", %d" % value)
        filling = numpy.full(inner.shape[:dim] + [more] + inner.shape[dim + 1:], value or 0).astype(inner.dtype)
        return self.unary(inner, again, shape, "pad", tail, lambda a: numpy.concatenate([a, filling], dim))

    def join(self, inner, again):
        """concat or stack of siblings: one by one, or by a loop."""
        stack = not inner.shape or self.rng.random() < 0.4
        rank = len(inner.shape) + stack
        dim = self.rng.randrange(rank)
        word = "stack" if stack else "concat"
        head = "%s(%s, " % (word, self.numbers.dim(dim, rank))
        function = numpy.stack if stack else numpy.concatenate
        items = [again(sibling) for sibling in self.rng.choices(range(SIBLINGS), k=self.rng.randint(1, 2))]
        loop = None
        if self.rng.random() < 0.5:
            variable, shift = "e%d" % self.variables, self.rng.choice([0, 0, 1])
            first = self.rng.randint(0, SIBLINGS - 1 - shift)
            end = self.rng.randint(first + 1, SIBLINGS - shift)
            self.variables += 1
            loop = (again((variable, shift)), variable, first, end)
        early = self.rng.random() < 0.5  # the loop comes first, and with it the first name
        count = len(items) + (loop[3] - loop[2] if loop else 0)
        shape = inner.shape[:dim] + [count] + inner.shape[dim:] if stack else list(inner.shape)
        if not stack:
            shape[dim] *= count
        around = " for %s in %s..%s" % (loop[1], self.numbers.text(loop[2]), self.numbers.text(loop[3])) if loop else ""

        def text(is_first):
            plain = [lambda f, x=x: x.text(f) for x in items]
            turns = [lambda f: loop[0].text(f) + around] if loop else []
            return head + ", ".join(say(is_first and not i) for i, say in enumerate(
                turns + plain if early else plain + turns)) + ")"

        def make(env):
            plain = [x.make(env) for x in items]
            turns = [loop[0].make({**env, loop[1]: turn}) for turn in range(loop[2], loop[3])] if loop else []
            return function(turns + plain if early else plain + turns, dim)
        # Said again of a sibling it is the same: what it joins stays.
        whole = Expression(shape, inner.dtype, text, make)
        return whole, lambda other: whole


# ---- statements ----

class Map:
    def __init__(self, rng, kinds, layers, tensors):
        self.rng, self.layers, self.numbers = rng, layers, Numbers(rng)
        self.maker = Maker(rng, self.numbers, tensors)
        self.lines, self.made, self.used = [], {}, set()
        for kind in kinds:
            for number in range(rng.choice([0, 1, 1, 2])):
                self.statement(kind, "made%d.%d" % (kind.number, number))
        if rng.random() < 0.3:
            self.lines.append("optional x.{n} = transpose(not.there.{n})")
        untouched = [path for path in tensors if path not in self.maker.used]
        if untouched and rng.random() < 0.3:
            gone = rng.choice(untouched)
            self.lines.append("drop %s" % gone)
            untouched.remove(gone)
        self.only = rng.random() < 0.2 and bool(self.made)
        if not self.only:
            self.made.update({path: tensors[path] for path in untouched})

    def text(self):
        lets = ["let %s = %d" % item for item in self.numbers.lets.items()]
        return "\n".join((["only"] if self.only else []) + lets + self.lines) + "\n"

    def target(self, kind, name):
        """The name of a result, and what stands there for a layer."""
        if kind.by_prefix:
            return "{p}.%s" % name, lambda n: "model.layers.%d.%s" % (n, name)
        scale, shift = self.rng.choice([(1, 0), (1, 3), (2, 1)])
        words = "{n}" if (scale, shift) == (1, 0) else "{%d*n+%d}" % (scale, shift)
        return "%s.%s" % (name, words), lambda n: "%s.%d" % (name, scale * n + shift)

    def statement(self, kind, name):
        whole, again = self.maker.grow(kind, self.rng.randint(0, 4), self.rng.randrange(SIBLINGS))
        way = self.rng.randrange(4)
        if way == 0 and whole.shape:
            return self.parts(kind, name, whole)
        if way == 1:
            return self.loop(kind, name, again)
        words, path = self.target(kind, name)
        self.lines.append("%s = %s" % (words, whole.text(True)))
        for n in range(self.layers):
            self.made[path(n)] = whole.make({"n": n})

    def loop(self, kind, name, again):
        """One tensor for each sibling, by a loop on the left."""
        variable = "s%d" % self.maker.variables
        self.maker.variables += 1
        whole = again((variable, 0))
        words, path = self.target(kind, name)
        self.lines.append("%s.{%s} for %s in 0..%d = %s" % (words, variable, variable, SIBLINGS, whole.text(True)))
        for n, sibling in itertools.product(range(self.layers), range(SIBLINGS)):
            self.made["%s.%d" % (path(n), sibling)] = whole.make({"n": n, variable: sibling})

    def parts(self, kind, name, whole):
        """split by sizes, split equally, or unstack."""
        dim = self.rng.randrange(len(whole.shape))
        size, numbers = whole.shape[dim], self.numbers
        at = numbers.dim(dim, len(whole.shape))
        words, path = self.target(kind, name)
        if self.rng.random() < 0.4:
            sizes = [self.rng.randint(0, size)]
            sizes.append(size - sizes[0])
            left = ", ".join("%s.part%d" % (words, i) for i in range(2))
            texts = [numbers.text(s) for s in sizes]
            if self.rng.random() < 0.5:
                texts[self.rng.randrange(2)] = "_"
            right = "split(%s, %s, %s)" % (whole.text(True), at, ", ".join(texts))
        else:
            count = self.rng.choice([c for c in range(1, size + 1) if size % c == 0] or [1])
            unstack = size > 0 and self.rng.random() < 0.5
            count = size if unstack else count
            sizes = [size // count] * count
            left = "%s.part{i} for i in 0..%s" % (words, numbers.text(count))
            right = "%s(%s, %s)" % ("unstack" if unstack else "split", whole.text(True), at)
        self.lines.append("%s = %s" % (left, right))
        for n in range(self.layers):
            pieces = numpy.split(whole.make({"n": n}), numpy.cumsum(sizes)[:-1], dim)
            for i, piece in enumerate(pieces):
                self.made["%s.part%d" % (path(n), i)] = piece.squeeze(dim) if right.startswith("unstack") else piece


# ---- the check ----

def same(found, wanted):
    if sorted(found) != sorted(wanted):
        raise SystemExit("names differ: %s" % sorted(set(found) ^ set(wanted)))
    for name, array in wanted.items():
        have = found[name]
        if have.dtype != array.dtype or have.shape != array.shape:
            raise SystemExit("%s is %s%s, wanted %s%s" % (name, have.dtype, have.shape, array.dtype, array.shape))
        if have.tobytes() != numpy.ascontiguousarray(array).tobytes():
            raise SystemExit("%s has other elements" % name)


def random_cut(rng, folder, name):
    rules = folder / (name + ".rules")
    specs = ["x", "_, x", "x, y", "y+x", "_, y, x", "()"]
    rules.write_text("".join("%s -> %s\n" % (word, rng.choice(specs)) for word in
                             ("kind0", "kind1", "kind2", "made0", "made1", "part", ".")))
    return ["--rules", rules, "--mesh", "x=%d,y=%d" % (rng.choice([1, 2, 3]), rng.choice([1, 2])), "--policy",
            rng.choice(["uneven", "pad", "error"]), "--format", rng.choice(["ranks", "tessera"]), "--no-sync"]


def store(run, rng, folder, tensors):
    """The source, in one of the ways there are."""
    whole, stored = folder / "whole.safetensors", folder / "stored"
    save_file(tensors, whole)
    way = rng.randrange(4)
    if way == 0:
        run("split", whole, stored, "--max-file-size", rng.choice([1, 100, 1000]), "--no-sync")
    elif way == 1:
        run("shard", whole, stored, *random_cut(rng, folder, "stored"))
    elif way == 2:
        run("merge", whole, folder / "stored.npz", "--no-sync")
        stored = folder / "stored.npz"
    return whole if way == 3 else stored


def check_map(run, rng, folder):
    kinds, layers, tensors = random_source(rng)
    source = store(run, rng, folder, tensors)
    wanted = Map(rng, kinds, layers, tensors)
    path, result = folder / "random.map", folder / "result.safetensors"
    path.write_text(wanted.text())
    if rng.random() < 0.5:
        run("reshard", source, folder / "cut", "--map", path, *random_cut(rng, folder, "cut"))
        run("gather", folder / "cut", result, "--no-sync")
    else:
        is_cut = (folder / "stored.rules").exists()
        run("gather" if is_cut else "merge", source, result, "--map", path, "--no-sync")
    same(load_file(result), wanted.made)
    if not any(name not in tensors for name in wanted.made):
        return  # nothing tells which of the two has the sources
    ends = [source, folder / "cut" if (folder / "cut").exists() else result]
    run("verify", *rng.sample(ends, 2), "--map", path)
    made = [name for name in wanted.made if wanted.made[name].size and name not in tensors]
    if made:
        damaged = {name: array.copy() for name, array in wanted.made.items()}
        data = damaged[rng.choice(made)].reshape(-1).view(numpy.uint8)
        data[rng.randrange(len(data))] ^= 1
        save_file(damaged, result)
        run("verify", *rng.sample([source, result], 2), "--map", path, wanted=1)


def check(run, rng, folder):
    try:
        check_map(run, rng, folder)
    except SystemExit as failure:
        path = folder / "random.map"
        raise SystemExit("%s\n%s" % (failure, path.read_text() if path.exists() else "")) from None


if __name__ == "__main__":
    cases.run(check, "maps: %d random ones made what NumPy makes")
