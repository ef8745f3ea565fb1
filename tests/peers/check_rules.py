"""Sharding rules of random programs beside those of the real Shardy, which jaxlib holds.

usage: check_rules.py --tessera COMMAND [--seed N] [--count N]

For every op of random_ops.py COUNT / 5 modules of one op are made. Those that jaxlib accepts, and whose shapes
are known, go through the pass sdy-populate-op-sharding-rules of both, plain and conservative; the text must be
the same. So do the recorded programs of tests/programs.
"""
import argparse
import pathlib
import random
import subprocess
import tempfile

from jax._src.interpreters import mlir
from jaxlib.mlir import ir, passmanager

import random_ops

MARK = "// -----\n"
PASS = "sdy-populate-op-sharding-rules"
OPTIONS = ["", "conservative-propagation=true"]
# Shardy takes shapes as they come, and fails where there are none.
WITHOUT_RULES = ["?", "tensor<*", "tuple<", "!quant", "!stablehlo.future"]


def ask_shardy(text, options):
    """The module with rules; None if jaxlib refuses it."""
    try:
        module = ir.Module.parse(text)
    except Exception:
        return None
    pipeline = "builtin.module(func.func(%s{%s}))" % (PASS, options)
    passmanager.PassManager.parse(pipeline).run(module.operation)
    return str(module)


def ask_us(tessera, texts, options, folder):
    path = folder / "programs.mlir"
    path.write_text(MARK.join(texts))
    flag = "--%s%s" % (PASS, "=" + options if options else "")
    done = subprocess.run([tessera, "opt", flag, "--split-input-file", path], capture_output=True, text=True)
    answers = done.stdout.split(MARK)
    if len(answers) != len(texts):
        raise SystemExit("tessera opt gave %d programs for %d\n%s" % (len(answers), len(texts), done.stderr[-2000:]))
    return answers


def again(text):
    """What jaxlib makes of our text: rules in its own words."""
    try:
        return str(ir.Module.parse(text))
    except Exception as refusal:
        return str(refusal)


def show(wanted, found):
    for a, b in zip(wanted.split("\n"), found.split("\n")):
        if a != b:
            print("  shardy: %s\n  ours:   %s" % (a, b))


def compare(tessera, texts, options, folder):
    """How many modules have other rules than Shardy gives them."""
    failed = 0
    for wanted, found in zip([ask_shardy(t, options) for t in texts], ask_us(tessera, texts, options, folder)):
        if wanted == found or wanted == again(found):
            continue
        failed += 1
        if failed <= 10:
            show(wanted, found)
    return failed


def texts_of(rng, count):
    """Random modules that have rules to compare, and the recorded programs."""
    made = [random_ops.module(rng, name) for name in random_ops.OPS for _ in range(max(4, count // 5))]
    made = [text for text in made if not any(word in text for word in WITHOUT_RULES)]
    read = [text for text in made if ask_shardy(text, "") is not None]
    root = pathlib.Path(__file__).resolve().parent.parent / "programs"
    return read + [path.read_text() for path in sorted(root.glob("*/program.mlir"))]


def run(arguments, folder):
    texts = texts_of(random.Random(arguments.seed), arguments.count)
    failed = sum(compare(arguments.tessera, texts, options, folder) for options in OPTIONS)
    print("%d of %d modules have the rules that Shardy gives them" % (2 * len(texts) - failed, 2 * len(texts)))
    if failed:
        raise SystemExit("%d modules differ (seed %d)" % (failed, arguments.seed))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tessera", default="tessera")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    with tempfile.TemporaryDirectory() as folder, mlir.make_ir_context() as context:
        context.enable_multithreading(False)  # a thread of its own would wait for Python to take what it says
        context.attach_diagnostic_handler(lambda diagnostic: True)  # what it refuses is left out
        run(parser.parse_args(), pathlib.Path(folder))


if __name__ == "__main__":
    main()
