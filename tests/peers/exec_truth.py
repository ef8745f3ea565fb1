"""Functions of floats beside the exact value, which mpmath computes with 60 digits.

BOUNDS has the largest error that our functions may have. u is the unit roundoff of a type, 2^-p with p bits of precision;
an ulp of a number is 2u times the power of two below it. Where the exact value is zero, infinite or no number,
or where an argument is, the result is exactly what C and IEEE 754 say, and the peers must agree.
"""
import cmath
import dataclasses
import math

import ml_dtypes
import mpmath
import numpy as np

import random_ops
from exec_cases import Case, NUMBERS, Port, decode, encode, part_of, suited

mpmath.mp.prec = 200


@dataclasses.dataclass
class Bound:
    """Of f32 and f64 in ulps; of complex numbers in u, relative to the size of the result, for each part. `near` is an absolute
    error in u, where terms cancel: at zeros that no float meets."""
    f32: float
    f64: float
    complex: float = 1.1
    near32: float = 0
    near64: float = 0
    near_complex: float = 0


# A function of narrower floats is that of f32, rounded once more. Beside each: the worst of 2,000 points (fewer of slow
# ones) of f32, f64, complex<f32> and complex<f64>, in ulps and in u, as `check_exec.py --points 2000 -v` prints them. That of
# digamma is near a zero. cosh and sinh of f32 may have |x| + 1 u more: x + log(1/2) is rounded.
BOUNDS = {
    "exponential": Bound(1, 1),                             #  0.70  0.79  0.98  0.95
    "exponential_minus_one": Bound(1.6, 2),                 #  0.86  1.07  0.98  1.00
    "log": Bound(1, 1),                                     #  0.64  0.69  0.95  0.94
    "log_plus_one": Bound(1, 1),                            #  0.71  0.69  0.98  0.98
    "logistic": Bound(1.5, 1.5),                            #  1.18  0.98  1.00  0.99
    "sine": Bound(0.51, 1),                                 #  0.50  0.52  0.93  0.97
    "cosine": Bound(0.51, 1),                               #  0.50  0.51  1.00  1.00
    "tan": Bound(0.51, 1),                                  #  0.50  0.52  1.00  1.00
    "tanh": Bound(1.3, 2),                                  #  1.04  1.34  1.00  1.00
    "sqrt": Bound(0.5, 0.5),                                #  0.50  0.50  0.95  0.98
    "rsqrt": Bound(0.51, 0.51),                             #  0.50  0.50  0.96  0.98
    "cbrt": Bound(0.51, 0.51),                              #  0.50  0.50     -     -
    "power": Bound(0.52, 1),                                #  0.50  0.51  0.96  1.00
    "atan2": Bound(0.52, 1, near_complex=2.0**-8),          #  0.50  0.51  0.99  2.72
    "acos": Bound(0.51, 1),                                 #  0.50  0.50  0.96  0.95
    "acosh": Bound(0.51, 2),                                #  0.50  1.28  0.94  0.97
    "asin": Bound(0.51, 1),                                 #  0.50  0.51  0.94  0.97
    "asinh": Bound(0.51, 2),                                #  0.50  1.36  0.96  0.99
    "atan": Bound(0.52, 1),                                 #  0.51  0.51  0.95  0.96
    "atanh": Bound(0.51, 2),                                #  0.50  1.17  0.96  0.99
    "cosh": Bound(0.51, 2),                                 # 24.09  0.96  1.00  0.99
    "sinh": Bound(0.51, 3),                                 # 22.98  1.60  0.96  0.98
    "erf": Bound(1.3, 1.5),                                 #  0.97  0.86     -     -
    "erfc": Bound(0.51, 0.51),                              #  0.51  0.50     -     -
    "erf_inv": Bound(0.52, 4),                              #  0.50  1.18     -     -
    "lgamma": Bound(2, 4, near32=1, near64=8),              #  0.54  1.82     -     -
    "digamma": Bound(2, 4, near32=1, near64=8),             #  0.50 12.22     -     -
    "polygamma": Bound(0.51, 8),                            #  0.50  1.55     -     -
    "zeta": Bound(0.51, 4),                                 #  0.50  0.95     -     -
    "bessel_i1e": Bound(0.51, 8),                           #  0.50  2.05     -     -
    "multiply": Bound(0.5, 0.5, 3),                         #     -     -  1.90  1.68
    "divide": Bound(0.5, 0.5, 1.1),                         #     -     -  1.00  0.98
    "abs": Bound(0.5, 0.5, 1.1),                            #     -     -  0.97  0.97
    "square": Bound(0.5, 0.5, 1.1),                         #     -     -  0.97  0.98
    "sign": Bound(0.5, 0.5, 1.1),                           #     -     -  0.50  0.51
}
NO_NAN = ["f6E2M3FN", "f6E3M2FN", "f4E2M1FN"]
# Exact where the numbers are real.
COMPLEX_ONLY = set("multiply divide abs square sign".split())


