// Axes by name: lookup, types, and their text in messages.
#include "mesh/mesh.h"

#include <string.h>
#include <strings.h>

#include "base/quote.h"
#include "base/room.h"
#include "base/suggest.h"
#include "base/text_internal.h"
#include "mesh/dims.h"
#include "mesh/mesh_internal.h"
#include "tessera/engine/mesh.h"

static const char *const type_names[] = {
    [TSR_AXIS_AUTO] = "auto", [TSR_AXIS_EXPLICIT] = "explicit", [TSR_AXIS_MANUAL] = "manual"};

#define BLANKS " \t\n\v\f\r"

enum { TYPE_COUNT = sizeof type_names / sizeof *type_names };

const char *tsr_axis_type_name(tsr_axis_type type) {
  return (unsigned)type < TYPE_COUNT ? type_names[type] : NULL;
}

tsr_status tsr_axis_type_parse(const char *name, tsr_axis_type *out_type) {
  const char *start = name + strspn(name, BLANKS);
  size_t length = strlen(start);
  while (length && strchr(BLANKS, start[length - 1])) length--;
  for (int i = 0; i < TYPE_COUNT; i++)
    if (strlen(type_names[i]) == length && !strncasecmp(start, type_names[i], length)) {
      *out_type = (tsr_axis_type)i;
      return NULL;
    }
  return tsr_fail(UNKNOWN_AXIS_TYPE, "axis type \"%s\" is not auto, explicit or manual", name);
}

tsr_status tsr_axes_zip(const char *const *names, int name_count, const int64_t *sizes,
                        int size_count, const tsr_axis_type *types, int type_count,
                        tsr_axis *out_axes) {
  TSR_TRY(tsr_rank_check(name_count));
  if (name_count != size_count)
    return tsr_fail(MESH_RANK_MISMATCH, "%d axis names for %d axis sizes", name_count, size_count);
  if (types && type_count != name_count)
    return tsr_fail(MESH_AXIS_TYPES_MISMATCH, "%d axis types for %d axes", type_count, name_count);
  for (int i = 0; i < name_count; i++)
    if (!names[i]) return tsr_fail(MESH_AXIS_NAME_NONE, "axis %d of the mesh has no name", i);
  for (int i = 0; types && i < name_count; i++)
    if ((unsigned)types[i] >= TYPE_COUNT)
      return tsr_fail(BAD_ARGUMENT, "axis %d has type %d, wanted 0 to %d", i, (int)types[i],
                      TYPE_COUNT - 1);
  for (int i = 0; i < name_count; i++)
    out_axes[i] = (tsr_axis){names[i], sizes[i], types ? types[i] : TSR_AXIS_AUTO};
  return NULL;
}

// ---- text ----

bool tsr_is_plain_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c && strchr("_-./", c)) || (unsigned char)c >= 0x80;
}

static bool is_plain(const char *name) {
  for (const char *c = name; *c; c++)
    if (!tsr_is_plain_name(*c)) return false;
  return *name;
}

static void print_name(const char *name, tsr_text *out) {
  if (is_plain(name))
    tsr_text_add(out, name);
  else
    tsr_quote(name, out);
}

void tsr_axis_print(const tsr_axis *axis, tsr_text *out) {
  if (axis->name) {
    print_name(axis->name, out);
    tsr_text_add_char(out, '=');
  }
  tsr_text_add_int(out, axis->size);
  if (axis->type != TSR_AXIS_AUTO) tsr_text_addf(out, ":%s", tsr_axis_type_name(axis->type));
}

void tsr_axes_describe(const tsr_axis *axes, int axis_count, tsr_text *out) {
  tsr_text_add_char(out, '{');
  for (int i = 0; i < axis_count; i++) {
    if (i) tsr_text_add(out, ", ");
    tsr_axis_print(&axes[i], out);
  }
  tsr_text_add_char(out, '}');
}

void tsr_mesh_describe(const tsr_mesh *mesh, tsr_text *out) {
  tsr_axis axes[TSR_MAX_AXES];
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++) axes[i] = *tsr_mesh_axis_at(mesh, i);
  tsr_axes_describe(axes, tsr_mesh_axis_count(mesh), out);
}

// ---- names in a mesh ----

tsr_status tsr_mesh_no_axis(const tsr_mesh *mesh, const char *name) {
  tsr_suggestion near = tsr_suggestion_for(name);
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++)
    tsr_suggestion_offer(&near, tsr_mesh_axis_at(mesh, i)->name);
  tsr_text axes = TSR_TEXT_EMPTY;
  tsr_mesh_describe(mesh, &axes);
  return tsr_text_end(
      &axes, tsr_fail(UNKNOWN_MESH_AXIS, "axis \"%s\" is not in mesh %s" TSR_DID_YOU_MEAN, name,
                      tsr_text_string(&axes), TSR_SUGGESTED(near)));
}

tsr_status tsr_mesh_need_axis(const tsr_mesh *mesh, const char *name, int *out_axis) {
  if (!name) return tsr_fail(BAD_ARGUMENT, "an axis without a name");
  const int axis = tsr_mesh_axis_find(mesh, name);
  if (axis < 0) return tsr_mesh_no_axis(mesh, name);
  *out_axis = axis;
  return NULL;
}

tsr_status tsr_mesh_axes_size(const tsr_mesh *mesh, const char *const *names, int name_count,
                              int64_t *out_size) {
  int64_t size = 1;
  TSR_TRY(tsr_list_check(names, name_count, "axes"));
  for (int i = 0; i < name_count; i++) {
    int axis = 0;
    TSR_TRY(tsr_mesh_need_axis(mesh, names[i], &axis));
    if (__builtin_mul_overflow(size, tsr_mesh_axis_at(mesh, axis)->size, &size))
      return tsr_fail(OVERFLOW, "the sizes of %d axes multiply to more than 2^63", name_count);
  }
  *out_size = size;
  return NULL;
}

tsr_status tsr_mesh_axes_index(const tsr_mesh *mesh, int64_t position, const char *const *names,
                               int name_count, int64_t *out_index) {
  if (position < 0 || position >= tsr_mesh_device_count(mesh))
    return tsr_fail(INDEX_OUT_OF_RANGE, "position %lld in a mesh of %lld devices",
                    (long long)position, (long long)tsr_mesh_device_count(mesh));
  // The index is below the product of the sizes, whose overflow is checked.
  int64_t size = 0, index = 0, coords[TSR_MAX_AXES];
  TSR_TRY(tsr_mesh_axes_size(mesh, names, name_count, &size));
  tsr_mesh_coords(mesh, position, coords);
  for (int i = 0; i < name_count; i++) {
    const int axis = tsr_mesh_axis_find(mesh, names[i]);
    index = index * tsr_mesh_axis_at(mesh, axis)->size + coords[axis];
  }
  *out_index = index;
  return NULL;
}
