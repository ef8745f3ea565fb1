# A quantised model, an adapter and states of an optimiser, by a preset that knows weights only.
echo '{"tensors": [{"path": "model.layers.0.self_attn.q_proj.qweight", "dtype": "I32", "shape": [64, 512]}, {"path": "model.layers.0.self_attn.q_proj.qzeros", "dtype": "I32", "shape": [8, 64]}, {"path": "model.layers.0.self_attn.q_proj.scales", "dtype": "F16", "shape": [8, 512]}, {"path": "model.layers.0.self_attn.q_proj.g_idx", "dtype": "I32", "shape": [512]}, {"path": "model.layers.0.self_attn.o_proj.qweight", "dtype": "I32", "shape": [64, 512]}, {"path": "model.layers.0.self_attn.o_proj.qzeros", "dtype": "I32", "shape": [8, 64]}, {"path": "model.layers.0.self_attn.o_proj.scales", "dtype": "F16", "shape": [8, 512]}, {"path": "model.layers.0.self_attn.o_proj.g_idx", "dtype": "I32", "shape": [512]}, {"path": "model.layers.0.mlp.down_proj.weight", "dtype": "U8", "shape": [65536, 1]}, {"path": "model.layers.0.mlp.down_proj.weight.absmax", "dtype": "F32", "shape": [2048]}, {"path": "base_model.model.model.layers.0.mlp.up_proj.lora_A.weight", "dtype": "F32", "shape": [8, 512]}, {"path": "base_model.model.model.layers.0.mlp.up_proj.lora_B.weight", "dtype": "F32", "shape": [1024, 8]}, {"path": "optim.state.model.layers.0.mlp.gate_proj.weight.exp_avg", "dtype": "F32", "shape": [1024, 512]}, {"path": "model.norm.weight", "dtype": "F16", "shape": [512]}, {"path": "optim.state.model.norm.weight.step", "dtype": "F32", "shape": [1]}]}' > model.json
tessera plan model.json --mesh tp=4 --preset llama:tp --fact heads=8,kv_heads=8,head_dim=64
tessera plan model.json --mesh tp=4 --preset llama:tp --fact heads=8,kv_heads=8,head_dim=64 --json -o plan.json; tessera check plan.json
for t in model.layers.0.self_attn.o_proj.qweight model.layers.0.self_attn.o_proj.scales model.layers.0.mlp.down_proj.weight optim.state.model.layers.0.mlp.gate_proj.weight.exp_avg; do tessera explain plan.json $t | sed '/^tried/,$d'; done

# Half a group has no scale.
echo '{"tensors": [{"path": "model.layers.0.mlp.down_proj.weight", "dtype": "F8_E4M3", "shape": [512, 1152]}, {"path": "model.layers.0.mlp.down_proj.weight_scale_inv", "dtype": "F32", "shape": [4, 9]}]}' > fp8.json
tessera plan fp8.json --mesh tp=3 --preset llama:tp --fact heads=8,kv_heads=8,head_dim=64
tessera plan fp8.json --mesh tp=2 --preset llama:tp --fact heads=8,kv_heads=8,head_dim=64

# Whoever decides, they stay together.
tessera plan fp8.json --mesh tp=3 --auto
tessera plan fp8.json --mesh tp=4 --auto
tessera plan fp8.json --mesh tp=4 --auto --no-companions
tessera plan fp8.json --mesh tp=2,dp=2 --fit 200K
tessera plan fp8.json --mesh tp=3 --auto --json -o auto.json; tessera convert auto.json --mesh tp=9; tessera convert auto.json --mesh tp=2

# What is not known has no rule.
echo '{"tensors": [{"path": "model.layers.0.mlp.down_proj.q_invperm", "dtype": "I16", "shape": [512]}]}' > exl2.json
tessera plan exl2.json --mesh tp=2 --preset llama:tp --fact heads=8,kv_heads=8,head_dim=64
tessera plan model.json --mesh tp=4 --preset llama:tp --fact heads=8,kv_heads=8,head_dim=64 --no-companions
