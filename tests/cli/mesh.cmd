tessera mesh data=2,model=4
tessera mesh data=2,model=4 --json
tessera mesh a=2,b=2,c=2
tessera mesh data=2,model=4:explicit --text
tessera mesh 'data=2,model=2 devices=[3,1,0,2]'

# Fitted to machines.
tessera mesh data=2,model=4 --topology tpu-v4:2x2x2 --builder device
tessera mesh data=4,model=2 -t tpu-v3:2x2 -b device
tessera mesh replica=1,data=4,model=2 -t tpu-v4:2x2x2:slices=2 -b hybrid --dcn 2,1,1 --text
tessera mesh -t tpu-v3:4x4 --builder t5x --partitions 4 --text
tessera mesh dp=-1,tp=4 -t gpu:2x8 --builder eformer --text
tessera mesh data=-1,model=4 -t gpu:4x4:h100
tessera mesh data=4,model=16 -t tpu-v4:4x4x4 -b search --traffic data=1000000,model=1000000000 --text

# New meshes from old ones.
tessera mesh a=2,b=2,c=2 --slice b=1 --text
tessera mesh a=2,b=2,c=2 --flatten a,b=ab --text
tessera mesh a=2,b=2,c=2 --transpose c,a,b --text
tessera mesh data=4,model=4 -t gpu:4x4 --local 2 --text

# Mistakes.
tessera mesh
tessera mesh data
tessera mesh data=2,data=4
tessera mesh data=x
tessera mesh data=3,model=-1 -t cpu:8
tessera mesh data=3,model=3 -t cpu:8
tessera mesh data=8 -b device
tessera mesh data=8,model=3 -t tpu-v4:2x2x2 -b device
tessera mesh a=2,b=2 --slice z=0
tessera mesh a=2,b=2 --slice a=2
tessera mesh a=2,b=2,c=2 --flatten a,c=ac
tessera mesh a=2,b=2 --transpose a

# An option that would be passed over is a mistake.
tessera mesh a=2,b=2 --split
tessera mesh a=2 --builder t5x -t cpu:4
tessera mesh a=2 --json --svg mesh.svg
tessera mesh a=2 --slice a
tessera mesh a=2 --slice a=0x1
tessera mesh a=2,b=2 --flatten a,b=
tessera mesh a=4 -t gpu:4x1 --local 4294967296
tessera mesh 'a=4611686018427387904 abstract'
tessera mesh 'a=4611686018427387904 abstract' --text

# Names may be in any script, or hold what would upset a terminal.
tessera mesh 'дом=2,"a\x1b[31m\nb"=2'

# A mesh as data is a mesh.
tessera mesh 'a=2,b=2 devices=[3,1,0,2]' --json > mesh.json; tessera mesh mesh.json --text; tessera show 4,4 'a, b' --mesh mesh.json --device 1
tessera mesh none.json
