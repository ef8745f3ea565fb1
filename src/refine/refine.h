// Programs of unknown shapes, as jax.export writes them for symbolic dimensions, made static.
#ifndef TESSERA_REFINE_REFINE_H
#define TESSERA_REFINE_REFINE_H

#include "ir/ir.h"
#include "tessera/shape.h"

// Refines the entry function to argument shapes: sizes flow through all ops, regions and calls;
// functions are copied for each signature they are called with; arithmetic on sizes is computed;
// ops such as dynamic_reshape become static ones; shape assertions are checked and removed.
// `shapes` has one for each argument of the entry; those of arguments that are no tensors are not
// looked at. Fails with the message of an assertion that does not hold (constraint), and for what
// stays unknown (unsupported), which it names. Shapes may contradict what ops ask of each other:
// tsr_verify afterwards finds it. The program is unusable after a failure.
TSR_MUST_USE tsr_status tsr_refine(tsr_ir *ir, const tsr_shape *shapes, int count);
// Arguments of a function with a body become constants at its start and go from its signature.
// `constants` has a DENSE attribute of the argument's type for each argument; NULL = it stays.
TSR_MUST_USE tsr_status tsr_bind_arguments(tsr_ir *ir, tsr_op *func,
                                           const tsr_attr *const *constants);
// Whether any value of the entry's arguments has an unknown size.
bool tsr_is_polymorphic(const tsr_ir *ir);

#endif
