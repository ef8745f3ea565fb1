"""A program of one op with values for its arguments, as arrays that every party reads.

A module of exec_ops.py becomes a function @body. Around it, @main takes and gives only types that safetensors,
NumPy and jaxlib's evaluator share: narrow integers travel as i8, narrow floats as their bits, complex
numbers as two real ones. So every element type is computed with, and nothing is rounded on the way.
"""
import dataclasses
import re

import ml_dtypes
import numpy as np

import exec_ops
import random_ops

# Floats by the names of MLIR.
NUMBERS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
           "f8E3M4": ml_dtypes.float8_e3m4, "f8E4M3": ml_dtypes.float8_e4m3, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
           "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
           "f8E5M2": ml_dtypes.float8_e5m2, "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
           "f8E8M0FNU": ml_dtypes.float8_e8m0fnu, "f6E2M3FN": ml_dtypes.float6_e2m3fn,
           "f6E3M2FN": ml_dtypes.float6_e3m2fn, "f4E2M1FN": ml_dtypes.float4_e2m1fn}
CARRIERS = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "ui8": np.uint8,
            "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64, "f32": np.float32, "f64": np.float64}
TRAVELS_AS = {"i2": "i8", "i4": "i8", "ui2": "ui8", "ui4": "ui8", "f16": "ui16", "bf16": "ui16",
              # No type of NumPy has their bits.
              "f6E2M3FN": "f32", "f6E3M2FN": "f32", "f4E2M1FN": "f32"}
NARROW = [d for d in NUMBERS if d != "f64"]


def part_of(dtype):
    """The type of the parts of a complex type; other types are their own."""
    return dtype[8:-1] if dtype.startswith("complex") else dtype


def carrier_of(part):
    return TRAVELS_AS.get(part, "ui8" if part.startswith("f8") else part)


def encode(values, part):
    """f64 numbers as the carrier of a float type, rounded to nearest even."""
    with np.errstate(all="ignore"):
        rounded = np.asarray(values).astype(NUMBERS[part])
    carrier = CARRIERS[carrier_of(part)]
    return rounded.astype(carrier) if carrier in (np.float32, np.float64) else rounded.view(carrier)


def decode(array, part):
    """The numbers of a carrier as f64, or integers as they are."""
    if part not in NUMBERS:
        return array
    array = np.asarray(array, order="C")
    with np.errstate(all="ignore"):
        return (array if array.dtype.kind == "f" else array.view(NUMBERS[part])).astype(np.float64)


@dataclasses.dataclass
class Port:
    """An argument or result of @body, and the arrays that carry it."""
    shape: list
    dtype: str

    @staticmethod
    def read(kind):
        words = kind[len("tensor<"):-1]
        at = words.find("complex")
        head, dtype = (words[:at], words[at:]) if at >= 0 else words.rpartition("x")[::2]
        return Port([int(n) for n in head.strip("x").split("x") if n], dtype)

    @property
    def kind(self):
        return random_ops.tensor(self.shape, self.dtype)

    @property
    def part(self):
        return part_of(self.dtype)

    @property
    def carriers(self):
        """The types that carry it."""
        return [carrier_of(self.part)] * (2 if self.dtype.startswith("complex") else 1)

    @property
    def count(self):
        return int(np.prod(self.shape, dtype=np.int64))


# ---- text ----

def change(port, source, target, names, out):
    """A line between carriers and a value of @body."""
    inwards = target == [port.dtype]
    op = "complex" if len(names) == 2 else "bitcast_convert" if port.carriers[0] in ("ui16", "ui8") and \
        port.dtype[0] != "u" else "convert"
    if not inwards and len(port.carriers) == 2:
        op = "real" if out.endswith("_0") else "imag"
    return "    %s = \"stablehlo.%s\"(%s) : (%s) -> %s" % (
        out, op, ", ".join(names), ", ".join(random_ops.tensor(port.shape, s) for s in source),
        random_ops.tensor(port.shape, target[0]))


