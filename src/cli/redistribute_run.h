// A change of layout on real buffers.
#ifndef TESSERA_CLI_REDISTRIBUTE_RUN_H
#define TESSERA_CLI_REDISTRIBUTE_RUN_H

#include "report/redistribution.h"
#include "tessera/comm.h"

// Collective. Makes the change both ways on real buffers, looks at every element, and counts what
// the plan's copies move against the certificate.
tsr_status cli_run_redistribution(const tsr_redistribution *change, tsr_comm *comm,
                                  tsr_redistribution_run *out_run);

#endif
