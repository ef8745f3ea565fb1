// Functions of c128, computed in long double.
#define PART double
#define WIDE long double
#define SPLIT (0x1p37L + 1)  // cuts 53 bits into 27 and 26
#define WIDE_FN(name) name##l
#define LOOP_NAME(name) tsr_tile_c128_##name
#include "tile/tile_complex.inc"
