// Changes of a correction: recorded, printed, raised as failures for strict callers, logged.
#include "spec/changes.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text_internal.h"
#include "mesh/mesh.h"
#include "spec/spec_internal.h"
#include "tessera/engine/sharding.h"

const char *tsr_change_text(tsr_change_kind kind) {
#define X(id, text) [TSR_CHANGE_##id] = text,
  static const char *const texts[TSR_CHANGE_COUNT] = {TSR_CHANGES(X)};
#undef X
  return (unsigned)kind < TSR_CHANGE_COUNT ? texts[kind] : NULL;
}

// The list doubles at each power of two, so that no capacity has to be kept.
tsr_status tsr_changes_add(tsr_changes *changes, const tsr_change *change) {
  const int64_t count = changes->count;
  if ((count & (count - 1)) == 0) {
    if (count > INT_MAX / 2) return tsr_fail(TOO_LARGE, "too many changes");
    const size_t capacity = count ? (size_t)count * 2 : 1;
    tsr_change *items = realloc(changes->items, capacity * sizeof *items);
    if (!items) return tsr_fail(NO_MEMORY, "%zu changes", capacity);
    changes->items = items;
  }
  changes->items[changes->count++] = *change;
  return NULL;
}

void tsr_changes_deinit(tsr_changes *changes) {
  if (!changes) return;
  free(changes->items);
  *changes = (tsr_changes){0};
}

// ---- words ----

static void print_axis(const tsr_change *change, tsr_text *out) {
  if (change->axis[0])
    tsr_text_addf(out, "axis \"%s\"", change->axis);
  else
    tsr_text_add(out, "None inside a group");
}

// What is wrong, without the consequence.
static void print_reason(const tsr_change *change, tsr_text *out) {
  if (change->dim >= 0) tsr_text_addf(out, "dimension %d: ", change->dim);
  switch (change->kind) {
    case TSR_CHANGE_CUT_TO_RANK:
      tsr_text_addf(out, "the spec has %lld entries, the tensor %lld dimensions",
                    (long long)change->product, (long long)change->size);
      return;
    case TSR_CHANGE_AXIS_MISSING:
      print_axis(change, out);
      tsr_text_add(out, " is not in the mesh");
      return;
    case TSR_CHANGE_SUB_AXIS_MISFIT:
      tsr_text_add(out, "a sub-axis of ");
      print_axis(change, out);
      tsr_text_addf(out, " does not divide its size %lld", (long long)change->size);
      return;
    case TSR_CHANGE_INDIVISIBLE:
      tsr_text_addf(out, "size %lld is not divisible by ", (long long)change->size);
      if (change->axis) tsr_text_addf(out, "%s=", change->axis);
      tsr_text_add_int(out, change->product);
      return;
    case TSR_CHANGE_CUT_MISFIT:
      tsr_text_addf(out, "its sizes or parts do not fit size %lld in %lld shards",
                    (long long)change->size, (long long)change->product);
      return;
    case TSR_CHANGE_UNCONSTRAINED:
    case TSR_CHANGE_NOTHING_LEFT:
    case TSR_CHANGE_NO_MESH:
    case TSR_CHANGE_COUNT:
      tsr_text_add(out, tsr_change_text(change->kind));
  }
}

static const char *consequence(const tsr_change *change) {
  switch (change->kind) {
    case TSR_CHANGE_CUT_TO_RANK:
      return ", so the rest is dropped";
    case TSR_CHANGE_AXIS_MISSING:
    case TSR_CHANGE_SUB_AXIS_MISFIT:
    case TSR_CHANGE_INDIVISIBLE:
    case TSR_CHANGE_CUT_MISFIT:
      return change->alone ? ", so the axis is dropped" : ", so it is not cut";
    case TSR_CHANGE_UNCONSTRAINED:
    case TSR_CHANGE_NOTHING_LEFT:
    case TSR_CHANGE_NO_MESH:
    case TSR_CHANGE_COUNT:
      break;
  }
  return "";
}

static void print_change(const tsr_change *change, tsr_text *out) {
  print_reason(change, out);
  tsr_text_add(out, consequence(change));
}

void tsr_changes_print(const tsr_changes *changes, tsr_text *out) {
  for (int64_t i = 0; i < changes->count; i++) {
    print_change(&changes->items[i], out);
    tsr_text_add_char(out, '\n');
  }
}

tsr_status tsr_change_fail(const tsr_change *change, const tsr_mesh *mesh) {
  static const tsr_cause causes[TSR_CHANGE_COUNT] = {
      [TSR_CHANGE_CUT_TO_RANK] = TSR_CAUSE_RANK_TOO_SMALL,
      [TSR_CHANGE_AXIS_MISSING] = TSR_CAUSE_UNKNOWN_MESH_AXIS,
      [TSR_CHANGE_SUB_AXIS_MISFIT] = TSR_CAUSE_BAD_SUB_AXIS,
      [TSR_CHANGE_INDIVISIBLE] = TSR_CAUSE_INDIVISIBLE,
      [TSR_CHANGE_CUT_MISFIT] = TSR_CAUSE_BAD_CUT,
      [TSR_CHANGE_UNCONSTRAINED] = TSR_CAUSE_UNSUPPORTED,
      [TSR_CHANGE_NOTHING_LEFT] = TSR_CAUSE_BAD_ARGUMENT,
      [TSR_CHANGE_NO_MESH] = TSR_CAUSE_NO_MESH_ACTIVE};
  if (change->kind == TSR_CHANGE_AXIS_MISSING && change->axis[0])
    return change->dim < 0
               ? tsr_mesh_no_axis(mesh, change->axis)
               : tsr_note(tsr_mesh_no_axis(mesh, change->axis), "dimension %d", change->dim);
  tsr_text reason = TSR_TEXT_EMPTY;
  print_reason(change, &reason);
  return tsr_fail_text(causes[change->kind], &reason);
}

// ---- log ----

static bool log_is_on(void) {
  static const char *const words[] = {"true", "yes", "1", "on"};
  const char *value = getenv("LOG_SHARDING_MOVE");
  for (size_t i = 0; value && i < sizeof words / sizeof *words; i++)
    if (!strcmp(value, words[i])) return true;
  return false;
}

tsr_status tsr_changes_log(const tsr_changes *changes, tsr_log_fn *log, void *context) {
  if (!changes->count || !log_is_on()) return NULL;
  tsr_text line = TSR_TEXT_EMPTY;
  tsr_status status = NULL;
  for (int64_t i = 0; !status && i < changes->count; i++) {
    tsr_text_clear(&line);
    tsr_text_add(&line, "sharding corrected: ");
    print_change(&changes->items[i], &line);
    status = tsr_text_check(&line);
    if (!status && log)
      log(context, tsr_text_string(&line));
    else if (!status)
      tsr_log_line(tsr_text_string(&line));
  }
  tsr_text_deinit(&line);
  return status;
}
