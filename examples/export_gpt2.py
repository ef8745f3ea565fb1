"""Exports a training step of a small GPT for 8 devices, and where its training starts. Needs JAX, once; the files are
kept. The devices need not be there.

usage: export_gpt2.py FOLDER

gpt2_step.bin            step(params, tokens) -> loss, params; params are donated
gpt2_start.safetensors   params, and a batch of tokens
"""
import pathlib
import sys

import jax
import jax.numpy as jnp
from jax import export
from jax.sharding import AbstractMesh, NamedSharding
from jax.sharding import PartitionSpec as P
from safetensors.numpy import save_file

LAYERS, WIDTH, HEADS, VOCABULARY, BATCH, LENGTH = 2, 16, 4, 64, 8, 16
MESH = AbstractMesh((2, 4), ("data", "model"))
LAYER = {"ln1": (P(), (WIDTH,)), "qkv": (P(None, None, "model"), (3, WIDTH, WIDTH)),
         "out": (P("model", None), (WIDTH, WIDTH)), "ln2": (P(), (WIDTH,)),
         "up": (P(None, "model"), (WIDTH, 4 * WIDTH)), "down": (P("model", None), (4 * WIDTH, WIDTH))}
PARAMS = {"wte": (P("model", None), (VOCABULARY, WIDTH)), "wpe": (P(), (LENGTH, WIDTH)), "ln": (P(), (WIDTH,)),
          "layers": [LAYER] * LAYERS}


def norm(x, scale):
    return scale * (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def attention(layer, x):
    q, k, v = jnp.einsum("bsd,pde->pbse", x, layer["qkv"]).reshape(3, *x.shape[:2], HEADS, WIDTH // HEADS)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(WIDTH // HEADS)
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape) @ layer["out"]


def loss(params, tokens):
    x = params["wte"][tokens] + params["wpe"]
    for layer in params["layers"]:
        x = x + attention(layer, norm(x, layer["ln1"]))
        x = x + jax.nn.gelu(norm(x, layer["ln2"]) @ layer["up"]) @ layer["down"]
    logits = (norm(x, params["ln"]) @ params["wte"].T)[:, :-1]
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], -1).mean()


def step(params, tokens):
    value, gradients = jax.value_and_grad(loss)(params, tokens)
    return value, jax.tree.map(lambda p, g: p - 0.5 * g, params, gradients)


def is_row(entry):
    return isinstance(entry, tuple)


def main(folder):
    shardings = jax.tree.map(lambda row: NamedSharding(MESH, row[0]), PARAMS, is_leaf=is_row)
    batch = NamedSharding(MESH, P("data"))
    trainer = jax.jit(step, in_shardings=(shardings, batch), out_shardings=(NamedSharding(MESH, P()), shardings),
                      donate_argnums=0)
    params = jax.tree.map(lambda row: jax.ShapeDtypeStruct(row[1], jnp.float32), PARAMS, is_leaf=is_row)
    tokens = jax.ShapeDtypeStruct((BATCH, LENGTH), jnp.int32)
    (folder / "gpt2_step.bin").write_bytes(export.export(trainer)(params, tokens).serialize())

    keys = iter(jax.random.split(jax.random.key(0), 100))
    start = jax.tree.map(lambda row: jnp.ones(row[1]) if len(row[1]) == 1 else 0.2 * jax.random.normal(next(keys), row[1]),
                         PARAMS, is_leaf=is_row)
    tensors = {"params/" + jax.tree_util.keystr(path, simple=True, separator="/"): jax.device_get(leaf)
               for path, leaf in jax.tree_util.tree_leaves_with_path(start)}
    tensors["tokens"] = jax.device_get(jax.random.randint(next(keys), (BATCH, LENGTH), 0, VOCABULARY, jnp.int32))
    save_file(tensors, folder / "gpt2_start.safetensors")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
