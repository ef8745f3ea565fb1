# Both ways, side by side.
tessera redistribute --from 'x, _' --to '_, x' --shape 8,16 --mesh x=4
tessera redistribute --from 'x, y' --to 'y, x' -s 4096,4096 -m x=2,y=4 --dtype bf16
tessera redistribute --from 'x, y' --to 'y, x' -s 4096,4096 -m x=2,y=4 -t gpu:1x8:h100 | grep -E 'links|step|all-to|permute|cheaper'
tessera redistribute --from 'x, _' --to 'x, _' -s 8,8 -m x=2

# The best sequence and Shardy's, and a cap on memory.
tessera redistribute --from 'x, y' --to 'y, x' -s 64,64 -m x=2,y=4 | grep -A9 collectives
tessera redistribute --from 'x, y' --to 'y, x' -s 64,64 -m x=2,y=4 --sequence shardy | grep -A9 collectives
tessera redistribute --from 'x, _' --to _ -s 64,64 -m x=2 --memory-cap 1K | grep -A3 collectives

# Between meshes, with other devices for the places.
tessera redistribute --from x --to x -s 1024 -m x=4 --to-mesh x=8 --relabel
tessera redistribute --from x --to x -s 1024 -m 'x=4 devices=[3,1,0,2]' --to-mesh x=4 --relabel | tail -3
tessera redistribute --from 'x, y' --to 'x, y' -s 8,8 -m x=2,y=2 --relabel | tail -2

# Cuts that are no boxes, sizes that do not divide, other notations.
tessera redistribute --from 'x/cyclic(2)' --to x -s 8 -m x=2
tessera redistribute --from x --to '_, x' -s 5,3 -m x=2 --policy uneven
tessera redistribute --from "P('x', None)" --to '[Shard(1)]' -s 4,4 -m x=2 | head -2
tessera redistribute --from 'x' --to '_, x' -s 6,4 -m x=4 --policy trim | head -2
tessera redistribute --from '()' --to '()' -s '()' -m x=2

# Partial results have no direct way.
tessera redistribute --from "P('x', unreduced={'y'})" --to "P('x', 'y')" -s 4,4 -m x=2:explicit,y=2:explicit

# Many devices, many copies.
tessera redistribute --from 'x' --to '_, x' -s 4096,4096 -m x=32 | head -12
tessera redistribute --from 'x' --to '_, x' -s 4096,4096 -m x=32 --copies | wc -l
tessera redistribute --from 'x' --to 'y' -s 65536 -m x=256,y=256 | sed -n 4,9p

# As data.
tessera redistribute --from 'x, _' --to '_, x' -s 4,4 -m x=2 --relabel --json
tessera redistribute --from x --to x -s 8 -m x=2 --to-mesh x=4 -t cpu:4 --json | grep -E 'none|"seconds"'
tessera redistribute --from "P(unreduced={'x'})" --to _ -s 4 -m x=2:explicit --json | grep none

# Pictures.
tessera redistribute --from 'x, _' --to '_, x' -s 8,16 -m x=4 --svg moves.svg | head -1; grep -c 'class="b"' moves.svg; grep -c '<title>.: 32 B stay' moves.svg
tessera redistribute --from 'x, y' --to 'y, x' -s 64,64 -m x=4,y=4 --svg - | grep -c 'class="cell"'
tessera redistribute --from 'x' --to '_, x' -s 1024,1024 -m x=256 --svg - | grep -oE '(>stays|>[0-9]+-[0-9]+)[^<]*' | head -3
tessera redistribute --from 'x' --to 'x' -s 0 -m x=2 --svg - | tail -1

# Mistakes.
tessera redistribute --from x --to y -s 8
tessera redistribute --from x -m x=2 -s 8
tessera redistribute --from x --to x -m x=2
tessera redistribute --from x --to modle -s 8 -m x=2,model=2
tessera redistribute --from 'x, y' --to x -s 8 -m x=2,y=2
tessera redistribute --from x --to x -s 7 -m x=2
tessera redistribute --from x --to x -s 8 -m x=2 --dtype flaot32
tessera redistribute --from x --to x -s 8 -m x=2 --engine mpi
tessera redistribute --from x --to x -s 8 -m x=2 --run --sequence shardy
tessera redistribute --from x --to x -s 8 -m x=2 --run --memory-cap 1G
tessera redistribute --from x --to x -s 8 -m x=2 --run --workers -1
tessera redistribute --from x --to x -s 8 -m x=2 --svg - --json
tessera redistribute --from x --to x -s 8 -m x=2 --memory-cap much
tessera redistribute --from x --to x -s 8 -m 'x=1073741824 abstract' --policy uneven
tessera redistribute --from "P(unreduced={'x'})" --to _ -s 4 -m x=2:explicit --svg -
tessera redistribute --from "P(unreduced={'x'})" --to _ -s 4 -m x=2:explicit --relabel
tessera redistribute --from "P(unreduced={'x'})" --to _ -s 4 -m x=2:explicit --to-mesh y=2
