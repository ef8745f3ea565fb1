// What PyTorch prints of tensors that have placements, with more around these:
//
//   DTensor(local_tensor=tensor([...]), device_mesh=DeviceMesh(...), placements=(...))
//   DTensorSpec(mesh=DeviceMesh(...), placements=(...), tensor_meta=TensorMeta(shape=...), ...)
//   Spec((Shard(dim=0), Replicate()) on (8, 8)), and of late Spec(f32[8, 8](S(0)R))
//   placements=(...), and placements alone
//
// Members that say nothing about the layout are skipped, whatever stands in them: elements of a
// tensor may fill pages.
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
  tsr_scan scan;
  const tsr_topology *topology;
  bool with_mesh;  // otherwise meshes are skipped
  bool has_placements;
  tsr_dtensor found;
} dtensor_reader;

// ---- values that are passed over ----

// The quote that ends a string; NULL where none does.
static const char *string_end(const char *at) {
  const char *end = at + 1;
  while (*end && *end != *at) end += *end == '\\' && end[1] ? 2 : 1;
  return *end ? end : NULL;
}

// Moves to the comma or bracket that ends a value, past brackets and strings inside it.
static tsr_status skip_value(tsr_scan *scan) {
  int64_t depth = 0;
  for (; *scan->at; scan->at++) {
    const char c = *scan->at;
    if (c == '\'' || c == '"') {
      const char *end = string_end(scan->at);
      if (!end) return tsr_scan_fail(scan, "a string with an end");
      scan->at = end;
    } else if (strchr("([{", c)) {
      depth++;
    } else if (strchr(")]}", c)) {
      if (!depth--) return NULL;
    } else if (c == ',' && !depth) {
      return NULL;
    }
  }
  return tsr_scan_fail(scan, "a closing bracket");
}

// ---- shapes and meshes ----

// (8, 8), [8, 8] or torch.Size([8, 8]).
static tsr_status read_shape(tsr_scan *scan, tsr_shape *out) {
  tsr_scan qualified = *scan;
  size_t length = 0;
  const char *word = tsr_scan_qualified(&qualified, &length);
  const bool size = tsr_word_is(word, length, "Size");
  if (size) {
    *scan = qualified;
    TSR_TRY(tsr_scan_expect(scan, '('));
  }
  const char close = tsr_scan_take(scan, '[') ? ']' : ')';
  if (close == ')') TSR_TRY(tsr_scan_expect(scan, '('));
  tsr_shape shape = {0};
  while (!tsr_scan_take(scan, close)) {
    if (shape.rank == TSR_MAX_RANK)
      return tsr_fail(TOO_LARGE, "a shape of more than %d dimensions", TSR_MAX_RANK);
    TSR_TRY(tsr_scan_int(scan, &shape.dims[shape.rank++]));
    if (!tsr_scan_take(scan, ',') && tsr_scan_peek(scan) != close)
      return tsr_scan_expect(scan, close);
  }
  if (size) TSR_TRY(tsr_scan_expect(scan, ')'));
  TSR_TRY(tsr_shape_check(&shape));
  *out = shape;
  return NULL;
}

static tsr_status read_own_shape(dtensor_reader *in) {
  TSR_TRY(read_shape(&in->scan, &in->found.shape));
  in->found.has_shape = true;
  return NULL;
}

static tsr_status read_mesh(dtensor_reader *in) {
  tsr_scan_peek(&in->scan);
  const char *start = in->scan.at;
  TSR_TRY(skip_value(&in->scan));
  if (!in->with_mesh) return NULL;
  if (in->found.mesh) return tsr_fail(SYNTAX, "two meshes, wanted one");
  char *text = strndup(start, (size_t)(in->scan.at - start));
  if (!text) return tsr_fail(NO_MEMORY, "text of a mesh");
  const tsr_status status = tsr_mesh_parse(text, in->topology, &in->found.mesh);
  in->found.lists_devices = strchr(text, '[');
  free(text);
  return status;
}

