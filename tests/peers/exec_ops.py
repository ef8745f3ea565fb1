"""Random modules of one op that can be run: every op with every element type that jaxlib takes for it.

Most are made by random_ops.py, through a generator that bends nothing and gives the wanted element type. Ops
that it lacks, or makes so that they would not end or would show little when run, are made here. A maker
gets a `random_ops.Module`, a generator and an element type.
"""
import random

import random_ops
from random_ops import ALL, COMPLEX, FLOATS, INTS, SMALL, ints, number, shape_of, tensor

REALS = FLOATS + SMALL
ORDERED = ["i1"] + INTS + REALS


class Steered(random.Random):
    """A generator that gives `dtype` where one of several element types is to be chosen."""
    straight, dtype = True, None

    def choice(self, options):
        if self.dtype in options:
            return self.dtype
        if options == (0, 1, 2, 3, 4, 6):  # sizes: seldom nothing, at times more than a vector
            options = (0, 1, 1, 2, 2, 3, 3, 4, 6, 11)
        return super().choice(options)


# ---- regions ----

def region(kinds, lines, returned, types, names="pqrs"):
    """A region with arguments of these types."""
    args = ", ".join("%%%s%d: %s" % (names[0], i, k) for i, k in enumerate(kinds))
    head = "^bb0(%s): " % args if kinds else ""
    return "{%s%s \"stablehlo.return\"(%s) : (%s) -> ()}" % (head, " ".join(lines), ", ".join(returned), ", ".join(types))


def combine(rng, dtypes, choices=("add", "add", "add", "maximum", "minimum", "multiply")):
    """A body that combines each pair of scalars by the same op."""
    if any(d == "i1" for d in dtypes):
        choices = ("and", "or", "xor", "maximum")
    elif any(d.startswith("complex") for d in dtypes):
        choices = ("add", "add", "multiply")
    op, n = rng.choice(choices), len(dtypes)
    kinds = [tensor([], d) for d in dtypes]
    lines = ["%%r%d = \"stablehlo.%s\"(%%p%d, %%p%d) : (%s, %s) -> %s" % (i, op, i, i + n, k, k, k)
             for i, k in enumerate(kinds)]
    return region(kinds * 2, lines, ["%%r%d" % i for i in range(n)], kinds)


def arg_extreme(rng, dtype):
    """The body of argmax as JAX writes it: the greater, of equal ones that with the lower index."""
    value, index = tensor([], dtype), "tensor<i32>"
    direction = rng.choice(["GT", "LT"])
    lines = []

    def add(name, op, operands, types, result, properties=""):
        lines.append("%s = \"stablehlo.%s\"(%s)%s : (%s) -> %s" % (
            name, op, ", ".join(operands), " <{%s}>" % properties if properties else "", ", ".join(types), result))

    def order(name, direction, a, b, kind):
        add(name, "compare", [a, b], [kind, kind], "tensor<i1>",
            "comparison_direction = #stablehlo<comparison_direction %s>" % direction)
    order("%a", direction, "%p0", "%p2", value)
    order("%b", "NE", "%p0", "%p0", value)
    add("%c", "or", ["%a", "%b"], ["tensor<i1>"] * 2, "tensor<i1>")
    order("%d", "EQ", "%p0", "%p2", value)
    order("%e", "LT", "%p1", "%p3", index)
    add("%f", "and", ["%d", "%e"], ["tensor<i1>"] * 2, "tensor<i1>")
    add("%g", "or", ["%c", "%f"], ["tensor<i1>"] * 2, "tensor<i1>")
    add("%r0", "select", ["%c", "%p0", "%p2"], ["tensor<i1>", value, value], value)
    add("%r1", "select", ["%g", "%p1", "%p3"], ["tensor<i1>", index, index], index)
    return region([value, index] * 2, lines, ["%r0", "%r1"], [value, index])


def order_region(rng, dtypes, total):
    kinds = [tensor([], d) for d in dtypes for _ in range(2)]
    text = "comparison_direction = #stablehlo<comparison_direction %s>" % rng.choice(["LT", "GT"])
    if total:
        text += ", compare_type = #stablehlo<comparison_type TOTALORDER>"
    line = "%%c = \"stablehlo.compare\"(%%p0, %%p1) <{%s}> : (%s, %s) -> tensor<i1>" % (text, kinds[0], kinds[0])
    return region(kinds, [line], ["%c"], ["tensor<i1>"])


# ---- elements ----

