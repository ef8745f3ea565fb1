// Boxes in and out of shards. A box is a list of copies between the box and shards (box_copies.h);
// each copy is a list of runs, which runs.c moves in few calls. Elements smaller than a byte go one
// run at a time.
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/text_internal.h"
#include "element/copy_runs.h"
#include "layout/layout.h"
#include "layout/layout_internal.h"
#include "store/runs.h"
#include "store/store.h"
#include "tessera/engine/kernels.h"

typedef struct box_io {
  tsr_store *store;
  int64_t tensor;
  const tsr_box_index *index;
  int64_t first;  // element of the tensor, for messages
  int copy;       // to read; negative = the first present
  int bits;
  char *buffer;   // of the caller; only reading changes it
  int64_t place;  // of the box in the buffer, in elements
  tsr_runs runs;  // in mode COMPARE: all copies but the one to read
} box_io;

// ---- copies that differ ----

static tsr_status find_owner(void *context, const tsr_copy *copy) {
  *(int64_t *)context = copy->source;
  return NULL;
}

static const tsr_shard_place *place_to_read(const box_io *io, int64_t shard) {
  return tsr_store_place_to_read(io->store, io->tensor, shard, io->copy);
}

// The failure that element `place` of the buffer has another value in `file`.
static tsr_status fail_copies(const box_io *io, int file, int64_t place) {
  const tsr_layout *layout = io->store->tensors[io->tensor].layout;
  tsr_range box[TSR_MAX_RANK];
  tsr_shape indices = {.rank = tsr_layout_rank(layout)};
  int64_t at = io->first + place, shard = 0;
  tsr_flat_next(layout, &at, at + 1, box);
  TSR_TRY(tsr_box_copies(io->index, box, TSR_BOX_OWNERS, find_owner, &shard));
  for (int d = 0; d < indices.rank; d++) indices.dims[d] = box[d].lo;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_shape_print(&indices, &text);
  tsr_status status = tsr_text_check(&text);
  if (!status)
    status = tsr_fail(COPIES_DIFFER, "%s and %s store element %s with different values",
                      tsr_files_path(io->store->files, place_to_read(io, shard)->file),
                      tsr_files_path(io->store->files, file), tsr_text_string(&text));
  tsr_text_deinit(&text);
  return status;
}

static tsr_status compare_run(void *context, int file, const struct iovec *run,
                              const char *stored) {
  const box_io *io = context;
  if (!memcmp(run->iov_base, stored, run->iov_len)) return NULL;
  const char *wanted = run->iov_base;
  int64_t byte = 0;
  while (wanted[byte] == stored[byte]) byte++;
  return fail_copies(io, file, (wanted - io->buffer + byte) / (io->bits / 8));
}

// ---- one copy ----

// Called for every run of a copy: `from` is in the shard, `to` in the box, in elements.
typedef tsr_status run_fn(box_io *io, const tsr_shard_place *stored, int64_t from, int64_t to,
                          int64_t length);

static tsr_status each_run(box_io *io, const tsr_shard_place *stored, const tsr_copy *copy,
                           run_fn *fn) {
  int64_t turns[TSR_MAX_RANK] = {0}, from = copy->from, to = copy->to;
  do {
    TSR_TRY(fn(io, stored, from, to, copy->length));
  } while (tsr_copy_next_run(copy, turns, &from, &to));
  return NULL;
}

static tsr_status run_of_bytes(box_io *io, const tsr_shard_place *stored, int64_t from, int64_t to,
                               int64_t length) {
  const int64_t width = io->bits / 8, bytes = length * width;
  const int64_t offset = stored->offset + from * width;
  char *place = io->buffer + (io->place + to) * width;
  // Compared runs must fit in the staging buffer.
  const int64_t most = io->runs.mode == TSR_RUNS_COMPARE ? TSR_MOST_STAGED : bytes;
  for (int64_t done = 0; done < bytes; done += most) {
    const int64_t some = bytes - done < most ? bytes - done : most;
    TSR_TRY(tsr_runs_add(&io->runs, stored->file, offset + done, place + done, some));
  }
  return NULL;
}

