// PyTorch's DeviceMesh as its releases print it:
//
//   DeviceMesh([[0, 1], [2, 3]], mesh_dim_names=('dp', 'tp'))          2.4
//   DeviceMesh('cuda', [[0, 1], [2, 3]], mesh_dim_names=('dp', 'tp'))  2.5 to 2.8
//   DeviceMesh((dp=2, tp=2), device: 'cuda', stride: (2, 1))           2.9
//   DeviceMesh((dp=2, tp=2), 'cuda', stride=(2, 1))                    2.10 on
//   (dp=2, tp=2)                                                       its axes alone
//
// From 2.9 on, "Mesh: [[0, 1], [2, 3]]" follows if TORCH_DISTRIBUTED_DEBUG is DETAIL. Without a
// list of ids, the strides give the ranks of the mesh of rank 0: mesh["dp"] of the above is (dp=2)
// with stride (2,), ranks 0 and 2. Axes without names are dim_0, dim_1, ..., as PyTorch names their
// groups.
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/cursor.h"
#include "base/text_internal.h"
#include "mesh/mesh.h"
#include "tessera/shape.h"

enum { NAME_BYTES = 16, MOST_STRIDED = 1 << 24 };

typedef struct torch_mesh_text {
  tsr_cursor cursor;
  tsr_arena *arena;
  bool has_axes;
  int axis_count, name_count, stride_count;
  int64_t sizes[TSR_MAX_AXES], strides[TSR_MAX_AXES];
  const char *names[TSR_MAX_AXES];
  bool nested[TSR_MAX_AXES];  // whose stride is a tuple
  int list_rank;              // of the listed ids; -1 = none are listed
  int64_t list_sizes[TSR_MAX_AXES];
  int64_t *ids;
  int64_t id_count;
} torch_mesh_text;

static tsr_status check_room(int count) {
  if (count < TSR_MAX_AXES) return NULL;
  return tsr_fail(TOO_LARGE, "more than %d axes", TSR_MAX_AXES);
}

// After a member of a list: a comma or the closing bracket.
static tsr_status expect_next(tsr_cursor *cursor, char close) {
  if (tsr_cursor_take(cursor, ',') || tsr_cursor_peek(cursor) == close) return NULL;
  return tsr_cursor_expected(cursor, close == ']' ? "\",\" or \"]\"" : "\",\" or \")\"");
}

// ---- axes, names, strides ----

static tsr_status copy_name(torch_mesh_text *in, const char *start, size_t length) {
  TSR_TRY(check_room(in->name_count));
  const char *name = tsr_arena_copy(in->arena, start, length);
  if (!name) return tsr_fail(NO_MEMORY, "axis name");
  in->names[in->name_count++] = name;
  return NULL;
}

// dp=2, or a size alone.
static tsr_status read_axis(torch_mesh_text *in) {
  size_t length = 0;
  TSR_TRY(check_room(in->axis_count));
  const char first = tsr_cursor_peek(&in->cursor);
  if (first != '-' && (first < '0' || first > '9')) {
    while (tsr_is_plain_name(in->cursor.at[length])) length++;
    if (!length) return tsr_cursor_expected(&in->cursor, "an axis or a size");
    TSR_TRY(copy_name(in, in->cursor.at, length));
    in->cursor.at += length;
    TSR_TRY(tsr_cursor_expect(&in->cursor, '='));
  }
  return tsr_cursor_int(&in->cursor, &in->sizes[in->axis_count++]);
}

static tsr_status read_axes(torch_mesh_text *in) {
  if (in->has_axes) return tsr_cursor_expected(&in->cursor, "one tuple of axes");
  in->has_axes = true;
  TSR_TRY(tsr_cursor_expect(&in->cursor, '('));
  while (!tsr_cursor_take(&in->cursor, ')')) {
    TSR_TRY(read_axis(in));
    TSR_TRY(expect_next(&in->cursor, ')'));
  }
  return NULL;
}

static tsr_status take_string(tsr_cursor *cursor, const char **out_start, size_t *out_length) {
  const char quote = tsr_cursor_peek(cursor);
  if (quote != '\'' && quote != '"') return tsr_cursor_expected(cursor, "a string in quotes");
  const char *start = cursor->at + 1;
  const size_t length = strcspn(start, (const char[]){quote, '\\', '\0'});
  if (start[length] != quote)
    return tsr_cursor_expected(cursor, "a string without escapes, and its end");
  cursor->at = start + length + 1;
  *out_start = start;
  *out_length = length;
  return NULL;
}

