// The arguments and results of an executable, with memory for their elements, and how they are
// printed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/text_internal.h"
#include "element/convert_internal.h"
#include "element/packed_bits.h"
#include "inspect/elements.h"
#include "ir/ir.h"
#include "trial/trial_internal.h"

// ---- making ----

static tsr_status describe(const tsr_executable *executable, bool results, int64_t index,
                           tsr_trial_value *out) {
  tsr_executable_value value = TSR_EXECUTABLE_VALUE;
  TSR_TRY((results ? tsr_executable_result : tsr_executable_argument)(executable, index, &value));
  *out = (tsr_trial_value){.name = value.name,
                           .dtype = value.dtype,
                           .shape = value.shape,
                           .bytes = value.bytes,
                           .next = results || !value.donated ? -1 : value.aliased};
  return tsr_shape_count(&value.shape, &out->count);
}

static tsr_status create_memory(tsr_trial_values *values) {
  for (int64_t i = 0; i < values->count; i++)
    TSR_TRY(tsr_buffer_create(NULL, values->items[i].bytes, &values->items[i].data));
  return NULL;
}

tsr_status tsr_trial_values_create(const tsr_executable *executable, bool results,
                                   tsr_trial_values *out_values) {
  tsr_trial_values values = {0};
  TSR_TRY(tsr_trial_values_describe(executable, results, &values));
  const tsr_status status = create_memory(&values);
  if (status)
    tsr_trial_values_deinit(&values);
  else
    *out_values = values;
  return status;
}

tsr_status tsr_trial_values_describe(const tsr_executable *executable, bool results,
                                     tsr_trial_values *out_values) {
  tsr_executable_info info = TSR_EXECUTABLE_INFO;
  tsr_trial_values values = {.results = results};
  TSR_TRY(tsr_executable_describe(executable, &info));
  const int64_t count = results ? info.result_count : info.argument_count;
  values.items = calloc((size_t)count + 1, sizeof *values.items);
  TSR_NEED(values.items);
  tsr_status status = NULL;
  for (; !status && values.count < count; values.count++)
    status = describe(executable, results, values.count, &values.items[values.count]);
  if (status)
    tsr_trial_values_deinit(&values);
  else
    *out_values = values;
  return status;
}

void tsr_trial_values_deinit(tsr_trial_values *values) {
  for (int64_t i = 0; i < values->count; i++) {
    tsr_buffer_release(values->items[i].data);
    free(values->items[i].box);
  }
  free(values->items);
  *values = (tsr_trial_values){0};
}

tsr_trial_name tsr_trial_value_name(const tsr_trial_values *values, int64_t index) {
  tsr_trial_name name;
  snprintf(name.text, sizeof name.text, "%s%lld", values->results ? "out" : "arg",
           (long long)index);
  return name;
}

// ---- elements narrower than a byte ----

tsr_status tsr_trial_pack(const tsr_trial_value *value, const void **out_elements,
                          void **out_owned) {
  const tsr_dtype_info *info = tsr_dtype_info_of(value->dtype);
  *out_elements = tsr_buffer_data(value->data);
  *out_owned = NULL;
  if (!info->sub_byte) return NULL;
  char *packed = calloc(1, (size_t)value->count + 1);
  TSR_NEED(packed);
  tsr_pack(info->bits, *out_elements, value->count, packed, 0);
  *out_elements = *out_owned = packed;
  return NULL;
}

int64_t tsr_trial_whole_index(const tsr_trial_value *value, int64_t element) {
  int64_t index = 0, stride = 1;
  if (!value->box) return element;
  for (int d = value->shape.rank - 1; d >= 0; d--) {
    const int64_t size = value->box[d].hi - value->box[d].lo;
    index += (value->box[d].lo + element % size) * stride;
    element /= size;
    stride *= value->shape.dims[d];
  }
  return index;
}

// ---- printing ----

enum { FIRST_ELEMENTS = 4 };

