#!/usr/bin/env python3
"""What the command prints as placements, PyTorch's constructors take, and what PyTorch then prints of
them, the command reads as the same spec."""
import cases

try:
    from torch.distributed.tensor import Partial, Replicate, Shard
except ImportError:
    from torch.distributed._tensor import Partial, Replicate, Shard
try:
    from torch.distributed.tensor.placement_types import _StridedShard
except ImportError:
    _StridedShard = None

AXES = ("dp", "tp", "ep")


def random_spec(rng, rank, axes):
    """A spec of nested stages, in any order of axes where PyTorch has strided shards."""
    cut = [[] for _ in range(rank)]
    for axis in rng.sample(axes, len(axes)) if _StridedShard else axes:
        if rng.random() < 0.8:
            rng.choice(cut).append(axis)
    used = [axis for group in cut for axis in group]
    left = [axis for axis in axes if axis not in used]
    spec = ", ".join(";".join(group) or "_" for group in cut)
    return spec + (f" | unreduced={rng.choice(('max', 'min'))}({'+'.join(left)})" if left and rng.random() < 0.5 else "")


def check(run, rng, _):
    rank = rng.randint(1, 3)
    axes = AXES[:rng.randint(1, 3)]
    mesh = ",".join(f"{axis}={rng.randint(1, 5)}" for axis in axes)
    spec = random_spec(rng, rank, axes)
    options = ("--mesh", mesh, "--rank", rank)
    printed = run("spec", "convert", spec, *options, "--to", "dtensor").stdout.strip()
    placements = eval(printed, {"Shard": Shard, "Replicate": Replicate, "Partial": Partial,
                                "_StridedShard": _StridedShard})
    again = run("spec", "convert", repr(tuple(placements)), *options, "--to", "dtensor").stdout.strip()
    if again != printed:
        raise SystemExit(f"{spec} on {mesh} is {printed}, and {placements} is {again}")
    run("spec", "compare", spec, repr(placements), *options)


if __name__ == "__main__":
    cases.run(check, "%d specs printed as placements that PyTorch takes")
