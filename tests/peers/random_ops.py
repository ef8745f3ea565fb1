"""Random modules, one op each, in the generic form: most are right, some are wrong in one place.

Every function here makes a case of its ops from a `Module` and a random generator. Nothing in this file
knows what is valid: jaxlib says so (which has no quantised types, so there are none here). Shapes are small, and ranks, types and attributes vary.
"""

INTS = ["i2", "i4", "i8", "i16", "i32", "i64", "ui2", "ui4", "ui8", "ui16", "ui32", "ui64"]
FLOATS = ["f16", "bf16", "f32", "f64"]
SMALL = ["f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU",
         "f6E2M3FN", "f6E3M2FN", "f4E2M1FN"]
COMPLEX = ["complex<f32>", "complex<f64>"]
ALL = ["i1"] + INTS + FLOATS + SMALL + COMPLEX


def tensor(shape, dtype):
    return "tensor<%s>" % "x".join([*("?" if n is None else str(n) for n in shape), dtype])


class Module:
    """A module of one function, with the op's operands as its arguments."""

    def __init__(self, rng):
        self.rng, self.args, self.lines, self.results, self.before = rng, [], [], [], []
        self.count = 0

    def arg(self, shape, dtype):
        return self.arg_of(tensor(shape, dtype))

    def arg_of(self, kind):
        self.args.append(kind)
        return "%%arg%d" % (len(self.args) - 1), kind

    def op(self, name, operands, results, properties="", regions="", attributes=""):
        """Adds an op whose results are returned too; an operand is (name, type)."""
        first = self.count
        self.count += len(results)
        names = ["%%v%d" % i for i in range(first, self.count)]
        self.lines.append("%s\"%s\"(%s)%s%s%s : (%s) -> (%s)" % (
            ", ".join(names) + " = " if names else "", name, ", ".join(n for n, _ in operands),
            " <{%s}>" % properties if properties else "", " (%s)" % regions if regions else "",
            " {%s}" % attributes if attributes else "", ", ".join(t for _, t in operands), ", ".join(results)))
        self.results += zip(names, results)
        return list(zip(names, results))

    def text(self):
        results = ", ".join(t for _, t in self.results)
        returned = " " + ", ".join(n for n, _ in self.results) + " : " + results if self.results else ""
        return "module {\n%s  func.func @main(%s) -> (%s) {\n    %s\n    return%s\n  }\n}\n" % (
            "".join("  %s\n" % line for line in self.before),
            ", ".join("%%arg%d: %s" % pair for pair in enumerate(self.args)), results,
            "\n    ".join(self.lines), returned)


# ---- what ops are made of ----

def shape_of(rng, least=0, most=3, sizes=(0, 1, 2, 3, 4, 6)):
    return [rng.choice(sizes) for _ in range(rng.randint(least, most))]


def is_bent(rng, chance):
    """Whether this place is to be wrong; never for a generator that says it is straight."""
    return not getattr(rng, "straight", False) and rng.random() < chance


def bend(rng, value, others):
    """The value, or in one case of twelve another."""
    return rng.choice(others) if is_bent(rng, 1 / 12) else value


def bend_shape(rng, shape):
    shape = list(shape)
    if is_bent(rng, 1 / 10):
        change = rng.randrange(4)
        if change == 0 and shape:
            shape[rng.randrange(len(shape))] = rng.choice([0, 1, 2, 5])
        elif change == 1 and shape:
            shape.pop()
        elif change == 2:
            shape.append(rng.choice([1, 2]))
        elif shape:
            shape[rng.randrange(len(shape))] = None
    return shape


def bend_sizes(rng, shape):
    """As bend_shape, but the rank stays, where the specification constrains it and jaxlib does not: sizes
    of dynamic ops, and bitcast_convert between types of one width."""
    return [bend(rng, n, [0, 1, 5, None]) for n in shape]


def ints(values):
    return "array<i64%s>" % (": " + ", ".join(map(str, values)) if values else "")


def number(value, kind="i64"):
    return "%d : %s" % (value, kind)


def bend_list(rng, values):
    values = list(values)
    if is_bent(rng, 1 / 10):
        change = rng.randrange(3)
        if change == 0 and values:
            values[rng.randrange(len(values))] += rng.choice([-1, 1, 7])
        elif change == 1 and values:
            values.pop()
        else:
            values.append(rng.choice([0, 1]))
    return values


def combiner(rng, dtypes, op="stablehlo.add", args=None):
    """A region that combines scalars of these types pairwise."""
    scalars = [tensor([], d) for d in dtypes]
    names = ["%%p%d" % i for i in range(2 * len(dtypes))]
    body = []
    for i, kind in enumerate(scalars):
        body.append("%%r%d = \"%s\"(%s, %s) : (%s, %s) -> %s" % (
            i, op, names[i], names[i + len(dtypes)], kind, kind, kind))
    returned = ["%%r%d" % i for i in range(len(dtypes))]
    kinds = bend(rng, scalars + scalars, [scalars, [tensor([2], d) for d in dtypes] * 2])
    return "{^bb0(%s): %s \"stablehlo.return\"(%s) : (%s) -> ()}" % (
        ", ".join("%s: %s" % pair for pair in zip(names, kinds)), " ".join(body), ", ".join(returned),
        ", ".join(scalars))


def comparator(rng, dtypes):
    kinds = [tensor([], d) for d in dtypes for _ in range(2)]
    return ("{^bb0(%s): %%c = \"stablehlo.compare\"(%%p0, %%p1) <{comparison_direction = "
            "#stablehlo<comparison_direction %s>}> : (%s, %s) -> tensor<i1> "
            "\"stablehlo.return\"(%%c) : (tensor<i1>) -> ()}" % (
                ", ".join("%%p%d: %s" % pair for pair in enumerate(kinds)), rng.choice(["LT", "GT"]), kinds[0],
                kinds[1]))


def permutation(rng, rank):
    order = list(range(rank))
    rng.shuffle(order)
    return order


# ---- ops ----

