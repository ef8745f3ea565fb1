"""Shardings that propagate through random programs and recorded ones, beside the real Shardy in jaxlib.

usage: check_propagation.py --tessera COMMAND [--seed N] [--count N] [--programs FOLDER] [--keep FOLDER]

COUNT * 15 modules of random_shardings.py, and the programs of tests/programs (and of FOLDER), go through the passes
of Shardy's propagation pipeline on both sides, each with one of several sets of options. The text of the whole
module must be the same. At least 999 of 1000 must be, and docs/compatibility.md says what is known to differ.
"""
import argparse
import concurrent.futures
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

from jax._src.interpreters import mlir
from jaxlib.mlir import ir, passmanager

import random_shardings

MARK = "// -----\n"
BEGIN = ("symbol-dce sdy-lift-inlined-meshes sdy-remove-size-one-axes sdy-propagate-sharding-from-func-to-call "
         "sdy-constant-or-scalar-splitter symbol-dce sdy-manual-axes-cleanup sdy-add-data-flow-edges").split()
SETTLE = ["sdy-apply-sharding-constraints", "sdy-sharding-group-import"]
COPIED = (["sdy-flatten-call-graph", "symbol-dce", "sdy-import-func-calls", "symbol-dce"] + SETTLE,
          ["sdy-export-named-computations", "sdy-propagate-to-func-results"])
SHARED = (SETTLE + ["sdy-add-func-data-flow-edges"],
          ["sdy-propagate-to-func-results", "sdy-sink-func-data-flow-edges"])
END = ("sdy-unflatten-call-graph symbol-dce sdy-insert-func-call-reshards sdy-constant-or-scalar-merger "
       "sdy-sink-data-flow-edges sdy-remove-sharding-groups sdy-sharding-constraint-to-reshard "
       "sdy-update-non-divisible-input-output-shardings sdy-remove-sub-axes-in-input-output-shardings "
       "sdy-close-shardings").split()
OF_FUNCTIONS = {"sdy-sink-func-data-flow-edges", "sdy-constant-or-scalar-merger", "sdy-sink-data-flow-edges",
                "sdy-sharding-constraint-to-reshard"}
PROPAGATE = "sdy-user-priority-propagate"


def passes(calls, options):
    return BEGIN + calls[0] + ["sdy-pre-order-funcs", PROPAGATE + options] + calls[1] + END


# Each is (how often, passes). Rules are kept by the first, so that they are compared too.
LISTS = [(6, passes(COPIED, "{keep-sharding-rules=true}")), (2, passes(SHARED, "")),
         (1, passes(COPIED, "{conservative-propagation=true}")),
         (1, passes(COPIED, "{propagation-strategy=basic}")),
         (1, passes(COPIED, "{propagation-strategy=basic-then-aggressive}")),
         (1, passes(COPIED, "{run-op-priority-propagation=false}"))]
# Steps are noted on ops, and on the ops whose edges go. Origins are not asked for: where no user gave an axis, Shardy
# reads one from memory that nothing was written to.
NOTES = {"sdy-apply-sharding-constraints": "{debug-propagation-edge-sharding=true}",
         PROPAGATE: "{debug-propagation-edge-sharding=true}",
         "sdy-sink-data-flow-edges": "{sink-debug-propagation-edge-sharding=true}"}
LISTS.append((1, [name + NOTES.get(name, "") for name in passes(COPIED, "")]))


def pipeline(names):
    return "builtin.module(%s)" % ",".join(
        "func.func(%s)" % n if n.split("{")[0] in OF_FUNCTIONS else n for n in names)


def flags(names):
    return ["--" + re.sub(r"\{(.*)\}", r"=\1", name) for name in names]


# ---- asking ----

def answer(job):
    """[the module as jaxlib prints it, with shardings] of a text and a list; None if jaxlib refuses it."""
    text, names = job
    with mlir.make_ir_context() as context:
        context.enable_multithreading(False)  # a thread of its own would wait for Python to take what it says
        context.attach_diagnostic_handler(lambda diagnostic: True)  # what it refuses is left out
        try:
            module = ir.Module.parse(text)
            before = str(module)
            passmanager.PassManager.parse(pipeline(names)).run(module.operation)
        except Exception:
            return None
        return [before, str(module)]


def answer_all(path):
    """What a process of its own does: a line for each job of a file, since Shardy may crash."""
    for job in json.loads(pathlib.Path(path).read_text()):
        print(json.dumps(answer(job)), flush=True)


