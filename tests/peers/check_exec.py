"""Random programs run beside jaxlib: its reference evaluator, and XLA on CPU where that has no answer.

usage: check_exec.py --tessera COMMAND [--seed N] [--count N] [--only OP,OP] [-v]

For every op COUNT / 4 modules of one op are made (random_ops.py), with values for their arguments
(exec_cases.py). Those that jaxlib refuses or cannot run are left out. Results of copies, comparisons,
integers and ops that round once must be equal; others within a bound that follows from the op.
"""
import argparse
import collections
import json
import multiprocessing
import pathlib
import random
import struct
import subprocess
import tempfile

import numpy as np

import exec_cases
import random_ops

# ---- files ----

NAMES = {"bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "uint8": "U8", "uint16": "U16",
         "uint32": "U32", "uint64": "U64", "float32": "F32", "float64": "F64"}
TYPES = {name: np.dtype(dtype) for dtype, name in NAMES.items()}


def write_tensors(path, arrays):
    header, data = {}, b""
    for i, array in enumerate(arrays):
        more = np.ascontiguousarray(array).tobytes()
        header["arg%d" % i] = {"dtype": NAMES[array.dtype.name], "shape": list(array.shape),
                               "data_offsets": [len(data), len(data) + len(more)]}
        data += more
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_tensors(path):
    raw = path.read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + length])
    found = []
    for i in range(len(header)):
        entry = header["out%d" % i]
        begin, end = entry["data_offsets"]
        block = raw[8 + length + begin:8 + length + end]
        found.append(np.frombuffer(block, TYPES[entry["dtype"]]).reshape(entry["shape"]))
    return found


# ---- the oracle, a process of its own: what it cannot do may end it ----

def attribute(ir, array, kind):
    if array.size == 0:
        return ir.Attribute.parse("dense<> : " + kind)
    return ir.DenseElementsAttr.get(np.ascontiguousarray(array), type=ir.Type.parse(kind))


def evaluate(module, arrays, kinds, results):
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    answers = stablehlo.eval_module(module, [attribute(ir, a, k) for a, k in zip(arrays, kinds)])
    return [np.array(a).astype(exec_cases.NUMPY[d]).reshape(s) for a, (s, d) in zip(answers, results)]


def run_xla(text, arrays):
    import jax
    from jaxlib import xla_client
    device = jax.devices("cpu")[0]
    compiled = device.client.compile_and_load(text.encode(), xla_client.DeviceList((device,)),
                                              xla_client.CompileOptions())
    return [np.asarray(a) for a in compiled.execute([jax.device_put(a, device) for a in arrays])]


def answer(text, arrays, kinds, results, peer):
    from jaxlib.mlir import ir
    module = ir.Module.parse(text)
    if peer == "parse":
        return []
    return evaluate(module, arrays, kinds, results) if peer == "evaluator" else run_xla(text, arrays)


def serve(pipe):
    import os
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    import jax
    from jax._src.interpreters import mlir
    jax.config.update("jax_enable_x64", True)
    with mlir.make_ir_context() as context:
        context.attach_diagnostic_handler(lambda diagnostic: True)
        while True:
            try:
                pipe.send(answer(*pipe.recv()))
            except EOFError:
                return
            except Exception as refusal:
                pipe.send(str(refusal) or "refused")


class Oracle:
    def __init__(self):
        self.process, self.ended = None, 0

    def ask(self, *question):
        """Arrays, or why there are none."""
        if self.process is None:
            self.pipe, other = multiprocessing.Pipe()
            self.process = multiprocessing.get_context("spawn").Process(target=serve, args=(other,), daemon=True)
            self.process.start()
            other.close()
        try:
            self.pipe.send(question)
            if self.pipe.poll(60):
                return self.pipe.recv()
        except (EOFError, OSError):
            pass
        self.process.kill()
        self.process = None
        self.ended += 1
        return "the peer ended"


# ---- one case ----

