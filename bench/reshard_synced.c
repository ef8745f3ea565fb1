// Reshards a checkpoint as the command does it, which waits until all is on the disk. So does the
// rival.
//
// bench: the same with all on the disk at the end
// rival: cp --reflink=never and sync of the same bytes
// bar: 0.8 x
// rounds: 11
#include "checkpoint_copy.h"

int main(int argc, char **argv) {
  const bool rival = argc > 1 && !strcmp(argv[1], "rival");
  return checkpoint_serve(true, rival ? checkpoint_copy : checkpoint_reshard);
}
