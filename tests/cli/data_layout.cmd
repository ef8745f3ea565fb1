# Which rows of a batch each process reads.
tessera data-layout gpu:4x8 --partitions 4 --batch 256
tessera data-layout gpu:4x2 --partitions 4 --batch 64
tessera data-layout tpu-v4:4x4x1 --submesh 4,1,1,1 --host-index 2
tessera data-layout tpu-v4:2x2x2:slices=2 --ici 1,2,4 --dcn 2,1,1 --base
tessera data-layout gpu:2x4 --partitions 4 --batch 8 --json

# Rules say what cuts the data.
echo 'batch -> model' > rules.txt; tessera data-layout gpu:4x2 --partitions 4 --batch 64 --rules rules.txt
echo 'batch -> _' > rules.txt; tessera data-layout gpu:2x2 --partitions 2 --rules rules.txt
echo 'batch -> _' > rules.txt; tessera data-layout gpu:2x2 --partitions 2 --rules rules.txt --json

# What t5x passes over in silence is told.
tessera data-layout cpu:2x4 --partitions 2 --batch 8
tessera data-layout gpu:2x4 --partitions 2 --submesh 1,4 --ici 1,2,2 --batch 8

# Mistakes.
tessera data-layout
tessera data-layout gpu:4x8
tessera data-layout gpu:4x8 --ici 1,2,4
tessera data-layout gpu:4x8 --partitions 4 --batch 100
tessera data-layout gpu:4x8 --partitions 4 --batch 0
tessera data-layout gpu:4x8 --partitions 4 --host-index 4
tessera data-layout gpu:4x8 --partitions 4 --host-index -1
tessera data-layout gpu:4x8 --partitions 3
tessera data-layout gpu:4x8 --partitions 4 --base --rules rules.txt
tessera data-layout gpu:4x8 --partitions 4 --rules none.txt
tessera data-layout gpu:4x8 --submesh 1,2,x
tessera data-layout gpu:4x8 --partitions 4 --ici 1,y --dcn 1,1

tessera data-layout --help
