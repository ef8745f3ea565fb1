// Arrays in .npy files: every device reads its shard, and every owner writes its shard at its
// offset in the one file.
//
// Runs that are close together in the file are read at once, including the gaps: a read costs as
// much as a page.
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "base/io.h"
#include "base/status_internal.h"
#include "element/copy_runs.h"
#include "element/shape_internal.h"
#include "file/npy_header.h"
#include "file/npy_internal.h"
#include "file/replace.h"
#include "tessera/checkpoint/npy.h"
#include "tessera/engine/array.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/pool.h"

enum { BOUNCE = 1 << 20, CLOSE = 4 << 10, TEMPORARY_NAME = 4096 };

typedef struct npy_transfer {
  const tsr_array *array;
  const char *path;
  int fd;
  tsr_npy npy;
  bool writing;
  tsr_copy_vector copies;  // between an offset in the file (in elements) and a buffer
  char **slots;            // data of each slot, by local index of its device
} npy_transfer;

// ---- one copy ----

// The loops from `first` on, as a copy.
static tsr_copy inner_copy(const tsr_copy *copy, int first) {
  tsr_copy inner = *copy;
  inner.loop_count = copy->loop_count - first;
  memmove(inner.loops, copy->loops + first, sizeof *inner.loops * (size_t)inner.loop_count);
  return inner;
}

// Elements from the first to the last one in the file. Loops ascend there.
static int64_t span_of(const tsr_copy *copy) {
  int64_t span = copy->length;
  for (int i = 0; i < copy->loop_count; i++)
    span += (copy->loops[i].count - 1) * copy->loops[i].from;
  return span;
}

// The loop from which on a copy is read at once.
static int first_joined(const tsr_copy *copy, int width) {
  int first = copy->loop_count;
  for (; first > 0; first--) {
    const tsr_copy inner = inner_copy(copy, first - 1), below = inner_copy(copy, first);
    const int64_t span = span_of(&inner) * width, needed = tsr_copy_elements(&inner) * width;
    const int64_t gap = (inner.loops[0].from - span_of(&below)) * width;
    if (span > BOUNCE || (gap > CLOSE && span > 2 * needed)) break;
  }
  return first;
}

static tsr_status read_run(const npy_transfer *f, const tsr_copy *inner, char *bounce, char *data) {
  const int width = f->npy.width;
  const int64_t offset = f->npy.begin + inner->from * width;
  if (inner->loop_count == 0) {
    char *to = data + inner->to * width;
    TSR_TRY(tsr_io_read(f->fd, f->path, to, inner->length * width, offset));
    tsr_npy_swap(&f->npy, to, inner->length);
    return NULL;
  }
  const int64_t span = span_of(inner);
  tsr_copy taken = *inner;
  taken.from = 0;
  TSR_TRY(tsr_io_read(f->fd, f->path, bounce, span * width, offset));
  tsr_npy_swap(&f->npy, bounce, span);
  tsr_copy_run(&taken, 8 * width, bounce, data);
  return NULL;
}

// A range that is contiguous on both sides; `to` is the place in the file.
static tsr_status write_run(const npy_transfer *f, const tsr_copy *inner, const char *data) {
  const int width = f->npy.width;
  return tsr_io_write(f->fd, f->path, data + inner->from * width, inner->length * width,
                      f->npy.begin + inner->to * width);
}

static tsr_status file_copy(void *context, int64_t index, int worker) {
  const npy_transfer *f = context;
  const tsr_copy *copy = &f->copies.items[index];
  const int joined = f->writing ? copy->loop_count : first_joined(copy, f->npy.width);
  char *data = f->slots[tsr_comm_local_index(f->array->comm, copy->source)];
  char *bounce = joined < copy->loop_count ? malloc(BOUNCE) : NULL;
  int64_t turns[TSR_MAX_RANK] = {0};
  tsr_copy inner = inner_copy(copy, joined), outer = *copy;
  outer.loop_count = joined;
  tsr_status status = NULL;
  (void)worker;
  if (joined < copy->loop_count && !bounce) return tsr_fail(NO_MEMORY, "%d bytes", BOUNCE);
  do {
    status = f->writing ? write_run(f, &inner, data) : read_run(f, &inner, bounce, data);
  } while (!status && tsr_copy_next_run(&outer, turns, &inner.from, &inner.to));
  free(bounce);
  return status;
}

