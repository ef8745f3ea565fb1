"""Models as their frameworks write them, cut for ranks and mapped, beside NumPy.

usage: check_families.py --tessera COMMAND [--seed N] [--count N]

A random small model of a family (Llama and its like, Phi-3, Mixtral and Qwen with experts, DeepSeek, GPT-2,
GPT-NeoX, Falcon, BERT) is written by the safetensors library and cut by the family's preset for some number of tensor-parallel
ranks, and anew for another: each rank must hold what a model of so many ranks computes with, taken from the
arrays by hand, tensor by tensor. Ready-made maps must make what NumPy makes, and their way back the model.
"""
import json

import ml_dtypes
import numpy
from safetensors.numpy import load_file, save_file

import cases


# ---- what rank r of n holds ----

def whole(a, r, n):
    return a


def rows(a, r, n):
    size = len(a) // n
    return a[r * size:(r + 1) * size]


def columns(a, r, n):
    size = a.shape[-1] // n
    return a[..., r * size:(r + 1) * size]


def shared(heads):
    """Rows of heads of keys or values: with more ranks than heads, neighbours hold the same one."""
    def cut(a, r, n):
        if n <= heads:
            return rows(a, r, n)
        size = len(a) // heads
        head = r // (n // heads)
        return a[head * size:(head + 1) * size]
    return cut


def fused(dim, *parts):
    """Parts of a dimension, (size, cut) each, one behind the other."""
    def cut(a, r, n):
        pieces = numpy.split(numpy.moveaxis(a, dim, 0), numpy.cumsum([size for size, _ in parts])[:-1])
        return numpy.moveaxis(numpy.concatenate([part(p, r, n) for p, (_, part) in zip(pieces, parts)]), 0, dim)
    return cut


class Model:
    def __init__(self, rng, preset, **config):
        self.rng, self.preset, self.config = rng, preset, config
        self.dtype = rng.choice([ml_dtypes.bfloat16, numpy.float32, numpy.float16])
        self.tensors, self.cuts, self.maps = {}, {}, []

    def add(self, name, shape, cut):
        count = int(numpy.prod(shape, dtype=int))
        data = self.rng.randbytes(count * numpy.dtype(self.dtype).itemsize)
        self.tensors[name] = numpy.frombuffer(data, self.dtype).reshape(shape)
        self.cuts[name] = cut

    def linear(self, name, outputs, inputs, cut, bias=False):
        self.add(name + ".weight", (outputs, inputs), cut)
        if bias:
            self.add(name + ".bias", (outputs,), whole if cut is columns else cut)

    def ranks(self, r, n):
        return {name: self.cuts[name](array, r, n) for name, array in self.tensors.items()}


# ---- families ----

class Sizes:
    """Heads, of which a few serve keys and values, and what else a transformer is made of."""

    def __init__(self, rng):
        self.heads = rng.choice([4, 8, 16])
        self.kv = rng.choice([k for k in (1, 2, 4, 8, 16) if k <= self.heads])
        self.dim = rng.choice([2, 4, 6])
        self.hidden = 16 * rng.choice([1, 2, 3])
        self.inner = 16 * rng.choice([1, 2, 3])
        self.vocab = 16 * rng.choice([1, 3, 5])
        self.layers = rng.choice([1, 2])

    def config(self):
        return {"num_attention_heads": self.heads, "num_key_value_heads": self.kv, "head_dim": self.dim,
                "hidden_size": self.hidden, "intermediate_size": self.inner, "vocab_size": self.vocab,
                "num_hidden_layers": self.layers}


def decoder(rng, preset, feed, attention=None, s=None, **config):
    """Llama's frame around attention and feed-forward of some kind."""
    s = s or Sizes(rng)
    m = Model(rng, preset, **s.config(), **config)
    m.s, m.bias, m.norms = s, rng.random() < 0.3, rng.random() < 0.3
    m.add("model.embed_tokens.weight", (s.vocab, s.hidden), rows)
    for n in range(s.layers):
        at = "model.layers.%d" % n
        (attention or apart)(m, at + ".self_attn")
        feed(m, at)
        m.add(at + ".input_layernorm.weight", (s.hidden,), whole)
        m.add(at + ".post_attention_layernorm.weight", (s.hidden,), whole)
    m.add("model.norm.weight", (s.hidden,), whole)
    if rng.random() < 0.7:
        m.add("lm_head.weight", (s.vocab, s.hidden), rows)
    return m


