# Pipeline stages of two layers each, cut for two ranks, that number their layers from 0.
python3 $DATA/../../tools/make_model model --hidden 64 --inner 96 --vocab 128 --layers 4; mkdir pp
printf 'only\nembed.weight = model.embed_tokens.weight\nlayers.{n}.{x} = model.layers.{n:[01]}.{x:.*}\n' > 0.map
printf 'only\nlayers.{n-2}.{x} = model.layers.{n:[23]}.{x:.*}\nnorm.weight = model.norm.weight\nhead.weight = lm_head.weight\n' > 1.map
for s in 0 1; do tessera shard model pp/stage$s --map $s.map --mesh tp=2 --auto --format ranks 2>/dev/null >&2; done; ls pp/stage1
# All stages in one model again, cut otherwise.
printf 'model.embed_tokens.weight = stage0.embed.weight\nmodel.layers.{n+2*stage}.{x} = stage{stage}.layers.{n}.{x:.*}\nmodel.norm.weight = stage1.norm.weight\nlm_head.weight = stage1.head.weight\n' > join.map
cp model/config.json pp; tessera reshard pp tp4 --map join.map --mesh tp=4 --preset llama:tp 2>/dev/null; tessera verify model tp4; tessera verify pp model --map join.map
# Without a map, names tell the stage.
tessera merge pp all.safetensors 2>/dev/null; tessera plan all.safetensors --mesh x=2 --auto
tessera inspect pp/ --by file; tessera inspect pp --tensor stage1.head.weight | tail -3
# What is refused.
tessera gather pp whole --from none.json; mv pp/stage1 pp/stage2; tessera gather pp whole