// ---- all copies of this rank ----

static tsr_status list_slots(npy_transfer *f) {
  f->slots = calloc((size_t)tsr_comm_local_count(f->array->comm) + 1, sizeof *f->slots);
  if (!f->slots) return tsr_fail(NO_MEMORY, "the buffers of an array");
  for (int64_t i = 0; i < f->array->slot_count; i++) {
    const tsr_array_slot *slot = &f->array->slots[i];
    f->slots[tsr_comm_local_index(f->array->comm, slot->device)] = slot->data;
  }
  return NULL;
}

// A shard is written by the rank of its first replica.
static bool writes(const tsr_array *array, int64_t shard) {
  const int64_t first = tsr_layout_replica_at(array->layout, shard, 0);
  return tsr_comm_rank_of(array->comm, tsr_layout_device_at(array->layout, first)) ==
         tsr_comm_rank(array->comm);
}

static tsr_status list_copies(npy_transfer *f) {
  const tsr_array *array = f->array;
  int64_t strides[TSR_MAX_RANK];
  tsr_host_view view;
  tsr_npy_strides(&f->npy, strides);
  tsr_host_view_init(&view, &f->npy.shape, NULL, strides);
  for (int64_t i = 0; i < array->slot_count; i++) {
    const tsr_array_slot *slot = &array->slots[i];
    if (!tsr_slot_is_leader(array, slot)) continue;
    if (f->writing && !writes(array, slot->shard)) continue;
    TSR_TRY(tsr_shard_copies(array->layout, slot->shard, &view,
                             f->writing ? TSR_FROM_OWNER : TSR_TO_SHARD, slot->device, &f->copies));
  }
  return NULL;
}

static tsr_status do_copies(npy_transfer *f) {
  tsr_status status = list_slots(f);
  if (!status) status = list_copies(f);
  if (!status) status = tsr_pool_run(tsr_comm_pool(f->array->comm), f->copies.count, file_copy, f);
  tsr_copy_vector_deinit(&f->copies);
  free(f->slots);
  return status;
}

// ---- reading ----

static tsr_status check_file(const tsr_layout *layout, const char *path, tsr_dtype dtype,
                             tsr_npy *npy) {
  const tsr_shape wanted = tsr_layout_shape(layout);
  if (dtype != TSR_DTYPE_NONE && !tsr_dtype_info_of(dtype))
    return tsr_fail(UNKNOWN_DTYPE, "element type %d is none of tessera/dtypes.def", (int)dtype);
  TSR_TRY(tsr_npy_open(path, npy));
  if (npy->dtype == TSR_DTYPE_NONE && dtype != TSR_DTYPE_NONE)
    TSR_TRY_NOTE(tsr_npy_set_dtype(npy, dtype), "%s", path);
  if (npy->dtype == TSR_DTYPE_NONE)
    return tsr_fail(UNKNOWN_DTYPE,
                    "%s: the file does not record the dtype of its elements of %d bytes", path,
                    npy->width);
  if (dtype != TSR_DTYPE_NONE && npy->dtype != dtype)
    return tsr_fail(BAD_ARGUMENT, "%s: elements are %s, wanted %s", path,
                    tsr_dtype_info_of(npy->dtype)->name, tsr_dtype_info_of(dtype)->name);
  return tsr_note(tsr_shapes_check("the array", &npy->shape, "the layout has", &wanted), "%s",
                  path);
}

