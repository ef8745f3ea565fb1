"""Random programs of one op with values for their arguments, and how near results must be.

A module of random_ops.py becomes the function @body. Around it, @main takes and gives only types that
safetensors, NumPy and jaxlib's evaluator share: narrow integers travel as i8, narrow floats as their bits,
complex numbers as two real ones. So every element type is computed with, and nothing is rounded on the way.
"""
import dataclasses

import ml_dtypes
import numpy as np

import random_ops

NARROW_FLOATS = ["f6E2M3FN", "f6E3M2FN", "f4E2M1FN"]  # travel as f32: no type of NumPy has their bits
EIGHT = {"f8E3M4": ml_dtypes.float8_e3m4, "f8E4M3": ml_dtypes.float8_e4m3, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
         "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
         "f8E5M2": ml_dtypes.float8_e5m2, "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
         "f8E8M0FNU": ml_dtypes.float8_e8m0fnu}
# Without infinities and NaN, or without zero and a sign: what arithmetic gives beyond them is not specified.
COPIED_ONLY = NARROW_FLOATS + ["f8E8M0FNU"]
NUMPY = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "ui8": np.uint8,
         "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64, "f32": np.float32, "f64": np.float64}
# Bits of the fraction, exponent bias and largest exponent field of floats that travel as bits.
LAYOUT = {"f16": (10, 15), "bf16": (7, 127), "f32": (23, 127), "f64": (52, 1023)}
EPSILON = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}

# Ops whose results on floats are those of the nearest number, or copies: no error at all.
EXACT = set("""abs add ceil clamp compare concatenate constant convert bitcast_convert divide dynamic_slice
dynamic_update_slice floor gather imag iota is_finite maximum minimum multiply negate pad real
reduce_precision remainder reshape reverse round_nearest_afz round_nearest_even select sign slice sort sqrt
subtract transpose broadcast_in_dim complex while if case composite call and or xor not popcnt top_k
count_leading_zeros shift_left shift_right_arithmetic shift_right_logical rng_bit_generator
is_inf is_neg_inf is_pos_inf next_after conj map""".split())
COPIES = set("""concatenate bitcast_convert dynamic_slice dynamic_update_slice gather pad reshape reverse select
slice transpose broadcast_in_dim while if case composite call constant""".split())
# Sums of products: the error is bounded by the terms times the same sum of absolute values.
SUMS = set("dot_general convolution reduce reduce_window scatter select_and_scatter".split())
# XLA and NumPy agree on spectra that no real signal has, the evaluator gives something else.
ASK_XLA = {"fft"}
# Bounds in units of the last place, of f32 and f64.
ULPS = {"power": 8, "tan": 4, "atan2": 4, "logistic": 4, "rsqrt": 2, "cbrt": 2, "square": 0.5, "exponential": 2, "log": 2}
DEFAULT_ULPS = 4
# These have no bound near the zeros of the function; absolute errors count there too.
LOOSE = set("lgamma digamma polygamma zeta erf_inv bessel_i1e acosh asinh atanh acos asin batch_norm_grad "
            "batch_norm_inference batch_norm_training fft cholesky triangular_solve".split())
LEFT_OUT = set("""rng custom_call after_all tuple all_gather all_reduce all_to_all collective_broadcast
reduce_scatter collective_permute dynamic_iota dynamic_reshape dynamic_broadcast_in_dim dynamic_pad
get_dimension_size sharding_constraint reshard manual_computation""".split())


def is_specified(op, ports):
    """Whether the specification says what the op gives for values of these types."""
    short = op.split(".")[1]
    if short == "logistic" and ports[0].dtype.startswith("f8"):  # the evaluator's own steps overflow
        return False
    if short in ("ceil", "floor", "round_nearest_afz", "round_nearest_even") and ports[0].dtype == "f8E3M4":
        return False  # the evaluator gives infinities
    if short == "rng_bit_generator" and any(p.dtype[0] == "f" for p in ports):  # XLA gives integers
        return False
    if short == "dot_general" and ports[0].dtype != ports[2].dtype:
        return False  # JAX makes none that mix integers and floats
    return short in COPIES or all(p.dtype not in COPIED_ONLY for p in ports)


def ops():
    return [name for name in random_ops.OPS if name.split(".")[1] not in LEFT_OUT]


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

    def carriers(self):
        """The types that carry it."""
        if self.dtype.startswith("complex"):
            return [self.dtype[8:-1]] * 2
        if self.dtype in ("i2", "i4"):
            return ["i8"]
        if self.dtype in ("ui2", "ui4"):
            return ["ui8"]
        if self.dtype in ("f16", "bf16"):
            return ["ui16"]
        if self.dtype in NARROW_FLOATS:
            return ["f32"]
        return ["ui8"] if self.dtype.startswith("f8") else [self.dtype]


