"""How near a result must be to a peer's, op by op, and where a peer is known to be wrong.

Functions are judged by their exact values (exec_truth.py), sums by their length, factorings by their condition. Where
nothing is said, results are equal: copies, comparisons, integers, and ops whose result is the nearest number. NaN
equals NaN; zeros have their signs. u is the unit roundoff of the result's type, 2^-p with p bits of precision.
"""
import re

import ml_dtypes
import numpy as np

from exec_ops import INTS
from exec_cases import LINEAR, NUMBERS, SUMS, decode, encode
from exec_truth import NO_NAN, is_judged, spacing

def least(part):
    return float(ml_dtypes.finfo(NUMBERS[part]).smallest_subnormal)


def precision(part):
    return ml_dtypes.finfo(NUMBERS[part]).nmant + 1


def unit(part):
    return 2.0 ** -precision(part)


def terms(case):
    """The most values that are added to one element."""
    args, short = case.args, case.short
    if short in ("reduce", "unary_einsum"):
        return args[0].count // max(1, case.results[0].count) + 1
    if short in ("dot_general", "dot", "einsum"):
        return int(np.sqrt(args[0].count * args[1].count / max(1, case.results[0].count))) + 1
    if short == "ragged_dot":
        return args[0].shape[1]
    if short in ("convolution", "dynamic_conv"):
        return args[1].count
    if short in ("reduce_window", "select_and_scatter"):
        window = re.search(r"window_dimensions = array<i64: ([0-9, ]+)>", case.body).group(1)
        return int(np.prod([int(n) for n in window.split(",")])) + 1
    if short == "scatter":
        return args[-1].count + 1
    return 2


def linear_bound(case, part):
    """Bounds for whole results, from the sizes of the arguments."""
    wide = case.widened()
    arrays, at = [], 0
    for port in wide.args:
        arrays.append(wide.arrays[at] + 1j * wide.arrays[at + 1] if len(port.carriers) == 2 else wide.arrays[at])
        at += len(port.carriers)
    first, u = arrays[0], unit(part)
    if first.size == 0:
        return 0.0
    if case.short == "fft":
        # log2(n) levels, each with an error of 4u; sizes are bounded by the sum of the absolute values.
        count = int(np.prod([int(n) for n in re.search(r"fft_length = array<i64: ([0-9, ]+)>", case.body).group(1).split(",")]))
        total = np.abs(first).sum() * 2 / (count if "IRFFT" in case.body or "IFFT" in case.body else 1)
        return 4 * u * (np.log2(max(count, 2)) + 2) * total
    if case.short in ("cholesky", "triangular_solve"):
        # n steps, and the condition of the matrix.
        n = first.shape[-1]
        low = np.tril(first, -1) + np.conj(np.swapaxes(np.tril(first, -1), -1, -2)) + np.eye(n) * first if \
            case.short == "cholesky" else first
        largest = np.sqrt(np.abs(first).max()) if case.short == "cholesky" else np.abs(arrays[1]).max(initial=0) * n
        return 4 * n * u * np.linalg.cond(low).max() * largest
    return norm_bound(case, arrays, u)


def norm_bound(case, arrays, u):
    """Batch normalisations: n values for each mean; deviations are divided by the root of the variance."""
    x = arrays[0]
    feature = int(re.search(r"feature_index = (\d+)", case.body).group(1))
    rows = np.moveaxis(x, feature, 0).reshape(x.shape[feature], -1)
    n, size = rows.shape[1], np.abs(x).max(initial=0)
    if case.short == "batch_norm_inference":
        mean, variance = np.abs(arrays[3]).max(), arrays[4].min()
        return 8 * u * ((size + mean) / np.sqrt(variance + 1e-3) * np.abs(arrays[1]).max() + np.abs(arrays[2]).max())
    if case.short == "batch_norm_training":
        variance = rows.var(1).min() + 1e-3
        steep = size / np.sqrt(variance)
        return (n + 8) * u * (np.abs(arrays[1]).max() * steep * (1 + steep * steep) + np.abs(arrays[2]).max() +
                              size * size + size)
    mean, variance = np.abs(arrays[2]).max(), arrays[3].min() + 1e-3
    deviation, slope = (size + mean) / np.sqrt(variance), np.abs(arrays[4]).max() * max(1, np.abs(arrays[1]).max())
    return (n + 8) * u * n * slope * (1 + deviation) * (1 + deviation) / np.sqrt(variance)


