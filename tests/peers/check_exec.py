"""Random programs run beside jaxlib: its reference evaluator, and XLA on CPU.

usage: check_exec.py --tessera COMMAND [--seed N] [--count N] [--only OP,OP] [--points N] [-v]

For every op that runs and every element type that jaxlib takes for it, COUNT / 200 programs of this op are made
(exec_ops.py) with values for their arguments (exec_cases.py). Each is asked of the evaluator, or of XLA if that has no
answer; half of them of both. Functions of floats must be within their bounds of the exact values, at N points more of each
(exec_truth.py); the peers must agree where a result is exact. Others must be equal to the peers', or within a bound that
follows from the op (exec_bounds.py). For each a falsified twin, just beyond the bound, must be noticed. An op of
`tessera ops` that runs and never occurs is a failure. -v prints the largest errors.
"""
import argparse
import collections
import json
import pathlib
import struct
import subprocess
import tempfile

import numpy as np

import exec_bounds
import exec_cases
import exec_ops
import exec_peers
import exec_truth

TOGETHER = 40  # cases in one module

NAMES = {"bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "uint8": "U8", "uint16": "U16",
         "uint32": "U32", "uint64": "U64", "float32": "F32", "float64": "F64"}
TYPES = {name: np.dtype(dtype) for dtype, name in NAMES.items()}


def write_tensors(path, arrays):
    header, blocks, at = {}, [], 0
    for i, array in enumerate(arrays):
        blocks.append(np.ascontiguousarray(array).tobytes())
        header["arg%d" % i] = {"dtype": NAMES[array.dtype.name], "shape": list(array.shape),
                               "data_offsets": [at, at + len(blocks[-1])]}
        at += len(blocks[-1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blocks))


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


