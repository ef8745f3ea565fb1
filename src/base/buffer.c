// A released block goes into one of the pool's bins, four per power of two of its size. A request
// tries the few newest blocks of its own bin and the next: a block that is up to half as large
// again but has its pages is better than a fresh one of the exact size. All idle blocks are also in
// one list by age; the oldest are freed first.
#include "tessera/buffer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buffer_internal.h"
#include "base/memory.h"
#include "base/sized.h"
#include "tessera/engine/buffer.h"

enum { ALIGNMENT = 64, HUGE_ALIGNMENT = 2 << 20, HUGE_FROM = 4 << 20 };
enum { BINS = 4 * 63, MOST_LOOKS = 16 };

typedef struct neighbours {
  struct tsr_buffer *before, *after;
} neighbours;

struct tsr_buffer {
  atomic_int refs;
  bool borrowed, writable;
  int64_t bytes, capacity;
  void *data;
  void *block;              // what to give back; NULL when borrowed
  tsr_buffer_pool *pool;    // held while the buffer is in use; NULL = none
  tsr_release_fn *release;  // of borrowed memory
  void *context;
  neighbours bin, age;  // while idle
};

typedef struct line {
  tsr_buffer *first, *last;
} line;

struct tsr_buffer_pool {
  atomic_int refs;
  tsr_allocate_fn *allocate;  // NULL = the system's
  tsr_free_fn *release;
  void *context;
  pthread_mutex_t mutex;  // guards all below
  int64_t most_idle, idle, in_use, peak;
  line ages;  // newest first
  line bins[BINS];
};

// ---- lines ----

#define LINE_PUSH(line_, buffer_, link_)                          \
  do {                                                            \
    (buffer_)->link_ = (neighbours){NULL, (line_)->first};        \
    if ((line_)->first) (line_)->first->link_.before = (buffer_); \
    if (!(line_)->last) (line_)->last = (buffer_);                \
    (line_)->first = (buffer_);                                   \
  } while (0)

#define LINE_REMOVE(line_, buffer_, link_)                         \
  do {                                                             \
    tsr_buffer *const before_ = (buffer_)->link_.before;           \
    tsr_buffer *const after_ = (buffer_)->link_.after;             \
    *(before_ ? &before_->link_.after : &(line_)->first) = after_; \
    *(after_ ? &after_->link_.before : &(line_)->last) = before_;  \
  } while (0)

// The bin of a size: its power of two, and which quarter of the way to the next.
static int bin_of(int64_t bytes) {
  if (bytes < 4) return 0;
  const int power = 63 - __builtin_clzll((unsigned long long)bytes);
  return 4 * power + (int)(bytes >> (power - 2) & 3);
}

static void take_out(tsr_buffer_pool *pool, tsr_buffer *buffer) {
  line *bin = &pool->bins[bin_of(buffer->capacity)];
  LINE_REMOVE(bin, buffer, bin);
  LINE_REMOVE(&pool->ages, buffer, age);
  pool->idle -= buffer->capacity;
}

// `pool` is where it is from; NULL = none.
static void destroy(tsr_buffer *buffer, const tsr_buffer_pool *pool) {
  if (pool && pool->release)
    pool->release(pool->context, buffer->block, buffer->capacity);
  else
    free(buffer->block);
  free(buffer);
}

// ---- pools ----

static int64_t quarter_of_memory(void) {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? (int64_t)pages * size / 4 : INT64_C(1) << 30;
}

static tsr_status read_options(const tsr_buffer_pool_options *given,
                               tsr_buffer_pool_options *out_options) {
  TSR_TRY(tsr_sized_read(tsr_buffer_pool_options, given, out_options));
  if (out_options->most_idle < 0)
    return tsr_fail(BAD_ARGUMENT, "pool that keeps %lld bytes, wanted 0 or more",
                    (long long)out_options->most_idle);
  if (out_options->keep_none && out_options->most_idle > 0)
    return tsr_fail(BAD_ARGUMENT, "keep_none and most_idle %lld, wanted one of them",
                    (long long)out_options->most_idle);
  if (!out_options->allocate != !out_options->release)
    return tsr_fail(BAD_ARGUMENT, "the allocator has no function `%s`, wanted both or neither",
                    out_options->allocate ? "release" : "allocate");
  return NULL;
}

static int64_t most_idle_of(const tsr_buffer_pool_options *options) {
  if (options->keep_none) return 0;
  return options->most_idle ? options->most_idle : quarter_of_memory();
}

tsr_status tsr_buffer_pool_create(const tsr_buffer_pool_options *options,
                                  tsr_buffer_pool **out_pool) {
  tsr_buffer_pool_options checked;
  TSR_TRY(read_options(options, &checked));
  tsr_buffer_pool *pool = calloc(1, sizeof *pool);
  if (!pool) return tsr_fail(NO_MEMORY, "pool of buffers");
  atomic_init(&pool->refs, 1);
  pthread_mutex_init(&pool->mutex, NULL);
  pool->most_idle = most_idle_of(&checked);
  pool->allocate = checked.allocate;
  pool->release = checked.release;
  pool->context = checked.context;
  *out_pool = pool;
  return NULL;
}

