// The public executable: compiled once, run by any threads.
//
// Each run takes a frame, the memory of a run, from a list of idle ones, or makes one; so as many
// frames exist as runs were going on at once, and a run of a small program allocates nothing.
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/buffer_internal.h"
#include "base/pool_internal.h"
#include "base/sized.h"
#include "base/text_internal.h"
#include "exec/executable_internal.h"
#include "exec/shard_run.h"
#include "program/program_internal.h"
#include "syntax/syntax.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/own.h"

// ---- figures ----

static int64_t total_bytes(const tsr_executable_value *values, int64_t count) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < count; i++)
    if (__builtin_add_overflow(bytes, values[i].bytes, &bytes)) return INT64_MAX;
  return bytes;
}

static void count_list(const tsr_step_list *list, tsr_executable_info *info) {
  for (const tsr_schedule_step *step = list->first; step; step = step->next) {
    int64_t sum = 0;
    if (!step->list_count) {
      info->flops = __builtin_add_overflow(info->flops, step->flops, &sum) ? INT64_MAX : sum;
      info->bytes_moved =
          __builtin_add_overflow(info->bytes_moved, step->bytes, &sum) ? INT64_MAX : sum;
    }
    for (int i = 0; i < step->list_count; i++) count_list(&step->lists[i], info);
  }
}

// The bytes of the shards that are on this rank.
static int64_t bytes_here(const tsr_executable *e, const tsr_shards *shards, int count) {
  int64_t bytes = 0;
  for (int i = 0; i < count; i++) {
    const tsr_class_places *places = tsr_rank_places_find(e->ranks->lanes, shards[i].classes);
    bytes = tsr_saturated_add(bytes, tsr_saturated_multiply(shards[i].bytes, places->here_count));
  }
  return bytes;
}

static void count(tsr_executable *e) {
  tsr_executable_info *info = &e->info;
  const tsr_schedule *schedule = e->schedule;
  info->size = sizeof *info;
  info->argument_count = e->signature.argument_count;
  info->result_count = e->signature.result_count;
  info->argument_bytes = total_bytes(e->signature.arguments, info->argument_count);
  info->result_bytes = total_bytes(e->signature.results, info->result_count);
  if (e->ranks) {
    info->argument_bytes = bytes_here(e, schedule->argument_shards, schedule->argument_count);
    info->result_bytes = bytes_here(e, schedule->result_shards, schedule->result_count);
  }
  for (int i = 0; i < schedule->slot_count; i++)
    if (schedule->slots[i].kind == TSR_SLOT_CONSTANT)
      info->constant_bytes = tsr_saturated_add(info->constant_bytes, e->plan.bytes[i]);
  int64_t scratch = 0;
  if (__builtin_mul_overflow(e->plan.scratch_bytes, tsr_pool_workers(e->pool), &scratch) ||
      __builtin_add_overflow(scratch, e->plan.arena_bytes, &info->temporary_bytes))
    info->temporary_bytes = INT64_MAX;
  info->piece_bytes = e->ranks ? 0 : e->plan.piece_bytes;  // no tensor is whole there
  info->temporary_bytes = tsr_saturated_add(info->temporary_bytes, info->piece_bytes);
  info->work_bytes = info->temporary_bytes - e->plan.value_bytes - info->piece_bytes;
  const int64_t parts[] = {info->argument_bytes, info->result_bytes, info->constant_bytes,
                           info->temporary_bytes};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (__builtin_add_overflow(info->peak_bytes, parts[i], &info->peak_bytes)) {
      info->peak_bytes = INT64_MAX;
      break;
    }
  for (int64_t i = 0; i < info->result_count; i++)
    if (e->plan.donors[i] >= 0 && info->peak_bytes != INT64_MAX)
      info->peak_bytes -=
          e->ranks ? bytes_here(e, &schedule->result_shards[i], 1) : e->signature.results[i].bytes;
  info->device_count = tsr_executable_device_count(e);
  info->device_bytes = tsr_executable_device_bytes(e);
  info->step_count = schedule->step_count;
  info->op_count = schedule->op_count;
  count_list(&schedule->steps, info);
}

static tsr_status write_peak(tsr_executable *e) {
  const tsr_memory_plan *plan = &e->plan;
  tsr_arena *arena = &e->schedule->arena;
  e->peak_texts = tsr_arena_zeros(arena, (size_t)plan->peak_count + 1, sizeof(char *));
  TSR_NEED(e->peak_texts);
  for (int i = 0; i < plan->peak_count; i++) {
    const int root = plan->peak[i];
    const tsr_value *value = e->schedule->slots[root].value;
    TSR_OWN(text, text);
    tsr_text_addf(&text, "%lld bytes ", (long long)plan->bytes[root]);
    if (value) {
      tsr_type_print(value->type, &text);
      tsr_text_addf(&text, " of %s", value->def ? value->def->name : "an argument");
    } else {
      tsr_text_add(&text, plan->work[root] ? "for the work of a step" : "carried by a loop");
    }
    TSR_TRY(tsr_text_check(&text));
    const char *string = tsr_text_string(&text);
    e->peak_texts[i] = tsr_arena_copy(arena, string, strlen(string));
    TSR_NEED(e->peak_texts[i]);
  }
  return NULL;
}

