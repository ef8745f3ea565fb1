// The MPI engine under a launcher: mpirun -n RANKS PROGRAM CASE. Each rank checks what it can see
// and tells of what is wrong; the exit status is that of the worst.
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "tessera/comm.h"
#include "tessera/status.h"

static const struct {
  const char *name;
  int (*run)(void);
} cases[] = {
    {"conformance", case_conformance},
    {"swaps", case_swaps},
    {"exchange", case_exchange},
    {"fast", case_fast},
    {"mistakes", case_mistakes},
    {"create", case_create},
    {"open", case_open},
    {"gone-before", case_gone_before},
    {"gone-exit", case_gone_exit},
    {"gone-late", case_gone_late},
    {"gone-stop", case_gone_stop},
    {"unlike-short", case_unlike_short},
    {"unlike-long", case_unlike_long},
    {"arrays", case_arrays},
    {"load", case_load},
    {"save", case_save},
    {"programs", case_programs},
    {"programs-fast", case_programs_fast},
    {"programs-few", case_programs_few},
    {"programs-fail", case_programs_fail},
    {"gone-program", case_gone_program},
};

int check_failures;

int check_rank(void) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int check_size(void) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

bool check_ok(const char *what, tsr_status status) {
  if (!status) return true;
  printf("rank %d: %s: %s\n", check_rank(), what, tsr_status_text(status));
  tsr_status_free(status);
  check_failures++;
  return false;
}

void check_that(const char *what, bool holds) {
  if (holds) return;
  printf("rank %d: not so: %s\n", check_rank(), what);
  check_failures++;
}

int check_on_devices(int64_t devices, void (*check)(tsr_comm *comm)) {
  tsr_comm *comm = NULL;
  const tsr_comm_options options = {.size = sizeof options, .workers = 1};
  const int64_t rank = check_rank(), size = check_size();
  const int64_t local = devices * (rank + 1) / size - devices * rank / size;
  if (check_ok("comm", tsr_comm_create_mpi(MPI_COMM_WORLD, local, &options, &comm))) check(comm);
  tsr_comm_release(comm);
  return check_failures > 0;
}

void check_fails(const char *what, tsr_status status, tsr_cause cause, const char *part) {
  if (tsr_status_cause(status) != cause || !strstr(tsr_status_text(status), part)) {
    printf("rank %d: %s: \"%s\" (%s), wanted \"%s\" (%s)\n", check_rank(), what,
           tsr_status_text(status), tsr_cause_slug(tsr_status_cause(status)), part,
           tsr_cause_slug(cause));
    check_failures++;
  }
  tsr_status_free(status);
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(cases[i].name, name)) continue;
    int level = 0;
    const bool starts_itself = !strcmp(name, "open");
    if (!starts_itself) MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    const int result = cases[i].run();
    if (!starts_itself) MPI_Finalize();
    return result;
  }
  fprintf(stderr, "no case called \"%s\"\n", name);
  return 2;
}
