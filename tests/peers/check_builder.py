"""What the builder makes, read, verified and run by jaxlib.

usage: check_builder.py --tessera COMMAND [--seed N] [--count N]

First the block that examples/attention prints, then COUNT random programs of tests/builder/build_lines
(einsum, layers, ops, loops, branches), which stand beside the command. jaxlib must parse each text and
print it back as it is; XLA compiles it for one device. On random inputs it must give what NumPy computes
from the formulas in f64.
"""
import argparse
import os
import pathlib
import random
import subprocess

import ml_dtypes
import numpy

TYPES = {"f32": numpy.float32, "f16": numpy.float16, "bf16": ml_dtypes.bfloat16, "i32": numpy.int32,
         "bool": numpy.bool_, "u8": numpy.uint8, "c64": numpy.complex64}
# How far a result may be from f64, relative to its largest element.
NEAR = {"f32": 2e-5, "f16": 1e-2, "bf16": 6e-2, "c64": 2e-5}


def compile_text(text):
    """A function of NumPy arrays that runs the program `text` and gives its results."""
    import jax
    from jax._src import compiler, xla_bridge
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
    from jaxlib import xla_client

    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        module.operation.verify()
        if str(module) != text:
            raise SystemExit("jaxlib prints another text:\n%s\n%s" % (module, text))
        backend = xla_bridge.get_backend("cpu")
        options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
        options.executable_build_options.use_shardy_partitioner = True
        devices = backend.devices()[:1]
        loaded = backend.compile_and_load(module, xla_client.DeviceList(tuple(devices)), options, [])

    def run(*arrays):
        results = loaded.execute_sharded([jax.device_put(a, devices[0]) for a in arrays])
        return [numpy.asarray(r[0]) for r in results.disassemble_into_single_device_arrays()]
    return run


# ---- formulas ----

def softmax(x, axis):
    powers = numpy.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def rms_norm(x, scale, epsilon):
    return x / numpy.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * scale


def rotary(x, positions):
    half = x.shape[-1] // 2
    angles = positions[..., None, None] * 10000.0 ** (-numpy.arange(half) / half)
    first, second = x[..., :half], x[..., half:]
    sine, cosine = numpy.sin(angles), numpy.cos(angles)
    return numpy.concatenate([first * cosine - second * sine, second * cosine + first * sine], -1)


def attention(q, k, v, causal=False, scale=0, mask=None, bias=None):
    """With keys repeated for the heads that share them."""
    group = q.shape[-2] // k.shape[-2]
    k, v = k.repeat(group, -2), v.repeat(group, -2)
    products = numpy.einsum("...tnh,...snh->...nts", q, k) * (scale or 1 / numpy.sqrt(q.shape[-1]))
    if bias is not None:
        products = products + bias
    if mask is not None:
        products = numpy.where(mask, products, -2e38)
    if causal:
        products = numpy.where(numpy.tri(*products.shape[-2:], dtype=bool), products, -2e38)
    return numpy.einsum("...nts,...snh->...tnh", softmax(products, -1), v)


def block(x, scale, wq, wk, wv, wo):
    """That of examples/attention.c."""
    h = rms_norm(x, scale, 1e-6)
    q, k, v = (numpy.einsum("btd,dhk->bthk", h, w) for w in (wq, wk, wv))
    places = numpy.arange(x.shape[1])
    seen = attention(rotary(q, places), rotary(k, places), v, causal=True)
    return x + numpy.einsum("bthk,hkd->btd", seen, wo)


# ---- random cases: (line, arrays, wanted results, dtype) ----