static tsr_status check_memory(const tsr_executable *e, int64_t max_memory) {
  if (!max_memory || e->info.peak_bytes <= max_memory) return NULL;
  TSR_OWN(text, list);
  for (int i = 0; i < e->plan.peak_count; i++) tsr_text_addf(&list, "\n  %s", e->peak_texts[i]);
  TSR_TRY(tsr_text_check(&list));
  return tsr_fail(TOO_LARGE,
                  "the program needs %lld bytes, more than %lld: arguments %lld, results %lld, "
                  "constants %lld, temporary %lld; the largest that live at once:%s",
                  (long long)e->info.peak_bytes, (long long)max_memory,
                  (long long)e->info.argument_bytes, (long long)e->info.result_bytes,
                  (long long)e->info.constant_bytes, (long long)e->info.temporary_bytes,
                  tsr_text_string(&list));
}

// ---- compiling ----

static tsr_status open_pools(tsr_executable *e, const tsr_compile_options *options) {
  e->comm = options->comm ? tsr_comm_retain(options->comm) : NULL;
  e->pool = options->pool;
  if (!e->pool && e->comm && !options->workers) e->pool = tsr_comm_pool(e->comm);
  if (!e->pool) {
    TSR_TRY(tsr_pool_create(options->workers, &e->own_pool));
    e->pool = e->own_pool;
  }
  if (options->buffers) {
    e->buffers = tsr_buffer_pool_retain(options->buffers);
    return NULL;
  }
  return tsr_buffer_pool_create(NULL, &e->buffers);
}

static bool is_over_ranks(const tsr_compile_options *options) {
  return options->comm && tsr_comm_rank_count(options->comm) > 1;
}

static tsr_status compile(tsr_executable *e, const tsr_compile_options *options) {
  const double start = tsr_seconds_now();
  if (options->max_memory < 0)
    return tsr_fail(BAD_ARGUMENT, "max_memory is %lld, wanted 0 or more",
                    (long long)options->max_memory);
  tsr_ir *ir = tsr_program_copy_ir(e->program);
  if (!ir) return tsr_fail(NO_MEMORY, "memory of a program");
  TSR_TRY(tsr_lower_program(ir, &e->schedule));
  TSR_TRY(tsr_signature_read(e->program, options->platform, &e->schedule->arena, &e->signature));
  if (is_over_ranks(options)) TSR_TRY(tsr_rank_plan_create(e->schedule, options->comm, &e->ranks));
  TSR_TRY(tsr_plan_memory(e->schedule, e->signature.aliased, e->ranks, &e->plan));
  TSR_TRY(open_pools(e, options));
  count(e);
  TSR_TRY(write_peak(e));
  TSR_TRY(check_memory(e, options->max_memory));
  e->info.compile_seconds = tsr_seconds_now() - start;
  return NULL;
}

tsr_status tsr_executable_compile(const tsr_program *program, const tsr_compile_options *given,
                                  tsr_executable **out_executable) {
  tsr_compile_options options;
  TSR_TRY(tsr_sized_read(tsr_compile_options, given, &options));
  tsr_executable *e = calloc(1, sizeof *e);
  if (!e) return tsr_fail(NO_MEMORY, "memory of an executable");
  atomic_init(&e->references, 1);
  pthread_mutex_init(&e->mutex, NULL);  // cannot fail with these attributes
  e->program = tsr_program_retain(program);
  tsr_status status = compile(e, &options);
  if (is_over_ranks(&options))
    status = tsr_rank_agree_program(options.comm, program, &options, status);
  if (status)
    tsr_executable_release(e);
  else
    *out_executable = e;
  return status;
}

tsr_executable *tsr_executable_retain(const tsr_executable *executable) {
  tsr_executable *shared = (tsr_executable *)(uintptr_t)executable;
  atomic_fetch_add(&shared->references, 1);
  return shared;
}