UNARY = ("abs cbrt ceil count_leading_zeros cosine exponential exponential_minus_one floor imag is_finite log "
         "log_plus_one logistic not negate popcnt real round_nearest_afz round_nearest_even rsqrt sign sine sqrt tan "
         "tanh").split()
BINARY = ("add and atan2 complex divide maximum minimum multiply or power remainder shift_left "
          "shift_right_arithmetic shift_right_logical subtract xor").split()
PART = {"complex<f32>": "f32", "complex<f64>": "f64"}
WHOLE = {"f32": "complex<f32>", "f64": "complex<f64>"}


def unary(m, rng, name):
    dtype = rng.choice(ALL + FLOATS * 3 + COMPLEX * 2)
    shape = shape_of(rng)
    result = {"imag": PART.get(dtype, dtype), "real": PART.get(dtype, dtype), "abs": PART.get(dtype, dtype),
              "is_finite": "i1"}.get(name, dtype)
    accuracy = ""
    if name in ("cosine", "tanh", "exponential") and rng.random() < 0.3:
        accuracy = ("result_accuracy = #stablehlo.result_accuracy<ulps = %d, mode = "
                    "#stablehlo.result_accuracy_mode<TOLERANCE>>" % rng.choice([0, 1, 10]))
    m.op("stablehlo." + name, [m.arg(shape, dtype)],
         [tensor(bend_shape(rng, shape), bend(rng, result, ALL))], accuracy)


def binary(m, rng, name):
    dtype = rng.choice(ALL + FLOATS * 3)
    shape = shape_of(rng)
    result = WHOLE.get(dtype, dtype) if name == "complex" else dtype
    m.op("stablehlo." + name, [m.arg(shape, dtype), m.arg(bend_shape(rng, shape), bend(rng, dtype, ALL))],
         [tensor(bend_shape(rng, shape), bend(rng, result, ALL))])


def convert(m, rng, name):
    shape = shape_of(rng)
    m.op("stablehlo." + name, [m.arg(shape, rng.choice(ALL))], [tensor(bend_shape(rng, shape), rng.choice(ALL))])


BITS = {"i1": 1, "complex<f32>": 64, "complex<f64>": 128, "bf16": 16}


def bits(dtype):
    if dtype in BITS:
        return BITS[dtype]
    return int("".join(c for c in dtype.lstrip("ui f").split("E")[0] if c.isdigit()))