def is_judged(case):
    """Whether there is an exact value for each element of the result."""
    port = case.results[0]
    if case.short not in BOUNDS or port.part not in NUMBERS or len(case.results) != 1:
        return False
    # XLA multiplies by the reciprocal of what is broadcast.
    return case.short not in COMPLEX_ONLY or is_complex(case) or case.op == "chlo.broadcast_divide"


def is_complex(case):
    return any(p.dtype != p.part for p in case.args)


# ---- exact values ----

def bessel_i1e(x):
    size = abs(x)
    if size < 1e5:
        return mpmath.besseli(1, x) * mpmath.exp(-size)
    term, total = mpmath.mpf(1), mpmath.mpf(1)
    for k in range(1, 30):  # of Hankel
        term *= -(4 - (2 * k - 1) ** 2) / (k * 8 * size)
        total += term
    return mpmath.sign(x) * total / mpmath.sqrt(2 * mpmath.pi * size)


def zeta(s, q):
    """By Euler and Maclaurin; mpmath's own loses digits for large q."""
    if s == 1:
        return mpmath.inf
    first = 40 + int(min(s, 400))
    end = q + first
    total = mpmath.fsum((q + k) ** -s for k in range(first)) + end ** (1 - s) / (s - 1) + end ** -s / 2
    factor = s * end ** (-s - 1)
    for k in range(1, 30):
        total += mpmath.bernoulli(2 * k) / mpmath.factorial(2 * k) * factor
        factor *= (s + 2 * k - 1) * (s + 2 * k) / end ** 2
    return total


def polygamma(order, x):
    if order == 0:
        return mpmath.digamma(x)
    return (-1) ** (int(order) + 1) * mpmath.factorial(order) * zeta(order + 1, x)


def complex_atan2(z, w):
    return -1j * mpmath.log((w + 1j * z) / mpmath.sqrt(w * w + z * z))


def log_of_gamma(x):
    return mpmath.log(abs(mpmath.gamma(x))) if abs(x) < 1e4 else mpmath.re(mpmath.loggamma(x))


EXACT = {
    "exponential": mpmath.exp, "exponential_minus_one": mpmath.expm1, "log": mpmath.log, "log_plus_one": mpmath.log1p,
    "logistic": lambda x: 1 / (1 + mpmath.exp(-x)), "sine": mpmath.sin, "cosine": mpmath.cos, "tan": mpmath.tan,
    "tanh": mpmath.tanh, "sqrt": mpmath.sqrt, "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)) if isinstance(x, mpmath.mpf) else mpmath.exp(mpmath.log(x) / 3),
    "power": mpmath.power, "atan2": lambda y, x: mpmath.atan2(y, x) if isinstance(x, mpmath.mpf) else complex_atan2(y, x),
    "acos": mpmath.acos, "acosh": mpmath.acosh, "asin": mpmath.asin, "asinh": mpmath.asinh, "atan": mpmath.atan,
    "atanh": mpmath.atanh, "cosh": mpmath.cosh, "sinh": mpmath.sinh, "erf": mpmath.erf, "erfc": mpmath.erfc,
    "erf_inv": mpmath.erfinv, "lgamma": log_of_gamma, "digamma": mpmath.digamma,
    "polygamma": polygamma, "zeta": zeta, "bessel_i1e": bessel_i1e,
    "multiply": lambda a, b: a * b, "divide": lambda a, b: a / b, "abs": abs, "square": lambda a: a * a,
    "sign": lambda a: a / abs(a),
}


