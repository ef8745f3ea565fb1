// What `tessera cost` prints about a program before it runs: text, JSON, and a page with a picture.
#ifndef TESSERA_REPORT_PREFLIGHT_REPORT_H
#define TESSERA_REPORT_PREFLIGHT_REPORT_H

#include "tessera/program/preflight.h"
#include "tessera/text.h"

typedef struct tsr_preflight_report {
  const tsr_preflight *preflight;
  const char *path;      // of the program, as the user wrote it
  const char *topology;  // as the user wrote it; NULL = none
  int64_t top;           // reshards to list
} tsr_preflight_report;

TSR_MUST_USE tsr_status tsr_preflight_report_print(const tsr_preflight_report *report,
                                                   tsr_text *out);
TSR_MUST_USE tsr_status tsr_preflight_report_to_json(const tsr_preflight_report *report,
                                                     tsr_text *out);
// One HTML file without anything from outside: the program as a graph, folded by function, loop and
// layer, with its reshards in red.
TSR_MUST_USE tsr_status tsr_preflight_report_to_html(const tsr_preflight_report *report,
                                                     tsr_text *out);

// ---- what they share ----

// {data=2, model=4}, of the program's meshes; "no mesh".
TSR_MUST_USE tsr_status tsr_preflight_print_mesh(const tsr_preflight *preflight, tsr_text *out);
typedef struct tsr_preflight_time {
  double compute, collectives, least, most;  // overlapped at best; one after the other
} tsr_preflight_time;
tsr_preflight_time tsr_preflight_time_of(const tsr_preflight_info *info);

#endif
