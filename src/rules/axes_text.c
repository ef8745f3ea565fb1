// Semantic axes to read: as JSON and as a table.
#include "base/text_internal.h"
#include "json/json.h"
#include "rules/axes_internal.h"
#include "rules/semantic_axes.h"
#include "tessera/compat/eformer_axes.h"

void tsr_axes_to_json(const tsr_axes *axes, bool only_given, tsr_json_writer *writer) {
  tsr_json_begin_object(writer);
  for (int i = 0; i < TSR_FIELD_COUNT; i++) {
    const tsr_axis_field field = (tsr_axis_field)i;
    if (only_given && !tsr_axes_is_given(axes, field)) continue;
    tsr_json_write_key(writer, tsr_field_name(field));
    tsr_entry_to_json(tsr_axes_at(axes, field), writer);
  }
  tsr_json_end_object(writer);
}

// Adds blanks up to a column of the line that began at `start`.
static void pad(tsr_text *out, size_t start, size_t column) {
  do tsr_text_add_char(out, ' ');
  while (!out->failed && out->length < start + column);
}

static void print_reason(const tsr_axes *axes, tsr_axis_field field, tsr_text *out) {
  const tsr_field_info *info = &tsr_field_table[field];
  if (tsr_axes_is_given(axes, field))
    tsr_text_add(out, "given");
  else if (info->follows[1] != TSR_FIELD_NONE)
    tsr_text_addf(out, "follows %s and %s", tsr_field_name(info->follows[0]),
                  tsr_field_name(info->follows[1]));
  else if (info->follows[0] != TSR_FIELD_NONE)
    tsr_text_addf(out, "follows %s", tsr_field_name(info->follows[0]));
  else
    tsr_text_add(out, "default");
}

void tsr_axes_print(const tsr_axes *axes, tsr_text *out) {
  enum { VALUE_COLUMN = 34, REASON_COLUMN = 46 };
  for (int i = 0; i < TSR_FIELD_COUNT; i++) {
    const tsr_axis_field field = (tsr_axis_field)i;
    const size_t start = out->length;
    tsr_text_add(out, tsr_field_name(field));
    pad(out, start, VALUE_COLUMN);
    tsr_entry_print(tsr_axes_at(axes, field), out);
    pad(out, start, REASON_COLUMN);
    print_reason(axes, field, out);
    tsr_text_add_char(out, '\n');
  }
}