class Case:
    """Body text, ports and arrays. `shares` says whether values were made for sums."""

    def __init__(self, op, dtype, body, args, results):
        self.op, self.dtype, self.body, self.args, self.results = op, dtype, body, args, results
        self.short = op.split(".")[1].removeprefix("broadcast_") if op.startswith("chlo.") else op.split(".")[1]
        if "\"mhlo.erf\"" in body:
            self.short = "erf"
        self.arrays, self.subnormal = [], False
        self.traits = set(re.findall(r"\"(?:stablehlo|chlo)\.(\w+)\"", body))

    def names(self):
        """The ops that occur in it on purpose."""
        helpers = {"stablehlo.constant", "stablehlo.return", "func.return", "stablehlo.compare", "stablehlo.select"}
        return {self.op} | set(re.findall(r"\"(\w+\.[\w-]+)\"\(", self.body)) - helpers

    @property
    def carried(self):
        return [random_ops.tensor(p.shape, c) for p in self.args for c in p.carriers]

    @property
    def wanted(self):
        return [(p.shape, c) for p in self.results for c in p.carriers]

    def lines(self, mark):
        """The functions of the case with names that end in `mark`; heads, calls and tails for a @main."""
        body = re.sub(r"@(\w+)", r"@\1_" + mark, self.body)
        heads, lines, passed, tails, kinds = [], [], [], [], []
        for i, port in enumerate(self.args):
            names = ["%%a%s_%d_%d" % (mark, i, j) for j in range(len(port.carriers))]
            heads += ["%s: %s" % (n, random_ops.tensor(port.shape, c)) for n, c in zip(names, port.carriers)]
            if port.carriers != [port.dtype]:
                lines.append(change(port, port.carriers, [port.dtype], names, "%%b%s_%d" % (mark, i)))
                names = ["%%b%s_%d" % (mark, i)]
            passed.append(names[0])
        many, name = len(self.results) > 1, "%r" + mark
        lines.append("    %s = func.call @main_%s(%s) : (%s) -> (%s)" % (
            name + ":%d" % len(self.results) if many else name, mark, ", ".join(passed),
            ", ".join(p.kind for p in self.args), ", ".join(p.kind for p in self.results)))
        for i, port in enumerate(self.results):
            got = "%s#%d" % (name, i) if many else name
            outs = ["%%c%s_%d_%d" % (mark, i, j) for j in range(len(port.carriers))]
            if port.carriers == [port.dtype]:
                outs = [got]
            else:
                lines += [change(port, [port.dtype], [c], [got], o) for c, o in zip(port.carriers, outs)]
            tails += outs
            kinds += [random_ops.tensor(port.shape, c) for c in port.carriers]
        inner = body[len("module {\n"):body.rindex("}")].replace("func.func @main", "func.func private @main")
        return inner, heads, lines, tails, kinds

    def widened(self, real=False):
        """The same case in f64 with the same numbers; `real`: absolute values, of complex numbers too."""
        body = re.sub(r"complex<f\d\d>", "f64", self.body) if real else self.body
        for narrow in NARROW:
            body = re.sub(r"(?<=[x<])%s(?=>)" % narrow, "f64", body)
        ports = []
        for group in (self.args, self.results):
            ports.append([Port(p.shape, p.dtype if p.part not in NUMBERS else "f64" if real or
                               p.dtype == p.part else "complex<f64>") for p in group])
        case = Case(self.op, self.dtype, body, *ports)
        at = 0
        for port in self.args:
            arrays = [decode(a, port.part) for a in self.arrays[at:at + len(port.carriers)]]
            at += len(port.carriers)
            if real and port.part in NUMBERS:
                arrays = [np.hypot(*arrays) if len(arrays) == 2 else np.abs(arrays[0])]
            case.arrays += arrays
        return case


def join(cases):
    """One module that runs all the cases."""
    parts = [case.lines(str(i)) for i, case in enumerate(cases)]
    inner, heads, lines, tails, kinds = ([x for p in parts for x in ([p[i]] if i == 0 else p[i])] for i in range(5))
    return "module {\n%s  func.func public @main(%s) -> (%s) {\n%s\n    return %s : %s\n  }\n}\n" % (
        "".join(inner), ", ".join(heads), ", ".join(kinds), "\n".join(lines), ", ".join(tails), ", ".join(kinds))


