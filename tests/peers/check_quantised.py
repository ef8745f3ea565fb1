"""Quantised models, adapters and optimisers, cut by `tessera shard`, beside NumPy.

usage: check_quantised.py --tessera COMMAND [--seed N]

A small Llama is quantised in the form of each library, and cut for 2 and 4 ranks. What a rank holds is
dequantised alone, as an engine would do it, and must be the rank's slice of the whole weight dequantised:
columns of outputs between heads, rows of inputs, key and value heads that several ranks share.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import ml_dtypes
import numpy as np
import safetensors.numpy

# The library looks there for the types that NumPy itself lacks.
np.float8_e4m3fn = ml_dtypes.float8_e4m3fn

HIDDEN, INTER, HEADS, KV_HEADS, DIM = 512, 1024, 8, 2, 64
GROUP = 64
CONFIG = {"model_type": "llama", "hidden_size": HIDDEN, "intermediate_size": INTER, "num_attention_heads": HEADS,
          "num_key_value_heads": KV_HEADS, "head_dim": DIM, "num_hidden_layers": 1, "vocab_size": 256}
LAYERS = {"self_attn.q_proj": (HEADS * DIM, HIDDEN), "self_attn.k_proj": (KV_HEADS * DIM, HIDDEN),
          "self_attn.v_proj": (KV_HEADS * DIM, HIDDEN), "self_attn.o_proj": (HIDDEN, HEADS * DIM),
          "mlp.gate_proj": (INTER, HIDDEN), "mlp.up_proj": (INTER, HIDDEN), "mlp.down_proj": (HIDDEN, INTER)}
AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]


def slice_of(layer, weight, rank, ranks):
    """What a tensor-parallel engine loads of a weight (out, in)."""
    out, into = weight.shape
    if layer.endswith(("o_proj", "down_proj")):
        return weight[:, into * rank // ranks:into * (rank + 1) // ranks]
    if layer.endswith(("k_proj", "v_proj")) and ranks > KV_HEADS:
        head = rank * KV_HEADS // ranks
        return weight[head * DIM:(head + 1) * DIM]
    return weight[out * rank // ranks:out * (rank + 1) // ranks]


def pack(values, axis, order=range(8)):
    """Eight numbers of 4 bits along an axis in a word."""
    values = np.moveaxis(values, axis, -1).astype(np.uint32)
    values = values.reshape(*values.shape[:-1], -1, 8)[..., list(order)]
    words = sum(values[..., k] << np.uint32(4 * k) for k in range(8)).astype(np.uint32).view(np.int32)
    return np.ascontiguousarray(np.moveaxis(words, -1, axis))


def unpack(words, axis, order=range(8)):
    words = np.moveaxis(words, axis, -1).view(np.uint32) if axis in (-1, words.ndim - 1) else np.moveaxis(
        words, axis, -1).copy().view(np.uint32)
    values = np.empty((*words.shape, 8), np.uint32)
    for k, at in enumerate(order):
        values[..., at] = words >> np.uint32(4 * k) & 15
    return np.moveaxis(values.reshape(*words.shape[:-1], -1), -1, axis).astype(np.float32)


def nibbles(data):
    """Two numbers of 4 bits in each byte along the last axis."""
    return np.stack([data & 15, data >> 4], -1).reshape(*data.shape[:-1], -1).astype(np.float32)


def numbers(rng, out, into, group=GROUP, high=16):
    return (rng.integers(0, high, (out, into)), rng.random((out, into // group), np.float32) + 0.5,
            rng.integers(0, 16, (out, into // group)))


# Each form: a function that makes the tensors of a layer, and one that dequantises them to (out, in).
def gptq(rng, out, into, act_order=False):
    q, scales, zeros = numbers(rng, out, into)
    index = np.arange(into, dtype=np.int32) // GROUP
    if act_order:
        rng.shuffle(index)
    return {"qweight": pack(q.T, 0), "qzeros": pack(zeros.T, 1), "scales": scales.T.astype(np.float16).copy(),
            "g_idx": index, "bias": rng.random(out).astype(np.float16)}


def gptq_back(t):
    q, zeros, index = unpack(t["qweight"], 0), unpack(t["qzeros"], 1), t["g_idx"]
    return ((q - zeros[index]) * t["scales"].astype(np.float32)[index]).T


def awq(rng, out, into):
    q, scales, zeros = numbers(rng, out, into)
    return {"qweight": pack(q.T, 1, AWQ_ORDER), "qzeros": pack(zeros.T, 1, AWQ_ORDER),
            "scales": scales.T.astype(np.float16).copy()}


def awq_back(t):
    q, zeros = unpack(t["qweight"], 1, AWQ_ORDER), unpack(t["qzeros"], 1, AWQ_ORDER)
    scales = t["scales"].astype(np.float32)
    return ((q - zeros.repeat(GROUP, 0)) * scales.repeat(GROUP, 0)).T


def packed(rng, out, into):
    q, scales, zeros = numbers(rng, out, into)
    return {"weight_packed": pack(q, 1), "weight_scale": scales, "weight_zero_point": pack(zeros, 0),
            "weight_shape": np.array([out, into])}


def packed_back(t):
    q, zeros = unpack(t["weight_packed"], 1), unpack(t["weight_zero_point"], 0)
    return (q - zeros.repeat(GROUP, 1)) * t["weight_scale"].repeat(GROUP, 1)


def fp8(shape):
    def make(rng, out, into):
        sizes = {"tensor": (), "channel": (out, 1), "block": (-(-out // 128), -(-into // 128))}[shape]
        name = "weight_scale_inv" if shape == "block" else "weight_scale"
        return {"weight": rng.random((out, into), np.float32).astype(ml_dtypes.float8_e4m3fn),
                name: np.asarray(rng.random(sizes, np.float32) + 0.5, np.float32),
                "input_scale": np.ones((1,), np.float32)}

    def back(t):
        weight = t["weight"].astype(np.float32)
        if shape != "block":
            return weight * t["weight_scale"]
        # The engine allocates a scale for every block that it has begun.
        scale = t["weight_scale_inv"].repeat(128, 0).repeat(128, 1)
        return weight * scale[:weight.shape[0], :weight.shape[1]]
    return make, back


def nvfp4(rng, out, into):
    return {"weight": rng.integers(0, 256, (out, into // 2), np.uint8),
            "weight_scale": rng.random((out, into // 16), np.float32).astype(ml_dtypes.float8_e4m3fn),
            "weight_scale_2": np.float32([0.5]), "input_scale": np.float32([2])}


def nvfp4_back(t):
    return nibbles(t["weight"]) * t["weight_scale"].astype(np.float32).repeat(16, 1) * t["weight_scale_2"]


def mlx(rng, out, into):
    _, scales, zeros = numbers(rng, out, into)
    return {"weight": rng.integers(0, 2**32, (out, into // 8), np.uint32), "scales": scales,
            "biases": zeros.astype(np.float32)}


def mlx_back(t):
    return unpack(t["weight"], 1) * t["scales"].repeat(64, 1) + t["biases"].repeat(64, 1)


def int8(rng, out, into):
    return {"weight": rng.integers(-127, 128, (out, into), np.int8), "SCB": rng.random(out).astype(np.float32),
            "weight_format": np.zeros((), np.uint8)}


def torchao(rng, out, into):
    _, scales, zeros = numbers(rng, out, into)
    return {"_weight_qdata": rng.integers(0, 256, (out, into // 2), np.uint8), "_weight_scale": scales.T.copy(),
            "_weight_zero_point": zeros.T.astype(np.float32)}


def torchao_back(t):
    scale, zero = t["_weight_scale"].T, t["_weight_zero_point"].T
    return (nibbles(t["_weight_qdata"]) - zero.repeat(GROUP, 1)) * scale.repeat(GROUP, 1)


FORMS = {"gptq": (gptq, gptq_back), "gptq by activations": (lambda *a: gptq(*a, act_order=True), gptq_back),
         "awq": (awq, awq_back), "compressed tensors": (packed, packed_back), "fp8 tensor": fp8("tensor"),
         "fp8 channel": fp8("channel"), "nvfp4": (nvfp4, nvfp4_back), "mlx": (mlx, mlx_back),
         "bitsandbytes 8": (int8, lambda t: t["weight"] * (t["SCB"] / 127)[:, None]),
         "torchao int4": (torchao, torchao_back)}


def write_model(folder, tensors):
    folder.mkdir()
    safetensors.numpy.save_file({name: np.ascontiguousarray(value) for name, value in tensors.items()},
                                folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(CONFIG))


def shard(tessera, source, target, ranks, fails=None, axes="tp"):
    mesh = ",".join(f"{axis}={size}" for axis, size in zip(axes.split("+"), ranks if isinstance(ranks, tuple) else [ranks]))
    run = subprocess.run([tessera, "shard", source, target, "--mesh", mesh, "--preset", f"llama:{axes}", "--format",
                          "ranks"], capture_output=True, text=True, check=False)
    if fails:
        assert run.returncode and fails in run.stderr, run.stderr
        return None
    assert run.returncode == 0, run.stderr
    read = {}
    for path in sorted(target.glob("*rank*.safetensors")):
        rank = int(path.name.split("-rank-")[1].split("-")[0])
        read.setdefault(rank, {}).update(safetensors.numpy.load_file(path))
    return [read[rank] for rank in sorted(read)]


def members(tensors, layer):
    prefix = f"model.layers.0.{layer}."
    return {name[len(prefix):]: value for name, value in tensors.items() if name.startswith(prefix)}


def check_form(tessera, folder, rng, make, back):
    tensors = {f"model.layers.0.{layer}.{name}": value for layer, shape in LAYERS.items()
               for name, value in make(rng, *shape).items()}
    write_model(folder / "model", tensors)
    for ranks in (2, 4):
        for rank, own in enumerate(shard(tessera, folder / "model", folder / f"tp{ranks}", ranks)):
            for layer in LAYERS:
                whole = back(members(tensors, layer))
                part = back(members(own, layer))
                np.testing.assert_array_equal(part, slice_of(layer, whole, rank, ranks), f"{layer} {rank}/{ranks}")


# ---- blocks of 128, the heads of 64 ----
def check_fp8_blocks(tessera, folder, rng):
    make, back = fp8("block")
    shapes = {"mlp.gate_proj": (INTER, HIDDEN), "mlp.down_proj": (HIDDEN, INTER), "self_attn.q_proj": LAYERS[
        "self_attn.q_proj"]}
    tensors = {f"model.layers.0.{layer}.{name}": value for layer, shape in shapes.items()
               for name, value in make(rng, *shape).items()}
    write_model(folder / "model", tensors)
    for rank, own in enumerate(shard(tessera, folder / "model", folder / "tp4", 4)):
        for layer in shapes:
            np.testing.assert_array_equal(back(members(own, layer)),
                                          slice_of(layer, back(members(tensors, layer)), rank, 4), layer)
    shard(tessera, folder / "model", folder / "tp8", 8, fails="through one of the blocks of 128")


# ---- adapters: the product of both factors is the rank's slice of the whole product ----
def check_lora(tessera, folder, rng):
    tensors = {}
    for layer, (out, into) in LAYERS.items():
        prefix = f"base_model.model.model.layers.0.{layer}."
        tensors[prefix + "lora_A.weight"] = rng.integers(-8, 8, (8, into)).astype(np.float32)
        tensors[prefix + "lora_B.weight"] = rng.integers(-8, 8, (out, 8)).astype(np.float32)
    write_model(folder / "model", tensors)
    for ranks in (2, 4):
        for rank, own in enumerate(shard(tessera, folder / "model", folder / f"tp{ranks}", ranks)):
            for layer in LAYERS:
                prefix = f"base_model.model.model.layers.0.{layer}."
                a, b = prefix + "lora_A.weight", prefix + "lora_B.weight"
                np.testing.assert_array_equal(own[b] @ own[a], slice_of(layer, tensors[b] @ tensors[a], rank, ranks))


# ---- optimisers: an update of the rank's parameter is the rank's slice of the whole update ----
def check_optimisers(tessera, folder, rng):
    tensors, plain = {}, {}
    for layer, shape in LAYERS.items():
        name = f"model.layers.0.{layer}.weight"
        weight = rng.random(shape, np.float32)
        plain[layer] = weight
        tensors.update({name: weight, f"optimizer.state.{name}.exp_avg": weight + 1,
                        f"optimizer.state.exp_avg_sq.{name}": weight + 2, f"{name}/fp32": weight + 3,
                        f"optim.state.{name}.exp_avg_sq_row": weight.mean(1),
                        f"optim.state.{name}.exp_avg_sq_col": weight.mean(0),
                        f"optim.state.{name}.step": np.float32([7]), f"state.{name}.state1": weight.astype(np.uint8),
                        f"state.{name}.absmax1": np.ones(weight.size // 256, np.float32)})
    write_model(folder / "model", tensors)
    for rank, own in enumerate(shard(tessera, folder / "model", folder / "tp4", 4)):
        for layer, weight in plain.items():
            name = f"model.layers.0.{layer}.weight"
            def part(whole): return slice_of(layer, whole, rank, 4)
            for key, value in ((name, weight), (f"optimizer.state.{name}.exp_avg", weight + 1),
                               (f"optimizer.state.exp_avg_sq.{name}", weight + 2), (f"{name}/fp32", weight + 3)):
                np.testing.assert_array_equal(own[key], part(value), key)
            row, col = own[f"optim.state.{name}.exp_avg_sq_row"], own[f"optim.state.{name}.exp_avg_sq_col"]
            np.testing.assert_array_equal(np.outer(row, col), part(np.outer(weight.mean(1), weight.mean(0))))
            assert own[f"state.{name}.state1"].shape == weight.shape
            assert own[f"optim.state.{name}.step"] == 7


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tessera", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", help="as other checks have it; here each form is asked once")
    args = parser.parse_args()
    args.tessera = str(pathlib.Path(args.tessera).resolve())
    checks = {name: lambda t, f, r, form=form: check_form(t, f, r, *form) for name, form in FORMS.items()}
    checks |= {"fp8 blocks": check_fp8_blocks, "lora": check_lora, "optimisers": check_optimisers}
    for name, check in checks.items():
        with tempfile.TemporaryDirectory() as folder:
            check(args.tessera, pathlib.Path(folder), np.random.default_rng(args.seed))
        print(f"{name}: ranks hold what engines load")


if __name__ == "__main__":
    main()
