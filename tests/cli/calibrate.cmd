# What messages cost here: the numbers are the machine's.
tessera calibrate --devices 4 --most 64K -o here.json | sed -E '/rough:/d; s/ +[-+0-9.e]+ ([mun]s|s)/ TIME/g; s/ +[-+0-9.e]+ (%|ns\/B)/ N \1/g; s/\([0-9.e+]+ GB/(N GB/; s/beta not.*/beta TIME\/B (N GB\/s)/'
tessera topology here.json | head -1 | sed 's/, .*//'
tessera redistribute --from x --to '_, x' -s 64,64 -m x=4 --topology here.json | grep -cE 'time by the links +[0-9.]+ [mun]s|, [0-9.e-]+ s, optimal|by the links$'
tessera calibrate --devices 2 --most 4096 --json | tr -d ' \n' | grep -oE '"(engine|ranks|level|devices|bytes)":(\[[0-9,]*\]|"[a-z]*"|[0-9]+)'
tessera calibrate --devices 1 --most 4096 -w 1
tessera calibrate --devices 3 --most 4096 -o - | tessera topology /dev/stdin | head -1 | sed 's/, .*//'

# Mistakes.
tessera calibrate --devices 0
tessera calibrate --devices many
tessera calibrate --devices 1000000000000
tessera calibrate --most large
tessera calibrate --most 8T
tessera calibrate --engine carrier-pigeon
tessera calibrate --devices 2 --most 64 -o /nonexistent/here.json