def enter(port, names, out):
    """Lines that make a value of @body from its carriers."""
    kinds = [random_ops.tensor(port.shape, c) for c in port.carriers()]
    op = ("complex" if len(names) == 2 else "bitcast_convert" if port.carriers()[0] in ("ui16", "ui8") and
          port.dtype[0] != "u" else "convert")
    return '    %s = "stablehlo.%s"(%s) : (%s) -> %s' % (out, op, ", ".join(names), ", ".join(kinds), port.kind)


def leave(port, name, outs):
    """Lines that make the carriers of a value."""
    lines = []
    for i, (out, carrier) in enumerate(zip(outs, port.carriers())):
        op = (("real", "imag")[i] if len(outs) == 2 else "bitcast_convert" if carrier in ("ui16", "ui8") and
              port.dtype[0] != "u" else "convert")
        lines.append('    %s = "stablehlo.%s"(%s) : (%s) -> %s' % (
            out, op, name, port.kind, random_ops.tensor(port.shape, carrier)))
    return lines


def wrap(text, args, results):
    """The module with a @main of carriers around it."""
    lines, passed, heads, tails, kinds = [], [], [], [], []
    for i, port in enumerate(args):
        names = ["%%a%d_%d" % (i, j) for j in range(len(port.carriers()))]
        heads += ["%s: %s" % (n, random_ops.tensor(port.shape, c)) for n, c in zip(names, port.carriers())]
        if port.carriers() == [port.dtype]:
            passed.append(names[0])
        else:
            lines.append(enter(port, names, "%%b%d" % i))
            passed.append("%%b%d" % i)
    got = ["%%r#%d" % i if len(results) > 1 else "%r" for i in range(len(results))]
    lines.append("    %s = func.call @body(%s) : (%s) -> (%s)" % (
        "%%r:%d" % len(results) if len(results) > 1 else "%r", ", ".join(passed), ", ".join(p.kind for p in args),
        ", ".join(p.kind for p in results)))
    for i, port in enumerate(results):
        outs = ["%%c%d_%d" % (i, j) for j in range(len(port.carriers()))]
        if port.carriers() == [port.dtype]:
            outs = [got[i]]
        else:
            lines += leave(port, got[i], outs)
        tails += outs
        kinds += [random_ops.tensor(port.shape, c) for c in port.carriers()]
    main = "  func.func @main(%s) -> (%s) {\n%s\n    return %s : %s\n  }\n" % (
        ", ".join(heads), ", ".join(kinds), "\n".join(lines), ", ".join(tails), ", ".join(kinds))
    return text.replace("func.func @main(", "func.func private @body(").replace("module {\n", "module {\n" + main, 1)


# ---- values ----

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 2.0, 1e-3]


