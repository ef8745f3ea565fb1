tessera topology cpu:8
tessera topology gpu:2x4:h100 --links
tessera topology tpu-v4:2x2x2
tessera topology tpu-v2:2x2 --json
tessera topology tpu-v4:2x2x1:slices=2

# Data comes back as it went out.
tessera topology gpu:2x2 --json > machine.json; tessera topology machine.json --json | cmp - machine.json && echo same

# Mistakes.
tessera topology tpu-v9:2x2
tessera topology gpu:4x
tessera topology gpu:4x8:h1000
tessera topology tpu-v4:4x4x4:slicse=2
tessera topology nowhere.json
echo '{"platform": "gpu"}' > broken.json; tessera topology broken.json
