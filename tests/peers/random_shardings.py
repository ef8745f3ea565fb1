"""Random modules with shardings: several ops in chains and branches, regions, calls, constraints, groups.

`module(rng)` gives a text in the generic form. Nothing here knows what is valid in every place: a module that
jaxlib refuses is left out by the caller. Shapes are small, so that values of equal types meet often.
"""
import random_ops
from random_ops import ints, number, tensor

SIZES = (1, 2, 3, 4, 4, 6, 8, 8, 12, 16, 24, 5)
MESHES = ({"a": 2, "b": 2}, {"a": 4, "b": 2}, {"a": 2, "b": 3}, {"a": 2, "b": 2, "c": 2}, {"x": 8, "y": 2},
          {"a": 6, "b": 4}, {"a": 1, "b": 4}, {"a": 2, "b": 1, "c": 2}, {"x": 4, "y": 4, "z": 2},
          {"a": 2, "b": 2, "c": 2, "d": 2}, {"x": 16}, {"a": 3, "b": 5}, {"a": 12, "b": 2})
UNARY = ("abs", "cosine", "exponential", "negate", "tanh", "sqrt")
BINARY = ("add", "multiply", "subtract", "maximum", "divide")
POINTWISE_CALLS = ("annotate_device_placement", "MoveToHost", "MoveToDevice", "LayoutConstraint", "mhlo.erf",
                   "unknown_target")


def scalar(dtype):
    return tensor([], dtype)


class Value:
    def __init__(self, name, shape, dtype="f32"):
        self.name, self.shape, self.dtype = name, list(shape), dtype
        self.type = tensor(shape, dtype)


def compare_scalars(a, b):
    return ('"stablehlo.compare"(%s, %s) <{comparison_direction = #stablehlo<comparison_direction LT>}> '
            ": (tensor<i32>, tensor<i32>) -> tensor<i1>" % (a, b))


