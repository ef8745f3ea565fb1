// An unpacker continues where it stopped, so reading a member in order costs one pass. Few are
// kept; the one used longest ago is destroyed first.
#include "store/packed_members.h"

#include <stdlib.h>

#include "base/grow.h"

enum { MOST_IDLE = 3 };

tsr_status tsr_packed_set_create(tsr_packed_set **out_set) {
  tsr_packed_set *set = calloc(1, sizeof *set);
  if (!set || pthread_mutex_init(&set->lock, NULL)) {
    free(set);
    return tsr_fail(NO_MEMORY, "a table of packed arrays");
  }
  pthread_cond_init(&set->freed, NULL);
  *out_set = set;
  return NULL;
}

void tsr_packed_set_destroy(tsr_packed_set *set) {
  if (!set) return;
  for (int64_t i = 0; i < set->count; i++) tsr_unpacker_destroy(set->items[i].unpacker);
  pthread_cond_destroy(&set->freed);
  pthread_mutex_destroy(&set->lock);
  free(set->items);
  free(set);
}

tsr_status tsr_packed_set_add(tsr_packed_set *set, const tsr_packed *stream, int64_t *out_item) {
  tsr_packed_item *items = tsr_grow(set->items, set->count, &set->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "a table of packed arrays");
  set->items = items;
  items[set->count] = (tsr_packed_item){.stream = *stream};
  *out_item = set->count++;
  return NULL;
}

// Destroys the idle unpacker used longest ago.
static void drop_oldest(tsr_packed_set *set) {
  tsr_packed_item *oldest = NULL;
  for (int64_t i = 0; i < set->count; i++) {
    tsr_packed_item *item = &set->items[i];
    if (!item->unpacker || item->busy) continue;
    if (!oldest || item->last_use < oldest->last_use) oldest = item;
  }
  if (!oldest) return;
  tsr_unpacker_destroy(oldest->unpacker);
  oldest->unpacker = NULL;
  set->idle--;
}

static tsr_status take(tsr_packed_set *set, tsr_packed_item *item) {
  tsr_status status = NULL;
  pthread_mutex_lock(&set->lock);
  while (item->busy) pthread_cond_wait(&set->freed, &set->lock);
  if (item->unpacker)
    set->idle--;
  else
    status = tsr_unpacker_create(&item->stream, &item->unpacker);
  item->busy = !status;
  pthread_mutex_unlock(&set->lock);
  return status;
}

static void give_back(tsr_packed_set *set, tsr_packed_item *item) {
  pthread_mutex_lock(&set->lock);
  item->busy = false;
  item->last_use = ++set->uses;
  if (++set->idle > MOST_IDLE) drop_oldest(set);
  pthread_cond_broadcast(&set->freed);
  pthread_mutex_unlock(&set->lock);
}

tsr_status tsr_packed_read(tsr_packed_set *set, int64_t item, int fd, const char *path, void *out,
                           int64_t length, int64_t offset) {
  TSR_TRY(take(set, &set->items[item]));
  tsr_status status = tsr_unpacker_read(set->items[item].unpacker, fd, path, out, length, offset);
  give_back(set, &set->items[item]);
  return tsr_note(status, "%s", path);
}
