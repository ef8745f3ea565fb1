// Calls on arrays: inputs are checked or moved to the layouts of the arguments, results are new
// arrays, donated ones give their memory.
#include <inttypes.h>
#include <stdlib.h>

#include "array/array.h"
#include "base/buffer_internal.h"
#include "base/room.h"
#include "base/sized.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "exec/shard_run.h"
#include "layout/layout_internal.h"
#include "partitioned/compiled.h"
#include "tessera/engine/array.h"
#include "tessera/own.h"

typedef struct array_call {
  const tsr_compiled *compiled;
  const tsr_partitioned *partitioned;
  tsr_call_options options;
  tsr_array *const *given;
  tsr_array **inputs;  // the given ones, or moved copies; each retained
  tsr_array **outputs;
} array_call;

// ---- inputs ----

static tsr_status wrong_layout(const tsr_partitioned_value *value, const tsr_array *array) {
  TSR_OWN(text, text);
  tsr_layout_describe(array->layout, &text);
  tsr_text_add(&text, ", expected ");
  tsr_layout_describe(value->layout, &text);
  TSR_TRY(tsr_text_check(&text));
  return tsr_fail(LAYOUTS_DIFFER,
                  "%s lies as %s; place it so (tsr_array_reshard), or call with `reshard`",
                  value->name, tsr_text_string(&text));
}

static tsr_status check_input(const array_call *call, int64_t index, bool *out_moves) {
  const tsr_partitioned_value *value = &call->partitioned->arguments[index];
  const tsr_array *array = call->given[index];
  bool same = false;
  if (!array)
    return tsr_fail(BAD_ARGUMENT, "argument %" PRId64 " (%s) is NULL", index, value->name);
  TSR_TRY_NOTE(tsr_array_check_alive(array), "argument %s", value->name);
  if (array->comm != call->compiled->comm)
    return tsr_fail(BAD_ARGUMENT, "%s is on another comm than the program", value->name);
  if (array->dtype != value->dtype)
    return tsr_fail(BAD_ARGUMENT, "%s has dtype %s, expected %s", value->name,
                    tsr_dtype_info_of(array->dtype)->name, tsr_dtype_info_of(value->dtype)->name);
  const tsr_shape shape = tsr_layout_shape(array->layout), wanted = tsr_layout_shape(value->layout);
  TSR_TRY_NOTE(tsr_shapes_check("the array", &shape, "the argument", &wanted), "%s", value->name);
  TSR_TRY(tsr_layout_equivalent(array->layout, value->layout, &same));
  *out_moves = !same;
  return same || call->options.reshard ? NULL : wrong_layout(value, array);
}

typedef struct moved_inputs {
  tsr_array **arrays, **made;
  const tsr_layout **layouts;
  int64_t *indices, count;
} moved_inputs;

static tsr_status check_inputs(const array_call *call, moved_inputs *moved) {
  const int64_t count = call->partitioned->info.argument_count;
  TSR_TRY(tsr_list_check(call->given, count, "inputs"));
  for (int64_t i = 0; i < count; i++) {
    bool moves = false;
    TSR_TRY(check_input(call, i, &moves));
    if (!moves) continue;
    moved->arrays[moved->count] = call->given[i];
    moved->layouts[moved->count] = call->partitioned->arguments[i].layout;
    moved->indices[moved->count++] = i;
  }
  return NULL;
}

static tsr_status move_inputs(array_call *call, moved_inputs *moved) {
  TSR_TRY(tsr_array_reshard_all(moved->arrays, moved->layouts, moved->count, NULL, moved->made));
  for (int64_t i = 0; i < moved->count; i++) call->inputs[moved->indices[i]] = moved->made[i];
  for (int64_t i = 0; i < call->partitioned->info.argument_count; i++)
    if (!call->inputs[i]) call->inputs[i] = tsr_array_retain(call->given[i]);
  return NULL;
}

// Ranks compare the arrays before anything moves.
static tsr_status agree(const array_call *call, tsr_status found) {
  tsr_call_arrays list = {.count = call->partitioned->info.argument_count, .arrays = call->given};
  tsr_call c = tsr_call_begin(call->compiled->comm, "call");
  tsr_call_describe(&c, "call of a program, reshard = %d, keep = %d", call->options.reshard,
                    call->options.keep);
  c.items = tsr_call_arrays_items(&list);
  return tsr_call_agree(&c, found);
}

static tsr_status take_inputs(array_call *call, tsr_status found) {
  const size_t room = (size_t)call->partitioned->info.argument_count + 1;
  tsr_arena arena = TSR_ARENA_EMPTY;
  moved_inputs moved = {.arrays = tsr_arena_zeros(&arena, room, sizeof(tsr_array *)),
                        .made = tsr_arena_zeros(&arena, room, sizeof(tsr_array *)),
                        .layouts = tsr_arena_zeros(&arena, room, sizeof(tsr_layout *)),
                        .indices = tsr_arena_zeros(&arena, room, sizeof(int64_t))};
  if (!found && !(moved.arrays && moved.made && moved.layouts && moved.indices))
    found = tsr_fail(NO_MEMORY, "%zu arguments", room);
  if (!found) found = check_inputs(call, &moved);
  tsr_status status = agree(call, found);
  if (!status && call->inputs) status = move_inputs(call, &moved);
  tsr_arena_deinit(&arena);
  return status;
}

// ---- results ----

// Whether no other argument reads the array.
static bool is_listed_once(const array_call *call, const tsr_array *array) {
  int64_t count = 0;
  for (int64_t i = 0; i < call->partitioned->info.argument_count; i++)
    count += call->inputs[i] == array;
  return count == 1;
}

