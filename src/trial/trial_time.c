// Runs of an executable, one or many, and how long they take.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/progress_internal.h"
#include "base/text_internal.h"
#include "trial/trial_internal.h"

// ---- addresses ----

// One address for each value; the caller frees them.
static void **addresses_of(const tsr_trial_values *values) {
  void **addresses = calloc((size_t)values->count + 1, sizeof *addresses);
  for (int64_t i = 0; addresses && i < values->count; i++)
    addresses[i] = tsr_buffer_data(values->items[i].data);
  return addresses;
}

static tsr_buffer **buffers_of(const tsr_trial_values *values) {
  tsr_buffer **buffers = calloc((size_t)values->count + 1, sizeof(tsr_buffer *));
  for (int64_t i = 0; buffers && i < values->count; i++) buffers[i] = values->items[i].data;
  return buffers;
}

tsr_status tsr_trial_run_hooked(const tsr_executable *executable, const tsr_trial_values *inputs,
                                const tsr_trial_values *outputs, tsr_step_hook *hook,
                                void *context) {
  void **from = addresses_of(inputs), **to = addresses_of(outputs);
  tsr_status status = NULL;
  if (!from || !to)
    status = tsr_fail(NO_MEMORY, "addresses of %lld values",
                      (long long)(inputs->count + outputs->count));
  else if (hook)
    status = tsr_executable_profile(executable, (const void *const *)from, to, hook, context);
  else
    status = tsr_executable_run(executable, (const void *const *)from, to);
  free(from);
  free(to);
  return status;
}

tsr_status tsr_trial_run(const tsr_executable *executable, const tsr_trial_values *inputs,
                         const tsr_trial_values *outputs) {
  return tsr_trial_run_hooked(executable, inputs, outputs, NULL, NULL);
}

// ---- many runs ----

typedef struct timing {
  const tsr_executable *executable;
  tsr_trial_values *inputs, *outputs;
  tsr_buffer **from, **to;
  double *wall, *processor;
} timing;

static double processor_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// New results replace the old ones, and a result that took the memory of an argument becomes that
// argument: its only holder, so that the next run may take the memory again.
static void keep_results(timing *t) {
  for (int64_t i = 0; i < t->outputs->count; i++) {
    tsr_buffer_release(t->outputs->items[i].data);
    t->outputs->items[i].data = t->to[i];
  }
  for (int64_t i = 0; i < t->inputs->count; i++) {
    const int64_t next = t->inputs->items[i].next;
    if (next < 0) continue;
    tsr_buffer_release(t->inputs->items[i].data);
    t->inputs->items[i].data = t->from[i] = t->outputs->items[next].data;
    t->outputs->items[next].data = NULL;
  }
}

static tsr_status run_once(timing *t, double *out_wall, double *out_processor) {
  const double wall = tsr_now(), processor = processor_now();
  TSR_TRY(tsr_executable_call(t->executable, t->from, t->to));
  *out_wall = tsr_now() - wall;
  *out_processor = processor_now() - processor;
  keep_results(t);
  return NULL;
}

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double quantile(const double *sorted, int64_t count, double share) {
  return sorted[(int64_t)((double)(count - 1) * share + 0.5)];
}

// Sorts the seconds of runs.
static tsr_trial_times sum_up(double *wall, double *processor, int64_t runs) {
  qsort(wall, (size_t)runs, sizeof *wall, compare_doubles);
  qsort(processor, (size_t)runs, sizeof *processor, compare_doubles);
  return (tsr_trial_times){.runs = runs,
                           .median = quantile(wall, runs, 0.5),
                           .least = wall[0],
                           .most = wall[runs - 1],
                           .low = quantile(wall, runs, 0.25),
                           .high = quantile(wall, runs, 0.75),
                           .processor = quantile(processor, runs, 0.5)};
}

// Memory that a run touches first, and caches, are warm after a run or two.
static tsr_status warm_up(timing *t) {
  enum { MOST_WARM_UPS = 3 };
  double spent = 0;
  for (int i = 0; i < MOST_WARM_UPS && (i == 0 || spent < 0.2); i++) {
    double wall = 0, processor = 0;
    TSR_TRY(run_once(t, &wall, &processor));
    spent += wall;
  }
  return NULL;
}

