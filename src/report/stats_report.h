// Statistics of a tensor, on one line and as data.
#ifndef TESSERA_REPORT_STATS_REPORT_H
#define TESSERA_REPORT_STATS_REPORT_H

#include "json/json.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/text.h"

void cli_print_stats(const tsr_tensor_stats *stats, tsr_text *out);
void cli_write_stats(const tsr_tensor_stats *stats, tsr_json_writer *json);

#endif
