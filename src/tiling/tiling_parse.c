// XLA's text of a sharding: words and attributes in braces, in any order.
//
// What the text says is first collected in a draft and judged when the closing brace is reached:
// XLA's own parser takes many texts that mean nothing ({replicated manual}, repeated devices, sizes
// that do not match); those are refused here.
#include "tiling/tiling.h"

#include <string.h>

#include "tiling/tiling_internal.h"
#include "tessera/compat/hlo.h"
#include "tessera/shape.h"
#include "tiling/tiling_metadata.h"
#include "tiling/tiling_text.h"

typedef struct draft {
  tsr_tiling *tiling;  // its tiles as written; the rest in final form
  bool has_kind, has_device, has_tiles, has_subgroups;
} draft;

// ---- the device array ----

static tsr_status parse_devices(tsr_scan *scan, draft *d) {
  tsr_tiles *tiles = &d->tiling->tiles;
  if (d->has_tiles) return tsr_fail(SYNTAX, "devices= is given twice");
  d->has_tiles = true;
  TSR_TRY(tsr_scan_expect(scan, '='));
  TSR_TRY(tsr_tiles_parse_dims(scan, tiles));
  if (!tsr_scan_take(scan, '<')) return tsr_tiles_parse_list(scan, tiles);
  TSR_TRY(tsr_scan_expect(scan, '='));
  return tsr_tiles_parse_iota(scan, tiles);
}

// ---- subgroups ----

static tsr_status add_subgroup(draft *d, tsr_subgroup kind) {
  tsr_tiles *tiles = &d->tiling->tiles;
  if (tiles->subgroup_count == TSR_MAX_TILE_DIMS)
    return tsr_fail(TOO_LARGE, "more than %d last tile dimensions", TSR_MAX_TILE_DIMS);
  tiles->subgroups[tiles->subgroup_count++] = kind;
  return NULL;
}

static bool word_is(const char *word, size_t length, const char *name) {
  return strlen(name) == length && !memcmp(word, name, length);
}

static tsr_status parse_subgroup(tsr_scan *scan, draft *d) {
  tsr_scan_peek(scan);
  const char *at = scan->at;
  size_t length = 0;
  const char *word = tsr_scan_word(scan, &length);
  if (word_is(word, length, "replicated")) return add_subgroup(d, TSR_SUBGROUP_REPLICATED);
  if (word_is(word, length, "manual")) return add_subgroup(d, TSR_SUBGROUP_MANUAL);
  if (word_is(word, length, "unreduced")) return add_subgroup(d, TSR_SUBGROUP_UNREDUCED);
  scan->at = at;
  return tsr_scan_fail(scan, "replicated, manual or unreduced");
}

static tsr_status start_subgroups(draft *d) {
  if (d->has_subgroups) return tsr_fail(SYNTAX, "the last tile dimensions are described twice");
  d->has_subgroups = true;
  return NULL;
}

static tsr_status parse_last_replicate(tsr_scan *scan, draft *d) {
  (void)scan;
  TSR_TRY(start_subgroups(d));
  return add_subgroup(d, TSR_SUBGROUP_REPLICATED);
}

static tsr_status parse_last_dims(tsr_scan *scan, draft *d) {
  TSR_TRY(start_subgroups(d));
  TSR_TRY(tsr_scan_expect(scan, '='));
  TSR_TRY(tsr_scan_expect(scan, '{'));
  if (tsr_scan_take(scan, '}')) return NULL;
  do {
    TSR_TRY(parse_subgroup(scan, d));
  } while (tsr_scan_take(scan, ','));
  return tsr_scan_expect(scan, '}');
}

// ---- words ----

static tsr_status set_kind(draft *d, tsr_tiling_kind kind) {
  if (d->has_kind) return tsr_fail(SYNTAX, "a sharding of two kinds");
  d->has_kind = true;
  d->tiling->kind = kind;
  return NULL;
}

static tsr_status parse_replicated(tsr_scan *scan, draft *d) {
  (void)scan;
  return set_kind(d, TSR_TILING_REPLICATED);
}

