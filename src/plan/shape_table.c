// A hash table over shapes, with keys and values in two lists.
#include "plan/shape_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "tessera/engine/hash.h"

static bool is_key(const tsr_shape_key *key, uint64_t number, const tsr_tensor *tensor) {
  return key->number == number && key->tensor->rank == tensor->rank &&
         !memcmp(key->tensor->dims, tensor->dims, sizeof *tensor->dims * (size_t)tensor->rank);
}

static bool add(tsr_shape_table *table, uint64_t hash, tsr_shape_key key) {
  const int64_t count = table->slots.count;
  tsr_shape_key *keys = tsr_grow(table->keys, count, &table->key_capacity, sizeof *keys);
  if (keys) table->keys = keys;
  char *values = tsr_grow(table->values, count, &table->value_capacity, table->value_size);
  if (values) table->values = values;
  if (!keys || !values || !tsr_hash_slots_add(&table->slots, hash)) return false;
  keys[count] = key;
  memset(values + (size_t)count * table->value_size, 0, table->value_size);
  return true;
}

void *tsr_shape_table_value(tsr_shape_table *table, uint64_t number, const tsr_tensor *tensor,
                            bool *out_new) {
  const size_t bytes = sizeof *tensor->dims * (size_t)tensor->rank;
  const uint64_t hash = tsr_hash64(tensor->dims, bytes, number);
  size_t step = 0;
  int64_t at = -1;
  while ((at = tsr_hash_slots_probe(&table->slots, hash, &step)) >= 0 &&
         !is_key(&table->keys[at], number, tensor)) {
  }
  *out_new = at < 0;
  if (*out_new) {
    at = table->slots.count;
    if (!add(table, hash, (tsr_shape_key){number, tensor})) return NULL;
  }
  return table->values + (size_t)at * table->value_size;
}

void tsr_shape_table_deinit(tsr_shape_table *table) {
  tsr_hash_slots_deinit(&table->slots);
  free(table->keys);
  free(table->values);
  *table = (tsr_shape_table){.value_size = table->value_size};
}
