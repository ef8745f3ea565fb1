// Machines recorded as JSON. All members are written, so that reading back gives the same machine
// even if kinds.def changes. Only platform, kind and devices are required.
#include <string.h>

#include "base/suggest.h"
#include "json/json_fields.h"
#include "json/json_read.h"
#include "topology/kinds.h"
#include "topology/topology.h"
#include "topology/topology_internal.h"

// ---- reading ----

static tsr_status fail_member(const tsr_json *member, const char *const *names, int count) {
  size_t length = 0;
  const char *key = tsr_json_key(member, &length);
  char word[64];
  if (length > sizeof word - 1) length = sizeof word - 1;
  memcpy(word, key, length);
  word[length] = '\0';
  tsr_suggestion near = tsr_suggestion_for(word);
  for (int i = 0; i < count; i++) tsr_suggestion_offer(&near, names[i]);
  return tsr_fail(SYNTAX, "member \"%s\" is unknown" TSR_DID_YOU_MEAN, word, TSR_SUGGESTED(near));
}

static tsr_status check_members(const tsr_json *value) {
  static const char *const names[] = {"platform",          "kind",  "devices",
                                      "memory_per_device", "links", "wrap"};
  enum { COUNT = sizeof names / sizeof *names };
  if (!value || tsr_json_kind_of(value) != TSR_JSON_OBJECT)
    return tsr_fail(JSON_KIND, "wanted an object with platform, kind and devices, found %s",
                    value ? tsr_json_kind_name(tsr_json_kind_of(value)) : "nothing");
  for (const tsr_json *at = tsr_json_first(value); at; at = tsr_json_next(at)) {
    int i = 0;
    while (i < COUNT && !tsr_json_key_is(at, names[i])) i++;
    if (i == COUNT) return fail_member(at, names, COUNT);
  }
  return NULL;
}

static tsr_status read_number(const tsr_json *value, const char *what, int64_t *out) {
  int64_t number = 0;
  TSR_TRY(tsr_json_get_int(value, what, &number));
  if (number < INT32_MIN || number > INT32_MAX)
    return tsr_fail(TOO_LARGE, "%s is %lld, beyond 32 bits", what, (long long)number);
  *out = number;
  return NULL;
}

static bool is_null(const tsr_json *value) { return tsr_json_kind_of(value) == TSR_JSON_NULL; }

// Slices and cores may be null; negative numbers are errors.
static tsr_status read_optional(const tsr_json *value, const char *what, int64_t absent,
                                int64_t *out) {
  *out = absent;
  if (is_null(value)) return NULL;
  TSR_TRY(read_number(value, what, out));
  return *out >= 0 ? NULL
                   : tsr_fail(BROKEN_TOPOLOGY, "%s is %lld, wanted 0 or more, or null", what,
                              (long long)(*out));
}

// [id, process, slice, x, y, z, core]
static tsr_status read_device(const tsr_json *row, tsr_device *out) {
  if (tsr_json_kind_of(row) != TSR_JSON_ARRAY || tsr_json_count(row) != 7)
    return tsr_fail(SYNTAX, "wanted [id, process, slice, x, y, z, core]");
  const tsr_json *cells[7] = {tsr_json_first(row)};
  for (int i = 1; i < 7; i++) cells[i] = tsr_json_next(cells[i - 1]);
  *out = (tsr_device){0};
  TSR_TRY(read_number(cells[0], "id", &out->id));
  TSR_TRY(read_number(cells[1], "process", &out->process));
  TSR_TRY(read_optional(cells[2], "slice", TSR_NO_SLICE, &out->slice));
  TSR_TRY(read_optional(cells[6], "core", TSR_NO_CORE, &out->core));
  out->has_coords = !is_null(cells[3]);
  for (int i = 0; i < 3; i++) {
    const char name[] = {"xyz"[i], '\0'};
    if (is_null(cells[3 + i]) == out->has_coords)
      return tsr_fail(BROKEN_TOPOLOGY, "x, y and z must all be numbers or all be null");
    if (out->has_coords) TSR_TRY(read_number(cells[3 + i], name, &out->coords[i]));
  }
  return NULL;
}

static tsr_status read_devices(const tsr_json *value, tsr_arena *arena, tsr_topology_desc *desc) {
  if (!value || tsr_json_kind_of(value) != TSR_JSON_ARRAY)
    return tsr_fail(JSON_KIND, "devices: wanted a list, found %s",
                    value ? tsr_json_kind_name(tsr_json_kind_of(value)) : "nothing");
  const size_t count = tsr_json_count(value);
  if (count < 1 || count > INT32_MAX)
    return tsr_fail(BAD_ARGUMENT, "devices: a list of %zu, wanted 1 or more", count);
  tsr_device *devices = tsr_arena_zeros(arena, count, sizeof *devices);
  if (!devices) return tsr_fail(NO_MEMORY, "%zu devices", count);
  desc->devices = devices;
  for (const tsr_json *row = tsr_json_first(value); row; row = tsr_json_next(row))
    TSR_TRY_NOTE(read_device(row, &devices[desc->device_count++]), "devices: row %lld",
                 (long long)desc->device_count - 1);
  return NULL;
}

static tsr_status read_cost(const tsr_json *value, const char *what, double *out) {
  TSR_TRY(tsr_json_get_double(value, what, out));
  return *out >= 0 ? NULL : tsr_fail(BAD_ARGUMENT, "%s is %g, wanted 0 or more", what, *out);
}