def ask_shardy(jobs, folder, name):
    """An answer for each job; "crashed" for those on which Shardy crashed."""
    answers, path = [], folder / name
    while len(answers) < len(jobs):
        asked = jobs[len(answers):len(answers) + 2000]
        path.write_text(json.dumps(asked))
        done = subprocess.run([sys.executable, __file__, "--answer", path], capture_output=True, text=True)
        lines = [line for line in done.stdout.split("\n") if line]
        answers += [json.loads(line) for line in lines]
        if done.returncode and len(lines) < len(asked):
            answers.append("crashed")
    return answers


def ask_shardy_twice(jobs, folder):
    """Two processes share the jobs."""
    half = len(jobs) // 2
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        parts = [pool.submit(ask_shardy, part, folder, name)
                 for part, name in ((jobs[:half], "first"), (jobs[half:], "second"))]
        return parts[0].result() + parts[1].result()


def ask_us(tessera, texts, names, folder):
    path = folder / "programs.mlir"
    path.write_text(MARK.join(texts))
    done = subprocess.run([tessera, "opt", *flags(names), "--split-input-file", path], capture_output=True, text=True)
    answers = done.stdout.split(MARK)
    if len(answers) != len(texts):
        return [ask_alone(tessera, text, names, folder) for text in texts]
    return answers


def ask_alone(tessera, text, names, folder):
    path = folder / "program.mlir"
    path.write_text(text)
    done = subprocess.run([tessera, "opt", *flags(names), path], capture_output=True, text=True)
    return done.stdout if not done.returncode else "refused: " + done.stderr


def again(text):
    """What jaxlib makes of our text: in its own words."""
    with mlir.make_ir_context() as context:
        context.enable_multithreading(False)  # a thread of its own would wait for Python to take what it says
        context.attach_diagnostic_handler(lambda diagnostic: True)
        try:
            return str(ir.Module.parse(text))
        except Exception:
            return text


# ---- judging ----

def show(names, before, wanted, found, keep, number):
    print("difference %d, passes %s" % (number, [n for n in names if "{" in n or n == SHARED[0][-1]]))
    for a, b in zip(wanted.split("\n"), found.split("\n")):
        if a != b:
            print("  shardy: %s\n  ours:   %s" % (a.strip()[:300], b.strip()[:300]))
            break
    if keep:
        for name, text in (("in", before), ("shardy", wanted), ("ours", found)):
            (keep / ("%d.%s.mlir" % (number, name))).write_text(text)
        (keep / ("%d.passes" % number)).write_text(" ".join(flags(names)))


def compare(arguments, jobs, answers, folder):
    """(how many were compared, how many differ)"""
    compared = failed = 0
    for names in {tuple(names): None for _, names in jobs}:
        asked = [answer for (_, used), answer in zip(jobs, answers) if answer and tuple(used) == names]
        ours = ask_us(arguments.tessera, [before for before, _ in asked], names, folder)
        for (before, wanted), found in zip(asked, ours):
            compared += 1
            if wanted != found and wanted != again(found):
                failed += 1
                if failed <= arguments.show:
                    show(names, before, wanted, found, arguments.keep, failed)
    return compared, failed


def jobs_of(arguments):
    rng = random.Random(arguments.seed)
    choices = [names for times, names in LISTS for _ in range(times)]
    made = [(random_shardings.module(rng), rng.choice(choices)) for _ in range(arguments.count * 15)]
    root = pathlib.Path(__file__).resolve().parent.parent / "programs"
    for folder in [root] + ([arguments.programs] if arguments.programs else []):
        for path in sorted(folder.glob("*/program.mlir")):
            made += [(path.read_text(), names) for _, names in LISTS]
    return made


def run(arguments, folder):
    begun = time.time()
    jobs = jobs_of(arguments)
    answers = ask_shardy_twice(jobs, folder)
    crashed = [job for job, answer in zip(jobs, answers) if answer == "crashed"]
    for number, job in enumerate(crashed if arguments.keep else []):
        (arguments.keep / ("crash%d.mlir" % number)).write_text(job[0])
        (arguments.keep / ("crash%d.passes" % number)).write_text(pipeline(job[1]))
    answers = [None if answer == "crashed" else answer for answer in answers]
    compared, failed = compare(arguments, jobs, answers, folder)
    print("%d of %d programs have the shardings that Shardy gives them (it refused %d and crashed on %d), %.0f s" % (
        compared - failed, compared, len(jobs) - compared - len(crashed), len(crashed), time.time() - begun))
    if failed * 1000 > compared:
        raise SystemExit("%d programs differ (seed %d)" % (failed, arguments.seed))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tessera", default="tessera")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--show", type=int, default=10)
    parser.add_argument("--programs", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--answer", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.answer:
        return answer_all(arguments.answer)
    with tempfile.TemporaryDirectory() as folder:
        run(arguments, pathlib.Path(folder))


if __name__ == "__main__":
    main()
