"""More functions that people partition: steps of training and decoding, odd sizes, windows, manual loops.

They are added to CASES of partition_cases.py.
"""
import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

from partition_cases import I, arg, case, conv, manual, mesh_case


def window(x, init, body, sizes, strides, padding):
    return lax.reduce_window(x, init, body, (1,) + sizes + (1,), (1,) + strides + (1,), padding)


# ---- windows and convolutions ----
@case(arg(4, 18, 16, 4))
def pools(x):
    return (window(x, -jnp.inf, lax.max, (3, 3), (2, 2), "SAME"), window(x, 0.0, lax.add, (5, 5), (1, 1), "SAME"),
            window(x, 0.0, lax.add, (2, 3), (2, 3), "VALID"), window(x, jnp.inf, lax.min, (4, 4), (3, 3), "VALID"))


@case(arg(4, 16, 12, 8))
def pooling_gradients(x):
    loss = lambda init, body: lambda x: jnp.sum(window(x, init, body, (3, 3), (2, 2), "SAME") ** 2)
    return jax.grad(loss(-jnp.inf, lax.max))(x), jax.grad(loss(0.0, lax.add))(x)


@case(arg(4, 16, 16, 8), arg(3, 3, 8, 8), rtol=1e-3)
def strided_gradient(x, w):
    f = lambda x, w: jnp.sum(jnp.tanh(conv(x, w, window_strides=(2, 2), padding="SAME")))
    return jax.grad(f, argnums=(0, 1))(x, w)


@case(arg(4, 8, 8, 16), arg(3, 3, 1, 32), rtol=1e-3)
def depthwise_gradient(x, w):
    f = lambda x, w: jnp.sum(jnp.tanh(conv(x, w, window_strides=(1, 1), padding="SAME", feature_group_count=16)))
    return jax.grad(f, argnums=(0, 1))(x, w)


@case(arg(4, 8, 8, 6), arg(3, 3, 6, 8))
def conv_transposed(x, w):
    return lax.conv_transpose(x, w, (2, 2), "SAME"), lax.conv_transpose(x, w, (2, 3), "VALID")


@case(arg(8, 10, 4), arg(3, 4, 8))
def conv_batch_groups(x, w):
    return lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"), batch_group_count=4)


@case(arg(6, 8, 8), rtol=1e-3)
def resized(x):
    return jax.image.resize(x, (6, 12, 5), "linear"), jax.image.resize(x, (6, 4, 16), "nearest")


@case(arg(4, 16, 8))
def shifted_windows(x):
    y = jnp.roll(x, -2, 1).reshape(4, 4, 4, 8)
    s = jnp.einsum("bwqd,bwkd->bwqk", y, y)
    return jnp.roll((jax.nn.softmax(s) @ y).reshape(4, 16, 8), 2, 1)


# ---- odd sizes ----
@case(arg(10, 12), arg(12, 14))
def odd_results(a, b):
    c = jnp.tanh(a @ b)
    return c, c.sum(0), c.T @ c, jax.nn.softmax(c, 0), c / c.sum(1, keepdims=True)


@case(arg(5, 7, 3))
def odd_moves(x):
    return (jnp.cumsum(x, 1), jnp.sort(x, 0), x.reshape(35, 3), x.transpose(2, 1, 0).reshape(21, 5), x[1:4, ::2],
            jnp.flip(x, 1), jnp.pad(x, ((1, 0), (0, 2), (1, 1))), x.argmax(1), jnp.roll(x, 2, 1), jnp.tile(x, (1, 2, 1)),
            lax.top_k(x.swapaxes(1, 2), 2))


@case(arg(5, 12), arg(12, 7), arg(7, 12), rtol=2e-3)
def odd_gradient(x, a, b):
    f = lambda a, b: jnp.mean(jax.nn.gelu(x @ a) @ b) + jnp.sum(jax.nn.log_softmax((x @ a)[:, :5], 0) ** 2)
    return jax.value_and_grad(f, argnums=(0, 1))(a, b)


@case(arg(6, 5, 10, 3), arg(3, 3, 3, 5), rtol=1e-3)
def odd_conv_gradient(x, w):
    f = lambda x, w: jnp.sum(jnp.tanh(conv(x, w, window_strides=(1, 2), padding="SAME")) ** 2)
    return jax.grad(f, argnums=(0, 1))(x, w)


@case(arg(13, 6))
def odd_scans(x):
    pair = lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1])
    return (lax.associative_scan(jnp.add, x), lax.associative_scan(jnp.maximum, x, axis=1, reverse=True),
            lax.associative_scan(pair, (x * 0.5, x)))


# ---- elements chosen ----
@case(arg(20, 8), arg(5, dtype=I))
def taken_by_mode(x, i):
    i = i - 3
    return (x.at[i].get(mode="fill", fill_value=7.0), x.at[i].get(mode="clip"), jnp.take(x, i, axis=0, mode="wrap"))


