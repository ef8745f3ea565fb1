// The primitives and tables of an artifact that is written: see write_internal.h.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "bytecode/write_internal.h"

// ---- primitives ----

// The trailing zero bits of the first byte count the further bytes; after nine zero bits come
// eight plain bytes.
void tsr_put_varint(tsr_text *out, uint64_t value) {
  int further = 0;
  while (further < 8 && value >> (7 * (further + 1))) further++;
  if (further == 8) {
    tsr_text_add_char(out, 0);
  } else {
    value = value << (further + 1) | (uint64_t)1 << further;
    further++;
  }
  for (int i = 0; i < further; i++) tsr_text_add_char(out, (char)(value >> (8 * i)));
}

void tsr_put_svarint(tsr_text *out, int64_t value) {
  tsr_put_varint(out, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

void tsr_put_flagged(tsr_text *out, uint64_t value, bool flag) {
  tsr_put_varint(out, value << 1 | flag);
}

// Narrow integers are zero-extended, also negative ones.
void tsr_put_bits(tsr_text *out, int bits, int64_t value) {
  if (bits < 64) value = (int64_t)((uint64_t)value & (((uint64_t)1 << bits) - 1));
  if (bits <= 8) {
    tsr_text_add_char(out, (char)value);
  } else if (bits <= 64) {
    tsr_put_svarint(out, value);
  } else {
    const int words = (bits + 63) / 64;
    tsr_put_varint(out, (uint64_t)words);
    const int64_t above = value < 0 ? -1 : 0;
    for (int i = 0; i < words; i++) tsr_put_svarint(out, i ? above : value);
  }
}

// ---- tables ----

static bool same_stored(const void *item, const void *wanted) {
  const tsr_stored_entry *a = item, *b = wanted;
  return a->dialect == b->dialect && a->is_text == b->is_text && a->head_length == b->head_length &&
         a->blob_length == b->blob_length &&
         (!a->head_length || !memcmp(a->head, b->head, a->head_length)) &&
         (!a->blob_length || a->blob == b->blob || !memcmp(a->blob, b->blob, a->blob_length));
}

static uint64_t hash_of(const tsr_stored_entry *stored, uint64_t hash) {
  hash ^= 0xcbf29ce484222325u + (uint64_t)stored->dialect;
  for (size_t i = 0; i < stored->head_length; i++)
    hash = (hash ^ (unsigned char)stored->head[i]) * 0x100000001b3u;
  return hash ^ hash >> 29;
}

static tsr_status add_stored(tsr_emitter *emitter, tsr_entry_table *table,
                             const tsr_stored_entry *wanted, uint64_t hash, int64_t *out_index) {
  tsr_stored_entry *stored = tsr_arena_alloc(&emitter->arena, sizeof *stored);
  TSR_NEED(stored);
  *stored = *wanted;
  stored->head = tsr_arena_copy(&emitter->arena, wanted->head, wanted->head_length);
  TSR_NEED(stored->head);
  stored->index = table->count;
  void *items = tsr_grow(table->items, table->count, &table->capacity, sizeof *table->items);
  TSR_NEED(items);
  table->items = items;
  if (!tsr_intern_add(&table->by_content, hash, stored))
    return tsr_fail(NO_MEMORY, "memory of a program");
  table->items[table->count++] = stored;
  *out_index = stored->index;
  return NULL;
}

tsr_status tsr_emit_store_blob(tsr_emitter *emitter, tsr_entry_table *table,
                               tsr_stored_entry *stored, size_t start, uint64_t hash,
                               int64_t *out_index) {
  tsr_text *scratch = &emitter->scratch;
  TSR_TRY(tsr_text_check(scratch));
  stored->head_length = scratch->length - start;
  stored->head = scratch->data ? scratch->data + start : "";
  hash = hash_of(stored, hash);
  const tsr_stored_entry *found = tsr_intern_find(&table->by_content, hash, same_stored, stored);
  if (found)
    *out_index = found->index;
  else
    TSR_TRY(add_stored(emitter, table, stored, hash, out_index));
  scratch->length = start;
  return NULL;
}

tsr_status tsr_emit_store(tsr_emitter *emitter, tsr_entry_table *table, tsr_code_dialect dialect,
                          size_t start, int64_t *out_index) {
  tsr_stored_entry stored = {.dialect = dialect};
  return tsr_emit_store_blob(emitter, table, &stored, start, 0, out_index);
}

tsr_status tsr_emit_string(tsr_emitter *emitter, const char *bytes, size_t length,
                           int64_t *out_index) {
  const size_t start = emitter->scratch.length;
  tsr_text_add_bytes(&emitter->scratch, bytes, length);
  return tsr_emit_store(emitter, &emitter->strings, TSR_DIALECT_BUILTIN, start, out_index);
}

// ---- indices by address ----

// The slot of a key, or the free one where it belongs.
static tsr_remembered *find_slot(const tsr_index_memory *memo, const void *key, int variant) {
  const uint64_t hash = ((uint64_t)(uintptr_t)key >> 3) * 0x9e3779b97f4a7c15u + (uint64_t)variant;
  for (uint64_t i = hash ^ hash >> 32;; i++) {
    tsr_remembered *slot = &memo->slots[i & memo->mask];
    if (!slot->key || (slot->key == key && slot->variant == variant)) return slot;
  }
}

static bool grow_memory(tsr_index_memory *memo) {
  tsr_index_memory larger = {.mask = memo->slots ? 2 * memo->mask + 1 : 255, .count = memo->count};
  larger.slots = calloc(larger.mask + 1, sizeof *larger.slots);
  if (!larger.slots) return false;
  for (uint64_t i = 0; memo->slots && i <= memo->mask; i++)
    if (memo->slots[i].key)
      *find_slot(&larger, memo->slots[i].key, memo->slots[i].variant) = memo->slots[i];
  free(memo->slots);
  *memo = larger;
  return true;
}

int64_t tsr_emit_recall(const tsr_emitter *emitter, const void *key, int variant) {
  if (!emitter->memo.slots) return -1;
  const tsr_remembered *slot = find_slot(&emitter->memo, key, variant);
  return slot->key ? slot->index : -1;
}

tsr_status tsr_emit_remember(tsr_emitter *emitter, const void *key, int variant, int64_t index) {
  tsr_index_memory *memo = &emitter->memo;
  if ((!memo->slots || 2 * memo->count >= memo->mask) && !grow_memory(memo))
    return tsr_fail(NO_MEMORY, "memory of a program");
  *find_slot(memo, key, variant) = (tsr_remembered){key, index, variant};
  memo->count++;
  return NULL;
}

void tsr_emit_deinit(tsr_emitter *emitter) {
  tsr_entry_table *tables[] = {&emitter->strings,    &emitter->attrs,    &emitter->types,
                               &emitter->properties, &emitter->op_names, &emitter->resources};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    free(tables[i]->items);
    tsr_intern_deinit(&tables[i]->by_content);
  }
  free(emitter->memo.slots);
  tsr_text_deinit(&emitter->scratch);
  tsr_arena_deinit(&emitter->arena);
}

tsr_status tsr_emit_allow(const tsr_emitter *emitter, const char *what, int since) {
  if (since <= emitter->version) return NULL;
  return tsr_fail(UNSUPPORTED, "%s is in StableHLO %d.%d.0 and later, not in %d.%d.0", what,
                  TSR_VERSION_ARGUMENTS(since), TSR_VERSION_ARGUMENTS(emitter->version));
}
