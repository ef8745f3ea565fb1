"""The program of bench/large_program.h for the rivals."""

import numpy as np

CONSTANTS, ELEMENTS = 25, 1 << 20
TYPE = "tensor<1024x1024xf32>"


def text():
    rng = np.random.default_rng(0)
    lines = ["module @large {", f"  func.func public @main() -> {TYPE} {{"]
    for i in range(CONSTANTS):
        data = (1 + rng.random(ELEMENTS, dtype=np.float32)).tobytes().hex().upper()
        lines.append(f'    %{i} = stablehlo.constant dense<"0x{data}"> : {TYPE}')
    for i in range(CONSTANTS - 1):
        left = CONSTANTS + i - 1 if i else 0
        lines.append(f"    %{CONSTANTS + i} = stablehlo.add %{left}, %{i + 1} : {TYPE}")
    lines += [f"    return %{2 * CONSTANTS - 2} : {TYPE}", "  }", "}", ""]
    return "\n".join(lines)
