// bench: create_device_mesh (64, 64), splitting axes of a 16x16x16 torus, 10 times
// rival: jax mesh_utils
// bar: 20 x
#include "torus_rounds.h"

int main(void) { return serve_torus((const int64_t[]){64, 64}, 2, true); }
