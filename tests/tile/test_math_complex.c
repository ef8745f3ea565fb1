#include <math.h>
#include <string.h>

#include "math_values.h"
#include "support/test.h"
#include "tile/tile_math.h"

// ---- values computed with 1400 digits, rounded to f64 ----

static const struct {
  tsr_tile_op op;
  double z[2], want[2];
} values[] = {
    {TSR_TILE_LOG,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.08b90ef531f6ap-1, -0x1.dac670561bb4fp-2}},
    {TSR_TILE_LOG,
     {0x1.3333333333333p-1, 0x1.999999999999ap-1},
     {0x1.999999999999ap-56, 0x1.dac670561bb50p-1}},
    {TSR_TILE_LOG,
     {-0x1.3333333333333p-1, -0x1.999999999999bp-1},
     {0x1.0000000000000p-53, -0x1.1b6e192ebbe44p+1}},
    {TSR_TILE_LOG,
     {0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023},
     {0x1.63108c75a1936p+9, 0x1.921fb54442d18p-1}},
    {TSR_TILE_LOG,
     {0x0.0000000000001p-1022, 0x0.0000000000001p-1022},
     {-0x1.740bf7c0d927cp+9, 0x1.921fb54442d18p-1}},
    {TSR_TILE_LOG,
     {0x1.c000000000000p-512, -0x1.c000000000000p-512},
     {-0x1.61fc33e8b4340p+8, -0x1.921fb54442d18p-1}},
    {TSR_TILE_LOG,
     {-0x1.fffffffffffffp+1023, 0x1.8000000000000p+0},
     {0x1.62e42fefa39efp+9, 0x1.921fb54442d18p+1}},
    {TSR_TILE_LOG, {1, 0x1.b7cdfd9d7bdbbp-34}, {0x1.79ca10c924224p-68, 0x1.b7cdfd9d7bdbbp-34}},
    {TSR_TILE_LOG_PLUS_ONE,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.eb33cce10e03bp-1, -0x1.2a73a661eaf06p-2}},
    {TSR_TILE_LOG_PLUS_ONE,
     {0x1.79ca10c924223p-67, 0x1.4484bfeebc2a0p-100},
     {0x1.79ca10c924223p-67, 0x1.4484bfeebc2a0p-100}},
    {TSR_TILE_LOG_PLUS_ONE,
     {-0x1.2725dd1d243acp-59, 0x1.12e0be826d695p-29},
     {0x1.1f393f2b27f9ep-113, 0x1.12e0be826d695p-29}},
    {TSR_TILE_LOG_PLUS_ONE,
     {-0x1.47ae147ae147bp-8, 0x1.9916722b93d65p-4},
     {-0x1.0d28fb79cef5ap-60, 0x1.99c5570328658p-4}},
    {TSR_TILE_LOG_PLUS_ONE,
     {0x1.fffffffffffffp+1023, -0x1.fffffffffffffp+1023},
     {0x1.63108c75a1936p+9, -0x1.921fb54442d18p-1}},
    {TSR_TILE_LOG_PLUS_ONE,
     {0x0.0000000000001p-1022, 0x0.0000000000001p-1022},
     {0x0.0000000000001p-1022, 0x0.0000000000001p-1022}},
    {TSR_TILE_LOG_PLUS_ONE,
     {-0x1.999999999999ap-2, 0x1.999999999999ap-1},
     {0x1.999999999999ap-56, 0x1.dac670561bb50p-1}},
    {TSR_TILE_LOG_PLUS_ONE,
     {-0x1.8000000000000p+0, 0x1.56e1fc2f8f359p-997},
     {-0x1.62e42fefa39efp-1, 0x1.921fb54442d18p+1}},
    {TSR_TILE_EXPONENTIAL,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.a3bce42f7d780p+1, -0x1.8706bbb279ea5p+1}},
    {TSR_TILE_EXPONENTIAL,
     {0x1.62f3333333333p+9, 0x1.921fb54442d18p+0},
     {0x1.3d865d17687b5p+970, INFINITY}},
    {TSR_TILE_EXPONENTIAL, {-745, 1}, {0, 0}},
    {TSR_TILE_EXPONENTIAL,
     {0, 0x1.fffffffffffffp+1023},
     {-0x1.fffe62ecfab75p-1, 0x1.452fc98b34e97p-8}},
    {TSR_TILE_EXPONENTIAL,
     {0x1.56e1fc2f8f359p-997, 0x0.0000000000001p-1022},
     {1, 0x0.0000000000001p-1022}},
    {TSR_TILE_EXPONENTIAL, {-800, -3}, {-0.0, -0.0}},
    {TSR_TILE_EXPONENTIAL_MINUS_ONE,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.23bce42f7d780p+1, -0x1.8706bbb279ea5p+1}},
    {TSR_TILE_EXPONENTIAL_MINUS_ONE,
     {0x1.79ca10c924223p-67, 0x1.19799812dea11p-40},
     {0x1.79c53ad87db81p-67, 0x1.19799812dea11p-40}},
    {TSR_TILE_EXPONENTIAL_MINUS_ONE,
     {-0x1.f75104d551d69p-16, 0x1.cac083126e979p-8},
     {-0x1.c92b196875869p-15, 0x1.cabc079f14187p-8}},
    {TSR_TILE_EXPONENTIAL_MINUS_ONE,
     {0x0.0000000000001p-1022, 0x1.c000000000000p-512},
     {-0x0.61fffffffffffp-1022, 0x1.c000000000000p-512}},
    {TSR_TILE_EXPONENTIAL_MINUS_ONE,
     {0x1.62f3333333333p+9, 0x1.8000000000000p+0},
     {0x1.45cba03d40df7p+1020, INFINITY}},
    {TSR_TILE_SQRT,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.42a76cd6a2a62p+0, -0x1.30ac5123b8539p-2}},
    {TSR_TILE_SQRT,
     {0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023},
     {0x1.19435caffa9f8p+512, 0x1.d203138f6c828p+510}},
    {TSR_TILE_SQRT,
     {-0x1.fffffffffffffp+1023, 0x0.0000000000001p-1022},
     {0, 0x1.fffffffffffffp+511}},
    {TSR_TILE_SQRT,
     {0x0.0000000000001p-1022, 0x0.0000000000001p-1022},
     {0x1.19435caffa9f9p-537, 0x1.d203138f6c828p-539}},
    {TSR_TILE_SQRT, {-4, 0x1.79ca10c924223p-67}, {0x1.79ca10c924223p-69, 2}},
    {TSR_TILE_SQRT,
     {0x1.c000000000000p-512, -0x1.fffffffffffffp+1023},
     {0x1.6a09e667f3bccp+511, -0x1.6a09e667f3bccp+511}},
    {TSR_TILE_RSQRT,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.80c98ffac611ap-1, 0x1.6b58091b41093p-3}},
    {TSR_TILE_RSQRT,
     {0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023},
     {0x1.8dc42193d5c03p-513, -0x1.49852f983efdep-514}},
    {TSR_TILE_RSQRT,
     {0x0.0000000000001p-1022, -0x0.0000000000001p-1022},
     {0x1.8dc42193d5c03p+536, 0x1.49852f983efddp+535}},
    {TSR_TILE_RSQRT, {-4, 0x1.79ca10c924223p-67}, {0x1.79ca10c924223p-71, -0x1.0000000000000p-1}},
    {TSR_TILE_SINE,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.4a9bd144d8ed1p+0, -0x1.dc83f1a3110c5p-5}},
    {TSR_TILE_SINE,
     {0x1.fffffffffffffp+1023, 0x1.0000000000000p-1},
     {0x1.6eb05dd1d9f80p-8, -0x1.0acc29be1d0fdp-1}},
    {TSR_TILE_SINE,
     {0x1.79ca10c924223p-67, 710},
     {0x1.d57aa67f814afp+956, 0x1.3e21a464507f9p+1023}},
    {TSR_TILE_SINE, {3, -0x1.62f3333333333p+9}, {0x1.44fab2e04239dp+1020, 0x1.1cf9fa526e775p+1023}},
    {TSR_TILE_COSINE,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.771ef91ba3d07p-4, 0x1.a3f8b39b0621ap-1}},
    {TSR_TILE_COSINE,
     {0x1.fffffffffffffp+1023, 0x1.0000000000000p-1},
     {-0x1.20ab2f7d2383ep+0, -0x1.52e80ff22d8aep-9}},
    {TSR_TILE_COSINE, {0x1.12e0be826d695p-30, 0x1.12e0be826d695p-30}, {1, -0x1.2725dd1d243acp-60}},
    {TSR_TILE_COSINE,
     {3, -0x1.62f3333333333p+9},
     {-0x1.1cf9fa526e775p+1023, 0x1.44fab2e04239dp+1020}},
    {TSR_TILE_TAN,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.a844269c37704p-4, -0x1.90182e7d0feccp+0}},
    {TSR_TILE_TAN, {0x1.8000000000000p+0, 400}, {0, 1}},
    {TSR_TILE_TAN,
     {0x1.79ca10c924223p-67, 0x1.4484bfeebc2a0p-100},
     {0x1.79ca10c924223p-67, 0x1.4484bfeebc2a0p-100}},
    {TSR_TILE_TAN,
     {0x1.921fb54442d18p+0, 0x1.5798ee2308c3ap-27},
     {0x1.398273df7d2cap-1, 0x1.7d78400000000p+26}},
    {TSR_TILE_TANH,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.f9e9d44976d20p-1, -0x1.92ff1b187973ep-4}},
    {TSR_TILE_TANH, {400, 0x1.8000000000000p+0}, {1, 0}},
    {TSR_TILE_TANH,
     {-0x1.79ca10c924223p-67, 0x1.4484bfeebc2a0p-100},
     {-0x1.79ca10c924223p-67, 0x1.4484bfeebc2a0p-100}},
    {TSR_TILE_TANH,
     {0x1.5798ee2308c3ap-27, 0x1.921fb54442d18p+0},
     {0x1.7d78400000000p+26, 0x1.398273df7d2cap-1}},
    {TSR_TILE_LOGISTIC,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.b0be6f179b3a5p-1, -0x1.c4a4a83182a18p-4}},
    {TSR_TILE_LOGISTIC, {-700, 1}, {0x1.2b4573ec73261p-1011, 0x1.d216621c543dbp-1011}},
    {TSR_TILE_LOGISTIC, {50, -2}, {1, -0x1.a80b698a6350fp-73}},
    {TSR_TILE_LOGISTIC, {0x1.79ca10c924223p-67, 3}, {0x1.0000000000000p-1, 0x1.c33ed50b88777p+2}},
    {TSR_TILE_SIGN, {3, -4}, {0x1.3333333333333p-1, -0x1.999999999999ap-1}},
    {TSR_TILE_SIGN,
     {0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023},
     {0x1.6a09e667f3bcdp-1, 0x1.6a09e667f3bcdp-1}},
    {TSR_TILE_SIGN,
     {0x0.0000000000001p-1022, -0x0.0000000000001p-1022},
     {0x1.6a09e667f3bcdp-1, -0x1.6a09e667f3bcdp-1}},
    {TSR_TILE_CBRT,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.2c8684f36e9a0p+0, -0x1.768dfe9813814p-3}},
    {TSR_TILE_CBRT, {-8, 0x1.b7cdfd9d7bdbbp-34}, {0x1.0000000007ef6p+0, 0x1.bb67ae858035dp+0}},
    {TSR_TILE_CBRT,
     {0x1.fffffffffffffp+1023, -0x1.fffffffffffffp+1023},
     {0x1.5db3d742c2655p+341, -0x1.76cf5d0b09955p+339}},
    {TSR_TILE_ASIN,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.0637bdfb5f3dap+0, -0x1.29acbe31a8627p+0}},
    {TSR_TILE_ASIN,
     {0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023},
     {0x1.921fb54442d18p-1, 0x1.636945819d7c5p+9}},
    {TSR_TILE_ASIN,
     {0x1.fffffffffffffp-1, 0x1.12e0be826d695p-30},
     {0x1.921da2b97650bp+0, 0x1.094564530f806p-15}},
    {TSR_TILE_ASIN,
     {0x1.0000000000001p+0, -0x0.0000000000001p-1022},
     {0x1.921fb54442d18p+0, -0x1.6a09e667f3bccp-26}},
    {TSR_TILE_ASIN,
     {0x1.c000000000000p-512, 0x1.56e1fc2f8f359p-997},
     {0x1.c000000000000p-512, 0x1.56e1fc2f8f359p-997}},
    {TSR_TILE_ASIN,
     {-100000, 0x1.4f8b588e368f1p-17},
     {-0x1.921fb543d4de0p+0, 0x1.869825a921700p+3}},
    {TSR_TILE_ACOS,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.17cfee91c727dp-1, 0x1.29acbe31a8627p+0}},
    {TSR_TILE_ACOS,
     {0x1.fffffffffffffp+1023, -0x1.fffffffffffffp+1023},
     {0x1.921fb54442d18p-1, 0x1.636945819d7c5p+9}},
    {TSR_TILE_ACOS,
     {0x1.fffffffffffffp-1, 0x1.12e0be826d695p-30},
     {0x1.094566406cb83p-15, -0x1.094564530f806p-15}},
    {TSR_TILE_ACOS,
     {0x1.c000000000000p-512, 0x1.56e1fc2f8f359p-997},
     {0x1.921fb54442d18p+0, -0x1.56e1fc2f8f359p-997}},
    {TSR_TILE_ACOS,
     {-100000, 0x1.4f8b588e368f1p-17},
     {0x1.921fb5440bd7cp+1, -0x1.869825a921700p+3}},
    {TSR_TILE_ATAN,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.0ea08721d4c56p+0, -0x1.a9d8f3ed9f959p-3}},
    {TSR_TILE_ATAN,
     {0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023},
     {0x1.921fb54442d18p+0, 0x0.2000000000000p-1022}},
    {TSR_TILE_ATAN,
     {0x1.12e0be826d695p-30, 0x1.fffffffffffffp-1},
     {0x1.921fb36992430p-1, 0x1.56a9a0b23d186p+3}},
    {TSR_TILE_ATAN,
     {0x0.0000000000001p-1022, 0x1.8000000000000p+0},
     {0x1.921fb54442d18p+0, 0x1.9c041f7ed8d33p-1}},
    {TSR_TILE_ATAN,
     {0x1.87e92154ef7acp-665, -0x1.6e93f5da2824cp-831},
     {0x1.87e92154ef7acp-665, -0x1.6e93f5da2824cp-831}},
    {TSR_TILE_ASINH,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.43dbf540367b1p+0, -0x1.9c94a81abc236p-2}},
    {TSR_TILE_ASINH,
     {0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023},
     {0x1.636945819d7c5p+9, 0x1.921fb54442d18p-1}},
    {TSR_TILE_ASINH,
     {0x1.12e0be826d695p-30, 0x1.fffffffffffffp-1},
     {0x1.094564530f806p-15, 0x1.921da2b97650bp+0}},
    {TSR_TILE_ASINH,
     {0x1.c000000000000p-512, 0x1.56e1fc2f8f359p-997},
     {0x1.c000000000000p-512, 0x1.56e1fc2f8f359p-997}},
    {TSR_TILE_ASINH,
     {0x1.4f8b588e368f1p-17, -100000},
     {0x1.869825a921700p+3, -0x1.921fb543d4de0p+0}},
    {TSR_TILE_ACOSH,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.29acbe31a8627p+0, -0x1.17cfee91c727dp-1}},
    {TSR_TILE_ACOSH,
     {0x1.fffffffffffffp+1023, -0x1.fffffffffffffp+1023},
     {0x1.636945819d7c5p+9, -0x1.921fb54442d18p-1}},
    {TSR_TILE_ACOSH,
     {0x1.fffffffffffffp-1, 0x1.12e0be826d695p-30},
     {0x1.094564530f806p-15, 0x1.094566406cb83p-15}},
    {TSR_TILE_ACOSH,
     {-100000, 0x1.4f8b588e368f1p-17},
     {0x1.869825a921700p+3, 0x1.921fb5440bd7cp+1}},
    {TSR_TILE_ACOSH,
     {0x1.0000000000001p+0, 0x1.56e1fc2f8f359p-997},
     {0x1.6a09e667f3bccp-26, 0x1.e4e8d12762225p-972}},
    {TSR_TILE_ATANH,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.102dd3ad11dbcp-1, -0x1.39a1fac678552p+0}},
    {TSR_TILE_ATANH,
     {0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023},
     {0x0.2000000000000p-1022, 0x1.921fb54442d18p+0}},
    {TSR_TILE_ATANH,
     {0x1.fffffffffffffp-1, 0x1.12e0be826d695p-30},
     {0x1.56a9a0b23d186p+3, 0x1.921fb36992430p-1}},
    {TSR_TILE_ATANH,
     {0x1.8000000000000p+0, 0x0.0000000000001p-1022},
     {0x1.9c041f7ed8d33p-1, 0x1.921fb54442d18p+0}},
    {TSR_TILE_ATANH,
     {0x1.87e92154ef7acp-665, -0x1.6e93f5da2824cp-831},
     {0x1.87e92154ef7acp-665, -0x1.6e93f5da2824cp-831}},
    {TSR_TILE_SINH,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.8ed7207ca11a7p+0, -0x1.9a7e8e083effdp+0}},
    {TSR_TILE_SINH,
     {0x1.0000000000000p-1, 0x1.fffffffffffffp+1023},
     {-0x1.0acc29be1d0fdp-1, 0x1.6eb05dd1d9f80p-8}},
    {TSR_TILE_SINH,
     {0x1.79ca10c924223p-67, 0x1.4484bfeebc2a0p-100},
     {0x1.79ca10c924223p-67, 0x1.4484bfeebc2a0p-100}},
    {TSR_TILE_SINH, {-0x1.62f3333333333p+9, 3}, {0x1.1cf9fa526e775p+1023, 0x1.44fab2e04239dp+1020}},
    {TSR_TILE_COSH,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.b8a2a7e259d5ap+0, -0x1.738ee95cb4d4dp+0}},
    {TSR_TILE_COSH,
     {0x1.0000000000000p-1, 0x1.fffffffffffffp+1023},
     {-0x1.20ab2f7d2383ep+0, 0x1.52e80ff22d8aep-9}},
    {TSR_TILE_COSH, {0x1.12e0be826d695p-30, 0x1.12e0be826d695p-30}, {1, 0x1.2725dd1d243acp-60}},
    {TSR_TILE_COSH,
     {-0x1.62f3333333333p+9, 3},
     {-0x1.1cf9fa526e775p+1023, -0x1.44fab2e04239dp+1020}},
    {TSR_TILE_SQUARE,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.b000000000000p+0, -0x1.2000000000000p+1}},
    {TSR_TILE_SQUARE, {0x1.4e718d7d7625ap+664, 0x1.87e92154ef7acp-665}, {INFINITY, 2}},
    {TSR_TILE_SQUARE, {0x1.0000000000001p+0, 1}, {0x1.0000000000000p-51, 0x1.0000000000001p+1}},
    {TSR_TILE_SQUARE, {3, 3}, {0, 18}},
    {TSR_TILE_SQUARE,
     {0x1.c000000000000p-512, 0x1.c000000000000p-512},
     {0, 0x1.8800000000000p-1022}},
};

