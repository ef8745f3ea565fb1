// MPI_COMM_WORLD as a comm, for programs that do not call MPI themselves: the entry point of
// tsr_comm_open("mpi").
//
// A program started by one MPI's launcher but linked with another's library sees one world of size
// 1 per process, and all of them write the same output. The launcher's variables say how many
// processes there should be.
#include <stdlib.h>
#include <string.h>

#include "comm/mpi/mpi_engine.h"
#include "tessera/comm.h"
#include "tessera/engine/transport.h"
#include "tessera/mpi.h"
#include "tessera/status.h"

// Number of processes that the launcher started; 0 if unknown.
static long launched(const char **out_variable) {
  static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    const char *text = getenv(variables[i]);
    // srun's variable counts only inside a step: in an allocation it is set for every program.
    if (!text || (!strcmp(variables[i], "SLURM_NTASKS") && !getenv("SLURM_STEP_ID"))) continue;
    char *end = NULL;
    const long size = strtol(text, &end, 10);
    if (size < 1 || *end) continue;
    *out_variable = variables[i];
    return size;
  }
  return 0;
}

static tsr_status start(bool *out_started) {
  int initialized = 0, level = 0;
  MPI_Initialized(&initialized);
  *out_started = !initialized;
  if (initialized) return NULL;
  return tsr_mpi_check(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread");
}

static tsr_status check_size(int size) {
  const char *variable = "";
  const long wanted = launched(&variable);
  if (!wanted || wanted == size) return NULL;
  return tsr_fail(
      COMM_MISMATCH,
      "the launcher started %ld processes (%s), but " TSR_MPI_FLAVOUR
      " sees %d: the launcher is not its own; set TESSERA_MPI to the MPI of the launcher",
      wanted, variable, size);
}

static tsr_status open_world(int64_t device_count, const tsr_comm_options *options,
                             tsr_comm **out_comm) {
  int rank = 0, size = 0;
  TSR_TRY(tsr_mpi_check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size"));
  TSR_TRY(tsr_mpi_check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank"));
  TSR_TRY(check_size(size));
  if (!device_count) device_count = size;
  // The first ranks get one more if the devices do not divide evenly.
  const int64_t mine = device_count / size + (rank < device_count % size);
  return tsr_mpi_create(MPI_COMM_WORLD, mine, &device_count, options, out_comm);
}

tsr_status tsr_comm_open_mpi(int64_t device_count, const tsr_comm_options *options,
                             tsr_comm **out_comm) {
  bool started = false;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized)
    return tsr_fail(UNSUPPORTED, "MPI has ended, and cannot be started again in this process");
  TSR_TRY(start(&started));
  tsr_status status = open_world(device_count, options, out_comm);
  if (!status) ((tsr_mpi *)tsr_comm_engine_state(*out_comm))->finalize = started;
  return status;
}
