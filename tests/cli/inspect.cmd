# What a checkpoint holds. A small Llama, whole, cut, and as files for each rank.
python3 $DATA/../../tools/make_model model --hidden 64 --inner 96 --vocab 128 --files 2 --layers 2
tessera shard model cut --mesh fsdp=2,tp=4 --preset llama:fsdp+tp 2>/dev/null
tessera shard model ranks --mesh dp=2,tp=4 --preset llama:tp --format ranks 2>/dev/null
tessera inspect model
tessera inspect model/model.safetensors.index.json --group --sort name
tessera inspect model/model-00002-of-00002.safetensors --include 'self_attn|norm' --exclude '[qkv]_proj' --sort bytes
tessera inspect cut --group --sort file
tessera inspect ranks --group --include layers --stats
# By file, rank and device.
tessera inspect model --by file
tessera inspect cut --by device
tessera inspect ranks --by rank --include norm
# One tensor.
tessera inspect cut --tensor lm_head.weight --hash --stats
tessera inspect cut --tensor lm_head
tessera inspect ranks --tensor model.layers.1.self_attn.k_proj.weight
tessera inspect model -t model.norm.weight --hash
# Elements: the same from every layout, of which only what is shown is read.
tessera inspect cut -t lm_head.weight -s '0:4, :8'
for m in model cut ranks; do tessera inspect $m -t lm_head.weight -s '::37, -3:'; done | sort | uniq -c
tessera inspect cut -t lm_head.weight -s ':'
tessera inspect ranks -t model.layers.0.mlp.up_proj.weight -s '3, ::-9'
tessera inspect cut -t model.norm.weight --slice=-1
tessera inspect model -t lm_head.weight -s ':' --full | wc -l
tessera inspect model -t lm_head.weight -s '5:5'
# As data.
tessera inspect model --json --include norm
tessera inspect cut --json --group --include mlp --stats
tessera inspect cut --json --by rank
tessera inspect ranks --json -t model.norm.weight -s ':4' --hash | sed '/"copies"/,/]/d'
tessera inspect cut --json -t model.layers.0.self_attn.v_proj.weight --hash | tail -28
# A hash that is not what was stored; what is odd goes to standard error, and into the data.
printf '\001' | dd of=cut/data-00002-of-00008.safetensors bs=1 seek=5000 conv=notrunc 2>/dev/null
tessera inspect cut --hash | grep -c 'differs from stored'
tessera inspect cut --hash >/dev/null
tessera inspect cut --hash --json | grep -o '"name": "[^"]*"[^}]*"hash_agrees": false' | cut -d, -f1
sed -i 's/"total_size": [0-9]*/"total_size": 7/' model/*.index.json; tessera inspect model --by file | tail -2; tessera inspect model --json | grep -A1 warnings
# Names that are no plain text.
python3 -c 'import sys; h = b"{\"a\\u001b[2Jb\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}"; sys.stdout.buffer.write(len(h).to_bytes(8, "little") + h + b"xy")' > odd.safetensors; tessera inspect odd.safetensors
# NumPy's arrays, as they are and packed.
python3 -c 'import struct, zipfile; h = b"{\"descr\": \">f4\", \"fortran_order\": True, \"shape\": (3, 4), }".ljust(117) + b"\n"; a = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(h)) + h + struct.pack(">12f", *range(12)); open("x.npy", "wb").write(a); zipfile.ZipFile("a.npz", "w", zipfile.ZIP_DEFLATED).writestr("x.npy", a)'; tessera inspect a.npz
tessera inspect x.npy -t x -s '1:, ::2'; tessera inspect a.npz -t x; tessera inspect a.npz -t x -s '-1, 1'
# What is refused.
tessera inspect nowhere
tessera inspect model --by device
tessera inspect model -t lm_head.wieght
tessera inspect model -t x
tessera inspect model --slice 0:4
tessera inspect model -t lm_head.weight -s 200
tessera inspect model -t lm_head.weight -s '0, 0, 0'
tessera inspect model -t lm_head.weight -s '0:4 8'
tessera inspect model -t lm_head.weight --group
tessera inspect model --group --hash
tessera inspect model --by rank --stats
tessera inspect model --sort size
tessera inspect model --include nothing
tessera inspect model --stats --max-memory 1M 2>&1 | sed 's/[0-9]\{4,\}/N/g'
tessera inspect model -t lm_head.weight -s : --full --max-memory 1000
tessera inspect model --stats --jobs -2
rm ranks/tessera-plan.json; tessera inspect ranks
tessera help inspect