def bitcast_convert(m, rng, name):
    a, b = rng.choice(ALL), rng.choice(ALL)
    shape, result = shape_of(rng), None
    if bits(a) == bits(b):
        result = shape
    elif bits(a) > bits(b):
        result = shape + [bits(a) // bits(b)]
    else:
        result, shape = shape, shape + [bits(b) // bits(a)]
    change = bend_sizes if bits(a) == bits(b) else bend_shape
    m.op("stablehlo." + name, [m.arg(shape, a)], [tensor(change(rng, result), b)])


def compare(m, rng, name):
    dtype, shape = rng.choice(ALL), shape_of(rng)
    kind = rng.choice(["", "NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"])
    text = "comparison_direction = #stablehlo<comparison_direction %s>" % rng.choice(
        ["EQ", "NE", "GE", "GT", "LE", "LT"])
    if kind:
        text += ", compare_type = #stablehlo<comparison_type %s>" % kind
    m.op("stablehlo.compare", [m.arg(shape, dtype), m.arg(shape, bend(rng, dtype, ALL))],
         [tensor(bend_shape(rng, shape), "i1")], text)


def select(m, rng, name):
    dtype, shape = rng.choice(ALL), shape_of(rng)
    m.op("stablehlo.select", [m.arg(rng.choice([shape, []]), "i1"), m.arg(shape, dtype),
                              m.arg(bend_shape(rng, shape), bend(rng, dtype, ALL))],
         [tensor(bend_shape(rng, shape), dtype)])


def clamp(m, rng, name):
    dtype, shape = rng.choice(ALL), shape_of(rng)
    m.op("stablehlo.clamp", [m.arg(rng.choice([shape, []]), dtype), m.arg(shape, dtype),
                             m.arg(bend_shape(rng, rng.choice([shape, []])), dtype)],
         [tensor(bend_shape(rng, shape), dtype)])


def literal(rng, dtype):
    if dtype == "i1":
        return rng.choice(["true", "false"])
    if dtype.startswith("complex"):
        part = dtype[8:-1]
        return "(%s, %s)" % (literal(rng, part), literal(rng, part))
    if dtype[0] in "iu":
        width = bits(dtype)
        low = 0 if dtype[0] == "u" else -2 ** (width - 1)
        return str(rng.choice([0, 1, low, low + 2 ** width - 1, rng.randrange(low, low + 2 ** width)]))
    if rng.random() < 0.2 and dtype in FLOATS:
        return "0x%0*X" % (bits(dtype) // 4, rng.getrandbits(bits(dtype)))
    if dtype == "f8E8M0FNU":  # has no sign; what a negative literal means differs
        return rng.choice(["1.0", "0.25", "3.0e2"])
    return rng.choice(["0.0", "1.0", "-2.5", "%r" % rng.uniform(-4, 4), "%.17e" % rng.gauss(0, 1), "1.0e-3", "3.0e2"])


def nested(rng, shape, dtype):
    if not shape:
        return literal(rng, dtype)
    return "[%s]" % ", ".join(nested(rng, shape[1:], dtype) for _ in range(shape[0]))


def constant(m, rng, name):
    dtype, shape = rng.choice(ALL), shape_of(rng)
    if rng.random() < 0.1:
        shape = [rng.choice([101, 128])]
    count = 1
    for size in shape:
        count *= size
    how = rng.random()
    if not count:
        value = ""
    elif how < 0.3:
        value = literal(rng, dtype)
    else:
        value = nested(rng, shape, dtype)
    kind = tensor(shape, dtype)
    m.op("stablehlo.constant", [], [bend(rng, kind, [tensor(shape, "f32"), tensor(shape + [1], dtype)])],
         "value = dense<%s> : %s" % (value, kind))


def iota(m, rng, name):
    shape = shape_of(rng, 1)
    m.op("stablehlo.iota", [], [tensor(bend_shape(rng, shape), rng.choice(ALL))],
         "iota_dimension = " + number(bend(rng, rng.randrange(len(shape)), [-1, len(shape)])))


def broadcast_in_dim(m, rng, name):
    result, dtype = shape_of(rng), rng.choice(ALL)
    dims = sorted(rng.sample(range(len(result)), rng.randint(0, len(result))))
    shape = [rng.choice([1, result[d]]) for d in dims]
    m.op("stablehlo.broadcast_in_dim", [m.arg(bend_shape(rng, shape), dtype)],
         [tensor(result, bend(rng, dtype, ALL))], "broadcast_dimensions = " + ints(bend_list(rng, dims)))


def reshape(m, rng, name):
    shape, dtype = shape_of(rng), rng.choice(ALL)
    result = list(shape)
    if len(result) > 1 and rng.random() < 0.7:
        result = [result[0] * result[1]] + result[2:]
    if rng.random() < 0.5:
        result.insert(rng.randint(0, len(result)), 1)
    m.op("stablehlo.reshape", [m.arg(shape, dtype)], [tensor(bend_shape(rng, result), bend(rng, dtype, ALL))])


def transpose(m, rng, name):
    shape, dtype = shape_of(rng), rng.choice(ALL)
    order = permutation(rng, len(shape))
    m.op("stablehlo.transpose", [m.arg(shape, dtype)],
         [tensor(bend_shape(rng, [shape[i] for i in order]), dtype)], "permutation = " + ints(bend_list(rng, order)))


def reverse(m, rng, name):
    shape, dtype = shape_of(rng), rng.choice(ALL)
    dims = rng.sample(range(len(shape)), rng.randint(0, len(shape)))
    m.op("stablehlo.reverse", [m.arg(shape, dtype)], [tensor(bend_shape(rng, shape), dtype)],
         "dimensions = " + ints(bend_list(rng, dims)))


def slice_op(m, rng, name):
    shape, dtype = shape_of(rng, 0, 3), rng.choice(ALL)
    starts = [rng.randint(0, n) for n in shape]
    limits = [rng.randint(s, n) for s, n in zip(starts, shape)]
    strides = [rng.choice([1, 1, 2, 3]) for _ in shape]
    result = [-(-(b - a) // s) for a, b, s in zip(starts, limits, strides)]
    m.op("stablehlo.slice", [m.arg(shape, dtype)], [tensor(bend_shape(rng, result), dtype)],
         "start_indices = %s, limit_indices = %s, strides = %s" % tuple(
             ints(bend_list(rng, x)) for x in (starts, limits, strides)))


def pad(m, rng, name):
    shape, dtype = shape_of(rng), rng.choice(ALL)
    low, high = ([rng.randint(-1, 2) for _ in shape] for _ in range(2))
    inner = [rng.choice([0, 0, 1]) for _ in shape]
    result = [max(0, a + b + n + max(n - 1, 0) * i) for a, b, n, i in zip(low, high, shape, inner)]
    m.op("stablehlo.pad", [m.arg(shape, dtype), m.arg([], bend(rng, dtype, ALL))],
         [tensor(bend_shape(rng, result), dtype)],
         "edge_padding_low = %s, edge_padding_high = %s, interior_padding = %s" % tuple(
             ints(bend_list(rng, x)) for x in (low, high, inner)))


def concatenate(m, rng, name):
    shape, dtype = shape_of(rng, 1), rng.choice(ALL)
    dim = rng.randrange(len(shape))
    parts = [shape[:dim] + [rng.choice([0, 1, 2, 3])] + shape[dim + 1:] for _ in range(rng.randint(1, 3))]
    result = shape[:dim] + [sum(p[dim] for p in parts)] + shape[dim + 1:]
    m.op("stablehlo.concatenate", [m.arg(bend_shape(rng, p), bend(rng, dtype, ALL)) for p in parts],
         [tensor(bend_shape(rng, result), dtype)],
         "dimension = " + number(bend(rng, dim, [-1, len(shape)])))


def dynamic_slice(m, rng, name):
    shape, dtype, index = shape_of(rng), rng.choice(ALL), rng.choice(["i32", "i64", "ui8"])
    sizes = [rng.randint(0, n) for n in shape]
    m.op("stablehlo.dynamic_slice", [m.arg(shape, dtype)] + [m.arg([], bend(rng, index, ALL)) for _ in shape],
         [tensor(bend_shape(rng, sizes), dtype)], "slice_sizes = " + ints(bend_list(rng, sizes)))


def dynamic_update_slice(m, rng, name):
    shape, dtype = shape_of(rng), rng.choice(ALL)
    update = [rng.randint(0, n) for n in shape]
    m.op("stablehlo.dynamic_update_slice", [m.arg(shape, dtype), m.arg(bend_shape(rng, update), dtype)] +
         [m.arg([], "i32") for _ in shape], [tensor(bend_shape(rng, shape), dtype)])


def gather(m, rng, name):
    shape, dtype = shape_of(rng, 1, 3, (2, 3, 4)), rng.choice(ALL)
    mapped = rng.sample(range(len(shape)), rng.randint(0, len(shape)))
    sizes = [rng.randint(1, n) for n in shape]
    collapsed = sorted(d for d in range(len(shape)) if sizes[d] == 1 and rng.random() < 0.7)
    batch = shape_of(rng, 0, 2, (1, 2, 3))
    offsets = [s for d, s in enumerate(sizes) if d not in collapsed]
    rank = len(batch) + len(offsets)
    offset_dims = sorted(rng.sample(range(rank), len(offsets)))
    result, rest = [], list(batch)
    for d in range(rank):
        result.append(offsets.pop(0) if d in offset_dims else rest.pop(0))
    indices = batch + [len(mapped)]
    m.op("stablehlo.gather", [m.arg(shape, dtype), m.arg(bend_shape(rng, indices), rng.choice(["i32", "ui64", "i64"]))],
         [tensor(bend_shape(rng, result), dtype)],
         "dimension_numbers = #stablehlo.gather<offset_dims = %s, collapsed_slice_dims = %s, start_index_map = %s, "
         "index_vector_dim = %d>, slice_sizes = %s, indices_are_sorted = %s" % (
             bend_list(rng, offset_dims), bend_list(rng, collapsed), bend_list(rng, mapped),
             bend(rng, len(batch), [0, 9]), ints(bend_list(rng, sizes)), rng.choice(["true", "false"])))


def scatter(m, rng, name):
    shape = shape_of(rng, 1, 3, (2, 3, 4))
    dtypes = [rng.choice(ALL) for _ in range(rng.choice([1, 1, 2]))]
    mapped = rng.sample(range(len(shape)), rng.randint(0, len(shape)))
    inserted = sorted(d for d in range(len(shape)) if rng.random() < 0.5)
    window = [rng.randint(1, shape[d]) for d in range(len(shape)) if d not in inserted]
    batch = shape_of(rng, 0, 2, (1, 2, 3))
    rank = len(batch) + len(window)
    dims = sorted(rng.sample(range(rank), len(window)))
    update, left, rest = [], list(window), list(batch)
    for d in range(rank):
        update.append(left.pop(0) if d in dims else rest.pop(0))
    operands = [m.arg(shape, d) for d in dtypes] + [m.arg(batch + [len(mapped)], "i32")]
    operands += [m.arg(bend_shape(rng, update), d) for d in dtypes]
    m.op("stablehlo.scatter", operands, [tensor(bend_shape(rng, shape), d) for d in dtypes],
         "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = %s, inserted_window_dims = %s, "
         "scatter_dims_to_operand_dims = %s, index_vector_dim = %d>" % (
             bend_list(rng, dims), bend_list(rng, inserted), bend_list(rng, mapped), bend(rng, len(batch), [0, 7])),
         combiner(rng, dtypes))


def dot_general(m, rng, name):
    batch, contract, left, right = (shape_of(rng, 0, 2, (1, 2, 3)) for _ in range(4))
    groups_l = [("b", i) for i in range(len(batch))] + [("c", i) for i in range(len(contract))]
    groups_l += [("f", i) for i in range(len(left))]
    groups_r = groups_l[:len(batch) + len(contract)] + [("f", i) for i in range(len(right))]
    rng.shuffle(groups_l)
    rng.shuffle(groups_r)
    sizes = {"b": batch, "c": contract}
    lhs = [sizes.get(k, left)[i] for k, i in groups_l]
    rhs = [sizes.get(k, right)[i] for k, i in groups_r]
    place = lambda groups, kind, n: [groups.index((kind, i)) for i in range(n)]
    free = [lhs[d] for d, (k, _) in enumerate(groups_l) if k == "f"]
    free += [rhs[d] for d, (k, _) in enumerate(groups_r) if k == "f"]
    dtype = rng.choice(ALL)
    text = "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = %s, rhs_batching_dimensions = %s, " \
           "lhs_contracting_dimensions = %s, rhs_contracting_dimensions = %s>" % tuple(bend_list(rng, x) for x in (
               place(groups_l, "b", len(batch)), place(groups_r, "b", len(batch)),
               place(groups_l, "c", len(contract)), place(groups_r, "c", len(contract))))
    if rng.random() < 0.5:
        text += ", precision_config = [%s]" % ", ".join(
            "#stablehlo<precision %s>" % rng.choice(["DEFAULT", "HIGH", "HIGHEST"])
            for _ in range(bend(rng, 2, [0, 1, 3])))
    m.op("stablehlo.dot_general", [m.arg(bend_shape(rng, lhs), dtype), m.arg(bend_shape(rng, rhs), dtype)],
         [tensor(bend_shape(rng, batch + free), bend(rng, dtype, ALL))], text)


def convolution(m, rng, name):
    spatial = rng.randint(0, 2)
    batch_groups, groups = rng.choice([(1, 1), (1, 2), (2, 1)])
    batch, inputs, outputs = 2 * batch_groups, 2 * groups, 2 * groups * batch_groups
    dims_in, dims_kernel, dims_out = (permutation(rng, spatial + 2) for _ in range(3))
    window = [rng.choice([1, 2, 3]) for _ in range(spatial)]
    size = [rng.choice([3, 4, 5]) for _ in range(spatial)]
    stride = [rng.choice([1, 2]) for _ in range(spatial)]
    low, high = ([rng.choice([0, 1]) for _ in range(spatial)] for _ in range(2))
    dilate_in, dilate_kernel = ([rng.choice([1, 1, 2]) for _ in range(spatial)] for _ in range(2))
    result_size = []
    for i in range(spatial):
        padded = low[i] + high[i] + (size[i] - 1) * dilate_in[i] + 1
        reach = (window[i] - 1) * dilate_kernel[i] + 1
        result_size.append((padded - reach) // stride[i] + 1 if padded >= reach else 0)

    def put(dims, first, second, rest):
        shape = [0] * (spatial + 2)
        for d, n in zip(dims, [first, second] + rest):
            shape[d] = n
        return shape

    def words(dims, first, second):
        names = [""] * (spatial + 2)
        for d, n in zip(dims, [first, second] + [str(i) for i in range(spatial)]):
            names[d] = n
        return "[%s]" % ", ".join(names)
    dtype = rng.choice(ALL)
    text = "batch_group_count = %s, feature_group_count = %s, dimension_numbers = #stablehlo.conv<%sx%s->%s>" % (
        number(batch_groups), number(bend(rng, groups, [0, 3])), words(dims_in, "b", "f"),
        words(dims_kernel, "i", "o"), words(dims_out, "b", "f"))
    text += ", window_strides = %s, lhs_dilation = %s, rhs_dilation = %s" % tuple(
        ints(bend_list(rng, x)) for x in (stride, dilate_in, dilate_kernel))
    if spatial:
        text += ", padding = dense<%s> : tensor<%dx2xi64>" % ([list(p) for p in zip(low, high)], spatial)
    if rng.random() < 0.5:
        text += ", window_reversal = array<i1%s>" % (
            ": " + ", ".join(rng.choice(["true", "false"]) for _ in range(spatial)) if spatial else "")
    m.op("stablehlo.convolution",
         [m.arg(bend_shape(rng, put(dims_in, batch, inputs, size)), dtype),
          m.arg(put(dims_kernel, inputs // groups, outputs, window), dtype)],
         [tensor(bend_shape(rng, put(dims_out, batch // batch_groups, outputs, result_size)), dtype)], text)


def reduce(m, rng, name):
    shape = shape_of(rng)
    dtypes = [rng.choice(["f32", "i32", "bf16", "i1", "complex<f32>"]) for _ in range(rng.choice([1, 1, 2]))]
    dims = sorted(rng.sample(range(len(shape)), rng.randint(0, len(shape))))
    result = [n for d, n in enumerate(shape) if d not in dims]
    m.op("stablehlo.reduce", [m.arg(bend_shape(rng, shape), d) for d in dtypes] +
         [m.arg([], bend(rng, d, ALL)) for d in dtypes], [tensor(bend_shape(rng, result), d) for d in dtypes],
         "dimensions = " + ints(bend_list(rng, dims)),
         combiner(rng, dtypes, rng.choice(["stablehlo.add", "stablehlo.maximum", "stablehlo.multiply"])))


def reduce_window(m, rng, name):
    shape, dtype = shape_of(rng, 0, 3, (3, 4, 5)), rng.choice(["f32", "i32", "bf16"])
    window, stride = ([rng.choice([1, 2, 3]) for _ in shape] for _ in range(2))
    low, high = ([rng.choice([0, 1]) for _ in shape] for _ in range(2))
    result = [max(0, (n + a + b - w) // s + 1) for n, w, s, a, b in zip(shape, window, stride, low, high)]
    text = "window_dimensions = %s, window_strides = %s" % tuple(
        ints(bend_list(rng, x)) for x in (window, stride))
    if shape:
        text += ", padding = dense<%s> : tensor<%dx2xi64>" % ([list(p) for p in zip(low, high)], len(shape))
    m.op("stablehlo.reduce_window", [m.arg(shape, dtype), m.arg([], dtype)],
         [tensor(bend_shape(rng, result), dtype)], text, combiner(rng, [dtype]))


def select_and_scatter(m, rng, name):
    shape, dtype = shape_of(rng, 1, 3, (3, 4, 6)), rng.choice(["f32", "i32"])
    window, stride = ([rng.choice([1, 2, 3]) for _ in shape] for _ in range(2))
    source = [max(0, (n - w) // s + 1) for n, w, s in zip(shape, window, stride)]
    m.op("stablehlo.select_and_scatter", [m.arg(shape, dtype), m.arg(bend_shape(rng, source), dtype), m.arg([], dtype)],
         [tensor(bend_shape(rng, shape), dtype)],
         "window_dimensions = %s, window_strides = %s" % tuple(ints(bend_list(rng, x)) for x in (window, stride)),
         comparator(rng, [dtype]) + ", " + combiner(rng, [dtype]))


def sort(m, rng, name):
    shape = shape_of(rng, 0)
    dtypes = [rng.choice(["f32", "i32", "bf16", "ui8"]) for _ in range(rng.choice([1, 1, 2]))]
    m.op("stablehlo.sort", [m.arg(bend_shape(rng, shape), d) for d in dtypes],
         [tensor(bend_shape(rng, shape), d) for d in dtypes],
         "dimension = %s, is_stable = %s" % (number(rng.randint(-len(shape) - 1, len(shape))),
                                             rng.choice(["true", "false"])), comparator(rng, dtypes))


def map_op(m, rng, name):
    shape, dtype = shape_of(rng), rng.choice(["f32", "i32"])
    m.op("stablehlo.map", [m.arg(shape, dtype), m.arg(bend_shape(rng, shape), dtype)],
         [tensor(bend_shape(rng, shape), dtype)],
         "dimensions = " + ints(bend_list(rng, range(len(shape)))), combiner(rng, [dtype]))


def fft(m, rng, name):
    kind, part = rng.choice(["FFT", "IFFT", "RFFT", "IRFFT"]), rng.choice(["f32", "f64"])
    shape = shape_of(rng, 1, 3, (1, 2, 4, 5))
    count = rng.randint(1, min(3, len(shape)))
    length, result = shape[-count:], list(shape)
    source, target = WHOLE[part], WHOLE[part]
    if kind == "RFFT":
        source, result = part, shape[:-1] + [shape[-1] // 2 + 1]
    elif kind == "IRFFT":
        target, shape = part, shape[:-1] + [shape[-1] // 2 + 1]
    m.op("stablehlo.fft", [m.arg(bend_shape(rng, shape), source)],
         [tensor(bend_shape(rng, result), bend(rng, target, ALL))],
         "fft_type = #stablehlo<fft_type %s>, fft_length = %s" % (kind, ints(bend_list(rng, length))))


def cholesky(m, rng, name):
    n = rng.choice([1, 2, 3])
    shape, dtype = shape_of(rng, 0, 1) + [n, bend(rng, n, [1, 4])], rng.choice(FLOATS + COMPLEX + ["i32"])
    m.op("stablehlo.cholesky", [m.arg(shape, dtype)], [tensor(bend_shape(rng, shape), dtype)],
         "lower = " + rng.choice(["true", "false"]))


def triangular_solve(m, rng, name):
    n, k, dtype = rng.choice([1, 2, 3]), rng.choice([1, 2]), rng.choice(FLOATS + COMPLEX)
    batch, left = shape_of(rng, 0, 1), rng.choice([True, False])
    b = batch + ([n, k] if left else [k, n])
    m.op("stablehlo.triangular_solve", [m.arg(bend_shape(rng, batch + [n, n]), dtype), m.arg(b, dtype)],
         [tensor(bend_shape(rng, b), dtype)],
         "left_side = %s, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose %s>" % (
             str(left).lower(), rng.choice(["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT", "TRANSPOSE_INVALID"])))


def batch_norm(m, rng, name):
    shape, dtype = shape_of(rng, 1, 3, (1, 2, 3)), rng.choice(FLOATS)
    feature = rng.randrange(len(shape))
    row = [shape[feature]]
    count = {"grad": 3, "inference": 4, "training": 2}[name]
    operands = [m.arg(shape, dtype)] + [m.arg(bend_shape(rng, row), dtype) for _ in range(count)]
    if name == "grad":
        operands.append(m.arg(shape, dtype))
    results = [tensor(bend_shape(rng, shape), dtype)]
    results += [] if name == "inference" else [tensor(row, dtype)] * 2
    m.op("stablehlo.batch_norm_" + name, operands, results,
         "epsilon = 1.000000e-03 : f32, feature_index = " + number(bend(rng, feature, [-1, 9])))


def rng_op(m, rng, name):
    shape, dtype = shape_of(rng), rng.choice(["f32", "i32", "bf16", "i1", "f64"])
    m.op("stablehlo.rng", [m.arg([], dtype), m.arg([], bend(rng, dtype, ALL)), m.arg([len(shape)], "i64")],
         [tensor(bend_shape(rng, shape), dtype)],
         "rng_distribution = #stablehlo<rng_distribution %s>" % rng.choice(["UNIFORM", "NORMAL"]))


def rng_bit_generator(m, rng, name):
    state = [rng.choice([1, 2, 3, 4])]
    m.op("stablehlo.rng_bit_generator", [m.arg(state, bend(rng, "ui64", ALL))],
         [tensor(bend_shape(rng, state), "ui64"), tensor(shape_of(rng), rng.choice(["ui32", "ui64", "f32", "i8"]))],
         "rng_algorithm = #stablehlo<rng_algorithm %s>" % rng.choice(["DEFAULT", "THREE_FRY", "PHILOX"]))


def reduce_precision(m, rng, name):
    shape, dtype = shape_of(rng), rng.choice(FLOATS + ["i32"])
    m.op("stablehlo.reduce_precision", [m.arg(shape, dtype)], [tensor(bend_shape(rng, shape), dtype)],
         "exponent_bits = %d : i32, mantissa_bits = %d : i32" % (rng.choice([0, 1, 5, 8]), rng.choice([-1, 0, 7, 10])))


def while_op(m, rng, name):
    kinds = [tensor(shape_of(rng), rng.choice(["f32", "i32"])) for _ in range(rng.randint(0, 3))]
    args = ", ".join("%%p%d: %s" % pair for pair in enumerate(kinds))
    inner = ", ".join("%%q%d: %s" % pair for pair in enumerate(kinds))
    back = bend(rng, list(enumerate(kinds)), [list(enumerate(kinds))[:-1]])
    cond = "{^bb0(%s): %%c = \"stablehlo.constant\"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1> " \
           "\"stablehlo.return\"(%%c) : (tensor<i1>) -> ()}" % args
    body = "{^bb0(%s): \"stablehlo.return\"(%s) : (%s) -> ()}" % (
        inner, ", ".join("%%q%d" % i for i, _ in back), ", ".join(t for _, t in back))
    if not kinds:
        cond, body = cond.replace("^bb0(): ", ""), body.replace("^bb0(): ", "")
    m.op("stablehlo.while", [m.arg_of(k) for k in kinds], kinds, "", cond + ", " + body)


def branches(m, rng, name):
    kind = tensor(shape_of(rng), rng.choice(["f32", "i32"]))
    value = m.arg_of(kind)
    index = m.arg([], "i1" if name == "if" else bend(rng, "i32", ["i64"]))
    count = 2 if name == "if" else rng.randint(1, 3)
    region = "{\"stablehlo.return\"(%s) : (%s) -> ()}" % value
    m.op("stablehlo." + name, [index], [bend(rng, kind, [tensor([9], "f32")])], "", ", ".join([region] * count))


def tuples(m, rng, name):
    kinds = [tensor(shape_of(rng), rng.choice(ALL)) for _ in range(rng.randint(1, 3))]
    made = m.op("stablehlo.tuple", [m.arg_of(k) for k in kinds], ["tuple<%s>" % ", ".join(kinds)])
    at = rng.randrange(len(kinds))
    m.op("stablehlo.get_tuple_element", made, [bend(rng, kinds[at], [tensor([7], "f32")])],
         "index = %d : i32" % bend(rng, at, [-1, 5]))
    m.op("stablehlo.optimization_barrier", [m.arg_of(k) for k in kinds], kinds)


def tokens(m, rng, name):
    made = m.op("stablehlo.create_token", [], ["!stablehlo.token"])
    m.op("stablehlo.after_all", made * rng.randint(0, 3), ["!stablehlo.token"])
    m.op("stablehlo.partition_id", [], ["tensor<ui32>"])
    m.op("stablehlo.replica_id", [], [bend(rng, "tensor<ui32>", ["tensor<i32>"])])


def groups(rng, ids=(0, 1, 2, 3)):
    ids = list(ids)
    rng.shuffle(ids)
    rows = rng.choice([[ids], [ids[:2], ids[2:]], [[i] for i in ids]])
    if is_bent(rng, 0.1):
        rows = [[rng.choice([0, 1, 9, -1]) for _ in row] for row in rows]
    return "dense<%s> : tensor<%dx%dxi64>" % (rows, len(rows), len(rows[0])), len(rows[0])


def collective(m, rng, name):
    shape, dtype = shape_of(rng, 1, 3, (1, 2, 4, 8)), rng.choice(["f32", "i32", "bf16", "complex<f32>"])
    text, size = groups(rng)
    dim = rng.randrange(len(shape))
    result, regions = list(shape), ""
    properties = "replica_groups = " + text
    if rng.random() < 0.7:
        properties += ", channel_handle = #stablehlo.channel_handle<handle = %d, type = %d>" % (
            rng.choice([0, 1, 2]), rng.choice([0, 1]))
    if rng.random() < 0.3 and name != "all_to_all" and name != "collective_broadcast":
        properties += ", use_global_device_ids"
    if name == "all_gather":
        properties += ", all_gather_dim = " + number(bend(rng, dim, [-1, 7]))
        result[dim] *= size
    elif name == "all_to_all":
        other = rng.randrange(len(shape))
        properties += ", split_dimension = %s, concat_dimension = %s, split_count = %s" % (
            number(dim), number(other), number(bend(rng, size, [0, 3])))
        result[dim] //= size
        result[other] *= size
    elif name == "reduce_scatter":
        properties += ", scatter_dimension = " + number(bend(rng, dim, [-1, 7]))
        result[dim] //= size
    if name in ("all_reduce", "reduce_scatter"):
        regions = combiner(rng, [dtype])
    bent = bend_shape(rng, result)
    other = dtype if None in bent else bend(rng, dtype, ALL)  # jaxlib looks at one of the two
    m.op("stablehlo." + name, [m.arg(shape, dtype)], [tensor(bent, other)], properties, regions)


def collective_permute(m, rng, name):
    shape, dtype = shape_of(rng), rng.choice(ALL)
    pairs = [[a, b] for a, b in zip(permutation(rng, 4), permutation(rng, 4))][:rng.randint(1, 4)]
    if rng.random() < 0.2:
        pairs[0] = [rng.choice([-1, 0, 1]), rng.choice([0, 1])]
    m.op("stablehlo.collective_permute", [m.arg(shape, dtype)], [tensor(bend_shape(rng, shape), dtype)],
         "source_target_pairs = dense<%s> : tensor<%dx2xi64>" % (pairs, len(pairs)))


def custom_call(m, rng, name):
    operands = [m.arg(shape_of(rng), rng.choice(ALL)) for _ in range(rng.randint(0, 2))]
    results = [tensor(shape_of(rng), rng.choice(ALL)) for _ in range(rng.randint(0, 2))]
    text = "call_target_name = \"%s\"" % rng.choice(["f", "my.target", "with space", "back\\\\slash"])
    if rng.random() < 0.5:
        text += ", has_side_effect = " + rng.choice(["true", "false"])
    if rng.random() < 0.5:
        text += rng.choice([", backend_config = \"x\\22y\", api_version = %d : i32" % rng.choice([0, 1, 2]),
                            ", backend_config = {a = 1 : i32, b = \"c\"}, api_version = 4 : i32"])
    m.op("stablehlo.custom_call", operands, results, text, "",
         rng.choice(["", "mhlo.frontend_attributes = {k = \"v\"}", "foo.bar, foo.list = [1, 2.5, \"s\", unit]"]))


def call(m, rng, name):
    kind = tensor(shape_of(rng), rng.choice(ALL))
    m.before.append("func.func private @f(%%x: %s) -> %s { return %%x : %s }" % (kind, kind, kind))
    properties = "callee = @" + bend(rng, "f", ["g"])
    if name == "composite":
        properties = "name = \"a.b\", decomposition = @%s, version = %d : i32, composite_attributes = {n = 1 : i64}" % (
            bend(rng, "f", ["g"]), rng.choice([0, 1]))
    m.op("func.call" if name == "call" else "stablehlo.composite", [m.arg_of(kind)],
         [bend(rng, kind, [tensor([5], "f32")])], properties)


def dynamic(m, rng, name):
    shape, dtype = shape_of(rng), rng.choice(ALL)
    opened = [rng.choice([n, None]) for n in shape]
    size = m.arg([len(shape)], rng.choice(["i32", "i64"]))
    if name == "dynamic_iota":
        m.op("stablehlo.dynamic_iota", [size], [tensor(bend_sizes(rng, opened), dtype)],
             "iota_dimension = " + number(bend(rng, 0, [1, -1])))
    elif name == "dynamic_reshape":
        m.op("stablehlo.dynamic_reshape", [m.arg(shape_of(rng), dtype), size], [tensor(bend_sizes(rng, opened), dtype)])
    elif name == "dynamic_broadcast_in_dim":
        dims = sorted(rng.sample(range(len(shape)), rng.randint(0, len(shape))))
        m.op("stablehlo.dynamic_broadcast_in_dim", [m.arg([rng.choice([1, shape[d], None]) for d in dims], dtype), size],
             [tensor(bend_sizes(rng, opened), dtype)], "broadcast_dimensions = " + ints(bend_list(rng, dims)))
    elif name == "get_dimension_size":
        m.op("stablehlo.get_dimension_size", [m.arg(opened, dtype)], [bend(rng, "tensor<i32>", ["tensor<i64>"])],
             "dimension = " + number(bend(rng, 0, [1, 5])))
    else:
        lists = [m.arg([len(shape)], "i64") for _ in range(3)]
        m.op("stablehlo.dynamic_pad", [m.arg(opened, dtype), m.arg([], dtype)] + lists,
             [tensor(bend_sizes(rng, [None] * len(shape)), dtype)])


CHLO_UNARY = ("acos acosh asin asinh atan atanh bessel_i1e conj cosh digamma erf erf_inv erfc is_inf is_neg_inf "
              "is_pos_inf lgamma sinh square").split()


def chlo_unary(m, rng, name):
    shape, dtype = shape_of(rng), rng.choice(FLOATS * 2 + COMPLEX + ["i32", "f8E5M2"])
    result = "i1" if name.startswith("is_") else dtype
    m.op("chlo." + name, [m.arg(shape, dtype)], [tensor(bend_shape(rng, shape), bend(rng, result, ALL))])


def chlo_binary(m, rng, name):
    shape, dtype = shape_of(rng), rng.choice(FLOATS * 2 + ["i32"])
    m.op("chlo." + name, [m.arg(shape, dtype), m.arg(bend_shape(rng, shape), dtype)], [tensor(shape, dtype)])


def top_k(m, rng, name):
    shape, dtype, k = shape_of(rng, 1, 3, (2, 3, 4)), rng.choice(["f32", "i32", "bf16"]), rng.choice([1, 2])
    result = shape[:-1] + [k]
    m.op("chlo.top_k", [m.arg(shape, dtype)], [tensor(bend_shape(rng, result), dtype), tensor(result, "i32")],
         "k = " + number(bend(rng, k, [-1, 9])))


def axes(rng, names):
    names = list(names)
    rng.shuffle(names)
    texts = []
    for name in names[:rng.randint(0, 2)]:
        texts.append(bend(rng, '"%s"' % name, ['"%s":(1)2' % name, '"%s":(2)2' % name, '"w"']))
    return texts


def sharding(rng, rank):
    left, dims = ["x", "y", "z"], []
    for _ in range(rank):
        mine = axes(rng, left)
        left = [n for n in left if not any(n in text for text in mine)]
        if rng.random() < 0.3:
            mine.append("?")
        dims.append("{%s}%s" % (", ".join(mine), rng.choice(["", "", "", "p1"]) if mine else ""))
    extra = ""
    if left and rng.random() < 0.3:
        extra = ', replicated={"%s"}' % left.pop()
    if left and rng.random() < 0.2:
        extra += ', unreduced={"%s"}' % left.pop()
    return "#sdy.sharding<@mesh, [%s]%s>" % (", ".join(dims), extra)


def sdy_constraint(m, rng, name):
    shape = shape_of(rng, 0, 3, (4, 8))
    kind = tensor(shape, rng.choice(ALL))
    m.before.append('sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>')
    rank = bend(rng, len(shape), [0, 1, 2])
    m.op("sdy." + name, [m.arg_of(kind)], [kind], "sharding = " + sharding(rng, rank))


def sdy_manual(m, rng, name):
    rows = rng.choice([2, 4])
    m.before.append('sdy.mesh @mesh = <["x"=2, "y"=2]>')
    local, whole = tensor([rows // 2, 4], "f32"), tensor([rows, 4], "f32")
    text = '#sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>'
    m.op("sdy.manual_computation", [m.arg_of(whole)], [bend(rng, whole, [local])],
         'in_shardings = %s, out_shardings = %s, manual_axes = #sdy<manual_axes{"x"%s}>' % (
             text, text, rng.choice(["", ', "y"'])),
         "{^bb0(%%p: %s): \"sdy.return\"(%%p) : (%s) -> ()}" % (bend(rng, local, [whole]), local))


# Every op with the function that makes its cases.
OPS = {"stablehlo.%s" % n: (unary, n) for n in UNARY}
OPS |= {"stablehlo.%s" % n: (binary, n) for n in BINARY}
OPS |= {"stablehlo.batch_norm_%s" % n: (batch_norm, n) for n in ("grad", "inference", "training")}
OPS |= {"stablehlo.%s" % n: (collective, n) for n in (
    "all_gather", "all_reduce", "all_to_all", "collective_broadcast", "reduce_scatter")}
OPS |= {"stablehlo.%s" % n: (dynamic, n) for n in (
    "dynamic_iota", "dynamic_reshape", "dynamic_broadcast_in_dim", "dynamic_pad", "get_dimension_size")}
OPS |= {"chlo.%s" % n: (chlo_unary, n) for n in CHLO_UNARY}
OPS |= {"chlo.%s" % n: (chlo_binary, n) for n in ("next_after", "polygamma", "zeta")}
OPS |= {"sdy.%s" % n: (sdy_constraint, n) for n in ("sharding_constraint", "reshard")}
OPS |= {
    "chlo.top_k": (top_k, ""), "func.call": (call, "call"), "sdy.manual_computation": (sdy_manual, ""),
    "stablehlo.bitcast_convert": (bitcast_convert, "bitcast_convert"),
    "stablehlo.broadcast_in_dim": (broadcast_in_dim, ""), "stablehlo.case": (branches, "case"),
    "stablehlo.cholesky": (cholesky, ""), "stablehlo.clamp": (clamp, ""),
    "stablehlo.collective_permute": (collective_permute, ""), "stablehlo.compare": (compare, ""),
    "stablehlo.composite": (call, "composite"), "stablehlo.concatenate": (concatenate, ""),
    "stablehlo.constant": (constant, ""), "stablehlo.convert": (convert, "convert"),
    "stablehlo.convolution": (convolution, ""), "stablehlo.custom_call": (custom_call, ""),
    "stablehlo.dot_general": (dot_general, ""), "stablehlo.dynamic_slice": (dynamic_slice, ""),
    "stablehlo.dynamic_update_slice": (dynamic_update_slice, ""), "stablehlo.fft": (fft, ""),
    "stablehlo.gather": (gather, ""), "stablehlo.if": (branches, "if"), "stablehlo.iota": (iota, ""),
    "stablehlo.map": (map_op, ""), "stablehlo.pad": (pad, ""), "stablehlo.reduce": (reduce, ""),
    "stablehlo.reduce_precision": (reduce_precision, ""), "stablehlo.reduce_window": (reduce_window, ""),
    "stablehlo.reshape": (reshape, ""), "stablehlo.reverse": (reverse, ""), "stablehlo.rng": (rng_op, ""),
    "stablehlo.rng_bit_generator": (rng_bit_generator, ""), "stablehlo.scatter": (scatter, ""),
    "stablehlo.select": (select, ""), "stablehlo.select_and_scatter": (select_and_scatter, ""),
    "stablehlo.slice": (slice_op, ""), "stablehlo.sort": (sort, ""), "stablehlo.tuple": (tuples, ""),
    "stablehlo.after_all": (tokens, ""), "stablehlo.transpose": (transpose, ""),
    "stablehlo.triangular_solve": (triangular_solve, ""), "stablehlo.while": (while_op, ""),
}


def module(rng, name):
    """The text of a random module with an op of this name."""
    make, kind = OPS[name]
    m = Module(rng)
    make(m, rng, kind)
    return m.text()