@case(arg(4, 12, 8), arg(4, 5, dtype=I), arg(4, 5, 8))
def batched_indices(x, i, u):
    i = i % 12
    return (jax.vmap(lambda a, k: a[k])(x, i), jnp.take_along_axis(x, i[..., None], 1),
            jax.vmap(lambda a, k, b: a.at[k].add(b))(x, i, u), jax.vmap(lambda a, k, b: a.at[k].max(b))(x, i, u))


@case(arg(24, 10))
def rows_chosen(x):
    i = jnp.arange(4)[:, None] + jnp.arange(3)
    return (x[i], x[:, i], x[-5:], x[::5], x[:, [3, 1, 7]], x[jnp.array([0, 23, 5])], x.at[3:7].set(0), x.at[::2, 1:].add(1),
            jnp.delete(x, 3, axis=0), jnp.insert(x, 2, 1.0, axis=1))


@case(arg(12, 8), arg(12, 8, dtype=I))
def masked(x, m):
    m = m % 2 == 0
    return (jnp.sum(x, where=m), jnp.max(x, 0, where=m, initial=-9.0), jnp.nonzero(m, size=10)[0], jnp.argwhere(m, size=5),
            jnp.cumsum(m, 1), x[m.argmax(0), jnp.arange(8)])


@case(arg(12, 8, dtype=I))
def sets(x):
    return (jnp.unique(x % 7, size=9), jnp.sort(x.ravel())[:5], jnp.digitize(x, jnp.arange(0, 100, 10)),
            jnp.isin(x, jnp.arange(0, 50, 3)), lax.sort((x[:, 0], x[:, 1]), num_keys=2))


# ---- steps ----
@case(arg(8, 12, dtype=I), arg(20, 16), arg(3, 16, 48), arg(3, 16, 16), arg(3, 16, 32), arg(3, 32, 16), rtol=3e-3)
def transformer_layers(tokens, table, qkv, out, up, down):
    def layer(h, w):
        qkv, out, up, down = w
        heads = lambda t: t.reshape(8, 12, 4, 4).transpose(0, 2, 1, 3)
        q, k, v = map(heads, jnp.split(h @ qkv, 3, -1))
        s = jnp.where(jnp.tril(jnp.ones((12, 12), bool)), q @ k.swapaxes(2, 3) / 2, -1e9)
        h = h + (jax.nn.softmax(s) @ v).transpose(0, 2, 1, 3).reshape(8, 12, 16) @ out
        n = (h - h.mean(-1, keepdims=True)) * lax.rsqrt(h.var(-1, keepdims=True) + 1e-5)
        return h + jax.nn.gelu(n @ up) @ down, None

    def loss(p):
        h, _ = lax.scan(jax.checkpoint(layer), p[0][tokens % 20], p[1:])
        return -jnp.mean(jax.nn.log_softmax(h @ p[0].T)[..., 0])
    return jax.value_and_grad(loss)(tuple(0.3 * p for p in (table, qkv, out, up, down)))


@case(arg(8, 10, 12), arg(12, 48), arg(12, 48), rtol=2e-3)
def lstm_gradient(x, wx, wh):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ wx + h @ wh, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    zeros = jnp.zeros((8, 12))
    loss = lambda x: jnp.sum(lax.scan(step, (zeros, zeros), x.swapaxes(0, 1))[1] ** 2)
    return jax.value_and_grad(loss)(x)


