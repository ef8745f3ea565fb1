# Writing checkpoints anew. A small Llama: 8 heads, 2 of them for keys and values, in two files.
python3 $DATA/../../tools/make_model model --hidden 64 --inner 96 --vocab 128 --files 2; ls model
# What would be done.
tessera shard model cut --mesh fsdp=2,tp=4 --preset llama:fsdp+tp --dry-run --jobs 1 | grep -v ^disk
# Done: 2x4, then 4x2 as files for each rank, whole again, in one file. Nothing is lost on the way.
tessera shard model cut --mesh fsdp=2,tp=4 --preset llama:fsdp+tp 2>/dev/null; ls cut
tessera plan model --mesh fsdp=4,tp=2 --preset llama:fsdp+tp --json -o 4x2.json
tessera plan cut --mesh fsdp=4,tp=2 --preset llama:fsdp+tp --json | cmp - 4x2.json
tessera reshard cut ranks --plan 4x2.json --format ranks 2>/dev/null; ls ranks
tessera gather ranks whole --max-file-size 100kB 2>/dev/null; ls whole
tessera merge whole one.safetensors 2>/dev/null; tessera merge model two.safetensors 2>/dev/null; cmp one.safetensors two.safetensors
tessera split one.safetensors pieces --max-file-size 60kB 2>/dev/null; ls pieces
# Files of ranks say not how they were cut.
rm ranks/tessera-plan.json; tessera gather ranks whole.safetensors
tessera gather ranks whole.safetensors --from 4x2.json 2>/dev/null; cmp one.safetensors whole.safetensors
# KV heads fewer than ranks: ranks share them.
tessera shard model tp8 --mesh tp=8 --preset llama:tp --format ranks --no-sync 2>/dev/null && tessera gather tp8 tp8.safetensors 2>/dev/null; cmp one.safetensors tp8.safetensors
# Some tensors, in other types.
tessera merge model small.safetensors --include 'layers\.0' --exclude mlp --cast 'norm=f32' --dtype f16 --json 2>/dev/null | sed -n '1,/bytes_written/p' | grep -v -e workers
tessera plan small.safetensors --mesh x=1 --auto
# The summary, with its numbers taken out.
tessera merge model again.safetensors 2>&1 | sed 's/[0-9.]\+ \(s\|[kMG]*B\)/N/g'
# By a map: q, k and v in one, then cut by their parts; and apart again.
tessera shard model fused --map llama-fuse --mesh tp=2 --preset phi3:tp 2>/dev/null; tessera verify model fused --map llama-fuse
tessera gather fused unfused.safetensors --map llama-unfuse 2>/dev/null; tessera verify model unfused.safetensors
printf 'lm_head.kernel = transpose(lm_head.weight)\nx.{n} = nothing.{n}\n' > my.map; tessera merge model flax.safetensors --map my.map 2>&1 | grep warning; tessera verify model flax.safetensors --map my.map --quiet 2>/dev/null; tessera verify model flax.safetensors --quiet
tessera merge model again --map llama-fuze; printf 'a = transpose(lm_head.weight, 0)\n' > bad.map; tessera merge model again --map bad.map; tessera merge model again --map ./none.map
# NumPy's archive, and a folder of its arrays: out, cut, and whole again.
tessera merge model m.npz 2>/dev/null; python3 -m zipfile -t m.npz; tessera fsck m.npz --deep; tessera verify model m.npz
tessera merge m.npz arrays --format npy 2>/dev/null; ls arrays | head -3; tessera fsck arrays; tessera verify m.npz arrays --quiet
tessera shard m.npz cut3 --mesh tp=2 --preset llama:tp --fact heads=8,kv_heads=2,head_dim=8 2>/dev/null; tessera gather cut3 m2.npz 2>/dev/null; tessera verify m.npz m2.npz --quiet
tessera merge arrays back.safetensors 2>/dev/null; tessera verify one.safetensors back.safetensors --quiet
tessera merge m.npz again --format nzp
# What is refused.
tessera shard cut again --mesh tp=2 --preset llama:tp
tessera gather model again
tessera reshard model again
tessera reshard model again --mesh tp=2 --auto --plan 4x2.json
tessera reshard model again --auto --plan 4x2.json
tessera reshard model cut --mesh tp=2 --preset llama:tp
: > begun.journal; tessera reshard model begun --mesh tp=2 --preset llama:tp; rm begun.journal
tessera reshard model model/again --mesh tp=2 --preset llama:tp
tessera reshard model again --mesh tp=2 --preset llama:tp --max-memory 1M
tessera reshard model again --mesh tp=2 --preset llama:tp --jobs -1
tessera merge model again --dtype f17
tessera merge model again --dtype i8; tessera merge model again --cast norm=u8
tessera merge model again --cast bf16
tessera merge ranks again; tessera shard ranks again --mesh tp=2 --preset llama:tp
# Who names a file gets a file of that kind.
tessera merge model again.pt; tessera gather cut again.gguf
tessera merge model again.safetensors --format npz; tessera merge model again.npz --format folder
tessera split model again.safetensors --max-file-size 1M; tessera split model again --max-file-size 0
tessera shard model again.safetensors --mesh tp=2 --preset llama:tp
tessera merge model again --include embd
tessera merge model again --resume --force
tessera reshard nowhere again --mesh tp=2 --auto
# What does not divide is on every rank, and that is said.
tessera reshard model three --mesh tp=3 --preset llama:tp --dry-run > /dev/null
tessera reshard model three --mesh tp=3 --preset llama:tp --policy uneven --dry-run > /dev/null
tessera reshard model sixteen --mesh tp=16 --preset llama:tp --policy uneven --dry-run > /dev/null
# So is what an axis would cut that the mesh lacks; where it lacks all of them, nothing is left to cut.
tessera reshard model four --mesh tp=4 --preset llama:fsdp+tp --dry-run > /dev/null
tessera reshard model four --mesh model=4 --preset llama:tp --dry-run > /dev/null
tessera reshard model four --mesh model=4 --preset llama:tp --axes tp=model --dry-run > /dev/null
# Folders that hold something else.
mkdir odd; cp model/config.json odd; touch odd/pytorch_model.bin; tessera inspect odd
cp one.safetensors odd/adapter_model.safetensors; tessera inspect odd; cp one.safetensors odd/more.safetensors; tessera inspect odd
echo '{}' > odd/other.safetensors.index.json; tessera inspect odd
