#!/usr/bin/env python3
"""Asks PyTorch what it prints of placements, DTensors, their specs and meshes, which piece of a tensor
its function for offsets gives each rank, and which elements FSDP2 over TP really holds.

Ranks are threads of this process, whose collectives are PyTorch's own test backend. Where the function
for offsets contradicts the local tensors, a case is marked `defect`."""
import argparse
import importlib
import json
import logging
import os
import random
import threading
import warnings

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.testing._internal.distributed import multi_threaded_pg as threads

try:
    from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor
    from torch.distributed.tensor import _utils
except ImportError:  # 2.4
    from torch.distributed._tensor import Partial, Replicate, Shard, _utils, distribute_tensor
try:
    from torch.distributed.tensor.placement_types import _StridedShard
except ImportError:  # 2.4 has none
    _StridedShard = None
try:
    from torch.distributed.fsdp import fully_shard
except ImportError:
    from torch.distributed._composable.fsdp import fully_shard

RELEASE = torch.__version__.split("+")[0]
NAMES = ("dp", "tp", "ep", "cp")


# ---- ranks ----

def on_ranks(world, body):
    """body(rank) on `world` ranks at once; what each returned."""
    answers = [None] * world
    torch._C._distributed_c10d._set_thread_isolation_mode(True)
    threads._install_threaded_pg()
    store = dist.HashStore()

    def run(rank):
        dist.init_process_group("threaded", rank=rank, world_size=world, store=store)
        try:
            answers[rank] = body(rank)
        except BaseException as error:  # the others wait for this rank
            answers[rank] = error
            threads.ProcessLocalGroup.exception_handle(error)
        finally:
            dist.destroy_process_group()

    workers = [threading.Thread(target=run, args=(rank,)) for rank in range(world)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    threads.ProcessLocalGroup.reset()
    threads._uninstall_threaded_pg()
    torch._C._distributed_c10d._set_thread_isolation_mode(False)
    for error in answers:
        # The other ranks are ended by an event.
        if isinstance(error, BaseException) and "termination event" not in str(error):
            raise error
    return answers


# ---- placements ----

def random_sizes(rng, count, most=12):
    while True:
        sizes = [rng.choice((1, 2, 2, 2, 3, 4)) for _ in range(count)]
        if product(sizes) <= most:
            return sizes


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def strided(order, axis, sizes, dim):
    """The placement of `axis` on a dimension that axes cut in this order."""
    before = order[:order.index(axis)]
    factor = product(sizes[other] for other in before if other > axis)
    return _StridedShard(dim, split_factor=factor) if factor > 1 else Shard(dim)


def random_orders(rng, axes, rank):
    """Which axes cut which dimension, in which order; often several cut one."""
    orders = {}
    main = rng.randrange(rank)
    for axis in axes:
        if rng.random() < 0.8:
            orders.setdefault(main if rng.random() < 0.6 else rng.randrange(rank), []).append(axis)
    for order in orders.values():
        if _StridedShard is not None and rng.random() < 0.7:
            rng.shuffle(order)
    return orders


def random_placements(rng, sizes, rank, orders):
    reduction = rng.choice(("sum", "max", "min"))
    placements = [Partial(reduction) if rng.random() < 0.2 else Replicate() for _ in sizes]
    for dim, order in orders.items():
        for axis in order:
            placements[axis] = strided(order, axis, sizes, dim)
    return tuple(placements)


def placement_to_json(placement, order=None):
    if _StridedShard is not None and isinstance(placement, _StridedShard):
        return ["strided", placement.dim, int(placement.split_factor)]
    if isinstance(placement, Shard):
        return ["shard", placement.dim] if order is None else ["shard", placement.dim, order]
    if isinstance(placement, Partial):
        return ["partial", placement.reduce_op]
    return ["replicate"]


def random_shape(rng, rank):
    return [rng.choice((rng.randint(0, 5), rng.randint(1, 40), 12, 24)) for _ in range(rank)]


# ---- which piece each rank has ----

def coordinates(sizes):
    for rank in range(product(sizes)):
        coords = []
        for size in reversed(sizes):
            coords.insert(0, rank % size)
            rank //= size
        yield coords


class Place:
    """What the function of 2.4 wants of a mesh."""
    def __init__(self, sizes, coords):
        self.shape, self.ndim, self.coords = tuple(sizes), len(sizes), coords

    def get_coordinate(self):
        return self.coords

    def size(self, dim):
        return self.shape[dim]


def offsets_of(shape, sizes, coords, placements):
    if hasattr(_utils, "_compute_local_shape_and_global_offset"):
        return _utils._compute_local_shape_and_global_offset(tuple(shape), tuple(sizes), list(coords),
                                                             list(placements))
    return _utils.compute_local_shape_and_global_offset(tuple(shape), Place(sizes, coords), list(placements))


def piece(shape, start):
    """An empty piece is nowhere."""
    return {"shape": list(shape), "start": None if 0 in shape else list(start)}


def nested_piece(shape, sizes, coords, orders):
    """What torch.chunk leaves, axis after axis in the order of cuts."""
    held = []
    for dim, size in enumerate(shape):
        rows = torch.arange(size)
        for axis in orders.get(dim, ()):
            chunks = torch.chunk(rows, sizes[axis]) if len(rows) else (rows,)
            rows = chunks[coords[axis]] if coords[axis] < len(chunks) else rows[:0]
        held.append(rows.tolist())
    return piece([len(rows) for rows in held], [rows[0] if rows else 0 for rows in held])


def ask_offsets(rng):
    sizes = random_sizes(rng, rng.randint(1, 3))
    rank = rng.randint(1, 2)
    shape = random_shape(rng, rank)
    orders = random_orders(rng, range(len(sizes)), rank)
    if _StridedShard is not None and rng.random() < 0.3:  # where the function errs most
        shape[0] = rng.randint(1, 60)
        orders = {0: rng.sample(range(len(sizes)), len(sizes))}
    placements = random_placements(rng, sizes, rank, orders)
    try:
        pieces = [piece(*offsets_of(shape, sizes, coords, placements)) for coords in coordinates(sizes)]
    except RuntimeError:  # 2.9 knows only some orders
        return ask_offsets(rng)
    case = {"input": {"mesh": {"names": NAMES[:len(sizes)], "sizes": sizes}, "shape": shape,
                      "placements": repr(placements)}, "output": pieces}
    if pieces != [nested_piece(shape, sizes, coords, orders) for coords in coordinates(sizes)]:
        if not any(isinstance(p, _StridedShard) for p in placements):
            raise SystemExit(f"plain shards are not nested chunks: {case}")
        case["defect"] = "contradicts the local tensors of FSDP2 over TP"
    return case


def ask_side_by_side(rng):
    """Factors that name no order: blocks in turn, or the major part of a later axis in the gap."""
    factor, size, blocks = rng.randint(2, 4), rng.randint(2, 4), rng.randint(1, 3)
    if rng.random() < 0.5:
        sizes = [size, rng.randint(1, 3)]
        placements = (_StridedShard(0, split_factor=factor), Replicate())
    else:
        sizes = [size, factor * rng.randint(2, 3)]
        placements = (_StridedShard(0, split_factor=factor), Shard(0))
    shape = [product(sizes) * factor * blocks, rng.randint(1, 3)]
    pieces = [piece(*offsets_of(shape, sizes, coords, placements)) for coords in coordinates(sizes)]
    return {"input": {"mesh": {"names": NAMES[:2], "sizes": sizes}, "shape": shape,
                      "placements": repr(placements)}, "output": pieces}


# ---- FSDP2 over TP ----

def fsdp_question(rng):
    """A mesh (data axes first), which of its axes are of data, TP's placements and FSDP's dimension."""
    old = _StridedShard is None
    data = ["dp"] if old or rng.random() < 0.7 else ["dp_replicate", "dp_shard"]
    model = ["tp"] if old or rng.random() < 0.6 else ["ep", "tp"]
    while True:
        sizes = [rng.choice((2, 2, 3, 4)) for _ in data + model]
        if product(sizes) <= 16:
            break
    least = product(sizes[len(data):]) ** 2  # PyTorch fails to cut columns where some rank has none
    shape = [rng.choice((rng.randint(1, 9), rng.randint(5, 40))), rng.randint(least, least + 8)]
    tp = [rng.choice((0, 0, 1)) for _ in model]
    fsdp = 0 if old or rng.random() < 0.7 else 1
    if fsdp == 1 or old:
        shape[1] = product(sizes) * rng.randint(1, 3)  # FSDP2 wants this dimension to come out even
    return data, model, sizes, shape, tp, fsdp


def hold(question, rank):
    data, model, sizes, shape, tp, fsdp = question
    mesh = init_device_mesh("cpu", tuple(sizes), mesh_dim_names=tuple(data + model))
    sub = [mesh[tuple(names) if len(names) > 1 else names[0]] for names in (model, data)]
    full = torch.arange(float(product(shape))).view(shape)
    module = torch.nn.Module()
    module.weight = torch.nn.Parameter(distribute_tensor(full, sub[0], [Shard(dim) for dim in tp]))
    options = {"shard_placement_fn": lambda parameter: Shard(fsdp)} if fsdp else {}
    fully_shard(module, mesh=sub[1], **options)
    local = module.weight.to_local().detach()
    start = divmod(int(local[0, 0]), shape[1]) if local.numel() else (0, 0)
    box = full[start[0]:start[0] + local.shape[0], start[1]:start[1] + local.shape[1]]
    if local.numel() and not torch.equal(box, local):
        raise SystemExit(f"rank {rank} of {question} holds no box: {local}")
    held = piece(local.shape, start) if local.numel() else {"shape": None, "start": None}
    return held, repr(module.weight.placements), repr(module.weight.device_mesh)


def ask_fsdp(rng):
    question = fsdp_question(rng)
    data, model, sizes, shape, tp, _ = question
    answers = on_ranks(product(sizes), lambda rank: hold(question, rank))
    given = {"mesh": {"names": data + model, "sizes": sizes}, "shape": shape,
             "placements": answers[0][1], "mesh_text": answers[0][2]}
    case = {"input": given, "output": [answer[0] for answer in answers]}
    if _StridedShard is None and 0 in tp:
        case["defect"] = "prints plain shards where TP cuts first"
    return case


# ---- texts ----

def mesh_to_json(mesh, names):
    return {"names": list(mesh.mesh_dim_names) if names else [f"dim_{i}" for i in range(mesh.ndim)],
            "sizes": list(mesh.mesh.shape), "ids": mesh.mesh.flatten().tolist()}


def random_mesh(rng):
    """A mesh, and whether its text says all of it: from 2.9 on ids are listed only in DETAIL."""
    sizes = random_sizes(rng, rng.randint(1, 3))
    named = rng.random() < 0.7
    names = tuple(rng.sample(NAMES, len(sizes))) if named else None
    detail = rng.random() < 0.4
    if detail:
        os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"
    else:
        os.environ.pop("TORCH_DISTRIBUTED_DEBUG", None)
    if (detail or RELEASE.startswith("2.4")) and rng.random() < 0.5:
        ids = torch.tensor(rng.sample(range(12), product(sizes))).view(sizes)
        mesh = DeviceMesh("cpu", ids, mesh_dim_names=names, _init_backend=False)
    else:
        ids = torch.arange(product(sizes)).view(sizes)
        mesh = DeviceMesh("cpu", ids, mesh_dim_names=names, _init_backend=False)
    return mesh, named


def texts_of(rng, mesh, named):
    """Texts of one random DTensor on a mesh, with what each says."""
    rank = rng.randint(1, 3)
    sizes = list(mesh.mesh.shape)
    shape = [rng.randint(1, 20) for _ in range(rank)]
    orders = random_orders(rng, range(len(sizes)), rank)
    placements = random_placements(rng, sizes, rank, orders)
    said = {"placements": [placement_to_json(p) for p in placements], "mesh": None, "shape": None}
    full = dict(said, mesh=mesh_to_json(mesh, named), shape=shape)
    spec = spec_of(mesh, placements, shape)
    local = torch.arange(float(rng.randint(0, 30)), requires_grad=rng.random() < 0.3)
    dtensor = tensor_of(local, spec)
    yield repr(placements), said
    yield f"placements={list(placements)}", said
    yield repr(spec), full
    yield repr(dtensor), dict(full, shape=None)
    if not any(isinstance(p, Partial) and p.reduce_op != "sum" for p in placements) or "P(" in str(spec):
        yield str(spec), dict(said, shape=shape)


def spec_module():
    for name in ("torch.distributed.tensor._dtensor_spec", "torch.distributed._tensor._dtensor_spec",
                 "torch.distributed._tensor.placement_types"):
        try:
            found = importlib.import_module(name)
        except ImportError:
            continue
        if hasattr(found, "DTensorSpec"):
            return found
    raise SystemExit("no DTensorSpec found")


def spec_of(mesh, placements, shape):
    module = spec_module()
    meta = module.TensorMeta(torch.Size(shape), (1,) * len(shape), torch.bfloat16)
    return module.DTensorSpec(mesh, placements, tensor_meta=meta)


def tensor_of(local, spec):
    try:
        from torch.distributed.tensor import DTensor
    except ImportError:
        from torch.distributed._tensor import DTensor
    try:
        return DTensor(local, spec, requires_grad=local.requires_grad)
    except TypeError:
        return DTensor(local, spec.mesh, spec.placements, shape=spec.tensor_meta.shape,
                       dtype=local.dtype, requires_grad=local.requires_grad, stride=spec.tensor_meta.stride)


def ordered_text(rng):
    """The string of a spec whose shards have an order of their own, from 2.10 on."""
    _dtensor_spec = spec_module()
    if not hasattr(_dtensor_spec, "ShardOrderEntry"):
        return None
    mesh, _ = random_mesh(rng)
    count = mesh.ndim
    order = rng.sample(range(count), count)
    entry = (_dtensor_spec.ShardOrderEntry(0, tuple(order)),)
    spec = _dtensor_spec.DTensorSpec(mesh, (Shard(0),) * count, shard_order=entry)
    numbers = [order.index(axis) for axis in range(count)]
    plain = numbers == list(range(count))
    said = [placement_to_json(Shard(0), None if plain else number) for number in numbers]
    return str(spec), {"placements": said, "mesh": None, "shape": None}


def ask_texts(rng, count):
    cases = []

    def body(rank):
        while rank == 0 and len(cases) < count:
            mesh, named = random_mesh(rng)
            cases.append(("mesh_text", {"text": repr(mesh)}, mesh_to_json(mesh, named)))
            for text, said in texts_of(rng, mesh, named):
                cases.append(("dtensor_text", {"text": text}, said))
            found = ordered_text(rng) if _StridedShard is not None else None
            if found:
                cases.append(("dtensor_text", {"text": found[0]}, found[1]))
        return None

    on_ranks(12, body)
    os.environ.pop("TORCH_DISTRIBUTED_DEBUG", None)
    return [dict(fn=fn, input=given, output=said) for fn, given, said in cases]


# ---- the file ----

def record(rng, count):
    cases = ask_texts(rng, count)
    cases += [dict(fn="offsets", **ask_offsets(rng)) for _ in range(count)]
    if hasattr(_utils, "_get_shard_size_and_offsets") and not hasattr(_utils, "_explicit_order_placements"):
        cases += [dict(fn="offsets", **ask_side_by_side(rng)) for _ in range(count // 4)]
    cases += [dict(fn="local_tensors", **ask_fsdp(rng)) for _ in range(count // 4)]
    for number, case in enumerate(cases):
        case["id"] = f"{RELEASE}/{case['fn']}/{number}"
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True)
    parser.add_argument("--add", action="store_true", help="keep what other releases answered in the file")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    file = {"releases": {}, "cases": []}
    if options.add and os.path.exists(options.out):
        with open(options.out, encoding="utf-8") as old:
            file = json.load(old)
    cases = record(random.Random(options.seed), options.count)
    file["releases"][RELEASE] = {"seed": options.seed, "count": options.count}
    file["cases"] = [case for case in file["cases"] if not case["id"].startswith(RELEASE + "/")] + cases
    defects = sum("defect" in case for case in cases)
    print(f"known differences of torch {RELEASE}: {defects} of {len(cases)} cases")
    with open(options.out, "w", encoding="utf-8") as out:
        out.write('{"releases": %s, "cases": [\n' % json.dumps(file["releases"]))
        out.write(",\n".join(json.dumps(case, separators=(",", ":")) for case in file["cases"]))
        out.write("\n]}\n")


if __name__ == "__main__":
    main()
