#include "report/stats_report.h"

#include "base/text_internal.h"

void cli_print_stats(const tsr_tensor_stats *stats, tsr_text *out) {
  tsr_text_addf(out,
                "%lld elements, %lld nan, %lld inf, min %.6g, max %.6g, mean %.6g, norm %.6g\n",
                (long long)stats->count, (long long)stats->nans, (long long)stats->infinities,
                stats->min, stats->max, stats->mean, stats->norm);
}

void cli_write_stats(const tsr_tensor_stats *stats, tsr_json_writer *json) {
  const struct {
    const char *key;
    int64_t value;
  } counts[] = {{"count", stats->count}, {"nan", stats->nans}, {"inf", stats->infinities}};
  const struct {
    const char *key;
    double value;
  } numbers[] = {
      {"min", stats->min}, {"max", stats->max}, {"mean", stats->mean}, {"norm", stats->norm}};
  tsr_json_begin_inline_object(json);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    tsr_json_write_key(json, counts[i].key);
    tsr_json_write_int(json, counts[i].value);
  }
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    tsr_json_write_key(json, numbers[i].key);
    tsr_json_write_double(json, numbers[i].value);
  }
  tsr_json_end_object(json);
}
