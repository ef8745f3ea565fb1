"""jaxlib as a process of its own: its reference evaluator and XLA. What they cannot do may end the process.
"""
import multiprocessing

import numpy as np

import exec_cases


def attribute(ir, array, kind):
    if array.size == 0:
        return ir.Attribute.parse("dense<> : " + kind)
    return ir.DenseElementsAttr.get(np.ascontiguousarray(array), type=ir.Type.parse(kind))


def evaluate(text, arrays, kinds, wanted):
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    answers = stablehlo.eval_module(ir.Module.parse(text), [attribute(ir, a, k) for a, k in zip(arrays, kinds)])
    return [np.array(a).astype(exec_cases.CARRIERS[d]).reshape(s) for a, (s, d) in zip(answers, wanted)]


def run_xla(text, arrays, kinds, wanted):
    import jax
    from jaxlib import xla_client
    device = jax.devices("cpu")[0]
    options = xla_client.CompileOptions()
    options.executable_build_options.use_shardy_partitioner = True
    compiled = device.client.compile_and_load(text.encode(), xla_client.DeviceList((device,)), options)
    found = [np.asarray(a) for a in compiled.execute([jax.device_put(a, device) for a in arrays])]
    return [a.view(exec_cases.CARRIERS[d]).reshape(s) for a, (s, d) in zip(found, wanted)]


def verify(text, arrays, kinds, wanted):
    from jaxlib.mlir import ir
    ir.Module.parse(text)
    return []


ENDED = "the peer ended"
ANSWERS = {"evaluator": evaluate, "xla": run_xla, "verifier": verify}


def serve(pipe):
    import os
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    # XLA's time goes into compiling: as few passes as can be, and the emitters that write less code.
    os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
    import jax
    from jax._src.interpreters import mlir
    jax.config.update("jax_enable_x64", True)
    with mlir.make_ir_context() as context:
        context.enable_multithreading(False)  # a thread of its own would wait for Python to take what it says
        context.attach_diagnostic_handler(lambda diagnostic: True)
        while True:
            try:
                peer, *question = pipe.recv()
                pipe.send(ANSWERS[peer](*question))
            except EOFError:
                return
            except Exception as refusal:
                pipe.send(str(refusal) or "refused")


class Peers:
    def __init__(self):
        self.process, self.ended = None, 0

    def ask(self, peer, text, arrays, kinds, wanted):
        """Arrays, or why there are none."""
        if self.process is None:
            self.pipe, other = multiprocessing.Pipe()
            self.process = multiprocessing.get_context("spawn").Process(target=serve, args=(other,), daemon=True)
            self.process.start()
            other.close()
        try:
            self.pipe.send((peer, text, arrays, kinds, wanted))
            if self.pipe.poll(120):
                return self.pipe.recv()
        except (EOFError, OSError):
            pass
        self.process.kill()
        self.process = None
        self.ended += 1
        return ENDED

    def close(self):
        if self.process is not None:
            self.pipe.close()
            self.process.join()

    def ask_cases(self, peer, cases):
        """Answers for each of the cases, asked together; those that cannot be together, in halves."""
        if not cases:
            return []
        arrays, kinds, wanted = ([x for c in cases for x in getattr(c, n)] for n in ("arrays", "carried", "wanted"))
        found = self.ask(peer, exec_cases.join(cases), arrays, kinds, wanted)
        if not isinstance(found, str):
            return split(cases, found)
        if len(cases) == 1:
            return [found]
        half = len(cases) // 2
        return self.ask_cases(peer, cases[:half]) + self.ask_cases(peer, cases[half:])


def split(cases, arrays):
    """The arrays of each case."""
    answers, at = [], 0
    for case in cases:
        answers.append(arrays[at:at + len(case.wanted)])
        at += len(case.wanted)
    return answers