class Cases:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.numbers = numpy.random.default_rng(seed)

    def shape(self, least=1, most=4):
        return tuple(self.rng.randint(1, 5) for _ in range(self.rng.randint(least, most)))

    def dtype(self):
        return self.rng.choice(["f32", "f32", "f16", "bf16"])

    def array(self, dtype, shape):
        if dtype == "bool":
            return self.numbers.random(shape) < 0.7
        if dtype in ("i32", "u8"):
            return self.numbers.integers(0, 6, shape).astype(TYPES[dtype])
        numbers = self.numbers.standard_normal(shape)
        if dtype == "c64":
            numbers = numbers + 1j * self.numbers.standard_normal(shape)
        return numbers.astype(TYPES[dtype])

    def einsum(self):
        rng = self.rng
        letters = rng.sample("abcdefXYZ", rng.randint(1, 6))
        sizes = {c: rng.choice([1, 2, 3, 4]) for c in letters}
        more = [rng.choice([1, 2, 3]) for _ in range(rng.randint(0, 3))] if rng.random() < 0.35 else None
        terms, shapes = [], []
        for _ in range(rng.choice([1, 2, 2, 2, 3, 4, 5])):
            count = rng.randint(0, min(4, len(letters)))
            term = rng.choices(letters, k=count) if rng.random() < 0.3 else rng.sample(letters, count)
            shape = [sizes[c] for c in term]
            if more is not None and rng.random() < 0.75:
                given = [d if rng.random() < 0.8 else 1 for d in more[rng.randint(0, len(more)):]]
                at = rng.randint(0, count)
                term, shape = term[:at] + ["..."] + term[at:], shape[:at] + given + shape[at:]
            terms.append("".join(term))
            shapes.append(tuple(shape))
        equation = ",".join(terms)
        if rng.random() < 0.75 or not equation:
            used = sorted(set(equation) - set(".,"))
            result = rng.sample(used, rng.randint(0, len(used)))
            if "..." in equation:
                result.insert(rng.randint(0, len(result)), "...")
            equation += "->" + "".join(result)
        dtype = rng.choice(["f32", "f32", "i32", "c64"])
        arrays = [self.array(dtype, s) for s in shapes]
        return [equation, dtype, *shapes], arrays, lambda *a: numpy.einsum(equation, *a), dtype

    def softmax(self):
        shape, dtype = self.shape(), self.dtype()
        dim = self.rng.randrange(-len(shape), len(shape))
        return [dtype, shape, dim], [self.array(dtype, shape)], lambda x: softmax(x, dim), dtype

    def layer_norm(self):
        shape, dtype = self.shape()[:-1] + (8,), self.dtype()
        arrays = [self.array(dtype, s) for s in (shape, (8,), (8,))]
        return [dtype, shape, (8,), (8,)], arrays, lambda x, scale, bias: (
            (x - x.mean(-1, keepdims=True)) / numpy.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + bias), dtype

    def rms_norm(self):
        shape, dtype = self.shape(), self.dtype()
        arrays = [self.array(dtype, shape), self.array(dtype, shape[-1:])]
        return [dtype, shape, shape[-1:]], arrays, lambda x, scale: rms_norm(x, scale, 1e-5), dtype

    def gelu(self):
        shape, dtype = self.shape(), self.dtype()
        return [dtype, shape, 1], [self.array(dtype, shape)], lambda x: (
            x / 2 * (1 + numpy.tanh(numpy.sqrt(2 / numpy.pi) * (x + 0.044715 * x ** 3)))), dtype

    def silu(self):
        shape, dtype = self.shape(), self.dtype()
        return [dtype, shape], [self.array(dtype, shape)], lambda x: x / (1 + numpy.exp(-x)), dtype

    def rotary(self):
        shape, dtype = self.shape(0, 2) + (self.rng.randint(1, 5), 2, 2 * self.rng.randint(1, 4)), self.dtype()
        places = shape[self.rng.randint(0, len(shape) - 3):-2]
        arrays = [self.array(dtype, shape), self.array("i32", places)]
        return [dtype, shape, places], arrays, rotary, dtype

    def attention(self):
        rng, dtype, batch = self.rng, self.dtype(), self.shape(0, 2)
        time, source, heads, group, size = (rng.randint(1, 4) for _ in range(5))
        q, k = batch + (time, heads * group, size), batch + (source, heads, size)
        mask = rng.choice([None, (time, source), batch + (1, time, source), (1,)])
        bias = rng.choice([None, (heads * group, time, source)])
        causal, scale = rng.randrange(2), rng.choice([0, 0.25])
        arrays = [self.array(dtype, s) for s in (q, k, k)]
        arrays += [self.array("bool", mask)] if mask else []
        arrays += [self.array(dtype, bias)] if bias else []

        def wanted(q, k, v, *more):
            more = list(more)
            return attention(q, k, v, causal, scale, more.pop(0) if mask else None, more.pop(0) if bias else None)
        return [dtype, q, k, k, causal, scale, mask or "-", bias or "-"], arrays, wanted, dtype

    def binary(self):
        shape = self.shape()
        one, other = (tuple(d if self.rng.random() < 0.7 else 1 for d in shape) for _ in range(2))
        one = one[self.rng.randint(0, len(one)):]
        arrays = [self.array("f32", one), self.array("f32", other)]
        return ["subtract", "f32", one, other], arrays, numpy.subtract, "f32"

    def reduce(self):
        kind, dtype = self.rng.choice([("add", "f32"), ("max", "f32"), ("min", "u8"), ("mul", "i32"),
                                       ("mean", "bf16"), ("and", "bool"), ("or", "bool")])
        shape, keep = self.shape(), self.rng.randrange(2)
        dims = tuple(self.rng.sample(range(-len(shape), 0), self.rng.randint(1, len(shape))))
        how = {"add": numpy.sum, "mul": numpy.prod, "max": numpy.max, "min": numpy.min, "mean": numpy.mean,
               "and": numpy.all, "or": numpy.any}[kind]
        return [kind, dtype, shape, dims, keep], [self.array(dtype, shape)], lambda x: (
            how(x, axis=dims, keepdims=bool(keep)).astype(x.dtype)), dtype

    def rows(self):
        shape, places, dtype = self.shape(), self.shape(0, 2), self.dtype()
        dim = self.rng.randrange(len(shape))
        indices = self.numbers.integers(0, shape[dim], places).astype(numpy.int32)
        return shape, places, dtype, dim, indices

    def take(self):
        shape, places, dtype, dim, indices = self.rows()
        return [dtype, shape, places, dim], [self.array(dtype, shape), indices], lambda x, i: (
            numpy.take(x, i, dim)), dtype

    def scatter(self):
        shape, places, dtype, dim, indices = self.rows()
        updates = shape[:dim] + places + shape[dim + 1:]
        arrays = [self.array(dtype, shape), indices, self.array(dtype, updates)]

        def wanted(x, i, u):
            rows = numpy.moveaxis(x.copy(), dim, 0)
            u = numpy.moveaxis(u.reshape(shape[:dim] + (-1,) + shape[dim + 1:]), dim, 0)
            numpy.maximum.at(rows, i.reshape(-1), u)
            return numpy.moveaxis(rows, 0, dim)
        return ["max", dtype, shape, places, updates, dim], arrays, wanted, dtype

    def sort(self):
        shape = self.shape()
        dim = self.rng.randrange(len(shape))
        return ["f32", shape, dim], [self.array("f32", shape)], lambda x: (
            [numpy.sort(x, dim), numpy.argsort(x, dim, kind="stable")]), "f32"

    def top_k(self):
        shape = self.shape()
        k = self.rng.randint(1, shape[-1])
        return ["f32", shape, k], [self.array("f32", shape)], lambda x: (
            [-numpy.sort(-x, -1)[..., :k], numpy.argsort(-x, -1, kind="stable")[..., :k]]), "f32"

    def scan(self):
        shape, dtype, steps, reverse = self.shape(), self.dtype(), self.rng.randint(1, 5), self.rng.randrange(2)

        def wanted(carry, xs):
            stacked = [None] * steps
            for i in reversed(range(steps)) if reverse else range(steps):
                stacked[i] = carry - xs[i]
                carry = carry * xs[i] + xs[i]
            return [carry, numpy.stack(stacked)]
        arrays = [self.array(dtype, shape), self.array(dtype, (steps, *shape))]
        return [dtype, shape, (steps, *shape), reverse], arrays, wanted, dtype

    def branch(self):
        shape, dtype = self.shape(), self.dtype()
        arrays = [self.array("bool", ()), self.array(dtype, shape)]
        return [dtype, shape], arrays, lambda p, x: numpy.sin(numpy.tanh(x)) if p else numpy.tanh(numpy.sin(x)), dtype


