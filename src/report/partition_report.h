// What partitioning made of a program: collectives, memory, fallbacks.
#ifndef TESSERA_REPORT_PARTITION_REPORT_H
#define TESSERA_REPORT_PARTITION_REPORT_H

#include "combine/moved_bytes.h"
#include "json/json.h"
#include "tessera/program/program.h"

// Of the program of one device (the list `partition`, with or without `lanes`), which must live as
// long.
typedef struct tsr_partition_report {
  const tsr_program *program;
  int64_t devices;
  tsr_moved_bytes moved;                             // by one device in one run
  int64_t argument_bytes, result_bytes, peak_bytes;  // of one device
} tsr_partition_report;

TSR_MUST_USE tsr_status tsr_partition_report_fill(const tsr_program *partitioned, int64_t devices,
                                                  tsr_partition_report *out_report);
TSR_MUST_USE tsr_status tsr_partition_report_print(const tsr_partition_report *report,
                                                   tsr_text *out);
// Members of the object that is open.
void tsr_partition_report_to_json(const tsr_partition_report *report, tsr_json_writer *json);

#endif
