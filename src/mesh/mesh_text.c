// Meshes as text: "data=4,model=2:explicit devices=[3,1,0,2]", or "data=4 abstract".
//
// Devices are written only when a reader could not guess them. A reader with a topology takes the
// first devices of its list, one without takes 0, 1, 2, ...; so they are left out when both agree,
// and the text means the same mesh to both.
#include "mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cursor.h"
#include "base/text_internal.h"
#include "mesh/mesh_internal.h"
#include "tessera/engine/topology.h"

// ---- what the readers share ----

// The ids of the first `count` devices of a topology; the caller frees them. NULL without memory.
static int64_t *first_ids(const tsr_topology *topology, int64_t count) {
  int64_t *ids = malloc(sizeof *ids * (size_t)count);
  const tsr_device *devices = tsr_topology_devices(topology);
  for (int64_t i = 0; ids && i < count; i++) ids[i] = devices[i].id;
  return ids;
}

// How many of the topology's devices the axes ask for: all of them when a size is open.
static tsr_status count_wanted(const tsr_mesh_desc *desc, int64_t *out_count) {
  const int64_t available = tsr_topology_device_count(desc->topology);
  int64_t wanted = 1;
  *out_count = available;
  for (int i = 0; i < desc->axis_count; i++) {
    if (desc->axes[i].size < 1) return NULL;  // open, or refused by tsr_mesh_create
    if (__builtin_mul_overflow(wanted, desc->axes[i].size, &wanted)) wanted = INT64_MAX;
  }
  if (wanted > available)
    return tsr_fail(TOO_FEW_DEVICES, "the mesh needs %lld devices, but the topology has %lld",
                    (long long)wanted, (long long)available);
  *out_count = wanted;
  return NULL;
}

tsr_status tsr_mesh_create_read(const tsr_mesh_desc *desc, tsr_mesh **out_mesh) {
  if (!desc->topology || desc->devices || desc->abstract) return tsr_mesh_create(desc, out_mesh);
  tsr_mesh_desc filled = *desc;
  TSR_TRY(count_wanted(desc, &filled.device_count));
  int64_t *ids = first_ids(desc->topology, filled.device_count);
  if (!ids) return tsr_fail(NO_MEMORY, "mesh of %lld devices", (long long)filled.device_count);
  filled.devices = ids;
  const tsr_status status = tsr_mesh_create(&filled, out_mesh);
  free(ids);
  return status;
}

// ---- reading ----

typedef struct reader {
  tsr_cursor cursor;
  tsr_arena *arena;
} reader;

static tsr_status read_quoted(reader *in, const char **out_name) {
  tsr_text name = TSR_TEXT_EMPTY;
  tsr_status status = tsr_cursor_quoted(&in->cursor, tsr_cursor_escape, &name);
  if (!status) *out_name = tsr_arena_copy(in->arena, tsr_text_string(&name), name.length);
  tsr_text_deinit(&name);
  return status || *out_name ? status : tsr_fail(NO_MEMORY, "axis name");
}

static tsr_status read_name(reader *in, const char **out_name) {
  if (tsr_cursor_peek(&in->cursor) == '"') return read_quoted(in, out_name);
  size_t length = 0;
  while (tsr_is_plain_name(in->cursor.at[length])) length++;
  if (!length) return tsr_cursor_expected(&in->cursor, "an axis name");
  *out_name = tsr_arena_copy(in->arena, in->cursor.at, length);
  in->cursor.at += length;
  return *out_name ? NULL : tsr_fail(NO_MEMORY, "axis name");
}

static tsr_status read_type(reader *in, tsr_axis_type *out_type) {
  for (int i = TSR_AXIS_AUTO; i <= TSR_AXIS_MANUAL; i++)
    if (tsr_cursor_take_word(&in->cursor, tsr_axis_type_name((tsr_axis_type)i))) {
      *out_type = (tsr_axis_type)i;
      return NULL;
    }
  return tsr_cursor_expected(&in->cursor, "auto, explicit or manual");
}

static tsr_status read_axis(reader *in, tsr_axis *out_axis) {
  TSR_TRY(read_name(in, &out_axis->name));
  if (!tsr_cursor_take(&in->cursor, '='))
    return tsr_cursor_expected(&in->cursor, "\"=\" and a size");
  TSR_TRY(tsr_cursor_int(&in->cursor, &out_axis->size));
  out_axis->type = TSR_AXIS_AUTO;
  return tsr_cursor_take(&in->cursor, ':') ? read_type(in, &out_axis->type) : NULL;
}

