// Entries that are, or become, text of MLIR: those that a dialect does not encode, and the few
// kinds that programs only carry along (memref and vector types, dense strings, sparse and distinct
// attributes). The latter are written down as MLIR prints them, so that the reader of texts decides
// what they are.
#include <string.h>

#include "base/text_internal.h"
#include "bytecode/artifact.h"
#include "syntax/syntax.h"
#include "syntax/writer.h"

enum { MAX_PARTS = 4096 };  // of what is written down

// ---- text in the file ----

static tsr_status check_text(const tsr_wire_cursor *cursor) {
  if (tsr_wire_left(cursor) && memchr(cursor->at, 0, tsr_wire_left(cursor)) == cursor->end - 1)
    return NULL;
  return tsr_wire_fail(cursor, BROKEN_PROGRAM, "expected a text that ends with a zero");
}

tsr_status tsr_artifact_text_attr(tsr_artifact *artifact, const tsr_wire_cursor *cursor,
                                  const tsr_attr **out_attr) {
  TSR_TRY(check_text(cursor));
  return tsr_wire_place(cursor, tsr_syntax_read_attr(artifact->ir, (const char *)cursor->at,
                                                     tsr_wire_left(cursor) - 1, out_attr));
}

tsr_status tsr_artifact_text_type(tsr_artifact *artifact, const tsr_wire_cursor *cursor,
                                  const tsr_type **out_type) {
  TSR_TRY(check_text(cursor));
  return tsr_wire_place(cursor, tsr_syntax_read_type(artifact->ir, (const char *)cursor->at,
                                                     tsr_wire_left(cursor) - 1, out_type));
}

// ---- text that is made ----

static tsr_status read_made_type(tsr_artifact *artifact, const tsr_wire_cursor *cursor,
                                 tsr_text *text, const tsr_type **out_type) {
  tsr_status status = tsr_text_check(text);
  if (!status)
    status = tsr_wire_place(cursor,
                            tsr_syntax_read_type(artifact->ir, text->data, text->length, out_type));
  tsr_text_deinit(text);
  return status;
}

static tsr_status read_made_attr(tsr_artifact *artifact, const tsr_wire_cursor *cursor,
                                 tsr_text *text, const tsr_attr **out_attr) {
  tsr_status status = tsr_text_check(text);
  const char *copy = status ? NULL : tsr_arena_copy(&artifact->ir->arena, text->data, text->length);
  if (!status && !copy) status = tsr_fail(NO_MEMORY, "memory of a program");
  if (!status)
    status =
        tsr_wire_place(cursor, tsr_syntax_read_attr(artifact->ir, copy, text->length, out_attr));
  tsr_text_deinit(text);
  return status;
}

static tsr_status check_parts(const tsr_wire_cursor *cursor, uint64_t parts) {
  if (parts <= MAX_PARTS) return NULL;
  return tsr_wire_fail(cursor, UNSUPPORTED, "it has more than %d parts", MAX_PARTS);
}

static tsr_status read_small_attr(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                  const tsr_attr **out_attr) {
  const tsr_wire_cursor start = *cursor;
  TSR_TRY(tsr_artifact_attr(artifact, cursor, out_attr));
  return check_parts(&start, (uint64_t)(*out_attr)->weight + (*out_attr)->length);
}

static tsr_status read_small_type(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                  const tsr_type **out_type) {
  const tsr_wire_cursor start = *cursor;
  TSR_TRY(tsr_artifact_type(artifact, cursor, out_type));
  return check_parts(&start, (*out_type)->weight);
}

// ---- types ----

typedef struct shaped_parts {
  const tsr_attr *space, *layout;  // NULL = absent
  const unsigned char *scalable;   // of vectors; NULL = none
  const int64_t *dims;
  int rank, scalable_count;
  const tsr_type *element;
} shaped_parts;

