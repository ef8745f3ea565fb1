// A jax.export file of any bytes is read or refused; what is read can be printed, and its views lie
// in the file.
#include <assert.h>
#include <stdint.h>

#include "bytecode/export_file.h"

static void check_values(const tsr_export_value *values, int64_t count, tsr_text *text) {
  for (int64_t i = 0; i < count; i++) {
    assert(values[i].path && values[i].sharding && values[i].dtype_name);
    tsr_export_value_print(&values[i], text);
    tsr_export_sharding_print(values[i].sharding, text);
  }
}

static void check_file(const tsr_export_file *file, const uint8_t *data, size_t size) {
  tsr_text text = TSR_TEXT_EMPTY;
  const uint8_t *module = file->module;
  assert(module >= data && module + file->module_length <= data + size);
  tsr_export_tree_print(&file->in_tree, &text);
  tsr_export_tree_print(&file->out_tree, &text);
  check_values(file->ins, file->in_count, &text);
  check_values(file->outs, file->out_count, &text);
  for (int64_t i = 0; i < file->kept_count; i++) assert(file->ins[file->kept[i]].kept);
  tsr_text_deinit(&text);
  if (file->vjp) check_file(file->vjp, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsr_export_file *file = NULL;
  (void)tsr_export_is(data, size);
  tsr_status status = tsr_export_read("fuzz", data, size, &file);
  if (!status) check_file(file, data, size);
  tsr_export_destroy(file);
  tsr_status_free(status);
  return 0;
}