tsr_buffer_pool *tsr_buffer_pool_retain(tsr_buffer_pool *pool) {
  if (pool) atomic_fetch_add_explicit(&pool->refs, 1, memory_order_relaxed);
  return pool;
}

// Takes the oldest out while more than `most` bytes are idle; they are freed outside the lock.
static tsr_buffer *take_surplus(tsr_buffer_pool *pool, int64_t most) {
  tsr_buffer *surplus = NULL;
  while (pool->idle > most && pool->ages.last) {
    tsr_buffer *oldest = pool->ages.last;
    take_out(pool, oldest);
    oldest->age.after = surplus;
    surplus = oldest;
  }
  return surplus;
}

static void destroy_all(tsr_buffer *buffer, const tsr_buffer_pool *pool) {
  while (buffer) {
    // A buffer that was taken out is in no other list, which the analyser cannot know.
    tsr_buffer *next = buffer->age.after;  // NOLINT(clang-analyzer-unix.Malloc)
    destroy(buffer, pool);
    buffer = next;
  }
}

void tsr_buffer_pool_trim(tsr_buffer_pool *pool, int64_t most_idle) {
  pthread_mutex_lock(&pool->mutex);
  tsr_buffer *surplus = take_surplus(pool, most_idle);
  pthread_mutex_unlock(&pool->mutex);
  destroy_all(surplus, pool);
}

void tsr_buffer_pool_release(tsr_buffer_pool *pool) {
  if (!pool || atomic_fetch_sub_explicit(&pool->refs, 1, memory_order_acq_rel) != 1) return;
  tsr_buffer_pool_trim(pool, 0);
  pthread_mutex_destroy(&pool->mutex);
  free(pool);
}

static int64_t read_locked(tsr_buffer_pool *pool, const int64_t *value) {
  pthread_mutex_lock(&pool->mutex);
  const int64_t found = *value;
  pthread_mutex_unlock(&pool->mutex);
  return found;
}

int64_t tsr_buffer_pool_idle(tsr_buffer_pool *pool) { return read_locked(pool, &pool->idle); }
int64_t tsr_buffer_pool_in_use(tsr_buffer_pool *pool) { return read_locked(pool, &pool->in_use); }
int64_t tsr_buffer_pool_peak(tsr_buffer_pool *pool) { return read_locked(pool, &pool->peak); }

// ---- making ----

// Never 0: an empty buffer counts too, or a pool would not know that it has one to give back.
static int64_t capacity_for(int64_t bytes) {
  return bytes ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
}

static tsr_status no_memory(int64_t bytes) {
  return tsr_fail(NO_MEMORY, "buffer of %lld bytes", (long long)bytes);
}

static tsr_status allocate_from_system(tsr_buffer *buffer) {
  const size_t capacity = (size_t)buffer->capacity;
  const size_t alignment = buffer->bytes >= HUGE_FROM ? HUGE_ALIGNMENT : ALIGNMENT;
  buffer->block = malloc(capacity + alignment);
  if (!buffer->block) return no_memory(buffer->bytes);
  buffer->data = (void *)(((uintptr_t)buffer->block + alignment - 1) / alignment * alignment);
  tsr_memory_prefer_huge(buffer->data, capacity);
  return NULL;
}

static tsr_status allocate_from_caller(tsr_buffer *buffer, tsr_buffer_pool *pool) {
  buffer->block = pool->allocate(pool->context, buffer->capacity, ALIGNMENT);
  if (!buffer->block && tsr_buffer_pool_idle(pool) > 0) {
    tsr_buffer_pool_trim(pool, 0);
    buffer->block = pool->allocate(pool->context, buffer->capacity, ALIGNMENT);
  }
  if (!buffer->block) return no_memory(buffer->bytes);
  buffer->data = buffer->block;
  const int off = (int)((uintptr_t)buffer->block % ALIGNMENT);
  if (off == 0) return NULL;
  pool->release(pool->context, buffer->block, buffer->capacity);
  return tsr_fail(BAD_ARGUMENT,
                  "the pool's allocator gave %lld bytes at an address %d bytes after a multiple of "
                  "%d, wanted such a multiple",
                  (long long)buffer->capacity, off, ALIGNMENT);
}

static tsr_status allocate(tsr_buffer_pool *pool, int64_t bytes, tsr_buffer **out_buffer) {
  tsr_buffer *buffer = calloc(1, sizeof *buffer);
  if (!buffer) return no_memory(bytes);
  buffer->bytes = bytes;
  buffer->capacity = capacity_for(bytes);
  buffer->writable = true;
  tsr_status status =
      pool && pool->allocate ? allocate_from_caller(buffer, pool) : allocate_from_system(buffer);
  if (status)
    free(buffer);
  else
    *out_buffer = buffer;
  return status;
}

