// Traffic: who sends how many bytes to whom, as a matrix that is small enough to look at.
#ifndef TESSERA_DRAW_TRAFFIC_H
#define TESSERA_DRAW_TRAFFIC_H

#include <stdbool.h>

#include "tessera/engine/copy_plan.h"
#include "tessera/text.h"

// More devices than this share rows.
enum { TSR_TRAFFIC_MOST_ROWS = 64 };

typedef struct tsr_traffic {
  int rows;              // 0 = nothing was looked at
  int64_t device_count;  // of both layouts together
  int64_t per_row;       // devices that share a row; the last one may have fewer
  int64_t *devices;      // owned: their ids, ascending
  char (*labels)[32];    // owned: of each row, as "3" or "8-15"
  int64_t *bytes;        // owned: rows * rows, from the row of the sender to the column of the
                         // receiver; on the diagonal also what stays on its device
  double seconds;        // by the links: the busiest device, its messages one after the other
  bool timed;            // there are links to tell it by
} tsr_traffic;

// Looks at every copy of a plan. Leaves `out_traffic` empty when there are too many.
tsr_status tsr_traffic_from_plan(const tsr_copy_plan *plan, tsr_dtype dtype,
                                 const tsr_certificate *certificate, tsr_traffic *out_traffic);
void tsr_traffic_deinit(tsr_traffic *traffic);
int64_t tsr_traffic_at(const tsr_traffic *traffic, int source, int target);
int64_t tsr_traffic_most(const tsr_traffic *traffic);  // of the cells off the diagonal

// The picture: bands from senders to receivers for a few devices, a matrix for more.
void tsr_traffic_print_svg(const tsr_traffic *traffic, const char *title, const char *subtitle,
                           tsr_text *out);

#endif
