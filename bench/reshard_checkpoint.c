// Reshards a checkpoint on disk. Neither we nor the rival wait for the disk (no fsync).
//
// bench: reshard a checkpoint of 1 GB, 4 row shards to 8 column shards
// rival: cp --reflink=never of the same bytes
// bar: 0.8 x
// rounds: 11
#include "checkpoint_copy.h"

int main(int argc, char **argv) {
  const bool rival = argc > 1 && !strcmp(argv[1], "rival");
  return checkpoint_serve(false, rival ? checkpoint_copy : checkpoint_reshard);
}