static const struct {
  tsr_tile_op op;
  double z[2], w[2], want[2];
} values_of_two[] = {
    {TSR_TILE_DIVIDE,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.3333333333333p-2, 4},
     {-0x1.4493035759420p-3, -0x1.8c2be9b9acf28p-2}},
    {TSR_TILE_DIVIDE,
     {0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023},
     {0x1.fffffffffffffp+1023, -0x1.fffffffffffffp+1023},
     {0, 1}},
    {TSR_TILE_DIVIDE,
     {0x1.56e1fc2f8f359p-997, 0x0.0000000000001p-1022},
     {0x1.56e1fc2f8f359p-997, 0x0.012688b70e62bp-1022},
     {1, -0x1.b7cdfd9d7bc25p-34}},
    {TSR_TILE_DIVIDE,
     {0x1.7e43c8800759cp+996, 0x1.7e43c8800759cp+996},
     {0x1.4f8b588e368f1p-17, 0x1.9c511dc3a41dfp-29},
     {0x1.23bb7b286cd44p+1013, 0x1.238eaf3731777p+1013}},
    {TSR_TILE_DIVIDE,
     {1, 2},
     {0x1.fffffffffffffp+1023, 0x0.0000000000001p-1022},
     {0x0.4000000000000p-1022, 0x0.8000000000000p-1022}},
    {TSR_TILE_POWER,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.3333333333333p-2, 4},
     {-0x1.4edecb9cc522bp+1, 0x1.bf31409b83ebep+2}},
    {TSR_TILE_POWER,
     {-2, 0x1.0000000000000p-1},
     {3, 0},
     {-0x1.a000000000000p+2, 0x1.7800000000000p+2}},
    {TSR_TILE_POWER,
     {0x1.249ad2594c37dp+332, 0x1.0624dd2f1a9fcp-10},
     {-0x1.4000000000000p+1, 1},
     {-0x1.bad98467fa374p-832, -0x1.2425e2cc8085ep-831}},
    {TSR_TILE_POWER,
     {0x1.999999999999ap-4, 0x1.999999999999ap-3},
     {30, -40},
     {0x1.d311fbc253539p-3, -0x1.e0d83000f5978p-2}},
    {TSR_TILE_ATAN2,
     {0x1.8000000000000p+0, -0x1.8000000000000p-1},
     {0x1.3333333333333p-2, 0x1.999999999999ap-3},
     {0x1.75f51bdf86d5cp+0, -0x1.7e37b97dd4d6dp-3}},
    {TSR_TILE_ATAN2,
     {0x1.999999999999ap-3, 1},
     {0x1.4000000000000p+1, 0x1.0000000000000p-2},
     {0x1.1bd2fd88f06bap-3, 0x1.9bcea8302d353p-2}},
};