KINDS = ["einsum"] * 10 + ["softmax", "layer_norm", "rms_norm", "gelu", "silu", "rotary", "attention", "attention",
                           "binary", "reduce", "take", "scatter", "sort", "top_k", "scan", "branch"]


def word(value):
    return "(" + ",".join(map(str, value)) + ")" if isinstance(value, tuple) else str(value)


def wide(array):
    wider = {"f": numpy.float64, "V": numpy.float64, "c": numpy.complex128}.get(array.dtype.kind)
    return array.astype(wider) if wider else array


def distance(found, wanted):
    """The largest difference, relative to the largest element."""
    if found.shape != numpy.shape(wanted):
        raise SystemExit("shape %s, expected %s" % (found.shape, numpy.shape(wanted)))
    if found.size == 0:
        return 0
    found, wanted = wide(found), wide(numpy.asarray(wanted))
    return numpy.abs(found - wanted * 1.0).max() / max(1, numpy.abs(wanted).max())


def check(line, text, arrays, formula, dtype):
    if text.startswith("failed"):
        raise SystemExit("%s: %s" % (line, text))
    wanted = formula(*map(wide, arrays))
    wanted = wanted if isinstance(wanted, list) else [wanted]
    found = compile_text(text)(*arrays)
    far = max(distance(f, w) for f, w in zip(found, wanted, strict=True))
    if not far <= NEAR.get(dtype, 0):
        raise SystemExit("%s: %g away from NumPy\n%s" % (line, far, text))


def check_example(example, seed):
    run = compile_text(subprocess.run([example], capture_output=True, text=True, check=True).stdout)
    cases = Cases(seed)
    shapes = [(2, 8, 32), (32,), (32, 4, 8), (32, 2, 8), (32, 2, 8), (4, 8, 32)]
    arrays = [cases.array("f32", shape) for shape in shapes]
    far = distance(run(*arrays)[0], block(*map(wide, arrays)))
    if not far < NEAR["f32"]:
        raise SystemExit("builder: examples/attention is %g away from NumPy, seed %d" % (far, seed))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tessera", default="tessera")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    arguments = parser.parse_args()
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    build = pathlib.Path(arguments.tessera).resolve().parent
    check_example(build / "examples" / "attention", arguments.seed)
    cases = Cases(arguments.seed)
    questions = []
    for _ in range(arguments.count):
        kind = cases.rng.choice(KINDS)
        words, *rest = getattr(cases, kind)()
        questions.append((" ".join(map(word, [kind, *words])), *rest))
    answers = subprocess.run([build / "tests" / "builder" / "build_lines"], capture_output=True, text=True, check=True,
                             input="".join(q[0] + "\n" for q in questions)).stdout.split("// end\n")
    for (line, *rest), text in zip(questions, answers):
        check(line, text, *rest)
    print("builder: jaxlib ran examples/attention and %d random programs as NumPy" % arguments.count)


if __name__ == "__main__":
    main()
