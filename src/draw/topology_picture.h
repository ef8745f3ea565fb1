// A picture of a machine for a terminal.
#ifndef TESSERA_DRAW_TOPOLOGY_PICTURE_H
#define TESSERA_DRAW_TOPOLOGY_PICTURE_H

#include "tessera/text.h"
#include "tessera/topology.h"

// Prints hosts, chips and cores, one line per row of devices.
void tsr_topology_print(const tsr_topology *topology, tsr_text *out);

#endif
