#!/usr/bin/env python3
"""Writes small models of every model_type that a preset is for, with weights.

usage: small.py FOLDER [TYPE...]   writes FOLDER/TYPE/model.safetensors and config.json for each, or for all of them

Names and shapes are those of Hugging Face's classes, the sizes as small as two ranks of each axis allow.
`llava`, `mistral3` and `gemma3` wrap another model.
"""
import importlib.machinery
import importlib.util
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADS, KV, DIM, HIDDEN, INNER, VOCAB, LAYERS, EXPERTS = 4, 2, 8, 32, 48, 64, 2, 2
SIZES = {"hidden_size": HIDDEN, "intermediate_size": INNER, "num_attention_heads": HEADS,
         "num_key_value_heads": KV, "num_hidden_layers": LAYERS, "vocab_size": VOCAB}


def linear(name, outputs, inputs, bias=False):
    yield name + ".weight", (outputs, inputs)
    if bias:
        yield name + ".bias", (outputs,)


def norm(name, size=HIDDEN, bias=False):
    return [(name + ".weight", (size,))] + [(name + ".bias", (size,))] * bias


def attention(at, bias=False):
    yield from linear(at + ".q_proj", HEADS * DIM, HIDDEN, bias)
    yield from linear(at + ".k_proj", KV * DIM, HIDDEN, bias)
    yield from linear(at + ".v_proj", KV * DIM, HIDDEN, bias)
    yield from linear(at + ".o_proj", HIDDEN, HEADS * DIM)


def gated(at, inner=INNER):
    yield from linear(at + ".gate_proj", inner, HIDDEN)
    yield from linear(at + ".up_proj", inner, HIDDEN)
    yield from linear(at + ".down_proj", HIDDEN, inner)


def frame(feed, attend, norms=("input", "post_attention"), norm_bias=False, root="model", head="lm_head"):
    """Llama's frame around attention and feed-forward of some kind."""
    yield root + ".embed_tokens.weight", (VOCAB, HIDDEN)
    for n in range(LAYERS):
        at = "%s.layers.%d" % (root, n)
        yield from attend(at + ".self_attn")
        yield from feed(at)
        for name in norms:
            yield from norm("%s.%s_layernorm" % (at, name), HIDDEN, norm_bias)
    yield from norm(root + ".norm", HIDDEN, norm_bias)
    if head:
        yield head + ".weight", (VOCAB, HIDDEN)


def llama(bias=False, norms=False, norm_bias=False, gate=True, **more):
    def attend(at):
        yield from attention(at, bias)
        for name in ("q_norm", "k_norm") if norms else ():
            yield from norm("%s.%s" % (at, name), DIM)

    def feed(at):
        yield from (item for item in gated(at + ".mlp") if gate or "gate_proj" not in item[0])
    return list(frame(feed, attend, norm_bias=norm_bias, **more))


def with_tower(model, tower):
    """A tower whose heads are not those of the text."""
    blocks = [linear("%s.blocks.0.attn.qkv" % tower, 3 * 24, 24, True), linear("%s.merger.mlp.0" % tower, HIDDEN, 24, True)]
    return model + [item for block in blocks for item in block] + [(tower + ".patch_embed.proj.weight", (24, 3, 4, 4))]


def cohere(norms):
    def attend(at):
        yield from attention(at)
        if norms:
            yield at + ".q_norm.weight", (HEADS, DIM)
            yield at + ".k_norm.weight", (KV, DIM)
    return list(frame(lambda at: gated(at + ".mlp"), attend, norms=("input",), head=None))


def gemma(norms):
    names = ("input", "post_attention", "pre_feedforward", "post_feedforward") if norms else ("input", "post_attention")
    return llama(norms=norms, head=None)[:-1] + [item for n in range(LAYERS) for name in names[2:]
                                                 for item in norm("model.layers.%d.%s_layernorm" % (n, name))] + norm("model.norm")


def phi3():
    def attend(at):
        yield from linear(at + ".qkv_proj", (HEADS + 2 * KV) * DIM, HIDDEN)
        yield from linear(at + ".o_proj", HIDDEN, HEADS * DIM)

    def feed(at):
        yield from linear(at + ".mlp.gate_up_proj", 2 * INNER, HIDDEN)
        yield from linear(at + ".mlp.down_proj", HIDDEN, INNER)
    return frame(feed, attend)