class Maker:
    """What a module is made with: meshes, numbers for names, functions that were made."""

    def __init__(self, rng):
        self.rng, self.count, self.funcs, self.callees = rng, 0, [], []
        self.mesh = dict(rng.choice(MESHES))
        self.meshes = [("mesh", self.mesh, "")]
        self.uses_priorities = rng.random() < 0.25
        self.is_prior = False  # whether shardings that are made now may have priorities
        self.is_called = False  # whether they are those of a call or in a called function
        self.uses_parts = rng.random() < 0.4
        self.density = rng.choice([0.1, 0.25, 0.5])
        self.groups = rng.randint(1, 3)
        if rng.random() < 0.1:
            self.add_other_mesh()

    def add_other_mesh(self):
        devices = 1
        for size in self.mesh.values():
            devices *= size
        order = list(range(devices))
        self.rng.shuffle(order)
        self.meshes.append(self.rng.choice([
            ("other", dict(self.mesh), ", device_ids=%s" % order), ("other", dict(self.mesh), ""),
            ("other", {"p": devices}, ""), ("other", {}, ", device_ids=[%d]" % self.rng.randrange(devices))]))

    def new(self):
        self.count += 1
        return "%%v%d" % self.count

    def mesh_lines(self):
        return ["sdy.mesh @%s = <[%s]%s>" % (name, ", ".join('"%s"=%d' % pair for pair in axes.items()), ids)
                for name, axes, ids in self.meshes]

    # ---- shardings ----

    def parts(self, axes):
        """Whole axes, or parts of them, in any order."""
        made = []
        for name, size in axes.items():
            cuts = [n for n in range(2, size) if size % n == 0]
            if self.uses_parts and cuts and self.rng.random() < 0.5:
                cut = self.rng.choice(cuts)
                made += [(name, 1, cut, size), (name, cut, size // cut, size)]
            else:
                made.append((name, 1, size, size))
        self.rng.shuffle(made)
        return made

    def sharding(self, shape, without=(), mesh=None):
        """Text of a tensor sharding for a shape; `without` are axes that must not be named."""
        rng = self.rng
        name, axes, _ = mesh or (self.meshes[0] if rng.random() < 0.85 else rng.choice(self.meshes))
        if not axes:  # one device
            return "<@%s, []>" % name
        dims, free, unreduced = [[] for _ in shape], [], []
        for part in self.parts({k: v for k, v in axes.items() if k not in without}):
            fits = [d for d, n in enumerate(shape)
                    if n % part[2] == 0 or rng.random() < 0.1]
            if fits and rng.random() < 0.6:
                dims[rng.choice(fits)].append(part)
            elif rng.random() < 0.12:
                free.append(part)
            elif rng.random() < 0.03 and not self.is_called:
                unreduced.append(part)
        order = list(axes)
        texts = [self.dim(join(dim)) for dim in dims]
        text = "<@%s, [%s]" % (name, ", ".join(texts))
        for word, listed in (("replicated", free), ("unreduced", unreduced)):
            if listed:
                listed = join(sorted(listed, key=lambda p: (order.index(p[0]), p[1])))
                text += ", %s={%s}" % (word, ", ".join(map(part_text, listed)))
        return text + ">"

    def dim(self, parts):
        rng = self.rng
        words = [part_text(part) for part in parts]
        is_open = rng.random() < 0.5
        text = "{%s}" % ", ".join(words + ["?"] if is_open else words)
        if (parts or is_open) and self.is_prior and rng.random() < 0.5:
            text += "p%d" % rng.randint(0, 3)
        return text

    def maybe(self, values, without, attribute="sdy.sharding"):
        """The attribute with shardings of results, or nothing."""
        if self.rng.random() >= self.density / 3 or not values:
            return ""
        return "%s = #sdy.sharding_per_value<[%s]>" % (
            attribute, ", ".join(self.sharding(shape, without) for shape in values))


def join(parts):
    """Parts that continue one another are one."""
    made = []
    for name, pre, size, whole in parts:
        if made and made[-1][0] == name and made[-1][1] * made[-1][2] == pre:
            made[-1] = (name, made[-1][1], made[-1][2] * size, whole)
        else:
            made.append((name, pre, size, whole))
    return made


def part_text(part):
    name, pre, size, whole = part
    return '"%s"' % name if size == whole else '"%s":(%d)%d' % (name, pre, size)


class Scope:
    """The ops of one block, and the values that can be used in it."""

    def __init__(self, maker, values, without=(), depth=0):
        self.maker, self.rng, self.values = maker, maker.rng, list(values)
        self.without, self.depth, self.lines = tuple(without), depth, []

    def pick(self, least=0, dtype="f32"):
        """A value that is there already, newer ones more often; None if there is none."""
        fit = [v for v in self.values if len(v.shape) >= least and v.dtype == dtype]
        if not fit:
            return None
        return self.rng.choice(fit[-4:] if self.rng.random() < 0.6 else fit)

    def alike(self, value):
        """Another value of the same type: one that is there, or the same."""
        fit = [v for v in self.values if v.type == value.type]
        return self.rng.choice(fit) if fit else value

    def of_type(self, shape, dtype="f32"):
        """A value of a type, made if there is none."""
        fit = [v for v in self.values if v.type == tensor(shape, dtype)]
        if fit:
            return self.rng.choice(fit)
        return self.constant(shape, dtype)

    def constant(self, shape, dtype="f32"):
        zero = "0.0" if dtype[0] == "f" else "0" if dtype != "i1" else "false"
        if self.rng.random() < 0.3 and shape:
            small = self.op("stablehlo.constant", [], [([], dtype)], "value = dense<%s> : %s" % (zero, scalar(dtype)))
            return self.op("stablehlo.broadcast_in_dim", small, [(shape, dtype)],
                           "broadcast_dimensions = " + ints([]))[0]
        return self.op("stablehlo.constant", [], [(shape, dtype)],
                       "value = dense<%s> : %s" % (zero, tensor(shape, dtype)))[0]

    def op(self, name, operands, results, properties="", regions="", attributes=()):
        made = [Value(self.maker.new(), shape, dtype) for shape, dtype in results]
        extra = [a for a in attributes if a]
        if not any("sdy.sharding " in a for a in extra) and not name.startswith("sdy."):
            extra += [a for a in [self.maker.maybe([v.shape for v in made], self.without)] if a]
        self.lines.append('%s"%s"(%s)%s%s%s : (%s) -> (%s)' % (
            ", ".join(v.name for v in made) + " = " if made else "", name, ", ".join(v.name for v in operands),
            " <{%s}>" % properties if properties else "", " (%s)" % regions if regions else "",
            " {%s}" % ", ".join(extra) if extra else "", ", ".join(v.type for v in operands),
            ", ".join(v.type for v in made)))
        self.values += made
        return made

    def grow(self, count):
        for _ in range(count):
            self.maker.is_prior = self.maker.uses_priorities and not self.depth
            self.rng.choice(OPS)(self, self.rng)

    def region(self, args, results, count, returned="stablehlo.return", without=None, closed=False):
        """A block with arguments that gives values of the types of `results`."""
        inner = Scope(self.maker, ([] if closed else self.values) + args, without or self.without, self.depth + 1)
        inner.grow(count)
        given = [inner.of_type(v.shape, v.dtype) for v in results]
        inner.lines.append('"%s"(%s) : (%s) -> ()' % (
            returned, ", ".join(v.name for v in given), ", ".join(v.type for v in given)))
        head = "^bb0(%s):\n" % ", ".join("%s: %s" % (v.name, v.type) for v in args) if args else ""
        return "{\n%s%s\n}" % (head, "\n".join(inner.lines))

    def arg(self, shape, dtype="f32"):
        return Value(self.maker.new(), shape, dtype)


# ---- ops ----

def unary(s, rng):
    x = s.pick()
    s.op("stablehlo." + rng.choice(UNARY), [x], [(x.shape, "f32")])


def binary(s, rng):
    x = s.pick()
    s.op("stablehlo." + rng.choice(BINARY), [x, s.alike(x)], [(x.shape, "f32")])


def select(s, rng):
    x = s.pick()
    test = s.of_type(rng.choice([x.shape, []]), "i1")
    s.op("stablehlo.select", [test, x, s.alike(x)], [(x.shape, "f32")])


def compare(s, rng):
    x = s.pick()
    s.op("stablehlo.compare", [x, s.alike(x)], [(x.shape, "i1")],
         "comparison_direction = #stablehlo<comparison_direction LT>")


def constant(s, rng):
    s.constant(rng.choice(s.values).shape)


def iota(s, rng):
    x = s.pick(1)
    if x:
        s.op("stablehlo.iota", [], [(x.shape, "f32")], "iota_dimension = " + number(rng.randrange(len(x.shape))))


def broadcast(s, rng):
    x = s.pick()
    rank = min(4, len(x.shape) + rng.randint(0, 2))
    dims = sorted(rng.sample(range(rank), len(x.shape))) if rank >= len(x.shape) else None
    if dims is None:
        return
    shape = [rng.choice(SIZES) for _ in range(rank)]
    for d, n in zip(dims, x.shape):
        shape[d] = n if n != 1 else rng.choice([1, shape[d]])
    s.op("stablehlo.broadcast_in_dim", [x], [(shape, "f32")], "broadcast_dimensions = " + ints(dims))


def transpose(s, rng):
    x = s.pick(2)
    if x:
        order = random_ops.permutation(rng, len(x.shape))
        s.op("stablehlo.transpose", [x], [([x.shape[i] for i in order], "f32")], "permutation = " + ints(order))


def reshaped(rng, shape):
    """Another shape of as many elements: dims merged, then some split."""
    shape = list(shape)
    for _ in range(rng.randint(0, 2)):
        if len(shape) > 1:
            at = rng.randrange(len(shape) - 1)
            shape[at:at + 2] = [shape[at] * shape[at + 1]]
    for _ in range(rng.randint(0, 2)):
        at = rng.randrange(len(shape) + 1)
        whole = shape[at] if at < len(shape) else 1
        cut = rng.choice([n for n in range(1, whole + 1) if whole % n == 0])
        shape[at:at + 1] = [cut, whole // cut]
    return shape if len(shape) <= 5 else [product(shape)]


def product(sizes):
    made = 1
    for n in sizes:
        made *= n
    return made


def reshape(s, rng):
    x = s.pick()
    s.op("stablehlo.reshape", [x], [(reshaped(rng, x.shape), "f32")])


def dot_general(s, rng):
    a, b = s.pick(1), s.pick(1)
    if not a:
        return
    pairs, used = [], set()
    for i, n in enumerate(a.shape):
        fit = [j for j, m in enumerate(b.shape) if m == n and j not in used]
        if fit and rng.random() < 0.7:
            pairs.append((i, rng.choice(fit)))
            used.add(pairs[-1][1])
    rng.shuffle(pairs)
    cut = rng.randint(0, len(pairs))
    batch, contract = pairs[:cut], pairs[cut:]
    shape = [a.shape[i] for i, _ in batch]
    shape += [n for i, n in enumerate(a.shape) if i not in [p[0] for p in pairs]]
    shape += [n for j, n in enumerate(b.shape) if j not in [p[1] for p in pairs]]
    if len(shape) > 5:
        return
    s.op("stablehlo.dot_general", [a, b], [(shape, "f32")],
         "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = %s, rhs_batching_dimensions = %s, "
         "lhs_contracting_dimensions = %s, rhs_contracting_dimensions = %s>" % (
             [p[0] for p in batch], [p[1] for p in batch], [p[0] for p in contract], [p[1] for p in contract]))


def reduce(s, rng):
    x = s.pick(1)
    if x:
        dims = sorted(rng.sample(range(len(x.shape)), rng.randint(1, len(x.shape))))
        shape = [n for d, n in enumerate(x.shape) if d not in dims]
        s.op("stablehlo.reduce", [x, s.of_type([])], [(shape, "f32")], "dimensions = " + ints(dims),
             random_ops.combiner(STRAIGHT, ["f32"], rng.choice(["stablehlo.add", "stablehlo.maximum"])))


def concatenate(s, rng):
    x = s.pick(1)
    if not x:
        return
    dim = rng.randrange(len(x.shape))
    fit = [v for v in s.values if v.dtype == "f32" and len(v.shape) == len(x.shape) and all(
        d == dim or n == m for d, (n, m) in enumerate(zip(v.shape, x.shape)))]
    parts = [x] + [rng.choice(fit) for _ in range(rng.randint(1, 2))]
    shape = list(x.shape)
    shape[dim] = sum(v.shape[dim] for v in parts)
    s.op("stablehlo.concatenate", parts, [(shape, "f32")], "dimension = " + number(dim))


def slice_op(s, rng):
    x = s.pick(1)
    if x:
        keep = [rng.random() < 0.6 for _ in x.shape]
        starts = [0 if k else rng.randint(0, n - 1) for k, n in zip(keep, x.shape)]
        limits = [n if k else rng.randint(a + 1, n) for k, a, n in zip(keep, starts, x.shape)]
        strides = [1 if k else rng.choice([1, 1, 2]) for k in keep]
        shape = [-(-(b - a) // t) for a, b, t in zip(starts, limits, strides)]
        s.op("stablehlo.slice", [x], [(shape, "f32")], "start_indices = %s, limit_indices = %s, strides = %s" % (
            ints(starts), ints(limits), ints(strides)))


def pad(s, rng):
    x = s.pick(1)
    if x:
        low, high = ([rng.choice([0, 0, 1, 2]) for _ in x.shape] for _ in range(2))
        shape = [a + b + n for a, b, n in zip(low, high, x.shape)]
        s.op("stablehlo.pad", [x, s.of_type([])], [(shape, "f32")],
             "edge_padding_low = %s, edge_padding_high = %s, interior_padding = %s" % (
                 ints(low), ints(high), ints([0] * len(shape))))


def dynamic_slice(s, rng):
    x = s.pick(1)
    if x:
        shape = [n if rng.random() < 0.6 else rng.randint(1, n) for n in x.shape]
        s.op("stablehlo.dynamic_slice", [x] + [s.of_type([], "i32") for _ in shape], [(shape, "f32")],
             "slice_sizes = " + ints(shape))


def dynamic_update_slice(s, rng):
    x = s.pick(1)
    if x:
        shape = [n if rng.random() < 0.6 else rng.randint(1, n) for n in x.shape]
        s.op("stablehlo.dynamic_update_slice", [x, s.of_type(shape)] + [s.of_type([], "i32") for _ in shape],
             [(x.shape, "f32")])


def reverse(s, rng):
    x = s.pick(1)
    if x:
        s.op("stablehlo.reverse", [x], [(x.shape, "f32")],
             "dimensions = " + ints(rng.sample(range(len(x.shape)), rng.randint(1, len(x.shape)))))


def sort(s, rng):
    x = s.pick(1)
    if x:
        parts = [x, s.alike(x)][:rng.randint(1, 2)]
        s.op("stablehlo.sort", parts, [(x.shape, "f32")] * len(parts),
             "dimension = %s, is_stable = true" % number(rng.randrange(len(x.shape))),
             random_ops.comparator(STRAIGHT, ["f32"] * len(parts)))


def gather(s, rng):
    """Rows of a table."""
    x = s.pick(1)
    if x:
        batch = [rng.choice([2, 4, 8])]
        indices = s.of_type(batch + [1], "i32")
        sizes = [1] + x.shape[1:]
        s.op("stablehlo.gather", [x, indices], [(batch + x.shape[1:], "f32")],
             "dimension_numbers = #stablehlo.gather<offset_dims = %s, collapsed_slice_dims = [0], "
             "start_index_map = [0], index_vector_dim = 1>, slice_sizes = %s" % (
                 list(range(1, len(x.shape))), ints(sizes)))


def scatter(s, rng):
    x = s.pick(1)
    if x:
        batch = [rng.choice([2, 4, 8])]
        indices = s.of_type(batch + [1], "i32")
        updates = s.of_type(batch + x.shape[1:])
        s.op("stablehlo.scatter", [x, indices, updates], [(x.shape, "f32")],
             "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = %s, inserted_window_dims = [0], "
             "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>" % list(range(1, len(x.shape))),
             random_ops.combiner(STRAIGHT, ["f32"], rng.choice(["stablehlo.add", "stablehlo.divide"])))


def convolution(s, rng):
    x = s.pick(4)
    if not x or len(x.shape) != 4 or min(x.shape[1:3]) < 2:
        return
    features = rng.choice([2, 4, 8])
    kernel = s.of_type([2, 2, x.shape[3], features])
    s.op("stablehlo.convolution", [x, kernel],
         [([x.shape[0], x.shape[1] - 1, x.shape[2] - 1, features], "f32")],
         "batch_group_count = 1 : i64, feature_group_count = 1 : i64, "
         "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>")


def reduce_window(s, rng):
    x = s.pick(1)
    if x:
        window = [rng.choice([1, min(2, n)]) for n in x.shape]
        shape = [n - w + 1 for n, w in zip(x.shape, window)]
        s.op("stablehlo.reduce_window", [x, s.of_type([])], [(shape, "f32")],
             "window_dimensions = " + ints(window), random_ops.combiner(STRAIGHT, ["f32"]))


def custom_call(s, rng):
    x = s.pick()
    s.op("stablehlo.custom_call", [x], [(x.shape, "f32")],
         'call_target_name = "%s"%s' % (rng.choice(POINTWISE_CALLS), rng.choice(["", ", has_side_effect = true"])))


def ruled_call(s, rng):
    """A custom call with a rule of its user: the dims of the operands are factors, some shared."""
    x, y = s.pick(1), s.pick(1)
    if not x:
        return
    names, sizes = [], []

    def factor(n, shared):
        fit = [f for f, m in zip(names, sizes) if m == n and f not in shared]
        if fit and rng.random() < 0.7:
            return rng.choice(fit)
        names.append("ijklmnopqrstuvwxyz"[len(names)])
        sizes.append(n)
        return names[-1]
    dims = []
    for value in (x, y):
        mine = []
        for n in value.shape:
            mine.append(factor(n, mine))
        dims.append(mine)
    result = rng.sample(names, rng.randint(1, min(4, len(names))))
    shape = [sizes[names.index(f)] for f in result]
    kinds = {f: rng.choice(["", "", "need_replication", "permutation", "" if f in result else "reduction"])
             for f in names}
    text = "#sdy.op_sharding_rule<(%s)->(%s) {%s}" % (
        ", ".join("[%s]" % ", ".join(d) for d in dims), "[%s]" % ", ".join(result),
        ", ".join("%s=%d" % pair for pair in zip(names, sizes)))
    for kind in ("reduction", "need_replication", "permutation"):
        if kind in kinds.values():
            text += " %s={%s}" % (kind, ", ".join(f for f in names if kinds[f] == kind))
    blocked = [f for f in names if rng.random() < 0.15]
    if blocked:
        text += " blocked_propagation={%s}" % ", ".join(blocked)
    s.op("stablehlo.custom_call", [x, y], [(shape, "f32")], 'call_target_name = "mine"',
         attributes=["sdy.sharding_rule = %s, custom>" % text])


# ---- Shardy's own ops ----

def constraint(s, rng):
    x = s.pick()
    s.op("sdy." + rng.choice(["sharding_constraint"] * 4 + ["reshard"]), [x], [(x.shape, "f32")],
         "sharding = #sdy.sharding" + s.maker.sharding(x.shape, s.without))


def group(s, rng):
    x = s.pick()
    fit = [v for v in s.values if v.type == x.type]
    number_of = 100 * len(x.shape) + 10 * (sum(x.shape) % 10) + rng.randrange(s.maker.groups)
    for value in rng.sample(fit, min(len(fit), rng.randint(1, 3))):
        s.op("sdy.sharding_group", [value], [], "group_id = %d : i64" % number_of)


def barrier(s, rng):
    x = s.pick()
    s.op("sdy.propagation_barrier", [x], [(x.shape, "f32")],
         "allowed_direction = %s" % ("%d : i32" % rng.randrange(3)))


def local(shape, dims, axes, manual):
    """The shape of a shard along the manual axes; None if they do not divide it."""
    made = []
    for n, dim in zip(shape, dims):
        parts = product(axes[a] for a in dim if a in manual)
        if n % parts:
            return None
        made.append(n // parts)
    return made


def manual_sharding(s, rng, shape, manual):
    """Text of a sharding with manual axes first in each dim, and the shape within."""
    axes = s.maker.mesh
    dims = [[] for _ in shape]
    names = list(axes)
    rng.shuffle(names)
    for name in sorted(names, key=lambda n: n not in manual):
        if name in s.without:
            continue
        fits = [d for d, n in enumerate(shape) if n % product(axes[a] for a in dims[d] + [name]) == 0]
        if fits and rng.random() < 0.6:
            dims[rng.choice(fits)].append(name)
    inner = local(shape, dims, axes, manual)
    texts = []
    for dim in dims:
        is_open = rng.random() < 0.4 and not (dim and dim[-1] in manual)
        texts.append("{%s}" % ", ".join(['"%s"' % a for a in dim] + (["?"] if is_open else [])))
    return "<@mesh, [%s]>" % ", ".join(texts), inner


def manual_computation(s, rng):
    if s.depth > 1:
        return
    axes = [a for a in s.maker.mesh if a not in s.without]
    manual = sorted(rng.sample(axes, rng.randint(0, len(axes))), key=list(s.maker.mesh).index)
    inputs = [s.pick() for _ in range(rng.randint(1, 2))]
    outputs = [rng.choice(inputs).shape for _ in range(rng.randint(1, 2))]
    ins = [manual_sharding(s, rng, v.shape, manual) for v in inputs]
    outs = [manual_sharding(s, rng, shape, manual) for shape in outputs]
    args = [s.arg(shape) for _, shape in ins]
    body = s.region(args, [Value("", shape) for _, shape in outs], rng.randint(1, 4), "sdy.return",
                    s.without + tuple(manual), closed=True)
    s.op("sdy.manual_computation", inputs, [(shape, "f32") for shape in outputs],
         "in_shardings = #sdy.sharding_per_value<[%s]>, out_shardings = #sdy.sharding_per_value<[%s]>, "
         "manual_axes = #sdy<manual_axes{%s}>" % (
             ", ".join(t for t, _ in ins), ", ".join(t for t, _ in outs),
             ", ".join('"%s"' % a for a in manual)), body)


# ---- regions and calls ----

def while_op(s, rng):
    if s.depth > 1:
        return
    carried = [s.of_type([], "i32")] + [s.pick() for _ in range(rng.randint(1, 3))]
    first, second = ([s.arg(v.shape, v.dtype) for v in carried] for _ in range(2))
    test = s.arg([], "i1")
    limit = s.arg([], "i32")
    condition = ('{\n^bb0(%s):\n%s = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>\n'
                 '%s = %s\n"stablehlo.return"(%s) : (tensor<i1>) -> ()\n}' % (
                     ", ".join("%s: %s" % (v.name, v.type) for v in first), limit.name, test.name,
                     compare_scalars(first[0].name, limit.name), test.name))
    body = s.region(second, second, rng.randint(1, 5))
    s.op("stablehlo.while", carried, [(v.shape, v.dtype) for v in carried], "", condition + ", " + body)


def case_op(s, rng):
    if s.depth > 1:
        return
    results = [s.pick() for _ in range(rng.randint(1, 2))]
    index = s.of_type([], "i32")
    branches = [s.region([], results, rng.randint(0, 3)) for _ in range(rng.randint(1, 3))]
    s.op("stablehlo.case", [index], [(v.shape, v.dtype) for v in results], "", ", ".join(branches))


def optimization_barrier(s, rng):
    parts = [s.pick() for _ in range(rng.randint(1, 3))]
    s.op("stablehlo.optimization_barrier", parts, [(v.shape, v.dtype) for v in parts])


def call(s, rng):
    maker = s.maker
    if s.without or s.depth > 1:
        return
    if not maker.callees or rng.random() < 0.4:
        add_function(s, rng)
    for name, args, results in rng.sample(maker.callees, len(maker.callees)):
        operands = [s.of_type(shape) for shape in args]
        outside, maker.is_called = maker.is_called, True
        s.op("func.call", operands, [(shape, "f32") for shape in results], "callee = @%s" % name)
        maker.is_called = outside
        return


def add_function(s, rng):
    maker = s.maker
    values = [s.pick() for _ in range(rng.randint(1, 2))]
    results = [rng.choice(values) for _ in range(rng.randint(1, 2))]
    name = "f%d" % len(maker.funcs)
    maker.funcs.append("")
    at = len(maker.funcs) - 1
    maker.funcs[at] = function(maker, name, [v.shape for v in values], [v.shape for v in results],
                               rng.randint(1, 4), "private ", 2 if rng.random() < 0.5 else 1)
    maker.callees.append((name, [v.shape for v in values], [v.shape for v in results]))


class Straight:
    straight = True

    def choice(self, values):
        return values[0]


STRAIGHT = Straight()

OPS = ([unary] * 4 + [binary] * 8 + [dot_general] * 6 + [reshape] * 4 + [transpose] * 3 + [broadcast] * 3 +
       [reduce] * 3 + [constraint] * 4 + [constant] * 2 + [select, compare, iota, concatenate, concatenate, slice_op,
       pad, dynamic_slice, dynamic_update_slice, reverse, sort, gather, scatter, convolution, reduce_window,
       custom_call, ruled_call, group, group, barrier, manual_computation, manual_computation, while_op, while_op,
       case_op, optimization_barrier, call, call])


def attribute_of(maker, shape):
    if maker.rng.random() >= maker.density * 1.5:
        return ""
    return " {sdy.sharding = #sdy.sharding%s}" % maker.sharding(shape)


def function(maker, name, args, results, count, visibility, depth=0):
    values = [Value(maker.new(), shape) for shape in args]
    outside = maker.is_called
    maker.is_called = visibility == "private "
    scope = Scope(maker, values, (), depth)
    scope.grow(count)
    maker.is_prior = maker.uses_priorities
    if results is None:
        # Shardy crashes where it drops an op whose sharding has priorities: then all are used.
        made = [v for v in scope.values if v not in values] or values
        returned = [maker.rng.choice(made[-6:]) for _ in range(maker.rng.randint(1, 3))]
        returned = made if maker.uses_priorities else returned
    else:
        returned = [scope.of_type(shape) for shape in results]
    text = "func.func %s@%s(%s) -> (%s) {\n%s\nreturn %s : %s\n}" % (
        visibility, name, ", ".join("%s: %s%s" % (v.name, v.type, attribute_of(maker, v.shape)) for v in values),
        ", ".join("%s%s" % (v.type, attribute_of(maker, v.shape)) for v in returned), "\n".join(scope.lines),
        ", ".join(v.name for v in returned), ", ".join(v.type for v in returned))
    maker.is_called = outside
    return text


def module(rng):
    maker = Maker(rng)
    sizes = rng.sample(SIZES, 4)
    args = [[rng.choice(sizes) for _ in range(rng.choice([0, 1, 2, 2, 2, 3, 3, 4]))] for _ in range(rng.randint(1, 4))]
    args[0] = args[0] or [8, 8]
    main = function(maker, "main", args, None, rng.choice([1, 2, 3, 5, 8, 8, 12, 20]), "public ")
    return "module {\n%s\n%s\n}\n" % ("\n".join(maker.mesh_lines()), "\n".join([main] + maker.funcs))