def one_by_one(function):
    def value(x):
        try:
            return function(x)
        except (ValueError, OverflowError):
            return math.inf if function is math.lgamma else math.nan
    return np.vectorize(value, otypes=[float])


def erf_inv_limit(x):
    return np.where(np.abs(x) == 1, np.copysign(np.inf, x), np.where(np.abs(x) > 1, np.nan, x))


def digamma_limit(x):
    return np.where((x <= 0) & (np.floor(x) == x), np.nan, x)


def zeta_limit(s, q):
    is_pole = (s > 1) & (q <= 0) & (np.floor(q) == q) & (s % 2 == 0)
    return np.where((s == 1) | is_pole, np.inf, np.nan)


def polygamma_limit(order, x):
    return np.where(order == 0, digamma_limit(x), np.where(order % 2 == 1, zeta_limit(order + 1, x), np.nan))


# In f64, for arguments that are not finite and results that are none or zero; others are near.
LIMITS = {
    "exponential": np.exp, "exponential_minus_one": np.expm1, "log": np.log, "log_plus_one": np.log1p,
    "logistic": lambda x: 1 / (1 + np.exp(-x)), "sine": np.sin, "cosine": np.cos, "tan": np.tan, "tanh": np.tanh,
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt, "power": np.float_power, "atan2": np.arctan2,
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan, "atanh": np.arctanh,
    "cosh": np.cosh, "sinh": np.sinh, "erf": one_by_one(math.erf), "erfc": one_by_one(math.erfc), "erf_inv": erf_inv_limit,
    "lgamma": one_by_one(math.lgamma), "digamma": digamma_limit, "divide": np.divide,
    "bessel_i1e": lambda x: np.where(np.isinf(x), np.copysign(0.0, x), x),
    "zeta": zeta_limit, "polygamma": polygamma_limit,
}
KNOWN = {}  # exact values found before


def exact_value(short, numbers):
    """A number of mpmath; None where it is zero or no finite number."""
    key = short, numbers
    if short == "atan2" and 0 in numbers:  # of a sign that mpmath does not know
        return None
    if key not in KNOWN:
        try:
            found = EXACT[short](*[mpmath.mpmathify(n) for n in numbers])
            is_real = not any(isinstance(n, complex) for n in numbers)
            if is_real and isinstance(found, mpmath.mpc) or not mpmath.isfinite(found) or found == 0:
                found = None
        except (ValueError, ZeroDivisionError, OverflowError, mpmath.mp.NoConvergence):
            found = None
        KNOWN[key] = found
    return KNOWN[key]


def arguments(case):
    """The numbers of each argument, in the shape of the result."""
    found, at = [], 0
    for port in case.args:
        parts = [decode(a, port.part) for a in case.arrays[at:at + len(port.carriers)]]
        at += len(port.carriers)
        found.append(parts[0] + 1j * parts[1] if len(parts) == 2 else parts[0])
    return np.broadcast_arrays(*found)