def apart(m, at):
    s = m.s
    m.linear(at + ".q_proj", s.heads * s.dim, s.hidden, rows, m.bias)
    m.linear(at + ".k_proj", s.kv * s.dim, s.hidden, shared(s.kv), m.bias)
    m.linear(at + ".v_proj", s.kv * s.dim, s.hidden, shared(s.kv), m.bias)
    m.linear(at + ".o_proj", s.hidden, s.heads * s.dim, columns)
    if m.norms:
        m.add(at + ".q_norm.weight", (s.dim,), whole)
        m.add(at + ".k_norm.weight", (s.dim,), whole)


def gated(m, at, inner):
    m.linear(at + ".gate_proj", inner, m.s.hidden, rows)
    m.linear(at + ".up_proj", inner, m.s.hidden, rows)
    m.linear(at + ".down_proj", m.s.hidden, inner, columns)


def llama(rng):
    m = decoder(rng, rng.choice(["llama", "mistral", "qwen2", "qwen3"]), lambda m, at: gated(m, at + ".mlp", m.s.inner))
    m.maps = [("llama-fuse", "llama-unfuse", fuse(m)), ("llama-to-flax", "llama-from-flax", flax(m)),
              ("llama-to-megatron", "llama-from-megatron", megatron(m))]
    return m


def phi3(rng):
    def attention(m, at):
        s = m.s
        cut = fused(0, (s.heads * s.dim, rows), (s.kv * s.dim, shared(s.kv)), (s.kv * s.dim, shared(s.kv)))
        m.linear(at + ".qkv_proj", (s.heads + 2 * s.kv) * s.dim, s.hidden, cut, m.bias)
        m.linear(at + ".o_proj", s.hidden, s.heads * s.dim, columns)

    def feed(m, at):
        s = m.s
        m.linear(at + ".mlp.gate_up_proj", 2 * s.inner, s.hidden, fused(0, (s.inner, rows), (s.inner, rows)))
        m.linear(at + ".mlp.down_proj", s.hidden, s.inner, columns)
    return decoder(rng, "phi3", feed, attention)


def mixtral(rng):
    experts = rng.choice([2, 3])

    def feed(m, at):
        m.linear(at + ".block_sparse_moe.gate", experts, m.s.hidden, whole)
        for e in range(experts):
            expert = "%s.block_sparse_moe.experts.%d" % (at, e)
            m.linear(expert + ".w1", m.s.inner, m.s.hidden, rows)
            m.linear(expert + ".w2", m.s.hidden, m.s.inner, columns)
            m.linear(expert + ".w3", m.s.inner, m.s.hidden, rows)

    def attention(m, at):
        m.bias = False
        apart(m, at)
    m = decoder(rng, "mixtral", feed, attention, num_local_experts=experts)
    made = {name: a for name, a in m.tensors.items() if ".experts." not in name}
    for n in range(m.s.layers):
        at = "model.layers.%d.block_sparse_moe.experts." % n
        get = lambda e, w: m.tensors["%s%d.%s.weight" % (at, e, w)]
        made[at + "w13_weight"] = numpy.stack([numpy.concatenate([get(e, "w1"), get(e, "w3")]) for e in range(experts)])
        made[at + "w2_weight"] = numpy.stack([get(e, "w2") for e in range(experts)])
    m.maps = [("mixtral-stack", "mixtral-unstack", made)]
    return m


def qwen_moe(rng):
    experts, inner = rng.choice([2, 3]), 16 * rng.choice([1, 2])
    stacked = rng.random() < 0.5

    def feed(m, at):
        hidden = m.s.hidden
        m.linear(at + ".mlp.gate", experts, hidden, whole)
        if stacked:
            m.add(at + ".mlp.experts.gate_up_proj", (experts, 2 * inner, hidden), fused(1, (inner, rows), (inner, rows)))
            m.add(at + ".mlp.experts.down_proj", (experts, hidden, inner), columns)
        for e in range(0 if stacked else experts):
            gated(m, "%s.mlp.experts.%d" % (at, e), inner)
        gated(m, at + ".mlp.shared_expert", m.s.inner)
        m.linear(at + ".mlp.shared_expert_gate", 1, hidden, whole)
    return decoder(rng, rng.choice(["qwen2_moe", "qwen3_moe"]), feed, num_experts=experts, moe_intermediate_size=inner)


def deepseek(rng):
    nope, rope, v, low = rng.choice([2, 4]), 2, rng.choice([2, 4]), 6

    def attention(m, at):
        s = m.s
        m.linear(at + ".q_a_proj", low, s.hidden, whole)
        m.add(at + ".q_a_layernorm.weight", (low,), whole)
        m.linear(at + ".q_b_proj", s.heads * (nope + rope), low, rows)
        m.linear(at + ".kv_a_proj_with_mqa", low + rope, s.hidden, whole)
        m.add(at + ".kv_a_layernorm.weight", (low,), whole)
        m.linear(at + ".kv_b_proj", s.heads * (nope + v), low, rows)
        m.linear(at + ".o_proj", s.hidden, s.heads * v, columns)

    def feed(m, at):
        m.linear(at + ".mlp.gate", 2, m.s.hidden, whole)
        for e in range(2):
            gated(m, "%s.mlp.experts.%d" % (at, e), m.s.inner)
        gated(m, at + ".mlp.shared_experts", m.s.inner)
    return decoder(rng, "deepseek", feed, attention, qk_nope_head_dim=nope, qk_rope_head_dim=rope, v_head_dim=v)


