# A model as a list of tensors; a safetensors file or a folder does as well.
echo '{"model.layers.0.self_attn.q_proj.weight": {"dtype": "bf16", "shape": [64, 32]},' > model.json
echo ' "model.norm.weight": {"dtype": "bf16", "shape": [32]}}' >> model.json
plan model.json tp=4 $'q_proj -> tp, _\n.* -> ()'
plan model.json tp=4
echo '{"model_type": "llama", "num_attention_heads": 8, "hidden_size": 32, "head_dim": 8}' > config.json
plan model.json tp=4
plan model.json tp=4 'q_proj -> tp, _'