@dataclasses.dataclass
class Truth:
    """For each part: the numbers of its type between which a result must be, those that it must be exactly, and a scale of
    errors."""
    part: str
    least: list
    largest: list
    limit: np.ndarray
    values: list
    unit: np.ndarray

    def differs(self, got, index):
        low, high, found = self.least[index], self.largest[index], decode(got, self.part)
        with np.errstate(all="ignore"):
            inside = (np.isnan(low) | (found >= low)) & (np.isnan(high) | (found <= high))
        signed = (found == low) & (np.signbit(found) == np.signbit(low))
        inside &= ~(np.isnan(low) & np.isnan(high))
        same = np.where(self.limit, signed, inside | (found == low) | (found == high))
        return ~(same | np.isnan(found) & (np.isnan(low) | np.isnan(high)))

    def beyond(self, got, index, place):
        """Our result with one element moved just out of the bound, or None where the type has no such number."""
        twin = got.copy()
        low, high = float(self.least[index][place]), float(self.largest[index][place])
        if not np.isfinite(low) or not np.isfinite(high):
            twin[place] = encode(np.float64(1.0), self.part)
            return None if low <= 1.0 <= high or np.isfinite(low) and high == np.inf else twin
        for end, towards in ((high, np.inf), (low, -np.inf)):
            step = float(spacing(np.float64(end), self.part))
            other = encode(np.float64(end + (step if towards > 0 else -step)), self.part)
            number = float(decode(other, self.part))
            if np.isfinite(number) and not low <= number <= high:
                twin[place] = other
                return twin
        return None

    def errors(self, got, index):
        """In units of the bound's, where they are finite and not exact."""
        found, worst = decode(got, self.part), 0.0
        for place in np.argwhere(~self.limit & np.isfinite(found) & np.isfinite(self.least[index]) &
                                 np.isfinite(self.largest[index])):
            place = tuple(place)
            value = self.values[place]
            if value is None:
                continue
            value = mpmath.im(value) if index else mpmath.re(value)
            worst = max(worst, float(abs(mpmath.mpf(float(found[place])) - value) / self.unit[place]))
        return worst


def spacing(values, part):
    """The ulp of each number."""
    info = ml_dtypes.finfo(NUMBERS[part])
    least = float(np.log2(float(info.smallest_normal)))
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(np.abs(values)))
    exponent = np.where(np.isfinite(exponent), exponent, least)
    return 2.0 ** (np.maximum(exponent, least) - info.nmant)


def slack(case, part, value, numbers):
    """How far a result may be from an exact value before it is rounded to its type."""
    bound, unit = BOUNDS[case.short], 2.0 ** -(53 if part == "f64" else 24)
    size = abs(value)
    if is_complex(case):
        return (bound.complex * size + bound.near_complex) * unit
    wide = "f64" if part == "f64" else "f32"
    ulp = mpmath.ldexp(1, max(mpmath.frexp(size)[1] - (53 if wide == "f64" else 24), -1074 if wide == "f64" else -149))
    ulps = bound.f64 if part == "f64" else bound.f32
    more = (bound.near64 if part == "f64" else bound.near32) * unit
    if case.short in ("cosh", "sinh") and wide == "f32":  # x + log(1/2) is rounded
        more += (abs(numbers[0]) + 1) * unit * size
    return (ulps - 0.5 if part == wide else ulps) * ulp + more


def rounded(value, part):
    """A number of mpmath in a type, as f64."""
    return float(decode(encode(np.float64(float(value)), part), part))


def limits_of(case, inputs):
    with np.errstate(all="ignore"):
        if is_complex(case) or case.short not in LIMITS:
            return np.full(inputs[0].shape, np.nan)
        found = np.asarray(LIMITS[case.short](*inputs), dtype=np.float64)
        return np.where(np.isnan(found), np.nan, found)  # of one sign


