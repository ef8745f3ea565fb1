// Results against those of a file, or against sums and samples.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/text_internal.h"
#include "element/convert_internal.h"
#include "inspect/elements.h"
#include "tessera/engine/kernels.h"
#include "trial/trial_internal.h"

// ---- tolerances ----

// What is allowed by default: a few roundings of the type, as long chains of ops collect them.
static double default_tolerance(tsr_dtype dtype) {
  switch (dtype) {
    case TSR_F64:
    case TSR_C128:
      return 1e-10;
    case TSR_F32:
    case TSR_C64:
      return 2e-5;
    case TSR_F16:
      return 4e-3;
    case TSR_BF16:
      return 3e-2;
    default:
      return 0.25;  // floats of 8 bits and less have 1 to 3 bits after the first
  }
}

static bool is_exact(tsr_dtype dtype, const tsr_trial_tolerance *tolerance) {
  const tsr_dtype_class kind = tsr_dtype_info_of(dtype)->kind;
  return tolerance->exact || (kind != TSR_CLASS_FLOAT && kind != TSR_CLASS_COMPLEX);
}

enum { CHUNK = 1024 };

// The largest finite magnitude of real floats, at least 1; 1 of others.
static double largest(tsr_dtype dtype, const void *data, int64_t count) {
  const int64_t width = tsr_dtype_info_of(dtype)->bits / 8;
  double most = 1, numbers[CHUNK];
  if (tsr_dtype_info_of(dtype)->kind != TSR_CLASS_FLOAT || !width) return most;
  for (int64_t at = 0; at < count; at += CHUNK) {
    const int64_t some = tsr_least(CHUNK, count - at);
    const char *from = (const char *)data + at * width;
    tsr_status_free(tsr_convert(dtype, from, TSR_F64, numbers, some));
    for (int64_t i = 0; i < some; i++)
      if (isfinite(numbers[i])) most = fmax(most, fabs(numbers[i]));
  }
  return most;
}

static tsr_verify_options options_for(tsr_dtype dtype, const void *want, int64_t count,
                                      const tsr_trial_tolerance *tolerance) {
  tsr_verify_options options = TSR_VERIFY_OPTIONS;
  const double otherwise = default_tolerance(dtype);
  options.tolerant = !is_exact(dtype, tolerance);
  options.absolute = tolerance->absolute >= 0 ? tolerance->absolute : otherwise;
  if (options.tolerant && tolerance->scaled && tolerance->absolute < 0)
    options.absolute *= largest(dtype, want, count);
  options.relative = tolerance->relative >= 0 ? tolerance->relative : otherwise;
  return options;
}

// ---- what differs ----

void tsr_trial_place_print(const tsr_trial_values *values, int64_t value, int64_t element,
                           tsr_text *out) {
  const tsr_shape *shape = &values->items[value].shape;
  int64_t index[TSR_MAX_RANK];
  for (int i = shape->rank - 1; i >= 0; i--) {
    index[i] = element % shape->dims[i];
    element /= shape->dims[i];
  }
  tsr_text_add(out, tsr_trial_value_name(values, value).text);
  for (int i = 0; i < shape->rank; i++)
    tsr_text_addf(out, "%s%lld", i ? ", " : "[", (long long)index[i]);
  if (shape->rank) tsr_text_add_char(out, ']');
}

// "out0[3, 1] is 2.5, wanted 2; 7 of 64 elements differ, by at most 0.5 (relative 0.25)".
static void print_difference(const tsr_trial_values *got, int64_t index,
                             const void *const blocks[2], const tsr_errors *errors, tsr_text *out) {
  const tsr_trial_value *value = &got->items[index];
  tsr_trial_place_print(got, index, errors->first, out);
  tsr_text_add(out, " is ");
  tsr_element_print(value->dtype, blocks[0], errors->first, out);
  tsr_text_add(out, ", wanted ");
  tsr_element_print(value->dtype, blocks[1], errors->first, out);
  tsr_text_addf(out, "; %lld of %lld elements differ, by at most %.3g (relative %.3g)\n",
                (long long)errors->differing, (long long)value->count, errors->absolute,
                errors->relative);
}