static void add_dims(const shaped_parts *parts, tsr_text *text) {
  for (int i = 0; i < parts->rank; i++) {
    const bool scales = i < parts->scalable_count && parts->scalable[i];
    if (scales) tsr_text_add_char(text, '[');
    if (parts->dims[i] == TSR_DYNAMIC)
      tsr_text_add_char(text, '?');
    else
      tsr_text_add_int(text, parts->dims[i]);
    tsr_text_add(text, scales ? "]x" : "x");
  }
}

static void add_identity(int rank, tsr_text *text) {
  tsr_text names = TSR_TEXT_EMPTY;
  for (int i = 0; i < rank; i++) tsr_text_addf(&names, i ? ", d%d" : "d%d", i);
  tsr_text_addf(text, "affine_map<(%s) -> (%s)>", tsr_text_string(&names), tsr_text_string(&names));
  text->failed |= names.failed;
  tsr_text_deinit(&names);
}

static bool is_identity(const shaped_parts *parts) {
  tsr_text text = TSR_TEXT_EMPTY;
  add_identity(parts->rank, &text);
  const bool same = parts->layout->kind == TSR_ATTR_OPAQUE && !text.failed &&
                    !strcmp(parts->layout->bytes, text.data);
  tsr_text_deinit(&text);
  return same;
}

static void add_attr(const tsr_attr *attr, tsr_text *text) {
  tsr_text_add(text, ", ");
  tsr_attr_print(attr, text);
}

static tsr_status read_scalable(tsr_wire_cursor *cursor, shaped_parts *parts) {
  TSR_TRY(tsr_wire_count(cursor, "dimensions", &parts->scalable_count));
  return tsr_wire_bytes(cursor, (uint64_t)parts->scalable_count, &parts->scalable);
}

static tsr_status read_shaped(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                              const tsr_type_code *code, shaped_parts *parts) {
  const bool vector = code->form == TSR_TYPE_CODE_VECTOR;
  if (code->argument && vector) TSR_TRY(read_scalable(cursor, parts));
  if (code->argument && !vector) TSR_TRY(read_small_attr(artifact, cursor, &parts->space));
  if (code->form != TSR_TYPE_CODE_UNRANKED_MEMREF)
    TSR_TRY(tsr_artifact_ints(artifact, cursor, &parts->dims, &parts->rank));
  TSR_TRY(check_parts(cursor, (uint64_t)parts->rank));
  TSR_TRY(read_small_type(artifact, cursor, &parts->element));
  if (code->form == TSR_TYPE_CODE_MEMREF)
    TSR_TRY(read_small_attr(artifact, cursor, &parts->layout));
  return NULL;
}

tsr_status tsr_artifact_carried_type(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                     const tsr_type_code *code, const tsr_type **out_type) {
  const tsr_wire_cursor start = *cursor;
  shaped_parts parts = {0};
  tsr_text text = TSR_TEXT_EMPTY;
  TSR_TRY(read_shaped(artifact, cursor, code, &parts));
  tsr_text_add(&text, code->form == TSR_TYPE_CODE_VECTOR ? "vector<" : "memref<");
  if (code->form == TSR_TYPE_CODE_UNRANKED_MEMREF) tsr_text_add(&text, "*x");
  add_dims(&parts, &text);
  tsr_type_print(parts.element, &text);
  if (parts.layout && !is_identity(&parts)) add_attr(parts.layout, &text);
  if (parts.space) add_attr(parts.space, &text);
  tsr_text_add_char(&text, '>');
  return read_made_type(artifact, &start, &text, out_type);
}

// ---- attributes ----

static void add_type(const tsr_type *type, tsr_text *text) {
  tsr_text_add(text, " : ");
  tsr_type_print(type, text);
}

// Brackets around the elements of every dimension, as many as end before element `index`.
static void add_brackets(const tsr_type *type, int64_t index, char bracket, tsr_text *text) {
  int64_t size = 1;
  for (int i = type->rank - 1; i >= 0; i--) {
    size *= type->dims[i];
    if (index % size == 0) tsr_text_add_char(text, bracket);
  }
}

