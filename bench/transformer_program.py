"""Writes the training step of a transformer of 100 layers as JAX lowers it: about 50,000 ops.

usage: transformer_program.py FILE [--layers N]

Weights are cut over `model`, batches over `data`; the optimizer is Adam. Layers are written out, not scanned."""
import argparse
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=32"
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

BATCH, LENGTH, WIDTH, HEADS, HIDDEN, VOCABULARY = 32, 64, 128, 8, 512, 1024
SHAPES = {"q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "o": (WIDTH, WIDTH), "up": (WIDTH, HIDDEN),
          "gate": (WIDTH, HIDDEN), "down": (HIDDEN, WIDTH), "scale1": (WIDTH,), "bias1": (WIDTH,),
          "scale2": (WIDTH,), "bias2": (WIDTH,), "bias_up": (HIDDEN,), "bias_down": (WIDTH,)}
SPECS = {"q": P(None, "model"), "k": P(None, "model"), "v": P(None, "model"), "o": P("model", None),
         "up": P(None, "model"), "gate": P(None, "model"), "down": P("model", None), "bias_up": P("model")}


def norm(x, scale, bias):
    mean = jnp.mean(x, -1, keepdims=True)
    variance = jnp.mean(jnp.square(x - mean), -1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + bias


def rotate(x, angles):
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * jnp.cos(angles) - b * jnp.sin(angles), b * jnp.cos(angles) + a * jnp.sin(angles)], -1)


def attention(x, p, angles):
    def heads(y):
        return y.reshape(BATCH, LENGTH, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)
    q, k, v = (heads(x @ p[name]) for name in "qkv")
    q, k = rotate(q, angles), rotate(k, angles)
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(WIDTH // HEADS)
    mask = jnp.arange(LENGTH)[:, None] >= jnp.arange(LENGTH)[None, :]
    scores = jnp.where(mask, scores, -1e9)
    weights = jnp.exp(scores - jax.lax.stop_gradient(jnp.max(scores, -1, keepdims=True)))
    weights = weights / jnp.sum(weights, -1, keepdims=True)
    return jnp.einsum("bhqk,bhkd->bhqd", weights, v).transpose(0, 2, 1, 3).reshape(BATCH, LENGTH, WIDTH) @ p["o"]


def layer(x, p, angles):
    x = x + attention(norm(x, p["scale1"], p["bias1"]), p, angles)
    y = norm(x, p["scale2"], p["bias2"])
    up = y @ p["up"] + p["bias_up"]
    return x + (up * jnp.tanh(y @ p["gate"])) @ p["down"] + p["bias_down"]


def loss(params, tokens):
    x = params["embedding"][tokens]
    angles = jnp.arange(LENGTH)[:, None] / 10000 ** (jnp.arange(WIDTH // HEADS // 2)[None, :] / 8)
    for p in params["layers"]:
        x = layer(x, p, angles)
    logits = x @ params["embedding"].T
    chosen = jnp.take_along_axis(logits, tokens[..., None], -1)[..., 0]
    return jnp.mean(jnp.log(jnp.sum(jnp.exp(logits), -1)) - chosen)


def adam(p, m, v, g, step):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return p - 1e-3 * (m / (1 - 0.9 ** step)) / (jnp.sqrt(v / (1 - 0.999 ** step)) + 1e-8), m, v


def train_step(params, first, second, tokens, step):
    value, gradients = jax.value_and_grad(loss)(params, tokens)
    made = jax.tree.map(lambda *four: adam(*four, step), params, first, second, gradients)
    return [jax.tree.map(lambda _, three: three[i], params, made, is_leaf=None) for i in range(3)], value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--layers", type=int, default=100)
    options = parser.parse_args()
    mesh = Mesh(np.array(jax.devices()).reshape(8, 4), ("data", "model"))
    one = {name: jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, SPECS.get(name, P())))
           for name, shape in SHAPES.items()}
    table = jax.ShapeDtypeStruct((VOCABULARY, WIDTH), jnp.float32, sharding=NamedSharding(mesh, P("model", None)))
    params = {"embedding": table, "layers": [one] * options.layers}
    tokens = jax.ShapeDtypeStruct((BATCH, LENGTH), jnp.int32, sharding=NamedSharding(mesh, P("data", None)))
    step = jax.ShapeDtypeStruct((), jnp.float32)
    text = jax.jit(train_step).lower(params, params, params, tokens, step).as_text()
    made = options.file.with_suffix(".part")
    made.write_text(text)
    made.rename(options.file)


if __name__ == "__main__":
    main()
