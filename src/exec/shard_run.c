// Addresses of the caller's memory: shards of devices, or whole tensors that devices have pieces
// of.
#include "exec/shard_run.h"

#include "base/arithmetic.h"
#include "base/buffer_internal.h"
#include "exec/executable_internal.h"
#include "tessera/engine/buffer.h"

static const tsr_lane_classes *classes_of(const tsr_shards *shards, int64_t index) {
  return shards ? shards[index].classes : NULL;
}

// ---- whole tensors ----

// The pieces of one tensor: `whole` has them at `starts`, `pieces` are their addresses.
typedef struct piece_copies {
  const tsr_shards *shards;
  char *whole;
  char *const *pieces;
  bool joins;
  tsr_pool *pool;  // of one copy
} piece_copies;

static tsr_status copy_piece(void *context, int64_t index, int worker) {
  const piece_copies *c = context;
  const tsr_shards *shards = c->shards;
  char *place = c->whole + shards->starts[index], *piece = c->pieces[index];
  const char *from = c->joins ? piece : place;
  (void)worker;
  return tsr_copies_apply(c->joins ? &shards->join : &shards->cut, &from, c->joins ? place : piece,
                          c->pool);
}

// Large pieces are shared among workers one by one, small ones go to a worker each.
static tsr_status copy_pieces(piece_copies *c, tsr_pool *pool) {
  enum { LEAST_SHARED = 1 << 19 };
  const int count = tsr_class_count(c->shards->classes);
  const bool large = c->shards->cut.tasks > 1;
  const bool worth = !large && c->shards->bytes * count > LEAST_SHARED;
  c->pool = large ? pool : NULL;
  return tsr_pool_run(worth ? pool : NULL, count, copy_piece, c);
}

