# What is wrong with a checkpoint. A sound one first.
python3 $DATA/../../tools/make_model model --hidden 32 --inner 32 --vocab 32 --files 2 --layers 1
tessera fsck model
# A name that is not in the index; a file that is missing; a file whose header lacks a tensor.
cp -r model a; sed -i '/"model.layers.0.mlp.up_proj.weight"/d' a/model.safetensors.index.json; tessera fsck a
cp -r model b; rm b/model-00002-of-00002.safetensors; tessera fsck b
cp -r model c; sed -i 's/"model.norm.weight"/"model.norm.wait"/' c/*.json; tessera fsck c; tessera fsck c --json | grep -c repairable
# All of them at once, and more.
cp -r c d; truncate -s -10 d/model-00001-of-00002.safetensors; touch d/x.safetensors d/y.partial; ln -s /dev/null d/z; ln -s nowhere d/n; tessera fsck d
tessera fsck d --repair | grep tensors:
# A tensor that no file holds is not mended away; an index that lacks one is mended.
tessera fsck c --repair | grep tensors:; ls c
tessera fsck a --repair; tessera fsck a; tessera verify a model; ls a
rm model/*.json.bak model/model.safetensors.index.json 2>/dev/null; tessera fsck model; tessera fsck model --repair; tessera fsck model
echo '{"metadata": {"total_size": 1}, "weight_map": {' > model/model.safetensors.index.json; tessera fsck model --repair
sed -i 's/"total_size": [0-9]*/"total_size": 7/' model/*.index.json; tessera fsck model
# Damage that only reading finds.
tessera shard model cut --mesh tp=2 --preset llama:tp 2>/dev/null; tessera fsck cut --deep
printf '\001' | dd of=cut/data-00002-of-00002.safetensors bs=1 seek=5000 conv=notrunc 2>/dev/null; tessera fsck cut; tessera fsck cut --deep
rm cut/data-00002-of-00002.safetensors; tessera fsck cut
tessera shard model ranks --mesh tp=2 --preset llama:tp --format ranks 2>/dev/null; tessera fsck ranks --deep; cp ranks/model-rank-0-part-0.safetensors one.safetensors
truncate -s 100 one.safetensors; tessera fsck one.safetensors
tessera fsck nowhere
# The index, the manifest or the plan of a folder stands for the folder; what was left beside it is told.
tessera fsck model/model.safetensors.index.json; tessera fsck ranks/tessera-plan.json --deep --max-memory 64M --jobs 1; tessera fsck ranks/config.json
tessera fsck model --deep --max-memory 1M
mkdir model.partial; tessera fsck model; echo x > model.journal; tessera fsck model --json
