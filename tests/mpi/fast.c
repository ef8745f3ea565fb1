// Reductions in MPI's order, of values whose sums and products are exact, so that the order does
// not show: equal to those by the tree.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "element/reduction.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/reduction.h"

enum { LOCAL = 2, COUNT = 20011, MOST_RANKS = 16 };

static const tsr_dtype dtypes[] = {TSR_F32, TSR_F64, TSR_BF16, TSR_F16,   TSR_I8,  TSR_I16,
                                   TSR_I32, TSR_I64, TSR_U8,   TSR_U16,   TSR_U32, TSR_U64,
                                   TSR_I4,  TSR_C64, TSR_BOOL, TSR_F8E5M2};

// Small whole numbers in any type: bytes of zeros and ones are exact in integers, and the floats
// get their own 0 and 1.
static void fill(tsr_dtype dtype, unsigned char *data, int64_t device) {
  const int bits = tsr_dtype_info_of(dtype)->bits;
  uint64_t one = 1;
  if (dtype == TSR_F32 || dtype == TSR_C64) one = 0x3f800000;
  if (dtype == TSR_F64) one = 0x3ff0000000000000;
  if (dtype == TSR_BF16) one = 0x3f80;
  if (dtype == TSR_F16) one = 0x3c00;
  if (dtype == TSR_F8E5M2) one = 0x3c;
  memset(data, 0, (size_t)COUNT * 8 + 64);
  for (int64_t i = 0; i < COUNT; i++) {
    const uint64_t value = (i * 7 + device * 3) % 5 ? one : 0;
    if (bits < 8)
      data[i / 2] |= (unsigned char)(value << i % 2 * 4);
    else
      memcpy(data + i * (bits / 8), &value, bits < 64 ? (size_t)bits / 8 : 8);
  }
}

static void compare(tsr_comm *fast, tsr_comm *fixed, const tsr_groups *groups, tsr_dtype dtype,
                    tsr_reduction op) {
  unsigned char *in[LOCAL], *out[LOCAL], *wanted[LOCAL];
  const size_t size = (size_t)COUNT * 8 + 64;
  for (int d = 0; d < LOCAL; d++) {
    in[d] = malloc(size);
    out[d] = calloc(1, size);
    wanted[d] = calloc(1, size);
    fill(dtype, in[d], tsr_comm_first_device(fast, tsr_comm_rank(fast)) + d);
  }
  check_ok("fast", tsr_comm_all_reduce(fast, groups, dtype, op, COUNT, (const void *const *)in,
                                       (void *const *)out));
  check_ok("fixed", tsr_comm_all_reduce(fixed, groups, dtype, op, COUNT, (const void *const *)in,
                                        (void *const *)wanted));
  for (int d = 0; d < LOCAL; d++) {
    char what[64];
    snprintf(what, sizeof what, "%s of %s is the same", tsr_reduction_name(op),
             tsr_dtype_info_of(dtype)->name);
    check_that(what, !memcmp(out[d], wanted[d], size));
    free(in[d]);
    free(out[d]);
    free(wanted[d]);
  }
}

int case_fast(void) {
  const int size = check_size();
  tsr_comm_options options = {.size = sizeof options, .workers = 2, .timeout = 60};
  tsr_comm *fixed = NULL, *fast = NULL;
  if (!check_ok("create", tsr_comm_create_mpi(MPI_COMM_WORLD, LOCAL, &options, &fixed))) return 1;
  options.fast = true;
  if (!check_ok("create", tsr_comm_create_mpi(MPI_COMM_WORLD, LOCAL, &options, &fast))) return 1;
  int64_t all[LOCAL * MOST_RANKS], pairs[LOCAL * MOST_RANKS];
  for (int64_t i = 0; i < LOCAL * size; i++) {
    all[i] = i;
    pairs[i] = (i + 1) % (LOCAL * size);  // neighbours over the ends of ranks, and here alone
  }
  const tsr_groups patterns[] = {{.count = 1, .size = LOCAL * size, .members = all},
                                 {.count = size, .size = LOCAL, .members = pairs},
                                 {.count = size, .size = LOCAL, .members = all}};
  for (size_t t = 0; t < sizeof dtypes / sizeof *dtypes; t++)
    for (int op = 0; op < TSR_REDUCTION_COUNT; op++)
      for (size_t p = 0; p < 3; p++)
        if (tsr_reduction_allows((tsr_reduction)op, dtypes[t]) && (p == 0 || op == TSR_REDUCE_SUM))
          compare(fast, fixed, &patterns[p], dtypes[t], (tsr_reduction)op);
  tsr_comm_release(fast);
  tsr_comm_release(fixed);
  return check_failures > 0;
}
