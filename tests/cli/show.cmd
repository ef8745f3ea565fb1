# A matrix cut both ways.
tessera show 8,16 'data, model' --mesh data=2,model=4
tessera show 8,16 'data, model' --mesh data=2,model=4 --device 5
tessera show 4,4 'x, y' --mesh x=2,y=2 --json
tessera show 4,4 'x, y' --mesh x=2,y=2 --json --device 3

# Replicas, a scalar, a vector, nothing cut.
tessera show 8 x --mesh x=2,y=2
tessera show '()' '()' --mesh x=2
tessera show 4,4 '()' --mesh x=2,y=2

# Three cut dimensions become panels; any two can be drawn.
tessera show 4,6,8 'x, y, z' --mesh x=2,y=3,z=2
tessera show 4,6,8 'x, y, z' --mesh x=2,y=3,z=2 --dims 0,2

# Sizes that do not divide.
tessera show 17,4 data --mesh data=8
tessera show 17,4 data --mesh data=8 --policy uneven
tessera show 17,4 data --mesh data=8 --policy pad --dtype f32
tessera show 6,4 'x+y' --mesh x=2,y=4 --policy trim
tessera show 10 'dp;tp' --mesh dp=2,tp=4 --policy uneven
tessera show 10 'dp+tp' --mesh dp=2,tp=4 --policy uneven

# Other cuts.
tessera show 12 'x/cyclic(2)' --mesh x=3
tessera show 8 'x/sizes(3,3,2)' --mesh x=3
tessera show 1280 'tp/parts(q:1024/128, k:128/64*2, v:128/64*2)' --mesh tp=4

# Any notation.
tessera show 8,8 "P('x', None)" --mesh x=2,y=2
tessera show 8,8 '{devices=[2,2]<=[4]}' --mesh x=2,y=2
tessera show 8,8 '[Shard(1), Replicate()]' --mesh x=2,y=2
tessera show 8,8 '#sdy.sharding<@mesh, [{"x"}, {}]>' --mesh x=2,y=2

# Many devices are abbreviated.
tessera show 4096,64 'x' --mesh x=128 | head -20

# Mistakes.
tessera show 8,8 'modle' --mesh model=2
tessera show 8,8 'x, x' --mesh x=2
tessera show 8 'x, y' --mesh x=2,y=2
tessera show 8,q 'x' --mesh x=2
tessera show 8 'x' --mesh x=0
tessera show 8 'x' --mesh x=2 --device 9
tessera show 8,8 'x' --mesh x=2 --dims 0,5
tessera show 8,8 'x' --mesh x=2 --dims 1
tessera show 8 'x/sizes(3,3)' --mesh x=2
tessera show 8,8 'x' --mesh x=2 --svg /nonexistent/picture.svg
tessera show 8 'x' --mesh x=2 --json --svg picture.svg
tessera show 8 'x' --mesh x=2 --device 1 --html page.html
tessera show 8 'x' --mesh x=2 --dtype float
tessera show 8 'x' --mesh 'x=4611686018427387904 abstract' --policy uneven
tessera show 8 'x' --mesh 'x=4611686018427387904 abstract' --policy uneven --device 7
tessera show 8 'x' --mesh 'x=4611686018427387904 abstract' --policy uneven --device 7 --check