static tsr_status add_strings(tsr_artifact *artifact, tsr_wire_cursor *cursor, const tsr_type *type,
                              int64_t count, tsr_text *text) {
  for (int64_t i = 0; i < count; i++) {
    tsr_artifact_string string = {0};
    TSR_TRY(tsr_artifact_string_at(artifact, cursor, &string));
    if (i) tsr_text_add(text, ", ");
    if (type) add_brackets(type, i, '[', text);
    tsr_string_print(string.bytes, string.length, text);
    if (type) add_brackets(type, i + 1, ']', text);
  }
  return NULL;
}

static tsr_status add_dense_strings(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                    tsr_text *text) {
  const tsr_wire_cursor start = *cursor;
  const tsr_type *type = NULL;
  int splat = 0;
  TSR_TRY(read_small_type(artifact, cursor, &type));
  const int64_t count = type->kind == TSR_TYPE_TENSOR ? tsr_type_element_count(type) : -1;
  if (count < 0)
    return tsr_wire_fail(&start, BROKEN_PROGRAM, "strings of a type that is not a tensor");
  TSR_TRY(tsr_wire_index(cursor, "case", 2, &splat));
  if (!splat) TSR_TRY(tsr_wire_check_count(cursor, "strings", (uint64_t)count));
  tsr_text_add(text, "dense<");
  TSR_TRY(add_strings(artifact, cursor, splat ? NULL : type, splat ? 1 : count, text));
  tsr_text_add_char(text, '>');
  add_type(type, text);
  return NULL;
}

// What stands between the brackets of dense<...>.
static void add_elements(const tsr_attr *dense, tsr_text *text) {
  const size_t head = strlen("dense<");
  tsr_text whole = TSR_TEXT_EMPTY;
  tsr_attr_print_untyped(dense, &whole);
  if (whole.length > head) tsr_text_add_bytes(text, whole.data + head, whole.length - head - 1);
  text->failed |= whole.failed;
  tsr_text_deinit(&whole);
}

static tsr_status read_elements(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                const tsr_attr **out_attr) {
  const tsr_wire_cursor start = *cursor;
  TSR_TRY(read_small_attr(artifact, cursor, out_attr));
  if ((*out_attr)->kind != TSR_ATTR_DENSE)
    return tsr_wire_fail(&start, BROKEN_PROGRAM, "indices or values are not dense elements");
  return check_parts(&start, (uint64_t)tsr_type_element_count((*out_attr)->type));
}

static tsr_status add_sparse(tsr_artifact *artifact, tsr_wire_cursor *cursor, tsr_text *text) {
  const tsr_type *type = NULL;
  const tsr_attr *indices = NULL, *values = NULL;
  TSR_TRY(read_small_type(artifact, cursor, &type));
  TSR_TRY(read_elements(artifact, cursor, &indices));
  TSR_TRY(read_elements(artifact, cursor, &values));
  tsr_text_add(text, "sparse<");
  add_elements(indices, text);
  tsr_text_add(text, ", ");
  add_elements(values, text);
  tsr_text_add_char(text, '>');
  add_type(type, text);
  return NULL;
}

// Distinct attributes differ though their contents are equal; the entry's index tells them apart.
static tsr_status add_distinct(tsr_artifact *artifact, tsr_wire_cursor *cursor, tsr_text *text) {
  const tsr_attr *attr = NULL;
  TSR_TRY(read_small_attr(artifact, cursor, &attr));
  tsr_text_addf(text, "distinct[%lld]<", (long long)cursor->index);
  tsr_attr_print(attr, text);
  tsr_text_add_char(text, '>');
  return NULL;
}

tsr_status tsr_artifact_carried_attr(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                     const tsr_attr_code *code, const tsr_attr **out_attr) {
  const tsr_wire_cursor start = *cursor;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = code->form == TSR_CODE_DENSE_STRINGS
                          ? add_dense_strings(artifact, cursor, &text)
                      : code->form == TSR_CODE_SPARSE ? add_sparse(artifact, cursor, &text)
                                                      : add_distinct(artifact, cursor, &text);
  if (!status) return read_made_attr(artifact, &start, &text, out_attr);
  tsr_text_deinit(&text);
  return status;
}
