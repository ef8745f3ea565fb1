// Lines sorted by keys. A line's keys become items (sort_items.h), which are sorted; then every
// operand moves as the items say. With several keys the last one is sorted by first: each sort
// keeps the order of the ones before among equal keys.
//
// Long lines are sorted one after another, each by several tasks; short ones many to a task.
#include "reduce/sort.h"

#include <string.h>

#include "reduce/sort_items.h"

enum {
  LONG_LINE = 1 << 17,  // elements, from which a line is sorted by several tasks
  BLOCK = 1 << 16,      // elements of such a task
  MOST_BLOCKS = 64,
  TASK_ELEMENTS = 1 << 13  // about, of a task of short lines
};

typedef struct sort_run {
  const tsr_sort *sort;
  const tsr_kernel_call *call;
  tsr_sort_space space;  // of the line that is sorted now, for long lines
  uint32_t *places;
  int64_t line;
  bool bare;
} sort_run;

// ---- memory ----

static bool is_wide(const tsr_sort *sort) {
  for (int i = 0; i < sort->key_count; i++)
    if (tsr_key_bits(sort->keys[i].order.dtype) > 32) return true;
  return false;
}

// A line of one operand that is its own key of 4 bytes: keys alone can be sorted.
static bool is_bare(const tsr_sort *sort) {
  return sort->lines.operand_count == 1 && sort->key_count == 1 &&
         sort->lines.element_bytes[0] == 4 && tsr_key_bits(sort->keys[0].order.dtype) == 32;
}

static bool is_long(const tsr_sort *sort) { return sort->lines.length >= LONG_LINE; }

static int64_t block_count(const tsr_sort *sort) {
  const int64_t blocks = is_long(sort) ? sort->lines.length / BLOCK : 1;
  return blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS;
}

static int64_t item_bytes(const tsr_sort *sort) {
  return (int64_t)(is_wide(sort) ? sizeof(tsr_sort_wide) : sizeof(tsr_sort_narrow));
}

// Two arrays of items, the places, the counts.
static int64_t line_bytes(const tsr_sort *sort) {
  return sort->lines.length * (2 * item_bytes(sort) + 4) +
         block_count(sort) * TSR_SORT_DIGITS * (int64_t)sizeof(uint32_t);
}

int64_t tsr_sort_scratch_bytes(const tsr_sort *sort) {
  return is_long(sort) ? 0 : line_bytes(sort);
}
int64_t tsr_sort_temp_bytes(const tsr_sort *sort) { return is_long(sort) ? line_bytes(sort) : 0; }

static void set_space(const tsr_sort *sort, char *memory, tsr_pool *pool, sort_run *out) {
  const int64_t bytes = sort->lines.length * item_bytes(sort);
  out->space = (tsr_sort_space){.items = memory,
                                .spare = memory + bytes,
                                .counts = (uint32_t *)(void *)(memory + 2 * bytes),
                                .blocks = block_count(sort),
                                .pool = pool};
  out->places = out->space.counts + out->space.blocks * TSR_SORT_DIGITS;
}

// ---- moving elements ----

#define MOVE(type, from, to, places, first, last, stride) \
  for (int64_t i = first; i < last; i++)                  \
  memcpy(to + i * stride * (int64_t)sizeof(type),         \
         from + (int64_t)places[i] * stride * (int64_t)sizeof(type), sizeof(type))

void tsr_sort_move_lines(const tsr_sort_lines *lines, int64_t line, const tsr_kernel_call *call,
                         const uint32_t *places, int64_t from, int64_t to) {
  const int64_t start = tsr_sort_line_start(lines, line), inner = lines->inner;
  for (int k = 0; k < lines->operand_count; k++) {
    const int bytes = lines->element_bytes[k];
    const char *source = call->inputs[k] + start * bytes;
    char *target = call->outputs[k] + start * bytes;
    if (bytes == 1)
      MOVE(uint8_t, source, target, places, from, to, inner);
    else if (bytes == 2)
      MOVE(uint16_t, source, target, places, from, to, inner);
    else if (bytes == 4)
      MOVE(uint32_t, source, target, places, from, to, inner);
    else if (bytes == 8)
      MOVE(uint64_t, source, target, places, from, to, inner);
    else
      MOVE(tsr_sort_wide, source, target, places, from, to, inner);
  }
}

// ---- one line ----

enum { KEY_CHUNK = 256 };

// Elements first .. last - 1 of the line as items of one key. `again`: in the order of `places`.
static void fill_items(const sort_run *r, const tsr_sort_key *key, bool again, int64_t first,
                       int64_t last) {
  const tsr_sort_lines *lines = &r->sort->lines;
  const int bytes = lines->element_bytes[key->operand];
  const int64_t stride = lines->inner * bytes;
  const char *line =
      r->call->inputs[key->operand] + tsr_sort_line_start(lines, r->line) * bytes + key->offset;
  const bool wide = is_wide(r->sort), wide_key = tsr_key_bits(key->order.dtype) > 32;
  for (int64_t i = first; i < last;) {
    uint64_t wides[KEY_CHUNK];
    uint32_t narrows[KEY_CHUNK];
    int64_t count = again ? 1 : last - i < KEY_CHUNK ? last - i : KEY_CHUNK;
    const char *from = line + (again ? (int64_t)r->places[i] : i) * stride;
    if (wide_key)
      tsr_keys_wide(&key->order, from, stride, count, wides);
    else
      tsr_keys_narrow(&key->order, from, stride, count, narrows);
    for (int64_t j = 0; j < count; j++, i++) {
      const uint32_t place = again ? r->places[i] : (uint32_t)i;
      if (wide)
        ((tsr_sort_wide *)r->space.items)[i] =
            (tsr_sort_wide){wide_key ? wides[j] : narrows[j], place};
      else
        ((tsr_sort_narrow *)r->space.items)[i] = (uint64_t)narrows[j] << 32 | place;
    }
  }
}

