// Partitioners of pretended fleets, as the tests of this room want them.
#ifndef TESSERA_TESTS_PARTITIONER_PARTITIONERS_H
#define TESSERA_TESTS_PARTITIONER_PARTITIONERS_H

#include "tessera/compat/t5x_partitioner.h"
#include "tessera/tessera.h"

// Options with a size and this number of partitions.
tsr_partitioner_options partitioner_options(int64_t partitions);
// For a topology's text; NULL = no machine. The topology is let go of.
TSR_MUST_USE tsr_status make_partitioner(const char *topology,
                                         const tsr_partitioner_options *options,
                                         tsr_partitioner **out_partitioner);
// The same, which must succeed.
tsr_partitioner *partitioner_of(const char *topology, const tsr_partitioner_options *options);

#endif