static tsr_buffer *find_in_bin(const line *bin, int64_t bytes) {
  tsr_buffer *buffer = bin->first;
  for (int looks = 0; buffer && looks < MOST_LOOKS; looks++, buffer = buffer->bin.after)
    if (buffer->capacity >= bytes) return buffer;
  return NULL;
}

static tsr_buffer *take_idle(tsr_buffer_pool *pool, int64_t bytes) {
  const int bin = bin_of(capacity_for(bytes));
  pthread_mutex_lock(&pool->mutex);
  tsr_buffer *buffer = find_in_bin(&pool->bins[bin], bytes);
  if (!buffer && bin + 1 < BINS) buffer = find_in_bin(&pool->bins[bin + 1], bytes);
  if (buffer) take_out(pool, buffer);
  pthread_mutex_unlock(&pool->mutex);
  return buffer;
}

static void count_use(tsr_buffer_pool *pool, int64_t bytes) {
  pthread_mutex_lock(&pool->mutex);
  pool->in_use += bytes;
  if (pool->in_use > pool->peak) pool->peak = pool->in_use;
  pthread_mutex_unlock(&pool->mutex);
}

tsr_status tsr_buffer_create(tsr_buffer_pool *pool, int64_t bytes, tsr_buffer **out_buffer) {
  if (bytes < 0 || bytes > INT64_MAX / 2)
    return tsr_fail(TOO_LARGE, "buffer of %lld bytes, wanted 0 to 2^62", (long long)bytes);
  tsr_buffer *buffer = pool ? take_idle(pool, bytes) : NULL;
  if (!buffer) TSR_TRY(allocate(pool, bytes, &buffer));
  buffer->bytes = bytes;
  buffer->pool = tsr_buffer_pool_retain(pool);
  atomic_init(&buffer->refs, 1);
  if (pool) count_use(pool, buffer->capacity);
  *out_buffer = buffer;
  return NULL;
}

tsr_status tsr_buffer_wrap(void *data, int64_t bytes, bool writable, tsr_release_fn *release,
                           void *context, tsr_buffer **out_buffer) {
  if (bytes < 0 || (!data && bytes > 0))
    return tsr_fail(BAD_ARGUMENT, "%lld bytes of borrowed memory at %s", (long long)bytes,
                    data ? "an address" : "no address");
  tsr_buffer *buffer = calloc(1, sizeof *buffer);
  if (!buffer) return tsr_fail(NO_MEMORY, "borrowed buffer");
  *buffer = (tsr_buffer){.borrowed = true,
                         .writable = writable,
                         .bytes = bytes,
                         .data = data,
                         .release = release,
                         .context = context};
  atomic_init(&buffer->refs, 1);
  *out_buffer = buffer;
  return NULL;
}

// ---- sharing ----

tsr_buffer *tsr_buffer_retain(tsr_buffer *buffer) {
  if (buffer) atomic_fetch_add_explicit(&buffer->refs, 1, memory_order_relaxed);
  return buffer;
}

static void give_back(tsr_buffer *buffer) {
  tsr_buffer_pool *pool = buffer->pool;
  buffer->pool = NULL;
  pthread_mutex_lock(&pool->mutex);
  pool->in_use -= buffer->capacity;
  pool->idle += buffer->capacity;
  line *bin = &pool->bins[bin_of(buffer->capacity)];
  LINE_PUSH(bin, buffer, bin);
  LINE_PUSH(&pool->ages, buffer, age);
  tsr_buffer *surplus = take_surplus(pool, pool->most_idle);
  pthread_mutex_unlock(&pool->mutex);
  destroy_all(surplus, pool);
  tsr_buffer_pool_release(pool);
}

void tsr_buffer_release(tsr_buffer *buffer) {
  if (!buffer || atomic_fetch_sub_explicit(&buffer->refs, 1, memory_order_acq_rel) != 1) return;
  if (buffer->pool) {
    give_back(buffer);
    return;
  }
  if (buffer->release) buffer->release(buffer->context, buffer->data);
  destroy(buffer, NULL);
}

void *tsr_buffer_data(const tsr_buffer *buffer) { return buffer->data; }
int64_t tsr_buffer_bytes(const tsr_buffer *buffer) { return buffer->bytes; }
bool tsr_buffer_is_borrowed(const tsr_buffer *buffer) { return buffer->borrowed; }

int64_t tsr_buffer_holders(const tsr_buffer *buffer) {
  return atomic_load_explicit(&buffer->refs, memory_order_acquire);
}

bool tsr_buffer_is_writable(const tsr_buffer *buffer) {
  return buffer->writable && tsr_buffer_holders(buffer) == 1;
}