static tsr_status parse_manual(tsr_scan *scan, draft *d) {
  (void)scan;
  return set_kind(d, TSR_TILING_MANUAL);
}

static tsr_status parse_unknown(tsr_scan *scan, draft *d) {
  (void)scan;
  return set_kind(d, TSR_TILING_UNKNOWN);
}

static tsr_status parse_unreduced(tsr_scan *scan, draft *d) {
  (void)scan;
  return set_kind(d, TSR_TILING_UNREDUCED);
}

static tsr_status parse_maximal(tsr_scan *scan, draft *d) {
  (void)scan;
  return set_kind(d, TSR_TILING_MAXIMAL);
}

static tsr_status parse_device(tsr_scan *scan, draft *d) {
  if (d->has_device) return tsr_fail(SYNTAX, "device= is given twice");
  d->has_device = true;
  TSR_TRY(tsr_scan_expect(scan, '='));
  return tsr_scan_int(scan, &d->tiling->device);
}

static tsr_status parse_group(tsr_scan *scan, draft *d, tsr_shard_group group) {
  if (d->tiling->group) return tsr_fail(SYNTAX, "a sharding in two shard groups");
  d->tiling->group = group;
  return tsr_scan_int(scan, &d->tiling->group_id);
}

static tsr_status parse_shard_as(tsr_scan *scan, draft *d) {
  return parse_group(scan, d, TSR_GROUP_AS);
}

static tsr_status parse_shard_like(tsr_scan *scan, draft *d) {
  return parse_group(scan, d, TSR_GROUP_LIKE);
}

static tsr_status parse_metadata(tsr_scan *scan, draft *d) {
  tsr_tiling *tiling = d->tiling;
  if (tiling->metadata_count) return tsr_fail(SYNTAX, "metadata= is given twice");
  TSR_TRY(tsr_scan_expect(scan, '='));
  return tsr_metadata_parse(scan, &tiling->memory, &tiling->metadata, &tiling->metadata_count);
}

// The whole of a sharding over a named mesh, of which this is the first word.
static tsr_status parse_mesh(tsr_scan *scan, draft *d) {
  TSR_TRY(set_kind(d, TSR_TILING_TILED));
  TSR_TRY(tsr_tiling_parse_mesh(scan, d->tiling));
  return tsr_scan_peek(scan) == '}' ? NULL : tsr_scan_fail(scan, "'}'");
}

static tsr_status parse_maximal_mesh(tsr_scan *scan, draft *d) {
  TSR_TRY(set_kind(d, TSR_TILING_MAXIMAL));
  d->has_device = true;
  return tsr_tiling_parse_maximal_mesh(scan, d->tiling);
}

static const struct {
  const char *name;
  tsr_status (*parse)(tsr_scan *scan, draft *d);
} words[] = {
    {"device", parse_device},
    {"devices", parse_devices},
    {"last_tile_dim_replicate", parse_last_replicate},
    {"last_tile_dims", parse_last_dims},
    {"manual", parse_manual},
    {"maximal", parse_maximal},
    {"maximal_mesh", parse_maximal_mesh},
    {"mesh", parse_mesh},
    {"metadata", parse_metadata},
    {"replicated", parse_replicated},
    {"shard_as", parse_shard_as},
    {"shard_like", parse_shard_like},
    {"unknown", parse_unknown},
    {"unreduced", parse_unreduced},
};

static tsr_status parse_word(tsr_scan *scan, draft *d) {
  tsr_scan_peek(scan);
  const char *at = scan->at;
  size_t length = 0;
  const char *word = tsr_scan_word(scan, &length);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (word_is(word, length, words[i].name)) return words[i].parse(scan, d);
  scan->at = at;
  return tsr_scan_fail(scan, "a word of XLA's sharding");
}

// ---- one sharding, and tuples of them ----

