// Semantic axes as a value: one entry per field, given or following others.
//
// A field may follow only fields before it in axes.def, so one pass settles all. Given fields are
// marked: replacing a field also changes the fields that follow it, where eformer keeps their old
// values.
#include "rules/axes_internal.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text_internal.h"
#include "rules/logical_internal.h"
#include "tessera/engine/kernels.h"

#define TSR_FIELD_ROW(id, name, token, decode, axis, first, second) \
  [TSR_FIELD_##                                                     \
      id] = {name, token, TSR_FIELD_##decode, axis, {TSR_FIELD_##first, TSR_FIELD_##second}},
const tsr_field_info tsr_field_table[TSR_FIELD_COUNT] = {
#include "tessera/axes.def"
};
#undef TSR_FIELD_ROW

struct tsr_axes {
  atomic_int refs;
  uint32_t given;  // a bit per field
  uint64_t hash;
  tsr_logical_names fields;
};

static_assert(TSR_FIELD_COUNT <= 32, "a bit per field");

// ---- fields ----

static bool is_field(tsr_axis_field field) { return field >= 0 && field < TSR_FIELD_COUNT; }

const char *tsr_field_name(tsr_axis_field field) {
  return is_field(field) ? tsr_field_table[field].name : NULL;
}

const char *tsr_field_token(tsr_axis_field field) {
  return is_field(field) ? tsr_field_table[field].token : NULL;
}

tsr_axis_field tsr_field_find(const char *name) {
  for (int i = 0; i < TSR_FIELD_COUNT; i++)
    if (!strcmp(tsr_field_table[i].name, name)) return (tsr_axis_field)i;
  return TSR_FIELD_NONE;
}

tsr_axis_field tsr_field_find_token(const char *token) {
  for (int i = 0; i < TSR_FIELD_COUNT; i++)
    if (tsr_field_table[i].token && !strcmp(tsr_field_table[i].token, token))
      return (tsr_axis_field)i;
  return TSR_FIELD_NONE;
}

// ---- values under construction ----

typedef struct axes_draft {
  tsr_logical_entry entries[TSR_FIELD_COUNT];
  uint32_t given;
  tsr_arena memory;
} axes_draft;

static bool is_given(uint32_t given, int field) { return given >> field & 1; }

static tsr_status set_field(axes_draft *to, const tsr_field_value *value) {
  const int field = value->field;
  if (!is_field(field))
    return tsr_fail(UNKNOWN_FIELD, "field %d, wanted one of the %d of tsr_axis_field", field,
                    TSR_FIELD_COUNT);
  to->given &= ~(UINT32_C(1) << field);
  if (value->not_given) return NULL;
  if (value->entry.kind == TSR_ENTRY_UNCONSTRAINED)
    return tsr_fail(BAD_ARGUMENT, "%s is unconstrained, wanted mesh axes or nothing",
                    tsr_field_name(value->field));
  TSR_TRY_NOTE(tsr_entries_check(&value->entry, 1), "%s", tsr_field_name(value->field));
  to->entries[field] = value->entry.kind == TSR_ENTRY_NONE ? TSR_LOGICAL_NONE : value->entry;
  to->given |= UINT32_C(1) << field;
  return NULL;
}

static tsr_status set_fields(axes_draft *to, const tsr_field_value *values, int64_t count) {
  if (count < 0 || (count && !values))
    return tsr_fail(BAD_ARGUMENT, "%lld fields", (long long)count);
  for (int64_t i = 0; i < count; i++) TSR_TRY(set_field(to, &values[i]));
  return NULL;
}

// A group of the values of two fields; nothing stays in it as None, as in eformer.
static tsr_status join(axes_draft *to, const tsr_logical_entry *a, const tsr_logical_entry *b,
                       tsr_logical_entry *out_entry) {
  const tsr_logical_entry *both[] = {a, b};
  const size_t room = (size_t)a->count + (size_t)b->count + 2;
  const char **names = tsr_arena_zeros(&to->memory, room, sizeof *names);
  int count = 0;
  if (!names) return tsr_fail(NO_MEMORY, "a group of %zu axes", room);
  for (int i = 0; i < 2; i++) {
    if (both[i]->kind == TSR_ENTRY_NONE) names[count++] = "";
    for (int j = 0; j < both[i]->count; j++) names[count++] = both[i]->names[j];
  }
  *out_entry = (tsr_logical_entry){TSR_ENTRY_GROUP, count, names};
  return NULL;
}

static tsr_status settle_field(axes_draft *to, int field) {
  const tsr_field_info *info = &tsr_field_table[field];
  tsr_logical_entry *entry = &to->entries[field];
  *entry = TSR_LOGICAL_NONE;
  if (info->axis) {
    *entry = (tsr_logical_entry){TSR_ENTRY_NAME, 1, &info->axis};
  } else if (info->follows[1] != TSR_FIELD_NONE) {
    return join(to, &to->entries[info->follows[0]], &to->entries[info->follows[1]], entry);
  } else if (info->follows[0] != TSR_FIELD_NONE) {
    *entry = to->entries[info->follows[0]];
  }
  return NULL;
}

// Hashes bytes in a fixed order, so that every machine gets the same hash.
static uint64_t hash_entry(const tsr_logical_entry *entry, uint64_t hash) {
  const unsigned char head[] = {(unsigned char)entry->kind, (unsigned char)(entry->count & 255),
                                (unsigned char)(entry->count >> 8)};
  hash = tsr_hash64(head, sizeof head, hash);
  for (int i = 0; i < entry->count; i++)
    hash = tsr_hash64(entry->names[i], strlen(entry->names[i]), hash);
  return hash;
}

static_assert(TSR_ENTRIES_MAX < 1 << 16, "a count is hashed as two bytes");

static tsr_status finish(axes_draft *from, tsr_axes **out_axes) {
  for (int i = 0; i < TSR_FIELD_COUNT; i++)
    if (!is_given(from->given, i)) TSR_TRY(settle_field(from, i));
  tsr_axes *axes = malloc(sizeof *axes);
  if (!axes) return tsr_fail(NO_MEMORY, "semantic axes");
  atomic_init(&axes->refs, 1);
  axes->given = from->given;
  tsr_status status = tsr_logical_names_init(&axes->fields, from->entries, TSR_FIELD_COUNT);
  if (status) {
    free(axes);
    return status;
  }
  axes->hash = 0;
  for (int i = 0; i < TSR_FIELD_COUNT; i++)
    axes->hash = hash_entry(&axes->fields.items[i], axes->hash);
  *out_axes = axes;
  return NULL;
}

// ---- from JSON ----

static tsr_status fail_unknown(const char *name) {
  tsr_suggestion near = tsr_suggestion_for(name);
  for (int i = 0; i < TSR_FIELD_COUNT; i++) tsr_suggestion_offer(&near, tsr_field_table[i].name);
  return tsr_fail(UNKNOWN_FIELD, "semantic axes have no field \"%s\"" TSR_DID_YOU_MEAN, name,
                  TSR_SUGGESTED(near));
}

static tsr_status set_member(axes_draft *to, const tsr_json *member) {
  size_t length = 0;
  const char *key = tsr_json_key(member, &length), *name = NULL;
  tsr_field_value value = {.not_given = false};
  TSR_TRY(tsr_name_copy(&to->memory, key, length, &name));
  value.field = tsr_field_find(name);
  if (value.field == TSR_FIELD_NONE) return fail_unknown(name);
  TSR_TRY_NOTE(tsr_entry_from_json(&to->memory, member, &value.entry), "%s", name);
  return set_field(to, &value);
}

static tsr_status set_members(axes_draft *to, const tsr_json *value) {
  if (!value || tsr_json_kind_of(value) == TSR_JSON_NULL) return NULL;
  if (tsr_json_kind_of(value) != TSR_JSON_OBJECT)
    return tsr_fail(JSON_KIND, "semantic axes: wanted an object of fields, found %s",
                    tsr_json_kind_name(tsr_json_kind_of(value)));
  for (const tsr_json *at = tsr_json_first(value); at; at = tsr_json_next(at))
    TSR_TRY(set_member(to, at));
  return NULL;
}

// ---- the value ----

// A draft with the given fields.
static axes_draft draft_of(const tsr_axes *axes) {
  axes_draft made = {.given = axes ? axes->given : 0, .memory = TSR_ARENA_EMPTY};
  for (int i = 0; axes && i < TSR_FIELD_COUNT; i++) made.entries[i] = axes->fields.items[i];
  return made;
}

static tsr_status close_draft(axes_draft *from, tsr_status status, tsr_axes **out_axes) {
  if (!status) status = finish(from, out_axes);
  tsr_arena_deinit(&from->memory);
  return status;
}

tsr_status tsr_axes_replace(const tsr_axes *axes, const tsr_field_value *values, int64_t count,
                            tsr_axes **out_axes) {
  axes_draft made = draft_of(axes);
  return close_draft(&made, set_fields(&made, values, count), out_axes);
}

tsr_status tsr_axes_replace_json(const tsr_axes *axes, const tsr_json *value, tsr_axes **out_axes) {
  axes_draft made = draft_of(axes);
  return close_draft(&made, set_members(&made, value), out_axes);
}

tsr_status tsr_axes_create(const tsr_field_value *values, int64_t count, tsr_axes **out_axes) {
  return tsr_axes_replace(NULL, values, count, out_axes);
}

tsr_axes *tsr_axes_retain(const tsr_axes *axes) {
  tsr_axes *shared = (tsr_axes *)axes;
  if (shared) atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
  return shared;
}

void tsr_axes_release(const tsr_axes *axes) {
  tsr_axes *shared = (tsr_axes *)axes;
  if (!shared || atomic_fetch_sub_explicit(&shared->refs, 1, memory_order_acq_rel) > 1) return;
  tsr_logical_names_deinit(&shared->fields);
  free(shared);
}

bool tsr_axes_equal(const tsr_axes *a, const tsr_axes *b) {
  if (a->hash != b->hash) return false;
  for (int i = 0; i < TSR_FIELD_COUNT; i++)
    if (!tsr_entry_equal(&a->fields.items[i], &b->fields.items[i])) return false;
  return true;
}

uint64_t tsr_axes_hash(const tsr_axes *axes) { return axes->hash; }

const tsr_logical_entry *tsr_axes_at(const tsr_axes *axes, tsr_axis_field field) {
  return is_field(field) ? &axes->fields.items[field] : NULL;
}

bool tsr_axes_is_given(const tsr_axes *axes, tsr_axis_field field) {
  return is_field(field) && is_given(axes->given, field);
}

// ---- to JSON ----

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
