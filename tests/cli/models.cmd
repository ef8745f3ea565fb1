# Plans of well-known models, from their published configurations. Reviewed by eye: matrices of
# attention and feed-forward are cut both ways, norms stay whole, nothing is left without a rule.
make=$DATA/../models/make.py; for m in llama-3-8b llama-3-70b mixtral-8x7b t5-v1_1-xxl gpt2 phi-3-mini; do python3 $make --tree $m $m; done
tessera plan llama-3-8b/model.json --mesh fsdp=4,tp=8 --preset llama:fsdp+tp
tessera plan llama-3-70b/model.json --mesh fsdp=8,tp=16 --preset llama:fsdp+tp
tessera plan mixtral-8x7b/model.json --mesh fsdp=4,ep=2,tp=8 --preset mixtral:fsdp+ep+tp
tessera plan t5-v1_1-xxl/model.json --mesh fsdp=4,tp=8 --preset t5:fsdp+tp
tessera plan gpt2/model.json --mesh fsdp=2,tp=4 --preset gpt2:fsdp+tp
tessera plan phi-3-mini/model.json --mesh fsdp=4,tp=8 --preset phi3:fsdp+tp

# Other ways to decide.
tessera plan llama-3-8b/model.json --mesh fsdp=32 --preset llama:fsdp
tessera plan llama-3-8b/model.json --mesh data=4,model=8 --preset llama:fsdp+tp --axes fsdp=data,tp=model
tessera plan llama-3-8b/model.json --mesh data=4,model=8 --auto
tessera plan llama-3-8b/model.json --mesh data=4,model=8 --topology tpu-v4:2x4x4 --fit 1G
tessera plan llama-3-8b/model.json --mesh data=4,model=8 --fit 100MB