def to_bits(values, dtype):
    """Numbers as the bits of f16 or bf16, rounded to nearest even."""
    if dtype == "f16":
        return values.astype(np.float16).view(np.uint16)
    wide = values.astype(np.float32).view(np.uint32)
    rounded = ((wide + 0x7FFF + ((wide >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded).astype(np.uint16)


def from_bits(values, dtype):
    """Carried values as f64 numbers."""
    if dtype == "f16":
        return values.view(np.float16).astype(np.float64)
    if dtype == "bf16":
        return (values.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return values.astype(np.float64)


def random_reals(np_rng, count, specials, scale):
    values = np_rng.normal(size=count) * scale
    if specials:
        where = np_rng.random(count) < 0.25
        values = np.where(where, np_rng.choice(SPECIAL, count), values)
    return values


def random_integers(np_rng, count, dtype, small, nonzero):
    width = random_ops.bits(dtype)
    low = 0 if dtype[0] == "u" else -(2 ** (width - 1))
    high = low + 2**width - 1
    if small:
        values = np_rng.integers(max(low, -2), min(high, 5) + 1, count)
    else:
        wide = [int.from_bytes(np_rng.bytes(8), "little") % 2**width + low for _ in range(count)]
        edges = [0, low, high, 1, max(low, -1)]
        values = np.array([edges[np_rng.integers(5)] if np_rng.random() < 0.3 else w for w in wide], dtype=object)
    if nonzero:
        values = np.array([3 if v in (0, -1) else v for v in values], dtype=object)
    return values


def fill(np_rng, op, index, port):
    """The carriers of one argument, with values that suit the op."""
    short = op.split(".")[1]
    count = int(np.prod(port.shape, dtype=np.int64))
    carrier = port.carriers()[0]
    if short == "select_and_scatter" and index == 2:  # the evaluator adds another initial value twice
        return [np.zeros([], NUMPY[carrier])]
    if port.dtype == "i1":
        return [np_rng.random(port.shape) < 0.5]
    if port.dtype[0] in "iu":
        small = short in SUMS or short in ("gather", "dynamic_slice", "dynamic_update_slice", "case", "map") or \
            np_rng.random() < 0.3
        values = random_integers(np_rng, count, port.dtype, small, short in ("divide", "remainder") and index == 1)
        return [np.array(values, dtype=object).astype(NUMPY[carrier]).reshape(port.shape)]
    if carrier == "ui8" or (port.dtype in NARROW_FLOATS):
        # Bits of any kind; sums of them stay small enough to be compared.
        if port.dtype in NARROW_FLOATS:
            return [np_rng.choice(np.float32([0, 0.5, 1, 1.5, 2, -1, -0.5, 3]), port.shape)]
        return [np_rng.integers(0, 256, port.shape).astype(np.uint8)]
    # NaN has no place in an order, so a sort may put it anywhere.
    specials = len(port.carriers()) == 1 and short != "sort" and short not in SUMS and short not in LOOSE and short != "rng_bit_generator"
    scale = 1.0 if np_rng.random() < 0.6 or short in SUMS or short in LOOSE else 30.0
    parts = [random_reals(np_rng, count, specials, scale).reshape(port.shape) for _ in port.carriers()]
    if short == "cholesky":
        parts = definite(parts, port)
    if short == "triangular_solve" and index == 0:
        parts[0] = parts[0] * 0.3 + 2 * np.eye(port.shape[-1])
    if short == "batch_norm_inference" and index == 4 or short == "batch_norm_grad" and index == 3:
        parts[0] = np.abs(parts[0]) + 0.5
    return [to_bits(p, port.dtype) if carrier == "ui16" else p.astype(NUMPY[carrier]) for p in parts]


def definite(parts, port):
    whole = parts[0] + 1j * parts[1] if len(parts) == 2 else parts[0]
    if len(port.shape) < 2 or port.shape[-1] != port.shape[-2]:
        return parts
    whole = whole @ np.conj(np.swapaxes(whole, -1, -2)) + 2 * np.eye(port.shape[-1])
    return [whole.real, whole.imag] if len(parts) == 2 else [whole.real]


# ---- comparing ----

def spacing(values, dtype):
    """The unit of the last place of each number."""
    fraction, bias = LAYOUT[dtype]
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(np.where(values == 0, 1e-300, np.abs(values))))
    exponent = np.where(np.isfinite(exponent), exponent, 0)
    return 2.0 ** (np.maximum(exponent, 1 - bias) - fraction)


def allowed(op, port, want, magnitude, exact_peer):
    """The largest error of each element of a result, as f64; 0 = equal."""
    short, part = op.split(".")[1], port.dtype[8:-1] if port.dtype.startswith("complex") else port.dtype
    real = from_bits(want, part) if part in ("f16", "bf16") else want.astype(np.float64)
    if short in EXACT and not port.dtype.startswith("complex"):
        return np.zeros_like(real)
    if short in SUMS:
        return 64 * EPSILON[part] * np.abs(magnitude) + 1e-30
    if short in LOOSE:
        size = np.nanmax(np.abs(np.where(np.isfinite(real), real, 0)), initial=1.0)
        return 256 * EPSILON[part] * np.maximum(size if short in ("fft", "cholesky", "triangular_solve") or
                                                short.startswith("batch") else 1.0, np.abs(real))
    ulps = 1 if part in ("f16", "bf16") else ULPS.get(short, DEFAULT_ULPS)
    if not exact_peer:
        ulps = max(1024 if short in ("erfc", "erf") else 64, ulps)  # XLA's exp(-x * x) loses digits
    if port.dtype.startswith("complex"):
        return 32 * EPSILON[part] * np.maximum(np.abs(magnitude), np.abs(real)) + 1e-37
    # The evaluator's own steps overflow in f16, where XLA's do not.
    return ulps * spacing(real, part) + (2.0**-14 if (short, part) == ("logistic", "f16") else 0)


def compare(op, port, want, got, magnitude, exact_peer):
    """The places of a carrier at which the results differ, as booleans."""
    part = port.dtype[8:-1] if port.dtype.startswith("complex") else port.dtype
    if part in EIGHT:
        a, b = (x.view(EIGHT[part]).astype(np.float64) for x in (want, got))
        if op.split(".")[1] in SUMS:  # the evaluator rounds every partial sum to the type
            with np.errstate(all="ignore"):
                return ~((np.abs(a - b) <= 0.5 * np.abs(a) + 2) | ~np.isfinite(a) | ~np.isfinite(b))
        near = np.abs(want.astype(int) - got.astype(int)) <= (0 if op.split(".")[1] in EXACT else 1)
        return ~(near | (a == b) | (np.isnan(a) & np.isnan(b)))
    if part not in EPSILON:
        return want != got if want.dtype.kind != "f" else ~((want == got) | (np.isnan(want) & np.isnan(got)))
    a, b = (from_bits(x, part) if part in ("f16", "bf16") else x.astype(np.float64) for x in (want, got))
    bound = allowed(op, port, want, magnitude, exact_peer)
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= bound
    return ~((a == b) | (np.isnan(a) & np.isnan(b)) | near)