static void add_errors(tsr_trial_verdict *verdict, const tsr_errors *errors) {
  verdict->differing += errors->differing;
  verdict->differing_values += errors->differing > 0;
  verdict->absolute = fmax(verdict->absolute, errors->absolute);
  verdict->relative = fmax(verdict->relative, errors->relative);
}

static tsr_status compare_value(const tsr_trial_values *got, const tsr_trial_values *want,
                                int64_t index, const tsr_trial_tolerance *tolerance, tsr_text *out,
                                tsr_trial_verdict *verdict) {
  const tsr_trial_value *value = &got->items[index];
  const void *blocks[2] = {NULL, NULL};
  void *owned[2] = {NULL, NULL};
  tsr_errors errors = {.first = -1};
  tsr_status status = tsr_trial_pack(value, &blocks[0], &owned[0]);
  if (!status) status = tsr_trial_pack(&want->items[index], &blocks[1], &owned[1]);
  if (!status) {
    const tsr_verify_options options =
        options_for(value->dtype, blocks[1], value->count, tolerance);
    tsr_errors_find((tsr_dtype[]){value->dtype, value->dtype}, blocks, value->count, &options,
                    &errors);
    if (errors.differing) print_difference(got, index, blocks, &errors, out);
    add_errors(verdict, &errors);
    verdict->values++;
    verdict->elements += value->count;
  }
  free(owned[0]);
  free(owned[1]);
  return status;
}

// Values of the same types as `got`, with memory of their own.
static tsr_status create_alike(const tsr_trial_values *got, tsr_trial_values *out) {
  tsr_trial_values values = {.results = got->results};
  values.items = calloc((size_t)got->count + 1, sizeof *values.items);
  if (!values.items) return tsr_fail(NO_MEMORY, "%lld values", (long long)got->count);
  tsr_status status = NULL;
  for (; !status && values.count < got->count; values.count++) {
    values.items[values.count] = got->items[values.count];
    values.items[values.count].data = NULL;
    status =
        tsr_buffer_create(NULL, got->items[values.count].bytes, &values.items[values.count].data);
  }
  if (status)
    tsr_trial_values_deinit(&values);
  else
    *out = values;
  return status;
}

tsr_status tsr_trial_compare_values(const tsr_trial_values *got, const tsr_trial_values *want,
                                    const tsr_trial_tolerance *tolerance, tsr_text *out,
                                    tsr_trial_verdict *out_verdict) {
  tsr_trial_verdict verdict = {0};
  for (int64_t i = 0; i < got->count; i++)
    if (!want->items[i].missing) TSR_TRY(compare_value(got, want, i, tolerance, out, &verdict));
  TSR_TRY(tsr_text_check(out));
  *out_verdict = verdict;
  return NULL;
}

tsr_status tsr_trial_compare(const tsr_trial_values *got, const char *path,
                             const tsr_trial_tolerance *tolerance, tsr_text *out,
                             tsr_trial_verdict *out_verdict) {
  tsr_trial_values want = {0};
  TSR_TRY(create_alike(got, &want));
  tsr_status status = tsr_trial_values_read_some(&want, path);
  if (!status) status = tsr_trial_compare_values(got, &want, tolerance, out, out_verdict);
  tsr_trial_values_deinit(&want);
  return status;
}

// ---- sums and samples ----

typedef struct totals {
  double sum, absolute;
} totals;

typedef struct sum_check {
  const tsr_trial_values *got;
  int64_t index;
  double share, sample_relative, sample_absolute;  // tolerances
  tsr_text *out;
  tsr_trial_verdict *verdict;
} sum_check;

static totals add_up(const tsr_trial_value *value) {
  const char *data = tsr_buffer_data(value->data);
  const int64_t width = tsr_dtype_info_of(value->dtype)->bits / 8;
  totals all = {0, 0};
  double numbers[CHUNK];
  for (int64_t at = 0; at < value->count; at += CHUNK) {
    const int64_t some = tsr_least(CHUNK, value->count - at);
    tsr_status_free(tsr_convert(value->dtype, data + at * width, TSR_F64, numbers, some));
    totals part = {0, 0};  // of this chunk alone, which loses fewer digits
    for (int64_t i = 0; i < some; i++) {
      part.sum += numbers[i];
      part.absolute += fabs(numbers[i]);
    }
    all.sum += part.sum;
    all.absolute += part.absolute;
  }
  return all;
}