def mixtral():
    def feed(at):
        yield from linear(at + ".block_sparse_moe.gate", EXPERTS, HIDDEN)
        for e in range(EXPERTS):
            for w in ("w1", "w3"):
                yield from linear("%s.block_sparse_moe.experts.%d.%s" % (at, e, w), INNER, HIDDEN)
            yield from linear("%s.block_sparse_moe.experts.%d.w2" % (at, e), HIDDEN, INNER)
    return frame(feed, attention)


def qwen_moe(shared):
    def feed(at):
        yield from linear(at + ".mlp.gate", EXPERTS, HIDDEN)
        for e in range(EXPERTS):
            yield from gated("%s.mlp.experts.%d" % (at, e), 16)
        if shared:
            yield from gated(at + ".mlp.shared_expert")
            yield from linear(at + ".mlp.shared_expert_gate", 1, HIDDEN)
    return frame(feed, lambda at: attention(at, shared))


def deepseek(low):
    def attend(at):
        if low:
            yield from linear(at + ".q_a_proj", 16, HIDDEN)
            yield from norm(at + ".q_a_layernorm", 16)
            yield from linear(at + ".q_b_proj", HEADS * 12, 16)
        else:
            yield from linear(at + ".q_proj", HEADS * 12, HIDDEN)
        yield from linear(at + ".kv_a_proj_with_mqa", 16 + 4, HIDDEN)
        yield from norm(at + ".kv_a_layernorm", 16)
        yield from linear(at + ".kv_b_proj", HEADS * 16, 16)
        yield from linear(at + ".o_proj", HIDDEN, HEADS * 8)

    def feed(at):
        yield from linear(at + ".mlp.gate", EXPERTS, HIDDEN)
        for e in range(EXPERTS):
            yield from gated("%s.mlp.experts.%d" % (at, e), 16)
        yield from gated(at + ".mlp.shared_experts", 16)
    return frame(feed, attend)


def llama4(root="language_model.model", head="language_model.lm_head"):
    def feed(at):
        yield at + ".feed_forward.experts.gate_up_proj", (EXPERTS, HIDDEN, 2 * INNER)
        yield at + ".feed_forward.experts.down_proj", (EXPERTS, INNER, HIDDEN)
        yield from gated(at + ".feed_forward.shared_expert")
        yield from linear(at + ".feed_forward.router", EXPERTS, HIDDEN)
    return list(frame(feed, attention, root=root, head=head))


def gpt_oss():
    def attend(at):
        yield from attention(at, True)
        yield at + ".o_proj.bias", (HIDDEN,)
        yield at + ".sinks", (HEADS,)

    def feed(at):
        yield from linear(at + ".mlp.router", EXPERTS, HIDDEN, True)
        yield at + ".mlp.experts.gate_up_proj", (EXPERTS, HIDDEN, 2 * INNER)
        yield at + ".mlp.experts.gate_up_proj_bias", (EXPERTS, 2 * INNER)
        yield at + ".mlp.experts.down_proj", (EXPERTS, INNER, HIDDEN)
        yield at + ".mlp.experts.down_proj_bias", (EXPERTS, HIDDEN)
    return frame(feed, attend)


def grouped(first, layers, attend, norms, last, kv, bias, more=()):
    yield first + ".weight", (VOCAB, HIDDEN)
    for n in range(LAYERS):
        at = "%s.%d" % (layers, n)
        yield from linear("%s.%s.query_key_value" % (at, attend), (HEADS + 2 * kv) * DIM, HIDDEN, bias)
        yield from linear("%s.%s.dense" % (at, attend), HIDDEN, HIDDEN, bias)
        yield from linear(at + ".mlp.dense_h_to_4h", 4 * HIDDEN, HIDDEN, bias)
        yield from linear(at + ".mlp.dense_4h_to_h", HIDDEN, 4 * HIDDEN, bias)
        for name in norms:
            yield from norm("%s.%s" % (at, name), HIDDEN, True)
    for name in more:
        yield from norm(name, HIDDEN, True)
    if last:
        yield last + ".weight", (VOCAB, HIDDEN)