static void check_close(int row, const double *got, const double *want) {
  for (int part = 0; part < 2; part++)
    if (test_units64(got[part], (long double)want[part]) > 2)
      fail_msg("row %d, part %d: %a", row, part, got[part]);
}

static void functions_of_c128_are_accurate_at_extremes(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(values); i++) {
    const void *const in[] = {values[i].z};
    double got[2];
    tsr_tile_math_loop(values[i].op, TSR_C128)(got, in, 1);
    check_close((int)i, got, values[i].want);
  }
}

static void functions_of_two_c128_are_accurate(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(values_of_two); i++) {
    const void *const in[] = {values_of_two[i].z, values_of_two[i].w};
    double got[2];
    tsr_tile_math_loop(values_of_two[i].op, TSR_C128)(got, in, 1);
    check_close((int)i, got, values_of_two[i].want);
  }
}

// c64 against c128, at numbers that f32 has.
static void functions_of_c64_are_those_of_c128_rounded(void **state) {
  test_random random = {21};
  (void)state;
  for (size_t i = 0; i < COUNT_OF(values); i++)
    for (int round = 0; round < 40; round++) {
      float z[2], got[2];
      double wide[2], want[2];
      for (int part = 0; part < 2; part++) {
        const uint64_t bits = test_random_next(&random);
        z[part] = (float)ldexp((double)(int64_t)bits * 0x1p-63, (int)(bits % 40) - 30);
        wide[part] = (double)z[part];
      }
      tsr_tile_math_loop(values[i].op, TSR_C64)(got, (const void *const[]){z}, 1);
      tsr_tile_math_loop(values[i].op, TSR_C128)(want, (const void *const[]){wide}, 1);
      for (int part = 0; part < 2; part++)
        if (test_units32(got[part], want[part]) > 0.51)
          fail_msg("row %d of %a %a: %a", (int)i, wide[0], wide[1], (double)got[part]);
    }
}

