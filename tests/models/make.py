#!/usr/bin/env python3
"""Writes the tensor lists of well-known models from their published configurations.

usage: make.py                   rewrites the *.json beside it
       make.py --tree F FOLDER   writes F.json as a tree, every tensor on its own, to
                                 FOLDER/model.json, and its configuration to FOLDER/config.json

A list is compact: {0..31} in a path stands for that many tensors of one shape. `preset` is the family
whose rules fit, by its model_type, `mesh` one on which the model would sensibly run.
"""
import itertools
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent


def layers(count, first=0):
    return "{%d..%d}" % (first, count - 1)


class Model:
    def __init__(self, name, preset, mesh, config, dtype="BF16"):
        self.name, self.preset, self.mesh, self.config, self.dtype = name, preset, mesh, config, dtype
        self.tensors = []

    def add(self, path, *shape, dtype=None):
        self.tensors.append([path, dtype or self.dtype, list(shape)])

    def linear(self, path, inputs, outputs, bias=False):
        self.add(path + ".weight", outputs, inputs)
        if bias:
            self.add(path + ".bias", outputs)

    def norm(self, path, size, bias=False):
        self.add(path + ".weight", size)
        if bias:
            self.add(path + ".bias", size)

    def published(self):
        """Its config.json. What a map makes of a Llama keeps Llama's."""
        return {"model_type": "llama" if self.preset == "megatron" else self.preset, **self.config}

    def text(self):
        rows = ",\n".join("    " + json.dumps(row) for row in self.tensors)
        return '{\n  "preset": %s,\n  "mesh": %s,\n  "config": %s,\n  "tensors": [\n%s\n  ]\n}\n' % (
            json.dumps(self.preset), json.dumps(self.mesh), json.dumps(self.published()), rows)