// {"ici": {"alpha": 1e-6, "beta": 2e-11}, ...}: missing levels keep the kind's values.
static tsr_status read_links(const tsr_json *value, tsr_link *links) {
  const char *names[TSR_LEVEL_COUNT];
  for (int i = 0; i < TSR_LEVEL_COUNT; i++) names[i] = tsr_level_name((tsr_level)i);
  if (tsr_json_kind_of(value) != TSR_JSON_OBJECT)
    return tsr_fail(JSON_KIND, "wanted an object with a member per level, found %s",
                    tsr_json_kind_name(tsr_json_kind_of(value)));
  for (const tsr_json *at = tsr_json_first(value); at; at = tsr_json_next(at)) {
    int level = 0;
    while (level < TSR_LEVEL_COUNT && !tsr_json_key_is(at, names[level])) level++;
    if (level == TSR_LEVEL_COUNT) return fail_member(at, names, TSR_LEVEL_COUNT);
    TSR_TRY_NOTE(read_cost(tsr_json_find(at, "alpha"), "alpha", &links[level].alpha), "%s",
                 names[level]);
    TSR_TRY_NOTE(read_cost(tsr_json_find(at, "beta"), "beta", &links[level].beta), "%s",
                 names[level]);
  }
  return NULL;
}

static tsr_status read_wrap(const tsr_json *value, bool *wrap) {
  if (tsr_json_kind_of(value) != TSR_JSON_ARRAY || tsr_json_count(value) != 3)
    return tsr_fail(SYNTAX, "wrap: wanted three of true and false");
  for (size_t i = 0; i < 3; i++)
    TSR_TRY(tsr_json_get_bool(tsr_json_at(value, i), "wrap", &wrap[i]));
  return NULL;
}

static tsr_status read_memory(const tsr_json *value, int64_t *out) {
  TSR_TRY(tsr_json_get_int(value, "memory_per_device", out));
  return *out >= 0 ? NULL
                   : tsr_fail(BAD_ARGUMENT, "memory_per_device is %lld, wanted 0 or more",
                              (long long)*out);
}

static tsr_status read_platform(const tsr_json *value, tsr_arena *arena, tsr_platform *out) {
  const char *name = NULL;
  TSR_TRY(tsr_json_copy_string(value, "platform", arena, &name));
  return tsr_platform_parse(name, out);
}

static tsr_status read_record(const tsr_json *value, tsr_arena *arena,
                              tsr_topology **out_topology) {
  tsr_topology_desc desc = {.size = sizeof desc};
  tsr_link links_read[TSR_LEVEL_COUNT];
  bool wrap_read[3];
  TSR_TRY(check_members(value));
  const tsr_json *memory = tsr_json_find(value, "memory_per_device");
  const tsr_json *links = tsr_json_find(value, "links"), *wrap = tsr_json_find(value, "wrap");
  TSR_TRY(read_platform(tsr_json_find(value, "platform"), arena, &desc.platform));
  TSR_TRY(tsr_json_copy_string(tsr_json_find(value, "kind"), "kind", arena, &desc.kind));
  TSR_TRY(read_devices(tsr_json_find(value, "devices"), arena, &desc));
  if (memory) TSR_TRY(read_memory(memory, &desc.memory_per_device));
  if (links) {
    memcpy(links_read, tsr_kind_of(desc.platform, desc.kind)->links, sizeof links_read);
    TSR_TRY_NOTE(read_links(links, links_read), "links");
    desc.links = links_read;
  }
  if (wrap) {
    TSR_TRY(read_wrap(wrap, wrap_read));
    desc.wrap = wrap_read;
  }
  return tsr_topology_create(&desc, out_topology);
}

tsr_status tsr_topology_from_json(const tsr_json *value, tsr_topology **out_topology) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_status status = read_record(value, &arena, out_topology);
  tsr_arena_deinit(&arena);
  return tsr_note(status, "topology");
}

// ---- writing ----

static void write_optional(tsr_json_writer *writer, bool present, int64_t number) {
  if (present)
    tsr_json_write_int(writer, number);
  else
    tsr_json_write_null(writer);
}

static void write_device(tsr_json_writer *writer, const tsr_device *device) {
  tsr_json_begin_inline_array(writer);
  tsr_json_write_int(writer, device->id);
  tsr_json_write_int(writer, device->process);
  write_optional(writer, device->slice != TSR_NO_SLICE, device->slice);
  for (int i = 0; i < 3; i++) write_optional(writer, device->has_coords, device->coords[i]);
  write_optional(writer, device->core != TSR_NO_CORE, device->core);
  tsr_json_end_array(writer);
}

static void write_links(tsr_json_writer *writer, const tsr_link *links) {
  static const tsr_json_field fields[] = TSR_JSON_FIELDS(tsr_link, alpha, beta);
  tsr_json_begin_object(writer);
  for (int i = 0; i < TSR_LEVEL_COUNT; i++) {
    tsr_json_add_object(writer, tsr_level_name((tsr_level)i));
    tsr_json_add_fields(writer, fields, &links[i]);
    tsr_json_end_object(writer);
  }
  tsr_json_end_object(writer);
}

void tsr_topology_to_json(const tsr_topology *topology, tsr_json_writer *writer) {
  tsr_json_begin_object(writer);
  tsr_json_add_string(writer, "platform", tsr_platform_name(topology->platform));
  tsr_json_add_string(writer, "kind", topology->kind);
  tsr_json_add_int(writer, "memory_per_device", topology->memory_per_device);
  tsr_json_write_key(writer, "links");
  write_links(writer, topology->links);
  tsr_json_add_inline_array(writer, "wrap");
  for (int i = 0; i < 3; i++) tsr_json_write_bool(writer, topology->wrap[i]);
  tsr_json_end_array(writer);
  tsr_json_add_array(writer, "devices");
  for (int64_t i = 0; i < topology->device_count; i++) write_device(writer, &topology->devices[i]);
  tsr_json_end_array(writer);
  tsr_json_end_object(writer);
}
