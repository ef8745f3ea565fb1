// bench: create_device_mesh (16, 16, 16) on a 16x16x16 torus, 10 times
// rival: jax mesh_utils
// bar: 20 x
#include "torus_rounds.h"

int main(void) { return serve_torus((const int64_t[]){16, 16, 16}, 3, false); }
