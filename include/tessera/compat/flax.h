// flax's answers in its own words: logical axis rules as linen and flax.core.spmd map them, and the
// constraints made of them.
#ifndef TESSERA_COMPAT_FLAX_H
#define TESSERA_COMPAT_FLAX_H

#include "tessera/compat/constrain.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/compat/scope.h"

#endif
