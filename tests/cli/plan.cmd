# A small model, rules of its own.
echo '{"tensors": [{"path": "embed.weight", "dtype": "F32", "shape": [1000, 64]}, {"path": "layers.0.mlp.weight", "dtype": "F32", "shape": [256, 64]}, {"path": "layers.1.mlp.weight", "dtype": "F32", "shape": [256, 64]}, {"path": "norm.scale", "dtype": "F32", "shape": [64]}, {"path": "step", "dtype": "I64", "shape": []}]}' > model.json
printf '%s\n' '# two axes' 'embed -> tp, fsdp' 'mlp -> tp, fsdp' 'norm -> _' 'mpl -> tp' > my.rules
tessera plan model.json --mesh fsdp=2,tp=4 --rules my.rules
tessera plan model.json --mesh fsdp=3,tp=4 --rules my.rules --json -o plan3.json
tessera plan model.json --mesh fsdp=2,tp=4 --rules my.rules --json -o plan2.json
tessera plan model.json --mesh fsdp=2,tp=4 --rules my.rules --json
tessera plan model.json --mesh fsdp=2,tp=4 --rules my.rules --min-size 20000

# Looking at it.
tessera check plan2.json
tessera check plan3.json
tessera check plan3.json --warn-as-error --json
tessera check plan2.json --memory 10K
tessera explain plan3.json layers.1.mlp.weight
tessera explain plan2.json step
tessera explain plan2.json layers.1.mpl.weight
tessera diff plan2.json plan3.json
tessera diff plan2.json plan2.json
tessera diff plan2.json plan3.json --json

# A page.
tessera plan model.json --mesh fsdp=2,tp=4 --rules my.rules --html report.html; grep -c '<tr title' report.html

# Mistakes.
tessera plan model.json --mesh fsdp=2,tp=4
tessera plan model.json --mesh fsdp=2,tp=4 --auto --rules my.rules
tessera plan model.json --mesh fsdp=2,tp=4 --preset lama:tp
tessera plan model.json --mesh fsdp=2,tp=4 --preset llama:tp
tessera plan model.json --mesh fsdp=2,tp=4 --preset phi3:tp
printf '%s\n' 'embed -> tp, fsdp' 'mlp( -> tp' > broken.rules; tessera plan model.json --mesh fsdp=2,tp=4 --rules broken.rules
printf '%s\n' 'embed -> tp, fsdp' > few.rules; tessera plan model.json --mesh fsdp=2,tp=4 --rules few.rules
tessera plan model.json --mesh fsdp=2,tp=4 --rules few.rules --allow-unmatched
tessera plan nowhere --mesh fsdp=2,tp=4 --auto
tessera plan model.json --mesh fsdp=2,tp=4 --fit much
tessera check model.json

# Rules that are odd.
tessera lint model.json --rules my.rules --mesh fsdp=2,tp=4
tessera lint model.json --rules my.rules --mesh fsdp=3,tp=4
tessera lint model.json --rules few.rules --json
tessera lint model.json

# The same plan on another mesh.
tessera convert plan2.json --mesh fsdp=4,tp=2
tessera convert plan2.json --mesh data=4,model=4
tessera convert plan2.json --mesh fsdp=4,tp=2 --strategy guess

# What is odd about a model's files is said, and goes its way.
printf '\65\0\0\0\0\0\0\0{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}abc' > one.safetensors
echo '{"metadata": {"total_size": 8}, "weight_map": {"a": "one.safetensors"}}' > model.safetensors.index.json
tessera plan . --mesh tp=3 --auto
tessera lint . --rules few.rules

# Attention is cut by heads, all of it or nothing: 14 heads and 2 of keys and values.
mkdir qwen; echo '{"num_attention_heads": 14, "num_key_value_heads": 2, "hidden_size": 896}' > qwen/config.json
echo '{"tensors": [{"path": "model.layers.0.self_attn.q_proj.weight", "dtype": "BF16", "shape": [896, 896]}, {"path": "model.layers.0.self_attn.k_proj.weight", "dtype": "BF16", "shape": [128, 896]}, {"path": "model.layers.0.self_attn.v_proj.bias", "dtype": "BF16", "shape": [128]}, {"path": "model.layers.0.self_attn.o_proj.weight", "dtype": "BF16", "shape": [896, 896]}]}' > qwen/model.json
tessera plan qwen/model.json --mesh fsdp=2,tp=4 --preset qwen2:fsdp+tp
tessera plan qwen/model.json --mesh tp=4 --preset qwen2:tp --policy uneven
tessera plan qwen/model.json --mesh tp=2 --preset qwen2:tp

# A plan knows the machine it was made for, and check its memory.
tessera plan qwen/model.json --mesh tp=2 --topology gpu:1x2:h100:memory=1M --preset qwen2:tp --json -o small.json; tessera check small.json; tessera check small.json --memory 1G

# Two key heads on two ranks are an even cut; on fourteen they need copies, and the plan knows.
tessera plan qwen/model.json --mesh tp=2 --preset qwen2:tp --json -o two.json; grep -A1 rules_options two.json
tessera convert two.json --mesh model=14
tessera convert two.json --mesh model=4
tessera convert two.json --mesh model=14 --json -o many.json; tessera check many.json --model qwen/model.json

# A plan that does not know heads is carried over with a warning.
printf '%s\n' 'q_proj|k_proj|v_proj -> tp' 'o_proj -> _, tp' > plain.rules; rm qwen/config.json
tessera plan qwen/model.json --mesh tp=2 --rules plain.rules --json -o plain.json; tessera convert plain.json --mesh tp=4 --json -o plain4.json; tessera check plain4.json
echo '{"num_attention_heads": 14, "num_key_value_heads": 2, "hidden_size": 896}' > qwen/config.json
tessera convert plain.json --mesh tp=4 --model qwen/model.json --json -o plain4.json; tessera check plain4.json --model qwen/model.json
tessera check plain4.json --model model.json
printf '%s\n' 'q_proj|o_proj -> _' '[kv]_proj -> tp' > half.rules; tessera plan qwen/model.json --mesh tp=2 --rules half.rules --json | tessera check -
