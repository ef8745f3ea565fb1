// The cases of the MPI tests, and how they tell what is wrong.
#ifndef TESSERA_TESTS_MPI_CASES_H
#define TESSERA_TESTS_MPI_CASES_H

#include "tessera/comm.h"
#include "tessera/engine/collectives.h"
#include "tessera/mpi.h"
#include "tessera/program/executable.h"
#include "tessera/status.h"

int case_conformance(void);
int case_swaps(void);
int case_exchange(void);
int case_fast(void);
int case_arrays(void);
int case_load(void);
int case_save(void);
int case_programs(void);
int case_programs_fast(void);
int case_programs_few(void);
int case_programs_fail(void);
int case_gone_program(void);
int case_mistakes(void);
int case_create(void);
int case_open(void);
int case_gone_before(void);
int case_gone_exit(void);
int case_gone_late(void);
int case_gone_stop(void);
int case_unlike_short(void);
int case_unlike_long(void);

// A program for as many devices as the comm has: each sums its 4 numbers with those of the others,
// `turns` times.
tsr_status compile_loop(tsr_comm *comm, int turns, tsr_executable **out_executable);
// Runs it, or any program of one argument and one result, where every device here has the same
// shards.
tsr_status run_here(const tsr_executable *executable, const tsr_comm *comm, const void *in,
                    void *out);

extern int check_failures;  // of this rank
int check_rank(void);
int check_size(void);
bool check_ok(const char *what, tsr_status status);
void check_that(const char *what, bool holds);
// Calls it with so many devices, dealt to the ranks; gives back whether anything was wrong.
int check_on_devices(int64_t devices, void (*check)(tsr_comm *comm));
// Fails with this cause and a message that contains `part`.
void check_fails(const char *what, tsr_status status, tsr_cause cause, const char *part);

// The same exchange by MPI_Alltoallw and derived types, which shares no code with the engine.
int alltoallw_exchange(MPI_Comm mpi, const tsr_comm *comm, const tsr_exchange *parts,
                       int part_count);

#endif
