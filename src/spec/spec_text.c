// Chooses the notation of a text by how it begins, and calls its reader or writer.
#include "base/text_internal.h"
#include "spec/forms.h"
#include "spec/notation_internal.h"
#include "spec/spec_internal.h"

static tsr_status read_text(const char *text, tsr_spec_form form, tsr_spec_builder *builder) {
  if (form == TSR_FORM_ANY && tsr_dtensor_looks_like(text))
    return tsr_fail(SYNTAX, "PyTorch's placements name no axes; reading them needs a mesh");
  if (form == TSR_FORM_ANY)
    form = tsr_spec_looks_jax(text)      ? TSR_FORM_JAX
           : tsr_spec_looks_shardy(text) ? TSR_FORM_SHARDY
                                         : TSR_FORM_SHORT;
  switch (form) {
    case TSR_FORM_JAX:
      return tsr_spec_read_jax(text, builder);
    case TSR_FORM_SHARDY:
      return tsr_spec_read_shardy(text, builder);
    case TSR_FORM_ANY:
    case TSR_FORM_SHORT:
      return tsr_spec_read_short(text, builder);
  }
  return tsr_fail(BAD_ARGUMENT, "%d is not a form of a spec", (int)form);
}

tsr_status tsr_spec_parse(const char *text, tsr_spec_form form, tsr_spec **out_spec) {
  tsr_spec_builder builder = TSR_SPEC_BUILDER_EMPTY;
  tsr_status status = read_text(text, form, &builder);
  if (!status) status = tsr_spec_builder_finish(&builder, out_spec);
  tsr_spec_builder_deinit(&builder);
  return status;
}

static tsr_status read_entries(const char *const *entries, int count, tsr_spec_builder *builder) {
  for (int i = 0; i < count; i++)
    TSR_TRY_NOTE(tsr_spec_read_entry(entries[i], builder), "entry %d", i);
  return NULL;
}

tsr_status tsr_spec_of(const char *const *entries, int count, tsr_spec **out_spec) {
  if (count < 0) return tsr_fail(BAD_ARGUMENT, "%d dimensions, expected 0 or more", count);
  tsr_spec_builder builder = TSR_SPEC_BUILDER_EMPTY;
  tsr_status status = read_entries(entries, count, &builder);
  if (!status) status = tsr_spec_builder_finish(&builder, out_spec);
  tsr_spec_builder_deinit(&builder);
  return status;
}

const char *tsr_spec_not_plain(const tsr_spec_desc *desc, bool sub_axes) {
  for (int d = 0; d < desc->dim_count; d++) {
    const tsr_spec_dim *dim = &desc->dims[d];
    if (dim->stage_count > 1) return "nested stages";
    if (dim->stage_count == 0) continue;
    if (dim->stages[0].kind != TSR_STAGE_EVEN) return "cuts other than even ones";
    for (int i = 0; !sub_axes && i < dim->stages[0].axis_count; i++)
      if (dim->stages[0].axes[i].size) return "sub-axes";
  }
  return NULL;
}

tsr_status tsr_spec_print(const tsr_spec *spec, tsr_spec_form form, tsr_text *out) {
  const tsr_spec_desc *desc = tsr_spec_desc_of(spec);
  switch (form) {
    case TSR_FORM_JAX:
      TSR_TRY(tsr_spec_write_jax(desc, out));
      return tsr_text_check(out);
    case TSR_FORM_SHARDY:
      TSR_TRY(tsr_spec_write_shardy(desc, out));
      return tsr_text_check(out);
    case TSR_FORM_ANY:
    case TSR_FORM_SHORT:
      tsr_spec_write_short(desc, out);
      return tsr_text_check(out);
  }
  return tsr_fail(BAD_ARGUMENT, "%d is not a form of a spec", (int)form);
}
