// A rank that dies, comes too late or stands still: the others end within their timeout and say
// which one it was. Each prints a line, and when all have, the job ends.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "cases.h"
#include "tessera/comm.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/reduction.h"
#include "tessera/status.h"

enum { VICTIM = 1, LENGTH = 1 << 20, STEPS = 3, TURNS = 2000 };
// Ranks that are alive have a quarter of it to answer the roll, on a machine with many more ranks
// than cores.
static const double timeout = 4.0;

// Lines that were executed are told at the end, which an aborted job does not reach.
extern void __gcov_dump(void) __attribute__((weak));

// A rank that has printed its lines leaves an empty file in the session's folder. The comm is
// broken, so MPI cannot carry the news.
static bool has_spoken(int rank, bool create) {
  char path[512];
  snprintf(path, sizeof path, "%s/%d.spoken", getenv("TMPDIR"), rank);
  FILE *file = fopen(path, create ? "w" : "r");
  if (file) fclose(file);
  return file != NULL;
}

// Ends the job when all ranks have spoken, the victim only if it can; or after a minute.
static int end_job(bool victim_speaks) {
  fflush(stdout);
  if (__gcov_dump) __gcov_dump();
  has_spoken(check_rank(), true);
  const int size = check_size();
  for (int rank = 0, looks = 0; rank < size && looks < 60 * 100; looks++) {
    if ((rank == VICTIM && !victim_speaks) || has_spoken(rank, false))
      rank++;
    else
      usleep(10 * 1000);
  }
  MPI_Abort(MPI_COMM_WORLD, 9);
  return 1;
}

typedef struct field {
  tsr_comm *comm;
  tsr_groups groups;
  float *in, *out;
  tsr_executable *executable;  // what is done over and over; NULL = an all-reduce
} field;

static tsr_status reduce(const field *f) {
  const void *in = f->in;
  void *out = f->out;
  if (f->executable) return run_here(f->executable, f->comm, in, out);
  return tsr_comm_all_reduce(f->comm, &f->groups, TSR_F32, TSR_REDUCE_SUM, LENGTH, &in, &out);
}

// The job goes on; `act` makes the victim go wrong between two calls, or lets it do so in the midst
// of one.
static int lose(void (*act)(void), bool victim_speaks, bool in_program) {
  field f = {.in = calloc(LENGTH, sizeof(float)), .out = calloc(LENGTH, sizeof(float))};
  const int size = check_size();
  int64_t *members = calloc((size_t)size, sizeof *members);
  for (int i = 0; i < size; i++) members[i] = i;
  f.groups = (tsr_groups){.count = 1, .size = size, .members = members};
  const tsr_comm_options options = {.size = sizeof options, .workers = 1, .timeout = timeout};
  MPI_Barrier(MPI_COMM_WORLD);  // ranks may start seconds apart
  if (!check_ok("create", tsr_comm_create_mpi(MPI_COMM_WORLD, 1, &options, &f.comm))) return 1;
  if (in_program && !check_ok("compile", compile_loop(f.comm, TURNS, &f.executable))) return 1;
  for (int i = 0; i < STEPS; i++)
    if (!check_ok("a step", reduce(&f))) return 1;
  if (check_rank() == VICTIM) act();
  tsr_status status = NULL;
  while (!status) status = reduce(&f);
  printf("rank %d: %s\n", check_rank(), tsr_status_text(status));
  tsr_status_free(status);
  status = tsr_comm_barrier(f.comm);
  printf("rank %d, then: %s\n", check_rank(), tsr_status_text(status));
  tsr_status_free(status);
  tsr_comm_release(f.comm);
  return end_job(victim_speaks);
}

static void come_late(void) { usleep((useconds_t)(1.6 * timeout * 1e6)); }

static void die(int signal_number) {
  (void)signal_number;
  _exit(0);
}

static void stand_still(int signal_number) {
  (void)signal_number;
  raise(SIGSTOP);
}

// A quarter of a second later, wherever it is then.
static void soon(void (*handler)(int)) {
  signal(SIGALRM, handler);
  setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 250000}, NULL);
}

static void die_soon(void) { soon(die); }
static void stand_still_soon(void) { soon(stand_still); }

// A rank that is not there when the comm is made.
int case_gone_before(void) {
  if (check_rank() == VICTIM) {
    sleep(60);
    return 1;
  }
  const tsr_comm_options options = {.size = sizeof options, .workers = 1, .timeout = timeout};
  tsr_comm *comm = NULL;
  tsr_status status = tsr_comm_create_mpi(MPI_COMM_WORLD, 1, &options, &comm);
  printf("rank %d: %s\n", check_rank(), tsr_status_text(status));
  tsr_status_free(status);
  return end_job(false);
}

int case_gone_exit(void) { return lose(die_soon, false, false); }
int case_gone_late(void) { return lose(come_late, true, false); }
int case_gone_stop(void) { return lose(stand_still_soon, false, false); }
int case_gone_program(void) { return lose(die_soon, false, true); }
