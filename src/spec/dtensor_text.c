// Reads the texts that PyTorch prints around placements:
//
//   DTensor(local_tensor=tensor([...]), device_mesh=DeviceMesh(...), placements=(...))
//   DTensorSpec(mesh=DeviceMesh(...), placements=(...), tensor_meta=TensorMeta(shape=...), ...)
//   Spec((Shard(dim=0), Replicate()) on (8, 8)), or, in newer versions, Spec(f32[8, 8](S(0)R))
//   placements=(...), and placements alone
//
// Members that do not describe the layout are skipped, whatever they hold: a tensor's elements may
// fill pages.
#include <stdlib.h>
#include <string.h>

#include "element/shape_internal.h"
#include "spec/dtensor.h"
#include "spec/notation_internal.h"
#include "tessera/compat/torch.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/topology.h"

typedef struct dtensor_reader {
  tsr_cursor cursor;
  const tsr_topology *topology;
  bool with_mesh;  // otherwise meshes are skipped
  bool has_placements;
  tsr_dtensor found;
} dtensor_reader;

// ---- values that are passed over ----

// The quote that ends a string; NULL without one.
static const char *string_end(const char *at) {
  const char *end = at + 1;
  while (*end && *end != *at) end += *end == '\\' && end[1] ? 2 : 1;
  return *end ? end : NULL;
}

// Moves to the comma or bracket that ends a value, past brackets and strings inside it.
static tsr_status skip_value(tsr_cursor *cursor) {
  int64_t depth = 0;
  for (; *cursor->at; cursor->at++) {
    const char c = *cursor->at;
    if (c == '\'' || c == '"') {
      const char *end = string_end(cursor->at);
      if (!end) return tsr_cursor_expected(cursor, "a closing quote");
      cursor->at = end;
    } else if (strchr("([{", c)) {
      depth++;
    } else if (strchr(")]}", c)) {
      if (!depth--) return NULL;
    } else if (c == ',' && !depth) {
      return NULL;
    }
  }
  return tsr_cursor_expected(cursor, "a closing bracket");
}

// ---- shapes and meshes ----

// (8, 8), [8, 8] or torch.Size([8, 8]).
static tsr_status read_shape(tsr_cursor *cursor, tsr_shape *out) {
  tsr_cursor qualified = *cursor;
  size_t length = 0;
  const char *word = tsr_cursor_qualified(&qualified, &length);
  const bool size = tsr_word_is(word, length, "Size");
  if (size) {
    *cursor = qualified;
    TSR_TRY(tsr_cursor_expect(cursor, '('));
  }
  const char close = tsr_cursor_take(cursor, '[') ? ']' : ')';
  if (close == ')') TSR_TRY(tsr_cursor_expect(cursor, '('));
  tsr_shape shape = {0};
  while (!tsr_cursor_take(cursor, close)) {
    if (shape.rank == TSR_MAX_RANK)
      return tsr_fail(TOO_LARGE, "a shape of more than %d dimensions", TSR_MAX_RANK);
    TSR_TRY(tsr_cursor_int(cursor, &shape.dims[shape.rank++]));
    if (!tsr_cursor_take(cursor, ',') && tsr_cursor_peek(cursor) != close)
      return tsr_cursor_expect(cursor, close);
  }
  if (size) TSR_TRY(tsr_cursor_expect(cursor, ')'));
  TSR_TRY(tsr_shape_check(&shape));
  *out = shape;
  return NULL;
}

static tsr_status read_own_shape(dtensor_reader *in) {
  TSR_TRY(read_shape(&in->cursor, &in->found.shape));
  in->found.has_shape = true;
  return NULL;
}

static tsr_status read_mesh(dtensor_reader *in) {
  tsr_cursor_peek(&in->cursor);
  const char *start = in->cursor.at;
  TSR_TRY(skip_value(&in->cursor));
  if (!in->with_mesh) return NULL;
  if (in->found.mesh) return tsr_fail(SYNTAX, "a second mesh, expected one");
  char *text = strndup(start, (size_t)(in->cursor.at - start));
  if (!text) return tsr_fail(NO_MEMORY, "text of a mesh");
  tsr_cursor mesh = in->cursor;
  mesh.at = start;
  const tsr_status status =
      tsr_cursor_place(&mesh, tsr_mesh_parse(text, in->topology, &in->found.mesh));
  in->found.lists_devices = strchr(text, '[');
  free(text);
  return status;
}

// ---- members of DTensor(...) and DTensorSpec(...) ----

static tsr_status read_placements(dtensor_reader *in) {
  if (in->has_placements) return tsr_fail(SYNTAX, "placements are given twice");
  in->has_placements = true;
  return tsr_placements_read(&in->cursor, &in->found.placements);
}

