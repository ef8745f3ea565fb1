# Completions complete: the commands, the options of one, the choices of an option.
tessera completion bash > tessera.bash
. ./tessera.bash; COMP_WORDS=(tessera sh) COMP_CWORD=1; _tessera; echo "${COMPREPLY[@]}"
. ./tessera.bash; COMP_WORDS=(tessera show --po) COMP_CWORD=2; _tessera; echo "${COMPREPLY[@]}"
. ./tessera.bash; COMP_WORDS=(tessera show --policy t) COMP_CWORD=3; _tessera; echo "${COMPREPLY[@]}"
tessera completion zsh | grep policy
tessera completion fish | grep policy

# Manual pages come from the same tables.
tessera help --manual | grep '^# '
tessera help --manual show
tessera help --manual shwo