static tsr_status compare_bits(const box_io *io, int file, const char *stored, int64_t from,
                               int64_t to, int64_t length) {
  for (int64_t i = 0; i < length; i++) {
    unsigned char a = 0, b = 0;
    tsr_copy_run(&(tsr_copy){.from = from + i, .length = 1}, io->bits, stored, &a);
    tsr_copy_run(&(tsr_copy){.from = to + i, .length = 1}, io->bits, io->buffer, &b);
    if (a != b) return fail_copies(io, file, to + i);
  }
  return NULL;
}

// Elements smaller than a byte: the bytes of the run are read, changed and written back. Eight
// elements always end at a byte, so reading starts at a multiple of eight. Neighbours may share a
// byte with the run, so only one thread at a time writes such a tensor.
static tsr_status change_bits(box_io *io, int fd, const tsr_shard_place *stored, int64_t from,
                              int64_t to, int64_t length, char *bytes) {
  const char *path = tsr_files_path(io->store->files, stored->file);
  const int64_t aligned = from / 8 * 8, start = aligned * io->bits / 8;
  const int64_t count = ((from + length) * io->bits + 7) / 8 - start;
  TSR_TRY(tsr_io_read(fd, path, bytes, count, stored->offset + start));
  if (io->runs.mode == TSR_RUNS_COMPARE)
    return compare_bits(io, stored->file, bytes, from - aligned, io->place + to, length);
  tsr_copy copy = {.from = from - aligned, .to = io->place + to, .length = length};
  if (io->runs.mode == TSR_RUNS_READ) {
    tsr_copy_run(&copy, io->bits, bytes, io->buffer);
    return NULL;
  }
  copy = (tsr_copy){.from = io->place + to, .to = from - aligned, .length = length};
  tsr_copy_run(&copy, io->bits, io->buffer, bytes);
  return tsr_io_write(fd, path, bytes, count, stored->offset + start);
}

static tsr_status run_of_bits(box_io *io, const tsr_shard_place *stored, int64_t from, int64_t to,
                              int64_t length) {
  int fd = -1;
  char *bytes = malloc((size_t)((length + 8) * io->bits / 8 + 1));
  if (!bytes) return tsr_fail(NO_MEMORY, "%lld elements of a tensor", (long long)length);
  tsr_status status = tsr_files_take(io->store->files, stored->file, &fd);
  if (!status) {
    status = change_bits(io, fd, stored, from, to, length, bytes);
    tsr_files_give_back(io->store->files, stored->file);
  }
  free(bytes);
  return status;
}

static tsr_status move_copy(box_io *io, const tsr_shard_place *stored, const tsr_copy *copy) {
  return each_run(io, stored, copy, io->bits % 8 == 0 ? run_of_bytes : run_of_bits);
}

static tsr_status read_copy(void *context, const tsr_copy *copy) {
  box_io *io = context;
  const tsr_shard_place *stored = place_to_read(io, copy->source);
  if (stored->file < 0)
    return tsr_fail(NOT_FOUND, "no file holds shard %lld of tensor %lld", (long long)copy->source,
                    (long long)io->tensor);
  return move_copy(io, stored, copy);
}

// Writes all copies of a shard, or compares those that were not read.
static tsr_status move_all(void *context, const tsr_copy *copy) {
  box_io *io = context;
  const bool was_read = io->runs.mode == TSR_RUNS_COMPARE && copy->target == 0;
  const tsr_shard_place *read = was_read ? place_to_read(io, copy->source) : NULL;
  const int copies = io->store->tensors[io->tensor].copies;
  for (int c = 0; c < copies; c++) {
    const tsr_shard_place *stored = tsr_store_place(io->store, io->tensor, copy->source, c);
    if (stored->file >= 0 && stored != read) TSR_TRY(move_copy(io, stored, copy));
  }
  return NULL;
}

// ---- boxes and ranges ----

