#include "partitioner/partitioners.h"

#include "support/test.h"
#include "tessera/compat/t5x_partitioner.h"

tsr_partitioner_options partitioner_options(int64_t partitions) {
  return (tsr_partitioner_options){.size = sizeof(tsr_partitioner_options),
                                   .num_partitions = partitions};
}

tsr_status make_partitioner(const char *topology, const tsr_partitioner_options *options,
                            tsr_partitioner **out_partitioner) {
  tsr_topology *machine = NULL;
  if (topology) TSR_TRY(tsr_topology_parse(topology, &machine));
  const tsr_status status = tsr_partitioner_create(machine, options, out_partitioner);
  tsr_topology_release(machine);
  return status;
}

tsr_partitioner *partitioner_of(const char *topology, const tsr_partitioner_options *options) {
  tsr_partitioner *partitioner = NULL;
  assert_ok(make_partitioner(topology, options, &partitioner));
  return partitioner;
}
