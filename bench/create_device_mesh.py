"""The rival of create_device_mesh.c: the same meshes over the same torus, by JAX."""
import sys
import time

from jax.experimental import mesh_utils


class Device:
    """What JAX reads of a device."""

    __slots__ = ("id", "platform", "device_kind", "process_index", "coords", "core_on_chip",
                 "slice_index")

    def __init__(self, number, coords):
        self.id = number
        self.platform = "tpu"
        self.device_kind = "TPU v4"
        self.process_index = number // 4
        self.coords = coords
        self.core_on_chip = 0
        self.slice_index = 0


def serve_rounds(shape, split):
    """Answers every line of input with the wall and CPU seconds of ten meshes of this shape."""
    places = [(x, y, z) for z in range(16) for y in range(16) for x in range(16)]
    torus = [Device(number, coords) for number, coords in enumerate(places)]
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(10):
            mesh_utils.create_device_mesh(shape, torus, allow_split_physical_axes=split)
        print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)


if __name__ == "__main__":
    serve_rounds((16, 16, 16), False)
