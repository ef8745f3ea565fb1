# The day-one job needs no configuration. A small Llama: 8 heads, 2 of them for keys and values.
python3 $DATA/../../tools/make_model model --hidden 64 --inner 96 --vocab 128; q() { sed '/ tensors in /d'; }; tessera reshard model tp8 --tp 8 --no-sync 2>&1 | q; tessera reshard tp8 mixed --tp 4 --fsdp 2 --no-sync 2>&1 | q; tessera reshard mixed ranks --dp 2 --tp 2 --format ranks --no-sync 2>&1 | q; tessera reshard ranks back --tp 1 --no-sync 2>&1 | q; tessera verify model back
tessera shard model cut --tp 2 --dry-run --jobs 1 | head -2
tessera plan model --tp 8 | head -6
tessera explain model model.layers.0.self_attn.k_proj.weight --tp 8
tessera explain mixed model.layers.0.self_attn.k_proj.weight | head -4
tessera check model --tp 8 --memory 80GB
tessera check model --tp 8 --memory 10kB
tessera check mixed
tessera lint model --tp 2 | tail -1
tessera plan model --tp 2 --json -o p2.json; tessera convert p2.json --tp 4 --fsdp 2 | head -3
# The mesh in full; a family without its axes; a preset by the names of tensors alone.
tessera plan model --mesh tp=8 -o /dev/null
tessera plan model --mesh tp=8 --preset llama -o /dev/null
tessera plan model --mesh model=8 --axes tp=model -o /dev/null
tessera shard model fused --map llama-fuse --tp 2 --no-sync 2>&1 | grep preset; tessera plan fused --tp 4 -o /dev/null; tessera plan fused --tp 4 --preset phi3 -o /dev/null; tessera plan fused --tp 4 --preset phi3:tp -o /dev/null
# Sizes.
tessera plan model --tp 0
tessera plan model --tp two
tessera plan model --tp 2 --mesh tp=2
tessera plan model --tp 2 --tp 4
tessera plan model
tessera explain model lm_head.weight
tessera check model
tessera convert p2.json
# Axes that cut nothing make copies: never in silence.
tessera reshard model out --mesh model=8 --preset llama:tp
tessera reshard model out --mesh model=8
tessera reshard model out --dp 4 --dry-run > /dev/null
tessera reshard model out --tp 2 --ep 2
tessera plan model --mesh data=2,tp=2 -o /dev/null
tessera plan model --mesh data=2,tp=2 --preset llama:tp -o /dev/null
tessera plan model --mesh dp=2,tp=2 --preset llama:tp -o /dev/null
tessera plan model --dp 2 --tp 1 -o /dev/null
tessera plan model --dp 1 --tp 2 -o /dev/null
printf '%s\n' '. -> rows' > my.rules; tessera plan model --tp 2 --rules my.rules; tessera plan model --tp 2 --rules my.rules --axes rows=tp -o /dev/null
tessera plan model --tp 2 --topology gpu:2x4:h100 -o /dev/null
tessera plan model --tp 2 --fsdp 5 --auto -o /dev/null; tessera plan model --dp 5 --tp 2 --auto -o /dev/null
# A preset for another model.
tessera reshard model out --tp 2 --preset bert:tp
tessera reshard model out --tp 2 --preset mixtral
tessera reshard model out --tp 2 --preset megatron
tessera plan model --tp 2 --preset gemma
tessera plan model --tp 2 --preset gemma --any-model-type -o /dev/null
tessera plan model --tp 2 --preset mistral -o /dev/null
tessera plan model --tp 2 --preset lama; tessera plan model --tp 2 --preset $(printf 'x%.0s' {1..70}) 2>&1 | cut -c 1-40
tessera plan model --tp 2 --any-model-type
# Models that no preset is for, and those that do not say what they are.
mkdir new bare; cp model/model.safetensors new; cp model/model.safetensors bare; sed 's/"llama"/"newest"/' model/config.json > new/config.json; tessera reshard new out --tp 2; tessera plan new --tp 2 --preset llama -o /dev/null
tessera reshard bare out --tp 2; echo '{"hidden_size": 64}' > bare/config.json; tessera reshard bare out --tp 2 2>&1 | cut -c 1-60; echo '[]' > bare/config.json; tessera reshard bare out --tp 2
# Options that would have no effect.
tessera plan model --tp 2 --copies 3
tessera plan model --tp 2 --auto --policy uneven
tessera plan model --tp 2 --fit 1G --min-size 3
tessera plan model --tp 2 --auto --axes tp=model
tessera plan model --tp 2 --auto --allow-unmatched
tessera plan model --fsdp 2 --axes tq=model
tessera plan model --tp 2 --rules my.rules --axes row=tp
tessera plan model --tp 2 --rules my.rules --axes row
tessera plan model --tp 2 --fact haeds=8
tessera plan model --tp 2 --fact heads=8,heads=9; tessera plan model --tp 2 --fact heads=0; tessera plan model --tp 2 --fact =8; tessera plan model --mesh x=2,y=2 --axes tp=x,tp=y
tessera plan model --tp 2 --fact heads=8 -o /dev/null
cp -r model older; sed -i '/num_key_value_heads/d' older/config.json; tessera reshard older out --tp 4 --dry-run > /dev/null; tessera plan older --tp 4 --fact kv_heads=2 -o /dev/null
tessera plan model --fsdp 2 --fact heads=8
tessera plan model --tp 2 --auto --fact heads=8
printf '%s\n' 'vocab -> tp' > logical.rules; tessera plan model --tp 2 --logical logical.rules
echo '{"tensors": [{"path": "a", "dtype": "F32", "shape": [8, 4], "logical": ["vocab", "embed"]}, {"path": "b", "dtype": "F32", "shape": [8]}]}' > named.json; tessera plan named.json --tp 2 --logical logical.rules -o /dev/null; tessera plan named.json --mesh data=2,tp=2 --logical logical.rules -o /dev/null
echo '{"tensors": [{"path": "a", "dtype": "F32", "shape": [8, 4], "logical": ["embed", "embed"]}]}' > named.json; tessera plan named.json --tp 2 --logical logical.rules -o /dev/null
tessera check p2.json --tp 2 --auto; tessera check p2.json --preset llama; tessera check p2.json --fact heads=3; tessera explain p2.json lm_head.weight --auto
tessera reshard model out --plan p2.json --tp 2; tessera reshard model out --plan p2.json --policy uneven; tessera reshard model out --plan p2.json --fact heads=8
tessera gather mixed out --fact heads=8; tessera gather mixed out --npy-dtype bf16; tessera gather mixed out.npz --max-file-size 1M; tessera gather mixed out --format npy --max-file-size 1M
tessera gather mixed fused2 --map llama-fuse --fact heads=8 --dry-run; tessera gather mixed megatron --map llama-to-megatron --fact heads=8 --dry-run > /dev/null
tessera verify model mixed --fact heads=8
tessera lint model --preset llama:fsdp --topology gpu:2x4:h100; tessera lint model --preset llama