static void read_places(const sort_run *r, int64_t first, int64_t last) {
  if (is_wide(r->sort)) {
    const tsr_sort_wide *items = r->space.items;
    for (int64_t i = first; i < last; i++) r->places[i] = (uint32_t)items[i].place;
  } else {
    const tsr_sort_narrow *items = r->space.items;
    for (int64_t i = first; i < last; i++) r->places[i] = (uint32_t)items[i];
  }
}

// What tasks do to their block of a long line.
typedef struct line_part {
  const sort_run *run;
  const tsr_sort_key *key;
  bool again;
} line_part;

static int64_t part_start(const sort_run *r, int64_t block) {
  const int64_t length = r->sort->lines.length, blocks = r->space.blocks;
  const int64_t each = (length + blocks - 1) / blocks;
  return block * each < length ? block * each : length;
}

static tsr_status fill_part(void *context, int64_t block, int worker) {
  (void)worker;
  const line_part *p = context;
  fill_items(p->run, p->key, p->again, part_start(p->run, block), part_start(p->run, block + 1));
  return NULL;
}

static tsr_status read_part(void *context, int64_t block, int worker) {
  (void)worker;
  const line_part *p = context;
  read_places(p->run, part_start(p->run, block), part_start(p->run, block + 1));
  return NULL;
}

static tsr_status move_part(void *context, int64_t block, int worker) {
  (void)worker;
  const sort_run *r = ((const line_part *)context)->run;
  tsr_sort_move_lines(&r->sort->lines, r->line, r->call, r->places, part_start(r, block),
                      part_start(r, block + 1));
  return NULL;
}

// Sorts keys alone and makes the elements of them; false where keys do not have them back.
static tsr_status sort_bare(const sort_run *r, bool *out_done) {
  const tsr_sort_lines *lines = &r->sort->lines;
  const tsr_key_order *order = &r->sort->keys[0].order;
  const int64_t start = tsr_sort_line_start(lines, r->line), length = lines->length;
  const uint32_t *from = (const uint32_t *)(const void *)r->call->inputs[0] + start;
  uint32_t *to = (uint32_t *)(void *)r->call->outputs[0] + start, *keys = r->space.items;
  *out_done = lines->inner == 1 && tsr_keys_are_exact(order, from, length);
  if (!*out_done) return NULL;
  tsr_keys_narrow(order, (const char *)from, 4, length, keys);
  TSR_TRY(tsr_sort_bare_items(&r->space, length, 32));
  tsr_keys_back(order, keys, length);
  memcpy(to, keys, (size_t)length * sizeof *to);
  return NULL;
}

static tsr_status sort_line(sort_run *r) {
  const tsr_sort *sort = r->sort;
  const int64_t length = sort->lines.length, blocks = r->space.blocks;
  bool done = false;
  if (r->bare) TSR_TRY(sort_bare(r, &done));
  if (done) return NULL;
  for (int k = sort->key_count - 1; k >= 0; k--) {
    const tsr_sort_key *key = &sort->keys[k];
    line_part part = {r, key, k < sort->key_count - 1};
    const int bits = tsr_key_bits(key->order.dtype);
    TSR_TRY(tsr_pool_run(r->space.pool, blocks, fill_part, &part));
    TSR_TRY(is_wide(sort) ? tsr_sort_wide_items(&r->space, length, bits)
                          : tsr_sort_narrow_items(&r->space, length, bits));
    TSR_TRY(tsr_pool_run(r->space.pool, blocks, read_part, &part));
  }
  line_part part = {.run = r};
  return tsr_pool_run(r->space.pool, blocks, move_part, &part);
}

// ---- all lines ----

static int64_t lines_of_task(const tsr_sort_lines *lines) {
  return lines->length < TASK_ELEMENTS ? TASK_ELEMENTS / lines->length : 1;
}

static tsr_status sort_some(void *context, int64_t task, int worker) {
  const sort_run *shared = context;
  const tsr_sort_lines *lines = &shared->sort->lines;
  sort_run r = *shared;
  set_space(r.sort, tsr_kernel_scratch(r.call, worker), NULL, &r);
  const int64_t each = lines_of_task(lines), all = lines->outer * lines->inner;
  const int64_t end = (task + 1) * each < all ? (task + 1) * each : all;
  for (r.line = task * each; r.line < end; r.line++) TSR_TRY(sort_line(&r));
  return NULL;
}

tsr_status tsr_sort_run(const void *description, const tsr_kernel_call *call) {
  const tsr_sort *sort = description;
  const tsr_sort_lines *lines = &sort->lines;
  const int64_t all = lines->outer * lines->inner, each = lines->length ? lines_of_task(lines) : 1;
  sort_run r = {.sort = sort, .call = call, .bare = is_bare(sort)};
  if (!all || !lines->length) return NULL;
  if (!is_long(sort))
    return tsr_pool_run(all > each ? call->pool : NULL, (all + each - 1) / each, sort_some, &r);
  set_space(sort, call->temp, call->pool, &r);
  for (r.line = 0; r.line < all; r.line++) TSR_TRY(sort_line(&r));
  return NULL;
}
