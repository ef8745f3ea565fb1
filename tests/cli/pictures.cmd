# Pictures are files; what matters of them is looked at, and that they are well formed.
tessera show 8,16 'data, model' --mesh data=2,model=4 --svg - | head -c 60
tessera show 4,6,8 'x, y, z' --mesh x=2,y=3,z=2 --html page.html; grep -c '<tr>' page.html
tessera mesh a=2,b=4 -t gpu:2x4 --svg mesh.svg; grep -c 'class="cell"' mesh.svg
tessera show 8,16 'data, model' --mesh data=2,model=4 --color always | head -6 | cat -v
