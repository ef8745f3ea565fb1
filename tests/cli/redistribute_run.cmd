# Both ways on real buffers, every element looked at. Times differ from run to run.
tessera redistribute --from 'x, _' --to '_, x' -s 64,64 -m x=4 --run --workers 2 | sed -n '/run by/,$p' | sed -E 's/in [0-9.]+ [mun]?s, .*/in TIME/'
tessera redistribute --from 'x, y' --to 'y+x' -s 64,64 -m x=2,y=3 --policy uneven --run -w 1 | sed -n '/run by/,$p' | sed -E 's/in [0-9.]+ [mun]?s, .*/in TIME/'
tessera redistribute --from 'x/cyclic(3)' --to '_, x' -s 10,5 -m x=2 --to-mesh x=3 --policy pad --run | sed -n '/verified/p'
tessera redistribute --from '()' --to '()' -s '()' -m x=2 --run | sed -n '/verified/p'
tessera redistribute --from 'x' --to '_' -s 0 -m x=2 --run | sed -n '/verified/p'

# Every width of elements, and partial results.
for t in bool i4 u8 bf16 f32 f64 c64 c128 f4e2m1fn f8e4m3fn; do tessera redistribute --from 'x, y' --to 'y, x' -s 8,24 -m x=2,y=4 --dtype $t --run | grep verified; done
tessera redistribute --from "P('x', unreduced={'y'})" --to "P('x', 'y')" -s 8,8 -m x=2:explicit,y=2:explicit --run | grep verified
tessera redistribute --from "P('x', unreduced={'y'})" --to "P(None, 'x', unreduced={'y'})" -s 8,8 -m x=2:explicit,y=2:explicit --dtype bf16 --run | grep verified

# As data.
tessera redistribute --from x --to '_, x' -s 8,8 -m x=2 --run --workers 1 --json | sed -n '/"run"/,$p' | sed -E 's/(seconds": ).*[0-9]/\1TIME/'

# More than the machine has.
tessera redistribute --from x --to '_, x' -s 4194304,4194304 -m x=2 --run
tessera redistribute --from x --to x -s 8 -m 'x=2 devices=[0,2000000000]' --run
