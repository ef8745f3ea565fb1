// Reads XLA's text of a sharding: words and attributes in braces, in any order.
//
// The text is first collected in a draft and checked at the closing brace. XLA's own parser accepts
// many meaningless texts ({replicated manual}, repeated devices, sizes that do not match); these
// fail here.
#include "tiling/tiling.h"

#include <string.h>

#include "tessera/compat/hlo.h"
#include "tessera/shape.h"
#include "tiling/tiling_internal.h"
#include "tiling/tiling_metadata.h"
#include "tiling/tiling_text.h"

typedef struct tiling_draft {
  tsr_tiling *tiling;  // its tiles as written; the rest in final form
  bool has_kind, has_device, has_tiles, has_subgroups;
} tiling_draft;

// ---- the device array ----

static tsr_status parse_devices(tsr_cursor *cursor, tiling_draft *d, int unused) {
  (void)unused;
  tsr_tiles *tiles = &d->tiling->tiles;
  if (d->has_tiles) return tsr_fail(SYNTAX, "devices= is given twice");
  d->has_tiles = true;
  TSR_TRY(tsr_cursor_expect(cursor, '='));
  TSR_TRY(tsr_tiles_parse_dims(cursor, tiles));
  if (!tsr_cursor_take(cursor, '<')) return tsr_tiles_parse_list(cursor, tiles);
  TSR_TRY(tsr_cursor_expect(cursor, '='));
  return tsr_tiles_parse_iota(cursor, tiles);
}

// ---- subgroups ----

static tsr_status add_subgroup(tiling_draft *d, tsr_subgroup kind) {
  tsr_tiles *tiles = &d->tiling->tiles;
  if (tiles->subgroup_count == TSR_MAX_TILE_DIMS)
    return tsr_fail(TOO_LARGE, "more than %d last tile dimensions", TSR_MAX_TILE_DIMS);
  tiles->subgroups[tiles->subgroup_count++] = kind;
  return NULL;
}

static tsr_status parse_subgroup(tsr_cursor *cursor, tiling_draft *d) {
  if (tsr_cursor_take_word(cursor, "replicated")) return add_subgroup(d, TSR_SUBGROUP_REPLICATED);
  if (tsr_cursor_take_word(cursor, "manual")) return add_subgroup(d, TSR_SUBGROUP_MANUAL);
  if (tsr_cursor_take_word(cursor, "unreduced")) return add_subgroup(d, TSR_SUBGROUP_UNREDUCED);
  return tsr_cursor_expected(cursor, "replicated, manual or unreduced");
}

static tsr_status start_subgroups(tiling_draft *d) {
  if (d->has_subgroups) return tsr_fail(SYNTAX, "the last tile dimensions are described twice");
  d->has_subgroups = true;
  return NULL;
}

static tsr_status parse_last_replicate(tsr_cursor *cursor, tiling_draft *d, int unused) {
  (void)cursor, (void)unused;
  TSR_TRY(start_subgroups(d));
  return add_subgroup(d, TSR_SUBGROUP_REPLICATED);
}

static tsr_status parse_last_dims(tsr_cursor *cursor, tiling_draft *d, int unused) {
  (void)unused;
  TSR_TRY(start_subgroups(d));
  TSR_TRY(tsr_cursor_expect(cursor, '='));
  TSR_TRY(tsr_cursor_expect(cursor, '{'));
  if (tsr_cursor_take(cursor, '}')) return NULL;
  do {
    TSR_TRY(parse_subgroup(cursor, d));
  } while (tsr_cursor_take(cursor, ','));
  return tsr_cursor_expect(cursor, '}');
}

// ---- words ----

static tsr_status parse_kind(tsr_cursor *cursor, tiling_draft *d, int kind) {
  (void)cursor;
  if (d->has_kind) return tsr_fail(SYNTAX, "the sharding has two kinds");
  d->has_kind = true;
  d->tiling->kind = (tsr_tiling_kind)kind;
  return NULL;
}

static tsr_status parse_device(tsr_cursor *cursor, tiling_draft *d, int unused) {
  (void)unused;
  if (d->has_device) return tsr_fail(SYNTAX, "device= is given twice");
  d->has_device = true;
  TSR_TRY(tsr_cursor_expect(cursor, '='));
  return tsr_cursor_int(cursor, &d->tiling->device);
}

static tsr_status parse_group(tsr_cursor *cursor, tiling_draft *d, int group) {
  if (d->tiling->group) return tsr_fail(SYNTAX, "the sharding is in two shard groups");
  d->tiling->group = (tsr_shard_group)group;
  return tsr_cursor_int(cursor, &d->tiling->group_id);
}

static tsr_status parse_metadata(tsr_cursor *cursor, tiling_draft *d, int unused) {
  (void)unused;
  tsr_tiling *tiling = d->tiling;
  if (tiling->metadata_count) return tsr_fail(SYNTAX, "metadata= is given twice");
  TSR_TRY(tsr_cursor_expect(cursor, '='));
  return tsr_metadata_parse(cursor, &tiling->memory, &tiling->metadata, &tiling->metadata_count);
}

// A sharding over a named mesh, after its first word.
static tsr_status parse_mesh(tsr_cursor *cursor, tiling_draft *d, int kind) {
  TSR_TRY(parse_kind(cursor, d, kind));
  TSR_TRY(tsr_tiling_parse_mesh(cursor, d->tiling));
  return tsr_cursor_peek(cursor) == '}' ? NULL : tsr_cursor_expected(cursor, "\"}\"");
}