class Checker:
    def __init__(self, arguments, folder):
        self.tessera, self.folder, self.oracle = arguments.tessera, folder, Oracle()
        self.verbose = arguments.v
        self.counts, self.reasons, self.deaths = (collections.Counter() for _ in range(3))

    def want(self, op, text, arrays, kinds, results):
        """The peer's results, and which peer it was. A peer that an op has ended twice is not asked again."""
        found = "no peer runs it"
        for peer in ("evaluator", "xla"):
            if self.deaths[op, peer] > 1 or (peer == "evaluator" and op.split(".")[1] in exec_cases.ASK_XLA):
                continue
            ended = self.oracle.ended
            found = self.oracle.ask(text, arrays, kinds, results, peer)
            self.deaths[op, peer] += self.oracle.ended - ended
            if not isinstance(found, str):
                return found, peer
        return None, found

    def ours(self, text, arrays):
        program, inputs, outputs = (self.folder / n for n in ("p.mlir", "in.safetensors", "out.safetensors"))
        program.write_text(text)
        write_tensors(inputs, arrays)
        done = subprocess.run([self.tessera, "run", program, "--inputs", inputs, "--outputs", outputs],
                              capture_output=True, text=True, check=False)
        return read_tensors(outputs) if done.returncode == 0 else done.stderr.strip() or "exit %d" % done.returncode

    def check(self, op, rng, np_rng):
        m = random_ops.Module(rng)
        make, kind = random_ops.OPS[op]
        make(m, rng, kind)
        kinds = m.args + [k for _, k in m.results]
        if not m.results or any("?" in k or not k.startswith("tensor") for k in kinds):
            return
        args = [exec_cases.Port.read(k) for k in m.args]
        results = [exec_cases.Port.read(k) for _, k in m.results]
        if not exec_cases.is_specified(op, args + results):
            return
        text = exec_cases.wrap(m.text(), args, results)
        if isinstance(self.oracle.ask(text, [], [], [], "parse"), str):
            return
        arrays = [a for i, port in enumerate(args) for a in exec_cases.fill(np_rng, op, i, port)]
        carried = [random_ops.tensor(p.shape, c) for p in args for c in p.carriers()]
        shapes = [(p.shape, c) for p in results for c in p.carriers()]
        want, peer = self.want(op, text, arrays, carried, shapes)
        if want is None:
            self.counts["left out"] += 1
            return
        got = self.ours(text, arrays)
        if isinstance(got, str):
            self.fail(op, "we refuse: " + got.split("\n")[0], text)
            return
        magnitude = want
        if op.split(".")[1] in exec_cases.SUMS or any(p.dtype.startswith("complex") for p in args):
            positive = [np.abs(a) if a.dtype.kind == "f" else a & 0x7FFF if a.dtype == np.uint16 else a for a in arrays]
            found = self.oracle.ask(text, positive, carried, shapes, peer)
            magnitude = want if isinstance(found, str) else found
        self.compare(op, results, want, got, magnitude, peer, text, arrays)

    def compare(self, op, results, want, got, magnitude, peer, text, arrays):
        at = 0
        for port in results:
            sizes = magnitude[at:at + len(port.carriers())]
            part = port.dtype[8:-1] if port.dtype.startswith("complex") else port.dtype
            numbers = [exec_cases.from_bits(s, part) if part in ("f16", "bf16") else s.astype(np.float64) for s in sizes]
            with np.errstate(all="ignore"):
                size = sum(np.abs(n) for n in numbers)
            for carrier in range(len(port.carriers())):
                w, g = want[at], got[at]
                bad = exec_cases.compare(op, port, w, g, size, peer == "evaluator")
                if bad.any():
                    place = tuple(int(i) for i in np.argwhere(bad)[0])
                    inputs = "" if not self.verbose else "\n" + "\n".join(map(repr, arrays))
                    self.fail(op, "%s %s: result %d at %s is %r, %s has %r (%d differ)%s" % (
                        port.dtype, port.shape, at, place, g[place], peer, w[place], int(bad.sum()), inputs), text)
                    return
                at += 1
        self.counts[peer] += 1

    def fail(self, op, why, text):
        self.counts["failed"] += 1
        self.reasons[op] += 1
        if self.reasons[op] <= (20 if self.verbose else 2):
            print("%s: %s" % (op, why))
            if self.verbose:
                print(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tessera", default="tessera")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--only", default="")
    parser.add_argument("-v", action="store_true")
    arguments = parser.parse_args()
    rng, np_rng = random.Random(arguments.seed), np.random.default_rng(arguments.seed)
    names = [n for n in exec_cases.ops() if not arguments.only or n.split(".")[1] in arguments.only.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(arguments, pathlib.Path(folder))
        for op in names:
            for _ in range(max(4, arguments.count // 4)):
                checker.check(op, rng, np_rng)
    counts = checker.counts
    if arguments.v:
        print("the peer ended %d times" % checker.oracle.ended)
    print("%d programs of %d ops give what jaxlib's evaluator gives, %d what XLA gives; %d run by neither" % (
        counts["evaluator"], len(names), counts["xla"], counts["left out"]))
    if counts["failed"]:
        print("\n".join("%5d %s" % (n, op) for op, n in checker.reasons.most_common()))
        raise SystemExit("%d programs differ (seed %d)" % (counts["failed"], arguments.seed))


if __name__ == "__main__":
    main()