// Whether there are no axes: the text is over, or one of the words that follow them comes.
static bool at_suffix(const reader *in) {
  tsr_cursor ahead = in->cursor;
  if (tsr_cursor_take_word(&ahead, "devices=[") || !tsr_cursor_peek(&ahead)) return true;
  return tsr_cursor_take_word(&ahead, "abstract") && !tsr_cursor_peek(&ahead);
}

static tsr_status read_axes(reader *in, tsr_axis *axes, int *out_count) {
  int count = 0;
  bool more = !at_suffix(in);
  while (more) {
    if (count == TSR_MAX_AXES) return tsr_fail(TOO_LARGE, "more than %d axes", TSR_MAX_AXES);
    TSR_TRY(read_axis(in, &axes[count++]));
    more = tsr_cursor_take(&in->cursor, ',');
  }
  *out_count = count;
  return NULL;
}

static tsr_status read_devices(reader *in, tsr_mesh_desc *desc) {
  size_t commas = 0;
  for (const char *c = in->cursor.at; *c && *c != ']'; c++) commas += *c == ',';
  int64_t *ids = tsr_arena_zeros(in->arena, commas + 1, sizeof *ids);
  if (!ids) return tsr_fail(NO_MEMORY, "list of %zu devices", commas + 1);
  int64_t count = 0;
  do {
    int64_t id = 0;
    TSR_TRY(tsr_cursor_int(&in->cursor, &id));
    if (id < 0 || id > INT32_MAX)
      return tsr_fail(UNKNOWN_DEVICE, "device %lld; ids are 0 to %d", (long long)id, INT32_MAX);
    ids[count++] = id;
  } while (tsr_cursor_take(&in->cursor, ','));
  if (!tsr_cursor_take(&in->cursor, ']')) return tsr_cursor_expected(&in->cursor, "\",\" or \"]\"");
  desc->devices = ids;
  desc->device_count = count;
  return NULL;
}

static tsr_status read_mesh(reader *in, const tsr_topology *topology, tsr_mesh **out_mesh) {
  tsr_axis axes[TSR_MAX_AXES];
  tsr_mesh_desc desc = {.size = sizeof desc, .axes = axes, .topology = topology};
  TSR_TRY(read_axes(in, axes, &desc.axis_count));
  if (tsr_cursor_take_word(&in->cursor, "devices=[")) {
    TSR_TRY(read_devices(in, &desc));
  } else {
    desc.abstract = tsr_cursor_take_word(&in->cursor, "abstract");
  }
  TSR_TRY(tsr_cursor_end(&in->cursor));
  return tsr_mesh_create_read(&desc, out_mesh);
}

tsr_status tsr_mesh_parse(const char *text, const tsr_topology *topology, tsr_mesh **out_mesh) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  reader in = {TSR_CURSOR("mesh", text), &arena};
  const tsr_status status = tsr_mesh_looks_torch(text)
                                ? tsr_mesh_read_torch(text, topology, out_mesh)
                                : read_mesh(&in, topology, out_mesh);
  tsr_arena_deinit(&arena);
  return tsr_cursor_note(&in.cursor, status);
}

// ---- writing ----

static void print_devices(const tsr_mesh *mesh, tsr_text *out) {
  tsr_text_add(out, "devices=[");
  for (int64_t i = 0; i < tsr_mesh_device_count(mesh); i++) {
    if (i) tsr_text_add_char(out, ',');
    tsr_text_add_int(out, tsr_mesh_device_at(mesh, i));
  }
  tsr_text_add_char(out, ']');
}

void tsr_mesh_print(const tsr_mesh *mesh, tsr_text *out) {
  const int axis_count = tsr_mesh_axis_count(mesh);
  for (int i = 0; i < axis_count; i++) {
    if (i) tsr_text_add_char(out, ',');
    tsr_axis_print(tsr_mesh_axis_at(mesh, i), out);
  }
  const char *space = axis_count ? " " : "";
  if (tsr_mesh_is_abstract(mesh)) {
    tsr_text_addf(out, "%sabstract", space);
  } else if (!tsr_mesh_has_default_devices(mesh)) {
    tsr_text_add(out, space);
    print_devices(mesh, out);
  }
}
