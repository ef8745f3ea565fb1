"""The rival of match_rules.c: the same tree and the same rules by eformer."""
import re
import sys
import time

import jax
import jax.numpy as jnp
from eformer.escale import match_partition_rules
from jax.sharding import PartitionSpec as P

PARTS = ["attn", "mlp", "cross", "expert", "norm", "embed", "head", "conv", "gate", "lora"]
LEAVES = ["q_proj/kernel", "k_proj/kernel", "v_proj/kernel", "o_proj/kernel", "up_proj/kernel",
          "gate_proj/kernel", "down_proj/kernel", "q_proj/bias", "ln/scale", "o_proj/bias"]
ENDINGS = ["(q|k|v)_proj/kernel$", "o_proj/kernel$", "(up|gate)_proj/kernel$", "down_proj/kernel$",
           "bias$", "scale$"]

leaf = jax.ShapeDtypeStruct((64, 64), jnp.float32)
tree = {"params": {"layers": {str(layer): {part: {} for part in PARTS} for layer in range(1000)}}}
for layer in tree["params"]["layers"].values():
    for part in layer.values():
        for name in LEAVES:
            module, kind = name.split("/")
            part.setdefault(module, {})[kind] = leaf
rules = [("%s/.*%s" % (part, ending), P("fsdp", "tp")) for part in PARTS for ending in ENDINGS]

for _ in sys.stdin:
    re.purge()
    wall, cpu = time.perf_counter(), time.process_time()
    match_partition_rules(rules, tree)
    print("%.9f %.9f" % (time.perf_counter() - wall, time.process_time() - cpu), flush=True)