def truth_of(case):
    """What the results of a case must be."""
    port, inputs = case.results[0], arguments(case)
    part, count = port.part, len(port.carriers)
    ends = limits_of(case, inputs)
    least, largest = ([np.zeros(port.shape) for _ in range(count)] for _ in range(2))
    limit, values, unit = np.zeros(port.shape, bool), np.empty(port.shape, object), np.ones(port.shape, object)
    for place in np.ndindex(*port.shape):
        numbers = tuple(complex(a[place]) if np.iscomplexobj(a) else float(a[place]) for a in inputs)
        finite = all(cmath.isfinite(n) for n in numbers)
        value = exact_value(case.short, numbers) if finite else None
        if value is None and np.isfinite(ends[place]) and ends[place] != 0:
            value = mpmath.mpf(float(ends[place]))
        if value is None and is_complex(case):
            raise ValueError("%s of %s has no exact value" % (case.short, numbers))
        if value is None:
            # A type without NaN has a zero of some sign instead.
            limit[place] = not (np.isnan(ends[place]) and part in NO_NAN)
            for i in range(count):
                least[i][place] = largest[i][place] = float(decode(encode(ends[place], part), part))
            continue
        values[place] = value
        far = slack(case, part, value, numbers)
        unit[place] = mpmath.mpf(float(spacing(np.float64(rounded(abs(value), "f64")), part)))
        if is_complex(case):
            unit[place] = max(unit[place] / 2, 2.0 ** -(53 if part == "f64" else 24) * abs(value))
        for i, each in enumerate([value] if count == 1 else [mpmath.re(value), mpmath.im(value)]):
            least[i][place], largest[i][place] = rounded(each - far, part), rounded(each + far, part)
    return Truth(part, least, largest, limit, values, unit)


# ---- many points ----

SLOW = {"polygamma": 20, "zeta": 20, "digamma": 4, "lgamma": 4, "bessel_i1e": 4, "erf_inv": 4}  # a share of the points
# Functions of numbers up to one in size, and those of complex numbers.
UNIT_DOMAIN = set("acos asin atanh erf_inv".split())
NO_COMPLEX = set("cbrt erf erfc erf_inv lgamma digamma polygamma zeta bessel_i1e".split())


def dense_values(np_rng, short, part, count, is_complex):
    """Numbers of usual sizes and, of reals, of all sizes."""
    usual = np_rng.normal(size=count) * np_rng.choice([0.05, 1.0, 1.0, 8.0, 30.0], count)
    if short in UNIT_DOMAIN and not is_complex:
        usual = np_rng.uniform(-1, 1, count)
    info = ml_dtypes.finfo(NUMBERS[part])
    ends = np.log2(float(info.smallest_normal)), np.log2(float(info.max))
    every = 2.0 ** np_rng.uniform(*ends, count) * np_rng.choice([-1, 1], count)
    near = 1 + np_rng.normal(size=count) * 2.0 ** np_rng.uniform(-20, 0, count)
    kind = np_rng.random(count)
    return usual if is_complex else np.where(kind < 0.7, usual, np.where(kind < 0.85, every, near))


def dense_case(np_rng, op, dtype, count):
    """A program of one function of many numbers."""
    module, short, shape = random_ops.Module(None), op.split(".")[1], [count]
    operands = [module.arg(shape, dtype) for _ in range(2 if short in ("power", "atan2", "polygamma", "zeta", "multiply",
                                                                      "divide") else 1)]
    result = part_of(dtype) if short == "abs" else dtype
    module.op(op, operands, [random_ops.tensor(shape, result)])
    case = Case(op, dtype, module.text(), [Port(shape, dtype) for _ in operands], [Port(shape, result)])
    for index, port in enumerate(case.args):
        parts = [dense_values(np_rng, short, port.part, count, dtype != port.part) for _ in port.carriers]
        case.arrays += [encode(p, port.part) for p in suited(np_rng, case, index, port, parts)]
    return case


def dense_cases(seed, count, names):
    np_rng, found = np.random.default_rng(seed), []
    for op in names:
        short = op.split(".")[1]
        if short not in BOUNDS or "broadcast" in op:
            continue
        for dtype in ("f32", "f64", "complex<f32>", "complex<f64>"):
            has_it = short not in NO_COMPLEX if dtype[0] == "c" else short not in COMPLEX_ONLY
            if has_it:
                found.append(dense_case(np_rng, op, dtype, max(1, count // SLOW.get(short, 1))))
    return found
