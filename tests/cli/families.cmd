# Every model_type that a preset is for goes to two ranks and back without anybody naming the preset: cut for tensor
# parallel engines (--tp), fully sharded (--fsdp), and whole again, where every element is compared.
python3 $DATA/../models/small.py models; comm -13 <(ls models | sort) <(sed -n 's/^# model_type: \([^;]*\).*/\1/p' $DATA/../../presets/*.rules | tr ' ' '\n' | sort)
cd models; for type in *; do echo "$type: $(tessera reshard $type ../tp2 --tp 2 --format ranks --no-sync --force 2>&1 | grep -v ' tensors in ')"; tessera reshard ../tp2 ../fsdp2 --fsdp 2 --no-sync --force 2>&1 | grep warning; tessera reshard ../fsdp2 ../tp1 --tp 1 --no-sync --force 2>/dev/null; tessera verify $type ../tp1; done
# The page on rules lists them all, each with its family.
sed -n 's/^# model_type: \([^;]*\).*/\1/p' $DATA/../../presets/*.rules | tr ' ' '\n' | sort | comm -3 - <(sed -n 's/^| `[a-z0-9_]*` | \(`[^|]*\) |.*| fsdp.*/\1/p' $DATA/../../docs/rules.md | tr -d '`,' | tr ' ' '\n' | sort)
# Experts over ranks.
cd models; for type in mixtral qwen3_moe deepseek_v3 llama4 gpt_oss; do tessera reshard $type ../ep2 --ep 2 --tp 2 --no-sync --force 2>&1 | grep preset; tessera verify $type ../ep2; done
# A family without its variant is the same as the model's own; so is a full name.
cd models; for type in mistral gemma2 t5; do tessera plan $type --tp 2 --fsdp 2 --json > ../own.json; tessera plan $type --tp 2 --fsdp 2 --preset $type --json | cmp - ../own.json; tessera plan $type -m fsdp=2,tp=2 -p $type:fsdp+tp --json | cmp - ../own.json; done
