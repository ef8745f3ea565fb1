// Runs a redistribution on real buffers.
#ifndef TESSERA_COMMAND_REDISTRIBUTE_RUN_H
#define TESSERA_COMMAND_REDISTRIBUTE_RUN_H

#include "report/redistribution.h"
#include "tessera/comm.h"

// Collective. Runs both plans, checks every element, and compares the bytes that copies move with
// the certificate.
tsr_status cli_run_redistribution(const tsr_redistribution *change, tsr_comm *comm,
                                  tsr_redistribution_run *out_run);

#endif