// The array whose memory a result may take; NULL = none.
static tsr_array *donor_of(const array_call *call, int64_t result) {
  const int64_t donor = tsr_executable_shard_donor(call->compiled->executable, result);
  if (donor < 0 || call->options.keep || !call->partitioned->arguments[donor].donated) return NULL;
  return is_listed_once(call, call->inputs[donor]) ? call->inputs[donor] : NULL;
}

// Buffers that nobody else holds.
static void take_buffers(tsr_array *from, tsr_array *to) {
  tsr_array_drop_followers(from);
  for (int64_t i = 0; i < to->slot_count; i++) {
    tsr_array_slot *slot = &to->slots[i];
    const int64_t at = tsr_array_local_find(from, slot->device);
    if (!tsr_slot_is_leader(to, slot) || at < 0 || !from->slots[at].buffer) continue;
    if (tsr_buffer_is_writable(from->slots[at].buffer)) tsr_slot_hold(slot, &from->slots[at]);
  }
}

static tsr_status make_results(array_call *call) {
  for (int64_t i = 0; i < call->partitioned->info.result_count; i++) {
    const tsr_partitioned_value *value = &call->partitioned->results[i];
    tsr_array *donor = donor_of(call, i);
    TSR_TRY(tsr_array_alloc(call->compiled->comm, value->layout, value->dtype, &call->outputs[i]));
    if (donor) take_buffers(donor, call->outputs[i]);
    TSR_TRY(tsr_array_make_buffers(call->outputs[i]));
    tsr_array_share(call->outputs[i]);
  }
  return NULL;
}

// ---- running ----

// The shards of an array in the order of the mesh's positions; NULL on other ranks.
static void list_shards(const array_call *call, const tsr_array *array, void **out_addresses) {
  const int64_t devices = tsr_executable_device_count(call->compiled->executable);
  for (int64_t i = 0; i < devices; i++) {
    const int64_t device = tsr_mesh_device_at(call->partitioned->mesh, i);
    const int64_t at = tsr_array_local_find(array, device);
    out_addresses[i] = at < 0 ? NULL : array->slots[at].data;
  }
}

// Addresses of arguments are listed before their buffers may go to results.
static tsr_status prepare(array_call *call, tsr_arena *arena, void ***out_inputs,
                          void ***out_outputs) {
  const tsr_partitioned_info *info = &call->partitioned->info;
  const size_t devices = (size_t)tsr_executable_device_count(call->compiled->executable);
  void **inputs =
      tsr_arena_zeros(arena, ((size_t)info->argument_count + 1) * devices, sizeof *inputs);
  void **outputs =
      tsr_arena_zeros(arena, ((size_t)info->result_count + 1) * devices, sizeof *outputs);
  if (!inputs || !outputs) return tsr_fail(NO_MEMORY, "shards of %zu devices", devices);
  for (int64_t i = 0; i < info->argument_count; i++)
    list_shards(call, call->inputs[i], inputs + (size_t)i * devices);
  TSR_TRY(make_results(call));
  for (int64_t i = 0; i < info->result_count; i++)
    list_shards(call, call->outputs[i], outputs + (size_t)i * devices);
  *out_inputs = inputs;
  *out_outputs = outputs;
  return NULL;
}

static tsr_status run(array_call *call) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  void **inputs = NULL, **outputs = NULL;
  tsr_status status = prepare(call, &arena, &inputs, &outputs);
  status = tsr_array_agree(call->compiled->comm, "call", status);
  if (!status)
    status =
        tsr_executable_run_shards(call->compiled->executable, (const void *const *)inputs, outputs);
  tsr_arena_deinit(&arena);
  return status;
}

static tsr_status run_in_scope(array_call *call) {
  tsr_scope scope = 0;
  TSR_TRY(tsr_array_agree(call->compiled->comm, "call",
                          tsr_partitioned_enter(call->partitioned, &scope)));
  tsr_status status = run(call);
  if (call->partitioned->scoped) tsr_scope_leave(scope);
  return status;
}

static void delete_donated(const array_call *call) {
  for (int64_t i = 0; i < call->partitioned->info.argument_count; i++)
    if (call->partitioned->arguments[i].donated && !call->options.keep)
      tsr_array_delete(call->given[i]);
}

// ---- the call ----

static tsr_status call_on(array_call *call, tsr_status found) {
  TSR_TRY(take_inputs(call, found));
  tsr_status status = run_in_scope(call);
  delete_donated(call);
  return status;
}

tsr_status tsr_compiled_call(const tsr_compiled *compiled, tsr_array *const *inputs,
                             const tsr_call_options *options, tsr_array **outputs) {
  const tsr_partitioned_info *info = &compiled->partitioned->info;
  array_call call = {.compiled = compiled, .partitioned = compiled->partitioned, .given = inputs};
  tsr_status status = tsr_sized_read(tsr_call_options, options, &call.options);
  call.inputs = calloc((size_t)info->argument_count + 1, sizeof *call.inputs);
  call.outputs = calloc((size_t)info->result_count + 1, sizeof *call.outputs);
  if (!status && !(call.inputs && call.outputs))
    status = tsr_fail(NO_MEMORY, "%" PRId64 " arguments", info->argument_count);
  if (!status) status = tsr_list_check(outputs, info->result_count, "outputs");
  status = call_on(&call, status);
  for (int64_t i = 0; call.inputs && i < info->argument_count; i++)
    tsr_array_release(call.inputs[i]);
  for (int64_t i = 0; call.outputs && i < info->result_count; i++) {
    if (status)
      tsr_array_release(call.outputs[i]);
    else
      outputs[i] = call.outputs[i];
  }
  free(call.inputs);
  free(call.outputs);
  return status;
}
