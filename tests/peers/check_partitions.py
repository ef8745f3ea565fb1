"""Functions of JAX with random shardings, partitioned and run by us, beside JAX on one device.

usage: check_partitions.py --tessera COMMAND [--seed N] [--count N] [--only NAME] [--keep FOLDER]

Each function of partition_cases.py and partition_steps.py is lowered with random shardings of its arguments and results and random constraints
on a mesh of up to 8 devices, uneven ones included. The truth is JAX's run on one device: XLA's own partitioned runs are
wrong in places. Data that is only moved, and integers, must be equal.
"""
import argparse
import os
import pathlib
import random
import subprocess
import tempfile

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from safetensors.numpy import save_file

import partition_steps  # noqa: F401 (adds to CASES)
from partition_cases import CASES

MESHES = [{"x": 2}, {"x": 2, "y": 2}, {"x": 2, "y": 3}, {"x": 8}, {"x": 2, "y": 4}, {"x": 2, "y": 2, "z": 2}, {"x": 3}]


def random_spec(rng, axes, shape, even):
    """Each axis cuts one dim or none; if `even`, only dims that it divides."""
    left = list(shape)
    dims = [[] for _ in shape]
    for axis in rng.sample(list(axes), len(axes)):
        place = rng.randint(0, len(shape))
        if place < len(shape) and (left[place] % axes[axis] == 0 if even else left[place] >= axes[axis]):
            dims[place].append(axis)
            left[place] //= axes[axis]
    return P(*[tuple(dim) if dim else None for dim in dims])


def values(rng, arguments):
    out = []
    for a in arguments:
        if jnp.issubdtype(a.dtype, jnp.integer):
            info = jnp.iinfo(a.dtype)
            out.append(rng.integers(max(info.min, 0), min(info.max, 100), a.shape).astype(a.dtype))
        else:
            out.append(np.asarray(jnp.asarray(rng.standard_normal(a.shape), a.dtype)))
    return out


def mesh_of(axes):
    count = int(np.prod(list(axes.values())))
    return Mesh(np.array(jax.devices()[:count]).reshape(tuple(axes.values())), tuple(axes))


def build(rng, function, arguments, axes, mesh):
    """The function with shardings on its arguments and constraints on what it returns."""
    put = [NamedSharding(mesh, random_spec(rng, axes, a.shape, True)) for a in arguments]
    flat, tree = jax.tree.flatten(jax.eval_shape(function, *arguments))
    wanted = [NamedSharding(mesh, random_spec(rng, axes, r.shape, False)) if rng.random() < 0.5 else None for r in flat]

    def constrained(*args):
        results = jax.tree.leaves(function(*args))
        return tuple(r if w is None else jax.lax.with_sharding_constraint(r, w) for r, w in zip(results, wanted))
    return jax.jit(constrained, in_shardings=put)


def run_one(arguments, folder, name, number):
    make, args, rtol = CASES[name]
    rng = random.Random("%d %s %d" % (arguments.seed, name, number))
    given = values(np.random.default_rng(rng.getrandbits(32)), args)
    axes = rng.choice(MESHES)
    mesh = mesh_of(axes)
    f = build(rng, make(mesh), args, axes, mesh)
    with jax.default_device(jax.devices()[0]):
        want = [np.asarray(r) for r in jax.tree.leaves(jax.jit(make(mesh))(*given))]
    (folder / "program.mlir").write_text(f.lower(*args).as_text())
    save_file({"arg%d" % i: np.asarray(a, order="C") for i, a in enumerate(given)}, folder / "inputs.safetensors")
    save_file({"out%d" % i: np.asarray(a, order="C") for i, a in enumerate(want)}, folder / "outputs.safetensors")
    scale = max([1.0] + [float(np.max(np.abs(w.astype(np.float64)))) for w in want if w.dtype.kind == "f" and w.size])
    done = subprocess.run([arguments.tessera, "run", folder / "program.mlir", "-i", folder / "inputs.safetensors", "-e",
                           folder / "outputs.safetensors", "--rtol", str(rtol), "--atol", str(rtol * scale)],
                          capture_output=True, text=True, timeout=120)
    return done.returncode, axes, done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tessera", default="tessera")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", default="")
    arguments = parser.parse_args()
    chosen = [arguments.only] if arguments.only else sorted(CASES)
    failed = total = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(max(1, arguments.count // 100)):
            for name in chosen:
                total += 1
                code, axes, text = run_one(arguments, pathlib.Path(folder), name, number)
                if code:
                    failed += 1
                    print("%s on %s: exit %d: %s" % (name, axes, code, text.strip()[:400]))
                    if arguments.keep:
                        target = pathlib.Path(arguments.keep) / ("%s_%d" % (name, number))
                        target.mkdir(parents=True, exist_ok=True)
                        for path in pathlib.Path(folder).iterdir():
                            (target / path.name).write_bytes(path.read_bytes())
    print("%d of %d functions of JAX have its results when partitioned" % (total - failed, total))
    if failed:
        raise SystemExit("%d functions differ (seed %d)" % (failed, arguments.seed))


if __name__ == "__main__":
    main()