// ---- limits ----

static const struct {
  tsr_tile_op op;
  double z[2], want[2];
} limits[] = {
    {TSR_TILE_EXPONENTIAL, {-INFINITY, INFINITY}, {NAN, NAN}},
    {TSR_TILE_EXPONENTIAL, {INFINITY, INFINITY}, {NAN, NAN}},
    {TSR_TILE_EXPONENTIAL, {INFINITY, 0}, {INFINITY, 0}},
    {TSR_TILE_EXPONENTIAL, {-INFINITY, 1}, {0, 0}},
    {TSR_TILE_LOG, {0, 0}, {-INFINITY, 0}},
    {TSR_TILE_LOG, {INFINITY, 1}, {INFINITY, 0}},
    {TSR_TILE_LOG_PLUS_ONE, {-1, 0}, {-INFINITY, 0}},
    {TSR_TILE_LOG_PLUS_ONE, {0, 0}, {0, 0}},
    {TSR_TILE_SQRT, {0, 0}, {0, 0}},
    {TSR_TILE_SQRT, {-4, 0}, {0, 2}},
    {TSR_TILE_SQRT, {-4, -0.0}, {0, -2}},
    {TSR_TILE_SQRT, {1, INFINITY}, {INFINITY, INFINITY}},
    {TSR_TILE_SIGN, {0, 0}, {0, 0}},
    {TSR_TILE_SIGN, {1, NAN}, {NAN, NAN}},
    {TSR_TILE_SQUARE, {1e200, 1e200}, {0, INFINITY}},
    {TSR_TILE_TANH, {1000, 1}, {1, 0}},
    {TSR_TILE_LOGISTIC, {-1000, 0}, {0, 0}},
    {TSR_TILE_CBRT, {0, 0}, {0, 0}},
};