// TensorMeta(shape=torch.Size([8, 8]), stride=(8, 1), dtype=torch.float32) or None.
static tsr_status read_meta(dtensor_reader *in) {
  tsr_cursor ahead = in->cursor;
  if (!tsr_cursor_take_word(&ahead, "TensorMeta") || !tsr_cursor_take(&ahead, '(') ||
      !tsr_cursor_take_word(&ahead, "shape") || !tsr_cursor_take(&ahead, '='))
    return skip_value(&in->cursor);
  in->cursor = ahead;
  TSR_TRY(read_own_shape(in));
  while (tsr_cursor_take(&in->cursor, ',')) TSR_TRY(skip_value(&in->cursor));
  return tsr_cursor_expect(&in->cursor, ')');
}

static tsr_status check_ordered(const tsr_placements *placements, int64_t axis, int64_t dim) {
  if (axis < 0 || axis >= placements->count)
    return tsr_fail(SYNTAX, "the order of shards has mesh dimension %lld, expected 0 to %d",
                    (long long)axis, placements->count - 1);
  const tsr_placement *at = &placements->items[axis];
  const bool shard = at->kind == TSR_PLACEMENT_SHARD || at->kind == TSR_PLACEMENT_STRIDED_SHARD;
  if (shard && at->dim == dim) return NULL;
  return tsr_fail(SYNTAX,
                  "the order of shards has mesh dimension %lld, whose placement is no shard "
                  "of dimension %lld",
                  (long long)axis, (long long)dim);
}

// The mesh dimensions that cut tensor dimension `dim`, the first to cut first.
static tsr_status read_axis_order(dtensor_reader *in, int64_t dim) {
  tsr_placements *placements = &in->found.placements;
  int order = 0;
  TSR_TRY(tsr_cursor_expect(&in->cursor, '('));
  while (!tsr_cursor_take(&in->cursor, ')')) {
    int64_t axis = 0;
    TSR_TRY(tsr_cursor_int(&in->cursor, &axis));
    TSR_TRY(check_ordered(placements, axis, dim));
    if (order == TSR_MAX_AXES)
      return tsr_fail(TOO_LARGE, "an order of more than %d shards", TSR_MAX_AXES);
    placements->items[axis].order = ++order;
    if (!tsr_cursor_take(&in->cursor, ',') && tsr_cursor_peek(&in->cursor) != ')')
      return tsr_cursor_expect(&in->cursor, ')');
  }
  return NULL;
}

// ShardOrderEntry(tensor_dim=0, mesh_dims=(1, 0)).
static tsr_status read_order_entry(dtensor_reader *in) {
  int64_t dim = 0;
  if (!tsr_cursor_take_word(&in->cursor, "ShardOrderEntry") || !tsr_cursor_take(&in->cursor, '(') ||
      !tsr_cursor_take_word(&in->cursor, "tensor_dim") || !tsr_cursor_take(&in->cursor, '='))
    return tsr_cursor_expected(&in->cursor, "ShardOrderEntry(tensor_dim=");
  TSR_TRY(tsr_cursor_int(&in->cursor, &dim));
  TSR_TRY(tsr_cursor_expect(&in->cursor, ','));
  if (!tsr_cursor_take_word(&in->cursor, "mesh_dims") || !tsr_cursor_take(&in->cursor, '='))
    return tsr_cursor_expected(&in->cursor, "mesh_dims=");
  TSR_TRY(read_axis_order(in, dim));
  return tsr_cursor_expect(&in->cursor, ')');
}

static tsr_status read_order(dtensor_reader *in) {
  if (tsr_cursor_take_word(&in->cursor, "None")) return NULL;
  if (!in->has_placements) return tsr_fail(SYNTAX, "shard_order before placements");
  TSR_TRY(tsr_cursor_expect(&in->cursor, '('));
  while (!tsr_cursor_take(&in->cursor, ')')) {
    TSR_TRY(read_order_entry(in));
    if (!tsr_cursor_take(&in->cursor, ',') && tsr_cursor_peek(&in->cursor) != ')')
      return tsr_cursor_expect(&in->cursor, ')');
  }
  return NULL;
}

static tsr_status read_member(dtensor_reader *in) {
  static const struct {
    const char *name;
    tsr_status (*read)(dtensor_reader *in);
  } members[] = {
      {"device_mesh", read_mesh}, {"mesh", read_mesh},         {"placements", read_placements},
      {"tensor_meta", read_meta}, {"shard_order", read_order},
  };
  size_t length = 0;
  const char *word = tsr_cursor_word(&in->cursor, &length);
  TSR_TRY(tsr_cursor_expect(&in->cursor, '='));
  for (size_t i = 0; i < sizeof members / sizeof *members; i++)
    if (tsr_word_is(word, length, members[i].name)) return members[i].read(in);
  return skip_value(&in->cursor);
}

