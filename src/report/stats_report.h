// Statistics of a tensor, on one line and as JSON.
#ifndef TESSERA_REPORT_STATS_REPORT_H
#define TESSERA_REPORT_STATS_REPORT_H

#include "json/json.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/text.h"

void tsr_stats_print(const tsr_tensor_stats *stats, tsr_text *out);
void tsr_stats_to_json(const tsr_tensor_stats *stats, tsr_json_writer *json);

#endif
