// Routes that were found before.
//
// Where only elements are counted, the best route depends on the shape only through which products
// of axes divide its sizes: all such products divide the number of devices, so the greatest common
// divisor of the two is all there is to know. Seconds and memory caps depend on the size too.
#include "sequence/sequence_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/gcd.h"
#include "sequence/sequence_internal.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/sequence.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/status.h"

enum { BUCKETS = 256 };

typedef struct entry {
  struct entry *next;
  const tsr_mesh *mesh;
  tsr_route route;
  int key_length;
  int64_t key[];
} entry;

struct tsr_sequence_cache {
  pthread_mutex_t lock;
  int64_t asked, known;
  entry *buckets[BUCKETS];
};

tsr_status tsr_sequence_cache_create(tsr_sequence_cache **out_cache) {
  tsr_sequence_cache *cache = calloc(1, sizeof *cache);
  if (!cache) return tsr_fail(NO_MEMORY, "a cache of sequences");
  pthread_mutex_init(&cache->lock, NULL);
  *out_cache = cache;
  return NULL;
}

static void entry_destroy(entry *known) {
  tsr_mesh_release(known->mesh);
  tsr_route_deinit(&known->route);
  free(known);
}

void tsr_sequence_cache_destroy(tsr_sequence_cache *cache) {
  if (!cache) return;
  for (int i = 0; i < BUCKETS; i++)
    for (entry *next, *known = cache->buckets[i]; known; known = next) {
      next = known->next;
      entry_destroy(known);
    }
  pthread_mutex_destroy(&cache->lock);
  free(cache);
}

void tsr_sequence_cache_counts(tsr_sequence_cache *cache, int64_t *out_asked, int64_t *out_known) {
  pthread_mutex_lock(&cache->lock);
  *out_asked = cache->asked;
  *out_known = cache->known;
  pthread_mutex_unlock(&cache->lock);
}

// ---- keys ----

typedef struct key {
  int count;
  int64_t words[16 + TSR_MAX_RANK + 2 * (TSR_MAX_RANK + 2 + 3 * TSR_MAX_PARTS)];
} key;

static void key_add(key *to, int64_t word) { to->words[to->count++] = word; }

static void key_add_spread(key *to, const tsr_spread *spread) {
  for (int l = 0; l < spread->rank + 2; l++) key_add(to, spread->first[l]);
  for (int i = 0; i < spread->first[spread->rank + 1]; i++) {
    key_add(to, spread->parts[i].axis);
    key_add(to, spread->parts[i].pre);
    key_add(to, spread->parts[i].size);
  }
}

static void key_init(key *made, const tsr_change_job *job, tsr_sequence_method method) {
  const bool sized = tsr_mesh_topology(job->mesh) || job->memory_cap;
  made->count = 0;
  key_add(made, method);
  key_add(made, job->shape.rank);
  key_add(made, job->expansion_cap);
  key_add(made, job->memory_cap);
  key_add(made, sized ? job->elements : job->elements != 0);
  key_add(made, sized ? job->bits : 0);
  for (int d = 0; d < job->shape.rank; d++)
    key_add(made, tsr_gcd(job->shape.dims[d], tsr_mesh_device_count(job->mesh)));
  key_add_spread(made, &job->from);
  key_add_spread(made, &job->to);
}

static entry **find_bucket(tsr_sequence_cache *cache, const key *wanted) {
  return &cache->buckets[tsr_hash64(wanted->words, sizeof(int64_t) * (size_t)wanted->count, 0) %
                         BUCKETS];
}

// ---- asking and telling ----

static const entry *find_entry(const entry *known, const tsr_mesh *mesh, const key *wanted) {
  for (; known; known = known->next)
    if (known->key_length == wanted->count &&
        !memcmp(known->key, wanted->words, sizeof(int64_t) * (size_t)wanted->count) &&
        tsr_mesh_topology(known->mesh) == tsr_mesh_topology(mesh) &&
        tsr_mesh_equal(known->mesh, mesh))
      return known;
  return NULL;
}

tsr_status tsr_sequence_cache_find(tsr_sequence_cache *cache, const tsr_change_job *job,
                                   tsr_sequence_method method, tsr_route *out_route,
                                   bool *out_found) {
  key wanted;
  key_init(&wanted, job, method);
  tsr_status status = NULL;
  pthread_mutex_lock(&cache->lock);
  const entry *known = find_entry(*find_bucket(cache, &wanted), job->mesh, &wanted);
  cache->asked++;
  cache->known += known != NULL;
  if (known) status = tsr_route_copy(&known->route, out_route);
  pthread_mutex_unlock(&cache->lock);
  *out_found = known && !status;
  if (*out_found) out_route->expansions = 0;
  return status;
}

tsr_status tsr_sequence_cache_add(tsr_sequence_cache *cache, const tsr_change_job *job,
                                  tsr_sequence_method method, const tsr_route *route) {
  key made;
  key_init(&made, job, method);
  const size_t key_bytes = sizeof(int64_t) * (size_t)made.count;
  entry *known = malloc(sizeof *known + key_bytes);
  if (!known) return tsr_fail(NO_MEMORY, "a remembered sequence");
  *known = (entry){.key_length = made.count};
  tsr_status status = tsr_route_copy(route, &known->route);
  if (status) {
    free(known);
    return status;
  }
  memcpy(known->key, made.words, key_bytes);
  known->mesh = tsr_mesh_retain(job->mesh);
  pthread_mutex_lock(&cache->lock);
  // Another thread may have found it meanwhile; one of the two is enough.
  entry **bucket = find_bucket(cache, &made);
  const bool twice = find_entry(*bucket, job->mesh, &made);
  if (!twice) {
    known->next = *bucket;
    *bucket = known;
  }
  pthread_mutex_unlock(&cache->lock);
  if (twice) entry_destroy(known);
  return NULL;
}
