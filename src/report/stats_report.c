// Statistics print with six digits; JSON has all of them.
#include "report/report.h"

#include "base/text_internal.h"
#include "json/json_fields.h"

void tsr_stats_print(const tsr_tensor_stats *stats, tsr_text *out) {
  tsr_text_addf(out,
                "%lld elements, %lld nan, %lld inf, min %.6g, max %.6g, mean %.6g, norm %.6g\n",
                (long long)stats->count, (long long)stats->nans, (long long)stats->infinities,
                stats->min, stats->max, stats->mean, stats->norm);
}

void tsr_stats_to_json(const tsr_tensor_stats *stats, tsr_json_writer *json) {
#define ROW(field, key) TSR_JSON_FIELD_AS(tsr_tensor_stats, field, key)
  static const tsr_json_field fields[] = {
      ROW(count, "count"), ROW(nans, "nan"),  ROW(infinities, "inf"), ROW(min, "min"),
      ROW(max, "max"),     ROW(mean, "mean"), ROW(norm, "norm"),      {0}};
#undef ROW
  tsr_json_begin_inline_object(json);
  tsr_json_add_fields(json, fields, stats);
  tsr_json_end_object(json);
}