static tsr_status skip_string(torch_mesh_text *in) {
  const char *start = NULL;
  size_t length = 0;
  return take_string(&in->cursor, &start, &length);
}

static tsr_status read_names(torch_mesh_text *in) {
  if (tsr_cursor_take_word(&in->cursor, "None")) return NULL;
  TSR_TRY(tsr_cursor_expect(&in->cursor, '('));
  while (!tsr_cursor_take(&in->cursor, ')')) {
    const char *start = NULL;
    size_t length = 0;
    TSR_TRY(take_string(&in->cursor, &start, &length));
    TSR_TRY(copy_name(in, start, length));
    TSR_TRY(expect_next(&in->cursor, ')'));
  }
  return NULL;
}

// A flattened axis has several strides, whose sizes are not printed. An axis of size 1 has none.
static tsr_status skip_tuple(tsr_cursor *cursor) {
  int64_t unused = 0;
  TSR_TRY(tsr_cursor_expect(cursor, '('));
  while (!tsr_cursor_take(cursor, ')')) {
    TSR_TRY(tsr_cursor_int(cursor, &unused));
    TSR_TRY(expect_next(cursor, ')'));
  }
  return NULL;
}

static tsr_status read_strides(torch_mesh_text *in) {
  TSR_TRY(tsr_cursor_expect(&in->cursor, '('));
  while (!tsr_cursor_take(&in->cursor, ')')) {
    TSR_TRY(check_room(in->stride_count));
    if (tsr_cursor_peek(&in->cursor) == '(') {
      TSR_TRY(skip_tuple(&in->cursor));
      in->nested[in->stride_count++] = true;
    } else {
      TSR_TRY(tsr_cursor_int(&in->cursor, &in->strides[in->stride_count++]));
    }
    TSR_TRY(expect_next(&in->cursor, ')'));
  }
  return NULL;
}

// ---- the list of ids ----

static tsr_status read_id(torch_mesh_text *in) {
  int64_t id = 0;
  TSR_TRY(tsr_cursor_int(&in->cursor, &id));
  if (id < 0 || id > INT32_MAX)
    return tsr_fail(UNKNOWN_DEVICE, "device %lld; ids are 0 to %d", (long long)id, INT32_MAX);
  in->ids[in->id_count++] = id;
  return NULL;
}

// The list at `depth`; the first list of each depth sets the length of all. At most TSR_MAX_AXES
// deep.
static tsr_status read_list(torch_mesh_text *in, int depth) {
  int64_t count = 0;
  TSR_TRY(check_room(depth));
  TSR_TRY(tsr_cursor_expect(&in->cursor, '['));
  while (!tsr_cursor_take(&in->cursor, ']')) {
    const bool leaf = tsr_cursor_peek(&in->cursor) != '[';
    if (in->list_rank < 0 && leaf) in->list_rank = depth + 1;
    if (in->list_rank >= 0 && leaf != (depth + 1 == in->list_rank))
      return tsr_cursor_expected(&in->cursor, leaf ? "\"[\"" : "a device");
    TSR_TRY(leaf ? read_id(in) : read_list(in, depth + 1));
    TSR_TRY(expect_next(&in->cursor, ']'));
    count++;
  }
  if (!count) return tsr_fail(SYNTAX, "an empty list of devices, wanted one or more");
  if (!in->list_sizes[depth]) in->list_sizes[depth] = count;
  if (in->list_sizes[depth] == count) return NULL;
  return tsr_fail(SYNTAX, "a list of %lld devices or lists, wanted %lld", (long long)count,
                  (long long)in->list_sizes[depth]);
}

static tsr_status read_ids(torch_mesh_text *in) {
  size_t commas = 0;
  if (in->ids) return tsr_cursor_expected(&in->cursor, "one list of devices");
  for (const char *c = in->cursor.at; *c; c++) commas += *c == ',';
  in->ids = tsr_arena_zeros(in->arena, commas + 1, sizeof *in->ids);
  if (!in->ids) return tsr_fail(NO_MEMORY, "list of %zu devices", commas + 1);
  return read_list(in, 0);
}

