// The notations of a spec. Each has a reader, which fills a builder, and a writer. spec_text.c
// chooses one.
#ifndef TESSERA_SPEC_FORMS_H
#define TESSERA_SPEC_FORMS_H

#include "base/cursor.h"
#include "spec/spec_builder.h"
#include "tessera/spec.h"

TSR_MUST_USE tsr_status tsr_spec_read_short(const char *text, tsr_spec_builder *builder);
TSR_MUST_USE tsr_status tsr_spec_read_jax(const char *text, tsr_spec_builder *builder);
TSR_MUST_USE tsr_status tsr_spec_read_shardy(const char *text, tsr_spec_builder *builder);
// One entry of the short form; "" and NULL mean uncut.
TSR_MUST_USE tsr_status tsr_spec_read_entry(const char *text, tsr_spec_builder *builder);

void tsr_spec_write_short(const tsr_spec_desc *desc, tsr_text *out);
// These fail with NOT_EXPRESSIBLE before they write anything.
TSR_MUST_USE tsr_status tsr_spec_write_jax(const tsr_spec_desc *desc, tsr_text *out);
TSR_MUST_USE tsr_status tsr_spec_write_shardy(const tsr_spec_desc *desc, tsr_text *out);
// Whether a text begins like this notation.
bool tsr_spec_looks_jax(const char *text);
bool tsr_spec_looks_shardy(const char *text);

// Tokens that notations share: a quoted name, kept by the builder; ":(2)4" after an axis, optional;
// a priority; sum, max or min.
TSR_MUST_USE tsr_status tsr_read_name(tsr_cursor *cursor, tsr_escape_fn *escape,
                                      tsr_spec_builder *builder, const char **out_name);
TSR_MUST_USE tsr_status tsr_read_sub_axis(tsr_cursor *cursor, tsr_axis_ref *ref);
TSR_MUST_USE tsr_status tsr_read_priority(tsr_cursor *cursor, tsr_spec_dim *dim);
// A name of the short form, in quotes where it needs them.
void tsr_write_short_name(const char *name, tsr_text *out);
bool tsr_read_reduction(tsr_cursor *cursor, tsr_reduction *out_reduction);

// Why a notation with one group of axes per dimension cannot express this; NULL if it can.
// `sub_axes` says whether the notation has sub-axes.
const char *tsr_spec_not_plain(const tsr_spec_desc *desc, bool sub_axes);

#endif