def gpt2():
    yield "wte.weight", (VOCAB + 1, HIDDEN)
    yield "wpe.weight", (16, HIDDEN)
    for n in range(LAYERS):
        for name, inputs, outputs in (("attn.c_attn", HIDDEN, 3 * HIDDEN), ("attn.c_proj", HIDDEN, HIDDEN),
                                      ("mlp.c_fc", HIDDEN, 4 * HIDDEN), ("mlp.c_proj", 4 * HIDDEN, HIDDEN)):
            yield "h.%d.%s.weight" % (n, name), (inputs, outputs)
            yield "h.%d.%s.bias" % (n, name), (outputs,)
        yield "h.%d.attn.bias" % n, (1, 1, 16, 16)
        for name in ("ln_1", "ln_2"):
            yield from norm("h.%d.%s" % (n, name), HIDDEN, True)
    yield from norm("ln_f", HIDDEN, True)


def t5(every_layer):
    yield "shared.weight", (VOCAB, HIDDEN)
    for side in ("encoder", "decoder"):
        for n in range(LAYERS):
            at = "%s.block.%d.layer" % (side, n)
            kinds = ["SelfAttention"] + ["EncDecAttention"] * (side == "decoder")
            for i, kind in enumerate(kinds):
                for p in "qkv":
                    yield from linear("%s.%d.%s.%s" % (at, i, kind, p), HEADS * DIM, HIDDEN)
                yield from linear("%s.%d.%s.o" % (at, i, kind), HIDDEN, HEADS * DIM)
                yield from norm("%s.%d.layer_norm" % (at, i))
            if every_layer or not n:
                yield at + ".0.SelfAttention.relative_attention_bias.weight", (32, HEADS)
            for p in ("wi_0", "wi_1"):
                yield from linear("%s.%d.DenseReluDense.%s" % (at, len(kinds), p), INNER, HIDDEN)
            yield from linear("%s.%d.DenseReluDense.wo" % (at, len(kinds)), HIDDEN, INNER)
            yield from norm("%s.%d.layer_norm" % (at, len(kinds)))
        yield from norm(side + ".final_layer_norm")
    yield "lm_head.weight", (VOCAB, HIDDEN)


def bert(root, head):
    for kind, rows in (("word", VOCAB + 1), ("position", 16), ("token_type", 2)):
        yield "%s.embeddings.%s_embeddings.weight" % (root, kind), (rows, HIDDEN)
    yield from norm(root + ".embeddings.LayerNorm", HIDDEN, True)
    for n in range(LAYERS):
        at = "%s.encoder.layer.%d" % (root, n)
        for p in ("query", "key", "value"):
            yield from linear("%s.attention.self.%s" % (at, p), HIDDEN, HIDDEN, True)
        yield from linear(at + ".attention.output.dense", HIDDEN, HIDDEN, True)
        yield from norm(at + ".attention.output.LayerNorm", HIDDEN, True)
        yield from linear(at + ".intermediate.dense", INNER, HIDDEN, True)
        yield from linear(at + ".output.dense", HIDDEN, INNER, True)
        yield from norm(at + ".output.LayerNorm", HIDDEN, True)
    yield from linear(head + ".dense", HIDDEN, HIDDEN, True)
    yield from norm(head + (".LayerNorm" if root == "bert" else ".layer_norm"), HIDDEN, True)


def vit():
    yield "vit.embeddings.cls_token", (1, 1, HIDDEN)
    yield "vit.embeddings.position_embeddings", (1, 5, HIDDEN)
    yield "vit.embeddings.patch_embeddings.projection.weight", (HIDDEN, 3, 4, 4)
    yield "vit.embeddings.patch_embeddings.projection.bias", (HIDDEN,)
    for n in range(LAYERS):
        at = "vit.encoder.layer.%d" % n
        for p in ("query", "key", "value"):
            yield from linear("%s.attention.attention.%s" % (at, p), HIDDEN, HIDDEN, True)
        yield from linear(at + ".attention.output.dense", HIDDEN, HIDDEN, True)
        yield from linear(at + ".intermediate.dense", INNER, HIDDEN, True)
        yield from linear(at + ".output.dense", HIDDEN, INNER, True)
        yield from norm(at + ".layernorm_before", HIDDEN, True)
        yield from norm(at + ".layernorm_after", HIDDEN, True)
    yield from norm("vit.layernorm", HIDDEN, True)
    yield from linear("classifier", 10, HIDDEN, True)