static tsr_status do_box(box_io *io, const tsr_range *box) {
  return io->runs.mode == TSR_RUNS_READ
             ? tsr_box_copies(io->index, box, TSR_BOX_OWNERS, read_copy, io)
             : tsr_box_copies(io->index, box, TSR_BOX_ALL, move_all, io);
}

static tsr_status do_boxes(box_io *io, int64_t count) {
  const tsr_layout *layout = io->store->tensors[io->tensor].layout;
  tsr_range box[TSR_MAX_RANK];
  for (int64_t at = io->first; at < io->first + count;) {
    io->place = at - io->first;
    tsr_flat_next(layout, &at, io->first + count, box);
    TSR_TRY(do_box(io, box));
  }
  return NULL;
}

// Moves a box, or `count` elements from `first` on if `box` is NULL.
static tsr_status move_bytes(tsr_store *store, int64_t tensor, const tsr_box_index *index,
                             tsr_runs_mode mode, const tsr_range *box, int64_t first, int64_t count,
                             int copy, const void *bytes) {
  const tsr_stored_tensor *t = &store->tensors[tensor];
  const bool packed = t->foreign && t->foreign->packed >= 0;
  box_io io = {.store = store,
               .tensor = tensor,
               .index = index,
               .first = first,
               .copy = copy,
               .bits = tsr_dtype_info_of(t->dtype)->bits,
               .buffer = (char *)(uintptr_t)bytes};
  io.runs = (tsr_runs){.mode = mode,
                       .files = store->files,
                       .compare = compare_run,
                       .context = &io,
                       .packed = packed ? store->packed : NULL,
                       .item = packed ? t->foreign->packed : 0};
  tsr_status status = tsr_runs_init(&io.runs);
  const bool locked = mode == TSR_RUNS_WRITE && io.bits % 8 != 0;
  if (locked) pthread_mutex_lock(&store->shared_bytes);
  if (!status) status = box ? do_box(&io, box) : do_boxes(&io, count);
  if (!status) status = tsr_runs_flush(&io.runs);
  if (locked) pthread_mutex_unlock(&store->shared_bytes);
  tsr_runs_deinit(&io.runs);
  return status;
}

tsr_status tsr_store_read_raw(tsr_store *store, int64_t tensor, const tsr_box_index *index,
                              const tsr_range *box, void *out) {
  return move_bytes(store, tensor, index, TSR_RUNS_READ, box, 0, 0, -1, out);
}

tsr_status tsr_store_read(tsr_store *store, int64_t tensor, const tsr_box_index *index,
                          const tsr_range *box, int copy, void *out) {
  if (store->tensors[tensor].foreign) return tsr_foreign_read(store, tensor, index, box, out);
  return move_bytes(store, tensor, index, TSR_RUNS_READ, box, 0, 0, copy, out);
}

tsr_status tsr_store_read_range(tsr_store *store, int64_t tensor, const tsr_box_index *index,
                                int64_t first, int64_t count, int copy, void *out) {
  if (store->tensors[tensor].foreign)
    return tsr_foreign_read_range(store, tensor, index, first, count, out);
  return move_bytes(store, tensor, index, TSR_RUNS_READ, NULL, first, count, copy, out);
}

tsr_status tsr_store_write(tsr_store *store, int64_t tensor, const tsr_box_index *index,
                           const tsr_range *box, const void *bytes) {
  return move_bytes(store, tensor, index, TSR_RUNS_WRITE, box, 0, 0, -1, bytes);
}

tsr_status tsr_store_write_range(tsr_store *store, int64_t tensor, const tsr_box_index *index,
                                 int64_t first, int64_t count, const void *bytes) {
  return move_bytes(store, tensor, index, TSR_RUNS_WRITE, NULL, first, count, -1, bytes);
}

tsr_status tsr_store_check_range(tsr_store *store, int64_t tensor, const tsr_box_index *index,
                                 int64_t first, int64_t count, const void *bytes) {
  return move_bytes(store, tensor, index, TSR_RUNS_COMPARE, NULL, first, count, -1, bytes);
}
