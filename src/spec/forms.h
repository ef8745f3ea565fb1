// The notations of a spec: each has a reader, which fills a builder, and a writer. spec_text.c
// chooses between them.
#ifndef TESSERA_SPEC_FORMS_H
#define TESSERA_SPEC_FORMS_H

#include "base/cursor.h"
#include "spec/spec_builder.h"
#include "tessera/spec.h"

TSR_MUST_USE tsr_status tsr_spec_read_short(const char *text, tsr_spec_builder *builder);
TSR_MUST_USE tsr_status tsr_spec_read_jax(const char *text, tsr_spec_builder *builder);
TSR_MUST_USE tsr_status tsr_spec_read_shardy(const char *text, tsr_spec_builder *builder);
// One entry of the short form; "" and NULL are uncut.
TSR_MUST_USE tsr_status tsr_spec_read_entry(const char *text, tsr_spec_builder *builder);

void tsr_spec_write_short(const tsr_spec_desc *desc, tsr_text *out);
// These fail with NOT_EXPRESSIBLE before they write anything.
TSR_MUST_USE tsr_status tsr_spec_write_jax(const tsr_spec_desc *desc, tsr_text *out);
TSR_MUST_USE tsr_status tsr_spec_write_shardy(const tsr_spec_desc *desc, tsr_text *out);
// Whether a text is meant for one of these readers, by how it begins.
bool tsr_spec_looks_jax(const char *text);
bool tsr_spec_looks_shardy(const char *text);

// Words the notations share: a quoted name, kept by the builder; ":(2)4" or nothing after an axis;
// a number that fits a priority; sum, max or min.
TSR_MUST_USE tsr_status tsr_read_name(tsr_cursor *cursor, tsr_escape_fn *escape,
                                      tsr_spec_builder *builder, const char **out_name);
TSR_MUST_USE tsr_status tsr_read_sub_axis(tsr_cursor *cursor, tsr_axis_ref *ref);
TSR_MUST_USE tsr_status tsr_read_priority(tsr_cursor *cursor, tsr_spec_dim *dim);
// A name of the short form, in quotes where it needs them.
void tsr_write_short_name(const char *name, tsr_text *out);
bool tsr_read_reduction(tsr_cursor *cursor, tsr_reduction *out_reduction);

// Why a plain notation, one group of whole or part axes per dimension, cannot say this; NULL if it
// can. `parts` tells whether the notation has sub-axes.
const char *tsr_spec_not_plain(const tsr_spec_desc *desc, bool parts);

#endif