def whisper():
    for number, inputs in ((1, 8), (2, HIDDEN)):
        yield "model.encoder.conv%d.weight" % number, (HIDDEN, inputs, 3)
        yield "model.encoder.conv%d.bias" % number, (HIDDEN,)
    yield "model.encoder.embed_positions.weight", (15, HIDDEN)
    yield "model.decoder.embed_tokens.weight", (VOCAB + 1, HIDDEN)
    yield "model.decoder.embed_positions.weight", (7, HIDDEN)
    for side in ("encoder", "decoder"):
        at = "model.%s.layers.0" % side
        for kind in ["self_attn"] + ["encoder_attn"] * (side == "decoder"):
            for p in ("q_proj", "k_proj", "v_proj", "out_proj"):
                yield from linear("%s.%s.%s" % (at, kind, p), HIDDEN, HIDDEN, p != "k_proj")
            yield from norm("%s.%s_layer_norm" % (at, kind), HIDDEN, True)
        yield from linear(at + ".fc1", INNER, HIDDEN, True)
        yield from linear(at + ".fc2", HIDDEN, INNER, True)
        yield from norm(at + ".final_layer_norm", HIDDEN, True)
        yield from norm("model.%s.layer_norm" % side, HIDDEN, True)


def mamba2():
    inner, groups, state = 2 * HIDDEN, 2, 4
    heads = inner // DIM
    yield "backbone.embeddings.weight", (VOCAB, HIDDEN)
    for n in range(LAYERS):
        at = "backbone.layers.%d" % n
        yield from linear(at + ".mixer.in_proj", 2 * inner + 2 * groups * state + heads, HIDDEN)
        yield at + ".mixer.conv1d.weight", (inner + 2 * groups * state, 1, 4)
        yield at + ".mixer.conv1d.bias", (inner + 2 * groups * state,)
        for name in ("A_log", "D", "dt_bias"):
            yield "%s.mixer.%s" % (at, name), (heads,)
        yield from norm(at + ".mixer.norm", inner)
        yield from linear(at + ".mixer.out_proj", HIDDEN, inner)
        yield from norm(at + ".norm")
    yield from norm("backbone.norm_f")
    yield "lm_head.weight", (VOCAB, HIDDEN)


def megatron():
    """What a map makes of a Llama, beside Llama's own config.json."""
    yield "embedding.word_embeddings.weight", (VOCAB, HIDDEN)
    for n in range(LAYERS):
        at = "decoder.layers.%d" % n
        yield from linear(at + ".self_attention.linear_qkv", (HEADS + 2 * KV) * DIM, HIDDEN)
        yield at + ".self_attention.linear_qkv.layer_norm_weight", (HIDDEN,)
        yield from linear(at + ".self_attention.linear_proj", HIDDEN, HEADS * DIM)
        yield from linear(at + ".mlp.linear_fc1", 2 * INNER, HIDDEN)
        yield at + ".mlp.linear_fc1.layer_norm_weight", (HIDDEN,)
        yield from linear(at + ".mlp.linear_fc2", HIDDEN, INNER)
    yield from norm("decoder.final_layernorm")
    yield "output_layer.weight", (VOCAB, HIDDEN)


