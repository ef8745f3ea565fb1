// Entries and lists of entries: checked, compared, copied, and converted to and from specs. A list
// is one block, so that one free undoes it.

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "rules/logical_internal.h"
#include "spec/forms.h"
#include "spec/spec.h"
#include "spec/spec_builder.h"

static_assert((int)TSR_ENTRIES_MAX == (int)TSR_SPEC_MAX_NAMES, "a list of names becomes a spec");

// ---- checking and comparing ----

static tsr_status check_entry(const tsr_logical_entry *entry) {
  const bool named = entry->kind == TSR_ENTRY_NAME || entry->kind == TSR_ENTRY_GROUP;
  if ((unsigned)entry->kind > TSR_ENTRY_UNCONSTRAINED)
    return tsr_fail(BAD_ARGUMENT, "an entry of kind %d, wanted one of tsr_entry_kind",
                    (int)entry->kind);
  if (!named) return NULL;
  if (entry->count < 0 || (entry->kind == TSR_ENTRY_NAME && entry->count != 1))
    return tsr_fail(BAD_ARGUMENT, "an entry of %d names", entry->count);
  if (entry->count > TSR_ENTRIES_MAX)
    return tsr_fail(TOO_LARGE, "a group of %d names, wanted at most %d", entry->count,
                    TSR_ENTRIES_MAX);
  for (int i = 0; i < entry->count; i++)
    if (!entry->names || !entry->names[i])
      return tsr_fail(BAD_ARGUMENT, "an entry whose name %d is NULL", i);
  return NULL;
}

tsr_status tsr_entries_check(const tsr_logical_entry *items, int count) {
  if (count < 0 || (count && !items)) return tsr_fail(BAD_ARGUMENT, "a list of %d entries", count);
  if (count > TSR_ENTRIES_MAX)
    return tsr_fail(TOO_LARGE, "a list of %d entries, wanted at most %d", count, TSR_ENTRIES_MAX);
  for (int i = 0; i < count; i++) TSR_TRY_NOTE(check_entry(&items[i]), "entry %d", i);
  return NULL;
}

// The number of names; `count` of other kinds is undefined.
static int name_count(const tsr_logical_entry *entry) {
  const bool named = entry->kind == TSR_ENTRY_NAME || entry->kind == TSR_ENTRY_GROUP;
  return named ? entry->count : 0;
}

bool tsr_entry_equal(const tsr_logical_entry *a, const tsr_logical_entry *b) {
  if (a->kind != b->kind || name_count(a) != name_count(b)) return false;
  for (int i = 0; i < name_count(a); i++)
    if (strcmp(a->names[i], b->names[i]) != 0) return false;
  return true;
}

// ---- copying ----

tsr_status tsr_name_copy(tsr_arena *arena, const char *bytes, size_t length,
                         const char **out_name) {
  if (length && memchr(bytes, '\0', length)) return tsr_fail(SYNTAX, "a name with a zero byte");
  const char *copy = tsr_arena_copy(arena, bytes, length);
  if (!copy) return tsr_fail(NO_MEMORY, "a name of %zu bytes", length);
  *out_name = copy;
  return NULL;
}

tsr_status tsr_entry_copy(tsr_arena *arena, const tsr_logical_entry *entry,
                          tsr_logical_entry *out_entry) {
  const int count = name_count(entry);
  const char **names = tsr_arena_zeros(arena, (size_t)count + 1, sizeof *names);
  if (!names) return tsr_fail(NO_MEMORY, "a group of %d axes", count);
  for (int i = 0; i < count; i++)
    TSR_TRY(tsr_name_copy(arena, entry->names[i], strlen(entry->names[i]), &names[i]));
  *out_entry = (tsr_logical_entry){entry->kind, count, names};
  return NULL;
}

// The list becomes one block: the entries, the pointers to their names, the names' bytes.
tsr_status tsr_logical_names_init(tsr_logical_names *names, const tsr_logical_entry *items,
                                  int count) {
  TSR_TRY(tsr_entries_check(items, count));
  size_t pointers = 0, bytes = 0;
  for (int i = 0; i < count; i++)
    for (int j = 0; j < name_count(&items[i]); j++, pointers++)
      bytes += strlen(items[i].names[j]) + 1;
  tsr_logical_entry *copies =
      malloc((size_t)count * sizeof *copies + pointers * sizeof(char *) + bytes + 1);
  if (!copies) return tsr_fail(NO_MEMORY, "a list of %d entries", count);
  const char **next = (const char **)(copies + count);
  char *text = (char *)(next + pointers);
  for (int i = 0; i < count; i++) {
    copies[i] = (tsr_logical_entry){items[i].kind, name_count(&items[i]), next};
    for (int j = 0; j < copies[i].count; j++) {
      const size_t length = strlen(items[i].names[j]) + 1;
      *next++ = memcpy(text, items[i].names[j], length);
      text += length;
    }
  }
  *names = (tsr_logical_names){count, copies, copies};
  return NULL;
}

