"""Random programs beside jaxlib: read, checked, printed; as text and as portable artifacts.

usage: check_programs.py --tessera COMMAND [--seed N] [--count N]

For every op of random_ops.py COUNT / 5 modules of one op are made, in the generic form. jaxlib reads and
verifies each, or refuses it; so must we, and what we print must be jaxlib's text, byte for byte, also when
we read its pretty form. Of the accepted ones some go through artifacts of a random version: ours must be
read by jaxlib, jaxlib's by us, to the same text. The recorded programs of tests/programs go the same way.
"""
import argparse
import collections
import pathlib
import random
import subprocess
import tempfile

from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

import random_ops

MARK = "// -----\n"
VERSIONS = ["1.0.0", "1.3.0", "1.5.0", "1.9.0", "1.12.0", "1.15.0", "1.17.0"]


def read(text):
    """The module as jaxlib reads it; None if it refuses."""
    try:
        return ir.Module.parse(text)
    except Exception:
        return None


def ask_jaxlib(text):
    module = read(text)
    return None if module is None else str(module)


def generic(module):
    return None if module is None else module.operation.get_asm(print_generic_op_form=True)


def same(wanted, found):
    """Whether our answer is jaxlib's. Where jaxlib does not read its own text back to the same module (a
    dynamic_slice of a scalar, the padding of a convolution without spatial dimensions), ours must read so."""
    if wanted == found or wanted is None or found is None:
        return wanted == found
    return generic(read(wanted)) != generic(read(found)) and str(read(found)) == wanted


def ask_us(tessera, texts, folder):
    """What we print for each text; None where we refuse."""
    path = folder / "programs.mlir"
    path.write_text(MARK.join(texts))
    done = subprocess.run([tessera, "opt", "--split-input-file", path], capture_output=True, text=True)
    answers = done.stdout.split(MARK)
    if len(answers) != len(texts):
        raise SystemExit("tessera opt gave %d programs for %d\n%s" % (len(answers), len(texts), done.stderr[-2000:]))
    return [answer or None for answer in answers]


def show(name, text, wanted, found):
    verdict = ("jaxlib refuses, we accept" if wanted is None else "jaxlib accepts, we refuse" if found is None
               else "printed differently")
    print("%s: %s\n%s" % (name, verdict, text))
    if wanted is not None and found is not None:
        for a, b in zip(wanted.split("\n"), found.split("\n")):
            if a != b:
                print("  jaxlib: %s\n  ours:   %s" % (a, b))


def compare(names, texts, wanted, found):
    bad = collections.Counter()
    for name, text, theirs, ours in zip(names, texts, wanted, found):
        if same(theirs, ours):
            continue
        bad[name] += 1
        if sum(bad.values()) <= 20:
            show(name, text, theirs, ours)
    return sum(bad.values())


def check_artifact(tessera, text, version, folder):
    """Whether artifacts go both ways. None: the version cannot hold the module, and we say so too."""
    module = ir.Module.parse(text)
    ours, theirs = folder / "ours.mlirbc", folder / "theirs.mlirbc"
    source = folder / "source.mlir"
    source.write_text(text)
    done = subprocess.run([tessera, "translate", source, ours, "--version", version], capture_output=True, text=True)
    try:
        bytes_of = stablehlo.serialize_portable_artifact(module, version, True)
    except Exception:
        return None if done.returncode else "jaxlib cannot write version %s, we can" % version
    if done.returncode:
        return "jaxlib writes version %s, we do not: %s" % (version, done.stderr)
    context = ir.Context.current
    wanted = str(stablehlo.deserialize_portable_artifact(context, bytes_of))
    try:
        got = str(stablehlo.deserialize_portable_artifact(context, ours.read_bytes()))
    except Exception as refusal:
        return "jaxlib does not read our artifact: %s" % refusal
    if got != wanted:
        return "our artifact reads as\n%s\ninstead of\n%s" % (got, wanted)
    theirs.write_bytes(bytes_of)
    done = subprocess.run([tessera, "opt", theirs], capture_output=True, text=True)
    if not same(wanted, done.stdout):
        return "we read jaxlib's artifact as\n%s%s" % (done.stdout, done.stderr)
    return ""


def check_artifacts(tessera, rng, texts, count, folder):
    passed = failed = 0
    for text in rng.sample(texts, min(count, len(texts))):
        # Older versions hold no Shardy; jaxlib writes it beside them all the same.
        version = rng.choice(VERSIONS[4:] if "sdy." in text else VERSIONS)
        why = check_artifact(tessera, text, version, folder)
        passed += why == ""
        failed += bool(why)
        if why and failed <= 10:
            print("artifact: %s\n%s" % (why, text))
    return passed, failed


def open_recorded(path):
    """A recorded program as jaxlib reads it."""
    if path.suffix == ".mlir":
        return ir.Module.parse(path.read_text())
    return stablehlo.deserialize_portable_artifact(ir.Context.current, path.read_bytes())


def check_recorded(tessera, folder):
    """Whether we print and write every recorded program as jaxlib does. How many."""
    root = pathlib.Path(__file__).resolve().parent.parent / "programs"
    paths = sorted([*root.glob("*/*.mlir"), *root.glob("*/*.mlirbc")])
    for path in paths:
        wanted = str(open_recorded(path))
        done = subprocess.run([tessera, "opt", path], capture_output=True, text=True)
        if done.stdout != wanted:
            raise SystemExit("%s: printed differently\n%s" % (path, done.stderr))
        if "chlo." in wanted:
            continue
        why = check_artifact(tessera, wanted, "1.15.0", folder)
        if why:
            raise SystemExit("%s: %s" % (path, why))
    return len(paths)


def run(arguments, folder):
    rng = random.Random(arguments.seed)
    names, texts = [], []
    for name in random_ops.OPS:
        for _ in range(max(4, arguments.count // 5)):
            names.append(name)
            texts.append(random_ops.module(rng, name))
    wanted = [ask_jaxlib(text) for text in texts]
    failed = compare(names, texts, wanted, ask_us(arguments.tessera, texts, folder))
    good = [(n, t) for n, t in zip(names, wanted) if t is not None and read(t) is not None]
    pretty = [t for _, t in good]
    failed += compare([n for n, _ in good], pretty, pretty, ask_us(arguments.tessera, pretty, folder))
    # VHLO has no CHLO; jaxlib keeps that dialect beside it, as JAX's own exports never do.
    plain = [t for n, t in good if not n.startswith("chlo.")]
    written, lost = check_artifacts(arguments.tessera, rng, plain, 2 * arguments.count, folder)
    recorded = check_recorded(arguments.tessera, folder)
    print("%d modules of %d ops and %d recorded programs agree with jaxlib, %d modules accepted; %d artifacts went "
          "both ways" % (len(texts) + len(pretty) - failed, len(random_ops.OPS), recorded, len(good), written))
    if failed or lost:
        raise SystemExit("%d modules and %d artifacts differ (seed %d)" % (failed, lost, arguments.seed))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tessera", default="tessera")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    with tempfile.TemporaryDirectory() as folder, mlir.make_ir_context() as context:
        context.enable_multithreading(False)  # a thread of its own would wait for Python to take what it says
        context.attach_diagnostic_handler(lambda diagnostic: True)  # what it refuses is counted here
        run(parser.parse_args(), pathlib.Path(folder))


if __name__ == "__main__":
    main()