def convert(m, rng, dtype):
    shape = shape_of(rng)
    m.op("stablehlo.convert", [m.arg(shape, dtype)], [tensor(shape, random.Random.choice(rng, ALL))])


def bitcast_convert(m, rng, dtype):
    other = random.Random.choice(rng, ALL)
    wide, narrow = random_ops.bits(dtype), random_ops.bits(other)
    shape, result = shape_of(rng), None
    if wide >= narrow:
        result = shape + ([wide // narrow] if wide > narrow else [])
    else:
        result, shape = shape, shape + [narrow // wide]
    m.op("stablehlo.bitcast_convert", [m.arg(shape, dtype)], [tensor(result, other)])


def compare(m, rng, dtype):
    shape = shape_of(rng)
    kinds = [""] if dtype[0] in "iuc" else ["", "FLOAT", "TOTALORDER"]
    text = "comparison_direction = #stablehlo<comparison_direction %s>" % rng.choice(
        ["EQ", "NE"] if dtype[0] == "c" else ["EQ", "NE", "GE", "GT", "LE", "LT"])
    kind = rng.choice(kinds)
    if kind:
        text += ", compare_type = #stablehlo<comparison_type %s>" % kind
    m.op("stablehlo.compare", [m.arg(shape, dtype), m.arg(shape, dtype)], [tensor(shape, "i1")], text)


def clamp(m, rng, dtype):
    shape = shape_of(rng)
    m.op("stablehlo.clamp", [m.arg(rng.choice([shape, []]), dtype), m.arg(shape, dtype),
                             m.arg(rng.choice([shape, []]), dtype)], [tensor(shape, dtype)])


def reduce_precision(m, rng, dtype):
    shape = shape_of(rng)
    m.op("stablehlo.reduce_precision", [m.arg(shape, dtype)], [tensor(shape, dtype)],
         "exponent_bits = %d : i32, mantissa_bits = %d : i32" % (rng.choice([1, 3, 5, 8, 11]), rng.choice([0, 2, 7, 10, 23])))


def chlo_unary(name):
    def make(m, rng, dtype):
        shape = shape_of(rng)
        m.op(name, [m.arg(shape, dtype)], [tensor(shape, "i1" if "is_" in name else dtype)])
    return make


def chlo_binary(name):
    def make(m, rng, dtype):
        shape = shape_of(rng)
        m.op(name, [m.arg(shape, dtype), m.arg(shape, dtype)], [tensor(shape, dtype)])
    return make


def broadcasting(name):
    """chlo.broadcast_*: operands of ranks and sizes that fit one shape."""
    def make(m, rng, dtype):
        result = shape_of(rng, 0, 3, (1, 2, 3, 5))
        operands = []
        for which in range(3 if name == "select" else 2):
            rank = rng.randint(0, len(result))
            shape = [rng.choice([1, n, n]) for n in result[len(result) - rank:]]
            operands.append((shape, "i1" if name == "select" and which == 0 else dtype))
        whole = [1] * max(len(s) for s, _ in operands)
        for shape, _ in operands:
            for i, n in enumerate(reversed(shape)):
                whole[-1 - i] = max(n, whole[-1 - i])
        target = {"complex": random_ops.WHOLE.get(dtype, dtype), "compare": "i1"}.get(name, dtype)
        text = "comparison_direction = #chlo<comparison_direction %s>" % rng.choice(["EQ", "NE"]) if name == "compare" else ""
        m.op("chlo.broadcast_" + name, [m.arg(*o) for o in operands], [tensor(whole, target)], text)
    return make


def chlo_constant(m, rng, dtype):
    kind = tensor([3], dtype)
    m.op("chlo.constant", [], [kind], "value = dense<%s> : %s" % (random_ops.nested(rng, [3], dtype), kind))


def constant(m, rng, dtype):
    shape = shape_of(rng) if rng.random() < 0.9 else [101]
    kind = tensor(shape, dtype)
    empty = 0 in shape
    value = "" if empty else random_ops.literal(rng, dtype) if rng.random() < 0.3 else random_ops.nested(rng, shape, dtype)
    m.op("stablehlo.constant", [], [kind], "value = dense<%s> : %s" % (value, kind))


def constant_like(m, rng, dtype):
    shape = shape_of(rng)
    if dtype[0] in "iu":
        value = number(1, "i%d" % random_ops.bits(dtype)) if dtype[0] == "i" else "1 : " + dtype
    elif dtype.startswith("complex"):
        value = "#complex.number<:%s 1.5, -2.0> : %s" % (dtype[8:-1], dtype)
    else:
        value = "1.5 : " + dtype
    m.op("chlo.constant_like", [m.arg(shape, dtype)], [tensor(shape, dtype)], "value = " + value)


# ---- moving ----

def broadcast(m, rng, dtype):
    shape, sizes = shape_of(rng, 0, 2), shape_of(rng, 0, 2, (1, 2, 3))
    m.op("stablehlo.broadcast", [m.arg(shape, dtype)], [tensor(sizes + shape, dtype)], "broadcast_sizes = " + ints(sizes))


def sized(m, sizes, kind="i64"):
    """Sizes as a constant operand: what the result's type says."""
    value = "[%s]" % ", ".join(map(str, sizes)) if sizes else ""
    type_ = tensor([len(sizes)], kind)
    made = m.op("stablehlo.constant", [], [type_], "value = dense<%s> : %s" % (value, type_))
    del m.results[-1]
    return made[0]


def dynamic(name):
    def make(m, rng, dtype):
        shape = shape_of(rng, 1)
        if name == "iota":
            m.op("stablehlo.dynamic_iota", [sized(m, shape)], [tensor(shape, dtype)],
                 "iota_dimension = " + number(rng.randrange(len(shape))))
        elif name == "reshape":
            result = [shape[0] * shape[1]] + shape[2:] if len(shape) > 1 else shape + [1]
            m.op("stablehlo.dynamic_reshape", [m.arg(shape, dtype), sized(m, result)], [tensor(result, dtype)])
        elif name == "broadcast_in_dim":
            dims = sorted(rng.sample(range(len(shape)), rng.randint(0, len(shape))))
            m.op("stablehlo.dynamic_broadcast_in_dim", [m.arg([rng.choice([1, shape[d]]) for d in dims], dtype),
                                                        sized(m, shape)], [tensor(shape, dtype)],
                 "broadcast_dimensions = " + ints(dims))
        elif name == "pad":
            low, high = ([rng.randint(-1, 2) for _ in shape] for _ in range(2))
            inner = [rng.choice([0, 0, 1]) for _ in shape]
            shape = [n + 2 for n in shape]
            result = [a + b + n + (n - 1) * i for a, b, n, i in zip(low, high, shape, inner)]
            m.op("stablehlo.dynamic_pad", [m.arg(shape, dtype), m.arg([], dtype), sized(m, low), sized(m, high),
                                           sized(m, inner)], [tensor(result, dtype)])
        elif name == "get_dimension_size":
            m.op("stablehlo.get_dimension_size", [m.arg(shape, dtype)], ["tensor<i32>"],
                 "dimension = " + number(rng.randrange(len(shape))))
        else:
            starts = [rng.randint(0, n) for n in shape]
            limits = [rng.randint(s, n) for s, n in zip(starts, shape)]
            strides = [rng.choice([1, 1, 2, 3]) for _ in shape]
            result = [-(-(b - a) // s) for a, b, s in zip(starts, limits, strides)]
            m.op("stablehlo.real_dynamic_slice", [m.arg(shape, dtype), sized(m, starts), sized(m, limits),
                                                  sized(m, strides)], [tensor(result, dtype)])
    return make


def dynamic_gather(m, rng, dtype):
    plain = random_ops.Module(rng)
    random_ops.gather(plain, rng, "")
    head, _, sizes = plain.lines[0].partition("slice_sizes = array<i64: ")
    sizes, _, tail = sizes.partition(">")
    operands = [m.arg_of(k) for k in plain.args]
    properties = head.partition("<{")[2] + "indices_are_sorted" + tail.partition("indices_are_sorted")[2].partition("}>")[0]
    m.op("stablehlo.dynamic_gather", operands + [sized(m, [int(s) for s in sizes.split(",")])],
         [k for _, k in plain.results], properties)


def torch_index_select(m, rng, dtype):
    shape, index = shape_of(rng, 1, 3, (1, 2, 3)), shape_of(rng, 1, 2, (1, 2, 3))
    dim = rng.randrange(len(shape))
    batch = rng.choice([0, 0, min(dim, 1)])
    if batch:
        index[0] = shape[0]
    result = shape[:dim] + index[batch:] + shape[dim + 1:]
    m.op("stablehlo.torch_index_select", [m.arg(shape, dtype), m.arg(index, "i32")], [tensor(result, dtype)],
         "dim = %s, batch_dims = %s" % (number(dim), number(batch)))


def scatter(m, rng, dtype):
    plain = random_ops.Module(rng)
    random_ops.scatter(plain, rng, "")
    count = len(plain.results)
    line = plain.lines[0]
    properties = line.partition("<{")[2].partition("}>")[0]
    m.op("stablehlo.scatter", [m.arg_of(k) for k in plain.args], [k for _, k in plain.results],
         properties, combine(rng, [dtype] * count))


# ---- products ----

def widened(rng, dtype):
    """A type that products of this one may have."""
    if dtype in FLOATS + SMALL and dtype not in ("f64", "f32"):
        return random.Random.choice(rng, [dtype, "f32"])
    if dtype in ("i4", "i8"):
        return random.Random.choice(rng, [dtype, "i32"])
    return dtype


def dot_general(m, rng, dtype):
    plain = random_ops.Module(rng)
    random_ops.dot_general(plain, rng, "")
    properties = plain.lines[0].partition("<{")[2].partition("}>")[0]
    result = plain.results[0][1].replace(dtype, widened(rng, dtype))
    m.op("stablehlo.dot_general", [m.arg_of(k) for k in plain.args], [result], properties)


def convolution(m, rng, dtype):
    random_ops.convolution(m, rng, "")


def dynamic_conv(m, rng, dtype):
    plain = random_ops.Module(rng)
    while not plain.lines or "padding" not in plain.lines[0]:
        plain = random_ops.Module(rng)
        random_ops.convolution(plain, rng, "")
    head, _, rest = plain.lines[0].partition("<{")[2].partition(", padding = dense<")
    pairs, _, tail = rest.partition("> : tensor<")
    tail = tail.partition("xi64>")[2].partition("}>")[0]
    rank = pairs.count("[") - 1
    kind = "tensor<%dx2xi64>" % rank
    made = m.op("stablehlo.constant", [], [kind], "value = dense<%s> : %s" % (pairs, kind))
    del m.results[-1]
    m.op("stablehlo.dynamic_conv", [m.arg_of(k) for k in plain.args] + made, [k for _, k in plain.results], head + tail)


def dot(m, rng, dtype):
    rows, inner, columns = (rng.choice([1, 2, 3, 5]) for _ in range(3))
    left = rng.choice([[rows, inner], [inner]])
    right = rng.choice([[inner, columns], [inner]])
    m.op("stablehlo.dot", [m.arg(left, dtype), m.arg(right, dtype)], [tensor(left[:-1] + right[1:], dtype)])


def einsum(m, rng, dtype):
    sizes = {c: rng.choice([1, 2, 3]) for c in "abcd"}
    config = rng.choice(["ab,bc->ac", "abc,cd->abd", "abc,abd->acd", "ab,ab->ab", "ab,cb->ca"])
    left, right, result = config.replace("->", ",").split(",")
    m.op("stablehlo.einsum", [m.arg([sizes[c] for c in x], dtype) for x in (left, right)],
         [tensor([sizes[c] for c in result], dtype)], "einsum_config = \"%s\"" % config)


def unary_einsum(m, rng, dtype):
    sizes = {c: rng.choice([1, 2, 3]) for c in "ab"}
    config = rng.choice(["ab->a", "ab->ba", "ab->b", "ab->ab"])
    left, result = config.split("->")
    m.op("stablehlo.unary_einsum", [m.arg([sizes[c] for c in left], dtype)],
         [tensor([sizes[c] for c in result], dtype)], "einsum_config = \"%s\"" % config)


def ragged_dot(m, rng, dtype):
    rows, inner, columns, groups = rng.choice([4, 5]), rng.choice([1, 3]), rng.choice([1, 2, 4]), 2
    kind = "tensor<2xi64>"
    first = rng.randint(0, rows)
    made = m.op("stablehlo.constant", [], [kind], "value = dense<[%d, %d]> : %s" % (first, rows - first, kind))
    del m.results[-1]
    m.op("chlo.ragged_dot", [m.arg([rows, inner], dtype), m.arg([groups, inner, columns], dtype)] + made,
         [tensor([rows, columns], dtype)],
         "ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], "
         "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], "
         "rhs_group_dimensions = [0]>")


def triangular_solve(m, rng, dtype):
    n, k = rng.choice([1, 2, 3, 5]), rng.choice([1, 2])
    batch, left = shape_of(rng, 0, 1, (1, 2)), rng.choice([True, False])
    b = batch + ([n, k] if left else [k, n])
    m.op("stablehlo.triangular_solve", [m.arg(batch + [n, n], dtype), m.arg(b, dtype)], [tensor(b, dtype)],
         "left_side = %s, lower = %s, unit_diagonal = %s, transpose_a = #stablehlo<transpose %s>" % (
             str(left).lower(), rng.choice(["true", "false"]), rng.choice(["true", "false"]),
             rng.choice(["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])))


# ---- reductions, orders ----

def reduce(m, rng, dtype):
    shape = shape_of(rng)
    arg = dtype in ORDERED and dtype != "i1" and rng.random() < 0.25
    dtypes = [dtype, "i32"] if arg else [dtype] * rng.choice([1, 1, 2])
    dims = sorted(rng.sample(range(len(shape)), rng.randint(0, len(shape))))
    result = [n for d, n in enumerate(shape) if d not in dims]
    m.op("stablehlo.reduce", [m.arg(shape, d) for d in dtypes] + [m.arg([], d) for d in dtypes],
         [tensor(result, d) for d in dtypes], "dimensions = " + ints(dims),
         arg_extreme(rng, dtype) if arg else combine(rng, dtypes))


def reduce_window(m, rng, dtype):
    shape, count = shape_of(rng, 1, 3, (3, 4, 5)), rng.choice([1, 1, 2])
    window, stride = ([rng.choice([1, 2, 3]) for _ in shape] for _ in range(2))
    inner, base = ([rng.choice([1, 1, 2]) for _ in shape] for _ in range(2))
    low, high = ([rng.choice([0, 1]) for _ in shape] for _ in range(2))
    if rng.random() < 0.2:  # cumulative
        d = rng.randrange(len(shape))
        window, stride, inner, base = ([1] * len(shape) for _ in range(4))
        low, high = [0] * len(shape), [0] * len(shape)
        window[d], low[d] = shape[d], shape[d] - 1
    result = []
    for i, n in enumerate(shape):
        whole, reach = (n - 1) * base[i] + 1 + low[i] + high[i], (window[i] - 1) * inner[i] + 1
        result.append((whole - reach) // stride[i] + 1 if whole >= reach else 0)
    text = "window_dimensions = %s, window_strides = %s, base_dilations = %s, window_dilations = %s" % tuple(
        ints(x) for x in (window, stride, base, inner))
    text += ", padding = dense<%s> : tensor<%dx2xi64>" % ([list(p) for p in zip(low, high)], len(shape))
    m.op("stablehlo.reduce_window", [m.arg(shape, dtype) for _ in range(count)] + [m.arg([], dtype) for _ in range(count)],
         [tensor(result, dtype)] * count, text, combine(rng, [dtype] * count))


def select_and_scatter(m, rng, dtype):
    shape = shape_of(rng, 1, 3, (3, 4, 6))
    window, stride = ([rng.choice([1, 2, 3]) for _ in shape] for _ in range(2))
    low, high = ([rng.choice([0, 0, w - 1]) for w in window] for _ in range(2))
    source = [(n + a + b - w) // s + 1 for n, w, s, a, b in zip(shape, window, stride, low, high)]
    order = order_region(rng, [dtype], False).replace(" LT>", " LE>").replace(" GT>", " GE>")
    m.op("stablehlo.select_and_scatter", [m.arg(shape, dtype), m.arg(source, dtype), m.arg([], dtype)],
         [tensor(shape, dtype)],
         "window_dimensions = %s, window_strides = %s, padding = dense<%s> : tensor<%dx2xi64>" % (
             ints(window), ints(stride), [list(p) for p in zip(low, high)], len(shape)),
         order + ", " + combine(rng, [dtype], ("add",)))


def sort(m, rng, dtype):
    shape = shape_of(rng, 1)
    dtypes = [dtype] + [random.Random.choice(rng, ["f32", "i32", "bf16", "ui8"]) for _ in range(rng.choice([0, 0, 1, 2]))]
    total = dtype in REALS and rng.random() < 0.6
    m.op("stablehlo.sort", [m.arg(shape, d) for d in dtypes], [tensor(shape, d) for d in dtypes],
         "dimension = %s, is_stable = true" % number(rng.randint(-len(shape), len(shape) - 1)),
         order_region(rng, dtypes, total))


def top_k(m, rng, dtype):
    shape, k = shape_of(rng, 1, 3, (2, 3, 4, 7)), rng.choice([1, 2])
    result = shape[:-1] + [k]
    m.op("chlo.top_k", [m.arg(shape, dtype)], [tensor(result, dtype), tensor(result, "i32")], "k = " + number(k))


def map_op(m, rng, dtype):
    shape = shape_of(rng)
    m.op("stablehlo.map", [m.arg(shape, dtype), m.arg(shape, dtype)], [tensor(shape, dtype)],
         "dimensions = " + ints(range(len(shape))), combine(rng, [dtype]))


def scan(m, rng, dtype):
    rows, columns = rng.choice([1, 2, 5]), rng.choice([1, 3])
    kind = tensor([columns], dtype)
    line = "%%r0 = \"stablehlo.maximum\"(%%p0, %%p1) : (%s, %s) -> %s" % (kind, kind, kind)
    m.op("chlo.scan", [m.arg([rows, columns], dtype), m.arg([columns], dtype)], [tensor([rows, columns], dtype), kind],
         "dimension = 0 : i64, is_reverse = %s, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = "
         "array<i32: 1, 1>" % rng.choice(["true", "false"]),
         region([kind, kind], [line], ["%r0", "%r0"], [kind, kind]))


def rng_bit_generator(m, rng, dtype):
    algorithm = rng.choice(["DEFAULT", "THREE_FRY", "PHILOX"])
    state = [2 if algorithm == "THREE_FRY" else rng.choice([2, 3])]
    m.op("stablehlo.rng_bit_generator", [m.arg(state, "ui64")], [tensor(state, "ui64"), tensor(shape_of(rng), dtype)],
         "rng_algorithm = #stablehlo<rng_algorithm %s>" % algorithm)


# ---- control ----

def while_op(m, rng, dtype):
    """Carries two values in turn and updates one: as often as a counter says."""
    kind, rounds = tensor(shape_of(rng), dtype), rng.choice([0, 1, 2, 5])
    one = "%%n = \"stablehlo.constant\"() <{value = dense<%d> : tensor<i32>}> : () -> tensor<i32>"
    less = "%c = \"stablehlo.compare\"(%p0, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : " \
           "(tensor<i32>, tensor<i32>) -> tensor<i1>"
    step = "%m = \"stablehlo.add\"(%p0, %n) : (tensor<i32>, tensor<i32>) -> tensor<i32>"
    kinds = ["tensor<i32>", kind, kind]
    lines = [one % 1, step]
    changed = "%p1"
    if dtype in ORDERED:
        lines.append("%%x = \"stablehlo.maximum\"(%%p1, %%p2) : (%s, %s) -> %s" % (kind, kind, kind))
        changed = "%x"
    start = m.op("stablehlo.constant", [], ["tensor<i32>"], "value = dense<0> : tensor<i32>")
    del m.results[-1]
    m.op("stablehlo.while", start + [m.arg_of(kind), m.arg_of(kind)], kinds, "",
         region(kinds, [one % rounds, less], ["%c"], ["tensor<i1>"]) + ", " +
         region(kinds, lines, ["%m", "%p2", changed], kinds))


def branches(name):
    def make(m, rng, dtype):
        kind, count = tensor(shape_of(rng), dtype), 2 if name == "if" else rng.randint(1, 3)
        values = [m.arg_of(kind) for _ in range(count)]
        index = m.arg([], "i1" if name == "if" else "i32")
        regions = ["{\"stablehlo.return\"(%s) : (%s) -> ()}" % v for v in values]
        m.op("stablehlo." + name, [index], [kind], "", ", ".join(regions))
    return make


def call(name):
    def make(m, rng, dtype):
        kind = tensor(shape_of(rng), dtype)
        m.before.append("func.func private @f(%%x: %s, %%y: %s) -> (%s, %s) { return %%y, %%x : %s, %s }" % ((kind,) * 6))
        properties = "callee = @f"
        if name != "func.call":
            properties = "name = \"a.b\", decomposition = @f, version = 1 : i32, composite_attributes = {n = 1 : i64}"
        m.op(name, [m.arg_of(kind), m.arg_of(kind)], [kind, kind], properties)
    return make


def tuples(m, rng, dtype):
    kinds = [tensor(shape_of(rng), dtype) for _ in range(rng.randint(1, 3))]
    made = m.op("stablehlo.tuple", [m.arg_of(k) for k in kinds], ["tuple<%s>" % ", ".join(kinds)])
    del m.results[-1]
    at = rng.randrange(len(kinds))
    m.op("stablehlo.get_tuple_element", made, [kinds[at]], "index = %d : i32" % at)


def barrier(m, rng, dtype):
    kinds = [tensor(shape_of(rng), dtype) for _ in range(rng.randint(1, 3))]
    m.op("stablehlo.optimization_barrier", [m.arg_of(k) for k in kinds], kinds)


def tokens(m, rng, dtype):
    made = m.op("stablehlo.create_token", [], ["!stablehlo.token"])
    m.op("stablehlo.after_all", made * rng.randint(0, 3), ["!stablehlo.token"])
    del m.results[:]
    m.op("stablehlo.partition_id", [], ["tensor<ui32>"])
    m.op("stablehlo.replica_id", [], ["tensor<ui32>"])


# ---- one device of one ----

def collective(name):
    def make(m, rng, dtype):
        shape = shape_of(rng, 1, 3, (1, 2, 4))
        text, regions, dim = "replica_groups = dense<0> : tensor<1x1xi64>", "", number(rng.randrange(len(shape)))
        if name == "all_gather":
            text += ", all_gather_dim = " + dim
        elif name == "all_to_all":
            text += ", split_dimension = %s, concat_dimension = %s, split_count = 1 : i64" % (dim, dim)
        elif name == "reduce_scatter":
            text += ", scatter_dimension = " + dim
        elif name == "collective_permute":
            text = "source_target_pairs = dense<0> : tensor<1x2xi64>"
        if name in ("all_reduce", "reduce_scatter", "collective_reduce"):
            regions = combine(rng, [dtype])
        m.op("stablehlo." + name, [m.arg(shape, dtype)], [tensor(shape, dtype)], text, regions)
    return make


def sdy(name):
    def make(m, rng, dtype):
        shape = shape_of(rng, 1, 3, (1, 2, 4))
        kind, spec = tensor(shape, dtype), "<@mesh, [%s]>" % ", ".join(["{}"] * len(shape))
        m.before.append("sdy.mesh @mesh = <[\"x\"=1]>")
        if name == "manual_computation":
            m.op("sdy.manual_computation", [m.arg_of(kind)], [kind],
                 "in_shardings = #sdy.sharding_per_value<[%s]>, out_shardings = #sdy.sharding_per_value<[%s]>, "
                 "manual_axes = #sdy<manual_axes{\"x\"}>" % (spec, spec),
                 "{^bb0(%%p: %s): \"sdy.return\"(%%p) : (%s) -> ()}" % (kind, kind))
        else:
            m.op("sdy." + name, [m.arg_of(kind)], [kind], "sharding = #sdy.sharding" + spec)
    return make


def mhlo_call(target, attributes=""):
    """The custom call by which JAX writes an op of the dialect mhlo."""
    def make(m, rng, dtype):
        shape = shape_of(rng, 1, 3, (2, 3, 4))
        results = [tensor(shape, dtype)]
        if target == "mhlo.topk":
            results = [tensor(shape[:-1] + [2], dtype), tensor(shape[:-1] + [2], "i32")]
        m.op("stablehlo.custom_call", [m.arg(shape, dtype)], results, "call_target_name = \"%s\"" % target, "",
             "mhlo.attributes = {%s}, mhlo.version = 1 : i64" % attributes)
    return make


def custom_call(m, rng, dtype):
    rng.choice([mhlo_call("mhlo.topk", "k = 2 : i64, largest = true"), mhlo_call("mhlo.erf")])(m, rng, dtype)


def steer(make, kind):
    return lambda m, rng, dtype: make(m, rng, kind)


BROADCASTING = """add and atan2 complex divide maximum minimum multiply next_after or polygamma power remainder shift_left
shift_right_arithmetic shift_right_logical subtract xor zeta compare select""".split()
EIGHT = [d for d in SMALL if d.startswith("f8") and d != "f8E8M0FNU"]
# Element types that an op is asked with, where jaxlib's verifier takes more than have a meaning or than a peer runs.
ONLY = {
    # An order of complex numbers is not specified, though verifiers let it pass.
    "stablehlo.sort": ORDERED, "stablehlo.select_and_scatter": ORDERED,
    "chlo.broadcast_maximum": ORDERED, "chlo.broadcast_minimum": ORDERED,
    # The evaluator takes eight-bit floats for IEEE formats of their width, and loses subnormal numbers.
    "stablehlo.reduce_precision": FLOATS,
    # JAX takes the greatest of these; narrower floats it converts first.
    "chlo.top_k": INTS + FLOATS, "stablehlo.custom_call": FLOATS,
    # No peer has them on narrower floats.
    "stablehlo.cholesky": FLOATS + COMPLEX, "stablehlo.triangular_solve": FLOATS + COMPLEX,
    "stablehlo.batch_norm_grad": FLOATS, "stablehlo.batch_norm_inference": FLOATS, "stablehlo.batch_norm_training": FLOATS,
    "stablehlo.cbrt": REALS, "stablehlo.dynamic_iota": INTS + REALS + COMPLEX, "stablehlo.reduce_scatter": INTS + REALS + COMPLEX,
    "chlo.next_after": FLOATS, "chlo.broadcast_next_after": FLOATS,
    "chlo.bessel_i1e": FLOATS + EIGHT, "chlo.scan": ORDERED,
    # Bits of integers; of other types JAX makes none.
    "stablehlo.rng_bit_generator": [d for d in INTS if random_ops.bits(d) >= 8],
    "stablehlo.after_all": ["ui32"],
    # The attribute of a complex number is of a dialect that XLA does not load.
    "chlo.constant_like": INTS + REALS,
}
# The verifier of chlo.broadcast_* takes any type; what counts is what the op itself takes.
ONLY |= {"chlo.broadcast_%s" % n: [d for d in INTS] for n in ("shift_left", "shift_right_arithmetic", "shift_right_logical")}
ONLY |= {"chlo.broadcast_%s" % n: ["i1"] + INTS for n in ("and", "or", "xor")}
ONLY |= {"chlo.broadcast_%s" % n: FLOATS + EIGHT for n in ("atan2", "polygamma", "zeta")}
ONLY |= {"chlo.broadcast_power": INTS + REALS + COMPLEX, "chlo.broadcast_remainder": INTS + REALS,
         "chlo.broadcast_complex": ["f32", "f64"]}
MAKERS = {name: steer(make, kind) for name, (make, kind) in random_ops.OPS.items()}
MAKERS |= {"chlo.%s" % n: chlo_unary("chlo.%s" % n) for n in random_ops.CHLO_UNARY + ["tan"]}
MAKERS |= {"chlo.%s" % n: chlo_binary("chlo.%s" % n) for n in ("next_after", "polygamma", "zeta", "mulhi")}
MAKERS |= {"chlo.broadcast_%s" % n: broadcasting(n) for n in BROADCASTING}
MAKERS |= {"stablehlo.%s" % n: collective(n) for n in (
    "all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute", "reduce_scatter",
    "collective_reduce")}
MAKERS |= {"sdy.%s" % n: sdy(n) for n in ("sharding_constraint", "reshard", "manual_computation")}
MAKERS |= {"stablehlo.dynamic_%s" % n: dynamic(n) for n in ("iota", "reshape", "broadcast_in_dim", "pad")}
MAKERS |= {
    "stablehlo.get_dimension_size": dynamic("get_dimension_size"), "stablehlo.real_dynamic_slice": dynamic("slice"),
    "stablehlo.dynamic_gather": dynamic_gather, "stablehlo.dynamic_conv": dynamic_conv, "stablehlo.convert": convert,
    "stablehlo.bitcast_convert": bitcast_convert, "stablehlo.compare": compare, "stablehlo.clamp": clamp,
    "stablehlo.reduce_precision": reduce_precision, "chlo.constant": chlo_constant, "chlo.constant_like": constant_like,
    "stablehlo.constant": constant, "stablehlo.broadcast": broadcast,
    "stablehlo.torch_index_select": torch_index_select, "stablehlo.scatter": scatter,
    "stablehlo.dot_general": dot_general, "stablehlo.convolution": convolution, "stablehlo.dot": dot,
    "stablehlo.einsum": einsum, "stablehlo.unary_einsum": unary_einsum, "chlo.ragged_dot": ragged_dot,
    "stablehlo.triangular_solve": triangular_solve, "stablehlo.reduce": reduce, "stablehlo.reduce_window": reduce_window,
    "stablehlo.select_and_scatter": select_and_scatter, "stablehlo.sort": sort, "chlo.top_k": top_k,
    "stablehlo.map": map_op, "chlo.scan": scan, "stablehlo.rng_bit_generator": rng_bit_generator,
    "stablehlo.while": while_op, "stablehlo.if": branches("if"), "stablehlo.case": branches("case"),
    "func.call": call("func.call"), "stablehlo.composite": call("stablehlo.composite"), "stablehlo.tuple": tuples,
    "stablehlo.optimization_barrier": barrier, "stablehlo.after_all": tokens, "stablehlo.custom_call": custom_call,
}


def module(op, dtype, rng):
    """A module with this op on this element type; its `lines` may hold others that it needs."""
    rng.dtype = dtype
    m = random_ops.Module(rng)
    MAKERS[op](m, rng, dtype)
    return m