static tsr_status judge(draft *d) {
  tsr_tiling *tiling = d->tiling;
  tsr_tiles *tiles = &tiling->tiles;
  if (!d->has_kind && !d->has_tiles) return tsr_fail(SYNTAX, "a sharding without devices=[...]");
  if (d->has_kind && (d->has_tiles || d->has_subgroups))
    return tsr_fail(SYNTAX, "a sharding that is not tiled, yet has tiles");
  if (d->has_device != (d->has_kind && tiling->kind == TSR_TILING_MAXIMAL))
    return tsr_fail(SYNTAX, d->has_device ? "device= without maximal" : "maximal without device=");
  if (d->has_kind) return NULL;
  if (tiles->subgroup_count > tiles->dim_count)
    return tsr_fail(SYNTAX, "%d last tile dimensions of %d", tiles->subgroup_count,
                    tiles->dim_count);
  if (tiles->dim_count - tiles->subgroup_count > TSR_MAX_RANK)
    return tsr_fail(TOO_LARGE, "tiling of more than %d dimensions", TSR_MAX_RANK);
  return tsr_tiles_normalise(tiles, &tiling->kind);
}

// What stands between braces, the closing one included.
static tsr_status parse_single(tsr_scan *scan, tsr_tiling **out_tiling) {
  draft d = {0};
  TSR_TRY(tsr_tiling_new(TSR_TILING_TILED, &d.tiling));
  tsr_status status = NULL;
  while (!status && !tsr_scan_take(scan, '}')) status = parse_word(scan, &d);
  if (!status) status = judge(&d);
  if (status) {
    tsr_tiling_release(d.tiling);
    return status;
  }
  *out_tiling = d.tiling;
  return NULL;
}

static tsr_status add_element(tsr_tiling *tuple, int *capacity, tsr_tiling *element) {
  if (tuple->element_count == *capacity) {
    const int grown = *capacity ? 2 * *capacity : 4;
    tsr_tiling **elements = tsr_arena_zeros(&tuple->memory, (size_t)grown, sizeof *elements);
    if (!elements) return tsr_fail(NO_MEMORY, "tuple of %d shardings", grown);
    if (*capacity) memcpy(elements, tuple->elements, sizeof *elements * (size_t)*capacity);
    tuple->elements = elements;
    *capacity = grown;
  }
  tuple->elements[tuple->element_count++] = element;
  return NULL;
}

static tsr_status parse_elements(tsr_scan *scan, tsr_tiling *tuple) {
  int capacity = 0;
  if (tsr_scan_take(scan, '}')) return NULL;
  do {
    tsr_tiling *element = NULL;
    TSR_TRY(tsr_scan_expect(scan, '{'));
    TSR_TRY_NOTE(parse_single(scan, &element), "in element %d of the tuple", tuple->element_count);
    tsr_status status = add_element(tuple, &capacity, element);
    if (status) {
      tsr_tiling_release(element);
      return status;
    }
  } while (tsr_scan_take(scan, ','));
  return tsr_scan_expect(scan, '}');
}

static tsr_status parse_tuple(tsr_scan *scan, tsr_tiling **out_tiling) {
  tsr_tiling *tuple = NULL;
  TSR_TRY(tsr_tiling_new(TSR_TILING_TUPLE, &tuple));
  tsr_status status = parse_elements(scan, tuple);
  if (status) {
    tsr_tiling_release(tuple);
    return status;
  }
  *out_tiling = tuple;
  return NULL;
}

tsr_status tsr_tiling_parse(const char *text, tsr_tiling **out_tiling) {
  tsr_scan scan = TSR_SCAN(text);
  scan.comments = true;
  tsr_tiling *tiling = NULL;
  TSR_TRY(tsr_scan_expect(&scan, '{'));
  const char first = tsr_scan_peek(&scan);
  const bool tuple = first == '{' || first == '}';
  TSR_TRY(tuple ? parse_tuple(&scan, &tiling) : parse_single(&scan, &tiling));
  tsr_status status = tsr_scan_end(&scan);
  if (status) {
    tsr_tiling_release(tiling);
    return status;
  }
  *out_tiling = tiling;
  return NULL;
}