def gpt2(rng):
    s = Sizes(rng)
    s.hidden, s.kv = s.heads * s.dim, s.heads
    m = Model(rng, "gpt2", n_embd=s.hidden, n_head=s.heads, n_layer=s.layers)
    m.s = s
    h = s.hidden
    for name in ("wte", "wpe"):
        m.add(name + ".weight", (s.vocab + 1, h), columns)
    for n in range(s.layers):
        at = "h.%d." % n
        third = (h, rows)
        # Conv1D keeps its weights as (inputs, outputs).
        for name, shape, cut, bias in (("attn.c_attn", (h, 3 * h), fused(1, third, third, third), fused(0, third, third, third)),
                                       ("attn.c_proj", (h, h), rows, whole), ("mlp.c_fc", (h, 4 * h), columns, rows),
                                       ("mlp.c_proj", (4 * h, h), rows, whole)):
            m.add(at + name + ".weight", shape, cut)
            m.add(at + name + ".bias", shape[1:], bias)
        m.add(at + "attn.bias", (1, 1, 4, 4), whole)
        m.add(at + "ln_1.weight", (h,), whole)
        m.add(at + "ln_1.bias", (h,), whole)
    m.add("ln_f.weight", (h,), whole)
    return m


def grouped(rng):
    """GPT-NeoX and Falcon: for each key and value head its queries, its key, its value."""
    s, falcon = Sizes(rng), rng.random() < 0.5
    s.hidden = s.heads * s.dim
    s.kv = s.kv if falcon else s.heads
    config = s.config()
    config["num_kv_heads"] = config.pop("num_key_value_heads")
    if falcon:
        config.update(multi_query=True, new_decoder_architecture=True)
    m = Model(rng, "falcon" if falcon else "gpt_neox", **config)
    m.s, h = s, s.hidden
    m.add("transformer.word_embeddings.weight" if falcon else "gpt_neox.embed_in.weight", (s.vocab, h), rows)
    for n in range(s.layers):
        at = "transformer.h.%d." % n if falcon else "gpt_neox.layers.%d." % n
        inside = at + ("self_attention" if falcon else "attention")
        m.linear(inside + ".query_key_value", (s.heads + 2 * s.kv) * s.dim, h, rows, not falcon)
        m.linear(inside + ".dense", h, h, columns, not falcon)
        m.linear(at + "mlp.dense_h_to_4h", 4 * h, h, rows, not falcon)
        m.linear(at + "mlp.dense_4h_to_h", h, 4 * h, columns, not falcon)
        m.add(at + ("ln_attn" if falcon else "input_layernorm") + ".bias", (h,), whole)
    m.most_ranks = s.kv
    return m


def bert(rng):
    s = Sizes(rng)
    s.hidden, s.kv = s.heads * s.dim, s.heads
    m = Model(rng, "bert", **s.config())
    m.s, h = s, s.hidden
    m.add("bert.embeddings.word_embeddings.weight", (s.vocab + 1, h), columns)
    for n in range(s.layers):
        at = "bert.encoder.layer.%d." % n
        for name in ("query", "key", "value"):
            m.linear(at + "attention.self." + name, h, h, rows, True)
        m.linear(at + "attention.output.dense", h, h, columns, True)
        m.linear(at + "intermediate.dense", s.inner, h, rows, True)
        m.linear(at + "output.dense", h, s.inner, columns, True)
        m.add(at + "output.LayerNorm.weight", (h,), whole)
    return m


# ---- maps, by hand ----

def fuse(m):
    made = dict(m.tensors)
    for name in m.tensors:
        for first, others, into in (("q_proj", ("k_proj", "v_proj"), "qkv_proj"), ("gate_proj", ("up_proj",), "gate_up_proj")):
            if "." + first + "." in name:
                names = [name.replace(first, other) for other in (first, *others)]
                made[name.replace(first, into)] = numpy.concatenate([made.pop(part) for part in names])
    return made


def flax(m):
    def say(name, array):
        if "_proj.weight" in name or name == "lm_head.weight":
            return name.replace("weight", "kernel"), array.T
        if "norm" in name:
            return name.replace("weight", "scale"), array
        return name.replace("embed_tokens.weight", "embed_tokens.embedding"), array
    return dict(say(*item) for item in m.tensors.items())


