"""Rounds of jaxlib's MLIR, for the rivals of programs."""

import sys
import time

from jax._src.interpreters import mlir


def serve(work):
    """Answers every line of input with the seconds of work(), in a fresh context each time, as a
    process that opens one program has it."""
    for _ in sys.stdin:
        with mlir.make_ir_context():
            wall, cpu = time.perf_counter(), time.process_time()
            work()
            print(f"{time.perf_counter() - wall:.9f} {time.process_time() - cpu:.9f}", flush=True)


def serve_prepared(prepare):
    """The same; prepare() gives the work and is not counted."""
    for _ in sys.stdin:
        with mlir.make_ir_context():
            work = prepare()
            wall, cpu = time.perf_counter(), time.process_time()
            work()
            print(f"{time.perf_counter() - wall:.9f} {time.process_time() - cpu:.9f}", flush=True)
