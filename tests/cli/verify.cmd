# Comparing checkpoints. A small Llama, whole and cut in two ways.
python3 $DATA/../../tools/make_model model --hidden 64 --inner 96 --vocab 128 --files 2 --layers 1
tessera shard model cut --mesh fsdp=2,tp=4 --preset llama:fsdp+tp 2>/dev/null
tessera shard model ranks --mesh tp=8 --preset llama:tp --format ranks 2>/dev/null
tessera verify model cut
tessera verify cut ranks --json --quiet
tessera verify cut ranks --trust-hashes --hash
# One byte.
cp -r cut bad; printf '\001' | dd of=bad/data-00002-of-00008.safetensors bs=1 seek=5000 conv=notrunc 2>/dev/null
tessera verify model bad
tessera verify model bad --json | grep -A9 values_differ\",
tessera verify model bad --trust-hashes --quiet
# Two ranks change places: also the heads that they share.
cp -r ranks swapped; mv swapped/model-rank-0-part-0.safetensors x; mv swapped/model-rank-7-part-0.safetensors swapped/model-rank-0-part-0.safetensors; mv x swapped/model-rank-7-part-0.safetensors
tessera verify model swapped --quiet
tessera verify model swapped --trust-replicas --quiet
# A rank is missing.
cp -r ranks less; rm less/model-rank-3-part-0.safetensors; tessera verify model less
# After a cast.
tessera merge model f16.safetensors --dtype f16 --exclude down_proj 2>/dev/null
tessera verify model f16.safetensors --quiet
tessera verify model f16.safetensors --tolerance 1e-3
tessera verify model f16.safetensors --tolerance 0,1e-7 --stats | head -3
tessera verify model model --stats --json | grep -m1 -A3 stats
# Through a map, whichever of them has its sources.
tessera merge model fused.safetensors --map llama-fuse --no-sync 2>/dev/null
tessera verify model fused.safetensors --map llama-fuse
tessera verify fused.safetensors model --map llama-fuse
tessera verify fused.safetensors cut --map llama-unfuse
tessera verify cut fused.safetensors --map llama-unfuse --json --quiet 2>/dev/null | head -3
printf '\001' | dd of=fused.safetensors bs=1 seek=9000 conv=notrunc 2>/dev/null
tessera verify fused.safetensors model --map llama-fuse 2>/dev/null
tessera verify model fused.safetensors --map llama-fuse --map-of b --quiet
tessera verify model model --map llama-fuse --map-of a --quiet 2>/dev/null
# A map that fits neither way.
tessera verify fused.safetensors fused.safetensors --map llama-fuse
printf 'x.{n} = model.layers.{n}.input_layernorm.weight\nonly\n' > x.map; tessera verify model cut --map x.map
printf 'x = concat(0, model.norm.weight, lm_head.weight)\n' > x.map; tessera verify model cut --map x.map
printf 'lm_head.weight = transpose(lm_head.weight)\nnothing = model.norms\n' > x.map; tessera verify model model --map x.map
tessera verify model cut --map nowhere.map
tessera verify model cut --map-of a
# What is refused.
tessera verify model
tessera verify model nowhere
tessera verify model cut --tolerance much
tessera verify model cut --jobs -1
tessera verify model cut --max-memory 1M
tessera help verify