def megatron(m):
    made = {}
    for name, array in m.tensors.items():
        other = lambda before, after: m.tensors[name.replace(before, after)]
        new = name.replace("model.layers", "decoder.layers").replace("self_attn", "self_attention")
        if "q_proj" in name:
            groups = [a.reshape(m.s.kv, -1, *a.shape[1:]) for a in (array, other("q_proj", "k_proj"), other("q_proj", "v_proj"))]
            made[new.replace("q_proj", "linear_qkv")] = numpy.concatenate(groups, 1).reshape(-1, *array.shape[1:])
        elif "gate_proj" in name:
            made[new.replace("gate_proj", "linear_fc1")] = numpy.concatenate([array, other("gate_proj", "up_proj")])
        elif not any(part in name for part in ("k_proj", "v_proj", "up_proj")):
            for before, after in (("o_proj", "linear_proj"), ("down_proj", "linear_fc2"), ("q_norm", "q_layernorm"),
                                  ("k_norm", "k_layernorm"), ("input_layernorm.", "self_attention.linear_qkv.layer_norm_"),
                                  ("post_attention_layernorm.", "mlp.linear_fc1.layer_norm_"),
                                  ("model.norm", "decoder.final_layernorm"), ("lm_head", "output_layer"),
                                  ("model.embed_tokens", "embedding.word_embeddings")):
                new = new.replace(before, after)
            made[new] = array
    return made


# ---- the check ----

def same(found, wanted, what):
    if sorted(found) != sorted(wanted):
        raise SystemExit("%s: names differ: %s" % (what, sorted(set(found) ^ set(wanted))))
    for name, array in wanted.items():
        have = found[name]
        if (have.dtype, have.shape) != (array.dtype, array.shape):
            raise SystemExit("%s: %s is %s%s, wanted %s" % (what, name, have.dtype, have.shape, array.shape))
        if have.tobytes() != numpy.ascontiguousarray(array).tobytes():
            raise SystemExit("%s: %s has other elements" % (what, name))


def load_all(paths):
    return {name: array for path in paths for name, array in load_file(path).items()}


def write(model, folder, rng):
    """A Hugging Face folder, of one file or of several with an index."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(model.config))
    names, count = list(model.tensors), rng.choice([1, 2, 3])
    if count == 1:
        return save_file(model.tensors, folder / "model.safetensors", {"format": "pt"})
    rng.shuffle(names)
    files = {"model-%05d-of-%05d.safetensors" % (i + 1, count): names[i::count] for i in range(count)}
    for file, some in files.items():
        save_file({name: model.tensors[name] for name in some}, folder / file, {"format": "pt"})
    index = {"metadata": {"total_size": sum(a.nbytes for a in model.tensors.values())},
             "weight_map": {name: file for file, some in files.items() for name in some}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


FAMILIES = [llama, llama, phi3, mixtral, qwen_moe, deepseek, gpt2, grouped, bert]


def check(ask, rng, folder):
    def run(*arguments):
        done = ask(*arguments)
        if "warning" in done.stderr:
            raise SystemExit("tessera %s\n%s" % (" ".join(map(str, arguments)), done.stderr))

    model = rng.choice(FAMILIES)(rng)
    source, before = folder / "model", folder / "model"
    write(model, source, rng)
    most = getattr(model, "most_ranks", model.s.heads)
    sizes = [n for n in (1, 2, 4, 8, 16) if n <= most]
    for turn, n in enumerate(rng.choices(sizes, k=2)):
        cut = folder / ("cut%d" % turn)
        form = "ranks" if turn or rng.random() < 0.5 else "tessera"
        run("reshard", before, cut, "--mesh", "tp=%d" % n, "--preset", model.preset + ":tp", "--format", form, "--no-sync")
        for r in range(n if form == "ranks" else 0):
            same(load_all(cut.glob("model-rank-%d-part-*.safetensors" % r)), model.ranks(r, n), "rank %d of %d" % (r, n))
        before = cut
    run("verify", *rng.sample([source, before], 2))
    if model.maps:
        there, back, made = rng.choice(model.maps)
        start = rng.choice([source, before])
        run("merge" if start is source else "gather", start, folder / "made", "--map", there, "--no-sync")
        same(load_all((folder / "made").glob("*.safetensors")), made, there)
        run("verify", *rng.sample([start, folder / "made"], 2), "--map", there)
        run("merge", folder / "made", folder / "back.safetensors", "--map", back, "--no-sync")
        same(load_file(folder / "back.safetensors"), model.tensors, back)


if __name__ == "__main__":
    cases.run(check, "families: %d models were cut and mapped as NumPy does it")
