"""Exports the functions that run_export.c and train_mlp.c call. Needs JAX, once; the files are kept.

usage: export_mlp.py FOLDER

xor.bin       predict(x), its weights inside: a network of 2, 16 and 1 units that has learned exclusive or
xor_step.bin  step(params, x, y) -> loss, params: a step of its training; params are donated
"""
import pathlib
import sys

import jax
import jax.numpy as jnp
from jax import export


def predict(params, x):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return jax.nn.sigmoid(hidden @ params["w2"] + params["b2"])


def loss(params, x, y):
    p = predict(params, x)
    return -jnp.mean(y * jnp.log(p) + (1 - y) * jnp.log(1 - p))


def step(params, x, y):
    value, gradients = jax.value_and_grad(loss)(params, x, y)
    return value, jax.tree.map(lambda p, g: p - 0.5 * g, params, gradients)


def train(x, y):
    first, second = jax.random.split(jax.random.key(0))
    params = {"w1": jax.random.normal(first, (2, 16)), "b1": jnp.zeros(16),
              "w2": jax.random.normal(second, (16, 1)), "b2": jnp.zeros(1)}
    for _ in range(500):
        _, params = jax.jit(step)(params, x, y)
    return params


def main(folder):
    x = jnp.array([[0, 0], [0, 1], [1, 0], [1, 1]], jnp.float32)
    y = jnp.array([[0], [1], [1], [0]], jnp.float32)
    params = train(x, y)
    trained = jax.jit(lambda x: predict(params, x))
    (folder / "xor.bin").write_bytes(export.export(trained)(x).serialize())
    trainer = jax.jit(step, donate_argnums=0)
    (folder / "xor_step.bin").write_bytes(export.export(trainer)(params, x, y).serialize())


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