void tsr_executable_release(const tsr_executable *executable) {
  tsr_executable *e = (tsr_executable *)(uintptr_t)executable;
  if (!e || atomic_fetch_sub(&e->references, 1) > 1) return;
  while (e->idle) {
    tsr_frame *next = e->idle->next;
    tsr_frame_destroy(e->idle);
    e->idle = next;
  }
  tsr_rank_plan_destroy(e->ranks);
  tsr_comm_release(e->comm);
  tsr_schedule_destroy(e->schedule);
  tsr_pool_destroy(e->own_pool);
  tsr_buffer_pool_release(e->buffers);
  tsr_program_release(e->program);
  pthread_mutex_destroy(&e->mutex);
  free(e);
}

// ---- what it takes, gives and costs ----

tsr_status tsr_executable_describe(const tsr_executable *executable,
                                   tsr_executable_info *out_info) {
  TSR_TRY(tsr_sized_check(tsr_executable_info, out_info));
  tsr_sized_fill(tsr_executable_info, &executable->info, out_info);
  return NULL;
}

static tsr_status give_value(const tsr_executable_value *values, int64_t count, int64_t index,
                             const char *what, tsr_executable_value *out) {
  TSR_TRY(tsr_sized_check(tsr_executable_value, out));
  if (index < 0 || index >= count)
    return tsr_fail(INDEX_OUT_OF_RANGE, "%s %lld, the executable has %lld", what, (long long)index,
                    (long long)count);
  tsr_sized_fill(tsr_executable_value, &values[index], out);
  return NULL;
}

tsr_status tsr_executable_argument(const tsr_executable *executable, int64_t index,
                                   tsr_executable_value *out_argument) {
  const tsr_signature *signature = &executable->signature;
  return give_value(signature->arguments, signature->argument_count, index, "argument",
                    out_argument);
}

tsr_status tsr_executable_result(const tsr_executable *executable, int64_t index,
                                 tsr_executable_value *out_result) {
  const tsr_signature *signature = &executable->signature;
  return give_value(signature->results, signature->result_count, index, "result", out_result);
}

int64_t tsr_executable_peak_count(const tsr_executable *executable) {
  return executable->plan.peak_count;
}

tsr_status tsr_executable_peak_at(const tsr_executable *executable, int64_t index,
                                  int64_t *out_bytes, const char **out_text) {
  const tsr_memory_plan *plan = &executable->plan;
  if (index < 0 || index >= plan->peak_count)
    return tsr_fail(INDEX_OUT_OF_RANGE, "value %lld, there are %d", (long long)index,
                    plan->peak_count);
  *out_bytes = plan->bytes[plan->peak[index]];
  *out_text = executable->peak_texts[index];
  return NULL;
}

// ---- running ----

tsr_status tsr_executable_take_frame(tsr_executable *e, tsr_frame **out_frame) {
  pthread_mutex_lock(&e->mutex);
  tsr_frame *frame = e->idle;
  if (frame) e->idle = frame->next;
  pthread_mutex_unlock(&e->mutex);
  *out_frame = frame;
  if (frame) return NULL;
  return tsr_frame_create(e->schedule, &e->plan, e->buffers, tsr_pool_workers(e->pool), out_frame);
}

void tsr_executable_give_frame(tsr_executable *e, tsr_frame *frame) {
  pthread_mutex_lock(&e->mutex);
  frame->next = e->idle;
  e->idle = frame;
  pthread_mutex_unlock(&e->mutex);
}

static tsr_status check_addresses(const tsr_executable_value *values, int64_t count,
                                  const void *const *addresses, const char *what) {
  if (count && !addresses)
    return tsr_fail(BAD_ARGUMENT, "the executable has %lld %ss, but their addresses are NULL",
                    (long long)count, what);
  for (int64_t i = 0; i < count; i++)
    if (values[i].bytes && !addresses[i])
      return tsr_fail(BAD_ARGUMENT, "the address of %s %lld (%s, %lld bytes) is NULL", what,
                      (long long)i, values[i].name, (long long)values[i].bytes);
  return NULL;
}

tsr_schedule_run tsr_executable_run_on(const tsr_executable *e, tsr_frame *frame) {
  return (tsr_schedule_run){.schedule = e->schedule,
                            .plan = &e->plan,
                            .frame = frame,
                            .pool = e->pool,
                            .scratch_bytes = e->plan.scratch_bytes};
}

static tsr_status run_on(tsr_executable *e, tsr_frame *frame, const void *const *inputs,
                         void *const *outputs, tsr_step_hook *hook, void *context) {
  tsr_schedule_run run = tsr_executable_run_on(e, frame);
  run.hook = hook;
  run.hook_context = context;
  run.start = hook ? tsr_seconds_now() : 0;
  TSR_TRY(tsr_bind_whole(&run, e->buffers, &e->signature, inputs, outputs));
  TSR_TRY(tsr_run_schedule(&run));
  return tsr_join_results(&run, outputs);
}

