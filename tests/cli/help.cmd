# What a newcomer types first.
tessera
tessera help
tessera --version
tessera help show
tessera mesh --help
tessera spec --help
tessera topology --help
tessera completion --help

# Wrong words get a suggestion and exit code 2.
tessera shwo
tessera help shwo
tessera show 8,8 data --mehs data=2
tessera show 8,8 data -x
tessera show 8,8 data --mesh
tessera show 8,8 data --json=yes --mesh data=2
tessera show 8,8 data
tessera show 8,8
tessera show 8,8 data --mesh data=2 --policy sometimes
tessera completion csh

# A full disk does not go unseen.
tessera help > /dev/full
tessera --version > /dev/full
tessera mesh a=2 --text > /dev/full

# An option is refused alike by every command that takes it.
for c in fsck inspect verify reshard shard gather split merge; do tessera $c a b --jobs 5000 2>&1 | head -1; done
tessera verify a b --jobs many; tessera verify a b --jobs 2x
tessera redistribute --from x --to x -s 8 -m x=2 --run --workers 5000
tessera plan a --tp 0; tessera reshard a b --dp 0

# It has one definition, but for words that mean something else in another command.
for c in $(tessera help | awk '/^  [a-z]/ && $1 != "tessera" {print $1}'); do tessera help $c | sed -n 's/^  .. --\([a-z-]*\)[^ ]*\( [^ ]\+\)\?  \+\(.*\)/\1: \3/p'; done | sort -u | cut -d: -f1 | uniq -d | paste -sd ' '