def bound(case, port, numbers, magnitude):
    """The largest error of each element of one part of a result; `numbers` are those of the parts that are
    wanted, `magnitude` the same sum of absolute values."""
    part, short = port.part, case.short
    none = np.zeros(numbers[0].shape)
    if part not in NUMBERS:
        return none
    if short in SUMS:
        if not case.traits & {"add", "multiply", "dot_general", "dot", "einsum", "unary_einsum", "convolution",
                              "dynamic_conv", "ragged_dot"}:
            return none
        # A sum of n products, rounded at every step by the one or the other: (n + 1) u of the absolute values.
        return 2 * (terms(case) + 1) * unit(part) * magnitude + least(part)
    if short in LINEAR:
        return none + linear_bound(case, part)
    return none


def differs(want, got, part, limit, wide):
    """Where one part of a result is not what is wanted; `wide`: wanted numbers are f64, not of the type."""
    if part not in NUMBERS:
        return want != got
    a, b = want if wide else decode(want, part), decode(got, part)
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= limit
    if wide:
        nearest = decode(encode(a, part), part)
        near |= (nearest == b) | (np.isnan(nearest) & np.isnan(b))
    equal = (a == b) & ((np.signbit(a) == np.signbit(b)) | (limit > 0))
    return ~(equal | (np.isnan(a) & np.isnan(b)) | near & (limit > 0))


def beyond(want, got, part, limit, wide, place):
    """Our result with one element moved just out of the bound, or None where the type has no such number."""
    twin = got.copy()
    if part not in NUMBERS:
        twin[place] = not twin[place] if twin.dtype == np.bool_ else twin[place] ^ 1
        return twin
    value, far = float((decode(encode(want, part), part) if wide else decode(want, part))[place]), float(limit[place])
    if not np.isfinite(far):
        return None
    if not np.isfinite(value):
        twin[place] = encode(np.float64(1.0), part)
        return twin
    for sign in (1, -1):
        step = 1.01 * far + float(spacing(np.abs(value) + far, part))
        other = encode(np.float64(value + sign * step), part)
        number = float(decode(other, part))
        if np.isfinite(number) and abs(number - value) > far:
            twin[place] = other
            return twin
    return None


# ---- the peers ----

# Ops that no peer runs, or whose results cannot be compared.
NOT_ASKED = {
    "stablehlo.rng": "its numbers are random",
    "stablehlo.collective_broadcast": "XLA has none on CPU",
    "stablehlo.collective_reduce": "jaxlib lacks it",
    "stablehlo.cross-replica-sum": "an older form of all_reduce",
    "stablehlo.unary_einsum": "XLA does not translate it, the evaluator lacks it",
    "chlo.ragged_dot": "XLA does not translate it, the evaluator lacks it",
    "stablehlo.async_start": "calls a function that runs apart; there is one device",
    "stablehlo.async_done": "as async_start",
    "mhlo.erf": "asked as the custom call that JAX writes for it",
    "mhlo.topk": "asked as the custom call that JAX writes for it",
    "builtin.unrealized_conversion_cast": "changes no value, and no peer lets it stand",
    "interpreter.probe": "writes files",
    "func.return": "ends every function", "stablehlo.return": "ends every region", "sdy.return": "ends a region",
    "sdy.mesh": "has no value",
}
NOT_ASKED |= {n: "runs only among several processes: tests/exec/test_parallel.c" for n in (
    "interpreter.print", "interpreter.run_parallel", "stablehlo.infeed", "stablehlo.outfeed", "stablehlo.recv",
    "stablehlo.send")}
NOT_ASKED |= {"check.expect_%s" % n: "jaxlib lacks the dialect" for n in (
    "eq", "eq_const", "almost_eq", "almost_eq_const", "close")}
NOT_ASKED |= {"sdy.%s" % n: "the partitioner takes it away before XLA runs anything" for n in (
    "reshard", "all_gather", "all_reduce", "all_slice", "all_to_all", "collective_permute", "constant",
    "data_flow_edge", "func_data_flow_edge", "named_computation", "propagation_barrier", "reduce_scatter",
    "replicated_to_unreduced", "sharded_to_unreduced", "sharding_group")}

# Ops that end the evaluator.
EVALUATOR_LACKS = set("""all_gather all_reduce all_to_all collective_broadcast collective_permute reduce_scatter
collective_reduce batch_norm_grad batch_norm_inference batch_norm_training after_all broadcast cholesky custom_call
real_dynamic_slice rng_bit_generator triangular_solve dot einsum unary_einsum torch_index_select""".split())
# XLA has no code for f6; integers of 2 and 4 bits it does not wrap; f4 and f8E8M0FNU it keeps wider than they are.
XLA_LACKS_OPS = set("dynamic_conv dynamic_gather".split())
XLA_LACKS = ["f6E2M3FN", "f6E3M2FN"]
XLA_ONLY_COPIES = ["i2", "i4", "ui2", "ui4", "f4E2M1FN", "f8E8M0FNU"]
COPIES = set("""concatenate dynamic_slice dynamic_update_slice gather pad reshape reverse select bitcast_convert
slice transpose broadcast_in_dim while if case composite call constant""".split())
ROUNDINGS = set("ceil floor round_nearest_afz round_nearest_even".split())