class Checker:
    def __init__(self, arguments, folder):
        self.tessera, self.folder, self.verbose = arguments.tessera, folder, arguments.v
        self.peers = exec_peers.Peers()
        self.twins = np.random.default_rng(arguments.seed)
        self.counts, self.failed, self.known, self.met, self.refused, self.deaths, self.worst = (
            collections.Counter() for _ in range(7))

    # ---- asking ----

    def ours(self, cases):
        """Our answers for each of the cases."""
        program, inputs, outputs = (self.folder / n for n in ("p.mlir", "in.safetensors", "out.safetensors"))
        program.write_text(exec_cases.join(cases))
        write_tensors(inputs, [a for c in cases for a in c.arrays])
        done = subprocess.run([self.tessera, "run", program, "--inputs", inputs, "--outputs", outputs],
                              capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return exec_peers.split(cases, read_tensors(outputs))
        if len(cases) == 1:
            return [done.stderr.strip() or "exit %d" % done.returncode]
        half = len(cases) // 2
        return self.ours(cases[:half]) + self.ours(cases[half:])

    def make(self, op, dtype, rng, np_rng):
        case = exec_cases.make(op, dtype, rng, np_rng)
        if case is None or isinstance(self.peers.ask("verifier", exec_cases.join([case]), [], [], []), str):
            return None
        exec_cases.fill(np_rng, case)
        return case

    def ask(self, peer, cases):
        """A list of answers; a peer that twice had none for an op and type is not asked again."""
        wanted = [c for c in cases if exec_bounds.is_asked(peer, c) and self.refused[peer, c.op, c.dtype] < 2 and
                  self.deaths[peer, c.op] < 2]
        answers = {}
        for case, answer in zip(wanted, self.peers.ask_cases(peer, [exec_bounds.question(c) for c in wanted])):
            answers[id(case)] = answer
            if isinstance(answer, str):
                self.refused[peer, case.op, case.dtype] += 1
                self.deaths[peer, case.op] += answer == exec_peers.ENDED
                if self.verbose:
                    print("%s %s: %s: %s" % (case.op, case.dtype, peer, answer[:300].replace("\n", " ")))
        return [answers.get(id(c), "not asked") for c in cases]

    # ---- judging ----

    def check(self, cases):
        got = self.ours(cases)
        sizes = self.magnitudes(cases)
        truths = [self.judge(case, mine) for case, mine in zip(cases, got)]
        judged = {id(c) for c, t in zip(cases, truths) if t}
        self.agreed = set()
        for peer in ("evaluator", "xla"):
            some = [peer == "evaluator" or id(c) not in self.agreed or self.twins.random() < 0.5 for c in cases]
            answers = iter(self.ask(peer, [c for c, is_asked in zip(cases, some) if is_asked]))
            for case, mine, size, truth, is_asked in zip(cases, got, sizes, truths, some):
                want = next(answers) if is_asked else ""
                if isinstance(want, str):
                    continue
                judged.add(id(case))
                if isinstance(mine, str):
                    self.fail(case, "we refuse: " + mine.split("\n")[0])
                elif truth:
                    self.compare_limits(case, peer, want, mine, truth)
                else:
                    self.compare(case, peer, want, mine, size)
        for case in cases:
            self.counts["programs"] += id(case) in judged
            self.counts["run by neither"] += id(case) not in judged
            if id(case) in judged:
                for port in case.args + case.results:
                    for op in case.names():
                        self.met[op, port.dtype] += 1

    def judge(self, case, got):
        """Compares a function with its exact values."""
        if isinstance(got, str) or not exec_truth.is_judged(case):
            return None
        truth, port = exec_truth.truth_of(case), case.results[0]
        for i, mine in enumerate(got):
            bad = truth.differs(mine, i)
            if bad.any():
                place = tuple(int(n) for n in np.argwhere(bad)[0])
                self.fail(case, "%s of %s is %r, exact values are between %r and %r (%d of %d differ)" % (
                    port.dtype, tuple(a[place] for a in exec_truth.arguments(case)),
                    exec_cases.decode(mine, port.part)[place], truth.least[i][place], truth.largest[i][place],
                    int(bad.sum()), bad.size))
                return truth
            self.note_worst("ours", case, truth.errors(mine, i))
            if mine.size:
                place = tuple(int(self.twins.integers(n)) for n in mine.shape)
                twin = truth.beyond(mine, i, place)
                self.count_twin(case, twin, twin is not None and truth.differs(twin, i).any())
        self.counts["exact"] += 1
        return truth

    def check_points(self, cases):
        for case, got in zip(cases, self.ours(cases)):
            if isinstance(got, str):
                self.fail(case, "we refuse: " + got.split("\n")[0])
            else:
                self.judge(case, got)

    def note_worst(self, who, case, error):
        key = who, case.short, case.dtype
        self.worst[key] = max(self.worst[key], error)

    def compare_limits(self, case, peer, want, got, truth):
        """A peer must agree where a result is exact; elsewhere its error is noted."""
        port = case.results[0]
        for i, (theirs, mine) in enumerate(zip(want, got)):
            bad = exec_bounds.differs(theirs, mine, port.part, np.zeros(mine.shape), False) & truth.limit
            excused = exec_bounds.excuse(case, peer, port, theirs, mine, bad, id(case) in self.agreed)
            if excused:
                self.known[excused] += 1
                return
            if bad.any():
                place = tuple(int(n) for n in np.argwhere(bad)[0])
                self.fail(case, "%s of %s is %r, %s has %r" % (
                    port.dtype, tuple(a[place] for a in exec_truth.arguments(case)),
                    exec_cases.decode(mine, port.part)[place], peer, exec_cases.decode(theirs, port.part)[place]))
                return
            if not case.subnormal:
                self.note_worst(peer, case, truth.errors(theirs, i))
        self.counts[peer] += 1
        if peer == "evaluator":
            self.agreed.add(id(case))

    def magnitudes(self, cases):
        """The same programs in f64 on absolute values, for bounds of sums."""
        left, found = [c for c in cases if exec_bounds.needs_magnitude(c)], {}
        for peer, runs in (("evaluator", exec_bounds.evaluator_runs), ("xla", lambda c: True)):
            some = [c for c in left if runs(c)]  # an op that the evaluator lacks ends it
            found |= dict(zip(map(id, some), self.peers.ask_cases(peer, [c.widened(real=True) for c in some])))
            left = [c for c in left if isinstance(found.get(id(c), ""), str)]
        return [found.get(id(c)) for c in cases]

    def compare(self, case, peer, want, got, sizes, is_alone=False):
        at = 0
        for index, port in enumerate(case.results):
            parts = range(at, at + len(port.carriers))
            wide = exec_bounds.is_wide(case)
            numbers = [want[i] if wide else exec_cases.decode(want[i], port.part) for i in parts]
            size = np.abs(sizes[index]) if isinstance(sizes, list) else np.inf
            limit = exec_bounds.bound(case, port, numbers, size)
            for i in parts:
                bad = exec_bounds.differs(want[i], got[i], port.part, limit, wide)
                excused = exec_bounds.excuse(case, peer, port, want[i], got[i], bad, id(case) in self.agreed)
                if excused:
                    self.known[excused] += 1
                    return
                if bad.any() and peer == "xla" and not is_alone:
                    self.compare_alone(case, got, sizes)
                    return
                if bad.any():
                    place = tuple(int(n) for n in np.argwhere(bad)[0])
                    self.fail(case, "%s %s: result %d at %s is %r, %s has %r, bound %.3g (%d of %d differ)" % (
                        port.dtype, port.shape, i, place, exec_cases.decode(got[i], port.part)[place], peer,
                        (want[i] if wide else exec_cases.decode(want[i], port.part))[place], limit[place],
                        int(bad.sum()), bad.size))
                    return
                self.falsify(case, port, want[i], got[i], limit, wide)
            at += len(port.carriers)
        self.counts[peer] += 1
        if peer == "evaluator":
            self.agreed.add(id(case))

    def compare_alone(self, case, got, sizes):
        """XLA once more, with a module of this program only: in large ones it was seen to leave a sort undone."""
        before, again = self.counts["failed"], self.peers.ask_cases("xla", [exec_bounds.question(case)])[0]
        if isinstance(again, str):
            self.fail(case, "xla differs, and refuses when asked again: " + again[:100])
            return
        self.compare(case, "xla", again, got, sizes, True)
        if self.counts["failed"] == before:
            self.known["XLA answers otherwise when it is asked alone"] += 1

    def falsify(self, case, port, want, got, limit, wide):
        """One element of our result moved just beyond the bound: that must be noticed."""
        if got.size == 0:
            return
        place = tuple(int(self.twins.integers(n)) for n in got.shape)
        twin = exec_bounds.beyond(want, got, port.part, limit, wide, place)
        self.count_twin(case, twin, twin is not None and exec_bounds.differs(want, twin, port.part, limit, wide).any())

    def count_twin(self, case, twin, is_noticed):
        if twin is None:
            self.counts["twins too near"] += 1
        elif is_noticed:
            self.counts["twins"] += 1
        else:
            self.fail(case, "a falsified result is not noticed")

    def fail(self, case, why):
        self.counts["failed"] += 1
        self.failed[case.op] += 1
        if self.failed[case.op] <= (20 if self.verbose else 2):
            print("%s: %s" % (case.op, why))
            if self.verbose:
                print(exec_cases.join([case]) + "\n".join(map(repr, case.arrays)))


def runs(tessera):
    """The ops that run."""
    table = subprocess.run([tessera, "ops"], capture_output=True, text=True, check=True).stdout.splitlines()
    column = table[0].index(" runs") + 1
    return {line.split()[0] for line in table[1:] if line[column:].startswith("yes")}


def batches(checker, names, each, seed):
    """Cases in groups, every op with every type."""
    rng, np_rng, group = exec_ops.Steered(seed), np.random.default_rng(seed), []
    for op in names:
        for dtype in exec_ops.ONLY.get(op, exec_ops.ALL):
            made = tries = 0
            while made < each and tries < 2 * each + 1:
                tries += 1
                case = checker.make(op, dtype, rng, np_rng)
                if case is None:
                    continue
                made += 1
                group.append(case)
                if len(group) == TOGETHER:
                    yield group
                    group = []
    if group:
        yield group


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tessera", default="tessera")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--only", default="")
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("-v", action="store_true")
    arguments = parser.parse_args()
    names = [n for n in exec_ops.MAKERS if n not in exec_bounds.NOT_ASKED and
             (not arguments.only or n.split(".")[1] in arguments.only.split(","))]
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(arguments, pathlib.Path(folder))
        for group in batches(checker, names, max(1, arguments.count // 200), arguments.seed):
            checker.check(group)
        checker.check_points(exec_truth.dense_cases(arguments.seed, arguments.points, names))
        checker.peers.close()
    report(checker, arguments)


def print_worst(worst):
    """The largest errors: of reals in ulps, of complex numbers in units of roundoff of their size."""
    types = ["f32", "f64", "complex<f32>", "complex<f64>", "bf16", "f16"]
    print("%-22s %-9s %s" % ("largest errors", "", " ".join("%12s" % t for t in types)))
    for who, short in sorted({key[:2] for key in worst}, key=lambda key: (key[1], key[0] != "ours")):
        print("%-22s %-9s %s" % (short, who, " ".join(
            "%12s" % ("%.4g" % worst[who, short, t] if (who, short, t) in worst else "") for t in types)))


def report(checker, arguments):
    counts = checker.counts
    ops = {op for op, _ in checker.met}
    print("%d programs of %d ops, %d pairs of op and element type: %d results are those of jaxlib's evaluator, %d those "
          "of XLA, %d within bounds of exact values; %d run by neither; %d of %d falsified twins noticed, the others within a "
          "bound of their size" % (
              counts["programs"], len(ops), len(checker.met), counts["evaluator"], counts["xla"], counts["exact"],
              counts["run by neither"], counts["twins"], counts["twins"] + counts["twins too near"]))
    for name, count in sorted(checker.known.items()):
        print("known differences: %d %s" % (count, name))
    if arguments.v:
        print_worst(checker.worst)
        print("the peers ended %d times" % checker.peers.ended)
        for key, n in sorted(checker.refused.items()):
            print("refused", *key, n)
    missing = sorted(runs(arguments.tessera) - ops - set(exec_bounds.NOT_ASKED))
    if counts["failed"]:
        print("\n".join("%5d %s" % (n, op) for op, n in checker.failed.most_common()))
        raise SystemExit("%d results differ (seed %d)" % (counts["failed"], arguments.seed))
    if missing and not arguments.only:
        raise SystemExit("ops that run and were not asked: %s" % ", ".join(missing))


if __name__ == "__main__":
    main()
