// Writes portable artifacts: the IR section first, which fills the tables, and then all sections in
// MLIR's order. Large constants are copied once, from the program to the result.
#include <stdlib.h>
#include <string.h>

#include "bytecode/bytecode.h"
#include "bytecode/chlo_lower.h"
#include "bytecode/write_internal.h"

enum { DEFAULT_MINOR = 15, RESOURCE_ALIGNMENT = 8, PADDING = 0xcb, ALIGNED = 0x80 };
enum {
  SECTION_STRINGS,
  SECTION_DIALECTS,
  SECTION_ATTRS,
  SECTION_SIZES,
  SECTION_IR,
  SECTION_RESOURCES,
  SECTION_RESOURCE_SIZES,
  SECTION_PROPERTIES = 8
};
enum { RESOURCE_BLOB = 0 };

// ---- versions ----

static bool take_number(const char **at, int *out_number) {
  if (**at < '0' || **at > '9') return false;
  int number = 0;
  for (; **at >= '0' && **at <= '9'; (*at)++)
    if ((number = 10 * number + (**at - '0')) > 9999) return false;
  *out_number = number;
  return true;
}

// "1.15", "1.15.0"; patch numbers do not change what an artifact may hold.
static tsr_status parse_version(const char *text, int *out_version, int *out_patch) {
  int major = 1, minor = DEFAULT_MINOR, patch = 0;
  const char *at = text ? text : "1.15.0";
  bool good = take_number(&at, &major) && *at++ == '.' && take_number(&at, &minor);
  if (good && *at == '.') good = (at++, take_number(&at, &patch));
  const int version = TSR_VHLO_VERSION(major, minor);
  if (!good || *at || minor > 999 || version < TSR_VHLO_VERSION(1, 0) || version > TSR_VHLO_NEWEST)
    return tsr_fail(UNKNOWN_VERSION,
                    "StableHLO version \"%s\" cannot be written, wanted 1.0.0 to "
                    "%d.%d.0",
                    text, TSR_VERSION_ARGUMENTS(TSR_VHLO_NEWEST));
  *out_version = version;
  *out_patch = patch;
  return NULL;
}

// ---- sections ----

static void put_section(tsr_text *out, int id, const tsr_text *content) {
  tsr_text_add_char(out, (char)id);
  tsr_put_varint(out, content->length);
  tsr_text_add_bytes(out, tsr_text_string(content), content->length);
}

// Calls `put` for every run of items of one dialect: the dialect, the count, then the items.
static void put_groups(tsr_text *out, const tsr_entry_table *table,
                       void (*put)(tsr_text *out, const tsr_stored_entry *item)) {
  for (int64_t i = 0; i < table->count;) {
    int64_t end = i;
    while (end < table->count && table->items[end]->dialect == table->items[i]->dialect) end++;
    tsr_put_varint(out, (uint64_t)table->items[i]->dialect);
    tsr_put_varint(out, (uint64_t)(end - i));
    for (; i < end; i++) put(out, table->items[i]);
  }
}

static void put_op_name(tsr_text *out, const tsr_stored_entry *item) {
  tsr_text_add_bytes(out, item->head, item->head_length);
}

static bool uses_sdy(const tsr_entry_table *table) {
  for (int64_t i = 0; i < table->count; i++)
    if (table->items[i]->dialect == TSR_DIALECT_SDY) return true;
  return false;
}

// Readers load every dialect that is listed, so Shardy is left out where nothing is its.
static tsr_status put_dialects(tsr_emitter *emitter, tsr_text *out) {
  static const char *const names[] = {"builtin", "vhlo", "sdy"};
  const int count = TSR_DIALECT_SDY + (uses_sdy(&emitter->attrs) || uses_sdy(&emitter->op_names));
  tsr_put_varint(out, (uint64_t)count);
  for (int i = 0; i < count; i++) {
    int64_t string = 0;
    TSR_TRY(tsr_emit_string(emitter, names[i], strlen(names[i]), &string));
    tsr_put_flagged(out, (uint64_t)string, false);
  }
  tsr_put_varint(out, (uint64_t)emitter->op_names.count);
  put_groups(out, &emitter->op_names, put_op_name);
  return NULL;
}

static void put_size(tsr_text *out, const tsr_stored_entry *item) {
  tsr_put_flagged(out, item->head_length + item->blob_length, !item->is_text);
}