tsr_status tsr_array_load_npy(tsr_comm *comm, const tsr_layout *layout, const char *path,
                              tsr_dtype dtype, tsr_array **out_array) {
  npy_transfer f = {.path = path, .fd = -1, .copies = TSR_COPY_VECTOR_EMPTY};
  tsr_array *array = NULL;
  TSR_TRY(check_file(layout, path, dtype, &f.npy));
  if (tsr_layout_term_count(layout) > 1)
    return tsr_fail(UNSUPPORTED, "%s: a file cannot be read into a layout with unreduced axes",
                    path);
  TSR_TRY(tsr_array_empty(comm, layout, f.npy.dtype, &array));
  f.array = array;
  tsr_status status = tsr_io_open(path, &f.fd);
  if (!status) status = do_copies(&f);
  tsr_status_free(tsr_io_close(f.fd, path));
  return tsr_array_give(status, array, out_array);
}

// ---- writing ----

// Rank 0 creates the file under a temporary name; the others get that name and write to it.
typedef struct npy_save {
  npy_transfer f;
  tsr_replacement file;
  bool begun;
  char name[TEMPORARY_NAME];
} npy_save;

static tsr_status begin_file(npy_save *s) {
  const tsr_array *array = s->f.array;
  const tsr_shape shape = tsr_layout_shape(array->layout);
  char *header = NULL;
  size_t length = 0;
  TSR_TRY_NOTE(tsr_npy_header(array->dtype, &shape, false, &header, &length), "%s", s->f.path);
  tsr_status status = tsr_npy_parse(header, length, &s->f.npy);
  if (!status && tsr_comm_rank(array->comm) == 0) {
    status = tsr_replacement_begin(&s->file, s->f.path);
    s->begun = !status;
    if (!status) status = tsr_replacement_write(&s->file, header, (int64_t)length, 0);
    if (!status) status = tsr_io_reserve(s->file.fd, s->f.path, s->f.npy.end);
    if (!status && strlen(s->file.temporary) >= TEMPORARY_NAME)
      status = tsr_fail(TOO_LARGE, "%s: the name is too long", s->f.path);
    if (!status) strcpy(s->name, s->file.temporary);
  }
  free(header);
  return status;
}

static tsr_status share_name(npy_save *s) {
  tsr_comm *comm = s->f.array->comm;
  const int ranks = tsr_comm_rank_count(comm);
  if (ranks == 1) return NULL;
  char *names = malloc(TEMPORARY_NAME * (size_t)ranks);
  tsr_status status =
      tsr_array_agree(comm, "save", names ? NULL : tsr_fail(NO_MEMORY, "%d file names", ranks));
  if (!status && names) {  // an allocation failure was reported by agree
    status = tsr_comm_share(comm, s->name, TEMPORARY_NAME, names);
    if (!status) memcpy(s->name, names, TEMPORARY_NAME);
  }
  free(names);
  return status;
}

static tsr_status write_pieces(npy_save *s) {
  if (s->begun) {
    s->f.fd = s->file.fd;
    return do_copies(&s->f);
  }
  TSR_TRY(tsr_io_create(s->name, &s->f.fd));
  tsr_status status = do_copies(&s->f);
  return tsr_status_first(status, tsr_io_close(s->f.fd, s->f.path));
}

static tsr_status save(const tsr_array *array, const char *path) {
  npy_save s = {.f = {.array = array, .path = path, .fd = -1, .writing = true}};
  tsr_status status = tsr_array_agree(array->comm, "save", begin_file(&s));
  if (!status) status = share_name(&s);
  if (!status) status = tsr_array_agree(array->comm, "save", write_pieces(&s));
  const bool written = !status;
  if (s.begun) status = tsr_replacement_end(&s.file, status);
  return written ? tsr_array_agree(array->comm, "save", status) : status;
}

tsr_status tsr_array_save_npy(tsr_array *array, const char *path) {
  tsr_array *reduced = NULL;
  tsr_call_arrays list = TSR_CALL_ARRAY(array);
  tsr_call c = tsr_call_begin(array->comm, "save_npy");
  tsr_call_describe(&c, "save_npy of \"%s\"", path);
  tsr_call_hash(&c, path, strlen(path));
  c.items = tsr_call_arrays_items(&list);
  TSR_TRY(tsr_call_agree(&c, tsr_array_check_alive(array)));
  TSR_TRY(tsr_array_reduce(array, &reduced));
  tsr_status status = save(reduced, path);
  tsr_array_release(reduced);
  return status;
}
