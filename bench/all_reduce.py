"""The rival of bench/all_reduce.c: XLA's psum over 8 host devices, 64 MiB on each."""
import os
import sys
import time

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec

COUNT = 16 << 20


def main():
    mesh = Mesh(jax.devices(), ("x",))
    spec = PartitionSpec("x")
    rows = jax.device_put(jnp.ones((8, COUNT), jnp.float32), NamedSharding(mesh, spec))

    def add_up(block):
        return jax.lax.psum(block, "x")

    reduce = jax.jit(jax.shard_map(add_up, mesh=mesh, in_specs=spec, out_specs=PartitionSpec(None)))
    reduce(rows).block_until_ready()
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        reduce(rows).block_until_ready()
        print(f"{time.perf_counter() - wall:.9f} {time.process_time() - cpu:.9f}", flush=True)


if __name__ == "__main__":
    main()
