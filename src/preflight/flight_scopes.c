// Folders of ops, so that a program of 50,000 ops can be looked at: by the names that JAX gives, by
// the Python functions that made the ops, or by the layer whose weights they use.
//
// A name stack such as "jit(step)/jvp(encoder)/layer_0/dot_general" is a path. Where it has only
// JAX's own words, the frames of Python go on with it. Without locations, an op that uses the
// argument params['layers'][1]['w'] begins the folder "layers 1", which the ops after it join.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "preflight/preflight.h"

enum { MOST_LEVELS = 24, RUN_OPS = 48, MOST_LOOSE = 72 };

typedef struct scope_path {
  int count;
  struct {
    const char *name;
    size_t length;
  } levels[MOST_LEVELS];
} scope_path;

static void add_level(scope_path *path, const char *name, size_t length) {
  if (path->count == MOST_LEVELS || !length) return;
  path->levels[path->count].name = name;
  path->levels[path->count++].length = length;
}

// ---- the tree ----

static tsr_status find_scope(tsr_preflight *flight, int64_t block, int64_t parent, const char *name,
                             size_t length, int64_t *last, int64_t *out_scope) {
  for (int64_t at = *last; at >= 0; at = flight->scopes[at].next) {
    const char *own = flight->scopes[at].name;
    if (!strncmp(own, name, length) && !own[length]) {
      *out_scope = at;
      return NULL;
    }
  }
  tsr_flight_scope *scopes =
      tsr_arena_grow(&flight->arena, flight->scopes, flight->scope_count, sizeof *scopes);
  const char *kept = tsr_arena_copy(&flight->arena, name, length);
  TSR_NEED(scopes && kept);
  const bool inner = parent >= 0 && last == &flight->scopes[parent].first_child;
  flight->scopes = scopes;
  if (inner) last = &scopes[parent].first_child;
  scopes[flight->scope_count] = (tsr_flight_scope){
      .name = kept, .parent = parent, .block = block, .next = *last, .first_child = -1};
  *last = *out_scope = flight->scope_count++;
  return NULL;
}

// `roots` has the newest folder of each block, by the op that owns it.
static tsr_status place_op(tsr_preflight *flight, int64_t *roots, int64_t index,
                           const scope_path *path) {
  const int64_t block = flight->ops[index].parent;
  int64_t scope = -1;
  for (int i = 0; i < path->count; i++) {
    int64_t *last = scope < 0 ? &roots[block] : &flight->scopes[scope].first_child;
    TSR_TRY(find_scope(flight, block, scope, path->levels[i].name, path->levels[i].length, last,
                       &scope));
  }
  flight->ops[index].scope = scope;
  return NULL;
}

// ---- names of JAX ----

// Whether a part of a name stack names something of the user: "layer_0", "jvp(encoder)"; and not
// "jit(f)", "transpose(jvp())", "jvp(bqhd,bkhd->bhqk)".
static bool is_named(const char *name, size_t length) {
  size_t begin = 0, end = length;
  if (length > 4 && !strncmp(name, "jit(", 4)) return false;
  while (end > begin && name[end - 1] == ')') {
    const char *inner = memchr(name + begin, '(', end - begin);
    if (!inner) break;
    begin = (size_t)(inner - name) + 1;
    end--;
  }
  for (size_t i = begin; i < end; i++)
    if (!isalnum((unsigned char)name[i]) && !strchr("_.-", name[i])) return false;
  return end > begin;
}

static void add_frames(const tsr_attr *location, int depth, scope_path *path) {
  if (!location || location->kind != TSR_ATTR_RECORD || depth > 4 * MOST_LEVELS) return;
  if (location->id == TSR_RECORD_LOC_CALL) {
    add_frames(tsr_attr_field(location, TSR_LOC_CALL_CALLER), depth + 1, path);
    add_frames(tsr_attr_field(location, TSR_LOC_CALL_CALLEE), depth + 1, path);
  } else if (location->id == TSR_RECORD_LOC_NAME) {
    const tsr_attr *name = tsr_attr_field(location, TSR_LOC_NAME_NAME);
    add_level(path, name->bytes, name->length);
  }
}

static const tsr_attr *named_location(const tsr_op *op) {
  const tsr_attr *location = op->location;
  return location && location->kind == TSR_ATTR_RECORD && location->id == TSR_RECORD_LOC_NAME
             ? location
             : NULL;
}

static void shorten(scope_path *common, const scope_path *other) {
  int same = 0;
  while (same < common->count && same < other->count &&
         common->levels[same].length == other->levels[same].length &&
         !memcmp(common->levels[same].name, other->levels[same].name, other->levels[same].length))
    same++;
  common->count = same;
}

