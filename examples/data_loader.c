// A data loader that feeds each process its shard. Four hosts with two GPUs each train with four
// model partitions; every process asks which rows of a batch are its own and reads only these. Here
// one program plays all four processes.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/compat/t5x_partitioner.h>
#include <tessera/tessera.h>

enum { BATCH = 8, STEPS = 2, PROCESSES = 4 };

// Row `row` of step `step` of the data set: made up where a real loader would read a file.
static int64_t read_row(int64_t step, int64_t row) { return 100 * step + row; }

// How often each row of a batch was read, by the first processes of replica sets.
typedef struct tally {
  int reads[STEPS][BATCH];
} tally;

static tsr_status feed(const tsr_partitioner *partitioner, int64_t process, tally *seen) {
  tsr_data_layout layout;
  TSR_TRY(tsr_partitioner_data_layout(partitioner, process, BATCH, NULL, &layout));
  const tsr_range rows = tsr_data_layout_rows(&layout);
  printf("process %" PRId64 " reads shard %" PRId64 " of %" PRId64 "%s:", process, layout.shard_id,
         layout.num_shards, layout.is_first_host_in_replica_set ? "" : " (again)");
  for (int64_t step = 0; step < STEPS; step++) {
    printf(" ");
    for (int64_t row = rows.lo; row < rows.hi; row++) {
      printf(" %03" PRId64, read_row(step, row));
      seen->reads[step][row] += layout.is_first_host_in_replica_set;
    }
  }
  printf("\n");
  return NULL;
}

static tsr_status feed_all(const tsr_partitioner *partitioner) {
  tally seen = {0};
  int once = 0;
  for (int64_t process = 0; process < PROCESSES; process++)
    TSR_TRY(feed(partitioner, process, &seen));
  for (int step = 0; step < STEPS; step++)
    for (int row = 0; row < BATCH; row++) once += seen.reads[step][row] == 1;
  printf("%d of %d rows were read once by the first of a replica set\n", once, STEPS * BATCH);
  return NULL;
}

static tsr_status run(void) {
  tsr_partitioner_options options = TSR_PARTITIONER_OPTIONS;
  options.num_partitions = 4;
  TSR_OWN(topology, fleet);
  TSR_OWN(partitioner, partitioner);
  TSR_TRY(tsr_topology_parse("gpu:4x2", &fleet));
  TSR_TRY(tsr_partitioner_create(fleet, &options, &partitioner));
  return feed_all(partitioner);
}

int main(void) { return tsr_status_exit(run()); }
