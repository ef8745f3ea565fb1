// A change of layout on real buffers.
#ifndef TESSERA_CLI_REDISTRIBUTE_RUN_H
#define TESSERA_CLI_REDISTRIBUTE_RUN_H

#include "report/redistribution.h"
#include "tessera/comm.h"

// Collective. Makes the change both ways on real buffers, looks at every element, and counts what
// the plan's copies move against the certificate.
tsr_status change_run(const cli_change *change, tsr_comm *comm, cli_run *out_run);

#endif