// The frames that all ops have: what called the program says nothing about its parts.
static int count_common_frames(const tsr_preflight *flight) {
  scope_path common = {0};
  bool begun = false;
  for (int64_t i = 0; i < flight->op_count; i++) {
    const tsr_attr *location = named_location(flight->ops[i].op);
    scope_path frames = {0};
    if (location) add_frames(tsr_attr_field(location, TSR_LOC_NAME_CHILD), 0, &frames);
    if (!frames.count) continue;
    if (begun)
      shorten(&common, &frames);
    else
      common = frames;
    begun = true;
  }
  return common.count;
}

// The last part of a name stack is the op itself.
static bool path_of_location(const tsr_op *op, int common, scope_path *path) {
  const tsr_attr *location = named_location(op);
  if (!location) return false;
  const tsr_attr *name = tsr_attr_field(location, TSR_LOC_NAME_NAME);
  const char *at = name->bytes, *const end = name->bytes + name->length;
  bool named = false;
  for (const char *slash; (slash = memchr(at, '/', (size_t)(end - at))); at = slash + 1) {
    const bool own = is_named(at, (size_t)(slash - at));
    named |= own;
    if (own || !memchr(at, ',', (size_t)(slash - at))) add_level(path, at, (size_t)(slash - at));
  }
  scope_path frames = {0};
  if (!named) add_frames(tsr_attr_field(location, TSR_LOC_NAME_CHILD), 0, &frames);
  for (int i = common; i < frames.count; i++)
    add_level(path, frames.levels[i].name, frames.levels[i].length);
  return path->count > 0;
}

// ---- layers of weights ----

// The keys of "params['layers'][1]['w']": params, layers, 1, w.
static int split_keys(const char *name, const char **keys, size_t *lengths, int most) {
  int count = 0;
  for (const char *at = name; *at && count < most;) {
    const size_t length = strcspn(at, "[].'\"/");
    if (length) {
      keys[count] = at;
      lengths[count++] = length;
    }
    at += length + (at[length] != '\0');
  }
  return count;
}

// "layers 1" of a path with a number, else the first key that is a name; nothing if there is none.
static void layer_of(const char *name, tsr_text *out) {
  const char *keys[16];
  size_t lengths[16];
  const int count = split_keys(name, keys, lengths, 16);
  if (count == 1 && !strncmp(name, "arg", 3) && isdigit((unsigned char)name[3])) return;
  int first = 0, numbered = -1;
  while (first < count && isdigit((unsigned char)keys[first][0])) first++;
  if (first + 1 < count && !strncmp(keys[first], "params", 6)) first++;
  for (int i = first; i < count && numbered < 0; i++)
    if (isdigit((unsigned char)keys[i][lengths[i] - 1]) && i + 1 < count) numbered = i;
  const int end = numbered >= 0 ? numbered : first;
  for (int i = first; i <= end && i < count; i++) {
    if (i > first) tsr_text_add_char(out, ' ');
    tsr_text_add_bytes(out, keys[i], lengths[i]);
  }
}

// The weight of the entry that an op uses; NULL = none.
static const tsr_value *used_weight(const tsr_preflight *flight, const tsr_op *op) {
  const tsr_ir_block *body = tsr_func_body(flight->ops[flight->entry].op);
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_value *value = tsr_op_operand(op, i);
    while (value->def && tsr_flight_is_collective(value->def))
      value = tsr_op_operand(value->def, 0);
    if (!value->def && value->block == body && value->type->kind == TSR_TYPE_TENSOR &&
        value->type->rank > 0)
      return value;
  }
  return NULL;
}

typedef struct layer_run {
  tsr_text layer, next, label;
  int64_t number;
} layer_run;

// Whether the op begins a run of another layer.
static void see_weight(const tsr_preflight *flight, const tsr_op *op, layer_run *run) {
  const tsr_value *weight = used_weight(flight, op);
  tsr_text name = TSR_TEXT_EMPTY;
  if (!weight) return;
  tsr_flight_name(flight, weight, &name);
  tsr_text_clear(&run->next);
  layer_of(tsr_text_string(&name), &run->next);
  run->next.failed |= name.failed;
  tsr_text_deinit(&name);
  if (!run->next.length || !strcmp(tsr_text_string(&run->next), tsr_text_string(&run->layer)))
    return;
  tsr_text_clear(&run->layer);
  tsr_text_add(&run->layer, tsr_text_string(&run->next));
  run->number++;
}

// The run is part of the name until all ops have a folder, so that two runs stay apart.
static tsr_status place_in_run(tsr_preflight *flight, int64_t *roots, int64_t index,
                               layer_run *run) {
  scope_path path = {0};
  if (run->layer.failed || run->next.failed) return tsr_fail(NO_MEMORY, "names of layers");
  if (!run->layer.length) return NULL;
  tsr_text_clear(&run->label);
  tsr_text_addf(&run->label, "%s#%lld", tsr_text_string(&run->layer), (long long)run->number);
  if (run->label.failed) return tsr_fail(NO_MEMORY, "names of layers");
  add_level(&path, tsr_text_string(&run->label), run->label.length);
  return place_op(flight, roots, index, &path);
}