static tsr_status parse_maximal_mesh(tsr_cursor *cursor, tiling_draft *d, int kind) {
  TSR_TRY(parse_kind(cursor, d, kind));
  d->has_device = true;
  return tsr_tiling_parse_maximal_mesh(cursor, d->tiling);
}

static const struct {
  const char *name;
  tsr_status (*parse)(tsr_cursor *cursor, tiling_draft *d, int value);
  int value;
} words[] = {
    {"device", parse_device, 0},
    {"devices", parse_devices, 0},
    {"last_tile_dim_replicate", parse_last_replicate, 0},
    {"last_tile_dims", parse_last_dims, 0},
    {"manual", parse_kind, TSR_TILING_MANUAL},
    {"maximal", parse_kind, TSR_TILING_MAXIMAL},
    {"maximal_mesh", parse_maximal_mesh, TSR_TILING_MAXIMAL},
    {"mesh", parse_mesh, TSR_TILING_TILED},
    {"metadata", parse_metadata, 0},
    {"replicated", parse_kind, TSR_TILING_REPLICATED},
    {"shard_as", parse_group, TSR_GROUP_AS},
    {"shard_like", parse_group, TSR_GROUP_LIKE},
    {"unknown", parse_kind, TSR_TILING_UNKNOWN},
    {"unreduced", parse_kind, TSR_TILING_UNREDUCED},
};

static tsr_status parse_word(tsr_cursor *cursor, tiling_draft *d) {
  tsr_cursor_peek(cursor);
  const tsr_cursor start = *cursor;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (tsr_cursor_take_word(cursor, words[i].name))
      return tsr_cursor_place_missing(&start, words[i].parse(cursor, d, words[i].value));
  return tsr_cursor_expected(cursor, "a word of XLA's sharding");
}

// ---- one sharding, and tuples of them ----

static tsr_status check_draft(tiling_draft *d) {
  tsr_tiling *tiling = d->tiling;
  tsr_tiles *tiles = &tiling->tiles;
  if (!d->has_kind && !d->has_tiles) return tsr_fail(SYNTAX, "the sharding has no devices=[...]");
  if (d->has_kind && (d->has_tiles || d->has_subgroups))
    return tsr_fail(SYNTAX, "the sharding is not tiled but has tiles");
  if (d->has_device != (d->has_kind && tiling->kind == TSR_TILING_MAXIMAL))
    return tsr_fail(SYNTAX, d->has_device ? "device= without maximal" : "maximal without device=");
  if (d->has_kind) return NULL;
  if (tiles->subgroup_count > tiles->dim_count)
    return tsr_fail(SYNTAX, "%d last tile dimensions, but the array has %d", tiles->subgroup_count,
                    tiles->dim_count);
  if (tiles->dim_count - tiles->subgroup_count > TSR_MAX_RANK)
    return tsr_fail(TOO_LARGE, "tiling of more than %d dimensions", TSR_MAX_RANK);
  return tsr_tiles_normalise(tiles, &tiling->kind);
}

// Reads up to the closing brace.
static tsr_status parse_single(tsr_cursor *cursor, tsr_tiling **out_tiling) {
  const tsr_cursor start = *cursor;
  tiling_draft d = {0};
  TSR_TRY(tsr_tiling_new(TSR_TILING_TILED, &d.tiling));
  tsr_status status = NULL;
  while (!status && !tsr_cursor_take(cursor, '}')) status = parse_word(cursor, &d);
  if (!status) status = tsr_cursor_place(&start, check_draft(&d));
  return tsr_tiling_give(status, d.tiling, out_tiling);
}

static tsr_status add_element(tsr_tiling *tuple, tsr_tiling *element) {
  tsr_tiling **elements =
      tsr_arena_grow(&tuple->memory, tuple->elements, tuple->element_count, sizeof *elements);
  if (!elements) return tsr_fail(NO_MEMORY, "tuple of %d shardings", tuple->element_count + 1);
  tuple->elements = elements;
  tuple->elements[tuple->element_count++] = element;
  return NULL;
}

static tsr_status parse_elements(tsr_cursor *cursor, tsr_tiling *tuple) {
  if (tsr_cursor_take(cursor, '}')) return NULL;
  do {
    tsr_tiling *element = NULL;
    TSR_TRY(tsr_cursor_expect(cursor, '{'));
    TSR_TRY(parse_single(cursor, &element));
    tsr_status status = add_element(tuple, element);
    if (status) {
      tsr_tiling_release(element);
      return status;
    }
  } while (tsr_cursor_take(cursor, ','));
  return tsr_cursor_expect(cursor, '}');
}

static tsr_status parse_tuple(tsr_cursor *cursor, tsr_tiling **out_tiling) {
  tsr_tiling *tuple = NULL;
  TSR_TRY(tsr_tiling_new(TSR_TILING_TUPLE, &tuple));
  return tsr_tiling_give(parse_elements(cursor, tuple), tuple, out_tiling);
}

tsr_status tsr_tiling_parse(const char *text, tsr_tiling **out_tiling) {
  tsr_cursor cursor = TSR_CURSOR("sharding", text);
  cursor.slash_comments = true;
  tsr_tiling *tiling = NULL;
  TSR_TRY(tsr_cursor_expect(&cursor, '{'));
  const char first = tsr_cursor_peek(&cursor);
  const bool tuple = first == '{' || first == '}';
  TSR_TRY(tuple ? parse_tuple(&cursor, &tiling) : parse_single(&cursor, &tiling));
  return tsr_tiling_give(tsr_cursor_end(&cursor), tiling, out_tiling);
}