def attention(m, at, bias=False):
    c = m.config
    dim = c.get("head_dim", c["hidden_size"] // c["num_attention_heads"])
    m.linear(at + ".self_attn.q_proj", c["hidden_size"], c["num_attention_heads"] * dim, bias)
    for p in "kv":
        m.linear(at + ".self_attn.%s_proj" % p, c["hidden_size"], c["num_key_value_heads"] * dim, bias)
    m.linear(at + ".self_attn.o_proj", c["num_attention_heads"] * dim, c["hidden_size"])


def gated(m, at, hidden, inner):
    m.linear(at + ".gate_proj", hidden, inner)
    m.linear(at + ".up_proj", hidden, inner)
    m.linear(at + ".down_proj", inner, hidden)


def llama_like(name, preset, mesh, config, bias=False, norms=("input", "post_attention"), tied=False):
    m = Model(name, preset, mesh, config)
    hidden, at = config["hidden_size"], "model.layers." + layers(config["num_hidden_layers"])
    m.add("model.embed_tokens.weight", config["vocab_size"], hidden)
    attention(m, at, bias)
    gated(m, at + ".mlp", hidden, config["intermediate_size"])
    for norm in norms:
        m.norm(at + ".%s_layernorm" % norm, hidden)
    m.norm("model.norm", hidden)
    if not tied:
        m.linear("lm_head", hidden, config["vocab_size"])
    return m


def config(hidden, inner, heads, kv_heads, count, vocab, **more):
    return {"hidden_size": hidden, "intermediate_size": inner, "num_attention_heads": heads,
            "num_key_value_heads": kv_heads, "num_hidden_layers": count, "vocab_size": vocab, **more}


def mixtral():
    m = Model("mixtral-8x7b", "mixtral", "fsdp=4,ep=2,tp=8",
              config(4096, 14336, 32, 8, 32, 32000, num_local_experts=8))
    at = "model.layers.{0..31}"
    m.add("model.embed_tokens.weight", 32000, 4096)
    attention(m, at)
    m.linear(at + ".block_sparse_moe.gate", 4096, 8)
    m.linear(at + ".block_sparse_moe.experts.{0..7}.w1", 4096, 14336)
    m.linear(at + ".block_sparse_moe.experts.{0..7}.w2", 14336, 4096)
    m.linear(at + ".block_sparse_moe.experts.{0..7}.w3", 4096, 14336)
    m.norm(at + ".input_layernorm", 4096)
    m.norm(at + ".post_attention_layernorm", 4096)
    m.norm("model.norm", 4096)
    m.linear("lm_head", 4096, 32000)
    return m


def qwen3_moe():
    c = config(2048, 6144, 32, 4, 48, 151936, head_dim=128, num_experts=128, moe_intermediate_size=768)
    m = Model("qwen3-30b-a3b", "qwen3_moe", "fsdp=4,ep=2,tp=8", c)
    at = "model.layers.{0..47}"
    m.add("model.embed_tokens.weight", 151936, 2048)
    attention(m, at)
    for p in "qk":
        m.norm(at + ".self_attn.%s_norm" % p, 128)
    m.linear(at + ".mlp.gate", 2048, 128)
    gated(m, at + ".mlp.experts.{0..127}", 2048, 768)
    m.norm(at + ".input_layernorm", 2048)
    m.norm(at + ".post_attention_layernorm", 2048)
    m.norm("model.norm", 2048)
    m.linear("lm_head", 2048, 151936)
    return m


def grouped(name, preset, mesh, c, names, rows, bias):
    """GPT-NeoX and Falcon: query_key_value by groups. `names`: prefix, layers, attention, both embeddings."""
    m = Model(name, preset, mesh, c)
    hidden, (prefix, at, attn, first, last) = c["hidden_size"], names
    at = "%s.%s.%s" % (prefix, at, layers(c["num_hidden_layers"]))
    m.add("%s.%s.weight" % (prefix, first), c["vocab_size"], hidden)
    m.linear("%s.%s.query_key_value" % (at, attn), hidden, rows, bias)
    m.linear("%s.%s.dense" % (at, attn), hidden, hidden, bias)
    m.linear(at + ".mlp.dense_h_to_4h", hidden, 4 * hidden, bias)
    m.linear(at + ".mlp.dense_4h_to_h", 4 * hidden, hidden, bias)
    for norm in ("input_layernorm", "post_attention_layernorm") if bias else ("ln_attn", "ln_mlp"):
        m.norm("%s.%s" % (at, norm), hidden, True)
    m.norm("%s.%s" % (prefix, "final_layer_norm" if bias else "ln_f"), hidden, True)
    m.linear(last, hidden, c["vocab_size"])
    return m


def pythia():
    c = {"hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 8,
         "num_hidden_layers": 16, "vocab_size": 50304}
    m = grouped("pythia-1b", "gpt_neox", "fsdp=2,tp=8", c,
                ("gpt_neox", "layers", "attention", "embed_in", "embed_out"), 6144, True)
    m.add("gpt_neox.layers.{0..15}.attention.bias", 1, 1, 2048, 2048, dtype="U8")
    m.add("gpt_neox.layers.{0..15}.attention.rotary_emb.inv_freq", 32)
    return m


def falcon():
    c = {"hidden_size": 8192, "num_attention_heads": 128, "num_kv_heads": 8, "num_hidden_layers": 60,
         "vocab_size": 65024, "multi_query": True, "new_decoder_architecture": True}
    return grouped("falcon-40b", "falcon", "fsdp=4,tp=8", c,
                   ("transformer", "h", "self_attention", "word_embeddings", "lm_head"), 9216, False)


def megatron():
    m = Model("llama-3-8b-megatron", "megatron", "fsdp=4,tp=8", config(4096, 14336, 32, 8, 32, 128256))
    at = "decoder.layers.{0..31}"
    m.add("embedding.word_embeddings.weight", 128256, 4096)
    m.linear(at + ".self_attention.linear_qkv", 4096, 6144)
    m.add(at + ".self_attention.linear_qkv.layer_norm_weight", 4096)
    m.linear(at + ".self_attention.linear_proj", 4096, 4096)
    m.linear(at + ".mlp.linear_fc1", 4096, 28672)
    m.add(at + ".mlp.linear_fc1.layer_norm_weight", 4096)
    m.linear(at + ".mlp.linear_fc2", 14336, 4096)
    m.norm("decoder.final_layernorm", 4096)
    m.linear("output_layer", 4096, 128256)
    return m


def phi3():
    m = Model("phi-3-mini", "phi3", "fsdp=4,tp=8", config(3072, 8192, 32, 32, 32, 32064))
    at = "model.layers.{0..31}"
    m.add("model.embed_tokens.weight", 32064, 3072)
    m.linear(at + ".self_attn.qkv_proj", 3072, 9216)
    m.linear(at + ".self_attn.o_proj", 3072, 3072)
    m.linear(at + ".mlp.gate_up_proj", 3072, 16384)
    m.linear(at + ".mlp.down_proj", 8192, 3072)
    m.norm(at + ".input_layernorm", 3072)
    m.norm(at + ".post_attention_layernorm", 3072)
    m.norm("model.norm", 3072)
    m.linear("lm_head", 3072, 32064)
    return m


def deepseek(name, preset, mesh, c):
    m = Model(name, preset, mesh, c)
    hidden, heads, moe = c["hidden_size"], c["num_attention_heads"], c["moe_intermediate_size"]
    nope, rope, v = c["qk_nope_head_dim"], c["qk_rope_head_dim"], c["v_head_dim"]
    count, dense = c["num_hidden_layers"], c["first_k_dense_replace"]
    extra = c.get("num_nextn_predict_layers", 0)
    at = "model.layers." + layers(count + extra)
    m.add("model.embed_tokens.weight", c["vocab_size"], hidden)
    if c.get("q_lora_rank"):
        m.linear(at + ".self_attn.q_a_proj", hidden, c["q_lora_rank"])
        m.norm(at + ".self_attn.q_a_layernorm", c["q_lora_rank"])
        m.linear(at + ".self_attn.q_b_proj", c["q_lora_rank"], heads * (nope + rope))
    else:
        m.linear(at + ".self_attn.q_proj", hidden, heads * (nope + rope))
    m.linear(at + ".self_attn.kv_a_proj_with_mqa", hidden, c["kv_lora_rank"] + rope)
    m.norm(at + ".self_attn.kv_a_layernorm", c["kv_lora_rank"])
    m.linear(at + ".self_attn.kv_b_proj", c["kv_lora_rank"], heads * (nope + v))
    m.linear(at + ".self_attn.o_proj", heads * v, hidden)
    m.norm(at + ".input_layernorm", hidden)
    m.norm(at + ".post_attention_layernorm", hidden)
    gated(m, "model.layers." + layers(dense) + ".mlp", hidden, c["intermediate_size"])
    routed = "model.layers." + layers(count + extra, dense) + ".mlp"
    m.linear(routed + ".gate", hidden, c["n_routed_experts"])
    if extra:
        m.add(routed + ".gate.e_score_correction_bias", c["n_routed_experts"], dtype="F32")
    gated(m, routed + ".experts." + layers(c["n_routed_experts"]), hidden, moe)
    gated(m, routed + ".shared_experts", hidden, moe * c["n_shared_experts"])
    if extra:
        last = "model.layers.%d" % count
        m.add(last + ".embed_tokens.weight", c["vocab_size"], hidden)
        m.norm(last + ".enorm", hidden)
        m.norm(last + ".hnorm", hidden)
        m.linear(last + ".eh_proj", 2 * hidden, hidden)
        m.norm(last + ".shared_head.norm", hidden)
        m.linear(last + ".shared_head.head", hidden, c["vocab_size"])
    m.norm("model.norm", hidden)
    m.linear("lm_head", hidden, c["vocab_size"])
    return m


def t5():
    c = {"d_model": 4096, "d_ff": 10240, "d_kv": 64, "num_heads": 64, "num_layers": 24,
         "num_decoder_layers": 24, "vocab_size": 32128, "relative_attention_num_buckets": 32}
    m = Model("t5-v1_1-xxl", "t5", "fsdp=4,tp=8", c, "F32")
    m.add("shared.weight", 32128, 4096)
    for side, feed in (("encoder", 1), ("decoder", 2)):
        at = side + ".block.{0..23}.layer"
        blocks = [(0, "SelfAttention")] + ([(1, "EncDecAttention")] if feed == 2 else [])
        for index, kind in blocks:
            for p in "qkvo":
                m.linear("%s.%d.%s.%s" % (at, index, kind, p), 4096, 4096)
            m.norm("%s.%d.layer_norm" % (at, index), 4096)
        m.add(side + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight", 32, 64)
        for p in ("wi_0", "wi_1"):
            m.linear("%s.%d.DenseReluDense.%s" % (at, feed, p), 4096, 10240)
        m.linear("%s.%d.DenseReluDense.wo" % (at, feed), 10240, 4096)
        m.norm("%s.%d.layer_norm" % (at, feed), 4096)
        m.norm(side + ".final_layer_norm", 4096)
    m.linear("lm_head", 4096, 32128)
    return m


def gpt2():
    c = {"n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "n_inner": None,
         "vocab_size": 50257}
    m = Model("gpt2", "gpt2", "fsdp=2,tp=4", c, "F32")
    m.add("wte.weight", 50257, 768)
    m.add("wpe.weight", 1024, 768)
    at = "h.{0..11}"
    m.norm(at + ".ln_1", 768, True)
    m.add(at + ".attn.bias", 1, 1, 1024, 1024)
    # Conv1D keeps its weights as (inputs, outputs).
    for path, inputs, outputs in (("attn.c_attn", 768, 2304), ("attn.c_proj", 768, 768),
                                  ("mlp.c_fc", 768, 3072), ("mlp.c_proj", 3072, 768)):
        m.add("%s.%s.weight" % (at, path), inputs, outputs)
        m.add("%s.%s.bias" % (at, path), outputs)
    m.norm(at + ".ln_2", 768, True)
    m.norm("ln_f", 768, True)
    return m


def bert():
    c = {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12,
         "num_hidden_layers": 12, "vocab_size": 30522, "max_position_embeddings": 512}
    m = Model("bert-base-uncased", "bert", "fsdp=2,tp=4", c, "F32")
    for kind, rows in (("word", 30522), ("position", 512), ("token_type", 2)):
        m.add("bert.embeddings.%s_embeddings.weight" % kind, rows, 768)
    m.norm("bert.embeddings.LayerNorm", 768, True)
    at = "bert.encoder.layer.{0..11}"
    for p in ("query", "key", "value"):
        m.linear(at + ".attention.self." + p, 768, 768, True)
    m.linear(at + ".attention.output.dense", 768, 768, True)
    m.norm(at + ".attention.output.LayerNorm", 768, True)
    m.linear(at + ".intermediate.dense", 768, 3072, True)
    m.linear(at + ".output.dense", 3072, 768, True)
    m.norm(at + ".output.LayerNorm", 768, True)
    m.linear("bert.pooler.dense", 768, 768, True)
    m.add("cls.predictions.bias", 30522)
    m.linear("cls.predictions.transform.dense", 768, 768, True)
    m.norm("cls.predictions.transform.LayerNorm", 768, True)
    m.add("cls.predictions.decoder.weight", 30522, 768)
    m.linear("cls.seq_relationship", 768, 2, True)
    return m


def vit():
    c = {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12,
         "num_hidden_layers": 12, "image_size": 224, "patch_size": 16}
    m = Model("vit-base-patch16-224", "vit", "fsdp=2,tp=4", c, "F32")
    m.add("vit.embeddings.cls_token", 1, 1, 768)
    m.add("vit.embeddings.position_embeddings", 1, 197, 768)
    m.add("vit.embeddings.patch_embeddings.projection.weight", 768, 3, 16, 16)
    m.add("vit.embeddings.patch_embeddings.projection.bias", 768)
    at = "vit.encoder.layer.{0..11}"
    for p in ("query", "key", "value"):
        m.linear(at + ".attention.attention." + p, 768, 768, True)
    m.linear(at + ".attention.output.dense", 768, 768, True)
    m.linear(at + ".intermediate.dense", 768, 3072, True)
    m.linear(at + ".output.dense", 3072, 768, True)
    m.norm(at + ".layernorm_before", 768, True)
    m.norm(at + ".layernorm_after", 768, True)
    m.norm("vit.layernorm", 768, True)
    m.linear("classifier", 768, 1000, True)
    return m


def whisper():
    c = {"d_model": 768, "encoder_layers": 12, "encoder_attention_heads": 12, "encoder_ffn_dim": 3072,
         "decoder_layers": 12, "decoder_attention_heads": 12, "decoder_ffn_dim": 3072,
         "vocab_size": 51865, "num_mel_bins": 80}
    m = Model("whisper-small", "whisper", "fsdp=2,tp=4", c, "F32")
    m.add("model.encoder.conv1.weight", 768, 80, 3)
    m.add("model.encoder.conv1.bias", 768)
    m.add("model.encoder.conv2.weight", 768, 768, 3)
    m.add("model.encoder.conv2.bias", 768)
    m.add("model.encoder.embed_positions.weight", 1500, 768)
    m.add("model.decoder.embed_tokens.weight", 51865, 768)
    m.add("model.decoder.embed_positions.weight", 448, 768)
    for side in ("encoder", "decoder"):
        at = "model.%s.layers.{0..11}" % side
        for kind in ["self_attn"] + ["encoder_attn"] * (side == "decoder"):
            for p in ("q_proj", "k_proj", "v_proj", "out_proj"):
                m.linear("%s.%s.%s" % (at, kind, p), 768, 768, p != "k_proj")
            m.norm("%s.%s_layer_norm" % (at, kind), 768, True)
        m.linear(at + ".fc1", 768, 3072, True)
        m.linear(at + ".fc2", 3072, 768, True)
        m.norm(at + ".final_layer_norm", 768, True)
        m.norm("model.%s.layer_norm" % side, 768, True)
    m.add("proj_out.weight", 51865, 768)
    return m


def llama4():
    """Llama 4 Scout, and some of its tower."""
    c = {"text_config": config(5120, 8192, 40, 8, 48, 202048, head_dim=128, intermediate_size_mlp=16384,
                               num_local_experts=16, model_type="llama4_text")}
    m = Model("llama-4-scout", "llama4", "fsdp=2,ep=4,tp=8", c)
    at = "language_model.model.layers.{0..47}"
    m.add("language_model.model.embed_tokens.weight", 202048, 5120)
    m.config = c["text_config"]
    attention(m, at)
    m.config = c
    m.add(at + ".feed_forward.experts.gate_up_proj", 16, 5120, 16384)
    m.add(at + ".feed_forward.experts.down_proj", 16, 8192, 5120)
    gated(m, at + ".feed_forward.shared_expert", 5120, 8192)
    m.linear(at + ".feed_forward.router", 5120, 16)
    m.norm(at + ".input_layernorm", 5120)
    m.norm(at + ".post_attention_layernorm", 5120)
    m.norm("language_model.model.norm", 5120)
    m.linear("language_model.lm_head", 5120, 202048)
    m.linear("multi_modal_projector.linear_1", 4096, 5120)
    m.add("vision_model.class_embedding", 1408)
    m.add("vision_model.positional_embedding_vlm", 577, 1408)
    m.linear("vision_model.patch_embedding.linear", 588, 1408)
    m.linear("vision_model.model.layers.{0..33}.self_attn.q_proj", 1408, 1408, True)
    m.linear("vision_model.model.layers.{0..33}.mlp.fc1", 1408, 5632, True)
    return m


def gpt_oss():
    c = config(2880, 2880, 64, 8, 24, 201088, head_dim=64, num_local_experts=32)
    m = Model("gpt-oss-20b", "gpt_oss", "fsdp=2,ep=4,tp=2", c)
    at = "model.layers.{0..23}"
    m.add("model.embed_tokens.weight", 201088, 2880)
    attention(m, at, True)
    m.add(at + ".self_attn.o_proj.bias", 2880)
    m.add(at + ".self_attn.sinks", 64)
    m.linear(at + ".mlp.router", 2880, 32, True)
    for name, outputs in (("gate_up_proj", 5760), ("down_proj", 2880)):
        m.add(at + ".mlp.experts.%s_blocks" % name, 32, outputs, 90, 16, dtype="U8")
        m.add(at + ".mlp.experts.%s_scales" % name, 32, outputs, 90, dtype="U8")
        m.add(at + ".mlp.experts.%s_bias" % name, 32, outputs)
    m.norm(at + ".input_layernorm", 2880)
    m.norm(at + ".post_attention_layernorm", 2880)
    m.norm("model.norm", 2880)
    m.linear("lm_head", 2880, 201088)
    return m


def mamba2():
    """Codestral Mamba."""
    c = {"hidden_size": 4096, "num_heads": 128, "head_dim": 64, "n_groups": 8, "state_size": 128,
         "conv_kernel": 4, "num_hidden_layers": 64, "vocab_size": 32768}
    m = Model("mamba-codestral-7b", "mamba2", "fsdp=4,tp=16", c)
    at = "backbone.layers.{0..63}"
    m.add("backbone.embeddings.weight", 32768, 4096)
    m.linear(at + ".mixer.in_proj", 4096, 2 * 8192 + 2 * 8 * 128 + 128)
    m.add(at + ".mixer.conv1d.weight", 8192 + 2 * 8 * 128, 1, 4)
    m.add(at + ".mixer.conv1d.bias", 8192 + 2 * 8 * 128)
    for name in ("A_log", "D", "dt_bias"):
        m.add(at + ".mixer." + name, 128)
    m.norm(at + ".mixer.norm", 8192)
    m.linear(at + ".mixer.out_proj", 8192, 4096)
    m.norm(at + ".norm", 4096)
    m.norm("backbone.norm_f", 4096)
    m.linear("lm_head", 4096, 32768)
    return m


def command_r():
    m = llama_like("command-r-plus", "cohere", "fsdp=8,tp=16", config(12288, 33792, 96, 8, 64, 256000),
                   norms=("input",), tied=True)
    m.add("model.layers.{0..63}.self_attn.q_norm.weight", 96, 128)
    m.add("model.layers.{0..63}.self_attn.k_norm.weight", 8, 128)
    return m


def qwen2_vl():
    m = llama_like("qwen2-vl-7b", "qwen2_vl", "fsdp=8,tp=4", config(3584, 18944, 28, 4, 28, 152064), True)
    at = "visual.blocks.{0..31}"
    m.add("visual.patch_embed.proj.weight", 1280, 3, 2, 14, 14)
    m.linear(at + ".attn.qkv", 1280, 3840, True)
    m.linear(at + ".attn.proj", 1280, 1280, True)
    m.linear(at + ".mlp.fc1", 1280, 5120, True)
    m.linear(at + ".mlp.fc2", 5120, 1280, True)
    for name in ("norm1", "norm2"):
        m.norm(at + "." + name, 1280, True)
    m.linear("visual.merger.mlp.0", 5120, 5120, True)
    return m


LITE = {"hidden_size": 2048, "intermediate_size": 10944, "moe_intermediate_size": 1408,
        "num_attention_heads": 16, "num_key_value_heads": 16, "num_hidden_layers": 27,
        "n_routed_experts": 64, "n_shared_experts": 2, "first_k_dense_replace": 1,
        "q_lora_rank": None, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
        "v_head_dim": 128, "vocab_size": 102400}
V3 = {"hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048,
      "num_attention_heads": 128, "num_key_value_heads": 128, "num_hidden_layers": 61,
      "n_routed_experts": 256, "n_shared_experts": 1, "first_k_dense_replace": 3,
      "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
      "v_head_dim": 128, "vocab_size": 129280, "num_nextn_predict_layers": 1}


def models():
    gemma_norms = ("input", "post_attention", "pre_feedforward", "post_feedforward")
    yield llama_like("llama-3-8b", "llama", "fsdp=4,tp=8", config(4096, 14336, 32, 8, 32, 128256))
    yield llama_like("llama-3-70b", "llama", "fsdp=8,tp=16", config(8192, 28672, 64, 8, 80, 128256))
    yield llama_like("qwen2-7b", "qwen2", "fsdp=8,tp=4", config(3584, 18944, 28, 4, 28, 152064), True)
    yield llama_like("gemma-2-9b", "gemma2", "fsdp=8,tp=16",
                     config(3584, 14336, 16, 8, 42, 256000, head_dim=256), norms=gemma_norms, tied=True)
    yield from (mixtral(), qwen3_moe(), phi3(), pythia(), falcon(), megatron(), t5(), gpt2(), bert(), vit(), whisper())
    yield from (llama4(), gpt_oss(), mamba2(), command_r(), qwen2_vl())
    yield deepseek("deepseek-v2-lite", "deepseek_v2", "fsdp=8,ep=4,tp=4", LITE)
    yield deepseek("deepseek-v3", "deepseek_v3", "fsdp=8,ep=8,tp=8", V3)


def expand(path):
    """Every path that a compact one stands for."""
    parts = re.split(r"\{(\d+)\.\.(\d+)\}", path)
    ranges = [range(int(a), int(b) + 1) for a, b in zip(parts[1::3], parts[2::3])]
    for numbers in itertools.product(*ranges):
        out = parts[0]
        for number, text in zip(numbers, parts[3::3]):
            out += str(number) + text
        yield out


def write_tree(name, folder):
    model = json.loads((HERE / (name + ".json")).read_text())
    tensors = [{"path": path, "dtype": dtype, "shape": shape}
               for compact, dtype, shape in model["tensors"] for path in expand(compact)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.json").write_text(json.dumps({"tensors": tensors}))
    (folder / "config.json").write_text(json.dumps(model["config"]))


def main():
    if sys.argv[1:2] == ["--tree"]:
        write_tree(sys.argv[2], pathlib.Path(sys.argv[3]))
        return
    for model in models():
        (HERE / (model.name + ".json")).write_text(model.text())


if __name__ == "__main__":
    main()
