// Blobs are kept as DENSE attributes of bytes, with their alignment in `id`. Their digits are
// decoded once; constants refer to them by key.
#include "syntax/resources.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/text_internal.h"
#include "syntax/writer.h"

enum { ALIGNMENT_BYTES = 4, USUAL_ALIGNMENT = 64 };

// ---- reading ----

static tsr_status read_key(tsr_reader *reader, const char **out_key) {
  if (!tsr_at_kind(reader, TSR_TOKEN_STRING))
    return tsr_read_word(reader, "a key of the metadata", out_key);
  const char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_read_string(reader, "a key", &bytes, &length));
  TSR_NEED(*out_key = tsr_ir_name(reader->ir, bytes, length));
  return NULL;
}

static tsr_status decode_blob(tsr_reader *reader, const char *digits, size_t length,
                              const tsr_attr **out_blob) {
  const char *at = reader->token.start;
  if (length < 2 + 2 * ALIGNMENT_BYTES || length % 2 || digits[0] != '0' || digits[1] != 'x')
    return tsr_reader_fail(reader, at, SYNTAX,
                           "a blob is \"0x\" and an even number of hexadecimal digits, 8 or more");
  const size_t count = length / 2 - 1;
  unsigned char *bytes = tsr_ir_alloc(reader->ir, count);
  TSR_NEED(bytes);
  for (size_t i = 0; i < count; i++) {
    const int high = tsr_hex_digit(digits[2 + 2 * i]), low = tsr_hex_digit(digits[3 + 2 * i]);
    if (high < 0 || low < 0)
      return tsr_reader_fail(reader, at, SYNTAX, "the blob has a character that is no digit");
    bytes[i] = (unsigned char)(high << 4 | low);
  }
  const int64_t size = (int64_t)(count - ALIGNMENT_BYTES);
  const tsr_type *type = tsr_type_shaped(reader->ir, TSR_I8, 1, &size);
  TSR_NEED(type);
  const tsr_attr *dense = tsr_attr_dense(reader->ir, type, bytes + ALIGNMENT_BYTES, (size_t)size);
  tsr_attr *blob = tsr_ir_alloc(reader->ir, sizeof *blob);
  TSR_NEED(dense && blob);
  *blob = *dense;
  blob->id = (int)(bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (bytes[3] & 127) << 24);
  *out_blob = blob;
  return NULL;
}

static tsr_status add_blob(tsr_reader *reader, const char *key, const tsr_attr *blob) {
  tsr_ir *ir = reader->ir;
  tsr_named_attr *list =
      tsr_arena_grow(&ir->arena, ir->resources, ir->resource_count, sizeof *list);
  TSR_NEED(list);
  ir->resources = list;
  list[ir->resource_count++] = (tsr_named_attr){key, blob};
  return NULL;
}

// The value of a key: a string, a word, a number, or a group of keys.
static tsr_status skip_value(tsr_reader *reader) {
  int64_t open = 0;
  do {
    if (tsr_at_kind(reader, TSR_TOKEN_END)) return tsr_reader_expected(reader, "\"#-}\"");
    if (tsr_at_sign(reader, "{")) open++;
    if (tsr_at_sign(reader, "}")) open--;
    tsr_next(reader);
  } while (open > 0);
  return NULL;
}

static tsr_status read_blob(tsr_reader *reader, void *context) {
  const bool *builtin = context;
  const char *key = NULL, *digits = NULL;
  size_t length = 0;
  TSR_TRY(read_key(reader, &key));
  TSR_TRY(tsr_expect_sign(reader, ":"));
  if (!*builtin) return skip_value(reader);
  const tsr_attr *blob = NULL;
  // Digits have no escapes, so the string is used where it stands.
  if (!tsr_at_kind(reader, TSR_TOKEN_STRING)) return tsr_reader_expected(reader, "a blob");
  digits = reader->token.start + 1;
  length = tsr_token_length(&reader->token) - 2;
  TSR_TRY(decode_blob(reader, digits, length, &blob));
  tsr_next(reader);
  return add_blob(reader, key, blob);
}

static tsr_status read_dialect(tsr_reader *reader, void *context) {
  (void)context;
  const char *dialect = NULL;
  TSR_TRY(read_key(reader, &dialect));
  TSR_TRY(tsr_expect_sign(reader, ":"));
  bool builtin = !strcmp(dialect, "builtin");
  return tsr_read_list(reader, "{", "}", read_blob, &builtin);
}

static tsr_status read_section(tsr_reader *reader, void *context) {
  (void)context;
  const char *section = NULL;
  TSR_TRY(read_key(reader, &section));
  TSR_TRY(tsr_expect_sign(reader, ":"));
  if (strcmp(section, "dialect_resources") != 0) return skip_value(reader);
  return tsr_read_list(reader, "{", "}", read_dialect, NULL);
}

tsr_status tsr_read_resources(tsr_reader *reader) {
  const char *at = reader->token.start;
  tsr_ir *ir = reader->ir;
  TSR_TRY(tsr_read_list(reader, "{-#", "#-}", read_section, NULL));
  if (ir->resource_count < 2) return NULL;
  qsort(ir->resources, (size_t)ir->resource_count, sizeof *ir->resources, tsr_named_attr_order);
  for (int64_t i = 1; i < ir->resource_count; i++)
    if (ir->resources[i].name == ir->resources[i - 1].name)
      return tsr_reader_fail(reader, at, SYNTAX, "two blobs have the key \"%s\"",
                             ir->resources[i].name);
  return NULL;
}

// ---- printing ----

static void add_hex(tsr_text *out, const unsigned char *bytes, size_t length) {
  static const char digits[] = "0123456789ABCDEF";
  char chunk[512];
  for (size_t done = 0; done < length;) {
    size_t used = 0;
    for (; done < length && used < sizeof chunk; done++) {
      chunk[used++] = digits[bytes[done] >> 4];
      chunk[used++] = digits[bytes[done] & 15];
    }
    tsr_text_add_bytes(out, chunk, used);
  }
}

static void print_blob(const tsr_named_attr *resource, tsr_text *out) {
  const tsr_attr *blob = resource->attr;
  const unsigned alignment = blob->id ? (unsigned)blob->id : USUAL_ALIGNMENT;
  const unsigned char head[ALIGNMENT_BYTES] = {
      (unsigned char)alignment, (unsigned char)(alignment >> 8), (unsigned char)(alignment >> 16),
      (unsigned char)(alignment >> 24)};
  tsr_text_add(out, "      ");
  tsr_attr_name_print(resource->name, out);
  tsr_text_add(out, ": \"0x");
  add_hex(out, head, sizeof head);
  const int64_t repeats = blob->splat ? tsr_type_element_count(blob->type) : 1;
  for (int64_t i = 0; i < repeats; i++)
    add_hex(out, (const unsigned char *)blob->bytes, blob->length);
  tsr_text_add_char(out, '"');
}

void tsr_print_resources(const tsr_ir *ir, tsr_text *out) {
  if (!ir->resource_count) return;
  tsr_text_add(out, "\n{-#\n  dialect_resources: {\n    builtin: {\n");
  for (int64_t i = 0; i < ir->resource_count; i++) {
    if (i) tsr_text_add(out, ",\n");
    print_blob(&ir->resources[i], out);
  }
  tsr_text_add(out, "\n    }\n  }\n#-}\n");
}
