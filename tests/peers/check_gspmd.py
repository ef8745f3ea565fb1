"""Programs in the older GSPMD form, read by us, beside what JAX writes of the same functions for Shardy.

usage: check_gspmd.py --tessera COMMAND [--seed N] [--count N]

Functions are lowered twice. The older text goes through import-gspmd; with its axes under the mesh's own names it must
be the newer one, but for constraints that say nothing and the names and order of functions.
"""
import argparse
import os
import pathlib
import random
import re
import subprocess
import tempfile

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

MESHES = [{"x": 2, "y": 4}, {"x": 4, "y": 2}, {"x": 2, "y": 2, "z": 2}]


def spec_of(rng, axes, rank):
    """Each axis cuts one dim or none."""
    dims = [[] for _ in range(rank)]
    for axis in rng.sample(list(axes), len(axes)):
        place = rng.randint(0, rank)
        if place < rank:
            dims[place].append(axis)
    return P(*[tuple(dim) if dim else None for dim in dims])


def whole_spec(rng, axes):
    """Every axis is used, each alone, so that the mesh of the older form is that of the newer one."""
    order = list(axes)
    return P(*order, *[None] * (4 - len(order)))


def function(rng, mesh):
    """A function of two arrays of rank 4, with constraints and shard_maps, and its shardings."""
    axes = mesh.axis_names
    specs = [spec_of(rng, axes, 4) for _ in range(6)]
    manual = rng.choice([None, None, {axes[0]}])
    mapped = P(*[axes[0] if d == 0 else None for d in range(4)]) if manual else specs[2]

    def f(a, b):
        c = jax.lax.with_sharding_constraint(a + b, NamedSharding(mesh, specs[3]))
        body = lambda u: jnp.tanh(u) * 2
        how = {"axis_names": manual} if manual else {}
        d = jax.shard_map(body, mesh=mesh, in_specs=mapped, out_specs=mapped, check_vma=False, **how)(c)
        return jnp.sin(d), jnp.sum(d, 0)
    put = [NamedSharding(mesh, spec) for spec in (whole_spec(rng, axes), specs[1])]
    return jax.jit(f, in_shardings=put, out_shardings=(NamedSharding(mesh, specs[4]), None))


def lower(f, shardy):
    jax.config.update("jax_use_shardy_partitioner", shardy)
    jax.clear_caches()
    x = jax.ShapeDtypeStruct((8, 16, 8, 16), jnp.float32)
    return f.lower(x, x).as_text()


def shardings(text, names):
    """The shardings and manual axes of a text in order, under the names of the mesh."""
    for number, name in enumerate(names):
        text = text.replace('"_axis_%d"' % number, '"%s"' % name)
    return re.findall(r"(?:shardings=\[.*?\] |manual_axes=\{.*?\}|<@mesh, \[.*?\]>)", text)


def run(arguments, folder):
    rng = random.Random(arguments.seed)
    total = max(4, arguments.count // 10)
    failed = 0
    for number in range(total):
        axes = rng.choice(MESHES)
        mesh = Mesh(np.array(jax.devices()).reshape(tuple(axes.values())), tuple(axes))
        f = function(rng, mesh)
        older, newer = lower(f, False), lower(f, True)
        path = folder / "older.mlir"
        path.write_text(older)
        done = subprocess.run([arguments.tessera, "opt", "--import-gspmd", "--symbol-dce", path], capture_output=True,
                              text=True)
        if done.returncode or shardings(done.stdout, axes) != shardings(newer, axes):
            failed += 1
            print("difference\n  jax:  %s\n  ours: %s" % (
                shardings(newer, axes), shardings(done.stdout, axes) if not done.returncode else done.stderr))
    print("%d of %d programs in the older form have the shardings of the newer one" % (total - failed, total))
    if failed:
        raise SystemExit("%d programs differ (seed %d)" % (failed, arguments.seed))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tessera", default="tessera")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    with tempfile.TemporaryDirectory() as folder:
        run(parser.parse_args(), pathlib.Path(folder))


if __name__ == "__main__":
    main()