// One comparison of a number; `what` stands behind the name of the value.
static void check_number(sum_check *check, const char *what, double got, double want,
                         double allowed) {
  tsr_trial_verdict *verdict = check->verdict;
  verdict->elements++;
  const double error = fabs(got - want);
  if (isfinite(error)) verdict->absolute = fmax(verdict->absolute, error);
  if (isfinite(error) && want != 0) verdict->relative = fmax(verdict->relative, error / fabs(want));
  if (error <= allowed) return;
  verdict->differing++;
  tsr_text_addf(check->out, "%s%s is %.9g, wanted %.9g within %.3g\n",
                tsr_trial_value_name(check->got, check->index).text, what, got, want, allowed);
}

static tsr_status check_sample(sum_check *check, const tsr_json *sample) {
  const tsr_trial_value *value = &check->got->items[check->index];
  int64_t at = 0;
  double want = 0, got = 0;
  TSR_TRY(tsr_json_get_int(tsr_json_at(sample, 0), "sample", &at));
  TSR_TRY(tsr_json_get_double(tsr_json_at(sample, 1), "sample", &want));
  if (at < 0 || at >= value->count)
    return tsr_fail(BAD_ARGUMENT, "sample %lld of %lld elements", (long long)at,
                    (long long)value->count);
  const int64_t width = tsr_dtype_info_of(value->dtype)->bits / 8;
  TSR_TRY(tsr_convert(value->dtype, (const char *)tsr_buffer_data(value->data) + at * width,
                      TSR_F64, &got, 1));
  char what[32];
  snprintf(what, sizeof what, ", element %lld,", (long long)at);
  check_number(check, what, got, want,
               check->sample_absolute + check->sample_relative * fabs(want));
  return NULL;
}

static tsr_status check_output(sum_check *check, const tsr_json *output) {
  const totals got = add_up(&check->got->items[check->index]);
  const int64_t before = check->verdict->differing;
  totals want = {0, 0};
  TSR_TRY(tsr_json_get_double(tsr_json_find(output, "sum"), "sum", &want.sum));
  TSR_TRY(tsr_json_get_double(tsr_json_find(output, "abs_sum"), "abs_sum", &want.absolute));
  const double allowed = check->share * want.absolute;
  check_number(check, ", its sum,", got.sum, want.sum, allowed);
  check_number(check, ", its sum of absolute values,", got.absolute, want.absolute, allowed);
  for (const tsr_json *s = tsr_json_first(tsr_json_find(output, "samples")); s;
       s = tsr_json_next(s))
    TSR_TRY(check_sample(check, s));
  check->verdict->values++;
  check->verdict->differing_values += check->verdict->differing > before;
  return NULL;
}

tsr_status tsr_trial_compare_sums(const tsr_trial_values *got, const tsr_trial_case *trial,
                                  tsr_text *out, tsr_trial_verdict *out_verdict) {
  const tsr_json *root = tsr_json_root(trial->facts);
  const tsr_json *allowed = tsr_json_find(root, "tolerance");
  const tsr_json *outputs = tsr_json_find(root, "outputs");
  tsr_trial_verdict verdict = {0};
  sum_check check = {.got = got, .out = out, .verdict = &verdict};
  static const char *const names[] = {"sum_relative_to_abs_sum", "sample_rtol", "sample_atol"};
  double *const targets[] = {&check.share, &check.sample_relative, &check.sample_absolute};
  for (int i = 0; i < 3; i++)
    TSR_TRY(tsr_json_get_double(tsr_json_find(allowed, names[i]), names[i], targets[i]));
  if ((int64_t)tsr_json_count(outputs) != got->count)
    return tsr_fail(BAD_ARGUMENT, "the case has %zu outputs, and the program %lld results",
                    tsr_json_count(outputs), (long long)got->count);
  const tsr_json *output = tsr_json_first(outputs);
  for (; check.index < got->count; check.index++, output = tsr_json_next(output))
    TSR_TRY_NOTE(check_output(&check, output), "output %lld of the case", (long long)check.index);
  TSR_TRY(tsr_text_check(out));
  *out_verdict = verdict;
  return NULL;
}
