// Shapes: sizes of a tensor's dimensions, outermost first, all arithmetic checked. Tensors: a path,
// a type and a shape.
#ifndef TESSERA_SHAPE_H
#define TESSERA_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

#define TSR_MAX_RANK 32

typedef struct tsr_shape {
  int rank;
  int64_t dims[TSR_MAX_RANK];
} tsr_shape;
#ifndef __cplusplus  // tessera.hpp has tsr::shape{8, 16}: C++ would pass a dead temporary
// TSR_SHAPE(8, 16) in C: a pointer to a shape of rank 2 that lives to the end of the block.
#define TSR_SHAPE(...) \
  (&(tsr_shape){(int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), {__VA_ARGS__}})
#define TSR_SCALAR (&(tsr_shape){0, {0}})
#endif

// The elements and bytes of a tensor of this shape; elements narrower than a byte are packed. Fails
// for negative sizes, a rank out of bounds, and a product of nonzero sizes above 2^62. So no
// product of sizes of a valid shape overflows, even when the tensor is empty.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_shape_count(const tsr_shape *shape,
                                                            int64_t *out_elements);
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_shape_bytes(const tsr_shape *shape, tsr_dtype dtype,
                                                            int64_t *out_bytes);
// "8,16", "8x16", "[8, 16]", "(8, 16)", "(8,)", "()" and "[]" (a scalar) are understood. Printed as
// Python prints it: "(8, 16)", "(8,)", "()".
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_shape_parse(const char *text, tsr_shape *out_shape);
TSR_API TSR_NONNULL void tsr_shape_print(const tsr_shape *shape, tsr_text *out);

// ---- tensors ----

// A tensor's description, in a tree (tessera/tree.h), in a file or on devices (tsr_leaf of
// tessera/place.h). Names and dims are borrowed from that tree, file or leaf.
typedef struct tsr_tensor {
  const char *path;
  tsr_dtype dtype;
  int rank;
  const int64_t *dims;
  const char *const *logical;  // `rank` names, NULL or "" = none; NULL = no logical axes at all
} tsr_tensor;

// A tensor of this type and shape, which it borrows: tsr_tensor_of("w", TSR_F32, TSR_SHAPE(8, 16)).
static inline tsr_tensor tsr_tensor_of(const char *path, tsr_dtype dtype, const tsr_shape *shape) {
  const tsr_tensor tensor = {path, dtype, shape->rank, shape->dims, NULL};
  return tensor;
}

// The shape of a checked tensor, such as those of trees and files.
TSR_API TSR_NONNULL tsr_shape tsr_tensor_shape(const tsr_tensor *tensor);

TSR_END_DECLS

#endif