static void limits_of_complex_functions_are_exact(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(limits); i++) {
    double got[2];
    tsr_tile_math_loop(limits[i].op, TSR_C128)(got, (const void *const[]){limits[i].z}, 1);
    for (int part = 0; part < 2; part++)
      if (test_units64(got[part], (long double)limits[i].want[part]) != 0)
        fail_msg("row %d, part %d: %a", (int)i, part, got[part]);
  }
}

static void powers_of_zero_are_zero_or_one(void **state) {
  const double zero[] = {0, 0}, two[] = {2, 0};
  double got[2];
  (void)state;
  tsr_tile_math_loop(TSR_TILE_POWER, TSR_C128)(got, (const void *const[]){zero, zero}, 1);
  assert_true(got[0] == 1 && got[1] == 0);
  tsr_tile_math_loop(TSR_TILE_POWER, TSR_C128)(got, (const void *const[]){zero, two}, 1);
  assert_true(got[0] == 0 && got[1] == 0);
}

static void the_size_of_a_complex_number_does_not_overflow(void **state) {
  const double z[] = {3e300, 4e300, -INFINITY, NAN, 3e-320, 4e-320};
  const float narrow_z[] = {3e38f, 1e38f, 3, -4};
  double size[3];
  float narrow_size[2];
  (void)state;
  tsr_tile_math_loop(TSR_TILE_ABS, TSR_C128)(size, (const void *const[]){z}, 3);
  assert_true(size[0] == 5e300 && size[1] == INFINITY && size[2] == 5e-320);
  tsr_tile_math_loop(TSR_TILE_ABS, TSR_C64)(narrow_size, (const void *const[]){narrow_z}, 2);
  assert_true(narrow_size[0] == 3.1622777e38f && narrow_size[1] == 5);
}

SUITE(math_complex, TEST(functions_of_c128_are_accurate_at_extremes),
      TEST(functions_of_two_c128_are_accurate), TEST(functions_of_c64_are_those_of_c128_rounded),
      TEST(limits_of_complex_functions_are_exact), TEST(powers_of_zero_are_zero_or_one),
      TEST(the_size_of_a_complex_number_does_not_overflow))