void tsr_trial_type_print(const tsr_trial_value *value, tsr_text *out) {
  tsr_text_addf(out, "%s[", tsr_dtype_name(value->dtype, TSR_NAMES_OWN));
  for (int i = 0; i < value->shape.rank; i++)
    tsr_text_addf(out, "%s%lld", i ? ", " : "", (long long)value->shape.dims[i]);
  tsr_text_add_char(out, ']');
}

static void print_first(const tsr_trial_value *value, const void *elements, tsr_text *out) {
  const int64_t some = tsr_least(value->count, FIRST_ELEMENTS);
  for (int64_t i = 0; i < some; i++) {
    if (i) tsr_text_add(out, ", ");
    tsr_element_print(value->dtype, elements, i, out);
  }
  if (value->count > some) tsr_text_add(out, ", ...");
}

static void print_range(const tsr_trial_value *value, const void *elements, tsr_text *out) {
  tsr_sums sums = TSR_SUMS_EMPTY;
  tsr_sums_add(&sums, value->dtype, elements, value->count);
  const tsr_tensor_stats stats = tsr_sums_stats(&sums);
  if (value->count > 1 && stats.min <= stats.max)
    tsr_text_addf(out, "%.6g to %.6g, mean %.6g", stats.min, stats.max, stats.mean);
  if (stats.nans) tsr_text_addf(out, ", %lld nan", (long long)stats.nans);
  if (stats.infinities) tsr_text_addf(out, ", %lld inf", (long long)stats.infinities);
}

static tsr_status print_row(const tsr_trial_values *values, int64_t index, tsr_table *table) {
  const tsr_trial_value *value = &values->items[index];
  const void *elements = NULL;
  void *owned = NULL;
  TSR_TRY(tsr_trial_pack(value, &elements, &owned));
  tsr_table_add(table, tsr_trial_value_name(values, index).text);
  tsr_trial_type_print(value, &table->text);
  tsr_table_end_cell(table);
  print_range(value, elements, &table->text);
  tsr_table_end_cell(table);
  print_first(value, elements, &table->text);
  tsr_table_end_cell(table);
  free(owned);
  return NULL;
}

tsr_status tsr_trial_values_print(const tsr_trial_values *values, tsr_text *out) {
  tsr_table table = {0};
  if (!values->count) return NULL;
  tsr_table_add_column(&table,
                       (tsr_table_column){.title = values->results ? "result" : "argument"});
  tsr_table_add_column(&table, (tsr_table_column){.title = "type"});
  tsr_table_add_column(&table, (tsr_table_column){.title = "range"});
  tsr_table_add_column(&table, (tsr_table_column){.title = "first elements"});
  tsr_status status = NULL;
  for (int64_t i = 0; !status && i < values->count; i++) status = print_row(values, i, &table);
  if (!status) tsr_table_print(&table, out);
  tsr_table_deinit(&table);
  return status ? status : tsr_text_check(out);
}

static tsr_status value_to_json(const tsr_trial_values *values, int64_t index,
                                tsr_json_writer *json) {
  const tsr_trial_value *value = &values->items[index];
  const void *elements = NULL;
  void *owned = NULL;
  tsr_sums sums = TSR_SUMS_EMPTY;
  TSR_TRY(tsr_trial_pack(value, &elements, &owned));
  tsr_sums_add(&sums, value->dtype, elements, value->count);
  free(owned);
  const tsr_tensor_stats stats = tsr_sums_stats(&sums);
  tsr_json_begin_object(json);
  tsr_json_add_string(json, "name", tsr_trial_value_name(values, index).text);
  tsr_json_add_string(json, "dtype", tsr_dtype_name(value->dtype, TSR_NAMES_OWN));
  tsr_json_add_ints(json, "shape", value->shape.dims, (size_t)value->shape.rank);
  tsr_json_write_key(json, "stats");
  tsr_stats_to_json(&stats, json);
  tsr_json_end_object(json);
  return NULL;
}

tsr_status tsr_trial_values_to_json(const tsr_trial_values *values, tsr_json_writer *json) {
  tsr_json_add_array(json, values->results ? "results" : "arguments");
  tsr_status status = NULL;
  for (int64_t i = 0; !status && i < values->count; i++) status = value_to_json(values, i, json);
  tsr_json_end_array(json);
  return status;
}