static tsr_status run(const tsr_executable *executable, const void *const *inputs,
                      void *const *outputs, tsr_step_hook *hook, void *context) {
  tsr_executable *e = (tsr_executable *)(uintptr_t)executable;
  const tsr_signature *signature = &e->signature;
  TSR_TRY(check_addresses(signature->arguments, signature->argument_count, inputs, "argument"));
  TSR_TRY(check_addresses(signature->results, signature->result_count, (const void *const *)outputs,
                          "result"));
  tsr_frame *frame = NULL;
  if (e->ranks)
    return tsr_fail(BAD_ARGUMENT,
                    "an executable on several ranks takes the shards of its devices, not whole "
                    "tensors");
  TSR_TRY(tsr_executable_take_frame(e, &frame));
  const tsr_status status = run_on(e, frame, inputs, outputs, hook, context);
  tsr_executable_give_frame(e, frame);
  return status;
}

tsr_status tsr_executable_run(const tsr_executable *executable, const void *const *inputs,
                              void *const *outputs) {
  return run(executable, inputs, outputs, NULL, NULL);
}

tsr_status tsr_executable_profile(const tsr_executable *executable, const void *const *inputs,
                                  void *const *outputs, tsr_step_hook *hook, void *context) {
  return run(executable, inputs, outputs, hook, context);
}

// ---- running on buffers ----

static tsr_status check_buffers(const tsr_executable *e, tsr_buffer *const *inputs) {
  const tsr_signature *signature = &e->signature;
  for (int64_t i = 0; i < signature->argument_count; i++) {
    const tsr_executable_value *value = &signature->arguments[i];
    if (!value->bytes) continue;
    if (!inputs || !inputs[i])
      return tsr_fail(BAD_ARGUMENT, "the buffer of argument %lld (%s) is NULL", (long long)i,
                      value->name);
    if (tsr_buffer_bytes(inputs[i]) < value->bytes)
      return tsr_fail(BAD_ARGUMENT, "the buffer of argument %lld (%s) has %lld bytes, wanted %lld",
                      (long long)i, value->name, (long long)tsr_buffer_bytes(inputs[i]),
                      (long long)value->bytes);
  }
  return NULL;
}

// The buffer of the argument whose memory a result takes; NULL if there is none to take.
static tsr_buffer *donated_buffer(const tsr_executable *e, int64_t result,
                                  tsr_buffer *const *inputs) {
  const int donor = e->plan.donors[result];
  if (donor < 0 || e->signature.sources[donor] < 0) return NULL;
  tsr_buffer *buffer = inputs[e->signature.sources[donor]];
  return buffer && tsr_buffer_is_writable(buffer) ? buffer : NULL;
}

static tsr_status open_outputs(const tsr_executable *e, tsr_buffer *const *inputs,
                               tsr_buffer **outputs) {
  for (int64_t i = 0; i < e->signature.result_count; i++) {
    tsr_buffer *donated = donated_buffer(e, i, inputs);
    if (donated)
      outputs[i] = tsr_buffer_retain(donated);
    else
      TSR_TRY(tsr_buffer_create(e->buffers, e->signature.results[i].bytes, &outputs[i]));
  }
  return NULL;
}

static tsr_status call_on(const tsr_executable *e, tsr_buffer *const *inputs, tsr_buffer **outputs,
                          void **addresses) {
  const tsr_signature *signature = &e->signature;
  TSR_TRY(open_outputs(e, inputs, outputs));
  const void **in = (const void **)addresses;
  void **out = addresses + signature->argument_count;
  for (int64_t i = 0; i < signature->argument_count; i++)
    in[i] = inputs[i] ? tsr_buffer_data(inputs[i]) : NULL;
  for (int64_t i = 0; i < signature->result_count; i++) out[i] = tsr_buffer_data(outputs[i]);
  return run(e, in, out, NULL, NULL);
}

tsr_status tsr_executable_call(const tsr_executable *executable, tsr_buffer *const *inputs,
                               tsr_buffer **outputs) {
  const tsr_signature *signature = &executable->signature;
  const int64_t count = signature->argument_count + signature->result_count;
  if (signature->result_count && !outputs)
    return tsr_fail(BAD_ARGUMENT, "the executable has %lld results, but `outputs` is NULL",
                    (long long)signature->result_count);
  TSR_TRY(check_buffers(executable, inputs));
  void **addresses = calloc((size_t)count + 1, sizeof *addresses);
  if (!addresses) return tsr_fail(NO_MEMORY, "memory of a run");
  for (int64_t i = 0; i < signature->result_count; i++) outputs[i] = NULL;
  const tsr_status status = call_on(executable, inputs, outputs, addresses);
  free(addresses);
  for (int64_t i = 0; status && i < signature->result_count; i++) {
    tsr_buffer_release(outputs[i]);
    outputs[i] = NULL;
  }
  return status;
}
