// Profiles: how long each step took. One table for people, one trace for Chrome and Perfetto.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/grow.h"
#include "base/text_internal.h"
#include "trial/trial_internal.h"

// ---- recording ----

// While recording, step n is at place n, and those that have not run have no name.
static tsr_trial_step *step_of(tsr_trial_profile *profile, const tsr_step_event *event) {
  while (profile->count <= event->step) {
    tsr_trial_step *steps =
        tsr_grow(profile->steps, profile->count, &profile->capacity, sizeof *profile->steps);
    if (!steps) return NULL;
    profile->steps = steps;
    profile->steps[profile->count++] = (tsr_trial_step){0};
  }
  tsr_trial_step *step = &profile->steps[event->step];
  if (step->name) return step;
  *step = (tsr_trial_step){
      .step = event->step, .name = strdup(event->name), .op_count = event->op_count};
  return step->name ? step : NULL;
}

static void drop_unused(tsr_trial_profile *profile) {
  int64_t kept = 0;
  for (int64_t i = 0; i < profile->count; i++)
    if (profile->steps[i].name) profile->steps[kept++] = profile->steps[i];
  profile->count = kept;
}

// The trace is written later: text would take longer than small steps.
static bool keep_event(tsr_trial_profile *profile, const tsr_step_event *event) {
  tsr_step_event *events = tsr_grow(profile->events, profile->event_count, &profile->event_capacity,
                                    sizeof *profile->events);
  if (!events) return false;
  profile->events = events;
  events[profile->event_count++] = *event;
  return true;
}

static void record(void *context, const tsr_step_event *event) {
  tsr_trial_profile *profile = context;
  tsr_trial_step *step = step_of(profile, event);
  if (!step || !keep_event(profile, event)) {
    profile->failed = true;
    return;
  }
  step->runs++;
  step->flops = tsr_saturated_add(step->flops, event->flops);
  step->bytes = tsr_saturated_add(step->bytes, event->bytes);
  step->seconds += event->seconds;
  profile->seconds += event->seconds;
}

static int slower_first(const void *a, const void *b) {
  const tsr_trial_step *x = a, *y = b;
  if (x->seconds != y->seconds) return x->seconds < y->seconds ? 1 : -1;
  return (x->step > y->step) - (x->step < y->step);
}

static tsr_status profile_once(const tsr_executable *executable, const tsr_trial_values *inputs,
                               const tsr_trial_values *outputs, tsr_trial_profile *profile) {
  TSR_TRY(tsr_trial_run(executable, inputs, outputs));
  TSR_TRY(tsr_trial_run_hooked(executable, inputs, outputs, record, profile));
  if (profile->failed)
    return tsr_fail(NO_MEMORY, "profile of %lld steps", (long long)profile->count);
  drop_unused(profile);
  qsort(profile->steps, (size_t)profile->count, sizeof *profile->steps, slower_first);
  return NULL;
}

tsr_status tsr_trial_profile_run(const tsr_executable *executable, const tsr_trial_values *inputs,
                                 const tsr_trial_values *outputs, tsr_trial_profile *out_profile) {
  *out_profile = (tsr_trial_profile){0};
  tsr_status status = profile_once(executable, inputs, outputs, out_profile);
  if (status) tsr_trial_profile_deinit(out_profile);
  return status;
}

void tsr_trial_profile_deinit(tsr_trial_profile *profile) {
  for (int64_t i = 0; i < profile->count; i++) free(profile->steps[i].name);
  free(profile->steps);
  free(profile->events);
  *profile = (tsr_trial_profile){0};
}

// ---- printing ----

static double rate(int64_t amount, double seconds) {
  return seconds > 0 ? (double)amount / seconds * 1e-9 : 0;
}

static void print_step(const tsr_trial_step *step, double seconds, tsr_table *table) {
  tsr_table_addf(table, "%lld", (long long)step->step);
  tsr_table_add(table, step->name);
  tsr_table_addf(table, "%lld", (long long)step->runs);
  tsr_table_add(table, tsr_format_seconds(step->seconds).text);
  tsr_table_addf(table, "%.1f %%", seconds > 0 ? 100 * step->seconds / seconds : 0);
  tsr_table_addf(table, "%.3g", rate(step->flops, step->seconds));
  tsr_table_addf(table, "%.3g", rate(step->bytes, step->seconds));
}

tsr_status tsr_trial_profile_print(const tsr_trial_profile *profile, int64_t most, tsr_text *out) {
  static const tsr_table_column columns[] = {
      {"step", true, 0},  {"name", false, 72},  {"runs", true, 0}, {"time", true, 0},
      {"share", true, 0}, {"GFLOP/s", true, 0}, {"GB/s", true, 0}};
  tsr_table table = {0};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    tsr_table_add_column(&table, columns[i]);
  const int64_t shown = tsr_least(profile->count, most);
  for (int64_t i = 0; i < shown; i++) print_step(&profile->steps[i], profile->seconds, &table);
  tsr_table_print(&table, out);
  if (profile->count > shown)
    tsr_text_addf(out, "and %lld faster steps\n", (long long)(profile->count - shown));
  tsr_text_addf(out, "%lld steps, %s\n", (long long)profile->count,
                tsr_format_seconds(profile->seconds).text);
  tsr_table_deinit(&table);
  return tsr_text_check(out);
}

static void trace_event(const tsr_step_event *event, tsr_json_writer *json) {
  tsr_json_begin_inline_object(json);
  tsr_json_add_string(json, "name", event->name);
  tsr_json_add_string(json, "ph", "X");
  tsr_json_add_double(json, "ts", event->start * 1e6);
  tsr_json_add_double(json, "dur", event->seconds * 1e6);
  tsr_json_add_int(json, "pid", 1);
  tsr_json_add_int(json, "tid", 1);
  tsr_json_write_key(json, "args");
  tsr_json_begin_inline_object(json);
  tsr_json_add_int(json, "step", event->step);
  tsr_json_add_int(json, "ops", event->op_count);
  tsr_json_add_int(json, "flops", event->flops);
  tsr_json_add_int(json, "bytes", event->bytes);
  tsr_json_end_object(json);
  tsr_json_end_object(json);
}

tsr_status tsr_trial_profile_trace(const tsr_trial_profile *profile, tsr_text *out) {
  tsr_json_writer json;
  tsr_json_begin_document(&json, out);
  tsr_json_add_string(&json, "displayTimeUnit", "ms");
  tsr_json_add_array(&json, "traceEvents");
  for (int64_t i = 0; i < profile->event_count; i++) trace_event(&profile->events[i], &json);
  tsr_json_end_array(&json);
  tsr_json_end_document(&json);
  return tsr_text_check(out);
}

void tsr_trial_profile_to_json(const tsr_trial_profile *profile, tsr_json_writer *json) {
  tsr_json_add_array(json, "steps");
  for (int64_t i = 0; i < profile->count; i++) {
    const tsr_trial_step *step = &profile->steps[i];
    tsr_json_begin_inline_object(json);
    tsr_json_add_int(json, "step", step->step);
    tsr_json_add_string(json, "name", step->name);
    tsr_json_add_int(json, "ops", step->op_count);
    tsr_json_add_int(json, "runs", step->runs);
    tsr_json_add_double(json, "seconds", step->seconds);
    tsr_json_add_int(json, "flops", step->flops);
    tsr_json_add_int(json, "bytes", step->bytes);
    tsr_json_end_object(json);
  }
  tsr_json_end_array(json);
}
