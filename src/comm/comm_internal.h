// Measured costs of messages between devices, for the command and the tests.
#ifndef TESSERA_COMM_COMM_INTERNAL_H
#define TESSERA_COMM_COMM_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/comm.h"
#include "tessera/status.h"

const char *tsr_comm_engine_name(const tsr_comm *comm);  // "threads"
// Whether the launcher of an MPI started this process.
bool tsr_comm_is_launched(void);

// A line through the measured times of messages between two devices, and how well it fits.
#define TSR_MEASURE_SIZES 8
typedef struct tsr_comm_fit {
  double alpha, beta;                 // a message of n bytes takes alpha + beta * n seconds
  double error;                       // root mean square of relative errors
  double noise;                       // relative excess of the median round over the fastest,
                                      // for the worst size
  int64_t bytes[TSR_MEASURE_SIZES];   // ascending
  double seconds[TSR_MEASURE_SIZES];  // the fastest of several rounds
} tsr_comm_fit;
// Collective. Sends messages of up to `most_bytes` (0 = 16 MB) there and back, and fits the line by
// least squares of relative errors. Every rank gets the same result.
TSR_MUST_USE tsr_status tsr_comm_measure_between(tsr_comm *comm, int64_t a, int64_t b,
                                                 int64_t most_bytes, tsr_comm_fit *out_fit);

#endif
