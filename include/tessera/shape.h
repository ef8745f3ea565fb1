// Shapes: sizes of a tensor's dimensions, outermost first, all arithmetic checked.
#ifndef TESSERA_SHAPE_H
#define TESSERA_SHAPE_H

#include <stdint.h>

#include "tessera/dtype.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

#define TSR_MAX_RANK 32

typedef struct tsr_shape {
  int rank;
  int64_t dims[TSR_MAX_RANK];
} tsr_shape;
#ifndef __cplusplus  // tessera.hpp has tsr::shape{8, 16}: a C++ compiler would pass a dead temporary

// TSR_SHAPE(8, 16) in C: a pointer to a shape of rank 2 that lives to the end of the block.
#define TSR_SHAPE(...) \
  (&(tsr_shape){(int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), {__VA_ARGS__}})
#define TSR_SCALAR (&(tsr_shape){0, {0}})

#endif

TSR_API TSR_MUST_USE tsr_status tsr_shape_init(tsr_shape *shape, const int64_t *dims, int rank);
// No negative sizes, rank in bounds, and the product of the sizes that are not 0 at most 2^62, so
// that no product of some of them can overflow even when the tensor is empty.
TSR_API TSR_MUST_USE tsr_status tsr_shape_check(const tsr_shape *shape);
TSR_API bool tsr_shape_equal(const tsr_shape *a, const tsr_shape *b);
TSR_API TSR_MUST_USE tsr_status tsr_shape_count(const tsr_shape *shape, int64_t *out_elements);
TSR_API TSR_MUST_USE tsr_status tsr_shape_bytes(const tsr_shape *shape, tsr_dtype dtype,
                                                int64_t *out_bytes);
// How many elements apart neighbours along each dimension lie in a row-major tensor.
TSR_API void tsr_shape_strides(const tsr_shape *shape, int64_t *out_strides);
// "8,16", "8x16", "[8, 16]", "(8, 16)", "(8,)", "()" and "[]" (a scalar) are understood. Printed as
// Python prints it: "(8, 16)", "(8,)", "()".
TSR_API TSR_MUST_USE tsr_status tsr_shape_parse(const char *text, tsr_shape *out_shape);
TSR_API void tsr_shape_print(const tsr_shape *shape, tsr_text *out);

TSR_END_DECLS

#endif
