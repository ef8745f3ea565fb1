// What a finished job reports: values that a cast lost, tensors that were not checked against
// hashes, and a config.json that no longer matches the dtype.
#include "command/transform_talk.h"

#include <limits.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "tessera/checkpoint/transform.h"

// ---- reports ----

void cli_write_transform_report(const tsr_transform_report *report, tsr_json_writer *json) {
  tsr_json_add_int(json, "tensors_checked", report->checked);
  tsr_json_add_int(json, "tensors_unchecked", report->unchecked);
  tsr_json_add_int(json, "elements_lost", report->lost_elements);
  tsr_json_add_array(json, "lost");
  for (int64_t i = 0; i < report->loss_count; i++) {
    tsr_json_begin_inline_object(json);
    tsr_json_add_string(json, "tensor", report->losses[i].tensor);
    tsr_json_add_int(json, "elements", report->losses[i].elements);
    tsr_json_end_object(json);
  }
  tsr_json_end_array(json);
}

// Values that a cast lost, the worst tensors first.
static tsr_status say_losses(const tsr_transform_report *report, const char *to) {
  enum { SHOWN = 3 };
  const long long elements = report->lost_elements, tensors = report->loss_count;
  tsr_text names = TSR_TEXT_EMPTY;
  for (int64_t i = 0; i < tensors && i < SHOWN; i++)
    tsr_text_addf(&names, "%s%s: %lld", i ? ", " : "", report->losses[i].tensor,
                  (long long)report->losses[i].elements);
  if (tensors > SHOWN) tsr_text_add(&names, ", ...");
  tsr_status status = tsr_text_check(&names);
  if (!status)
    cli_say(
        "warning: %s: %s%lld element%s of %lld tensor%s did not fit the dtype of the cast and "
        "became "
        "inf, nan or the largest number (%s)\n",
        to, report->resumed ? "since the job was resumed, " : "", elements,
        elements == 1 ? "" : "s", tensors, tensors == 1 ? "" : "s", tsr_text_string(&names));
  tsr_text_deinit(&names);
  return status;
}

tsr_status cli_say_transform_report(const tsr_transform_report *report, const char *from,
                                    const char *to) {
  if (report->unchecked)
    cli_say(
        "note: %lld of %lld tensors were read in part or in another order and not compared with "
        "the hashes of %s; `tessera fsck --deep` compares all\n",
        (long long)report->unchecked, (long long)(report->checked + report->unchecked), from);
  return report->loss_count ? say_losses(report, to) : NULL;
}

// ---- config.json ----

// The dtype that a member names; NONE if it is missing or not a dtype.
static tsr_dtype dtype_in(const tsr_json *config, const char *key, char name[32]) {
  const char *bytes = NULL;
  size_t length = 0;
  tsr_dtype dtype = TSR_DTYPE_NONE;
  tsr_status status = tsr_json_get_string(tsr_json_find(config, key), key, &bytes, &length);
  if (!status) snprintf(name, 32, "%.*s", length < 32 ? (int)length : 31, bytes);
  if (!status) status = tsr_dtype_parse(name, &dtype);
  tsr_status_free(status);
  return dtype;
}

void cli_warn_of_config(const char *folder, tsr_dtype cast) {
  static const char *const keys[] = {"torch_dtype", "dtype"};
  char path[PATH_MAX], name[32];
  tsr_json_doc *doc = NULL;
  snprintf(path, sizeof path, "%s/config.json", folder);
  tsr_status_free(tsr_json_read_file(path, &doc));  // the file is optional
  for (int i = 0; i < 2 && doc; i++) {
    const tsr_dtype said = dtype_in(tsr_json_root(doc), keys[i], name);
    if (said == TSR_DTYPE_NONE || said == cast) continue;
    cli_say("warning: %s was copied unchanged: its %s is \"%s\", but tensors were cast to %s\n",
            path, keys[i], name, tsr_dtype_name(cast, TSR_NAMES_OWN));
  }
  tsr_json_destroy(doc);
}