@case(arg(4, 16, 16, 3), arg(3, 3, 3, 8), arg(3, 3, 8, 8), arg(8,), arg(8,), arg(512, 10), rtol=3e-3)
def image_step(x, w1, w2, scale, shift, head):
    def loss(p):
        w1, w2, scale, shift, head = p
        h = conv(x, w1, window_strides=(1, 1), padding="SAME")
        h = (h - h.mean((0, 1, 2))) * lax.rsqrt(h.var((0, 1, 2)) + 1e-5) * scale + shift
        h = conv(jax.nn.relu(h), w2, window_strides=(1, 1), padding="SAME") + h
        h = window(h, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID")
        return jnp.mean((h.reshape(4, -1) @ head) ** 2)
    return jax.value_and_grad(loss)((w1, w2, scale, shift, head))


@case(arg(16, 12), arg(12, 6), arg(6, 12, 16), arg(6, 16, 12), rtol=1e-3)
def routed_experts(x, gate, up, down):
    p = jax.nn.softmax(x @ gate)
    chosen = jax.nn.one_hot(jnp.argmax(p, -1), 6)
    place = jnp.cumsum(chosen, 0) * chosen - 1
    slots = jax.nn.one_hot(place.astype(I), 4) * chosen[..., None]
    h = jax.nn.relu(jnp.einsum("ecd,edf->ecf", jnp.einsum("nec,nd->ecd", slots, x), up))
    return jnp.einsum("nec,ecd->nd", slots * p.max(-1)[:, None, None], jnp.einsum("ecf,efd->ecd", h, down))


@case(arg(6, 16, 8), arg(6, 16, 8), arg(6, 16, 8), rtol=1e-3)
def attention_in_blocks(q, k, v):
    def block(state, kv):
        m, n, o = state
        s = jnp.einsum("bqd,bkd->bqk", q, kv[0])
        top = jnp.maximum(m, s.max(-1))
        p, old = jnp.exp(s - top[..., None]), jnp.exp(m - top)
        return (top, n * old + p.sum(-1), o * old[..., None] + p @ kv[1]), None
    blocks = lambda t: t.reshape(6, 4, 4, 8).swapaxes(0, 1)
    start = (jnp.full((6, 16), -jnp.inf), jnp.zeros((6, 16)), jnp.zeros_like(q))
    (_, n, o), _ = lax.scan(block, start, (blocks(k), blocks(v)))
    return o / n[..., None]


@case(arg(4, 8), arg(30, 8), arg(8, 30), rtol=1e-3)
def greedy_decoding(h, table, head):
    def step(s):
        i, h, out = s
        t = jnp.argmax(h @ head, -1)
        return i + 1, jnp.tanh(h + table[t]), out.at[:, i].set(t)
    return lax.while_loop(lambda s: s[0] < 6, step, (0, h, jnp.zeros((4, 6), I)))


@case(arg(12, 10), rtol=2e-3)
def higher_derivatives(x):
    f = lambda v: jnp.sum(jnp.tanh(x @ v) ** 3)
    return jax.hessian(f)(x[0]), jax.jacfwd(lambda v: x @ jnp.sin(v))(x[1]), jax.jvp(f, (x[0],), (x[1],))[1]


# ---- manual computations ----
@mesh_case(arg(24, 16), arg(16, 24))
def manual_ring_product(mesh):
    def body(x, w):
        n, i = lax.axis_size("x"), lax.axis_index("x")

        def step(k, state):
            out, x = state
            out = lax.dynamic_update_slice(out, x @ w, ((i - k) % n * x.shape[0], 0))
            return out, lax.ppermute(x, "x", [(a, (a + 1) % n) for a in range(n)])
        return lax.fori_loop(0, n, step, (jnp.zeros((x.shape[0] * n, w.shape[1])), x))[0]
    return manual(mesh, body, (P("x"), P(None, "x")), P(None, "x"))


@mesh_case(arg(24, 16))
def manual_others(mesh):
    def body(x):
        n = lax.axis_size("x")
        return (lax.pmin(x, "x"), lax.all_gather(x, "x"), lax.psum_scatter(jnp.tile(x[None], (n, 1, 1)), "x"),
                lax.pshuffle(x, "x", list(range(n))[::-1]), jnp.where(lax.axis_index("x") == 0, x, 0))
    return manual(mesh, body, P("x"), (P(), P(), P("x"), P("x"), P("x")))


@mesh_case(arg(24, 12), arg(12, 24), rtol=2e-3)
def manual_scan_gradient(mesh):
    def body(x, w):
        step = lambda h, _: (jnp.tanh(lax.psum(h @ w, "x") @ w.T * 0.1), h.sum())
        return lax.scan(step, x, None, length=3)[0]
    f = manual(mesh, body, (P(None, "x"), P("x")), P(None, "x"))
    return lambda x, w: jax.grad(lambda x, w: jnp.sum(f(x, w) ** 2), argnums=(0, 1))(x, w)


@mesh_case(arg(24, 12))
def manual_branches(mesh):
    def body(x):
        sums, tops = lambda x: lax.psum(x, "x"), lambda x: lax.pmax(x, "x") * 2
        return lax.cond(lax.psum(x.sum(), "x") > 0, sums, tops, x)
    return manual(mesh, body, P("x"), P())


@mesh_case(arg(8, 24, 8), arg(8, 8), rtol=1e-3)
def manual_pipeline(mesh):
    def body(x, w):
        n, i = lax.axis_size("x"), lax.axis_index("x")

        def step(state, t):
            y = jnp.tanh(jnp.where(i == 0, x[t % 8], state[0]) @ w)
            return (lax.ppermute(y, "x", [(k, (k + 1) % n) for k in range(n)]), y), y.sum()
        (_, last), sums = lax.scan(step, (jnp.zeros((24, 8)), jnp.zeros((24, 8))), jnp.arange(8))
        return lax.psum(jnp.where(i == n - 1, last, 0), "x"), lax.psum(sums, "x")
    return manual(mesh, body, (P(), P()), (P(), P()))
