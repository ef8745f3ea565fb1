"""The rival of bench/program_bytecode.c: jaxlib's deserializer on an artifact of the same size."""

from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

import jaxlib_rounds
import large_program

if __name__ == "__main__":
    with mlir.make_ir_context():
        module = ir.Module.parse(large_program.text())
        artifact = stablehlo.serialize_portable_artifact(module, "1.15.0")
    jaxlib_rounds.serve(lambda: stablehlo.deserialize_portable_artifact(ir.Context.current, artifact))
