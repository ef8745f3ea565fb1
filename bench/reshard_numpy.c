// Reshards a checkpoint on disk, beside the script that people write for it. Neither waits for the
// disk.
//
// bench: reshard a checkpoint of 1 GB, 4 row shards to 8 column shards
// rival: numpy and the safetensors library
// bar: 3 x
#include "checkpoint_rounds.h"

int main(void) { return checkpoint_serve(false, checkpoint_reshard); }