void tsr_logical_names_deinit(tsr_logical_names *names) {
  if (!names) return;
  free(names->memory);
  *names = (tsr_logical_names){0, NULL, NULL};
}

// ---- to and from specs ----

static tsr_status add_dim(tsr_spec_builder *builder, const tsr_logical_entry *entry) {
  TSR_TRY(tsr_spec_builder_dim(builder));
  tsr_spec_builder_last_dim(builder)->open = entry->kind == TSR_ENTRY_UNCONSTRAINED;
  if (!name_count(entry)) return NULL;
  TSR_TRY(tsr_spec_builder_stage(builder));
  for (int i = 0; i < entry->count; i++)
    TSR_TRY(tsr_spec_builder_axis(builder, &(tsr_axis_ref){entry->names[i], 1, 0}));
  return NULL;
}

tsr_status tsr_logical_names_to_spec(const tsr_logical_names *names, tsr_spec **out_spec) {
  tsr_spec_builder builder = TSR_SPEC_BUILDER_EMPTY;
  tsr_status status = tsr_entries_check(names->items, names->count);
  for (int i = 0; i < names->count && !status; i++) status = add_dim(&builder, &names->items[i]);
  if (!status) status = tsr_spec_builder_finish(&builder, out_spec);
  tsr_spec_builder_deinit(&builder);
  return status;
}

// The feature of the spec that entries cannot express; NULL = none.
static const char *not_a_list(const tsr_spec_desc *desc) {
  if (desc->unreduced_count || desc->reduced_count || desc->replicated_count || desc->mesh_name)
    return "sets and mesh names";
  for (int d = 0; d < desc->dim_count; d++) {
    const tsr_spec_dim *dim = &desc->dims[d];
    if (dim->has_priority) return "priorities";
    if (dim->open && dim->stage_count) return "dimensions that are cut and open";
  }
  return tsr_spec_not_plain(desc, false);
}

static size_t count_axes(const tsr_spec_desc *desc) {
  size_t count = 0;
  for (int d = 0; d < desc->dim_count; d++)
    for (int i = 0; i < desc->dims[d].stage_count; i++)
      count += (size_t)desc->dims[d].stages[i].axis_count;
  return count;
}

// The entry of a plain dimension; its names are stored at `*names`.
static tsr_logical_entry entry_of(const tsr_spec_dim *dim, const char ***names) {
  const char **first = *names;
  if (!dim->stage_count) return dim->open ? TSR_LOGICAL_UNCONSTRAINED : TSR_LOGICAL_NONE;
  const tsr_stage *stage = &dim->stages[0];
  for (int i = 0; i < stage->axis_count; i++) *(*names)++ = stage->axes[i].name;
  return (tsr_logical_entry){stage->axis_count == 1 ? TSR_ENTRY_NAME : TSR_ENTRY_GROUP,
                             stage->axis_count, first};
}

tsr_status tsr_logical_names_from_spec(const tsr_spec *spec, tsr_logical_names *out_names) {
  const tsr_spec_desc *desc = tsr_spec_desc_of(spec);
  const char *reason = not_a_list(desc);
  tsr_arena arena = TSR_ARENA_EMPTY;
  if (reason) return tsr_fail(NOT_EXPRESSIBLE, "logical names cannot express %s", reason);
  tsr_logical_entry *items = tsr_arena_zeros(&arena, (size_t)desc->dim_count + 1, sizeof *items);
  const char **names = tsr_arena_zeros(&arena, count_axes(desc) + 1, sizeof *names);
  for (int d = 0; items && names && d < desc->dim_count; d++)
    items[d] = entry_of(&desc->dims[d], &names);
  tsr_status status = items && names ? tsr_logical_names_init(out_names, items, desc->dim_count)
                                     : tsr_fail(NO_MEMORY, "%d names", desc->dim_count);
  tsr_arena_deinit(&arena);
  return status;
}