// Each change of the layer begins a new folder; the forward and the backward pass of a layer are
// two.
static tsr_status group_by_layers(tsr_preflight *flight, int64_t *roots) {
  layer_run run = {TSR_TEXT_EMPTY, TSR_TEXT_EMPTY, TSR_TEXT_EMPTY, 0};
  tsr_status status = NULL;
  for (int64_t i = flight->entry + 1; i < flight->op_count && !status; i++) {
    const tsr_flight_op *op = &flight->ops[i];
    if (op->function != flight->entry) break;
    if (op->parent != flight->entry || op->scope >= 0) continue;
    see_weight(flight, op->op, &run);
    status = place_in_run(flight, roots, i, &run);
  }
  tsr_text_deinit(&run.layer);
  tsr_text_deinit(&run.next);
  tsr_text_deinit(&run.label);
  return status;
}

static void strip_runs(tsr_preflight *flight) {
  for (int64_t i = 0; i < flight->scope_count; i++) {
    char *mark = strrchr((char *)(uintptr_t)flight->scopes[i].name, '#');
    if (mark) *mark = '\0';
  }
}

// ---- the rest ----

// Blocks with many ops and no names are cut into runs.
static tsr_status cut_runs(tsr_preflight *flight, int64_t *roots) {
  int64_t *loose = tsr_arena_zeros(&flight->arena, (size_t)flight->op_count, 2 * sizeof *loose);
  TSR_NEED(loose);
  int64_t *seen = loose + flight->op_count;
  for (int64_t i = 0; i < flight->op_count; i++)
    if (flight->ops[i].parent >= 0 && flight->ops[i].scope < 0) loose[flight->ops[i].parent]++;
  for (int64_t i = 0; i < flight->op_count; i++) {
    const int64_t block = flight->ops[i].parent;
    if (block < 0 || flight->ops[i].scope >= 0 || loose[block] <= MOST_LOOSE) continue;
    scope_path path = {0};
    tsr_text name = TSR_TEXT_EMPTY;
    const int64_t first = seen[block]++ / RUN_OPS * RUN_OPS;
    tsr_text_addf(&name, "ops %lld to %lld", (long long)first, (long long)(first + RUN_OPS - 1));
    add_level(&path, tsr_text_string(&name), name.length);
    tsr_status status = tsr_text_check(&name);
    if (!status) status = place_op(flight, roots, i, &path);
    tsr_text_deinit(&name);
    if (status) return status;
  }
  return NULL;
}

// An op that a pass made stands where the op stands that it was made for; others stand with the op
// before them.
static int64_t scope_near(const tsr_preflight *flight, int64_t index) {
  const tsr_flight_op *op = &flight->ops[index];
  const tsr_use *use = op->op->result_count ? tsr_op_result(op->op, 0)->uses : NULL;
  const tsr_op *def = op->op->operand_count ? tsr_op_operand(op->op, 0)->def : NULL;
  if (tsr_flight_is_collective(op->op) && use && use->user->mark &&
      flight->ops[tsr_flight_index(use->user)].parent == op->parent &&
      flight->ops[tsr_flight_index(use->user)].scope >= 0)
    return flight->ops[tsr_flight_index(use->user)].scope;
  if (def && def->mark && flight->ops[tsr_flight_index(def)].parent == op->parent)
    return flight->ops[tsr_flight_index(def)].scope;
  const tsr_op *before = op->op->prev;
  return before && before->mark ? flight->ops[tsr_flight_index(before)].scope : -1;
}

static void place_near(tsr_preflight *flight) {
  for (int64_t i = 0; i < flight->op_count; i++)
    if (flight->ops[i].parent >= 0 && flight->ops[i].scope < 0)
      flight->ops[i].scope = scope_near(flight, i);
}

tsr_status tsr_flight_find_scopes(tsr_preflight *flight) {
  int64_t *roots = tsr_arena_zeros(&flight->arena, (size_t)flight->op_count, sizeof *roots);
  const int common = count_common_frames(flight);
  bool located = false;
  TSR_NEED(roots);
  for (int64_t i = 0; i < flight->op_count; i++) roots[i] = -1;
  for (int64_t i = 0; i < flight->op_count; i++) {
    scope_path path = {0};
    if (flight->ops[i].parent < 0 || !path_of_location(flight->ops[i].op, common, &path)) continue;
    located = true;
    TSR_TRY(place_op(flight, roots, i, &path));
  }
  if (!located) TSR_TRY(group_by_layers(flight, roots));
  if (!located) strip_runs(flight);
  if (located) place_near(flight);
  return cut_runs(flight, roots);
}
