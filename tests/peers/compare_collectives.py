#!/usr/bin/env python3
"""Compares the bytes that collectives move on each device, by `tessera cost`, with XLA's partitioner.

Reads tests/programs/*/case.json (xla.collectives_after_spmd) and prints a table of the programs in which
the two differ, and the sums. Programs with loops of unknown length on either side, and with values on several
meshes, are left out.

usage: compare_collectives.py [--tessera build/tessera] [--markdown] [PROGRAMS]
"""
import argparse
import json
import pathlib
import subprocess
import sys


def xla_bytes(kinds):
    """The same rule as ours; None where a loop's length is unknown."""
    total = 0
    for kind, row in kinds.items():
        once, operand = row["operand_bytes"], row["dynamic_operand_bytes"]
        if operand is None:
            return None
        result = row["result_bytes"] * (operand // once) if once else 0
        total += {"all-reduce": 2 * operand, "all-gather": result - operand,
                  "reduce-scatter": operand - result}.get(kind, operand)
    return total


def our_bytes(tessera, program):
    """None where a loop's length is unknown, or the form of shardings is not read."""
    run = subprocess.run([tessera, "cost", program, "--json"], capture_output=True, text=True)
    if run.returncode:
        return None
    report = json.loads(run.stdout)
    known = not report["unknown_loops"] and not report["mixed_mesh_ops"]
    return report["collectives"]["bytes"] if known else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", nargs="?", default="tests/programs")
    parser.add_argument("--tessera", default="build/tessera")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    rows, left_out = [], []
    for case in sorted(pathlib.Path(args.programs).glob("*/case.json")):
        kinds = (json.loads(case.read_text()).get("xla") or {}).get("collectives_after_spmd")
        if kinds is None:
            continue
        theirs, ours = xla_bytes(kinds), our_bytes(args.tessera, case.parent / "program.mlir")
        if theirs is None or ours is None:
            left_out.append(case.parent.name)
        else:
            rows.append((ours - theirs, case.parent.name, ours, theirs))
    frame = "| {1} | {2} | {3} | {0:+} |" if args.markdown else "{1:36} {2:9} {3:9} {0:+9}"
    for row in sorted(rows):
        if row[0]:
            print(frame.format(*row))
    ours, theirs = sum(r[2] for r in rows), sum(r[3] for r in rows)
    print(f"{len(rows)} programs: {ours} bytes, XLA {theirs}, {ours / theirs:.3f} of it;"
          f" less in {sum(r[0] < 0 for r in rows)}, more in {sum(r[0] > 0 for r in rows)}")
    print("left out: " + ", ".join(left_out))
    return 0 if ours <= 1.05 * theirs else 1


if __name__ == "__main__":
    sys.exit(main())
