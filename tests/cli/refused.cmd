# What would be wrong in silence is refused. A small model in a folder, and the same cut.
python3 $DATA/../../tools/make_model model --hidden 64 --inner 96 --vocab 128; tessera shard model cut --mesh tp=2 --preset llama:tp --no-sync 2>/dev/null
# --force replaces checkpoints, and nothing else.
mkdir papers; touch papers/letter.odt papers/tax.pdf; tessera merge model papers --force; ls papers
cp -r cut mine; touch mine/thesis.tex; mkdir mine/runs; tessera gather cut mine --force; ls mine | grep -c thesis
rm -r mine/thesis.tex mine/runs; tessera merge model mine --force --no-sync 2>/dev/null; tessera verify model mine --quiet
# A quantised weight is several tensors: maps and casts do not part them. FP8 with scales for blocks, and GPTQ.
l=model.layers.0.self_attn; for p in q k v; do set -- "$@" "$l.${p}_proj.weight F8_E4M3 128,128" "$l.${p}_proj.weight_scale_inv F32 1,1"; done; $DATA/../support/make_tensors fp8.safetensors 'model.norm.weight BF16 128' "$@"
l=model.layers.0.self_attn; for p in q k v; do set -- "$@" "$l.${p}_proj.qweight I32 16,128" "$l.${p}_proj.scales F16 1,128" "$l.${p}_proj.qzeros I32 1,16"; done; $DATA/../support/make_tensors gptq.safetensors 'model.norm.weight F16 128' "$@"
for m in llama-fuse llama-to-flax; do for f in fp8 gptq; do tessera merge $f.safetensors no.safetensors --map $m 2>&1 | grep -v warning; done; done
echo '{p}.qkv_proj.{w} = concat(0, {p:.*}.q_proj.{w:weight|weight_scale_inv}, {p}.k_proj.{w}, {p}.v_proj.{w})' > both.map; tessera merge fp8.safetensors fused.safetensors --map both.map 2>/dev/null; tessera verify fp8.safetensors fused.safetensors --map both.map --quiet 2>/dev/null
tessera merge fp8.safetensors apart.safetensors --map llama-fuse --no-companions 2>/dev/null; tessera inspect apart.safetensors | grep -c scale
tessera merge fp8.safetensors no.safetensors --dtype bf16
tessera merge gptq.safetensors no.safetensors --dtype bf16
tessera shard fp8.safetensors no --mesh tp=2 --auto --dtype f16 2>&1 | grep -c quantised
tessera merge fp8.safetensors some.safetensors --cast norm=f32 2>/dev/null; tessera inspect some.safetensors | grep -c f8
# A map that finds nothing changes nothing.
tessera merge model no.safetensors --map llama-unfuse 2>&1 | tail -1
# A folder of ours carries hashes: every command that reads notices one flipped bit.
printf '\377' | dd of=cut/data-00001-of-00002.safetensors bs=1 seek=20000 conv=notrunc 2>/dev/null; tessera gather cut no.safetensors 2>&1 | sed 's/hash [0-9a-f]*, but the manifest says [0-9a-f]*/hash A, but the manifest says B/'; ls -d no*
tessera reshard cut no --mesh tp=4 --preset llama:tp 2>&1 | grep -c 'source is damaged'; tessera gather cut no.safetensors --dtype f32 2>&1 | grep -c 'source is damaged'; tessera gather cut no.safetensors --map llama-fuse 2>&1 | grep -c 'source is damaged'; tessera fsck cut --deep | grep -c hash
tessera gather cut taken.safetensors --trust-source 2>/dev/null; tessera verify model taken.safetensors --quiet
tessera shard model large --mesh tp=2 --preset llama:tp --no-sync 2>/dev/null; echo 'model.norm.weight = slice(model.norm.weight, 0, 0:8)' > some.map; tessera gather large part.safetensors --map some.map --json 2>&1 >report.json | grep note; grep checked report.json
# Numbers that do not fit into the type of a cast.
$DATA/../support/make_tensors big.safetensors 'a F32 4 1,70000,2,1e6' 'b F32 3 1e5'; tessera merge big.safetensors no.safetensors --dtype f16; ls no.safetensors
tessera merge big.safetensors inf.safetensors --dtype f16 --allow-overflow --json 2>&1 >report.json | grep warning; sed -n '/lost/,/]/p' report.json
# What goes along as it was may no longer be true.
tessera merge model half --dtype f16 --no-sync 2>&1 | grep warning; tessera merge model same --dtype bf16 --no-sync 2>&1 | grep warning
