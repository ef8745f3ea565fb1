// eformer's mesh text: "dp:2,tp:4" with names, or "2,4" in the order of the names given beside it.
// Names are not trimmed, numbers are read as Python reads them.
#include <string.h>

#include "base/cursor.h"
#include "mesh/dims.h"
#include "mesh/mesh_build_internal.h"
#include "tessera/compat/eformer_mesh.h"

// ---- Python's int() ----

static bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 28 && c <= 31);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// value * 10 + digit, staying at the largest value instead of passing it.
static int64_t push_digit(int64_t value, char digit) {
  if (__builtin_mul_overflow(value, 10, &value) ||
      __builtin_add_overflow(value, digit - '0', &value))
    return INT64_MAX;
  return value;
}

tsr_status tsr_python_int(const char *text, size_t length, int64_t *out_value) {
  const char *at = text, *end = text + length;
  while (at < end && is_space(*at)) at++;
  while (end > at && is_space(end[-1])) end--;
  const bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) at++;
  bool well_formed = at < end;
  int64_t value = 0;
  for (const char *c = at; c < end && well_formed; c++) {
    if (is_digit(*c)) {
      value = push_digit(value, *c);
    } else {
      well_formed = *c == '_' && c > at && is_digit(c[-1]) && c + 1 < end;
    }
  }
  if (!well_formed)
    return tsr_fail(NOT_AN_INTEGER, "\"%.*s\" is not an integer", (int)length, text);
  *out_value = negative ? -value : value;
  return NULL;
}

// ---- the text ----

typedef struct mesh_word {
  const char *start;
  size_t length;
} mesh_word;

// Sizes in the order of the text, and for each the name it belongs to.
typedef struct mesh_sizes {
  const char *const *names;
  int name_count, count;
  int64_t sizes[TSR_MAX_AXES];
  const char *chosen[TSR_MAX_AXES];
} mesh_sizes;

// The piece up to the next separator; moves `rest` behind it, to NULL at the end.
static mesh_word next_piece(const char **rest, char separator) {
  const char *start = *rest, *end = strchr(start, separator);
  *rest = end ? end + 1 : NULL;
  return (mesh_word){start, end ? (size_t)(end - start) : strlen(start)};
}

static const char *find_name(const mesh_sizes *found, mesh_word name) {
  for (int i = 0; i < found->name_count; i++)
    if (strlen(found->names[i]) == name.length && !memcmp(found->names[i], name.start, name.length))
      return found->names[i];
  return NULL;
}

static tsr_status read_named(mesh_sizes *found, mesh_word piece, const char **out_name,
                             int64_t *out_size) {
  const char *colon = memchr(piece.start, ':', piece.length);
  const mesh_word name = {piece.start, colon ? (size_t)(colon - piece.start) : 0};
  const mesh_word size = {colon ? colon + 1 : piece.start,
                          piece.length - name.length - (colon ? 1 : 0)};
  if (!colon || memchr(size.start, ':', size.length))
    return tsr_fail(SYNTAX, "\"%.*s\" is not name:size", (int)piece.length, piece.start);
  *out_name = find_name(found, name);
  if (!*out_name)
    return tsr_fail(NAME_NOT_ALLOWED, "axis name \"%.*s\" is not among those allowed",
                    (int)name.length, name.start);
  return tsr_python_int(size.start, size.length, out_size);
}

static tsr_status read_pieces(mesh_sizes *found, tsr_cursor *cursor) {
  const bool named = strchr(cursor->start, ':');
  for (const char *rest = cursor->start; rest;) {
    cursor->at = rest;
    const mesh_word piece = next_piece(&rest, ',');
    const char *name = NULL;
    int64_t size = 0;
    if (named) {
      TSR_TRY(read_named(found, piece, &name, &size));
    } else {
      TSR_TRY(tsr_python_int(piece.start, piece.length, &size));
      name = found->count < found->name_count ? found->names[found->count] : NULL;
    }
    if (found->count < TSR_MAX_AXES) {
      found->sizes[found->count] = size;
      found->chosen[found->count] = name;
    }
    found->count++;
  }
  return NULL;
}

static tsr_status check_names(const mesh_sizes *found, bool named) {
  for (int i = 0; named && i < found->name_count; i++) {
    bool used = false;
    for (int k = 0; k < found->count && k < TSR_MAX_AXES; k++)
      used = used || !strcmp(found->chosen[k], found->names[i]);
    if (!used) return tsr_fail(NAME_MISSING, "axis name \"%s\" is not used", found->names[i]);
  }
  if (found->count != found->name_count)
    return tsr_fail(MESH_RANK_MISMATCH, "%d axis sizes for %d axis names", found->count,
                    found->name_count);
  return tsr_rank_check(found->count);
}

tsr_status tsr_eformer_parse_mesh(const tsr_topology *topology, const char *text,
                                  const char *const *names, int name_count, tsr_mesh **out_mesh) {
  mesh_sizes found = {.names = names, .name_count = name_count};
  tsr_cursor cursor = TSR_CURSOR("mesh", text);
  TSR_TRY(tsr_cursor_place_missing(&cursor, read_pieces(&found, &cursor)));
  TSR_TRY(tsr_cursor_note(&cursor, check_names(&found, strchr(text, ':'))));
  const tsr_eformer_mesh_options options = {.size = sizeof options,
                                            .axis_dims = found.sizes,
                                            .axis_dim_count = found.count,
                                            .axis_names = found.chosen,
                                            .axis_name_count = found.count};
  return tsr_eformer_create_mesh(topology, &options, out_mesh);
}