static void put_sizes(const tsr_emitter *emitter, tsr_text *out) {
  tsr_put_varint(out, (uint64_t)emitter->attrs.count);
  tsr_put_varint(out, (uint64_t)emitter->types.count);
  put_groups(out, &emitter->attrs, put_size);
  put_groups(out, &emitter->types, put_size);
}

static size_t bytes_of(const tsr_entry_table *table) {
  size_t bytes = 0;
  for (int64_t i = 0; i < table->count; i++)
    bytes += table->items[i]->head_length + table->items[i]->blob_length;
  return bytes;
}

static void put_contents(const tsr_entry_table *table, tsr_text *out) {
  for (int64_t i = 0; i < table->count; i++) {
    const tsr_stored_entry *item = table->items[i];
    tsr_text_add_bytes(out, item->head, item->head_length);
    if (item->blob_length) tsr_text_add_bytes(out, item->blob, item->blob_length);
  }
}

static void put_attrs(const tsr_emitter *emitter, tsr_text *out) {
  tsr_text_add_char(out, SECTION_ATTRS);
  tsr_put_varint(out, bytes_of(&emitter->attrs) + bytes_of(&emitter->types));
  put_contents(&emitter->attrs, out);
  put_contents(&emitter->types, out);
}

static void put_properties(const tsr_emitter *emitter, tsr_text *out) {
  tsr_put_varint(out, (uint64_t)emitter->properties.count);
  for (int64_t i = 0; i < emitter->properties.count; i++) {
    const tsr_stored_entry *item = emitter->properties.items[i];
    tsr_put_varint(out, item->head_length);
    tsr_text_add_bytes(out, item->head, item->head_length);
  }
}

// Sizes stand in reverse order and count a '\0' at the end of each string.
static void put_strings(const tsr_emitter *emitter, tsr_text *out) {
  tsr_put_varint(out, (uint64_t)emitter->strings.count);
  for (int64_t i = emitter->strings.count; i-- > 0;)
    tsr_put_varint(out, emitter->strings.items[i]->head_length + 1);
  for (int64_t i = 0; i < emitter->strings.count; i++)
    tsr_text_add_bytes(out, emitter->strings.items[i]->head,
                       emitter->strings.items[i]->head_length + 1);
}

// ---- resources ----

