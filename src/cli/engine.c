// Commands that move bytes, perhaps as one of several MPI ranks: their comm, and an end that all
// ranks reach together.
#include "cli/sources.h"

#include <stdlib.h>

#include "comm/comm_internal.h"
#include "tessera/engine/collectives.h"

// A comm has an entry for every device from 0 on.
enum { MOST_DEVICES = 1 << 20 };

tsr_status cli_open_comm(const cli_args *args, int64_t devices, tsr_comm **out_comm) {
  const char *engine = cli_value(args, "engine");
  return cli_open_engine(args, engine ? engine : "threads", devices, out_comm);
}

tsr_status cli_open_engine(const cli_args *args, const char *engine, int64_t devices,
                           tsr_comm **out_comm) {
  int64_t workers = 0, timeout = 0;
  TSR_TRY(cli_int(args, "workers", 0, &workers));
  TSR_TRY(cli_int(args, "timeout", 0, &timeout));
  if (devices > MOST_DEVICES)
    return tsr_fail(TOO_LARGE, "device %lld is too large, wanted numbers below %d",
                    (long long)devices - 1, (int)MOST_DEVICES);
  const tsr_comm_options options = {.size = sizeof options,
                                    .workers = (int)workers,
                                    .timeout = (double)timeout,
                                    .fast = cli_takes(args, "fast") && cli_has(args, "fast")};
  return tsr_comm_open(engine, devices, &options, out_comm);
}

const char *cli_engine_of(const cli_args *args) {
  const char *engine = cli_value(args, "engine");
  return engine ? engine : tsr_comm_is_launched() ? "mpi" : "threads";
}

// Launchers end all ranks as soon as one fails, so all ranks wait until the failure is printed.
tsr_status cli_end_together(cli_args *args, tsr_comm *comm, tsr_status status) {
  const int ranks = tsr_comm_rank_count(comm), rank = tsr_comm_rank(comm);
  if (ranks == 1) return status;
  int mine = status ? EXIT_FAILED + (int)tsr_status_code(status) : EXIT_OK;
  if (status && rank == 0) {
    mine = cli_report(args, status);
    status = NULL;
  }
  int *codes = calloc((size_t)ranks, sizeof *codes);
  tsr_status shared = codes ? tsr_comm_share(comm, &mine, sizeof mine, codes)
                            : tsr_fail(NO_MEMORY, "exit codes of %d ranks", ranks);
  // A failure to reach other ranks is reported only if nothing failed before.
  const bool reported = rank == 0 || (!shared && codes[0] != EXIT_OK);
  int code = mine;
  for (int r = 0; r < ranks && !shared && code == EXIT_OK; r++) code = codes[r];
  if (shared && code == EXIT_OK)
    code = cli_report(args, shared);
  else
    tsr_status_free(shared);
  if (status && !reported)
    cli_report(args, status);
  else
    tsr_status_free(status);
  free(codes);
  args->exit_code = code;
  return NULL;
}