# ---- values ----

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 2.0, -3.0]
# Results are sums or come by way of sums: no infinities, and sizes near one.
SUMS = set("""dot_general dot einsum unary_einsum ragged_dot convolution dynamic_conv reduce reduce_window scatter
select_and_scatter map""".split())
LINEAR = set("fft cholesky triangular_solve batch_norm_grad batch_norm_inference batch_norm_training".split())
INDEXED = set("gather dynamic_gather torch_index_select dynamic_slice dynamic_update_slice case scatter".split())
# What infinite parts give is not specified for these.
COMPLEX_FINITE = set("""multiply divide power exponential exponential_minus_one log log_plus_one logistic sine cosine tan
maximum minimum clamp tanh sqrt rsqrt cbrt abs sign square acos acosh asin asinh atan atan2 atanh sinh cosh erf _asin_acos_kernel""".split())


def takes_specials(case, port):
    if case.short in LINEAR or case.short in ("polygamma", "zeta", "all_reduce", "reduce_scatter"):
        return False  # XLA combines with an initial value even what comes from one device
    if case.short == "reduce" and "compare" in case.traits:
        return False  # of two NaNs that the body of argmax compares it takes the left, and the order is ours to choose
    if case.short in SUMS:
        return not case.traits & {"add", "multiply", "dot_general", "dot", "einsum", "unary_einsum", "convolution",
                                  "dynamic_conv", "ragged_dot"}
    if case.short == "sort":  # NaN has no place in an order that is not total
        return "TOTALORDER" in case.body
    return port.dtype == port.part or case.short not in COMPLEX_FINITE


def random_integers(np_rng, count, dtype, small, nonzero):
    width = random_ops.bits(dtype)
    low = 0 if dtype[0] == "u" else -(2 ** (width - 1))
    high = low + 2**width - 1
    if small:
        values = np_rng.integers(max(low, -2), min(high, 5) + 1, count).astype(object)
    else:
        wide = [int.from_bytes(np_rng.bytes(8), "little") % 2**width + low for _ in range(count)]
        edges = [0, low, high, 1, max(low, -1)]
        values = np.array([edges[np_rng.integers(5)] if np_rng.random() < 0.3 else w for w in wide], dtype=object)
    if nonzero:
        values = np.array([1 if v == 0 else v for v in values], dtype=object)
    return values


def random_floats(np_rng, case, port):
    """The parts of an argument as f64 numbers, before they are rounded to the type."""
    finite = case.short in SUMS or case.short in LINEAR
    scale = 1.0 if finite else np_rng.choice([1.0, 1.0, 30.0, 0.05])
    if finite and port.part in NUMBERS and ml_dtypes.finfo(NUMBERS[port.part]).nmant < 5:
        return [np_rng.choice([0, 0.25, 0.5, -0.25, -0.5, 1.0, -1.0], port.shape) for _ in port.carriers]
    parts = [np_rng.normal(size=port.shape) * scale for _ in port.carriers]
    if case.subnormal and not finite and not (port.dtype != port.part and case.short in COMPLEX_FINITE):
        tiny = float(ml_dtypes.finfo(NUMBERS[port.part]).smallest_normal)
        parts = [np.where(np_rng.random(port.shape) < 0.3, p * tiny / 4, p) for p in parts]
    if port.part == "f8E8M0FNU" and not takes_specials(case, port):
        return [np.abs(p) + 2.0**-10 for p in parts]  # it has no others but NaN
    if takes_specials(case, port):
        parts = [np.where(np_rng.random(port.shape) < 0.25, np_rng.choice(SPECIAL, port.shape), p) for p in parts]
    return parts


# What changes nothing: an initial value may be combined any number of times.
LARGEST = {"i1": True} | {d: 2 ** (random_ops.bits(d) - (d[0] == "i")) - 1 for d in random_ops.INTS}
LEAST = {"i1": False} | {d: 0 if d[0] == "u" else -(2 ** (random_ops.bits(d) - 1)) for d in random_ops.INTS}