// ---- the whole text ----

static tsr_status read_member(torch_mesh_text *in) {
  static const struct {
    const char *name;
    tsr_status (*read)(torch_mesh_text *in);
  } members[] = {{"Mesh", read_ids}, {"device", skip_string},        {"device_type", skip_string},
                 {"mesh", read_ids}, {"mesh_dim_names", read_names}, {"stride", read_strides}};
  switch (tsr_cursor_peek(&in->cursor)) {
    case '\'':
    case '"':
      return skip_string(in);
    case '[':
      return read_ids(in);
    case '(':
      return read_axes(in);
    default:
      break;
  }
  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    if (!tsr_cursor_take_word(&in->cursor, members[i].name)) continue;
    if (!tsr_cursor_take(&in->cursor, ':')) TSR_TRY(tsr_cursor_expect(&in->cursor, '='));
    return members[i].read(in);
  }
  return tsr_cursor_expected(&in->cursor, "axes, devices, device, stride, Mesh or mesh_dim_names");
}

static bool take_class(tsr_cursor *cursor) {
  size_t length = 0;
  const char *word = tsr_cursor_qualified(cursor, &length);
  if (length != strlen("DeviceMesh") || memcmp(word, "DeviceMesh", length) != 0) return false;
  tsr_cursor_take(cursor, ':');
  return tsr_cursor_peek(cursor) == '(';
}

static tsr_status read_text(torch_mesh_text *in) {
  if (tsr_cursor_peek(&in->cursor) == '(') {
    TSR_TRY(read_axes(in));
  } else {
    take_class(&in->cursor);
    TSR_TRY(tsr_cursor_expect(&in->cursor, '('));
    while (!tsr_cursor_take(&in->cursor, ')')) {
      TSR_TRY(read_member(in));
      TSR_TRY(expect_next(&in->cursor, ')'));
    }
  }
  return tsr_cursor_end(&in->cursor);
}

// ---- what the text means ----

static tsr_status check_counts(const torch_mesh_text *in) {
  if (in->name_count && in->name_count != in->axis_count)
    return tsr_fail(MESH_RANK_MISMATCH, "%d axis names for %d axes", in->name_count,
                    in->axis_count);
  if (in->stride_count && in->stride_count != in->axis_count)
    return tsr_fail(MESH_RANK_MISMATCH, "%d strides for %d axes", in->stride_count, in->axis_count);
  return NULL;
}

static tsr_status report_sizes(const torch_mesh_text *in) {
  tsr_shape listed = {.rank = in->list_rank}, wanted = {.rank = in->axis_count};
  tsr_text sizes = TSR_TEXT_EMPTY;
  memcpy(listed.dims, in->list_sizes, sizeof in->list_sizes);
  memcpy(wanted.dims, in->sizes, sizeof in->sizes);
  tsr_shape_print(&listed, &sizes);
  tsr_text_add(&sizes, ", the axes have ");
  tsr_shape_print(&wanted, &sizes);
  return tsr_text_end(&sizes, tsr_fail(MESH_RANK_MISMATCH, "the list of devices has sizes %s",
                                       tsr_text_string(&sizes)));
}

// The axes are those of the list, or must agree with it.
static tsr_status settle_axes(torch_mesh_text *in) {
  if (in->list_rank >= 0 && in->has_axes) {
    bool same = in->list_rank == in->axis_count;
    for (int i = 0; same && i < in->axis_count; i++) same = in->sizes[i] == in->list_sizes[i];
    if (!same) return report_sizes(in);
  } else if (in->list_rank >= 0) {
    in->axis_count = in->list_rank;
    memcpy(in->sizes, in->list_sizes, sizeof in->sizes);
  } else if (!in->has_axes) {
    return tsr_cursor_expected(&in->cursor, "axes or a list of devices");
  }
  return check_counts(in);
}

static tsr_status name_axes(torch_mesh_text *in, tsr_axis *axes) {
  for (int i = 0; i < in->axis_count; i++) {
    char unnamed[NAME_BYTES];
    snprintf(unnamed, sizeof unnamed, "dim_%d", i);
    const char *name =
        in->name_count ? in->names[i] : tsr_arena_copy(in->arena, unnamed, strlen(unnamed));
    if (!name) return tsr_fail(NO_MEMORY, "axis name");
    axes[i] = (tsr_axis){name, in->sizes[i], TSR_AXIS_AUTO};
  }
  return NULL;
}

