// Reshards a checkpoint on disk, beside orbax with the same array sizes and meshes in its own
// format. Both leave all on the disk.
//
// bench: reshard a checkpoint of 1 GB, 4 row shards to 8 column shards, synced
// rival: orbax: restore in the other sharding, and save
// bar: 6 x
#include "checkpoint_rounds.h"

int main(void) { return checkpoint_serve(true, checkpoint_reshard); }