static tsr_status read_members(dtensor_reader *in) {
  TSR_TRY(tsr_cursor_expect(&in->cursor, '('));
  do TSR_TRY(read_member(in));
  while (tsr_cursor_take(&in->cursor, ','));
  if (!in->has_placements) return tsr_cursor_expected(&in->cursor, "placements=");
  return tsr_cursor_expect(&in->cursor, ')');
}

// ---- Spec(...) ----

// "unknown shape" if PyTorch does not know it.
static tsr_status read_known_shape(dtensor_reader *in) {
  if (!tsr_cursor_take_word(&in->cursor, "unknown")) return read_own_shape(in);
  return tsr_cursor_take_word(&in->cursor, "shape") ? NULL
                                                    : tsr_cursor_expected(&in->cursor, "shape");
}

// f32[8, 8](S(0)R), or unknown dtypeunknown shape(S(0)R).
static tsr_status read_late_spec(dtensor_reader *in) {
  size_t length = 0;
  tsr_cursor_word(&in->cursor, &length);
  if (!length) return tsr_cursor_expected(&in->cursor, "placements or an element type");
  if (tsr_cursor_peek(&in->cursor) == '[') {
    TSR_TRY(read_own_shape(in));
  } else if (!tsr_cursor_take_word(&in->cursor, "dtypeunknown") ||
             !tsr_cursor_take_word(&in->cursor, "shape")) {
    return tsr_cursor_expected(&in->cursor, "a shape in brackets");
  }
  TSR_TRY(tsr_cursor_expect(&in->cursor, '('));
  if (tsr_cursor_peek(&in->cursor) != ')') TSR_TRY(read_placements(in));
  return tsr_cursor_expect(&in->cursor, ')');
}

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

static tsr_status read_spec(dtensor_reader *in) {
  TSR_TRY(tsr_cursor_expect(&in->cursor, '('));
  if (is_lower(tsr_cursor_peek(&in->cursor))) {
    TSR_TRY(read_late_spec(in));
  } else {
    TSR_TRY(read_placements(in));
    if (!tsr_cursor_take_word(&in->cursor, "on"))
      return tsr_cursor_expected(&in->cursor, "\"on\" and a shape");
    TSR_TRY(read_known_shape(in));
  }
  return tsr_cursor_expect(&in->cursor, ')');
}

// ---- the whole text ----

static tsr_status read_assigned(dtensor_reader *in) {
  TSR_TRY(tsr_cursor_expect(&in->cursor, '='));
  return read_placements(in);
}

static const struct {
  const char *name;
  char next;  // what follows the name
  tsr_status (*read)(dtensor_reader *in);
} texts[] = {
    {"DTensor", '(', read_members},
    {"DTensorSpec", '(', read_members},
    {"Spec", '(', read_spec},
    {"placements", '=', read_assigned},
};

// The row of the text, with the name taken; -1 for placements alone.
static int find_text(tsr_cursor *cursor) {
  tsr_cursor ahead = *cursor;
  size_t length = 0;
  const char *word = tsr_cursor_qualified(&ahead, &length);
  for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++) {
    if (!tsr_word_is(word, length, texts[i].name) || tsr_cursor_peek(&ahead) != texts[i].next)
      continue;
    *cursor = ahead;
    return i;
  }
  return -1;
}

static tsr_status read_text(dtensor_reader *in) {
  const int text = find_text(&in->cursor);
  tsr_status status = text < 0 ? read_placements(in) : texts[text].read(in);
  TSR_TRY(tsr_cursor_place_missing(&in->cursor, status));
  TSR_TRY(tsr_cursor_end(&in->cursor));
  return tsr_placements_settle_order(&in->found.placements);
}

bool tsr_dtensor_looks_like(const char *text) {
  tsr_cursor cursor = TSR_CURSOR("placements", text);
  return find_text(&cursor) >= 0 || tsr_placements_look_like_list(text) ||
         tsr_placements_look_like_row(text);
}

tsr_status tsr_placements_parse(const char *text, tsr_placements *out) {
  dtensor_reader in = {.cursor = TSR_CURSOR("placements", text)};
  TSR_TRY(read_text(&in));
  *out = in.found.placements;
  return NULL;
}

tsr_status tsr_dtensor_parse(const char *text, const tsr_topology *topology, tsr_dtensor *out) {
  dtensor_reader in = {
      .cursor = TSR_CURSOR("placements", text), .topology = topology, .with_mesh = true};
  const tsr_status status = read_text(&in);
  if (status)
    tsr_dtensor_deinit(&in.found);
  else
    *out = in.found;
  return status;
}

void tsr_dtensor_deinit(tsr_dtensor *dtensor) {
  tsr_mesh_release(dtensor->mesh);
  dtensor->mesh = NULL;
}
