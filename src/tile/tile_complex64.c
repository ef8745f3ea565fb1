// Functions of c64, computed in f64.
#define PART float
#define WIDE double
#define SPLIT 1.0  // a square of f32 is exact in f64 as it is
#define WIDE_FN(name) name
#define LOOP_NAME(name) tsr_tile_c64_##name
#include "tile/tile_complex.inc"
