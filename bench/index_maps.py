"""The rival of index_maps.c: the same maps by JAX, over as many pretended devices."""
import os
import sys
import time

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4096"

import jax
import numpy
from jax._src import sharding as jax_sharding

SHAPES = 200


def shape_of(number):
    return 8192 + 16 * (number % 100), 8192 + 16 * (number // 100 % 100), 64 + 16 * (number // 10000)


def serve_rounds():
    devices = numpy.array(jax.devices()).reshape(16, 16, 16)
    mesh = jax.sharding.Mesh(devices, ("x", "y", "z"))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x", "y", "z"))
    fresh = 0
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        for number in range(fresh, fresh + SHAPES):
            shape = shape_of(number)
            ranges = sharding.devices_indices_map(shape)
            assert ranges[devices[-1, -1, -1]][2].stop == shape[2]
        print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)
        fresh += SHAPES
        # Hundreds of maps of 4096 devices are gigabytes; giving them back is not JAX's task here.
        jax_sharding.common_devices_indices_map.cache_clear()


if __name__ == "__main__":
    serve_rounds()