static tsr_status run_all(timing *t, int64_t runs) {
  tsr_progress *progress = NULL;
  TSR_TRY(tsr_progress_create("run", "runs", runs, 0.1, tsr_progress_bar, stderr, &progress));
  tsr_status status = warm_up(t);
  for (int64_t i = 0; !status && i < runs; i++) {
    status = run_once(t, &t->wall[i], &t->processor[i]);
    tsr_progress_add(progress, 1);
  }
  tsr_progress_finish(progress);
  return status;
}

tsr_status tsr_trial_time(const tsr_executable *executable, tsr_trial_values *inputs,
                          tsr_trial_values *outputs, int64_t runs, tsr_trial_times *out_times) {
  timing t = {.executable = executable,
              .inputs = inputs,
              .outputs = outputs,
              .from = buffers_of(inputs),
              .to = buffers_of(outputs),
              .wall = calloc((size_t)runs, sizeof(double)),
              .processor = calloc((size_t)runs, sizeof(double))};
  tsr_status status = NULL;
  if (!t.from || !t.to || !t.wall || !t.processor)
    status = tsr_fail(NO_MEMORY, "times of %lld runs", (long long)runs);
  if (!status) status = run_all(&t, runs);
  if (!status) *out_times = sum_up(t.wall, t.processor, runs);
  free(t.from);
  free(t.to);
  free(t.wall);
  free(t.processor);
  return status;
}

// ---- over several ranks ----

static tsr_status time_shards(const tsr_executable *executable, const tsr_trial_shards *inputs,
                              const tsr_trial_shards *outputs, int64_t runs, double *wall,
                              double *processor) {
  TSR_TRY(tsr_trial_shards_run(executable, inputs, outputs));  // warm after this
  for (int64_t i = 0; i < runs; i++) {
    const double start = tsr_now(), processor_start = processor_now();
    TSR_TRY(tsr_trial_shards_run(executable, inputs, outputs));
    wall[i] = tsr_now() - start;
    processor[i] = processor_now() - processor_start;
  }
  return NULL;
}

tsr_status tsr_trial_shards_time(const tsr_executable *executable, const tsr_trial_shards *inputs,
                                 const tsr_trial_shards *outputs, int64_t runs,
                                 tsr_trial_times *out_times) {
  double *wall = calloc(2 * (size_t)runs, sizeof *wall);
  if (!wall) return tsr_fail(NO_MEMORY, "times of %lld runs", (long long)runs);
  const tsr_status status = time_shards(executable, inputs, outputs, runs, wall, wall + runs);
  if (!status) *out_times = sum_up(wall, wall + runs, runs);
  free(wall);
  return status;
}

// ---- printing ----

void tsr_trial_times_print(const tsr_trial_times *times, const tsr_executable_info *info,
                           tsr_text *out) {
  tsr_text_addf(out, "%lld runs: median %s", (long long)times->runs,
                tsr_format_seconds(times->median).text);
  tsr_text_addf(out, ", quartiles %s", tsr_format_seconds(times->low).text);
  tsr_text_addf(out, " to %s", tsr_format_seconds(times->high).text);
  tsr_text_addf(out, ", least %s", tsr_format_seconds(times->least).text);
  tsr_text_addf(out, ", most %s", tsr_format_seconds(times->most).text);
  tsr_text_addf(out, "; CPU %s\n", tsr_format_seconds(times->processor).text);
  if (times->median > 0)
    tsr_text_addf(out, "%.3g GFLOP/s, %.3g GB/s read and written by steps\n",
                  (double)info->flops / times->median * 1e-9,
                  (double)info->bytes_moved / times->median * 1e-9);
}

void tsr_trial_times_to_json(const tsr_trial_times *times, const tsr_executable_info *info,
                             tsr_json_writer *json) {
  tsr_json_add_object(json, "times");
  tsr_json_add_int(json, "runs", times->runs);
  tsr_json_add_double(json, "median_seconds", times->median);
  tsr_json_add_double(json, "low_seconds", times->low);
  tsr_json_add_double(json, "high_seconds", times->high);
  tsr_json_add_double(json, "least_seconds", times->least);
  tsr_json_add_double(json, "most_seconds", times->most);
  tsr_json_add_double(json, "cpu_seconds", times->processor);
  if (times->median > 0) {
    tsr_json_add_double(json, "flops_per_second", (double)info->flops / times->median);
    tsr_json_add_double(json, "bytes_per_second", (double)info->bytes_moved / times->median);
  }
  tsr_json_end_object(json);
}