def identity(case, port):
    """The arrays of a scalar initial value that changes nothing; None for an argument of another kind."""
    inits = {"reduce": len(case.args) // 2, "reduce_window": len(case.args) // 2, "select_and_scatter": 2}
    if case.short not in inits or not any(port is p for p in case.args[inits[case.short]:]):
        return None
    carrier = CARRIERS[port.carriers[0]]
    if case.short == "reduce" and port is case.args[-1] and "tensor<i1>" in case.body and "compare" in case.traits:
        return [carrier(LARGEST["i32"])]  # of equal values that with the lower index is taken
    real = port.part in NUMBERS
    ends = (-np.inf, np.inf) if real else (LEAST[port.dtype], LARGEST[port.dtype])
    if real and not np.isinf(decode(encode(np.float64(np.inf), port.part), port.part)):
        largest = float(ml_dtypes.finfo(NUMBERS[port.part]).max)
        ends = (float(ml_dtypes.finfo(NUMBERS[port.part]).min), largest)
    body = case.body.partition("^bb0")[2] if case.short != "select_and_scatter" else "stablehlo.add"
    value = 0
    for op, made in (("maximum", ends[0]), ("minimum", ends[1]), ("multiply", 1), ('.and"(%p', ends[1]),
                     (" GT>", ends[0]), (" LT>", ends[1])):
        if op in body:
            value = made
            break
    values = [value, 0] if len(port.carriers) == 2 else [value]
    return [encode(np.float64(v), port.part) if real else carrier(v) for v in values]


def suited(np_rng, case, index, port, parts):
    """Values in the domain of the op."""
    short = case.short
    if short == "cholesky" and len(port.shape) > 1:
        whole = parts[0] + 1j * parts[1] if len(parts) == 2 else parts[0]
        whole = whole @ np.conj(np.swapaxes(whole, -1, -2)) + 2 * np.eye(port.shape[-1])
        parts = [whole.real, whole.imag] if len(parts) == 2 else [whole.real]
    elif short == "triangular_solve" and index == 0:
        parts = [p * 0.3 + (2 * np.eye(port.shape[-1]) if i == 0 else 0) for i, p in enumerate(parts)]
    elif short == "batch_norm_inference" and index == 4 or short == "batch_norm_grad" and index == 3:
        parts = [np.abs(parts[0]) + 0.5]
    elif short == "polygamma":
        parts = [np_rng.integers(0, 5, port.shape).astype(float) if index == 0 else np.abs(parts[0]) * 3 + 0.1]
    elif short == "zeta":
        parts = [np.abs(parts[0]) * 3 + (1.1 if index == 0 else 0.1)]
    return parts


def fill(np_rng, case):
    """Values for the arguments of a case."""
    case.subnormal = bool(np_rng.random() < 0.2)
    for index, port in enumerate(case.args):
        carrier = CARRIERS[port.carriers[0]]
        fixed = identity(case, port)
        if fixed is not None:
            case.arrays += [np.asarray(a).reshape(()) for a in fixed]
        elif port.dtype == "i1":
            case.arrays.append(np_rng.random(port.shape) < 0.5)
        elif port.dtype[0] in "iu":
            small = case.short in SUMS or case.short in INDEXED or np_rng.random() < 0.3
            values = random_integers(np_rng, port.count, port.dtype, small,
                                     case.short in ("divide", "remainder") and index == 1)
            case.arrays.append(values.astype(carrier).reshape(port.shape))
        elif port.dtype.startswith("f8") and case.short not in SUMS and takes_specials(case, port) and np_rng.random() < 0.3:
            values = np_rng.integers(0, 256, port.shape).astype(np.uint8)
            # One NaN of each sign: what else its bits say is not kept.
            case.arrays.append(encode(decode(values, port.part), port.part))
        else:
            parts = suited(np_rng, case, index, port, random_floats(np_rng, case, port))
            case.arrays += [encode(p, port.part).reshape(port.shape) for p in parts]


def make(op, dtype, rng, np_rng):
    """A case, or None where the maker has none of this type."""
    m = exec_ops.module(op, dtype, rng)
    kinds = m.args + [k for _, k in m.results]
    if not m.results or any("?" in k or not k.startswith("tensor") for k in kinds):
        return None
    case = Case(op, dtype, m.text(), [Port.read(k) for k in m.args], [Port.read(k) for _, k in m.results])
    return case


assert set(NUMBERS) == set(exec_ops.REALS)