bool tsr_mesh_is_unnamed_axis(const char *name, int axis) {
  char unnamed[NAME_BYTES];
  snprintf(unnamed, sizeof unnamed, "dim_%d", axis);
  return !strcmp(name, unnamed);
}

// Whether the strides count 0, 1, 2, ... through the axes.
static bool counts_through(const torch_mesh_text *in) {
  int64_t stride = 1;
  for (int i = in->axis_count; i-- > 0;) {
    if (in->sizes[i] > 1 && in->strides[i] != stride) return false;
    if (__builtin_mul_overflow(stride, in->sizes[i], &stride)) return false;
  }
  return true;
}

static tsr_status count_strided(const torch_mesh_text *in, int64_t *out_count) {
  int64_t count = 1, last = 0;
  for (int i = 0; i < in->axis_count; i++) {
    int64_t reach = 0;
    if (in->sizes[i] < 1 || in->strides[i] < 0)
      return tsr_fail(BAD_AXIS_SIZE,
                      "axis %d has size %lld and stride %lld, wanted 1 or more and 0 or more", i,
                      (long long)in->sizes[i], (long long)in->strides[i]);
    if (__builtin_mul_overflow(in->sizes[i] - 1, in->strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last) || last > INT32_MAX)
      return tsr_fail(UNKNOWN_DEVICE, "strides that go past device %d", INT32_MAX);
    if (__builtin_mul_overflow(count, in->sizes[i], &count) || count > MOST_STRIDED)
      return tsr_fail(TOO_LARGE, "strides over more than %d devices", MOST_STRIDED);
  }
  *out_count = count;
  return NULL;
}

static tsr_status check_strides(const torch_mesh_text *in) {
  for (int i = 0; i < in->stride_count; i++)
    if (in->nested[i] && in->sizes[i] > 1)
      return tsr_fail(
          UNSUPPORTED,
          "axis %d has several strides, and nothing says their sizes; wanted the list of "
          "devices too, which PyTorch prints with TORCH_DISTRIBUTED_DEBUG=DETAIL",
          i);
  return NULL;
}

// The ranks that the strides reach from 0, row-major.
static tsr_status follow_strides(torch_mesh_text *in) {
  TSR_TRY(check_strides(in));
  if (counts_through(in)) return NULL;
  int64_t count = 0;
  TSR_TRY(count_strided(in, &count));
  in->ids = tsr_arena_zeros(in->arena, (size_t)count, sizeof *in->ids);
  if (!in->ids) return tsr_fail(NO_MEMORY, "list of %lld devices", (long long)count);
  for (int64_t position = 0; position < count; position++) {
    int64_t id = 0, left = position;
    for (int i = in->axis_count; i-- > 0; left /= in->sizes[i])
      id += left % in->sizes[i] * in->strides[i];
    in->ids[position] = id;
  }
  in->id_count = count;
  return NULL;
}

static tsr_status read_mesh(torch_mesh_text *in, const tsr_topology *topology,
                            tsr_mesh **out_mesh) {
  tsr_axis axes[TSR_MAX_AXES];
  TSR_TRY(read_text(in));
  TSR_TRY(settle_axes(in));
  TSR_TRY(name_axes(in, axes));
  if (!in->ids && in->stride_count) TSR_TRY(follow_strides(in));
  const tsr_mesh_desc desc = {.size = sizeof desc,
                              .axes = axes,
                              .axis_count = in->axis_count,
                              .devices = in->ids,
                              .device_count = in->id_count,
                              .topology = topology};
  return tsr_mesh_create_read(&desc, out_mesh);
}

bool tsr_mesh_looks_torch(const char *text) {
  tsr_cursor cursor = TSR_CURSOR("mesh", text);
  return tsr_cursor_peek(&cursor) == '(' || take_class(&cursor);
}

tsr_status tsr_mesh_read_torch(const char *text, const tsr_topology *topology,
                               tsr_mesh **out_mesh) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  torch_mesh_text in = {.cursor = TSR_CURSOR("mesh", text), .arena = &arena, .list_rank = -1};
  const tsr_status status = read_mesh(&in, topology, out_mesh);
  tsr_arena_deinit(&arena);
  return status;
}