MOE = dict(SIZES, num_experts=EXPERTS, moe_intermediate_size=16)
LATENT = dict(SIZES, num_key_value_heads=HEADS, qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=8, q_lora_rank=16)
OWN = {"gpt2": {"n_embd": HIDDEN, "n_head": HEADS, "n_layer": LAYERS},
       "t5": {"d_model": HIDDEN, "d_kv": DIM, "d_ff": INNER, "num_heads": HEADS, "num_layers": LAYERS},
       "plain": {"hidden_size": HIDDEN, "intermediate_size": INNER, "num_attention_heads": HEADS},
       "bloom": {"hidden_size": HIDDEN, "n_head": HEADS, "n_layer": LAYERS},
       "falcon": {"hidden_size": HIDDEN, "num_attention_heads": HEADS, "num_kv_heads": KV, "new_decoder_architecture": True,
                  "multi_query": True},
       "whisper": {"d_model": HIDDEN, "encoder_attention_heads": HEADS, "encoder_ffn_dim": INNER},
       "mamba2": {"hidden_size": HIDDEN, "num_heads": 2 * HIDDEN // DIM, "head_dim": DIM, "n_groups": 2, "state_size": 4}}
NEOX = ("gpt_neox.embed_in", "gpt_neox.layers", "attention", ("input_layernorm", "post_attention_layernorm"), "embed_out",
        HEADS, True, ("gpt_neox.final_layer_norm",))
BLOOM = ("word_embeddings", "h", "self_attention", ("input_layernorm", "post_attention_layernorm"), None,
         HEADS, True, ("word_embeddings_layernorm", "ln_f"))
FALCON = ("transformer.word_embeddings", "transformer.h", "self_attention", ("ln_attn", "ln_mlp"), "lm_head",
          KV, False, ("transformer.ln_f",))

# Each type with its tensors and its config.json, where that is not Llama's.
MODELS = {
    **{name: (llama, SIZES) for name in ("llama", "mistral", "granite", "smollm3", "olmo", "seed_oss", "ernie4_5")},
    "qwen2": (lambda: llama(bias=True), SIZES),
    "qwen3": (lambda: llama(norms=True), SIZES),
    "exaone4": (lambda: llama(norms=True), SIZES),
    "stablelm": (lambda: llama(norm_bias=True), SIZES),
    "nemotron": (lambda: llama(norm_bias=True, gate=False), SIZES),
    "qwen2_vl": (lambda: with_tower(llama(bias=True), "visual"), SIZES),
    "qwen2_5_vl": (lambda: with_tower(llama(bias=True), "visual"), SIZES),
    "qwen3_vl": (lambda: with_tower(llama(norms=True, root="model.language_model"), "model.visual"),
                 {"text_config": dict(SIZES, model_type="qwen3_vl_text")}),
    **{name + "_text": (lambda: llama(bias=True), SIZES) for name in ("qwen2_vl", "qwen2_5_vl", "qwen3_vl")},
    "llava": (lambda: with_tower(llama(root="language_model.model", head="language_model.lm_head"), "vision_tower"),
              {"text_config": dict(SIZES, model_type="llama")}),
    "mistral3": (lambda: with_tower(llama(root="language_model.model", head=None), "vision_tower"),
                 {"text_config": dict(SIZES, model_type="mistral")}),
    "cohere": (lambda: cohere(True), SIZES), "cohere2": (lambda: cohere(False), SIZES),
    "gemma": (lambda: gemma(False), SIZES), "gemma2": (lambda: gemma(True), SIZES), "gemma3_text": (lambda: gemma(True), SIZES),
    "gemma3": (lambda: with_tower(gemma(True), "vision_tower"), {"text_config": dict(SIZES, model_type="gemma3_text")}),
    "phi3": (phi3, SIZES), "mixtral": (mixtral, dict(SIZES, num_local_experts=EXPERTS)),
    "qwen2_moe": (lambda: qwen_moe(True), MOE), "qwen3_moe": (lambda: qwen_moe(False), MOE),
    "deepseek_v2": (lambda: deepseek(False), dict(LATENT, q_lora_rank=None)),
    **{name: (lambda: deepseek(True), LATENT) for name in ("deepseek_v3", "deepseek_v32", "kimi_k2")},
    "llama4": (lambda: with_tower(llama4(), "vision_model"), {"text_config": dict(SIZES, model_type="llama4_text")}),
    "llama4_text": (lambda: llama4("model", "lm_head"), SIZES),
    "gpt_oss": (gpt_oss, SIZES),
    "gpt_neox": (lambda: grouped(*NEOX), OWN["plain"]), "bloom": (lambda: grouped(*BLOOM), OWN["bloom"]),
    "falcon": (lambda: grouped(*FALCON), OWN["falcon"]),
    "gpt2": (gpt2, OWN["gpt2"]),
    "t5": (lambda: t5(False), OWN["t5"]), "mt5": (lambda: t5(False), OWN["t5"]), "umt5": (lambda: t5(True), OWN["t5"]),
    "bert": (lambda: bert("bert", "cls.predictions.transform"), OWN["plain"]),
    **{name: (lambda: bert("roberta", "lm_head"), OWN["plain"]) for name in ("roberta", "xlm-roberta", "camembert")},
    "vit": (vit, OWN["plain"]), "whisper": (whisper, OWN["whisper"]), "mamba2": (mamba2, OWN["mamba2"]),
    "megatron": (megatron, dict(SIZES, model_type="llama")),
}


def make_model():
    loader = importlib.machinery.SourceFileLoader("make_model", str(ROOT / "tools/make_model"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_model", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def main():
    write_file, names = make_model().write_file, sys.argv[2:] or sorted(MODELS)
    for name in names:
        folder = pathlib.Path(sys.argv[1]) / name
        tensors, config = MODELS[name]
        folder.mkdir(parents=True, exist_ok=True)
        write_file(folder / "model.safetensors", list(tensors()))
        (folder / "config.json").write_text(json.dumps({"model_type": name, **config}) + "\n")


if __name__ == "__main__":
    main()