// ---- members of DTensor(...) and DTensorSpec(...) ----

static tsr_status read_placements(dtensor_reader *in) {
  if (in->has_placements) return tsr_fail(SYNTAX, "placements are given twice");
  in->has_placements = true;
  return tsr_placements_read(&in->scan, &in->found.placements);
}

// TensorMeta(shape=torch.Size([8, 8]), stride=(8, 1), dtype=torch.float32) or None.
static tsr_status read_meta(dtensor_reader *in) {
  tsr_scan ahead = in->scan;
  if (!tsr_scan_take_word(&ahead, "TensorMeta") || !tsr_scan_take(&ahead, '(') ||
      !tsr_scan_take_word(&ahead, "shape") || !tsr_scan_take(&ahead, '='))
    return skip_value(&in->scan);
  in->scan = ahead;
  TSR_TRY(read_own_shape(in));
  while (tsr_scan_take(&in->scan, ',')) TSR_TRY(skip_value(&in->scan));
  return tsr_scan_expect(&in->scan, ')');
}

static tsr_status check_ordered(const tsr_placements *placements, int64_t axis, int64_t dim) {
  if (axis < 0 || axis >= placements->count)
    return tsr_fail(SYNTAX, "mesh dimension %lld in an order of shards of %d placements",
                    (long long)axis, placements->count);
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
  TSR_TRY(tsr_scan_expect(&in->scan, '('));
  while (!tsr_scan_take(&in->scan, ')')) {
    int64_t axis = 0;
    TSR_TRY(tsr_scan_int(&in->scan, &axis));
    TSR_TRY(check_ordered(placements, axis, dim));
    if (order == TSR_MAX_AXES)
      return tsr_fail(TOO_LARGE, "an order of more than %d shards", TSR_MAX_AXES);
    placements->items[axis].order = ++order;
    if (!tsr_scan_take(&in->scan, ',') && tsr_scan_peek(&in->scan) != ')')
      return tsr_scan_expect(&in->scan, ')');
  }
  return NULL;
}

// ShardOrderEntry(tensor_dim=0, mesh_dims=(1, 0)).
static tsr_status read_order_entry(dtensor_reader *in) {
  int64_t dim = 0;
  if (!tsr_scan_take_word(&in->scan, "ShardOrderEntry") || !tsr_scan_take(&in->scan, '(') ||
      !tsr_scan_take_word(&in->scan, "tensor_dim") || !tsr_scan_take(&in->scan, '='))
    return tsr_scan_fail(&in->scan, "ShardOrderEntry(tensor_dim=");
  TSR_TRY(tsr_scan_int(&in->scan, &dim));
  TSR_TRY(tsr_scan_expect(&in->scan, ','));
  if (!tsr_scan_take_word(&in->scan, "mesh_dims") || !tsr_scan_take(&in->scan, '='))
    return tsr_scan_fail(&in->scan, "mesh_dims=");
  TSR_TRY(read_axis_order(in, dim));
  return tsr_scan_expect(&in->scan, ')');
}

