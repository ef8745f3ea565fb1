// compat/flax.h
#ifndef TSR_COMPAT_FLAX_H
#define TSR_COMPAT_FLAX_H

#include "tessera/compat/constrain.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/compat/scope.h"

#endif