static const tsr_attr *find_resource(const tsr_emitter *emitter, const tsr_stored_entry *key) {
  for (int64_t low = 0, high = emitter->ir->resource_count; low < high;) {
    const int64_t middle = (low + high) / 2;
    const int order = strcmp(emitter->ir->resources[middle].name, key->head);
    if (!order) return emitter->ir->resources[middle].attr;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

static void pad(tsr_text *out, size_t start) {
  while ((out->length - start) % RESOURCE_ALIGNMENT) tsr_text_add_char(out, (char)PADDING);
}

// Equal bytes are kept once.
static void put_blob(const tsr_attr *blob, tsr_text *bytes) {
  const int64_t length = blob->splat ? tsr_type_element_count(blob->type) : (int64_t)blob->length;
  tsr_put_varint(bytes, RESOURCE_ALIGNMENT);
  tsr_put_varint(bytes, (uint64_t)length);
  pad(bytes, 0);
  for (int64_t i = 0; blob->splat && i < length; i++) tsr_text_add_char(bytes, *blob->bytes);
  if (!blob->splat) tsr_text_add_bytes(bytes, blob->bytes, blob->length);
}

// Two sections: keys with sizes, and the bytes. Keys without bytes are only declared.
static tsr_status put_resources(tsr_emitter *emitter, tsr_text *sizes, tsr_text *bytes) {
  const tsr_entry_table *keys = &emitter->resources;
  tsr_put_varint(sizes, 0);  // no resources from outside the dialects
  tsr_put_varint(sizes, TSR_DIALECT_BUILTIN);
  tsr_put_varint(sizes, (uint64_t)keys->count);
  for (int64_t i = 0; i < keys->count; i++) {
    const tsr_attr *blob = find_resource(emitter, keys->items[i]);
    const size_t before = bytes->length;
    int64_t string = 0;
    TSR_TRY(tsr_emit_string(emitter, keys->items[i]->head, keys->items[i]->head_length, &string));
    if (blob) put_blob(blob, bytes);
    tsr_put_varint(sizes, (uint64_t)string);
    tsr_put_varint(sizes, bytes->length - before);
    tsr_text_add_char(sizes, RESOURCE_BLOB);
  }
  return NULL;
}

static tsr_status put_resource_sections(tsr_emitter *emitter, size_t start, tsr_text *out) {
  if (!emitter->resources.count) return NULL;
  tsr_text sizes = TSR_TEXT_EMPTY, bytes = TSR_TEXT_EMPTY;
  tsr_status status = put_resources(emitter, &sizes, &bytes);
  if (!status) status = tsr_text_check(&sizes);
  if (!status) status = tsr_text_check(&bytes);
  if (!status) {
    put_section(out, SECTION_RESOURCE_SIZES, &sizes);
    tsr_text_add_char(out, (char)(SECTION_RESOURCES | ALIGNED));
    tsr_put_varint(out, bytes.length);
    tsr_put_varint(out, RESOURCE_ALIGNMENT);
    pad(out, start);
    tsr_text_add_bytes(out, tsr_text_string(&bytes), bytes.length);
  }
  tsr_text_deinit(&sizes);
  tsr_text_deinit(&bytes);
  return status;
}

// ---- the file ----

// Adds a section that was made in `section`, which is empty afterwards.
static tsr_status end_section(tsr_text *section, int id, tsr_text *out) {
  TSR_TRY(tsr_text_check(section));
  put_section(out, id, section);
  tsr_text_clear(section);
  return NULL;
}

static tsr_status put_sections(tsr_emitter *emitter, const tsr_text *ir, size_t start,
                               tsr_text *section, tsr_text *out) {
  TSR_TRY(put_dialects(emitter, section));
  TSR_TRY(end_section(section, SECTION_DIALECTS, out));
  put_sizes(emitter, section);
  TSR_TRY(end_section(section, SECTION_SIZES, out));
  put_attrs(emitter, out);
  put_section(out, SECTION_IR, ir);
  TSR_TRY(put_resource_sections(emitter, start, out));
  put_strings(emitter, section);
  TSR_TRY(end_section(section, SECTION_STRINGS, out));
  put_properties(emitter, section);
  return end_section(section, SECTION_PROPERTIES, out);
}

static tsr_status write_all(tsr_emitter *emitter, int patch, tsr_text *ir, tsr_text *out) {
  const size_t start = out->length;
  TSR_TRY(tsr_emit_module(emitter, ir));
  TSR_TRY(tsr_text_check(ir));
  tsr_text_add_bytes(out, "ML\xefR", 4);
  tsr_put_varint(out, (uint64_t)tsr_vhlo_bytecode_version(emitter->version));
  tsr_text_addf(out, "StableHLO_v%d.%d.%d", TSR_VERSION_ARGUMENTS(emitter->version), patch);
  tsr_text_add_char(out, '\0');
  tsr_text section = TSR_TEXT_EMPTY;
  tsr_status status = put_sections(emitter, ir, start, &section, out);
  tsr_text_deinit(&section);
  return status ? status : tsr_text_check(out);
}

static tsr_status write_program(const tsr_ir *ir, int version, int patch, tsr_text *out) {
  tsr_emitter emitter = {.ir = ir, .version = version, .arena = TSR_ARENA_EMPTY};
  tsr_text content = TSR_TEXT_EMPTY;
  tsr_status status = write_all(&emitter, patch, &content, out);
  tsr_text_deinit(&content);
  tsr_emit_deinit(&emitter);
  return status;
}

// Lowers the CHLO ops of a copy, which shares the constants of the program.
static tsr_status lower_copy(const tsr_ir *ir, tsr_ir *copy) {
  tsr_value_map *map = tsr_value_map_create();
  TSR_NEED(map);
  tsr_op *module = tsr_op_clone(copy, ir->module, map);
  tsr_value_map_destroy(map);
  TSR_NEED(module);
  copy->module = module;
  return tsr_chlo_lower(copy);
}

static tsr_status write_lowered(const tsr_ir *ir, int version, int patch, tsr_text *out) {
  tsr_ir *copy = tsr_ir_create();
  TSR_NEED(copy);
  tsr_status status = lower_copy(ir, copy);
  copy->resources = ir->resources;
  copy->resource_count = ir->resource_count;
  if (!status) status = write_program(copy, version, patch, out);
  copy->resources = NULL;
  copy->resource_count = 0;
  tsr_ir_destroy(copy);
  return status;
}

tsr_status tsr_bytecode_write(const tsr_ir *ir, const char *version, tsr_text *out) {
  int number = 0, patch = 0;
  TSR_TRY(parse_version(version, &number, &patch));
  return tsr_chlo_is_used(ir) ? write_lowered(ir, number, patch, out)
                              : write_program(ir, number, patch, out);
}