static tsr_status read_order(dtensor_reader *in) {
  if (tsr_scan_take_word(&in->scan, "None")) return NULL;
  if (!in->has_placements) return tsr_fail(SYNTAX, "shard_order before placements");
  TSR_TRY(tsr_scan_expect(&in->scan, '('));
  while (!tsr_scan_take(&in->scan, ')')) {
    TSR_TRY(read_order_entry(in));
    if (!tsr_scan_take(&in->scan, ',') && tsr_scan_peek(&in->scan) != ')')
      return tsr_scan_expect(&in->scan, ')');
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
  const char *word = tsr_scan_word(&in->scan, &length);
  TSR_TRY(tsr_scan_expect(&in->scan, '='));
  for (size_t i = 0; i < sizeof members / sizeof *members; i++)
    if (tsr_word_is(word, length, members[i].name)) return members[i].read(in);
  return skip_value(&in->scan);
}

static tsr_status read_members(dtensor_reader *in) {
  TSR_TRY(tsr_scan_expect(&in->scan, '('));
  do TSR_TRY(read_member(in));
  while (tsr_scan_take(&in->scan, ','));
  if (!in->has_placements) return tsr_scan_fail(&in->scan, "placements=");
  return tsr_scan_expect(&in->scan, ')');
}

// ---- Spec(...) ----

// "unknown shape" stands where PyTorch does not know it.
static tsr_status read_known_shape(dtensor_reader *in) {
  if (!tsr_scan_take_word(&in->scan, "unknown")) return read_own_shape(in);
  return tsr_scan_take_word(&in->scan, "shape") ? NULL : tsr_scan_fail(&in->scan, "shape");
}

// f32[8, 8](S(0)R), or unknown dtypeunknown shape(S(0)R).
static tsr_status read_late_spec(dtensor_reader *in) {
  size_t length = 0;
  tsr_scan_word(&in->scan, &length);
  if (!length) return tsr_scan_fail(&in->scan, "placements or an element type");
  if (tsr_scan_peek(&in->scan) == '[') {
    TSR_TRY(read_own_shape(in));
  } else if (!tsr_scan_take_word(&in->scan, "dtypeunknown") ||
             !tsr_scan_take_word(&in->scan, "shape")) {
    return tsr_scan_fail(&in->scan, "a shape in brackets");
  }
  TSR_TRY(tsr_scan_expect(&in->scan, '('));
  if (tsr_scan_peek(&in->scan) != ')') TSR_TRY(read_placements(in));
  return tsr_scan_expect(&in->scan, ')');
}

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

static tsr_status read_spec(dtensor_reader *in) {
  TSR_TRY(tsr_scan_expect(&in->scan, '('));
  if (is_lower(tsr_scan_peek(&in->scan))) {
    TSR_TRY(read_late_spec(in));
  } else {
    TSR_TRY(read_placements(in));
    if (!tsr_scan_take_word(&in->scan, "on")) return tsr_scan_fail(&in->scan, "on and a shape");
    TSR_TRY(read_known_shape(in));
  }
  return tsr_scan_expect(&in->scan, ')');
}

// ---- the whole text ----

static tsr_status read_assigned(dtensor_reader *in) {
  TSR_TRY(tsr_scan_expect(&in->scan, '='));
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
static int find_text(tsr_scan *scan) {
  tsr_scan ahead = *scan;
  size_t length = 0;
  const char *word = tsr_scan_qualified(&ahead, &length);
  for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++) {
    if (!tsr_word_is(word, length, texts[i].name) || tsr_scan_peek(&ahead) != texts[i].next)
      continue;
    *scan = ahead;
    return i;
  }
  return -1;
}

static tsr_status read_text(dtensor_reader *in) {
  const int text = find_text(&in->scan);
  TSR_TRY(text < 0 ? read_placements(in) : texts[text].read(in));
  TSR_TRY(tsr_scan_end(&in->scan));
  return tsr_placements_settle_order(&in->found.placements);
}

bool tsr_dtensor_looks_like(const char *text) {
  tsr_scan scan = TSR_SCAN(text);
  return find_text(&scan) >= 0 || tsr_placements_look_like_list(text) ||
         tsr_placements_look_like_row(text);
}

tsr_status tsr_placements_parse(const char *text, tsr_placements *out) {
  dtensor_reader in = {.scan = TSR_SCAN(text)};
  TSR_TRY(read_text(&in));
  *out = in.found.placements;
  return NULL;
}

tsr_status tsr_dtensor_parse(const char *text, const tsr_topology *topology, tsr_dtensor *out) {
  dtensor_reader in = {.scan = TSR_SCAN(text), .topology = topology, .with_mesh = true};
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
