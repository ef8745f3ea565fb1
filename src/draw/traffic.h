// Traffic: a matrix of the bytes that each device sends to each other.
#ifndef TESSERA_DRAW_TRAFFIC_H
#define TESSERA_DRAW_TRAFFIC_H

#include <stdbool.h>

#include "tessera/engine/copy_plan.h"
#include "tessera/text.h"

// With more devices than this, several share a row.
enum { TSR_TRAFFIC_MOST_ROWS = 64 };

typedef struct tsr_traffic {
  int rows;              // 0 = the plan has too many copies
  int64_t device_count;  // in either layout
  int64_t per_row;       // devices in a row; the last row may have fewer
  int64_t *devices;      // owned: their ids, ascending
  char (*labels)[32];    // owned: of each row, as "3" or "8-15"
  int64_t *bytes;  // owned: rows * rows, row = sender, column = receiver; the diagonal includes
                   // bytes that stay on their device
  double seconds;  // of the busiest device, by the links
  bool timed;      // `seconds` is known: there are links
} tsr_traffic;

// Sums the copies of a plan; with too many copies, `rows` is 0.
tsr_status tsr_traffic_from_plan(const tsr_copy_plan *plan, tsr_dtype dtype,
                                 const tsr_certificate *certificate, tsr_traffic *out_traffic);
void tsr_traffic_deinit(tsr_traffic *traffic);
int64_t tsr_traffic_at(const tsr_traffic *traffic, int source, int target);
int64_t tsr_traffic_max(const tsr_traffic *traffic);  // largest cell off the diagonal

// Draws bands from senders to receivers for a few devices, a matrix for more.
void tsr_traffic_print_svg(const tsr_traffic *traffic, const char *title, const char *subtitle,
                           tsr_text *out);

#endif
