// What every engine must do: all collectives, compared byte for byte with a naive reference.
//
// Nothing here assumes that all devices are local. Inputs are a function of device and index, so
// every rank can make those of any device, and checks the outputs of its own. Works without a test
// framework, since it also runs under launchers such as mpirun.
#ifndef TESSERA_TESTS_CONFORMANCE_H
#define TESSERA_TESTS_CONFORMANCE_H

#include <stdio.h>

#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/engine/groups.h"

// Collective. Runs everything on `comm` and tells of every failure seen by this rank; their number.
int conformance_run(tsr_comm *comm, FILE *out);
// Collective. Every collective with each argument swapped on one rank: what this rank finds wrong.
// The comm has two devices on each of several ranks.
int swaps_run(tsr_comm *comm, FILE *out);

// ---- for the files of the suite ----

typedef struct suite {
  tsr_comm *comm;
  FILE *out;
  int failures;
  char what[160];  // is being tested
} suite;

TSR_PRINTF(2, 3) void suite_begin(suite *s, const char *format, ...);
TSR_PRINTF(2, 3) void suite_fail(suite *s, const char *format, ...);
// The call succeeded; otherwise its message is told.
bool suite_ok(suite *s, tsr_status status);
// The call failed with this cause and a message that contains `part`.
void suite_fails(suite *s, tsr_status status, tsr_cause cause, const char *part);

void test_moves(suite *s);
void test_exchanges(suite *s);
void test_reductions(suite *s);
void test_mistakes(suite *s);

// ---- groups ----

enum { MOST_DEVICES = 64, PATTERNS = 7 };
typedef struct pattern {
  const char *name;
  tsr_groups groups;
  int64_t members[MOST_DEVICES];
} pattern;
// One of several ways to group the devices; false when there are too few for it.
bool make_pattern(const tsr_comm *comm, int which, pattern *out);
// The group a device is in, and which member it is; false when it is in none.
bool find_member(const tsr_groups *groups, int64_t device, int64_t *out_group, int64_t *out_index);

// ---- elements ----

uint64_t get_element(const void *buffer, int64_t index, int bits);  // up to 64 bits
void put_element(void *buffer, int64_t index, int bits, uint64_t value);
// Elements of any width, one after the other.
void move_elements(const void *source, int64_t from, void *target, int64_t to, int64_t count,
                   int bits);

// The input of a device: `count` elements, with a margin behind them. `salt` tells calls apart; odd
// ones give any bits, NaNs and infinities among them, even ones numbers of moderate size.
void *make_input(tsr_dtype dtype, int64_t device, int salt, int64_t count);
// Room for `count` elements, filled with what no input has; the margin shows writes beyond the end.
void *make_output(tsr_dtype dtype, int64_t count);
bool same_buffers(tsr_dtype dtype, const void *a, const void *b, int64_t count);

// Buffers of the local devices; those that take no part have none.
typedef struct buffers {
  int64_t count;
  void *in[MOST_DEVICES], *out[MOST_DEVICES];
} buffers;
void free_buffers(buffers *b);

#endif