def evaluator_runs(case):
    part = case.results[0].part
    if case.op.split(".")[1] in EVALUATOR_LACKS or case.op.startswith(("chlo.", "sdy.")):
        return False
    # LLVM rounds by adding 2^p and taking it away, and these types have no such number.
    if case.short in ROUNDINGS and part in ("f8E3M4", "f6E2M3FN", "f4E2M1FN", "f6E3M2FN", "f8E8M0FNU"):
        return False
    # Its own steps, 1 / (1 + exp(-x)) in the type, overflow.
    if case.short == "logistic" and part not in ("f32", "f64", "bf16"):
        return False
    # Half of the spectrum is not mirrored as NumPy and XLA do it.
    if case.short == "fft" and "IRFFT" in case.body:
        return False
    # A total order is taken for that of numbers.
    return "TOTALORDER" not in case.body


def xla_runs(case):
    dtypes = {p.part for p in case.args + case.results}
    if case.short in XLA_LACKS_OPS:
        return False
    if case.subnormal and dtypes & set(NUMBERS) or dtypes & set(XLA_LACKS):  # it flushes subnormal numbers
        return False
    return case.short in COPIES or not dtypes & set(XLA_ONLY_COPIES)


def is_asked(peer, case):
    """Whether the peer runs the op on these types."""
    if case.short == "remainder" and case.dtype.startswith("complex"):
        return False
    if peer == "evaluator":
        return evaluator_runs(case)
    if is_judged(case) and case.results[0].part not in ("f32", "f64"):
        return False  # it computes them in f32, or in f64, as asked here
    return is_wide(case) or xla_runs(case)


def is_wide(case):
    """Whether a peer is asked in f64: where its own error would count."""
    return case.short in LINEAR and case.results[0].part != "f64"


def question(case):
    return case.widened() if is_wide(case) else case


def needs_magnitude(case):
    return case.short in SUMS and case.results[0].part in NUMBERS


def always(case, peer, agreed):
    """Differences that any element may have."""
    if peer == "xla" and case.short == "scatter" and agreed:
        return "scatter: XLA leaves out a window that is partly outside, the specification its outer elements"
    if peer == "xla" and case.short == "select_and_scatter" and agreed:
        return "select_and_scatter: of equal elements XLA selects another than the first"
    if peer == "xla" and case.short == "reduce_precision" and agreed and "mantissa_bits = 0 " in case.body:
        return "reduce_precision: XLA makes NaN of an infinity without a fraction"
    if peer == "xla" and case.short == "power" and case.dtype in INTS and (agreed or case.op.startswith("chlo.")):
        return "power of integers: XLA looks at few bits of the exponent"
    return ""


def excuse(case, peer, port, want, got, bad, agreed):
    """The name of a known difference that explains all that is bad, if any; `agreed`: the evaluator had our result."""
    if not bad.any():
        return ""
    if port.part not in NUMBERS:
        return always(case, peer, agreed)
    a, b = want[bad], decode(got, port.part)[bad]
    a = a if a.dtype == np.float64 else decode(a, port.part)
    largest = float(ml_dtypes.finfo(NUMBERS[port.part]).max)
    if peer == "xla" and case.short == "lgamma" and (b == 0).all() and (np.abs(a) < 1e-6).all():
        return "lgamma: XLA gives a small number at 1 and 2, we zero"
    if peer == "xla" and case.short in ("all_reduce", "reduce_scatter") and (a == 0).all() and (b == 0).all():
        return "all_reduce, reduce_scatter: XLA adds 0 to what comes from one device, and -0 is lost"
    if peer == "xla" and port.part.endswith("FNUZ") and np.isnan(a).all() and (b == 0).all():
        return "FNUZ: XLA makes NaN of negative numbers that round to zero"
    if peer == "xla" and port.part == "f8E5M2FNUZ" and (np.abs(b) < 2.0**-14).all() and (np.abs(a) == 2.0**-14).all():
        return "f8E5M2FNUZ: XLA makes 2^-14 of smaller numbers"
    if port.part in NO_NAN and ((np.abs(b) == largest) | (b == 0)).all() and (a == 0).all():
        return "f4, f6: of an infinity the evaluator makes zero, we the largest number; of NaN a zero of its sign, we the " \
            "other; both as ml_dtypes does"
    if case.dtype == "f8E8M0FNU" and np.isinf(a).all() and np.isnan(b).all():
        return "f8E8M0FNU: the evaluator and XLA convert NaN to an infinity"
    if port.part == "f8E8M0FNU" and np.isnan(b).all():
        return "f8E8M0FNU: no zero and no sign; the evaluator gives the least or the absolute value, we NaN as ml_dtypes does"
    return always(case, peer, agreed)