// The addresses of the pieces of a whole tensor: in it, or memory from `*room` on, which moves.
static void place_pieces(const tsr_shards *shards, char *whole, char **room, char **out) {
  enum { ALIGNMENT = 64 };
  if (!shards || !shards->starts) {
    out[0] = whole;
    return;
  }
  const int64_t stride = (shards->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  for (int i = 0; i < tsr_class_count(shards->classes); i++) {
    out[i] = shards->is_copied ? *room : whole ? whole + shards->starts[i] : NULL;
    if (shards->is_copied && *room) *room += stride;
  }
}

tsr_status tsr_bind_whole(const tsr_schedule_run *run, tsr_buffer_pool *buffers,
                          const tsr_signature *signature, const void *const *inputs,
                          void *const *outputs) {
  const tsr_schedule *schedule = run->schedule;
  const tsr_memory_plan *plan = run->plan;
  tsr_frame *frame = run->frame;
  if (plan->piece_bytes && !frame->pieces)
    TSR_TRY(tsr_buffer_create(buffers, plan->piece_bytes, &frame->pieces));
  char *room = frame->pieces ? tsr_buffer_data(frame->pieces) : NULL;
  for (int i = 0; i < schedule->argument_count; i++) {
    const int64_t source = signature->sources[i];
    const void *input = source >= 0 ? inputs[source] : &signature->platform;
    const tsr_shards *shards = schedule->devices ? &schedule->argument_shards[i] : NULL;
    char **pieces = frame->arguments + plan->argument_addresses[i];
    place_pieces(shards, (char *)(uintptr_t)input, &room, pieces);
    if (!shards || !shards->is_copied) continue;
    piece_copies copies = {shards, (char *)(uintptr_t)input, pieces, false, NULL};
    TSR_TRY(copy_pieces(&copies, run->pool));
  }
  for (int i = 0; i < schedule->result_count; i++)
    place_pieces(schedule->devices ? &schedule->result_shards[i] : NULL, outputs[i], &room,
                 frame->results + plan->result_addresses[i]);
  return NULL;
}

tsr_status tsr_join_results(const tsr_schedule_run *run, void *const *outputs) {
  const tsr_schedule *schedule = run->schedule;
  for (int i = 0; schedule->devices && i < schedule->result_count; i++) {
    piece_copies copies = {&schedule->result_shards[i], outputs[i],
                           run->frame->results + run->plan->result_addresses[i], true, NULL};
    if (schedule->result_shards[i].is_copied) TSR_TRY(copy_pieces(&copies, run->pool));
  }
  return NULL;
}

// ---- shards ----

int64_t tsr_executable_device_count(const tsr_executable *executable) {
  return executable->schedule->devices ? executable->schedule->devices : 1;
}

int64_t tsr_executable_device(const tsr_executable *executable, int64_t position) {
  return executable->schedule->devices ? executable->schedule->device_ids[position] : position;
}

// The shards of a value of the caller; NULL if devices hold it whole, or nothing uses it.
static const tsr_shards *shards_of(const tsr_executable *e, bool is_result, int64_t index) {
  if (!e->schedule->devices) return NULL;
  if (is_result) return &e->schedule->result_shards[index];
  for (int64_t i = 0; i < e->signature.program_count; i++)
    if (e->signature.sources[i] == index) return &e->schedule->argument_shards[i];
  return NULL;
}

void tsr_executable_shard_box(const tsr_executable *executable, bool is_result, int64_t index,
                              int64_t position, int64_t *out_starts, int64_t *out_sizes) {
  const tsr_signature *signature = &executable->signature;
  const tsr_executable_value *value =
      is_result ? &signature->results[index] : &signature->arguments[index];
  const tsr_shards *shards = shards_of(executable, is_result, index);
  const tsr_shape *whole = &value->shape;
  int64_t count = 1, start = 0;
  for (int d = 0; d < whole->rank; d++) count *= whole->dims[d];
  const bool is_cut = shards && shards->starts && count;
  if (is_cut)
    start = shards->starts[tsr_class_of(shards->classes, position)] / (value->bytes / count);
  for (int d = whole->rank - 1; d >= 0; d--) {
    out_starts[d] = is_cut ? start % whole->dims[d] : 0;
    out_sizes[d] = is_cut ? shards->dims[d] : whole->dims[d];
    if (is_cut) start /= whole->dims[d];
  }
}

// Of argument `index` of the program, which the caller gives.
static int64_t argument_bytes(const tsr_executable *e, int64_t index) {
  const int64_t source = e->signature.sources[index];
  return e->schedule->devices ? e->schedule->argument_shards[index].bytes
                              : e->signature.arguments[source].bytes;
}

int64_t tsr_executable_argument_shard_bytes(const tsr_executable *executable, int64_t argument) {
  const tsr_signature *signature = &executable->signature;
  for (int64_t i = 0; i < signature->program_count; i++)
    if (signature->sources[i] == argument) return argument_bytes(executable, i);
  return 0;
}

int64_t tsr_executable_device_bytes(const tsr_executable *executable) {
  const tsr_schedule *schedule = executable->schedule;
  const tsr_signature *signature = &executable->signature;
  int64_t bytes = executable->plan.device_bytes;
  for (int64_t i = 0; i < signature->program_count; i++)
    if (signature->sources[i] >= 0) bytes = tsr_saturated_add(bytes, argument_bytes(executable, i));
  for (int64_t i = 0; i < signature->result_count; i++)
    if (executable->plan.donors[i] < 0)
      bytes = tsr_saturated_add(bytes, tsr_executable_result_shard_bytes(executable, i));
  for (int i = 0; i < schedule->slot_count; i++)
    if (schedule->slots[i].kind == TSR_SLOT_CONSTANT)
      bytes = tsr_saturated_add(bytes, schedule->slots[i].bytes);
  return bytes;
}

int64_t tsr_executable_result_shard_bytes(const tsr_executable *executable, int64_t result) {
  return executable->schedule->devices ? executable->schedule->result_shards[result].bytes
                                       : executable->signature.results[result].bytes;
}

int64_t tsr_executable_shard_donor(const tsr_executable *executable, int64_t result) {
  const int donor = executable->plan.donors[result];
  return donor < 0 ? -1 : executable->signature.sources[donor];
}

static tsr_status check_shard(const void *address, const char *what, const char *name,
                              int64_t index, int device, int64_t bytes) {
  if (address || !bytes) return NULL;
  return tsr_fail(BAD_ARGUMENT, "the shard of %s %lld (%s, %lld bytes) on device %d is NULL", what,
                  (long long)index, name, (long long)bytes, device);
}

static bool is_here(const tsr_executable *e, int device) {
  return !e->ranks || tsr_lane_is_here(e->ranks->lanes, device);
}

// Of devices that hold the same piece, the first is read.
static tsr_status bind_inputs(const tsr_executable *e, tsr_frame *frame,
                              const void *const *inputs) {
  const tsr_schedule *schedule = e->schedule;
  const int64_t devices = tsr_executable_device_count(e);
  for (int i = 0; i < schedule->argument_count; i++) {
    const int64_t source = e->signature.sources[i];
    const tsr_lane_classes *classes = classes_of(schedule->argument_shards, i);
    char **addresses = frame->arguments + e->plan.argument_addresses[i];
    for (int k = 0; k < tsr_class_count(classes); k++) {
      const int device = tsr_shard_lane(e->ranks, classes, k);
      addresses[k] = NULL;
      if (device < 0) continue;
      const void *shard = source >= 0 ? inputs[source * devices + device] : &e->signature.platform;
      addresses[k] = (char *)(uintptr_t)shard;
      if (source >= 0 && schedule->arguments[i] >= 0)
        TSR_TRY(check_shard(shard, "argument", e->signature.arguments[source].name, source, device,
                            argument_bytes(e, i)));
    }
  }
  return NULL;
}

static tsr_status bind_outputs(const tsr_executable *e, tsr_frame *frame, void *const *outputs) {
  const tsr_schedule *schedule = e->schedule;
  const int64_t devices = tsr_executable_device_count(e);
  for (int i = 0; i < schedule->result_count; i++) {
    const tsr_lane_classes *classes = classes_of(schedule->result_shards, i);
    for (int device = 0; device < devices; device++)
      if (is_here(e, device))
        TSR_TRY(check_shard(outputs[i * devices + device], "result", e->signature.results[i].name,
                            i, device, tsr_executable_result_shard_bytes(e, i)));
    for (int k = 0; k < tsr_class_count(classes); k++) {
      const int device = tsr_shard_lane(e->ranks, classes, k);
      frame->results[e->plan.result_addresses[i] + k] =
          device < 0 ? NULL : outputs[i * devices + device];
    }
  }
  return NULL;
}

// Devices with memory of their own for what others hold too.
static tsr_status copy_replicas(const tsr_executable *e, void *const *outputs) {
  const int64_t devices = tsr_executable_device_count(e);
  for (int i = 0; i < e->schedule->result_count; i++) {
    const tsr_lane_classes *classes = classes_of(e->schedule->result_shards, i);
    for (int device = 0; device < devices; device++) {
      if (!is_here(e, device)) continue;
      const int first = tsr_shard_lane(e->ranks, classes, tsr_class_of(classes, device));
      TSR_TRY(tsr_copy_shared(e->pool, outputs[i * devices + device], outputs[i * devices + first],
                              tsr_executable_result_shard_bytes(e, i)));
    }
  }
  return NULL;
}

static tsr_status bind_shards(const tsr_executable *e, tsr_frame *frame, const void *const *inputs,
                              void *const *outputs) {
  TSR_TRY(bind_inputs(e, frame, inputs));
  return bind_outputs(e, frame, outputs);
}

static tsr_status run_shards(const tsr_executable *e, tsr_frame *frame, void *const *outputs) {
  tsr_schedule_run run = tsr_executable_run_on(e, frame);
  TSR_TRY(tsr_run_schedule(&run));
  return copy_replicas(e, outputs);
}

tsr_status tsr_executable_run_shards(const tsr_executable *executable, const void *const *inputs,
                                     void *const *outputs) {
  tsr_executable *e = (tsr_executable *)(uintptr_t)executable;
  tsr_frame *frame = NULL;
  if ((e->signature.argument_count && !inputs) || (e->signature.result_count && !outputs))
    return tsr_fail(BAD_ARGUMENT, "the addresses of the shards are NULL");
  tsr_status status = tsr_executable_take_frame(e, &frame);
  if (!status) status = bind_shards(e, frame, inputs, outputs);
  if (e->ranks) status = tsr_rank_agree_begin(e->ranks, status);
  if (!status) {
    status = run_shards(e, frame, outputs);
    if (e->ranks) status = tsr_rank_agree_end(e->ranks, status);
  }
  if (frame) tsr_executable_give_frame(e, frame);
  return status;
}
