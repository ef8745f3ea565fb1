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
